// max, min and abs of registers.
#include "execute.hpp"
#include "real_numbers.hpp"

#include <array>
#include <optional>
#include <vector>

namespace swizproof::flow_detail {

Name Names::extreme(Name a, Name b, bool smaller, bool is_unsigned, std::uint32_t line) {
  return add({NameKind::extreme, nodes_[a].format, nodes_[a].bytes, a, b,
              (smaller ? 1U : 0U) | (is_unsigned ? 2U : 0U), line});
}

namespace {

/// One element of a register: the larger or smaller of the operands, or the absolute value.
Word extreme_part(Now const& now, Packed const& type, std::array<Word, 3> const& args, std::size_t sources,
                  unsigned at) {
  Names& names = now.block.names;
  bool const smaller = now.decoded.name == "min", is_unsigned = type.sign == 'u';
  std::optional<Name> out;
  auto const take = [&](Name x) { out = out ? names.extreme(*out, x, smaller, is_unsigned, now.index) : x; };
  auto const minus = [&](Name x) {
    return names.product(names.number(-1, type.format, type.bytes), x, type.format, type.bytes, now.index);
  };
  for (std::size_t k = 0; k < sources; ++k) {
    if (has_nan(args[k], type, at)) {
      auto const nan = canonical_nan(type.format);
      if (now.decoded.has("NaN") && nan) return plain(*nan);
      continue;
    }
    Name const x = names.whole(args[k], at, type.bytes, type.format, now.index, type.sign);
    if (type.format == Format::integer && names[x].kind == NameKind::bits)  // read with another sign
      return now.unknown(8 * type.bytes, {&args[0], &args[1], &args[2]});
    take(now.decoded.has("abs") ? names.extreme(x, minus(x), false, is_unsigned, now.index) : x);
  }
  return out ? names.word(*out) : now.unknown(8 * type.bytes, {&args[0], &args[1], &args[2]});
}

/// The same of floating-point numbers; nothing if one has a name, or if PTX does not fix the result.
std::optional<Word> plain_extreme(Now const& now, Packed const& type, std::array<Word, 3> const& args,
                                  std::size_t sources, unsigned at) {
  std::vector<double> values;
  for (std::size_t k = 0; k < sources; ++k) {
    if (((args[k].named >> at) & ((1U << type.bytes) - 1)) != 0) return std::nullopt;
    values.push_back(
        value_of_bits(args[k].number >> 8 * at & low_bits(8 * type.bytes), type.format, type.bytes));
  }
  RealNumber const number = extreme_number(now.decoded, type, values);
  return number.bits ? std::optional(plain(*number.bits)) : std::nullopt;
}

}  // namespace

/// max, min and abs [PTX ISA, Floating Point and Integer Arithmetic Instructions]. An operand with a name is no NaN here.
void extreme(Now const& now) {
  Decoded const& d = now.decoded;
  Packed const type = packed_of(d.parts.back());
  bool const integer = type.format == Format::integer;
  bool const bent = d.has("relu") || d.has("xorsign") || (integer && type.count != 1);
  std::size_t const sources = std::min<std::size_t>(now.in.operands.size() - 1, 3);
  std::uint32_t plain_lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::array<Word, 3> args{};
    unsigned named = 0;
    for (std::size_t k = 0; k < sources; ++k) {
      args[k] = now.operand(now.in.operands[k + 1], lane, 8 * type.bytes * type.count);
      if (d.has("ftz")) args[k] = flushed(args[k], type);
      named |= args[k].named;
    }
    if (integer && named == 0) {
      plain_lanes |= 1U << lane;
      continue;
    }
    Word result;
    for (unsigned part = 0; part < type.count && !bent; ++part) {
      unsigned const at = part * type.bytes;
      auto const number = integer ? std::nullopt : plain_extreme(now, type, args, sources, at);
      place(result, at, number ? *number : extreme_part(now, type, args, sources, at), type.bytes);
    }
    now.put(now.in.operands[0], lane,
            bent ? now.unknown(8 * type.bytes * type.count, {&args[0], &args[1], &args[2]}) : result);
  }
  if (plain_lanes != 0)
    execute_steps({now.block, now.warp, now.index, now.in, now.decoded, now.lowered, plain_lanes});
}

}  // namespace swizproof::flow_detail
