// Truths that hold in no thread of any launch, by a solver.
#pragma once

#include <swizproof/execution/warp.hpp>

#include <cstdint>
#include <map>

namespace swizproof::execution {

/// True if a truth is shown to hold for no values of its leaves, in no warp: each may be anything that its facts allow (any warp's: they are of the
/// whole block), but that a block's number is below the grid's extent, a sum in a loop is its first value and so many steps, and `counts` has the
/// iterations that loops have at most, by their counters. Some numbers are tried before Z3. `most_steps`: by Z3's count, which leaves
/// out how it makes bits of words. Checked by KernelNever.* in tests/unit/kernel/never_test.cpp.
[[nodiscard]] bool never_holds(Execution const& execution, Warp& warp, std::uint32_t truth,
                               std::map<std::uint32_t, std::uint64_t> const& counts,
                               std::uint64_t most_steps = 50'000);

}  // namespace swizproof::execution
