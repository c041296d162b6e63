#include "parse/text/members.hpp"

#include <algorithm>

namespace swizproof {

Json const& with_members(Json const& row, std::size_t count) {
  if (!row.is_array() || row.size() != count) malformed("a row has not " + text_of(count) + " members");
  return row;
}

Swizzle swizzle_of(Json const& row) {
  return {integer<int>(row.at(0)), integer<int>(row.at(1)), integer<int>(row.at(2))};
}

Members::Members(Json const& object, std::string what) : object_(object), what_(std::move(what)) {
  if (!object_.is_object()) malformed("'" + what_ + "' is no object");
}

Json const* Members::find(std::string const& name) {
  asked_.push_back(name);
  auto const found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

Json const& Members::at(std::string const& name) {
  Json const* const found = find(name);
  if (found == nullptr) malformed("'" + what_ + "' has no '" + name + "'");
  return *found;
}

std::string Members::text(std::string const& name) {
  Json const& value = at(name);
  if (!value.is_string() || value.get_ref<std::string const&>().empty())
    malformed("'" + name + "' is no text");
  return value;
}

double Members::measured(std::string const& name) {
  Json const& value = at(name);
  if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > 1e9)
    malformed("'" + name + "' is no measured number");
  return value.get<double>();
}

std::map<std::string, std::uint64_t> Members::group(std::string const& name) {
  std::map<std::string, std::uint64_t> group;
  Json const* const found = find(name);
  if (found == nullptr) return group;
  if (!found->is_object()) malformed("'" + name + "' is no object");
  for (auto const& [key, value] : found->items()) group[key] = integer<std::uint64_t>(value);
  return group;
}

void Members::finish() const {
  for (auto const& [key, value] : object_.items())
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
      malformed("'" + what_ + "' has " + quoted_key(key) + ", which this program does not know");
}

}  // namespace swizproof
