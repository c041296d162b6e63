#include "rounds.hpp"

#include <algorithm>

namespace swizproof::sass {

namespace {

constexpr unsigned longest_round = 64;  ///< instructions; and those in front of it that may set its predicate

bool is_true(Operand const& o) { return o.kind == Kind::predicate && o.reg == no_register && !o.negated; }

bool is_same(Operand const& a, Operand const& b) {
  return a.kind == b.kind && a.reg == b.reg && !a.negated && !b.negated;
}

/// PLOP3.LUT d, PT, a, b, c, table, 0: one result.
bool is_table(Instruction const& i, std::uint64_t table) {
  return i.opcode == "PLOP3.LUT" && i.operands.size() == 7 && is_true(operand(i, 1)) &&
         operand(i, 5).kind == Kind::immediate && operand(i, 5).value == table;
}

/// `@left` in front of an instruction.
bool is_guarded_by(Instruction const& i, Operand const& left) {
  return i.guard == left.kind && i.guard_reg == left.reg && !i.guard_negated;
}

}  // namespace

Rounds::Rounds(Code const& code) : code_(code) {
  for (std::uint32_t k = 0; k < code.function.body.size(); ++k) {
    Instruction const& i = code.function.body[k];
    if (i.opcode != "BRA.U.ANY" || i.operands.size() != 1 || i.guard != Kind::predicate || i.guard_negated)
      continue;
    auto const to = code.target_of(i.operands[0]);
    if (!to || *to >= k || k - *to > longest_round) continue;
    Round round{*to, k};
    round.left.kind = i.guard, round.left.reg = i.guard_reg;
    if (is_round(round) && is_entered_by_all(round)) rounds_.push_back(round);
  }
}

Round const* Rounds::around(std::uint32_t index) const {
  auto const at = std::find_if(rounds_.begin(), rounds_.end(),
                               [&](Round const& r) { return r.first <= index && index <= r.last; });
  return at == rounds_.end() ? nullptr : &*at;
}

/// True if all lanes have their turn still: the predicate is set in front of the loop, which nothing else jumps to.
bool Rounds::is_entered_by_all(Round const& round) const {
  if (code_.ways_to(round.first) != 1) return false;
  for (std::uint32_t k = round.first; k-- > 0 && round.first - k < longest_round;) {
    Instruction const& i = code_.function.body[k];
    if (is_table(i, 0x80) && i.guard == Kind::other && is_same(operand(i, 0), round.left))
      return is_true(operand(i, 2)) && is_true(operand(i, 3)) && is_true(operand(i, 4));
    if (may_write(i, round.left) || code_.leads(k)) return false;
  }
  return false;
}

bool Rounds::is_round(Round& round) const {
  Part last = Part::none;
  for (std::uint32_t k = round.first; k < round.last; ++k) {
    if (k != round.first && code_.leads(k)) return false;
    if (!is_part(round, code_.function.body[k], last)) return false;
  }
  return last == Part::turned;
}

/// True for an instruction that such a loop may have behind others.
bool Rounds::is_part(Round& round, Instruction const& i, Part& last) {
  if (last == Part::turned) return i.opcode.starts_with("UTMA") && i.guard == Kind::other;
  bool const guarded = is_guarded_by(i, round.left);
  Operand const& d = operand(i, 0);
  if (round.another.kind == Kind::other) round.another = d;
  if (!is_same(d, round.another) && !guarded) return false;
  if (round.another.kind != Kind::predicate || is_same(round.another, round.left)) return false;
  if (i.opcode == (last == Part::none ? "R2UR" : "R2UR.OR")) {
    last = Part::taken;
    return guarded && i.operands.size() == 3 && is_same(d, round.another) &&
           operand(i, 1).kind == Kind::uniform && operand(i, 2).kind == Kind::reg;
  }
  if (is_table(i, 0x80) && last == Part::taken) {
    last = Part::turned;
    return guarded && is_same(d, round.left) && is_same(operand(i, 2), round.another) &&
           is_true(operand(i, 3)) && is_true(operand(i, 4));
  }
  // It takes lanes whose turn is over for lanes with another value.
  return i.guard == Kind::other && is_table(i, 0xa2) && is_same(operand(i, 2), round.another) &&
         is_same(operand(i, 3), round.left) && is_true(operand(i, 4));
}

}  // namespace swizproof::sass
