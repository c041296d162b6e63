#include "command/kernel/source_launch.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace swizproof::command {

namespace {

using Shape = std::array<std::uint32_t, 3>;

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A source with blanks for its comments and literals; lines stay.
std::string code_alone(std::string_view source) {
  std::string out(source);
  auto const blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::size_t end = i;
    if (source.substr(i).starts_with("//")) {
      end = std::min(source.find('\n', i), source.size());
    } else if (source.substr(i).starts_with("/*")) {
      end = std::min(source.find("*/", i + 2), source.size() - 2) + 2;
    } else if (source[i] == '"' || (source[i] == '\'' && (i == 0 || !is_of_name(source[i - 1])))) {
      for (end = i + 1; end < source.size() && source[end] != source[i] && source[end] != '\n'; ++end)
        if (source[end] == '\\') ++end;
      ++end;
    }
    if (end == i) continue;
    blank(i, end);
    i = end - 1;
  }
  return out;
}

/// Texts between commas that no bracket holds.
std::vector<std::string_view> arguments_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    char const c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if ((c == ',' && depth == 0) || i == text.size()) {
      parts.push_back(text.substr(from, i - from));
      from = i + 1;
    }
  }
  return parts;
}

/// Definitions of names: the text of each, or nothing if there are two that differ.
class Definitions {
 public:
  Definitions(std::string_view code, std::vector<std::string> const& flags) : code_(code) {
    for (std::size_t at = 0; at < code.size(); at = next_name(code, at)) take(code, at);
    for (auto& [name, text] : texts_)
      if (is_declared_elsewhere(name) || (text.starts_with("dim3") && may_change(name))) text = "?";
    for (std::string const& flag : flags) take_flags(flag);
  }

  /// The value of an expression: one number, or a dim3.
  [[nodiscard]] std::optional<Shape> shape_of(std::string_view text, unsigned depth = 0) const {
    text = trimmed(text);
    for (std::string_view const head : {"dim3", ""})
      if (text.starts_with(head)) {
        std::string_view const rest = trimmed(text.substr(head.size()));
        bool const call = !head.empty() && rest.starts_with('(') && rest.ends_with(')');
        if (call || (rest.starts_with('{') && rest.ends_with('}')))
          return list_of(rest.substr(1, rest.size() - 2), depth);
      }
    if (auto const found = text_of(text); found && depth < 8) return shape_of(*found, depth + 1);
    auto const number = sum(text, depth);
    return number ? checked({*number, 1, 1}) : std::nullopt;
  }

 private:
  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
    return text;
  }
  static std::optional<Shape> checked(std::array<std::int64_t, 3> const& of) {
    for (std::int64_t const extent : of)
      if (extent < 1 || extent > 1024) return std::nullopt;
    if (of[0] * of[1] * of[2] > 1024) return std::nullopt;
    return Shape{static_cast<std::uint32_t>(of[0]), static_cast<std::uint32_t>(of[1]),
                 static_cast<std::uint32_t>(of[2])};
  }
  /// The first character of the next name behind the one at `at`.
  static std::size_t next_name(std::string_view code, std::size_t at) {
    while (at < code.size() && is_of_name(code[at])) ++at;
    while (at < code.size() && !is_of_name(code[at])) ++at;
    return at;
  }
  static std::string_view name_at(std::string_view code, std::size_t at) {
    std::size_t end = at;
    while (end < code.size() && is_of_name(code[end])) ++end;
    return code.substr(at, end - at);
  }

  /// `#define NAME 8`, `const int NAME = 8;`, `dim3 NAME(8, 8);`: what begins at `at`.
  void take(std::string_view code, std::size_t at) {
    std::string_view const word = name_at(code, at);
    std::size_t const name = next_name(code, at);
    if (word == "define") return add(name_at(code, name), line_behind(code, name));
    if (word != "dim3" && word != "const" && word != "constexpr") return;
    std::size_t const end = code.find(';', at);
    if (end == code.npos) return;
    std::string_view const statement = code.substr(at, end - at);
    std::size_t const equal = statement.find('=');
    if (word == "dim3" && equal == statement.npos) {
      std::size_t const at_variable = name_at(code, name) == "const" ? next_name(code, name) : name;
      std::string_view const variable = name_at(code, at_variable);
      std::size_t const behind = at_variable + variable.size();
      bool const declares = trimmed(code.substr(at + word.size(), name - at - word.size())).empty();
      if (declares && behind < end)
        add(variable, "dim3" + std::string(trimmed(code.substr(behind, end - behind))));
      return;
    }
    if (equal == statement.npos || statement.find_first_of("(){}<>") < equal) return;
    for (std::string_view const declarator : arguments_of(statement)) {
      std::size_t const is = declarator.find('=');
      if (is == declarator.npos) continue;
      std::string_view const before = trimmed(declarator.substr(0, is));
      std::size_t begin = before.size();
      while (begin > 0 && is_of_name(before[begin - 1])) --begin;
      add(before.substr(begin), std::string(declarator.substr(is + 1)));
    }
  }
  /// The rest of the line behind a name; a macro with parameters is no constant.
  static std::string line_behind(std::string_view code, std::size_t name) {
    std::size_t const from = name + name_at(code, name).size();
    std::string_view const rest = code.substr(from, std::min(code.find('\n', from), code.size()) - from);
    return rest.starts_with('(') ? std::string("?") : std::string(rest);
  }
  void add(std::string_view name, std::string text) {
    if (name.empty()) return;
    ++definitions_[std::string(name)];
    auto const [at, fresh] = texts_.emplace(name, text);
    if (!fresh && trimmed(at->second) != trimmed(text)) at->second = "?";
  }
  /// Calls f with the places of a name, until f is true; true then.
  template <class F>
  [[nodiscard]] bool any_place(std::string const& name, F const& f) const {
    for (std::size_t at = code_.find(name); at != code_.npos; at = code_.find(name, at + 1)) {
      std::size_t const end = at + name.size();
      bool const whole =
          (at == 0 || !is_of_name(code_[at - 1])) && (end == code_.size() || !is_of_name(code_[end]));
      if (whole && f(at)) return true;
    }
    return false;
  }
  /// The word before a place, `int` of `int N`; empty if there is another character.
  [[nodiscard]] std::string_view word_before(std::size_t at) const {
    std::string_view const before = trimmed(code_.substr(0, at));
    std::size_t begin = before.size();
    while (begin > 0 && is_of_name(before[begin - 1])) --begin;
    return before.substr(begin);
  }
  /// True if a name has another declaration, such as a parameter of a function or of a template.
  [[nodiscard]] bool is_declared_elsewhere(std::string const& name) const {
    std::size_t declared = 0;
    static_cast<void>(any_place(name, [&](std::size_t at) {
      std::string_view const word = word_before(at);
      bool const use = word.empty() || word == "return" || word == "ifdef" || word == "ifndef" ||
                       word == "undef" || word == "defined" || word == "if" || word == "elif" ||
                       word == "case" || word == "else" || (word[0] >= '0' && word[0] <= '9');
      declared += use ? 0 : 1;
      return false;
    }));
    return declared > definitions_.at(name);
  }
  /// True if a variable is used other than in a launch, in its declarations, and to read an extent.
  [[nodiscard]] bool may_change(std::string const& name) const {
    return any_place(name, [&](std::size_t at) {
      if (!word_before(at).empty()) return false;
      std::size_t const open = code_.rfind("<<<", at), close = code_.rfind(">>>", at);
      if (open != code_.npos && (close == code_.npos || close < open)) return false;
      std::string_view rest = trimmed(code_.substr(at + name.size()));
      if (rest.size() < 2 || rest[0] != '.') return true;
      rest = trimmed(rest.substr(2));
      return !(rest.starts_with("==") ||
               (!rest.empty() && std::string_view("),;*<>/%?:").find(rest[0]) != std::string_view::npos)) ||
             (rest.size() > 1 && rest[1] == '=' && rest[0] != '=');
    });
  }
  /// `-DNAME=8` among words.
  void take_flags(std::string_view words) {
    for (std::size_t at = words.find("-D"); at != words.npos; at = words.find("-D", at + 2)) {
      std::string_view const name = name_at(words, at + 2);
      std::size_t const behind = at + 2 + name.size();
      std::size_t const end = std::min(words.find(' ', behind), words.size());
      texts_[std::string(name)] = behind < end && words[behind] == '='
                                      ? std::string(words.substr(behind + 1, end - behind - 1))
                                      : "1";
    }
  }
  [[nodiscard]] std::optional<std::string> text_of(std::string_view name) const {
    auto const at = texts_.find(std::string(name));
    return at == texts_.end() ? std::nullopt : std::optional(at->second);
  }

  [[nodiscard]] std::optional<Shape> list_of(std::string_view text, unsigned depth) const {
    std::array<std::int64_t, 3> extents{1, 1, 1};
    auto const parts = arguments_of(text);
    if (parts.size() > 3) return std::nullopt;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto const value = sum(parts[i], depth);
      if (!value) return std::nullopt;
      extents[i] = *value;
    }
    return checked(extents);
  }
  /// The last of these operators outside of brackets and behind the first character, else npos.
  static std::size_t last_top_level(std::string_view text, std::string_view characters) {
    std::size_t found = text.npos;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(' || text[i] == '{') ++depth;
      if (text[i] == ')' || text[i] == '}') --depth;
      if (i > 0 && depth == 0 && characters.find(text[i]) != characters.npos) found = i;
    }
    return found;
  }
  [[nodiscard]] std::optional<std::int64_t> sum(std::string_view text, unsigned depth) const {
    text = trimmed(text);
    if (text.empty() || depth > 8) return std::nullopt;
    for (std::string_view const operators : {"+-", "*/%"})
      if (std::size_t const at = last_top_level(text, operators); at != text.npos) {
        auto const left = sum(text.substr(0, at), depth + 1), right = sum(text.substr(at + 1), depth + 1);
        if (!left || !right) return std::nullopt;
        return of_two(text[at], *left, *right);
      }
    if (text.starts_with('(') && text.ends_with(')')) return sum(text.substr(1, text.size() - 2), depth + 1);
    if (auto const found = text_of(text)) return sum(*found, depth + 1);
    return number(text);
  }
  static std::optional<std::int64_t> of_two(char op, std::int64_t a, std::int64_t b) {
    if (std::max(std::abs(a), std::abs(b)) > 1 << 30) return std::nullopt;
    if (op == '+') return a + b;
    if (op == '-') return a - b;
    if (op == '*') return a * b;
    if (b == 0) return std::nullopt;
    return op == '/' ? a / b : a % b;
  }
  static std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    bool const hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (text.size() > 1 && text[0] == '0' && !hexadecimal) return std::nullopt;
    char const* const end = text.data() + text.size();
    auto const [stop, error] =
        std::from_chars(text.data() + (hexadecimal ? 2 : 0), end, value, hexadecimal ? 16 : 10);
    bool const suffix = std::all_of(
        stop, end, [](char c) { return std::string_view("uUlL").find(c) != std::string_view::npos; });
    return error == std::errc{} && suffix ? std::optional(value) : std::nullopt;
  }

  std::string_view code_;
  std::map<std::string, std::string> texts_{};
  std::map<std::string, std::size_t> definitions_{};
};

/// The name before `<<<` at `at`, behind template arguments and namespaces.
std::string_view kernel_before(std::string_view code, std::size_t at) {
  auto const skip_blanks = [&] {
    while (at > 0 && std::isspace(static_cast<unsigned char>(code[at - 1]))) --at;
  };
  skip_blanks();
  if (at > 0 && code[at - 1] == '>') {
    int depth = 0;
    int brackets = 0;
    do {
      --at;
      brackets += code[at] == ')' ? 1 : code[at] == '(' ? -1 : 0;
      if (brackets == 0) depth += code[at] == '>' ? 1 : code[at] == '<' ? -1 : 0;
    } while (at > 0 && depth != 0);
    skip_blanks();
  }
  std::size_t const end = at;
  while (at > 0 && is_of_name(code[at - 1])) --at;
  return code.substr(at, end - at);
}

}  // namespace

bool SourceLaunch::is_of(std::string_view name) const {
  for (std::size_t at = name.find(kernel); at != name.npos; at = name.find(kernel, at + 1)) {
    bool const begins = at == 0 || name[at - 1] == ' ' || name[at - 1] == ':';
    std::size_t const end = at + kernel.size();
    if (begins && (end == name.size() || name[end] == '<' || name[end] == '(' || name[end] == '['))
      return true;
    if (end < name.size() && name[end] == '(') return false;
  }
  return false;
}

std::vector<SourceLaunch> launches_in(std::string_view source, std::vector<std::string> const& flags) {
  std::string const code = code_alone(source);
  Definitions const definitions(code, flags);
  std::vector<SourceLaunch> launches;
  for (std::size_t at = code.find("<<<"); at != code.npos; at = code.find("<<<", at + 3)) {
    std::size_t const end = code.find(">>>", at);
    if (end == code.npos) break;
    auto const parts = arguments_of(std::string_view(code).substr(at + 3, end - at - 3));
    std::string_view const kernel = kernel_before(code, at);
    if (parts.size() < 2 || kernel.empty()) continue;
    std::string text(parts[1]);
    text.erase(0, std::min(text.find_first_not_of(" \t\n\\"), text.size()));
    text.erase(text.find_last_not_of(" \t\n\\") + 1);
    launches.push_back({std::string(kernel),
                        1 + static_cast<std::size_t>(std::count(
                                code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n')),
                        definitions.shape_of(text).value_or(Shape{}), std::move(text)});
  }
  return launches;
}

namespace {

/// The place behind the bracket that closes the one at `at`; the end of the text if none does.
std::size_t behind_bracket(std::string_view text, std::size_t at, char open, char close) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return at;
}

/// A text with one blank for each run of blanks, without those at its ends.
std::string with_single_blanks(std::string_view text) {
  std::string out;
  for (char const c : text) {
    bool const blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// Values of template parameters, by name: `typename T, int N` has float and 32. Nothing if one is of another kind.
std::optional<std::vector<std::pair<std::string, std::string>>> values_of(std::string_view parameters) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::string_view const part : arguments_of(parameters)) {
    std::string const one = with_single_blanks(part.substr(0, part.find('=')));
    std::size_t const blank = one.rfind(' ');
    if (blank == one.npos || one.find_first_of("<.*&") != one.npos) return std::nullopt;
    bool const type = one.starts_with("typename ") || one.starts_with("class ");
    out.emplace_back(one.substr(blank + 1), type ? "float" : one.starts_with("bool ") ? "true" : "32");
  }
  return out;
}

/// The parameters of a function without default values, names of template parameters replaced by their values.
std::string with_values(std::string_view parameters,
                        std::vector<std::pair<std::string, std::string>> const& values) {
  std::string out;
  for (std::string_view part : arguments_of(parameters)) {
    part = part.substr(0, part.find('='));
    std::string one;
    for (std::size_t i = 0, end = 0; i < part.size(); i = end) {
      for (end = i; end < part.size() && is_of_name(part[end]); ++end) {
      }
      std::string word(part.substr(i, std::max(end, i + 1) - i));
      end = i + word.size();
      auto const at =
          std::find_if(values.begin(), values.end(), [&](auto const& v) { return v.first == word; });
      one += at == values.end() ? word : at->second;
    }
    out += (out.empty() ? "" : ", ") + with_single_blanks(one);
  }
  return out;
}

/// The kernel whose `__global__` is at `at`, if it is a template.
std::optional<SourceTemplate> template_at(std::string_view code, std::size_t at) {
  std::size_t const from = std::min(code.find_last_of(";{}", at) + 1, at);
  std::size_t const word = code.substr(0, at).rfind("template");
  if (word == code.npos || word < from) return std::nullopt;
  std::size_t const open = code.find_first_not_of(" \t\r\n", word + std::string_view("template").size());
  if (open >= at || code[open] != '<') return std::nullopt;
  std::size_t const close = behind_bracket(code, open, '<', '>') - 1;
  std::string_view const parameters = code.substr(open + 1, close - open - 1);
  if (close >= at || with_single_blanks(parameters).empty()) return std::nullopt;
  std::size_t bracket = code.find('(', at);
  std::string name;
  for (; bracket != code.npos; bracket = code.find('(', behind_bracket(code, bracket, '(', ')'))) {
    std::size_t const last = code.find_last_not_of(" \t\r\n", bracket - 1);
    std::size_t first = last + 1;
    while (first > at && is_of_name(code[first - 1])) --first;
    name = code.substr(first, last + 1 - first);
    if (!name.starts_with("__")) break;  // __launch_bounds__
  }
  if (bracket == code.npos || name.empty()) return std::nullopt;
  SourceTemplate out{
      name,
      static_cast<std::size_t>(std::count(code.begin(), code.begin() + std::ptrdiff_t(at), '\n')) + 1,
      {}};
  auto const values = values_of(parameters);
  if (!values) return out;
  std::string list;
  for (auto const& [parameter, value] : *values) list += (list.empty() ? "" : ", ") + value;
  std::size_t const end = behind_bracket(code, bracket, '(', ')') - 1;
  out.instantiation = "template __global__ void " + name + "<" + list + ">(" +
                      with_values(code.substr(bracket + 1, end - bracket - 1), *values) + ");";
  return out;
}

}  // namespace

std::vector<SourceTemplate> templates_in(std::string_view source) {
  constexpr std::string_view word = "__global__";
  std::string const code = code_alone(source);
  std::vector<SourceTemplate> out;
  for (std::size_t at = code.find(word); at != code.npos; at = code.find(word, at + word.size()))
    if (auto one = template_at(code, at)) out.push_back(std::move(*one));
  return out;
}

}  // namespace swizproof::command
