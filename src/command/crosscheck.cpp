// swizproof crosscheck: do recorded device results equal the model?
#include "command/command.hpp"

#include "evidence/comparison.hpp"
#include "evidence/evidence.hpp"
#include "evidence/nsight.hpp"
#include "text/report.hpp"
#include "system/whole_file.hpp"

#include <swizproof/text/obligations.hpp>

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
    case Comparison::atomic:
      return "atomic, not modelled";
    case Comparison::not_modelled:
      break;
  }
  return "not modelled";
}

/// The same as a key of JSON.
std::string_view key_of(Comparison comparison) {
  constexpr std::string_view keys[] = {"as_proved",   "below",  "above",       "undecided",
                                       "not_covered", "atomic", "not_modelled"};
  return keys[static_cast<std::size_t>(comparison)];
}

/// A profile's measurements beside the proved accesses.
class Profiles {
 public:
  Profiles(std::vector<std::string> const& profiles, std::vector<std::string> const& obligations,
           Architecture const& arch, Limits const& limits)
      : given_(!profiles.empty()), arch_(&arch) {
    if (profiles.empty() && obligations.empty()) return;
    if (profiles.empty() || obligations.empty())
      throw InputError{profiles.empty() ? "obligations need a profile beside them: FILE.csv"
                                        : "a profile needs obligations beside it: FILE.toml",
                       (profiles.empty() ? obligations : profiles)[0], 0, 1,
                       "swizproof crosscheck profile.csv layouts.toml"};
    for (std::string const& file : profiles) add(read_nsight(file, read_file(file)));
    std::vector<Obligation> all;
    for (std::string const& file : obligations)
      for (Obligation& o : read_obligations(file, arch)) {
        arch_ = support_of(o.arch->support) > support_of(arch_->support) ? o.arch : arch_;
        all.push_back(std::move(o));
      }
    refuse_malformed(all);
    ProvedAccesses proved = prove_accesses(all, limits);
    proved_ = std::move(proved.proved);
    left_out_ = std::move(proved.left_out);
    for (Measurement const& m : profile_.measurements) compared_.push_back(swizproof::compare(m, proved_));
  }

  [[nodiscard]] std::size_t count(std::initializer_list<Comparison> which) const {
    return static_cast<std::size_t>(std::count_if(compared_.begin(), compared_.end(), [&](Compared const& c) {
      return std::find(which.begin(), which.end(), c.comparison) != which.end();
    }));
  }
  [[nodiscard]] bool empty() const { return !given_; }
  /// The one of the least support that an obligation is about.
  [[nodiscard]] Architecture const& arch() const { return *arch_; }
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
    for (std::size_t i = 0; i < compared_.size(); ++i) {
      Measurement const& m = profile_.measurements[i];
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
  /// How many lines of each kind, and what is no line.
  [[nodiscard]] nlohmann::ordered_json sums() const {
    nlohmann::ordered_json out{{"lines", compared_.size()}};
    for (Comparison const c : kinds) out[std::string(key_of(c))] = count({c});
    out["never_ran"] = profile_.never_ran;
    out["no_count"] = profile_.no_count;
    out["tables_repeated"] = profile_.repeated;
    out["rows_added_up"] = profile_.added_up;
    out["not_proved"] = left_out_;
    return out;
  }

  void print(Style const& style) const {
    std::string kernel;
    for (std::size_t i = 0; i < compared_.size(); ++i) {
      Measurement const& m = profile_.measurements[i];
      Compared const& c = compared_[i];
      if (m.kernel != kernel || i == 0) fmt::print("{}\n", style.strong(kernel = m.kernel));
      std::string const proved = c.candidates.empty() ? "-" : fmt::format("{}", c.most);
      fmt::print("  {:<44} {:>9} times  {:>6.2f} wavefronts each, proved {:>2}  {}\n", shorten(m.where),
                 m.executed, m.each(), proved, paint(style, c.comparison));
      if (c.comparison != Comparison::above && c.comparison != Comparison::noisy) continue;
      for (ProvedAccess const* p : c.candidates)
        fmt::print("      {}: {}, at most {}\n", p->obligation, p->access, p->wavefronts);
    }
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
    for (std::string const& name : left_out_)
      fmt::print("\nnot proved, so compared with nothing: {}\n", name);
    print_sums();
  }

 private:
  static constexpr Comparison kinds[] = {Comparison::as_proved,   Comparison::below,       Comparison::above,
                                         Comparison::noisy,       Comparison::not_covered, Comparison::atomic,
                                         Comparison::not_modelled};
  static int support_of(Support support) { return static_cast<int>(support); }
  void add(Profile profile) {
    for (Measurement& m : profile.measurements) profile_.measurements.push_back(std::move(m));
    profile_.never_ran += profile.never_ran;
    profile_.no_count += profile.no_count;
    profile_.repeated += profile.repeated;
    profile_.added_up += profile.added_up;
  }
  /// `12 lines: 8 as proved; 4 MORE than proved. 126 never ran in any lane`
  void print_sums() const {
    std::string text, rest;
    for (Comparison const c : kinds)
      if (std::size_t const n = count({c}); n != 0)
        text += fmt::format("{} {} {}", text.empty() ? ":" : ";", n, name_of(c));
    auto const say = [&](std::size_t n, std::string_view what) {
      if (n != 0) rest += fmt::format("{} {} {}", rest.empty() ? "." : ";", n, what);
    };
    say(profile_.never_ran, "never ran in any lane");
    say(profile_.no_count, "without a count");
    say(profile_.repeated, "tables printed once more, word for word");
    say(profile_.added_up, "rows added to others of their kernel and metric");
    fmt::print("\n{} {}{}{}\n", compared_.size(), compared_.size() == 1 ? "line" : "lines", text, rest);
  }
  static std::string shorten(std::string const& text) {
    return text.size() <= 44 ? text : text.substr(0, 41) + "...";
  }
  static std::string paint(Style const& style, Comparison c) {
    if (c == Comparison::above) return style.bad(name_of(c));
    if (c == Comparison::as_proved || c == Comparison::below) return style.good(name_of(c));
    return style.doubtful(name_of(c));
  }

  bool given_;
  Architecture const* arch_;
  Profile profile_{};
  std::vector<std::string> left_out_{};
  std::vector<ProvedAccess> proved_{};
  std::vector<Compared> compared_{};
};

nlohmann::ordered_json to_json(Evidence const& e) {
  return {{"name", e.name},
          {"campaign", e.campaign},
          {"device", e.device},
          {"date", e.date},
          {"shard", {e.shard, e.shards}},
          {"rows", e.rows.size()},
          {"units", e.units},
          {"scope", e.scope},
          {"compared", e.compared},
          {"mismatches", e.contradictions.size()}};
}

/// What all files together say.
struct Findings {
  std::vector<Evidence> records{};
  std::vector<Contradiction> contradictions{};
  std::uint64_t compared = 0;
};

Findings findings_of(std::vector<Evidence> records) {
  Findings f{std::move(records), {}, 0};
  for (Evidence const& e : f.records) {
    f.compared += e.compared;
    f.contradictions.insert(f.contradictions.end(), e.contradictions.begin(), e.contradictions.end());
  }
  std::vector<Contradiction> const shards = check_shards(f.records);
  f.contradictions.insert(f.contradictions.end(), shards.begin(), shards.end());
  return f;
}

void print_json(Findings const& f, Profiles const& user, std::string_view verdict, Architecture const& arch) {
  nlohmann::ordered_json out{{"verdict", verdict},
                             {"compared", f.compared + user.said()},
                             {"mismatches", f.contradictions.size() + user.mismatches()},
                             {"evidence", word(arch.support)}};
  out["contradictions"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(f.contradictions.size(), most_printed); ++i)
    out["contradictions"].push_back(to_json(f.contradictions[i]));
  if (!f.records.empty()) {
    out["records"] = nlohmann::ordered_json::array();
    for (Evidence const& e : f.records) out["records"].push_back(to_json(e));
  }
  if (!user.empty()) {
    out["measurements"] = user.json();
    out["sums"] = user.sums();
  }
  // Names of kernels may be no UTF-8.
  fmt::print("{}\n", json_text(out, 2));
}

void print_text(Findings const& f, Profiles const& user, Style const& style) {
  for (Evidence const& e : f.records)
    fmt::print("{:<11} {}, {}: {} compared, {}\n            {}\n", e.campaign, e.device, e.date, e.compared,
               e.contradictions.empty() ? style.good("0 mismatches")
                                        : style.bad(fmt::format("{} mismatches", e.contradictions.size())),
               e.scope);
  for (std::size_t i = 0; i < std::min(f.contradictions.size(), most_printed); ++i)
    fmt::print("  {}\n    recorded {}, the model says {}\n", f.contradictions[i].where,
               f.contradictions[i].recorded, f.contradictions[i].predicted);
  if (f.contradictions.size() > most_printed)
    fmt::print("  ... and {} more\n", f.contradictions.size() - most_printed);
  if (!user.empty()) user.print(style);
}

void run(Common& common, std::vector<std::string> const& files) {
  Architecture const& arch = parse_architecture(common.arch);
  Law const law = [&arch](Instruction const& i, WarpAccess<std::uint32_t> const& access) {
    return cost(arch, i, access).wavefronts;
  };
  std::vector<Evidence> records;
  std::vector<std::string> profiles, obligations;
  for (std::string const& file : files)
    if (file.ends_with(".csv"))
      profiles.push_back(file);
    else if (file.ends_with(".toml"))
      obligations.push_back(file);
    else
      records.push_back(recompute(file, read_file(file), law));
  Profiles const user(profiles, obligations, arch, common.limits());
  Findings const f = findings_of(std::move(records));
  bool const mismatch = !f.contradictions.empty() || user.mismatches() != 0;
  common.exit_code = mismatch ? refuted : user.undecided() ? undecided : holds;
  if (common.json)
    return print_json(f, user, mismatch ? "refuted" : user.undecided() ? "unknown" : "proved", user.arch());
  print_text(f, user, Style(common.color, STDOUT_FILENO));
  if (user.arch().support != Support::measured)
    fmt::print("{}: {}\n", user.arch().name, user.arch().evidence);
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
