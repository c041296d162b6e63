// Instructions that order the threads of a block: barriers, mbarriers, fences, flags. barriers.hpp, mbarriers.hpp and order.hpp have the rules.
#include "block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

// ------------------------------------------------------------------------------------------ barriers

/// bar and barrier: whole warps arrive. False if the warp waits.
bool BlockRun::barrier(Now const& now) {
  Warp& warp = now.warp;
  if (warp.passed) return warp.passed = false, true;
  unsigned const first = static_cast<unsigned>(std::countr_zero(now.mask));
  BarrierArrival arrival{warp.number, {}, touch(now, first, true), 0, !now.decoded.has("arrive")};
  // PTX ISA: bar is barrier.aligned, which all threads of the warp execute.
  bool const aligned = now.decoded.parts[0] == "bar" || now.decoded.has("aligned");
  if (now.mask != warp.live) {
    if (aligned)
      fault(FlowFaultKind::misuse, arrival.touch, isa::aligned,
            fmt::format("a part of warp {} is at {}, which all of its threads have to execute", warp.number,
                        now.in.opcode.text));
    refuse(now.index,
           "a part of a warp is at a barrier of the block: in which order it meets the rest is not modelled");
  }
  std::uint64_t const id =
      now.in.operands.empty() ? 0 : number(now, now.in.operands[0], first, "the barrier's number");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    arrival.threads.push_back(thread(warp, lane));
    if (!now.in.operands.empty() && number(now, now.in.operands[0], lane, "the barrier's number") != id)
      fault(FlowFaultKind::misuse, arrival.touch, isa::barrier,
            fmt::format("threads of warp {} are at barriers with different numbers", warp.number));
  }
  bool const counted = now.in.operands.size() > 1;
  if (counted)
    arrival.count = static_cast<std::uint32_t>(number(now, now.in.operands[1], first, "the barrier's count"));
  if (counted ? arrival.count == 0 : !arrival.waits)
    fault(FlowFaultKind::misuse, arrival.touch, isa::barrier, "the count of a barrier is 0");
  if (arrival.waits) warp.waits = true;
  release(barriers_.arrive(id, arrival, live_warps(), clocks_));
  return !arrival.waits;  // also the last one stops: the first of them goes on first
}

void BlockRun::release(std::vector<unsigned> const& warps) {
  for (unsigned const w : warps) warps_[w].waits = false, warps_[w].passed = true;
}

void BlockRun::end_warp(Warp& warp) {
  warp.ended = true;
  release(barriers_.end_of_warp(live_warps(), clocks_));
  end_cluster_phase();
}

/// Fails if a mask of lanes lacks one that executes the instruction; the answer is undecided if others of the mask are elsewhere.
void BlockRun::check_members(Now const& now, ptx::Operand const& mask) {
  std::array<std::uint32_t, 32> members{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    members[lane] = static_cast<std::uint32_t>(number(now, mask, lane, "the mask"));
    if (!takes_part(members[lane], lane))
      fault(FlowFaultKind::misuse, touch(now, lane), isa::warp_mask,
            fmt::format("thread {} executes {} with the mask 0x{:x}, which lacks its lane {}",
                        thread(now.warp, lane), now.in.opcode.text, members[lane], lane));
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane) && (members[lane] & now.warp.live) != (now.mask & members[lane]))
      refuse(now.index, "lanes of the mask are on another path: in which order they meet is not modelled");
}

void BlockRun::warp_barrier(Now const& now) {
  if (!now.in.operands.empty()) check_members(now, now.in.operands[0]);
  std::vector<unsigned> members;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    auto const wanted = static_cast<std::uint32_t>(
        now.in.operands.empty() ? ~0U : number(now, now.in.operands[0], lane, "the mask"));
    if ((wanted & now.warp.live) != (now.mask & now.warp.live))
      refuse(now.index, "lanes of one warp meet in groups: bar.warp.sync of several masks is not modelled");
    members.push_back(thread(now.warp, lane));
  }
  clocks_.meet(members);
}

/// barrier.cluster.arrive and .wait. Other blocks of the cluster arrive, too: for this block they are waited for. False if the warp waits.
bool BlockRun::cluster_barrier(Now const& now) {
  bool const arrives = now.decoded.has("arrive");
  unsigned const first = static_cast<unsigned>(std::countr_zero(now.mask));
  if (now.decoded.has("aligned") && now.mask != now.warp.live)
    fault(FlowFaultKind::misuse, touch(now, first, true), isa::aligned,
          "a part of a warp is at a barrier of the cluster that all of it has to execute");
  left_out_.insert("what the other blocks of the cluster do");
  for (unsigned lane = 0; lane < 32 && !arrives; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (cluster_.phase_of(thread(now.warp, lane)) == 0)
      fault(FlowFaultKind::misuse, touch(now, lane), isa::barrier,
            "it waits at the barrier of the cluster and has not arrived");
    if (!cluster_.complete(thread(now.warp, lane))) return false;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane);
    if (!arrives)
      cluster_.depart(t, clocks_);
    else if (!cluster_.arrive(t, now.decoded.has("relaxed"), flags_.released(t), clocks_))
      fault(FlowFaultKind::misuse, touch(now, lane), isa::barrier,
            "it arrives at the barrier of the cluster, and has not waited since it did");
  }
  end_cluster_phase();
  return true;
}

/// Completes the phase of the cluster's barrier that all threads have arrived at which have not ended.
void BlockRun::end_cluster_phase() {
  unsigned left = 0;
  for (Warp const& warp : warps_) left += static_cast<unsigned>(std::popcount(warp.live));
  cluster_.end_phase(
      left, [&](unsigned t) { return takes_part(warps_[t / 32].live, t % 32); }, clocks_);
}

// ------------------------------------------------------------------------------------- fences and flags

/// fence.proxy.async: of shared memory, of global memory, or of both.
void BlockRun::proxy_fence(Now const& now) {
  bool const global = now.decoded.has("global");
  bool const in_shared = now.decoded.has("shared::cta") || now.decoded.has("shared::cluster");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (!global) fences_.fence(thread(now.warp, lane), clocks_);
    if (!in_shared) global_fences_.fence(thread(now.warp, lane), clocks_);
  }
}

/// fence.mbarrier_init: of what this thread has initialised.
void BlockRun::mbarrier_fence(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) mbarriers_.fence(thread(now.warp, lane), clocks_);
}

/// fence and membar.
void BlockRun::memory_fence(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane) && flags_.fence(thread(now.warp, lane), clocks_))
      faults_.doubt(fmt::format("thread {} may follow what other threads release by atomics, or not",
                                thread(now.warp, lane)),
                    now.index);
}

// ----------------------------------------------------------------------------------------- mbarriers

/// The 8 bytes of an mbarrier: init and inval write them.
void BlockRun::mbarrier_memory(Now const& now, std::uint64_t address, unsigned lane, bool live) {
  check_bounds(now, program::Space::shared, address, 8, lane, live ? "initialises" : "invalidates");
  Toucher by{thread(now.warp, lane), now.index};
  by.execution = now.warp.counts[now.index];
  shared_.write_mbarrier(address, by, live);
}

/// mbarrier.init, .inval, .arrive, .expect_tx, .test_wait and .try_wait in the block's own shared memory. False if the warp waits.
bool BlockRun::mbarrier(Now const& now) {
  Decoded const& d = now.decoded;
  bool const init = d.has("init"), arrive = d.has("arrive"), inval = d.has("inval");
  if (d.has("test_wait") || d.has("try_wait")) return wait_phase(now);
  bool const expects = d.has("expect_tx");
  if ((!init && !arrive && !expects && !inval) || d.has("complete_tx") || d.has("noComplete") ||
      d.has("shared::cluster"))
    refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
  std::size_t const where = arrive ? 1 : 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const at = address(now, now.in.operands[where], lane);
    MbarrierOperation const op = operation(now, lane);
    bool const counted = now.in.operands.size() > where + 1;
    auto const count =
        static_cast<std::uint32_t>(counted ? number(now, now.in.operands[where + 1], lane, "the count") : 1);
    if (init) {
      unsigned const slot = mbarriers_.init(at, count, op, clocks_);
      if (kernel_.asynchronous && slot >= most_mbarriers) refuse(now.index, "more than 64 mbarriers");
    }
    if (inval) mbarriers_.inval(at, op, clocks_);
    if (init || inval) {
      mbarrier_memory(now, at, lane, init);
      if (init) mbarriers_.set_origin(at, clocks_.now(op.thread));
      continue;
    }
    if (!arrive) {
      mbarriers_.expect(at, count, op, clocks_);
      continue;
    }
    put(now, now.in.operands[0], lane,
        plain(mbarriers_.arrive(at, expects ? 1 : count, expects ? count : 0, op, clocks_)));
  }
  return true;
}

/// A wait goes on when the phase is complete: an execution that tries until then.
bool BlockRun::wait_phase(Now const& now) {
  bool const parity = now.decoded.has("parity");
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane) &&
        !mbarriers_.passes(address(now, now.in.operands[1], lane), parity,
                           number(now, now.in.operands[2], lane, "the phase"), operation(now, lane), clocks_))
      return --now.warp.counts[now.index], false;
  if (retrying_.insert(now.index).second && !retries(now))
    left_out_.insert(fmt::format("what follows a wait at an mbarrier that fails, in PTX line {}",
                                 kernel_.function.body[now.index].line));
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (auto acquires =
            mbarriers_.depart(address(now, now.in.operands[1], lane), operation(now, lane), clocks_))
      flags_.wait(thread(now.warp, lane), std::move(*acquires));
    put(now, now.in.operands[0], lane, plain(1));
  }
  return true;
}

/// True if a wait that fails is tried again, and nothing else happens: `L: try_wait p; @!p bra L;`, `L: try_wait p; @p bra D; bra L; D:`.
bool BlockRun::retries(Now const& now) const {
  auto const at = static_cast<std::int32_t>(now.lowered.block);
  program::Block const& block = kernel_.program.blocks[now.lowered.block];
  auto const [first, last] = kernel_.ranges[now.lowered.block];
  ptx::Operand const& to = now.in.operands[0];
  if (to.kind != ptx::Operand::Kind::reg || block.condition != static_cast<std::int32_t>(to.reg))
    return false;
  bool const alone = last == first + 1;
  std::int32_t fails = block.negated ? block.taken : block.next;
  if (!alone || fails < 0) return false;
  if (fails == at) return true;
  auto const [from, to_last] = kernel_.ranges[static_cast<std::size_t>(fails)];
  for (std::uint32_t i = from; i < to_last; ++i)
    if (kernel_.decoded[kernel_.program.instructions[i].instruction].handler != Handler::nothing)
      return false;
  program::Block const& back = kernel_.program.blocks[static_cast<std::size_t>(fails)];
  return back.condition < 0 && back.taken == at;
}

}  // namespace swizproof::flow_detail
