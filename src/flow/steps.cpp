// Steps of a lowered instruction on words with names: integers exactly, names byte by byte.
#include "block.hpp"
#include "integers.hpp"

#include <swizproof/program/step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

namespace {

using program::Action;

}  // namespace

/// A value that is not followed, and what it comes from.
Word BlockRun::unknown(std::uint32_t line, unsigned width, std::initializer_list<Word const*> from) {
  std::vector<Name> args;
  for (Word const* w : from)
    for (unsigned i = 0; i < 8; ++i)
      if ((w->named >> i & 1) != 0 && std::find(args.begin(), args.end(), w->part[i] / 8) == args.end())
        args.push_back(w->part[i] / 8);
  return names_.word(names_.function(std::string(kernel_.function.body[line].opcode.text) + " of",
                                     Format::integer, std::max(width / 8, 1U), line, std::move(args)));
}

Word BlockRun::named_step(program::Step const& s, Word const& a, Word const& b, Word const& c,
                          std::uint32_t line) {
  Word out;
  if (s.action == Action::choose && a.named == 0)
    return low_bytes(a.number != 0 ? b : c, std::max(s.width / 8U, 1U));
  if (s.width == 1) {
    bool const any_plain = a.named == 0 || b.named == 0;
    std::uint64_t const known = a.named == 0 ? a.number : b.number;
    if (s.action == Action::copy) return a;
    if (any_plain && s.action == Action::both && known == 0) return plain(0);
    if (any_plain && s.action == Action::either && known == 1) return plain(1);
    return unknown(line, s.width, {&a, &b, &c});
  }
  if (moved_bytes(s, a, b, out) ||
      (b.named == 0 && biased_step(names_, s.action, a, b.number, std::max(s.width / 8U, 1U), line, out)) ||
      sum_of_names(names_, s, a, b, line, out))
    return out;
  return unknown(line, s.width, {&a, &b, &c});
}

Word BlockRun::apply(program::Step const& s, Word const& a, Word const& b, Word const& c,
                     std::uint32_t line) {
  if (!program::computes(s.action)) return unknown(line, s.width, {&a, &b, &c});
  if ((a.named | b.named | c.named) != 0) return named_step(s, a, b, c, line);
  return plain(program::result_of(s, a.number, b.number, c.number));
}

void BlockRun::steps(Now const& now) {
  if (now.decoded.has("sync") && !now.in.operands.empty()) check_members(now, now.in.operands.back());
  for (std::uint32_t n = now.lowered.first; n < now.lowered.last; ++n) {
    program::Step const& s = kernel_.program.steps[n];
    if (s.action == Action::access || s.action == Action::operand || s.action == Action::load)
      refuse(now.index, fmt::format("{} is not executed", now.in.opcode.text));
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!takes_part(now.mask, lane)) continue;
      auto const value = [&](program::Source const& source) {
        if (source.constant) return plain(source.value);
        return source.value < registers_ ? reg(now.warp, static_cast<std::uint32_t>(source.value), lane)
                                         : temporaries_[(source.value - registers_) * 32 + lane];
      };
      Word result;
      if (s.action == Action::special)
        result = plain(special(s.extra, now.warp, lane, now.index) & low_bits(s.width));
      else if (s.action == Action::symbol)
        result = plain(kernel_.addresses[s.extra].value_or(0));
      else
        result = apply(s, value(s.a), value(s.b), value(s.c), now.index);
      if (s.action == Action::symbol && !kernel_.addresses[s.extra])
        refuse(now.index,
               fmt::format("the address of {} is not modelled", kernel_.program.symbols[s.extra].name));
      auto const to = static_cast<std::uint32_t>(s.dst);
      (to < registers_ ? reg(now.warp, to, lane) : temporaries_[std::size_t{to - registers_} * 32 + lane]) =
          result;
    }
  }
}

std::uint64_t BlockRun::special(std::uint32_t which, Warp const& warp, unsigned lane, std::uint32_t line) {
  auto const value = program::special_of(
      which, {thread(warp, lane), lane, kernel_.launch.block, kernel_.launch.grid, number_});
  if (!value) refuse(line, "it reads a special register that is not modelled");
  return *value;
}

Word BlockRun::operand(Now const& now, ptx::Operand const& o, unsigned lane, unsigned width) {
  using Kind = ptx::Operand::Kind;
  if (o.kind == Kind::immediate) return plain(o.value & low_bits(width));
  if (o.kind == Kind::reg) {
    Word const& w = reg(now.warp, o.reg, lane);
    if (o.negated && w.named == 0) return plain(~w.number & 1);
    return width < 8 ? w : low_bytes(w, std::min(width / 8, 8U));
  }
  if (o.kind == Kind::symbol)
    for (std::size_t i = kernel_.program.symbols.size(); i-- > 0;)
      if (kernel_.program.symbols[i].name == o.text && kernel_.addresses[i])
        return plain(*kernel_.addresses[i] + o.value);
  refuse(now.index, fmt::format("the operand {} is not executed", o.text));
}

std::uint64_t BlockRun::number(Now const& now, ptx::Operand const& o, unsigned lane, char const* what) {
  Word const w = operand(now, o, lane, 64);
  if (w.named == 0) return w.number;
  unsigned const i = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(w.named)));
  refuse(now.index,
         fmt::format("{} depends on data: {}", what, names_.text(static_cast<Name>(w.part[i] / 8))));
}

std::uint64_t BlockRun::address(Now const& now, ptx::Operand const& o, unsigned lane) {
  if (o.kind != ptx::Operand::Kind::address)
    refuse(now.index, fmt::format("the address {} is not read", o.text));
  if (o.parts.empty()) return o.value;
  if (o.parts.size() != 1) refuse(now.index, fmt::format("the address {} is not read", o.text));
  bool const narrow =
      o.parts[0].kind == ptx::Operand::Kind::reg && kernel_.program.widths[o.parts[0].reg] == 32;
  std::uint64_t const sum = number(now, o.parts[0], lane, "the address") + o.value;
  return narrow ? sum & 0xffffffffU : sum;
}

/// Writes a register; a wider one gets zeros above.
void BlockRun::put(Now const& now, ptx::Operand const& o, unsigned lane, Word const& value) {
  if (o.kind != ptx::Operand::Kind::reg) return;
  unsigned const width = kernel_.program.widths[o.reg];
  reg(now.warp, o.reg, lane) = width == 1 ? value : low_bytes(value, width / 8);
}

}  // namespace swizproof::flow_detail
