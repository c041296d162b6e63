#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace swizproof {

Style::Style(std::string_view when, int file_descriptor)
    : colored_(when == "always" ||
               (when == "auto" && isatty(file_descriptor) != 0 && std::getenv("NO_COLOR") == nullptr)) {}

std::string Style::paint(std::string_view code, std::string_view text) const {
  return colored_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string Style::outcome(Outcome const& outcome) const {
  std::string_view const text = word(outcome);
  if (std::holds_alternative<Proved>(outcome)) return good(text);
  return std::holds_alternative<Refuted>(outcome) ? bad(text) : doubtful(text);
}

std::string describe(InputError const& error, Style const& style) {
  std::string text = fmt::format("{} {}\n", style.bad("swizproof: error:"), error.message);
  if (!error.input.empty()) {
    // Long input is cut to a window around the place; control characters would move the caret.
    constexpr std::size_t before = 60, width = 100;
    std::size_t const at = std::min(error.at, error.input.size());
    std::size_t const from = at > before ? at - before : 0;
    std::string shown = error.input.substr(from, width);
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';  // control characters and bytes of other alphabets
    std::string const lead = from > 0 ? "..." : "";
    std::string const tail = from + width < error.input.size() ? "..." : "";
    std::size_t const marks = std::clamp<std::size_t>(error.length, 1, width - (at - from));
    text += fmt::format("  {}{}{}\n  {}{}\n", lead, shown, tail, std::string(lead.size() + at - from, ' '),
                        style.good(std::string(marks, '^')));
  }
  if (!error.hint.empty()) text += fmt::format("  {}\n", error.hint);
  return text;
}

std::string describe(Refuted const& refuted) {
  std::string text;
  for (auto const& [name, value] : refuted.values) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
    if (value > 9) text += fmt::format(" ({:#x})", value);
  }
  return text;
}

std::string duration(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  return fmt::format("{:.1f} s", seconds);
}

nlohmann::ordered_json to_json(Refuted const& refuted) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (auto const& [name, value] : refuted.values) values[name] = value;
  return {{"question", refuted.question}, {"values", values}};
}

}  // namespace swizproof
