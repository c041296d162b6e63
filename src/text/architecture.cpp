// Architectures by every spelling of their names.
#include "text/nearest.hpp"
#include "text/scanner.hpp"

#include <swizproof/text/parse.hpp>

namespace swizproof {

namespace {

/// A name of a family and the architecture that it means; of several, nothing.
struct Family {
  std::string_view name, architecture;
};
constexpr Family families[] = {{"hopper", "sm_90"}, {"ada", "sm_89"}, {"ampere", ""}, {"blackwell", ""}};

/// The number of `sm_90`, `sm90`, `compute_90`, `SM90`, `9.0`, `90`, without what follows it; `rest` becomes that.
std::optional<unsigned> number_of(std::string text, std::string& rest) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (std::string_view const prefix : {"sm_", "sm", "compute_", "compute"})
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
      break;
    }
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits != 0 && digits + 1 < text.size() && text[digits] == '.' && is_digit(text[digits + 1])) {
    text.erase(digits, 1);
    ++digits;
  }
  unsigned number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (digits == 0 || digits > 4 || error != std::errc{} || end != text.data() + digits) return {};
  rest = text.substr(digits);
  return number;
}

Architecture const* architecture(std::string_view name) {
  for (Architecture const& arch : architectures)
    if (arch.name == name) return &arch;
  return nullptr;
}

/// The number of an architecture of the table: 90 of sm_90a.
unsigned number_of(Architecture const& arch) {
  std::string rest;
  return *number_of(std::string(arch.name), rest);
}

}  // namespace

Architecture const& parse_architecture(std::string_view text) {
  std::string list;
  std::vector<std::string> known;
  for (Architecture const& arch : architectures) {
    known.emplace_back(arch.name);
    list += " " + known.back();
  }
  auto const refuse = [&](std::string message, std::string hint) {
    throw InputError{std::move(message), std::string(text), 0, text.size(), std::move(hint)};
  };
  for (Family const& family : families) {
    std::string lower(text);
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (lower != family.name) continue;
    if (family.architecture.empty())
      refuse("this family has several architectures",
             family.name == "ampere" ? "sm_80 (A100) or sm_86" : "sm_100 (B200) or sm_120 (RTX 50)");
    return *architecture(family.architecture);
  }
  std::string rest;
  std::optional<unsigned> const number = number_of(std::string(text), rest);
  if (!number || (!rest.empty() && rest != "a" && rest != "f")) {
    refuse("unknown architecture", did_you_mean_of(text, known, "known:" + list));
  }
  std::string const name = "sm_" + std::to_string(*number);
  if (Architecture const* const arch = architecture(name + rest)) return *arch;
  if (Architecture const* const arch = architecture(name)) return *arch;  // sm_100a, sm_120f: the same banks
  Architecture const* nearest = nullptr;
  auto const apart = [&](Architecture const& arch) {
    unsigned const n = number_of(arch);
    return n < *number ? *number - n : n - *number;
  };
  for (Architecture const& arch : architectures)
    if (nearest == nullptr || apart(arch) < apart(*nearest)) nearest = &arch;
  refuse(name + " has no table here", "the nearest that has one is " + std::string(nearest->name) +
                                          ", and nobody says that they are equal; known:" + list);
  return *nearest;
}

}  // namespace swizproof
