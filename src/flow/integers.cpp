#include "integers.hpp"

#include <swizproof/program/floating.hpp>
#include <swizproof/program/opcode.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <bit>

namespace swizproof::flow_detail {

namespace {

using program::Action;

bool is_named(Word const& w, unsigned i) { return (w.named >> i & 1) != 0; }

/// The number is in bytes above all names: no carry reaches one, and none comes from one.
bool above_names(Action action, Word const& a, std::uint64_t number, unsigned bytes, Word& out) {
  if (action == Action::bit_xor) return false;
  auto const named_bits = 8 * static_cast<unsigned>(std::bit_width(static_cast<unsigned>(a.named)));
  if (number != 0 && static_cast<unsigned>(std::countr_zero(number)) < named_bits) return false;
  out = a;
  out.number = action == Action::add ? a.number + number : a.number - number;
  if (bytes < 8) out.number &= (std::uint64_t{1} << 8 * bytes) - 1;
  return true;
}

/// x^ - 2^(w-1), where x^ is x of w bits with its top bit inverted and zeros above it: x with its sign.
bool sign_extended(Names& names, Word const& a, unsigned top, unsigned bytes, std::uint32_t line, Word& out) {
  Name const n = names.unbiased(a.part[top]);
  if (n == 0) return false;
  unsigned const size = names[n].bytes, first = top + 1 - size;
  for (unsigned i = 0; i < bytes; ++i) {
    bool const inside = i >= first && i < top;
    if (i != top && is_named(a, i) != inside) return false;
    if (inside && names.source_of(a.part[i]) != names.source_of(n * 8 + (i - first))) return false;
  }
  if (a.number != 0) return false;
  if (top + 1 == bytes) {
    out = a;
    out.part[top] = n * 8 + size - 1;
    return true;
  }
  if (first != 0) return false;
  Name const x = names.whole(names.word(n), 0, size, Format::integer, line, 's');
  out = names.word(names.converted(x, Format::integer, bytes, line));
  return true;
}

/// The number of a type that is nearest to one of another type, as bits.
std::uint64_t nearest(program::Type to, program::Type from, std::uint64_t bits) {
  std::uint64_t const most = low_bits(to.bits - (to.kind == 's' ? 1U : 0U));
  std::int64_t const number = from.kind == 's' ? signed_of(bits, from.bits) : 0;
  if (from.kind == 's' && number < 0) {
    if (to.kind != 's') return 0;
    std::int64_t const least = -static_cast<std::int64_t>(most) - 1;
    return static_cast<std::uint64_t>(std::max(number, least)) & low_bits(to.bits);
  }
  return std::min(bits & low_bits(from.bits), most);
}

std::uint64_t high_product(std::uint64_t a, std::uint64_t b, bool is_signed) {
  using Wide = unsigned __int128;
  Wide const product = static_cast<Wide>(a) * b;
  auto high = static_cast<std::uint64_t>(product >> 64);
  if (is_signed && static_cast<std::int64_t>(a) < 0) high -= b;
  if (is_signed && static_cast<std::int64_t>(b) < 0) high -= a;
  return high;
}

}  // namespace

std::optional<std::uint64_t> opaque_number(std::string_view opcode,
                                           std::array<std::uint64_t, 3> const& sources) {
  program::Opcode const op(opcode);
  auto const is_integer = [](program::Type t) { return (t.kind == 's' || t.kind == 'u') && t.bits <= 64; };
  if (op.name == "mul" && op.has("hi") && op.type.bits == 64)
    return high_product(sources[0], sources[1], op.type.kind == 's');
  if (op.name == "cvt" && op.has("pack") && op.has("sat") && op.parts.size() >= 5) {
    program::Type const to = program::type_of(op.parts[3]), from = program::type_of(op.parts[4]);
    if (!is_integer(to) || !is_integer(from) || to.bits > 16) return std::nullopt;
    std::uint64_t const low = nearest(to, from, sources[1]) | nearest(to, from, sources[0]) << to.bits;
    return op.parts.size() == 5 ? low : (low | sources[2] << 2 * to.bits) & low_bits(32);
  }
  if (op.name == "cvt" && op.has("sat") && op.parts.size() == 4 && is_integer(op.type) &&
      is_integer(op.type_before())) {
    program::Type const to = op.type_before();
    std::uint64_t const bits = nearest(to, op.type, sources[0]);
    return to.kind == 's' ? static_cast<std::uint64_t>(signed_of(bits, to.bits)) : bits;
  }
  return program::float_result(opcode, sources);
}

bool biased_step(Names& names, Action action, Word const& a, std::uint64_t number, unsigned bytes,
                 std::uint32_t line, Word& out) {
  if (action != Action::add && action != Action::sub && action != Action::bit_xor) return false;
  if (above_names(action, a, number, bytes, out)) return true;
  if (!std::has_single_bit(number) || std::countr_zero(number) % 8 != 7) return false;
  auto const byte = static_cast<unsigned>(std::countr_zero(number)) / 8;
  if (byte >= bytes || !is_named(a, byte)) return false;
  if (action == Action::sub) return sign_extended(names, a, byte, bytes, line, out);
  if (action == Action::add && byte + 1 != bytes) return false;  // a carry
  std::uint32_t const part = names.source_of(a.part[byte]);
  if (part % 8 + 1 != names[part / 8].bytes) return false;
  Name const undone = names.unbiased(part);
  out = a;
  out.part[byte] = (undone != 0 ? undone : names.biased(part / 8, line)) * 8 + part % 8;
  return true;
}

}  // namespace swizproof::flow_detail
