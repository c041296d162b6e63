// Races of a kernel, as `kernel --races` and `prove` write them.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace swizproof {

/// The key `races` of a kernel.
[[nodiscard]] nlohmann::ordered_json to_json(KernelRaces const& races);

/// The answer in lines, indented.
[[nodiscard]] std::string describe(KernelRaces const& races, int indent);

}  // namespace swizproof
