#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

namespace swizproof {

/// How often a test draws that draws `hundred` times where RapidCheck draws 100 cases of a property: RC_PARAMS says how many these are.
inline int rounds(int hundred) {
  char const* const said = std::getenv("RC_PARAMS");
  std::string const text = said ? said : "";
  std::size_t const at = text.find("max_success=");
  int const cases = at == text.npos ? 100 : std::atoi(text.c_str() + at + 12);
  return std::max(1, hundred * cases / 100);
}

}  // namespace swizproof
