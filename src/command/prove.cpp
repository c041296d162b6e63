// swizproof prove: decides the catalogue and prints it as theorems.
#include "command.hpp"

#include "../report.hpp"

#include <swizproof/catalog.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string only;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string shard = "1/1";
  std::string claims_page;
};

/// Part of a claim's name before the first '/'.
std::string group_of(Claim const& claim) { return claim.name.substr(0, claim.name.find('/')); }

std::string engines_of(ClaimReport const& report) {
  std::string text;
  for (Engine const e : report.engines) text += (text.empty() ? "" : ", ") + std::string(name(e));
  return text;
}

/// `i/n`: every n-th claim from the i-th on.
std::pair<std::size_t, std::size_t> parse_shard(std::string const& text) {
  std::size_t i = 0, n = 0;
  char slash = 0, extra = 0;
  std::istringstream in(text);
  if (!(in >> i >> slash >> n) || slash != '/' || in >> extra || i < 1 || i > n)
    throw InputError{"--shard takes i/n with 1 <= i <= n", text, 0, text.size(), {}};
  return {i, n};
}

std::vector<Claim> select(Options const& options) {
  std::vector<Claim> chosen;
  auto const [shard, shards] = parse_shard(options.shard);
  std::regex pattern;
  try {
    pattern = std::regex(options.only);
  } catch (std::regex_error const& error) {
    throw InputError{std::string("--only is not a regular expression: ") + error.what(),
                     options.only,
                     0,
                     options.only.size(),
                     {}};
  }
  std::size_t matching = 0;
  for (Claim& claim : catalog())
    if (std::regex_search(claim.name, pattern) && matching++ % shards == shard - 1)
      chosen.push_back(std::move(claim));
  if (chosen.empty() && matching > 0)
    throw InputError{fmt::format("only {} claims match: this shard is empty", matching),
                     options.shard,
                     0,
                     options.shard.size(),
                     {}};
  if (matching == 0)
    throw InputError{"no claim has a name that matches", options.only, 0, options.only.size(),
                     "'swizproof prove --json' lists the names; groups are bijection, involution, period, "
                     "recast, wavefronts, ..."};
  return chosen;
}

/// Decides claims on several threads and hands the reports over in order.
class Runner {
 public:
  Runner(std::vector<Claim> const& claims, unsigned jobs, Limits limits)
      : claims_(claims), reports_(claims.size()), ready_(claims.size(), false) {
    unsigned const count = static_cast<unsigned>(claims.size());
    unsigned const spare = std::max(1U, jobs / std::max(count, 1U));  // threads that one claim may use
    jobs = std::min(jobs, count);
    limits.threads = spare;
    for (unsigned i = 0; i < jobs; ++i) threads_.emplace_back([this, limits] { work(limits); });
  }
  Runner(Runner const&) = delete;
  Runner& operator=(Runner const&) = delete;
  ~Runner() { stop_ = true; }  // and the threads join
  /// Waits for report i, calling `tick` now and then with the number of claims done.
  template <class Tick>
  ClaimReport const& wait(std::size_t i, Tick const& tick) {
    std::unique_lock lock(mutex_);
    while (!ready_[i] && !failure_) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      tick(done_);
    }
    if (failure_) std::rethrow_exception(failure_);
    return reports_[i];
  }

 private:
  void work(Limits const& limits) {
    for (std::size_t i = next_++; i < claims_.size() && !stop_; i = next_++) {
      try {
        ClaimReport report = decide(claims_[i], limits);
        std::scoped_lock const lock(mutex_);
        reports_[i] = std::move(report);
        ready_[i] = true;
        ++done_;
      } catch (...) {
        std::scoped_lock const lock(mutex_);
        failure_ = std::current_exception();
        stop_ = true;
      }
      changed_.notify_all();
    }
  }

  std::vector<Claim> const& claims_;
  std::vector<ClaimReport> reports_;
  std::vector<bool> ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::size_t done_ = 0;
  std::vector<std::jthread> threads_;  // last: joined before anything that they use goes
};

struct Tally {
  std::size_t proved = 0, refuted = 0, unknown = 0, controls = 0;
  void add(ClaimReport const& report) {
    proved += report.verdict.proved() ? 1 : 0;
    refuted += report.verdict.refuted() ? 1 : 0;
    unknown += report.verdict.unknown() ? 1 : 0;
    controls += std::holds_alternative<Refuted>(report.control) ? 1 : 0;
  }
  [[nodiscard]] int exit_code() const {
    return refuted > 0 ? Exit::refuted : unknown > 0 ? undecided : holds;
  }
  [[nodiscard]] std::string_view verdict() const {
    return refuted > 0 ? "refuted" : unknown > 0 ? "unknown" : "proved";
  }
};

std::string cutlass_note() {
#ifdef SWIZPROOF_WITH_CUTLASS
  return "cute::Swizzle of the CUTLASS checkout: in the catalogue";
#else
  return "cute::Swizzle of a CUTLASS checkout: not run (configure with SWIZPROOF_CUTLASS_DIR)";
#endif
}

// ----------------------------------------------------------------------------------- terminal

/// Prints claims as they come: theorems in groups, wavefronts as one table.
class Printer {
 public:
  explicit Printer(Style const& style) : style_(style) {}

  void add(Claim const& claim, ClaimReport const& report) {
    if (claim.cell && report.verdict.proved()) {
      add_cell(*claim.cell);
      return;
    }
    finish_row();
    if (claim.statement.text != statement_) {
      if (group_of(claim) != group_) fmt::print("\n{}\n", style_.strong(group_of(claim)));
      group_ = group_of(claim);
      statement_ = claim.statement.text;
      print_wrapped(statement_, 2);
    }
    fmt::print("    {}  {:<92} {:<12} {:>6}\n", style_.outcome(report.verdict.outcome),
               shorten(claim.domain, 92), style_.faint(fmt::format("{:<12}", engines_of(report))),
               duration(report.verdict.seconds));
    if (auto const* refuted = std::get_if<Refuted>(&report.verdict.outcome))
      fmt::print("             counterexample: {}: {}\n", refuted->question, describe(*refuted));
    if (auto const* unknown = std::get_if<Unknown>(&report.verdict.outcome))
      fmt::print("             {}\n", unknown->reason);
  }
  void finish() { finish_row(); }

 private:
  static constexpr unsigned pitches[] = {32, 64, 128, 256};
  static constexpr std::string_view swizzles[] = {"Sw<0,4,3>", "Sw<1,4,3>", "Sw<2,4,3>", "Sw<3,4,3>"};

  static std::string shorten(std::string const& text, std::size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
  }
  static void print_wrapped(std::string const& text, std::size_t indent) {
    constexpr std::size_t width = 118;
    std::size_t from = 0;
    while (from < text.size()) {
      std::size_t end = text.size();
      if (end - from > width - indent) {
        end = text.rfind(' ', from + width - indent);
        if (end == std::string::npos || end <= from) end = from + width - indent;
      }
      fmt::print("{:{}}{}\n", "", indent, text.substr(from, end - from));
      from = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
    }
  }
  void add_cell(TableCell const& cell) {
    if (row_name_ != cell.access) finish_row();
    if (!table_open_) open_table();
    row_name_ = cell.access;
    ideal_ = cell.ideal;
    row_[{cell.pitch, cell.swizzle}] = cell.wavefronts;
  }
  void open_table() {
    table_open_ = true;
    group_ = statement_ = "";
    fmt::print("\n{}\n", style_.strong("wavefronts"));
    print_wrapped(
        "Exactly this many from every tile origin and from every base address that is a multiple of the "
        "swizzle's "
        "period, each proved by SMT. Rows of 32, 64, 128, 256 bytes; columns: no swizzle, 32B = Sw<1,4,3>, "
        "64B = Sw<2,4,3>, 128B = Sw<3,4,3> on byte addresses. ideal: the least for the bytes moved.",
        2);
    std::string pitch_line = fmt::format("  {:<20}", ""), swizzle_line = pitch_line;
    for (unsigned const p : pitches) {
      pitch_line += fmt::format("  {:>19}", fmt::format("{}-byte rows", p));
      swizzle_line += "  none  32B  64B 128B";
    }
    fmt::print("\n{}\n{}  ideal\n", style_.strong(pitch_line), style_.faint(swizzle_line));
  }
  void finish_row() {
    if (row_.empty()) return;
    std::string line = fmt::format("  {:<20}", row_name_);
    for (unsigned const p : pitches) {
      line += "  ";
      for (std::string_view const s : swizzles) {
        auto const found = row_.find({p, std::string(s)});
        std::string const text =
            fmt::format("{:>4} ", found == row_.end() ? "-" : std::to_string(found->second));
        line += found == row_.end() ? style_.faint(text) : found->second <= ideal_ ? style_.good(text) : text;
      }
      line.pop_back();
    }
    fmt::print("{}  {:>5}\n", line, ideal_);
    row_.clear();
  }

  Style const& style_;
  std::string group_, statement_, row_name_;
  std::map<std::pair<unsigned, std::string>, unsigned> row_;
  unsigned ideal_ = 0;
  bool table_open_ = false;
};

// --------------------------------------------------------------------------- JSON and Markdown

Json to_json(Claim const& claim, ClaimReport const& report) {
  Json control{{"statement", claim.control.text}, {"verdict", word(report.control)}};
  if (auto const* refuted = std::get_if<Refuted>(&report.control))
    control["counterexample"] = swizproof::to_json(*refuted);
  Json out{{"name", claim.name},
           {"verdict", word(report.verdict.outcome)},
           {"statement", claim.statement.text},
           {"domain", claim.domain},
           {"engine", engines_of(report)},
           {"seconds", report.verdict.seconds},
           {"source", claim.source},
           {"control", control}};
  if (auto const* refuted = std::get_if<Refuted>(&report.verdict.outcome))
    out["counterexample"] = swizproof::to_json(*refuted);
  if (auto const* unknown = std::get_if<Unknown>(&report.verdict.outcome)) out["reason"] = unknown->reason;
  if (claim.cell) out["wavefronts"] = claim.cell->wavefronts;
  return out;
}

std::string in_markdown(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '|' || text[i] == '<') text.insert(i++, 1, '\\');
  return text;
}

/// The page of claims: what was decided, without times, so that it changes only when a claim does.
std::string markdown_page(std::vector<Claim> const& claims, std::vector<ClaimReport> const& reports) {
  std::string page =
      "# The claims\n\nWritten by `swizproof prove --page`; do not edit. Each claim is followed by its "
      "negative control: a\n"
      "neighbouring false statement, and the counterexample that refutes it on plain numbers.\n";
  std::string group;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Claim const& c = claims[i];
    if (group_of(c) != group) {
      group = group_of(c);
      page += fmt::format(
          "\n## {}\n\n| claim | says | for | source | verdict | control | refuted by |\n| --- | --- | --- | "
          "--- | --- | --- | --- |\n",
          group);
    }
    auto const* refuted = std::get_if<Refuted>(&reports[i].control);
    page +=
        fmt::format("| {} | {} | {} | {} | {}: {} | {} | {} |\n", in_markdown(c.name),
                    in_markdown(c.statement.text), in_markdown(c.domain), in_markdown(c.source),
                    word(reports[i].verdict.outcome), engines_of(reports[i]), in_markdown(c.control.text),
                    refuted == nullptr
                        ? std::string(word(reports[i].control))
                        : in_markdown(refuted->question + (refuted->simplest ? ": " + describe(*refuted)
                                                                             : ": a model of the solver")));
  }
  return page;
}

/// A file that is written whole or not at all, and opened before hours of work depend on it.
class Page {
 public:
  explicit Page(std::string path) : path_(std::move(path)), new_path_(path_ + ".new") {
    if (path_.empty()) return;
    file_.open(new_path_, std::ios::binary);
    if (!file_) fail();
  }
  Page(Page const&) = delete;
  Page& operator=(Page const&) = delete;
  ~Page() {
    if (!path_.empty()) std::remove(new_path_.c_str());
  }
  void write(std::string const& text) {
    file_ << text;
    file_.close();
    if (!file_ || std::rename(new_path_.c_str(), path_.c_str()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw InputError{"cannot write the page", path_, 0, path_.size(), {}}; }
  std::string path_, new_path_;
  std::ofstream file_;
};

void run(Common& common, Options const& options) {
  std::vector<Claim> const claims = select(options);
  Page page(options.claims_page);
  Style const style(common.color, STDOUT_FILENO);
  bool const progress = !common.json && isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  auto const start = std::chrono::steady_clock::now();
  auto const elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Runner runner(claims, options.jobs, common.limits());
  Printer printer(style);
  Tally tally;
  Json all = Json::array();
  std::vector<ClaimReport> reports;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    ClaimReport const& report = runner.wait(i, [&](std::size_t done) {
      if (progress)
        fmt::print(stderr, "\r\x1b[K{} of {} claims, {}\r", done, claims.size(), duration(elapsed()));
    });
    if (progress) fmt::print(stderr, "\r\x1b[K");
    tally.add(report);
    if (common.json)
      all.push_back(to_json(claims[i], report));
    else
      printer.add(claims[i], report);
    if (!options.claims_page.empty()) reports.push_back(report);
    std::fflush(stdout);
  }
  common.exit_code = tally.exit_code();
  if (!options.claims_page.empty()) page.write(markdown_page(claims, reports));
  if (common.json) {
    fmt::print("{}\n", Json{{"verdict", tally.verdict()},
                            {"claims", all},
                            {"proved", tally.proved},
                            {"refuted", tally.refuted},
                            {"unknown", tally.unknown},
                            {"controls_refuted", tally.controls},
                            {"seconds", elapsed()},
                            {"cutlass", cutlass_note()}}
                           .dump(2));
    return;
  }
  printer.finish();
  auto const count = [](std::size_t n, std::string const& text) { return n == 0 ? std::string("0") : text; };
  fmt::print("\n{}\n{} claims: {} proved, {} refuted, {} unknown; {} of {} negative controls refuted; {}\n",
             cutlass_note(), claims.size(), count(tally.proved, style.good(std::to_string(tally.proved))),
             count(tally.refuted, style.bad(std::to_string(tally.refuted))),
             count(tally.unknown, style.doubtful(std::to_string(tally.unknown))), tally.controls,
             claims.size(), duration(elapsed()));
}

}  // namespace

void add_prove(CLI::App& app, Common& common) {
  CLI::App* const sub =
      app.add_subcommand("prove", "Prove the built-in catalogue of theorems about swizzles and banks");
  auto const options = std::make_shared<Options>();
  sub->add_option("--only", options->only, "claims whose name matches this regular expression");
  sub->add_option("--jobs", options->jobs, "claims decided at the same time (default: one a core)")
      ->check(CLI::Range(1U, 1024U));
  sub->add_option("--shard", options->shard, "i/n: the i-th of n parts of the catalogue")
      ->capture_default_str();
  sub->add_option("--page", options->claims_page, "also write the claims as a Markdown page to this file");
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
