// Expected contents of an array at the end of a launch: each element as a sum of products of elements.
#pragma once

#include <swizproof/layout/expression.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// An index of an expectation, and its values, where the sum that it belongs to has no range of its own.
struct FlowIndex {
  std::string name{};
  std::uint64_t first = 0, last = 0;
  bool summed = false;
};

/// An element of an array as a function of the indices.
struct FlowReference {
  std::string array{};
  std::vector<Expression> at{};  ///< one for each extent
};

enum class FlowOperation : std::uint8_t { number, element, add, multiply, negate, sum, largest, smallest };

/// A node of an expectation's right side.
struct FlowNode {
  FlowOperation operation = FlowOperation::number;
  double number = 0;
  bool above = false;  ///< the number is 2^64 more: an integer below 2^64 that f64 does not hold
  FlowReference element{};
  std::size_t a = 0, b = 0;  ///< operands, which come before; a alone of negate, and where there are indices
  // Indices of a sum, largest or smallest (none: of a and b), and the first and the last value of each where it is given, which may depend on
  // the indices around it.
  std::vector<std::size_t> indices{};
  std::vector<std::optional<std::pair<Expression, Expression>>> ranges{};
  std::optional<Expression> condition{};  ///< condition of the terms that it is of
};

/// `C[m][n] = alpha*sum(k) A[m][k]*B[k][n] + beta*C[m][n] for m in 0..99`: of each value of the indices that are not summed, one element.
struct FlowExpectation {
  std::string text{};
  std::vector<FlowIndex> indices{};
  FlowReference target{};
  std::vector<FlowNode> nodes{};          ///< operands before operations, the result last
  std::optional<Expression> condition{};  ///< condition of the elements that it is about
};

}  // namespace swizproof
