// A traced kernel compared with its PTX: did the SASS that ran do what `swizproof kernel` proves of the PTX (assumption H17)?
//
//   traced patterns + every way in which the PTX's access can be executed  -->  as proved, or the first lane that differs
//
// A traced pattern is found if an access of the PTX on the same line of source, of the same operation and width, can have it:
//   - each lane that takes part may, and has the address of one case of one warp, up to one number for all lanes, as far as the
//     low bits of that number are known: its multiples of a power of two move all lanes alike, and change no cost;
//   - each lane that surely takes part does.
// In SASS the access is the one at the traced address in the kernel: the same instruction.
// A dump of SASS may stand for the trace (profile/sass_as_trace.hpp): then a pattern is one way in which a warp can execute its access.
// A traced instruction of N accesses that ptxas merged has the pattern of each of them in its part of the width. The accesses may
// lie on other lines, but for one of them. Checked by tests/unit/profile/trace_vs_ptx_test.cpp and tests/reference/compiled.py.
#pragma once

#include "profile/trace.hpp"

#include <swizproof/kernel/kernel.hpp>
#include <swizproof/ptx/module.hpp>
#include <swizproof/sass/module.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace swizproof {

/// Comparison of a traced instruction with the PTX.
enum class AsCompiled : std::uint8_t {
  as_proved,  ///< each recorded pattern is found
  differs,    ///< one is not, and all that the PTX's accesses on this line can do is known
  undecided,
  not_compared,  ///< ptxas makes it of an instruction that is no load or store in PTX
  no_kernel,     ///< the PTX has no kernel of this name
  not_modelled
};

/// The lane that shows that a pattern is none of the PTX's: compared with the case that has most lanes alike.
struct DifferingLane {
  std::uint32_t ptx_line = 0;
  unsigned equal = 0;                               ///< lanes that are alike
  unsigned lane = 0;                                ///< the first that is not
  std::optional<std::uint32_t> traced{}, of_ptx{};  ///< its address in the window; nothing: it takes no part
};

/// An instruction of the trace compared with the PTX.
struct CompiledInstruction {
  TracedInstruction const* traced = nullptr;
  AsCompiled outcome = AsCompiled::not_modelled;
  std::vector<std::uint32_t> ptx_lines{};  ///< lines of the accesses with its patterns
  unsigned merged = 1;                     ///< accesses that one execution stands for
  std::size_t patterns = 0, found = 0;  ///< recorded ones, and those that were found; the worst counts as one
  unsigned worst = 0;                   ///< most wavefronts that one execution took
  /// Most that the PTX's access takes; a sum if merged. Of an undecided one of SASS, whose lanes are not known, the bound alone.
  std::optional<unsigned> proved{};
  bool reached = false;  ///< an execution of the PTX takes as many
  /// No pattern needs lanes or values that may not occur.
  bool certain = true;
  std::string why{};                       ///< it is undecided, or not compared
  std::optional<DifferingLane> nearest{};  ///< it differs; nothing if no case has a lane like it
};

/// Accesses of the PTX without an instruction of their own in a dump: `into` may be all of them, and is as proved for another access.
struct PossibleMerge {
  TracedInstruction const* into = nullptr;
  std::vector<std::uint32_t> ptx_lines{};
};

/// A file of PTX, or a dump of SASS.
struct PtxFile {
  std::string name{};
  ptx::Module module{};
  std::optional<sass::Module> sass{};
};

/// Options of the comparison: those of the kernels' launches.
struct CompiledOptions {
  std::vector<std::array<std::uint32_t, 3>>
      blocks{};  ///< shapes of launches after the first, whose block the trace has
  std::map<std::string, ParameterValue> params{};
};

/// A whole trace compared with PTX. It points into the trace.
struct CompiledReport {
  std::set<std::string> assumed{};  ///< assumptions of the answers: KernelReport::assumed of both
  std::string code = "PTX";         ///< code that the trace is compared with: `PTX`, `SASS`, or `PTX or SASS`
  std::vector<CompiledInstruction> instructions{};
  std::size_t not_traced = 0;  ///< accesses of the compared kernels that no traced instruction can be
  std::vector<PossibleMerge> merges{};  ///< merges of a dump: their accesses are not counted above
  std::size_t lower =
      0;  ///< accesses of the PTX that take less in the SASS of a dump, though an execution of the PTX is known
          ///< that takes as much as is proved

  [[nodiscard]] std::size_t count(AsCompiled which) const;
};

/// Compares each instruction of a trace with the kernel of its name. Undecided, with the reason:
///   - of accesses whose addresses depend on data or are not decided, of calls that are not inlined, and of kernels that are refused;
///   - where the line has no access of this operation and width, or only a wider one that the traced one is a part of;
///   - where a lane is off that the PTX switches on: a warp may execute an instruction in two parts;
///   - where a pattern is not found, the kernel was launched more than once and `blocks` is empty;
///   - of a dump, where an access of it is not decided, or a pattern is not found that it may not have.
/// Throws Disagreement if a pattern that is found costs more than is proved.
[[nodiscard]] CompiledReport compare_compiled(Trace const& trace, std::vector<PtxFile> const& files,
                                              CompiledOptions const& options);

}  // namespace swizproof
