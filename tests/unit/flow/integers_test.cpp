// Integers and halves as compilers move them: signs, bf16 in the upper half of f32, and bits of another format.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// c[0] = a[0] through these instructions, which take %h1 (16 bits) or %r5 to %r6.
std::string copied(std::string const& c, std::string const& a, std::string const& body) {
  unsigned const bits = static_cast<unsigned>(std::stoul(c.substr(1)));
  return Case{fmt::format("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $E;\n{}st.global.b{} [%rd1], {};\n$E:\n", body,
                          bits, bits == 64 ? "%rd9" : "%r6"),
              c + "[1]",
              a + "[1]",
              {"c[i] = a[i] for i in 0..0"}}
      .kind();
}

TEST(Integers, KeepTheirSign) {
  std::string const half = "ld.global.u16 %h1, [%rd2];\n", byte = "ld.global.u8 %r5, [%rd2];\n",
                    word = "ld.global.u32 %r5, [%rd2];\n";
  EXPECT_EQ(copied("i32", "i16", half + "cvt.s32.s16 %r6, %h1;\n"), "proved");
  EXPECT_EQ(copied("i32", "i16", half + "cvt.u32.u16 %r6, %h1;\n"), "wrong element") << "of negative numbers";
  EXPECT_EQ(copied("u32", "u16", half + "cvt.s32.s16 %r6, %h1;\n"), "wrong element")
      << "of those above 32,767";
  EXPECT_EQ(copied("i32", "i16", half + "mul.wide.s16 %r6, %h1, 1;\n"), "proved");
  EXPECT_EQ(copied("i32", "i8", byte + "bfe.s32 %r6, %r5, 0, 8;\n"), "proved");
  EXPECT_EQ(copied("i32", "i8", byte + "shl.b32 %r6, %r5, 24;\nshr.s32 %r6, %r6, 24;\n"), "proved");
  EXPECT_EQ(copied("i32", "i8", byte + "shl.b32 %r6, %r5, 24;\nshr.u32 %r6, %r6, 24;\n"), "wrong element");
  EXPECT_EQ(copied("i32", "i8", byte + "xor.b32 %r6, %r5, 128;\nsub.s32 %r6, %r6, 128;\n"), "proved");
  EXPECT_EQ(copied("i32", "i8", byte + "add.s32 %r6, %r5, 128;\nsub.s32 %r6, %r6, 128;\n"), "wrong element");
  EXPECT_EQ(copied("i32", "i8", byte + "shl.b32 %r6, %r5, 24;\nshr.s32 %r6, %r6, 16;\n"), "wrong element");
  EXPECT_EQ(copied("i32", "i32", word + "cvt.u64.u32 %rd8, %r5;\ncvt.u32.u64 %r6, %rd8;\n"), "proved");
  EXPECT_EQ(copied("i64", "i32", word + "mul.wide.s32 %rd9, %r5, 1;\n"), "proved");
  EXPECT_EQ(copied("u64", "u32", word + "mul.wide.s32 %rd9, %r5, 1;\n"), "wrong element");
  EXPECT_EQ(copied("i64", "i32", word + "add.s32 %r5, %r5, 0;\ncvt.u64.u32 %rd9, %r5;\n"), "wrong element");
}

/// One thread runs `body`, which stores a number of `c`'s size to [%rd1].
Case of_one_thread(std::string const& body, std::string const& c, std::string const& a,
                   std::string const& expect) {
  return Case{"setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $E;\n" + body + "$E:\n", c, a, {expect}};
}

TEST(Integers, ThatAreWidenedAreTakenAsNotWrapped) {
  std::string const twice = "ld.global.u32 %r5, [%rd2];\nadd.s32 %r6, %r5, %r5;\n";
  auto const assumed = [](Case const& one) {
    FlowReport const r = one.report();
    EXPECT_EQ(r.verdict, FlowVerdict::proved);
    return r.assumed;
  };
  EXPECT_TRUE(assumed(of_one_thread(twice + "st.global.u32 [%rd1], %r6;\n", "i32[1]", "i32[1]",
                                    "c[i] = 2*a[i] for i in 0..0"))
                  .empty());
  EXPECT_EQ(assumed(of_one_thread(twice + "cvt.s64.s32 %rd9, %r6;\nst.global.u64 [%rd1], %rd9;\n", "i64[1]",
                                  "i32[1]", "c[i] = 2*a[i] for i in 0..0")),
            std::vector<std::string>{"integers do not wrap before they are widened"});
}

TEST(Integers, OfAnExpectationAreNotRounded) {
  std::string const store = "mov.u32 %r6, 16777217;\nst.global.u32 [%rd1], %r6;\n";
  EXPECT_EQ(of_one_thread(store, "i32[1]", "i32[1]", "c[i] = 16777217 for i in 0..0").kind(), "proved");
  EXPECT_EQ(of_one_thread(store, "i32[1]", "i32[1]", "c[i] = 16777216 for i in 0..0").kind(),
            "wrong element");
}

// PTX ISA, cp.async: src-size larger than cp-size is undefined.
TEST(Integers, OfACopyHaveASourceThatIsNotLarger) {
  auto const answer = [](std::string const& size) {
    return Case{
        only_first("$E", "cp.async.cg.shared.global [%r2], [%rd2], 16, " + size + ";\ncp.async.wait_all;\n")}
        .answer();
  };
  EXPECT_EQ(answer("16"), "proved");
  EXPECT_EQ(answer("20"),
            "misuse: cp.async of thread 0 has the src-size 20, which is larger than its cp-size 16");
}

TEST(Integers, OfACopyAreReadAsFarAsItsSourceGoes) {
  std::string const copy = "cp.async.cg.shared.global [%r2], [%rd2], 16, ",
                    rest = ";\ncp.async.wait_all;\nld.shared.u32 %r6, [%r2];\nst.global.u32 [%rd1], %r6;\n";
  EXPECT_EQ(of_one_thread(copy + "8" + rest, "i32[1]", "i32[2]", "c[i] = a[i] for i in 0..0").kind(),
            "proved");
  EXPECT_EQ(of_one_thread(copy + "12" + rest, "i32[1]", "i32[2]", "c[i] = a[i] for i in 0..0").kind(),
            "out of bounds");
}

/// A sum of numbers with a sign has one: zeros above it are another number.
TEST(Integers, OfSumsHaveASign) {
  auto const sum = [](char const* kind, char const* conversion) {
    std::string const type = kind;
    Case c{fmt::format("ld.global.u32 %r5, [%rd2];\nadd.s32 %r5, %r5, %r5;\n{} %rd9, %r5;\n"
                       "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $E;\nst.global.b64 [%rd1], %rd9;\n$E:\n",
                       conversion),
           type + "64[1]", type + "32[1]"};
    return c.value(0);
  };
  EXPECT_EQ(sum("i", "cvt.s64.s32"), "c[0] = 2*a[0]");
  EXPECT_EQ(sum("u", "cvt.u64.u32"), "c[0] = 2*a[0]");
  EXPECT_EQ(sum("i", "cvt.u64.u32"), "c[0] = integer(bits of a[0] + a[0])");
  EXPECT_EQ(sum("u", "cvt.s64.s32"), "c[0] = integer(bits of a[0] + a[0])");
}

TEST(Integers, OfAnotherFormatAreWrongOnNumbers) {
  std::string const half = "ld.global.u16 %h1, [%rd2];\n", up = "cvt.u32.u16 %r5, %h1;\n";
  EXPECT_EQ(copied("f32", "bf16", half + up + "shl.b32 %r6, %r5, 16;\n"), "proved");
  EXPECT_EQ(copied("f32", "bf16", half + "mov.b32 %r6, {0, %h1};\n"), "proved");
  EXPECT_EQ(copied("f32", "bf16", half + up + "prmt.b32 %r6, %r5, 0, 0x1044;\n"), "proved");
  EXPECT_EQ(copied("f32", "bf16", half + "mov.b32 %r6, {%h1, 0};\n"), "wrong element");
  EXPECT_EQ(copied("f32", "f16", half + up + "shl.b32 %r6, %r5, 16;\n"), "wrong element")
      << "another exponent";
  EXPECT_EQ(copied("f32", "bf16", half + up + "shl.b32 %r6, %r5, 16;\nor.b32 %r6, %r6, 1;\n"),
            "wrong element");
  // The lower half of an integer is the integer modulo 2^16, in a way that is not followed: no numbers show a difference.
  EXPECT_EQ(copied("i16", "i32", "ld.global.u32 %r6, [%rd2];\n"), "unknown");
  EXPECT_EQ(copied("f32", "f32",
                   "ld.global.u32 %r5, [%rd2];\nand.b32 %r6, %r5, 0xffff;\nshr.u32 %r5, %r5, 16;\n"
                   "mov.b32 {%h1, %h2}, %r6;\ncvt.u16.u32 %h2, %r5;\nmov.b32 %r6, {%h1, %h2};\n"),
            "proved");
}

TEST(Flags, ReleaseTheirOwnAddressAlone) {
  // A release at tile + 2048 orders what reads that word, and not what reads a relaxed store of the same thread elsewhere.
  auto const kind_of = [](std::string const& last, unsigned at) {
    return Case{load + only_first("$Z", "st.shared.v2.u32 [%r2+2048], {0, 0};\n") + "bar.sync 0;\n" +
                only_warp(0, "$A",
                          "st.shared.f32 [%r3], %f1;\nbar.warp.sync -1;\n" +
                              only_first("$F", "st.release.cta.shared.u32 [%r2+2048], 1;\n" + last)) +
                only_warp(1, "$B",
                          fmt::format("$S: ld.acquire.cta.shared.u32 %r5, [%r2+{}];\nsetp.eq.u32 %p1, %r5, "
                                      "0;\n@%p1 bra $S;\nld.shared.f32 %f2, [%r3+-128];\n",
                                      at) +
                              store)}
        .kind();
  };
  EXPECT_EQ(kind_of("", 2048), "unknown");
  EXPECT_EQ(kind_of("st.relaxed.cta.shared.u32 [%r2+2048], 2;\n", 2048), "unknown") << "a release sequence";
  EXPECT_EQ(kind_of("st.relaxed.cta.shared.u32 [%r2+2052], 1;\n", 2052), "race");
  EXPECT_EQ(kind_of("st.shared.u32 [%r2+2048], 2;\n", 2048), "race") << "a weak store";
  // The fence of a thread before its store of the data does not order it; its release behind the store does.
  auto const fenced = [](std::string const& flag) {
    return Case{
        load + only_first("$Z", "st.shared.u32 [%r2+2048], 0;\n") + "bar.sync 0;\n" +
        only_warp(0, "$A", only_first("$F", "fence.acq_rel.cta;\nst.shared.f32 [%r3], %f1;\n" + flag)) +
        only_warp(1, "$B",
                  "$S: ld.acquire.cta.shared.u32 %r5, [%r2+2048];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra $S;\n"
                  "ld.shared.f32 %f2, [%r2];\n" +
                      store)}
        .kind();
  };
  EXPECT_EQ(fenced("st.relaxed.cta.shared.u32 [%r2+2048], 1;\n"), "race");
  EXPECT_EQ(fenced("st.release.cta.shared.u32 [%r2+2048], 1;\n"), "unknown");
}

TEST(Flags, OfAnotherThreadAreNotReleasedAgain) {
  // Thread 0 stores its element and releases the flag; thread 1 sets it again, relaxed: a thread that reads this acquires nothing of 0.
  Case const c{
      load + only_first("$Z", "st.shared.u32 [%r2+2048], 0;\n") + "bar.sync 0;\n" +
      only_warp(0, "$A",
                only_first("$F", "st.shared.f32 [%r3], %f1;\nst.release.cta.shared.u32 [%r2+2048], 1;\n") +
                    "bar.warp.sync -1;\nsetp.ne.u32 %p6, %r1, 1;\n@%p6 bra $G;\n"
                    "st.relaxed.cta.shared.u32 [%r2+2048], 2;\n$G:\n") +
      only_warp(1, "$B",
                "$S: ld.acquire.cta.shared.u32 %r5, [%r2+2048];\nsetp.ne.u32 %p1, %r5, 2;\n@%p1 bra $S;\n"
                "ld.shared.f32 %f2, [%r2];\n" +
                    store)};
  EXPECT_EQ(c.kind(), "race");
}

TEST(Flags, ThatNobodySetsEndTheSearch) {
  Case const c{
      only_first("$Z", "st.shared.u32 [%r2+2048], 0;\n") + "bar.sync 0;\n" +
      only_warp(1, "$B",
                "$S: ld.acquire.cta.shared.u32 %r5, [%r2+2048];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra $S;\n")};
  EXPECT_NE(c.answer().find("reads a flag again and again"), std::string::npos) << c.answer();
}

TEST(Matrices, AreReadByTheLaneOfTheAddressOrThoseThatHoldTheRow) {
  std::string const lane = "and.b32 %r10, %r1, 31;\nmov.b32 %r11, %f1;\n",
                    rows = "shl.b32 %r12, %r10, 4;\nadd.s32 %r12, %r12, %r2;\n",
                    words = "shl.b32 %r13, %r10, 2;\nadd.s32 %r13, %r13, %r2;\n",
                    all = "st.shared.v4.b32 [%r12], {%r11, %r11, %r11, %r11};\n",
                    matrix = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r14}, [%r12];\n",
                    to = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r12], {%r11};\n",
                    out = "st.global.b32 [%rd3], %r14;\n", barrier = "bar.warp.sync -1;\n";
  auto const verdict = [&](std::string const& body) {
    Case c{load + lane + rows + words + body + out, "f32[32]", "f32[32]"};
    c.threads = 32;
    return c.report();
  };
  for (auto const& [first, second] :
       {std::pair(all, matrix), std::pair("st.shared.b32 [%r13], %r11;\n" + std::string(), matrix),
        std::pair(to, "ld.shared.b32 %r14, [%r13];\n" + std::string())}) {
    FlowReport const report = verdict(first + second);
    EXPECT_EQ(report.verdict, FlowVerdict::unknown) << first << second;
    EXPECT_NE(report.reason.find("no barrier is between them if"), std::string::npos) << report.reason;
    EXPECT_EQ(verdict(first + barrier + second).verdict, FlowVerdict::proved) << first << second;
  }
}

}  // namespace
}  // namespace swizproof
