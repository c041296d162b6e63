// Terms where truths are known, and choices between terms.
#pragma once

#include "arithmetic.hpp"
#include "graph.hpp"

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace swizproof::execution {

/// Simplifies terms by conditions that hold.
class Cases {
 public:
  Cases(Graph& graph, Arithmetic& arithmetic) : graph_(graph), arithmetic_(arithmetic) {}

  /// The one value where the condition holds, else the other.
  Id pick(Id condition, Id yes, Id no);
  /// A term where a truth holds: without the choices that it makes.
  Id where(Id truth, Id term);

 private:
  /// Truths that are known, and terms as they are then.
  struct Known {
    std::unordered_map<Id, bool> truths{};
    std::unordered_map<Id, Id> terms{};
    std::size_t most_terms = 3000;
  };
  bool know(Id truth, bool is, Known& known);
  [[nodiscard]] std::optional<bool> known_truth(Id id, Known const& known, unsigned depth = 0) const;
  Id in_case(Id value, Id condition, bool is);
  Id under(Id id, Known& known, unsigned depth);
  Id choice_under(Node const& n, Id id, Known& known, unsigned depth);
  Id operation_under(Node const& n, Id id, Known& known, unsigned depth);
  Id load_under(Id id, Known& known, unsigned depth);
  [[nodiscard]] Node const& node(Id id) const { return graph_.node(id); }

  Graph& graph_;
  Arithmetic& arithmetic_;
  std::map<std::pair<Id, Id>, Id> loads_{};  ///< by a load and its address where truths are known
};

}  // namespace swizproof::execution
