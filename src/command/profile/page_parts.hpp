// Parts of the pages of kernels, which `explain` and `kernel` write: the worst execution of an instruction, and lines of source.
#pragma once

#include "command/line/command.hpp"
#include "system/source.hpp"

#include <swizproof/hardware/bank.hpp>
#include <swizproof/hardware/collision.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::command {

/// The most expensive execution of an instruction, and of each of its phases with a conflict the fullest bank.
struct Worst {
  Cost<std::uint32_t> cost{};
  unsigned ideal = 0;
  std::vector<Collision> conflicts{};
};

[[nodiscard]] Worst worst_of(Architecture const& arch, Instruction const& instruction,
                             WarpAccess<std::uint32_t> const& access);

/// {"address": [0, 4, null, ..], "wavefronts", "ideal", "degree": [..], "conflicts": [..]}
[[nodiscard]] nlohmann::ordered_json to_json(Worst const& worst, WarpAccess<std::uint32_t> const& access);

constexpr std::size_t most_pictures = 48;  ///< of a page: each takes up to 40 KB

/// The figure of an execution, for a page that it becomes a part of.
[[nodiscard]] std::string figure_of(Architecture const& arch, std::string const& name,
                                    Instruction const& instruction, WarpAccess<std::uint32_t> const& access);

/// Files of these lines (file, number), each as `describe` has it, with `blocks`: the lines and those around them. Null where
/// none of them can be read. A file without a name is left out.
[[nodiscard]] nlohmann::ordered_json listing_of(
    Sources& sources, std::vector<std::pair<std::string, unsigned>> const& lines,
    std::function<nlohmann::ordered_json(SourceFile const&)> const& describe);

/// Throws InputError if --format gcc comes with --brief, or with another form on standard output.
void refuse_format(Common const& common, std::string const& format, std::string const& sarif,
                   std::string const& html);

/// Throws InputError if two of --json, --sarif - and --html - want standard output, or one of the latter comes with --brief.
void refuse_two_forms(Common const& common, std::string const& sarif, std::string const& html);

}  // namespace swizproof::command
