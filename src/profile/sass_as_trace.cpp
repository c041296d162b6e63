#include "profile/sass_as_trace.hpp"

#include "parse/question/kernels.hpp"

#include <swizproof/parse/parse.hpp>
#include <swizproof/sass/lower.hpp>

#include <algorithm>

namespace swizproof {

namespace {

constexpr std::array<unsigned, 3> no_block{};

WarpAccess<std::uint32_t> access_of(KernelLanes const& can) {
  WarpAccess<std::uint32_t> access{};
  for (unsigned l = 0; l < warp_lanes; ++l)
    access.active[l] = (can.may >> l & 1) != 0, access.address[l] = can.lane[l];
  return access;
}

/// Adds the cases of an access, which may be inlined several times at one address.
void add(TracedInstruction& to, KernelAccess const& access, Architecture const& arch) {
  if (!to.instruction) return;
  to.at_most = std::max(to.at_most, access.wavefronts.value_or(0));
  if (!access.lanes && to.open.empty())
    to.open = access.lanes_reason.empty() ? access.reason : access.lanes_reason;
  if (!access.lanes) return;
  for (KernelLanes const& can : *access.lanes) {
    WarpAccess<std::uint32_t> const lanes = access_of(can);
    unsigned const wavefronts = cost(arch, *to.instruction, lanes).wavefronts;
    to.patterns.push_back({lanes, wavefronts, 1, can.sure && can.must == can.may, can.zeros});
    ++to.executed, ++to.distribution[wavefronts];
  }
}

TracedInstruction instruction_of(KernelAccess const& access, std::string const& kernel,
                                 std::array<unsigned, 3> const& block) {
  TracedInstruction i;
  i.line = access.ptx_line;
  i.kernel = kernel;
  i.block = block;
  i.pc = access.pc;
  i.sass = access.op;
  i.file = access.file, i.source_line = access.line;
  if (!access.atomic) i.instruction = access.instruction;
  i.op = i.instruction ? to_string(*i.instruction) : access.op;
  return i;
}

/// The accesses of one kernel by their addresses in it.
std::vector<TracedInstruction> instructions_of(KernelReport report, std::string const& kernel,
                                               std::array<unsigned, 3> const& block,
                                               Architecture const& arch) {
  std::stable_sort(report.accesses.begin(), report.accesses.end(),
                   [](KernelAccess const& a, KernelAccess const& b) { return a.pc < b.pc; });
  std::vector<TracedInstruction> all;
  for (KernelAccess const& a : report.accesses) {
    if (!a.executed) continue;
    if (all.empty() || all.back().pc != a.pc) all.push_back(instruction_of(a, kernel, block));
    add(all.back(), a, arch);
  }
  return all;
}

}  // namespace

Trace as_trace(PtxFile const& dump, Architecture const& arch, CompiledOptions const& options) {
  Trace trace;
  trace.name = dump.name;
  trace.arch = &arch;
  trace.decided = true;
  std::vector<std::optional<std::array<std::uint32_t, 3>>> blocks(options.blocks.begin(),
                                                                  options.blocks.end());
  if (blocks.empty()) blocks.emplace_back();
  for (sass::Function const& f : dump.sass->functions) {
    if (!f.entry) continue;
    sass::Lowered const kernel = sass::lower(*dump.sass, f);
    for (auto const& block : blocks) {
      KernelOptions one;
      one.arch = &arch;
      one.params = options.params;
      one.block = block;
      one.lanes = true;
      std::string const name = demangled(f.name);
      KernelReport report = decide_kernel(*dump.sass, kernel, one);
      if (!report.accesses.empty() && needs_block(kernel, one)) refuse_without_shape(name);
      trace.assumed.insert(report.assumed.begin(), report.assumed.end());
      std::vector<TracedInstruction> its =
          instructions_of(std::move(report), name, block.value_or(no_block), arch);
      if (its.empty()) trace.idle.emplace_back(name, block.value_or(no_block));
      trace.instructions.insert(trace.instructions.end(), its.begin(), its.end());
    }
  }
  return trace;
}

}  // namespace swizproof
