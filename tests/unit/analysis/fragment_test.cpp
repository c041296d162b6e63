// deliver() and solve_rows(), on what kernels do.
#include <swizproof/analysis/fragment.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <set>

namespace swizproof {
namespace {

/// One warp's registers of an operand, as many side by side as the instruction fills.
FragmentSide wanted_by(std::string_view operand, unsigned values) {
  NamedFragment const f = parse_fragment(operand);
  return {f.fragment, std::max(1U, values / f.fragment.values), *f.operand != Operand::a, {}, false};
}

struct Load {
  Solution solution;
  Delivery found;
  std::string rows;
};

/// ldmatrix into an operand whose columns, or rows, are contiguous in memory; with the rows that are found, or the natural ones.
Load load(std::string_view instruction, std::string_view operand, bool columns_contiguous) {
  unsigned const bits = parse_fragment(operand).fragment.bits;
  Fragment const memory = parse_fragment(instruction, bits).fragment;
  FragmentSide const wanted = wanted_by(operand, memory.values);
  Load out{solve_rows(memory, wanted, columns_contiguous), {}, {}};
  RowStarts const rows =
      out.solution.rows ? *out.solution.rows : natural_rows(memory, wanted, columns_contiguous);
  out.rows = rows.text;
  FragmentSide const delivered{memory, wanted.values() / memory.values, false, rows, columns_contiguous};
  out.found = deliver({delivered, wanted, *parse_fragment(operand).operand}, {});
  return out;
}

Delivery reuse(std::string_view results, std::string_view operand) {
  Fragment from = parse_fragment(results).fragment;
  NamedFragment const into = parse_fragment(operand);
  from.bits = into.fragment.bits;
  unsigned const copies = into.fragment.values / from.values;
  return deliver({{from, copies, true, {}, false}, {into.fragment, 1, true, {}, false}, *into.operand}, {});
}

// CUTLASS's sm80 collectives and FlashAttention 2 load these four ways.
TEST(Delivery, LoadsThatKernelsUse) {
  Load const a = load("ldmatrix.x4", "mma.m16n8k16.f16:a", true);
  EXPECT_TRUE(a.found.answer.proved());
  EXPECT_EQ(a.rows, "row = lane%16, col = 8*(lane/16)");
  Load const b = load("ldmatrix.x4", "mma.m16n8k16.f16:b", false);
  EXPECT_TRUE(b.found.answer.proved());
  EXPECT_EQ(b.rows, "row = lane%8 + 8*(lane/16), col = 8*(lane/8%2)");
  Load const v = load("ldmatrix.x4.trans", "mma.m16n8k16.f16:b", true);
  EXPECT_TRUE(v.found.answer.proved());
  EXPECT_EQ(v.rows, "row = lane%16, col = 8*(lane/16)");
  Load const k8 = load("ldmatrix.x2", "mma.m16n8k32.s8:b", false);
  EXPECT_TRUE(k8.found.answer.proved());
  EXPECT_EQ(k8.rows, "row = lane%8, col = 16*(lane/8)");
}

TEST(Delivery, ATransposedOperandOf8BitsIsTorn) {
  Load const v = load("ldmatrix.x4.trans", "mma.m16n8k32.e4m3:b", true);
  EXPECT_TRUE(v.found.answer.refuted() != nullptr);
  ASSERT_TRUE(v.solution.split && v.found.first && v.found.up_to);
  EXPECT_FALSE(v.solution.rows);
  EXPECT_EQ(v.solution.split->holders[0].thread, 0U);
  EXPECT_EQ(v.solution.split->holders[1].thread, 0U);
  EXPECT_EQ(v.solution.split->holders[1].value, 1U);
  EXPECT_EQ(v.solution.split->apart, 1) << "neighbours along n in memory";
  EXPECT_EQ(v.solution.split->wanted[1], (MatrixElement{1, 0})) << "neighbours along k in the operand";
  EXPECT_EQ(v.found.first->got, (MatrixElement{0, 1}));
  EXPECT_EQ(v.found.first->wanted, (MatrixElement{1, 0}));
  EXPECT_TRUE(v.found.up_to->answer.proved());
}

TEST(Delivery, ResultsOf16BitsAreAnOperandAsTheyLie) {
  EXPECT_TRUE(reuse("mma.m16n8k16.f16:d", "mma.m16n8k16.f16:a").answer.proved());
  EXPECT_TRUE(reuse("wgmma.m64n16k16.f16:d", "wgmma.m64nNk16.f16:a").answer.proved());
  EXPECT_FALSE(reuse("wgmma.m64n8k8.tf32:d", "wgmma.m64nNk8.tf32:a").answer.proved());
}

// P of attention, from results, and V, by ldmatrix.trans and byte permutations, have their k permuted alike: their product
// is right although neither is the operand's layout.
TEST(Delivery, PAndVOf8BitsPermuteKAlike) {
  Delivery const p = reuse("mma.m16n8k32.e4m3:d", "mma.m16n8k32.e4m3:a");
  Load const v = load("ldmatrix.x4.trans", "mma.m16n8k32.e4m3:b", true);
  ASSERT_TRUE(p.up_to && v.found.up_to);
  EXPECT_TRUE(p.up_to->answer.proved());
  EXPECT_EQ(p.up_to->k, v.found.up_to->k);
  EXPECT_EQ(std::vector<unsigned>(p.up_to->k.begin(), p.up_to->k.begin() + 6),
            (std::vector<unsigned>{0, 1, 8, 9, 2, 3}));
  EXPECT_TRUE(p.up_to->other.empty());
  EXPECT_EQ(std::set<unsigned>(p.up_to->values.begin(), p.up_to->values.end()).size(), 16U);
}

TEST(Delivery, ASwapOfTwoRegistersIsFound) {
  Fragment const memory = parse_fragment("ldmatrix.x4").fragment;
  FragmentSide const wanted = wanted_by("mma.m16n8k16.f16:a", memory.values);
  RowStarts const rows{
      Expression::variable(0) % Expression(8) + Expression(8) * (Expression::variable(0) / Expression(16)),
      Expression(8) * (Expression::variable(0) / Expression(8) % Expression(2)), "r1 and r2 swapped"};
  Delivery const found = deliver({{memory, 1, false, rows, true}, wanted, Operand::a}, {});
  ASSERT_TRUE(found.first && found.up_to);
  EXPECT_EQ(found.first->value, 2U);
  EXPECT_EQ(found.up_to->values, (std::vector<unsigned>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_TRUE(found.up_to->k.empty() && found.up_to->other.empty());
}

// Results of 32 bits: a row of stmatrix takes neighbouring lanes' registers, which are two columns apart.
TEST(Delivery, ResultsOf32BitsAreTornAlongTheRow) {
  Fragment const memory = parse_fragment("stmatrix.x4", 32).fragment;
  Solution const s = solve_rows(memory, wanted_by("mma.m16n8k16.f16:d", memory.values), true);
  ASSERT_TRUE(s.split);
  EXPECT_EQ(s.split->holders[1].thread, 1U);
  EXPECT_EQ(s.split->apart, 1);
  EXPECT_EQ(s.split->wanted[1], (MatrixElement{0, 2}));
}

TEST(Delivery, TheRightRowAtAWrongColumnIsWrong) {
  Fragment const memory = parse_fragment("ldmatrix.x4").fragment;
  Expression const lane = Expression::variable(0);
  RowStarts const rows{lane % Expression(16), Expression(0), ""};
  Delivery const found = deliver(
      {{memory, 1, false, rows, true}, wanted_by("mma.m16n8k16.f16:a", memory.values), Operand::a}, {});
  EXPECT_TRUE(found.answer.refuted() != nullptr);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->got, (MatrixElement{0, 0}));
  EXPECT_EQ(found.first->wanted, (MatrixElement{0, 8}));
}

/// f16 rows in memory that are given, into an operand whose columns are contiguous.
Delivery load_from(std::string_view operand, RowStarts const& rows) {
  Fragment const memory = parse_fragment("ldmatrix.x4").fragment;
  return deliver({{memory, 1, false, rows, true}, wanted_by(operand, memory.values), Operand::a}, {});
}

Expression of(RowVariable v) { return Expression::variable(static_cast<std::uint64_t>(v)); }

// Warp w of a warpgroup has rows 16w .. 16w+15: a pattern that does not say so is right for warp 0 alone.
TEST(Delivery, EveryWarpOfAWarpgroupIsAsked) {
  Expression const lane = of(RowVariable::lane), thread = of(RowVariable::thread);
  Expression const row = lane % Expression(16), col = Expression(8) * (lane / Expression(16));
  Delivery const alike = load_from("wgmma.m64n64k16.f16:a", {row, col, ""});
  EXPECT_TRUE(alike.answer.refuted() != nullptr);
  ASSERT_TRUE(alike.first);
  EXPECT_EQ(alike.first->thread, 32U) << "the first thread of warp 1";
  EXPECT_EQ(alike.first->got, (MatrixElement{0, 0}));
  EXPECT_EQ(alike.first->wanted, (MatrixElement{16, 0}));
  EXPECT_TRUE(alike.nothing_fixes);
  EXPECT_TRUE(load_from("wgmma.m64n64k16.f16:a", {row + Expression(16) * of(RowVariable::warp), col, ""})
                  .answer.proved());
  EXPECT_TRUE(load_from("wgmma.m64n64k16.f16:a",
                        {thread % Expression(16) + Expression(16) * (thread / Expression(32)), col, ""})
                  .answer.proved());
  EXPECT_TRUE(load_from("mma.m16n8k16.f16:a", {row, col, ""}).answer.proved());
}

TEST(Delivery, RowsThatAreFoundSayWhichWarps) {
  Load const a = load("ldmatrix.x4", "wgmma.m64n64k16.f16:a", true);
  EXPECT_TRUE(a.found.answer.proved());
  EXPECT_EQ(a.rows, "row = lane%16 + 16*warp, col = 8*(lane/16)");
  Load const turned = load("ldmatrix.x4.trans", "wgmma.m64n64k16.f16:a", false);
  EXPECT_TRUE(turned.found.answer.proved());
  EXPECT_EQ(turned.rows, "row = lane%8 + 8*(lane/16), col = 8*(lane/8%2) + 16*warp");
  Fragment const memory = parse_fragment("stmatrix.x4").fragment;
  FragmentSide const results{parse_fragment("wgmma.m64n64k16.f16:d", 16).fragment, 1, true, {}, false};
  Solution const s = solve_rows(memory, results, true);
  ASSERT_TRUE(s.rows);
  EXPECT_EQ(s.rows->text, "row = lane%16 + 16*warp, col = 8*(lane/16) + 16*i for i in 0..3");
  EXPECT_TRUE(deliver({{memory, 4, false, s.rows, true}, results, Operand::d}, {}).answer.proved());
  EXPECT_EQ(natural_rows(parse_fragment("ldmatrix.x4.trans", 8).fragment,
                         wanted_by("wgmma.m64n64k32.e4m3:a", 16), false)
                .text,
            "row = lane, col = 16*warp");
}

/// Registers of one operand into those of another.
Movement between(char const* from, char const* into, bool transposed) {
  NamedFragment const source = parse_fragment(from), operand = parse_fragment(into);
  Fragment held = source.fragment;
  held.bits = operand.fragment.bits;
  return {FragmentSide{held, 1, true, {}, false, 1, transposed},
          FragmentSide{operand.fragment, 1, true, {}, false}, *operand.operand};
}

TEST(Delivery, MovmatrixIsTheAnswer) {
  Delivery const results = deliver(between("mma.m16n8k16.f16:d", "mma.m16n8k16.f16:b", false), {});
  ASSERT_TRUE(results.movmatrix);
  EXPECT_EQ(results.movmatrix->registers, (std::vector<unsigned>{0, 1}));
  Delivery const turned = deliver(between("mma.m16n8k16.f16:a", "mma.m16n8k16.f16:a", true), {});
  ASSERT_TRUE(turned.movmatrix);
  EXPECT_EQ(turned.movmatrix->registers, (std::vector<unsigned>{0, 2, 1, 3}));
  EXPECT_TRUE(turned.movmatrix->answer.proved());
  EXPECT_FALSE(deliver(between("mma.m16n8k16.e4m3:a", "mma.m16n8k16.e4m3:a", true), {}).movmatrix)
      << "two elements of 8 bits stay side by side";
  EXPECT_FALSE(deliver(between("mma.m16n8k8.tf32:a", "mma.m16n8k8.tf32:a", true), {}).movmatrix);
}

TEST(Delivery, AnOperandIsFourSmallerOnes) {
  Movement m = between("mma.m16n8k32.s8:a", "mma.m8n8k16.s8:a", false);
  m.wanted.copies = 4, m.wanted.down = 2;
  EXPECT_TRUE(deliver(m, {}).answer.proved());
  m.wanted.down = 1;
  EXPECT_FALSE(deliver(m, {}).answer.proved()) << "four side by side are another matrix";
}

TEST(Delivery, ARowOfEightBytesIsMisaligned) {
  Expression const lane = of(RowVariable::lane);
  Delivery const found =
      load_from("mma.m16n8k16.f16:a", {lane % Expression(16), Expression(4) * (lane / Expression(16)), ""});
  ASSERT_TRUE(found.misaligned);
  EXPECT_EQ(found.misaligned->thread, 16U);
  EXPECT_EQ(found.misaligned->start, 4U);
  Delivery const aligned = load_from("mma.m16n8k16.f16:a", {lane % Expression(16), Expression(0), ""});
  EXPECT_TRUE(aligned.answer.refuted() != nullptr);
  EXPECT_FALSE(aligned.misaligned);
}

// An operand whose rows are of 8 bytes: what is wanted lies there, and ldmatrix cannot take it.
TEST(Delivery, RightValuesOfMisalignedRowsAreRefuted) {
  Fragment const memory = parse_fragment("ldmatrix.x1").fragment;
  Expression const lane = of(RowVariable::lane);
  FragmentSide const shifted{memory, 1, false, RowStarts{lane, Expression(4), ""}, true};
  Delivery const found = deliver({shifted, shifted, Operand::b}, {});
  EXPECT_TRUE(found.answer.refuted() != nullptr);
  EXPECT_TRUE(found.misaligned);
  EXPECT_FALSE(found.first) << "every value is the wanted one";
}

// 2^32 rows further on is another place, also where 32 bits would have wrapped.
TEST(Delivery, RowsAreComputedIn64Bits) {
  Expression const lane = of(RowVariable::lane), far(std::uint64_t{1} << 32);
  Expression const col = Expression(8) * (lane / Expression(16));
  EXPECT_FALSE(
      load_from("mma.m16n8k16.f16:a", {lane % Expression(16) + far * lane, col, ""}).answer.proved());
  EXPECT_TRUE(
      load_from("mma.m16n8k16.f16:a", {far * (lane % Expression(16)) / far, col, ""}).answer.proved());
}

// If neither order nor permutation fixes it, the answer says "wrong" and no more.
TEST(Delivery, WhatIsInOtherLanesIsOnlyRefuted) {
  Delivery const found = reuse("wgmma.m64n8k8.tf32:d", "wgmma.m64nNk8.tf32:a");
  ASSERT_TRUE(found.up_to) << "tf32: k is permuted, no lane";
  EXPECT_EQ(found.up_to->k, (std::vector<unsigned>{0, 2, 4, 6, 1, 3, 5, 7}));
  Fragment const memory = parse_fragment("ldmatrix.x1", 16).fragment;
  FragmentSide const wanted = wanted_by("mma.m16n8k8.f16:b", memory.values);
  Expression const lane = Expression::variable(0);
  Delivery const broadcast = deliver(
      {{memory, 1, false, RowStarts{Expression(0), Expression(0), ""}, false}, wanted, Operand::b}, {});
  EXPECT_TRUE(broadcast.answer.refuted() != nullptr);
  EXPECT_FALSE(broadcast.up_to) << "one row eight times is no operand";
}

TEST(HolderOf, IsTheInverse) {
  for (char const* name :
       {"mma.m16n8k16.f16:a", "mma.m16n8k32.s8:b", "wgmma.m64n24k16.f16:d", "ldmatrix.x4.trans"}) {
    Fragment const f = parse_fragment(name).fragment;
    for (std::uint32_t row = 0; row < f.rows; ++row)
      for (std::uint32_t column = 0; column < f.columns; ++column) {
        Holder const h = holder_of(f, row, column);
        EXPECT_EQ(element_of(f, std::uint32_t{h.thread}, std::uint32_t{h.value}),
                  (MatrixElement{row, column}))
            << name;
      }
  }
}

}  // namespace
}  // namespace swizproof
