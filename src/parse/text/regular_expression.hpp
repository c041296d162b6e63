// Regular expressions that users write.
#pragma once

#include <swizproof/core/error.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace swizproof {

/// A regular expression in RE2's syntax: matched in time linear in the text, within a bounded memory, for every
/// expression and the text are. The text may hold any bytes; one that is no UTF-8 is matched by no `.`. The browser's page has no RE2: there
/// an expression is plain text, with \ before punctuation, between an optional ^ and $ (plain_expression.cpp).
class Pattern {
 public:
  /// `what` is its name in messages. Throws InputError for what is none, what is not UTF-8, and what is longer than
  /// 8,000 characters (names of CUTLASS have 4,000) or would need more than 8 MiB (`((a{99}){99}){99}`). Checked by tests/unit/parse/obligation_test.cpp.
  Pattern(std::string const& text, std::string const& what);

  /// True if some part of `text` matches; `^` and `$` are its ends. An empty expression is found in every text.
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  struct Expression;
  std::shared_ptr<Expression const> expression_;
};

}  // namespace swizproof
