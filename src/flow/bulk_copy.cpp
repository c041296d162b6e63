// Bulk copies: boxes of the TMA and plain bytes, between global memory and the block's own shared memory.
//
// A copy reads and writes when it is issued. A load does so by a clock of its mbarrier: a thread is ordered behind it once it has waited for
// the phase that it completes. A store has two clocks of the thread that issues it: one for what it reads, one for what it writes. The thread
// is ordered behind both once it has waited for the bulk group, and behind the first alone after wait_group.read.
#include "block.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

constexpr std::uint64_t bulk_unit = 16;  ///< bytes: plain copies have multiples of it

}  // namespace

/// An ordinary access, and then one of the async proxy to the same byte: a proxy fence has to be between them (proxies.hpp).
void BlockRun::need_proxy_fence(program::Space space, Cell::Access const& first, Toucher const& by,
                                std::uint64_t address, char const* verb, char const* verb_of_first) {
  if (!units_.generic(first.doer)) return;
  bool const in_shared = space == program::Space::shared;
  std::uint32_t const when = first.group == 0 ? first.clock : groups_.done(first.doer, first.group - 1);
  if ((in_shared ? fences_ : global_fences_).between(first.doer, when, by.thread, clocks_)) return;
  if (!faults_.would_keep(FlowFaultKind::fence, true)) return;
  char const* const fence = in_shared ? "fence.proxy.async.shared::cta" : "fence.proxy.async.global";
  FlowLine const at = kernel_.line(first.line);
  faults_.add(
      {FlowFaultKind::fence,
       fmt::format("{} {} {}, which {} {}: no fence.proxy.async is between them", units_.who(by.doer()), verb,
                   (in_shared ? shared_ : global_).place(address), units_.who(first.doer), verb_of_first),
       Bytes::touch(by),
       Bytes::touch(first),
       isa::async_proxy,
       fmt::format("{} by {}, behind PTX line {} and before the barrier that orders it before this", fence,
                   units_.who(first.doer), at.ptx_line),
       {},
       true});
}

/// Bytes that a unit of the async proxy reads.
Word BlockRun::read_async(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                          Toucher const& by) {
  Word out;
  bool const in_shared = space == program::Space::shared, checks = kernel_.launch.proxy != FlowProxy::off;
  for (unsigned i = 0; i < bytes; ++i) {
    Cell const* const c = (in_shared ? shared_ : global_).read(address + i, by);
    if (c == nullptr) {
      out.part[i] = uninitialised_ * 8 + i, out.named = static_cast<std::uint8_t>(out.named | 1U << i);
      continue;
    }
    if (checks) {
      need_proxy_fence(space, c->writer, by, address + i, "reads", "has written");
      for (Cell::Access const& w : c->others)
        need_proxy_fence(space, w, by, address + i, "reads", "has written");
    }
    if (c->part == 0)
      out.number |= std::uint64_t{c->number} << 8 * i;
    else
      out.part[i] = names_.moved(c->part / 8, c->writer.line, now.index) * 8 + c->part % 8,
      out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return out;
}

/// A byte of global memory that a bulk load reads.
Word BlockRun::read_source(Now const& now, std::uint64_t address, Toucher const& by) {
  if (global_.find(address) != nullptr) return read_async(now, program::Space::global, address, 1, by);
  global_.read_first(address, by);
  return element_byte(now, address);
}

/// A byte that a unit of the async proxy writes.
void BlockRun::write_async(program::Space space, std::uint64_t address, Toucher const& by,
                           Word const& value) {
  Bytes& to = space == program::Space::shared ? shared_ : global_;
  if (Cell const* const c = kernel_.launch.proxy == FlowProxy::off ? nullptr : to.known(address);
      c != nullptr) {
    if (c->written) {
      need_proxy_fence(space, c->writer, by, address, "writes", "has written");
      for (Cell::Access const& w : c->others)
        need_proxy_fence(space, w, by, address, "writes", "has written");
    }
    if (kernel_.launch.proxy == FlowProxy::strict)
      for (Cell::Access const& r : c->readers) need_proxy_fence(space, r, by, address, "writes", "has read");
  }
  flags_.forget(address, 1);
  to.write(address, by, value.named != 0 ? value.part[0] : 0, static_cast<std::uint8_t>(value.number));
}

/// The unit that copies for the mbarrier of a load. Its initialisation needs a fence before: it is one of the generic proxy.
unsigned BlockRun::bulk_barrier(Now const& now, std::uint64_t where, unsigned lane) {
  unsigned const unit = units_.copy(mbarriers_.copy_begins(where, operation(now, lane), clocks_));
  clocks_.tick(unit);
  Mbarriers::Origin const& from = mbarriers_.origin(where);
  unsigned const t = thread(now.warp, lane);
  if (mbarriers_.fenced(from, t, clocks_) || kernel_.launch.proxy != FlowProxy::strict ||
      fences_.between(from.thread, from.clock, t, clocks_))
    return unit;
  faults_.add(
      {FlowFaultKind::fence,
       fmt::format("a bulk copy of thread {} uses the mbarrier at 0x{:x}, which thread {} has "
                   "initialised: no fence.mbarrier_init or fence.proxy.async is between them",
                   t, where, from.thread),
       touch(now, lane),
       from.touch,
       isa::async_proxy,
       fmt::format("fence.mbarrier_init.release.cluster by thread {}, behind PTX line {} and before the "
                   "barrier",
                   from.thread, kernel_.line(from.touch.line).ptx_line),
       {},
       true});
  return unit;
}

/// The tensor map and the coordinates, the innermost first, of a copy: a box, outermost first.
BlockRun::Box BlockRun::box_of(Now const& now, ptx::Operand const& from, unsigned lane) {
  if (from.kind != ptx::Operand::Kind::address || from.parts.size() != 2)
    refuse(now.index, fmt::format("the address {} is not read", from.text));
  std::uint64_t const map = number(now, from.parts[0], lane, "the address of the tensor map");
  auto const tensor = kernel_.tensors.find(map);
  if (tensor == kernel_.tensors.end())
    refuse(now.index, kernel_.in_params(map)
                          ? fmt::format("parameter {} is no tensor map that has a box: give it as --param "
                                        "'{}=A:f16[128][64] box[64][64] 128B'",
                                        kernel_.param_at(map), kernel_.param_at(map).substr(1))
                          : "the tensor map is no parameter");
  Box box{kernel_.arrays[tensor->second], tensor->second, {}};
  for (ptx::Operand const& c : from.parts[1].parts)
    box.at.insert(box.at.begin(), static_cast<std::int32_t>(number(now, c, lane, "a coordinate of the box")));
  if (box.at.size() != box.array.extents.size())
    refuse(now.index, fmt::format("{} has {} dimensions, and the copy {}", box.array.name,
                                  box.array.extents.size(), box.at.size()));
  return box;
}

/// Calls fn(byte of shared memory, byte of global memory, or nothing beyond the array) for the bytes of a box.
template <class Fn>
void BlockRun::each_byte(Now const& now, unsigned lane, Box const& box, std::uint64_t shared, Fn const& fn) {
  FlowArray const& a = box.array;
  unsigned const each = a.bits / 8;
  std::uint32_t const line_bytes = a.box.back() * each;
  if (shared % tma_destination != 0)
    fault(FlowFaultKind::misaligned, touch(now, lane), isa::copies,
          fmt::format("the TMA {} a box {} 0x{:x}, which is no multiple of {}",
                      now.decoded.handler == Handler::bulk_copy ? "writes" : "reads",
                      now.decoded.handler == Handler::bulk_copy ? "to" : "from", shared, tma_destination));
  std::uint64_t lines = 1;
  for (std::size_t d = 0; d + 1 < a.box.size(); ++d) lines *= a.box[d];
  std::uint64_t const end = shared + (lines - 1) * tma_pitch(a.mode, line_bytes) + line_bytes;
  check_bounds(now, program::Space::shared, shared, 1, lane, "copies to or from");
  check_bounds(now, program::Space::shared, end - 1, 1, lane, "copies to or from");
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
      fn(tma_address(a.mode, static_cast<std::uint32_t>(shared), static_cast<std::uint32_t>(line), line_bytes,
                     x),
         global);
    }
  }
}

/// cp.async.bulk.tensor into shared memory: [to], [map, {coordinates}], [mbarrier]. What is beyond the array is 0.
void BlockRun::bulk_copy(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    Box const box = box_of(now, now.in.operands[1], lane);
    std::uint64_t const where = address(now, now.in.operands[2], lane);
    unsigned const unit = bulk_barrier(now, where, lane);
    Toucher const by = toucher(now, lane, 0, unit);
    each_byte(now, lane, box, address(now, now.in.operands[0], lane),
              [&](std::uint64_t shared, std::optional<std::uint64_t> const& global) {
                write_async(program::Space::shared, shared, by,
                            global ? read_source(now, *global, by) : plain(0));
              });
    std::uint64_t bytes = box.array.bits / 8;
    for (std::uint32_t const n : box.array.box) bytes *= n;
    mbarriers_.copied(where, bytes, unit, clocks_);
  }
}

/// cp.async.bulk.tensor from shared memory: [map, {coordinates}], [from]. What is beyond the array is not written.
void BlockRun::bulk_store(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane);
    Box const box = box_of(now, now.in.operands[0], lane);
    Toucher const reads = toucher(now, lane, 0, units_.store_reads(t)),
                  writes = toucher(now, lane, 0, units_.store_writes(t));
    each_byte(now, lane, box, address(now, now.in.operands[1], lane),
              [&](std::uint64_t shared, std::optional<std::uint64_t> const& global) {
                if (!global) return;
                write_async(program::Space::global, *global, writes,
                            read_async(now, program::Space::shared, shared, 1, reads));
              });
  }
}

/// Size of a plain copy whose addresses and size are multiples of 16 bytes, and within shared memory and an array.
std::uint64_t BlockRun::bulk_size(Now const& now, unsigned lane, std::uint64_t shared, std::uint64_t global) {
  std::uint64_t const bytes = number(now, now.in.operands[2], lane, "the size") & 0xffffffffU;
  for (std::uint64_t const x : {shared, global, bytes})
    if (x % bulk_unit != 0)
      fault(FlowFaultKind::misaligned, touch(now, lane), isa::copies,
            fmt::format("a bulk copy of thread {} has 0x{:x} as address or size, which is no multiple of {}",
                        thread(now.warp, lane), x & 0xffffffffffU, bulk_unit));
  if (bytes == 0) return 0;
  for (std::uint64_t const i : {std::uint64_t{0}, bytes - 1}) {
    check_bounds(now, program::Space::shared, shared + i, 1, lane, "copies to or from");
    check_bounds(now, program::Space::global, global + i, 1, lane, "copies to or from");
  }
  return bytes;
}

/// cp.async.bulk of plain bytes into shared memory: [to], [from], bytes, [mbarrier].
void BlockRun::bulk_load_bytes(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const to = address(now, now.in.operands[0], lane),
                        from = address(now, now.in.operands[1], lane);
    std::uint64_t const bytes = bulk_size(now, lane, to, from);
    std::uint64_t const where = address(now, now.in.operands[3], lane);
    unsigned const unit = bulk_barrier(now, where, lane);
    Toucher const by = toucher(now, lane, 0, unit);
    for (std::uint64_t i = 0; i < bytes; ++i)
      write_async(program::Space::shared, to + i, by, read_source(now, from + i, by));
    mbarriers_.copied(where, bytes, unit, clocks_);
  }
}

/// cp.async.bulk of plain bytes from shared memory: [to], [from], bytes.
void BlockRun::bulk_store_bytes(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane);
    std::uint64_t const to = address(now, now.in.operands[0], lane),
                        from = address(now, now.in.operands[1], lane);
    std::uint64_t const bytes = bulk_size(now, lane, from, to);
    Toucher const reads = toucher(now, lane, 0, units_.store_reads(t)),
                  writes = toucher(now, lane, 0, units_.store_writes(t));
    for (std::uint64_t i = 0; i < bytes; ++i)
      write_async(program::Space::global, to + i, writes,
                  read_async(now, program::Space::shared, from + i, 1, reads));
  }
}

/// cp.async.bulk.commit_group and .wait_group of stores, thread by thread.
void BlockRun::bulk_groups(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane), reads = units_.store_reads(t), writes = units_.store_writes(t);
    std::vector<std::uint32_t>& groups = bulk_groups_[t];
    if (now.decoded.has("commit_group")) {
      groups.push_back(clocks_.now(reads));
      clocks_.tick(reads), clocks_.tick(writes);
      continue;
    }
    std::uint64_t const pending = number(now, now.in.operands[0], lane, "the count");
    if (groups.size() <= pending) continue;
    auto moments = std::make_shared<std::vector<std::uint32_t>>(clocks_.size(), 0);
    (*moments)[reads] = groups[groups.size() - pending - 1];
    if (!now.decoded.has("read")) (*moments)[writes] = (*moments)[reads];
    clocks_.take({moments, moments}, t);
  }
}

}  // namespace swizproof::flow_detail
