// Fences between the generic and the async proxy, in both directions.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// The TMA fills the tile; `before` is executed by all threads before it, behind a barrier.
Case filled(std::string const& before, std::string const& fence = "fence.mbarrier_init.release.cluster;\n") {
  return {only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 1;\n" + fence) + before + "bar.sync 0;\n" +
          only_first("$C",
                     "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2+2048], 256;\n"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 256, "
                     "[%r2+2048];\n") +
          "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\n" + neighbour(33) +
          store};
}

TEST(Proxies, NeedAFenceBehindTheInitialisationOfAnMbarrier) {
  EXPECT_EQ(filled("").kind(), "proved");
  EXPECT_EQ(filled("", "fence.proxy.async.shared::cta;\n").kind(), "proved");
  EXPECT_EQ(
      filled("", "membar.cta;\n").answer(),
      "missing fence: a bulk copy of thread 0 uses the mbarrier at 0xc00, which thread 0 has initialised: no "
      "fence.mbarrier_init or fence.proxy.async is between them");
  for (FlowProxy const proxy : {FlowProxy::write, FlowProxy::off}) {
    Case c = filled("", "");
    c.proxy = proxy;
    EXPECT_EQ(c.kind(), "proved");
    EXPECT_EQ(c.report().left_out.size(), 1U);
  }
  // fence.mbarrier_init is for what its own thread has initialised
  EXPECT_EQ(filled(only_warp(1, "$X", "fence.mbarrier_init.release.cluster;\n"), "").kind(), "missing fence");
}

TEST(Proxies, NeedAFenceBeforeTheTmaOverwrites) {
  std::string const fence = "fence.proxy.async.shared::cta;\n", st = "st.shared.u32 [%r3], 0;\n",
                    ld = st + fence + "ld.shared.u32 %r5, [%r3];\n";
  EXPECT_EQ(filled(st).kind(), "missing fence");
  EXPECT_EQ(filled(st + fence).kind(), "proved");
  EXPECT_EQ(filled(ld).kind(), "missing fence");  // what was written is fenced, what was read is not
  EXPECT_EQ(filled(ld + fence).kind(), "proved");
  EXPECT_EQ(filled("fence.proxy.async.global;\n" + st).kind(), "missing fence");
  auto const with = [](Case c, FlowProxy proxy) {
    c.proxy = proxy;
    return c.kind();
  };
  EXPECT_EQ(with(filled(ld), FlowProxy::write), "proved");
  EXPECT_EQ(with(filled(st), FlowProxy::write), "missing fence");
  EXPECT_EQ(with(filled(st), FlowProxy::off), "proved");
}

// PTX ISA 9.0, 9.7.13.4: a release synchronizes with an acquire.
TEST(Proxies, HaveFencesOfOneDirection) {
  std::string const st = "st.shared.u32 [%r3], 0;\n", meet = "bar.sync 0;\n",
                    release = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n",
                    acquire = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n";
  EXPECT_EQ(filled(st + release + meet + acquire).kind(), "proved");
  EXPECT_EQ(filled(st + release + meet + only_first("$A", acquire)).kind(), "proved");
  EXPECT_EQ(filled(st + release + meet).kind(), "missing fence");
  EXPECT_EQ(filled(st + meet + acquire).kind(), "missing fence");
  EXPECT_EQ(filled(release + st + meet + acquire).kind(), "missing fence");
  FlowReport const own = filled(st + release + acquire).report();
  EXPECT_EQ(own.verdict, FlowVerdict::proved);
  EXPECT_EQ(own.assumed.size(), 1U);
  EXPECT_EQ(filled(st + acquire + meet + release).kind(), "missing fence");
  EXPECT_EQ(filled(st + only_warp(0, "$R", release) + meet + acquire).kind(), "missing fence");
  EXPECT_EQ(filled(meet + acquire, release).kind(), "proved");
}

TEST(Proxies, TakeAFenceOfAnyThreadOnTheWay) {
  std::string const st = "st.shared.u32 [%r3], 0;\nbar.sync 0;\n", fence = "fence.proxy.async.shared::cta;\n";
  EXPECT_EQ(filled(st + only_warp(1, "$X", fence)).kind(), "proved");
  // before the barrier it is not behind what the others have stored
  EXPECT_EQ(filled("st.shared.u32 [%r3], 0;\n" + only_warp(1, "$X", fence)).kind(), "missing fence");
}

TEST(Proxies, NeedAFenceBeforeABulkStoreReads) {
  std::string const st = "st.shared.u32 [%r3], 0;\n", fence = "fence.proxy.async.shared::cta;\n",
                    copy =
                        only_first("$S", "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;\n");
  auto const kind = [](std::string const& body) { return Case{body}.kind(); };
  EXPECT_EQ(kind(st + "bar.sync 0;\n" + copy), "missing fence");
  EXPECT_EQ(kind(st + fence + "bar.sync 0;\n" + copy), "proved");
  EXPECT_EQ(kind(st + "fence.proxy.async.global;\nbar.sync 0;\n" + copy), "missing fence");
}

TEST(Proxies, NeedNoFenceBetweenBulkCopies) {
  // loaded, stored, and loaded again
  Case c = filled("");
  c.body =
      c.body.substr(0, c.body.find("$W:")) +
      "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\nbar.sync 0;\n" +
      only_first(
          "$S",
          "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;\ncp.async.bulk.commit_group;\n"
          "cp.async.bulk.wait_group.read 0;\nmbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2+2048], 256;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 256, "
          "[%r2+2048];\n");
  EXPECT_EQ(c.kind(), "proved");
}

TEST(BulkGroups, AreWaitedForInTheirOrder) {
  // two groups, each reads a half of the tile; the wait leaves the second one
  auto const kind = [](std::string const& offset) {
    std::string const copy = "cp.async.bulk.global.shared::cta.bulk_group ",
                      commit = "cp.async.bulk.commit_group;\n";
    return Case{"st.shared.u32 [%r3], 0;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n" +
                only_first("$S", copy + "[%rd1], [%r2], 128;\n" + commit + copy +
                                     "[%rd1+128], [%r2+128], 128;\n" + commit +
                                     "cp.async.bulk.wait_group.read 1;\nst.shared.u32 [%r2+" + offset +
                                     "], 1;\n")}
        .kind();
  };
  EXPECT_EQ(kind("0"), "proved");
  EXPECT_EQ(kind("128"), "race");
}

TEST(Proxies, SayWhichFenceWouldDo) {
  FlowReport const r = filled("st.shared.u32 [%r3], 0;\n").report();
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FlowFaultKind::fence);
  EXPECT_TRUE(r.fault->fix.starts_with("fence.proxy.async.shared::cta by thread ")) << r.fault->fix;
  EXPECT_NE(r.fault->rule.find("Async proxy"), std::string::npos);
}

TEST(Proxies, AreBehindRaces) {
  // both a fence and a barrier are missing: the race is named
  Case c = filled("");
  c.body += "st.shared.u32 [%r3], 0;\n";
  EXPECT_EQ(c.kind(), "race");
}

}  // namespace
}  // namespace swizproof
