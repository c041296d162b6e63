// Cases of an access that are one case.
//
//   Sw<3,4,3> o smem_ptr[16b](unset) o (512,64):(64,1), row = lane/8 + 4*i: i and i + 2 are alike, 128 cases are two
//
// Law. The number of one variable grows by a period. In all cases, for every lane and base:
//   - the same lanes take part, and none leaves the tile;
//   - the lane's address is D bytes further, D the same number for all, a multiple of the instruction's bytes and of a bank's;
//   - each bit of its vector lies 8 D bits further.
// Then both cases cost the same (claim wavefronts/rotation: a move of all addresses by D rotates the banks),
// and a lane has the same fault in both, or none. So each case is alike to the one whose numbers are those modulo the periods.
// In the order of for_each_assignment() that one is the first of all that are alike, so the first case that costs most, or
// that has a fault, is among them. Checked by Repeats.CasesAPeriodApartAreAlike and Repeats.VerdictsAreThoseOfAllCases.
//
// The premise is one run of the placement on Motions (engine/motion.hpp) for each period that is tried, not a run for each case.
#pragma once

#include <swizproof/access/placement.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace swizproof {

/// How the cases of one variable repeat.
struct Repeat {
  std::uint64_t period = 1;  ///< in numbers of the variable; all of them if no two are known to be alike
  std::uint64_t bits = 0;    ///< by which a period moves the place of a vector, before any swizzle
};

/// The repeats of all variables, from bases up to `last_base`, on banks of so many bytes.
[[nodiscard]] std::vector<Repeat> repeats_of(Placement const& placement, unsigned bank_bytes,
                                             std::uint64_t last_base);

/// Cases to which no earlier one is alike, or 2^63 if there are more.
[[nodiscard]] std::uint64_t number_of_classes(std::span<Repeat const> repeats);

/// Cases that are alike: the values of the first, and how often each variable's period fits behind it, once at least.
struct AlikeCases {
  std::span<std::uint64_t const> values;
  std::span<std::uint64_t const> times;
  std::span<Repeat const> repeats;

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 1;
    for (std::uint64_t const t : times) all *= t;
    return all;
  }
  /// How much further than those of the first the places of each of these cases are, in bits: 0 for the first.
  [[nodiscard]] std::vector<std::uint64_t> distances() const;
};

/// Calls visit(AlikeCases) for the first case of each class, in the order of for_each_assignment().
template <class Visit>
void for_each_class(Placement const& placement, std::span<Repeat const> repeats, Visit const& visit) {
  auto const& variables = placement.variables();
  std::vector<std::uint64_t> index(variables.size(), 0), values(variables.size()), times(variables.size());
  while (true) {
    for (std::size_t i = 0; i < index.size(); ++i) {
      values[i] = variables[i].value(index[i]);
      times[i] = (variables[i].count - 1 - index[i]) / repeats[i].period + 1;
    }
    visit(AlikeCases{values, times, repeats});
    std::size_t i = index.size();
    while (i > 0 && ++index[i - 1] == repeats[i - 1].period) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace swizproof
