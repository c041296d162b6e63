// The cost model of the measurements, by counting, and the accesses that the reference model draws.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/model/expression.hpp"
#include "reference/model/tile.hpp"

namespace reference {

/// One warp-wide instruction.
struct Instruction {
  enum Kind { load, store, ldmatrix, stmatrix, async } kind = load;
  int width = 4;     ///< bytes a lane (16 for a row of a matrix)
  int matrices = 0;  ///< of ldmatrix and stmatrix
  std::string name;

  bool is_matrix() const { return matrices > 0; }
  bool writes() const { return kind == store || kind == stmatrix || kind == async; }
  /// Lanes whose addresses count.
  int lanes() const { return is_matrix() ? 8 * matrices : 32; }
  int ideal() const { return is_matrix() ? matrices : std::max(1, width / 4); }
};

std::vector<Instruction> const& instructions();
Instruction const& instruction(std::string const& name);

/// Per lane a byte address, or nothing.
using Warp = std::array<std::optional<long long>, 32>;

/// Lanes of one group that meet in one bank.
struct Meeting {
  int group = 0, bank = 0;
  std::vector<std::pair<int, long long>> served;  ///< lane and word: one lane a word, of cp.async every lane
};

struct Cost {
  int wavefronts = 0;
  std::vector<int> degree;
  std::vector<Meeting> meetings;  ///< where more than one slot is needed
  bool merged = false;
  int group_lanes = 32;
};
Cost cost(Instruction const&, Warp const&, bool meetings = false);

/// A variable that an access runs over.
struct Range {
  std::string name;
  long long first = 0, last = 0, step = 1;
};

/// A thread-value layout with its tile.
struct ThreadValue {
  Mode layout;
  long long rows = 1, cols = 1;
};

/// An access as a line of text, with what it means.
struct Access {
  Instruction op;
  std::string text;
  enum Form { coordinates, plain_index, named, thread_value, address } form = coordinates;
  std::vector<Expression>
      coordinate;  ///< of lane and variables; bytes for `address`; row and byte for `named`
  std::optional<Expression> condition;
  std::vector<Range> ranges;
  ThreadValue tv;
};

/// Why a lane's access is none.
struct Fit {
  bool fits = true;
  bool vague = false;  ///< the contract does not say whether it fits
  int lane = -1;
  std::string why;
};

/// One warp of an access: what each active lane touches.
struct Shot {
  Warp warp;
  Fit fit;
  std::array<std::string, 32> bad{};  ///< why a lane does not fit
  std::array<std::vector<long long>, 32> coordinate;
  std::vector<std::pair<long long, int>> bytes;  ///< element and byte of it, or bit for elements below a byte
};

using Origin = std::map<std::string, long long>;
/// All values of the variables of an access on a tile.
std::vector<Origin> origins(Access const&, Tile const*);
Shot shoot(Access const&, Tile const*, Swizzle const* bare, Origin const&, long long base);

}  // namespace reference
