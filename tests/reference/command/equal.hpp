// Pairs of layouts, and whether they are one function.
#pragma once
#include <optional>

#include "reference/model/function.hpp"

namespace reference {

/// One side: a tile or a bare function.
struct Side {
  std::optional<Tile> tile;
  std::optional<Function> function;
  std::string const& text() const { return tile ? tile->text : function->text; }
};

struct Pair {
  Side left, right;
  std::vector<std::string> options;  ///< --element
  int bits = 0;                      ///< of an element; 0: not given
  std::optional<long long> align;
};
Pair draw_pair(Random&, Campaign&);

/// Answer of the model: equality, and the bases on which it holds (0: no base matters).
struct Equality {
  bool refused = false;
  bool equal = true;
  long long step = 0;
};
Equality equality(Pair const&);
/// Compares an answer of equal (its domain and counterexample) with the model's.
void compare_equal(Campaign&, Pair const&, Equality const&, Json const&);

}  // namespace reference
