// An entry of a file of obligations, as text: the only printer of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// An entry with its keys in the order in which they are added. What is empty is left out: a text, a list, a number that is nothing.
/// `TomlEntry("obligation").add("name", "A").text()` is `[[obligation]]\nname = "A"\n`. Checked by tests/unit/report/toml_entry_test.cpp.
class TomlEntry {
 public:
  /// `obligation` or `kernel`.
  explicit TomlEntry(std::string const& array) : text_("[[" + array + "]]\n") {}

  TomlEntry& add(std::string const& key, std::string const& text);
  TomlEntry& add(std::string const& key, std::vector<std::string> const& texts);
  TomlEntry& add(std::string const& key, std::optional<std::uint64_t> number);
  /// A value that is TOML: what toml_list() and toml_table() give.
  TomlEntry& add_value(std::string const& key, std::string const& value);

  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  std::string text_;
};

/// A text as TOML has it: `"a"`, and of several lines between ''' where that can be.
[[nodiscard]] std::string toml_text(std::string const& text);

/// `[64, 64]`. `join` of values that are TOML.
[[nodiscard]] std::string toml_list(std::vector<std::string> const& values);

/// `{box = [64, 64]}` of keys and values that are TOML, `{}` of none; keys whose value is empty are left out.
[[nodiscard]] std::string toml_table(std::vector<std::pair<std::string, std::string>> const& values);

/// A key as TOML has it: `width`, and with other letters `"#0"`.
[[nodiscard]] std::string toml_key(std::string const& key);

/// Name of an obligation, in one line: white space as one blank each, at most 100 bytes.
[[nodiscard]] std::string obligation_name(std::string const& text);

}  // namespace swizproof
