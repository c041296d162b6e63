// The launch of a kernel that is proved: the shape of its block, and its parameters.
#pragma once

#include <swizproof/kernel/kernel.hpp>
#include <swizproof/execution/warp.hpp>

#include <string>

namespace swizproof::kernel_detail {

/// A launch, or the reason why none can be decided.
struct DecidedLaunch {
  execution::Launch launch{};
  unsigned warps = 1;
  std::string refused{};
};

/// The launch that these options ask for; without a block the PTX's own, or every multiple of 32 threads in one dimension
/// if no other shape is needed.
[[nodiscard]] DecidedLaunch launch_of(ptx::Function const& kernel, KernelOptions const& options,
                                      bool shape_needed);

}  // namespace swizproof::kernel_detail
