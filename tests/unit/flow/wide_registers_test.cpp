// Registers of 128 bits: loads, stores and moves of both halves.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

TEST(WideRegisters, MoveBothHalves) {
  std::string const start =
      ".reg .b128 %q<4>; mul.wide.u32 %rd6, %r1, 16; add.u64 %rd7, %rd2, %rd6; add.u64 "
      "%rd8, %rd1, %rd6;\n";
  Case c{start + "ld.global.b128 %q0, [%rd7]; mov.b128 %q1, %q0; st.global.b128 [%rd8], %q1;\n", "f32[256]",
         "f32[256]"};
  c.expect = {"c[i] = a[i] for i in 0..255"};
  EXPECT_EQ(c.answer(), "proved");
  c.body = start +
           "ld.global.b128 %q0, [%rd7]; mov.b128 {%rd9, %rd10}, %q0; st.global.v2.b64 [%rd8], {%rd10, "
           "%rd9};\n";
  EXPECT_EQ(c.answer(), "wrong element");
  c.body = start + "ld.global.b128 %q0, [%rd7]; st.global.b128 [%rd8], %q1;\n";
  EXPECT_NE(c.answer(), "proved");
  c.body = start + "ld.global.b128 %q0, [%rd7+8]; st.global.b128 [%rd8], %q0;\n";
  EXPECT_EQ(c.kind(), "misaligned");
  c.body = start + "ld.global.relaxed.gpu.b128 %q0, [%rd7]; st.global.b128 [%rd8], %q0;\n";
  EXPECT_EQ(c.kind(), "unknown");
}

}  // namespace
}  // namespace swizproof
