// Verdicts of `swizproof kernel`, and how they are written: as a table, a page, and findings.
#pragma once

#include "command/line/command.hpp"
#include "system/source.hpp"
#include "report/kernel.hpp"
#include "report/sarif.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// One kernel of one file, with one shape of block.
struct Result {
  std::string file{};
  std::string part{};  ///< part of a binary: `gemm.cu, sm_90a`
  std::string name{};  ///< demangled
  KernelReport report{};
  bool no_shape =
      false;  ///< it is not decided: its code reads tid.y or tid.z, and no shape of its block is given
};

/// A file that was not read, and why.
struct UnreadFile {
  std::string file{}, reason{};
};

/// Results, and what the reader of SASS left out, each once.
struct Results {
  std::vector<Result> all{};
  std::vector<std::string> notes{};
  std::vector<UnreadFile> not_read{};
  bool limited = false;                ///< by --at-most: a bound above it, for some data, is undecided
  std::vector<std::string> sources{};  ///< files that the code of .cu files comes from, for --watch
};

/// Facts that are not decided of accesses whose cost is.
struct OpenFacts {
  std::size_t bounds = 0, alignment = 0;
  std::map<std::string, std::size_t> reasons{};  ///< of the bounds

  void add(KernelReport const& report);
  /// `bounds of 4 undecided, alignment of 1 undecided`; empty if all are decided.
  [[nodiscard]] std::string text() const;
  /// `bounds of 4: the address depends on ..` for each reason.
  [[nodiscard]] std::vector<std::string> lines() const;
};

struct Sums {
  std::size_t proved = 0, refuted = 0, data = 0, unknown = 0;
  std::size_t idle = 0;     ///< number of the proved ones that no lane executes
  std::size_t allowed = 0;  ///< of the proved ones, those above the ideal
  std::size_t over = 0;     ///< bounds of data-dependent accesses that exceed --at-most
  std::size_t race_free = 0, races = 0, races_open = 0;  ///< kernels, with --races
  OpenFacts open{};                                      ///< they change no verdict, and no exit code
  [[nodiscard]] bool any_refuted() const { return refuted + races != 0; }
  [[nodiscard]] bool any_unknown() const { return unknown + races_open + over != 0; }
};

/// The outermost line of source that the access was inlined for and that can be read, else its own.
[[nodiscard]] SourceLine outermost_line(Sources& sources, KernelAccess const& a);
/// Text of a line of source, where it can be read.
[[nodiscard]] std::optional<std::string> source_text(Sources& sources, SourceLine const& at);

/// Accesses to global memory that a reader cannot tell apart: a row of a table. Texts are those of the columns.
struct GlobalRow {
  KernelAccess const* first = nullptr;
  std::size_t count = 0;
  std::string source{}, op{}, sectors{}, ideal{}, lines{}, words{};
};

/// Rows of the accesses to global memory that a lane executes. Checked by tests/golden/kernel_global.txt.
[[nodiscard]] std::vector<GlobalRow> global_rows(KernelReport const& report);

/// Prints a kernel: its accesses, fixes, descriptors and bulk copies.
void print(Common const& common, Result const& r, Architecture const& arch, Sources& sources,
           Style const& style);
/// Kernels that need a shape of their block, and files that were not read, in lines; or nothing.
[[nodiscard]] std::string left_out(Results const& results);

/// A page as `explain` writes it.
[[nodiscard]] std::string page_of(std::vector<std::string> const& files, std::vector<Result> const& results,
                                  Architecture const& arch, Sources& sources);

inline constexpr SarifRule kernel_rules[] = {
    {"shared-memory-bank-conflict", "The lanes of a warp need one bank of shared memory for different words.",
     "The message names the lanes. Pad the rows of the array, or swizzle it: swizproof find.", "error"},
    {"shared-memory-fault", "An access to shared memory is misaligned, or lies beyond its array.",
     "Align the array, or correct the index.", "error"},
    {"shared-memory-data-dependent", "What an access to shared memory costs depends on loaded data.",
     "The message has the bound for all data.", "note"},
    {"shared-memory-not-decided", "An access to shared memory was not decided.",
     "Give --param, --block or --shared-bytes if the reason names them.", "warning"},
    {"shared-memory-operand",
     "A descriptor of wgmma or tcgen05, or an address of a bulk copy, is wrong for a base of its array.",
     "Declare the array with __align__, or round its address up.", "error"},
    {"shared-memory-operand-not-decided", "A descriptor or an address of a bulk copy was not decided.",
     "The message has the reason.", "warning"},
    {"shared-memory-race", "Two threads of a block access one byte of shared memory with no barrier between.",
     "The message names a launch that has it. Put a barrier between, or correct the index.", "error"},
    {"shared-memory-races-not-decided", "Races of a kernel were not decided.",
     "The message has the reason; 'swizproof flow' decides one launch.", "warning"},
    {"global-memory-uncoalesced",
     "A warp instruction touches more sectors of global memory than its bytes need.",
     "The message has the distance of the lanes. Let consecutive lanes access consecutive addresses.",
     "error"},
    {"global-memory-not-decided", "Sectors of an access to global memory were not decided.",
     "Give --param, --block or --pointers if the reason names them.", "warning"},
    {"global-memory-data-dependent", "Sectors of an access to global memory depend on loaded data.",
     "The message has the bound for all data.", "note"}};
struct Comparison;  // since.hpp

/// Findings for all that is not proved. With a comparison: errors for lines that became worse, warnings for those that may have, the rest as
/// notes. Checked by tests/golden/kernel_since.txt.
[[nodiscard]] std::vector<SarifFinding> findings_of(std::vector<Result> const& results,
                                                    Architecture const& arch, Sources& sources,
                                                    Comparison const* since);

}  // namespace swizproof::command::kernel_detail
