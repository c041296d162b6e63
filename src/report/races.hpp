// Races of a kernel, as `kernel --races` and `prove` write them.
#pragma once

#include "report/sarif.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace swizproof {

/// The key `races` of a kernel.
[[nodiscard]] nlohmann::ordered_json to_json(KernelRaces const& races);

/// `lost store: thread (0,0,0) writes byte 0x0 (a+0) at k.cu:3, thread (1,0,0) writes it at k.cu:3; no barrier is between`
[[nodiscard]] std::string describe(Race const& race);
/// `in a block of 64,1,1, block 0,0,0, n = 3`: the launch that has it.
[[nodiscard]] std::string launch_of(Race const& race);

/// `thread (1,0,0) writes it at cuda_pipeline_helpers.h:203 from k.cu:8`: the second access.
[[nodiscard]] std::string second_of(Race const& race);

/// A finding for each race, those of one text once, at the first access's line in the checkout (line_in_checkout) and with the second as a
/// related place; or one for races that are not decided, at the first line that the reason is about. Lines of the PTX are of `code`. Checked by
/// tests/golden/kernel_races.txt.
[[nodiscard]] std::vector<SarifFinding> race_findings(KernelRaces const& races, std::string const& code,
                                                      std::size_t race_rule, std::size_t open_rule);

/// The answer in lines, indented.
[[nodiscard]] std::string describe(KernelRaces const& races, int indent);

}  // namespace swizproof
