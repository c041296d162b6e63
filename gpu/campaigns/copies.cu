// copies: wavefronts of cp.async as the hardware counts them, one kernel a pattern, compared with H21 and H22 (hardware/copy.hpp).
//
// One warp issues one instruction: the lanes read anywhere in global memory and write anywhere in a page of shared memory.
#include "campaign/copies.hpp"
#include "counters.hpp"

#include <swizproof/hardware/counter.hpp>

namespace swizproof::gpu {
namespace {

template <unsigned Bytes, bool Bypasses>
__global__ void copy_once(Pattern const from, Pattern const to, char const* memory) {
  __shared__ alignas(128) unsigned char page[page_bytes];
  unsigned const lane = threadIdx.x;
  if ((from.active >> lane & 1) == 0) return;
  auto const shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(page)) + to.unit[lane] * Bytes;
  char const* const at = memory + std::uint64_t{from.unit[lane]} * Bytes;
  if constexpr (Bypasses)
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(at), "n"(Bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(at), "n"(Bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
}

using CopyKernel = void (*)(Pattern, Pattern, char const*);
constexpr std::array<CopyKernel, copy_forms.size()> kernels{copy_once<4, false>, copy_once<8, false>,
                                                            copy_once<16, false>, copy_once<16, true>};

}  // namespace

Record copies(Device const&, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  Buffer<char> memory(std::size_t{global_units} * 16);
  std::string const counter = "smsp__" + wavefront_counter("ldgsts");
  Record record;
  record.counts["mismatches"] = record.counts["patterns"] = record.counts["exact"] = 0;
  for (std::size_t f = 0; f < copy_forms.size(); ++f) {
    CopyForm const& form = copy_forms[f];
    std::string const name(form.name);
    std::vector<CopyPattern> patterns;
    for (std::uint64_t i = 0; i < cases_of(form); ++i)
      patterns.push_back(draw_copy(settings.seed, i, part, form));
    auto const values = count({counter.c_str()}, patterns.size(), [&] {
      for (CopyPattern const& p : patterns) kernels[f]<<<1, warp_lanes>>>(p.from, p.to, memory.data());
    });
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      CopyWavefronts const expected = wavefronts_of(patterns[i], form);
      auto const shown = static_cast<std::uint64_t>(values[i][0]);
      bool const mismatch = shown < expected.least || shown > expected.most;
      ++record.counts["patterns"];
      record.counts["exact"] += expected.least == expected.most;
      record.counts["mismatches"] += mismatch;
      record.counts["mismatches_of/" + name] += mismatch;
      record.rows["sample/" + name].push_back("[\"" + patterns[i].kind + "\"," + std::to_string(shown) +
                                              ",\"" + copy_text(patterns[i], form.bytes) + "\"]");
    }
  }
  record.counts["units"] = record.counts["patterns"];
  record.counts["units_of_all_parts"] = part.index == 0 ? record.counts["patterns"] * part.count : 0;
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
