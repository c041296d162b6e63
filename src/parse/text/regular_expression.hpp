// Regular expressions that users write.
#pragma once

#include <swizproof/core/error.hpp>

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

namespace swizproof {

/// A regular expression in RE2's syntax: matched in time linear in the text, within a bounded memory, for every
/// expression and the text are. The text may hold any bytes; one that is no UTF-8 is matched by no `.`.
class Pattern {
 public:
  /// `what` is its name in messages. Throws InputError for what is none, what is not UTF-8, and what is longer than
  /// 8,000 characters (names of CUTLASS have 4,000) or would need more than 8 MiB (`((a{99}){99}){99}`). Checked by tests/unit/parse/obligation_test.cpp.
  Pattern(std::string const& text, std::string const& what) {
    auto const refuse = [&](std::string const& why, std::size_t from, std::size_t count) {
      throw InputError{what + " is not a regular expression: " + why, text, from, count, {}};
    };
    if (text.size() > longest) refuse("it is longer than 8000 characters", longest, text.size() - longest);
    RE2::Options options(RE2::Quiet);
    expression_ = std::make_unique<RE2 const>(text, options);
    if (expression_->ok()) return;
    std::string const& part = expression_->error_arg();
    std::size_t const at = part.empty() ? text.npos : text.find(part);
    refuse(expression_->error(), at == text.npos ? 0 : at, at == text.npos ? text.size() : part.size());
  }

  /// True if some part of `text` matches; `^` and `$` are its ends. An empty expression is found in every text.
  [[nodiscard]] bool found_in(std::string_view text) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
  }

 private:
  static constexpr std::size_t longest = 8000;
  std::unique_ptr<RE2 const> expression_;
};

}  // namespace swizproof
