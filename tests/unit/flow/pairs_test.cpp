// tcgen05 of pairs of blocks: what two warps execute together, whose rows and columns a product has, and how long the peer has to be there.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

std::string const
    meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
    alloc = "@%p1 bra $a; tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], 32;\n$a:\n",
    dealloc = "@%p1 bra $z; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32;\n$z:\n",
    commit =
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%r9], %h1;\n",
    mma = "tcgen05.mma.cta_group::2.kind::f16 [%r10], %rd8, %rd9, %r23, %p7;\n";

/// D (128 x 16) = A (128 x 16) times B (16 x 16, the last rows of `a`) transposed: each of two blocks has 64 rows of A and 8 of B, thread 0 of
/// rank `issuer` multiplies, and each block stores its rows. A and B are K-major without a swizzle, as in tcgen05_test.cpp.
struct Pair {
  std::string first = meet, allocates = alloc, behind_alloc, product = mma + commit,
              wait = "$w: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9], 0; @!%p5 bra $w;\n",
              last = meet, frees = dealloc;
  unsigned issuer = 0, cluster = 2, mask = 3;

  [[nodiscard]] Case kernel() const {
    std::string body =
        "mov.u32 %r29, %cluster_ctarank; and.b32 %r30, %r29, 1; and.b32 %r29, %r29, 2; shr.u32 %r5, %r1, 5; "
        "setp.ne.u32 %p1, %r5, 0; setp.ne.u32 %p2, %r1, "
        "0;\n"
        "setp.ne.u32 %p7, 0, 0; add.u32 %r6, %r2, 3968; add.u32 %r9, %r2, 3976;\n"
        "@%p2 bra $i; mbarrier.init.shared::cta.b64 [%r9], 1;\n$i:\n";
    body += first + allocates;
    // Thread t copies row 64 r + t of A, or row 8 r + t - 64 of B: 32 bytes each.
    body +=
        "setp.lt.u32 %p3, %r1, 72; setp.lt.u32 %p4, %r1, 64; mad.lo.u32 %r31, %r30, 64, %r1; mad.lo.u32 "
        "%r32, %r30, 8, "
        "%r1;\nadd.u32 %r32, %r32, 64; selp.u32 %r31, %r31, %r32, %p4; mul.wide.u32 %rd6, %r31, 32; add.u64 "
        "%rd7, %rd2, "
        "%rd6;\nshr.u32 %r12, %r1, 3; shl.b32 %r12, %r12, 8; and.b32 %r13, %r1, 7; shl.b32 %r13, %r13, 4; "
        "add.u32 %r12, "
        "%r12, %r13; add.u32 %r12, %r12, %r2;\n"
        "@!%p3 bra $c; ld.global.v4.b32 {%r14, %r15, %r16, %r17}, [%rd7]; ld.global.v4.b32 {%r18, %r19, "
        "%r20, %r21}, "
        "[%rd7+16];\nst.shared.v4.b32 [%r12], {%r14, %r15, %r16, %r17}; st.shared.v4.b32 [%r12+128], {%r18, "
        "%r19, %r20, "
        "%r21};\n$c: fence.proxy.async;\n" +
        behind_alloc + meet +
        "ld.shared.b32 %r10, [%r6]; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7;\n"
        "and.b32 %r22, %r2, 0x3ffff; shr.u32 %r22, %r22, 4; cvt.u64.u32 %rd8, %r22; or.b64 %rd8, %rd8, "
        "0x0000401000080000; add.u64 %rd9, %rd8, 128;\n";
    body += fmt::format(
        "mov.u32 %r23, {}; mov.u32 %r28, {}; shl.b32 %r28, %r28, %r29; cvt.u16.u32 %h1, %r28; setp.ne.u32 "
        "%p6, "
        "%r30, {}; or.pred %p6, %p6, %p2; @%p6 bra $m;\n",
        8U << 24 | 2U << 17 | 1U << 4, mask, issuer);
    body += product + "$m: bar.warp.sync -1;\n" + wait;
    body +=
        "tcgen05.fence::after_thread_sync;\ntcgen05.ld.sync.aligned.32x32b.x8.b32 {%f0, %f1, %f2, %f3, %f4, "
        "%f5, %f6, "
        "%f7}, [%r11]; tcgen05.wait::ld.sync.aligned;\n"
        "and.b32 %r25, %r1, 63; mad.lo.u32 %r25, %r30, 64, %r25; shr.u32 %r26, %r1, 6; shl.b32 %r26, %r26, "
        "5; mad.lo.u32 "
        "%r26, %r25, 64, %r26; mad.lo.u32 %r26, %r29, 4096, %r26; cvt.u64.u32 %rd6, %r26; add.u64 %rd7, "
        "%rd1, %rd6;\n"
        "st.global.v4.f32 [%rd7], {%f0, %f1, %f2, %f3}; st.global.v4.f32 [%rd7+16], {%f4, %f5, %f6, %f7};\n";
    bool const two = cluster == 4;  // pairs, each has the same product in rows of its own
    Case c{body + last + frees, two ? "f32[256][16]" : "f32[128][16]", "f16[144][16]"};
    c.expect = {
        fmt::format("c[128*p + m][n] = sum(k) a[m][k]*a[128+n][k] for p in 0..{} for m in 0..127 for n in "
                    "0..15 for k in 0..15",
                    two ? 1 : 0)};
    c.threads = 128, c.grid = c.cluster = cluster;
    return c;
  }
  [[nodiscard]] std::string answer() const { return kernel().answer(); }
  [[nodiscard]] std::string kind() const { return kernel().kind(); }
};

bool assumes(Case const& c, std::string const& start) {
  FlowReport const r = c.report();
  return std::any_of(r.assumed.begin(), r.assumed.end(),
                     [&](std::string const& s) { return s.starts_with(start); });
}

TEST(Pairs, HaveRowsOfAAndColumnsOfBInBothBlocks) {
  for (unsigned const issuer : {0U, 1U}) {
    Pair p;
    p.issuer = issuer;
    EXPECT_EQ(p.answer(), "proved");
    p.cluster = 4;
    EXPECT_EQ(p.answer(), "proved");
  }
  EXPECT_TRUE(assumes(Pair{}.kernel(), "tcgen05.mma of a pair reads half of the rows of A"));
}

TEST(Pairs, AreRanksOfOneCluster) {
  Pair p;
  p.cluster = 1;
  EXPECT_EQ(p.answer(), "misuse: rank 0 has no peer: its cluster has 1 block");
  Case c = Pair{}.kernel();
  c.cluster = 0;
  EXPECT_EQ(
      c.answer(),
      "unknown: tcgen05 of a pair of blocks, and the size of the cluster is not given: --cluster X,Y,Z");
  p = {};
  p.frees = "@%p1 bra $z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\n$z:\n";
  EXPECT_EQ(p.answer(),
            "misuse: the kernel has tcgen05 with .cta_group::1 and with .cta_group::2: all of its "
            "instructions need one");
}

TEST(Pairs, AllocateTogether) {
  Pair p;
  p.first = "";
  EXPECT_EQ(p.answer(),
            "block lifetime: thread 0 of rank 0 executes "
            "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32, and its "
            "peer, rank 1, may not have begun: no barrier of the cluster is before");
  p = {};
  p.allocates =
      "@%p1 bra $a; shl.b32 %r33, 32, %r30; tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], "
      "%r33;\n$a:\n";
  EXPECT_EQ(p.answer(),
            "unknown: the blocks of a pair allocate different numbers of columns: the ISA does not say what "
            "they get");
  p.allocates =
      "or.b32 %r33, %r5, %r30; setp.ne.u32 %p8, %r33, 0; @%p8 bra $a; "
      "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], 32;\n$a:\n";
  EXPECT_EQ(p.kind(), "never released");
  // The peer's columns: its alloc is not before the product.
  p = {};
  p.allocates = "", p.behind_alloc = meet + alloc;
  EXPECT_EQ(p.answer(), "proved");
  Case late = p.kernel();
  late.body.replace(late.body.find(alloc + meet), alloc.size() + meet.size(), alloc + "bar.sync 0;\n");
  EXPECT_EQ(late.answer(),
            "unknown: tcgen05.mma of thread 0 of rank 0 accesses columns of Tensor Memory of rank 1, and "
            "tcgen05.alloc of that block is not ordered before: the ISA does not say that one warp's is that "
            "of both blocks");
}

TEST(Pairs, FreeTogetherBehindTheAccessesOfBoth) {
  Pair p;
  p.last = "bar.sync 0;\n";  // of each block alone
  EXPECT_EQ(p.answer(),
            "race: warp 0 of rank 0 deallocates columns of Tensor Memory that tcgen05.ld of warp 0 of rank 1 "
            "accesses: no tcgen05.wait and barrier are between");
  p = {};  // dealloc may block, as in the example of a hang in 9.7.16.5
  p.last = meet + "setp.eq.u32 %p8, %r30, 0; @%p8 bra $h;\n" +
           "@%p1 bra $g; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32;\n$g:\n" + meet +
           "bra $y;\n$h:\n" + meet;
  p.frees = dealloc + "$y:\n";
  EXPECT_EQ(p.kind(), "never released");
  p = {};
  p.frees =
      "@%p1 bra $z; shl.b32 %r33, %r30, 5; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r33, 32;\n$z:\n";
  EXPECT_EQ(p.answer(), "misuse: tcgen05.dealloc of 0x20, where no allocation begins");
}

TEST(Pairs, GiveUpTheRightToAllocateTogether) {
  std::string const relinquish = "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n";
  Pair p;
  p.allocates.insert(p.allocates.find("$a:"), relinquish);
  EXPECT_EQ(p.answer(), "proved");
  p.allocates.insert(p.allocates.find("$a:"),
                     "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6+4], 32;\n");
  EXPECT_EQ(p.answer(), "misuse: tcgen05.alloc is behind tcgen05.relinquish_alloc_permit of its block");
}

TEST(Pairs, WaitForTheProductInBothBlocks) {
  Pair p;
  p.mask = 1;
  EXPECT_EQ(p.kind(), "never released");
  p = {};
  p.wait = "setp.ne.u32 %p8, %r30, 0; @%p8 bra $n;\n" + p.wait + "$n:\n";
  EXPECT_EQ(
      p.answer().substr(0, 95),
      "race: tcgen05.ld of warp 0 of rank 1 reads lane 0, column 0 of Tensor Memory, which tcgen05.mma");
  p = {};
  p.product = mma + mma + mma + commit;  // of one accumulator
  EXPECT_EQ(p.answer(), "proved");
}

TEST(Pairs, LastUntilTheLastInstructionOfThePair) {
  // Rank 0 commits to itself once more, and its peer waits for nothing.
  Pair p;
  p.frees +=
      "or.b32 %r33, %r30, %r1; setp.ne.u32 %p6, %r33, 0; @%p6 bra $e;\n"
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n$e:\n";
  EXPECT_EQ(p.answer(),
            "block lifetime: thread 0 of rank 0 issues an instruction of its pair with rank 1, which may "
            "have ended: no thread "
            "of that block waits for this instruction before its end");
}

TEST(Pairs, LeaveOutLanesOfBothBlocks) {
  Pair p;
  p.product =
      "tcgen05.mma.cta_group::2.kind::f16 [%r10], %rd8, %rd9, %r23, {%r34, %r34, %r34, %r34, %r34, %r34, "
      "%r34, %r34}, %p7;\n" +
      commit;
  p.behind_alloc = "mov.u32 %r34, 0;\n";
  EXPECT_EQ(p.answer(), "proved");
  p.product =
      "tcgen05.mma.cta_group::2.kind::f16 [%r10], %rd8, %rd9, %r23, {%r34, %r34, %r34, %r34, %r35, %r34, "
      "%r34, %r34}, %p7;\n" +
      commit;
  p.behind_alloc += "mov.u32 %r35, 4;\n";  // lane 2 of the odd block
  EXPECT_EQ(p.answer(),
            "uninitialised: tcgen05.ld of warp 0 of rank 1 reads lane 2, column 0 of Tensor Memory, which "
            "nothing has written since tcgen05.alloc");
  p.product.insert(0, mma);  // it has the lane of the product before
  EXPECT_EQ(p.answer(), "proved");
  EXPECT_TRUE(assumes(p.kernel(), "the first four numbers of the lanes"));
  p.product =
      "tcgen05.mma.cta_group::2.kind::f16 [%r10], %rd8, %rd9, %r23, {%r34, %r34, %r34, %r34}, %p7;\n" +
      commit;
  EXPECT_EQ(p.answer(), "unknown: the lanes that are not written are no 8 numbers");
}

TEST(Pairs, RefuseWhatTheIsaDoesNotSpecify) {
  Pair p;
  p.product =
      "add.u32 %r33, %r10, 16; tcgen05.mma.cta_group::2.kind::f16 [%r10], [%r33], %rd9, %r23, %p7;\n" +
      commit;
  EXPECT_EQ(
      p.answer(),
      "unknown: A of 128 rows in the Tensor Memory of a pair of blocks: the ISA does not say in which lanes");
  p.product =
      "mov.u32 %r23, 0x08840000;\n"
      "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale [%r10], %rd8, %rd9, %r23, [%r10], [%r10], %p7;\n" +
      commit;
  EXPECT_EQ(p.answer(),
            "unknown: block scales of a pair and 128 rows: the ISA does not say which block has which scale "
            "factors");
}

/// D of 256 x 16. Block r has 8 rows of B in shared memory, rows 8 r to 8 r + 7 behind the first 16 or 256 of `a`; `rows` more before them. Each
/// thread puts `stored` into its lane of Tensor Memory, and stores its row of D.
struct LargePair {
  std::string stored, product, type;
  unsigned instruction = 0, rows_of_a = 256;
  std::vector<std::string> expect{};

  [[nodiscard]] Case kernel() const {
    std::string body =
        "mov.u32 %r30, %cluster_ctarank; shr.u32 %r5, %r1, 5; setp.ne.u32 %p1, %r5, 0; setp.ne.u32 %p2, %r1, "
        "0; add.u32 %r6, %r2, 3968; add.u32 %r9, %r2, 3976; mad.lo.u32 %r29, %r30, 128, %r1;\n"
        "setp.ne.u32 %p7, 0, 0; @%p2 bra $i; mbarrier.init.shared::cta.b64 [%r9], 1;\n$i:\n" +
        meet + alloc;
    // Thread t copies row t of 16: 8 of A, where it is in shared memory, and 8 of B, each 32 bytes.
    body += fmt::format(
        "setp.lt.u32 %p3, %r1, 16; setp.lt.u32 %p4, %r1, 8; mad.lo.u32 %r31, %r30, 8, %r1; add.u32 %r32, "
        "%r31, "
        "{}; selp.u32 %r31, %r31, %r32, %p4; mul.wide.u32 %rd6, %r31, 32; add.u64 %rd7, %rd2, %rd6;\n"
        "shr.u32 %r12, %r1, 3; shl.b32 %r12, %r12, 8; and.b32 %r13, %r1, 7; shl.b32 %r13, %r13, 4; add.u32 "
        "%r12, %r12, %r13; add.u32 %r12, %r12, %r2;\n"
        "@!%p3 bra $c; ld.global.v4.b32 {{%r14, %r15, %r16, %r17}}, [%rd7]; ld.global.v4.b32 {{%r18, %r19, "
        "%r20, %r21}}, [%rd7+16];\nst.shared.v4.b32 [%r12], {{%r14, %r15, %r16, %r17}}; st.shared.v4.b32 "
        "[%r12+128], {{%r18, %r19, %r20, %r21}};\n$c: fence.proxy.async;\n",
        rows_of_a - 8);
    body +=
        meet + "ld.shared.b32 %r10, [%r6]; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7;\n" + stored +
        "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;\n" + meet +
        "and.b32 %r22, %r2, 0x3ffff; shr.u32 %r22, %r22, 4; cvt.u64.u32 %rd8, %r22; or.b64 %rd8, %rd8, "
        "0x0000400000080000; add.u64 %rd9, %rd8, 16; mov.b16 %h1, 3;\n" +
        fmt::format("mov.u32 %r23, {}; or.b32 %r33, %r30, %r1; setp.ne.u32 %p6, %r33, 0; @%p6 bra $m;\n",
                    instruction) +
        "tcgen05.fence::after_thread_sync;\n" + product + commit +
        "$m: bar.warp.sync -1;\n$w: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9], 0; @!%p5 bra $w; "
        "tcgen05.fence::after_thread_sync;\nmul.wide.u32 %rd6, %r29, 64; add.u64 %rd7, %rd1, %rd6;\n";
    for (unsigned n = 0; n < 16; n += 8)
      body += fmt::format(
          "tcgen05.ld.sync.aligned.32x32b.x8.b32 {{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}}, [%r11+{}]; "
          "tcgen05.wait::ld.sync.aligned; st.global.v4.f32 [%rd7+{}], {{%f0, %f1, %f2, %f3}}; "
          "st.global.v4.f32 "
          "[%rd7+{}], {{%f4, %f5, %f6, %f7}};\n",
          n, 4 * n, 4 * n + 16);
    Case c{body + meet + dealloc, "f32[256][16]", type};
    c.expect = expect;
    c.threads = 128, c.grid = c.cluster = 2;
    return c;
  }
};

// PTX ISA 9.1, 9.7.16.10.4.2, 9.7.16.10.5.1: layout A, row m in lane m % 128 of block m/128.
TEST(Pairs, HaveAOf256RowsInTensorMemory) {
  LargePair p;
  p.stored =
      "mul.wide.u32 %rd6, %r29, 32; add.u64 %rd7, %rd2, %rd6; ld.global.v4.b32 {%r14, %r15, %r16, %r17}, "
      "[%rd7]; "
      "ld.global.v4.b32 {%r18, %r19, %r20, %r21}, [%rd7+16];\n"
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r11+16], {%r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21};\n";
  p.product = "add.u32 %r33, %r10, 16; tcgen05.mma.cta_group::2.kind::f16 [%r10], [%r33], %rd9, %r23, %p7;\n";
  p.type = "f16[272][16]", p.instruction = 16U << 24 | 2U << 17 | 1U << 4;
  p.expect = {"c[m][n] = sum(k) a[m][k]*a[256+n][k] for m in 0..255 for n in 0..15 for k in 0..15"};
  EXPECT_EQ(p.kernel().answer(), "proved");
  LargePair q = p;
  q.stored.replace(q.stored.find("%r29, 32"), 8, "%r1, 32");  // both blocks have the first rows
  EXPECT_EQ(q.kernel().answer(), "wrong element");
  q = p;
  q.product.replace(q.product.find("%r10, 16"), 8, "%r10, 20");
  EXPECT_EQ(q.kernel().kind(), "uninitialised");
  q = p;
  q.product.replace(q.product.find("%r10, 16"), 8, "%r10, 8");
  EXPECT_EQ(q.kernel().answer(),
            "unknown: A and D overlap in Tensor Memory: the ISA does not say that A is read before D is "
            "written");
}

// PTX ISA 9.1, 9.7.16.10.7: a scale factor is 2^(byte - 127), that of row m in column m % 128 / 32.
TEST(Pairs, HaveBlockScales) {
  LargePair p;
  p.stored =
      "add.u32 %r14, %r30, 127; add.u32 %r15, %r14, 1; add.u32 %r16, %r14, 2; add.u32 %r17, %r14, 3; mov.u32 "
      "%r18, 128;\ntcgen05.st.sync.aligned.32x32b.x4.b32 [%r11+16], {%r14, %r15, %r16, %r17}; "
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11+20], {%r18};\n";
  p.product =
      "add.u32 %r33, %r10, 16; add.u32 %r34, %r10, 20; "
      "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X [%r10], %rd8, %rd9, %r23, [%r33], "
      "[%r34], %p7;\n";
  p.type = "e4m3[32][32]", p.instruction = 2U << 27 | 2U << 17 | 1U << 23, p.rows_of_a = 16;
  for (unsigned block = 0; block < 2; ++block)
    for (unsigned j = 0; j < 4; ++j)
      p.expect.push_back(fmt::format(
          "c[{} + 8*g + m][n] = sum(k) {}*a[{} + m][k]*a[16+n][k] for g in 0..3 for m in 0..7 for n in 0..15 "
          "for k in 0..31",
          128 * block + 32 * j, 2U << (block + j), 8 * block));
  EXPECT_EQ(p.kernel().answer(), "proved");
  EXPECT_TRUE(assumes(p.kernel(), "tcgen05.mma of a pair has the scale factors of the rows of A"));
  LargePair q = p;
  q.stored.replace(q.stored.find("%r18, 128"), 9, "%r18, 128; add.u32 %r18, %r18, %r30");
  EXPECT_EQ(q.kernel().answer(),
            "unknown: the blocks of a pair may have different scale factors of column 0 of B: not executed");
  q = p;
  q.stored.insert(0, "@%p1 bra $x;\n"), q.stored += "$x:\n";
  EXPECT_EQ(q.kernel().kind(), "uninitialised");  // lanes 32 to 127 need them, too
  q = p;
  q.stored.replace(q.stored.find("%r30, 127"), 9, "%r30, 127; add.u32 %r14, %r14, %r5");
  EXPECT_EQ(q.kernel().kind(), "misuse");
  q = p;
  q.instruction |= 1U << 4;  // the second byte of the words of B
  EXPECT_EQ(q.kernel().answer(), "wrong element");
}

/// The same of one block: D of 128 x 64 by tcgen05.mma.ws. 16 columns are stored.
Case weight_stationary(std::string const& product, unsigned instruction = 8U << 24 | 8U << 17 | 1U << 4) {
  LargePair p;
  p.stored = "mov.u32 %r14, 0; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11+100], {%r14};\n";
  p.product = product, p.type = "f16[16][16]", p.instruction = instruction, p.rows_of_a = 8;
  p.expect = {
      "c[8*g + m][8*h + n] = sum(k) a[m][k]*a[8+n][k] for g in 0..15 for h in 0..1 for m in 0..7 for n in "
      "0..7 for k in 0..15"};
  Case c = p.kernel();
  auto const replace = [&](std::string const& from, std::string const& to) {
    for (std::size_t at = 0; (at = c.body.find(from, at)) != std::string::npos; at += to.size())
      c.body.replace(at, from.size(), to);
  };
  replace("cta_group::2", "cta_group::1"), replace("mov.b16 %h1, 3", "mov.b16 %h1, 1");
  replace("[%r6], 32", "[%r6], 128"), replace("%r10, 32", "%r10, 128");
  c.grid = c.cluster = 1;
  return c;
}

// PTX ISA 9.1, 9.7.16.10.9.3; 128 rows have layout D with and without .ws (9.7.16.10.5).
TEST(Tcgen05, HasWeightStationaryProducts) {
  std::string const mma_ws = "tcgen05.mma.ws.cta_group::1.kind::f16 [%r10], %rd8, %rd9, %r23, %p7;\n";
  EXPECT_EQ(weight_stationary(mma_ws).answer(), "proved");
  std::string const of_collector =
      "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::fill [%r10], %rd8, %rd9, %r23, %p7, %rd14;\n";
  EXPECT_EQ(weight_stationary("mov.u64 %rd14, 0;\n" + of_collector).answer(), "proved");
  EXPECT_EQ(weight_stationary("mov.u64 %rd14, 0x8000000000;\n" + of_collector).answer(),
            "unknown: tcgen05.mma.ws with columns of B that are zero or shifted is not executed");
  EXPECT_EQ(weight_stationary("mov.u64 %rd14, 0x0100000000000000;\n" + of_collector).answer(),
            "unknown: tcgen05.mma.ws with columns of B that are zero or shifted is not executed");
  EXPECT_EQ(weight_stationary("tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::use [%r10], %rd8, %rd9, "
                              "%r23, %p7;\n")
                .answer(),
            "unknown: tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::use: B of a collector is not "
            "executed");
  EXPECT_EQ(weight_stationary(mma_ws, 8U << 24 | 8U << 17 | 1U << 4 | 1U << 30).answer(),
            "unknown: tcgen05.mma.ws with a maximum shift of B is not executed");
  EXPECT_EQ(weight_stationary(mma_ws, 8U << 24 | 4U << 17 | 1U << 4).kind(), "misuse");  // N is 32
  Case c = weight_stationary(mma_ws);
  std::size_t const at = c.body.find("tcgen05.commit");
  c.body.erase(at, c.body.find(";\n", at) + 2 - at);
  EXPECT_EQ(c.kind(), "never released");
}

// PTX ISA 9.1, 9.7.16.10.5: layouts E and G. The 64 columns of B differ; each lane stores its first 16 columns of D.
TEST(Tcgen05, FoldsColumnsOfWeightStationaryProducts) {
  auto const product = [](unsigned rows, std::string const& operands) {
    Case c = weight_stationary("add.u32 %r34, %r10, 0x100000;\ntcgen05.mma.ws.cta_group::1.kind::f16 " +
                                   operands + ", %rd9, %r23, %p7;\n",
                               rows / 16 << 24 | 8U << 17 | 1U << 4);
    auto const replace = [&](std::string const& from, std::string const& to) {
      c.body.replace(c.body.find(from), from.size(), to);
    };
    replace("setp.lt.u32 %p3, %r1, 16", "setp.lt.u32 %p3, %r1, 72");  // 8 rows of A and 64 of B
    replace("add.u64 %rd9, %rd8, 16;", "add.u64 %rd9, %rd8, 0x1000000010;");
    c.a = "f16[72][16]";
    unsigned const parts = 128 / rows;
    c.expect = {
        fmt::format("c[{}*h + 8*g + m][n] = sum(k) a[m][k]*a[8 + {}*h + n][k] for h in 0..{} for g in 0..{} "
                    "for m in 0..7 for n in 0..15 for k in 0..15",
                    rows, 64 / parts, parts - 1, rows / 8 - 1)};
    return c;
  };
  for (unsigned const rows : {32U, 64U, 128U})
    EXPECT_EQ(product(rows, "[%r10], %rd8").answer(), "proved") << rows;
  for (unsigned const rows : {32U, 64U})
    EXPECT_EQ(
        product(rows, "[%r34], %rd8").answer(),
        fmt::format("misaligned: D of {} rows is at lane 16 of Tensor Memory, and has to be at 0", rows));
  EXPECT_EQ(product(64, "[%r10], [%r10]").answer(),
            "unknown: A of 64 rows in Tensor Memory, of tcgen05.mma.ws: the ISA does not say in which lanes");
}

TEST(Pairs, CopyAndShiftInBothBlocks) {
  // 128 rows of 16 bytes: row r of a block is elements 4 r to 4 r + 3 of its half of a.
  std::string const body =
      "mov.u32 %r30, %cluster_ctarank; shr.u32 %r5, %r1, 5; setp.ne.u32 %p1, %r5, 0; setp.ne.u32 %p2, %r1, "
      "0; add.u32 %r6, %r2, 3968; add.u32 %r9, "
      "%r2, 3976;\n@%p2 bra $i; mbarrier.init.shared::cta.b64 [%r9], 1; mbarrier.init.shared::cta.b64 "
      "[%r9+8], 1;\n$i:\n" +
      meet + alloc +
      "mad.lo.u32 %r31, %r30, 128, %r1; mul.wide.u32 %rd6, %r31, 16; add.u64 %rd7, %rd2, %rd6; "
      "ld.global.v4.b32 {%r14, %r15, %r16, %r17}, [%rd7];\n"
      "shl.b32 %r12, %r1, 4; add.u32 %r12, %r12, %r2; st.shared.v4.b32 [%r12], {%r14, %r15, %r16, %r17}; "
      "fence.proxy.async;\n" +
      meet +
      "ld.shared.b32 %r10, [%r6]; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7; and.b32 %r22, %r2, 0x3ffff; "
      "shr.u32 %r22, %r22, 4; cvt.u64.u32 %rd8, "
      "%r22; or.b64 %rd8, %rd8, 0x0000400800080000; or.b32 %r33, %r30, %r1; setp.ne.u32 %p6, %r33, 0; "
      "mov.b16 %h1, 3; @%p6 bra $m;\n"
      "tcgen05.cp.cta_group::2.128x128b [%r10], %rd8;\n" +
      commit +
      "$m: bar.warp.sync -1;\n$w: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9], 0; @!%p5 bra $w; "
      "tcgen05.fence::after_thread_sync;\n"
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%f0}, [%r11]; tcgen05.wait::ld.sync.aligned;\nmul.wide.u32 "
      "%rd6, %r31, 4; add.u64 %rd7, %rd1, %rd6; "
      "st.global.f32 [%rd7], %f0;\n" +
      meet + dealloc;
  Case c{body, "f32[256]", "f32[256][4]"};
  c.expect = {"c[i] = a[i][0]"};
  c.threads = 128, c.grid = c.cluster = 2;
  EXPECT_EQ(c.answer(), "proved");
  EXPECT_TRUE(assumes(c, "tcgen05.cp of a pair copies from the shared memory of each block"));
  std::string const copy = "tcgen05.cp.cta_group::2.128x128b [%r10], %rd8;\n";
  c.body.insert(c.body.find(copy) + copy.size(),
                "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r9+8];\n"
                "$v: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9+8], 0; @!%p5 bra $v;\n"
                "tcgen05.shift.cta_group::2.down [%r10];\n");
  // 8 columns are shifted, and 4 are copied: nothing has written the others.
  c.expect = {"c[128*r] = a[128*r][0] for r in 0..1",
              "c[128*r + i + 1] = a[128*r + i][0] for r in 0..1 for i in 0..30",
              "c[128*r + i] = a[128*r + i][0] for r in 0..1 for i in 32..127"};
  EXPECT_EQ(c.answer(), "proved");
}

}  // namespace
}  // namespace swizproof
