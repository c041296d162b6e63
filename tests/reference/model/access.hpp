// Draws accesses to tiles, and says by enumeration what check must answer.
#pragma once
#include "reference/model/function.hpp"
#include "reference/model/warp.hpp"

namespace reference {

/// A layout with accesses that were made for it, or almost.
struct Question {
  std::optional<Tile> tile;
  std::optional<Function> function;  ///< bare, of bytes; neither: the layout is `-`
  std::vector<Access> accesses;
  std::optional<int> at_most;
  std::optional<long long> align;

  std::vector<std::string> layout_words() const;
  std::vector<std::string> words() const;  ///< of a command line of check
};
void note(Campaign&, Question const&);
Question draw_question(Random&, bool small, bool find);

/// Several accesses: none of them costs many loops.
bool cheap(Question const&, long long most);
/// Bases are its multiples: `--align`, or the largest of the layout's own, the instruction's and 16 bytes.
long long base_step(Question const&, Access const&);
/// Bytes after which swizzles and banks repeat.
long long base_end(Question const&);
Shot shoot(Question const&, Access const&, Origin const&, long long base);
/// Bytes (bits below a byte) of the tile that two elements share.
bool shares(Tile const&);
/// Some access has no active lane, for all values of its variables.
bool idle(Question const&);
/// A thread-value layout that no warp can execute, or that leaves its own tile: bad input.
bool malformed(Question const&);
/// True if a thread-value access is to a swizzled layout whose offsets may carry: CuTe may slice another function, and the tool refuses.
bool may_be_sliced_otherwise(Question const&);
/// Compares one access of an answer of check, replays what it shows, and returns whether it is proved.
bool compare_access(Campaign&, Question const&, Access const&, Json const&);

/// The model's verdict alone, and the wavefronts of the worst case (0 where a lane does not fit).
bool expected_proved(Question const&, Access const&);
int worst_wavefronts(Question const&, Access const&);
/// A counter sees what the clock sees: no loads merge, and no group of lanes is idle.
bool countable(Question const&, Access const&);

}  // namespace reference
