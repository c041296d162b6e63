// What each campaign's record must say: its counters and its rows, beside the model and gpu/cases.hpp.
#pragma once

#include "evidence/evidence.hpp"

#include "../../gpu/cases.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <map>
#include <set>
#include <type_traits>

namespace swizproof {

using Json = nlohmann::json;

/// Why a text is no record. Throws an exception of the JSON library, as reading it does.
[[noreturn]] inline void malformed(std::string const& why) {
  throw Json::other_error::create(501, why, nullptr);
}

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

/// An object whose every member must be asked for: one that nobody checks is refused.
class Members {
 public:
  /// `what` is the noun of messages: "counts". Throws where `object` is none.
  Members(Json const& object, std::string what);
  /// The member, or nothing where it is missing.
  [[nodiscard]] Json const* find(std::string const& name);
  /// Throws where it is missing.
  [[nodiscard]] Json const& at(std::string const& name);
  [[nodiscard]] std::uint64_t count(std::string const& name) { return integer<std::uint64_t>(at(name)); }
  /// A measured number of at least 0.
  [[nodiscard]] double measured(std::string const& name);
  /// A group of counts; empty where it is missing.
  [[nodiscard]] std::map<std::string, std::uint64_t> group(std::string const& name);
  /// Throws where a member was not asked for.
  void finish() const;

 private:
  Json const& object_;
  std::string what_;
  std::vector<std::string> asked_{};
};

/// The parts of a campaign that a record holds: as many consecutive ones as devices times ranks took part.
struct Share {
  std::uint64_t first = 0, last = 1;  ///< last: behind the last one
  std::uint64_t count = 1;            ///< of all records
  [[nodiscard]] bool has(std::uint64_t unit) const { return unit % count >= first && unit % count < last; }
  /// How many of the units 0 .. `all` - 1.
  [[nodiscard]] std::uint64_t of(std::uint64_t all) const;
  [[nodiscard]] std::uint64_t parts() const { return last - first; }
};

/// A record while it is recomputed.
struct Recomputation {
  Law const& law;
  Evidence& evidence;
  Share share;
  Members counts, longest, rows;

  /// Compares, and notes a contradiction.
  template <class T>
  void equal(std::string const& where, T const& recorded, T const& predicted) {
    ++evidence.compared;
    if (recorded != predicted)
      evidence.contradictions.push_back({where, Json(recorded).dump(), Json(predicted).dump()});
  }
  /// Notes a row by what it is about, which no other row may be.
  void row(std::string const& about, std::set<std::string>& seen);
  /// Units, of this record and of all, where the campaign has `all`.
  void check_units(std::uint64_t all);
};

/// Recomputes the record of a campaign. Throws where the campaign is unknown, or as reading JSON does.
void recompute_campaign(Recomputation& r);

}  // namespace swizproof
