// Proofs without what they do not need.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizproof {

/// The lemmas of a proof (DRAT, textual) that its empty clause rests on, in their order, and the empty clause. Where
/// they are many, the clauses of the formula that are not needed are removed first. Nothing where the proof does not
/// hold. What is written is checked by check_proof like any other proof: nobody has to believe this. Checked by
/// tests/certificate/trimmer_test.cpp.
[[nodiscard]] std::optional<std::string> trimmed(std::string_view dimacs, std::string_view proof);

}  // namespace swizproof
