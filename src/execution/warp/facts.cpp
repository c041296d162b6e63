#include "facts.hpp"

#include "threads.hpp"

#include <swizproof/hardware/shared_arrays.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::execution {

namespace {

/// Bits that are 0 in every number up to the most.
std::uint64_t zeros_above(std::uint64_t most) {
  return ~low_bits(static_cast<unsigned>(std::bit_width(most)));
}

/// Facts about two words joined bit by bit; `f` holds for any word of the width.
Facts facts_of_bits(Op op, Facts const& x, Facts const& y, Facts f) {
  if (op == Op::bv_and) return {x.zeros | y.zeros, std::min(x.most, y.most)};
  f.zeros |= x.zeros & y.zeros;
  return f;
}

/// Facts about a sum, difference or product of words with the bits `all`; `f` holds for any.
Facts facts_of_ring(Op op, Facts const& x, Facts const& y, std::uint64_t all, Facts f) {
  int const zeros_x = std::countr_one(x.zeros), zeros_y = std::countr_one(y.zeros);
  int const zeros = op == Op::bv_mul ? std::min(zeros_x + zeros_y, 64) : std::min(zeros_x, zeros_y);
  f.zeros |= low_bits(static_cast<unsigned>(zeros));
  if (op == Op::bv_add && x.most <= all - y.most) f.most = x.most + y.most, f.least = x.least + y.least;
  if (op == Op::bv_mul && (x.most == 0 || y.most <= all / x.most))
    f.most = x.most * y.most, f.least = x.least * y.least;
  return f;
}

/// Facts about x shifted or divided by a constant, a word with the bits `all`; `f` holds for any.
Facts facts_by_constant(Op op, Facts const& x, std::uint64_t c, std::uint64_t all, Facts f) {
  if (op == Op::bv_udiv && c != 0) f.most = x.most / c;
  if (op == Op::bv_urem && c != 0) f.most = std::min(x.most, c - 1);
  if (op == Op::bv_lshr) f.most = c < 64 ? x.most >> c : 0;
  if (op == Op::bv_lshr && c < 64) f.zeros |= (x.zeros | ~all) >> c | ~(~std::uint64_t{0} >> c);
  if (op == Op::bv_shl && c < 64) {
    f.zeros |= x.zeros << c | low_bits(static_cast<unsigned>(c));
    if (x.most <= all >> c) f.most = x.most << c;
  }
  return f;
}

constexpr unsigned deepest = 800;  ///< nested terms

}  // namespace

unsigned TermFacts::trailing_zeros(Id id) { return static_cast<unsigned>(std::countr_one(of(id).zeros)); }

void TermFacts::keep(Id id, Facts const& facts) {
  if (id >= facts_.size())
    facts_.resize(std::max<std::size_t>(id + 1, execution_.terms.nodes().size()), none);
  facts_[id] = facts;
}

Facts TermFacts::of(Id id) {
  if (Facts const* const found = kept(id)) return *found;
  if (Phi const* const phi = execution_.phi_at(id); phi != nullptr && depth_ <= deepest) {
    ++depth_;
    of(phi->init);  // the register of a loop around this one, whose next value depends on this one
    --depth_;
    if (Facts const* const found = kept(id)) return *found;
  }
  Node const n = node(id);
  std::uint64_t const all = low_bits(n.width);
  Facts f{~all, all};
  if (n.op == Op::variable) keep(id, f);  // what a cycle of phis finds
  if (depth_ > deepest) return f;
  ++depth_;
  f = n.op == Op::variable ? of_leaf(id, f) : compute(n);
  --depth_;
  f.zeros |= ~all | zeros_above(f.most);
  f.most = std::min(f.most, ~f.zeros);
  if (hypotheses_ != 0) found_.push_back(id), ++tried_;
  keep(id, f);
  return f;
}

Facts TermFacts::compute(Node const& n) {
  std::uint64_t const all = low_bits(n.width);
  Facts f{~all, all};
  switch (n.op) {
    case Op::constant:
      return {~n.value, n.value, n.value};
    case Op::bv_and:
    case Op::bv_or:
    case Op::bv_xor: {
      Facts const x = of(n.a);
      return facts_of_bits(n.op, x, of(n.b), f);
    }
    case Op::bv_add:
    case Op::bv_sub:
    case Op::bv_mul: {
      Facts const x = of(n.a);
      return facts_of_ring(n.op, x, of(n.b), all, f);
    }
    case Op::bv_shl:
    case Op::bv_lshr:
    case Op::bv_udiv:
    case Op::bv_urem:
      if (node(n.b).op == Op::constant) return facts_by_constant(n.op, of(n.a), node(n.b).value, all, f);
      if (n.op == Op::bv_lshr) f.most = of(n.a).most;
      return f;
    case Op::ite: {
      Facts const x = chosen(n.a, true, n.b), y = chosen(n.a, false, n.c);
      return {x.zeros & y.zeros, std::max(x.most, y.most), std::min(x.least, y.least)};
    }
    case Op::zero_extend:
    case Op::truncate: {
      Facts const x = of(n.a);
      f.zeros |= x.zeros;
      if (x.most <= all) f.most = x.most, f.least = x.least;
      return f;
    }
    default:
      return f;
  }
}

Facts TermFacts::of_special(Special s, Facts f) {
  if (s <= Special::tid_z)
    f.most = launch_.block[static_cast<unsigned>(s)] - 1;
  else if (s <= Special::ntid_z)
    f.most = launch_.block[static_cast<unsigned>(s) - static_cast<unsigned>(Special::ntid_x)];
  else if (s <= Special::nctaid_z)
    f.most =
        launch_.blocks(s).value_or(s == Special::ctaid_x || s == Special::nctaid_x ? 0x7fffffffU : 0xffffU) -
        (s < Special::nctaid_x ? 1U : 0U);
  else if (s == Special::laneid)
    f.most = 31;
  else if (s >= Special::warp_x && s <= Special::warp_z) {
    unsigned const d = static_cast<unsigned>(s) - static_cast<unsigned>(Special::warp_x);
    f.most = launch_.block[d] / Threads::lanes_of(launch_).value()[d] - 1;
  }
  if ((s >= Special::ntid_x && s <= Special::ntid_z) || (s >= Special::nctaid_x && s <= Special::nctaid_z))
    f.least = 1;
  if (s >= Special::nctaid_x && s <= Special::nctaid_z) {
    f.least = launch_.whole_clusters(s, 1);
    f.zeros |= low_bits(static_cast<unsigned>(std::countr_zero(f.least)));
  }
  if (s == Special::ntid_x && launch_.any_multiple) f.zeros |= 31;
  return f;
}

Facts TermFacts::of_leaf(Id id, Facts f) {
  Leaf const& l = *execution_.leaf_at(id);
  switch (l.kind) {
    case Leaf::Kind::special:
      return is_uniform(l) ? f : of_special(static_cast<Special>(l.extra), f);
    case Leaf::Kind::symbol:
      f.zeros |=
          (program_.language == "SASS" ? program_.symbols[l.extra].align
                                       : std::min(program_.symbols[l.extra].align, most_shared_alignment)) -
          1;
      return f;
    case Leaf::Kind::param:
      if (l.offset == 0) f.zeros |= program_.symbols[l.extra].points_to - 1;
      return f;
    case Leaf::Kind::exit:
      return of(l.args[0]);
    case Leaf::Kind::phi:
      return of_phi(*execution_.phi_at(id), f);
    default:
      return f;
  }
}

Facts TermFacts::of_phi(Phi const& p, Facts f) {
  if (p.kind == Phi::Kind::same) return of(p.init);
  if (p.kind == Phi::Kind::affine || p.kind == Phi::Kind::drift)
    f.zeros |= low_bits(std::min({trailing_zeros(p.init), trailing_zeros(p.step), 64U}));
  if (p.kind == Phi::Kind::orbit) {
    std::uint64_t ones = 0;
    for (std::uint64_t const v : p.values) ones |= v;
    f = {~ones, p.values.back(), p.values.front()};
  }
  if (p.kind == Phi::Kind::drift || p.kind == Phi::Kind::other) f.most = most_of_phi(p);
  return f;
}

/// The most that a register at a loop's header can be: by induction over the iterations, if its first value is no more, and its next value
/// is not either where it is not. What is tried is the first value's most, that of the next value, and what a condition leaves of a
/// value that it compares with a constant.
std::uint64_t TermFacts::most_of_phi(Phi const& p) {
  constexpr std::uint64_t most_tried = 300'000;
  constexpr unsigned most_nested = 3;
  std::uint64_t const all = low_bits(node(p.node).width), first = of(p.init).most;
  if (first == all || hypotheses_ >= most_nested || tried_ >= most_tried) return all;
  ++hypotheses_;
  std::set<std::uint64_t> const around = std::exchange(limits_, {});
  std::size_t const start = found_.size();
  std::uint64_t tried = first, most = all;
  for (unsigned attempt = 0; attempt < 4 && tried_ < most_tried; ++attempt) {
    keep(p.node, {zeros_above(tried), tried});
    std::uint64_t const next = std::max(first, of(p.back).most);
    if (next <= tried) {
      most = tried;
      break;
    }
    for (; found_.size() > start; found_.pop_back()) drop(found_.back());
    auto const limit = limits_.lower_bound(next);
    if (next == all) break;
    tried = attempt == 0 ? next : limit != limits_.end() ? *limit : ~zeros_above(next);
  }
  limits_.insert(around.begin(), around.end());
  if (--hypotheses_ == 0) found_.clear(), limits_.clear();
  return most;
}

/// A word as another one plus a constant; plus 0 if it is no such sum.
TermFacts::Moved TermFacts::moved(Id id) const {
  Node const n = node(id);
  if (n.op == Op::bv_add && node(n.a).op == Op::constant) return {n.b, node(n.a).value};
  if (n.op == Op::bv_add && node(n.b).op == Op::constant) return {n.a, node(n.b).value};
  return {id, 0};
}

/// Upper bound that a comparison with a constant sets to a word, also if both are compared as signed ones: x != n if x is at most n, x < n, or
/// not n < x.
std::optional<TermFacts::Limit> TermFacts::limit_of(Id condition, bool truth) {
  Node c = node(condition);
  if (c.op == Op::negation) c = node(c.a), truth = !truth;
  bool const equal = c.op == Op::eq;
  if (!equal && c.op != Op::ult) return std::nullopt;
  bool const first = node(c.a).op == Op::constant, least = first && !equal;
  Node const number = node(first ? c.a : c.b);
  if (number.op != Op::constant || truth != (!equal && !first)) return std::nullopt;
  Id const compared = first ? c.b : c.a;
  Moved word = moved(compared);
  std::uint64_t n = number.value;
  std::uint64_t const sign = std::uint64_t{1} << (number.width - 1);
  bool const is_signed = !equal && n >= sign && word.by >= sign;
  if (is_signed) n -= sign, word.by -= sign;
  if (n == 0 && !least) return std::nullopt;
  if (is_signed && of(word.base).most >= sign - word.by) return std::nullopt;
  if (hypotheses_ != 0) limits_.insert(least ? n : n - 1);
  if (equal && of(compared).most > n) return std::nullopt;
  return Limit{word, least ? n : n - 1};
}

/// Facts about a value that is chosen where a condition has this truth: it may bound the value, or what that is a constant behind.
Facts TermFacts::chosen(Id condition, bool truth, Id value) {
  Facts f = of(value);
  std::uint64_t const all = low_bits(node(value).width);
  std::optional<Limit> const limit = limit_of(condition, truth);
  Moved const v = moved(value);
  if (!limit || v.base != limit->word.base || limit->most < limit->word.by) return f;
  bool const wraps = v.by != limit->word.by && of(v.base).most > all - limit->word.by;
  std::uint64_t const most_of_base = limit->most - limit->word.by;
  if (wraps || v.by > all - most_of_base) return f;
  f.most = std::min(f.most, most_of_base + v.by);
  if (hypotheses_ != 0) limits_.insert(most_of_base + v.by);
  return f;
}

}  // namespace swizproof::execution
