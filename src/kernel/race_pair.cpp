#include "race_pair.hpp"

#include "known_bits.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace swizproof::kernel_detail {

using execution::Leaf;
using execution::Phi;
using program::Special;

namespace {

constexpr std::uint64_t most_shared = 1 << 18;  ///< bytes: more than a block can have
constexpr std::size_t most_orbit_values = 64;   ///< of a register at a header, that are told apart

constexpr unsigned leaders = 2;                 ///< numbers of threads that are first lanes begin here
constexpr std::size_t most_leader_nodes = 200;  ///< of a value that they give
constexpr std::uint64_t most_turns = 5'000;     ///< of a loop that is followed
constexpr std::uint64_t most_in_z = 64;         ///< threads of a block [CUDA C++ Programming Guide, 20.9.3]
constexpr std::uint64_t most_blocks_in_y = 65535;  ///< and in z, of a grid [the same]

/// Kinds of keys of variables.
enum Key : std::uint64_t {
  of_thread,
  of_shape,
  of_block,
  of_blocks,
  of_param,
  of_counter,
  of_node,
  of_function,
  of_memory,
  of_machine
};

/// True if a term is at most another one, for it is that one shifted right, divided or masked.
bool shrinks(execution::Execution const& execution, std::uint32_t term, std::uint32_t than) {
  if (term == than) return true;
  Node const& n = execution.node(term);
  switch (n.op) {
    case Op::bv_lshr:
    case Op::bv_urem:
      return shrinks(execution, n.a, than);
    case Op::bv_udiv:
      return shrinks(execution, n.a, than) && execution.node(n.b).op == Op::constant &&
             execution.node(n.b).value != 0;
    case Op::bv_and:
      return shrinks(execution, n.a, than) || shrinks(execution, n.b, than);
    case Op::ite:
      return shrinks(execution, n.b, than) && shrinks(execution, n.c, than);
    default:
      return false;
  }
}

/// A thread, by its number in the block, is of these warps.
Formula is_of(WarpSet warps, Term thread) {
  if (warps == all_warps) return true;
  Term const warp = shr(thread, 5);
  Formula out = false;
  for (unsigned w = 0; w < 32; ++w)
    if ((warps >> w & 1) != 0) out = out || warp == like(warp, w);
  return out;
}

/// True for a value that each lane of a warp gets from its first one [PTX ISA 9.1, shfl.sync], and that is a function of the thread and the launch.
bool is_of_first_lane(execution::Execution const& execution, BlockShapes const& shapes, Leaf const& l) {
  auto const is = [&](std::uint32_t id, std::uint64_t value) {
    return execution.node(id).op == Op::constant && execution.node(id).value == value;
  };
  if (static_cast<program::Shuffle>(l.extra) != program::Shuffle::idx || !is(l.args[1], 0) ||
      !is(l.args[2], 31) || (!shapes.given && shapes.dimensions != 1))
    return false;
  Walk walk(l.args[0], most_leader_nodes);
  while (auto const id = walk.next()) {
    walk.add(operands(execution.node(*id)));
    Leaf const* const at = execution.leaf_at(*id);
    if (at == nullptr || at->kind == Leaf::Kind::symbol || at->kind == Leaf::Kind::param) continue;
    bool const shuffle = at->kind == Leaf::Kind::shuffle && is_of_first_lane(execution, shapes, *at);
    if (!shuffle && (at->kind != Leaf::Kind::special || static_cast<Special>(at->extra) > Special::laneid))
      return false;
  }
  return !walk.over();
}

/// The states that the registers of a loop run through together which depend on constants and on each other alone.
std::map<std::uint32_t, std::vector<std::uint64_t>> machine_of(execution::Execution const& execution,
                                                               std::int32_t loop) {
  std::map<std::uint32_t, std::uint64_t> state;
  for (Phi const& p : execution.phis)
    if (p.loop == loop && p.kind == Phi::Kind::orbit) state[p.node] = execution.node(p.init).value;
  auto const open = [&](std::pair<std::uint32_t const, std::uint64_t> const& one) {
    Walk walk(execution.phi_at(one.first)->back);
    while (auto const id = walk.next()) {
      walk.add(operands(execution.node(*id)));
      if (execution.leaf_at(*id) != nullptr && state.count(*id) == 0) return true;
    }
    return false;
  };
  while (std::erase_if(state, open) != 0) {
  }
  std::set<std::map<std::uint32_t, std::uint64_t>> seen;
  std::map<std::uint32_t, std::vector<std::uint64_t>> out;
  while (seen.insert(state).second) {
    if (seen.size() > most_orbit_values) return {};
    std::unordered_map<Id, std::uint64_t> known(state.begin(), state.end());
    for (auto& [id, value] : state) {
      out[id].push_back(value);
      value = number_of(execution.terms, execution.phi_at(id)->back, known);
    }
  }
  return out;
}

/// The last iteration of a loop that constants decide.
std::optional<std::uint64_t> last_turn(execution::Execution const& execution, std::int32_t loop) {
  auto const& exits = execution.exits[static_cast<std::size_t>(loop)];
  std::map<std::uint32_t, Phi const*> phis;
  Walk walk(exits, 300);
  while (auto const id = walk.next()) {
    walk.add(operands(execution.node(*id)));
    if (execution.leaf_at(*id) == nullptr) continue;
    Phi const* const p = execution.phi_at(*id);
    auto const constant = [&](std::uint32_t x) { return execution.node(x).op == Op::constant; };
    if (p == nullptr || p->loop != loop || p->kind != Phi::Kind::affine || !constant(p->init) ||
        !constant(p->step))
      return std::nullopt;
    phis[*id] = p;
  }
  if (walk.over()) return std::nullopt;
  for (std::uint64_t k = 0; k < most_turns; ++k) {
    std::unordered_map<std::uint32_t, std::uint64_t> known;
    for (auto const& [id, p] : phis)
      known[id] = (execution.node(p->init).value + k * execution.node(p->step).value) &
                  low_bits(execution.node(id).width);
    for (std::uint32_t const exit : exits)
      if (number_of(execution.terms, exit, known) != 0) return k;
  }
  return std::nullopt;
}

}  // namespace

void RacePair::begin(Terms& terms, std::span<Term const> given) {
  terms_ = &terms, given_ = given;
  facts_ = true;
  numbers_.clear(), unknowns_.clear(), values_.clear(), functions_.clear();
}

/// The variable with this key, as a word of its bits.
Term RacePair::unknown(std::vector<std::uint64_t> key, RaceUnknown what) {
  auto const [at, fresh] = numbers_.try_emplace(std::move(key), unknowns_.size());
  if (fresh) {
    std::size_t const n = unknowns_.size();
    values_.push_back(n < given_.size() ? given_[n]
                                        : terms_->variable(64, what.bits, "v" + std::to_string(n)));
    unknowns_.push_back(what);
  }
  return resized(values_[at->second], unknowns_[at->second].bits);
}

Term RacePair::shape(unsigned dimension) {
  if (shapes_.given) return word((*shapes_.given)[dimension]);
  if (dimension >= shapes_.dimensions) return word(1);
  bool const fresh = numbers_.count({of_shape, dimension}) == 0;
  Term const n = resized(unknown({of_shape, dimension}, {RaceUnknown::Kind::shape, 11, dimension, 0}), 32);
  if (!fresh) return n;
  facts_ = facts_ && word(0) < n && !(word(dimension == 2 ? most_in_z : shapes_.most) < n);
  if (dimension == 0 && shapes_.dimensions > 1) {
    Term const all = n * shape(1) * shape(2);  // these add facts of their own
    facts_ = facts_ && !(word(shapes_.most) < all);
  }
  return n;
}

Term RacePair::thread(unsigned number, unsigned dimension) {
  if (shapes_.given ? (*shapes_.given)[dimension] == 1 : dimension >= shapes_.dimensions) return word(0);
  if (number >= leaders) {
    Term const first = linear(number - leaders) & word(~std::uint64_t{31} & low_bits(32));
    if (!shapes_.given) return first;  // in one dimension
    std::uint64_t const x = (*shapes_.given)[0], y = (*shapes_.given)[1];
    return dimension == 0   ? first % word(x)
           : dimension == 1 ? first / word(x) % word(y)
                            : first / word(x * y);
  }
  bool const fresh = numbers_.count({of_thread, number, dimension}) == 0;
  Term const t = resized(
      unknown({of_thread, number, dimension}, {RaceUnknown::Kind::thread, 10, dimension, number}), 32);
  if (!fresh) return t;
  Term const n = shape(dimension);  // adds facts of its own
  facts_ = facts_ && t < n;
  return t;
}

Term RacePair::linear(unsigned number) {
  return thread(number, 0) + shape(0) * (thread(number, 1) + shape(1) * thread(number, 2));
}

/// `one`: one thread may make both, where another lane than that of the address may access the row of a matrix.
Formula RacePair::two_threads(Warps warps, bool one) {
  if (warps == Warps::own && !one) return true;
  Formula const here = is_of(within_, linear(0)) && is_of(within_, linear(1));
  Formula same = true;
  for (unsigned d = 0; d < 3; ++d) same = same && thread(0, d) == thread(1, d);
  Formula const one_warp = shr(linear(0), 5) == shr(linear(1), 5);
  Formula const where = warps == Warps::any ? Formula(true) : warps == Warps::two ? !one_warp : one_warp;
  return here && (Formula(one) || !same) && where;
}

RacePair::View RacePair::view(unsigned number, unsigned access, std::int32_t loop,
                              std::vector<Turn> const& turns) {
  View out;
  out.thread = number, out.access = access;
  std::size_t k = 0;
  for (std::int32_t const l : flow_.around(loop)) {
    Turn const turn = turns[k++];
    auto const index = static_cast<std::uint64_t>(l);
    Term counter = word(turn.by, 64);
    if (turn.from == Turn::From::any) {
      counter = unknown({of_counter, index, access}, {RaceUnknown::Kind::other, 64, 0, 0});
    } else if (turn.from == Turn::From::barrier) {
      Term const shared = unknown({of_counter, index}, {RaceUnknown::Kind::other, 64, 0, 0});
      counter = turn.by == 0 ? shared : shared + word(turn.by, 64);
      if (turn.by != 0) facts_ = facts_ && shared < word(1ULL << 63, 64);
    }
    out.turns[l] = {turn, counter.id};
  }
  return out;
}

/// The iteration before that of a view, of one loop: those within it are another matter.
RacePair::View& RacePair::before(View& of, std::int32_t loop) {
  std::unique_ptr<View>& out = of.before[loop];
  if (out) return *out;
  out = std::make_unique<View>();
  out->thread = of.thread, out->access = of.access;
  for (std::int32_t const l : flow_.around(loop)) out->turns[l] = of.turns.at(l);
  auto& [turn, counter] = out->turns[loop];
  Term const now{terms_, counter};
  bool const known = turn.from != Turn::From::any && turn.by > 0;
  turn = known ? Turn{turn.from, static_cast<std::uint8_t>(turn.by - 1)} : Turn{};
  Term const shared =
      unknown({of_counter, static_cast<std::uint64_t>(loop)}, {RaceUnknown::Kind::other, 64, 0, 0});
  counter = !known                           ? (now - word(1, 64)).id
            : turn.from == Turn::From::entry ? word(turn.by, 64).id
            : turn.by == 0                   ? shared.id
                                             : (shared + word(turn.by, 64)).id;
  return *out;
}

void RacePair::add_counters(std::int32_t loop, View const& of, std::vector<std::uint64_t>& key) const {
  for (std::int32_t const l : flow_.around(loop)) {
    auto const at = of.turns.find(l);
    key.push_back(at == of.turns.end() ? ~std::uint64_t{0} : at->second.second);
  }
}

Term RacePair::applied(std::vector<std::uint64_t> name, std::vector<Id> args, unsigned bits) {
  std::vector<std::uint64_t> key = name;
  key.insert(key.end(), args.begin(), args.end());
  bool const fresh = numbers_.count(key) == 0;
  Term const out = unknown(std::move(key), {RaceUnknown::Kind::other, bits, 0, 0});
  if (fresh) functions_.add(std::move(name), std::move(args), out);
  return out;
}

/// A value that is not known: one in both threads, or one in each.
Term RacePair::not_known(Id id, std::int32_t loop, bool shared, View& of, unsigned bits) {
  std::vector<std::uint64_t> key{of_node, id, shared ? 2 : of.thread};
  add_counters(loop, of, key);
  return unknown(std::move(key), {RaceUnknown::Kind::other, bits, 0, 0});
}

RacePair::Id RacePair::translated(Id start, View& of) {
  std::vector<Id> work{start};
  while (!work.empty()) {
    Id const id = work.back();
    if (of.memo.count(id) != 0) {
      work.pop_back();
      continue;
    }
    Node const n = execution_.node(id);
    if (n.op == Op::variable) {
      Id const out = leaf(id, of);
      of.memo[id] = out;
      work.pop_back();
      continue;
    }
    bool ready = true;
    for (Id const o : operands(n))
      if (of.memo.count(o) == 0) work.push_back(o), ready = false;
    if (!ready) continue;
    of.memo[id] = terms_->add(with_operands(n, [&](Id operand) { return of.memo[operand]; }));
    work.pop_back();
  }
  return of.memo[start];
}

RacePair::Id RacePair::leaf(Id id, View& of) {
  Node const n = execution_.node(id);
  Leaf const& l = *execution_.leaf_at(id);
  auto const sized = [&](Term t) { return resized(t, n.width).id; };
  switch (l.kind) {
    case Leaf::Kind::special:
      return special(l, of);
    case Leaf::Kind::symbol:
      if (auto const& at = program_.symbols[l.extra].placed) return word(*at, n.width).id;
      return sized(unknown({of_node, id}, {RaceUnknown::Kind::other, n.width, 0, 0}));
    case Leaf::Kind::param: {
      auto const given = params_.find(program_.symbols[l.extra].name);
      if (given != params_.end() && l.offset < 8)
        return word((given->second >> 8 * l.offset) & low_bits(n.width), n.width).id;
      return sized(unknown({of_param, l.extra, l.offset, n.width},
                           {RaceUnknown::Kind::param, n.width, l.extra, l.offset}));
    }
    case Leaf::Kind::counter: {
      auto const at = of.turns.find(l.loop);
      if (at != of.turns.end()) return sized(Term{terms_, at->second.second});
      break;
    }
    case Leaf::Kind::phi:
      return phi(id, *execution_.phi_at(id), of);
    case Leaf::Kind::exit:
      return behind_loop(id, l, of);
    case Leaf::Kind::opaque: {  // a function: of the same arguments the same
      std::vector<Id> args;
      for (Id const a : l.args) args.push_back(translated(a, of));
      return sized(applied({of_function, l.extra, n.width, l.offset}, std::move(args), n.width));
    }
    case Leaf::Kind::load:
      if (memory_ != nullptr && (*memory_)(program_, execution_, l))
        return sized(applied({of_memory, n.width}, {translated(l.args[0], of)}, n.width));
      break;
    case Leaf::Kind::voted:
      if (elects(program_, l)) return elected(id, l, of);
      break;
    case Leaf::Kind::shuffle:
      if (is_of_first_lane(execution_, shapes_, l)) return of_first_lane(l, of);
      break;
    default:
      break;
  }
  return sized(not_known(id, l.loop, uniform_(id), of, n.width));
}

RacePair::Id RacePair::of_first_lane(Leaf const& l, View& of) {
  if (of.thread >= leaders) return translated(l.args[0], of);  // of its own warp
  if (!of.leader) {
    of.leader = std::make_unique<View>();
    of.leader->thread = of.thread + leaders, of.leader->access = of.access;
  }
  return translated(l.args[0], *of.leader);
}

RacePair::Id RacePair::special(Leaf const& l, View& of) {
  if (execution::is_uniform(l))
    return unknown({of_node, ~std::uint64_t{0}, l.extra, l.width}, {RaceUnknown::Kind::other, l.width, 0, 0})
        .id;
  auto const s = static_cast<Special>(l.extra);
  auto const dimension = [&](Special first) {
    return static_cast<unsigned>(s) - static_cast<unsigned>(first);
  };
  auto const sized = [&](Term t) { return resized(t, l.width).id; };
  if (s <= Special::tid_z) return sized(thread(of.thread, dimension(Special::tid_x)));
  if (s <= Special::ntid_z) return sized(shape(dimension(Special::ntid_x)));
  if (s <= Special::nctaid_z) {
    bool const count = s >= Special::nctaid_x;
    unsigned const d = dimension(count ? Special::nctaid_x : Special::ctaid_x), bits = d == 0 ? 31 : 16;
    auto const number = [&](bool blocks) {
      return resized(unknown({blocks ? of_blocks : of_block, d},
                             {blocks ? RaceUnknown::Kind::blocks : RaceUnknown::Kind::block, bits, d, 0}),
                     32);
    };
    if (count && shapes_.grid) return sized(resized(word((*shapes_.grid)[d]), 32));
    if (shapes_.grid) facts_ = facts_ && number(false) < word((*shapes_.grid)[d]);
    if (count) facts_ = facts_ && number(false) < number(true);
    if (d != 0) facts_ = facts_ && number(false) < word(most_blocks_in_y);
    return sized(number(count));
  }
  if (s == Special::laneid) return sized(linear(of.thread) & word(31));
  return sized(unknown({of_node, ~std::uint64_t{1}, l.extra, of.thread, l.width},
                       {RaceUnknown::Kind::other, l.width, 0, 0}));
}

RacePair::Machine const& RacePair::machine(std::int32_t loop) {
  auto const [at, fresh] = machines_.try_emplace(loop);
  if (fresh) at->second = machine_of(execution_, loop);
  return at->second;
}

/// The value of a register in the state of its loop's machine, which registers of one iteration have in common; nothing if it has none.
std::optional<Term> RacePair::in_machine(Id id, Phi const& p, View& of) {
  Machine const& all = machine(p.loop);
  auto const values = all.find(id);
  if (values == all.end()) return std::nullopt;
  unsigned const width = execution_.node(id).width;
  std::vector<std::uint64_t> key{of_machine, static_cast<std::uint64_t>(p.loop)};
  add_counters(p.loop, of, key);
  Term const state = unknown(std::move(key), {RaceUnknown::Kind::other, 8, 0, 0});
  facts_ = facts_ && state < like(state, values->second.size());
  Term out = word(values->second[0], width);
  for (std::size_t k = 1; k < values->second.size(); ++k)
    out = select(state == like(state, k), word(values->second[k], width), out);
  return out;
}

RacePair::Id RacePair::phi(Id id, Phi const& p, View& of) {
  unsigned const width = execution_.node(id).width;
  if (p.kind == Phi::Kind::same) return translated(p.init, of);
  auto const at = of.turns.find(p.loop);
  if (at == of.turns.end()) return not_known(id, p.loop, false, of, width).id;
  auto const [turn, counter] = at->second;
  if (p.kind == Phi::Kind::affine) {
    Term const k = resized(Term{terms_, counter}, width);
    Id const init = translated(p.init, of), step = translated(p.step, of);
    return (Term{terms_, init} + k * Term{terms_, step}).id;
  }
  if (turn == Turn{Turn::From::entry}) return translated(p.init, of);
  if (turn.by > 0) return translated(p.back, before(of, p.loop));
  if (auto const known = in_machine(id, p, of)) return known->id;
  Term const value = not_known(id, p.loop, uniform_(id), of, width);
  if (p.kind == Phi::Kind::orbit && p.values.size() <= most_orbit_values) {
    Formula among = false;
    for (std::uint64_t const v : p.values) among = among || value == word(v, width);
    facts_ = facts_ && among;
  }
  if (shrinks(execution_, p.back, p.node)) {
    Term const first{terms_, translated(p.init, of)};  // adds facts of its own
    facts_ = facts_ && !(first < value);
  }
  return value.id;
}

/// A value behind a loop: that of the iteration in which the thread leaves it, whichever it is.
RacePair::Id RacePair::behind_loop(Id id, Leaf const& l, View& of) {
  std::unique_ptr<View>& last = of.behind[l.left];
  if (!last) {
    last = std::make_unique<View>();
    last->thread = of.thread, last->access = of.access;
    std::int32_t const parent = flow_.loops[static_cast<std::size_t>(l.left)].parent;
    std::vector<std::uint64_t> key{of_counter, static_cast<std::uint64_t>(l.left),
                                   uniform_.exits(l.left) ? 4U : 2U + of.thread};
    for (std::int32_t const o : flow_.around(parent))
      if (auto const at = of.turns.find(o); at != of.turns.end()) last->turns[o] = at->second;
    add_counters(parent, of, key);
    key.push_back(0);  // no key of a counter of the access itself
    last->turns[l.left] = {Turn{}, unknown(std::move(key), {RaceUnknown::Kind::other, 64, 0, 0}).id};
  }
  (void)id;
  return translated(l.args[0], *last);
}

std::optional<std::uint64_t> RacePair::last_iteration(std::int32_t loop) {
  auto const [at, fresh] = last_.try_emplace(loop, std::nullopt);
  if (fresh) at->second = last_turn(execution_, loop);
  return at->second;
}

/// A loop has come to its iteration: the one before took none of its exits.
void RacePair::continues(std::int32_t loop, View& of) {
  for (auto const& other : flow_.loops)
    if (other.parent == loop) return;
  Term const counter{terms_, of.turns.at(loop).second};
  if (auto const last = last_iteration(loop)) facts_ = facts_ && !(word(*last, 64) < counter);
  if (of.turns.at(loop).first == Turn{Turn::From::entry}) return;
  Formula stays = true;
  for (Id const exit : execution_.exits[static_cast<std::size_t>(loop)])
    stays = stays && !Formula(terms_, translated(exit, before(of, loop)));
  facts_ = facts_ && (counter == word(0, 64) || stays);
}

/// An access stays in its array: one that does not is a fault of its own.
Formula RacePair::inside(Term address, std::int64_t array, unsigned bytes) {
  if (array < 0 || !program_.symbols[static_cast<std::size_t>(array)].placed)
    return address < word(most_shared);
  program::Variable const& v = program_.symbols[static_cast<std::size_t>(array)];
  std::uint64_t const size = v.extern_array ? most_shared : v.bytes;
  return address - word(*v.placed) < word(size < bytes ? 1 : size - bytes + 1);
}

/// In the iteration before, too, if the thread executed the access there.
void RacePair::stayed(execution::ExecutedAccess const& e, SharedAccess const& access, View& of) {
  if (!e.exact || e.loop < 0 || access.tile) return;
  Term const counter{terms_, of.turns.at(e.loop).second};
  View& last = before(of, e.loop);
  Formula const guard(terms_, translated(e.guard, last));
  Term const address = resized(Term{terms_, translated(e.address, last)}, 32);
  facts_ = facts_ && (counter == word(0, 64) || !guard || inside(address, access.array, access.bytes));
}

/// First byte of an access, and their number: of a descriptor those of all pieces in which the swizzle moves what it reads.
std::pair<Term, Term> RacePair::bytes_of(Term address, SharedAccess const& access) {
  if (!access.tile) {
    Term const first = resized(address, 32);
    facts_ = facts_ && inside(first, access.array, access.bytes);
    return {first, access.end != 0 ? word(access.end) - first : word(access.bytes)};
  }
  Term const start = shl(resized(address, 32) & word(start_mask), 4);
  facts_ = facts_ && inside(start, access.array, access.tile->extent);
  Term const pieces = word(~std::uint64_t{access.tile->piece() - 1} & low_bits(32));
  Term const first = start & pieces, last = start + word(access.tile->extent - 1);
  return {first, (last & pieces) + word(access.tile->piece()) - first};
}

Formula RacePair::meets(Visit const& a, Visit const& b, std::array<SharedAccess const*, 2> what, Warps warps,
                        bool earlier) {
  Visit const* const both[] = {&a, &b};
  std::vector<std::pair<Term, Term>> bytes;
  std::array<std::vector<Term>, 2> values;
  Formula guards = true;
  // Matrices of one form: the lane that gives an address decides which lanes access the row.
  bool const lanes = what[0]->matrix != what[1]->matrix;
  for (unsigned t = 0; t < 2; ++t) {
    execution::ExecutedAccess const& e = execution_.accesses[both[t]->access];
    View of = view(warps == Warps::own && !lanes ? 0 : t, t, e.loop, both[t]->turns);
    guards = guards && Formula(terms_, translated(e.guard, of));
    if (what[t]->givers < 32) guards = guards && (linear(of.thread) & word(31)) < word(what[t]->givers);
    Term const address{terms_, translated(e.address, of)};
    for (std::int32_t const l : flow_.around(e.loop)) continues(l, of);
    bytes.push_back(bytes_of(address, *what[t]));
    if (earlier) stayed(e, *what[t], of);
    for (Id const value : e.values) values[t].push_back({terms_, translated(value, of)});
  }
  Formula const overlap =
      bytes[1].first - bytes[0].first < bytes[0].second || bytes[0].first - bytes[1].first < bytes[1].second;
  Formula const threads = two_threads(warps, lanes);
  bool const comparable =
      !values[0].empty() && values[0].size() == values[1].size() && what[0]->bytes == what[1]->bytes;
  Formula same = comparable ? bytes[0].first == bytes[1].first : Formula(false);
  for (std::size_t k = 0; comparable && k < values[0].size(); ++k)
    same = same && values[0][k] == values[1][k];
  if (comparable && memory_ != nullptr) facts_ = facts_ && functions_.consistent(*terms_);
  return facts_ && guards && overlap && threads && !same;
}

Formula RacePair::twice(std::uint32_t access) {
  Formula guards = true;
  for (unsigned t = 0; t < 2; ++t) {
    View of = view(t, t, -1, {});
    guards = guards && Formula(terms_, translated(execution_.accesses[access].guard, of));
  }
  Formula const threads = two_threads(Warps::any);
  return facts_ && guards && threads;
}

/// The lane that elect.sync elects: one in all threads of a warp.
RacePair::Id RacePair::elected(Id id, Leaf const& l, View& of) {
  Node const& mask = execution_.node(l.args[0]);
  unsigned const width = execution_.node(id).width;
  bool const all = mask.op == Op::constant && mask.value == low_bits(32);
  if (all && shapes_.lane_0_leads) return word(0, width).id;
  Term const mine = not_known(id, l.loop, false, of, width);
  if (l.loop >= 0 || !all) return mine.id;
  View other;
  other.thread = 1 - of.thread;
  Term const theirs = not_known(id, l.loop, false, other, width);
  Formula const one_warp = shr(linear(0), 5) == shr(linear(1), 5);
  facts_ = facts_ && (!one_warp || mine == theirs);
  return mine.id;
}

Formula RacePair::differs(std::uint32_t block, std::uint32_t truth, Warps warps) {
  std::vector<Formula> values;
  for (unsigned t = 0; t < 2; ++t) {
    std::vector<Turn> turns;
    for ([[maybe_unused]] std::int32_t const l : flow_.around(flow_.loop[block]))
      turns.push_back({Turn::From::barrier});
    View of = view(t, t, flow_.loop[block], turns);
    values.emplace_back(terms_, translated(truth, of));
  }
  Formula const threads = two_threads(warps);
  return facts_ && threads && ((values[0] && !values[1]) || (!values[0] && values[1]));
}

}  // namespace swizproof::kernel_detail
