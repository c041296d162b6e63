// Races of a kernel, as `kernel --races` and `prove` write them.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace swizproof {

/// The key `races` of a kernel.
[[nodiscard]] nlohmann::ordered_json to_json(KernelRaces const& races);

/// `lost store: thread (0,0,0) writes byte 0x0 (a+0) at k.cu:3, thread (1,0,0) writes it at k.cu:3; no barrier is between`
[[nodiscard]] std::string describe(Race const& race);
/// `in a block of 64,1,1, block 0,0,0, n = 3`: the launch that has it.
[[nodiscard]] std::string launch_of(Race const& race);

/// The answer in lines, indented.
[[nodiscard]] std::string describe(KernelRaces const& races, int indent);

}  // namespace swizproof
