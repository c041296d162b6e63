#include <swizproof/analysis/convert.hpp>
#include <swizproof/parse/parse.hpp>

namespace swizproof {

unsigned parse_unit(std::string const& text, Mapping const& map) {
  if (text == "elements") return own_unit(map);
  if (text == "bytes") return 8;
  return text == "bits" ? 1 : parse_element(text);
}

}  // namespace swizproof
