// The conditions under which a thread comes to a block.
#pragma once

#include "graph.hpp"
#include "scopes.hpp"

#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::execution {

class Registers;

/// Paths to the blocks of a program.
class Paths {
 public:
  Paths(Program const& program, Flow const& flow, Graph& graph, Scopes& scopes, Registers& registers);

  /// Finds the path to a block. Precondition: those to its dominators are found.
  void find(Id block);
  /// The truth with which a thread comes to a block; behind loops, in the last iteration of each.
  [[nodiscard]] Id to(Id block) const { return path_[block]; }
  /// True if exactly the lanes whose path says so execute a block, if loops end.
  [[nodiscard]] bool exact(Id block) const { return exact_[block]; }
  /// True if exactly those lanes execute a block whose path is true in the last iteration of the loops before it.
  [[nodiscard]] bool decides(Id block) const { return decides_[block]; }

  /// From the dominator of `to` by way of the edge from `from`; a term of the iteration in which loops are left.
  Id by_edge(Id from, Id to);
  /// From a loop's header to a latch, and back.
  Id back(Id latch, Id header) { return both(chain(latch, header), edge(latch, header)); }
  /// From a loop's header to an edge that leaves the loop, and over it.
  Id out_of(Id header, Loop::Exit const& exit) {
    return both(chain(exit.from, header), edge(exit.from, exit.to));
  }

 private:
  Id both(Id a, Id b) { return graph_.both(a, b); }
  Id edge(Id from, Id to);
  Id chain(Id block, Id top);
  Id reach(Id block, Id top);
  void find_ends();
  void leaves_behind(std::int32_t loop, Id block);

  Program const& program_;
  Flow const& flow_;
  Graph& graph_;
  Scopes& scopes_;
  Registers& registers_;
  std::vector<Id> reach_, path_;       ///< by block: from its dominator, and from the entry
  std::vector<bool> exact_, decides_;  ///< by block
  std::vector<bool> ends_within_;      ///< by loop: whether a thread may end in it
};

}  // namespace swizproof::execution
