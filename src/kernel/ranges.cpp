#include "ranges.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

using execution::Leaf;
using execution::Phi;

namespace {

constexpr std::int64_t widest = std::int64_t{1} << 40;
constexpr unsigned deepest = 200;  ///< nested terms

/// A word of w bits as a number with a sign.
std::int64_t with_sign(std::uint64_t x, unsigned w) {
  std::uint64_t const sign = std::uint64_t{1} << (w - 1);
  return static_cast<std::int64_t>(((x & low_bits(w)) ^ sign) - sign);
}

std::optional<Range> checked(Range r) {
  bool const small = r.least >= -widest && r.most <= widest;
  return small ? std::optional(r) : std::nullopt;
}

std::optional<Range> scaled(std::optional<Range> const& r, std::int64_t factor) {
  if (!r || factor > widest >> 18 || factor < -(widest >> 18)) return std::nullopt;
  if (r->least < -widest >> 18 || r->most > widest >> 18) return std::nullopt;
  std::int64_t const a = r->least * factor, b = r->most * factor;
  return Range{std::min(a, b), std::max(a, b)};
}

std::optional<Range> sum(std::optional<Range> const& a, std::optional<Range> const& b) {
  return a && b ? checked({a->least + b->least, a->most + b->most}) : std::nullopt;
}

std::optional<Range> either(std::optional<Range> const& a, std::optional<Range> const& b) {
  return a && b ? std::optional(Range{std::min(a->least, b->least), std::max(a->most, b->most)})
                : std::nullopt;
}

/// The facts of both about a word of w bits. If a number of each is congruent to it and they lie closer than 2^w, it is one number.
std::optional<Range> both(std::optional<Range> const& a, std::optional<Range> const& b, unsigned w) {
  if (!a || !b) return a ? a : b;
  std::int64_t const all = std::int64_t{1} << std::min(w, 62U);
  if (std::max(a->most, b->most) - std::min(a->least, b->least) < all) {
    Range const r{std::max(a->least, b->least), std::min(a->most, b->most)};
    return r.least <= r.most ? r : *a;  // nothing passes the guard
  }
  return a->most - a->least <= b->most - b->least ? a : b;
}

/// True if a range is that of the word itself, without wrapping.
bool is_exact(std::optional<Range> const& r, unsigned w) {
  return r && r->least >= 0 && (w >= 62 || r->most < std::int64_t{1} << w);
}

}  // namespace

/// The facts that a condition with this truth gives.
void Ranges::assume(Id condition, bool truth, unsigned depth) {
  Node const n = node(condition);
  if (depth > deepest) return;
  if (n.op == Op::negation) return assume(n.a, !truth, depth + 1);
  if ((n.op == Op::conjunction && truth) || (n.op == Op::disjunction && !truth)) {
    assume(n.a, truth, depth + 1);
    return assume(n.b, truth, depth + 1);
  }
  if (n.op != Op::ult && !(n.op == Op::eq && truth)) return;
  unsigned const w = node(n.a).width;
  if (w < 2) return;
  execution::Facts const a = kernel_.warps.plain(0).facts(n.a), b = kernel_.warps.plain(0).facts(n.b);
  std::uint64_t const all = low_bits(w);
  if (n.op == Op::eq) {
    limit(n.a, b.least, b.most - b.least);
    limit(n.b, a.least, a.most - a.least);
  } else if (truth) {  // a < b
    if (b.most != 0) limit(n.a, 0, b.most - 1);
    if (a.least != all) limit(n.b, a.least + 1, all - a.least - 1);
  } else {  // a >= b
    limit(n.a, b.least, all - b.least);
    limit(n.b, 0, a.most);
  }
}

/// A word is one of the `span` + 1 numbers from `first` on, modulo 2^w; then so is what it is a constant behind, or a wider word of.
void Ranges::limit(Id word, std::uint64_t first, std::uint64_t span) {
  Node const n = node(word);
  std::int64_t const from = with_sign(first, n.width);
  if (n.op == Op::constant || span > static_cast<std::uint64_t>(widest)) return;
  if (auto const r = checked({from, from + static_cast<std::int64_t>(span)})) {
    auto const [at, fresh] = limits_.try_emplace(word, *r);
    if (!fresh) at->second = *both(at->second, r, n.width);
  }
  for (auto const& [constant, other] : {std::pair{n.a, n.b}, std::pair{n.b, n.a}})
    if (n.op == Op::bv_add && node(constant).op == Op::constant)
      return limit(other, first - node(constant).value & low_bits(n.width), span);
  if (n.op == Op::zero_extend && first <= low_bits(node(n.a).width) &&
      span <= low_bits(node(n.a).width) - first)
    limit(n.a, first, span);
}

std::optional<Range> Ranges::of(Id term) {
  if (auto const found = memo_.find(term); found != memo_.end()) return found->second;
  if (depth_ > deepest) return plain(term);
  ++depth_;
  unsigned const w = node(term).width;
  std::optional<Range> out = both(compute(term), plain(term), w);
  if (auto const at = limits_.find(term); at != limits_.end()) out = both(at->second, out, w);
  --depth_;
  return memo_[term] = out;
}

/// Facts of all threads, with any guard.
std::optional<Range> Ranges::plain(Id term) {
  execution::Facts const f = kernel_.warps.plain(0).facts(term);
  if (f.most > static_cast<std::uint64_t>(widest)) return std::nullopt;
  return Range{static_cast<std::int64_t>(f.least), static_cast<std::int64_t>(f.most)};
}

std::optional<Range> Ranges::compute(Id term) {
  Node const n = node(term);
  auto const constant = [&](Id id) { return node(id).op == Op::constant; };
  auto const number = [&](Id id) { return with_sign(node(id).value, node(id).width); };
  switch (n.op) {
    case Op::constant:
      return checked({number(term), number(term)});
    case Op::bv_add:
      return sum(of(n.a), of(n.b));
    case Op::bv_sub:
      return sum(of(n.a), scaled(of(n.b), -1));
    case Op::bv_mul:
      if (constant(n.a) || constant(n.b))
        return scaled(of(constant(n.a) ? n.b : n.a), number(constant(n.a) ? n.a : n.b));
      return std::nullopt;
    case Op::bv_shl:
      if (constant(n.b) && node(n.b).value < 22) return scaled(of(n.a), std::int64_t{1} << node(n.b).value);
      return std::nullopt;
    case Op::bv_lshr:
    case Op::bv_udiv: {
      std::uint64_t const by = constant(n.b) ? node(n.b).value : 0;
      auto const a = of(n.a);
      if (!constant(n.b) || !is_exact(a, n.width) || by > 62 || (n.op == Op::bv_udiv && by == 0))
        return std::nullopt;
      std::int64_t const d = n.op == Op::bv_udiv ? static_cast<std::int64_t>(by) : std::int64_t{1} << by;
      return Range{a->least / d, a->most / d};
    }
    case Op::truncate:
      return of(n.a);
    case Op::zero_extend: {
      auto const a = of(n.a);
      return is_exact(a, node(n.a).width) ? a : std::nullopt;
    }
    case Op::ite:
      return of_choice(n);
    case Op::variable:
      if (Leaf const& l = *kernel_.execution.leaf_at(term); l.kind == Leaf::Kind::exit) return of(l.args[0]);
      if (Phi const* const phi = kernel_.execution.phi_at(term)) return counted(*phi);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// One of two values, each where its condition holds.
std::optional<Range> Ranges::of_choice(Node const& n) {
  constexpr unsigned most_choices = 3;
  auto const where = [&](bool truth, Id value) {
    if (choices_ == most_choices) return of(value);
    Ranges within = *this;
    ++within.choices_, within.memo_.clear();
    within.assume(n.a, truth, 0);
    return within.of(value);
  };
  return either(where(true, n.b), where(false, n.c));
}

/// init + k * step, in all iterations k of a loop that are known.
std::optional<Range> Ranges::counted(Phi const& phi) {
  if (phi.kind == Phi::Kind::same) return of(phi.init);
  if (phi.kind != Phi::Kind::affine || node(phi.step).op != Op::constant) return std::nullopt;
  Id const counter = kernel_.execution.counters[static_cast<std::size_t>(phi.loop)];
  std::uint64_t most = 0;
  for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
    std::uint64_t const count = kernel_.iterations.count(w, counter);
    if (count == 0) return std::nullopt;
    most = std::max(most, count);
  }
  Node const step = node(phi.step);
  auto const last = scaled(Range{0, static_cast<std::int64_t>(most) - 1}, with_sign(step.value, step.width));
  return sum(of(phi.init), last);
}

std::optional<Range> Ranges::behind(Id address, std::uint32_t symbol) {
  Node const n = node(address);
  if (depth_ > deepest) return std::nullopt;
  if (Leaf const* const l = kernel_.execution.leaf_at(address)) {
    if (l->kind == Leaf::Kind::symbol && l->extra == symbol) return Range{};
    if (l->kind == Leaf::Kind::exit) return behind(l->args[0], symbol);
    Phi const* const phi = kernel_.execution.phi_at(address);
    if (phi == nullptr || has_array(phi->step)) return std::nullopt;
    auto const init = behind(phi->init, symbol);
    if (!init || phi->kind == Phi::Kind::same) return init;
    Phi moved = *phi;
    moved.init = kernel_.execution.terms.constant(node(address).width, 0).id;
    return sum(init, counted(moved));
  }
  ++depth_;
  std::optional<Range> out;
  if (n.op == Op::truncate || n.op == Op::zero_extend) {
    out = node(n.a).width >= 32 ? behind(n.a, symbol) : std::nullopt;
  } else if (n.op == Op::bv_add || n.op == Op::bv_sub) {
    bool const first = has_array(n.a), second = has_array(n.b);
    if (first && !second) out = sum(behind(n.a, symbol), scaled(of(n.b), n.op == Op::bv_add ? 1 : -1));
    if (second && !first && n.op == Op::bv_add) out = sum(of(n.a), behind(n.b, symbol));
  }
  --depth_;
  return out;
}

bool stays_within(ExecutedKernel& kernel, program::MemoryAccess const& memory,
                  execution::ExecutedAccess const& access, std::uint32_t symbol, Extent const& array) {
  if (array.bytes == 0) return false;
  auto const at = Ranges(kernel, access.guard).behind(access.address, symbol);
  return at && at->least >= static_cast<std::int64_t>(array.first) &&
         at->most + memory.instruction->bytes <= static_cast<std::int64_t>(array.bytes);
}

}  // namespace swizproof::kernel_detail
