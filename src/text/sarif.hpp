// SARIF 2.1.0: findings as code hosts and editors show them beside the source.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace swizproof {

/// What all findings of a run are instances of.
struct SarifRule {
  std::string_view id{};       ///< "shared-memory-bank-conflict"
  std::string_view summary{};  ///< a sentence
  std::string_view help{};     ///< what to do
};

/// One finding, a warning.
struct SarifFinding {
  std::string message{};
  std::string file{};      ///< of the source; empty where it is not known
  unsigned line = 0;       ///< of the source, from 1
  std::string function{};  ///< that it is in: a kernel's name
};

/// A run of this version of swizproof that found these; `certainty` is what the bank model rests on, a property of the run. Checked by tests/text/report_test.cpp.
[[nodiscard]] nlohmann::ordered_json sarif(std::string_view version, SarifRule const& rule,
                                           std::span<SarifFinding const> findings,
                                           std::string_view certainty = {});

/// The path of a file as a URI: relative as it is, absolute behind file://. `uri_of("/a b/k.cu")` is `file:///a%20b/k.cu`.
[[nodiscard]] std::string uri_of(std::string_view path);

}  // namespace swizproof
