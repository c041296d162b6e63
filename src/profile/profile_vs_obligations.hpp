// Compares a profiler's counts with what is proved of the user's accesses: does the kernel cost what was proved?
//
// A count is a sum over executions, and proved is the worst case of each single one. So a sum decides only what every way to
// distribute it over the executions has in common:
//
//   as_proved   each execution that any warp took part in cost exactly what is proved
//   below       each cost at most that, and not all of them exactly
//   above       some execution cost more
//   undecided   none of these in every way: `why` names what is not known
//
// n executions were live, which cost at least `lo` and at most `hi` wavefronts each:
//   n    all executions; of a predicated line fewer (the counter has the warps that the predicate switched off), then n is
//        known from the column "L1 Wavefronts Shared Ideal" if each execution has one ideal: up to 4 bytes a lane, and matrices
//   lo   the ideal, but 1 of accesses of 8 and 16 bytes: idle phases cost the counter nothing (H11, cp.async: H5)
//   hi   32; 8 for each matrix
// A copy (cp.async) is never above: the counter may hold the fill of its line too.
// In a sum over all instructions of one operation in a kernel, n is not known, and every width may have run.
//
// Checked by tests/unit/profile/nsight_test.cpp, and against every distribution of small counts by tests/reference/crosscheck.py.
#pragma once

#include "profile/nsight.hpp"

#include <swizproof/claim/obligation.hpp>

#include <initializer_list>
#include <string_view>

namespace swizproof {

/// An access of an obligation, with its cost if the obligation is proved.
struct ProvedAccess {
  std::string obligation{};
  std::string kernel{};  ///< regular expression; empty: every kernel
  std::string access{};
  Instruction instruction{};
  unsigned wavefronts = 0;               ///< wavefronts of the worst case
  bool counts_as_cycles = true;          ///< its counter shows no more than the cost model (H11)
  Placement const* placement = nullptr;  ///< placement of the obligation, which lives as long
  std::uint64_t base_step = 1;           ///< it is proved from bases that are its multiples, in bytes
  Architecture const* arch = &sm_90;     ///< architecture of the obligation
  bool refuted =
      false;  ///< the obligation is refuted, as it expects: this is the cost of a layout that is known to be bad
  std::string why_not{};  ///< "refuted: 32 wavefronts, 1 allowed"; not empty: nothing is proved of it
};

/// The accesses of the obligations, and in words those without a proof.
struct ProvedAccesses {
  std::vector<ProvedAccess> proved{};   ///< those with a `why_not` too
  std::vector<std::string> left_out{};  ///< "A tile: ldmatrix.x4: time-out"
};

/// Decides the obligations on accesses; the result points to them. An obligation that is refuted, or that expects to be and is
/// not, proves none of its accesses. Throws as decide() does.
[[nodiscard]] ProvedAccesses prove_accesses(std::vector<Obligation> const& obligations, Limits const& limits);

/// True if a regular expression, or an empty text for every kernel, is found in some name of a kernel. Throws InputError.
[[nodiscard]] bool speaks_of(std::string const& expression, std::initializer_list<std::string_view> names);

/// Comparison of a measurement; see above. `as_expected`: as `as_proved`, with what refutes an obligation that expects it.
enum class Comparison : std::uint8_t {
  as_proved,
  as_expected,
  below,
  above,
  undecided,
  not_covered,
  atomic,
  not_modelled
};

/// A measurement, and the proved accesses that it may be.
struct Compared {
  Comparison comparison = Comparison::not_covered;
  std::vector<ProvedAccess const*> candidates{};
  unsigned most = 0;          ///< wavefronts of the most expensive candidate
  std::uint64_t allowed = 0;  ///< wavefronts of all that ran, if each cost as much as it may
  std::string why{};          ///< it is undecided
};

[[nodiscard]] Compared compare(Measurement const& measured, std::vector<ProvedAccess> const& proved);

}  // namespace swizproof
