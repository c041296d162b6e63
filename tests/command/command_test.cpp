// Whole command lines in one process: what comes on standard output, and the exit code.
#include "command/run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace swizproof::command {
namespace {

struct Answer {
  int code;
  std::string out;
};

Answer answer_to(std::vector<std::string> const& words) {
  std::vector<char const*> argv{"swizproof"};
  for (std::string const& word : words) argv.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int const code = run(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  (void)testing::internal::GetCapturedStderr();
  return {code, testing::internal::GetCapturedStdout()};
}

TEST(CommandLine, LeavesNothingBehindForTheNext) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(answer_to({"eval", "(4):(2)", "--json"}).code, 0);
    Answer const plain = answer_to({"eval", "(4):(2)"});
    EXPECT_EQ(plain.code, 0);
    EXPECT_NE(plain.out.find("0 2 4 6"), std::string::npos) << plain.out;
    EXPECT_EQ(answer_to({"eval", "(4):(2"}).code, 2);
    EXPECT_EQ(answer_to({"--help"}).code, 0);
    EXPECT_EQ(answer_to({"equal", "(4):(2)", "(4):(3)", "--element", "f32"}).code, 1);
  }
}

TEST(CommandLine, WithJsonAnErrorIsADocument) {
  struct Case {
    std::vector<std::string> words;
    std::string message, input;
    int at;
  };
  for (Case const& c :
       std::vector<Case>{{{"eval", "(4):(2", "--json"}, "expected", "(4):(2", 6},
                         {{"--json", "eval", "Sw<4,0,2>"}, "swizzle", "Sw<4,0,2>", 0},
                         {{"frobnicate", "--json"}, "unknown command 'frobnicate'", "", -1},
                         {{"eval", "--json"}, "LAYOUT is required", "", -1},
                         {{"prove", "--only", "(", "--json"}, "not a regular expression", "(", 0},
                         {{"prove", "--json", "--timeout", "-1"}, "must be from", "", -1}}) {
    Answer const answer = answer_to(c.words);
    EXPECT_EQ(answer.code, 2);
    auto const document = nlohmann::json::parse(answer.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << answer.out;
    auto const& error = document.at("error");
    EXPECT_NE(error.at("message").get<std::string>().find(c.message), std::string::npos) << answer.out;
    EXPECT_EQ(error.at("input"), c.input.empty() ? nlohmann::json() : nlohmann::json(c.input));
    EXPECT_EQ(error.at("at"), c.at < 0 ? nlohmann::json() : nlohmann::json(c.at)) << answer.out;
  }
}

TEST(CommandLine, TextThatIsNoUtf8IsAnswered) {
  for (std::vector<std::string> const& words :
       std::vector<std::vector<std::string>>{{"prove", "lay\xff.toml", "--json"},
                                             {"eval", "(4):(\xff)", "--json"},
                                             {"show", "(4,4):(4,1)", "--element", "f\xe9", "--json"},
                                             {"equal", "fn(\xe9) = 3", "tma:128B", "--json"},
                                             {"--json", "\xff"}}) {
    Answer const answer = answer_to(words);
    EXPECT_EQ(answer.code, 2);
    EXPECT_FALSE(nlohmann::json::parse(answer.out, nullptr, false).is_discarded()) << answer.out;
  }
  std::string const file = testing::TempDir() + "k\xff.toml";
  std::ofstream(file) << "[[obligation]]\nname = \"x\"\nbijective = \"Sw<3,4,3>\"\n";
  Answer const answer = answer_to({"prove", file, "--json"});
  std::remove(file.c_str());
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.out.find("k\xef\xbf\xbd.toml:1"), std::string::npos) << answer.out;
}

TEST(CommandLine, ALongNameTakesNoLongerThanItsLength) {
  std::string const file = testing::TempDir() + "long_name.toml";
  std::ofstream(file) << "[[obligation]]\nname = \"" << std::string(300000, 'a')
                      << "\"\nbijective = \"Sw<3,4,3>\"\n";
  Answer const answer = answer_to({"prove", file, "--only", "(.*.*.*.*.*.*.*.*)*b"});
  std::remove(file.c_str());
  EXPECT_EQ(answer.code, 2) << "no name matches";
}

TEST(CommandLine, NameAndPatternBothChoose) {
  std::string const name = "involution/public kernels";
  EXPECT_EQ(answer_to({"prove", "--list", "--name", name}).out, name + "\n");
  EXPECT_EQ(answer_to({"prove", "--list", "--name", name, "--only", "^invol"}).out, name + "\n");
  EXPECT_EQ(answer_to({"prove", "--list", "--name", name, "--only", "^period"}).code, 2);
}

}  // namespace
}  // namespace swizproof::command
