#include "copy_source.hpp"

#include <swizproof/hardware/bank.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::kernel_detail {

bool copies_through_l1(std::string_view op) {
  return op.starts_with("cp.async.ca") ||
         (op.starts_with("LDGSTS") && op.find(".BYPASS") == std::string_view::npos);
}

unsigned turns_of_source(Architecture const& arch, unsigned bytes, std::uint32_t active,
                         LaneAddresses const& address) {
  constexpr unsigned bank_line = bank_count * bank_bytes;
  if (active == 0) return 1;
  // The part that all lanes share is aligned with the access, and turns all banks alike.
  std::uint64_t const first = address[static_cast<unsigned>(std::countr_zero(active))];
  WarpAccess<std::uint32_t> from{}, apart{};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    from.active[l] = apart.active[l] = (active >> l & 1) != 0;
    from.address[l] = static_cast<std::uint32_t>(address[l] - first) % bank_line;
    apart.address[l] = l * bytes;
    if (from.active[l] && from.address[l] % bytes != 0) return 1;  // it faults
  }
  Instruction const copy{Operation::cp_async, bytes};
  return 1 + cost(arch, copy, from).wavefronts - cost(arch, copy, apart).wavefronts;
}

std::optional<program::MemoryAccess> source_of(ExecutedKernel const& kernel, std::size_t index) {
  std::vector<program::MemoryAccess> const& all = kernel.program.accesses;
  bool const listed = index > 0 && all[index - 1].global && all[index - 1].line == all[index].line &&
                      kernel.execution.accesses[index - 1].reached;
  if (!listed || !same_law(*kernel.options.arch, sm_90)) return std::nullopt;
  program::MemoryAccess out = all[index - 1];
  out.global = false, out.copy_source = true;
  out.instruction = all[index].instruction;
  out.at_most = {};
  return out;
}

std::vector<std::string> assumed_of_copies(KernelReport const& report) {
  bool open = false, turns = false, rows = false;
  for (KernelAccess const& a : report.accesses) {
    if (!a.executed || !a.instruction || a.instruction->operation != Operation::cp_async) continue;
    bool const bypasses = !copies_through_l1(a.op);
    open = open || (a.any_source && !bypasses);
    turns = turns || a.source_turns > 1;
    rows = rows || (a.any_source && bypasses);
  }
  std::vector<std::string> out;
  if (open)
    out.emplace_back(
        "lanes of cp.async.ca read different banks of L1: in global memory 128 bytes apart they take 32 "
        "wavefronts (H21)");
  if (turns && !report.fixes.empty())
    out.emplace_back("fixes count what cp.async.ca writes, and not the banks of L1 that it reads (H21)");
  if (rows)
    out.emplace_back(
        "lanes of cp.async.cg that write one row of 128 bytes read whole sectors of one line: from more "
        "lines, and to other "
        "places in sectors, they take more wavefronts (H22)");
  return out;
}

void take_turns(unsigned turns, KernelAccess& out) {
  out.source_turns = turns;
  unsigned const both = std::min(*out.wavefronts + turns - 1, unsigned{warp_lanes});
  if (both <= *out.wavefronts) return;
  out.wavefronts = both;
  out.reached = false, out.function.reset();
  if (out.verdict != KernelVerdict::proved || both <= out.allowed) return;
  out.verdict = KernelVerdict::unknown;
  out.reason = fmt::format("its source may take {} more: lanes read one bank of L1 (H21)", turns - 1);
}

}  // namespace swizproof::kernel_detail
