#include "characters.hpp"

#include <swizproof/core/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace swizproof::ptx {

namespace {

/// Kinds of characters, in every locale.
struct Kinds {
  std::array<bool, 256> name{}, space{}, ends{};
  constexpr Kinds() {
    for (unsigned c = 0; c < 256; ++c) {
      name[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                c == '$' || c == '%';
      space[c] = c == ' ' || (c >= '\t' && c <= '\r');
      ends[c] = c == '{' || c == '}' || c == '"' || c == '/';
    }
  }
};
constexpr Kinds kinds;

/// True where a body may end, or a string or comment begins.
bool may_end(char c) { return kinds.ends[static_cast<unsigned char>(c)]; }

}  // namespace

bool in_name(char c) { return kinds.name[static_cast<unsigned char>(c)]; }
bool is_space(char c) { return kinds.space[static_cast<unsigned char>(c)]; }

std::string_view trimmed(std::string_view t) {
  while (!t.empty() && is_space(t.front())) t.remove_prefix(1);
  while (!t.empty() && is_space(t.back())) t.remove_suffix(1);
  return t;
}

std::optional<std::uint64_t> integer(std::string_view t) {
  bool const minus = t.starts_with('-');
  if (minus) t = trimmed(t.substr(1));
  if (t.ends_with('U')) t.remove_suffix(1);
  int base = 10;
  if (t.starts_with("0x") || t.starts_with("0X")) {
    base = 16, t.remove_prefix(2);
  } else if (t.starts_with("0b") || t.starts_with("0B")) {
    base = 2, t.remove_prefix(2);
  } else if (t.size() > 1 && t[0] == '0') {
    base = 8, t.remove_prefix(1);
  }
  std::uint64_t n = 0;
  auto const [stop, error] = std::from_chars(t.data(), t.data() + t.size(), n, base);
  if (t.empty() || error != std::errc{} || stop != t.data() + t.size()) return std::nullopt;
  return minus ? 0 - n : n;
}

[[noreturn]] void Characters::fail(std::string const& what, std::size_t where,
                                   std::string const& hint) const {
  std::size_t const from = where == 0 ? 0 : text_.rfind('\n', std::min(where, text_.size()) - 1) + 1;
  std::size_t const end = std::min(text_.find('\n', from), text_.size());
  auto const line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(from), '\n');
  std::string shown(text_.substr(from, std::min<std::size_t>(end - from, 160)));
  throw InputError{name_ + ":" + std::to_string(line) + ": " + what, shown,
                   std::min(where - from, shown.size()), 1, hint};
}

std::uint32_t Characters::line_of(std::size_t where) {
  if (where <= counted_) return line_;
  std::string_view const between = view().substr(counted_, where - counted_);
  line_ += static_cast<std::uint32_t>(std::count(between.begin(), between.end(), '\n'));
  counted_ = where;
  return line_;
}

void Characters::skip() {
  while (at < text_.size()) {
    char const c = text_[at];
    if (is_space(c)) {
      ++at;
    } else if (c == '/' && at + 1 < text_.size() && text_[at + 1] == '/') {
      at = std::min(text_.find('\n', at), text_.size());
    } else if (c == '/' && at + 1 < text_.size() && text_[at + 1] == '*') {
      std::size_t const end = text_.find("*/", at + 2);
      if (end == text_.npos) fail("the comment does not end", at);
      at = end + 2;
    } else {
      return;
    }
  }
}

char Characters::peek() {
  skip();
  return at < text_.size() ? text_[at] : '\0';
}

bool Characters::accept(char c) {
  if (peek() != c) return false;
  ++at;
  return true;
}

void Characters::expect(char c) {
  if (accept(c)) return;
  if (at >= text_.size())
    fail(std::string("the file ends where '") + c + "' is expected", at, "is it truncated?");
  fail(std::string("expected '") + c + "'", at);
}

std::string_view Characters::word() {
  skip();
  std::size_t const from = at;
  while (at < text_.size() && (in_name(text_[at]) || text_[at] == '.')) ++at;
  if (from == at) {
    if (at >= text_.size()) fail("the file ends within a statement", at, "is it truncated?");
    fail("expected a name", at);
  }
  return view().substr(from, at - from);
}

std::string_view Characters::rest_of_statement() {
  skip();
  std::size_t const from = at;
  int depth = 0;
  for (; at < text_.size(); ++at) {
    char const c = text_[at];
    if (c == '"') {
      at = text_.find('"', at + 1);
      if (at == text_.npos) at = text_.size(), fail("the string does not end", from);
    } else if (c == '/' && at + 1 < text_.size() && (text_[at + 1] == '/' || text_[at + 1] == '*')) {
      skip(), --at;
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      if (--depth < 0) fail("expected ';'", at);
    } else if (c == ';' && depth == 0) {
      return view().substr(from, at++ - from);
    }
  }
  fail("the file ends within a statement", from, "is it truncated?");
}

void Characters::skip_braces() {
  expect('{');
  int depth = 1;
  std::size_t const from = at;
  while (depth > 0) {
    if (at >= text_.size()) fail("the section does not end", from, "is the file truncated?");
    depth += text_[at] == '{' ? 1 : text_[at] == '}' ? -1 : 0;
    ++at;
  }
}

std::uint64_t Characters::number() {
  std::string_view w = word();
  std::optional<std::uint64_t> const n = integer(w);
  if (!n) fail("expected a number", at - w.size());
  return *n;
}

void Characters::skip_initializer() {
  if (peek() == '{') return skip_braces();
  while (at < text_.size() && text_[at] != ',' && text_[at] != ';') ++at;
}

void Characters::skip_body(std::string const& function) {
  std::size_t depth = 0;
  do {
    while (at < text_.size() && !may_end(text_[at])) ++at;
    if (at >= text_.size()) fail("the function " + function + " does not end", at, "is the file truncated?");
    char const c = text_[at];
    if (c == '/') {
      std::size_t const from = at;
      skip();
      if (at != from) continue;
    }
    if (c == '"') at = std::min(text_.find('"', at + 1), text_.size() - 1);
    depth += c == '{' ? 1U : 0U, depth -= c == '}' ? 1U : 0U;
    ++at;
  } while (depth > 0);
}

[[noreturn]] void Characters::fail_at_line(std::string const& what, std::uint32_t line) const {
  std::size_t where = 0;
  for (std::uint32_t n = 1; n < line; ++n) where = text_.find('\n', where) + 1;
  while (where < text_.size() && is_space(text_[where])) ++where;
  fail(what, where);
}

std::string_view Characters::directive() {
  std::string_view const w = word();
  std::size_t const next = w.find('.', 1);
  if (next == w.npos) return w;
  at -= w.size() - next;
  return w.substr(0, next);
}

std::string_view Characters::opcode() {
  skip();
  std::size_t const from = at;
  for (; at < text_.size(); ++at) {
    char const c = text_[at];
    if (in_name(c) || c == '.') continue;
    if (c == ':' && at + 1 < text_.size() && text_[at + 1] == ':') {
      ++at;
      continue;
    }
    break;
  }
  if (from == at) {
    if (at >= text_.size()) fail("the file ends within a function", at, "is it truncated?");
    fail("expected an instruction", at);
  }
  return view().substr(from, at - from);
}

[[noreturn]] void Characters::fail_in(std::string_view part, std::size_t where, std::string const& what,
                                      std::string const& hint) const {
  bool const within = part.data() >= text_.data() && part.data() < text_.data() + text_.size();
  fail(what, within ? static_cast<std::size_t>(part.data() - text_.data()) + where : at - 1, hint);
}

std::string_view Characters::rest_of_line() {
  std::size_t const from = at;
  at = std::min(text_.find('\n', at), text_.size());
  return view().substr(from, at - from);
}

std::string_view Characters::quoted() {
  std::size_t const end = text_.find('"', at);
  if (end == text_.npos) fail("the string does not end", at);
  std::size_t const from = std::exchange(at, end + 1);
  return view().substr(from, end - from);
}

bool Characters::accept_word(std::string_view word) {
  if (!view().substr(at).starts_with(word)) return false;
  at += word.size();
  return true;
}

}  // namespace swizproof::ptx
