// Parameters that would turn a branch of a run: followed from where they are read to the condition.
#pragma once

#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace swizproof::execution {

/// A value for bits of a parameter.
struct Turn {
  std::uint32_t symbol = 0;
  std::uint64_t offset = 0;  ///< bytes
  unsigned bits = 0;
  std::uint64_t value = 0;
};

/// Follows parameters through the steps of a run. A register may be a parameter plus a number; a predicate may compare one with a number.
/// After `ld.param.u32 %r1, [n]; add.u32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 7;` n = 4 makes the condition true, and n = 5 false. It is a
/// guess: what else the parameter changes is seen when it is tried. Checked by KernelRuns.ABranchIsTurnedByTheParameterThatItCompares.
class Turns {
 public:
  /// The number of a source in the lanes that run, if it is known and the same in them.
  using Number = std::function<std::optional<std::uint64_t>(program::Source const&)>;

  /// Forgets all: a run begins.
  void start(std::size_t registers) { registers_.resize(registers), follows_.assign(registers, false); }
  /// A register was read from a parameter.
  void read(std::int32_t dst, Turn const& parameter);
  /// True if a step that reads no parameter changes what is known: its result would be, or another one would no longer be.
  [[nodiscard]] bool concerns(program::Step const& s) const {
    return s.dst >= 0 &&
           (follows_[static_cast<std::size_t>(s.dst)] || at(s.a) != nullptr || at(s.b) != nullptr);
  }
  /// A step that reads no parameter was run.
  void step(program::Step const& s, Number const& number);
  /// The value with which a predicate would be so.
  [[nodiscard]] std::optional<Turn> turn(std::int32_t predicate, bool truth) const;

 private:
  struct Register {
    std::optional<Turn> parameter{};             ///< `value` is what was added to it
    std::array<std::optional<Turn>, 2> turns{};  ///< of a predicate: what makes it false, and true
  };
  [[nodiscard]] Register const* at(program::Source const& s) const {
    return s.constant || !follows_[s.value] ? nullptr : &registers_[s.value];
  }
  void set(std::int32_t dst, Register const& now) {
    auto const d = static_cast<std::size_t>(dst);
    follows_[d] = now.parameter || now.turns[0] || now.turns[1];
    if (follows_[d]) registers_[d] = now;
  }
  [[nodiscard]] Register compared(program::Step const& s, Number const& number) const;

  std::vector<Register> registers_{};
  std::vector<bool> follows_{};  ///< by register: whether anything is known of it
};

}  // namespace swizproof::execution
