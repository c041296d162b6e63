// Questions to solvers agree with plain numbers: the engine's own calls of Z3, and the text that certificates are made of.
#include "certificate/smtlib.hpp"
#include "operators.hpp"

#include <swizproof/engine/decide.hpp>

#include <gtest/gtest.h>
#include <z3.h>

#include <barrier>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <thread>

namespace swizproof {
namespace {

constexpr std::uint64_t samples[] = {0,          1,          2,          5,          31,        32,
                                     0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};

/// "If a is x and b is y, then a op b is what numbers say, plus `wrong`", for all samples x, y.
std::vector<Question> questions(Operator const& op, std::uint64_t wrong) {
  std::vector<Question> all;
  for (std::uint64_t const x : samples)
    for (std::uint64_t const y : samples) {
      std::uint64_t const r = op.number(x, y) ^ wrong;
      Question q;
      q.name = std::string(op.name) + " of " + std::to_string(x) + " and " + std::to_string(y);
      q.width = 32;
      q.variables = {{"a", 32}, {"b", 32}};
      q.on_numbers = [=](std::span<std::uint64_t const> v) {
        return Implication<bool>{v[0] == x && v[1] == y, op.number(v[0], v[1]) == r};
      };
      q.on_terms = [=](std::span<Term const> v) {
        return states(v[0] == x && v[1] == y, op.term(v[0], v[1]) == r);
      };
      all.push_back(std::move(q));
    }
  return all;
}

/// Answer of Z3's own reader and a fresh solver to a script without its status.
std::string answer(std::string script) {
  std::size_t const status = script.find("(set-info :status");
  script.erase(status, script.find('\n', status) - status);
  Z3_config const config = Z3_mk_config();
  Z3_context const context = Z3_mk_context(config);
  std::string out = Z3_eval_smtlib2_string(context, script.c_str());
  Z3_del_context(context);
  Z3_del_config(config);
  return out;
}

std::vector<std::string> names(std::span<Question const> questions) {
  std::vector<std::string> out;
  for (Question const& q : questions) out.push_back(q.name);
  return out;
}

TEST(Smt, EveryOperatorIsThatOfNumbers) {
  for (Operator const& op : operators(32)) {
    EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(questions(op, 0), {}))) << op.name;
    std::vector<Question> const wrong = questions(op, 1);
    for (std::size_t i = 0; i < wrong.size(); i += 17)
      EXPECT_TRUE(std::holds_alternative<Refuted>(decide_symbolically(std::span(&wrong[i], 1), {})))
          << wrong[i].name;
  }
}

TEST(SmtLib, EveryOperatorIsThatOfNumbers) {
  for (Operator const& op : operators(32)) {
    std::vector<Question> const right = questions(op, 0), wrong = questions(op, 1);
    EXPECT_EQ(answer(smtlib({"operator", "test"}, Violations(right), names(right))), "unsat\n") << op.name;
    for (std::size_t i = 0; i < wrong.size(); i += 17)
      EXPECT_EQ(answer(smtlib({"operator", "test"}, Violations(std::span(&wrong[i], 1)),
                              names(std::span(&wrong[i], 1)))),
                "sat\n")
          << wrong[i].name;
  }
}

TEST(SmtLib, ACounterexampleIsPutIn) {
  Question const q = ask("x is not 77", 32, {{"x|\\", 8}}, [](auto x) { return states(!(x == 77)); });
  Violations const violations(std::span(&q, 1));
  Heading heading{"not 77", "a | in the source", {{"says", "a\nline"}}, {77}};
  std::string const script = smtlib(heading, violations, names(std::span(&q, 1)));
  EXPECT_NE(script.find("(set-info :status sat)"), script.npos);
  EXPECT_EQ(answer(script), "sat\n");
  heading.counterexample = {76};
  EXPECT_EQ(answer(smtlib(heading, violations, names(std::span(&q, 1)))), "unsat\n");
}

/// A truth that takes Z3 some work and some memory: nothing is (2^24 - 3), a prime, but 1 times itself.
Question prime() {
  return ask("factors", 32, {{"x", 13}, {"y", 13}},
             [](auto x, auto y) { return states(1 < x && 1 < y, !(x * y == 16777213)); });
}

TEST(Smt, MemoryIsTheQuerysOwn) {
  // Z3 counts what the process has, about 17 MiB for each context: two dozen at a time have more than one may.
  Question const q = prime();
  Limits limits;
  limits.megabytes = 64;
  constexpr std::size_t count = 24;
  std::vector<Outcome> outcomes(count);
  {
    std::barrier together(count);
    std::vector<std::jthread> threads;
    for (Outcome& outcome : outcomes)
      threads.emplace_back([&] {
        together.arrive_and_wait();
        outcome = decide_symbolically(std::span(&q, 1), limits);
      });
  }
  for (Outcome const& outcome : outcomes)
    EXPECT_TRUE(std::holds_alternative<Proved>(outcome))
        << (std::holds_alternative<Unknown>(outcome) ? std::get<Unknown>(outcome).reason : "");
}

TEST(Smt, MemoryIsALimitWithAName) {
  Question const q = prime();
  Limits limits;
  limits.megabytes = 1;
  Outcome const outcome = decide_symbolically(std::span(&q, 1), limits);
  ASSERT_TRUE(std::holds_alternative<Unknown>(outcome));
  EXPECT_EQ(std::get<Unknown>(outcome).reason, "out of memory: more than 1 MiB");
}

TEST(Smt, AQueryThatIsStoppedEnds) {
  Question q;  // true, and out of reach
  q.name = "hard";
  q.variables = {{"a", 64}, {"b", 64}, {"c", 64}};
  q.on_numbers = [](std::span<std::uint64_t const>) { return Implication<bool>{true, true}; };
  q.on_terms = [](std::span<Term const> v) {
    return states(((v[0] ^ v[1]) + (v[0] & v[1]) * 2) * v[2] == v[0] * v[2] + v[1] * v[2]);
  };
  for (bool const before : {true, false}) {
    std::stop_source source;
    Limits limits;
    limits.seconds = 600;
    limits.stop = source.get_token();
    if (before) source.request_stop();
    std::jthread const stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // Z3 is at it, or will not begin
      source.request_stop();
    });
    Outcome const outcome = decide_symbolically(std::span(&q, 1), limits);
    auto const* unknown = std::get_if<Unknown>(&outcome);
    ASSERT_NE(unknown, nullptr);
    EXPECT_EQ(unknown->reason, "stopped");
  }
}

TEST(Smt, AGraphThatZ3RefusesIsOurFaultAndNoAnswer) {
  Question q = prime();
  q.on_terms = [](std::span<Term const> values) {
    Terms& terms = *values[0].terms;
    Term const narrow = terms.constant(8, 3);
    Term const sum{&terms, terms.add({Op::bv_add, 32, values[0].id, narrow.id})};  // of 32 bits and 8
    return states(sum == values[1]);
  };
  EXPECT_THROW((void)decide_symbolically(std::span(&q, 1), {}), std::logic_error);
}

/// The low bits of a word: equal to a mask, and not to one that is a bit longer.
TEST(Smt, LowBitsOfAWord) {
  auto const question = [](std::uint64_t mask) {
    Question q;
    q.name = "low bits";
    q.variables = {{"x", 64}};
    q.on_numbers = [=](std::span<std::uint64_t const> x) {
      return states((x[0] & 0xffffffff) == (x[0] & mask));
    };
    q.on_terms = [=](std::span<Term const> x) {
      return states(resized(resized(x[0], 32), 64) == (x[0] & like(x[0], mask)));
    };
    return q;
  };
  Question const right = question(0xffffffff), wrong = question(0x1ffffffff);
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(std::span(&right, 1), {})));
  EXPECT_TRUE(std::holds_alternative<Refuted>(decide_symbolically(std::span(&wrong, 1), {})));
}

}  // namespace
}  // namespace swizproof
