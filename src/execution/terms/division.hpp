// Divisions by a value that is not known when the code is compiled: what ptxas makes of them, as quotients and remainders again.
//
//   f = I2F.RP d, y = MUFU.RCP f                     a float at most an ulp from 1 / f
//   e = F2I.TRUNC (y + 0xffffffe)                    2^32 * y less two ulps: an estimate of 2^32 / d
//   r = e + high(e * (-d * e))                       Newton's step: 2^32 / d, or one less
//   q = high(r * x), t = x - q * d                   x / d, or one or two less
//   twice: if t >= d then q + 1, t - d
//
// So q is x / d and t is x % d, of every x and every d but 0, where they are 2 and x: a theorem (proofs/division/division.smt2).
#pragma once

#include "graph.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace swizproof::execution {

/// Recognises the last step of a division.
class Division {
 public:
  Division(Program const& program, Graph& graph) : program_(program), graph_(graph) {}

  /// Quotient or remainder that a choice is, if it is the last correction of a division.
  std::optional<Id> of(Id choice);

 private:
  /// x - q * d, with an estimate q of x / d.
  struct Rest {
    Id x = 0, q = 0;
  };
  [[nodiscard]] std::optional<Rest> rest(Id t, Id d) const;
  [[nodiscard]] Id other_factor(Id product, Id d) const;
  [[nodiscard]] bool is_estimate(Id q, Id x, Id d) const;
  [[nodiscard]] bool is_reciprocal(Id r, Id d) const;
  [[nodiscard]] bool is_first_estimate(Id e, Id d) const;
  /// True for `more` if it is x + 1, or x - d.
  [[nodiscard]] bool is_next(Id x, Id more) const;
  [[nodiscard]] bool is_less(Id t, Id less, Id d) const;
  /// Argument of a function of this name, the first of two; 0: another node.
  [[nodiscard]] Id argument(Id id, std::string_view name, std::string_view or_name = {}) const;
  /// Factors of the upper word of a product of two words of 32 bits.
  [[nodiscard]] std::optional<std::pair<Id, Id>> high_product(Id id) const;
  [[nodiscard]] bool is_zero(Id id) const { return graph_.is_constant(id) && node(id).value == 0; }
  [[nodiscard]] bool is_minus(Id id, Id x) const;
  [[nodiscard]] bool is_word(Id wide, Id x) const;
  [[nodiscard]] Node const& node(Id id) const { return graph_.node(id); }
  Id is_nothing(Id d);

  Program const& program_;
  Graph& graph_;
};

}  // namespace swizproof::execution
