#include "races.hpp"

#include "launch.hpp"
#include "origins.hpp"
#include "race_access.hpp"
#include "race_crowd.hpp"
#include "race_divergence.hpp"
#include "race_found.hpp"
#include "race_groups.hpp"
#include "race_intervals.hpp"
#include "race_launches.hpp"
#include "race_memory.hpp"
#include "race_pair.hpp"
#include "race_phases.hpp"
#include "race_question.hpp"
#include "race_rings.hpp"
#include "race_run.hpp"
#include "race_threads.hpp"
#include "race_uniform.hpp"

#include <swizproof/engine/decide.hpp>
#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/step.hpp>
#include <swizproof/ptx/arrays.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace swizproof {

std::string_view name_of(RaceKind kind) {
  switch (kind) {
    case RaceKind::lost_store:
      return "lost store";
    case RaceKind::race:
      return "race";
    case RaceKind::same_value:
      break;
  }
  return "same-value race";
}

namespace kernel_detail {
namespace {

using program::Space;

constexpr std::size_t most_race_pairs = 6'000;
constexpr unsigned most_race_hints = 6;  ///< cases of the solver that are executed
constexpr std::size_t pairs_at_once = 64;
constexpr unsigned warpgroup_threads = 128;  ///< [PTX ISA 9.1, 9.7.15.1]

/// Places arrays that H18 does not place, one after the other: the end of shared memory.
std::uint64_t place_rest(program::Program& lowered, KernelOptions const& options, std::uint64_t first) {
  std::uint64_t end = 0;
  program::PlacedArrays const arrays = program::place_shared(lowered.symbols, first, [&](std::uint32_t s) {
    return std::max<std::uint64_t>(lowered.symbols[s].align, 1);
  });
  for (std::size_t s = 0; s < lowered.symbols.size(); ++s) {
    program::Variable& v = lowered.symbols[s];
    if (v.space == Space::shared && !v.placed) v.placed = arrays.addresses[s];
    if (v.space == Space::shared && v.placed && !v.extern_array) end = std::max(end, *v.placed + v.bytes);
    if (v.space == Space::shared && v.extern_array)
      end = std::max(end, options.shared_bytes ? v.placed.value_or(first) + *options.shared_bytes
                                               : first + options.arch->most_shared_bytes.value());
    // Static arrays that no device has room for: dynamic memory is behind them all the same.
    if (v.space == Space::shared && v.extern_array && v.placed && *v.placed >= end)
      end = *v.placed + options.arch->most_shared_bytes.value();
  }
  return end;
}

/// Returns an operation of an mbarrier behind an mbarrier.inval on a path of the control flow, or null. The threads of a block pass the same
/// barriers, so this is also about operations of other threads behind a barrier.
program::MemoryAccess const* used_behind_inval(program::Program const& program, program::Flow const& flow) {
  auto const access_at = [&](std::uint32_t step) {
    program::Step const& s = program.steps[step];
    return s.action == program::Action::access ? &program.accesses[s.extra] : nullptr;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> work;  // blocks, and the steps to begin with
  for (std::uint32_t const b : flow.order)
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s)
      if (program::MemoryAccess const* const m = access_at(s); m != nullptr && is_inval(*m))
        work.emplace_back(b, s);
  std::set<std::uint32_t> seen;
  while (!work.empty()) {
    auto const [b, first] = work.back();
    work.pop_back();
    program::Block const& block = program.blocks[b];
    for (std::uint32_t s = first; s < block.last; ++s)
      if (program::MemoryAccess const* const m = access_at(s);
          m != nullptr && m->operand >= 0 &&
          program.operands[static_cast<std::size_t>(m->operand)].role == program::OperandRole::barrier)
        return m;
    for (std::int32_t const to : {block.next, block.taken})
      if (to >= 0 && seen.insert(static_cast<std::uint32_t>(to)).second)
        work.emplace_back(to, program.blocks[static_cast<std::uint32_t>(to)].first);
  }
  return nullptr;
}

/// True for two stores of values that are not known to be equal or to differ.
bool is_open(Race const& r) { return r.kind == RaceKind::race && r.first.write && r.second.write; }

class RaceSearch {
 public:
  RaceSearch(ptx::Module const& module, ptx::Function const& head, ptx::Function const& function,
             KernelOptions const& options)
      : module_(module),
        head_(head),
        function_(function),
        options_(options),
        lowered_(ptx::lower(module, function, false, true)) {
    std::uint64_t const first = options.arch->code.value().reserved_shared;
    (void)ptx::place_arrays(module, head, first, lowered_);
    end_ = place_rest(lowered_, options, first);
    operands_as_accesses(lowered_);
    if (!options.same_values)
      for (program::MemoryAccess& m : lowered_.accesses) m.values.clear();
    program_ = program::with_one_entry(lowered_);
    flow_ = program::flow_of(program_);
    execution_.wants_conditions = true;
    execution::execute(program_, flow_, execution_);
  }

  KernelRaces run() {
    if (!execution_.refused.empty()) return give_up(execution_.refused), out_;
    if (!find_shapes()) return out_;
    shared_ = shared_accesses_of(function_, lowered_, execution_, origins_);
    out_.accesses = shared_.count;
    if (out_.accesses == 0 && shared_.obstacle.empty()) return out_.verdict = RaceVerdict::proved, out_;
    barriers_ = barriers_of(function_, lowered_, program_, threads_of(shapes_), !shapes_.given);
    RaceRun runs(function_, lowered_, shared_.all, end_);
    if (may_run() && shared_.obstacle.empty()) sample(runs);
    if (out_.verdict == RaceVerdict::refuted) return out_;
    if (!shared_.obstacle.empty()) return give_up(shared_.obstacle, shared_.lines), out_;
    if (auto const a = leaving_array(program_, execution_, origins_, shared_.all))
      return give_up(program_.accesses[*a].op + " leaves its array", {program_.accesses[*a].line}), out_;
    if (std::none_of(program_.accesses.begin(), program_.accesses.end(), is_inval))
      if (auto const a = overwriting_mbarrier(program_, execution_, origins_, shared_.all))
        return give_up(program_.accesses[*a].op + " writes an mbarrier", {program_.accesses[*a].line}), out_;
    prepare_proofs();
    barriers_.fixed = fixed_branches(program_, execution_);
    PhaseUse const use = phases_of(
        function_, lowered_, program_, flow_, execution_, origins_, shared_.all, barriers_.of_block,
        {[this](std::vector<std::uint32_t> const& accesses) { return threads_->at_most_one(accesses); },
         [this](std::vector<BarrierAt> const& events) { return threads_->pass_the_same(events); }});
    if (use.obstacle.empty())
      barriers_.phases = use.phases;
    else if (!find_rings(use))
      return out_;
    prove(runs);
    if (out_.verdict == RaceVerdict::unknown && runs.has_flags())
      out_.reason += "; it may be ordered by a flag";
    return out_;
  }

 private:
  void give_up(std::string why, std::vector<std::uint32_t> lines = {}) {
    out_.assumed.clear();
    out_.verdict = RaceVerdict::unknown;
    out_.reason = std::move(why);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    out_.lines = std::move(lines);
  }

  bool find_shapes() {
    if (options_.block || function_.reqntid[0] != 0) {
      shapes_.given = options_.block.value_or(function_.reqntid);
      if (std::string const why = why_no_block(function_, *shapes_.given); !why.empty())
        return give_up("no such block: " + why), false;
    }
    shapes_.grid = options_.grid;
    shapes_.dimensions = program_.uses_y_or_z ? 3 : 1;
    if (function_.maxntid[0] != 0)
      shapes_.most = std::min(1024U, function_.maxntid[0] * std::max(function_.maxntid[1], 1U) *
                                         std::max(function_.maxntid[2], 1U));
    if (std::string const why = why_no_parameter(function_, options_.params); !why.empty())
      return give_up(why), false;
    for (auto const& [name, value] : options_.params)
      if (auto const i = parameter_of(function_, name))
        params_[function_.params[*i].name] = value.bits & low_bits(bits_of(function_.params[*i]));
    return true;
  }

  // ------------------------------------------------------------------------------------- executions

  /// True if all that orders accesses is modelled.
  [[nodiscard]] bool may_run() const {
    return barriers_.broken.empty() && barriers_.partial.empty() && barriers_.other.empty();
  }

  void sample(RaceRun& runs) {
    RaceLaunches const launches(program_, function_, shapes_, params_, shared_.descriptors);
    for (std::array<std::uint32_t, 3> const& block : launches.blocks())
      for (unsigned style = 0; style < race_styles; ++style)
        if (RaceLaunch launch = launches.of_style(block, style);
            execute(runs, launch) && out_.races.front().data.empty())
          return compare_values(runs, std::move(launch));
  }

  /// Looks for stores of different values in a launch with a race, with numbers in memory.
  void compare_values(RaceRun& runs, RaceLaunch launch) {
    bool const open = std::any_of(out_.races.begin(), out_.races.end(), is_open);
    if (open && !std::exchange(launch.counts, true)) execute(runs, launch);
  }

  /// True if this launch has a race, or one before it; all are noted. A race for some data is the answer if no launch has one for all data.
  bool execute(RaceRun& runs, RaceLaunch const& launch) {
    std::uint64_t const threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads == 0 || threads > shapes_.most) return false;  // no such launch
    if (shared_.descriptors && threads % warpgroup_threads != 0) return false;
    auto const& found = runs.run(launch);
    FoundRaces const names(module_, function_, program_, params_, options_);
    // A read that races gives a value by the order of the threads, and so may all that is stored.
    bool const any_order = std::any_of(found.begin(), found.end(), [](auto const& f) { return !f.stores; });
    for (RaceRun::Found f : found) {
      f.kind = any_order && f.kind == RaceKind::same_value ? RaceKind::race : kind_of(f);
      if (f.stores && options_.same_values && !f.differ) continue;
      if (out_.races.size() < 64 || f.data == 0) out_.races.push_back(names.race_of(f, launch, runs));
    }
    if (out_.races.empty()) return false;
    std::stable_sort(out_.races.begin(), out_.races.end(), [](Race const& a, Race const& b) {
      return std::tuple(!a.data.empty(), a.kind) < std::tuple(!b.data.empty(), b.kind);
    });
    // One race for each pair of instructions: the first kind.
    auto const lines = [](Race const& r) {
      return std::pair(std::min(r.first.ptx_line, r.second.ptx_line),
                       std::max(r.first.ptx_line, r.second.ptx_line));
    };
    std::vector<Race> kept;
    for (Race& r : out_.races)
      if (std::none_of(kept.begin(), kept.end(), [&](Race const& k) { return lines(k) == lines(r); }))
        kept.push_back(std::move(r));
    out_.races = std::move(kept);
    out_.verdict = RaceVerdict::refuted;
    return true;
  }

  // ------------------------------------------------------------------------------------- proofs

  void prepare_proofs() {
    uniform_ = std::make_unique<UniformTerms>(program_, execution_);
    divergence_ = std::make_unique<Divergence>(program_, flow_, execution_, shared_.all, *uniform_,
                                               [this] { return fresh(); });
    threads_ = std::make_unique<BlockThreads>(program_, flow_, execution_, shared_.all, shapes_, barriers_,
                                              [this] { return fresh(); });
    if (options_.same_values) memory_ = std::make_unique<UnwrittenMemory>(module_, function_);
  }

  /// True if two stores store one value where two threads meet, in every launch: in any iterations, or because the kernel has no other races.
  bool store_one_value(std::uint32_t first, std::uint32_t second) {
    if (!execution_.refused.empty() || !find_shapes()) return false;
    if (!uniform_) {
      shared_ = shared_accesses_of(function_, lowered_, execution_, origins_);
      prepare_proofs();
    }
    auto const visit = [&](std::uint32_t access) {
      Visit out{access};
      for ([[maybe_unused]] std::int32_t const l : flow_.around(execution_.accesses[access].loop))
        out.turns.emplace_back();
      return out;
    };
    std::vector<RaceUnknown> unknowns;
    if (std::holds_alternative<Proved>(
            never(meets(visit(first), visit(second), RacePair::Warps::any, false), unknowns)))
      return true;
    if (execution_.accesses[first].loop < 0 && execution_.accesses[second].loop < 0) return false;
    if (!answer_) answer_ = RaceSearch(module_, head_, function_, options_).run().verdict;
    return *answer_ == RaceVerdict::proved;
  }

  /// The kind of a race: stores of loaded numbers that are equal for all data are of one value.
  RaceKind kind_of(RaceRun::Found const& f) {
    if (!f.stores || f.kind == RaceKind::same_value || f.differ || f.values == 0 || options_.same_values)
      return f.kind;
    auto const [at, fresh] = of_one_value_.try_emplace({f.access[0], f.access[1]}, false);
    if (fresh) {
      if (!with_values_) {
        named_ = options_, named_.same_values = true;
        with_values_ = std::make_unique<RaceSearch>(module_, head_, function_, named_);
      }
      at->second = with_values_->store_one_value(f.access[0], f.access[1]);
    }
    return at->second ? RaceKind::same_value : f.kind;
  }

  [[nodiscard]] RacePair fresh() const {
    RacePair out{program_, flow_, execution_, params_, shapes_, *uniform_, memory_.get()};
    out.within(group_ == nullptr ? all_warps : group_->warps);
    return out;
  }
  Outcome never(RaceFormula const& formula, std::vector<RaceUnknown>& unknowns) const {
    return kernel_detail::never(fresh(), formula, unknowns);
  }

  // ------------------------------------------------------------------------------------- mbarriers

  /// Mbarriers of several phases; false if the answer is given.
  bool find_rings(PhaseUse const& use) {
    if (program::MemoryAccess const* const m = used_behind_inval(program_, flow_))
      return give_up(use.obstacle + "; as rings: " + m->op + " may be behind an mbarrier.inval",
                     {use.line, m->line}),
             false;
    threads_->assume_nothing();
    rings_ = std::make_unique<Rings>(
        program_, flow_, execution_, shapes_, shared_.all, barriers_.copies, end_,
        options_.proxies ? unfenced_arrivals(program_, flow_, barriers_) : std::set<std::uint32_t>());
    std::uint32_t line = 0;
    if (std::string const why = rings_->find(line); !why.empty())
      return give_up(use.obstacle + "; as rings: " + why, {use.line, line}), false;
    for (std::size_t a = 0; a < shared_.all.size(); ++a) {
      SharedAccess& one = shared_.all[a];
      if (!one.tensor || one.role == RaceRole::none) continue;
      auto const box = rings_->boxes().find(static_cast<std::uint32_t>(a));
      bool const stored = one.role == RaceRole::read;
      if (stored && box == rings_->boxes().end()) continue;  // up to the end of its array
      if (box == rings_->boxes().end() || box->second == 0)
        return give_up("the box of a tensor is not known: " + program_.accesses[a].op,
                       {program_.accesses[a].line}),
               false;
      one.bytes = box->second, one.end = 0;
    }
    return true;
  }

  /// Checks that mbarriers of the rings count their threads; false if the answer is given.
  bool count_threads() {
    if (!rings_) return true;
    bool of_warpgroups = false;
    for (Rings::Crowd const& crowd : rings_->crowds()) {
      std::string const why = why_too_many(program_, execution_, shapes_, crowd, of_warpgroups);
      if (why.empty()) continue;
      std::vector<std::uint32_t> lines;
      for (std::uint32_t const a : crowd.accesses) lines.push_back(program_.accesses[a].line);
      return give_up(why, lines), false;
    }
    if (of_warpgroups)
      out_.assumed.emplace_back("wgmma for which a thread has waited is complete in its warpgroup");
    for (std::string& text : rings_->assumed()) out_.assumed.push_back(std::move(text));
    return true;
  }

  /// True if two accesses are ordered by a ring; with `fences`, if they have no byte in common.
  bool in_rings(Visit const& a, Visit const& b, bool fences) {
    if (!rings_) return false;
    auto const [at, fresh] = in_rings_.try_emplace({a.access, b.access, fences}, false);
    if (fresh) {
      at->second = fences ? rings_->apart(a.access, b.access) : rings_->orders(a.access, b.access);
      out_.pairs += at->second ? 1 : 0;
    }
    return at->second;
  }

  void prove(RaceRun& runs) {
    std::string note = barriers_.broken;
    std::vector<std::uint32_t> note_lines;
    if (note.empty() && !barriers_.of_block.empty())
      if (auto const line = divergence_->line_of(barriers_.of_block, RacePair::Warps::any))
        note = "the threads of a block may pass different barriers", note_lines = {*line};
    if (!note.empty()) barriers_.of_block.clear();
    bool const whole = note.empty();
    groups_ = std::make_unique<WarpGroups>(program_, flow_, execution_, shapes_, barriers_, *divergence_);
    if (whole && !groups_->complete()) note = barriers_.partial;
    for (WarpGroup const& group : groups_->all()) {
      std::vector<BarrierAt> of_warp = group.barriers;
      of_warp.insert(of_warp.end(), barriers_.of_warp.begin(), barriers_.of_warp.end());
      bool const warps = !barriers_.of_warp.empty() && whole &&
                         !divergence_->line_of(of_warp, RacePair::Warps::one, group.warps, groups_->reach());
      group_ = &group;
      if (!prove(runs, group.barriers, warps ? RacePair::Warps::two : RacePair::Warps::any, note,
                 note_lines) ||
          (warps && !prove(runs, of_warp, RacePair::Warps::one, note, note_lines)))
        return;
    }
    group_ = nullptr;
    if (!prove_own(runs) || !prove_phases(runs) || (options_.proxies && !prove_fences(runs))) return;
    out_.assumed.clear();
    if (!count_threads()) return;
    out_.verdict = RaceVerdict::proved;
    out_.assumed.insert(out_.assumed.begin(), {"each access stays in its array",
                                               "arrays lie where devices were measured to place them (H18)"});
    if (!shapes_.given && shapes_.dimensions == 1) out_.assumed.emplace_back("blocks have one dimension");
    if (rings_ || !barriers_.phases.of_access.empty()) {
      bool const invalidates = std::any_of(program_.accesses.begin(), program_.accesses.end(), is_inval);
      out_.assumed.emplace_back(
          fmt::format("mbarriers are initialised before they are used,{} nothing else writes to them{}{}",
                      invalidates ? "" : " and", invalidates ? " until mbarrier.inval" : "",
                      invalidates && rings_
                          ? ", and copies to their stages and arrivals of tcgen05.commit are complete by then"
                          : ""));
    }
    if (shared_.one_block)
      out_.assumed.emplace_back(
          "a cluster has one block, so that mapa and .multicast are about its own memory");
    if (shared_.tiles) out_.assumed.emplace_back("addresses in descriptors lie below 2^18 bytes");
    if (threads_->assumes_lane_0())
      out_.assumed.emplace_back("elect.sync of all lanes of a warp elects lane 0");
    if (!options_.proxies)
      out_.assumed.emplace_back(
          "what threads write is visible to the async proxy without fence.proxy.async (--proxy off)");
    if (memory_ && !memory_->assumption().empty()) out_.assumed.push_back(memory_->assumption());
    if (divergence_->some_end())
      out_.assumed.emplace_back("barriers do not wait for threads that have ended");
  }

  using Pairs = std::vector<std::pair<Visit, Visit>>;

  /// Pairs of one barrier set: those that are decided, and the first that is not.
  struct PairSearch {
    RaceRun& runs;
    RacePair::Warps warps = RacePair::Warps::any;
    std::string note{};
    std::vector<std::uint32_t> note_lines{};
    std::set<std::pair<Visit, Visit>> done{};
    unsigned hints = 0;
    std::string open{};
    std::vector<std::uint32_t> lines{};
    bool fences = false;  ///< pairs with no proxy fence between
    /// Reason why the answer is unknown if the two accesses meet.
    [[nodiscard]] std::string doubt(std::string const& first, std::string const& second) const {
      if (fences)
        return fmt::format(
            "all else is ordered, but no fence.proxy.async may be between a write and the async proxy: {} "
            "and {}; --proxy off leaves this rule out, and the answer then assumes it",
            first, second);
      return fmt::format("{} may access one byte: {} and {}",
                         warps == RacePair::Warps::own
                             ? "a thread and its own copy, for which it has not waited,"
                             : "two threads",
                         first, second);
    }
  };

  /// False if a pair is not proved; then the answer is given.
  bool prove(RaceRun& runs, std::vector<BarrierAt> const& barriers, RacePair::Warps warps,
             std::string const& note, std::vector<std::uint32_t> const& note_lines) {
    PairSearch search{runs, warps, note, note_lines};
    for (Interval const& interval : intervals_of(program_, flow_, barriers, barriers_)) {
      std::vector<Visit> const& visits = *interval.visits;
      Pairs pairs;
      for (std::size_t i = 0; i < visits.size(); ++i)
        for (std::size_t j = i; j < visits.size(); ++j)
          if (!of_phase(visits[i]) && !of_phase(visits[j])) pairs.emplace_back(visits[i], visits[j]);
      for (auto const& [copy, visits_behind] : interval.later)
        for (Visit const& v : *visits_behind) pairs.emplace_back(copy, v);
      if (!decide_pairs(search, pairs)) return false;
      if (interval.ends && divergence_->some_end())
        return give_up("a thread may end with no barrier behind the wait for its cp.async"), false;
    }
    return search.open.empty() || (give_up(search.open, search.lines), false);
  }

  /// Copies against accesses of their own thread; false if a pair is not proved.
  bool prove_own(RaceRun& runs) {
    PairSearch search{runs, RacePair::Warps::own};
    if (!decide_pairs(search, own_accesses(program_, flow_, barriers_))) return false;
    return search.open.empty() || (give_up(search.open, search.lines), false);
  }

  [[nodiscard]] bool of_phase(Visit const& v) const {
    return barriers_.phases.of_access.count(v.access) != 0;
  }

  /// Bulk copies against what is before the end of their phase; false if a pair is not proved.
  bool prove_phases(RaceRun& runs) {
    for (RacePair::Warps const warps : {RacePair::Warps::own, RacePair::Warps::any}) {
      PairSearch search{runs, warps};
      if (!decide_pairs(search, before_phases(program_, flow_, barriers_, warps == RacePair::Warps::own)))
        return false;
      if (!search.open.empty()) return give_up(search.open, search.lines), false;
    }
    return true;
  }

  /// Writes against wgmma that reads, or a bulk copy that writes, with no fence.proxy.async between; false if a pair is not proved.
  bool prove_fences(RaceRun& runs) {
    for (RacePair::Warps const warps : {RacePair::Warps::own, RacePair::Warps::any}) {
      PairSearch search{runs, warps};
      search.fences = true;
      Pairs pairs;
      for (auto const& [first, read] : unfenced(program_, flow_, barriers_, warps == RacePair::Warps::own))
        if (shared_.all[first.access].role != RaceRole::read &&
            shared_.all[read.access].role != RaceRole::atomic)
          pairs.emplace_back(first, read);
      if (!decide_pairs(search, pairs)) return false;
      if (!search.open.empty()) return give_up(search.open, search.lines), false;
    }
    return true;
  }

  /// False if the answer is given. The first pair that is not proved is noted.
  template <class Range>
  bool decide_pairs(PairSearch& search, Range const& pairs) {
    Pairs open;
    for (auto const& [a, b] : pairs) {
      if ((group_ != nullptr && &groups_->of(a.access, b.access) != group_) || !may_race(a, b) ||
          !search.done.insert({a, b}).second || in_rings(a, b, search.fences))
        continue;
      if (++out_.pairs > most_race_pairs) return give_up("more than 6,000 pairs of accesses"), false;
      if (disjoint(a, b) || threads_->one_makes_both(a, b, search.warps)) continue;
      open.emplace_back(a, b);
      if (open.size() == pairs_at_once && !decide_open(search, open)) return false;
    }
    return decide_open(search, open);
  }

  /// Decides these pairs, together if all are proved, and leaves none.
  bool decide_open(PairSearch& search, Pairs& open) {
    std::vector<RaceFormula> builds;
    for (auto const& [a, b] : open) builds.push_back(meets(a, b, search.warps, in_loop(a, b)));
    if (open.size() > 1 && never_any(fresh(), builds)) open.clear();
    for (auto const& [a, b] : std::exchange(open, {}))
      if (!decide_pair(search, a, b)) return false;
    return true;
  }

  [[nodiscard]] RaceFormula meets(Visit const& a, Visit const& b, RacePair::Warps warps, bool earlier) const {
    std::array<SharedAccess const*, 2> const both{&shared_.all[a.access], &shared_.all[b.access]};
    return [=](RacePair& p) { return p.meets(a, b, both, warps, earlier); };
  }
  [[nodiscard]] bool in_loop(Visit const& a, Visit const& b) const {
    return execution_.accesses[a.access].loop >= 0 || execution_.accesses[b.access].loop >= 0;
  }

  /// False if the answer is given. A pair that is not proved is noted.
  bool decide_pair(PairSearch& search, Visit const& a, Visit const& b) {
    std::vector<RaceUnknown> unknowns, more;
    Outcome const answer = never(meets(a, b, search.warps, false), unknowns);
    if (std::holds_alternative<Proved>(answer)) return true;
    if (in_loop(a, b) && std::holds_alternative<Proved>(never(meets(a, b, search.warps, true), more)))
      return true;
    if (threads_->holds_for_lane_0([&] {
          return std::holds_alternative<Proved>(never(meets(a, b, search.warps, in_loop(a, b)), more));
        }))
      return true;
    auto const* const case_of = std::get_if<Refuted>(&answer);
    if (search.open.empty()) {
      search.open = case_of != nullptr
                        ? search.doubt(program_.accesses[a.access].op, program_.accesses[b.access].op)
                        : "the solver has no answer: " + std::get<Unknown>(answer).reason;
      std::uint32_t line = 0;
      std::string const ring = rings_ && !search.fences ? rings_->doubt(line) : std::string();
      if (!ring.empty()) search.open += "; " + ring;
      if (shared_.all[a.access].matrix != shared_.all[b.access].matrix)
        search.open += "; each lane of a warp counts as one that accesses its rows: __syncwarp() orders them";
      if (!search.note.empty()) search.open += "; " + search.note;
      search.lines = {program_.accesses[a.access].line, program_.accesses[b.access].line};
      if (line != 0) search.lines.push_back(line);
      search.lines.insert(search.lines.end(), search.note_lines.begin(), search.note_lines.end());
    }
    if (case_of != nullptr && may_run() &&
        execute(search.runs, RaceLaunches(program_, function_, shapes_, params_, shared_.descriptors)
                                 .of_case(*case_of, unknowns)))
      return false;
    if (++search.hints >= most_race_hints || case_of == nullptr || !may_run())
      return give_up(search.open, search.lines), false;
    return true;
  }

  [[nodiscard]] bool may_race(Visit const& a, Visit const& b) const {
    SharedAccess const &x = shared_.all[a.access], &y = shared_.all[b.access];
    if (x.role == RaceRole::none || y.role == RaceRole::none) return false;
    if (are_atomics(x, y)) return false;
    return x.role != RaceRole::read || y.role != RaceRole::read;
  }
  [[nodiscard]] bool disjoint(Visit const& a, Visit const& b) const {
    std::int64_t const x = shared_.all[a.access].array, y = shared_.all[b.access].array;
    if (x < 0 || y < 0 || x == y) return false;
    return !program_.symbols[static_cast<std::size_t>(x)].extern_array ||
           !program_.symbols[static_cast<std::size_t>(y)].extern_array;
  }

  ptx::Module const& module_;
  ptx::Function const& head_;
  ptx::Function const& function_;
  KernelOptions const& options_;
  program::Program lowered_, program_{};
  program::Flow flow_{};
  execution::Execution execution_{};
  Origins origins_{program_, flow_, execution_};
  BlockShapes shapes_{};
  std::map<std::string, std::uint64_t> params_{};
  SharedAccesses shared_{};
  Barriers barriers_{};
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, bool>
      in_rings_{};                  ///< what rings decided, by pair
  std::unique_ptr<Rings> rings_{};  ///< of mbarriers with several phases
  std::uint64_t end_ = 0;
  std::unique_ptr<UniformTerms> uniform_{};
  std::unique_ptr<UnwrittenMemory> memory_{};  ///< with --same-values
  KernelOptions named_{};                      ///< of with_values_
  std::optional<RaceVerdict> answer_{};        ///< about the whole kernel
  std::unique_ptr<RaceSearch> with_values_{};  ///< the same kernel, with the words that stores store
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> of_one_value_{};  ///< pairs of stores
  std::unique_ptr<Divergence> divergence_{};
  std::unique_ptr<BlockThreads> threads_{};
  std::unique_ptr<WarpGroups> groups_{};
  WarpGroup const* group_ = nullptr;  ///< the threads that pairs are about; null: all of the block
  KernelRaces out_{};
};

}  // namespace

KernelRaces decide_races(ptx::Module const& module, ptx::Function const& function,
                         KernelOptions const& options) {
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, function);
  return RaceSearch(module, function, inlined ? *inlined : function, options).run();
}

}  // namespace kernel_detail
}  // namespace swizproof
