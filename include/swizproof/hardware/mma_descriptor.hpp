// The 32 bits that tell tcgen05.mma shape, types and majors: the instruction descriptor.
//
//   .kind::f16, tf32, f8f6f4 and i8 [PTX ISA 9.1, 9.7.16.4.2, table 42]
//   30..31   29  24..28  23  17..22  16      15      14        13        10..12   7..9     6  4..5     3           2       0..1
//   [shift]  0   [M>>4]  0   [N>>3]  [B is]  [A is]  [negate]  [negate]  [B type] [A type] 0  [D type] [saturate]  sparse  [selector]
//
//   .kind::mxf8f6f4, mxf4 and mxf4nvf4 [tables 43 and 44]; D is of f32; of the two with 4 bits 15 and 16 are 0, too
//   31      29..30      27..28  24..26  23       17..22  16      15      14        13        10..12    7..9      6  4..5        3  2       0..1
//   [K 96]  [scales A]  [M>>7]  0       [scale]  [N>>3]  [B is]  [A is]  [negate]  [negate]  [B type]  [A type]  0  [scales B]  0  sparse  0
//
// Shapes: table 39 of 9.7.16.2.1. Documented, not measured.
#pragma once

#include <swizproof/hardware/wgmma.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace swizproof {

/// A kind of tcgen05.mma: types of A and B by number, the type of D by number, elements of k.
struct TensorMmaKind {
  std::string_view name;
  std::string_view types[6];    ///< empty: no such number
  std::string_view results[3];  ///< types of D
  unsigned k, bits;             ///< k: of a dense A; bits: of an element of A and B in shared memory
  bool scaled = false;          ///< with .block_scale

  [[nodiscard]] constexpr bool is_integer() const { return name == "kind::i8"; }
  /// Elements of 4 bits, two in a byte.
  [[nodiscard]] constexpr bool is_packed() const { return bits == 4; }
};
inline constexpr TensorMmaKind tensor_mma_kinds[] = {
    {"kind::f16", {"f16", "bf16"}, {"f16", "f32"}, 16, 16},
    {"kind::tf32", {"", "", "tf32"}, {"", "f32"}, 8, 32},
    {"kind::f8f6f4", {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"}, {"f16", "f32"}, 32, 8},
    {"kind::i8", {"u8", "s8"}, {"", "", "s32"}, 32, 8},
    {"kind::mxf8f6f4", {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"}, {"", "f32"}, 32, 8, true},
    {"kind::mxf4", {"", "e2m1"}, {"", "f32"}, 64, 4, true},
    {"kind::mxf4nvf4", {"", "e2m1"}, {"", "f32"}, 64, 4, true},
};

/// Form of a tcgen05.mma that its qualifiers give.
struct TensorMmaForm {
  unsigned blocks = 1;  ///< .cta_group
  bool ws = false, sparse = false;
  unsigned scales = 0;  ///< scale factors along k: 1, 2, 4; 0 without .block_scale
};

/// Scale factors along k that the qualifiers of a scaled kind give: 1, 2 or 4; nothing if the kind has no such number. `has(word)` says whether
/// the opcode has a qualifier. kind::mxf4nvf4 has no default. [PTX ISA 9.1, 9.7.16.10.7.1, table 54]
template <typename Has>
constexpr std::optional<unsigned> scale_factors(TensorMmaKind const& kind, Has has) {
  unsigned const of_32 = kind.is_packed() ? 2 : 1;
  bool const either = kind.name == "kind::mxf4nvf4";
  unsigned const scales = has("scale_vec::1X")                     ? 1
                          : has("scale_vec::2X")                   ? 2
                          : has("scale_vec::4X") || has("block16") ? 4
                          : has("block32") || !either              ? of_32
                                                                   : 0;
  if (scales == of_32 || (scales == 4 && either)) return scales;
  return std::nullopt;
}

/// Kind and form of a tcgen05.mma; no kind where the qualifiers have none, or a number of scale factors that it does not have.
struct TensorMmaQualifiers {
  TensorMmaKind const* kind = nullptr;
  TensorMmaForm form{};
};
/// The same of qualifiers: `has(word)` says whether the opcode has one.
template <typename Has>
constexpr TensorMmaQualifiers mma_qualifiers(Has has) {
  TensorMmaQualifiers out;
  for (TensorMmaKind const& k : tensor_mma_kinds)
    if (has(k.name)) out.kind = &k;
  if (out.kind == nullptr) return out;
  out.form.blocks = has("cta_group::2") ? 2 : 1;
  out.form.ws = has("ws"), out.form.sparse = has("sp");
  if (!out.kind->scaled) return out;
  std::optional<unsigned> const scales = scale_factors(*out.kind, has);
  if (!scales) return {};
  out.form.scales = *scales;
  return out;
}

/// The fields of an instruction descriptor.
struct MmaDescriptor {
  unsigned m = 0, n = 0, k = 0;
  std::string_view a{}, b{}, d{};  ///< types
  Major a_major = Major::k, b_major = Major::k;
  bool negates_a = false, negates_b = false;
  bool sparse = false, saturates = false;
  std::string_view scale{};             ///< type of scale factors
  unsigned a_scales = 0, b_scales = 0;  ///< first byte of the scale factors in their words
  std::string_view defect{};            ///< the rule that it breaks
  std::string_view section{};           ///< of PTX ISA 9.1
  /// True if it and the qualifiers disagree on sparsity: the ISA does not say which one holds.
  bool disagrees = false;
};

/// True of types whose elements have 4 or 6 bits.
[[nodiscard]] constexpr bool is_narrow(std::string_view type) {
  return type == "e2m3" || type == "e3m2" || type == "e2m1";
}
/// Bits of an element of a type of A and B: `element_bits_of("e3m2") == 6`.
[[nodiscard]] constexpr unsigned element_bits_of(std::string_view type) {
  return type == "e2m1"                     ? 4
         : type == "e2m3" || type == "e3m2" ? 6
         : type == "f16" || type == "bf16"  ? 16
         : type == "tf32" || type == "f32"  ? 32
                                            : 8;
}

namespace mma_descriptor_detail {

constexpr unsigned field(std::uint32_t bits, unsigned first, unsigned width) {
  return bits >> first & ((1U << width) - 1);
}

/// Fields, legal or not.
constexpr MmaDescriptor fields_of(TensorMmaKind const& kind, std::uint32_t bits) {
  MmaDescriptor out;
  auto const type = [&](unsigned number) { return number < 6 ? kind.types[number] : std::string_view{}; };
  out.m = kind.scaled ? field(bits, 27, 2) << 7 : field(bits, 24, 5) << 4;
  out.n = field(bits, 17, 6) << 3;
  out.a = type(field(bits, 7, 3)), out.b = type(field(bits, 10, kind.is_packed() ? 2 : 3));
  unsigned const result = kind.scaled ? 1 : field(bits, 4, 2);
  out.d = result < 3 ? kind.results[result] : std::string_view{};
  out.a_major = field(bits, 15, 1) != 0 ? Major::mn : Major::k;
  out.b_major = field(bits, 16, 1) != 0 ? Major::mn : Major::k;
  out.negates_a = field(bits, 13, 1) != 0, out.negates_b = field(bits, 14, 1) != 0;
  out.sparse = field(bits, 2, 1) != 0;
  out.k = kind.is_packed() && field(bits, 31, 1) != 0 ? 96 : kind.k * (out.sparse ? 2 : 1);
  if (!kind.scaled) {
    out.saturates = field(bits, 3, 1) != 0;
    return out;
  }
  out.scale = field(bits, 23, 1) != 0 ? "ue8m0" : "ue4m3";
  out.a_scales = field(bits, 29, 2), out.b_scales = field(bits, 4, 2);
  return out;
}

/// The first rule that reserved bits or fields of a single number break.
constexpr std::string_view bits_defect(TensorMmaKind const& kind, TensorMmaForm form, std::uint32_t bits,
                                       MmaDescriptor const& d) {
  std::uint32_t const reserved = !kind.scaled ? 0x20800040U : kind.is_packed() ? 0x0700104bU : 0x8700004bU;
  if ((bits & reserved) != 0) return "a reserved bit is not 0";
  if (d.a.empty() || d.b.empty()) return "the kind has no such type of A or B";
  if (d.d.empty()) return "the kind has no such type of D";
  if (d.d == "f16" && (d.a == "bf16" || d.b == "bf16")) return "D of f16 needs A and B of f16";
  if (kind.is_integer() && (d.negates_a || d.negates_b)) return "integers are not negated";
  if (!kind.is_integer() && d.saturates) return "floating-point results do not saturate";
  if (kind.is_packed() && (d.a_major == Major::mn || d.b_major == Major::mn))
    return "the kind does not transpose A or B";
  bool const e8m0 = kind.name != "kind::mxf4nvf4" || (form.scales != 0 && form.scales < 4);
  if (kind.scaled && e8m0 && d.scale != "ue8m0") return "scale factors of this kind are of ue8m0";
  unsigned const step = form.scales < 2 ? 1 : form.scales;  // 4X: 0; 2X: 0 or 2
  if (kind.scaled && (d.a_scales % step != 0 || d.b_scales % step != 0))
    return "the scale factors do not begin at a multiple of their number";
  return {};
}

constexpr bool has_m(TensorMmaKind const& kind, TensorMmaForm form, MmaDescriptor const& d) {
  if (form.ws) return !kind.scaled && (d.m == 32 || d.m == 64 || d.m == 128);
  if (form.blocks == 2) return d.m == 256 || (d.m == 128 && !(kind.scaled && d.sparse) && d.k != 96);
  return d.m == 128 || (d.m == 64 && !kind.scaled);
}

constexpr bool has_n(TensorMmaKind const& kind, TensorMmaForm form, MmaDescriptor const& d) {
  if (d.n == 0 || d.n > 256) return false;
  if (form.ws) return d.n == 64 || d.n == 128 || (d.n == 256 && !d.sparse);
  unsigned const integer = kind.is_integer() ? 2 : 1;
  if (form.blocks == 2) return d.n % (16 * integer) == 0;
  return d.n % 8 == 0 && (d.n <= 32 || d.n % (8 * integer) == 0);
}

}  // namespace mma_descriptor_detail

/// The fields of 32 bits for a kind and a form, and the first rule that they break. 0x08040490 of .kind::f16: M is 128, N 16, A and B
/// of bf16, D of f32. Checked by tests/unit/hardware/mma_descriptor_test.cpp and tests/reference/kernel_instructions.py.
[[nodiscard]] constexpr MmaDescriptor mma_descriptor(TensorMmaKind const& kind, std::uint32_t bits,
                                                     TensorMmaForm form = {}) {
  using namespace mma_descriptor_detail;
  MmaDescriptor out = fields_of(kind, bits);
  auto const fail = [&](std::string_view defect, std::string_view section) {
    if (out.defect.empty() && !defect.empty()) out.defect = defect, out.section = section;
  };
  fail(bits_defect(kind, form, bits, out), "9.7.16.4.2, tables 42 to 44");
  out.disagrees = out.sparse != form.sparse;
  constexpr std::string_view shapes = "9.7.16.2.1, table 39";
  if (form.ws && (kind.scaled || form.blocks == 2)) fail("the kind has no form with .ws", shapes);
  if (out.k == 96 && (form.blocks == 1 || out.sparse))
    fail("96 of k need .cta_group::2 and a dense A", shapes);
  if (!has_m(kind, form, out))
    fail(form.ws            ? "M is none of 32, 64 and 128"
         : form.blocks == 2 ? "M is neither 128 nor 256"
         : kind.scaled      ? "M is not 128"
                            : "M is neither 64 nor 128",
         shapes);
  if (!has_n(kind, form, out)) fail("the kind has no such N", shapes);
  constexpr std::string_view majors = "9.7.16.10.3, table 52";
  if ((out.a_major == Major::mn && is_narrow(out.a)) || (out.b_major == Major::mn && is_narrow(out.b)))
    fail("elements of 4 and 6 bits are not transposed", majors);
  if (out.b_major == Major::mn && kind.bits == 8 && out.n % (16 * form.blocks) != 0)
    fail("B of 8 bits is transposed, and N is no multiple of 16 for each block", "9.7.16.10.1, table 50");
  return out;
}

/// Lane of Tensor Memory, from the first, that holds row m of D, or of A: layouts D (M is 128) and F (M is 64, of each warp's lanes the first or
/// the last 16). [PTX ISA 9.1, 9.7.16.10.5]
[[nodiscard]] constexpr unsigned tensor_lane_of(unsigned rows, unsigned m) {
  return rows == 128 ? m : m / 16 * 32 + m % 16;
}

/// Cell of Tensor Memory, from the address of D on, that holds an element of D; of a pair of blocks, which one: 0 is the even one.
struct AccumulatorCell {
  unsigned block = 0, lane = 0, column = 0;
  friend constexpr bool operator==(AccumulatorCell const& a, AccumulatorCell const& b) {
    return a.block == b.block && a.lane == b.lane && a.column == b.column;
  }
};
/// Row m and column n of D of `rows` and `columns`. A pair has layouts A (M is 256: 128 rows in each block) and B (M is 128: 64 rows in each, the
/// second half of the columns in lanes 64 to 127). `.ws` has layouts D, E (M is 64: the second half of the columns in lanes 64 to 127) and G (M is
/// 32: each quarter of the columns in 32 lanes). [PTX ISA 9.1, 9.7.16.10.5; CUTLASS 4.7, mma_traits_sm100_frag.hpp, tmem_frg and tmem_frg_ws]
[[nodiscard]] constexpr AccumulatorCell accumulator_cell(TensorMmaForm form, unsigned rows, unsigned columns,
                                                         unsigned m, unsigned n) {
  if (form.blocks == 1 && !form.ws) return {0, tensor_lane_of(rows, m), n};
  unsigned const of_block = rows / form.blocks, parts = 128 / of_block, width = columns / parts;
  return {m / of_block, m % of_block + n / width * of_block, n % width};
}

static_assert(mma_descriptor(tensor_mma_kinds[0], 0x8100490).n == 64 &&
              mma_descriptor(tensor_mma_kinds[0], 0x8100490).a == "bf16");
static_assert(
    mma_descriptor(tensor_mma_kinds[4], 0x08840000, TensorMmaForm{1, false, false, 1}).defect.empty());
static_assert(tensor_lane_of(64, 17) == 33);
static_assert(accumulator_cell({2}, 256, 64, 200, 40) == AccumulatorCell{1, 72, 40});
static_assert(accumulator_cell({2}, 128, 64, 70, 40) == AccumulatorCell{1, 70, 8});

}  // namespace swizproof
