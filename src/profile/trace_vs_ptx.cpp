#include "profile/trace_vs_ptx.hpp"

#include "parse/question/kernels.hpp"
#include "profile/named_kernels.hpp"
#include "profile/trace_vs_profile.hpp"
#include "profile/nsight.hpp"

#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace swizproof {

namespace {

/// A traced pattern, or the part of it that one of several merged accesses has.
struct Pattern32 {
  std::uint32_t active = 0;
  std::array<std::uint32_t, warp_lanes> address{};
  bool sure = true;
  unsigned zeros = 32;  ///< zeros of TracedPattern

  [[nodiscard]] bool takes_part(unsigned lane) const { return (active >> lane & 1) != 0; }
  /// The same lanes, so many bytes further.
  [[nodiscard]] Pattern32 moved(std::uint32_t by) const {
    Pattern32 out = *this;
    for (std::uint32_t& a : out.address) a += by;
    return out;
  }
};

Pattern32 pattern_of(Instruction const& i, WarpAccess<std::uint32_t> const& access) {
  Pattern32 out;
  for (unsigned l = 0; l < i.lanes(); ++l) {
    if (access.active[l]) out.active |= 1U << l;
    out.address[l] = access.address[l];
  }
  return out;
}

/// The recorded patterns, and the worst one, which may not be among them.
std::vector<Pattern32> patterns_of(TracedInstruction const& i) {
  std::vector<Pattern32> out;
  for (TracedPattern const& p : i.patterns) {
    out.push_back(pattern_of(*i.instruction, p.access));
    out.back().sure = p.sure, out.back().zeros = p.zeros;
  }
  if (i.not_kept != 0 && i.worst) out.push_back(pattern_of(*i.instruction, *i.worst));
  return out;
}

/// Comparison of a pattern with one case of an access.
enum class Match : std::uint8_t {
  none,
  fewer_lanes,  ///< its addresses, without lanes that surely take part
  possible,     ///< it may be it: whether an execution has these lanes or values is not decided
  exact
};

Match match(KernelLanes const& can, Pattern32 const& p) {
  if ((p.active & ~can.may) != 0) return Match::none;
  auto const first = static_cast<unsigned>(std::countr_zero(p.active));
  std::uint32_t const by = p.address[first] - can.lane[first];
  unsigned const zeros = std::min(can.zeros, p.zeros);
  if (zeros > 0 && by << (32 - zeros) != 0) return Match::none;
  for (unsigned l = first; l < warp_lanes; ++l)
    if (p.takes_part(l) && p.address[l] - can.lane[l] != by) return Match::none;
  std::uint32_t const rest = can.may & ~can.must, on = p.active & rest;
  if ((can.must & ~p.active) != 0 || (can.together && on != 0 && on != rest)) return Match::fewer_lanes;
  bool const known = can.sure && p.sure && p.zeros >= can.zeros && (can.free || can.zeros == 32);
  return rest != 0 || !known ? Match::possible : Match::exact;
}

Match best_match(KernelAccess const& access, Pattern32 const& p) {
  Match best = Match::none;
  for (KernelLanes const& can : *access.lanes) {
    best = std::max(best, match(can, p));
    if (best == Match::exact) break;
  }
  return best;
}

/// All patterns of an instruction, or of one part of it, compared with accesses of one width.
struct Search {
  std::size_t found = 0;
  bool certain = true;
  std::optional<unsigned> proved{};                  ///< least bound of an access that has all of them
  bool reached = false;                              ///< an execution of the PTX takes as many
  std::vector<Match> best{};                         ///< for each pattern
  std::vector<KernelAccess const*> whole{}, some{};  ///< accesses that have all patterns, or some of them

  /// The accesses that have the patterns: each all of them, if there is such a one.
  [[nodiscard]] std::vector<KernelAccess const*> const& accesses() const {
    return whole.empty() ? some : whole;
  }
};

Search search(std::vector<Pattern32> const& patterns, std::vector<KernelAccess const*> const& accesses) {
  Search out;
  out.best.assign(patterns.size(), Match::none);
  unsigned most = 0;
  for (KernelAccess const* a : accesses) {
    if (!a->lanes) continue;
    std::size_t its = 0;
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      Match const here = best_match(*a, patterns[p]);
      out.best[p] = std::max(out.best[p], here);
      its += here >= Match::possible ? 1 : 0;
    }
    if (its != 0) out.some.push_back(a), most = std::max(most, *a->wavefronts);
    if (its != patterns.size()) continue;
    out.whole.push_back(a);
    if (*a->wavefronts >= out.proved.value_or(~0U)) continue;
    out.proved = a->wavefronts, out.reached = a->reached;
  }
  for (Match const m : out.best) {
    out.found += m >= Match::possible ? 1 : 0;
    out.certain = out.certain && m == Match::exact;
  }
  if (out.found == patterns.size() && !out.proved) out.proved = most;  // each is one of several accesses
  return out;
}

/// Accesses that are tried as parts of a merged one.
constexpr unsigned most_tries = 10'000;

/// A kernel of the PTX, decided for the blocks that it was launched with.
struct DecidedKernel {
  std::string name{};     ///< name in the file; may be empty
  bool by_words = false;  ///< its name was not demangled
  std::string why{};      ///< reason if it is not decided; empty without a kernel
  std::vector<KernelReport> reports{};
  std::set<KernelAccess const*> traced{};
  std::map<KernelAccess const*, unsigned>
      most{};  ///< wavefronts that instructions take which have its patterns
  std::vector<std::pair<TracedInstruction const*, std::vector<KernelAccess const*>>>
      merges{};  ///< accesses that an instruction may be instead
  std::set<KernelAccess const*>
      open{};  ///< accesses whose line has an instruction that is not as proved, or merged
};

KernelReport decide_for(NamedKernel const& kernel, KernelOptions const& options) {
  if (kernel.ptx != nullptr) return decide_kernel(kernel.file->module, *kernel.ptx, options);
  return decide_kernel(*kernel.file->sass, sass::lower(*kernel.file->sass, *kernel.sass), options);
}

DecidedKernel decide(TracedInstruction const& i, Architecture const& arch,
                     std::vector<NamedKernel> const& kernels, CompiledOptions const& options) {
  DecidedKernel out;
  if (kernels.empty()) return out;
  out.name = kernels[0].name();
  out.by_words = demangled(out.name) == out.name && out.name.starts_with("_Z") && out.name != i.kernel;
  if (kernels.size() > 1) {
    out.why = fmt::format("{} kernels have this name", kernels.size());
    return out;
  }
  KernelOptions one;
  one.arch = &arch;
  one.params = options.params;
  one.lanes = true;
  std::vector<std::array<std::uint32_t, 3>> blocks{i.block};
  for (auto const& block : options.blocks)
    if (block != blocks[0]) blocks.push_back(block);
  for (auto const& block : blocks) {
    if (block[0] != 0) one.block = block;
    out.reports.push_back(decide_for(kernels[0], one));
    if (out.why.empty()) out.why = out.reports.back().refused;
  }
  return out;
}

bool same_file(std::string const& a, std::string const& b) {
  return std::filesystem::path(a).filename() == std::filesystem::path(b).filename();
}

/// True if an access may be of the traced instruction's line: its own, one that it is inlined at, or none known. Of SASS, if it is at
/// the same address in the kernel.
bool on_line(KernelAccess const& access, TracedInstruction const& i) {
  if (access.sass) return access.pc == i.pc;
  if (i.file.empty() || access.file.empty()) return true;
  if (access.line == i.source_line && same_file(access.file, i.file)) return true;
  return std::any_of(access.inlined_at.begin(), access.inlined_at.end(), [&](SourceLine const& at) {
    return at.line == i.source_line && same_file(at.file, i.file);
  });
}

std::vector<std::uint32_t> lines_of(std::vector<KernelAccess const*> const& accesses) {
  std::vector<std::uint32_t> lines;
  for (KernelAccess const* a : accesses) lines.push_back(a->ptx_line);
  return lines;
}

/// Compares one instruction with the kernel of its name.
class Comparer {
 public:
  Comparer(TracedInstruction const& traced, DecidedKernel& kernel, CompiledOptions const& options)
      : kernel_(kernel), options_(options), patterns_(patterns_of(traced)) {
    out_.traced = &traced;
  }

  CompiledInstruction run() {
    TracedInstruction const& i = *out_.traced;
    if (!i.instruction) return out_;
    out_.patterns = patterns_.size();
    for (unsigned w = 1; w < i.distribution.size(); ++w)
      if (i.distribution[w] != 0) out_.worst = w;
    out_.outcome = kernel_.name.empty() ? AsCompiled::no_kernel : AsCompiled::undecided;
    out_.why = kernel_.why;
    if (kernel_.name.empty() || !kernel_.why.empty()) return out_;
    for (KernelReport const& report : kernel_.reports)
      for (KernelAccess const& a : report.accesses)
        if (a.instruction && !a.atomic && *a.instruction == *i.instruction && on_line(a, i))
          here_.push_back(&a);
    if (!i.open.empty()) return not_known(i);
    Search const whole = search(patterns_, here_);
    out_.found = whole.found;
    out_.why = open(here_);
    if (out_.why.empty() && whole.found == patterns_.size() && !here_.empty())
      take(whole);
    else if (out_.why.empty() && !(reads_ptx() && take_merged()))
      judge(whole);
    if (out_.outcome == AsCompiled::undecided) compare_bound();
    keep_accesses(out_.merged == 1 ? whole.accesses() : parts_);
    if (i.decided()) keep_merges();
    return out_;
  }

 private:
  void take(Search const& whole) {
    out_.outcome = AsCompiled::as_proved;
    out_.proved = whole.proved, out_.reached = whole.reached;
    out_.ptx_lines = lines_of(whole.accesses());
    std::sort(out_.ptx_lines.begin(), out_.ptx_lines.end());
    out_.ptx_lines.erase(std::unique(out_.ptx_lines.begin(), out_.ptx_lines.end()), out_.ptx_lines.end());
    out_.certain = whole.certain;
    if (out_.worst > *whole.proved)
      throw Disagreement(
          fmt::format("{} line {}: {} takes {} wavefronts, and at most {} are proved of the {}",
                      out_.traced->decided() ? "SASS" : "trace", out_.traced->line, out_.traced->op,
                      out_.worst, *whole.proved, code()));
  }

  /// An access of a dump whose executions are not all known: bounds alone.
  CompiledInstruction not_known(TracedInstruction const& i) {
    keep_accesses({});
    out_.why = fmt::format("SASS line {}: {}", i.line, i.open);
    out_.worst = i.at_most;
    unsigned most = 0;
    for (KernelAccess const* a : here_) most = std::max(most, a->wavefronts.value_or(~0U));
    if (out_.worst != 0 && !here_.empty() && out_.worst <= most && most != ~0U) out_.proved = most;
    return out_;
  }

  /// The bound holds also where the lanes are not known: of the machine instruction itself, for the launch that was traced.
  void compare_bound() {
    bool const known = std::all_of(here_.begin(), here_.end(),
                                   [](KernelAccess const* a) { return a->sass && a->wavefronts; });
    if (here_.empty() || !known || out_.traced->launches != 1) return;
    unsigned most = 0;
    for (KernelAccess const* a : here_) most = std::max(most, *a->wavefronts);
    out_.proved = most;
    if (out_.worst > most)
      throw Disagreement(
          fmt::format("trace line {}: {} takes {} wavefronts, and at most {} are proved of the SASS",
                      out_.traced->line, out_.traced->op, out_.worst, most));
  }

  /// Keeps the accesses that the instruction can be, and what it takes: those that have its patterns. Others on its line may be it too,
  /// unless all of its executions are known, as of a dump.
  void keep_accesses(std::vector<KernelAccess const*> const& its) {
    bool const proved = out_.outcome == AsCompiled::as_proved;
    if (proved) kernel_.traced.insert(its.begin(), its.end());
    if (!proved || !out_.traced->decided()) kernel_.traced.insert(here_.begin(), here_.end());
    if (!proved || out_.merged != 1)
      kernel_.open.insert(here_.begin(), here_.end());
    else
      for (KernelAccess const* a : its) kernel_.most[a] = std::max(kernel_.most[a], out_.worst);
  }

  [[nodiscard]] std::string_view code() const { return reads_ptx() ? "PTX" : "SASS"; }
  [[nodiscard]] bool reads_ptx() const {
    return std::none_of(kernel_.reports.begin(), kernel_.reports.end(),
                        [](KernelReport const& r) { return r.sass; });
  }
  /// Accesses of the kernel of this operation and so many bytes.
  [[nodiscard]] std::vector<KernelAccess const*> of_width(unsigned bytes) const {
    std::vector<KernelAccess const*> all;
    for (KernelReport const& report : kernel_.reports)
      for (KernelAccess const& a : report.accesses)
        if (a.instruction && !a.atomic && a.instruction->bytes == bytes && a.instruction->matrices == 0 &&
            a.instruction->operation == out_.traced->instruction->operation)
          all.push_back(&a);
    return all;
  }
  [[nodiscard]] std::vector<Pattern32> moved(std::uint32_t by) const {
    std::vector<Pattern32> all;
    for (Pattern32 const& p : patterns_) all.push_back(p.moved(by));
    return all;
  }

  /// Bytes by which an access lies behind another one, if it always does.
  [[nodiscard]] std::optional<std::uint32_t> distance(KernelAccess const& a, KernelAccess const& b) const {
    bool const one_report =
        std::any_of(kernel_.reports.begin(), kernel_.reports.end(), [&](KernelReport const& r) {
          auto const has = [&](KernelAccess const& x) {
            return !r.accesses.empty() && !std::less<>{}(&x, r.accesses.data()) &&
                   std::less<>{}(&x, r.accesses.data() + r.accesses.size());
          };
          return has(a) && has(b);
        });
    if (!one_report || !a.place || !b.place || a.place->group != b.place->group) return std::nullopt;
    return b.place->offset - a.place->offset;
  }

  /// Chooses an access for each part of a merged one: another for each, but for one in a loop, whose iterations may be merged; at
  /// their distances where these are known; one of them on the line.
  bool choose(std::vector<Search> const& parts, unsigned bytes, std::vector<KernelAccess const*>& chosen,
              unsigned& tries) const {
    if (chosen.size() == parts.size())
      return std::any_of(chosen.begin(), chosen.end(),
                         [&](KernelAccess const* a) { return on_line(*a, *out_.traced); });
    auto const part = static_cast<std::uint32_t>(chosen.size());
    for (KernelAccess const* a : parts[part].whole) {
      bool fits = tries++ < most_tries;
      for (std::uint32_t q = 0; fits && q < part; ++q) {
        auto const apart = distance(*chosen[q], *a);
        fits = chosen[q] == a ? a->loop_depth != 0 : !apart || *apart == (part - q) * bytes;
      }
      if (!fits) continue;
      chosen.push_back(a);
      if (choose(parts, bytes, chosen, tries)) return true;
      chosen.pop_back();
    }
    return false;
  }

  /// The accesses whose patterns the instruction has as those of n merged ones; none if there are no such ones.
  [[nodiscard]] std::vector<KernelAccess const*> merged(unsigned n) const {
    unsigned const bytes = out_.traced->instruction->bytes / n;
    std::vector<KernelAccess const*> const all = of_width(bytes);
    std::vector<Search> parts;
    for (unsigned part = 0; part < n; ++part) {
      parts.push_back(search(moved(part * bytes), all));
      if (parts.back().whole.empty()) return {};
    }
    std::vector<KernelAccess const*> chosen;
    unsigned tries = 0;
    choose(parts, bytes, chosen, tries);
    return chosen;
  }

  /// Takes the patterns as those of 2, 4, 8 or 16 accesses that ptxas merged: for certain if these are known to be neighbours.
  bool take_merged() {
    unsigned const width = out_.traced->instruction->bytes;
    for (unsigned const n : merges()) {
      parts_ = merged(n);
      if (parts_.empty()) continue;
      unsigned const bytes = width / n;
      unsigned proved = 0;
      for (unsigned part = 0; part < n; ++part) {
        proved += *parts_[part]->wavefronts;
        out_.certain = out_.certain && search(moved(part * bytes), {parts_[part]}).certain &&
                       (part == 0 || distance(*parts_[0], *parts_[part]) == part * bytes);
      }
      out_.ptx_lines = lines_of(parts_);
      out_.merged = n, out_.found = patterns_.size(), out_.proved = proved;
      if (out_.worst <= proved)
        out_.outcome = AsCompiled::as_proved;
      else
        out_.why = fmt::format("{} accesses of the PTX were merged, and cost more than they did apart", n);
      return true;
    }
    return false;
  }

  /// Keeps the accesses that the instruction may be instead, merged.
  void keep_merges() {
    if (out_.outcome != AsCompiled::as_proved || out_.merged != 1 || !reads_ptx()) return;
    for (unsigned const n : merges())
      if (auto parts = merged(n); !parts.empty()) kernel_.merges.emplace_back(out_.traced, std::move(parts));
  }

  /// Numbers of accesses that ptxas can make one of: 2, 4, .. up to one a byte; of matrices none.
  [[nodiscard]] std::vector<unsigned> merges() const {
    std::vector<unsigned> all;
    Instruction const& i = *out_.traced->instruction;
    for (unsigned n = 2; i.matrices == 0 && n <= i.bytes; n *= 2) all.push_back(n);
    return all;
  }

  /// Reason why accesses on the line are not all known: an access that is not decided, or a call.
  [[nodiscard]] std::string open(std::vector<KernelAccess const*> const& accesses) const {
    for (KernelAccess const* a : accesses)
      if (!a->lanes)
        return fmt::format("{} line {}: {}", a->sass ? "SASS" : "PTX", a->ptx_line,
                           a->lanes_reason.empty() ? a->reason : a->lanes_reason);
    return {};
  }
  [[nodiscard]] std::string not_modelled() const {
    for (KernelReport const& report : kernel_.reports)
      for (KernelAccess const& a : report.accesses)
        if (!a.instruction && (a.op.starts_with("call") || on_line(a, *out_.traced)))
          return fmt::format("{} line {}: {}", a.sass ? "SASS" : "PTX", a.ptx_line, a.reason);
    return {};
  }
  /// A wider access on the line that has the patterns as a part of it.
  [[nodiscard]] std::string wider() const {
    Instruction const& i = *out_.traced->instruction;
    for (unsigned bytes = 2 * i.bytes; i.matrices == 0 && bytes <= 16; bytes *= 2)
      for (KernelAccess const* a : of_width(bytes))
        for (unsigned at = 0; at < bytes && on_line(*a, *out_.traced); at += i.bytes) {
          if (a->lanes && search(moved(0 - at), {a}).found != patterns_.size()) continue;
          return fmt::format("it may be a part of {} at PTX line {}", a->op, a->ptx_line);
        }
    return {};
  }
  /// Reason why it may be merged from accesses that are not decided.
  [[nodiscard]] std::string narrower() const {
    for (unsigned const n : merges())
      if (std::string const why = open(of_width(out_.traced->instruction->bytes / n)); !why.empty())
        return "it may be merged; " + why;
    return {};
  }
  /// True if the line has an access of the same operation and less width.
  [[nodiscard]] bool has_narrower() const {
    std::vector<unsigned> const all = merges();
    return std::any_of(all.begin(), all.end(), [&](unsigned n) {
      auto const of = of_width(out_.traced->instruction->bytes / n);
      return std::any_of(of.begin(), of.end(),
                         [&](KernelAccess const* a) { return on_line(*a, *out_.traced); });
    });
  }

  /// The first pattern that no access can have; one that a warp surely has, if there is such a one.
  [[nodiscard]] std::optional<std::size_t> other(Search const& whole) const {
    std::optional<std::size_t> first;
    for (std::size_t p = 0; p < patterns_.size(); ++p)
      if (whole.best[p] == Match::none && (!first || (patterns_[p].sure && !patterns_[*first].sure)))
        first = p;
    return first;
  }

  /// The instruction on a tensor map in shared memory that ptxas may have compiled to this one; nothing if its line has none.
  [[nodiscard]] KernelAccess const* tensor_map() const {
    Operation const operation = out_.traced->instruction->operation;
    if (operation != Operation::ld_shared && operation != Operation::st_shared) return nullptr;
    for (KernelReport const& report : kernel_.reports)
      for (KernelAccess const& a : report.tensor_maps)
        if (on_line(a, *out_.traced)) return &a;
    return nullptr;
  }

  /// A pattern was not found.
  void judge(Search const& whole) {
    if (KernelAccess const* const made_of = reads_ptx() ? tensor_map() : nullptr) {
      out_.outcome = AsCompiled::not_compared;
      out_.why =
          fmt::format("ptxas makes loads and stores of {} at PTX line {}", made_of->op, made_of->ptx_line);
      return;
    }
    std::optional<std::size_t> const none = other(whole);
    out_.why = not_modelled();
    if (out_.why.empty() && reads_ptx()) out_.why = wider();
    if (out_.why.empty() && reads_ptx()) out_.why = narrower();
    if (out_.why.empty() && here_.empty())
      out_.why = fmt::format("the {} has no {} {}", code(), to_string(*out_.traced->instruction),
                             reads_ptx() ? "on this line" : "at this address");
    if (out_.why.empty() && reads_ptx() && has_narrower())
      out_.why = "it may be merged of accesses of several widths";
    if (out_.why.empty() && !none)
      out_.why = fmt::format(
          "a lane is off that the {} switches on: the warp may execute it in several parts", code());
    if (out_.why.empty() && kernel_.by_words)
      out_.why = fmt::format(
          "a pattern is not the {}'s; the kernel's name is not demangled, and it may be another one", code());
    if (out_.why.empty() && out_.traced->launches > 1 && options_.blocks.empty())
      out_.why =
          fmt::format("a pattern is not the {}'s with the block of the first of {} launches: give --block",
                      code(), out_.traced->launches);
    if (out_.why.empty() && !patterns_[*none].sure)
      out_.why = "a pattern was not found; whether a warp has its lanes and addresses is not known";
    if (!out_.why.empty()) return;
    out_.outcome = AsCompiled::differs;
    find_nearest(patterns_[*none]);
  }

  void find_nearest(Pattern32 const& p) {
    for (KernelAccess const* a : here_)
      for (KernelLanes const& can : *a->lanes)
        for (unsigned l = 0; l < warp_lanes; ++l)
          if (p.takes_part(l) && (can.may >> l & 1) != 0)
            keep_nearer(p, can, p.address[l] - can.lane[l], a->ptx_line);
  }
  /// Keeps a case, moved by so many bytes, if more lanes are alike.
  void keep_nearer(Pattern32 const& p, KernelLanes const& can, std::uint32_t by, std::uint32_t line) {
    if (can.zeros > 0 && by << (32 - can.zeros) != 0) return;
    DifferingLane out;
    out.ptx_line = line, out.lane = warp_lanes;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      std::optional<std::uint32_t> const traced =
          p.takes_part(l) ? std::optional(p.address[l]) : std::nullopt;
      bool const may = (can.may >> l & 1) != 0, must = (can.must >> l & 1) != 0;
      std::optional<std::uint32_t> const of_ptx = may ? std::optional(can.lane[l] + by) : std::nullopt;
      if (traced == of_ptx || (!traced && !must)) {
        ++out.equal;
      } else if (out.lane == warp_lanes) {
        out.lane = l, out.traced = traced, out.of_ptx = of_ptx;
      }
    }
    if (!out_.nearest || out.equal > out_.nearest->equal) out_.nearest = out;
  }

  DecidedKernel& kernel_;
  CompiledOptions const& options_;
  std::vector<Pattern32> patterns_;
  std::vector<KernelAccess const*> here_{};   ///< accesses of its operation and width on its line
  std::vector<KernelAccess const*> parts_{};  ///< those that it is, if they were merged
  CompiledInstruction out_{};
};

}  // namespace

std::size_t CompiledReport::count(AsCompiled which) const {
  return static_cast<std::size_t>(std::count_if(instructions.begin(), instructions.end(),
                                                [&](auto const& i) { return i.outcome == which; }));
}

/// Number of instructions from the first on that are of its function: a trace has the functions one after the other, each by address.
static std::size_t of_one_function(std::span<TracedInstruction const> traced) {
  std::size_t n = 1;
  while (n < traced.size() && traced[n].kernel == traced[0].kernel && traced[n].block == traced[0].block &&
         traced[n].grid == traced[0].grid && traced[n].launches == traced[0].launches &&
         traced[n].pc > traced[n - 1].pc)
    ++n;
  return n;
}

/// Adds what a kernel's answers rest on, its accesses that no instruction is, and those that take less.
static void add_rest(CompiledReport& out, DecidedKernel const& kernel, bool decided) {
  for (KernelReport const& report : kernel.reports)
    out.assumed.insert(report.assumed.begin(), report.assumed.end());
  auto const is_rest = [&](KernelAccess const& a, std::set<KernelAccess const*> const& named) {
    return a.instruction && !a.atomic && a.executed && kernel.traced.count(&a) == 0 && named.count(&a) == 0;
  };
  std::set<KernelAccess const*> named;
  for (auto const& [into, parts] : kernel.merges) {
    if (!std::all_of(parts.begin(), parts.end(), [&](KernelAccess const* a) { return is_rest(*a, named); }))
      continue;
    out.merges.push_back({into, lines_of(parts)});
    named.insert(parts.begin(), parts.end());
  }
  for (KernelReport const& report : kernel.reports)
    for (KernelAccess const& a : report.accesses) {
      out.not_traced += is_rest(a, named) ? 1 : 0;
      auto const most = kernel.most.find(&a);
      bool const compared = decided && a.reached && kernel.open.count(&a) == 0 && most != kernel.most.end();
      out.lower += compared && most->second < *a.wavefronts ? 1 : 0;
    }
}

CompiledReport compare_compiled(Trace const& trace, std::vector<PtxFile> const& files,
                                CompiledOptions const& options) {
  CompiledReport out;
  auto const sass = static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](PtxFile const& f) { return f.sass.has_value(); }));
  if (sass != 0) out.code = sass == files.size() ? "SASS" : "PTX or SASS";
  out.assumed = trace.assumed;
  CompiledOptions of_one = options;
  if (trace.decided) of_one.blocks.clear();  // each of its instructions has its block
  using Code = std::tuple<std::string, std::array<unsigned, 3>, std::vector<void const*>>;
  std::map<Code, DecidedKernel> kernels;
  for (std::span<TracedInstruction const> rest = trace.instructions; !rest.empty();) {
    std::span<TracedInstruction const> const one = rest.first(of_one_function(rest));
    std::vector<NamedKernel> const named = kernels_of(one, files);
    Code code{one[0].kernel, one[0].block, {}};
    for (NamedKernel const& k : named)
      std::get<2>(code).push_back(k.ptx != nullptr ? static_cast<void const*>(k.ptx) : k.sass);
    auto const [at, fresh] = kernels.try_emplace(std::move(code));
    if (fresh) at->second = decide(one[0], *trace.arch, named, of_one);
    for (TracedInstruction const& i : one) out.instructions.push_back(Comparer(i, at->second, of_one).run());
    rest = rest.subspan(one.size());
  }
  for (auto const& [code, kernel] : kernels) add_rest(out, kernel, trace.decided);
  for (auto const& [name, block] : trace.idle) {
    TracedInstruction none;
    none.kernel = name, none.block = block;
    add_rest(out, decide(none, *trace.arch, kernels_of(name, files), of_one), trace.decided);
  }
  return out;
}

}  // namespace swizproof
