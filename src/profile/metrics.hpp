// The profiler's metrics that are sums over a kernel, and the instructions that each is over.
#pragma once

#include <swizproof/hardware/instruction.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// A kind of sum over a kernel: its metrics, each by every name that it has.
struct Sum {
  std::string name;
  std::vector<std::string> wavefronts;
  struct Part {
    std::optional<Operation> operation;  ///< none: atomics
    std::vector<std::string> executed;
  };
  std::vector<Part> parts;
  bool shared_with_others;
};

/// All kinds of sums that are read.
[[nodiscard]] std::vector<Sum> const& sums();

/// Wavefronts of the shared-memory pipes of all SMs, and the cycles of all SMs: a pipe takes one wavefront a cycle (H12).
inline constexpr std::string_view pipe_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
inline constexpr std::string_view pipe_cycles = "sm__cycles_elapsed.sum";

/// True if one of the sums has a metric of this name, or the pipe.
[[nodiscard]] bool is_metric(std::string_view name);

}  // namespace swizproof
