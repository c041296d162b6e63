// Proofs without what they do not need.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizproof {

/// The lemmas of a proof (DRAT, textual) that its empty clause rests on, in their order, and the empty clause. A clause is
/// removed after its last use (of the formula, and not used: first) where more than `lemmas_a_byte` lemmas are to come for
/// each of its bytes: unused clauses slow down the check of each, and a removal is as long as its clause. With 500, large
/// proofs are checked three times as fast and are half as long again. Nothing where the proof does not hold. The result is checked by check_proof like any other proof, so it need not be trusted. Checked by
/// tests/unit/certificate/trimmer_test.cpp.
[[nodiscard]] std::optional<std::string> trimmed(std::string_view dimacs, std::string_view proof,
                                                 std::size_t lemmas_a_byte = 500);

}  // namespace swizproof
