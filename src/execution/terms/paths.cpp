#include "paths.hpp"

#include "registers.hpp"

namespace swizproof::execution {

Paths::Paths(Program const& program, Flow const& flow, Graph& graph, Scopes& scopes, Registers& registers)
    : program_(program),
      flow_(flow),
      graph_(graph),
      scopes_(scopes),
      registers_(registers),
      reach_(program.blocks.size(), 1),
      path_(program.blocks.size(), 1),
      exact_(program.blocks.size(), true),
      decides_(program.blocks.size(), true),
      ends_within_(flow.loops.size(), false) {
  find_ends();
}

/// Loops in which a thread may end.
void Paths::find_ends() {
  for (Id const b : flow_.order) {
    Block const& block = program_.blocks[b];
    if (block.taken >= 0 && (block.condition < 0 || block.next >= 0)) continue;
    for (std::int32_t const l : flow_.around(flow_.loop[b])) ends_within_[static_cast<std::size_t>(l)] = true;
  }
}

/// A block behind a loop. Its path is exact if every thread that enters the loop comes out by its one exit, if it comes to an end;
/// and the last iteration of those that do decides it if no thread ends within.
void Paths::leaves_behind(std::int32_t l, Id block) {
  bool const ends = ends_within_[static_cast<std::size_t>(l)];
  exact_[block] = exact_[block] && !ends && flow_.loops[static_cast<std::size_t>(l)].exits.size() == 1;
  decides_[block] = decides_[block] && !ends;
}

/// The truth with which block `from` goes on to `to`.
Id Paths::edge(Id from, Id to) {
  Block const& b = program_.blocks[from];
  if (b.condition < 0) return 1;
  auto const target = static_cast<std::int32_t>(to);
  if (b.taken == target && b.next == target) return 1;
  Id const c = registers_.at_end(static_cast<std::uint32_t>(b.condition), from);
  return (b.taken == target) != b.negated ? c : graph_.negate(c);
}

/// From block `top`, which dominates `block`, to `block`.
Id Paths::chain(Id block, Id top) {
  Id all = 1;
  for (Id at = block; at != top; at = static_cast<Id>(flow_.idom[at])) {
    all = both(all, reach_[at]);
    if (flow_.idom[at] < 0) break;
  }
  return all;
}

Id Paths::by_edge(Id from, Id to) {
  auto const top = static_cast<Id>(flow_.idom[to]);
  std::int32_t left = -1;
  for (std::int32_t const l : flow_.around(flow_.loop[from]))
    if (!flow_.within(to, l)) left = l;
  if (left < 0) return both(chain(from, top), edge(from, to));
  Loop const& loop = flow_.loops[static_cast<std::size_t>(left)];
  leaves_behind(left, to);
  if (flow_.within(top, left)) return scopes_.leave(both(chain(from, top), edge(from, to)), from, to);
  Id const entered = chain(loop.header, top);
  if (loop.exits.size() == 1) return entered;  // a thread that enters it leaves it there, or never
  return both(entered, scopes_.leave(both(chain(from, loop.header), edge(from, to)), from, to));
}

/// From the dominator of a block, by any way.
Id Paths::reach(Id block, Id top) {
  if (flow_.always_follows(block, top)) return 1;
  Id out = 0;
  bool first = true;
  for (Id const p : flow_.before[block]) {
    if (flow_.number[p] >= flow_.number[block]) continue;
    Id const c = by_edge(p, block);
    out = first ? c : graph_.either(out, c);
    first = false;
  }
  return out;
}

void Paths::find(Id block) {
  if (flow_.idom[block] < 0) return;
  Id const top = static_cast<Id>(flow_.idom[block]);
  exact_[block] = exact_[top];
  decides_[block] = decides_[top];
  reach_[block] = reach(block, top);
  // Conditions within a loop that is left are those of its last iteration: the entry of the loop stands for them.
  Id base = top;
  for (std::int32_t const l : flow_.around(flow_.loop[top]))
    if (!flow_.within(block, l)) {
      base = flow_.loops[static_cast<std::size_t>(l)].header;
      leaves_behind(l, block);
    }
  path_[block] = both(path_[base], reach_[block]);
}

}  // namespace swizproof::execution
