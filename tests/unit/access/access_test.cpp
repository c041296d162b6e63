// The named accesses, compared with their texts after parsing.
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(NamedAccesses, AreWhatTheirTextsSay) {
  for (NamedAccess const& named : named_accesses()) {
    Access const a = parse_access(named.text);
    EXPECT_EQ(parse_access(named.access.name).name, named.access.name);
    ASSERT_EQ(a.instruction, named.access.instruction) << named.text;
    EXPECT_EQ(a.pattern().rows, named.access.pattern().rows);
    EXPECT_EQ(a.pattern().row_bytes, named.access.pattern().row_bytes);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      EXPECT_EQ(a.pattern().place(std::uint64_t{lane}, std::uint64_t{0}, std::uint64_t{0}),
                named.access.pattern().place(std::uint64_t{lane}, std::uint64_t{0}, std::uint64_t{0}))
          << named.text << " lane " << lane;
    EXPECT_FALSE(named.seen_in.empty());
  }
}

}  // namespace
}  // namespace swizproof
