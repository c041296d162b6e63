// Architectures by every spelling of their names.
#include "parse/text/nearest.hpp"
#include "parse/text/scanner.hpp"

#include "system/whole_file.hpp"

#include <swizproof/parse/parse.hpp>

#include <filesystem>
#include <map>
#include <mutex>

namespace swizproof {

namespace {

/// A name of a family and the architecture that it means, or the several.
struct Family {
  std::string_view name, architecture, members;
};
constexpr Family families[] = {
    {"volta", "sm_70", {}},
    {"turing", "sm_75", {}},
    {"hopper", "sm_90", {}},
    {"ada", "sm_89", {}},
    {"ampere", {}, "sm_80 (A100), sm_86 (RTX 30) or sm_87 (Orin)"},
    {"blackwell", {}, "sm_100 (B200), sm_103 (B300), sm_110 (Thor), sm_120 (RTX 50) or sm_121 (GB10)"}};

/// The number of `sm_90`, `sm90`, `compute_90`, `9.0`, `90`, without what follows it; `rest` becomes that.
std::optional<unsigned> number_of(std::string text, std::string& rest) {
  bool named = false;
  for (std::string_view const prefix : {"sm_", "sm", "compute_", "compute"})
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
      named = true;
      break;
    }
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits != 0 && !named && digits + 2 == text.size() && text[digits] == '.' && is_digit(text[digits + 1]))
    text.erase(digits++, 1);
  unsigned number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (digits == 0 || number < 50 || number > 199 || error != std::errc{} || end != text.data() + digits)
    return {};
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

/// The text of a table's file. A pipe gives it once, and it is needed again: by the check of an option, then by the command.
std::string table_in(std::filesystem::path const& path) {
  constexpr std::size_t most_mebibytes = 16;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return read_file(path.string(), most_mebibytes);
  static std::mutex mutex;
  static std::map<std::string, std::string> piped;
  std::lock_guard const lock(mutex);
  auto const known = piped.find(path.string());
  if (known != piped.end()) return known->second;
  return piped.emplace(path.string(), read_file(path.string(), most_mebibytes)).first->second;
}

}  // namespace

Architecture const& parse_architecture(std::string_view text, std::string const& folder) {
  if (text.find(',') != text.npos)
    throw InputError::whole(
        "expected exactly one architecture", std::string(text),
        "several are for 'swizproof prove FILE', and a list in it: arch = [\"sm_90\", \"sm_100\"]");
  if (text.ends_with(".json") || text.find('/') != std::string_view::npos) {
    std::filesystem::path const path(text);
    return read_architecture(table_in(path.is_absolute() ? path : folder / path), std::string(text));
  }
  std::string list;
  std::vector<std::string> known;
  for (Architecture const& arch : architectures) {
    known.emplace_back(arch.name);
    list += " " + known.back();
  }
  auto const refuse = [&](std::string hint) {
    throw InputError::whole("unknown architecture", std::string(text), std::move(hint));
  };
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (Family const& family : families) {
    known.emplace_back(family.name);
    if (lower != family.name) continue;
    if (family.architecture.empty()) refuse(lower + " is " + std::string(family.members));
    return *architecture(family.architecture);
  }
  if (lower.starts_with("gfx"))
    refuse(
        "AMD's waves have 64 lanes and its LDS another number of banks for each width, which the cost "
        "model's form "
        "does not hold; "
        "gpu/ANY_CARD.md says what it would need");
  std::string rest;
  std::optional<unsigned> const number = number_of(lower, rest);
  if (!number || (!rest.empty() && rest != "a" && rest != "f"))
    refuse(did_you_mean_of(text, known, "known:" + list));
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
  refuse(name + " has no table here; the nearest that has one is " + std::string(nearest->name) +
         ", which may be served otherwise; known:" + list);
  return *nearest;
}

}  // namespace swizproof
