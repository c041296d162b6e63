#include "lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace swizproof::sass {

namespace {

using program::Special;

/// Words of constant bank 0 below the parameters: the launch's shape. Seen in code that ptxas of CUDA 13.0 writes.
std::optional<Special> shape_at(unsigned arch, std::uint64_t offset) {
  static constexpr Special shape[] = {Special::ntid_x,   Special::ntid_y,   Special::ntid_z,
                                      Special::nctaid_x, Special::nctaid_y, Special::nctaid_z};
  std::uint64_t const base = arch >= 100 ? 0x360 : 0;
  if (offset < base || offset >= base + 24 || offset % 4 != 0) return std::nullopt;
  return shape[(offset - base) / 4];
}

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

/// Registers that a destination of an instruction has which is not modelled; nothing: not known.
std::optional<unsigned> width_of(Opcode const& op) {
  static std::unordered_map<std::string_view, unsigned> const known{
      {"HMMA", 4},    {"IMMA", 4},   {"BMMA", 4},    {"QMMA", 4},        {"DMMA", 8},      {"OMMA", 4},
      {"FADD", 1},    {"FMUL", 1},   {"FFMA", 1},    {"FMNMX", 1},       {"FSEL", 1},      {"FSET", 1},
      {"FSWZADD", 1}, {"MUFU", 1},   {"HADD2", 1},   {"HMUL2", 1},       {"HFMA2", 1},     {"HMNMX2", 1},
      {"HSET2", 1},   {"F2FP", 1},   {"I2FP", 1},    {"I2IP", 1},        {"F2I", 1},       {"I2F", 1},
      {"F2F", 1},     {"FRND", 1},   {"DADD", 2},    {"DMUL", 2},        {"DFMA", 2},      {"FLO", 1},
      {"IDP", 1},     {"IDP4A", 1},  {"ISCADD", 1},  {"VABSDIFF", 1},    {"VABSDIFF4", 1}, {"BMOV", 1},
      {"B2R", 1},     {"S2R", 1},    {"CS2R", 2},    {"GETLMEMBASE", 2}, {"LEPC", 2},      {"REDUX", 1},
      {"CREDUX", 1},  {"MATCH", 1},  {"VIMNMX3", 1}, {"VIADDMNMX", 1},   {"VIMNMX", 1},    {"FCHK", 0},
      {"FSETP", 0},   {"DSETP", 0},  {"HSETP2", 0},  {"QSPC", 1},        {"MOVM", 1},      {"FMNMX3", 1},
      {"FADD2", 2},   {"FMUL2", 2},  {"FFMA2", 2},   {"I2I", 1},         {"IABS", 1},      {"PRMT", 1},
      {"SGXT", 1},    {"BMSK", 1},   {"LEA", 1},     {"IMAD", 2},        {"IADD3", 1},     {"SHF", 1},
      {"LOP3", 1},    {"SEL", 1},    {"R2UR", 1},    {"S2UR", 1},        {"MOV", 1},       {"POPC", 1},
      {"VOTEU", 1},   {"VOTE", 1},   {"P2R", 1},     {"ATOMG", 2},       {"SHFL", 1},      {"ELECT", 1},
      {"VIADD", 1},   {"IMNMX", 1},  {"SYNCS", 2},   {"LDTM", 128},      {"HGMMA", 128},   {"IGMMA", 128},
      {"QGMMA", 128}, {"BGMMA", 128}};
  auto const found = known.find(op.base);
  if (found == known.end()) return std::nullopt;
  if (found->second != 1) return op.base == "IMAD" && !op.has("WIDE") ? 1 : found->second;
  // For a conversion the result decides: F2F.F32.F64 and F2I.F64 write one register, F2F.F64.F32 and I2F.F64 two.
  bool const float64 = op.has("F64"), integer64 = op.has("S64") || op.has("U64");
  if (op.base == "F2F") {
    auto const is_format = [](std::string_view m) {
      return m.ends_with("F16") || m.ends_with("F32") || m == "F64";
    };
    auto const first = std::find_if(op.modifiers.begin(), op.modifiers.end(), is_format);
    return first != op.modifiers.end() && *first == "F64" ? 2 : 1;
  }
  if (op.base == "I2F") return float64 ? 2 : 1;
  if (op.base == "F2I") return integer64 ? 2 : 1;
  if (op.base == "SHF") return 1;  // a word of the shifted pair
  return float64 || integer64 || op.has("64") ? 2 : 1;
}

/// Instructions whose result depends on their operands alone.
bool depends_on_operands_alone(Opcode const& op) {
  static std::set<std::string_view> const pure{
      "FADD",    "FMUL",      "FFMA",   "FMNMX",  "FSEL",   "FSET",    "FSETP", "FCHK", "MUFU",
      "HADD2",   "HMUL2",     "HFMA2",  "HSET2",  "F2FP",   "I2FP",    "I2IP",  "F2I",  "I2F",
      "F2F",     "FRND",      "HSETP2", "DADD",   "DMUL",   "DFMA",    "DSETP", "FLO",  "IDP",
      "VIMNMX3", "VIADDMNMX", "VIMNMX", "IMNMX",  "PRMT",   "IMAD",    "LEA",   "SHF",  "LOP3",
      "SGXT",    "BMSK",      "IADD3",  "HMNMX2", "FMNMX3", "VABSDIFF"};
  return pure.count(op.base) != 0;
}

}  // namespace

Operand const& Lowering::operand(Instruction const& i, std::size_t k) {
  static Operand const none{};
  return k < i.operands.size() ? i.operands[k] : none;
}

std::optional<std::uint32_t> Lowering::number_of(Operand const& o, unsigned plus) {
  if (o.reg == no_register) return std::nullopt;
  std::uint32_t const n = o.reg + plus;
  switch (o.kind) {
    case Kind::reg:
      return n < 255 ? std::optional(n) : std::nullopt;
    case Kind::uniform:
      return n < 255 ? std::optional(first_uniform + n) : std::nullopt;
    case Kind::predicate:
      return first_predicate + n;
    case Kind::uniform_predicate:
      return first_uniform_predicate + n;
    default:
      return std::nullopt;
  }
}

Lowering::Source Lowering::word_at(Operand const& o, unsigned plus) {
  switch (o.kind) {
    case Kind::reg:
    case Kind::uniform:
      if (auto const r = number_of(o, plus)) return reg(*r);
      return constant(0);
    case Kind::immediate:
      return constant(plus == 0 ? o.value & 0xffffffff : 0);
    case Kind::constant:
      return constant_bank(o, 32, 4 * plus);
    case Kind::special:
      return o.text == "SRZ" ? constant(0) : special(o.text);
    case Kind::predicate:
    case Kind::uniform_predicate:
      return any(32, truth(o));
    default:
      return any(32);
  }
}

Lowering::Source Lowering::word(Operand const& o) {
  Source s = word_at(o, 0);
  if (o.suffixed) return function_of(32, s, constant(std::hash<std::string_view>{}(o.text) & 0xffffffff));
  if (o.absolute) {
    Source const minus = emit(Action::sub, 32, constant(0), s);
    s = choose(below(s, constant(0), 32, true), minus, s, 32);
  }
  if (o.inverted) s = inverted(s, 32);
  if (o.negative) s = s.constant ? constant(0 - s.value & 0xffffffff) : emit(Action::sub, 32, constant(0), s);
  return s;
}

Lowering::Source Lowering::wide(Operand const& o, bool sign_immediate) {
  if (o.kind == Kind::immediate)
    return sign_immediate ? sext(constant(o.value & 0xffffffff)) : constant(o.value & 0xffffffff);
  if (o.suffixed || o.absolute) return any(64, word_at(o, 0));
  Source s = pair(word_at(o, 0), word_at(o, 1));
  if (o.inverted) s = inverted(s, 64);
  if (o.negative) s = s.constant ? constant(0 - s.value) : emit(Action::sub, 64, constant(0), s);
  return s;
}

Lowering::Source Lowering::truth(Operand const& o) {
  if (!is_predicate(o)) return any(1);
  auto const r = number_of(o);
  Source const p = r ? reg(*r) : constant(1);
  return o.negated ? negate(p) : p;
}

/// Bits of one parameter; nothing if they are not in one.
std::optional<Lowering::Source> Lowering::parameter_at(std::uint64_t at, unsigned bits) {
  for (Parameter const& p : parameters_) {
    if (at < p.first || at + bits / 8 > p.first + p.bytes) continue;
    Source const base = emit(Action::symbol, 64, {}, {}, {}, p.symbol);
    return emit(Action::load, bits, base, constant(at - p.first), constant(named("parameter")),
                static_cast<std::uint32_t>(program::Space::param));
  }
  return std::nullopt;
}

/// Bits of constant bank 0: of one parameter, of several small ones, or of what the driver writes.
Lowering::Source Lowering::bank_bytes(std::uint64_t at, unsigned bits) {
  if (auto const whole = parameter_at(at, bits)) return *whole;
  bool const touched = std::any_of(parameters_.begin(), parameters_.end(), [&](Parameter const& p) {
    return at < p.first + p.bytes && p.first < at + bits / 8;
  });
  if (touched && bits > 8) {
    Source const low = bank_bytes(at, bits / 2), high = bank_bytes(at + bits / 16, bits / 2);
    Source const up = emit(Action::shl, bits, emit(Action::zext, bits, high), constant(bits / 2));
    return emit(Action::bit_or, bits, up, emit(Action::zext, bits, low));
  }
  Source const s = uniform_special(fmt::format("c[0x0][{:#x}]", at));
  return bits == 32 ? s : emit(Action::trunc, bits, s);
}

Lowering::Source Lowering::constant_bank(Operand const& o, unsigned bits, unsigned plus) {
  std::uint64_t const at = o.value + plus;
  if (o.bank == 0 && o.reg == no_register && o.uniform == no_register) {
    if (auto const s = shape_at(module_.arch, at); s && bits == 32) {
      program_.uses_ntid_x |= *s == Special::ntid_x;
      program_.uses_y_or_z |= *s == Special::ntid_y || *s == Special::ntid_z;
      return emit(Action::special, 32, {}, {}, {}, static_cast<std::uint32_t>(*s));
    }
    return bank_bytes(at, bits);
  }
  // The same address, the same value: banks lie apart.
  Source base = constant(0);
  Operand index;
  index.kind = o.reg != no_register ? Kind::reg : Kind::uniform;
  index.reg = o.reg != no_register ? o.reg : o.uniform;
  if (auto const r = number_of(index)) base = reg(*r);
  if (o.bank == 255) base = any(32);
  Source const address = add(zext(base), constant(std::uint64_t{o.bank} << 40), 64);
  return emit(Action::load, bits, emit(Action::copy, 64, address), constant(at), constant(named("LDC")),
              static_cast<std::uint32_t>(program::Space::constant));
}

Lowering::Source Lowering::special(std::string_view name) {
  if (auto const s = special_named(name)) {
    program_.uses_ntid_x |= *s == Special::ntid_x;
    program_.uses_y_or_z |=
        *s == Special::tid_y || *s == Special::tid_z || *s == Special::ntid_y || *s == Special::ntid_z;
    return emit(Action::special, 32, {}, {}, {}, static_cast<std::uint32_t>(*s));
  }
  if (name == "SR_CgaCtaId" && module_.arch >= 90)  // which window: the same in all lanes
    return emit(Action::lshr, 32, emit(Action::symbol, 32, {}, {}, {}, shared_symbol_), constant(24));
  static constexpr std::string_view same[] = {"SR_CgaSize", "SR_NCTAID", "SR_CTAID", "SR_NTID", "SR_SMEMSZ"};
  for (std::string_view const s : same)
    if (name == s) return uniform_special(std::string(name));
  // The windows of shared and local memory in generic addresses: the same in all lanes, and no parameter.
  if (name == "SR_SWINHI" || name == "SR_SWINLO" || name == "SR_LWINHI")
    return emit(Action::opaque, 32, {}, {}, {}, named(name));
  return any(32);
}

void Lowering::write(std::uint32_t r, Source value, unsigned width) {
  auto const w = static_cast<std::uint8_t>(width);
  if (r == 1 && line_ > stack_line_) keeps_stack_ = keeps_stack_ && !stack_;  // as a half of a pair, too
  if (width == 32) write_kept_bits(r, value);
  if (guard_)
    program_.steps.push_back(
        {Action::choose, w, static_cast<std::int32_t>(r), *guard_, value, reg(r), 0, line_});
  else
    program_.steps.push_back({Action::copy, w, static_cast<std::int32_t>(r), value, {}, {}, 0, line_});
}

void Lowering::put(Operand const& o, Source value) {
  if (o.kind != Kind::reg && o.kind != Kind::uniform) return;
  if (auto const r = number_of(o)) write(*r, value, 32);
}

void Lowering::put_wide(Operand const& o, Source value) {
  if (o.kind != Kind::reg && o.kind != Kind::uniform) return;
  Source const low = trunc(value), up = value.constant ? constant(value.value >> 32) : high(value);
  if (auto const r = number_of(o)) write(*r, low, 32);
  if (auto const r = number_of(o, 1)) write(*r, up, 32);
}

void Lowering::put_truth(Operand const& o, Source value) {
  if (!is_predicate(o)) return;
  if (auto const r = number_of(o)) write(*r, value, 1);
}

/// Both destinations of a predicate's instruction: neither is read after the other is written.
void Lowering::put_truths(Instruction const& i, Source first, Source second) {
  if (!second.constant) second = emit(Action::copy, 1, second);
  put_truth(operand(i, 0), first);
  put_truth(operand(i, 1), second);
}

void Lowering::lose(Operand const& o, unsigned count, Source from, bool memory) {
  if (is_predicate(o)) {
    put_truth(o, any(1, from, memory));
  } else if (o.kind == Kind::reg || o.kind == Kind::uniform) {
    for (unsigned k = 0; k < count; ++k)
      if (auto const r = number_of(o, k)) write(*r, any(32, from, memory), 32);
  }
}

/// As lose, of an instruction whose result is not decided: no form is used.
void Lowering::not_modelled(Operand const& o, unsigned count, Source from, bool memory) {
  refine({});
  lose(o, count, from, memory);
}

/// Value that comes from all registers that the operands from `from` on name.
Lowering::Source Lowering::registers_of(Instruction const& i, std::size_t from) {
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
    if (o.kind == Kind::constant) look(constant_bank(o, 32));
    if (two && o.kind == Kind::constant) look(constant_bank(o, 32, 4));
  }
  return all;
}

/// An instruction that is not modelled: destinations are functions of its sources if it has no other input, else any values. They
/// are the first operand and predicates behind it; of an opcode that is not known, any register from the first on.
void Lowering::unknown(Instruction const& i, Opcode const& op) {
  refine({});
  if (i.operands.empty()) return;
  std::optional<unsigned> const width = width_of(op);
  Source from = registers_of(i, 1);
  bool const pure = depends_on_operands_alone(op);
  bool const memory = op.base.starts_with("LD") || op.base.starts_with("ATOM") ||
                      op.base.starts_with("TEX") || op.base.starts_with("TLD") || op.base.starts_with("SULD");
  std::uint64_t literals =
      1469598103934665603U;  // what tells apart two instructions of one opcode and equal registers
  for (std::size_t k = 1; k < i.operands.size(); ++k) {
    Operand const& o = i.operands[k];
    bool const named_register = o.reg != no_register || o.kind == Kind::constant;
    std::uint64_t const flags = (o.negative ? 1U : 0U) | (o.inverted ? 2U : 0U) | (o.absolute ? 4U : 0U) |
                                (o.negated ? 8U : 0U) | static_cast<std::uint64_t>(k) << 4;
    literals = (literals ^ flags) * 1099511628211U;
    if (!named_register || o.suffixed)
      literals = (literals ^ std::hash<std::string_view>{}(o.text)) * 1099511628211U;
  }
  auto const result = [&](unsigned bits, unsigned which) {
    return pure ? function_of(bits, from, constant(literals), constant(which)) : any(bits, from, memory);
  };
  auto const lose = [&](Operand const& o, unsigned count) {
    for (unsigned k = 0; k < count; ++k)
      if (auto const r = number_of(o, k)) write(*r, result(32, k), 32);
  };
  std::size_t first = 0;  // the first that is no predicate
  while (first < i.operands.size() && first < 3 && is_predicate(i.operands[first])) ++first;
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    Operand const& o = i.operands[k];
    if (is_predicate(o) && k < 3 && !o.negated)
      put_truth(o, result(1, 1000 + static_cast<unsigned>(k)));
    else if ((o.kind == Kind::reg || o.kind == Kind::uniform) && (k == first || (!width && k < 3)))
      lose(o, width.value_or(128));
  }
}

}  // namespace swizproof::sass
