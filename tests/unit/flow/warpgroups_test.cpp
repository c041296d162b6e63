// Instructions that the warps of a warpgroup execute together: wgmma.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const commit = "wgmma.commit_group.sync.aligned;
", wait = "wgmma.wait_group.sync.aligned 0;
";

Case case_of(std::string const& body, unsigned threads = 128) {
  std::string const size = fmt::format("f32[{}]", threads);
  return Case{body, size, size, {}, threads};
}

TEST(Warpgroups, CommitWithoutAProduct) {
  EXPECT_EQ(case_of(commit + "st.shared.u32 [%r3], %r1;\n").answer(), "proved");
  EXPECT_EQ(case_of(wait + "st.shared.u32 [%r3], %r1;\n").answer(), "proved");
}

}  // namespace
}  // namespace swizproof
