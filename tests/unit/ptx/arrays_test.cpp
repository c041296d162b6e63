// Addresses of the arrays of a kernel, by its text.
#include <swizproof/ptx/arrays.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>

#include <gtest/gtest.h>

#include <map>

namespace swizproof::ptx {
namespace {

/// Addresses by name, and why there are none under "".
std::map<std::string, std::string> addresses_of(std::string const& file, std::string const& body) {
  Module const m = read_module(".version 8.0\n.target sm_90\n.address_size 64\n" + file +
                                   ".entry k()\n{\n.reg .b32 %r<9>;\n" + body + "\nret;\n}\n",
                               "test.ptx");
  Function const& kernel = m.functions.back();
  Function const inlined = inline_calls(m, kernel).value_or(kernel);
  Program program = lower(m, inlined);
  std::map<std::string, std::string> out{{"", place_arrays(m, kernel, 0x400, program)}};
  for (Variable const& v : program.symbols)
    if (v.placed) out[v.name] = std::to_string(*v.placed - 0x400);
  return out;
}

using Places = std::map<std::string, std::string>;

std::string const a = ".shared .align 4 .b8 a[132];\n", b = ".shared .align 1024 .b8 b[256];\n";

TEST(PtxArrays, OwnOnesComeBeforeTheModules) {
  EXPECT_EQ(addresses_of(".shared .align 4 .b8 m[4];\n.extern .shared .align 1 .b8 d[];\n",
                         a + b + "mov.u32 %r1, m; mov.u32 %r2, b; st.shared.u32 [a+4], %r1; mov.u32 %r2, d;"),
            (Places{{"", ""}, {"a", "0"}, {"b", "1024"}, {"m", "1280"}, {"d", "1296"}}));
}

TEST(PtxArrays, ThoseThatNoInstructionNamesTakeNoPlace) {
  EXPECT_EQ(addresses_of(".shared .align 4 .b8 m[4];\n", a + b + "mov.u32 %r2, b;"),
            (Places{{"", ""}, {"b", "0"}}));
}

TEST(PtxArrays, ExternOnesLieBehindEachOther) {
  EXPECT_EQ(addresses_of(".extern .shared .align 512 .b8 d[];\n.extern .shared .align 1024 .b8 e[];\n",
                         a + "mov.u32 %r1, a; mov.u32 %r2, e;"),
            (Places{{"", ""}, {"a", "0"}, {"d", "512"}, {"e", "1024"}}));
}

TEST(PtxArrays, AnOwnOneHidesOneOfTheModule) {
  EXPECT_EQ(addresses_of(".shared .align 4 .b8 x[64];\n.shared .align 4 .b8 y[4];\n",
                         ".shared .align 4 .b8 x[8];\nmov.u32 %r1, x; mov.u32 %r2, y;"),
            (Places{{"", ""}, {"x", "0"}, {"y", "8"}}));
}

TEST(PtxArrays, FunctionsWithArraysLeaveThemOpen) {
  std::string const
      quiet = ".func f()\n{\nret;\n}\n",
      own = ".func f()\n{\n.reg .b32 %r<2>;\n" + b + "mov.u32 %r1, b;\nret;\n}\n",
      other = ".shared .align 4 .b8 m[4];\n.func f()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, m;\nret;\n}\n";
  std::string const body = a + "mov.u32 %r1, a; call f, ();";
  EXPECT_EQ(addresses_of(quiet, body), (Places{{"", ""}, {"a", "0"}}));
  EXPECT_EQ(addresses_of(own, body), (Places{{"", "it calls f, which has shared arrays"}}));
  EXPECT_EQ(addresses_of(other, body), (Places{{"", "it calls f, which has shared arrays"}}));
  EXPECT_EQ(addresses_of(other, body + "mov.u32 %r1, m;"), (Places{{"", ""}, {"a", "0"}, {"m", "132"}}));
  EXPECT_EQ(addresses_of(".extern .func f();\n", body),
            (Places{{"", "it calls f, which is not in this file"}}));
  EXPECT_EQ(addresses_of("", a + "mov.u32 %r1, a; call %r1, ();"), (Places{{"", "an indirect call"}}));
}

}  // namespace
}  // namespace swizproof::ptx
