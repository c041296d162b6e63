// Values with names: floating-point arithmetic, conversions, matrix products and exchanges within a warp.
#include "execute.hpp"
#include "real_numbers.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/program/floating.hpp>
#include <swizproof/program/step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace swizproof::flow_detail {

namespace {

/// The name of the result of an operation on floating-point numbers.
Name real_name(Names& names, std::string_view op, std::array<Name, 3> const& args, Format format,
               unsigned bytes, std::uint32_t line) {
  auto const minus = [&](Name n) {
    return names.product(names.number(-1, format, bytes), n, format, bytes, line);
  };
  if (op == "neg") return minus(args[0]);
  if (op == "add") return names.sum(args[0], args[1], format, bytes, line);
  if (op == "sub") return names.sum(args[0], minus(args[1]), format, bytes, line);
  Name const product = names.product(args[0], args[1], format, bytes, line);
  return op == "mul" ? product : names.sum(args[2], product, format, bytes, line);
}

}  // namespace

// -------------------------------------------------------------------------------------- arithmetic

namespace {

/// One element of a register that add, sub, mul, fma or neg gives. A NaN is no value here.
Word real_part(Now const& now, Packed const& type, std::array<Word, 3> const& args, std::size_t sources,
               unsigned at) {
  Decoded const& d = now.decoded;
  std::array<Name, 3> names{};
  std::array<double, 3> values{};
  bool named = false, nan = false;
  for (std::size_t k = 0; k < sources; ++k) {
    named = named || args[k].named != 0;
    nan = nan || has_nan(args[k], type, at);
    names[k] = now.block.names.whole(args[k], at, type.bytes, type.format, now.index);
    values[k] = value_of_bits(args[k].number >> 8 * at, type.format, type.bytes);
  }
  bool const bent = d.has("sat") || d.has("relu");
  RealNumber const number = named ? RealNumber{{}, !nan && !bent} : arithmetic_number(d, type, values);
  if (number.bits) return plain(*number.bits);
  if (!number.fixed || bent) return now.unknown(8 * type.bytes, {&args[0], &args[1], &args[2]});
  return now.block.names.word(
      real_name(now.block.names, d.parts[0], names, type.format, type.bytes, now.index));
}

}  // namespace

/// add, sub, mul, fma and neg of floating-point numbers; those without names are computed.
void real(Now const& now) {
  Decoded const& d = now.decoded;
  Packed const type = packed_of(d.parts.back());
  bool const mixed = d.parts.size() > 2 && packed_of(d.parts[d.parts.size() - 2]).format != Format::integer;
  std::size_t const sources = std::min<std::size_t>(now.in.operands.size() - 1, 3);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    Word result;
    std::array<Word, 3> args{};
    for (std::size_t k = 0; k < sources; ++k) {
      args[k] = now.operand(now.in.operands[k + 1], lane, std::max(d.type.bits, 16U));
      if (d.has("ftz")) args[k] = flushed(args[k], type);
    }
    for (unsigned part = 0; part < type.count && !mixed; ++part)
      place(result, part * type.bytes, real_part(now, type, args, sources, part * type.bytes), type.bytes);
    if (d.has("ftz")) result = flushed(result, type);
    now.put(now.in.operands[0], lane,
            mixed ? now.unknown(std::max(d.type.bits, 16U), {&args[0], &args[1], &args[2]}) : result);
  }
}

Word sum_of_reals(Names& names, std::string_view type_name, std::uint32_t line, Word const& a,
                  Word const& b) {
  Packed const type = packed_of(type_name);
  Word result;
  for (unsigned part = 0; part < type.count; ++part) {
    unsigned const at = part * type.bytes;
    double const x = value_of_bits(a.number >> 8 * at, type.format, type.bytes),
                 y = value_of_bits(b.number >> 8 * at, type.format, type.bytes), exact = x + y;
    std::uint64_t bits = 0;
    bool const known = (a.named | b.named) == 0 && exact - x == y && exact - y == x &&
                       bits_of_value(exact, type.format, bits);
    Name const sum =
        known ? 0
              : names.sum(names.whole(a, at, type.bytes, type.format, line),
                          names.whole(b, at, type.bytes, type.format, line), type.format, type.bytes, line);
    place(result, at, known ? plain(bits) : names.word(sum), type.bytes);
  }
  return result;
}

/// setp of floating-point numbers: those without names are compared, others make a value that is not followed.
void compare(Now const& now) {
  Decoded const& d = now.decoded;
  Packed const type = packed_of(d.parts.back());
  bool const joined = now.in.operands.size() != 3 || type.count != 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::array<Word, 2> args{};
    std::array<double, 2> values{};
    bool known = !joined;
    for (std::size_t k = 0; k < 2; ++k) {
      args[k] = now.operand(now.in.operands[k + 1], lane, 8 * type.bytes);
      if (d.has("ftz")) args[k] = flushed(args[k], type);
      values[k] = value_of_bits(args[k].number, type.format, type.bytes);
      known = known && args[k].named == 0;
    }
    std::optional<bool> const truth =
        known ? program::float_compares(d.parts[1], values[0], values[1]) : std::nullopt;
    bool const alone = now.in.operands.size() == 3;
    auto const result = [&](bool first) {
      if (truth) return plain(*truth == first ? 1 : 0);
      return alone ? now.function_of(fmt::format("{} {}", d.text, first), 1, {args[0], args[1]})
                   : now.unknown(1, {&args[0], &args[1]});
    };
    now.put(now.in.operands[0], lane, result(true));
    for (std::size_t k = 0; k < now.in.operands[0].parts.size(); ++k)
      now.put(now.in.operands[0].parts[k], lane, result(k == 0));
  }
}

namespace {

/// One element that cvt makes of bytes of a word; `bent`: another value than the source's.
Word converted_part(Now const& now, Packed const& from, Packed const& to, Word const& source, unsigned at,
                    bool bent) {
  Names& names = now.block.names;
  std::uint64_t const low = source.number >> 8 * at & low_bits(8 * from.bytes);
  bool const is_unsigned = source.named == 0 && from.format == Format::integer && from.sign == 'u';
  double value = is_unsigned ? static_cast<double>(low) : value_of_bits(low, from.format, from.bytes);
  bool exact = from.format != Format::integer || std::fabs(value) < 0x1p53;
  if (!exact && to.format != Format::f64) {
    std::int64_t const with_sign = signed_of(low, 8 * from.bytes);
    bool const negative = !is_unsigned && with_sign < 0;
    value = (negative ? -1 : 1) * odd_integer(negative ? 0 - static_cast<std::uint64_t>(with_sign) : low);
    exact = true;
  }
  RealNumber number;
  if (source.named == 0 && (exact || now.decoded.has("rn")))
    number = converted_number(now.decoded, to, value);
  if (number.bits) return plain(*number.bits);
  if (bent || !number.fixed) return now.unknown(8 * to.bytes, {&source});
  Name const name = is_unsigned ? names.number(value, to.format, to.bytes)
                                : names.whole(source, at, from.bytes, from.format, now.index, from.sign);
  return names.word(names.converted(name, to.format, to.bytes, now.index));
}

}  // namespace

/// cvt: the name stays. Integers without names are converted by the instruction's steps.
void convert(Now const& now) {
  Decoded const& d = now.decoded;
  if (d.parts.size() < 3) now.refuse_opcode();
  if (converts_small(d)) return convert_small(now);
  Packed const from = packed_of(d.parts.back()), to = packed_of(d.parts[d.parts.size() - 2]);
  bool const integers = from.format == Format::integer && to.format == Format::integer;
  // Rounding to an integer is no change of format: floor(x) is not x. [PTX ISA, cvt: .rni, .rzi, .rmi, .rpi]
  bool const to_integer = from.format != Format::integer && (to.format == Format::integer || d.has("rni") ||
                                                             d.has("rzi") || d.has("rmi") || d.has("rpi"));
  bool const scaled = d.has("scaled::n2::ue8m0"),
             bent = d.has("relu") || d.has("sat") || to_integer || to.format == Format::e8m0;
  std::size_t const sources = now.in.operands.size() - 1;
  std::uint32_t plain_lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (integers) {
      plain_lanes |= 1U << lane;
      continue;
    }
    std::array<Word, 2> args{};
    for (std::size_t k = 0; k < std::min<std::size_t>(sources, 2); ++k) {
      args[k] = now.operand(now.in.operands[k + 1], lane, 8 * from.bytes * from.count);
      if (d.has("ftz") && from.format == Format::f32) args[k] = flushed(args[k], from);
    }
    Word result;
    for (unsigned part = 0; part < to.count && !scaled; ++part) {
      // The first of two sources becomes the upper half.
      bool const split = from.count == 1 && to.count == 2;
      place(result, part * to.bytes,
            converted_part(now, from, to, split ? args[1 - part] : args[0], split ? 0 : part * from.bytes,
                           bent),
            to.bytes);
    }
    if (d.has("ftz") && to.format == Format::f32) result = flushed(result, to);
    now.put(now.in.operands[0], lane,
            scaled ? now.unknown(8 * to.bytes * to.count, {&args[0], &args[1]}) : result);
  }
  if (plain_lanes == 0) return;
  Now const rest{now.block, now.warp, now.index, now.in, now.decoded, now.lowered, plain_lanes};
  execute_steps(rest);
}

// -------------------------------------------------------------------------------------- matrix products

Name matrix_name(Now const& now, Word const& w, unsigned from, Packed const& type) {
  Word const part = bytes_of(w, from, type.bytes);
  if (is_pair(type.format) && part.named == 0 && part.number != 0) {
    std::string const which(name_of(type.format));
    return now.block.names.function_of(which, {part}, "known numbers of 4 bits, as " + which, 1, now.index);
  }
  return now.block.names.whole(part, 0, type.bytes, type.format, now.index, type.sign);
}

namespace {

/// Names of the elements that the lanes hold of a matrix, row by row. Elements of 4 bits that follow each other along k share a byte, the first in
/// its lower bits: a pair is one name. [PTX ISA 9.1, 9.7.14.5: mma fragments of .s4 and .u4] Checked by tests/reference/flow_small_integers.py.
std::vector<Name> fragment_names(Now const& now, Fragment const& f, bool is_b, Packed const& type,
                                 ptx::Operand const& regs) {
  std::vector<ptx::Operand> const one{regs};
  auto const& list = regs.kind == ptx::Operand::Kind::vector ? regs.parts : one;
  if (list.size() != f.registers()) now.refuse("the number of registers does not match");
  unsigned const step = f.bits == 4 ? 2 : 1, down = is_b ? step : 1, across = step / down;
  std::vector<Name> names(std::size_t{f.rows} * f.columns / step);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < f.values; i += step) {
      MatrixElement const e = element_of(f, lane, i);
      unsigned const bit = i * f.bits;
      Word const w = now.operand(list[bit / f.register_bits()], lane, f.register_bits());
      names[std::size_t{e.row / down} * (f.columns / across) + e.column / across] =
          matrix_name(now, w, bit % f.register_bits() / 8, type);
    }
  return names;
}

}  // namespace

/// mma.sync by the fragments of hardware/fragment.hpp: D = A * B + C.
void mma(Now const& now) {
  Decoded const& d = now.decoded;
  now.need_whole_warp();
  auto const refused = [&] { now.refuse_opcode(); };
  if (d.parts.size() < 4 || now.in.operands.size() < 4) refused();
  if (d.has("sp") || d.has("sp::ordered_metadata") || d.has("block_scale") || d.has("xor") || d.has("and"))
    return opaque_product(now);
  if (now.in.operands.size() != 4) refused();
  std::size_t const last = d.parts.size() - 1;
  std::string_view const type_d = d.parts[last - 3], type_a = d.parts[last - 2], type_b = d.parts[last - 1];
  if (type_a == "e2m1" || type_b == "e2m1") return opaque_product(now);
  auto const has_type = [](std::string_view list, std::string_view type) {
    return fmt::format(" {} ", list).find(fmt::format(" {} ", type)) != std::string::npos;
  };
  auto const shape = std::find_if(mma_shapes.begin(), mma_shapes.end(), [&](MmaShape const& s) {
    return d.has(s.shape) && has_type(s.types, type_a) && has_type(s.types, type_b) && s.bits >= 4;
  });
  if (shape == mma_shapes.end()) refused();
  Packed const out = packed_of(type_d);
  if (d.has("satfinite")) now.block.assumed.insert(no_saturation);
  Fragment const f = shape->fragment(swizproof::Operand::d, 8 * out.bytes);
  MatrixProduct product{shape->m, shape->n, shape->bits == 4 ? shape->k / 2 : shape->k, now.index, {}, {},
                        {},       {}};
  product.a = fragment_names(now, shape->fragment(swizproof::Operand::a, 8 * out.bytes), false,
                             packed_of(pair_type(type_a)), now.in.operands[1]);
  product.b = fragment_names(now, shape->fragment(swizproof::Operand::b, 8 * out.bytes), true,
                             packed_of(pair_type(type_b)), now.in.operands[2]);
  std::vector<Name> const c = fragment_names(now, f, false, out, now.in.operands[3]);
  std::uint32_t const number = now.block.names.matrix_product(std::move(product));
  std::vector<ptx::Operand> const& into = now.in.operands[0].parts;
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::array<Word, 8> words{};
    for (unsigned i = 0; i < f.values; ++i) {
      MatrixElement const e = element_of(f, lane, i);
      Name const sum = now.block.names.accumulated(c[std::size_t{e.row} * f.columns + e.column], number,
                                                   e.row, e.column, out.format, now.index);
      place(words[i * f.bits / f.register_bits()], i * f.bits % f.register_bits() / 8,
            now.block.names.word(sum), f.bits / 8);
    }
    for (unsigned r = 0; r < f.registers() && r < into.size(); ++r) now.put(into[r], lane, words[r]);
  }
}

// -------------------------------------------------------------------------------------- within a warp

/// movmatrix transposes the 8 x 8 elements of 16 bits in one register of a warp.
void movmatrix(Now const& now) {
  now.need_whole_warp();
  Fragment const from = fragment_of({Operation::ldmatrix, 16, 1, false}, 16);
  Fragment const to = fragment_of({Operation::ldmatrix, 16, 1, true}, 16);
  std::array<std::array<Word, 8>, 8> matrix{};
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 2; ++i) {
      MatrixElement const e = element_of(from, lane, i);
      matrix[e.row][e.column] = now.moved(bytes_of(now.operand(now.in.operands[1], lane, 32), 2 * i, 2));
    }
  for (unsigned lane = 0; lane < 32; ++lane) {
    Word w;
    for (unsigned i = 0; i < 2; ++i) {
      MatrixElement const e = element_of(to, lane, i);
      place(w, 2 * i, matrix[e.row][e.column], 2);
    }
    now.put(now.in.operands[0], lane, w);
  }
}

void shuffle(Now const& now) {
  Decoded const& d = now.decoded;
  if (!d.has("sync")) now.refuse_opcode();
  program::Shuffle const mode = d.has("up")     ? program::Shuffle::up
                                : d.has("down") ? program::Shuffle::down
                                : d.has("bfly") ? program::Shuffle::bfly
                                                : program::Shuffle::idx;
  if (now.in.operands.size() > 4) now.check_members(now.in.operands[4]);
  std::array<Word, 32> out{};
  std::uint32_t in_range = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    auto const b = static_cast<std::uint32_t>(now.number(now.in.operands[2], lane, "the lane"));
    auto const c = static_cast<std::uint32_t>(now.number(now.in.operands[3], lane, "the bounds"));
    std::optional<unsigned> const source = program::shuffle_in_range(mode, lane, b, c);
    unsigned const from = source.value_or(lane);
    if (source) in_range |= 1U << lane;
    if (!takes_part(now.mask, from))
      now.refuse(fmt::format("lane {} gets a value of lane {}, which does not execute it", lane, from));
    out[lane] = now.moved(now.operand(now.in.operands[1], from, 32));
  }
  ptx::Operand const& to = now.in.operands[0];
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    now.put(to, lane, out[lane]);
    for (ptx::Operand const& p : to.parts) now.put(p, lane, plain(in_range >> lane & 1));
  }
}

/// A vote on data is not followed, unless the other lanes decide it.
void vote(Now const& now) {
  now.check_members(now.in.operands[2]);
  std::uint32_t yes = 0, named = 0;
  Word first;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    Word const p = now.operand(now.in.operands[1], lane, 1);
    if (p.named != 0)
      named |= 1U << lane, first = p;
    else if (p.number != 0)
      yes |= 1U << lane;
  }
  bool const ballot = now.decoded.has("ballot"), all = now.decoded.has("all"), any = now.decoded.has("any");
  std::uint32_t const no = now.mask & ~yes & ~named;
  bool const decided = named == 0 || (!ballot && (all ? no != 0 : any ? yes != 0 : yes != 0 && no != 0));
  bool alike = named == now.mask && (all || any) && !now.in.operands[1].negated;  // one condition
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(named, lane)) alike = alike && now.operand(now.in.operands[1], lane, 1).part == first.part;
  Word const result = alike      ? first
                      : !decided ? now.unknown(ballot ? 32 : 1, {&first})
                                 : plain(ballot ? yes
                                         : all  ? no == 0
                                         : any  ? yes != 0
                                                : yes == 0 || no == 0);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) now.put(now.in.operands[0], lane, result);
}

/// The lanes that execute it: those of a path. Which lanes run together is not specified.
void active_mask(Now const& now) {
  now.block.assumed.insert(
      "activemask gives the lanes that have branched alike, which the PTX ISA does not specify");
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) now.put(now.in.operands[0], lane, plain(now.mask));
}

/// The lowest lane is elected, as PTX's own example has it; which one is not specified.
void elect(Now const& now) {
  auto const leader = static_cast<unsigned>(std::countr_zero(now.mask));
  now.block.assumed.insert("elect.sync elects the lowest lane, which the PTX ISA does not specify");
  if (now.in.operands.size() > 1) now.check_members(now.in.operands[1]);
  std::vector<unsigned> members;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane)) members.push_back(now.thread(lane));
  now.block.clocks.meet(members, true);  // it waits for all of them [PTX ISA, elect.sync]
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    now.put(now.in.operands[0], lane, plain(leader));
    for (ptx::Operand const& p : now.in.operands[0].parts) now.put(p, lane, plain(lane == leader ? 1 : 0));
  }
}

}  // namespace swizproof::flow_detail
