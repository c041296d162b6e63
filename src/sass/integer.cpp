// Moves, sums, products and shifts.
#include "instructions.hpp"

#include <algorithm>
#include <array>

namespace swizproof::sass {

namespace {

/// IMAD.WIDE: a * b + {c}, 64 bits; IMAD.HI: its upper word. A predicate in front gets the carry out of 64 bits.
void multiply_wide(Steps& steps, Instruction const& i, Opcode const& op, std::size_t at) {
  bool const is_signed = !op.has("U32");
  Operand const& x = operand(i, at);
  Operand const& y = operand(i, at + 1);
  steps.refine(!op.has("WIDE") ? "IMAD.HI"_form : op.has("X") ? "IMAD.WIDE.X"_form : "IMAD.WIDE"_form);
  auto const extended = [&](Operand const& o) {
    return is_signed ? sext(steps, steps.word(o)) : zext(steps, steps.word(o));
  };
  Source const a = extended(x), b = extended(y);
  bool const nothing_times = (a.constant && a.value == 0) || (b.constant && b.value == 0);
  Source const product = nothing_times              ? constant(0)
                         : a.constant && b.constant ? constant(a.value * b.value)
                                                    : steps.emit(Action::mul, 64, a, b);
  Source const c = steps.wide(operand(i, at + 2), is_signed);
  Source carry = constant(0);
  if (op.has("X")) carry = choose(steps, steps.truth(operand(i, at + 3)), constant(1), constant(0), 64);
  Source const sum = add(steps, product, c, 64), total = add(steps, sum, carry, 64);
  if (at > 1 && number_of(operand(i, 1))) {
    Source out = steps.any(1, steps.function_of(64, a, b, c));
    if (!is_signed && !product.constant && carry.constant) out = below(steps, sum, product, 64, false);
    steps.put_truth(operand(i, 1), out);
  }
  if (op.has("WIDE")) return steps.put_wide(operand(i, 0), total);
  steps.put(operand(i, 0), high(steps, total));
}

}  // namespace

void move(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() == 3 && is_predicate(operand(i, 1)) && op.base == "MOV")
    return steps.put(operand(i, 0), steps.word(operand(i, 2)));
  if (i.operands.size() != 2 && !(op.base == "MOV" && i.operands.size() == 3)) return unknown(steps, i, op);
  if (op.has("64") || (!op.modifiers.empty() && op.base == "R2UR" && !op.has("FILL") && !op.has("OR")))
    return op.base == "MOV" ? steps.put_wide(operand(i, 0), steps.wide(operand(i, 1), true))
                            : unknown(steps, i, op);
  if (op.has("OR")) return unknown(steps, i, op);
  // R2UR takes what all lanes that execute it share: the compiler writes it where they do.
  steps.put(operand(i, 0), steps.word(operand(i, 1)));
}

void move_special(Steps& steps, Instruction const& i, Opcode const& op) {
  std::string_view const name =
      operand(i, 1).text;  // which lane gives a uniform register its own number is not known
  if (op.base == "S2UR" && (name.starts_with("SR_TID") || name == "SR_LANEID" || name.ends_with("MASK")))
    return unknown(steps, i, op);
  Source const s = steps.word(operand(i, 1));
  if (op.base != "CS2R" || op.has("32")) return steps.put(operand(i, 0), s);
  if (s.constant) return steps.put_wide(operand(i, 0), s);
  for (unsigned k = 0; k < 2; ++k)  // two words of a clock
    if (auto const r = number_of(operand(i, 0), k)) steps.write(*r, steps.word(operand(i, 1)), 32);
}

void load_constant(Steps& steps, Instruction const& i, Opcode const& op) {
  Operand const& c = operand(i, 1);
  Operand const& d = operand(i, 0);
  if (c.kind != Kind::constant || c.suffixed)
    return steps.not_modelled(d, op.has("128") ? 4 : op.has("64") ? 2 : 1);
  bool const is_signed = op.has("S8") || op.has("S16");
  unsigned const bits = op.has("U8") || op.has("S8") ? 8 : op.has("U16") || op.has("S16") ? 16 : 32;
  if (bits == 32) {
    unsigned const n = op.has("128") ? 4 : op.has("64") ? 2 : 1;
    std::array<Source, 4> words{};
    for (unsigned k = 0; k < n; ++k) words[k] = steps.constant_word(c, 32, 4 * k);
    for (unsigned k = 0; k < n; ++k)
      if (auto const r = number_of(d, k)) steps.write(*r, words[k], 32);
    return;
  }
  Source s = steps.emit(Action::zext, 32, steps.constant_word(c, bits));
  if (is_signed)
    s = arithmetic_shift(steps, steps.emit(Action::shl, 32, s, constant(32 - bits)), constant(32 - bits), 32);
  steps.put(d, s);
}

namespace {

/// A sum of register pairs.
void add_pairs(Steps& steps, Instruction const& i, Opcode const& op) {
  Source sum = constant(0);
  bool known = i.operands.size() == 4;
  for (std::size_t k = 1; k < 4 && known; ++k) {
    Operand const& o = operand(i, k);
    known = !is_predicate(o) && !has_negative_word(o);
    if (known) sum = add(steps, sum, steps.wide(o, true), 64);
  }
  if (!known) return unknown(steps, i, op);
  steps.refine("IADD3.64"_form);
  steps.put_wide(operand(i, 0), sum);
}

}  // namespace

void add3(Steps& steps, Instruction const& i, Opcode const& op) {
  if (op.has("64")) return add_pairs(steps, i, op);
  std::size_t at = 1;
  while (at < 3 && is_predicate(operand(i, at))) ++at;
  std::size_t const sources = op.base == "IADD3" ? 3 : 2;
  if (i.operands.size() < at + sources) return unknown(steps, i, op);
  if (op.has("X")) steps.refine("IADD3.X"_form);
  Source sum = constant(0);
  std::array<Source, 3> parts{};
  for (std::size_t k = 0; k < sources; ++k) sum = add(steps, sum, parts[k] = steps.word(operand(i, at + k)));
  bool const carry_out = at > 1 && number_of(operand(i, 1)).has_value();
  bool const two_out = at > 2 && number_of(operand(i, 2)).has_value();
  Source carries = constant(0);
  if (op.has("X"))
    for (std::size_t k = at + sources; k < i.operands.size(); ++k)
      carries = add(steps, carries, choose(steps, steps.truth(operand(i, k)), constant(1), constant(0), 32));
  Source const total = add(steps, sum, carries);
  if (carry_out || two_out) {
    // -x has no bits beyond its word: 0 - x is taken as ~x + 1, whose carry counts.
    Source whole = zext(steps, carries);
    for (std::size_t k = 0; k < sources; ++k) {
      Operand plain = operand(i, at + k);
      bool const negative = plain.negative;
      plain.negative = false;
      Source const x = steps.word(plain);
      Source const part =
          negative ? add(steps, zext(steps, inverted(steps, x, 32)), constant(1), 64) : zext(steps, x);
      whole = add(steps, whole, part, 64);
      if (op.has("X") && negative) return unknown(steps, i, op);  // ~ is printed there
    }
    Source const top = steps.emit(Action::lshr, 64, whole, constant(32));
    // Which of two carries has which predicate is not known: both are functions of the operands.
    if (two_out) {
      Source const from = steps.function_of(64, parts[0], parts[1], parts[2]);
      auto const carry = [&](unsigned which) { return steps.function_of(1, from, carries, constant(which)); };
      Source const first = carry(1);
      Source const second = carry(2);
      steps.put_truth(operand(i, 1), first);
      steps.put_truth(operand(i, 2), second);
    } else {
      steps.put_truth(operand(i, 1), negate(steps, steps.emit(Action::equal, 1, top, constant(0))));
    }
  }
  steps.put(operand(i, 0), total);
}

void multiply(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t at = 1;
  while (at < 2 && is_predicate(operand(i, at))) ++at;
  if (i.operands.size() < at + 3) return unknown(steps, i, op);
  if (op.has("WIDE") || op.has("HI")) return multiply_wide(steps, i, op, at);
  for (std::string_view const m : op.modifiers)
    if (m != "MOV" && m != "SHL" && m != "IADD" && m != "U32" && m != "X" && m != "S32")
      return unknown(steps, i, op);
  if (op.has("X")) steps.refine("IMAD.X"_form);
  Source const a = steps.word(operand(i, at)), b = steps.word(operand(i, at + 1));
  Source const c = steps.word(operand(i, at + 2));
  bool const nothing_times = (a.constant && a.value == 0) || (b.constant && b.value == 0);
  bool const one = b.constant && b.value == 1;
  Source const product = nothing_times ? constant(0) : one ? a : steps.emit(Action::mul, 32, a, b);
  Source sum = add(steps, product, c);
  Source carry = constant(0);
  if (op.has("X")) carry = choose(steps, steps.truth(operand(i, at + 3)), constant(1), constant(0), 32);
  if (at > 1 && number_of(operand(i, 1)))
    steps.put_truth(operand(i, 1), steps.any(1, steps.function_of(64, a, b, c)));
  steps.put(operand(i, 0), add(steps, sum, carry));
}

void shifted_add(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t at = 1;
  if (is_predicate(operand(i, 1))) at = 2;
  bool const up = op.has("HI"), sign = op.has("SX32"), carry_in = op.has("X");
  std::size_t const sources = up && !sign ? 3 : 2;
  Operand const& by = operand(i, at + sources);
  if (by.kind != Kind::immediate || by.value > 31 || (up && operand(i, at).negative))
    return unknown(steps, i, op);
  if (up) steps.refine(sign ? "LEA.HI.SX32"_form : "LEA.HI"_form);
  auto const n = static_cast<unsigned>(by.value);
  Source const a = steps.word(operand(i, at)), b = steps.word(operand(i, at + 1));
  Source moved{};
  if (!up) {
    moved = a.constant ? constant(a.value << n & ones32)
            : n == 0   ? a
                       : steps.emit(Action::shl, 32, a, constant(n));
  } else if (sign) {
    moved = n == 0 ? arithmetic_shift(steps, a, constant(31), 32)
                   : arithmetic_shift(steps, a, constant(32 - n), 32);
  } else {
    Source const c = steps.word(operand(i, at + 2));
    Source const low = n == 0       ? constant(0)
                       : a.constant ? constant(a.value >> (32 - n))
                                    : steps.emit(Action::lshr, 32, a, constant(32 - n));
    Source const high_part = c.constant ? constant(c.value << n & ones32)
                             : n == 0   ? c
                                        : steps.emit(Action::shl, 32, c, constant(n));
    moved = low.constant && low.value == 0               ? high_part
            : high_part.constant && high_part.value == 0 ? low
                                                         : steps.emit(Action::bit_or, 32, high_part, low);
  }
  Source carry = constant(0);
  if (carry_in)
    carry = choose(steps, steps.truth(operand(i, at + sources + 1)), constant(1), constant(0), 32);
  if (at == 2 && (operand(i, at + 1).negative || (up && operand(i, at).negative))) {
    steps.put_truth(operand(i, 1),
                    steps.any(1, steps.registers_of(i, 2)));  // the rule of this carry is not known
  } else if (at == 2 && number_of(operand(i, 1))) {
    // -a counts as ~(a << n) + 1, whose carry is one where a << n is 0 (gpu/evidence/h100-sass.json).
    bool const negative = operand(i, at).negative;
    Source const less =
        moved.constant ? constant(moved.value - 1 & ones32) : steps.emit(Action::sub, 32, moved, constant(1));
    Source const more = negative ? add(steps, zext(steps, carry), constant(1), 64) : zext(steps, carry);
    Source const whole =
        add(steps, add(steps, zext(steps, negative ? less : moved), zext(steps, b), 64), more, 64);
    steps.put_truth(operand(i, 1), negate(steps, steps.emit(Action::equal, 1,
                                                            steps.emit(Action::lshr, 64, whole, constant(32)),
                                                            constant(0))));
  }
  steps.put(operand(i, 0), add(steps, add(steps, moved, b), carry));
}

void shift(Steps& steps, Instruction const& i, Opcode const& op) {
  bool const left = op.has("L"), is_signed = op.has("S32") || op.has("S64"),
             two = op.has("U64") || op.has("S64");
  bool const upper = op.has("HI");
  if (i.operands.size() != 4) return unknown(steps, i, op);
  if (left) steps.refine("SHF.L"_form);
  Source const low = steps.word(operand(i, 1)), up = steps.word(operand(i, 3));
  Source n = steps.word(operand(i, 2));
  unsigned const width = two ? 64 : 32;
  if (op.has("W"))
    n = n.constant ? constant(n.value & (width - 1))
                   : steps.emit(Action::bit_and, 32, n, constant(width - 1));
  else
    n = n.constant ? constant(std::min<std::uint64_t>(n.value, width))
                   : choose(steps, below(steps, n, constant(width), 32, false), n, constant(width), 32);
  bool const low_zero = low.constant && low.value == 0, up_zero = up.constant && up.value == 0;
  auto const shifted = [&](Action action, Source x) {
    if (n.constant && n.value == 0) return x;
    return x.constant && n.constant && n.value < 32
               ? constant(action == Action::shl ? x.value << n.value & ones32 : x.value >> n.value)
               : steps.emit(action, 32, x, n);
  };
  if (left && !upper) return steps.put(operand(i, 0), shifted(Action::shl, low));
  if (left && low_zero && !two) return steps.put(operand(i, 0), shifted(Action::shl, up));
  if (!left && upper)
    return steps.put(operand(i, 0),
                     is_signed ? arithmetic_shift(steps, up, n, 32) : shifted(Action::lshr, up));
  if (!left && up_zero && !upper && !(is_signed && !n.constant))
    return steps.put(operand(i, 0), shifted(Action::lshr, low));
  if (n.constant && n.value > 0 && n.value < 32) {
    // Both words give bits.
    Source const rest = constant(32 - n.value);
    Source const x = left ? shifted(Action::shl, up) : shifted(Action::lshr, low);
    Source const y = left ? steps.emit(Action::lshr, 32, low, rest) : steps.emit(Action::shl, 32, up, rest);
    return steps.put(operand(i, 0), steps.emit(Action::bit_or, 32, x, y));
  }
  Source const whole = pair(steps, low, up), by = n.constant ? n : zext(steps, n);
  Source const moved = left        ? steps.emit(Action::shl, 64, whole, by)
                       : is_signed ? arithmetic_shift(steps, whole, by, 64)
                                   : steps.emit(Action::lshr, 64, whole, by);
  steps.put(operand(i, 0), upper ? high(steps, moved) : trunc(steps, moved));
}

void least_or_most(Steps& steps, Instruction const& i, Opcode const& op) {
  for (std::string_view const m : op.modifiers)
    if (m != "U32" && m != "S32") return unknown(steps, i, op);
  std::size_t const sources = op.base == "VIMNMX3" || op.base == "VIADDMNMX" ? 3 : 2;
  if (i.operands.size() != 2 + sources || !is_predicate(operand(i, 1 + sources)))
    return unknown(steps, i, op);
  Source const least = steps.truth(operand(i, 1 + sources));
  bool const is_signed = !op.has("U32");
  auto const chosen = [&](Source x, Source y) {
    Source const less = below(steps, x, y, 32, is_signed);
    if (least.constant)
      return least.value != 0 ? choose(steps, less, x, y, 32) : choose(steps, less, y, x, 32);
    return choose(steps, least, choose(steps, less, x, y, 32), choose(steps, less, y, x, 32), 32);
  };
  Source const a = steps.word(operand(i, 1)), b = steps.word(operand(i, 2));
  if (sources == 2) return steps.put(operand(i, 0), chosen(a, b));
  Source const c = steps.word(operand(i, 3));
  steps.put(operand(i, 0), op.base == "VIMNMX3" ? chosen(chosen(a, b), c) : chosen(add(steps, a, b), c));
}

void absolute(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 2 || !op.modifiers.empty()) return unknown(steps, i, op);
  Source const x = steps.word(operand(i, 1));
  Source const negative = minus(steps, x);
  steps.put(operand(i, 0), choose(steps, below(steps, x, constant(0), 32, true), negative, x, 32));
}

void float_of_division(Steps& steps, Instruction const& i, Opcode const& op) {
  static constexpr std::string_view known[] = {"I2F.U32.RP", "I2F.RP", "MUFU.RCP", "F2I.FTZ.U32.TRUNC.NTZ"};
  bool const one = i.operands.size() == 2 && !operand(i, 1).negative && !operand(i, 1).absolute;
  if (!one || std::find(std::begin(known), std::end(known), i.opcode) == std::end(known))
    return unknown(steps, i, op);
  steps.refine(op.base == "I2F" ? "I2F.RP"_form : op.base == "MUFU" ? "MUFU.RCP"_form : "F2I.TRUNC"_form);
  steps.put(operand(i, 0), steps.function_of(32, steps.word(operand(i, 1))));
}

}  // namespace swizproof::sass
