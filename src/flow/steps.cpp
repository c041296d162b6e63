// Steps of a lowered instruction on words with names: integers exactly, names byte by byte.
#include "execute.hpp"
#include "integers.hpp"
#include "windows.hpp"

#include <swizproof/program/step.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

using program::Action;

Word named_step(Now const& now, program::Step const& s, Word const& a, Word const& b, Word const& c) {
  Word out;
  std::string const which = fmt::format("{} {}", static_cast<int>(s.action), s.width);
  if (s.action == Action::choose && a.named == 0)
    return low_bytes(a.number != 0 ? b : c, std::max(s.width / 8U, 1U));
  if (s.width == 1) {
    bool const any_plain = a.named == 0 || b.named == 0;
    std::uint64_t const known = a.named == 0 ? a.number : b.number;
    if (s.action == Action::copy) return a;
    if (any_plain && s.action == Action::both && known == 0) return plain(0);
    if (any_plain && s.action == Action::either && known == 1) return plain(1);
    return now.function_of(which, s.width, {a, b, c});
  }
  Names& names = now.block.names;
  if (moved_bytes(s, a, b, out) ||
      (b.named == 0 &&
       biased_step(names, s.action, a, b.number, std::max(s.width / 8U, 1U), now.index, out)) ||
      sum_of_names(names, s, a, b, now.index, out))
    return out;
  return now.function_of(which, s.width, {a, b, c});
}

/// A special register. One that is not modelled and the same in the whole block has a name.
Word special(Now const& now, std::uint32_t which, unsigned lane, unsigned bytes) {
  BlockState& block = now.block;
  FlowLaunch const& launch = block.kernel.launch;
  if (auto const value = program::special_of(
          which, {now.thread_of_block(lane), lane, launch.block, launch.grid, block.number}))
    return plain(*value);
  auto const& all = now.in.operands;
  auto const at = std::find_if(all.begin(), all.end(),
                               [](ptx::Operand const& o) { return o.kind == ptx::Operand::Kind::special; });
  if (at == all.end()) now.refuse("it reads a special register that is not modelled");
  if (auto const value = cluster_register(now, at->text)) {
    assume_cluster(now);
    return plain(*value);
  }
  now.warp.loop.change();  // %clock: another value each time
  Name& name = block.specials[which];
  if (name == 0) name = block.names.function(std::string(at->text), Format::integer, bytes, now.index);
  return block.names.word(name);
}

Word address_of(Now const& now, std::uint32_t symbol) {
  Word out = plain(now.symbol_address(symbol));
  out.origin = origin_of(symbol);
  return out;
}

/// The result of a step, and the variable whose address it is.
Word step_result(Now const& now, program::Step const& s, Word const& a, Word const& b, Word const& c) {
  Word out = apply_step(now, s, a, b, c);
  note_window(now, s, a.number, b.number, out.number);
  out.origin = (a.origin | b.origin | c.origin) == 0 ? std::uint16_t{0} : joined_origin(s, a, b, c);
  return out;
}

}  // namespace

Word apply_step(Now const& now, program::Step const& s, Word const& a, Word const& b, Word const& c) {
  if (s.action == Action::opaque && (a.named | b.named | c.named) == 0)
    if (auto const bits =
            opaque_number(now.block.kernel.program.names[s.extra], {a.number, b.number, c.number}))
      return plain(*bits & low_bits(s.width));
  if (s.action == Action::opaque)
    return now.function_of(fmt::format("opaque {}", s.extra), s.width, {a, b, c});
  if (!program::computes(s.action)) return now.unknown(s.width, {&a, &b, &c});
  if ((a.named | b.named | c.named) != 0) return named_step(now, s, a, b, c);
  return plain(program::result_of(s, a.number, b.number, c.number));
}

void execute_steps(Now const& now) {
  if (now.decoded.has("sync") && !now.in.operands.empty()) now.check_members(now.in.operands.back());
  FlowKernel const& kernel = now.block.kernel;
  auto const word = [&](std::uint64_t r, unsigned lane) -> Word& {
    return r < now.block.cluster.registers
               ? now.reg(static_cast<std::uint32_t>(r), lane)
               : now.block.cluster.temporaries[(r - now.block.cluster.registers) * 32 + lane];
  };
  for (std::uint32_t n = now.lowered.first; n < now.lowered.last; ++n) {
    program::Step const& s = kernel.program.steps[n];
    if (s.action == Action::access || s.action == Action::operand || s.action == Action::load)
      now.refuse_opcode();
    if (s.action == Action::symbol && !kernel.addresses[s.extra])
      now.refuse(fmt::format("the address of {} is not modelled", kernel.program.symbols[s.extra].name));
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!takes_part(now.mask, lane)) continue;
      auto const value = [&](program::Source const& source) {
        return source.constant ? plain(source.value) : word(source.value, lane);
      };
      Word const result =
          s.action == Action::special
              ? low_bytes(special(now, s.extra, lane, std::max(s.width / 8U, 1U)), std::max(s.width / 8U, 1U))
          : s.action == Action::symbol ? address_of(now, s.extra)
                                       : step_result(now, s, value(s.a), value(s.b), value(s.c));
      word(static_cast<std::uint64_t>(s.dst), lane) = result;
    }
  }
}

}  // namespace swizproof::flow_detail
