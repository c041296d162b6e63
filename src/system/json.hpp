// JSON that every reader reads alike: the only call of the JSON library's parser for what users give.
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// Why a text is not a document of its format; what() says it without the place.
struct BadJson : std::runtime_error {
  explicit BadJson(std::string const& why, std::size_t at = 0) : std::runtime_error(why), byte(at) {}
  std::size_t byte;  ///< where the text stops being JSON, from 1 on; 0 if it is JSON
};

[[noreturn]] inline void malformed(std::string const& why) { throw BadJson(why); }

/// A key as a message shows it: printable, in one line, at most 40 bytes of it. `'lanes'`
[[nodiscard]] inline std::string quoted_key(std::string key) {
  constexpr std::size_t longest = 40;
  if (key.size() > longest) key = key.substr(0, longest) + "...";
  for (char& c : key)
    if (c < ' ' || c > '~') c = '?';
  return "'" + key + "'";
}

/// The value of a JSON text. Throws BadJson for what is not JSON, for an object that has a key twice (a reader would see one of
/// them), for numbers that no double holds, and for nesting that no document of this program has. Checked by
/// tests/unit/system/json_test.cpp.
[[nodiscard]] inline nlohmann::json parse_json(std::string_view text) {
  using Parsed = nlohmann::json;
  constexpr int deepest = 16;
  std::vector<std::set<std::string>> open;
  try {
    return Parsed::parse(text, [&](int depth, Parsed::parse_event_t event, Parsed& value) {
      if (depth > deepest) malformed("nested more than " + std::to_string(deepest) + " deep");
      if (event == Parsed::parse_event_t::object_start) open.emplace_back();
      if (event == Parsed::parse_event_t::object_end) open.pop_back();
      if (event == Parsed::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
        malformed("the key " + quoted_key(value.get<std::string>()) + " appears twice");
      return true;
    });
  } catch (Parsed::parse_error const& error) {
    throw BadJson("no JSON from byte " + std::to_string(error.byte) + " on", error.byte);
  } catch (Parsed::out_of_range const&) {
    malformed("a number that no JSON reader holds");
  }
}

}  // namespace swizproof
