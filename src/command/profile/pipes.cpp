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
        fmt::format("export it with: ncu --csv --print-units base --metrics {},{} PROGRAM", pipe_wavefronts,
                    pipe_cycles));
  return pipes;
}

std::optional<PipeUse> pipe_of(std::vector<PipeUse> const& pipes, std::string const& name) {
  std::optional<PipeUse> sum;
  std::string const plain = plain_kernel_name(name), comparable = comparable_kernel_name(name);
  bool const same =
      std::any_of(pipes.begin(), pipes.end(), [&](PipeUse const& p) { return p.kernel == plain; });
  for (PipeUse const& p : pipes) {
    if (same ? p.kernel != plain : comparable_kernel_name(p.kernel) != comparable) continue;
    if (sum && sum->kernel != p.kernel) return std::nullopt;
    if (!sum) sum = PipeUse{p.kernel, 0, 0};
    sum->wavefronts += p.wavefronts;
    sum->cycles += p.cycles;
  }
  return sum;
}

std::string in_words(std::optional<PipeUse> const& use, bool not_profiled, std::uint64_t lost,
                     std::uint64_t wavefronts) {
  std::string const text =
      fmt::format("shared-memory pipe: {} of its cycles are lost, at a wavefront a cycle (H12)",
                  share_of_pipe(lost, wavefronts));
  if (not_profiled) return text + "; the profile of --ncu has no kernel of this name";
  if (!use) return text;
  double const of_all =
      static_cast<double>(use->wavefronts) * static_cast<double>(lost) / static_cast<double>(wavefronts);
  return text + fmt::format("; busy in {} of the kernel's cycles (ncu): without conflicts at most {} fewer",
                            share_of_pipe(use->wavefronts, use->cycles),
                            share_of_pipe(static_cast<std::uint64_t>(of_all), use->cycles));
}

}  // namespace swizproof::command
