#include <swizproof/layout/algebra.hpp>

#include "layout/modes.hpp"

#include <algorithm>
#include <numeric>

namespace swizproof {

using namespace layout_detail;

namespace {

/// Strides of a compact shape, first or last mode fastest, from `step` on; `step` ends behind it.
IntTuple compact(IntTuple const& shape, Order major, IntTuple& step) {
  if (!shape.is_tuple) {
    if (is_constant(shape, 1)) return 0;
    IntTuple const stride = step;
    step = step * shape;
    return stride;
  }
  Leaves strides(shape.modes.size());
  for (size_t i = 0; i < strides.size(); ++i) {
    size_t const at = major == Order::left ? i : strides.size() - 1 - i;
    strides[at] = compact(shape.modes[at], major, step);
  }
  return tuple_of(std::move(strides));
}

/// Runs of static and of dynamic extents, each multiplied out.
IntTuple coalesced_shape(IntTuple const& shape) {
  Leaves out;
  for (IntTuple const& n : leaves_of(shape)) {
    if (!out.empty() && out.back().is_static == n.is_static)
      out.back() = out.back() * n;
    else
      out.push_back(n);
  }
  if (out.empty()) refuse("an empty shape has no modes to combine");
  return leaf_or_tuple(std::move(out));
}

/// Merges each mode into the one behind it where static integers say that it goes on there.
Layout coalesced(Leaves const& shapes, Leaves const& strides, IntTuple last_shape) {
  Leaves shape{std::move(last_shape)}, stride{strides.back()};  // back to front
  for (size_t i = shapes.size() - 1; i-- > 0;) {
    bool const only_one = shape.size() == 1 && is_constant(shape[0], 1);
    if (is_constant(shapes[i], 1)) continue;
    if (only_one) {
      shape[0] = shapes[i];
      stride[0] = strides[i];
    } else if (shape.back().is_static && is_same_constant(shapes[i] * strides[i], stride.back())) {
      shape.back() = shapes[i] * shape.back();
      stride.back() = strides[i];
    } else {
      shape.push_back(shapes[i]);
      stride.push_back(strides[i]);
    }
  }
  if (shape.size() == 1 && is_constant(shape[0], 1)) return {1, 0};
  std::reverse(shape.begin(), shape.end());
  std::reverse(stride.begin(), stride.end());
  return {leaf_or_tuple(std::move(shape)), leaf_or_tuple(std::move(stride))};
}

/// coalesce() that also keeps the layout's values past its end: a last extent of 1 stays a mode of its own.
Layout coalesced_beyond(Layout const& l) {
  Leaves const shapes = leaves_of(l.shape), strides = leaves_of(l.stride);
  if (shapes.empty()) refuse("a layout without modes cannot be composed");
  return coalesced(shapes, strides, is_constant(shapes.back(), 1) ? IntTuple(2) : shapes.back());
}

Layout coalesced_beyond(Layout const& l, IntTuple const& profile) {
  if (!profile.is_tuple) return coalesced_beyond(l);
  if (profile.rank() > l.rank()) refuse("the coordinates have more modes than the layout " + to_string(l));
  std::vector<Layout> modes = layouts_of(l);
  for (size_t i = 0; i < profile.rank(); ++i) modes[i] = coalesced_beyond(modes[i], profile.modes[i]);
  return make_layout(modes);
}

/// The coordinates that strides such as 5@1@0 reach, as a tree of zeros.
void add_coordinates(IntTuple const& stride, IntTuple& profile) {
  for (IntTuple const& m : stride.modes) add_coordinates(m, profile);
  IntTuple* at = &profile;
  for (int const mode : stride.basis) {
    at->is_tuple = true;
    while (at->modes.size() <= static_cast<size_t>(mode)) at->modes.emplace_back(0);
    at = &at->modes[static_cast<size_t>(mode)];
  }
}

IntTuple const& at_basis(IntTuple const& t, std::vector<int> const& basis) {
  IntTuple const* at = &t;
  for (int const mode : basis) at = &at->mode(static_cast<size_t>(mode));
  return *at;
}

/// Steps of one integer mode of B through the modes of A.
Layout compose_leaf(Leaves const& shapes, Leaves const& strides, IntTuple rest, IntTuple step) {
  Leaves shape, stride;
  for (size_t i = 0; i + 1 < shapes.size(); ++i) {
    IntTuple const& extent = shapes[i];
    if (extent.is_static && step.is_static && step.value % extent.value != 0 && step.value >= extent.value)
      refuse("a stride of " + to_string(step) + " neither divides nor is divided by the extent " +
             to_string(extent) + " of the left layout (CuTe: stride divisibility condition)");
    IntTuple const taken = ceil_div(extent, abs(step));
    IntTuple const next = ceil_div(abs(step), extent) * signum(step);
    if (!is_constant(taken, 1) && !is_constant(rest, 1)) {
      IntTuple const part = min(taken, rest);
      if (part.value < 1) refuse("CuTe's result has the extent " + to_string(part));
      if (part.is_static && rest.is_static && rest.value % part.value != 0)
        refuse("an extent of " + to_string(rest) + " is not a multiple of the " + to_string(part) +
               " steps that fit into one mode of the left layout (CuTe: shape divisibility condition)");
      shape.push_back(part);
      stride.push_back(step * strides[i]);
      rest = rest / part;
    }
    step = next;
  }
  if (shape.empty()) return {rest, step * strides.back()};
  if (is_constant(rest, 1)) return {leaf_or_tuple(std::move(shape)), leaf_or_tuple(std::move(stride))};
  shape.push_back(rest);
  stride.push_back(step * strides.back());
  return {tuple_of(std::move(shape)), tuple_of(std::move(stride))};
}

Layout compose(IntTuple const& a_shape, IntTuple const& a_stride, IntTuple const& shape,
               IntTuple const& stride) {
  if (shape.is_tuple) {
    std::vector<Layout> modes;
    for (size_t i = 0; i < shape.rank(); ++i)
      modes.push_back(compose(a_shape, a_stride, shape.modes[i], stride.modes[i]));
    return make_layout(modes);
  }
  if (!stride.basis.empty())
    return compose(at_basis(a_shape, stride.basis), at_basis(a_stride, stride.basis), shape,
                   IntTuple(stride.value, stride.is_static));
  if (is_constant(stride, 0)) return {shape, stride};
  if (!a_shape.is_tuple) return {shape, stride * a_stride};
  return compose_leaf(a_shape.modes, a_stride.modes, shape, stride);
}

/// The tiler's profile pulls (tile, rest) pairs apart: ((A,a),(B,b),c) into ((A,B),(a,b,c)).
IntTuple zip2_by(IntTuple const& t, Tiler const& guide) {
  auto const* modes = std::get_if<std::vector<Tiler>>(&guide.value);
  if (modes == nullptr) {
    if (!t.is_tuple || t.modes.size() != 2) refuse("the tiler's modes do not match the layout's");
    return t;
  }
  Leaves tiles, rests;
  for (size_t i = 0; i < modes->size(); ++i) {
    IntTuple split = zip2_by(t.mode(i), (*modes)[i]);
    tiles.push_back(std::move(split.modes[0]));
    rests.push_back(std::move(split.modes[1]));
  }
  for (size_t i = modes->size(); i < t.rank(); ++i) rests.push_back(t.mode(i));
  return tuple_of({tuple_of(std::move(tiles)), tuple_of(std::move(rests))});
}

Layout unzipped(Layout const& l, Tiler const& tiler) {
  return {zip2_by(l.shape, tiler), zip2_by(l.stride, tiler)};
}

/// A tuple mode gives its own modes, as CuTe's result(_, (_,_)) does; an integer or a tuple of one stays.
void splice(std::vector<Layout>& out, Layout const& mode) {
  if (mode.rank() == 1) return out.push_back(mode);
  for (Layout& inner : layouts_of(mode)) out.push_back(std::move(inner));
}
Layout tiled(Layout const& zipped, bool flat) {
  std::vector<Layout> modes;
  if (flat)
    splice(modes, zipped.mode(0));
  else
    modes.push_back(zipped.mode(0));
  splice(modes, zipped.mode(1));
  return make_layout(modes);
}

/// Applies `f` to each mode that the tiler names; the others stay, or are dropped.
template <class F>
Layout by_mode(Layout const& l, std::vector<Tiler> const& tilers, bool keep, F const& f) {
  if (tilers.size() > l.rank())
    refuse("the tiler has " + std::to_string(tilers.size()) + " modes, the layout " + to_string(l) + " has " +
           std::to_string(l.rank()));
  std::vector<Layout> modes = layouts_of(l);
  for (size_t i = 0; i < tilers.size(); ++i) modes[i] = f(modes[i], tilers[i]);
  if (!keep) modes.resize(tilers.size());
  return make_layout(modes);
}

template <class F>
Layout by_profile(Layout const& l, IntTuple const& profile, F const& f) {
  if (!profile.is_tuple) return f(l);
  if (profile.rank() > l.rank()) refuse("the profile has more modes than the layout");
  std::vector<Layout> modes = layouts_of(l);
  for (size_t i = 0; i < profile.rank(); ++i) modes[i] = by_profile(modes[i], profile.modes[i], f);
  return make_layout(modes);
}

/// Positions sorted by stride exactly as CuTe sorts them: equal strides may change places.
std::vector<size_t> sorted_by_stride(Leaves const& strides, std::vector<size_t> at) {
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t j = i + 1; j < at.size(); ++j)
      if (strides[at[j]].value < strides[at[i]].value) std::swap(at[i], at[j]);
  return at;
}

/// 1, n0, n0 n1, ...: the index at which each mode begins to count.
Leaves prefix_products(Leaves const& shapes) {
  Leaves products{1};
  for (IntTuple const& n : shapes) products.push_back(products.back() * n);
  return products;
}

IntTuple ones_where_zero(IntTuple const& stride, IntTuple const& shape) {
  if (stride.is_tuple) {
    Leaves modes;
    for (size_t i = 0; i < stride.rank(); ++i)
      modes.push_back(ones_where_zero(stride.modes[i], shape.modes[i]));
    return tuple_of(std::move(modes));
  }
  return is_constant(stride, 0) ? IntTuple(1) : shape;
}

IntTuple ceil_div_each(IntTuple const& a, IntTuple const& b) {
  if (!a.is_tuple) return ceil_div(a, size(b));
  Leaves out;
  if (b.is_tuple) {
    if (b.rank() > a.rank()) refuse("the divisor has more modes than the shape");
    for (size_t i = 0; i < a.rank(); ++i)
      out.push_back(i < b.rank() ? ceil_div_each(a.modes[i], b.modes[i]) : a.modes[i]);
  } else {
    IntTuple rest = b;
    for (IntTuple const& n : a.modes) {
      out.push_back(ceil_div_each(n, rest));
      rest = ceil_div(rest, size(n));
    }
  }
  return tuple_of(std::move(out));
}

IntTuple product_each(IntTuple const& shape) {
  Leaves out;
  for (IntTuple const& m : modes_of(shape)) out.push_back(size(m));
  return tuple_of(std::move(out));
}

}  // namespace

// Tilers

std::string to_string(Tiler const& tiler) {
  if (auto const* leaf = std::get_if<IntTuple>(&tiler.value)) return to_string(*leaf);
  if (auto const* layout = std::get_if<Layout>(&tiler.value)) return to_string(*layout);
  auto const* modes = std::get_if<std::vector<Tiler>>(&tiler.value);
  if (modes == nullptr) return "_";
  std::string text = "(";
  for (Tiler const& m : *modes) text += (text.size() > 1 ? "," : "") + to_string(m);
  return text + ")";
}

std::optional<IntTuple> integers(Tiler const& tiler) {
  if (auto const* leaf = std::get_if<IntTuple>(&tiler.value)) return *leaf;
  auto const* modes = std::get_if<std::vector<Tiler>>(&tiler.value);
  if (modes == nullptr) return std::nullopt;
  Leaves out;
  for (Tiler const& m : *modes) {
    std::optional<IntTuple> inner = integers(m);
    if (!inner) return std::nullopt;
    out.push_back(std::move(*inner));
  }
  return tuple_of(std::move(out));
}

Tiler tiler(IntTuple const& shape) {
  if (!shape.is_tuple) return {shape};
  std::vector<Tiler> modes;
  for (IntTuple const& m : shape.modes) modes.push_back(tiler(m));
  return {std::move(modes)};
}

// Making layouts

IntTuple size(IntTuple const& shape) {
  if (!shape.is_tuple) return shape;
  IntTuple product = 1;
  for (IntTuple const& m : shape.modes) product = product * size(m);
  return product;
}

Layout make_layout(IntTuple const& shape, Order major) {
  refuse_empty(shape);
  IntTuple step = 1;
  return {shape, compact(shape, major, step)};
}

Layout make_layout(std::vector<Layout> const& modes) {
  Leaves shapes, strides;
  for (Layout const& m : modes) {
    shapes.push_back(m.shape);
    strides.push_back(m.stride);
  }
  return {tuple_of(std::move(shapes)), tuple_of(std::move(strides))};
}

namespace {

IntTuple product_like(IntTuple const& shape, IntTuple const& guide) {
  if (!guide.is_tuple) return size(shape);
  if (!shape.is_tuple || shape.rank() != guide.rank()) refuse("the order must have the rank of the shape");
  Leaves out;
  for (size_t i = 0; i < guide.rank(); ++i) out.push_back(product_like(shape.modes[i], guide.modes[i]));
  return tuple_of(std::move(out));
}

/// Strides along `order`: a mode starts at the product of the extents of lesser order.
IntTuple compact_order(IntTuple const& shape, IntTuple const& order, Leaves const& extents,
                       std::vector<std::int64_t> const& ranks, size_t& next) {
  if (order.is_tuple) {
    Leaves out;
    for (size_t i = 0; i < order.rank(); ++i)
      out.push_back(compact_order(shape.modes[i], order.modes[i], extents, ranks, next));
    return tuple_of(std::move(out));
  }
  IntTuple step = 1;
  for (size_t i = 0; i < extents.size(); ++i)
    if (ranks[i] < ranks[next]) step = step * extents[i];
  ++next;
  return compact(shape, Order::left, step);
}

IntTuple compact_order(IntTuple const& shape, IntTuple const& order) {
  Leaves const extents = leaves_of(product_like(shape, order)), orders = leaves_of(order);
  std::int64_t largest = 0;
  for (IntTuple const& o : orders)
    if (o.is_static) largest = std::max(largest, o.value);
  std::vector<std::int64_t> ranks;
  for (size_t i = 0; i < orders.size(); ++i)
    ranks.push_back(orders[i].is_static ? orders[i].value : largest + 1 + static_cast<std::int64_t>(i));
  size_t next = 0;
  return compact_order(shape, order, extents, ranks, next);
}

}  // namespace

Layout make_ordered_layout(IntTuple const& shape, IntTuple const& order) {
  refuse_empty(shape);
  return {shape, compact_order(shape, order)};
}

Layout make_layout_like(Layout const& l) {
  refuse_coordinates(l, "the order");
  return {l.shape, compact_order(ones_where_zero(l.stride, l.shape), l.stride)};
}

Layout make_fragment_like(Layout const& l) {
  refuse_coordinates(l, "the order");
  Leaves const extents = leaves_of(l.shape);
  bool const fixed = std::all_of(extents.begin(), extents.end(), [](auto const& n) { return n.is_static; });
  if (l.rank() < 2 || !fixed) return make_layout(l.shape);
  IntTuple step = 1;
  Layout const first{l.shape.modes[0],
                     compact(ones_where_zero(l.stride.modes[0], l.shape.modes[0]), Order::left, step)};
  IntTuple const rest(Leaves(l.shape.modes.begin() + 1, l.shape.modes.end()));
  IntTuple const order(Leaves(l.stride.modes.begin() + 1, l.stride.modes.end()));
  return tiled_product(first, Tiler{make_ordered_layout(rest, order)});
}

Layout group(Layout const& l, size_t first, size_t last) {
  if (first > last || last > l.rank()) refuse("no such modes to group");
  auto const grouped = [&](IntTuple const& t) {
    Leaves modes = modes_of(t);
    auto const from = modes.begin() + static_cast<std::ptrdiff_t>(first);
    auto const to = modes.begin() + static_cast<std::ptrdiff_t>(last);
    Leaves inner(from, to);
    auto const at = modes.erase(from, to);
    if (first < last) modes.insert(at, tuple_of(std::move(inner)));
    return tuple_of(std::move(modes));
  };
  return {grouped(l.shape), grouped(l.stride)};
}

Layout append(Layout const& l, size_t rank, Layout const& x) {
  if (rank < l.rank()) refuse("the layout has more than " + std::to_string(rank) + " modes");
  if (rank == l.rank()) return l;
  Leaves shape = modes_of(l.shape), stride = modes_of(l.stride);
  shape.resize(rank, x.shape);
  stride.resize(rank, x.stride);
  return {tuple_of(std::move(shape)), tuple_of(std::move(stride))};
}

Layout prepend(Layout const& l, size_t rank, Layout const& x) {
  if (rank < l.rank()) refuse("the layout has more than " + std::to_string(rank) + " modes");
  if (rank == l.rank()) return l;
  Leaves shape = modes_of(l.shape), stride = modes_of(l.stride);
  shape.insert(shape.begin(), rank - shape.size(), x.shape);
  stride.insert(stride.begin(), rank - stride.size(), x.stride);
  return {tuple_of(std::move(shape)), tuple_of(std::move(stride))};
}

Layout zip(Layout const& a, Layout const& b) {
  // CuTe looks at the first alone: two integers, or an integer and a tuple, become one mode of two.
  if (!a.shape.is_tuple) return make_layout(std::vector<Layout>{make_layout(std::vector<Layout>{a, b})});
  if (!b.shape.is_tuple || a.rank() != b.rank()) refuse("the layouts differ in rank");
  std::vector<Layout> modes;
  for (size_t i = 0; i < a.rank(); ++i) modes.push_back(make_layout({a.mode(i), b.mode(i)}));
  return make_layout(modes);
}

// Simplifying

Layout coalesce(Layout const& l) {
  Leaves const shapes = leaves_of(l.shape), strides = leaves_of(l.stride);
  if (shapes.empty()) refuse("a layout without modes cannot be coalesced");
  return coalesced(shapes, strides, shapes.back());
}
Layout coalesce(Layout const& l, IntTuple const& profile) {
  return by_profile(l, profile, [](Layout const& m) { return coalesce(m); });
}
Layout filter_zeros(Layout const& l) { return {ones_where_zero(l.stride, l.shape), l.stride}; }
Layout filter(Layout const& l) { return coalesce(filter_zeros(l)); }
Layout filter(Layout const& l, IntTuple const& profile) {
  return by_profile(l, profile, [](Layout const& m) { return filter(m); });
}
Layout flatten(Layout const& l) { return {flattened(l.shape), flattened(l.stride)}; }

// Composition

Layout composition(Layout const& a, Layout const& b) {
  IntTuple profile = 0;
  add_coordinates(b.stride, profile);
  Layout const flat = coalesced_beyond(a, profile);
  return compose(flat.shape, flat.stride, b.shape, b.stride);
}

Layout composition(Layout const& a, Tiler const& tiler) {
  if (auto const* layout = std::get_if<Layout>(&tiler.value)) return composition(a, *layout);
  if (auto const* n = std::get_if<IntTuple>(&tiler.value)) {
    refuse_empty(*n);
    Layout const flat = coalesced_beyond(a);
    return compose(flat.shape, flat.stride, *n, 1);
  }
  if (auto const* modes = std::get_if<std::vector<Tiler>>(&tiler.value))
    return by_mode(a, *modes, false, [](Layout const& l, Tiler const& t) { return composition(l, t); });
  return a;
}

std::optional<std::uint64_t> difference(Layout const& a, Layout const& b, Layout const& result,
                                        std::uint64_t end) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  auto const count = static_cast<std::uint64_t>(b.size());
  // Past its end a layout goes on, so values alone do not tell a larger one apart.
  std::int64_t const had = size(result.shape).value;
  if (had != b.size()) return std::min(count, static_cast<std::uint64_t>(std::max<std::int64_t>(had, 0)));
  std::uint64_t const step = count <= most ? 1 : count / most | 1;
  // The same functions in as few modes as there are: thousands of extents of 1 would cost as many divisions each.
  Layout const left = a.shape.leaf_count() != 0 ? coalesced_beyond(a) : a;
  Layout const right = count > 1 ? coalesce(b) : b, theirs = count > 1 ? coalesce(result) : result;
  for (std::uint64_t i = 0; i < count; i += step) {
    std::uint64_t const middle = right(i).elements;
    bool const counts = middle < end && static_cast<std::int64_t>(middle) >= 0;
    if (counts && left(middle).elements != theirs(i).elements) return i;
  }
  return std::nullopt;
}

// Complement and inverses

Layout complement(Layout const& l, IntTuple const& target) {
  refuse_coordinates(l, "the complement");
  refuse_empty(target);
  Layout const filtered = filter(l);
  if (!filtered.stride.is_tuple && is_constant(filtered.stride, 0))
    return make_layout(coalesced_shape(target));
  Leaves shapes = modes_of(filtered.shape), strides = modes_of(filtered.stride);
  if (strides.size() > 1)
    for (IntTuple const& d : strides)
      if (!d.is_static)
        refuse("the complement of a layout with dynamic strides is defined for one mode only");
  Leaves result_shape, result_stride{1};
  while (!shapes.empty()) {
    size_t least = 0;
    for (size_t i = 1; i < strides.size(); ++i)
      if (strides[i].value < strides[least].value) least = i;
    IntTuple const gap = strides[least] / result_stride.back();
    if (is_constant(gap, 0))
      refuse("the layout " + to_string(l) + " is not one-to-one: it has no complement");
    result_shape.push_back(gap);
    result_stride.push_back(strides[least] * shapes[least]);
    shapes.erase(shapes.begin() + static_cast<std::ptrdiff_t>(least));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(least));
  }
  IntTuple step = result_stride.back();
  result_stride.pop_back();
  IntTuple const rest = coalesced_shape(ceil_div_each(target, step));
  IntTuple const rest_stride = compact(rest, Order::left, step);
  return coalesce(Layout{tuple_of({tuple_of(std::move(result_shape)), rest}),
                         tuple_of({tuple_of(std::move(result_stride)), rest_stride})});
}

Layout complement(Layout const& l) { return complement(l, coshape(filter(l))); }

Layout right_inverse(Layout const& l) {
  refuse_coordinates(l, "the right inverse");
  Layout const flat = coalesce(l);
  Leaves const shapes = modes_of(flat.shape), strides = modes_of(flat.stride);
  Leaves const starts = prefix_products(shapes);
  std::vector<size_t> at;
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i].is_static) at.push_back(i);
  Leaves result_shape{1}, result_stride{0};
  IntTuple reached = 1;
  for (size_t const i : sorted_by_stride(strides, at))
    if (is_same_constant(strides[i], reached)) {
      result_shape.push_back(shapes[i]);
      result_stride.push_back(starts[i]);
      reached = shapes[i] * strides[i];
    }
  return coalesce(Layout{tuple_of(std::move(result_shape)), tuple_of(std::move(result_stride))});
}

Layout left_inverse(Layout const& l) {
  refuse_coordinates(l, "the left inverse");
  Layout const flat = coalesce(l);
  Leaves const shapes = modes_of(flat.shape), strides = modes_of(flat.stride);
  Leaves const starts = prefix_products(shapes);
  for (IntTuple const& d : strides)
    if (!d.is_static) refuse("the left inverse needs static strides, and " + to_string(d) + " is dynamic");
  std::vector<size_t> at(strides.size());
  std::iota(at.begin(), at.end(), size_t{0});
  at = sorted_by_stride(strides, at);
  Leaves result_shape, result_stride{0};
  for (size_t const i : at) {
    if (strides[i].value == 0) continue;
    IntTuple const so_far = size(tuple_of(result_shape));
    if ((strides[i] % so_far).value != 0)
      refuse("the stride " + to_string(strides[i]) + " is not a multiple of " + to_string(so_far) +
             " (CuTe: left inverse divisibility condition)");
    result_shape.push_back(strides[i] / so_far);
    result_stride.push_back(starts[i]);
  }
  result_shape.push_back(shapes[at.back()]);
  return coalesce(Layout{tuple_of(std::move(result_shape)), tuple_of(std::move(result_stride))});
}

Layout nullspace(Layout const& l) {
  Leaves const shapes = leaves_of(l.shape), strides = leaves_of(l.stride);
  Leaves const starts = leaves_of(make_layout(flattened(l.shape)).stride);
  Leaves shape, stride;
  for (size_t i = 0; i < strides.size(); ++i)
    if (is_constant(strides[i], 0)) {
      shape.push_back(shapes[i]);
      stride.push_back(starts[i]);
    }
  if (shape.empty()) return {1, 0};
  return {unwrapped(tuple_of(std::move(shape))), unwrapped(tuple_of(std::move(stride)))};
}

// Divides and products

Layout logical_divide(Layout const& l, Tiler const& t) {
  if (auto const* tile = std::get_if<Layout>(&t.value)) {
    // The complement sees the extents as coalesce() leaves them, dynamic ones apart from static ones.
    Layout const rest = complement(*tile, coalesce(l).shape);
    return composition(l, make_layout({*tile, rest}));
  }
  if (auto const* n = std::get_if<IntTuple>(&t.value)) return logical_divide(l, {make_layout(*n)});
  if (auto const* modes = std::get_if<std::vector<Tiler>>(&t.value))
    return by_mode(l, *modes, true,
                   [](Layout const& m, Tiler const& each) { return logical_divide(m, each); });
  return l;
}
Layout zipped_divide(Layout const& l, Tiler const& t) { return unzipped(logical_divide(l, t), t); }
Layout tiled_divide(Layout const& l, Tiler const& t) { return tiled(zipped_divide(l, t), false); }
Layout flat_divide(Layout const& l, Tiler const& t) { return tiled(zipped_divide(l, t), true); }

Layout logical_product(Layout const& block, Tiler const& t) {
  if (auto const* tile = std::get_if<Layout>(&t.value)) {
    IntTuple const target = size(block.shape) * size(coshape(*tile));
    return make_layout({block, composition(complement(block, target), *tile)});
  }
  if (auto const* n = std::get_if<IntTuple>(&t.value)) return logical_product(block, {make_layout(*n)});
  if (auto const* modes = std::get_if<std::vector<Tiler>>(&t.value))
    return by_mode(block, *modes, true,
                   [](Layout const& m, Tiler const& each) { return logical_product(m, each); });
  return block;
}
Layout zipped_product(Layout const& block, Tiler const& t) { return unzipped(logical_product(block, t), t); }
Layout tiled_product(Layout const& block, Tiler const& t) { return tiled(zipped_product(block, t), false); }
Layout flat_product(Layout const& block, Tiler const& t) { return tiled(zipped_product(block, t), true); }

Layout blocked_product(Layout const& block, Layout const& t) {
  size_t const rank = std::max(block.rank(), t.rank());
  Layout const both = logical_product(append(block, rank), {append(t, rank)});
  return zip(both.mode(0), both.mode(1));
}
Layout raked_product(Layout const& block, Layout const& t) {
  size_t const rank = std::max(block.rank(), t.rank());
  Layout const both = logical_product(append(block, rank), {append(t, rank)});
  return zip(both.mode(1), both.mode(0));
}

Layout tile_to_shape(Layout const& block, IntTuple const& shape, std::optional<IntTuple> const& order) {
  if (block.rank() > shape.rank())
    refuse("the shape " + to_string(shape) + " has fewer modes than the block");
  refuse_empty(shape);
  Layout const padded = append(block, shape.rank());
  IntTuple const extents = product_each(padded.shape), target = product_each(shape);
  for (size_t i = 0; size(target).is_static && i < target.rank(); ++i) {
    IntTuple const &have = extents.modes[i], &want = target.modes[i];
    if (!have.is_static)
      refuse("a static shape needs a static block, and its extent " + to_string(have) + " is dynamic");
    if (have.value < 1 || want.value % have.value != 0)
      refuse("the block's extent " + to_string(have) + " does not divide the shape's " + to_string(want));
  }
  IntTuple const copies = ceil_div_each(target, extents);
  return blocked_product(padded, order ? make_ordered_layout(copies, *order) : make_layout(copies));
}

}  // namespace swizproof
