#include "accesses.hpp"

#include "access_cost.hpp"
#include "address_text.hpp"
#include "bypass_copy.hpp"
#include "cases.hpp"
#include "copy_source.hpp"
#include "executions.hpp"
#include "named_access.hpp"
#include "ranges.hpp"
#include "sectors.hpp"
#include "race_uniform.hpp"
#include "verdict.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Warp;
using program::MemoryAccess;

namespace {

/// An access, and the layouts that its lanes have.
struct DecidedAccess {
  KernelAccess access{};
  std::uint32_t symbol = ~0U;  ///< of its array
  std::vector<LaneForm> forms{};
  bool waits = false;  ///< it came to its limit of steps
  CopyMost most_copied{};
  bool on_a_base = false;  ///< its worst case is one of the address of an array
};

/// True if the code was read that ptxas makes of wmma (H19).
bool has_known_wmma(Architecture const& arch) {
  constexpr std::array<unsigned, 4> known{80, 86, 89, 90};
  return std::find(known.begin(), known.end(), arch.capability) != known.end();
}

/// The answer for a warp of any number, which holds in each.
struct AnyWarp {
  CaseResults results{};
  AccessSearch search;
};

class AccessDecision {
 public:
  AccessDecision(ExecutedKernel& kernel, Arrays& arrays) : kernel_(kernel), arrays_(arrays) {}

  /// Decides all accesses. One that needs more than its share of the steps waits until the others are decided.
  std::vector<DecidedAccess> run() {
    std::map<std::size_t, DecidedAccess> all;  // by their numbers
    std::vector<std::size_t> waiting(kernel_.program.accesses.size());
    std::iota(waiting.begin(), waiting.end(), std::size_t{0});
    for (Round const round : {Round::few, Round::share, Round::rest}) {
      std::vector<std::size_t> late;
      for (std::size_t const i : waiting) {
        std::optional<DecidedAccess> one = decide(i, round);
        if (one && one->waits)
          late.push_back(i);
        else if (one)
          all[i] = std::move(*one);
      }
      waiting = std::move(late);
    }
    std::vector<DecidedAccess> out;
    for (auto& [index, one] : all) out.push_back(std::move(one));
    return out;
  }

 private:
  static constexpr unsigned last_for_a_witness = 3;  ///< last warp that is searched for a known case
  static constexpr unsigned least_warps = 3;         ///< of a block in which a warp of any number is tried
  static constexpr std::uint64_t most_lost = std::uint64_t{1} << 14;

  /// Steps of the kernel at which an access's search ends.
  [[nodiscard]] std::uint64_t limit_of(Round round) const {
    constexpr std::uint64_t few = 256, shares = 8;
    std::uint64_t const steps = kernel_.options.steps;
    if (round == Round::rest) return steps;
    std::uint64_t const spent = kernel_.warps.steps(), left = steps - std::min(spent, steps);
    std::uint64_t const first = std::min(steps / few, steps / (4 * kernel_.program.accesses.size() + 1));
    return spent + std::min(left / shares, round == Round::few ? first : left);
  }

  /// Decides one access; nothing if it is not to shared memory.
  std::optional<DecidedAccess> decide(std::size_t index, Round round) {
    std::uint64_t const limit = limit_of(round);
    std::optional<NamedAccess> named = name_access(kernel_, index);
    if (!named) return std::nullopt;
    MemoryAccess const& m = kernel_.program.accesses[index];
    ExecutedAccess const executed = kernel_.execution.accesses[index];
    DecidedAccess out{std::move(named->access), named->symbol};
    if (named->settled) return out;
    if (!executed.reached) {
      out.access.executed = false;
      out.access.reason = "no path leads to it";
      out.access.verdict = KernelVerdict::proved;
      out.access.wavefronts = 0;
      if (kernel_.options.lanes) out.access.lanes.emplace();
    } else if (!m.instruction) {
      out.access.reason = m.reason;
    } else if (m.of_tile && !has_known_wmma(*kernel_.options.arch)) {
      out.access.reason = "what ptxas makes of wmma was read for sm_80 to sm_90 alone (assumption H19)";
    } else if (m.atomic && !same_law(*kernel_.options.arch, sm_90)) {
      out.access.reason = "the cost of atomics was measured for sm_90 alone";
    } else {
      if (m.atomic == Atomic::arithmetic && m.gathers && has_one_address(executed))
        kernel_.program.accesses[index].at_most = program::may_take_less;
      if (m.global) {
        out.access.ideal = ideal_of_global(kernel_, m, executed);
        out.access.allowed = allowed_sectors(kernel_.options, out.access);
      }
      // Steps are for accesses that no data decide.
      bool const data = round != Round::few && !m.global && launches_.data_in_a_launch(m, executed, 0).data;
      AccessSearch const search{m, executed, named->symbol, out.access.allowed, data ? 0 : limit, round};
      if (!m.bypasses || !decide_copy(index, search, out)) {
        decide_alone(search, out);
        if (!out.waits && !m.global) decide_source(index, limit, round, out.access);
      }
      kernel_.warps.release();
    }
    if (out.access.verdict == KernelVerdict::unknown)
      out.access.reason = kernel_.origins.with_line(std::move(out.access.reason), 0, m.line);
    if (kernel_.options.fixes && named->symbol != ~0U && out.access.executed && !out.waits)
      arrays_.add(index, named->symbol, out.access);
    return out;
  }

  /// Decides an access by its own addresses.
  void decide_alone(AccessSearch search, DecidedAccess& out) {
    KernelAccess const plain = out.access;
    AccessSearch const any = search;
    decide_cost(search, out);
    if (out.access.executed && !out.waits && !search.memory.global) decide_on_bases(any, plain, out);
  }

  /// Decides a copy that bypasses L1 by its source, too; false if lanes of it are not known in a case. Its cost is a CopyCost until it is decided.
  bool decide_copy(std::size_t index, AccessSearch search, DecidedAccess& out) {
    auto const source = source_of(kernel_, index);
    if (!source) return false;
    DecidedAccess both{out.access, out.symbol};
    std::optional<unsigned> const number = allowed_number(kernel_.options, both.access);
    search.source = &*source, search.source_access = &kernel_.execution.accesses[index - 1];
    search.by_excess = !number;
    search.allowed = both.access.allowed = allowed_copy(kernel_.options, number);
    KernelAccess const plain = both.access;
    AccessSearch const any = search;
    decide_cost(search, both);
    if (search.source_unknown && !both.waits) return false;
    if (both.access.executed && !both.waits) {
      decide_on_bases(any, plain, both);
      if (both.access.any_source) return false;
    }
    name_copy(search.by_excess, both.most_copied, both.access);
    out = std::move(both);
    return true;
  }

  /// True if all threads of a block give one address.
  bool has_one_address(ExecutedAccess const& access) {
    if (!uniform_) uniform_.emplace(kernel_.program, kernel_.execution);
    return (*uniform_)(access.address);
  }

  void decide_cost(AccessSearch& search, DecidedAccess& into) {
    KernelAccess& out = into.access;
    CaseResults const all = decide_warps(search);
    into.waits = search.out_of_steps && search.waits(), into.most_copied = search.most_copied;
    if (search.source_unknown) {
      out.any_source = true;
      return;
    }
    bool const any = all.cost.active != 0;
    out.wavefronts = all.cost.wavefronts;
    out.reached = all.cost.reached;
    out.executed = any;
    out.worst = all.cost.worst;
    if (auto table = search.residues.table(); table.size() > 1)
      out.function = {text_of_term(kernel_.program, kernel_.execution, *search.residues.parameter()),
                      std::move(table)};
    if (search.memory.global)
      out.aligned = out.in_bounds = true;
    else if (any)
      take_faults(search, all.faults, out);
    bool const complete = search.why_incomplete.empty();
    if (complete && search.sectors) out.sectors = search.sectors;
    if (search.near && out.sectors) out.sectors->near = true;
    out.near_source = search.near && search.source != nullptr;
    if (kernel_.options.lanes && complete) out.lanes.emplace(search.patterns.begin(), search.patterns.end());
    if (kernel_.options.lanes) out.place = patterns_.place_of(search.access);
    count_executions(search, out);
    out.lanes_reason = search.why_incomplete;
    if (complete) into.forms = search.layout.forms();
    if (any && search.memory.at_most.empty()) verdicts_.replay(search, all.cost, out);
    verdicts_.judge(search, all.cost, out);
    if (out.sectors && !out.sectors->stride && out.verdict == KernelVerdict::refuted && out.worst)
      out.sectors->stride = stride_of(out.worst->lanes, search.memory.bytes, *out.wavefronts);
    std::vector<Id> assumed;
    for (execution::Assumption const& a : all.cost.assumptions) assumed.push_back(a.atom);
    into.on_a_base =
        out.aligned != false && out.in_bounds != false && !kernel_.origins.arrays_of(assumed).empty();
  }
  /// Bounds a copy through L1 by its source, too. One that bypasses it has an unknown source here.
  void decide_source(std::size_t index, std::uint64_t limit, Round round, KernelAccess& out) {
    bool const bypasses = kernel_.program.accesses[index].bypasses;
    if (!out.wavefronts || !out.executed || !(bypasses || copies_through_l1(out.op))) return;
    if (bypasses) {
      out.any_source = true;
      return;
    }
    auto const source = source_of(kernel_, index);
    if (!source) {
      out.any_source = true;
      return;
    }
    AccessSearch search{*source, kernel_.execution.accesses[index - 1], ~0U, 1, limit, round};
    CaseCost const cost = decide_warps(search).cost;
    out.any_source = cost.unknown || cost.data || search.out_of_steps;
    if (!out.any_source && cost.active != 0) take_turns(cost.wavefronts, out);
  }
  void count_executions(AccessSearch const& search, KernelAccess& out) {
    Executions const n = executions_of(kernel_, search.access);
    out.loop_depth = n.loops, out.open_loops = n.open_loops;
    out.executions = n.exactly, out.about_executions = n.about;
  }
  /// Decides an access again on the bases that a device gives, where the answer on all that PTX permits depends on them.
  void decide_on_bases(AccessSearch const& any, KernelAccess const& plain, DecidedAccess& into) {
    KernelAccess& out = into.access;
    if (kernel_.options.any_base || out.aligned == false || out.in_bounds == false) return;
    bool const costs = out.verdict != KernelVerdict::proved &&
                       !kernel_.origins.bases_of(any.access, any.memory.bytes, turn_of(any.memory)).empty();
    if (!costs && out.aligned) return;
    AccessSearch search{any.memory, any.access, any.symbol, any.allowed, any.limit, any.round};
    search.source = any.source, search.source_access = any.source_access, search.by_excess = any.by_excess;
    search.bases = kernel_.bases_of(kernel_.origins.arrays_of({any.access.address, any.access.guard}));
    if (search.bases.empty()) {
      if (into.on_a_base && out.verdict == KernelVerdict::refuted)
        out.verdict = KernelVerdict::unknown,
        out.reason = "where its arrays lie is not known, and some bases cost more";
      return;
    }
    DecidedAccess on{plain, into.symbol};
    decide_cost(search, on);
    if (on.waits) return;
    if (on.access.verdict == out.verdict && on.access.wavefronts == out.wavefronts &&
        on.access.aligned == out.aligned) {
      bool const shows_a_base = out.worst && !out.worst->bases.empty();
      if (shows_a_base)
        out.worst = on.access.worst, out.reached = on.access.reached, out.seen = on.access.seen;
      return;
    }
    if (!on.access.in_bounds)
      on.access.in_bounds = out.in_bounds, on.access.bounds_reason = out.bounds_reason;
    on.access.on_bases = true;
    into.most_copied = on.most_copied;
    out = std::move(on.access);
  }

  void take_faults(AccessSearch const& search, Faults const& faults, KernelAccess& out) const {
    if (faults.misaligned || faults.aligned) out.aligned = !faults.misaligned;
    out.in_bounds = search.first_faults.outside.empty() ? faults.in_bounds : std::optional(false);
    // No case settles it, and the ranges of all threads may.
    if (!out.in_bounds &&
        stays_within(kernel_, search.memory, search.access, search.symbol, extent_of(kernel_, search.symbol)))
      out.in_bounds = true;
    auto const unit_bits = static_cast<unsigned>(std::countr_zero(search.memory.instruction->bytes));
    if (!out.aligned && kernel_.warps.plain(0).trailing_zeros(search.access.address) >= unit_bits)
      out.aligned = true;
    if (!out.in_bounds) out.bounds_reason = why_no_bounds(kernel_, search.access, search.symbol);
  }

  /// Decides an access warp by warp, until the answer is that of all.
  CaseResults decide_warps(AccessSearch& search) {
    CaseResults all;
    std::uint64_t const lost = lost_;
    std::optional<AnyWarp> const every = decide_for_any_warp(search);
    for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
      CaseResults one = decide_cases(kernel_, search, w, patterns_, launches_);
      if (search.source_unknown) break;
      if (one.cost.active != 0) all.faults.merge(one.faults);
      all.cost.merge(std::move(one.cost));
      bool const other = all.cost.unknown && !all.cost.known && w < last_for_a_witness &&
                         kernel_.warps.steps() <= search.limit;
      if (other || !is_settled(search, all, every)) continue;
      if (every) {
        Faults const& faults = every->results.faults;
        all.faults.aligned = all.faults.aligned && faults.aligned;
        if (all.faults.in_bounds) all.faults.in_bounds = faults.in_bounds;
        if (w + 1 < kernel_.warps.count()) lost_ = lost - std::min(lost, lost_ - lost);
        search.layout = every->search.layout;
      }
      break;
    }
    return all;
  }

  /// Decides an access for a warp of any number; nothing if that takes too many steps, or if an eighth of all steps was for nothing. One that
  /// takes half of the steps of the first round waits; later it may take an eighth. Not of global memory: its least sectors differ by warp.
  std::optional<AnyWarp> decide_for_any_warp(AccessSearch& search) {
    if (search.memory.global || search.source != nullptr || kernel_.warps.count() < least_warps ||
        !search.waits() || lost_ > most_lost + kernel_.warps.steps() / 8 || kernel_.options.lanes ||
        !Warp::lanes_of(kernel_.launch))
      return std::nullopt;
    bool const first = search.round == Round::few;
    std::uint64_t const now = kernel_.warps.steps(), left = search.limit - std::min(search.limit, now);
    AnyWarp out{{}, {search.memory, search.access, search.symbol, search.allowed}};
    out.search.limit = now + left / (first ? 2 : 8);
    out.search.round = search.round;
    out.results = decide_cases(kernel_, out.search, Warp::every, patterns_, launches_);
    lost_ += kernel_.warps.steps() - now;
    search.out_of_steps = out.search.out_of_steps && first;
    return out.search.out_of_steps ? std::nullopt : std::optional(std::move(out));
  }

  /// True if the warps that are left change nothing but alignment, bounds and the layout, which are those of `every`, if it is known.
  bool is_settled(AccessSearch const& search, CaseResults const& all, std::optional<AnyWarp> const& every) {
    CaseCost const& cost = all.cost;
    if (cost.unknown)  // no bound is higher, and no other warp makes it known
      return cost.wavefronts >= most_wavefronts(kernel_.options, search.memory, ~0U) &&
             search.residues.table().size() <= 1 && (every || (!all.faults.aligned && !all.faults.in_bounds));
    if (!every) return false;
    CaseCost const& other = every->results.cost;
    if (other.unknown || cost.wavefronts != other.wavefronts || cost.data != other.data ||
        search.residues.table() != every->search.residues.table())
      return false;
    if (cost.data) return true;
    Faults const& faults = every->results.faults;
    bool const bounded = extent_of(kernel_, search.symbol).bytes != 0;
    if (!every->search.why_incomplete.empty() || !faults.aligned || (!faults.in_bounds && bounded))
      return false;
    if (!cost.reached && cost.wavefronts > search.allowed) return false;
    return !every->search.layout.forms().empty() || search.layout.forms().empty();
  }

  ExecutedKernel& kernel_;
  Arrays& arrays_;
  Verdicts verdicts_{kernel_};
  SampleLaunches launches_{kernel_};
  LanePatterns patterns_{kernel_};
  std::optional<UniformTerms> uniform_{};  ///< made for the first atomic
  std::uint64_t lost_ =
      0;  ///< steps for a warp of any number that were of no use, less those that saved others
};

/// Writes the layouts of accesses: one swizzle for all of an array, where they have one.
void name_layouts(std::vector<DecidedAccess>& all) {
  std::map<std::uint32_t, std::vector<DecidedAccess*>> arrays;
  for (DecidedAccess& one : all) arrays[one.symbol].push_back(&one);
  for (auto& [symbol, accesses] : arrays) {
    std::vector<std::vector<LaneForm>> forms;
    for (DecidedAccess* const one : accesses) forms.push_back(std::move(one->forms));
    auto const chosen = common_forms(std::move(forms));
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i]) accesses[i]->access.layout = to_string(*chosen[i]);
  }
}

}  // namespace

std::vector<KernelAccess> decide_accesses(ExecutedKernel& kernel, Arrays& arrays) {
  std::vector<DecidedAccess> all = AccessDecision(kernel, arrays).run();
  name_layouts(all);
  std::vector<KernelAccess> out;
  for (DecidedAccess& one : all) out.push_back(std::move(one.access));
  return out;
}

}  // namespace swizproof::kernel_detail
