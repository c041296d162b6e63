#include "learn/learn.hpp"

#include "campaign/pattern.hpp"

#include <swizproof/hardware/timing.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace swizproof::gpu {
namespace {

/// Why the learner stops.
struct Stop {
  Learned outcome;
  std::string reason;
};

constexpr unsigned attempts = 7;        ///< attempts of each measurement
constexpr unsigned more_attempts = 40;  ///< attempts if the first ones do not agree
constexpr unsigned candidates = 400;    ///< random patterns from which the most telling one is chosen
constexpr unsigned most_examples = 8;
constexpr std::uint32_t odd_lanes = 0xaaaaaaaa;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string plural(std::uint64_t n, std::string const& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string words_of(Reading r) {
  return r.least == r.most ? std::to_string(r.least)
                           : std::to_string(r.least) + " to " + std::to_string(r.most);
}

class Learner {
 public:
  Learner(DeviceUnderTest const& device, std::uint64_t patterns, std::uint64_t seed)
      : device_(device), patterns_(patterns), seed_(seed) {
    row_ = 1;
    while (row_ * 2 * warp_lanes <= device.span) row_ *= 2;
  }

  Findings run() {
    try {
      calibrate();
      find_banks();
      for (InstructionName const& known : instruction_names)
        if (device_.has(known.instruction)) rows_.push_back(find_phases(known.instruction));
      settle_idle();
      fill_table();
      try_random();
    } catch (Stop const& stop) {
      found_.outcome = stop.outcome;
      found_.reason = stop.reason;
    }
    return std::move(found_);
  }

 private:
  struct Row {
    Instruction instruction;
    Phase phase;
    std::optional<bool> pays_idle;  ///< empty: nothing shows it
  };

  // ------------------------------------------------------------------------------------ measuring

  /// The numbers of wavefronts that may take so long (H12).
  [[nodiscard]] Reading reading_of(Instruction i, double cycles) const {
    Reading r;
    double const eighths = 8 * cycles / found_.unit;
    for (unsigned w = 1; w <= 2 * warp_lanes; ++w) {
      Eighths const time = eighths_of(i.operation, static_cast<int>(w));
      if (eighths < time.first || eighths >= time.end) continue;
      if (r.least == 0) r.least = w;
      r.most = w;
    }
    return r;
  }

  /// How many of these times are near the shortest, as near as one number of wavefronts leaves them (H12). Sorts them.
  std::size_t agreeing(Instruction i, std::vector<double>& times) const {
    std::sort(times.begin(), times.end());
    double const near = found_.unit == 0 ? 0.05 * times.front() : farthest_above(i) * found_.unit;
    return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), times.front() + near) -
                                    times.begin());
  }
  static double farthest_above(Instruction i) { return i.operation == Operation::cp_async ? 1.25 : 0.875; }

  /// The time of each pattern: the shortest of several, which most of them must be near.
  std::vector<double> times_of(Instruction i, std::vector<Probe> const& probes) {
    std::vector<Probe> repeated;
    for (unsigned attempt = 0; attempt < attempts; ++attempt)
      repeated.insert(repeated.end(), probes.begin(), probes.end());
    std::vector<double> const all = device_.cycles(i, repeated);
    std::vector<double> out;
    for (std::size_t p = 0; p < probes.size(); ++p) {
      std::vector<double> times;
      for (std::size_t at = p; at < all.size(); at += probes.size()) times.push_back(all[at]);
      if (2 * agreeing(i, times) <= times.size()) {
        times = device_.cycles(i, std::vector<Probe>(more_attempts, probes[p]));
        std::size_t const agree = agreeing(i, times);
        if (2 * agree <= times.size())
          throw Stop{Learned::unclear, std::string(name(i)) + ": of " + std::to_string(times.size()) +
                                           " measurements of one pattern only " + std::to_string(agree) +
                                           " are near the shortest (" + number(times.front()) +
                                           " cycles, the longest " + number(times.back()) +
                                           "): the clock does not repeat itself"};
      }
      out.push_back(times.front());
    }
    return out;
  }
  double time_of(Instruction i, Probe const& probe) { return times_of(i, {probe})[0]; }

  Experiment measure(std::string shows, Instruction i, Probe const& probe) {
    return read(std::move(shows), i, probe, time_of(i, probe));
  }
  std::vector<Experiment> measure_all(Instruction i, std::vector<Probe> const& probes) {
    std::vector<double> const times = times_of(i, probes);
    std::vector<Experiment> all;
    for (std::size_t p = 0; p < probes.size(); ++p)
      all.push_back(read(title(i) + "a pattern", i, probes[p], times[p]));
    return all;
  }

  Experiment read(std::string shows, Instruction i, Probe const& probe, double cycles) {
    Experiment e{std::move(shows), i, probe, cycles, reading_of(i, cycles)};
    if (e.reading.most == 0) {
      found_.counterexample = e;
      throw Stop{Learned::not_explained, e.shows + ": " + number(e.cycles) +
                                             " cycles are no number of wavefronts of " + number(found_.unit) +
                                             " cycles"};
    }
    return e;
  }
  void keep(Experiment e) { found_.experiments.push_back(std::move(e)); }

  [[noreturn]] void beyond(Experiment const& e, std::string const& expected) {
    found_.counterexample = e;
    throw Stop{Learned::not_explained,
               e.shows + ": " + words_of(e.reading) + ", where the cost model's form gives " + expected};
  }

  // ------------------------------------------------------------------------------------ patterns

  /// Every lane in a row of its own; those of `further` d bytes further.
  [[nodiscard]] Probe rows(Instruction i, std::uint32_t further = 0, std::uint32_t d = 0) const {
    Probe p;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      p.address[l] = l * row_ + ((further >> l & 1) != 0 ? d : 0);
      if (l >= i.lanes()) p.address[l] = 0;
    }
    return p;
  }

  // ------------------------------------------------------------------------------------ clock

  void calibrate() {
    Instruction const i = instruction_names[2].instruction;  // ld.shared.b32
    if (!device_.has(i)) throw Stop{Learned::unclear, "the device has no ld.shared.b32"};
    auto const lanes_alone = [&](unsigned k) {
      Probe p = rows(i);
      p.active = k >= warp_lanes ? 0xffffffff : (1U << k) - 1;
      return p;
    };
    // Warps that all have idle lanes may cost a little more than full ones.
    std::vector<double> const times = times_of(i, {lanes_alone(8), lanes_alone(24), lanes_alone(12),
                                                   lanes_alone(28), lanes_alone(14), lanes_alone(30)});
    std::array<double, 3> slopes{(times[1] - times[0]) / 16, (times[3] - times[2]) / 16,
                                 (times[5] - times[4]) / 16};
    std::sort(slopes.begin(), slopes.end());
    if (times[1] < 1.5 * times[0])
      throw Stop{Learned::not_explained, "24 lanes in rows of " + std::to_string(row_) + " bytes take " +
                                             number(times[1]) + " cycles, 8 lanes " + number(times[0]) +
                                             ": rows do not lie in one bank, or nothing conflicts"};
    // A wavefront takes a whole number of quarters of a cycle: what is that near is that.
    found_.unit = slopes[1];
    double const quarters = std::round(4 * found_.unit) / 4;
    if (quarters != 0 && std::abs(found_.unit - quarters) < 0.02 * quarters) found_.unit = quarters;
    for (unsigned const k : {32U, 24U, 16U, 12U, 1U}) {
      Experiment e = measure(plural(k, "lane") + ", each in a row of one bank", i, lanes_alone(k));
      if (k != 1 && !e.reading.may_be(k)) {
        found_.counterexample = e;
        throw Stop{Learned::not_explained, e.shows + ": " + number(e.cycles) +
                                               " cycles, though from 8 to 30 lanes each takes " +
                                               number(found_.unit) + " more"};
      }
      if (k == 32 || k == 1) keep(e);
    }
  }

  // ------------------------------------------------------------------------------------ banks

  /// Half of the lanes of every phase, as far as the times show: 16 wavefronts if these lanes lie d further.
  [[nodiscard]] std::optional<std::uint32_t> halves(Instruction i, std::uint32_t d) {
    std::vector<std::uint32_t> sets;
    for (unsigned mask = 1; mask < warp_lanes; ++mask) {
      std::uint32_t set = 0;
      for (unsigned l = 0; l < warp_lanes; ++l)
        set |= static_cast<std::uint32_t>(__builtin_parity(l & mask)) << l;
      sets.push_back(set);
    }
    std::stable_sort(sets.begin(), sets.end(),
                     [](auto a, auto b) { return (a == odd_lanes) > (b == odd_lanes); });
    unsigned const half = i.lanes() / 2;
    for (std::uint32_t const set : sets)
      if (reading_of(i, time_of(i, rows(i, set, d))).may_be(half)) return set;
    // Lane by lane: one that makes it cheaper stays.
    std::uint32_t set = 0;
    double before = time_of(i, rows(i));
    for (unsigned l = 0; l < i.lanes(); ++l) {
      double const with = time_of(i, rows(i, set | 1U << l, d));
      if (with < before - 0.5 * found_.unit) set |= 1U << l, before = with;
    }
    if (reading_of(i, before).may_be(half)) return set;
    return std::nullopt;
  }

  void find_banks() {
    Instruction const i = instruction_names[0].instruction;  // ld.shared.b8: the finest addresses
    if (!device_.has(i)) throw Stop{Learned::unclear, "the device has no ld.shared.b8"};
    std::optional<std::uint32_t> set;
    for (std::uint32_t d = row_ / 2; d != 0 && !set; d /= 2)
      if (reading_of(i, time_of(i, rows(i, odd_lanes, d))).may_be(warp_lanes / 2)) set = odd_lanes;
    for (std::uint32_t d = row_ / 2; d != 0 && !set; d /= 2) set = halves(i, d);
    if (!set) {
      Experiment const e =
          measure("ld.shared.b8: the odd lanes " + std::to_string(row_ / 2) + " bytes further", i,
                  rows(i, odd_lanes, row_ / 2));
      beyond(e, "16 for some distance: there is one bank, or each lane is served alone");
    }
    std::uint32_t first = 0, end = 0;
    for (std::uint32_t d = 1; d <= row_ / 2; d *= 2) {
      Experiment e = measure("", i, rows(i, *set, d));
      bool const other = e.reading.may_be(warp_lanes / 2), same = e.reading.may_be(warp_lanes);
      e.shows = "half of the lanes " + plural(d, "byte") + " further: in " +
                (other ? "other banks" : "the same bank");
      if (other == same || (end != 0 && other))
        beyond(e, "32, or 16 from a bank's width up to a row of all banks");
      if (other && first == 0) first = d;
      if (same && first != 0 && end == 0) end = d;
      bool const edge = d == first || d == end || 2 * d == row_;
      if (edge || (first == 0 && d == 2) || (end == 0 && d >= 32)) keep(e);
    }
    if (end == 0)
      throw Stop{Learned::unclear, "banks repeat after more than " + std::to_string(row_ / 2) +
                                       " bytes, farther than this device's memory lets the experiment reach"};
    found_.banks = {end / first, first};
    if (found_.banks.count > most_banks || found_.banks.bytes > 32 || found_.banks.row() < 16)
      throw Stop{Learned::not_explained,
                 std::to_string(found_.banks.count) + " banks of " + std::to_string(found_.banks.bytes) +
                     " bytes: the cost model counts up to 64 of up to 32, of 16 in all at least"};
  }

  // ------------------------------------------------------------------------------------ phases

  Row find_phases(Instruction i) {
    Row row{i, {}, {}};
    group(row);
    find_counting(row);
    find_merging(row);
    find_idle(row);
    return row;
  }

  std::string title(Instruction i) const { return std::string(name(i)) + ": "; }

  void group(Row& row) {
    Instruction const i = row.instruction;
    unsigned const n = i.lanes(), half = n / 2;
    std::uint32_t const d = std::max(i.bytes, found_.banks.bytes);
    Experiment const all = measure(title(i) + plural(n, "lane") + ", each in a row of one bank", i, rows(i));
    if (!all.reading.may_be(n)) beyond(all, std::to_string(n));
    std::optional<std::uint32_t> const set = halves(i, d);
    if (!set) {
      Experiment const e = measure(title(i) + "the odd lanes a bank further", i, rows(i, odd_lanes, d));
      beyond(e, std::to_string(half) + " for one half of the lanes or another");
    }
    // Lanes i of the set and j of the others change sides.
    std::array<unsigned, warp_lanes> phase{};
    for (unsigned l = 0; l < n; ++l) phase[l] = l;
    std::optional<Experiment> together, apart;
    std::array<std::array<bool, warp_lanes>, warp_lanes> same{};
    std::vector<Probe> swapped;
    for (unsigned a = 0; a < n; ++a)
      for (unsigned b = 0; b < n; ++b)
        if ((*set >> a & 1) != 0 && (*set >> b & 1) == 0)
          swapped.push_back(rows(i, (*set & ~(1U << a)) | 1U << b, d));
    std::vector<Experiment> const changes = measure_all(i, swapped);
    std::size_t next = 0;
    for (unsigned a = 0; a < n; ++a)
      for (unsigned b = 0; b < n; ++b) {
        if ((*set >> a & 1) == 0 || (*set >> b & 1) != 0) continue;
        Experiment e = changes[next++];
        bool const one = e.reading.may_be(half), two = e.reading.may_be(half + 2);
        e.shows = title(i) + "lanes " + std::to_string(std::min(a, b)) + " and " +
                  std::to_string(std::max(a, b)) + " change sides: " + (one ? "one phase" : "two phases");
        if (one == two) beyond(e, std::to_string(half) + " or " + std::to_string(half + 2));
        same[a][b] = same[b][a] = one;
        if (one) together = e;
        if (!one && !apart) apart = e;
        if (one) {
          unsigned const from = phase[b], to = phase[a];
          for (unsigned& p : phase)
            if (p == from) p = to;
        }
      }
    for (unsigned a = 0; a < n; ++a)
      for (unsigned b = 0; b < n; ++b)
        if (((*set >> a & 1) != 0) != ((*set >> b & 1) != 0) && same[a][b] != (phase[a] == phase[b])) {
          Experiment const e = measure(title(i) + "lanes " + std::to_string(a) + " and " + std::to_string(b) +
                                           " are served together through others, and not by themselves",
                                       i, rows(i, (*set & ~(1U << a)) | 1U << b, d));
          beyond(e, "phases that share no lanes");
        }
    std::map<unsigned, std::vector<unsigned>> groups;  // by the lowest lane
    for (unsigned l = 0; l < n; ++l)
      groups[static_cast<unsigned>(std::find(phase.begin(), phase.begin() + n, phase[l]) - phase.begin())]
          .push_back(l);
    set_order(row, groups_of(groups));
    unsigned const size = row.phase.lanes;
    for (auto const& [first, lanes] : groups)
      if (lanes.size() != size) {
        Experiment e = all;
        e.shows = title(i) + "phases of " + std::to_string(size) + " and of " + std::to_string(lanes.size()) +
                  " lanes";
        beyond(e, "phases of one size");
      }
    if (n / size > most_phases) {
      Experiment e = all;
      e.shows = title(i) + plural(n / size, "phase");
      beyond(e, "at most " + std::to_string(most_phases));
    }
    if (together) keep(*together);
    if (apart) keep(*apart);
  }

  static std::vector<std::vector<unsigned>> groups_of(
      std::map<unsigned, std::vector<unsigned>> const& by_lowest) {
    std::vector<std::vector<unsigned>> all;
    for (auto const& [lowest, lanes] : by_lowest) all.push_back(lanes);
    return all;
  }

  static void set_order(Row& row, std::vector<std::vector<unsigned>> const& groups) {
    row.phase.lanes = static_cast<unsigned>(groups[0].size());
    unsigned place = 0;
    for (auto const& lanes : groups)
      for (unsigned const lane : lanes) row.phase.order[place++] = static_cast<std::uint8_t>(lane);
    while (place < warp_lanes) row.phase.order[place] = static_cast<std::uint8_t>(place), ++place;
    row.phase.in_order = true;
    for (unsigned l = 0; l < warp_lanes; ++l) row.phase.in_order &= row.phase.order[l] == l;
  }

  /// Cost by a table with this row alone.
  [[nodiscard]] unsigned costs(Phase const& phase, Instruction i, Probe const& probe) const {
    PhaseTable table{};
    for (auto& widths : table)
      for (Phase& p : widths) p = phase;
    return cost(phases_alone(&table, found_.banks), i, probe.access(i)).wavefronts;
  }

  // ------------------------------------------------------------------------------------ equal words

  void find_counting(Row& row) {
    Instruction const i = row.instruction;
    unsigned const n = i.lanes(), phases = n / row.phase.lanes;
    Probe one;
    Experiment all = measure(title(i) + "all lanes at one address", i, one);
    bool const by_lane = all.reading.may_be(n) && row.phase.lanes > 1;
    row.phase.by_lane = by_lane;
    all.shows += by_lane ? ": each counts" : ": they count once";
    if (!by_lane && all.reading.least > phases)
      beyond(all, std::to_string(phases) + " (or fewer), or " + std::to_string(n));
    keep(all);
    if (by_lane) return;
    Probe two;  // words of one bank, each wanted by lanes of every phase
    for (unsigned place = 0; place < warp_lanes; ++place)
      two.address[row.phase.order[place]] = place % 2 * row_;
    Experiment e = measure(title(i) + "lanes at two words of one bank, by turns", i, two);
    if (e.reading.least > 2 * phases)
      beyond(e, std::to_string(2 * phases) + " or fewer: each word counts once");
    keep(e);
    if (i.bytes >= found_.banks.bytes || i.matrices != 0) return;
    Probe parts;
    for (unsigned l = 0; l < warp_lanes; ++l) parts.address[l] = l * i.bytes % found_.banks.bytes;
    e = measure(title(i) + "lanes at the parts of one word: they count once", i, parts);
    if (e.reading.least > phases) beyond(e, std::to_string(phases));
    keep(e);
  }

  // ------------------------------------------------------------------------------------ merging

  /// A random pattern in which lanes l and l^p have one address.
  [[nodiscard]] Probe paired(Instruction i, unsigned p, std::uint64_t draw) const {
    std::uint32_t const unit = std::max(i.bytes, found_.banks.bytes), slots = found_.banks.row() / unit;
    std::uint32_t const few = 1 + static_cast<std::uint32_t>(random(seed_, draw, 40)) % slots;
    Probe probe;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      std::uint64_t const r = random(seed_, draw, l & ~p);
      probe.address[l] = static_cast<std::uint32_t>(r >> 40) % warp_lanes * row_ +
                         static_cast<std::uint32_t>(r) % few * unit;
    }
    return probe;
  }

  /// The ways in which phases may be served two, or four, at a time.
  [[nodiscard]] static std::vector<Phase> mergings(Phase const& apart, unsigned lanes) {
    std::vector<Phase> all{apart};
    unsigned const phases = lanes / apart.lanes;
    std::vector<std::vector<unsigned>> orders;
    if (phases == 4)
      orders = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
    else if (phases == 2 || phases == 8)
      orders = {{0, 1, 2, 3, 4, 5, 6, 7}};
    for (unsigned const times : {2U, 4U, 8U})
      for (auto const& order : orders) {
        if (times > phases || (times == phases && &order != &orders[0])) continue;
        Phase merged = apart;
        merged.merged_lanes = times * apart.lanes;
        merged.partners = warp_lanes - 1;
        for (unsigned place = 0; place < lanes; ++place)
          merged.order[place] = apart.order[order[place / apart.lanes] * apart.lanes + place % apart.lanes];
        merged.in_order = true;
        for (unsigned l = 0; l < warp_lanes; ++l) merged.in_order &= merged.order[l] == l;
        all.push_back(merged);
      }
    return all;
  }

  /// The pattern of lanes paired under p whose cost differs most among the candidates.
  [[nodiscard]] Probe most_telling(Instruction i, unsigned p, std::vector<Phase> const& ways) const {
    Probe best;
    int best_apart = -1;
    for (unsigned c = 0; c < candidates; ++c) {
      Probe const probe = paired(i, p, p * candidates + c);
      std::vector<int> says;
      for (Phase const& way : ways) says.push_back(static_cast<int>(costs(way, i, probe)));
      // First: do phases merge? Then: which of them? Pairs of lanes of two phases do not tell all ways apart.
      int merged = 1000, ways_apart = 0;
      for (std::size_t a = 1; a < says.size(); ++a) {
        merged = std::min(merged, std::abs(says[a] - says[0]));
        for (std::size_t b = 1; b < a; ++b) ways_apart += says[a] != says[b] ? 1 : 0;
      }
      int const apart = std::min(merged, 3) * 1000 + ways_apart;
      if (apart > best_apart) best = probe, best_apart = apart;
    }
    return best;
  }

  void find_merging(Row& row) {
    Instruction const i = row.instruction;
    if (row.phase.by_lane || row.phase.lanes == i.lanes() || i.lanes() < warp_lanes) return;
    std::vector<Phase> ways = mergings(row.phase, i.lanes());
    unsigned partners = 0;
    std::vector<std::size_t> left;  // ways that explain all pairs that merge
    for (std::size_t w = 1; w < ways.size(); ++w) left.push_back(w);
    for (unsigned p = 1; p < warp_lanes; p *= 2) {
      Experiment e = measure("", i, most_telling(i, p, ways));
      auto const gives = [&](std::size_t w) { return e.reading.may_be(costs(ways[w], i, e.probe)); };
      bool const apart = gives(0);
      std::vector<std::size_t> merging;
      for (std::size_t w = 1; w < ways.size(); ++w)
        if (gives(w)) merging.push_back(w);
      std::string const lanes = title(i) + "lanes l and l^" + std::to_string(p) + " at one address: ";
      e.shows = lanes + "no way of merging phases gives this cost";
      if (apart == !merging.empty())
        beyond(e, std::to_string(costs(ways[0], i, e.probe)) + " if phases do not merge");
      e.shows = lanes + (apart ? "phases stay apart"
                               : "phases of " + std::to_string(ways[merging[0]].merged_lanes) + " lanes");
      if (!apart) {
        partners |= p;
        std::erase_if(left, [&](std::size_t w) { return !gives(w); });
        if (left.empty()) beyond(e, "the merging of the same phases for all pairs");
      }
      keep(e);
    }
    if (partners == 0) return;
    row.phase = ways[left[0]];
    row.phase.partners = partners;
    find_scope(row, partners);
  }

  /// True if the whole warp decides that phases merge: half of it paired, and halves paired in two ways.
  void find_scope(Row const& row, unsigned partners) {
    Instruction const i = row.instruction;
    unsigned const first = partners & (0 - partners);
    std::vector<std::pair<std::string, std::pair<unsigned, unsigned>>> asked{
        {"half of the lanes paired, the others not", {first, 0}}};
    if (unsigned const other = partners & ~first; other != 0)
      asked.push_back({"one half of the lanes paired with l^" + std::to_string(first) +
                           ", the other half with l^" + std::to_string(other & (0 - other)),
                       {first, other & (0 - other)}});
    for (auto const& [what, bits] : asked) {
      Probe best;
      int best_apart = -1;
      for (unsigned c = 0; c < candidates; ++c) {
        Probe const low = paired(i, bits.first, 9000 + c), high = paired(i, bits.second, 9000 + c);
        Probe probe;
        for (unsigned l = 0; l < warp_lanes; ++l)
          probe.address[l] = (l < warp_lanes / 2 ? low : high).address[l];
        unsigned const says = costs(row.phase, i, probe);
        Phase always = row.phase;  // as if the warp were paired
        always.lanes = always.merged_lanes;
        int const apart_by = std::abs(static_cast<int>(says) - static_cast<int>(costs(always, i, probe)));
        if (apart_by > best_apart) best = probe, best_apart = apart_by;
      }
      Experiment e = measure(title(i) + what + ": phases stay apart", i, best);
      unsigned const says = costs(row.phase, i, best);
      if (!e.reading.may_be(says)) beyond(e, std::to_string(says) + " if the whole warp decides");
      keep(e);
    }
  }

  // ------------------------------------------------------------------------------------ idle lanes

  void find_idle(Row& row) {
    Instruction const i = row.instruction;
    unsigned const phases = i.lanes() / row.phase.lanes;
    if (i.matrices != 0 || phases == 1) return;
    Probe some = rows(i);
    some.active = 0;
    for (unsigned place = 0; place < row.phase.lanes; ++place) some.active |= 1U << row.phase.order[place];
    Experiment e = measure(title(i) + "the lanes of one phase alone, each in a row of one bank", i, some);
    if (!e.reading.may_be(row.phase.lanes) && !e.reading.may_be(std::max(row.phase.lanes, phases)))
      beyond(e, std::to_string(row.phase.lanes));
    keep(e);
    // One lane has no partners: a load that merges at all merges then.
    unsigned const least = row.phase.merged_lanes == 0 ? phases : i.lanes() / row.phase.merged_lanes;
    std::optional<Experiment> shown;
    std::vector<Probe> lone(warp_lanes, rows(i));
    for (unsigned l = 0; l < warp_lanes; ++l) lone[l].active = 1U << l;
    std::vector<Experiment> const one_lane = measure_all(i, lone);
    for (unsigned l = 0; l < warp_lanes; ++l) {
      Experiment alone = one_lane[l];
      alone.shows = title(i) + "lane " + std::to_string(l) + " alone";
      bool const free = alone.reading.may_be(1), paid = alone.reading.may_be(phases);
      if (!free && !paid && !alone.reading.may_be(least)) beyond(alone, "1 or " + std::to_string(least));
      if (free && paid) continue;
      if (least == 1) continue;  // it merges into one phase: nothing is idle
      bool const pays = !free;
      if (row.pays_idle && *row.pays_idle != pays) beyond(alone, "the same for every lane");
      row.pays_idle = pays;
      alone.shows += pays ? ": idle phases take their turn" : ": idle phases cost nothing";
      if (!shown) shown = alone;
    }
    if (shown) {
      keep(*shown);
      return;
    }
    if (row.phase.merged_lanes == 0 || least != 1) return;
    // A lane and its partners, each elsewhere, keep the phases apart: one wavefront, or one a phase.
    auto const first_phase = row.phase.order.begin();
    auto const inside = [&](unsigned lane) {
      return std::find(first_phase, first_phase + row.phase.lanes, lane) != first_phase + row.phase.lanes;
    };
    for (unsigned place = 0; place < row.phase.lanes; ++place) {
      unsigned const lane = row.phase.order[place];
      Probe p;
      p.active = 1U << lane;
      bool all_inside = true;
      std::uint32_t slot = 0;
      for (unsigned bit = 1; bit < warp_lanes; bit *= 2) {
        if ((row.phase.partners & bit) == 0) continue;
        p.active |= 1U << (lane ^ bit);
        p.address[lane ^ bit] = ++slot * std::max(i.bytes, found_.banks.bytes);
        all_inside = all_inside && inside(lane ^ bit);
      }
      if (!all_inside) continue;
      Experiment few = measure(title(i) + "a lane and its partners alone, in banks of their own", i, p);
      bool const free = few.reading.may_be(1), paid = few.reading.may_be(phases);
      if (free == paid) beyond(few, "1 or " + std::to_string(phases));
      row.pays_idle = paid;
      few.shows += paid ? ": idle phases take their turn" : ": idle phases cost nothing";
      keep(few);
      return;
    }
  }

  /// Facts that the times do not show are taken from the other widths of the operation: where there is one phase, nothing is idle, and of
  /// cp.async less than three wavefronts look alike.
  void settle_idle() {
    for (Row& row : rows_) {
      std::optional<bool> pays = row.pays_idle;
      for (Row const& other : rows_)
        if (!pays && other.instruction.operation == row.instruction.operation) pays = other.pays_idle;
      row.phase.pays_idle = pays.value_or(true);
    }
  }

  // ------------------------------------------------------------------------------------ the table

  void fill_table() {
    for (Row const& row : rows_) {
      Instruction const i = row.instruction;
      if (i.matrices != 0 && i.matrices < 4) continue;  // of the widest form; the others are compared with it
      auto& widths = found_.phases[static_cast<std::size_t>(i.operation)];
      if (i.matrices != 0) {
        for (Phase& p : widths) hold(p, row.phase, i);
      } else {
        hold(widths[i.bytes <= 4 ? 0 : i.bytes == 8 ? 1 : 2], row.phase, i);
      }
    }
    for (Row const& row : rows_) {
      Phase const& wide = phase(found_.architecture(), row.instruction);
      unsigned const lanes = row.instruction.lanes(), expected = std::min(wide.lanes, lanes);
      if (row.phase.lanes != expected) {
        Experiment e =
            measure(title(row.instruction) + "phases of " + plural(row.phase.lanes, "lane"), row.instruction,
                    rows(row.instruction, odd_lanes, std::max(row.instruction.bytes, found_.banks.bytes)));
        beyond(e, "phases of " + plural(expected, "lane") + ", as for the widest form");
      }
    }
  }

  void hold(Phase& entry, Phase const& found, Instruction i) {
    if (entry.lanes == 0) entry = found;
    if (entry == found) return;
    Experiment e = measure(title(i) + "served otherwise than the others of its width", i, rows(i));
    beyond(e, "one table for instructions of up to 4 bytes");
  }

  // ------------------------------------------------------------------------------------ random patterns

  [[nodiscard]] bool explained(Instruction i, Probe const& probe) {
    return reading_of(i, time_of(i, probe))
        .may_be(cost(found_.architecture(), i, probe.access(i)).wavefronts);
  }

  Trial one_by_one() {
    Trial trial;
    std::vector<Instruction> instructions;
    for (Row const& row : rows_) instructions.push_back(row.instruction);
    for (std::uint64_t n = 0; n < patterns_; ++n) {
      Instruction const i = instructions[n % instructions.size()];
      auto const kind = static_cast<Kind>(n / instructions.size() % drawn_kinds);
      Pattern const drawn = draw(seed_, n, kind, i);
      Probe probe;
      probe.active = drawn.active;
      for (unsigned l = 0; l < warp_lanes; ++l) probe.address[l] = drawn.unit[l] * i.bytes;
      ++trial.patterns;
      if (explained(i, probe)) continue;
      ++trial.mismatches;
      if (trial.examples.size() < most_examples) trial.examples.push_back({i, probe});
    }
    return trial;
  }

  void try_random() {
    found_.trial =
        device_.try_random ? device_.try_random(found_.architecture(), found_.unit, patterns_) : one_by_one();
    found_.outcome = Learned::table;
    if (found_.trial.mismatches == 0) return;
    found_.outcome = Learned::not_explained;
    found_.reason = plural(found_.trial.mismatches, "pattern") + " of " +
                    std::to_string(found_.trial.patterns) + " cost something else";
    for (auto const& [i, probe] : found_.trial.examples) {
      if (explained(i, probe)) continue;
      Probe const small = smallest(i, probe);
      Experiment const e =
          measure(title(i) + "the smallest pattern found that the table does not explain", i, small);
      if (found_.counterexample && lanes_of(found_.counterexample->probe) <= lanes_of(small)) continue;
      found_.counterexample = e;
      found_.expected = cost(found_.architecture(), i, small.access(i)).wavefronts;
    }
  }

  static int lanes_of(Probe const& probe) { return __builtin_popcount(probe.active); }

  /// Fewer lanes, then lower addresses, as long as the table is wrong.
  [[nodiscard]] Probe smallest(Instruction i, Probe probe) {
    for (bool changed = true; changed;) {
      changed = false;
      auto const take = [&](Probe const& other) {
        if (explained(i, other)) return false;
        probe = other;
        return changed = true;
      };
      for (unsigned l = warp_lanes; i.matrices == 0 && l-- > 0;) {
        if ((probe.active >> l & 1) == 0 || lanes_of(probe) == 1) continue;
        Probe fewer = probe;
        fewer.active &= ~(1U << l);
        fewer.address[l] = 0;
        (void)take(fewer);
      }
      std::uint32_t lowest = ~0U;
      for (unsigned l = 0; l < i.lanes(); ++l)
        if ((probe.active >> l & 1) != 0) lowest = std::min(lowest, probe.address[l]);
      if (lowest != 0) {
        Probe lower = probe;
        for (unsigned l = 0; l < i.lanes(); ++l)
          if ((probe.active >> l & 1) != 0) lower.address[l] -= lowest;
        (void)take(lower);
      }
      for (unsigned l = 0; l < i.lanes(); ++l) {
        if ((probe.active >> l & 1) == 0 || probe.address[l] == 0) continue;
        Probe lower = probe;
        lower.address[l] = 0;
        if (take(lower)) continue;
        for (std::uint32_t bit = 1U << 15; bit >= i.bytes; bit /= 2) {
          if ((probe.address[l] & bit) == 0) continue;
          lower = probe;
          lower.address[l] &= ~bit;
          (void)take(lower);
        }
      }
    }
    return probe;
  }

  DeviceUnderTest const& device_;
  std::uint64_t patterns_, seed_;
  std::uint32_t row_ = 1024;  ///< bytes: the widest that 32 rows fit in
  std::vector<Row> rows_;
  Findings found_;
};

}  // namespace

Findings learn(DeviceUnderTest const& device, std::uint64_t patterns, std::uint64_t seed) {
  return Learner(device, patterns, seed).run();
}

}  // namespace swizproof::gpu
