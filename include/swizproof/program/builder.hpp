// A program under construction.
#pragma once

#include <swizproof/program/program.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace swizproof::program {

[[nodiscard]] constexpr Source constant(std::uint64_t value) { return {true, value}; }
[[nodiscard]] constexpr Source reg(std::uint32_t r) { return {false, r}; }

/// Registers, steps and names of a program; what a reader of PTX or SASS lowers an instruction to. Each step has the line of the
/// instruction that is lowered.
class Builder {
 public:
  Program program{};
  std::uint32_t line = 0;
  std::string_view opcode{};  ///< name of an instruction that is not modelled

  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(program.steps.size()); }
  std::uint32_t temporary(unsigned width);
  /// A step whose result is a new register.
  Source emit(Action action, unsigned width, Source a = {}, Source b = {}, Source c = {},
              std::uint32_t extra = 0);
  /// Gives a register a value, if the guard holds.
  void assign(std::uint32_t r, Source value, unsigned width, std::optional<Source> const& guard);
  /// Index of a name in Program::names.
  std::uint32_t named(std::string_view what);
  /// Any value in any lane, which the instruction makes of `from`, or of memory.
  Source any(unsigned width, Source from = {}, bool memory = false);
  /// As any(), but lanes that execute the instruction together with equal sources get one value.
  Source one_together(unsigned width, Source from);
  /// A function of the sources: of instructions of one opcode the same one.
  Source function_of(unsigned width, Source a, Source b = {}, Source c = {});
  /// A special register, 32 bits.
  Source special(Special which);
  /// A special register that has one value in a whole warp, as long as the block runs.
  Source uniform(unsigned width, std::string_view name);
  /// An access; one with a reason is not modelled.
  void add(MemoryAccess m);
  void add(SharedOperand o);
  void add(Event e);
  /// Says why the program is not executed; the first reason stays.
  void refuse(std::string_view why);

 private:
  std::unordered_map<std::string, std::uint32_t> names_{}, uniform_{};
};

}  // namespace swizproof::program
