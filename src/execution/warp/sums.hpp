// Sums of atoms in the lanes of a warp. An atom is a node whose value is the same in all lanes, and not known.
#pragma once

#include "assumed.hpp"
#include "facts.hpp"

#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace swizproof::execution {

/// Arithmetic on values of lanes modulo 2^bits.
class Sums {
 public:
  explicit Sums(TermFacts& facts) : facts_(facts) {}

  /// a + factor * b.
  Lanes sum(Lanes const& a, Lanes const& b, std::uint64_t factor, unsigned bits);
  Lanes scaled(Lanes const& a, std::uint64_t factor, unsigned bits) { return sum({}, a, factor, bits); }
  /// Drops what is a multiple of 2^bits.
  void reduce(Lanes& v, unsigned bits);
  /// Trailing zeros that the terms of a sum have, at most `bits`.
  [[nodiscard]] unsigned zeros_of(Lanes const& v, unsigned bits);
  /// The largest sum of the terms, if neither it nor it with any lane's number wraps in `width` bits.
  [[nodiscard]] std::optional<std::uint64_t> bound(Lanes const& v, unsigned width);
  /// Least and greatest number of each lane.
  struct Range {
    std::array<std::uint64_t, 32> least{}, most{};
  };
  [[nodiscard]] Range range(Lanes const& v, unsigned width);

 private:
  TermFacts& facts_;
};

/// Atoms of the sums of one warp, and what would settle them.
class Atoms {
 public:
  Atoms(Execution& execution, TermFacts& facts, Assumed& assumed, Sums& sums)
      : execution_(execution), facts_(facts), assumed_(assumed), sums_(sums) {}

  /// The node as an atom, or what is assumed of it.
  Lanes of(Id id, unsigned bits);
  /// An operation on operands that are the same in all lanes: an atom of its own.
  Lanes of_operation(Id id, std::initializer_list<Lanes const*> operands, unsigned bits);
  /// A value that all lanes share, a multiple of 2^zeros: a part of another one.
  Id fresh(unsigned bits, unsigned zeros, Id part_of);
  /// A node of the sum that all lanes share. Precondition: uniform.
  Id node_of(Lanes const& v, unsigned width);

  /// The smaller one of `most` and a value that all lanes share: an atom whose values can all be tried, or a number.
  Lanes at_most(Lanes const& v, std::uint64_t most, unsigned width);

  /// A value that waits for what a request names.
  Lanes stuck(Request request);
  /// Stuck for want of low bits: of the first atom that has not `bits` zeros.
  Lanes missing_bits(Lanes const& a, unsigned bits, std::string reason);
  /// Stuck for want of the first atom's value.
  Lanes missing_value(Lanes const& a, std::string reason);
  [[nodiscard]] Request const& request(std::uint32_t why) const { return requests_[why]; }

 private:
  Id rest_of(Id id, unsigned assumed_bits);

  Execution& execution_;
  TermFacts& facts_;
  Assumed& assumed_;
  Sums& sums_;
  std::unordered_map<std::uint64_t, Id> rests_{};  ///< of atoms whose low bits are assumed: the rest
  std::vector<Request> requests_{};
};

}  // namespace swizproof::execution
