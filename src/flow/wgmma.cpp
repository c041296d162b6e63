// wgmma: what it reads in shared memory and registers, and when threads may touch these.
//
// wgmma reads when it is issued, by a clock of its warp: a thread is ordered behind it once the warp has waited for its group.
#include "execute.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/hardware/wgmma.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

// ------------------------------------------------------------------------------------------ wgmma

/// Before each instruction: none but wgmma may touch accumulators and registers of A in flight; what it writes needs a fence before the next wgmma.
void check_registers(Now const& now) {
  Warp& warp = now.warp;
  if (now.decoded.handler == Handler::wgmma) return;
  if (!warp.in_flight.empty())
    for (ptx::Operand const& o : now.in.operands)
      each_register(o, [&](std::uint32_t r) {
        auto const found = warp.in_flight.find(r);
        if (found != warp.in_flight.end())
          throw FlowConflict{FlowFaultKind::race,
                             fmt::format("warp {} uses {}, {} of wgmma, and has not waited for its group",
                                         warp.of_block, now.block.kernel.function.registers[r].name,
                                         found->second.accumulator ? "an accumulator" : "a register of A"),
                             now.touch(0, true),
                             FlowTouch{found->second.line, 0, warp.thread(0), true},
                             isa::wgmma,
                             "wgmma.wait_group before the register is used",
                             {},
                             false};
      });
  if (!has_result(now.decoded, now.in)) return;
  if (warp.written.empty()) warp.written.resize(now.block.cluster.registers);
  each_register(now.in.operands[0], [&](std::uint32_t r) { warp.written[r] = true; });
}

void wgmma_groups(Now const& now) {
  in_warpgroup(now, {});
  Warp& warp = now.warp;
  if (now.decoded.handler == Handler::wgmma_fence) {
    warp.fenced = true, warp.written.clear(), warp.used.clear();
    return;
  }
  unsigned const unit = now.block.units.wgmma(warp.number);
  if (now.decoded.handler == Handler::wgmma_commit) {
    warp.groups.push_back(now.block.clocks.now(unit));
    now.block.clocks.tick(unit);
    return;
  }
  std::uint64_t const pending = now.number(now.in.operands[0], 0, "the count");
  std::size_t const done = warp.groups.size() > pending ? warp.groups.size() - pending : 0;
  if (done == 0) return;
  auto moments = std::make_shared<std::vector<std::uint32_t>>(now.block.clocks.size(), 0);
  (*moments)[unit] = warp.groups[done - 1];
  for (unsigned lane = 0; lane < 32; ++lane) now.block.clocks.take({moments, moments}, warp.thread(lane));
  std::erase_if(warp.in_flight, [&](auto const& one) { return one.second.group < done; });
}

namespace {

/// wgmma.fence is needed before the first wgmma, and where something else has written its accumulators or registers of A.
void need_fence(Now const& now, ptx::Operand const& registers, char const* what) {
  Warp const& warp = now.warp;
  std::string late;  // a register that was written behind the last fence
  if (!warp.written.empty())
    each_register(registers, [&](std::uint32_t r) {
      if (late.empty() && warp.written[r]) late = now.block.kernel.function.registers[r].name;
    });
  if (!warp.fenced || !late.empty())
    throw FlowConflict{
        FlowFaultKind::fence,
        fmt::format("warp {} has written {} of wgmma{}, and no wgmma.fence is between", warp.of_block, what,
                    warp.fenced ? ", " + late + ", behind its last wgmma.fence" : ""),
        now.touch(0, true),
        {},
        isa::wgmma,
        warp.fenced ? "wgmma.fence.sync.aligned behind that write; if the source has it there, the compiler "
                      "moved the write: name "
                      "the registers in the fence's asm (\"+f\")"
                    : "wgmma.fence.sync.aligned before this wgmma",
        {},
        false};
}

/// A wgmma may use the accumulators of another one of the same shape without a wgmma.fence; other registers of it need one.
/// [PTX ISA 9.1, 9.7.15.7.1: wgmma.fence]
void need_same_use(Now const& now, ptx::Operand const& registers, std::string_view shape, bool accumulators) {
  each_register(registers, [&](std::uint32_t r) {
    auto const found = now.warp.used.find(r);
    if (found == now.warp.used.end()) return;
    Warp::Used const& before = found->second;
    if (accumulators ? before.accumulator && before.shape == shape : !before.accumulator) return;
    throw FlowConflict{
        FlowFaultKind::fence,
        fmt::format("wgmma of warp {} uses {} as {} of the shape {}, and another one has used it as "
                    "{} of the shape {}, and no wgmma.fence is between",
                    now.warp.of_block, now.block.kernel.function.registers[r].name,
                    accumulators ? "an accumulator" : "a part of A", shape,
                    before.accumulator ? "an accumulator" : "a part of A", before.shape),
        now.touch(0, true),
        {},
        isa::wgmma,
        "wgmma.fence.sync.aligned before this wgmma",
        {},
        false};
  });
}

/// Accumulators that are no registers of A of a wgmma in flight, and registers of A that are no accumulators of one.
void need_idle(Now const& now, ptx::Operand const& registers, bool accumulators) {
  each_register(registers, [&](std::uint32_t r) {
    auto const found = now.warp.in_flight.find(r);
    if (found != now.warp.in_flight.end() && found->second.accumulator != accumulators)
      throw FlowConflict{
          FlowFaultKind::race,
          fmt::format("wgmma of warp {} uses {}, which another wgmma {}, and has not waited for its group",
                      now.warp.of_block, now.block.kernel.function.registers[r].name,
                      accumulators ? "reads as A" : "writes"),
          now.touch(0, true),
          FlowTouch{found->second.line, 0, now.thread(0), true},
          isa::wgmma,
          "wgmma.wait_group between them",
          {},
          false};
  });
}

/// Bytes that wgmma reads, of an operand that starts at `start`.
void read_by_wgmma(Now const& now, std::uint64_t start, std::uint64_t address, unsigned bytes, Word& out) {
  check_bounds(now, program::Space::shared, address, 1, 0, "reads by wgmma");
  check_bounds(now, program::Space::shared, address + bytes - 1, 1, 0, "reads by wgmma");
  note_span(now, start, address + bytes - start);
  out = read_async(now, program::Space::shared, address, bytes,
                   now.toucher(0, 0, now.block.units.wgmma(now.warp.number)));
}

/// Rows [first, first + rows) of A or columns of B, `depth` elements of k each, through a descriptor (H9).
std::vector<Name> wgmma_operand(Now const& now, std::uint64_t descriptor, bool mn_major, unsigned first,
                                unsigned rows, unsigned depth, std::string_view type) {
  WgmmaDescriptor const d = wgmma_descriptor(descriptor);
  if (d.bits() != descriptor) now.refuse("bits of a descriptor that shall be 0 are not");
  unsigned const each = 32 / depth;
  std::vector<Name> names(std::size_t{rows} * depth);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned k = 0; k < depth; ++k) {
      Word word;
      read_by_wgmma(
          now, now.block.base + d.start,
          now.block.base + wgmma_address(d, mn_major ? Major::mn : Major::k, each, first + r, k).bytes, each,
          word);
      names[std::size_t{r} * depth + k] = now.block.names.whole(
          word, 0, each, format_of(type), now.index, type[0] == 's' || type[0] == 'u' ? type[0] : 'b');
    }
  return names;
}

/// Rows of A that belong to the other warps: the instruction is one of the warpgroup, and the PTX ISA does not say which warp reads them.
/// [PTX ISA 9.1, 9.7.15.5: wgmma.mma_async]
void may_read_others(Now const& now, std::uint64_t descriptor, bool mn_major, unsigned depth) {
  WgmmaDescriptor const d = wgmma_descriptor(descriptor);
  Toucher const by = now.toucher(0, 0, now.block.units.wgmma(now.warp.number));
  constexpr unsigned all = 64, own = 16;
  unsigned const each = 32 / depth;
  for (unsigned row = 0; row < all; ++row) {
    if (row / own == now.warp.of_block % 4) continue;
    for (unsigned k = 0; k < depth; ++k) {
      std::uint64_t const at =
          now.block.base + wgmma_address(d, mn_major ? Major::mn : Major::k, each, row, k).bytes;
      for (unsigned i = 0; i < each; ++i) now.block.shared.may_read(at + i, by);
    }
  }
}

/// Rows of A that a warp has in registers, `fragment.columns` elements of k each.
std::vector<Name> wgmma_registers(Now const& now, Fragment const& fragment, std::string_view type) {
  auto const& list = now.in.operands[1].parts;
  if (list.size() != fragment.registers()) now.refuse("the number of registers does not match");
  unsigned const first = now.warp.of_block % 4 * 32, row = now.warp.of_block % 4 * 16;
  std::vector<Name> names(std::size_t{16} * fragment.columns);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < fragment.values; ++i) {
      MatrixElement const e = element_of(fragment, first + lane, i);
      unsigned const bit = i * fragment.bits;
      Word const w = now.operand(list[bit / 32], lane, 32);
      names[std::size_t{e.row - row} * fragment.columns + e.column] =
          now.block.names.whole(w, bit % 32 / 8, fragment.bits / 8, format_of(type), now.index,
                                type[0] == 's' || type[0] == 'u' ? type[0] : 'b');
    }
  return names;
}

/// D = the product, or D + the product.
void accumulate(Now const& now, std::uint32_t product, unsigned columns, std::string_view type) {
  auto const& in = now.in.operands;
  bool const adds = now.number(in[3], 0, "the scale of D") != 0;
  unsigned const row = now.warp.of_block % 4 * 16;
  Fragment const f = wgmma_shapes[0].fragment(swizproof::Operand::d, columns, type == "f16" ? 16 : 32);
  Format const format = format_of(type);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned reg = 0; reg < in[0].parts.size(); ++reg) {
      Word word;
      Word const before = now.operand(in[0].parts[reg], lane, 32);
      for (unsigned i = reg * 32 / f.bits; i < (reg + 1) * 32 / f.bits; ++i) {
        MatrixElement const e = element_of(f, now.warp.of_block % 4 * 32 + lane, i);
        unsigned const byte = i * f.bits % 32 / 8;
        Name const c = adds ? now.block.names.whole(before, byte, f.bits / 8, format, now.index) : 0;
        place(word, byte,
              now.block.names.word(
                  now.block.names.accumulated(c, product, e.row - row, e.column, format, now.index)),
              f.bits / 8);
      }
      now.put(in[0].parts[reg], lane, word);
    }
}

/// Signs and descriptors that are modelled, and registers that a wgmma may use now.
void check_wgmma(Now const& now, bool registers, std::string_view shape) {
  auto const& in = now.in.operands;
  // D, A, B, scale-d; for floating-point numbers the signs of A and B; for 16 bits also the majors of operands in shared memory.
  for (std::size_t i = 4; i < std::min<std::size_t>(in.size(), 6); ++i)
    if (now.number(in[i], 0, "the sign") != 1) now.refuse("a negated operand of wgmma is not executed");
  for (unsigned lane = 1; lane < 32; ++lane)
    for (std::size_t i = registers ? 2 : 1; i < 4; ++i)
      if (now.number(in[i], lane, "an operand") != now.number(in[i], 0, "an operand"))
        now.refuse("lanes have different descriptors");
  in_warpgroup(now, {{registers ? 0 : now.number(in[1], 0, "the descriptor"),
                      now.number(in[2], 0, "the descriptor")}});
  need_fence(now, in[0], "accumulators");
  need_idle(now, in[0], true);
  if (registers) need_fence(now, in[1], "registers of A"), need_idle(now, in[1], false);
  need_same_use(now, in[0], shape, true);
  if (registers) need_same_use(now, in[1], shape, false);
}

}  // namespace

/// wgmma.mma_async of A in registers or shared memory, and of B in shared memory. Warp w of the warpgroup has rows 16 w to 16 w + 15.
void wgmma(Now const& now) {
  now.need_whole_warp();
  auto const& parts = now.decoded.parts;
  auto const& in = now.in.operands;
  std::size_t const last = parts.size() - 1;
  auto const refused = [&] { now.refuse_opcode(); };
  bool const registers = in[1].kind == ptx::Operand::Kind::vector;
  if (parts.size() < 7 || (!registers && in[1].kind != ptx::Operand::Kind::reg)) refused();
  std::string_view const type_d = parts[last - 2], type_a = parts[last - 1], type_b = parts[last];
  auto const shape = std::find_if(wgmma_shapes.begin(), wgmma_shapes.end(), [&](WgmmaShape const& s) {
    return fmt::format(" {} ", s.types).find(fmt::format(" {} ", type_a)) != std::string::npos;
  });
  unsigned const columns = 8 * static_cast<unsigned>(in[0].parts.size()) / (type_d == "f16" ? 2 : 4);
  if (shape == wgmma_shapes.end()) refused();
  auto const size = std::find(parts.begin(), parts.end(), fmt::format("m64n{}k{}", columns, shape->k));
  if (size == parts.end()) refused();
  check_wgmma(now, registers, *size);
  std::size_t const major_b = registers ? 6 : 7;
  bool const a_mn = !registers && in.size() > 6 && now.number(in[6], 0, "the major") != 0,
             b_mn = in.size() > major_b && now.number(in[major_b], 0, "the major") != 0;
  MatrixProduct product{16, columns, shape->k, now.index, {}, {}, {}, {}};
  product.a = registers ? wgmma_registers(now, shape->fragment(swizproof::Operand::a, columns, 32), type_a)
                        : wgmma_operand(now, now.number(in[1], 0, "the descriptor"), a_mn,
                                        now.warp.of_block % 4 * 16, 16, shape->k, type_a);
  if (!registers) may_read_others(now, now.number(in[1], 0, "the descriptor"), a_mn, shape->k);
  std::vector<Name> const b =
      wgmma_operand(now, now.number(in[2], 0, "the descriptor"), b_mn, 0, columns, shape->k, type_b);
  product.b.resize(b.size());
  for (unsigned n = 0; n < columns; ++n)
    for (unsigned k = 0; k < shape->k; ++k)
      product.b[std::size_t{k} * columns + n] = b[std::size_t{n} * shape->k + k];
  accumulate(now, now.block.names.matrix_product(std::move(product)), columns, type_d);
  for (ptx::Operand const& o : in[0].parts)
    now.warp.in_flight[o.reg] = {now.warp.groups.size(), now.index, true},
    now.warp.used[o.reg] = {*size, true};
  if (!registers) return;
  for (ptx::Operand const& o : in[1].parts)
    now.warp.in_flight[o.reg] = {now.warp.groups.size(), now.index, false},
    now.warp.used[o.reg] = {*size, false};
}

}  // namespace swizproof::flow_detail
