// Constant expressions, and where PTX may have them. tests/reference/ptx_expressions.py compares random ones with ptxas.
#include "ptx/expression.hpp"

#include <swizproof/ptx/module.hpp>

#include <gtest/gtest.h>

namespace swizproof::ptx {
namespace {

constexpr std::uint64_t minus_one = ~std::uint64_t{0};

TEST(PtxExpression, Operators) {
  EXPECT_EQ(constant_of("(1 + 1) << 3"), 16U);
  EXPECT_EQ(constant_of("~0"), minus_one);
  EXPECT_EQ(constant_of("+2"), 2U);
  EXPECT_EQ(constant_of("1 + 2 * 3 - (4 << 1) | 8"), minus_one);
  EXPECT_EQ(constant_of("9 - 4 - 3"), 2U) << "from left to right";
  EXPECT_EQ(constant_of("~0 < 0"), 0U) << "of no sign";
  EXPECT_EQ(constant_of("-5 / 2"), minus_one - 1);
  EXPECT_EQ(constant_of("-5 / 2U"), (minus_one - 4) / 2);
  EXPECT_EQ(constant_of("-5 % 3"), (minus_one - 4) % 3) << "as ptxas: of words without a sign";
  EXPECT_EQ(constant_of("-1 >> 1"), minus_one);
  EXPECT_EQ(constant_of("(.u64) -1 >> 1"), minus_one >> 1);
  EXPECT_EQ(constant_of("1 << 65"), 2U);
  EXPECT_EQ(constant_of("-1 < 0"), 1U);
  EXPECT_EQ(constant_of("-1 < 0U"), 0U);
  EXPECT_EQ(constant_of("!3 || 2 == 2 && 1 != 1"), 0U);
  EXPECT_EQ(constant_of("1 ? 2 : 0 ? 3 : 4"), 2U);
  EXPECT_EQ(constant_of("0x1F & 017 ^ 0b11"), 12U);
}

TEST(PtxExpression, IsNoOtherText) {
  for (std::string_view const text :
       {"", "%r1", "a", "1 +", "(1", "1)", "1 1", "08", "1 / 0", "1 % 0", "0f3f800000", "1 ? 2"})
    EXPECT_EQ(constant_of(text), std::nullopt) << text;
}

Module expressions_in(std::string const& body) {
  return read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .b8 s[64];\n.entry k() {\n.reg .b32 %r<8>; "
      ".reg .v4 .u32 %v; .reg .v2 .b16 h;\n" +
          body + "\n}\n",
      "test.ptx");
}
Operand operand_of(std::string const& text) {
  return expressions_in("add.u32 %r1, %r2, " + text + ";").functions.at(0).body.at(0).operands.at(2);
}

TEST(PtxReader, ReadsExpressionsAndComments) {
  for (std::string const text : {"~0 & 2", "+2", "(1 + 1)", "1+1", "/* one */ 2", "2 // two\n"}) {
    Operand const o = operand_of(text);
    EXPECT_EQ(o.kind, Operand::Kind::immediate) << text;
    EXPECT_EQ(o.value, 2U) << text;
  }
  EXPECT_EQ(operand_of("/* a */ %r3 /* b; */").kind, Operand::Kind::reg);
  EXPECT_EQ(operand_of("s+4*2").value, 8U);
  auto const call = expressions_in("call.uni (%r1), f, (1);").functions.at(0).body.at(0).operands;
  EXPECT_EQ(call.at(2).kind, Operand::Kind::vector);
  auto const load = expressions_in("ld.shared.u32 %r1, [s+(1+1)*4];").functions.at(0).body.at(0).operands;
  EXPECT_EQ(load.at(1).kind, Operand::Kind::address);
  EXPECT_EQ(load.at(1).value, 8U);
}

TEST(PtxReader, ReadsRegistersOfSeveralLanes) {
  Module const m =
      expressions_in("ld.shared.v4.u32 %v, [s]; mov.u32 %r1, %v.y; mov.u32 %r2, %v.g; mov.b32 %r3, h;");
  auto const& body = m.functions.at(0).body;
  ASSERT_EQ(body.at(0).operands.at(0).parts.size(), 4U);
  EXPECT_EQ(body.at(1).operands.at(1).reg, body.at(0).operands.at(0).parts.at(1).reg);
  EXPECT_EQ(body.at(2).operands.at(1).reg, body.at(0).operands.at(0).parts.at(1).reg);
  EXPECT_EQ(body.at(3).operands.at(1).parts.size(), 2U);
}

}  // namespace
}  // namespace swizproof::ptx
