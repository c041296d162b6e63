#include "analysis/box_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace swizproof {

namespace {

constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

/// Division that rounds down, of addresses that may lie below 0.
std::int64_t floor_units(std::uint64_t address, std::int64_t unit) {
  auto const a = static_cast<std::int64_t>(address);
  return a / unit - (a % unit < 0 ? 1 : 0);
}

/// factors_of(), of exactly so many factors.
bool factor(std::uint64_t number, std::uint32_t first, std::size_t count, std::vector<std::uint32_t>& out) {
  if (count == 1) {
    if (number > first) return false;
    out.push_back(static_cast<std::uint32_t>(number));
    return true;
  }
  for (std::uint32_t f = std::min<std::uint32_t>(first, tma_most_elements); f > 1; --f) {
    if (number % f != 0) continue;
    out.push_back(f);
    if (factor(number / f, tma_most_elements, count - 1, out)) return true;
    out.pop_back();
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> factors_of(std::uint64_t number, std::uint32_t first) {
  for (std::size_t count = 1; count <= tma_most_dimensions; ++count) {
    std::vector<std::uint32_t> out;
    if (factor(number, first, count, out)) return out;
  }
  return {};
}

BoxSearch::BoxSearch(TmaMode mode, std::span<std::uint64_t const> extents, std::uint32_t element_bytes,
                     std::span<std::uint64_t const> addresses)
    : mode_(mode), extents_(extents), bytes_(element_bytes) {
  // Each swizzle is its own inverse: these are the addresses before it, which must be those of lines.
  Swizzle const sigma = swizzle_of(mode);
  plain_.reserve(addresses.size());
  for (std::uint64_t const a : addresses) plain_.push_back(sigma(a));
  std::uint64_t stride = 1, weight = 1;
  for (std::uint64_t const extent : extents) {
    strides_.push_back(stride), weights_.push_back(weight);
    stride *= extent, weight *= 2 * extent;  // so that differences have one meaning, below 0 too
  }
  unit_bytes_ = mode == TmaMode::none ? tma_line_unit : tma_width(mode);
}

void BoxSearch::run() {
  failure_.regular = regularity();
  if (read_units()) grow();
}

bool BoxSearch::is_own_best() const {
  if (!own_ || !any_) return own_.has_value();
  return own_->written == present_ || own_->boxes.boxes <= any_->boxes.boxes;
}

std::uint64_t BoxSearch::coordinate(std::size_t index, std::size_t mode) const {
  return index / strides_[mode] % extents_[mode];
}

/// Fills in what lies in each unit of memory; false, with the reason, where a unit is no line of the others' length.
bool BoxSearch::read_units() {
  auto const unit = static_cast<std::int64_t>(unit_bytes_);
  auto const below = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  };
  auto const [lowest, highest] = std::minmax_element(plain_.begin(), plain_.end(), below);
  low_ = static_cast<std::uint64_t>(floor_units(*lowest, unit) * unit);
  auto const count = static_cast<std::size_t>(floor_units(*highest - low_, unit)) + 1;
  std::size_t const places = unit_bytes_ / bytes_;
  std::vector<std::size_t> element(count * places, absent);
  for (std::size_t i = 0; i < plain_.size(); ++i) {
    if ((plain_[i] - low_) % bytes_ != 0) {
      failure_.reason =
          fmt::format("an element of {} bytes lies at byte {}, and lines have elements at their multiples",
                      bytes_, static_cast<std::int64_t>(plain_[i]));
      return false;
    }
    element[(plain_[i] - low_) / bytes_] = i;
  }
  first_.assign(count, absent), at_.assign(count, 0);
  for (std::size_t u = 0; u < count; ++u)
    if (!read_unit(u, std::span(element).subspan(u * places, places))) return false;
  return true;
}

/// One unit: its elements are a prefix of it, follow each other along the mode of all lines, and are as many as in all.
bool BoxSearch::read_unit(std::size_t unit, std::span<std::size_t const> elements) {
  auto const last =
      std::find_if(elements.rbegin(), elements.rend(), [](std::size_t i) { return i != absent; });
  auto const count = static_cast<std::uint64_t>(elements.rend() - last);
  if (count == 0) return true;
  auto const fail = [&](std::string reason) {
    failure_.reason = std::move(reason);
    return false;
  };
  bool contiguous = elements.front() != absent && count * bytes_ % tma_line_unit == 0;
  for (std::size_t i = 1; contiguous && i < count; ++i) contiguous = elements[i] != absent;
  std::optional<Dimension> const next = contiguous ? step_between(elements[0], elements[1]) : std::nullopt;
  contiguous = next && next->step == 1;
  for (std::size_t i = 2; contiguous && i < count; ++i)
    contiguous =
        elements[i] == elements[i - 1] + strides_[next->mode] && coordinate(elements[i], next->mode) != 0;
  if (!contiguous)
    return fail(mode_ == TmaMode::none
                    ? no_lines()
                    : fmt::format("mode {0} puts lines {1} bytes apart: what the tile has of the {1} bytes "
                                  "from byte {2} on is no line",
                                  name(mode_), unit_bytes_, static_cast<std::int64_t>(address_of(unit))));
  if (present_ == 0) inner_ = next->mode, line_ = count;
  if (inner_ != next->mode || line_ != count)
    return fail(fmt::format(
        "mode {} has lines of one length along one mode: from byte {} on there are {} bytes along mode {}, "
        "and from byte {} on {} along mode {}",
        name(mode_), static_cast<std::int64_t>(low_), line_ * bytes_, inner_,
        static_cast<std::int64_t>(address_of(unit)), count * bytes_, next->mode));
  ++present_;
  first_[unit] = elements[0];
  for (std::size_t m = 0; m < extents_.size(); ++m) at_[unit] += coordinate(elements[0], m) * weights_[m];
  return true;
}

/// Step from one element to another, if it is upwards along one mode.
std::optional<BoxSearch::Dimension> BoxSearch::step_between(std::size_t low, std::size_t high) const {
  std::optional<Dimension> step;
  for (std::size_t m = 0; m < extents_.size(); ++m) {
    std::uint64_t const from = coordinate(low, m), to = coordinate(high, m);
    if (from == to) continue;
    if (step || to < from) return std::nullopt;
    step = Dimension{m, to - from, 1};
  }
  return step;
}

/// Shapes in the order of memory, from the lowest unit on.
void BoxSearch::grow() {
  std::size_t const count = first_.size();
  std::vector<std::uint32_t> run(count);  // of shapes one behind the other, from each unit on
  for (std::size_t u = 0; u < count; ++u) run[u] = first_[u] != absent;
  Shape shape{{{inner_, 1, line_}}, 1, true};
  consider(shape, run, 1);
  std::vector<bool> fits(count);  // the shape from this unit on
  for (std::size_t u = 0; u < count; ++u) fits[u] = run[u] != 0;
  for (bool first = true;; first = false) {
    std::size_t const units = shape.units;
    if (units >= count || !fits[units]) return;
    std::optional<Dimension> const step = step_between(first_[0], first_[units]);
    if (!step) return;
    bool const of_line =
        first && mode_ == TmaMode::none && step->mode == inner_ && step->step == line_;  // makes longer lines
    for (std::size_t u = count; u-- > 0;) {
      std::size_t const next = u + units;
      bool const goes_on = fits[u] && next < count && fits[next] && at_[next] - at_[u] == at_[units] - at_[0];
      run[u] = fits[u] ? 1 + (goes_on ? run[next] : 0) : 0;
    }
    std::uint32_t const longest = run[0];
    for (std::uint32_t n = longest; n > 1 && may_improve(units * n); --n)
      if (auto const longer = lengthened(shape, *step, n, of_line)) consider(*longer, run, n);
    std::optional<Shape> const whole = lengthened(shape, *step, longest, of_line);
    if (!whole) return;
    shape = *whole;
    for (std::size_t u = 0; u < count; ++u) fits[u] = run[u] >= longest;
  }
}

/// The shape so many times, a step apart; nothing where no dimensions hold that.
std::optional<BoxSearch::Shape> BoxSearch::lengthened(Shape const& shape, Dimension step, std::size_t count,
                                                      bool of_line) const {
  std::uint32_t const first =
      of_line ? tma_most_elements / static_cast<std::uint32_t>(line_) : tma_most_elements;
  std::vector<std::uint32_t> factors = factors_of(count, first);
  if (of_line) {  // the line may also stay as it is
    std::vector<std::uint32_t> behind = factors_of(count, tma_most_elements);
    behind.insert(behind.begin(), behind.empty() ? 0 : 1, 1);
    if (factors.empty() || (!behind.empty() && behind.size() < factors.size())) factors = std::move(behind);
  }
  if (factors.empty()) return std::nullopt;
  Shape out = shape;
  out.units *= count;
  out.of_own_modes = shape.of_own_modes && factors.size() == 1 && (of_line || step.step == 1);
  for (std::size_t f = 0; f < factors.size(); step.step *= factors[f++]) {
    if (f == 0 && of_line)
      out.dimensions.front().extent *= factors[0];
    else
      out.dimensions.push_back({step.mode, step.step, factors[f]});
  }
  return rank_of(out) <= tma_most_dimensions ? std::optional(std::move(out)) : std::nullopt;
}

/// Dimensions of a tensor map with such a box: a mode longer than 1 that has none at step 1 takes one of extent 1.
std::size_t BoxSearch::rank_of(Shape const& shape) const {
  std::size_t rank = shape.dimensions.size();
  for (std::size_t m = 0; m < extents_.size(); ++m)
    rank += extents_[m] > 1 && std::none_of(shape.dimensions.begin(), shape.dimensions.end(),
                                            [&](Dimension const& d) { return d.mode == m && d.step == 1; });
  return rank;
}

/// Keeps boxes of a shape if they are fewer than those before, or as few and write less twice, or have fewer dimensions. A box may
/// start at unit u if run[u], the number of equal steps from there on, is at least `count`.
void BoxSearch::consider(Shape const& shape, std::vector<std::uint32_t> const& run, std::uint32_t count) {
  if (rank_of(shape) > tma_most_dimensions) return;
  bool const own = shape.of_own_modes;
  std::optional<BoxCover> const found = cover(shape, run, count,
                                              own    ? most_boxes()
                                              : any_ ? any_->boxes.boxes
                                                     : unbounded);
  if (!found) return;
  auto const keep = [&](std::optional<BoxCover>& kept) {
    auto const rank = [](BoxCover const& c) {
      return std::tuple(c.boxes.boxes, c.written, c.boxes.box.size());
    };
    if (!kept || rank(*found) < rank(*kept)) kept = *found;
  };
  keep(any_);
  if (own) keep(own_);
}

/// The most boxes that are of use: no more than were found, of the tile's own modes and of all.
std::uint64_t BoxSearch::most_boxes() const {
  return own_ && any_ ? std::max(own_->boxes.boxes, any_->boxes.boxes) : unbounded;
}

/// True unless boxes of so many units are more than most_boxes() however they lie.
bool BoxSearch::may_improve(std::size_t units) const {
  return (present_ + units - 1) / units <= most_boxes();
}

/// The fewest boxes of a shape that cover the tile; nothing where they are more than `most`, or do not.
std::optional<BoxCover> BoxSearch::cover(Shape const& shape, std::vector<std::uint32_t> const& run,
                                         std::uint32_t count, std::uint64_t most) {
  std::vector<std::size_t> starts;
  auto const begins = [&](std::size_t u) { return run[u] >= count && address_of(u) % tma_destination == 0; };
  for (std::size_t u = 0; u < first_.size();) {
    if (first_[u] == absent) {
      ++u;
      continue;
    }
    std::size_t const lowest = u < shape.units ? 0 : u - shape.units + 1;
    std::size_t start = u + 1;
    while (start > lowest && !begins(start - 1)) --start;
    if (start == lowest) {
      std::uint64_t const byte = address_of(u), reached = byte - low_;
      if (failure_.reason.empty() || reached > failure_.reached) {
        TmaBoxes const box = boxes_of(shape, 1);
        failure_.reached = reached;
        failure_.reason = fmt::format(
            "mode {} puts lines {} bytes apart: boxes of ({}) do not reach byte {}, and none fits "
            "there{}",
            name(mode_), box.pitch, fmt::join(box.box, ","), static_cast<std::int64_t>(byte),
            byte % tma_destination != 0 ? fmt::format(": it is no multiple of {}", tma_destination) : "");
      }
      return std::nullopt;
    }
    if (starts.size() == most) return std::nullopt;
    starts.push_back(start - 1);
    u = start - 1 + shape.units;
  }
  BoxCover out{boxes_of(shape, starts.size()), {}, starts.size() * shape.units};
  for (std::size_t const u : starts) out.starts.push_back(first_[u]);
  std::sort(out.starts.begin(), out.starts.end());
  return out;
}

TmaBoxes BoxSearch::boxes_of(Shape const& shape, std::uint64_t count) const {
  TmaBoxes out;
  out.mode = mode_;
  std::uint64_t elements = 1;
  auto const add = [&](std::size_t mode, std::uint64_t step, std::uint64_t extent) {
    out.modes.push_back(mode);
    out.steps.push_back(static_cast<std::uint32_t>(step));
    out.box.push_back(static_cast<std::uint32_t>(extent));
    elements *= extent;
  };
  for (Dimension const& d : shape.dimensions) add(d.mode, d.step, d.extent);
  for (std::size_t m = 0; m < extents_.size(); ++m)
    if (extents_[m] > 1 && std::none_of(shape.dimensions.begin(), shape.dimensions.end(),
                                        [&](Dimension const& d) { return d.mode == m && d.step == 1; }))
      add(m, 1, 1);
  out.boxes = count;
  out.pitch = tma_pitch(mode_, out.box[0] * bytes_);
  out.bytes = elements * bytes_;
  out.destination_alignment = std::max<std::uint64_t>(tma_destination, swizzle_of(mode_).period());
  return out;
}

std::vector<TmaCopy> BoxSearch::copies(BoxCover const& cover, std::uint64_t base) const {
  std::vector<TmaCopy> all;
  for (std::size_t const i : cover.starts) {
    TmaCopy copy{{}, static_cast<std::int64_t>(plain_[i] - base)};
    for (std::size_t m = 0; m < extents_.size(); ++m) copy.at.push_back(coordinate(i, m));
    all.push_back(std::move(copy));
  }
  return all;
}

/// Number of neighbours along a mode that lie as far apart as the first two, over all modes.
std::uint64_t BoxSearch::regularity() const {
  std::uint64_t count = 0;
  for (std::size_t m = 0; m < extents_.size(); ++m) {
    if (extents_[m] < 2) continue;
    std::uint64_t const apart = step(m);
    for (std::size_t i = strides_[m]; i < plain_.size(); ++i)
      count += coordinate(i, m) != 0 && plain_[i] - plain_[i - strides_[m]] == apart;
  }
  return count;
}

/// Reason if a line of the tile has no whole 16 bytes.
std::string BoxSearch::no_lines() const {
  for (std::size_t m = 0; m < extents_.size(); ++m) {
    bool whole = extents_[m] > 1 && step(m) == bytes_;
    for (std::size_t i = 0; whole && i < plain_.size(); ++i)
      whole = coordinate(i, m) == 0 || plain_[i] - plain_[i - strides_[m]] == bytes_;
    if (whole && extents_[m] * bytes_ % tma_line_unit != 0)
      return fmt::format(
          "mode {} of the tile is contiguous, but {} bytes long, and a line is a multiple of {}", m,
          extents_[m] * bytes_, tma_line_unit);
  }
  return fmt::format(
      "the tile does not consist of {} bytes from multiples of {} on, each contiguous along one mode",
      tma_line_unit, tma_line_unit);
}

std::optional<TmaWitness> BoxSearch::witness() const {
  std::vector<std::size_t> order;  // the innermost first
  for (std::size_t m = 0; m < extents_.size(); ++m)
    if (extents_[m] > 1) order.push_back(m);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(step(a) != bytes_, step(a)) < std::pair(step(b) != bytes_, step(b));
  });
  if (order.empty()) return std::nullopt;
  std::uint64_t const widest = mode_ == TmaMode::none ? ~std::uint64_t{0} : tma_width(mode_) / bytes_;
  std::uint64_t const unit = std::max(1U, tma_line_unit / bytes_);
  std::uint64_t const line =
      std::min({extents_[order[0]], std::uint64_t{tma_most_elements}, widest}) / unit * unit;
  if (line == 0) return std::nullopt;
  std::uint64_t const pitch = tma_pitch(mode_, static_cast<std::uint32_t>(line * bytes_));
  std::uint64_t const lines = plain_.size() / extents_[order[0]];
  for (std::uint64_t first = 0; first < extents_[order[0]]; first += line) {
    std::uint64_t const destination =
        plain_[first * strides_[order[0]]] & ~std::uint64_t{tma_destination - 1};
    for (std::uint64_t y = 0; y < lines; ++y)
      for (std::uint64_t x = first; x < std::min(first + line, extents_[order[0]]); ++x) {
        std::vector<std::uint64_t> at(extents_.size(), 0);
        at[order[0]] = x;
        for (std::size_t d = 1, rest = y; d < order.size(); rest /= extents_[order[d++]])
          at[order[d]] = rest % extents_[order[d]];
        std::size_t i = 0;
        for (std::size_t m = 0; m < at.size(); ++m) i += at[m] * strides_[m];
        std::uint64_t const put = destination + y * pitch + (x - first) * bytes_;
        if (put == plain_[i]) continue;
        Swizzle const sigma = swizzle_of(mode_);
        return TmaWitness{std::move(at),
                          0,
                          static_cast<std::int64_t>(sigma(put)),
                          static_cast<std::int64_t>(sigma(plain_[i])),
                          {}};
      }
  }
  return std::nullopt;
}

}  // namespace swizproof
