// Truths in the lanes of a warp.
#pragma once

#include "assumed.hpp"

#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/terms.hpp>

namespace swizproof::execution {

class Evaluation;

/// Values of truths, which are kept.
class Truths {
 public:
  explicit Truths(Evaluation& in) : in_(in) {}

  LaneTruths value(Id id);
  /// Drops all values, and the memory that they take.
  void release() { kept_ = {}; }
  void clear() { kept_.clear(); }

 private:
  [[nodiscard]] Node const& node(Id id) const;
  LaneTruths compute(Id id);
  LaneTruths of_two(Node const& n);
  LaneTruths atom(Id id);
  LaneTruths relation(Id id);
  void compare(Node const& n, Lanes const& a, Lanes const& b, LaneTruths& t);

  Evaluation& in_;
  Assumed::Memo<LaneTruths> kept_{};
};

}  // namespace swizproof::execution
