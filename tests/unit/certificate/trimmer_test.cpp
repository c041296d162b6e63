// Trimmed proofs: they hold, and hold no lemma that is not needed.
#include "certificate/trimmer.hpp"

#include <swizproof/certificate/rup.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace swizproof {
namespace {

constexpr char const* every_clause = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";

TEST(Trimmer, KeepsWhatIsNeeded) {
  EXPECT_EQ(trimmed(every_clause, "2 0\n0\n"), "2 0\n0\n");
  EXPECT_EQ(trimmed(every_clause, "2 0\nd 1 2 0\n0\n"), "2 0\n0\n");
  EXPECT_EQ(trimmed("c x\np cnf 4 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n", "1 2 3 0\n2 4 0\n2 0\n0\n"),
            "2 0\n0\n");
  EXPECT_EQ(trimmed("p cnf 1 2\n1 0\n-1 0\n", "1 0\n0\n"), "0\n");
  EXPECT_EQ(trimmed("p cnf 0 1\n0\n", ""), "0\n");
}

TEST(Trimmer, KeepsWhatALemmaOrAVariableHangsOn) {
  // 3 hangs on the lemma (3 4), and the contradiction on 3 alone.
  char const* const formula =
      "p cnf 5 8\n3 4 5 0\n3 4 -5 0\n3 -4 5 0\n3 -4 -5 0\n-3 1 2 0\n-3 -1 2 0\n-3 1 -2 0\n-3 -1 -2 0\n";
  EXPECT_EQ(trimmed(formula, "1 2 -3 0\n3 4 0\n3 0\n2 0\n0\n"), "3 4 0\n3 0\n2 0\n0\n");
  // A clause that was removed after it had forced a variable.
  EXPECT_EQ(trimmed(formula, "3 4 0\n3 0\nd 3 4 0\nd 3 0\n2 0\n0\n"), "3 4 0\n3 0\n2 0\n0\n");
}

TEST(Trimmer, KeepsWhatSetAVariableThatALemmaHangsOn) {
  // (1 2) follows from (-3 1 2) since 3 was learned; then that clause goes.
  EXPECT_EQ(trimmed("p cnf 4 6\n3 4 0\n3 -4 0\n-3 1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n",
                    "3 0\n1 2 0\nd -3 1 2 0\n2 0\n0\n"),
            "3 0\n1 2 0\n2 0\n0\n");
}

TEST(Trimmer, RemovesWhatIsUsedNoMore) {
  // (1 2 3) is used by the first lemma alone, (-1 2) by both, (4 5) by none; what sets a variable stays.
  char const* const formula =
      "p cnf 5 9\n4 5 0\n1 2 3 0\n1 2 -3 0\n-1 2 0\n1 -2 0\n-1 -2 5 0\n-1 -2 -5 0\n4 -5 0\n-4 5 0\n";
  char const* const proof = "1 2 0\n2 0\n0\n";
  EXPECT_EQ(trimmed(formula, proof), "1 2 0\n2 0\n0\n");
  EXPECT_EQ(trimmed(formula, proof, 0),
            "d 4 5 0\nd 4 -5 0\nd -4 5 0\n1 2 0\nd 1 2 3 0\nd 1 2 -3 0\n2 0\n0\n");
}

TEST(Trimmer, LeavesAloneWhatDoesNotHold) {
  for (char const* proof :
       {"", "0\n", "d 1 2 0\nd -1 2 0\n2 0\n0\n", "3 -1 -2 0\n0\n", "d 7 8 0\n2 0\n0\n", "x\n", "2"})
    EXPECT_FALSE(trimmed(every_clause, proof).has_value()) << proof;
  EXPECT_FALSE(trimmed("p cnf 2 1\n1 x 0\n", "0\n").has_value());
}

/// Random formulas of three literals, with every clause of two and one literals, in random order, that follows at its place
/// as a proof: each proof that refutes the formula is trimmed to a proof that holds and is no longer.
TEST(Trimmer, TrimsRandomProofs) {
  std::mt19937 random(11);
  std::size_t proofs = 0, before = 0, after = 0;
  for (int round = 0; round < 200; ++round) {
    int const variables = 5;
    std::string formula = "p cnf 5 40\n", proof;
    auto const literal = [&] {
      int const v = 1 + static_cast<int>(random() % variables);
      return std::to_string(random() % 2 == 0 ? v : -v) + " ";
    };
    for (int i = 0; i < 40; ++i) formula += literal() + literal() + literal() + "0\n";
    std::size_t lemmas = 0;
    for (int i = 0; i < 60 && !check_proof(formula, proof + "0\n").valid; ++i) {
      std::string const lemma = (random() % 4 != 0 ? literal() : "") + literal() + "0\n";
      // It follows where the formula with its literals set to false falls at once.
      std::string with = formula;
      for (std::size_t at = 0, end = 0; (end = (proof).find('\n', at)) != proof.npos; at = end + 1)
        with += proof.substr(at, end - at + 1);
      std::string negated;
      for (std::size_t at = 0; lemma[at] != '0';) {
        std::size_t const end = lemma.find(' ', at);
        int const l = std::stoi(lemma.substr(at, end - at));
        negated += std::to_string(-l) + " 0\n";
        at = end + 1;
      }
      if (check_proof(with + negated, "").valid) proof += lemma, ++lemmas;
    }
    proof += "0\n";
    if (!check_proof(formula, proof).valid) continue;
    auto const less = trimmed(formula, proof);
    ASSERT_TRUE(less.has_value()) << formula << proof;
    ASSERT_TRUE(check_proof(formula, *less).valid) << formula << *less;
    auto const removing = trimmed(formula, proof, 0);
    ASSERT_TRUE(removing.has_value()) << formula << proof;
    ASSERT_TRUE(check_proof(formula, *removing).valid) << formula << *removing;
    ++proofs;
    before += lemmas + 1;
    after += static_cast<std::size_t>(std::count(less->begin(), less->end(), '\n'));
  }
  EXPECT_GT(proofs, 50U);
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace swizproof
