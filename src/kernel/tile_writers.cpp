#include "tile_writers.hpp"

#include <algorithm>
#include <limits>

namespace swizproof::kernel_detail {

namespace {

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min();

bool only_reads(program::MemoryAccess const& m) {
  if (!m.instruction) return false;
  return m.instruction->operation == Operation::ld_shared || m.instruction->operation == Operation::ldmatrix;
}

}  // namespace

bool TileWriters::only_tensors_behind(execution::ExecutedAccess const& copy, std::uint32_t symbol) {
  auto const [at, fresh] = ends_.try_emplace(symbol);
  if (fresh) at->second = end_of_others(symbol);
  if (!at->second) return false;
  auto const tile = bytes_of(copy, symbol);
  return *at->second == nowhere || (tile && tile->least >= *at->second);
}

std::optional<std::int64_t> TileWriters::end_of_others(std::uint32_t symbol) {
  auto const& operands = kernel_.program.operands;
  for (program::SharedOperand const& o : operands)
    if (o.role == program::OperandRole::destination && !o.tensor) return std::nullopt;
  std::int64_t end = nowhere;
  for (std::size_t k = 0; k < kernel_.program.accesses.size(); ++k) {
    auto const one = end_of(k, symbol);
    if (!one) return std::nullopt;
    end = std::max(end, *one);
  }
  return end;
}

/// The end of the bytes of an array that an access writes.
std::optional<std::int64_t> TileWriters::end_of(std::size_t access, std::uint32_t symbol) {
  program::MemoryAccess const& m = kernel_.program.accesses[access];
  execution::ExecutedAccess const& done = kernel_.execution.accesses[access];
  if (!done.reached || m.global || only_reads(m)) return nowhere;
  std::uint32_t other = ~0U;
  Origins::Root const root = kernel_.origins.root_of(done.address, other);
  if (m.generic && kernel_.origins.is_elsewhere(root, done.address)) return nowhere;
  if (root != Origins::Root::shared) return std::nullopt;
  if (other != symbol) return nowhere;
  constexpr std::int64_t widest = 16;  // bytes of a lane
  auto const at = bytes_of(done, symbol);
  return at ? std::optional(at->most + (m.bytes != 0 ? m.bytes : widest)) : std::nullopt;
}

/// Addresses from the start of an array: those of terms, or of the lanes of all warps, where the highest is lower.
std::optional<Range> TileWriters::bytes_of(execution::ExecutedAccess const& access, std::uint32_t symbol) {
  auto const terms = Ranges(kernel_, access.guard).behind(access.address, symbol),
             lanes = bytes_of_lanes(access, symbol);
  return !terms || (lanes && lanes->most < terms->most) ? lanes : terms;
}

std::optional<Range> TileWriters::bytes_of_lanes(execution::ExecutedAccess const& access,
                                                 std::uint32_t symbol) {
  Id const array = kernel_.origins.node_of_symbol(symbol);
  constexpr unsigned window = 24;                             // bits of an address in the window of a block
  constexpr std::uint64_t farthest = std::uint64_t{1} << 23;  // more may be below the array
  Range all{static_cast<std::int64_t>(farthest), 0};
  for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
    execution::Warp& warp = kernel_.warps.plain(w);
    execution::Lanes const v = warp.value(access.address, window);
    if (!v.split()) return std::nullopt;
    std::uint64_t added = 0, bases = 0;
    for (auto const& [atom, factor] : v.terms) {
      std::uint64_t const up_to = atom == array ? 0 : warp.facts(atom).most;
      if (up_to >= farthest || factor >= farthest) return std::nullopt;
      added += up_to * factor, bases += atom == array ? factor : 0;
    }
    // That of SASS is a multiple of the window, and no part of its low bits.
    bool const aligned = kernel_.program.symbols[symbol].align >> window != 0;
    if (bases != (aligned ? 0 : 1)) return std::nullopt;
    std::uint32_t const active = warp.present() & ~warp.truth(access.guard).no;
    for (unsigned l = 0; l < 32; ++l) {
      if ((active >> l & 1) == 0) continue;
      if (v.lane[l] + added >= farthest) return std::nullopt;
      all.least = std::min(all.least, static_cast<std::int64_t>(v.lane[l]));
      all.most = std::max(all.most, static_cast<std::int64_t>(v.lane[l] + added));
    }
  }
  return all;
}

}  // namespace swizproof::kernel_detail
