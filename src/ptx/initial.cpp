#include <swizproof/ptx/initial.hpp>

#include <swizproof/core/float_format.hpp>
#include <swizproof/program/opcode.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace swizproof::ptx {

using program::Type;
using program::Variable;

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '.' || c == '%' || c == '+' || c == '-';
}

/// The last declaration of a variable: from its type on; empty if no `=` follows it.
std::string_view declaration_of(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    std::size_t const end = at + name.size();
    if (at == 0 || is_word(text[at - 1]) || (end < text.size() && is_word(text[end]))) continue;
    std::size_t const from = text.find_last_of(";{}", at) + 1;
    std::string_view const head = text.substr(from, at - from);
    if (head.find(".const") == head.npos && head.find(".global") == head.npos) continue;
    std::size_t i = text.find_first_not_of(blanks, end);
    while (i < text.size() && text[i] == '[') i = text.find_first_not_of(blanks, text.find(']', i) + 1);
    if (i >= text.size() || text[i] != '=') return {};
    std::size_t const type = from + head.rfind('.');
    return text.substr(type, text.find(';', i) - type);
  }
  return {};
}

/// The base of an integer and what is before its digits: hexadecimal, binary, octal behind a 0, or decimal. [PTX ISA, Integer Constants]
std::pair<int, std::size_t> base_of(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) return {16, 2};
  if (word.starts_with("0b") || word.starts_with("0B")) return {2, 2};
  return {word.starts_with('0') ? 8 : 10, 0};
}

/// Bits of a number of a type of `bits` bits, a float if `real`.
std::optional<std::uint64_t> number_of(std::string_view word, unsigned bits, bool real) {
  bool const minus = word.starts_with('-');
  if (minus) word.remove_prefix(1);
  bool const exact =
      word.starts_with("0f") || word.starts_with("0F") || word.starts_with("0d") || word.starts_with("0D");
  auto const [base, prefix] = exact ? std::pair<int, std::size_t>{16, 2} : base_of(word);
  std::string_view digits = word.substr(prefix);
  if (digits.ends_with('U')) digits.remove_suffix(1);
  std::uint64_t n = 0;
  auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n, base);
  bool const whole = error == std::errc{} && stop == digits.data() + digits.size();
  if (exact || (whole && !real)) return whole ? std::optional(minus ? 0 - n : n) : std::nullopt;
  if (!real) return std::nullopt;
  std::string const text(word);
  char* end = nullptr;
  double const x = std::strtod(text.c_str(), &end) * (minus ? -1 : 1);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return bits == 64 ? same_bits<std::uint64_t>(x) : same_bits<std::uint32_t>(static_cast<float>(x));
}

}  // namespace

std::optional<std::vector<std::uint8_t>> initial_bytes(std::string_view text, Variable const& variable) {
  std::string_view const all = declaration_of(text, variable.name);
  if (all.empty()) return std::nullopt;
  std::string_view const type_name = all.substr(1, all.find_first_of(blanks) - 1);
  Type const type = program::type_of(type_name);
  unsigned const bits = type.bits;
  if (bits < 8 || bits > 64 || (type.kind == 'f' && bits < 32)) return std::nullopt;
  std::vector<std::uint8_t> out;
  for (std::size_t at = all.find('=') + 1; at < all.size();) {
    if (!is_word(all[at])) {
      if (blanks.find(all[at]) == blanks.npos && all[at] != '{' && all[at] != '}' && all[at] != ',')
        return std::nullopt;
      ++at;
      continue;
    }
    std::size_t const from = at;
    while (at < all.size() && is_word(all[at])) ++at;
    auto const n = number_of(all.substr(from, at - from), bits, type.kind == 'f');
    if (!n) return std::nullopt;
    for (unsigned i = 0; i < bits / 8; ++i) out.push_back(static_cast<std::uint8_t>(*n >> 8 * i));
  }
  bool const nested =
      std::count(all.begin(), all.end(), '{') > 1;  // rows may have fewer numbers than elements
  if (out.size() > variable.bytes || (nested && out.size() != variable.bytes)) return std::nullopt;
  out.resize(variable.bytes);
  return out;
}

}  // namespace swizproof::ptx
