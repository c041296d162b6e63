#include <swizproof/program/opcode.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <tuple>

namespace swizproof::program {
namespace {

TEST(Opcode, IsDecodedOnce) {
  Opcode const load("ld.volatile.shared::cta.v4.u16");
  EXPECT_EQ(load.name, "ld");
  EXPECT_EQ(load.parts, (std::vector<std::string_view>{"ld", "volatile", "shared::cta", "v4", "u16"}));
  EXPECT_EQ(load.type.kind, 'u');
  EXPECT_EQ(load.type.bits, 16U);
  EXPECT_EQ(load.space, Space::shared);
  EXPECT_EQ(load.lanes, 4U);
  EXPECT_TRUE(load.has("volatile"));
  EXPECT_FALSE(load.has("vol"));
  EXPECT_EQ(Opcode("ld.param::entry.b64").space, Space::param);
  EXPECT_EQ(Opcode("st.b32").space, Space::generic);
  EXPECT_EQ(Opcode("cp.async.ca.shared.global").space, Space::shared) << "the destination comes first";
  EXPECT_EQ(Opcode("ret").type.kind, 0);
  EXPECT_TRUE(Opcode().parts.empty()) << "of a label";
}

TEST(Opcode, TypesHaveTheBitsOfARegister) {
  for (auto const& [part, kind, bits] :
       std::initializer_list<std::tuple<std::string_view, char, unsigned>>{{"b8", 'b', 8},
                                                                           {"s64", 's', 64},
                                                                           {"b128", 'b', 128},
                                                                           {"f32", 'f', 32},
                                                                           {"f16x2", 'f', 32},
                                                                           {"bf16", 'f', 16},
                                                                           {"bf16x2", 'f', 32},
                                                                           {"tf32", 'f', 32},
                                                                           {"e5m2x2", 'f', 16},
                                                                           {"pred", 'p', 1},
                                                                           {"u99", 0, 0},
                                                                           {"b", 0, 0},
                                                                           {"sync", 0, 0},
                                                                           {"", 0, 0}}) {
    EXPECT_EQ(type_of(part).kind, kind) << part;
    EXPECT_EQ(type_of(part).bits, bits) << part;
  }
  EXPECT_EQ(Opcode("cvt.rn.f16x2.s32").type_before().bits, 32U);
  EXPECT_EQ(Opcode("cvt.s32").type_before().kind, 0) << "a name is no type";
}

}  // namespace
}  // namespace swizproof::program
