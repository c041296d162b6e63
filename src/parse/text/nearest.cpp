#include "parse/text/nearest.hpp"

#include <algorithm>
#include <vector>

namespace swizproof {

namespace {

constexpr std::size_t shortest_word = 3;  ///< length of the shortest word with a typing error
constexpr std::size_t longest_word = 64;  ///< length of the longest one; longer text is something else

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Twice how many letters must change, appear, go or change places with the next for one word to become the other; 1 for a
/// letter of the other case.
std::size_t halves_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(last);
    last = row;
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      char const x = a[i - 1], y = b[j - 1];
      std::size_t const change = x == y ? 0 : small(x) == small(y) ? 1 : 2;
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + change});
      if (i > 1 && j > 1 && x == b[j - 2] && y == a[i - 2]) row[j] = std::min(row[j], before[j - 2] + 2);
    }
  }
  return row[b.size()];
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), small);
  return out;
}

}  // namespace

std::string nearest(std::string_view word, std::span<std::string const> known) {
  std::string best;
  if (word.size() < shortest_word || word.size() > longest_word) return best;
  std::size_t least = 2 * std::min<std::size_t>(word.size() / 3, 4) + 1;
  for (std::string const& name : known) {
    std::size_t const apart = lower(word) == lower(name) ? 1 : halves_apart(word, name);
    if (apart < least) least = apart, best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<std::string const> known, std::string otherwise) {
  std::string const near = nearest(word, known);
  return near.empty() || near == word ? otherwise : "did you mean " + near + "?";
}

std::string did_you_mean_of(std::string_view word, std::span<std::string const> known,
                            std::string const& all) {
  std::string const question = did_you_mean(word, known);
  return question + (question.empty() ? "" : " ") + all;
}

}  // namespace swizproof
