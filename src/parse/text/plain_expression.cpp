// Regular expressions where there is no RE2: in a browser. Those that are plain text are found, the others refused.
#include "parse/text/regular_expression.hpp"

#include <cctype>
#include <utility>

namespace swizproof {

struct Pattern::Expression {
  std::string text{};
  bool from_start = false, to_end = false;
};

Pattern::Pattern(std::string const& text, std::string const& what) {
  Expression plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    bool const escape =
        c == '\\' && i + 1 < text.size() && std::ispunct(static_cast<unsigned char>(text[i + 1])) != 0;
    if (escape)
      plain.text += text[++i];
    else if (c == '^' && i == 0)
      plain.from_start = true;
    else if (c == '$' && i + 1 == text.size())
      plain.to_end = true;
    else if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos)
      throw InputError{
          what + " is more than plain text, which is what this page finds", text, i, 1,
          "write \\ before punctuation of a name; the installed program takes regular expressions"};
    else
      plain.text += c;
  }
  expression_ = std::make_shared<Expression const>(std::move(plain));
}

bool Pattern::found_in(std::string_view text) const {
  Expression const& e = *expression_;
  if (e.from_start && e.to_end) return text == e.text;
  if (e.from_start) return text.starts_with(e.text);
  return e.to_end ? text.ends_with(e.text) : text.find(e.text) != text.npos;
}

}  // namespace swizproof
