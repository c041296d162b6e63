// Instructions that order the threads of a block: barriers, mbarriers, fences, flags. barriers.hpp, mbarriers.hpp and order.hpp have the rules.
#include "execute.hpp"
#include "windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

namespace {

/// Lets warps go on that have met at a barrier; each of them has the votes of all.
void release(BlockState& block, std::vector<unsigned> const& warps) {
  Votes all;
  for (unsigned const w : warps) {
    Votes const& one = block.warps[w].votes;
    all.yes += one.yes, all.no += one.no;
    all.named.insert(all.named.end(), one.named.begin(), one.named.end());
  }
  for (unsigned const w : warps) block.warps[w].votes = all;
  for (unsigned const w : warps) block.warps[w].waits = false, block.warps[w].passed = true;
}

/// Completes the phase of the cluster's barrier that all threads have arrived at which have not ended.
void end_cluster_phase(BlockState& block) {
  unsigned left = 0;
  for (Warp const& warp : block.warps) left += static_cast<unsigned>(std::popcount(warp.live));
  block.cluster.barrier.end_phase(
      left, [&](unsigned t) { return takes_part(block.warps[t / 32].live, t % 32); }, block.clocks);
}

/// The predicates of a warp's threads at bar.red.
Votes votes_of(Now const& now) {
  Votes votes;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    Word const p = now.operand(now.in.operands.back(), lane, 1);
    if (p.named != 0)
      votes.named.push_back(p);
    else
      ++(p.number != 0 ? votes.yes : votes.no);
  }
  return votes;
}

/// The result of bar.red: how many predicates are true, or if all or one of them are.
void put_votes(Now const& now) {
  Votes const& v = now.warp.votes;
  bool const counts = now.decoded.has("popc"), all = now.decoded.has("and");
  bool const decided = v.named.empty() || (!counts && (all ? v.no != 0 : v.yes != 0));
  Word const first = v.named.empty() ? Word{} : v.named.front();
  bool const alike =
      !counts && v.yes + v.no == 0 && !now.in.operands.back().negated &&
      std::all_of(v.named.begin(), v.named.end(), [&](Word const& w) { return w.part == first.part; });
  Word const result = alike ? first
                      : !decided
                          ? now.function_of(fmt::format("vote {} {} {}", now.decoded.text, v.yes, v.no),
                                            counts ? 32 : 1, v.named)
                      : counts ? plain(v.yes)
                               : plain(all ? (v.no == 0 ? 1 : 0) : (v.yes != 0 ? 1 : 0));
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) now.put(now.in.operands[0], lane, result);
}

}  // namespace

// ------------------------------------------------------------------------------------------ barriers

/// bar and barrier: whole warps arrive. False if the warp waits.
bool barrier(Now const& now) {
  Warp& warp = now.warp;
  bool const reduces = now.decoded.has("red");
  if (warp.passed) {
    if (reduces) put_votes(now);
    return warp.passed = false, true;
  }
  unsigned const first = static_cast<unsigned>(std::countr_zero(now.mask));
  BarrierArrival arrival{warp.number, {}, now.touch(first, true), 0, !now.decoded.has("arrive"), reduces};
  // PTX ISA: bar is barrier.aligned, which all threads of the warp execute.
  bool const aligned = now.decoded.parts[0] == "bar" || now.decoded.has("aligned");
  if (now.mask != warp.live) {
    if (aligned) {
      now.refuse_split();
      now.fault(FlowFaultKind::misuse, arrival.touch, isa::aligned,
                fmt::format("a part of warp {} is at {}, which all of its threads have to execute",
                            warp.of_block, now.in.opcode.text));
    }
    now.refuse(
        "a part of a warp is at a barrier of the block: in which order it meets the rest is not modelled");
  }
  // The result comes first and the predicate last: `barrier.red.popc.u32 d, a, b, p`.
  std::size_t const at = reduces ? 1 : 0, counts = at + 1;
  bool const numbered = now.in.operands.size() > at;
  std::uint64_t const id = numbered ? now.number(now.in.operands[at], first, "the barrier's number") : 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    arrival.threads.push_back(warp.thread(lane));
    if (numbered && now.number(now.in.operands[at], lane, "the barrier's number") != id)
      now.fault(FlowFaultKind::misuse, arrival.touch, isa::barrier,
                fmt::format("threads of warp {} are at barriers with different numbers", warp.of_block));
  }
  bool const counted = now.in.operands.size() > counts + (reduces ? 1 : 0);
  if (counted)
    arrival.count =
        static_cast<std::uint32_t>(now.number(now.in.operands[counts], first, "the barrier's count"));
  // An arrival needs a count that is not 0; of other instructions the PTX ISA does not say if all threads take part. [9.7.13.1: barrier]
  if (counted && arrival.count == 0 && arrival.waits)
    now.refuse("the count of a barrier is 0: the PTX ISA does not say how many threads take part");
  if (counted ? arrival.count == 0 : !arrival.waits)
    now.fault(FlowFaultKind::misuse, arrival.touch, isa::barrier, "the count of a barrier is 0");
  warp.votes = reduces ? votes_of(now) : Votes{};
  if (arrival.waits) warp.waits = true;
  release(now.block, now.block.barriers.arrive(id, arrival, now.block.live_warps(), now.block.clocks));
  return !arrival.waits;  // also the last one stops: the first of them goes on first
}

void end_warp(BlockState& block, Warp& warp) {
  warp.ended = true;
  for (auto const& warps : block.barriers.end_of_warp(block.live_warps(), block.clocks))
    release(block, warps);
}

/// A barrier of the cluster waits for the threads that have not ended: also lanes whose warp goes on. [PTX ISA, barrier.cluster]
void end_threads(BlockState& block, Warp& warp, std::uint32_t lanes) {
  warp.live &= ~lanes;
  for (unsigned lane = 0; lane < 32 && block.units.blocks > 1; ++lane)
    if (takes_part(lanes, lane)) block.cluster.barrier.end(warp.thread(lane), block.clocks);
  end_cluster_phase(block);  // the last one ends, and the others have arrived
}

void warp_barrier(Now const& now) {
  if (!now.in.operands.empty()) now.check_members(now.in.operands[0]);
  std::vector<unsigned> members;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    auto const wanted = static_cast<std::uint32_t>(
        now.in.operands.empty() ? ~0U : now.number(now.in.operands[0], lane, "the mask"));
    if ((wanted & now.warp.live) != (now.mask & now.warp.live))
      now.refuse("lanes of one warp meet in groups: bar.warp.sync of several masks is not modelled");
    members.push_back(now.thread(lane));
  }
  now.block.clocks.meet(members);
}

/// barrier.cluster.arrive and .wait. If no size of the cluster is given, the other blocks of it arrive, too, and are waited for. False if
/// the warp waits.
bool cluster_barrier(Now const& now) {
  BlockState& block = now.block;
  bool const arrives = now.decoded.has("arrive"), relaxed = now.decoded.has("relaxed");
  unsigned const first = static_cast<unsigned>(std::countr_zero(now.mask));
  if (now.decoded.has("aligned")) now.refuse_split();
  if (now.decoded.has("aligned") && now.mask != now.warp.live)
    now.fault(FlowFaultKind::misuse, now.touch(first, true), isa::aligned,
              "a part of a warp is at a barrier of the cluster that all of it has to execute");
  if (!block.kernel.cluster_is_given) block.left_out.insert("what the other blocks of the cluster do");
  ClusterBarrier& barrier = block.cluster.barrier;
  for (unsigned lane = 0; lane < 32 && !arrives; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (barrier.phase_of(now.thread(lane)) == 0)
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::cluster_barrier,
                "it waits at the barrier of the cluster and has not arrived");
    if (!barrier.complete(now.thread(lane))) return false;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    if (arrives && relaxed && block.units.blocks > 1 && block.flags.narrow(t))
      now.refuse("a relaxed arrival behind a fence of the scope .cta: what it releases is not modelled");
    if (!arrives)
      barrier.depart(t, block.clocks);
    else if (!barrier.arrive(t, relaxed, block.flags.released(t), block.clocks))
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::cluster_barrier,
                "it arrives at the barrier of the cluster, and has not waited since it did");
  }
  end_cluster_phase(block);
  return true;
}

// ------------------------------------------------------------------------------------- fences and flags

/// fence.proxy.async: of the block's own shared memory, of the cluster's, of global memory, or of all.
namespace {

/// fence.proxy.async::generic, from accesses of the generic proxy to those of the async proxy: .release has the block's own shared memory,
/// .acquire that of the cluster.
void one_way_fence(Now const& now) {
  bool const acquires = now.decoded.has("acquire");
  auto& fences = now.block.cluster.fences;
  Clocks& clocks = now.block.clocks;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    if (!acquires) fences[now.block.rank].release(t, clocks);
    for (ProxyFences& of_rank : fences) {
      if (!acquires) continue;
      if (of_rank.released_relaxed(t, clocks))
        now.refuse(
            "fence.proxy.async::generic with a relaxed operation between release and acquire: the order of "
            "memory that the two make is not modelled");
      if (of_rank.released_alone(t, clocks))
        now.block.assumed.insert(
            "fence.proxy.async::generic.release and .acquire of one thread are a fence without a barrier "
            "between them, which the PTX ISA does not specify");
      of_rank.acquire(t, clocks);
    }
  }
}

}  // namespace

void proxy_fence(Now const& now) {
  bool const global = now.decoded.has("global"), own = now.decoded.has("shared::cta");
  bool const in_shared = own || now.decoded.has("shared::cluster");
  if (now.decoded.has("async::generic")) return one_way_fence(now);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    for (unsigned rank = 0; rank < now.block.units.blocks && !global; ++rank)
      if (!own || rank == now.block.rank)
        now.block.cluster.fences[rank].fence(now.thread(lane), now.block.clocks);
    if (!in_shared) now.block.global_fences.fence(now.thread(lane), now.block.clocks);
  }
}

/// Executes fence.mbarrier_init for the mbarriers that each thread has initialised.
void mbarrier_fence(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) now.block.mbarriers.fence(now.thread(lane), now.block.clocks);
}

/// fence and membar. With .sync_restrict it orders operations on shared memory alone. [PTX ISA, Parallel Synchronization: membar, fence]
void memory_fence(Now const& now) {
  Decoded const& d = now.decoded;
  Flags::Fence const kind{!d.has("acquire"), !d.has("release"), d.has("cta")};
  bool const restricted = std::any_of(d.parts.begin(), d.parts.end(), [](std::string_view part) {
    return part.starts_with("sync_restrict");
  });
  if (restricted) now.block.clocks.restrict_to_shared();
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane) && now.block.flags.fence(now.thread(lane), kind, now.block.clocks))
      now.block.faults.doubt(now.block.units.thread(now.thread(lane)) +
                                 " may follow what other threads release by atomics, or not",
                             now.index);
  check_scopes(now);
}

void check_scopes(Now const& now) {
  if (now.block.flags.excluded())
    now.refuse(
        "a release and an acquire of two blocks, one of the scope .cta: if they order is not modelled");
}

namespace {

// ----------------------------------------------------------------------------------------- mbarriers

void assume_scope(Now const& now) {
  now.block.assumed.insert(
      "mbarrier operations without a scope order the blocks of a cluster, as CUTLASS uses them; the PTX ISA "
      "has "
      ".cta as their default");
}

/// Notes the scope that arrivals from other blocks have by default; refuses a wait that excludes them.
void check_wait(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane) ||
        !now.block.mbarriers.of_other_blocks(shared_address(now, now.in.operands[1], lane)))
      continue;
    if (now.decoded.has("cta"))
      now.refuse(
          "the scope .cta of a wait excludes the threads of other blocks that have arrived: if they are "
          "ordered is not modelled");
    if (!now.decoded.has("cluster")) assume_scope(now);
  }
}

/// An mbarrier of another block may only be arrived at, and returns no state. [PTX ISA, mbarrier.arrive, mbarrier.test_wait]
void check_remote(Now const& now, std::uint64_t at, unsigned lane, bool may_be_remote) {
  check_window(now, at, lane, "uses an mbarrier in", !may_be_remote);
  if (rank_at(at) != now.block.rank && now.decoded.space == program::Space::generic)
    now.block.assumed.insert(
        "mbarrier operations reach another block by a generic address, where the PTX ISA has it for "
        ".shared::cta "
        "alone (9.7.13.15.13)");
  if (rank_at(at) != now.block.rank && now.decoded.has("arrive") &&
      now.in.operands[0].kind == ptx::Operand::Kind::reg)
    now.fault(FlowFaultKind::misuse, now.touch(lane), isa::mbarrier,
              fmt::format("{} arrives at an mbarrier of rank {}, which returns no state: the result is _",
                          now.block.units.thread(now.thread(lane)), rank_at(at)));
}

/// The scope of an arrival at an mbarrier of another block: .cta orders no memory of these two.
void take_scope(Now const& now, MbarrierOperation& op) {
  if (op.relaxed && now.block.flags.narrow(op.thread))
    now.refuse("a relaxed arrival behind a fence of the scope .cta: what it releases is not modelled");
  if (now.decoded.has("cta")) op.relaxed = true, op.released.reset();
  if (!op.relaxed && now.decoded.has("arrive") && !now.decoded.has("cluster")) assume_scope(now);
}

/// The phase that a lane waits for. A parity is 0 or 1. [PTX ISA 9.1, 9.7.13.15.16]
std::uint64_t awaited(Now const& now, unsigned lane, bool parity) {
  std::uint64_t const phase = now.number(now.in.operands[2], lane, "the phase");
  if (parity && (phase & low_bits(32)) > 1)
    now.fault(FlowFaultKind::misuse, now.touch(lane), isa::parity,
              fmt::format("{} waits for the parity {}, which is neither 0 nor 1",
                          now.block.units.thread(now.thread(lane)), phase & low_bits(32)));
  return phase;
}

/// Notes a wait whose failure is not executed.
void check_retries(Now const& now) {
  auto const [at, fresh] = now.block.cluster.retrying.try_emplace(now.index, false);
  if (!fresh) return;
  at->second = retries(now);
  if (!at->second) now.block.faults.doubt(std::string(failure_not_followed), now.index);
}

/// A wait goes on when the phase is complete: an execution that tries until then.
bool wait_phase(Now const& now) {
  bool const parity = now.decoded.has("parity");
  check_retries(now);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane))
      check_remote(now, shared_address(now, now.in.operands[1], lane), lane, false);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane) &&
        !now.block.mbarriers.passes(shared_address(now, now.in.operands[1], lane), parity,
                                    awaited(now, lane, parity), now.operation(lane), now.block.clocks))
      return --now.warp.counts[now.index], false;
  check_wait(now);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (auto acquires = now.block.mbarriers.depart(shared_address(now, now.in.operands[1], lane),
                                                   now.operation(lane), now.block.clocks))
      now.block.flags.wait(now.thread(lane), std::move(*acquires));
    now.put(now.in.operands[0], lane, plain(1));
  }
  return true;
}

/// The 8 bytes of an mbarrier: init and inval write them.
void mbarrier_memory(Now const& now, std::uint64_t address, unsigned lane, bool live) {
  check_bounds(now, program::Space::shared, address, 8, lane, live ? "initialises" : "invalidates");
  Toucher by{now.thread(lane), now.index};
  by.execution = now.warp.counts[now.index];
  now.block.shared.write_mbarrier(address, by, live);
}

}  // namespace

/// mbarrier.init, .inval, .test_wait and .try_wait in the block's own shared memory; .arrive and .expect_tx also in another block's. False
/// if the warp waits.
bool mbarrier(Now const& now) {
  Decoded const& d = now.decoded;
  bool const init = d.has("init"), arrive = d.has("arrive"), inval = d.has("inval");
  if (d.has("test_wait") || d.has("try_wait")) return wait_phase(now);
  bool const expects = d.has("expect_tx");
  if ((!init && !arrive && !expects && !inval) || d.has("complete_tx") || d.has("noComplete"))
    now.refuse_opcode();
  std::size_t const where = arrive ? 1 : 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const at = shared_address(now, now.in.operands[where], lane);
    check_remote(now, at, lane, !init && !inval);
    MbarrierOperation op = now.operation(lane);
    if (rank_at(at) != now.block.rank) take_scope(now, op);
    bool const counted = now.in.operands.size() > where + 1;
    auto const count =
        static_cast<std::uint32_t>(counted ? now.number(now.in.operands[where + 1], lane, "the count") : 1);
    if (init) {
      unsigned const slot = now.block.mbarriers.init(at, count, op, now.block.clocks);
      FlowKernel const& kernel = now.block.kernel;
      if ((kernel.asynchronous || kernel.arrives_async) && slot >= most_mbarriers)
        now.refuse("more than 64 mbarriers");
    }
    if (inval && now.block.mbarriers.inval(at, op, now.block.clocks))
      now.block.assumed.insert(
          "a copy or a commit has arrived at an mbarrier that is invalidated, where its work is complete");
    if (init || inval) {
      mbarrier_memory(now, at, lane, init);
      if (init) now.block.mbarriers.set_origin(at, now.block.clocks.now(op.thread));
      continue;
    }
    if (!arrive) {
      now.block.mbarriers.expect(at, count, op, now.block.clocks);
      continue;
    }
    now.put(now.in.operands[0], lane,
            plain(now.block.mbarriers.arrive(at, expects ? 1 : count, expects ? count : 0, op,
                                             now.block.clocks)));
  }
  return true;
}

}  // namespace swizproof::flow_detail
