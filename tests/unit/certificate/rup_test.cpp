// The proof checker: proofs that hold, and false ones that it must refuse.
#include <swizproof/certificate/rup.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace swizproof {
namespace {

constexpr char const* all_four = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";

TEST(Rup, AcceptsAProof) {
  EXPECT_TRUE(check_proof(all_four, "2 0\n0\n").valid);
  EXPECT_EQ(check_proof(all_four, "2 0\n0\n").lemmas, 2U);
  EXPECT_TRUE(check_proof(all_four, "2 0\nd 1 2 0\n0\n").valid);
  EXPECT_TRUE(check_proof(all_four, "c a comment\n\n2 0\n0\n").valid);
}

TEST(Rup, NeedsNoLemmaWhereUnitsContradict) {
  EXPECT_TRUE(check_proof("p cnf 1 2\n1 0\n-1 0\n", "").valid);
  EXPECT_TRUE(check_proof("p cnf 0 1\n0\n", "").valid);
  EXPECT_TRUE(check_proof("c x\np cnf 3 4\n1 0\n-1 2 0\n-2 3 0\n-3 0\n", "").valid);
}

TEST(Rup, RefusesWhatDoesNotFollow) {
  EXPECT_FALSE(check_proof(all_four, "").valid);
  EXPECT_FALSE(check_proof(all_four, "0\n").valid) << "the empty clause needs the lemma before it";
  EXPECT_FALSE(check_proof("p cnf 2 3\n1 2 0\n-1 2 0\n1 -2 0\n", "2 0\n0\n").valid) << "satisfiable";
  EXPECT_FALSE(check_proof("p cnf 2 3\n1 2 0\n-1 2 0\n1 -2 0\n", "-2 0\n0\n").valid) << "a false lemma";
  EXPECT_FALSE(check_proof("p cnf 3 2\n1 2 3 0\n-1 -2 0\n", "3 0\n-3 0\n0\n").valid);
  EXPECT_FALSE(check_proof(all_four, "d 1 2 0\nd -1 2 0\n2 0\n0\n").valid) << "its reasons were removed";
}

TEST(Rup, RefusesExtendedResolution) {
  // 3 is a new name for (1 and 2): a RAT step, which is sound, and does not follow by propagation.
  EXPECT_FALSE(check_proof(all_four, "3 -1 -2 0\n-3 1 0\n0\n").valid);
}

TEST(Rup, RefusesWhatIsNoProof) {
  for (char const* proof : {"2", "2 x 0\n", "d 7 8 0\n", "99999999999 0\n", "0 0\n", "\xff\xfe"})
    EXPECT_FALSE(check_proof(all_four, proof).valid) << proof;
  for (char const* formula :
       {"", "1 2 0\n", "p cnf\n", "p cnf 2 1\n1 2\n", "p cnf 2 1\n1 99999999999999 0\n"})
    EXPECT_FALSE(check_proof(formula, "0\n").valid) << formula;
}

/// Random formulas, small enough to try all assignments: no proof of a satisfiable one is accepted, with any lemmas.
TEST(Rup, NeverRefutesWhatIsSatisfiable) {
  std::mt19937 random(7);
  std::size_t satisfiable = 0, refuted = 0;
  for (int round = 0; round < 3000; ++round) {
    int const variables = 3 + static_cast<int>(random() % 4);
    std::size_t const count = 4 + random() % 30;
    std::vector<std::vector<int>> clauses;
    std::string formula = "p cnf " + std::to_string(variables) + " " + std::to_string(count) + "\n", proof;
    auto const literal = [&] {
      int const v = 1 + static_cast<int>(random() % static_cast<unsigned>(variables));
      return random() % 2 == 0 ? v : -v;
    };
    for (std::size_t c = 0; c < count; ++c) {
      clauses.emplace_back();
      for (std::size_t i = 1 + random() % 3; i > 0; --i) clauses.back().push_back(literal());
      for (int const l : clauses.back()) formula += std::to_string(l) + " ";
      formula += "0\n";
    }
    bool holds = false;
    for (std::uint32_t a = 0; a < 1U << variables; ++a)
      holds = holds || std::all_of(clauses.begin(), clauses.end(), [&](auto const& clause) {
                return std::any_of(clause.begin(), clause.end(),
                                   [&](int l) { return (a >> (std::abs(l) - 1) & 1) == (l > 0 ? 1U : 0U); });
              });
    // All clauses of one and two literals as lemmas, those that follow and those that do not: as soon as one does
    // not, the proof is refused; so give each alone, followed by the empty clause.
    bool accepted = check_proof(formula, "0\n").valid;
    for (int a = -variables; a <= variables; ++a)
      for (int b = -variables; b <= variables; ++b)
        if (a != 0 && b != 0)
          accepted =
              accepted || check_proof(formula, std::to_string(a) + " " + std::to_string(b) + " 0\n0\n").valid;
    satisfiable += holds ? 1 : 0;
    refuted += accepted ? 1 : 0;
    ASSERT_FALSE(holds && accepted) << formula;
  }
  EXPECT_GT(satisfiable, 500U);
  EXPECT_GT(refuted, 500U);
}

}  // namespace
}  // namespace swizproof
