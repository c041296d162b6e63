// H11: the wavefronts of shared memory that the profiler counts, compared with the cost model (H5).
//
//   instruction, a warp of it                               the counter shows
//   ld, st of 8 and 16 bytes a lane: see below
//   every other                                             wavefronts of the cost model
//   st, all lanes active                                    wavefronts of the cost model
//   st, some lane inactive                                  the sum of the phases' degrees: idle phases are free, so at most the cost model
//   ld, all lanes active at addresses that all differ       wavefronts of the cost model
//   ld, else                                                from 1 to the sum of the degrees of phases that never merge (H3), which
//                                                           may be more than the cost model: what the counter merges is not what H4 merges
//
// Unit: wavefronts of one executed warp instruction. Counters: smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_* of
// Nsight Compute and CUPTI. [found by measurement] Campaign `counters` on an H200: of 2,352 patterns, 2,107 show the cost
// model's number, 70 stores the sum of degrees, and 175 loads a number within the bounds. Checked by tests/unit/hardware/counter_test.cpp
// and, with the record, by tests/unit/records/evidence_test.cpp.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <array>
#include <string>
#include <string_view>

namespace swizproof {

/// Value of the counter for an access: the cost model's number, the sum of the phases' degrees, or only the bounds of H11.
enum class Counted : std::uint8_t { law, degrees, bounded };

/// True if the counter may show more than the cost model's wavefronts of this instruction, at some addresses.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool counted_above_law(Instruction const& instruction) {
  return instruction.operation == Operation::ld_shared && instruction.bytes >= 8;
}

/// Value of the counter for an access. `counted(ld.shared.b128, 32 lanes at one address) == Counted::bounded`
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Counted counted(Instruction const& instruction,
                                                              WarpAccess<W> const& access) {
  bool const load = counted_above_law(instruction);
  if (!load && (instruction.operation != Operation::st_shared || instruction.bytes < 8)) return Counted::law;
  bool full = true, distinct = true;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    full = full && access.active[i];
    for (unsigned j = 0; load && j < i; ++j) distinct = distinct && access.address[i] != access.address[j];
  }
  if (full && distinct) return Counted::law;
  return load ? Counted::bounded : Counted::degrees;
}

/// The sum of the phases' degrees, wavefronts without H4's merging and with idle phases free: what the counter shows of
/// Counted::degrees, and the most that it shows of Counted::bounded. One lane's st.shared.b128: 1, where the cost model says 4.
template <class W, if_number<W> = 0>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t sum_of_degrees(Architecture const& arch,
                                                                           Instruction const& instruction,
                                                                           WarpAccess<W> const& access) {
  auto const apart = detail::serve(access, detail::phases_of(arch, instruction), instruction);
  std::uint32_t sum = 0;
  for (unsigned g = 0; g < apart.phases.count; ++g) sum += apart.degree[g];
  return sum;
}

/// Profiler's name of an operation in its counters, by Operation.
inline constexpr std::array<std::string_view, 5> counter_operations{"ld", "st", "ldsm", "stsm", "ldgsts"};

/// The counter of H11 without its unit (`smsp__`, `sm__`). `wavefront_counter("ld")` is
/// sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
[[nodiscard]] inline std::string wavefront_counter(std::string_view operation) {
  return "sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" + std::string(operation) + ".sum";
}

namespace detail {
/// Lane 0 of a warp alone, at address 0.
inline constexpr WarpAccess<std::uint32_t> lane_0{{}, {true}};
}  // namespace detail
static_assert(cost(sm_90, {Operation::st_shared, 16}, detail::lane_0).wavefronts == 4);
static_assert(sum_of_degrees(sm_90, {Operation::st_shared, 16}, detail::lane_0) == 1);
static_assert(counted({Operation::st_shared, 16}, detail::lane_0) == Counted::degrees);
static_assert(counted({Operation::ld_shared, 16}, detail::lane_0) == Counted::bounded);
static_assert(counted({Operation::ld_shared, 4}, detail::lane_0) == Counted::law);

}  // namespace swizproof
