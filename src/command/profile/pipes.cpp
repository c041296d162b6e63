#include "command/profile/pipes.hpp"

#include "profile/metrics.hpp"
#include "profile/trace_vs_profile.hpp"
#include "report/pipe.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::command {

std::vector<PipeUse> pipes_of(std::string const& file) {
  if (file.empty()) return {};
  std::vector<PipeUse> pipes = read_nsight(file, read_file(file)).pipes;
  if (pipes.empty())
    throw InputError::whole(
        "no kernel of the profile has the use of the pipe", file,
        fmt::format("export it with: ncu --csv --print-units base --metrics {},{} PROGRAM",
                    pipe_metrics.front().wavefronts, pipe_metrics.front().cycles));
  return pipes;
}

std::optional<PipeUse> pipe_of(std::vector<PipeUse> const& pipes, std::string const& name) {
  std::optional<PipeUse> sum;
  std::string const plain = plain_kernel_name(name), comparable = comparable_kernel_name(name);
  bool const same =
      std::any_of(pipes.begin(), pipes.end(), [&](PipeUse const& p) { return p.kernel == plain; });
  for (PipeUse const& p : pipes) {
    if (same ? p.kernel != plain : comparable_kernel_name(p.kernel) != comparable) continue;
    if (sum && (sum->kernel != p.kernel || sum->of != p.of)) return std::nullopt;
    if (!sum) sum = PipeUse{p.kernel, 0, 0, p.of};
    sum->wavefronts += p.wavefronts;
    sum->cycles += p.cycles;
  }
  return sum;
}

nlohmann::ordered_json pipe_json(PipeUse const& use) {
  char const* const of = use.of == PipeSms::busiest  ? "busiest SM"
                         : use.of == PipeSms::active ? "active SMs"
                                                     : "all SMs";
  return {{"wavefronts", use.wavefronts}, {"cycles", use.cycles}, {"of", of}};
}

std::string in_words(std::optional<PipeUse> const& use, bool not_profiled, std::uint64_t lost,
                     std::uint64_t wavefronts) {
  std::string const text =
      fmt::format("shared-memory pipe: {} of its cycles are lost, at a wavefront a cycle (H12)",
                  share_of_pipe(lost, wavefronts));
  if (not_profiled) return text + "; the profile of --ncu has no counts of this kernel alone";
  if (!use) return text;
  std::uint64_t const busy = std::min(use->wavefronts, use->cycles);
  double const of_all =
      static_cast<double>(busy) * static_cast<double>(lost) / static_cast<double>(wavefronts);
  std::string const busy_in = share_of_pipe(busy, use->cycles),
                    fewer = share_of_pipe(static_cast<std::uint64_t>(of_all), use->cycles);
  switch (use->of) {
    case PipeSms::busiest:
      return text + fmt::format(
                        "; busy in {} of the cycles of the SM with most (ncu): without conflicts at "
                        "most {} fewer, if its warps lose as large a share",
                        busy_in, fewer);
    case PipeSms::active:
      return text + fmt::format(
                        "; busy in {} of an SM's active cycles on average (ncu): without conflicts "
                        "up to about {} fewer",
                        busy_in, fewer);
    case PipeSms::all:
      break;
  }
  return text + fmt::format("; busy in {} of the cycles of all SMs, idle ones too (ncu): no bound; {} has it",
                            busy_in, pipe_metrics.front().wavefronts);
}

}  // namespace swizproof::command
