// Integers, predicates, moves and conversions.
#include "lowering.hpp"

#include <algorithm>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;

Source sign_flip(Steps& steps, Source s, unsigned w) {
  return steps.emit(Action::add, w, s, constant(std::uint64_t{1} << (w - 1)));
}

}  // namespace

Source below(Steps& steps, Source a, Source b, unsigned w, bool is_signed) {
  return is_signed ? steps.emit(Action::below, 1, sign_flip(steps, a, w), sign_flip(steps, b, w))
                   : steps.emit(Action::below, 1, a, b);
}

namespace {

Source negated(Steps& steps, Source a, unsigned w) { return steps.emit(Action::sub, w, constant(0), a); }

Source shifted_right(Steps& steps, Source a, Source n, unsigned w, bool is_signed) {
  if (!is_signed) return steps.emit(Action::lshr, w, a, n);
  // asr(x, n) = ((x + m) >> n) - (m >> n) for n < w, with m = 2^(w-1); PTX takes w-1 for larger n.
  Source const m = constant(std::uint64_t{1} << (w - 1));
  if (n.constant)
    n.value = std::min<std::uint64_t>(n.value, w - 1);
  else
    n = steps.emit(Action::choose, w, steps.emit(Action::below, 1, n, constant(w)), n, constant(w - 1));
  Source const up = steps.emit(Action::lshr, w, steps.emit(Action::add, w, a, m), n);
  Source const down = n.constant ? constant(m.value >> n.value) : steps.emit(Action::lshr, w, m, n);
  return steps.emit(Action::sub, w, up, down);
}

Source quotient(Steps& steps, Source a, Source b, unsigned w, bool is_signed, bool remainder) {
  Action const action = remainder ? Action::urem : Action::udiv;
  if (!is_signed) return steps.emit(action, w, a, b);
  Source const m = constant(std::uint64_t{1} << (w - 1));
  // x is negative if and only if x + 2^(w-1) < 2^(w-1), unsigned
  Source const a_minus = steps.emit(Action::below, 1, steps.emit(Action::add, w, a, m), m);
  Source const b_minus = steps.emit(Action::below, 1, steps.emit(Action::add, w, b, m), m);
  Source const a_abs = steps.emit(Action::choose, w, a_minus, negated(steps, a, w), a);
  Source const b_abs = steps.emit(Action::choose, w, b_minus, negated(steps, b, w), b);
  Source const q = steps.emit(action, w, a_abs, b_abs);
  Source const flip = remainder ? a_minus : steps.emit(Action::differ, 1, a_minus, b_minus);
  return steps.emit(Action::choose, w, flip, negated(steps, q, w), q);
}

/// A division by 0 gives what the machine gives: PTX does not specify it.
Source divided(Steps& steps, Source a, Source b, unsigned w, bool is_signed, bool remainder) {
  Source const result = quotient(steps, a, b, w, is_signed, remainder);
  if (b.constant && b.value != 0) return result;
  Source const open =
      steps.emit(Action::opaque, w, a, b, {}, steps.build.named(std::string(steps.build.opcode) + " by 0"));
  return b.constant
             ? open
             : steps.emit(Action::choose, w, steps.emit(Action::equal, 1, b, constant(0)), open, result);
}

Source high_product(Steps& steps, Source a, Source b, unsigned w, bool is_signed) {
  if (w > 32) return steps.function_of(w, a, b);
  Source const product = steps.emit(Action::mul, 2 * w, steps.resize(a, w, 2 * w, is_signed),
                                    steps.resize(b, w, 2 * w, is_signed));
  return steps.emit(Action::trunc, w, steps.emit(Action::lshr, 2 * w, product, constant(w)));
}

/// lop3 by its truth table.
Source lop3(Steps& steps, Source a, Source b, Source c, unsigned table, unsigned w) {
  Source result = constant(0);
  Source const ones = constant(mask_of(w));
  for (unsigned row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    auto const bit = [&](Source s, unsigned set) {
      return set != 0 ? s : steps.emit(Action::bit_xor, w, s, ones);
    };
    Source const term =
        steps.emit(Action::bit_and, w, steps.emit(Action::bit_and, w, bit(a, row & 4), bit(b, row & 2)),
                   bit(c, row & 1));
    result = result.constant ? term : steps.emit(Action::bit_or, w, result, term);
  }
  return result;
}

/// x shifted by n of 32 bits at any width of the word: an amount that does not fit the word gives what the width gives.
Source shifted(Steps& steps, Source x, Source n, unsigned w, bool is_signed, bool left) {
  n = n.constant
          ? constant(std::min<std::uint64_t>(n.value, w))
          : steps.emit(Action::choose, 32, steps.emit(Action::below, 1, n, constant(w)), n, constant(w));
  n = steps.resize(n, 32, w, false);
  return left ? steps.emit(Action::shl, w, x, n) : shifted_right(steps, x, n, w, is_signed);
}

/// shf: 32 bits of a pair of words, shifted.
Source funnel_shift(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  Source const low = steps.in(operand(i, 1), 32), high = steps.in(operand(i, 2), 32);
  Source n = steps.in(operand(i, 3), 32);
  if (op.has("wrap"))
    n = steps.emit(Action::bit_and, 32, n, constant(31));
  else
    n = steps.emit(Action::choose, 32, steps.emit(Action::below, 1, n, constant(32)), n, constant(32));
  Source const both = steps.emit(Action::bit_or, 64,
                                 steps.emit(Action::shl, 64, steps.resize(high, 32, 64, false), constant(32)),
                                 steps.resize(low, 32, 64, false));
  Source const by = steps.resize(n, 32, 64, false);
  if (op.has("r")) return steps.emit(Action::trunc, 32, steps.emit(Action::lshr, 64, both, by));
  return steps.emit(Action::trunc, 32,
                    steps.emit(Action::lshr, 64, steps.emit(Action::shl, 64, both, by), constant(32)));
}

/// bfi: the low `length` bits of x in y, from bit `at` on.
Source inserted_field(Steps& steps, Source x, Source y, std::uint64_t at, std::uint64_t length, unsigned w) {
  std::uint64_t const field =
      at >= w || length == 0
          ? 0
          : (mask_of(static_cast<unsigned>(std::min<std::uint64_t>(length, 64))) << at) & mask_of(w);
  Source const moved = steps.emit(Action::shl, w, x, constant(std::min<std::uint64_t>(at, w)));
  return steps.emit(Action::bit_or, w, steps.emit(Action::bit_and, w, moved, constant(field)),
                    steps.emit(Action::bit_and, w, y, constant(~field & mask_of(w))));
}

Source bit_field(Steps& steps, Source x, std::uint64_t at, std::uint64_t length, unsigned w, bool is_signed) {
  if (length == 0) return constant(0);
  at = std::min<std::uint64_t>(at, w);
  // A signed field that sticks out repeats the word's sign: as if it ended there.
  if (is_signed && at + length > w) length = at >= w ? 1 : w - at;
  if (is_signed && at >= w) at = w - 1;
  if (at + length >= w) return shifted_right(steps, x, constant(at), w, is_signed);
  if (!is_signed)
    return steps.emit(Action::bit_and, w, shifted_right(steps, x, constant(at), w, false),
                      constant(mask_of(static_cast<unsigned>(length))));
  auto const up = static_cast<unsigned>(w - at - length);
  return shifted_right(steps, steps.emit(Action::shl, w, x, constant(up)), constant(at + up), w, true);
}

/// prmt in its default mode with a constant selector.
bool permute(Steps& steps, Instruction const& i) {
  Source const a = steps.in(operand(i, 1), 32), b = steps.in(operand(i, 2), 32);
  std::uint64_t const selector = operand(i, 3).value;
  Source result = constant(0);
  for (unsigned k = 0; k < 4; ++k) {
    auto const pick = static_cast<unsigned>(selector >> 4 * k & 15);
    Source byte =
        steps.emit(Action::bit_and, 32,
                   steps.emit(Action::lshr, 32, pick & 4 ? b : a, constant(8 * (pick & 3))), constant(255));
    if (pick & 8)  // the byte's sign, eight times
      byte = steps.emit(Action::mul, 32, steps.emit(Action::lshr, 32, byte, constant(7)), constant(255));
    result = steps.emit(Action::bit_or, 32, result, steps.emit(Action::shl, 32, byte, constant(8 * k)));
  }
  steps.out(operand(i, 0), result, 32);
  return true;
}

Source ones_of(Steps& steps, Source x, unsigned w) {
  Source count = constant(0);
  for (unsigned k = 0; k < w; ++k)
    count =
        steps.emit(Action::add, w, count,
                   steps.emit(Action::bit_and, w, steps.emit(Action::lshr, w, x, constant(k)), constant(1)));
  return count;
}

/// popc, clz, brev and bfind.u, bit by bit.
bool counted(Steps& steps, Instruction const& i, unsigned w) {
  Opcode const& op = i.opcode;
  Source x = steps.in(operand(i, 1), w);
  if (op.name == "brev") {
    Source result = constant(0);
    for (unsigned k = 0; k < w; ++k)
      result = steps.emit(
          Action::bit_or, w, result,
          steps.emit(Action::shl, w,
                     steps.emit(Action::bit_and, w, steps.emit(Action::lshr, w, x, constant(k)), constant(1)),
                     constant(w - 1 - k)));
    steps.out(operand(i, 0), result, w);
    return true;
  }
  if (op.name == "bfind") return false;
  if (op.name == "clz") {
    for (unsigned k = 1; k < w; k *= 2)
      x = steps.emit(Action::bit_or, w, x, steps.emit(Action::lshr, w, x, constant(k)));
    x = steps.emit(Action::bit_xor, w, x, constant(mask_of(w)));
  }
  Source const count = ones_of(steps, x, w);
  steps.out(operand(i, 0), w == 32 ? count : steps.emit(Action::trunc, 32, count), 32);
  return true;
}

/// mul and mad of x and y; the result has `to` bits.
Source product(Steps& steps, Instruction const& i, Source x, Source y, unsigned to) {
  unsigned const w = i.opcode.type.bits;
  bool const s = i.opcode.type.kind == 's';
  Source value = i.opcode.has("hi") ? high_product(steps, x, y, w, s)
                 : to > w ? steps.emit(Action::mul, to, steps.resize(x, w, to, s), steps.resize(y, w, to, s))
                          : steps.emit(Action::mul, w, x, y);
  if (i.opcode.name == "mad") value = steps.emit(Action::add, to, value, steps.in(operand(i, 3), to, s));
  return value;
}

}  // namespace

Source compared(Steps& steps, std::string_view how, Source a, Source b, unsigned w, Type type) {
  bool const s = type.kind == 's';
  if (how == "eq") return steps.emit(Action::equal, 1, a, b);
  if (how == "ne") return steps.emit(Action::negate, 1, steps.emit(Action::equal, 1, a, b));
  if (how == "lt" || how == "lo") return below(steps, a, b, w, s && how == "lt");
  if (how == "gt" || how == "hi") return below(steps, b, a, w, s && how == "gt");
  if (how == "le" || how == "ls")
    return steps.emit(Action::negate, 1, below(steps, b, a, w, s && how == "le"));
  if (how == "ge" || how == "hs")
    return steps.emit(Action::negate, 1, below(steps, a, b, w, s && how == "ge"));
  return steps.function_of(1, a, b);
}

bool arithmetic(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  std::string_view const name = op.name;
  unsigned const w = op.type.bits;
  bool const s = op.type.kind == 's';
  if (w > 64 || w < 8 || op.has("sat") || op.has("cc")) return false;
  auto const a = [&] { return steps.in(operand(i, 1), w, s); };
  auto const b = [&] { return steps.in(operand(i, 2), w, s); };
  Operand const& d = operand(i, 0);
  auto const put = [&](Source value, unsigned width) {
    steps.out(d, value, width, s);
    return true;
  };
  auto const two = [&](Action action) {
    Source const x = a();
    Source const y = b();
    return put(steps.emit(action, w, x, y), w);
  };
  if (name == "add") return two(Action::add);
  if (name == "sub") return two(Action::sub);
  if (name == "and") return two(Action::bit_and);
  if (name == "or") return two(Action::bit_or);
  if (name == "xor") return two(Action::bit_xor);
  if (name == "not") return put(steps.emit(Action::bit_xor, w, a(), constant(mask_of(w))), w);
  if (name == "neg") return put(negated(steps, a(), w), w);
  if (name == "abs") {
    Source const x = a();
    return put(steps.emit(Action::choose, w, below(steps, x, constant(0), w, true), negated(steps, x, w), x),
               w);
  }
  if (name == "min" || name == "max") {
    if (op.has("relu")) return false;
    Source const x = a(), y = b();
    Source const less = name == "min" ? below(steps, x, y, w, s) : below(steps, y, x, w, s);
    return put(steps.emit(Action::choose, w, less, x, y), w);
  }
  if (name == "div" || name == "rem") return put(divided(steps, a(), b(), w, s, name == "rem"), w);
  if (name == "mul" || name == "mad") {
    unsigned const to = op.has("wide") ? 2 * w : w;
    if (to > 64) return false;
    Source const x = a(), y = b();
    return put(product(steps, i, x, y, to), to);
  }
  if (name == "shl" || name == "shr")
    return put(shifted(steps, a(), steps.in(operand(i, 2), 32), w, s, name == "shl"), w);
  if (name == "shf" && w == 32) return put(funnel_shift(steps, i), w);
  if (name == "lop3" && w == 32 && operand(i, 4).kind == Kind::immediate && d.parts.empty() && !op.has("or"))
    return put(lop3(steps, a(), b(), steps.in(operand(i, 3), w),
                    static_cast<unsigned>(operand(i, 4).value & 255), w),
               w);
  if (name == "bfe" && operand(i, 2).kind == Kind::immediate && operand(i, 3).kind == Kind::immediate)
    return put(bit_field(steps, a(), operand(i, 2).value & 255, operand(i, 3).value & 255, w, s), w);
  if (name == "bfi" && operand(i, 3).kind == Kind::immediate && operand(i, 4).kind == Kind::immediate)
    return put(inserted_field(steps, a(), b(), operand(i, 3).value & 255, operand(i, 4).value & 255, w), w);
  if (name == "prmt" && operand(i, 3).kind == Kind::immediate && op.parts.size() == 2)
    return permute(steps, i);
  if (name == "popc" || name == "clz" || name == "brev" || name == "bfind") return counted(steps, i, w);
  return false;
}

void set_predicate(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  Type const type = op.type;
  Operand const& d = operand(i, 0);
  Source p{};
  if (type.integer() && type.bits >= 8 && type.bits <= 64) {
    Source const a = steps.in(operand(i, 1), type.bits, type.kind == 's');
    p = compared(steps, op.parts[1], a, steps.in(operand(i, 2), type.bits, type.kind == 's'), type.bits,
                 type);
  } else {
    unsigned const w = std::min(std::max(type.bits, 8U), 64U);
    Source const a = steps.in(operand(i, 1), w);
    p = steps.function_of(1, a, steps.in(operand(i, 2), w));
  }
  Source q = steps.emit(Action::negate, 1, p);
  if (i.operands.size() > 3) {
    Source const c = steps.predicate(operand(i, 3));
    auto const with = [&](Source x) {
      if (op.has("and")) return steps.emit(Action::both, 1, x, c);
      if (op.has("or")) return steps.emit(Action::either, 1, x, c);
      if (op.has("xor")) return steps.emit(Action::differ, 1, x, c);
      return steps.function_of(1, x, c);
    };
    p = with(p), q = with(q);
  }
  if (!d.parts.empty()) steps.out(d.parts[0], q, 1);
  steps.out(d, p, 1);
}

bool logic_of_predicates(Steps& steps, Instruction const& i) {
  std::string_view const op = i.opcode.name;
  Source const a = steps.predicate(operand(i, 1));
  Source value = a;
  if (op == "not")
    value = steps.emit(Action::negate, 1, a);
  else if (op == "and")
    value = steps.emit(Action::both, 1, a, steps.predicate(operand(i, 2)));
  else if (op == "or")
    value = steps.emit(Action::either, 1, a, steps.predicate(operand(i, 2)));
  else if (op == "xor")
    value = steps.emit(Action::differ, 1, a, steps.predicate(operand(i, 2)));
  else if (op != "mov")
    return false;
  steps.out(operand(i, 0), value, 1);
  return true;
}

namespace {

/// mov.v2 and the like: all lanes are read before one is written.
void move_lanes(Steps& steps, Instruction const& i) {
  std::vector<Operand> const &to = operand(i, 0).parts, &from = operand(i, 1).parts;
  if (to.size() != i.opcode.lanes || from.size() != to.size()) return steps.unknown(i);
  unsigned const w = i.opcode.type.bits;
  std::vector<Source> values;
  for (Operand const& lane : from) values.push_back(steps.emit(Action::copy, w, steps.in(lane, w)));
  for (std::size_t k = 0; k < to.size(); ++k) steps.out(to[k], values[k], w);
}

}  // namespace

void move(Steps& steps, Instruction const& i) {
  Type const type = i.opcode.type;
  Operand const& d = operand(i, 0);
  Operand const& s = operand(i, 1);
  unsigned const w = type.bits;
  if (type.kind == 'p') {
    (void)logic_of_predicates(steps, i);
  } else if (w > 64 || w < 8) {
    steps.unknown(i);
  } else if (i.opcode.lanes > 1) {
    move_lanes(steps, i);
  } else if (d.kind == Kind::vector) {
    unsigned const part = w / static_cast<unsigned>(std::max<std::size_t>(d.parts.size(), 1));
    if (part < 8 || s.kind == Kind::vector) return steps.unknown(i);
    Source const value = steps.in(s, w);
    for (unsigned k = 0; k < d.parts.size(); ++k)
      if (d.parts[k].kind == Kind::reg)
        steps.out(d.parts[k],
                  steps.emit(Action::trunc, part, steps.emit(Action::lshr, w, value, constant(k * part))),
                  part);
  } else if (s.kind == Kind::vector) {
    unsigned const part = w / static_cast<unsigned>(std::max<std::size_t>(s.parts.size(), 1));
    if (part < 8 || s.parts.size() < 2) return steps.unknown(i);
    Source value = constant(0);
    for (unsigned k = 0; k < s.parts.size(); ++k)
      value = steps.emit(Action::bit_or, w, value,
                         steps.emit(Action::shl, w, steps.resize(steps.in(s.parts[k], part), part, w, false),
                                    constant(k * part)));
    steps.out(d, value, w);
  } else {
    steps.out(d, steps.in(s, w), w);
  }
}

void convert(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  Type const from = op.type, to = op.type_before();
  if (!from.integer() || !to.integer() || op.has("sat") || from.bits > 64 || to.bits > 64)
    return steps.opaque(i);
  bool const s = from.kind == 's';
  Source const value = steps.resize(steps.in(operand(i, 1), from.bits), from.bits, to.bits, s);
  steps.out(operand(i, 0), value, to.bits, to.kind == 's');
}

void choose(Steps& steps, Instruction const& i) {
  Type const type = i.opcode.type;
  if (type.bits > 64 || type.bits < 8) return steps.unknown(i);
  Source const a = steps.in(operand(i, 1), type.bits);
  Source const b = steps.in(operand(i, 2), type.bits);
  steps.out(operand(i, 0), steps.emit(Action::choose, type.bits, steps.predicate(operand(i, 3)), a, b),
            type.bits);
}

}  // namespace swizproof::ptx
