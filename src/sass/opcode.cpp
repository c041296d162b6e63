#include "opcode.hpp"

#include "instructions.hpp"

#include <algorithm>

namespace swizproof::sass {

namespace {

/// True if the uniform datapath has the instruction, too, with a U in front.
bool is_uniform(std::string_view name) {
  Row const* const row = row_of(name);
  return row != nullptr && row->unit == Unit::both;
}

}  // namespace

bool Opcode::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Opcode opcode_of(std::string_view text) {
  Opcode op;
  op.text = text;
  std::size_t const dot = std::min(text.find('.'), text.size());
  op.base = text.substr(0, dot);
  if (op.base.starts_with('U') && is_uniform(op.base.substr(1))) op.uniform = true, op.base.remove_prefix(1);
  for (std::size_t from = dot; from < text.size();) {
    std::size_t const end = std::min(text.find('.', from + 1), text.size());
    op.modifiers.push_back(text.substr(from + 1, end - from - 1));
    from = end;
  }
  if (Row const* const row = row_of(op.base);
      row != nullptr && (!row->form.empty() || row->unit == Unit::memory))
    op.known = std::all_of(op.modifiers.begin(), op.modifiers.end(),
                           [&](std::string_view m) { return row->takes(m); });
  return op;
}

unsigned bytes_of(Opcode const& op) {
  if (op.has("U8") || op.has("S8") || op.has("8")) return 1;
  if (op.has("U16") || op.has("S16") || op.has("16")) return 2;
  return op.has("256") ? 32 : op.has("128") ? 16 : op.has("64") ? 8 : 4;
}

unsigned bytes_of_atomic(Opcode const& op) {
  auto const ends = [&](std::string_view bits) {
    return std::any_of(op.modifiers.begin(), op.modifiers.end(),
                       [&](std::string_view m) { return m.ends_with(bits); });
  };
  return ends("128") ? 16 : ends("64") ? 8 : 4;
}

std::size_t address_of(Instruction const& i) {
  std::size_t at = 0;
  while (at < i.operands.size() && i.operands[at].kind != Kind::memory) ++at;
  return at;
}

bool has_negative_word(Operand const& o) { return o.kind == Kind::immediate && (o.value >> 31 & 1) != 0; }

bool is_predicate(Operand const& o) { return o.kind == Kind::predicate || o.kind == Kind::uniform_predicate; }

Operand const& operand(Instruction const& i, std::size_t k) {
  static Operand const none{};
  return k < i.operands.size() ? i.operands[k] : none;
}

std::optional<std::uint32_t> number_of(Operand const& o, unsigned plus) {
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

bool may_write(Instruction const& i, Operand const& predicate) {
  return i.opcode.starts_with("R2P") || i.opcode.starts_with("CALL") ||
         std::any_of(i.operands.begin(), i.operands.end(),
                     [&](Operand const& o) { return o.kind == predicate.kind && o.reg == predicate.reg; });
}

}  // namespace swizproof::sass
