#include "profile/fixes.hpp"

#include <algorithm>

namespace swizproof {

KernelFixes fixes_of(std::span<TracedInstruction const* const> kernel, Architecture const& arch) {
  KernelFixes out;
  std::vector<WeightedAccess> accesses;
  for (TracedInstruction const* const traced : kernel) {
    TracedInstruction const& i = *traced;
    if (i.instruction) {
      out.not_kept += i.not_kept;
      for (TracedPattern const& p : i.patterns)
        accesses.push_back({*i.instruction, p.access, p.executed, i.pc});
    } else if (std::find(out.no_law.begin(), out.no_law.end(), i.op) == out.no_law.end()) {
      out.no_law.push_back(i.op);
    }
  }
  out.fixes = fixes_of(accesses, arch);
  return out;
}

}  // namespace swizproof
