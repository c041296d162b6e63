// The characters of a file of PTX: words, brackets, statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swizproof::ptx {

[[nodiscard]] bool in_name(char c);
[[nodiscard]] bool is_space(char c);
/// `t` without blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view t);
/// An integer constant: 12, 0x1F, 017, 0b101, 12U, -3.
[[nodiscard]] std::optional<std::uint64_t> integer(std::string_view t);

/// A text and a place in it. What is not as expected is an InputError with line and place.
class Characters {
 public:
  Characters(std::string const& text, std::string const& name) : text_(text), name_(name) {}

  std::size_t at = 0;  ///< of the next character

  [[noreturn]] void fail(std::string const& what, std::size_t where, std::string const& hint = {}) const;
  [[noreturn]] void fail_at_line(std::string const& what, std::uint32_t line) const;
  /// Fails at a character of a statement; of one with comments in it, at its end.
  [[noreturn]] void fail_in(std::string_view part, std::size_t where, std::string const& what,
                            std::string const& hint) const;
  /// Line number of a place; places come in ascending order.
  std::uint32_t line_of(std::size_t where);
  [[nodiscard]] bool ended() const { return at >= text_.size(); }
  /// Goes on behind blanks and comments.
  void skip();
  /// The next character behind blanks and comments; 0 at the end.
  char peek();
  bool accept(char c);
  void expect(char c);
  /// A name, a directive or a number: letters, digits, _ $ % and dots.
  std::string_view word();
  /// The next directive: `.reg` of `.reg.b16`.
  std::string_view directive();
  /// `ld.shared::cta.v4.u32`: a word that may have pairs of colons in it.
  std::string_view opcode();
  std::uint64_t number();
  [[nodiscard]] std::string_view rest_of_line();
  /// Everything up to the `;` that ends a statement, braces and strings balanced.
  std::string_view rest_of_statement();
  /// A text in double quotes, which begins here.
  std::string_view quoted();
  /// True, and goes on behind it, if this word is next.
  bool accept_word(std::string_view word);
  void skip_braces();
  /// Up to behind the brace that ends a function's body; those in comments and strings are none.
  void skip_body(std::string const& function);
  /// Up to the comma or semicolon behind an initial value.
  void skip_initializer();

 private:
  [[nodiscard]] std::string_view view() const { return text_; }
  std::string const& text_;
  std::string const& name_;
  std::size_t counted_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace swizproof::ptx
