#include "access_cost.hpp"

namespace swizproof::kernel_detail {

using program::MemoryAccess;

bool takes_part(Instruction const& instruction, std::uint32_t active, unsigned lane) {
  return instruction.matrices != 0 ? lane < instruction.lanes() : (active >> lane & 1) != 0;
}

LanesCost cost_of(KernelOptions const& options, MemoryAccess const& access, std::uint32_t active,
                  LaneAddresses const& address) {
  LanesCost out;
  for (unsigned l = 0; l < 32; ++l) {
    out.lanes.address[l] = static_cast<std::uint32_t>(address[l]);
    out.lanes.active[l] = takes_part(*access.instruction, active, l);
  }
  if (active != 0)
    out.wavefronts = access.atomic ? atomic_wavefronts(out.lanes, access.instruction->bytes, *access.atomic)
                                   : cost(*options.arch, *access.instruction, out.lanes).wavefronts;
  return out;
}

unsigned most_wavefronts(KernelOptions const& options, MemoryAccess const& access, std::uint32_t active) {
  constexpr std::uint64_t apart = 4096;  // bytes: in one bank, and in no two lanes the same word
  LaneAddresses address{};
  for (unsigned l = 0; l < 32; ++l) address[l] = l * apart;
  return cost_of(options, access, active, address).wavefronts;
}

bool is_exact(program::Program const& program, MemoryAccess const& access) {
  auto const is = [&](std::string_view part) { return access.op.find(part) != access.op.npos; };
  return !access.atomic || (program.language == "SASS" && !is(".OR") && !is(".DEC"));
}

std::optional<LanesCost> cost_in_run(ExecutedKernel const& kernel, std::uint32_t access, std::uint32_t active,
                                     LaneAddresses const& address) {
  MemoryAccess const& m = kernel.program.accesses[access];
  if (!m.instruction || !is_exact(kernel.program, m) || (m.instruction->matrices != 0 && active != ~0U))
    return std::nullopt;
  for (unsigned l = 0; l < 32; ++l)
    if ((active >> l & 1) != 0 && address[l] % m.instruction->bytes != 0) return std::nullopt;
  return cost_of(kernel.options, m, active, address);
}

}  // namespace swizproof::kernel_detail
