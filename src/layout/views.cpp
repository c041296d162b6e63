// Layouts in other units, slices, and what two layouts have in common.
#include "layout/modes.hpp"

#include <algorithm>
#include <numeric>

namespace swizproof {

using namespace layout_detail;

// Units

Layout upcast(Layout const& l, std::int64_t n) {
  if (l.shape.is_tuple) {
    std::vector<Layout> modes;
    for (Layout const& m : layouts_of(l)) modes.push_back(upcast(m, n));
    return make_layout(modes);
  }
  if (!l.stride.basis.empty()) refuse("a coordinate map has no unit");
  if (is_constant(l.stride, 0)) return l;
  if (!l.stride.is_static) {
    // CuTe assumes this and rounds down where it does not hold.
    if (l.stride.value % n != 0)
      refuse("the dynamic stride " + to_string(l.stride) + " is not a multiple of " + std::to_string(n) +
             " (CuTe does not check this)");
    return {l.shape, l.stride / IntTuple(n)};
  }
  if (l.stride.value % n != 0 && n % l.stride.value != 0)
    refuse("neither of the stride " + to_string(l.stride) + " and " + std::to_string(n) +
           " divides the other (CuTe: divisibility condition)");
  IntTuple const step = abs(l.stride);
  return {ceil_div(l.shape, ceil_div(n, step)), signum(l.stride) * ceil_div(step, n)};
}

namespace {

Layout downcast_modes(Layout const& l, std::int64_t n) {
  if (l.shape.is_tuple) {
    std::vector<Layout> modes;
    for (Layout const& m : layouts_of(l)) modes.push_back(downcast_modes(m, n));
    return make_layout(modes);
  }
  if (is_constant(l.stride, 1) || is_constant(l.stride, -1)) return {l.shape * IntTuple(n), l.stride};
  return {l.shape, l.stride * IntTuple(n)};
}

}  // namespace

Layout downcast(Layout const& l, std::int64_t n) {
  refuse_coordinates(l, "the unit");
  Leaves const strides = leaves_of(l.stride);
  if (std::none_of(strides.begin(), strides.end(), [](auto const& d) { return is_constant(d, 1); }))
    refuse("a finer unit needs adjacent elements: no stride is _1");
  return downcast_modes(l, n);
}

// Coordinates

namespace {

/// The offset of a coordinate, static where CuTe's would be; a tree for coordinate maps.
IntTuple offset_of(IntTuple const& coordinate, IntTuple const& shape, IntTuple const& stride) {
  if (coordinate.is_tuple) {
    if (!shape.is_tuple || coordinate.rank() != shape.rank())
      refuse("the coordinate " + to_string(coordinate) + " does not fit the shape " + to_string(shape));
    IntTuple sum = 0;
    for (size_t i = 0; i < coordinate.rank(); ++i)
      sum = sum + offset_of(coordinate.modes[i], shape.modes[i], stride.modes[i]);
    return sum;
  }
  if (!shape.is_tuple) return as_coordinates(coordinate * stride);
  IntTuple sum = 0, rest = coordinate;
  for (size_t i = 0; i < shape.rank(); ++i) {
    bool const last = i + 1 == shape.rank();
    IntTuple const extent = size(shape.modes[i]);
    sum = sum + offset_of(last ? rest : rest % extent, shape.modes[i], stride.modes[i]);
    if (!last) rest = rest / extent;
  }
  return sum;
}

/// The coordinate with 0 for each `_`.
IntTuple with_zeros(Tiler const& coordinate) {
  if (auto const* leaf = std::get_if<IntTuple>(&coordinate.value)) return *leaf;
  if (std::holds_alternative<Underscore>(coordinate.value)) return 0;
  if (std::holds_alternative<Layout>(coordinate.value)) refuse("a coordinate has no strides");
  Leaves modes;
  for (Tiler const& m : std::get<std::vector<Tiler>>(coordinate.value)) modes.push_back(with_zeros(m));
  return tuple_of(std::move(modes));
}

/// The modes that `_` keeps.
void keep_free(Layout const& l, Tiler const& coordinate, std::vector<Layout>& kept) {
  if (std::holds_alternative<Underscore>(coordinate.value)) return kept.push_back(l);
  auto const* modes = std::get_if<std::vector<Tiler>>(&coordinate.value);
  if (modes == nullptr) return;
  if (!l.shape.is_tuple || l.rank() != modes->size())
    refuse("the coordinate " + to_string(coordinate) + " does not fit the shape " + to_string(l.shape));
  for (size_t i = 0; i < modes->size(); ++i) keep_free(l.mode(i), (*modes)[i], kept);
}

}  // namespace

Slice slice(Layout const& l, Tiler const& coordinate) {
  std::vector<Layout> kept;
  keep_free(l, coordinate, kept);
  bool const whole = std::holds_alternative<Underscore>(coordinate.value);
  return {whole ? l : make_layout(kept), offset_of(with_zeros(coordinate), l.shape, l.stride)};
}

IntTuple coordinate(Layout const& map, std::int64_t index) {
  return offset_of(IntTuple(index, false), map.shape, map.stride);
}

IntTuple coshape(Layout const& l) {
  Leaves const shapes = leaves_of(l.shape), strides = leaves_of(l.stride);
  IntTuple last = 0;
  for (size_t i = 0; i < shapes.size(); ++i)
    last = last + as_coordinates((shapes[i] - IntTuple(1)) * abs(strides[i]));
  return plus_one(last);
}

// Common part of two layouts

namespace {

/// The mode that runs through offsets 0, 1, 2, ... with a static extent, if it comes first.
std::optional<Layout> leading_identity(Layout const& l) {
  Layout const first = l.mode(0);
  bool const fits = first.shape.is_static && is_constant(first.stride, 1);
  return fits ? std::optional(first) : std::nullopt;
}

}  // namespace

Layout max_common_layout(Layout const& a, Layout const& b) {
  Layout const inverse = right_inverse(b);
  auto const first = leading_identity(coalesce(composition(a, inverse)));
  return first ? composition(inverse, *first) : Layout{1, 0};
}

IntTuple max_common_vector(Layout const& a, Layout const& b) {
  auto const first = leading_identity(coalesce(composition(a, right_inverse(b))));
  return first ? first->shape : IntTuple(1);
}

IntTuple max_alignment(Layout const& l) {
  Layout const flat = coalesce(l);
  Leaves shapes = modes_of(flat.shape), strides = modes_of(flat.stride);
  for (IntTuple& n : shapes)
    if (!n.is_static) n = 1;
  for (IntTuple& d : strides)
    if (!d.is_static) d = 0;
  Layout const fixed{leaf_or_tuple(shapes), leaf_or_tuple(strides)};
  Layout const permuted = logical_divide(fixed, {right_inverse(fixed)});
  std::int64_t divisor = size(permuted.shape.mode(0)).value;
  for (IntTuple const& d : leaves_of(permuted.stride.mode(1))) divisor = std::gcd(divisor, d.value);
  return divisor;
}

Layout domain_distribute(IntTuple const& shape, IntTuple const& n) {
  refuse_empty(shape);
  refuse_empty(n);
  if (n.is_tuple) refuse("the share must be one integer");
  IntTuple const flat = flattened(shape);
  Leaves shares;
  std::int64_t rest = n.value;
  for (IntTuple const& extent : leaves_of(flat)) {
    if (!extent.is_static || !n.is_static) refuse("domain_distribute needs static integers");
    std::int64_t const share = std::gcd(extent.value, rest);
    shares.emplace_back(share);
    rest /= share;
  }
  if (shares.empty()) refuse("the shape is empty");
  return coalesce(Layout{tuple_of(std::move(shares)), tuple_of(leaves_of(make_layout(flat).stride))});
}

std::optional<Layout> layout_of_values(std::span<std::int64_t const> values) {
  Leaves shape, stride;
  for (size_t unit = 1; unit < values.size();) {
    size_t const rest = values.size() / unit;
    std::int64_t const apart = values[unit];
    size_t run = 1;
    while (run < rest && values[run * unit] == static_cast<std::int64_t>(run) * apart) ++run;
    while (rest % run != 0) --run;
    if (run == 1) return std::nullopt;
    shape.emplace_back(static_cast<std::int64_t>(run));
    stride.emplace_back(apart);
    unit *= run;
  }
  Layout whole{tuple_of(std::move(shape)), tuple_of(std::move(stride))};
  for (size_t i = 0; i < values.size(); ++i) {
    std::int64_t const value =
        whole.rank() == 0 ? 0 : static_cast<std::int64_t>(whole(std::uint64_t{i}).elements);
    if (value != values[i]) return std::nullopt;
  }
  return whole;
}

}  // namespace swizproof
