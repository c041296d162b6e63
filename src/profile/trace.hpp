// Traces that swizproof-trace (gpu/trace/) writes: what every warp instruction of a running program asked of shared memory.
//
//   {"format": "swizproof trace 1", "device": ..., "architecture": "sm_90", "driver": ..., "toolkit": ..., "program": [...]}
//   {"kernel": ..., "pc": 416, "sass": "LDS R7, [R4]", "op": "ld.shared.b32", "executed": 4096, "patterns": [...], ...}
//   {"lines": 2, "dropped": 0, "unseen": {}, "failures": [], "digest": "..."}   how many stand above: a truncated file is noticed
//
// Nothing that the file says of costs is believed: each pattern's wavefronts are computed again, and every sum is compared. What
// no cost model is about, such as names, is held by the digest; the first traces have nothing behind `dropped`.
#pragma once

#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/bank.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swizproof {

/// The addresses of one execution of a warp instruction, in bytes from the start of the shared window, and how often they came.
struct TracedPattern {
  WarpAccess<std::uint32_t> access{};
  unsigned wavefronts = 0;  ///< wavefronts of one execution; 0 without a cost model
  std::uint64_t executed = 0;
  bool sure =
      true;  ///< false, of decided ones: whether an execution has these lanes and addresses is not known
  unsigned zeros =
      32;  ///< with TracedInstruction::decided(): known up to a number for all lanes, a multiple of 2^zeros (KernelLanes)
};

/// One instruction of one kernel.
struct TracedInstruction {
  std::size_t line = 0;        ///< line of the trace, from 1
  std::string kernel{};        ///< demangled, with its arguments
  std::uint64_t launches = 0;  ///< traced launches of the kernel
  std::array<unsigned, 3> grid{},
      block{};           ///< shape of its first launch; a block of 0: every one that it takes
  std::uint64_t pc = 0;  ///< bytes from the kernel's start
  std::string sass{};    ///< empty where it was not disassembled
  std::string file{};    ///< file of the source; empty without -lineinfo
  unsigned source_line = 0;
  std::string
      op{};  ///< "ld.shared.b32"; or what is counted and named alone: "atom.shared.b32", "wgmma", "cp.async.bulk"
  std::optional<Instruction> instruction{};  ///< instruction, if it has a cost model

  std::uint64_t executed = 0;                    ///< executions by warps
  std::uint64_t wavefronts = 0;                  ///< sum of the executions; 0 without a cost model
  std::array<std::uint64_t, 33> distribution{};  ///< number of executions with so many wavefronts
  std::vector<TracedPattern>
      patterns{};  ///< the distinct ones that were kept, most expensive first, then the most frequent
  std::uint64_t not_kept =
      0;  ///< executions whose pattern was beyond the limit; sums and distribution contain them
  std::optional<WarpAccess<std::uint32_t>> worst{};  ///< the most expensive execution, kept or not
  std::string open{};  ///< with decided(): reason if not all executions are known
  unsigned at_most =
      0;  ///< with decided(): bound of the wavefronts of each execution, known or not; 0 without a bound

  /// True if it was not recorded: an instruction of a dump has no launch (profile/sass_as_trace.hpp).
  [[nodiscard]] bool decided() const { return launches == 0; }
  [[nodiscard]] std::uint64_t ideal(Architecture const& arch) const {
    return instruction ? executed * ideal_wavefronts(arch, *instruction) : 0;
  }
  /// Sums over every execution. Merged loads (H4), which cost less than the ideal, do not make up for others.
  [[nodiscard]] std::uint64_t excess(Architecture const& arch) const {
    std::uint64_t sum = 0;
    for (unsigned w = 1; instruction && w < distribution.size(); ++w)
      sum += distribution[w] * excess_over(ideal_wavefronts(arch, *instruction), w);
    return sum;
  }
};

/// A whole trace.
struct Trace {
  std::string name{};  ///< name of the file
  std::string device{}, driver{}, toolkit{};
  std::string commit{};    ///< commit of the tracer's source; may be empty
  std::string recorded{};  ///< when, in UTC: 2026-11-22T08:00:00Z
  Architecture const* arch = &sm_90;
  std::vector<std::string> program{};
  std::vector<TracedInstruction> instructions{};  ///< instructions in the file's order: by kernel, then by pc
  std::uint64_t dropped =
      0;  ///< executions of instructions beyond the table or outside of a kernel (no further information)
  std::map<std::string, std::vector<std::string>>
      unseen{};  ///< opcodes of each kernel that the sanitizer does not report, such as UTMALDG.2D
  std::vector<std::string>
      failures{};       ///< failures of the sanitizer, with their number: kernels may be missing
  bool digest = false;  ///< it has one, and it is that of the text
  std::vector<std::pair<std::string, std::array<unsigned, 3>>>
      idle{};  ///< kernels of a dump without an access, and their blocks
  std::set<std::string>
      assumed{};  ///< forms of instructions of a dump whose meaning is assumed (KernelReport)
  bool decided =
      false;  ///< not recorded: the accesses that a dump of SASS can do (profile/sass_as_trace.hpp)
};

/// True if a text begins as a trace does.
[[nodiscard]] bool is_trace(std::string_view text);

/// Reads a trace. Throws InputError with the line where it is truncated, a number contradicts another or the cost model, a key is
/// missing, given twice or unknown, or the digest is wrong; without a digest, also where a line is there twice.
[[nodiscard]] Trace read_trace(std::string const& name, std::string_view text);

}  // namespace swizproof
