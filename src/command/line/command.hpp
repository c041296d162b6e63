// Shared parts of the subcommands: the options of every command, and how each one is added.
#pragma once

#include "command/line/run.hpp"

#include "report/report.hpp"

#include <swizproof/parse/parse.hpp>
#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <stop_token>
#include <string>
#include <vector>

namespace swizproof::command {

/// Options of every command, and --brief of those that have it.
struct Common {
  bool json = false;
  bool brief = false;  ///< see Style::brief()
  double timeout = 30;
  unsigned seed = 0;
  std::string arch = "sm_90";
  bool arch_is_given =
      false;  ///< on the command line; else the commands that need more than a bank model look at their input
  std::string color = "auto";
  int exit_code = holds;  ///< set by the command that ran
  Streams streams{};
  std::stop_token stop{};  ///< cancellation

  [[nodiscard]] Limits limits() const {
    Limits limits;
    limits.seconds = timeout;
    limits.seed = seed;
    limits.stop = stop;
    return limits;
  }
};

/// "swizproof 0.1.0, commit 4a35697f"; without the commit where the sources are in no checkout.
[[nodiscard]] std::string version_text();

/// LAYOUT and --element, as every command about a layout takes them.
struct LayoutArgument {
  std::string text;
  std::string element;

  void add_to(CLI::App& app);
  /// Throws InputError.
  [[nodiscard]] Mapping parse() const;
  /// The same, for a command whose answer is of every base: the address of a tensor's pointer is taken off, and a note says so.
  [[nodiscard]] Mapping parse_for_every_base() const;
  /// LAYOUT of an obligation whose answer is of every base: as it was typed, or without the pointer's address that was taken off `map`.
  [[nodiscard]] std::string text_for_every_base(Mapping const& map) const;
  /// The same; `-` is no layout at all, for accesses by raw address. Throws InputError.
  [[nodiscard]] Mapping parse_or_dash() const;
};

/// --access and --block, as every command about accesses to a LAYOUT takes them.
struct AccessArguments {
  static constexpr char const* usual =
      "a named pattern ('swizproof accesses'), INSTRUCTION: row = ..., col = ... for v in a..b, or a load "
      "or\n"
      "store of the array that LAYOUT declares; may be repeated; see 'swizproof language access'";
  std::vector<std::string> texts;
  std::string block;

  CLI::Option* add_to(CLI::App& app, std::string const& description = usual);
  /// The accesses to a tile. What their texts say and they do not depend on goes to `notes`. Throws InputError.
  [[nodiscard]] std::vector<Access> parse(std::optional<DeclaredArray> const& array,
                                          std::vector<std::string>& notes) const;
};

/// Adds an option that names a file, or a folder, to write. An empty name is a mistake: not to write it is to leave the option out.
CLI::Option* add_output_to(CLI::App& app, std::string const& name, std::string& path,
                           std::string const& description);

/// Adds --format: text, or gcc, the lines of findings that editors read; with `since` markdown, the table of a comparison.
CLI::Option* add_format_to(CLI::App& app, std::string& format, bool since = false);

/// Adds --brief to a command whose whole text is longer than what a person reads first.
CLI::Option* add_brief_to(CLI::App& app, Common& common);

/// Throws InputError if --brief is given where no text is printed that it could shorten, but `form`.
void refuse_brief(Common const& common, std::string const& form);

/// How the command's text looks.
[[nodiscard]] Style style_of(Common const& common);

/// 0, 1 or 3.
[[nodiscard]] inline int exit_code_of(Outcome const& outcome) {
  if (std::holds_alternative<Proved>(outcome)) return holds;
  return std::holds_alternative<Refuted>(outcome) ? refuted : undecided;
}

/// The answer of a command with --json: the only place that writes one, and where the words of `answer()` come from.
/// `indent` is that of each level; -1: all on one line.
void print_json(Common const& common, nlohmann::ordered_json const& document, int indent = 2);

/// Writes a file that an option names, `what` in messages, and prints its name and size unless `quiet`. `-` is standard
/// output. Throws InputError.
void write_output(Common const& common, std::string const& path, std::string const& what,
                  std::string const& text, bool quiet);

/// Adds every command that there is: commands.cpp, or commands_of_page.cpp in a browser.
void add_commands(CLI::App& app, Common& common);

void add_check(CLI::App& app, Common& common);
void add_convert(CLI::App& app, Common& common);
void add_find(CLI::App& app, Common& common);
void add_equal(CLI::App& app, Common& common);
void add_align(CLI::App& app, Common& common);
void add_descriptor(CLI::App& app, Common& common);
void add_prove(CLI::App& app, Common& common);
void add_inspect(CLI::App& app, Common& common);
void add_eval(CLI::App& app, Common& common);
void add_predict(CLI::App& app, Common& common);
void add_recheck(CLI::App& app, Common& common);
void add_crosscheck(CLI::App& app, Common& common);
void add_explain(CLI::App& app, Common& common);
void add_flow(CLI::App& app, Common& common);
void add_fragment(CLI::App& app, Common& common);
void add_kernel(CLI::App& app, Common& common);
void add_show(CLI::App& app, Common& common);
void add_tma(CLI::App& app, Common& common);
void add_accesses(CLI::App& app, Common& common);
void add_language(CLI::App& app, Common& common);

}  // namespace swizproof::command
