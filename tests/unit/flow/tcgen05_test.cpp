// Tensor Memory: columns, lanes, registers, products, and what orders them.
#include "kernel_case.hpp"

#include <swizproof/hardware/mma_descriptor.hpp>

#include <gtest/gtest.h>

#include <string>

namespace swizproof {

namespace {

/// A kernel of 128 threads that allocates 32 columns, executes a text, and frees them. %r10 is the address, %r11 that of the warp's lanes.
Case with_columns(std::string const& body, std::string const& expect = "c[i] = a[i]",
                  std::string const& behind = "bar.sync 0;\n") {
  Case c{
      "shr.u32 %r5, %r1, 5; setp.ne.u32 %p1, %r5, 0; add.u32 %r6, %r2, 2048;\n"
      "@%p1 bra $a; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 32;\n$a: bar.sync 0;\n"
      "ld.shared.b32 %r10, [%r6]; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7;\n" +
          body + behind + "@%p1 bra $z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\n$z:",
      "f32[128]", "f32[128]"};
  c.expect = {expect}, c.threads = 128;
  return c;
}

std::string const out = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%f1};\n",
                  stored = "tcgen05.wait::st.sync.aligned;\n",
                  back = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%f2}, [%r11];\n",
                  loaded = "tcgen05.wait::ld.sync.aligned;\n";

}  // namespace

TEST(Tcgen05, MovesThroughItsLanes) {
  EXPECT_EQ(with_columns(load + out + stored + back + loaded + store).answer(), "proved");
  // By .16x64b thread t has lane t/4 + 8 (t % 2), column t/2 % 2. Back by .32x32b: lane l, column 0 has thread 4 (l % 8) + l/8.
  std::string const half =
      "tcgen05.st.sync.aligned.16x64b.x1.b32 [%r11], {%f1};\nadd.u32 %r12, %r11, 0x100000;\n"
      "tcgen05.st.sync.aligned.16x64b.x1.b32 [%r12], {%f1};\n";
  EXPECT_EQ(with_columns(load + half + stored + back + loaded + store,
                         "c[32*w + 16*h + 8*j + i] = a[32*w + 4*i + j] for w in 0..3 for h in 0..1 for j in "
                         "0..1 for i in 0..7")
                .answer(),
            "proved");
}

TEST(Tcgen05, ReachesTheLanesOfItsWarp) {
  EXPECT_EQ(
      with_columns("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%f1};\n").answer(),
      "out of bounds: warp 1 accesses lanes 0 to 31 of Tensor Memory, and reaches lanes 32 to 63 alone");
  EXPECT_EQ(
      with_columns("add.u32 %r12, %r11, %r1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%f1};\n").kind(),
      "misuse");
}

TEST(Tcgen05, HasColumnsWhileTheyAreAllocated) {
  auto const at = [](std::string const& text, std::string const& by) {
    Case c = with_columns(load + out + stored + back + loaded + store);
    c.body.replace(c.body.find(text), text.size(), by);
    return c.answer();
  };
  EXPECT_EQ(at("[%r6], 32;", "[%r6], 33;"),
            "misuse: tcgen05.alloc of 33 columns: it allocates 32, 64, 128, 256 or 512");
  EXPECT_EQ(at("%r10, 32;", "%r10, 64;"),
            "misuse: tcgen05.dealloc of 64 columns, and tcgen05.alloc has allocated 32");
  EXPECT_EQ(at("%r10, 32;", "%r5, 32; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;"),
            "misuse: tcgen05.dealloc of 0x0, where no allocation begins");
  EXPECT_EQ(
      at("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;", ""),
      "misuse: the block ends, and 32 columns of Tensor Memory are allocated: tcgen05.dealloc is missing");
  EXPECT_EQ(at("[%r6], 32;",
               "[%r6], 32; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; "
               "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 32;"),
            "misuse: tcgen05.alloc is behind tcgen05.relinquish_alloc_permit of its block");
  EXPECT_EQ(
      at("[%r6], 32;", "[%r6], 32; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6+4], 64;"),
      "misuse: tcgen05.alloc of 64 columns, behind one of 32: the number shall not increase");
  EXPECT_EQ(
      with_columns("add.u32 %r12, %r11, 32; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%f1};\n").kind(),
      "out of bounds");
  EXPECT_EQ(with_columns(back).kind(), "uninitialised");
  EXPECT_EQ(with_columns("@!%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\nbar.sync 0;\n" +
                         load + out)
                .answer(),
            "misuse: tcgen05.st of warp 0 accesses column 0 of Tensor Memory behind tcgen05.dealloc");
}

TEST(Tcgen05, AllocatesBeforeItGivesUpTheRight) {
  std::string const relinquish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n",
                    moves = load + out + stored + back + loaded + store;
  EXPECT_EQ(with_columns(relinquish + moves).answer(), "proved");  // of all warps, behind a barrier
  Case c = with_columns(moves);
  // Warp 1 gives it up, and warp 0 allocates, in no order.
  c.body.replace(c.body.find("$a: "), 4,
                 "bra $b;\n$a: setp.ne.u32 %p2, %r5, 1; @%p2 bra $b; " + relinquish + "$b: ");
  EXPECT_EQ(c.answer(),
            "misuse: tcgen05.relinquish_alloc_permit is not ordered behind tcgen05.alloc of its block");
}

TEST(Tcgen05, NamesASecondWarpThatAllocates) {
  Case c = with_columns(load + out + stored + back + loaded + store);
  auto const names_it = [](Case const& of) {
    FlowReport const report = of.report();
    EXPECT_EQ(report.verdict, FlowVerdict::proved);
    return std::any_of(report.assumed.begin(), report.assumed.end(), [](std::string const& s) {
      return s.starts_with("more than one warp allocates and deallocates");
    });
  };
  EXPECT_FALSE(names_it(c));
  c.body.replace(c.body.rfind("@%p1 bra $z"), 11, "setp.ne.u32 %p1, %r5, 1; @%p1 bra $z");
  EXPECT_TRUE(names_it(c));
}

TEST(Tcgen05, WaitsForStoresAndLoads) {
  EXPECT_EQ(with_columns(load + out + back + loaded + store).answer(),
            "race: tcgen05.ld of warp 0 reads lane 0, column 0 of Tensor Memory, which tcgen05.st of warp 0 "
            "writes: no tcgen05.wait is "
            "between them");
  EXPECT_EQ(with_columns(load + out + stored + back + store).answer(),
            "race: warp 0 deallocates columns of Tensor Memory that tcgen05.ld of warp 0 accesses: no "
            "tcgen05.wait and barrier are between");
  EXPECT_EQ(with_columns(load + out + stored + back + loaded + store, "c[i] = a[i]", "").answer(),
            "misuse: tcgen05.st of warp 1 accesses column 0 of Tensor Memory behind tcgen05.dealloc");
  EXPECT_EQ(with_columns(load + out + stored + back + "mov.f32 %f2, %f1;\n" + loaded + store).answer(),
            "race: warp 0 writes %f2, which tcgen05.ld writes, and has not waited for it");
  EXPECT_EQ(with_columns(load + out + stored + back + stored + "mov.f32 %f2, %f1;\n" + loaded + store).kind(),
            "race");
  // So is a further load of it; but a register that its lanes have read may be written.
  EXPECT_EQ(with_columns(load + out + stored + back + back + loaded + store).answer(),
            "race: warp 0 writes %f2, which tcgen05.ld writes, and has not waited for it");
  EXPECT_EQ(with_columns(load + out + stored + back + loaded + back + loaded + store).answer(), "proved");
  std::string const read_it = "mov.f32 %f3, %f2;\n";
  EXPECT_EQ(with_columns(load + out + stored + back + read_it + back + loaded + store).answer(), "proved");
  EXPECT_EQ(with_columns(load + out + stored + back + "mov.b32 %f2, %f2;\n" + loaded + store).answer(),
            "proved");
  EXPECT_EQ(
      with_columns(load + out + stored + back + read_it + "mov.f32 %f2, %f3;\n" + loaded + store).answer(),
      "proved");
  EXPECT_EQ(with_columns("setp.ne.u32 %p2, %r1, 5;\n" + load + out + stored + back + "@%p2 " + read_it +
                         "mov.f32 %f2, %f1;\n" + loaded + store)
                .kind(),
            "race");
  EXPECT_EQ(with_columns("setp.ne.u32 %p2, %r1, 5;\n" + load + out + stored + back + "@%p2 " + read_it +
                         "@%p2 mov.f32 %f2, %f3;\n" + loaded + store)
                .answer(),
            "proved");
  // A barrier that counts writes its result; another one reads its first register.
  std::string const number = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r11];\n";
  auto const kind_with = [&](std::string const& barrier) {
    return with_columns(load + out + stored + number + barrier + loaded + store).kind();
  };
  EXPECT_EQ(kind_with("bar.red.popc.u32 %r20, 0, %p1;\n"), "race");
  EXPECT_NE(kind_with("bar.sync %r20;\n"), "race");
  // A register that is read follows the load [9.7.16.6.4.5]; the answer says so.
  FlowReport const read = with_columns(load + out + stored + back + store + loaded).report();
  EXPECT_EQ(read.verdict, FlowVerdict::proved);
  EXPECT_TRUE(std::any_of(read.assumed.begin(), read.assumed.end(), [](std::string const& s) {
    return s.starts_with("registers of tcgen05.ld are used before");
  }));
}

TEST(Tcgen05, OrdersWarpsByFences) {
  // Two warpgroups share the lanes: warp 4 reads what warp 0 writes.
  auto const two = [](std::string const& between, std::string const& behind_store = stored) {
    Case c = with_columns(
        "setp.gt.u32 %p2, %r5, 3; and.b32 %r5, %r5, 3; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7;\n@%p2 "
        "bra $1;\n" +
            load + out + behind_store + "$1: " + between + "@!%p2 bra $2;\n" + back + loaded + store + "$2: ",
        "c[i] = a[i - 128] for i in 128..255");
    c.a = "f32[256]", c.c = "f32[256]", c.threads = 256;
    return c;
  };
  std::string const before = "tcgen05.fence::before_thread_sync;\n", barrier = "bar.sync 0;\n",
                    after = "tcgen05.fence::after_thread_sync;\n";
  EXPECT_EQ(two(before + barrier + after).answer(), "proved");
  EXPECT_EQ(two(before + after).kind(), "race");
  EXPECT_EQ(two(before + barrier + after, "").kind(), "race");
  FlowReport const acquired = two(barrier).report();
  EXPECT_EQ(acquired.verdict, FlowVerdict::proved);
  EXPECT_TRUE(std::any_of(acquired.assumed.begin(), acquired.assumed.end(), [](std::string const& s) {
    return s.starts_with("an acquire or a barrier orders tcgen05");
  }));
}

// Warps 0 to 3 store, 4 to 7 read another column, 8 to 11 what is stored. The first wait is relaxed: its fence orders the load in between.
TEST(Tcgen05, IsOrderedByAnInstructionBetween) {
  auto const kind = [](std::string const& fence, std::string const& between, std::string const& arrival) {
    Case c = with_columns(
        "setp.ne.u32 %p6, %r1, 0; add.u32 %r9, %r2, 2056; @%p6 bra $i;\n"
        "mbarrier.init.shared::cta.b64 [%r9], 128; mbarrier.init.shared::cta.b64 [%r9+8], 128;\n$i:\n"
        "shr.u32 %r8, %r5, 2; setp.ne.u32 %p2, %r8, 0; setp.ne.u32 %p3, %r8, 1; setp.ne.u32 %p4, %r8, 2;\n"
        "and.b32 %r5, %r5, 3; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7;\n" +
            load + "@%p2 bra $0; tcgen05.st.sync.aligned.32x32b.x2.b32 [%r11], {%f1, %f1};\n" + stored +
            "$0: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n"
            "@%p2 bra $1;\n" +
            out + stored +
            "tcgen05.fence::before_thread_sync; mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r9];\n"
            "$1: @%p3 bra $3;\n"
            "$2: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p5, [%r9], 0; @!%p5 bra $2;\n" +
            fence + between + "mbarrier.arrive" + arrival +
            ".shared::cta.b64 _, [%r9+8];\n$3: @%p4 bra $5;\n"
            "$4: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9+8], 0; @!%p5 bra $4;\n" +
            back + loaded + store + "$5:\n",
        "c[i] = a[i - 256] for i in 256..383");
    c.a = c.c = "f32[384]", c.threads = 384;
    return c.kind();
  };
  std::string const after = "tcgen05.fence::after_thread_sync;\n",
                    read = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%f2}, [%r11+1];\n";
  EXPECT_EQ(kind(after, read + loaded, ""), "proved");
  EXPECT_EQ(kind(after, "", ""), "missing fence");
  EXPECT_EQ(kind("", "", ""), "missing fence");
  EXPECT_EQ(kind(after, read, ""), "race") << "the load is not complete";
  EXPECT_EQ(kind(after, read + loaded, ".relaxed.cta"), "missing fence");
}

TEST(Tcgen05, NamesARelaxedArrivalWithoutAFence) {
  // Warps 4 to 7 wait, relaxed, for warps 0 to 3, which store.
  auto const assumes = [](std::string const& before_arrival, std::string const& arrival) {
    Case c = with_columns(
        "setp.ne.u32 %p6, %r1, 0; add.u32 %r9, %r2, 2056; @%p6 bra $i; mbarrier.init.shared::cta.b64 [%r9], "
        "128;\n$i: bar.sync 0;\n"
        "setp.gt.u32 %p2, %r5, 3; and.b32 %r5, %r5, 3; shl.b32 %r7, %r5, 21; add.u32 %r11, %r10, %r7;\n"
        "@%p2 bra $1;\n" +
            load + out + stored + before_arrival + "mbarrier.arrive" + arrival +
            ".shared::cta.b64 %rd9, [%r9]; bra $2;\n"
            "$1: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p5, [%r9], 0; @!%p5 bra $1;\n"
            "tcgen05.fence::after_thread_sync;\n" +
            back + loaded + store + "$2: ",
        "c[i] = a[i - 128] for i in 128..255");
    c.a = "f32[256]", c.c = "f32[256]", c.threads = 256;
    FlowReport const report = c.report();
    EXPECT_EQ(report.verdict, FlowVerdict::proved);
    return std::any_of(report.assumed.begin(), report.assumed.end(), [](std::string const& s) {
      return s.starts_with("a relaxed arrival orders tcgen05 without tcgen05.fence::before_thread_sync");
    });
  };
  std::string const before = "tcgen05.fence::before_thread_sync;\n", relaxed = ".relaxed.cta";
  EXPECT_TRUE(assumes("", relaxed));
  EXPECT_FALSE(assumes(before, relaxed));
}

TEST(Tcgen05, RefusesByName) {
  for (std::string const op :
       {"tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%f1}, [%r11];",
        "tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 [%r11], %rd1;",
        "tcgen05.cp.cta_group::1.64x128b [%r11], %rd1;",
        "tcgen05.mma.cta_group::1.kind::f16.ashift [%r10], [%r10], %rd2, %r5, %p1;",
        "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%r10], %rd1, %rd2, [%r10], %r5, %p1;",
        "tcgen05.mma.sp.cta_group::1.kind::f16 [%r10], %rd1, %rd2, [%r10], %r5, %p1;"}) {
    std::string const name = op.substr(0, op.find(' '));
    EXPECT_EQ(with_columns(op).answer(), "unknown: " + name + " is not executed");
  }
}

namespace {

/// D of `rows` rows and 8 columns: products of A, `rows` x k elements without swizzle in the tile (or in Tensor Memory), and of B, 8 x k behind it.
/// A is K-major without swizzle: 8 rows of 16 bytes, the next 16 bytes of k 128 bytes on (LBO), the next 8 rows 256 on (SBO).
struct Product {
  std::string kind, type, result;
  std::uint32_t instruction;
  unsigned rows = 64, k = 16, bytes = 2;
  bool a_in_tensor_memory = false;
  std::string accumulates = "0";

  [[nodiscard]] Case kernel(std::string const& expect) const {
    // Thread t copies row t of A, and of B: 32 bytes each.
    std::string body =
        "shr.u32 %r5, %r1, 5; setp.ne.u32 %p1, %r5, 0; setp.ne.u32 %p2, %r1, 0; add.u32 %r6, %r2, 3968; "
        "add.u32 %r9, %r2, 3976;\n"
        "@%p2 bra $i; mbarrier.init.shared::cta.b64 [%r9], 1; $i:\n"
        "@%p1 bra $a; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 32;\n$a: ";
    body += fmt::format("setp.lt.u32 %p3, %r1, {}; mul.wide.u32 %rd6, %r1, 32; add.u64 %rd7, %rd2, %rd6;\n",
                        rows + 8);
    body +=
        "shr.u32 %r12, %r1, 3; shl.b32 %r12, %r12, 8; and.b32 %r13, %r1, 7; shl.b32 %r13, %r13, 4; add.u32 "
        "%r12, %r12, %r13; "
        "add.u32 %r12, %r12, %r2;\n"
        "@!%p3 bra $c; ld.global.v4.b32 {%r14, %r15, %r16, %r17}, [%rd7]; ld.global.v4.b32 {%r18, %r19, "
        "%r20, %r21}, [%rd7+16];\n"
        "st.shared.v4.b32 [%r12], {%r14, %r15, %r16, %r17}; st.shared.v4.b32 [%r12+128], {%r18, %r19, %r20, "
        "%r21};\n"
        "$c: fence.proxy.async.shared::cta; bar.sync 0;\nld.shared.b32 %r10, [%r6]; shl.b32 %r7, %r5, 21; "
        "add.u32 %r11, %r10, %r7;\n";
    if (a_in_tensor_memory)
      body +=
          "and.b32 %r30, %r1, 15; shr.u32 %r31, %r1, 5; shl.b32 %r31, %r31, 4; add.u32 %r30, %r30, %r31; "
          "mul.wide.u32 %rd6, %r30, 32; "
          "add.u64 %rd7, %rd2, %rd6; ld.global.v4.b32 {%r14, %r15, %r16, %r17}, [%rd7]; ld.global.v4.b32 "
          "{%r18, %r19, %r20, %r21}, [%rd7+16];\n"
          "add.u32 %r12, %r11, 16; tcgen05.st.sync.aligned.32x32b.x8.b32 [%r12], {%r14, %r15, %r16, %r17, "
          "%r18, %r19, %r20, %r21};\n"
          "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
          "tcgen05.fence::after_thread_sync;\n";
    body +=
        "@%p2 bra $m; shr.u32 %r22, %r2, 4; cvt.u64.u32 %rd8, %r22; or.b64 %rd8, %rd8, 0x0000401000080000;\n";
    body += fmt::format(
        "add.u64 %rd9, %rd8, {}; mov.u32 %r23, {}; setp.ne.u32 %p4, {}, 0; add.u32 %r24, %r10, 16;\n",
        rows * 2, instruction, accumulates);
    body += fmt::format("tcgen05.mma.cta_group::1.kind::{} [%r10], {}, %rd9, %r23, %p4;\n", kind,
                        a_in_tensor_memory ? "[%r24]" : "%rd8");
    body +=
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n$m: bar.warp.sync "
        "-1;\n"
        "$w: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p5, [%r9], 0; @!%p5 bra $w; "
        "tcgen05.fence::after_thread_sync;\n";
    if (rows == 128)
      body +=
          "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%r11]; "
          "tcgen05.wait::ld.sync.aligned;\n"
          "mul.wide.u32 %rd6, %r1, 32; add.u64 %rd7, %rd1, %rd6; st.global.v4.f32 [%rd7], {%f0, %f1, %f2, "
          "%f3}; st.global.v4.f32 [%rd7+16], {%f4, %f5, %f6, "
          "%f7};\n";
    else  // lane t/4 + 8 (t % 2), columns 2 r + t/2 % 2
      body +=
          "tcgen05.ld.sync.aligned.16x64b.x4.b32 {%f0, %f1, %f2, %f3}, [%r11]; "
          "tcgen05.wait::ld.sync.aligned;\n"
          "and.b32 %r25, %r1, 31; shr.u32 %r26, %r25, 2; and.b32 %r27, %r1, 1; shl.b32 %r27, %r27, 3; "
          "add.u32 %r26, %r26, %r27; shl.b32 %r28, %r5, 4; "
          "add.u32 %r26, %r26, %r28; shl.b32 %r26, %r26, 3; shr.u32 %r27, %r25, 1; and.b32 %r27, %r27, 1; "
          "add.u32 %r26, %r26, %r27;\n"
          "mul.wide.u32 %rd6, %r26, 4; add.u64 %rd7, %rd1, %rd6; st.global.f32 [%rd7], %f0; st.global.f32 "
          "[%rd7+8], %f1; st.global.f32 [%rd7+16], %f2; "
          "st.global.f32 [%rd7+24], %f3;\n";
    body += "bar.sync 0; @%p1 bra $z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\n$z:";
    Case c{body, fmt::format("{}[{}][8]", result, rows), fmt::format("{}[{}][{}]", type, rows + 8, k)};
    c.expect = {expect}, c.threads = rows == 128 ? 160 : 128;
    return c;
  }
  [[nodiscard]] std::string answer(std::string const& expect = "") const {
    return kernel(expect.empty()
                      ? fmt::format("c[m][n] = sum(k) a[m][k]*a[{} + n][k] for m in 0..{}", rows, rows - 1)
                      : expect)
        .answer();
  }
};

/// An instruction descriptor without types: N is 8.
constexpr std::uint32_t shape_of(unsigned rows) { return 1U << 17 | rows / 16 << 24; }

}  // namespace

TEST(Tcgen05Mma, MultipliesEachKind) {
  std::uint32_t const f32 = 1U << 4, s32 = 2U << 4;
  EXPECT_EQ((Product{"f16", "f16", "f32", shape_of(64) | f32}).answer(), "proved");
  EXPECT_EQ((Product{"f16", "bf16", "f32", shape_of(64) | f32 | 1U << 7 | 1U << 10}).answer(), "proved");
  EXPECT_EQ((Product{"tf32", "f32", "f32", shape_of(64) | f32 | 2U << 7 | 2U << 10, 64, 8, 4}).answer(),
            "proved");
  EXPECT_EQ((Product{"f8f6f4", "e4m3", "f32", shape_of(64) | f32, 64, 32, 1}).answer(), "proved");
  EXPECT_EQ((Product{"i8", "s8", "i32", shape_of(64) | s32 | 1U << 7 | 1U << 10, 64, 32, 1}).answer(),
            "proved");
  EXPECT_EQ((Product{"i8", "u8", "i32", shape_of(64) | s32, 64, 32, 1}).answer(), "proved");
}

TEST(Tcgen05Mma, DoesNotFollowElementsOf4And6Bits) {
  for (std::uint32_t const type : {3U, 4U, 5U})
    EXPECT_EQ((Product{"f8f6f4", "e4m3", "f32", shape_of(64) | 1U << 4 | type << 7, 64, 32, 1})
                  .answer()
                  .substr(0, 7),
              "unknown")
        << type;
  // Their bytes are checked.
  Case c = Product{"f8f6f4", "e4m3", "f32", shape_of(64) | 1U << 4 | 5U << 7, 64, 32, 1}.kernel(
      "c[m][n] = sum(k) a[m][k]*a[64 + n][k] for m in 0..63");
  c.body.erase(c.body.find("fence.proxy.async.shared::cta;"), 30);
  EXPECT_EQ(c.kind(), "missing fence");
}

TEST(Tcgen05Mma, ReadsAInTensorMemory) {
  std::uint32_t const f32 = 1U << 4;
  EXPECT_EQ((Product{"f16", "f16", "f32", shape_of(64) | f32, 64, 16, 2, true}).answer(), "proved");
  EXPECT_EQ((Product{"f8f6f4", "e4m3", "f32", shape_of(64) | f32, 64, 32, 1, true}).answer(), "proved");
  EXPECT_EQ((Product{"tf32", "f32", "f32", shape_of(64) | f32 | 2U << 7 | 2U << 10, 64, 8, 4, true}).answer(),
            "proved");
}

TEST(Tcgen05Mma, DoesNotGuessWhereTheIsaIsSilent) {
  // A is at column `at`, D at columns 0 to 7; and A at another lane than D.
  auto const answer = [](std::string const& stored_at, std::string const& read_at) {
    Case c = Product{"f16", "f16", "f32", shape_of(64) | 1U << 4, 64, 16, 2, true}.kernel(
        "c[m][n] = sum(k) a[m][k]*a[64 + n][k] for m in 0..63");
    for (std::string const to : {"%r12, %r11, 16", "%r24, %r10, 16"})
      c.body.replace(c.body.find(to) + 12, 2, to[2] == '1' ? stored_at : read_at);
    return c.answer();
  };
  std::string const overlap =
      "unknown: A and D overlap in Tensor Memory: the ISA does not say that A is read before D is written";
  EXPECT_EQ(answer("7", "7"), overlap);
  EXPECT_EQ(answer("0", "0"), overlap);
  EXPECT_EQ(answer("8", "8"), "proved");
  EXPECT_EQ(answer("16", "0x100010"),
            "unknown: A is at lane 16 of Tensor Memory, and D at lane 0: the ISA does not say what is read");
}

TEST(Tcgen05Mma, FollowsAProductOfItsShape) {
  // A second product of the same accumulator: in order if it has M, N and K of the first.
  auto const kind = [](std::string const& second) {
    Case c = Product{"f16", "f16", "f32", shape_of(64) | 1U << 4}.kernel(
        "c[m][n] = sum(k) a[m][k]*a[64 + n][k] for m in 0..63");
    c.body.insert(c.body.find("tcgen05.commit"),
                  "tcgen05.mma.cta_group::1.kind::" + second + " [%r10], %rd8, %rd9, %r23, %p4;\n");
    return c.kind();
  };
  EXPECT_EQ(kind("f16"), "proved");
  EXPECT_EQ(kind("f8f6f4"), "race");
}

TEST(Tcgen05Mma, SaysWhatArrivesAtAnMbarrier) {
  Case c = Product{"f16", "f16", "f32", shape_of(64) | 1U << 4}.kernel(
      "c[m][n] = sum(k) a[m][k]*a[64 + n][k] for m in 0..63");
  c.body.insert(c.body.find("tcgen05.commit"),
                "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n");
  FlowReport const r = c.report();
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(
      r.fault->why,
      "not well synchronised: thread 0 may commit before the work that thread 0 has committed is complete "
      "at the mbarrier: which phase it belongs to depends on the order");
}

TEST(Tcgen05Mma, TakesSignsMajorsAndTheAccumulator) {
  std::uint32_t const f32 = 1U << 4;
  EXPECT_EQ((Product{"f16", "f16", "f32", shape_of(64) | f32 | 1U << 13})
                .answer("c[m][n] = -1*sum(k) a[m][k]*a[64 + n][k] for m in 0..63"),
            "proved");
  EXPECT_EQ((Product{"f16", "f16", "f32", shape_of(64) | f32 | 3U << 13}).answer(), "proved");
  EXPECT_EQ((Product{"f16", "f16", "f32", shape_of(64) | f32 | 1U << 15}).answer(), "wrong element");
  EXPECT_EQ((Product{"f16", "f16", "f32", shape_of(64) | f32, 64, 16, 2, false, "1"}).answer().substr(0, 13),
            "uninitialised");
}

TEST(Tcgen05Mma, HasADescriptorOfItsKind) {
  auto const answer = [](std::uint32_t bits) { return Product{"f16", "f16", "f32", bits}.answer(); };
  std::uint32_t const f32 = 1U << 4;
  EXPECT_EQ(answer(shape_of(64) | f32 | 1U << 6),
            "misuse: the instruction descriptor of thread 0: a reserved bit is not 0");
  EXPECT_EQ(answer(shape_of(64) | f32 | 2U << 7),
            "misuse: the instruction descriptor of thread 0: the kind has no such type of A or B");
  EXPECT_EQ(answer(shape_of(64) | 2U << 4),
            "misuse: the instruction descriptor of thread 0: the kind has no such type of D");
  EXPECT_EQ(answer(shape_of(64) | 1U << 7),
            "misuse: the instruction descriptor of thread 0: D of f16 needs A and B of f16");
  EXPECT_EQ(answer(shape_of(32) | f32),
            "misuse: the instruction descriptor of thread 0: M is neither 64 nor 128");
  EXPECT_EQ(answer(f32 | 4U << 24), "misuse: the instruction descriptor of thread 0: the kind has no such N");
  EXPECT_EQ(answer(shape_of(64) | f32 | 1U << 2),
            "unknown: the instruction descriptor has a sparse matrix, which is not executed");
}

namespace {

/// Thread t stores its element four times at byte 16 t of the tile; thread 0 executes `body`, with the tile's descriptor in %rd9 (SBO 128) and an mbarrier in
/// %r9, and commits. Behind its wait each thread loads column `column` of its lane.
Case with_copies(std::string const& body, std::vector<std::string> const& expect,
                 std::string const& column = "0",
                 std::string const& commit =
                     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n",
                 std::string const& fence = "fence.proxy.async.shared::cta;\n") {
  Case c = with_columns(
      "setp.ne.u32 %p2, %r1, 0; add.u32 %r9, %r2, 2056; @%p2 bra $i; mbarrier.init.shared::cta.b64 [%r9], "
      "1; mbarrier.init.shared::cta.b64 [%r9+8], 1;\n$i:\n" +
      load +
      "shl.b32 %r12, %r1, 4; add.u32 %r12, %r12, %r2; st.shared.v4.f32 [%r12], {%f1, %f1, %f1, %f1};\n" +
      fence +
      "bar.sync 0;\n@%p2 bra $c; shr.u32 %r13, %r2, 4; cvt.u64.u32 %rd9, %r13; or.b64 %rd9, %rd9, "
      "0x0000400800010000;\n" +
      body + commit +
      "$c: bar.warp.sync -1;\n$w: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p5, [%r9], 0; "
      "@!%p5 bra $w;\n"
      "tcgen05.fence::after_thread_sync; add.u32 %r11, %r11, " +
      column + ";\n" + back + loaded + store);
  c.expect = expect;
  return c;
}
std::string const copies = "tcgen05.cp.cta_group::1.128x128b [%r10], %rd9;\n";

}  // namespace

TEST(Tcgen05Copy, PutsRowsInLanes) {
  EXPECT_EQ(with_copies(copies, {"c[i] = a[i]"}, "3").answer(), "proved");
  EXPECT_EQ(
      with_copies("tcgen05.cp.cta_group::1.32x128b.warpx4 [%r10], %rd9;\n", {"c[i] = a[i % 32]"}).answer(),
      "proved");
  EXPECT_EQ(
      with_copies("tcgen05.cp.cta_group::1.warpx4.32x128b [%r10], %rd9;\n", {"c[i] = a[i % 32]"}).answer(),
      "proved");
  EXPECT_EQ(with_copies("tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r10], %rd9;\n", {"c[i] = a[i % 64]"})
                .answer(),
            "proved");
  EXPECT_EQ(with_copies("tcgen05.cp.cta_group::1.64x128b.warpx2::01_23 [%r10], %rd9;\n",
                        {"c[64*h + 32*w + i] = a[32*h + i] for h in 0..1 for w in 0..1 for i in 0..31"})
                .answer(),
            "proved");
  // Four rows to every 32nd lane: the other lanes hold nothing.
  Case four = with_copies("tcgen05.cp.cta_group::1.4x256b [%r10], %rd9;\n", {"c[0] = a[0]"});
  EXPECT_EQ(four.kind(), "uninitialised");
  EXPECT_EQ(with_copies("add.u32 %r14, %r10, 0x200000; tcgen05.cp.cta_group::1.4x256b [%r14], %rd9;\n",
                        {"c[0] = a[0]"})
                .answer(),
            "out of bounds: tcgen05.cp of thread 0 writes lanes 32 to 128 of Tensor Memory, which has 128");
  EXPECT_EQ(with_copies(copies + "xor.b64 %rd9, %rd9, 0x0000400000000000;" + copies, {"c[i] = a[i]"}).kind(),
            "misuse");
}

TEST(Tcgen05Copy, IsOrderedByItsCommit) {
  EXPECT_EQ(with_copies(copies, {"c[i] = a[i]"}, "0", "").kind(), "never released");
  EXPECT_EQ(
      with_copies(copies, {"c[i] = a[i]"}, "0", "mbarrier.arrive.shared::cta.b64 %rd8, [%r9];\n").answer(),
      "race: tcgen05.ld of warp 0 reads lane 0, column 0 of Tensor Memory, which tcgen05.cp of thread 0 "
      "writes: no "
      "tcgen05.commit and wait at its mbarrier are between");
  EXPECT_EQ(with_copies(copies + copies, {"c[i] = a[i]"}).kind(), "race");  // no pair of 9.7.16.6.2
  EXPECT_EQ(with_copies(copies, {"c[i] = a[i]"}, "0",
                        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n", "")
                .kind(),
            "missing fence");
  Case early = with_copies(copies + "st.shared.f32 [%r2], %f1;\n", {"c[i] = a[i]"});
  std::string const answer =
      early.answer();  // the unit also multiplies: the line says which instruction it is
  EXPECT_NE(answer.find(", which tcgen05 of thread 0 reads: "), std::string::npos) << answer;
}

TEST(Tcgen05Copy, ShiftsRowsDown) {
  std::string const shift = "tcgen05.shift.cta_group::1.down [%r10];\n",
                    wait =
                        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9+8];\n"
                        "$x: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9+8], 0; @!%p5 bra $x;\n";
  auto const shifted = [&](std::string const& body,
                           std::vector<std::string> const& expect = {"c[i] = a[i]"}) {
    return with_copies(copies + wait + body, expect).answer();
  };
  EXPECT_EQ(shifted(shift, {"c[0] = a[0]", "c[i] = a[i - 1] for i in 1..31", "c[i] = a[i] for i in 32..127"}),
            "proved");
  EXPECT_EQ(shifted("add.u32 %r14, %r10, 0x600000; tcgen05.shift.cta_group::1.down [%r14];\n",
                    {"c[i] = a[i] for i in 0..96", "c[i] = a[i - 1] for i in 97..127"}),
            "proved");
  EXPECT_EQ(shifted(shift + shift).substr(0, 4), "race");
  // A copy of four rows follows a shift: it fills the first lanes.
  EXPECT_EQ(shifted(shift + "tcgen05.cp.cta_group::1.4x256b [%r10], %rd9;\n",
                    {"c[32*w] = a[w] for w in 0..3", "c[i] = a[i - 1] for i in 1..31",
                     "c[32*w + i] = a[32*w + i] for w in 1..3 for i in 1..31"}),
            "proved");
  EXPECT_EQ(shifted("add.u32 %r14, %r10, 0x100000; tcgen05.shift.cta_group::1.down [%r14];\n").substr(0, 10),
            "misaligned");
}

TEST(Tcgen05Mma, LeavesOutLanesAndScalesD) {
  auto const with = [](std::string const& operands, std::string const& first,
                       std::vector<std::string> const& expect) {
    Case c = Product{"f16", "f16", "f32", shape_of(64) | 1U << 4}.kernel(expect.front());
    c.expect = expect;
    std::string const one = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd8, %rd9, %r23, ";
    std::size_t const at = c.body.find(one);
    std::size_t const end = c.body.find(";\n", at);
    c.body.replace(at, end - at, first + one + operands);
    return c.answer();
  };
  std::string const
      sum = "sum(k) a[m][k]*a[64 + n][k] for m in ",
      once = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd8, %rd9, %r23, %p4;\nsetp.eq.u32 %p4, %r1, 0;\n";
  EXPECT_EQ(with("{0, 0, 0, 0}, %p4", "", {"c[m][n] = " + sum + "0..63"}), "proved");
  EXPECT_EQ(with("{2, 0, 0, 0}, %p4", "", {"c[m][n] = " + sum + "0..63"}).substr(0, 13), "uninitialised");
  // Lane 1 keeps the first product, the others are doubled.
  EXPECT_EQ(
      with("{2, 0, 0, 0}, %p4", once,
           {"c[m][n] = 2*" + sum + "2..63", "c[m][n] = 2*" + sum + "0..0", "c[m][n] = " + sum + "1..1"}),
      "proved");
  EXPECT_EQ(with("%p4, 2", once, {"c[m][n] = 1.25*" + sum + "0..63"}), "proved");
  EXPECT_EQ(with("%p4, 16", once, {"c[m][n] = " + sum + "0..63"}),
            "misuse: the scale of D is 0 to 15, of kind::f16 and kind::tf32");
}

TEST(Tcgen05Mma, ReadsAOfACollectorThatHoldsIt) {
  auto const answer = [](std::string const& first, std::string const& second, std::string const& a = "%rd8") {
    Case c = Product{"f16", "f16", "f32", shape_of(64) | 1U << 4}.kernel(
        "c[m][n] = 2*sum(k) a[m][k]*a[64 + n][k] for m in 0..63");
    c.body.replace(c.body.find("kind::f16 "), 10, "kind::f16" + first + " ");
    c.body.insert(c.body.find("tcgen05.commit"),
                  "add.u64 %rd12, %rd8, 16; setp.eq.u32 %p4, %r1, 0; tcgen05.mma.cta_group::1.kind::f16" +
                      second + " [%r10], " + a + ", %rd9, %r23, %p4;\n");
    return c.answer();
  };
  std::string const fill = ".collector::a::fill", use = ".collector::a::use", last = ".collector::a::lastuse",
                    none = "misuse: nothing has filled the collector of A since it was discarded";
  EXPECT_EQ(answer(fill, use), "proved");
  EXPECT_EQ(answer(fill, last), "proved");
  EXPECT_EQ(answer("", use), none);
  EXPECT_EQ(answer(".collector::a::discard", last), none);
  EXPECT_EQ(answer(fill, use, "%rd12"), "misuse: thread 0 uses A of the collector, which holds another A");
}

}  // namespace swizproof
