// Instructions that campaigns `atomics` and `cluster` measure by the clock: they are in no table of the cost model; and the time each may take.
#pragma once

#include "campaign/cluster_model.hpp"
#include "campaign/pattern.hpp"

#include <swizproof/hardware/atomic.hpp>
#include <swizproof/hardware/timing.hpp>

#include <limits>
#include <vector>

namespace swizproof::gpu {

/// Which assumption says what it takes.
enum class ClockedLaw : std::uint8_t {
  none,              ///< nothing does; the record shows what it took
  arithmetic,        ///< H14
  counting,          ///< H14
  counting_back,     ///< H14, with the result
  compare_and_swap,  ///< H14
  remote_load,       ///< H15
  remote_store,      ///< H15
  remote_async,      ///< H15
  at_home,           ///< H15: a plain load
};

/// An instruction as PTX names it, behind its number: the kernels are compiled by number.
struct ClockedForm {
  char const* name;
  unsigned bytes;
  ClockedLaw law;
};

/// The units of campaign `atomics`.
inline constexpr ClockedForm atomic_forms[] = {
    {"red.shared.add.u32", 4, ClockedLaw::arithmetic},
    {"atom.shared.add.u32", 4, ClockedLaw::arithmetic},
    {"red.shared.min.u32", 4, ClockedLaw::arithmetic},
    {"atom.shared.max.s32", 4, ClockedLaw::arithmetic},
    {"red.shared.inc.u32", 4, ClockedLaw::arithmetic},
    {"atom.shared.and.b32", 4, ClockedLaw::arithmetic},
    {"red.shared.xor.b32", 4, ClockedLaw::arithmetic},
    {"atom.shared.exch.b32", 4, ClockedLaw::arithmetic},
    {"atom.shared.cas.b32", 4, ClockedLaw::compare_and_swap},
    {"red.shared.add.u32 1", 4, ClockedLaw::counting},
    {"red.shared.add.s32 -1", 4, ClockedLaw::arithmetic},
    {"atom.shared.add.u32 1", 4, ClockedLaw::counting_back},
    {"atom.shared.exch.b64", 8, ClockedLaw::arithmetic},
    {"atom.shared.cas.b64", 8, ClockedLaw::compare_and_swap},
    {"red.shared.add.f32", 4, ClockedLaw::none},
    {"red.shared.add.noftz.f16x2", 4, ClockedLaw::none},
    {"red.shared.add.f64", 8, ClockedLaw::none},
    {"red.shared.add.u64", 8, ClockedLaw::none},
    {"atom.shared.min.u64", 8, ClockedLaw::none},
    {"red.shared.or.b64", 8, ClockedLaw::none},
};

/// The units of campaign `cluster`: to the memory of the other block of two; `own` ones name the own block in the cluster's window.
inline constexpr ClockedForm cluster_forms[] = {
    {"ld.shared::cluster.b32", 4, ClockedLaw::remote_load},
    {"ld.shared::cluster.b64", 8, ClockedLaw::remote_load},
    {"ld.shared::cluster.b128", 16, ClockedLaw::remote_load},
    {"st.shared::cluster.b32", 4, ClockedLaw::remote_store},
    {"st.shared::cluster.b64", 8, ClockedLaw::remote_store},
    {"st.shared::cluster.b128", 16, ClockedLaw::remote_store},
    {"st.async.b32", 4, ClockedLaw::remote_async},
    {"st.async.b64", 8, ClockedLaw::remote_async},
    {"st.async.v4.b32", 16, ClockedLaw::remote_async},
    {"red.async.add.u32", 4, ClockedLaw::none},
    {"red.shared::cluster.add.u32", 4, ClockedLaw::none},
    {"atom.shared::cluster.cas.b32", 4, ClockedLaw::none},
    {"own ld.shared::cluster.b32", 4, ClockedLaw::at_home},
    {"own ld.shared::cluster.b128", 16, ClockedLaw::at_home},
};

/// Cycles of an instruction, in eighths, that the cost model of the form allows.
[[nodiscard]] inline Eighths eighths_of(ClockedForm const& form, WarpAccess<std::uint32_t> const& warp) {
  auto const remote = [&](Remote what) {
    RemoteTime const time = remote_time(what, form.bytes, warp);
    return Eighths{static_cast<int>(time.least), static_cast<int>(time.most)};
  };
  auto const wavefronts = [](std::uint32_t n) {
    return eighths_of(Operation::st_shared, static_cast<int>(n));
  };
  switch (form.law) {
    case ClockedLaw::arithmetic:
      return wavefronts(atomic_wavefronts(warp, form.bytes));
    case ClockedLaw::compare_and_swap:
      return wavefronts(atomic_wavefronts(warp, form.bytes, Atomic::compare_and_swap));
    case ClockedLaw::counting:
      return wavefronts(atomic_wavefronts(warp, form.bytes, Atomic::counting));
    case ClockedLaw::counting_back: {
      std::uint32_t const words = atomic_wavefronts(warp, form.bytes, Atomic::counting);
      int const eighths = static_cast<int>(8 * words + (atomic_wavefronts(warp, form.bytes) - words) / 2);
      return {eighths - 1, eighths + 4};
    }
    case ClockedLaw::remote_load:
      return remote(Remote::load);
    case ClockedLaw::remote_store:
      return remote(Remote::store);
    case ClockedLaw::remote_async:
      return remote(Remote::store_async);
    case ClockedLaw::at_home: {
      int const words = static_cast<int>(cost(sm_90, {Operation::ld_shared, form.bytes}, warp).wavefronts);
      return {8 * words - 4, 8 * words + 8};
    }
    case ClockedLaw::none:
      break;
  }
  return {0, std::numeric_limits<int>::max()};
}

/// Rounds through the pages of a measurement, and again twice as many: the difference is without overhead.
inline constexpr unsigned clocked_rounds = 6, clocked_warps = 8;
/// Instructions of that difference.
inline constexpr unsigned clocked_instructions = clocked_rounds * pages * clocked_warps;
/// True if a form may take `rest` cycles behind the overhead for so many.
[[nodiscard]] inline bool clocked_agrees(ClockedForm const& form, WarpAccess<std::uint32_t> const& warp,
                                         std::int64_t rest) {
  Eighths const time = eighths_of(form, warp);
  std::int64_t const instructions = clocked_instructions;
  return 8 * rest >= time.first * instructions && 8 * rest < time.end * instructions;
}
/// Patterns of each kind that are measured, and of those the first that are kept.
inline constexpr std::uint64_t clocked_patterns = 1000, kept_clocked_patterns = 40;

/// A pattern and what it is called: regular ones, then those of every kind that `wavefronts` draws.
struct ClockedPattern {
  char const* kind;
  std::uint64_t number;
  Pattern pattern;
  bool kept;  ///< in the record
};

/// Patterns of a form: 7,024.
[[nodiscard]] inline std::vector<ClockedPattern> patterns_of(ClockedForm const& form, std::uint64_t seed) {
  std::vector<ClockedPattern> all;
  unsigned const row = 128 / form.bytes;
  auto const add = [&](char const* kind, std::uint64_t number, std::uint32_t active, auto const& unit) {
    Pattern p{};
    p.active = active;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) p.unit[lane] = static_cast<std::uint16_t>(unit(lane));
    all.push_back({kind, number, p, true});
  };
  for (unsigned k = 1; k <= warp_lanes; k *= 2) {
    std::uint32_t const first_k = k == warp_lanes ? ~0U : (1U << k) - 1;
    add("lanes_to_a_word", k, ~0U, [&](unsigned lane) { return lane / k; });
    add("words_of_a_bank", k, ~0U, [&](unsigned lane) { return lane % k * row + lane / k % row; });
    add("lanes_alone", k, first_k, [](unsigned lane) { return lane; });
    add("lanes_at_one_word", k, first_k, [](unsigned) { return 0U; });
  }
  for (unsigned kind = 0; kind < drawn_kinds; ++kind)
    for (std::uint64_t n = 0; n < clocked_patterns; ++n)
      all.push_back({kind_names[kind], n,
                     draw(seed, n, static_cast<Kind>(kind), {Operation::st_shared, form.bytes}),
                     n < kept_clocked_patterns});
  return all;
}

}  // namespace swizproof::gpu
