// Swizzles and offsets.
#include "parse/layout/mapping_parser.hpp"

#include <bit>

namespace swizproof {

Swizzle PartParser::swizzle() {
  if (!at_swizzle()) in_.fail_here("expected a swizzle", "write Sw<bits,base,shift>, such as Sw<3,4,3>");
  std::size_t const from = in_.at();
  std::string_view const name = in_.take_name();
  if (auto const made = mojo_swizzle(name)) return valid(*made, from);
  bool const call = name != "Sw" && name != "S" && in_.take("(");  // Swizzle(3,4,3), make_swizzle(3,4,3)
  if (!call) in_.expect("<", "of the swizzle");
  auto const field = [&](std::string_view what) {
    std::size_t const at = in_.at();
    if (in_.at_letter()) layouts_.fail_at_name();
    std::int64_t const value = in_.take_integer(std::string(what) + " of the swizzle");
    if (value < -64 || value > 64) in_.fail(std::string(what) + " is out of range", at, in_.at() - at);
    return static_cast<int>(value);
  };
  Swizzle s;
  s.bits = field("bits");
  in_.expect(",", "after bits");
  s.base = field("base");
  // CuTe's template has a default: SShift = BBits.
  if (bool const by_default = name == "Swizzle" && !call && in_.looking_at(">"); by_default) {
    s.shift = s.bits;
  } else {
    in_.expect(",", "after base: a swizzle has three parameters");
    s.shift = field("shift");
  }
  in_.expect(call ? ")" : ">", "to close the swizzle");
  if (!call && name == "Swizzle") in_.skip_braces();
  return valid(s, from);
}

Swizzle PartParser::valid(Swizzle s, std::size_t from) {
  if (s.error() != SwizzleError::none)
    in_.fail("not a valid swizzle: " + std::string(explain(s.error())), from, in_.at() - from);
  return s;
}

Displacement PartParser::displacement(std::int64_t value, bool is_static, std::size_t from) {
  constexpr std::int64_t most = std::int64_t{1} << 56;
  if (value > most || value < -most)
    in_.fail("the offset reaches further than 2^56 elements", from, in_.trimmed(from, in_.at()).size());
  return {value, is_static};
}

/// M_128|(64&64)=192: static bits, dynamic bits and their mask, and the value, which counts.
Displacement PartParser::mixed_bits() {
  std::size_t const from = in_.at();
  auto const part = [&](std::string_view what) {
    std::size_t const at = in_.at();
    std::int64_t const value = in_.take_integer(what);
    if (value < 0 || value > 0xffffffffLL) in_.fail("mixed bits have 32 bits", at, in_.at() - at);
    return static_cast<std::uint32_t>(value);
  };
  (void)in_.take("M_");
  std::uint32_t const known = part("the static bits");
  in_.expect("|(", "of the mixed bits");
  std::uint32_t const dynamic = part("the dynamic bits");
  in_.expect("&", "of the mixed bits");
  std::uint32_t const mask = part("the mask");
  in_.expect(")=", "of the mixed bits");
  std::uint32_t const value = part("the value");
  if ((known | (dynamic & mask)) != value || (known & mask) != 0 || mask == 0)
    in_.fail("these mixed bits contradict themselves: M_s|(d&m)=v says v = s | (d & m), s & m = 0, m > 0",
             from, in_.at() - from);
  return {value, false, mask};
}

/// The bits of an element behind a pointer's name: `[16b]`, or `_16b` until CUTLASS 3.2.
unsigned PartParser::pointer_bits() {
  bool const old = in_.take("_");
  if (!old) in_.expect("[", "of the pointer's element size");
  std::size_t const at = in_.at();
  std::int64_t const bits = in_.take_integer("the element size in bits");
  if (bits < 1 || bits > 128 || !std::has_single_bit(static_cast<std::uint64_t>(bits)))
    in_.fail("element sizes are powers of two from 1 to 128 bits", at, in_.at() - at);
  in_.expect("b", "after the element size");
  if (!old) in_.expect("]", "after the element size");
  return static_cast<unsigned>(bits);
}

}  // namespace swizproof
