#include "hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace swizproof::flow_detail {

namespace {

/// The pitch with which all pairs of elements are in one place; 0 if no pitch is, or it is that of the array.
std::uint64_t pitch_of(std::vector<std::pair<std::uint64_t, std::uint64_t>> const& elements,
                       std::uint64_t width) {
  std::uint64_t pitch = 0;
  std::set<std::uint64_t> rows;
  for (auto const& [meant, found] : elements) {
    std::uint64_t const row = meant / width, column = meant % width;
    if (row == 0) continue;
    if (pitch == 0 && (found < column || (found - column) % row != 0)) return 0;
    if (pitch == 0) pitch = (found - column) / row;
    rows.insert(row);
  }
  bool const all = std::all_of(elements.begin(), elements.end(), [&](auto const& e) {
    return e.second == e.first / width * pitch + e.first % width;
  });
  return all && rows.size() > 1 && pitch != width ? pitch : 0;
}

/// The least factor of terms that is one of `count` elements from `first` on, from there.
std::optional<std::uint64_t> first_factor(std::vector<FlowTerm> const& terms, std::uint32_t first,
                                          std::uint64_t count) {
  std::optional<std::uint64_t> out;
  for (FlowTerm const& t : terms)
    for (std::uint32_t const f : t.factors)
      if (f >= first && f - first < count && (!out || f - first < *out)) out = f - first;
  return out;
}

}  // namespace

void note_moved(FlowKernel const& kernel, std::vector<FlowTerm> const& expected,
                std::vector<FlowTerm> const& found, Names const& names, MovedElements& elements) {
  for (std::uint32_t id = 1; id < kernel.arrays.size(); ++id) {
    std::uint64_t const count = kernel.arrays[id].size();
    auto const meant = first_factor(expected, names.canonical(id, 0), count),
               is = first_factor(found, names.canonical(id, 0), count);
    if (kernel.arrays[id].extents.size() > 1 && meant && is) elements[id].emplace_back(*meant, *is);
  }
}

std::vector<std::string> hints_of(FlowKernel const& kernel, ArrayUses const& uses,
                                  MovedElements const& elements) {
  std::vector<std::string> out;
  for (auto const& [id, types] : uses) {
    if (id == 0 || types.size() != 1) continue;
    FlowArray const& a = kernel.arrays[id];
    auto const [bits, letter] = *types.begin();
    bool const real = a.type[0] != 'i' && a.type[0] != 'u';
    if (letter == 'f' ? real && bits == a.bits : bits >= a.bits) continue;
    out.push_back(fmt::format("{} is given as {}, and the kernel accesses elements of {}", a.name, a.type,
                              letter == 'f' ? fmt::format("f{}", bits) : fmt::format("{} bits", bits)));
  }
  for (auto const& [id, pairs] : elements) {
    FlowArray const& a = kernel.arrays[id];
    if (std::uint64_t const pitch = pitch_of(pairs, a.extents.back()); pitch != 0)
      out.push_back(fmt::format("rows of {} are {} elements apart in the kernel, and {} as it is given",
                                a.name, pitch, a.extents.back()));
  }
  return out;
}

}  // namespace swizproof::flow_detail
