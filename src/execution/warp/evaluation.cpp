#include "evaluation.hpp"

namespace swizproof::execution {

Evaluation& Evaluation::clean() {
  if (given_ != nullptr) return *given_;
  if (!own_) own_ = std::make_unique<Evaluation>(program, flow, execution, launch, number, nullptr, block);
  return *own_;
}

void Evaluation::assume(std::vector<Assumption> const& assumptions) {
  bool const free = assumed.nothing();
  if (free && assumptions.empty()) return;
  words.drop_forgotten();
  assumed.assume(assumptions);
  if (!free && !assumptions.empty()) return;
  // Without assumptions, loops and registers at their headers are decided here, else in `clean`.
  words.clear(), truths.clear(), machines.clear(), loops.clear();
}

void Evaluation::forget() {
  words.forget(), truths.clear(), machines.clear();
  loops.forget(), inductions.forget();
}

void Evaluation::release() {
  words.release(), truths.release();
  if (own_) own_->release();
}

}  // namespace swizproof::execution
