#include "race_values.hpp"

#include <swizproof/program/floating.hpp>
#include <swizproof/program/opcode.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <iterator>

namespace swizproof::kernel_detail {

using program::Action;

namespace {

/// True for instructions whose first two operands may be exchanged.
bool is_commutative(std::string_view opcode) {
  static constexpr std::string_view names[] = {"add", "mul", "min", "max", "fma", "mad", "and", "or", "xor"};
  program::Opcode const op(opcode);
  return !op.has("wide") && std::find(std::begin(names), std::end(names), op.name) != std::end(names);
}

bool is_commutative(Action a) {
  return a == Action::add || a == Action::mul || a == Action::bit_and || a == Action::bit_or ||
         a == Action::bit_xor || a == Action::equal || a == Action::both || a == Action::either ||
         a == Action::differ;
}

/// True for steps that give a part of an operand as it is, so that a sum behind them may be fused with a product before them.
bool passes(Action a) {
  return a == Action::copy || a == Action::choose || a == Action::zext || a == Action::trunc ||
         a == Action::shl || a == Action::lshr || a == Action::bit_or || a == Action::bit_and ||
         a == Action::bit_xor;
}

}  // namespace

ValueTerms::ValueTerms(program::Program const& program) : program_(program) {
  for (auto const& name : program.names) {
    program::Opcode const op(name);
    named_.push_back(
        {is_commutative(name),
         (program::depends_on_operands_alone(op.name) || op.name == "setp") && !name.ends_with(" by 0"),
         program::is_fusible_sum(op), program::is_fusible_product(op)});
  }
}

void ValueTerms::clear() { nodes_.resize(1), known_.clear(); }

std::size_t ValueTerms::Hash::operator()(Node const& n) const {
  std::uint64_t h = static_cast<std::uint64_t>(n.kind) | static_cast<std::uint64_t>(n.action) << 8 |
                    std::uint64_t{n.width} << 16 | std::uint64_t{n.extra ^ n.step << 16} << 32;
  for (std::uint64_t const o : n.operands) h = (h ^ o ^ h >> 29) * 0x9e3779b97f4a7c15;
  return h ^ h >> 32;
}

ValueTerms::Term ValueTerms::add(Node const& n) {
  auto const [at, fresh] = known_.try_emplace(n, static_cast<Term>(nodes_.size()));
  if (fresh) nodes_.push_back(n);
  return at->second;
}

ValueTerms::Term ValueTerms::of(RaceValue const& v) {
  return v.open || v.data != 0 ? v.term
                               : add({.kind = Kind::number, .width = 64, .operands = {v.bits, 0, 0}});
}

ValueTerms::Term ValueTerms::initial(std::uint64_t at, bool any) {
  return add({.kind = any ? Kind::any_byte : Kind::byte_of_module, .width = 8, .operands = {at, 0, 0}});
}

ValueTerms::Term ValueTerms::of_step(program::Step const& s, std::array<Term, 3> operands) {
  std::size_t const count = s.action == Action::opaque || s.action == Action::choose ? 3
                            : s.action == Action::copy || s.action == Action::zext ||
                                    s.action == Action::trunc || s.action == Action::negate
                                ? 1
                                : 2;
  for (std::size_t k = 0; k < 3; ++k)
    if (k >= count)
      operands[k] = 0;
    else if (operands[k] == 0)
      return 0;
  if (s.action == Action::copy && nodes_[operands[0]].width == s.width) return operands[0];
  bool const opaque = s.action == Action::opaque;
  Named const name = opaque ? named_[s.extra] : Named{is_commutative(s.action)};
  auto const is_number = [&](Term o) { return nodes_[o].kind == Kind::number; };
  if (opaque && !name.is_function && std::all_of(operands.begin(), operands.end(), is_number)) return 0;
  bool const sign =
      opaque && (program_.names[s.extra].starts_with("neg") || program_.names[s.extra].starts_with("abs"));
  bool const part = sign || passes(s.action);
  bool any_product = false;
  for (std::size_t k = 0; k < count; ++k) {
    if (!part && !name.sum) operands[k] = unmoved(operands[k]);
    any_product = any_product || nodes_[operands[k]].is_product;
  }
  Node out{Kind::step, s.action, s.width, opaque ? s.extra : 0};
  out.is_product = name.product || (part && any_product);
  if (name.sum && any_product) {
    out.step = 1 + static_cast<std::uint32_t>(&s - program_.steps.data());
  } else {
    if (name.sum)
      for (std::size_t k = 0; k < count; ++k) operands[k] = unmoved(operands[k]);
    if (name.commutes && operands[0] > operands[1]) std::swap(operands[0], operands[1]);
  }
  out.operands = {operands[0], operands[1], operands[2]};
  return s.action == Action::choose ? ordered(out) : add(out);
}

/// A choice by an order, which may be a minimum or a maximum: its operands may be exchanged.
ValueTerms::Term ValueTerms::ordered(Node const& choice) {
  Node const by = nodes_[choice.operands[0]];
  if (by.kind != Kind::step || by.action != Action::below) return add(choice);
  // A signed order is that of both numbers with the other sign.
  std::uint64_t const half = std::uint64_t{1} << (choice.width - 1U);
  auto const compared = [&](std::uint64_t side, bool is_signed) {
    Node const& n = nodes_[side];
    if (!is_signed || n.kind != Kind::step || (n.action != Action::bit_xor && n.action != Action::add))
      return side;
    for (unsigned k = 0; k < 2; ++k)
      if (Node const& m = nodes_[n.operands[k]]; m.kind == Kind::number && m.operands[0] == half)
        return n.operands[1 - k];
    return side;
  };
  std::uint64_t const x = choice.operands[1], y = choice.operands[2];
  for (bool const is_signed : {false, true}) {
    std::uint64_t const less = compared(by.operands[0], is_signed),
                        more = compared(by.operands[1], is_signed);
    bool const least = less == x && more == y, most = less == y && more == x;
    if (!least && !most) continue;
    Node out = choice;
    out.extra = (least ? 1U : 2U) + (is_signed ? 2U : 0U);
    out.operands = {std::min(x, y), std::max(x, y), 0};
    return add(out);
  }
  return add(choice);
}

ValueTerms::Term ValueTerms::unmoved(Term t) const {
  return nodes_[t].kind == Kind::moved ? static_cast<Term>(nodes_[t].operands[0]) : t;
}

ValueTerms::Term ValueTerms::moved(Term t) {
  return nodes_[t].is_product ? add({.kind = Kind::moved, .width = nodes_[t].width, .operands = {t, 0, 0}})
                              : t;
}

ValueTerms::Term ValueTerms::of_product(std::string_view opcode, MatrixElement at,
                                        std::vector<Term> const& row, std::vector<Term> const& column, Term c,
                                        unsigned width) {
  auto const list_of = [&](std::uint64_t first, std::vector<Term> const& items) {
    Term out = of({first, false});
    for (Term const item : items)
      out = item == 0 || out == 0 ? 0 : add({.kind = Kind::list, .operands = {out, unmoved(item), 0}});
    return out;
  };
  Term const a = list_of(at.row, row), b = list_of(at.column, column);
  if (a == 0 || b == 0 || c == 0) return 0;
  auto const name = std::find(products_.begin(), products_.end(), opcode);
  auto const index = static_cast<std::uint32_t>(name - products_.begin());
  if (name == products_.end()) products_.emplace_back(opcode);
  return add({.kind = Kind::product,
              .width = static_cast<std::uint8_t>(width),
              .extra = index,
              .operands = {a, b, unmoved(c)}});
}

ValueTerms::Term ValueTerms::byte(Term t, unsigned k) {
  t = unmoved(t);
  Node const n = nodes_[t];
  auto const first = static_cast<Term>(n.operands[0]);
  if (n.kind == Kind::none) return 0;
  if (n.kind == Kind::number) return of({k < 8 ? n.operands[0] >> 8 * k & 0xff : 0, false});
  if (n.kind == Kind::bytes && 8 * k < n.width)
    return 8 * k + 8 == n.width ? static_cast<Term>(n.operands[1]) : byte(first, k);
  if (n.kind == Kind::step && n.action == Action::trunc && 8 * k + 8 <= n.width) return byte(first, k);
  if (n.kind == Kind::step && n.action == Action::zext && nodes_[first].kind != Kind::number &&
      nodes_[first].width % 8 == 0)
    return 8 * k < nodes_[first].width ? byte(first, k) : of({0, false});
  if (n.kind == Kind::step && k < 8 && 8 * k < n.width)
    if (auto const part = byte_of_bits(n, k)) return *part;
  return n.width == 8 && k == 0 ? t : add({.kind = Kind::byte, .width = 8, .operands = {t, k, 0}});
}

/// Byte of a shift by whole bytes, or of an OR with zeros: as where registers are packed.
std::optional<ValueTerms::Term> ValueTerms::byte_of_bits(Node const& n, unsigned k) {
  auto const first = static_cast<Term>(n.operands[0]), second = static_cast<Term>(n.operands[1]);
  Term const zero = of({0, false});
  if (n.action == Action::bit_or) {
    Term const x = byte(first, k), y = byte(second, k);
    return x == zero ? std::optional(y) : y == zero ? std::optional(x) : std::nullopt;
  }
  if ((n.action != Action::lshr && n.action != Action::shl) || nodes_[second].kind != Kind::number)
    return std::nullopt;
  std::uint64_t const by = nodes_[second].operands[0];
  if (by % 8 != 0 || by >= n.width) return std::nullopt;
  auto const bytes = static_cast<unsigned>(by / 8);
  if (n.action == Action::shl) return k < bytes ? zero : byte(first, k - bytes);
  return 8 * (k + bytes) < n.width ? byte(first, k + bytes) : zero;
}

ValueTerms::Term ValueTerms::of_bytes(std::vector<Term> const& bytes) {
  Term const whole =
      nodes_[bytes[0]].kind == Kind::byte ? static_cast<Term>(nodes_[bytes[0]].operands[0]) : 0;
  bool all = whole != 0 && nodes_[whole].width == 8 * bytes.size();
  for (unsigned k = 0; k < bytes.size(); ++k) {
    if (bytes[k] == 0) return 0;
    all = all && byte(whole, k) == bytes[k];
  }
  if (all) return whole;
  Term out = bytes[0];
  for (std::size_t k = 1; k < bytes.size(); ++k)
    out = add(
        {.kind = Kind::bytes, .width = static_cast<std::uint8_t>(8 * k + 8), .operands = {out, bytes[k], 0}});
  return out;
}

bool ValueTerms::may_differ(RaceValue const& a, RaceValue const& b) {
  Term const x = of(a), y = of(b);
  auto const free = [&](Term t) {
    return nodes_[t].kind == Kind::any_byte || nodes_[t].kind == Kind::number;
  };
  return x != y && free(x) && free(y);
}

RaceValue value_of_step(program::Program const& program, program::Step const& s,
                        std::array<RaceValue, 3> const& sources, LoadSets& sets, ValueTerms& terms) {
  auto const& [a, b, c] = sources;
  if (s.action == Action::choose && !a.open && a.data == 0) {
    RaceValue out = (a.bits & 1) != 0 ? b : c;
    out.bits &= low_bits(s.width);
    return out;
  }
  RaceValue out{0, a.open || b.open || c.open, sets.join(sets.join(a.data, b.data), c.data)};
  // A number that a zero absorbs is not needed.
  bool const zero = (s.action == Action::bit_and || s.action == Action::mul || s.action == Action::both) &&
                    ((!a.open && a.bits == 0) || (!b.open && b.bits == 0));
  if (s.action == Action::choose) {
    RaceValue const& one = (a.bits & 1) != 0 ? b : c;
    out.open = a.open || one.open, out.bits = one.bits & low_bits(s.width);
    if (!a.open) out.data = sets.join(a.data, one.data);
  } else if (s.action != Action::opaque) {
    out.open = out.open && !zero;
    out.bits = zero ? 0 : program::result_of(s, a.bits, b.bits, c.bits);
  } else if (!out.open) {
    auto const f = program::float_result(program.names[s.extra], {a.bits, b.bits, c.bits});
    out.open = !f, out.bits = f.value_or(0) & low_bits(s.width);
  }
  if (out.open || out.data != 0) out.term = terms.of_step(s, {terms.of(a), terms.of(b), terms.of(c)});
  return out;
}

}  // namespace swizproof::kernel_detail
