#include "report/pipe.hpp"

#include "report/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

PipeTime pipe_time(KernelReport const& report) {
  PipeTime time;
  for (KernelAccess const& a : report.accesses) {
    if (!a.executed) continue;
    if (!a.wavefronts || !a.instruction || !a.executions) {
      ++time.open;
      continue;
    }
    time.wavefronts += *a.wavefronts * *a.executions;
    time.lost += wavefronts_lost(a, *a.executions);
  }
  return time;
}

std::string share_of_pipe(std::uint64_t lost, std::uint64_t wavefronts) {
  if (lost == 0) return "0 %";
  double const percent = 100 * static_cast<double>(lost) / static_cast<double>(wavefronts);
  return percent < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

std::string describe(PipeTime const& time, int indent) {
  if (time.lost == 0) return {};
  std::string const open = time.open == 0 ? ""
                                          : fmt::format("; not counted: {} access{} without known executions",
                                                        time.open, time.open == 1 ? "" : "es");
  return fmt::format(
      "{:{}}shared-memory pipe: at most {} of {} cycles a block ({}) are lost, at a wavefront a cycle (H12) "
      "and the "
      "worst cost in each execution{}\n",
      "", indent, time.lost, time.wavefronts, share_of_pipe(time.lost, time.wavefronts), open);
}

nlohmann::ordered_json to_json(PipeTime const& time) {
  return {{"wavefronts", time.wavefronts}, {"lost", time.lost}, {"open", time.open}};
}

std::uint64_t added_instructions(KernelFix const& fix) {
  bool const swizzles =
      std::any_of(fix.fixes.begin(), fix.fixes.end(), [](Fix const& f) { return f.swizzle.has_value(); });
  return swizzles ? instructions_of_swizzle * fix.executions : 0;
}

std::string added_in_words(KernelFix const& fix, int indent) {
  std::uint64_t const added = added_instructions(fix);
  if (added == 0) return {};
  return fmt::format(
      "{:{}}the swizzle adds shift, and, xor to an address: {} warp instructions a block, as written\n", "",
      indent, added);
}

}  // namespace swizproof
