// Values of threads in a block on numbers, and what two of them have in common where they are not numbers.
#pragma once

#include "race_data.hpp"

#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
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
/// Checked by KernelRaces.LanesOfAButterflyStoreOneValue and tests/reference/races_values.py.
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
  /// Byte `k` of a term.
  [[nodiscard]] Term byte(Term t, unsigned k);
  /// The term of these bytes, the lowest first.
  [[nodiscard]] Term of_bytes(std::vector<Term> const& bytes);
  /// True for two bytes that are numbers or what memory holds, and not the same: some memory has different values there.
  [[nodiscard]] bool may_differ(RaceValue const& a, RaceValue const& b);

 private:
  enum class Kind : std::uint8_t { none, number, any_byte, byte_of_module, step, byte, bytes };
  struct Node {
    Kind kind = Kind::none;
    program::Action action = program::Action::copy;
    std::uint8_t width = 0;  ///< bits
    std::uint32_t extra = 0;
    std::array<std::uint64_t, 3> operands{};  ///< terms, or a number
    friend bool operator==(Node const& a, Node const& b) {
      return a.kind == b.kind && a.action == b.action && a.width == b.width && a.extra == b.extra &&
             a.operands == b.operands;
    }
  };
  struct Hash {
    std::size_t operator()(Node const& n) const;
  };
  Term add(Node const& n);

  std::vector<bool> commutes_{};  ///< by name of an opaque step
  std::vector<Node> nodes_{{}};
  std::unordered_map<Node, Term, Hash> known_{};
};

/// The result of a step that depends on its sources alone. Checked by KernelRaces.LanesOfAButterflyStoreOneValue.
[[nodiscard]] RaceValue value_of_step(program::Program const& program, program::Step const& s,
                                      std::array<RaceValue, 3> const& sources, LoadSets& sets,
                                      ValueTerms& terms);

}  // namespace swizproof::kernel_detail
