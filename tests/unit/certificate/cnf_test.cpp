// The propositional form of terms: each operator as numbers have it, and nothing that is satisfiable gets lost.
#include "certificate/cnf.hpp"
#include "engine/operators.hpp"

#include <swizproof/claim/catalog.hpp>
#include <swizproof/engine/decide.hpp>
#include <swizproof/claim/claim.hpp>
#include <swizproof/certificate/rup.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// True if the clauses hold when the unknowns have these values; what the gates are follows by propagation.
bool holds(Cnf const& f, std::vector<std::uint64_t> const& values) {
  std::vector<int> value(static_cast<std::size_t>(f.variables) + 1, 0);
  for (std::size_t u = 0; u < values.size(); ++u)
    for (std::size_t bit = 0; bit < f.unknowns[u].size(); ++bit)
      value[static_cast<std::size_t>(f.unknowns[u][bit])] = (values[u] >> bit & 1) != 0 ? 1 : -1;
  // Gates are numbered behind their operands, and each gate's clauses come in one piece.
  for (std::vector<int> const& clause : f.clauses) {
    int open = 0;
    bool satisfied = false;
    std::size_t unknown = 0;
    for (int const l : clause) {
      int const v = value[static_cast<std::size_t>(std::abs(l))];
      satisfied = satisfied || (v != 0 && (v > 0) == (l > 0));
      if (v == 0) open = l, ++unknown;
    }
    if (satisfied) continue;
    if (unknown == 0) return false;
    EXPECT_LE(unknown, 1U) << "a gate before its operands";
    value[static_cast<std::size_t>(std::abs(open))] = open > 0 ? 1 : -1;
  }
  // Once more, now that all are known.
  for (std::vector<int> const& clause : f.clauses) {
    bool satisfied = false;
    for (int const l : clause)
      satisfied = satisfied || (value[static_cast<std::size_t>(std::abs(l))] > 0) == (l > 0);
    if (!satisfied) return false;
  }
  return true;
}

TEST(Cnf, EveryOperatorIsThatOfNumbers) {
  constexpr unsigned width = 6;
  constexpr std::uint64_t mask = (1U << width) - 1;
  for (Operator const& op : operators(width)) {
    Terms terms;
    Term const a = terms.variable(width, width, "a"), b = terms.variable(width, width, "b"),
               r = terms.variable(width, width, "r");
    Formula const formula = op.term(a, b) == r;
    Cnf const shared = cnf(terms, std::span(&formula, 1), Sharing::gates),
              plain = cnf(terms, std::span(&formula, 1), Sharing::none);
    for (std::uint64_t x = 0; x <= mask; ++x)
      for (std::uint64_t y = 0; y <= mask; y += x % 4 == 0 ? 1 : 5)
        for (std::uint64_t z :
             {std::uint64_t{0}, std::uint64_t{1}, x, y, op.number(x, y), op.number(x, y) ^ 4})
          for (Cnf const* f : {&shared, &plain})
            ASSERT_EQ(holds(*f, {x, y, z}), z == op.number(x, y))
                << op.name << " of " << x << " and " << y << " is " << z << (f == &plain ? ", plain" : "");
  }
}

TEST(Cnf, ConstantOperandsFoldRightly) {
  constexpr std::uint64_t mask = 63;
  for (std::uint64_t c = 0; c <= mask; c += 3) {
    Terms terms;
    Term const a = terms.variable(6, 6, "a"), r = terms.variable(6, 6, "r"), k = like(a, c);
    Formula const all = ((a / k) + (a % k) * 5 + shl(a, k) + (k - a) * k + (a & k)) == r;
    Cnf const f = cnf(terms, std::span(&all, 1), c % 2 == 0 ? Sharing::gates : Sharing::none);
    for (std::uint64_t x = 0; x <= mask; ++x) {
      std::uint64_t const q = c == 0 ? mask : x / c, m = c == 0 ? x : x % c, s = c < 6 ? x << c : 0;
      std::uint64_t const y = (q + m * 5 + s + (c - x) * c + (x & c)) & mask;
      ASSERT_TRUE(holds(f, {x, y})) << x << " " << c;
      ASSERT_FALSE(holds(f, {x, y ^ 1})) << x << " " << c;
    }
  }
}

/// A blaster that lost what is satisfiable would "prove" everything: each control's counterexample must satisfy the
/// clauses of the control.
TEST(Cnf, CounterexamplesOfTheControlsSatisfyTheirClauses) {
  std::size_t tried = 0;
  for (Claim const& claim : catalog()) {
    std::vector<Question> const questions = claim.control.questions();
    for (Question const& q : questions) {
      auto const refuted = search_counterexample(q, 10);
      if (!refuted) continue;
      std::vector<std::uint64_t> values;
      for (auto const& [name, value] : refuted->values) values.push_back(value);
      Violations const violations(std::span(&q, 1));
      for (Sharing const sharing : {Sharing::none, Sharing::gates})
        EXPECT_TRUE(holds(cnf(violations.terms, violations.formulas, sharing), values))
            << claim.name << ", " << q.name;
      ++tried;
      break;
    }
  }
  EXPECT_GT(tried, 500U);
}

TEST(Cnf, OfAFalseFormulaIsTheEmptyClause) {
  Terms terms;
  Term const a = terms.variable(8, 8, "a");
  Formula const never = (a & 1) == 2;
  Cnf const f = cnf(terms, std::span(&never, 1), Sharing::none);
  EXPECT_TRUE(check_proof(dimacs(f, {}), "").valid);
}

TEST(Cnf, WithoutSharingEqualSumsAreEqualOnlyByProof) {
  Terms terms;
  Term const a = terms.variable(8, 8, "a"), b = terms.variable(8, 8, "b"), low = like(a, 15);
  Formula const differ = !(((a + b) & low) == (((a & low) + (b & low)) & low));
  Cnf const shared = cnf(terms, std::span(&differ, 1), Sharing::gates),
            plain = cnf(terms, std::span(&differ, 1), Sharing::none);
  EXPECT_EQ(shared.clauses, (std::vector<std::vector<int>>{{}}));
  EXPECT_GT(plain.clauses.size(), 50U);
  EXPECT_FALSE(check_proof(dimacs(plain, {}), "0\n").valid);
  EXPECT_FALSE(holds(plain, {200, 77}));
}

}  // namespace
}  // namespace swizproof
