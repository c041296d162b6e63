// Profiler counts compared with proofs about the user's accesses: does the kernel cost what was proved?
//
// The proof is about the worst origin, so a counter may stay below it and never exceed it, except where it counts in a way of
// its own (H11).
#pragma once

#include "profile/nsight.hpp"

#include <swizproof/claim/obligation.hpp>

#include <initializer_list>
#include <string_view>

namespace swizproof {

/// An access whose cost is proved.
struct ProvedAccess {
  std::string obligation{};
  std::string kernel{};  ///< regular expression; empty: every kernel
  std::string access{};
  Instruction instruction{};
  unsigned wavefronts = 0;               ///< of the worst case
  bool counts_as_cycles = true;          ///< its counter shows no more than the cost model (H11)
  Placement const* placement = nullptr;  ///< of the obligation, which lives as long
  std::uint64_t base_step = 1;           ///< it is proved from bases that are its multiples, in bytes
};

/// The accesses of the obligations, each with its proved cost, and those for which there is none.
struct ProvedAccesses {
  std::vector<ProvedAccess> proved{};
  std::vector<std::string> left_out{};  ///< "A tile: ldmatrix.x4: time-out"
};

/// Decides the accesses of the obligations, to which the result points. Throws as decide() does.
[[nodiscard]] ProvedAccesses prove_accesses(std::vector<Obligation> const& obligations, Limits const& limits);

/// True if a regular expression, or an empty text for every kernel, is found in some name of a kernel. Throws InputError.
[[nodiscard]] bool speaks_of(std::string const& expression, std::initializer_list<std::string_view> names);

/// How a measurement compares. `above` contradicts the proof, `noisy` might.
enum class Comparison : std::uint8_t { as_proved, below, above, noisy, not_covered, atomic, not_modelled };

/// A measurement, and the proved accesses that it may be.
struct Compared {
  Comparison comparison = Comparison::not_covered;
  std::vector<ProvedAccess const*> candidates{};
  unsigned most = 0;  ///< wavefronts of the most expensive candidate
  std::uint64_t allowed =
      0;  ///< wavefronts of all that ran, if each was the most expensive; 32 each of what no candidate is
};

[[nodiscard]] Compared compare(Measurement const& measured, std::vector<ProvedAccess> const& proved);

}  // namespace swizproof
