// Pictures of shared memory itself: accesses by raw address, as a trace has them.
#include "picture/picture.hpp"

#include <algorithm>

namespace swizproof {

namespace {

/// The rows from `first` to `last`, both included, each of all banks once.
Tile memory_tile(std::int64_t first, std::int64_t last, Banks banks) {
  std::int64_t const row_words = banks.count, word_bits = 8 * banks.bytes;
  Tile tile;
  tile.memory = true;
  tile.layout = "shared memory";
  tile.element_bits = 8 * banks.bytes;
  tile.row0 = first;
  tile.rows = last - first + 1;
  tile.all_rows = last + 1;
  tile.cols = tile.all_cols = row_words;
  for (std::int64_t word = first * row_words; word < (last + 1) * row_words; ++word) {
    tile.offset.push_back(word);
    tile.plain.push_back(word * word_bits);
  }
  tile.swizzled = tile.plain;
  return tile;
}

}  // namespace

Picture make_picture(Architecture const& arch, std::string access, Instruction instruction,
                     WarpAccess<std::uint32_t> const& addresses) {
  std::int64_t const row_words = arch.banks.count;
  Shot shot;
  std::int64_t first = most_elements_shown, last = 0;
  for (unsigned lane = 0; lane < instruction.lanes(); ++lane) {
    if (!addresses.active[lane]) continue;
    std::int64_t const address = addresses.address[lane], word = address / arch.banks.bytes,
                       row = word / row_words;
    shot.lane[lane] = LaneSpot{row, word % row_words, address, address};
    first = std::min(first, row), last = std::max(last, row);
  }
  Picture picture = make_picture(memory_tile(std::min(first, last), last, arch.banks), arch,
                                 std::move(access), instruction, std::move(shot), {});
  picture.sides[0].name = "as executed";
  return picture;
}

}  // namespace swizproof
