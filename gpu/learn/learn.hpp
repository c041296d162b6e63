// swizproof-gpu learn: finds by experiment how a device serves warps, without believing any table.
//
// Its input is the form of the cost model (bank.hpp) without its numbers. The form: an instruction's lanes are divided into phases; a phase
// takes as many wavefronts as the fullest bank has words, or lanes; the phases add up. An experiment is a handful of patterns that the
// candidates for one entry of the table must answer differently:
//
//   clock     k lanes a row each, in one bank for every number of banks (rows of 1 KiB): k wavefronts. Their times give the cycles of one
//   banks     32 lanes a row each; half of them d bytes further: 16 wavefronts if d leads to another bank, 32 if not
//   phases    the same with d a bank; lane i of the half changes place with lane j of the other: 16 if one phase has both, else 18
//   words     all lanes at one address; half of them at another; each at a byte of one word
//   merging   the addresses of lanes l and l^p equal: of many such patterns the one whose cost differs most if phases merge
//   idle      one lane alone; the lanes of one phase alone
//
// Then random patterns are costed by the table and measured. A clock that does not repeat itself, an answer that no candidate gives
// and a pattern that costs something else are said, never rounded away.
#pragma once

#include "learn/device.hpp"

#include <optional>

namespace swizproof::gpu {

/// Wavefronts that a time may mean: more than one number only for cp.async (H12).
struct Reading {
  unsigned least = 0;
  unsigned most = 0;
  [[nodiscard]] bool may_be(unsigned wavefronts) const { return least <= wavefronts && wavefronts <= most; }
};

/// A pattern that shows an entry of the table.
struct Experiment {
  std::string shows{};  ///< in words: "ld.shared.b8: the odd lanes 4 bytes further lie in other banks"
  Instruction instruction{};
  Probe probe{};
  double cycles = 0;
  Reading reading{};
};

/// How it ended.
enum class Learned : std::uint8_t {
  table,          ///< the table explains all that was measured
  not_explained,  ///< no table of the cost model's form gives the cost of a pattern: the last experiment
  unclear,        ///< the clock does not repeat itself, so nothing is known
};

/// Result of the experiments.
struct Findings {
  Learned outcome = Learned::unclear;
  std::string reason{};  ///< unless a table explains everything
  PhaseTable phases{};
  Banks banks = usual_banks;
  double unit = 0;  ///< cycles of a wavefront
  std::vector<Experiment> experiments{};
  Trial trial{};
  std::optional<Experiment> counterexample{};  ///< the smallest that was found
  unsigned expected = 0;                       ///< of it, by the table
  /// Precondition: these findings outlive it.
  [[nodiscard]] Architecture architecture(std::string_view name = "learned",
                                          std::string_view evidence = {}) const {
    Architecture arch = phases_alone(&phases, banks);
    arch.name = name, arch.support = Support::measured, arch.evidence = evidence;
    arch.patterns = trial.patterns;
    return arch;
  }
};

/// Learns the table of a device and holds it against `patterns` random ones. Never throws for what a device answers.
[[nodiscard]] Findings learn(DeviceUnderTest const& device, std::uint64_t patterns, std::uint64_t seed = 1);

/// For people: the table, the experiment that shows each entry, and what the random patterns said.
[[nodiscard]] std::string describe(Findings const& findings);

/// Facts that the file of a table states with it.
struct Origin {
  std::string name{};    ///< on the command line: "sm_90"
  std::string device{};  ///< "NVIDIA H200"
  std::string date{};    ///< "2026-11-22"
  std::uint64_t most_shared_bytes = 0;
  std::string more{};  ///< further members, each `"key": value,` and a new line
};

/// The file that `--arch FILE` reads: format "swizproof architecture 1".
[[nodiscard]] std::string table_file(Findings const& findings, Origin const& origin);

}  // namespace swizproof::gpu
