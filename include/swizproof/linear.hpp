// Linear algebra over GF(2): matrices of bits, their rank and their kernel.
//
// A swizzle, and every address computed by XOR and shifts alone, is a linear map of bits. Its rank
// says whether it is one-to-one, and the ranks of two small matrices say how many wavefronts an
// access costs (bank.hpp). Everything here runs on the device too.
#pragma once

#include <swizproof/word.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace swizproof {

/// A square matrix over GF(2) as its columns: column i is the image of bit i. Applying it XORs the
/// columns of the set bits. The matrix of <3,4,3> has rank 32 on 32 bits.
struct BitMatrix {
  std::vector<std::uint64_t> columns{};

  /// The matrix of f on `count` input bits. Precondition: f is linear there (see is_linear).
  template <class F>
  [[nodiscard]] static constexpr BitMatrix of(F const& f, unsigned count) {
    BitMatrix m;
    for (unsigned i = 0; i < count; ++i) m.columns.push_back(f(std::uint64_t{1} << i));
    return m;
  }
  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t y = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if ((x >> i & 1) != 0) y ^= columns[i];
    return y;
  }
  friend constexpr bool operator==(BitMatrix const&, BitMatrix const&) = default;
};

/// Dimension of the span of `vectors`, which it uses up.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned rank_in_place(std::uint64_t* vectors, unsigned count) {
  unsigned rank = 0;
  for (unsigned i = 0; i < count; ++i) {
    std::uint64_t const v = vectors[i];
    if (v == 0) continue;
    ++rank;
    std::uint64_t const low = v & (~v + 1);
    for (unsigned j = i + 1; j < count; ++j)
      if ((vectors[j] & low) != 0) vectors[j] ^= v;
  }
  return rank;
}

/// Dimension of the span of `vectors`: `rank(std::array<std::uint64_t, 3>{1, 2, 3}) == 2`.
[[nodiscard]] constexpr unsigned rank(std::span<std::uint64_t const> vectors) {
  std::vector<std::uint64_t> copy(vectors.begin(), vectors.end());
  return rank_in_place(copy.data(), static_cast<unsigned>(copy.size()));
}

}  // namespace swizproof
