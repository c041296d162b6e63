#include "text/sass.hpp"

#include <re2/re2.h>

#include <string>
#include <utility>

namespace swizproof {

namespace {

/// The mnemonic of a SASS line, and its modifiers, each between two dots: "LDS", ".U.128."
std::optional<std::pair<std::string, std::string>> mnemonic(std::string_view line) {
  static RE2 const form(R"(\s*(?:@!?U?P[0-9T]+\s+)?([A-Z0-9]+)((?:\.[A-Za-z0-9_]+)*)(?:\s.*)?)", RE2::Latin1);
  std::string op, modifiers;
  if (!RE2::FullMatch(re2::StringPiece(line.data(), line.size()), form, &op, &modifiers)) return std::nullopt;
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

}  // namespace swizproof
