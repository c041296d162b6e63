// Bit fields, carries, and other integer instructions that few kernels have.
#include "lowering.hpp"

#include <algorithm>
#include <iterator>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;

/// An instruction's operands, and steps at the width of its type.
class Bits {
 public:
  Bits(Steps& to, Instruction const& of)
      : steps(to), i(of), w(of.opcode.name == "prmt" ? 32U : of.opcode.type.bits) {}

  Steps& steps;
  Instruction const& i;
  unsigned w;

  [[nodiscard]] Source at(std::size_t k, unsigned width) const { return steps.in(operand(i, k), width); }
  [[nodiscard]] Source at(std::size_t k) const { return at(k, w); }
  [[nodiscard]] Source op(Action action, Source a, Source b) const { return steps.emit(action, w, a, b); }
  [[nodiscard]] Source add(Source a, Source b) const { return op(Action::add, a, b); }
  [[nodiscard]] Source sub(Source a, Source b) const { return op(Action::sub, a, b); }
  [[nodiscard]] Source both(Source a, Source b) const { return op(Action::bit_and, a, b); }
  [[nodiscard]] Source either(Source a, Source b) const { return op(Action::bit_or, a, b); }
  [[nodiscard]] Source up(Source a, Source n) const { return op(Action::shl, a, n); }
  [[nodiscard]] Source down(Source a, Source n) const { return op(Action::lshr, a, n); }
  [[nodiscard]] Source inverted(Source a) const { return op(Action::bit_xor, a, constant(mask_of(w))); }
  [[nodiscard]] Source pick(Source p, Source a, Source b) const {
    return steps.emit(Action::choose, w, p, a, b);
  }
  [[nodiscard]] Source less(Source a, Source b, bool is_signed = false) const {
    return below(steps, a, b, w, is_signed);
  }
  [[nodiscard]] Source is_zero(Source a) const { return steps.emit(Action::equal, 1, a, constant(0)); }
  /// The low n bits set; all of them for n from the width on.
  [[nodiscard]] Source ones(Source n) const { return sub(up(constant(1), n), constant(1)); }
  [[nodiscard]] Source least(Source a, Source b) const { return pick(less(a, b), a, b); }
  /// The low 8 bits of an operand of 32 bits.
  [[nodiscard]] Source byte(std::size_t k) const {
    return steps.resize(steps.emit(Action::bit_and, 32, at(k, 32), constant(255)), 32, w, false);
  }
  /// Field of a word as a word of the width, extended by its sign or by zeros.
  [[nodiscard]] Source field(Source a, unsigned from, unsigned bits, bool is_signed) const {
    Source const f = steps.emit(Action::trunc, bits, down(a, constant(from)));
    return steps.resize(f, bits, w, is_signed);
  }
};

/// The bits from `pos` on that a field of `length` has in the word; beyond, the sign is that of its last bit.
Source extracted(Bits const& b, bool is_signed) {
  Source const x = b.at(1), pos = b.least(b.byte(2), constant(b.w)), length = b.byte(3);
  Source const inside = b.least(length, b.sub(constant(b.w), pos));
  Source const low = b.both(b.down(x, pos), b.ones(inside));
  if (!is_signed) return low;
  Source const end = b.add(b.byte(2), length), last = b.least(b.sub(end, constant(1)), constant(b.w - 1));
  Source const minus = b.both(b.down(x, last), constant(1));
  Source const some = b.pick(b.is_zero(length), constant(0), minus);
  return b.either(low, b.pick(b.is_zero(some), constant(0), b.inverted(b.ones(inside))));
}

Source inserted(Bits const& b) {
  Source const pos = b.byte(3), mask = b.up(b.ones(b.byte(4)), pos);
  return b.either(b.both(b.at(2), b.inverted(mask)), b.both(b.up(b.at(1), pos), mask));
}

/// bmsk and szext: a number of bits modulo 32, or at most 32.
Source count(Bits const& b, std::size_t k) {
  return b.i.opcode.has("wrap") ? b.both(b.at(k), constant(31)) : b.least(b.at(k), constant(32));
}

Source extended(Bits const& b, bool is_signed) {
  Source const n = count(b, 2), low = b.both(b.at(1), b.ones(n));
  if (!is_signed) return low;
  Source const sign = b.both(b.down(low, b.sub(n, constant(1))), constant(1));
  return b.either(low, b.pick(b.is_zero(sign), constant(0), b.inverted(b.ones(n))));
}

/// Position of the highest bit that differs from the sign; all ones if all bits equal it.
Source found(Bits const& b, bool is_signed) {
  Source x = b.at(1);
  if (is_signed) x = b.pick(b.less(x, constant(0), true), b.inverted(x), x);
  for (unsigned k = 1; k < b.w; k *= 2) x = b.either(x, b.down(x, constant(k)));
  Source ones = constant(0);
  for (unsigned k = 0; k < b.w; ++k) ones = b.add(ones, b.both(b.down(x, constant(k)), constant(1)));
  Source const none = constant(mask_of(b.w));
  if (!b.i.opcode.has("shiftamt")) return b.sub(ones, constant(1));
  return b.pick(b.is_zero(ones), none, b.sub(constant(b.w), ones));
}

/// The low 32 bits of a product of 24 by 24, or its 32 upper ones.
Source product24(Bits const& b, bool is_signed) {
  auto const cut = [&](std::size_t k) {
    return b.steps.resize(b.steps.emit(Action::trunc, 24, b.at(k)), 24, 64, is_signed);
  };
  Source const product = b.steps.emit(Action::mul, 64, cut(1), cut(2));
  unsigned const from = b.i.opcode.has("hi") ? 16 : 0;
  return b.steps.emit(Action::trunc, 32, b.steps.emit(Action::lshr, 64, product, constant(from)));
}

/// dp4a and dp2a: sums of products of bytes, and of halves and bytes.
Source dot_product(Bits const& b) {
  auto const& parts = b.i.opcode.parts;
  bool const four = b.i.opcode.name == "dp4a";
  Type const of_a = type_of(parts[parts.size() - 2]), of_b = type_of(parts.back());
  unsigned const first = b.i.opcode.has("hi") ? 16 : 0;
  Source const x = b.at(1), y = b.at(2);
  Source sum = b.at(3);
  for (unsigned k = 0; k < (four ? 4 : 2); ++k)
    sum = b.add(sum, b.op(Action::mul, b.field(x, four ? 8 * k : 16 * k, four ? 8 : 16, of_a.kind == 's'),
                          b.field(y, first + 8 * k, 8, of_b.kind == 's')));
  return sum;
}

/// prmt: four bytes of {b, a} by the nibbles of a selector; the other modes have selectors of their own.
Source permuted(Bits const& b, std::string_view mode) {
  Source const both = b.steps.emit(
      Action::bit_or, 64, b.steps.emit(Action::shl, 64, b.steps.resize(b.at(2), 32, 64, false), constant(32)),
      b.steps.resize(b.at(1), 32, 64, false));
  Source const selector = b.at(3), c = b.both(selector, constant(3));
  Source result = constant(0);
  for (unsigned k = 0; k < 4; ++k) {
    Source pick{};
    if (mode.empty()) pick = b.both(b.down(selector, constant(4 * k)), constant(7));
    if (mode == "f4e") pick = b.add(c, constant(k));
    if (mode == "b4e") pick = b.both(b.sub(c, constant(k)), constant(7));
    if (mode == "rc8") pick = c;
    if (mode == "ecl") pick = b.pick(b.less(c, constant(k)), constant(k), c);
    if (mode == "ecr") pick = b.least(c, constant(k));
    if (mode == "rc16") pick = b.add(b.up(b.both(c, constant(1)), constant(1)), constant(k & 1));
    Source const by = b.steps.resize(b.up(pick, constant(3)), 32, 64, false);
    Source byte =
        b.both(b.steps.emit(Action::trunc, 32, b.steps.emit(Action::lshr, 64, both, by)), constant(255));
    if (mode.empty()) {  // bit 3 of a nibble repeats the byte's sign
      Source const sign = b.op(Action::mul, b.down(byte, constant(7)), constant(255));
      byte = b.pick(b.is_zero(b.both(b.down(selector, constant(4 * k)), constant(8))), byte, sign);
    }
    result = b.either(result, b.up(byte, constant(8 * k)));
  }
  return result;
}

/// A sum or a difference of x and y with .cc or a carry: the carry of a sum, the borrow of a difference.
Source with_carry(Bits const& b, Source x, Source y) {
  Opcode const& op = b.i.opcode;
  bool const takes = op.name.ends_with("c"), minus = op.name.starts_with("sub");
  Source const more = takes ? b.pick(b.steps.carry(minus), constant(1), constant(0)) : constant(0);
  Source const first = minus ? b.sub(x, y) : b.add(x, y),
               result = minus ? b.sub(first, more) : b.add(first, more);
  if (!op.has("cc")) return result;
  Source const out = minus ? b.steps.emit(Action::either, 1, b.less(x, y), b.less(first, more))
                           : b.steps.emit(Action::either, 1, b.less(first, x), b.less(result, first));
  b.steps.write_carry(out, minus);
  return result;
}

/// The low or the high half of a product of words of 32 bits; of 64 bits the low one.
Source half_of_product(Bits const& b, bool is_signed) {
  if (b.w == 64) return b.op(Action::mul, b.at(1), b.at(2));
  Source const product = b.steps.emit(Action::mul, 64, b.steps.resize(b.at(1), 32, 64, is_signed),
                                      b.steps.resize(b.at(2), 32, 64, is_signed));
  return b.steps.emit(Action::trunc, 32,
                      b.i.opcode.has("hi") ? b.steps.emit(Action::lshr, 64, product, constant(32)) : product);
}

/// add.sat.s32 and sub.sat.s32.
Source saturated(Bits const& b) {
  auto const wide = [&](std::size_t k) { return b.steps.resize(b.at(k), 32, 64, true); };
  Source const sum = b.steps.emit(b.i.opcode.name == "sub" ? Action::sub : Action::add, 64, wide(1), wide(2));
  auto const limited = [&](Source x, std::uint64_t limit, bool above) {
    Source const end = constant(limit);
    Source const beyond = above ? below(b.steps, end, x, 64, true) : below(b.steps, x, end, 64, true);
    return b.steps.emit(Action::choose, 64, beyond, end, x);
  };
  return b.steps.emit(Action::trunc, 32,
                      limited(limited(sum, 0x7fffffff, true), ~std::uint64_t{0x7fffffff}, false));
}

Source difference(Bits const& b, bool is_signed) {
  Source const x = b.at(1), y = b.at(2);
  return b.add(b.at(3), b.pick(b.less(x, y, is_signed), b.sub(y, x), b.sub(x, y)));
}

}  // namespace

bool arithmetic_of_bits(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  std::string_view const name = op.name;
  Bits const b(steps, i);
  bool const s = op.type.kind == 's', word = b.w == 32, words = word || b.w == 64;
  auto const put = [&](Source value, unsigned width) {
    steps.out(operand(i, 0), value, width, s);
    return true;
  };
  if (operand(i, 0).kind != Kind::reg || !operand(i, 0).parts.empty()) return false;
  bool const sum = name == "add" || name == "sub" || name == "addc" || name == "subc";
  if (sum && op.has("sat")) return word && s && put(saturated(b), 32);
  if (sum && words && !op.has("x2")) return put(with_carry(b, b.at(1), b.at(2)), b.w);
  bool const product = name == "madc" || (name == "mad" && op.has("cc"));
  if (product && (word || (words && op.has("lo"))))
    return put(with_carry(b, half_of_product(b, s), b.at(3)), b.w);
  if (name == "bfe" && words) return put(extracted(b, s), b.w);
  if (name == "bfi" && words) return put(inserted(b), b.w);
  if (name == "bmsk" && word) {
    Source const n = count(b, 2), from = op.has("wrap") ? b.both(b.at(1), constant(31)) : b.at(1);
    return put(b.up(b.ones(n), from), 32);
  }
  if (name == "szext" && word) return put(extended(b, s), 32);
  if (name == "cnot" && b.w >= 16 && b.w <= 64)
    return put(b.pick(b.is_zero(b.at(1)), constant(1), constant(0)), b.w);
  if (name == "bfind" && words) {
    Source const at = found(b, s);
    steps.out(operand(i, 0), word ? at : steps.emit(Action::trunc, 32, at), 32);
    return true;
  }
  if (name == "sad" && b.w >= 16 && b.w <= 64) return put(difference(b, s), b.w);
  if ((name == "mul24" || name == "mad24") && word && !op.has("sat")) {
    Source const product = product24(b, s);
    return put(name == "mul24" ? product : b.add(product, b.at(3)), 32);
  }
  if ((name == "dp4a" || name == "dp2a") && word && op.parts.size() >= 3) return put(dot_product(b), 32);
  if (name == "prmt" && word) return put(permuted(b, op.parts.size() == 3 ? op.parts[2] : ""), 32);
  if (name == "slct" && s && word && op.parts.size() == 3) {
    Type const of = op.type_before().bits != 0 ? op.type_before() : type_of(op.parts[1]);
    if (of.bits < 16 || of.bits > 64) return false;
    Source const minus = below(steps, steps.in(operand(i, 3), 32), constant(0), 32, true);
    steps.out(operand(i, 0),
              steps.emit(Action::choose, of.bits, minus, steps.in(operand(i, 2), of.bits),
                         steps.in(operand(i, 1), of.bits)),
              of.bits);
    return true;
  }
  return false;
}

bool set_word(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  Type const to = op.type_before(), of = op.type;
  if (op.parts.size() != 4 || !of.integer() || of.bits < 16 || of.bits > 64) return false;
  bool const single = to.kind == 'f' && to.bits == 32;
  if (!single && !(to.integer() && to.bits == 32)) return false;
  Source const a = steps.in(operand(i, 1), of.bits, of.kind == 's');
  Source const p =
      compared(steps, op.parts[1], a, steps.in(operand(i, 2), of.bits, of.kind == 's'), of.bits, of);
  steps.out(operand(i, 0),
            steps.emit(Action::choose, 32, p, constant(single ? 0x3f800000 : 0xffffffff), constant(0)), 32);
  return true;
}

}  // namespace swizproof::ptx
