#include "analysis/padding.hpp"

#include "analysis/shapes.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

// Why every start is searched by a few evaluations: an access costs the same if it moves by whole vectors and bank
// words. So accesses are shapes (lanes' offsets from such an address), and what a shape costs depends on how far behind a row's
// start it lies, modulo the pitch. As that distance grows, the rows of its lanes change only where a lane reaches the next row: at
// most once a lane and pitch. Between two such distances the cost is one number, which counts for a run of starts.

namespace swizproof {

namespace {

constexpr std::uint64_t most_work = std::uint64_t{1} << 22;    ///< evaluations of a shape, about
constexpr std::uint64_t most_totals = std::uint64_t{1} << 21;  ///< starts of all ranges at one pitch
constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

/// An address of a shape, and how often it ran there.
struct Occurrence {
  std::size_t range = 0;
  std::uint64_t address = 0;  ///< a multiple of the step and of a bank word
  std::uint64_t executed = 0;
};

/// Accesses that are each other's translations.
template <class W>
struct Shape {
  Instruction instruction{};
  WarpAccess<W> lanes{};  ///< offsets
  std::vector<Occurrence> occurrences{};
  std::uint64_t executed = 0;
  unsigned now = 0;    ///< wavefronts without padding
  unsigned least = 0;  ///< that any padding leaves
};

/// Rows of a shape's lanes as it moves behind a row's start, at one pitch.
struct Crossing {
  std::array<std::uint64_t, warp_lanes> row{};  ///< where the shape lies at the start
  std::array<std::uint64_t, warp_lanes>
      at{};  ///< steps from the start at which the lane is first in the next row, less than the pitch
  std::array<std::uint8_t, warp_lanes> order{};  ///< the active lanes by `at`
  unsigned lanes = 0;                            ///< active
};

/// From this many steps behind a row's start on, a shape costs so much.
struct Level {
  std::uint64_t from = 0;
  unsigned wavefronts = 0;
};

/// Lanes that touch memory, by the instruction.
bool takes_part(WeightedAccess const& a, unsigned lane) {
  return lane < a.instruction.lanes() && a.access.active[lane];
}

/// W: a word that holds every address with its padding.
template <class W>
class PaddingSearcher {
 public:
  PaddingSearcher(PaddingProblem const& problem, Architecture const& arch)
      : problem_(problem),
        arch_(arch),
        step_(problem.step),
        aligned_(std::max<std::uint64_t>(problem.step, arch.banks.bytes)) {
    for (ByteRange const& range : problem.ranges) {
      first_.push_back(range.begin / step_);
      longest_ = std::max(longest_, (range.end + step_ - 1) / step_ - first_.back());
    }
    collect();
    unsigned const row = arch.banks.row();
    out_.family = {problem.step, row > problem.step ? row - problem.step : 0, 0, {}, false};
  }

  PaddingSearch search() {
    std::vector<std::uint64_t> likely;
    for (std::uint64_t const pitch : problem_.likely)
      if (pitch / step_ <= longest_ && try_pitch(pitch / step_)) likely.push_back(pitch);
    std::uint64_t pitch = 0;  // all are tried up to here
    while (pitch < longest_ && !is_least() &&
           (std::find(likely.begin(), likely.end(), (pitch + 1) * step_) != likely.end() ||
            try_pitch(pitch + 1)))
      ++pitch;
    PaddingFamily& family = out_.family;
    // A longer row ends nowhere where a row of the longest does not, and none needs to be longer to grow by a whole line: lanes that
    // collide lie a line of the banks apart, or at one address, which no padding parts.
    family.all = is_least() || pitch == longest_;
    family.longest = pitch * step_;
    for (std::uint64_t const p : likely)
      if (p > family.longest) family.longer.push_back(p);
    std::sort(family.longer.begin(), family.longer.end());
    return std::move(out_);
  }

 private:
  /// The accesses as shapes, those first that may gain most.
  void collect() {
    std::map<std::tuple<unsigned, unsigned, unsigned, WarpShape>, std::size_t> known;
    for (WeightedAccess const* a : problem_.accesses) {
      std::uint64_t lowest = none;
      for (unsigned l = 0; l < warp_lanes; ++l)
        if (takes_part(*a, l)) lowest = std::min(lowest, std::uint64_t{a->access.address[l]});
      if (lowest == none) continue;
      std::uint64_t const from = lowest / aligned_ * aligned_;
      WarpShape key;
      for (unsigned l = 0; l < warp_lanes; ++l)
        if (takes_part(*a, l)) {
          key.active |= std::uint32_t{1} << l;
          key.bits[l] = a->access.address[l] - from;
        }
      Instruction const& i = a->instruction;
      auto const [at, is_new] =
          known.try_emplace({static_cast<unsigned>(i.operation), i.bytes, i.matrices, key}, shapes_.size());
      if (is_new) shapes_.push_back(shape_of(i, key));
      Shape<W>& shape = shapes_[at->second];
      auto const range = std::upper_bound(problem_.ranges.begin(), problem_.ranges.end(), lowest,
                                          [](std::uint64_t b, ByteRange const& r) { return b < r.end; });
      shape.occurrences.push_back(
          {static_cast<std::size_t>(range - problem_.ranges.begin()), from, a->executed});
      shape.executed += a->executed;
    }
    for (Shape<W> const& s : shapes_) before_ += s.now * s.executed, least_ += s.least * s.executed;
    std::stable_sort(shapes_.begin(), shapes_.end(), [](Shape<W> const& a, Shape<W> const& b) {
      return (a.now - a.least) * a.executed > (b.now - b.least) * b.executed;
    });
    crossings_.resize(shapes_.size());
  }

  [[nodiscard]] Shape<W> shape_of(Instruction const& instruction, WarpShape const& key) const {
    Shape<W> shape;
    shape.instruction = instruction;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      shape.lanes.active[l] = (key.active >> l & 1) != 0;
      shape.lanes.address[l] = static_cast<W>(key.bits[l]);
    }
    auto const here = cost(arch_, instruction, shape.lanes);
    shape.now = here.wavefronts;
    shape.least = least_of(arch_, instruction, here);
    return shape;
  }

  [[nodiscard]] std::uint64_t bound() const { return out_.best ? out_.best->after : before_; }
  [[nodiscard]] bool is_least() const { return bound() == least_; }

  /// Tries every padding and start at a pitch in steps; false if that is too much work.
  bool try_pitch(std::uint64_t pitch) {
    for (auto& crossing : crossings_) crossing.reset();
    std::uint64_t const most = std::min<std::uint64_t>(pitch * step_, out_.family.most);
    for (std::uint64_t padding = step_; padding <= most && !is_least(); padding += step_)
      if (!try_padding(pitch, padding)) return false;
    return true;
  }

  bool try_padding(std::uint64_t pitch, std::uint64_t padding) {
    // Rows move by the padding: after so many of them by whole vectors and words, which costs nothing.
    std::uint64_t const laps = aligned_ / std::gcd<std::uint64_t>(padding, aligned_);
    std::uint64_t const starts = pitch * laps;
    std::size_t const ranges = problem_.ranges.size();
    if (starts > most_totals / ranges) return false;
    std::uint64_t left = least_,
                  floor = 0;  // of those that come, and of those before at their cheapest starts
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if ((work_ += work_of(shapes_[i], laps)) > most_work) return false;
      left -= shapes_[i].least * shapes_[i].executed;
      floor += find_levels(i, pitch, padding, laps) * shapes_[i].executed;
      if (floor + left >= bound()) return true;
      if (i == 0) totals_.assign(ranges * starts, 0);
      add(i, starts);
      if (!std::has_single_bit(i + 1) && i + 1 != shapes_.size()) continue;
      work_ += ranges * starts / 64;
      if (least_total(starts) + left >= bound()) return true;
    }
    take(pitch, padding, starts);
    return true;
  }

  /// Evaluations, and of sums a share.
  [[nodiscard]] static std::uint64_t work_of(Shape<W> const& shape, std::uint64_t laps) {
    return laps * (warp_lanes + shape.occurrences.size());
  }

  [[nodiscard]] Crossing crossing_of(Shape<W> const& shape, std::uint64_t pitch) const {
    Crossing out;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      if (!shape.lanes.active[l]) continue;
      std::uint64_t const offset = shape.lanes.address[l] / step_;
      out.row[l] = offset / pitch;
      out.at[l] = (pitch - offset % pitch) % pitch;
      out.order[out.lanes++] = static_cast<std::uint8_t>(l);
    }
    std::sort(out.order.begin(), out.order.begin() + out.lanes,
              [&](std::uint8_t a, std::uint8_t b) { return out.at[a] < out.at[b]; });
    return out;
  }

  /// Wavefronts of a shape by its distance behind a row's start, over all laps; returns the least.
  unsigned find_levels(std::size_t index, std::uint64_t pitch, std::uint64_t padding, std::uint64_t laps) {
    Shape<W> const& shape = shapes_[index];
    auto& known = crossings_[index];
    if (!known) known = crossing_of(shape, pitch);
    Crossing const& crossing = *known;
    WarpAccess<W> warp = shape.lanes;
    for (unsigned l = 0; l < warp_lanes; ++l) warp.address[l] += static_cast<W>(crossing.row[l] * padding);
    auto const level = [&](std::uint64_t from) {
      unsigned const wavefronts = cost(arch_, shape.instruction, warp).wavefronts;
      if (levels_.empty() || levels_.back().wavefronts != wavefronts) levels_.push_back({from, wavefronts});
    };
    levels_.clear();
    level(0);
    for (std::uint64_t lap = 0; lap < laps; ++lap)
      for (unsigned i = 0; i < crossing.lanes;) {
        std::uint64_t const at = crossing.at[crossing.order[i]];
        bool const counted = lap == 0 && at == 0;  // in the rows of the start
        for (; i < crossing.lanes && crossing.at[crossing.order[i]] == at; ++i)
          if (!counted) warp.address[crossing.order[i]] += static_cast<W>(padding);
        if (!counted) level(lap * pitch + at);
      }
    auto const cheaper = [](Level const& a, Level const& b) { return a.wavefronts < b.wavefronts; };
    return std::min_element(levels_.begin(), levels_.end(), cheaper)->wavefronts;
  }

  /// Adds the cost of the shape whose levels were found to the totals of all starts, which are kept as differences from one start to the
  /// next.
  void add(std::size_t index, std::uint64_t starts) {
    for (Occurrence const& o : shapes_[index].occurrences) {
      std::int64_t* const totals = totals_.data() + o.range * starts;
      auto const executed = static_cast<std::int64_t>(o.executed);
      std::uint64_t const at = o.address / step_ % starts;  // behind the start 0
      auto const here = std::upper_bound(levels_.begin(), levels_.end(), at,
                                         [](std::uint64_t f, Level const& l) { return f < l.from; }) -
                        1;
      totals[0] += executed * here->wavefronts;
      for (std::size_t i = 0; levels_.size() > 1 && i < levels_.size(); ++i) {
        Level const& before = levels_[i == 0 ? levels_.size() - 1 : i - 1];
        std::uint64_t next = at + starts - levels_[i].from + 1;  // start from which on `before` counts
        while (next >= starts) next -= starts;
        if (next != 0)
          totals[next] += executed * (static_cast<std::int64_t>(before.wavefronts) - levels_[i].wavefronts);
      }
    }
  }

  /// Calls visit(start, total) for each start of a range that an array can have: none lies before address 0.
  template <class Visit>
  void for_each_start(std::size_t range, std::uint64_t starts, Visit const& visit) const {
    std::int64_t total = 0;
    for (std::uint64_t s = 0; s < std::min(starts, first_[range] + 1); ++s) {
      total += totals_[range * starts + s];
      visit(s, static_cast<std::uint64_t>(total));
    }
  }

  /// The least of each range, in sum.
  [[nodiscard]] std::uint64_t least_total(std::uint64_t starts) const {
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < problem_.ranges.size(); ++r) {
      std::uint64_t least = none;
      for_each_start(r, starts, [&](std::uint64_t, std::uint64_t total) { least = std::min(least, total); });
      sum += least;
    }
    return sum;
  }

  /// The last start up to a range's first step that is `start` modulo `starts`, in steps.
  [[nodiscard]] std::uint64_t last_start(std::size_t range, std::uint64_t start, std::uint64_t starts) const {
    return first_[range] - (first_[range] - start) % starts;
  }

  /// The cheapest start by `total_of`; among equals the range's first step, then what is aligned most, then the last.
  [[nodiscard]] std::uint64_t best_start(std::size_t range, std::uint64_t starts,
                                         std::vector<std::uint64_t> const& totals) const {
    auto const rank = [&](std::uint64_t start) {
      std::uint64_t const s = last_start(range, start, starts);
      return std::tuple(totals[start], s != first_[range], -std::countr_zero(s), first_[range] - s);
    };
    std::uint64_t best = 0;
    for (std::uint64_t s = 1; s < totals.size(); ++s)
      if (rank(s) < rank(best)) best = s;
    return best;
  }

  /// Makes the padding the best: with one start for all ranges if that costs no more than one for each.
  void take(std::uint64_t pitch, std::uint64_t padding, std::uint64_t starts) {
    std::size_t const ranges = problem_.ranges.size();
    PaddingFix fix{pitch * step_, padding, least_total(starts), 0, {}, {}};
    std::vector<std::vector<std::uint64_t>> each(ranges);
    std::vector<std::uint64_t> all(std::min(starts, *std::min_element(first_.begin(), first_.end()) + 1), 0);
    for (std::size_t r = 0; r < ranges; ++r)
      for_each_start(r, starts, [&](std::uint64_t s, std::uint64_t total) {
        each[r].push_back(total);
        if (s < all.size()) all[s] += total;
      });
    std::uint64_t const common = best_start(0, starts, all);
    for (std::size_t r = 0; r < ranges; ++r) {
      std::uint64_t const start = all[common] == fix.after ? common : best_start(r, starts, each[r]);
      fix.starts.push_back(last_start(r, start, starts) * step_);
    }
    auto const more = [&](std::size_t first, std::size_t last) {
      return (problem_.ranges[last].end - 1 - fix.starts[first]) / fix.pitch * padding;
    };
    if (fix.has_one_start()) {
      fix.memory = more(0, ranges - 1);
    } else {
      for (std::size_t r = 0; r < ranges; ++r) fix.memory += more(r, r);
      fix.moves = moves_of(fix);
    }
    out_.best = std::move(fix);
  }

  /// Least moves with which each range begins behind the one before it. Multiples of 16 bytes change no cost.
  [[nodiscard]] std::vector<std::uint64_t> moves_of(PaddingFix const& fix) const {
    std::vector<std::uint64_t> moves;
    std::uint64_t end = 0;
    for (std::size_t r = 0; r < fix.starts.size(); ++r) {
      auto const padded = [&](std::uint64_t x) { return x + (x - fix.starts[r]) / fix.pitch * fix.padding; };
      std::uint64_t const from = padded(problem_.ranges[r].begin);
      moves.push_back(end <= from ? 0 : (end - from + 15) / 16 * 16);
      end = padded(problem_.ranges[r].end - 1) + 1 + moves.back();
    }
    return moves;
  }

  PaddingProblem const& problem_;
  Architecture const& arch_;
  std::uint64_t step_, aligned_;
  std::vector<std::uint64_t> first_{};  ///< of each range, its first step
  std::uint64_t longest_ = 0;           ///< steps of the longest range
  std::vector<Shape<W>> shapes_{};
  std::uint64_t before_ = 0, least_ = 0;
  std::uint64_t work_ = 0;
  std::vector<std::optional<Crossing>> crossings_{};  ///< of each shape, at the pitch that is tried
  std::vector<Level> levels_{};
  std::vector<std::int64_t> totals_{};  ///< of each range, by its start
  PaddingSearch out_{};
};

}  // namespace

bool PaddingFix::has_one_start() const {
  std::uint64_t const rows = usual_banks.bytes / std::gcd<std::uint64_t>(padding, usual_banks.bytes);
  return std::all_of(starts.begin(), starts.end(),
                     [&](std::uint64_t s) { return (s - starts[0]) % (rows * pitch) == 0; });
}

PaddingSearch find_padding_of(PaddingProblem const& problem, Architecture const& arch) {
  // A row has a byte at least, and a padding less than a line of the banks: offsets grow by as many times at most.
  std::uint64_t const fits = (std::uint64_t{1} << 31) / (arch.banks.row() + 1);
  bool const narrow =
      problem.ranges.empty() || problem.ranges.back().end - problem.ranges.front().begin < fits;
  return narrow ? PaddingSearcher<std::uint32_t>(problem, arch).search()
                : PaddingSearcher<std::uint64_t>(problem, arch).search();
}

}  // namespace swizproof
