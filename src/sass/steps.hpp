// Operands of an instruction of SASS as sources and destinations of steps.
#pragma once

#include "arithmetic.hpp"
#include "constant_bank.hpp"
#include "forms.hpp"
#include "opcode.hpp"
#include "stack.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace swizproof::sass {

/// Steps of a kernel.
class Steps {
 public:
  Steps(Module const& in_module, Code const& code, bool stack);

  Module const& module;
  Builder build{};
  ConstantBank bank;
  Stack stack;
  std::uint32_t shared_symbol = 0;
  std::optional<Source> guard{};       ///< of the instruction that is lowered; nothing: always
  std::vector<std::uint32_t> calls{};  ///< lines of the calls that it was inlined for
  bool lists_global = false;           ///< accesses to global memory are added to the program
  bool lists_events = false;           ///< events are: a lane may wait for another one

  /// The functions of arithmetic.hpp take steps, too.
  operator Builder&() { return build; }  // NOLINT: on purpose
  Source emit(Action action, unsigned width, Source a = {}, Source b = {}, Source c = {},
              std::uint32_t extra = 0) {
    return build.emit(action, width, a, b, c, extra);
  }
  Source any(unsigned width, Source from = {}, bool memory = false) { return build.any(width, from, memory); }
  Source function_of(unsigned width, Source a, Source b = {}, Source c = {}) {
    return build.function_of(width, a, b, c);
  }

  // sources
  Source word(Operand const& o);
  /// The `plus`th word of an operand, without its sign and the like.
  Source word_at(Operand const& o, unsigned plus);
  Source wide(Operand const& o, bool sign_immediate);
  Source truth(Operand const& o);
  Source constant_word(Operand const& o, unsigned bits, unsigned plus = 0);
  Source special(std::string_view name);
  /// Value that comes from all registers that the operands from `from` on name.
  Source registers_of(Instruction const& i, std::size_t from);

  // destinations, under the guard
  void write(std::uint32_t r, Source value, unsigned width);
  void put(Operand const& o, Source value);
  void put_wide(Operand const& o, Source value);
  void put_truth(Operand const& o, Source value);
  /// Both destinations of a predicate's instruction: neither is read after the other is written.
  void put_truths(Instruction const& i, Source first, Source second);
  /// Registers of a destination from `o` on become unknown.
  void lose(Operand const& o, unsigned count, Source from = {}, bool memory = false);
  /// As lose, of an instruction whose result is not decided: no form is used.
  void not_modelled(Operand const& o, unsigned count, Source from = {}, bool memory = false);

  // copies that a warp executes if one of its lanes would

  /// A uniform predicate is now whether a predicate is true in any lane.
  void set_voters(Operand const& any, Operand const& of);
  /// The predicate of the lanes for which a warp executes what a uniform predicate guards: `VOTEU.ANY UP0, P0` stands before it in the
  /// block, and nothing changed either. A copy of a tensor has the registers that these lanes gave it. Checked by
  /// SassLower.ACopyForAnyLaneHasTheRegistersOfLanesThatWantIt.
  [[nodiscard]] std::optional<Source> voters(Operand const& any) const;
  void forget_voters() { voters_.clear(); }

  /// The first step of an instruction, and its form.
  struct UsedForm {
    std::uint32_t first = 0;
    FormName form{};
    std::string_view opcode{};
  };
  std::vector<UsedForm> forms{};
  /// Steps from here on are those of a form.
  void form(FormName name) { forms.push_back({build.here(), name, build.opcode}); }
  /// The instruction is of another form than its row's.
  void refine(FormName name) { forms.back().form = name; }

  // predicates in bits of a register (bits.cpp)

  /// Finds the bits of general registers that an instruction sets alone and another tests.
  void find_kept_bits(Function const& function);
  /// The truth that a bit of a register is kept as; nothing if it is not.
  [[nodiscard]] std::optional<Source> kept_bit(Source r, unsigned bit) const;
  /// The test of one kept bit, `R & 2^k` with RZ as third word; nothing if it is another one.
  [[nodiscard]] std::optional<Source> tested_bit(Instruction const& i) const;

 private:
  Source bit_of(Source value, unsigned bit, unsigned depth);
  void write_kept_bits(std::uint32_t r, Source value);
  std::map<std::uint32_t, std::uint32_t> voters_{};  ///< predicates by uniform predicates
  /// By register and bit: the register of a truth that is the bit.
  std::unordered_map<std::uint32_t, std::map<unsigned, std::uint32_t>> kept_bits_{};
};

}  // namespace swizproof::sass
