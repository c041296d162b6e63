// Cost of the searches: the shapes that accesses leave, each once, and the bill under a map of addresses.
#pragma once

#include <swizproof/analysis/find.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof {

/// log2 of the bytes that fill all banks once: 7.
[[nodiscard]] inline unsigned line_bits_of(Architecture const& arch) {
  return static_cast<unsigned>(std::countr_zero(arch.banks.row()));
}

/// The lanes of one case: bit positions, XORed with the first active lane's where only linear maps are searched.
struct WarpShape {
  std::uint32_t active = 0;
  std::array<std::uint64_t, warp_lanes> bits{};
  friend bool operator==(WarpShape const&, WarpShape const&) = default;
  friend bool operator<(WarpShape const& a, WarpShape const& b) {
    return std::tie(a.active, a.bits) < std::tie(b.active, b.bits);
  }
};

/// Addresses of an access, in all its cases.
struct WarpShapes {
  Instruction instruction{};
  unsigned ideal = 1;
  std::uint64_t weight = 1;
  std::vector<std::pair<WarpShape, std::uint64_t>>
      distinct{};          ///< distinct shapes, with the number of their cases
  std::uint64_t ever = 0;  ///< bits that some lane of some case has set
  std::uint64_t cases = 0;
};

/// Costs a shape under a map of bit positions.
template <class F>
Cost<std::uint32_t> cost_of(Architecture const& arch, Instruction instruction, WarpShape const& p,
                            F const& f) {
  WarpAccess<std::uint64_t> warp;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    warp.active[l] = (p.active >> l & 1) != 0;
    warp.address[l] = f(p.bits[l]) >> 3;
  }
  return cost(arch, instruction, warp);
}

/// The least that an access of this cost can cost under any map that keeps different words different and equal addresses equal:
/// a wavefront for each phase that has an active lane, and for each phase at all where idle ones cost one (H5).
[[nodiscard]] inline unsigned least_of(Architecture const& arch, Instruction instruction,
                                       Cost<std::uint32_t> const& here) {
  unsigned busy = 0;
  for (unsigned g = 0; g < here.phases.count; ++g) busy += here.degree[g] != 0 ? 1 : 0;
  return std::max(phase(arch, instruction).pays_idle ? here.phases.count : 1, busy);
}

/// The bill under a map of bit positions; nothing as soon as too_much(total, excess) holds for the sums so far.
template <class F, class TooMuch>
std::optional<Bill> bill_of(Architecture const& arch, std::vector<WarpShapes> const& all, F const& f,
                            TooMuch const& too_much) {
  Bill bill;
  for (WarpShapes const& patterns : all) {
    unsigned worst = 0;
    std::uint64_t total = 0;
    auto const excess = [&] { return bill.excess + excess_over(patterns.ideal, worst); };
    for (auto const& [pattern, count] : patterns.distinct) {
      unsigned const met = cost_of(arch, patterns.instruction, pattern, f).wavefronts;
      worst = std::max(worst, met);
      total += met * count;
      if (too_much(bill.total + total * patterns.weight, excess())) return std::nullopt;
    }
    bill.excess = excess();
    bill.total += total * patterns.weight;
    bill.wavefronts.push_back(worst);
    bill.totals.push_back(total);
  }
  return bill;
}

}  // namespace swizproof
