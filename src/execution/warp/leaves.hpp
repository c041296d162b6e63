// Variables of terms in the lanes of a warp.
#pragma once

#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/terms.hpp>

namespace swizproof::execution {

class Evaluation;

/// Values of leaves: of special registers, parameters, loads, shuffles, ..
class LeafWords {
 public:
  explicit LeafWords(Evaluation& in) : in_(in) {}

  Lanes value(Id id, unsigned bits);
  /// The term that a value is in these lanes, if each condition is decided alike in all of them: `lane < 4 ? array + lane : 0` is the
  /// sum in lanes 0 to 3.
  Id in_lanes(Id value, std::uint32_t lanes);

 private:
  Lanes special(Id id, Leaf const& l, unsigned bits);
  Lanes parameter(Id id, Leaf const& l, unsigned bits);
  Lanes voted(Id id, Leaf const& l, unsigned bits);
  Lanes left(Id id, Leaf const& l, unsigned bits);
  Lanes shuffled(Id id, Leaf const& l, unsigned bits);
  /// Lanes that give a shuffle their value.
  struct Givers;
  Givers givers(Leaf const& l, LaneTruths const& on);
  bool gives(Givers const& givers, unsigned from, unsigned to);

  Evaluation& in_;
};

}  // namespace swizproof::execution
