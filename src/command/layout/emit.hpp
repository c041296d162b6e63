// --emit toml: the question of a command as an obligation.
#pragma once

#include "command/line/command.hpp"

#include "report/toml_entry.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace swizproof::command {

/// Adds --emit toml to a command that gives a verdict.
void add_emit_toml_to(CLI::App& app, std::string& emit);

/// The beginning of an entry: its name, which `about` gives, and the architecture where one is given and `of_architecture` is set.
[[nodiscard]] TomlEntry obligation_of(Common const& common, std::string const& about, bool of_architecture);

/// Adds the accesses of a command, and the block that they are of.
TomlEntry& add_accesses(TomlEntry& entry, std::vector<std::string> const& accesses, std::string const& block);

/// Prints entries, with notes as comments above them, in place of the command's text; with --json the document, where they are `obligation`.
void print_obligation(Common& common, nlohmann::ordered_json document, std::string const& entries,
                      std::vector<std::string> const& notes = {});

}  // namespace swizproof::command
