#include "races.hpp"

#include "clusters.hpp"
#include "kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

void AsyncGroups::wait(unsigned thread, std::uint32_t pending, bool all, std::uint32_t now) {
  Thread& t = threads_[thread];
  if (all) ++t.open;  // what is not committed is waited for, too: what follows is another group
  std::size_t const n = t.ends.size();
  std::uint32_t const complete = all ? t.open : n > pending ? t.ends[n - pending - 1] : 0;
  while (t.done.size() < complete) t.done.push_back(now);
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

Cell::Access Bytes::access(Toucher const& by) const {
  unsigned const holder = by.holder == ~0U ? by.doer() : by.holder;
  return {clocks_.now(by.doer()),
          by.line,
          by.execution,
          by.group,
          static_cast<std::uint16_t>(by.doer()),
          static_cast<std::uint16_t>(holder),
          clocks_.now(holder),
          by.strong,
          by.narrow,
          false,
          by.atomic};
}

void Bytes::note(std::vector<Cell::Access>& accesses, Cell::Access const& last) {
  for (Cell::Access& a : accesses)
    if (a.doer == last.doer && a.holder == last.holder && (a.group != 0) == (last.group != 0) &&
        a.possible == last.possible) {
      a = last;
      return;
    }
  accesses.push_back(last);
}

bool Bytes::given_ordered(Cell::Access const& first, Toucher const& by) const {
  return clocks_.ordered(first.doer, first.clock, by.thread);
}

bool Bytes::held_ordered(Cell::Access const& first, Toucher const& by) const {
  return clocks_.ordered(first.holder, first.clock_of_holder, by.held_by());
}

/// The same of an access to this byte. A fence of shared memory alone may be what orders them: then it is not decided for other memory.
bool Bytes::before(Cell::Access const& first, std::uint64_t address, Toucher const& by) {
  bool const given = first.group != 0 ? copied(first, by.thread) : given_ordered(first, by),
             held = first.group != 0 ? copied(first, by.held_by()) : held_ordered(first, by),
             out = given || held;
  if (given != held)
    faults_.doubt(
        fmt::format(
            "{} accesses {}, which {} has accessed: no barrier is between them if {} accesses its row, "
            "and the PTX ISA does not specify that for {}",
            units_.who(by.doer()), place_(address), units_.who(first.doer),
            given ? "a lane that holds elements" : "the lane that gives the address",
            "ldmatrix and stmatrix"),
        by.line);
  bool const in_own = address < shared_limit && rank_at(address) == units_.rank_of(first.doer);
  if (out && clocks_.restricted_to_shared() && first.doer != by.thread && !in_own)
    faults_.doubt(fmt::format("{} accesses {}, which {} has accessed: a fence with .sync_restrict, which "
                              "orders shared memory alone, may be what orders them",
                              units_.who(by.doer()), place_(address), units_.who(first.doer)),
                  by.line);
  return out;
}

/// True if a copy by cp.async is complete before what a thread does now: its thread has waited for the group, or it has arrived at an mbarrier.
bool Bytes::copied(Cell::Access const& copy, unsigned thread) const {
  std::uint32_t const done = groups_.done(copy.doer, copy.group - 1);
  if (done != 0 && clocks_.ordered(copy.doer, done, thread)) return true;
  std::uint32_t const arrived = groups_.arrived(copy.doer, copy.group - 1);
  return arrived != 0 && clocks_.ordered(units_.copies(copy.doer), arrived, thread);
}

bool Bytes::two_warps(Cell::Access const& first, Toucher const& by) const {
  return !units_.generic(first.doer) || !units_.generic(by.doer()) || first.doer / 32 != by.doer() / 32;
}

void Bytes::race(FlowFaultKind kind, Cell::Access const& first, Toucher const& by, std::uint64_t address,
                 char const* verb, char const* verb_of_first) {
  bool const two = two_warps(first, by);
  if (!faults_.would_keep(kind, two)) return;
  std::string const same = kind == FlowFaultKind::same_value_race ? " the same value" : "",
                    who = units_.who(by.doer()), whose = units_.who(first.doer);
  faults_.add({kind,
               fmt::format("{} {}{} {}, which {} {}: no {} is between them", who, verb,
                           same.empty() ? "" : same + " to", place_(address),
                           who == whose ? "an earlier access of " + whose : whose, verb_of_first,
                           units_.order_of(first.doer)),
               touch(by),
               touch(first),
               isa::races,
               {},
               {},
               two});
}

/// A byte that cp.async writes is there, and one that it reads has been read, once its thread has waited for the group.
void Bytes::race_with_copy(Cell::Access const& copy, std::uint64_t address, Toucher const& by,
                           char const* verb, bool reads) {
  if (!faults_.would_keep(FlowFaultKind::race, two_warps(copy, by))) return;
  std::string const who = units_.thread(copy.doer),
                    start = fmt::format("{} {} {}, which cp.async of {} {}", units_.thread(by.thread), verb,
                                        place_(address), who, reads ? "reads" : "writes");
  bool const waited = groups_.done(copy.doer, copy.group - 1) != 0;
  std::string const text =
      !clocks_.ordered(copy.doer, copy.clock, by.thread)
          ? start + ": no barrier is between them, and the copy may start before or behind this"
      : !waited
          ? fmt::format("{}: {} has not waited for its group", start, copy.doer == by.thread ? "it" : who)
          : fmt::format(
                "{} {} {}, which cp.async of {} {}: there is no barrier between the wait for its "
                "group and this",
                units_.thread(by.thread), verb, place_(address), who, reads ? "has read" : "has written");
  faults_.add({FlowFaultKind::race, text, touch(by), touch(copy), isa::copies, {}, {}, two_warps(copy, by)});
}

/// A write that is not ordered before what a thread does now. `same`: this writes the same value.
void Bytes::check_writer(Cell::Access const& w, std::uint64_t address, Toucher const& by, char const* verb,
                         bool same) {
  if (exclude_each_other(w, by)) return;
  bool const one_instruction = w.line == by.line && w.execution == by.execution && !two_warps(w, by);
  bool const of_matrix = by.holder != ~0U && one_instruction;  // rows at one address
  if ((same && of_matrix) || before(w, address, by)) return;
  if (w.group != 0) return race_with_copy(w, address, by, verb, false);
  bool const strong = both_strong(w, by);
  if (strong)
    return faults_.doubt(fmt::format("{} {} {} before or after a write of {}, depending on the order",
                                     units_.who(by.doer()), verb, place_(address), units_.who(w.doer)),
                         by.line);
  same = same && by.atomic == 0;  // atomics of one kind that do not exclude each other lose one of the two
  if (same && one_instruction && units_.generic(w.doer)) return;
  if (same && same_values_) return;
  race(same ? FlowFaultKind::same_value_race : FlowFaultKind::race, w, by, address, verb,
       units_.generic(w.doer) ? "has written" : "writes");
}

void Bytes::check_reader(Cell::Access const& r, std::uint64_t address, Toucher const& by) {
  if (before(r, address, by)) return;
  if (r.possible)
    return faults_.doubt(fmt::format("{} writes {} before or after {} may read it: the PTX ISA does not say "
                                     "which warp of a warpgroup reads a row of A",
                                     units_.who(by.doer()), place_(address), units_.who(r.doer)),
                         by.line);
  if (r.group != 0) return race_with_copy(r, address, by, "writes", true);
  if (both_strong(r, by))
    return faults_.doubt(fmt::format("{} writes {} before or after {} reads it, depending on the order",
                                     units_.who(by.doer()), place_(address), units_.who(r.doer)),
                         r.line);
  race(FlowFaultKind::race, r, by, address, "writes", units_.generic(r.doer) ? "has read" : "reads");
}

void Bytes::refuse_mbarrier(std::uint64_t address, Toucher const& by, char const* verb) const {
  throw FlowConflict{
      FlowFaultKind::misuse,
      fmt::format("{} {} {}, which is a part of an mbarrier", units_.who(by.doer()), verb, place_(address)),
      touch(by),
      {},
      isa::mbarrier_init,
      "mbarrier.inval, and a barrier, before the bytes are used again",
      {},
      false};
}

Cell const* Bytes::read(std::uint64_t address, Toucher const& by) {
  Cell& c = cell(address);
  if (c.mbarrier) refuse_mbarrier(address, by, "reads");
  if (!c.written) {
    note_read(c, by);
    uninitialised(address, by);
    return nullptr;
  }
  check_writer(c.writer, address, by, "reads", false);
  for (Cell::Access const& w : c.others) check_writer(w, address, by, "reads", false);
  note_read(c, by);
  return &c;
}

void Bytes::may_read(std::uint64_t address, Toucher const& by) {
  Cell& c = cell(address);
  auto const is_open = [&](Cell::Access const& w) { return w.group == 0 && !ordered(w, by); };
  if (c.written && (is_open(c.writer) || std::any_of(c.others.begin(), c.others.end(), is_open)))
    faults_.doubt(
        fmt::format("{} may read {} before or after {} writes it: the PTX ISA does not say which warp "
                    "of a warpgroup reads a row of A",
                    units_.who(by.doer()), place_(address), units_.who(c.writer.doer)),
        by.line);
  Cell::Access read = access(by);
  read.possible = true;
  note(c.readers, read);
}

Cell const* Bytes::update(std::uint64_t address, Toucher const& by) {
  Cell const& c = cell(address);
  if (c.mbarrier) refuse_mbarrier(address, by, "changes");
  if (c.written) return &c;
  uninitialised(address, by);
  return nullptr;
}

void Bytes::uninitialised(std::uint64_t address, Toucher const& by) {
  if (faults_.would_keep(FlowFaultKind::uninitialised, false))
    faults_.add({FlowFaultKind::uninitialised,
                 fmt::format("{} reads {}, which no thread has written: a write, or a barrier after it, is "
                             "missing",
                             units_.who(by.doer()), place_(address)),
                 touch(by),
                 {},
                 isa::races,
                 {},
                 {},
                 false});
}

namespace {

FlowConflict write_of_constant(Cell::Constant how, std::string const& text, FlowTouch const& by,
                               std::optional<FlowTouch> const& first) {
  bool const nc = how == Cell::Constant::nc;
  return {FlowFaultKind::read_only,
          fmt::format("{}: {} is for what the kernel only reads", text, nc ? ".nc" : "ldu"),
          by,
          first,
          nc ? isa::read_only : isa::uniform,
          nc ? "ld.global without .nc" : "ld.global",
          {},
          false};
}

char const* name_of(Cell::Constant how) { return how == Cell::Constant::nc ? "ld.global.nc" : "ldu"; }

}  // namespace

void Bytes::read_constant(std::uint64_t address, Toucher const& by, Cell::Constant how) {
  Cell& c = cell(address);
  c.constant = how;
  if (c.written)
    throw write_of_constant(how,
                            fmt::format("{} reads {} by {}, and {} has written it", units_.who(by.doer()),
                                        place_(address), name_of(how), units_.who(c.writer.doer)),
                            touch(by), touch(c.writer));
}

void Bytes::replace(Cell& c, std::uint64_t address, Toucher const& by, bool same) {
  if (c.writer.clock == 0 && c.readers.empty()) return;
  if (!c.past) c.past = std::make_unique<Cell::Past>();
  Cell::Past& past = *c.past;
  if (!same) {
    past.writers.swap(c.others);
    if (c.writer.clock != 0) past.writers.push_back(c.writer);
    past.readers.swap(c.readers);
    c.others.clear(), past.equal.clear(), c.readers.clear();
    return;
  }
  if (!ordered(c.writer, by)) {
    for (Cell::Access const& w : past.writers) check_writer(w, address, by, "writes", false);
    for (Cell::Access const& w : past.equal) check_writer(w, address, by, "writes", true);
    for (Cell::Access const& r : past.readers) check_reader(r, address, by);
  }
  if (by.atomic != 0)
    note(c.others, c.writer);  // they are many; the last one of a thread is ordered behind its others
  else
    c.others.push_back(c.writer);
  std::erase_if(c.others, [&](Cell::Access const& w) {
    bool const earlier = ordered(w, by);
    if (earlier) note(past.equal, w);
    return earlier;
  });
  for (Cell::Access const& r : c.readers) note(past.readers, r);
  c.readers.clear();
}

/// True if a byte that is written has the value that it has already. Names are compared where the order matters.
bool Bytes::same_value(Cell const& c, Toucher const& by, std::uint32_t part, std::uint8_t number) const {
  if (c.part == part) return c.number == number;
  if (c.part == 0 || part == 0 || c.part % 8 != part % 8) return false;
  return (!ordered(c.writer, by) || !c.others.empty()) && names_.same_bits(c.part / 8, part / 8);
}

void Bytes::write(std::uint64_t address, Toucher const& by, std::uint32_t part, std::uint8_t number) {
  Cell& c = cell(address);
  if (c.mbarrier) refuse_mbarrier(address, by, "writes");
  if (c.constant != Cell::Constant::no)
    throw write_of_constant(c.constant,
                            fmt::format("{} writes {}, which {} has read", units_.who(by.doer()),
                                        place_(address), name_of(c.constant)),
                            touch(by), {});
  bool const generic =
      c.writer.group == 0 && by.group == 0 && units_.generic(by.doer()) && units_.generic(c.writer.doer);
  bool const of_atomics = by.atomic != 0 || c.writer.atomic != 0;
  bool const same =
      c.written && (of_atomics ? by.atomic == c.writer.atomic : generic && same_value(c, by, part, number));
  if (c.writer.clock != 0) {  // also behind mbarrier.inval
    check_writer(c.writer, address, by, "writes", same);
    for (Cell::Access const& w : c.others)  // of a counter the last atomic of each thread
      if (!exclude_each_other(w, by)) check_writer(w, address, by, "writes", same);
  }
  for (Cell::Access const& r : c.readers) check_reader(r, address, by);
  replace(c, address, by, same);
  c.part = part, c.number = number, c.written = true;
  c.weak_write = c.weak_write || by.in_cluster || !by.strong;
  c.writer = access(by);
}

void Bytes::write_mbarrier(std::uint64_t address, Toucher const& by, bool live) {
  constexpr std::uint64_t mbarrier_bytes = 8;
  for (std::uint64_t i = 0; i < mbarrier_bytes; ++i) {
    cell(address + i).mbarrier = false;
    write(address + i, by, 0, 0);
    cell(address + i).mbarrier = live;
    if (!live) cell(address + i).written = false;  // what is there is not specified
  }
}

}  // namespace swizproof::flow_detail
