// Races of a kernel, as `kernel --races` writes them.
#pragma once

#include "command/kernel/results.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace swizproof::command::kernel_detail {

/// The key `races` of a kernel.
[[nodiscard]] nlohmann::ordered_json races_json(KernelRaces const& races);

/// The answer in lines, indented by two.
[[nodiscard]] std::string describe(KernelRaces const& races);

}  // namespace swizproof::command::kernel_detail
