// The sum of products that an element holds, compared with the expected one.
#pragma once

#include "names.hpp"

#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// True if two sums are one number for all data. Integers are numbers modulo 2^bits, where other polynomials may be the same function:
/// 2^31*x*x and 2^31*x are. Checked by Differences.OfPolynomialsAreThoseOfTheirValues and tests/reference/flow_polynomials.py.
[[nodiscard]] bool same_number(FlowArray const& array, std::vector<FlowTerm> const& found,
                               std::vector<FlowTerm> const& expected);

/// Why two sums that are not one number do not show a wrong element; empty if an execution does. `found` is the sum of the name `n`. Bits, and
/// sets, are computed on small random data. Rounding may be why a coefficient differs by at most 4 units in the last place of the coarsest
/// format; the unit is that of the sum of its parts without signs. Checked by Differences.OfRoundingAreNotWrong.
[[nodiscard]] std::string why_not_wrong(Names const& names, FlowArray const& array, Name n,
                                        FlowSum const& found, std::vector<FlowTerm> const& expected);

}  // namespace swizproof::flow_detail
