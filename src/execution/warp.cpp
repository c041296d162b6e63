#include <swizproof/execution/warp.hpp>

#include <swizproof/program/step.hpp>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace swizproof::execution {

namespace {

constexpr unsigned deepest_term = 800;  ///< nested terms

unsigned bit_length(std::uint64_t x) { return static_cast<unsigned>(std::bit_width(x)); }

std::uint64_t memo_key(std::uint32_t id, unsigned bits) { return std::uint64_t{id} << 7 | bits; }

/// Values that differ from lane to lane, for what the node `why` computes.
Lanes varying(std::uint32_t why) { return {Lanes::State::varying, why}; }

}  // namespace

bool Lanes::uniform() const {
  return split() && std::all_of(lane.begin(), lane.end(), [&](std::uint64_t x) { return x == lane[0]; });
}

std::optional<std::array<std::uint32_t, 3>> Warp::lanes_of(Launch const& launch) {
  std::array<std::uint32_t, 3> lanes{1, 1, 1};
  std::uint32_t left = 32;
  for (unsigned d = 0; d < 3; ++d) {
    lanes[d] = std::min(left, launch.block[d]);
    if (launch.block[d] % lanes[d] != 0 || left % lanes[d] != 0) return std::nullopt;
    left /= lanes[d];
  }
  return left == 1 ? std::optional(lanes) : std::nullopt;
}

Warp::Warp(Program const& program, Flow const& flow, Execution& execution, Launch const& launch,
           unsigned number, Warp* clean)
    : program_(program), flow_(flow), execution_(execution), launch_(launch), number_(number), given_(clean) {
  std::uint64_t const threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  std::uint64_t const first = number == every ? 0 : std::uint64_t{number} * 32;
  if (number == every) lanes_ = lanes_of(launch).value();
  for (unsigned d = 0; d < 3; ++d)
    if (lanes_[d] < launch.block[d] && number == every && execution.warp_numbers[d] == 0) {
      Leaf part;
      part.kind = Leaf::Kind::special;
      part.extra = static_cast<std::uint32_t>(Special::warp_x) + d;
      execution.warp_numbers[d] = execution.terms.variable(32, 32, {}).id;
      execution.leaves.push_back(part);
      execution.phi_of.push_back(-1);
    }
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint64_t t = first + lane;
    if (t < threads)
      present_ |= 1U << lane;
    else
      t = first;  // a lane that does not exist holds what lane 0 holds
    thread_[lane] = t;
  }
}

std::uint64_t Warp::special(Special s, unsigned lane) const {
  if (s >= Special::ctaid_x && s <= Special::nctaid_z) return 0;
  return special_of(static_cast<std::uint32_t>(s), {thread_[lane], lane, launch_.block}).value_or(0);
}

unsigned Warp::place_of(Id atom) const { return atom < places_.size() ? places_[atom] : 0; }

void Warp::give_place(Id atom) {
  if (place_of(atom) != 0) return;
  if (atom >= places_.size()) places_.resize(execution_.terms.nodes().size());
  places_[atom] = static_cast<std::uint8_t>(places_given_++ % (Asked::places - 1) + 1);
  changed_[0] = now_;  // what asked about it shared the place of the others
}

bool Warp::ask(Id atom) {
  unsigned const place = place_of(atom);
  asked_.add(place);
  return assumed_at_.has(place);
}

void Warp::assume(std::vector<Assumption> assumptions) {
  bool const free = assumed_.empty() && assumed_truths_.empty();
  if (free && assumptions.empty()) return;
  auto const before = std::exchange(assumed_, {});
  auto const truths_before = std::exchange(assumed_truths_, {});
  assumed_at_ = {};
  forgotten_.clear();
  ++now_;
  for (Assumption const& a : assumptions) {
    give_place(a.atom);
    if (a.truth)
      assumed_truths_[a.atom] = a.value != 0;
    else
      assumed_[a.atom] = a;
    assumed_at_.add(place_of(a.atom));
  }
  auto const change = [this](auto const& one, auto const& other) {
    for (auto const& [atom, what] : one)
      if (auto const found = other.find(atom); found == other.end() || !(found->second == what))
        changed_[place_of(atom)] = now_;
  };
  change(before, assumed_), change(assumed_, before);
  change(truths_before, assumed_truths_), change(assumed_truths_, truths_before);
  if (!free && !assumptions.empty()) return;
  // Without assumptions, loops and registers at their headers are decided here, else in `clean_`.
  memo_.clear(), truths_.clear(), machines_.clear();
  leaves_.clear(), backs_.clear();
}

void Warp::release() {
  decltype(memo_)().swap(memo_);  // the buckets, too
  forgotten_.clear();
  decltype(truths_)().swap(truths_);
  if (clean_) clean_->release();
}

// --------------------------------------------------------------------------------------- facts

unsigned Warp::trailing_zeros(Id id) { return static_cast<unsigned>(std::countr_one(facts(id).zeros)); }

namespace {

/// Facts about two words joined bit by bit; `f` holds for any word of the width.
Facts facts_of_bits(Op op, Facts const& x, Facts const& y, Facts f) {
  if (op == Op::bv_and) return {x.zeros | y.zeros, std::min(x.most, y.most)};
  f.zeros |= x.zeros & y.zeros;
  return f;
}

/// Facts about a sum, difference or product of words of the bits `all`, of which `f` holds.
Facts facts_of_ring(Op op, Facts const& x, Facts const& y, std::uint64_t all, Facts f) {
  int const zeros_x = std::countr_one(x.zeros), zeros_y = std::countr_one(y.zeros);
  int const zeros = op == Op::bv_mul ? std::min(zeros_x + zeros_y, 64) : std::min(zeros_x, zeros_y);
  f.zeros |= low_bits(static_cast<unsigned>(zeros));
  if (op == Op::bv_add && x.most <= all - y.most) f.most = x.most + y.most, f.least = x.least + y.least;
  if (op == Op::bv_mul && (x.most == 0 || y.most <= all / x.most))
    f.most = x.most * y.most, f.least = x.least * y.least;
  return f;
}

/// Facts about x shifted or divided by a constant, for a word of the bits `all`, of which `f` holds.
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

}  // namespace

Facts Warp::leaf_facts(Node const& n, Facts f) {
  Leaf const& l = execution_.leaves[n.value];
  if (l.kind == Leaf::Kind::special && l.extra < 100) {
    auto const s = static_cast<Special>(l.extra);
    if (s <= Special::tid_z)
      f.most = launch_.block[static_cast<unsigned>(s)] - 1;
    else if (s <= Special::ntid_z)
      f.most = 1024;
    else if (s <= Special::nctaid_z)
      f.most = s == Special::ctaid_x || s == Special::nctaid_x ? 0x7fffffff : 0xffff;
    else if (s == Special::laneid)
      f.most = 31;
    else if (s >= Special::warp_x && s <= Special::warp_z) {
      unsigned const d = l.extra - static_cast<std::uint32_t>(Special::warp_x);
      f.most = launch_.block[d] / lanes_[d] - 1;
    }
    if ((s >= Special::ntid_x && s <= Special::ntid_z) || (s >= Special::nctaid_x && s <= Special::nctaid_z))
      f.least = 1;
    if (s == Special::ntid_x && launch_.any_multiple) f.zeros |= 31;
  } else if (l.kind == Leaf::Kind::symbol) {
    f.zeros |= program_.symbols[l.extra].align - 1;
  } else if (l.kind == Leaf::Kind::exit) {
    f = facts(l.args[0]);
  } else if (l.kind == Leaf::Kind::phi) {
    Phi const& p = execution_.phis[static_cast<std::size_t>(execution_.phi_of[n.value])];
    if (p.kind == Phi::Kind::same) f = facts(p.init);
    if (p.kind == Phi::Kind::affine || p.kind == Phi::Kind::drift)
      f.zeros |= low_bits(std::min({trailing_zeros(p.init), trailing_zeros(p.step), 64U}));
    if (p.kind == Phi::Kind::orbit) {
      std::uint64_t ones = 0;
      for (std::uint64_t const v : p.values) ones |= v;
      f = {~ones, p.values.back(), p.values.front()};
    }
    if (p.kind == Phi::Kind::drift || p.kind == Phi::Kind::other) f.most = most_of_phi(n, p);
  }
  return f;
}

/// The most that a register at a loop's header can be: by induction over the iterations, if its first value is no more, and its next value
/// is not either where it is not. What is tried is the first value's most, that of the next value, and what a condition leaves of a
/// value that it compares with a constant.
std::uint64_t Warp::most_of_phi(Node const& n, Phi const& p) {
  constexpr unsigned most_tries = 200, deepest = 3;
  std::uint64_t const all = low_bits(n.width), first = facts(p.init).most;
  if (first == all || hypotheses_ >= deepest || tries_ >= most_tries) return all;
  ++hypotheses_;
  std::set<std::uint64_t> const around = std::exchange(limits_, {});
  std::size_t const start = facts_found_.size();
  std::uint64_t tried = first, most = all;
  for (unsigned attempt = 0; attempt < 4 && tries_ < most_tries; ++attempt) {
    ++tries_;
    facts_[p.node] = {~low_bits(bit_length(tried)), tried};
    std::uint64_t const next = std::max(first, facts(p.back).most);
    if (next <= tried) {
      most = tried;
      break;
    }
    for (; facts_found_.size() > start; facts_found_.pop_back()) facts_.erase(facts_found_.back());
    auto const limit = limits_.lower_bound(next);
    if (attempt > 0 && limit == limits_.end()) break;
    tried = attempt > 0 ? *limit : next;
  }
  limits_.insert(around.begin(), around.end());
  if (--hypotheses_ == 0) facts_found_.clear(), limits_.clear();
  return most;
}

Facts Warp::facts(Id id) {
  if (auto const found = facts_.find(id); found != facts_.end()) return found->second;
  std::uint64_t const all = low_bits(width(id));
  Facts f{~all, all};
  if (node(id).op == Op::variable) facts_[id] = f;  // what a cycle of phis finds
  if (depth_ > deepest_term) return f;
  ++depth_;
  Node const n = node(id);
  auto const a = [&] { return facts(n.a); };
  auto const b = [&] { return facts(n.b); };
  bool const by_constant = n.op != Op::variable && n.op != Op::constant &&
                           n.b < execution_.terms.nodes().size() && node(n.b).op == Op::constant;
  switch (n.op) {
    case Op::constant:
      f = {~n.value, n.value, n.value};
      break;
    case Op::variable:
      f = leaf_facts(n, f);
      break;
    case Op::bv_and:
    case Op::bv_or:
    case Op::bv_xor:
      f = facts_of_bits(n.op, a(), b(), f);
      break;
    case Op::bv_add:
    case Op::bv_sub:
    case Op::bv_mul: {
      Facts const x = a();
      f = facts_of_ring(n.op, x, b(), all, f);
      break;
    }
    case Op::bv_shl:
    case Op::bv_lshr:
    case Op::bv_udiv:
    case Op::bv_urem:
      if (by_constant)
        f = facts_by_constant(n.op, a(), node(n.b).value, all, f);
      else if (n.op == Op::bv_lshr)
        f.most = a().most;
      break;
    case Op::ite: {
      Facts const x = chosen_facts(n.a, true, n.b), y = chosen_facts(n.a, false, n.c);
      f = {x.zeros & y.zeros, std::max(x.most, y.most), std::min(x.least, y.least)};
      break;
    }
    case Op::zero_extend:
    case Op::truncate: {
      Facts const x = a();
      f.zeros |= x.zeros;
      if (x.most <= all) f.most = x.most, f.least = x.least;
      break;
    }
    default:
      break;
  }
  --depth_;
  f.zeros |= ~all | ~low_bits(bit_length(f.most));
  f.most = std::min(f.most, ~f.zeros);
  if (hypotheses_ != 0) facts_found_.push_back(id);
  return facts_[id] = f;
}

/// Facts about a value that is chosen where a condition has this truth: if that says that it is not its most, it is less.
Facts Warp::chosen_facts(Id condition, bool truth, Id value) {
  Facts f = facts(value);
  Node c = node(condition);
  if (c.op == Op::negation) c = node(c.a), truth = !truth;
  if (truth || c.op != Op::eq) return f;
  auto const& [word, number] = node(c.a).op == Op::constant ? std::pair{c.b, c.a} : std::pair{c.a, c.b};
  std::uint64_t const limit = node(number).value;
  if (word != value || node(number).op != Op::constant || limit == 0) return f;
  if (hypotheses_ != 0) limits_.insert(limit - 1);
  if (f.most == limit) --f.most;
  return f;
}

// --------------------------------------------------------------------------------------- words

Lanes Warp::stuck(Request request) {
  requests_.push_back(std::move(request));
  return {Lanes::State::stuck, static_cast<std::uint32_t>(requests_.size() - 1)};
}

/// Drops what is a multiple of 2^bits.
void Warp::reduce(Lanes& v, unsigned bits) {
  std::uint64_t const mask = low_bits(bits);
  for (std::uint64_t& x : v.lane) x &= mask;
  std::erase_if(v.terms, [&](auto& term) {
    term.second &= mask;
    return term.second == 0 ||
           static_cast<unsigned>(std::countr_zero(term.second)) + trailing_zeros(term.first) >= bits;
  });
}

unsigned Warp::zeros_of(Lanes const& v, unsigned bits) {
  unsigned least = bits;
  for (auto const& [atom, factor] : v.terms)
    least = std::min(least, static_cast<unsigned>(std::countr_zero(factor)) + trailing_zeros(atom));
  return least;
}

/// The largest sum of the terms, if neither it nor it with any lane's number wraps in `width` bits.
std::optional<std::uint64_t> Warp::bound(Lanes const& v, unsigned width) {
  std::uint64_t const all = low_bits(width);
  std::uint64_t most = 0;
  for (auto const& [atom, factor] : v.terms) {
    std::uint64_t const m = facts(atom).most;
    if (m != 0 && factor > all / m) return std::nullopt;
    if (factor * m > all - most) return std::nullopt;
    most += factor * m;
  }
  std::uint64_t const lane = *std::max_element(v.lane.begin(), v.lane.end());
  if (lane > all - most) return std::nullopt;
  return most;
}

Warp::Range Warp::range(Lanes const& v, unsigned width) {
  Range r;
  r.most.fill(low_bits(width));
  if (std::optional<std::uint64_t> const most = bound(v, width)) {
    std::uint64_t least = 0;
    for (auto const& [atom, factor] : v.terms) least += factor * facts(atom).least;
    for (unsigned l = 0; l < 32; ++l) r.least[l] = v.lane[l] + least, r.most[l] = v.lane[l] + *most;
  }
  return r;
}

/// a + factor * b.
Lanes Warp::sum(Lanes const& a, Lanes const& b, std::uint64_t factor, unsigned bits) {
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

Lanes Warp::scaled(Lanes const& a, std::uint64_t factor, unsigned bits) { return sum({}, a, factor, bits); }

/// A node of the sum that all lanes share. Precondition: uniform.
Warp::Id Warp::node_of(Lanes const& v, unsigned w) {
  Terms& terms = execution_.terms;
  Id out = terms.constant(w, v.lane[0]).id;
  for (auto const& [atom, factor] : v.terms) {
    Term const x = resized(Term{&terms, atom}, w);
    Term const scaled_x = factor == 1 ? x : x * like(x, factor);
    out = (Term{&terms, out} + scaled_x).id;
  }
  return out;
}

/// The node as an atom, its operands being the same in all lanes.
Lanes Warp::atom(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes v;
  if (n.op == Op::constant) {
    v.lane.fill(n.value & low_bits(bits));
    return v;
  }
  if (auto const found = ask(id) ? assumed_.find(id) : assumed_.end(); found != assumed_.end()) {
    Assumption const& a = found->second;
    v.lane.fill(a.value & low_bits(bits));
    if (a.bits < width(id) && a.bits < bits && facts(id).most >> a.bits != 0) {
      auto const [at, fresh] = rests_.try_emplace(memo_key(id, a.bits), 0);
      if (fresh) at->second = fresh_atom(n.width, a.bits, id);
      if (std::uint64_t const most = facts(id).most >> a.bits << a.bits; fresh)
        facts_[at->second].most = std::min(facts_[at->second].most, most);
      return sum(v, atom(at->second, bits), 1, bits);
    }
    return v;
  }
  v.terms.emplace_back(id, 1);
  reduce(v, bits);
  return v;
}

/// An operation on operands that are the same in all lanes: an atom of its own.
Lanes Warp::as_atom(Id id, std::initializer_list<Lanes const*> operands, unsigned bits) {
  Node n = node(id);
  Id* const places[] = {&n.a, &n.b, &n.c};
  std::size_t k = n.op == Op::ite ? 1 : 0;
  for (Lanes const* o : operands) *places[k] = node_of(*o, width(*places[k])), ++k;
  return atom(execution_.terms.add(n), bits);
}

/// Stuck for want of low bits: of the first atom that has not `bits` zeros.
Lanes Warp::missing_bits(Lanes const& a, unsigned bits, std::string reason) {
  for (auto const& [atom, factor] : a.terms) {
    auto const scale = static_cast<unsigned>(std::countr_zero(factor));
    if (scale + trailing_zeros(atom) >= bits) continue;
    // Low bits of x >> c are bits of x, of which other parts of the sum may depend too.
    Node const n = node(atom);
    bool const near = n.op == Op::bv_lshr && node(n.b).op == Op::constant && node(n.a).op == Op::variable;
    if (near && bits - scale + node(n.b).value <= 12)
      return stuck({Request::Kind::residue, n.a, bits - scale + static_cast<unsigned>(node(n.b).value),
                    std::move(reason)});
    return stuck({Request::Kind::residue, atom, bits - scale, std::move(reason)});
  }
  return stuck({Request::Kind::none, 0, 0, std::move(reason)});
}
Lanes Warp::missing_value(Lanes const& a, std::string reason) {
  for (auto const& [atom, factor] : a.terms) return stuck({Request::Kind::value, atom, 0, std::move(reason)});
  return stuck({Request::Kind::none, 0, 0, std::move(reason)});
}

Lanes const& Warp::value(Id id, unsigned bits) {
  bits = std::min<unsigned>(bits, width(id));
  auto const found = memo_.find(memo_key(id, bits));
  if (found != memo_.end() && holds(found->second)) return found->second.value;
  if (depth_ == 0) forgotten_.clear();
  ++steps_;
  return keep(memo_, memo_key(id, bits), [&] {
    ++depth_;
    Lanes v = depth_ > deepest_term + 1
                  ? stuck({Request::Kind::none, 0, 0, "the expression is nested too deeply"})
                  : compute(id, bits);
    --depth_;
    return v;
  });
}

Lanes Warp::compute(Id id, unsigned bits) {
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
      return leaf(id, bits);
    case Op::bv_add: {
      Lanes const& a = value(n.a, bits);
      return sum(a, value(n.b, bits), 1, bits);
    }
    case Op::bv_sub: {
      Lanes const& a = value(n.a, bits);
      return sum(a, value(n.b, bits), ~std::uint64_t{0}, bits);
    }
    case Op::bv_mul:
      return product(id, bits);
    case Op::bv_shl:
      return shifted_left(id, bits);
    case Op::bv_lshr:
      return shifted_right(id, bits);
    case Op::bv_and:
    case Op::bv_or:
    case Op::bv_xor:
      return bitwise(id, bits);
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
      return stuck({Request::Kind::none, 0, 0, "a truth is used as a number"});
  }
}

Lanes Warp::product(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes const &a = value(n.a, bits), &b = value(n.b, bits);
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (a.pure() && a.uniform()) return scaled(b, a.lane[0], bits);
  if (b.pure() && b.uniform()) return scaled(a, b.lane[0], bits);
  if (!a.split()) return a;
  if (!b.split()) return b;
  if (a.uniform() && b.uniform()) {
    if (a.terms.size() * b.terms.size() > 16) return as_atom(id, {&a, &b}, bits);
    // (a0 + sum a)(b0 + sum b)
    Lanes out = sum(scaled(b, a.lane[0], bits), scaled(a, b.lane[0], bits), 1, bits);
    for (std::uint64_t& x : out.lane) x = a.lane[0] * b.lane[0];
    for (auto const& [x, f] : a.terms)
      for (auto const& [y, g] : b.terms) {
        Terms& terms = execution_.terms;
        Term const both = resized(Term{&terms, x}, 64) * resized(Term{&terms, y}, 64);
        out = sum(out, atom(both.id, bits), f * g, bits);
      }
    reduce(out, bits);
    return out;
  }
  if (a.pure() && b.pure()) {
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] * b.lane[l];
    reduce(out, bits);
    return out;
  }
  constexpr unsigned few = 8;  // bits, whose values the caller can try
  std::string const reason = "the lanes' numbers are multiplied by a value that is not known";
  Lanes const& unknown = a.terms.empty() ? b : a;
  return bits <= few ? missing_bits(unknown, bits, reason) : missing_value(unknown, reason);
}

Lanes Warp::shifted_left(Id id, unsigned bits) {
  Node const n = node(id);
  Lanes const& by = value(n.b, width(n.b));
  if (by.state != Lanes::State::split) return by;
  if (by.pure() && by.uniform()) {
    std::uint64_t const k = by.lane[0];
    if (k >= bits) return {};
    return scaled(value(n.a, bits - static_cast<unsigned>(k)), std::uint64_t{1} << k, bits);
  }
  Lanes const& a = value(n.a, bits);
  if (!a.split()) return a;
  if (a.uniform() && by.uniform()) return as_atom(id, {&a, &by}, bits);
  if (by.pure()) {  // another shift in each lane
    if (!a.pure())
      return missing_value(a, "a value that is not known is shifted by another number in each lane");
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = by.lane[l] < bits ? a.lane[l] << by.lane[l] : 0;
    reduce(out, bits);
    return out;
  }
  return missing_value(by, "the lanes' numbers are shifted by a value that is not known");
}

Lanes Warp::shifted_right(Id id, unsigned bits) {
  Node const n = node(id);
  unsigned const w = n.width;
  Lanes const& by = value(n.b, width(n.b));
  if (by.state != Lanes::State::split) return by;
  if (!(by.pure() && by.uniform())) {
    Lanes const& a = value(n.a, w);
    if (!a.split()) return a;
    if (a.uniform() && by.uniform()) return as_atom(id, {&a, &by}, bits);
    if (!by.pure()) return missing_value(by, "the lanes' numbers are shifted by a value that is not known");
    if (!a.pure())
      return missing_value(a, "a value that is not known is shifted by another number in each lane");
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = by.lane[l] < w ? a.lane[l] >> by.lane[l] : 0;
    reduce(out, bits);
    return out;
  }
  if (by.lane[0] >= w) return {};
  auto const k = static_cast<unsigned>(by.lane[0]);
  bool const exact = bits + k <= w;  // what lies above does not matter: sums may wrap
  unsigned const from = exact ? bits + k : w;
  Lanes const& a = value(n.a, from);
  if (!a.split()) return a;
  Lanes out;
  for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] >> k;
  if (a.terms.empty()) return reduce(out, bits), out;
  if (from == w && bound(a, w)) {  // what is not known does not carry beyond the bits that are dropped
    Range const r = range(a, w);
    bool whole = true;
    for (unsigned l = 0; l < 32; ++l)
      whole = whole && r.least[l] >> k == r.most[l] >> k, out.lane[l] = r.least[l] >> k;
    if (whole) return reduce(out, bits), out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] >> k;
  }
  unsigned const zeros = zeros_of(a, from);
  if (zeros >= k && (exact || bound(a, w))) {
    // (lane + 2^k m) >> k = (lane >> k) + m
    for (auto const& [atom_id, factor] : a.terms) {
      auto const scale = static_cast<unsigned>(std::countr_zero(factor));
      if (scale >= k) {
        out = sum(out, atom(atom_id, bits), factor >> k, bits);
      } else {
        Term const x{&execution_.terms, atom_id};
        out = sum(out, atom(shr(x, std::uint64_t{k - scale}).id, bits), factor >> scale, bits);
      }
    }
    reduce(out, bits);
    return out;
  }
  if (a.uniform()) {
    Lanes const& whole = value(n.a, w);
    if (whole.uniform()) return as_atom(id, {&whole, &by}, bits);
  }
  if (zeros < k)
    return missing_bits(
        a, k, "a sum is shifted right, and a part of it is not known to be a multiple of the power of two");
  return missing_value(a, "a sum may wrap before it is shifted right");
}

/// a & mask, of which the low `bits` are wanted; `exact` says how many bits of `a` are given.
Lanes Warp::masked(Id id, Lanes const& a, std::uint64_t mask, unsigned bits, unsigned exact) {
  Lanes out;
  if (a.terms.empty()) {
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] & mask;
    return out;
  }
  unsigned const zeros = zeros_of(a, exact);
  std::uint64_t const low = low_bits(zeros);
  // Above the zeros the mask keeps everything that is wanted.
  if (exact >= bits && ((mask | low) & low_bits(bits)) == low_bits(bits)) {
    out.terms = a.terms;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = (a.lane[l] & ~low) + (a.lane[l] & low & mask);
    reduce(out, bits);
    return out;
  }
  // Or the lanes agree there.
  bool const agree = std::all_of(a.lane.begin(), a.lane.end(),
                                 [&](std::uint64_t x) { return (x & ~low) == (a.lane[0] & ~low); });
  if (agree) {
    Lanes high;
    high.terms = a.terms;
    high.lane.fill(a.lane[0] & ~low);
    Term const x{&execution_.terms, node_of(high, width(id))};
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = a.lane[l] & low & mask;
    return sum(out, atom((x & like(x, mask & ~low)).id, bits), 1, bits);
  }
  // How far up the mask has a bit that is 0, or ends.
  std::uint64_t const dropped = ~mask & low_bits(bits);
  return missing_bits(a, std::min(bit_length(dropped), bit_length(mask & low_bits(bits))),
                      "a sum is masked, and a part of it is not known to be a multiple of the power of two");
}

namespace {

/// AND, OR or XOR of two numbers.
std::uint64_t bit_by_bit(Op op, std::uint64_t a, std::uint64_t b) {
  return op == Op::bv_and ? a & b : op == Op::bv_or ? a | b : a ^ b;
}

}  // namespace

Lanes Warp::bitwise(Id id, unsigned bits) {
  Node const n = node(id);
  Id x = n.a, y = n.b;
  if (node(x).op == Op::constant) std::swap(x, y);
  if (n.op == Op::bv_and && node(y).op == Op::constant) {
    std::uint64_t const mask = node(y).value;
    unsigned const from = std::min(bits, bit_length(mask));
    Lanes const& a = value(x, from);
    if (!a.split()) return a;
    return masked(id, a, mask, bits, from);
  }
  // Bits that no two operands share: a sum.
  Facts const p = facts(x), q = facts(y);
  if (n.op != Op::bv_and && ((p.zeros | q.zeros) & low_bits(bits)) == low_bits(bits)) {
    Lanes const& a = value(x, bits);
    return sum(a, value(y, bits), 1, bits);
  }
  if (n.op == Op::bv_xor && node(y).op == Op::constant &&
      (node(y).value & low_bits(bits)) == low_bits(bits)) {
    Lanes ones;
    ones.lane.fill(low_bits(bits));
    return sum(ones, value(x, bits), ~std::uint64_t{0}, bits);  // ~x = -1 - x
  }
  Lanes const &first = value(x, bits), &second = value(y, bits);
  if (first.state == Lanes::State::stuck) return first;
  if (second.state == Lanes::State::stuck) return second;
  if (!first.split()) return first;
  if (!second.split()) return second;
  bool const swapped = second.terms.size() > first.terms.size();
  Lanes const &a = swapped ? second : first, &b = swapped ? first : second;
  if (a.uniform() && b.uniform() && !(a.pure() && b.pure())) {
    Lanes const &whole_a = value(n.a, n.width), &whole_b = value(n.b, n.width);
    if (whole_a.uniform() && whole_b.uniform()) return as_atom(id, {&whole_a, &whole_b}, bits);
  }
  if (a.pure()) {
    Lanes out;
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = bit_by_bit(n.op, a.lane[l], b.lane[l]);
    return out;
  }
  return bitwise_of_sums(n, a, b, bits);
}

Lanes Warp::bitwise_of_sums(Node const& n, Lanes const& a, Lanes const& b, unsigned bits) {
  auto const apply = [&](std::uint64_t s, std::uint64_t t) { return bit_by_bit(n.op, s, t); };
  Lanes out;
  unsigned const zeros = std::min(zeros_of(a, bits), zeros_of(b, bits));
  std::uint64_t const low = low_bits(zeros);
  std::uint64_t most = 0;
  for (std::uint64_t const s : b.lane) most |= s;
  if (b.pure() && (most & ~low) == 0) {  // the second operand lies below what is not known of the first
    for (unsigned l = 0; l < 32; ++l)
      out.lane[l] = apply(a.lane[l] & low, b.lane[l]) + (n.op == Op::bv_and ? 0 : a.lane[l] & ~low);
    if (n.op != Op::bv_and) out.terms = a.terms;
    reduce(out, bits);
    return out;
  }
  auto const agree = [&](Lanes const& v) {
    return std::all_of(v.lane.begin(), v.lane.end(),
                       [&](std::uint64_t s) { return (s & ~low) == (v.lane[0] & ~low); });
  };
  if (agree(a) && agree(b)) {  // the high parts are the same in all lanes
    Lanes high_a, high_b;
    high_a.terms = a.terms, high_b.terms = b.terms;
    high_a.lane.fill(a.lane[0] & ~low), high_b.lane.fill(b.lane[0] & ~low);
    Node m = n;
    m.a = node_of(high_a, n.width), m.b = node_of(high_b, n.width);
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = apply(a.lane[l] & low, b.lane[l] & low);
    return sum(out, atom(execution_.terms.add(m), bits), 1, bits);
  }
  unsigned const wanted = b.pure() ? bit_length(most) : bits;
  if (!b.pure() && zeros_of(b, bits) < wanted && zeros_of(a, bits) >= wanted)
    return missing_bits(b, wanted, "two sums are combined bit by bit");
  return missing_bits(a, wanted, "a sum is combined bit by bit with another value");
}

Lanes Warp::divided(Id id, unsigned bits) {
  Node const n = node(id);
  bool const quotient = n.op == Op::bv_udiv;
  Lanes const &a = value(n.a, n.width), &b = value(n.b, n.width);
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (!a.split()) return a;
  if (!b.split()) return b;
  Lanes out;
  if (a.pure() && b.pure()) {
    for (unsigned l = 0; l < 32; ++l) {
      std::uint64_t const d = b.lane[l];
      out.lane[l] =
          quotient ? (d == 0 ? low_bits(n.width) : a.lane[l] / d) : (d == 0 ? a.lane[l] : a.lane[l] % d);
    }
    reduce(out, bits);
    return out;
  }
  if (a.uniform() && b.uniform()) return as_atom(id, {&a, &b}, bits);
  if (!(b.pure() && b.uniform()))
    return missing_value(b.terms.empty() ? a : b,
                         "the lanes' numbers are divided by a value that is not known");
  std::uint64_t const d = b.lane[0];
  if (d == 0) return missing_value(a, "a division by zero");
  bool const multiple =
      std::all_of(a.terms.begin(), a.terms.end(), [&](auto const& t) { return t.second % d == 0; });
  if (multiple && bound(a, n.width)) {  // (lane + d m) / d = lane / d + m
    for (unsigned l = 0; l < 32; ++l) out.lane[l] = quotient ? a.lane[l] / d : a.lane[l] % d;
    if (quotient)
      for (auto const& [x, f] : a.terms) out.terms.emplace_back(x, f / d);
    reduce(out, bits);
    return out;
  }
  if (std::has_single_bit(d)) {
    auto const k = static_cast<unsigned>(std::countr_zero(d));
    if (!quotient) return masked(id, a, d - 1, bits, n.width);
    if (zeros_of(a, n.width) < k) return missing_bits(a, k, "a sum is divided");
  }
  return missing_value(a, "a sum is divided, and a part of it is not known");
}

/// True if a value is known to be so small that its most says more than what it is a sum of.
bool Warp::has_few_bits(Id id) { return facts(id).most >> 16 == 0; }

Lanes Warp::chosen(Id id, unsigned bits) {
  Node const n = node(id);
  LaneTruths const t = truth(n.a);
  if (t.rest() == 0 && t.no == 0) return value(n.b, bits);
  if (t.rest() == 0 && t.yes == 0) return value(n.c, bits);
  Lanes const &a = value(n.b, bits), &b = value(n.c, bits);
  bool const same = a.split() && b.split() && a.terms == b.terms;
  if (same && a.lane == b.lane) return a;
  if (t.stuck) return {Lanes::State::stuck, t.why};
  if (a.state == Lanes::State::stuck) return a;
  if (b.state == Lanes::State::stuck) return b;
  if (t.rest() == 0) {
    // A lane that takes the side that varies does; the others' side is lost with it.
    if (!a.split()) return a;
    if (!b.split()) return b;
    if (same) {
      Lanes out = a;
      for (unsigned l = 0; l < 32; ++l)
        if ((t.no >> l & 1) != 0) out.lane[l] = b.lane[l];
      return out;
    }
    // Atoms that only some lanes have.
    Lanes const apart = sum(a, b, ~std::uint64_t{0}, bits);
    return missing_value(apart, "lanes choose between two values that are not known");
  }
  if (t.atom == 0) return varying(t.why);
  if (!a.split()) return a;
  if (!b.split()) return b;
  // A number of few bits that all lanes share, like that of a stage, is one of its own.
  if (t.rest() == ~0U && a.uniform() && b.uniform() && !(a.pure() && b.pure()) && has_few_bits(id))
    return atom(id, bits);
  if (Lanes const apart = sum(a, b, ~std::uint64_t{0}, bits); t.rest() == ~0U && apart.uniform())
    return chosen_by_all(n, t.atom, a, b, apart, bits);
  return stuck({Request::Kind::truth, t.atom, 0, "a condition chooses between two values"});
}

/// Two values that differ by one number in all lanes, `apart`, and a condition that all lanes share: the smaller one, and that number where the
/// condition chooses the other; or the lanes' own part, and what they share of either, if those are numbers of few bits and `apart` is not.
Lanes Warp::chosen_by_all(Node m, Id condition, Lanes const& a, Lanes const& b, Lanes const& apart,
                          unsigned bits) {
  m.width = static_cast<std::uint8_t>(bits), m.a = condition;
  auto const least = [](Lanes const& v) { return *std::min_element(v.lane.begin(), v.lane.end()); };
  Lanes own = a, of_a = a, of_b = b;
  own.terms.clear(), of_a.lane.fill(least(a)), of_b.lane.fill(least(b));
  for (std::uint64_t& x : own.lane) x -= least(a);
  bool const negative = apart.terms.empty() && apart.lane[0] >> (bits - 1) != 0;
  Id const zero = execution_.terms.constant(bits, 0).id,
           more = node_of(negative ? scaled(apart, ~std::uint64_t{0}, bits) : apart, bits);
  bool const wraps = least(a) - least(b) != a.lane[0] - b.lane[0];
  if (facts(more).most >> 24 != 0 && !wraps) {
    m.b = node_of(of_a, bits), m.c = node_of(of_b, bits);
    Id const either = execution_.terms.add(m);
    if (facts(either).most >> 24 == 0) return sum(own, atom(either, bits), 1, bits);
  }
  m.b = negative ? zero : more, m.c = negative ? more : zero;
  return sum(negative ? a : b, atom(execution_.terms.add(m), bits), 1, bits);
}

Lanes Warp::extended(Id id, unsigned bits) {
  Node const n = node(id);
  unsigned const w = width(n.a);
  if (bits <= w) return value(n.a, bits);
  Lanes const& a = value(n.a, w);
  if (!a.split() || a.pure()) return a;
  if (bound(a, w)) return a;
  if (a.uniform()) return as_atom(id, {&a}, bits);
  return missing_value(a, "a sum of 32 bits may wrap before it is widened");
}

// --------------------------------------------------------------------------------------- leaves

Lanes Warp::leaf(Id id, unsigned bits) {
  std::uint32_t const number = static_cast<std::uint32_t>(node(id).value);
  Leaf const l = execution_.leaves[number];
  auto const all_uniform = [&] {
    bool all = true;
    for (Id const arg : l.args) all = all && value(arg, width(arg)).uniform();
    return all;
  };
  switch (l.kind) {
    case Leaf::Kind::special: {
      if (l.extra >= first_uniform_special) return atom(id, bits);
      auto const s = static_cast<Special>(l.extra);
      bool const launch_known =
          s == Special::ntid_y || s == Special::ntid_z || (s == Special::ntid_x && !launch_.any_multiple);
      if (s >= Special::ntid_x && s <= Special::nctaid_z && !launch_known) return atom(id, bits);
      if (s >= Special::warp_x && s <= Special::warp_z) return atom(id, bits);
      Lanes v;
      for (unsigned lane = 0; lane < 32; ++lane) v.lane[lane] = special(s, lane) & low_bits(bits);
      Id const part = number_ == every && s <= Special::tid_z ? execution_.warp_numbers[l.extra] : 0;
      return part == 0 ? v : sum(v, atom(part, bits), lanes_[l.extra], bits);
    }
    case Leaf::Kind::param: {
      Variable const& p = program_.symbols[l.extra];
      if (auto const given = launch_.params.find(p.name); given != launch_.params.end() && l.offset < 8) {
        Lanes v;
        v.lane.fill(given->second >> 8 * l.offset & low_bits(bits));
        return v;
      }
      return atom(id, bits);
    }
    case Leaf::Kind::symbol:
    case Leaf::Kind::counter:
      return atom(id, bits);
    case Leaf::Kind::load:  // of an iteration that all lanes share
      if (!has_common_iteration(l.loop)) return varying(id);
      [[fallthrough]];
    case Leaf::Kind::opaque:
      return all_uniform() ? atom(id, bits) : varying(id);
    case Leaf::Kind::voted: {
      if (!has_common_iteration(l.loop)) return varying(id);
      Lanes const& mask = value(l.args[0], 32);
      return mask.pure() && mask.uniform() && mask.lane[0] == 0xffffffff ? atom(id, bits) : varying(id);
    }
    case Leaf::Kind::shuffle:
      return shuffled(id, l, bits);
    case Leaf::Kind::phi:
      return of_phi(id, execution_.phis[static_cast<std::size_t>(execution_.phi_of[number])], bits);
    case Leaf::Kind::exit: {
      Lanes const v = value(l.args[0], bits);
      if (!v.split() || exits_together(l.left)) return v;
      // Numbers of the lanes alone are those of every iteration, unless one was assumed.
      return v.pure() && assumed_.empty() && assumed_truths_.empty() ? v : varying(id);
    }
    default:
      return varying(id);
  }
}

namespace {

/// True if a truth is the same in all lanes.
bool is_shared(LaneTruths const& t) {
  return !t.stuck && (t.rest() == 0 ? (t.yes == 0 || t.no == 0) : t.rest() == ~0U && t.atom != 0);
}

}  // namespace

/// True if all lanes leave a loop in the same iteration.
bool Warp::exits_together(std::int32_t loop) { return leaves(loop) == Leaves::together; }

Warp::Leaves Warp::leaves(std::int32_t loop) {
  if (!assumed_.empty() || !assumed_truths_.empty()) return clean().leaves(loop);
  auto const [at, fresh] = leaves_.try_emplace(loop, Leaves::unknown);
  if (!fresh) return at->second;
  Leaves all = Leaves::together;
  for (Id const e : execution_.exits[static_cast<std::size_t>(loop)]) {
    LaneTruths const t = truth(e);
    if (is_shared(t)) continue;
    all = std::min(all, !t.stuck && is_lost(e) ? Leaves::unknown : Leaves::apart);
  }
  // Values of the meantime rest on `unknown`.
  if (all == Leaves::apart) forget();
  leaves_[loop] = all;
  return all;
}

/// True if a truth may differ between lanes only for values that are not known: no number of a lane is compared with one.
bool Warp::is_lost(Id id) {
  Node const n = node(id);
  if (n.op == Op::negation) return is_lost(n.a);
  LaneTruths const t = truth(id);
  if (t.stuck) return false;
  if (t.rest() == 0 || t.atom != 0) return (t.yes == 0 || t.no == 0);
  if (n.op == Op::conjunction || n.op == Op::disjunction) return is_lost(n.a) && is_lost(n.b);
  Node const why = node(t.why);
  // Else a comparison with a lane's number, of this truth or of a value in it.
  if (why.op != Op::variable) return false;
  Leaf const& leaf = execution_.leaves[why.value];
  return leaf.kind != Leaf::Kind::exit || leaves(leaf.left) != Leaves::apart;
}

/// True if all lanes take the same way back to a loop's header, so that they are in the same iteration of it. Two loops with one header
/// are one loop here: lanes that meet behind the inner one may have run it a different number of times.
bool Warp::goes_back_together(std::int32_t loop) {
  if (!assumed_.empty() || !assumed_truths_.empty()) return clean().goes_back_together(loop);
  auto const& backs = execution_.backs[static_cast<std::size_t>(loop)];
  if (backs.empty()) return true;
  // By induction over the iterations: all lanes are together so far.
  auto const [at, fresh] = backs_.try_emplace(loop, true);
  if (!fresh) return at->second;
  bool const all =
      std::all_of(backs.begin(), backs.end(), [this](Id back) { return is_shared(truth(back)); });
  if (!all) forget();
  return backs_[loop] = all;
}

/// True if all lanes that are together in a loop are in the same iteration of it and of the loops around it.
bool Warp::has_common_iteration(std::int32_t loop) {
  for (; loop >= 0; loop = flow_.loops[static_cast<std::size_t>(loop)].parent)
    if (!goes_back_together(loop)) return false;
  return true;
}

Lanes Warp::of_phi(Id id, Phi const& phi, unsigned bits) {
  if (phi.kind != Phi::Kind::same && !goes_back_together(phi.loop)) return varying(id);
  auto const index = static_cast<std::size_t>(execution_.phi_of[node(id).value]);
  Id const counter = execution_.counters[static_cast<std::size_t>(phi.loop)];
  Lanes const k = counter != 0 ? atom(counter, 64) : Lanes{.state = Lanes::State::varying};
  if (k.pure() && k.lane[0] == 0) return value(phi.init, bits);
  if (k.pure() && phi.kind != Phi::Kind::same && phi.kind != Phi::Kind::affine)
    if (auto const now = iterated(id, k.lane[0])) {
      Lanes v;
      v.lane.fill(*now & low_bits(bits));
      return v;
    }
  switch (phi.kind) {
    case Phi::Kind::same:
      return value(phi.init, bits);
    case Phi::Kind::orbit:
      return atom(id, bits);
    case Phi::Kind::affine: {
      Lanes const& init = value(phi.init, bits);
      Lanes const& step = value(phi.step, bits);
      if (init.state != Lanes::State::split) return init;
      if (!step.split()) return step;
      if (step.pure() && step.uniform() && step.lane[0] == 0) return init;
      Lanes const k = atom(counter, bits);
      if (step.uniform()) {
        // init + k * step
        Lanes out = sum(init, k, step.lane[0], bits);
        for (auto const& [x, f] : step.terms) {
          if (k.pure()) {
            out = sum(out, atom(x, bits), f * k.lane[0], bits);
            continue;
          }
          Terms& terms = execution_.terms;
          out = sum(out, atom((Term{&terms, counter} * resized(Term{&terms, x}, 64)).id, bits), f, bits);
        }
        return out;
      }
      if (k.pure()) {
        Lanes const moved = scaled(step, k.lane[0], bits);
        return sum(init, moved, 1, bits);
      }
      return missing_value(k, "the step of a loop differs in the lanes");
    }
    case Phi::Kind::drift:
    case Phi::Kind::other:
      break;
  }
  Induction found = decide_phi(index, width(id));
  // The low ones of 16 bits that are extended by their sign.
  if (found.state == 0 && bits <= 16 && width(id) > 16) found = decide_phi(index, 16);
  if (found.state == 0)
    return k.split() && iterated(id, 0) ? missing_value(k, "a value that changes in a loop") : varying(id);
  Lanes const& init = value(phi.init, bits);
  // A number of few bits, like that of a stage: the same in all lanes, as its first value is.
  unsigned const zeros = std::min(zeros_of(init, bits), trailing_zeros(found.added));
  bool const known = !init.pure() || init.lane[0] == 0;
  if (init.uniform() && known && has_few_bits(id) && trailing_zeros(id) >= zeros) return atom(id, bits);
  return sum(init, atom(found.added, bits), 1, bits);
}

Warp& Warp::clean() {
  if (given_ != nullptr) return *given_;
  if (!clean_) clean_ = std::make_unique<Warp>(program_, flow_, execution_, launch_, number_);
  return *clean_;
}

/// A value that all lanes share, a multiple of 2^zeros: a part of another one.
Warp::Id Warp::fresh_atom(unsigned bits, unsigned zeros, Id part_of) {
  Leaf rest;
  rest.kind = Leaf::Kind::undefined;  // it has no name
  rest.args = {part_of};
  rest.width = static_cast<std::uint8_t>(bits);
  Id const id = execution_.terms.variable(bits, bits, {}).id;
  execution_.leaves.push_back(rest);
  execution_.phi_of.push_back(-1);
  std::uint64_t const low = low_bits(std::min(zeros, bits));
  facts_[id] = {low | ~low_bits(bits), low_bits(bits) & ~low};
  return id;
}

/// Drops what was computed under a hypothesis that failed.
void Warp::forget() {
  forgotten_.push_back(std::exchange(memo_, {}));
  truths_.clear(), machines_.clear();
  // A loop that failed fails with less that is assumed, too.
  std::erase_if(leaves_, [](auto const& one) { return one.second != Leaves::apart; });
  std::erase_if(backs_, [](auto const& one) { return one.second; });
  std::erase_if(inductions_, [](auto const& one) { return one.second.state == 3; });
}

/// The sum beyond its first value that a phi has after an iteration, `added` being that before it. A drift adds its step: the lanes may start
/// from different values.
Lanes Warp::movement(Phi const& phi, Id added, unsigned w) {
  if (phi.kind == Phi::Kind::drift)  // its first value may wait for a condition
    if (Lanes const step = value(phi.step, w); step.split()) return sum(atom(added, w), step, 1, w);
  Lanes const init = value(phi.init, w);
  if (!init.split()) return init;
  return sum(value(phi.back, w), init, ~std::uint64_t{0}, w);
}

/// Steps in all inductions of a warp and of a kernel, beyond which registers at headers are not decided.
constexpr std::uint64_t most_induction_steps = 500'000, most_of_kernel = 4'000'000;

/// True if a phi is its first value plus something that all lanes share, a multiple of 2^zeros. By induction over the
/// iterations: if it is so, and the phis that are being decided are, then its next value is so too.
Warp::Induction Warp::decide_phi(std::size_t index, unsigned w) {
  if (!assumed_.empty() || !assumed_truths_.empty()) return clean().decide_phi(index, w);
  if (auto const found = inductions_.find({index, w}); found != inductions_.end()) return found->second;
  bool const outermost = std::none_of(inductions_.begin(), inductions_.end(),
                                      [](auto const& one) { return one.second.state == 2; });
  // Loops within loops may try each other's registers again and again: what is left of them after that varies.
  if (outermost) induction_start_ = steps_;
  std::uint64_t const now = steps_ - induction_start_;
  if (induction_steps_ + now > most_induction_steps || execution_.induction_steps + now > most_of_kernel)
    return inductions_[{index, w}] = {0, 0};
  Phi const phi = execution_.phis[index];
  bool proved = false;
  Id added = 0;
  unsigned zeros = std::min(w, 12U);
  for (unsigned attempt = 0; attempt < 4; ++attempt) {
    added = fresh_atom(w, zeros, phi.node);
    inductions_[{index, w}] = {2, added};
    Lanes const moved = movement(phi, added, w);
    if (!moved.uniform()) break;
    unsigned const found = std::min(
        zeros_of(moved, w), moved.lane[0] == 0 ? w : static_cast<unsigned>(std::countr_zero(moved.lane[0])));
    proved = found >= zeros;
    if (proved) break;
    zeros = attempt == 2 ? 0 : std::min(zeros - 1, found);
    forget();
  }
  if (outermost) {
    induction_steps_ += steps_ - induction_start_;
    execution_.induction_steps += steps_ - induction_start_;
  }
  if (!proved) {
    forget();
    return inductions_[{index, w}] = {0, 0};
  }
  if (!outermost) return inductions_[{index, w}] = {3, added};
  for (auto& [i, one] : inductions_)
    if (one.state == 3) one.state = 1;
  return inductions_[{index, w}] = {1, added};
}

Lanes Warp::shuffled(Id id, Leaf const& l, unsigned bits) {
  Lanes const v = value(l.args[0], bits), b = value(l.args[1], 32), c = value(l.args[2], 32);
  if (v.state == Lanes::State::stuck) return v;
  // A lane that the warp lacks, or that does not execute the shuffle, gives any value.
  LaneTruths const on = truth(l.args[3]);
  if (on.stuck) return {Lanes::State::stuck, on.why};
  // All lanes of the mask execute it, if nothing shows that one does not: it takes another branch, or has left a loop around it.
  bool exact = l.offset != 0 && has_common_iteration(l.loop), sure = true;
  for (std::int32_t loop = l.loop; exact && loop >= 0;
       loop = flow_.loops[static_cast<std::size_t>(loop)].parent) {
    Leaves const how = leaves(loop);
    exact = how != Leaves::apart, sure = sure && how == Leaves::together;
  }
  std::uint32_t const together = on.atom != 0 ? on.rest() : 0, readers = present_ & ~on.no;
  bool const lost = on.rest() != 0 && on.atom == 0 && is_lost(l.args[3]);
  auto const gives = [&](unsigned from, unsigned to) {
    if (from == to) return true;
    if (!exact || (present_ >> from & 1) == 0 || (on.no >> from & 1) != 0) return false;
    bool const known = (on.yes >> from & 1) != 0 || (together >> from & together >> to & 1) != 0;
    execution_.assumes_sources = execution_.assumes_sources || (known ? !sure : lost);
    return known || lost;
  };
  bool all_give = exact && present_ == ~0U;
  for (unsigned lane = 0; lane < 32 && all_give; ++lane) all_give = gives(lane, (lane + 1) % 32);
  if (v.uniform() && all_give) return v;
  bool const full = c.pure() && c.uniform();
  auto const mode = static_cast<Shuffle>(l.extra);
  if (!v.split()) {
    // One lane's value in all of them: not known, but the same.
    bool const one = mode == Shuffle::idx && full && (c.lane[0] & 0x1f1f) == 0x1f && b.uniform();
    return one && all_give ? atom(id, bits) : varying(v.why);
  }
  if (!b.split()) return b;
  if (!full || !b.pure()) return varying(id);
  Lanes out = v;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned const from = shuffle_source(mode, lane, static_cast<std::uint32_t>(b.lane[lane]),
                                         static_cast<std::uint32_t>(c.lane[0]));
    if ((readers >> lane & 1) != 0 && !gives(from, lane)) return varying(id);
    out.lane[lane] = v.lane[from];
  }
  return out;
}

std::optional<std::vector<std::uint64_t>> Warp::domain(Id id, std::size_t most) {
  Node const n = node(id);
  if (n.op == Op::variable && execution_.leaves[n.value].kind == Leaf::Kind::phi) {
    Phi const& p = execution_.phis[static_cast<std::size_t>(execution_.phi_of[n.value])];
    if (p.kind == Phi::Kind::orbit && p.values.size() <= most) return p.values;
  }
  Facts const f = facts(id);
  if (f.most >= most * 64) return std::nullopt;
  std::vector<std::uint64_t> values;
  for (std::uint64_t v = 0; v <= f.most; ++v)
    if ((v & f.zeros) == 0) values.push_back(v);
  if (values.size() > most) return std::nullopt;
  return values;
}

// --------------------------------------------------------------------------------------- truths

LaneTruths Warp::atom_truth(Id id) {
  LaneTruths t;
  if (node(id).op == Op::truth) {
    (node(id).value != 0 ? t.yes : t.no) = ~0U;
    return t;
  }
  bool negated = false;
  Id at = id;
  while (node(at).op == Op::negation) at = node(at).a, negated = !negated;
  if (auto const found = ask(at) ? assumed_truths_.find(at) : assumed_truths_.end();
      found != assumed_truths_.end()) {
    (found->second != negated ? t.yes : t.no) = ~0U;
    return t;
  }
  t.atom = id;
  return t;
}

LaneTruths Warp::truth(Id id) {
  if (auto const found = truths_.find(id); found != truths_.end() && holds(found->second))
    return found->second.value;
  if (depth_ > deepest_term)
    return {0, 0, 0, stuck({Request::Kind::none, 0, 0, "a condition is nested too deeply"}).why, true};
  if (depth_ == 0) forgotten_.clear();
  ++steps_;
  return keep(truths_, id, [&] {
    ++depth_;
    LaneTruths const t = compute_truth(id);
    --depth_;
    return t;
  });
}

LaneTruths Warp::compute_truth(Id id) {
  Node const n = node(id);
  LaneTruths t;
  if (n.op == Op::truth) return atom_truth(id);
  if (n.op == Op::eq || n.op == Op::ult) return relation(id);
  if (n.op == Op::negation) {
    t = truth(n.a);
    std::swap(t.yes, t.no);
    if (t.atom != 0) t.atom = execution_.terms.add({Op::negation, 0, t.atom});
    return t;
  }
  // Two truths. What one of them settles needs no other.
  bool const conjunction = n.op == Op::conjunction;
  LaneTruths const a = truth(n.a), b = truth(n.b);
  t.yes = conjunction ? a.yes & b.yes : a.yes | b.yes;
  t.no = conjunction ? a.no | b.no : a.no & b.no;
  std::uint32_t const rest = t.rest();
  if (rest == 0) return t;
  std::uint32_t const only_a = rest & a.rest() & ~b.rest(), only_b = rest & b.rest() & ~a.rest(),
                      both = rest & a.rest() & b.rest();
  bool const stuck_a = (only_a | both) != 0 && a.stuck, stuck_b = (only_b | both) != 0 && b.stuck;
  t.stuck = stuck_a || stuck_b;
  t.why = stuck_a ? a.why : stuck_b ? b.why : (only_a | both) != 0 && a.atom == 0 ? a.why : b.why;
  Id found = 0;
  bool mixed = false;
  auto const meet = [&](std::uint32_t lanes, Id atom) {
    if (lanes == 0) return;
    mixed = mixed || atom == 0 || (found != 0 && found != atom);
    found = atom;
  };
  meet(only_a, a.atom);
  meet(only_b, b.atom);
  if (both != 0)
    meet(both, a.atom != 0 && b.atom != 0
                   ? (a.atom == b.atom ? a.atom : execution_.terms.add({n.op, 0, a.atom, b.atom}))
                   : 0);
  if (mixed || found == 0) return t;
  LaneTruths const known = atom_truth(found);  // it may be assumed as a whole
  t.atom = known.atom;
  t.yes |= known.yes & rest, t.no |= known.no & rest;
  return t;
}

LaneTruths Warp::relation(Id id) {
  Node const n = node(id);
  unsigned const w = width(n.a);
  LaneTruths t;
  Lanes const a = value(n.a, w), b = value(n.b, w);
  if (!a.split() || !b.split()) {
    t.stuck = a.state == Lanes::State::stuck || b.state == Lanes::State::stuck;
    Lanes::State const worst = t.stuck ? Lanes::State::stuck : Lanes::State::varying;
    t.why = a.state == worst ? a.why : b.why;
    return t;
  }
  auto const set = [&](unsigned lane, bool yes) { (yes ? t.yes : t.no) |= 1U << lane; };
  if (a.pure() && b.pure()) {
    for (unsigned l = 0; l < 32; ++l) set(l, n.op == Op::eq ? a.lane[l] == b.lane[l] : a.lane[l] < b.lane[l]);
    return t;
  }
  Range const x = range(a, w), y = range(b, w);
  for (unsigned l = 0; l < 32; ++l) {
    if (x.most[l] < y.least[l])
      set(l, n.op == Op::ult);
    else if (n.op == Op::ult ? x.least[l] >= y.most[l] : x.least[l] > y.most[l])
      set(l, false);
  }
  if (n.op == Op::eq) {
    Lanes const d = sum(a, b, ~std::uint64_t{0}, w);
    unsigned const zeros = zeros_of(d, w);
    for (unsigned l = 0; l < 32; ++l) {
      if (d.terms.empty())
        set(l, d.lane[l] == 0);
      else if ((d.lane[l] & low_bits(zeros)) != 0)
        set(l, false);
    }
  }
  if (t.rest() == 0) return t;
  if (a.uniform() && b.uniform()) {
    Node m = n;
    m.a = node_of(a, w), m.b = node_of(b, w);
    return atom_truth(execution_.terms.add(m));
  }
  t.why = id;  // a number of the lane is compared with a value that is not known
  return t;
}

}  // namespace swizproof::execution
