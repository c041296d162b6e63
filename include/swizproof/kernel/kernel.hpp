// Worst case of every shared-memory access of a compiled kernel, over all its warps, blocks, iterations and parameters.
//
//   PTX  -->  terms (execution/terms.hpp)  -->  each warp's lanes (execution/warp.hpp)  -->  the cost model (hardware/bank.hpp)
//
// Addresses that differ by a whole number of an access's units cost the same, since banks and words rotate together
// (KernelCost.IsTheSameAfterRotation): so a part that all lanes share drops out. A lane that is
// switched off never adds wavefronts (KernelCost.GrowsWithTheLanes): where a guard is not decided the lanes stay on, and the
// result is what the access costs at most.
#pragma once

#include <swizproof/analysis/fix.hpp>
#include <swizproof/hardware/bank.hpp>
#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/mma_descriptor.hpp>
#include <swizproof/kernel/races.hpp>
#include <swizproof/ptx/parameters.hpp>
#include <swizproof/program/source_line.hpp>
#include <swizproof/execution/worst.hpp>
#include <swizproof/sass/lower.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof {

/// Wavefronts that the accesses of one line of the source may take, or sectors of global memory.
struct LineAllowance {
  std::string line{};  ///< `gemm.cu:31`, or a longer end of the path
  unsigned at_most = 0;
  std::string
      kernel{};  ///< a regular expression for names of kernels, which the reader of obligations applies; empty: all
  bool data = false;  ///< for accesses that depend on data, and no others
  std::optional<std::uint64_t>
      excess{};  ///< wavefronts above the ideal, summed over the instructions of the line
  std::optional<std::uint64_t> lost{};  ///< the same, by all executions of a block
  bool of_one = false;                  ///< one obligation alone has it
  bool global = false;  ///< for accesses to global memory, and no others: the numbers are sectors
  std::string text{};   ///< the line of source, by which it is found where lines have moved; empty: not known
  std::string was_at{};  ///< the line that the entry names, if the text has moved; else empty
  std::string reason{};  ///< why it is allowed, in the user's words
};

/// Options of one decision.
struct KernelOptions {
  std::string file{};  ///< file of PTX, for `allow` without -lineinfo
  Architecture const* arch = &sm_90;
  std::optional<std::array<std::uint32_t, 3>> block{}, grid{};
  std::map<std::string, ParameterValue> params{};  ///< parameters by name; `#0` is the first
  std::optional<std::uint64_t> shared_bytes{};     ///< size of dynamic shared memory
  std::optional<unsigned> at_most{};               ///< wavefronts that are allowed; else the ideal ones and
  unsigned excess = 0;                             ///< allowed wavefronts above the ideal
  std::vector<LineAllowance> allow{};              ///< go before both
  std::uint64_t steps = 16'000'000;                ///< limit of evaluation steps for one kernel
  bool fixes = false;                              ///< search them
  bool lanes = false;                              ///< fill KernelAccess::lanes
  bool races = false;                              ///< fill KernelReport::races
  bool same_values = false;                        ///< two writes of one value are no race
  bool proxies =
      true;  ///< a write needs a fence.proxy.async before wgmma reads it, or a bulk copy overwrites it
  bool global = false;          ///< fill KernelReport::global
  unsigned excess_sectors = 1;  ///< allowed sectors of global memory above the ideal
  unsigned pointers =
      0;  ///< bytes, a power of two, that divide each parameter that is a pointer; 0: 128 for those that cp.async.cg reads
  bool any_base =
      false;  ///< every base of an array that PTX permits; else those that a device gives (H18), where they decide
};

/// One verdict.
enum class KernelVerdict : std::uint8_t {
  proved,   ///< the access takes at most the allowed wavefronts, in every execution
  refuted,  ///< more, and a warp that takes them is known; or misaligned or out of bounds
  data,  ///< the lanes' addresses, or which lanes take part, depend on loaded data: `wavefronts` still bounds the cost
  unknown
};

/// Lanes of one warp that execute an access together, in one case: their addresses are `lane` plus a number that all of them
/// share, a multiple of 2^zeros, modulo 2^32.
struct KernelLanes {
  std::uint32_t may = 0;   ///< lanes that may take part
  std::uint32_t must = 0;  ///< those that surely do
  bool together = false;   ///< all of the other lanes of `may` take part, or none
  bool sure = false;       ///< an execution has these addresses, if the lanes of `must` are all of them
  unsigned zeros = 32;     ///< number of low zero bits, at most 32
  /// Each of these multiples may be it: the start of an array, or a parameter, is a part of it, and the other parts are multiples of
  /// as many bytes.
  bool free = false;
  std::array<std::uint32_t, 32> lane{};

  [[nodiscard]] friend bool operator<(KernelLanes const& a, KernelLanes const& b) {
    auto const all = [](KernelLanes const& x) {
      return std::tie(x.may, x.must, x.together, x.sure, x.zeros, x.free, x.lane);
    };
    return all(a) < all(b);
  }
};

/// Wavefronts of an access as a function of a parameter: at_most[n % at_most.size()], for every n.
struct KernelFunction {
  std::string parameter{};
  std::vector<unsigned> at_most{};  ///< a power of two of them, at most 1,024
};

/// Accesses of one group are executed by the same lanes in the same iterations, and their addresses are as far apart as the offsets.
struct KernelPlace {
  std::uint32_t group = 0;  ///< index of a group in one report
  std::uint32_t offset = 0;
};

/// Sectors and lines of an access to global memory (H20); its most sectors are KernelAccess::wavefronts.
struct KernelSectors {
  unsigned least = 0;                    ///< sectors: no execution by all lanes that may take part has fewer
  unsigned lines = 0;                    ///< of 128 bytes, at most
  unsigned least_lines = 0;              ///< at least
  std::optional<std::int64_t> stride{};  ///< bytes from each lane to the next, in the worst case
  bool near =
      false;  ///< rests on lanes of a warp that are less than 2 GiB apart: no index wraps around between them

  /// Takes another case; the stride stays.
  void merge(KernelSectors const& other) {
    least = std::min(least, other.least), least_lines = std::min(least_lines, other.least_lines);
    lines = std::max(lines, other.lines), near = near || other.near;
  }
};

/// Result for one instruction.
struct KernelAccess {
  std::string op{};
  std::optional<Instruction> instruction{};
  bool atomic = false;         ///< `instruction` has its bytes alone
  std::uint32_t ptx_line = 0;  ///< line of the PTX, or of the dump of SASS
  bool sass = false;
  std::uint32_t pc = 0;                ///< SASS: bytes from the start of the kernel
  std::vector<std::uint32_t> calls{};  ///< PTX lines of the calls that lead to it, from the kernel's own on
  std::string file{};                  ///< file of the source; empty without -lineinfo
  std::uint32_t line = 0;
  std::vector<SourceLine> inlined_at{};  ///< lines that the compiler inlined it for, the kernel's own last
  KernelVerdict verdict = KernelVerdict::unknown;
  std::optional<unsigned> wavefronts{};  ///< upper bound
  bool reached = false;                  ///< an execution takes as many
  unsigned seen =
      0;  ///< wavefronts of a known execution, if they are more than allowed and fewer than the most; else 0
  bool executed = true;  ///< false: no lane of any warp executes it
  unsigned ideal = 0;
  std::optional<unsigned>
      copy_excess{};      ///< excess_of() a copy that bypasses L1: other cases have other ideals
  unsigned allowed = 0;   ///< wavefronts
  std::string address{};  ///< expression of the address
  std::string layout{};   ///< bytes of the lanes from the array's start, as CuTe writes a layout
  std::string reason{};
  std::optional<KernelWorst> worst{};
  std::optional<bool> aligned{}, in_bounds{};
  std::string
      bounds_reason{};  ///< reason if `in_bounds` is not known, although an execution exists and the addresses have a cost model
  std::optional<KernelFunction>
      function{};  ///< function of the low bits of one parameter, if the bound differs with them
  /// Every way in which a warp can execute it, with KernelOptions::lanes; nothing if they are not all known.
  std::optional<std::vector<KernelLanes>> lanes{};
  std::string lanes_reason{};  ///< reason if `lanes` are not all known; empty if `reason` has it
  std::optional<KernelPlace>
      place{};  ///< addresses with KernelOptions::lanes, if all but a part that the lanes share is known
  unsigned loop_depth =
      0;  ///< loops of the kernel around it: one instruction in a loop may be several of SASS
  std::optional<std::uint64_t>
      executions{};  ///< number for all warps of a block, if it is the same in each launch
  /// The same where each warp takes part, and a loop of an unknown number of iterations has one.
  std::uint64_t about_executions = 1;
  unsigned open_loops = 0;  ///< number of loops around it whose iterations are not known
  bool on_bases =
      false;  ///< the answer is that of the bases that a device gives (H18); for others that PTX permits it is another one
  bool any_source =
      false;  ///< cp.async: the wavefronts of its write; its lanes are taken to read different banks (H21), or to read rows as lines (H22)
  bool near_source = false;   ///< cp.async.cg: its lanes are taken to read less than 2 GiB apart
  unsigned source_turns = 1;  ///< cp.async through L1: turns of the lanes that read one bank of L1, at most
  std::optional<KernelSectors> sectors{};  ///< access to global memory: `wavefronts` are sectors
};

/// Wavefronts of one execution above its ideal, at most; 0 if no bound is known.
[[nodiscard]] inline unsigned excess_of(KernelAccess const& a) {
  return a.copy_excess.value_or(excess_over(a.ideal, a.wavefronts.value_or(0)));
}

/// Fixes of an array in shared memory, for what all warps execute with each value of their loop counters, each once. Their
/// addresses are offsets from the array's start.
struct KernelFix {
  std::string array{};           ///< a variable in shared memory
  std::string start{};           ///< start, as an address shows it: `staged`, or `memory + 1023 & 0xfffffc00`
  std::vector<Fix> fixes{};      ///< one of the whole array, or of its parts if that saves more
  std::uint64_t executions = 0;  ///< number of searched executions of warps
  std::size_t accesses = 0;      ///< instructions that access the variable
  std::vector<std::uint32_t>
      left_out{};  ///< PTX lines of those whose addresses are not known, of atomics, and without a cost model
};

/// An array without a fix although an access to it is refuted for its cost, and the reason.
struct KernelUnfixed {
  std::string array{};
  std::string reason{};
};

/// Neighbouring loads or stores of 16 bytes a lane, or of 8, which one vector access replaces. ptxas makes it of them where it can prove the
/// alignment.
struct KernelVector {
  std::string array{};
  Instruction instruction{};               ///< the vector
  std::vector<std::uint32_t> ptx_lines{};  ///< lines of the accesses that it replaces
  SourceLine source{};  ///< source of the first of them; its file is empty without -lineinfo
  unsigned before = 0;  ///< wavefronts of a warp that takes most, in sum
  unsigned after = 0;   ///< wavefronts of the vector
};

/// Instruction descriptor of a tcgen05.mma. Documented, not measured.
struct KernelInstruction {
  std::uint32_t bits = 0;
  /// True if the bits that select scale factors are not constant: 0 here.
  bool selects = false;
  TensorMmaForm form{};  ///< form of the instruction, by its qualifiers
  MmaDescriptor fields{};
};

/// Result for one operand in shared memory that no lane accesses itself: a descriptor of wgmma or tcgen05, or an address of a
/// bulk copy (TMA); or for the instruction descriptor of a tcgen05.mma, which is no address.
///
/// The start of a descriptor, and the destination that one reads, lie in a swizzle pattern of `needed` bytes. The pattern begins
/// at a multiple of as many bytes where the base offset is 0. It cannot for all bases of the array if it moves with the base.
struct KernelOperand {
  std::string op{};
  std::string what{};  ///< `descriptor A`, `destination`, `mbarrier`, `instruction`
  std::uint32_t ptx_line = 0;
  bool sass = false;
  std::vector<std::uint32_t> calls{};  ///< calls that lead to it, as of an access
  std::string file{};
  std::uint32_t line = 0;
  KernelVerdict verdict = KernelVerdict::unknown;
  std::optional<MatrixDescriptor>
      descriptor{};                      ///< descriptor with a start of 0, if all of its other bits are known
  std::string start{};                   ///< address as an expression
  unsigned needed = 0;                   ///< bytes that must divide the start of the pattern, or the address
  std::optional<unsigned> guaranteed{};  ///< bytes that do in every execution, at most `needed`
  bool executed = true;                  ///< false: no lane of any warp executes it
  std::string reason{};
  std::string array{};                  ///< the variable in shared memory that it is in
  std::optional<std::uint64_t> base{};  ///< base of the array for which it is refuted
  std::vector<std::pair<std::string, std::uint64_t>> values{};  ///< parameters of that execution
  bool on_bases = false;  ///< the answer rests on the bases that a device gives, as of an access
  std::optional<KernelInstruction>
      instruction{};  ///< fields of an instruction descriptor, if they are constant
  /// Bytes from the start to the end of the matrix that the instruction descriptor gives a descriptor of A or B.
  std::optional<std::uint64_t> reads{};
  std::optional<bool>
      in_bounds{};  ///< the matrix, or what a bulk copy takes, lies in its array, in every execution; nothing: not decided
};

/// Result for one kernel.
struct KernelReport {
  std::string kernel{};
  std::string block{};    ///< `128,1,1`, or `32n,1,1`
  std::string grid{};     ///< `8,8,1`; empty: every grid
  std::string refused{};  ///< reason if none of its accesses was decided
  std::vector<KernelAccess> accesses{};
  std::vector<KernelAccess> global{};    ///< accesses to global memory, with KernelOptions::global
  std::vector<std::string> rests_on{};   ///< other assumptions of its answers, in words
  std::vector<KernelFix> fixes{};        ///< fixes of arrays with an access that is refuted for its cost
  std::vector<KernelUnfixed> unfixed{};  ///< other arrays with such an access
  std::vector<KernelVector> vectors{};   ///< vectors in place of a fix of these accesses
  std::vector<KernelOperand> operands{};
  /// Instructions of PTX on tensor maps in shared memory: ptxas makes loads and stores of them, in its own way.
  std::vector<KernelAccess> tensor_maps{};
  bool sass = false;  ///< the code is SASS, not PTX
  std::vector<std::string>
      assumed{};  ///< assumptions on its instructions: forms that were not measured, and shuffles of lanes that may be elsewhere
  std::optional<KernelRaces> races{};  ///< races, with KernelOptions::races
  std::string assumed_bases{};  ///< addresses of shared arrays (H18), if an answer rests on them; else empty
};

/// The line that an allowance names: of the kernel's source that the access was inlined for, as a header's line is shared by many accesses.
[[nodiscard]] SourceLine line_of_kernel(KernelAccess const& access);

/// True if the access is of this line, or was inlined there: `gemm.cu:31` is the end of its source's path, at a slash; without
/// -lineinfo, of the file of PTX, whose line is meant then. Checked by tests/unit/parse/kernel_obligation_test.cpp.
[[nodiscard]] bool is_at(KernelAccess const& access, std::string_view line, std::string_view ptx_file);

/// The shape of a kernel's block needs --block.
[[nodiscard]] bool needs_block(ptx::Module const& module, ptx::Function const& function,
                               KernelOptions const& options);

/// Decides every access of an entry or a function. Throws Disagreement if a replay costs more than was proved. Checked by
/// tests/unit/kernel and tests/reference/kernel.py.
[[nodiscard]] KernelReport decide_kernel(ptx::Module const& module, ptx::Function const& function,
                                         KernelOptions const& options);

/// The same of a kernel of SASS. Checked by Kernel.AtomicsOfSassTakeWhatWasMeasured and tests/reference/sass.py.
[[nodiscard]] KernelReport decide_kernel(sass::Module const& module, sass::Lowered const& kernel,
                                         KernelOptions const& options);
[[nodiscard]] bool needs_block(sass::Lowered const& kernel, KernelOptions const& options);

/// Accesses of a function to shared memory, none of them decided: instruction, source and PTX line of each. `global`: also those to global
/// memory, which have `sectors`. Checked by KernelObligations.AllowancesOfGlobalMemoryAreOfItsAccesses.
[[nodiscard]] std::vector<KernelAccess> accesses_in(ptx::Module const& module, ptx::Function const& function,
                                                    bool global);
[[nodiscard]] std::vector<KernelAccess> accesses_in(sass::Module const& module, sass::Lowered const& kernel,
                                                    bool global);

}  // namespace swizproof
