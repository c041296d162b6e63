// A kernel in one launch: what every part of this module reads.
#pragma once

#include "iterations.hpp"
#include "origins.hpp"
#include "warps.hpp"

#include <swizproof/kernel/kernel.hpp>
#include <swizproof/program/control_flow.hpp>

namespace swizproof::kernel_detail {

/// A kernel's program, the terms of all its values, and the warps of a block. Parts are filled in their order.
struct ExecutedKernel {
  ptx::Module const& module;
  KernelOptions const& options;
  execution::Launch launch{};
  program::Program program{};
  program::Flow flow{};
  execution::Execution execution{};
  Origins origins{program, flow, execution};
  Warps warps{program, flow, execution, launch};
  Iterations iterations{*this};

  /// True if the limit of steps of the kernel is exceeded.
  [[nodiscard]] bool out_of_steps() const { return warps.steps() > options.steps; }
};

}  // namespace swizproof::kernel_detail
