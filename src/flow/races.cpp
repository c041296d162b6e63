#include "races.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

Clocks::Clocks(unsigned threads)
    : own_(threads, 1), seen_(threads, std::make_shared<std::vector<std::uint32_t> const>(threads, 0)) {}

Clocks::Moments Clocks::moments(std::vector<unsigned> const& threads) const {
  auto merged = std::make_shared<std::vector<std::uint32_t>>(own_.size(), 0);
  std::vector<std::vector<std::uint32_t> const*> known;
  for (unsigned const t : threads) known.push_back(seen_[t].get());
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (auto const* const one : known)
    for (std::size_t u = 0; u < one->size(); ++u) (*merged)[u] = std::max((*merged)[u], (*one)[u]);
  for (unsigned const t : threads) (*merged)[t] = own_[t];
  return merged;
}

void Clocks::join(std::vector<unsigned> const& givers, std::vector<unsigned> const& takers) {
  Moments const all = moments(givers);
  bool const same = givers == takers;
  for (unsigned const t : takers) same ? void(seen_[t] = all) : take(all, t);
  for (unsigned const t : givers) tick(t);
}

void Clocks::take(Moments const& moments, unsigned thread) {
  auto merged = std::make_shared<std::vector<std::uint32_t>>(*seen_[thread]);
  for (std::size_t u = 0; u < merged->size(); ++u) (*merged)[u] = std::max((*merged)[u], (*moments)[u]);
  seen_[thread] = std::move(merged);
}

void AsyncGroups::wait(unsigned thread, std::uint32_t pending, bool all, std::uint32_t now) {
  Thread& t = threads_[thread];
  if (all) ++t.open;  // what is not committed is waited for, too: what follows is another group
  std::uint32_t const complete = all ? t.open : t.open > pending ? t.open - pending : 0;
  while (t.done.size() < complete) t.done.push_back(now);
}

void ProxyFences::fence(unsigned thread, Clocks& clocks) {
  fences_[thread].push_back({clocks.now(thread), clocks.moments({thread})});
  clocks.tick(thread);
}

bool ProxyFences::by_one(unsigned by, unsigned of, std::uint32_t when, unsigned thread,
                         Clocks const& clocks) const {
  // The last of its fences that is ordered before: it has the most before it.
  auto const& all = fences_[by];
  auto const behind = std::partition_point(
      all.begin(), all.end(), [&](Fence const& f) { return clocks.ordered(by, f.when, thread); });
  return behind != all.begin() && (*std::prev(behind)->before)[of] >= when;
}

bool ProxyFences::between(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) const {
  return by_one(of, of, when, thread, clocks) || by_one(thread, of, when, thread, clocks);
}

bool ProxyFences::by_another(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) const {
  for (unsigned by = 0; by < fences_.size(); ++by)
    if (by_one(by, of, when, thread, clocks)) return true;
  return false;
}

Cell& Bytes::cell(std::uint64_t address) {
  std::uint64_t const page = address / page_bytes;
  if (page != last_page_) {
    auto& cells = pages_[page];
    if (cells.empty()) cells.resize(page_bytes);
    last_page_ = page, last_ = &cells;
  }
  return (*last_)[address % page_bytes];
}

Cell const* Bytes::find(std::uint64_t address) const {
  auto const page = pages_.find(address / page_bytes);
  if (page == pages_.end()) return nullptr;
  Cell const& c = page->second[address % page_bytes];
  return c.written ? &c : nullptr;
}

std::string Bytes::who(unsigned doer) const {
  unsigned const mbarriers = threads_, warps = mbarriers + most_mbarriers, stores = first_store();
  if (doer < mbarriers) return fmt::format("thread {}", doer);
  if (doer < warps) return "the TMA";
  if (doer < stores) return fmt::format("wgmma of warp {}", doer - warps);
  return fmt::format("the bulk store of thread {}", (doer - stores) % threads_);
}

char const* Bytes::order_of(unsigned doer) const {
  return doer < first_store() ? "barrier" : "wait for its bulk group";
}

void Bytes::note(Cell& c, Toucher const& by) {
  std::uint32_t const now = clocks_.now(by.doer());
  for (Cell::Reader& r : c.readers)
    if (r.thread == by.doer()) {
      r.clock = now, r.line = by.line;
      return;
    }
  c.readers.push_back({static_cast<std::uint16_t>(by.doer()), now, by.line});
}

/// Fails if the last write of a byte is not ordered before what a thread does now.
void Bytes::check_write(Cell const& c, std::uint64_t address, Toucher const& by, char const* verb) const {
  if (c.group != 0) {
    std::uint32_t const done = groups_.done(c.thread, c.group - 1);
    if (done == 0)
      throw FlowConflict{
          fmt::format("thread {} {} {}, which cp.async of thread {} writes: {} has not waited for its group",
                      by.thread, verb, place_(address), c.thread,
                      c.thread == by.thread ? "it" : fmt::format("thread {}", c.thread)),
          {by.line, c.line}};
    if (clocks_.ordered(c.thread, done, by.thread)) return;
    throw FlowConflict{
        fmt::format("thread {} {} {}, which cp.async of thread {} has written: there is no barrier "
                    "between the wait for its group and this",
                    by.thread, verb, place_(address), c.thread),
        {by.line, c.line}};
  }
  if (!clocks_.ordered(c.thread, c.clock, by.thread))
    throw FlowConflict{
        fmt::format("{} {} {}, which {} {}: no {} is between them", who(by.doer()), verb, place_(address),
                    who(c.thread), c.thread < threads_ ? "has written" : "writes", order_of(c.thread)),
        {by.line, c.line}};
}

Cell const& Bytes::read(std::uint64_t address, Toucher const& by) {
  Cell& c = cell(address);
  if (!c.written)
    throw FlowConflict{
        fmt::format("{} reads {}, which no thread has written: a write is missing, or a barrier behind it",
                    who(by.doer()), place_(address)),
        {by.line}};
  check_write(c, address, by, "reads");
  note(c, by);
  return c;
}

void Bytes::write(std::uint64_t address, Toucher const& by, std::uint32_t part, std::uint8_t number) {
  Cell& c = cell(address);
  bool const same = c.written && c.group == 0 && by.group == 0 && by.doer() < threads_ &&
                    c.thread < threads_ && c.part == part && c.number == number;
  if (c.written && !same) check_write(c, address, by, "writes");
  for (Cell::Reader const& r : c.readers)
    if (!clocks_.ordered(r.thread, r.clock, by.thread))
      throw FlowConflict{
          fmt::format("{} writes {}, which {} {}: no {} is between them", who(by.doer()), place_(address),
                      who(r.thread), r.thread < threads_ ? "has read" : "reads", order_of(r.thread)),
          {by.line, r.line}};
  c.readers.clear();
  c.part = part, c.number = number, c.written = true;
  c.thread = static_cast<std::uint16_t>(by.doer()), c.clock = clocks_.now(by.doer());
  c.line = by.line, c.group = by.group;
}

}  // namespace swizproof::flow_detail
