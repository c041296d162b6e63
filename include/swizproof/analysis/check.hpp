// Is an access on a tile free of bank conflicts, at every position, for every variable and base address?
//
//   Placement  --exhaustive, linear, SMT-->  the most wavefronts that any case costs, and that case
//
// The engines that apply must agree. Linear: where all lanes' addresses are affine in the variables'
// bits, the cost depends only on the XOR of the lanes' addresses, so that a handful of cases decides
// all of them. Exhaustion: every assignment, bases modulo the swizzle's period (proofs/theorems/period.cpp).
// SMT: everything else, base and variables symbolic.
#pragma once

#include <swizproof/analysis/inspect.hpp>
#include <swizproof/access/placement.hpp>
#include <swizproof/hardware/collision.hpp>
#include <swizproof/engine/question.hpp>

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace swizproof {

/// Cases (assignments times bases) that exhaustion and the searches look at.
inline constexpr std::uint64_t most_cases = std::uint64_t{1} << 18;

/// Question of a check.
struct CheckOptions {
  std::optional<unsigned> at_most{};  ///< wavefronts allowed; the ideal if empty
  std::optional<std::uint64_t>
      align{};  ///< bases are its multiples, in bytes; see base_alignment(). Not of a
                ///< map whose base address is known: then that is the only base
  Architecture const* arch = &sm_90;
  Limits limits{};
  bool every_engine = false;  ///< SMT too where every case was tried: slower, and one more opinion
};

/// The element that a lane of a counterexample accesses.
struct ElementAtFault {
  std::vector<std::uint64_t> coordinate{};
  std::int64_t offset =
      0;  ///< before any swizzle: elements; of a raw address, which has no coordinate, bytes
  std::int64_t swizzled = 0;  ///< after all of them, relative to the base: in the same unit
};

/// Values of an access's variables, by name, and a base address in bytes.
struct Origin {
  std::vector<std::pair<std::string, std::uint64_t>> variables{};
  std::uint64_t base = 0;
};

/// Kind of a Misfit: a lane without the address that ldmatrix or stmatrix needs of it, an element outside the tile, an
/// address that is no multiple of the instruction's bytes, a vector whose elements are not contiguous.
enum class Fault : std::uint8_t { idle, outside, misaligned, split };

/// A lane that the instruction cannot serve.
struct Misfit {
  Origin origin{};
  unsigned lane = 0;
  Fault fault{};
  std::string why{};  ///< "accesses (8,0), outside the tile (_8,_64)"
};

/// A store to elements that share a place: one of them is lost.
struct LostStore {
  std::vector<std::pair<std::string, std::uint64_t>> values{};  ///< two indices, x and y, and their place
};

/// Positions of an access that are multiples of its footprint, where most kernels have it.
struct AtFootprints {
  std::string clause{};     ///< "step row 16, byte 32": as an access takes it
  unsigned wavefronts = 0;  ///< worst case there
  friend bool operator==(AtFootprints const&, AtFootprints const&) = default;
};

/// Part of the tile that all cases of an access reach together, in bytes of shared memory (rounded up).
struct Coverage {
  std::uint64_t reached = 0;
  std::uint64_t of = 0;
  friend bool operator==(Coverage const&, Coverage const&) = default;
};

/// The cost of an access in the worst case.
struct WorstCost {
  unsigned wavefronts = 0;                 ///< the least N that `--at-most` accepts
  std::vector<unsigned> degree{};          ///< degree of each phase
  Origin origin{};                         ///< the case
  Collision collision{};                   ///< its fullest bank; of less than two lanes where none collide
  std::vector<ElementAtFault> elements{};  ///< those that the lanes of `collision` access, in their order
  std::optional<std::uint64_t>
      total{};  ///< wavefronts of all cases together, at the most expensive base; if counted
  std::optional<Coverage>
      coverage{};        ///< coverage, if counted, and the access is not moved to every position of a tile
  bool differs = false;  ///< some other position is known to cost less
  std::optional<std::pair<unsigned, unsigned>> lost{};  ///< two lanes of the case that store to one byte

  [[nodiscard]] bool has_conflict() const { return collision.lanes.size() > 1; }
};

/// The verdict on one access: what it costs, or why it has no cost.
struct AccessVerdict {
  std::string access{};
  std::string title{};  ///< description of the access, in one line
  std::variant<Unknown, WorstCost, Misfit, LostStore> found{Unknown{std::string(not_decided)}};
  unsigned ideal = 0;  ///< the least wavefronts that the bytes need
  unsigned allowed = 0;
  std::string domain{};
  std::uint64_t base_step = 1;  ///< bases of the domain are its multiples, in bytes
  std::optional<std::uint64_t>
      base{};                     ///< the only base of the domain, where the layout's pointer has an address
  std::vector<Engine> engines{};  ///< all that decided it
  std::optional<AtFootprints>
      at_footprints{};  ///< result for multiples of the footprint, if positions differ in cost, or some do not fit
  bool narrowed = false;               ///< the access says at which positions: `at`, `step`
  Support support = Support::assumed;  ///< basis of the architecture

  /// Nothing where the access has no cost.
  [[nodiscard]] WorstCost const* cost() const { return std::get_if<WorstCost>(&found); }
  /// Wavefronts above the ideal; 0 where the access has no cost.
  [[nodiscard]] unsigned excess() const { return cost() ? excess_over(ideal, cost()->wavefronts) : 0; }
  /// Proved: no case costs more than `allowed`. Refuted: the worst case costs more, or the access has no cost.
  [[nodiscard]] Outcome outcome() const;
};

/// Default alignment in bytes of the bases that a command quantifies over: the least common multiple of the layout's own
/// alignment (align.hpp), the instruction's, and 16, since shared arrays of tiles are aligned to 16 at least. For
/// (32,34):(34,1) and a 2-byte access: 16; under a 128-byte swizzle: 1024. Nothing where own_alignment() is not known.
[[nodiscard]] std::optional<std::uint64_t> base_alignment(Map const& map, Instruction instruction,
                                                          Limits const& limits);

/// Decides whether the access costs at most `at_most` wavefronts in every case. Refuted with a Misfit, if a lane
/// accesses an element outside the tile, an address that is no multiple of its width, or a vector that the layout
/// splits. Unknown where a limit is reached. Throws InputError if no lane takes part in any case: then
/// nothing is accessed. Throws Disagreement.
[[nodiscard]] AccessVerdict check(Placement const& placement, CheckOptions const& options);

/// The same by exhaustion alone; nothing if there are more than 2^18 cases. Throws as check() does.
[[nodiscard]] std::optional<AccessVerdict> check_exhaustively(Placement const& placement,
                                                              CheckOptions const& options);

/// Reason if the access does not fit its tile; Unknown if a limit is reached.
[[nodiscard]] std::variant<std::monostate, Misfit, Unknown> misfit_of(Placement const& placement,
                                                                      CheckOptions const& options);

/// The verdict on a tile and all accesses to it.
struct TileVerdict {
  Fact one_to_one{};       ///< do different elements have different places?
  bool broadcast = false;  ///< they do not, but only since strides are 0: such a view can be read
  std::vector<AccessVerdict> accesses{};  ///< none where the map loses elements
  Outcome outcome{};
};

/// Decides whether the map keeps all elements apart, and then every access. That a map which loses elements has no
/// conflicts means nothing, so that is refuted; a view of stride 0 may be loaded from, and not stored to. Throws
/// as check() does.
[[nodiscard]] TileVerdict check(Map const& map, std::span<Placement const> placements,
                                CheckOptions const& options);

}  // namespace swizproof
