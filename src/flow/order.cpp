#include "order.hpp"

#include <algorithm>

namespace swizproof::flow_detail {

void raise(std::vector<std::uint32_t>& to, std::vector<std::uint32_t> const& from) {
  for (std::size_t u = 0; u < from.size(); ++u) to[u] = std::max(to[u], from[u]);
}

namespace {

/// The largest of each clock, each vector once.
Clocks::Vector merged_vectors(std::vector<Clocks::Vector const*> vectors, std::size_t size,
                              std::vector<Clocks::Arrival> const& arrivals, bool memory) {
  std::sort(vectors.begin(), vectors.end(), [](auto const* a, auto const* b) { return a->get() < b->get(); });
  vectors.erase(std::unique(vectors.begin(), vectors.end(),
                            [](auto const* a, auto const* b) { return a->get() == b->get(); }),
                vectors.end());
  auto out = std::make_shared<std::vector<std::uint32_t>>(size, 0);
  for (Clocks::Vector const* const one : vectors) raise(*out, **one);
  for (Clocks::Arrival const& a : arrivals)
    if (!memory || !a.relaxed) (*out)[a.thread] = std::max((*out)[a.thread], a.own);
  return out;
}

}  // namespace

Clocks::Clocks(unsigned threads) : own_(threads, 1) {
  auto const nothing = std::make_shared<std::vector<std::uint32_t> const>(threads, 0);
  seen_.assign(threads, Moments{nothing, nothing});
}

Clocks::Arrival Clocks::arrive(unsigned thread, bool relaxed) {
  Arrival out{seen_[thread], thread, own_[thread], relaxed};
  if (relaxed) out.seen.memory = nullptr;
  tick(thread);
  return out;
}

Clocks::Moments Clocks::merged(std::vector<Arrival> const& arrivals) const {
  std::vector<Vector const*> memory, execution;
  bool same = true;
  for (Arrival const& a : arrivals) {
    execution.push_back(&a.seen.execution);
    if (!a.relaxed) memory.push_back(&a.seen.memory);
    same = same && a.seen.memory == a.seen.execution;
  }
  Moments out;
  out.execution = merged_vectors(std::move(execution), size(), arrivals, false);
  out.memory = same ? out.execution : merged_vectors(std::move(memory), size(), arrivals, true);
  return out;
}

Clocks::Vector Clocks::joined(Vector const& a, Vector const& b) {
  if (a == b) return a;
  if (a == last_a_ && b == last_b_) return last_joined_;
  auto out = std::make_shared<std::vector<std::uint32_t>>(*a);
  raise(*out, *b);
  last_a_ = a, last_b_ = b, last_joined_ = *out == *a ? a : *out == *b ? b : Vector(std::move(out));
  return last_joined_;
}

void Clocks::take(Moments const& moments, unsigned thread, bool relaxed) {
  Moments& seen = seen_[thread];
  bool const one = seen.memory == seen.execution && moments.memory == moments.execution && !relaxed;
  seen.execution = joined(seen.execution, moments.execution);
  if (!relaxed) seen.memory = one ? seen.execution : joined(seen.memory, moments.memory);
}

void Clocks::meet(std::vector<unsigned> const& members, bool relaxed) {
  std::vector<Arrival> arrivals;
  for (unsigned const t : members) arrivals.push_back(arrive(t, relaxed));
  Moments const all = merged(arrivals);
  for (unsigned const t : members) take(all, t, relaxed);
}

}  // namespace swizproof::flow_detail
