#include "series.hpp"

#include "lowering.hpp"

#include <algorithm>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;

bool is_load(Instruction const& i) { return i.opcode.name == "ld"; }

Operand const& address_of(Instruction const& i) { return operand(i, is_load(i) ? 1 : 0); }

/// Base register or variable of an address; null if it has none.
Operand const* base_of(Instruction const& i) {
  Operand const& at = address_of(i);
  bool const known = at.kind == Kind::address && at.parts.size() == 1;
  Kind const kind = known ? at.parts[0].kind : Kind::other;
  return kind == Kind::reg || kind == Kind::symbol ? at.parts.data() : nullptr;
}

/// True of `ld.shared.u32` and the like: without a vector of 16 bytes, a scope or an order.
bool may_join(Instruction const& i) {
  Opcode const& op = i.opcode;
  if ((op.name != "ld" && op.name != "st") || op.space != Space::shared || base_of(i) == nullptr)
    return false;
  unsigned const bits = op.type.bits * op.lanes;
  return (bits == 32 || bits == 64) &&
         std::all_of(op.parts.begin() + 1, op.parts.end(), [](std::string_view p) {
           return p == "shared" || p == "shared::cta" || p == "weak" || p == "v2" || p == "v4" ||
                  type_of(p).kind != 0;
         });
}

/// True if it neither accesses shared memory nor orders memory.
bool is_apart(Opcode const& op) {
  bool const elsewhere = op.space != Space::shared && op.space != Space::generic;
  if (op.name == "ld" || op.name == "st") return elsewhere && !op.has("volatile");
  return op.name == "mov" || op.name == "setp" || op.name == "selp" || op.name == "cvta" ||
         depends_on_operands_alone(op.name);
}

bool have_one_base(Instruction const& a, Instruction const& b) {
  Operand const &x = *base_of(a), &y = *base_of(b);
  return x.kind == y.kind && (x.kind == Kind::reg ? x.reg == y.reg : x.text == y.text && x.value == y.value);
}

bool names(Operand const& o, std::uint32_t reg) {
  return (o.kind == Kind::reg && o.reg == reg) ||
         std::any_of(o.parts.begin(), o.parts.end(), [&](Operand const& p) { return names(p, reg); });
}

}  // namespace

std::uint32_t Series::of(Instruction const& i) {
  std::uint32_t const number = may_join(i) ? join(i) : 0;
  if (number == 0 && !is_apart(i.opcode)) end();
  if (i.opcode.name != "st") end_overwritten(i);
  return number;
}

std::uint32_t Series::join(Instruction const& i) {
  auto const same = std::find_if(open_.begin(), open_.end(), [&](Open const& o) {
    Instruction const& f = *o.first;
    return f.opcode.name == i.opcode.name &&
           f.opcode.type.bits * f.opcode.lanes == i.opcode.type.bits * i.opcode.lanes && f.guard == i.guard &&
           f.guard_negated == i.guard_negated && have_one_base(f, i);
  });
  Open const mine = same != open_.end() ? *same : Open{&i, ++last_};
  // A store may change what a load reads, and another store of another base: loads of several bases may alternate.
  if (!is_load(i) || (!open_.empty() && !is_load(*open_[0].first)))
    open_.clear();
  else if (same != open_.end())
    open_.erase(same);
  open_.push_back(mine);
  return mine.number;
}

void Series::end_overwritten(Instruction const& i) {
  if (i.operands.empty()) return;
  std::erase_if(open_, [&](Open const& o) {
    Operand const& base = *base_of(*o.first);
    return (base.kind == Kind::reg && names(i.operands[0], base.reg)) ||
           (o.first->guard >= 0 && names(i.operands[0], static_cast<std::uint32_t>(o.first->guard)));
  });
}

}  // namespace swizproof::ptx
