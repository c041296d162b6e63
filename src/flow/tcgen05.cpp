// tcgen05 but for its products: columns of Tensor Memory, registers, and what orders them. tensor_memory.hpp has the rules.
#include "execute.hpp"
#include "windows.hpp"

#include <swizproof/hardware/tensor_memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace swizproof::flow_detail {

namespace {

/// The operand of a whole warp, which is the same in all of its threads.
std::uint64_t of_warp(Now const& now, std::uint64_t first, std::uint64_t value, unsigned lane,
                      char const* what) {
  if (first != value)
    now.fault(FlowFaultKind::misuse, now.touch(lane), isa::aligned,
              fmt::format("threads of warp {} execute {} with different {}", now.warp.of_block,
                          now.in.opcode.text, what));
  return first;
}

std::uint64_t number_of_warp(Now const& now, ptx::Operand const& o, char const* what) {
  std::uint64_t const first = now.number(o, 0, what);
  for (unsigned lane = 1; lane < 32; ++lane) of_warp(now, first, now.number(o, lane, what), lane, what);
  return first & 0xffffffffU;
}

/// A form of tcgen05.ld and .st with .xN.
struct Move {
  TensorMemoryForm form;
  unsigned repeats = 1;
};

Move move_of(Now const& now) {
  Move out{tensor_memory_forms[0], 0};
  bool known = false;
  for (std::string_view const p : now.decoded.parts) {
    for (TensorMemoryForm const& f : tensor_memory_forms)
      if (p == f.name) out.form = f, known = true;
    if (p[0] == 'x') std::from_chars(p.data() + 1, p.data() + p.size(), out.repeats);
  }
  if (!known || !std::has_single_bit(out.repeats) || out.repeats > out.form.most) now.refuse_opcode();
  return out;
}

/// Lane and column of register r of a thread, from the address on; the second half of .16x32bx2 is `split` columns on.
MatrixElement cell_of(Move const& m, unsigned thread, unsigned r, unsigned split) {
  if (m.form.shape == TensorMemoryShape::s16x32bx2) return {thread % 16, r + thread / 16 * split};
  return tensor_memory_element(m.form.shape, m.form.columns * m.repeats, thread, r);
}

/// The first lane that a warp accesses: its quarter of Tensor Memory is lanes 32 w to 32 w + 31 of warp w of a warpgroup.
void check_lanes(Now const& now, Move const& m, std::uint64_t lane) {
  unsigned const quarter = now.warp.of_block % 4 * 32;
  if (lane < quarter || lane + m.form.lanes > quarter + 32)
    now.fault(
        FlowFaultKind::out_of_bounds, now.touch(0, true), isa::tensor_lanes,
        fmt::format("warp {} accesses lanes {} to {} of Tensor Memory, and reaches lanes {} to {} alone",
                    now.warp.of_block, lane, lane + m.form.lanes - 1, quarter, quarter + 31));
  if (lane % m.form.lanes != 0) now.refuse("a lane of Tensor Memory that is no multiple of 16");
}

// ------------------------------------------------------------------------------------- allocation

bool tensor_allocate(Now const& now) {
  now.need_whole_warp();
  BlockState& block = now.block;
  FlowTouch const by = now.touch(0, true);
  unsigned const t = now.thread(0);
  block.assumed.insert("tcgen05 is as PTX ISA 9.1 documents it: documented, not measured on a device");
  bool const pair = now.decoded.has("cta_group::2");
  TensorPart part{TensorPart::Kind::relinquish, t, block.clocks.now(t), by};
  auto const wait = [&] { return --now.warp.counts[now.index], false; };
  if (now.decoded.has("relinquish_alloc_permit")) {
    if (!pair) return block.tensor.relinquish(t, by), true;
    return execute_part(now, part) || wait();
  }
  std::uint64_t const columns = part.columns = number_of_warp(now, now.in.operands[1], "numbers of columns");
  if (now.decoded.has("dealloc")) {
    part.kind = TensorPart::Kind::deallocate;
    part.address = number_of_warp(now, now.in.operands[0], "addresses");
    if (pair) return execute_part(now, part) || wait();
    return block.tensor.deallocate(part.address, columns, t, by), true;
  }
  part.kind = TensorPart::Kind::allocate;
  std::uint64_t const at = shared_address(now, now.in.operands[0], 0);
  for (unsigned lane = 1; lane < 32; ++lane)
    of_warp(now, at, shared_address(now, now.in.operands[0], lane), lane, "addresses");
  check_bounds(now, program::Space::shared, at, 4, 0, "writes", 4, true);
  auto const first = pair ? execute_part(now, part) : block.tensor.allocate(columns, t, by);
  if (!first) return wait();
  block.assumed.insert("tcgen05.alloc gives the lowest columns that are free");
  for (unsigned i = 0; i < 4; ++i)
    block.shared.write(at + i, now.toucher(0), 0, static_cast<std::uint8_t>(*first >> 8 * i));
  // 9.7.16.6.1: it keeps the order of accesses to one address, in all threads of the warp.
  Clocks::Moments const written = block.clocks.merged({block.clocks.arrive(t)});
  for (unsigned lane = 1; lane < 32; ++lane) block.clocks.take(written, now.thread(lane));
  return true;
}

// -------------------------------------------------------------------------------------- registers

/// tcgen05.ld: {registers}, [address]; tcgen05.st: [address], {registers}; .16x32bx2 has a further operand, before or behind the registers.
void tensor_move(Now const& now) {
  now.need_whole_warp();
  BlockState& block = now.block;
  bool const load = now.decoded.handler == Handler::tensor_load;
  Move const m = move_of(now);
  auto const& in = now.in.operands;
  bool const two = m.form.shape == TensorMemoryShape::s16x32bx2;
  ptx::Operand const& where = in[load ? 1 : 0];
  std::vector<ptx::Operand> const one{in[load ? 0 : in.size() - 1]};
  auto const& registers = one[0].kind == ptx::Operand::Kind::vector ? one[0].parts : one;
  if (registers.size() != m.form.registers * m.repeats) now.refuse("the number of registers does not match");
  std::uint64_t const address = now.address(where, 0);
  for (unsigned lane = 1; lane < 32; ++lane)
    of_warp(now, address, now.address(where, lane), lane, "addresses");
  std::uint64_t const first = address >> 16 & 0xffff, column = address & 0xffff,
                      split = two ? now.number(in[load ? 2 : 1], 0, "the offset of the second half") : 0;
  check_lanes(now, m, first);
  unsigned const w = now.warp.number;
  TensorAccess access{{},
                      load ? block.units.tensor_loads(w) : block.units.tensor_stores(w),
                      now.touch(0, true),
                      load ? TensorOperation::load : TensorOperation::store};
  for (unsigned lane = 0; lane < 32; ++lane) access.threads.push_back(now.thread(lane));
  block.tensor.begin(std::move(access));
  unsigned const width = two ? m.repeats : m.form.columns * m.repeats;
  block.tensor.need_columns(column, width);
  if (two) block.tensor.need_columns(column + split, width);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < registers.size(); ++r) {
      MatrixElement const e = cell_of(m, lane, r, static_cast<unsigned>(split));
      auto const row = static_cast<unsigned>(first) + e.row, at = static_cast<unsigned>(column) + e.column;
      if (!load) {
        block.tensor.write(row, at, now.operand(registers[r], lane, 32));
        continue;
      }
      now.put(registers[r], lane, tensor_word(now, block.tensor, block.tensor.read(row, at)));
    }
  if (!load) return;
  for (ptx::Operand const& o : registers)
    if (o.kind == ptx::Operand::Kind::reg) now.warp.loading[o.reg] = {now.index, ~0U};
}

}  // namespace

/// Bytes of a cell, as this instruction reads them.
Word tensor_word(Now const& now, TensorMemory const& memory, TensorCell const* cell) {
  Word out;
  if (cell == nullptr) return low_bytes(now.block.names.word(now.block.uninitialised), 4);
  out.number = cell->number, out.named = cell->named;
  Name last = 0, moved = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if ((cell->named >> i & 1) == 0) continue;
    Name const held = cell->part[i] / 8;
    if (held != last) last = held, moved = now.block.names.moved(held, memory.line_of(*cell), now.index);
    out.part[i] = moved * 8 + cell->part[i] % 8;
  }
  return out;
}

/// PTX ISA 9.1, 9.7.16.6.4.5: a true dependency is respected, so a lane that has read the register may write it; else what overwrites it,
/// also a further tcgen05.ld, needs tcgen05.wait::ld before.
void check_loading(Now const& now) {
  auto& loading = now.warp.loading;
  auto const& all = now.in.operands;
  bool const writes = has_result(now.decoded, now.in);
  for (std::size_t i = writes ? 1 : 0; i < all.size(); ++i)
    each_register(all[i], [&](std::uint32_t r) {
      auto const found = loading.find(r);
      if (found == loading.end() || (found->second.lanes & now.mask) == 0) return;
      now.block.tensor.used_early(found->second.line);
      found->second.lanes &= ~now.mask;
    });
  if (!writes) return;
  each_register(all[0], [&](std::uint32_t r) {
    auto const found = loading.find(r);
    if (found == loading.end() || (found->second.lanes & now.mask) == 0) return;
    throw FlowConflict{FlowFaultKind::race,
                       fmt::format("warp {} writes {}, which tcgen05.ld writes, and has not waited for it",
                                   now.warp.of_block, now.block.kernel.function.registers[r].name),
                       now.touch(0, true),
                       FlowTouch{found->second.line, 0, now.warp.thread(0), true},
                       isa::tensor_registers,
                       "tcgen05.wait::ld before the register is written",
                       {},
                       false};
  });
}

// ------------------------------------------------------------------------------------------ order

namespace {

void tensor_wait(Now const& now) {
  now.need_whole_warp();
  BlockState& block = now.block;
  bool const loads = now.decoded.has("wait::ld");
  unsigned const unit =
      loads ? block.units.tensor_loads(now.warp.number) : block.units.tensor_stores(now.warp.number);
  auto moments = std::make_shared<std::vector<std::uint32_t>>(block.clocks.size(), 0);
  (*moments)[unit] = block.clocks.now(unit);
  block.clocks.tick(unit);
  for (unsigned lane = 0; lane < 32; ++lane) block.clocks.take({moments, moments}, now.thread(lane));
  if (loads) now.warp.loading.clear();
}

void tensor_fence(Now const& now) {
  bool const before = now.decoded.has("fence::before_thread_sync");
  Clocks& clocks = now.block.clocks;
  TensorFences& fences = now.block.cluster.tensor_fences;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    if (!before) {
      fences.after[t] = clocks.seen(t).execution;
      continue;
    }
    Clocks::Arrival const at = clocks.arrive(t);
    fences.before[t].push_back({at.own, at.seen.memory});
  }
}

}  // namespace

/// Readings of the PTX ISA that the order of tcgen05 depends on.
void assume_tensor(BlockState& block) {
  auto const say = [&](std::set<std::uint32_t> const& lines, std::string_view text) {
    if (lines.empty()) return;
    ptx::Instruction const& first = block.kernel.function.body[*lines.begin()];
    block.assumed.insert(fmt::format("{} ({} instructions, the first is {} in PTX line {})", text,
                                     lines.size(), first.opcode.text, first.line));
  };
  say(block.tensor.by_acquire(),
      "an acquire or a barrier orders tcgen05 without tcgen05.fence::after_thread_sync, by 9.7.16.6.3");
  say(block.tensor.unannounced(),
      "a relaxed arrival orders tcgen05 without tcgen05.fence::before_thread_sync, which 9.7.16.6.4.4 has");
  say(block.tensor.overwriting(),
      "tcgen05.cp overwrites what an earlier tcgen05.mma has read, which 9.7.16.6.2 does not list");
  say(block.tensor.by_other_warps(),
      "more than one warp allocates and deallocates, where 9.7.16.7.1 has one warp of the block");
  say(block.tensor.used_early(), "registers of tcgen05.ld are used before tcgen05.wait::ld, by 9.7.16.6.4.5");
}

namespace {

/// tcgen05.commit: all that the thread has issued arrives once at the mbarrier when it is complete; with .multicast::cluster at the same address
/// in each block of the mask. [PTX ISA 9.1, 9.7.16.12.1]
void tensor_commit(Now const& now) {
  BlockState& block = now.block;
  bool const several = now.decoded.has("multicast::cluster");
  if (now.in.operands.size() != (several ? 2 : 1)) now.refuse_opcode();
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const at = shared_address(now, now.in.operands[0], lane);
    std::uint64_t const mask = several ? now.number(now.in.operands[1], lane, "the mask of blocks") & 0xffff
                                       : std::uint64_t{1} << rank_at(at);
    unsigned const unit = block.units.tensor_mma(now.thread(lane));
    if (mask == 0) now.refuse("a multicast to no block");
    for (unsigned rank = 0; mask >> rank != 0; ++rank) {
      if ((mask >> rank & 1) == 0) continue;
      std::uint64_t const where = std::uint64_t{rank} << window_shift | in_block(at);
      check_window(now, where, lane, "uses an mbarrier in");
      if (rank != block.rank)
        block.lifetimes.access(rank, {now.index, now.warp.counts[now.index], unit},
                               block.mbarriers.clock_at(where));
      block.mbarriers.arrive_complete(where, Completes::commit, block.tensor.committed(unit), true,
                                      now.operation(lane), block.clocks);
    }
  }
}

}  // namespace

bool execute_tensor(Now const& now) {
  check_pair(now);
  switch (now.decoded.handler) {
    case Handler::tensor_allocate:
      return tensor_allocate(now);
    case Handler::tensor_load:
    case Handler::tensor_store:
      return tensor_move(now), true;
    case Handler::tensor_wait:
      return tensor_wait(now), true;
    case Handler::tensor_fence:
      return tensor_fence(now), true;
    case Handler::tensor_mma:
      return tensor_mma(now), true;
    case Handler::tensor_copy:
      return tensor_copy(now), true;
    case Handler::tensor_shift:
      return tensor_shift(now), true;
    default:
      return tensor_commit(now), true;
  }
}

}  // namespace swizproof::flow_detail
