// A tile in other elements or with other modes, for TMA: 128-bit and packed elements, and modes that are cut where boxes are.
#include <swizproof/analysis/tma.hpp>
#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/composed.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

namespace swizproof {

namespace {

/// Modulo 2^64, as addresses are.
std::int64_t times(std::int64_t a, std::int64_t n) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(n));
}

IntTuple times(IntTuple const& tree, std::int64_t n) {
  if (!tree.is_tuple) return IntTuple(times(tree.value, n), tree.is_static);
  std::vector<IntTuple> modes;
  for (IntTuple const& mode : tree.modes) modes.push_back(times(mode, n));
  return IntTuple(modes);
}

/// The mode whose first elements are contiguous, as the layout alone has it.
std::optional<std::size_t> contiguous_mode(Layout const& layout) {
  for (std::size_t m = 0; m < layout.rank(); ++m) {
    Layout const mode = coalesce(layout.mode(m));
    if (mode.shape.leaves().front() > 1 && mode.stride.leaves().front() == 1) return m;
  }
  return std::nullopt;
}

/// The layout with another one in place of mode m, or as a first mode.
Layout with_mode(Layout const& layout, std::optional<std::size_t> m, Layout const& mode) {
  std::vector<IntTuple> shape, stride;
  if (!m) shape.push_back(mode.shape), stride.push_back(mode.stride);
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    shape.push_back(i == m ? mode.shape : layout.shape.mode(i));
    stride.push_back(i == m ? mode.stride : layout.stride.mode(i));
  }
  return {IntTuple(shape), IntTuple(stride)};
}

/// The functions behind the layout in units n times finer (n > 0) or -n times coarser; false where they have none.
bool change_unit_of_functions(Map& map, std::int64_t n) {
  auto const factor = static_cast<std::uint64_t>(std::abs(n));
  for (std::size_t i = 0; i + 1 < map.on_elements.size(); ++i) {
    if (auto* swizzle = std::get_if<Swizzle>(&map.on_elements[i])) {
      if (swizzle->bits == 0) continue;
      if (!std::has_single_bit(factor)) return false;
      swizzle->base += (n > 0 ? 1 : -1) * std::countr_zero(factor);
      if (!swizzle->valid()) return false;
    } else if (auto* plus = std::get_if<Displacement>(&map.on_elements[i])) {
      if (n < 0 && plus->elements % n != 0) return false;
      *plus = Displacement{n > 0 ? times(plus->elements, n) : plus->elements / -n};
    } else {
      return false;
    }
  }
  return true;
}

/// Elements of several parts of `part` bits.
std::vector<Map> in_parts(Map map, unsigned part) {
  std::int64_t const n = *map.element_bits / part;
  Layout const layout = *map.domain();
  if (!change_unit_of_functions(map, n)) return {};
  map.element_bits = part;
  Layout const finer{layout.shape, times(layout.stride, n)};
  std::vector<Map> all;
  auto const add_merged = [&](std::size_t m) {
    std::vector<IntTuple> const shape{IntTuple(n), finer.shape.mode(m)};
    std::vector<IntTuple> const stride{IntTuple(1), finer.stride.mode(m)};
    all.push_back(map);
    all.back().on_elements.back() = with_mode(finer, m, coalesce(Layout{IntTuple(shape), IntTuple(stride)}));
  };
  std::optional<std::size_t> const contiguous = contiguous_mode(layout);
  if (contiguous) add_merged(*contiguous);
  all.push_back(map);
  all.back().on_elements.back() = with_mode(finer, std::nullopt, Layout{IntTuple(n), IntTuple(1)});
  std::size_t dimensions = 1;
  for (std::size_t m = 0; m < layout.rank(); ++m) dimensions += layout.shape.mode(m).product() > 1;
  for (std::size_t m = 0; m < layout.rank() && dimensions > tma_most_dimensions; ++m)
    if (m != contiguous) add_merged(m);
  return all;
}

/// The tiles as bytes, for elements smaller than a byte.
std::vector<Map> in_bytes(Map map) {
  std::int64_t const n = 8 / *map.element_bits;
  Layout const layout = *map.domain();
  auto const m = contiguous_mode(layout);
  if (!m || !change_unit_of_functions(map, -n)) return {};
  Layout const mode = coalesce(layout.mode(*m));
  std::vector<std::int64_t> extents = mode.shape.leaves(), steps = mode.stride.leaves();
  if (extents.front() % n != 0) return {};
  extents.front() /= n;
  std::vector<IntTuple> shape, stride;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i > 0 && steps[i] % n != 0) return {};
    shape.emplace_back(extents[i]);
    stride.emplace_back(i == 0 ? 1 : steps[i] / n);
  }
  std::vector<IntTuple> shapes, strides;
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    Layout const other = coalesce(layout.mode(i));
    if (i == *m) {
      shapes.push_back(shape.size() == 1 ? shape[0] : IntTuple(shape));
      strides.push_back(stride.size() == 1 ? stride[0] : IntTuple(stride));
      continue;
    }
    std::vector<std::int64_t> const e = other.shape.leaves(), s = other.stride.leaves();
    std::vector<IntTuple> coarser;
    for (std::size_t l = 0; l < e.size(); ++l) {
      if (e[l] > 1 && s[l] % n != 0) return {};
      coarser.emplace_back(e[l] > 1 ? s[l] / n : 0);
    }
    shapes.push_back(other.shape);
    strides.push_back(other.shape.is_tuple ? IntTuple(coarser) : coarser[0]);
  }
  map.on_elements.back() = Layout{IntTuple(shapes), IntTuple(strides)};
  map.element_bits = 8;
  return {map};
}

}  // namespace

std::vector<Map> tma_recasts(Map const& map) {
  unsigned const bits = *map.element_bits;
  if (is_tma_element(bits)) return {};
  for (unsigned const part : {64U, 32U, 16U, 8U})
    if (bits % part == 0) return in_parts(map, part);
  return 8 % bits == 0 ? in_bytes(map) : std::vector<Map>{};
}

std::optional<Map> split_tile(Map const& map, TmaBoxes const& boxes) {
  Layout const whole = *map.domain();
  std::vector<IntTuple> shape, stride;
  for (std::size_t m = 0; m < whole.rank(); ++m) {
    std::int64_t const extent = whole.shape.mode(m).product();
    std::vector<std::int64_t> cuts;
    for (std::size_t d = 0; d < boxes.box.size(); ++d)
      if (boxes.modes[d] == m) cuts.push_back(boxes.steps[d]);
    if (cuts.empty()) cuts.push_back(1);
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(extent);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      if (cuts[c + 1] % cuts[c] != 0) return std::nullopt;
      std::int64_t const parts = cuts[c + 1] / cuts[c];
      std::vector<std::int64_t> values;
      for (std::int64_t i = 0; i < parts; ++i)
        values.push_back(
            static_cast<std::int64_t>(whole.mode(m)(static_cast<std::uint64_t>(i * cuts[c])).elements));
      std::optional<Layout> const part = layout_of_values(values);
      if (!part) return std::nullopt;
      shape.push_back(part->rank() == 0   ? IntTuple(1)
                      : part->rank() == 1 ? part->shape.mode(0)
                                          : part->shape);
      stride.push_back(part->rank() == 0   ? IntTuple(0)
                       : part->rank() == 1 ? part->stride.mode(0)
                                           : part->stride);
    }
  }
  Map out = map;
  out.on_elements.back() = Layout{IntTuple(shape), IntTuple(stride)};
  return offsets(map) == offsets(out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace swizproof
