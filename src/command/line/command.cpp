// Reads the command line and hands over to one subcommand.
#include "command/kernel/cuda_source.hpp"
#include "command/line/command.hpp"
#include "command/line/help.hpp"
#include "command/line/usage.hpp"
#include "command/kernel/launch.hpp"

#include "system/whole_file.hpp"
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
    throw InputError::whole("--block needs an access", block, "give --access");
  std::vector<Access> all;
  for (std::string const& text : texts) all.push_back(parse_noted_access(text, notes, options));
  return all;
}

CLI::Option* add_output_to(CLI::App& app, std::string const& name, std::string& path,
                           std::string const& description) {
  return app.add_option(name, path, description)->type_name("FILE");
}

CLI::Option* add_format_to(CLI::App& app, std::string& format, bool since) {
  std::vector<std::string> names{"text", "gcc"};
  if (since) names.emplace_back("markdown");
  return app
      .add_option(
          "--format", format,
          std::string("text, or gcc: 'FILE:LINE: error: ...' for each finding, as editors read it") +
              (since ? "; or markdown: the lines\nof --since as a table, for a comment of a pull request"
                     : ""))
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

CLI::Option* add_brief_to(CLI::App& app, Common& common) {
  return app
      .add_flag("--brief", common.brief, "print only verdicts, numbers, worst cases, the fix and notes")
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

constexpr std::string_view how_to_report =
    "To report a bug: the command line, its input and 'swizproof --version', to\n"
    "https://github.com/swizproof/swizproof/issues";

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
  app.set_version_flag("--version", version_text(), "print version and commit");
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
  app.footer(
      fmt::format("Every command takes --json, --arch, --seed and --timeout S (CPU seconds of a "
                  "solver query): swizproof --help has them.\n"
                  "Exit codes: 0 holds, 1 refuted, 2 bad input, 3 undecided, 4 engines disagree.\n{}",
                  how_to_report));
}

/// The text for an error of this program.
std::string bug(std::string_view what, std::exception const& error) {
  return fmt::format("swizproof: {}; this is a bug\n  {}\n  {}\n  {}\n", what, error.what(), version_text(),
                     how_to_report);
}

/// Says on standard error what went wrong; with --json on standard output too.
int fail(Common const& common, bool json, InputError const& error, std::string const& text, Exit code) {
  std::fputs(text.c_str(), common.streams.err);
  if (json) print_json(common, {{"error", to_json(error)}});
  std::fflush(common.streams.out);
  return code;
}

/// If the command line could not be read, --color was not either.
std::string style_of_errors(Streams const& streams) { return streams.err == stderr ? "auto" : "never"; }

/// Reads the command line and does it, or prints the requested text: --man, --help. Throws all that commands throw.
int parse_and_run(CLI::App& app, Common& common, Words const& words) {
  refuse_misuse(app, words);
  try {
    app.parse(Words(words.rbegin(), words.rend()));
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

/// Refuses an empty value of any option, which would be taken as an option that is not given.
void refuse_empty_values(CLI::App& app) {
  for (CLI::App* const command : app.get_subcommands({}))
    for (CLI::Option* const option : command->get_options())
      if (!option->get_positional() && option->get_expected_min() > 0)
        option->check(
            [](std::string const& text) { return std::string(text.empty() ? "the value is empty" : ""); });
}

/// Adds all that the command line may say.
void describe_to(CLI::App& app, Common& common) {
  app.name("swizproof");
  app.description(
      "Example: swizproof kernel FILE.ptx --block 32,8\n"
      "         which lines of this kernel have bank conflicts, and what frees them?\n\n"
      "swizproof proves what accesses to shared memory cost, in kernels and layouts.\n"
      "Then: 'swizproof accesses', 'swizproof language', 'swizproof prove'.");
  show_questions(app);
  add_common(app, common);
  add_commands(app, common);
  refuse_empty_values(app);
}

/// A command line on these streams.
int run(int argc, char const* const* argv, Streams const& streams, std::stop_token stop) {
  std::clearerr(streams.out);
  Common common;
  common.streams = streams;
  common.stop = std::move(stop);
  CLI::App app;
  describe_to(app, common);
  Words const words = with_help_option(app, Words(argv + 1, argv + std::max(argc, 1)));
  // Asked for, also where the command line cannot be read.
  bool const json = std::find(words.begin(), words.end(), "--json") != words.end();
  try {
    return parse_and_run(app, common, words);
  } catch (CLI::ParseError const& error) {
    InputError const usage = usage_error(app, error, words);
    return fail(common, json, usage, describe(usage, Style(style_of_errors(streams), STDERR_FILENO)),
                bad_input);
  } catch (InputError const& error) {
    InputError const shown = with_near_file(error);
    return fail(common, json, shown, describe(shown, Style(common.color, STDERR_FILENO)), bad_input);
  } catch (Disagreement const& error) {
    return fail(common, json, {"two engines disagree: " + std::string(error.what())},
                bug("two engines disagree", error), disagreement);
  } catch (CompilerLimit const& limit) {
    return fail(common, json, {limit.what()}, fmt::format("swizproof: undecided: {}\n", limit.what()),
                undecided);
  } catch (std::bad_alloc const&) {
    return fail(common, json, {"out of memory"}, "swizproof: out of memory\n", undecided);
  } catch (std::system_error const& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)  // of a thread that cannot be made
      return fail(common, json, {"out of memory"}, "swizproof: out of memory\n", undecided);
    return fail(common, false, {""}, fmt::format("swizproof: cannot write the output: {}\n", error.what()),
                bad_input);
  } catch (std::logic_error const& error) {
    return fail(common, json, {std::string("internal error: ") + error.what()}, bug("internal error", error),
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
