#include "race_meetings.hpp"

#include "race_trials.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

namespace {

constexpr unsigned most_tries = 8;  ///< bytes of two stores whose values are compared on memories

}  // namespace

bool may_be_of_one(RaceEvent const& a, RaceEvent const& b, std::vector<SharedAccess> const& accesses) {
  for (std::size_t reading = 0; reading < a.by.size(); ++reading)
    if (a.by[reading] == b.by[reading]) return true;
  auto const of_warp = [&](RaceEvent const& e) {
    auto const& matrix = accesses[e.access].matrix;
    return matrix && !matrix->square;
  };
  return (of_warp(a) || of_warp(b)) && a.thread / 32 == b.thread / 32;
}

void RaceMeetings::begin(std::size_t threads) {
  flags.begin(threads);
  found.clear(), meetings_.clear(), met_.clear(), reported_.clear(), tried_.clear();
  interval = 0;
}

void RaceMeetings::add(RaceEvent const& o, RaceEvent const& e, std::uint64_t byte, LoadSets& sets,
                       ValueTerms& terms) {
  if (!flags.any() || o.thread == e.thread)
    report(o, e, byte, sets, terms);
  else if (met_.insert({o.access, e.access, o.thread, e.thread}).second)
    meetings_.push_back({o, e, byte});
}

void RaceMeetings::end_interval(LoadSets& sets, ValueTerms& terms,
                                std::function<bool(std::uint32_t)> const& goes_on) {
  auto const access = [&](RaceEvent const& e) {
    return FlagOrders::Access{e.thread, e.phase, e.flags, goes_on(e.thread)};
  };
  for (Meeting const& m : meetings_)
    if (flags.may_order(access(m.first), access(m.second)))
      any_by_flag = true;
    else
      report(m.first, m.second, m.byte, sets, terms);
  meetings_.clear(), met_.clear();
  flags.begin_interval();
  ++interval;
}

void RaceMeetings::report(RaceEvent const& o, RaceEvent const& e, std::uint64_t byte, LoadSets& sets,
                          ValueTerms& terms) {
  bool const stores = o.role == RaceRole::write && e.role == RaceRole::write;
  bool const numbers = stores && !o.value.open && !e.value.open;
  bool const differ = numbers && o.value.bits != e.value.bits;
  ValueTerms::Term const term = stores ? terms.of(o.value) : 0;
  bool const same = term != 0 && term == terms.of(e.value);
  bool const lost = differ || (stores && terms.may_differ(o.value, e.value));
  LoadSets::Set const data = sets.join(o.data, e.data), values = sets.join(o.value.data, e.value.data);
  RaceKind kind = same ? RaceKind::same_value : lost ? RaceKind::lost_store : RaceKind::race;
  std::pair const accesses(std::min(o.access, e.access), std::max(o.access, e.access));
  if (kind == RaceKind::race && stores && data == 0 && tried_[accesses]++ < most_tries &&
      differ_on_a_memory(terms, term, terms.of(e.value)))
    kind = RaceKind::lost_store;
  if (!reported_.insert({accesses.first, accesses.second, kind, differ, data == 0}).second) return;
  found.push_back({kind,
                   {o.access, e.access},
                   {o.thread, e.thread},
                   {o.role != RaceRole::read, e.role != RaceRole::read},
                   byte,
                   interval,
                   stores,
                   differ,
                   data,
                   stores ? values : 0});
}

}  // namespace swizproof::kernel_detail
