// Two builds compared: which accesses cost more or less than in an earlier one.
#pragma once

#include "command/kernel/results.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// Accesses of one line and one instruction name, in one kernel and block, in both builds.
struct ComparedLine {
  std::string kernel{}, block{};
  std::string source{};  ///< `gemm.cu:31`; of the new build, if it has the line
  std::string was_at{};  ///< the line of the old build, if it is another one
  std::string op{};
  std::size_t before = 0, after = 0;  ///< accesses
  std::optional<unsigned> old_excess{},
      new_excess{};  ///< wavefronts above the ideal, of the worst access, or sectors of global memory above the allowed number; nothing: not known
  std::string why{};    ///< what is worse or better, in words
  bool global = false;  ///< a line of global memory
};

/// Changes from an old build to a new one.
struct Comparison {
  std::vector<ComparedLine> worse{}, better{}, added{}, removed{};
  std::vector<ComparedLine>
      undecided{};       ///< lines of the new build that may be worse: their verdict is unknown
  std::size_t same = 0;  ///< lines
  std::vector<std::string> only_new{}, only_old{};  ///< kernels
  std::vector<UnreadFile> not_read{};               ///< of the old build
};

/// Lines of a kernel are matched by number and instruction; those that are left by their order. An added line is worse if it has a conflict,
/// a fault, or no bound. Checked by tests/golden/kernel_since.txt.
[[nodiscard]] Comparison compared(std::vector<Result> const& now, Results const& before);

[[nodiscard]] nlohmann::ordered_json comparison_json(Comparison const& c, std::string const& since);
[[nodiscard]] std::string describe(Comparison const& c, std::string const& since);

}  // namespace swizproof::command::kernel_detail
