#include "arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::execution {

std::uint64_t divisor_of(std::uint64_t factor, std::uint64_t shift) {
  if (shift < 32 || shift > 62 || factor < 3 || factor >> 33 != 0 || std::has_single_bit(factor)) return 0;
  std::uint64_t const power = std::uint64_t{1} << shift, d = (power + factor - 1) / factor;
  return d >= 2 && d >> 32 == 0 && factor * d - power <= power >> 32 ? d : 0;
}

Id Arithmetic::sum(unsigned w, Id a, Id b) {
  if (is_constant(a)) std::swap(a, b);
  if (std::optional<Id> const r = remainder(w, a, b, true)) return *r;
  if (std::optional<Id> const r = remainder(w, b, a, true)) return *r;
  if (is_constant(b) && node(a).op == Op::bv_add) {
    Node const n = node(a);
    if (is_constant(n.a)) return sum(w, n.b, graph_.add(Op::bv_add, w, n.a, b));
    if (is_constant(n.b)) return sum(w, n.a, graph_.add(Op::bv_add, w, n.b, b));
  }
  return graph_.add(Op::bv_add, w, a, b);
}

Id Arithmetic::difference(unsigned w, Id x, Id y) {
  if (is_constant(y)) return sum(w, x, graph_.constant(w, 0 - node(y).value));
  if (std::optional<Id> const r = remainder(w, x, y, false)) return *r;
  return x == y ? graph_.constant(w, 0) : graph_.add(Op::bv_sub, w, x, y);
}

Id Arithmetic::product(unsigned w, Id x, Id y) {
  if (is_constant(x) && node(x).value == 1) return y;
  if (is_constant(y) && node(y).value == 1) return x;
  return graph_.add(Op::bv_mul, w, x, y);
}

Id Arithmetic::shifted_left(unsigned w, Id x, Id by) {
  if (std::optional<Id> const whole = cleared_address(x, by)) return *whole;
  return graph_.add(Op::bv_shl, w, x, by);
}

Id Arithmetic::shifted_right(unsigned w, Id x, Id by) {
  return quotient(w, x, by).value_or(graph_.add(Op::bv_lshr, w, x, by));
}

/// (s >> n) << n of the address of a variable, which is a multiple of 2^n: s.
std::optional<Id> Arithmetic::cleared_address(Id x, Id by) const {
  Node const& n = node(x);
  if (n.op != Op::bv_lshr || n.b != by || !is_constant(by) || node(by).value > 31) return std::nullopt;
  if (!graph_.is(n.a, Leaf::Kind::symbol)) return std::nullopt;
  std::uint32_t const align = program_.symbols[graph_.leaf_at(n.a)->extra].align;
  return align >> node(by).value << node(by).value == align && align != 0 ? std::optional(n.a) : std::nullopt;
}

std::optional<Arithmetic::ShiftedProduct> Arithmetic::shifted_product(Id at, std::uint64_t shift) {
  for (;; at = node(at).a) {
    Node const& n = node(at);
    if (n.op == Op::bv_lshr && is_constant(n.b)) {
      shift += std::min<std::uint64_t>(node(n.b).value, 64);
      continue;
    }
    Node const& of = node(n.op == Op::truncate ? n.a : at);
    bool const whole = n.op == Op::truncate && of.op == Op::bv_lshr && is_constant(of.b) &&
                       of.width <= n.width + node(of.b).value;
    if (!whole) break;
  }
  Node const n = node(at);
  if (n.op != Op::bv_mul || n.width != 64) return std::nullopt;
  auto const& [number, factor] = is_constant(n.a) ? std::pair{n.b, n.a} : std::pair{n.a, n.b};
  Node const x = node(number);
  bool const fits = is_constant(factor) && node(factor).value >> 32 == 0;  // the product in 64 bits
  if (!fits || x.op != Op::zero_extend || node(x.a).width > 32) return std::nullopt;
  return ShiftedProduct{graph_.resized(x.a, 32), node(factor).value, shift};
}

/// x / d, for (x * m) >> k and ((x - t) / 2 + t) >> k with t = (x * m) >> 32, by which compilers divide words of 32 bits by a constant.
std::optional<Id> Arithmetic::quotient(unsigned w, Id a, Id by) {
  if (!is_constant(by)) return std::nullopt;
  std::uint64_t const shift = node(by).value;
  Node const n = node(a);
  std::optional<ShiftedProduct> p = shifted_product(a, shift);
  std::uint64_t divisor = p ? divisor_of(p->factor, p->shift) : 0;
  if (n.op == Op::bv_add && n.width == 32)
    for (auto const& [half, t] : {std::pair{n.a, n.b}, std::pair{n.b, n.a}}) {
      Node const h = node(half), apart = node(h.a);
      bool const halved = h.op == Op::bv_lshr && is_constant(h.b) && node(h.b).value == 1;
      if (!halved || apart.op != Op::bv_sub || apart.b != t) continue;
      if (p = shifted_product(t, 0); p && p->shift == 32 && p->x == apart.a)
        divisor = divisor_of(p->factor + (std::uint64_t{1} << 32), 33 + shift);
    }
  if (divisor == 0) return std::nullopt;
  return graph_.resized(graph_.add(Op::bv_udiv, 32, p->x, graph_.constant(32, divisor)), w);
}

/// x % d, for x - d * (x / d), or x + (x / d) * -d if `added`.
std::optional<Id> Arithmetic::remainder(unsigned w, Id x, Id product, bool added) {
  Node const p = node(product);
  if (p.op != Op::bv_mul || w != 32) return std::nullopt;
  auto const& [q, factor] = is_constant(p.a) ? std::pair{p.b, p.a} : std::pair{p.a, p.b};
  Node const n = node(q);
  if (!is_constant(factor) || n.op != Op::bv_udiv || n.a != x || !is_constant(n.b)) return std::nullopt;
  std::uint64_t const d = added ? -node(factor).value & 0xffffffff : node(factor).value;
  return d == node(n.b).value ? std::optional(graph_.add(Op::bv_urem, w, x, n.b)) : std::nullopt;
}

}  // namespace swizproof::execution
