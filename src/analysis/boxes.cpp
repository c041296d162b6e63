#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/analysis/boxes.hpp>
#include <swizproof/core/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace swizproof {

namespace {

constexpr std::uint64_t most_shared_bytes = 227 * 1024;  ///< of a block, compute capability 9.0 and 10.0

/// Why a mode does not write the tile. Of all modes' reasons, that of the mode which makes the tile most regular
/// is the one to tell: its swizzle is the tile's.
struct Failure {
  std::uint64_t regular = 0;   ///< elements of the largest block of lines at one distance, whatever that is
  std::uint64_t elements = 0;  ///< of the box that `reason` speaks of
  std::string reason{};
};

/// Boxes of one swizzle mode.
class BoxSearch {
 public:
  BoxSearch(TmaMode mode, std::span<std::uint64_t const> extents, std::uint32_t element_bytes,
            std::span<std::uint64_t const> addresses)
      : mode_(mode), extents_(extents), bytes_(element_bytes), runs_(extents.size()) {
    // Each swizzle is its own inverse: these are the addresses before it, which must be those of lines.
    Swizzle const sigma = swizzle_of(mode);
    plain_.reserve(addresses.size());
    for (std::uint64_t const a : addresses) plain_.push_back(sigma(a));
    for (std::size_t m = 0, stride = 1; m < extents.size(); stride *= extents[m++])
      strides_.push_back(stride);
  }

  void run() {
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (extents_[m] < 2 || step(m) != bytes_) continue;
      for (std::uint32_t const b : runs(m)) {
        std::uint32_t const line = b * bytes_;
        if (tma_line(tma_width(mode_), std::uint64_t{8} * line) != TmaLine::fits) continue;
        extend({b}, {m}, tma_pitch(mode_, line));
      }
    }
    failure_.regular = 1;
    for (std::size_t m = 0; m < extents_.size(); ++m)
      if (extents_[m] > 1 && !runs(m).empty()) failure_.regular *= runs(m).front();
    if (failure_.reason.empty())
      failure_.reason = "no mode of the tile lies in contiguous pieces of 16 bytes";
  }
  [[nodiscard]] std::optional<TmaBoxes> const& best() const { return best_; }
  [[nodiscard]] Failure const& failure() const { return failure_; }

 private:
  /// Bytes from one index of mode m to the next, at the tile's origin.
  [[nodiscard]] std::uint64_t step(std::size_t m) const { return plain_[strides_[m]] - plain_[0]; }

  /// Extents of boxes along mode m, the largest first: divisors b such that within each b indices, wherever in
  /// the tile, every index lies step(m) behind the one before.
  [[nodiscard]] std::vector<std::uint32_t> const& runs(std::size_t m) {
    std::optional<std::vector<std::uint32_t>>& known = runs_[m];
    if (!known) known = find_runs(m);
    return *known;
  }
  [[nodiscard]] std::vector<std::uint32_t> find_runs(std::size_t m) const {
    std::vector<bool> follows(extents_[m], true);
    std::size_t const stride = strides_[m];
    std::uint64_t const apart = step(m);
    for (std::size_t block = 0; block < plain_.size(); block += stride * extents_[m])
      for (std::size_t c = 1; c < extents_[m]; ++c)
        for (std::size_t i = block + c * stride; follows[c] && i < block + (c + 1) * stride; ++i)
          follows[c] = plain_[i] - plain_[i - stride] == apart;
    std::vector<std::uint32_t> all;
    for (auto b = static_cast<std::uint32_t>(std::min<std::uint64_t>(extents_[m], tma_most_elements)); b > 1;
         --b) {
      if (extents_[m] % b != 0) continue;
      bool whole = true;
      for (std::size_t c = 0; whole && c < extents_[m]; ++c) whole = c % b == 0 || follows[c];
      if (whole) all.push_back(b);
    }
    return all;
  }

  /// Tries the box, and all that have one more dimension: the mode whose indices lie `next` bytes apart.
  void extend(std::vector<std::uint32_t> const& box, std::vector<std::size_t> const& modes,
              std::uint64_t next) {
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (extents_[m] < 2 || step(m) != next || std::find(modes.begin(), modes.end(), m) != modes.end())
        continue;
      for (std::uint32_t const b : runs(m)) {
        std::vector<std::uint32_t> more = box;
        std::vector<std::size_t> and_mode = modes;
        more.push_back(b);
        and_mode.push_back(m);
        extend(more, and_mode, next * b);
      }
    }
    consider(box, modes);
  }

  /// Keeps the box if each of its copies has a destination, and there are fewer of them than before.
  void consider(std::vector<std::uint32_t> box, std::vector<std::size_t> modes) {
    std::vector<std::uint64_t> along(extents_.size(), 1);
    std::uint64_t elements = 1;
    for (std::size_t d = 0; d < box.size(); ++d) along[modes[d]] = box[d], elements *= box[d];
    if (best_ && plain_.size() / elements >= best_->boxes) return;
    for (std::size_t m = 0; m < extents_.size(); ++m)
      if (extents_[m] > 1 && std::find(modes.begin(), modes.end(), m) == modes.end())
        box.push_back(1), modes.push_back(m);
    std::uint32_t const pitch = tma_pitch(mode_, box[0] * bytes_);
    if (auto const stray = misplaced(along)) {
      if (elements > failure_.elements)
        failure_ = {
            0, elements,
            fmt::format("mode {} puts lines {} bytes apart: the largest box that fits is ({}), and one "
                        "would start at byte {}, no multiple of {}",
                        name(mode_), pitch, fmt::join(box, ","), *stray, tma_destination)};
      return;
    }
    best_ = TmaBoxes{mode_,
                     std::move(box),
                     std::move(modes),
                     plain_.size() / elements,
                     pitch,
                     elements * bytes_,
                     std::max<std::uint64_t>(tma_destination, swizzle_of(mode_).period())};
  }

  /// Where a box would start that TMA cannot start, from the tile's base.
  [[nodiscard]] std::optional<std::int64_t> misplaced(std::vector<std::uint64_t> const& along) const {
    std::vector<std::size_t> at(along.size(), 0);
    std::size_t i = 0;
    while (true) {
      if (plain_[i] % tma_destination != 0) return static_cast<std::int64_t>(plain_[i]);
      std::size_t m = 0;
      for (; m < at.size(); ++m) {
        at[m] += along[m], i += along[m] * strides_[m];
        if (at[m] < extents_[m]) break;
        i -= at[m] * strides_[m], at[m] = 0;
      }
      if (m == at.size()) return std::nullopt;
    }
  }

  TmaMode mode_;
  std::span<std::uint64_t const> extents_;
  std::uint32_t bytes_;                 // of an element
  std::vector<std::uint64_t> plain_{};  // addresses before the swizzle
  std::vector<std::size_t> strides_{};  // of plain indices
  std::vector<std::optional<std::vector<std::uint32_t>>> runs_{};
  std::optional<TmaBoxes> best_{};
  Failure failure_{};
};

/// Why no box can hold such elements; empty if one can.
std::string unfit(std::span<std::uint64_t const> extents, unsigned element_bits) {
  if (element_bits < 8 || element_bits > 64)
    return fmt::format("TMA copies elements of 8, 16, 32 or 64 bits, not of {}", element_bits);
  auto const long_modes =
      std::count_if(extents.begin(), extents.end(), [](std::uint64_t e) { return e > 1; });
  if (static_cast<std::size_t>(long_modes) > tma_most_dimensions)
    return fmt::format("the tile has {} modes, a box has at most {} dimensions", long_modes,
                       tma_most_dimensions);
  return {};
}

/// Addresses of the elements' first bytes, from base 0; nothing if some element is torn apart.
std::optional<std::vector<std::uint64_t>> addresses_of(Map const& map) {
  std::vector<std::uint64_t> all;
  unsigned const bytes = *map.element_bits / 8;
  for (std::int64_t i = 0; i < map.domain()->size(); ++i) {
    std::uint64_t const from = offset(map, static_cast<std::uint64_t>(i)).elements * bytes;
    std::uint64_t const first = value(map.on_bytes, from);
    for (unsigned j = 1; j < bytes; ++j)
      if (value(map.on_bytes, from + j) != first + j) return std::nullopt;
    all.push_back(first);
  }
  return all;
}

}  // namespace

TmaAnswer tma_boxes(std::span<std::uint64_t const> extents, unsigned element_bits,
                    std::span<std::uint64_t const> addresses) {
  if (std::string reason = unfit(extents, element_bits); !reason.empty()) return {{}, std::move(reason)};
  auto const below = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  };
  auto const [low, high] = std::minmax_element(addresses.begin(), addresses.end(), below);
  if (std::uint64_t const bytes = *high - *low + element_bits / 8; bytes > most_shared_bytes)
    return {
        {},
        fmt::format("the tile reaches over {} bytes, more than the {} of a block", bytes, most_shared_bytes)};
  TmaAnswer answer;
  Failure nearest;
  for (TmaMode const mode : tma_modes) {
    BoxSearch search(mode, extents, element_bits / 8, addresses);
    search.run();
    if (search.best() && (!answer.writes || search.best()->boxes < answer.writes->boxes))
      answer.writes = search.best();
    if (search.failure().regular > nearest.regular) nearest = search.failure();
  }
  if (!answer.writes) answer.reason = std::move(nearest.reason);
  return answer;
}

TmaAnswer tma_boxes(Map const& map, Limits const& limits) {
  auto const refuse = [&](std::string message, std::string hint) {
    std::string const text = to_string(map);
    return InputError{std::move(message), text, 0, text.size(), std::move(hint)};
  };
  if (map.domain() == nullptr) throw refuse("TMA writes a tile with a shape", "such as (128,64):(64,1)");
  if (!map.element_bits)
    throw refuse("the element size is not known", "give --element, such as --element f16");
  Layout const& tile = *map.domain();
  std::vector<std::uint64_t> extents;
  for (std::size_t m = 0; m < tile.rank(); ++m)
    extents.push_back(static_cast<std::uint64_t>(tile.shape.mode(m).product()));
  if (std::string reason = unfit(extents, *map.element_bits); !reason.empty()) return {{}, std::move(reason)};
  if (tile.size() > most_enumerated) return {{}, "the tile has more than 2^22 elements: not enumerated"};
  if (!std::holds_alternative<Proved>(is_one_to_one(map, limits).outcome))
    return {{}, "two elements share a place, which two boxes would write"};
  Quantity const period = period_of(map.on_bytes, limits);
  if (!period.value) return {{}, "the function of the addresses has no period that is known"};
  auto const addresses = addresses_of(map);
  if (!addresses) return {{}, "the layout tears elements apart, TMA keeps them whole"};
  TmaAnswer answer = tma_boxes(extents, *map.element_bits, *addresses);
  if (!answer.writes) return answer;
  // Where the tile's swizzle is the mode's own, both see the same address from every base.
  auto const* own = map.on_bytes.size() == 1 ? std::get_if<Swizzle>(&map.on_bytes[0]) : nullptr;
  Swizzle const sigma = swizzle_of(answer.writes->mode);
  bool const same = (own != nullptr && *own == sigma) || (map.on_bytes.empty() && sigma.bits == 0);
  answer.writes->destination_alignment =
      same ? tma_destination : std::max(answer.writes->destination_alignment, *period.value);
  return answer;
}

}  // namespace swizproof
