// The engines that need no solver: enumeration and linear algebra.
#include <swizproof/question.hpp>

#include <algorithm>

namespace swizproof {

namespace {

Refuted refutation(Question const& q, std::span<std::uint64_t const> values) {
  Refuted refuted{q.name, {}};
  for (std::size_t i = 0; i < values.size(); ++i) refuted.values.emplace_back(q.variables[i].name, values[i]);
  return refuted;
}

/// The first counterexample among values of at most `bits[i]` bits for variable i, last fastest.
std::optional<Refuted> enumerate(Question const& q, std::span<unsigned const> bits) {
  std::vector<std::uint64_t> values(q.variables.size(), 0);
  while (true) {
    auto const [hypothesis, conclusion] = q.on_numbers(values);
    if (hypothesis && !conclusion) return refutation(q, values);
    std::size_t i = values.size();
    while (i > 0 && ++values[i - 1] >> bits[i - 1] != 0) values[--i] = 0;
    if (i == 0) return std::nullopt;
  }
}

}  // namespace

std::optional<Outcome> decide_exhaustively(Question const& q, unsigned bits) {
  std::vector<unsigned> widths;
  unsigned total = 0;
  for (Variable const& v : q.variables) {
    widths.push_back(v.bits);
    total += v.bits;
  }
  if (total > bits) return std::nullopt;
  if (auto refuted = enumerate(q, widths)) return *std::move(refuted);
  return Proved{};
}

std::optional<Refuted> search_counterexample(Question const& q, unsigned budget) {
  auto const share = budget / static_cast<unsigned>(std::max<std::size_t>(q.variables.size(), 1));
  std::vector<unsigned> bits;
  for (Variable const& v : q.variables) bits.push_back(std::min(v.bits, share));
  auto refuted = enumerate(q, bits);
  if (refuted) refuted->simplest = true;
  return refuted;
}

std::optional<Outcome> decide_linearly(Question const& q) {
  std::vector<Affine> inputs;
  unsigned used = 0;
  for (Variable const& v : q.variables) {
    if (used + v.bits > 256) return std::nullopt;  // a form has no room for more
    inputs.push_back(Affine::inputs(q.width, used, v.bits));
    used += v.bits;
  }
  auto const [hypothesis, conclusion] = q.on_affine(inputs);
  auto const decision = decide(hypothesis, conclusion);
  if (!decision) return std::nullopt;
  if (decision->implied) return Proved{};
  std::vector<std::uint64_t> values;
  unsigned at = 0;
  for (Variable const& v : q.variables) {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < v.bits; ++bit, ++at)
      value |= (decision->witness[at / 64] >> (at % 64) & 1) << bit;
    values.push_back(value);
  }
  auto const [given, wanted] = q.on_numbers(values);
  if (!given || wanted)
    throw Disagreement{"the GF(2) witness for '" + q.name + "' is no counterexample on plain numbers"};
  return refutation(q, values);
}

Question hypothesis_of(Question const& q) {
  Question h = q;
  h.name = q.name + ": hypothesis";
  h.on_numbers = [f = q.on_numbers](auto values) { return Implication<bool>{f(values).hypothesis, false}; };
  h.on_terms = [f = q.on_terms](auto values) { return Implication<Formula>{f(values).hypothesis, false}; };
  h.on_affine = [f = q.on_affine](auto values) {
    return Implication<AffineTruth>{f(values).hypothesis, false};
  };
  return h;
}

}  // namespace swizproof
