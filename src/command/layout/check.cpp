// swizproof check LAYOUT --access A...: is each access free of bank conflicts, at every position and base?
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/check.hpp>

#include <fmt/format.h>

#include <memory>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  LayoutArgument layout;
  AccessArguments accesses;
  std::optional<unsigned> at_most;
  std::optional<std::uint64_t> align;
  std::string emit;
};

struct CheckResult {
  Mapping map{};
  Architecture const* arch = nullptr;
  std::string arch_as_written{};
  TileVerdict found{};
  /// Two inputs at one place, if there are such.
  [[nodiscard]] Refuted const* shared() const { return std::get_if<Refuted>(&found.one_to_one.outcome); }
};

CheckResult compute(Common const& common, CheckArguments const& options) {
  CheckResult result{options.layout.parse_or_dash(), &parse_architecture(common.arch), common.arch};
  std::vector<Placement> placements;
  for (Access& access : options.accesses.parse(result.map.array, result.map.notes))
    placements.emplace_back(result.map, std::move(access));
  std::optional<std::uint64_t> const align = options.align ? options.align : declared_alignment(result.map);
  result.found = check(result.map, placements, {options.at_most, align, result.arch, common.limits()});
  return result;
}

Json to_json(CheckResult const& result) {
  TileVerdict const& found = result.found;
  Json out{{"verdict", name(found.outcome)},
           {"layout", result.map.text},
           {"one_to_one", name(found.one_to_one.outcome)}};
  if (result.shared() != nullptr)
    out[found.broadcast ? "shared_place" : "counterexample"] = to_json(*result.shared());
  if (found.broadcast) out["broadcast"] = true;
  out["arch"] = result.arch_as_written;
  Support weakest = result.arch->support;
  for (AccessVerdict const& v : found.accesses) weakest = std::max(weakest, v.support);
  out["evidence"] = name(weakest);
  out["certainty"] = certainty(*result.arch);
  out["accesses"] = Json::array();
  for (AccessVerdict const& v : found.accesses) out["accesses"].push_back(to_json(v));
  if (!result.map.notes.empty()) out["notes"] = result.map.notes;
  return out;
}

void print_text(CheckResult const& result, Style const& style) {
  TileVerdict const& found = result.found;
  Outcome const& one_to_one = found.one_to_one.outcome;
  if (!style.brief()) fmt::print("{}\n", style.strong(result.map.text));
  for (std::string const& note : result.map.notes) fmt::print("  note: {}\n", note);
  if (result.shared() != nullptr && !found.broadcast) {
    fmt::print(
        "{}  not one-to-one: {}\n         two inputs have one offset; the cost of such a map "
        "means nothing\n",
        style.outcome(one_to_one), describe(*result.shared()));
    return;
  }
  if (found.broadcast)
    fmt::print("  a view with strides of 0: elements share places ({}), it can be read and not written\n",
               describe(*result.shared()));
  if (auto const* unknown = std::get_if<Unknown>(&one_to_one))
    fmt::print("{}  one-to-one: {}\n", style.outcome(one_to_one), unknown->reason);
  for (AccessVerdict const& v : found.accesses)
    fmt::print("{}{}{}", style.gap(), describe(v, style), next_step(v));
  if (!found.accesses.empty()) fmt::print("{}", evidence_footer(found.accesses, *result.arch, style));
}

std::string obligation_of(Common const& common, CheckArguments const& options) {
  std::vector<std::string> const& accesses = options.accesses.texts;
  TomlEntry entry = command::obligation_of(common, options.layout.text + ": " + accesses.front(), true);
  entry.add("layout", options.layout.text).add("element", options.layout.element);
  return add_accesses(entry, accesses, options.accesses.block)
      .add("at_most", options.at_most)
      .add("align", options.align)
      .text();
}

void run(Common& common, CheckArguments const& options) {
  CheckResult const result = compute(common, options);
  common.exit_code = exit_code_of(result.found.outcome);
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options), result.map.notes);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace

void add_check(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "check", "Is each access free of bank conflicts, at every position and base?",
      {"swizproof check 'Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)' --access ldmatrix.x4",
       "does ldmatrix read this swizzled tile without conflicts, from every start?"});
  auto const options = std::make_shared<CheckArguments>();
  options->layout.add_to(*sub);
  options->accesses.add_to(*sub)->required();
  sub->add_option("--at-most", options->at_most, "wavefronts that are allowed (default: the ideal)")
      ->check(CLI::Range(1U, 32U));
  sub->add_option("--align", options->align,
                  "bases are multiples of this many bytes (default: the least multiple of\n"
                  "16, the instruction's bytes and the swizzle's period)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31));
  add_emit_toml_to(*sub, options->emit);
  add_brief_to(*sub, common);
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
