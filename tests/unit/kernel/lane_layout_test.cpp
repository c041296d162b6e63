// Layouts of the lanes of an access, as `swizproof kernel` prints them.
#include "kernel/lane_layout.hpp"

#include <gtest/gtest.h>

#include <swizproof/kernel/kernel.hpp>

namespace swizproof {
namespace {

using kernel_detail::common_forms;
using kernel_detail::LaneForm;
using kernel_detail::LaneLayout;

constexpr std::uint32_t all_lanes = ~0U;

template <class Address>
std::array<std::uint64_t, 32> lanes(Address const& address) {
  std::array<std::uint64_t, 32> out{};
  for (std::uint32_t l = 0; l < 32; ++l) out[l] = static_cast<std::uint32_t>(address(l));
  return out;
}
/// The first form of these cases, or nothing.
std::string first(LaneLayout const& of) {
  auto const forms = of.forms();
  return forms.empty() ? "" : to_string(forms[0]);
}
template <class Address>
std::string form_of(Address const& address, std::uint32_t on = all_lanes, unsigned zeros = 32) {
  LaneLayout layout;
  layout.add(lanes(address), on, zeros);
  return first(layout);
}
std::uint32_t rows_of_matrix(std::uint32_t l) { return l % 8 * 128 + l / 8 * 16; }

TEST(KernelLayout, ModesAreLanesOfOneStride) {
  EXPECT_EQ(form_of([](std::uint32_t l) { return 4 * l; }), "32:4");
  EXPECT_EQ(form_of([](std::uint32_t l) { return 100 + rows_of_matrix(l); }), "(8,4):(128,16)");
  EXPECT_EQ(form_of([](std::uint32_t) { return 64U; }), "32:0");
  EXPECT_EQ(form_of([](std::uint32_t l) { return 1024 - 4 * l; }), "32:-4");
  EXPECT_EQ(form_of([](std::uint32_t l) { return l / 4 * 256 + l % 4 * 8; }), "(4,8):(8,256)");
}

TEST(KernelLayout, TheSwizzleIsNamed) {
  Swizzle const s{3, 4, 3};
  EXPECT_EQ(form_of([&](std::uint32_t l) { return s(rows_of_matrix(l)); }), "(8,4):(128,16) under Sw<3,4,3>");
  EXPECT_EQ(form_of([&](std::uint32_t l) { return s(0x2000 + rows_of_matrix(l)); }),
            "(8,4):(128,16) under Sw<3,4,3>");
}

TEST(KernelLayout, AnUnknownPartMustBeAMultipleOfThePeriod) {
  Swizzle const s{3, 4, 3};
  auto const address = [&](std::uint32_t l) { return s(rows_of_matrix(l)); };
  EXPECT_EQ(form_of(address, all_lanes, 10), "(8,4):(128,16) under Sw<3,4,3>");
  EXPECT_EQ(form_of(address, all_lanes, 9), "(4,2,4):(128,576,16) under Sw<2,4,3>");  // of a period of 512
  EXPECT_EQ(form_of(address, all_lanes, 8), "");
  EXPECT_EQ(form_of(rows_of_matrix, all_lanes, 0), "(8,4):(128,16)");
}

TEST(KernelLayout, WhatIsNoLayoutHasNone) {
  EXPECT_EQ(form_of([](std::uint32_t l) { return l * l * 4; }), "");
  EXPECT_EQ(form_of([](std::uint32_t l) { return 4 * l; }, 0x10), "");  // one lane
  EXPECT_EQ(first({}), "");
}

TEST(KernelLayout, LanesThatAreOffDoNotCount) {
  EXPECT_EQ(form_of([](std::uint32_t l) { return l < 16 ? 4 * l : 7 * l; }, 0xffff), "16:4");
  EXPECT_EQ(form_of([](std::uint32_t l) { return l < 31 ? 4 * l : 0; }, 0x7fffffff), "32:4");
  EXPECT_EQ(form_of([](std::uint32_t l) { return 4 * l; }, 0x55555555), "");  // no neighbour of lane 0
  EXPECT_EQ(form_of([](std::uint32_t l) { return 4 * l; }, 0x33333333), "");  // no lane 2 behind 0 and 1
}

TEST(KernelLayout, EveryCaseHasIt) {
  LaneLayout same, other;
  for (std::uint32_t const base : {0U, 640U, 70000U})
    same.add(lanes([&](std::uint32_t l) { return base + 4 * l; }), all_lanes, 32);
  EXPECT_EQ(first(same), "32:4");
  other.add(lanes([](std::uint32_t l) { return 4 * l; }), all_lanes, 32);
  other.add(lanes([](std::uint32_t l) { return 8 * l; }), all_lanes, 32);
  EXPECT_EQ(first(other), "");
}

TEST(KernelLayout, HalfAWarpDecidesTheLowBitsAndTheWholeOneTheRest) {
  LaneLayout layout;
  layout.add(lanes([](std::uint32_t l) { return l % 16 * 4; }), 0xffff, 32);
  layout.add(lanes([](std::uint32_t l) { return l % 16 * 4 + l / 16 * 4096; }), all_lanes, 32);
  EXPECT_EQ(first(layout), "(16,2):(4,4096)");
}

TEST(KernelLayout, AccessesOfAnArrayHaveOneSwizzleWhereThereIsOne) {
  Swizzle const s{5, 2, 5};
  LaneLayout row, column, plain;
  for (std::uint32_t at = 0; at < 4; ++at) {
    row.add(lanes([&](std::uint32_t l) { return s(at * 128 + 4 * l); }), all_lanes, 32);
    column.add(lanes([&](std::uint32_t l) { return s(128 * l + 4 * at); }), all_lanes, 32);
  }
  plain.add(lanes([](std::uint32_t l) { return 4 * l; }), all_lanes, 32);
  EXPECT_EQ(first(row), "32:4 under Sw<2,2,5>");
  auto const forms = common_forms({row.forms(), column.forms(), plain.forms(), {}});
  ASSERT_EQ(forms.size(), 4U);
  EXPECT_EQ(to_string(*forms[0]), "32:4 under Sw<5,2,5>");
  EXPECT_EQ(to_string(*forms[1]), "32:128 under Sw<5,2,5>");
  EXPECT_EQ(to_string(*forms[2]), "32:4");
  EXPECT_FALSE(forms[3]);
}

TEST(KernelLayout, IsThatOfAllWarpsFromTheArraysStart) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n"
      ".entry k(.param .u32 n)\n{\n.reg .b32 %r<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u32 %r3, [n];\n"
      "shr.u32 %r4, %r1, 3; and.b32 %r4, %r4, 7; xor.b32 %r5, %r1, %r4; shl.b32 %r5, %r5, 4;\n"
      "add.u32 %r6, %r2, %r5; ld.shared.v4.u32 {%r7,%r7,%r7,%r7}, [%r6];\n"
      "shl.b32 %r8, %r3, 4; add.u32 %r6, %r6, %r8; ld.shared.v4.u32 {%r7,%r7,%r7,%r7}, [%r6];\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.block = {128, 1, 1};
  auto const accesses = decide_kernel(m, m.functions.at(0), options).accesses;
  ASSERT_EQ(accesses.size(), 2U);
  EXPECT_EQ(accesses[0].layout, "32:16 under Sw<3,4,3>");
  EXPECT_EQ(accesses[1].layout, "");  // n may be odd
}

}  // namespace
}  // namespace swizproof
