#include "named_access.hpp"

#include "access_cost.hpp"
#include "address_text.hpp"
#include "faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace swizproof {

SourceLine line_of_kernel(KernelAccess const& access) {
  return access.inlined_at.empty() ? SourceLine{access.file, access.line} : access.inlined_at.back();
}

bool is_at(KernelAccess const& access, std::string_view written, std::string_view ptx_file) {
  auto const plain = [](std::string_view path) {  // ./gemm.cu:31 is gemm.cu:31
    return std::filesystem::path(path).lexically_normal().string();
  };
  std::string const line = plain(written);
  auto const is = [&](std::string_view file, std::uint32_t number) {
    std::string const source = plain(fmt::format("{}:{}", file, number));
    return source == line || source.ends_with("/" + line);
  };
  return (access.file.empty() ? is(ptx_file, access.ptx_line) : is(access.file, access.line)) ||
         std::any_of(access.inlined_at.begin(), access.inlined_at.end(),
                     [&](SourceLine const& at) { return is(at.file, at.line); });
}

namespace kernel_detail {

using execution::ExecutedAccess;
using program::MemoryAccess;

namespace {

/// The allowance of the line, in wavefronts or sectors.
std::optional<unsigned> allowance_of(KernelOptions const& options, KernelAccess const& access, bool global) {
  for (LineAllowance const& a : options.allow)
    if (!a.data && a.global == global && is_at(access, a.line, options.file)) return a.at_most;
  return std::nullopt;
}

unsigned allowed(KernelOptions const& options, KernelAccess const& access) {
  return allowed_number(options, access).value_or(access.ideal + options.excess);
}

/// A generic address of no symbol and no parameter: it depends on data if nothing but loads gives it.
void judge_generic(ExecutedKernel& kernel, Origins::Root root, MemoryAccess const& m,
                   ExecutedAccess const& executed, KernelAccess& out) {
  if (root == Origins::Root::mixed) {
    out.reason = "a generic address that is shared memory in one case and other memory in another";
    return;
  }
  out.reason = "a generic address that comes from memory: it may be shared memory";
  Origin const from = kernel.origins.origin(executed.address);
  if (from.leaf == 0 || !from.data || !m.instruction || m.atomic) return;
  out.verdict = KernelVerdict::data;
  out.wavefronts = most_wavefronts(kernel.options, m, ~0U);
  out.reason = "the address depends on " + kernel.origins.text_of(from.leaf) + ": it may be shared memory";
  out.bounds_reason = no_known_array;
}

/// An access to global memory, whose sectors are decided if it is executed.
NamedAccess name_global(ExecutedKernel const& kernel, MemoryAccess const& m, ExecutedAccess const* executed,
                        NamedAccess out) {
  out.access.sectors.emplace();
  if (executed != nullptr)
    out.access.address = text_of_term(kernel.program, kernel.execution, executed->address);
  out.access.reason = m.reason;
  return out;
}

}  // namespace

std::optional<unsigned> allowed_number(KernelOptions const& options, KernelAccess const& access) {
  auto const of_line = allowance_of(options, access, false);
  return of_line ? of_line : options.at_most;
}

unsigned allowed_sectors(KernelOptions const& options, KernelAccess const& access) {
  return allowance_of(options, access, true).value_or(access.ideal + options.excess_sectors);
}

KernelAccess described(ptx::Module const& module, MemoryAccess const& m, bool sass) {
  KernelAccess out;
  out.op = m.op;
  out.instruction = m.instruction;
  out.ptx_line = m.line;
  out.pc = m.pc;
  out.sass = sass;
  out.calls = m.calls;
  std::vector<SourceLine> const lines = ptx::source_lines(module, m.location);
  if (lines.empty()) return out;
  out.file = lines.front().file, out.line = lines.front().line;
  out.inlined_at.assign(lines.begin() + 1, lines.end());
  return out;
}

std::optional<NamedAccess> name_access(ExecutedKernel& kernel, std::size_t index) {
  MemoryAccess const& m = kernel.program.accesses[index];
  NamedAccess out{described(kernel.module, m, kernel.program.language == "SASS")};
  KernelAccess& access = out.access;
  Architecture const& arch = *kernel.options.arch;
  bool const executed = kernel.execution.refused.empty() && !kernel.execution.accesses.empty() &&
                        kernel.execution.accesses[index].reached;
  if (m.global && !kernel.options.global) return std::nullopt;
  if (m.global)
    return name_global(kernel, m, executed ? &kernel.execution.accesses[index] : nullptr, std::move(out));
  if (m.instruction && !m.atomic && !has(arch, *m.instruction)) {
    access.reason = std::string(arch.name) + " has no " + to_string(*m.instruction);
    access.instruction.reset();
    out.settled = true;
    return out;
  }
  if (m.instruction)
    access.ideal = m.atomic ? most_wavefronts(kernel.options, m, 1) : ideal_wavefronts(arch, *m.instruction);
  access.allowed = allowed(kernel.options, access);
  access.atomic = m.atomic.has_value();
  if (!executed) return m.generic ? std::nullopt : std::optional(out);
  ExecutedAccess const& done = kernel.execution.accesses[index];
  Origins::Root const root = kernel.origins.root_of(done.address, out.symbol);
  bool const generic = m.generic && root != Origins::Root::shared;
  if (generic && kernel.origins.is_elsewhere(root, done.address)) {
    if (!kernel.options.global || !kernel.origins.rooted_in_parameter(done.address)) return std::nullopt;
    kernel.program.accesses[index].global = true;
    return name_global(kernel, m, &done, {described(kernel.module, m, access.sass)});
  }
  access.address = text_of_term(kernel.program, kernel.execution, done.address);
  bool const leaves = m.reason.empty() && kernel.origins.may_leave_the_block(done.address);
  if (generic)
    judge_generic(kernel, root, m, done, access);
  else if (leaves)
    access.reason = "the memory of another block of the cluster is not modelled";
  out.settled = generic || leaves;
  return out;
}

std::vector<KernelAccess> name_accesses(ExecutedKernel& kernel, std::string const& reason) {
  std::vector<KernelAccess> out;
  for (std::size_t i = 0; i < kernel.program.accesses.size(); ++i)
    if (auto named = name_access(kernel, i)) {
      if (!named->settled) named->access.reason = reason;
      out.push_back(std::move(named->access));
    }
  return out;
}

}  // namespace kernel_detail
}  // namespace swizproof
