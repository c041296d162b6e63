// Linear algebra over GF(2), on statements whose words are affine in the bits of their variables.
#include "engine/engines.hpp"

namespace swizproof::engine {

std::optional<Finding> linear(Question const& q) {
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
  Candidate failed;
  unsigned at = 0;
  for (Variable const& v : q.variables) {
    std::uint64_t number = 0;
    for (unsigned bit = 0; bit < v.bits; ++bit, ++at)
      number |= (decision->witness[at / 64] >> (at % 64) & 1) << bit;
    failed.numbers.push_back(number);
  }
  return std::vector{std::move(failed)};
}

}  // namespace swizproof::engine
