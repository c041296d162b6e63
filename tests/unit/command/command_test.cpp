// Whole command lines in one process: what comes on standard output, and the exit code.
#include "command/line/run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <thread>

namespace swizproof::command {
namespace {

struct Printed {
  int code;
  std::string out, err;
};

Printed printed_by(std::vector<std::string> const& words) {
  std::vector<char const*> argv{"swizproof"};
  for (std::string const& word : words) argv.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int const code = run(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  std::fflush(stderr);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, LeavesNothingBehindForTheNext) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(printed_by({"eval", "(4):(2)", "--json"}).code, 0);
    Printed const plain = printed_by({"eval", "(4):(2)"});
    EXPECT_EQ(plain.code, 0);
    EXPECT_NE(plain.out.find("0 2 4 6"), std::string::npos) << plain.out;
    EXPECT_EQ(printed_by({"eval", "(4):(2"}).code, 2);
    EXPECT_EQ(printed_by({"--help"}).code, 0);
    EXPECT_EQ(printed_by({"equal", "(4):(2)", "(4):(3)", "--element", "f32"}).code, 1);
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
    Printed const answer = printed_by(c.words);
    EXPECT_EQ(answer.code, 2);
    auto const document = nlohmann::json::parse(answer.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << answer.out;
    auto const& error = document.at("error");
    EXPECT_NE(error.at("message").get<std::string>().find(c.message), std::string::npos) << answer.out;
    EXPECT_EQ(error.at("input"), c.input.empty() ? nlohmann::json() : nlohmann::json(c.input));
    EXPECT_EQ(error.at("at"), c.at < 0 ? nlohmann::json() : nlohmann::json(c.at)) << answer.out;
  }
}

TEST(CommandLine, AnswersAreWhatIsPrinted) {
  for (std::vector<std::string> const& words : std::vector<std::vector<std::string>>{
           {"eval", "(4):(2)"},
           {"check", "(8,64):(64,1)", "--element", "f16", "--access", "ldmatrix.x4"},
           {"equal", "(4):(2)", "(4):(3)", "--element", "f32"},
           {"eval", "(4):(2"},
           {"frobnicate"}}) {
    std::vector<std::string> with_json = words;
    with_json.emplace_back("--json");
    Printed const printed = printed_by(with_json);
    Reply const given = answer(words);
    EXPECT_EQ(given.exit_code, printed.code);
    EXPECT_EQ(given.document, printed.out);
    EXPECT_EQ(given.complaint, printed.err);
  }
  EXPECT_TRUE(answer({"show", "(8,64):(64,1)", "--element=f16", "--svg=-"}).document.find("</svg>") !=
              std::string::npos);
  EXPECT_EQ(answer({"predict"}).exit_code, 2);
  std::string lanes = "0";
  for (int lane = 1; lane < 32; ++lane) lanes += ", " + std::to_string(128 * (lane % 2));
  Reply const predicted = answer({"predict"}, R"({"op": "ld.shared.b32", "address": [)" + lanes + "]}\n");
  EXPECT_EQ(nlohmann::json::parse(predicted.document)["predictions"][0]["wavefronts"], 2);
}

TEST(CommandLine, AnswersToSeveralAtATimeAreThoseToOne) {
  auto const words = [](int i) {
    return std::vector<std::string>{"equal", "Sw<" + std::to_string(i % 4) + ",4,3>", "tma:128B"};
  };
  std::vector<Reply> alone, together(32);
  for (int i = 0; i < 4; ++i) alone.push_back(answer(words(i)));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < together.size(); ++i)
      threads.emplace_back([&, i] { together[i] = answer(words(static_cast<int>(i))); });
  }
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i].document, alone[i % 4].document);
    EXPECT_EQ(together[i].exit_code, i % 4 == 3 ? 0 : 1);
  }
}

TEST(CommandLine, TextThatIsNoUtf8IsAnswered) {
  for (std::vector<std::string> const& words :
       std::vector<std::vector<std::string>>{{"prove", "lay\xff.toml", "--json"},
                                             {"eval", "(4):(\xff)", "--json"},
                                             {"show", "(4,4):(4,1)", "--element", "f\xe9", "--json"},
                                             {"equal", "fn(\xe9) = 3", "tma:128B", "--json"},
                                             {"--json", "\xff"}}) {
    Printed const answer = printed_by(words);
    EXPECT_EQ(answer.code, 2);
    EXPECT_FALSE(nlohmann::json::parse(answer.out, nullptr, false).is_discarded()) << answer.out;
  }
  std::string const file = testing::TempDir() + "k\xff.toml";
  std::ofstream(file) << "[[obligation]]\nname = \"x\"\nbijective = \"Sw<3,4,3>\"\n";
  Printed const answer = printed_by({"prove", file, "--json"});
  std::remove(file.c_str());
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.out.find("k\xef\xbf\xbd.toml:1"), std::string::npos) << answer.out;
}

TEST(CommandLine, ALongNameTakesNoLongerThanItsLength) {
  std::string const file = testing::TempDir() + "long_name.toml";
  std::ofstream(file) << "[[obligation]]\nname = \"" << std::string(300000, 'a')
                      << "\"\nbijective = \"Sw<3,4,3>\"\n";
  Printed const answer = printed_by({"prove", file, "--only", "(.*.*.*.*.*.*.*.*)*b"});
  std::remove(file.c_str());
  EXPECT_EQ(answer.code, 2) << "no name matches";
}

TEST(CommandLine, NameAndPatternBothChoose) {
  std::string const name = "involution/public kernels";
  EXPECT_EQ(printed_by({"prove", "--list", "--name", name}).out, name + "\n");
  EXPECT_EQ(printed_by({"prove", "--list", "--name", name, "--only", "^invol"}).out, name + "\n");
  EXPECT_EQ(printed_by({"prove", "--list", "--name", name, "--only", "^period"}).code, 2);
}

}  // namespace
}  // namespace swizproof::command
