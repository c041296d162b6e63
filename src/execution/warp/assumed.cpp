#include "assumed.hpp"

namespace swizproof::execution {

void Assumed::give_slot(Id atom) {
  if (slot_of(atom) != 0) return;
  if (atom >= slots_.size()) slots_.resize(execution_.terms.nodes().size());
  slots_[atom] = static_cast<std::uint8_t>(slots_given_++ % (Asked::slots - 1) + 1);
  changed_[0] = now_;  // what asked about it shared the slot of the others
}

bool Assumed::ask(Id atom) {
  unsigned const slot = slot_of(atom);
  asked_.add(slot);
  return assumed_at_.has(slot);
}

Assumption const* Assumed::of(Id atom) {
  if (!ask(atom)) return nullptr;
  auto const found = words_.find(atom);
  return found == words_.end() ? nullptr : &found->second;
}

std::optional<bool> Assumed::truth_of(Id atom) {
  if (!ask(atom)) return std::nullopt;
  auto const found = truths_.find(atom);
  return found == truths_.end() ? std::nullopt : std::optional(found->second);
}

void Assumed::assume(std::vector<Assumption> const& assumptions) {
  auto const before = std::exchange(words_, {});
  auto const truths_before = std::exchange(truths_, {});
  assumed_at_ = {};
  ++now_;
  for (Assumption const& a : assumptions) {
    give_slot(a.atom);
    if (a.truth)
      truths_[a.atom] = a.value != 0;
    else
      words_[a.atom] = a;
    assumed_at_.add(slot_of(a.atom));
  }
  auto const change = [this](auto const& one, auto const& other) {
    for (auto const& [atom, what] : one)
      if (auto const found = other.find(atom); found == other.end() || !(found->second == what))
        changed_[slot_of(atom)] = now_;
  };
  change(before, words_), change(words_, before);
  change(truths_before, truths_), change(truths_, truths_before);
}

}  // namespace swizproof::execution
