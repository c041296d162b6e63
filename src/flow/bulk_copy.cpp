// Bulk copies: boxes of the TMA and plain bytes, between global and shared memory, and to the shared memory of another block.
//
// .multicast::cluster copies to several blocks, to the same address in each: to each by its own mbarrier. A copy reads and writes when it is issued. A load does so by a clock of its mbarrier: a thread is ordered behind it once it has waited for
// the phase that it completes. A store has two clocks of the thread that issues it: one for what it reads, one for what it writes. The thread
// is ordered behind both once it has waited for the bulk group, and behind the first alone after wait_group.read.
#include "execute.hpp"
#include "windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

namespace {

constexpr std::uint64_t bulk_unit = 16;  ///< bytes: plain copies have multiples of it

/// A box of a tensor map that a copy moves, and where it is, the outermost coordinate first.
struct Box {
  FlowArray const& array;
  std::uint32_t id = 0;
  std::vector<std::int64_t> at{};
};

/// End of the advice where real kernels leave the fence out.
constexpr std::string_view strict_alone = "; --proxy write does not ask for it";

/// An ordinary access, and then one of the async proxy to the same byte: a proxy fence has to be between them (proxies.hpp).
void need_proxy_fence(Now const& now, program::Space space, Cell::Access const& first, Toucher const& by,
                      std::uint64_t address, char const* verb, char const* verb_of_first,
                      bool of_strict_alone = false) {
  if (!now.block.units.generic(first.doer)) return;
  bool const in_shared = space == program::Space::shared;
  std::uint32_t const when =
      first.group == 0 ? first.clock : now.block.groups.done(first.doer, first.group - 1);
  if ((in_shared ? now.block.cluster.fences[rank_at(address)] : now.block.global_fences)
          .between(first.doer, when, by.thread, now.block.clocks))
    return;
  if (!now.block.faults.would_keep(FlowFaultKind::fence, true)) return;
  char const* const fence = in_shared ? "fence.proxy.async.shared::cta" : "fence.proxy.async.global";
  FlowLine const at = now.block.kernel.line(first.line);
  now.block.faults.add(
      {FlowFaultKind::fence,
       fmt::format("{} {} {}, which {} {}: no fence.proxy.async is between them",
                   now.block.units.who(by.doer()), verb,
                   (in_shared ? now.block.shared : now.block.global).place(address),
                   now.block.units.who(first.doer), verb_of_first),
       Bytes::touch(by),
       Bytes::touch(first),
       isa::async_proxy,
       fmt::format("{} by {}, behind PTX line {} and before the barrier that orders it before this{}", fence,
                   now.block.units.who(first.doer), at.ptx_line, of_strict_alone ? strict_alone : ""),
       {},
       true});
}

/// Operation of a cp.reduce.
std::string_view reduction_of(Decoded const& d) {
  for (std::string_view const op : {"add", "min", "max", "and", "or", "xor", "inc", "dec"})
    if (d.has(op)) return op;
  return {};
}

}  // namespace

/// Bytes that a unit of the async proxy reads.
Word read_async(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                Toucher const& by) {
  Word out;
  bool const in_shared = space == program::Space::shared,
             checks = now.block.kernel.launch.proxy != FlowProxy::off;
  for (unsigned i = 0; i < bytes; ++i) {
    Cell const* const c = (in_shared ? now.block.shared : now.block.global).read(address + i, by);
    if (c == nullptr) {
      out.part[i] = now.block.uninitialised * 8 + i,
      out.named = static_cast<std::uint8_t>(out.named | 1U << i);
      continue;
    }
    if (checks) {
      need_proxy_fence(now, space, c->writer, by, address + i, "reads", "has written");
      for (Cell::Access const& w : c->others)
        need_proxy_fence(now, space, w, by, address + i, "reads", "has written");
    }
    if (c->part == 0)
      out.number |= std::uint64_t{c->number} << 8 * i;
    else
      out.part[i] = now.block.names.moved(c->part / 8, c->writer.line, now.index) * 8 + c->part % 8,
      out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return out;
}

namespace {

/// A byte of global memory that a bulk load reads.
Word read_source(Now const& now, std::uint64_t address, Toucher const& by) {
  if (now.block.global.find(address) != nullptr)
    return read_async(now, program::Space::global, address, 1, by);
  now.block.global.read_first(address, by);
  return element_byte(now, address);
}

}  // namespace

void write_async(Now const& now, program::Space space, std::uint64_t address, Toucher const& by,
                 Word const& value) {
  Bytes& to = space == program::Space::shared ? now.block.shared : now.block.global;
  if (Cell const* const c = now.block.kernel.launch.proxy == FlowProxy::off ? nullptr : to.known(address);
      c != nullptr) {
    if (c->written) {
      need_proxy_fence(now, space, c->writer, by, address, "writes", "has written");
      for (Cell::Access const& w : c->others)
        need_proxy_fence(now, space, w, by, address, "writes", "has written");
    }
    // A reduction that is not ordered behind the last one is the first in another order.
    bool const again = c->written && by.atomic != 0 && by.atomic == c->writer.atomic && c->past;
    if (again)
      for (Cell::Access const& w : c->past->writers)
        need_proxy_fence(now, space, w, by, address, "writes", "has written");
    if (now.block.kernel.launch.proxy == FlowProxy::strict) {
      for (Cell::Access const& r : c->readers)
        need_proxy_fence(now, space, r, by, address, "writes", "has read", true);
      if (again)
        for (Cell::Access const& r : c->past->readers)
          need_proxy_fence(now, space, r, by, address, "writes", "has read", true);
    }
  }
  now.block.flags.forget(address, 1);
  to.write(address, by, value.named != 0 ? value.part[0] : 0, static_cast<std::uint8_t>(value.number));
}

namespace {

/// Destination of a copy and its mbarrier.
struct Destination {
  std::uint64_t to = 0, where = 0;
};

/// The destinations of a copy: that of its operands, or with .multicast::cluster one for each bit of the mask. The mbarrier is in the same block,
/// with .cta_group::2 in the block of its pair that has the parity of the operand's. [PTX ISA 9.0, 9.7.9.25.5.2: cp.async.bulk.tensor; CTA pair]
std::vector<Destination> destinations(Now const& now, unsigned lane, std::uint64_t to, std::uint64_t where,
                                      std::size_t mask_at) {
  bool const pair = now.decoded.has("cta_group::2");
  std::vector<Destination> out{{to, where}};
  if (now.decoded.has("multicast::cluster")) {
    if (now.in.operands.size() <= mask_at) now.refuse("operands are missing");
    assume_cluster(now);
    std::uint64_t const mask = now.number(now.in.operands[mask_at], lane, "the mask of blocks") & 0xffff;
    if (mask == 0) now.refuse("a multicast to no block");
    out.clear();
    for (unsigned rank = 0; mask >> rank != 0; ++rank) {
      unsigned const signalled = pair ? (rank & ~1U) | (rank_at(where) & 1U) : rank;
      if ((mask >> rank & 1) != 0)
        out.push_back({std::uint64_t{rank} << window_shift | in_block(to),
                       std::uint64_t{signalled} << window_shift | in_block(where)});
    }
  }
  for (Destination const& d : out)
    if (rank_at(d.to) != rank_at(d.where) && !(pair && (rank_at(d.to) ^ 1U) == rank_at(d.where)))
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::copies,
                fmt::format("{} copies to rank {}, and its mbarrier is one of rank {}",
                            now.block.units.thread(now.thread(lane)), rank_at(d.to), rank_at(d.where)));
  return out;
}

/// A unit accesses the memory of a block, which may not end before.
void note_lifetime(Now const& now, unsigned rank, unsigned unit) {
  if (rank != now.block.rank) now.block.lifetimes.access(rank, {now.index, now.warp.counts[now.index], unit});
}

/// The copy of a unit is complete.
void finish_copy(Now const& now, Destination const& d, std::uint64_t bytes, unsigned unit) {
  note_lifetime(now, rank_at(d.to), unit);
  note_lifetime(now, rank_at(d.where), unit);
  now.block.mbarriers.copied(d.where, bytes, unit, now.block.clocks);
}

/// The unit that copies for the mbarrier of a load. Its initialisation needs a fence before: it is one of the generic proxy.
unsigned bulk_barrier(Now const& now, std::uint64_t where, unsigned lane) {
  check_window(now, where, lane, "uses an mbarrier in");
  unsigned const unit = now.block.mbarriers.copy_begins(where, now.operation(lane), now.block.clocks);
  now.block.clocks.tick(unit);
  Mbarriers::Origin const& from = now.block.mbarriers.origin(where);
  unsigned const t = now.thread(lane);
  if (now.block.mbarriers.fenced(from, t, now.block.clocks) ||
      now.block.kernel.launch.proxy != FlowProxy::strict ||
      now.block.cluster.fences[rank_at(where)].between(from.thread, from.clock, t, now.block.clocks))
    return unit;
  Units const& units = now.block.units;
  now.block.faults.add(
      {FlowFaultKind::fence,
       fmt::format("a bulk copy of {} uses the mbarrier at 0x{:x}{}, which {} has "
                   "initialised: no fence.mbarrier_init or fence.proxy.async is between them",
                   units.thread(t), in_block(where), units.of_rank(rank_at(where)),
                   units.thread(from.thread)),
       now.touch(lane),
       from.touch,
       isa::async_proxy,
       fmt::format("fence.mbarrier_init.release.cluster by {}, behind PTX line {} and before the "
                   "barrier{}",
                   units.thread(from.thread), now.block.kernel.line(from.touch.line).ptx_line, strict_alone),
       {},
       true});
  return unit;
}

/// The tensor map and the coordinates, the innermost first, of a copy: a box, outermost first.
Box box_of(Now const& now, ptx::Operand const& from, unsigned lane) {
  if (from.kind != ptx::Operand::Kind::address || from.parts.size() != 2)
    now.refuse(fmt::format("the address {} is not read", from.text));
  std::uint64_t const map =
      of_generic(now, now.number(from.parts[0], lane, "the address of the tensor map"), lane).at;
  auto const tensor = now.block.kernel.tensors.find(map);
  if (tensor == now.block.kernel.tensors.end())
    now.refuse(now.block.kernel.in_params(map)
                   ? fmt::format("parameter {} is no tensor map that has a box: give it as --param "
                                 "'{}=A:f16[128][64] box[64][64] 128B'",
                                 now.block.kernel.param_at(map), now.block.kernel.param_at(map).substr(1))
                   : "the tensor map is no parameter");
  Box box{now.block.kernel.arrays[tensor->second], tensor->second, {}};
  for (ptx::Operand const& c : from.parts[1].parts)
    box.at.insert(box.at.begin(), static_cast<std::int32_t>(now.number(c, lane, "a coordinate of the box")));
  if (box.at.size() != box.array.extents.size())
    now.refuse(fmt::format("{} has {} dimensions, and the copy {}", box.array.name, box.array.extents.size(),
                           box.at.size()));
  return box;
}

/// Notes a store whose box begins before the tensor.
void note_clipped(Now const& now, Box const& box) {
  if (std::any_of(box.at.begin(), box.at.end(), [](std::int64_t at) { return at < 0; }))
    now.block.assumed.insert(
        "a tensor store whose box begins at a negative coordinate writes the part in the tensor, which the "
        "PTX "
        "ISA may exclude (9.7.9.27.1.1)");
}

/// Calls fn(byte of shared memory, byte of global memory, or nothing beyond the array) for the bytes of a box.
template <class Fn>
void each_byte(Now const& now, unsigned lane, Box const& box, std::uint64_t shared, Fn const& fn) {
  FlowArray const& a = box.array;
  unsigned const each = a.bits / 8;
  std::uint32_t const line_bytes = a.box.back() * each;
  if (shared % tma_destination != 0)
    now.fault(
        FlowFaultKind::misaligned, now.touch(lane), isa::copies,
        fmt::format("the TMA {} a box {} 0x{:x}, which is no multiple of {}",
                    now.decoded.handler == Handler::bulk_copy ? "writes" : "reads",
                    now.decoded.handler == Handler::bulk_copy ? "to" : "from", shared, tma_destination));
  std::uint64_t lines = 1;
  for (std::size_t d = 0; d + 1 < a.box.size(); ++d) lines *= a.box[d];
  std::uint64_t const end = shared + (lines - 1) * tma_pitch(a.mode, line_bytes) + line_bytes;
  check_bounds(now, program::Space::shared, shared, 1, lane, "copies to or from");
  check_bounds(now, program::Space::shared, end - 1, 1, lane, "copies to or from");
  note_span(now, shared, end - shared);
  for (std::uint64_t line = 0; line < lines; ++line) {
    std::uint64_t rest = line, row = 0;
    bool inside = true;
    std::vector<std::int64_t> index(box.at);
    for (std::size_t d = a.box.size() - 1; d-- > 0; rest /= a.box[d])
      index[d] += static_cast<std::int64_t>(rest % a.box[d]);
    for (std::size_t d = 0; d + 1 < index.size(); ++d) {
      inside = inside && index[d] >= 0 && index[d] < static_cast<std::int64_t>(a.extents[d]);
      row = row * a.extents[d] + static_cast<std::uint64_t>(index[d]);
    }
    for (std::uint32_t x = 0; x < line_bytes; ++x) {
      std::int64_t const column = index.back() + x / each;
      bool const there = inside && column >= 0 && column < static_cast<std::int64_t>(a.extents.back());
      std::optional<std::uint64_t> global;
      if (there)
        global = (std::uint64_t{box.id} << array_shift) +
                 (row * a.extents.back() + static_cast<std::uint64_t>(column)) * each + x % each;
      fn(shared - in_block(shared) +
             tma_address(a.mode, static_cast<std::uint32_t>(in_block(shared)),
                         static_cast<std::uint32_t>(line), line_bytes, x),
         global);
    }
  }
}

}  // namespace

/// cp.async.bulk.tensor into shared memory: [to], [map, {coordinates}], [mbarrier] {, mask}. What is beyond the array is 0.
void bulk_copy(Now const& now) {
  constexpr std::size_t mask_at = 3;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    Box const box = box_of(now, now.in.operands[1], lane);
    std::uint64_t bytes = box.array.bits / 8;
    for (std::uint32_t const n : box.array.box) bytes *= n;
    for (Destination const& d : destinations(now, lane, address_in_space(now, now.in.operands[0], lane),
                                             address_in_space(now, now.in.operands[2], lane), mask_at)) {
      unsigned const unit = bulk_barrier(now, d.where, lane);
      Toucher const by = now.toucher(lane, 0, unit);
      each_byte(now, lane, box, d.to, [&](std::uint64_t shared, std::optional<std::uint64_t> const& global) {
        write_async(now, program::Space::shared, shared, by,
                    global ? read_source(now, *global, by) : plain(0));
      });
      finish_copy(now, d, bytes, unit);
    }
  }
}

/// cp.async.bulk.tensor from shared memory: [map, {coordinates}], [from]. What is beyond the array is not written.
void bulk_store(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    Box const box = box_of(now, now.in.operands[0], lane);
    note_clipped(now, box);
    Toucher const reads = now.toucher(lane, 0, now.block.units.store_reads(t)),
                  writes = now.toucher(lane, 0, now.block.units.store_writes(t));
    each_byte(now, lane, box, address_in_space(now, now.in.operands[1], lane),
              [&](std::uint64_t shared, std::optional<std::uint64_t> const& global) {
                if (!global) return;
                write_async(now, program::Space::global, *global, writes,
                            read_async(now, program::Space::shared, shared, 1, reads));
              });
  }
}

namespace {

/// Size of a plain copy whose addresses and size are multiples of 16 bytes, and within shared memory and another space. `own`: the other one
/// is the block's own shared memory.
std::uint64_t bulk_size(Now const& now, unsigned lane, std::uint64_t shared, std::uint64_t other,
                        bool own = false) {
  std::uint64_t const bytes = now.number(now.in.operands[2], lane, "the size") & 0xffffffffU;
  for (std::uint64_t const x : {shared, other, bytes})
    if (x % bulk_unit != 0)
      now.fault(FlowFaultKind::misaligned, now.touch(lane), isa::copies,
                fmt::format("a bulk copy of {} has 0x{:x} as address or size, which is no multiple of {}",
                            now.block.units.thread(now.thread(lane)), x & 0xffffffffffU, bulk_unit));
  if (bytes == 0) return 0;
  note_span(now, shared, bytes);
  if (own) note_span(now, other, bytes);
  for (std::uint64_t const i : {std::uint64_t{0}, bytes - 1}) {
    check_bounds(now, program::Space::shared, shared + i, 1, lane, "copies to or from");
    check_bounds(now, own ? program::Space::shared : program::Space::global, other + i, 1, lane,
                 "copies to or from", 0, own);
  }
  return bytes;
}

}  // namespace

/// cp.async.bulk of plain bytes into shared memory: [to], [from], bytes, [mbarrier] {, mask}.
void bulk_load_bytes(Now const& now) {
  constexpr std::size_t mask_at = 4;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const from = address_in_space(now, now.in.operands[1], lane);
    for (Destination const& d : destinations(now, lane, address_in_space(now, now.in.operands[0], lane),
                                             address_in_space(now, now.in.operands[3], lane), mask_at)) {
      std::uint64_t const bytes = bulk_size(now, lane, d.to, from);
      if (bytes == 0) {  // 0 bytes complete no transaction: in which phase does not matter
        now.block.assumed.insert("a bulk copy of 0 bytes does nothing");
        continue;
      }
      unsigned const unit = bulk_barrier(now, d.where, lane);
      Toucher const by = now.toucher(lane, 0, unit);
      for (std::uint64_t i = 0; i < bytes; ++i)
        write_async(now, program::Space::shared, d.to + i, by, read_source(now, from + i, by));
      finish_copy(now, d, bytes, unit);
    }
  }
}

/// cp.async.bulk.shared::cluster.shared::cta: [to], [from], bytes, [mbarrier]. The block's own memory has to be there until it is read.
void bulk_send(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const from = address_in_space(now, now.in.operands[1], lane);
    Destination const d =
        destinations(now, lane, address_in_space(now, now.in.operands[0], lane),
                     address_in_space(now, now.in.operands[3], lane), now.in.operands.size())[0];
    if (rank_at(d.to) == now.block.rank)
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::bulk_send,
                fmt::format("{} copies to the shared memory of its own block by {}",
                            now.block.units.thread(now.thread(lane)), now.in.opcode.text));
    std::uint64_t const bytes = bulk_size(now, lane, d.to, from, true);
    if (bytes == 0) now.refuse("a bulk copy of 0 bytes to another block");
    unsigned const unit = bulk_barrier(now, d.where, lane);
    Toucher const by = now.toucher(lane, 0, unit);
    for (std::uint64_t i = 0; i < bytes; ++i)
      write_async(now, program::Space::shared, d.to + i, by,
                  read_async(now, program::Space::shared, from + i, 1, by));
    now.block.lifetimes.access(now.block.rank, {now.index, now.warp.counts[now.index], unit});
    finish_copy(now, d, bytes, unit);
  }
}

/// cp.async.bulk of plain bytes from shared memory: [to], [from], bytes.
void bulk_store_bytes(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    std::uint64_t const to = address_in_space(now, now.in.operands[0], lane),
                        from = address_in_space(now, now.in.operands[1], lane);
    std::uint64_t const bytes = bulk_size(now, lane, from, to);
    Toucher const reads = now.toucher(lane, 0, now.block.units.store_reads(t)),
                  writes = now.toucher(lane, 0, now.block.units.store_writes(t));
    for (std::uint64_t i = 0; i < bytes; ++i)
      write_async(now, program::Space::global, to + i, writes,
                  read_async(now, program::Space::shared, from + i, 1, reads));
  }
}

/// cp.reduce.async.bulk from shared to global memory: of plain bytes [to], [from], bytes; of a tensor [map, {coordinates}], [from]. Each
/// element is an atomic operation of the async proxy.
void bulk_reduce(Now const& now) {
  bool const tensor = now.decoded.has("tensor");
  std::string_view const op = reduction_of(now.decoded);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    Toucher const reads = now.toucher(lane, 0, now.block.units.store_reads(t));
    Toucher writes = now.toucher(lane, 0, now.block.units.store_writes(t));
    writes.strong = true;
    std::uint64_t const from = address_in_space(now, now.in.operands[1], lane);
    auto const reduce = [&](std::uint64_t shared, std::uint64_t global, std::string_view type_name) {
      program::Type const type = program::type_of(type_name);
      unsigned const bytes = type.bits / 8;
      if (op.empty() || bytes < 2 || bytes > 8) now.refuse_opcode();
      Word const b = read_async(now, program::Space::shared, shared, bytes, reads);
      writes.atomic = now.block.atomic_kinds.of(fmt::format("{} of the async proxy", op), type, b);
      Word const old = update(now, now.block.global, global, bytes, writes);
      Word const value = after_atomic(now, op, type, type_name, old, b, {});
      for (unsigned i = 0; i < bytes; ++i)
        write_async(now, program::Space::global, global + i, writes, bytes_of(value, i, 1));
    };
    if (tensor) {
      Box const box = box_of(now, now.in.operands[0], lane);
      note_clipped(now, box);
      std::string type = box.array.type[0] == 'i' ? "s" + box.array.type.substr(1) : box.array.type;
      each_byte(now, lane, box, from, [&](std::uint64_t shared, std::optional<std::uint64_t> const& global) {
        if (global && *global % (box.array.bits / 8) == 0) reduce(shared, *global, type);
      });
      continue;
    }
    std::uint64_t const to = address_in_space(now, now.in.operands[0], lane);
    std::uint64_t const bytes = bulk_size(now, lane, from, to);
    unsigned const each = std::max(now.decoded.type.bits / 8, 1U);
    for (std::uint64_t i = 0; i < bytes; i += each) reduce(from + i, to + i, now.decoded.parts.back());
  }
}

/// st.async: [to], value, [mbarrier]. Both are in one block of a cluster of several. [PTX ISA 9.2, 9.7.9.12]
void store_async(Now const& now) {
  assume_cluster(now);
  if (now.block.kernel.cluster_is_given && now.block.units.blocks == 1)
    now.fault(FlowFaultKind::misuse, now.touch(static_cast<unsigned>(std::countr_zero(now.mask))),
              isa::store_async, "st.async in a cluster of one block: it has to have more");
  if (!now.block.kernel.cluster_is_given)
    now.refuse(
        "st.async in a cluster whose size is not given: it has to have more than one block: --cluster X,Y,Z");
  now.block.left_out.insert("proxy fences behind st.async");
  Decoded const& d = now.decoded;
  unsigned const each = d.type.bits / 8;
  std::vector<ptx::Operand> const one{now.in.operands[1]};
  auto const& from = one[0].kind == ptx::Operand::Kind::vector ? one[0].parts : one;
  if (each < 4 || each > 8 || from.size() != d.lanes || !d.has("mbarrier::complete_tx::bytes"))
    now.refuse_opcode();
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const to = shared_address(now, now.in.operands[0], lane),
                        where = shared_address(now, now.in.operands[2], lane);
    Destination const at = destinations(now, lane, to, where, now.in.operands.size())[0];
    check_window(now, where, lane, "uses an mbarrier in");
    unsigned const unit = now.block.mbarriers.copy_begins(where, now.operation(lane), now.block.clocks);
    now.block.clocks.tick(unit);
    Toucher const by = now.toucher(lane, 0, unit);
    check_bounds(now, program::Space::shared, to, each * d.lanes, lane, "writes");
    for (unsigned k = 0; k < from.size(); ++k) {
      Word const value = now.operand(from[k], lane, 8 * each);
      for (unsigned i = 0; i < each; ++i) {
        Word const byte = bytes_of(value, i, 1);
        now.block.flags.forget(to + k * each + i, 1);
        now.block.shared.write(to + k * each + i, by, byte.named != 0 ? byte.part[0] : 0,
                               static_cast<std::uint8_t>(byte.number));
      }
    }
    finish_copy(now, at, std::uint64_t{each} * d.lanes, unit);
  }
}

/// cp.async.bulk.prefetch of plain bytes: [from], size. Nothing is read.
void bulk_prefetch(Now const& now) {
  if (now.decoded.has("tensor")) return;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const from = address_in_space(now, now.in.operands[0], lane),
                        bytes = now.number(now.in.operands[1], lane, "the size") & low_bits(32);
    for (std::uint64_t const x : {from, bytes})
      if (x % bulk_unit != 0)
        now.fault(FlowFaultKind::misaligned, now.touch(lane), isa::bulk_prefetch,
                  fmt::format("a prefetch of {} has 0x{:x} as address or size, which is no multiple of {}",
                              now.block.units.thread(now.thread(lane)), x & 0xffffffffffU, bulk_unit));
  }
}

/// cp.async.bulk.commit_group and .wait_group of stores, thread by thread.
void bulk_groups(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane), reads = now.block.units.store_reads(t),
                   writes = now.block.units.store_writes(t);
    std::vector<std::uint32_t>& groups = now.block.cluster.bulk_groups[t];
    if (now.decoded.has("commit_group")) {
      groups.push_back(now.block.clocks.now(reads));
      now.block.clocks.tick(reads), now.block.clocks.tick(writes);
      continue;
    }
    std::uint64_t const pending = now.number(now.in.operands[0], lane, "the count");
    if (groups.size() <= pending) continue;
    auto moments = std::make_shared<std::vector<std::uint32_t>>(now.block.clocks.size(), 0);
    (*moments)[reads] = groups[groups.size() - pending - 1];
    if (!now.decoded.has("read")) (*moments)[writes] = (*moments)[reads];
    now.block.clocks.take({moments, moments}, t);
  }
}

}  // namespace swizproof::flow_detail
