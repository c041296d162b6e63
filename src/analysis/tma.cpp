#include "analysis/box_search.hpp"
#include "analysis/fixed_box.hpp"

#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/analysis/tma.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/core/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace swizproof {

namespace {

/// Reason if TMA has no such elements; empty if it has.
std::string unfit_element(unsigned bits) {
  if (is_tma_element(bits)) return {};
  return fmt::format(
      "TMA copies elements of 8, 16, 32 or 64 bits, not of {}{}", bits,
      bits == 4 ? "; for CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, which leaves no gaps, give the tile in bytes, "
                  "--element u8; "
                  "16U4_ALIGN16B leaves 8 bytes free behind every 8: 'swizproof tma --box 128,64 --element "
                  "16U4_ALIGN16B --arch sm_100'"
      : bits == 6 ? "; CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B leaves 4 bytes free behind every 12: 'swizproof "
                    "tma --box 128,64 --element 16U6_ALIGN16B --arch sm_100'"
                  : "");
}

/// Reason if no box has so many dimensions; empty if one has.
std::string unfit_modes(std::span<std::uint64_t const> extents) {
  auto const long_modes =
      std::count_if(extents.begin(), extents.end(), [](std::uint64_t e) { return e > 1; });
  if (static_cast<std::size_t>(long_modes) > tma_most_dimensions)
    return fmt::format("the tile has {} modes, and a tensor map has {} dimensions: one for each at most",
                       long_modes, tma_most_dimensions);
  return {};
}

/// A byte of an element that does not follow the byte before it.
struct Split {
  std::uint64_t index = 0;
  unsigned byte = 0;
};

/// Address of byte j of the element at an index, from a base. Precondition: elements are whole bytes.
std::uint64_t byte_address(Map const& map, std::uint64_t base, std::uint64_t element_offset, unsigned j) {
  return value(map.on_bytes, std::uint64_t{base + element_offset * (*map.element_bits / 8) + j});
}

/// A tile's elements: offsets, and addresses of the first bytes from a base.
struct Tile {
  std::vector<std::uint64_t> extents{};
  std::vector<std::uint64_t> offsets{};
  std::vector<std::uint64_t> addresses{};
  std::optional<Split> split{};

  [[nodiscard]] std::vector<std::uint64_t> coordinate(std::uint64_t index) const {
    std::vector<std::uint64_t> at;
    for (std::uint64_t const e : extents) at.push_back(index % e), index /= e;
    return at;
  }
};

/// The offsets, once; then the addresses from a base.
void read_elements(Map const& map, Tile& tile, std::uint64_t base) {
  unsigned const bytes = *map.element_bits / 8;
  if (tile.offsets.empty()) tile.offsets = offsets(map);
  tile.addresses.clear();
  tile.split.reset();
  for (std::uint64_t i = 0; i < tile.offsets.size(); ++i) {
    tile.addresses.push_back(byte_address(map, base, tile.offsets[i], 0));
    for (unsigned j = 1; j < bytes && !tile.split; ++j)
      if (byte_address(map, base, tile.offsets[i], j) != tile.addresses.back() + j) tile.split = Split{i, j};
  }
}

/// Two elements that begin at the same address.
std::optional<TmaWitness> shared_place(Tile const& tile) {
  std::unordered_map<std::uint64_t, std::uint64_t> first;
  for (std::uint64_t i = 0; i < tile.addresses.size(); ++i)
    if (auto const [known, fresh] = first.try_emplace(tile.addresses[i], i); !fresh)
      return TmaWitness{tile.coordinate(known->second), 0, std::nullopt,
                        static_cast<std::int64_t>(tile.addresses[i]), tile.coordinate(i)};
  return std::nullopt;
}

/// Result of each mode: the best of those that write the tile, the fewest boxes first; and the search whose failure explains best why
/// the others do not.
struct AllModes {
  std::vector<BoxSearch> searches{};
  std::vector<std::size_t> writing{};  ///< places in `searches`
  std::size_t nearest = 0;

  /// The search that found the fewest boxes, however their dimensions split the tile's modes, if those are fewer than the best's.
  [[nodiscard]] BoxSearch const* with_fewer() const {
    auto const boxes_of = [&](std::size_t i) { return searches[i].fewest()->boxes.boxes; };
    auto const fewest = std::min_element(writing.begin(), writing.end(), [&](std::size_t a, std::size_t b) {
      return boxes_of(a) < boxes_of(b);
    });
    if (fewest == writing.end() || boxes_of(*fewest) >= searches[writing.front()].best()->boxes.boxes)
      return nullptr;
    return &searches[*fewest];
  }
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
    auto const rank = [&](std::size_t i) {  // of as few boxes those whose dimensions are the tile's modes
      TmaBoxes const& boxes = all.searches[i].best()->boxes;
      return std::pair(boxes.boxes, boxes.box.size());
    };
    return rank(a) < rank(b);
  });
  return all;
}

/// Reason if addresses reach too far; empty if they do not.
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

constexpr std::uint64_t most_base_steps = std::uint64_t{1} << 28;   ///< bytes that are looked at
constexpr std::uint64_t longest_period = std::uint64_t{1} << 19;    ///< bytes, more than a block has
constexpr std::uint64_t most_other_steps = std::uint64_t{1} << 24;  ///< elements, over all bases and modes

/// True if the copies put every byte of every element where the tile has it from this base. `plain` are the addresses before
/// the swizzle, from the base.
bool writes_from(Map const& map, Tile const& tile, std::span<std::uint64_t const> plain, Swizzle sigma,
                 std::uint64_t base) {
  unsigned const bytes = *map.element_bits / 8;
  for (std::size_t i = 0; i < plain.size(); ++i)
    for (unsigned j = 0; j < bytes; ++j)
      if (sigma(base + plain[i] + j) != byte_address(map, base, tile.offsets[i], j)) return false;
  return true;
}

/// A multiple of the tile's period with which what a mode writes repeats, too.
std::uint64_t common_period(TmaMode mode, std::uint64_t period) {
  return std::max({period, std::uint64_t{swizzle_of(mode).period()}, std::uint64_t{tma_destination}});
}

/// Finds the bases from which the copies write the tile. They do from `known`, where `tile` was read; each box starts at a
/// multiple of 128 bytes from there, so only bases that lie multiples of 128 apart will do, and one period of both swizzles
/// decides for all. `period` is the tile's.
void find_bases(Map const& map, Tile const& tile, std::uint64_t period, std::uint64_t known, TmaPlan& plan) {
  Swizzle const sigma = swizzle_of(plan.mode);
  plan.period = common_period(plan.mode, period);
  std::uint64_t const count = plan.period / tma_destination, first = known % tma_destination;
  std::uint64_t const cost = tile.addresses.size() * (*map.element_bits / 8);
  plan.exact = plan.period <= longest_period && count <= most_base_steps / cost;
  plan.destination_alignment = known % plan.period == 0 ? plan.period : 0;
  if (!plan.exact) {
    if (plan.destination_alignment == 0) plan.also.push_back(known % plan.period);
    return;
  }
  std::vector<std::uint64_t> plain;  // each swizzle is its own inverse
  plain.reserve(tile.addresses.size());
  for (std::uint64_t const a : tile.addresses) plain.push_back(sigma(a) - known);
  std::vector<bool> good(count);
  for (std::uint64_t k = 0; k < count; ++k)
    good[k] = writes_from(map, tile, plain, sigma, first + k * tma_destination);
  std::uint64_t least = 0;  // all its multiples are good
  for (std::uint64_t step = count; step > 0 && first == 0; step /= 2) {
    bool all = true;
    for (std::uint64_t k = 0; k < count; k += step) all = all && good[k];
    if (all) least = step;
  }
  plan.destination_alignment = least * tma_destination;
  for (std::uint64_t k = 0; k < count; ++k)
    if (good[k] && (least == 0 || k % least != 0)) plan.also.push_back(first + k * tma_destination);
  // Without multiples the residues are all there is to say: of the least period.
  while (least == 0 && plan.period > tma_destination) {
    std::uint64_t const half = plan.period / 2;
    auto const upper = std::lower_bound(plan.also.begin(), plan.also.end(), half);
    if (!std::equal(plan.also.begin(), upper, upper, plan.also.end(),
                    [&](std::uint64_t low, std::uint64_t high) { return low + half == high; }))
      break;
    plan.also.erase(upper, plan.also.end());
    plan.period = half;
  }
}

// ---------------------------------------------------------------------------------------- the copies as a layout

/// The box along each mode of a tile, in elements; nothing where its dimensions are no split of the mode into equal parts, or the copies no
/// grid of boxes side by side.
std::optional<std::vector<std::uint64_t>> grid_of(TmaPlan const& plan,
                                                  std::vector<std::uint64_t> const& extents) {
  std::vector<std::uint64_t> box(extents.size(), 1);
  std::uint64_t copies = 1;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t d = 0; d < plan.box.size(); ++d)
        if (plan.modes[d] == m && plan.box[d] > 1 && plan.steps[d] == box[m])
          box[m] *= plan.box[d], more = true;
    }
    if (extents[m] % box[m] != 0) return std::nullopt;
    copies *= extents[m] / box[m];
  }
  std::uint64_t const elements =
      std::accumulate(box.begin(), box.end(), std::uint64_t{1}, std::multiplies<>());
  std::uint64_t of_one = 1;
  for (std::uint32_t const extent : plan.box) of_one *= extent;
  if (of_one != elements || copies != plan.copies.size()) return std::nullopt;
  for (TmaCopy const& copy : plan.copies)
    for (std::size_t m = 0; m < extents.size(); ++m)
      if (copy.at[m] % box[m] != 0) return std::nullopt;
  return box;
}

/// The dimensions of a box along a mode, the smallest step first, as modes of a layout: extents, and distances in elements.
Layout within_box(TmaBoxes const& boxes, std::size_t mode, std::int64_t element_bytes) {
  std::vector<std::array<std::int64_t, 3>> along;  // step, extent, distance
  std::int64_t line = boxes.pitch;
  for (std::size_t d = 0; d < boxes.box.size(); ++d) {
    if (boxes.modes[d] == mode && boxes.box[d] > 1)
      along.push_back({boxes.steps[d], boxes.box[d], d == 0 ? 1 : line / element_bytes});
    if (d != 0) line *= boxes.box[d];
  }
  std::sort(along.begin(), along.end());
  std::vector<IntTuple> shape, stride;
  for (auto const& [step, extent, distance] : along)
    shape.emplace_back(extent), stride.emplace_back(distance);
  return {IntTuple(shape), IntTuple(stride)};
}

/// The addresses of the copies as a Map; nothing where the boxes are no grid, or their destinations no sum of a layout for each mode.
std::optional<Map> image_of(TmaPlan const& plan, std::vector<std::uint64_t> const& extents,
                            unsigned element_bits) {
  auto const bytes = static_cast<std::int64_t>(element_bits / 8);
  std::optional<std::vector<std::uint64_t>> const box = grid_of(plan, extents);
  std::int64_t const start = plan.copies.front().destination;
  if (!box || start % bytes != 0) return std::nullopt;
  std::vector<std::vector<std::int64_t>> steps(extents.size());  // of the boxes along each mode alone
  for (std::size_t m = 0; m < extents.size(); ++m)
    for (TmaCopy const& copy : plan.copies) {
      bool alone = true;
      for (std::size_t n = 0; n < extents.size(); ++n) alone = alone && (n == m || copy.at[n] == 0);
      if (alone) steps[m].push_back((copy.destination - start) / bytes);
    }
  for (TmaCopy const& copy : plan.copies) {
    std::int64_t sum = start / bytes;
    for (std::size_t m = 0; m < extents.size(); ++m) sum += steps[m][copy.at[m] / (*box)[m]];
    if (sum * bytes != copy.destination) return std::nullopt;
  }
  std::vector<IntTuple> shapes, strides;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    std::optional<Layout> const outer = layout_of_values(steps[m]);
    if (!outer) return std::nullopt;
    Layout const inner = within_box(plan, m, bytes);
    std::vector<IntTuple> shape = inner.shape.modes, stride = inner.stride.modes;
    shape.insert(shape.end(), outer->shape.modes.begin(), outer->shape.modes.end());
    stride.insert(stride.end(), outer->stride.modes.begin(), outer->stride.modes.end());
    if (shape.empty()) shape.emplace_back(1), stride.emplace_back(0);
    bool const single = shape.size() == 1;
    shapes.push_back(single ? shape[0] : IntTuple(shape));
    strides.push_back(single ? stride[0] : IntTuple(stride));
  }
  Map image;
  if (start != 0) image.on_elements.emplace_back(Displacement{start / bytes});
  image.on_elements.emplace_back(Layout{IntTuple(shapes), IntTuple(strides)});
  if (swizzle_of(plan.mode).bits != 0) image.on_bytes = {swizzle_of(plan.mode)};
  image.element_bits = element_bits;
  return image;
}

/// The plan of boxes that a search found from a base, where `tile` was read: their places and all bases.
TmaPlan plan_of(BoxSearch const& search, BoxCover const& cover, Map const& map, Tile const& tile,
                std::uint64_t period, std::uint64_t base) {
  TmaPlan plan{cover.boxes, {}, 0, {}, true, {Engine::exhaustive}, {}};
  plan.copies = search.copies(cover, base);
  find_bases(map, tile, period, base, plan);
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
  std::uint64_t step = plan.destination_alignment;
  if (by_bytes && step == 0) {  // the first good base, and the multiples of the period from there
    step = plan.period;
    for (Map* map_of : {&image, &tile})
      map_of->on_bytes.emplace_back(Displacement{static_cast<std::int64_t>(plan.also.front())});
  }
  Equality const same = compare(image, tile, by_bytes ? std::optional(step) : std::nullopt, limits);
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
    return InputError::whole(std::move(message), text, std::move(hint));
  };
  if (map.domain() == nullptr) throw refuse("TMA writes a tile with a shape", "such as (128,64):(64,1)");
  if (!map.element_bits) throw refuse("the element size is not known", element_hint);
  Layout const& layout = *map.domain();
  for (std::size_t m = 0; m < layout.rank(); ++m)
    tile.extents.push_back(static_cast<std::uint64_t>(layout.shape.mode(m).product()));
  TmaCopies out;
  out.none_from = std::max(1U, *map.element_bits / 8);
  out.reason = unfit_modes(tile.extents);
  if (out.reason.empty() && layout.size() > most_enumerated)
    out.reason = fmt::format(
        "of the tile's {} elements two share a place, or they reach over more than the {} bytes of a block",
        layout.size(), most_shared_bytes);
  return out;
}

/// Makes `out` a refutation.
TmaCopies refuted(TmaCopies out, std::string reason, std::optional<TmaWitness> witness = {}) {
  out.reason = std::move(reason);
  out.outcome = Refuted{out.reason, {}};
  out.witness = std::move(witness);
  return out;
}

/// Adds the plans of the hard-coded box, as try_base().
TmaCopies try_box(TmaCopies out, Map const& map, TmaQuestion const& question, Tile& tile,
                  std::uint64_t period, std::uint64_t base) {
  std::optional<FixedCover> nearest;
  for (TmaMode const mode : question.modes) {
    FixedCover cover = cover_with(*question.box, mode, tile.extents, *map.element_bits / 8, tile.addresses);
    if (!cover.starts.empty()) {
      TmaPlan plan{cover.boxes, {}, 0, {}, true, {Engine::exhaustive}, {}};
      for (std::size_t const start : cover.starts)
        plan.copies.push_back({tile.coordinate(start),
                               static_cast<std::int64_t>(swizzle_of(mode)(tile.addresses[start]) - base)});
      find_bases(map, tile, period, base, plan);
      plan.image = image_of(plan, tile.extents, *map.element_bits);
      out.plans.push_back(std::move(plan));
    }
    if (!nearest || std::pair(cover.covered, cover.right) > std::pair(nearest->covered, nearest->right))
      nearest = std::move(cover);
  }
  if (out.plans.empty()) {
    std::optional<TmaWitness> witness;
    if (nearest->element)
      witness = TmaWitness{tile.coordinate(*nearest->element),
                           0,
                           static_cast<std::int64_t>(nearest->tma),
                           static_cast<std::int64_t>(tile.addresses[*nearest->element]),
                           {}};
    return refuted(std::move(out), nearest->reason, std::move(witness));
  }
  out.outcome = Proved{};
  return out;
}

/// Adds the plans that write the tile from a base, or refutes that there are any from there.
TmaCopies try_base(TmaCopies out, Map const& map, TmaQuestion const& question, Tile& tile,
                   std::uint64_t period, std::uint64_t base) {
  read_elements(map, tile, base);
  if (tile.split) {
    auto const [i, byte] = *tile.split;
    auto const address = static_cast<std::int64_t>(tile.addresses[i]);
    return refuted(std::move(out), "the layout splits elements, TMA keeps them whole",
                   TmaWitness{tile.coordinate(i),
                              byte,
                              address + byte,
                              static_cast<std::int64_t>(byte_address(map, base, tile.offsets[i], byte)),
                              {}});
  }
  if (std::string reason = too_far(*map.element_bits, tile.addresses); !reason.empty())
    return refuted(std::move(out), std::move(reason));
  if (question.box) return try_box(std::move(out), map, question, tile, period, base);
  AllModes const all = search_all(question.modes, tile.extents, *map.element_bits, tile.addresses);
  if (all.writing.empty()) {
    BoxSearch const& nearest = all.searches[all.nearest];
    return refuted(std::move(out), nearest.failure().reason, nearest.witness());
  }
  for (std::size_t const i : all.writing)
    out.plans.push_back(plan_of(all.searches[i], *all.searches[i].best(), map, tile, period, base));
  if (BoxSearch const* const other = all.with_fewer())
    out.split = plan_of(*other, *other->fewest(), map, tile, period, base);
  out.outcome = Proved{};
  return out;
}

/// Tries the bases that are no multiples of the period. Element 0 begins a box, so a mode has only those that put it at a
/// multiple of 128 before the swizzle. `none` is the refutation from the multiples, which stays if no other base will do.
TmaCopies try_other_bases(TmaCopies none, Map const& map, TmaQuestion const& question, Tile& tile,
                          std::uint64_t period) {
  std::span<TmaMode const> const modes = question.modes;
  std::uint64_t const bytes = *map.element_bits / 8;
  std::uint64_t whole = period;
  for (TmaMode const mode : modes) whole = std::max(whole, common_period(mode, period));
  std::map<std::uint64_t, std::vector<TmaMode>> bases;
  std::uint64_t steps = 0;
  for (TmaMode const mode : modes)
    for (std::uint64_t base = bytes; whole <= longest_period && base < whole; base += bytes)
      if (swizzle_of(mode)(byte_address(map, base, tile.offsets.front(), 0)) % tma_destination == 0)
        bases[base].push_back(mode), steps += tile.offsets.size();
  if (whole > longest_period || steps > most_other_steps) {
    none.none_from = whole;
    return none;
  }
  std::vector<std::uint64_t> order;  // what is aligned most is used most
  for (auto const& [base, of_base] : bases) order.push_back(base);
  std::stable_sort(order.begin(), order.end(), [](std::uint64_t a, std::uint64_t b) {
    return std::countr_zero(a) > std::countr_zero(b);
  });
  for (std::uint64_t const base : order) {
    TmaCopies found = try_base({}, map, {bases[base], question.box, {}}, tile, period, base);
    if (!found.plans.empty()) return found;
  }
  return none;
}

/// Bases from which copies are looked for.
enum class TriedBases : std::uint8_t { multiples, all };

/// tma_copies() by enumeration alone, of elements that TMA has.
TmaCopies enumerate_copies(Map const& map, TmaQuestion const& question, TriedBases bases,
                           Limits const& limits) {
  Tile tile;
  TmaCopies out = begin_copies(map, tile);
  auto const unknown = [&](std::string reason) {
    out.reason = std::move(reason);
    out.outcome = Unknown{out.reason};
    return out;
  };
  if (std::string reason = unfit_element(*map.element_bits); !reason.empty())
    return unknown(std::move(reason));
  if (std::string reason = out.reason; !reason.empty()) return refuted(std::move(out), std::move(reason));
  read_elements(map, tile, 0);
  Fact const one_to_one = is_one_to_one(map, limits);
  if (std::holds_alternative<Refuted>(one_to_one.outcome))
    return refuted(std::move(out), "two elements share a place, which two boxes would write",
                   shared_place(tile));
  if (auto const* undecided = std::get_if<Unknown>(&one_to_one.outcome)) return unknown(undecided->reason);
  Quantity const period = some_period(map.on_bytes, limits);
  if (!period.value) return unknown("the function of the addresses has no period that is known");
  TmaCopies found = try_base(std::move(out), map, question, tile, *period.value, 0);
  if (!found.plans.empty() || bases == TriedBases::multiples) return found;
  return try_other_bases(std::move(found), map, question, tile, *period.value);
}

/// The first multiple of `align` from which a plan's copies do not write the tile; nothing if they write it from all.
std::optional<std::uint64_t> missing_base(TmaPlan const& plan, std::uint64_t align) {
  for (std::uint64_t i = 0; i < plan.period; ++i) {
    std::uint64_t const residue = i * align % plan.period;
    bool const is_multiple = plan.destination_alignment != 0 && residue % plan.destination_alignment == 0;
    if (!is_multiple && !std::binary_search(plan.also.begin(), plan.also.end(), residue)) return residue;
    if (i > 0 && residue == 0) break;
  }
  return std::nullopt;
}

/// The first element that a plan's copies put elsewhere from a base.
std::optional<TmaWitness> wrong_from(TmaPlan const& plan, Map const& map, std::uint64_t base) {
  Tile tile;
  Layout const& layout = *map.domain();
  for (std::size_t m = 0; m < layout.rank(); ++m)
    tile.extents.push_back(static_cast<std::uint64_t>(layout.shape.mode(m).product()));
  std::uint64_t const known =
      plan.destination_alignment == 0 ? plan.also.front() : 0;  // a base from which they do
  read_elements(map, tile, known);
  std::vector<std::uint64_t> const right = tile.addresses;
  read_elements(map, tile, base);
  Swizzle const sigma = swizzle_of(plan.mode);
  for (std::size_t i = 0; i < right.size(); ++i)
    if (std::uint64_t const put = sigma(sigma(right[i]) - known + base); put != tile.addresses[i])
      return TmaWitness{tile.coordinate(i),
                        0,
                        static_cast<std::int64_t>(put),
                        static_cast<std::int64_t>(tile.addresses[i]),
                        {}};
  return std::nullopt;
}

/// Keeps the plans that write the tile from every multiple of `align`; refutes that there are any.
TmaCopies from_every(std::uint64_t align, TmaCopies found, Map const& map) {
  if (found.plans.empty()) return found;
  TmaPlan const first = found.plans.front();
  std::erase_if(found.plans, [&](TmaPlan const& plan) { return missing_base(plan, align).has_value(); });
  found.split.reset();
  if (!found.plans.empty()) return found;
  std::uint64_t const base = *missing_base(first, align);
  if (!first.exact) {
    found.reason =
        fmt::format("the bases are too many to be tried, and {} is no multiple of {}", align, first.period);
    found.outcome = Unknown{found.reason};
    return found;
  }
  return refuted(std::move(found),
                 fmt::format("not from base {}: {}", base,
                             base % tma_destination != 0
                                 ? fmt::format("destinations are multiples of {}", tma_destination)
                                 : fmt::format("mode {} writes it from other multiples of {}",
                                               name(first.mode), tma_destination)),
                 base % tma_destination != 0 ? std::nullopt : wrong_from(first, map, base));
}

/// tma_copies() of elements that TMA has.
TmaCopies copies_of(Map const& map, TmaQuestion const& question, Limits const& limits) {
  TmaCopies out = enumerate_copies(map, question, TriedBases::all, limits);
  if (question.align) out = from_every(*question.align, std::move(out), map);
  for (TmaPlan& plan : out.plans) confirm_plan(plan, map, limits);
  if (out.split) confirm_plan(*out.split, map, limits);
  return out;
}

constexpr char const* no_modes = "no TMA is known of the architecture: it came with compute capability 9.0";

/// tma_recasts(), of any map.
std::vector<Map> recasts_of(Map const& map) {
  return map.domain() != nullptr && map.element_bits ? tma_recasts(map) : std::vector<Map>{};
}

}  // namespace

std::string reason_of_recast(unsigned element_bits, std::string reason) {
  if (element_bits >= 8) return reason;
  return fmt::format("no boxes of bytes write the tile: {}; of 16U4_ALIGN16B and 16U6_ALIGN16B see --box",
                     reason);
}

TmaAnswer tma_boxes(std::span<std::uint64_t const> extents, unsigned element_bits,
                    std::span<std::uint64_t const> addresses, std::span<TmaMode const> modes) {
  if (modes.empty()) return {{}, no_modes, 0};
  for (std::string& reason :
       std::array{unfit_element(element_bits), unfit_modes(extents), too_far(element_bits, addresses)})
    if (!reason.empty()) return {{}, std::move(reason), 0};
  AllModes const all = search_all(modes, extents, element_bits, addresses);
  if (all.writing.empty()) return {{}, all.searches[all.nearest].failure().reason, 0};
  return {all.searches[all.writing.front()].best()->boxes, {}, 0};
}

TmaAnswer tma_boxes(Map const& map, std::span<TmaMode const> modes, Limits const& limits) {
  if (modes.empty()) return {{}, no_modes, 0};
  auto const answer_of = [&](Map const& tile, unsigned element_bits) -> TmaAnswer {
    TmaCopies const found = enumerate_copies(tile, {modes, {}, {}}, TriedBases::multiples, limits);
    if (found.plans.empty()) return {{}, found.reason, element_bits};
    return {TmaBoxes(found.plans.front()), {}, element_bits};
  };
  std::vector<Map> const recasts = recasts_of(map);
  if (recasts.empty()) return answer_of(map, 0);
  std::optional<TmaAnswer> first;
  for (Map const& recast : recasts) {
    TmaAnswer answer = answer_of(recast, *recast.element_bits);
    if (!first || (!first->writes && answer.writes)) first = std::move(answer);
  }
  if (!first->writes) first->reason = reason_of_recast(*map.element_bits, std::move(first->reason));
  return *std::move(first);
}

Support tma_basis(Map const& map, Architecture const& arch) {
  std::optional<Support> const support = tma_support(arch);
  if (arch.tma == TmaLoads::unknown)
    throw InputError::whole(
        fmt::format("it is not known which copies the TMA of compute capability {}.{} makes",
                    arch.capability / 10, arch.capability % 10),
        std::string(arch.name), "the file is about banks; name an architecture: --arch sm_90");
  if (!support)
    throw InputError::whole("this architecture has no TMA", std::string(arch.name),
                            "it came with compute capability 9.0: --arch sm_90");
  if (map.domain() == nullptr || !map.element_bits || arch.most_shared_bytes >= most_shared_bytes)
    return *support;
  auto const elements = static_cast<std::uint64_t>(map.domain()->size());
  if (elements > 8 * arch.most_shared_bytes / *map.element_bits)
    throw InputError::whole(
        fmt::format("the tile has {} elements of {} bits, more than the {} bytes of a block of {}", elements,
                    *map.element_bits, arch.most_shared_bytes, arch.name),
        to_string(map));
  return *support;
}

TmaCopies tma_copies(Map const& map, TmaQuestion const& question, Limits const& limits) {
  std::vector<Map> const recasts = recasts_of(map);
  if (recasts.empty()) return copies_of(map, question, limits);
  std::optional<TmaCopies> first;
  for (Map const& recast : recasts) {
    TmaCopies found = copies_of(recast, question, limits);
    found.recast = recast;
    if (!first || (first->plans.empty() && !found.plans.empty())) first = std::move(found);
  }
  // Elements below a byte have types of their own, which may write what bytes do not.
  if (*map.element_bits < 8 && first->plans.empty()) {
    first->reason = reason_of_recast(*map.element_bits, std::move(first->reason));
    first->outcome = Unknown{first->reason};
    first->witness.reset();
  }
  return std::move(*first);
}

}  // namespace swizproof
