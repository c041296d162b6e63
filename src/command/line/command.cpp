// Reads the command line and hands over to one subcommand.
#include "command/line/command.hpp"
#include "command/line/help.hpp"
#include "command/kernel/launch.hpp"

#include "system/whole_file.hpp"
#include "parse/text/nearest.hpp"
#include "report/report.hpp"

#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace swizproof::command {

void LayoutArgument::add_to(CLI::App& app) {
  app.add_option(
         "LAYOUT", text,
         "shape:stride such as (8,64):(64,1), a swizzle, a C++ type, ...; see 'swizproof language layout'")
      ->required();
  app.add_option("--element", element,
                 "element type where LAYOUT does not say: f16 half_t bf16 f32 fp8 i8 ... or Nb")
      ->type_name("ELEMENT");
}

Mapping LayoutArgument::parse() const {
  MappingOptions options;
  if (!element.empty()) options.element_bits = parse_element(element);
  return parse_mapping(text, options);
}

Mapping LayoutArgument::parse_for_every_base() const {
  Mapping map = text == "-" ? parse_or_dash() : parse();
  if (!map.base_address) return map;
  map.notes.push_back(
      fmt::format("the answer is not of the pointer's address {:#x} but of every base that is aligned as the "
                  "layout needs it: check, equal and align answer for the address",
                  *map.base_address));
  map.base_address.reset();
  map.text = to_string(map);
  return map;
}

std::string LayoutArgument::text_for_every_base(Mapping const& map) const {
  return parse().base_address ? map.text : text;
}

Mapping LayoutArgument::parse_or_dash() const {
  if (text != "-") return parse();
  if (!element.empty()) throw InputError::whole("- has no elements", element, "leave --element out");
  Mapping none;
  none.text = "-";
  return none;
}

CLI::Option* AccessArguments::add_to(CLI::App& app, std::string const& description) {
  CLI::Option* const access =
      app.add_option("--access", texts, description)->type_name("ACCESS")->allow_extra_args(true);
  app.add_option("--block", block,
                 "threads of a block for accesses by threadIdx: X, X,Y or X,Y,Z (default: one warp)")
      ->type_name("INTEGERS");
  return access;
}

std::vector<Access> AccessArguments::parse(std::optional<DeclaredArray> const& array,
                                           std::vector<std::string>& notes) const {
  AccessOptions options{array, {}};
  if (!block.empty()) options.block = parse_block(block);
  if (options.block && texts.empty())
    throw InputError::whole("--block is for accesses, and there is none", block, "give --access");
  std::vector<Access> all;
  for (std::string const& text : texts) all.push_back(parse_noted_access(text, notes, options));
  return all;
}

CLI::Option* add_output_to(CLI::App& app, std::string const& name, std::string& path,
                           std::string const& description) {
  return app.add_option(name, path, description)->type_name("FILE")->check([](std::string const& text) {
    return std::string(text.empty() ? "the name is empty" : "");
  });
}

CLI::Option* add_format_to(CLI::App& app, std::string& format) {
  return app
      .add_option("--format", format,
                  "text, or gcc: 'FILE:LINE: error: ...' for each finding, as editors read it")
      ->check(CLI::IsMember({"text", "gcc"}))
      ->capture_default_str();
}

CLI::Option* add_brief_to(CLI::App& app, Common& common) {
  return app
      .add_flag("--brief", common.brief,
                "print what a person reads first: verdicts, numbers, worst cases, the fix, notes")
      ->disable_flag_override();
}

void refuse_brief(Common const& common, std::string const& form) {
  if (!common.brief) return;
  throw InputError::whole("--brief shortens the printed text, and none is printed here", form,
                          "leave --brief out");
}

Style style_of(Common const& common) { return {common.color, STDOUT_FILENO, common.brief}; }

void print_json(Common const& common, nlohmann::ordered_json const& document, int indent) {
  fmt::print(common.streams.out, "{}\n", json_text(document, indent));
}

void write_output(Common const& common, std::string const& path, std::string const& what,
                  std::string const& text, bool quiet) {
  if (path == "-") {
    fmt::print(common.streams.out, "{}", text);
    return;
  }
  WholeFile(path, what).write(text);
  if (!quiet) fmt::print("{}  {:.1f} KiB\n", path, static_cast<double>(text.size()) / 1024);
}

namespace {

bool is_command(CLI::App const& app, std::string const& word) {
  auto const commands = app.get_subcommands([&](CLI::App const* sub) { return sub->get_name() == word; });
  return !commands.empty();
}

/// Output that could not be written is an error, not a success without output.
void finish_output(Streams const& streams) {
  if (std::fflush(streams.out) != 0 || std::ferror(streams.out) != 0)
    throw std::system_error(errno, std::generic_category(), "standard output");
}

/// A text that was requested instead of an answer.
class Printed : public CLI::Success {
 public:
  explicit Printed(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  std::string text_;
};

/// Adds what every command has.
void add_common(CLI::App& app, Common& common) {
  app.set_version_flag("--version", "swizproof " SWIZPROOF_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", common.json, "one JSON document on standard output")->disable_flag_override();
  app.add_option("--timeout", common.timeout, "CPU seconds for one solver query")
      ->envname("SWIZPROOF_TIMEOUT")
      ->check([](std::string const& text) {
        double const seconds = std::strtod(text.c_str(), nullptr);
        return seconds >= 0.001 && seconds <= 1e6 ? "" : "must be from 0.001 to 1000000 seconds";
      })
      ->capture_default_str();
  app.add_option("--seed", common.seed, "random seed of the solver")->capture_default_str();
  app.add_option("--arch", common.arch,
                 "architecture whose bank model is used; 'prove FILE' takes several: sm_90,sm_100")
      ->type_name("ARCH")
      ->delimiter(',')
      ->each([&common](std::string const&) { common.arch_is_given = true; })
      ->multi_option_policy(CLI::MultiOptionPolicy::Join)
      ->check([](std::string const& text) {
        try {
          (void)parse_architecture(text);
          return std::string();
        } catch (InputError const& error) {
          std::string const what = error.input.empty() ? error.message : error.message + " '" + text + "'";
          return error.hint.empty() ? what : what + "; " + error.hint;
        }
      })
      ->capture_default_str();
  app.add_option("--color", common.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--completions",
                 "print what completes command lines in this shell: source <(swizproof --completions bash)")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->each([&app](std::string const& shell) { throw Printed(completions(app, shell)); })
      ->trigger_on_parse();
  app.add_flag_callback(
         "--man", [&app] { throw Printed(manual(app)); }, "print the manual page: swizproof --man | man -l -")
      ->trigger_on_parse();
  app.parse_complete_callback([&common] {  // runs before the command
    if (common.json) refuse_brief(common, "--json");
  });
  app.footer("Exit codes: 0 holds, 1 refuted, 2 bad input, 3 undecided, 4 two engines disagree.");
}

/// Says on standard error what went wrong; with --json on standard output too.
int fail(Common const& common, bool json, InputError const& error, std::string const& text, Exit code) {
  std::fputs(text.c_str(), common.streams.err);
  if (json) print_json(common, {{"error", to_json(error)}});
  std::fflush(common.streams.out);
  return code;
}

std::vector<std::string> command_names(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::App const* sub : commands_of(app)) names.push_back(sub->get_name());
  return names;
}

/// The values of CLI11's message "--color: alwys not in {auto,always,never}"; none in others.
std::vector<std::string> values_in(std::string const& message) {
  std::vector<std::string> values;
  std::size_t const brace = message.find(" not in {");
  if (brace == message.npos) return values;
  std::string list = message.substr(brace + 9, message.find('}', brace) - brace - 9) + ",";
  for (std::size_t comma = list.find(','); comma != list.npos; comma = list.find(',')) {
    values.push_back(list.substr(0, comma));
    list.erase(0, comma + 1);
  }
  return values;
}

/// The options that every command has, and those of one.
std::vector<std::string> option_names(CLI::App const& app, std::string const& command) {
  std::vector<std::string> names;
  auto const add = [&](CLI::App const& of) {
    for (CLI::Option const* option : of.get_options())
      for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
  };
  add(app);
  for (CLI::App const* sub : app.get_subcommands([&](CLI::App const* s) { return s->get_name() == command; }))
    add(*sub);
  return names;
}

/// If the command line could not be read, --color was not either.
std::string style_of_errors(Streams const& streams) { return streams.err == stderr ? "auto" : "never"; }

/// The first command of a line, behind options of all; else its first word.
std::string command_of(CLI::App const& app, int argc, char const* const* argv) {
  for (int i = 1; i < argc; ++i)
    if (is_command(app, argv[i])) return argv[i];
  return argc > 1 ? argv[1] : "";
}

/// Throws where the word behind an option that takes a value is an option: CLI11 takes it for the value.
void refuse_options_as_values(CLI::App const& app, int argc, char const* const* argv) {
  std::string const command = command_of(app, argc, argv);
  CLI::App const* const sub = is_command(app, command) ? app.get_subcommand(command) : nullptr;
  auto const option = [&](std::string const& word) -> CLI::Option const* {
    std::string const name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name.size() < 3) return nullptr;
    CLI::Option const* const own = sub == nullptr ? nullptr : sub->get_option_no_throw(name);
    return own != nullptr ? own : app.get_option_no_throw(name);
  };
  for (int i = 1; i + 1 < argc; ++i) {
    CLI::Option const* const takes = option(argv[i]);
    if (takes != nullptr && takes->get_expected_min() > 0 && std::strchr(argv[i], '=') == nullptr &&
        option(argv[i + 1]) != nullptr)
      throw InputError::whole(fmt::format("{} needs a value, and {} is an option", argv[i], argv[i + 1]),
                              fmt::format("{} {}", argv[i], argv[i + 1]),
                              "see swizproof " + command + " --help");
  }
}

/// Error for a command line that cannot be read. "unknown command" is ours: CLI11 is about missing subcommands.
InputError usage_error(CLI::App const& app, CLI::ParseError const& error, int argc, char const* const* argv) {
  std::string const word = command_of(app, argc, argv);
  bool const unknown = !word.empty() && word[0] != '-' && !is_command(app, word);
  InputError out{unknown ? "unknown command '" + word + "'" : std::string(error.what())};
  bool const known = !word.empty() && is_command(app, word);
  if (!known && !unknown && error.get_name() == "RequiredError")
    return {
        "a command is missing", {}, 0, 0, "swizproof kernel FILE.ptx, for instance: see swizproof --help"};
  std::string const all = known ? "see swizproof " + word + " --help" : "see swizproof --help";
  if (unknown) {
    out.hint = did_you_mean_of(word, command_names(app), all);
  } else if (std::vector<std::string> const values = values_in(out.message); !values.empty()) {
    std::size_t const from = std::min(out.message.find(": "), out.message.size() - 2) + 2;
    out.hint = did_you_mean_of(out.message.substr(from, out.message.find(' ', from) - from), values, all);
  } else {
    out.hint = all;
    std::vector<std::string> const options = option_names(app, word);
    for (int i = 1; i < argc; ++i)
      if (std::string const option(argv[i], std::strcspn(argv[i], "=")); option.starts_with("--"))
        if (std::string const question = did_you_mean(option, options); !question.empty())
          out.hint = question + " " + all;
  }
  return out;
}

/// Reads the command line and does it, or prints the requested text: --man, --help. Throws all that commands throw.
int parse_and_run(CLI::App& app, Common& common, int argc, char const* const* argv) {
  refuse_options_as_values(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (Printed const& asked) {
    fmt::print(common.streams.out, "{}", asked.text());
  } catch (CLI::Success const& help) {
    std::ostringstream text;
    app.exit(help, text, text);
    fmt::print(common.streams.out, "{}", text.str());
  }
  finish_output(common.streams);
  return common.exit_code;
}

/// Adds all that the command line may say.
void describe_to(CLI::App& app, Common& common) {
  app.name("swizproof");
  app.description(
      "Example: swizproof check '(32,32):(33,1)' --element f32 --access column.b32.load\n"
      "         is a column of this padded tile read without bank conflicts?\n\n"
      "swizproof proves things about CuTe swizzles, layouts and shared-memory banks.\n"
      "Start with 'swizproof prove', 'swizproof inspect \"Sw<3,4,3>\"' or 'swizproof accesses'.");
  show_questions(app);
  add_common(app, common);
  add_commands(app, common);
}

/// A command line on these streams.
int run(int argc, char const* const* argv, Streams const& streams, std::stop_token stop) {
  std::clearerr(streams.out);
  Common common;
  common.streams = streams;
  common.stop = std::move(stop);
  CLI::App app;
  describe_to(app, common);
  // Asked for, also where the command line cannot be read.
  bool const json =
      std::any_of(argv, argv + argc, [](char const* word) { return std::string_view(word) == "--json"; });
  try {
    return parse_and_run(app, common, argc, argv);
  } catch (CLI::ParseError const& error) {
    InputError const usage = usage_error(app, error, argc, argv);
    return fail(common, json, usage, describe(usage, Style(style_of_errors(streams), STDERR_FILENO)),
                bad_input);
  } catch (InputError const& error) {
    return fail(common, json, error, describe(error, Style(common.color, STDERR_FILENO)), bad_input);
  } catch (Disagreement const& error) {
    return fail(common, json, {"two engines disagree: " + std::string(error.what())},
                fmt::format("swizproof: two engines disagree; this is a bug, please report it:\n  {}\n",
                            error.what()),
                disagreement);
  } catch (std::bad_alloc const&) {
    return fail(common, json, {"out of memory"}, "swizproof: out of memory\n", undecided);
  } catch (std::system_error const& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)  // of a thread that cannot be made
      return fail(common, json, {"out of memory"}, "swizproof: out of memory\n", undecided);
    return fail(common, false, {""}, fmt::format("swizproof: cannot write the output: {}\n", error.what()),
                bad_input);
  } catch (std::logic_error const& error) {
    return fail(
        common, json, {std::string("internal error: ") + error.what()},
        fmt::format("swizproof: internal error; this is a bug, please report it:\n  {}\n", error.what()),
        disagreement);
  }
}

/// A stream into a string.
class Written {
 public:
  Written() : stream_(open_memstream(&text_, &size_)) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  Written(Written const&) = delete;
  Written& operator=(Written const&) = delete;
  ~Written() {
    std::fclose(stream_);
    std::free(text_);
  }
  [[nodiscard]] std::FILE* stream() const { return stream_; }
  [[nodiscard]] std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

/// A stream out of a string. An empty one has no bytes to be opened.
std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_from(std::string_view text) {
  std::FILE* const file = text.empty() ? std::fopen("/dev/null", "rb")
                                       : fmemopen(const_cast<char*>(text.data()), text.size(), "rb");
  if (file == nullptr) throw std::bad_alloc();
  return {file, &std::fclose};
}

}  // namespace

int run(int argc, char const* const* argv) { return run(argc, argv, Streams{}, {}); }

std::string commands() {
  Common common;
  CLI::App app;
  describe_to(app, common);
  return description_of(app).dump();
}

Reply answer(std::vector<std::string> words, std::string_view input, std::stop_token stop) {
  auto const to_output = [](std::string const& word) {
    return word == "--svg=-" || word == "--html=-" || word == "--sarif=-";
  };
  if (std::none_of(words.begin(), words.end(), to_output)) words.emplace_back("--json");
  words.emplace_back("--color=never");
  std::vector<char const*> argv{"swizproof"};
  for (std::string const& word : words) argv.push_back(word.c_str());
  Written const out, err;
  auto const in = stream_from(input);
  int const code = run(static_cast<int>(argv.size()), argv.data(),
                       Streams{in.get(), out.stream(), err.stream()}, std::move(stop));
  return {code, out.text(), err.text()};
}

}  // namespace swizproof::command
