// Use of the shared-memory pipe by kernels, from a profile of Nsight Compute.
#pragma once

#include "profile/nsight.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::command {

/// Use of the pipe by each kernel of a profile; empty without a file. Throws InputError if no kernel has it.
[[nodiscard]] std::vector<PipeUse> pipes_of(std::string const& file);

/// All launches of a kernel together; nothing if the profile has none, or overloads of it that cannot be told apart: ncu writes types of
/// parameters in other words than a trace. Checked by golden.explain_with_the_raw_page_of_a_profile.
[[nodiscard]] std::optional<PipeUse> pipe_of(std::vector<PipeUse> const& pipes, std::string const& name);

/// `{"wavefronts": 4096, "cycles": 90000, "of": "busiest SM"}`, or "active SMs", or "all SMs".
[[nodiscard]] nlohmann::ordered_json pipe_json(PipeUse const& use);

/// The share of the pipe's cycles that conflicts take, `lost` of its `wavefronts`, and with a profile that of the kernel's cycles: 2/3 of a pipe
/// that is busy in 34 % are 22.7 %. Of the busiest SM it is a bound if its warps lose as large a share as all warps; of an average it is none,
/// since the kernel takes as long as its slowest SM. All assume H12.
[[nodiscard]] std::string in_words(std::optional<PipeUse> const& use, bool not_profiled, std::uint64_t lost,
                                   std::uint64_t wavefronts);

}  // namespace swizproof::command
