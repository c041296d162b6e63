#include "words.hpp"

#include "evaluation.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace swizproof::execution {

Node const& Words::node(Id id) const { return in_.execution.node(id); }

void Words::release() {
  kept_ = {};  // the buckets, too
  forgotten_.clear();
}

std::size_t Words::kept() const {
  std::size_t all = kept_.size();
  for (auto const& some : forgotten_) all += some.size();
  return all;
}

Lanes const& Words::value(Id id, unsigned bits) {
  bits = std::min<unsigned>(bits, node(id).width);
  std::uint64_t const key = std::uint64_t{id} << 7 | bits;
  if (Lanes const* const found = in_.assumed.find(kept_, key)) return *found;
  if (in_.depth == 0) forgotten_.clear();
  in_.count_step();
  return in_.assumed.keep(kept_, key, [&] {
    ++in_.depth;
    Lanes v = in_.depth > Evaluation::deepest + 1
                  ? in_.atoms.stuck({Request::Kind::none, 0, 0, "the expression is nested too deeply"})
                  : compute(id, bits);
    --in_.depth;
    return v;
  });
}

Lanes Words::compute(Id id, unsigned bits) {
  Node const n = node(id);
  if (bits == 0) return {};
  switch (n.op) {
    case Op::constant:
    case Op::truth: {
      Lanes v;
      v.lane.fill(n.value & low_bits(bits));
      return v;
    }
    case Op::variable:
      return in_.leaves.value(id, bits);
    case Op::bv_add: {
      Lanes const& a = value(n.a, bits);
      return in_.sums.sum(a, value(n.b, bits), 1, bits);
    }
    case Op::bv_sub: {
      Lanes const& a = value(n.a, bits);
      return in_.sums.sum(a, value(n.b, bits), ~std::uint64_t{0}, bits);
    }
    case Op::bv_mul:
      return product(id, bits);
    case Op::bv_shl:
      return in_.bitwise.shifted_left(id, bits);
    case Op::bv_lshr:
      return in_.bitwise.shifted_right(id, bits);
    case Op::bv_and:
    case Op::bv_or:
    case Op::bv_xor:
      return in_.bitwise.joined(id, bits);
    case Op::bv_udiv:
    case Op::bv_urem:
      return divided(id, bits);
    case Op::ite:
      return chosen(id, bits);
    case Op::zero_extend:
      return extended(id, bits);
    case Op::truncate:
      return value(n.a, bits);
    default:
      return in_.atoms.stuck({Request::Kind::none, 0, 0, "a truth is used as a number"});
  }
}

Lanes Words::product(Id id, unsigned bits) {
  Node const n = node(id);
  for (auto const& [constant, other] : {std::pair{n.a, n.b}, std::pair{n.b, n.a}}) {
    std::uint64_t const factor = node(constant).value & low_bits(bits);
    if (node(constant).op != Op::constant) continue;
    if (factor == 0) return {};
    // As of a shift, the high bits do not count.
    return in_.sums.scaled(value(other, bits - static_cast<unsigned>(std::countr_zero(factor))), factor,
                           bits);
  }
  Lanes const &a = value(n.a, bits), &b = value(n.b, bits);
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (a.pure() && a.uniform()) return in_.sums.scaled(b, a.lane[0], bits);
  if (b.pure() && b.uniform()) return in_.sums.scaled(a, b.lane[0], bits);
  if (!a.split()) return a;
  if (!b.split()) return b;
  if (a.uniform() && b.uniform())
    return a.terms.size() * b.terms.size() > 16 ? in_.atoms.of_operation(id, {&a, &b}, bits)
                                                : product_of_sums(a, b, bits);
  if (a.pure() && b.pure()) {
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] * b.lane[l];
    in_.sums.reduce(out, bits);
    return out;
  }
  constexpr unsigned few = 8;  // bits, whose values the caller can try
  std::string const reason = "the lanes' numbers are multiplied by a value that is not known";
  Lanes const& unknown = a.terms.empty() ? b : a;
  return bits <= few ? in_.atoms.missing_bits(unknown, bits, reason)
                     : in_.atoms.missing_value(unknown, reason);
}

/// (a0 + sum a)(b0 + sum b), of sums that are the same in all lanes.
Lanes Words::product_of_sums(Lanes const& a, Lanes const& b, unsigned bits) {
  Lanes out = in_.sums.sum(in_.sums.scaled(b, a.lane[0], bits), in_.sums.scaled(a, b.lane[0], bits), 1, bits);
  for (std::uint64_t& x : out.lane) x = a.lane[0] * b.lane[0];
  for (auto const& [x, f] : a.terms)
    for (auto const& [y, g] : b.terms) {
      Terms& terms = in_.execution.terms;
      Term const both = resized(Term{&terms, x}, 64) * resized(Term{&terms, y}, 64);
      out = in_.sums.sum(out, in_.atoms.of(both.id, bits), f * g, bits);
    }
  in_.sums.reduce(out, bits);
  return out;
}

Lanes Words::divided(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes const &a = value(n.a, n.width), &b = value(n.b, n.width);
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (!a.split()) return a;
  if (!b.split()) return b;
  if (a.pure() && b.pure()) {
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = value_of(n, a.lane[l], b.lane[l]);
    in_.sums.reduce(out, bits);
    return out;
  }
  if (a.uniform() && b.uniform()) return in_.atoms.of_operation(id, {&a, &b}, bits);
  if (a.pure() && b.uniform()) return divided_by_shared(id, a, b, bits);
  if (!(b.pure() && b.uniform()))
    return in_.atoms.missing_value(b.terms.empty() ? a : b,
                                   "the lanes' numbers are divided by a value that is not known");
  return divided_by_number(id, a, b.lane[0], bits);
}

/// Numbers of lanes divided by a value that all lanes share. Numbers up to m have the same quotients and remainders by d as by the smaller
/// one of d and m + 1: if d is greater than m, these are 0 and the number. So few values of d differ, and the caller can try them.
Lanes Words::divided_by_shared(Id id, Lanes const& a, Lanes const& b, unsigned bits) {
  constexpr std::uint64_t most_tried = 256;
  Node const n = node(id);
  std::uint64_t const most = *std::max_element(a.lane.begin(), a.lane.end());
  std::string const reason = "the lanes' numbers are divided by a value that is not known";
  if (most >= most_tried) return in_.atoms.missing_value(b, reason);
  for (auto const& [atom, factor] : b.terms)  // such as the sign of |n|, before each value of it
    if (node(atom).op == Op::ite) return in_.atoms.stuck({Request::Kind::truth, node(atom).a, 0, reason});
  Lanes const d = in_.atoms.at_most(b, most + 1, n.width);
  if (!d.pure()) return in_.atoms.missing_value(d, reason);
  Lanes out;
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = value_of(n, a.lane[l], d.lane[0]);
  in_.sums.reduce(out, bits);
  return out;
}

Lanes Words::divided_by_number(Id id, Lanes const& a, std::uint64_t d, unsigned bits) {
  Node const n = node(id);
  bool const quotient = n.op == Op::bv_udiv;
  if (d == 0) return in_.atoms.missing_value(a, "a division by zero");
  bool const multiple =
      std::all_of(a.terms.begin(), a.terms.end(), [&](auto const& t) { return t.second % d == 0; });
  if (multiple && in_.sums.bound(a, n.width)) {  // (lane + d m) / d = lane / d + m
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = quotient ? a.lane[l] / d : a.lane[l] % d;
    if (quotient)
      for (auto const& [x, f] : a.terms) out.terms.emplace_back(x, f / d);
    in_.sums.reduce(out, bits);
    return out;
  }
  if (std::has_single_bit(d)) {
    auto const k = static_cast<unsigned>(std::countr_zero(d));
    if (!quotient) return in_.bitwise.masked(id, a, d - 1, bits, n.width);
    if (in_.sums.zeros_of(a, n.width) < k) return in_.atoms.missing_bits(a, k, "a sum is divided");
  }
  return in_.atoms.missing_value(a, "a sum is divided, and a part of it is not known");
}

Lanes Words::extended(Id id, unsigned bits) {
  Node const n = node(id);
  unsigned const w = node(n.a).width;
  if (bits <= w) return value(n.a, bits);
  Lanes const& a = value(n.a, w);
  if (!a.split() || a.pure()) return a;
  if (in_.sums.bound(a, w)) return a;
  if (a.uniform()) return in_.atoms.of_operation(id, {&a}, bits);
  return in_.atoms.missing_value(a, "a sum of 32 bits may wrap before it is widened");
}

Lanes Words::chosen(Id id, unsigned bits) {
  Node const n = in_.execution.node(id);
  LaneTruths const t = in_.truths.value(n.a);
  if (t.rest() == 0 && t.no == 0) return value(n.b, bits);
  if (t.rest() == 0 && t.yes == 0) return value(n.c, bits);
  Lanes const &a = value(n.b, bits), &b = value(n.c, bits);
  bool const same = a.split() && b.split() && a.terms == b.terms;
  if (same && a.lane == b.lane) return a;
  // A division by 0 varies, and no other one of its lanes.
  if (t.rest() == ~0U && t.atom != 0 && ((!a.split() && is_by_zero(n.b)) || (!b.split() && is_by_zero(n.c))))
    return in_.atoms.stuck({Request::Kind::truth, t.atom, 0, "a divisor may be 0"});
  if (t.stuck) return {Lanes::State::stuck, t.why};
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (t.rest() == 0) return chosen_by_lanes(t, a, b, bits);
  if (t.atom == 0) return varying(t.why);
  if (!a.split()) return a;
  if (!b.split()) return b;
  // A number of few bits that all lanes share, like that of a stage, is one of its own.
  if (t.rest() == ~0U && a.uniform() && b.uniform() && !(a.pure() && b.pure()) && in_.facts.has_few_bits(id))
    return in_.atoms.of(id, bits);
  if (Lanes const apart = in_.sums.sum(a, b, ~std::uint64_t{0}, bits); t.rest() == ~0U && apart.uniform())
    return chosen_by_all(n, t.atom, a, b, apart, bits);
  return in_.atoms.stuck({Request::Kind::truth, t.atom, 0, "a condition chooses between two values"});
}

/// True for the result of a division by 0, which PTX leaves open.
bool Words::is_by_zero(Id id) const {
  Leaf const* const l = in_.execution.leaf_at(id);
  return l != nullptr && l->kind == Leaf::Kind::opaque && in_.program.names[l->extra].ends_with(" by 0");
}

/// A choice between two values that is known in each lane.
Lanes Words::chosen_by_lanes(LaneTruths const& t, Lanes const& a, Lanes const& b, unsigned bits) {
  // A lane that takes the side that varies does; the others' side is lost with it.
  if (!a.split()) return a;
  if (!b.split()) return b;
  if (a.terms == b.terms) {
    Lanes out = a;
    for (unsigned l = 0; l < 32; ++l)
      if ((t.no >> l & 1) != 0) out.lane[l] = b.lane[l];
    return out;
  }
  // Atoms that only some lanes have.
  Lanes const apart = in_.sums.sum(a, b, ~std::uint64_t{0}, bits);
  return in_.atoms.missing_value(apart, "lanes choose between two values that are not known");
}

/// Two values that differ by one number in all lanes, `apart`, and a condition that all lanes share: the smaller one, and that number where the
/// condition chooses the other.
Lanes Words::chosen_by_all(Node m, Id condition, Lanes const& a, Lanes const& b, Lanes const& apart,
                           unsigned bits) {
  m.width = static_cast<std::uint8_t>(bits), m.a = condition;
  bool const negative = apart.terms.empty() && apart.lane[0] >> (bits - 1) != 0;
  Id const zero = in_.execution.terms.constant(bits, 0).id,
           more = in_.atoms.node_of(negative ? in_.sums.scaled(apart, ~std::uint64_t{0}, bits) : apart, bits);
  m.b = negative ? zero : more, m.c = negative ? more : zero;
  return in_.sums.sum(negative ? a : b, in_.atoms.of(in_.execution.terms.add(m), bits), 1, bits);
}

namespace {

unsigned bit_length(std::uint64_t x) { return static_cast<unsigned>(std::bit_width(x)); }

/// True if the bits of a mask are the same in all lanes.
bool agree(Lanes const& v, std::uint64_t mask) {
  return std::all_of(v.lane.begin(), v.lane.end(),
                     [&](std::uint64_t x) { return (x & mask) == (v.lane[0] & mask); });
}

/// A sum with the terms of another one, and one number in all lanes.
Lanes with_number(Lanes const& v, std::uint64_t number) {
  Lanes out;
  out.terms = v.terms;
  out.lane.fill(number);
  return out;
}

}  // namespace

Node const& Bitwise::node(Id id) const { return in_.execution.node(id); }

Lanes Bitwise::shifted_left(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes const& by = in_.words.value(n.b, node(n.b).width);
  if (by.state != Lanes::State::split) return by;
  if (by.pure() && by.uniform()) {
    std::uint64_t const k = by.lane[0];
    if (k >= bits) return {};
    return in_.sums.scaled(in_.words.value(n.a, bits - static_cast<unsigned>(k)), std::uint64_t{1} << k,
                           bits);
  }
  Lanes const& a = in_.words.value(n.a, bits);
  if (!a.split()) return a;
  if (a.uniform() && by.uniform()) return in_.atoms.of_operation(id, {&a, &by}, bits);
  if (by.pure()) {  // another shift in each lane
    if (!a.pure())
      return in_.atoms.missing_value(a,
                                     "a value that is not known is shifted by another number in each lane");
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = by.lane[l] < bits ? a.lane[l] << by.lane[l] : 0;
    in_.sums.reduce(out, bits);
    return out;
  }
  return shifted_by_shared(id, a, by, bits);
}

/// Lanes shifted by a value that they share: by that of all bits, or by more, gives 0.
Lanes Bitwise::shifted_by_shared(Id id, Lanes const& a, Lanes const& by, unsigned bits) {
  Node const n = node(id);
  std::string const reason = "the lanes' numbers are shifted by a value that is not known";
  if (!a.pure() || !by.uniform()) return in_.atoms.missing_value(by, reason);
  Lanes const k = in_.atoms.at_most(by, n.width, node(n.b).width);
  if (!k.pure()) return in_.atoms.missing_value(k, reason);
  Lanes out;
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = value_of(n, a.lane[l], k.lane[0]);
  in_.sums.reduce(out, bits);
  return out;
}

Lanes Bitwise::shifted_right(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes const& by = in_.words.value(n.b, node(n.b).width);
  if (by.state != Lanes::State::split) return by;
  if (!(by.pure() && by.uniform())) return shifted_by_lanes(id, bits);
  if (by.lane[0] >= n.width) return {};
  return shifted_by(id, static_cast<unsigned>(by.lane[0]), bits);
}

/// A word shifted right by a number that is not known, or not the same in all lanes.
Lanes Bitwise::shifted_by_lanes(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes const &by = in_.words.value(n.b, node(n.b).width), &a = in_.words.value(n.a, n.width);
  if (!a.split()) return a;
  if (a.uniform() && by.uniform()) return in_.atoms.of_operation(id, {&a, &by}, bits);
  if (!by.pure()) return shifted_by_shared(id, a, by, bits);
  if (!a.pure())
    return in_.atoms.missing_value(a, "a value that is not known is shifted by another number in each lane");
  Lanes out;
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = by.lane[l] < n.width ? a.lane[l] >> by.lane[l] : 0;
  in_.sums.reduce(out, bits);
  return out;
}

/// A word shifted right by k bits, in all lanes.
Lanes Bitwise::shifted_by(Id id, unsigned k, unsigned bits) {
  Node const n = node(id);
  unsigned const w = n.width;
  bool const exact = bits + k <= w;  // what lies above does not matter: sums may wrap
  unsigned const from = exact ? bits + k : w;
  Lanes const& a = in_.words.value(n.a, from);
  if (!a.split()) return a;
  Lanes out;
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] >> k;
  if (a.terms.empty()) return in_.sums.reduce(out, bits), out;
  if (from == w &&
      in_.sums.bound(a, w)) {  // what is not known does not carry beyond the bits that are dropped
    Sums::Range const r = in_.sums.range(a, w);
    Lanes whole;
    for (unsigned l = 0; l < 32; ++l) whole.lane[l] = r.least[l] >> k;
    bool known = true;
    for (unsigned l = 0; l < 32; ++l) known = known && whole.lane[l] == r.most[l] >> k;
    if (known) return in_.sums.reduce(whole, bits), whole;
  }
  unsigned const zeros = in_.sums.zeros_of(a, from);
  if (zeros >= k && (exact || in_.sums.bound(a, w))) {
    // (lane + 2^k m) >> k = (lane >> k) + m
    for (auto const& [atom, factor] : a.terms) {
      auto const scale = static_cast<unsigned>(std::countr_zero(factor));
      if (scale >= k) {
        out = in_.sums.sum(out, in_.atoms.of(atom, bits), factor >> k, bits);
      } else {
        Term const x{&in_.execution.terms, atom};
        Id const shifted = shr(x, std::uint64_t{k - scale}).id;
        out = in_.sums.sum(out, in_.atoms.of(shifted, bits), factor >> scale, bits);
      }
    }
    in_.sums.reduce(out, bits);
    return out;
  }
  Lanes const& whole = in_.words.value(n.a, w);
  if (whole.uniform()) {
    Lanes const& by = in_.words.value(n.b, node(n.b).width);
    return in_.atoms.of_operation(id, {&whole, &by}, bits);
  }
  // Or the lanes agree above the zeros of the unknown part, and carry nothing there: the sign of 128 m + lane is that of m.
  std::uint64_t const low = whole.split() ? low_bits(in_.sums.zeros_of(whole, w)) : 0;
  if (whole.split() && agree(whole, ~low)) {
    Term const high{&in_.execution.terms, in_.atoms.node_of(with_number(whole, whole.lane[0] & ~low), w)};
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = (whole.lane[l] & low) >> k;
    return in_.sums.sum(out, in_.atoms.of(shr(high, std::uint64_t{k}).id, bits), 1, bits);
  }
  if (zeros < k)
    return in_.atoms.missing_bits(
        a, k, "a sum is shifted right, and a part of it is not known to be a multiple of the power of two");
  return in_.atoms.missing_value(a, "a sum may wrap before it is shifted right");
}

Lanes Bitwise::masked(Id id, Lanes const& a, std::uint64_t mask, unsigned bits, unsigned exact) {
  Lanes out;
  if (a.terms.empty()) {
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] & mask;
    return out;
  }
  unsigned const zeros = in_.sums.zeros_of(a, exact);
  std::uint64_t const low = low_bits(zeros);
  // Above the zeros the mask keeps everything that is wanted.
  if (exact >= bits && ((mask | low) & low_bits(bits)) == low_bits(bits)) {
    out.terms = a.terms;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = (a.lane[l] & ~low) + (a.lane[l] & low & mask);
    in_.sums.reduce(out, bits);
    return out;
  }
  // Or the lanes agree there.
  if (agree(a, ~low)) {
    Lanes const high = with_number(a, a.lane[0] & ~low);
    Term const x{&in_.execution.terms, in_.atoms.node_of(high, node(id).width)};
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] & low & mask;
    return in_.sums.sum(out, in_.atoms.of((x & like(x, mask & ~low)).id, bits), 1, bits);
  }
  // How far up the mask has a bit that is 0, or ends.
  std::uint64_t const dropped = ~mask & low_bits(bits);
  return in_.atoms.missing_bits(
      a, std::min(bit_length(dropped), bit_length(mask & low_bits(bits))),
      "a sum is masked, and a part of it is not known to be a multiple of the power of two");
}

Lanes Bitwise::joined(Id id, unsigned bits) {
  Node const n = node(id);
  Id x = n.a, y = n.b;
  if (node(x).op == Op::constant) std::swap(x, y);
  if (n.op == Op::bv_and && node(y).op == Op::constant) {
    std::uint64_t const mask = node(y).value;
    unsigned const from = std::min(bits, bit_length(mask));
    if ((mask & ~in_.facts.of(x).zeros & low_bits(bits)) == 0) return {};  // x & 3 of a multiple of 4
    Lanes const& a = in_.words.value(x, from);
    if (!a.split()) return a;
    return masked(id, a, mask, bits, from);
  }
  // Bits that no two operands share: a sum.
  Facts const p = in_.facts.of(x), q = in_.facts.of(y);
  if (n.op != Op::bv_and && ((p.zeros | q.zeros) & low_bits(bits)) == low_bits(bits)) {
    Lanes const& a = in_.words.value(x, bits);
    return in_.sums.sum(a, in_.words.value(y, bits), 1, bits);
  }
  if (n.op == Op::bv_xor && node(y).op == Op::constant &&
      (node(y).value & low_bits(bits)) == low_bits(bits)) {
    Lanes ones;
    ones.lane.fill(low_bits(bits));
    return in_.sums.sum(ones, in_.words.value(x, bits), ~std::uint64_t{0}, bits);  // ~x = -1 - x
  }
  Lanes const &first = in_.words.value(x, bits), &second = in_.words.value(y, bits);
  if (first.state == Lanes::State::stuck) return first;
  if (second.state == Lanes::State::stuck) return second;
  if (!first.split()) return first;
  if (!second.split()) return second;
  bool const swapped = second.terms.size() > first.terms.size();
  Lanes const &a = swapped ? second : first, &b = swapped ? first : second;
  if (a.uniform() && b.uniform() && !(a.pure() && b.pure())) {
    Lanes const &whole_a = in_.words.value(n.a, n.width), &whole_b = in_.words.value(n.b, n.width);
    if (whole_a.uniform() && whole_b.uniform()) return in_.atoms.of_operation(id, {&whole_a, &whole_b}, bits);
  }
  if (a.pure()) {
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = value_of(n, a.lane[l], b.lane[l]);
    return out;
  }
  return joined_sums(n, a, b, bits);
}

Lanes Bitwise::joined_sums(Node const& n, Lanes const& a, Lanes const& b, unsigned bits) {
  auto const apply = [&](std::uint64_t s, std::uint64_t t) { return value_of(n, s, t); };
  Lanes out;
  unsigned const zeros = std::min(in_.sums.zeros_of(a, bits), in_.sums.zeros_of(b, bits));
  std::uint64_t const low = low_bits(zeros);
  std::uint64_t most = 0;
  for (std::uint64_t const s : b.lane) most |= s;
  if (b.pure() && (most & ~low) == 0) {  // the second operand lies below what is not known of the first
    for (unsigned l = 0; l < 32; ++l)
      out.lane[l] = apply(a.lane[l] & low, b.lane[l]) + (n.op == Op::bv_and ? 0 : a.lane[l] & ~low);
    if (n.op != Op::bv_and) out.terms = a.terms;
    in_.sums.reduce(out, bits);
    return out;
  }
  if (agree(a, ~low) && agree(b, ~low)) {  // the high parts are the same in all lanes
    Node m = n;
    m.a = in_.atoms.node_of(with_number(a, a.lane[0] & ~low), n.width);
    m.b = in_.atoms.node_of(with_number(b, b.lane[0] & ~low), n.width);
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = apply(a.lane[l] & low, b.lane[l] & low);
    return in_.sums.sum(out, in_.atoms.of(in_.execution.terms.add(m), bits), 1, bits);
  }
  unsigned const wanted = b.pure() ? bit_length(most) : bits;
  if (!b.pure() && in_.sums.zeros_of(b, bits) < wanted && in_.sums.zeros_of(a, bits) >= wanted)
    return in_.atoms.missing_bits(b, wanted, "two sums are combined bit by bit");
  return in_.atoms.missing_bits(a, wanted, "a sum is combined bit by bit with another value");
}

}  // namespace swizproof::execution
