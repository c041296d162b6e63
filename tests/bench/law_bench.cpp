// The law of wavefronts against a naive loop over sets, in the same run: compare items_per_second.
#include <swizproof/hardware/bank.hpp>
#include <swizproof/text/parse.hpp>

#include <benchmark/benchmark.h>

#include <map>
#include <random>
#include <set>

namespace swizproof {
namespace {

using Warps = std::vector<WarpAccess<std::uint32_t>>;

/// ldmatrix.x4 rows at pitch 128, from 64 origins.
Warps rows(Swizzle s) {
  Access const access = parse_access("ldmatrix.x4");
  Warps warps;
  for (std::uint32_t m = 0; m < 64; ++m)
    warps.push_back(
        addresses(access, s, std::uint32_t{0}, std::uint32_t{128}, m, std::uint32_t{32 * (m % 4)}));
  return warps;
}

Warps random_rows() {
  std::mt19937 random(1);
  Warps warps(64);
  for (auto& warp : warps)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      warp.address[lane] = random() % 4096 / 16 * 16;
      warp.active[lane] = true;
    }
  return warps;
}

void law(benchmark::State& state, Warps const& warps, Instruction instruction) {
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(wavefronts(sm_90, instruction, warps[i++ % warps.size()]));
  state.SetItemsProcessed(state.iterations());
}

void naive(benchmark::State& state, Warps const& warps, unsigned lanes) {
  std::size_t i = 0;
  for (auto _ : state) {
    auto const& warp = warps[i++ % warps.size()];
    std::size_t sum = 0;
    for (unsigned first = 0; first < warp_lanes; first += lanes) {
      std::map<unsigned, std::set<unsigned>> words_of_bank;
      for (unsigned l = first; l < first + lanes; ++l)
        for (unsigned byte = 0; byte < 16; byte += 4) {
          unsigned const w = (warp.address[l] + byte) / 4;
          words_of_bank[w % 32].insert(w);
        }
      std::size_t degree = 0;
      for (auto const& [bank, words] : words_of_bank) degree = std::max(degree, words.size());
      sum += degree;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations());
}

constexpr Instruction load{Operation::ld_shared, 16}, ldmatrix{Operation::ldmatrix, 16, 4};

BENCHMARK_CAPTURE(law, ldmatrix_conflict_free, rows(swizzle_128B), ldmatrix);
BENCHMARK_CAPTURE(law, load_conflict_free, rows(swizzle_128B), load);
BENCHMARK_CAPTURE(law, load_32_wavefronts, rows(swizzle_none), load);
BENCHMARK_CAPTURE(law, load_random, random_rows(), load);
BENCHMARK_CAPTURE(law, column_of_words, rows(swizzle_128B), Instruction{Operation::ld_shared, 4});
BENCHMARK_CAPTURE(naive, load_conflict_free, rows(swizzle_128B), 8U);

}  // namespace
}  // namespace swizproof
