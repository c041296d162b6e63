// Loops that never end: a warp that is where it was, with the registers that it had, goes on as it did, if nothing changes what it reads.
#pragma once

#include "kernel.hpp"
#include "names.hpp"
#include "paths.hpp"

#include <cstdint>
#include <vector>

namespace swizproof::flow_detail {

/// True for instructions that change registers alone, and for loads and waits at mbarriers that pass: they give the same until another warp
/// writes or arrives.
[[nodiscard]] bool changes_registers_alone(Decoded const& decoded);

/// States of a warp at its branches, while no other warp runs and it does not change what threads share. Checked by
/// Loops.EndOrRepeatTheirState.
class Repeats {
 public:
  /// The warp runs, and others may have run.
  void start() { *this = {}; }
  /// It has changed more than its registers.
  void change() { branches_ = 0, changed_ = true; }
  /// True if it has done so since it runs.
  [[nodiscard]] bool changed() const { return changed_; }
  /// It loads what other launches, the host or blocks that have not begun may write.
  void load() { loads_ = true; }
  /// True if it has done so since a state was kept.
  [[nodiscard]] bool loads() const { return loads_; }
  /// A branch is behind it, at the end of a loop or not: `line`, or ~0. True if it is where it was.
  [[nodiscard]] bool again(std::vector<Path> const& paths, std::vector<Word> const& registers,
                           std::uint32_t line);
  /// The last branch of a loop that does not end; ~0: it is in none.
  [[nodiscard]] std::uint32_t line() const { return endless_ ? line_ : ~0U; }

 private:
  // A state is kept at each power of two and compared with every 64th behind it: a loop of 64 branches repeats, too.
  static constexpr std::uint64_t first_kept = 1 << 12, compared = 64;
  std::uint64_t branches_ = 0;
  bool changed_ = false, loads_ = false, endless_ = false;
  std::uint32_t line_ = ~0U;
  std::vector<Path> paths_{};
  std::vector<Word> registers_{};
};

}  // namespace swizproof::flow_detail
