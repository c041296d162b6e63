// The word whose bits are affine forms over GF(2), and the engine that decides equations of them.
//
// `Affine` is the second kind of word (see word.hpp). Each of its bits is an XOR of input bits and
// perhaps 1. One run of a formula on it shows which output bits depend on which input bits, for
// all inputs at once. XOR, shifts, masks by constants are exact. Anything else (an addition that
// may carry, a product of two unknowns, an order) is not affine; the result is then *opaque*, and
// so is every statement made of it: the engine gives no answer and never guesses.
//
//   x ^ ((x & 0x380) >> 3)          affine
//   x + 16, x aligned to 32         affine: no carry can happen
//   x + 16, x free                  opaque
#pragma once

#include <swizproof/core/word.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <vector>

namespace swizproof {

/// XOR of input bits, and 1 if `constant`. Inputs are numbered 0..255.
struct AffineForm {
  std::array<std::uint64_t, 4> inputs{};
  bool constant = false;

  friend constexpr bool operator==(AffineForm const&, AffineForm const&) = default;
  [[nodiscard]] constexpr bool has_inputs() const {
    return (inputs[0] | inputs[1] | inputs[2] | inputs[3]) != 0;
  }
  [[nodiscard]] constexpr bool is_zero() const { return !constant && !has_inputs(); }
  constexpr AffineForm& operator^=(AffineForm const& other) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] ^= other.inputs[i];
    constant ^= other.constant;
    return *this;
  }
  /// The lowest input that occurs, or 256.
  [[nodiscard]] constexpr unsigned leading() const {
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (inputs[i] != 0) return 64 * i + static_cast<unsigned>(std::countr_zero(inputs[i]));
    return 256;
  }
  [[nodiscard]] constexpr bool contains(unsigned input) const {
    return (inputs[input / 64] >> (input % 64) & 1) != 0;
  }
};

/// For Echelon (core/gf2.hpp).
[[nodiscard]] constexpr unsigned pivot(AffineForm const& form) { return form.leading(); }
[[nodiscard]] constexpr bool has_bit(AffineForm const& form, unsigned input) {
  return input < 256 && form.contains(input);
}

/// A system of equations "form = 0", which hold together; or an opaque truth.
struct AffineTruth {
  bool opaque = false;
  std::vector<AffineForm> zero{};

  AffineTruth() = default;
  AffineTruth(bool truth) {  // NOLINT: a plain truth is one of these
    if (!truth) zero.push_back({{}, true});
  }
  [[nodiscard]] static AffineTruth unknown() {
    AffineTruth t;
    t.opaque = true;
    return t;
  }
  /// The truth value, if it does not depend on any input.
  [[nodiscard]] std::optional<bool> constant() const;
  friend AffineTruth operator&&(AffineTruth a, AffineTruth const& b);
  friend AffineTruth operator||(AffineTruth const& a, AffineTruth const& b);
  friend AffineTruth operator!(AffineTruth const& a);
};

/// A word of up to 64 bits whose bits are affine forms of the inputs. By columns: a number, XORed with the column of each
/// input that is 1. So an operation costs one step for each input that occurs, not one for each bit.
class Affine {
 public:
  /// The constant 0 of one bit.
  Affine() : Affine(1, 0) {}
  /// The constant `value` as a word of `width` bits.
  Affine(unsigned width, std::uint64_t value) : width_(width), constant_(value & mask()) {}
  /// The word whose low `count` bits are inputs first, first+1, ...; higher bits are 0.
  [[nodiscard]] static Affine inputs(unsigned width, unsigned first, unsigned count);
  /// A word without any known bit.
  [[nodiscard]] static Affine unknown(unsigned width);

  [[nodiscard]] unsigned width() const { return width_; }
  /// False where some operation was not affine: then the bits mean nothing.
  [[nodiscard]] bool exact() const { return !opaque_; }
  [[nodiscard]] AffineForm bit(unsigned i) const;
  /// The inputs that the word depends on, as a mask.
  [[nodiscard]] std::array<std::uint64_t, 4> depends_on() const;
  /// The value, if it does not depend on any input.
  [[nodiscard]] std::optional<std::uint64_t> constant() const {
    return opaque_ || !columns_.empty() ? std::nullopt : std::optional(constant_);
  }
  /// The value where the inputs have the bits of `inputs`. Precondition: exact().
  [[nodiscard]] std::uint64_t at(std::array<std::uint64_t, 4> const& inputs) const;

  friend Affine like(Affine const& x, std::uint64_t value) { return {x.width_, value}; }
  friend Affine operator^(Affine a, Affine const& b);
  friend Affine operator&(Affine const& a, Affine const& b);
  friend Affine operator|(Affine const& a, Affine const& b);
  friend Affine operator+(Affine const& a, Affine const& b);
  friend Affine operator-(Affine const& a, Affine const& b);
  friend Affine operator*(Affine const& a, Affine const& b);
  friend Affine operator/(Affine const& a, Affine const& b);
  friend Affine operator%(Affine const& a, Affine const& b);
  friend Affine shl(Affine const& a, std::uint64_t n);
  friend Affine shr(Affine const& a, std::uint64_t n);
  friend Affine shl(Affine const& a, Affine const& n);
  friend Affine shr(Affine const& a, Affine const& n);
  friend Affine select(AffineTruth const& condition, Affine const& yes, Affine const& no);
  friend AffineTruth operator==(Affine const& a, Affine const& b);
  friend AffineTruth operator<(Affine const& a, Affine const& b);

 private:
  /// Bits that an input flips: at least one.
  struct Column {
    unsigned input;
    std::uint64_t bits;
    friend bool operator==(Column const&, Column const&) = default;
  };
  [[nodiscard]] Affine opaque() const { return unknown(width_); }
  [[nodiscard]] std::uint64_t mask() const {
    return width_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_) - 1;
  }
  /// Bits that some input flips.
  [[nodiscard]] std::uint64_t varying() const;
  /// The word whose number and columns are f of these. Precondition: f is linear over GF(2).
  template <class F>
  [[nodiscard]] Affine mapped(F const& f) const;

  unsigned width_ = 1;
  bool opaque_ = false;
  std::uint64_t constant_ = 0;
  std::vector<Column> columns_{};  // by input; empty if opaque
};

/// Counting truths is not affine unless they are constant.
[[nodiscard]] Affine tally(Affine const& x, AffineTruth const& truth);

/// A point that satisfies `hypothesis` and violates `conclusion`, as one bit per input; or why there
/// is none: `implied` says that the implication holds for every input.
struct AffineDecision {
  bool implied = false;
  std::array<std::uint64_t, 4> witness{};
};

/// Decides "hypothesis implies conclusion" for all inputs, exactly; nothing if either is opaque.
[[nodiscard]] std::optional<AffineDecision> decide(AffineTruth const& hypothesis,
                                                   AffineTruth const& conclusion);

}  // namespace swizproof
