// Offsets, addresses, bank words and banks as distinct types.
//
// "Sw<3,4,3>" on byte addresses is "Sw<3,3,3>" on 2-byte elements; mixing the two up is the
// commonest mistake of the field. So the unit is in the type, and a number changes its unit only
// through one of the named conversions below. Mixing units does not compile (tests/source/compile_fail).
#pragma once

#include <swizproof/core/word.hpp>

namespace swizproof {

/// Position that a layout returns, counted in *elements* from the tile's origin.
template <class W>
struct Offset {
  W elements;
  [[nodiscard]] friend constexpr auto operator==(Offset const& a, Offset const& b) {
    return a.elements == b.elements;
  }
};

/// Position in shared memory, in *bytes*. Bank rules and hardware swizzles see this number.
template <class W>
struct Address {
  W bytes;
  [[nodiscard]] friend constexpr auto operator==(Address const& a, Address const& b) {
    return a.bytes == b.bytes;
  }
};

/// Number of a 4-byte bank word: address / 4.
template <class W>
struct BankWord {
  W number;
  [[nodiscard]] friend constexpr auto operator==(BankWord const& a, BankWord const& b) {
    return a.number == b.number;
  }
};

/// Number of a bank: bank word mod 32.
template <class W>
struct Bank {
  W number;
  [[nodiscard]] friend constexpr auto operator==(Bank const& a, Bank const& b) {
    return a.number == b.number;
  }
};

/// Byte address of an element: floor(base + offset * bits / 8), of the byte that holds its first bit.
/// `address(Address{1024u}, Offset{5u}, 16).bytes == 1034`, and offset -1 of 4-bit elements lies in byte -1.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Address<W> address(Address<W> base, Offset<W> offset,
                                                                 unsigned element_bits) {
  if (element_bits % 8 == 0) return {base.bytes + offset.elements * (element_bits / 8)};
  return {base.bytes + asr(W(offset.elements * element_bits), 3)};
}

}  // namespace swizproof
