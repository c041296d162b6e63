#include <swizproof/claim/obligation.hpp>
#include <swizproof/engine/decide.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace swizproof {

namespace {

/// Decides a statement into report.found and what goes with it.
struct Decide {
  Obligation const& obligation;
  Limits const& limits;
  ObligationReport& report;

  void operator()(AccessesHold const& hold) const {
    TileVerdict const tile =
        check(hold.map, hold.placements, {hold.at_most, hold.align, obligation.arch, limits});
    report.found = tile.outcome;
    if (std::holds_alternative<Refuted>(tile.one_to_one.outcome) && !tile.broadcast) {
      report.engines = {tile.one_to_one.engine};
      report.detail = "not one-to-one: two elements share a place";
      return;
    }
    bool fits = true;
    for (AccessVerdict const& v : tile.accesses) {
      fits = fits && !v.misfit;
      report.detail += (report.detail.empty() ? "" : " + ") +
                       (v.misfit ? "an access that does not fit" : std::to_string(v.wavefronts)) +
                       (v.excess() > 0 ? " (excess " + std::to_string(v.excess()) + ")" : "");
      if (report.domain.find(v.domain) == std::string::npos)
        report.domain += (report.domain.empty() ? "" : " | ") + v.domain;
      for (Engine const e : v.engines)
        if (std::find(report.engines.begin(), report.engines.end(), e) == report.engines.end())
          report.engines.push_back(e);
      report.accesses.push_back(v);
    }
    if (fits) report.detail += " wavefronts";
  }
  void operator()(Malformed const& malformed) const { throw malformed.error; }
  void operator()(FunctionsEqual const& two) const {
    Equality const found = compare(two.left, two.right, two.align, limits);
    report.found = found.outcome;
    if (auto* const refuted = std::get_if<Refuted>(&report.found);
        refuted != nullptr && !refuted->values.empty())
      refuted->question = two.left.text + " = " + two.right.text;
    report.engines = found.engines;
    report.domain = found.domain;
    report.detail = std::holds_alternative<Proved>(found.outcome) ? "the same function" : "two functions";
    if (found.difference)
      report.detail += ": at " + std::to_string(found.difference->input) + " " +
                       std::to_string(found.difference->left) + " and " +
                       std::to_string(found.difference->right) + " " + found.unit;
  }
  void operator()(IsBijective const& one) const {
    Fact const fact = is_bijective(one.map, limits);
    report.found = fact.outcome;
    report.engines = {fact.engine};
    report.domain = one.map.domain() == nullptr
                        ? "all 64-bit numbers"
                        : "indices 0.." + std::to_string(one.map.domain()->size() - 1);
    report.detail = std::holds_alternative<Proved>(fact.outcome) ? "bijective" : "not bijective";
    if (auto const* refuted = std::get_if<Refuted>(&fact.outcome)) {
      report.detail += ": " + refuted->question;
      for (auto const& [name, value] : refuted->values)
        report.detail += ", " + name + " = " + std::to_string(value);
    }
  }
  void operator()(AlwaysHolds const& always) const {
    for (Variable const& v : always.variables)
      report.domain += (report.domain.empty() ? "" : ", ") + v.name +
                       (v.unlimited() ? ": every 64-bit number"
                                      : " = " + std::to_string(v.first) + ".." + std::to_string(v.last()));
    Question const q =
        ask_of_all("the expression is 0", 64, always.variables, [&always]<Word W>(std::span<W const> values) {
          return states(truth_of<W>(!(always.expression(values, values[0]) == 0)));
        });
    Answer const answer = decide(q, limits, Effort::all);
    report.found = answer.outcome;
    report.engines = answer.engines;
    report.detail = always.text;
  }
  void operator()(IsAligned const& aligned) const {
    Alignment const found = alignment_of(aligned.map, limits);
    report.engines = {found.engine};
    report.domain = found.domain;
    report.found = found.outcome;
    if (!std::holds_alternative<Proved>(found.outcome)) return;
    report.detail = "exactly the multiples of " + std::to_string(found.bytes) + " bytes";
    std::uint64_t const all = found.period / std::gcd(found.period, aligned.to);
    for (std::uint64_t i = 0; i < all; ++i) {
      if (!found.holds(i * aligned.to)) {
        report.found = Refuted{"a base that is not in the set", {{"base", i * aligned.to}}};
        return;
      }
    }
  }
};

}  // namespace

ObligationReport decide(Obligation const& obligation, Limits const& limits) {
  auto const start = std::chrono::steady_clock::now();
  ObligationReport report;
  try {
    std::visit(Decide{obligation, limits, report}, obligation.what);
  } catch (InputError const& caught) {
    InputError error = caught;
    if (!std::holds_alternative<Malformed>(obligation.what))
      error.message = obligation.source + ": '" + obligation.name + "': " + error.message;
    report = {};
    report.found = Unknown{error.message};
    report.error = std::move(error);
  }
  report.outcome = report.found;
  if (obligation.expect_refuted) {
    if (std::holds_alternative<Refuted>(report.found)) report.outcome = Proved{};
    if (std::holds_alternative<Proved>(report.found))
      report.outcome = Refuted{"it was expected to be refuted, and holds", {}};
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace swizproof
