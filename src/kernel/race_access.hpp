// Accesses to shared memory as --races takes them: loads, stores, atomics, copies, and what wgmma and tcgen05 read through descriptors.
#pragma once

#include "origins.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/program/program.hpp>
#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Accesses by what they do; `none`: not to shared memory, or not modelled.
enum class RaceRole : std::uint8_t { none, read, write, atomic };

/// Bytes that wgmma or tcgen05 reads through a descriptor, whose fields are constants.
struct OperandTile {
  MatrixDescriptor fields{};  ///< without the start
  Major major = Major::k;
  unsigned rows = 0;  ///< elements along m or n
  unsigned element_bytes = 0;
  unsigned row_bytes = operand_k_bytes;
  bool by_warps = false;     ///< A of wgmma: each warp of the warpgroup reads its quarter of the rows
  std::uint32_t extent = 0;  ///< bytes from the start to the end of the last one, before the swizzle
  /// Bytes of the aligned pieces in which the swizzle moves 16-byte units.
  [[nodiscard]] std::uint32_t piece() const { return fields.operand_mode().shape.row_bytes; }
  /// Addresses of the units of 16 bytes that a warp reads, for a start in bytes.
  [[nodiscard]] std::vector<std::uint32_t> units(std::uint32_t start, std::uint32_t warp) const;
};

/// Threads that may access a byte: one for each reading of the PTX ISA.
using Accessors = std::array<std::uint32_t, 3>;

/// Form of the matrices of ldmatrix or stmatrix. A lane gives the address of a row of 16 bytes. Which lane of the warp accesses it: the one that gives the
/// address, or those that hold its elements? The PTX ISA (9.1, 9.7.14.5.15 and 16: "a group of four consecutive threads loads 16 bytes") has the second, but does
/// not specify it for .trans. A proof holds for each lane of the warp, and a race is one in each reading.
struct MatrixRows {
  bool square = false;  ///< .m8n8 of 16 bits: the lanes are known, else each lane of the warp may be one
  bool trans = false;
  std::string shape{};
  bool operator==(MatrixRows const&) const = default;
  /// Threads that may access byte `byte` of the row whose address a thread gives.
  [[nodiscard]] Accessors accessors(std::uint32_t giver, std::uint32_t byte) const;
};

/// An access, as the proof and the executions both take it.
struct SharedAccess {
  RaceRole role = RaceRole::none;
  bool copy = false;         ///< by cp.async, complete behind a wait
  bool strong = false;       ///< relaxed, acquire or release: order between such accesses is not a race
  std::uint32_t bytes = 0;   ///< of each thread; of wgmma not used
  std::uint32_t scalar = 0;  ///< bytes of a scalar of an atomic: 2 of f16x2; 0: an mbarrier
  std::int64_t array = -1;   ///< symbol that it stays in; -1: not known
  bool tensor = false;       ///< a copy of a tensor, whose bytes are not in the PTX
  std::uint64_t end = 0;     ///< of a copy of a tensor from shared memory: it may read all bytes up to here
  std::optional<OperandTile> tile{};   ///< of a descriptor: the access is complete behind a wait
  std::optional<MatrixRows> matrix{};  ///< of ldmatrix or stmatrix
  std::uint32_t givers = 32;           ///< lanes of a warp that give an address: the lowest
};

/// True for atomics that do not race: scalars of one size that overlap do so completely. Others are a mixed-size data race. An atomic of an
/// mbarrier races with each operation of it, too, since its object is opaque. [PTX ISA 9.1, 8.2.3, 8.7.2, 8.3 and 9.7.13.15] Checked by KernelRaces.AtomicsOfTwoSizesRace.
[[nodiscard]] inline bool are_atomics(SharedAccess const& a, SharedAccess const& b) {
  return a.role == RaceRole::atomic && b.role == RaceRole::atomic && a.scalar == b.scalar;
}

/// True for accesses whose order is no race: atomics of one size, or an atomic and a relaxed or volatile access, or two of these.
[[nodiscard]] inline bool are_strong(SharedAccess const& a, SharedAccess const& b) {
  bool const atomics = a.role == RaceRole::atomic && b.role == RaceRole::atomic;
  return atomics ? are_atomics(a, b) : a.strong && b.strong;
}

/// Accesses of a kernel, by their index in the program.
struct SharedAccesses {
  std::vector<SharedAccess> all{};
  std::size_t count = 0;               ///< accesses to shared memory
  std::string obstacle{};              ///< reason if one of them is not modelled; empty: none
  std::vector<std::uint32_t> lines{};  ///< lines of those that are not modelled
  bool descriptors = false;            ///< some are wgmma's
  bool tiles = false;                  ///< some are of descriptors
  bool one_block =
      false;  ///< some are of the block's own memory if its cluster has no other one: by mapa or .multicast
};

/// Makes accesses of the descriptors of wgmma and tcgen05, of bulk copies and of operations of mbarriers: they are executed like those.
void operands_as_accesses(program::Program& lowered);

/// Classifies the accesses. `lowered`: of the function, with operands_as_accesses().
[[nodiscard]] SharedAccesses shared_accesses_of(ptx::Function const& function,
                                                program::Program const& lowered,
                                                execution::Execution const& execution, Origins& origins);

/// A bulk copy, or an operation of an mbarrier, at a constant address whose bytes do not all lie in its array; nothing if all do.
[[nodiscard]] std::optional<std::size_t> leaving_array(program::Program const& program,
                                                       execution::Execution const& execution,
                                                       Origins const& origins,
                                                       std::vector<SharedAccess> const& accesses);

/// A store, atomic or copy at a constant address that writes a byte of an mbarrier at a constant address; nothing if no access does. Only instructions of
/// mbarriers may write its object, which is opaque. [PTX ISA 9.1, 9.7.13.15] Checked by KernelRaces.AnMbarrierIsNotWritten.
[[nodiscard]] std::optional<std::size_t> overwriting_mbarrier(program::Program const& program,
                                                              execution::Execution const& execution,
                                                              Origins const& origins,
                                                              std::vector<SharedAccess> const& accesses);

}  // namespace swizproof::kernel_detail
