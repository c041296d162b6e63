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

std::uint8_t byte_of(Word const& w, unsigned i) { return static_cast<std::uint8_t>(w.number >> 8 * i); }

bool is_named(Word const& w, unsigned i) { return (w.named >> i & 1) != 0; }

/// A word of numbers shifted by whole bytes, up if `by` is positive.
Word shifted_bytes(Word const& w, int by, unsigned bytes) {
  Word out;
  for (int i = 0; i < static_cast<int>(bytes); ++i) {
    int const from = i - by;
    if (from < 0 || from >= static_cast<int>(bytes)) continue;
    auto const f = static_cast<unsigned>(from), t = static_cast<unsigned>(i);
    if (is_named(w, f))
      out.part[t] = w.part[f], out.named = static_cast<std::uint8_t>(out.named | 1U << t);
    else
      out.number |= std::uint64_t{byte_of(w, f)} << 8 * t;
  }
  return out;
}

/// The low bytes of a word.
Word low_bytes(Word w, unsigned bytes) {
  w.number &= low_bits(8 * bytes);
  w.named = static_cast<std::uint8_t>(w.named & ((1U << bytes) - 1));
  for (unsigned i = bytes; i < 8; ++i) w.part[i] = 0;
  return w;
}

/// Bytes of `a` where the mask has ones, 0 elsewhere; false if it splits a byte that has a name.
bool masked_bytes(Word const& a, std::uint64_t mask, unsigned bytes, Word& out) {
  out = plain(a.number & mask);
  for (unsigned i = 0; i < bytes; ++i) {
    if (!is_named(a, i)) continue;
    auto const m = static_cast<std::uint8_t>(mask >> 8 * i);
    if (m != 0 && m != 0xff) return false;
    if (m == 0) continue;
    out.part[i] = a.part[i], out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return true;
}

/// Two words joined where at most one of them has a name or a bit in each byte; `bits`: numbers are joined by this operation.
bool joined_bytes(Action action, Word const& a, Word const& b, unsigned bytes, Word& out) {
  if (action == Action::add && (a.number & b.number) != 0) return false;
  out = plain(action == Action::bit_xor ? a.number ^ b.number : a.number | b.number);
  for (unsigned i = 0; i < bytes; ++i) {
    bool const x = is_named(a, i), y = is_named(b, i);
    if (!x && !y) continue;
    if ((x && y) || byte_of(x ? b : a, i) != 0) return false;
    out.part[i] = x ? a.part[i] : b.part[i];
    out.named = static_cast<std::uint8_t>(out.named | 1U << i);
  }
  return true;
}

}  // namespace

/// A value that is not followed, and what it comes from.
Word BlockRun::unknown(std::uint32_t line, unsigned width, std::initializer_list<Word const*> from) {
  std::vector<Name> args;
  for (Word const* w : from)
    for (unsigned i = 0; i < 8; ++i)
      if (is_named(*w, i) && std::find(args.begin(), args.end(), w->part[i] / 8) == args.end())
        args.push_back(w->part[i] / 8);
  return names_.word(names_.function(std::string(kernel_.function.body[line].opcode.text) + " of",
                                     Format::integer, std::max(width / 8, 1U), line, std::move(args)));
}

/// Moves of whole bytes by any operation.
bool BlockRun::moved_bytes(program::Step const& s, Word const& a, Word const& b, Word& out) const {
  unsigned const bytes = std::max(s.width / 8U, 1U);
  bool const b_plain = b.named == 0, a_plain = a.named == 0;
  switch (s.action) {
    case Action::copy:
    case Action::zext:
    case Action::trunc:
      return out = low_bytes(a, bytes), true;
    case Action::shl:
    case Action::lshr:
      if (!b_plain || b.number % 8 != 0) return false;
      out =
          b.number >= s.width
              ? Word{}
              : shifted_bytes(a, (s.action == Action::shl ? 1 : -1) * static_cast<int>(b.number / 8), bytes);
      return true;
    case Action::bit_and:
      return (b_plain && masked_bytes(a, b.number, bytes, out)) ||
             (a_plain && masked_bytes(b, a.number, bytes, out));
    case Action::bit_or:
    case Action::bit_xor:
    case Action::add:
      return joined_bytes(s.action, a, b, bytes, out);
    case Action::mul: {
      Word const& factor = a_plain ? a : b;
      if (factor.named != 0 || !std::has_single_bit(factor.number)) return false;
      auto const up = static_cast<unsigned>(std::countr_zero(factor.number));
      if (up % 8 != 0) return false;
      return out = shifted_bytes(a_plain ? b : a, static_cast<int>(up / 8), bytes), true;
    }
    default:
      return false;
  }
}

/// Sums and products of integers that have names as a whole.
bool BlockRun::sum_of_names(program::Step const& s, Word const& a, Word const& b, std::uint32_t line,
                            Word& out) {
  if (s.action != Action::add && s.action != Action::sub && s.action != Action::mul) return false;
  unsigned const bytes = s.width / 8U;
  if (bytes == 0) return false;
  Name const x = names_.whole(a, 0, bytes, Format::integer, line);
  Name y = names_.whole(b, 0, bytes, Format::integer, line);
  if (s.action == Action::sub)
    y = names_.product(names_.number(-1, Format::integer, bytes), y, Format::integer, bytes, line);
  out = names_.word(s.action == Action::mul ? names_.product(x, y, Format::integer, bytes, line)
                                            : names_.sum(x, y, Format::integer, bytes, line));
  return true;
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
      sum_of_names(s, a, b, line, out))
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
