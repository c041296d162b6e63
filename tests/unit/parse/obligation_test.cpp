// Obligations: what a file may hold, what is refused and where.
#include <swizproof/parse/obligations.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace swizproof {
namespace {

/// A file that lives as long as the test.
class File {
 public:
  explicit File(std::string const& text) { std::ofstream(path_) << text; }
  ~File() { std::remove(path_.c_str()); }
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "obligation_test_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
};

std::vector<Obligation> read(std::string const& text) { return read_obligations(File(text).path()); }

void expect_refusal(std::string const& text, std::string const& reason) {
  try {
    refuse_malformed(read(text));
    ADD_FAILURE() << "accepted: " << text;
  } catch (InputError const& error) {
    EXPECT_NE(error.message.find(reason), std::string::npos) << error.message;
  }
}

constexpr char const* good = R"toml([[obligation]]
name = "A tile"
layout = "Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)"
access = ["ldmatrix.x4", "copy.row128"]
)toml";

TEST(Obligations, AnAccessIsProved) {
  auto const all = read(good);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "A tile");
  EXPECT_EQ(all[0].title(), "A tile") << "no architecture if there is only one";
  ObligationReport const report = decide(all[0], {});
  EXPECT_TRUE(std::holds_alternative<Proved>(report.outcome));
  EXPECT_EQ(report.accesses.size(), 2U);
}

TEST(Obligations, WhatAnEarlierOneAsksIsDecidedOnce) {
  std::string const tile = "layout = \"Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)\"\n";
  auto const entry = [](std::string const& rest) {
    static int number = 0;
    return "[[obligation]]\nname = \"" + std::to_string(++number) + "\"\n" + rest;
  };
  std::string const x4 = "access = [\"ldmatrix.x4\"]\n", column = "access = [\"column.b16\"]\n";
  auto const first = first_that_ask_the_same(
      read(entry(tile + x4) + entry(tile + column) + entry(tile + x4 + "weight = 3\nkernel = \"k\"\n") +
           entry(tile + x4 + "at_most = 4\n") + entry(tile + x4 + "align = 2048\n") +
           entry(tile + x4 + "arch = \"sm_100\"\n") + entry(tile + x4 + "expect = \"refuted\"\n") +
           entry("layout = \"Sw<3,4,3> o smem_ptr[16b](unset) o (256,64):(64,1)\"\n" + x4) +
           entry("bijective = \"(8,8):(8,1)\"\n") + entry("bijective = \"(8,8):(8,1)\"\n") +
           entry(tile + "access = [\"ldmatrix.x4\", \"column.b16\"]\n") + entry(tile + column) +
           entry("layout = \"S<3,4,3> o smem_ptr_16b(unset) o (128,64):(64,1)\"\n" + x4) +
           entry(tile + "access = [\"ld.shared.b16: row = lane, col = i for i in 0..7\"]\n") +
           entry(tile + "access = [\"ld.shared.b16: row = lane, col = i for i in 0..63\"]\n") +
           entry("budget = 100000\nkernel = \"k\"\n")));
  EXPECT_EQ(first, (std::vector<std::size_t>{0, 1, 0, 3, 4, 5, 6, 7, 8, 9, 10, 1, 0, 13, 14, 15}));
}

TEST(Obligations, ExpectedRefutationsHoldAndUnexpectedProofsFail) {
  std::string const tail = "layout = \"(32,32):(32,1)\"\nelement = \"f32\"\naccess = \"column.b32.load\"\n";
  ObligationReport const bad =
      decide(read("[[obligation]]\nname = \"x\"\nexpect = \"refuted\"\n" + tail)[0], {});
  EXPECT_TRUE(std::holds_alternative<Proved>(bad.outcome));
  EXPECT_TRUE(std::holds_alternative<Refuted>(bad.found));
  ObligationReport const plain = decide(read("[[obligation]]\nname = \"x\"\n" + tail)[0], {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(plain.outcome));
  ObligationReport const good_one = decide(read(std::string(good) + "expect = \"refuted\"\n")[0], {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(good_one.outcome));
}

TEST(Obligations, WhatIsUndecidedIsUndecidedWhateverWasExpected) {
  // True, and not decidable here: three multipliers of 64 bits, and a sum that no rewriting simplifies.
  std::string const hard =
      "[[obligation]]\nname = \"x\"\nalways = \"((a ^ b) + 2 * (a & b)) * c == a * c + b * c\"\n"
      "for = {a = \"all\", b = \"all\", c = \"all\"}\n";
  Limits few;
  few.seconds = 1e6;
  few.steps = 10000;
  for (char const* expect : {"", "expect = \"refuted\"\n"}) {
    ObligationReport const report = decide(read(hard + expect)[0], few);
    ASSERT_TRUE(std::holds_alternative<Unknown>(report.outcome)) << expect;
    EXPECT_EQ(std::get<Unknown>(report.outcome).reason, "limit of 10000 steps");
  }
}

TEST(Obligations, AlignmentsAreExact) {
  auto const aligned = [](int to) {
    auto const all = read(
        "[[obligation]]\nname = \"x\"\naligned = {layout = \"tma:64B\", to = " + std::to_string(to) + "}\n");
    return std::holds_alternative<Proved>(decide(all[0], {}).outcome);
  };
  EXPECT_TRUE(aligned(512));
  EXPECT_TRUE(aligned(1024));
  EXPECT_TRUE(aligned(1536));
  EXPECT_FALSE(aligned(256));
  EXPECT_FALSE(aligned(768));
}

TEST(Obligations, AMapThatLosesDataIsRefutedBeforeItsBanks) {
  auto const all = read(
      "[[obligation]]\nname = \"x\"\nlayout = \"(8,64):(32,1)\"\nelement = \"f16\"\naccess = "
      "\"ldmatrix.x1\"\n");
  ObligationReport const report = decide(all[0], {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(report.outcome));
  EXPECT_TRUE(report.accesses.empty());
}

TEST(Obligations, AnAccessThatDoesNotFitIsRefutedAndMayBeExpected) {
  std::string const split =
      "[[obligation]]\nname = \"split\"\nlayout = \"Sw<3,1,3> o _0 o (64,64):(64,1)\"\nelement = \"f16\"\n"
      "access = \"copy.row128\"\n";
  ObligationReport const report = decide(read(split)[0], {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(report.outcome));
  EXPECT_FALSE(report.error);
  ASSERT_EQ(report.accesses.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<Misfit>(report.accesses[0].found));
  EXPECT_EQ(std::get<Misfit>(report.accesses[0].found).lane, 2U);
  ObligationReport const expected = decide(read(split + "expect = \"refuted\"\n")[0], {});
  EXPECT_TRUE(std::holds_alternative<Proved>(expected.outcome));
  EXPECT_TRUE(std::holds_alternative<Refuted>(expected.found));
}

TEST(Obligations, WhatIsFoundToBeMalformedWhileDecidingHasItsPlace) {
  // Parsed, and meaningless on this tile: whether a coordinate fits is known when the access is decided.
  auto const all =
      read("[[obligation]]\nname = \"flat\"\nlayout = \"Sw<3,4,3>\"\naccess = \"ldmatrix.x4\"\n" +
           std::string(good));
  ASSERT_EQ(all.size(), 2U);
  ObligationReport const report = decide(all[0], {});
  ASSERT_TRUE(report.error.has_value());
  EXPECT_NE(report.error->message.find(".toml:"), std::string::npos) << report.error->message;
  EXPECT_TRUE(std::holds_alternative<Unknown>(report.outcome));
  EXPECT_TRUE(std::holds_alternative<Proved>(decide(all[1], {}).outcome));
}

TEST(Obligations, OneMalformedEntryStopsNoOther) {
  auto const all = read(
      "[[obligation]]\nname = \"bad layout\"\nbijective = \"Sw<4,0,2>\"\n"
      "[[obligation]]\nname = \"odd key\"\nbijektive = \"Sw<3,4,3>\"\n"
      "[[obligation]]\nbijective = \"Sw<3,4,3>\"\n" +
      std::string(good) + good + "[[obligation]]\nname = \"last\"\nbijective = \"Sw<3,4,3>\"\n");
  ASSERT_EQ(all.size(), 6U);
  std::vector<std::string> names, verdicts;
  for (Obligation const& o : all) {
    ObligationReport const report = decide(o, {});
    EXPECT_EQ(report.error.has_value(), std::holds_alternative<Malformed>(o.what));
    names.push_back(o.name.substr(o.name.rfind('/') + 1));
    verdicts.emplace_back(report.error ? "malformed" : name(report.outcome));
  }
  EXPECT_EQ(verdicts, (std::vector<std::string>{"malformed", "malformed", "malformed", "proved", "malformed",
                                                "proved"}));
  EXPECT_EQ(names[0], "bad layout");
  EXPECT_EQ(names[1], "odd key");
  EXPECT_NE(names[2].find(".toml:7"), std::string::npos) << "its place, where it has no name: " << names[2];
  EXPECT_NE(names[4].find(".toml:13"), std::string::npos) << "the second of a name: " << names[4];
  EXPECT_THROW(refuse_malformed(all), InputError);
}

TEST(Obligations, TheArchitectureOfTheCommandLineIsForEntriesThatNameNone) {
  File const file(std::string(good) +
                  "arch = \"sm_80\"\n[[obligation]]\nname = \"b\"\nbijective = \"Sw<3,4,3>\"\n");
  auto const all = read_obligations(file.path(), std::array{&parse_architecture("sm_100")});
  EXPECT_EQ(all.at(0).arch->name, "sm_80");
  EXPECT_EQ(all.at(1).arch->name, "sm_100");
}

TEST(Obligations, WhatSpeaksOfBanksIsAskedOfEachArchitecture) {
  File const file(std::string(good) + "arch = ['sm_90', 'blackwell']\n[[obligation]]\nname = 'a function'\n" +
                  "equal = ['tma:128B', 'Sw<3,4,3>']\n[[obligation]]\nname = 'plain'\nlayout = '-'\n" +
                  "access = 'ld.shared.b32: address = 4*lane'\n");
  EXPECT_THROW(refuse_malformed(read_obligations(file.path())), InputError)
      << "two architectures are called so";
  File const two(std::string(good) + "arch = ['sm_90', 'sm_120']\n[[obligation]]\nname = 'a function'\n" +
                 "equal = ['tma:128B', 'Sw<3,4,3>']\n[[obligation]]\nname = 'plain'\nlayout = '-'\n" +
                 "access = 'ld.shared.b32: address = 4*lane'\n");
  std::array const asked{&parse_architecture("sm_80"), &parse_architecture("sm_89"),
                         &parse_architecture("hopper")};
  std::vector<std::string> titles;
  for (Obligation const& o : read_obligations(two.path(), asked)) titles.push_back(o.title());
  EXPECT_EQ(titles, (std::vector<std::string>{"A tile on sm_90", "A tile on sm_120", "a function",
                                              "plain on sm_80", "plain on sm_89", "plain on sm_90"}));
  expect_refusal(std::string(good) + "arch = ['sm_90', 'hopper']\n", "twice");
  expect_refusal(std::string(good) + "arch = []\n", "arch is an empty list");
  // A budget counts the accesses of its architecture.
  std::string const per_arch =
      "[[obligation]]\nname = 'a'\nkernel = 'k'\nlayout = '(32,32):(33,1)'\nelement = 'f32'\naccess = "
      "'column.b32.load'\narch = 'sm_80'\n"
      "[[obligation]]\nname = 'b'\nkernel = 'k'\nlayout = '(32,32):(33,1)'\nelement = 'f32'\naccess = "
      "'column.b32.load'\narch = 'sm_90'\n"
      "[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = 32\narch = ";
  for (char const* arch : {"'sm_80'", "'sm_90'"}) {
    std::vector<Obligation> const three = read(per_arch + arch);
    EXPECT_EQ(std::get<StaysWithin>(three[2].what).parts.size(), 1U) << arch;
    EXPECT_EQ(decide(three[2], {}).spending->total, 32U) << arch;
  }
  expect_refusal(per_arch + "'sm_100'", "no access of the kernel 'k' is checked for sm_100");
}

/// Two accesses of a kernel, how often each runs, and a budget for them.
std::string budget_of(std::string const& wavefronts, std::string const& weight = "weight = [2, 3]\n") {
  return std::string(good) + "kernel = 'k'\n" + weight +
         "[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = " + wavefronts +
         "\n[[obligation]]\nname = 'other'\nkernel = 'k2'\nlayout = '-'\naccess = 'ld.shared.b32: address = "
         "4*lane'\n";
}

TEST(Obligations, ABudgetIsTheSumOfAllCasesOfAllAccesses) {
  auto const all = read(budget_of("640"));
  ObligationReport const part = decide(all[0], {});
  ASSERT_EQ(part.accesses.size(), 2U);
  std::uint64_t const spent =
      2U * 8 * 4 * 4 + 3 * 32 * 4;  // ldmatrix.x4 and copy.row128 go once over (128,64)
  EXPECT_GT(*part.accesses[0].cost()->total, 8U * 4 * 4) << "they are checked at every position";
  ObligationReport const exact = decide(all[1], {});
  EXPECT_TRUE(std::holds_alternative<Proved>(exact.outcome)) << exact.detail;
  ASSERT_TRUE(exact.spending.has_value());
  EXPECT_EQ(exact.spending->total, spent);
  EXPECT_EQ(exact.spending->ideal, spent) << "free of conflicts";
  EXPECT_EQ(exact.accesses.size(), 2U);
  ObligationReport const less = decide(read(budget_of("639"))[1], {});
  EXPECT_TRUE(std::holds_alternative<Refuted>(less.outcome));
  EXPECT_EQ(decide(read(budget_of("639", ""))[1], {}).spending->total, 8U * 4 * 4 + 32 * 4) << "each once";
}

TEST(Obligations, ABudgetOfWhatCannotBeCountedIsUnknown) {
  auto const all = read(
      "[[obligation]]\nname = 'x'\nkernel = 'k'\nlayout = '-'\naccess = 'ld.shared.b32: address = 4*lane + "
      "12*i + 4*j for i for j'\n"
      "[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = 4611686018427387904\n");
  EXPECT_TRUE(std::holds_alternative<Unknown>(decide(all[1], {}).outcome)) << decide(all[1], {}).detail;
}

TEST(Obligations, ABudgetCountsNothingThatDoesNotFit) {
  auto const all = read(
      "[[obligation]]\nname = 'x'\nkernel = 'k'\nlayout = '(8,64):(72,1)'\nelement = 'f16'\n"
      "access = 'ld.shared.b128: row = lane%8, col = 4*(lane/8)'\n"
      "[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = 1000\n"
      "[[obligation]]\nname = 'y'\nkernel = 'lossy'\nlayout = '(8,8):(1,1)'\nelement = 'f32'\n"
      "access = 'ld.shared.b32: row = lane%8, col = 0'\n"
      "[[obligation]]\nname = 'sum of lossy'\nkernel = 'lossy'\nbudget = 1000\n");
  EXPECT_TRUE(std::holds_alternative<Refuted>(decide(all[1], {}).outcome));
  EXPECT_FALSE(decide(all[1], {}).spending.has_value());
  EXPECT_TRUE(std::holds_alternative<Refuted>(decide(all[3], {}).outcome));
}

TEST(Obligations, BudgetsAndWeightsAreRefusedWithThePlace) {
  // An entry that is there twice is not counted once.
  expect_refusal(
      "[[obligation]]\nname = 'a'\nkernel = 'k'\nlayout = '(8,64):(72,1)'\nelement = 'f16'\naccess = "
      "'ldmatrix.x1'\n"
      "[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = 100\n"
      "[[obligation]]\nname = 'a'\nkernel = 'k'\nlayout = '(8,64):(72,1)'\nelement = 'f16'\naccess = "
      "'ldmatrix.x1'\n",
      "which cannot be read");
  expect_refusal("[[obligation]]\nname = 'sum'\nbudget = 3\n", "budget needs the kernel");
  expect_refusal(budget_of("0"), "budget must be an integer from 1");
  expect_refusal(budget_of("8", "weight = [1]\n"), "one for each access: 2");
  expect_refusal(budget_of("8", "weight = 0\n"), "weight must be an integer from 1");
  expect_refusal("[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = 3\n",
                 "no obligation with an access has the kernel");
  expect_refusal("[[obligation]]\nname = 'sum'\nkernel = 'k'\nbudget = 3\nat_most = 2\n",
                 "at_most cannot be used with budget");
  expect_refusal("[[obligation]]\nname = 'x'\nweight = 2\nequal = ['tma:128B', 'tma:64B']\n",
                 "weight cannot be used with equal");
}

TEST(Obligations, APrintedObligationSaysWhereItIsPrinted) {
  EXPECT_EQ(read(std::string(good) + "source = 'src/tiles.cpp:12'\n")[0].source, "src/tiles.cpp:12");
}

TEST(Obligations, RefusesWithThePlace) {
  expect_refusal("", "no [[obligation]]");
  expect_refusal("[[obligation]]\nname = \"a\"\n", "exactly one of");
  expect_refusal("[[obligation]]\nname = \"a\"\nbijective = \"Sw<3,4,3>\"\nequal = [\"a\", \"b\"]\n",
                 "exactly one of");
  expect_refusal("[[obligation]]\nbijective = \"Sw<3,4,3>\"\n", "has no name");
  expect_refusal("[[obligation]]\nname = \"a\"\nbijective = 5\n", ":3: bijective must be a string");
  expect_refusal("[[obligation]]\nname = \"a\"\nbijective = \"Sw<4,0,2>\"\n", ":3: not a valid swizzle");
  expect_refusal("[[obligation]]\nname = \"a\"\nlayot = \"x\"\n", ":3: unknown key 'layot'");
  expect_refusal("[[obligation]]\nname = \"a\"\nequal = [\"tma:32B\"]\n", "equal takes two");
  expect_refusal("[[obligation]]\nname = \"a\"\nequal = [\"tma:32B\", \"tma:64B\"]\nat_most = 4\n",
                 "at_most cannot be used with equal");
  expect_refusal("[[obligation]]\nname = \"a\"\naligned = {layout = \"tma:32B\", to = 0}\n", "from 1");
  expect_refusal(std::string(good) + good, "two obligations of this name");
  expect_refusal(std::string(good) + "expect = \"maybe\"\n", "expect must be");
  for (char const* bad : {"(", "((a{99}){99}){99}", "a{1,99999}", "\\\\99999999999999999999"})
    expect_refusal(std::string(good) + "kernel = \"" + bad + "\"\n",
                   ":5: kernel is not a regular expression");
  EXPECT_EQ(read(std::string(good) + "kernel = \"gemm_4096x[0-9]{2,999}\"\n")[0].kernel.size(), 22U);
  std::string const always = "[[obligation]]\nname = \"a\"\nalways = \"x < 4\"\n";
  expect_refusal(always + "for = {x = \"3..2\"}\n", "empty");
  expect_refusal(always + "for = {}\n", "1 to 8 variables");
  expect_refusal(always + "for = {x = \"0..3\"}\nelement = \"f16\"\n",
                 ":5: element cannot be used with always");
  expect_refusal(always + "for = {x = \"0..3\"}\narch = \"sm_90\"\n", ":5: arch cannot be used with always");
  expect_refusal("[[obligation]]\nname = \"a\"\nequal = [\"tma:32B\", \"tma:64B\"]\narch = \"sm_90\"\n",
                 "arch cannot be used with equal");
  expect_refusal(
      "[[obligation]]\nname = \"a\"\nlayout = \"-\"\nelement = \"f16\"\naccess = \"ld.shared.b32: "
      "address = 4*lane\"\n",
      ":4: - has no elements");
  expect_refusal("[[obligation]\n", ":1: ");
  expect_refusal("name = 3\n", "unknown key 'name'");
  EXPECT_THROW((void)read_obligations("/no/such/file.toml"), InputError);
  EXPECT_THROW((void)read_obligations("/"), InputError);
}

}  // namespace
}  // namespace swizproof
