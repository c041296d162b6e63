// global: sectors of global memory as the hardware counts them, one kernel a pattern, compared with H20 (hardware/global.hpp).
//
// One warp issues one instruction. The kernel accesses global memory nowhere else: its pattern is a parameter.
#include "campaign/global.hpp"
#include "counters.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace swizproof::gpu {
namespace {

/// Data of stores and atomics: zeros that are unknown to the compiler.
struct Zeros {
  std::uint32_t word[4];
};

template <GlobalOperation Op, unsigned Bytes>
__device__ __forceinline__ std::uint32_t issue_global(char* at, std::uint32_t shared, Zeros const& zeros) {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
#define LOAD(op)                                                                              \
  if constexpr (Bytes == 1) asm volatile(op ".u8 %0, [%1];" : "=r"(a) : "l"(at) : "memory");  \
  if constexpr (Bytes == 2) asm volatile(op ".u16 %0, [%1];" : "=r"(a) : "l"(at) : "memory"); \
  if constexpr (Bytes == 4) asm volatile(op ".u32 %0, [%1];" : "=r"(a) : "l"(at) : "memory"); \
  if constexpr (Bytes == 8)                                                                   \
    asm volatile(op ".v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at) : "memory");       \
  if constexpr (Bytes == 16)                                                                  \
    asm volatile(op ".v4.u32 {%0, %1, %2, %3}, [%4];"                                         \
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                                         \
                 : "l"(at)                                                                    \
                 : "memory");
  if constexpr (Op == GlobalOperation::ld) {
    LOAD("ld.global")
  }
  if constexpr (Op == GlobalOperation::ld_nc) {
    LOAD("ld.global.nc")
  }
#undef LOAD
  if constexpr (Op == GlobalOperation::st) {
    if constexpr (Bytes == 1) asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(zeros.word[0]) : "memory");
    if constexpr (Bytes == 2)
      asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"(static_cast<short>(zeros.word[0])) : "memory");
    if constexpr (Bytes == 4)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(zeros.word[0]) : "memory");
    if constexpr (Bytes == 8)
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(zeros.word[0]), "r"(zeros.word[1])
                   : "memory");
    if constexpr (Bytes == 16)
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(zeros.word[0]),
                   "r"(zeros.word[1]), "r"(zeros.word[2]), "r"(zeros.word[3])
                   : "memory");
  }
  std::uint64_t const zero = static_cast<std::uint64_t>(zeros.word[1]) << 32 | zeros.word[0];
  if constexpr (Op == GlobalOperation::red && Bytes == 4)
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(zeros.word[0]) : "memory");
  if constexpr (Op == GlobalOperation::red && Bytes == 8)
    asm volatile("red.global.add.u64 [%0], %1;" ::"l"(at), "l"(zero) : "memory");
  if constexpr (Op == GlobalOperation::atom && Bytes == 4)
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(a) : "l"(at), "r"(zeros.word[0]) : "memory");
  if constexpr (Op == GlobalOperation::atom && Bytes == 8) {
    std::uint64_t old;
    asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(zero) : "memory");
    a = static_cast<std::uint32_t>(old), b = static_cast<std::uint32_t>(old >> 32);
  }
  if constexpr (Op == GlobalOperation::cp_async) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(at), "n"(Bytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  return a | b | c | d;
}

template <GlobalOperation Op, unsigned Bytes>
__global__ void access_once(Pattern const pattern, Zeros const zeros, char* memory) {
  __shared__ alignas(16) unsigned char copied[warp_lanes * 16];
  unsigned const lane = threadIdx.x;
  if ((pattern.active >> lane & 1) == 0) return;
  auto const shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(copied)) + lane * Bytes;
  std::uint32_t const all =
      issue_global<Op, Bytes>(memory + std::uint64_t{pattern.unit[lane]} * Bytes, shared, zeros);
  if (all != 0) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(shared & ~3U), "r"(all));  // never
}

using GlobalKernel = void (*)(Pattern, Zeros, char*);

template <std::size_t... Index>
std::array<GlobalKernel, sizeof...(Index)> global_kernels(std::index_sequence<Index...>) {
  return {access_once<global_forms[Index].operation, global_forms[Index].bytes>...};
}

/// Names of the counters of a form: requests, sectors, lines.
std::array<std::string, 3> counters_of(GlobalForm const& form) {
  std::string const suffix = "_pipe_lsu_mem_global_op_" + std::string(form.counter) +
                             (form.operation == GlobalOperation::cp_async ? "_cache_access" : "") + ".sum";
  return {"l1tex__t_requests" + suffix, "l1tex__t_sectors" + suffix, "l1tex__t_set_accesses" + suffix};
}

/// Values of metrics for each pattern.
std::vector<std::vector<double>> count_global(GlobalKernel kernel, std::vector<std::string> const& names,
                                              std::vector<Pattern> const& patterns, char* memory) {
  std::vector<char const*> metrics;
  for (std::string const& name : names) metrics.push_back(name.c_str());
  return count(metrics, patterns.size(), [&] {
    for (Pattern const& p : patterns) kernel<<<1, warp_lanes>>>(p, Zeros{}, memory);
  });
}

/// The patterns of a form, and the name of the kind of each.
std::vector<std::pair<std::string_view, Pattern>> patterns_of(GlobalForm const& form, std::uint64_t seed,
                                                              Part part) {
  std::vector<std::pair<std::string_view, Pattern>> all;
  for (unsigned kind = 0; kind < global_kinds.size(); ++kind)
    for (std::uint64_t i = 0; i < global_patterns; ++i)
      all.emplace_back(global_kinds[kind],
                       draw_global(seed, counted_number(i, part), static_cast<GlobalKind>(kind), form.bytes));
  return all;
}

}  // namespace

Record global(Device const&, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  Buffer<char> memory(std::size_t{global_units} * 16);
  auto const kernels = global_kernels(std::make_index_sequence<global_forms.size()>{});
  Record record;
  record.counts["mismatches"] = record.counts["patterns"] = 0;
  for (std::size_t f = 0; f < global_forms.size(); ++f) {
    GlobalForm const& form = global_forms[f];
    std::string const name(form.name);
    auto const drawn = patterns_of(form, settings.seed, part);
    std::vector<Pattern> patterns;
    for (auto const& [kind, pattern] : drawn) patterns.push_back(pattern);
    auto const names = counters_of(form);
    auto const values = count_global(kernels[f], {names.begin(), names.end()}, patterns, memory.data());
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      GlobalCounts const expected = counts_of(form, patterns[i]);
      std::array<std::uint64_t, 3> shown{};
      for (std::size_t k = 0; k < shown.size(); ++k) shown[k] = static_cast<std::uint64_t>(values[i][k]);
      bool const mismatch =
          shown[0] != 1 || !expected.allow_sectors(shown[1]) || !expected.allow_lines(shown[2]);
      ++record.counts["patterns"];
      record.counts["mismatches"] += mismatch;
      record.counts["mismatches_of/" + name] += mismatch;
      record.rows["sample/" + name].push_back("[\"" + std::string(drawn[i].first) + "\"," +
                                              std::to_string(shown[0]) + "," + std::to_string(shown[1]) +
                                              "," + std::to_string(shown[2]) + ",\"" +
                                              global_text(patterns[i]) + "\"]");
    }
  }
  record.counts["units"] = record.counts["patterns"];
  record.counts["units_of_all_parts"] = part.index == 0 ? record.counts["patterns"] * part.count : 0;
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
