// One property of all 5,712 swizzles by SMT and by linear algebra; one theorem about all of them at once.
#include <swizproof/claim/catalog.hpp>
#include <swizproof/engine/decide.hpp>

#include <benchmark/benchmark.h>

#include <stdexcept>

namespace swizproof {
namespace {

std::vector<Question> questions_of(std::string const& name) {
  for (Claim const& claim : catalog())
    if (claim.name == name) return claim.statement.questions();
  throw std::logic_error("no claim " + name);
}

void smt(benchmark::State& state, std::string const& name) {
  auto const questions = questions_of(name);
  Limits limits;
  limits.threads = 2;
  for (auto _ : state) benchmark::DoNotOptimize(decide_symbolically(questions, limits));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(questions.size()));
}

void linear(benchmark::State& state, std::string const& name) {
  auto const questions = questions_of(name);
  for (auto _ : state)
    for (Question const& q : questions) benchmark::DoNotOptimize(decide_linearly(q));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(questions.size()));
}

BENCHMARK_CAPTURE(smt, involution_family, std::string("involution/every swizzle"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(linear, involution_family, std::string("involution/every swizzle"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(smt, linearity_family, std::string("linearity/every swizzle"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(linear, linearity_family, std::string("linearity/every swizzle"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(smt, period_family, std::string("period/every swizzle"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(smt, base_law_64_bits, std::string("base law/if/symbolic, shift >= 0"))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swizproof
