#include "barriers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

constexpr std::uint32_t warp_threads = 32;

FlowConflict misuse(BarrierArrival const& arrival, std::string text) {
  return {FlowFaultKind::misuse, std::move(text), arrival.touch, {}, isa::barrier, {}, {}, false};
}

FlowConflict unsynchronised(std::string text, FlowTouch const& second,
                            std::optional<FlowTouch> const& first) {
  return {FlowFaultKind::not_well_synchronised, std::move(text), second, first, isa::barrier, {}, {}, false};
}

}  // namespace

void NamedBarriers::check_order(std::uint64_t id, Barrier const& b, BarrierArrival const& arrival,
                                Clocks const& clocks) const {
  for (Participant const& p : b.now)
    if (p.warp == arrival.warp)
      return faults_.unsynchronised(
          unsynchronised(fmt::format("warp {} arrives again at barrier {} before it is complete",
                                     arrival.warp % block_warps_, id),
                         arrival.touch, p.touch));
  for (Participant const& p : b.before)
    if (!clocks.executed(p.arrival.thread, p.arrival.own, arrival.threads.front()))
      return faults_.unsynchronised(unsynchronised(
          fmt::format(
              "warp {} may arrive at barrier {} before warp {}: which warps meet there depends on the "
              "order",
              arrival.warp % block_warps_, id, p.warp % block_warps_),
          arrival.touch, p.touch));
}

std::vector<unsigned> NamedBarriers::arrive(std::uint64_t id, BarrierArrival const& arrival, unsigned live,
                                            Clocks& clocks) {
  if (id >= most)
    throw misuse(arrival, fmt::format("warp {} is at barrier {}: a block has barriers 0 to {}",
                                      arrival.warp % block_warps_, id, most - 1));
  if (arrival.count % warp_threads != 0)
    throw misuse(arrival, fmt::format("the count {} of barrier {} is no multiple of {}", arrival.count, id,
                                      warp_threads));
  Barrier& b = barriers_[id];
  std::uint32_t const all = block_warps_ * warp_threads;
  if (b.any && (b.count == 0 ? all : b.count) != (arrival.count == 0 ? all : arrival.count))
    throw misuse(arrival, fmt::format("barrier {} has the counts {} and {}", id, b.count == 0 ? all : b.count,
                                      arrival.count == 0 ? all : arrival.count));
  if (b.any && b.reduces != arrival.reduces)
    throw misuse(arrival, fmt::format("barrier.red and another instruction are at barrier {} together", id));
  check_order(id, b, arrival, clocks);
  b.any = true, b.reduces = arrival.reduces, b.count = arrival.count, ++b.warps;
  for (unsigned const t : arrival.threads) b.arrivals.push_back(clocks.arrive(t));
  b.now.push_back({arrival.warp, b.arrivals[b.arrivals.size() - arrival.threads.size()], arrival.touch});
  if (arrival.waits) b.waiting.push_back(arrival.warp), b.threads_of[arrival.warp] = arrival.threads;
  return complete(b, live, clocks);
}

std::vector<unsigned> NamedBarriers::complete(Barrier& b, unsigned live, Clocks& clocks) const {
  // A warp counts with its 32 threads, also where the block's last one has fewer.
  bool const enough = b.count == 0 ? b.warps >= std::max(live, 1U) : b.warps * warp_threads >= b.count;
  if (!b.any || !enough) return {};
  Clocks::Moments const all = clocks.merged(b.arrivals);
  std::vector<unsigned> const released = std::move(b.waiting);
  for (unsigned const w : released)
    for (unsigned const t : b.threads_of[w]) clocks.take(all, t);
  Barrier next;
  next.before = std::move(b.now);
  b = std::move(next);
  return released;
}

std::vector<std::vector<unsigned>> NamedBarriers::end_of_warp(unsigned live, Clocks& clocks) {
  std::vector<std::vector<unsigned>> released;
  for (auto& [id, b] : barriers_)
    if (b.any && b.count == 0) released.push_back(complete(b, live, clocks));
  return released;
}

bool ClusterBarrier::arrive(unsigned thread, bool relaxed, std::optional<Clocks::Arrival> const& released,
                            Clocks& clocks) {
  if (phase_of_[thread] != 0) return false;
  phase_of_[thread] = phase_ + 1;
  threads_.push_back(thread);
  if (relaxed && released) arrivals_.push_back(*released);
  arrivals_.push_back(clocks.arrive(thread, relaxed));
  return true;
}

void ClusterBarrier::depart(unsigned thread, Clocks& clocks) {
  if (complete_.execution) clocks.take(complete_, thread);
  phase_of_[thread] = 0;
}

void ClusterBarrier::end(unsigned thread, Clocks& clocks) {
  bool const arrived = phase_of_[thread] == phase_ + 1;
  (arrived ? ends_ : arrivals_).push_back(clocks.arrive(thread, true));
}

}  // namespace swizproof::flow_detail
