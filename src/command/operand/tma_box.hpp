// `swizproof tma --box`: is one box legal, and what does it write?
#pragma once

#include "command/line/command.hpp"

#include <string>

namespace swizproof::command {

/// The command line of `tma --box` and `tma --im2col`.
struct TmaBoxArguments {
  std::string box{};  ///< of --box, or of --im2col
  std::string swizzle{};
  std::string element{};
  bool im2col = false;
  std::string extent{}, stride{}, element_stride{}, address{};  ///< of the tensor; empty: not given
  std::string emit{};
};

/// Answers, and prints the answer.
void run_tma_box(Common& common, TmaBoxArguments const& options);

}  // namespace swizproof::command
