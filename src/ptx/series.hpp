// Neighbouring loads or stores that one vector access may replace.
#pragma once

#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::ptx {

/// Series of a function's loads and stores, instruction by instruction. Those of one series have one base register, guard and type, and
/// nothing between them writes these registers, accesses shared memory in another way, or orders memory. Checked by
/// KernelVectors.* in tests/unit/kernel/vectors_test.cpp.
class Series {
 public:
  /// Number of the series that the instruction belongs to; 0: none.
  std::uint32_t of(Instruction const& i);
  /// Ends all series: a label or a branch.
  void end() { open_.clear(); }

 private:
  struct Open {
    Instruction const* first = nullptr;
    std::uint32_t number = 0;
  };
  /// Number of the open series that a load or a store goes on with, or of a new one.
  std::uint32_t join(Instruction const& i);
  /// Ends the series whose base or guard the instruction writes.
  void end_overwritten(Instruction const& i);

  std::vector<Open> open_{};
  std::uint32_t last_ = 0;
};

}  // namespace swizproof::ptx
