// atomics: what shared atomics, and accesses to another block's shared memory, take. Nothing is compared while it runs: the record holds
// every pattern with its cycles. Those of 32 bits on integers are held against H14 (include/swizproof/hardware/atomic.hpp) by a test.
//
// As in `wavefronts` eight warps issue one pattern together, 16 times each, at 16 pages of 4 KiB, six times over; and again twelve
// times over. The difference is 768 instructions without overhead. Each pattern is measured three times, the shortest counts.
//
// An operation that the multiprocessor does not have (64-bit add, float add) is a loop of compare-and-swap, as ptxas writes it, whose time
// depends on who wins. `cluster` forms reach the memory of the other block of a cluster of two.
#include "pattern.hpp"
#include "record.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace swizproof::gpu {
namespace {

constexpr unsigned warps = measuring_warps;
constexpr unsigned rounds = measuring_rounds;
constexpr unsigned repetitions = 3;
constexpr unsigned drawn_patterns = 40;  ///< of each kind

enum class Form : unsigned {
  red_add,
  atom_add,
  red_min,
  atom_min,
  atom_cas,
  atom_exch,
  red_inc,
  red_add_f32,
  red_add_64,
  atom_add_64,
  atom_cas_64,
  ld_cluster,
  ld_cluster_128,
  st_cluster,
  st_cluster_128,
};
struct Named {
  Form form;
  char const* name;
  unsigned bytes;
};
constexpr Named forms[] = {{Form::red_add, "red.shared.add.u32", 4},
                           {Form::atom_add, "atom.shared.add.u32", 4},
                           {Form::red_min, "red.shared.min.u32", 4},
                           {Form::atom_min, "atom.shared.min.u32", 4},
                           {Form::atom_cas, "atom.shared.cas.b32", 4},
                           {Form::atom_exch, "atom.shared.exch.b32", 4},
                           {Form::red_inc, "red.shared.inc.u32", 4},
                           {Form::red_add_f32, "red.shared.add.f32", 4},
                           {Form::red_add_64, "red.shared.add.u64", 8},
                           {Form::atom_add_64, "atom.shared.add.u64", 8},
                           {Form::atom_cas_64, "atom.shared.cas.b64", 8},
                           {Form::ld_cluster, "ld.shared::cluster.b32", 4},
                           {Form::ld_cluster_128, "ld.shared::cluster.b128", 16},
                           {Form::st_cluster, "st.shared::cluster.b32", 4},
                           {Form::st_cluster_128, "st.shared::cluster.b128", 16}};

constexpr bool is_cluster(Form form) { return form >= Form::ld_cluster; }

/// Issues it once. `one` and `zero` are numbers that the compiler does not know.
template <Form F>
__device__ __forceinline__ void issue(std::uint32_t at, std::uint32_t zero, std::uint32_t one,
                                      std::uint32_t& sink) {
  [[maybe_unused]] unsigned long long const wide = one, none = zero;
  [[maybe_unused]] unsigned long long wide_sink = 0;
  if constexpr (F == Form::red_add) asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(one));
  if constexpr (F == Form::atom_add)
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  if constexpr (F == Form::red_min) asm volatile("red.shared.min.u32 [%0], %1;" ::"r"(at), "r"(one));
  if constexpr (F == Form::atom_min)
    asm volatile("atom.shared.min.u32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  if constexpr (F == Form::atom_cas)
    asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(sink) : "r"(at), "r"(zero), "r"(one));
  if constexpr (F == Form::atom_exch)
    asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(sink) : "r"(at), "r"(one));
  if constexpr (F == Form::red_inc) asm volatile("red.shared.inc.u32 [%0], %1;" ::"r"(at), "r"(~zero));
  if constexpr (F == Form::red_add_f32)
    asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(at), "f"(static_cast<float>(one)));
  if constexpr (F == Form::red_add_64) asm volatile("red.shared.add.u64 [%0], %1;" ::"r"(at), "l"(wide));
  if constexpr (F == Form::atom_add_64)
    asm volatile("atom.shared.add.u64 %0, [%1], %2;" : "=l"(wide_sink) : "r"(at), "l"(wide));
  if constexpr (F == Form::atom_cas_64)
    asm volatile("atom.shared.cas.b64 %0, [%1], %2, %3;" : "=l"(wide_sink) : "r"(at), "l"(none), "l"(wide));
  if constexpr (F == Form::ld_cluster)
    asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(sink) : "r"(at));
  if constexpr (F == Form::ld_cluster_128) {
    std::uint32_t a, b, c;
    asm volatile("ld.volatile.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(sink), "=r"(a), "=r"(b), "=r"(c)
                 : "r"(at));
    sink |= a | b | c;
  }
  if constexpr (F == Form::st_cluster)
    asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(one));
  if constexpr (F == Form::st_cluster_128)
    asm volatile("st.volatile.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(one));
  sink |= static_cast<std::uint32_t>(wide_sink);
}

__device__ std::uint32_t clock_now() {
  std::uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

__device__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

/// A cluster of two blocks measures patterns p, p + step, ...: the first block issues, the second holds the memory that `cluster`
/// forms reach. cycles[2 * p] is of `rounds`, cycles[2 * p + 1] of twice as many.
template <Form F>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(warps* warp_lanes, 1)
    run_atomics(Pattern const* patterns, unsigned count, unsigned bytes, std::uint32_t zero,
                std::uint32_t one, std::uint32_t* cycles) {
  extern __shared__ unsigned char memory[];
  __shared__ std::uint32_t begin[warps], end[warps];
  std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  std::uint32_t const page = (start + page_bytes - 1) / page_bytes * page_bytes;
  unsigned char* const first_page = memory + (page - start);
  for (unsigned i = threadIdx.x; i < pages * page_bytes / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(first_page)[i] = 0;
  std::uint32_t base = page;
  if constexpr (is_cluster(F)) asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(base) : "r"(page));
  meet_cluster();
  unsigned const lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
  if (blockIdx.x % 2 == 0)
    for (unsigned p = blockIdx.x / 2; p < count; p += gridDim.x / 2)
      for (unsigned twice = 0; twice < 2; ++twice) {
        std::uint32_t const address = base + patterns[p].unit[lane] * bytes;
        bool const active = (patterns[p].active >> lane & 1) != 0;
        bool const first = lane + 1 == static_cast<unsigned>(__ffs(static_cast<int>(patterns[p].active)));
        std::uint32_t sink = 0;
        // What was loaded is there, and the warps start together.
        if (address == 0xffffffff) cycles[0] = 1;
        __syncthreads();
        if (active) {
          std::uint32_t const t0 = clock_now();
#pragma unroll 1
          for (unsigned r = 0; r < rounds * (twice + 1); ++r)
#pragma unroll
            for (unsigned k = 0; k < pages; ++k) issue<F>(address + k * page_bytes, zero, one, sink);
          // A load behind them: the pipe serves a warp in order.
          std::uint32_t last = 0;
          if constexpr (is_cluster(F))
            asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(last) : "r"(base));
          else
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(last) : "r"(page));
          if ((last | sink) == 0x9e3779b9) cycles[0] = last;
          std::uint32_t const t1 = clock_now();
          if (first) begin[warp] = t0, end[warp] = t1;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
          std::uint32_t from = begin[0], to = end[0];
          for (unsigned w = 1; w < warps; ++w) {
            from = static_cast<std::int32_t>(begin[w] - from) < 0 ? begin[w] : from;
            to = static_cast<std::int32_t>(end[w] - to) > 0 ? end[w] : to;
          }
          cycles[2 * p + twice] = to - from;
        }
        __syncthreads();
      }
  meet_cluster();
}

using AtomicKernel = void (*)(Pattern const*, unsigned, unsigned, std::uint32_t, std::uint32_t,
                              std::uint32_t*);

template <std::size_t... F>
std::array<AtomicKernel, sizeof...(F)> kernels(std::index_sequence<F...>) {
  return {run_atomics<forms[F].form>...};
}

/// A pattern and what it is called in the record.
struct Asked {
  std::string kind;
  std::uint64_t number;
  Pattern pattern;
};

/// Structured ones first, then those of every kind that `wavefronts` draws.
std::vector<Asked> patterns_of(Named const& form, Settings const& settings) {
  std::vector<Asked> all;
  auto const add = [&](char const* kind, std::uint64_t number, auto const& unit, std::uint32_t active) {
    Pattern p{};
    p.active = active;
    for (unsigned l = 0; l < warp_lanes; ++l) p.unit[l] = static_cast<std::uint16_t>(unit(l));
    all.push_back({kind, number, p});
  };
  unsigned const row = 128 / form.bytes, units = page_bytes / form.bytes;
  for (unsigned k = 1; k <= warp_lanes; k *= 2) {
    add(
        "lanes_to_a_word", k, [&](unsigned l) { return l / k; }, ~0U);  // each word by k lanes
    add(
        "words_of_a_bank", k, [&](unsigned l) { return l % k * row + (l / k) % row; }, ~0U);  // k rows
    add(
        "lanes_alone", k, [&](unsigned l) { return l % units; }, k == warp_lanes ? ~0U : (1U << k) - 1);
    add(
        "lanes_at_one_word", k, [](unsigned) { return 0U; }, k == warp_lanes ? ~0U : (1U << k) - 1);
  }
  Instruction const like{Operation::st_shared, form.bytes};
  for (unsigned kind = 0; kind < drawn_kinds; ++kind)
    for (std::uint64_t n = 0; n < drawn_patterns; ++n)
      all.push_back({kind_names[kind], n, draw(settings.seed, n, static_cast<Kind>(kind), like)});
  return all;
}

}  // namespace

Record atomics(Device const& device, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  constexpr std::size_t shared = (pages + 1) * page_bytes;
  constexpr unsigned instructions = rounds * pages * warps;
  auto const known = kernels(std::make_index_sequence<std::size(forms)>{});
  Record record;
  record.counts["patterns"] = 0;
  for (std::size_t f = 0; f < std::size(forms); ++f) {
    if (!part.has(f)) continue;
    Named const& form = forms[f];
    std::vector<Asked> const asked = patterns_of(form, settings);
    std::vector<Pattern> plain;
    for (Asked const& a : asked) plain.push_back(a.pattern);
    Buffer<Pattern> const patterns(plain);
    Buffer<std::uint32_t> const taken(2 * plain.size());
    allow_shared(known[f], shared);
    std::vector<std::uint32_t> least(2 * plain.size(), ~0U);
    unsigned const blocks = static_cast<unsigned>(device.processors) / 4 * 2;
    for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
      known[f]<<<blocks, warps * warp_lanes, shared>>>(patterns.data(), static_cast<unsigned>(plain.size()),
                                                       form.bytes, 0, 1, taken.data());
      finish(form.name);
      std::vector<std::uint32_t> const now = taken.read();
      for (std::size_t i = 0; i < now.size(); ++i) least[i] = std::min(least[i], now[i]);
    }
    Instruction const like{Operation::st_shared, form.bytes};
    for (std::size_t i = 0; i < asked.size(); ++i) {
      double const t = (static_cast<double>(least[2 * i + 1]) - least[2 * i]) / instructions;
      char text[32];
      std::snprintf(text, sizeof text, "%.3f", t);
      record.rows[std::string("sample/") + form.name].push_back(
          "[\"" + asked[i].kind + "\"," + std::to_string(asked[i].number) + "," + text + "," +
          std::to_string(least[2 * i]) + ",\"" + hexadecimal(asked[i].pattern, like) + "\"]");
    }
    record.counts["patterns"] += asked.size();
    record.counts[std::string("patterns_of/") + form.name] = asked.size();
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.longest["instructions_per_measurement"] = instructions;
  return record;
}

}  // namespace swizproof::gpu
