// Accesses to shared memory as --races takes them: loads, stores, atomics, cp.async, and what wgmma reads through descriptors.
#pragma once

#include "origins.hpp"

#include <swizproof/hardware/wgmma.hpp>
#include <swizproof/program/program.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Accesses by what they do; `none`: not to shared memory, or not modelled.
enum class RaceRole : std::uint8_t { none, read, write, atomic };

/// Bytes that wgmma reads through a descriptor, whose fields are constants.
struct WgmmaTile {
  WgmmaDescriptor fields{};  ///< without the start
  Major major = Major::k;
  unsigned rows = 0;  ///< elements along m or n
  unsigned element_bytes = 0;
  bool by_warps = false;     ///< A: each warp of the warpgroup reads its quarter of the rows
  std::uint32_t extent = 0;  ///< bytes from the start to the end of the last one, before the swizzle
  /// Bytes of the aligned pieces in which the swizzle moves 16-byte units.
  [[nodiscard]] std::uint32_t piece() const { return atom_row_bytes(fields.mode); }
  /// Addresses of the units of 16 bytes that a warp reads, for a start in bytes.
  [[nodiscard]] std::vector<std::uint32_t> units(std::uint32_t start, std::uint32_t warp) const;
};

/// An access, as the proof and the executions both take it.
struct SharedAccess {
  RaceRole role = RaceRole::none;
  bool copy = false;        ///< by cp.async, complete behind a wait
  bool strong = false;      ///< relaxed, acquire or release: order between such accesses is not a race
  std::uint32_t bytes = 0;  ///< of each thread; of wgmma not used
  std::int64_t array = -1;  ///< symbol that it stays in; -1: not known
  bool tensor = false;      ///< a copy of a tensor, whose bytes are not in the PTX
  std::optional<WgmmaTile> tile{};  ///< of a descriptor: the access is complete behind a wait
};

/// Accesses of a kernel, by their index in the program.
struct SharedAccesses {
  std::vector<SharedAccess> all{};
  std::size_t count = 0;               ///< accesses to shared memory
  std::string obstacle{};              ///< reason if one of them is not modelled; empty: none
  std::vector<std::uint32_t> lines{};  ///< lines of those that are not modelled
  bool descriptors = false;            ///< some are wgmma's
};

/// True for a descriptor that wgmma reads.
[[nodiscard]] bool is_wgmma(program::SharedOperand const& operand);

/// Makes accesses of the descriptors of wgmma, of bulk copies from global memory and of operations of mbarriers: they are executed like those.
void operands_as_accesses(program::Program& lowered);

/// Classifies the accesses. `lowered`: of the function, with operands_as_accesses().
[[nodiscard]] SharedAccesses shared_accesses_of(ptx::Function const& function,
                                                program::Program const& lowered,
                                                execution::Execution const& execution, Origins& origins);

}  // namespace swizproof::kernel_detail
