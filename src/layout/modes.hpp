// Modes and leaves of shapes and strides, as the algebra of layouts takes them apart.
#pragma once

#include "layout/integer.hpp"

#include <swizproof/layout/algebra.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swizproof::layout_detail {

using std::size_t;
using Leaves = std::vector<IntTuple>;

inline IntTuple tuple_of(Leaves modes) { return IntTuple(std::move(modes)); }
inline IntTuple leaf_or_tuple(Leaves modes) {
  return modes.size() == 1 ? std::move(modes[0]) : tuple_of(std::move(modes));
}

inline void collect(IntTuple const& t, Leaves& out) {
  if (!t.is_tuple) out.push_back(t);
  for (IntTuple const& m : t.modes) collect(m, out);
}
/// The leaves as integers that know whether they are static.
inline Leaves leaves_of(IntTuple const& t) {
  Leaves out;
  collect(t, out);
  return out;
}

inline IntTuple flattened(IntTuple const& t) { return t.is_tuple ? tuple_of(leaves_of(t)) : t; }

/// A single mode instead of a tuple of one, however deep.
inline IntTuple unwrapped(IntTuple const& t) {
  return t.is_tuple && t.modes.size() == 1 ? unwrapped(t.modes[0]) : t;
}

inline Leaves modes_of(IntTuple const& t) { return t.is_tuple ? t.modes : Leaves{t}; }

inline std::vector<Layout> layouts_of(Layout const& l) {
  std::vector<Layout> modes;
  for (size_t i = 0; i < l.rank(); ++i) modes.push_back(l.mode(i));
  return modes;
}

inline void refuse_empty(IntTuple const& shape) {
  for (std::int64_t const n : shape.leaves())
    if (n < 1) refuse("extents must be 1 or more, and " + to_string(shape) + " has " + std::to_string(n));
}

inline void refuse_coordinates(Layout const& l, std::string_view what) {
  if (l.stride.has_basis()) refuse(std::string(what) + " of a coordinate map is not defined");
}

}  // namespace swizproof::layout_detail
