// Meaning of a step on numbers.
#pragma once

#include <swizproof/core/word.hpp>
#include <swizproof/engine/term.hpp>
#include <swizproof/program/opcode.hpp>
#include <swizproof/program/program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <vector>

namespace swizproof::program {

/// True for an action whose result is one of numbers alone: those up to `choose`.
[[nodiscard]] constexpr bool computes(Action action) { return action <= Action::choose; }

/// Operation of the graph that such an action is. Of a copy and a wider word it is one that keeps all bits.
[[nodiscard]] constexpr Op op_of(Action action) {
  constexpr Op operations[] = {Op::truncate,    Op::bv_add,      Op::bv_sub,   Op::bv_mul,   Op::bv_and,
                               Op::bv_or,       Op::bv_xor,      Op::bv_shl,   Op::bv_lshr,  Op::bv_udiv,
                               Op::bv_urem,     Op::truncate,    Op::truncate, Op::eq,       Op::ult,
                               Op::conjunction, Op::disjunction, Op::bv_xor,   Op::negation, Op::ite};
  static_assert(std::size(operations) == static_cast<std::size_t>(Action::choose) + 1);
  return operations[static_cast<std::size_t>(action)];
}

/// Result of a step that computes, on the values of its sources.
[[nodiscard]] inline std::uint64_t result_of(Step const& s, std::uint64_t a, std::uint64_t b,
                                             std::uint64_t c) {
  return value_of({op_of(s.action), s.width}, a, b, c) & low_bits(s.width);
}

/// `shuffle_mode(Opcode("shfl.sync.bfly.b32"))` is Shuffle::bfly. Checked by tests/reference/kernel.py.
[[nodiscard]] Shuffle shuffle_mode(Opcode const& op);

/// Lane whose value a lane gets by shfl with operands b and c; itself, if it is out of bounds. [PTX ISA 9.1: shfl.sync]
/// `shuffle_source(Shuffle::down, 3, 2, 31)` is 5. Checked by Kernel.AShuffleFromALaneThatDoesNotExecuteItGivesAnyValue and tests/reference/kernel.py.
[[nodiscard]] unsigned shuffle_source(Shuffle mode, unsigned lane, std::uint32_t b, std::uint32_t c);
/// The lane that a shuffle names, where it is within the segment: the predicate of shfl is true [PTX ISA, shfl.sync]. Checked by
/// tests/reference/flow_atomics.py.
[[nodiscard]] std::optional<unsigned> shuffle_in_range(Shuffle mode, unsigned lane, std::uint32_t b,
                                                       std::uint32_t c);

/// A thread of a launch.
struct ThreadOfLaunch {
  std::uint64_t thread = 0;  ///< thread in its block: tid.x + ntid.x * (tid.y + ntid.y * tid.z)
  unsigned lane = 0;
  std::array<std::uint32_t, 3> block{1, 1, 1}, grid{1, 1, 1}, number{};  ///< `number` is ctaid
};

/// Value of a special register, as a step names it, in 32 bits; nothing for one that is no function of the thread and its launch. That of
/// mask_lt in lane 5 is 0x1f. Checked by Step.SpecialRegistersOfAThread.
[[nodiscard]] std::optional<std::uint64_t> special_of(std::uint32_t which, ThreadOfLaunch const& at);

/// Addresses of shared arrays, by symbol, and the end of the static ones.
struct PlacedArrays {
  std::vector<std::optional<std::uint64_t>> addresses{};
  std::uint64_t end = 0;
};

/// Places static arrays one after the other from `start` on, as they are declared, each at its alignment, and behind them dynamic ones,
/// which begin at one address if they have one alignment.
[[nodiscard]] PlacedArrays place_shared(std::vector<Variable> const& symbols, std::uint64_t start,
                                        std::function<std::uint64_t(std::uint32_t symbol)> const& align_of);

}  // namespace swizproof::program
