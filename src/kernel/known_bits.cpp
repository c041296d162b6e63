#include "known_bits.hpp"

#include "launch.hpp"
#include "shuffle_source.hpp"

#include <algorithm>
#include <bit>

namespace swizproof::kernel_detail {

using execution::Leaf;
using execution::Phi;

namespace {

constexpr unsigned deepest = 800;  ///< nested terms

std::uint64_t ones_below(std::uint64_t most) {
  return most == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(most);
}

Bits joined(Op op, Bits const& a, Bits const& b) {
  std::uint64_t const known = (a.zeros | a.ones) & (b.zeros | b.ones);
  bool const start = a.start || b.start;
  if (op == Op::bv_and) return {a.zeros | b.zeros, a.ones & b.ones, std::min(a.most, b.most), start};
  if (op == Op::bv_or) return {a.zeros & b.zeros, a.ones | b.ones, ones_below(a.most | b.most), start};
  std::uint64_t const ones = (a.ones ^ b.ones) & known;
  return {known & ~ones, ones, ones_below(a.most | b.most), start};
}

/// A start to which something is added is a start again, below 2^18 bytes: nothing is carried out of its 14 bits.
Bits sum(Bits a, Bits b) {
  bool const start = a.start || b.start;
  // Bit 14 belongs to no field: what has a 0 there adds to the start alone.
  bool const within = start && ((a.start ? b : a).zeros >> start_bits & 1) != 0;
  Bits out;
  out.start = start;
  if (a.most <= ~b.most) out.most = a.most + b.most;
  if (within)
    for (Bits* const x : {&a, &b}) x->zeros |= start_mask, x->ones &= ~start_mask;
  // The carries that all values of the unknown bits have in common.
  std::uint64_t const greatest = ~a.zeros + ~b.zeros, least = a.ones + b.ones;
  std::uint64_t const no_carry = ~(greatest ^ a.zeros ^ b.zeros), carry = least ^ a.ones ^ b.ones;
  std::uint64_t known = (a.zeros | a.ones) & (b.zeros | b.ones) & (no_carry | carry);
  if (within) known &= ~start_mask;
  out.zeros = ~greatest & known, out.ones = least & known;
  return out;
}

/// A word of these bits times a constant.
Bits multiplied(Bits const& a, std::uint64_t factor, unsigned width) {
  std::uint64_t const all = low_bits(width);
  if (factor == 0) return {~std::uint64_t{0}, 0, 0};
  auto const zeros = static_cast<unsigned>(std::countr_one(a.zeros) + std::countr_zero(factor));
  return {low_bits(std::min(zeros, 64U)), 0, a.most <= all / factor ? a.most * factor : all};
}

}  // namespace

Bits const& KnownBits::of(Id id) {
  if (auto const found = memo_.find(id); found != memo_.end()) return found->second;
  memo_[id] = plain(id);  // what a cycle of phis finds
  if (depth_ > deepest) return memo_[id];
  ++depth_;
  Bits b = compute(id);
  Bits const every = plain(id);
  b.zeros |= every.zeros, b.most = std::min(b.most, every.most);
  --depth_;
  Node const& n = node(id);
  std::uint64_t const all = low_bits(n.width);
  b.most = std::min(b.most, all & ~b.zeros);
  b.zeros |= ~ones_below(b.most);
  b.ones &= all;
  return memo_[id] = b;
}

Id KnownBits::source_of(Id id, unsigned bit) {
  for (Id next = id; next != 0;) {
    id = std::exchange(next, 0);
    Node const n = node(id);
    std::vector<Id> parts{n.a, n.b, n.c};
    if (n.op == Op::variable) {
      Leaf const& l = *execution_.leaf_at(id);
      Phi const* const phi = execution_.phi_at(id);
      bool const passed = l.kind == Leaf::Kind::exit || l.kind == Leaf::Kind::shuffle;
      parts = {phi != nullptr ? phi->init : passed ? l.args[0] : 0};
    } else if ((n.op == Op::bv_shl || n.op == Op::bv_lshr) && node(n.b).op == Op::constant) {
      auto const k = static_cast<unsigned>(node(n.b).value);
      parts = {n.a}, bit = n.op == Op::bv_shl ? bit - k : bit + k;
    }
    for (Id const part : parts)
      if (part < id && node(part).width > bit && ((of(part).zeros | of(part).ones) >> bit & 1) == 0)
        next = part;
  }
  return id;
}

Bits KnownBits::plain(Id id) {
  if (node(id).width == 0 || kernel_ == nullptr) return {};
  execution::Facts const f = kernel_->warps.plain(0).facts(id);
  return {f.zeros, 0, f.most};
}

Bits KnownBits::compute(Id id) {
  Node const n = node(id);
  switch (n.op) {
    case Op::constant:
      return {~n.value, n.value, n.value};
    case Op::variable:
      return variable(id, n);
    case Op::bv_or:
    case Op::bv_and:
    case Op::bv_xor:
      return joined(n.op, of(n.a), of(n.b));
    case Op::bv_add:
      return sum(of(n.a), of(n.b));
    case Op::bv_shl:
    case Op::bv_lshr:
      return node(n.b).op == Op::constant ? shifted(n) : plain(id);
    case Op::bv_mul:
      return node(n.b).op == Op::constant   ? multiplied(of(n.a), node(n.b).value, n.width)
             : node(n.a).op == Op::constant ? multiplied(of(n.b), node(n.a).value, n.width)
                                            : plain(id);
    case Op::zero_extend:
    case Op::truncate: {
      Bits b = of(n.a);
      std::uint64_t const all = low_bits(n.width);
      b.zeros |= ~all;
      b.most = b.most <= all ? b.most : all;
      return b;
    }
    case Op::ite: {
      if (std::optional<bool> const condition = truth(n.a)) return of(*condition ? n.b : n.c);
      Bits const a = of(n.b), b = of(n.c);
      return {a.zeros & b.zeros, a.ones & b.ones, std::max(a.most, b.most), a.start && b.start};
    }
    default:
      return plain(id);
  }
}

/// A comparison with a constant, if the known bits decide it: of the carry out of a word.
std::optional<bool> KnownBits::truth(Id id) {
  Node const n = node(id);
  if (n.op == Op::negation) {
    std::optional<bool> const plain = truth(n.a);
    return plain ? std::optional(!*plain) : std::nullopt;
  }
  if (n.op != Op::eq) return std::nullopt;
  bool const first = node(n.a).op == Op::constant;
  Node const number = node(first ? n.a : n.b);
  if (number.op != Op::constant) return std::nullopt;
  Bits const b = of(first ? n.b : n.a);
  if ((b.zeros & number.value) != 0 || (b.ones & ~number.value) != 0) return false;
  return (~(b.zeros | b.ones) & low_bits(number.width)) == 0 ? std::optional(true) : std::nullopt;
}

Bits KnownBits::variable(Id id, Node const& n) {
  Leaf const l = execution_.leaves[n.value];  // there are more of them behind a value
  if (l.kind == Leaf::Kind::exit) return of(l.args[0]);
  if (l.kind == Leaf::Kind::shuffle) return is_followed(id) ? shuffled(l, n.width) : plain(id);
  if (l.kind != Leaf::Kind::phi) return plain(id);
  Phi const& p = *execution_.phi_at(id);
  if (p.kind == Phi::Kind::same) return of(p.init);
  if (p.kind == Phi::Kind::orbit && !p.values.empty()) {
    Bits all{~std::uint64_t{0}, ~std::uint64_t{0}, 0};
    for (std::uint64_t const v : p.values) all.zeros &= ~v, all.ones &= v, all.most = std::max(all.most, v);
    return all;
  }
  return p.kind == Phi::Kind::affine ? counted(p) : plain(id);
}

/// init + k * step, in all iterations k of a loop. Of a start to which less than 2^14 is added, the bits above do not change.
Bits KnownBits::counted(Phi const& p) {
  Node const step = node(p.step);
  if (step.op != Op::constant) return plain(p.node);
  Bits const init = of(p.init);
  std::uint64_t most = 0;
  Id const counter = execution_.counters[static_cast<std::size_t>(p.loop)];
  if (kernel_ == nullptr) most = ~0U;
  for (unsigned w = 0; kernel_ != nullptr && w < kernel_->warps.count(); ++w) {
    std::uint64_t const n = kernel_->iterations.count(w, counter);
    most = n == 0 || most == ~0U ? ~0U : std::max(most, n);
  }
  if (most == ~0U && init.start && step.value <= start_mask)
    return {init.zeros & ~start_mask, init.ones & ~start_mask, ~std::uint64_t{0}, true};
  if (most == ~0U) return plain(p.node);
  Bits all = init;
  for (std::uint64_t k = 1, x = step.value; k < most; ++k, x += step.value) {
    std::uint64_t const now = x & low_bits(step.width);
    Bits const b = sum(init, {~now, now, now});
    all = {all.zeros & b.zeros, all.ones & b.ones, std::max(all.most, b.most), all.start};
  }
  return all;
}

/// The bits that all values of lanes that may be read have in common.
Bits KnownBits::shuffled(Leaf const& l, unsigned width) {
  Bits const every = of(l.args[0]);
  Bits all{~std::uint64_t{0}, ~std::uint64_t{0}, 0, true};
  bool executed = false;
  for (auto const& warp : kernel_->warps.all()) {
    if (!executes(*warp, l)) continue;
    executed = true;
    auto const source = read_by(*kernel_, *warp, l);
    if (!source || (source->lanes & ~warp->present()) != 0) return every;
    execution::Lanes const v = warp->value(source->value, width);
    if (!v.split()) return every;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((source->lanes >> lane & 1) == 0) continue;
      Bits b{~v.lane[lane], v.lane[lane], v.lane[lane]};
      for (auto const& [atom, factor] : v.terms)
        b = sum(b, factor == 1 ? of(atom) : multiplied(of(atom), factor, width));
      all = {all.zeros & b.zeros, all.ones & b.ones, std::max(all.most, b.most), all.start && b.start};
    }
  }
  if (!executed) return every;
  return {all.zeros | every.zeros, all.ones | every.ones, std::min(all.most, every.most),
          all.start || every.start};
}

/// True for a shuffle that gives a value of a lane in every warp that executes it.
bool KnownBits::is_followed(Id shuffle) {
  if (kernel_ == nullptr) return false;
  Leaf const l = *execution_.leaf_at(shuffle);
  unsigned const bits = node(shuffle).width;
  return std::all_of(kernel_->warps.all().begin(), kernel_->warps.all().end(), [&](auto const& warp) {
    return !executes(*warp, l) || warp->value(shuffle, bits).state != execution::Lanes::State::varying;
  });
}

Bits KnownBits::shifted(Node const& n) {
  std::uint64_t const k = node(n.b).value;
  Bits const a = of(n.a);
  if (k >= n.width) return {~std::uint64_t{0}, 0, 0};
  if (n.op == Op::bv_shl)
    return {a.zeros << k | low_bits(static_cast<unsigned>(k)), a.ones << k,
            a.most <= low_bits(n.width) >> k ? a.most << k : low_bits(n.width)};
  Bits out{(a.zeros | ~low_bits(n.width)) >> k | ~(~std::uint64_t{0} >> k), a.ones >> k, a.most >> k};
  std::uint32_t symbol = 0;
  if (k == 4 && origins_.root_of(n.a, symbol) == Origins::Root::shared && a.ones >> window_bits == 0)
    out.most = std::min(out.most, start_mask), out.start = true;
  return out;
}

}  // namespace swizproof::kernel_detail
