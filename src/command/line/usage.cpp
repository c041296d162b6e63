#include "command/line/usage.hpp"

#include "command/line/help.hpp"
#include "parse/text/nearest.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace swizproof::command {

namespace {

CLI::App const* command_named(CLI::App const& app, std::string const& word) {
  auto const found = app.get_subcommands([&](CLI::App const* sub) { return sub->get_name() == word; });
  return found.empty() ? nullptr : found.front();
}

std::vector<std::string> command_names(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::App const* sub : commands_of(app)) names.push_back(sub->get_name());
  return names;
}

/// A command line, word by word.
class Reading {
 public:
  Reading(CLI::App const& app, Words const& words) : app_(app), words_(words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      CLI::Option const* const takes = option(words[i]);
      if (takes != nullptr && takes->get_expected_min() > 0 && words[i].find('=') == std::string::npos) {
        ++i;
      } else if (!words[i].starts_with('-')) {
        if (first_ == words.size()) first_ = i;
        if (command_ == nullptr) command_ = command_named(app, words[i]);
        if (command_ != nullptr) break;
      }
    }
  }

  /// The command, or null.
  [[nodiscard]] CLI::App const* command() const { return command_; }
  /// The first word that is no option and no option's value; empty if all words are.
  [[nodiscard]] std::string first() const { return first_ < words_.size() ? words_[first_] : ""; }
  [[nodiscard]] std::string help() const {
    return "see swizproof " + (command_ == nullptr ? "" : command_->get_name() + " ") + "--help";
  }
  /// The option of a word `--name` or `--name=value`, or null.
  [[nodiscard]] CLI::Option const* option(std::string const& word) const {
    std::string const name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name.size() < 3) return nullptr;
    CLI::Option const* const own = command_ == nullptr ? nullptr : command_->get_option_no_throw(name);
    return own != nullptr ? own : app_.get_option_no_throw(name);
  }
  /// The options that every command has, and those of this one.
  [[nodiscard]] std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (CLI::App const* of : {&app_, command_})
      for (CLI::Option const* o : of == nullptr ? std::vector<CLI::Option const*>{} : of->get_options())
        for (std::string const& name : o->get_lnames()) names.push_back("--" + name);
    return names;
  }
  /// "--option value" of the command line; the option alone if it has none there.
  [[nodiscard]] std::string with_value(std::string const& name) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].starts_with(name + "=")) return name + " " + words_[i].substr(name.size() + 1);
      if (words_[i] == name) return i + 1 < words_.size() ? name + " " + words_[i + 1] : name;
    }
    return name;
  }

 private:
  CLI::App const& app_;
  Words const& words_;
  CLI::App const* command_ = nullptr;
  std::size_t first_ = words_.size();
};

/// "A command is missing", or an unknown one.
InputError no_command(CLI::App const& app, Reading const& line, Words const& words) {
  std::string const word = line.first();
  if (word.empty())
    return {
        "a command is missing", {}, 0, 0, "swizproof kernel FILE.ptx, for instance: see swizproof --help"};
  auto const command = std::find_if(words.begin(), words.end(),
                                    [&](auto const& w) { return command_named(app, w) != nullptr; });
  if (command != words.end())
    return InputError::whole("the command comes first", word,
                             fmt::format("swizproof {} '{}'", *command, word));
  return {"unknown command '" + word + "'", {}, 0, 0, did_you_mean_of(word, command_names(app), line.help())};
}

bool is_number(std::string const& word) {
  return !word.empty() && word.size() < 5 && word.find_first_not_of("0123456789") == word.npos;
}

/// CLI11's message about an option's value, "--at-most: Value -1 not in range 1 to 32" or "Could not convert: --lane = -1", as ours.
std::optional<InputError> value_error(std::string const& message, Reading const& line) {
  constexpr std::string_view convert = "Could not convert: ", value = ": Value ", range = " not in range ";
  std::string name, wanted = "a number";
  if (message.starts_with(convert)) {
    name = message.substr(convert.size(), message.find(' ', convert.size()) - convert.size());
    CLI::Option const* const option = line.option(name);
    if (option != nullptr && kind_of(*option) == "UINT") wanted = "a number from 0";
  } else if (std::size_t const at = message.find(range); at != message.npos && message.find(value) < at) {
    name = message.substr(0, message.find(value));
    wanted = "a number from " + message.substr(at + range.size());
  } else {
    return std::nullopt;
  }
  std::string const text = line.with_value(name);
  std::size_t const from = std::min(name.size() + 1, text.size() - 1);
  return InputError{name + " takes " + wanted, text, from, text.size() - from, line.help()};
}

/// An option that other tools call by another name, where the command has it: `--excess` is `--at-most N`. Empty without.
std::string other_name(Reading const& line, std::string const& name) {
  struct Row {
    std::string_view theirs, ours, value;
  };
  static constexpr Row rows[] = {
      {"--excess", "--at-most", "N"},  {"--max", "--at-most", "N"},      {"--wavefronts", "--at-most", "N"},
      {"--threads", "--block", "X,Y"}, {"--blockDim", "--block", "X,Y"}, {"--sm", "--arch", "NAME"},
      {"--dtype", "--element", "f16"}, {"--type", "--element", "f16"},   {"--coord", "--at", "ROW,COLUMN"}};
  for (auto const& [theirs, ours, value] : rows)
    if (theirs == name && line.option(std::string(ours)) != nullptr)
      return fmt::format("did you mean {} {}?", ours, value);
  return {};
}

/// A word behind the command that it takes no more: `eval LAYOUT '(3,5)'`.
std::optional<InputError> unexpected_word(std::string const& message, Reading const& line,
                                          Words const& words) {
  std::size_t const colon = message.find(" not expected: ");
  if (line.command() == nullptr || colon == message.npos) return std::nullopt;
  std::string const left = message.substr(colon + 14) + " ";
  auto const word = std::find_if(words.begin() + 1, words.end(),
                                 [&](std::string const& w) { return left.find(" " + w + " ") != left.npos; });
  if (word == words.end()) return std::nullopt;
  bool const is_place =
      word->find_first_not_of("0123456789,()") == word->npos && line.option("--at") != nullptr;
  return InputError::whole(
      fmt::format("{} takes no word more", line.command()->get_name()), *word,
      is_place ? fmt::format("did you mean --at '{}'? {}", *word, line.help()) : line.help());
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

}  // namespace

Words with_help_option(CLI::App const& app, Words words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  bool const known = !words.empty() && command_named(app, words.front()) != nullptr;
  words.insert(words.begin() + (known ? 1 : 0), "--help");
  return words;
}

void refuse_misuse(CLI::App const& app, Words const& words) {
  Reading const line(app, words);
  bool const has_value = std::any_of(words.begin(), words.end(), [](auto const& w) { return w == "--"; });
  for (std::size_t i = 0; i < words.size() && !has_value; ++i) {
    std::string const& word = words[i];
    CLI::Option const* const option = line.option(word);
    std::string const name = word.substr(0, word.find('='));
    bool const known_elsewhere =
        line.command() == nullptr ? !line.first().empty() : line.command()->get_allow_extras();
    if (option == nullptr && name.starts_with("--") && name.size() > 2 && !known_elsewhere) {
      std::string question = other_name(line, name);
      if (question.empty()) question = did_you_mean(name, line.option_names());
      throw InputError::whole("unknown option " + name, word,
                              question.empty() ? line.help() : question + " " + line.help());
    }
    bool const takes =
        option != nullptr && option->get_expected_min() > 0 && word.find('=') == std::string::npos;
    if (!takes) continue;
    if (i + 1 == words.size()) throw InputError::whole(name + " needs a value", word, line.help());
    std::string const& value = words[i + 1];
    if (line.option(value) != nullptr)
      throw InputError::whole(fmt::format("{} needs a value, and {} is an option", word, value),
                              word + " " + value, line.help());
    bool const shape = name == "--block" || name == "--grid" || name == "--cluster";
    if (shape && is_number(value) && i + 2 < words.size() && is_number(words[i + 2])) {
      std::string joined = value;
      std::size_t last = i + 2;
      for (; last < std::min(words.size(), i + 4) && is_number(words[last]); ++last)
        joined += "," + words[last];
      throw InputError::whole(
          fmt::format("{} takes one word: X, X,Y or X,Y,Z", name),
          fmt::format("{}", fmt::join(words.begin() + static_cast<std::ptrdiff_t>(i),
                                      words.begin() + static_cast<std::ptrdiff_t>(last), " ")),
          fmt::format("did you mean {} {}?", name, joined));
    }
    ++i;
  }
  bool const asks_for_all = std::any_of(words.begin(), words.end(), [](auto const& w) {
    return w == "--version" || w == "--man" || w.starts_with("--completions") || w == "--help" || w == "-h";
  });
  if (line.command() != nullptr && line.first() != line.command()->get_name())
    throw no_command(app, line, words);
  if (line.command() == nullptr && !(asks_for_all && line.first().empty()) && !words.empty())
    throw no_command(app, line, words);
}

InputError with_near_file(InputError error) {
  if (error.message != no_such_file || !error.hint.empty()) return error;
  std::filesystem::path const path(error.input);
  std::vector<std::string> names;
  std::error_code none;  // a folder that is not there has no files
  std::filesystem::path const folder = path.has_parent_path() ? path.parent_path() : ".";
  for (auto const& entry : std::filesystem::directory_iterator(folder, none))
    names.push_back((path.parent_path() / entry.path().filename()).string());
  std::sort(names.begin(), names.end());
  error.hint = did_you_mean(path.string(), names);
  return error;
}

InputError usage_error(CLI::App const& app, CLI::ParseError const& error, Words const& words) {
  Reading const line(app, words);
  std::string const message = error.what();
  if (line.command() == nullptr && (error.get_name() == "RequiredError" || !line.first().empty()))
    return no_command(app, line, words);
  if (auto value = value_error(message, line)) return *std::move(value);
  if (auto extra = unexpected_word(message, line, words)) return *std::move(extra);
  InputError out{message};
  out.hint = line.help();
  if (std::vector<std::string> const values = values_in(message); !values.empty()) {
    std::size_t const from = std::min(message.find(": "), message.size() - 2) + 2;
    out.hint = did_you_mean_of(message.substr(from, message.find(' ', from) - from), values, out.hint);
  }
  return out;
}

}  // namespace swizproof::command
