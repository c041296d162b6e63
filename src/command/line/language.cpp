// swizproof language: what LAYOUT, ACCESS and their parts may be.
#include "command/line/help.hpp"
#include "parse/text/nearest.hpp"
#include "report/report.hpp"

#include <swizproof/parse/language.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// The requested parts: all of them if none is named. Throws InputError.
std::vector<LanguagePart> parts_of(std::string const& wanted) {
  std::vector<LanguagePart> parts = language();
  if (wanted.empty()) return parts;
  std::vector<std::string> names;
  for (LanguagePart& part : parts) {
    if (part.name == wanted) return {std::move(part)};
    names.push_back(part.name);
  }
  throw InputError::whole("the language has no such part", wanted,
                          did_you_mean_of(wanted, names, fmt::format("known: {}", fmt::join(names, ", "))));
}

Json to_json(std::vector<LanguagePart> const& parts) {
  Json all = Json::array();
  for (LanguagePart const& part : parts) {
    Json forms = Json::array();
    for (LanguageForm const& form : part.forms) {
      forms.push_back({{"text", form.text}, {"means", form.means}});
      if (!form.names.empty()) forms.back()["names"] = form.names;
    }
    all.push_back({{"name", part.name}, {"about", part.about}, {"forms", std::move(forms)}});
  }
  return {{"parts", std::move(all)}};
}

void print_text(std::vector<LanguagePart> const& parts, Style const& style) {
  constexpr std::size_t width = 120, longest = 44;
  for (LanguagePart const& part : parts) {
    if (&part != &parts.front()) fmt::print("\n");
    fmt::print("{}\n  {}\n\n", style.strong(part.name), wrapped(part.about, 2, width));
    std::size_t column = 0;
    for (LanguageForm const& form : part.forms)
      if (form.text.size() <= longest) column = std::max(column, form.text.size());
    for (LanguageForm const& form : part.forms) {
      std::string says = form.means;
      if (!form.names.empty())
        says += fmt::format("{}{}", says.empty() ? "" : ": ", fmt::join(form.names, ", "));
      bool const one_line = form.text.size() <= column && form.text.find('\n') == std::string::npos;
      std::string text = form.text;
      for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 3))
        text.insert(at + 1, "  ");
      if (says.empty())
        fmt::print("  {}\n", text);
      else if (one_line)
        fmt::print("  {:<{}}  {}\n", text, column, wrapped(says, column + 4, width));
      else
        fmt::print("  {}\n{:{}}{}\n", text, "", column + 4, wrapped(says, column + 4, width));
    }
  }
}

}  // namespace

void add_language(CLI::App& app, Common& common) {
  auto wanted = std::make_shared<std::string>();
  CLI::App* const sub =
      add_command(app, "language", "What LAYOUT, ACCESS and their parts may be, on one page",
                  {"swizproof language access", "which forms has an ACCESS?"});
  sub->add_option(
      "PART", *wanted,
      "layout, algebra, atom, expression, access, subscript, instruction, element or flow; all without");
  sub->callback([&common, wanted] {
    std::vector<LanguagePart> const parts = parts_of(*wanted);
    if (common.json)
      print_json(common, to_json(parts));
    else
      print_text(parts, Style(common.color, STDOUT_FILENO));
  });
}

}  // namespace swizproof::command
