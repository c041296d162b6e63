// Ways of a block that data choose: at each condition by data that control needs, one of its two values.
#pragma once

#include "names.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace swizproof::flow_detail {

/// Values of the conditions of one way. Ways are followed one after the other: the next one differs in the last condition that has not had both
/// values. A condition is a name: equal ones have one value. Checked by tests/reference/flow_any_data.py.
class Decisions {
 public:
  static constexpr std::size_t most_ways = 256, most_conditions = 16;

  /// A way that starts: no condition was met.
  void start() { met_ = 0, values_.clear(); }
  /// The value of a condition in this way; nothing if it is one too many.
  std::optional<bool> value(Name condition);
  /// The value of a condition that was met before.
  [[nodiscard]] std::optional<bool> known(Name condition) const {
    auto const at = values_.find(condition);
    return at == values_.end() ? std::nullopt : std::optional(at->second);
  }
  /// One of `count` numbers, 0 in the first way; nothing if it has too many conditions or ways.
  std::optional<unsigned> choose(unsigned count);
  /// Begins another way; false if all were followed.
  bool next();
  /// Ways that were followed to their end, and the last one.
  [[nodiscard]] std::size_t ways() const { return ways_; }
  [[nodiscard]] bool any() const { return !path_.empty(); }

 private:
  [[nodiscard]] std::optional<bool> next_value();
  std::vector<bool> path_{};
  std::size_t met_ = 0, ways_ = 1;
  std::map<Name, bool> values_{};
};

}  // namespace swizproof::flow_detail
