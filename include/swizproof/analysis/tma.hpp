// Which TMA copies write exactly a given tile.
#pragma once

#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>
#include <swizproof/hardware/tma.hpp>
#include <swizproof/layout/map.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// Equal boxes of one tensor map that together write each element of a tile to its place and touch no other element's. Boxes may
/// overlap: what two of them write to a byte is the same. (64,128) of 16 bits in atoms of 8 rows of 128 bytes: mode 128B, box {64, 64},
/// 2 boxes. (263,64) of 16 bits, row by row: mode none, box {64, 132}, from rows 0 and 131.
struct TmaBoxes {
  TmaMode mode = TmaMode::none;
  std::vector<std::uint32_t> box{};  ///< elements, innermost first; one for each mode longer than 1
  std::vector<std::size_t> modes{};  ///< the mode of the tile that each of them runs along
  /// Indices of that mode from one element of the box to the next: 1, or more where the mode is split among dimensions.
  std::vector<std::uint32_t> steps{};
  std::uint64_t boxes = 1;
  std::uint32_t pitch = 0;  ///< bytes from line to line of a box
  std::uint64_t bytes = 0;  ///< bytes of one box: the number that its barrier expects
  /// The tile's base is a multiple of this many bytes; 0: no such multiples will do, TmaPlan::also says which bases.
  std::uint64_t destination_alignment = 0;
};

/// TmaBoxes, or why there are none.
struct TmaAnswer {
  std::optional<TmaBoxes> writes{};
  std::string reason{};  ///< empty iff `writes` is not
  /// Bits of the elements that `writes` counts, if TMA has none of the tile's: those of tma_recasts(); else 0.
  unsigned element_bits = 0;
};

/// The boxes that write exactly this tile, decided on every byte of every element and on every base that is a multiple of
/// `destination_alignment`: of all equal boxes of one tensor map in which each dimension runs along one mode of the tile, at any step, and
/// each mode longer than 1 has one of step 1. Taken are the fewest with the tile's own modes as dimensions, if they do not overlap or if
/// no others are fewer; else the fewest. Nothing is said of bases that are no multiples of the period of the tile's
/// swizzle: those tma_copies() tries. Elements that TMA does not have are taken for those of tma_recasts(). Throws InputError without a shape or an element size.
/// Checked by tests/unit/analysis/tma_test.cpp against the formula above, and by `equal`.
[[nodiscard]] TmaAnswer tma_boxes(Map const& map, std::span<TmaMode const> modes = tma_modes,
                                  Limits const& limits = {});

/// The same for a tile of modes of these extents, given by each element's first byte from a base that is a
/// multiple of 1024: in the order of plain indices, the first mode fastest. Precondition: no two elements
/// overlap, and each element's bytes lie side by side.
[[nodiscard]] TmaAnswer tma_boxes(std::span<std::uint64_t const> extents, unsigned element_bits,
                                  std::span<std::uint64_t const> addresses,
                                  std::span<TmaMode const> modes = tma_modes);

/// One box of a tile: where it begins in the tile, and where its destination is.
struct TmaCopy {
  std::vector<std::uint64_t> at{};  ///< coordinate in the tile, a number for each of its modes
  std::int64_t destination =
      0;  ///< bytes from the tile's base, before the swizzle: what the instruction is given
};

/// The copies of one mode that write a tile, and how that is known.
struct TmaPlan : TmaBoxes {
  std::vector<TmaCopy> copies{};  ///< all boxes, the first mode of the tile fastest
  std::uint64_t period = 0;       ///< bytes: the set of good bases repeats with it
  std::vector<std::uint64_t>
      also{};         ///< the other good bases mod `period`; destinations count from them as from any
  bool exact = true;  ///< no other base will do; false where there were too many to try
  std::vector<Engine> engines{};  ///< engines that found the copies' addresses equal to the tile's
  /// The copies' addresses as a layout, if the boxes lie at regular distances in each mode.
  std::optional<Map> image{};
};

/// An element that a copy puts elsewhere than the tile has it; or two elements at one place.
struct TmaWitness {
  std::vector<std::uint64_t> at{};     ///< its coordinate in the tile
  unsigned byte = 0;                   ///< index of a byte in the element
  std::optional<std::int64_t> tma{};   ///< address to which a copy from base 0 writes that byte
  std::int64_t layout = 0;             ///< address of that byte in the tile
  std::vector<std::uint64_t> other{};  ///< without `tma`: the other element at that place
};

/// A box that a kernel hard-codes.
struct FixedBox {
  std::vector<std::uint32_t> box{};  ///< elements, innermost first
  std::vector<std::size_t>
      modes{};  ///< modes of the tile that its dimensions run along; empty: any order of different modes
  std::vector<std::uint32_t> steps{};  ///< steps, as in TmaBoxes; empty: 1 each
};

/// Restrictions of the copies, in addition to the tile.
struct TmaQuestion {
  std::span<TmaMode const> modes = tma_modes;
  std::optional<FixedBox> box{};  ///< nothing: any
  std::optional<std::uint64_t>
      align{};  ///< bytes: the tile is written from every base that is a multiple of them
};

/// Result of `swizproof tma` for a tile.
struct TmaCopies {
  Outcome
      outcome{};  ///< Proved: plans.front() writes the tile; Refuted: no boxes of that family do, see none_from
  std::vector<TmaPlan> plans{};  ///< the best of each mode, the fewest boxes first
  std::string reason{};          ///< reason if `plans` is empty
  std::optional<TmaWitness> witness{};
  /// Fewer boxes than plans.front() has, from the same bases, whose dimensions split the tile's modes: a tensor map may see 128 columns
  /// as 2 times 64. They are the fewest that there are; without a split, plans.front() has those.
  std::optional<TmaPlan> split{};
  /// For a refutation: there are no copies from any base that is a multiple of this many bytes. An element's bytes where all
  /// were tried, which is all that a base can be; a period of the swizzles where they are too many.
  std::uint64_t none_from = 1;
  /// The same bytes as elements that TMA has, where its own are none; all that is said here is said of this tile.
  std::optional<Map> recast{};
};

/// A tile of elements that TMA does not have, as the same bytes in elements that it has: those of 128 bits as pairs of 64, along
/// the mode that is contiguous, or as a first mode of their own, or, where that is one dimension too many, along each other mode;
/// those of 4 bits two to a byte, where they are contiguous in pairs. Empty where that cannot be done, or need not be. `(8,8):(8,1)` of 128 bits: `(8,(2,8)):(16,(1,2))` and
/// `(2,8,8):(1,16,2)` of 64. Preconditions: a shape and an element size. Checked by tests/unit/analysis/tma_test.cpp.
[[nodiscard]] std::vector<Map> tma_recasts(Map const& map);

/// The tile with its modes split as the dimensions of such boxes split them; nothing where they do not divide the modes. (64,128) in
/// panels of 64 columns, box {64, 64, 2}: (_64,(_64,_2)) as modes (_64,_64,_2).
[[nodiscard]] std::optional<Map> split_tile(Map const& map, TmaBoxes const& boxes);

/// Reason why no boxes of tma_recasts() write a tile of such elements; `reason` is that of the first of them.
[[nodiscard]] std::string reason_of_recast(unsigned element_bits, std::string reason);

/// The copies that write exactly this tile in these modes, decided as tma_boxes() does, from any base if there are none from
/// the multiples of the swizzles' period; the good bases are found, all of them, and every engine that can read the copies'
/// layout compares it with the tile. Elements that TMA does not have are taken for those of tma_recasts(); Unknown where there
/// are none. Throws InputError without a shape or an element size, and Disagreement. `(8,64):(72,1)` of f16: Refuted, element
/// (1,0) is put at byte 128 and not at 144.
/// Checked by tests/unit/analysis/tma_test.cpp.
[[nodiscard]] TmaCopies tma_copies(Map const& map, TmaQuestion const& question = {},
                                   Limits const& limits = {});

/// The basis of an architecture's TMA. Throws InputError where it has none or none that is known, and for a tile that fits no block of it.
[[nodiscard]] Support tma_basis(Map const& map, Architecture const& arch);

}  // namespace swizproof
