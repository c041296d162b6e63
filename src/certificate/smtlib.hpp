// The SMT-LIB 2 form of a claim, that any solver reads.
#pragma once

#include "engine/violations.hpp"

#include <string>
#include <utility>

namespace swizproof {

/// Head of a certificate.
struct Heading {
  std::string name{};
  std::string source{};
  std::vector<std::pair<std::string, std::string>> comments{};
  /// Values of the unknowns, in their order, that violate it: what is expected is then sat. Else unsat.
  std::vector<std::uint64_t> counterexample{};
};

/// "Some question is violated" as a script that ends in (check-sat): unsat proves the claim. `names` are
/// those of the questions.
[[nodiscard]] std::string smtlib(Heading const& heading, Violations const& violations,
                                 std::span<std::string const> names);

}  // namespace swizproof
