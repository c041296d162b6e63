// Meaning of a step on numbers.
#pragma once

#include <swizproof/program/program.hpp>

#include <cstdint>

namespace swizproof::program {

/// Lane whose value a lane gets by shfl with operands b and c; itself, if it is out of bounds. [PTX ISA 9.1: shfl.sync]
/// `shuffle_source(Shuffle::down, 3, 2, 31)` is 5. Checked by Kernel.AShuffleFromALaneThatDoesNotExecuteItGivesAnyValue and tests/reference/kernel.py.
[[nodiscard]] unsigned shuffle_source(Shuffle mode, unsigned lane, std::uint32_t b, std::uint32_t c);

}  // namespace swizproof::program
