#include "analysis/distinct.hpp"

#include <algorithm>
#include <bit>

namespace swizproof {

namespace {

constexpr std::uint64_t word_bits = 64;
constexpr std::uint64_t widest = 256;  ///< range of a field of bits, in bits for each number

bool less(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
}

}  // namespace

std::vector<std::uint64_t> distinct(std::vector<std::uint64_t> numbers) {
  if (numbers.empty()) return numbers;
  auto const [low, high] = std::minmax_element(numbers.begin(), numbers.end(), less);
  std::uint64_t const first = *low, range = *high - first;
  if (range / widest >= numbers.size()) {
    std::sort(numbers.begin(), numbers.end(), less);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }
  std::vector<std::uint64_t> field(range / word_bits + 1, 0);
  for (std::uint64_t const x : numbers)
    field[(x - first) / word_bits] |= std::uint64_t{1} << ((x - first) % word_bits);
  numbers.clear();
  for (std::uint64_t w = 0; w < field.size(); ++w)
    for (std::uint64_t bits = field[w]; bits != 0; bits &= bits - 1)
      numbers.push_back(first + w * word_bits + static_cast<std::uint64_t>(std::countr_zero(bits)));
  return numbers;
}

}  // namespace swizproof
