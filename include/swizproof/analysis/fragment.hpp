// Which element reaches which register: does a load, a store or an accumulator put the right elements into an operand's registers?
//
// The operand and the source each map value i of a thread to an element of the operand. A side in registers is a fragment,
// repeated side by side where the other has more values. A side in shared memory consists of the rows of 16 bytes that ldmatrix or
// stmatrix moves, each at the address that one lane gives. If one of the operand's two indices is contiguous in the stored
// tile, the first element of a row determines its address, so there is at most one choice of addresses, and it is found.
#pragma once

#include <swizproof/access/fragment.hpp>
#include <swizproof/engine/decide.hpp>
#include <swizproof/layout/expression.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// PTX's formula at (thread, value) is this layout. Checked by the claims `fragment/...`.
[[nodiscard]] Question is_thread_values(std::string name, Fragment const& f, Layout const& layout);

/// The first thread and value at which a layout has another number than the instruction, with CuTe's numbers of both.
struct OtherNumber {
  std::uint32_t thread, value, layout, instruction;
};
/// The same of a refuted is_thread_values().
[[nodiscard]] OtherNumber other_number(Fragment const& f, Layout const& layout, Refuted const& refuted);

/// Every element is held in exactly one place, the one that the layout's inverse names; a scale factor also in the other
/// lanes among which the selector chooses.
[[nodiscard]] Question held_once(std::string name, Fragment const& f, Layout const& layout);

/// Holder of an element: the thread and the number of its value. Precondition: row and column lie in the fragment.
struct Holder {
  unsigned thread = 0;
  unsigned value = 0;
};
[[nodiscard]] Holder holder_of(Fragment const& f, unsigned row, unsigned column);

/// Variables of a row's start, by the variable's number: the lane that gives the address, its warp in the warpgroup
/// (0 of an mma's warp), the thread 32 warp + lane, and the number i of the instruction.
enum class RowVariable : std::uint8_t { lane, warp, thread, instruction };

/// Starts of the rows of ldmatrix or stmatrix, as functions of the RowVariables: elements along the index that is not
/// contiguous, and along the one that is. Computed in unsigned words of 64 bits.
struct RowStarts {
  Expression strided{};
  Expression contiguous{};
  std::string text{};  ///< text for the command line: `row = lane%16, col = 8*(lane/16)`

  /// Strided, contiguous. Of a wgmma's warp 1, lane 3 of `row = lane%16 + 16*warp`: 19.
  template <Word W>
  [[nodiscard]] std::array<W, 2> at(W const& lane, W const& warp, W const& i) const {
    std::array<W, 4> const variables{lane, warp, warp * warp_lanes + lane, i};
    return {strided(std::span<W const>(variables), i), contiguous(std::span<W const>(variables), i)};
  }
};

/// One side of a movement.
struct FragmentSide {
  Fragment fragment{};  ///< fragment of one warp, or of one warpgroup
  unsigned copies = 1;  ///< operands side by side, or instructions one after the other
  bool along_columns =
      false;  ///< the next copy of a side in registers lies along the columns, else along the rows
  std::optional<RowStarts> rows{};  ///< rows of ldmatrix and stmatrix
  bool columns_contiguous = false;  ///< columns of the operand are contiguous in memory, else its rows
  unsigned down =
      1;  ///< number of copies below each other with along_columns, before the next column of copies starts
  bool transposed = false;  ///< a side in registers has as rows the columns of the other side

  [[nodiscard]] unsigned values() const { return fragment.values * copies; }

  /// The operand's element that is value i of a thread.
  template <Word W>
  [[nodiscard]] MatrixElementOf<W> at(W const& thread, W const& i) const {
    W const copy = i / fragment.values;
    MatrixElementOf<W> e = element_of(fragment, thread, W(i % fragment.values));
    if (!rows) {
      if (along_columns) {
        e.column = e.column + copy / down * fragment.columns;
        e.row = e.row + copy % down * fragment.rows;
      } else {
        e.row = e.row + copy * fragment.rows;
      }
      return transposed ? MatrixElementOf<W>{e.column, e.row} : e;
    }
    auto const [strided, start] =
        rows->at(e.row, shr(thread, 5), copy);  // matrix row r is the one lane r gives
    W const contiguous = start + e.column;
    return columns_contiguous ? MatrixElementOf<W>{strided, contiguous}
                              : MatrixElementOf<W>{contiguous, strided};
  }
};

/// Two sides with as many threads and values.
struct Movement {
  FragmentSide delivered{};
  FragmentSide wanted{};
  Operand operand = Operand::d;   ///< the wanted operand
  std::vector<unsigned> order{};  ///< value i of the operand is delivered value order[i]; empty: i
};

/// A value that is another element than wanted.
struct WrongValue {
  unsigned thread = 0;
  unsigned value = 0;
  MatrixElement got{};
  MatrixElement wanted{};
};

/// A row that does not start at a multiple of 16 bytes of the tile, as ldmatrix and stmatrix need.
struct MisalignedRow {
  unsigned thread = 0;  ///< thread that gives its address
  unsigned instruction = 0;
  std::uint64_t start = 0;  ///< elements along the contiguous index
};

/// Two values that the instruction takes from one row, or puts there, so many elements apart, and that do not lie so in
/// the tile; or one, twice, whose row would not start at a multiple of 16 bytes.
struct SplitRow {
  std::array<Holder, 2> holders{};
  std::array<MatrixElement, 2> wanted{};
  int apart = 0;
};

/// Changes after which the delivered values are the wanted ones: value i is value `values[i]` of the same thread; k and the
/// other index are permuted, the same for all threads: where `p` is wanted, `k[p]` is. Empty: unchanged.
struct UpTo {
  std::vector<unsigned> values{};
  std::vector<unsigned> k{};
  std::vector<unsigned> other{};
  Answer answer{};  ///< proof that it is so
};

/// The values are the wanted ones after movmatrix, which transposes the 8 x 8 units of 16 bits in one register of a warp: register r
/// is the transposed register `registers[r]` of the source.
struct Transposition {
  std::vector<unsigned> registers{};
  Answer answer{};  ///< proof that it is so
};

/// True if every thread gets the wanted values.
struct Delivery {
  Answer answer{};
  std::string domain{};
  std::optional<WrongValue> first{};
  std::optional<MisalignedRow>
      misaligned{};             ///< the first such row; then nothing that fixes the values is looked for
  std::optional<UpTo> up_to{};  ///< changes that fix a refuted movement into A or B
  std::optional<Transposition>
      movmatrix{};             ///< transposition that fixes a refuted movement between registers, if one does
  bool nothing_fixes = false;  ///< no such changes exist: all were tried
};

/// The rows' addresses with which ldmatrix or stmatrix moves the wanted values, or the obstacle: for every warp of
/// a warpgroup's operand. The tile starts at an address that is a multiple of 16. Checked by tests/unit/analysis/fragment_test.cpp.
struct Solution {
  std::optional<RowStarts> rows{};
  std::optional<SplitRow> split{};
};
[[nodiscard]] Solution solve_rows(Fragment const& memory, FragmentSide const& wanted,
                                  bool columns_contiguous);

/// Rows that follow each other along the index that is not contiguous, then along the other: what one tries first.
[[nodiscard]] RowStarts natural_rows(Fragment const& memory, FragmentSide const& wanted,
                                     bool columns_contiguous);

/// Decides it: every value is the wanted one, and every row in memory starts at a multiple of 16 bytes. Preconditions: both
/// sides have as many values; rows start below 2^20.
[[nodiscard]] Delivery deliver(Movement const& movement, Limits const& limits);

}  // namespace swizproof
