// A text and a place in it: what every parser of this folder reads from.
#pragma once

#include "parse/text/typographic.hpp"

#include <swizproof/parse/parse.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace swizproof {

constexpr int deepest_nesting = 200;
constexpr std::size_t longest_text = 1 << 20;
constexpr std::size_t most_operations = 1000;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/// A text and a place in it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text.size() > longest_text)
      throw InputError{"the text is longer than 1 MiB", std::string(text.substr(0, 60)), 0, 1, {}};
  }

  /// All of the text.
  [[nodiscard]] std::string_view text() const { return text_; }
  [[noreturn]] void fail(std::string message, std::size_t at, std::size_t length = 1,
                         std::string hint = {}) const {
    if (Typographic const* const t = typographic_at(text_.substr(std::min(at, text_.size()))))
      throw InputError{"the character '" + std::string(t->character) + "' is none of this language",
                       std::string(text_), at, t->character.size(),
                       t->meant == " " ? "write a blank" : "write " + std::string(t->meant)};
    throw InputError{std::move(message), std::string(text_), at, std::max<std::size_t>(length, 1),
                     std::move(hint)};
  }
  [[noreturn]] void fail_here(std::string message, std::string hint = {}) {
    skip_space();
    fail(std::move(message), at_, word_length(), std::move(hint));
  }
  /// Passes blanks and comments: `/* */`, `//` and, with a blank behind it, Python's `#` to the end of the line.
  void skip_space() {
    while (at_ < text_.size())
      if (is_space(text_[at_]))
        ++at_;
      else if (!skip_comment())
        return;
  }
  [[nodiscard]] std::size_t at() {
    skip_space();
    return at_;
  }
  /// Behind the last token, before any space.
  [[nodiscard]] std::size_t at_end_of_token() const { return at_; }
  void back_to(std::size_t at) { at_ = at; }
  [[nodiscard]] bool done() { return at() == text_.size(); }
  [[nodiscard]] char peek() { return done() ? '\0' : text_[at_]; }
  [[nodiscard]] bool looking_at(std::string_view token) { return text_.substr(at()).starts_with(token); }
  /// Passes `token` if it comes next.
  [[nodiscard]] bool take(std::string_view token) {
    if (!looking_at(token)) return false;
    at_ += token.size();
    return true;
  }
  /// Passes ',' before another item of a list. Python's ',' before `closing` is passed too, and ends it.
  [[nodiscard]] bool take_comma(char closing) { return take(",") && !(closing == ')' && peek() == ')'); }
  void expect(std::string_view token, std::string_view where) {
    if (!take(token)) fail_here("expected '" + std::string(token) + "' " + std::string(where));
  }
  /// At the o that joins two functions.
  [[nodiscard]] bool looking_at_joint() {
    return looking_at("o") && (at_ + 1 == text_.size() || is_space(text_[at_ + 1]));
  }
  /// Passes the o that joins two functions.
  [[nodiscard]] bool take_joint() {
    bool const found = looking_at_joint();
    at_ += found ? 1 : 0;
    return found;
  }
  /// Passes a name: letters, digits and _.
  [[nodiscard]] std::string_view take_name() {
    std::size_t const from = at();
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  /// At this name, and not at a longer one.
  [[nodiscard]] bool looking_at_name(std::string_view name) {
    return looking_at(name) && peek_name() == name;
  }
  [[nodiscard]] bool take_word(std::string_view name) { return looking_at_name(name) && take(name); }
  /// Passes the namespaces and modules of CuTe before a name: `cute::`, `cute.`, `cutlass::`, `SM90::`, and `typename`.
  void skip_namespaces() {
    static constexpr std::string_view spaces[] = {"cutlass", "cute",  "std",       "SM90",    "SM100",
                                                  "nvgpu",   "utils", "warpgroup", "tcgen05", "typename"};
    (void)take("::");
    for (bool again = true; again;) {
      std::size_t const from = at();
      std::string_view const name = take_name();
      again = std::find(std::begin(spaces), std::end(spaces), name) != std::end(spaces) &&
              (take("::") || take(".") || (name == "typename" && at_letter()));
      if (!again) back_to(from);
    }
  }
  /// Passes what makes a value of a type: `{}` or `()`.
  void skip_braces() {
    std::size_t const from = at();
    bool const empty = (take("{") && take("}"));
    if (empty) return;
    back_to(from);
    if (!(take("(") && take(")"))) back_to(from);
  }
  /// Passes a type's name as C++ and Python write it: `cutlass::half_t`, `unsigned char`, `torch.float16`.
  [[nodiscard]] std::string_view take_type_name() {
    std::size_t const from = at();
    while (at_ < text_.size() &&
           (is_name(text_[at_]) || std::string_view(": .").find(text_[at_]) != std::string_view::npos))
      ++at_;
    return trimmed(from, at_);
  }
  [[nodiscard]] bool at_number() {
    std::size_t const from = at();
    std::size_t const sign = from < text_.size() && text_[from] == '-' ? 1 : 0;
    return from + sign < text_.size() && is_digit(text_[from + sign]);
  }
  [[nodiscard]] bool at_letter() {
    char const c = peek();
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  /// The name that comes next, which is not passed.
  [[nodiscard]] std::string_view peek_name() {
    std::size_t const from = at();
    std::string_view const name = take_name();
    back_to(from);
    return name;
  }
  /// True if a line break stands between the last token and the next.
  [[nodiscard]] bool at_new_line() {
    std::size_t from = at();
    while (from > 0 && is_space(text_[from - 1])) --from;
    return text_.substr(from, at_ - from).find('\n') != text_.npos;
  }
  /// Position of the next `c`, or the end of the text.
  [[nodiscard]] std::size_t find(char c) const { return std::min(text_.find(c, at_), text_.size()); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t text_size() const { return text_.size(); }
  /// The text without what surrounds it.
  [[nodiscard]] std::string_view trimmed(std::size_t from, std::size_t to) const {
    while (to > from && is_space(text_[to - 1])) --to;
    while (from < to && is_space(text_[from])) ++from;
    return text_.substr(from, to - from);
  }
  /// At a `_` that no number follows.
  [[nodiscard]] bool looking_at_underscore() {
    std::size_t const from = at();
    return peek() == '_' &&
           (from + 1 == text_.size() || !(is_name(text_[from + 1]) || text_[from + 1] == '-'));
  }
  /// At `0:`, the coordinate of a stride as CuTe 3.0 printed it.
  [[nodiscard]] bool looking_at_old_basis() {
    std::size_t end = at();
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end != at_ && end < text_.size() && text_[end] == ':';
  }
  /// An integer of at most 63 bits: a C literal with an optional sign and C's suffixes. `010` is 8.
  [[nodiscard]] std::int64_t take_integer(std::string_view what) {
    std::size_t const from = at();
    if (!at_number()) fail_here("expected " + std::string(what));
    bool const negative = take("-");
    std::uint64_t const most = std::uint64_t{1} << 63, value = take_digits(from, 63);
    if (value > most || (value == most && !negative))
      fail("this number needs more than 63 bits", from, at_ - from);
    std::size_t suffix = at_;
    while (suffix < text_.size() && std::string_view("uUlL").find(text_[suffix]) != std::string_view::npos)
      ++suffix;
    if (suffix == text_.size() || !is_name(text_[suffix])) at_ = suffix;  // 8u, 64ul
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }
  /// A C literal: decimal, 0x hexadecimal, 0b binary or 0 octal, with ' between digits and u, l suffixes.
  [[nodiscard]] std::uint64_t take_literal() {
    std::size_t const from = at();
    std::uint64_t const value = take_digits(from, 64);
    std::size_t const digits_end = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    static constexpr std::string_view suffixes[] = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"};
    std::string suffix(text_.substr(digits_end, at_ - digits_end));
    for (char& c : suffix) c = c == 'U' ? 'u' : c == 'L' ? 'l' : c;
    if (std::find(std::begin(suffixes), std::end(suffixes), suffix) == std::end(suffixes))
      fail("this is not a number", from, at_ - from);
    return value;
  }
  [[nodiscard]] std::string_view text(std::size_t from, std::size_t to) const {
    return text_.substr(from, to - from);
  }

 private:
  /// Passes the comment that begins here, if one does.
  bool skip_comment() {
    std::string_view const here = rest();
    if (here.starts_with("/*")) {
      std::size_t const end = here.find("*/");
      if (end == here.npos) fail("this comment has no end", at_, 2);
      at_ += end + 2;
      return true;
    }
    if (!here.starts_with("//") && !here.starts_with("# ")) return false;
    if (here[0] == '/' && behind_operand())
      fail("// begins a comment in C++ and divides in Python", at_, 2,
           "write / for the division, or leave the comment out");
    at_ += std::min(here.find('\n'), here.size());
    return true;
  }
  /// True if an operand of Python's // may end before this place: `BLOCK // 2`, `f(x) // 2`.
  [[nodiscard]] bool behind_operand() const {
    std::size_t from = at_;
    while (from > 0 && (text_[from - 1] == ' ' || text_[from - 1] == '\t')) --from;
    return from > 0 && (is_name(text_[from - 1]) || text_[from - 1] == ')');
  }
  /// The digits of a C literal that began at `from`: decimal, 0x, 0b, or octal behind a 0. `1'024` is 1024.
  std::uint64_t take_digits(std::size_t from, int bits) {
    auto const next_is = [&](std::size_t i, std::string_view set) {
      return at_ + i < text_.size() && set.find(text_[at_ + i]) != set.npos;
    };
    static constexpr std::string_view digits = "0123456789abcdefABCDEF";
    unsigned base = 10;
    if (next_is(0, "0") && next_is(1, "xX"))
      base = 16, at_ += 2;
    else if (next_is(0, "0") && next_is(1, "bB") && next_is(2, "01"))
      base = 2, at_ += 2;
    else if (next_is(0, "0") && (next_is(1, "0123456789") || (next_is(1, "'") && next_is(2, "0123456789"))))
      base = 8;
    std::string_view const known = base == 16 ? digits : digits.substr(0, base);
    std::uint64_t value = 0;
    bool too_large = false;
    if (!next_is(0, known)) fail("expected digits", at_);
    for (; next_is(0, known) || (next_is(0, "'") && next_is(1, known)); ++at_) {
      std::size_t const digit = digits.find(text_[at_]);
      if (digit == digits.npos) continue;  // '
      too_large = too_large || __builtin_mul_overflow(value, std::uint64_t{base}, &value) ||
                  __builtin_add_overflow(value, digit < 16 ? digit : digit - 6, &value);
    }
    if (base == 8 && next_is(0, "89"))
      fail("a number that begins with 0 is octal, as in C, and has no digit 8 or 9", from, at_ + 1 - from);
    if (too_large) fail("this number needs more than " + std::to_string(bits) + " bits", from, at_ - from);
    return value;
  }
  [[nodiscard]] std::size_t word_length() const {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    return end - at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Counts nesting; deeper than any real text is refused before the stack is at risk.
class Nesting {
 public:
  Nesting(Scanner& in, int& depth) : depth_(depth) {
    if (++depth_ > deepest_nesting) in.fail_here("nested more than 200 deep");
  }
  Nesting(Nesting const&) = delete;
  Nesting& operator=(Nesting const&) = delete;
  ~Nesting() { --depth_; }

 private:
  int& depth_;
};

}  // namespace swizproof
