#include "sums.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::execution {

bool Lanes::uniform() const {
  return split() && std::all_of(lane.begin(), lane.end(), [&](std::uint64_t x) { return x == lane[0]; });
}

Lanes Sums::sum(Lanes const& a, Lanes const& b, std::uint64_t factor, unsigned bits) {
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (!a.split()) return a;
  if (!b.split()) return b;
  Lanes out;
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] + factor * b.lane[l];
  out.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first))
      out.terms.push_back(*x++);
    else if (x == a.terms.end() || y->first < x->first)
      out.terms.emplace_back(y->first, factor * y->second), ++y;
    else
      out.terms.emplace_back(x->first, x->second + factor * y->second), ++x, ++y;
  }
  reduce(out, bits);
  return out;
}

void Sums::reduce(Lanes& v, unsigned bits) {
  std::uint64_t const mask = low_bits(bits);
  for (std::uint64_t& x : v.lane) x &= mask;
  std::erase_if(v.terms, [&](auto& term) {
    term.second &= mask;
    return term.second == 0 ||
           static_cast<unsigned>(std::countr_zero(term.second)) + facts_.trailing_zeros(term.first) >= bits;
  });
}

unsigned Sums::zeros_of(Lanes const& v, unsigned bits) {
  unsigned least = bits;
  for (auto const& [atom, factor] : v.terms)
    least = std::min(least, static_cast<unsigned>(std::countr_zero(factor)) + facts_.trailing_zeros(atom));
  return least;
}

std::optional<std::uint64_t> Sums::bound(Lanes const& v, unsigned width) {
  std::uint64_t const all = low_bits(width);
  std::uint64_t most = 0;
  for (auto const& [atom, factor] : v.terms) {
    std::uint64_t const m = facts_.of(atom).most;
    if (m != 0 && factor > all / m) return std::nullopt;
    if (factor * m > all - most) return std::nullopt;
    most += factor * m;
  }
  std::uint64_t const lane = *std::max_element(v.lane.begin(), v.lane.end());
  if (lane > all - most) return std::nullopt;
  return most;
}

Sums::Range Sums::range(Lanes const& v, unsigned width) {
  Range r;
  r.most.fill(low_bits(width));
  if (std::optional<std::uint64_t> const most = bound(v, width)) {
    std::uint64_t least = 0;
    for (auto const& [atom, factor] : v.terms) least += factor * facts_.of(atom).least;
    for (unsigned l = 0; l < 32; ++l) r.least[l] = v.lane[l] + least, r.most[l] = v.lane[l] + *most;
  }
  return r;
}

Lanes Atoms::of(Id id, unsigned bits) {
  Node const n = execution_.node(id);
  Lanes v;
  if (n.op == Op::constant) {
    v.lane.fill(n.value & low_bits(bits));
    return v;
  }
  if (Assumption const* const a = assumed_.of(id)) {
    v.lane.fill(a->value & low_bits(bits));
    if (a->bits < n.width && a->bits < bits && facts_.of(id).most >> a->bits != 0)
      return sums_.sum(v, of(rest_of(id, a->bits), bits), 1, bits);
    return v;
  }
  v.terms.emplace_back(id, 1);
  sums_.reduce(v, bits);
  return v;
}

/// An atom less its low bits, which are assumed.
Id Atoms::rest_of(Id id, unsigned assumed_bits) {
  auto const [at, new_rest] = rests_.try_emplace(std::uint64_t{id} << 7 | assumed_bits, 0);
  if (!new_rest) return at->second;
  std::uint64_t const most = facts_.of(id).most >> assumed_bits << assumed_bits;
  Id const rest = at->second = fresh(execution_.node(id).width, assumed_bits, id);
  Facts facts = facts_.of(rest);
  facts.most = std::min(facts.most, most);
  facts_.declare(rest, facts);
  return rest;
}

Lanes Atoms::of_operation(Id id, std::initializer_list<Lanes const*> operands, unsigned bits) {
  Node n = execution_.node(id);
  Id* const places[] = {&n.a, &n.b, &n.c};
  std::size_t k = n.op == Op::ite ? 1 : 0;
  for (Lanes const* o : operands) *places[k] = node_of(*o, execution_.node(*places[k]).width), ++k;
  return of(execution_.terms.add(n), bits);
}

Id Atoms::fresh(unsigned bits, unsigned zeros, Id part_of) {
  Leaf rest;
  rest.kind = Leaf::Kind::undefined;  // it has no name
  rest.args = {part_of};
  Id const id = execution_.add_leaf(std::move(rest), bits);
  std::uint64_t const low = low_bits(std::min(zeros, bits));
  facts_.declare(id, {low | ~low_bits(bits), low_bits(bits) & ~low});
  return id;
}

Id Atoms::node_of(Lanes const& v, unsigned width) {
  Terms& terms = execution_.terms;
  Id out = terms.constant(width, v.lane[0]).id;
  for (auto const& [atom, factor] : v.terms) {
    Term const x = resized(Term{&terms, atom}, width);
    Term const scaled = factor == 1 ? x : x * like(x, factor);
    out = (Term{&terms, out} + scaled).id;
  }
  return out;
}

Lanes Atoms::at_most(Lanes const& v, std::uint64_t most, unsigned width) {
  Terms& terms = execution_.terms;
  Term const x{&terms, node_of(v, width)}, last = terms.constant(width, most);
  Node const smaller{Op::ite, static_cast<std::uint8_t>(width), (x < last).id, x.id, last.id};
  return of(terms.add(smaller), width);
}

Lanes Atoms::stuck(Request request) {
  requests_.push_back(std::move(request));
  return {Lanes::State::stuck, static_cast<std::uint32_t>(requests_.size() - 1)};
}

Lanes Atoms::missing_bits(Lanes const& a, unsigned bits, std::string reason) {
  for (auto const& [atom, factor] : a.terms) {
    auto const scale = static_cast<unsigned>(std::countr_zero(factor));
    if (scale + facts_.trailing_zeros(atom) >= bits) continue;
    // Low bits of x >> c are bits of x; other parts of the sum may depend on x, too.
    Node const n = execution_.node(atom);
    bool const near = n.op == Op::bv_lshr && execution_.node(n.b).op == Op::constant &&
                      execution_.node(n.a).op == Op::variable;
    if (near && bits - scale + execution_.node(n.b).value <= 12)
      return stuck({Request::Kind::residue, n.a,
                    bits - scale + static_cast<unsigned>(execution_.node(n.b).value), std::move(reason)});
    return stuck({Request::Kind::residue, atom, bits - scale, std::move(reason)});
  }
  return stuck({Request::Kind::none, 0, 0, std::move(reason)});
}

Lanes Atoms::missing_value(Lanes const& a, std::string reason) {
  for (auto const& [atom, factor] : a.terms) return stuck({Request::Kind::value, atom, 0, std::move(reason)});
  return stuck({Request::Kind::none, 0, 0, std::move(reason)});
}

}  // namespace swizproof::execution
