// Use of the shared-memory pipe by kernels, from a profile of Nsight Compute.
#pragma once

#include "profile/nsight.hpp"

#include <optional>
#include <string>
#include <vector>

namespace swizproof::command {

/// Use of the pipe by each kernel of a profile; empty without a file. Throws InputError if no kernel has it.
[[nodiscard]] std::vector<PipeUse> pipes_of(std::string const& file);

/// All launches of a kernel together; nothing if the profile has none.
[[nodiscard]] std::optional<PipeUse> pipe_of(std::vector<PipeUse> const& pipes, std::string const& name);

}  // namespace swizproof::command
