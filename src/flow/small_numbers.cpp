// cvt of pairs of numbers of 4 and 6 bits [PTX ISA 9.1, 9.7.9.21; 5.2.3]: followed where all numbers are known, and exact.
#include "execute.hpp"
#include "real_numbers.hpp"

#include <swizproof/core/float_format.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace swizproof::flow_detail {

namespace {

/// Two numbers of a format, `step` bits apart.
struct SmallPair {
  FloatFormat format;
  unsigned step;
};

std::optional<SmallPair> small_pair(std::string_view type) {
  if (type == "e2m1x2") return SmallPair{FloatFormat::e2m1, 4};
  if (type == "e2m3x2") return SmallPair{FloatFormat::e2m3, 8};
  if (type == "e3m2x2") return SmallPair{FloatFormat::e3m2, 8};
  return std::nullopt;
}

/// True for a type that is not followed: four numbers, and pairs of fixed point.
bool is_opaque(std::string_view type) { return type == "s2f6x2" || (type.ends_with("x4") && type[0] == 'e'); }

/// Bytes of a register of a type.
unsigned register_bytes(std::string_view type) {
  if (type.ends_with("x4")) return type == "e2m1x4" ? 2 : 4;
  if (auto const small = small_pair(type)) return small->step / 4;
  if (type == "s2f6x2") return 2;
  Packed const packed = packed_of(type);
  return packed.bytes * packed.count;
}

/// The numbers of a source, the lower one first; nothing of an unused bit that is not 0.
std::optional<double> source_number(Decoded const& d, std::array<Word, 2> const& args, unsigned part) {
  std::string_view const type = d.parts.back();
  if (auto const small = small_pair(type)) {
    std::uint64_t const bits = args[0].number >> part * small->step & low_bits(small->step);
    if (bits >> shape_of(small->format).bits() != 0) return std::nullopt;
    return float_value(small->format, bits);
  }
  Packed const from = packed_of(type);
  std::uint64_t const bits =
      from.count == 2 ? args[0].number >> 8 * from.bytes * part : args[1 - part].number;
  return value_of_bits(bits & low_bits(8 * from.bytes), from.format, from.bytes);
}

/// Bits of the result that a number is, at their place.
std::optional<std::uint64_t> result_bits(Decoded const& d, double value, unsigned part) {
  std::string_view const type = d.parts[d.parts.size() - 2];
  auto const small = small_pair(type);
  if (!small) {
    Packed const to = packed_of(type);
    auto const bits = converted_number(d, to, value).bits;
    return bits ? std::optional(*bits << 8 * to.bytes * part) : std::nullopt;
  }
  if (std::isnan(value) || (d.has("relu") && value == 0 && std::signbit(value))) return std::nullopt;
  double const most = shape_of(small->format).most;
  auto const bits = float_bits(small->format, std::clamp(value, d.has("relu") ? 0.0 : -most, most));
  return bits ? std::optional(*bits << small->step * part) : std::nullopt;
}

}  // namespace

bool converts_small(Decoded const& d) {
  std::string_view const from = d.parts.back(), to = d.parts[d.parts.size() - 2];
  return small_pair(from) || small_pair(to) || is_opaque(from) || is_opaque(to);
}

void convert_small(Now const& now) {
  Decoded const& d = now.decoded;
  std::string_view const from = d.parts.back(), to = d.parts[d.parts.size() - 2];
  bool const followed = !is_opaque(from) && !is_opaque(to) && !d.has("scaled::n2::ue8m0") && !d.has("rs");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::array<Word, 2> args{};
    std::size_t k = 0;
    for (std::size_t i = 1; i < now.in.operands.size(); ++i) {
      ptx::Operand const& o = now.in.operands[i];
      if (o.kind != ptx::Operand::Kind::vector && k < args.size())
        args[k++] = now.operand(o, lane, 8 * register_bytes(from));
    }
    std::optional<std::uint64_t> bits = followed ? std::optional(std::uint64_t{0}) : std::nullopt;
    for (unsigned part = 0; part < 2 && bits; ++part) {
      auto const value = (args[0].named | args[1].named) == 0 ? source_number(d, args, part) : std::nullopt;
      auto const one = value ? result_bits(d, *value, part) : std::nullopt;
      bits = one ? std::optional(*bits | *one) : std::nullopt;
    }
    now.put(now.in.operands[0], lane,
            bits ? plain(*bits) : now.unknown(8 * register_bytes(to), {&args[0], &args[1]}));
  }
}

}  // namespace swizproof::flow_detail
