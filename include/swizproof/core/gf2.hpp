// Linear algebra over GF(2): matrices of bits, their rank and their kernel.
//
// A swizzle, and every address computed by XOR and shifts alone, is a linear map of bits. Its rank
// says whether it is one-to-one, and the ranks of two small matrices say how many wavefronts an
// access costs (bank.hpp).
#pragma once

#include <swizproof/core/word.hpp>

#include <cstddef>
#include <vector>

namespace swizproof {

/// A square matrix over GF(2) as its columns: column i is the image of bit i. Applying it XORs the
/// columns of the set bits. The matrix of <3,4,3> has rank 32 on 32 bits.
struct BitMatrix {
  std::vector<std::uint64_t> columns{};

  /// The matrix of f on `count` input bits. Precondition: f is linear there (see is_linear).
  template <class F>
  [[nodiscard]] static BitMatrix of(F const& f, unsigned count) {
    BitMatrix m;
    for (unsigned i = 0; i < count; ++i) m.columns.push_back(f(std::uint64_t{1} << i));
    return m;
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t y = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if ((x >> i & 1) != 0) y ^= columns[i];
    return y;
  }
  [[nodiscard]] friend bool operator==(BitMatrix const& a, BitMatrix const& b) {
    return a.columns == b.columns;
  }
};

/// The bit by which a vector is eliminated: its highest, 64 for none. Other kinds of vectors have functions of their own.
[[nodiscard]] constexpr unsigned pivot(std::uint64_t v) {
  unsigned at = 64;
  for (unsigned i = 0; i < 64; ++i)
    if ((v >> i & 1) != 0) at = i;
  return at;
}
[[nodiscard]] constexpr bool has_bit(std::uint64_t v, unsigned bit) {
  return bit < 64 && (v >> bit & 1) != 0;
}

/// Gaussian elimination over GF(2): each vector has a pivot that no other one contains. V has ^=, pivot(),
/// has_bit() and is_zero().
template <class V>
class Echelon {
 public:
  /// Remainder of v when all pivots are eliminated: 0 iff v is a sum of vectors that were added.
  [[nodiscard]] V reduce(V v) const {
    for (V const& row : rows_)
      if (has_bit(v, pivot(row))) v ^= row;
    return v;
  }
  /// Adds a vector; false if it was a sum of the others already.
  bool add(V const& v) {
    V const rest = reduce(v);
    if (is_zero(rest)) return false;
    for (V& row : rows_)
      if (has_bit(row, pivot(rest))) row ^= rest;
    rows_.push_back(rest);
    return true;
  }
  [[nodiscard]] std::vector<V> const& rows() const { return rows_; }

 private:
  static bool is_zero(std::uint64_t v) { return v == 0; }
  template <class Other>
  static auto is_zero(Other const& v) -> decltype(v.is_zero()) {
    return v.is_zero();
  }
  std::vector<V> rows_{};
};

/// Dimension of the span of `vectors`: `rank(std::array<std::uint64_t, 3>{1, 2, 3}) == 2`.
template <class Vectors>
[[nodiscard]] unsigned rank(Vectors const& vectors) {
  Echelon<std::uint64_t> all;
  for (std::uint64_t const v : vectors) all.add(v);
  return static_cast<unsigned>(all.rows().size());
}

}  // namespace swizproof
