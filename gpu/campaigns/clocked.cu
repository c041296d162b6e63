// atomics and cluster: what shared atomics take, and what accesses to the shared memory of another block of a cluster.
//
// As in `wavefronts` eight warps issue one pattern together, 16 times each, at 16 pages of 4 KiB, six times over; and again twelve
// times over. The difference is 768 instructions without overhead. Each pattern is measured five times, the shortest counts. A time that
// the form's cost model (clocked.hpp: H14, H15) does not allow is measured again alone on the device, and then a mismatch.
//
// The memory of the other block of a cluster of two is reached in the cluster's window. What is asynchronous ends at a barrier there, of
// each warp its own, and a flag comes back.
#include "clock.cuh"
#include "campaign/clocked.hpp"
#include "record.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace swizproof::gpu {
namespace {

constexpr unsigned repetitions = 5;
constexpr unsigned most_polls = 1U << 22;  ///< of a flag or barrier: what never comes ends as a wrong time

/// A form of campaign `cluster`, which works in the cluster's window, or of `atomics`.
template <bool InWindow>
consteval ClockedForm form_of(std::size_t f) {
  if constexpr (InWindow) return cluster_forms[f];
  return atomic_forms[f];
}
template <bool InWindow>
inline constexpr std::size_t form_count = InWindow ? std::size(cluster_forms) : std::size(atomic_forms);

/// True if form `F` has this name, or one that begins with it.
template <bool InWindow, std::size_t F>
consteval bool is(std::string_view name) {
  return std::string_view(form_of<InWindow>(F).name) == name;
}
template <bool InWindow, std::size_t F>
consteval bool starts(std::string_view name) {
  return std::string_view(form_of<InWindow>(F).name).starts_with(name);
}

/// Issues it once. `one` and `zero` are numbers that the compiler does not know; `barrier` is for what is asynchronous.
template <bool InWindow, std::size_t F>
__device__ __forceinline__ void issue(std::uint32_t at, [[maybe_unused]] std::uint32_t barrier,
                                      [[maybe_unused]] std::uint32_t zero, std::uint32_t one,
                                      std::uint32_t& sink) {
  [[maybe_unused]] unsigned long long const wide = one, none = zero;
  unsigned long long wide_sink = 0;
  [[maybe_unused]] float const number = static_cast<float>(one);
#define FORM(name, ...) \
  if constexpr (is<InWindow, F>(name)) asm volatile(__VA_ARGS__)
  FORM("red.shared.add.u32", "red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(one));
  FORM("atom.shared.add.u32", "atom.shared.add.u32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  FORM("red.shared.min.u32", "red.shared.min.u32 [%0], %1;" ::"r"(at), "r"(one));
  FORM("atom.shared.max.s32", "atom.shared.max.s32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  FORM("red.shared.inc.u32", "red.shared.inc.u32 [%0], %1;" ::"r"(at), "r"(~zero));
  FORM("atom.shared.and.b32", "atom.shared.and.b32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  FORM("red.shared.xor.b32", "red.shared.xor.b32 [%0], %1;" ::"r"(at), "r"(one));
  FORM("atom.shared.exch.b32", "atom.shared.exch.b32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  FORM("atom.shared.cas.b32", "atom.shared.cas.b32 %0, [%1], %2, %3;"
       : "=r"(sink)
       : "r"(at), "r"(zero), "r"(one));
  FORM("red.shared.add.u32 1", "red.shared.add.u32 [%0], 1;" ::"r"(at));
  FORM("red.shared.add.s32 -1", "red.shared.add.s32 [%0], -1;" ::"r"(at));
  FORM("atom.shared.add.u32 1", "atom.shared.add.u32 %0, [%1], 1;" : "=r"(sink) : "r"(at));
  FORM("atom.shared.exch.b64", "atom.shared.exch.b64 %0, [%1], %2;" : "=l"(wide_sink) : "r"(at), "l"(wide));
  FORM("atom.shared.cas.b64", "atom.shared.cas.b64 %0, [%1], %2, %3;"
       : "=l"(wide_sink)
       : "r"(at), "l"(none), "l"(wide));
  FORM("red.shared.add.f32", "red.shared.add.f32 [%0], %1;" ::"r"(at), "f"(number));
  FORM("red.shared.add.noftz.f16x2", "red.shared.add.noftz.f16x2 [%0], %1;" ::"r"(at), "r"(one));
  FORM("red.shared.add.f64", "red.shared.add.f64 [%0], %1;" ::"r"(at), "d"(static_cast<double>(number)));
  FORM("red.shared.add.u64", "red.shared.add.u64 [%0], %1;" ::"r"(at), "l"(wide));
  FORM("atom.shared.min.u64", "atom.shared.min.u64 %0, [%1], %2;" : "=l"(wide_sink) : "r"(at), "l"(wide));
  FORM("red.shared.or.b64", "red.shared.or.b64 [%0], %1;" ::"r"(at), "l"(wide));
#define LOADED_32 "ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(sink) : "r"(at)
#define LOADED_128                                                            \
  "ld.volatile.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(sink),     \
                                                              "=r"(words[0]), \
                                                              "=r"(words[1]), \
                                                              "=r"(words[2])  \
      : "r"(at)
  std::uint32_t words[3] = {};
  FORM("ld.shared::cluster.b32", LOADED_32);
  FORM("own ld.shared::cluster.b32", LOADED_32);
  FORM("ld.shared::cluster.b64", "ld.volatile.shared::cluster.u64 %0, [%1];" : "=l"(wide_sink) : "r"(at));
  FORM("ld.shared::cluster.b128", LOADED_128);
  FORM("own ld.shared::cluster.b128", LOADED_128);
  FORM("st.shared::cluster.b32", "st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(one));
  FORM("st.shared::cluster.b64", "st.volatile.shared::cluster.u64 [%0], %1;" ::"r"(at), "l"(wide));
  FORM("st.shared::cluster.b128", "st.volatile.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at),
       "r"(one));
#define TO_BARRIER "shared::cluster.mbarrier::complete_tx::bytes"
  FORM("st.async.b32", "st.async." TO_BARRIER ".b32 [%0], %1, [%2];" ::"r"(at), "r"(one), "r"(barrier));
  FORM("st.async.b64", "st.async." TO_BARRIER ".b64 [%0], %1, [%2];" ::"r"(at), "l"(wide), "r"(barrier));
  FORM("st.async.v4.b32", "st.async." TO_BARRIER ".v4.b32 [%0], {%1,%1,%1,%1}, [%2];" ::"r"(at), "r"(one),
       "r"(barrier));
  FORM("red.async.add.u32", "red.async.relaxed.cluster." TO_BARRIER ".add.u32 [%0], %1, [%2];" ::"r"(at),
       "r"(one), "r"(barrier));
  FORM("red.shared::cluster.add.u32", "red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(at),
       "r"(one));
  FORM("atom.shared::cluster.cas.b32", "atom.relaxed.cluster.shared::cluster.cas.b32 %0, [%1], %2, %3;"
       : "=r"(sink)
       : "r"(at), "r"(zero), "r"(one));
#undef FORM
#undef LOADED_32
#undef LOADED_128
#undef TO_BARRIER
  sink |= static_cast<std::uint32_t>(wide_sink) | words[0] | words[1] | words[2];
}

__device__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

/// The address of the same place in a block of the cluster.
__device__ std::uint32_t place_in(unsigned block, std::uint32_t address) {
  std::uint32_t out;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(out) : "r"(address), "r"(block));
  return out;
}

/// Waits for the end of phase `parity` of a barrier of the own block.
__device__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done = 0;
  for (unsigned poll = 0; poll < most_polls && done == 0; ++poll)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

/// A cluster of two blocks measures patterns p, p + step, ...: the first block issues, the second holds the memory that remote forms
/// reach. cycles[2 * p] is of `clocked_rounds`, cycles[2 * p + 1] of twice as many.
template <bool InWindow, std::size_t F>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(clocked_warps* warp_lanes, 1)
    run_clocked(Pattern const* patterns, unsigned count, std::uint32_t zero, std::uint32_t one,
                std::uint32_t* cycles) {
  constexpr unsigned bytes = form_of<InWindow>(F).bytes;
  constexpr bool is_async = starts<InWindow, F>("st.async") || starts<InWindow, F>("red.async");
  constexpr unsigned target = starts<InWindow, F>("own ") ? 0 : 1;
  extern __shared__ unsigned char memory[];
  __shared__ std::uint32_t begin[clocked_warps], end[clocked_warps];
  __shared__ std::uint32_t volatile flags[clocked_warps];
  __shared__ alignas(8) std::uint64_t barriers[clocked_warps];
  std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  std::uint32_t const page = (start + page_bytes - 1) / page_bytes * page_bytes;
  for (unsigned i = threadIdx.x; i < pages * page_bytes / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(memory + (page - start))[i] = 0;
  unsigned const lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
  unsigned const block = blockIdx.x % 2;
  std::uint32_t const own_barrier = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barriers[warp]));
  std::uint32_t const flag =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(const_cast<std::uint32_t*>(&flags[warp])));
  if (lane == 0) {
    flags[warp] = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own_barrier) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  std::uint32_t const base = InWindow ? place_in(target, page) : page;
  std::uint32_t const barrier = place_in(target, own_barrier);
  meet_cluster();
  std::uint32_t measurement = 0;
  for (unsigned p = blockIdx.x / 2; p < count; p += gridDim.x / 2)
    for (unsigned twice = 0; twice < 2; ++twice) {
      ++measurement;
      if (is_async && block == target && lane == 0) {
        std::uint32_t const expected = static_cast<std::uint32_t>(__popc(patterns[p].active)) * bytes *
                                       clocked_rounds * pages * (twice + 1);
        asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(own_barrier),
                     "r"(expected)
                     : "memory");
      }
      meet_cluster();
      std::uint32_t const address = base + patterns[p].unit[lane] * bytes;
      bool const active = (patterns[p].active >> lane & 1) != 0;
      bool const first = lane + 1 == static_cast<unsigned>(__ffs(static_cast<int>(patterns[p].active)));
      std::uint32_t sink = 0;
      // The loaded data has arrived, and the warps start together.
      if (address == 0xffffffff) cycles[0] = 1;
      __syncthreads();
      if (block == 0 && active) {
        std::uint32_t const t0 = clock_now();
#pragma unroll 1
        for (unsigned r = 0; r < clocked_rounds * (twice + 1); ++r)
#pragma unroll
          for (unsigned k = 0; k < pages; ++k)
            issue<InWindow, F>(address + k * page_bytes, barrier, zero, one, sink);
        // A load behind them: the pipe serves a warp in order. What is asynchronous says so itself.
        std::uint32_t last = 0;
        if constexpr (is_async)
          for (unsigned poll = 0; poll < most_polls && flags[warp] != measurement; ++poll) {
          }
        else if constexpr (InWindow)
          asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(last) : "r"(base));
        else
          asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(last) : "r"(page));
        if ((last | sink) == 0x9e3779b9) cycles[0] = last;
        std::uint32_t const t1 = clock_now();
        if (first) begin[warp] = t0, end[warp] = t1;
      }
      if (is_async && block == target && lane == 0) {
        wait_for(own_barrier, (measurement - 1) & 1);
        asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(place_in(0, flag)), "r"(measurement));
      }
      __syncthreads();
      if (block == 0 && threadIdx.x == 0) {
        cycles[2 * p + twice] = cycles_of(begin, end);
      }
      meet_cluster();
    }
}

using ClockedKernel = void (*)(Pattern const*, unsigned, std::uint32_t, std::uint32_t, std::uint32_t*);

template <bool InWindow, std::size_t... F>
std::array<ClockedKernel, sizeof...(F)> kernels(std::index_sequence<F...>) {
  return {run_clocked<InWindow, F>...};
}

/// Cycles of each pattern, once and twice: the shortest of five.
std::vector<std::uint32_t> measure(ClockedKernel kernel, char const* name, std::vector<Pattern> const& asked,
                                   unsigned clusters) {
  constexpr std::size_t shared = (pages + 1) * page_bytes;
  Buffer<Pattern> const patterns(asked);
  Buffer<std::uint32_t> const taken(2 * asked.size());
  allow_shared(kernel, shared);
  std::vector<std::uint32_t> least(2 * asked.size(), ~0U);
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    kernel<<<2 * clusters, clocked_warps * warp_lanes, shared>>>(
        patterns.data(), static_cast<unsigned>(asked.size()), 0, 1, taken.data());
    finish(name);
    std::vector<std::uint32_t> const now = taken.read();
    for (std::size_t i = 0; i < now.size(); ++i) least[i] = std::min(least[i], now[i]);
  }
  return least;
}

/// Measures the forms of this part. Rows [kind, number, cycles once, cycles twice, addresses].
template <bool InWindow>
Record clocked(Device const& device, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  auto const known = kernels<InWindow>(std::make_index_sequence<form_count<InWindow>>{});
  Record record;
  for (char const* name : {"patterns", "mismatches", "measured_again", "units"}) record.counts[name] = 0;
  record.counts["units_of_all_parts"] = part.index == 0 ? form_count<InWindow> : 0;
  for (std::size_t f = 0; f < form_count<InWindow>; ++f) {
    if (!part.has(f)) continue;
    ClockedForm const& form = InWindow ? cluster_forms[f] : atomic_forms[f];
    Instruction const like{Operation::st_shared, form.bytes};
    std::vector<ClockedPattern> const asked = patterns_of(form, settings.seed);
    std::vector<Pattern> plain;
    for (ClockedPattern const& a : asked) plain.push_back(a.pattern);
    std::vector<std::uint32_t> cycles =
        measure(known[f], form.name, plain, static_cast<unsigned>(device.processors) / 8);
    auto const agree = [&](std::size_t i) {
      return clocked_agrees(form, access(asked[i].pattern, like),
                            std::int64_t{cycles[2 * i + 1]} - cycles[2 * i]);
    };
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (!agree(i)) again.push_back(i);
    if (!again.empty()) {
      plain.clear();
      for (std::size_t const i : again) plain.push_back(asked[i].pattern);
      std::vector<std::uint32_t> const alone = measure(known[f], form.name, plain, 1);
      for (std::size_t i = 0; i < again.size(); ++i)
        for (std::size_t const twice : {0U, 1U}) cycles[2 * again[i] + twice] = alone[2 * i + twice];
      record.counts["measured_again"] += again.size();
    }
    record.counts[std::string("mismatches_of/") + form.name] = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      bool const agrees = agree(i);
      if (!agrees) ++record.counts["mismatches"], ++record.counts[std::string("mismatches_of/") + form.name];
      if (!asked[i].kept && agrees) continue;
      record.rows[std::string(agrees ? "sample/" : "mismatches_of/") + form.name].push_back(
          "[\"" + std::string(asked[i].kind) + "\"," + std::to_string(asked[i].number) + "," +
          std::to_string(cycles[2 * i]) + "," + std::to_string(cycles[2 * i + 1]) + ",\"" +
          hexadecimal(asked[i].pattern, like) + "\"]");
    }
    ++record.counts["units"];
    record.counts["patterns"] += asked.size();
    record.counts[std::string("patterns_of/") + form.name] = asked.size();
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.longest["instructions_per_measurement"] = clocked_instructions;
  return record;
}

}  // namespace

Record atomics(Device const& device, Settings const& settings, Part part) {
  return clocked<false>(device, settings, part);
}

Record cluster(Device const& device, Settings const& settings, Part part) {
  return clocked<true>(device, settings, part);
}

}  // namespace swizproof::gpu
