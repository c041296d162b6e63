// Nsight Compute's CSV export, read.
//
//   ncu --page source --csv -i REPORT     one line of SASS after the other, a table for each launch, once or twice word for word
//   ncu --page raw --csv -i REPORT        sums of each kernel, a column a metric, units in a second row
//   ncu --csv --metrics ... PROGRAM       sums of each kernel, a line a metric
//
// No row is lost without a word: what cannot be read is refused with its line, and what is not compared is counted.
#pragma once

#include "profile/metrics.hpp"

#include <swizproof/hardware/instruction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// Number of runs of an operation's instructions.
struct Executed {
  Operation operation{};
  std::uint64_t times = 0;
  friend bool operator==(Executed const&, Executed const&) = default;
};

/// Counts of one SASS line, or of all shared-memory instructions of one kind in a kernel.
struct Measurement {
  std::string kernel{};                      ///< template arguments without their types: `k<(bool)0>` is k<0>
  std::string kernel_as_written{};           ///< another name that an obligation's expression may match
  std::string where{};                       ///< the SASS line, or "all LDSM"
  std::optional<Instruction> instruction{};  ///< instruction of a SASS line that is modelled
  std::vector<Executed> operations{};        ///< operations in the sum, those that ran; empty for a SASS line
  std::uint64_t executed = 0;  ///< warp instructions, those included that a predicate switched off
  std::uint64_t wavefronts = 0;
  std::optional<std::uint64_t>
      ideal{};          ///< column "L1 Wavefronts Shared Ideal" of a SASS line, if it has a number
  bool atomic = false;  ///< atomic operation, without a cost model
  bool shared_with_others = false;    ///< l1tex counters: other clients of the L1 count, too
  std::optional<std::uint64_t> pc{};  ///< bytes of a SASS line from the first line of its kernel
  bool counted = true;                ///< both numbers are there; false for an empty field, `-` and `N/A`
  [[nodiscard]] double each() const {
    return executed == 0 ? 0 : static_cast<double>(wavefronts) / static_cast<double>(executed);
  }
};

/// One table of the source page: the lines of a launch.
struct SourceTable {
  std::string kernel{};  ///< name as it is written
  std::uint64_t copies =
      1;  ///< number of exact copies in the export: launches of equal counts, or prints of one
  std::vector<Measurement>
      lines{};  ///< all that are an access to shared memory, have wavefronts, or access generic memory
};

/// Use of the shared-memory pipe by the launches of a kernel.
struct PipeUse {
  std::string kernel{};  ///< as Measurement has it
  std::uint64_t wavefronts = 0, cycles = 0;
  PipeSms of = PipeSms::all;  ///< SMs that both numbers are of: the first pair of metrics that the export has
};

/// An export, and what of it is no measurement.
struct Profile {
  std::vector<Measurement> measurements{};  ///< those of each distinct table once
  std::vector<SourceTable> tables{};        ///< the distinct ones
  std::vector<PipeUse> pipes{};             ///< of the launches that have two metrics of the pipe
  std::size_t never_ran = 0;  ///< accesses to shared memory that did not run, or not in any lane
  std::size_t no_count = 0;   ///< accesses without a number of the profiler
  std::size_t repeated = 0;   ///< exact copies of tables of the source page
  std::size_t added_up = 0;   ///< rows of one kernel and metric that were added to earlier ones
};

/// Reads an export of any of the three forms. Rows of one process, launch, kernel and metric are added up; a sum that
/// only one of its two metrics was exported for is refused. Throws InputError with the line where a number or a row
/// cannot be read, where the last row is cut off, or where there is no such table at all.
[[nodiscard]] Profile read_nsight(std::string const& name, std::string_view text);

/// A count of the profiler: 1048576, 1,081, 32.000000, 1 048 576; nothing where it says that it has none ("n/a", "-").
/// 1.081 is refused: in one locale it is another number than in the next. Throws InputError.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string const& text);

/// A kernel's name with its template arguments as one of the profiler's two demanglers writes them: `k<(bool)0>(int)` is
/// k<0>(int).
[[nodiscard]] std::string plain_kernel_name(std::string name);

}  // namespace swizproof
