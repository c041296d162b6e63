// The loops in which terms change, and terms behind the loops that they were computed in.
#pragma once

#include "graph.hpp"

#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace swizproof::execution {

/// Loops of the terms of a program.
class Scopes {
 public:
  static constexpr std::int32_t several = -2;
  Scopes(Program const& program, Flow const& flow, Graph& graph)
      : program_(program), flow_(flow), graph_(graph) {}

  /// The deepest loop of a term's leaves, -1 for none, `several` if they do not lie within each other.
  std::int32_t loop_of(Id id);
  /// The same of several terms.
  std::int32_t loop_of(std::vector<Id> const& ids);
  /// True if a term may change in a loop.
  bool changes_in(Id id, std::int32_t loop);
  /// The value of a term of block `from` in block `to`: of the loops that do not have `to`, in the iteration in which each is left, the
  /// innermost first.
  Id leave(Id id, Id from, Id to);

 private:
  Id leave_loop(Id id, std::int32_t left);
  [[nodiscard]] std::int32_t deeper(std::int32_t a, std::int32_t b) const;

  Program const& program_;
  Flow const& flow_;
  Graph& graph_;
  std::vector<std::int32_t> loop_of_{};           ///< by node
  std::unordered_map<std::uint64_t, Id> left_{};  ///< by node and loop
};

}  // namespace swizproof::execution
