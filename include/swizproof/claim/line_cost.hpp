// Losses of the instructions of one line, compared between two builds.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// A number that lies between two others. Without `most` there is no bound.
struct CostRange {
  std::uint64_t least = 0;
  std::optional<std::uint64_t> most = 0;

  void add(CostRange const& other, std::uint64_t times);
  [[nodiscard]] bool is_point() const { return most == least; }
  [[nodiscard]] bool operator==(CostRange const&) const = default;
};
/// `3`, `1 to 3`, `at most 3`, `at least 1` or `an unknown number`, and of what, if `unit` is not empty.
[[nodiscard]] std::string in_words(CostRange const& range, std::string const& unit = "");

/// A change from an old build to a new one.
enum class CostChange : std::uint8_t { same, better, worse, undecided };

/// Wavefronts above the allowed number, or sectors, of the instructions of a line.
class LineCost {
 public:
  /// Takes an access that a lane executes.
  void add(KernelAccess const& access);

  /// Sum over one execution of each instruction.
  [[nodiscard]] CostRange const& once() const { return once_; }
  /// Sum over all executions of a block; nothing if the number of executions of an instruction with a loss is not known.
  [[nodiscard]] std::optional<CostRange> block() const;
  /// `16 wavefronts of a block lost`, with a part for each number of loops of unknown length around the instructions.
  [[nodiscard]] std::string block_in_words(std::string const& unit) const;

  /// The launches of two builds that lose most, compared: what is in more loops of unknown length goes first, as they may be of any length. Ranges are
  /// compared where they do not meet. Instructions whose number of executions is not known are taken to be executed equally often in both
  /// builds if as many of them have as many loops around them. Checked by LineCost.* and tests/reference/kernel_since.py.
  [[nodiscard]] CostChange since(LineCost const& before) const;

 private:
  using Runs = std::vector<std::pair<bool, std::uint64_t>>;  ///< of instructions: exact numbers or bounds

  /// Instructions with one number of loops of unknown length around them.
  struct Part {
    CostRange lost{};      ///< with what is known of the executions
    CostRange weighted{};  ///< with the bounds of the executions
    Runs all{}, losing{};
    std::string shape{};  ///< addresses and bounds, alike in two builds that do the same
  };
  enum class Order : std::uint8_t { equal, less, at_most_equal, more, open };
  [[nodiscard]] static Order compared(Part const& now, Part const& before);

  CostRange once_{};
  bool runs_known_ = true;
  std::map<unsigned, Part> parts_{};  ///< by number of loops
};

}  // namespace swizproof
