#include "parse/text/regular_expression.hpp"

#include <re2/re2.h>

namespace swizproof {

struct Pattern::Expression {
  RE2 re2;
};

Pattern::Pattern(std::string const& text, std::string const& what) {
  constexpr std::size_t longest = 8000;
  auto const refuse = [&](std::string const& why, std::size_t from, std::size_t count) {
    throw InputError{what + " is not a regular expression: " + why, text, from, count, {}};
  };
  if (text.size() > longest) refuse("it is longer than 8000 characters", longest, text.size() - longest);
  expression_.reset(new Expression{{text, RE2::Options(RE2::Quiet)}});
  RE2 const& re2 = expression_->re2;
  if (re2.ok()) return;
  std::string const& part = re2.error_arg();
  std::size_t const at = part.empty() ? text.npos : text.find(part);
  refuse(re2.error(), at == text.npos ? 0 : at, at == text.npos ? text.size() : part.size());
}

bool Pattern::found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression_->re2);
}

}  // namespace swizproof
