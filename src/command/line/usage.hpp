// Command lines that cannot be read: what is wrong with them, and what to type instead.
#pragma once

#include <swizproof/parse/parse.hpp>

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace swizproof::command {

/// A command line without the program's name.
using Words = std::vector<std::string>;

/// The same command line with `--help` for `help`: `help check` is `check --help`.
[[nodiscard]] Words with_help_option(CLI::App const& app, Words words);

/// Throws InputError where CLI11 takes a word for something else, or passes over it before `--help`: an unknown command or option, a
/// layout before the command, an option as the value of another, `--block 32 8`.
void refuse_misuse(CLI::App const& app, Words const& words);

/// The error for a file that is not there, with the file of its folder whose name is nearest.
[[nodiscard]] InputError with_near_file(InputError error);

/// CLI11's error for a command line, with the option's text and a hint.
[[nodiscard]] InputError usage_error(CLI::App const& app, CLI::ParseError const& error, Words const& words);

}  // namespace swizproof::command
