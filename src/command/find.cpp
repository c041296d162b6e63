// swizproof find LAYOUT --access A...: the best swizzle, padding or XOR map, and why none is better.
#include "command.hpp"

#include "../report.hpp"

#include <swizproof/find.hpp>

#include <fmt/format.h>

#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  LayoutArgument layout;
  std::vector<std::string> accesses;
  std::string unit;
  bool padding = false;
  bool linear = false;
  bool all = false;
};

constexpr std::size_t shown = 8;

/// The accesses on the winner, decided again by every engine that applies.
std::vector<AccessVerdict> confirm(SearchProblem const& problem, Mapping const& map, Limits const& limits,
                                   std::span<unsigned const> wavefronts) {
  std::vector<AccessVerdict> verdicts;
  for (std::size_t i = 0; i < problem.accesses.size(); ++i) {
    verdicts.push_back(check(Placement(map, problem.accesses[i]), {wavefronts[i], {}, problem.arch, limits}));
    AccessVerdict const& v = verdicts.back();
    if (!std::holds_alternative<Unknown>(v.outcome) && v.wavefronts != wavefronts[i])
      throw Disagreement{fmt::format("{}: the search says {} wavefronts, check says {}", v.access,
                                     wavefronts[i], v.wavefronts)};
  }
  return verdicts;
}

/// What a search found, ready for either form of output.
struct Answer {
  Json best = Json::array();
  std::uint64_t searched = 0;
  std::string what{};  ///< was searched
  std::string conclusion{};
  std::string table{};  ///< for people
  Mapping winner{};
  std::vector<AccessVerdict> verdicts{};
  Json more = Json::object();
};

std::string unit_name(SearchProblem const& problem) { return problem.on_bytes ? "bytes" : "elements"; }

Json to_json(Candidate const& c, SearchProblem const& problem) {
  Json out{{"swizzle", to_string(c.swizzle)},
           {"unit", unit_name(problem)},
           {"excess", c.excess},
           {"wavefronts", c.wavefronts},
           {"on_bytes", nullptr},
           {"tma", c.tma},
           {"keeps_16_byte_vectors", c.whole_vectors},
           {"period", c.swizzle.period()},
           {"memory", c.memory}};
  if (c.on_bytes) out["on_bytes"] = to_string(*c.on_bytes);
  return out;
}

Answer swizzles(SearchProblem const& problem, bool all) {
  SwizzleSearch const found = find_swizzle(problem);
  Answer out;
  out.searched = found.searched;
  out.what = fmt::format(
      "all {} valid swizzles of {}, {} of which tear a vector apart, in all {} cases ({} different "
      "pattern{})",
      found.searched, unit_name(problem), found.unusable, found.cases, found.patterns,
      found.patterns == 1 ? "" : "s");
  Candidate const& best = found.best.front();
  auto const line = [&](std::string const& own, std::string const& bytes, auto const&... rest) {
    return fmt::format("  {:<14}", own) + (problem.on_bytes ? "" : fmt::format("{:<14}", bytes)) +
           fmt::format("{:>6}  {:<12}{:<5}{:>8}  {}\n", rest...);
  };
  out.table =
      line("on " + unit_name(problem), "on bytes", "excess", "wavefronts", "TMA", "bytes", "16-byte vectors");
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    Candidate const& c = found.best[i];
    out.best.push_back(to_json(c, problem));
    if (i < shown || all)
      out.table += line(to_string(c.swizzle), c.on_bytes ? to_string(*c.on_bytes) : "-", c.excess,
                        fmt::format("{}", fmt::join(c.wavefronts, " ")), c.tma ? "yes" : "no", c.memory,
                        c.whole_vectors ? "whole" : "torn");
  }
  if (found.best.size() > shown && !all)
    out.table += fmt::format("  and {} more that are as good (--all)\n", found.best.size() - shown);
  out.conclusion =
      best.excess == 0
          ? "conflict-free"
          : fmt::format("no swizzle is conflict-free for all accesses: the least excess is {}", best.excess);
  out.winner = swizzled(problem, best.swizzle);
  out.more = {{"tearing", found.unusable}, {"cases", found.cases}, {"patterns", found.patterns}};
  return out;
}

Answer paddings(SearchProblem const& problem, bool all) {
  std::vector<Pitch> const found = find_padding(problem);
  Answer out;
  out.searched = found.size();
  std::int64_t least = found.front().elements, most = least;
  for (Pitch const& p : found) least = std::min(least, p.elements), most = std::max(most, p.elements);
  out.what = fmt::format(
      "all {} row pitches from {} to {} elements that keep the accesses aligned: 128 bytes more change no "
      "bank",
      found.size(), least, most);
  out.table = fmt::format("  {:>7}{:>9}{:>8}  {}\n", "pitch", "bytes", "excess", "wavefronts");
  std::size_t lines = 0;
  for (Pitch const& p : found) {
    bool const best = p.excess == found.front().excess;
    if (best)
      out.best.push_back({{"swizzle", nullptr},
                          {"unit", "elements"},
                          {"excess", p.excess},
                          {"pitch", p.elements},
                          {"memory", p.memory},
                          {"wavefronts", p.wavefronts}});
    if (lines++ < shown || all || p.elements == least)
      out.table +=
          fmt::format("  {:>7}{:>9}{:>8}  {}{}\n", p.elements, p.memory, p.excess,
                      fmt::join(p.wavefronts, " "), p.elements == least ? "   (the tile as it is)" : "");
  }
  out.conclusion = found.front().excess == 0
                       ? "conflict-free"
                       : fmt::format("no pitch is conflict-free for all accesses: the least excess is {}",
                                     found.front().excess);
  out.winner = padded(problem, found.front().elements);
  return out;
}

Answer xor_maps(SearchProblem const& problem) {
  XorSearch const found = find_xor(problem);
  unsigned const swizzle = find_swizzle(problem).best.front().excess;
  Answer out;
  out.searched = found.searched;
  out.what = fmt::format(
      "all linear maps of {} address bits that keep bank words and the accesses' vectors whole: {} that "
      "differ in which lanes meet",
      found.address_bits, found.searched);
  out.best.push_back({{"swizzle", nullptr},
                      {"unit", "bytes"},
                      {"excess", found.best.excess},
                      {"wavefronts", found.best.wavefronts},
                      {"map", found.best.expression},
                      {"rows", found.best.rows}});
  out.table = fmt::format("  {}\n  excess {}; wavefronts {}\n", found.best.expression, found.best.excess,
                          fmt::join(found.best.wavefronts, " "));
  out.conclusion = found.best.excess < swizzle
                       ? fmt::format("it beats every Swizzle, whose least excess is {}", swizzle)
                       : fmt::format("no better than the best Swizzle, whose excess is {}", swizzle);
  out.more = {{"best_swizzle_excess", swizzle}, {"beats_every_swizzle", found.best.excess < swizzle}};
  out.winner = problem.tile;
  out.winner.on_bytes = parse_mapping(found.best.expression).on_bytes;
  out.winner.text = found.best.expression + " on the bytes of " + problem.tile.text;
  return out;
}

void run(Common& common, Options const& options) {
  if (!options.unit.empty() && (options.padding || options.linear))
    throw InputError{
        "--unit is for swizzles: it has no meaning here", options.unit, 0, options.unit.size(), {}};
  SearchProblem problem;
  Mapping const given = options.layout.parse_or_dash();
  problem.tile = without_swizzle(given);
  if (std::holds_alternative<Refuted>(is_one_to_one(problem.tile, common.limits()).outcome))
    throw InputError{"two elements of this tile share a place: no swizzle mends that", problem.tile.text, 0,
                     problem.tile.text.size(), "'swizproof inspect' names the two"};
  problem.on_bytes = options.unit.empty() ? given.acts_on_bytes() : options.unit == "bytes";
  problem.arch = &parse_architecture(common.arch);
  for (std::string const& text : options.accesses) problem.accesses.push_back(parse_access(text));
  Answer answer = options.padding  ? paddings(problem, options.all)
                  : options.linear ? xor_maps(problem)
                                   : swizzles(problem, options.all);
  auto const wavefronts = answer.best.front()["wavefronts"].get<std::vector<unsigned>>();
  answer.verdicts = confirm(problem, answer.winner, common.limits(), wavefronts);
  std::vector<Outcome> outcomes;
  for (AccessVerdict const& v : answer.verdicts) outcomes.push_back(v.outcome);
  Outcome const all = conjunction(outcomes);
  common.exit_code = exit_code_of(all);
  bool const optimal = std::holds_alternative<Proved>(all);
  if (common.json) {
    Json out{{"verdict", word(all)},
             {"layout", problem.tile.text},
             {"best", answer.best},
             {"optimal", optimal},
             {"searched", answer.searched},
             {"searched_what", answer.what},
             {"conclusion", answer.conclusion},
             {"winner", answer.winner.text}};
    out.update(answer.more);
    out["accesses"] = Json::array();
    for (AccessVerdict const& v : answer.verdicts) out["accesses"].push_back(swizproof::to_json(v));
    fmt::print("{}\n", out.dump(2));
    return;
  }
  Style const style(common.color, STDOUT_FILENO);
  fmt::print("{}\n\n{}\n  {}\n  searched: {}\n\n", style.strong(problem.tile.text), answer.table,
             style.strong(answer.conclusion), answer.what);
  fmt::print("{}, decided again by every engine that applies:\n", style.strong(answer.winner.text));
  for (AccessVerdict const& v : answer.verdicts) fmt::print("\n{}", describe(v, style));
}

}  // namespace

void add_find(CLI::App& app, Common& common) {
  CLI::App* const sub =
      app.add_subcommand("find", "The best swizzle, padding or XOR map for accesses to a tile, and a proof");
  auto const options = std::make_shared<Options>();
  options->layout.add_to(*sub);
  add_accesses_to(*sub, options->accesses);
  sub->add_option("--unit", options->unit, "swizzles act on: elements, or bytes (default: as LAYOUT's does)")
      ->check(CLI::IsMember({"elements", "bytes"}));
  auto* const padding =
      sub->add_flag("--padding", options->padding, "search row pitches instead")->disable_flag_override();
  sub->add_flag("--xor", options->linear, "search all linear maps instead")
      ->disable_flag_override()
      ->excludes(padding);
  sub->add_flag("--all", options->all, "show all that are equally good")->disable_flag_override();
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
