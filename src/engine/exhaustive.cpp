// Enumeration: all values, or the smallest of them.
#include "engine/engines.hpp"
#include "system/cpu_time.hpp"

#include <algorithm>

namespace swizproof::engine {

namespace {

/// Position of an enumeration.
struct Enumeration {
  std::optional<Candidate> failed{};
  bool complete = true;
};

/// Tries the first `counts[i]` values of variable i, the last fastest, up to the first counterexample or for so many CPU seconds.
Enumeration enumerate(Question const& q, std::span<std::uint64_t const> counts, double seconds) {
  constexpr std::uint64_t between_looks = 1024;  // at the clock
  ThreadClock const clock;
  std::vector<std::uint64_t> numbers(q.variables.size(), 0);
  for (std::uint64_t tried = 1;; ++tried) {
    auto const [hypothesis, conclusion] = q.on_numbers(numbers);
    if (hypothesis && !conclusion) return {Candidate{0, numbers}};
    std::size_t i = numbers.size();
    while (i > 0 && ++numbers[i - 1] == counts[i - 1]) numbers[--i] = 0;
    if (i == 0) return {};
    if (tried % between_looks == 0 && clock.seconds() > seconds) return {{}, false};
  }
}

/// Values of a variable, at most 2^bits.
std::uint64_t count_of(Variable const& v, unsigned bits) {
  std::uint64_t const most = std::uint64_t{1} << std::min(bits, v.bits);
  return v.count == 0 ? most : std::min(v.count, most);
}

}  // namespace

std::optional<Finding> exhaustive(Question const& q, unsigned bits, double seconds) {
  std::vector<std::uint64_t> counts;
  std::uint64_t all = 1;
  for (Variable const& v : q.variables) {
    if (v.bits > bits + 1) return std::nullopt;
    counts.push_back(count_of(v, v.bits));
    if (counts.back() > (std::uint64_t{1} << bits) / all) return std::nullopt;
    all *= counts.back();
  }
  Enumeration found = enumerate(q, counts, seconds);
  if (found.failed) return std::vector{*std::move(found.failed)};
  if (!found.complete) return Unknown{"time-out"};
  return Proved{};
}

std::optional<Candidate> search(Question const& q, unsigned budget) {
  auto const share = budget / static_cast<unsigned>(std::max<std::size_t>(q.variables.size(), 1));
  std::vector<std::uint64_t> counts;
  for (Variable const& v : q.variables) counts.push_back(count_of(v, share));
  return enumerate(q, counts, 1e9).failed;
}

}  // namespace swizproof::engine
