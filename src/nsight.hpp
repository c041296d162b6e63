// Nsight Compute's CSV export, beside the user's obligations: does the kernel cost what was proved?
//
//   ncu --set source --page source --csv -i REPORT     one line of SASS after the other
//   ncu --page raw --csv -i REPORT                     sums of each kernel, a column a metric
//   ncu --csv --metrics ... PROGRAM                    sums of each kernel, a line a metric
//
// What is proved is the worst origin's cost, so a counter may stay below it and never exceed it.
#pragma once

#include <swizproof/bank.hpp>
#include <swizproof/obligation.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// What was counted of one SASS line, or of all shared-memory instructions of one kind in a kernel.
struct Measurement {
  std::string kernel{};
  std::string where{};                       ///< the SASS line, or "all LDSM"
  std::optional<Instruction> instruction{};  ///< of a SASS line that the model knows
  std::vector<Operation> operations{};       ///< that the sum is over; empty for a SASS line
  std::uint64_t executed = 0;                ///< warp instructions
  std::uint64_t wavefronts = 0;
  bool shared_with_others = false;  ///< l1tex counters: what other clients of the L1 cost, too
  [[nodiscard]] double each() const {
    return static_cast<double>(wavefronts) / static_cast<double>(executed);
  }
};

/// Reads an export of any of the three forms. Instructions that did not run are left out. Throws
/// InputError with the line where a number cannot be read, or where there is no such table at all.
[[nodiscard]] std::vector<Measurement> read_nsight(std::string const& name, std::string_view text);

/// The instruction of a SASS line: `@!P0 LDS.128 R4, [R3]` is ld.shared.b128; nothing if the line is no
/// access to shared memory that the model knows.
[[nodiscard]] std::optional<Instruction> parse_sass(std::string_view line);

/// An access whose cost is proved.
struct ProvedAccess {
  std::string obligation{};
  std::string kernel{};  ///< regular expression; empty: every kernel
  std::string access{};
  Instruction instruction{};
  unsigned wavefronts = 0;       ///< of the worst case
  bool counts_as_cycles = true;  ///< no loads of equal addresses, which counters count in their own way
};

/// The accesses of the obligations, each with its proved cost. What is not decided is left out. Throws as
/// decide() does.
[[nodiscard]] std::vector<ProvedAccess> prove_accesses(std::vector<Obligation> const& obligations,
                                                       Limits const& limits);

/// How a measurement compares. `above` contradicts the proof, `noisy` might.
enum class Comparison : std::uint8_t { as_proved, below, above, noisy, not_covered, not_modelled };

/// A measurement, and the proved accesses that it may be.
struct Compared {
  Comparison comparison = Comparison::not_covered;
  std::vector<ProvedAccess const*> candidates{};
  unsigned most = 0;  ///< wavefronts of the dearest candidate
};

[[nodiscard]] Compared compare(Measurement const& measured, std::vector<ProvedAccess> const& proved);

}  // namespace swizproof
