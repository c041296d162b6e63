// counters: wavefronts as the hardware counts them, one kernel a pattern, against the law of bank.hpp.
//
// A second measurement that shares nothing with the clock: one warp issues the instruction 16 times and
// the counter of its kind says how many wavefronts the data stage processed. Loads and
// stores of 8 and 16 bytes are compared only where all lanes are active, loads only at distinct addresses:
// in the others this counter is not the cycles' number (gpu/README.md), and they are only recorded.
#include "counters.hpp"
#include "issue.cuh"

#include <algorithm>
#include <cmath>

namespace swizproof::gpu {
namespace {

template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed>
__global__ void once(Pattern const pattern, Data const data, char const* global) {
  extern __shared__ unsigned char memory[];
  auto const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  std::uint32_t const page = (start + page_bytes - 1) / page_bytes * page_bytes;
  unsigned const lane = threadIdx.x;
  std::uint32_t sink[pages][4] = {};
  if ((pattern.active >> lane & 1) != 0)
    issue_all<Op, Bytes, Matrices, Transposed>(std::make_integer_sequence<unsigned, pages>{},
                                               page + pattern.unit[lane] * Bytes, global + lane * Bytes, data,
                                               sink);
  keep_alive<Op>(page, sink);
  if constexpr (Op == Operation::cp_async) asm volatile("cp.async.wait_all;" ::: "memory");
}

constexpr char const* metrics[] = {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
                                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum",
                                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"};

struct Subject {
  char const* name;
  Instruction instruction;
  void (*kernel)(Pattern, Data, char const*);
};

template <Operation Op, unsigned Bytes, unsigned Matrices = 0, bool Transposed = false>
Subject subject(char const* name) {
  return {name, {Op, Bytes, Matrices, Transposed}, once<Op, Bytes, Matrices, Transposed>};
}

std::vector<Subject> subjects() {
  using enum Operation;
  return {subject<ld_shared, 1>("ld.shared.b8"),    subject<ld_shared, 2>("ld.shared.b16"),
          subject<ld_shared, 4>("ld.shared.b32"),   subject<ld_shared, 8>("ld.shared.b64"),
          subject<ld_shared, 16>("ld.shared.b128"), subject<st_shared, 1>("st.shared.b8"),
          subject<st_shared, 2>("st.shared.b16"),   subject<st_shared, 4>("st.shared.b32"),
          subject<st_shared, 8>("st.shared.b64"),   subject<st_shared, 16>("st.shared.b128"),
          subject<ldmatrix, 16, 1>("ldmatrix.x1"),  subject<ldmatrix, 16, 2>("ldmatrix.x2"),
          subject<ldmatrix, 16, 4>("ldmatrix.x4"),  subject<ldmatrix, 16, 4, true>("ldmatrix.x4.trans"),
          subject<stmatrix, 16, 1>("stmatrix.x1"),  subject<stmatrix, 16, 2>("stmatrix.x2"),
          subject<stmatrix, 16, 4>("stmatrix.x4"),  subject<stmatrix, 16, 4, true>("stmatrix.x4.trans"),
          subject<cp_async, 4>("cp.async.b32"),     subject<cp_async, 8>("cp.async.b64"),
          subject<cp_async, 16>("cp.async.b128")};
}

/// Whether counter and cycles count the same thing: loads and stores of 8 and 16 bytes must have no idle
/// groups, the loads no equal addresses.
bool comparable(Pattern const& pattern, Instruction instruction) {
  bool const load = instruction.operation == Operation::ld_shared;
  if ((!load && instruction.operation != Operation::st_shared) || instruction.bytes < 8) return true;
  bool distinct = true;
  for (unsigned i = 0; i < warp_lanes; ++i)
    for (unsigned j = 0; j < i; ++j) distinct = distinct && pattern.unit[i] != pattern.unit[j];
  return pattern.active == 0xffffffff && (distinct || !load);
}

}  // namespace

Record counters(Device const&, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  constexpr std::size_t shared = (pages + 1) * page_bytes;
  Buffer<char> global(64 * warp_lanes);
  Record record;
  record.counts["mismatches"] = record.counts["patterns"] = 0;
  for (Subject const& s : subjects()) {
    allow_shared(s.kernel, shared);
    std::vector<std::pair<Kind, Pattern>> patterns;
    for (unsigned kind = 0; kind < drawn_kinds; ++kind)
      for (std::uint64_t i = 0; i < counted_patterns; ++i)
        patterns.emplace_back(static_cast<Kind>(kind), draw(settings.seed, counted_number(i, part),
                                                            static_cast<Kind>(kind), s.instruction));
    auto const values = count({std::begin(metrics), std::end(metrics)}, patterns.size(), [&] {
      for (auto const& [kind, pattern] : patterns)
        s.kernel<<<1, warp_lanes, shared>>>(pattern, Data{}, global.data());
    });
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      auto const& [kind, pattern] = patterns[i];
      auto const counted = values[i][static_cast<std::size_t>(s.instruction.operation)];
      std::uint32_t const law = cost(sm_90, s.instruction, access(pattern, s.instruction)).wavefronts;
      bool const compared = comparable(pattern, s.instruction);
      bool const mismatch = compared && counted != static_cast<double>(pages * law);
      record.counts["compared"] += compared;
      ++record.counts["patterns"];
      record.counts["mismatches"] += mismatch;
      record.counts[std::string("mismatches_of/") + s.name] += mismatch;
      record.rows[std::string("sample/") + s.name].push_back(
          "[\"" + std::string(kind_names[static_cast<std::size_t>(kind)]) + "\"," +
          std::to_string(static_cast<long>(counted)) + ",\"" + hexadecimal(pattern, s.instruction) + "\"]");
    }
  }
  record.counts["units"] = record.counts["patterns"];
  record.counts["units_of_all_parts"] = part.index == 0 ? record.counts["patterns"] * part.count : 0;
  record.longest["instructions_per_measurement"] = pages;
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
