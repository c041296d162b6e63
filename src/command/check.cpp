// swizproof check LAYOUT --access A...: is each access free of bank conflicts, from everywhere?
#include "command/command.hpp"

#include "text/report.hpp"

#include <swizproof/analysis/check.hpp>

#include <fmt/format.h>

#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  LayoutArgument layout;
  std::vector<std::string> accesses;
  std::optional<unsigned> at_most;
  std::optional<std::uint64_t> align;
};

void run(Common& common, Options const& options) {
  Mapping const map = options.layout.parse_or_dash();
  Architecture const& arch = parse_architecture(common.arch);
  std::vector<Placement> placements;
  for (std::string const& text : options.accesses) placements.emplace_back(map, parse_access(text));
  TileVerdict const found = check(map, placements, {options.at_most, options.align, &arch, common.limits()});
  Fact const& one_to_one = found.one_to_one;
  auto const* const shared = std::get_if<Refuted>(&one_to_one.outcome);
  common.exit_code = exit_code_of(found.outcome);
  if (common.json) {
    Json out{
        {"verdict", word(found.outcome)}, {"layout", map.text}, {"one_to_one", word(one_to_one.outcome)}};
    if (shared != nullptr) out[found.broadcast ? "shared_place" : "counterexample"] = to_json(*shared);
    if (found.broadcast) out["broadcast"] = true;
    out["arch"] = common.arch;
    out["evidence"] = word(arch.support);
    out["accesses"] = Json::array();
    for (AccessVerdict const& v : found.accesses) out["accesses"].push_back(to_json(v));
    if (!map.notes.empty()) out["notes"] = map.notes;
    fmt::print("{}\n", json_text(out, 2));
    return;
  }
  Style const style(common.color, STDOUT_FILENO);
  fmt::print("{}\n", style.strong(map.text));
  for (std::string const& note : map.notes) fmt::print("  note: {}\n", note);
  if (shared != nullptr && !found.broadcast) {
    fmt::print(
        "{}  not one-to-one: {}\n         two inputs share a place; that such a map has no bank conflicts "
        "means nothing\n",
        style.outcome(one_to_one.outcome), describe(*shared));
    return;
  }
  if (found.broadcast)
    fmt::print("  a view with strides of 0: elements share places ({}), it can be read and not written\n",
               describe(*shared));
  if (auto const* unknown = std::get_if<Unknown>(&one_to_one.outcome))
    fmt::print("{}  one-to-one: {}\n", style.outcome(one_to_one.outcome), unknown->reason);
  for (AccessVerdict const& v : found.accesses) fmt::print("\n{}", describe(v, style));
  if (arch.support != Support::measured) fmt::print("\n{}: {}\n", arch.name, style.doubtful(arch.evidence));
}

}  // namespace

void add_check(CLI::App& app, Common& common) {
  CLI::App* const sub =
      app.add_subcommand("check", "Is each access free of bank conflicts, from every origin and base?");
  auto const options = std::make_shared<Options>();
  options->layout.add_to(*sub);
  add_accesses_to(*sub, options->accesses);
  sub->add_option("--at-most", options->at_most, "wavefronts that are allowed (default: the ideal)")
      ->check(CLI::Range(1U, 32U));
  sub->add_option("--align", options->align,
                  "bases are multiples of this many bytes (default: the layout's own alignment,\n"
                  "what the instruction takes, and 16)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31));
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
