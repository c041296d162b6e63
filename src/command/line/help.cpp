// --help: each command's begins with an example that works. And the same description as a document.
#include "command/line/help.hpp"

#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace swizproof::command {

namespace {

/// Between the example and the question of a description.
constexpr std::string_view blank_line = "\n\n";

class Questions : public CLI::Formatter {
 public:
  std::string make_description(CLI::App const* app) const override {
    std::string const text = app->get_description();
    std::size_t const blank = text.find(blank_line), asks = text.find('\n');
    if (blank == text.npos) return wrapped(text, columns) + "\n";
    return fmt::format("{}{}{}\n\n{}\n", in_shell_lines(text.substr(0, asks)), indent,
                       wrapped(text.substr(asks, blank - asks), columns - indent.size(), indent),
                       wrapped(text.substr(blank), columns));
  }
  std::string make_footer(CLI::App const* app) const override {
    std::istringstream lines(app->get_footer());
    std::string out;
    for (std::string line; std::getline(lines, line);) out += wrapped(line, columns) + "\n";
    return out;
  }
  std::string make_subcommand(CLI::App const* sub) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, sub->get_display_name(true),
                             wrapped(question_of(*sub), columns - column_width_), column_width_);
    return out.str();
  }
  std::string make_option_desc(CLI::Option const* option) const override {
    return wrapped(option->get_description(), columns - column_width_);
  }

 private:
  static constexpr std::size_t columns = 80;
  static constexpr std::string_view indent = "         ";  ///< as wide as `Example: `

  /// The words in lines of at most `width` characters; `before` stands before each but the first.
  [[nodiscard]] static std::string wrapped(std::string_view text, std::size_t width,
                                           std::string_view before = {}) {
    std::string out, line;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > width)
        out += std::exchange(line, "") + "\n" + std::string(before);
      line += (line.empty() ? "" : " ") + word;
    }
    return out + line;
  }

  /// A command in lines that a shell reads as one: each ends before an option, or behind a pipe.
  [[nodiscard]] static std::string in_shell_lines(std::string_view command) {
    std::string out, line;
    auto const take = [&](std::string_view piece) {
      if (!line.empty() && line.size() + piece.size() + 2 > columns)
        out += std::exchange(line, std::string(indent)) + " \\\n";
      if (line == indent) piece.remove_prefix(std::min(piece.find_first_not_of(' '), piece.size()));
      line += piece;
    };
    bool quoted = false;
    std::size_t from = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
      quoted ^= command[i] == '\'';
      if (quoted || i == 0 ||
          !(command.substr(i).starts_with(" --") || command.substr(i - 1).starts_with("| ")))
        continue;
      take(command.substr(from, i - from));
      from = i;
    }
    take(command.substr(from));
    return out + line + "\n";
  }
};

}  // namespace

CLI::App* add_command(CLI::App& app, std::string const& name, std::string const& question,
                      Example const& example) {
  return app.add_subcommand(
      name, fmt::format("Example: {}\n         {}{}{}", example.line, example.asks, blank_line, question));
}

std::string question_of(CLI::App const& app) {
  std::string const text = app.get_description();
  std::size_t const blank = text.find(blank_line);
  return blank == text.npos ? text : text.substr(blank + blank_line.size());
}

std::string example_of(CLI::App const& app) {
  std::string const text = app.get_description();
  std::size_t const blank = text.find(blank_line);
  return blank == text.npos ? "" : text.substr(0, blank);
}

std::string kind_of(CLI::Option const& option) {
  if (!takes_value(option)) return "FLAG";
  std::string const type = option.get_type_name(), kind = type.substr(0, type.find(':'));
  return kind == "TEXT" && option.get_positional() ? option.get_name() : kind;
}

namespace {

using Json = nlohmann::ordered_json;

/// The options of an app, or its arguments, without --help.
Json described_options(CLI::App const& app, bool positional) {
  Json all = Json::array();
  for (CLI::Option const* option : options_of(app, positional)) {
    if (option == app.get_help_ptr()) continue;
    all.push_back({{"name", option->get_name()},
                   {"kind", kind_of(*option)},
                   {"about", option->get_description()},
                   {"required", option->get_required()},
                   {"several", takes_several(*option)}});
    if (!option->get_default_str().empty()) all.back()["default"] = option->get_default_str();
  }
  return all;
}

}  // namespace

Json description_of(CLI::App const& app) {
  Json commands = Json::array();
  for (CLI::App const* sub : commands_of(app))
    commands.push_back({{"name", sub->get_name()},
                        {"about", question_of(*sub)},
                        {"arguments", described_options(*sub, true)},
                        {"options", described_options(*sub, false)}});
  return {{"commands", std::move(commands)}, {"options", described_options(app, false)}};
}

void show_questions(CLI::App& app) { app.formatter(std::make_shared<Questions>()); }

}  // namespace swizproof::command
