#include "smallest.hpp"

#include <swizproof/program/program.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace swizproof::execution {

namespace {

constexpr std::uint64_t all_tried = 16;  ///< numbers up to this one are all tried

/// The place of a number in the order in which they are tried.
std::uint64_t rank(ReadNumber const& n) {
  if (n.block || n.bits != 64 || n.value > least_number(64)) return n.value;
  return n.value == least_number(64) ? 0 : n.value + 1;
}

std::uint64_t sum_of_ranks(std::vector<ReadNumber> const& numbers) {
  std::uint64_t sum = 0;
  for (ReadNumber const& n : numbers)
    sum += std::min(rank(n), std::numeric_limits<std::uint64_t>::max() - sum);
  return sum;
}

/// The numbers below another one that are tried one after the other.
std::vector<std::uint64_t> candidates(ReadNumber const& n) {
  std::vector<std::uint64_t> out;
  if (!n.block) out.push_back(least_number(n.bits));
  for (std::uint64_t c = 0; c < all_tried; ++c) out.push_back(c);
  for (std::uint64_t c = all_tried; c != 0; c *= 2) out.push_back(c);
  std::erase_if(out, [&](std::uint64_t c) {
    ReadNumber other = n;
    other.value = c;
    return rank(other) >= rank(n);
  });
  return out;
}

/// False for a block number that its grid does not have.
bool is_a_grid(std::vector<ReadNumber> const& numbers) {
  constexpr auto first = static_cast<std::uint32_t>(Special::ctaid_x),
                 blocks = static_cast<std::uint32_t>(Special::nctaid_x);
  return std::all_of(numbers.begin(), numbers.end(), [&](ReadNumber const& grid) {
    if (!grid.block || grid.symbol < blocks) return true;
    auto const at = std::find_if(numbers.begin(), numbers.end(), [&](ReadNumber const& n) {
      return n.block && n.symbol == grid.symbol - blocks + first;
    });
    return grid.value > (at == numbers.end() ? 0 : at->value);
  });
}

class Lowering {
 public:
  Lowering(Numbers from, unsigned attempts, Attempt const& attempt)
      : best_(std::move(from)), left_(attempts), attempt_(attempt) {}

  Numbers run(std::vector<Numbers> const& known) {
    if (!shows(with({}))) (void)shows(with({best_.warp, {}}));
    for (Numbers const& numbers : known) (void)shows(with(numbers));
    for (bool lowered = true; lowered && left_ != 0;) {
      lowered = false;
      for (unsigned w = 0; w < best_.warp && !lowered; ++w) lowered = shows({w, best_.read});
      auto const numbers = best_.read;
      for (ReadNumber const& n : numbers) lowered = lower_grid(n) || lower(n) || lowered;
    }
    return std::move(best_);
  }

 private:
  /// These numbers in a warp, and for others the least.
  [[nodiscard]] Numbers with(Numbers const& known) const {
    Numbers now{known.warp, best_.read};
    for (ReadNumber& n : now.read) {
      auto const at = std::find_if(known.read.begin(), known.read.end(),
                                   [&](ReadNumber const& other) { return other.is(n); });
      bool const blocks = n.block && n.symbol >= static_cast<std::uint32_t>(Special::nctaid_x);
      if (at != known.read.end())
        n.value = at->value;
      else if (!n.given)
        n.value = blocks ? 1 : n.block ? 0 : least_number(n.bits);
    }
    return now;
  }
  /// Takes an execution with these numbers if it is a smaller one.
  bool shows(Numbers const& numbers) {
    if (left_ == 0 || !is_a_grid(numbers.read)) return false;
    --left_;
    auto read = attempt_(numbers);
    if (!read) return false;
    Numbers now{numbers.warp, std::move(*read)};
    if (!(now < best_)) return false;
    best_ = std::move(now);
    return true;
  }
  bool shows_with(ReadNumber const& n, std::uint64_t value) {
    Numbers now = best_;
    for (ReadNumber& other : now.read)
      if (other.is(n)) other.value = value;
    return shows(now);
  }

  /// Lowers the number of blocks together with that of the block, if it is the last one.
  bool lower_grid(ReadNumber const& grid) {
    constexpr auto first = static_cast<std::uint32_t>(Special::ctaid_x),
                   blocks = static_cast<std::uint32_t>(Special::nctaid_x);
    if (!grid.block || grid.given || grid.symbol < blocks) return false;
    for (std::uint64_t const c : candidates(grid)) {
      Numbers now = best_;
      bool last = false;
      for (ReadNumber& n : now.read) {
        bool const its = n.block && n.symbol == grid.symbol - blocks + first;
        last = last || (its && n.value + 1 == grid.value);
        if (its && c != 0) n.value = c - 1;
        if (n.is(grid)) n.value = c;
      }
      if (!last) return false;
      if (shows(now)) return true;
    }
    return false;
  }
  /// Lowers one number as far as it can be.
  bool lower(ReadNumber const& number) {
    auto const at =
        std::find_if(best_.read.begin(), best_.read.end(), [&](ReadNumber const& n) { return n.is(number); });
    if (number.given || at == best_.read.end()) return false;
    ReadNumber const now = *at;
    std::uint64_t high = now.value, failed = 0;
    bool lowered = false;
    for (std::uint64_t const c : candidates(now)) {
      lowered = shows_with(now, c);
      if (lowered) high = c;
      if (lowered) break;
      failed = c;
    }
    if (high <= all_tried || (lowered && high == least_number(now.bits))) return lowered;
    while (failed < high - 1 && left_ != 0) {
      std::uint64_t const middle = failed + (high - failed) / 2;
      if (shows_with(now, middle))
        high = middle, lowered = true;
      else
        failed = middle;
    }
    return lowered;
  }

  Numbers best_;
  unsigned left_;
  Attempt const& attempt_;
};

}  // namespace

bool Numbers::operator<(Numbers const& other) const {
  return std::pair(warp, sum_of_ranks(read)) < std::pair(other.warp, sum_of_ranks(other.read));
}

Numbers smallest(Numbers from, std::vector<Numbers> const& known, unsigned attempts, Attempt const& attempt) {
  return Lowering(std::move(from), attempts, attempt).run(known);
}

}  // namespace swizproof::execution
