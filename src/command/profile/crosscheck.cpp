// swizproof crosscheck: do recorded device results equal the model, and does a kernel do what was proved?
#include "command/line/command.hpp"
#include "command/line/help.hpp"
#include "command/profile/compiled.hpp"
#include "command/profile/counts.hpp"
#include "command/kernel/fat_binary.hpp"
#include "command/kernel/launch.hpp"
#include "command/profile/traces.hpp"

#include "profile/profile_vs_obligations.hpp"
#include "profile/sass_as_trace.hpp"
#include "records/evidence.hpp"
#include "profile/nsight.hpp"
#include "report/report.hpp"
#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"
#include "system/whole_file.hpp"

#include <swizproof/parse/obligations.hpp>

#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_printed = 20;

std::string_view name_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::as_proved:
      return "as proved";
    case Comparison::as_expected:
      return "as expected of a refuted layout";
    case Comparison::below:
      return "below the worst case";
    case Comparison::above:
      return "MORE than proved";
    case Comparison::undecided:
      return "undecided";
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
  constexpr std::string_view keys[] = {"as_proved", "as_expected", "below",  "above",
                                       "undecided", "not_covered", "atomic", "not_modelled"};
  return keys[static_cast<std::size_t>(comparison)];
}

constexpr Comparison kinds[] = {Comparison::as_proved, Comparison::as_expected, Comparison::below,
                                Comparison::above,     Comparison::undecided,   Comparison::not_covered,
                                Comparison::atomic,    Comparison::not_modelled};

// ------------------------------------------------------------------------------------ the result

/// Obligations and the proofs of their accesses. It may be moved and not copied: these point into those.
struct Proofs {
  std::vector<Obligation> obligations{};
  ProvedAccesses accesses{};
  Architecture const* arch = nullptr;  ///< the one of the least support that an obligation is about

  Proofs() = default;
  Proofs(Proofs&&) = default;
  Proofs& operator=(Proofs&&) = default;
};

/// A profile's measurements compared with the proved accesses. It may be moved and not copied: `compared` points into proofs.
struct Profiles {
  Profile profile{};
  std::vector<Compared> compared{};  ///< one for each measurement

  Profiles() = default;
  Profiles(Profiles&&) = default;

  [[nodiscard]] std::size_t count(std::initializer_list<Comparison> which) const {
    return static_cast<std::size_t>(std::count_if(compared.begin(), compared.end(), [&](Compared const& c) {
      return std::find(which.begin(), which.end(), c.comparison) != which.end();
    }));
  }
  /// Comparisons that say something.
  [[nodiscard]] std::size_t said() const {
    return count({Comparison::as_proved, Comparison::as_expected, Comparison::below, Comparison::above,
                  Comparison::undecided});
  }
  [[nodiscard]] std::size_t mismatches() const { return count({Comparison::above}); }
  [[nodiscard]] bool undecided() const { return said() == 0 || count({Comparison::undecided}) != 0; }
};

/// Result of all files together.
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

/// It may be moved and not copied: the comparisons point into `read`.
struct CrosscheckResult {
  std::vector<Trace> read{};  ///< the files' traces
  Findings records{};
  std::optional<Proofs> proofs{};
  std::optional<Profiles> profiles{};
  std::optional<Traces> traces{};
  std::optional<Counts> counts{};
  std::optional<Compiled> compiled{};
  Architecture const* arch = nullptr;  ///< the one of the least support that an obligation is about

  [[nodiscard]] std::size_t mismatches() const {
    return records.contradictions.size() + (profiles ? profiles->mismatches() : 0) +
           (traces ? traces->mismatches() : 0) + (counts ? counts->mismatches() : 0) +
           (compiled ? compiled->mismatches() : 0);
  }
  [[nodiscard]] std::size_t compared() const {
    return records.compared + (profiles ? profiles->said() : 0) + (traces ? traces->said() : 0) +
           (counts ? counts->said() : 0) + (compiled ? compiled->said() : 0);
  }
  [[nodiscard]] int exit_code() const {
    bool const open = (profiles && profiles->undecided()) || (traces && traces->undecided()) ||
                      (counts && counts->undecided()) || (compiled && compiled->undecided()) ||
                      (proofs && !proofs->accesses.left_out.empty());
    return mismatches() != 0 ? refuted : open ? undecided : holds;
  }
  [[nodiscard]] std::string_view verdict() const {
    int const code = exit_code();
    return code == refuted ? "refuted" : code == undecided ? "unknown" : "proved";
  }
};

/// A file of the command line; obligations are read elsewhere.
struct File {
  std::string name{}, text{};
};

/// The files of a command line, by what they hold.
struct Files {
  std::vector<File> records{}, profiles{}, traces{}, ptx{};
  std::vector<std::string> obligations{};
};

/// A text as it is compared with others: the same record may be written with other blanks.
std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return text;
}

/// True for PTX by its version, which comes before all else but comments.
bool is_ptx(std::string const& text) {
  static RE2 const form(R"(^(\s|//[^\n]*\n|/\*(?s:.*?)\*/)*\.version\s)", RE2::Latin1);
  return RE2::PartialMatch(text, form);
}

/// Adds a file of this kind. Throws InputError if its text is that of another one.
void add_once(Files const& all, std::vector<File>& kind, File file) {
  for (auto const* const known : {&all.records, &all.profiles, &all.traces, &all.ptx})
    for (File const& other : *known)
      if (without_blanks(other.text) == without_blanks(file.text))
        throw InputError::whole("the same text as " + other.name + ": a file counts once", file.name,
                                "give each file once");
  kind.push_back(std::move(file));
}

Files sorted(std::vector<std::string> const& names) {
  Files files;
  for (std::string const& name : names) {
    if (name.ends_with(".toml")) {
      files.obligations.push_back(name);
      continue;
    }
    File file{name, read_file(name)};
    if (file.text.starts_with("\177ELF")) {  // a cubin, or a program: its machine code
      for (PtxText& part : code_of(name, true))
        add_once(files, files.ptx, {std::move(part.name), std::move(part.text)});
      continue;
    }
    std::vector<File>& kind = name.ends_with(".csv") ? files.profiles
                              : name.ends_with(".ptx") || is_ptx(file.text) || sass::is_sass(file.text)
                                  ? files.ptx
                              : is_trace(file.text) ? files.traces
                                                    : files.records;
    add_once(files, kind, std::move(file));
  }
  return files;
}

void add(Profile& sum, Profile profile) {
  for (Measurement& m : profile.measurements) sum.measurements.push_back(std::move(m));
  sum.never_ran += profile.never_ran;
  sum.no_count += profile.no_count;
  sum.repeated += profile.repeated;
  sum.added_up += profile.added_up;
  for (SourceTable& table : profile.tables) sum.tables.push_back(std::move(table));
}

/// Whichever of the two has less support.
Architecture const* weaker(Architecture const* a, Architecture const* b) {
  return static_cast<int>(b->support) > static_cast<int>(a->support) ? b : a;
}

/// Each obligation once: for this architecture if the obligation names it, else for the first that it names.
std::vector<Obligation> of_one_architecture(std::vector<Obligation> all, Architecture const& arch) {
  std::vector<Obligation> chosen;
  for (Obligation& o : all) {
    bool const again = o.of_several && !chosen.empty() && chosen.back().name == o.name;
    if (!again)
      chosen.push_back(std::move(o));
    else if (o.arch == &arch)
      chosen.back() = std::move(o);
  }
  return chosen;
}

/// Reads the obligations and proves their accesses, where something is to be compared with them.
std::optional<Proofs> proofs_for(Files const& files, Architecture const& arch, Limits const& limits) {
  bool const measured = !files.profiles.empty() || !files.traces.empty();
  if (!measured && files.obligations.empty()) return std::nullopt;
  bool const among_themselves = !files.traces.empty() && (!files.profiles.empty() || !files.ptx.empty());
  if (among_themselves && files.obligations.empty()) return std::nullopt;
  if (!measured || files.obligations.empty())
    throw InputError{!measured ? "obligations need a profile or a trace to compare with"
                     : files.profiles.empty()
                         ? "a trace needs obligations, PTX or a profile: FILE.toml, FILE.ptx, FILE.csv"
                         : "a profile needs obligations to compare with: FILE.toml",
                     !measured                ? files.obligations[0]
                     : files.profiles.empty() ? files.traces[0].name
                                              : files.profiles[0].name,
                     0, 1,
                     fmt::format("swizproof crosscheck {} layouts.toml",
                                 measured && files.profiles.empty() ? "trace.jsonl" : "profile.csv")};
  Proofs proofs;
  proofs.arch = &arch;
  for (std::string const& file : files.obligations)
    for (Obligation& o : of_one_architecture(read_obligations(file, std::array{&arch}), arch)) {
      proofs.arch = weaker(proofs.arch, o.arch);
      proofs.obligations.push_back(std::move(o));
    }
  refuse_malformed(proofs.obligations);
  proofs.accesses = prove_accesses(proofs.obligations, limits);
  return proofs;
}

Profile read_profiles(std::vector<File> const& files) {
  Profile sum;
  for (File const& file : files) add(sum, read_nsight(file.name, file.text));
  return sum;
}

Profiles compare_profiles(Profile profile, Proofs const& proofs) {
  Profiles found;
  found.profile = std::move(profile);
  for (Measurement const& m : found.profile.measurements)
    found.compared.push_back(swizproof::compare(m, proofs.accesses.proved));
  return found;
}

Traces compare_traces(std::vector<Trace> const& traces, Proofs const& proofs, Limits const& limits) {
  Traces found{traces, {}};
  CpuBudget budget(limits);
  for (Trace const& trace : traces)
    found.reports.push_back(conformance(trace, proofs.accesses.proved, limits, budget));
  return found;
}

Counts compare_counts(std::vector<Trace> const& traces, Profile const& profile) {
  Counts found;
  for (Trace const& trace : traces) found.of_traces.push_back(compare_counted(trace, profile));
  return found;
}

/// Words of the command line.
struct CrosscheckArguments {
  std::vector<std::string> files, blocks, params;
  std::string kernel;
};

/// Leaves out the kernels of traces whose names the expression does not find.
void keep_chosen(std::vector<Trace>& traces, std::string const& expression) {
  if (expression.empty()) return;
  Pattern const chosen(expression, "--kernel");
  bool any = false;
  for (Trace& trace : traces) {
    std::erase_if(trace.instructions, [&](TracedInstruction const& i) { return !chosen.found_in(i.kernel); });
    std::erase_if(trace.unseen, [&](auto const& one) { return !chosen.found_in(one.first); });
    std::erase_if(trace.idle, [&](auto const& one) { return !chosen.found_in(one.first); });
    any = any || !trace.instructions.empty() || !trace.idle.empty();
  }
  if (!any)
    throw InputError::whole("no kernel has a name that matches", "--kernel " + expression, "case matters");
}

CompiledOptions options_of(CrosscheckArguments const& arguments) {
  CompiledOptions options;
  for (std::string const& b : arguments.blocks)
    if (auto const block = parse_block(b);
        std::find(options.blocks.begin(), options.blocks.end(), block) == options.blocks.end())
      options.blocks.push_back(block);
  for (std::string const& p : arguments.params)
    if (!options.params.insert(parse_param(p)).second)
      throw InputError::whole("this parameter has a value already", p);
  return options;
}

/// Refuses parameters that PTX and SASS do not number alike.
void refuse_names(std::vector<PtxFile> const& ptx, CompiledOptions const& options) {
  for (auto const& [name, value] : options.params) {
    if (!name.starts_with('#'))
      throw InputError::whole("PTX and SASS name this parameter differently", name,
                              "the first parameter is #0: --param '#0=1024'");
    for (PtxFile const& file : ptx)
      if (file.sass && std::any_of(file.sass->functions.begin(), file.sass->functions.end(),
                                   [](sass::Function const& f) { return f.entry && !f.facts.listed; }))
        throw InputError::whole(
            "the dump does not list the parameters: #0 is the first that the kernel reads", file.name,
            "nvdisasm -g FILE.cubin, without -c, lists them");
  }
}

/// Refuses PTX without a trace, options without PTX, and parameters that no kernel has.
void refuse_unused(Files const& files, std::vector<PtxFile> const& ptx, CrosscheckArguments const& arguments,
                   CompiledOptions const& options) {
  auto const dumps =
      std::count_if(ptx.begin(), ptx.end(), [](PtxFile const& f) { return f.sass.has_value(); });
  bool const among_themselves =
      files.traces.empty() && dumps != 0 && static_cast<std::size_t>(dumps) != ptx.size();
  if (!files.ptx.empty() && files.traces.empty() && !among_themselves)
    throw InputError::whole(dumps != 0 ? "a dump of SASS needs a trace of its kernels, or their PTX"
                                       : "PTX needs a trace of its kernels, or a dump of their SASS",
                            files.ptx[0].name, "swizproof crosscheck kernel.sass kernel.ptx");
  if (among_themselves) refuse_names(ptx, options);
  if (files.ptx.empty() && !(arguments.blocks.empty() && arguments.params.empty()))
    throw InputError::whole("--block and --param need a file of PTX",
                            arguments.blocks.empty() ? arguments.params[0] : arguments.blocks[0],
                            "swizproof crosscheck kernel.trace kernel.ptx --block 128");
  for (auto const& [name, value] : options.params) {
    bool used = false;
    for (PtxFile const& file : ptx)
      for (ptx::Function const& f : file.module.functions)
        used = used || (f.entry && parameter_of(f, name).has_value());
    for (PtxFile const& file : ptx)
      for (std::size_t k = 0; file.sass && k < file.sass->functions.size(); ++k)
        used = used || parameter_of(sass::lower(*file.sass, file.sass->functions[k]).head, name).has_value();
    if (!used)
      throw InputError::whole("no kernel has this parameter", name,
                              "the first parameter is #0: --param '#0=1024'");
  }
}

/// Compares traces with compiled code; without a trace, each dump of SASS with the PTX.
std::optional<Compiled> compare_with_ptx(Common const& common, std::vector<Trace>& traces, Files const& files,
                                         CrosscheckArguments const& arguments) {
  CompiledOptions const options = options_of(arguments);
  Pattern const chosen(arguments.kernel, "--kernel");
  auto const is_chosen = [&](auto const& f) { return names_kernel(chosen, f.name); };
  std::vector<PtxFile> ptx;
  for (File const& file : files.ptx) {
    if (sass::is_sass(file.text)) {
      ptx.push_back({file.name, {}, sass::read_module(file.text, file.name)});
      if (traces.empty())
        std::erase_if(ptx.back().sass->functions, [&](auto const& f) { return f.entry && !is_chosen(f); });
    } else {
      ptx.push_back({file.name, ptx::read_module(file.text, file.name, is_chosen), {}});
    }
  }
  refuse_unused(files, ptx, arguments, options);
  if (files.ptx.empty()) return std::nullopt;
  if (traces.empty()) {
    for (PtxFile const& file : ptx)
      if (file.sass)
        traces.push_back(as_trace(
            file,
            parse_architecture(common.arch_is_given ? common.arch : fmt::format("sm_{}", file.sass->arch)),
            options));
    std::erase_if(ptx, [](PtxFile const& file) { return file.sass.has_value(); });
  }
  Compiled found{traces, {}};
  for (Trace const& trace : traces) found.reports.push_back(compare_compiled(trace, ptx, options));
  return found;
}

CrosscheckResult compute(Common const& common, CrosscheckArguments const& arguments) {
  Architecture const& arch = parse_architecture(common.arch);
  Law const law = [&arch](Instruction const& i, WarpAccess<std::uint32_t> const& access) {
    return cost(arch, i, access).wavefronts;
  };
  Files const files = sorted(arguments.files);
  CrosscheckResult result;
  std::vector<Evidence> records;
  for (File const& file : files.records) records.push_back(recompute(file.name, file.text, law));
  result.proofs = proofs_for(files, arch, common.limits());
  result.arch = result.proofs ? result.proofs->arch : &arch;
  for (File const& file : files.traces) result.read.push_back(read_trace(file.name, file.text));
  keep_chosen(result.read, arguments.kernel);
  result.compiled = compare_with_ptx(common, result.read, files, arguments);
  if (result.compiled)
    for (Trace const& trace : result.read) result.arch = weaker(result.arch, trace.arch);
  Profile profile = read_profiles(files.profiles);
  if (!files.profiles.empty() && !files.traces.empty())
    result.counts.emplace(compare_counts(result.read, profile));
  if (result.proofs && !files.traces.empty())
    result.traces.emplace(compare_traces(result.read, *result.proofs, common.limits()));
  if (result.proofs && !files.profiles.empty())
    result.profiles.emplace(compare_profiles(std::move(profile), *result.proofs));
  result.records = findings_of(std::move(records));
  return result;
}

// ----------------------------------------------------------------------------------------- JSON

Json to_json(Contradiction const& c) {
  return {{"where", c.where}, {"recorded", c.recorded}, {"predicted", c.predicted}};
}

Json to_json(Evidence const& e) {
  return {{"name", e.name},
          {"campaign", e.campaign},
          {"device", e.device},
          {"date", e.date},
          {"shard", {e.shard, e.shards}},
          {"rows", e.rows.size()},
          {"units", e.units},
          {"scope", e.scope},
          {"compared", e.compared},
          {"mismatches", e.contradictions.size()},
          {"not_compared", e.not_compared}};
}

Json measurements(Profiles const& user) {
  Json all = Json::array();
  for (std::size_t i = 0; i < user.compared.size(); ++i) {
    Measurement const& m = user.profile.measurements[i];
    Compared const& c = user.compared[i];
    Json one{{"kernel", m.kernel},          {"where", m.where},
             {"executed", m.executed},      {"wavefronts", m.wavefronts},
             {"wavefronts_each", m.each()}, {"comparison", name_of(c.comparison)}};
    if (m.pc) one["pc"] = *m.pc;
    if (m.ideal) one["ideal"] = *m.ideal;
    if (!c.why.empty()) one["why"] = c.why;
    if (!c.candidates.empty()) one["proved"] = c.most;
    one["obligations"] = Json::array();
    for (ProvedAccess const* p : c.candidates)
      one["obligations"].push_back(
          {{"name", p->obligation}, {"access", p->access}, {"wavefronts", p->wavefronts}});
    all.push_back(std::move(one));
  }
  return all;
}

/// Numbers of lines of each kind, and of other input.
Json sums(Profiles const& user) {
  Json out{{"lines", user.compared.size()}};
  for (Comparison const c : kinds) out[std::string(key_of(c))] = user.count({c});
  out["never_ran"] = user.profile.never_ran;
  out["no_count"] = user.profile.no_count;
  out["tables_repeated"] = user.profile.repeated;
  out["rows_added_up"] = user.profile.added_up;
  return out;
}

Json to_json(CrosscheckResult const& result) {
  Findings const& f = result.records;
  Json out{{"verdict", result.verdict()},
           {"compared", result.compared()},
           {"mismatches", result.mismatches()},
           {"evidence", name(result.arch->support)}};
  out["contradictions"] = Json::array();
  for (std::size_t i = 0; i < std::min(f.contradictions.size(), most_printed); ++i)
    out["contradictions"].push_back(to_json(f.contradictions[i]));
  if (!f.records.empty()) {
    out["never_compared"] = never_compared();
    out["records"] = Json::array();
    for (Evidence const& e : f.records) out["records"].push_back(to_json(e));
  }
  if (result.profiles) {
    out["measurements"] = measurements(*result.profiles);
    out["sums"] = sums(*result.profiles);
    out["sums"]["not_proved"] = result.proofs->accesses.left_out;
  }
  if (result.counts) out["counted"] = to_json(*result.counts);
  if (result.compiled) out["compiled"] = to_json(*result.compiled);
  if (result.traces) {
    out["traces"] = to_json(*result.traces);
    out["trace_sums"] = sums(*result.traces);
    out["trace_sums"]["not_proved"] = result.proofs->accesses.left_out;
  }
  return out;
}

// ----------------------------------------------------------------------------------------- text

std::string shorten(std::string const& text) { return text.size() <= 44 ? text : text.substr(0, 41) + "..."; }

std::string paint(Style const& style, Comparison c) {
  if (c == Comparison::above) return style.bad(name_of(c));
  if (c == Comparison::as_proved || c == Comparison::as_expected || c == Comparison::below)
    return style.good(name_of(c));
  return style.doubtful(name_of(c));
}

/// Explanation of a kind of comparison.
void print_meanings(Profiles const& user) {
  if (user.count({Comparison::above}) != 0)
    fmt::print(
        "\nMORE than proved: the kernel's lanes do not ask for what the obligation says: another layout, "
        "lane map or\n"
        "base address. These counters belong to the instruction alone; other traffic does not change "
        "them.\n");
  if (user.count({Comparison::undecided}) != 0)
    fmt::print(
        "\nundecided: a count is a sum over executions, which several ways to distribute it explain. The "
        "source "
        "page with the\ncolumn \"L1 Wavefronts Shared Ideal\" says more than sums of a kernel; a trace "
        "(swizproof-trace) decides it.\n");
  if (user.count({Comparison::as_expected}) != 0)
    fmt::print(
        "\nas expected of a refuted layout: what an obligation with expect = \"refuted\" costs. No budget "
        "holds "
        "here.\n");
  if (user.count({Comparison::below}) != 0)
    fmt::print(
        "\nbelow the worst case: no execution can have cost more than is proved, and some cost less.\n");
  if (user.count({Comparison::not_covered}) != 0)
    fmt::print(
        "\nno obligation: no access of this instruction and width in the obligations for this kernel.\n");
}

/// `12 lines: 8 as proved; 4 MORE than proved. 126 never ran in any lane`
void print_sums(Profiles const& user) {
  std::string text, rest;
  for (Comparison const c : kinds)
    if (std::size_t const n = user.count({c}); n != 0)
      text += fmt::format("{} {} {}", text.empty() ? ":" : ";", n, name_of(c));
  auto const say = [&](std::size_t n, std::string_view what) {
    if (n != 0) rest += fmt::format("{} {} {}", rest.empty() ? "." : ";", n, what);
  };
  say(user.profile.never_ran, "never ran in any lane");
  say(user.profile.no_count, "without a count");
  say(user.profile.repeated, "tables printed once more, word for word");
  say(user.profile.added_up, "rows added to others of their kernel and metric");
  std::size_t const lines = user.compared.size();
  fmt::print("\n{} {}{}{}\n", lines, lines == 1 ? "line" : "lines", text, rest);
}

void print_text(Profiles const& user, Style const& style) {
  std::string kernel;
  for (std::size_t i = 0; i < user.compared.size(); ++i) {
    Measurement const& m = user.profile.measurements[i];
    Compared const& c = user.compared[i];
    if (m.kernel != kernel || i == 0) fmt::print("{}\n", style.strong(kernel = m.kernel));
    std::string const proved = c.most == 0 ? "-" : fmt::format("{}", c.most);
    fmt::print("  {:<44} {:>9} times  {:>6.2f} wavefronts each, proved {:>2}  {}{}\n", shorten(m.where),
               m.executed, m.each(), proved, paint(style, c.comparison), c.why.empty() ? "" : ": " + c.why);
    if (c.comparison != Comparison::above && c.comparison != Comparison::undecided) continue;
    for (ProvedAccess const* p : c.candidates)
      fmt::print("      {}: {}, {}\n", p->obligation, p->access,
                 p->why_not.empty() ? fmt::format("at most {}", p->wavefronts) : "not proved");
  }
  print_meanings(user);
  print_sums(user);
}

void print_text(Evidence const& e, Style const& style) {
  fmt::print("{:<11} {}, {}: {} compared, {}\n            {}\n", e.campaign, e.device, e.date, e.compared,
             e.contradictions.empty() ? style.good("0 mismatches")
                                      : style.bad(fmt::format("{} mismatches", e.contradictions.size())),
             e.scope);
  if (!e.digest && e.contradictions.empty())
    fmt::print("            {}\n",
               style.doubtful("the record has no digest: whether a number was changed is not known"));
  if (!e.not_compared.empty())
    fmt::print("            {} {}\n", style.faint("not compared:"), fmt::join(e.not_compared, "; "));
}

void print_text(CrosscheckResult const& result, Style const& style) {
  Findings const& f = result.records;
  for (Evidence const& e : f.records) print_text(e, style);
  if (!f.records.empty()) fmt::print("not compared of any record: {}\n", fmt::join(never_compared(), " "));
  for (std::size_t i = 0; i < std::min(f.contradictions.size(), most_printed); ++i)
    fmt::print("  {}\n    recorded {}, the model says {}\n", f.contradictions[i].where,
               f.contradictions[i].recorded, f.contradictions[i].predicted);
  if (f.contradictions.size() > most_printed)
    fmt::print("  ... and {} more\n", f.contradictions.size() - most_printed);
  if (result.profiles) print_text(*result.profiles, style);
  if (result.counts) fmt::print("{}", describe(*result.counts, style));
  if (result.compiled) fmt::print("{}", describe(*result.compiled, style));
  if (result.traces) fmt::print("{}", describe(*result.traces, style));
  if (result.proofs)
    for (std::string const& name : result.proofs->accesses.left_out) fmt::print("\nnot proved: {}\n", name);
  if (result.arch->support != Support::measured) fmt::print("{}\n", certainty(*result.arch));
}

void run(Common& common, CrosscheckArguments const& arguments) {
  CrosscheckResult const result = compute(common, arguments);
  common.exit_code = result.exit_code();
  if (common.json)
    print_json(common, to_json(result));  // names of kernels may be no UTF-8
  else
    print_text(result, Style(common.color, STDOUT_FILENO));
}

}  // namespace

void add_crosscheck(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "crosscheck",
      "Do recorded device results, or a profile, a trace or the SASS of your own kernel, equal the model?",
      {"swizproof crosscheck transpose.trace transpose.toml",
       "does each lane of the traced kernel access the proved address? (both files: "
       "share/swizproof/examples)"});
  auto const arguments = std::make_shared<CrosscheckArguments>();
  sub->add_option(
         "FILE", arguments->files,
         "records of swizproof-gpu (FILE.json); shards of one campaign together, so that they are checked\n"
         "to be complete and disjoint. Or Nsight Compute's CSV (FILE.csv) and the obligations of the\n"
         "kernel (FILE.toml): is any instruction more expensive than proved? Or a trace of swizproof-trace "
         "and "
         "these\n"
         "obligations: does any lane access another address than was proved? Or a trace and a profile of\n"
         "one program: does the cost model match the counts, line by line? Or a trace and the PTX of "
         "its\n"
         "kernels (FILE.ptx): does the SASS access what `swizproof kernel` proves of the PTX? Or a dump of\n"
         "SASS (nvdisasm -g FILE.cubin), or the cubin itself, and the PTX that it was compiled from: the "
         "same\n"
         "without a GPU")
      ->required();
  sub->add_option(
         "--block", arguments->blocks,
         "with PTX: threads of a block of later launches: X, X,Y or X,Y,Z; may be repeated. The trace has\n"
         "the block of each kernel's first launch. Without a trace: of all launches that are compared")
      ->type_name("INTEGERS")
      ->allow_extra_args(false);
  sub->add_option("--param", arguments->params,
                  "with PTX: a parameter's value in all launches: NAME=VALUE, or '#0=VALUE' for the first")
      ->allow_extra_args(false);
  sub->add_option("--kernel", arguments->kernel,
                  "with a trace or PTX: only kernels whose name matches this regular expression");
  sub->callback([&common, arguments] { run(common, *arguments); });
}

}  // namespace swizproof::command
