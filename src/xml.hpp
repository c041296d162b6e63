// Text inside XML: JUnit files and SVG figures.
#pragma once

#include <string>
#include <string_view>

namespace swizproof {

/// The text with markup escaped and control characters, which XML 1.0 cannot hold, as spaces.
[[nodiscard]] inline std::string in_xml(std::string_view text) {
  std::string out;
  for (char const c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c >= 0 && c < ' ' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace swizproof
