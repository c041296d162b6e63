// Loads, stores and asynchronous copies of a block, byte by byte.
#include "block.hpp"

#include <swizproof/hardware/fragment.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

using program::Space;

}  // namespace

/// The space of a generic address.
Space BlockRun::space_at(Now const& now, Space space, std::uint64_t address) const {
  if (space == Space::constant) refuse(now.index, "constant memory is not modelled");
  if (kernel_.in_params(address)) return Space::param;
  if (space == Space::param) refuse(now.index, "a parameter at an address that is none of a parameter");
  if (space != Space::generic) return space;
  if (address < shared_limit) return Space::shared;
  if (address >= local_start && address < local_limit) return Space::local;
  return Space::global;
}

void BlockRun::check_bounds(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane,
                            char const* verb) const {
  unsigned const t = thread(now.warp, lane);
  if (bytes != 0 && address % bytes != 0)
    fault(FlowFaultKind::misaligned, touch(now, lane), isa::alignment,
          fmt::format("thread {} {} {} bytes at 0x{:x}, which is no multiple of {}", t, verb, bytes,
                      address & 0xffffffffffU, bytes));
  if (space == Space::shared && (address < shared_start || address + bytes > kernel_.shared_end))
    fault(FlowFaultKind::out_of_bounds, touch(now, lane), isa::bounds,
          fmt::format("thread {} {} byte 0x{:x} of shared memory, which ends at 0x{:x}", t, verb, address,
                      kernel_.shared_end));
  if (space != Space::global) return;
  std::uint32_t const id = kernel_.array_of(address);
  if (id == 0 || kernel_.arrays[id].extents.empty())
    fault(FlowFaultKind::out_of_bounds, touch(now, lane), isa::bounds,
          fmt::format("thread {} {} an address of global memory that belongs to no array", t, verb));
  FlowArray const& a = kernel_.arrays[id];
  std::uint64_t const at = address & ((std::uint64_t{1} << array_shift) - 1);
  if (at + bytes > a.size() * (a.bits / 8))
    fault(FlowFaultKind::out_of_bounds, touch(now, lane), isa::bounds,
          fmt::format("thread {} {} byte {} of {}, which has {}", t, verb, at, a.name,
                      a.size() * (a.bits / 8)));
}

/// Bytes that cells hold; what no thread has written is not followed.
template <class Fn>
Word BlockRun::held_bytes(Now const& now, unsigned bytes, Fn const& cell) {
  Word out;
  Name last = 0, moved = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    Cell const* const c = cell(i);
    if (c != nullptr && c->part == 0) {
      out.number |= std::uint64_t{c->number} << 8 * i;
      continue;
    }
    Name const held = c == nullptr ? uninitialised_ : c->part / 8;
    if (held != last)
      last = held, moved = c == nullptr ? held : names_.moved(held, c->writer.line, now.index);
    out.part[i] = moved * 8 + (c == nullptr ? i : c->part % 8);
    out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return out;
}

Word BlockRun::read_written(Now const& now, Bytes& from, std::uint64_t address, unsigned bytes,
                            unsigned lane) {
  return held_bytes(now, bytes, [&](unsigned i) { return from.read(address + i, toucher(now, lane)); });
}

/// Bytes that an atomic finds. Its write follows, and finds the races.
Word BlockRun::update(Now const& now, Bytes& memory, std::uint64_t address, unsigned bytes,
                      Toucher const& by) {
  Word out;
  for (unsigned i = 0; i < bytes; ++i) {
    bool const element = &memory == &global_ && memory.find(address + i) == nullptr;
    place(out, i,
          element ? element_byte(now, address + i)
                  : held_bytes(now, 1, [&](unsigned) { return memory.update(address + i, by); }),
          1);
  }
  return out;
}

/// A byte of an element that nothing has written.
Word BlockRun::element_byte(Now const& now, std::uint64_t address) {
  std::uint32_t const id = kernel_.array_of(address);
  unsigned const each = kernel_.arrays[id].bits / 8;
  std::uint64_t const at = address & ((std::uint64_t{1} << array_shift) - 1);
  std::vector<std::uint64_t> const& values = kernel_.arrays[id].values;
  if (!values.empty()) return plain(values[at / each] >> 8 * (at % each) & 0xff);
  Word out;
  out.part[0] = names_.element(id, at / each, now.index) * 8 + static_cast<std::uint32_t>(at % each);
  out.named = 1;
  return out;
}

/// Bytes of an array: elements, or what the block has written there.
Word BlockRun::read_global(Now const& now, std::uint64_t address, unsigned bytes, unsigned lane) {
  Word out;
  Toucher const by = toucher(now, lane);
  bool const constant = now.decoded.handler == Handler::load && now.decoded.has("nc");
  for (unsigned i = 0; i < bytes; ++i) {
    if (constant) global_.read_constant(address + i, by);
    bool const written = global_.find(address + i) != nullptr;
    if (!written) global_.read_first(address + i, by);
    place(out, i, written ? read_written(now, global_, address + i, 1, lane) : element_byte(now, address + i),
          1);
  }
  return out;
}

Word BlockRun::read(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane) {
  if (space == Space::global) return read_global(now, address, bytes, lane);
  if (space == Space::param) return read_param(now, address, bytes);
  return read_written(now, space == Space::local ? local_[thread(now.warp, lane)] : shared_, address, bytes,
                      lane);
}

void BlockRun::write(Now const& now, Space space, std::uint64_t address, unsigned bytes, unsigned lane,
                     Word const& value, std::uint32_t group) {
  Bytes& to = space == Space::global  ? global_
              : space == Space::local ? local_[thread(now.warp, lane)]
                                      : shared_;
  if (space != Space::local && !now.decoded.strong) flags_.forget(address, bytes);
  for (unsigned i = 0; i < bytes; ++i) {
    bool const named = (value.named >> i & 1) != 0;
    to.write(address + i, toucher(now, lane, group), named ? value.part[i] : 0,
             named ? std::uint8_t{0} : static_cast<std::uint8_t>(value.number >> 8 * i));
  }
}

/// The address that a load of a parameter has: of a parameter by name, or one that is computed.
std::uint64_t BlockRun::param_address(Now const& now, ptx::Operand const& where, unsigned lane) {
  if (where.parts.size() != 1 || where.parts[0].kind != ptx::Operand::Kind::symbol)
    return address(now, where, lane);
  std::string_view const name = where.parts[0].text;
  auto const& all = kernel_.function.params;
  auto const at =
      std::find_if(all.begin(), all.end(), [&](program::Variable const& v) { return v.name == name; });
  if (at == all.end()) refuse(now.index, fmt::format("the parameter {} is not one of the kernel", name));
  return kernel_.params[static_cast<std::size_t>(at - all.begin())].start + where.value +
         where.parts[0].value;
}

Word BlockRun::read_param(Now const& now, std::uint64_t address, unsigned bytes) {
  Word out;
  auto const at = std::find_if(kernel_.params.rbegin(), kernel_.params.rend(),
                               [&](FlowKernel::Parameter const& p) { return p.start <= address; });
  if (at == kernel_.params.rend() || address + bytes > at->start + at->bytes.size())
    refuse(now.index, "it reads beyond a parameter");
  bool const whole = bytes == at->bytes.size();
  auto const number = static_cast<std::size_t>(kernel_.params.rend() - at) - 1;
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
          kernel_.function.params[number].name,
          fmt::format("{}--param {}=A:f16[128][64] for a pointer, --param {}=1024 for a number",
                      kernel_.without_value(), place, place));
    }
    if (byte.array == 0) {
      out.number |= std::uint64_t{byte.number} << 8 * i;
      continue;
    }
    out.part[i] = names_.element(byte.array, 0, now.index) * 8 + byte.number;
    out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return out;
}

void BlockRun::load(Now const& now) {
  Decoded const& d = now.decoded;
  unsigned const each = std::max(d.type.bits, 8U) / 8;
  if (d.type.bits == 0 || d.type.bits > 64)
    refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
  std::vector<ptx::Operand> const one{now.in.operands[0]};
  auto const& into = one[0].kind == ptx::Operand::Kind::vector ? one[0].parts : one;
  if (into.size() != d.lanes) refuse(now.index, "the number of registers does not match");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const at = d.space == Space::param ? param_address(now, now.in.operands[1], lane)
                                                     : address(now, now.in.operands[1], lane);
    Space const space = space_at(now, d.space, at);
    check_bounds(now, space, at, each * d.lanes, lane, "reads");
    for (unsigned k = 0; k < into.size(); ++k) {
      Word value = read(now, space, at + k * each, each, lane);
      unsigned const width =
          into[k].kind == ptx::Operand::Kind::reg ? kernel_.program.widths[into[k].reg] : 0;
      if (d.type.kind == 's' && width > d.type.bits) {
        Name const name =
            value.named != 0 ? names_.whole(value, 0, each, Format::integer, now.index, 's') : 0;
        if (name != 0)
          value = names_.word(names_.converted(name, Format::integer, width / 8, now.index));
        else
          value.number = static_cast<std::uint64_t>(signed_of(value.number, d.type.bits));
      }
      put(now, into[k], lane, value);
    }
    if (d.strong) flags_.take(at, thread(now.warp, lane), d.has("acquire"), clocks_);
  }
  if (d.strong && now.warp.counts[now.index] > 1) now.warp.yields = true;
}

void BlockRun::store(Now const& now) {
  Decoded const& d = now.decoded;
  unsigned const each = std::max(d.type.bits, 8U) / 8;
  if (d.type.bits == 0 || d.type.bits > 64 || d.space == Space::param)
    refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
  std::vector<ptx::Operand> const one{now.in.operands[1]};
  auto const& from = one[0].kind == ptx::Operand::Kind::vector ? one[0].parts : one;
  if (from.size() != d.lanes) refuse(now.index, "the number of registers does not match");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const at = address(now, now.in.operands[0], lane);
    Space const space = space_at(now, d.space, at);
    if (space == Space::param) refuse(now.index, "a parameter is written");
    check_bounds(now, space, at, each * d.lanes, lane, "writes");
    for (unsigned k = 0; k < from.size(); ++k)
      write(now, space, at + k * each, each, lane, operand(now, from[k], lane, 8 * each));
    if (d.strong) flags_.give(at, each * d.lanes, thread(now.warp, lane), d.has("release"), clocks_);
  }
}

void BlockRun::copy_async(Now const& now) {
  if (now.in.operands.size() < 3) refuse(now.index, "cp.async without a size");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane);
    auto const bytes = static_cast<unsigned>(number(now, now.in.operands[2], lane, "the size"));
    std::uint64_t source = bytes;
    if (now.in.operands.size() > 3 && now.in.operands[3].kind == ptx::Operand::Kind::reg &&
        kernel_.program.widths[now.in.operands[3].reg] == 1)
      refuse(now.index, "cp.async with ignore-src is not executed");
    bool const hint = now.decoded.has("L2::cache_hint");
    if (now.in.operands.size() > (hint ? 4U : 3U))
      source =
          std::min<std::uint64_t>(number(now, now.in.operands[3], lane, "the size of the source"), bytes);
    std::uint64_t const to = address(now, now.in.operands[0], lane),
                        from = address(now, now.in.operands[1], lane);
    check_bounds(now, Space::shared, to, bytes, lane, "writes");
    if (source != 0) check_bounds(now, Space::global, from, bytes, lane, "reads");
    for (unsigned i = 0; i < bytes; ++i)
      write(now, Space::shared, to + i, 1, lane, i < source ? read_global(now, from + i, 1, lane) : plain(0),
            1 + groups_.open(t));
  }
}

void BlockRun::wait(Now const& now) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    unsigned const t = thread(now.warp, lane);
    if (now.decoded.handler == Handler::commit) {
      groups_.commit(t);
      continue;
    }
    bool const all = now.decoded.has("wait_all");
    auto const pending =
        all ? 0U : static_cast<std::uint32_t>(number(now, now.in.operands[0], lane, "the count"));
    groups_.wait(t, pending, all, clocks_.now(t));
  }
}

/// ldmatrix and stmatrix of 16-bit elements, by the fragments of hardware/fragment.hpp.
void BlockRun::matrices(Now const& now, bool load) {
  Decoded const& d = now.decoded;
  need_whole_warp(now);
  unsigned const n = d.has("x4") ? 4 : d.has("x2") ? 2 : d.has("x1") ? 1 : 0;
  if (n == 0 || !d.has("m8n8") || !d.has("b16"))
    refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
  Fragment const f = fragment_of(
      swizproof::Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, n, d.has("trans")}, 16);
  ptx::Operand const& where = now.in.operands[load ? 1 : 0];
  ptx::Operand const& group = now.in.operands[load ? 0 : 1];
  std::vector<ptx::Operand> const one{group};
  auto const& regs = group.kind == ptx::Operand::Kind::vector ? group.parts : one;
  if (regs.size() != n) refuse(now.index, "the number of registers does not match");
  std::array<std::uint64_t, 32> rows{};
  for (unsigned r = 0; r < 8 * n; ++r) {
    rows[r] = address(now, where, r);
    Space const space = space_at(now, d.space, rows[r]);
    if (space != Space::shared) refuse(now.index, "a matrix outside of shared memory");
    check_bounds(now, space, rows[r], 16, r, load ? "reads" : "writes");
  }
  std::array<std::array<Word, 4>, 32> words{};
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < f.values; ++i) {
      MatrixElement const e = element_of(f, lane, i);
      std::uint64_t const at = rows[e.row] + 2 * std::uint64_t{e.column};
      if (load) {
        place(words[lane][i / 2], i % 2 * 2, read(now, Space::shared, at, 2, e.row), 2);
        if (!shared_.ordered_for(at, thread(now.warp, lane)))
          assumed_.insert(
              "ldmatrix reads a row for the lane that gives its address, which the PTX ISA does not specify");
      } else
        write(now, Space::shared, at, 2, e.row, bytes_of(operand(now, regs[i / 2], lane, 32), i % 2 * 2, 2));
    }
  if (!load) return;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < n; ++r) put(now, regs[r], lane, words[lane][r]);
}

}  // namespace swizproof::flow_detail
