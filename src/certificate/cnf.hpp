// The propositional form of a claim: its circuit of AND and XOR gates, as clauses.
#pragma once

#include "engine/violations.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// Clauses over variables 1, 2, ...; a literal is a variable or its negative, as in DIMACS.
struct Cnf {
  int variables = 0;
  std::vector<std::vector<int>> clauses{};
  /// The literals of each unknown of the graph, lowest bit first: variable i*64+1 and so on, in order.
  std::vector<std::vector<int>> unknowns{};
};

/// True if gates of the same operands are one gate. Terms that are then equal by construction need no proof, and
/// the certificate says less; without it, proofs of the families of thousands of swizzles are ten times as long.
enum class Sharing : std::uint8_t { none, gates };

/// "At least one of the formulas holds": satisfiable iff they are. Constants are folded. Checked by
/// tests/unit/certificate/cnf_test.cpp, which compares every operator with numbers, and by the controls, whose
/// counterexamples must satisfy it.
[[nodiscard]] Cnf cnf(Terms const& terms, std::span<Formula const> any, Sharing sharing);

/// DIMACS text, with comment lines first.
[[nodiscard]] std::string dimacs(Cnf const& cnf, std::span<std::string const> comments);

}  // namespace swizproof
