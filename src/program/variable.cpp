#include <swizproof/program/variable.hpp>

#include <cctype>

namespace swizproof::program {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string short_name(std::string const& name) {
  if (std::size_t const p = name.rfind("_param_"); p != name.npos) return name.substr(p + 1);
  if (!name.starts_with("_Z")) return name;
  std::size_t const end = name.size() - (name.starts_with("_ZN") && name.ends_with('E') ? 1 : 0);
  for (std::size_t first = end; first-- > 2;) {  // the number that counts what is left
    std::size_t length = 0, at = first;
    while (at < end && at < first + 4 && is_digit(name[at]))
      length = 10 * length + static_cast<std::size_t>(name[at++] - '0');
    if (length != 0 && at + length == end && !is_digit(name[at])) return name.substr(at, length);
  }
  return name;
}

}  // namespace swizproof::program
