// Copies of the TMA and wgmma: what they read and write in shared memory, and when threads may see it.
//
// A copy writes when it is issued, by a clock of its mbarrier: a thread is ordered behind it once it has waited for the phase that it
// completes. wgmma reads when it is issued, by a clock of its warp: a thread is ordered behind it once the warp has waited for its group.
#include "flow_block.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/hardware/wgmma.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

namespace {

/// Calls fn(register) for the registers of an operand.
template <class Fn>
void each_register(ptx::Operand const& o, Fn const& fn) {
  if (o.kind == ptx::Operand::Kind::reg) fn(o.reg);
  for (ptx::Operand const& p : o.parts) each_register(p, fn);
}

}  // namespace

// ------------------------------------------------------------------------------------------ the TMA

/// cp.async.bulk.tensor into shared memory: [to], [map, {coordinates, the innermost first}], [mbarrier].
void BlockRun::bulk_copy(Now const& now) {
  ptx::Operand const& from = now.in.operands[1];
  if (from.kind != ptx::Operand::Kind::address || from.parts.size() != 2)
    refuse(now.index, fmt::format("the address {} is not read", from.text));
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((now.mask >> lane & 1) == 0) continue;
    std::uint64_t const map = number(now, from.parts[0], lane, "the address of the tensor map");
    auto const tensor = kernel_.tensors.find(map);
    if (tensor == kernel_.tensors.end())
      refuse(now.index, kernel_.in_params(map)
                            ? fmt::format("parameter {} is no tensor map that has a box: give it as --param "
                                          "{}=A:f16[128][64] box[64][64] 128B",
                                          kernel_.param_at(map), kernel_.param_at(map).substr(1))
                            : "the tensor map is no parameter");
    std::uint32_t const id = tensor->second;
    FlowArray const& a = kernel_.arrays[id];
    std::vector<std::int64_t> at;  // outermost first
    for (ptx::Operand const& c : from.parts[1].parts)
      at.insert(at.begin(), static_cast<std::int32_t>(number(now, c, lane, "a coordinate of the box")));
    if (at.size() != a.extents.size())
      refuse(now.index,
             fmt::format("{} has {} dimensions, and the copy {}", a.name, a.extents.size(), at.size()));
    std::uint64_t const to = address(now, now.in.operands[0], lane);
    PhaseBarrier& b = phase_barriers_[address(now, now.in.operands[2], lane)];
    if (b.count == 0) refuse(now.index, "the mbarrier is not initialised");
    unsigned const unit = kernel_.threads + b.slot;
    clocks_.tick(unit);
    copy_box(now, lane, a, id, at, to, unit);
    std::uint64_t bytes = a.bits / 8;
    for (std::uint32_t const n : a.box) bytes *= n;
    b.bytes -= static_cast<std::int64_t>(bytes);
    end_phase(b);
  }
}

/// Writes the lines of a box; what is beyond the array is 0.
void BlockRun::copy_box(Now const& now, unsigned lane, FlowArray const& a, std::uint32_t id,
                        std::vector<std::int64_t> const& at, std::uint64_t to, unsigned unit) {
  unsigned const each = a.bits / 8;
  std::uint32_t const line_bytes = a.box.back() * each;
  if (to % tma_destination != 0)
    throw FlowConflict{
        fmt::format("the TMA writes a box to 0x{:x}, which is no multiple of {}", to, tma_destination),
        {now.index}};
  std::uint64_t lines = 1;
  for (std::size_t d = 0; d + 1 < a.box.size(); ++d) lines *= a.box[d];
  std::uint64_t const end = to + (lines - 1) * tma_pitch(a.mode, line_bytes) + line_bytes;
  check_bounds(now, ptx::Space::shared, to, 1, lane, "copies to");
  check_bounds(now, ptx::Space::shared, end - 1, 1, lane, "copies to");
  Toucher const by{thread(now.warp, lane), now.index, 0, unit};
  for (std::uint64_t line = 0; line < lines; ++line) {
    std::uint64_t rest = line, row = 0;
    bool inside = true;
    std::vector<std::int64_t> index(at);
    for (std::size_t d = a.box.size() - 1; d-- > 0; rest /= a.box[d])
      index[d] += static_cast<std::int64_t>(rest % a.box[d]);
    for (std::size_t d = 0; d + 1 < index.size(); ++d) {
      inside = inside && index[d] >= 0 && index[d] < static_cast<std::int64_t>(a.extents[d]);
      row = row * a.extents[d] + static_cast<std::uint64_t>(index[d]);
    }
    for (std::uint32_t x = 0; x < line_bytes; ++x) {
      std::int64_t const column = index.back() + x / each;
      bool const there = inside && column >= 0 && column < static_cast<std::int64_t>(a.extents.back());
      std::uint64_t const from = (std::uint64_t{id} << array_shift) +
                                 (row * a.extents.back() + static_cast<std::uint64_t>(column)) * each +
                                 x % each;
      Word const value = there ? read_global(now, from, 1, lane) : plain(0);
      shared_.write(tma_address(a.mode, static_cast<std::uint32_t>(to), static_cast<std::uint32_t>(line),
                                line_bytes, x),
                    by, value.named != 0 ? value.part[0] : 0, static_cast<std::uint8_t>(value.number));
    }
  }
}

// ------------------------------------------------------------------------------------------ wgmma

/// Before each instruction: none but wgmma may touch accumulators in flight; what it writes needs a fence before the next wgmma.
void BlockRun::check_registers(Warp& warp, Now const& now) {
  if (now.decoded.handler == Handler::wgmma) return;
  if (!warp.in_flight.empty())
    for (ptx::Operand const& o : now.in.operands)
      each_register(o, [&](std::uint32_t r) {
        auto const found = warp.in_flight.find(r);
        if (found != warp.in_flight.end())
          throw FlowConflict{
              fmt::format("warp {} uses {}, an accumulator of wgmma, and has not waited for its group",
                          warp.number, kernel_.function.registers[r].name),
              {now.index, found->second.second}};
      });
  if (now.in.operands.empty() || now.in.operands[0].kind == ptx::Operand::Kind::address) return;
  if (warp.written.empty()) warp.written.resize(registers_);
  each_register(now.in.operands[0], [&](std::uint32_t r) { warp.written[r] = true; });
}

void BlockRun::wgmma_groups(Now const& now) {
  need_whole_warp(now);
  Warp& warp = now.warp;
  if (now.decoded.handler == Handler::wgmma_fence) {
    warp.fenced = true, warp.written.clear();
    return;
  }
  unsigned const unit = unit_of(warp);
  if (now.decoded.handler == Handler::wgmma_commit) {
    warp.groups.push_back(clocks_.now(unit));
    clocks_.tick(unit);
    return;
  }
  std::uint64_t const pending = number(now, now.in.operands[0], 0, "the count");
  std::size_t const done = warp.groups.size() > pending ? warp.groups.size() - pending : 0;
  if (done == 0) return;
  auto moments = std::make_shared<std::vector<std::uint32_t>>(clocks_.size(), 0);
  (*moments)[unit] = warp.groups[done - 1];
  for (unsigned lane = 0; lane < 32; ++lane) clocks_.take(moments, thread(warp, lane));
  std::erase_if(warp.in_flight, [&](auto const& one) { return one.second.first < done; });
}

/// wgmma.fence is needed before the first wgmma, and where something else has written its accumulators.
void BlockRun::need_fence(Now const& now, ptx::Operand const& accumulators) const {
  Warp const& warp = now.warp;
  bool missing = !warp.fenced;
  if (!warp.written.empty())
    each_register(accumulators, [&](std::uint32_t r) { missing = missing || warp.written[r]; });
  if (missing)
    throw FlowConflict{
        fmt::format("warp {} has written accumulators of wgmma, and no wgmma.fence is between", warp.number),
        {now.index}};
}

/// Bytes that wgmma reads: a thread that wrote them needs fence.proxy.async behind it.
void BlockRun::read_by_wgmma(Now const& now, std::uint64_t address, unsigned bytes, Word& out) {
  check_bounds(now, ptx::Space::shared, address, 1, 0, "reads by wgmma");
  check_bounds(now, ptx::Space::shared, address + bytes - 1, 1, 0, "reads by wgmma");
  unsigned const t = thread(now.warp, 0);
  for (unsigned i = 0; i < bytes; ++i) {
    Cell const& c = shared_.read(address + i, {t, now.index, 0, unit_of(now.warp)});
    std::uint32_t const when = c.group == 0 ? c.clock : groups_.done(c.thread, c.group - 1);
    if (c.thread < kernel_.threads && !fences_.between(c.thread, when, t, clocks_))
      throw FlowConflict{
          fmt::format("wgmma of warp {} reads byte 0x{:x} of shared memory, which thread {} has written: no "
                      "fence.proxy.async is between them",
                      now.warp.number, address + i, c.thread),
          {now.index, c.line}};
    if (c.part == 0)
      out.number |= std::uint64_t{c.number} << 8 * i;
    else
      out.part[i] = names_.moved(c.part / 8, c.line, now.index) * 8 + c.part % 8,
      out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
}

/// Rows [first, first + rows) of A or columns of B, `depth` elements of k each, through a descriptor (H9).
std::vector<Name> BlockRun::wgmma_operand(Now const& now, std::uint64_t descriptor, bool mn_major,
                                          unsigned first, unsigned rows, unsigned depth,
                                          std::string_view type) {
  WgmmaDescriptor const d = wgmma_descriptor(descriptor);
  if (d.bits() != descriptor) refuse(now.index, "bits of a descriptor that shall be 0 are not");
  unsigned const each = 32 / depth;
  std::vector<Name> names(std::size_t{rows} * depth);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned k = 0; k < depth; ++k) {
      Word word;
      read_by_wgmma(now, wgmma_address(d, mn_major ? Major::mn : Major::k, each, first + r, k).bytes, each,
                    word);
      names[std::size_t{r} * depth + k] = names_.whole(word, 0, each, format_of(type), now.index,
                                                       type[0] == 's' || type[0] == 'u' ? type[0] : 'b');
    }
  return names;
}

/// wgmma.mma_async of A and B in shared memory. Warp w of the warpgroup has rows 16 w to 16 w + 15.
void BlockRun::wgmma(Now const& now) {
  need_whole_warp(now);
  auto const& parts = now.decoded.parts;
  auto const& in = now.in.operands;
  std::size_t const last = parts.size() - 1;
  auto const refused = [&] { refuse(now.index, fmt::format("{} is not executed", now.in.opcode)); };
  if (parts.size() < 7 || in[1].kind != ptx::Operand::Kind::reg) refused();
  std::string_view const type_d = parts[last - 2], type_a = parts[last - 1], type_b = parts[last];
  auto const shape = std::find_if(wgmma_shapes.begin(), wgmma_shapes.end(), [&](WgmmaShape const& s) {
    return fmt::format(" {} ", s.types).find(fmt::format(" {} ", type_a)) != std::string::npos;
  });
  unsigned const columns = 8 * static_cast<unsigned>(in[0].parts.size()) / (type_d == "f16" ? 2 : 4);
  if (shape == wgmma_shapes.end() || !now.decoded.has(fmt::format("m64n{}k{}", columns, shape->k))) refused();
  // D, A, B, scale-d, and of floating-point numbers the signs of A and B, of 16 bits also their majors.
  for (std::size_t i = 4; i < std::min<std::size_t>(in.size(), 6); ++i)
    if (number(now, in[i], 0, "the sign") != 1)
      refuse(now.index, "a negated operand of wgmma is not executed");
  bool const a_mn = in.size() > 6 && number(now, in[6], 0, "the major") != 0,
             b_mn = in.size() > 7 && number(now, in[7], 0, "the major") != 0;
  for (unsigned lane = 1; lane < 32; ++lane)
    for (std::size_t i = 1; i < 4; ++i)
      if (number(now, in[i], lane, "an operand") != number(now, in[i], 0, "an operand"))
        refuse(now.index, "lanes have different descriptors");
  need_fence(now, in[0]);
  unsigned const row = now.warp.number % 4 * 16;
  MatrixProduct product{16, columns, shape->k, now.index, {}, {}, {}, {}};
  product.a = wgmma_operand(now, number(now, in[1], 0, "the descriptor"), a_mn, row, 16, shape->k, type_a);
  std::vector<Name> const b =
      wgmma_operand(now, number(now, in[2], 0, "the descriptor"), b_mn, 0, columns, shape->k, type_b);
  product.b.resize(b.size());
  for (unsigned n = 0; n < columns; ++n)
    for (unsigned k = 0; k < shape->k; ++k)
      product.b[std::size_t{k} * columns + n] = b[std::size_t{n} * shape->k + k];
  std::uint32_t const id = names_.matrix_product(std::move(product));
  bool const adds = number(now, in[3], 0, "the scale of D") != 0;
  Fragment const f = shape->fragment(swizproof::Operand::d, columns, type_d == "f16" ? 16 : 32);
  Format const format = format_of(type_d);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned reg = 0; reg < in[0].parts.size(); ++reg) {
      Word word;
      Word const before = operand(now, in[0].parts[reg], lane, 32);
      for (unsigned i = reg * 32 / f.bits; i < (reg + 1) * 32 / f.bits; ++i) {
        MatrixElement const e = element_of(f, now.warp.number % 4 * 32 + lane, i);
        unsigned const byte = i * f.bits % 32 / 8;
        Name const c = adds ? names_.whole(before, byte, f.bits / 8, format, now.index) : 0;
        place(word, byte, names_.word(names_.accumulated(c, id, e.row - row, e.column, format, now.index)),
              f.bits / 8);
      }
      put(now, in[0].parts[reg], lane, word);
    }
  for (ptx::Operand const& o : in[0].parts) now.warp.in_flight[o.reg] = {now.warp.groups.size(), now.index};
}

}  // namespace swizproof::flow_detail
