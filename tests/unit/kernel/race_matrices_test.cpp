// Races of ldmatrix and stmatrix: the lane that gives the address of a row may access it, or those that hold its elements.
#include "kernel_case.hpp"

namespace swizproof {
namespace {

/// %r10: 16 bytes of each thread; %r11: a row of the first matrix of its warp, in 512 bytes of the warp; %r12: the word of that matrix that the lane holds.
std::string const matrix_addresses =
    "shl.b32 %r10, %r1, 4; add.u32 %r10, %r10, %r2; and.b32 %r13, %r1, 31; shr.u32 %r14, %r1, 5;\n"
    "shl.b32 %r14, %r14, 9; add.u32 %r14, %r14, %r2; and.b32 %r11, %r1, 7; shl.b32 %r11, %r11, 4;\n"
    "add.u32 %r11, %r11, %r14; shl.b32 %r12, %r13, 2; add.u32 %r12, %r12, %r14; ld.param.u64 %rd1, [g];\n";

KernelRaces races_of_matrices(std::string const& body) {
  KernelOptions options;
  options.races = true;
  for (Architecture const& arch : architectures)
    if (arch.name == std::string_view("sm_100")) options.arch = &arch;
  return report_of(matrix_addresses + body, options).races.value();
}

std::string const rows = "st.shared.v4.u32 [%r10], {%r1, %r1, %r1, %r1};\n",
                  word_of_lane = "st.shared.u32 [%r12], %r1;\n",
                  all_rows = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r15, %r16, %r17, %r18}, [%r10];\n",
                  first_rows = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r15}, [%r11];\n",
                  to_rows = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r10], {%r1, %r1, %r1, %r1};\n",
                  to_first = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11], {%r1};\n",
                  of_warp = "bar.warp.sync -1;\n";

void expect_of(std::string const& body, RaceVerdict verdict) {
  KernelRaces const races = races_of_matrices(body);
  EXPECT_EQ(races.verdict, verdict) << body << races.reason;
  if (verdict == RaceVerdict::unknown)
    EXPECT_NE(races.reason.find("each lane of a warp counts as one that accesses its rows"),
              std::string::npos)
        << races.reason;
}

TEST(MatrixRaces, ABarrierOfTheWarpOrdersARowForEachLane) {
  std::string const copy = "cp.async.cg.shared.global [%r10], [%rd1], 16;\ncp.async.wait_all;\n",
                    load = "ld.shared.v4.u32 {%r15, %r16, %r17, %r18}, [%r10];\n";
  for (auto const& [first, second] :
       {std::pair(rows, all_rows), std::pair(copy, all_rows), std::pair(to_rows, load),
        std::pair(all_rows, rows), std::pair(to_first, "ld.shared.u32 %r15, [%r12];\n" + std::string()),
        std::pair(word_of_lane, first_rows)}) {
    expect_of(first + second, RaceVerdict::unknown);
    expect_of(first + of_warp + second, RaceVerdict::proved);
    expect_of(first + "bar.sync 0;\n" + second, RaceVerdict::proved);
  }
}

TEST(MatrixRaces, ARaceIsOneOfAllLanesThatMayAccessTheRow) {
  std::string const
      twelve =
          "add.u32 %r20, %r13, 12; and.b32 %r20, %r20, 31; shl.b32 %r20, %r20, 4; add.u32 %r20, %r20, %r14;\n"
          "st.shared.u32 [%r20], %r1;\n",
      next_warp =
          "xor.b32 %r20, %r1, 32; shl.b32 %r20, %r20, 4; add.u32 %r20, %r20, %r2;\n"
          "st.shared.u32 [%r20], %r1;\n";
  expect_of(twelve + all_rows, RaceVerdict::refuted);
  expect_of(next_warp + all_rows, RaceVerdict::refuted);
  expect_of(next_warp + to_rows, RaceVerdict::refuted);
  expect_of("mov.u32 %r10, %r2;\n" + to_rows, RaceVerdict::refuted);
}

TEST(MatrixRaces, MatricesOfOneFormAreOfOneLane) {
  std::string const transposed =
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r15, %r16, %r17, %r18}, [%r10];\n";
  expect_of(to_rows + all_rows, RaceVerdict::proved);
  expect_of(to_first + first_rows, RaceVerdict::proved);
  expect_of(to_rows + transposed, RaceVerdict::unknown);
  expect_of(to_rows + of_warp + transposed, RaceVerdict::proved);
}

TEST(MatrixRaces, TransposedElementsAreOfOtherLanes) {
  // Lane 4 stores element 1 of row 0, which it holds of the transposed matrix.
  std::string const one = "setp.eq.u32 %p1, %r1, 4; @%p1 st.shared.u16 [%r2+2], %r1;\n",
                    transposed = "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r15}, [%r11];\n";
  expect_of(one + transposed, RaceVerdict::unknown);
  expect_of(one + first_rows, RaceVerdict::refuted);
  std::string const bytes = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r15, %r16}, [%r11];\n";
  expect_of(one + bytes, RaceVerdict::unknown);
  expect_of(one + of_warp + bytes, RaceVerdict::proved);
}

}  // namespace
}  // namespace swizproof
