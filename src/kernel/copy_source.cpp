#include "copy_source.hpp"

#include <swizproof/hardware/copy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace swizproof::kernel_detail {

using execution::Lanes;
using execution::Warp;
using program::MemoryAccess;

namespace {

constexpr unsigned bank_line = bank_count * bank_bytes, line_bits = 7;

/// Wavefronts above those of a source without conflicts, in a warp: at most, as other lanes may be inactive.
std::optional<unsigned> source_excess(ExecutedKernel const& kernel, Warp& warp, std::size_t source) {
  MemoryAccess const& m = kernel.program.accesses[source];
  execution::ExecutedAccess const& executed = kernel.execution.accesses[source];
  std::uint32_t const active = warp.present() & ~warp.truth(executed.guard).no;
  Lanes const v = warp.value(executed.address, line_bits);
  if (active == 0) return 0;
  if (!v.split()) return std::nullopt;
  // The part that all lanes share is aligned with the access, and turns all banks alike.
  std::uint64_t const first = v.lane[static_cast<unsigned>(std::countr_zero(active))];
  WarpAccess<std::uint32_t> from{}, apart{};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    from.active[l] = apart.active[l] = (active >> l & 1) != 0;
    from.address[l] = static_cast<std::uint32_t>(v.lane[l] - first) % bank_line;
    apart.address[l] = l * m.bytes;
    if (from.active[l] && from.address[l] % m.bytes != 0) return std::nullopt;
  }
  Architecture const& arch = *kernel.options.arch;
  return copy_wavefronts(arch, m.bytes, from, apart).most - copy_wavefronts(arch, m.bytes, apart, apart).most;
}

}  // namespace

bool copies_through_l1(std::string_view op) {
  return op.starts_with("cp.async.ca") ||
         (op.starts_with("LDGSTS") && op.find(".BYPASS") == std::string_view::npos);
}

void take_source(ExecutedKernel& kernel, std::size_t index, KernelAccess& out) {
  if (!out.wavefronts || !out.executed || !copies_through_l1(out.op)) return;
  bool const listed = index > 0 && kernel.program.accesses[index - 1].global &&
                      kernel.program.accesses[index - 1].line == kernel.program.accesses[index].line;
  if (!listed || !same_law(*kernel.options.arch, sm_90)) {
    out.any_source = true;
    return;
  }
  unsigned excess = 0;
  for (unsigned w = 0; w < kernel.warps.count() && !out.any_source; ++w) {
    auto const one = source_excess(kernel, kernel.warps.plain(w), index - 1);
    out.any_source = !one;
    excess = std::max(excess, one.value_or(0));
  }
  unsigned const both = std::min(*out.wavefronts + excess, unsigned{warp_lanes});
  if (out.any_source || both <= *out.wavefronts) return;
  out.wavefronts = both;
  out.reached = false, out.function.reset();
  if (out.verdict != KernelVerdict::proved || both <= out.allowed) return;
  out.verdict = KernelVerdict::unknown;
  out.reason =
      fmt::format("its source takes up to {} wavefronts more: lanes read one bank of L1 (H21)", excess);
}

}  // namespace swizproof::kernel_detail
