#include "analysis/fixed_box.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace swizproof {

namespace {

/// One order of a box's dimensions along the modes of a tile.
class BoxTrial {
 public:
  BoxTrial(TmaBoxes boxes, std::span<std::uint64_t const> extents, std::uint32_t element_bytes,
           std::span<std::uint64_t const> addresses)
      : boxes_(std::move(boxes)), extents_(extents), sigma_(swizzle_of(boxes_.mode)) {
    for (std::uint64_t const a : addresses) plain_.push_back(sigma_(a));  // each swizzle is its own inverse
    std::size_t stride = 1;
    for (std::uint64_t const extent : extents) strides_.push_back(stride), stride *= extent;
    list_elements(element_bytes);
  }

  [[nodiscard]] FixedCover run() const {
    FixedCover out{boxes_, {}, 0, {}, 0, {}, 0};
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> good;
    for (std::size_t start = 0; start < plain_.size(); ++start)
      if (is_good(start)) good.push_back(start);
    sort_by_address(good);
    std::vector<std::size_t> last(plain_.size(),
                                  none);  // of the boxes with an element the one that starts last
    for (std::size_t const start : good)
      for (Element const& e : elements_) last[start + e.index] = start;
    auto const first = std::find(last.begin(), last.end(), none);
    out.covered = last.size() - static_cast<std::uint64_t>(std::count(first, last.end(), none));
    if (first != last.end())
      explain(out, static_cast<std::size_t>(first - last.begin()));
    else
      choose(out, last);
    return out;
  }

 private:
  /// An element of a box, by what is added to the index and to the plain address of its first.
  struct Element {
    std::size_t index;
    std::uint64_t bytes;
  };

  void sort_by_address(std::vector<std::size_t>& elements) const {
    std::sort(elements.begin(), elements.end(), [&](std::size_t a, std::size_t b) {
      return static_cast<std::int64_t>(plain_[a]) < static_cast<std::int64_t>(plain_[b]);
    });
  }
  /// As few boxes as write all elements: of the lowest that is not written, the one that starts last.
  void choose(FixedCover& out, std::vector<std::size_t> const& last) const {
    std::vector<std::size_t> order(plain_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    sort_by_address(order);
    std::vector<bool> written(plain_.size());
    for (std::size_t const at : order) {
      if (written[at]) continue;
      out.starts.push_back(last[at]);
      for (Element const& e : elements_) written[last[at] + e.index] = true;
    }
    std::sort(out.starts.begin(), out.starts.end());
    out.boxes.boxes = out.starts.size();
  }

  /// The elements of a box in the order of memory, and how far it reaches along each mode.
  void list_elements(std::uint32_t element_bytes) {
    reach_.assign(extents_.size(), 0);
    elements_ = {{0, 0}};
    std::uint64_t distance = element_bytes;
    for (std::size_t d = 0; d < boxes_.box.size(); ++d) {
      std::vector<Element> all;
      for (std::uint64_t i = 0; i < boxes_.box[d]; ++i)
        for (Element const& e : elements_)
          all.push_back({e.index + static_cast<std::size_t>(i * boxes_.steps[d] * strides_[boxes_.modes[d]]),
                         e.bytes + i * distance});
      elements_ = std::move(all);
      reach_[boxes_.modes[d]] += std::uint64_t{boxes_.box[d] - 1} * boxes_.steps[d];
      distance = d == 0 ? boxes_.pitch : distance * boxes_.box[d];
    }
  }
  [[nodiscard]] std::uint64_t coordinate(std::size_t index, std::size_t mode) const {
    return index / strides_[mode] % extents_[mode];
  }
  [[nodiscard]] bool fits(std::size_t start) const {
    for (std::size_t m = 0; m < extents_.size(); ++m)
      if (coordinate(start, m) + reach_[m] >= extents_[m]) return false;
    return true;
  }
  [[nodiscard]] bool is_good(std::size_t start) const {
    return plain_[start] % tma_destination == 0 && fits(start) &&
           std::all_of(elements_.begin(), elements_.end(),
                       [&](Element const& e) { return plain_[start + e.index] == plain_[start] + e.bytes; });
  }
  /// Why an element is in no good box: the box that begins there, or as near as the tile's end allows.
  void explain(FixedCover& out, std::size_t element) const {
    std::size_t start = 0;
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (reach_[m] >= extents_[m]) {
        out.reason = fmt::format("the box reaches over {} indices of mode {}, and the tile has {}",
                                 reach_[m] + 1, m, extents_[m]);
        return;
      }
      start += strides_[m] * std::min(coordinate(element, m), extents_[m] - 1 - reach_[m]);
    }
    if (plain_[start] % tma_destination != 0) {
      out.reason =
          fmt::format("a box of ({}) would start at byte {}, and destinations are multiples of {}",
                      fmt::join(boxes_.box, ","), static_cast<std::int64_t>(plain_[start]), tma_destination);
      return;
    }
    out.reason = fmt::format("boxes of ({}) in mode {} put elements elsewhere", fmt::join(boxes_.box, ","),
                             name(boxes_.mode));
    for (Element const& e : elements_)
      if (plain_[start + e.index] == plain_[start] + e.bytes)
        ++out.right;
      else if (!out.element || start + e.index < *out.element)
        out.element = start + e.index, out.tma = sigma_(plain_[start] + e.bytes);
  }

  TmaBoxes boxes_;
  std::span<std::uint64_t const> extents_;
  Swizzle sigma_;
  std::vector<std::uint64_t> plain_{};  // addresses before the swizzle
  std::vector<std::size_t> strides_{};  // of plain indices
  std::vector<std::uint64_t> reach_{};  // indices from a box's first element to its last, along each mode
  std::vector<Element> elements_{};
};

/// The modes that the dimensions may run along: as fixed, else each order of different modes longer than 1.
std::vector<std::vector<std::size_t>> orders_of(FixedBox const& fixed,
                                                std::span<std::uint64_t const> extents) {
  if (!fixed.modes.empty()) return {fixed.modes};
  std::vector<std::vector<std::size_t>> all{{}};
  for (std::size_t d = 0; d < fixed.box.size(); ++d) {
    std::vector<std::vector<std::size_t>> longer;
    for (std::vector<std::size_t> const& order : all)
      for (std::size_t m = 0; m < extents.size(); ++m)
        if (extents[m] > 1 && std::find(order.begin(), order.end(), m) == order.end()) {
          longer.push_back(order);
          longer.back().push_back(m);
        }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

FixedCover cover_with(FixedBox const& fixed, TmaMode mode, std::span<std::uint64_t const> extents,
                      std::uint32_t element_bytes, std::span<std::uint64_t const> addresses) {
  FixedCover best;
  std::uint32_t const line = fixed.box.front() * element_bytes;
  switch (tma_line(tma_width(mode), 8 * line)) {
    case TmaLine::fits:
      break;
    case TmaLine::no_whole_units:
      best.reason = fmt::format("a line of {} bytes is no multiple of {}", line, tma_line_unit);
      return best;
    default:
      best.reason = fmt::format("a line of {} bytes is wider than the {} of mode {}", line, tma_width(mode),
                                name(mode));
      return best;
  }
  std::uint64_t elements = 1;
  for (std::uint32_t const extent : fixed.box) elements *= extent;  // at most 256^5
  if (elements > addresses.size()) {
    best.reason = fmt::format("the box has {} elements, and the tile {}", elements, addresses.size());
    return best;
  }
  std::vector<std::uint32_t> const ones(fixed.box.size(), 1);
  TmaBoxes boxes{mode, fixed.box, {}, fixed.steps.empty() ? ones : fixed.steps, 1, tma_pitch(mode, line),
                 0,    0};
  boxes.bytes = elements * element_bytes;
  bool tried = false;
  for (std::vector<std::size_t> const& order : orders_of(fixed, extents)) {
    boxes.modes = order;
    FixedCover cover = BoxTrial(boxes, extents, element_bytes, addresses).run();
    if (!tried || std::pair(cover.covered, cover.right) > std::pair(best.covered, best.right))
      best = std::move(cover);
    tried = true;
  }
  if (!tried)
    best.reason = fmt::format("the box has {} dimensions longer than 1, and the tile {} modes",
                              fixed.box.size(), extents.size());
  return best;
}

}  // namespace swizproof
