// check(): verdicts, counterexamples and refusals, on literals worked by hand.
#include <swizproof/analysis/check.hpp>
#include <swizproof/parse/parse.hpp>

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

constexpr char const* swizzled_rows = "Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)";

TEST(Check, BasesAreThoseOfSharedMemory) {
  // If bit 26 of an address is set, odd lanes go to the banks of even ones. No address of shared memory has it.
  CheckOptions options;
  options.align = 1 << 18;
  AccessVerdict const far =
      check_text("fn(x) = x ^ (((x >> 26) & 1) * (x & 4) * 33) o smem_ptr[32b](unset) o (1,32):(32,1)",
                 "ld.shared.b32: row = 0, col = lane", 32, options);
  EXPECT_TRUE(std::holds_alternative<Proved>(far.outcome()));
  EXPECT_NE(far.domain.find("every base that is a multiple of 262144 and below 2^24"), std::string::npos)
      << far.domain;
  AccessVerdict const period =
      check_text("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "ldmatrix.x1", 16, {});
  EXPECT_EQ(period.domain.find("below"), std::string::npos);
}

TEST(Check, ASwizzledTileIsConflictFreeByAlgebraAndExhaustion) {
  AccessVerdict const v = check_text(swizzled_rows, "ldmatrix.x4 step row 16, byte 32");
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome()));
  EXPECT_EQ(v.cost()->wavefronts, 4U);
  EXPECT_EQ(v.excess(), 0U);
  EXPECT_EQ(v.cost()->degree, (std::vector<unsigned>{1, 1, 1, 1}));
  EXPECT_TRUE(used(v, Engine::linear));
  EXPECT_TRUE(used(v, Engine::exhaustive));
  EXPECT_FALSE(v.cost()->has_conflict());
}

// Rows 4 to 11 have the XOR of row 8 four rows too early: conflicts that multiples of 16 rows do not have.
TEST(Check, EveryPositionIsAskedHoweverTheAccessIsWritten) {
  std::string const tile = "fn(row,col) = row*64 + (col ^ (((row + 4*(row/8)) & 7) << 3)) (64,64)";
  for (std::string const access : {"ldmatrix.x4", "ldmatrix.x4: row = lane%16, col = 8*(lane/16)"}) {
    AccessVerdict const v = check_text(tile, access);
    ASSERT_NE(v.cost(), nullptr);
    EXPECT_EQ(v.cost()->wavefronts, 8U) << access;
    ASSERT_TRUE(v.at_footprints);
    EXPECT_EQ(v.at_footprints->wavefronts, 4U);
    AccessVerdict const narrowed = check_text(tile, access + " " + v.at_footprints->clause);
    EXPECT_TRUE(std::holds_alternative<Proved>(narrowed.outcome()))
        << "the clause is one that an access takes";
    EXPECT_TRUE(narrowed.narrowed);
  }
  EXPECT_FALSE(check_text(swizzled_rows, "ldmatrix.x4").at_footprints) << "no position costs more";
  EXPECT_FALSE(check_text("(64,64):(64,1)", "ldmatrix.x4").at_footprints) << "every position costs as much";
}

// Rows of 132 bytes: every other one starts at a multiple of 8.
TEST(Check, AMisfitSaysWhetherItIsAtTheFootprintsMultiples) {
  AccessVerdict const v = check_text("(16,64):(66,1)", "ld.shared.b64: row = 2*(lane/8), col = 4*(lane%8)");
  ASSERT_TRUE(std::holds_alternative<Misfit>(v.found));
  ASSERT_TRUE(v.at_footprints);
  EXPECT_EQ(v.at_footprints->clause, "step row 8, col 32");
  EXPECT_FALSE(check_text("(16,64):(66,1)", "ld.shared.b64: row = lane/8, col = 4*(lane%8)").at_footprints)
      << "no position fits";
}

// 4,093 * 4,089 positions are 32 cases modulo the banks: 2^18 bounds these.
TEST(Check, ALargeTileHasFewCases) {
  AccessVerdict const v = check_text("(4096,4096):(4096,1)", "ld.shared.b32: row = lane/8, col = lane%8", 32);
  EXPECT_TRUE(used(v, Engine::exhaustive));
  EXPECT_EQ(v.cost()->wavefronts, 4U);
  EXPECT_EQ(v.cost()->total, 4U * 4093 * 4089);
}

TEST(Check, TheCounterexampleNamesPhaseBankLanesAndAddresses) {
  AccessVerdict const v = check_text("(128,64):(64,1)", "ldmatrix.x4");
  ASSERT_TRUE(std::holds_alternative<Refuted>(v.outcome()));
  EXPECT_EQ(v.cost()->wavefronts, 32U);
  EXPECT_EQ(v.excess(), 28U);
  ASSERT_TRUE(v.cost()->has_conflict());
  Collision const& collision = v.cost()->collision;
  EXPECT_EQ(collision.phase, 0U);
  EXPECT_EQ(collision.bank, 0U);
  ASSERT_EQ(collision.lanes.size(), 8U);
  CollidingLane const& second = collision.lanes[1];
  ElementAtFault const& element = v.cost()->elements[1];
  EXPECT_EQ(second.lane, 1U);
  EXPECT_EQ(element.coordinate, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(element.offset, 64);
  EXPECT_EQ(second.address, 128U);
  EXPECT_EQ(second.word, 32U);
}

TEST(Check, PaddingIsDecidedBySmtAndExhaustion) {
  for (bool const every : {false, true}) {
    CheckOptions options;
    options.every_engine = every;
    AccessVerdict const v =
        check_text("(32,32):(33,1)", "ld.shared.b32: row = lane, col = i for i in 0..31", 32, options);
    EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome()));
    EXPECT_EQ(used(v, Engine::smt), every);
    EXPECT_TRUE(used(v, Engine::exhaustive));
  }
}

TEST(Check, AnUnboundedVariableIsLeftToSmt) {
  Mapping none;
  AccessVerdict const odd =
      check(Placement(none, parse_access("ld.shared.b32: address = 4*lane*(2*v+1) for v")), {});
  EXPECT_TRUE(std::holds_alternative<Proved>(odd.outcome()));
  EXPECT_EQ(odd.engines, (std::vector<Engine>{Engine::smt}));
  AccessVerdict const any =
      check(Placement(none, parse_access("ld.shared.b32: address = 4*lane*v for v")), {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(any.outcome()));
  EXPECT_EQ(any.cost()->wavefronts, 32U) << "v = 32, for instance";
}

TEST(Check, ABoundIsProvedAndTheLeastOneReported) {
  CheckOptions options;
  options.at_most = 8;
  AccessVerdict const v = check_text("(32,32):(36,1)", "ld.shared.b32: row = lane, col = 0", 32, options);
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome()));
  EXPECT_EQ(v.cost()->wavefronts, 4U);
  options.at_most = 3;
  EXPECT_TRUE(std::holds_alternative<Refuted>(
      check_text("(32,32):(36,1)", "ld.shared.b32: row = lane, col = 0", 32, options).outcome()));
}

TEST(Check, ABaseOutsideTheSwizzlesPeriodIsSeen) {
  // 32-byte rows: Sw<3,4,3> spreads them as well as Sw<1,4,3> does, but only from aligned bases.
  constexpr char const* narrow = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,16):(16,1)";
  EXPECT_TRUE(std::holds_alternative<Proved>(check_text(narrow, "ldmatrix.x1").outcome()));
  CheckOptions options;
  options.align = 16;
  AccessVerdict const v = check_text(narrow, "ldmatrix.x1", 16, options);
  EXPECT_FALSE(used(v, Engine::linear)) << "a base of 16 carries into the offsets";
  EXPECT_TRUE(used(v, Engine::exhaustive));
  ASSERT_TRUE(std::holds_alternative<Refuted>(v.outcome()));
  ASSERT_TRUE(v.cost()->has_conflict());
  EXPECT_NE(v.cost()->origin.base % 1024, 0U);
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

/// Refuted since a lane does not fit; the reason as text.
void expect_misfit(std::string_view layout, std::string_view access, unsigned lane, std::string_view reason,
                   unsigned bits = 16) {
  AccessVerdict const v = check_text(layout, access, bits);
  ASSERT_TRUE(std::holds_alternative<Refuted>(v.outcome())) << layout << "  " << access;
  auto const* const misfit = std::get_if<Misfit>(&v.found);
  ASSERT_NE(misfit, nullptr) << layout << "  " << access;
  EXPECT_EQ(misfit->lane, lane) << misfit->why;
  EXPECT_NE(misfit->why.find(reason), std::string::npos) << misfit->why;
}

TEST(Check, RefutesWhatDoesNotFitWithTheLaneNamed) {
  expect_misfit("(8,64):(64,1)", "ld.shared.b32: row = lane, col = 0", 8,
                "accesses (8,0), outside the tile (8,64)");
  expect_misfit("(32,64):(65,1)", "ld.shared.b128: row = lane, col = 0", 1, "has the address 130");
  expect_misfit("Sw<3,0,6> o _0 o (32,64):(64,1)", "ld.shared.b128: row = lane, col = 0", 1, "");
  expect_misfit("Sw<1,0,-3> o _0 o (32,64):(64,1)", "ld.shared.b64: row = lane, col = 0", 0,
                "splits the vector");
  expect_misfit("(8,64):(64,1)", "ldmatrix.x4", 8, "accesses (8,0), outside the tile");
  expect_misfit("(8,68):(72,1)", "ld.shared.b128: row = 0, col = 64", 0, "which end outside the tile");
}

TEST(Check, RefutesVectorsWhoseElementsDoNotLieSideBySide) {
  expect_misfit("(16,64):(136,2)", "ldmatrix.x4", 0, "byte 2 of its vector at 4, not at 2");
  expect_misfit("(8,(4,4)):(8,(1,512))", "ldmatrix.x1", 0, "byte 8 of its vector at 1024, not at 8");
  expect_misfit("(16,64):(64,2)", "ld.shared.b32: row = 0, col = lane", 0, "byte 1", 8);
  expect_misfit("(16,32):(64,-1)", "ld.shared.b32: row = 1, col = lane/2", 0, "");
  // The vector may run along either mode, and across leaves that follow each other.
  AccessVerdict const v =
      check_text("(64,(4,16)):(1,(64,256))", "ld.shared.b128: row = 8*(lane%8), col = lane/8");
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome()));
  AccessVerdict const carried = check_text("(4,2,2):(1,8,12)", "ld.shared.b64: coord = 4 if lane < 1");
  EXPECT_TRUE(std::holds_alternative<Proved>(carried.outcome()));
}

TEST(Check, RefusesWhatCannotBeAsked) {
  expect_refusal("(8,64):(64,1)", "ld.shared.b32: coord = (lane, 0, 0)", "gives 3 indices");
  expect_refusal("Sw<3,4,3>", "ldmatrix.x4", "needs a tile");
  expect_refusal("64:1", "ldmatrix.x4", "the tile 64 has one mode");
  expect_refusal("(24,128):(136,1)", "ldmatrix.x4: tv ((2,2,2,2),(2,2,2)):((16,32,64,1),(2,4,8)) tile (2,64)",
                 "executed by whole warps of 32");
}

TEST(Check, RefusesToProveThatNothingIsFree) {
  expect_refusal("(8,64):(64,1)", "ld.shared.b32: row = 0, col = 2*lane if lane > 40", "nothing is accessed");
  expect_refusal("(32,32):(32,1)", "ld.shared.b32: row = lane, col = 0 if lane > 31", "nothing is accessed",
                 32);
  Mapping none;
  EXPECT_THROW(
      (void)check(Placement(none, parse_access("ld.shared.b32: address = 4*lane if v - v for v")), {}),
      InputError)
      << "by SMT";
  AccessVerdict const some =
      check_text("(8,64):(64,1)", "ld.shared.b32: row = 0, col = 2*lane if lane < i for i in 0..3");
  EXPECT_TRUE(std::holds_alternative<Proved>(some.outcome())) << "no lane for i = 0, but for i = 1";
}

TEST(Check, RefutesWhatDoesNotFitWithoutEnumeration) {
  AccessVerdict const v = check_text("(8,64):(64,1)", "ld.shared.b32: row = lane%8, col = 2*v for v");
  ASSERT_TRUE(std::holds_alternative<Misfit>(v.found));
  EXPECT_NE(std::get<Misfit>(v.found).why.find("outside the tile"), std::string::npos);
}

TEST(Check, SaysHowMuchOfTheTileIsReachedAndWhatItCosts) {
  EXPECT_FALSE(check_text(swizzled_rows, "ldmatrix.x4").cost()->coverage) << "moved to every position";
  EXPECT_EQ(check_text(swizzled_rows, "ldmatrix.x4").cost()->total, 4U * 113 * 7);
  AccessVerdict const whole = check_text(swizzled_rows, "ldmatrix.x4 step row 16, byte 32");
  EXPECT_EQ(whole.cost()->coverage, (Coverage{16384, 16384}));
  EXPECT_EQ(whole.cost()->total, 4U * 8 * 4) << "8 x 4 origins of 4 wavefronts";
  EXPECT_EQ(check_text("(8,72):(72,1)", "copy.row128 step row 4, byte 128").cost()->coverage,
            (Coverage{1024, 1152}));
  EXPECT_EQ(check_text("(127,64):(64,1)", "ldmatrix.x4 step row 16").cost()->coverage,
            (Coverage{112 * 128, 127 * 128}));
  EXPECT_EQ(
      check_text("(8,64):(64,1)", "ld.shared.b32: row = 0, col = 8*lane%64 at row 0", 4).cost()->coverage,
      (Coverage{32, 256}));
}

TEST(Check, ABroadcastViewCanBeReadAndNotWritten) {
  auto const both = [](std::string_view access) {
    Mapping const map = parse_mapping("(32,32):(1,0)", {32});
    std::vector<Placement> const placements{Placement(map, parse_access(access))};
    return check(map, placements, {});
  };
  TileVerdict const read = both("ld.shared.b32: row = 0, col = lane");
  EXPECT_TRUE(read.broadcast);
  EXPECT_TRUE(std::holds_alternative<Proved>(read.outcome));
  EXPECT_EQ(read.accesses.at(0).cost()->wavefronts, 1U);
  TileVerdict const written = both("st.shared.b32: row = 0, col = lane");
  EXPECT_TRUE(std::holds_alternative<Refuted>(written.outcome));
  Mapping const folded = parse_mapping("(4,4):(1,2)", {32});
  EXPECT_FALSE(check(folded, {}, {}).broadcast) << "places meet though no stride is 0";
}

TEST(Check, BasesAreMultiplesOfSixteenUnlessToldOtherwise) {
  CheckOptions options;
  constexpr char const* access = "ld.shared.b16: row = lane/4, col = lane%4 at row 0, col 0";
  EXPECT_NE(check_text("(32,34):(34,1)", access).domain.find("multiple of 16"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Proved>(check_text("(32,34):(34,1)", access).outcome()));
  options.align = 2;
  EXPECT_TRUE(std::holds_alternative<Refuted>(check_text("(32,34):(34,1)", access, 16, options).outcome()));
  options.align = 8;
  EXPECT_NE(check_text(swizzled_rows, "ldmatrix.x4", 16, options)
                .domain.find("multiple of 16 (of 8, and of the 16"),
            std::string::npos);
}

TEST(Check, ALimitIsUnknown) {
  CheckOptions options;
  options.limits.seconds = 1e6;
  options.limits.steps = 1;
  AccessVerdict const v =
      check_text("(1024,4096):(4096,1)",
                 "ld.shared.b32: row = (1ull*lane*i*j) % 1021, col = 0 for i in 0..65535 for j in 0..65535",
                 32, options);
  EXPECT_TRUE(std::holds_alternative<Unknown>(v.outcome()));
}

TEST(Check, ASwizzleOfBytesTearsVectorsThatAreContiguousWithoutIt) {
  AccessVerdict const split =
      check_text("Sw<1,1,1> o smem_ptr[16b](unset) o (32,64):(64,1)", "ld.shared.b128: row = lane, byte = 0");
  ASSERT_TRUE(std::holds_alternative<Misfit>(split.found));
  EXPECT_NE(std::get<Misfit>(split.found).why.find("splits the vector"), std::string::npos)
      << std::get<Misfit>(split.found).why;
  AccessVerdict const whole =
      check_text("Sw<1,4,3> o smem_ptr[16b](unset) o (32,64):(64,1)", "ld.shared.b128: row = lane, byte = 0");
  EXPECT_FALSE(std::holds_alternative<Misfit>(whole.found));
}

TEST(Check, SubByteElementsHaveByteAddresses) {
  AccessVerdict const v =
      check_text("Sw<2,4,3> o smem_ptr[4b](unset) o ((_8,_4),(_128,_1)):((_128,_1024),(_1,_0))",
                 "ldmatrix.x4: row = lane%16, col = 32*(lane/16) + 64*k for k in 0..1", 4);
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome()));
  EXPECT_EQ(v.cost()->wavefronts, 4U);
}

TEST(Check, CpAsyncNamesEveryLaneOfTheBank) {
  AccessVerdict const v = check_text("(32,32):(32,1)", "cp.async.b32: row = 0, col = 0", 32);
  EXPECT_EQ(v.cost()->wavefronts, 32U) << "lanes at one word do conflict (H7)";
  ASSERT_TRUE(v.cost()->has_conflict());
  EXPECT_EQ(v.cost()->collision.lanes.size(), 32U);
}

TEST(Check, ColumnMajorTilesHaveTheirRowsInMemory) {
  AccessVerdict const v = check_text("Sw<3,3,3> o _0 o (64,32):(1,64)", "ldmatrix.x4.trans");
  EXPECT_TRUE(std::holds_alternative<Proved>(v.outcome())) << "rows run along mode 0";
}

// At 0x40 the rows 0, 1, 4, 5 of 64 bytes lie one below the other after the swizzle: 2 wavefronts. At 0x88 nothing is aligned.
TEST(Check, APointersAddressIsTheOnlyBase) {
  std::string const tile = " o (16,32):(32,1)", pointer = "Sw<3,4,3>_smem_ptr[16b]";
  AccessVerdict const first = check_text(pointer + "(0x400)" + tile, "ldmatrix.x1 step row 8");
  EXPECT_TRUE(std::holds_alternative<Proved>(first.outcome()));
  EXPECT_TRUE(first.domain.ends_with("the base 0x400")) << first.domain;
  EXPECT_EQ(first.base, 0x400U);
  AccessVerdict const moved = check_text(pointer + "(0x40)" + tile, "ldmatrix.x1 step row 8");
  EXPECT_EQ(moved.cost()->wavefronts, 2U);
  EXPECT_EQ(moved.cost()->origin.base, 0x40U);
  AccessVerdict const misaligned = check_text(pointer + "(0x88)" + tile, "ldmatrix.x1 step row 8");
  ASSERT_TRUE(std::holds_alternative<Misfit>(misaligned.found));
  EXPECT_EQ(std::get<Misfit>(misaligned.found).origin.base, 0x88U);
  CheckOptions aligned;
  aligned.align = 64;
  EXPECT_THROW((void)check_text(pointer + "(0x40)" + tile, "ldmatrix.x1 step row 8", 16, aligned),
               InputError);
}

// 2^24 cases are few that are not alike.
TEST(Check, APointersAddressCountsForEveryEngine) {
  std::string const access =
      "ld.shared.b32: row = (lane + i) & 31, col = j & 63 for i in 0..4095 for j in 0..4095";
  std::string const tile = " o (32,64):(64,1)", pointer = "Sw<3,4,3>_smem_ptr[32b]";
  AccessVerdict const first = check_text(pointer + "(0x400)" + tile, access, 32);
  AccessVerdict const far = check_text(pointer + "(0x7f0000000400)" + tile, access, 32);
  EXPECT_EQ(first.cost()->wavefronts, far.cost()->wavefronts);
  EXPECT_TRUE(used(first, Engine::exhaustive));
}

// 160 = 128 + 32, and Sw<1,2,3> moves bit 5 to bit 2: CuTe's slices XOR the offset onto rows that have bit 5 themselves. Without an
// offset columns carry into rows of 24 elements.
TEST(Check, OffsetsThatCarryIntoTheSwizzleAreNotPartitioned) {
  std::string const copy = "ld.shared.b32: tv ((_8,_4),_1):((_1,_8),_0) tile (8,4)";
  for (char const* carries : {"Sw<1,2,3> o _160 o (32,32):(32,1)", "Sw<1,2,3> o _0 o (32,24):(24,1)"})
    EXPECT_THROW((void)check_text(carries, copy, 32), InputError) << carries;
  for (char const* fine : {"Sw<1,2,3> o _0 o (32,32):(32,1)", "Sw<1,2,3> o _1024 o (32,32):(32,1)",
                           "Sw<1,2,3> o _8 o (32,8):(64,1)", "Sw<0,2,3> o _160 o (32,24):(24,1)"})
    EXPECT_NO_THROW((void)check_text(fine, copy, 32)) << fine;
  EXPECT_NO_THROW(
      (void)check_text("Sw<1,2,3> o _160 o (32,24):(24,1)", "ld.shared.b32: coord = (lane%8, lane/8)", 32));
}

TEST(Check, VectorsStayWithinTheValuesBeforeATilersGaps) {
  // One value a thread; the tiler's gap of 8 rows gives each thread a second one, which no vector of two reaches.
  std::string const copy = ": tv (_32,_1):(_1,_0) tile ((_8,_4):(_1,_16),_1)";
  EXPECT_NO_THROW((void)check_text("(64,1):(1,64)", "ld.shared.b16" + copy, 16));
  EXPECT_THROW((void)check_text("(64,1):(1,64)", "ld.shared.b32" + copy, 16), InputError);
}

TEST(Check, TheValueTypeOfACopyIsTheElement) {
  std::string const copy =
      "ld.shared.b32: TiledCopy\n  Tiler_MN:       (_32,_1)\n  TiledLayout_TV: (_32,_1):(_1,_0)\nCopy_Atom\n"
      "  ThrID:        _1:_0\n  ValLayoutSrc: (_1,_1):(_0,_1)\n  ValLayoutDst: (_1,_1):(_0,_1)\n"
      "  ValLayoutRef: (_1,_1):(_0,_1)\n  ValueType:    32b";
  EXPECT_NO_THROW((void)check_text("(32,1):(1,32)", copy, 32));
  try {
    (void)check_text("(64,1):(1,64)", copy, 16);
    ADD_FAILURE() << "it is accepted";
  } catch (InputError const& error) {
    EXPECT_NE(error.message.find("values of 32 bits (ValueType)"), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace swizproof
