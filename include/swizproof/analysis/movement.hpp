// FRAGMENT into FRAGMENT: what is loaded, computed or stored, and the operand that it should be.
#pragma once

#include <swizproof/access/access.hpp>
#include <swizproof/analysis/fragment.hpp>
#include <swizproof/hardware/architecture.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// A movement to be checked: ldmatrix into an operand, an operand into stmatrix, or registers into registers.
struct MovementQuestion {
  NamedFragment from{}, into{};
  std::string element{};         ///< type that results are converted to; empty: the operand's
  unsigned computed_bits = 0;    ///< size of results before conversion; 0: no conversion
  std::optional<Access> rows{};  ///< rows of ldmatrix or stmatrix; else they are found
  std::string contiguous{};  ///< index that is contiguous in shared memory; empty: see columns_contiguous()
  std::vector<unsigned> registers{};  ///< source of each of the operand's registers; empty: the same numbers
  bool transposed = false;            ///< between registers: the operand is the transpose of the source
};

/// Basis of the answers: PTX's formulas, which campaigns measured for single fragments.
inline constexpr Support movement_support = Support::documented;

/// The movement that was decided.
struct MovementAnswer {
  NamedFragment from{}, into{};
  std::string element{};
  unsigned computed_bits =
      0;  ///< size of results before conversion to the operand's, or the stored, elements; else 0
  Movement movement{};
  std::string tile{};         ///< storage order, for ldmatrix and stmatrix
  std::string instruction{};  ///< instruction with its rows
  bool given = false;         ///< the user gave the rows
  std::optional<SplitRow> split{};
  std::string
      instead{};  ///< the same with, or without, .trans and its rows, or another instruction, where that does it
  std::string instead_how{};  ///< further changes that `instead` needs
  Delivery found{};

  /// The operand whose indices are meant: `from` of a store, else `into`.
  [[nodiscard]] NamedFragment const& operand() const { return into.memory ? from : into; }
  [[nodiscard]] Outcome const& outcome() const { return found.answer.outcome; }
};

/// Decides it, with the first value that is wrong. Throws InputError for what does not fit together.
/// Checked by tests/unit/analysis/fragment_test.cpp and tests/golden/fragment.txt.
[[nodiscard]] MovementAnswer decide_movement(MovementQuestion const& question, Limits const& limits);

/// Refuses an architecture that lacks the instruction: it has its first one's number or a later, that of `sm_90a` alone.
void refuse_older(Architecture const& arch, std::string const& instruction, std::string const& needs);

}  // namespace swizproof
