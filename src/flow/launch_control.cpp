#include "launch_control.hpp"

#include "execute.hpp"
#include "windows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

constexpr unsigned response_bytes = 16;

/// Clusters that a request may cancel: those of the grid that have not started.
std::vector<LaunchControl::First> candidates(Now const& now) {
  ClusterState const& cluster = now.block.cluster;
  auto const& grid = now.block.kernel.launch.grid;
  auto const& shape = now.block.kernel.cluster;
  std::vector<LaunchControl::First> out;
  std::size_t all = 0;
  for (std::uint32_t z = 0; z < grid[2]; z += shape[2])
    for (std::uint32_t y = 0; y < grid[1]; y += shape[1])
      for (std::uint32_t x = 0; x < grid[0]; x += shape[0]) {
        LaunchControl::First const first{x, y, z};
        auto const& gone = cluster.control.canceled;
        ++all;
        if (first != cluster.first && std::find(gone.begin(), gone.end(), first) == gone.end())
          out.push_back(first);
      }
  if (clusters_of(now.block.kernel).size() != all)
    now.refuse("a request to cancel a cluster, and only a part of the grid is executed");
  return out;
}

/// The response in this way of the cluster. Without ways it has failed, which each request may.
LaunchControl::Response response_of(Now const& now) {
  ClusterState& cluster = now.block.cluster;
  if (cluster.decisions == nullptr) return {};
  auto const others = candidates(now);
  auto const chosen = cluster.decisions->choose(static_cast<unsigned>(others.size()) + 1);
  if (!chosen)
    now.refuse(fmt::format(
        "a request may cancel any of {} clusters: more than {} ways, or {} choices of one, are not followed",
        others.size(), Decisions::most_ways, Decisions::most_conditions));
  if (*chosen == 0) return {};
  cluster.control.canceled.push_back(others[*chosen - 1]);
  return {true, others[*chosen - 1]};
}

/// A request behind an observed failure is undefined. [PTX ISA 9.0, 9.7.13.17]
void check_request(Now const& now, unsigned lane) {
  LaunchControl& control = now.block.cluster.control;
  for (LaunchControl::Event const& f : control.failures)
    if (f.rank == now.block.rank)
      throw FlowConflict{
          FlowFaultKind::misuse,
          fmt::format("{} requests to cancel a cluster, and {} has observed that a request failed",
                      now.block.units.thread(now.thread(lane)), now.block.units.thread(f.thread)),
          now.touch(lane),
          f.touch,
          isa::try_cancel,
          {},
          {},
          false};
  control.requests.push_back(
      {now.thread(lane), now.block.rank, now.block.clocks.now(now.thread(lane)), now.touch(lane)});
}

/// Writes the response in one block, and completes its bytes at the mbarrier there. The mbarrier is accessed by the generic proxy.
void respond(Now const& now, unsigned lane, std::uint64_t to, std::uint64_t where,
             std::pair<Name, Name> const& response) {
  BlockState& block = now.block;
  Clocks& clocks = block.clocks;
  unsigned const t = now.thread(lane);
  check_bounds(now, program::Space::shared, to, response_bytes, lane, "writes");
  check_window(now, where, lane, "uses an mbarrier in");
  unsigned const unit = block.mbarriers.copy_begins(where, now.operation(lane), clocks);
  // It ends behind its issue, which orders no memory.
  clocks.take({nullptr, clocks.merged({clocks.arrive(t, true)}).execution}, unit, true);
  clocks.tick(unit);
  Toucher const by = now.toucher(lane, 0, unit);
  for (unsigned i = 0; i < response_bytes; ++i) {
    Word byte;
    byte.named = 1, byte.part[0] = (i < 8 ? response.first : response.second) * 8 + i % 8;
    write_async(now, program::Space::shared, to + i, by, byte);
  }
  if (rank_at(to) != block.rank)
    block.lifetimes.access(rank_at(to), {now.index, now.warp.counts[now.index], unit});
  block.mbarriers.copied(where, response_bytes, unit, clocks);
}

/// The one name of all bytes of a half, in their order; 0 if they have several.
Name name_of_half(Names const& names, Word const& half) {
  Name out = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((half.named >> i & 1) == 0 || half.part[i] % 8 != i) return 0;
    Name const one = names.unmoved(half.part[i] / 8);
    if (i != 0 && one != out) return 0;
    out = one;
  }
  return out;
}

/// The block has observed a failure. A request without order may be behind it.
void observe_failure(Now const& now, unsigned lane) {
  BlockState& block = now.block;
  LaunchControl& control = block.cluster.control;
  for (LaunchControl::Event const& r : control.requests)
    if (r.rank == block.rank && !block.clocks.executed(r.thread, r.clock, now.thread(lane)))
      block.faults.doubt(
          fmt::format("{} may request to cancel a cluster behind the failure that {} observes, or before",
                      block.units.thread(r.thread), block.units.thread(now.thread(lane))),
          r.touch.line);
  control.failures.push_back(
      {now.thread(lane), block.rank, block.clocks.now(now.thread(lane)), now.touch(lane)});
}

}  // namespace

void try_cancel(Now const& now) {
  BlockState& block = now.block;
  bool const all = now.decoded.has("multicast::cluster::all");
  if (all) assume_cluster(now);
  block.assumed.insert(
      "clusterlaunchcontrol is as PTX ISA 9.0 documents it, and a request may fail or cancel any cluster of "
      "the "
      "grid that has not started: documented, not measured on a device");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const to = shared_address(now, now.in.operands[0], lane),
                        where = shared_address(now, now.in.operands[1], lane);
    check_bounds(now, program::Space::shared, to, response_bytes, lane, "writes", 0, true);
    check_window(now, where, lane, "uses an mbarrier in", true);
    check_request(now, lane);
    auto const half = [&] {
      return block.names.function("the response of clusterlaunchcontrol.try_cancel", Format::integer, 8,
                                  now.index);
    };
    std::pair<Name, Name> const response{half(), half()};
    block.cluster.control.responses[response] = response_of(now);
    for (unsigned rank = 0; rank < block.units.blocks; ++rank)
      if (all || rank == block.rank)
        respond(now, lane, std::uint64_t{rank} << window_shift | in_block(to),
                std::uint64_t{rank} << window_shift | in_block(where), response);
  }
}

void query_cancel(Now const& now) {
  BlockState& block = now.block;
  auto const& responses = block.cluster.control.responses;
  ptx::Operand const& into = now.in.operands[0];
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    WideWord const bytes = wide_operand(now, now.in.operands[1], lane);
    auto const at =
        responses.find({name_of_half(block.names, bytes.low), name_of_half(block.names, bytes.high)});
    if (at == responses.end()) now.refuse("16 bytes that are no response of clusterlaunchcontrol.try_cancel");
    LaunchControl::Response const& r = at->second;
    if (now.decoded.has("is_canceled")) {
      now.put(into, lane, plain(r.canceled ? 1 : 0));
      if (!r.canceled) observe_failure(now, lane);
      continue;
    }
    if (!r.canceled)
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::query_cancel,
                fmt::format("{} reads the first block of a request that has failed",
                            block.units.thread(now.thread(lane))));
    if (into.kind == ptx::Operand::Kind::vector) {
      if (into.parts.size() != 4) now.refuse_opcode();
      for (unsigned i = 0; i < 3; ++i) now.put(into.parts[i], lane, plain(r.first[i]));
      now.put(into.parts[3], lane, now.unknown(32, {}));
      continue;
    }
    std::size_t const axis = now.decoded.has("get_first_ctaid::x")   ? 0
                             : now.decoded.has("get_first_ctaid::y") ? 1
                             : now.decoded.has("get_first_ctaid::z") ? 2
                                                                     : 3;
    if (axis == 3) now.refuse_opcode();
    now.put(into, lane, plain(r.first[axis]));
  }
}

}  // namespace swizproof::flow_detail
