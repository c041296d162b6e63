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

}  // namespace

ValueTerms::ValueTerms(program::Program const& program) {
  for (auto const& name : program.names) commutes_.push_back(is_commutative(name));
}

void ValueTerms::clear() { nodes_.resize(1), known_.clear(); }

std::size_t ValueTerms::Hash::operator()(Node const& n) const {
  std::uint64_t h = static_cast<std::uint64_t>(n.kind) | static_cast<std::uint64_t>(n.action) << 8 |
                    std::uint64_t{n.width} << 16 | std::uint64_t{n.extra} << 32;
  for (std::uint64_t const o : n.operands) h = (h ^ o ^ h >> 29) * 0x9e3779b97f4a7c15;
  return h ^ h >> 32;
}

ValueTerms::Term ValueTerms::add(Node const& n) {
  auto const [at, fresh] = known_.try_emplace(n, static_cast<Term>(nodes_.size()));
  if (fresh) nodes_.push_back(n);
  return at->second;
}

ValueTerms::Term ValueTerms::of(RaceValue const& v) {
  return v.open || v.data != 0 ? v.term : add({Kind::number, {}, 64, 0, {v.bits, 0, 0}});
}

ValueTerms::Term ValueTerms::initial(std::uint64_t at, bool any) {
  return add({any ? Kind::any_byte : Kind::byte_of_module, {}, 8, 0, {at, 0, 0}});
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
  auto const is_number = [&](Term o) { return nodes_[o].kind == Kind::number; };
  if (opaque && std::all_of(operands.begin(), operands.end(), is_number)) return 0;  // a clock, as it may be
  if ((opaque ? commutes_[s.extra] : is_commutative(s.action)) && operands[0] > operands[1])
    std::swap(operands[0], operands[1]);
  return add({Kind::step, s.action, s.width, opaque ? s.extra : 0, {operands[0], operands[1], operands[2]}});
}

ValueTerms::Term ValueTerms::byte(Term t, unsigned k) {
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
  return n.width == 8 && k == 0 ? t : add({Kind::byte, {}, 8, 0, {t, k, 0}});
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
    out = add({Kind::bytes, {}, static_cast<std::uint8_t>(8 * k + 8), 0, {out, bytes[k], 0}});
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
