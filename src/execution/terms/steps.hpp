// The steps of a program, executed: a term for each result, and for each access.
#pragma once

#include "arithmetic.hpp"
#include "cases.hpp"
#include "division.hpp"
#include "graph.hpp"
#include "paths.hpp"
#include "registers.hpp"
#include "scopes.hpp"
#include "tables.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace swizproof::execution {

/// Executes blocks one after another.
class Steps {
 public:
  Steps(Program const& program, Flow const& flow, std::vector<std::uint64_t> const& needed, Execution& out,
        Graph& graph, Arithmetic& arithmetic, Cases& cases, Scopes& scopes, Registers& registers,
        Paths& paths)
      : program_(program),
        flow_(flow),
        needed_(needed),
        out_(out),
        graph_(graph),
        arithmetic_(arithmetic),
        cases_(cases),
        scopes_(scopes),
        registers_(registers),
        paths_(paths) {}

  /// Executes a block whose path is found.
  void run(Id block);

 private:
  Id value(Source const& s, unsigned width);
  Id word(Source const& s, unsigned width) { return graph_.word_of(value(s, width_of(s, width))); }
  [[nodiscard]] unsigned width_of(Source const& s, unsigned other) const {
    return s.constant ? other : program_.widths[s.value];
  }
  void access(MemoryAccess const& m, ExecutedAccess& out);
  Id result(Step const& s);
  Id operation(Step const& s, Op op, unsigned width);
  std::optional<Id> different_signs(Id moved, Id middle);
  Id masked(Step const& s);
  Id leaf_of(Step const& s);
  [[nodiscard]] bool is_sum_of_product(Leaf const& sum) const;
  Id opaque(Leaf leaf, Step const& s);
  Id load(Leaf leaf, Step const& s);
  std::optional<Id> parameter(Id address, Leaf const& load, unsigned width);
  Id executing();
  Id shared_leaf(Leaf const& leaf, unsigned bits);
  Id shared_symbol(Leaf const& leaf, unsigned bits);
  [[nodiscard]] bool of_launch(Id address) const;
  [[nodiscard]] bool is_parameter(std::uint32_t symbol) const;
  [[nodiscard]] Node const& node(Id id) const { return graph_.node(id); }

  Program const& program_;
  Flow const& flow_;
  std::vector<std::uint64_t> const& needed_;  ///< bits of each register that matter
  Execution& out_;
  Graph& graph_;
  Arithmetic& arithmetic_;
  Cases& cases_;
  Scopes& scopes_;
  Registers& registers_;
  Paths& paths_;
  Division division_{program_, graph_};
  Tables tables_{program_, graph_, arithmetic_};
  std::map<std::vector<std::uint64_t>, Id> shared_{};  ///< leaves by what they are functions of
  Id block_ = 0;                                       ///< that is executed
  std::uint32_t step_ = 0;                             ///< that is executed
};

}  // namespace swizproof::execution
