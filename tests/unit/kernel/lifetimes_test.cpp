#include "race_case.hpp"

#include <algorithm>

namespace swizproof {
namespace {

/// Threads store a tile, one lane of warp 0 multiplies it, and all wait for the commit: a lifetime of the mbarrier at `at`. Two warps.
struct LifeText {
  std::string init = "@%p1 mbarrier.init.shared::cta.b64 [%r8], 1;\n", behind_init = "bar.sync 0;\n",
              store = "st.shared.u32 [%r4], %r1;\n", fence = "fence.proxy.async.shared::cta;\nbar.sync 0;\n",
              multiply = "tcgen05.mma.cta_group::1.kind::f16 [%r23], %rd2, %rd2, %r22, %p5;\n",
              commit = "@%p3 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r8];\n",
              wait = "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r8], 0;\n",
              behind_wait = "bar.sync 0;\n", inval = "@%p1 mbarrier.inval.shared::cta.b64 [%r8];\n",
              behind_inval = "bar.sync 0;\n";

  [[nodiscard]] std::string issue(std::string const& label) const {
    return "@%p2 bra M" + label + ";\nelect.sync %r7|%p3, 0xffffffff;\n@%p3 " + multiply + commit + "M" +
           label + ":\n";
  }
  [[nodiscard]] std::string at(std::string const& address, std::string const& label) const {
    std::string const until = wait.empty() ? "" : "W" + label + ": " + wait + "@!%p4 bra W" + label + ";\n";
    return "add.u32 %r8, %r2, " + address + ";\n" + store + fence + init + behind_init + issue(label) +
           until + behind_wait + inval + behind_inval;
  }
};

std::string const numbers =
    "setp.eq.u32 %p1, %r1, 0; setp.ge.u32 %p2, %r1, 32; shr.u32 %r21, %r2, 4; cvt.u64.u32 %rd2, %r21; or.b64 "
    "%rd2, "
    "%rd2, 70368744177664; mov.b32 %r22, 67239952; mov.u32 %r23, 0; setp.eq.u32 %p5, %r1, 99; mov.u32 %r20, "
    "0;\n";
std::string in_loop(std::string const& body) {
  return "L:\n" + body + "add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra L;\n";
}
/// Once, twice at one address, and in a loop.
std::string once(LifeText const& t) { return numbers + t.at("4096", "a"); }
std::string twice(LifeText const& t) { return once(t) + t.at("4096", "b"); }
std::string often(LifeText const& t) { return numbers + in_loop(t.at("4096", "a")); }

KernelRaces expect_proof(std::string const& body) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << body << ": " << races.reason;
  return races;
}
bool leads(KernelRaces const& races) {
  return std::any_of(races.assumed.begin(), races.assumed.end(),
                     [](std::string const& a) { return a.find("elects lane 0") != std::string::npos; });
}

TEST(KernelLifetimes, AnAddressIsUsedAgain) {
  LifeText const t;
  for (std::string const& body : {once(t), twice(t), often(t)}) EXPECT_FALSE(leads(expect_proof(body)));
  expect_proof(once(t) + t.at("4104", "b"));
  expect_proof(once(t) + "st.shared.u32 [%r4+4096], %r1;\n" + "bar.sync 0;\n" + t.at("4096", "b"));
  expect_proof(numbers + in_loop(t.at("4096", "a") + t.at("4096", "b")));
}

// One without an mbarrier.init where the threads that wait have no barrier to it: also in a lifetime that is not the first one.
TEST(KernelLifetimes, BarriersSeparateLifetimes) {
  auto const open = [](auto part, std::string const& text, std::string const& reason) {
    LifeText t;
    t.*part = text;
    expect_open(twice(t), reason), expect_open(often(t), reason);
  };
  open(&LifeText::behind_wait, "", "mbarrier.inval");
  open(&LifeText::wait, "", "may access one byte");
  open(&LifeText::inval, "", "an mbarrier is initialised again without mbarrier.inval");
  open(&LifeText::wait, "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r8], 1;\n", "another phase");
  open(&LifeText::wait, "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p4, [%r8], 0;\n", "");
  open(&LifeText::init, "@%p1 mbarrier.init.shared::cta.b64 [%r8], 2;\n", "several arrivals");
  LifeText t;
  t.behind_init = "";
  t.commit += "M: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r8], 0;\n@!%p4 bra M;\n";
  expect_open(often(t), "no barrier of the block may be between mbarrier.init and mbarrier.try_wait");
  LifeText close = LifeText{};
  close.behind_wait = close.behind_inval = close.store = close.fence = "";
  expect_open(twice(close), "no barrier of the block may be between tcgen05.commit");
  LifeText alone;  // the arrival, behind mbarrier.inval
  alone.multiply = "mov.u32 %r6, 0;\n", alone.wait = "";
  expect_open(often(alone), "may access one byte: tcgen05.commit");
  LifeText data;
  data.behind_inval = "st.shared.u32 [%r4+4096], %r1;\nbar.sync 0;\n";
  expect_open(twice(data), "mbarrier.inval");
  expect_open(once(LifeText{}) + "W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r8], 0;\n@!%p4 bra W;\n",
              "may be behind an mbarrier.inval");
  expect_open(once(LifeText{}) + LifeText{}.at("4100", "b"), "two mbarriers overlap");
}

// A branch on what the wait of another lifetime gave.
TEST(KernelLifetimes, AWaitIsOfItsLifetime) {
  LifeText const t;
  LifeText late;
  late.wait = "setp.eq.u32 %p6, 0, 0;\n";
  expect_open(numbers + t.at("4096", "a") + late.at("4096", "b") + t.store, "may access one byte");
  LifeText open;
  open.inval = "", open.behind_inval = t.wait + "bar.sync 0;\n" + t.inval + "bar.sync 0;\n";
  auto const issued = [&](std::string const& wait) {
    return numbers + open.at("4096", "a") + t.store + t.fence + t.init + t.behind_init +
           "elect.sync %r7|%p3, 0xffffffff;\nnot.pred %p6, %p2;\nand.pred %p3, %p3, %p6;\n@%p3 " +
           t.multiply + t.commit + wait + "@!%p4 bra E;\n" + t.store + "E:\n";
  };
  expect_open(issued(""), "may access one byte");  // all in one block
  expect_proof(issued(t.wait));
}

// elect.sync elects one lane of warp 0, which PTX does not name.
TEST(KernelLifetimes, ALeaderMayBeThread0) {
  LifeText late;  // a barrier behind the commit, not behind mbarrier.init
  late.behind_init = "", late.wait =
                             "bar.sync 0;\nV: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r8], 0;\n@!%p4 "
                             "bra V;\nsetp.eq.u32 %p4, 0, 0;\n";
  EXPECT_TRUE(leads(expect_proof(once(late))));
  EXPECT_TRUE(leads(expect_proof(often(late))));
}

TEST(KernelLifetimes, OneArrivalEndsALifetime) {
  LifeText t;
  t.commit += t.commit;
  expect_open(twice(t), "several arrivals"), expect_open(often(t), "several arrivals");
  LifeText none;
  none.commit = "";
  expect_open(often(none), "no tcgen05.commit is behind");
  LifeText before;
  std::swap(before.multiply, before.commit);
  before.commit = "@%p3 " + before.commit, before.multiply = before.multiply.substr(5);
  expect_open(often(before), "mbarrier.init has no tcgen05.commit");
  LifeText other;  // by a lane of its own
  other.commit = "M: setp.eq.u32 %p6, %r1, 1;\n@%p6" + other.commit.substr(4) + "bra Ma;\n";
  expect_open(often(other), "several threads may execute");
  LifeText each;
  each.commit = each.commit.substr(5);
  expect_open(often(each), "several threads may execute");
  LifeText again;  // in an inner loop
  again.commit += "add.u32 %r24, %r24, 1; setp.lt.u32 %p7, %r24, %r3; @%p7 bra M;\n";
  again.multiply += "M:\n";
  expect_open(often(again), "an mbarrier of several phases is not modelled");
}

// Thread 0 has an mbarrier.init at each position that threads pass.
TEST(KernelLifetimes, AllThreadsPassTheSameLifetimes) {
  LifeText t;
  t.init = "@!%p1 bra I;\nmbarrier.init.shared::cta.b64 [%r8], 1;\nI:\n";
  expect_proof(once(t));
  expect_open(often(t), "may be behind an mbarrier.inval");
  LifeText inner;  // whether it is passed depends on the thread
  inner.init = "mov.u32 %r24, 0;\nI: " + inner.init +
               "add.u32 %r24, %r24, 1; @%p1 mbarrier.inval.shared::cta.b64 [%r8];\nsetp.lt.u32 %p6, %r24, "
               "%r1; @%p6 bra I;\n" +
               inner.init;
  expect_open(often(inner), "threads of the block may pass different positions");
  LifeText other;
  other.init = "setp.eq.u32 %p6, %r1, 1;\n@%p6 mbarrier.init.shared::cta.b64 [%r8], 1;\n";
  expect_proof(once(other));
  expect_open(often(other), "thread 0 may not execute mbarrier.init");
  LifeText some;
  some.init =
      "setp.eq.u32 %p6, %r20, 0; and.pred %p6, %p6, %p1;\n@%p6 mbarrier.init.shared::cta.b64 [%r8], 1;\n";
  expect_open(often(some), "thread 0 may not execute mbarrier.init");
  LifeText left;
  left.inval =
      "setp.eq.u32 %p6, %r20, 0; and.pred %p6, %p6, %p1;\n@%p6 mbarrier.inval.shared::cta.b64 [%r8];\n";
  expect_open(often(left), "thread 0 may not execute mbarrier.inval");
  expect_open(numbers + "setp.lt.u32 %p6, %r1, %r3; @%p6 ret;\n" + in_loop(LifeText{}.at("4096", "a")),
              "threads of the block may pass different positions");
  LifeText skipped;  // in some iterations
  skipped.init = "setp.eq.u32 %p6, %r20, 3; @%p6 bra I;\n" + skipped.init + "I:\n";
  expect_open(often(skipped), "behind an mbarrier.inval");
}

// Bulk copies of thread 0 in each lifetime.
TEST(KernelLifetimes, CopiesBringWhatTheirLifetimeExpects) {
  LifeText t;
  t.store = "ld.shared.u32 %r6, [%r4];\n";
  std::string const copy =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r8];\n";
  auto const copied = [&](std::string const& bytes, std::string const& copies) {
    LifeText out = t;
    out.multiply = "mov.u32 %r6, 0;\n@!%p1 bra N;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], " +
                   bytes + ";\n" + copies + "N:\n";
    out.commit = "";
    return out;
  };
  expect_proof(often(copied("256", copy)));
  expect_open(often(copied("240", copy)), "bulk copies bring 256 bytes, 240 are expected");
  expect_open(often(copied("256", copy + copy)), "bulk copies bring 512 bytes, 256 are expected");
  LifeText early = copied("256", copy);
  early.wait = "";
  expect_open(often(early), "may access one byte");
}

}  // namespace
}  // namespace swizproof
