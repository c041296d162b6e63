#include "race_rings.hpp"

#include "race_paths.hpp"
#include "race_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>

namespace swizproof::kernel_detail {

using program::MemoryAccess;
using program::Program;

namespace {

constexpr std::int64_t most_rounds = 6;  ///< arrivals of an mbarrier that are followed to find its ring
constexpr std::uint32_t most_mbarriers = 64;
constexpr std::uint32_t most_pending_commits = 32;

}  // namespace

/// An arrival that was seen: the mbarrier that its thread has waited for last, and what it had passed.
struct Arrival {
  std::uint32_t at = 0;
  std::int64_t number = 0;
  std::int32_t last = -1;
  std::map<std::uint32_t, std::int64_t> passed{};
};

/// A pair of mbarriers of one stage.
struct Ring {
  std::uint32_t full = 0;
  std::int32_t empty = -1;
  std::string broken{};  ///< why its theorem does not hold; empty: it does
  std::uint32_t line = 0;
};

class RingSearch : public PathObserver {
 public:
  RingSearch(Program const& program, ThreadPaths paths, RingPlaces places,
             std::vector<SharedAccess> const& accesses, std::set<std::uint32_t> unfenced)
      : program_(program),
        paths_(std::move(paths)),
        accesses_(accesses),
        places_(std::move(places)),
        unfenced_(std::move(unfenced)) {}

  std::string find(std::uint32_t& line);
  bool orders(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] RingPlaces const& places() const { return places_; }
  [[nodiscard]] bool releases(Ring const& ring, std::uint32_t holder, std::uint32_t filler) const;
  [[nodiscard]] std::string doubt(std::uint32_t& line) const;
  [[nodiscard]] std::vector<Rings::Crowd> crowds() const;

  void access(PathHistory& h, std::uint32_t access, PathValue const& address, PathValue const& size) override;
  void waited(PathHistory& h, std::uint32_t access, PathValue const& address,
              PathValue const& parity) override;
  void order(PathHistory& h, CopyOrder const& order) override;
  [[nodiscard]] bool goes_on(PathHistory const& h) const override;

 private:
  void fail(std::string why, std::uint32_t access) {
    if (obstacle_.empty()) obstacle_ = std::move(why), line_ = program_.accesses[access].line;
  }
  void breaks(Ring& ring, std::string why, std::uint32_t access) {
    if (ring.broken.empty()) ring.broken = std::move(why), ring.line = program_.accesses[access].line;
  }
  [[nodiscard]] std::string const& op(std::uint32_t access) const { return program_.accesses[access].op; }
  [[nodiscard]] Group group(std::uint32_t access) const { return group_of(program_.accesses[access]); }
  /// A copy to shared memory.
  [[nodiscard]] bool is_copy(std::uint32_t access) const {
    return group(access) == Group::phase && !accesses_[access].tile;
  }
  [[nodiscard]] bool is_commit(std::uint32_t access) const {
    return op(access).starts_with("tcgen05.commit");
  }
  /// A read that tcgen05.commit tracks.
  [[nodiscard]] bool is_tracked(std::uint32_t access) const {
    return group(access) == Group::phase && accesses_[access].tile;
  }
  [[nodiscard]] bool is_barrier(std::uint32_t access) const {
    MemoryAccess const& m = program_.accesses[access];
    return m.operand >= 0 &&
           program_.operands[static_cast<std::size_t>(m.operand)].role == program::OperandRole::barrier;
  }
  std::int32_t mbarrier_at(PathValue const& address, std::uint32_t access, bool needed);
  void initialise(PathHistory& h, std::uint32_t m, std::uint32_t access, PathValue const& count);
  void arrive(PathHistory& h, std::uint32_t m, std::uint32_t access, PathValue const& size);
  void expect(PathHistory& h, std::uint32_t m, std::uint32_t access, PathValue const& size);
  void arrive_in_ring(PathHistory& h, Ring& ring, std::uint32_t m, std::uint32_t access);
  void count_bytes(MbarrierCounts& c, Ring& ring, std::uint32_t m, std::uint32_t access,
                   PathValue const& size);
  void copy(PathHistory& h, std::uint32_t access, PathValue const& address);
  void note_clashes(std::set<std::pair<std::uint32_t, std::uint64_t>>& copies, std::uint32_t access);
  void place(PathHistory& h, std::uint32_t access, PathValue const& address, std::uint64_t fills);
  [[nodiscard]] std::uint64_t may_hold(std::uint32_t access, StagePlace const& place) const;
  void normalise(PathHistory& h) const;
  void find_rings();
  [[nodiscard]] bool holds_for_samples(std::uint32_t full, std::uint32_t empty) const;
  [[nodiscard]] std::uint64_t held(PathHistory const& h) const;
  [[nodiscard]] std::uint64_t filled(PathHistory const& h) const;
  [[nodiscard]] std::uint64_t unbroken(std::uint64_t rings) const;
  [[nodiscard]] std::uint64_t of_one_thread(std::uint64_t rings) const;
  static std::int64_t passed(PathHistory const& h, std::int32_t m) {
    auto const at = m < 0 ? h.of.end() : h.of.find(static_cast<std::uint32_t>(m));
    return at == h.of.end() ? 0 : at->second.passed;
  }
  static std::int64_t arrived(PathHistory const& h, std::int32_t m) {
    auto const at = m < 0 ? h.of.end() : h.of.find(static_cast<std::uint32_t>(m));
    return at == h.of.end() ? 0 : at->second.arrived;
  }

  Program const& program_;
  ThreadPaths paths_;
  std::vector<SharedAccess> const& accesses_;
  bool sampling_ = true;  ///< the first rounds, to find the rings
  std::vector<Mbarrier> mbarriers_{};
  std::map<std::uint64_t, std::uint32_t> at_address_{};
  std::vector<Arrival> samples_{};
  std::vector<Ring> rings_{};
  std::vector<std::int32_t> ring_of_{};  ///< by mbarrier
  RingPlaces places_;
  std::set<std::uint32_t> unfenced_;  ///< accesses with no proxy fence before an arrival
  std::vector<std::uint64_t> lost_holds_{},
      lost_fills_{};  ///< by access: rings whose arrival did not wait for it
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> used_{};  ///< ring, access, holds
  std::set<std::pair<std::uint32_t, std::uint32_t>> clashes_{};      ///< copies of one number that may meet
  std::int32_t copy_at_ = -1;  ///< access of the copy whose mbarrier comes next
  PathValue copy_to_{};
  std::string obstacle_{};
  std::uint32_t line_ = 0;
};

std::string RingSearch::find(std::uint32_t& line) {
  lost_holds_.assign(program_.accesses.size(), 0), lost_fills_ = lost_holds_;
  std::string const many = "paths with mbarriers have too many states";
  bool const sampled = paths_.follow(*this);
  if (obstacle_.empty() && !sampled) obstacle_ = many;
  if (obstacle_.empty()) find_rings();
  if (obstacle_.empty()) places_.find_boxes(mbarriers_);
  sampling_ = false;
  if (obstacle_.empty() && !paths_.follow(*this) && obstacle_.empty()) obstacle_ = many;
  places_.find_stored_boxes(mbarriers_);
  for (Mbarrier const& m : mbarriers_) {
    if (m.inits.size() == 1 && m.count) continue;
    std::set<std::uint32_t> used = m.inits;
    for (auto const* more : {&m.arrivals, &m.copies, &m.waits}) used.insert(more->begin(), more->end());
    if (!used.empty()) fail("an mbarrier has not one mbarrier.init with a constant count", *used.begin());
  }
  line = line_;
  return obstacle_;
}

/// The number of the mbarrier at an address; -1 if it is not known, which is an obstacle if it is `needed`.
std::int32_t RingSearch::mbarrier_at(PathValue const& address, std::uint32_t access, bool needed) {
  if (!address.constant()) {
    if (needed) fail("the address of an mbarrier is no constant on a path: " + op(access), access);
    return -1;
  }
  auto const [at, fresh] =
      at_address_.try_emplace(address.least, static_cast<std::uint32_t>(mbarriers_.size()));
  if (!fresh) return static_cast<std::int32_t>(at->second);
  for (Mbarrier const& other : mbarriers_)
    if (other.address < address.least + 8 && address.least < other.address + 8)
      fail("two mbarriers overlap: " + op(access), access);
  if (mbarriers_.size() >= most_mbarriers)
    fail("a kernel with more than 64 mbarriers is not modelled", access);
  mbarriers_.emplace_back().address = address.least;
  if (!sampling_)
    ring_of_.push_back(static_cast<std::int32_t>(rings_.size())), rings_.push_back({at->second, -1, {}, 0});
  return static_cast<std::int32_t>(at->second);
}

bool RingSearch::goes_on(PathHistory const& h) const {
  if (!obstacle_.empty()) return false;
  if (!sampling_) return true;
  return std::none_of(h.of.begin(), h.of.end(), [](auto const& one) {
    return one.second.passed > most_rounds || one.second.arrived > most_rounds;
  });
}

void RingSearch::access(PathHistory& h, std::uint32_t access, PathValue const& address,
                        PathValue const& size) {
  if (!obstacle_.empty()) return;
  if (is_copy(access) && !is_barrier(access)) {
    copy_at_ = static_cast<std::int32_t>(access), copy_to_ = address;
    return;
  }
  if (is_copy(access)) return place(h, access, address, 0), copy(h, access, address);
  if (!is_barrier(access)) return place(h, access, address, filled(h));
  place(h, access, address, 0);
  bool const wait = op(access).find(".parity") != std::string::npos;
  std::int32_t const m = mbarrier_at(address, access, !wait);
  if (m < 0 || !obstacle_.empty()) return;
  auto const index = static_cast<std::uint32_t>(m);
  if (wait) return void(mbarriers_[index].waits.insert(access));
  if (op(access).starts_with("mbarrier.init")) return initialise(h, index, access, size);
  if (op(access).starts_with("mbarrier.expect_tx")) return expect(h, index, access, size);
  arrive(h, index, access, size);
}

void RingSearch::initialise(PathHistory& h, std::uint32_t m, std::uint32_t access, PathValue const& count) {
  Mbarrier& one = mbarriers_[m];
  one.inits.insert(access);
  MbarrierCounts& c = h.of[m];
  bool const again = c.initialised || c.passed != 0 || c.arrived != 0;
  c.initialised = true;
  if (again) fail("an mbarrier is initialised twice, or after its use: " + op(access), access);
  if (!count.constant() || (one.count && *one.count != count.least))
    return fail("the count of an mbarrier is no constant: " + op(access), access);
  one.count = count.least;
}

/// Bytes that are expected without an arrival: of the thread's next arrival, which the phase waits for.
void RingSearch::expect(PathHistory& h, std::uint32_t m, std::uint32_t access, PathValue const& size) {
  mbarriers_[m].expects.insert(access);
  if (sampling_) {
    if (size.constant()) mbarriers_[m].expected.insert(size.least);
    return;
  }
  Ring& ring = rings_[static_cast<std::size_t>(ring_of_[m])];
  if (!ring.broken.empty()) return;
  MbarrierCounts& c = h.of[m];
  if (ring.full != m || passed(h, ring.empty) < c.arrived)
    return breaks(ring, "bytes are expected without a wait until the stage is empty: " + op(access), access);
  if (!size.constant()) return breaks(ring, "the expected bytes are no constant: " + op(access), access);
  c.before -= static_cast<std::int64_t>(size.least);
}

void RingSearch::arrive(PathHistory& h, std::uint32_t m, std::uint32_t access, PathValue const& size) {
  mbarriers_[m].arrivals.insert(access);
  if (op(access).find(".relaxed") != std::string::npos)
    return fail("an arrival that releases nothing is not modelled: " + op(access), access);
  bool const expects = op(access).find("expect_tx") != std::string::npos;
  if (!expects && !(size == path_number(1)))
    return fail("an arrival counts more than one: " + op(access), access);
  MbarrierCounts& c = h.of[m];
  if (sampling_) {
    Arrival one{m, c.arrived, h.last, {}};
    for (auto const& [other, counts] : h.of) one.passed[other] = counts.passed;
    samples_.push_back(std::move(one));
    if (expects && size.constant()) mbarriers_[m].expected.insert(size.least);
    ++c.arrived;
    return;
  }
  Ring& ring = rings_[static_cast<std::size_t>(ring_of_[m])];
  if (!ring.broken.empty()) return;
  arrive_in_ring(h, ring, m, access);
  count_bytes(c, ring, m, access, expects ? size : path_number(0));
  ++c.arrived;
  c.copies = std::move(c.next_copies);
  c.next_copies.clear();
  normalise(h);
}

/// Premises 2 and 3, and what the thread has not waited for.
void RingSearch::arrive_in_ring(PathHistory& h, Ring& ring, std::uint32_t m, std::uint32_t access) {
  bool const full = ring.full == m;
  std::int64_t const number = arrived(h, static_cast<std::int32_t>(m));
  std::int64_t const other =
      full ? passed(h, ring.empty) : passed(h, static_cast<std::int32_t>(ring.full)) - 1;
  if (other < number)
    breaks(ring,
           ring.empty < 0
               ? "a thread arrives again at an mbarrier that no other one is paired with: " + op(access)
           : full ? "a producer arrives without having waited until its stage is empty: " + op(access)
                  : "a consumer arrives without having waited until its stage is full: " + op(access),
           access);
  std::uint64_t const bit = std::uint64_t{1} << ring_of_[m];
  for (PathPending& p : h.pending) {
    bool const waits = is_commit(access) && is_tracked(p.access);  // its arrival waits for them
    if (full && (p.fills & bit) != 0) lost_fills_[p.access] |= waits ? 0 : bit, p.fills &= ~bit;
    if (!full && (p.holds & bit) != 0) lost_holds_[p.access] |= waits ? 0 : bit, p.holds &= ~bit;
  }
  std::erase_if(h.pending,
                [&](PathPending const& p) { return is_tracked(p.access) && (p.fills | p.holds) == 0; });
}

/// Premise 5, at an arrival.
void RingSearch::count_bytes(MbarrierCounts& c, Ring& ring, std::uint32_t m, std::uint32_t access,
                             PathValue const& size) {
  if (mbarriers_[m].copies.empty() && mbarriers_[m].expects.empty() && size == path_number(0)) return;
  if (!size.constant()) return breaks(ring, "the expected bytes are no constant: " + op(access), access);
  if (c.left != 0)
    breaks(ring, fmt::format("an mbarrier expects {} bytes more than its copies bring", c.left), access);
  c.left += static_cast<std::int64_t>(size.least) - c.before, c.before = 0;
  if (c.left < 0)
    breaks(ring, fmt::format("bulk copies bring {} bytes more than are expected", -c.left), access);
}

/// A copy, at its mbarrier.
void RingSearch::copy(PathHistory& h, std::uint32_t access, PathValue const& address) {
  std::int32_t const m = mbarrier_at(address, access, true);
  if (copy_at_ < 0 || m < 0) return fail(op(access) + " is not modelled", access);
  auto const to = static_cast<std::uint32_t>(copy_at_), index = static_cast<std::uint32_t>(m);
  copy_at_ = -1;
  mbarriers_[index].copies.insert(to);
  MbarrierCounts& c = h.of[index];
  if (sampling_) {
    if (copy_to_.constant()) mbarriers_[index].destinations.insert({copy_to_.least, to});
    return;
  }
  auto const ring_index = static_cast<std::size_t>(ring_of_[index]);
  Ring& ring = rings_[ring_index];
  std::uint64_t fills = 0;
  if (ring.full != index)
    breaks(ring, "a copy completes on the mbarrier of a stage that is empty: " + op(to), to);
  if (ring.broken.empty()) {
    auto const bytes = static_cast<std::int64_t>(places_.bytes_of(to));
    bool const next = passed(h, ring.empty) >= c.arrived;  // it is of the next arrival
    (next ? c.before : c.left) += next ? bytes : -bytes;
    if (c.left < 0) breaks(ring, "bulk copies bring more bytes than are expected: " + op(to), to);
    if (!next && passed(h, ring.empty) < c.arrived - 1)
      breaks(ring, "a copy is issued without a wait until its stage is empty: " + op(to), to);
    if (!copy_to_.constant())
      breaks(ring, "the destination of a copy is no constant on a path: " + op(to), to);
    if (bytes == 0) breaks(ring, "the box of a tensor is not known: " + op(to), to);
    fills = std::uint64_t{1} << ring_index;
    note_clashes(next ? c.next_copies : c.copies, to);
  }
  place(h, to, copy_to_, fills);
}

/// Notes a copy, and those of the same number and ring that it may meet.
void RingSearch::note_clashes(std::set<std::pair<std::uint32_t, std::uint64_t>>& copies,
                              std::uint32_t access) {
  for (auto const& [other, to] : copies)
    if (copy_to_.least < to + places_.bytes_of(other) && to < copy_to_.least + places_.bytes_of(access))
      clashes_.insert({other, access}), clashes_.insert({access, other});
  copies.insert({access, copy_to_.least});
}

void RingSearch::waited(PathHistory& h, std::uint32_t access, PathValue const& address,
                        PathValue const& parity) {
  if (!obstacle_.empty()) return;
  std::int32_t const m = mbarrier_at(address, access, false);
  if (m < 0 || op(access).find(".relaxed") != std::string::npos) return;
  h.last = m;
  if (!parity.constant()) return;
  auto const index = static_cast<std::uint32_t>(m);
  if (!sampling_ && !rings_[static_cast<std::size_t>(ring_of_[index])].broken.empty()) return;
  MbarrierCounts& c = h.of[index];
  if ((c.passed & 1) == static_cast<std::int64_t>(parity.least & 1)) ++c.passed;
  normalise(h);
}

void RingSearch::order(PathHistory& h, CopyOrder const& o) {
  auto const of_group = [&](PathPending const& p) {
    return group_of(program_.accesses[p.access]) == o.group;
  };
  if (o.commit) {
    for (PathPending& p : h.pending)
      if (of_group(p)) p.commits = std::min(p.commits + 1, most_pending_commits);
    return;
  }
  std::erase_if(h.pending, [&](PathPending const& p) {
    return of_group(p) && (o.pending == CopyOrder::all || p.commits > o.pending);
  });
}

/// Takes away what all counts of a ring have in common; a lower bound may be less, by two, which keeps its parity.
void RingSearch::normalise(PathHistory& h) const {
  if (sampling_) return;
  for (Ring const& ring : rings_) {
    auto const full = h.of.find(ring.full);
    auto const empty = ring.empty < 0 ? h.of.end() : h.of.find(static_cast<std::uint32_t>(ring.empty));
    MbarrierCounts none;
    MbarrierCounts& f = full == h.of.end() ? none : full->second;
    MbarrierCounts& e = empty == h.of.end() ? none : empty->second;
    if (!ring.broken.empty()) {
      for (MbarrierCounts* const one : {&f, &e}) *one = MbarrierCounts{.initialised = one->initialised};
      continue;
    }
    auto const reduce = [](std::int64_t& passed, std::int64_t& arrived) {
      std::int64_t const both = std::min(passed, arrived) / 2 * 2;
      passed -= both, arrived -= both;
      while (passed > arrived + 2) passed -= 2;
    };
    reduce(f.passed, e.arrived);
    reduce(e.passed, f.arrived);
  }
}

std::uint64_t RingSearch::held(PathHistory const& h) const {
  std::uint64_t out = 0;
  for (std::size_t r = 0; r < rings_.size(); ++r)
    if (rings_[r].broken.empty() &&
        passed(h, static_cast<std::int32_t>(rings_[r].full)) > arrived(h, rings_[r].empty))
      out |= std::uint64_t{1} << r;
  return out;
}

std::uint64_t RingSearch::filled(PathHistory const& h) const {
  std::uint64_t out = 0;
  for (std::size_t r = 0; r < rings_.size(); ++r)
    if (rings_[r].broken.empty() &&
        passed(h, rings_[r].empty) >= arrived(h, static_cast<std::int32_t>(rings_[r].full)))
      out |= std::uint64_t{1} << r;
  return out;
}

/// Rings whose stage may hold a place. If copies fill the stage, it has their destinations alone.
std::uint64_t RingSearch::may_hold(std::uint32_t access, StagePlace const& place) const {
  std::uint64_t out = 0;
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    auto const& copies = mbarriers_[rings_[r].full].destinations;
    bool const meets = std::any_of(copies.begin(), copies.end(), [&](auto const& copy) {
      StagePlace const stage{copy.first, copy.first, 0, 0};
      // A copy from shared memory that begins outside stages ends there: find_stored_boxes().
      if (accesses_[access].tensor)
        return place.most >= copy.first && place.least < copy.first + places_.bytes_of(copy.second);
      return !places_.disjoint(access, place, copy.second, stage);
    });
    if (copies.empty() || meets) out |= std::uint64_t{1} << r;
  }
  return out;
}

/// Notes where an access may be, and what its thread has then.
void RingSearch::place(PathHistory& h, std::uint32_t access, PathValue const& address, std::uint64_t fills) {
  if (sampling_) return;
  SharedAccess const& s = accesses_[access];
  StagePlace out{address.least, address.most, held(h), s.role == RaceRole::read ? 0 : fills};
  if (is_copy(access)) out.holds = 0;
  if (s.tile) {
    program::Step step;
    step.width = 64, step.action = program::Action::bit_and;
    PathValue const start = result_on_path(step, address, path_number(0x3fff), {});
    out.least = start.least << 4, out.most = start.most << 4;
  }
  out.holds &= may_hold(access, out);
  if (!places_.add(access, out)) fail("an access has too many places", access);
  if (group(access) == Group::none || is_copy(access) || (out.holds | out.fills) == 0) return;
  // One that was executed later is complete no earlier: it stands for the others.
  std::erase_if(h.pending, [&](PathPending const& p) {
    return p.access == access && p.holds == out.holds && p.fills == out.fills;
  });
  PathPending const one{access, 0, out.holds, out.fills};
  auto const key = [](PathPending const& p) { return std::tie(p.access, p.commits, p.holds, p.fills); };
  h.pending.insert(
      std::lower_bound(h.pending.begin(), h.pending.end(), one,
                       [&](PathPending const& a, PathPending const& b) { return key(a) < key(b); }),
      one);
}

// ------------------------------------------------------------------------------------- rings

/// True if all arrivals that were seen keep premises 2 and 3.
bool RingSearch::holds_for_samples(std::uint32_t full, std::uint32_t empty) const {
  auto const of = [](Arrival const& a, std::uint32_t m) {
    auto const at = a.passed.find(m);
    return at == a.passed.end() ? 0 : at->second;
  };
  return std::all_of(samples_.begin(), samples_.end(), [&](Arrival const& a) {
    return (a.at != full || of(a, empty) >= a.number) && (a.at != empty || of(a, full) > a.number);
  });
}

/// Pairs an mbarrier with the one for which threads wait before they arrive at it.
void RingSearch::find_rings() {
  std::vector<std::set<std::int32_t>> partners(mbarriers_.size());
  for (Arrival const& a : samples_)
    if (a.last >= 0 && a.last != static_cast<std::int32_t>(a.at)) partners[a.at].insert(a.last);
  ring_of_.assign(mbarriers_.size(), -1);
  auto const add = [&](std::uint32_t full, std::int32_t empty) {
    ring_of_[full] = static_cast<std::int32_t>(rings_.size());
    if (empty >= 0) ring_of_[static_cast<std::size_t>(empty)] = ring_of_[full];
    rings_.push_back({full, empty, {}, 0});
  };
  for (bool const of_copies : {true, false})
    for (std::uint32_t m = 0; m < mbarriers_.size(); ++m) {
      if (ring_of_[m] >= 0 || mbarriers_[m].copies.empty() == of_copies) continue;
      std::set<std::int32_t> fitting;
      for (std::int32_t const p : partners[m])
        if (ring_of_[static_cast<std::size_t>(p)] < 0 &&
            mbarriers_[static_cast<std::size_t>(p)].copies.empty() &&
            !mbarriers_[static_cast<std::size_t>(p)].arrivals.empty() &&
            holds_for_samples(m, static_cast<std::uint32_t>(p)))
          fitting.insert(p);
      if (fitting.size() == 1) add(m, *fitting.begin());
    }
  for (std::uint32_t m = 0; m < mbarriers_.size(); ++m)
    if (ring_of_[m] < 0) add(m, -1);
}

// ------------------------------------------------------------------------------------- answers

std::uint64_t RingSearch::unbroken(std::uint64_t rings) const {
  for (std::size_t r = 0; r < rings_.size(); ++r)
    if (!rings_[r].broken.empty()) rings &= ~(std::uint64_t{1} << r);
  return rings;
}

/// Rings whose stage one thread fills: its copies of different numbers are ordered.
std::uint64_t RingSearch::of_one_thread(std::uint64_t rings) const {
  for (std::size_t r = 0; r < rings_.size(); ++r)
    if (mbarriers_[rings_[r].full].count != std::uint64_t{1}) rings &= ~(std::uint64_t{1} << r);
  return rings;
}

/// True if a stage is released by one that holds it and by one that fills it: no tcgen05.commit arrives for accesses that it does not track, and
/// no generic write is before the copy that fills the stage again, which is of the asynchronous proxy, and a proxy fence is between a generic write and
/// the arrival for those that read by the asynchronous proxy.
bool RingSearch::releases(Ring const& ring, std::uint32_t holder, std::uint32_t filler) const {
  auto const is_generic = [&](std::uint32_t access) { return !is_async_proxy(group(access)); };
  auto const committed = [&](std::uint32_t m, std::uint32_t access) {
    std::set<std::uint32_t> const& all = mbarriers_[m].arrivals;
    return is_generic(access) && std::any_of(all.begin(), all.end(), [&](auto a) { return is_commit(a); });
  };
  if (is_generic(holder) && !is_generic(filler) && accesses_[holder].role != RaceRole::read) return false;
  if (!is_generic(holder) && unfenced_.count(filler) != 0) return false;
  return !committed(ring.full, filler) &&
         (ring.empty < 0 || !committed(static_cast<std::uint32_t>(ring.empty), holder));
}

bool RingSearch::orders(std::uint32_t a, std::uint32_t b) {
  if (is_barrier(a) != is_barrier(b)) return places_.apart(a, b);  // no stage holds mbarriers
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> uses;
  for (StagePlace const& x : places_.of(a))
    for (StagePlace const& y : places_.of(b)) {
      if (places_.disjoint(a, x, b, y)) continue;
      std::uint64_t const held_by_a = x.holds & ~lost_holds_[a] & y.fills & ~lost_fills_[b];
      std::uint64_t const held_by_b = y.holds & ~lost_holds_[b] & x.fills & ~lost_fills_[a];
      std::uint64_t const of_a = unbroken(held_by_a), of_b = unbroken(held_by_b);
      if ((of_a | of_b) == 0) {
        std::uint64_t const both = is_copy(a) && is_copy(b) && clashes_.count({a, b}) == 0
                                       ? of_one_thread(unbroken(x.fills & y.fills))
                                       : 0;
        if (both == 0) return false;
        auto const ring = static_cast<std::uint32_t>(std::countr_zero(both));
        uses.insert({ring, a, false}), uses.insert({ring, b, false});
        continue;
      }
      bool const first = of_a != 0;
      auto const ring = static_cast<std::uint32_t>(std::countr_zero(first ? of_a : of_b));
      if (!releases(rings_[ring], first ? a : b, first ? b : a)) return false;
      uses.insert({ring, a, first}), uses.insert({ring, b, !first});
    }
  used_.merge(uses);
  return true;
}

std::string RingSearch::doubt(std::uint32_t& line) const {
  for (Ring const& r : rings_)
    if (!r.broken.empty()) return line = r.line, r.broken;
  return {};
}

std::vector<Rings::Crowd> RingSearch::crowds() const {
  std::vector<Rings::Crowd> out;
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    Ring const& ring = rings_[r];
    bool const used =
        std::any_of(used_.begin(), used_.end(), [&](auto const& u) { return std::get<0>(u) == r; });
    if (!used) continue;
    for (bool const full : {true, false}) {
      if (!full && ring.empty < 0) continue;
      Mbarrier const& m = mbarriers_[full ? ring.full : static_cast<std::uint32_t>(ring.empty)];
      Rings::Crowd crowd{m.count.value_or(0), m.arrivals, m.arrivals, {}};
      crowd.accesses.insert(m.copies.begin(), m.copies.end());
      crowd.accesses.insert(m.expects.begin(), m.expects.end());
      for (auto const& [of, access, holds] : used_)
        if (of == r && holds != full)
          (group(access) == Group::wgmma ? crowd.of_warpgroups : crowd.accesses).insert(access);
      out.push_back(std::move(crowd));
    }
  }
  return out;
}

// ------------------------------------------------------------------------------------- Rings

Rings::Rings(Program const& program, program::Flow const& flow, execution::Execution const& execution,
             BlockShapes const& shapes, std::vector<SharedAccess> const& accesses,
             std::vector<CopyOrder> const& orders, std::uint64_t end, std::set<std::uint32_t> unfenced)
    : search_(std::make_unique<RingSearch>(
          program, ThreadPaths(program, flow, execution, shapes, accesses, orders),
          RingPlaces(program, execution, shapes, accesses, end), accesses, std::move(unfenced))) {}
Rings::~Rings() = default;
std::string Rings::find(std::uint32_t& line) { return search_->find(line); }
std::map<std::uint32_t, std::uint32_t> const& Rings::boxes() const { return search_->places().boxes(); }
bool Rings::orders(std::uint32_t a, std::uint32_t b) { return search_->orders(a, b); }
bool Rings::apart(std::uint32_t a, std::uint32_t b) const { return search_->places().apart(a, b); }
std::string Rings::doubt(std::uint32_t& line) const { return search_->doubt(line); }
std::vector<std::string> Rings::assumed() const { return search_->places().assumed(); }
std::vector<Rings::Crowd> Rings::crowds() const { return search_->crowds(); }

}  // namespace swizproof::kernel_detail
