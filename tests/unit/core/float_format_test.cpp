#include <swizproof/core/float_format.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace swizproof {
namespace {

TEST(FloatFormat, KnownNumbers) {
  struct Row {
    FloatFormat format;
    std::uint64_t bits;
    double value;
  };
  for (Row const& row :
       {Row{FloatFormat::f16, 0x3c00, 1}, Row{FloatFormat::f16, 0xc100, -2.5},
        Row{FloatFormat::f16, 0x7bff, 65504}, Row{FloatFormat::f16, 0x0001, std::ldexp(1, -24)},
        Row{FloatFormat::bf16, 0x3fc0, 1.5}, Row{FloatFormat::bf16, 0x7f80, HUGE_VAL},
        Row{FloatFormat::f32, 0x40490fdb, 3.1415927410125732},
        Row{FloatFormat::f32, 0x00000001, std::ldexp(1, -149)}, Row{FloatFormat::f32, 0xff800000, -HUGE_VAL},
        Row{FloatFormat::f64, 0x3fd5555555555555, 1.0 / 3}, Row{FloatFormat::e4m3, 0x7e, 448},
        Row{FloatFormat::e4m3, 0x01, std::ldexp(1, -9)}, Row{FloatFormat::e5m2, 0xfb, -57344}}) {
    EXPECT_EQ(float_value(row.format, row.bits), row.value) << row.bits;
    EXPECT_EQ(float_bits(row.format, row.value), row.bits) << row.value;
  }
  EXPECT_EQ(float_bits(FloatFormat::f16, -0.0), 0x8000U);
  EXPECT_EQ(float_bits(FloatFormat::f32, 0.1), std::nullopt) << "no float is exactly that";
  EXPECT_EQ(float_bits(FloatFormat::f32, 1e39), std::nullopt);
  EXPECT_EQ(float_bits(FloatFormat::f16, 65520), std::nullopt);
  EXPECT_EQ(float_bits(FloatFormat::f32, std::nan("")), std::nullopt);
  EXPECT_EQ(float_bits(FloatFormat::f16, 0.333251953, 1e-3), 0x3555U) << "as it is printed";
  EXPECT_EQ(float_bits(FloatFormat::f16, 0.3333, 1e-3), std::nullopt);
}

// The value of a positive pattern grows with the pattern, and has these bits.
TEST(FloatFormat, EveryHalfAndByte) {
  for (FloatFormat const format : {FloatFormat::f16, FloatFormat::bf16, FloatFormat::e4m3, FloatFormat::e5m2,
                                   FloatFormat::e2m1, FloatFormat::e2m3, FloatFormat::e3m2}) {
    auto const sign = std::uint64_t{1} << (shape_of(format).bits() - 1);
    double before = -1;
    for (std::uint64_t bits = 0; bits < sign; ++bits) {
      double const value = float_value(format, bits);
      if (!(value <= shape_of(format).most)) continue;
      ASSERT_GT(value, before) << bits;
      ASSERT_EQ(float_bits(format, value), bits);
      ASSERT_EQ(float_bits(format, -value), bits | sign);
      ASSERT_EQ(float_value(format, bits | sign), -value);
      if (format == FloatFormat::bf16) {
        ASSERT_EQ(value, same_bits<float>(static_cast<std::uint32_t>(bits << 16)));
      }
      before = value;
    }
  }
}

// 5.2.3 of PTX ISA 9.1: NaN of e4m3 are 0x7f and 0xff, and e2m1, e2m3 and e3m2 have none.
TEST(FloatFormat, HasTheNanOfItsFormat) {
  EXPECT_TRUE(std::isnan(float_value(FloatFormat::e4m3, 0x7f)));
  EXPECT_TRUE(std::isnan(float_value(FloatFormat::e4m3, 0xff)));
  EXPECT_EQ(float_value(FloatFormat::e2m1, 0x7), 6);
  EXPECT_EQ(float_value(FloatFormat::e2m1, 0xa), -1);
  EXPECT_EQ(float_value(FloatFormat::e2m3, 0x1f), 7.5);
  EXPECT_EQ(float_value(FloatFormat::e3m2, 0x1f), 28);
  EXPECT_EQ(float_bits(FloatFormat::e2m1, 2.5), std::nullopt);
}

}  // namespace
TEST(FloatFormat, AnExponentAlone) {
  EXPECT_EQ(float_value(FloatFormat::e8m0, 127), 1);
  EXPECT_EQ(float_value(FloatFormat::e8m0, 0), std::ldexp(1, -127));
  EXPECT_TRUE(std::isnan(float_value(FloatFormat::e8m0, 255)));
  for (unsigned bits = 0; bits < 255; ++bits)
    EXPECT_EQ(float_bits(FloatFormat::e8m0, float_value(FloatFormat::e8m0, bits)), bits);
  for (double const none : {0.0, -1.0, 3.0, 0.75, HUGE_VAL, std::ldexp(1, -128), std::ldexp(1, 128)})
    EXPECT_EQ(float_bits(FloatFormat::e8m0, none), std::nullopt) << none;
}

}  // namespace swizproof
