// Table that the patches of traced kernels write and swizproof-trace reads: one a context, of a size that no kernel changes.
//
// An instruction has a place by its pc. Its distinct patterns (which lanes took part, and all their addresses) stand each once, or a few times where warps met,
// with the number of warps that accessed it and its cost, computed when it came first. A pattern that finds no place is costed
// each time and counted in its instruction.
#pragma once

#include <swizproof/hardware/architecture.hpp>

#include <array>
#include <cstdint>

namespace swizproof::trace {

inline constexpr std::uint32_t pattern_places = 1U << 16;
inline constexpr std::uint32_t instruction_places = 1U << 13;
inline constexpr std::uint32_t most_patterns = 2048;        ///< that are kept of one instruction
inline constexpr std::uint32_t most_lawless_patterns = 16;  ///< of one that is not modelled: examples
inline constexpr std::uint32_t most_probes = 32;            ///< places that are looked at for one key
inline constexpr std::uint32_t most_wavefronts = 32;        ///< of any access

/// Kind of instruction. The first five are Operation's, which are modelled; the others are counted and named.
enum class Kind : std::uint8_t {
  ld_shared,
  st_shared,
  ldmatrix,
  stmatrix,
  cp_async,
  atomic,  ///< with its addresses
  wgmma,
  bulk_to_shared,
  bulk_to_global,
  bulk_between_shared,
  bulk_reduction,
  remote,  ///< shared memory of another block of the cluster
  remote_async,
  remote_reduction,
  bulk_store,
};

/// An instruction as a patch names it: kind, bytes a lane, matrices.
struct Code {
  Kind kind{};
  std::uint8_t bytes = 0;
  std::uint8_t matrices = 0;
  std::uint8_t unused = 0;
};

enum State : std::uint32_t { empty, busy, ready };

/// A pattern and the number of warps that accessed it.
struct Pattern {
  std::uint64_t pc;
  std::uint32_t state;
  std::uint32_t active;  ///< a bit a lane
  std::uint32_t wavefronts;
  std::uint32_t unused;
  unsigned long long executed;
  std::uint32_t address[warp_lanes];
};

/// An instruction: the number of patterns that are kept, and the executions that are not kept as one.
struct Counted {
  unsigned long long pc;  ///< absolute; 0: the place is free
  Code code;
  std::uint32_t patterns;
  unsigned long long executed;  ///< executions in the next fields; all executions if they are only counted
  unsigned long long distribution[most_wavefronts + 1];
  std::uint32_t worst;  ///< wavefronts of the most expensive of them
  std::uint32_t worst_lock;
  std::uint32_t worst_active;
  std::uint32_t worst_address[warp_lanes];
};

struct Table {
  PhaseTable phases;
  unsigned long long dropped;  ///< executions of instructions that found no place
  Counted counted[instruction_places];
  Pattern patterns[pattern_places];
};

}  // namespace swizproof::trace
