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
  // Of shape .16x64b: thread t has lane t/4 + 8 (t % 2), column t/2 % 2. Back by .32x32b: lane l, column 0 has thread 4 (l % 8) + l/8.
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

TEST(Tcgen05, RefusesByName) {
  for (std::string const op :
       {"tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%f1}, [%r11];",
        "tcgen05.shift.cta_group::1.down [%r11];",
        "tcgen05.mma.cta_group::2.kind::f16 [%r10], %rd1, %rd2, %r5, %p1;",
        "tcgen05.mma.ws.cta_group::1.kind::f16 [%r10], %rd1, %rd2, %r5, %p1;",
        "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r10], %rd1, %rd2, %r5, [%r10], [%r10], %p1;",
        "tcgen05.mma.sp.cta_group::1.kind::f16 [%r10], %rd1, %rd2, [%r10], %r5, %p1;",
        "tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r10], %rd1, %rd2, %r5, %p1;",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r6], "
        "%h1;"}) {
    std::string const name = op.substr(0, op.find(' '));
    EXPECT_EQ(with_columns(op).answer(), "unknown: " + name + " is not executed");
  }
}

}  // namespace swizproof
