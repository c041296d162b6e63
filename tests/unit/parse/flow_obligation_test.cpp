// [[flow]] entries: what they mean, what is refused, and the verdicts.
#include <swizproof/parse/obligations.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace swizproof {
namespace {

/// `copy` writes to[t] = from[t]; `race` reads what the next thread has written, without a barrier.
constexpr char const* ptx = R"ptx(.version 8.0
.target sm_90
.address_size 64
.file 1 "src/copy.cu"
.entry copy(.param .u64 to, .param .u64 from) {
.reg .b32 %r<4>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [to];
ld.param.u64 %rd2, [from];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
.loc 1 3 1
ld.global.u32 %r2, [%rd5];
st.global.u32 [%rd4], %r2;
ret;
}
.entry part(.param .align 8 .b8 s[16]) {
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [s+8];
ld.param.u32 %r1, [s];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r1;
ret;
}
.entry race() {
.reg .b32 %r<5>;
.shared .align 4 .b8 tile[256];
mov.u32 %r1, %tid.x;
shl.b32 %r1, %r1, 2;
mov.u32 %r2, tile;
add.u32 %r3, %r2, %r1;
st.shared.u32 [%r3], %r1;
ld.shared.u32 %r4, [%r3+4];
ret;
}
)ptx";

class FlowObligations : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "build");
    std::ofstream(folder_ / "build" / "copy.ptx") << ptx;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::vector<Obligation> read(std::string const& text) const {
    std::ofstream(folder_ / "flow.toml") << text;
    return read_obligations((folder_ / "flow.toml").string());
  }
  /// The entry of `copy` with these lines.
  [[nodiscard]] Obligation entry(std::string const& lines) const {
    return read("[[flow]]\nptx = \"build/copy.ptx\"\n" + lines + "\n").at(0);
  }
  [[nodiscard]] std::string verdict(std::string const& lines) const {
    return std::string(name(decide(entry(lines), {}).outcome));
  }
  [[nodiscard]] std::string refusal(std::string const& lines) const {
    Obligation const o = entry(lines);
    auto const* const malformed = std::get_if<Malformed>(&o.what);
    return malformed == nullptr ? "accepted"
                                : malformed->error.message.substr(malformed->error.message.find(": ") + 2);
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::string const copy = "kernel = \"copy\"\nblock = [32]\n";
std::string const arrays = "param = {0 = \"to:u32[32]\", \"#1\" = \"from:u32[32]\"}\n";

TEST_F(FlowObligations, AreDecidedAsTheCommandDecides) {
  std::string const good = copy + arrays + "result = \"to[i] = from[i]\"\n";
  EXPECT_EQ(verdict(good), "proved");
  EXPECT_EQ(verdict(good + "expect = \"refuted\""), "refuted");
  EXPECT_EQ(verdict(copy + arrays + "result = [\"to[i] = from[31-i]\"]"), "refuted");
  EXPECT_EQ(verdict(copy + arrays + "result = \"to[i] = from[31-i]\"\nexpect = \"refuted\""), "proved");
  EXPECT_EQ(verdict(copy + arrays), "proved") << "without a result: no race";
  EXPECT_EQ(verdict("kernel = \"race\"\nblock = 32"), "refuted");
  std::string const part =
      "kernel = \"part\"\nblock = [32]\nresult = \"to[i] = x\"\nparam = {\"0+8\" = \"to:u32[32]\", ";
  EXPECT_EQ(verdict(part + "\"s+0\" = \"x:u32\"}"), "proved");
  EXPECT_EQ(refusal(part + "\"s+0\" = 7}"), "no parameter is the array x");
  ObligationReport const report = decide(entry(good), {});
  EXPECT_EQ(report.detail, "32 of 32 elements right");
  EXPECT_EQ(
      report.domain,
      "one launch, over all data and every order of the warps; block 32,1,1, grid 1,1,1, 1 of its 1 blocks");
  EXPECT_EQ(report.basis, Support::measured);
}

TEST_F(FlowObligations, NameTheirLaunch) {
  EXPECT_EQ(entry(copy + arrays).name, "copy.ptx: copy block 32,1,1 grid 1,1,1");
  Obligation const o =
      entry(copy + arrays + "grid = [4, 2]\nonly_block = [[3, 1], [0, 0]]\nname = \"a copy\"");
  EXPECT_EQ(o.name, "a copy");
  FlowHolds const& hold = std::get<FlowHolds>(o.what);
  EXPECT_EQ(hold.launch.blocks, (std::vector<std::array<std::uint32_t, 3>>{{3, 1, 0}, {0, 0, 0}}));
  auto const two = read("[[flow]]\nptx = \"build/copy.ptx\"\n" + copy + arrays +
                        "[[flow]]\nptx = \"build/copy.ptx\"\n" + copy + arrays);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<FlowHolds>(two[0].what));
  EXPECT_TRUE(std::holds_alternative<Malformed>(two[1].what)) << "two of one name";
}

TEST_F(FlowObligations, AreRefusedWithTheReason) {
  EXPECT_EQ(refusal("kernel = \"copy\""), "the entry has no block");
  EXPECT_EQ(refusal("block = 32"), "several kernels have a name that matches");
  EXPECT_EQ(refusal("kernel = \"move\"\nblock = 32"), "no kernel has a name that matches");
  EXPECT_EQ(refusal("kernel = \"(\"\nblock = 32").substr(0, 31), "kernel is not a regular express");
  EXPECT_EQ(refusal(copy + "grid = [1, 2, 3, 4]"), "grid has one to three numbers");
  EXPECT_EQ(refusal(copy + "grid = 0"), "grid must be an integer from 1 to 4294967295");
  EXPECT_EQ(refusal(copy + "only_block = [1, 0]"), "the grid has no such block");
  EXPECT_EQ(refusal(copy + "only_block = [[0], 1.5]"), "only_block must be an integer from 0 to 4294967295");
  EXPECT_EQ(refusal(copy + "param = 3").substr(0, 16), "param is a table");
  EXPECT_EQ(refusal(copy + "param = {0 = 1.5}").substr(0, 25), "a parameter is an integer");
  EXPECT_EQ(refusal(copy + "param = {0 = \"to:u4[32]\"}"),
            "the elements of an array have a type of 8 to 64 bits");
  EXPECT_EQ(refusal(copy + "param = {7 = \"to:u32[32]\"}"), "the kernel has no parameter #7");
  EXPECT_EQ(refusal(copy + arrays + "result = \"to[i] = of[i]\""), "no parameter is the array of");
  EXPECT_EQ(refusal(copy + arrays + "result = []"), "result is an empty list");
  EXPECT_EQ(refusal(copy + "at_most = 3"), "unknown key 'at_most'");
  EXPECT_EQ(refusal(copy + "shared_bytes = 0"), "shared_bytes must be an integer from 1 to 1048576");
  EXPECT_EQ(refusal(copy + "name = \"\""), "the name is empty");
  EXPECT_THROW((void)read("[flow]\nblock = 32\n"), InputError);
}

}  // namespace
}  // namespace swizproof
