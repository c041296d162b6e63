#include "block_state.hpp"
#include "windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::flow_detail {

ClusterState::ClusterState(FlowKernel const& of, std::array<std::uint32_t, 3> first_block, Names& all_names)
    : kernel(of),
      first(first_block),
      names(all_names),
      units{of.clock_threads(), of.blocks_of_cluster()},
      clocks(units.count(kernel.asynchronous, kernel.stores_bulk, kernel.arrives_async, kernel.tensor)),
      groups(units.threads),
      fences(units.blocks, ProxyFences(units.threads)),
      global_fences(units.threads),
      shared([&of](std::uint64_t at) { return of.shared_byte(at); }, names, clocks, groups, faults, units,
             kernel.launch.same_values),
      global([&of](std::uint64_t at) { return of.element_at(at); }, names, clocks, groups, faults, units,
             kernel.launch.same_values),
      barrier(units.threads),
      mbarriers(faults, units),
      flags(units.threads, units.threads_of_block()),
      lifetimes(units, clocks),
      tensor_fences(units.threads),
      pairs((units.blocks + 1) / 2),
      bulk_groups(units.threads),
      registers(static_cast<std::uint32_t>(kernel.function.registers.size())) {
  constexpr std::size_t most_clocks = 1 << 16;  // races.hpp keeps them in 16 bits
  if (clocks.size() > most_clocks)
    throw FlowRefused{fmt::format("a cluster of {} threads is too large", units.threads)};
  for (unsigned t = 0; t < units.threads; ++t)
    local.emplace_back([](std::uint64_t) { return std::string("local memory"); }, names, clocks, groups,
                       faults, units, true);
  temporaries.resize((kernel.program.widths.size() - registers) * 32);
  uninitialised = names.function("bytes that no thread has written", Format::integer, 8, ~0U);
}

void ClusterState::start_warps() {
  unwritten = names.function("a register that nothing has written", Format::integer, 8, ~0U);
  Word const nothing = names.word(unwritten);
  unsigned const of_block = kernel.warps();
  for (unsigned w = 0; w < of_block * units.blocks; ++w) {
    unsigned const lanes = std::min(32U, kernel.threads - w % of_block * 32);
    Warp warp;
    warp.number = w, warp.of_block = w % of_block, warp.rank = w / of_block;
    warp.live = lanes == 32 ? ~0U : (1U << lanes) - 1;
    warp.paths.push_back({warp.live, 0, 0, -1});
    warp.registers.assign(std::size_t{registers} * 32, nothing);
    warp.counts.assign(kernel.function.body.size(), 0);
    warps.push_back(std::move(warp));
  }
}

BlockState::BlockState(ClusterState& of, unsigned rank_in_cluster)
    : cluster(of),
      kernel(of.kernel),
      names(of.names),
      units(of.units),
      faults(of.faults),
      clocks(of.clocks),
      groups(of.groups),
      global_fences(of.global_fences),
      shared(of.shared),
      global(of.global),
      local(of.local),
      warps(of.warps),
      mbarriers(of.mbarriers),
      flags(of.flags),
      lifetimes(of.lifetimes),
      atomic_kinds(of.atomic_kinds),
      left_out(of.left_out),
      assumed(of.assumed),
      uses(of.uses),
      uninitialised(of.uninitialised),
      rank(rank_in_cluster),
      number(block_of_rank(of.first, of.kernel.cluster, rank)),
      base(std::uint64_t{rank} << window_shift),
      barriers(kernel.threads, faults),
      tensor(clocks, faults, units, of.tensor_fences),
      warpgroups(kernel.warps()) {
  of.blocks.push_back(this);
}

unsigned BlockState::live_warps() const {
  return static_cast<unsigned>(std::count_if(warps.begin(), warps.end(),
                                             [&](Warp const& w) { return w.rank == rank && w.live != 0; }));
}

MbarrierOperation Now::operation(unsigned lane) const {
  unsigned const t = thread(lane);
  bool const relaxed = decoded.has("relaxed");
  return {t, touch(lane), relaxed, relaxed ? block.flags.released(t) : std::nullopt};
}

void Now::fault(FlowFaultKind kind, FlowTouch const& by, std::string_view rule, std::string text) const {
  throw FlowConflict{kind, std::move(text), by, {}, rule, {}, {}, false};
}

void Now::refuse_opcode() const { refuse(fmt::format("{} is not executed", in.opcode.text)); }

Word Now::operand(ptx::Operand const& o, unsigned lane, unsigned width) const {
  using Kind = ptx::Operand::Kind;
  if (o.kind == Kind::immediate) return plain(o.value & low_bits(width));
  if (o.kind == Kind::reg) {
    Word const& w = reg(o.reg, lane);
    if (o.negated && w.named == 0) return plain(~w.number & 1);
    return width < 8 ? w : low_bytes(w, std::min(width / 8, 8U));
  }
  FlowKernel const& k = block.kernel;
  if (o.kind == Kind::symbol)
    for (std::size_t i = k.program.symbols.size(); i-- > 0;)
      if (k.program.symbols[i].name == o.text && k.addresses[i]) {
        Word out = plain(symbol_address(i) + o.value);
        out.origin = origin_of(i);
        return out;
      }
  refuse(fmt::format("the operand {} is not executed", o.text));
}

std::uint64_t Now::symbol_address(std::size_t symbol) const {
  bool const in_shared = block.kernel.program.symbols[symbol].space == program::Space::shared;
  return *block.kernel.addresses[symbol] + (in_shared ? block.base : 0);
}

std::uint64_t Now::number(Word const& w, char const* what) const {
  if (w.named == 0) return w.number;
  unsigned const i = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(w.named)));
  throw FlowRefused{
      fmt::format("{} depends on data: {}", what, block.names.text(static_cast<Name>(w.part[i] / 8))), index,
      true};
}

std::uint64_t Now::address(ptx::Operand const& o, unsigned lane) const {
  if (o.kind != ptx::Operand::Kind::address) refuse(fmt::format("the address {} is not read", o.text));
  if (o.parts.empty()) return o.value;
  if (o.parts.size() != 1) refuse(fmt::format("the address {} is not read", o.text));
  bool const narrow =
      o.parts[0].kind == ptx::Operand::Kind::reg && block.kernel.program.widths[o.parts[0].reg] == 32;
  Word const base = operand(o.parts[0], lane, 64);
  std::uint64_t const sum = number(base, "the address") + o.value, at = narrow ? sum & 0xffffffffU : sum;
  note_origin(*this, base.origin, without_window(at));
  return at;
}

void Now::put(ptx::Operand const& o, unsigned lane, Word const& value) const {
  if (o.kind != ptx::Operand::Kind::reg) return;
  unsigned const width = block.kernel.program.widths[o.reg];
  reg(o.reg, lane) = width == 1 ? value : low_bytes(value, width / 8);
}

Word Now::unknown(unsigned width, std::initializer_list<Word const*> from) const {
  std::vector<Name> args;
  for (Word const* w : from)
    for (unsigned i = 0; i < 8; ++i)
      if ((w->named >> i & 1) != 0 && std::find(args.begin(), args.end(), w->part[i] / 8) == args.end())
        args.push_back(w->part[i] / 8);
  return block.names.word(block.names.function(std::string(in.opcode.text) + " of", Format::integer,
                                               std::max(width / 8, 1U), index, std::move(args)));
}

Word Now::function_of(std::string const& which, unsigned width, std::vector<Word> const& words) const {
  return block.names.word(block.names.function_of(which, words, std::string(in.opcode.text) + " of",
                                                  std::max(width / 8, 1U), index));
}

Word Now::moved(Word w) const {
  for (unsigned i = 0; i < 8; ++i)
    if ((w.named >> i & 1) != 0)
      w.part[i] = block.names.moved(w.part[i] / 8, index, index) * 8 + w.part[i] % 8;
  return w;
}

Word Now::choice(unsigned width, Word const& condition, Word const& yes, Word const& no) const {
  Word const out = function_of("choice", width, {condition, yes, no});
  return width == 1 ? low_bytes(out, 1) : out;
}

void Now::refuse_split() const {
  if (warp.split && mask != warp.live)
    throw FlowApart{
        {fmt::format(
             "lanes of {} are on two sides of a branch, and some of them wait: where they meet is not "
             "modelled",
             block.units.warp(warp.number)),
         index}};
}

void Now::need_whole_warp() const {
  refuse_split();
  if (mask != ~0U)
    fault(FlowFaultKind::misuse, touch(static_cast<unsigned>(std::countr_zero(mask)), true), isa::aligned,
          fmt::format("{} is executed by a part of {}: all of its threads have to execute it", in.opcode.text,
                      block.units.warp(warp.number)));
}

void Now::check_members(ptx::Operand const& of) const {
  std::array<std::uint32_t, 32> members{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(mask, lane)) continue;
    members[lane] = static_cast<std::uint32_t>(number(of, lane, "the mask"));
    if (!takes_part(members[lane], lane))
      fault(FlowFaultKind::misuse, touch(lane), isa::warp_mask,
            fmt::format("{} executes {} with the mask 0x{:x}, which lacks its lane {}",
                        block.units.thread(thread(lane)), in.opcode.text, members[lane], lane));
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(mask, lane) && (members[lane] & warp.live) != (mask & members[lane]))
      refuse("lanes of the mask are on another path: in which order they meet is not modelled");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned other = 0; other < 32 && takes_part(mask, lane); ++other)
      if (takes_part(mask & members[lane], other) && members[other] != members[lane])
        refuse(fmt::format(
            "{} has the masks 0x{:x} of lane {} and 0x{:x} of lane {}: lanes wait until all of their "
            "mask come with the same one",
            in.opcode.text, members[lane], lane, members[other], other));
}

}  // namespace swizproof::flow_detail
