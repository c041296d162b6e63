#include "verdict.hpp"

#include "access_cost.hpp"
#include "address_text.hpp"
#include "bypass_copy.hpp"
#include "needed_values.hpp"
#include "ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Leaf;
using execution::LeafValues;
using execution::Numbers;
using execution::Replay;
using execution::Runs;
using execution::Seen;
using execution::SeenFault;
using program::MemoryAccess;

namespace {

using Read = std::vector<execution::ReadNumber>;

constexpr unsigned attempts = 28;            ///< replays of an access in one warp
constexpr unsigned lowering_attempts = 200;  ///< for one execution that is shown
constexpr std::size_t most_small = 8;        ///< executions that are tried for the next access
constexpr std::uint64_t seeds = 1000003;     ///< of the replays of one access
// Styles of inputs: up to 7 they run first iterations; 8 and 9 run any, for the second opinion alone.
constexpr unsigned witness_style = 7, styles = 10;

/// Throws Disagreement if an execution costs more than was proved.
void check_bound(unsigned wavefronts, unsigned warp, MemoryAccess const& m, KernelAccess const& proved) {
  if (wavefronts > *proved.wavefronts)
    throw Disagreement(
        fmt::format("{} line {}: {} takes {} wavefronts in warp {}, and at most {} were proved",
                    proved.sass ? "SASS" : "PTX", m.line, m.op, wavefronts, warp, *proved.wavefronts));
}

std::uint32_t index_of(ExecutedKernel const& kernel, MemoryAccess const& m) {
  return static_cast<std::uint32_t>(&m - kernel.program.accesses.data());
}

}  // namespace

Verdicts::Verdicts(ExecutedKernel& kernel)
    : kernel_(kernel),
      witnesses_(kernel.program, kernel.flow, kernel.execution, kernel.launch),
      outside_(kernel.program, kernel.flow, kernel.execution, kernel.launch),
      runs_(kernel.program, kernel.flow, kernel.execution, kernel.launch, kernel.warps.all(),
            [&kernel](std::uint32_t access, std::uint32_t lanes, Runs::Addresses const& address,
                      std::map<std::uint32_t, std::uint64_t> const& bases) {
              return access_in_run(kernel, access, lanes, address, bases);
            }) {}

Replay Verdicts::run_of(AccessSearch const& search, unsigned warp, std::uint64_t seed, unsigned style,
                        Replay::Trips const& trips) {
  return {kernel_.program,
          kernel_.flow,
          kernel_.execution,
          kernel_.launch,
          kernel_.warps.plain(warp),
          search.access.loop,
          seed,
          style,
          trips,
          values_};
}

void Verdicts::replay(AccessSearch const& search, CaseCost const& cost, KernelAccess& out) {
  fault_ = {};
  shown_.reset();
  replayed_.reset();
  find_executions(search, cost, out);
  find_outside(search, out);
  show_smallest(search, out);
}

void Verdicts::find_executions(AccessSearch const& search, CaseCost const& cost, KernelAccess& out) {
  std::uint64_t const number = index_of(kernel_, search.memory) + 1;
  bool const open = (!out.in_bounds || !out.aligned) && takes_values(search.access.address);
  for (unsigned const w : std::set<unsigned>{0, out.worst ? out.worst->warp : 0U}) {
    Replay::Trips const trips = kernel_.iterations.around(w, search.access.loop);
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
      unsigned const style = attempt < styles ? attempt : witness_style;
      bool const shown = (!open || !fault_.text.empty()) && (out.reached || *out.wavefronts <= out.ideal);
      if (style > 0 && style <= witness_style && shown) continue;
      Replay run = run_of(search, w, number * seeds + attempt, style, trips);
      replay_once(run, w, search, out);
    }
  }
  if (out.reached || *out.wavefronts <= out.allowed) return;
  unsigned const w = cost.known ? cost.known->warp : cost.worst ? cost.worst->warp : 0;
  auto const values = witness_of(search, cost, w);
  if (values && search.access.exact) {
    Replay::Trips const trips = kernel_.iterations.around(w, search.access.loop);
    Replay run = run_of(search, w, number, witness_style, trips);
    run.give(*values);
    replay_once(run, w, search, out);
  }
  if (values && !out.reached) runs_.run_with(*values, w);
  if (!out.reached) take_seen(runs_.seen(index_of(kernel_, search.memory), *out.wavefronts), search, out);
  if (out.reached || !replayed_ || replayed_->wavefronts <= out.seen) return;
  out.seen = replayed_->wavefronts;
  show(*replayed_, search, out);
  shown_by_replay_ = true;
}

void Verdicts::find_outside(AccessSearch const& search, KernelAccess& out) {
  Extent const array = extent_of(kernel_, search.symbol);
  bool const open = !out.in_bounds && array.end != 0;
  if (!open || kernel_.program.language == "SASS") return;
  if (array.bytes == 0 &&
      stays_within(kernel_, search.memory, search.access, search.symbol, {0, array.end, array.end}))
    return;
  if (auto const& lane = search.first_faults.possible) {
    auto const values = outside_.find(kernel_.warps.plain(lane->warp), lane->warp, search.access.loop,
                                      search.access.guard, 1U << lane->lane, lane->assumptions);
    if (values && search.access.exact) {
      Replay::Trips const trips = kernel_.iterations.around(lane->warp, search.access.loop);
      Replay run = run_of(search, lane->warp, index_of(kernel_, search.memory), witness_style, trips);
      run.give(*values);
      replay_once(run, lane->warp, search, out);
    }
    if (values && !out.in_bounds) runs_.run_with(*values, lane->warp);
  }
  if (out.in_bounds) return;
  auto const& fault = runs_.seen(index_of(kernel_, search.memory), ~0U).fault;
  // If the block is not known, only its first warp surely exists.
  if (fault && fault->outside && (!kernel_.launch.any_multiple || fault->warp == 0))
    take_fault(*fault, false, search, out);
}

/// True if an address takes values of the launch: parameters and block numbers.
bool Verdicts::takes_values(Id address) const {
  auto const leaves = kernel_.origins.leaves_of({address});
  return std::any_of(leaves.begin(), leaves.end(), [&](Id id) {
    Leaf const& l = *kernel_.origins.leaf_at(id);
    return l.kind == Leaf::Kind::param || l.kind == Leaf::Kind::special;
  });
}

std::optional<LeafValues> Verdicts::witness_of(AccessSearch const& search, CaseCost const& cost,
                                               unsigned warp) {
  if (!cost.known || cost.data || cost.guard.data) return std::nullopt;
  Seen const& seen = runs_.seen(index_of(kernel_, search.memory), cost.wavefronts);
  if (seen.wavefronts >= cost.known->wavefronts) return std::nullopt;
  return witnesses_.find(kernel_.warps.plain(warp), warp, search.access.loop, search.access.guard,
                         cost.known->lanes, cost.known->assumptions);
}

Seen Verdicts::seen_in(Replay& run, unsigned warp, AccessSearch const& search, KernelAccess const& out) {
  ExecutedAccess const& access = search.access;
  auto const guard = run.value(access.guard);
  auto const address = run.value(access.address);
  auto const from = search.source == nullptr ? address : run.value(search.source_access->address);
  Seen seen;
  if (!run.valid()) return seen;
  std::uint32_t active = 0;
  for (unsigned l = 0; l < 32; ++l)
    if (guard[l] != 0 && (kernel_.warps.plain(warp).present() >> l & 1) != 0) active |= 1U << l;
  std::uint32_t const index = index_of(kernel_, search.memory);
  auto const cost = active == 0 ? std::nullopt : access_in_run(kernel_, index, active, address, run.bases());
  if (!cost) return seen;
  bool const certain = access.exact && !access.apart && run.certain();
  if (!cost->fault.empty()) {
    if (certain) seen.fault = {cost->fault, cost->lane, warp, cost->outside, run.numbers(), run.bases()};
    return seen;
  }
  unsigned wavefronts = cost->wavefronts;
  if (search.source != nullptr) {
    auto const both = are_near(active, from) ? copy_cost(active, from, address) : std::nullopt;
    if (!both) return seen;
    wavefronts = both->number(search.by_excess);
    if (!both->is_exact(search.by_excess)) return seen;
  }
  check_bound(wavefronts, warp, search.memory, out);
  if (certain)
    seen = {wavefronts, {warp, named(run.numbers()), {}, cost->lanes}, run.numbers(), run.bases(), {}};
  return seen;
}

void Verdicts::replay_once(Replay& run, unsigned warp, AccessSearch const& search, KernelAccess& out) {
  Seen const seen = seen_in(run, warp, search, out);
  if (seen.fault) take_fault(*seen.fault, true, search, out);
  if (seen.wavefronts > std::max(out.allowed, replayed_ ? replayed_->wavefronts : 0U)) replayed_ = seen;
  if (seen.wavefronts != *out.wavefronts || out.reached) return;
  out.reached = true;
  show(seen, search, out);
  shown_by_replay_ = true;
}

void Verdicts::show(Seen const& seen, AccessSearch const& search, KernelAccess& out) {
  out.worst = seen.worst;
  out.worst->bases = needed_bases(seen.bases, search);
  shown_ = seen;
  shown_->fault.reset();  // smallest_like() would look for an execution like that of the fault
}

void Verdicts::show_smallest(AccessSearch const& search, KernelAccess& out) {
  if (shown_ && *out.wavefronts > out.allowed)
    show(smallest_like(*shown_, shown_by_replay_, search, out), search, out), show_needed(search, out);
  if (fault_.text.empty()) return;
  Seen faulty;
  faulty.fault = fault_;
  faulty = smallest_like(faulty, fault_by_replay_, search, out);
  take_fault(*faulty.fault, fault_by_replay_, search, out);
}

void Verdicts::show_needed(AccessSearch const& search, KernelAccess& out) {
  auto const needed = needed_values(kernel_, search, shown_->worst.warp, shown_->wavefronts, shown_->read);
  out.worst->values = named(needed);
  if (needs_block(kernel_, search, shown_->worst.warp, shown_->wavefronts))
    out.worst->values.emplace_back("ntid.x", kernel_.launch.block[0]);
  out.worst->every_launch = out.worst->values.empty() && out.worst->bases.empty() && out.worst->open == 0;
}

Seen Verdicts::smallest_like(Seen const& seen, bool by_replay, AccessSearch const& search,
                             KernelAccess const& out) {
  auto const again = [&](Numbers const& numbers) -> std::optional<Seen> {
    std::map<std::uint32_t, std::uint64_t> const& bases = seen.fault ? seen.fault->bases : seen.bases;
    Seen now;
    if (by_replay) {
      Replay::Trips const trips = kernel_.iterations.around(numbers.warp, search.access.loop);
      Replay run = run_of(search, numbers.warp, 0, execution::smallest_style, trips);
      run.give(numbers.read);
      for (auto const& [symbol, address] : bases) run.place(symbol, address);
      now = seen_in(run, numbers.warp, search, out);
    } else {
      now = runs_.again(index_of(kernel_, search.memory), numbers, bases);
    }
    bool const same = seen.fault ? now.fault && now.fault->outside == seen.fault->outside
                                 : now.wavefronts == seen.wavefronts;
    return same ? std::optional(now) : std::nullopt;
  };
  auto const numbers_of = [](Seen const& s) {
    return s.fault ? s.fault->numbers() : Numbers{s.worst.warp, s.read};
  };
  Numbers const least = execution::smallest(
      numbers_of(seen), small_, lowering_attempts, [&](Numbers const& n) -> std::optional<Read> {
        std::optional<Seen> const now = again(n);
        return now ? std::optional(numbers_of(*now).read) : std::nullopt;
      });
  auto const same = [&](Numbers const& n) { return !(n < least) && !(least < n); };
  if (small_.size() < most_small && std::none_of(small_.begin(), small_.end(), same)) small_.push_back(least);
  return least < numbers_of(seen) ? again(least).value_or(seen) : seen;
}

void Verdicts::take_fault(SeenFault const& fault, bool by_replay, AccessSearch const& search,
                          KernelAccess& out) {
  std::optional<bool>& fact = fault.outside ? out.in_bounds : out.aligned;
  std::string const text = fmt::format("lane {} of warp {} {}", fault.lane, fault.warp, fault.text);
  if (fact == true)
    throw Disagreement(fmt::format("{} line {}: {}, which was proved not to happen",
                                   out.sass ? "SASS" : "PTX", search.memory.line, text));
  bool const always = fact == false && fault_.text.empty();  // in all launches
  if (always || (fact == false && !(fault.numbers() < fault_.numbers()))) return;
  fact = false;
  if (fault.outside) out.bounds_reason = "";
  std::string with;
  for (auto const& [name, value] : named(fault.read))
    with += fmt::format("{}{} = {}", with.empty() ? ", if " : ", ", name, value);
  if (fault.outside && kernel_.options.any_base)
    for (auto const& [name, at] : needed_bases(fault.bases, search))
      with += fmt::format("{}{} = {:#x}", with.empty() ? ", if " : ", ", name, at);
  fault_ = fault;
  fault_by_replay_ = by_replay;
  fault_.text = text + with;
}

void Verdicts::take_seen(Seen const& seen, AccessSearch const& search, KernelAccess& out) {
  if (seen.fault) take_fault(*seen.fault, false, search, out);
  check_bound(seen.wavefronts, seen.worst.warp, search.memory, out);
  out.reached = seen.wavefronts == *out.wavefronts;
  if (!out.reached && seen.wavefronts > out.allowed) out.seen = seen.wavefronts;
  if (!out.reached && out.seen == 0) return;
  show(seen, search, out);
  shown_by_replay_ = false;
}

std::vector<std::pair<std::string, std::uint64_t>> Verdicts::needed_bases(
    std::map<std::uint32_t, std::uint64_t> const& bases, AccessSearch const& search) const {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (std::uint32_t const symbol :
       kernel_.origins.bases_of(search.access, search.memory.bytes, turn_of(search.memory)))
    if (auto const at = bases.find(symbol); at != bases.end())
      out.emplace_back(short_name(kernel_.program.symbols[symbol].name), at->second);
  return out;
}

void Verdicts::judge(AccessSearch const& search, CaseCost const& cost, KernelAccess& out) {
  bool const exact = search.memory.at_most.empty();
  out.reason = cost.reason;
  if (out.aligned == false || out.in_bounds == false) {
    out.verdict = KernelVerdict::refuted;
    out.reason = !fault_.text.empty()   ? fault_.text
                 : out.aligned == false ? search.first_faults.misaligned
                                        : search.first_faults.outside;
  } else if (*out.wavefronts <= out.allowed) {
    out.verdict = KernelVerdict::proved;  // for all data: the bound holds
    out.reason = out.executed ? "" : "no lane executes it";
  } else if ((out.reached || out.seen != 0) && exact) {
    out.verdict = KernelVerdict::refuted;
    out.reason = "";
  } else if (cost.unknown) {
    out.verdict = KernelVerdict::unknown;
  } else if (cost.data) {
    out.verdict = KernelVerdict::data;
  } else if (!exact) {
    out.verdict = KernelVerdict::unknown;
    out.reason = search.memory.at_most;
  } else {
    judge_condition(search, cost, out);
  }
  if (out.verdict == KernelVerdict::unknown && is_never_executed(search.access)) {
    out.verdict = KernelVerdict::proved;
    out.executed = false, out.wavefronts = 0, out.worst.reset();
    out.aligned.reset(), out.in_bounds.reset(), out.bounds_reason.clear();
    out.reason = "no lane executes it";
  }
}

bool Verdicts::is_never_executed(ExecutedAccess const& access) {
  constexpr std::size_t most_guards = 16;
  auto const known = never_.find({access.guard, access.loop});
  if (known != never_.end() || never_.size() == most_guards) return known != never_.end() && known->second;
  std::map<Id, std::uint64_t> counts;
  for (auto loop = access.loop; loop >= 0; loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent) {
    Id const counter = kernel_.execution.counters[static_cast<std::size_t>(loop)];
    std::uint64_t& most = counts[counter];
    for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
      std::uint64_t const n = kernel_.iterations.count(w, counter);
      most = n == 0 || most == ~std::uint64_t{0} ? ~std::uint64_t{0} : std::max(most, n);
    }
  }
  std::erase_if(counts, [](auto const& c) { return c.second == ~std::uint64_t{0}; });
  return never_[{access.guard, access.loop}] =
             execution::never_holds(kernel_.execution, kernel_.warps.plain(0), access.guard, counts);
}

void Verdicts::judge_condition(AccessSearch const& search, CaseCost const& cost, KernelAccess& out) {
  bool const lock = search.access.lock != 0, guarded = !lock && cost.guard.leaf != 0;
  Origin const path = guarded              ? cost.guard
                      : lock               ? Origin{}
                      : counts_alone(cost) ? origin_of_path(search.access)
                                           : Origin{};
  out.verdict = path.data ? KernelVerdict::data : KernelVerdict::unknown;
  out.reason = guarded     ? "which lanes take part depends on " + kernel_.text_of(path.leaf)
               : lock      ? reason_of_wait(search.access)
               : path.data ? "whether it is executed depends on " + kernel_.text_of(path.leaf)
                           : "no execution was found that takes as many";
}

std::string Verdicts::reason_of_wait(ExecutedAccess const& access) const {
  std::string const what =
      access.lock_event < 0
          ? "leave the loop"
          : "pass " + kernel_.program.events[static_cast<std::size_t>(access.lock_event)].at.op;
  return fmt::format("lanes {} at {} line {} one by one: which of them execute it together is not known",
                     what, kernel_.program.language, access.lock);
}

Origin Verdicts::origin_of_path(ExecutedAccess const& access) {
  Origin out = kernel_.origins.origin(access.guard);
  for (auto loop = access.loop; loop >= 0; loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent)
    for (Id const exit : kernel_.execution.exits[static_cast<std::size_t>(loop)])
      out = stronger(out, kernel_.origins.origin(exit));
  return out;
}

bool Verdicts::counts_alone(CaseCost const& cost) {
  return std::all_of(cost.assumptions.begin(), cost.assumptions.end(), [&](Assumption const& a) {
    Leaf const* const l = kernel_.origins.leaf_at(a.atom);
    return (l != nullptr && (l->kind == Leaf::Kind::counter || l->kind == Leaf::Kind::phi ||
                             l->kind == Leaf::Kind::symbol)) ||
           kernel_.origins.origin(a.atom).data;
  });
}

}  // namespace swizproof::kernel_detail
