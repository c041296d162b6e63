// Bytes of words: what moves them, numbers and names alike.
#pragma once

#include "names.hpp"

#include <swizproof/program/program.hpp>

#include <string_view>

namespace swizproof::flow_detail {

/// Type of an instruction, and how many of its elements one register holds.
struct Packed {
  Format format = Format::integer;
  unsigned bytes = 4, count = 1;
  char sign = 'b';
};
/// `packed_of("f16x2")` has two elements of 2 bytes.
[[nodiscard]] Packed packed_of(std::string_view type);

/// The low bytes of a word.
[[nodiscard]] Word low_bytes(Word w, unsigned bytes);
/// The bytes [from, from + bytes) of a word.
[[nodiscard]] Word bytes_of(Word const& w, unsigned from, unsigned bytes);
/// Puts the low bytes of `value` into a word whose bytes from `at` on are 0.
void place(Word& into, unsigned at, Word const& value, unsigned bytes);
/// Moves of whole bytes by any operation; false if it moves no whole bytes.
[[nodiscard]] bool moved_bytes(program::Step const& s, Word const& a, Word const& b, Word& out);
/// Sums and products of integers that have names as a whole; false if it is none.
[[nodiscard]] bool sum_of_names(Names& names, program::Step const& s, Word const& a, Word const& b,
                                std::uint32_t line, Word& out);

}  // namespace swizproof::flow_detail
