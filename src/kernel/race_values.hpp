// Values of threads in a block on numbers, and what two of them have in common where they are not numbers.
#pragma once

#include "race_data.hpp"

#include <swizproof/hardware/matrix_element.hpp>
#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace swizproof::kernel_detail {

struct RaceValue {
  std::uint64_t bits = 0;
  bool open = true;        ///< not known
  LoadSets::Set data = 0;  ///< loads that it depends on
  std::uint32_t term = 0;  ///< of ValueTerms, if it is open or depends on loads; 0: none
};

/// Functions of the numbers in memory before a launch, each with an index: values of one term are equal for all data.
///
/// An instruction gives one result for equal operands; add, mul, min, max, fma and bitwise operations also where the first two are exchanged. For floating point this takes
/// the NaN that an instruction gives to depend on no order of its operands; min and max take -0 to be below +0 [PTX ISA 9.1, 9.7.3].
/// A sum without a rounding mode may be made one fma with a product without one [PTX ISA 9.1, 9.7.3.3: add]: such a sum is a function of its instruction, too, and
/// a product that comes from memory or another lane is another operand than one of the thread. Checked by KernelRaces.LanesOfAButterflyStoreOneValue,
/// KernelRaces.ASumMayBeFusedWithAProduct and tests/reference/races_values.py.
class ValueTerms {
 public:
  using Term = std::uint32_t;

  explicit ValueTerms(program::Program const& program);

  void clear();
  /// 0 if it has none.
  [[nodiscard]] Term of(RaceValue const& v);
  /// A byte that memory holds before the launch. `any`: it may be any number.
  [[nodiscard]] Term initial(std::uint64_t at, bool any);
  /// The result of a step on terms; 0 if an operand has none.
  [[nodiscard]] Term of_step(program::Step const& s, std::array<Term, 3> operands);
  /// An element of D of an mma: of its row of A and its column of B, lists of registers, its element of C, and where it is. 0 if one has none.
  /// Checked by KernelRaces.WarpsOfOneProductStoreOneValue.
  [[nodiscard]] Term of_product(std::string_view opcode, MatrixElement at, std::vector<Term> const& row,
                                std::vector<Term> const& column, Term c, unsigned width);
  /// A term that was stored, or that another lane gave: its product is rounded.
  [[nodiscard]] Term moved(Term t);
  /// Byte `k` of a term.
  [[nodiscard]] Term byte(Term t, unsigned k);
  /// The term of these bytes, the lowest first.
  [[nodiscard]] Term of_bytes(std::vector<Term> const& bytes);
  /// True for two bytes that are numbers or what memory holds, and not the same: some memory has different values there.
  [[nodiscard]] bool may_differ(RaceValue const& a, RaceValue const& b);

  enum class Kind : std::uint8_t {
    none,
    number,
    any_byte,
    byte_of_module,
    step,
    byte,
    bytes,
    list,     ///< a list and an item
    product,  ///< an element of D
    moved     ///< a product that was stored or given
  };
  struct Node {
    Kind kind = Kind::none;
    program::Action action = program::Action::copy;
    std::uint8_t width = 0;   ///< bits
    std::uint32_t extra = 0;  ///< name; of choose: 1 + 2 if signed of a minimum, 2 + 2 of a maximum
    std::uint32_t step = 0;   ///< 1 + index of a sum that may be fused with a product; else 0
    bool is_product =
        false;  ///< a floating-point product may be a part of it, so that a sum may be fused with it
    std::array<std::uint64_t, 3> operands{};  ///< terms, or a number
    friend bool operator==(Node const& a, Node const& b) {
      return a.kind == b.kind && a.action == b.action && a.width == b.width && a.extra == b.extra &&
             a.step == b.step && a.operands == b.operands;
    }
  };
  /// By term; operands of a node are before it.
  [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }
  [[nodiscard]] program::Program const& program() const { return program_; }

 private:
  struct Hash {
    std::size_t operator()(Node const& n) const;
  };
  Term add(Node const& n);

  [[nodiscard]] Term unmoved(Term t) const;
  [[nodiscard]] Term ordered(Node const& choice);
  [[nodiscard]] std::optional<Term> byte_of_bits(Node const& n, unsigned k);

  /// Properties of an opaque step, by its name.
  struct Named {
    bool commutes = false;
    bool is_function = false;           ///< of its operands alone, on numbers too
    bool sum = false, product = false;  ///< of floating point, without a rounding mode
  };
  program::Program const& program_;
  std::vector<Named> named_{};
  std::vector<std::string> products_{};  ///< opcodes of mma
  std::vector<Node> nodes_{{}};
  std::unordered_map<Node, Term, Hash> known_{};
};

/// The result of a step that depends on its sources alone. Checked by KernelRaces.LanesOfAButterflyStoreOneValue.
[[nodiscard]] RaceValue value_of_step(program::Program const& program, program::Step const& s,
                                      std::array<RaceValue, 3> const& sources, LoadSets& sets,
                                      ValueTerms& terms);

}  // namespace swizproof::kernel_detail
