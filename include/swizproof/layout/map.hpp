// The meaning of a user's LAYOUT text: a function from indices to element offsets, and from there to
// byte addresses.
//
//   index --(Layout, offset, element swizzle, ...)--> element offset
//   base + offset * element size --(byte swizzle)--> byte address
//
// "Sw<3,3,3> o _0 o (8,64):(64,1)" has all its swizzle in the first line, "Sw<3,4,3> o
// smem_ptr[16b](unset) o (8,64):(64,1)" has it in the second, where it sees the base as well.
#pragma once

#include <swizproof/layout/array.hpp>
#include <swizproof/layout/expression.hpp>
#include <swizproof/layout/layout.hpp>
#include <swizproof/core/swizzle.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace swizproof {

/// Hint where the size of an element is needed and not known.
inline constexpr char const* element_hint = "give --element f16; in a file of obligations element = \"f16\"";

/// Text as CuTe prints it: `Sw<3,4,3>`.
[[nodiscard]] inline std::string to_string(Swizzle const& s) {
  return "Sw<" + std::to_string(s.bits) + "," + std::to_string(s.base) + "," + std::to_string(s.shift) + ">";
}

/// The middle number of CuTe's composed layouts: adds to the offset, in elements.
struct Displacement {
  std::int64_t elements = 0;
  bool is_static = true;
  /// The bits known only at run time, for CuTe's MixedBits; else 0. `M_128|(64&64)=192`: 64.
  std::uint32_t dynamic_bits = 0;
  friend bool operator==(Displacement const&, Displacement const&) = default;
};

/// Text as CuTe prints it: `_0`, `72`, `M_128|(64&64)=192`.
[[nodiscard]] inline std::string to_string(Displacement const& d) {
  if (d.dynamic_bits == 0) return (d.is_static ? "_" : "") + std::to_string(d.elements);
  auto const bits = static_cast<std::uint32_t>(d.elements);
  return "M_" + std::to_string(bits & ~d.dynamic_bits) + "|(" + std::to_string(bits & d.dynamic_bits) + "&" +
         std::to_string(d.dynamic_bits) + ")=" + std::to_string(bits);
}

/// A linear map of bits as kernels compute it: the bits of x without those in `cleared`, XOR bits of x that moved.
/// `fn(x) = (x & ~0x3f0) ^ ((x << 3) & 0x380) ^ ((x >> 3) & 0x70)`
struct LinearMap {
  /// (x >> distance) & mask, or to the left where the distance is negative.
  struct Move {
    int distance = 0;
    std::uint64_t mask = 0;
    friend bool operator==(Move const&, Move const&) = default;
  };
  std::uint64_t cleared = 0;
  std::vector<Move> moves{};
  friend bool operator==(LinearMap const&, LinearMap const&) = default;

  template <Word W>
  [[nodiscard]] W operator()(W const& x) const {
    W y = W(x & ~cleared);
    for (Move const& m : moves) {
      W const moved = m.distance < 0 ? shl(x, static_cast<unsigned>(-m.distance))
                                     : shr(x, static_cast<unsigned>(m.distance));
      y = W(y ^ (moved & m.mask));
    }
    return y;
  }
};

/// The map whose image has in bit i the XOR of the bits of x in rows[i]; bits from rows.size() on stay.
[[nodiscard]] LinearMap linear_map(std::span<std::uint64_t const> rows);

/// Text for the command line: `fn(x) = x ^ ((x >> 3) & 0x70)`.
[[nodiscard]] std::string to_string(LinearMap const& map);

/// One function of a composition.
using Stage = std::variant<Swizzle, Displacement, Layout, Expression, LinearMap>;

/// A composition of stages. The list that contains a stage is its unit.
struct Map {
  std::vector<Stage> on_elements{};             ///< index to element offset, applied last to first
  std::vector<Stage> on_bytes{};                ///< byte address to byte address, applied last to first
  std::optional<unsigned> element_bits{};       ///< nothing where neither the text nor --element says
  std::optional<std::uint64_t> base_address{};  ///< address of a bound pointer in bytes: then the only base

  /// The innermost layout, whose size is the domain; nothing if every integer is in the domain.
  [[nodiscard]] Layout const* domain() const {
    return on_elements.empty() ? nullptr : std::get_if<Layout>(&on_elements.back());
  }
  /// True if a swizzle acts on byte addresses, so that the base address matters.
  [[nodiscard]] bool acts_on_bytes() const { return !on_bytes.empty(); }
  /// True if both have the same stages, not if they are one function.
  friend bool operator==(Map const&, Map const&) = default;
};

/// A map as a text or CuTe's algebra gives it (composed.hpp): the function, and what is to be said about it.
struct Mapping : Map {
  std::string text{};                    ///< text as CuTe prints it
  std::vector<std::string> notes{};      ///< notes on this text for the user
  std::string element{};                 ///< the element type's name, where the text has it: "f16"
  std::optional<DeclaredArray> array{};  ///< array of C that the text declares
};

/// The value of a composition of stages at x, in their unit. {Sw<1,0,1>, _2} at 0: 3.
template <Word W>
[[nodiscard]] W value(std::span<Stage const> stages, W x) {
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    if (auto const* swizzle = std::get_if<Swizzle>(&*stage)) x = (*swizzle)(x);
    if (auto const* plus = std::get_if<Displacement>(&*stage)) x = W(x + plus->elements);
    if (auto const* layout = std::get_if<Layout>(&*stage)) x = (*layout)(x).elements;
    if (auto const* fn = std::get_if<Expression>(&*stage)) x = (*fn)(std::span<W const>(&x, 1), x);
    if (auto const* linear = std::get_if<LinearMap>(&*stage)) x = (*linear)(x);
  }
  return x;
}

/// src/layout/offsets.cpp compiles that of numbers, once and with more optimisation.
extern template std::uint64_t value<std::uint64_t>(std::span<Stage const>, std::uint64_t);

/// Puts the value of the composition in place of each number.
void values_in_place(std::span<Stage const> stages, std::span<std::uint64_t> numbers);

/// The element offset of an index before any byte swizzle.
template <Word W>
[[nodiscard]] Offset<W> offset(Map const& map, W index) {
  return {value(map.on_elements, index)};
}

/// The same of all indices of the domain, in their order. Precondition: map.domain(). Checked by
/// Maps.OffsetsAreThoseOfTheIndices.
[[nodiscard]] std::vector<std::uint64_t> offsets(Map const& map);

/// The byte swizzle of a *bit* address: the low 3 bits ride along, so that elements below a byte keep their
/// place in it. Bit addresses are two's complement: negative strides reach below the base.
template <Word W>
[[nodiscard]] W swizzle_bit_address(Map const& map, W bit_address) {
  W const byte = value(map.on_bytes, asr(bit_address, 3));
  return shl(byte, 3) | (bit_address & 7);
}

/// The address of bit `bit` of the element at an index, if element 0 of the unswizzled tile starts at byte
/// `base`. Precondition: map.element_bits is known.
template <Word W>
[[nodiscard]] W bit_address(Map const& map, Address<W> base, W index, unsigned bit = 0) {
  unsigned const bits = *map.element_bits;
  return swizzle_bit_address(map, W(shl(base.bytes, 3) + offset(map, index).elements * bits + bit));
}

/// Units in which a map has values.
enum class Unit { elements, bytes, bits };

/// The value of a map at an index: its element offset, which no base moves; or the byte or bit address of the element,
/// if element 0 of the unswizzled tile starts at byte `base`. Preconditions: of addresses, map.element_bits is known;
/// of bytes, it is a multiple of 8. `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)` from base 0 at index 1: 64
/// elements, byte 144.
template <Word W>
[[nodiscard]] W value(Map const& map, Address<W> base, W index, Unit unit) {
  if (unit == Unit::elements) return offset(map, index).elements;
  if (unit == Unit::bits) return bit_address(map, base, index);
  return value(map.on_bytes, address(base, offset(map, index), *map.element_bits).bytes);
}

/// The map below its swizzle: without its functions of bytes or, where there are none, without the outermost function
/// of elements that stands before a layout, and without an offset of 0 there.
[[nodiscard]] Map without_swizzle(Map map);

/// True if the stages move whole aligned blocks of `size` units: no vector of that size is split.
/// Swizzles of base >= log2(size) do, and displacements by multiples; of layouts and expressions it says no.
[[nodiscard]] inline bool keeps_blocks(std::span<Stage const> stages, std::uint64_t size) {
  for (Stage const& stage : stages) {
    auto const* swizzle = std::get_if<Swizzle>(&stage);
    auto const* plus = std::get_if<Displacement>(&stage);
    bool const aligned = size != 0 && (size & (size - 1)) == 0;
    bool const kept = swizzle != nullptr
                          ? swizzle->bits == 0 || (aligned && std::uint64_t{1} << swizzle->base >= size)
                          : plus != nullptr && plus->elements % static_cast<std::int64_t>(size) == 0;
    if (!kept) return false;
  }
  return true;
}

/// True if a swizzle of bytes may move the bytes of one element to places that do not follow each other:
/// `Sw<1,0,3> o smem_ptr[16b](unset) o ...`. False where the element size is not known.
[[nodiscard]] inline bool splits_elements(Map const& map) {
  unsigned const bits = map.element_bits.value_or(8);
  return 8 % bits != 0 && (bits % 8 != 0 || !keeps_blocks(map.on_bytes, bits / 8));
}

/// Bits of an element, one in each byte that it touches; bit 0 alone where elements stay whole. Two maps that
/// agree on these agree on every bit. 16-bit elements under Sw<1,0,3> on bytes: 0, 8; 6-bit elements: 0, 5.
[[nodiscard]] inline std::vector<unsigned> probes(Map const& map) {
  std::vector<unsigned> bits{0};
  if (!splits_elements(map)) return bits;
  for (unsigned bit = 8; bit < *map.element_bits; bit += 8) bits.push_back(bit);
  if (*map.element_bits % 8 != 0) bits.push_back(*map.element_bits - 1);
  return bits;
}

}  // namespace swizproof
