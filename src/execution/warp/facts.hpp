// Facts that hold for a term in every warp.
#pragma once

#include <swizproof/execution/facts.hpp>
#include <swizproof/execution/launch.hpp>
#include <swizproof/execution/terms.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace swizproof::execution {

/// Facts about the terms of one execution, found from their operands; about registers at a loop's header by induction. They hold in each
/// warp of the block, so that its warps share them.
class TermFacts {
 public:
  TermFacts(Program const& program, Execution const& execution, Launch const& launch)
      : program_(program), execution_(execution), launch_(launch) {}

  /// Facts about a node.
  Facts of(Id id);
  /// Trailing zeros that a node surely has.
  unsigned trailing_zeros(Id id);
  /// True if a value is known to be so small that its most says more than what it is a sum of.
  bool has_few_bits(Id id) { return of(id).most >> 16 == 0; }
  /// Takes facts about a new variable.
  void declare(Id id, Facts const& facts) { keep(id, facts); }

 private:
  [[nodiscard]] Node const& node(Id id) const { return execution_.node(id); }
  /// The facts that are kept of a node, or null.
  [[nodiscard]] Facts const* kept(Id id) const {
    bool const any = id < facts_.size() && (facts_[id].least != none.least || facts_[id].most != none.most);
    return any ? &facts_[id] : nullptr;
  }
  void keep(Id id, Facts const& facts);
  void drop(Id id) { facts_[id] = none; }
  Facts compute(Node const& n);
  Facts of_special(Special s, Facts f);
  /// Facts about a variable, at least `f`.
  Facts of_leaf(Id id, Facts f);
  Facts of_phi(Phi const& p, Facts f);
  std::uint64_t most_of_phi(Phi const& p);
  struct Moved {
    Id base = 0;
    std::uint64_t by = 0;
  };
  [[nodiscard]] Moved moved(Id id) const;
  struct Limit {
    Moved word{};
    std::uint64_t most = 0;
  };
  std::optional<Limit> limit_of(Id condition, bool truth);
  Facts chosen(Id condition, bool truth, Id value);

  Program const& program_;
  Execution const& execution_;
  Launch const& launch_;
  static constexpr Facts none{0, 0, ~std::uint64_t{0}};  ///< of a node without facts
  std::vector<Facts> facts_{};                           ///< by node
  std::vector<Id> found_{};  ///< under a hypothesis about a register at a loop's header, in their order
  std::set<std::uint64_t> limits_{};  ///< upper bounds that comparisons with constants leave
  unsigned hypotheses_ = 0, depth_ = 0;
  std::uint64_t tried_ = 0;  ///< facts that were computed under hypotheses
};

}  // namespace swizproof::execution
