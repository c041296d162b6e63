#include "sample_launches.hpp"

#include "parameter_terms.hpp"
#include "wavefront_bound.hpp"

#include <algorithm>
#include <array>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::Warp;
using program::MemoryAccess;
using program::Special;

std::uint64_t SampleLaunches::Launch::value_of(Leaf const& of) const {
  constexpr std::array<std::uint64_t, 4> values{0, 1, 600, 1U << 20};
  std::uint32_t const mixed = (of.extra + static_cast<std::uint32_t>(of.offset) / 4 + 1) * mix;
  return mix == 0 ? parameter : values[mixed >> 30];
}

std::vector<Assumption> SampleLaunches::numbers_of(Launch const& launch, ExecutedAccess const& access,
                                                   unsigned warp) {
  std::vector<Assumption> numbers;
  for (Id const counter : kernel_.execution.counters) {
    if (counter == 0) continue;
    if (kernel_.iterations.counts_around(counter, access.loop))
      numbers.push_back({counter, false, 64, 0});
    else if (std::uint64_t const n = kernel_.iterations.count(warp, counter); n != 0)
      numbers.push_back({counter, false, 64, n - 1});
  }
  for (Id const id : kernel_.origins.leaves_of({access.address, access.guard})) {
    Leaf const& l = *kernel_.origins.leaf_at(id);
    auto const s = static_cast<Special>(l.extra);
    bool const special = l.kind == Leaf::Kind::special;
    bool const its = special && s >= Special::ctaid_x && s <= Special::ctaid_z,
               blocks = special && s >= Special::nctaid_x && s <= Special::nctaid_z;
    auto const given = special ? kernel_.launch.blocks(s) : std::nullopt;
    if (its || blocks || free_parameter(kernel_, id, 0) == id)
      numbers.push_back({id, false, 64,
                         its      ? given ? std::min<std::uint64_t>(launch.block, *given - 1) : launch.block
                         : blocks ? given ? *given : kernel_.launch.whole_clusters(s, launch.blocks)
                                  : launch.value_of(l)});
  }
  return numbers;
}

Origin SampleLaunches::data_in(Warp& warp, MemoryAccess const& memory, ExecutedAccess const& access) {
  Origins& origins = kernel_.origins;
  LaneTruths const guard = warp.truth(access.guard);
  std::uint32_t const active = warp.present() & ~guard.no;
  if (active == 0) return {};
  Origin const decides = origins.origin_of_guard(warp, access.guard, guard);
  if ((warp.present() & guard.yes) == 0 && !decides.data) return {};
  Lanes const v = warp.value(access.address, 32);
  Origin from;
  if (v.state == Lanes::State::varying) from = origins.origin_of_varying(warp, access.address, v.why);
  if (v.state == Lanes::State::stuck) from = origins.origin(warp.request(v.why).atom);
  if (!from.data) return {};
  auto const bound = bound_of_varying(kernel_, warp, memory, access.address, active);
  return bound && *bound <= ideal_wavefronts(*kernel_.options.arch, *memory.instruction) ? Origin{} : from;
}

Origin SampleLaunches::data_in_a_launch(MemoryAccess const& memory, ExecutedAccess const& access,
                                        unsigned warp) {
  constexpr std::uint32_t mix = 2654435761U;
  constexpr std::array<Launch, 12> launches{{{1, 1, 0},
                                             {64, 64, 63},
                                             {1U << 20, 1U << 20, 0},
                                             {1000, 1, 0},
                                             {0, 64, 0, mix},
                                             {0, 64, 1, mix * 3},
                                             {0, 64, 0, mix * 5},
                                             {0, 64, 1, mix * 7},
                                             {0, 64, 0, mix * 9},
                                             {0, 64, 1, mix * 11},
                                             {0, 64, 0, mix * 13},
                                             {0, 64, 1, mix * 15}}};
  std::vector<Id> const leaves = kernel_.origins.leaves_of({access.address, access.guard});
  if (std::none_of(leaves.begin(), leaves.end(),
                   [&](Id id) { return is_load(*kernel_.origins.leaf_at(id)); }))
    return {};
  auto const [memo, fresh] =
      known_.try_emplace({access.address, access.guard, access.loop, memory.instruction->bytes});
  if (!fresh) return memo->second;
  unsigned const number = warp == Warp::every ? 0 : warp;
  for (Launch const& launch : launches) {
    // Beyond the limit of steps for as many again.
    if (memo->second.data || kernel_.warps.steps() / 2 > kernel_.options.steps) break;
    memo->second = data_in(kernel_.warps.under(number, numbers_of(launch, access, number)), memory, access);
  }
  return memo->second;
}

}  // namespace swizproof::kernel_detail
