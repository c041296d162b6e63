// Generic addresses and those of a state space. [PTX ISA 9.1, 6.4.1.1: Generic Addressing; 9.7.9.20: cvta; 9.7.9.23: mapa]
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

/// A thread's word of the tile is written through %rd8, and loaded by name.
Case through(std::string const& address, std::string const& store_it = "st.f32 [%rd8], %f1;\n") {
  return {load + "cvt.u64.u32 %rd7, %r3;\n" + address + store_it + "ld.shared.f32 %f2, [%r3];\n" + store,
          "f32[64]",
          "f32[64]",
          {"c[i] = a[i]"}};
}

// A generic address maps to shared memory only in its window; mov gives the address in the state space.
TEST(Windows, TellGenericAddressesFromThoseOfASpace) {
  EXPECT_EQ(through("cvta.shared.u64 %rd8, %rd7;\n").answer(), "proved");
  EXPECT_EQ(through("mov.b64 %rd8, %rd7;\n").answer(),
            "out of bounds: thread 0 uses an address of .shared by st.f32, which takes a generic one: "
            "cvta.shared converts it");
  EXPECT_EQ(through("cvta.shared.u64 %rd8, %rd7;\n", "st.shared.f32 [%rd8], %f1;\n").answer(),
            "out of bounds: thread 0 uses a generic address by st.shared.f32, which takes one of its state "
            "space: cvta.to.shared converts it");
  EXPECT_EQ(through("cvta.global.u64 %rd8, %rd7;\n").kind(), "out of bounds");
  EXPECT_EQ(through("cvta.shared.u64 %rd8, %rd7;\ncvta.shared.u64 %rd8, %rd8;\n").kind(), "unknown");
  EXPECT_EQ(through("cvta.to.shared.u64 %rd8, %rd7;\n", "st.shared.f32 [%rd8], %f1;\n").kind(), "unknown");
  EXPECT_EQ(
      through("cvta.shared.u64 %rd8, %rd7;\ncvta.to.shared.u64 %rd8, %rd8;\n", "st.shared.f32 [%rd8], %f1;\n")
          .answer(),
      "proved");
}

// A variable that an address names is in its space, as ptxas takes it.
TEST(Windows, HaveNamedVariablesInTheirSpace) {
  EXPECT_EQ((Case{only_first("$A", "st.u32 [tile], %r1;\nld.shared.u32 %r5, [tile];\n")}.answer()), "proved");
  std::string const local = ".local .align 4 .b8 l[4];\nst.local.u32 [l], %r1;\nmov.u64 %rd7, l;\n";
  EXPECT_EQ(Case{local + "ld.u32 %r5, [%rd7];\n"}.kind(), "out of bounds");
  EXPECT_EQ(Case{local + "cvta.local.u64 %rd7, %rd7;\nld.u32 %r5, [%rd7];\n"}.answer(), "proved");
  EXPECT_EQ(Case{local + "cvt.u32.u64 %r5, %rd7;\nld.local.u32 %r6, [%r5];\n"}.answer(), "proved");
  EXPECT_EQ(Case{local + "mov.u32 %r5, l;\nst.local.u32 [%r5], %r1;\nld.local.u32 %r6, [%rd7];\n"}.answer(),
            "proved");
  EXPECT_EQ(Case{local + "mov.u32 %r5, l;\nst.local.u32 [%r5+4], %r1;\n"}.kind(), "out of bounds");
  EXPECT_EQ(
      Case{local + "cvta.local.u64 %rd7, %rd7;\ncvt.u32.u64 %r5, %rd7;\nld.local.u32 %r6, [%r5];\n"}.kind(),
      "out of bounds");
  EXPECT_EQ(Case{local + "cvta.shared.u64 %rd7, %rd7;\nld.u32 %r5, [%rd7];\n"}.kind(), "unknown");
}

// Compilers choose between generic addresses of several spaces, and add to them.
TEST(Windows, KeepSumsAndChoices) {
  std::string const made = "cvta.shared.u64 %rd8, %rd7;\nsetp.lt.u32 %p1, %r1, 32;\n";
  EXPECT_EQ(through(made + "add.s64 %rd9, %rd8, 128;\nselp.b64 %rd8, %rd8, %rd9, %p1;\n@!%p1 add.s64 %rd8, "
                           "%rd8, -128;\n")
                .answer(),
            "proved");
  Case choice{load + "st.shared.f32 [%r3], %f1;\ncvt.u64.u32 %rd7, %r3;\n" + made +
                  "selp.b64 %rd8, %rd8, %rd4, %p1;\nld.f32 %f2, [%rd8];\n" + store,
              "f32[64]",
              "f32[64]",
              {"c[i] = a[i]"}};
  EXPECT_EQ(choice.answer(), "proved");
}

// The low half of a generic address is one of .shared on devices; the PTX ISA does not have it.
TEST(Windows, BeginWhereDevicesHaveThem) {
  std::string const narrow = "cvta.shared.u64 %rd8, %rd7;\ncvt.u32.u64 %r9, %rd8;\n";
  FlowReport const r = through(narrow, "st.shared.f32 [%r9], %f1;\n").report();
  EXPECT_EQ(r.verdict, FlowVerdict::proved);
  ASSERT_EQ(r.assumed.size(), 1U);
  EXPECT_NE(r.assumed[0].find("2^32"), std::string::npos);
  EXPECT_TRUE(through("cvta.shared.u64 %rd8, %rd7;\n").report().assumed.empty());
}

TEST(Windows, HaveMbarriersAndTensorMaps) {
  auto const first = [](std::string const& body) { return Case{only_first("$A", body)}.kind(); };
  EXPECT_EQ(first("mov.u64 %rd7, tile;\nmbarrier.init.b64 [%rd7], 1;\n"), "out of bounds");
  EXPECT_EQ(first("mov.u64 %rd7, tile;\ncvta.shared.u64 %rd7, %rd7;\nmbarrier.init.b64 [%rd7], 1;\n"),
            "proved");
  EXPECT_EQ(first("mov.u64 %rd7, tile;\ncvta.shared.u64 %rd7, %rd7;\nmbarrier.init.shared.b64 [%rd7], 1;\n"),
            "out of bounds");
  EXPECT_EQ(first("mov.b64 %rd7, c;\ncp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd7, {%r1}], "
                  "[%r2];\n"),
            "out of bounds");
}

/// The tile of the other rank of two is written by a generic address.
Case mapped(std::string const& address) {
  Case out{load +
               "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; cvt.u64.u32 %rd7, %r3;\n"
               "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" +
               address +
               "st.f32 [%rd8], %f1;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
               "ld.shared.f32 %f2, [%r3];\n" +
               store,
           "f32[64]",
           "f32[64]",
           {"c[i] = a[i]"}};
  out.grid = out.cluster = 2, out.same_values = true;
  return out;
}

TEST(Windows, MapAddressesOfOtherBlocks) {
  EXPECT_EQ(mapped("cvta.shared.u64 %rd7, %rd7;\nmapa.u64 %rd8, %rd7, %r11;\n").answer(), "proved");
  EXPECT_EQ(mapped("mapa.u64 %rd8, %rd7, %r11;\n").kind(), "out of bounds");
  EXPECT_EQ(
      mapped("mapa.shared::cluster.u64 %rd8, %rd7, %r11;\ncvta.shared::cluster.u64 %rd8, %rd8;\n").answer(),
      "proved");
  EXPECT_EQ(mapped("mapa.shared::cluster.u64 %rd8, %rd7, %r11;\n").kind(), "out of bounds");
  EXPECT_EQ(mapped("mapa.shared::cluster.u64 %rd8, %rd7, %r11;\ncvta.shared.u64 %rd8, %rd8;\n").kind(),
            "unknown");
  EXPECT_EQ(mapped("cvta.shared.u64 %rd7, %rd7;\nmapa.shared::cluster.u64 %rd8, %rd7, %r11;\n").kind(),
            "out of bounds");
}

// ldmatrix and stmatrix have .shared::cta alone. [PTX ISA 9.1, 9.7.14.5.15, 9.7.14.5.16]
TEST(Windows, HaveRowsOfTheBlockItself) {
  std::string const
      row =
          "and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 4; add.s32 %r5, %r5, %r2; cvt.u64.u32 %rd7, %r5;\n"
          "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; cvta.shared.u64 %rd7, %rd7;\n"
          "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
      end = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  auto const kind = [&](std::string const& body) {
    Case out{row + "mapa.u64 %rd8, %rd7, %r11;\n" + body + end};
    out.threads = 32, out.grid = out.cluster = 2;
    return out.kind();
  };
  EXPECT_EQ(kind("stmatrix.sync.aligned.m8n8.x1.b16 [%rd8], {%r1};\n"), "out of bounds");
  EXPECT_EQ(kind("stmatrix.sync.aligned.m8n8.x1.b16 [%rd7], {%r1};\n"), "proved");
  EXPECT_EQ(
      kind("stmatrix.sync.aligned.m8n8.x1.b16 [%rd7], {%r1};\nbar.sync 0;\nldmatrix.sync.aligned.m8n8.x1.b16 "
           "{%r6}, [%rd7];\n"),
      "proved");
  EXPECT_EQ(kind("stmatrix.sync.aligned.m8n8.x1.b16 [%rd7], {%r1};\n" + end +
                 "ldmatrix.sync.aligned.m8n8.x1.b16 "
                 "{%r6}, [%rd8];\n"),
            "out of bounds");
}

}  // namespace
}  // namespace swizproof
