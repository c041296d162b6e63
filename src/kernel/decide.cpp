#include <swizproof/kernel/kernel.hpp>

#include "copy_source.hpp"
#include "accesses.hpp"
#include "arrays.hpp"
#include "executed_kernel.hpp"
#include "fixes.hpp"
#include "launch.hpp"
#include "locks.hpp"
#include "named_access.hpp"
#include "operands.hpp"
#include "races.hpp"
#include "sectors.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>
#include <swizproof/ptx/arrays.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace swizproof {

namespace kernel_detail {
namespace {

/// A kernel in the small language of PTX and SASS.
struct LoweredKernel {
  ptx::Module const& module;  ///< has the files and lines of the source
  ptx::Function const& head;  ///< name and parameters
  program::Program program{};
  bool shape_needed = false;  ///< the block's shape, which the launch must give
};

/// `128,1,1`, or `32n,1,1 up to 1024` for every multiple of 32 threads.
std::string block_text(execution::Launch const& launch) {
  return launch.any_multiple ? fmt::format("32n,1,1 up to {}", launch.block[0])
                             : fmt::format("{}", fmt::join(launch.block, ","));
}

/// H18, and what it rests on.
std::string bases_in_words(Architecture const& arch) {
  return fmt::format(
      "shared memory starts at {:#x}, and arrays follow each other as they are declared (H18: measured on "
      "sm_90{})",
      arch.code.value().reserved_shared,
      arch.capability == sm_90.capability ? "" : fmt::format(", not on {}", arch.name));
}

bool accesses_memory(program::Program const& program) {
  return !program.operands.empty() ||
         std::any_of(program.accesses.begin(), program.accesses.end(),
                     [](program::MemoryAccess const& m) { return m.instruction.has_value(); });
}

/// Puts accesses to global memory apart.
void split_global(KernelReport& report) {
  auto const from = std::stable_partition(report.accesses.begin(), report.accesses.end(),
                                          [](KernelAccess const& a) { return !a.sectors; });
  std::move(from, report.accesses.end(), std::back_inserter(report.global));
  report.accesses.erase(from, report.accesses.end());
}

/// Assumptions behind the sectors of global memory.
std::vector<std::string> assumed_of_global(KernelReport const& report, AlignedPointers pointers,
                                           KernelOptions const& options) {
  std::vector<std::string> all;
  if (pointers == AlignedPointers::given)
    all.push_back(
        fmt::format("pointers that are parameters are multiples of {} (--pointers)", options.pointers));
  if (pointers == AlignedPointers::copied)
    all.emplace_back(
        "pointers that cp.async.cg reads are multiples of 128, as those of cudaMalloc (--pointers 16: any)");
  if (std::any_of(report.global.begin(), report.global.end(),
                  [](KernelAccess const& a) { return a.sectors->near; }) ||
      std::any_of(report.accesses.begin(), report.accesses.end(),
                  [](KernelAccess const& a) { return a.near_source; }))
    all.emplace_back(
        "lanes of a warp access global memory less than 2 GiB apart: no 32-bit index wraps around between "
        "them");
  return all;
}

/// Decides a kernel that decide_kernel() has inlined and lowered, in the order of these lines.
KernelReport decide_program(LoweredKernel lowered, KernelOptions const& options) {
  KernelReport report{lowered.head.name};
  report.sass = lowered.program.language == "SASS";
  auto const [launch, warps, refused] = launch_of(lowered.head, options, lowered.shape_needed);
  report.refused = refused;
  if (refused.empty()) report.block = block_text(launch);
  if (options.grid) report.grid = fmt::format("{}", fmt::join(*options.grid, ","));

  ExecutedKernel kernel{lowered.module, options, launch};
  kernel.program = program::with_one_entry(std::move(lowered.program));  // each loop has one header
  kernel.flow = program::flow_of(kernel.program);                        // dominators and loops
  if (refused.empty()) {
    execution::execute(kernel.program, kernel.flow,
                       kernel.execution);  // a term for each value, in all launches
    report.refused = kernel.execution.refused;
  }
  if (!report.refused.empty()) {
    report.accesses = name_accesses(kernel, report.refused);
    split_global(report);
    report.operands = list_operands(kernel.module, kernel.program, report.refused);
    return report;
  }
  bool const bypasses = std::any_of(kernel.program.accesses.begin(), kernel.program.accesses.end(),
                                    [](program::MemoryAccess const& m) { return m.bypasses; });
  AlignedPointers const aligned = options.global || bypasses ? align_pointers(kernel) : AlignedPointers::none;
  if (accesses_memory(kernel.program)) kernel.warps.start(warps);  // the terms in the lanes of each warp
  mark_locks(kernel);
  Arrays arrays(kernel.program, kernel.execution);
  report.accesses = decide_accesses(kernel, arrays);  // for each: its cases, replays on numbers, the verdict
  split_global(report);
  if (options.global || bypasses) report.rests_on = assumed_of_global(report, aligned, options);
  report.operands = decide_operands(kernel);
  if (options.fixes) find_fixes(kernel, arrays, report);
  auto const on_bases = [](auto const& one) { return one.on_bases; };
  if (std::any_of(report.accesses.begin(), report.accesses.end(), on_bases) ||
      std::any_of(report.operands.begin(), report.operands.end(), on_bases))
    report.assumed_bases = bases_in_words(*options.arch);
  auto const of_tile = [](program::MemoryAccess const& m) { return m.of_tile; };
  if (std::any_of(kernel.program.accesses.begin(), kernel.program.accesses.end(), of_tile))
    report.assumed.emplace_back("wmma is the loads and stores that ptxas 13.0 makes of it (H19)");
  for (std::string& one : assumed_of_copies(report)) report.rests_on.push_back(std::move(one));
  if (kernel.execution.assumes_sources)
    report.assumed.push_back(std::string(report.sass ? "SHFL" : "shfl") +
                             " from a lane that is not known to execute it");
  if (kernel.execution.assumes_other_kernels)
    report.rests_on.emplace_back(
        "no other kernel writes what lanes that wait for each other load from global memory");
  if (kernel.execution.assumes_ranges)
    report.rests_on.emplace_back(
        "a loop that ends by a range which becomes less begins with words below a quarter of all");
  if (kernel.execution.assumes_constants)
    report.rests_on.emplace_back("constant memory is as the PTX initialises it");
  return report;
}

/// A proof that no race exists assumes that each access and copy stays in its array: nothing is proved where one does not.
void withdraw_if_out_of_bounds(KernelRaces& races, KernelReport const& report) {
  auto const line_of = [](auto const& all) -> std::optional<std::uint32_t> {
    auto const leaves =
        std::find_if(all.begin(), all.end(), [](auto const& one) { return one.in_bounds == false; });
    return leaves == all.end() ? std::nullopt : std::optional(leaves->ptx_line);
  };
  std::optional<std::uint32_t> line = line_of(report.accesses);
  if (!line) line = line_of(report.operands);
  if (races.verdict != RaceVerdict::proved || !line) return;
  races = KernelRaces{.reason = "an access leaves its array, and may meet those to another one"};
  races.lines = {*line};
}

/// Instructions on tensor maps in shared memory: tensormap.replace, and the copy out of it.
std::vector<KernelAccess> tensor_maps_of(ptx::Module const& module, ptx::Function const& function) {
  std::vector<KernelAccess> out;
  for (ptx::Instruction const& i : function.body) {
    auto const& parts = i.opcode.parts;
    if (i.opcode.name != "tensormap" ||
        std::none_of(parts.begin(), parts.end(), [](std::string_view p) { return p.starts_with("shared"); }))
      continue;
    program::MemoryAccess m;
    m.op = std::string(i.opcode.text), m.line = i.line, m.location = i.location;
    out.push_back(described(module, m, false));
  }
  return out;
}

/// The assumption about these instructions, with their first lines.
std::string assumed_of_tensor_maps(std::vector<KernelAccess> const& all) {
  constexpr std::size_t most = 3;
  std::vector<std::uint32_t> lines;
  for (KernelAccess const& a : all)
    if (lines.size() < most) lines.push_back(a.ptx_line);
  return fmt::format("ptxas makes loads and stores of one wavefront of tensormap on shared memory (PTX {}{})",
                     fmt::join(lines, ", "),
                     all.size() > most ? fmt::format(" and {} more", all.size() - most) : "");
}

/// The accesses alone; generic ones where they are surely shared memory, or global if these are listed.
std::vector<KernelAccess> list_program(LoweredKernel lowered, bool global) {
  KernelOptions options;
  options.global = global;
  ExecutedKernel kernel{lowered.module, options, {.block = {32, 1, 1}}};
  kernel.program = program::with_one_entry(std::move(lowered.program));
  kernel.flow = program::flow_of(kernel.program);
  execution::execute(kernel.program, kernel.flow, kernel.execution);
  return name_accesses(kernel, kernel.execution.refused);
}

}  // namespace
}  // namespace kernel_detail

KernelReport decide_kernel(ptx::Module const& module, ptx::Function const& function,
                           KernelOptions const& options) {
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, function);
  ptx::Function const& f = inlined ? *inlined : function;
  program::Program program = ptx::lower(module, f, options.global);
  std::uint64_t const first = options.arch->code.value().reserved_shared;
  if (!options.any_base && options.arch->capability != unknown_capability)
    (void)ptx::place_arrays(module, function, first, program);
  KernelReport report = kernel_detail::decide_program(
      {module, f, std::move(program), needs_block(module, f, options)}, options);
  report.tensor_maps = kernel_detail::tensor_maps_of(module, f);
  if (!report.tensor_maps.empty())
    report.rests_on.push_back(kernel_detail::assumed_of_tensor_maps(report.tensor_maps));
  if (options.races) {
    report.races = kernel_detail::decide_races(module, function, options);
    kernel_detail::withdraw_if_out_of_bounds(*report.races, report);
    for (std::uint32_t const line : report.races->lines)
      if (auto const at = std::find_if(f.body.begin(), f.body.end(),
                                       [&](ptx::Instruction const& i) { return i.line == line; });
          at != f.body.end())
        report.races->sources.push_back(ptx::source_lines(module, at->location));
      else
        report.races->sources.emplace_back();
  }
  return report;
}

KernelReport decide_kernel(sass::Module const& module, sass::Lowered const& kernel,
                           KernelOptions const& options) {
  KernelReport report = kernel_detail::decide_program(
      {module.source, kernel.head, kernel.program, needs_block(kernel, options)}, options);
  report.assumed.insert(report.assumed.begin(), kernel.assumed.begin(), kernel.assumed.end());
  if (options.races)
    report.races = KernelRaces{.reason = "races are decided of PTX, and this is machine code"};
  return report;
}

std::vector<KernelAccess> accesses_in(ptx::Module const& module, ptx::Function const& function, bool global) {
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, function);
  ptx::Function const& f = inlined ? *inlined : function;
  return kernel_detail::list_program({module, f, ptx::lower(module, f, global)}, global);
}

std::vector<KernelAccess> accesses_in(sass::Module const& module, sass::Lowered const& kernel, bool global) {
  return kernel_detail::list_program({module.source, kernel.head, kernel.program}, global);
}

bool needs_block(sass::Lowered const& kernel, KernelOptions const& options) {
  return !options.block && kernel.head.reqntid[0] == 0 && kernel.program.uses_y_or_z;
}

}  // namespace swizproof
