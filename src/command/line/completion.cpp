// swizproof --completions SHELL: what a shell completes, from the options themselves.
#include "command/line/help.hpp"

#include <swizproof/access/access.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/element.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace swizproof::command {

namespace {

/// Possible words after an option, or as an argument.
struct Completed {
  enum Kind { nothing, words, files, folders } kind = nothing;
  std::vector<std::string> choice{};  ///< of words
};

/// The values of "TEXT:{auto,always,never}".
std::vector<std::string> listed_in(std::string const& type) {
  std::vector<std::string> values;
  std::size_t const brace = type.find('{');
  if (brace == type.npos) return values;
  for (std::size_t from = brace + 1, end = from; end < type.size() && type[end] != '}'; from = end + 1) {
    end = type.find_first_of(",}", from);
    values.push_back(type.substr(from, end - from));
    if (type[end] == '}') break;
  }
  return values;
}

/// Completions of an option: the words that it takes, where they have names; files and folders.
Completed completed(CLI::Option const& option) {
  if (!takes_value(option)) return {};
  std::string const kind = kind_of(option);
  std::vector<std::string> choice = listed_in(option.get_type_name());
  if (kind == "ARCH")
    for (Architecture const& arch : architectures) choice.emplace_back(arch.name);
  if (kind == "ACCESS")
    for (NamedAccess const& named : named_accesses()) choice.push_back(named.access.name);
  if (kind == "ELEMENT")
    for (ElementType const& element : element_types) choice.emplace_back(element.name);
  if (!choice.empty()) return {Completed::words, std::move(choice)};
  return {kind == "FOLDER" ? Completed::folders : kind == "FILE" ? Completed::files : Completed::nothing, {}};
}

/// `--json --timeout`
std::string option_names(CLI::App const& app) {
  std::string names;
  for (CLI::Option const* option : options_of(app, false))
    names += (names.empty() ? "" : " ") + option->get_name();
  return names;
}

/// The first line of a text, as one word between single quotes of a shell; without what `not_these` are.
std::string quoted(std::string const& text, std::string_view not_these = "") {
  std::string out = "'";
  for (char const c : text.substr(0, text.find('\n'))) {
    if (not_these.find(c) != not_these.npos) continue;
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

// ----------------------------------------------------------------------------------------------- bash

std::string in_bash(Completed const& value) {
  switch (value.kind) {
    case Completed::words:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(value.choice, " "));
    case Completed::files:
      return "_swizproof_files -f";
    case Completed::folders:
      return "_swizproof_files -d";
    case Completed::nothing:
      break;
  }
  return ":";
}

std::string bash(CLI::App const& app) {
  std::string const common = option_names(app);
  std::string names, options, values;
  auto const add_values = [&](CLI::App const& of, std::string const& command) {
    for (CLI::Option const* option : options_of(of, false))
      if (takes_value(*option))
        values += fmt::format("    {},{}) {}; return ;;\n", command, option->get_name(),
                              in_bash(completed(*option)));
  };
  for (CLI::App const* sub : commands_of(app)) {
    names += (names.empty() ? "" : "|") + sub->get_name();
    auto const places = options_of(*sub, true);
    options += fmt::format("    {}) options='{}'; argument() {{ {}; }} ;;\n", sub->get_name(),
                           option_names(*sub), places.empty() ? ":" : in_bash(completed(*places.front())));
    add_values(*sub, sub->get_name());
  }
  add_values(app, "*");
  std::string words = names;
  std::replace(words.begin(), words.end(), '|', ' ');
  return fmt::format(
      R"bash(# bash completion of swizproof {version}; written by `swizproof --completions bash`.
_swizproof_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}}

_swizproof() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command= options='{words}' i
  COMPREPLY=()
  argument() {{ :; }}
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {names}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $command,$before in
{values}  esac
  case $command in
{options}  esac
  if [[ -z $command || $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options {common}" -- "$word"))
  else
    argument
  fi
}}
complete -F _swizproof swizproof
)bash",
      fmt::arg("version", SWIZPROOF_VERSION), fmt::arg("words", words), fmt::arg("names", names),
      fmt::arg("values", values), fmt::arg("options", options), fmt::arg("common", common));
}

// ------------------------------------------------------------------------------------------------ zsh

std::string in_zsh(Completed const& value) {
  switch (value.kind) {
    case Completed::words:
      return fmt::format("({})", fmt::join(value.choice, " "));
    case Completed::files:
      return "_files";
    case Completed::folders:
      return "_files -/";
    case Completed::nothing:
      break;
  }
  return " ";
}

/// `'--at-most[wavefronts that are allowed]:value: '`
std::string in_zsh(CLI::Option const& option) {
  std::string const name = option.get_name();
  bool const several = takes_several(option);
  if (option.get_positional())
    return fmt::format("'{}:{}:{}'", several ? "*" : "", name, in_zsh(completed(option)));
  std::string text = quoted(option.get_description(), "[]:");
  text = fmt::format("{}{}[{}]", several ? "*" : "", name, text.substr(1, text.size() - 2));
  if (takes_value(option)) text += fmt::format(":value:{}", in_zsh(completed(option)));
  return "'" + text + "'";
}

std::string zsh(CLI::App const& app) {
  std::string commands, common, cases;
  for (CLI::Option const* option : options_of(app, false)) common += "    " + in_zsh(*option) + "\n";
  for (CLI::App const* sub : commands_of(app)) {
    std::string const question = quoted(question_of(*sub), ":");
    commands += fmt::format("    {}:{}\n", sub->get_name(), question);
    cases += fmt::format("        {}) _arguments $common", sub->get_name());
    for (bool const positional : {false, true})
      for (CLI::Option const* option : options_of(*sub, positional))
        cases += " \\\n          " + in_zsh(*option);
    cases += " ;;\n";
  }
  return fmt::format(R"zsh(#compdef swizproof
# zsh completion of swizproof {}; written by `swizproof --completions zsh`.
_swizproof() {{
  local context state state_descr line
  typeset -A opt_args
  local -a commands common
  commands=(
{})
  common=(
{})
  _arguments -C $common '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
{}      esac ;;
  esac
}}
_swizproof "$@"
)zsh",
                     SWIZPROOF_VERSION, commands, common, cases);
}

// ----------------------------------------------------------------------------------------------- fish

std::string in_fish(CLI::Option const& option, std::string const& when) {
  std::string line = fmt::format("complete -c swizproof -n '{}'", when);
  if (!option.get_positional())
    line += option.get_lnames().empty() ? " -s " + option.get_snames().front()
                                        : " -l " + option.get_lnames().front();
  if (takes_value(option)) {
    Completed const value = completed(option);
    switch (value.kind) {
      case Completed::words:
        line += fmt::format(" -x -a '{}'", fmt::join(value.choice, " "));
        break;
      case Completed::files:
        line += option.get_positional() ? " -F" : " -r -F";
        break;
      case Completed::folders:
        line += " -x -a '(__fish_complete_directories)'";
        break;
      case Completed::nothing:
        if (option.get_positional()) return {};
        line += " -x";
    }
  }
  return line + (option.get_positional() ? "" : " -d " + quoted(option.get_description(), "\\")) + "\n";
}

std::string fish(CLI::App const& app) {
  std::string text = fmt::format(
      "# fish completion of swizproof {}; written by `swizproof --completions fish`.\ncomplete -c swizproof "
      "-f\n",
      SWIZPROOF_VERSION);
  for (CLI::App const* sub : commands_of(app))
    text += fmt::format("complete -c swizproof -n __fish_use_subcommand -a {} -d {}\n", sub->get_name(),
                        quoted(question_of(*sub), "\\"));
  for (CLI::Option const* option : options_of(app, false)) text += in_fish(*option, "true");
  for (CLI::App const* sub : commands_of(app))
    for (bool const positional : {false, true})
      for (CLI::Option const* option : options_of(*sub, positional))
        text += in_fish(*option, "__fish_seen_subcommand_from " + sub->get_name());
  return text;
}

}  // namespace

std::string completions(CLI::App const& app, std::string_view shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

}  // namespace swizproof::command
