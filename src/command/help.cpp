// --help: each command's begins with an example that works.
#include "command/help.hpp"

#include <fmt/format.h>

#include <memory>
#include <sstream>

namespace swizproof::command {

namespace {

/// Between the example and the question of a description.
constexpr std::string_view blank_line = "\n\n";

class Questions : public CLI::Formatter {
 public:
  std::string make_subcommand(CLI::App const* sub) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, sub->get_display_name(true), question_of(*sub), column_width_);
    return out.str();
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

void show_questions(CLI::App& app) { app.formatter(std::make_shared<Questions>()); }

}  // namespace swizproof::command
