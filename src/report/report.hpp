// How values look: colour, carets under bad input, counterexamples, numbers.
#pragma once

#include <swizproof/analysis/check.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/engine/verdict.hpp>
#include <swizproof/hardware/certainty.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace swizproof {

/// Style of text: in colours, or without where the output is not a terminal; whole, or brief.
class Style {
 public:
  /// `when` is auto, always or never; `file_descriptor` is the output's. NO_COLOR is honoured.
  Style(std::string_view when, int file_descriptor, bool brief = false);
  [[nodiscard]] bool colored() const { return colored_; }
  /// True with --brief: verdicts, numbers, the line of each worst case, the fix, and what qualifies them: notes, and a model
  /// that is not measured. Domains, engines, evidence, lists of lanes, candidates and pictures are left out.
  [[nodiscard]] bool brief() const { return brief_; }
  /// Text behind a line, faint: `  linear, exhaustive`; nothing with --brief.
  [[nodiscard]] std::string aside(std::string const& text) const { return brief_ ? "" : "  " + faint(text); }
  /// Blank line between parts of a text; nothing with --brief.
  [[nodiscard]] std::string_view gap() const { return brief_ ? "" : "\n"; }
  [[nodiscard]] std::string good(std::string_view text) const { return paint("32", text); }
  [[nodiscard]] std::string bad(std::string_view text) const { return paint("1;31", text); }
  [[nodiscard]] std::string doubtful(std::string_view text) const { return paint("33", text); }
  [[nodiscard]] std::string strong(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string faint(std::string_view text) const { return paint("2", text); }
  /// The word of an outcome in its colour.
  [[nodiscard]] std::string outcome(Outcome const& outcome) const;

 private:
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
  bool colored_;
  bool brief_;
};

/// A JSON document as text, on one line or indented. Bytes that are no UTF-8, which JSON cannot hold, become U+FFFD.
[[nodiscard]] inline std::string json_text(nlohmann::ordered_json const& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// {"message", "input", "at", "length", "hint"}; `at` is the caret's position in `input`; both are null without an input.
[[nodiscard]] nlohmann::ordered_json to_json(InputError const& error);

/// The message of wrong input: what, the line, a caret under the place, a hint.
[[nodiscard]] std::string describe(InputError const& error, Style const& style);

/// Its second part: the line, a caret under the place, a hint, indented by `indent`.
[[nodiscard]] std::string marked(InputError const& error, Style const& style, int indent = 2);

/// The text with control characters as `\x1b`, so that a name of a file moves no cursor. Letters of other alphabets stay.
[[nodiscard]] std::string printable(std::string_view text);

/// `x = 0x80, y = 0x90`: small numbers in decimal, others in hexadecimal too; from 2^63 on with a sign, as offsets below 0 are.
[[nodiscard]] std::string describe(Refuted const& refuted);

/// `1.2 s`, `30 ms`.
[[nodiscard]] std::string duration(double seconds);

/// Words in lines of at most `width`, each behind `indent` blanks but the first. `wrapped("one two", 2, 5) == "one\n  two"`
[[nodiscard]] std::string wrapped(std::string const& text, std::size_t indent, std::size_t width);

/// Ascending numbers, runs of them by their ends: `0-7, 9`; `to` stands between the ends.
[[nodiscard]] std::string runs_of(std::span<unsigned const> numbers, std::string_view to = "-");

/// Text for a cell of a Markdown table: bars, and what would begin a tag, escaped.
[[nodiscard]] std::string in_table(std::string text);

/// Names of engines: `linear, exhaustive`.
[[nodiscard]] std::string names_of(std::span<Engine const> engines);

/// The same as a JSON list: `["linear", "exhaustive"]`.
[[nodiscard]] nlohmann::ordered_json list_of(std::span<Engine const> engines);

/// {"phase", "bank", "by_lane", "lanes": [{"lane", "address", "word"}]}: the form of every document. Where the elements are
/// known, a lane has "coordinate", "offset" and "swizzled_offset" too.
[[nodiscard]] nlohmann::ordered_json to_json(Collision const& collision,
                                             std::span<ElementAtFault const> elements = {});

/// `phase 0, bank 4: 8 different words`, then the lanes with their addresses, indented by `indent`: in two rows, or, where
/// the elements are known, one lane a line. `where` stands behind the first line, in parentheses. With --brief the first line.
[[nodiscard]] std::string describe(Collision const& collision, int indent, Style const& style,
                                   std::string_view where = {},
                                   std::span<ElementAtFault const> elements = {});

/// The same of a worst case, with its origin and base.
[[nodiscard]] std::string describe(WorstCost const& cost, int indent, Style const& style);

/// Verdict, numbers, domain and, if it is refuted, which lanes conflict.
/// `is_best`: no other layout that was tried costs less in all; what exceeds the ideal is a conflict then, not proved.
[[nodiscard]] std::string describe(AccessVerdict const& verdict, Style const& style, bool is_best = false);

/// The cost at multiples of the access's footprint, if positions differ; else empty.
[[nodiscard]] std::string footprint_line(AccessVerdict const& verdict, int indent);

/// `         next: ...`: how an access that does not fit the tile can be made to fit it; empty if it fits. `rows` goes behind
/// the line on rows that are misaligned.
[[nodiscard]] std::string next_step(AccessVerdict const& verdict, std::string_view rows = {});

/// The keys of `check` for one access.
[[nodiscard]] nlohmann::ordered_json to_json(AccessVerdict const& verdict);

/// One test case of a JUnit file.
struct JUnitCase {
  std::string name{};
  std::string source{};
  double seconds = 0;
  Outcome outcome{};
  std::string detail{};
  std::string error{};  ///< reason if the line is no valid question; else empty
};

/// A JUnit file: Refuted is a failure, Unknown an error, and so is what could not be asked. Names stay apart: what XML
/// cannot hold, and bytes that are no UTF-8, are written as `\x1b`. Checked by tests/unit/report/report_test.cpp.
/// `certainty` is what the bank model rests on, a property of the suite; empty: left out.
[[nodiscard]] std::string junit_xml(std::string_view suite, std::span<JUnitCase const> cases,
                                    std::string_view certainty = {});

/// Basis of an answer behind a blank line: `evidence: linear, exhaustive; bank model of sm_90: measured on ...`. With --brief
/// the basis of the model, without a blank line, and only if it is not measured.
[[nodiscard]] std::string evidence_footer(std::span<AccessVerdict const> accesses, Architecture const& arch,
                                          Style const& style);

/// The last line of a text on wavefronts: `certainty_line` behind a blank line. With --brief as `evidence_footer`.
[[nodiscard]] std::string certainty_footer(Architecture const& arch, Style const& style);

/// Basis of the bank model (hardware/certainty.hpp), for people.
[[nodiscard]] std::string certainty_line(Architecture const& arch, Style const& style);

/// {"question": ..., "values": {...}}
[[nodiscard]] nlohmann::ordered_json to_json(Refuted const& refuted);

}  // namespace swizproof
