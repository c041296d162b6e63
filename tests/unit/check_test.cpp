// check(): verdicts, counterexamples and refusals, on literals worked by hand.
#include <swizproof/check.hpp>
#include <swizproof/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

AccessVerdict check_text(std::string_view layout, std::string_view access, unsigned bits = 16,
                         CheckOptions const& options = {}) {
  return check(Placement(parse_mapping(layout, {bits}), parse_access(access)), options);
}

bool used(AccessVerdict const& v, Engine engine) {
  return std::find(v.engines.begin(), v.engines.end(), engine) != v.engines.end();
}

constexpr char const* swizzled = "Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)";

TEST(Check, ASwizzledTileIsConflictFreeByAlgebraAndExhaustion) {
  AccessVerdict const v = check_text(swizzled, "ldmatrix.x4");
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome));
  EXPECT_EQ(v.wavefronts, 4U);
  EXPECT_EQ(v.excess(), 0U);
  EXPECT_EQ(v.degree, (std::vector<unsigned>{1, 1, 1, 1}));
  EXPECT_TRUE(used(v, Engine::linear));
  EXPECT_TRUE(used(v, Engine::exhaustive));
  EXPECT_FALSE(v.conflict);
}

TEST(Check, TheCounterexampleNamesPhaseBankLanesAndAddresses) {
  AccessVerdict const v = check_text("(128,64):(64,1)", "ldmatrix.x4");
  ASSERT_TRUE(std::holds_alternative<Refuted>(v.outcome));
  EXPECT_EQ(v.wavefronts, 32U);
  EXPECT_EQ(v.excess(), 28U);
  ASSERT_TRUE(v.conflict);
  EXPECT_EQ(v.conflict->phase, 0U);
  EXPECT_EQ(v.conflict->bank, 0U);
  ASSERT_EQ(v.conflict->lanes.size(), 8U);
  LaneAtFault const& second = v.conflict->lanes[1];
  EXPECT_EQ(second.lane, 1U);
  EXPECT_EQ(second.coordinate, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(second.offset, 64);
  EXPECT_EQ(second.address, 128U);
  EXPECT_EQ(second.word, 32U);
}

TEST(Check, PaddingIsDecidedBySmtAndExhaustion) {
  AccessVerdict const v =
      check_text("(32,32):(33,1)", "ld.shared.b32: row = lane, col = i for i in 0..31", 32);
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome));
  EXPECT_TRUE(used(v, Engine::smt));
  EXPECT_TRUE(used(v, Engine::exhaustive));
}

TEST(Check, AnUnboundedVariableIsLeftToSmt) {
  Mapping none;
  AccessVerdict const odd =
      check(Placement(none, parse_access("ld.shared.b32: address = 4*lane*(2*v+1) for v")), {});
  EXPECT_TRUE(std::holds_alternative<Proved>(odd.outcome));
  EXPECT_EQ(odd.engines, (std::vector<Engine>{Engine::smt}));
  AccessVerdict const any =
      check(Placement(none, parse_access("ld.shared.b32: address = 4*lane*v for v")), {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(any.outcome));
  EXPECT_EQ(any.wavefronts, 32U) << "v = 32, for instance";
}

TEST(Check, ABoundIsProvedAndTheLeastOneReported) {
  CheckOptions options;
  options.at_most = 8;
  AccessVerdict const v = check_text("(32,32):(36,1)", "ld.shared.b32: row = lane, col = 0", 32, options);
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome));
  EXPECT_EQ(v.wavefronts, 4U);
  options.at_most = 3;
  EXPECT_TRUE(std::holds_alternative<Refuted>(
      check_text("(32,32):(36,1)", "ld.shared.b32: row = lane, col = 0", 32, options).outcome));
}

TEST(Check, ABaseOutsideTheSwizzlesPeriodIsSeen) {
  // 32-byte rows: Sw<3,4,3> spreads them as well as Sw<1,4,3> does, but only from aligned bases.
  constexpr char const* narrow = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,16):(16,1)";
  EXPECT_TRUE(std::holds_alternative<Proved>(check_text(narrow, "ldmatrix.x1").outcome));
  CheckOptions options;
  options.align = 16;
  AccessVerdict const v = check_text(narrow, "ldmatrix.x1", 16, options);
  EXPECT_TRUE(used(v, Engine::smt)) << "a base of 16 carries into the offsets: not linear";
  EXPECT_TRUE(used(v, Engine::exhaustive));
  ASSERT_TRUE(std::holds_alternative<Refuted>(v.outcome));
  ASSERT_TRUE(v.conflict);
  EXPECT_NE(v.conflict->base % 1024, 0U);
}

void expect_refusal(std::string_view layout, std::string_view access, std::string_view reason,
                    unsigned bits = 16) {
  try {
    (void)check_text(layout, access, bits);
    ADD_FAILURE() << "accepted: " << layout << " " << access;
  } catch (InputError const& error) {
    EXPECT_NE(error.message.find(reason), std::string::npos) << error.message;
  }
}

TEST(Check, RefusesWhatDoesNotFitWithTheLaneNamed) {
  expect_refusal("(8,64):(64,1)", "ld.shared.b32: row = lane, col = 0",
                 "lane 8 asks for (8,0), outside the tile (8,64)");
  expect_refusal("(32,64):(65,1)", "ld.shared.b128: row = lane, col = 0", "lane 1 has the address 130");
  expect_refusal("Sw<3,0,6> o _0 o (32,64):(64,1)", "ld.shared.b128: row = lane, col = 0", "lane 1");
  expect_refusal("Sw<1,0,-3> o _0 o (32,64):(64,1)", "ld.shared.b64: row = lane, col = 0",
                 "tears the vector apart");
  expect_refusal("(8,64):(64,1)", "ldmatrix.x4", "the access touches 16 rows of 32 bytes");
  expect_refusal("(8,64):(64,1)", "ld.shared.b32: coord = (lane, 0, 0)", "gives 3 indices");
  expect_refusal("Sw<3,4,3>", "ldmatrix.x4", "needs a tile");
}

TEST(Check, RefusesWhatDoesNotFitWithoutEnumeration) {
  expect_refusal("(8,64):(64,1)", "ld.shared.b32: row = lane%8, col = 2*v for v", "outside the tile");
}

TEST(Check, SubByteElementsHaveByteAddresses) {
  AccessVerdict const v =
      check_text("Sw<2,4,3> o smem_ptr[4b](unset) o ((_8,_4),(_128,_1)):((_128,_1024),(_1,_0))",
                 "ldmatrix.x4: row = lane%16, col = 32*(lane/16) + 64*k for k in 0..1", 4);
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome));
  EXPECT_EQ(v.wavefronts, 4U);
}

TEST(Check, CpAsyncNamesEveryLaneOfTheBank) {
  AccessVerdict const v = check_text("(32,32):(32,1)", "cp.async.b32: row = 0, col = 0", 32);
  EXPECT_EQ(v.wavefronts, 32U) << "lanes at one word do conflict (H7)";
  ASSERT_TRUE(v.conflict);
  EXPECT_EQ(v.conflict->lanes.size(), 32U);
}

TEST(Check, ColumnMajorTilesHaveTheirRowsInMemory) {
  AccessVerdict const v = check_text("Sw<3,3,3> o _0 o (64,32):(1,64)", "ldmatrix.x4.trans");
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome)) << "rows run along mode 0";
}

}  // namespace
}  // namespace swizproof
