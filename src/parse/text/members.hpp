// A record's JSON, read so that nothing in it is left unread.
#pragma once

#include "system/json.hpp"

#include <swizproof/core/swizzle.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace swizproof {

using Json = nlohmann::json;

/// A number in decimal digits.
[[nodiscard]] inline std::string text_of(std::uint64_t n) { return std::to_string(n); }

/// A number of a record: JSON's 1e300 is no integer, and to take it for one would be undefined.
template <class T>
[[nodiscard]] T integer(Json const& value) {
  bool const fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<T>::max()}
                        : value.is_number_integer() && std::is_signed_v<T> &&
                              value.get<std::int64_t>() >= std::int64_t{std::numeric_limits<T>::min()};
  if (!fits) malformed("an integer of its size is expected, not " + std::string(value.type_name()));
  return value.get<T>();
}

template <class T>
[[nodiscard]] std::vector<T> integers(Json const& values) {
  std::vector<T> out;
  for (Json const& value : values) out.push_back(integer<T>(value));
  return out;
}

/// A row has as many members as its campaign writes.
[[nodiscard]] Json const& with_members(Json const& row, std::size_t count);

/// A swizzle as a row has it: [bits, base, shift].
[[nodiscard]] Swizzle swizzle_of(Json const& row);

/// An object whose every member must be read: an unread one is refused.
class Members {
 public:
  /// `what` is the noun of messages: "counts". Throws where `object` is none.
  Members(Json const& object, std::string what);
  /// The member, or nothing where it is missing.
  [[nodiscard]] Json const* find(std::string const& name);
  /// Throws where it is missing.
  [[nodiscard]] Json const& at(std::string const& name);
  [[nodiscard]] std::uint64_t count(std::string const& name) { return integer<std::uint64_t>(at(name)); }
  /// A text that is not empty.
  [[nodiscard]] std::string text(std::string const& name);
  /// A measured number of at least 0.
  [[nodiscard]] double measured(std::string const& name);
  /// A group of counts; empty where it is missing.
  [[nodiscard]] std::map<std::string, std::uint64_t> group(std::string const& name);
  /// Throws if a member was not read.
  void finish() const;

 private:
  Json const& object_;
  std::string what_;
  std::vector<std::string> asked_{};
};

}  // namespace swizproof
