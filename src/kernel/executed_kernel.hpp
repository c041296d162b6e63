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

  /// The addresses of arrays, by their nodes, that a device gives (H18): in another block of a cluster a multiple of 2^24 more. Empty if one of
  /// them is not known.
  [[nodiscard]] std::vector<execution::Assumption> bases_of(std::vector<Id> const& arrays) const {
    constexpr unsigned known_bits = 24;
    std::vector<execution::Assumption> all;
    for (Id const id : arrays) {
      auto const& at = program.symbols[origins.leaf_at(id)->extra].placed;
      if (!at) return {};
      all.push_back({id, false, known_bits, *at});
    }
    return all;
  }

  /// A leaf as a reason names it (Origins::text_of), and options that may decide it: `--grid X,Y,Z` of a division whose divisor takes
  /// the number of blocks. Checked by Kernel.ADivisionByZeroNamesTheOptionsThatMayExcludeIt.
  [[nodiscard]] std::string text_of(Id leaf) const;

  /// True if the limit of steps of the kernel is exceeded.
  [[nodiscard]] bool out_of_steps() const { return warps.steps() > options.steps; }
};

}  // namespace swizproof::kernel_detail
