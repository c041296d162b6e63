// Characters that word processors and web pages put in place of those that a language has.
#pragma once

#include <array>
#include <string_view>

namespace swizproof {

/// A character of several bytes, and the one that is meant.
struct Typographic {
  std::string_view character{};
  std::string_view meant{};
};

inline constexpr std::array<Typographic, 22> typographic_characters{{
    {"\u00a0", " "}, {"\u3000", " "}, {"\u2009", " "}, {"\u00d7", "*"}, {"\u2217", "*"}, {"\uff0a", "*"},
    {"\uff08", "("}, {"\uff09", ")"}, {"\uff1a", ":"}, {"\uff0c", ","}, {"\u3001", ","}, {"\uff1c", "<"},
    {"\uff1e", ">"}, {"\u2018", "'"}, {"\u2019", "'"}, {"\u201c", "'"}, {"\u201d", "'"}, {"\u2212", "-"},
    {"\u2013", "-"}, {"\u2014", "-"}, {"\u2295", "^"}, {"\u2218", "o"},
}};

/// The one that the text begins with, or null.
[[nodiscard]] constexpr Typographic const* typographic_at(std::string_view text) {
  for (Typographic const& t : typographic_characters)
    if (text.substr(0, t.character.size()) == t.character) return &t;
  return nullptr;
}

}  // namespace swizproof
