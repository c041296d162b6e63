#include "decisions.hpp"

namespace swizproof::flow_detail {

std::optional<bool> Decisions::value(Name condition) {
  if (auto const before = known(condition)) return before;
  auto const value = next_value();
  if (value) values_[condition] = *value;
  return value;
}

std::optional<bool> Decisions::next_value() {
  if (met_ == path_.size()) {
    if (path_.size() == most_conditions || ways_ >= most_ways) return std::nullopt;
    path_.push_back(false);
  }
  return path_[met_++];
}

std::optional<unsigned> Decisions::choose(unsigned count) {
  for (unsigned n = 0; n + 1 < count; ++n) {
    auto const further = next_value();
    if (!further) return std::nullopt;
    if (!*further) return n;
  }
  return count - 1;
}

bool Decisions::next() {
  path_.resize(met_);
  while (!path_.empty() && path_.back()) path_.pop_back();
  if (path_.empty()) return false;
  path_.back() = true;
  ++ways_;
  return true;
}

}  // namespace swizproof::flow_detail
