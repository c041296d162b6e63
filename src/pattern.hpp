// Regular expressions that users write.
#pragma once

#include <swizproof/parse.hpp>

#include <cctype>
#include <regex>
#include <string>

namespace swizproof {

/// The ECMAScript regular expression `text`; `what` is its name in messages. Throws InputError for what is none, is longer
/// than 1,000 characters, or counts beyond 999: libstdc++ 12 adds up the digits of `\9999999999` and `a{9999999999}`
/// until they overflow. Checked by tests/unit/obligation_test.cpp and the regression corpus of fuzz_obligations.
inline std::regex user_pattern(std::string const& text, std::string const& what) {
  auto const refuse = [&](std::string const& why, std::size_t from, std::size_t count) {
    throw InputError{what + " is not a regular expression: " + why, text, from, count, {}};
  };
  if (text.size() > 1000) refuse("it is longer than 1000 characters", 1000, text.size() - 1000);
  bool counts = false;  // after a backslash or a brace
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    digits = digit ? digits + 1 : 0;
    if (counts && digits > 3) refuse("a number in it is above 999", i + 1 - digits, digits);
    if (!digit) counts = text[i] == '\\' || text[i] == '{' || (text[i] == ',' && counts);
  }
  try {
    return std::regex(text);
  } catch (std::regex_error const& error) {
    refuse(error.what(), 0, text.size());
  }
  return {};
}

}  // namespace swizproof
