// Words in the lanes of a warp: arithmetic, choices, and operations bit by bit.
#pragma once

#include "assumed.hpp"

#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/terms.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace swizproof::execution {

class Evaluation;

/// Values of words, which are kept.
class Words {
 public:
  explicit Words(Evaluation& in) : in_(in) {}

  /// Value of a node modulo 2^bits, at most its width. The reference ends where the values are released.
  Lanes const& value(Id id, unsigned bits);
  /// Drops all values, but not those to which what is being computed may refer.
  void forget() { forgotten_.push_back(std::exchange(kept_, {})); }
  /// Drops what is forgotten: nothing is being computed.
  void drop_forgotten() { forgotten_.clear(); }
  /// Drops all values, and the memory that they take.
  void release();
  void clear() { kept_.clear(); }
  [[nodiscard]] std::size_t kept() const;

 private:
  [[nodiscard]] Node const& node(Id id) const;
  Lanes compute(Id id, unsigned bits);
  Lanes product(Id id, unsigned bits);
  Lanes product_of_sums(Lanes const& a, Lanes const& b, unsigned bits);
  Lanes divided(Id id, unsigned bits);
  Lanes divided_by_shared(Id id, Lanes const& a, Lanes const& b, unsigned bits);
  Lanes divided_by_number(Id id, Lanes const& a, std::uint64_t d, unsigned bits);
  Lanes extended(Id id, unsigned bits);
  Lanes chosen(Id id, unsigned bits);
  [[nodiscard]] bool is_by_zero(Id id) const;
  Lanes chosen_by_lanes(LaneTruths const& t, Lanes const& a, Lanes const& b, unsigned bits);
  Lanes chosen_by_all(Node m, Id condition, Lanes const& a, Lanes const& b, Lanes const& apart,
                      unsigned bits);

  Evaluation& in_;
  Assumed::Memo<Lanes> kept_{};
  /// Values of hypotheses that failed, to which what is being computed may refer.
  std::vector<Assumed::Memo<Lanes>> forgotten_{};
};

/// Operations that sums of atoms pass where nothing is carried over a bit that matters.
class Bitwise {
 public:
  explicit Bitwise(Evaluation& in) : in_(in) {}

  Lanes shifted_left(Id id, unsigned bits);
  Lanes shifted_right(Id id, unsigned bits);
  /// AND, OR or XOR.
  Lanes joined(Id id, unsigned bits);
  /// The low `bits` of a & mask. `exact`: how many bits of `a` are given.
  Lanes masked(Id id, Lanes const& a, std::uint64_t mask, unsigned bits, unsigned exact);

 private:
  [[nodiscard]] Node const& node(Id id) const;
  Lanes shifted_by_lanes(Id id, unsigned bits);
  Lanes shifted_by_shared(Id id, Lanes const& a, Lanes const& by, unsigned bits);
  Lanes shifted_by(Id id, unsigned k, unsigned bits);
  /// Two sums combined bit by bit: `a` has terms, at least as many as `b`.
  Lanes joined_sums(Node const& n, Lanes const& a, Lanes const& b, unsigned bits);

  Evaluation& in_;
};

}  // namespace swizproof::execution
