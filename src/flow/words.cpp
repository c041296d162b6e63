#include "words.hpp"

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

unsigned bytes_of_format(Format format) {
  switch (format) {
    case Format::f16:
    case Format::bf16:
      return 2;
    case Format::e4m3:
    case Format::e5m2:
    case Format::e8m0:
    case Format::e2m1x2:
    case Format::s4x2:
    case Format::u4x2:
      return 1;
    case Format::f64:
      return 8;
    case Format::f32:
    case Format::integer:
      break;
  }
  return 4;
}

}  // namespace

Packed packed_of(std::string_view type) {
  Packed p;
  p.format = format_of(type);
  p.count = type.ends_with("x2") ? 2 : 1;
  if (p.format != Format::integer) return p.bytes = bytes_of_format(p.format), p;
  p.sign = type[0];
  p.bytes = type.ends_with("64") ? 8 : type.ends_with("32") ? 4 : type.ends_with("16") ? 2 : 1;
  return p;
}

Word low_bytes(Word w, unsigned bytes) {
  w.number &= low_bits(8 * bytes);
  w.named = static_cast<std::uint8_t>(w.named & ((1U << bytes) - 1));
  for (unsigned i = bytes; i < 8; ++i) w.part[i] = 0;
  return w;
}

Word bytes_of(Word const& w, unsigned from, unsigned bytes) {
  Word out;
  for (unsigned i = 0; i < bytes; ++i) {
    if ((w.named >> (from + i) & 1) != 0)
      out.part[i] = w.part[from + i], out.named = static_cast<std::uint8_t>(out.named | 1U << i);
    else
      out.number |= (w.number >> 8 * (from + i) & 0xff) << 8 * i;
  }
  return out;
}

void place(Word& into, unsigned at, Word const& value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    if ((value.named >> i & 1) != 0)
      into.part[at + i] = value.part[i], into.named = static_cast<std::uint8_t>(into.named | 1U << (at + i));
    else
      into.number |= (value.number >> 8 * i & 0xff) << 8 * (at + i);
  }
}

bool moved_bytes(program::Step const& s, Word const& a, Word const& b, Word& out) {
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

bool sum_of_names(Names& names, program::Step const& s, Word const& a, Word const& b, std::uint32_t line,
                  Word& out) {
  if (s.action != Action::add && s.action != Action::sub && s.action != Action::mul) return false;
  unsigned const bytes = s.width / 8U;
  if (bytes == 0) return false;
  Name const x = names.whole(a, 0, bytes, Format::integer, line);
  Name y = names.whole(b, 0, bytes, Format::integer, line);
  if (s.action == Action::sub)
    y = names.product(names.number(-1, Format::integer, bytes), y, Format::integer, bytes, line);
  out = names.word(s.action == Action::mul ? names.product(x, y, Format::integer, bytes, line)
                                           : names.sum(x, y, Format::integer, bytes, line));
  return true;
}

}  // namespace swizproof::flow_detail
