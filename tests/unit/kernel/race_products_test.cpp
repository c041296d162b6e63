// Values of mma, ldmatrix and stmatrix in races of two warps.
#include "race_case.hpp"

namespace swizproof {
namespace {

/// %r9: the lane; %rd1: its word of g; %r8: its word of the tile.
std::string const lane_words =
    "ld.param.u64 %rd1, [g]; and.b32 %r9, %r1, 31; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd1, %rd1, %rd2; "
    "shl.b32 %r8, %r9, 2; add.u32 %r8, %r8, %r2; ";
/// A, B and C of f16 and f32: equal in both warps.
std::string const operands =
    lane_words +
    "ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+128]; ld.global.u32 %r12, [%rd1+256]; "
    "ld.global.u32 %r13, [%rd1+384]; ld.global.u32 %r14, [%rd1+512]; ld.global.u32 %r15, [%rd1+640]; "
    "mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0; mov.u32 %r19, 0; ";
std::string const mma =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r10, %r11, %r12, %r13}, "
    "{%r14, %r15}, {%r16, %r17, %r18, %r19}; ";

/// A register of one lane has another number in the second warp.
std::string other(std::string const& reg, unsigned lane) {
  return "setp.eq.u32 %p1, %r1, " + std::to_string(lane + 32) + "; @%p1 ld.global.u32 " + reg +
         ", [%rd1+2048]; ";
}
/// Both warps store a register of one lane.
std::string of_lane(unsigned lane, std::string const& reg) {
  return "setp.eq.u32 %p2, %r9, " + std::to_string(lane) + "; @%p2 st.shared.u32 [%r2], " + reg + ";";
}

TEST(KernelRaces, WarpsOfOneProductStoreOneValue) {
  for (std::string const reg : {"%r20", "%r23"})
    expect_race(operands + mma + "st.shared.u32 [%r8], " + reg + ";", RaceKind::same_value);
  // Lane 5 has rows 1 and 9 and columns 2 and 3: A is of lanes 4 to 7, B of lanes 8 to 11 and 12 to 15 [PTX ISA 9.1, 9.7.14.5.8].
  auto const of = [&](std::string const& changed, std::string const& stored, RaceKind kind) {
    expect_race(operands + changed + mma + of_lane(5, stored), kind);
  };
  of(other("%r10", 7), "%r20", RaceKind::race);
  of(other("%r10", 8), "%r20", RaceKind::same_value);
  of(other("%r10", 7), "%r22", RaceKind::same_value);
  of(other("%r11", 7), "%r22", RaceKind::race);
  of(other("%r15", 8), "%r20", RaceKind::race);
  of(other("%r15", 8), "%r21", RaceKind::same_value);
  of(other("%r15", 12), "%r21", RaceKind::race);
  of(other("%r16", 5), "%r20", RaceKind::race);
  of(other("%r17", 5), "%r20", RaceKind::same_value);
  // A clock in A, and an element at another position of equal operands: nothing says that it is the same sum.
  expect_race(operands + "mov.u32 %r10, %clock; " + mma + of_lane(5, "%r20"), RaceKind::race);
  expect_race(operands + "mov.u32 %r11, %r10; mov.u32 %r13, %r12; " + mma +
                  "setp.lt.u32 %p3, %r1, 32; selp.b32 %r20, %r20, %r22, %p3; " + of_lane(5, "%r20"),
              RaceKind::race);
  // D of f16: two elements in a register.
  std::string const half =
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r20, %r21}, {%r10, %r11, %r12, %r13}, {%r14, "
      "%r15}, {%r16, %r17}; ";
  expect_race(operands + half + "st.shared.u32 [%r8], %r21;", RaceKind::same_value);
  expect_race(operands + other("%r14", 8) + half + of_lane(5, "%r20"), RaceKind::race);
  expect_race(operands + other("%r14", 8) + half + "shr.u32 %r6, %r20, 16; " +
                  "setp.eq.u32 %p2, %r9, 5; @%p2 st.shared.u16 [%r2], %r6;",
              RaceKind::same_value);
}

TEST(KernelRaces, MatricesAreMovedElementByElement) {
  // Each warp stores its 1 KiB, and loads four matrices of it.
  std::string const rows = lane_words +
                           "mul.wide.u32 %rd2, %r9, 12; add.s64 %rd2, %rd1, %rd2; "
                           "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2]; "
                           "shl.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, 1024; ",
                    stored = rows + "st.shared.v4.u32 [%r5], {%r10, %r11, %r12, %r13}; bar.sync 0; ",
                    load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r5]; ",
                    transposed =
                        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r20, %r21, %r22, %r23}, [%r5]; ";
  for (std::string const reg : {"%r20", "%r22"}) {
    expect_race(stored + load + "st.shared.u32 [%r8], " + reg + ";", RaceKind::same_value);
    expect_race(stored + transposed + "st.shared.u32 [%r8], " + reg + ";", RaceKind::same_value);
  }
  // Lane 5 holds elements 2 and 3 of row 1, which lane 1 gives; with .trans those of rows 2 and 3, column 1.
  auto const changed = [&](std::string const& reg, unsigned lane) {
    return rows + other(reg, lane) + "st.shared.v4.u32 [%r5], {%r10, %r11, %r12, %r13}; bar.sync 0; ";
  };
  expect_race(changed("%r11", 1) + load + of_lane(5, "%r20"), RaceKind::lost_store);
  expect_race(changed("%r12", 1) + load + of_lane(5, "%r20"), RaceKind::same_value);
  expect_race(changed("%r11", 9) + load + of_lane(5, "%r20"), RaceKind::same_value);
  expect_race(changed("%r10", 3) + transposed + of_lane(5, "%r20"), RaceKind::lost_store);
  expect_race(changed("%r11", 3) + transposed + of_lane(5, "%r20"), RaceKind::same_value);
  // stmatrix, and a word of its row that a lane loads.
  std::string const to =
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r10, %r11, %r12, %r13}; bar.sync 0; "
      "ld.shared.u32 %r20, [%r5+4]; ";
  expect_race(rows + to + "st.shared.u32 [%r8], %r20;", RaceKind::same_value);
  expect_race(rows + other("%r10", 5) + to + of_lane(1, "%r20"), RaceKind::lost_store);
  expect_race(rows + other("%r11", 5) + to + of_lane(1, "%r20"), RaceKind::same_value);
  // Two warps store one row; and a lane that a guard keeps away gives no value.
  expect_race(lane_words +
                  "ld.global.u32 %r10, [%rd1]; shl.b32 %r6, %r9, 4; add.u32 %r6, %r6, %r2; "
                  "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r10};",
              RaceKind::same_value);
  expect_race(lane_words +
                  "ld.global.u32 %r10, [%rd1]; setp.ne.u32 %p1, %r3, 12345; shl.b32 %r6, %r9, 4; "
                  "add.u32 %r6, %r6, %r2; @%p1 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r10};",
              RaceKind::race);
}

}  // namespace
}  // namespace swizproof
