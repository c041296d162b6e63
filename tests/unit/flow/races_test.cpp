// Races: every write is remembered, equal values too; executions; flags; other faults of accesses.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string kind(std::string const& body, unsigned threads = 64) {
  std::string const size = fmt::format("f32[{}]", threads);
  return Case{body, size, size, {}, threads}.kind();
}

TEST(Races, RememberWritesOfEqualValues) {
  // warps 0 and 1 store one value; warps 1 and 2 meet; warp 2 stores another one there: that of warp 0 may come behind
  std::string const st = "st.shared.u32 [%r2], 7;\n", meet = "bar.sync 1, 64;\n";
  std::string const body = only_warp(0, "$A", st) + only_warp(1, "$B", st + meet) +
                           only_warp(2, "$C", meet + "st.shared.u32 [%r2], 8;\nld.shared.u32 %r5, [%r2];\n");
  EXPECT_EQ(kind(body, 96), "race");
  Case accepted{body, "f32[96]", "f32[96]", {}, 96};
  accepted.same_values = true;
  EXPECT_EQ(accepted.kind(), "race");
}

TEST(Races, OfEqualValuesAreAKindOfTheirOwn) {
  Case c{"st.shared.u32 [%r2], 5;\nbar.sync 0;\nld.shared.u32 %r5, [%r2];\nst.global.u32 [%rd3], %r5;\n",
         "u32[64]"};
  EXPECT_EQ(
      c.answer(),
      "same-value race: thread 32 writes the same value to byte 0x400 of shared memory, which thread 31 has "
      "written: no barrier is between them");
  c.same_values = true;
  EXPECT_EQ(c.value(63), "c[63] = 5");
  // lanes of one instruction
  EXPECT_EQ(kind("st.shared.u32 [%r2], 5;\n", 32), "proved");
  EXPECT_EQ(kind("st.shared.u32 [%r2], %r1;\n", 32), "race");
}

TEST(Races, OfEqualValuesAcceptWritesAlone) {
  // both warps store one value, and warp 1 reads its own: the store of warp 0 is not ordered before the read
  Case c{"st.shared.u32 [%r2], 5;\n" + only_warp(1, "$B", "bar.warp.sync -1;\nld.shared.u32 %r5, [%r2];\n")};
  c.same_values = true;
  EXPECT_EQ(c.kind(), "race");
  c.body = "st.shared.u32 [%r2], 5;\nbar.sync 0;\nld.shared.u32 %r5, [%r2];\n";
  EXPECT_EQ(c.kind(), "proved");
}

TEST(Races, RememberWhatIsBeforeTheFirstOfEqualWrites) {
  // lane 0 accesses the word, and then all lanes store one value: only lane 0's store is ordered behind that access
  std::string const st = "st.shared.u32 [%r2], 1;\n", first = "setp.eq.u32 %p1, %r1, 0;\n@%p1 ";
  EXPECT_EQ(kind(first + "st.shared.u32 [%r2], 2;\n" + st, 32), "race");
  EXPECT_EQ(kind(first + "st.shared.u32 [%r2], 2;\nbar.warp.sync -1;\n" + st, 32), "proved");
  std::string const filled = only_first("$F", "st.shared.u32 [%r2], 2;\n") + "bar.sync 0;\n";
  EXPECT_EQ(kind(filled + "@!%p7 ld.shared.u32 %r5, [%r2];\n" + st, 32), "race");
  EXPECT_EQ(kind(filled + "@!%p7 ld.shared.u32 %r5, [%r2];\nbar.warp.sync -1;\n" + st, 32), "proved");
  // the value is the same, and the instruction another one
  EXPECT_EQ(kind(first + "st.shared.u32 [%r2], 1;\n" + st, 32), "same-value race");
  // thread 0 stores 5 and 7, thread 32 stores 7
  Case c{only_first("$A", "st.shared.u32 [%r2], 5;\nst.shared.u32 [%r2], 7;\n") +
         only_warp(1, "$B", "setp.ne.u32 %p1, %r1, 32;\n@%p1 bra $B;\nst.shared.u32 [%r2], 7;\n")};
  c.same_values = true;
  EXPECT_EQ(c.kind(), "race");
  // thread 0 stores 7 twice
  c.body = only_first("$A", "st.shared.u32 [%r2], 7;\nst.shared.u32 [%r2], 7;\n") +
           only_warp(1, "$B", "setp.ne.u32 %p1, %r1, 32;\n@%p1 bra $B;\nst.shared.u32 [%r2], 7;\n");
  EXPECT_EQ(c.kind(), "proved");
}

TEST(Races, KnowEqualResults) {
  // all lanes of a warp store what the same instructions make of the same elements
  std::string const two = "ld.global.f32 %f1, [%rd2];\nld.global.f32 %f2, [%rd2+4];\n",
                    st = "st.shared.f32 [%r2], %f3;\n";
  EXPECT_EQ(kind(two + "add.f32 %f3, %f1, %f2;\n" + st, 32), "proved");
  EXPECT_EQ(kind(two + "add.f32 %f3, %f1, %f2;\n" + st, 64), "same-value race");
  EXPECT_EQ(
      kind(two + "fma.rn.f32 %f3, %f1, %f2, %f1;\ncvt.rn.f16.f32 %h1, %f3;\nst.shared.b16 [%r2], %h1;\n", 32),
      "proved");
  // a butterfly adds the same two elements in each lane, in either order
  std::string const butterfly = load +
                                "and.b32 %r5, %r1, 1;\nmul.wide.u32 %rd9, %r5, 4;\nadd.s64 %rd9, %rd2, "
                                "%rd9;\nld.global.f32 %f1, [%rd9];\n"
                                "shfl.sync.bfly.b32 %f2, %f1, 1, 31, -1;\nadd.f32 %f3, %f1, %f2;\n";
  EXPECT_EQ(kind(butterfly + st, 32), "proved");
  EXPECT_EQ(kind(load + "add.f32 %f3, %f1, %f1;\n" + st, 32), "race");
  // the sign of zero
  EXPECT_EQ(kind(two +
                     "mov.f32 %f4, 0f00000000;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mov.f32 %f4, "
                     "0f80000000;\nadd.f32 %f3, %f1, %f4;\n" +
                     st,
                 32),
            "race");
  // other instructions round differently; what is not followed may differ by its numbers
  std::string const ways = two +
                           "setp.eq.u32 %p1, %r1, 0;\nfma.rn.f32 %f3, %f1, %f2, %f1;\nmul.f32 %f4, %f1, "
                           "%f2;\n@%p1 add.f32 %f3, %f4, %f1;\n";
  EXPECT_EQ(kind(ways + st, 32), "race");
  EXPECT_EQ(kind(two + "mov.b32 %r5, %f1;\nmin.s32 %r6, %r5, %r1;\nst.shared.u32 [%r2], %r6;\n", 32), "race");
}

TEST(Races, NameTheExecutions) {
  // each warp stores and reads in a loop: of two iterations the barrier is between the store and the read alone
  std::string const body = load + "mov.u32 %r5, 0;\n$L: st.shared.f32 [%r3], %f1;\nbar.sync 0;\n" +
                           neighbour(33) + "add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra $L;\n" +
                           store;
  FlowReport const r = Case{body}.report();
  ASSERT_TRUE(r.fault && r.fault->first && r.fault->second);
  EXPECT_EQ(r.fault->kind, FlowFaultKind::race);
  EXPECT_EQ(r.fault->first->line.op, "st.shared.f32");
  EXPECT_EQ(r.fault->first->line.execution, 2U);
  EXPECT_EQ(r.fault->second->line.op, "ld.shared.f32");
  EXPECT_EQ(r.fault->second->line.execution, 1U);
}

TEST(Races, OfTwoWarpsAreNamedFirst) {
  // the lanes of one warp race, and then two warps
  FlowReport const r = Case{in + neighbour(1) + neighbour(33) + store}.report();
  ASSERT_TRUE(r.fault && r.fault->first && r.fault->second);
  EXPECT_EQ(r.fault->text,
            "thread 32 writes byte 0x480 of shared memory (tile+0x80), which thread 1 has read: no barrier "
            "is between them");
  EXPECT_EQ(kind(in + neighbour(1) + store), "race");
}

TEST(Races, ExplainBytesThatAreReadTooEarly) {
  EXPECT_EQ(
      (Case{neighbour(33) + store}.answer()),
      "uninitialised: thread 0 reads byte 0x484 of shared memory, which no thread has written: a write, or "
      "a barrier after it, is missing");
}

TEST(Flags, OrderWhatIsReleased) {
  // warp 0 stores its half and sets the flag at tile + 2048; warp 1 waits for it
  auto const kind_of = [](std::string const& give, std::string const& take) {
    return Case{
        load + only_first("$Z", "st.shared.u32 [%r2+2048], 0;\n") + "bar.sync 0;\n" +
        only_warp(0, "$A", "st.shared.f32 [%r3], %f1;\nbar.warp.sync -1;\n" + only_first("$F", give)) +
        only_warp(1, "$B", take + "ld.shared.f32 %f2, [%r3+-128];\n" + store)}
        .kind();
  };
  auto const spin = [](std::string const& ld) {
    return "$S: " + ld + " %r5, [%r2+2048];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra $S;\n";
  };
  std::string const release = "st.release.cta.shared.u32 [%r2+2048], 1;\n",
                    relaxed = "st.relaxed.cta.shared.u32 [%r2+2048], 1;\n",
                    is_volatile = "st.volatile.shared.u32 [%r2+2048], 1;\n";
  for (auto const& [give, take] : std::vector<std::pair<std::string, std::string>>{
           {release, spin("ld.acquire.cta.shared.u32")},
           {"fence.acq_rel.cta;\n" + relaxed, spin("ld.relaxed.cta.shared.u32") + "fence.acq_rel.cta;\n"},
           {"membar.cta;\n" + is_volatile, spin("ld.volatile.shared.u32") + "membar.cta;\n"}})
    EXPECT_EQ(kind_of(give, take), "unknown") << give;  // which value is read depends on the order
  EXPECT_EQ(kind_of(relaxed, spin("ld.relaxed.cta.shared.u32")), "race");
  EXPECT_EQ(kind_of(release, spin("ld.relaxed.cta.shared.u32")), "race");
  EXPECT_EQ(kind_of("st.shared.u32 [%r2+2048], 1;\n", spin("ld.acquire.cta.shared.u32")), "race");
}

TEST(Flags, AreReadInLoopsOfAllWarps) {
  // two reads with nothing between: a warp that lets the others run after each of them goes on
  std::string const body =
      "mov.u32 %r5, 0;\n$L: ld.volatile.global.f32 %f1, [%rd4];\nld.volatile.global.f32 %f2, [%rd4];\n"
      "add.s32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3;\n@%p1 bra $L;\n";
  EXPECT_EQ(kind(body + store), "proved");
}

TEST(Faults, OfTrapsAndReadOnlyData) {
  EXPECT_EQ((Case{load + "mov.f32 %f2, %f1;\n" + store + "setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\n"}.answer()),
            "trap: thread 5 executes trap: the launch fails");
  EXPECT_EQ(kind("setp.eq.u32 %p1, %r1, 99;\n@%p1 trap;\n"), "proved");
  EXPECT_EQ(kind("mov.f32 %f2, 0f00000000;\n" + store + "ld.global.nc.f32 %f1, [%rd3];\n"),
            "write of read-only data");
  EXPECT_EQ(kind("ld.global.nc.f32 %f2, [%rd3];\n" + store), "write of read-only data");
  EXPECT_EQ(kind("ld.global.nc.f32 %f2, [%rd4];\n" + store), "proved");
}

// PTX ISA, ldu: read-only data, from an address that all threads of the warp have.
TEST(Faults, OfUniformLoads) {
  EXPECT_EQ(kind("ldu.global.f32 %f2, [%rd2];\n" + store), "proved");
  EXPECT_EQ((Case{"ldu.global.f32 %f2, [%rd4];\n" + store}.answer()),
            "misuse: lanes of warp 0 read different addresses by ldu.global.f32");
  EXPECT_EQ(
      (Case{"mov.f32 %f2, 0f00000000;\n" + store + "ldu.global.f32 %f1, [%rd1];\n"}.answer()),
      "write of read-only data: thread 0 reads c[0] by ldu, and thread 0 has written it: ldu is for what "
      "the kernel only reads");
  EXPECT_EQ(
      (Case{"ldu.global.f32 %f2, [%rd1];\n" + store}.answer()),
      "write of read-only data: thread 0 writes c[0], which ldu has read: ldu is for what the kernel only "
      "reads");
}

// PTX ISA, discard: it behaves like a weak write of an unstable indeterminate value.
TEST(Faults, OfDiscardedData) {
  EXPECT_EQ((Case{"mov.f32 %f2, 0f00000000;\n" + store + "discard.global.L2 [%rd1], 128;\n"}.answer()),
            "unknown: discard.global.L2 is not executed");
}

TEST(Faults, OfLocalMemory) {
  std::string const two = ".local .align 16 .b8 la[16];\n.local .align 16 .b8 lb[16];\n";
  EXPECT_EQ((Case{two + "st.local.u32 [la+12], %r1;\nst.local.u32 [lb+32], %r1;\n"}.answer()),
            "out of bounds: thread 0 writes 4 bytes of local memory that belong to no variable");
  EXPECT_EQ(kind(two + "mov.u64 %rd7, la;\ncvta.local.u64 %rd7, %rd7;\nst.u32 [%rd7], %r1;\n"
                       "ld.u32 %r5, [%rd7];\n"),
            "proved");
  EXPECT_EQ(kind(two + "mov.u64 %rd7, la;\ncvta.local.u64 %rd7, %rd7;\nst.u32 [%rd7+-4], %r1;\n"),
            "out of bounds");
}

// The address of one variable reaches another: how they lie is measured, and not a part of the PTX ISA.
TEST(Variables, ReachOthersByAnAssumption) {
  auto const assumed = [](std::string const& body) {
    return Case{
        ".shared .align 16 .b8 sa[16];\n.shared .align 16 .b8 sb[16];\n.local .align 16 .b8 la[16];\n"
        ".local .align 16 .b8 lb[16];\n" +
        only_first("$A", body)}
        .report()
        .assumed;
  };
  using Texts = std::vector<std::string>;
  std::string const st = "st.shared.u32 [%r5], %r1;\n";
  EXPECT_EQ(assumed("mov.u32 %r5, sa;\n" + st), Texts{});
  EXPECT_EQ(assumed("mov.u32 %r5, sa;\nmov.u32 %r6, 12;\nmad.lo.u32 %r5, %r6, 1, %r5;\n" + st), Texts{});
  Texts const reaches{
      "variables of shared memory lie one behind the other as they are declared (H18): sa reaches sb"};
  EXPECT_EQ(assumed("st.shared.u32 [sa+16], %r1;\n"), reaches);
  EXPECT_EQ(assumed("mov.u32 %r5, sa;\nadd.u32 %r5, %r5, 16;\n" + st), reaches);
  EXPECT_EQ(assumed("mov.u32 %r5, sa;\nadd.u32 %r5, %r5, 16;\nxor.b32 %r5, %r5, 4;\n" + st), reaches);
  EXPECT_EQ(
      assumed("mov.u32 %r5, sa;\ncvt.u64.u32 %rd7, %r5;\nadd.u64 %rd7, %rd7, 16;\ncvta.shared.u64 %rd7, "
              "%rd7;\nst.u32 [%rd7], %r1;\n"),
      reaches);
  EXPECT_EQ(
      assumed("mov.u32 %r5, sa;\nmov.u32 %r6, sb;\nsub.u32 %r6, %r6, %r5;\nadd.u32 %r5, %r5, %r6;\n" + st),
      Texts{"variables of shared memory lie one behind the other as they are declared (H18): addresses of "
            "several of them "
            "are combined"});
  EXPECT_EQ(assumed("mov.u32 %r5, sb;\nst.local.u32 [la], %r5;\nld.local.u32 %r5, [la];\n" + st),
            Texts{"variables of shared memory lie one behind the other as they are declared (H18): an "
                  "address is of none of "
                  "them"});
  EXPECT_EQ(
      assumed("mov.u32 %r5, sa;\nmov.u32 %r6, sb;\nsetp.eq.u32 %p1, %r1, 0;\nselp.b32 %r5, %r5, %r6, %p1;\n" +
              st),
      Texts{});
  EXPECT_EQ(assumed("st.local.u32 [la+16], %r1;\n"),
            Texts{"variables of local memory lie one behind the other as they are declared, which is not "
                  "measured: la reaches lb"});
}

TEST(Faults, NameTheArrayBehindAnAddress) {
  EXPECT_EQ((Case{"mov.f32 %f2, 0f00000000;\nst.global.f32 [%rd1+-4], %f2;\n"}.answer()),
            "out of bounds: thread 0 writes byte -4 of c, which has 256");
  EXPECT_EQ((Case{"mov.f32 %f2, 0f00000000;\nst.global.f32 [%rd2+-4], %f2;\n"}.answer()),
            "out of bounds: thread 0 writes byte -4 of a, which has 256");
}

TEST(Faults, HaveKindsOfAddresses) {
  EXPECT_EQ(kind("ld.global.f32 %f2, [%rd4+4];\n" + store), "out of bounds");
  EXPECT_EQ(kind("st.shared.u32 [%r2+2], 1;\n"), "misaligned");
}

TEST(Steps, AreLimitedAndNameTheLoop) {
  Case c{"mov.u32 %r5, 0;\n$L: add.s32 %r5, %r5, 1;\nbra $L;\n"};
  c.steps = 10'000;
  FlowReport const r = c.report();
  EXPECT_EQ(r.verdict, FlowVerdict::unknown);
  EXPECT_TRUE(r.reason.starts_with("more than 10000 instructions are executed, ")) << r.reason;
  ASSERT_TRUE(r.at);
  EXPECT_EQ(r.at->op, "add.s32");
  c.body = "$L: bra $L;\n", c.steps = 1'000;  // too few to see that it repeats
  EXPECT_EQ(c.report().verdict, FlowVerdict::unknown);
}

TEST(Spare, NamesWhatCanBeRemoved) {
  Case c{in + "bar.sync 0;\nbar.sync 0;\n" + neighbour(33) + store};
  c.spare = true;
  ASSERT_EQ(c.report().spare.size(), 2U);
  c.body = in + "bar.sync 0;\n" + neighbour(33) + store;
  EXPECT_TRUE(c.report().spare.empty());
  c.body = in + "bar.sync 0;\n" + neighbour(33) + "membar.cta;\n" + store;
  ASSERT_EQ(c.report().spare.size(), 1U);
  EXPECT_EQ(c.report().spare[0].op, "membar.cta");
}

// F6: floor(x) was proved to be x.
TEST(Conversions, ThatRoundToAnIntegerAreNoIdentity) {
  Case c{"", "f32[64]", "f32[64]", {"c[i] = a[i] for i in 0..63"}};
  for (char const* round : {"rni", "rzi", "rmi", "rpi"}) {
    c.body = fmt::format("{}cvt.{}.f32.f32 %f2, %f1;\n{}", load, round, store);
    EXPECT_NE(c.report().verdict, FlowVerdict::proved) << round;
  }
  c.body = load + "cvt.rzi.s32.f32 %r5, %f1;\ncvt.rn.f32.s32 %f2, %r5;\n" + store;
  EXPECT_NE(c.report().verdict, FlowVerdict::proved);
  c.body = load + "cvt.rn.f16.f32 %h1, %f1;\ncvt.f32.f16 %f2, %h1;\n" + store;
  EXPECT_EQ(c.report().verdict, FlowVerdict::proved) << "of the format alone";
}

}  // namespace
}  // namespace swizproof
