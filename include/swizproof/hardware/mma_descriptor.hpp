// The 32 bits that tell tcgen05.mma shape, types and majors: the instruction descriptor of .kind::f16, tf32, f8f6f4 and i8.
//
//   30..31   29  24..28  23  17..22  16      15      14        13        10..12   7..9     6  4..5     3           2       0..1
//   [shift]  0   [M>>4]  0   [N>>3]  [B is]  [A is]  [negate]  [negate]  [B type] [A type] 0  [D type] [saturate]  sparse  [selector]
//
// [PTX ISA 9.1, 9.7.16.4.2, table 42; shapes: 9.7.16.2.1, table 39, of cta_group::1 without .ws.] Documented, not measured.
#pragma once

#include <swizproof/hardware/wgmma.hpp>

#include <cstdint>
#include <string_view>

namespace swizproof {

/// A kind of tcgen05.mma without block scales: types of A and B by number, the type of D by number, elements of k.
struct TensorMmaKind {
  std::string_view name;
  std::string_view types[6];    ///< empty: no such number, or one that is not modelled
  std::string_view results[3];  ///< types of D
  unsigned k, bits;             ///< bits: of an element of A and B in shared memory
};
inline constexpr TensorMmaKind tensor_mma_kinds[] = {
    {"kind::f16", {"f16", "bf16"}, {"f16", "f32"}, 16, 16},
    {"kind::tf32", {"", "", "tf32"}, {"", "f32"}, 8, 32},
    {"kind::f8f6f4", {"e4m3", "e5m2"}, {"f16", "f32"}, 32, 8},
    {"kind::i8", {"u8", "s8"}, {"", "", "s32"}, 32, 8},
};

/// The fields of an instruction descriptor.
struct MmaDescriptor {
  unsigned m = 0, n = 0;
  std::string_view a{}, b{}, d{};  ///< types
  Major a_major = Major::k, b_major = Major::k;
  bool negates_a = false, negates_b = false;
  std::string_view defect{};   ///< what the ISA does not allow
  std::string_view refused{};  ///< what is not modelled
};

/// The fields of 32 bits for a kind.
[[nodiscard]] constexpr MmaDescriptor mma_descriptor(TensorMmaKind const& kind, std::uint32_t bits) {
  auto const field = [bits](unsigned first, unsigned width) { return bits >> first & ((1U << width) - 1); };
  MmaDescriptor out;
  out.m = field(24, 5) << 4, out.n = field(17, 6) << 3;
  auto const type = [&](unsigned number) { return number < 6 ? kind.types[number] : std::string_view{}; };
  out.a = type(field(7, 3)), out.b = type(field(10, 3));
  out.d = field(4, 2) < 3 ? kind.results[field(4, 2)] : std::string_view{};
  out.a_major = field(15, 1) != 0 ? Major::mn : Major::k,
  out.b_major = field(16, 1) != 0 ? Major::mn : Major::k;
  out.negates_a = field(13, 1) != 0, out.negates_b = field(14, 1) != 0;
  bool const integers = kind.name == "kind::i8";
  bool const low = kind.name == "kind::f8f6f4";  // types of 6 and 4 bits have numbers 3 to 5
  auto const narrow = [&](unsigned number) { return low && number >= 3 && number <= 5; };
  if (field(2, 1) != 0)
    out.refused = "a sparse matrix";
  else if (field(3, 1) != 0)
    out.refused = "saturation";
  else if (narrow(field(7, 3)) || narrow(field(10, 3)))
    out.refused = "elements of 4 or 6 bits";
  if (field(6, 1) != 0 || field(23, 1) != 0 || field(29, 1) != 0)
    out.defect = "a reserved bit is not 0";
  else if (out.a.empty() || out.b.empty())
    out.defect = "the kind has no such type of A or B";
  else if (out.d.empty())
    out.defect = "the kind has no such type of D";
  else if (out.d == "f16" && (out.a == "bf16" || out.b == "bf16"))
    out.defect = "D of f16 needs A and B of f16";
  else if (integers && (out.negates_a || out.negates_b))
    out.defect = "integers are not negated";
  else if (out.m != 64 && out.m != 128)
    out.defect = "M is neither 64 nor 128";
  else if (out.n < 8 || out.n > 256 || (integers && out.n > 32 && out.n % 16 != 0))
    out.defect = "the kind has no such N";
  return out;
}

/// Lane of Tensor Memory, from the first, that holds row m of D, or of A: layouts D (M is 128) and F (M is 64, of each warp's lanes the first or
/// the last 16). [PTX ISA 9.1, 9.7.16.10.5]
[[nodiscard]] constexpr unsigned tensor_lane_of(unsigned rows, unsigned m) {
  return rows == 128 ? m : m / 16 * 32 + m % 16;
}

static_assert(mma_descriptor(tensor_mma_kinds[0], 0x8100490).n == 64 &&
              mma_descriptor(tensor_mma_kinds[0], 0x8100490).a == "bf16");
static_assert(tensor_lane_of(64, 17) == 33);

}  // namespace swizproof
