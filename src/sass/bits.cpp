// Predicates that the compiler keeps in bits of a register, because there are more than seven:
//
//   @P5 LOP3.LUT R124, R124, 0x80000000, RZ, 0xfc          the bit is set (it was cleared before)
//   LOP3.LUT P0, RZ, R124, 0x80000000, RZ, 0xc0            and tested, after other bits were set and loops were passed
//
// Each such bit is a separate truth in addition to the register, so it does not matter whether the other bits are known or written.
// tests/unit/sass/lower_test.cpp
#include "steps.hpp"

namespace swizproof::sass {

namespace {

constexpr unsigned lut_and = 0xc0, lut_or = 0xfc;  ///< tables of LOP3: a & b, a | b

/// True if the operands from `at` on are register, immediate, RZ and this table.
bool is_table_of(Instruction const& i, std::size_t at, unsigned lut) {
  if (i.operands.size() < at + 4) return false;
  Operand const &a = i.operands[at], &b = i.operands[at + 1], &c = i.operands[at + 2],
                &t = i.operands[at + 3];
  return a.kind == Operand::Kind::reg && a.reg != no_register && !a.inverted && !a.suffixed &&
         b.kind == Operand::Kind::immediate && c.kind == Operand::Kind::reg && c.reg == no_register &&
         t.kind == Operand::Kind::immediate && (t.value & 255) == lut;
}

}  // namespace

void Steps::find_kept_bits(Function const& function) {
  std::map<std::uint32_t, std::uint64_t> set, tested;
  for (Instruction const& i : function.body) {
    bool const table = i.opcode == "LOP3.LUT";
    if (table && is_table_of(i, 1, lut_or) && number_of(operand(i, 0)) == number_of(operand(i, 1)))
      set[operand(i, 1).reg] |= operand(i, 2).value;
    if (table && is_predicate(operand(i, 0)) && is_table_of(i, 2, lut_and))
      tested[operand(i, 2).reg] |= operand(i, 3).value;
    if (i.opcode == "P2R" && operand(i, 0).kind == Kind::reg) set[operand(i, 0).reg] |= operand(i, 3).value;
    if (i.opcode == "R2P" && operand(i, 1).kind == Kind::reg)
      tested[operand(i, 1).reg] |= operand(i, 2).value;
  }
  for (auto const& [r, bits] : set)
    for (unsigned k = 0; k < 32 && r != no_register; ++k)
      if ((bits & tested[r]) >> k & 1) kept_bits_[r].emplace(k, build.temporary(1));
}

std::optional<Source> Steps::kept_bit(Source r, unsigned bit) const {
  if (r.constant) return std::nullopt;
  auto const bits = kept_bits_.find(static_cast<std::uint32_t>(r.value));
  if (bits == kept_bits_.end()) return std::nullopt;
  auto const found = bits->second.find(bit);
  return found == bits->second.end() ? std::nullopt : std::optional(reg(found->second));
}

Source Steps::bit_of(Source value, unsigned bit, unsigned depth) {
  if (value.constant) return constant(value.value >> bit & 1);
  if (auto const kept = kept_bit(value, bit)) return *kept;
  std::size_t k = build.program.steps.size();
  std::size_t const first = forms.empty() ? 0 : forms.back().first;
  while (k > first && build.program.steps[k - 1].dst != static_cast<std::int32_t>(value.value)) --k;
  if (k > first && depth < 20) {
    program::Step const s = build.program.steps[k - 1];
    if (s.action == Action::copy) return bit_of(s.a, bit, depth + 1);
    if (s.action == Action::bit_and || s.action == Action::bit_or) {
      bool const all = s.action == Action::bit_and;
      for (auto const& [p, q] : {std::pair{s.a, s.b}, std::pair{s.b, s.a}})
        if (p.constant)
          return (p.value >> bit & 1) != all ? constant(all ? 0 : 1) : bit_of(q, bit, depth + 1);
      Source const a = bit_of(s.a, bit, depth + 1), b = bit_of(s.b, bit, depth + 1);
      return all ? both(build, a, b) : either(build, a, b);
    }
    if (s.action == Action::choose && s.b.constant && s.c.constant) {
      Source const yes = bit_of(s.b, bit, depth + 1), no = bit_of(s.c, bit, depth + 1);
      return yes.value == no.value ? yes : yes.value != 0 ? s.a : negate(build, s.a);
    }
  }
  return negate(build,
                emit(Action::equal, 1, emit(Action::bit_and, 32, value, constant(std::uint64_t{1} << bit)),
                     constant(0)));
}

void Steps::write_kept_bits(std::uint32_t r, Source value) {
  auto const bits = kept_bits_.find(r);
  if (bits == kept_bits_.end()) return;
  std::vector<std::pair<std::uint32_t, Source>> all;
  for (auto const& [bit, kept] : bits->second) all.emplace_back(kept, bit_of(value, bit, 0));
  for (auto const& [kept, truth] : all) write(kept, truth, 1);
}

std::optional<Source> Steps::tested_bit(Instruction const& i) const {
  if (!is_table_of(i, 2, lut_and)) return std::nullopt;
  std::uint64_t const mask = operand(i, 3).value;
  for (unsigned k = 0; k < 32; ++k)
    if (mask == std::uint64_t{1} << k) return kept_bit(reg(operand(i, 2).reg), k);
  return std::nullopt;
}

}  // namespace swizproof::sass
