// SARIF 2.1.0: findings as code hosts and editors show them beside the source.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace swizproof {

/// Rule of all findings of a run.
struct SarifRule {
  std::string_view id{};       ///< "shared-memory-bank-conflict"
  std::string_view summary{};  ///< a sentence
  std::string_view help{};     ///< what to do
  std::string_view level = "warning";
};

/// One finding.
struct SarifFinding {
  std::string message{};
  std::string file{};                  ///< of the source; empty where it is not known
  unsigned line = 0;                   ///< of the source, from 1
  std::string function{};              ///< that it is in: a kernel's name; an obligation's name
  std::size_t rule = 0;                ///< that it is an instance of, among the run's
  std::string_view kind = "function";  ///< what `function` is
};

/// A run of this version of swizproof that found these; `certainty` is what the bank model rests on, a property of the run.
/// Checked by tests/unit/report/report_test.cpp and tests/package/ci.
[[nodiscard]] nlohmann::ordered_json sarif(std::string_view version, std::span<SarifRule const> rules,
                                           std::span<SarifFinding const> findings,
                                           std::string_view certainty = {});

/// The path of a file as code hosts know it: from the root of the checkout, which is the closest folder above the current
/// one that holds `.git`, or the current one where none does. A file elsewhere keeps its path.
[[nodiscard]] std::string path_in_checkout(std::string const& path);

/// The path of a file as a URI: relative as it is, absolute behind file://. `uri_of("/a b/k.cu")` is `file:///a%20b/k.cu`.
[[nodiscard]] std::string uri_of(std::string_view path);

}  // namespace swizproof
