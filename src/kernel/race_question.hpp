// Questions to the solver about two threads: no launch makes a formula of RacePair true.
#pragma once

#include "race_pair.hpp"

#include <swizproof/engine/decide.hpp>

#include <functional>
#include <vector>

namespace swizproof::kernel_detail {

using RaceFormula = std::function<Formula(RacePair&)>;

/// The answer to: no values of the unknowns make this true. `fresh`: a pair that has not begun. `unknowns`: those of a refutation.
[[nodiscard]] Outcome never(RacePair const& fresh, RaceFormula const& formula,
                            std::vector<RaceUnknown>& unknowns);
/// False unless all are proved. One question for all takes a tenth of the time. Checked by KernelRaces.PairsAreAskedTogether.
[[nodiscard]] bool never_any(RacePair const& fresh, std::vector<RaceFormula> const& formulas);

}  // namespace swizproof::kernel_detail
