// Two builds compared: which accesses cost more or less than in an earlier one.
#pragma once

#include "command/kernel/results.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// Sums over the instructions of a line, in one build. Wavefronts above the ideal.
struct LineSums {
  std::size_t accesses = 0;               ///< instructions
  std::size_t refuted = 0, unknown = 0;   ///< of operands
  std::optional<std::uint64_t> excess{};  ///< of one execution of each; nothing: not known
  std::optional<std::uint64_t> lost{};  ///< of all executions of a block; nothing: their number is not known
};

/// Accesses of one line and one instruction name, in one kernel and block, in both builds.
struct ComparedLine {
  std::string file{};  ///< of the code, of the new build if it has the line
  std::string kernel{}, block{};
  std::string source{};  ///< `gemm.cu:31`; of the new build, if it has the line
  std::string was_at{};  ///< the line of the old build, if it is another one
  std::string op{};
  LineSums before{}, after{};
  std::vector<KernelAccess const*> of{};  ///< accesses of the new build
  std::string why{};                      ///< what is worse or better, in words
  bool global = false;                    ///< a line of global memory: sectors above the allowed number
  std::string operand{};                  ///< `descriptor A`; empty for a line of accesses
  std::vector<KernelOperand const*> operands{};  ///< those of the new build
  KernelRaces const* races = nullptr;            ///< of the new build, if the line is about them
  Race const* race = nullptr;                    ///< the one that it is about
};

/// Changes from an old build to a new one.
struct Comparison {
  std::vector<ComparedLine> worse{}, better{}, added{}, removed{};
  std::vector<ComparedLine>
      undecided{};  ///< lines of the new build that may be worse: their verdict is unknown, or their cost is a range
  std::size_t same = 0;                             ///< lines
  std::vector<std::string> only_new{}, only_old{};  ///< kernels
  std::vector<UnreadFile> not_read{};               ///< of the old build
  std::vector<std::string> notes{};  ///< how lines were matched, where it is not by their numbers

  /// The worse or undecided line of an access or an operand of the new build, or null.
  [[nodiscard]] ComparedLine const* failing(KernelAccess const& access) const;
  [[nodiscard]] ComparedLine const* failing(KernelOperand const& operand) const;
  /// `race`: null for races that are not decided.
  [[nodiscard]] ComparedLine const* failing(KernelRaces const& races, Race const* race) const;
};

/// Lines of a kernel are matched by number and instruction; those that are left by their order, and all if only one build has -lineinfo. A line is
/// worse if what it loses now is more than it can have lost (LineCost::since), undecided if it may be more, or if an access of the new build is not
/// decided. An added line is worse if it has a conflict or a fault, undecided if it may, and so is one of an added kernel. A line of operands is
/// worse if more of them are refuted. The accesses are those of `now`. Checked by tests/golden/kernel_since.txt.
[[nodiscard]] Comparison compared(std::vector<Result> const& now, Results const& before);

[[nodiscard]] nlohmann::ordered_json comparison_json(Comparison const& c, std::string const& since);
[[nodiscard]] std::string describe(Comparison const& c, std::string const& since);
/// The same as a table of Markdown; with what of the new build was not read.
[[nodiscard]] std::string in_markdown(Comparison const& c, std::string const& since, Results const& now);

}  // namespace swizproof::command::kernel_detail
