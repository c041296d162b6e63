// Collisions in a bank: the part of a phase that a verdict, a prediction and a picture show.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
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

/// One lane of a collision.
struct CollidingLane {
  unsigned lane = 0;
  std::uint64_t address = 0;  ///< bytes, of the lane
  std::uint64_t word = 0;     ///< bank word, one of this bank
};

/// Lanes of one phase that one bank serves one after the other. Text and JSON of every command show this value
/// (report.hpp).
struct Collision {
  unsigned phase = 0;
  unsigned bank = 0;
  bool by_lane = false;                ///< lanes that share a word count each (cp.async, H7)
  std::vector<CollidingLane> lanes{};  ///< the lowest lane of each distinct word; all lanes if by_lane
};

template <class W, if_number<W> = 0>
[[nodiscard]] Collision collision_of(WarpAccess<W> const& access, unsigned phase, unsigned bank,
                                     BankUse<W> const& use) {
  Collision out{phase, bank, use.by_lane, {}};
  for (std::size_t const i : use.served())
    out.lanes.push_back({use.lanes[i], access.address[use.lanes[i]], use.words[i]});
  return out;
}

/// The fullest bank of a phase, the lowest where there are several.
template <class W, if_number<W> = 0>
[[nodiscard]] Collision fullest_of_phase(Instruction const& instruction, WarpAccess<W> const& access,
                                         Phases phases, unsigned phase) {
  auto const uses = bank_uses(instruction, access, phases, phase);
  auto const bank = std::max_element(uses.begin(), uses.end(), [](auto const& a, auto const& b) {
    return a.served().size() < b.served().size();
  });
  return collision_of(access, phase, static_cast<unsigned>(bank - uses.begin()), *bank);
}

/// The fullest bank of the fullest phase at `cost`, which is that of the access.
template <class W, if_number<W> = 0>
[[nodiscard]] Collision fullest(Instruction const& instruction, WarpAccess<W> const& access,
                                Cost<std::uint32_t> const& cost) {
  auto const phase = std::max_element(cost.degree.begin(), cost.degree.begin() + cost.phases.count);
  return fullest_of_phase(instruction, access, cost.phases,
                          static_cast<unsigned>(phase - cost.degree.begin()));
}

/// Every bank of a phase that serves more than one lane.
template <class W, if_number<W> = 0>
[[nodiscard]] std::vector<Collision> collisions(Instruction const& instruction, WarpAccess<W> const& access,
                                                Phases phases, unsigned phase) {
  std::vector<Collision> all;
  auto const uses = bank_uses(instruction, access, phases, phase);
  for (unsigned bank = 0; bank < uses.size(); ++bank)
    if (Collision here = collision_of(access, phase, bank, uses[bank]); here.lanes.size() > 1)
      all.push_back(std::move(here));
  return all;
}

}  // namespace swizproof
