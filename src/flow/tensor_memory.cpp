#include "tensor_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::flow_detail {

namespace {

constexpr unsigned least_columns = 32;

FlowConflict misuse(FlowTouch const& by, std::string text, std::optional<FlowTouch> first = {}) {
  return {FlowFaultKind::misuse, std::move(text), by, first, isa::tensor_columns, {}, {}, false};
}

}  // namespace

// --------------------------------------------------------------------------------------- columns

std::optional<unsigned> TensorMemory::allocate(std::uint64_t columns, unsigned thread, FlowTouch const& by) {
  if (columns < least_columns || columns > tensor_columns || !std::has_single_bit(columns))
    throw misuse(by,
                 fmt::format("tcgen05.alloc of {} columns: it allocates 32, 64, 128, 256 or 512", columns));
  if (relinquished_)
    throw misuse(by, "tcgen05.alloc is behind tcgen05.relinquish_alloc_permit of its block", relinquished_);
  if (allocations_.size() > 1 && columns > allocations_.back().columns)
    throw misuse(by,
                 fmt::format("tcgen05.alloc of {} columns, behind one of {}: the number shall not increase",
                             columns, allocations_.back().columns),
                 allocations_.back().by);
  for (Allocation const& a : allocations_)
    if (a.columns != 0 && !clocks_.executed(a.thread, a.clock, thread))
      faults_.doubt("which columns tcgen05.alloc gives depends on the order of the warps", by.line);
  auto const free = [&](unsigned c) { return owner_[c] == 0 || allocations_[owner_[c]].freed.has_value(); };
  unsigned first = 0, count = 0;
  for (unsigned c = 0; c < tensor_columns && count < columns; ++c)
    count = free(c) ? count + 1 : 0, first = c + 1 - count;
  if (count < columns) return std::nullopt;
  std::fill_n(owner_.begin() + first, columns, static_cast<std::uint32_t>(allocations_.size()));
  std::uint32_t const now = clocks_.now(thread);
  allocations_.push_back({first, static_cast<unsigned>(columns), thread, now, thread, now, by, {}});
  if (allocations_[1].allocator != thread) by_other_warps_.insert(by.line);
  for (unsigned lane = 0; lane < tensor_lanes; ++lane)  // what is there is not specified
    std::fill_n(cells_.begin() + lane * tensor_columns + first, columns, TensorCell{});
  return first;
}

void TensorMemory::deallocate(std::uint64_t address, std::uint64_t columns, unsigned thread,
                              FlowTouch const& by) {
  auto const at = std::find_if(allocations_.begin() + 1, allocations_.end(),
                               [&](Allocation const& a) { return a.first == address && !a.freed; });
  if (at == allocations_.end())
    throw misuse(by, fmt::format("tcgen05.dealloc of 0x{:x}, where no allocation begins", address));
  if (at->columns != columns)
    throw misuse(by,
                 fmt::format("tcgen05.dealloc of {} columns, and tcgen05.alloc has allocated {}", columns,
                             at->columns),
                 at->by);
  if (!clocks_.executed(at->thread, at->clock, thread))
    throw misuse(by, "tcgen05.dealloc is not ordered behind tcgen05.alloc", at->by);
  need_unused(at->first, at->columns, thread, by);
  if (allocations_[1].allocator != thread) by_other_warps_.insert(by.line);
  at->freed = by, at->thread = thread, at->clock = clocks_.now(thread);
}

void TensorMemory::need_unused(unsigned first, unsigned columns, unsigned thread, FlowTouch const& by) {
  std::set<std::uint32_t> seen;
  for (unsigned lane = 0; lane < tensor_lanes; ++lane)
    for (unsigned c = first; c < first + columns; ++c) {
      TensorCell const& cell = cells_[lane * tensor_columns + c];
      if (cell.writer != 0) seen.insert(cell.writer);
      seen.insert(cell.readers.begin(), cell.readers.end());
    }
  for (std::uint32_t const n : seen) {
    TensorAccess const& a = accesses_[n];
    if (clocks_.executed(a.unit, a.clock, thread)) continue;
    faults_.add({FlowFaultKind::race,
                 fmt::format("{} deallocates columns of Tensor Memory that {} accesses: no {}",
                             units_.warp(thread / 32), name(a),
                             a.is_committed() ? "tcgen05.commit and wait at its mbarrier are between"
                                              : "tcgen05.wait and barrier are between"),
                 by,
                 a.touch,
                 isa::tensor_order,
                 {},
                 {},
                 true});
  }
}

void TensorMemory::relinquish(unsigned thread, FlowTouch const& by) {
  for (Allocation const& a : allocations_)
    if (a.columns != 0 && !clocks_.executed(a.allocator, a.allocated, thread))
      throw misuse(by, "tcgen05.relinquish_alloc_permit is not ordered behind tcgen05.alloc of its block",
                   a.by);
  relinquished_ = by;
}

void TensorMemory::end() {
  for (Allocation const& a : allocations_)
    if (a.columns != 0 && !a.freed)
      faults_.add(misuse(a.by, fmt::format("the block ends, and {} columns of Tensor Memory are allocated: "
                                           "tcgen05.dealloc is missing",
                                           a.columns)));
}

void TensorMemory::need_columns(std::uint64_t first, std::uint64_t count) {
  TensorAccess const& by = accesses_.back();
  for (std::uint64_t c = first; c < first + count; ++c) {
    if (c >= tensor_columns || owner_[c] == 0)
      throw FlowConflict{FlowFaultKind::out_of_bounds,
                         fmt::format("{} accesses column {} of Tensor Memory, which is not allocated: "
                                     "tcgen05.alloc is missing, or a barrier behind it",
                                     name(by), c),
                         by.touch,
                         {},
                         isa::tensor_columns,
                         {},
                         {},
                         false};
    Allocation const& a = allocations_[owner_[c]];
    if (a.freed)
      throw misuse(by.touch,
                   fmt::format("{} accesses column {} of Tensor Memory behind tcgen05.dealloc", name(by), c),
                   a.freed);
    if (clocks_.executed(a.thread, a.clock, by.threads.front())) continue;
    if (units_.rank_of(a.thread) != units_.rank_of(by.threads.front())) {
      faults_.doubt(
          fmt::format("{} accesses columns of Tensor Memory{}, and tcgen05.alloc of that block is not "
                      "ordered before: the ISA does not say that one warp's is that of both blocks",
                      name(by), units_.of_rank(units_.rank_of(a.thread))),
          by.touch.line);
      return;
    }
    throw FlowConflict{
        FlowFaultKind::race,
        fmt::format("{} accesses column {} of Tensor Memory, and no barrier is behind tcgen05.alloc",
                    name(by), c),
        by.touch,
        a.by,
        isa::tensor_columns,
        {},
        {},
        true};
  }
}

// ----------------------------------------------------------------------------------------- order

Clocks::Arrival const& TensorMemory::committed(unsigned unit) {
  auto const at = committed_.find(unit);
  return at != committed_.end() ? at->second : committed_.emplace(unit, clocks_.arrive(unit)).first->second;
}

void TensorMemory::begin(TensorAccess access) {
  committed_.erase(access.unit);
  access.clock = clocks_.now(access.unit);
  access.issued = clocks_.now(access.threads.front());
  for (unsigned const t : access.threads)
    if (access.behind.empty() || access.behind.back() != fences_.after[t])
      access.behind.push_back(fences_.after[t]);
  accesses_.push_back(std::move(access));
  judged_.clear(), last_judged_ = nullptr, last_key_ = 0;
}

/// Moment `when` of a unit or a thread, as what a thread issues now is ordered behind it.
TensorMemory::Relation TensorMemory::seen(unsigned of, std::uint32_t when, unsigned thread) const {
  Clocks::Vector const& view = fences_.after[thread];
  if (view && (*view)[of] >= when) return Relation::ordered;
  if (clocks_.ordered(of, when, thread)) return Relation::acquired;
  return clocks_.executed(of, when, thread) ? Relation::unfenced : Relation::none;
}

/// True if a tcgen05.fence::before_thread_sync is behind the completion, and before the last fence::after_thread_sync of a thread.
bool TensorMemory::announced(TensorAccess const& first, unsigned thread) const {
  for (unsigned t = 0; t < fences_.before.size(); ++t) {
    auto const& fences = fences_.before[t];
    auto const fence =  // libc++ 14 has no std::ranges::lower_bound
        std::lower_bound(
            fences.begin(), fences.end(), first.clock,
            [&](TensorFences::Before const& f, auto clock) { return (*f.memory)[first.unit] < clock; });
    if (t != thread && fence != fences.end() && seen(t, fence->own, thread) == Relation::ordered) return true;
  }
  return false;
}

namespace {

/// Pairs that are executed in the order in which they are issued. [PTX ISA 9.1, 9.7.16.6.2]
bool is_pipelined(TensorAccess const& first, TensorAccess const& second) {
  using enum TensorOperation;
  switch (first.operation) {
    case mma:
      return second.operation == shift ||
             (second.operation == mma && first.accumulator == second.accumulator);
    case copy:
    case copy_4x256b:
      return second.operation == mma;
    case shift:
      return second.operation == mma || second.operation == copy_4x256b;
    default:
      return false;
  }
}

bool is_copy(TensorAccess const& a) {
  return a.operation == TensorOperation::copy || a.operation == TensorOperation::copy_4x256b;
}

}  // namespace

/// Relation of an earlier access to the current one of the same thread, by (d) and (e).
TensorMemory::Relation TensorMemory::in_order(std::uint32_t earlier, bool wrote) const {
  TensorAccess const &first = accesses_[earlier], &second = accesses_.back();
  std::vector<TensorAccess const*> behind{&first};  // of each kind one
  auto const follows = [&](TensorAccess const& a) {
    return std::any_of(behind.begin(), behind.end(),
                       [&](TensorAccess const* one) { return is_pipelined(*one, a); });
  };
  for (std::uint32_t i = earlier + 1; i + 1 < accesses_.size(); ++i) {
    TensorAccess const& a = accesses_[i];
    bool const known = std::any_of(behind.begin() + 1, behind.end(), [&](TensorAccess const* one) {
      return one->operation == a.operation && one->accumulator == a.accumulator;
    });
    if (!known && a.is_committed() && a.threads.front() == first.threads.front() && follows(a))
      behind.push_back(&a);
  }
  if (follows(second)) return Relation::ordered;
  bool const overwrites =
      is_copy(second) && std::any_of(behind.begin(), behind.end(), [&](TensorAccess const* one) {
        return one->operation == TensorOperation::mma &&
               (one == &first ? !wrote : first.operation != TensorOperation::mma);
      });
  return overwrites ? Relation::overwrites : Relation::none;
}

TensorMemory::Relation TensorMemory::relation(std::uint32_t earlier, TensorAccess const& second,
                                              unsigned thread, bool wrote) const {
  TensorAccess const& first = accesses_[earlier];
  bool const waits = !first.is_committed();  // tcgen05.wait::ld, ::st
  if (waits && first.threads.front() / 32 == thread / 32)
    return clocks_.executed(first.unit, first.clock, thread) ? Relation::ordered : Relation::none;
  Relation const best = seen(first.unit, first.clock, thread);
  if (waits && best == Relation::ordered && !clocks_.ordered(first.unit, first.clock, thread) &&
      !announced(first, thread))
    return Relation::unannounced;
  if (waits || !second.is_committed() || best == Relation::ordered) return best;
  unsigned const issuer = first.threads.front();
  if (issuer == thread) return std::max(best, in_order(earlier, wrote));
  if (!is_pipelined(first, second)) return best;
  auto const& fences = fences_.before[issuer];
  auto const fence =
      std::lower_bound(fences.begin(), fences.end(), first.issued,
                       [](TensorFences::Before const& f, auto issued) { return f.own < issued; });
  return fence == fences.end() ? best : std::max(best, seen(issuer, fence->own, thread));
}

/// Relation of an earlier access to what a thread issues now, by one between that all of its threads issue behind a fence behind the earlier.
TensorMemory::Relation TensorMemory::by_another(std::uint32_t earlier, unsigned thread) const {
  TensorAccess const& first = accesses_[earlier];
  Relation best = Relation::none;
  for (std::uint32_t i = earlier + 1; i + 1 < accesses_.size() && best != Relation::ordered; ++i) {
    std::vector<Clocks::Vector> const& behind = accesses_[i].behind;
    bool const follows = std::all_of(behind.begin(), behind.end(), [&](Clocks::Vector const& view) {
      return view && (*view)[first.unit] >= first.clock;
    });
    if (follows) best = std::max(best, relation(i, accesses_.back(), thread, true));
  }
  return best;
}

std::string TensorMemory::name(TensorAccess const& a) const {
  static constexpr std::string_view names[] = {"ld", "st", "mma", "cp", "cp", "shift"};
  if (!a.is_committed()) return units_.who(a.unit);
  return fmt::format("tcgen05.{} of {}", names[static_cast<std::size_t>(a.operation)],
                     units_.thread(a.threads.front()));
}

void TensorMemory::conflict(TensorAccess const& first, Relation relation, std::string const& text) {
  TensorAccess const& second = accesses_.back();
  bool const fence = relation == Relation::unfenced;
  FlowFaultKind const kind = fence ? FlowFaultKind::fence : FlowFaultKind::race;
  if (!faults_.would_keep(kind, true)) return;
  char const* const missing = fence ? "no tcgen05.fence::after_thread_sync is between them"
                              : first.is_committed()
                                  ? "no tcgen05.commit and wait at its mbarrier are between"
                              : first.threads.front() / 32 == second.threads.front() / 32
                                  ? "no tcgen05.wait is between them"
                                  : "no tcgen05.wait and a barrier behind it are between";
  faults_.add({kind,
               fmt::format("{}: {}", text, missing),
               second.touch,
               first.touch,
               isa::tensor_order,
               fence ? "tcgen05.fence::after_thread_sync before it" : "",
               {},
               true});
}

TensorMemory::Judged& TensorMemory::judged(std::uint32_t earlier, bool wrote) {
  std::uint32_t const key = 2 * earlier + (wrote ? 1 : 0);
  if (key == last_key_) return *last_judged_;
  auto const [at, fresh] = judged_.try_emplace(key);
  last_key_ = key, last_judged_ = &at->second;
  if (!fresh) return at->second;
  TensorAccess const& second = accesses_.back();
  for (unsigned const t : second.threads) {
    Relation one = relation(earlier, second, t, wrote);
    if (one == Relation::unfenced) one = std::max(one, by_another(earlier, t));
    at->second.worst = std::min(at->second.worst, one), at->second.best = std::max(at->second.best, one);
  }
  return at->second;
}

void TensorMemory::check(std::uint32_t earlier, unsigned lane, unsigned column, char const* verb,
                         bool wrote) {
  if (earlier == 0 || earlier + 1 == accesses_.size()) return;
  Judged& relation = judged(earlier, wrote);
  if (std::exchange(relation.told, true)) return;
  TensorAccess const &first = accesses_[earlier], &second = accesses_.back();
  if (relation.accepted()) {
    if (relation.worst == Relation::unannounced) unannounced_.insert(second.touch.line);
    if (relation.worst == Relation::overwrites) overwriting_.insert(second.touch.line);
    if (relation.worst == Relation::acquired) by_acquire_.insert(second.touch.line);
    return;
  }
  std::string const text = fmt::format("{} {} lane {}, column {} of Tensor Memory, which {} {}", name(second),
                                       verb, lane, column, name(first), wrote ? "writes" : "reads");
  if (relation.best >= Relation::unannounced)
    return faults_.doubt(text + ": a part of the threads is ordered behind it", second.touch.line);
  conflict(first, relation.worst, text);
}

TensorCell const* TensorMemory::read(unsigned lane, unsigned column, bool any) {
  TensorCell& cell = cells_[lane * tensor_columns + column];
  auto const now = static_cast<std::uint32_t>(accesses_.size() - 1);
  if (cell.writer == 0) {
    TensorAccess const& by = accesses_.back();
    if (!any && faults_.would_keep(FlowFaultKind::uninitialised, false))
      faults_.add(
          {FlowFaultKind::uninitialised,
           fmt::format("{} reads lane {}, column {} of Tensor Memory, which nothing has written since "
                       "tcgen05.alloc",
                       name(by), lane, column),
           by.touch,
           {},
           isa::tensor_columns,
           {},
           {},
           false});
    return nullptr;
  }
  check(cell.writer, lane, column, "reads", true);
  if (cell.readers.empty() || cell.readers.back() != now) cell.readers.push_back(now);
  return &cell;
}

void TensorMemory::write(unsigned lane, unsigned column, Word const& value) {
  TensorCell& cell = cells_[lane * tensor_columns + column];
  // An access behind a read is behind the write that was read.
  auto const now = static_cast<std::uint32_t>(accesses_.size() - 1);
  bool const behind = std::any_of(cell.readers.begin(), cell.readers.end(),
                                  [&](std::uint32_t r) { return r != now && judged(r, false).accepted(); });
  if (!behind) check(cell.writer, lane, column, "writes", true);
  for (std::uint32_t const r : cell.readers) check(r, lane, column, "writes", false);
  cell.readers.clear();
  cell.writer = now;
  cell.number = static_cast<std::uint32_t>(value.number), cell.named = value.named & 15;
  std::copy_n(value.part.begin(), 4, cell.part.begin());
}

}  // namespace swizproof::flow_detail
