// Edits of one instruction: another number, another register, operands exchanged, another opcode. An edit with which a refuted launch is proved
// names the instruction that may be wrong.
#pragma once

#include "kernel.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// An instruction in place of another one.
struct Edit {
  std::uint32_t instruction = 0;
  ptx::Instruction other{};
  std::string text{};  ///< `4 for 5`, `as sub.s32`
};

/// Instructions by their distance from the first ones along registers, the nearest first: those that compute an operand, a guard or the
/// condition of a branch. Those that no way leads to are last.
[[nodiscard]] std::vector<std::uint32_t> by_distance(FlowKernel const& kernel,
                                                     std::vector<std::uint32_t> const& first);

/// Edits of these instructions, the likeliest first: of an instruction that is named early, and of a simple kind. Names that they need are
/// kept in `kept`. Checked by Edits.* and tests/program/flow_guilty.
[[nodiscard]] std::vector<Edit> edits_of(FlowKernel const& kernel,
                                         std::vector<std::uint32_t> const& instructions,
                                         std::vector<std::shared_ptr<std::string const>>& kept);

}  // namespace swizproof::flow_detail
