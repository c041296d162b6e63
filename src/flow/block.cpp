#include "block.hpp"
#include "execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace swizproof::flow_detail {

namespace {

std::size_t operands_of_mbarrier(Decoded const& d) {
  if (d.has("test_wait") || d.has("try_wait")) return 3;
  if (d.has("inval")) return 1;
  return d.has("arrive") && d.has("expect_tx") ? 3 : 2;
}

/// The same of tcgen05; 0 of others.
std::size_t operands_of_tensor(Decoded const& d) {
  switch (d.handler) {
    case Handler::tensor_allocate:
      return d.has("relinquish_alloc_permit") ? 0 : 2;
    case Handler::tensor_load:
    case Handler::tensor_store:
      return d.has("16x32bx2") ? 3 : 2;
    case Handler::tensor_mma:
      return d.has("block_scale") ? 7 : 5;
    case Handler::tensor_copy:
      return 2;
    case Handler::tensor_commit:
    case Handler::tensor_shift:
      return 1;
    default:
      return 0;
  }
}

/// Fails where a vector of results has a register twice.
void check_destination(Now const& now) {
  if (!now.decoded.repeats) return;
  now.fault(FlowFaultKind::misuse, now.touch(static_cast<unsigned>(std::countr_zero(now.mask)), true),
            isa::destination,
            fmt::format("{} writes one register twice by {}", now.block.units.warp(now.warp.number),
                        now.in.opcode.text));
}

/// Operands that an instruction has at least.
std::size_t operands_of(Decoded const& d) {
  switch (d.handler) {
    case Handler::load:
    case Handler::store:
    case Handler::move_wide:
    case Handler::query_cancel:
    case Handler::try_cancel:
    case Handler::ldmatrix:
    case Handler::stmatrix:
    case Handler::movmatrix:
    case Handler::wmma_move:
    case Handler::real:
    case Handler::bulk_store:
    case Handler::bulk_reduce:
    case Handler::address_rank:
    case Handler::convert_address:
    case Handler::bulk_prefetch:
      return d.has("bulk") && !d.has("tensor") && !d.has("prefetch") ? 3 : 2;
    case Handler::extreme:
      return d.name == "abs" ? 2 : 3;
    case Handler::convert:
      return d.parts.back() == "f32" && d.parts.size() > 2 && d.parts[d.parts.size() - 2].ends_with("x2") ? 3
                                                                                                          : 2;
    case Handler::copy_async:
    case Handler::bulk_copy:
    case Handler::bulk_store_bytes:
    case Handler::compare:
    case Handler::vote:
    case Handler::reduce:
    case Handler::match:
    case Handler::store_zeros:
    case Handler::store_async:
    case Handler::map_address:
      return 3;
    case Handler::wgmma:
    case Handler::mma:
    case Handler::wmma_product:
    case Handler::shuffle:
    case Handler::bulk_load_bytes:
    case Handler::bulk_send:
      return 4;
    case Handler::bulk_groups:
      return d.has("wait_group") ? 1 : 0;
    case Handler::elect:
    case Handler::active_mask:
    case Handler::arrive_async:
    case Handler::wgmma_wait:
    case Handler::set_registers:
      return 1;
    case Handler::barrier:
      return d.has("red") ? 3 : 0;
    case Handler::wait:
      return d.has("wait_all") ? 0 : 1;
    case Handler::mbarrier:
      return operands_of_mbarrier(d);
    default:
      return operands_of_tensor(d);
  }
}

/// True if lanes of the last path of a warp wait for others of it at an instruction.
bool needs_others(FlowKernel const& kernel, Warp const& warp, std::uint32_t index) {
  ptx::Instruction const& in = kernel.function.body[index];
  Path const& path = warp.paths.back();
  if (!has_lane_mask(kernel.decoded[index]) || in.operands.empty()) return true;
  ptx::Operand const& mask = in.operands.back();
  std::uint64_t wanted = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(path.mask, lane)) continue;
    Word const word = mask.kind == ptx::Operand::Kind::reg ? warp.registers[std::size_t{mask.reg} * 32 + lane]
                                                           : plain(mask.value);
    if (word.named != 0) return true;
    wanted |= word.number;
  }
  return (wanted & warp.live & ~path.mask) != 0;
}

/// Fails where lanes of a branch with .uni go two ways.
void check_uniform(ClusterState const& cluster, Warp const& warp, std::uint32_t line, bool differ) {
  if (!differ) return;
  unsigned const first = static_cast<unsigned>(std::countr_zero(warp.paths.back().mask));
  throw FlowConflict{
      FlowFaultKind::misuse,
      fmt::format("threads of {} go two ways at {}: all of its active threads have to go the same",
                  cluster.units.warp(warp.number), cluster.kernel.function.body[line].opcode.text),
      {line, 0, warp.thread(first), true},
      {},
      isa::uniform_branch,
      {},
      {},
      false};
}

/// trap ends the launch with an error.
[[noreturn]] void trap(Units const& units, Warp const& warp, std::uint32_t mask, std::uint32_t line) {
  unsigned const t = warp.thread(static_cast<unsigned>(std::countr_zero(mask)));
  throw FlowConflict{FlowFaultKind::trap,
                     units.thread(t) + " executes trap: the launch fails",
                     {line, 0, t},
                     {},
                     isa::trap,
                     {},
                     {},
                     false};
}

/// An instruction that is left out: a wait that does not wait has passed.
bool skip(Now const& now) {
  if (now.decoded.has("test_wait") || now.decoded.has("try_wait"))
    for (unsigned lane = 0; lane < 32; ++lane)
      if (takes_part(now.mask, lane)) now.put(now.in.operands[0], lane, plain(1));
  return true;
}

/// The instruction at which a path is.
std::uint32_t instruction_of(FlowKernel const& kernel, Path const& path) {
  return kernel.program.instructions[kernel.ranges[static_cast<std::size_t>(path.block)].first + path.at]
      .instruction;
}

/// The paragraph about what an instruction waits for.
std::string_view rule_of_wait(FlowKernel const& kernel, std::uint32_t instruction) {
  Handler const handler = kernel.decoded[instruction].handler;
  return handler == Handler::mbarrier          ? isa::mbarrier
         : handler == Handler::cluster_barrier ? isa::cluster_barrier
         : handler == Handler::tensor_allocate ? isa::tensor_columns
                                               : isa::barrier;
}

/// Throws the fault of a warp in a loop that never ends when no other warp goes on.
void throw_if_endless(ClusterState const& state) {
  for (Warp const& warp : state.warps)
    if (std::uint32_t const at = warp.loop.line(); at != ~0U && !warp.paths.empty()) {
      std::string const name = state.units.warp(warp.number);
      if (warp.loop.loads())
        throw FlowRefused{
            fmt::format("{} is in a loop whose state repeats: it ends only if the host, another launch "
                        "or a block that has not begun writes what it loads",
                        name),
            at};
      throw FlowConflict{FlowFaultKind::never_released,
                         name + " is in a loop that never ends: its state repeats",
                         {at, 0, warp.number * 32, true},
                         {},
                         {},
                         {},
                         {at},
                         false};
    }
}

/// Throws the fault of warps that wait when no warp goes on. Lanes that are apart wait for the others of their warp.
void throw_if_stuck(ClusterState const& state) {
  FlowConflict stuck{FlowFaultKind::never_released, {}, {}, {}, {}, {}, {}, false};
  for (Warp const& warp : state.warps) {
    if (warp.paths.empty()) continue;
    std::uint32_t at = instruction_of(state.kernel, warp.paths.back());
    if (warp.apart && at == warp.apart->line) at = instruction_of(state.kernel, warp.paths.front());
    if (auto const wait = state.retrying.find(at); wait != state.retrying.end() && !wait->second)
      throw FlowRefused{std::string(failure_not_followed), at};
    if (std::find(stuck.waits.begin(), stuck.waits.end(), at) == stuck.waits.end()) stuck.waits.push_back(at);
    if (!stuck.text.empty()) continue;
    stuck.text = state.units.warp(warp.number) + " waits and is never released";
    stuck.rule = rule_of_wait(state.kernel, at), stuck.second = {at, warp.counts[at], warp.number * 32, true};
  }
  if (!stuck.text.empty()) throw stuck;
}

/// All warps that go on read a flag again and again: which of them waits for what no warp writes is not decided.
[[noreturn]] void waits_for_a_flag(Units const& units, Warp const& warp) {
  auto const most = std::max_element(warp.counts.begin(), warp.counts.end());
  throw FlowRefused{
      fmt::format("{} reads a flag again and again, and no warp goes on that does not: it may wait for ever",
                  units.warp(warp.number)),
      static_cast<std::uint32_t>(most - warp.counts.begin())};
}

/// Executes an instruction by which the lanes of a warp exchange values; false if it is none.
bool exchange(Now const& now) {
  switch (now.decoded.handler) {
    case Handler::shuffle:
      return shuffle(now), true;
    case Handler::vote:
      return vote(now), true;
    case Handler::elect:
      return elect(now), true;
    case Handler::active_mask:
      return active_mask(now), true;
    case Handler::reduce:
      return reduce(now), true;
    case Handler::match:
      return match(now), true;
    default:
      return false;
  }
}

}  // namespace

BlockRun::BlockRun(FlowKernel const& kernel, std::array<std::uint32_t, 3> number, Names& names,
                   std::uint32_t without, Decisions* decisions)
    : state_(kernel, number, names), without_(without) {
  for (unsigned rank = 0; rank < state_.units.blocks; ++rank)
    blocks_.push_back(std::make_unique<BlockState>(state_, rank));
  state_.decisions = decisions;
  if (decisions != nullptr) decisions->start();
}

void BlockRun::run(WarpOrder const& order) {
  WarpOrder all = order;
  if (all.warps.empty())
    for (unsigned w = 0; w < state_.units.warps(); ++w) all.warps.push_back(w);
  state_.start_warps();
  try {
    run_warps(all);
    end();
  } catch (FlowConflict const& conflict) {
    state_.faults.add(conflict);
  } catch (FlowRefused const&) {
    state_.faults.raise();
    throw;
  }
  state_.faults.raise();
  if (state_.faults.not_well_synchronised()) return;
  if (state_.faults.doubts()) throw FlowRefused{state_.faults.doubts()->text, state_.faults.doubts()->line};
}

/// Tries each warp in the order; true if one went on.
bool BlockRun::run_round(WarpOrder const& order) {
  bool any = false;
  for (unsigned const w : order.warps) {
    Warp& warp = state_.warps[w];
    if (warp.waits || warp.paths.empty()) continue;
    bool const was_apart = warp.apart.has_value(), progress = run_or_stay_apart(warp);
    if (progress && was_apart) throw FlowRefused{*warp.apart};
    if (warp.paths.empty() && !warp.ended) end_warp(block_of(warp), warp);
    any = any || progress;
    bool const again = warp.yields;
    if (progress && !again) flag_rounds_ = 0;
    if (progress && order.eager && !again) return true;
    warp.yields = false;
    if (again && ++flag_rounds_ > most_flag_rounds) waits_for_a_flag(state_.units, warp);
  }
  return any || std::any_of(state_.warps.begin(), state_.warps.end(),
                            [](Warp const& w) { return w.passed && !w.waits; });
}

/// If no warp goes on, lets other lanes of each go on that has some. False if no warp has.
bool BlockRun::split_waiting_warps() {
  bool any = false;
  for (Warp& warp : state_.warps)
    if (!warp.waits && let_others_go_on(warp.paths, warp.live)) any = warp.split = true;
  return any;
}

void BlockRun::run_warps(WarpOrder const& order) {
  constexpr unsigned most_paths = 32;  // of a warp: each lane on its own
  for (unsigned tried = 0; tried <= most_paths; ++tried) {
    while (run_round(order)) tried = 0;
    if (!split_waiting_warps()) break;
  }
  throw_if_endless(state_);
  throw_if_stuck(state_);
}

/// The end of the cluster.
void BlockRun::end() {
  for (auto const& block : blocks_) {
    block->tensor.end();
    if (auto const fault = block->warpgroups.end()) state_.faults.add(*fault);
    assume_tensor(*block);
  }
  if (!state_.faults.not_well_synchronised()) state_.mbarriers.end();
  if (auto const fault = state_.lifetimes.end()) state_.faults.add(*fault);
  for (unsigned t = 0; t < state_.units.threads && state_.kernel.stores_bulk; ++t) {
    unsigned const reads = state_.units.store_reads(t);
    if (state_.clocks.now(reads) > 1 && !state_.clocks.ordered(reads, state_.clocks.now(reads) - 1, t))
      state_.left_out.insert("whether bulk stores have read shared memory when the block ends");
  }
}

std::set<std::uint32_t> BlockRun::executed() const {
  std::set<std::uint32_t> out;
  for (Warp const& warp : state_.warps)
    for (std::uint32_t i = 0; i < warp.counts.size(); ++i)
      if (warp.counts[i] != 0) out.insert(i);
  return out;
}

/// The same of a warp that waits, too, where a part of it is at an instruction that all of its lanes have to execute, and the others wait.
bool BlockRun::run_or_stay_apart(Warp& warp) {
  std::uint64_t const before = steps_;
  try {
    return run_warp(warp);
  } catch (FlowApart const& apart) {
    warp.apart = apart;
    return steps_ > before + 1;
  }
}

/// Runs a warp until it waits or ends; true if it has executed anything.
bool BlockRun::run_warp(Warp& warp) {
  bool any = false;
  std::uint64_t const before = steps_;
  warp.loop.start();
  while (!warp.paths.empty()) {
    Path& top = warp.paths.back();
    top.mask &= warp.live;
    if (top.block < 0 && top.mask != 0) end_threads(block_of(warp), warp, top.mask);
    if (top.block < 0 || top.mask == 0 || (top.join >= 0 && top.block == top.join)) {
      warp.paths.pop_back();
      any = true;
      continue;
    }
    if (!run_path(warp)) {
      any = any || warp.switched;
      if (std::exchange(warp.switched, false)) continue;
      return any || warp.yields || steps_ > before + 1;  // one step: the instruction that it waits at
    }
    any = true;
    std::uint32_t const line =
        state_.kernel.program.blocks[static_cast<std::size_t>(warp.paths.back().block)].end;
    branch(warp);
    if (warp.loop.again(warp.paths, warp.registers, line)) return warp.loop.changed();
  }
  return any;
}

/// Executes what is left of a block; false if the warp waits.
bool BlockRun::run_path(Warp& warp) {
  auto const [first, last] = state_.kernel.ranges[static_cast<std::size_t>(warp.paths.back().block)];
  for (; first + warp.paths.back().at < last; ++warp.paths.back().at) {
    if (++steps_ > state_.kernel.launch.most_steps) too_many_steps(warp);
    std::uint32_t const index = state_.kernel.program.instructions[first + warp.paths.back().at].instruction;
    if (state_.kernel.function.body[index].guard < 0 && is_of_whole_warp(state_.kernel.decoded[index]) &&
        needs_others(state_.kernel, warp, index) && gather(warp.paths, warp.live))
      return warp.switched = true, false;
    if (!execute(warp, state_.kernel.program.instructions[first + warp.paths.back().at])) return false;
    if (warp.yields) return ++warp.paths.back().at, false;
  }
  if (first == last && ++steps_ > state_.kernel.launch.most_steps)
    too_many_steps(warp);  // a loop of a branch alone
  return true;
}

/// The limit of steps is reached: names the instruction that this warp has executed most often.
void BlockRun::too_many_steps(Warp const& warp) const {
  auto const most = std::max_element(warp.counts.begin(), warp.counts.end());
  std::string text = fmt::format("more than {} instructions are executed", state_.kernel.launch.most_steps);
  auto const line = static_cast<std::uint32_t>(most - warp.counts.begin());
  if (most == warp.counts.end() || *most == 0) throw FlowRefused{text + ": --steps N allows more"};
  throw FlowRefused{fmt::format("{}, {} times this one by {}, in a loop: --steps N allows more", text, *most,
                                state_.units.warp(warp.number)),
                    line};
}

void BlockRun::branch(Warp& warp) {
  Path& top = warp.paths.back();
  program::Block const& block = state_.kernel.program.blocks[static_cast<std::size_t>(top.block)];
  if (state_.kernel.chooses(static_cast<std::size_t>(top.block))) return choose_target(warp);
  std::uint32_t const line = block.end;
  bool const traps = line != ~0U && state_.kernel.decoded[line].handler == Handler::trap;
  if (block.condition < 0) {
    if (traps) trap(state_.units, warp, top.mask, line);
    top.block = block.taken, top.at = 0;
    return;
  }
  bool const uniform = line != ~0U && state_.kernel.decoded[line].has("uni");
  if (!traps && !uniform && branch_by_data(warp, line)) return;
  std::uint32_t const yes = decide(warp, block.condition, block.negated, top.mask, line, "the branch");
  std::uint32_t const no = top.mask & ~yes;
  if (traps && yes != 0) trap(state_.units, warp, yes, line);
  check_uniform(state_, warp, line, uniform && yes != 0 && no != 0);
  if (yes == 0 || no == 0) {
    top.block = yes != 0 ? block.taken : block.next, top.at = 0;
    return;
  }
  std::int32_t const join = state_.kernel.flow.ipdom[static_cast<std::size_t>(top.block)];
  top.block = join, top.at = 0;
  if (join < 0) top.mask = 0;
  warp.paths.push_back({no, block.next, 0, join});
  warp.paths.push_back({yes, block.taken, 0, join});
}

/// brx.idx: the blocks that follow each other, each with one target.
void BlockRun::choose_target(Warp& warp) {
  Path const top = warp.paths.back();
  auto const first = static_cast<std::size_t>(top.block);
  std::uint32_t const index = state_.kernel.program.blocks[first].end;
  ptx::Instruction const& in = state_.kernel.function.body[index];
  Now const now{
      block_of(warp), warp, index, in, state_.kernel.decoded[index], state_.kernel.program.instructions[0],
      top.mask};
  std::vector<std::uint32_t> masks(in.operands.size() - 1);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(top.mask, lane)) continue;
    std::uint64_t const k = now.number(in.operands[0], lane, "the index of the branch") & low_bits(32);
    if (k >= masks.size()) now.refuse(fmt::format("the index {} of brx.idx is behind its list", k));
    masks[k] |= 1U << lane;
  }
  std::int32_t const join = state_.kernel.flow.ipdom[first];
  bool const one =
      std::count(masks.begin(), masks.end(), 0U) + 1 == static_cast<std::ptrdiff_t>(masks.size());
  check_uniform(state_, warp, index, !one && now.decoded.has("uni"));
  if (one)
    warp.paths.pop_back();
  else
    warp.paths.back().block = join, warp.paths.back().at = 0,
    warp.paths.back().mask = join < 0 ? 0 : top.mask;
  for (std::size_t k = masks.size(); k-- > 0;)
    if (masks[k] != 0)
      warp.paths.push_back(
          {masks[k], state_.kernel.program.blocks[first + k].taken, 0, one ? top.join : join});
}

bool BlockRun::execute(Warp& warp, program::LoweredInstruction const& lowered) {
  std::uint32_t const index = lowered.instruction;
  ptx::Instruction const& in = state_.kernel.function.body[index];
  std::uint32_t mask = warp.paths.back().mask;
  if (in.guard >= 0) {
    Truth const is = truth(warp, in.guard, in.guard_negated, mask);
    Now const by_data{block_of(warp),   warp, index, in, state_.kernel.decoded[index], lowered,
                      is.yes | is.named};
    if (is.named != 0 && guard_by_data(by_data, is.named)) return true;
    mask = decide(warp, in.guard, in.guard_negated, mask, index, "the guard");
  }
  if (mask == 0) return true;
  if (index == without_)
    return skip({block_of(warp), warp, index, in, state_.kernel.decoded[index], lowered, mask});
  if (!warp.waits && !warp.passed) ++warp.counts[index];
  Decoded const& decoded = state_.kernel.decoded[index];
  if (!changes_registers_alone(decoded)) warp.loop.change();
  if (decoded.handler == Handler::load && (decoded.space == Space::global || decoded.space == Space::generic))
    warp.loop.load();
  Now const now{block_of(warp), warp, index, in, state_.kernel.decoded[index], lowered, mask};
  if (in.operands.size() < operands_of(now.decoded)) now.refuse("operands are missing");
  check_destination(now);
  if (state_.kernel.asynchronous) check_registers(now);
  if (!warp.loading.empty()) check_loading(now);
  return dispatch(now);
}

bool BlockRun::dispatch(Now const& now) {
  switch (now.decoded.handler) {
    case Handler::steps:
      return execute_steps(now), true;
    case Handler::nothing:
      return true;
    case Handler::load:
      return load(now), true;
    case Handler::store:
      return store(now), true;
    case Handler::move_wide:
      return move_wide(now), true;
    case Handler::query_cancel:
      return query_cancel(now), true;
    case Handler::atomic:
      return atomic(now), true;
    case Handler::store_zeros:
      return store_zeros(now), true;
    case Handler::map_address:
      return map_address(now), true;
    case Handler::convert_address:
      return convert_address(now), true;
    case Handler::copy_async:
      return copy_async(now), true;
    case Handler::commit:
    case Handler::wait:
      return wait_for_copies(now), true;
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
    case Handler::wmma_move:
      return wmma_move(now), true;
    case Handler::wmma_product:
      return wmma_product(now), true;
    case Handler::real:
      return real(now), true;
    case Handler::compare:
      return compare(now), true;
    case Handler::convert:
      return convert(now), true;
    case Handler::extreme:
      return extreme(now), true;
    default:
      return exchange(now) || dispatch_async(now);
  }
}

/// Instructions of the asynchronous proxy, and those that are not executed.
bool BlockRun::dispatch_async(Now const& now) {
  switch (now.decoded.handler) {
    case Handler::mbarrier:
      return mbarrier(now);
    case Handler::proxy_fence:
      return proxy_fence(now), true;
    case Handler::memory_fence:
      return memory_fence(now), true;
    case Handler::mbarrier_fence:
      return mbarrier_fence(now), true;
    case Handler::bulk_copy:
      return bulk_copy(now), true;
    case Handler::bulk_store:
      return bulk_store(now), true;
    case Handler::bulk_load_bytes:
      return bulk_load_bytes(now), true;
    case Handler::bulk_send:
      return bulk_send(now), true;
    case Handler::bulk_store_bytes:
      return bulk_store_bytes(now), true;
    case Handler::bulk_reduce:
      return bulk_reduce(now), true;
    case Handler::bulk_groups:
      return bulk_groups(now), true;
    case Handler::try_cancel:
      return try_cancel(now), true;
    case Handler::bulk_prefetch:
      return bulk_prefetch(now), true;
    case Handler::store_async:
      return store_async(now), true;
    case Handler::address_rank:
      return rank_of_address(now), true;
    case Handler::arrive_async:
      return arrive_async(now), true;
    case Handler::wgmma:
      return wgmma(now), true;
    case Handler::wgmma_fence:
    case Handler::wgmma_commit:
    case Handler::wgmma_wait:
      return wgmma_groups(now), true;
    case Handler::set_registers:
      return change_registers(now), true;
    case Handler::tensor_allocate:
    case Handler::tensor_load:
    case Handler::tensor_store:
    case Handler::tensor_wait:
    case Handler::tensor_fence:
    case Handler::tensor_mma:
    case Handler::tensor_copy:
    case Handler::tensor_shift:
    case Handler::tensor_commit:
      return execute_tensor(now);
    default:
      now.refuse_opcode();
  }
}

}  // namespace swizproof::flow_detail
