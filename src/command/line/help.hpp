// Text of --help, and the texts made of it: the manual page and the completions of shells. One source, the options themselves.
#pragma once

#include "command/line/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace swizproof::command {

/// A command line that works as it stands, and the question that it asks.
struct Example {
  std::string_view line{};
  std::string_view asks{};
};

/// Adds a command whose --help begins with an example. Checked by tests/package/examples.
CLI::App* add_command(CLI::App& app, std::string const& name, std::string const& question,
                      Example const& example);

/// Summary of a command, in a line: its description without the example.
[[nodiscard]] std::string question_of(CLI::App const& app);

/// The example of a command, as --help shows it: a line, and what it asks.
[[nodiscard]] std::string example_of(CLI::App const& app);

/// The commands of the program, in the order of its help.
[[nodiscard]] inline std::vector<CLI::App const*> commands_of(CLI::App const& app) {
  return app.get_subcommands([](CLI::App const*) { return true; });
}

/// The options of an app, or its arguments.
[[nodiscard]] inline std::vector<CLI::Option const*> options_of(CLI::App const& app, bool positional) {
  return app.get_options([=](CLI::Option const* option) { return option->get_positional() == positional; });
}

/// False for flags.
[[nodiscard]] inline bool takes_value(CLI::Option const& option) {
  return option.get_type_size() != 0 && option.get_items_expected_max() != 0;
}

/// An argument that takes all that is given: `FILE...`
[[nodiscard]] inline bool takes_several(CLI::Option const& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

/// Kind of the value that an option or argument takes: LAYOUT, ACCESS, ELEMENT, ARCH, FILE, FOLDER, INTEGER (also 0x10), INTEGERS
/// (0,8), RANGE (0..7), UINT, INT, FLOAT, FLAG (no value), TEXT (any other). CLI11's name of the type; of an argument that has
/// none, the argument's own.
[[nodiscard]] std::string kind_of(CLI::Option const& option);

/// Makes the list of commands show their questions alone.
void show_questions(CLI::App& app);

/// The manual page swizproof.1 in roff. Checked by tests/package/manual.
[[nodiscard]] std::string manual(CLI::App const& app);

/// The document of `commands()`.
[[nodiscard]] nlohmann::ordered_json description_of(CLI::App const& app);

/// Completion script for `shell`: bash, zsh or fish. Commands, options, and the values of options that have names.
/// Checked by tests/package/completions.
[[nodiscard]] std::string completions(CLI::App const& app, std::string_view shell);

}  // namespace swizproof::command
