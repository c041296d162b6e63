#include "race_crowd.hpp"

#include "race_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace swizproof::kernel_detail {

namespace {

using Id = std::uint32_t;
using Number = ThreadNumbers::Number;

constexpr std::size_t warps_of_group = 4;

/// For each warp, how many of its threads may make one of the guards true; nothing if the threads of a block are not known.
std::optional<std::vector<std::uint64_t>> by_warp(program::Program const& program,
                                                  execution::Execution const& execution,
                                                  BlockShapes const& shapes, std::vector<Id> const& guards) {
  if (!shapes.given && shapes.dimensions != 1) return std::nullopt;
  std::uint32_t const threads = threads_of(shapes);
  std::vector<std::uint64_t> out;
  for (std::uint32_t first = 0; first < threads; first += 32) {
    std::uint64_t count = 0;
    bool elected = false;
    for (std::uint32_t t = first; t < std::min(first + 32, threads); ++t) {
      auto const may = [&](Number leader) {
        ThreadNumbers of(program, execution, shapes, t, leader);
        return std::any_of(guards.begin(), guards.end(), [&](Id g) {
          Number const truth = of.of(g);
          return !truth || *truth != 0;
        });
      };
      if (may(ThreadNumbers::no_lane))
        ++count;
      else
        elected = elected || may(std::nullopt);
    }
    out.push_back(count + (elected ? 1 : 0));
  }
  return out;
}

/// True if each warpgroup with a thread that may make one of `guards` true has one that may make one of `others` true.
bool has_each_warpgroup(program::Program const& program, execution::Execution const& execution,
                        BlockShapes const& shapes, std::vector<Id> const& guards,
                        std::vector<Id> const& others) {
  auto const warps = by_warp(program, execution, shapes, guards);
  auto const there = by_warp(program, execution, shapes, others);
  if (!warps || !there) return false;
  for (std::size_t first = 0; first < warps->size(); first += warps_of_group) {
    std::uint64_t here = 0, other = 0;
    for (std::size_t w = first; w < std::min(first + warps_of_group, warps->size()); ++w)
      here += (*warps)[w], other += (*there)[w];
    if (here != 0 && other == 0) return false;
  }
  return true;
}

}  // namespace

std::uint64_t crowd_of(program::Program const& program, execution::Execution const& execution,
                       BlockShapes const& shapes, std::vector<Id> const& guards) {
  auto const warps = by_warp(program, execution, shapes, guards);
  return warps ? std::accumulate(warps->begin(), warps->end(), std::uint64_t{0}) : threads_of(shapes);
}

bool of_one_warp(program::Program const& program, execution::Execution const& execution,
                 BlockShapes const& shapes, std::vector<Id> const& guards) {
  auto const warps = by_warp(program, execution, shapes, guards);
  return warps &&
         std::count(warps->begin(), warps->end(), 0U) + 1 >= static_cast<std::ptrdiff_t>(warps->size());
}

std::string why_too_many(program::Program const& program, execution::Execution const& execution,
                         BlockShapes const& shapes, Rings::Crowd const& crowd, bool& of_warpgroups) {
  auto const guards_of = [&](std::set<std::uint32_t> const& accesses) {
    std::vector<Id> guards;
    for (std::uint32_t const a : accesses) guards.push_back(execution.accesses[a].guard);
    return guards;
  };
  std::set<std::uint32_t> all = crowd.accesses;
  all.insert(crowd.of_warpgroups.begin(), crowd.of_warpgroups.end());
  if (crowd_of(program, execution, shapes, guards_of(all)) <= crowd.count) return {};
  std::uint64_t const threads = crowd_of(program, execution, shapes, guards_of(crowd.accesses));
  if (threads > crowd.count)
    return fmt::format("{} threads may arrive at an mbarrier, or access its stage, that counts {}", threads,
                       crowd.count);
  of_warpgroups = true;
  if (threads == crowd.count && has_each_warpgroup(program, execution, shapes, guards_of(crowd.of_warpgroups),
                                                   guards_of(crowd.arrivals)))
    return {};
  return fmt::format(
      "no thread may arrive for a warpgroup whose wgmma reads a stage, or fewer threads than the {} that its "
      "mbarrier counts",
      crowd.count);
}

}  // namespace swizproof::kernel_detail
