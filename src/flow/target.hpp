// Elements of an array that an expectation is about, and the sums that they shall be.
#pragma once

#include "kernel.hpp"

#include <swizproof/flow/expectation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// Elements of one array that an expectation has, and what the launch has written there.
class Target {
 public:
  Target(FlowExpectation const& expectation, FlowKernel const& kernel);

  enum class State : std::uint8_t { open, right, wrong, undecided };
  [[nodiscard]] std::uint32_t array() const { return id_; }
  [[nodiscard]] std::string const& text() const { return e_.text; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// 1 + the number of an element; 0: the expectation is not about it.
  [[nodiscard]] std::uint32_t place(std::uint64_t element) const {
    return element - first_ < place_.size() ? place_[element - first_] : 0;
  }
  State& state(std::uint32_t place) { return state_[place]; }
  /// Arrays of the elements on the right side.
  [[nodiscard]] std::vector<std::uint32_t> const& factors() const { return factors_; }

  /// Terms that an element shall have, sorted.
  [[nodiscard]] std::vector<FlowTerm> expected(std::uint32_t place, Names const& names) const;

  /// True if an element is right that has the same elements of factor `f` as the element at `place`.
  [[nodiscard]] bool innocent(std::size_t f, std::uint32_t place) const;

 private:
  /// Values of the indices, in their order.
  using Values = std::vector<std::uint64_t>;
  using Terms = std::vector<FlowTerm>;

  template <class Fn>
  void each_element(Fn const& fn) const;
  template <class Fn>
  void each_value_of(FlowNode const& sum, std::size_t k, Values& values, Fn const& fn) const;
  [[nodiscard]] std::uint32_t array_named(std::string const& name) const;
  [[nodiscard]] std::uint64_t index(FlowReference const& r, std::uint32_t id, Values const& v) const;
  void add_terms(std::size_t node, double coefficient, Values& values, Names const& names, Terms& out) const;
  void multiply(FlowNode const& node, double coefficient, Values& values, Names const& names,
                Terms& out) const;
  /// The largest or smallest of the node's values.
  [[nodiscard]] Terms extreme(FlowNode const& node, Values& values, Names const& names) const;
  /// A product of numbers and elements alone: multiplies it into a term.
  void multiply_into(std::size_t node, FlowTerm& term, Values const& values, Names const& names) const;
  void take_factor(FlowTerm& term, std::uint32_t factor) const;
  [[nodiscard]] double rounded(double number) const;
  /// Fails if a product has one element of pairs, or more than two: it has no value. One element is copied to an array of pairs.
  void check_pairs(Terms const& terms, Names const& names) const;

  FlowExpectation const& e_;
  FlowKernel const& kernel_;
  std::uint32_t id_ = 0;
  std::uint64_t count_ = 0;
  std::vector<std::uint32_t> factors_{};
  std::vector<std::size_t> references_{};  ///< nodes of these
  std::vector<std::uint32_t> arrays_{};    ///< of each node, its array
  std::vector<bool> simple_{};             ///< of each node: a product of numbers and elements
  std::uint64_t first_ = 0;                ///< element that place_ begins with
  std::vector<std::uint32_t> place_{};     ///< of elements from it on: 1 + the number, 0: not expected
  std::vector<std::uint64_t> values_{};
  std::vector<State> state_{};
};

/// Fails if an expectation before has an element of the last one.
void must_be_disjoint(FlowKernel const& kernel, std::vector<Target> const& targets);

}  // namespace swizproof::flow_detail
