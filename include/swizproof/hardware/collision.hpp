// Collisions in a bank: the part of a phase that a verdict, a prediction and a picture show.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace swizproof {

/// Use of one bank by the lanes of one phase. `lanes[i]` accesses `words[i]`, lanes in their order.
template <class W>
struct BankUse {
  std::vector<unsigned> lanes{};
  std::vector<W> words{};
  bool by_lane = false;  ///< lanes that share a word count each (cp.async, H7)

  /// Entries that the bank serves one after the other: one for each distinct word, its lowest lane's, or one for
  /// each lane if `by_lane`. As indices of `lanes`.
  [[nodiscard]] std::vector<std::size_t> served() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (by_lane || std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i), words[i]) ==
                         words.begin() + static_cast<std::ptrdiff_t>(i))
        all.push_back(i);
    return all;
  }
};

/// Every bank's use by a phase, in words (H1). The most that a bank serves is the degree that cost() gives. Checked by
/// Collision.IsTheDegree.
template <class W, if_number<W> = 0>
[[nodiscard]] std::vector<BankUse<W>> bank_uses(Instruction const& instruction, WarpAccess<W> const& access,
                                                Phases const& phases, unsigned phase) {
  std::vector<BankUse<W>> uses(phases.banks.count);
  for (BankUse<W>& use : uses) use.by_lane = phases.row != nullptr && phases.row->by_lane;
  for (unsigned place = phase * phases.size; place < (phase + 1) * phases.size; ++place) {
    unsigned const lane = phases.lane(place);
    if (!access.active[lane]) continue;
    for (unsigned byte = 0; byte < std::max(instruction.bytes, phases.banks.bytes);
         byte += phases.banks.bytes) {
      auto const asked = bank_word(Address<W>{static_cast<W>(access.address[lane] + byte)}, phases.banks);
      BankUse<W>& use = uses[static_cast<std::size_t>(bank(asked, phases.banks).number)];
      use.lanes.push_back(lane);
      use.words.push_back(asked.number);
    }
  }
  return uses;
}

/// The fullest bank of the fullest phase, the lowest where there are several, and what it serves.
template <class W>
struct Collision {
  unsigned phase = 0;
  unsigned bank = 0;
  BankUse<W> use{};
};

/// The same of one phase.
template <class W, if_number<W> = 0>
[[nodiscard]] Collision<W> fullest_of_phase(Instruction const& instruction, WarpAccess<W> const& access,
                                            Phases phases, unsigned phase) {
  auto const uses = bank_uses(instruction, access, phases, phase);
  auto const bank = std::max_element(uses.begin(), uses.end(), [](auto const& a, auto const& b) {
    return a.served().size() < b.served().size();
  });
  return {phase, static_cast<unsigned>(bank - uses.begin()), *bank};
}

/// Colliding lanes at `cost`, which is that of the access.
template <class W, if_number<W> = 0>
[[nodiscard]] Collision<W> fullest(Instruction const& instruction, WarpAccess<W> const& access,
                                   Cost<std::uint32_t> const& cost) {
  auto const phase = std::max_element(cost.degree.begin(), cost.degree.begin() + cost.phases.count);
  return fullest_of_phase(instruction, access, cost.phases,
                          static_cast<unsigned>(phase - cost.degree.begin()));
}

}  // namespace swizproof
