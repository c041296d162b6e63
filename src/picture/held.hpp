// The picture of a fragment: the thread and the register that hold each element of a matrix, as CuTe's print_latex draws it.
#pragma once

#include "report/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace swizproof {

/// The holders of an element.
struct HeldCell {
  std::string thread{};     ///< "T5"; empty if none does
  std::string at{};         ///< in it: "R1.hi", "V3"
  std::uint64_t color = 0;  ///< the same of one thread
};

/// A part of a matrix that threads hold.
struct HeldMatrix {
  std::string title{};
  std::string down{}, across{};                  ///< names of the two indices
  std::int64_t first_row = 0, first_column = 0;  ///< of the part that is drawn
  std::vector<std::vector<HeldCell>> rows{};     ///< of the part
  std::vector<std::string> notes{};
};

/// Text of at most `columns` a line: columns of the matrix that do not fit are below the others.
[[nodiscard]] std::string terminal(HeldMatrix const& matrix, Style const& style, std::size_t columns);

/// A figure that stands alone: a colour for each eighth thread, its name and its register in each cell.
[[nodiscard]] std::string svg(HeldMatrix const& matrix);

/// A page that stands alone, with the figure.
[[nodiscard]] std::string html(HeldMatrix const& matrix);

}  // namespace swizproof
