// Parts of a line of a dump.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace swizproof::sass {

/// `s` without blanks at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

/// The number that all of `s` is, in this base; else nothing.
[[nodiscard]] inline std::optional<std::uint64_t> number(std::string_view s, int base) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, base);
  return error == std::errc{} && end == s.data() + s.size() && !s.empty() ? std::optional(value)
                                                                          : std::nullopt;
}

}  // namespace swizproof::sass
