#include <swizproof/engine/question.hpp>

namespace swizproof {

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
