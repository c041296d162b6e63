// Registers of 128 bits: loads, stores and moves of them, as two words of 64 bits.
#include "execute.hpp"
#include "windows.hpp"

namespace swizproof::flow_detail {

namespace {

constexpr unsigned half = 8;  ///< bytes of a word

/// The registers of both halves: `{low, high}`.
std::vector<ptx::Operand> const& halves_of(Now const& now, ptx::Operand const& o) {
  if (o.kind != ptx::Operand::Kind::vector || o.parts.size() != 2) now.refuse_opcode();
  return o.parts;
}

bool is_wide(Now const& now, ptx::Operand const& o) {
  return o.kind == ptx::Operand::Kind::reg && now.block.kernel.function.registers[o.reg].bits == 128;
}

}  // namespace

WideWord wide_operand(Now const& now, ptx::Operand const& o, unsigned lane) {
  if (!is_wide(now, o)) {
    auto const& parts = halves_of(now, o);
    return {now.operand(parts[0], lane, 64), now.operand(parts[1], lane, 64)};
  }
  auto const upper = now.warp.upper.find(o.reg);
  Word const unwritten = now.block.names.word(now.block.cluster.unwritten);
  return {now.reg(o.reg, lane), upper == now.warp.upper.end() ? unwritten : upper->second[lane]};
}

void put_wide(Now const& now, ptx::Operand const& o, unsigned lane, WideWord const& value) {
  if (!is_wide(now, o)) {
    auto const& parts = halves_of(now, o);
    now.put(parts[0], lane, value.low), now.put(parts[1], lane, value.high);
    return;
  }
  auto const [at, fresh] = now.warp.upper.try_emplace(o.reg);
  if (fresh) at->second.fill(now.block.names.word(now.block.cluster.unwritten));
  now.reg(o.reg, lane) = value.low, at->second[lane] = value.high;
}

void move_wide(Now const& now) {
  bool const loads = now.decoded.name == "ld", stores = now.decoded.name == "st";
  auto const& in = now.in.operands;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (!loads && !stores) {
      put_wide(now, in[0], lane, wide_operand(now, in[1], lane));
      continue;
    }
    auto const [space, at] = located(now, in[loads ? 1 : 0], lane);
    if (space == program::Space::param) now.refuse_opcode();
    if (space == program::Space::global)
      now.block.uses[now.block.kernel.array_of(at)].insert({8 * half, now.decoded.type.kind});
    check_bounds(now, space, at, 2 * half, lane, loads ? "reads" : "writes");
    if (loads) {
      WideWord const value{read_bytes(now, space, at, half, lane),
                           read_bytes(now, space, at + half, half, lane)};
      put_wide(now, in[0], lane, value);
      continue;
    }
    WideWord const value = wide_operand(now, in[1], lane);
    write_bytes(now, space, at, half, lane, value.low);
    write_bytes(now, space, at + half, half, lane, value.high);
  }
}

}  // namespace swizproof::flow_detail
