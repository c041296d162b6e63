// The words of a FRAGMENT: PTX's and CuTe's names taken apart, with the operand behind the colon.
#pragma once

#include "parse/fragment/mma_kind.hpp"

#include <swizproof/parse/parse.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// An element type of mma: its name for PTX, or ours, and its bits.
struct MmaType {
  std::string_view name;
  unsigned bits;
};
/// The type of this name, if mma has it. `mma_type("e3m2")->bits` is 6.
[[nodiscard]] std::optional<MmaType> mma_type(std::string_view name);

/// A name, word by word. Of `mma.sync.aligned.m16n8k16.row.col.f16:b` the words are mma, m16n8k16 and f16. Checked by
/// tests/unit/parse/mma_atom_test.cpp and tests/reference/fragments.py.
struct FragmentWords {
  std::string text;  ///< as it was given
  std::string name;  ///< PTX's or CuTe's, without the operand
  std::optional<unsigned> element_bits;
  std::optional<Operand> operand{};
  std::optional<KindWords> kind{};
  std::vector<std::string> notes{};
  bool addend = false;       ///< C
  bool sparse = false;       ///< of mma.sp, wgmma with .sp
  bool a_is_shared = false;  ///< of CuTe's atoms for two operands in shared memory
  std::vector<std::string> words{};

  FragmentWords(std::string_view given, std::optional<unsigned> bits);
  [[noreturn]] void fail(std::string message, std::string hint) const;
  [[noreturn]] void unknown() const;
  /// The error of a word that is no element type.
  [[noreturn]] void unknown_type(std::string const& word) const;
  /// Names like this one, for an error; empty if there are none.
  [[nodiscard]] std::string similar_names() const;
  [[nodiscard]] bool has_word(std::string_view word) const;

 private:
  void read_operand(std::string_view letters);
  void plain_cute();
  void split(std::string const& ptx);
  [[nodiscard]] std::string from_cute();
};

/// An operand of mma, wgmma or their scales: `mma.m16n8k16.f16:a`. Takes the words apart further and adds notes.
[[nodiscard]] NamedFragment product_fragment(FragmentWords& words);
/// Scale factors of tcgen05.mma in Tensor Memory. [PTX ISA 9.1, 9.7.16.10.7]
[[nodiscard]] NamedFragment scales_in_tensor_memory(FragmentWords& words);
/// The matrices or cells that ldmatrix, stmatrix, movmatrix, tcgen05.ld, .st or .cp moves. Precondition: the first words name one of them.
[[nodiscard]] NamedFragment moved_fragment(FragmentWords const& words);

}  // namespace swizproof
