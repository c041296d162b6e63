// [[kernel]] entries: which kernels and shapes they name, what is refused, and the verdicts.
#include <swizproof/parse/obligations.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace swizproof {
namespace {

/// Kernels with one access each: `free`, `column` (8 wavefronts in line 5) and `two` (32 in line 7, 1 in line 8). `again` has 32
/// in line 7, too.
constexpr char const* kernel_text = R"ptx(.version 8.0
.target sm_90
.address_size 64
.file 1 "src/gemm.cu"
.entry free() {
.reg .b32 %r<4>;
.shared .align 4 .b8 tile[4096];
.loc 1 3 1
mov.u32 %r1, %tid.x;
and.b32 %r1, %r1, 31;
shl.b32 %r1, %r1, 2;
mov.u32 %r2, tile;
add.u32 %r3, %r2, %r1;
ld.shared.u32 %r0, [%r3];
ret;
}
.entry column(.param .u32 column_param_0) {
.reg .b32 %r<5>;
.shared .align 4 .b8 tile2[4096];
.loc 1 5 1
mov.u32 %r1, %tid.x;
and.b32 %r1, %r1, 31;
ld.param.u32 %r4, [column_param_0];
mul.lo.u32 %r1, %r1, %r4;
mov.u32 %r2, tile2;
add.u32 %r3, %r2, %r1;
ld.shared.u32 %r0, [%r3];
ret;
}
.entry two() {
.reg .b32 %r<5>;
.shared .align 4 .b8 tile3[4096];
.loc 1 7 1
mov.u32 %r1, %tid.y;
mov.u32 %r4, %tid.x;
shl.b32 %r1, %r4, 7;
mov.u32 %r2, tile3;
add.u32 %r3, %r2, %r1;
ld.shared.u32 %r0, [%r3];
.loc 1 8 1
ld.shared.u32 %r0, [%r2];
ret;
}
.entry again() {
.reg .b32 %r<5>;
.shared .align 4 .b8 tile4[4096];
.loc 1 7 1
mov.u32 %r4, %tid.x;
shl.b32 %r1, %r4, 7;
mov.u32 %r2, tile4;
add.u32 %r3, %r2, %r1;
ld.shared.u32 %r0, [%r3];
ret;
}
)ptx";

class KernelObligations : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "build");
    std::ofstream(folder_ / "build" / "gemm.ptx") << kernel_text;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::vector<Obligation> read(std::string const& text) const {
    std::ofstream(folder_ / "kernels.toml") << text;
    return read_obligations((folder_ / "kernels.toml").string());
  }
  /// The entry `ptx = "build/gemm.ptx"` with these lines.
  [[nodiscard]] std::vector<Obligation> entry(std::string const& lines) const {
    return read("[[kernel]]\nptx = \"build/gemm.ptx\"\n" + lines + "\n");
  }
  [[nodiscard]] std::vector<std::string> verdicts(std::string const& lines) const {
    std::vector<std::string> all;
    for (Obligation const& o : entry(lines)) all.emplace_back(name(decide(o, {}).outcome));
    return all;
  }
  [[nodiscard]] std::string refusal(std::string const& lines) const {
    auto const all = entry(lines);
    auto const* const malformed = std::get_if<Malformed>(&all.at(0).what);
    return malformed == nullptr ? "accepted" : malformed->error.message;
  }
  void expect_refusal(std::string const& lines, std::string const& reason) const {
    EXPECT_NE(refusal(lines).find(reason), std::string::npos) << lines << ": " << refusal(lines);
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

using Words = std::vector<std::string>;

TEST_F(KernelObligations, NameEachKernelAndShape) {
  auto const all = entry("name = \"free|two\"\nblock = [[32, 2], [64]]");
  Words names;
  for (Obligation const& o : all) names.push_back(o.name);
  EXPECT_EQ(names, (Words{"gemm.ptx: free block 32,2,1", "gemm.ptx: free block 64,1,1",
                          "gemm.ptx: two block 32,2,1", "gemm.ptx: two block 64,1,1"}));
  EXPECT_EQ(all[0].source, (folder_ / "kernels.toml").string() + ":1");
  EXPECT_EQ(entry("name = \"free\"\nblock = 64\ngrid = [8, 2]").at(0).name,
            "gemm.ptx: free block 64,1,1 grid 8,2,1");
  auto const two = entry("name = \"free\"\narch = [\"sm_80\", \"sm_90\"]");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].title(), "gemm.ptx: free on sm_80");
  EXPECT_EQ(two[1].title(), "gemm.ptx: free on sm_90");
}

TEST_F(KernelObligations, AFileOfSassHasItsArchitecture) {
  std::ofstream(folder_ / "build" / "k.sass")
      << "\t.target\tsm_100\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          "
         "k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\nk:\n        /*0000*/   S2R R0, SR_TID.X ;\n"
         "        /*0010*/   LEA R9, R0, RZ, 0x2 ;\n        /*0020*/   LDS R0, [R9] ;\n        /*0030*/   "
         "EXIT ;\n";
  std::string const entry = "[[kernel]]\nptx = \"build/k.sass\"\n";
  auto const own = read(entry);
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0].arch->name, "sm_100");
  EXPECT_EQ(name(decide(own[0], {}).outcome), "proved");
  EXPECT_EQ(read(entry + "arch = \"sm_80\"\n")[0].arch->name, "sm_80");
  Architecture const* const given[] = {&sm_90};
  EXPECT_EQ(read_obligations((folder_ / "kernels.toml").string(), given)[0].arch->name, "sm_80");
  (void)read(entry);
  EXPECT_EQ(read_obligations((folder_ / "kernels.toml").string(), given)[0].arch->name, "sm_90");
}

TEST_F(KernelObligations, NamesOfARefusedEntryAreFree) {
  std::string const ptx_entry = "[[kernel]]\nptx = \"build/gemm.ptx\"\n";
  // `free` of the first entry can be checked, `two` needs a block.
  auto const all = read(ptx_entry + "name = \"free|two\"\n" + ptx_entry + "name = \"free\"\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Malformed>(all[0].what));
  ASSERT_TRUE(std::holds_alternative<KernelHolds>(all[1].what));
  EXPECT_EQ(all[1].name, "gemm.ptx: free");
}

TEST_F(KernelObligations, HoldWithinTheirBounds) {
  EXPECT_EQ(verdicts("name = \"free\""), Words{"proved"});
  EXPECT_EQ(verdicts("name = \"column\""), Words{"refuted"});
  EXPECT_EQ(verdicts("name = \"column\"\nparam = {column_param_0 = 4}"), Words{"proved"});
  EXPECT_EQ(verdicts("name = \"column\"\nparam = {\"#0\" = 32}\nexcess = 7"), Words{"proved"});
  EXPECT_EQ(verdicts("name = \"column\"\nparam = {\"#0\" = 32}\nexcess = 6"), Words{"refuted"});
  EXPECT_EQ(verdicts("name = \"column\"\nparam = {\"#0\" = 32}\nat_most = 8"), Words{"proved"});
  EXPECT_EQ(verdicts("name = \"column\"\nexpect = \"refuted\""), Words{"proved"});
  EXPECT_EQ(refusal("name = \"column\"\nparam = {\"#0\" = -4}"), "accepted");
}

TEST_F(KernelObligations, OfGlobalMemoryBoundItsSectors) {
  std::ofstream(folder_ / "build" / "copy.ptx")
      << ".version 8.0\n.target sm_90\n.address_size 64\n.entry copy(.param .u64 p)\n.reqntid 32, 1, 1\n{\n"
         ".reg .b32 %r<3>; .reg .b64 %d<4>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3];\nret;\n}\n";
  auto const outcome = [&](std::string const& lines) {
    auto const all = read("[[kernel]]\nptx = \"build/copy.ptx\"\n" + lines);
    Malformed const* const wrong = std::get_if<Malformed>(&all.at(0).what);
    if (wrong == nullptr) return std::string(name(decide(all.at(0), {}).outcome));
    return wrong->error.message.substr(wrong->error.message.find(": ") + 2);  // behind the place
  };
  EXPECT_EQ(outcome("global = true"), "proved");
  EXPECT_EQ(outcome("global = true\nexcess_sectors = 0"), "refuted");
  EXPECT_EQ(outcome("global = true\nexcess_sectors = 0\npointers = 256"), "proved");
  EXPECT_EQ(outcome("excess_sectors = 0"), "excess_sectors is of global memory");
  EXPECT_EQ(outcome("global = true\npointers = 48"), "pointers is a power of two: bytes");
  EXPECT_EQ(outcome("global = 1"), "global is true or false");
}

// One line has a load from global memory of stride 8, 8 sectors, and a store to shared memory without a conflict.
TEST_F(KernelObligations, AllowancesOfGlobalMemoryAreOfItsAccesses) {
  std::ofstream(folder_ / "build" / "both.ptx")
      << ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[4096];\n"
         ".entry both(.param .u64 .ptr .global .align 256 p)\n.reqntid 64, 1, 1\n{\n"
         ".reg .b32 %r<9>; .reg .b64 %d<4>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %d2, %r1, 8; add.s64 %d3, %d1, %d2;\n.loc 1 5 0\nld.global.u32 %r2, [%d3];\n"
         "mov.u32 %r3, tile; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r2;\nret;\n}\n"
         ".file 1 \"src/both.cu\"\n";
  auto const outcome = [&](std::string const& lines) {
    auto const all = read("[[kernel]]\nptx = \"build/both.ptx\"\n" + lines);
    Malformed const* const wrong = std::get_if<Malformed>(&all.at(0).what);
    if (wrong == nullptr) return std::string(name(decide(all.at(0), {}).outcome));
    return wrong->error.message.substr(wrong->error.message.find(": ") + 2);  // behind the place
  };
  auto const allowed = [&](std::string const& what) {
    return outcome("global = true\nallow = [{line = \"both.cu:5\", " + what + "}]");
  };
  EXPECT_EQ(outcome("global = true"), "refuted") << "8 sectors, 5 allowed";
  EXPECT_EQ(allowed("sectors = 8"), "proved");
  EXPECT_EQ(allowed("sectors = 7"), "refuted");
  EXPECT_EQ(allowed("sectors = 8, excess = 4"), "proved");
  EXPECT_EQ(allowed("sectors = 8, excess = 3"), "refuted");
  EXPECT_EQ(allowed("sectors = 8, excess = 9, lost = 8"), "proved")
      << "4 above the ideal in each of two warps";
  EXPECT_EQ(allowed("sectors = 8, excess = 9, lost = 7"), "refuted");
  EXPECT_EQ(allowed("at_most = 8"), "refuted") << "wavefronts of the store are allowed, and no sectors";
  EXPECT_EQ(outcome("global = true\nallow = [{line = \"both.cu:5\", sectors = 8}, {line = \"both.cu:5\", "
                    "at_most = 1}]"),
            "proved");
  EXPECT_EQ(allowed("sectors = 8, at_most = 8").substr(0, 19), "an allowance is {li");
  EXPECT_EQ(outcome("global = true\nallow = [{line = \"both.cu:6\", sectors = 8}]"),
            "no access to global memory is at 'both.cu:6'");
  EXPECT_EQ(outcome("allow = [{line = \"both.cu:5\", sectors = 8}]"), "sectors are of global memory");
}

TEST_F(KernelObligations, AllowLinesWhatTheySay) {
  std::string const two = "name = \"two\"\nblock = 32\n";
  EXPECT_EQ(verdicts(two), Words{"refuted"});
  EXPECT_EQ(verdicts(two + "allow = [{line = \"gemm.cu:7\", at_most = 32}]"), Words{"proved"});
  EXPECT_EQ(verdicts(two + "allow = [{line = \"src/gemm.cu:7\", at_most = 31}]"), Words{"refuted"});
  EXPECT_EQ(verdicts(two + "at_most = 32\nallow = [{line = \"gemm.cu:7\", at_most = 31}]"), Words{"refuted"})
      << "an allowance goes before at_most, also where it is less";
  expect_refusal(two + "allow = [{line = \"gemm.cu:6\", at_most = 8}]", "no access to shared memory is at");
  expect_refusal(two + "allow = [{line = \"mm.cu:7\", at_most = 8}]", "no access to shared memory is at");
  // For kernels of a name alone.
  std::string const both = "name = \"two|again\"\nblock = 32\n";
  EXPECT_EQ(verdicts(both + "allow = [{line = \"gemm.cu:7\", at_most = 32}]"), (Words{"proved", "proved"}));
  EXPECT_EQ(verdicts(both + "allow = [{line = \"gemm.cu:7\", at_most = 32, kernel = \"^two\"}]"),
            (Words{"proved", "refuted"}));
  EXPECT_EQ(verdicts(two + "allow = [{line = \"gemm.cu:7\", at_most = 32, kernel = \"^tw\"}]"),
            Words{"proved"});
  expect_refusal(two + "allow = [{line = \"gemm.cu:7\", at_most = 32, kernel = \"other\"}]",
                 "no access to shared memory is at 'gemm.cu:7' in a kernel that 'other' finds");
  expect_refusal(two + "allow = [{line = \"gemm.cu:7\", at_most = 32, kernel = \"(\"}]",
                 "not a regular expression");
  expect_refusal(two + "allow = [{line = \"gemm.cu:7\", at_most = 32, name = \"two\"}]",
                 "unknown key 'name'");
  expect_refusal(two + "allow = [{line = \"gemm.cu:7\"}]", "an allowance is");
  expect_refusal(two + "allow = [{line = \"gemm.cu:7\", at_most = 8}, {line = \"gemm.cu:7\", at_most = 9}]",
                 "allowance already");
  expect_refusal(
      two + "allow = [{line = \"gemm.cu:7\", at_most = 8}, {line = \"src/gemm.cu:7\", at_most = 9}]",
      "'gemm.cu:7' and 'src/gemm.cu:7' are of one access: it has an allowance already");
  expect_refusal(two + "allow = [{line = \"gemm.cu:7\", at_most = 8}, {line = \"./gemm.cu:7\", at_most = 9}]",
                 "'gemm.cu:7' and './gemm.cu:7' are of one access");
  EXPECT_EQ(
      verdicts(two + "allow = [{line = \"./gemm.cu:7\", at_most = 32}, {line = \"gemm.cu:8\", at_most = 1}]"),
      Words{"proved"});
}

TEST_F(KernelObligations, AreRefusedWithTheirPlace) {
  expect_refusal("name = \"gemm_kernel\"", ":3: no kernel of the file has a name that matches");
  expect_refusal("name = \"(\"", ":3: name is not a regular expression");
  expect_refusal("name = \"two\"", "the shape of the block of two is not known");
  expect_refusal("name = \"two\"\nblock = [32, 64]", "at most 1024 threads");
  expect_refusal("name = \"two\"\nblock = [1, 1, 128]", "at most 64 threads in z");
  expect_refusal("name = \"two\"\nblock = [[32], [64], [32, 1]]", ":4: this block is listed twice");
  expect_refusal("name = \"column\"\nparam = {\"#0\" = 4294967296}",
                 ":4: column: #0 has 32 bits: -2147483648 to 4294967295");
  expect_refusal("name = \"column\"\nparam = {\"#0\" = 4, column_param_0 = 4}", "are one parameter");
  expect_refusal("name = \"two\"\nblock = []", "one to three numbers");
  expect_refusal("name = \"two\"\nblock = [[32], 64]", "a list of shapes");
  expect_refusal("name = \"two\"\nblock = \"32\"", "block must be an integer");
  expect_refusal("name = \"free\"\nexcess = 1\nat_most = 2", "both bound an access");
  expect_refusal("name = \"free\"\nparam = {n = 1}", "no kernel has a parameter 'n'");
  expect_refusal("name = \"free\"\ngrid = [1, 65536]",
                 "a grid has at most 2147483647, 65535 and 65535 blocks");
  expect_refusal("name = \"free\"\ngrid = [1, 2, 3, 4]", "grid has one to three numbers");
  expect_refusal("name = \"free\"\ndata = \"maybe\"", "\"allow\" or \"refuse\"");
  expect_refusal("name = \"free\"\nlayout = \"(8,8):(8,1)\"", "unknown key 'layout'");
  auto const missing = read("[[kernel]]\nptx = \"gone.ptx\"\n");
  EXPECT_NE(std::get<Malformed>(missing.at(0).what).error.message.find("kernels.toml:2"), std::string::npos);
  auto const twice = read(
      "[[kernel]]\nptx = \"build/gemm.ptx\"\nname = \"free\"\n[[kernel]]\nptx = "
      "\"build/gemm.ptx\"\nname = \"^free\"\n[[kernel]]\nptx = \"./build/gemm.ptx\"\nname = \"free\"\n");
  ASSERT_EQ(twice.size(), 3U);
  EXPECT_EQ(twice[1].name, "build/gemm.ptx: free");
  EXPECT_THROW(read("kernel = 3\n"), InputError);
}

}  // namespace
}  // namespace swizproof
