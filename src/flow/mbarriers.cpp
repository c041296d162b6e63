#include "mbarriers.hpp"

#include "clusters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

constexpr std::uint32_t most_count = (1U << 20) - 1;

FlowConflict misuse(MbarrierOperation const& op, std::string text, std::string_view rule = isa::mbarrier) {
  return {FlowFaultKind::misuse, std::move(text), op.touch, {}, rule, {}, {}, false};
}

FlowConflict unsynchronised(std::string text, FlowTouch const& second, FlowTouch const& first) {
  return {FlowFaultKind::not_well_synchronised, std::move(text), second, first, isa::mbarrier, {}, {}, false};
}

/// `thread 3 arrives`, `the bulk copy of thread 3 is complete`.
std::string text_of(Completes kind, std::string const& who) {
  switch (kind) {
    case Completes::thread:
      return who + " arrives";
    case Completes::bulk_copy:
      return fmt::format("the bulk copy of {} is complete", who);
    case Completes::copies:
      return fmt::format("cp.async of {} is complete", who);
    case Completes::commit:
      return fmt::format("the work that {} has committed is complete", who);
  }
  return who;
}

}  // namespace

std::string Mbarriers::name(std::uint64_t address) const {
  return fmt::format("the mbarrier at 0x{:x}{}", in_block(address), units_.of_rank(rank_at(address)));
}

bool Mbarriers::of_other_blocks(std::uint64_t address) const {
  Steps const& steps = barriers_.at(address).before;
  for (std::size_t i = 0; i < steps.arrivals.size(); ++i)
    if (steps.kinds[i] == Completes::thread && units_.rank_of(steps.arrivals[i].thread) != rank_at(address))
      return true;
  return false;
}

unsigned Mbarriers::init(std::uint64_t address, std::uint32_t count, MbarrierOperation const& op,
                         Clocks& clocks) {
  if (count == 0 || count > most_count)
    throw misuse(op, fmt::format("the count {} of an mbarrier is not in 1 to {}", count, most_count));
  Mbarrier& old = barriers_[address];
  if (old.live)
    throw misuse(op,
                 fmt::format("{} initialises {}, which is in use: mbarrier.inval has to be before",
                             who(op.touch), name(address)),
                 isa::mbarrier_init);
  unsigned const slot = old.count != 0 ? old.slot : slots_[rank_at(address)]++;
  Mbarrier b;
  b.live = true, b.count = b.pending = count, b.slot = slot;
  b.origin = {op.thread, clocks.now(op.thread), op.touch, 0};
  old = std::move(b);
  return slot;
}

/// The mbarrier that a thread uses: it has to be initialised, and the initialisation ordered before, (a).
Mbarriers::Mbarrier& Mbarriers::used(std::uint64_t address, MbarrierOperation const& op,
                                     Clocks const& clocks) {
  constexpr std::uint64_t bytes = 8;
  if (address % bytes != 0)
    throw FlowConflict{FlowFaultKind::misaligned,
                       fmt::format("{} uses an mbarrier at 0x{:x}, which is no multiple of {}", who(op.touch),
                                   in_block(address), bytes),
                       op.touch,
                       {},
                       isa::mbarrier,
                       {},
                       {},
                       false};
  auto const at = barriers_.find(address);
  if (at == barriers_.end() || !at->second.live)
    throw misuse(op,
                 fmt::format("{} uses {}, which is not initialised: mbarrier.init is "
                             "missing, or a barrier behind it",
                             who(op.touch), name(address)),
                 isa::mbarrier_init);
  Mbarrier& b = at->second;
  if (!clocks.ordered(b.origin.thread, b.origin.clock, op.thread) && !fenced(b.origin, op.thread, clocks))
    throw FlowConflict{FlowFaultKind::race,
                       fmt::format("{} uses {}, which {} has initialised: no barrier is between them",
                                   who(op.touch), name(address), who(b.origin.touch)),
                       op.touch,
                       b.origin.touch,
                       isa::mbarrier_init,
                       {},
                       {},
                       op.thread / 32 != b.origin.thread / 32};
  b.last[op.thread] = {op.thread, clocks.now(op.thread), op.touch};
  return b;
}

/// Fails if what copies or commits wait for may be complete behind mbarrier.inval. True if only the arrivals are not ordered before it.
bool Mbarriers::arrived(Steps const& steps, std::uint64_t address, MbarrierOperation const& op,
                        Clocks const& clocks) const {
  std::vector<std::uint32_t> const& seen = *clocks.seen(op.thread).execution;
  bool assumes = false;
  for (std::size_t i = 0; i < steps.arrivals.size(); ++i) {
    Clocks::Arrival const& a = steps.arrivals[i];
    if (steps.kinds[i] == Completes::thread || clocks.executed(a.thread, a.own, op.thread)) continue;
    assumes = true;
    std::vector<std::uint32_t> const& work = *a.seen.execution;
    for (unsigned doer = 0; doer < work.size(); ++doer)
      if (doer != a.thread && doer != op.thread && seen[doer] < work[doer])
        throw FlowConflict{FlowFaultKind::race,
                           fmt::format("{} invalidates {}, where what {} has issued may not have arrived: no "
                                       "wait for that phase is between them",
                                       who(op.touch), name(address), who(steps.touches[i])),
                           op.touch,
                           steps.touches[i],
                           isa::mbarrier_init,
                           {},
                           {},
                           false};
  }
  return assumes;
}

bool Mbarriers::inval(std::uint64_t address, MbarrierOperation const& op, Clocks& clocks) {
  Mbarrier& b = used(address, op, clocks);
  for (auto const& [thread, last] : b.last)
    if (!clocks.ordered(thread, last.own, op.thread))
      throw FlowConflict{FlowFaultKind::race,
                         fmt::format("{} invalidates {}, which {} uses: no barrier is between them",
                                     who(op.touch), name(address), who(last.touch)),
                         op.touch,
                         last.touch,
                         isa::mbarrier_init,
                         {},
                         {},
                         thread / 32 != op.thread / 32};
  bool const assumes = arrived(b.before, address, op, clocks) || arrived(b.now, address, op, clocks);
  if (b.pending == 0) check_expected(b);
  b.live = false;
  return assumes;
}

/// Fails if the operations of a phase are not all executed before what a thread does now, (b) and (d).
void Mbarriers::behind(Steps const& steps, Clocks::Vector& known, MbarrierOperation const& op,
                       Clocks const& clocks, char const* what) const {
  Clocks::Vector const& seen = clocks.seen(op.thread).execution;
  if (known == seen) return;
  bool all = true;
  for (std::size_t i = 0; i < steps.arrivals.size(); ++i) {
    Clocks::Arrival const& a = steps.arrivals[i];
    if (clocks.executed(a.thread, a.own, op.thread)) {
      all = all && (*seen)[a.thread] >= a.own;
      continue;
    }
    return faults_.unsynchronised(unsynchronised(
        fmt::format("{} {} before {} at the mbarrier: which phase it belongs to depends on the order",
                    who(op.touch), what, text_of(steps.kinds[i], who(steps.touches[i]))),
        op.touch, steps.touches[i]));
  }
  if (all) known = seen;  // it holds for each thread that has seen the same
}

/// Adds bytes to the tx-count, which has a range.
void Mbarriers::expect_bytes(Mbarrier& b, std::uint32_t bytes, MbarrierOperation const& op) const {
  constexpr std::uint64_t most = (1U << 20) - 1;
  b.bytes += bytes, b.all_bytes += bytes;
  if (b.all_bytes > most)
    throw misuse(op,
                 fmt::format("{} expects {} bytes, which makes {} in one phase: a tx-count is at most {}",
                             who(op.touch), bytes, b.all_bytes, most),
                 isa::tx_count);
}

std::uint64_t Mbarriers::arrive(std::uint64_t address, std::uint32_t count, std::uint32_t bytes,
                                MbarrierOperation const& op, Clocks& clocks) {
  Mbarrier& b = used(address, op, clocks);
  if (count == 0 || count > b.pending)
    throw misuse(op, fmt::format("{} arrives {} times at an mbarrier that waits for {} arrivals",
                                 who(op.touch), count, b.pending));
  behind(b.before, b.known, op, clocks, "may arrive");
  std::uint64_t const state = b.state();
  expect_bytes(b, bytes, op);
  relaxed_ = relaxed_ || op.relaxed;
  if (op.released) b.now.add(*op.released, op.touch);
  b.now.add(clocks.arrive(op.thread, op.relaxed), op.touch);
  b.pending -= count;
  end_phase(b, clocks);
  return state;
}

unsigned Mbarriers::clock_at(std::uint64_t address) const {
  auto const at = barriers_.find(address);
  return units_.copy(rank_at(address) * most_mbarriers + (at == barriers_.end() ? 0 : at->second.slot));
}

void Mbarriers::arrive_complete(std::uint64_t address, Completes kind, Clocks::Arrival const& work,
                                bool counted, MbarrierOperation const& op, Clocks& clocks) {
  Mbarrier& b = used(address, op, clocks);
  if (counted && b.pending == 0)
    throw misuse(op, fmt::format("{} arrives once more at an mbarrier than it waits for", who(op.touch)));
  behind(b.before, b.known, op, clocks,
         kind == Completes::commit ? "may commit" : "may let its copies arrive");
  if (counted)
    --b.pending;
  else
    b.expected.push_back({op.thread, clocks.now(op.thread), op.touch});
  Clocks::Arrival const issue = clocks.arrive(op.thread, true);
  b.issues.push_back(issue);
  unsigned const here = clock_at(address);
  clocks.take({nullptr, clocks.merged({issue}).execution}, here,
              true);  // it is executed behind the issue, and orders no memory of it
  clocks.take(clocks.merged({work}), here);
  b.now.add(clocks.arrive(here), op.touch, kind, counted);
  end_phase(b, clocks);
}

void Mbarriers::expect(std::uint64_t address, std::uint32_t bytes, MbarrierOperation const& op,
                       Clocks& clocks) {
  Mbarrier& b = used(address, op, clocks);
  behind(b.before, b.known, op, clocks, "may expect bytes");
  b.expected.push_back({op.thread, clocks.now(op.thread), op.touch});
  expect_bytes(b, bytes, op);
  end_phase(b, clocks);
}

void Mbarriers::fence(unsigned thread, Clocks& clocks) {
  std::uint32_t const own = clocks.arrive(thread).own;
  for (auto& [address, b] : barriers_)
    if (b.live && b.origin.thread == thread && b.origin.fence == 0) b.origin.fence = own;
}

bool Mbarriers::fenced(Origin const& origin, unsigned thread, Clocks const& clocks) const {
  if (origin.fence == 0) return false;
  return clocks.ordered(origin.thread, origin.fence, thread) ||
         (!relaxed_ && clocks.executed(origin.thread, origin.fence, thread));
}

unsigned Mbarriers::copy_begins(std::uint64_t address, MbarrierOperation const& op, Clocks& clocks) {
  Mbarrier& b = used(address, op, clocks);
  behind(b.before, b.known, op, clocks, "may issue a copy");
  b.issues.push_back(clocks.arrive(op.thread));
  b.issued = op.touch;
  // It ends behind its issue, which orders no memory. In one block this has decided no kernel yet, and two relations cost time.
  if (units_.blocks > 1)
    clocks.take({nullptr, clocks.merged({b.issues.back()}).execution}, clock_at(address), true);
  return clock_at(address);
}

void Mbarriers::copied(std::uint64_t address, std::uint64_t bytes, unsigned unit, Clocks& clocks) {
  Mbarrier& b = barriers_.at(address);
  b.now.add(clocks.arrive(unit), b.issued, Completes::bulk_copy, false);
  b.bytes -= static_cast<std::int64_t>(bytes);
  end_phase(b, clocks);
}

bool Mbarriers::Steps::counted_behind(Operation const& op) const {
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    if (counted[i] && arrivals[i].behind(op.thread, op.own)) return true;
  return false;
}

/// (c), of a phase that all have arrived at.
void Mbarriers::check_expected(Mbarrier const& b) const {
  auto const first_copy = std::find(b.now.kinds.begin(), b.now.kinds.end(), Completes::bulk_copy);
  if (b.bytes < 0 && first_copy != b.now.kinds.end()) {
    FlowTouch const& copy = b.now.touches[static_cast<std::size_t>(first_copy - b.now.kinds.begin())];
    return faults_.unsynchronised(
        unsynchronised(fmt::format("a bulk copy of {} writes bytes that are not expected: the phase may be "
                                   "complete before",
                                   who(copy)),
                       copy, b.now.touches.back()));
  }
  for (Operation const& e : b.expected)
    if (!b.now.counted_behind(e))
      return faults_.unsynchronised(
          unsynchronised(fmt::format("{} expects bytes, and the phase may be complete before: no arrival is "
                                     "behind it",
                                     who(e.touch)),
                         e.touch, b.now.touches.back()));
}

/// (e), of the phase that is complete now.
void Mbarriers::check_waits(Mbarrier const& b) const {
  for (Operation const& w : b.waits) {
    auto const follows = [&](Clocks::Arrival const& a) { return a.behind(w.thread, w.own); };
    if (std::none_of(b.now.arrivals.begin(), b.now.arrivals.end(), follows) &&
        std::none_of(b.issues.begin(), b.issues.end(), follows))
      return faults_.unsynchronised(
          unsynchronised(fmt::format("{} may still wait when the phase behind it is complete: no arrival of "
                                     "that phase is behind the wait",
                                     who(w.touch)),
                         w.touch, b.now.touches.back()));
  }
}

void Mbarriers::end() const {
  for (auto const& [address, b] : barriers_)
    if (b.live && b.pending == 0) check_expected(b);
}

/// Completes a phase that all have arrived at and that has all its bytes.
void Mbarriers::end_phase(Mbarrier& b, Clocks& clocks) {
  if (b.pending != 0 || b.bytes != 0) return;
  check_expected(b);
  check_waits(b);
  b.complete = clocks.merged(b.now.arrivals);
  b.before_that = std::move(b.before);
  b.before = std::move(b.now);
  b.now = {};
  b.issues.clear(), b.expected.clear(), b.waits.clear(), b.waited.clear();
  b.known = b.known_of_wait = nullptr;
  b.pending = b.count, b.all_bytes = 0;
  ++b.phase;
}

bool Mbarriers::passes(std::uint64_t address, bool parity, std::uint64_t phase, MbarrierOperation const& op,
                       Clocks const& clocks) {
  Mbarrier const& b = used(address, op, clocks);
  if (parity) return (b.phase & 1) != (phase & 1);
  if (phase >> Mbarrier::phase_bits != b.slot)
    throw misuse(op, fmt::format("{} waits at {} for a state that no arrival at it has returned",
                                 who(op.touch), name(address)));
  phase &= (std::uint64_t{1} << Mbarrier::phase_bits) - 1;
  if (b.phase > phase + 1)
    throw misuse(op, fmt::format("{} waits for a phase that is complete since another one", who(op.touch)));
  return b.phase != phase;
}

std::optional<Clocks::Moments> Mbarriers::depart(std::uint64_t address, MbarrierOperation const& op,
                                                 Clocks& clocks) {
  Mbarrier& b = barriers_.at(address);
  behind(b.before_that, b.known_of_wait, op, clocks, "may wait");
  std::uint32_t const own = clocks.now(op.thread);
  if (b.waited.insert({op.thread, own}).second) b.waits.push_back({op.thread, own, op.touch});
  relaxed_ = relaxed_ || op.relaxed;
  if (!b.complete.execution) return std::nullopt;
  clocks.take(b.complete, op.thread, op.relaxed);
  return op.relaxed ? std::optional(b.complete) : std::nullopt;
}

}  // namespace swizproof::flow_detail
