// Degrees of a warp's phases, and H4, with vectors of the compiler: the numbers of degree_by_pairs() and paired() in bank.hpp,
// for plain numbers at run time. Where there are no such vectors, in kernels and in constant expressions, degree_by_table()
// gives them. That they agree is checked by tests/unit/hardware/bank_properties.cpp.
//
// A lane is a field of 16 bits, eight fields are a word, four words are the warp:
//
//   word j: lanes 2j, 2j + 8, 2j + 16, 2j + 24, 2j + 1, 2j + 9, 2j + 17, 2j + 25
//
// A word compared with another one, or with its own turned halves, compares pairs of lanes of all four phases of 8 lanes at once;
// phases of 16 and 32 lanes take more turns. Nothing depends on a single lane, so every access of a kind takes the same time.
#pragma once

#include <swizproof/hardware/instruction.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_is_constant_evaluated) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/// Defined where the compiler has what this needs.
#define SWIZPROOF_VECTORS
#endif
#endif

#if defined(SWIZPROOF_VECTORS)

namespace swizproof::detail::vectors {

using Four [[gnu::vector_size(16)]] = std::uint32_t;
using Two [[gnu::vector_size(16)]] = std::uint64_t;
using Fields [[gnu::vector_size(16)]] = std::int16_t;
using Bytes [[gnu::vector_size(16)]] = std::uint8_t;

/// A number, or a truth (0 or -1), of each lane.
struct WarpFields {
  Fields word[4];
};

template <unsigned N>
using Constant = std::integral_constant<unsigned, N>;

/// Each lane's own number, which is no slot.
[[nodiscard, gnu::always_inline]] inline Fields own(unsigned word) {
  return Fields{32, 40, 48, 56, 33, 41, 49, 57} + static_cast<std::int16_t>(2 * word);
}

/// a if the truth holds, else b.
[[nodiscard, gnu::always_inline]] inline Fields where(Fields truth, Fields a, Fields b) {
  return (truth & a) | (~truth & b);
}

/// f of each word: `f(j)` with j a constant.
template <class F>
[[nodiscard, gnu::always_inline]] inline WarpFields each_word(F const& f) {
  return {{f(Constant<0>{}), f(Constant<1>{}), f(Constant<2>{}), f(Constant<3>{})}};
}

/// A warp of the numbers below 2^16 that `four(l)` gives of lanes l to l + 3.
template <class F>
[[nodiscard, gnu::always_inline]] inline WarpFields warp_of(F const& four) {
  Four const a = four(0) | four(8) << 16, b = four(16) | four(24) << 16;
  Four const c = four(4) | four(12) << 16, d = four(20) | four(28) << 16;
  return {{reinterpret_cast<Fields>(__builtin_shufflevector(a, b, 0, 4, 1, 5)),
           reinterpret_cast<Fields>(__builtin_shufflevector(a, b, 2, 6, 3, 7)),
           reinterpret_cast<Fields>(__builtin_shufflevector(c, d, 0, 4, 1, 5)),
           reinterpret_cast<Fields>(__builtin_shufflevector(c, d, 2, 6, 3, 7))}};
}

/// The low 32 bits of four addresses, each divided by 2^shift.
template <class W>
[[nodiscard, gnu::always_inline]] inline Four four_units(std::array<W, warp_lanes> const& address,
                                                         unsigned lane, unsigned shift) {
  if constexpr (sizeof(W) == 4) {
    Four units;
    __builtin_memcpy(&units, address.data() + lane, sizeof units);
    return units >> shift;
  } else {
    Two low, high;
    __builtin_memcpy(&low, address.data() + lane, sizeof low);
    __builtin_memcpy(&high, address.data() + lane + 2, sizeof high);
    return __builtin_shufflevector(reinterpret_cast<Four>(low >> shift),
                                   reinterpret_cast<Four>(high >> shift), 0, 2, 4, 6);
  }
}

/// -1 for each of four lanes that takes part.
[[nodiscard, gnu::always_inline]] inline Four four_present(std::array<bool, warp_lanes> const& active,
                                                           unsigned lane) {
  std::uint32_t four = 0;
  __builtin_memcpy(&four, active.data() + lane, sizeof four);
  auto const bytes = reinterpret_cast<Bytes>(Four{four, 0, 0, 0});
  Bytes const pairs =
      __builtin_shufflevector(bytes, Bytes{}, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  return -reinterpret_cast<Four>(
      __builtin_shufflevector(reinterpret_cast<Fields>(pairs), Fields{}, 0, 8, 1, 9, 2, 10, 3, 11));
}

/// True if every lane takes part.
[[nodiscard, gnu::always_inline]] inline bool all_present(std::array<bool, warp_lanes> const& active) {
  std::uint64_t eight[4];
  __builtin_memcpy(&eight, active.data(), sizeof eight);
  return (eight[0] & eight[1] & eight[2] & eight[3]) == 0x0101010101010101;
}

/// Field f of the result is field f ^ Turn.
template <unsigned Turn>
[[nodiscard, gnu::always_inline]] inline Fields turned(Fields fields) {
  auto four = reinterpret_cast<Four>(fields);
  if constexpr (Turn / 2 == 1) four = __builtin_shufflevector(four, four, 1, 0, 3, 2);
  if constexpr (Turn / 2 == 2) four = __builtin_shufflevector(four, four, 2, 3, 0, 1);
  if constexpr (Turn / 2 == 3) four = __builtin_shufflevector(four, four, 3, 2, 1, 0);
  if constexpr (Turn % 2 == 1) four = four << 16 | four >> 16;
  return reinterpret_cast<Fields>(four);
}

/// -1 for each field that comes after the field it is compared with: in another word always, in its own where f ^ Turn < f.
template <unsigned Turn, bool OneWord>
[[nodiscard, gnu::always_inline]] inline Fields later() {
  if constexpr (!OneWord) return ~Fields{};
  constexpr unsigned top = Turn >= 4 ? 4 : Turn >= 2 ? 2 : 1;
  constexpr auto of = [](unsigned f) { return static_cast<std::int16_t>((f & top) != 0 ? -1 : 0); };
  return Fields{of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

template <unsigned Turn, unsigned... Pair, class F>
[[gnu::always_inline]] inline void at_turn(std::integer_sequence<unsigned, Pair...>, F const& visit) {
  auto const one = [&](auto pair) __attribute__((always_inline)) {
    constexpr unsigned v = decltype(pair)::value / 4, w = decltype(pair)::value % 4;
    if constexpr (v < w || (v == w && Turn != 0))
      visit(Constant<v>{}, Constant<w>{}, Constant<Turn>{}, later<Turn, v == w>());
  };
  (one(Constant<Pair>{}), ...);
}

/// Calls visit(v, w, turn, later): the fields of turned<turn>(word v) and of word w where `later` holds are all pairs of lanes of a
/// phase, each once; word v has the lane that is earlier in one order of all lanes.
template <unsigned Lanes, class F>
[[gnu::always_inline]] inline void each_pair(F const& visit) {
  constexpr std::make_integer_sequence<unsigned, 16> pairs{};
  at_turn<0>(pairs, visit);
  at_turn<4>(pairs, visit);
  if constexpr (Lanes >= 16) at_turn<1>(pairs, visit), at_turn<5>(pairs, visit);
  if constexpr (Lanes == 32)
    at_turn<2>(pairs, visit), at_turn<3>(pairs, visit), at_turn<6>(pairs, visit), at_turn<7>(pairs, visit);
}

/// True if no two lanes of the warp have one slot: each sets the bit of its own.
[[nodiscard, gnu::always_inline]] inline bool apart(WarpFields const& slot) {
  std::array<std::uint16_t, warp_lanes> number;
  __builtin_memcpy(&number, &slot, sizeof number);
  std::uint64_t taken = 0;
  for (std::uint16_t const n : number) taken |= std::uint64_t{1} << n;
  return __builtin_popcountll(taken) == warp_lanes;
}

/// Number of lanes of its phase that have a lane's slot: those of its own word and of earlier ones. In the last word they are all.
template <unsigned Lanes>
[[nodiscard, gnu::always_inline]] inline WarpFields met_by(WarpFields const& slot) {
  WarpFields met{};
  each_pair<Lanes>([&](auto v, auto w, auto turn, Fields) __attribute__((always_inline)) {
    met.word[w] -= turned<turn>(slot.word[v]) == slot.word[w];
  });
  return met;
}

/// True for a lane if an earlier lane of its phase has the same unit; each `part` holds 16 bits of the units.
template <unsigned Lanes, class... Warp>
[[nodiscard, gnu::always_inline]] inline WarpFields repeated(Warp const&... part) {
  WarpFields found{};
  each_pair<Lanes>([&](auto v, auto w, auto turn, Fields later) __attribute__((always_inline)) {
    found.word[w] |= ((turned<turn>(part.word[v]) == part.word[w]) & ... & later);
  });
  return found;
}

[[nodiscard, gnu::always_inline]] inline bool any(WarpFields const& truth) {
  Two const all = reinterpret_cast<Two>(truth.word[0] | truth.word[1] | truth.word[2] | truth.word[3]);
  return (all[0] | all[1]) != 0;
}

[[nodiscard, gnu::always_inline]] inline Fields larger_of(Fields a, Fields b) { return a > b ? a : b; }

/// The largest number of each phase.
template <unsigned Lanes>
[[nodiscard, gnu::always_inline]] inline std::array<std::uint32_t, 4> largest(WarpFields const& count) {
  Fields most = larger_of(larger_of(count.word[0], count.word[1]), larger_of(count.word[2], count.word[3]));
  most = larger_of(most, turned<4>(most));
  if constexpr (Lanes >= 16) most = larger_of(most, turned<1>(most));
  if constexpr (Lanes == 32) most = larger_of(most, turned<2>(most));
  auto const of = [&](unsigned field) { return static_cast<std::uint32_t>(most[field]); };
  if constexpr (Lanes == 8) return {of(0), of(1), of(2), of(3)};
  if constexpr (Lanes == 16) return {of(0), of(2), 0, 0};
  return {of(0), 0, 0, 0};
}

/// The same for units of any width. `low` holds their low 16 bits; the slot of a lane that takes no part is its own.
template <unsigned Lanes, class W>
[[nodiscard, gnu::always_inline]] inline WarpFields repeated_wide(std::array<W, warp_lanes> const& address,
                                                                  unsigned shift, WarpFields const& slot,
                                                                  WarpFields const& low) {
  auto const part = [&](unsigned bits) {
    return warp_of([&](unsigned lane) { return four_units(address, lane, shift + bits) & 0xffff; });
  };
  if constexpr (sizeof(W) == 4)
    return repeated<Lanes>(slot, low, part(16));
  else
    return repeated<Lanes>(slot, low, part(16), part(32), part(48));
}

/// Number of slots that fit next to the lanes' own numbers.
inline constexpr unsigned most_slots = 32;

/// The degree of each phase of `Lanes` lanes: the most distinct units of 2^shift bytes in one slot, or, if not `merging`, the
/// most lanes. `slots` is a power of two, at most 32.
template <unsigned Lanes, class W>
[[nodiscard]] inline std::array<std::uint32_t, 4> degrees(std::array<W, warp_lanes> const& address,
                                                          std::array<bool, warp_lanes> const& active,
                                                          unsigned shift, unsigned slots, bool merging) {
  W bits = 0;
  for (W const a : address) bits |= a;
  bool const all = all_present(active), narrow = bits >> shift < 0xffff;  // then -1 is no unit
  WarpFields low = warp_of([&](unsigned lane) { return four_units(address, lane, shift); });
  if (!narrow) low = warp_of([&](unsigned lane) { return four_units(address, lane, shift) & 0xffff; });
  auto const mask = static_cast<std::int16_t>(slots - 1);
  WarpFields slot = each_word([&](auto j) { return low.word[j] & mask; });
  WarpFields here = each_word([](auto) { return ~Fields{}; });
  if (!all) {
    here = warp_of([&](unsigned lane) { return four_present(active, lane) & 0xffff; });
    slot = each_word([&](auto j) { return where(here.word[j], slot.word[j], own(j)); });
    low = each_word([&](auto j) { return low.word[j] | ~here.word[j]; });
  }
  WarpFields met{};
  if (Lanes < 32 || !apart(slot)) met = met_by<Lanes>(slot);  // 32 lanes have many pairs
  if (merging && any(met)) {
    WarpFields const again = narrow ? repeated<Lanes>(low) : repeated_wide<Lanes>(address, shift, slot, low);
    if (any(again)) {
      slot = each_word([&](auto j) { return where(again.word[j], own(j), slot.word[j]); });
      met = met_by<Lanes>(slot);
    }
  }
  return largest<Lanes>(each_word([&](auto j) { return met.word[j] - here.word[j]; }));
}

/// H4, as detail::paired().
template <unsigned Bit, class W>
[[nodiscard]] inline bool paired(std::array<W, warp_lanes> const& address,
                                 std::array<bool, warp_lanes> const& active) {
  if (active[0] && active[Bit] && address[0] != address[Bit]) return false;  // so it is with most
  Four different{};
  auto const partner = [](Four four) {
    return reinterpret_cast<Four>(turned<2 * Bit>(reinterpret_cast<Fields>(four)));
  };
  bool const all = all_present(active);
  for (unsigned lane = 0; lane < warp_lanes; lane += 4) {
    Four const low = four_units(address, lane, 0);
    Four here = low ^ partner(low);
    if constexpr (sizeof(W) == 8) {
      Four const high = four_units(address, lane, 32);
      here |= high ^ partner(high);
    }
    if (!all) {
      Four const present = four_present(active, lane);
      here &= present & partner(present);
    }
    different |= here;
  }
  auto const bits = reinterpret_cast<Two>(different);
  return (bits[0] | bits[1]) == 0;
}

}  // namespace swizproof::detail::vectors

#endif
