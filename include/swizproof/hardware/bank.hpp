// Banks of shared memory, and the cost model that says how many wavefronts a warp instruction costs.
//
// Every assumption about hardware has a number. H1 to H7, of the cost model, are in this file. Next to it are H8 (tma.hpp), H9 (wgmma.hpp),
// H10 (fragment.hpp), H11 (counter.hpp: the profiler's counts), H12 (timing.hpp: cycles), H13 (descriptor.hpp) and H14 (atomic.hpp) and H18 (shared_arrays.hpp: where arrays lie); in
// `campaign` H15 (cluster_model.hpp: other blocks' memory) and H16 (contention_model.hpp: bandwidth that warps, wgmma and copies share).
//
//  H1  Shared memory has 32 banks of 4 bytes: word = address / 4, bank = word mod 32.
//      [NVIDIA, CUDA C++ Programming Guide 13.1, section 20.4.3]            campaigns wavefronts, counters
//  H2  Lanes that touch any byte of the same word do not conflict, in loads (broadcast) and in
//      stores (one lane wins). So the cost of a bank is its number of *distinct words*.
//      [Programming Guide 20.4.3]                                           campaigns wavefronts, counters
//  H3  An access of more than 4 bytes a lane is served in phases of consecutive lanes: 32 lanes for
//      up to 4 bytes, 16 for 8, 8 for 16.
//      [CUTLASS implicit_gemm_convolution.md, after GTC'19 S9593]           campaigns wavefronts, counters
//  H4  Loads of 8 and 16 bytes serve twice as many lanes at once if, over the whole warp, every
//      active lane l whose partner l^1 is active has the partner's address, or the same for l^2.
//      Never stores, never ldmatrix.
//      [NVIDIA forum 77228 for compute capability 7.x]                      campaign wavefronts
//  H5  wavefronts = the sum over phases of the phase's degree; for loads and stores at least the number
//      of phases, since the registers of all 32 lanes pass through the pipe whether they are active or
//      not. A store whose data is the zero register has none to pass and costs the sum alone: 1.01
//      cycles for one lane's STS.128 of RZ, 4.02 of real data (H200, 8 warps). Counters show the sum.
//      [found by measurement]                                               campaigns wavefronts, counters
//  H6  ldmatrix and stmatrix xN: one phase for each of the N matrices, the 8 lanes 8i..8i+7 that
//      give matrix i its row addresses; .trans changes nothing, other lanes' addresses are ignored.
//      [PTX ISA 9.1, 9.7.14.5.15; and measured]                             campaigns wavefronts, counters, ldmatrix
//  H7  cp.async is served in the phases of a store of its width, but lanes at one word do conflict: the
//      cost of a bank is its number of *lanes*. 32 lanes to one address cost 32.
//      [found by measurement; global addresses consecutive]      campaigns counters, wavefronts (3 on)
//
// Confirmed on an H200 (sm_90) by the campaigns named, whose records are in gpu/evidence; gpu/README.md
// has the figures and the dates. The basis of other architectures is in architecture.hpp. The numbers above are data there (banks,
// phases, partners, which lanes count), and `swizproof-gpu learn` finds them on any card.
#pragma once

#include <swizproof/core/units.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/degree.hpp>

#include <array>

namespace swizproof {

inline constexpr unsigned bank_count = usual_banks.count;  ///< H1
inline constexpr unsigned bank_bytes = usual_banks.bytes;  ///< H1

/// The bank word that holds a byte (H1). `bank_word(Address{0x84u}).number == 33`
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr BankWord<W> bank_word(Address<W> a, Banks banks = usual_banks) {
  return {a.bytes / banks.bytes};
}

/// The bank of a word (H1). `bank(BankWord{33u}).number == 1`
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Bank<W> bank(BankWord<W> w, Banks banks = usual_banks) {
  return {w.number % banks.count};
}

/// Phases of an instruction's lanes: `count` phases of `size` lanes each, in the order of `row`.
struct Phases {
  unsigned count;
  unsigned size;
  Banks banks = usual_banks;
  Phase const* row = nullptr;  ///< row of the architecture's table; none: lanes in their order, words (H2)
  /// The lane at a place of the order: the lanes of phase p are those from place p * size on.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned lane(unsigned place) const {
    return in_order() ? place : row->order[place];
  }
  /// True if its phases are consecutive lanes. An order is one of all 32 lanes: ldmatrix.x1 has none.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool in_order() const {
    return row == nullptr || row->in_order || count * size != warp_lanes;
  }
  [[nodiscard]] friend constexpr bool operator==(Phases a, Phases b) {
    return a.count == b.count && a.size == b.size;
  }
};

/// Wavefronts above the least that the bytes need: 0 is good. `excess_over(4, 6) == 2`
[[nodiscard]] constexpr unsigned excess_over(unsigned ideal, unsigned wavefronts) {
  return wavefronts > ideal ? wavefronts - ideal : 0;
}

/// Phases that the cost model counts: sm_90 has up to 4, 32 lanes by 8.
inline constexpr unsigned most_phases = 8;

/// A warp's addresses of kind W: what each lane accesses, and whether it takes part.
template <class W>
struct WarpAccess {
  std::array<W, warp_lanes> address;
  std::array<truth_of<W>, warp_lanes> active;
};

/// Cost of an access (H5). `degree[g]` is the most distinct words that phase g has in one bank.
template <class Count>
struct Cost {
  Count wavefronts;
  std::array<Count, most_phases> degree;
  Phases phases;
};

namespace detail {

// An aligned access of 4, 8 or 16 bytes takes 1, 2 or 4 whole words. So words are compared and counted
// in units of the access: equal words <=> equal units, equal banks <=> equal slots of units.

/// log2 of the bytes of a unit: at least a bank word.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned log2_unit(unsigned bytes, Banks banks = usual_banks) {
  if (banks.bytes == 4) return bytes <= 4 ? 2 : bytes == 8 ? 3 : 4;
  unsigned const most = bytes > banks.bytes ? bytes : banks.bytes;
  return most <= 1 ? 0 : most == 2 ? 1 : most == 4 ? 2 : most == 8 ? 3 : most == 16 ? 4 : 5;
}

/// Units that fill the banks once: 32, 16 or 8.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t slots_of(unsigned bytes,
                                                                     Banks banks = usual_banks) {
  return banks.row() >> log2_unit(bytes, banks);
}

/// Distinct words in the fullest bank (H1, H2) among `lanes` lanes from `first` on, as a formula:
/// every pair of lanes is compared. If not `merging` (H7), each lane counts as a word of its own.
template <class W>
[[nodiscard]] constexpr count_of<W> degree_by_pairs(WarpAccess<W> const& access, unsigned first,
                                                    unsigned lanes, unsigned bytes, bool merging = true,
                                                    Banks banks = usual_banks) {
  W const& some = access.address[first];
  std::array<W, warp_lanes> unit = access.address;
  std::array<W, warp_lanes> slot = access.address;
  std::array<truth_of<W>, warp_lanes> fresh = access.active;  // no earlier lane has this unit
  count_of<W> most = tally(some, truth_of<W>(false));
  for (unsigned i = 0; i < lanes; ++i) {
    unit[i] = shr(access.address[first + i], log2_unit(bytes, banks));
    slot[i] = unit[i] & (slots_of(bytes, banks) - 1);
    truth_of<W> repeated = false;
    for (unsigned j = 0; merging && j < i; ++j)
      repeated = repeated || (access.active[first + j] && unit[j] == unit[i]);
    fresh[i] = access.active[first + i] && !repeated;
    count_of<W> met = tally(some, fresh[i]);  // fresh units so far in the slot of this one
    for (unsigned j = 0; j < i; ++j) met = met + tally(some, fresh[i] && (fresh[j] && slot[j] == slot[i]));
    most = larger(most, met);
  }
  return most;
}

/// The same number for numbers, in one pass: for kernels and constant expressions. A bit of a 64-bit filter remembers each unit,
/// so that earlier lanes are searched for it only if the bit is taken. Equal to degree_by_pairs()
/// (tests/unit/hardware/bank_properties.cpp) and many times faster.
template <unsigned Lanes, class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t degree_by_table(WarpAccess<W> const& access,
                                                                            unsigned first, unsigned bytes,
                                                                            bool merging = true,
                                                                            Banks banks = usual_banks) {
  unsigned const shift = log2_unit(bytes, banks);
  std::uint32_t const slot_mask = slots_of(bytes, banks) - 1;
  // The common case: a phase has as many lanes as there are slots, and each takes its own.
  if (slot_mask < 32) {
    std::uint32_t taken = 0;
    for (unsigned i = first; i < first + Lanes; ++i)
      taken |= std::uint32_t{access.active[i]} << (access.address[i] >> shift & slot_mask);
    if (Lanes <= slot_mask + 1 && taken == (std::uint32_t{2} << slot_mask) - 1) return 1;
  }
  std::uint8_t count[most_banks] = {};
  std::uint64_t filter = 0;
  std::uint32_t most = 0;
  for (unsigned i = first; i < first + Lanes; ++i) {
    if (!access.active[i]) continue;
    W const unit = access.address[i] >> shift;
    std::uint64_t const bit = std::uint64_t{1} << (unit * std::uint64_t{0x9E3779B97F4A7C15} >> 58);
    if (merging && (filter & bit) != 0) {
      bool repeated = false;  // searched to the end: short, and the same work in every lane of a kernel
      for (unsigned j = first; j < i; ++j) repeated |= access.active[j] && access.address[j] >> shift == unit;
      if (repeated) continue;
    }
    filter |= bit;
    std::uint32_t const met = ++count[unit & slot_mask];
    most = met > most ? met : most;
  }
  return most;
}

/// The degrees of the first `count` phases of `Lanes` lanes: by vectors where there are any (degree.hpp), else by the table.
template <unsigned Lanes, class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::array<std::uint32_t, most_phases> degrees_of(
    WarpAccess<W> const& access, unsigned count, unsigned bytes, bool merging = true,
    Banks banks = usual_banks) {
  std::array<std::uint32_t, most_phases> degree{};
#if defined(SWIZPROOF_VECTORS)
  if constexpr (Lanes >= 8)
    if (!__builtin_is_constant_evaluated() && slots_of(bytes, banks) <= vectors::most_slots) {
      auto const four = vectors::degrees<Lanes>(access.address, access.active, log2_unit(bytes, banks),
                                                slots_of(bytes, banks), merging);
      for (unsigned g = 0; g < four.size(); ++g) degree[g] = g < count ? four[g] : 0;
      return degree;
    }
#endif
  for (unsigned g = 0; g < count; ++g)
    degree[g] = degree_by_table<Lanes>(access, g * Lanes, bytes, merging, banks);
  return degree;
}

/// The access with its lanes in the order in which they are served.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr WarpAccess<W> in_order_of(Phase const& row,
                                                                        WarpAccess<W> const& access) {
  WarpAccess<W> ordered = access;
  for (unsigned place = 0; place < warp_lanes; ++place) {
    ordered.address[place] = access.address[row.order[place]];
    ordered.active[place] = access.active[row.order[place]];
  }
  return ordered;
}

/// H4: every active lane whose partner is active has the partner's address, for partner l^bit.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr truth_of<W> paired(WarpAccess<W> const& access, unsigned bit) {
  truth_of<W> all = true;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if ((lane & bit) != 0) continue;
    all = all && (!(access.active[lane] && access.active[lane | bit]) ||
                  access.address[lane] == access.address[lane | bit]);
    if constexpr (is_number<W>)
      if (!all) return false;
  }
  return all;
}

/// H4: the address of lane l^1 everywhere, or that of lane l^2, or of such other partners as there are.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr truth_of<W> merges(WarpAccess<W> const& access,
                                                                 unsigned partners = partners_1_and_2) {
#if defined(SWIZPROOF_VECTORS)
  if constexpr (is_number<W>)
    if (!__builtin_is_constant_evaluated() && partners == partners_1_and_2)
      return vectors::paired<1>(access.address, access.active) ||
             vectors::paired<2>(access.address, access.active);
#endif
  truth_of<W> any = false;
  for (unsigned bit = 1; bit < warp_lanes; bit *= 2)
    if ((partners & bit) != 0) any = any || paired(access, bit);
  return any;
}

/// The degrees of all phases of consecutive lanes, and their sum, for loads and stores at least the number of phases (H5).
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Cost<count_of<W>> serve_in_order(WarpAccess<W> const& access,
                                                                               Phases const& phases,
                                                                               Instruction instruction) {
  unsigned const bytes = instruction.bytes;
  Phase const& row = *phases.row;
  bool const merging = !row.by_lane;
  unsigned const least = row.pays_idle ? phases.count : 1;
  count_of<W> const zero = tally(access.address[0], truth_of<W>(false));
  Cost<count_of<W>> cost{zero, {}, phases};
  if constexpr (is_number<W>) {
    cost.degree = phases.size == 8    ? degrees_of<8>(access, phases.count, bytes, merging, phases.banks)
                  : phases.size == 16 ? degrees_of<16>(access, phases.count, bytes, merging, phases.banks)
                  : phases.size == 32 ? degrees_of<32>(access, phases.count, bytes, merging, phases.banks)
                                      : degrees_of<4>(access, phases.count, bytes, merging, phases.banks);
  } else {
    for (auto& degree : cost.degree) degree = zero;
    for (unsigned g = 0; g < phases.count; ++g)
      cost.degree[g] = degree_by_pairs(access, g * phases.size, phases.size, bytes, merging, phases.banks);
  }
  for (unsigned g = 0; g < phases.count; ++g) cost.wavefronts = cost.wavefronts + cost.degree[g];
  cost.wavefronts = larger(cost.wavefronts, like(cost.wavefronts, least));
  return cost;
}

/// The same of phases of any lanes.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Cost<count_of<W>> serve(WarpAccess<W> const& access,
                                                                      Phases const& phases,
                                                                      Instruction instruction) {
#if defined(__CUDA_ARCH__)  // one copy of the code: it is long there
  WarpAccess<W> const ordered = phases.in_order() ? access : in_order_of(*phases.row, access);
  return serve_in_order(ordered, phases, instruction);
#else
  if (phases.in_order()) return serve_in_order(access, phases, instruction);
  return serve_in_order(in_order_of(*phases.row, access), phases, instruction);
#endif
}

/// The phases of an instruction, merged (H4) or not.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Phases phases_of(Architecture const& arch,
                                                               Instruction instruction, bool merged = false) {
  Phase const& row = phase(arch, instruction);
  unsigned const size = lanes_together(row, instruction, merged);
  return {instruction.lanes() / size, size, arch.banks, &row};
}

}  // namespace detail

/// The cost model H5 with every phase's degree, for numbers. Precondition: each active address is a
/// multiple of `instruction.bytes`. For ldmatrix and stmatrix the lanes that give addresses must be
/// active. 32 lanes reading one column of 128-byte rows with ld.shared.b32 cost 32 wavefronts.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Cost<std::uint32_t> cost(Architecture const& arch,
                                                                       Instruction instruction,
                                                                       WarpAccess<W> const& access) {
  Phase const& row = phase(arch, instruction);
  bool const merged = row.merged_lanes != 0 && detail::merges(access, row.partners);
  return detail::serve(access, detail::phases_of(arch, instruction, merged), instruction);
}

/// The cost model H5 for any word: the wavefronts of one warp instruction, as a formula. Preconditions as
/// for cost(). Engines: SMT through W = Term; the number itself through cost().
template <class W>
[[nodiscard]] constexpr count_of<W> wavefronts(Architecture const& arch, Instruction instruction,
                                               WarpAccess<W> const& access) {
  if constexpr (is_number<W>) {
    return cost(arch, instruction, access).wavefronts;
  } else {
    Phase const& row = phase(arch, instruction);
    auto const apart = detail::serve(access, detail::phases_of(arch, instruction), instruction).wavefronts;
    if (row.merged_lanes == 0) return apart;
    auto const together = detail::serve(access, detail::phases_of(arch, instruction, true), instruction);
    return select(detail::merges(access, row.partners), together.wavefronts, apart);
  }
}

}  // namespace swizproof
