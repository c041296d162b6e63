// Loads, stores and asynchronous copies of a block, byte by byte.
#include "execute.hpp"
#include "windows.hpp"

#include <swizproof/hardware/fragment.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::flow_detail {

namespace {

using program::Space;

/// The array that an address is meant for, and the byte in it: of one in the upper half of an array the next one, and a byte before it.
std::pair<std::uint32_t, std::int64_t> place_in_array(FlowKernel const& kernel, std::uint64_t address) {
  constexpr std::uint64_t half = std::uint64_t{1} << (array_shift - 1);
  std::uint32_t const id = kernel.array_of(address + half);
  return {id,
          static_cast<std::int64_t>(address) - static_cast<std::int64_t>(std::uint64_t{id} << array_shift)};
}

/// Fails if bytes of local memory belong to no variable.
void check_local(Now const& now, std::uint64_t address, unsigned bytes, unsigned lane, char const* verb) {
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (now.block.kernel.places.with(address + i) == nullptr)
      now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::bounds,
                fmt::format("{} {} {} bytes of local memory that belong to no variable",
                            now.block.units.thread(now.thread(lane)), verb, bytes));
  note_span(now, address, bytes);
}

}  // namespace

void check_bounds(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane,
                  char const* verb, unsigned alignment, bool own) {
  std::string const t = now.block.units.thread(now.thread(lane));
  if (alignment == 0) alignment = bytes;
  if (alignment != 0 && address % alignment != 0)
    now.fault(FlowFaultKind::misaligned, now.touch(lane), isa::alignment,
              fmt::format("{} {} {} bytes at 0x{:x}, which is no multiple of {}", t, verb, bytes,
                          address & 0xffffffffffU, alignment));
  if (space == Space::shared) check_window(now, address, lane, verb, own);
  std::uint64_t const within = in_block(address);
  if (space == Space::shared && (within < shared_start || within + bytes > now.block.kernel.shared_end))
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::bounds,
              fmt::format("{} {} byte 0x{:x} of shared memory, which ends at 0x{:x}", t, verb, within,
                          now.block.kernel.shared_end));
  if (space == Space::shared) note_span(now, address, bytes);
  if (space == Space::local) check_local(now, address, bytes, lane, verb);
  if (space != Space::global) return;
  auto const [id, at] = place_in_array(now.block.kernel, address);
  if (id == 0 || now.block.kernel.arrays[id].extents.empty())
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::bounds,
              fmt::format("{} {} an address of global memory that belongs to no array", t, verb));
  FlowArray const& a = now.block.kernel.arrays[id];
  if (at < 0 || static_cast<std::uint64_t>(at) + bytes > a.size() * (a.bits / 8))
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::bounds,
              fmt::format("{} {} byte {} of {}, which has {}", t, verb, at, a.name, a.size() * (a.bits / 8)));
}

namespace {

/// Bytes that cells hold; what no thread has written is not followed.
template <class Fn>
Word held_bytes(Now const& now, unsigned bytes, Fn const& cell) {
  Word out;
  Name last = 0, moved = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    Cell const* const c = cell(i);
    if (c != nullptr && c->part == 0) {
      out.number |= std::uint64_t{c->number} << 8 * i;
      continue;
    }
    Name const held = c == nullptr ? now.block.uninitialised : c->part / 8;
    if (held != last)
      last = held, moved = c == nullptr ? held : now.block.names.moved(held, c->writer.line, now.index);
    out.part[i] = moved * 8 + (c == nullptr ? i : c->part % 8);
    out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return out;
}

/// A byte of a memory that is not the global one.
std::uint64_t place_key(Now const& now, Bytes const& memory, std::uint64_t address) {
  if (&memory == &now.block.shared) return address;
  for (std::uint64_t t = 0; t < now.block.local.size(); ++t)
    if (&memory == &now.block.local[t]) return address | (t + 1) << 48;
  return 0;
}

/// Bytes that may not have been written, since data choose: whether reading them is a fault is not decided.
void doubt_written(Now const& now, Bytes const& from, std::uint64_t address, unsigned bytes) {
  if (now.block.cluster.maybe_written.empty() || &from == &now.block.global) return;
  for (unsigned i = 0; i < bytes; ++i)
    if (now.block.cluster.maybe_written.contains(place_key(now, from, address + i)))
      now.block.faults.doubt("it reads bytes that data choose to write, and nothing else has written",
                             now.index);
}

Word read_written(Now const& now, Bytes& from, std::uint64_t address, unsigned bytes, unsigned lane,
                  std::uint32_t group = 0) {
  doubt_written(now, from, address, bytes);
  return held_bytes(now, bytes, [&](unsigned i) { return from.read(address + i, now.toucher(lane, group)); });
}

}  // namespace

/// Bytes that an atomic finds. Its write follows, and finds the races.
Word update(Now const& now, Bytes& memory, std::uint64_t address, unsigned bytes, Toucher const& by) {
  doubt_written(now, memory, address, bytes);
  Word out;
  for (unsigned i = 0; i < bytes; ++i) {
    bool const element = &memory == &now.block.global && memory.find(address + i) == nullptr;
    place(out, i,
          element ? element_byte(now, address + i)
                  : held_bytes(now, 1, [&](unsigned) { return memory.update(address + i, by); }),
          1);
  }
  return out;
}

/// A byte of an element that nothing has written.
Word element_byte(Now const& now, std::uint64_t address) {
  std::uint32_t const id = now.block.kernel.array_of(address);
  unsigned const each = now.block.kernel.arrays[id].bits / 8;
  std::uint64_t const at = address & ((std::uint64_t{1} << array_shift) - 1);
  std::vector<std::uint64_t> const& values = now.block.kernel.arrays[id].values;
  if (now.block.kernel.initialised.contains(id))
    now.block.assumed.insert("constant memory is as the PTX initialises it");
  if (!values.empty()) return plain(values[at / each] >> 8 * (at % each) & 0xff);
  Word out;
  out.part[0] = now.block.names.element(id, at / each, now.index) * 8 + static_cast<std::uint32_t>(at % each);
  out.named = 1;
  return out;
}

namespace {

/// Bytes of an array: elements, or what the block has written there. `group`: of cp.async.
Word read_global(Now const& now, std::uint64_t address, unsigned bytes, unsigned lane,
                 std::uint32_t group = 0) {
  Word out;
  Toucher const by = now.toucher(lane, group);
  bool const uniform = now.decoded.name == "ldu",
             constant = uniform || (now.decoded.handler == Handler::load && now.decoded.has("nc"));
  for (unsigned i = 0; i < bytes; ++i) {
    if (constant)
      now.block.global.read_constant(address + i, by, uniform ? Cell::Constant::ldu : Cell::Constant::nc);
    bool const written = now.block.global.find(address + i) != nullptr;
    if (!written) now.block.global.read_first(address + i, by);
    place(out, i,
          written ? read_written(now, now.block.global, address + i, 1, lane, group)
                  : element_byte(now, address + i),
          1);
  }
  return out;
}

/// The address that a load of a parameter has: of a parameter by name, or one that is computed.
std::uint64_t param_address(Now const& now, ptx::Operand const& where, unsigned lane) {
  if (where.parts.size() != 1 || where.parts[0].kind != ptx::Operand::Kind::symbol) {
    std::uint64_t const computed = address_in_space(now, where, lane);
    if (!now.block.kernel.in_params(computed))
      now.refuse("a parameter at an address that is none of a parameter");
    return computed;
  }
  std::string_view const name = where.parts[0].text;
  auto const& all = now.block.kernel.function.params;
  auto const at =
      std::find_if(all.begin(), all.end(), [&](program::Variable const& v) { return v.name == name; });
  if (at == all.end()) now.refuse(fmt::format("the parameter {} is not one of the kernel", name));
  FlowKernel::Parameter const& param = now.block.kernel.params[static_cast<std::size_t>(at - all.begin())];
  std::uint64_t const offset = where.value + where.parts[0].value;
  if (offset >= param.bytes.size()) now.refuse("it reads beyond a parameter");
  return param.start + offset;
}

Word read_param(Now const& now, std::uint64_t address, unsigned bytes) {
  Word out;
  auto const at = std::find_if(now.block.kernel.params.rbegin(), now.block.kernel.params.rend(),
                               [&](FlowKernel::Parameter const& p) { return p.start <= address; });
  if (at == now.block.kernel.params.rend() || address + bytes > at->start + at->bytes.size())
    now.refuse("it reads beyond a parameter");
  bool const whole = bytes == at->bytes.size();
  auto const number = static_cast<std::size_t>(now.block.kernel.params.rend() - at) - 1;
  for (unsigned i = 0; i < bytes; ++i) {
    FlowKernel::ParameterByte const& byte = at->bytes[address - at->start + i];
    if (!byte.given) {
      std::string const place =
          whole ? std::to_string(number) : fmt::format("{}+{}", number, address - at->start);
      throw InputError::whole(
          whole ? fmt::format("the kernel reads parameter #{}, which has no value", number)
                : fmt::format("the kernel reads bytes {} to {} of parameter #{}, and byte {} has no value",
                              address - at->start, address - at->start + bytes - 1, number,
                              address - at->start + i),
          now.block.kernel.function.params[number].name,
          fmt::format("{}--param {}=A:f16[128][64] for a pointer, --param {}=1024 for a number",
                      now.block.kernel.without_value(), place, place));
    }
    if (byte.array == 0) {
      out.number |= std::uint64_t{byte.number} << 8 * i;
      continue;
    }
    out.part[i] = now.block.names.element(byte.array, 0, now.index) * 8 + byte.number;
    out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return out;
}

Word read(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane) {
  if (space == Space::global) return read_global(now, address, bytes, lane);
  if (space == Space::param) return read_param(now, address, bytes);
  return read_written(now, space == Space::local ? now.block.local[now.thread(lane)] : now.block.shared,
                      address, bytes, lane);
}

void write(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane,
           Word const& value, std::uint32_t group = 0) {
  if (space == Space::global && now.block.kernel.constants.contains(now.block.kernel.array_of(address)))
    now.refuse("it writes constant memory");
  Bytes& to = space == Space::global  ? now.block.global
              : space == Space::local ? now.block.local[now.thread(lane)]
                                      : now.block.shared;
  if (space != Space::local && !now.decoded.strong) now.block.flags.forget(address, bytes);
  Word const held = takes_part(now.warp.doubtful, lane) ? maybe(now, to, address, bytes, value) : value;
  for (unsigned i = 0; i < bytes; ++i) {
    bool const named = (held.named >> i & 1) != 0;
    if (!takes_part(now.warp.doubtful, lane))
      now.block.cluster.maybe_written.erase(place_key(now, to, address + i));
    to.write(address + i, now.toucher(lane, group), named ? held.part[i] : 0,
             named ? std::uint8_t{0} : static_cast<std::uint8_t>(held.number >> 8 * i));
  }
}

}  // namespace

/// Value of bytes where data choose if another one is written: that one, or the old one.
Word maybe(Now const& now, Bytes& memory, std::uint64_t address, unsigned bytes, Word const& value) {
  Word before;
  bool first = false;
  for (unsigned i = 0; i < bytes; ++i) {
    Cell const* const c = memory.find(address + i);
    bool const element = c == nullptr && &memory == &now.block.global;
    if (c == nullptr && !element)
      now.block.cluster.maybe_written.insert(place_key(now, memory, address + i)), first = true;
    Word one = element ? element_byte(now, address + i) : Word{};
    if (c != nullptr && c->part != 0) one.part[0] = c->part, one.named = 1;
    if (c != nullptr && c->part == 0) one = plain(c->number);
    place(before, i, one, 1);
  }
  bool const same = !first && before.named == value.named && before.part == value.part &&
                    ((before.number ^ value.number) & low_bits(8 * bytes)) == 0;
  return same ? value : now.unknown(8 * bytes, {&value, &before});
}

Word read_bytes(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane) {
  return read(now, space, address, bytes, lane);
}

void write_bytes(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane,
                 Word const& value) {
  write(now, space, address, bytes, lane, value);
}

namespace {

/// .relaxed, .acquire and .release: not in local memory.
void check_strong(Now const& now, Space space, unsigned lane) {
  if (!now.decoded.strong || now.decoded.has("volatile") || space != Space::local) return;
  now.fault(FlowFaultKind::misuse, now.touch(lane), isa::strong_access,
            fmt::format("{} accesses local memory by {}", now.block.units.thread(now.thread(lane)),
                        now.in.opcode.text));
}

/// ldu: all lanes have one address. [PTX ISA, Data Movement: ldu]
void check_uniform(Now const& now) {
  unsigned const first = static_cast<unsigned>(std::countr_zero(now.mask));
  for (unsigned lane = first; lane < 32; ++lane)
    if (takes_part(now.mask, lane) &&
        now.address(now.in.operands[1], lane) != now.address(now.in.operands[1], first))
      now.fault(FlowFaultKind::misuse, now.touch(lane), isa::uniform,
                fmt::format("lanes of {} read different addresses by {}",
                            now.block.units.warp(now.warp.number), now.in.opcode.text));
}

}  // namespace

void load(Now const& now) {
  Decoded const& d = now.decoded;
  unsigned const each = std::max(d.type.bits, 8U) / 8;
  if (d.type.bits == 0 || d.type.bits > 64) now.refuse_opcode();
  if (d.name == "ldu") check_uniform(now);
  std::vector<ptx::Operand> const one{now.in.operands[0]};
  auto const& into = one[0].kind == ptx::Operand::Kind::vector ? one[0].parts : one;
  if (into.size() != d.lanes) now.refuse("the number of registers does not match");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    auto const [space, at] = d.space == Space::param
                                 ? Located{d.space, param_address(now, now.in.operands[1], lane)}
                                 : located(now, now.in.operands[1], lane);
    if (space == Space::global)
      now.block.uses[now.block.kernel.array_of(at)].insert({d.type.bits, d.type.kind});
    check_strong(now, space, lane);
    check_bounds(now, space, at, each * d.lanes, lane, "reads");
    for (unsigned k = 0; k < into.size(); ++k) {
      Word value = read(now, space, at + k * each, each, lane);
      unsigned const width =
          into[k].kind == ptx::Operand::Kind::reg ? now.block.kernel.program.widths[into[k].reg] : 0;
      if (d.type.kind == 's' && width > d.type.bits) {
        Name const name =
            value.named != 0 ? now.block.names.whole(value, 0, each, Format::integer, now.index, 's') : 0;
        if (name != 0)
          value =
              now.block.names.word(now.block.names.converted(name, Format::integer, width / 8, now.index));
        else
          value.number = static_cast<std::uint64_t>(signed_of(value.number, d.type.bits));
      }
      now.put(into[k], lane, value);
    }
    if (d.strong)
      now.block.flags.take(at, now.thread(lane), d.has("acquire"), d.has("cta"), now.block.clocks);
    check_scopes(now);
  }
  if (d.strong && now.warp.counts[now.index] > 1) now.warp.yields = true;
}

void store(Now const& now) {
  Decoded const& d = now.decoded;
  unsigned const each = std::max(d.type.bits, 8U) / 8;
  if (d.type.bits == 0 || d.type.bits > 64 || d.space == Space::param) now.refuse_opcode();
  std::vector<ptx::Operand> const one{now.in.operands[1]};
  auto const& from = one[0].kind == ptx::Operand::Kind::vector ? one[0].parts : one;
  if (from.size() != d.lanes) now.refuse("the number of registers does not match");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    auto const [space, at] = located(now, now.in.operands[0], lane);
    if (space == Space::param) now.refuse("a parameter is written");
    if (space == Space::global)
      now.block.uses[now.block.kernel.array_of(at)].insert({d.type.bits, d.type.kind});
    check_strong(now, space, lane);
    check_bounds(now, space, at, each * d.lanes, lane, "writes");
    for (unsigned k = 0; k < from.size(); ++k)
      write(now, space, at + k * each, each, lane, now.operand(from[k], lane, 8 * each));
    if (d.strong)
      now.block.flags.give(at, each * d.lanes, now.thread(lane), d.has("release"), d.has("cta"),
                           now.block.clocks);
  }
}

namespace {

/// The src-size of cp.async, which is no larger than its cp-size. [PTX ISA, Data Movement: cp.async]
std::uint64_t source_size(Now const& now, unsigned lane, unsigned bytes) {
  std::uint64_t const source = now.number(now.in.operands[3], lane, "the size of the source") & low_bits(32);
  if (source > bytes)
    now.fault(FlowFaultKind::misuse, now.touch(lane), isa::source_size,
              fmt::format("cp.async of {} has the src-size {}, which is larger than its cp-size {}",
                          now.block.units.thread(now.thread(lane)), source, bytes));
  return source;
}

}  // namespace

void copy_async(Now const& now) {
  if (now.in.operands.size() < 3) now.refuse("cp.async without a size");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    auto const bytes = static_cast<unsigned>(now.number(now.in.operands[2], lane, "the size"));
    std::uint64_t source = bytes;
    bool const more = now.in.operands.size() > (now.decoded.has("L2::cache_hint") ? 4U : 3U);
    bool const ignores = more && now.in.operands[3].kind == ptx::Operand::Kind::reg &&
                         now.block.kernel.program.widths[now.in.operands[3].reg] == 1;
    if (ignores) source = now.number(now.in.operands[3], lane, "if the source is ignored") != 0 ? 0 : bytes;
    if (more && !ignores) source = source_size(now, lane, bytes);
    std::uint64_t const to = address_in_space(now, now.in.operands[0], lane),
                        from = address_in_space(now, now.in.operands[1], lane);
    check_bounds(now, Space::shared, to, bytes, lane, "writes");
    if (source != 0)
      check_bounds(now, Space::global, from, static_cast<unsigned>(source), lane, "reads", bytes);
    std::uint32_t const group = 1 + now.block.groups.open(t);
    for (unsigned i = 0; i < bytes; ++i)
      write(now, Space::shared, to + i, 1, lane,
            i < source ? read_global(now, from + i, 1, lane, group) : plain(0), group);
  }
}

void wait_for_copies(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane);
    if (now.decoded.handler == Handler::commit) {
      now.block.groups.commit(t);
      continue;
    }
    bool const all = now.decoded.has("wait_all");
    auto const pending =
        all ? 0U : static_cast<std::uint32_t>(now.number(now.in.operands[0], lane, "the count"));
    now.block.groups.wait(t, pending, all, now.block.clocks.now(t));
  }
}

void arrive_async(Now const& now) {
  BlockState& block = now.block;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = now.thread(lane), unit = block.units.copies(t);
    block.groups.arrive(t, block.clocks.now(unit));
    block.mbarriers.arrive_complete(shared_address(now, now.in.operands[0], lane), Completes::copies,
                                    block.clocks.arrive(unit), now.decoded.has("noinc"), now.operation(lane),
                                    block.clocks);
  }
}

/// st.bulk: [to], size, 0.
void store_zeros(Now const& now) {
  constexpr std::uint64_t unit = 8;
  now.block.assumed.insert("st.bulk writes by the generic proxy, which the PTX ISA does not specify");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const to = shared_address(now, now.in.operands[0], lane);
    std::uint64_t const bytes = now.number(now.in.operands[1], lane, "the size");
    if (now.number(now.in.operands[2], lane, "the value") != 0) now.refuse("st.bulk writes 0 alone");
    if (to % unit != 0 || bytes % unit != 0)
      now.fault(FlowFaultKind::misaligned, now.touch(lane), isa::bulk_store,
                fmt::format("st.bulk of {} has 0x{:x} and {} bytes, which are no multiples of {}",
                            now.block.units.thread(now.thread(lane)), to, bytes, unit));
    if (bytes == 0) continue;
    check_bounds(now, Space::shared, to, 1, lane, "writes"),
        check_bounds(now, Space::shared, to + bytes - 1, 1, lane, "writes");
    note_span(now, to, bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) write(now, Space::shared, to + i, 1, lane, plain(0));
  }
}

namespace {

/// For sm_75 the lanes whose addresses are no rows have valid ones, too. [PTX ISA 9.1, 9.7.14.5.15]
void check_other_rows(Now const& now, ptx::Operand const& where, unsigned rows) {
  if (now.block.kernel.module.target != "sm_75") return;
  for (unsigned lane = rows; lane < 32; ++lane) {
    std::uint64_t const at = shared_address(now, where, lane);
    if (at % 16 != 0 || at < shared_start || at + 16 > now.block.kernel.shared_end)
      now.fault(
          FlowFaultKind::out_of_bounds, now.touch(lane), isa::matrix_rows,
          fmt::format(
              "{} gives 0x{:x} to {}, which is no address of 16 bytes: for sm_75 all threads give valid ones",
              now.block.units.thread(now.thread(lane)), at, now.in.opcode.text));
  }
}

}  // namespace

/// ldmatrix and stmatrix of 16-bit elements, by the fragments of hardware/fragment.hpp.
void matrices(Now const& now, bool load) {
  Decoded const& d = now.decoded;
  now.need_whole_warp();
  unsigned const n = d.has("x4") ? 4 : d.has("x2") ? 2 : d.has("x1") ? 1 : 0;
  if (n == 0 || !d.has("m8n8") || !d.has("b16")) now.refuse_opcode();
  Fragment const f = fragment_of(
      swizproof::Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, n, d.has("trans")}, 16);
  ptx::Operand const& where = now.in.operands[load ? 1 : 0];
  ptx::Operand const& group = now.in.operands[load ? 0 : 1];
  std::vector<ptx::Operand> const one{group};
  auto const& regs = group.kind == ptx::Operand::Kind::vector ? group.parts : one;
  if (regs.size() != n) now.refuse("the number of registers does not match");
  std::array<std::uint64_t, 32> rows{};
  for (unsigned r = 0; r < 8 * n; ++r) {
    rows[r] = shared_address(now, where, r);
    check_bounds(now, Space::shared, rows[r], 16, r, load ? "reads" : "writes", 16, true);
  }
  check_other_rows(now, where, 8 * n);
  std::array<std::array<Word, 4>, 32> words{};
  Now held = now;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < f.values; ++i) {
      held.holder = lane;
      MatrixElement const e = element_of(f, lane, i);
      std::uint64_t const at = rows[e.row] + 2 * std::uint64_t{e.column};
      if (load)
        place(words[lane][i / 2], i % 2 * 2, read(held, Space::shared, at, 2, e.row), 2);
      else
        write(held, Space::shared, at, 2, e.row, bytes_of(now.operand(regs[i / 2], lane, 32), i % 2 * 2, 2));
    }
  if (!load) return;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < n; ++r) now.put(regs[r], lane, words[lane][r]);
}

}  // namespace swizproof::flow_detail
