#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/analysis/boxes.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/core/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <unordered_map>

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
  [[nodiscard]] TmaMode mode() const { return mode_; }

  /// The boxes of a solution, the first mode of the tile fastest.
  [[nodiscard]] std::vector<TmaCopy> copies(TmaBoxes const& boxes) const {
    std::vector<TmaCopy> all;
    for_each_corner(along(boxes), [&](std::vector<std::uint64_t> const& at, std::size_t i) {
      all.push_back({at, static_cast<std::int64_t>(plain_[i])});
      return true;
    });
    return all;
  }

  /// The first element that a copy in lines as long as can be puts elsewhere; nothing if the tile has no lines of 16 bytes,
  /// or if only the boxes' starts are in the way.
  [[nodiscard]] std::optional<TmaWitness> witness() const {
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

 private:
  /// Elements of a box along each mode of the tile.
  [[nodiscard]] std::vector<std::uint64_t> along(TmaBoxes const& boxes) const {
    std::vector<std::uint64_t> elements(extents_.size(), 1);
    for (std::size_t d = 0; d < boxes.box.size(); ++d) elements[boxes.modes[d]] = boxes.box[d];
    return elements;
  }
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

  /// Calls visit(coordinate, index) for the first element of each box until it says false.
  template <class Visit>
  void for_each_corner(std::vector<std::uint64_t> const& along, Visit const& visit) const {
    std::vector<std::uint64_t> at(along.size(), 0);
    std::size_t i = 0;
    while (visit(at, i)) {
      std::size_t m = 0;
      for (; m < at.size(); ++m) {
        at[m] += along[m], i += along[m] * strides_[m];
        if (at[m] < extents_[m]) break;
        i -= at[m] * strides_[m], at[m] = 0;
      }
      if (m == at.size()) return;
    }
  }

  /// Where a box would start that TMA cannot start, from the tile's base.
  [[nodiscard]] std::optional<std::int64_t> misplaced(std::vector<std::uint64_t> const& along) const {
    std::optional<std::int64_t> stray;
    for_each_corner(along, [&](std::vector<std::uint64_t> const&, std::size_t i) {
      if (plain_[i] % tma_destination != 0) stray = static_cast<std::int64_t>(plain_[i]);
      return !stray;
    });
    return stray;
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
    return fmt::format("TMA copies elements of 8, 16, 32 or 64 bits, not of {}{}", element_bits,
                       element_bits == 4 || element_bits == 6
                           ? "; CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 16U4_ALIGN16B and 16U6_ALIGN16B, which "
                             "pack 16 of them into 8 "
                             "or 16 bytes, are not modelled: give the tile in bytes, --element u8"
                           : "");
  auto const long_modes =
      std::count_if(extents.begin(), extents.end(), [](std::uint64_t e) { return e > 1; });
  if (static_cast<std::size_t>(long_modes) > tma_most_dimensions)
    return fmt::format("the tile has {} modes, a box has at most {} dimensions", long_modes,
                       tma_most_dimensions);
  return {};
}

/// A byte of an element that does not follow the byte before it.
struct Torn {
  std::uint64_t index = 0;
  unsigned byte = 0;
};

/// Where byte j of the element at an index lies from a base. Precondition: elements are whole bytes.
std::uint64_t byte_address(Map const& map, std::uint64_t base, std::uint64_t element_offset, unsigned j) {
  return value(map.on_bytes, std::uint64_t{base + element_offset * (*map.element_bits / 8) + j});
}

/// A tile's elements: offsets, and addresses of the first bytes from base 0.
struct Tile {
  std::vector<std::uint64_t> extents{};
  std::vector<std::uint64_t> offsets{};
  std::vector<std::uint64_t> addresses{};
  std::optional<Torn> torn{};

  [[nodiscard]] std::vector<std::uint64_t> coordinate(std::uint64_t index) const {
    std::vector<std::uint64_t> at;
    for (std::uint64_t const e : extents) at.push_back(index % e), index /= e;
    return at;
  }
};

void read_elements(Map const& map, Tile& tile) {
  unsigned const bytes = *map.element_bits / 8;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(map.domain()->size()); ++i) {
    tile.offsets.push_back(offset(map, i).elements);
    tile.addresses.push_back(byte_address(map, 0, tile.offsets.back(), 0));
    for (unsigned j = 1; j < bytes && !tile.torn; ++j)
      if (byte_address(map, 0, tile.offsets.back(), j) != tile.addresses.back() + j) tile.torn = Torn{i, j};
  }
}

/// Two elements of which one begins where the other does.
std::optional<TmaWitness> shared_place(Tile const& tile) {
  std::unordered_map<std::uint64_t, std::uint64_t> first;
  for (std::uint64_t i = 0; i < tile.addresses.size(); ++i)
    if (auto const [known, fresh] = first.try_emplace(tile.addresses[i], i); !fresh)
      return TmaWitness{tile.coordinate(known->second), 0, std::nullopt,
                        static_cast<std::int64_t>(tile.addresses[i]), tile.coordinate(i)};
  return std::nullopt;
}

/// What each mode gives: the best of those that write the tile, the fewest boxes first; and the search that tells best why the
/// others do not.
struct AllModes {
  std::vector<BoxSearch> searches{};
  std::vector<std::size_t> writing{};  ///< places in `searches`
  std::size_t nearest = 0;
};

AllModes search_all(std::span<TmaMode const> modes, std::span<std::uint64_t const> extents,
                    unsigned element_bits, std::span<std::uint64_t const> addresses) {
  AllModes all;
  for (TmaMode const mode : modes) {
    BoxSearch& search = all.searches.emplace_back(mode, extents, element_bits / 8, addresses);
    search.run();
    if (search.best()) all.writing.push_back(all.searches.size() - 1);
    if (search.failure().regular > all.searches[all.nearest].failure().regular)
      all.nearest = all.searches.size() - 1;
  }
  std::stable_sort(all.writing.begin(), all.writing.end(), [&](std::size_t a, std::size_t b) {
    return all.searches[a].best()->boxes < all.searches[b].best()->boxes;
  });
  return all;
}

/// Why addresses reach too far; empty if they do not.
std::string too_far(unsigned element_bits, std::span<std::uint64_t const> addresses) {
  auto const below = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  };
  auto const [low, high] = std::minmax_element(addresses.begin(), addresses.end(), below);
  std::uint64_t const bytes = *high - *low + element_bits / 8;
  if (bytes <= most_shared_bytes) return {};
  return fmt::format("the tile reaches over {} bytes, more than the {} of a block", bytes, most_shared_bytes);
}

// ---------------------------------------------------------------------------------------- from which bases

constexpr std::uint64_t most_base_steps = std::uint64_t{1} << 28;  ///< bytes that are looked at
constexpr std::uint64_t longest_period = std::uint64_t{1} << 19;   ///< bytes, more than a block has

/// True if the copies put every byte of every element where the tile has it from this base.
bool writes_from(Map const& map, Tile const& tile, Swizzle sigma, std::uint64_t base) {
  unsigned const bytes = *map.element_bits / 8;
  for (std::size_t i = 0; i < tile.addresses.size(); ++i) {
    std::uint64_t const plain = sigma(tile.addresses[i]);  // its own inverse
    for (unsigned j = 0; j < bytes; ++j)
      if (sigma(base + plain + j) != byte_address(map, base, tile.offsets[i], j)) return false;
  }
  return true;
}

/// Finds the bases from which the copies write the tile: each box starts at a multiple of 128 bytes from base 0, so only
/// multiples of 128 will do, and one period of both swizzles tells of all. `period` is the tile's.
void find_bases(Map const& map, Tile const& tile, std::uint64_t period, TmaPlan& plan) {
  Swizzle const sigma = swizzle_of(plan.mode);
  plan.period = std::max({period, std::uint64_t{sigma.period()}, std::uint64_t{tma_destination}});
  std::uint64_t const count = plan.period / tma_destination;
  std::uint64_t const cost = tile.addresses.size() * (*map.element_bits / 8);
  plan.exact = plan.period <= longest_period && count <= most_base_steps / cost;
  plan.destination_alignment = plan.period;
  if (!plan.exact) return;
  std::vector<bool> good(count);
  for (std::uint64_t k = 0; k < count; ++k) good[k] = writes_from(map, tile, sigma, k * tma_destination);
  std::uint64_t least = count;  // all its multiples are good
  for (std::uint64_t step = count / 2; step > 0; step /= 2) {
    bool all = true;
    for (std::uint64_t k = 0; k < count; k += step) all = all && good[k];
    if (all) least = step;
  }
  plan.destination_alignment = least * tma_destination;
  for (std::uint64_t k = 0; k < count; ++k)
    if (good[k] && k % least != 0) plan.also.push_back(k * tma_destination);
}

// ---------------------------------------------------------------------------------------- the copies as a layout

/// Numbers that begin at 0 as a layout's values: extents and strides, the first fastest; nothing if they are none.
std::optional<std::pair<std::vector<IntTuple>, std::vector<IntTuple>>> factored(
    std::vector<std::int64_t> const& values) {
  std::vector<IntTuple> shape, stride;
  std::size_t unit = 1;
  while (unit < values.size()) {
    std::size_t const rest = values.size() / unit;
    std::int64_t const apart = values[unit] - values[0];
    std::size_t run = 1;
    while (run < rest && values[run * unit] == static_cast<std::int64_t>(run) * apart) ++run;
    while (rest % run != 0) --run;
    if (run == 1) return std::nullopt;
    shape.emplace_back(static_cast<std::int64_t>(run));
    stride.emplace_back(apart);
    unit *= run;
  }
  Layout const whole{IntTuple(shape), IntTuple(stride)};
  for (std::uint64_t i = 0; i < values.size() && !shape.empty(); ++i)
    if (static_cast<std::int64_t>(whole(i).elements) != values[i]) return std::nullopt;
  return std::pair(shape, stride);
}

/// The addresses of the copies as a Map; nothing where the boxes' destinations are no sum of a layout for each mode.
std::optional<Map> image_of(TmaPlan const& plan, std::vector<std::uint64_t> const& extents,
                            unsigned element_bits) {
  auto const bytes = static_cast<std::int64_t>(element_bits / 8);
  std::vector<std::int64_t> box(extents.size(), 1), within(extents.size(), 0);
  std::int64_t line = plan.pitch;
  for (std::size_t d = 0; d < plan.box.size(); ++d) {
    box[plan.modes[d]] = plan.box[d];
    within[plan.modes[d]] = d == 0 ? 1 : line / bytes;
    if (d != 0) line *= plan.box[d];
  }
  std::int64_t const start = plan.copies.front().destination;
  std::vector<std::vector<std::int64_t>> steps(extents.size());  // of the boxes along each mode alone
  for (std::size_t m = 0; m < extents.size(); ++m)
    for (TmaCopy const& copy : plan.copies) {
      bool alone = true;
      for (std::size_t n = 0; n < extents.size(); ++n) alone = alone && (n == m || copy.at[n] == 0);
      if (alone) steps[m].push_back((copy.destination - start) / bytes);
    }
  for (TmaCopy const& copy : plan.copies) {
    std::int64_t sum = start / bytes;
    for (std::size_t m = 0; m < extents.size(); ++m)
      sum += steps[m][copy.at[m] / static_cast<std::uint64_t>(box[m])];
    if (sum * bytes != copy.destination) return std::nullopt;
  }
  std::vector<IntTuple> shapes, strides;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    auto outer = factored(steps[m]);
    if (!outer) return std::nullopt;
    if (box[m] > 1 || outer->first.empty()) {
      outer->first.insert(outer->first.begin(), IntTuple(box[m]));
      outer->second.insert(outer->second.begin(), IntTuple(within[m]));
    }
    bool const single = outer->first.size() == 1;
    shapes.push_back(single ? outer->first[0] : IntTuple(outer->first));
    strides.push_back(single ? outer->second[0] : IntTuple(outer->second));
  }
  Map image;
  if (start != 0) image.on_elements.emplace_back(Displacement{start / bytes});
  image.on_elements.emplace_back(Layout{IntTuple(shapes), IntTuple(strides)});
  if (swizzle_of(plan.mode).bits != 0) image.on_bytes = {swizzle_of(plan.mode)};
  image.element_bits = element_bits;
  return image;
}

/// The plan of a search that found boxes: their places and the bases.
TmaPlan plan_of(BoxSearch const& search, Map const& map, Tile const& tile, std::uint64_t period) {
  TmaPlan plan{*search.best(), {}, 0, {}, true, {Engine::exhaustive}, {}};
  plan.copies = search.copies(*search.best());
  find_bases(map, tile, period, plan);
  plan.image = image_of(plan, tile.extents, *map.element_bits);
  return plan;
}

/// The swizzle of bytes, if it is all that acts on them.
Swizzle const* only_swizzle(Map const& map) {
  return map.on_bytes.size() == 1 ? std::get_if<Swizzle>(&map.on_bytes.front()) : nullptr;
}

/// Asks the other engines, of copies that are a layout. Where both end in one swizzle, what stands before it is compared:
/// if that is the same, so are the addresses from every base.
void confirm_plan(TmaPlan& plan, Map const& map, Limits const& limits) {
  if (!plan.image) return;
  Map image = *plan.image, tile = map;
  Swizzle const *const a = only_swizzle(image), *const b = only_swizzle(tile);
  bool const alike = a != nullptr && b != nullptr && *a == *b;
  if (alike) image.on_bytes.clear(), tile.on_bytes.clear();
  bool const by_bytes = image.acts_on_bytes() || tile.acts_on_bytes();
  Equality const same =
      compare(image, tile, by_bytes ? std::optional(plan.destination_alignment) : std::nullopt, limits);
  if (std::holds_alternative<Refuted>(same.outcome))
    throw Disagreement("the copies of TMA: enumeration finds the tile's addresses, " +
                       std::string(name(same.engines.front())) + " does not, in " + to_string(map));
  if (std::holds_alternative<Proved>(same.outcome)) {
    plan.engines = same.engines;
    if (std::find(plan.engines.begin(), plan.engines.end(), Engine::exhaustive) == plan.engines.end())
      plan.engines.push_back(Engine::exhaustive);
  }
}

/// Extents, and what can be refused before the elements are looked at.
TmaCopies begin_copies(Map const& map, Tile& tile) {
  auto const refuse = [&](std::string message, std::string hint) {
    std::string const text = to_string(map);
    return InputError{std::move(message), text, 0, text.size(), std::move(hint)};
  };
  if (map.domain() == nullptr) throw refuse("TMA writes a tile with a shape", "such as (128,64):(64,1)");
  if (!map.element_bits)
    throw refuse("the element size is not known", "give --element, such as --element f16");
  Layout const& layout = *map.domain();
  for (std::size_t m = 0; m < layout.rank(); ++m)
    tile.extents.push_back(static_cast<std::uint64_t>(layout.shape.mode(m).product()));
  TmaCopies out;
  out.reason = unfit(tile.extents, *map.element_bits);
  if (out.reason.empty() && layout.size() > most_enumerated)
    out.reason =
        "the tile has more than 2^22 elements: not enumerated, and more than the shared memory of a block";
  return out;
}

/// Makes `out` a refutation.
TmaCopies refuted(TmaCopies out, std::string reason, std::optional<TmaWitness> witness = {}) {
  out.reason = std::move(reason);
  out.outcome = Refuted{out.reason, {}};
  out.witness = std::move(witness);
  return out;
}

/// tma_copies() by enumeration alone.
TmaCopies enumerate_copies(Map const& map, std::span<TmaMode const> modes, Limits const& limits) {
  Tile tile;
  TmaCopies out = begin_copies(map, tile);
  if (!out.reason.empty()) return refuted(std::move(out), std::string(out.reason));
  read_elements(map, tile);
  Fact const one_to_one = is_one_to_one(map, limits);
  if (std::holds_alternative<Refuted>(one_to_one.outcome))
    return refuted(std::move(out), "two elements share a place, which two boxes would write",
                   shared_place(tile));
  if (auto const* unknown = std::get_if<Unknown>(&one_to_one.outcome)) {
    out.outcome = *unknown;
    out.reason = unknown->reason;
    return out;
  }
  Quantity const period = some_period(map.on_bytes, limits);
  if (!period.value) {
    out.reason = "the function of the addresses has no period that is known";
    out.outcome = Unknown{out.reason};
    return out;
  }
  if (tile.torn) {
    auto const [i, byte] = *tile.torn;
    auto const address = static_cast<std::int64_t>(tile.addresses[i]);
    return refuted(std::move(out), "the layout tears elements apart, TMA keeps them whole",
                   TmaWitness{tile.coordinate(i),
                              byte,
                              address + byte,
                              static_cast<std::int64_t>(byte_address(map, 0, tile.offsets[i], byte)),
                              {}});
  }
  if (std::string reason = too_far(*map.element_bits, tile.addresses); !reason.empty())
    return refuted(std::move(out), std::move(reason));
  AllModes const all = search_all(modes, tile.extents, *map.element_bits, tile.addresses);
  if (all.writing.empty()) {
    BoxSearch const& nearest = all.searches[all.nearest];
    return refuted(std::move(out), nearest.failure().reason, nearest.witness());
  }
  for (std::size_t const i : all.writing)
    out.plans.push_back(plan_of(all.searches[i], map, tile, *period.value));
  out.outcome = Proved{};
  return out;
}

/// The tile with each mode's own modes as modes of the tile, those beyond 256 elements cut there, and contiguous ones cut at
/// `width` elements if that is not 0; nothing if it has no more modes than before, or that cut does not divide.
std::optional<Map> split_tile(Map map, std::int64_t width) {
  Layout const whole = *map.domain();
  std::vector<IntTuple> shape, stride;
  constexpr std::int64_t most = tma_most_elements;
  auto const add = [&](std::int64_t extent, std::int64_t step) {
    bool const cut = extent > most && extent % most == 0;
    shape.emplace_back(cut ? most : extent);
    stride.emplace_back(step);
    if (cut) shape.emplace_back(extent / most), stride.emplace_back(step * most);
  };
  for (std::size_t m = 0; m < whole.rank(); ++m) {
    Layout const mode = coalesce(whole.mode(m));
    std::vector<std::int64_t> const extents = mode.shape.leaves(), steps = mode.stride.leaves();
    for (std::size_t i = 0; i < extents.size(); ++i) {
      bool const cut = width != 0 && steps[i] == 1 && extents[i] > width;
      if (cut && extents[i] % width != 0) return std::nullopt;
      add(cut ? width : extents[i], steps[i]);
      if (cut) add(extents[i] / width, width);
    }
  }
  if (shape.size() <= whole.rank()) return std::nullopt;
  map.on_elements.back() = Layout{IntTuple(shape), IntTuple(stride)};
  return map;
}

/// The split with the fewest boxes, if they are fewer than `than`.
std::optional<TmaSplit> best_split(Map const& map, std::uint64_t than, std::span<TmaMode const> modes,
                                   Limits const& limits) {
  std::optional<TmaSplit> best;
  for (std::int64_t const bytes : {0, 128, 64, 32}) {
    std::optional<Map> const tile = split_tile(map, bytes * 8 / *map.element_bits);
    if (!tile) continue;
    TmaCopies found = enumerate_copies(*tile, modes, limits);
    if (found.plans.empty() || found.plans.front().boxes >= than) continue;
    than = found.plans.front().boxes;
    best = TmaSplit{*tile, std::move(found.plans.front())};
  }
  return best;
}

}  // namespace

TmaAnswer tma_boxes(std::span<std::uint64_t const> extents, unsigned element_bits,
                    std::span<std::uint64_t const> addresses) {
  if (std::string reason = unfit(extents, element_bits); !reason.empty()) return {{}, std::move(reason)};
  if (std::string reason = too_far(element_bits, addresses); !reason.empty()) return {{}, std::move(reason)};
  AllModes const all = search_all(tma_modes, extents, element_bits, addresses);
  if (all.writing.empty()) return {{}, all.searches[all.nearest].failure().reason};
  return {all.searches[all.writing.front()].best(), {}};
}

TmaAnswer tma_boxes(Map const& map, Limits const& limits) {
  TmaCopies const found = enumerate_copies(map, tma_modes, limits);
  if (found.plans.empty()) return {{}, found.reason};
  return {TmaBoxes(found.plans.front()), {}};
}

TmaCopies tma_copies(Map const& map, std::span<TmaMode const> modes, Limits const& limits) {
  TmaCopies out = enumerate_copies(map, modes, limits);
  for (TmaPlan& plan : out.plans) confirm_plan(plan, map, limits);
  bool const small = *map.element_bits % 8 == 0 && map.domain()->size() <= std::int64_t{most_shared_bytes};
  if (small && !std::holds_alternative<Unknown>(out.outcome))
    out.split =
        best_split(map, out.plans.empty() ? ~std::uint64_t{0} : out.plans.front().boxes, modes, limits);
  if (out.split) confirm_plan(out.split->plan, out.split->map, limits);
  return out;
}

}  // namespace swizproof
