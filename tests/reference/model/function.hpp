// Bare functions: a swizzle, the TMA's maps, or C arithmetic that changes low bits alone.
#pragma once
#include "reference/model/expression.hpp"
#include "reference/model/tile.hpp"

namespace reference {

struct Function {
  std::string text;
  std::vector<std::string> options;
  int bits = 8;       ///< of the unit: an element where --element is given
  bool bytes = true;  ///< acts on bytes
  int top = 0;        ///< no bit from here on is changed or read
  Swizzle swizzle;
  std::vector<Swizzle> terms;  ///< x ^ every term's change
  long long constant = 0;
  bool expression = false;

  long long operator()(long long x) const {
    if (!expression) return swizzle(x);
    auto y = x ^ constant;
    for (auto const& t : terms) y ^= t(x) ^ x;
    return y;
  }
  long long window() const { return 1ll << top; }
  bool identity() const;
  /// Least base, in bytes, from whose multiples f(b + x) = b + f(x) for all x.
  long long alignment() const;
  std::vector<std::string> words() const;
};

/// `top`: of the bits that it touches.
Function draw_function(Random&, int top = 9);
void note(Campaign&, Function const&);

}  // namespace reference
