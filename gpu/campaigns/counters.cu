// counters: wavefronts as the hardware counts them, one kernel a pattern, compared with the cost model of bank.hpp.
//
// A second measurement that shares nothing with the clock: one warp issues the instruction 16 times and
// the counter of its kind says how many wavefronts the data stage processed. Compared is where the
// counter shows the cost model's number (H11, hardware/counter.hpp); the others are only recorded.
#include "counters.hpp"
#include "issue.cuh"

#include <swizproof/hardware/counter.hpp>

#include <algorithm>
#include <type_traits>

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

struct Subject {
  char const* name;
  Instruction instruction;
  void (*kernel)(Pattern, Data, char const*);
};

/// The instructions that this campaign asks of.
template <std::size_t... Known>
std::vector<Subject> subjects(std::index_sequence<Known...>) {
  std::vector<Subject> all;
  auto const add = [&](auto known) {
    constexpr InstructionName n = instruction_names[decltype(known)::value];
    constexpr Instruction i = n.instruction;
    if constexpr (is_counted(i))
      all.push_back({n.text.data(), i, once<i.operation, i.bytes, i.matrices, i.transposed>});
  };
  (add(std::integral_constant<std::size_t, Known>{}), ...);
  return all;
}

}  // namespace

Record counters(Device const&, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  constexpr std::size_t shared = (pages + 1) * page_bytes;
  Buffer<char> global(64 * warp_lanes);
  Record record;
  record.counts["mismatches"] = record.counts["patterns"] = 0;
  std::vector<std::string> names;
  for (std::string_view const operation : counter_operations)
    names.push_back("smsp__" + wavefront_counter(operation));
  std::vector<char const*> metrics;
  for (std::string const& name : names) metrics.push_back(name.c_str());
  for (Subject const& s : subjects(std::make_index_sequence<instruction_names.size()>{})) {
    allow_shared(s.kernel, shared);
    std::vector<std::pair<Kind, Pattern>> patterns;
    for (unsigned kind = 0; kind < drawn_kinds; ++kind)
      for (std::uint64_t i = 0; i < counted_patterns; ++i)
        patterns.emplace_back(static_cast<Kind>(kind), draw(settings.seed, counted_number(i, part),
                                                            static_cast<Kind>(kind), s.instruction));
    auto const values = count(metrics, patterns.size(), [&] {
      for (auto const& [kind, pattern] : patterns)
        s.kernel<<<1, warp_lanes, shared>>>(pattern, Data{}, global.data());
    });
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      auto const& [kind, pattern] = patterns[i];
      auto const shown = values[i][static_cast<std::size_t>(s.instruction.operation)];
      auto const warp = access(pattern, s.instruction);
      std::uint32_t const law = cost(sm_90, s.instruction, warp).wavefronts;
      bool const compared = counted(s.instruction, warp) == Counted::law;
      bool const mismatch = compared && shown != static_cast<double>(pages * law);
      record.counts["compared"] += compared;
      ++record.counts["patterns"];
      record.counts["mismatches"] += mismatch;
      record.counts[std::string("mismatches_of/") + s.name] += mismatch;
      record.rows[std::string("sample/") + s.name].push_back(
          "[\"" + std::string(kind_names[static_cast<std::size_t>(kind)]) + "\"," +
          std::to_string(static_cast<long>(shown)) + ",\"" + hexadecimal(pattern, s.instruction) + "\"]");
    }
  }
  record.counts["units"] = record.counts["patterns"];
  record.counts["units_of_all_parts"] = part.index == 0 ? record.counts["patterns"] * part.count : 0;
  record.longest["instructions_per_measurement"] = pages;
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
