// The swizzle: CuTe's Swizzle<BBits, MBase, SShift>, here Swizzle{bits, base, shift}.
//
//        shift > 0                                   shift < 0
//   ....YYY....ZZZ....                          ....ZZZ....YYY....
//       |      |   '-- base: low bits kept          |      |   '-- base
//       |      '------ ZZZ: target, bits wide       |      '------ YYY: source
//       '------------- YYY: source                  '------------- ZZZ: target
//
//   f(x) = x ^ (YYY of x, moved |shift| places onto ZZZ)
//
// Example, Swizzle{3, 4, 3} on byte addresses (the "128-byte swizzle"):
//   bits 9 8 7 (which 128-byte row) are XORed onto bits 6 5 4 (which 16-byte chunk of the row).
//
// f does not know its unit. Whoever applies it to byte addresses gets the hardware's swizzle;
// on element offsets another base is needed: see recast().
//
// The formula itself is `SwizzleFormula`, whose parameters may be symbolic, so that one proof speaks
// of all swizzles at once; `Swizzle` is the plain value that everything else uses.
#pragma once

#include <swizproof/core/word.hpp>

#include <optional>
#include <string_view>

namespace swizproof {

/// Why three numbers are not a swizzle; `SwizzleError::none` where they are.
enum class SwizzleError { none, negative_bits, negative_base, fields_overlap, too_wide };

/// The sentence that explains a SwizzleError to the one who typed it.
[[nodiscard]] constexpr std::string_view explain(SwizzleError error) {
  switch (error) {
    case SwizzleError::negative_bits:
      return "bits (BBits) must not be negative";
    case SwizzleError::negative_base:
      return "base (MBase) must not be negative";
    case SwizzleError::fields_overlap:
      return "bits must not exceed |shift|: source and target bits would overlap";
    case SwizzleError::too_wide:
      return "base + bits + |shift| must not exceed 32";
    case SwizzleError::none:
      break;
  }
  return "valid";
}

/// The swizzle by a mask: f(x) = x ^ (the source bits of x, moved |shift| places). What is true for every mask is true for a
/// field of bits, and takes a solver less time to see.
template <class W, class N = W>
struct MaskSwizzle {
  W source;
  N distance;
  bool leftward = false;

  /// `bits`, moved as far as source bits are. <3,4,3>: 0x380 becomes 0x70.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W moved(W bits) const {
    return leftward ? shl(bits, distance) : shr(bits, distance);
  }
  /// f(x). Bits at or above the word's width are read as 0 and dropped when written.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W operator()(W x) const { return x ^ moved(x & source); }
};

/// The swizzle with parameters of type N: `unsigned`, or a symbolic word in a theorem about all
/// swizzles. `distance` is |shift|; `leftward` says that shift is negative.
template <class N>
struct SwizzleFormula {
  N bits;
  N base;
  N distance;
  bool leftward = false;

  /// 2^n as a word like x.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE static constexpr W power(W x, N n) {
    return shl(like(x, 1), n);
  }
  /// The source bits YYY. <3,4,3>: 0x380.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W source_mask(W x) const {
    return shl(W(power(x, bits) - 1), leftward ? base : N(base + distance));
  }
  /// The target bits ZZZ. <3,4,3>: 0x70.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W target_mask(W x) const {
    return shl(W(power(x, bits) - 1), leftward ? N(base + distance) : base);
  }
  /// f by its source mask, on words like x.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MaskSwizzle<W, N> by_mask(W x) const {
    return {source_mask(x), distance, leftward};
  }
  /// f(x).
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W operator()(W x) const {
    return by_mask(x)(x);
  }
  /// 2^(base+bits+|shift|), the least P with f(x+P) = f(x)+P for all x (proofs/theorems/period.cpp), if
  /// bits > 0. <3,4,3>: 1024.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W period(W x) const {
    return power(x, N(N(base + bits) + distance));
  }
  /// The aligned block that f permutes within: 2^(base+bits) rightward, the period leftward.
  /// <3,4,3>: 128.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W span(W x) const {
    return leftward ? period(x) : power(x, N(base + bits));
  }
};

/// CuTe's Swizzle<BBits, MBase, SShift> as a value. `Swizzle{3, 4, 3}(0x80u) == 0x90u`.
/// Precondition of every use: `error() == SwizzleError::none`.
struct Swizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;

  [[nodiscard]] friend constexpr bool operator==(Swizzle const& a, Swizzle const& b) {
    return a.bits == b.bits && a.base == b.base && a.shift == b.shift;
  }
  [[nodiscard]] friend constexpr bool operator!=(Swizzle const& a, Swizzle const& b) { return !(a == b); }
  /// By bits, then base, then shift.
  [[nodiscard]] friend constexpr bool operator<(Swizzle const& a, Swizzle const& b) {
    return a.bits != b.bits ? a.bits < b.bits : a.base != b.base ? a.base < b.base : a.shift < b.shift;
  }

  /// Valid iff bits >= 0, base >= 0, bits <= |shift| and base + bits + |shift| <= 32.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr SwizzleError error() const {
    long long const d = shift < 0 ? -static_cast<long long>(shift) : shift;
    if (bits < 0) return SwizzleError::negative_bits;
    if (base < 0) return SwizzleError::negative_base;
    if (bits > d) return SwizzleError::fields_overlap;
    if (static_cast<long long>(base) + bits + d > 32) return SwizzleError::too_wide;
    return SwizzleError::none;
  }
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool valid() const { return error() == SwizzleError::none; }
  /// |shift|: how many places the source bits travel.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned distance() const {
    return static_cast<unsigned>(shift < 0 ? -shift : shift);
  }
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr SwizzleFormula<unsigned> formula() const {
    return {static_cast<unsigned>(bits), static_cast<unsigned>(base), distance(), shift < 0};
  }
  /// f(x); the unit of x is the caller's. Worked: <3,4,3> takes 0x3ff to 0x38f.
  template <class W>
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W operator()(W x) const {
    return formula()(x);
  }
  /// Source bits YYY as a mask.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t source_mask() const {
    return formula().source_mask(std::uint64_t{});
  }
  /// Target bits ZZZ as a mask.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t target_mask() const {
    return formula().target_mask(std::uint64_t{});
  }
  /// Least P > 0 with f(x+P) = f(x)+P for all x: 1 for the identity, else 2^(base+bits+|shift|).
  /// Base addresses that are multiples of it make relative and absolute addressing agree.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t period() const {
    return bits == 0 ? 1 : formula().period(std::uint64_t{});
  }
  /// True if no sum of a number with bits of `a` and one with bits of `b` carries into or out of a source or target bit: a condition
  /// that is sufficient. Where the parts of a slice carry, CuTe, which takes each part through the swizzle by itself, addresses other
  /// elements than the layout. <3,4,3>: true of 0x80 and 0x100, false of 0x80 and 0x80, true of 0x400 and 0x400.
  /// Checked by tests/unit/core/swizzle_properties.cpp; against CuTe's partition by tests/cutlass/copies.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool adds_without_carry(std::uint64_t a,
                                                                        std::uint64_t b) const {
    return bits == 0 || (a & b & (period() - 1)) == 0;
  }
  /// Size of the aligned block that f permutes within; 1 for the identity.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t span() const {
    return bits == 0 ? 1 : formula().span(std::uint64_t{});
  }
};

/// The swizzle on units of 2^log2_unit that equals `s` on single units:
/// s(x * 2^k) = recast(s, k)(x) * 2^k for all x. Nothing where no swizzle does that, because s
/// moves bits below the unit. Negative k refines the unit (bytes of an element swizzle), and gives
/// nothing where the result would leave 32 bits.
/// Byte swizzle <3,4,3> on 16-bit elements: `recast(Swizzle{3,4,3}, 1) == Swizzle{3,3,3}`.
/// Checked by proofs/theorems/recast.cpp for k > 0, by tests/unit/core/swizzle_properties.cpp for k < 0.
[[nodiscard]] constexpr std::optional<Swizzle> recast(Swizzle s, int log2_unit) {
  Swizzle const moved{s.bits, s.base - log2_unit, s.shift};
  if (moved.base >= 0) return moved.valid() ? std::optional(moved) : std::nullopt;
  int const lost = -moved.base;  // fields reach this far below the unit
  Swizzle const kept{s.bits > lost ? s.bits - lost : 0, 0, s.shift};
  bool const leftward = s.shift < 0;  // targets lie above sources: none is cut in two
  bool const untouched = s.base + s.bits + static_cast<int>(s.distance()) <= log2_unit;
  if (s.bits == 0 || leftward || untouched) return kept;
  return std::nullopt;
}

/// The three swizzles that TMA and wgmma know, and the identity, all on byte addresses.
inline constexpr Swizzle swizzle_none{0, 4, 3};
inline constexpr Swizzle swizzle_32B{1, 4, 3};
inline constexpr Swizzle swizzle_64B{2, 4, 3};
inline constexpr Swizzle swizzle_128B{3, 4, 3};

static_assert(swizzle_128B.source_mask() == 0x380 && swizzle_128B.target_mask() == 0x70);
static_assert(swizzle_128B(0x3ffU) == 0x38fU && swizzle_128B(0x80U) == 0x90U);
static_assert(swizzle_128B.span() == 128 && swizzle_128B.period() == 1024);
static_assert(swizzle_128B.adds_without_carry(0x80, 0x100) && !swizzle_128B.adds_without_carry(0x80, 0x80));
static_assert(Swizzle{3, 0, -3}(0x7U) == 0x3fU && Swizzle{3, 0, -3}.span() == 64);
static_assert(recast(swizzle_128B, 1) == Swizzle{3, 3, 3} && !recast(swizzle_128B, 5));
static_assert(Swizzle{4, 0, 2}.error() == SwizzleError::fields_overlap);

}  // namespace swizproof
