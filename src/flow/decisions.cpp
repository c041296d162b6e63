#include "decisions.hpp"

namespace swizproof::flow_detail {

std::optional<bool> Decisions::value(Name condition) {
  if (auto const before = known(condition)) return before;
  if (met_ == path_.size()) {
    if (path_.size() == most_conditions || ways_ == most_ways) return std::nullopt;
    path_.push_back(false);
  }
  return values_[condition] = path_[met_++];
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
