#include "access_cost.hpp"

#include "address_text.hpp"
#include "bypass_copy.hpp"
#include "copy_source.hpp"
#include "faults.hpp"

#include <swizproof/hardware/global.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::kernel_detail {

using program::MemoryAccess;

bool takes_part(Instruction const& instruction, std::uint32_t active, unsigned lane) {
  return instruction.matrices != 0 ? lane < instruction.lanes() : (active >> lane & 1) != 0;
}

unsigned sectors_at(unsigned bytes, std::uint32_t active, LaneAddresses const& address, unsigned piece) {
  WarpAccess<std::uint64_t> lanes{address, {}};
  for (unsigned l = 0; l < 32; ++l) lanes.active[l] = (active >> l & 1) != 0;
  return touched_pieces(lanes, bytes, piece);
}

LanesCost cost_of(KernelOptions const& options, MemoryAccess const& access, std::uint32_t active,
                  LaneAddresses const& address) {
  LanesCost out;
  if (access.global) out.wavefronts = sectors_at(access.bytes, active, address, sector_bytes);
  if (access.copy_source) {
    out.wavefronts = turns_of_source(*options.arch, access.bytes, active, address);
    return out;
  }
  for (unsigned l = 0; l < 32; ++l) {
    out.lanes.address[l] = static_cast<std::uint32_t>(address[l]);
    out.lanes.active[l] = takes_part(*access.instruction, active, l);
  }
  if (access.bypasses)  // a wavefront for each row at least (H22)
    out.wavefronts = sectors_at(access.bytes, active, address, copy_row);
  else if (active != 0 && !access.global)
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

bool are_near(std::uint32_t active, LaneAddresses const& address) {
  LaneAddresses const near = as_near(active, address);
  for (unsigned l = 0; l < 32; ++l)
    if ((active >> l & 1) != 0 && near[l] != address[l]) return false;
  return true;
}

LaneAddresses as_near(std::uint32_t active, LaneAddresses address) {
  std::uint64_t const first = active == 0 ? 0 : address[static_cast<unsigned>(std::countr_zero(active))];
  for (std::uint64_t& a : address)
    a = first + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a - first)});
  return address;
}

namespace {

/// True if where a lane is in its array depends on the array's address, and a device's is not known.
bool takes_unknown_base(ExecutedKernel const& kernel, std::uint32_t access, program::Variable const& array) {
  MemoryAccess const& m = kernel.program.accesses[access];
  return !kernel.options.any_base && !array.placed &&
         !kernel.origins.bases_of(kernel.execution.accesses[access], m.instruction->bytes, turn_of(m))
              .empty();
}

/// The first lane that leaves its array, or is misaligned at each base.
std::optional<execution::AccessRun> fault_of(ExecutedKernel const& kernel, std::uint32_t access,
                                             std::uint32_t active, LaneAddresses const& address,
                                             std::map<std::uint32_t, std::uint64_t> const& bases) {
  MemoryAccess const& m = kernel.program.accesses[access];
  std::uint32_t symbol = ~0U;
  Id const taken = kernel.execution.accesses[access].address;
  if (kernel.program.language == "SASS" || kernel.origins.root_of(taken, symbol) != Origins::Root::shared ||
      !kernel.origins.is_of_array(taken, symbol))
    return std::nullopt;
  auto const base = bases.find(symbol);
  if (base == bases.end()) return std::nullopt;
  Extent const extent = extent_of(kernel, symbol);
  std::uint64_t const end = extent.end;
  program::Variable const& array = kernel.program.symbols[symbol];
  std::uint64_t const unit = std::min<std::uint64_t>(m.instruction->bytes, array.align);
  for (unsigned l = 0; l < 32; ++l) {
    if (!takes_part(*m.instruction, active, l)) continue;
    auto const at = static_cast<std::uint32_t>(address[l] - base->second);
    bool const outside = end != 0 && std::uint64_t{at} + m.instruction->bytes > end;
    if (outside && takes_unknown_base(kernel, access, array)) return std::nullopt;
    if (extent.is_past_block(at, m.instruction->bytes))  // no launch has it
      return execution::AccessRun{};
    if (outside)
      return execution::AccessRun{
          0, {}, leaves_in_words(at, short_name(array.name), end, extent.most), l, true};
    if (unit != 0 && at % unit != 0)
      return execution::AccessRun{
          0,
          {},
          fmt::format("is {} bytes behind a multiple of {} in {}", at % unit, unit, short_name(array.name)),
          l,
          false};
  }
  return std::nullopt;
}

}  // namespace

std::optional<execution::AccessRun> access_in_run(ExecutedKernel const& kernel, std::uint32_t access,
                                                  std::uint32_t active, LaneAddresses const& address,
                                                  std::map<std::uint32_t, std::uint64_t> const& bases) {
  MemoryAccess const& m = kernel.program.accesses[access];
  if (!m.instruction || (m.instruction->matrices != 0 && active != ~0U)) return std::nullopt;
  if (!m.global && !m.atomic && !has(*kernel.options.arch, *m.instruction)) return std::nullopt;
  if (auto fault = fault_of(kernel, access, active, address, bases))
    return fault->fault.empty() ? std::nullopt : fault;
  if (!m.at_most.empty()) return std::nullopt;
  for (unsigned l = 0; l < 32; ++l)
    if ((active >> l & 1) != 0 && address[l] % m.instruction->bytes != 0) return std::nullopt;
  if (m.global && !are_near(active, address)) return std::nullopt;
  LanesCost const cost = cost_of(kernel.options, m, active, address);
  return execution::AccessRun{cost.wavefronts, cost.lanes, {}, 0, false};
}

}  // namespace swizproof::kernel_detail
