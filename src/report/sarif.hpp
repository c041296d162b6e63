// SARIF 2.1.0: findings that code hosts and editors show next to the source.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// Rule of all findings of a run.
struct SarifRule {
  std::string_view id{};       ///< "shared-memory-bank-conflict"
  std::string_view summary{};  ///< a sentence
  std::string_view help{};     ///< advice
  std::string_view level = "warning";
};

/// Text that takes the place of a part of a file, by lines and columns from 1; the end is behind the part.
struct SarifReplacement {
  std::string file{};
  unsigned line = 1, column = 1, end_line = 1, end_column = 1;
  std::string text{};
};

/// A change that makes a finding go away: all of its replacements together.
struct SarifFix {
  std::string description{};
  std::vector<SarifReplacement> replacements{};
};

/// A place that a finding is about, too.
struct SarifRelated {
  std::string message{};
  std::string file{};
  unsigned line = 0;  ///< from 1
};

/// One finding.
struct SarifFinding {
  std::string message{};
  std::string file{};                  ///< file of the source; empty if it is not known
  unsigned line = 0;                   ///< line of the source, from 1
  std::string function{};              ///< name of the kernel or the obligation with the finding
  std::size_t rule = 0;                ///< index of its rule in the run
  std::string_view kind = "function";  ///< kind of `function`
  std::vector<SarifFix> fixes{};
  std::string_view level{};             ///< instead of its rule's
  std::vector<SarifRelated> related{};  ///< other places

  [[nodiscard]] std::string_view level_in(std::span<SarifRule const> rules) const {
    return level.empty() ? rules[rule].level : level;
  }
};

/// A run of this version of swizproof that found these; `certainty` is what the bank model rests on, a property of the run.
/// Checked by tests/unit/report/report_test.cpp and tests/package/ci.
[[nodiscard]] nlohmann::ordered_json sarif(std::string_view version, std::span<SarifRule const> rules,
                                           std::span<SarifFinding const> findings,
                                           std::string_view certainty = {});

/// The findings with the paths of their files as code hosts know them.
[[nodiscard]] std::vector<SarifFinding> in_checkout(std::vector<SarifFinding> findings);

/// The findings as a compiler prints them, for editors: `k.cu:12: error: gemm: ... [shared-memory-bank-conflict]`, with the name of a kernel, and
/// further lines of a message indented.
[[nodiscard]] std::string gcc_lines(std::span<SarifRule const> rules, std::span<SarifFinding const> findings);

/// The path of a file as code hosts know it: from the root of the checkout, which is the closest folder above the current
/// one that holds `.git`, or the current one where none does. A file elsewhere keeps its path.
[[nodiscard]] std::string path_in_checkout(std::string const& path);

/// The path of a file as a URI: relative as it is, absolute behind file://. `uri_of("/a b/k.cu")` is `file:///a%20b/k.cu`.
[[nodiscard]] std::string uri_of(std::string_view path);

}  // namespace swizproof
