// H10: which element of a matrix each lane holds: ldmatrix and stmatrix, and the operands of mma and wgmma.
//
// A fragment is what the lanes of one instruction hold of one operand. Value i of a lane is the i-th element of its
// registers, lowest bits first: i * bits / 32 is the register, i * bits % 32 the lowest bit in it. PTX states an mma
// fragment as formulas for row and column in
//
//   groupID = lane >> 2        threadID_in_group = lane % 4        i
//
// one pair for each operand of each shape; they stand below as PTX prints them. For wgmma PTX draws figures: warp w of
// the four holds rows 16w .. 16w+15 as mma's warp does.
#pragma once

#include <swizproof/hardware/instruction.hpp>
#include <swizproof/hardware/tensor_memory.hpp>

namespace swizproof {

/// A pair of formulas that PTX prints for one operand, named by the shapes and the bits of the elements that have it.
enum class FragmentFormula : std::uint8_t {
  a_m8n8k4_b64,
  a_k4,  ///< m16n8k4 of tf32 and f64
  a_k8_b32,
  a_k16_b64,
  a_k8_b16,
  a_k16_b16,
  a_m8n8k16_b8,
  a_k16_b8,
  a_k32_b8,
  a_m8n8k32_b4,
  a_k32_b4,
  a_k64_b4,
  a_k128_b1,  ///< m8n8k128, m16n8k128 and m16n8k256 of single bits
  scale_a,    ///< scale factors of A, of mma with .block_scale
  b_k4,
  b_k8_b32,
  b_k16_b64,
  b_k8_b16,
  b_k16_b16,
  b_k16_b8,
  b_k32_b8,
  b_k32_b4,
  b_k64_b4,
  b_run_1,  ///< for sparse mma and single bits: 1, 2, 4, .. elements along k in a register, four adjacent lanes
  b_run_2,
  b_run_4,
  b_run_8,
  b_run_16,
  b_run_32,
  scale_b,
  e_one,   ///< metadata of sparse mma: one lane of four has rows m and m + 8 in the halves of its register
  e_pair,  ///< the same for half of k, two lanes of four
  e_pair_rows,  ///< a row each, two lanes of four
  e_all,        ///< a row each, for half of k, all lanes
  d_m8,
  d_m16,
  d_m64,  ///< accumulator of wgmma
  matrices,
  matrices_trans,
  matrices_m16n16,  ///< matrices of bytes, ldmatrix with .trans
  matrices_m16n8,   ///< matrices of bytes, stmatrix with .trans
  copied,           ///< tcgen05.cp: lanes of Tensor Memory are rows of shared memory
  copied_4,         ///< the same of every 32nd lane
  copied_02_13,     ///< rows 0 to 63, those of warps 0 and 1 again in warps 2 and 3
  copied_01_23,     ///< rows 0 to 63, those of warp 0 again in warp 1, those of warp 2 in warp 3
  copied_x4,        ///< rows 0 to 31, again in every warp
  scales_in_tensor_memory,
  tensor_memory_32x32b,
  tensor_memory_16x64b,
  tensor_memory_16x128b,
  tensor_memory_16x256b,
  tensor_memory_16x32bx2,
};

/// The formula of a shape of tcgen05.ld; the enumerators follow each other in both.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr FragmentFormula formula_of(TensorMemoryShape shape) {
  return static_cast<FragmentFormula>(static_cast<unsigned>(FragmentFormula::tensor_memory_32x32b) +
                                      static_cast<unsigned>(shape));
}
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool is_tensor_memory(FragmentFormula formula) {
  return formula >= FragmentFormula::tensor_memory_32x32b;
}

/// Elements in a register of b_run_...
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t run_of(FragmentFormula formula) {
  return 1U << (static_cast<unsigned>(formula) - static_cast<unsigned>(FragmentFormula::b_run_1));
}
/// The formula of a register with so many elements: 1, 2, 4, .., 32.
[[nodiscard]] constexpr FragmentFormula b_of_run(std::uint32_t run) {
  unsigned formula = static_cast<unsigned>(FragmentFormula::b_run_1);
  for (; run > 1; run /= 2) ++formula;
  return static_cast<FragmentFormula>(formula);
}

/// Operand of mma or wgmma. The accumulators C and D are held alike; scale factors are those of mma with .block_scale.
/// The metadata E of a sparse product say which of its elements are not zero.
enum class Operand : std::uint8_t { a, b, d, scale_a, scale_b, e };

/// Fragment of one operand in the threads of one instruction: `values` elements each of a matrix of rows x columns.
/// A is m x k, B is k x n, D is m x n. The matrix of ldmatrix and stmatrix has a row for each address, of 16 bytes.
struct Fragment {
  FragmentFormula formula = FragmentFormula::d_m16;
  unsigned threads = warp_lanes;  ///< 32, or the 128 of a warpgroup
  unsigned values = 4;            ///< elements of each thread
  unsigned bits = 32;             ///< size of an element: 1, 2, 4, 8, 16, 32 or 64
  unsigned rows = 16;
  unsigned columns = 8;

  [[nodiscard]] friend constexpr bool operator==(Fragment const& a, Fragment const& b) {
    return a.formula == b.formula && a.threads == b.threads && a.values == b.values && a.bits == b.bits &&
           a.rows == b.rows && a.columns == b.columns;
  }
  /// Bits of a register of this fragment in PTX: 64 for f64, else 32.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned register_bits() const {
    return bits == 64 ? 64 : 32;
  }
  /// Registers of each thread.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned registers() const {
    return (values * bits + register_bits() - 1) / register_bits();
  }
};

/// The row and the column of the element in cell i of a lane of Tensor Memory, after tcgen05.cp or of scale factors. See tensor_memory.hpp.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElementOf<W> tensor_memory_cell(Fragment const& f,
                                                                                    W const& lane,
                                                                                    W const& i) {
  switch (f.formula) {
    case FragmentFormula::copied_02_13:
      return {lane % 64, i};
    case FragmentFormula::copied_01_23:
      return {lane / 64 * 32 + lane % 32, i};
    case FragmentFormula::copied_x4:
      return {lane % 32, i};
    case FragmentFormula::scales_in_tensor_memory:
      return {i / f.columns * 32 + lane % 32, i % f.columns};
    default:
      break;
  }
  return {lane, i};
}

/// H10: the element that is value i of a thread: the formulas of PTX. Precondition: thread < threads, i < values.
/// mma.m16n8k16 of f16, A, lane 5, value 3: row 9, column 3. [PTX ISA 9.1, 9.7.14.5.1 to .11 (mma), 9.7.15.5.1.1
/// (wgmma, figures), 9.7.14.5.15 (ldmatrix)] Checked by tests/unit/hardware/fragment_test.cpp; proved to be CuTe's layouts
/// by proofs/theorems/fragments.cpp. Confirmed by experiment, but e2m1's: campaigns `mma` and `ldmatrix`.
template <class W>
// NOLINTNEXTLINE(readability-function-size): one formula for each kind of fragment
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElementOf<W> element_of(Fragment const& f,
                                                                            W const& thread, W const& i) {
  W const lane = thread % 32;
  W const group = shr(lane, 2), in_group = lane % 4;  // groupID, threadID_in_group
  W const first = shr(thread, 5) * 16 + group;        // of a warpgroup's warp w: 16 w + groupID
  W const second = first + 8;
  W const zero = like(thread, 0);
  switch (f.formula) {
    case FragmentFormula::a_m8n8k4_b64:
      return {group, in_group};
    case FragmentFormula::a_k4:
      return {select(i == 0, first, second), in_group};
    case FragmentFormula::a_k8_b32:
      return {select(i == 0 || i == 2, first, second), select(i < 2, in_group, W(in_group + 4))};
    case FragmentFormula::a_k16_b64:
      return {select(i % 2 == 0, first, second),
              select(i % 2 == 0, W(i * 2 + in_group), W(i * 2 - 2 + in_group))};
    case FragmentFormula::a_k8_b16:
      return {select(i < 2, first, second), in_group * 2 + (i & 1)};
    case FragmentFormula::a_k16_b16:
      return {select(i < 2 || (!(i < 4) && i < 6), first, second),
              in_group * 2 + (i & 1) + select(i < 4, zero, like(thread, 8))};
    case FragmentFormula::a_m8n8k16_b8:
      return {group, in_group * 4 + i};
    case FragmentFormula::a_k16_b8:
      return {select(i < 4, first, second), in_group * 4 + (i & 3)};
    case FragmentFormula::a_k32_b8:
      return {select(i < 4 || (!(i < 8) && i < 12), first, second),
              in_group * 4 + (i & 3) + select(i < 8, zero, like(thread, 16))};
    case FragmentFormula::a_m8n8k32_b4:
      return {group, in_group * 8 + i};
    case FragmentFormula::a_k32_b4:
      return {select(i < 8, first, second), in_group * 8 + (i & 7)};
    case FragmentFormula::a_k64_b4:
      return {select(i < 8 || (!(i < 16) && i < 24), first, second),
              in_group * 8 + (i & 7) + select(i < 16, zero, like(thread, 32))};
    case FragmentFormula::a_k128_b1:
      return {select((i / 32) % 2 == 0 || f.rows == 8, first, second),
              in_group * 32 + (i & 31) + select(i < (f.rows == 8 ? 32U : 64U), zero, like(thread, 128))};
    case FragmentFormula::e_one:
      return {first + i / (16 / f.bits) * 8, i % (16 / f.bits)};
    case FragmentFormula::e_pair:
      return {first + i / (16 / f.bits) * 8, lane % 2 * (16 / f.bits) + i % (16 / f.bits)};
    case FragmentFormula::e_pair_rows:
      return {first + lane % 2 * 8, i};
    case FragmentFormula::e_all:
      return {first + lane % 2 * 8, lane / 2 % 2 * 16 + i};
    case FragmentFormula::b_run_1:
    case FragmentFormula::b_run_2:
    case FragmentFormula::b_run_4:
    case FragmentFormula::b_run_8:
    case FragmentFormula::b_run_16:
    case FragmentFormula::b_run_32: {
      std::uint32_t const run = run_of(f.formula);
      return {in_group * run + i % run + i / run * (4 * run), group};
    }
    case FragmentFormula::scale_a:
      return {group + in_group % 2 * 8, i};
    case FragmentFormula::scale_b:
      return {i, group};
    case FragmentFormula::b_k4:
      return {in_group, group};
    case FragmentFormula::b_k8_b32:
      return {select(i == 0, in_group, W(in_group + 4)), group};
    case FragmentFormula::b_k16_b64:
      return {in_group + i * 4, group};
    case FragmentFormula::b_k8_b16:
      return {in_group * 2 + i, group};
    case FragmentFormula::b_k16_b16:
      return {in_group * 2 + (i & 1) + select(i < 2, zero, like(thread, 8)), group};
    case FragmentFormula::b_k16_b8:
      return {in_group * 4 + i, group};
    case FragmentFormula::b_k32_b8:
      return {in_group * 4 + (i & 3) + select(i < 4, zero, like(thread, 16)), group};
    case FragmentFormula::b_k32_b4:
      return {in_group * 8 + i, group};
    case FragmentFormula::b_k64_b4:
      return {in_group * 8 + (i & 7) + select(i < 8, zero, like(thread, 32)), group};
    case FragmentFormula::d_m8:
      return {group, in_group * 2 + i};
    case FragmentFormula::d_m16:
      return {select(i < 2, first, second), in_group * 2 + (i & 1)};
    case FragmentFormula::d_m64:
      return {select(i % 4 < 2, first, second), i / 4 * 8 + in_group * 2 + (i & 1)};
    case FragmentFormula::matrices_m16n16:
      return {i / 8 * 16 + in_group * 4 + (i & 3), group + i / 4 % 2 * 8};
    case FragmentFormula::matrices_m16n8:
      return {i / 4 * 8 + in_group * 2 + (i & 1), group + i / 2 % 2 * 8};
    case FragmentFormula::matrices:
    case FragmentFormula::matrices_trans:
      break;
    case FragmentFormula::copied:
    case FragmentFormula::copied_4:
    case FragmentFormula::copied_02_13:
    case FragmentFormula::copied_01_23:
    case FragmentFormula::copied_x4:
    case FragmentFormula::scales_in_tensor_memory:
      return tensor_memory_cell(f, thread, i);
    default:
      return tensor_memory_element(
          static_cast<TensorMemoryShape>(static_cast<unsigned>(f.formula) -
                                         static_cast<unsigned>(FragmentFormula::tensor_memory_32x32b)),
          f.columns, thread, i);
  }
  // Elements of 32 bits are two halves, those of 8 and 4 are parts of one.
  W const bit = i * f.bits;
  MatrixElementOf<W> const unit =
      matrix_element_of(lane, W(bit % 32 / 16), f.formula == FragmentFormula::matrices_trans);
  return {bit / 32 * 8 + unit.row, (unit.column * 16 + bit % 16) / f.bits};
}

/// Elements that ldmatrix writes to the registers, or stmatrix reads from them, as elements of so many bits; of a byte form each has 8
/// bits in the registers, and a row of 16 elements has 16 bytes in memory, gaps included. Precondition: bits is 4, 8 or 16; or 32
/// without .trans, which moves units of 16 bits; 8 of a byte form. [PTX ISA 9.1, 9.7.14.5.15, figures 104 to 106, and .16]
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Fragment fragment_of(Instruction const& i, unsigned bits) {
  if (i.form != MatrixForm::m8n8_b16) {
    FragmentFormula const formula = i.rows_of_each() == 16           ? FragmentFormula::matrices_m16n16
                                    : i.form == MatrixForm::m16n8_b8 ? FragmentFormula::matrices_m16n8
                                                                     : FragmentFormula::matrices;
    return {formula, warp_lanes, i.lanes() / 2, 8, i.lanes(), 16};
  }
  return {i.transposed ? FragmentFormula::matrices_trans : FragmentFormula::matrices,
          warp_lanes,
          i.matrices * 32 / bits,
          bits,
          8 * i.matrices,
          128 / bits};
}

/// The fragment of tcgen05.ld or tcgen05.st with .num = .x`many`: a row for each lane of Tensor Memory.
[[nodiscard]] constexpr Fragment fragment_of(TensorMemoryForm const& form, unsigned many, unsigned bits) {
  return {formula_of(form.shape), warp_lanes, form.registers * many, bits, form.lanes, form.columns * many};
}

/// A shape of mma for elements of so many bits, and the formulas of its operands.
struct MmaShape {
  std::string_view shape;  ///< shape in PTX's words
  unsigned m, n, k;
  unsigned bits;           ///< size of an element of A and B
  std::string_view types;  ///< types of A and B
  FragmentFormula a, b, d;
  std::string_view needs;  ///< the first architecture that has it

  /// The fragment of A, B or D; D has elements of `d_bits`.
  [[nodiscard]] constexpr Fragment fragment(Operand operand, unsigned d_bits) const {
    switch (operand) {
      case Operand::a:
        return {a, warp_lanes, m * k / warp_lanes, bits, m, k};
      case Operand::b:
        return {b, warp_lanes, n * k / warp_lanes, bits, k, n};
      case Operand::d:
      case Operand::scale_a:
      case Operand::scale_b:
      case Operand::e:
        break;
    }
    return {d, warp_lanes, m * n / warp_lanes, d_bits, m, n};
  }
};

/// Every dense mma.sync but m8n8k4 of f16, whose warp computes four products. [PTX ISA 9.1, 9.7.14.5]
inline constexpr std::array<MmaShape, 18> mma_shapes{{
    {"m8n8k4", 8, 8, 4, 64, "f64", FragmentFormula::a_m8n8k4_b64, FragmentFormula::b_k4,
     FragmentFormula::d_m8, "sm_80"},
    {"m16n8k4", 16, 8, 4, 64, "f64", FragmentFormula::a_k4, FragmentFormula::b_k4, FragmentFormula::d_m16,
     "sm_90"},
    {"m16n8k8", 16, 8, 8, 64, "f64", FragmentFormula::a_k8_b32, FragmentFormula::b_k8_b32,
     FragmentFormula::d_m16, "sm_90"},
    {"m16n8k16", 16, 8, 16, 64, "f64", FragmentFormula::a_k16_b64, FragmentFormula::b_k16_b64,
     FragmentFormula::d_m16, "sm_90"},
    {"m16n8k4", 16, 8, 4, 32, "tf32", FragmentFormula::a_k4, FragmentFormula::b_k4, FragmentFormula::d_m16,
     "sm_80"},
    {"m16n8k8", 16, 8, 8, 32, "tf32", FragmentFormula::a_k8_b32, FragmentFormula::b_k8_b32,
     FragmentFormula::d_m16, "sm_80"},
    {"m16n8k8", 16, 8, 8, 16, "f16 bf16", FragmentFormula::a_k8_b16, FragmentFormula::b_k8_b16,
     FragmentFormula::d_m16, "sm_75"},
    {"m16n8k16", 16, 8, 16, 16, "f16 bf16", FragmentFormula::a_k16_b16, FragmentFormula::b_k16_b16,
     FragmentFormula::d_m16, "sm_80"},
    {"m8n8k16", 8, 8, 16, 8, "s8 u8", FragmentFormula::a_m8n8k16_b8, FragmentFormula::b_k16_b8,
     FragmentFormula::d_m8, "sm_75"},
    {"m16n8k16", 16, 8, 16, 8, "s8 u8 e4m3 e5m2", FragmentFormula::a_k16_b8, FragmentFormula::b_k16_b8,
     FragmentFormula::d_m16, "sm_80"},
    {"m16n8k32", 16, 8, 32, 8, "s8 u8 e4m3 e5m2", FragmentFormula::a_k32_b8, FragmentFormula::b_k32_b8,
     FragmentFormula::d_m16, "sm_80"},
    {"m8n8k32", 8, 8, 32, 4, "s4 u4", FragmentFormula::a_m8n8k32_b4, FragmentFormula::b_k32_b4,
     FragmentFormula::d_m8, "sm_75"},
    {"m16n8k32", 16, 8, 32, 4, "s4 u4", FragmentFormula::a_k32_b4, FragmentFormula::b_k32_b4,
     FragmentFormula::d_m16, "sm_80"},
    {"m16n8k64", 16, 8, 64, 4, "s4 u4", FragmentFormula::a_k64_b4, FragmentFormula::b_k64_b4,
     FragmentFormula::d_m16, "sm_80"},
    {"m16n8k64", 16, 8, 64, 4, "e2m1", FragmentFormula::a_k64_b4, FragmentFormula::b_k64_b4,
     FragmentFormula::d_m16, "sm_120a"},
    {"m8n8k128", 8, 8, 128, 1, "b1", FragmentFormula::a_k128_b1, FragmentFormula::b_run_32,
     FragmentFormula::d_m8, "sm_75"},
    {"m16n8k128", 16, 8, 128, 1, "b1", FragmentFormula::a_k128_b1, FragmentFormula::b_run_32,
     FragmentFormula::d_m16, "sm_80"},
    {"m16n8k256", 16, 8, 256, 1, "b1", FragmentFormula::a_k128_b1, FragmentFormula::b_run_32,
     FragmentFormula::d_m16, "sm_80"},
}};

/// wgmma.m64nNk{8,16,32}: A from registers and D, for elements of 32, 16 and 8 bits. B, and A as a rule, come from shared
/// memory. [PTX ISA 9.1, 9.7.15.5.1.1]
struct WgmmaShape {
  unsigned k;
  unsigned bits;
  std::string_view types;
  FragmentFormula a;

  /// Fragment of A from registers, or of D with elements of `d_bits`. Precondition: `operand` is not b; n is 8, 16, .., 256.
  [[nodiscard]] constexpr Fragment fragment(Operand operand, unsigned n, unsigned d_bits) const {
    if (operand == Operand::a) return {a, 128, 64 * k / 128, bits, 64, k};
    return {FragmentFormula::d_m64, 128, 64 * n / 128, d_bits, 64, n};
  }
};
inline constexpr std::array<WgmmaShape, 3> wgmma_shapes{{
    {8, 32, "tf32", FragmentFormula::a_k8_b32},
    {16, 16, "f16 bf16", FragmentFormula::a_k16_b16},
    {32, 8, "e4m3 e5m2 s8 u8", FragmentFormula::a_k32_b8},
}};

static_assert(element_of(mma_shapes[7].fragment(Operand::a, 32), 5U, 3U) == MatrixElement{9, 3});
static_assert(element_of(wgmma_shapes[1].fragment(Operand::d, 16, 32), 37U, 7U) == MatrixElement{25, 11});
static_assert(element_of(fragment_of({Operation::ldmatrix, 16, 4, true}, 8), 5U, 3U) == MatrixElement{3, 3});

}  // namespace swizproof
