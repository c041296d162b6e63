// The cost model by classes of addresses, each compared with a naive loop over sets in the same run: `ratio` is the cost model's
// accesses a second divided by the loop's.
#include <swizproof/hardware/bank.hpp>
#include <swizproof/parse/parse.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <set>

namespace swizproof {
namespace {

using Warp = WarpAccess<std::uint32_t>;
using Warps = std::vector<Warp>;

/// 64 warps; address(warp, lane).
template <class F>
Warps warps_of(F const& address) {
  Warps warps(64);
  for (std::uint32_t m = 0; m < warps.size(); ++m)
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      warps[m].address[lane] = address(m, lane);
      warps[m].active[lane] = true;
    }
  return warps;
}

/// ldmatrix.x4 rows at pitch 128, from 64 origins.
Warps rows(Swizzle s) {
  Access const access = parse_access("ldmatrix.x4");
  Warps warps;
  for (std::uint32_t m = 0; m < 64; ++m)
    warps.push_back(
        addresses(access, s, std::uint32_t{0}, std::uint32_t{128}, m, std::uint32_t{32 * (m % 4)}));
  return warps;
}

Warps no_conflict(std::uint32_t bytes) {
  return warps_of([=](auto m, auto lane) { return bytes * (lane ^ m % 8) + 1024 * m; });
}

/// Every lane of a phase in one bank, in words of its own.
Warps column(std::uint32_t bytes) {
  return warps_of([=](auto m, auto lane) { return 128 * lane + bytes * (m % 8); });
}

/// Two lanes of a phase in each bank that is used.
Warps half_conflict(std::uint32_t bytes) {
  return warps_of([=](auto m, auto lane) { return 2 * bytes * lane + 128 * m; });
}

Warps anywhere(std::uint32_t bytes) {
  std::mt19937 random(1);
  return warps_of([&](auto, auto) { return static_cast<std::uint32_t>(random() % 65536 / bytes * bytes); });
}

/// Anywhere, and every other lane takes no part.
Warps partly(std::uint32_t bytes) {
  Warps warps = anywhere(bytes);
  for (Warp& warp : warps)
    for (unsigned lane = 0; lane < warp_lanes; lane += 2) warp.active[lane] = false;
  return warps;
}

Warps broadcast(std::uint32_t bytes) {
  return warps_of([=](auto m, auto) { return bytes * m; });
}

/// Pairs of lanes at one address, in one bank.
Warps pairs(std::uint32_t bytes) {
  return warps_of([=](auto m, auto lane) { return 128 * (lane / 2) + bytes * (m % 8); });
}

/// The sum over phases of the most words that a bank has, without the rest of the cost model.
std::size_t naive(Warp const& warp, unsigned lanes, unsigned bytes) {
  std::size_t sum = 0;
  for (unsigned first = 0; first < warp_lanes; first += lanes) {
    std::map<unsigned, std::set<unsigned>> words_of_bank;
    for (unsigned l = first; l < first + lanes; ++l)
      for (unsigned byte = 0; warp.active[l] && byte < bytes; byte += 4) {
        unsigned const w = (warp.address[l] + byte) / 4;
        words_of_bank[w % 32].insert(w);
      }
    std::size_t degree = 0;
    for (auto const& [bank, words] : words_of_bank) degree = std::max(degree, words.size());
    sum += degree;
  }
  return sum;
}

/// The least seconds of the processor's time that a call of `f` takes, on the warps in turn.
template <class F>
double seconds(Warps const& warps, std::size_t times, F const& f) {
  double least = 1e9;
  for (int again = 0; again < 7; ++again) {
    std::clock_t const begin = std::clock();
    for (std::size_t i = 0; i < times; ++i) benchmark::DoNotOptimize(f(warps[i % warps.size()]));
    least = std::min(least, static_cast<double>(std::clock() - begin));
  }
  return least / CLOCKS_PER_SEC / static_cast<double>(times);
}

void law(benchmark::State& state, Warps const& warps, Instruction instruction) {
  auto const ours = [&](Warp const& warp) { return wavefronts(sm_90, instruction, warp); };
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ours(warps[i++ % warps.size()]));
  state.SetItemsProcessed(state.iterations());
  unsigned const lanes = phase(sm_90, instruction).lanes;
  auto const theirs = [&](Warp const& warp) { return naive(warp, lanes, instruction.bytes); };
  state.counters["ratio"] = seconds(warps, 2000, theirs) / seconds(warps, 200000, ours);
}

constexpr Instruction ldmatrix{Operation::ldmatrix, 16, 4};
BENCHMARK_CAPTURE(law, ldmatrix_x4_no_conflict, rows(swizzle_128B), ldmatrix);
BENCHMARK_CAPTURE(law, ldmatrix_x4_column, rows(swizzle_none), ldmatrix);

#define OF_EVERY_CLASS(instruction, operation, bytes)                                            \
  BENCHMARK_CAPTURE(law, instruction##_no_conflict, no_conflict(bytes), {operation, bytes});     \
  BENCHMARK_CAPTURE(law, instruction##_column, column(bytes), {operation, bytes});               \
  BENCHMARK_CAPTURE(law, instruction##_half_conflict, half_conflict(bytes), {operation, bytes}); \
  BENCHMARK_CAPTURE(law, instruction##_anywhere, anywhere(bytes), {operation, bytes});           \
  BENCHMARK_CAPTURE(law, instruction##_partly, partly(bytes), {operation, bytes});               \
  BENCHMARK_CAPTURE(law, instruction##_broadcast, broadcast(bytes), {operation, bytes});         \
  BENCHMARK_CAPTURE(law, instruction##_pairs, pairs(bytes), {operation, bytes})
OF_EVERY_CLASS(ld_shared_b128, Operation::ld_shared, 16);
OF_EVERY_CLASS(st_shared_b128, Operation::st_shared, 16);
OF_EVERY_CLASS(ld_shared_b64, Operation::ld_shared, 8);
OF_EVERY_CLASS(ld_shared_b32, Operation::ld_shared, 4);
#undef OF_EVERY_CLASS

}  // namespace
}  // namespace swizproof
