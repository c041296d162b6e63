// swizproof crosscheck: do recorded device results equal the model?
#include "command.hpp"

#include "../evidence.hpp"
#include "../report.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

constexpr std::size_t most_printed = 20;

std::string read_file(std::string const& name) {
  std::ifstream file(name, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InputError{"cannot read the file", name, 0, name.size(), {}};
  return text;
}

nlohmann::ordered_json to_json(Contradiction const& c) {
  return {{"where", c.where}, {"recorded", c.recorded}, {"predicted", c.predicted}};
}

void run(Common& common, std::vector<std::string> const& files) {
  std::vector<Evidence> records;
  for (std::string const& file : files) records.push_back(recompute(file, read_file(file)));
  std::vector<Contradiction> all;
  std::uint64_t compared = 0;
  for (Evidence const& e : records) {
    compared += e.compared;
    all.insert(all.end(), e.contradictions.begin(), e.contradictions.end());
  }
  std::vector<Contradiction> const shards = check_shards(records);
  all.insert(all.end(), shards.begin(), shards.end());
  if (!all.empty()) common.exit_code = refuted;
  if (common.json) {
    nlohmann::ordered_json out{
        {"verdict", all.empty() ? "proved" : "refuted"}, {"compared", compared}, {"mismatches", all.size()}};
    out["contradictions"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < std::min(all.size(), most_printed); ++i)
      out["contradictions"].push_back(to_json(all[i]));
    fmt::print("{}\n", out.dump(2));
    return;
  }
  Style const style(common.color, STDOUT_FILENO);
  for (Evidence const& e : records)
    fmt::print("{:<11} {}, {}: {} compared, {}\n", e.campaign, e.device, e.date, e.compared,
               e.contradictions.empty() ? style.good("0 mismatches")
                                        : style.bad(fmt::format("{} mismatches", e.contradictions.size())));
  for (std::size_t i = 0; i < std::min(all.size(), most_printed); ++i)
    fmt::print("  {}\n    recorded {}, the model says {}\n", all[i].where, all[i].recorded, all[i].predicted);
  if (all.size() > most_printed) fmt::print("  ... and {} more\n", all.size() - most_printed);
}

}  // namespace

void add_crosscheck(CLI::App& app, Common& common) {
  CLI::App* const sub =
      app.add_subcommand("crosscheck", "Do recorded device results (gpu/evidence/*.json) equal the model?");
  auto const files = std::make_shared<std::vector<std::string>>();
  sub->add_option(
         "FILE", *files,
         "records of swizproof-gpu; shards of one campaign together, so that they are checked to be\n"
         "complete and disjoint")
      ->required();
  sub->callback([&common, files] { run(common, *files); });
}

}  // namespace swizproof::command
