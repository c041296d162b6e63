// Values of names on data: what an element would hold.
#pragma once

#include "names.hpp"

#include <functional>
#include <optional>

namespace swizproof::flow_detail {

using FlowData = std::function<double(FlowArray const&, std::uint64_t)>;

/// The numbers that names are on data. Sums and products are exact while they are below 2^53.
class Numbers {
 public:
  Numbers(Names const& names, FlowData const& data) : names_(names), data_(data) {}
  /// The value of a sum of products; nothing where it is not computed: bits of a number that its format does not hold, functions.
  [[nodiscard]] std::optional<double> value(std::vector<FlowTerm> const& terms);

 private:
  [[nodiscard]] std::optional<double> factor(std::uint32_t number);
  [[nodiscard]] std::optional<double> of(Name n, unsigned depth);
  [[nodiscard]] std::optional<double> of_matrices(NameNode const& node, unsigned depth);
  [[nodiscard]] std::optional<double> of_bits(NameNode const& node, unsigned depth);

  Names const& names_;
  FlowData const& data_;
  unsigned looked_ = 0;
};

/// True if an element of this array holds another number than expected, on some of 32 sets of small random data: a launch that shows
/// that it is wrong. `tolerance`: what a floating-point number may differ by, of its size. Checked by Integers.OfAnotherFormatAreWrongOnNumbers.
[[nodiscard]] bool differs_on_numbers(Names const& names, FlowArray const& array,
                                      std::vector<FlowTerm> const& found,
                                      std::vector<FlowTerm> const& expected, double tolerance = 0);
/// True if a term has bits that are read in another format, or the largest or smallest of a set: other terms may have the same value.
[[nodiscard]] bool has_bits(Names const& names, FlowTerm const& term);

}  // namespace swizproof::flow_detail
