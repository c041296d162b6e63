// Walks over the nodes of a graph of terms.
#pragma once

#include <swizproof/engine/term.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace swizproof {

/// Nodes to visit, each once, the last one that was added first. Checked by Walk.VisitsEachNodeOnce.
///
///   Walk walk(id);
///   while (auto const at = walk.next()) walk.add(operands(terms.nodes()[*at]));
class Walk {
 public:
  using Id = std::uint32_t;
  /// Visits at most `most` nodes.
  explicit Walk(std::vector<Id> start, std::size_t most = ~std::size_t{0})
      : work_(std::move(start)), most_(most) {}
  explicit Walk(Id start, std::size_t most = ~std::size_t{0}) : Walk(std::vector<Id>{start}, most) {}

  /// The next node; nothing behind the last one, or beyond the most.
  [[nodiscard]] std::optional<Id> next() {
    while (!work_.empty() && !over_) {
      Id const at = work_.back();
      work_.pop_back();
      if (!seen_.insert(at).second) continue;
      over_ = seen_.size() > most_;
      if (!over_) return at;
    }
    return std::nullopt;
  }
  void add(Id id) { work_.push_back(id); }
  template <class Ids>
  void add(Ids const& ids) {
    work_.insert(work_.end(), ids.begin(), ids.end());
  }
  /// True if there were more nodes than it may visit.
  [[nodiscard]] bool over() const { return over_; }

 private:
  std::vector<Id> work_;
  std::unordered_set<Id> seen_{};
  std::size_t most_;
  bool over_ = false;
};

/// The number that a term is, its variables given in `known`, to which the numbers of the terms below it are added.
/// Checked by Walk.NumberOfATerm.
template <class Numbers>
std::uint64_t number_of(Terms const& terms, std::uint32_t id, Numbers& known) {
  if (auto const found = known.find(id); found != known.end()) return found->second;
  Node const n = terms.nodes()[id];
  auto const of = [&](std::uint32_t x) { return number_of(terms, x, known); };
  unsigned const count = operand_count(n.op);
  std::uint64_t value = n.value;
  if (n.op == Op::ite)
    value = of(of(n.a) != 0 ? n.b : n.c);
  else if (count != 0)
    value = value_of(n, of(n.a), count > 1 ? of(n.b) : 0);
  return known[id] = value;
}

}  // namespace swizproof
