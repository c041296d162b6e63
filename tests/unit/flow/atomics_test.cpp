// Atomics: sums without an order, races with plain accesses, orders that decide; the predicate of a shuffle.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const zero = only_first("$Z", "st.shared.u32 [%r2], 0;\n") + "bar.sync 0;\n",
                  word = "ld.shared.u32 %r6, [%r2];\nst.global.u32 [%rd3], %r6;\n",
                  element = "ld.global.u32 %r5, [%rd4];\n";

Case of(std::string const& body, unsigned threads = 64) {
  return Case{body, "u32[64]", "u32[64]", {}, threads};
}

TEST(Atomics, AreSumsWithoutAnOrder) {
  Case c = of(zero + element + "red.shared.add.u32 [%r2], %r5;\nbar.sync 0;\n" + word);
  c.expect = {"c[i] = sum(k) a[k] for k in 0..63 for i in 0..63"};
  EXPECT_EQ(c.answer(), "proved");
  c.expect = {"c[i] = sum(k) a[k] for k in 0..62 for i in 0..63"};
  EXPECT_EQ(c.answer(), "wrong element");
  Case real{only_first("$Z", "st.shared.u32 [%r2], 0;\n") + "bar.sync 0;\n" + load +
                "atom.shared.add.f32 %f3, [%r2], %f1;\nbar.sync 0;\nld.shared.f32 %f2, [%r2];\n" + store,
            "f32[64]",
            "f32[64]",
            {"c[i] = sum(k) a[k] for k in 0..63 for i in 0..63"}};
  EXPECT_EQ(real.answer(), "proved");
}

TEST(Atomics, OfNumbersAreComputed) {
  auto const value = [](std::string const& start, std::string const& op) {
    return of(only_first("$Z", "st.shared.u32 [%r2], " + start + ";\n") + "bar.sync 0;\nred.shared." + op +
                  ";\nbar.sync 0;\n" + word,
              32)
        .value(0);
  };
  EXPECT_EQ(value("7", "add.u32 [%r2], 2"), "c[0] = 71");
  EXPECT_EQ(value("7", "min.u32 [%r2], -1"), "c[0] = 7");
  EXPECT_EQ(value("7", "min.s32 [%r2], -1"), "c[0] = 4294967295") << "an element of u32[64]";
  EXPECT_EQ(value("7", "max.u32 [%r2], %r1"), "c[0] = 31");
  EXPECT_EQ(value("7", "inc.u32 [%r2], 9"), "c[0] = 9");  // 7 8 9 0 .. 9: 32 steps of a cycle of 10
  EXPECT_EQ(value("7", "dec.u32 [%r2], 9"), "c[0] = 5");
  EXPECT_EQ(value("7", "xor.b32 [%r2], %r1"), "c[0] = 7");
  EXPECT_EQ(value("7", "or.b32 [%r2], 8"), "c[0] = 15");
}

TEST(Atomics, RaceWithPlainAccesses) {
  std::string const red = "red.shared.add.u32 [%r2], 1;\n";
  EXPECT_EQ(of(zero + red + red).kind(), "proved");
  EXPECT_EQ(of(zero + red + word).kind(), "race");
  EXPECT_EQ(of(zero + red + "st.shared.u32 [%r2], 1;\n").kind(), "race");
  EXPECT_EQ(of(zero + "ld.shared.u32 %r6, [%r2];\n" + red).kind(), "race");
  EXPECT_EQ(of("red.shared.add.u32 [%r2], 1;\n").kind(), "uninitialised");
  // the first store is ordered before the atomic of warp 0 alone
  EXPECT_EQ(of(only_first("$A", "st.shared.u32 [%r2], 0;\n") +
               only_warp(0, "$B", "bar.warp.sync -1;\n" + red) + only_warp(1, "$C", red))
                .kind(),
            "race");
  EXPECT_EQ(of("red.global.add.u32 [%rd1], 1;\nld.global.u32 %r6, [%rd1];\n").kind(), "race");
  EXPECT_EQ(of("red.global.add.u32 [%rd1+2], 1;\n").kind(), "misaligned");
}

TEST(Atomics, OfTwoKindsDependOnTheOrder) {
  std::string const add = "red.shared.add.u32 [%r2], 1;\n";
  EXPECT_EQ(of(zero + add + "red.shared.max.u32 [%r2], 3;\n").kind(), "unknown");
  EXPECT_EQ(of(zero + add + "bar.sync 0;\nred.shared.max.u32 [%r2], 3;\nbar.sync 0;\n" + word).value(0),
            "c[0] = 64");
  EXPECT_EQ(of(zero + "atom.shared.exch.b32 %r4, [%r2], %r1;\n").kind(), "unknown");
  EXPECT_EQ(of(zero + "red.shared.inc.u32 [%r2], %r1;\n").kind(), "unknown");
  EXPECT_EQ(of(zero + only_first("$X", "atom.shared.cas.b32 %r4, [%r2], 0, 5;\n") + "bar.sync 0;\n" + word)
                .value(0),
            "c[0] = 5");
  EXPECT_EQ(of(zero + add + "ld.volatile.shared.u32 %r6, [%r2];\n").kind(), "unknown");
}

TEST(Atomics, ReturnWhatIsNotFollowed) {
  std::string const atom = zero + "atom.shared.add.u32 %r6, [%r2], 1;\n";
  Case c = of(atom + "st.global.u32 [%rd3], %r6;\n");
  EXPECT_EQ(c.value(3), "c[3] = the result of atom.shared.add.u32 of thread 3");
  c.expect = {"c[i] = a[i]"};
  EXPECT_EQ(c.kind(), "unknown");
  EXPECT_EQ(of(atom + "setp.eq.u32 %p1, %r6, 0;\n@%p1 st.global.u32 [%rd1], %r1;\n").kind(), "unknown");
  EXPECT_EQ(of("atom.acquire.cta.shared.add.u32 %r6, [%r2], 1;\n").answer(),
            "unknown: atom.acquire.cta.shared.add.u32 is not executed");
}

TEST(Atomics, OrderNothingThatTheOrderDecides) {
  // a counter behind a fence: in the order that is executed warp 1 follows warp 0, and in another one it does not
  std::string const first = "st.shared.u32 [%r2+64], 5;\nmembar.cta;\nred.shared.add.u32 [%r2], 1;\n",
                    second = "red.shared.add.u32 [%r2], 1;\nmembar.cta;\nld.shared.u32 %r6, [%r2+64];\n";
  EXPECT_EQ(of(zero + only_warp(0, "$A", only_first("$F", first)) + only_warp(1, "$B", second)).answer(),
            "unknown: thread 32 may follow what other threads release by atomics, or not");
}

TEST(Atomics, OfTwoBlocksAreNotSummed) {
  Case c = of("red.global.add.u32 [%rd3], 1;\n");
  c.grid = 2;
  EXPECT_EQ(c.answer(),
            "unknown: c[0] is written by block 0,0,0 and by block 1,0,0, both times by an atomic: sums over "
            "blocks are not followed");
  c.body =
      "setp.eq.u32 %p1, %r1, 99;\nmov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 st.global.u32 "
      "[%rd3], 1;\n"
      "@!%p2 red.global.add.u32 [%rd3], 1;\n";
  EXPECT_EQ(c.kind(), "race");
}

// PTX ISA, Memory Consistency Model: morally strong operations are no data race, also of threads of two blocks.
TEST(Atomics, OfTwoBlocksAreStrong) {
  auto const answer = [](std::string const& first, std::string const& second) {
    Case c = of("mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p2, %r4, 0;\nsetp.ne.u32 %p3, %r4, 0;\n@%p2 " + first +
                    "\n@%p3 " + second + "\n",
                1);
    c.grid = 2;
    return c.answer();
  };
  std::string const red = "red.relaxed.gpu.global.add.u32 [%rd1], 1;",
                    ld = "ld.relaxed.gpu.global.u32 %r5, [%rd1];",
                    st = "st.relaxed.gpu.global.u32 [%rd1], 1;";
  EXPECT_EQ(
      answer(red, ld),
      "unknown: c[0] is written by block 0,0,0 and read by another block, by strong accesses: which value "
      "it reads is not followed");
  EXPECT_EQ(answer(ld, red).substr(0, 7), "unknown");
  EXPECT_EQ(answer(st, ld).substr(0, 7), "unknown");
  EXPECT_EQ(answer("st.volatile.global.u32 [%rd1], 1;", "ld.volatile.global.u32 %r5, [%rd1];").substr(0, 7),
            "unknown");
  EXPECT_EQ(answer(st, st),
            "unknown: c[0] is written by block 0,0,0 and by block 1,0,0, by strong accesses: which value "
            "remains is not followed");
  EXPECT_EQ(answer(st, red).substr(0, 7), "unknown");
  EXPECT_EQ(answer(red, "ld.global.u32 %r5, [%rd1];").substr(0, 4), "race");
  EXPECT_EQ(answer("st.relaxed.cta.global.u32 [%rd1], 1;", ld).substr(0, 4), "race") << "another scope";
  EXPECT_EQ(answer(st, "ld.relaxed.cta.global.u32 %r5, [%rd1];").substr(0, 4), "race");
  EXPECT_EQ(answer("st.global.u32 [%rd1], 1;", st).substr(0, 4), "race");
  EXPECT_EQ(answer("ld.global.u32 %r5, [%rd1];", st).substr(0, 4), "race");
}

// A weak access of a block remains one, also behind a strong one of the same element.
TEST(Atomics, OfTwoBlocksAreNotStrongByTheirLastAccess) {
  std::string const first = "mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p2, %r4, 0;\n@!%p2 bra $S;\n",
                    rest = "bra $E;\n$S: red.relaxed.gpu.global.add.u32 [%rd1], 1;\n$E:\n",
                    red = "red.relaxed.gpu.global.add.u32 [%rd1], 1;\n",
                    st = "st.relaxed.gpu.global.u32 [%rd1], 1;\n";
  for (std::string const& weak :
       {std::string("st.global.u32 [%rd1], 1;\n"), std::string("ld.global.u32 %r5, [%rd1];\n")})
    for (std::string const& strong : {red, st}) {
      Case c = of(first + weak + strong + rest, 1);
      c.grid = 2;
      EXPECT_EQ(c.kind(), "race") << weak << strong;
      c.body = first + strong + weak + rest;
      EXPECT_EQ(c.kind(), "race") << strong << weak;
    }
}

TEST(Steps, OfOtherInstructionsOfAWarp) {
  Case c = of("redux.sync.add.s32 %r5, %r1, -1;\nst.global.u32 [%rd3], %r5;\n", 32);
  EXPECT_EQ(c.kind(), "proved");
  c.expect = {"c[i] = a[i]"};
  EXPECT_EQ(c.kind(), "wrong element") << "it is 496";
  EXPECT_EQ(of("redux.sync.add.s32 %r5, %r1, 1;\n", 32).kind(), "misuse");
  EXPECT_EQ(of("match.any.sync.b32 %r5, %r1, 1;\n", 32).kind(), "misuse");
  EXPECT_EQ(of("match.all.sync.b32 %r5|%p1, %r1, -1;\n@%p1 st.global.u32 [%rd3], %r1;\n", 32).value(0),
            "nothing")
      << "no lane stores";
  EXPECT_EQ(of("createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0;\nld.global.L2::cache_hint.u32 %r5, "
               "[%rd4], %rd9;\n"
               "st.global.u32 [%rd3], %r5;\n",
               32)
                .value(3),
            "c[3] = a[3]");
  EXPECT_EQ(of("dp4a.s32.u32 %r5, 0x01ff02fe, 0x01010101, %r1;\nst.global.u32 [%rd3], %r5;\n", 32).value(3),
            "c[3] = 3");
  EXPECT_EQ(of("cp.async.bulk.prefetch.L2.global [%rd2], 64;\n", 32).kind(), "proved");
}

TEST(Shuffles, SayIfTheLaneIsInTheSegment) {
  Case c =
      of("shfl.sync.down.b32 %r4|%p1, %r1, 1, 0x1c07, -1;\nselp.u32 %r5, 1, 0, %p1;\nst.global.u32 [%rd3], "
         "%r5;\n",
         32);
  EXPECT_EQ(c.value(6), "c[6] = 1");
  EXPECT_EQ(c.value(7), "c[7] = 0");
  c.body = "shfl.sync.up.b32 %r4|%p1, %r1, 2, 0, -1;\nselp.u32 %r5, 1, 0, %p1;\nst.global.u32 [%rd3], %r5;\n";
  EXPECT_EQ(c.value(1), "c[1] = 0");
  EXPECT_EQ(c.value(2), "c[2] = 1");
}

}  // namespace
}  // namespace swizproof
