#include "block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace swizproof::flow_detail {

namespace {

/// Operands that an instruction has at least.
std::size_t operands_of(Handler handler, program::Opcode const& d) {
  switch (handler) {
    case Handler::load:
    case Handler::store:
    case Handler::ldmatrix:
    case Handler::stmatrix:
    case Handler::movmatrix:
    case Handler::real:
    case Handler::bulk_store:
      return 2;
    case Handler::convert:
      return d.parts.back() == "f32" && d.parts.size() > 2 && d.parts[d.parts.size() - 2].ends_with("x2") ? 3
                                                                                                          : 2;
    case Handler::copy_async:
    case Handler::bulk_copy:
    case Handler::bulk_store_bytes:
    case Handler::compare:
    case Handler::vote:
      return 3;
    case Handler::wgmma:
    case Handler::mma:
    case Handler::shuffle:
    case Handler::bulk_load_bytes:
      return 4;
    case Handler::bulk_groups:
      return d.has("wait_group") ? 1 : 0;
    case Handler::elect:
    case Handler::wgmma_wait:
      return 1;
    case Handler::wait:
      return d.has("wait_all") ? 0 : 1;
    case Handler::mbarrier:
      return d.has("test_wait") || d.has("try_wait") ? 3
             : d.has("inval")                        ? 1
             : d.has("arrive") && d.has("expect_tx") ? 3
                                                     : 2;
    default:
      return 0;
  }
}

}  // namespace

BlockRun::BlockRun(FlowKernel const& kernel, std::array<std::uint32_t, 3> number, Names& names)
    : kernel_(kernel),
      number_(number),
      names_(names),
      clocks_(kernel.threads + (kernel.asynchronous ? most_mbarriers + kernel.warps() : 0) +
              (kernel.stores_bulk ? 2 * kernel.threads : 0)),
      groups_(kernel.threads),
      fences_(kernel.threads),
      global_fences_(kernel.threads),
      shared_([](std::uint64_t at) { return fmt::format("byte 0x{:x} of shared memory", at); }, clocks_,
              groups_, kernel.threads),
      global_([&kernel](std::uint64_t at) { return kernel.element_at(at); }, clocks_, groups_,
              kernel.threads),
      registers_(static_cast<std::uint32_t>(kernel.function.registers.size())) {
  for (unsigned t = 0; t < kernel.threads; ++t)
    local_.emplace_back([](std::uint64_t) { return std::string("local memory"); }, clocks_, groups_,
                        kernel.threads);
  cluster_.phase_of.resize(kernel.threads);
  bulk_groups_.resize(kernel.threads);
  temporaries_.resize((kernel.program.widths.size() - registers_) * 32);
}

void BlockRun::start_warps() {
  Word const nothing =
      names_.word(names_.function("a register that nothing has written", Format::integer, 8, ~0U));
  for (unsigned w = 0; w * 32 < kernel_.threads; ++w) {
    unsigned const lanes = std::min(32U, kernel_.threads - w * 32);
    Warp warp;
    warp.number = w;
    warp.live = lanes == 32 ? ~0U : (1U << lanes) - 1;
    warp.paths.push_back({warp.live, 0, 0, -1});
    warp.registers.assign(std::size_t{registers_} * 32, nothing);
    warps_.push_back(std::move(warp));
  }
}

void BlockRun::run() {
  start_warps();
  for (bool progress = true; progress;) {
    progress = false;
    for (Warp& warp : warps_)
      if (!warp.waits && !warp.paths.empty()) progress = run_warp(warp) || progress;
    release_barriers();
    for (Warp const& warp : warps_)
      progress = progress || (!warp.waits && !warp.paths.empty() && warp.passed);
  }
  std::optional<unsigned> stuck;
  std::vector<std::uint32_t> lines;
  for (Warp const& warp : warps_) {
    if (warp.paths.empty()) continue;
    Path const& p = warp.paths.back();
    std::uint32_t const at =
        kernel_.program.instructions[kernel_.ranges[static_cast<std::size_t>(p.block)].first + p.at]
            .instruction;
    if (std::find(lines.begin(), lines.end(), at) == lines.end()) lines.push_back(at);
    if (!stuck) stuck = warp.number;
  }
  if (stuck) throw FlowConflict{fmt::format("warp {} waits and is never released", *stuck), lines};
}

/// Runs a warp until it waits or ends; true if it has executed anything.
bool BlockRun::run_warp(Warp& warp) {
  bool any = false;
  std::uint64_t const before = steps_;
  while (!warp.paths.empty()) {
    Path& top = warp.paths.back();
    top.mask &= warp.live;
    if (top.block < 0) warp.live &= ~top.mask;  // the end of its threads
    if (top.block < 0 || top.mask == 0 || (top.join >= 0 && top.block == top.join)) {
      warp.paths.pop_back();
      any = true;
      continue;
    }
    if (!run_path(warp)) return any || steps_ > before + 1;  // one: that it waits at
    any = true;
    branch(warp);
  }
  return any;
}

/// Executes what is left of a block; false if the warp waits.
bool BlockRun::run_path(Warp& warp) {
  auto const [first, last] = kernel_.ranges[static_cast<std::size_t>(warp.paths.back().block)];
  for (; first + warp.paths.back().at < last; ++warp.paths.back().at) {
    if (++steps_ > kernel_.launch.most_steps)
      throw FlowRefused{fmt::format("a block executes more than {} instructions", kernel_.launch.most_steps)};
    if (!execute(warp, kernel_.program.instructions[first + warp.paths.back().at])) return false;
  }
  return true;
}

std::uint32_t BlockRun::truth_mask(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask,
                                   std::uint32_t line, char const* what) const {
  std::uint32_t out = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(mask, lane)) continue;
    Word const& w = warp.registers[static_cast<std::size_t>(reg) * 32 + lane];
    if (w.named != 0)
      refuse(line,
             fmt::format("{} depends on data: {}", what, names_.text(static_cast<Name>(w.part[0] / 8))));
    if ((w.number != 0) != negated) out |= 1U << lane;
  }
  return out;
}

void BlockRun::branch(Warp& warp) {
  Path& top = warp.paths.back();
  program::Block const& block = kernel_.program.blocks[static_cast<std::size_t>(top.block)];
  if (block.condition < 0) {
    top.block = block.taken, top.at = 0;
    return;
  }
  auto const in =
      std::find_if(kernel_.function.body.begin(), kernel_.function.body.end(),
                   [&](ptx::Instruction const& i) { return i.line == block.line && i.label == 0; });
  auto const line = static_cast<std::uint32_t>(in - kernel_.function.body.begin());
  std::uint32_t const yes = truth_mask(warp, block.condition, block.negated, top.mask, line, "the branch");
  std::uint32_t const no = top.mask & ~yes;
  if (yes == 0 || no == 0) {
    top.block = yes != 0 ? block.taken : block.next, top.at = 0;
    return;
  }
  std::int32_t const join = kernel_.flow.ipdom[static_cast<std::size_t>(top.block)];
  top.block = join, top.at = 0;
  if (join < 0) top.mask = 0;
  warp.paths.push_back({no, block.next, 0, join});
  warp.paths.push_back({yes, block.taken, 0, join});
}

bool BlockRun::execute(Warp& warp, program::LoweredInstruction const& lowered) {
  std::uint32_t const index = lowered.instruction;
  ptx::Instruction const& in = kernel_.function.body[index];
  std::uint32_t mask = warp.paths.back().mask;
  if (in.guard >= 0) mask = truth_mask(warp, in.guard, in.guard_negated, mask, index, "the guard");
  if (mask == 0) return true;
  if (in.operands.size() < operands_of(kernel_.handlers[index], in.opcode))
    refuse(index, "operands are missing");
  Now const now{warp, index, in, kernel_.handlers[index], lowered, mask};
  if (kernel_.asynchronous) check_registers(warp, now);
  return dispatch(now);
}

bool BlockRun::dispatch(Now const& now) {
  switch (now.handler) {
    case Handler::steps:
      return steps(now), true;
    case Handler::nothing:
      return true;
    case Handler::load:
      return load(now), true;
    case Handler::store:
      return store(now), true;
    case Handler::copy_async:
      return copy_async(now), true;
    case Handler::commit:
    case Handler::wait:
      return wait(now), true;
    case Handler::barrier:
      return barrier(now);
    case Handler::warp_barrier:
      return warp_barrier(now), true;
    case Handler::cluster_barrier:
      return cluster_barrier(now);
    case Handler::ldmatrix:
      return matrices(now, true), true;
    case Handler::stmatrix:
      return matrices(now, false), true;
    case Handler::movmatrix:
      return movmatrix(now), true;
    case Handler::mma:
      return mma(now), true;
    case Handler::shuffle:
      return shuffle(now), true;
    case Handler::vote:
      return vote(now), true;
    case Handler::elect:
      return elect(now), true;
    case Handler::real:
      return real(now), true;
    case Handler::compare:
      return compare(now), true;
    case Handler::convert:
      return convert(now), true;
    default:
      return dispatch_async(now);
  }
}

/// Instructions of the asynchronous proxy, and those that are not executed.
bool BlockRun::dispatch_async(Now const& now) {
  switch (now.handler) {
    case Handler::mbarrier:
      return mbarrier(now);
    case Handler::proxy_fence:
      return proxy_fence(now), true;
    case Handler::bulk_copy:
      return bulk_copy(now), true;
    case Handler::bulk_store:
      return bulk_store(now), true;
    case Handler::bulk_load_bytes:
      return bulk_load_bytes(now), true;
    case Handler::bulk_store_bytes:
      return bulk_store_bytes(now), true;
    case Handler::bulk_groups:
      return bulk_groups(now), true;
    case Handler::wgmma:
      return wgmma(now), true;
    case Handler::wgmma_fence:
    case Handler::wgmma_commit:
    case Handler::wgmma_wait:
      return wgmma_groups(now), true;
    default:
      refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
  }
}

// ------------------------------------------------------------------------------------------ barriers

/// bar.sync and bar.arrive: whole warps arrive. False if the warp waits.
bool BlockRun::barrier(Now const& now) {
  Warp& warp = now.warp;
  if (warp.passed) return warp.passed = false, true;
  if (now.mask != warp.live)
    refuse(now.index, "a part of a warp is at a barrier of the block: the others may wait for ever");
  bool const arrives = now.in.opcode.has("arrive");
  unsigned const first = static_cast<unsigned>(std::countr_zero(now.mask));
  std::uint64_t const id =
      now.in.operands.empty() ? 0 : number(now, now.in.operands[0], first, "the barrier's number");
  Barrier& b = barriers_[id];
  if (now.in.operands.size() > 1) {
    auto const count = static_cast<unsigned>(number(now, now.in.operands[1], first, "the barrier's count"));
    if (count % 32 != 0 || count == 0) refuse(now.index, "the barrier's count is no multiple of 32");
    if (b.expected != 0 && b.expected != count) refuse(now.index, "two counts of one barrier");
    b.expected = count;
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) b.arrived.push_back(thread(warp, lane));
  if (arrives) return true;
  b.waiting.push_back(warp.number);
  warp.waits = true;
  return false;
}

/// Opens the barriers at which all have arrived.
void BlockRun::release_barriers() {
  unsigned left = 0;
  for (Warp const& warp : warps_) left += static_cast<unsigned>(std::popcount(warp.live));
  for (auto& [id, b] : barriers_) {
    if (b.arrived.empty()) continue;
    unsigned const expected = b.expected == 0 ? left : b.expected;
    // A warp counts with its 32 threads, also where the block's last one has fewer.
    unsigned const here = b.expected == 0 ? static_cast<unsigned>(b.arrived.size())
                                          : static_cast<unsigned>((b.arrived.size() + 31) / 32 * 32);
    if (here < expected) continue;
    std::vector<unsigned> takers;
    for (unsigned const w : b.waiting) {
      for (unsigned lane = 0; lane < 32; ++lane)
        if ((warps_[w].live >> lane & 1) != 0) takers.push_back(w * 32 + lane);
      warps_[w].waits = false, warps_[w].passed = true;
    }
    std::sort(b.arrived.begin(), b.arrived.end());
    std::sort(takers.begin(), takers.end());
    clocks_.join(b.arrived, takers);
    b = Barrier{};
  }
  end_cluster_phase();
}

void BlockRun::warp_barrier(Now const& now) {
  std::vector<unsigned> members;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) {
      auto const wanted = static_cast<std::uint32_t>(
          now.in.operands.empty() ? ~0U : number(now, now.in.operands[0], lane, "the mask"));
      if ((wanted & now.warp.live) != (now.mask & now.warp.live))
        refuse(now.index, "lanes of the mask are on another path: in which order they meet is not modelled");
      members.push_back(thread(now.warp, lane));
    }
  clocks_.join(members, members);
}

/// fence.proxy.async: of shared memory, of global memory, or of both.
void BlockRun::proxy_fence(Now const& now) {
  bool const global = now.in.opcode.has("global");
  bool const in_shared = now.in.opcode.has("shared::cta") || now.in.opcode.has("shared::cluster");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (!global) fences_.fence(thread(now.warp, lane), clocks_);
    if (!in_shared) global_fences_.fence(thread(now.warp, lane), clocks_);
  }
}

/// barrier.cluster.arrive and .wait. Other blocks of the cluster arrive, too: for this block they are waited for. False if the warp waits.
bool BlockRun::cluster_barrier(Now const& now) {
  bool const arrives = now.in.opcode.has("arrive");
  if (now.in.opcode.has("aligned") && now.mask != now.warp.live)
    refuse(now.index, "a part of a warp is at a barrier of the cluster that all of it executes");
  for (unsigned lane = 0; lane < 32 && !arrives; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const phase = cluster_.phase_of[thread(now.warp, lane)];
    if (phase == 0) refuse(now.index, "it waits at the barrier of the cluster and has not arrived");
    if (phase > cluster_.phase) return false;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane);
    std::uint64_t& phase = cluster_.phase_of[t];
    if (!arrives) {
      if (cluster_.complete) clocks_.take(cluster_.complete, t);
      phase = 0;
      continue;
    }
    if (phase != 0)
      refuse(now.index, "it arrives at the barrier of the cluster, and has not waited since it did");
    phase = cluster_.phase + 1;
    cluster_.arrived.push_back(t);
    if (!now.in.opcode.has("relaxed")) cluster_.givers.push_back(t);
  }
  end_cluster_phase();
  return true;
}

/// Completes the phase of the cluster's barrier that all threads have arrived at which have not ended.
void BlockRun::end_cluster_phase() {
  ClusterBarrier& c = cluster_;
  unsigned left = 0;
  for (Warp const& warp : warps_) left += static_cast<unsigned>(std::popcount(warp.live));
  auto const here = std::count_if(c.arrived.begin(), c.arrived.end(),
                                  [&](unsigned t) { return (warps_[t / 32].live >> t % 32 & 1) != 0; });
  if (c.arrived.empty() || static_cast<unsigned>(here) < left) return;
  std::sort(c.givers.begin(), c.givers.end());
  c.complete = c.givers.empty() ? nullptr : clocks_.moments(c.givers);
  for (unsigned const t : c.givers) clocks_.tick(t);
  c.arrived.clear(), c.givers.clear();
  ++c.phase;
}

// ----------------------------------------------------------------------------------------- mbarriers

void BlockRun::count_arrival(PhaseBarrier& b, Now const& now, unsigned lane, std::uint32_t count) {
  if (b.count == 0) refuse(now.index, "the mbarrier is not initialised");
  if (count > b.pending) refuse(now.index, "more arrivals at an mbarrier than it counts");
  b.arrived.push_back(thread(now.warp, lane));
  b.pending -= count;
  end_phase(b);
}

/// Completes a phase of which all have arrived and all bytes are written.
void BlockRun::end_phase(PhaseBarrier& b) {
  if (b.pending != 0 || b.bytes != 0) return;
  if (kernel_.asynchronous) b.arrived.push_back(kernel_.threads + b.slot);
  std::sort(b.arrived.begin(), b.arrived.end());
  b.arrived.erase(std::unique(b.arrived.begin(), b.arrived.end()), b.arrived.end());
  b.complete = clocks_.moments(b.arrived);
  for (unsigned const t : b.arrived) clocks_.tick(t);
  b.arrived.clear();
  b.pending = b.count;
  ++b.phase;
}

/// mbarrier.init, .arrive, .test_wait and .try_wait in shared memory: arrivals of threads alone. False if the warp waits.
bool BlockRun::mbarrier(Now const& now) {
  program::Opcode const& d = now.in.opcode;
  bool const init = d.has("init"), arrive = d.has("arrive");
  if (d.has("test_wait") || d.has("try_wait")) return wait_phase(now);
  if (d.has("inval")) return true;
  bool const expects = d.has("expect_tx");
  if ((!init && !arrive && !expects) || d.has("complete_tx") || d.has("noComplete") ||
      d.has("shared::cluster"))
    refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
  std::size_t const where = arrive ? 1 : 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    PhaseBarrier& b = phase_barriers_[address(now, now.in.operands[where], lane)];
    bool const counted = now.in.operands.size() > where + 1;
    auto const count =
        static_cast<std::uint32_t>(counted ? number(now, now.in.operands[where + 1], lane, "the count") : 1);
    if (init) {
      unsigned const slot = b.count != 0 ? b.slot : slots_++;
      if (kernel_.asynchronous && slot >= most_mbarriers) refuse(now.index, "more than 64 mbarriers");
      b = {count, count, 0, 0, slot, {}, {}};
      continue;
    }
    if (expects) {
      if (b.count == 0) refuse(now.index, "the mbarrier is not initialised");
      b.bytes += count;
      if (!arrive) continue;
      put(now, now.in.operands[0], lane, plain(b.phase));
      count_arrival(b, now, lane, 1);
      continue;
    }
    put(now, now.in.operands[0], lane, plain(b.phase));
    count_arrival(b, now, lane, count);
  }
  return true;
}

/// A wait goes on when the phase is complete: an execution that tries until then.
bool BlockRun::wait_phase(Now const& now) {
  bool const parity = now.in.opcode.has("parity");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    PhaseBarrier const& b = phase_barriers_[address(now, now.in.operands[1], lane)];
    std::uint64_t const asked = number(now, now.in.operands[2], lane, "the phase");
    if (parity ? (b.phase & 1) == (asked & 1) : b.phase == asked) return false;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    PhaseBarrier const& b = phase_barriers_[address(now, now.in.operands[1], lane)];
    put(now, now.in.operands[0], lane, plain(1));
    if (b.complete) clocks_.take(b.complete, thread(now.warp, lane));
  }
  return true;
}

}  // namespace swizproof::flow_detail
