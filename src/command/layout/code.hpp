// A layout as code, for the commands that take --emit.
#pragma once

#include "command/line/command.hpp"

#include <swizproof/report/code.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace swizproof::command {

/// Code in a language: `cute`, `dsl`, `cuda`, `triton`, `tma`.
struct Code {
  std::string language, text;
};

/// Adds --emit: the languages, and `toml`, which prints an obligation.
void add_emit_to(CLI::App& app, std::string& language);

/// A tile as code, with the base's alignment; `element` is the type's name where the layout does not say. Throws InputError.
[[nodiscard]] Code code_in(Common const& common, std::string const& language, Mapping const& map,
                           std::string const& element);

/// The call of cuTensorMapEncodeTiled and the copies that write a tile, as `swizproof tma` prints them. Throws InputError with
/// the reason where there are none.
[[nodiscard]] std::string tma_code(Common const& common, Mapping const& map, std::string const& element);

[[nodiscard]] nlohmann::ordered_json to_json(Code const& code);

}  // namespace swizproof::command
