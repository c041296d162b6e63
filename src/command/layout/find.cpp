// swizproof find LAYOUT --access A...: the best swizzle, padding or XOR map, and why none is better.
#include "command/layout/code.hpp"
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/find.hpp>
#include <swizproof/engine/decide.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <variant>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct FindArguments {
  LayoutArgument layout;
  AccessArguments accesses;
  std::vector<std::uint64_t> weights;
  std::string unit;
  bool padding = false;
  bool linear = false;
  bool all = false;
  std::string emit;
};

constexpr std::size_t shown = 8;  ///< candidates of a table without --all
constexpr std::uint64_t heaviest = 1'000'000;

/// The accesses on the winner, checked as `check` does.
std::vector<AccessVerdict> check_again(SearchProblem const& problem, Map const& map, Limits const& limits,
                                       Bill const& bill) {
  std::vector<AccessVerdict> verdicts;
  for (std::size_t i = 0; i < problem.accesses.size(); ++i) {
    verdicts.push_back(
        check(Placement(map, problem.accesses[i]), {bill.wavefronts[i], {}, problem.arch, limits}));
    AccessVerdict const& v = verdicts.back();
    if (std::holds_alternative<Unknown>(v.found)) continue;
    auto const bill_says = [](unsigned most, std::uint64_t total) {
      return fmt::format("{} wavefronts at the most and {} in all", most, total);
    };
    must_agree(v.access, Engine::search, bill_says(bill.wavefronts[i], bill.totals[i]), v.engines.front(),
               v.cost() == nullptr
                   ? "that it has no cost"
                   : bill_says(v.cost()->wavefronts, v.cost()->total.value_or(bill.totals[i])));
  }
  return verdicts;
}

/// Linear maps, and the cost of the best swizzles for comparison.
struct LinearSearch {
  XorSearch maps{};
  std::uint64_t least_total = 0;
  unsigned least_excess = 0;
  [[nodiscard]] bool beats_every_swizzle() const { return maps.best.cost.total < least_total; }
};

struct FindResult {
  std::string arch{};
  std::vector<std::string> notes{};  ///< notes of the LAYOUT
  SearchProblem problem{};
  /// Nothing where the accesses do not fit the tile itself.
  std::variant<std::monostate, SwizzleSearch, PitchSearch, LinearSearch> search{};
  std::uint64_t searched = 0;
  std::string what{};    ///< was searched
  std::string family{};  ///< the same in a few words; no member of it was left out
  std::string conclusion = "the accesses do not fit the tile: nothing was searched";
  std::string ties{};  ///< criterion among equal totals
  Bill bill{};         ///< bill of the winner
  Map winner{};
  std::vector<AccessVerdict> accesses{};  ///< accesses on the winner; or those that do not fit
  std::optional<Code> code{};             ///< code of the winner, if requested
  Outcome outcome{};
  [[nodiscard]] bool found() const { return !std::holds_alternative<std::monostate>(search); }
};

std::string in_all(std::uint64_t total) {
  return fmt::format("{} wavefront{} in all", total, total == 1 ? "" : "s");
}

std::string unit_name(SearchProblem const& problem) { return problem.on_bytes ? "bytes" : "elements"; }

/// Properties of the best swizzle, and of none.
std::string conclusion_of(SwizzleSearch const& found, SearchProblem const& problem) {
  Bill const &best = found.best.front().cost, &gentlest = found.gentlest.cost;
  if (found.best.front().swizzle.bits == 0 && best.excess == 0) return "conflict-free without a swizzle";
  std::string const plain =
      fmt::format("; without a swizzle {}, excess {}", in_all(found.plain.total), found.plain.excess);
  if (best.excess == 0) return "conflict-free" + plain;
  std::string const least =
      fmt::format("no swizzle takes fewer than {} (ideal {})", in_all(best.total), ideal_total(problem));
  if (gentlest.excess == best.excess)
    return fmt::format("{}, nor has less excess in the worst cases than {}", least, best.excess) + plain;
  return fmt::format("{}; the least excess in the worst cases is {}: {}, {}", least, gentlest.excess,
                     to_string(found.gentlest.swizzle), in_all(gentlest.total)) +
         plain;
}

void search_swizzles(FindResult& out) {
  SwizzleSearch found = find_swizzle(out.problem);
  out.accesses = found.misfits;
  if (found.best.empty()) return;
  out.searched = found.searched;
  out.what = fmt::format(
      "all {} valid swizzles of {} ({} split a vector), in all {} cases ({} different modulo the banks)",
      found.searched, unit_name(out.problem), found.unusable, found.cases, found.patterns);
  out.family = fmt::format("all valid swizzles of {}", unit_name(out.problem));
  out.conclusion = conclusion_of(found, out.problem);
  out.ties = "conflict-free, fewest TMA boxes, least excess in the worst cases";
  out.bill = found.best.front().cost;
  out.winner = swizzled(out.problem, found.best.front().swizzle);
  out.search = std::move(found);
}

void search_pitches(FindResult& out) {
  PitchSearch found = find_padding(out.problem);
  out.accesses = found.misfits;
  if (found.fitting.empty()) return;
  out.searched = found.searched;
  out.what = fmt::format(
      "all {} row pitches from {} to {} elements{} ({} would misalign an access); {} bytes more change no "
      "bank",
      found.last - found.first + 1, found.first, found.last,
      found.own > found.last ? fmt::format(" and the tile's own {}", found.own) : "",
      found.searched - found.fitting.size(), found.line_bytes);
  out.family = "all row pitches";
  out.bill = found.fitting.front().cost;
  out.conclusion = out.bill.excess == 0 ? "conflict-free"
                                        : fmt::format("no pitch takes fewer than {} (ideal {})",
                                                      in_all(out.bill.total), ideal_total(out.problem));
  out.ties = "least memory";
  out.winner = padded(out.problem, found.fitting.front().elements);
  out.search = std::move(found);
}

void search_linear_maps(FindResult& out) {
  LinearSearch found{find_xor(out.problem)};
  out.accesses = found.maps.misfits;
  if (!out.accesses.empty()) return;
  SwizzleSearch const swizzles = find_swizzle(out.problem);
  found.least_total = swizzles.best.front().cost.total;
  found.least_excess = swizzles.gentlest.cost.excess;
  out.searched = found.maps.searched;
  out.what = fmt::format(
      "all linear maps of {} address bits that keep bank words and the accesses' vectors whole: {} that "
      "differ in which lanes meet",
      found.maps.address_bits, found.maps.searched);
  out.family = "all linear maps that keep bank words and vectors whole";
  out.conclusion =
      fmt::format("{}: no Swizzle takes fewer than {}, or has less excess than {}",
                  found.beats_every_swizzle() ? "it beats every Swizzle" : "no better than the best Swizzle",
                  in_all(found.least_total), found.least_excess);
  out.bill = found.maps.best.cost;
  out.ties = "least excess in the worst cases";
  out.winner = under(out.problem, found.maps.best.function);
  out.search = std::move(found);
}

SearchProblem problem_of(Common const& common, FindArguments const& options,
                         std::vector<std::string>& notes) {
  if (!options.unit.empty() && (options.padding || options.linear))
    throw InputError::whole("--unit is for swizzles: it has no meaning here", options.unit);
  if (!options.weights.empty() && options.weights.size() != options.accesses.texts.size())
    throw InputError{
        fmt::format("{} --weight for {} --access", options.weights.size(), options.accesses.texts.size()),
        fmt::format("{}", fmt::join(options.weights, " ")), 0, 1,
        "one weight for each access, in their order: how often it runs over the tile"};
  SearchProblem problem;
  Mapping const given = options.layout.parse_for_every_base();
  problem.tile = searched_tile(given);
  notes = given.notes;
  if (std::holds_alternative<Refuted>(is_one_to_one(problem.tile, common.limits()).outcome)) {
    std::string const text = text_of(problem.tile);
    throw InputError::whole("two elements of this tile share a place: no swizzle fixes that", text,
                            "'swizproof inspect' names the two");
  }
  bool const one_layout = problem.tile.on_elements.size() <= 2;  // and its offset
  problem.on_bytes = options.unit.empty() ? given.acts_on_bytes() && one_layout : options.unit == "bytes";
  problem.arch = &parse_architecture(common.arch);
  problem.accesses = options.accesses.parse(given.array, notes);
  problem.weights = options.weights;
  return problem;
}

FindResult compute(Common const& common, FindArguments const& options) {
  FindResult out;
  out.arch = common.arch;
  out.problem = problem_of(common, options, out.notes);
  if (options.padding)
    search_pitches(out);
  else if (options.linear)
    search_linear_maps(out);
  else
    search_swizzles(out);
  if (out.found()) out.accesses = check_again(out.problem, out.winner, common.limits(), out.bill);
  std::vector<Outcome> outcomes;
  for (AccessVerdict const& v : out.accesses) outcomes.push_back(v.outcome());
  out.outcome = conjunction(outcomes);
  if (out.found() && !options.emit.empty() && options.emit != "toml") {
    Mapping winner;
    static_cast<Map&>(winner) = out.winner;
    winner.text = text_of(out.winner);
    out.code = code_in(common, options.emit, winner, options.layout.element);
  }
  return out;
}

// ----------------------------------------------------------------------------------------- JSON

void add(Json& out, TmaAnswer const& tma) {
  out["tma"] = nullptr;
  if (!tma.writes) {
    out["tma_reason"] = tma.reason;
    return;
  }
  out["tma"] = name(tma.writes->mode);
  out["box"] = tma.writes->box;
  out["box_modes"] = tma.writes->modes;
  out["boxes"] = tma.writes->boxes;
  if (tma.element_bits != 0) out["box_element_bits"] = tma.element_bits;
}

void add(Json& out, Bill const& bill) {
  out["excess"] = bill.excess;
  out["total"] = bill.total;
  out["wavefronts"] = bill.wavefronts;
  out["totals"] = bill.totals;
}

Json to_json(Candidate const& c, SearchProblem const& problem) {
  Json out{{"swizzle", to_string(c.swizzle)}, {"unit", unit_name(problem)}};
  add(out, c.cost);
  out["on_bytes"] = nullptr;
  if (c.on_bytes) out["on_bytes"] = to_string(*c.on_bytes);
  add(out, c.tma);
  out["keeps_16_byte_vectors"] = c.whole_vectors;
  out["period"] = c.swizzle.period();
  out["memory"] = c.memory;
  return out;
}

Json best_of(std::monostate, SearchProblem const&) { return Json::array(); }

Json best_of(SwizzleSearch const& found, SearchProblem const& problem) {
  Json all = Json::array();
  for (Candidate const& c : found.best) all.push_back(to_json(c, problem));
  return all;
}

Json best_of(PitchSearch const& found, SearchProblem const&) {
  Json all = Json::array();
  for (Pitch const& p : found.fitting) {
    if (p.cost.total != found.fitting.front().cost.total) continue;
    Json one{{"swizzle", nullptr}, {"unit", "elements"}, {"pitch", p.elements}};
    add(one, p.cost);
    add(one, p.tma);
    one["memory"] = p.memory;
    all.push_back(std::move(one));
  }
  return all;
}

Json best_of(LinearSearch const& found, SearchProblem const&) {
  XorMap const& best = found.maps.best;
  Json one{{"swizzle", nullptr}, {"unit", "bytes"}, {"map", to_string(best.function)}};
  add(one, best.cost);
  add(one, best.tma);
  one["rows"] = best.rows;
  Json all = Json::array();
  all.push_back(std::move(one));
  return all;
}

/// Result of one kind of search.
Json more_of(std::monostate, SearchProblem const&) { return Json::object(); }

Json more_of(SwizzleSearch const& found, SearchProblem const& problem) {
  return {{"splitting", found.unusable},
          {"cases", found.cases},
          {"patterns", found.patterns},
          {"least_excess", to_json(found.gentlest, problem)}};
}

Json more_of(PitchSearch const& found, SearchProblem const&) {
  return {{"own_pitch_fits", found.misfits.empty()}};
}

Json more_of(LinearSearch const& found, SearchProblem const&) {
  return {{"best_swizzle_excess", found.least_excess},
          {"best_swizzle_total", found.least_total},
          {"beats_every_swizzle", found.beats_every_swizzle()}};
}

Json to_json(FindResult const& result) {
  SearchProblem const& problem = result.problem;
  auto const best = [&](auto const& search) { return best_of(search, problem); };
  auto const more = [&](auto const& search) { return more_of(search, problem); };
  Json out{{"verdict", name(result.outcome)},
           {"evidence", name(problem.arch->support)},
           {"certainty", certainty(*problem.arch)},
           {"arch", result.arch},
           {"layout", text_of(problem.tile)},
           {"best", std::visit(best, result.search)},
           {"optimal", result.found() && std::holds_alternative<Proved>(result.outcome)},
           {"searched", result.searched},
           {"searched_what", result.what},
           {"conclusion", result.conclusion},
           {"winner", result.found() ? Json(text_of(result.winner)) : Json()}};
  out["weights"] = Json::array();
  for (std::size_t i = 0; i < problem.accesses.size(); ++i)
    out["weights"].push_back(problem.weights.empty() ? 1 : problem.weights[i]);
  out["ideal_total"] = ideal_total(problem);
  out.update(std::visit(more, result.search));
  if (result.code) out["code"] = to_json(*result.code);
  if (!result.notes.empty()) out["notes"] = result.notes;
  out["accesses"] = Json::array();
  for (AccessVerdict const& v : result.accesses) out["accesses"].push_back(swizproof::to_json(v));
  return out;
}

// ----------------------------------------------------------------------------------------- text

/// `128B (64,64) x2`: mode, box and number of boxes; `u64` behind the box is its element type if that is not the tile's.
std::string describe(TmaAnswer const& tma) {
  if (!tma.writes) return "no";
  std::string const count = tma.writes->boxes == 1 ? "" : fmt::format(" x{}", tma.writes->boxes);
  std::string const of = tma.element_bits == 0 ? "" : fmt::format("u{}", tma.element_bits);
  return fmt::format("{} ({}){}{}", name(tma.writes->mode), fmt::join(tma.writes->box, ","), of, count);
}

constexpr std::size_t best_alone = 1;  ///< candidates of a table with --brief, which has nothing else

std::string table_of(std::monostate, SearchProblem const&, std::size_t) { return {}; }

std::string table_of(SwizzleSearch const& found, SearchProblem const& problem, std::size_t most) {
  auto const line = [&](std::string const& own, std::string const& bytes, auto const&... rest) {
    return fmt::format("  {:<14}", own) + (problem.on_bytes ? "" : fmt::format("{:<14}", bytes)) +
           fmt::format("{:>7}  {:>6}  {:<12}{:<17}{:>8}  {}\n", rest...);
  };
  std::string table = line("on " + unit_name(problem), "on bytes", "total", "excess", "wavefronts", "TMA",
                           "bytes", "16-byte vectors");
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    Candidate const& c = found.best[i];
    if (i < most)
      table += line(to_string(c.swizzle), c.on_bytes ? to_string(*c.on_bytes) : "-", c.cost.total,
                    c.cost.excess, fmt::format("{}", fmt::join(c.cost.wavefronts, " ")), describe(c.tma),
                    c.memory, c.whole_vectors ? "whole" : "split");
  }
  if (most == best_alone) return table;
  if (found.best.size() > most)
    table += fmt::format("  and {} more that are as good (--all)\n", found.best.size() - most);
  Candidate const& best = found.best.front();
  if (!best.tma.writes)
    table += fmt::format("\n  TMA does not write {}: {}\n", to_string(best.swizzle), best.tma.reason);
  return table;
}

std::string table_of(PitchSearch const& found, SearchProblem const&, std::size_t most) {
  std::string table = fmt::format("  {:>7}{:>9}{:>9}{:>8}  {:<12}{}\n", "pitch", "bytes", "total", "excess",
                                  "wavefronts", "TMA");
  std::size_t lines = 0;
  for (Pitch const& p : found.fitting) {
    bool const own = p.elements == found.own;
    if (lines++ < most || (own && most != best_alone))
      table += fmt::format("  {:>7}{:>9}{:>9}{:>8}  {:<12}{}{}\n", p.elements, p.memory, p.cost.total,
                           p.cost.excess, fmt::format("{}", fmt::join(p.cost.wavefronts, " ")),
                           describe(p.tma), own ? "   (the tile as it is)" : "");
  }
  if (most == best_alone) return table;
  for (AccessVerdict const& misfit : found.misfits)
    table += fmt::format("  {:>7}   the tile as it is does not fit {}: {}\n", found.own, misfit.title,
                         std::get<Refuted>(misfit.outcome()).question);
  return table;
}

std::string table_of(LinearSearch const& found, SearchProblem const&, std::size_t most) {
  XorMap const& best = found.maps.best;
  return (most == best_alone ? ""
                             : fmt::format("  {}\n", to_string(best.function))) +  // the winner's text has it
         fmt::format("  total {}; excess {}; wavefronts {}; TMA {}\n", best.cost.total, best.cost.excess,
                     fmt::join(best.cost.wavefronts, " "), describe(best.tma));
}

/// The report, to `out`.
void print_report(std::FILE* out, FindResult const& result, FindArguments const& options,
                  Style const& style) {
  SearchProblem const& problem = result.problem;
  if (!style.brief()) fmt::print(out, "{}\n", style.strong(text_of(problem.tile)));
  for (std::string const& note : result.notes) fmt::print(out, "  note: {}\n", note);
  std::size_t const most = options.all ? std::string::npos : style.brief() ? best_alone : shown;
  auto const table = [&](auto const& search) { return table_of(search, problem, most); };
  if (!result.found()) {
    fmt::print(out, "  nothing was searched: an access does not fit the tile\n");
  } else if (style.brief()) {
    std::string const pad(7 - name(result.outcome).size(), ' ');
    fmt::print(out, "{}{}  {}\n         {}\n{}", style.outcome(result.outcome), pad,
               style.strong(text_of(result.winner)), result.conclusion, std::visit(table, result.search));
  } else {
    std::string const weights =
        problem.weights.empty() ? "" : fmt::format(", times {}", fmt::join(problem.weights, " "));
    fmt::print(out, "\n{}\n  {}\n  searched  {}\n  ranked    by total wavefronts{}; ties: {}\n",
               std::visit(table, result.search), style.strong(result.conclusion), result.what, weights,
               result.ties);
    bool const free = std::all_of(result.accesses.begin(), result.accesses.end(),
                                  [](AccessVerdict const& v) { return v.excess() == 0; });
    fmt::print(out, "\n{}, checked{}:\n", style.strong(text_of(result.winner)),
               free ? "" : fmt::format("; the best of {}, and bank conflicts remain", result.family));
  }
  for (AccessVerdict const& v :
       result.accesses)  // the line of the best candidate has the wavefronts of a proved one
    if (!style.brief() || !std::holds_alternative<Proved>(v.outcome()))
      fmt::print(out, "{}{}", style.gap(), swizproof::describe(v, style, true));
  if (!result.found())
    fmt::print(out, "{}",
               next_step(result.accesses.front(), options.padding ? "" : "; --padding searches such rows"));
  if (!result.accesses.empty()) fmt::print(out, "{}", evidence_footer(result.accesses, *problem.arch, style));
}

/// The report, or with code the code alone, and the report to standard error.
void print_text(Common const& common, FindResult const& result, FindArguments const& options) {
  if (!result.code) return print_report(common.streams.out, result, options, style_of(common));
  print_report(common.streams.err, result, options, {common.color, STDERR_FILENO, common.brief});
  fmt::print(common.streams.err, "\n");
  fmt::print(common.streams.out, "{}", result.code->text);
}

/// The accesses on the winner, with the wavefronts that were found: one obligation if they are the ideal ones, else one for each. On the
/// tile itself where nothing fits it.
std::string obligations_of(Common const& common, FindArguments const& options, FindResult const& result) {
  std::string const layout = result.found() ? text_of(result.winner) : options.layout.text;
  std::string const element = result.found() && result.winner.acts_on_bytes() ? "" : options.layout.element;
  auto const entry = [&](std::vector<std::string> const& accesses, std::optional<unsigned> at_most,
                         std::string const& number) {
    TomlEntry one = command::obligation_of(common, layout + ": " + number + accesses.front(), true);
    one.add("layout", layout).add("element", element);
    return add_accesses(one, accesses, options.accesses.block).add("at_most", at_most).text();
  };
  std::vector<std::string> const& accesses = options.accesses.texts;
  if (result.found())
    for (std::string const& text : accesses)
      if (text.find("[") != std::string::npos && text.find("TiledCopy") == std::string::npos)
        throw InputError::whole(
            "the layout that is found is no array of C, and this is an access to one", text,
            "--emit toml needs the access by row and col, such as ld.shared.b32: row = lane, col = 0");
  if (!result.found() || result.bill.excess == 0) return entry(accesses, {}, "");
  std::string text;
  for (std::size_t i = 0; i < accesses.size(); ++i)
    text +=
        (i == 0 ? "" : "\n") + entry({accesses[i]}, result.bill.wavefronts[i], fmt::format("{}: ", i + 1));
  return text;
}

void run(Common& common, FindArguments const& options) {
  FindResult const result = compute(common, options);
  common.exit_code = exit_code_of(result.outcome);
  if (options.emit == "toml")
    return print_obligation(common, to_json(result), obligations_of(common, options, result), result.notes);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(common, result, options);
}

}  // namespace

void add_find(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "find", "The best swizzle, padding or XOR map for accesses to a tile, and a proof",
                  {"swizproof find '(128,64):(64,1)' --element f16 --access ldmatrix.x4 --access copy.row128",
                   "which swizzle makes both accesses free of conflicts, and can TMA write it?"});
  auto const options = std::make_shared<FindArguments>();
  options->layout.add_to(*sub);
  options->accesses.add_to(*sub)->required();
  sub->add_option("--unit", options->unit,
                  "unit of the swizzles: elements or bytes (default: the unit of LAYOUT's swizzle)")
      ->check(CLI::IsMember({"elements", "bytes"}));
  sub->add_option(
         "--weight", options->weights,
         "how often each access runs over the tile, one for each --access in their order (default: 1\n"
         "each). Ranked by the sum of weight x wavefronts over all cases; ties: conflict-free, then fewest\n"
         "TMA boxes, then least excess in the worst case")
      ->check(CLI::Range(std::uint64_t{1}, heaviest));
  auto* const padding =
      sub->add_flag("--padding", options->padding, "search row pitches instead")->disable_flag_override();
  sub->add_flag("--xor", options->linear, "search all linear maps instead")
      ->disable_flag_override()
      ->excludes(padding);
  auto* const all = sub->add_flag("--all", options->all, "show all candidates that are equally good")
                        ->disable_flag_override();
  add_emit_to(*sub, options->emit);
  add_brief_to(*sub, common)->excludes(all);
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
