// Bits, bytes and predicates.
#include "instructions.hpp"

#include <swizproof/core/float_format.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

namespace swizproof::sass {

namespace {

/// Bits of a number as a half (binary16) or, with `brain`, a bfloat16; nothing if it is none.
std::optional<std::uint64_t> half_of(std::string_view text, bool brain) {
  std::string const copy(text);
  char* end = nullptr;
  double const x = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || *end != 0 || std::isinf(x)) return std::nullopt;
  // nvdisasm prints seven to seventeen digits of it: what is near enough is meant.
  return float_bits(brain ? FloatFormat::bf16 : FloatFormat::f16, x, 1e-3);
}

}  // namespace

void logic(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t const at = is_predicate(operand(i, 0)) ? 2 : 1;
  if (!op.has("LUT") || operand(i, at + 3).kind != Kind::immediate) return unknown(steps, i, op);
  Source const value =
      table(steps, static_cast<unsigned>(operand(i, at + 3).value & 255), steps.word(operand(i, at)),
            steps.word(operand(i, at + 1)), steps.word(operand(i, at + 2)), 32);
  if (at == 2) {
    auto const bit = steps.tested_bit(i);
    Source const some = bit              ? *bit
                        : value.constant ? constant(value.value != 0 ? 1 : 0)
                                         : negate(steps, steps.emit(Action::equal, 1, value, constant(0)));
    Source const given = i.operands.size() > at + 4 ? steps.truth(operand(i, at + 4)) : constant(0);
    steps.put_truth(operand(i, 0), op.has("PAND") ? both(steps, some, given) : either(steps, some, given));
  }
  steps.put(operand(i, at - 1), value);
}

void logic_of_predicates(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 7 || operand(i, 5).kind != Kind::immediate ||
      operand(i, 6).kind != Kind::immediate)
    return unknown(steps, i, op);
  Source const a = steps.truth(operand(i, 2)), b = steps.truth(operand(i, 3)), c = steps.truth(operand(i, 4));
  Source const first = table(steps, static_cast<unsigned>(operand(i, 5).value & 255), a, b, c, 1);
  Source const second = table(steps, static_cast<unsigned>(operand(i, 6).value & 255), a, b, c, 1);
  steps.put_truths(i, first, second);
}

void permute(Steps& steps, Instruction const& i, Opcode const& op) {
  Operand const& s = operand(i, 2);
  if (!op.modifiers.empty() || s.kind != Kind::immediate) return unknown(steps, i, op);
  Source const a = steps.word(operand(i, 1)), c = steps.word(operand(i, 3));
  Source result = constant(0);
  // Neighbouring bytes that keep their places move together.
  for (unsigned k = 0; k < 4;) {
    auto const pick = static_cast<unsigned>(s.value >> 4 * k & 15);
    unsigned length = 1;
    while (k + length < 4 && (pick & 8) == 0 && (s.value >> 4 * (k + length) & 15) == pick + length &&
           (pick & 3) + length < 4)
      ++length;
    Source const from = (pick & 4) != 0 ? c : a;
    std::uint64_t const keep = length == 4 ? ones32 : (std::uint64_t{1} << 8 * length) - 1;
    Source byte = from.constant ? constant(from.value >> 8 * (pick & 3) & keep)
                                : steps.emit(Action::bit_and, 32,
                                             steps.emit(Action::lshr, 32, from, constant(8 * (pick & 3))),
                                             constant(keep));
    if (length == 4) byte = from;
    if ((pick & 8) != 0)  // the byte's sign, eight times
      byte = byte.constant ? constant(byte.value >> 7 != 0 ? 255 : 0)
                           : steps.emit(Action::mul, 32, steps.emit(Action::lshr, 32, byte, constant(7)),
                                        constant(255));
    Source const placed = byte.constant ? constant(byte.value << 8 * k & ones32)
                          : k == 0      ? byte
                                        : steps.emit(Action::shl, 32, byte, constant(8 * k));
    result = table2(steps, 14, result, placed, 32);
    k += length;
  }
  steps.put(operand(i, 0), result);
}

void extend(Steps& steps, Instruction const& i, Opcode const& op) {
  Operand const& n = operand(i, 2);
  if (n.kind != Kind::immediate || n.value == 0 || n.value > 32) return unknown(steps, i, op);
  Source const up = constant(32 - n.value);
  Source const x = steps.emit(Action::shl, 32, steps.word(operand(i, 1)), up);
  steps.put(operand(i, 0),
            op.has("U32") ? steps.emit(Action::lshr, 32, x, up) : arithmetic_shift(steps, x, up, 32));
}

void mask(Steps& steps, Instruction const& i, Opcode const& op) {
  auto const amount = [&](Operand const& o) {
    Source const n = steps.word(o);
    if (op.has("W")) return table2(steps, 8, n, constant(31), 32);
    return n.constant ? constant(std::min<std::uint64_t>(n.value, 32))
                      : choose(steps, below(steps, n, constant(32), 32, false), n, constant(32), 32);
  };
  Source const from = amount(operand(i, 1)), length = amount(operand(i, 2));
  auto const up = [&](Source x, Source n) {
    return x.constant && n.constant ? constant(n.value >= 32 ? 0 : x.value << n.value & ones32)
                                    : steps.emit(Action::shl, 32, x, n);
  };
  Source const field = inverted(steps, up(constant(ones32), length), 32);
  steps.put(operand(i, 0), up(field, from));
}

void ones(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 2) return unknown(steps, i, op);
  Source const x = steps.word(operand(i, 1));
  if (x.constant)
    return steps.put(operand(i, 0), constant(static_cast<std::uint64_t>(std::popcount(x.value))));
  Source count = constant(0);
  for (unsigned k = 0; k < 32; ++k)
    count = add(steps, count,
                steps.emit(Action::bit_and, 32, k == 0 ? x : steps.emit(Action::lshr, 32, x, constant(k)),
                           constant(1)));
  steps.put(operand(i, 0), count);
}

void reverse(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 2) return unknown(steps, i, op);
  Source const x = steps.word(operand(i, 1));
  Source result = constant(0);
  for (unsigned k = 0; k < 32; ++k) {
    Source const bit =
        steps.emit(Action::bit_and, 32, steps.emit(Action::lshr, 32, x, constant(k)), constant(1));
    result = table2(steps, 14, result, steps.emit(Action::shl, 32, bit, constant(31 - k)), 32);
  }
  steps.put(operand(i, 0), result);
}

void halves(Steps& steps, Instruction const& i, Opcode const& op) {
  bool const zero = i.operands.size() == 5 && operand(i, 1).kind == Kind::reg &&
                    operand(i, 2).kind == Kind::reg && operand(i, 1).reg == no_register &&
                    operand(i, 2).reg == no_register && operand(i, 1).negative;
  auto const value = [&](Operand const& o) -> std::optional<std::uint64_t> {
    return o.kind == Kind::number ? half_of(o.text, op.has("BF16_V2")) : std::nullopt;
  };
  auto const up = zero ? value(operand(i, 3)) : std::nullopt,
             low = zero ? value(operand(i, 4)) : std::nullopt;
  if (!up || !low) return unknown(steps, i, op);
  steps.put(operand(i, 0), constant(std::uint64_t{*up} << 16 | *low));
}

void set_predicate(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() < 5 || op.modifiers.empty()) return unknown(steps, i, op);
  bool const is_signed = !op.has("U32") && !op.has("U64"), extended = op.has("EX");
  unsigned const width = op.has("U64") || op.has("S64") ? 64 : 32;
  std::string_view const how = op.modifiers[0];
  if (width == 64 && (extended || has_negative_word(operand(i, 2)) || has_negative_word(operand(i, 3))))
    return unknown(steps, i, op);
  if (extended) steps.refine("ISETP.EX"_form);
  if (width == 64) steps.refine("ISETP.64"_form);
  auto const side = [&](Operand const& o) { return width == 64 ? steps.wide(o, false) : steps.word(o); };
  Source const a = side(operand(i, 2)), b = side(operand(i, 3));
  Source const low = extended && i.operands.size() > 5 ? steps.truth(operand(i, 5)) : constant(0);
  auto const equal = [&] {
    return a.constant && b.constant ? constant(a.value == b.value ? 1 : 0)
                                    : steps.emit(Action::equal, 1, a, b);
  };
  auto const less = [&](Source x, Source y) {
    Source const strictly = below(steps, x, y, width, is_signed);
    return extended ? either(steps, strictly, both(steps, equal(), low)) : strictly;
  };
  Source p{};
  if (how == "EQ")
    p = extended ? both(steps, equal(), low) : equal();
  else if (how == "NE")
    p = extended ? either(steps, negate(steps, equal()), low) : negate(steps, equal());
  else if (how == "LT")
    p = less(a, b);
  else if (how == "GT")
    p = less(b, a);
  else if (how == "LE")
    p = extended ? less(a, b) : negate(steps, below(steps, b, a, width, is_signed));
  else if (how == "GE")
    p = extended ? less(b, a) : negate(steps, below(steps, a, b, width, is_signed));
  else if (how == "T" || how == "F")
    p = constant(how == "T" ? 1 : 0);
  else
    return unknown(steps, i, op);
  Source const with = steps.truth(operand(i, 4));
  auto const joined = [&](Source x) {
    if (op.has("AND")) return both(steps, x, with);
    if (op.has("OR")) return either(steps, x, with);
    return with.constant && x.constant ? constant(x.value ^ with.value)
                                       : steps.emit(Action::differ, 1, x, with);
  };
  Source const first = joined(p), second = joined(negate(steps, p));
  steps.put_truths(i, first, second);
}

void select(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 4 || !op.modifiers.empty())
    return steps.not_modelled(operand(i, 0), op.has("64") ? 2 : 1, steps.registers_of(i, 1));
  Source const a = steps.word(operand(i, 1)), b = steps.word(operand(i, 2));
  steps.put(operand(i, 0), choose(steps, steps.truth(operand(i, 3)), a, b, 32));
}

void predicates_to_word(Steps& steps, Instruction const& i, Opcode const& op) {
  Operand const& m = operand(i, 3);
  if (i.operands.size() != 4 || m.kind != Kind::immediate || !op.modifiers.empty() || m.value > 0x7f ||
      operand(i, 1).text != (op.uniform ? "UPR" : "PR"))
    return unknown(steps, i, op);
  Source value = table2(steps, 8, steps.word(operand(i, 2)), constant(~m.value & ones32), 32);
  std::uint32_t const first = op.uniform ? first_uniform_predicate : first_predicate;
  for (unsigned k = 0; k < 7; ++k)
    if ((m.value >> k & 1) != 0)
      value = table2(steps, 14, value,
                     choose(steps, reg(first + k), constant(std::uint64_t{1} << k), constant(0), 32), 32);
  steps.put(operand(i, 0), value);
}

void word_to_predicates(Steps& steps, Instruction const& i, Opcode const& op) {
  Operand const& m = operand(i, 2);
  Operand const& from = operand(i, 1);
  unsigned byte = 0;
  if (from.text.find(".B") != std::string_view::npos)
    byte = static_cast<unsigned>(from.text[from.text.find(".B") + 2] - '0');
  if (i.operands.size() != 3 || m.kind != Kind::immediate || !op.modifiers.empty() || byte > 3 ||
      operand(i, 0).text != "PR") {
    steps.refine({});
    for (std::uint32_t r = first_predicate; r < registers; ++r) steps.write(r, steps.any(1), 1);
    return;
  }
  Operand plain = from;
  plain.suffixed = false;
  Source const x = steps.word(plain);
  for (unsigned k = 0; k < 7; ++k) {
    if ((m.value >> k & 1) == 0) continue;
    auto const kept = steps.kept_bit(x, 8 * byte + k);
    Source const bit =
        kept ? *kept
        : x.constant
            ? constant(x.value >> (8 * byte + k) & 1)
            : negate(steps, steps.emit(Action::equal, 1,
                                       table2(steps, 8, x, constant(std::uint64_t{1} << (8 * byte + k)), 32),
                                       constant(0)));
    steps.write(first_predicate + k, bit, 1);
  }
}

}  // namespace swizproof::sass
