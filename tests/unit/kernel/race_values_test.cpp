#include "race_case.hpp"

#include <algorithm>

namespace swizproof {
namespace {

TEST(KernelRaces, StoresOfLoadedValuesMayBeOfOneValue) {
  KernelOptions accepted;
  accepted.same_values = true;
  std::string const stores = " st.shared.u32 [%r2], %r6;";
  EXPECT_EQ(races_of("mov.u32 %r6, %r1;" + stores, accepted).verdict, RaceVerdict::refuted);
  // Shared memory that no thread has written may hold any numbers.
  EXPECT_EQ(races_of("ld.shared.u32 %r6, [%r4+4096];" + stores, accepted).verdict, RaceVerdict::refuted);
}

// Lanes l and l + 32 store what both load from g + 4 (l % 32), at one word, and functions of it.
TEST(KernelRaces, StoresOfOneLoadAreOfOneValue) {
  KernelOptions accepted;
  accepted.same_values = true;
  std::string const address =
      "ld.param.u64 %rd1, [g]; and.b32 %r7, %r1, 31; mul.wide.u32 %rd2, %r7, 4; add.s64 %rd1, %rd1, %rd2; "
      "and.b32 %r8, %r4, 127; add.u32 %r8, %r8, %r2; ";
  std::string const load = address + "ld.global.u32 %r6, [%rd1]; ", own = "st.shared.u32 [%r8], %r6; ";
  auto const one_value = [&](std::string const& body) {
    expect_race(body, RaceKind::same_value);
    KernelRaces const races = races_of(body, accepted);
    EXPECT_EQ(races.verdict, RaceVerdict::proved) << body << ": " << races.reason;
    std::string const assumed = "nothing writes what the kernel loads from g, while it runs";
    EXPECT_NE(std::find(races.assumed.begin(), races.assumed.end(), assumed), races.assumed.end()) << body;
  };
  auto const other = [&](std::string const& body, RaceKind kind = RaceKind::lost_store) {
    expect_race(body, kind);
    EXPECT_NE(races_of(body, accepted).verdict, RaceVerdict::proved) << body;
  };
  one_value(load + own);
  one_value("ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; st.shared.u32 [%r2], %r6;");
  one_value(load + "popc.b32 %r6, %r6; sub.u32 %r6, %r6, %r3; " + own);
  one_value(address + "mov.u32 %r6, 0; setp.lt.u32 %p1, %r7, %r3; @%p1 ld.global.u32 %r6, [%rd1]; " + own);
  one_value(load + own + "ld.global.u32 %r9, [%rd1]; st.shared.u32 [%r8], %r9;");
  one_value(looped(address, "ld.global.u32 %r6, [%rd1]; " + own + "bar.sync 0; add.s64 %rd1, %rd1, 128;"));
  one_value(address + "ld.global.v2.u32 {%r6, %r9}, [%rd1]; and.b32 %r8, %r1, 31; shl.b32 %r8, %r8, 3; " +
            "add.u32 %r8, %r8, %r2; st.shared.v2.u32 [%r8], {%r9, %r6};");
  // One sum at two places: a product before it may be rounded at one of them alone.
  auto const two_sums = [&](std::string const& product) {
    return load + product + " %r9, %r6, %r6; setp.lt.u32 %p1, %r1, 32;\n@%p1 add.f32 %r10, %r9, %r6;\n" +
           "@!%p1 add.f32 %r10, %r9, %r6;\nst.shared.u32 [%r8], %r10;";
  };
  one_value(two_sums("mul.rn.f32"));
  other(two_sums("mul.f32"), RaceKind::race);
  // Another function in each lane, other words of one vector, and a load that others may write meanwhile.
  other(load + "shr.u32 %r9, %r1, 5; add.u32 %r6, %r6, %r9; " + own);
  other(load + "popc.b32 %r9, %r6; setp.lt.u32 %p1, %r1, 32; @%p1 mov.u32 %r6, %r9; " + own);
  other(looped(address, "ld.global.u32 %r6, [%rd1]; " + own + "add.s64 %rd1, %rd1, 128;"));
  other(address + "ld.volatile.global.u32 %r6, [%rd1]; " + own, RaceKind::race);
  // A kernel that writes there itself, before or behind, by a store, an atomic or a copy; and by a pointer that is not known.
  other(load + own + "st.global.u32 [%rd1], %r1;");
  other(load + own + "st.global.u32 [%rd1+4096], %r1;", RaceKind::same_value);  // in this launch
  other(load + own + "red.global.add.u32 [%rd1], %r1;", RaceKind::race);
  other(load + own + "ld.global.u64 %rd2, [%rd1]; st.global.u32 [%rd2], %r1;", RaceKind::race);
  other(load + own +
        "ld.param.u32 %r10, [g]; ld.param.u32 %r11, [g+4]; mov.b64 %rd2, {%r10, %r11}; "
        "st.global.u32 [%rd2], %r1;");
  other(load + own + "cvta.to.global.u64 %rd1, %rd1; st.u32 [%rd1], %r1;");
}

// Lanes l and l ^ 1 store a function of the numbers that both have loaded, at one word.
TEST(KernelRaces, LanesOfAButterflyStoreOneValue) {
  std::string const address =
                        "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
                        "and.b32 %r8, %r4, 248; "
                        "add.u32 %r8, %r8, %r2; ",
                    load = address + "ld.global.u32 %r6, [%rd1]; ", own = " st.shared.u32 [%r8], %r6;";
  auto const with = [](std::string const& op, std::string const& shuffle = "bfly.b32 %r7, %r6, 1, 31, -1; ") {
    return "shfl.sync." + shuffle + op + " %r6, %r6, %r7;";
  };
  for (std::string const op : {"add.f32", "add.u32", "mul.lo.s32", "max.f32", "xor.b32"})
    expect_race(load + with(op) + own, RaceKind::same_value);
  // Behind a function that is not followed, half a word, and through shared memory.
  expect_race(load + "ex2.approx.f32 %r6, %r6; " + with("add.f32") + own, RaceKind::same_value);
  expect_race(load + with("add.f32") + " shr.u32 %r9, %r6, 16; and.b32 %r6, %r6, 65535;" + own,
              RaceKind::same_value);
  std::string const stored = "st.shared.u32 [%r4+4096], %r6; bar.sync 0; ld.shared.u32 %r6, [%r4+4096]; ";
  expect_race(load + "ex2.approx.f32 %r6, %r6; " + with("add.f32") + stored + own, RaceKind::same_value);
  expect_race(load + stored + with("sub.f32") + own, RaceKind::lost_store);
  // Two values of one lane, the lanes of another one, and operands whose order counts.
  expect_race(load + with("add.u32", "idx.b32 %r7, %r6, 5, 31, -1; ") + own, RaceKind::lost_store);
  expect_race(load + with("add.u32", "up.b32 %r7, %r6, 1, 0, -1; ") + own, RaceKind::lost_store);
  expect_race(load + "ex2.approx.f32 %r6, %r6; " + with("sub.f32") + own, RaceKind::race);
  // A lane that the mask does not name, or that has ended, gives any number; one whose mask names others waits for ever.
  expect_race(load + "and.b32 %r9, %r1, 16; shl.b32 %r9, 0xffff, %r9; " +
                  with("add.u32", "bfly.b32 %r7, %r6, 1, 31, %r9; ") + own,
              RaceKind::same_value);
  expect_race(load + "and.b32 %r9, %r1, 16; shl.b32 %r9, 0xffff, %r9; " +
                  with("add.u32", "bfly.b32 %r7, %r6, 16, 31, %r9; ") + own,
              RaceKind::race);
  std::string const missing = "setp.ge.u32 %p1, %r1, 31; @%p1 bra E; " + with("add.u32") + " E: bar.sync 0; ";
  expect_open(address + missing + own, "may access one byte");
  std::string const half = "bfly.b32 %r7, %r6, 16, 31, 0xffff; ";
  expect_race(load + with("add.u32", half) + own, RaceKind::race);
  expect_open(load + with("add.u32", half) + " and.b32 %r9, %r1, 16; setp.ne.u32 %p1, %r9, 0; @%p1" + own,
              "may access one byte");
  expect_race("setp.ge.u32 %p1, %r1, 30; @%p1 ret; " + load + with("add.u32") + own, RaceKind::same_value);
}

// A word of each lane from g, its product with another one in %r10, and the sum with that of lane l ^ 1, which stores it at one word.
TEST(KernelRaces, ASumMayBeFusedWithAProduct) {
  std::string const load =
      "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
      "ld.global.u32 %r6, [%rd1]; ld.global.u32 %r9, [%rd1+4096]; and.b32 %r8, %r4, 248; "
      "add.u32 %r8, %r8, %r2; ";
  auto const sum = [&](std::string const& product, std::string const& op, std::string const& between = "") {
    return load + product + " %r10, %r6, %r9; " + between + "shfl.sync.bfly.b32 %r7, %r10, 1, 31, -1; " + op +
           " %r6, %r10, %r7; st.shared.u32 [%r8], %r6;";
  };
  // fma(a, b, c * d) and fma(c, d, a * b) round differently.
  expect_race(sum("mul.f32", "add.f32"), RaceKind::race);
  expect_race(sum("mul.f32", "add.ftz.f32", "neg.f32 %r10, %r10; "), RaceKind::race);
  expect_race(sum("mul.f16x2", "add.f16x2"), RaceKind::race);
  expect_race(sum("mul.f32", "sub.f32"), RaceKind::race);  // not computed
  for (std::string const product : {"mul.rn.f32", "add.f32", "div.full.f32", "mul.lo.u32"})
    expect_race(sum(product, "add.f32"), RaceKind::same_value);
  for (std::string const op : {"add.rn.f32", "max.f32", "add.u32"})
    expect_race(sum("mul.f32", op), RaceKind::same_value);
  expect_race(sum("mul.f32", "add.f32", "cvt.rn.f16x2.f32 %r10, %r10, %r10; "), RaceKind::same_value);
  // A product that was stored is rounded. One instruction on equal products gives one value, two may not.
  std::string const stored = "st.shared.u32 [%r4+4096], %r10; bar.sync 0; ld.shared.u32 %r10, [%r4+4096]; ";
  expect_race(sum("mul.f32", "add.f32", stored), RaceKind::same_value);
  std::string const
      equal =
          load + "shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1; max.f32 %r6, %r6, %r7; mul.f32 %r10, %r6, %r6; ",
      odd = "and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; ", own = "st.shared.u32 [%r8], %r7;";
  expect_race(equal + "add.f32 %r7, %r10, %r6; " + own, RaceKind::same_value);
  expect_race(equal + odd + "@%p1 add.f32 %r7, %r10, %r6; @!%p1 add.f32 %r7, %r10, %r6; " + own,
              RaceKind::race);
}

// Instructions on numbers that are not computed, and integers whose order does not matter.
TEST(KernelRaces, FunctionsOfEqualNumbersAreEqual) {
  for (std::string const op :
       {"ex2.approx.f32 %r6, %r3;", "div.full.f32 %r6, %r3, %r3;", "add.f16x2 %r6, %r3, 7;"})
    expect_race(op + " st.shared.u32 [%r2], %r6;", RaceKind::same_value);
  expect_race("mov.u32 %r6, %clock; st.shared.u32 [%r2], %r6;", RaceKind::race);
  expect_race("mov.u32 %r6, %clock; ex2.approx.f32 %r6, %r6; st.shared.u32 [%r2], %r6;", RaceKind::race);
  std::string const load =
      "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
      "ld.global.u32 %r6, [%rd1]; ex2.approx.f32 %r6, %r6; and.b32 %r8, %r4, 248; "
      "add.u32 %r8, %r8, %r2; shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1; ";
  for (std::string const op : {"min.u32", "min.s32", "max.u32", "max.s32"})
    expect_race(load + op + " %r6, %r6, %r7; st.shared.u32 [%r8], %r6;", RaceKind::same_value);
  // The least and the largest are two.
  expect_race(
      load +
          "and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; min.s32 %r9, %r6, %r7; max.s32 %r10, %r6, %r7; "
          "selp.b32 %r6, %r9, %r10, %p1; st.shared.u32 [%r8], %r6;",
      RaceKind::race);
  expect_race(
      load +
          "and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; min.s32 %r9, %r6, %r7; min.u32 %r10, %r6, %r7; "
          "selp.b32 %r6, %r9, %r10, %p1; st.shared.u32 [%r8], %r6;",
      RaceKind::race);
}

TEST(KernelRaces, ValuesThatDifferOnSomeMemoryAreALostStore) {
  std::string const load =
                        "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
                        "ld.global.u32 %r6, [%rd1]; and.b32 %r8, %r4, 248; add.u32 %r8, %r8, %r2; "
                        "shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1; ",
                    own = " st.shared.u32 [%r8], %r6;";
  expect_race(load + "sub.f32 %r6, %r6, %r7;" + own, RaceKind::lost_store);
  expect_race(load +
                  "mov.b64 %rd2, {%r6, %r7}; mov.b64 %rd1, {%r7, %r6}; "
                  "sub.rn.f32x2 %rd2, %rd2, %rd1; mov.b64 {%r6, %r7}, %rd2;" +
                  own,
              RaceKind::lost_store);
  // Two sums of three numbers: (a + b) + c and (b + a) + c are one, a + (b + c) is another one. Of an approximation no number is known.
  std::string const third = "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1+4096]; ";
  expect_race(load + third + "add.f32 %r6, %r6, %r7; add.f32 %r6, %r6, %r9;" + own, RaceKind::same_value);
  expect_race(load + third + "add.f32 %r7, %r7, %r9; add.f32 %r6, %r6, %r7;" + own, RaceKind::lost_store);
  expect_race(load + third + "add.f32 %r7, %r7, %r9; add.f32 %r6, %r6, %r7; ex2.approx.f32 %r6, %r6;" + own,
              RaceKind::race);
  // The largest of three numbers, and of two.
  expect_race(load + third + "max.f32 %r6, %r6, %r7, %r9;" + own, RaceKind::same_value);
  std::string const odd =
      "and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; max.f32 %r10, %r9, %r7, %r6;\n@%p1 max.f32 %r10, ";
  expect_race(load + third + odd + "%r6, %r7, %r9;\nmov.b32 %r6, %r10;" + own, RaceKind::race);
  expect_race(load + third + odd + "%r6, %r7, %r6;\nmov.b32 %r6, %r10;" + own, RaceKind::lost_store);
  // fma(a, b, c * d) and fma(c, d, a * b); a * b + c, which may be fused, is not compared.
  std::string const fused = load + "mul.f32 %r10, %r7, 0f3f8ccccd; fma.rn.f32 %r6, %r6, 0f3f8ccccd, %r10;";
  expect_race(fused + own, RaceKind::lost_store);
}

TEST(KernelRaces, AProofComparesWhatTwoStoresStore) {
  KernelOptions accepted;
  accepted.same_values = true;
  auto const verdict = [&](std::string const& body) { return races_of(body, accepted).verdict; };
  EXPECT_EQ(verdict("mov.u32 %r6, 7; st.shared.u32 [%r2], %r6;"), RaceVerdict::proved);
  EXPECT_EQ(verdict("st.shared.u32 [%r2], %r3;"), RaceVerdict::proved);
  EXPECT_EQ(verdict("shr.u32 %r6, %r1, 6; st.shared.u32 [%r2], %r6;"), RaceVerdict::proved);
  EXPECT_EQ(verdict("shr.u32 %r6, %r1, 5; st.shared.u32 [%r2], %r6;"), RaceVerdict::refuted);
  // One value at two addresses that overlap is not one value of each byte.
  EXPECT_NE(
      verdict("mov.u32 %r6, 7; add.u32 %r7, %r2, %r1; st.shared.u8 [%r7], %r6; st.shared.u16 [%r2], %r6;"),
      RaceVerdict::proved);
  EXPECT_EQ(races_of("mov.u32 %r6, 7; st.shared.u32 [%r2], %r6;").verdict, RaceVerdict::refuted);
}

}  // namespace
}  // namespace swizproof
