// fragment.hpp, on literals read off PTX's figures, and compared with a loop that uses no formulas.
#include <swizproof/hardware/mma_kind.hpp>
#include <swizproof/hardware/quad_pairs.hpp>
#include <swizproof/hardware/sparse.hpp>

#include <gtest/gtest.h>

#include <set>

namespace swizproof {
namespace {

/// The fragment of the mma of that shape and so many bits.
Fragment mma(std::string_view shape, unsigned bits, Operand operand, unsigned d_bits = 32) {
  for (MmaShape const& s : mma_shapes)
    if (s.shape == shape && s.bits == bits) return s.fragment(operand, d_bits);
  ADD_FAILURE() << "no " << shape;
  return {};
}
MatrixElement at(Fragment const& f, std::uint32_t thread, std::uint32_t i) {
  return element_of(f, thread, i);
}

// [PTX ISA 9.1, figures of 9.7.14.5.6 to .11: the corners and one element inside]
TEST(Fragment, Figures) {
  Fragment const half = mma("m16n8k16", 16, Operand::a);
  EXPECT_EQ(at(half, 0, 0), (MatrixElement{0, 0}));
  EXPECT_EQ(at(half, 0, 2), (MatrixElement{8, 0})) << "a2, a3 are eight rows down";
  EXPECT_EQ(at(half, 0, 4), (MatrixElement{0, 8})) << "a4, a5 are eight columns on";
  EXPECT_EQ(at(half, 31, 7), (MatrixElement{15, 15}));
  EXPECT_EQ(at(mma("m16n8k16", 16, Operand::b), 31, 3), (MatrixElement{15, 7}));
  EXPECT_EQ(at(mma("m16n8k16", 16, Operand::b), 6, 2), (MatrixElement{12, 1}));
  EXPECT_EQ(at(mma("m16n8k16", 16, Operand::d), 6, 3), (MatrixElement{9, 5}));
  EXPECT_EQ(at(mma("m16n8k8", 16, Operand::a), 6, 3), (MatrixElement{9, 5}));
  EXPECT_EQ(at(mma("m16n8k8", 32, Operand::a), 6, 1), (MatrixElement{9, 2})) << "tf32: a1 is down, a2 is on";
  EXPECT_EQ(at(mma("m16n8k8", 32, Operand::a), 6, 2), (MatrixElement{1, 6}));
  EXPECT_EQ(at(mma("m16n8k4", 32, Operand::a), 6, 1), (MatrixElement{9, 2}));
  EXPECT_EQ(at(mma("m16n8k16", 64, Operand::a), 6, 3), (MatrixElement{9, 6}));
  EXPECT_EQ(at(mma("m16n8k16", 64, Operand::b), 6, 3), (MatrixElement{14, 1}));
  EXPECT_EQ(at(mma("m16n8k32", 8, Operand::a), 6, 5), (MatrixElement{9, 9}));
  EXPECT_EQ(at(mma("m16n8k32", 8, Operand::a), 6, 14), (MatrixElement{9, 26}));
  EXPECT_EQ(at(mma("m16n8k32", 8, Operand::b), 6, 4), (MatrixElement{24, 1}));
  EXPECT_EQ(at(mma("m16n8k16", 8, Operand::a), 6, 4), (MatrixElement{9, 8}));
  EXPECT_EQ(at(mma("m16n8k64", 4, Operand::a), 6, 17), (MatrixElement{1, 49}));
  EXPECT_EQ(at(mma("m16n8k64", 4, Operand::b), 6, 9), (MatrixElement{49, 1}));
  EXPECT_EQ(at(mma("m8n8k16", 8, Operand::a), 6, 1), (MatrixElement{1, 9}));
  EXPECT_EQ(at(mma("m8n8k4", 64, Operand::d, 64), 6, 1), (MatrixElement{1, 5}));
}

TEST(Fragment, WarpsOfAWarpgroupHoldSixteenRowsEach) {
  Fragment const d = wgmma_shapes[1].fragment(Operand::d, 128, 32);
  EXPECT_EQ(at(d, 127, 63), (MatrixElement{63, 127}));
  EXPECT_EQ(at(d, 33, 2), (MatrixElement{24, 2}));
  EXPECT_EQ(at(d, 33, 4), (MatrixElement{16, 10})) << "value 4 begins the next eight columns";
  EXPECT_EQ(at(wgmma_shapes[2].fragment(Operand::a, 8, 32), 98, 8), (MatrixElement{48, 24}));
}

TEST(Fragment, LdmatrixMovesUnitsOf16Bits) {
  Instruction const plain{Operation::ldmatrix, 16, 4}, trans{Operation::ldmatrix, 16, 4, true};
  EXPECT_EQ(at(fragment_of(plain, 8), 5, 6), (MatrixElement{9, 6}));
  EXPECT_EQ(at(fragment_of(trans, 8), 5, 6), (MatrixElement{11, 2})) << "two bytes stay side by side";
  EXPECT_EQ(at(fragment_of(trans, 8), 5, 7), (MatrixElement{11, 3}));
  EXPECT_EQ(at(fragment_of(plain, 32), 5, 3), (MatrixElement{25, 1}));
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t i = 0; i < 8; ++i) {
      MatrixElement e = matrix_element(lane, i % 2, true);
      e.row += 8 * (i / 2);
      EXPECT_EQ(at(fragment_of(trans, 16), lane, i), e);
    }
}

void expect_each_once(Fragment const& f, std::string const& what) {
  std::set<std::uint32_t> held;
  for (std::uint32_t t = 0; t < f.threads; ++t)
    for (std::uint32_t i = 0; i < f.values; ++i) {
      MatrixElement const e = at(f, t, i);
      EXPECT_LT(e.row, f.rows) << what;
      EXPECT_LT(e.column, f.columns) << what;
      held.insert(e.row * f.columns + e.column);
    }
  EXPECT_EQ(held.size(), std::size_t{f.rows} * f.columns) << what;
  EXPECT_EQ(std::size_t{f.threads} * f.values, held.size()) << what;
}

TEST(Fragment, EveryElementIsHeldOnce) {
  for (MmaShape const& s : mma_shapes)
    for (Operand const operand : {Operand::a, Operand::b, Operand::d})
      expect_each_once(s.fragment(operand, s.bits == 64 ? 64 : 32), std::string(s.shape));
  for (WgmmaShape const& s : wgmma_shapes) expect_each_once(s.fragment(Operand::a, 8, 32), "wgmma");
  for (unsigned const n : {8U, 24U, 256U})
    expect_each_once(wgmma_shapes[0].fragment(Operand::d, n, 32), "wgmma");
  for (InstructionName const& known : instruction_names)
    if (known.instruction.matrices != 0)
      expect_each_once(fragment_of(known.instruction, 8), std::string(known.text));
}

// [PTX ISA 9.1, 9.7.14.5.15, figures 105 and 106; 9.7.14.5.16]
TEST(Fragment, MatricesOfBytes) {
  for (InstructionName const& known : byte_matrix_names) {
    EXPECT_EQ(name(known.instruction), known.text);
    expect_each_once(fragment_of(known.instruction, 8), std::string(known.text));
  }
  Instruction const load{Operation::ldmatrix, 16, 2, true, MatrixForm::m16n16_b8};
  EXPECT_EQ(load.lanes(), 32U) << "a lane for each of 16 rows";
  EXPECT_EQ(at(fragment_of(load, 8), 5, 3), (MatrixElement{7, 1})) << "four rows of a column in a register";
  EXPECT_EQ(at(fragment_of(load, 8), 5, 4), (MatrixElement{4, 9}))
      << "the second register is eight columns on";
  EXPECT_EQ(at(fragment_of(load, 8), 5, 8), (MatrixElement{20, 1})) << "the second matrix";
  Instruction const store{Operation::stmatrix, 16, 4, true, MatrixForm::m16n8_b8};
  EXPECT_EQ(at(fragment_of(store, 8), 5, 1), (MatrixElement{3, 1}));
  EXPECT_EQ(at(fragment_of(store, 8), 5, 2), (MatrixElement{2, 9}));
}

// [PTX ISA 9.1, 9.7.16.2.3.1, figures]
TEST(Fragment, TensorMemory) {
  for (TensorMemoryForm const& form : tensor_memory_forms)
    for (unsigned many = 1; many <= form.most; many *= 2)
      expect_each_once(fragment_of(form, many, 32), std::string(form.name));
  auto const four = [](std::size_t form) { return fragment_of(tensor_memory_forms[form], 4, 32); };
  EXPECT_EQ(at(four(0), 9, 3), (MatrixElement{9, 3}));
  EXPECT_EQ(at(four(1), 1, 0), (MatrixElement{8, 0}));
  EXPECT_EQ(at(four(1), 2, 3), (MatrixElement{0, 7}));
  EXPECT_EQ(at(four(2), 5, 3), (MatrixElement{9, 5}));
  EXPECT_EQ(at(four(3), 5, 7), (MatrixElement{9, 11}));
  EXPECT_EQ(at(four(4), 17, 1), (MatrixElement{1, 5})) << "behind the columns of the first half";
}

// [PTX ISA 9.1, 9.7.14.3; CUTLASS, SFALayout, SFBLayout]
TEST(Fragment, ScaleFactors) {
  Fragment const a = scale_fragment(Operand::scale_a, 1), b = scale_fragment(Operand::scale_b, 4);
  EXPECT_EQ(at(a, 1, 0), (MatrixElement{8, 0}));
  EXPECT_EQ(at(a, 3, 0), at(a, 1, 0)) << "thread-id 1 reads the next two lanes";
  EXPECT_EQ(at(a, 4, 0), (MatrixElement{1, 0}));
  EXPECT_EQ(a.registers(), 1U) << "one byte of a register";
  for (std::uint32_t lane = 8; lane < 12; ++lane) EXPECT_EQ(at(b, lane, 3), (MatrixElement{3, 2}));
}

// A register's elements lie side by side along k in A and B, along n in D.
TEST(Fragment, RegistersHoldNeighbours) {
  for (MmaShape const& s : mma_shapes) {
    if (s.bits >= 32) continue;
    for (Operand const operand : {Operand::a, Operand::b}) {
      Fragment const f = s.fragment(operand, 32);
      for (std::uint32_t i = 0; i < f.values; ++i) {
        MatrixElement const first = at(f, 9, i * f.bits / 32 * 32 / f.bits), e = at(f, 9, i);
        std::uint32_t const step = i * f.bits % 32 / f.bits;
        EXPECT_EQ(operand == Operand::a ? e.column - first.column : e.row - first.row, step) << s.shape;
      }
    }
  }
}

// [PTX ISA 9.1, 9.7.14.6.2, figures of the metadata; campaign `registers`]
TEST(Fragment, MetadataOfSparseProducts) {
  auto const e = [](std::size_t shape) { return sparse_shapes[shape].fragment(Operand::e, 8, 32); };
  EXPECT_EQ(at(e(2), 5, 3), (MatrixElement{1, 3})) << "one lane of four has rows m and m + 8";
  EXPECT_EQ(at(e(2), 7, 9), (MatrixElement{9, 1}));
  EXPECT_EQ(at(e(0), 5, 5), (MatrixElement{9, 1})) << "tf32: an index has 4 bits";
  EXPECT_EQ(at(e(3), 5, 9), (MatrixElement{9, 9})) << "the second lane of a pair has the second half of k";
  EXPECT_EQ(at(e(3), 6, 1), (MatrixElement{1, 1}));
  EXPECT_EQ(at(e(4), 5, 9), (MatrixElement{9, 9})) << "8 bits: a row for each lane of a pair";
  EXPECT_EQ(at(e(4), 6, 9), (MatrixElement{1, 9}));
  EXPECT_EQ(at(e(5), 6, 9), (MatrixElement{1, 25})) << "all lanes: two rows, two halves of k";
  EXPECT_EQ(at(sparse_shapes[5].fragment(Operand::a, 8, 32), 6, 5), (MatrixElement{9, 9}));
  EXPECT_EQ(at(sparse_shapes[7].fragment(Operand::b, 8, 32), 6, 31), (MatrixElement{119, 1}));
  EXPECT_EQ(at(sparse_wgmma_shapes[1].fragment(Operand::e, 8, 32), 37, 9), (MatrixElement{25, 9}));
}

TEST(Fragment, ProductsOfSingleBits) {
  EXPECT_EQ(at(mma("m8n8k128", 1, Operand::a), 6, 31), (MatrixElement{1, 95}));
  EXPECT_EQ(at(mma("m16n8k128", 1, Operand::a), 6, 33), (MatrixElement{9, 65}));
  EXPECT_EQ(at(mma("m16n8k256", 1, Operand::a), 6, 65), (MatrixElement{1, 193}));
  EXPECT_EQ(at(mma("m16n8k256", 1, Operand::b), 6, 33), (MatrixElement{193, 1}));
}

// [PTX ISA 9.1, 9.7.14.5.1, figures; campaign `registers`]
TEST(QuadPairs, Figures) {
  auto const element = [](QuadPairs of, Operand operand, std::uint32_t lane, std::uint32_t i) {
    return quad_pair_element(of, operand, lane, i);
  };
  EXPECT_EQ(element({}, Operand::a, 21, 2), (MatrixElement{13, 2}));
  EXPECT_EQ(element({false, true, true}, Operand::a, 21, 2), (MatrixElement{14, 1}));
  EXPECT_EQ(element({}, Operand::b, 21, 2), (MatrixElement{2, 13}));
  EXPECT_EQ(element({true, false, true}, Operand::b, 21, 2), (MatrixElement{1, 14}));
  EXPECT_EQ(element({true, true, false}, Operand::d, 21, 5), (MatrixElement{13, 5}));
  EXPECT_EQ(element({}, Operand::d, 23, 7), (MatrixElement{15, 7}));
  EXPECT_EQ(element({}, Operand::d, 2, 2), (MatrixElement{2, 2}));
}

// [CUTLASS 4.7, copy_traits_sm100.hpp and mma_traits_sm100_frag.hpp]
TEST(TensorMemory, CellsOfCopiesAndScales) {
  EXPECT_EQ(at(copied_fragment(tensor_memory_copies[0]), 100, 5), (MatrixElement{100, 5}));
  EXPECT_EQ(at(copied_fragment(tensor_memory_copies[3]), 100, 3), (MatrixElement{36, 3}));
  EXPECT_EQ(at(copied_fragment(tensor_memory_copies[4]), 100, 3), (MatrixElement{36, 3}));
  EXPECT_EQ(at(copied_fragment(tensor_memory_copies[4]), 40, 3), (MatrixElement{8, 3}));
  EXPECT_EQ(at(copied_fragment(tensor_memory_copies[5]), 100, 3), (MatrixElement{4, 3}));
  EXPECT_EQ(at(scales_in_memory(128, 4), 100, 9), (MatrixElement{68, 1}));
  EXPECT_EQ(at(scales_in_memory(64, 2), 100, 3), (MatrixElement{36, 1}));
}

}  // namespace
}  // namespace swizproof
