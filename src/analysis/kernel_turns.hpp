// Parameters that would turn a branch of a run: followed from where they are read to the condition.
#pragma once

#include <swizproof/ptx/program.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace swizproof::kernel_detail {

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
  using Number = std::function<std::optional<std::uint64_t>(ptx::Source const&)>;

  /// Forgets all: a run begins.
  void start(std::size_t registers) { registers_.assign(registers, {}); }
  /// A register was read from a parameter.
  void read(std::int32_t dst, Turn const& parameter);
  /// A step that reads no parameter was run.
  void step(ptx::Step const& s, Number const& number);
  /// The value with which a predicate would be so.
  [[nodiscard]] std::optional<Turn> turn(std::int32_t predicate, bool truth) const;

 private:
  struct Register {
    std::optional<Turn> parameter{};             ///< `value` is what was added to it
    std::array<std::optional<Turn>, 2> turns{};  ///< of a predicate: what makes it false, and true
  };
  [[nodiscard]] Register const* at(ptx::Source const& s) const {
    return s.constant ? nullptr : &registers_[s.value];
  }
  [[nodiscard]] Register compared(ptx::Step const& s, Number const& number) const;

  std::vector<Register> registers_{};
};

}  // namespace swizproof::kernel_detail
