#include "parse/access/sass.hpp"

#include "parse/text/scanner.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace swizproof {

namespace {

/// Takes from the front of a line what consists of such characters.
std::string_view take_while(std::string_view& line, bool (*is)(char)) {
  auto const end = std::find_if_not(line.begin(), line.end(), is);
  std::string_view const front = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  line.remove_prefix(front.size());
  return front;
}

/// A predicate: `@P0`, `@!UPT`.
bool is_guard(std::string_view word) {
  for (std::string_view const part : {"@", "!", "U", "P"})
    if (word.starts_with(part))
      word.remove_prefix(1);
    else if (part == "@" || part == "P")
      return false;
  return !word.empty() && word.find_first_not_of("0123456789T") == word.npos;
}

/// The mnemonic of a SASS line, and its modifiers, each between two dots: "LDS", ".U.128."
std::optional<std::pair<std::string, std::string>> mnemonic(std::string_view line) {
  (void)take_while(line, is_space);
  if (line.starts_with('@')) {
    if (!is_guard(take_while(line, [](char c) { return !is_space(c); }))) return std::nullopt;
    (void)take_while(line, is_space);
  }
  std::string const op(take_while(line, [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); }));
  std::string modifiers;
  while (line.starts_with('.')) {
    line.remove_prefix(1);
    std::string_view const modifier = take_while(line, is_name);
    if (modifier.empty()) return std::nullopt;
    modifiers += "." + std::string(modifier);
  }
  if (op.empty() || !(line.empty() || is_space(line.front()))) return std::nullopt;
  return std::pair(op, modifiers + ".");
}

}  // namespace

std::optional<Instruction> parse_sass(std::string_view line) {
  auto const words = mnemonic(line);
  if (!words) return std::nullopt;
  auto const& [op, modifiers] = *words;
  auto const has = [&modifiers = modifiers](std::string_view word) {
    return modifiers.find("." + std::string(word) + ".") != std::string::npos;
  };
  unsigned const wide = has("128") ? 16 : has("64") ? 8 : 4;
  unsigned const narrow = has("U8") || has("S8") ? 1 : has("U16") || has("S16") ? 2 : wide;
  if (op == "LDS") return Instruction{Operation::ld_shared, narrow, 0, false};
  if (op == "STS") return Instruction{Operation::st_shared, narrow, 0, false};
  if (op == "LDGSTS") return Instruction{Operation::cp_async, wide, 0, false};
  if ((op == "LDSM" || op == "STSM") && (has("M88") || has("MT88")))
    return Instruction{op == "LDSM" ? Operation::ldmatrix : Operation::stmatrix, 16,
                       has("4")   ? 4U
                       : has("2") ? 2U
                                  : 1U,
                       has("MT88")};
  return std::nullopt;
}

bool is_atomic(std::string_view line) {
  auto const words = mnemonic(line);
  if (!words) return false;
  std::string const& op = words->first;
  return op == "ATOMS" || op == "ATOM" || op == "ATOMG" || op == "RED" || op == "REDG" || op == "REDAS";
}

bool is_predicated(std::string_view line) {
  (void)take_while(line, is_space);
  return line.starts_with('@') || line.find(", P") != line.npos || line.find(", !P") != line.npos;
}

bool is_generic(std::string_view line) {
  auto const words = mnemonic(line);
  return words && (words->first == "LD" || words->first == "ST" || words->first == "ATOM");
}

std::string_view sass_opcode(std::string_view line) {
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find(' '), line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.substr(0, line.find_first_of(" \t"));
}

}  // namespace swizproof
