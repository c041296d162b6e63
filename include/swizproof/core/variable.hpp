// Variables of a statement.
#pragma once

#include <swizproof/core/word.hpp>

#include <string>
#include <utility>

namespace swizproof {

/// A quantified variable: all numbers of `bits` bits; or, with a count, first, first + step, .., `count` values in
/// all. Engines speak of the *number* of a value, from 0; value() is the value. `{"x", 64}` is every 64-bit number.
struct Variable {
  std::string name{};
  unsigned bits = 64;  ///< size of the largest number, at least 1
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 0;  ///< 0: 2^bits

  /// `Variable::steps("i", 0, 4, 8)`: 0, 4, .., 28. Precondition: count > 0.
  [[nodiscard]] static Variable steps(std::string name, std::uint64_t first, std::uint64_t step,
                                      std::uint64_t count) {
    Variable v{std::move(name), 1, first, step, count};
    while (v.bits < 64 && (count - 1) >> v.bits != 0) ++v.bits;
    return v;
  }
  /// first..last, both included. `Variable::range("x", 0, ~0ULL)`: every 64-bit number.
  [[nodiscard]] static Variable range(std::string name, std::uint64_t first, std::uint64_t last) {
    if (last - first == ~std::uint64_t{0}) return {std::move(name)};
    return steps(std::move(name), first, 1, last - first + 1);
  }
  /// The value of number i.
  template <class W>
  [[nodiscard]] W value(W const& i) const {
    return first == 0 && step == 1 ? i : W(first + i * step);
  }
  /// True for every 64-bit number.
  [[nodiscard]] bool unlimited() const { return count == 0 && bits == 64; }
  /// The largest value. Precondition: first + step * (count - 1) fits 64 bits.
  [[nodiscard]] std::uint64_t last() const {
    return first + step * (count != 0 ? count - 1 : low_bits(bits));
  }
  /// True if some number of `bits` bits stands for no value.
  [[nodiscard]] bool bounded() const {
    return count != 0 && (bits == 64 || count != std::uint64_t{1} << bits);
  }

  [[nodiscard]] friend bool operator==(Variable const& a, Variable const& b) {
    return a.name == b.name && a.bits == b.bits && a.first == b.first && a.step == b.step &&
           a.count == b.count;
  }
};

}  // namespace swizproof
