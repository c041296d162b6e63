// Floating-point results, to the last bit.
#include <swizproof/program/floating.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>

namespace swizproof::program {
namespace {

using Result = std::optional<std::uint64_t>;

TEST(Floating, FollowsTheTable) {
  constexpr std::uint64_t one = 0x3f800000, two = 0x40000000, half = 0x3f000000, nan = 0x7fc00000,
                          infinite = 0x7f800000, least = 1, negative_zero = 0x80000000;
  struct Row {
    char const* opcode;
    std::array<std::uint64_t, 3> sources;
    Result result;
  };
  Row const rows[] = {
      {"add.f32", {one, two}, 0x40400000},
      {"add.rn.f32", {one, 0x33800000}, one},  // 1 + 2^-24: a tie, to even
      {"sub.f32", {one, two}, 0xbf800000},
      {"mul.f32", {two, half}, one},
      {"mul.rz.f32", {two, half}, {}},                                   // another rounding
      {"fma.rn.f32", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},  // one rounding: 2^-46 is left
      {"div.rn.f32", {one, 0x40400000}, 0x3eaaaaab},
      {"div.approx.f32", {one, two}, {}},
      {"div.full.f32", {one, two}, {}},
      {"sqrt.rn.f32", {0x40800000}, two},
      {"sqrt.rn.f32", {0xbf800000}, {}},
      {"neg.f32", {one}, 0xbf800000},
      {"abs.f32", {0xbf800000}, one},
      {"min.f32", {one, two}, one},
      {"max.f32", {one, two}, two},
      {"max.f32", {one, nan}, {}},
      {"min.f32", {0, negative_zero}, {}},
      {"add.f32", {infinite, one}, infinite},
      {"add.f32", {nan, one}, {}},
      {"add.f32", {least, 0}, least},
      {"add.ftz.f32", {least, one}, one},
      {"mul.ftz.f32", {0x00800000, half}, 0},  // the result is subnormal
      {"mul.f32", {0x00800000, half}, 0x00400000},
      {"add.f64", {0x3ff0000000000000, 0x4000000000000000}, 0x4008000000000000},
      {"add.f16", {0x3c00, 0x3c00}, {}},
      {"setp.lt.f32", {one, two}, 1},
      {"setp.lt.f32", {nan, two}, 0},
      {"setp.ltu.f32", {nan, two}, 1},
      {"setp.gtu.and.f32", {one, two}, 0},
      {"setp.eq.f32", {0, negative_zero}, 1},
      {"setp.ne.f64", {0, 0x8000000000000000}, 0},
      {"setp.nan.f32", {nan, one}, 1},
      {"setp.num.f32", {nan, one}, 0},
      {"setp.ge.f32", {two, two}, 1},
      {"setp.le.ftz.f32", {least, 0}, 1},
      {"setp.odd.f32", {one, two}, {}},
      {"cvt.rn.f32.s32", {0xffffffff}, 0xbf800000},
      {"cvt.rn.f32.u32", {0xffffffff}, 0x4f800000},
      {"cvt.rn.f32.s16", {0x1ffff}, 0xbf800000},  // of 16 bits: -1
      {"cvt.rz.f32.u32", {3}, {}},
      {"cvt.rzi.s32.f32", {0xbfc00000}, 0xffffffffffffffff},  // -1.5
      {"cvt.rmi.s32.f32", {0xbfc00000}, 0xfffffffffffffffe},
      {"cvt.rpi.s32.f32", {0xbfc00000}, 0xffffffffffffffff},
      {"cvt.rzi.u32.f32", {0xbfc00000}, {}},
      {"cvt.rzi.s32.f32", {0x4f000000}, {}},  // 2^31
      {"cvt.rzi.u32.f32", {0x4f000000}, 0x80000000},
      {"cvt.rzi.s32.f32", {nan}, {}},
      {"cvt.rni.s32.f32", {one}, {}},
      {"cvt.rpi.f32.f32", {0x3fc00000}, 0x40000000},  // 1.5
      {"cvt.rpi.f32.f32", {0xbf000000}, 0x80000000},  // -0.5
      {"cvt.f64.f32", {one}, 0x3ff0000000000000},
      {"cvt.rn.f32.f64", {0x3ff0000000000000}, one},
      {"ex2.approx.f32", {one}, {}},
      {"mul.f32x2", {one, one}, {}},
      {"and", {one, one}, {}},
  };
  for (Row const& row : rows)
    EXPECT_EQ(float_result(row.opcode, row.sources), row.result) << row.opcode << " " << row.sources[0];
}

TEST(Floating, AgreesWithIntegersWhereTheyAreExact) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 20'000; ++round) {
    // 11 bits each, so that sum and product have at most 24.
    auto const a = static_cast<std::int32_t>(random() % 4096) - 2048,
               b = static_cast<std::int32_t>(random() % 4096) - 2048;
    auto const bits = [](std::int32_t x) { return static_cast<std::uint64_t>(std::int64_t{x}); };
    auto const number = [&](std::int32_t x) { return float_result("cvt.rn.f32.s32", {bits(x)}).value(); };
    auto const integer = [](std::uint64_t x) { return float_result("cvt.rzi.s32.f32", {x}); };
    EXPECT_EQ(integer(float_result("add.f32", {number(a), number(b)}).value()), bits(a + b));
    EXPECT_EQ(integer(float_result("sub.ftz.f32", {number(a), number(b)}).value()), bits(a - b));
    EXPECT_EQ(integer(float_result("mul.rn.f32", {number(a), number(b)}).value()), bits(a * b));
    EXPECT_EQ(float_result("setp.lt.f32", {number(a), number(b)}), a < b ? 1U : 0U);
    EXPECT_EQ(float_result("setp.geu.f32", {number(a), number(b)}), a >= b ? 1U : 0U);
  }
}

}  // namespace
}  // namespace swizproof::program
