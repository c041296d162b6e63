// swizproof crosscheck: do recorded device results equal the model?
#include "command.hpp"

#include "../evidence.hpp"
#include "../nsight.hpp"
#include "../report.hpp"
#include "../whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

constexpr std::size_t most_printed = 20;

nlohmann::ordered_json to_json(Contradiction const& c) {
  return {{"where", c.where}, {"recorded", c.recorded}, {"predicted", c.predicted}};
}

std::string_view name_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::as_proved:
      return "as proved";
    case Comparison::below:
      return "below the worst case";
    case Comparison::above:
      return "MORE than proved";
    case Comparison::noisy:
      return "more, undecided";
    case Comparison::not_covered:
      return "no obligation";
    case Comparison::not_modelled:
      break;
  }
  return "not modelled";
}

/// A profile's measurements beside the proved accesses.
class Profiles {
 public:
  Profiles(std::vector<std::string> const& profiles, std::vector<std::string> const& obligations,
           Limits const& limits) {
    if (profiles.empty() && obligations.empty()) return;
    if (profiles.empty() || obligations.empty())
      throw InputError{profiles.empty() ? "obligations need a profile beside them: FILE.csv"
                                        : "a profile needs obligations beside it: FILE.toml",
                       (profiles.empty() ? obligations : profiles)[0], 0, 1,
                       "swizproof crosscheck profile.csv layouts.toml"};
    for (std::string const& file : profiles)
      for (Measurement& m : read_nsight(file, read_file(file))) measured_.push_back(std::move(m));
    std::vector<Obligation> all;
    for (std::string const& file : obligations)
      for (Obligation& o : read_obligations(file)) all.push_back(std::move(o));
    proved_ = prove_accesses(all, limits);
    for (Measurement const& m : measured_) compared_.push_back(swizproof::compare(m, proved_));
  }

  [[nodiscard]] std::size_t count(std::initializer_list<Comparison> which) const {
    return static_cast<std::size_t>(std::count_if(compared_.begin(), compared_.end(), [&](Compared const& c) {
      return std::find(which.begin(), which.end(), c.comparison) != which.end();
    }));
  }
  [[nodiscard]] bool empty() const { return proved_.empty() && measured_.empty(); }
  /// Comparisons that say something.
  [[nodiscard]] std::size_t said() const {
    return count({Comparison::as_proved, Comparison::below, Comparison::above, Comparison::noisy});
  }
  [[nodiscard]] std::size_t mismatches() const { return count({Comparison::above}); }
  [[nodiscard]] bool undecided() const {
    return !empty() && (said() == 0 || count({Comparison::noisy}) != 0);
  }

  [[nodiscard]] nlohmann::ordered_json json() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      Measurement const& m = measured_[i];
      nlohmann::ordered_json one{
          {"kernel", m.kernel},          {"where", m.where},
          {"executed", m.executed},      {"wavefronts", m.wavefronts},
          {"wavefronts_each", m.each()}, {"comparison", name_of(compared_[i].comparison)}};
      if (!compared_[i].candidates.empty()) one["proved"] = compared_[i].most;
      one["obligations"] = nlohmann::ordered_json::array();
      for (ProvedAccess const* p : compared_[i].candidates)
        one["obligations"].push_back(
            {{"name", p->obligation}, {"access", p->access}, {"wavefronts", p->wavefronts}});
      all.push_back(std::move(one));
    }
    return all;
  }

  void print(Style const& style) const {
    std::string kernel;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      Measurement const& m = measured_[i];
      Compared const& c = compared_[i];
      if (m.kernel != kernel || i == 0) fmt::print("{}\n", style.strong(kernel = m.kernel));
      std::string const proved = c.candidates.empty() ? "-" : fmt::format("{}", c.most);
      fmt::print("  {:<44} {:>9} times  {:>6.2f} wavefronts each, proved {:>2}  {}\n", shorten(m.where),
                 m.executed, m.each(), proved, paint(style, c.comparison));
      if (c.comparison != Comparison::above && c.comparison != Comparison::noisy) continue;
      for (ProvedAccess const* p : c.candidates)
        fmt::print("      {}: {}, at most {}\n", p->obligation, p->access, p->wavefronts);
    }
    if (measured_.empty()) fmt::print("no access to shared memory in the profile\n");
    if (count({Comparison::above}) != 0)
      fmt::print(
          "\nMORE than proved: the kernel's lanes do not ask for what the obligation says: another layout, "
          "lane map or\n"
          "base address. These counters belong to the instruction alone; other traffic does not change "
          "them.\n");
    if (count({Comparison::noisy}) != 0)
      fmt::print(
          "\nmore, undecided: l1tex counters also count slots lost in arbitration with other clients of the "
          "L1 (global fills,\n"
          "TMA, tensor cores), and 8- and 16-byte loads of equal addresses are counted in another way than "
          "they are timed.\n"
          "Export smsp__sass_* metrics or the source page, which count the instruction alone.\n");
    if (count({Comparison::below}) != 0)
      fmt::print(
          "\nbelow the worst case: consistent. The proof speaks of every origin; these lines met cheaper "
          "ones, or had lanes or\n"
          "groups without work, which the clock pays for and the counter does not.\n");
    if (count({Comparison::not_covered}) != 0)
      fmt::print(
          "\nno obligation: no access of this instruction and width in the obligations for this kernel.\n");
  }

 private:
  static std::string shorten(std::string const& text) {
    return text.size() <= 44 ? text : text.substr(0, 41) + "...";
  }
  static std::string paint(Style const& style, Comparison c) {
    if (c == Comparison::above) return style.bad(name_of(c));
    if (c == Comparison::as_proved || c == Comparison::below) return style.good(name_of(c));
    return style.doubtful(name_of(c));
  }

  std::vector<Measurement> measured_{};
  std::vector<ProvedAccess> proved_{};
  std::vector<Compared> compared_{};
};

void run(Common& common, std::vector<std::string> const& files) {
  std::vector<Evidence> records;
  std::vector<std::string> profiles, obligations;
  for (std::string const& file : files)
    if (file.ends_with(".csv"))
      profiles.push_back(file);
    else if (file.ends_with(".toml"))
      obligations.push_back(file);
    else
      records.push_back(recompute(file, read_file(file)));
  Profiles const user(profiles, obligations, common.limits());
  std::vector<Contradiction> all;
  std::uint64_t compared = user.said();
  for (Evidence const& e : records) {
    compared += e.compared;
    all.insert(all.end(), e.contradictions.begin(), e.contradictions.end());
  }
  std::vector<Contradiction> const shards = check_shards(records);
  all.insert(all.end(), shards.begin(), shards.end());
  std::size_t const mismatches = all.size() + user.mismatches();
  common.exit_code = mismatches != 0 ? refuted : user.undecided() ? undecided : holds;
  if (common.json) {
    nlohmann::ordered_json out{{"verdict", mismatches != 0    ? "refuted"
                                           : user.undecided() ? "unknown"
                                                              : "proved"},
                               {"compared", compared},
                               {"mismatches", mismatches}};
    out["contradictions"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < std::min(all.size(), most_printed); ++i)
      out["contradictions"].push_back(to_json(all[i]));
    if (!user.empty()) out["measurements"] = user.json();
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
  if (!user.empty()) user.print(style);
}

}  // namespace

void add_crosscheck(CLI::App& app, Common& common) {
  CLI::App* const sub = app.add_subcommand(
      "crosscheck", "Do recorded device results, or a profile of your own kernel, equal the model?");
  auto const files = std::make_shared<std::vector<std::string>>();
  sub->add_option(
         "FILE", *files,
         "records of swizproof-gpu (FILE.json); shards of one campaign together, so that they are checked\n"
         "to be complete and disjoint. Or Nsight Compute's CSV (FILE.csv) and the obligations of the\n"
         "kernel (FILE.toml): is any instruction dearer than proved?")
      ->required();
  sub->callback([&common, files] { run(common, *files); });
}

}  // namespace swizproof::command
