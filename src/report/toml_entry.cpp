#include "report/toml_entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace swizproof {

namespace {

/// Control characters that no literal string of TOML may hold.
bool is_control(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return byte == 0x7F || (byte < 0x20 && c != '\n' && c != '\t');
}

}  // namespace

std::string toml_text(std::string const& text) {
  if (text.empty()) return "\"\"";
  bool const several = text.find('\n') != text.npos;
  bool const literal = text.find("'''") == text.npos && text.back() != '\'' &&
                       std::none_of(text.begin(), text.end(), is_control);
  if (several && literal) return "'''\n" + text + "'''";
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t' || is_control(c))
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string toml_list(std::vector<std::string> const& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string toml_table(std::vector<std::pair<std::string, std::string>> const& values) {
  std::vector<std::string> parts;
  for (auto const& [key, value] : values)
    if (!value.empty()) parts.push_back(key + " = " + value);
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string toml_key(std::string const& key) {
  bool const bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  return bare ? key : toml_text(key);
}

std::string obligation_name(std::string const& text) {
  constexpr std::size_t most = 100;
  std::string name;
  for (char const c : text) {
    bool const blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank)
      name += c;
    else if (!name.empty() && name.back() != ' ')
      name += ' ';
  }
  while (name.ends_with(' ')) name.pop_back();
  if (name.size() <= most) return name;
  std::size_t end = most - 3;
  while ((static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // between letters of UTF-8
  return name.substr(0, end) + "...";
}

TomlEntry& TomlEntry::add(std::string const& key, std::string const& text) {
  return text.empty() ? *this : add_value(key, toml_text(text));
}

TomlEntry& TomlEntry::add(std::string const& key, std::vector<std::string> const& texts) {
  if (texts.empty()) return *this;
  if (texts.size() == 1) return add(key, texts.front());
  std::vector<std::string> values;
  for (std::string const& text : texts) values.push_back(toml_text(text));
  return add_value(key, toml_list(values));
}

TomlEntry& TomlEntry::add(std::string const& key, std::optional<std::uint64_t> number) {
  return number ? add_value(key, fmt::format("{}", *number)) : *this;
}

TomlEntry& TomlEntry::add_value(std::string const& key, std::string const& value) {
  text_ += fmt::format("{} = {}\n", key, value);
  return *this;
}

}  // namespace swizproof
