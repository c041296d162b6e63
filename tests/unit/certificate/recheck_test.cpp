// Rechecking with a simulated solver: the result for each of its answers.
#include "certificate/certificate.hpp"
#include "system/whole_file.hpp"

#include <swizproof/engine/decide.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace swizproof {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(std::string const& name) const { return path_ + "/" + name; }
  /// A program that is this shell script.
  [[nodiscard]] std::string program(std::string const& name, std::string const& script) const {
    WholeFile(file(name), "a solver").write("#!/bin/sh\n" + script);
    chmod(file(name).c_str(), 0700);
    return file(name);
  }

 private:
  std::string path_ = (fs::temp_directory_path() / "recheck-test-XXXXXX").string();
};

constexpr std::size_t questions = 300;  // of a claim: more than two parts

Claim many() {
  Statement const statement{"x + c ^ x ^ x + c is x", [] {
                              std::vector<Question> all;
                              for (std::size_t i = 0; i < questions; ++i)
                                all.push_back(ask(fmt::format("q{}", i), 64, {{"x", 8}}, [i](auto x) {
                                  return states(((x + (i + 1)) ^ x ^ (x + (i + 1))) == x);
                                }));
                              return all;
                            }};
  Statement const control{
      "x is even", [] {
        return std::vector{ask("low bit", 64, {{"x", 8}}, [](auto x) { return states((x & 1) == 0); })};
      }};
  return {"many", statement, "all x", "a test", control, {}};
}

/// Result of the claim's script and of its control where the solver does what the shell script says; it is given the
/// question as $1, and `rest` answers it rightly.
struct Both {
  Rechecked claim{}, control{};
};
constexpr char const* rest = R"(grep -q '(assert (= |x| ' "$1" && echo sat || echo unsat)";

/// Writes the certificates of the claims.
void write(Folder const& folder, std::vector<Claim> const& catalogue) {
  fs::remove_all(folder.file("certificates"));
  CertificateWriter writer(folder.file("certificates"), catalogue.size());
  for (Claim const& claim : catalogue) {
    ClaimReport report;
    report.control = search_counterexample(claim.control.questions()[0], 10).value();
    writer.add(claim, report, {});
  }
  (void)writer.finish();
}

Both asked(Folder const& folder, std::string const& script) {
  std::vector<Claim> const catalogue{many()};
  write(folder, catalogue);
  std::string const solver = folder.program("solver", script);
  Recheck const result = recheck(folder.file("certificates"), catalogue, {solver, solver}, 1, {});
  Both out;
  for (Rechecked const& r : result.files) {
    if (r.file == "many.smt2") out.claim = r;
    if (r.file == "many.control.smt2") out.control = r;
  }
  return out;
}

using Result = Rechecked::Result;

TEST(Recheck, AsksEveryQuestionOfAClaimOnce) {
  Folder const folder;
  std::string const log = folder.file("log");
  auto const [claim, control] =
      asked(folder, "sed -n 's/^(define-fun |[0-9]*: \\(q[0-9]*\\)|.*/\\1/p' \"$1\" >>" + log + "\n" + rest);
  EXPECT_EQ(claim.result, Result::agrees) << claim.detail;
  EXPECT_EQ(control.result, Result::agrees) << control.detail;
  std::string expected;
  for (std::size_t i = 0; i < questions; ++i) expected += fmt::format("q{}\n", i);
  EXPECT_EQ(read_file(log), expected);
}

TEST(Recheck, OnePartThatIsSatisfiableDisagrees) {
  Folder const folder;
  for (char const* name : {"q0", "q150", "q299"}) {
    auto const [claim, control] =
        asked(folder, fmt::format("grep -q ': {}|' \"$1\" && {{ echo sat; exit; }}\n{}", name, rest));
    EXPECT_EQ(claim.result, Result::disagrees) << name;
    EXPECT_TRUE(claim.detail.ends_with("solver: sat")) << claim.detail;
    EXPECT_EQ(control.result, Result::agrees);
  }
}

TEST(Recheck, OnePartWithoutAnAnswerLeavesTheClaimUndecided) {
  Folder const folder;
  for (char const* name : {"q0", "q150", "q299"}) {
    auto const [claim, control] =
        asked(folder, fmt::format("grep -q ': {}|' \"$1\" && {{ echo broken; exit 3; }}\n{}", name, rest));
    EXPECT_EQ(claim.result, Result::unknown) << name;
    EXPECT_TRUE(claim.detail.ends_with("says broken, and exits with 3")) << claim.detail;
    EXPECT_EQ(control.result, Result::agrees);
  }
}

TEST(Recheck, WhatIsSatisfiableDisagreesWhateverHadNoAnswer) {
  Folder const folder;
  auto const [claim, control] = asked(
      folder,
      fmt::format("grep -q ': q0|' \"$1\" && exit 3\ngrep -q ': q299|' \"$1\" && {{ echo sat; exit; }}\n{}",
                  rest));
  EXPECT_EQ(claim.result, Result::disagrees);
  EXPECT_EQ(control.result, Result::agrees);
}

TEST(Recheck, AsksEachSolverAboutItsKindOfQuestion) {
  auto const claim = [](std::string const& name, auto const& law) {
    Claim out = many();
    out.name = name;
    out.statement = {name, [law] { return std::vector{ask("all", 64, {{"x", 8}, {"n", 3}}, law)}; }};
    return out;
  };
  std::vector<Claim> const catalogue{
      claim("masks", [](auto x, auto n) { return states(((x ^ n) & 1) == ((x & 1) ^ (n & 1))); }),
      claim("shifts", [](auto x, auto n) { return states(shr(x, n) + x == x + shr(x, n)); }),
      claim("sums", [](auto x, auto n) { return states(((x + n) ^ (x >> 1)) == ((n + x) ^ (x >> 1))); })};
  Folder const folder;
  write(folder, catalogue);
  Solvers const solvers{folder.program("bits", rest), folder.program("numbers", rest)};
  std::string who;
  for (Rechecked const& r : recheck(folder.file("certificates"), catalogue, solvers, 1, {}).files) {
    if (r.file.ends_with(".cnf")) continue;
    EXPECT_EQ(r.result, Result::agrees) << r.file << r.detail;
    who += r.file + " " + fs::path(r.solver).filename().string() + "\n";
  }
  EXPECT_EQ(who,
            "masks.smt2 bits\nmasks.control.smt2 numbers\nshifts.smt2 bits\nshifts.control.smt2 numbers\n"
            "sums.smt2 numbers\nsums.control.smt2 numbers\n");
}

TEST(Recheck, AControlThatIsUnsatisfiableDisagrees) {
  Folder const folder;
  auto const [claim, control] = asked(folder, "echo unsat");
  EXPECT_EQ(claim.result, Result::agrees);
  EXPECT_EQ(control.result, Result::disagrees);
}

}  // namespace
}  // namespace swizproof
