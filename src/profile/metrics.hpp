// The profiler's metrics that are sums over a kernel, and the instructions that each is over.
#pragma once

#include <swizproof/hardware/instruction.hpp>

#include <array>
#include <cstdint>
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

/// SMs whose shared-memory pipes and cycles are counted.
enum class PipeSms : std::uint8_t {
  busiest,  ///< the one with most wavefronts, in all cycles: no other pipe is busy longer
  active,   ///< all, in the cycles in which they have a warp: an average
  all       ///< all, in all cycles, also those without a block
};

/// Metrics of wavefronts and of cycles: a pipe takes one wavefront a cycle (H12). `ncu --set full` has the second and the third pair.
struct PipeMetrics {
  PipeSms of;
  std::string_view wavefronts, cycles;
};
inline constexpr std::array<PipeMetrics, 3> pipe_metrics{{
    {PipeSms::busiest, "l1tex__data_pipe_lsu_wavefronts_mem_shared.max", "sm__cycles_elapsed.max"},
    {PipeSms::active, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "sm__cycles_active.sum"},
    {PipeSms::all, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "sm__cycles_elapsed.sum"},
}};

/// True if one of the sums has a metric of this name, or the pipe.
[[nodiscard]] bool is_metric(std::string_view name);

}  // namespace swizproof
