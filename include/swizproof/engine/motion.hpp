// The word of a variable that takes larger and larger values: how far does each value move?
//
// `Motion` is the fourth kind of word (see word.hpp). One variable takes the values first, first + step, .., in steps k = 0, 1, ..;
// all others take any of theirs. A Motion has bounds of a value over all of that, low bits that are 0 in all of it, and the
// number by which the value moves with each step, where it is the same for all values and all k. One run of a
// formula on Motions computes it for all cases:
//
//   i % 8            where i moves by 8:     moves by 0
//   Sw<3,4,3> of x   where x moves by 1024:  moves by 1024
//   Sw<3,4,3> of x   where x moves by 512:   not known
//
// "Not known" is always an allowed answer. Checked operator by operator against numbers: Motion.IsTrueOfNumbers.
#pragma once

#include <swizproof/core/word.hpp>

#include <bit>
#include <cstdint>
#include <optional>

namespace swizproof {

/// A truth while the variable moves: its value, if it is the same in all cases; else if the steps leave it as it is.
struct MotionTruth {
  std::optional<bool> value{};
  bool steady = false;  ///< k changes nothing

  MotionTruth() = default;
  MotionTruth(bool truth) : value(truth), steady(true) {}  // NOLINT: a plain truth is one of these
  /// A truth that depends on other variables alone, or on k as well.
  [[nodiscard]] static MotionTruth open(bool steady) {
    MotionTruth t;
    t.steady = steady;
    return t;
  }
  friend MotionTruth operator&&(MotionTruth const& a, MotionTruth const& b) {
    if (a.value == false || b.value == false) return false;
    return a.value && b.value ? MotionTruth(true) : open(a.steady && b.steady);
  }
  friend MotionTruth operator!(MotionTruth const& a) { return a.value ? MotionTruth(!*a.value) : a; }
  friend MotionTruth operator||(MotionTruth const& a, MotionTruth const& b) { return !(!a && !b); }
};

/// A word of 64 bits while the variable moves.
class Motion {
 public:
  /// The constant 0.
  Motion() = default;
  /// A word that takes values between two numbers, in two's complement, both included, and moves by `step` with each k. All
  /// are multiples of 2^zeros.
  [[nodiscard]] static Motion between(std::int64_t least, std::int64_t most, std::uint64_t step = 0,
                                      unsigned zeros = 0);

  /// The number by which the value moves with each k, modulo 2^64; nothing where it is not known, or not always the same.
  [[nodiscard]] std::optional<std::uint64_t> step() const { return step_; }
  [[nodiscard]] std::int64_t least() const { return least_; }
  [[nodiscard]] std::int64_t most() const { return most_; }
  [[nodiscard]] unsigned width() const { return 64; }

  friend Motion like(Motion const&, std::uint64_t value) { return number(value); }
  friend Motion operator^(Motion const& a, Motion const& b);
  friend Motion operator&(Motion const& a, Motion const& b);
  friend Motion operator|(Motion const& a, Motion const& b);
  friend Motion operator+(Motion const& a, Motion const& b);
  friend Motion operator-(Motion const& a, Motion const& b);
  friend Motion operator*(Motion const& a, Motion const& b);
  friend Motion operator/(Motion const& a, Motion const& b);
  friend Motion operator%(Motion const& a, Motion const& b);
  friend Motion shl(Motion const& a, std::uint64_t n);
  friend Motion shr(Motion const& a, std::uint64_t n);
  friend Motion shl(Motion const& a, Motion const& n);
  friend Motion shr(Motion const& a, Motion const& n);
  friend Motion asr(Motion const& a, unsigned n);
  friend Motion select(MotionTruth const& condition, Motion const& yes, Motion const& no);
  friend MotionTruth operator==(Motion const& a, Motion const& b);
  friend MotionTruth operator<(Motion const& a, Motion const& b);

 private:
  [[nodiscard]] static Motion number(std::uint64_t value) {
    auto const x = static_cast<std::int64_t>(value);
    return between(x, x, 0, static_cast<unsigned>(std::countr_zero(value)));
  }
  /// A word of any value.
  [[nodiscard]] static Motion any(std::optional<std::uint64_t> step);
  /// Any value, which k does not change where it changes neither operand.
  [[nodiscard]] static Motion of_steady(Motion const& a, Motion const& b);
  [[nodiscard]] std::optional<std::uint64_t> constant() const {
    return least_ == most_ ? std::optional(static_cast<std::uint64_t>(least_)) : std::nullopt;
  }
  [[nodiscard]] bool is_steady() const { return step_ == std::uint64_t{0}; }
  /// True if all values are below 2^63, so that unsigned operations are those of two's complement.
  [[nodiscard]] bool is_natural() const { return least_ >= 0; }
  /// The step as a number that is added to the value as an integer: no value wraps around. Nothing if that is not known.
  [[nodiscard]] std::optional<std::int64_t> integer_step() const;
  /// True if the step leaves all bits alone that this natural number can have: its bits lie below the lowest of the step's.
  [[nodiscard]] bool lies_below_steps_of(Motion const& moving) const;
  /// floor(a / divisor) as an integer. Precondition: divisor > 0.
  [[nodiscard]] Motion quotient(std::int64_t divisor) const;
  /// Bounds of a value made of the bits of two natural numbers: the bits that the larger one may have; else all numbers.
  [[nodiscard]] static Motion of_bits(Motion const& a, Motion const& b, std::optional<std::uint64_t> step);

  std::int64_t least_ = 0, most_ = 0;
  unsigned zeros_ = 64;  // low bits
  std::optional<std::uint64_t> step_ = 0;
};

}  // namespace swizproof
