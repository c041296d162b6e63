// Text inside XML: JUnit files and SVG figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swizproof {

namespace detail {

/// How many bytes at the start of `text` are one character that XML 1.0 can hold, in UTF-8; 0 if they are none.
[[nodiscard]] inline std::size_t xml_character(std::string_view text) {
  auto const first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= ' ' || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  std::size_t const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  std::uint32_t code = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    auto const next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3fU);
  }
  static constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool const shorter = code < least[size], surrogate = code >= 0xd800 && code < 0xe000;
  return shorter || surrogate || code == 0xfffe || code == 0xffff || code > 0x10ffff ? 0 : size;
}

}  // namespace detail

/// The text with markup escaped, for an element or an attribute. What XML 1.0 cannot hold, and bytes that are no UTF-8,
/// are written as `\x1b`; backslashes are doubled in such a text, and in one that says `\x` itself, so that two texts
/// never become one. `in_xml("a<\xff")` is `a&lt;\xff`. Checked by tests/unit/report/report_test.cpp.
[[nodiscard]] inline std::string in_xml(std::string_view text) {
  bool plain = text.find("\\x") == text.npos;
  for (std::size_t i = 0, size = 0; plain && i < text.size(); i += size) {
    size = detail::xml_character(text.substr(i));
    plain = size > 0;
  }
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const size = detail::xml_character(text.substr(i));
    static constexpr char digits[] = "0123456789abcdef";
    auto const byte = static_cast<unsigned char>(text[i]);
    if (size == 0)
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    else if (size > 1)
      out += text.substr(i, size);
    else if (byte < ' ')  // else a reader makes spaces of them
      out += "&#" + std::to_string(byte) + ";";
    else if (byte == '&')
      out += "&amp;";
    else if (byte == '<')
      out += "&lt;";
    else if (byte == '>')
      out += "&gt;";
    else if (byte == '"')
      out += "&quot;";
    else if (byte == '\\' && !plain)
      out += "\\\\";
    else
      out += text[i];
    i += size == 0 ? 1 : size;
  }
  return out;
}

}  // namespace swizproof
