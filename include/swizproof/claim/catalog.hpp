// The claims that swizproof ships, each with its domain, its source and its negative control.
// They are stated in proofs/, one file per statement.
#pragma once

#include <swizproof/claim/claim.hpp>

#include <vector>

namespace swizproof {

/// The whole built-in catalogue in the order of proofs/catalog.cpp. Names are unique. Making it costs
/// no solver time: questions are built when a claim is decided.
[[nodiscard]] std::vector<Claim> catalog();

}  // namespace swizproof
