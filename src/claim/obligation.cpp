#include "claim/operand.hpp"

#include <swizproof/claim/obligation.hpp>
#include <swizproof/engine/decide.hpp>

#include <chrono>
#include <numeric>
#include <unordered_map>

namespace swizproof {

namespace {

/// Adds a line that takes more than its allowance, or may.
void add_line(AllowedLine const& l, std::vector<Outcome>& outcomes) {
  std::string const text = l.allowance.line + ": more wavefronts above the ideal than allowed, in sum";
  if (l.verdict == KernelVerdict::refuted) outcomes.push_back(Refuted{text, {}});
  if (l.verdict == KernelVerdict::unknown) outcomes.push_back(Unknown{text});
}

/// Adds what is not proved of a kernel's races.
void add_races(KernelRaces const& races, std::string const& language, std::vector<Outcome>& outcomes) {
  if (races.verdict == RaceVerdict::proved) return;
  std::string text = "races: " + races.reason;
  if (!races.races.empty())
    text = std::string(name_of(races.races[0].kind)) + ": " + language + " lines " +
           std::to_string(races.races[0].first.ptx_line) + " and " +
           std::to_string(races.races[0].second.ptx_line);
  if (races.verdict == RaceVerdict::refuted)
    outcomes.push_back(Refuted{text, {}});
  else
    outcomes.push_back(Unknown{text});
}

/// Decides a statement into report.found and what goes with it.
struct Decide {
  Obligation const& obligation;
  Limits const& limits;
  ObligationReport& report;

  void add(AccessVerdict const& v) const {
    if (report.domain.find(v.domain) == std::string::npos)
      report.domain += (report.domain.empty() ? "" : " | ") + v.domain;
    add_engines(report.engines, v.engines);
    report.accesses.push_back(v);
  }
  /// The cost of an access, or why it has none, in a few words.
  static std::string brief(AccessVerdict const& v) {
    if (std::holds_alternative<LostStore>(v.found)) return "a store that loses elements";
    if (v.cost() == nullptr) return "an access that does not fit";
    return std::to_string(v.cost()->wavefronts) +
           (v.excess() > 0 ? " (excess " + std::to_string(v.excess()) + ")" : "");
  }
  /// The accesses as a kernel has them that goes through its tile once: positions do not overlap.
  static std::vector<Placement> once_over_the_tile(AccessesHold const& hold) {
    std::vector<Placement> out;
    for (Placement const& p : hold.placements)
      out.push_back(p.footprint_clause().empty() ? p : p.at_footprints());
    return out;
  }
  /// Counts an access of a budget. Proved if it can be counted, at any cost.
  static Outcome spend(AccessVerdict const& v, CountedAccesses const& part, std::size_t i,
                       std::uint64_t executions, Spending& spent) {
    WorstCost const* const cost = v.cost();
    if (cost == nullptr) return v.outcome();
    auto const uncountable = [&](std::string const& why) {
      return Unknown{"'" + part.obligation + "', " + v.access + ": " + why};
    };
    if (!cost->total) return uncountable("its cases are too many to be counted");
    std::uint64_t const weight = part.hold.weights.empty() ? 1 : part.hold.weights[i];
    Expense of{part.obligation, weight, 0, 0};
    std::uint64_t cases = 0;
    bool const large = __builtin_mul_overflow(weight, *cost->total, &of.total) ||
                       __builtin_mul_overflow(weight, executions, &cases) ||
                       __builtin_mul_overflow(cases, v.ideal, &of.ideal) ||
                       __builtin_add_overflow(spent.total, of.total, &spent.total) ||
                       __builtin_add_overflow(spent.ideal, of.ideal, &spent.ideal);
    if (large) return uncountable("more than 2^64 wavefronts");
    spent.expenses.push_back(std::move(of));
    return Proved{};
  }

  void operator()(AccessesHold const& hold) const {
    TileVerdict const tile =
        check(hold.map, hold.placements, {hold.at_most, hold.align, obligation.arch, limits});
    report.found = tile.outcome;
    if (std::holds_alternative<Refuted>(tile.one_to_one.outcome) && !tile.broadcast) {
      report.engines = {tile.one_to_one.engine};
      report.detail = "not one-to-one: two elements share a place";
      return;
    }
    bool decided = true, all_cost = true;
    for (AccessVerdict const& v : tile.accesses) {
      decided = decided && !std::holds_alternative<Unknown>(v.found);
      all_cost = all_cost && v.cost() != nullptr;
      report.detail += (report.detail.empty() ? "" : " + ") + brief(v);
      add(v);
    }
    if (!decided)
      report.detail = not_decided;
    else if (all_cost)
      report.detail += " wavefronts";
  }
  void operator()(StaysWithin const& budget) const {
    Spending spent{budget.wavefronts, 0, 0, {}};
    std::vector<Outcome> outcomes;
    for (CountedAccesses const& part : budget.parts) {
      std::vector<Placement> const placements = once_over_the_tile(part.hold);
      TileVerdict const tile =
          check(part.hold.map, placements, {part.hold.at_most, part.hold.align, obligation.arch, limits});
      if (tile.accesses.empty()) {  // it loses elements
        report.engines = {tile.one_to_one.engine};
        report.detail = "'" + part.obligation + "' is not one-to-one: two elements share a place";
        report.found = tile.outcome;
        return;
      }
      for (std::size_t i = 0; i < tile.accesses.size(); ++i) {
        AccessVerdict const& v = tile.accesses[i];
        add(v);
        outcomes.push_back(spend(v, part, i, placements[i].assignments(), spent));
      }
    }
    report.found = conjunction(outcomes);
    if (!std::holds_alternative<Proved>(report.found)) {
      report.detail = "an access that cannot be counted";
      return;
    }
    report.detail = std::to_string(spent.total) + " of " + std::to_string(spent.allowed) +
                    " wavefronts, ideal " + std::to_string(spent.ideal);
    if (spent.total > spent.allowed)
      report.found = Refuted{
          std::to_string(spent.total) + " wavefronts, " + std::to_string(spent.allowed) + " allowed", {}};
    report.spending = std::move(spent);
  }
  void operator()(KernelHolds const& hold) const {
    KernelOptions options = hold.options;
    options.arch = obligation.arch;
    KernelReport const& found = report.kernel.emplace(
        hold.sass ? decide_kernel(hold.sass->module, hold.sass->kernels[hold.function], options)
                  : decide_kernel(*hold.module, hold.module->functions[hold.function], options));
    std::string const language = hold.sass ? "SASS" : "PTX";
    report.domain = "the " + language + ", over all warps, blocks, iterations and parameters; block " +
                    found.block + (found.grid.empty() ? "" : ", grid " + found.grid);
    if (!found.assumed_bases.empty()) report.domain += "; assumed: " + found.assumed_bases;
    for (std::string const& one : found.rests_on) report.domain += "; assumed: " + one;
    std::vector<Outcome> outcomes{Proved{}};
    unsigned proved = 0, refuted = 0, data = 0, unknown = 0, data_accepted = 0, idle = 0;
    auto const count = [&](KernelVerdict v) {
      (v == KernelVerdict::proved    ? proved
       : v == KernelVerdict::refuted ? refuted
       : v == KernelVerdict::data    ? data
                                     : unknown) += 1;
    };
    std::vector<KernelAccess const*> all;
    for (auto const* const list : {&found.accesses, &found.global})
      for (KernelAccess const& a : *list) all.push_back(&a);
    for (KernelAccess const* const one : all) {
      KernelAccess const& a = *one;
      idle += a.executed ? 0 : 1;
      bool const accepted = accepts(hold, a);
      data_accepted += accepted ? 1 : 0;
      count(a.verdict);
      std::string const at = language + " line " + std::to_string(a.ptx_line) + ", " + a.op;
      if (a.verdict == KernelVerdict::refuted)
        outcomes.push_back(Refuted{at + (a.reason.empty() ? (a.sectors ? ": more sectors than allowed"
                                                                       : ": more wavefronts than allowed")
                                                          : ": " + a.reason),
                                   {}});
      else if (a.verdict != KernelVerdict::proved && !accepted)
        outcomes.push_back(Unknown{at + ": " + a.reason});
    }
    for (KernelOperand const& o : found.operands) {
      count(o.verdict);
      std::string const at =
          language + " line " + std::to_string(o.ptx_line) + ", " + o.what + " of " + o.op + ": " + o.reason;
      if (o.verdict == KernelVerdict::refuted) outcomes.push_back(Refuted{at, {}});
      if (o.verdict == KernelVerdict::unknown) outcomes.push_back(Unknown{at});
    }
    if (found.races) add_races(*found.races, language, outcomes);
    report.lines = allowed_lines(hold.options.allow, found, hold.options.file);
    for (AllowedLine const& l : report.lines) add_line(l, outcomes);
    report.found = conjunction(outcomes);
    auto const part = [&](unsigned count, char const* what) {
      if (count == 0) return;
      report.detail += (report.detail.empty() ? "" : ", ") + std::to_string(count) + what;
    };
    part(proved, " proved");
    if (idle != 0) report.detail += " (" + std::to_string(idle) + " dead code)";
    part(refuted, " refuted"), part(unknown, " unknown");
    part(data_accepted, " allowed to depend on data"), part(data - data_accepted, " depend on data");
    if (all.empty() && found.operands.empty()) report.detail = "no access to shared memory";
  }
  void operator()(FlowHolds const& hold) const {
    FlowReport const& found = report.flow.emplace(
        trace_flow(*hold.module, hold.module->functions[hold.function], hold.launch, hold.expectations));
    auto const three = [](std::array<std::uint32_t, 3> const& v) {
      return std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]);
    };
    auto const& grid = hold.launch.grid;
    report.domain = "one launch, over all data and every order of the warps; block " +
                    three(hold.launch.block) + ", grid " + three(grid) + ", " + std::to_string(found.blocks) +
                    " of its " + std::to_string(std::uint64_t{grid[0]} * grid[1] * grid[2]) + " blocks";
    if (found.elements != 0 && !found.fault && found.reason.empty())
      report.detail =
          std::to_string(found.right) + " of " + std::to_string(found.elements) + " elements right";
    if (found.fault) report.detail = std::string(name_of(found.fault->kind)) + ": " + found.fault->text;
    if (hold.expectations.empty() && found.verdict == FlowVerdict::proved)
      report.detail = "no race and no fault; no expectation was given";
    for (std::string const& part : found.left_out) report.domain += "; not checked: " + part;
    for (std::string const& part : found.assumed) report.domain += "; assumed: " + part;
    report.basis = Support::measured;  // gpu/evidence/h100-flow.json
    if (found.verdict == FlowVerdict::proved)
      report.found = Proved{};
    else if (found.verdict == FlowVerdict::unknown)
      report.found = Unknown{found.reason}, report.detail = not_decided;
    else
      report.found = Refuted{found.fault   ? report.detail
                             : found.first ? found.first->element + " is not what is expected"
                                           : "elements that are not written, or not expected",
                             {}};
  }
  void operator()(DescriptorHolds const& hold) const { decide_operand(hold, obligation, limits, report); }
  void operator()(TmaHolds const& hold) const { decide_operand(hold, obligation, limits, report); }
  void operator()(FragmentHolds const& hold) const { decide_operand(hold, obligation, limits, report); }
  void operator()(RetileHolds const& hold) const { decide_operand(hold, obligation, limits, report); }
  void operator()(ThreadValuesHold const& hold) const { decide_operand(hold, obligation, limits, report); }
  void operator()(TmaBoxHolds const& hold) const { decide_operand(hold, obligation, report); }
  void operator()(ConversionHolds const& hold) const { decide_conversion(hold, limits, report); }
  void operator()(Malformed const& malformed) const { throw malformed.error; }
  void operator()(FunctionsEqual const& two) const {
    Equality const found = compare(two.left, two.right, two.align, limits);
    report.found = found.outcome;
    if (auto* const refuted = std::get_if<Refuted>(&report.found); refuted != nullptr && found.difference) {
      refuted->question = two.left.text + " = " + two.right.text;
      if (refuted->values.empty()) refuted->values = {{"index", found.difference->input}};
    }
    report.engines = found.engines;
    report.domain = found.domain;
    report.detail = std::holds_alternative<Proved>(found.outcome) ? "the same function" : "two functions";
    if (found.difference)
      report.detail += ": at " + place_of(*found.difference) + " " + std::to_string(found.difference->left) +
                       " and " + std::to_string(found.difference->right) + " " + found.unit;
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
        report.detail += ", " + name + " = " + std::to_string(static_cast<std::int64_t>(value));
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

/// True if both have one report. Budgets alone count weights; no report depends on the map's text and notes.
bool ask_the_same(Obligation const& a, Obligation const& b) {
  auto const* const left = std::get_if<AccessesHold>(&a.what);
  auto const* const right = std::get_if<AccessesHold>(&b.what);
  return left != nullptr && right != nullptr && a.arch == b.arch && a.expect_refuted == b.expect_refuted &&
         left->at_most == right->at_most && left->align == right->align &&
         static_cast<Map const&>(left->map) == static_cast<Map const&>(right->map) &&
         left->placements == right->placements;
}

}  // namespace

std::vector<std::size_t> first_that_ask_the_same(std::span<Obligation const> obligations) {
  std::unordered_map<std::string, std::vector<std::size_t>> known;  // by texts that equal ones share
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < obligations.size(); ++i) {
    first.push_back(i);
    auto const* const hold = std::get_if<AccessesHold>(&obligations[i].what);
    if (hold == nullptr) continue;
    std::string text = hold->map.text;
    for (Placement const& placement : hold->placements) text += '\n' + placement.access().name;
    std::vector<std::size_t>& before = known[std::move(text)];
    auto const same = std::find_if(before.begin(), before.end(), [&](std::size_t earlier) {
      return ask_the_same(obligations[earlier], obligations[i]);
    });
    if (same == before.end())
      before.push_back(i);
    else
      first.back() = *same;
  }
  return first;
}

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
