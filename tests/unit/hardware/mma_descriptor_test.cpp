// Instruction descriptors of tcgen05.mma: fields, and the rules that bits break.
#include <swizproof/hardware/mma_descriptor.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof {
namespace {

TensorMmaKind const& kind_of(std::string const& name) {
  for (TensorMmaKind const& k : tensor_mma_kinds)
    if (k.name == "kind::" + name) return k;
  return tensor_mma_kinds[0];
}

/// `legal`, or the rule.
std::string rule(std::string const& kind, std::uint32_t bits, TensorMmaForm form = {}) {
  MmaDescriptor const d = mma_descriptor(kind_of(kind), bits, form);
  return d.defect.empty() ? "legal" : std::string(d.defect);
}

constexpr std::uint32_t f32 = 1U << 4, n32 = 4U << 17, m64 = 4U << 24, m128 = 8U << 24;
constexpr std::uint32_t scaled = 1U << 27 | 1U << 23 | n32;  // M is 128, scale factors of ue8m0
constexpr TensorMmaForm one{1, false, false, 1}, two{1, false, false, 2}, four{1, false, false, 4};

}  // namespace

TEST(MmaInstruction, HasItsFields) {
  MmaDescriptor const d = mma_descriptor(kind_of("f16"), m128 | n32 | f32 | 1U << 7 | 1U << 16 | 1U << 13);
  EXPECT_EQ(d.m, 128U);
  EXPECT_EQ(d.n, 32U);
  EXPECT_EQ(d.k, 16U);
  EXPECT_EQ(std::string(d.a) + d.b.data(), "bf16f16");
  EXPECT_EQ(d.d, "f32");
  EXPECT_EQ(d.a_major, Major::k);
  EXPECT_EQ(d.b_major, Major::mn);
  EXPECT_TRUE(d.negates_a && !d.negates_b && !d.sparse && !d.saturates);
  MmaDescriptor const s =
      mma_descriptor(kind_of("mxf8f6f4"), scaled | 1U << 7 | 5U << 10 | 3U << 29 | 2U << 4, one);
  EXPECT_EQ(s.m, 128U);
  EXPECT_EQ(std::string(s.a) + s.b.data(), "e5m2e2m1");
  EXPECT_EQ(s.scale, "ue8m0");
  EXPECT_EQ(s.a_scales, 3U);
  EXPECT_EQ(s.b_scales, 2U);
  EXPECT_TRUE(s.defect.empty()) << s.defect;
}

TEST(MmaInstruction, KeepsReservedBits) {
  for (unsigned const bit : {6U, 23U, 29U})
    EXPECT_EQ(rule("f16", m64 | n32 | f32 | 1U << bit), "a reserved bit is not 0") << bit;
  for (unsigned const bit : {0U, 1U, 3U, 6U, 24U, 25U, 26U, 31U})
    EXPECT_EQ(rule("mxf8f6f4", scaled | 1U << bit, one), "a reserved bit is not 0") << bit;
  std::uint32_t const e2m1 = 1U << 7 | 1U << 10;
  EXPECT_EQ(rule("mxf4", scaled | e2m1, two), "legal");
  EXPECT_EQ(rule("mxf4", scaled | e2m1 | 1U << 12, two), "a reserved bit is not 0");
}

TEST(MmaInstruction, HasTypesOfItsKind) {
  EXPECT_EQ(rule("f16", m64 | n32 | f32 | 2U << 7), "the kind has no such type of A or B");
  EXPECT_EQ(rule("tf32", m64 | n32 | f32), "the kind has no such type of A or B");
  EXPECT_EQ(rule("tf32", m64 | n32 | 2U << 7 | 2U << 10), "the kind has no such type of D");
  EXPECT_EQ(rule("f16", m64 | n32 | 1U << 7), "D of f16 needs A and B of f16");
  EXPECT_EQ(rule("f8f6f4", m64 | n32), "legal");
  EXPECT_EQ(rule("f8f6f4", m64 | n32 | 2U << 7), "the kind has no such type of A or B");
  EXPECT_EQ(rule("i8", m64 | n32 | 2U << 4 | 1U << 14), "integers are not negated");
  EXPECT_EQ(rule("i8", m64 | n32 | 2U << 4 | 1U << 3), "legal");
  EXPECT_EQ(rule("f16", m64 | n32 | f32 | 1U << 3), "floating-point results do not saturate");
}

TEST(MmaInstruction, HasShapesOfItsForm) {
  TensorMmaForm const pair{2, false, false, 0}, ws{1, true, false, 0};
  EXPECT_EQ(rule("f16", n32 | f32 | 16U << 24), "M is neither 64 nor 128");
  EXPECT_EQ(rule("f16", n32 | f32 | 16U << 24, pair), "legal");
  EXPECT_EQ(rule("f16", n32 | f32 | m64, pair), "M is neither 128 nor 256");
  EXPECT_EQ(rule("f16", m128 | f32 | 1U << 17, pair), "the kind has no such N");
  EXPECT_EQ(rule("f16", n32 | f32 | 2U << 24, ws), "the kind has no such N");
  EXPECT_EQ(rule("f16", 8U << 17 | f32 | 2U << 24, ws), "legal");
  EXPECT_EQ(rule("i8", m128 | 5U << 17 | 2U << 4), "the kind has no such N");
  EXPECT_EQ(rule("f16", m128 | 5U << 17 | f32), "legal");
  EXPECT_EQ(rule("mxf8f6f4", (scaled & ~(3U << 27)) | 2U << 27, one), "M is not 128");
  EXPECT_EQ(rule("mxf4", scaled | 1U << 7 | 1U << 10 | 1U << 31, two),
            "96 of k need .cta_group::2 and a dense A");
}

TEST(MmaInstruction, TransposesWhatItsKindDoes) {
  EXPECT_EQ(rule("mxf4", scaled | 1U << 7 | 1U << 10 | 1U << 15, two), "the kind does not transpose A or B");
  EXPECT_EQ(rule("f8f6f4", m64 | n32 | f32 | 5U << 7 | 1U << 15),
            "elements of 4 and 6 bits are not transposed");
  EXPECT_EQ(rule("f8f6f4", m64 | 3U << 17 | f32 | 1U << 16),
            "B of 8 bits is transposed, and N is no multiple of 16 for each block");
  EXPECT_EQ(rule("f16", m64 | 3U << 17 | f32 | 1U << 16), "legal");
}

TEST(MmaInstruction, SelectsScaleFactors) {
  std::uint32_t const e2m1 = 1U << 7 | 1U << 10;
  std::string const begin = "the scale factors do not begin at a multiple of their number";
  EXPECT_EQ(rule("mxf8f6f4", scaled & ~(1U << 23), one), "scale factors of this kind are of ue8m0");
  EXPECT_EQ(rule("mxf4nvf4", (scaled & ~(1U << 23)) | e2m1, two), "scale factors of this kind are of ue8m0");
  EXPECT_EQ(rule("mxf4nvf4", (scaled & ~(1U << 23)) | e2m1, four), "legal");
  EXPECT_EQ(rule("mxf4", scaled | e2m1 | 2U << 4, two), "legal");
  EXPECT_EQ(rule("mxf4", scaled | e2m1 | 1U << 4, two), begin);
  EXPECT_EQ(rule("mxf4nvf4", scaled | e2m1 | 2U << 29, four), begin);
}

TEST(MmaInstruction, TakesTheScaleFactorsOfItsKind) {
  auto const factors = [](std::string const& kind, std::string_view qualifier) {
    return scale_factors(kind_of(kind), [&](std::string_view word) { return word == qualifier; });
  };
  EXPECT_EQ(factors("mxf8f6f4", ""), 1U);
  EXPECT_EQ(factors("mxf8f6f4", "block32"), 1U);
  EXPECT_EQ(factors("mxf8f6f4", "scale_vec::2X"), std::nullopt);
  EXPECT_EQ(factors("mxf8f6f4", "block16"), std::nullopt);
  EXPECT_EQ(factors("mxf4", ""), 2U);
  EXPECT_EQ(factors("mxf4", "scale_vec::1X"), std::nullopt);
  EXPECT_EQ(factors("mxf4", "scale_vec::4X"), std::nullopt);
  EXPECT_EQ(factors("mxf4nvf4", ""), std::nullopt);
  EXPECT_EQ(factors("mxf4nvf4", "block32"), 2U);
  EXPECT_EQ(factors("mxf4nvf4", "block16"), 4U);
  EXPECT_EQ(factors("mxf4nvf4", "scale_vec::4X"), 4U);
}

TEST(MmaInstruction, SaysWhereTheQualifierDisagrees) {
  EXPECT_TRUE(mma_descriptor(kind_of("f16"), m64 | n32 | f32 | 1U << 2).disagrees);
  TensorMmaForm const sp{1, false, true, 0};
  EXPECT_FALSE(mma_descriptor(kind_of("f16"), m64 | n32 | f32 | 1U << 2, sp).disagrees);
  EXPECT_EQ(mma_descriptor(kind_of("f16"), m64 | n32 | f32 | 1U << 2, sp).k, 32U);
}

TEST(MmaInstruction, HasACellForEachElementOfD) {
  TensorMmaForm const one{1}, pair{2}, ws{1, true};
  for (auto const& [form, rows] : std::vector<std::pair<TensorMmaForm, unsigned>>{
           {one, 64}, {one, 128}, {pair, 128}, {pair, 256}, {ws, 32}, {ws, 64}, {ws, 128}}) {
    constexpr unsigned columns = 32;
    std::set<std::tuple<unsigned, unsigned, unsigned>> cells;
    for (unsigned m = 0; m < rows; ++m)
      for (unsigned n = 0; n < columns; ++n) {
        AccumulatorCell const c = accumulator_cell(form, rows, columns, m, n);
        EXPECT_TRUE(c.block < form.blocks && c.lane < 128 && c.column < columns);
        cells.insert({c.block, c.lane, c.column});
      }
    EXPECT_EQ(cells.size(), rows * columns);
  }
  // Each block of a pair has 64 of 128 rows, and the second half of the columns in lanes 64 to 127.
  EXPECT_EQ(accumulator_cell(pair, 128, 32, 63, 15), (AccumulatorCell{0, 63, 15}));
  EXPECT_EQ(accumulator_cell(pair, 128, 32, 64, 16), (AccumulatorCell{1, 64, 0}));
  // Parts of the columns lie in the lanes behind those of the rows; 128 rows have all lanes.
  EXPECT_EQ(accumulator_cell(ws, 64, 64, 17, 33), (AccumulatorCell{0, 81, 1}));
  EXPECT_EQ(accumulator_cell(ws, 32, 64, 17, 33), (AccumulatorCell{0, 81, 1}));
  EXPECT_EQ(accumulator_cell(ws, 32, 64, 31, 63), (AccumulatorCell{0, 127, 15}));
  EXPECT_EQ(accumulator_cell(ws, 128, 64, 17, 33), (AccumulatorCell{0, 17, 33}));
}

}  // namespace swizproof
