// Time of the shared-memory pipe: what conflicts take of it, and the instructions that a fix adds. No statement on a kernel's time: the pipe
// may wait for other units, or they for it.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace swizproof {

/// Cycles of the pipe for one block, each of one wavefront of up to 128 bytes (H12): of the accesses whose wavefronts and executions
/// are known. With n blocks on an SM the pipe needs n times as many in the same time, so that the share is that of every occupancy.
struct PipeTime {
  std::uint64_t wavefronts = 0;  ///< at most
  std::uint64_t lost = 0;        ///< of these, above the ideal ones; at most
  std::size_t open = 0;          ///< accesses that are not counted
};

/// Checked by tests/reference/kernel_pipe.py.
[[nodiscard]] PipeTime pipe_time(KernelReport const& report);

/// `91.2 %` of the pipe's time; `<0.1 %` for less, and `0 %` without a loss.
[[nodiscard]] std::string share_of_pipe(std::uint64_t lost, std::uint64_t wavefronts);

/// A line on the losses, indented; empty if no access loses a wavefront.
[[nodiscard]] std::string describe(PipeTime const& time, int indent);

/// {"wavefronts", "lost", "open"}
[[nodiscard]] nlohmann::ordered_json to_json(PipeTime const& time);

/// Instructions that x ^ ((x >> s) & m) adds to an address: shift, and, xor. The compiler may merge two in one LOP3, or move them out of
/// a loop.
inline constexpr unsigned instructions_of_swizzle = 3;

/// Instructions of warps that the fix's swizzles add for a block, at most; 0 without a swizzle.
[[nodiscard]] std::uint64_t added_instructions(KernelFix const& fix);

/// A line on the instructions that the fix adds, indented; empty without a swizzle.
[[nodiscard]] std::string added_in_words(KernelFix const& fix, int indent);

}  // namespace swizproof
