#include "command/profile/pipes.hpp"

#include "profile/metrics.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>

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
  for (PipeUse const& p : pipes) {
    if (p.kernel != plain_kernel_name(name)) continue;
    if (!sum) sum = PipeUse{p.kernel, 0, 0};
    sum->wavefronts += p.wavefronts;
    sum->cycles += p.cycles;
  }
  return sum;
}

}  // namespace swizproof::command
