// tma_box(): the limits of a box at their last legal value and one beyond, and the bytes of a legal one.
#include <swizproof/analysis/tma_box.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

using Box = std::vector<std::uint64_t>;

TmaBoxQuestion question(std::string_view type, Box box, std::string_view mode, bool im2col = false) {
  TmaBoxQuestion q{std::string(type), 16, tma_packed_type(type), std::move(box), nullptr, im2col};
  if (q.packed != nullptr) q.bits = q.packed->bits;
  for (TmaModeName const& known : tma_mode_names)
    if (known.name == mode) q.mode = &known;
  return q;
}
/// The first architecture with packed types.
Architecture const& of_packed_types() {
  for (Architecture const& arch : architectures)
    if (arch.name == "sm_100") return arch;
  return sm_90;
}
TmaBoxAnswer answer(std::string_view type, Box box, std::string_view mode, bool im2col = false) {
  TmaBoxQuestion const q = question(type, std::move(box), mode, im2col);
  return tma_box(q, q.packed != nullptr ? of_packed_types() : sm_90);
}

TEST(TmaBox, ALineIsAtMostAsWideAsTheSwizzle) {
  TmaBoxAnswer const widest = answer("FLOAT16", {16, 16}, "32B");
  EXPECT_TRUE(widest.broken.empty());
  EXPECT_EQ(widest.line_bytes, 32U);
  EXPECT_EQ(widest.bytes, 512U);
  TmaBoxAnswer const wider = answer("FLOAT16", {48, 16}, "32B");
  EXPECT_EQ(wider.broken,
            std::vector<std::string>{"a line has 96 bytes, and under 32B at most 32: box[0] is at most 16"});
  ASSERT_TRUE(wider.split);
  EXPECT_EQ(wider.split->box, (Box{16, 16}));
  EXPECT_EQ(wider.split->boxes, 3U);
  EXPECT_EQ(wider.takes, (std::vector<std::string_view>{"none", "128B"}));
}

TEST(TmaBox, ElementsOfFourBitsLeaveGaps) {
  TmaBoxAnswer const gaps = answer("16U4_ALIGN16B", {128, 128}, "128B");
  EXPECT_TRUE(gaps.broken.empty());
  EXPECT_EQ(gaps.line_bytes, 128U);
  EXPECT_EQ(gaps.bytes, 16384U);
  EXPECT_EQ(gaps.layout, "Sw<3,4,3> o smem_ptr[4b](unset) o ((16,8),128):((1,32),256)");
  TmaBoxAnswer const none = answer("16U4_ALIGN8B", {128, 128}, "64B");
  EXPECT_TRUE(none.broken.empty());
  EXPECT_EQ(none.bytes, 8192U);
  EXPECT_EQ(none.layout, "Sw<2,4,3> o smem_ptr[4b](unset) o (128,128):(1,128)");
}

TEST(TmaBox, Im2colHasMorePixelsThanABoxHasRows) {
  EXPECT_TRUE(answer("FLOAT16", {64, 1024}, "128B", true).broken.empty());
  EXPECT_EQ(answer("FLOAT16", {64, 1025}, "128B", true).broken,
            std::vector<std::string>{"pixelsPerColumn is 1025, and it is from 1 to 1024"});
  EXPECT_TRUE(answer("FLOAT16", {64, 256}, "128B").broken.empty());
  EXPECT_EQ(answer("FLOAT16", {64, 257}, "128B").broken,
            std::vector<std::string>{"box[1] is 257, and it is from 1 to 256"});
  EXPECT_EQ(answer("FLOAT16", {257, 64}, "none", true).broken.front(),
            "channelsPerPixel is 257, and it is from 1 to 256");
}

// The driver refuses them there in every box: campaign `boxes`.
TEST(TmaBox, PackedTypesAreNotOfSm90) {
  for (TmaPackedType const& type : tma_packed_types) {
    EXPECT_FALSE(tma_box(question(type.name, {128, 8}, "none"), sm_90).broken.empty()) << type.name;
    EXPECT_TRUE(tma_box(question(type.name, {128, 8}, "none"), of_packed_types()).broken.empty())
        << type.name;
  }
}

}  // namespace
}  // namespace swizproof
