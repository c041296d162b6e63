#include "origins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::maps;
using execution::Phi;
using execution::Warp;
using program::Block;
using program::Space;

namespace {

constexpr std::size_t most_nodes = 2000;  ///< of a walk to the roots of a term

}  // namespace

void Origins::add_summands(Id id, Walk& walk) const {
  Node const& n = execution_.node(id);
  for (Id const operand : operands(n))
    if (n.op != Op::ite || execution_.node(operand).width != 0) walk.add(operand);
  Leaf const* const l = leaf_at(id);
  if (l != nullptr && l->kind == Leaf::Kind::phi) walk.add(phi_at(id).init);
  if (l != nullptr && (l->kind == Leaf::Kind::exit || l->kind == Leaf::Kind::shuffle))
    walk.add(passed(id, *l));
}

void Origins::follow(Id shuffle, Id value) {
  if (!followed_.insert_or_assign(shuffle, value).second) return;
  roots_.clear(), alone_.clear();
}

/// The term whose value a leaf passes on; of a shuffle that is followed, the term that is read.
Id Origins::passed(Id id, Leaf const& leaf) const {
  auto const at = followed_.find(id);
  return at == followed_.end() ? leaf.args[0] : at->second;
}

/// The root of a sum: that of the summand which has one.
Origins::Root Origins::summed(Root a, Root b) {
  if (a == Root::none || a == b) return b;
  return b == Root::none ? a : Root::mixed;
}

/// The root of one of two values: shared memory only if both are.
Origins::Root Origins::chosen(Root a, Root b) {
  if (a == b) return a;
  return a == Root::shared || b == Root::shared || a == Root::mixed || b == Root::mixed ? Root::mixed
                                                                                        : Root::other;
}

/// Terms that the root of a node comes from, at most two.
std::array<Id, 2> Origins::parts_of_root(Id id) const {
  Node const& n = execution_.node(id);
  if (Phi const* const phi = execution_.phi_at(id)) return {phi->init, 0};
  if (Leaf const* const l = leaf_at(id);
      l != nullptr && (l->kind == Leaf::Kind::exit || l->kind == Leaf::Kind::shuffle))
    return {passed(id, *l), 0};
  if (n.op == Op::ite) return {n.b, n.c};
  unsigned const count = operand_count(n.op);
  return {count > 0 ? n.a : 0, count > 1 ? n.b : 0};
}

Origins::Root Origins::root_of(Id id, std::uint32_t& symbol) const {
  auto const [at, fresh] = roots_.try_emplace(id, Root::none, ~0U);
  if (fresh) at->second.first = find_root(id, at->second.second);
  if (at->second.second != ~0U) symbol = at->second.second;
  return at->second.first;
}

Origins::Root Origins::find_root(Id id, std::uint32_t& symbol) const {
  std::unordered_map<Id, Root> roots;
  std::vector<Id> work{id};
  while (!work.empty()) {
    Id const at = work.back();
    auto const [entry, fresh] = roots.try_emplace(at, Root::none);
    auto const parts = parts_of_root(at);
    if (roots.size() > most_nodes) return Root::mixed;
    if (fresh) {
      for (Id const part : parts)
        if (part != 0 && !roots.contains(part)) work.push_back(part);
      if (work.back() != at) continue;
    }
    work.pop_back();
    Leaf const* const leaf = leaf_at(at);
    if (leaf != nullptr && leaf->kind == Leaf::Kind::symbol) {
      std::uint32_t const variable = leaf->extra;
      bool const shared = program_.symbols[variable].space == Space::shared;
      if (shared) symbol = variable;
      roots[at] = shared ? Root::shared : Root::other;
      continue;
    }
    auto const root = [&](Id part) { return part == 0 ? Root::none : roots.at(part); };
    if (parts[0] == 0 || !roots.contains(parts[0]) || (parts[1] != 0 && !roots.contains(parts[1]))) continue;
    roots[at] = execution_.node(at).op == Op::ite ? chosen(root(parts[0]), root(parts[1]))
                                                  : summed(root(parts[0]), root(parts[1]));
  }
  return roots.at(id);
}

bool Origins::is_of_array(Id address, std::uint32_t symbol) const {
  auto const [at, fresh] = alone_.try_emplace(address, true);
  if (fresh)
    for (Id const id : leaves_of({address})) {
      Leaf const& l = *leaf_at(id);
      bool const shared = l.kind == Leaf::Kind::symbol && program_.symbols[l.extra].space == Space::shared;
      at->second = at->second && (!shared || l.extra == symbol);
    }
  return at->second;
}

bool Origins::may_leave_the_block(Id address) const {
  constexpr std::uint64_t within = low_bits(program::window_bits);
  Walk walk(address, most_nodes);
  while (auto const at = walk.next()) {
    Node const& n = execution_.node(*at);
    if (n.op == Op::bv_shl ||
        n.op == Op::bv_mul) {  // of an address it is an index, or the windows that mapa adds
      Leaf const *const a = leaf_at(n.a), *const b = leaf_at(n.b);
      if ((a != nullptr && maps(program_, *a)) || (b != nullptr && maps(program_, *b))) return true;
      continue;
    }
    for (auto const& [part, other] : {std::pair(n.a, n.b), std::pair(n.b, n.a)}) {
      if (n.op != Op::bv_and) break;
      Node const& mask = execution_.node(part);
      std::uint32_t symbol = 0;
      if (mask.op == Op::constant && (mask.value & within) == within && mask.value != low_bits(n.width) &&
          root_of(other, symbol) == Root::shared)
        return true;
    }
    add_summands(*at, walk);
  }
  return false;
}

bool Origins::of_launch(Leaf const& load) const {
  for (Id const id : leaves_of(load.args))
    if (!is_uniform(*leaf_at(id))) return false;
  return !load.args.empty() && !leaves_of(load.args).empty();
}

bool Origins::upper_word_of_parameter(Id id) const {
  bool parameter = false;
  Walk walk(id, most_nodes);
  while (auto const at = walk.next()) {
    Node const& n = execution_.node(*at);
    if (n.op == Op::bv_shl || (n.op == Op::bv_lshr && n.width == 64))
      walk.add(n.a);
    else if (n.op == Op::variable || n.op == Op::ite || n.op == Op::bv_add || n.op == Op::bv_sub ||
             n.op == Op::bv_or || n.op == Op::zero_extend || n.op == Op::truncate)
      add_summands(*at, walk);  // of a product it is an index
    if (n.op != Op::variable) continue;
    Leaf const& l = *leaf_at(*at);
    bool const in_memory = is_load(l) && of_launch(l);
    if (!in_memory && (is_load(l) || l.kind == Leaf::Kind::opaque || l.kind == Leaf::Kind::varying))
      return false;
    parameter = parameter || in_memory || l.kind == Leaf::Kind::param || is_uniform(l);
  }
  return parameter;
}

bool Origins::rooted_in_parameter(Id id) const {
  if (program_.language == "SASS") {
    // {upper, lower} + offset
    Node n = execution_.node(id);
    if (n.op == Op::bv_add && execution_.node(n.b).op == Op::constant)
      n = execution_.node(n.a);
    else if (n.op == Op::bv_add && execution_.node(n.a).op == Op::constant)
      n = execution_.node(n.b);
    if (n.op != Op::bv_or) return false;
    for (Id const half : {n.a, n.b})
      if (execution_.node(half).op == Op::bv_shl) return upper_word_of_parameter(half);
    return false;
  }
  bool parameter = false;
  Walk walk(id, most_nodes);
  while (auto const at = walk.next()) {
    add_summands(*at, walk);
    Leaf const* const l = leaf_at(*at);
    if (l == nullptr || l->width != 64) continue;
    if (l->kind == Leaf::Kind::load) return false;
    parameter = parameter || l->kind == Leaf::Kind::param;
  }
  return parameter;
}

bool Origins::is_elsewhere(Root root, Id address) const {
  if (root == Root::mixed) return false;
  return root == Root::other || rooted_in_parameter(address) || !program_.makes_generic;
}

Id Origins::node_of_symbol(std::uint32_t symbol) {
  if (symbols_.empty())
    for (Id id = 0; id < execution_.terms.nodes().size(); ++id)
      if (Leaf const* const l = leaf_at(id); l != nullptr && l->kind == Leaf::Kind::symbol)
        symbols_[l->extra] = id;
  auto const found = symbols_.find(symbol);
  return found == symbols_.end() ? 0 : found->second;
}

Leaf const* Origins::leaf_at(Id id) const { return execution_.leaf_at(id); }

Phi const& Origins::phi_at(Id id) const { return *execution_.phi_at(id); }

std::string Origins::text_of(Id id) const {
  if (leaf_at(id) == nullptr)
    return with_line("a number of the lane that is compared with a value that is not known", id);
  Leaf const& l = *leaf_at(id);
  switch (l.kind) {
    case Leaf::Kind::shuffle:
      return fmt::format("the shuffle at {} line {}", program_.language, l.line);
    case Leaf::Kind::phi:
      return fmt::format("a value that changes in the loop at {} line {}", program_.language,
                         loop_line(phi_at(id).loop));
    case Leaf::Kind::exit:
      return fmt::format("the iteration in which each lane leaves the loop at {} line {}", program_.language,
                         loop_line(l.left));
    case Leaf::Kind::undefined:
      if (!l.args.empty()) return with_line("a value that is not followed", l.args[0]);
      return fmt::format("{}, which may not have been written",
                         l.extra < program_.registers.size() ? program_.registers[l.extra] : "a register");
    case Leaf::Kind::load:
      return fmt::format("the load at {} line {}", program_.language, l.line);
    default:
      break;
  }
  std::string const& name = program_.names[l.extra];
  if (is_load(l))
    return fmt::format("the {} at {} line {}",
                       name.starts_with("atom") || name.starts_with("ATOM") ? "atomic" : "load",
                       program_.language, l.line);
  return fmt::format("{} at {} line {}, which is not modelled", name, program_.language, l.line);
}

std::string Origins::with_line(std::string reason, Id term, std::uint32_t line) const {
  if (reason.find(" line") != reason.npos) return reason;
  std::uint32_t made = 0;
  Walk walk(term, most_nodes);
  for (Id last = 0; auto const at = walk.next();) {
    Leaf const* const l = leaf_at(*at);
    if (*at >= execution_.lines.size()) {
      walk.add(operands(execution_.node(*at)));
      if (l != nullptr) walk.add(l->args);
    } else if (*at > last && execution_.node(*at).op != Op::constant &&
               execution_.node(*at).op != Op::truth) {
      last = *at, made = execution_.lines[*at];
    }
  }
  if (made == 0) made = line;
  return made == 0 ? reason : fmt::format("{} ({} line {})", reason, program_.language, made);
}

std::uint32_t Origins::loop_line(std::int32_t loop) const {
  Block const& b = program_.blocks[flow_.loops[static_cast<std::size_t>(loop)].header];
  return b.first < program_.steps.size() ? program_.steps[b.first].line : b.line;
}

std::vector<Id> Origins::leaves_of(std::vector<Id> work) const {
  std::vector<Id> leaves;
  marks_.resize(execution_.terms.nodes().size());
  ++mark_;
  while (!work.empty()) {
    Id const at = work.back();
    work.pop_back();
    Node const& n = execution_.terms.nodes()[at];
    if (n.op == Op::constant || n.op == Op::truth || std::exchange(marks_[at], mark_) == mark_) continue;
    if (n.op != Op::variable) {
      for (Id const operand : operands(n)) work.push_back(operand);
      continue;
    }
    leaves.push_back(at);
    Leaf const& l = execution_.leaves[n.value];
    if (is_load(l)) continue;
    work.insert(work.end(), l.args.begin(), l.args.end());
    if (l.kind == Leaf::Kind::shuffle) work.pop_back();  // which lanes execute it
    if (l.kind == Leaf::Kind::phi) work.insert(work.end(), {phi_at(at).init, phi_at(at).back});
    if (l.kind == Leaf::Kind::exit) {
      auto const& exits = execution_.exits[static_cast<std::size_t>(l.left)];
      work.insert(work.end(), exits.begin(), exits.end());
    }
  }
  return leaves;
}

std::vector<Id> Origins::arrays_of(std::vector<Id> terms) const {
  std::vector<Id> all = leaves_of(std::move(terms));
  std::erase_if(all, [&](Id id) {
    Leaf const& l = *leaf_at(id);
    return l.kind != Leaf::Kind::symbol || program_.symbols[l.extra].space != program::Space::shared;
  });
  return all;
}

Origins::Summands Origins::summands_of(Id id, std::vector<Id>& rest, unsigned depth) const {
  constexpr unsigned deepest = 12;  // terms; a variable below them counts as one that is not a summand
  Node const& n = execution_.terms.nodes()[id];
  Leaf const* const l = leaf_at(id);
  if (l != nullptr && l->kind == Leaf::Kind::symbol) return {{l->extra, 1U}};
  bool const sum = n.op == Op::bv_add || n.op == Op::bv_sub, choice = n.op == Op::ite,
             same = n.op == Op::zero_extend || n.op == Op::truncate;
  if (depth >= deepest || !(sum || choice || same)) {
    rest.push_back(id);
    return {};
  }
  if (choice || n.op == Op::bv_sub) rest.push_back(choice ? n.a : n.b);
  Summands all = summands_of(choice ? n.b : n.a, rest, depth + 1);
  if (!choice && n.op != Op::bv_add) return all;
  for (auto const& [symbol, times] : summands_of(choice ? n.c : n.b, rest, depth + 1))
    all[symbol] = choice ? std::max(all[symbol], times) : all[symbol] + times;
  return all;
}

std::set<std::uint32_t> Origins::bases_of(execution::ExecutedAccess const& access, unsigned bytes,
                                          unsigned turn) const {
  std::set<std::uint32_t> symbols;
  std::vector<Id> rest{access.guard};
  Summands const all = summands_of(access.address, rest, 0);
  for (auto const& [symbol, times] : all)
    if (times > 1 || all.size() > 1 || (bytes < turn && program_.symbols[symbol].align < turn))
      symbols.insert(symbol);
  for (Id const id : leaves_of(rest)) {
    Leaf const& l = *leaf_at(id);
    if (l.kind == Leaf::Kind::symbol && program_.symbols[l.extra].space == program::Space::shared)
      symbols.insert(l.extra);
  }
  return symbols;
}

Origin Origins::origin(Id term) {
  auto const [memo, fresh] = origins_.try_emplace(term);
  if (fresh) memo->second = find_origin(term);
  return memo->second;
}

bool Origins::takes_load(Id leaf) {
  if (auto const known = takes_load_.find(leaf); known != takes_load_.end()) return known->second;
  std::vector<Id> const from = leaves_of(leaf_at(leaf)->args);
  return takes_load_[leaf] =
             std::any_of(from.begin(), from.end(), [&](Id at) { return is_load(*leaf_at(at)); });
}

Origin Origins::find_origin(Id term) {
  Origin found;
  std::vector<Id> const leaves = leaves_of({term});
  std::vector<Id> arguments;  // of functions that take what is loaded
  for (Id const id : leaves)
    if (Leaf const& l = *leaf_at(id); l.kind == Leaf::Kind::opaque && takes_load(id))
      arguments.insert(arguments.end(), l.args.begin(), l.args.end());
  std::vector<Id> const below = leaves_of(std::move(arguments));
  std::unordered_set<Id> const within(below.begin(), below.end());
  for (Id const id : leaves) {
    Leaf const& l = *leaf_at(id);
    if (is_load(l)) found = stronger(found, {id, true});
    bool const modelled = l.kind != Leaf::Kind::opaque && l.kind != Leaf::Kind::varying &&
                          l.kind != Leaf::Kind::voted && (l.kind != Leaf::Kind::undefined || !l.args.empty());
    if (is_load(l) || modelled || takes_load(id)) continue;
    if (l.kind == Leaf::Kind::opaque && within.count(id) != 0) continue;
    found = stronger(found, {id, false, l.kind == Leaf::Kind::undefined});
  }
  return found;
}

void Origins::varying_leaves(Warp& warp, Id id, std::set<Id>& seen, std::vector<Id>& into) const {
  if (!seen.insert(id).second) return;
  Node const n = execution_.terms.nodes()[id];
  if (n.op == Op::constant || n.op == Op::truth) return;
  if (n.width == 0) {
    LaneTruths const t = warp.truth(id);
    if (t.rest() == 0 || t.atom != 0) return;
  } else {
    Lanes const v = warp.value(id, n.width);
    if (v.split()) return;
    if (n.op == Op::variable && v.state == Lanes::State::varying)  // another leaf's, or its own
      return v.why == id ? into.push_back(id) : varying_leaves(warp, v.why, seen, into);
  }
  for (Id const part : operands(n)) varying_leaves(warp, part, seen, into);
}

Origin Origins::origin_of_guard(Warp& warp, Id guard, LaneTruths const& truths) {
  if (truths.stuck) return origin(warp.request(truths.why).atom);
  return truths.atom != 0 ? origin(truths.atom) : origin_of_varying(warp, guard, truths.why);
}

Origin Origins::origin_of_varying(Warp& warp, Id term, Id why) {
  std::vector<Id> leaves;
  std::set<Id> seen;
  varying_leaves(warp, term, seen, leaves);
  leaves.push_back(why);
  Origin found;
  for (Id const id : leaves) {
    Leaf const* const l = leaf_at(id);
    // A shuffle that is not followed reads lanes that are not known, or do not execute it.
    Origin one = origin(l != nullptr && l->kind == Leaf::Kind::shuffle ? l->args[1] : id);
    if (one.leaf == 0 && l != nullptr) one = {id, false};
    found = stronger(found, one);
  }
  return found;
}

}  // namespace swizproof::kernel_detail
