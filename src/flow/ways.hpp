// How an element came into a value: the instructions that moved it.
#pragma once

#include "names.hpp"

#include <array>
#include <vector>

namespace swizproof::flow_detail {

/// Ways of elements through the graph of names.
class Ways {
 public:
  explicit Ways(Names const& names) : names_(names) {}
  /// Instructions that moved an element on its way into a value, the last one first. Of `term` is followed the product that it is.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> way_of(Name n, FlowTerm const& term);
  /// The way of the one factor in which the first of `extra`, a product of four, differs from one of `missing`; empty if there is no such.
  [[nodiscard]] std::vector<std::uint32_t> odd_way(Name n, std::vector<FlowTerm> const& extra,
                                                   std::vector<FlowTerm> const& missing);
  /// Instructions that the last way_of() has left out: they add a sum that holds the element to another product, or multiply it by one number.
  [[nodiscard]] std::vector<std::uint32_t> const& passed() const { return passed_; }
  /// The instruction that adds two values which both hold an element; 0 if none does.
  [[nodiscard]] std::uint32_t added_twice(Name n, std::uint32_t element);

 private:
  [[nodiscard]] static std::array<Name, most_factors> parts_of(MatrixProduct const& p, NameNode const& node,
                                                               unsigned k);
  bool find(Name n, std::uint32_t element, std::vector<std::uint32_t>& way, unsigned depth);
  /// True if a product or a sum says nothing of where the element in its part `a` comes from.
  [[nodiscard]] bool passes(NameNode const& node, bool first) const;
  [[nodiscard]] bool is_number(Name n) const;

  Names const& names_;
  /// Nodes that one search for an element has looked at: a search of a sum whose parts are shared may take exponentially many.
  std::uint64_t visits_ = 0;
  std::vector<std::uint32_t> passed_{};
  static constexpr std::uint64_t most_visits = std::uint64_t{1} << 20;
};

}  // namespace swizproof::flow_detail
