// Operations on the numbers of a formula.
//
// Every formula (swizzle, bank, layout, law of wavefronts) is written once, as a template over a
// *word*. Four words exist, and with each the same template answers a different question:
//
//   std::uint32_t, std::uint64_t   what is the value?                tests, exhaustion, CUDA kernels
//   Term     (term.hpp)            is it so for every value?         the SMT engine
//   Affine   (affine.hpp)          which bits depend on which bits?  linear algebra over GF(2)
//   Motion   (motion.hpp)          how far does it move?             cases of an access that are one
//
// A word is a vector of bits with C's unsigned arithmetic: +, -, * wrap around at its width. Two
// things C leaves undefined are defined here, as SMT-LIB defines them: shl() and shr() by the width
// or more give 0. Comparing words gives a *truth*: bool for numbers, a formula for symbolic words.
// Truths are combined with &&, || and !, never used in an `if`, so that a formula stays a formula.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__cpp_concepts)
#include <concepts>
#endif

#if defined(__CUDACC__)
#define SWIZPROOF_HOST_DEVICE __host__ __device__
#else
/// Marks a function that kernels may call: `__host__ __device__` under nvcc, nothing elsewhere.
#define SWIZPROOF_HOST_DEVICE
#endif

namespace swizproof {

/// True for a plain number used as a word: 32 bits as shared-memory addresses have, or 64.
template <class W>
inline constexpr bool is_number = std::is_same_v<W, std::uint32_t> || std::is_same_v<W, std::uint64_t>;

/// `template <class W, if_number<W> = 0>`: for numbers alone. This header and those of hardware/ are C++17.
template <class W>
using if_number = std::enable_if_t<is_number<W>, int>;

/// The number `value` as a word of the same kind and width as `x`: `like(std::uint32_t{}, 5) == 5u`.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W like(W, std::uint64_t value) {
  return static_cast<W>(value);
}

/// x * 2^n without the bits that leave the word; 0 for n >= width. `shl(1u, 32u) == 0u`.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W shl(W x, std::uint64_t n) {
  return n < std::numeric_limits<W>::digits ? static_cast<W>(x << n) : W{0};
}

/// floor(x / 2^n); 0 for n >= width. `shr(0x80u, 3u) == 0x10u`.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W shr(W x, std::uint64_t n) {
  return n < std::numeric_limits<W>::digits ? static_cast<W>(x >> n) : W{0};
}

/// 2^bits - 1, a word of 64 bits: all ones from 64 on. `low_bits(4) == 0xf`.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t low_bits(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// `yes` where the condition holds, else `no`; both are always evaluated.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W select(bool condition, W yes, W no) {
  return condition ? yes : no;
}

/// A truth about words like x as a number that can be summed: 1 or 0. Enough bits to count a warp's
/// lanes and wavefronts: symbolic words give 8-bit counts.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t tally(W, bool truth) {
  return truth;
}

/// The larger of two words (unsigned).
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W larger(W a, W b) {
  return select(a < b, b, a);
}

/// floor(x / 2^n) of a two's complement number: the sign is repeated. Precondition: n < width.
/// `asr(std::uint64_t(-1), 3) == std::uint64_t(-1)`. Bit offsets of negative strides become bytes with it.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W asr(W const& x, unsigned n) {
  if constexpr (is_number<W>) {
    W const sign = static_cast<W>(W{0} - (x >> (std::numeric_limits<W>::digits - 1)));
    return n == 0 ? x : static_cast<W>(x >> n | sign << (std::numeric_limits<W>::digits - n));
  } else {
    W const sign = shr(x, x.width() - 1);
    W out = shr(x, n);
    for (unsigned i = 0; i < n; ++i) out = out ^ shl(sign, x.width() - 1 - i);
    return out;
  }
}

/// Result of comparing two words of this kind: `bool` for numbers.
template <class W>
using truth_of = decltype(W(like(std::declval<W>(), 0)) == std::declval<W>());

/// Result of counting truths of words of this kind: `std::uint32_t` for numbers.
template <class W>
using count_of = decltype(tally(std::declval<W>(), std::declval<truth_of<W>>()));

namespace detail {

template <class W, class = void>
inline constexpr bool is_symbolic = false;
template <class W>
inline constexpr bool is_symbolic<W, std::void_t<decltype(like(std::declval<W const&>(), std::uint64_t{}))>> =
    std::is_class_v<W>;

/// Enables an operator for a symbolic word W and an integer I.
template <class W, class I>
using if_beside = std::enable_if_t<is_symbolic<W> && std::is_integral_v<I>, int>;

}  // namespace detail

// Integers mix with symbolic words as they do with numbers: `x ^ ((x >> 3) & 0x70)`, `row * 128 + col`.
#define SWIZPROOF_BESIDE(op)                               \
  template <class W, class I, detail::if_beside<W, I> = 0> \
  [[nodiscard]] auto operator op(W const& a, I b) {        \
    return a op like(a, static_cast<std::uint64_t>(b));    \
  }                                                        \
  template <class W, class I, detail::if_beside<W, I> = 0> \
  [[nodiscard]] auto operator op(I a, W const& b) {        \
    return like(b, static_cast<std::uint64_t>(a)) op b;    \
  }
SWIZPROOF_BESIDE(^)
SWIZPROOF_BESIDE(&)
SWIZPROOF_BESIDE(|)
SWIZPROOF_BESIDE(+)
SWIZPROOF_BESIDE(-)
SWIZPROOF_BESIDE(*)
SWIZPROOF_BESIDE(/)
SWIZPROOF_BESIDE(%)
SWIZPROOF_BESIDE(==)
SWIZPROOF_BESIDE(<)
#undef SWIZPROOF_BESIDE

/// Shifts by a constant, as kernels write them. By the width or more: 0, where C leaves it undefined.
template <class W, class I, detail::if_beside<W, I> = 0>
[[nodiscard]] auto operator<<(W const& x, I n) {
  return shl(x, static_cast<std::uint64_t>(n));
}
template <class W, class I, detail::if_beside<W, I> = 0>
[[nodiscard]] auto operator>>(W const& x, I n) {
  return shr(x, static_cast<std::uint64_t>(n));
}

#if defined(__cpp_concepts)
/// The same as `is_number`.
template <class W>
concept Number = is_number<W>;

/// Everything a formula may do, and all it may do. Modelled by uint32_t, uint64_t, Term, Affine and Motion.
template <class W>
concept Word = std::copyable<W> && requires(W a, W b, truth_of<W> t, unsigned n) {
  { like(a, std::uint64_t{0}) } -> std::same_as<W>;
  { a ^ b } -> std::convertible_to<W>;
  { a& b } -> std::convertible_to<W>;
  { a | b } -> std::convertible_to<W>;
  { a + b } -> std::convertible_to<W>;
  { a - b } -> std::convertible_to<W>;
  { a* b } -> std::convertible_to<W>;
  { a / b } -> std::convertible_to<W>;
  { a % b } -> std::convertible_to<W>;
  { shl(a, n) } -> std::same_as<W>;
  { shr(a, n) } -> std::same_as<W>;
  { select(a == b, a, b) } -> std::same_as<W>;
  { a < b } -> std::convertible_to<truth_of<W>>;
  { t&& t } -> std::convertible_to<truth_of<W>>;
  { t || t } -> std::convertible_to<truth_of<W>>;
  { !t } -> std::convertible_to<truth_of<W>>;
};
#endif

/// `a` implies `b`.
template <class T>
[[nodiscard]] constexpr T implies(T const& a, T const& b) {
  return !a || b;
}

/// True in both or in neither.
template <class T>
[[nodiscard]] constexpr T iff(T const& a, T const& b) {
  return (a && b) || (!a && !b);
}

static_assert(low_bits(0) == 0 && low_bits(4) == 0xf && low_bits(64) == ~std::uint64_t{0});
static_assert(asr(std::uint64_t{0} - 9, 3) == std::uint64_t{0} - 2 && asr(9U, 3) == 1);

}  // namespace swizproof
