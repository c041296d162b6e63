#include "turns.hpp"

#include <swizproof/core/word.hpp>

#include <utility>

namespace swizproof::execution {

using program::Action;
using program::Step;

namespace {

/// The parameter with which parameter + value is `sum`.
Turn solved(Turn const& parameter, std::uint64_t sum) {
  return {parameter.symbol, parameter.offset, parameter.bits,
          (sum - parameter.value) & low_bits(parameter.bits)};
}

}  // namespace

void Turns::read(std::int32_t dst, Turn const& parameter) { set(dst, {parameter, {}}); }

Turns::Register Turns::compared(Step const& s, Number const& number) const {
  Register out;
  Register const *a = at(s.a), *b = at(s.b);
  bool const left = a != nullptr && a->parameter;
  if (!left && (b == nullptr || !b->parameter)) return out;
  Turn const& parameter = left ? *a->parameter : *b->parameter;
  auto const other = number(left ? s.b : s.a);
  if (!other) return out;
  if (s.action == Action::equal)
    out.turns = {solved(parameter, *other + 1), solved(parameter, *other)};
  else if (left)  // parameter < other
    out.turns = {solved(parameter, *other), solved(parameter, *other - 1)};
  else
    out.turns = {solved(parameter, *other), solved(parameter, *other + 1)};
  return out;
}

void Turns::step(Step const& s, Number const& number) {
  if (s.dst < 0) return;
  Register out;
  Register const *const a = at(s.a), *const b = at(s.b);
  auto const add = [&](Register const* of, std::optional<std::uint64_t> by) {
    if (of == nullptr || !of->parameter || !by) return;
    out.parameter = of->parameter;
    out.parameter->value += *by;
  };
  switch (s.action) {
    case Action::copy:
      if (a != nullptr) out = *a;
      break;
    case Action::zext:
    case Action::trunc:
      if (a != nullptr && a->parameter && a->parameter->bits <= s.width) out = *a;
      break;
    case Action::add:
      add(a != nullptr && a->parameter ? a : b, number(a != nullptr && a->parameter ? s.b : s.a));
      break;
    case Action::sub:
      if (auto const by = number(s.b)) add(a, 0 - *by);
      break;
    case Action::bit_xor:  // of the highest bit: it is added
      if (s.b.constant && s.b.value == std::uint64_t{1} << (s.width - 1)) add(a, s.b.value);
      break;
    case Action::equal:
    case Action::below:
      out = compared(s, number);
      break;
    case Action::negate:
      if (a != nullptr) out.turns = {a->turns[1], a->turns[0]};
      break;
    case Action::both:
    case Action::either:
      // The operand that alone keeps it from being so, or any.
      for (unsigned truth = 0; truth < 2; ++truth)
        for (auto const& [of, source] : {std::pair(a, s.a), std::pair(b, s.b)})
          if (of != nullptr && of->turns[truth] && number(source) != std::optional<std::uint64_t>(truth))
            out.turns[truth] = of->turns[truth];
      break;
    default:
      break;
  }
  set(s.dst, out);
}

std::optional<Turn> Turns::turn(std::int32_t predicate, bool truth) const {
  auto const p = static_cast<std::size_t>(predicate);
  return follows_[p] ? registers_[p].turns[truth ? 1 : 0] : std::nullopt;
}

}  // namespace swizproof::execution
