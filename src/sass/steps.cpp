#include "steps.hpp"

#include <functional>

namespace swizproof::sass {

namespace {

using program::Special;

std::optional<Special> special_named(std::string_view name) {
  static std::unordered_map<std::string_view, Special> const known{
      {"SR_TID.X", Special::tid_x},       {"SR_TID.Y", Special::tid_y},
      {"SR_TID.Z", Special::tid_z},       {"SR_CTAID.X", Special::ctaid_x},
      {"SR_CTAID.Y", Special::ctaid_y},   {"SR_CTAID.Z", Special::ctaid_z},
      {"SR_NTID.X", Special::ntid_x},     {"SR_NTID.Y", Special::ntid_y},
      {"SR_NTID.Z", Special::ntid_z},     {"SR_NCTAID.X", Special::nctaid_x},
      {"SR_NCTAID.Y", Special::nctaid_y}, {"SR_NCTAID.Z", Special::nctaid_z},
      {"SR_LANEID", Special::laneid},     {"SR_EQMASK", Special::mask_eq},
      {"SR_LTMASK", Special::mask_lt},    {"SR_LEMASK", Special::mask_le},
      {"SR_GTMASK", Special::mask_gt},    {"SR_GEMASK", Special::mask_ge}};
  auto const found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Steps::Steps(Module const& in_module, Code const& code, bool may_have_stack)
    : module(in_module), bank(in_module, code.function, build), stack(code, may_have_stack) {}

Source Steps::word_at(Operand const& o, unsigned plus) {
  switch (o.kind) {
    case Kind::reg:
    case Kind::uniform:
      if (auto const r = number_of(o, plus)) return reg(*r);
      return constant(0);
    case Kind::immediate:
      return constant(plus == 0 ? o.value & ones32 : 0);
    case Kind::constant:
      return constant_word(o, 32, 4 * plus);
    case Kind::special:
      return o.text == "SRZ" ? constant(0) : special(o.text);
    case Kind::predicate:
    case Kind::uniform_predicate:
      return any(32, truth(o));
    default:
      return any(32);
  }
}

Source Steps::word(Operand const& o) {
  Source s = word_at(o, 0);
  if (o.suffixed) return function_of(32, s, constant(std::hash<std::string_view>{}(o.text) & ones32));
  if (o.absolute) {
    Source const negative = emit(Action::sub, 32, constant(0), s);
    s = choose(build, below(build, s, constant(0), 32, true), negative, s, 32);
  }
  if (o.inverted) s = inverted(build, s, 32);
  if (o.negative) s = minus(build, s);
  return s;
}

Source Steps::wide(Operand const& o, bool sign_immediate) {
  if (o.kind == Kind::immediate)
    return sign_immediate ? sext(build, constant(o.value & ones32)) : constant(o.value & ones32);
  if (o.suffixed || o.absolute) return any(64, word_at(o, 0));
  Source s = pair(build, word_at(o, 0), word_at(o, 1));
  if (o.inverted) s = inverted(build, s, 64);
  if (o.negative) s = minus(build, s, 64);
  return s;
}

Source Steps::truth(Operand const& o) {
  if (!is_predicate(o)) return any(1);
  auto const r = number_of(o);
  Source const p = r ? reg(*r) : constant(1);
  return o.negated ? negate(build, p) : p;
}

Source Steps::constant_word(Operand const& o, unsigned bits, unsigned plus) {
  std::uint64_t const at = o.value + plus;
  if (o.bank == 0 && o.reg == no_register && o.uniform == no_register) {
    return bank.load(at, bits);
  }
  // The same address, the same value: banks lie apart.
  Source base = constant(0);
  Operand index;
  index.kind = o.reg != no_register ? Kind::reg : Kind::uniform;
  index.reg = o.reg != no_register ? o.reg : o.uniform;
  if (auto const r = number_of(index)) base = reg(*r);
  if (o.bank == 255) base = any(32);
  Source const address = add(build, zext(build, base), constant(std::uint64_t{o.bank} << 40), 64);
  return emit(Action::load, bits, emit(Action::copy, 64, address), constant(at), constant(build.named("LDC")),
              static_cast<std::uint32_t>(program::Space::constant));
}

Source Steps::special(std::string_view name) {
  if (auto const s = special_named(name)) return build.special(*s);
  if (name == "SR_CgaCtaId" && module.arch >= 90)  // which window: the same in all lanes
    return emit(Action::lshr, 32, emit(Action::symbol, 32, {}, {}, {}, shared_symbol), constant(24));
  static constexpr std::string_view same[] = {"SR_CgaSize", "SR_NCTAID", "SR_CTAID", "SR_NTID", "SR_SMEMSZ"};
  for (std::string_view const s : same)
    if (name == s) return build.uniform(32, name);
  // The windows of shared and local memory in generic addresses: the same in all lanes, and no parameter.
  if (name == "SR_SWINHI" || name == "SR_SWINLO" || name == "SR_LWINHI")
    return emit(Action::opaque, 32, {}, {}, {}, build.named(name));
  // One number in the lanes that read it together; another one later.
  for (std::string_view const of_warp : {"SR_CLOCK", "SR_GLOBALTIMER", "SR_VIRTUALSMID", "SR_SMID"})
    if (name.starts_with(of_warp)) return emit(Action::voted, 32, constant(0), {}, {}, build.named(name));
  return any(32);
}

void Steps::set_voters(Operand const& any, Operand const& of) {
  auto const all = number_of(any), lane = number_of(of);
  if (all && lane && any.kind == Kind::uniform_predicate && of.kind == Kind::predicate && !of.negated)
    voters_[*all] = *lane;
}

std::optional<Source> Steps::voters(Operand const& any) const {
  auto const all = number_of(any);
  auto const found = all && !any.negated ? voters_.find(*all) : voters_.end();
  return found == voters_.end() ? std::nullopt : std::optional(reg(found->second));
}

void Steps::write(std::uint32_t r, Source value, unsigned width) {
  std::erase_if(voters_, [&](auto const& pair) { return pair.first == r || pair.second == r; });
  stack.written(r, build.line);
  if (width == 32) write_kept_bits(r, value);
  build.assign(r, value, width, guard);
}

void Steps::put(Operand const& o, Source value) {
  if (o.kind != Kind::reg && o.kind != Kind::uniform) return;
  if (auto const r = number_of(o)) write(*r, value, 32);
}

void Steps::put_wide(Operand const& o, Source value) {
  if (o.kind != Kind::reg && o.kind != Kind::uniform) return;
  Source const low = trunc(build, value), up = high(build, value);
  if (auto const r = number_of(o)) write(*r, low, 32);
  if (auto const r = number_of(o, 1)) write(*r, up, 32);
}

void Steps::put_truth(Operand const& o, Source value) {
  if (!is_predicate(o)) return;
  if (auto const r = number_of(o)) write(*r, value, 1);
}

void Steps::put_truths(Instruction const& i, Source first, Source second) {
  if (!second.constant) second = emit(Action::copy, 1, second);
  put_truth(operand(i, 0), first);
  put_truth(operand(i, 1), second);
}

void Steps::lose(Operand const& o, unsigned count, Source from, bool memory) {
  if (is_predicate(o)) {
    put_truth(o, any(1, from, memory));
  } else if (o.kind == Kind::reg || o.kind == Kind::uniform) {
    for (unsigned k = 0; k < count; ++k)
      if (auto const r = number_of(o, k)) write(*r, any(32, from, memory), 32);
  }
}

void Steps::not_modelled(Operand const& o, unsigned count, Source from, bool memory) {
  refine({});
  lose(o, count, from, memory);
}

Source Steps::registers_of(Instruction const& i, std::size_t from) {
  Source all = constant(0);
  auto const look = [&](Source s) {
    if (!s.constant) all = function_of(64, all, s);
  };
  for (std::size_t k = from; k < i.operands.size(); ++k) {
    Operand const& o = i.operands[k];
    if (o.kind == Kind::reg || o.kind == Kind::uniform) look(word_at(o, 0));
    bool const two = o.wide || i.opcode.starts_with("D") || i.opcode.find("64") != i.opcode.npos ||
                     i.opcode.starts_with("IMAD.");
    if (two && (o.kind == Kind::reg || o.kind == Kind::uniform)) look(word_at(o, 1));
    if (is_predicate(o)) look(truth(o));
    if (o.kind == Kind::constant) look(constant_word(o, 32));
    if (two && o.kind == Kind::constant) look(constant_word(o, 32, 4));
  }
  return all;
}

}  // namespace swizproof::sass
