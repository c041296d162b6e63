// Sums and products of terms, and what compilers make of divisions by constants.
#pragma once

#include "graph.hpp"

#include <cstdint>
#include <optional>

namespace swizproof::execution {

/// Arithmetic on words of a program, in the form in which loops and warps understand it best.
class Arithmetic {
 public:
  Arithmetic(Program const& program, Graph& graph) : program_(program), graph_(graph) {}

  /// a + b with constants gathered: (x + 1) + 2 is x + 3.
  Id sum(unsigned width, Id a, Id b);
  Id difference(unsigned width, Id a, Id b);
  Id product(unsigned width, Id a, Id b);
  /// x << n; the address of a variable for (address >> n) << n, if it is a multiple of 2^n.
  Id shifted_left(unsigned width, Id x, Id by);
  /// x >> n; a quotient if it is that of a product by which compilers divide.
  Id shifted_right(unsigned width, Id x, Id by);

 private:
  /// A product x * factor of 64 bits, shifted right: x is of 32 bits, extended by zeros.
  struct ShiftedProduct {
    Id x;
    std::uint64_t factor, shift;
  };
  std::optional<ShiftedProduct> shifted_product(Id at, std::uint64_t shift);
  std::optional<Id> quotient(unsigned width, Id a, Id by);
  std::optional<Id> remainder(unsigned width, Id x, Id product, bool added);
  [[nodiscard]] std::optional<Id> cleared_address(Id x, Id by) const;
  [[nodiscard]] Node const& node(Id id) const { return graph_.node(id); }
  [[nodiscard]] bool is_constant(Id id) const { return graph_.is_constant(id); }

  Program const& program_;
  Graph& graph_;
};

}  // namespace swizproof::execution
