#include "lowering.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace swizproof::sass {

namespace {

constexpr std::uint64_t ones32 = 0xffffffff;

/// Bits of a number as a half (binary16) or, with `brain`, a bfloat16; nothing if it is none exactly.
std::optional<std::uint32_t> half_of(std::string_view text, bool brain) {
  std::string const copy(text);
  char* end = nullptr;
  double const x = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || *end != 0) return std::nullopt;
  std::uint32_t const sign = std::signbit(x) ? 0x8000 : 0;
  double const a = std::fabs(x);
  if (a == 0) return sign;
  if (!(a < 1e39)) return std::nullopt;
  int const bits = brain ? 7 : 10, least = brain ? -126 : -14, bias = brain ? 127 : 15;
  int const exponent = std::max(std::ilogb(a), least);
  double const scaled = std::ldexp(a, bits - exponent);  // below 2^(bits+1)
  double const whole = std::nearbyint(scaled);
  // nvdisasm prints seven to seventeen digits of it: what is near enough is meant.
  if (std::fabs(scaled - whole) > 1e-3 || whole >= std::ldexp(1.0, bits + 1)) return std::nullopt;
  auto const m = static_cast<std::uint32_t>(whole);
  std::uint32_t const one = 1U << bits;
  std::uint32_t const field = m < one ? m : (static_cast<std::uint32_t>(exponent + bias) << bits) + m - one;
  return field < 0x7fff ? std::optional(sign | field) : std::nullopt;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::span<Lowering::Row const> Lowering::rows() {
  using L = Lowering;
  // clang-format off
  static constexpr Row all[] = {
      {"MOV", &L::move, "MOV"_form},
      {"R2UR", &L::move, "R2UR"_form},
      {"CS2R", &L::move_special, "CS2R"_form},
      {"S2R", &L::move_special, "S2R"_form},
      {"S2UR", &L::move_special, "S2UR"_form},
      {"LDC", &L::load_constant, "LDC"_form},
      {"LDCU", &L::load_constant, "LDC"_form},
      {"IADD3", &L::add3, "IADD3"_form},
      {"IADD", &L::add3, "IADD"_form},
      {"VIADD", &L::add3, "VIADD"_form},
      {"IMAD", &L::multiply, "IMAD"_form},
      {"LEA", &L::shifted_add, "LEA"_form},
      {"SHF", &L::shift, "SHF.R"_form},
      {"LOP3", &L::logic, "LOP3"_form},
      {"PLOP3", &L::logic_of_predicates, "PLOP3"_form},
      {"ISETP", &L::set_predicate, "ISETP"_form},
      {"SEL", &L::select, "SEL"_form},
      {"IMNMX", &L::least_or_most, "IMNMX"_form},
      {"VIMNMX", &L::least_or_most, "IMNMX"_form},
      {"VIMNMX3", &L::least_or_most, "VIMNMX3"_form},
      {"VIADDMNMX", &L::least_or_most, "VIADDMNMX"_form},
      {"IABS", &L::absolute, "IABS"_form},
      {"PRMT", &L::permute, "PRMT"_form},
      {"SGXT", &L::extend, "SGXT"_form},
      {"BMSK", &L::mask, "BMSK"_form},
      {"POPC", &L::ones, "POPC"_form},
      {"BREV", &L::reverse, "BREV"_form},
      {"HFMA2", &L::halves, "HFMA2 of a constant"_form},
      {"P2R", &L::predicates_to_word, "P2R"_form},
      {"P2UR", &L::predicates_to_word, "P2R"_form},
      {"R2P", &L::word_to_predicates, "R2P"_form},
      {"LDS", &L::shared_load, "LDS"_form},
      {"STS", &L::shared_store, "STS"_form},
      {"LDSM", &L::matrices, "LDSM"_form},
      {"STSM", &L::matrices, "STSM"_form},
      {"ATOMS", &L::shared_atomic, "ATOMS"_form},
      {"LDGSTS", &L::copy_async, "LDGSTS"_form},
      {"LD", &L::generic_load, "LD"_form},
      {"ST", &L::generic_store, "ST"_form},
      {"ATOM", &L::generic_atomic, "ATOM"_form},
      {"LDG", &L::global_load, "LDG"_form},
      {"LDL", &L::stack_load, "LDL"_form},
      {"STL", &L::stack_store, "STL"_form},
      {"SHFL", &L::shuffle, "SHFL"_form},
      {"VOTE", &L::vote, "VOTE"_form},
      {"VOTEU", &L::vote, "VOTE"_form},
      {"ELECT", &L::elect, "ELECT"_form},
      {"UTMALDG", &L::tensor_copy, "UTMALDG"_form},
      {"UTMASTG", &L::tensor_copy, "UTMASTG"_form},
      {"UTMAREDG", &L::tensor_copy, "UTMAREDG"_form},
      {"UBLKCP", &L::tensor_copy, "UBLKCP"_form},
      {"UBLKRED", &L::tensor_copy, "UBLKRED"_form},
      {"HGMMA", &L::warpgroup_multiply, "HGMMA"_form},
      {"IGMMA", &L::warpgroup_multiply, "IGMMA"_form},
      {"QGMMA", &L::warpgroup_multiply, "QGMMA"_form},
      {"BGMMA", &L::warpgroup_multiply, "BGMMA"_form},
      // No result, and no access of shared memory.
      {"NOP", &L::nothing, {}}, {"BSSY", &L::nothing, {}}, {"BSYNC", &L::nothing, {}},
      {"BREAK", &L::nothing, {}}, {"WARPSYNC", &L::nothing, {}}, {"YIELD", &L::nothing, {}},
      {"BAR", &L::nothing, {}}, {"MEMBAR", &L::nothing, {}}, {"DEPBAR", &L::nothing, {}},
      {"LDGDEPBAR", &L::nothing, {}}, {"ERRBAR", &L::nothing, {}}, {"CGAERRBAR", &L::nothing, {}},
      {"CCTL", &L::nothing, {}}, {"NANOSLEEP", &L::nothing, {}}, {"STG", &L::nothing, {}},
      {"CCTLG", &L::nothing, {}}, {"RED", &L::nothing, {}}, {"REDG", &L::nothing, {}},
      {"FENCE", &L::nothing, {}}, {"ENDCOLLECTIVE", &L::nothing, {}}, {"PREEXIT", &L::nothing, {}},
      {"ACQBULK", &L::nothing, {}}, {"WARPGROUP", &L::nothing, {}}, {"UTMACCTL", &L::nothing, {}},
      {"UTMACMDFLUSH", &L::nothing, {}}, {"UTMAPF", &L::nothing, {}}, {"UCGABAR_ARV", &L::nothing, {}},
      {"UCGABAR_WAIT", &L::nothing, {}}, {"PMTRIG", &L::nothing, {}}, {"CCTLL", &L::nothing, {}},
      {"CCTLT", &L::nothing, {}}, {"BPT", &L::nothing, {}}, {"WARPGROUPSET", &L::nothing, {}},
      {"UBLKPF", &L::nothing, {}}, {"USETSHMSZ", &L::nothing, {}}, {"MATCHUR", &L::nothing, {}},
      {"SETMAXREG", &L::nothing, {}}, {"SETLMEMBASE", &L::nothing, {}}, {"KILL", &L::nothing, {}},
      {"ARRIVES", &L::nothing, {}}, {"UTCBAR", &L::nothing, {}}, {"UTCATOMSWS", &L::nothing, {}},
      {"BRA", &L::nothing, {}}, {"CALL", &L::nothing, {}}, {"SUST", &L::nothing, {}},
      {"STT", &L::nothing, {}}, {"STTM", &L::nothing, {}}, {"FENCE_T", &L::nothing, {}},
      {"UTMASTG_W", &L::nothing, {}},
  };
  // clang-format on
  return all;
}

Lowering::Row const* Lowering::row_of(std::string_view name) {
  static std::unordered_map<std::string_view, Row const*> const known = [] {
    std::unordered_map<std::string_view, Row const*> h;
    for (Row const& row : rows()) h.emplace(row.name, &row);
    return h;
  }();
  auto const found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

// --------------------------------------------------------------------------------------- moves

void Lowering::move(Instruction const& i, Opcode const& op) {
  if (i.operands.size() == 3 && is_predicate(operand(i, 1)) && op.base == "MOV")
    return put(operand(i, 0), word(operand(i, 2)));
  if (i.operands.size() != 2 && !(op.base == "MOV" && i.operands.size() == 3)) return unknown(i, op);
  if (op.has("64") || (!op.modifiers.empty() && op.base == "R2UR" && !op.has("FILL") && !op.has("OR")))
    return op.base == "MOV" ? put_wide(operand(i, 0), wide(operand(i, 1), true)) : unknown(i, op);
  if (op.has("OR")) return unknown(i, op);
  // R2UR takes what all lanes that execute it share: the compiler writes it where they do.
  put(operand(i, 0), word(operand(i, 1)));
}

void Lowering::move_special(Instruction const& i, Opcode const& op) {
  Source const s = word(operand(i, 1));
  if (op.base != "CS2R" || op.has("32")) return put(operand(i, 0), s);
  if (s.constant) return put_wide(operand(i, 0), s);
  lose(operand(i, 0), 2);
}

void Lowering::load_constant(Instruction const& i, Opcode const& op) {
  Operand const& c = operand(i, 1);
  Operand const& d = operand(i, 0);
  if (c.kind != Kind::constant || c.suffixed)
    return not_modelled(d, op.has("128") ? 4 : op.has("64") ? 2 : 1);
  bool const is_signed = op.has("S8") || op.has("S16");
  unsigned const bits = op.has("U8") || op.has("S8") ? 8 : op.has("U16") || op.has("S16") ? 16 : 32;
  if (bits == 32) {
    unsigned const n = op.has("128") ? 4 : op.has("64") ? 2 : 1;
    std::array<Source, 4> words{};
    for (unsigned k = 0; k < n; ++k) words[k] = constant_bank(c, 32, 4 * k);
    for (unsigned k = 0; k < n; ++k)
      if (auto const r = number_of(d, k)) write(*r, words[k], 32);
    return;
  }
  Source s = emit(Action::zext, 32, constant_bank(c, bits));
  if (is_signed) s = arithmetic_shift(emit(Action::shl, 32, s, constant(32 - bits)), constant(32 - bits), 32);
  put(d, s);
}

// --------------------------------------------------------------------------------------- sums

/// IADD3 R, [P, [P,]] a, b, c and IADD3.X with up to two predicates behind: the carries of a + b + c.
void Lowering::add3(Instruction const& i, Opcode const& op) {
  if (op.has("64") || op.has("S16x2") || op.has("U16x2"))
    return not_modelled(operand(i, 0), op.has("64") ? 2 : 1, registers_of(i, 1));
  std::size_t at = 1;
  while (at < 3 && is_predicate(operand(i, at))) ++at;
  std::size_t const sources = op.base == "IADD3" ? 3 : 2;
  if (i.operands.size() < at + sources) return unknown(i, op);
  if (op.has("X")) refine("IADD3.X"_form);
  Source sum = constant(0);
  std::array<Source, 3> parts{};
  for (std::size_t k = 0; k < sources; ++k) sum = add(sum, parts[k] = word(operand(i, at + k)));
  bool const carry_out = at > 1 && number_of(operand(i, 1)).has_value();
  bool const two_out = at > 2 && number_of(operand(i, 2)).has_value();
  Source carries = constant(0);
  if (op.has("X"))
    for (std::size_t k = at + sources; k < i.operands.size(); ++k)
      carries = add(carries, choose(truth(operand(i, k)), constant(1), constant(0), 32));
  Source const total = add(sum, carries);
  if (carry_out || two_out) {
    // -x has no bits beyond its word: 0 - x is taken as ~x + 1, whose carry counts.
    Source whole = zext(carries);
    for (std::size_t k = 0; k < sources; ++k) {
      Operand plain = operand(i, at + k);
      bool const minus = plain.negative;
      plain.negative = false;
      Source const x = word(plain);
      whole = add(whole, minus ? add(zext(inverted(x, 32)), constant(1), 64) : zext(x), 64);
      if (op.has("X") && minus) return unknown(i, op);  // ~ is printed there
    }
    Source const top = emit(Action::lshr, 64, whole, constant(32));
    // One carry, or two: the first predicate is of the first, where both are written they count together.
    if (two_out) {
      put_truth(operand(i, 1), any(1, top));
      put_truth(operand(i, 2), any(1, top));
    } else {
      put_truth(operand(i, 1), negate(emit(Action::equal, 1, top, constant(0))));
    }
  }
  put(operand(i, 0), total);
}

void Lowering::multiply(Instruction const& i, Opcode const& op) {
  std::size_t at = 1;
  while (at < 2 && is_predicate(operand(i, at))) ++at;
  if (i.operands.size() < at + 3) return unknown(i, op);
  if (op.has("WIDE") || op.has("HI")) return multiply_wide(i, op, at);
  for (std::string_view const m : op.modifiers)
    if (m != "MOV" && m != "SHL" && m != "IADD" && m != "U32" && m != "X" && m != "S32")
      return unknown(i, op);
  if (op.has("X")) refine("IMAD.X"_form);
  Source const a = word(operand(i, at)), b = word(operand(i, at + 1));
  Source const c = word(operand(i, at + 2));
  bool const nothing_times = (a.constant && a.value == 0) || (b.constant && b.value == 0);
  bool const one = b.constant && b.value == 1;
  Source const product = nothing_times ? constant(0) : one ? a : emit(Action::mul, 32, a, b);
  Source sum = add(product, c);
  Source carry = constant(0);
  if (op.has("X")) carry = choose(truth(operand(i, at + 3)), constant(1), constant(0), 32);
  if (at > 1 && number_of(operand(i, 1))) put_truth(operand(i, 1), any(1, function_of(64, a, b, c)));
  put(operand(i, 0), add(sum, carry));
}

/// IMAD.WIDE: a * b + {c}, 64 bits; IMAD.HI: its upper word. A predicate in front gets the carry out of 64 bits.
void Lowering::multiply_wide(Instruction const& i, Opcode const& op, std::size_t at) {
  bool const is_signed = !op.has("U32");
  Operand const& x = operand(i, at);
  Operand const& y = operand(i, at + 1);
  refine(!op.has("WIDE") ? "IMAD.HI"_form : op.has("X") ? "IMAD.WIDE.X"_form : "IMAD.WIDE"_form);
  auto const extended = [&](Operand const& o) { return is_signed ? sext(word(o)) : zext(word(o)); };
  Source const a = extended(x), b = extended(y);
  bool const nothing_times = (a.constant && a.value == 0) || (b.constant && b.value == 0);
  Source const product = nothing_times              ? constant(0)
                         : a.constant && b.constant ? constant(a.value * b.value)
                                                    : emit(Action::mul, 64, a, b);
  Source const c = wide(operand(i, at + 2), is_signed);
  Source carry = constant(0);
  if (op.has("X")) carry = choose(truth(operand(i, at + 3)), constant(1), constant(0), 64);
  Source const sum = add(product, c, 64), total = add(sum, carry, 64);
  if (at > 1 && number_of(operand(i, 1))) {
    Source out = any(1, function_of(64, a, b, c));
    if (!is_signed && !product.constant && carry.constant) out = below(sum, product, 64, false);
    put_truth(operand(i, 1), out);
  }
  if (op.has("WIDE")) return put_wide(operand(i, 0), total);
  put(operand(i, 0), total.constant ? constant(total.value >> 32) : high(total));
}

/// LEA R, [P,] a, b, n: (a << n) + b. HI: the upper word of {c:a} << n, plus b. X: a carry behind. SX32: c is a's sign.
void Lowering::shifted_add(Instruction const& i, Opcode const& op) {
  std::size_t at = 1;
  if (is_predicate(operand(i, 1))) at = 2;
  bool const up = op.has("HI"), sign = op.has("SX32"), carry_in = op.has("X");
  std::size_t const sources = up && !sign ? 3 : 2;
  Operand const& by = operand(i, at + sources);
  if (by.kind != Kind::immediate || by.value > 31 || (up && operand(i, at).negative)) return unknown(i, op);
  if (up) refine(sign ? "LEA.HI.SX32"_form : "LEA.HI"_form);
  auto const n = static_cast<unsigned>(by.value);
  Source const a = word(operand(i, at)), b = word(operand(i, at + 1));
  Source moved{};
  if (!up) {
    moved = a.constant ? constant(a.value << n & ones32) : n == 0 ? a : emit(Action::shl, 32, a, constant(n));
  } else if (sign) {
    moved = n == 0 ? arithmetic_shift(a, constant(31), 32) : arithmetic_shift(a, constant(32 - n), 32);
  } else {
    Source const c = word(operand(i, at + 2));
    Source const low = n == 0       ? constant(0)
                       : a.constant ? constant(a.value >> (32 - n))
                                    : emit(Action::lshr, 32, a, constant(32 - n));
    Source const high_part = c.constant ? constant(c.value << n & ones32)
                             : n == 0   ? c
                                        : emit(Action::shl, 32, c, constant(n));
    moved = low.constant && low.value == 0               ? high_part
            : high_part.constant && high_part.value == 0 ? low
                                                         : emit(Action::bit_or, 32, high_part, low);
  }
  Source carry = constant(0);
  if (carry_in) carry = choose(truth(operand(i, at + sources + 1)), constant(1), constant(0), 32);
  if (at == 2 && (operand(i, at + 1).negative || (up && operand(i, at).negative))) {
    put_truth(operand(i, 1), any(1, registers_of(i, 2)));  // of what carry that is one is not known
  } else if (at == 2 && number_of(operand(i, 1))) {
    // -a counts as ~(a << n) + 1, whose carry is one where a << n is 0 (gpu/evidence/h100-sass.json).
    bool const minus = operand(i, at).negative;
    Source const less =
        moved.constant ? constant(moved.value - 1 & ones32) : emit(Action::sub, 32, moved, constant(1));
    Source const more = minus ? add(zext(carry), constant(1), 64) : zext(carry);
    Source const whole = add(add(zext(minus ? less : moved), zext(b), 64), more, 64);
    put_truth(operand(i, 1),
              negate(emit(Action::equal, 1, emit(Action::lshr, 64, whole, constant(32)), constant(0))));
  }
  put(operand(i, 0), add(add(moved, b), carry));
}

// --------------------------------------------------------------------------------------- bits

/// SHF.L and SHF.R: a word of {high:low}, shifted. W: the amount is taken modulo the width.
void Lowering::shift(Instruction const& i, Opcode const& op) {
  bool const left = op.has("L"), is_signed = op.has("S32") || op.has("S64"),
             two = op.has("U64") || op.has("S64");
  bool const upper = op.has("HI");
  if (i.operands.size() != 4) return unknown(i, op);
  if (left) refine("SHF.L"_form);
  Source const low = word(operand(i, 1)), up = word(operand(i, 3));
  Source n = word(operand(i, 2));
  unsigned const width = two ? 64 : 32;
  if (op.has("W"))
    n = n.constant ? constant(n.value & (width - 1)) : emit(Action::bit_and, 32, n, constant(width - 1));
  else
    n = n.constant ? constant(std::min<std::uint64_t>(n.value, width))
                   : choose(below(n, constant(width), 32, false), n, constant(width), 32);
  bool const low_zero = low.constant && low.value == 0, up_zero = up.constant && up.value == 0;
  auto const shifted = [&](Action action, Source x) {
    if (n.constant && n.value == 0) return x;
    return x.constant && n.constant && n.value < 32
               ? constant(action == Action::shl ? x.value << n.value & ones32 : x.value >> n.value)
               : emit(action, 32, x, n);
  };
  if (left && !upper) return put(operand(i, 0), shifted(Action::shl, low));
  if (left && low_zero && !two) return put(operand(i, 0), shifted(Action::shl, up));
  if (!left && upper)
    return put(operand(i, 0), is_signed ? arithmetic_shift(up, n, 32) : shifted(Action::lshr, up));
  if (!left && up_zero && !upper && !(is_signed && !n.constant))
    return put(operand(i, 0), shifted(Action::lshr, low));
  if (n.constant && n.value > 0 && n.value < 32) {
    // Both words give bits.
    Source const rest = constant(32 - n.value);
    Source const x = left ? shifted(Action::shl, up) : shifted(Action::lshr, low);
    Source const y = left ? emit(Action::lshr, 32, low, rest) : emit(Action::shl, 32, up, rest);
    return put(operand(i, 0), emit(Action::bit_or, 32, x, y));
  }
  Source const whole = pair(low, up), by = n.constant ? n : zext(n);
  Source const moved = left        ? emit(Action::shl, 64, whole, by)
                       : is_signed ? arithmetic_shift(whole, by, 64)
                                   : emit(Action::lshr, 64, whole, by);
  put(operand(i, 0), upper ? high(moved) : trunc(moved));
}

Lowering::Source Lowering::inverted(Source s, unsigned width) {
  if (width == 1) return negate(s);
  std::uint64_t const all = width == 64 ? ~std::uint64_t{0} : ones32;
  return s.constant ? constant(~s.value & all) : emit(Action::bit_xor, width, s, constant(all));
}

/// A truth table of two, `lut` bit 2a + b.
Lowering::Source Lowering::table2(unsigned lut, Source a, Source b, unsigned width) {
  std::uint64_t const all = width == 1 ? 1 : ones32;
  auto const op = [&](Action word_action, Action truth_action, Source x, Source y) {
    if (x.constant && y.constant)
      return constant(word_action == Action::bit_and  ? x.value & y.value
                      : word_action == Action::bit_or ? x.value | y.value
                                                      : x.value ^ y.value);
    for (auto const& [p, q] : {std::pair{x, y}, std::pair{y, x}}) {
      if (!p.constant) continue;
      if (word_action == Action::bit_and && p.value == 0) return constant(0);
      if (word_action == Action::bit_and && p.value == all) return q;
      if (word_action == Action::bit_or && p.value == 0) return q;
      if (word_action == Action::bit_or && p.value == all) return p;
      if (word_action == Action::bit_xor && p.value == 0) return q;
    }
    return emit(width == 1 ? truth_action : word_action, width, x, y);
  };
  auto const conjunction = [&](Source x, Source y) { return op(Action::bit_and, Action::both, x, y); };
  auto const disjunction = [&](Source x, Source y) { return op(Action::bit_or, Action::either, x, y); };
  auto const difference = [&](Source x, Source y) { return op(Action::bit_xor, Action::differ, x, y); };
  switch (lut & 15) {
    case 0:
      return constant(0);
    case 15:
      return constant(all);
    case 12:
      return a;
    case 10:
      return b;
    case 3:
      return inverted(a, width);
    case 5:
      return inverted(b, width);
    case 8:
      return conjunction(a, b);
    case 14:
      return disjunction(a, b);
    case 6:
      return difference(a, b);
    case 9:
      return inverted(difference(a, b), width);
    case 7:
      return inverted(conjunction(a, b), width);
    case 1:
      return inverted(disjunction(a, b), width);
    case 4:
      return conjunction(a, inverted(b, width));
    case 2:
      return conjunction(inverted(a, width), b);
    case 13:
      return disjunction(a, inverted(b, width));
    default:
      return disjunction(inverted(a, width), b);
  }
}

/// A truth table of three, `lut` bit 4a + 2b + c, in as few operations as a split at one of them gives.
Lowering::Source Lowering::table(unsigned lut, Source a, Source b, Source c, unsigned width) {
  auto const at = [&](unsigned x, unsigned y, unsigned z) { return lut >> (4 * x + 2 * y + z) & 1; };
  unsigned best = 0, best_score = 100;
  std::array<unsigned, 3> zero{}, one{};  // of the two others, where the one is 0 or 1
  for (unsigned by = 0; by < 3; ++by) {
    for (unsigned x = 0; x < 2; ++x)
      for (unsigned y = 0; y < 2; ++y) {
        zero[by] |= (by == 0 ? at(0, x, y) : by == 1 ? at(x, 0, y) : at(x, y, 0)) << (2 * x + y);
        one[by] |= (by == 0 ? at(1, x, y) : by == 1 ? at(x, 1, y) : at(x, y, 1)) << (2 * x + y);
      }
    auto const simple = [](unsigned t) { return t == 0 || t == 15; };
    unsigned const z = zero[by], o = one[by];
    Source const s = by == 0 ? a : by == 1 ? b : c;
    unsigned const score = s.constant               ? 0
                           : z == o                 ? 1
                           : simple(z) && simple(o) ? 2
                           : z == (15 ^ o)          ? 3
                           : simple(z) || simple(o) ? 4
                                                    : 9;
    if (score < best_score) best = by, best_score = score;
  }
  Source const s = best == 0 ? a : best == 1 ? b : c, x = best == 0 ? b : a, y = best == 2 ? b : c;
  unsigned const z = zero[best], o = one[best];
  std::uint64_t const all = width == 1 ? 1 : ones32;
  if (z == o) return table2(z, x, y, width);
  if (s.constant && s.value == 0) return table2(z, x, y, width);
  if (s.constant && s.value == all) return table2(o, x, y, width);
  if (z == (15 ^ o)) return table2(6, table2(z, x, y, width), s, width);
  if (z == 0) return table2(8, table2(o, x, y, width), s, width);
  if (o == 15) return table2(14, table2(z, x, y, width), s, width);
  if (o == 0) return table2(4, table2(z, x, y, width), s, width);
  if (z == 15) return table2(13, table2(o, x, y, width), s, width);
  return table2(14, table2(8, table2(o, x, y, width), s, width), table2(4, table2(z, x, y, width), s, width),
                width);
}

void Lowering::logic(Instruction const& i, Opcode const& op) {
  std::size_t const at = is_predicate(operand(i, 0)) ? 2 : 1;
  if (!op.has("LUT") || operand(i, at + 3).kind != Kind::immediate) return unknown(i, op);
  Source const value = table(static_cast<unsigned>(operand(i, at + 3).value & 255), word(operand(i, at)),
                             word(operand(i, at + 1)), word(operand(i, at + 2)), 32);
  if (at == 2) {
    auto const bit = tested_bit(i);
    Source const some = bit              ? *bit
                        : value.constant ? constant(value.value != 0 ? 1 : 0)
                                         : negate(emit(Action::equal, 1, value, constant(0)));
    Source const given = i.operands.size() > at + 4 ? truth(operand(i, at + 4)) : constant(0);
    put_truth(operand(i, 0), op.has("PAND") ? both(some, given) : either(some, given));
  }
  put(operand(i, at - 1), value);
}

void Lowering::logic_of_predicates(Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 7 || operand(i, 5).kind != Kind::immediate ||
      operand(i, 6).kind != Kind::immediate)
    return unknown(i, op);
  Source const a = truth(operand(i, 2)), b = truth(operand(i, 3)), c = truth(operand(i, 4));
  Source const first = table(static_cast<unsigned>(operand(i, 5).value & 255), a, b, c, 1);
  Source const second = table(static_cast<unsigned>(operand(i, 6).value & 255), a, b, c, 1);
  put_truths(i, first, second);
}

/// PRMT R, a, selector, c: bytes of {c:a}.
void Lowering::permute(Instruction const& i, Opcode const& op) {
  Operand const& s = operand(i, 2);
  if (!op.modifiers.empty() || s.kind != Kind::immediate) return unknown(i, op);
  Source const a = word(operand(i, 1)), c = word(operand(i, 3));
  Source result = constant(0);
  // Neighbouring bytes that keep their places move together.
  for (unsigned k = 0; k < 4;) {
    auto const pick = static_cast<unsigned>(s.value >> 4 * k & 15);
    unsigned length = 1;
    while (k + length < 4 && (pick & 8) == 0 && (s.value >> 4 * (k + length) & 15) == pick + length &&
           (pick & 3) + length < 4)
      ++length;
    Source const from = (pick & 4) != 0 ? c : a;
    std::uint64_t const keep = length == 4 ? ones32 : (std::uint64_t{1} << 8 * length) - 1;
    Source byte = from.constant
                      ? constant(from.value >> 8 * (pick & 3) & keep)
                      : emit(Action::bit_and, 32, emit(Action::lshr, 32, from, constant(8 * (pick & 3))),
                             constant(keep));
    if (length == 4) byte = from;
    if ((pick & 8) != 0)  // the byte's sign, eight times
      byte = byte.constant ? constant(byte.value >> 7 != 0 ? 255 : 0)
                           : emit(Action::mul, 32, emit(Action::lshr, 32, byte, constant(7)), constant(255));
    Source const placed = byte.constant ? constant(byte.value << 8 * k & ones32)
                          : k == 0      ? byte
                                        : emit(Action::shl, 32, byte, constant(8 * k));
    result = table2(14, result, placed, 32);
    k += length;
  }
  put(operand(i, 0), result);
}

void Lowering::extend(Instruction const& i, Opcode const& op) {
  Operand const& n = operand(i, 2);
  if (n.kind != Kind::immediate || n.value == 0 || n.value > 32) return unknown(i, op);
  Source const up = constant(32 - n.value);
  Source const x = emit(Action::shl, 32, word(operand(i, 1)), up);
  put(operand(i, 0), op.has("U32") ? emit(Action::lshr, 32, x, up) : arithmetic_shift(x, up, 32));
}

/// BMSK R, from, length: ones from a bit on. The amounts are clamped at 32, or with W taken modulo it.
void Lowering::mask(Instruction const& i, Opcode const& op) {
  auto const amount = [&](Operand const& o) {
    Source const n = word(o);
    if (op.has("W")) return table2(8, n, constant(31), 32);
    return n.constant ? constant(std::min<std::uint64_t>(n.value, 32))
                      : choose(below(n, constant(32), 32, false), n, constant(32), 32);
  };
  Source const from = amount(operand(i, 1)), length = amount(operand(i, 2));
  auto const up = [&](Source x, Source n) {
    return x.constant && n.constant ? constant(n.value >= 32 ? 0 : x.value << n.value & ones32)
                                    : emit(Action::shl, 32, x, n);
  };
  Source const field = inverted(up(constant(ones32), length), 32);
  put(operand(i, 0), up(field, from));
}

void Lowering::ones(Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 2) return unknown(i, op);
  Source const x = word(operand(i, 1));
  if (x.constant) return put(operand(i, 0), constant(static_cast<std::uint64_t>(std::popcount(x.value))));
  Source count = constant(0);
  for (unsigned k = 0; k < 32; ++k)
    count = add(count,
                emit(Action::bit_and, 32, k == 0 ? x : emit(Action::lshr, 32, x, constant(k)), constant(1)));
  put(operand(i, 0), count);
}

void Lowering::reverse(Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 2) return unknown(i, op);
  Source const x = word(operand(i, 1));
  Source result = constant(0);
  for (unsigned k = 0; k < 32; ++k) {
    Source const bit = emit(Action::bit_and, 32, emit(Action::lshr, 32, x, constant(k)), constant(1));
    result = table2(14, result, emit(Action::shl, 32, bit, constant(31 - k)), 32);
  }
  put(operand(i, 0), result);
}

/// HFMA2 R, -RZ, RZ, h, l: two halves as a constant.
void Lowering::halves(Instruction const& i, Opcode const& op) {
  bool const zero = i.operands.size() == 5 && operand(i, 1).kind == Kind::reg &&
                    operand(i, 2).kind == Kind::reg && operand(i, 1).reg == no_register &&
                    operand(i, 2).reg == no_register && operand(i, 1).negative;
  auto const value = [&](Operand const& o) -> std::optional<std::uint32_t> {
    return o.kind == Kind::number ? half_of(o.text, op.has("BF16_V2")) : std::nullopt;
  };
  auto const up = zero ? value(operand(i, 3)) : std::nullopt,
             low = zero ? value(operand(i, 4)) : std::nullopt;
  if (!up || !low) return unknown(i, op);
  put(operand(i, 0), constant(std::uint64_t{*up} << 16 | *low));
}

// --------------------------------------------------------------------------------------- predicates

/// ISETP.GE.U32.AND P, Q, a, b, R [, low]: P = (a >= b) && R and Q = !(a >= b) && R. EX: a and b are upper words, `low` what the
/// comparison of the lower ones gave.
void Lowering::set_predicate(Instruction const& i, Opcode const& op) {
  if (i.operands.size() < 5 || op.modifiers.empty()) return unknown(i, op);
  bool const is_signed = !op.has("U32"), extended = op.has("EX");
  std::string_view const how = op.modifiers[0];
  if (extended) refine("ISETP.EX"_form);
  Source const a = word(operand(i, 2)), b = word(operand(i, 3));
  Source const low = extended && i.operands.size() > 5 ? truth(operand(i, 5)) : constant(0);
  auto const equal = [&] {
    return a.constant && b.constant ? constant(a.value == b.value ? 1 : 0) : emit(Action::equal, 1, a, b);
  };
  auto const less = [&](Source x, Source y) {
    Source const strictly = below(x, y, 32, is_signed);
    return extended ? either(strictly, both(equal(), low)) : strictly;
  };
  Source p{};
  if (how == "EQ")
    p = extended ? both(equal(), low) : equal();
  else if (how == "NE")
    p = extended ? either(negate(equal()), low) : negate(equal());
  else if (how == "LT")
    p = less(a, b);
  else if (how == "GT")
    p = less(b, a);
  else if (how == "LE")
    p = extended ? less(a, b) : negate(below(b, a, 32, is_signed));
  else if (how == "GE")
    p = extended ? less(b, a) : negate(below(a, b, 32, is_signed));
  else if (how == "T" || how == "F")
    p = constant(how == "T" ? 1 : 0);
  else
    return unknown(i, op);
  Source const with = truth(operand(i, 4));
  auto const joined = [&](Source x) {
    if (op.has("AND")) return both(x, with);
    if (op.has("OR")) return either(x, with);
    return with.constant && x.constant ? constant(x.value ^ with.value) : emit(Action::differ, 1, x, with);
  };
  Source const first = joined(p), second = joined(negate(p));
  put_truths(i, first, second);
}

void Lowering::select(Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 4 || !op.modifiers.empty())
    return not_modelled(operand(i, 0), op.has("64") ? 2 : 1, registers_of(i, 1));
  Source const a = word(operand(i, 1)), b = word(operand(i, 2));
  put(operand(i, 0), choose(truth(operand(i, 3)), a, b, 32));
}

/// IMNMX R, a, b, P: the least if P, else the most. VIMNMX3 has a third, VIADDMNMX adds the first two before.
void Lowering::least_or_most(Instruction const& i, Opcode const& op) {
  for (std::string_view const m : op.modifiers)
    if (m != "U32" && m != "S32") return unknown(i, op);
  std::size_t const sources = op.base == "VIMNMX3" || op.base == "VIADDMNMX" ? 3 : 2;
  if (i.operands.size() != 2 + sources || !is_predicate(operand(i, 1 + sources))) return unknown(i, op);
  Source const least = truth(operand(i, 1 + sources));
  bool const is_signed = !op.has("U32");
  auto const chosen = [&](Source x, Source y) {
    Source const less = below(x, y, 32, is_signed);
    if (least.constant) return least.value != 0 ? choose(less, x, y, 32) : choose(less, y, x, 32);
    return choose(least, choose(less, x, y, 32), choose(less, y, x, 32), 32);
  };
  Source const a = word(operand(i, 1)), b = word(operand(i, 2));
  if (sources == 2) return put(operand(i, 0), chosen(a, b));
  Source const c = word(operand(i, 3));
  put(operand(i, 0), op.base == "VIMNMX3" ? chosen(chosen(a, b), c) : chosen(add(a, b), c));
}

void Lowering::absolute(Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 2 || !op.modifiers.empty()) return unknown(i, op);
  Source const x = word(operand(i, 1));
  Source const minus = x.constant ? constant(0 - x.value & ones32) : emit(Action::sub, 32, constant(0), x);
  put(operand(i, 0), choose(below(x, constant(0), 32, true), minus, x, 32));
}

/// P2R R, PR, a, mask: the predicates as bits, where the mask has them, else bits of a.
void Lowering::predicates_to_word(Instruction const& i, Opcode const& op) {
  Operand const& m = operand(i, 3);
  if (i.operands.size() != 4 || m.kind != Kind::immediate || !op.modifiers.empty() || m.value > 0x7f ||
      operand(i, 1).text != (op.uniform ? "UPR" : "PR"))
    return unknown(i, op);
  Source value = table2(8, word(operand(i, 2)), constant(~m.value & ones32), 32);
  std::uint32_t const first = op.uniform ? first_uniform_predicate : first_predicate;
  for (unsigned k = 0; k < 7; ++k)
    if ((m.value >> k & 1) != 0)
      value = table2(14, value, choose(reg(first + k), constant(std::uint64_t{1} << k), constant(0), 32), 32);
  put(operand(i, 0), value);
}

/// R2P PR, a, mask: bits of a as predicates, where the mask has them.
void Lowering::word_to_predicates(Instruction const& i, Opcode const& op) {
  Operand const& m = operand(i, 2);
  Operand const& from = operand(i, 1);
  unsigned byte = 0;
  if (from.text.find(".B") != std::string_view::npos)
    byte = static_cast<unsigned>(from.text[from.text.find(".B") + 2] - '0');
  if (i.operands.size() != 3 || m.kind != Kind::immediate || !op.modifiers.empty() || byte > 3 ||
      operand(i, 0).text != "PR") {
    refine({});
    for (std::uint32_t r = first_predicate; r < registers; ++r) write(r, any(1), 1);
    return;
  }
  Operand plain = from;
  plain.suffixed = false;
  Source const x = word(plain);
  for (unsigned k = 0; k < 7; ++k) {
    if ((m.value >> k & 1) == 0) continue;
    auto const kept = kept_bit(x, 8 * byte + k);
    Source const bit =
        kept ? *kept
        : x.constant
            ? constant(x.value >> (8 * byte + k) & 1)
            : negate(emit(Action::equal, 1, table2(8, x, constant(std::uint64_t{1} << (8 * byte + k)), 32),
                          constant(0)));
    write(first_predicate + k, bit, 1);
  }
}

}  // namespace swizproof::sass
