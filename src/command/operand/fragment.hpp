// Shared parts of `swizproof fragment`: one fragment, and a movement from one into another.
#pragma once

#include "command/line/command.hpp"

#include <swizproof/analysis/fragment.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace swizproof::command {

/// The command line of `fragment`.
struct FragmentArguments {
  std::string fragment;
  std::string operand;
  std::string element;
  std::optional<std::string> at{};
  std::optional<unsigned> lane{};
  std::optional<std::string> into{};
  std::optional<std::string> tv{};
  std::string contiguous{};
  std::string emit{};
  bool transposed = false;

  [[nodiscard]] std::optional<unsigned> element_bits() const {
    return element.empty() ? std::nullopt : std::optional(parse_element(element));
  }
};

/// `3,5` or `(3,5)`: row and column of an element of a tile. Throws InputError.
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t> element_at(std::string const& text,
                                                                        std::uint64_t rows,
                                                                        std::uint64_t columns) {
  bool const brackets = text.starts_with('(') && text.ends_with(')');
  std::size_t const from = brackets ? 1 : 0, to = text.size() - from, comma = text.find(',');
  std::string const wanted = fmt::format("--at takes ROW,COLUMN, from 0,0 to {},{}", rows - 1, columns - 1);
  if (comma == std::string::npos) throw InputError::whole(wanted, text);
  std::uint64_t const row = parse_number(text, from, comma, wanted);
  std::uint64_t const column = parse_number(text, comma + 1, to, wanted);
  if (row >= rows || column >= columns) throw InputError::whole(wanted, text);
  return {row, column};
}

/// `R1.hi`: bits `from` .. `from + bits - 1` of a thread's registers.
[[nodiscard]] inline std::string register_name(Fragment const& f, unsigned value, unsigned bits) {
  unsigned const from = value * f.bits, size = f.register_bits();
  std::string name = "R" + std::to_string(from / size);
  unsigned const part = from % size / bits;
  if (bits == size) return name;
  if (bits == 16) return name + (part == 0 ? ".lo" : ".hi");
  return name + (bits == 8 ? ".b" : bits == 4 ? ".n" : bits == 2 ? ".i" : ".bit") + std::to_string(part);
}

[[nodiscard]] inline std::string element_text(NamedFragment const& f, MatrixElement const& e) {
  return fmt::format("({} {}, {} {})", f.row_index(), e.row, f.column_index(), e.column);
}

/// Refuses an architecture that was given and lacks the instruction: it has its first one's number or a later, that of `sm_90a` alone.
void refuse_older(Common const& common, std::string const& instruction, std::string const& needs);

/// Prints who holds which element of a whole tile: of an operand of a TiledMMA.
void run_tile(Common& common, FragmentArguments const& options, TiledOperand const& operand);

/// Prints the verdict on a TiledCopy --into an operand of a TiledMMA, or on an operand --into a TiledCopy.
void run_retile(Common& common, FragmentArguments const& options);

/// Does FRAGMENT --into FRAGMENT, and says what it found.
void run_movement(Common& common, FragmentArguments const& options);

}  // namespace swizproof::command
