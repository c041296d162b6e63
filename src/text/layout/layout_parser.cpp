#include "text/layout/layout_parser.hpp"

#include <limits>

namespace swizproof {

IntTuple LayoutParser::shape() { return tuple(false, 0); }
IntTuple LayoutParser::strides() { return tuple(true, 0); }

IntTuple LayoutParser::tuple(bool strides, int depth) {
  Nesting const nesting(in_, depth_);
  if (!in_.take("(")) return leaf(strides, depth != 0);
  std::vector<IntTuple> modes;
  if (in_.take(")")) return IntTuple(std::move(modes));
  do modes.push_back(tuple(strides, depth + 1));
  while (in_.take(","));
  in_.expect(")", "or ',' in the tuple");
  return IntTuple(std::move(modes));
}

/// `_8`, `8`; among strides also `5@1@0`, outermost coordinate last, or `0:1:5`, outermost first.
IntTuple LayoutParser::leaf(bool strides, bool inside) {
  auto const coordinate = [&] {
    std::size_t const at = in_.at();
    std::int64_t const mode = in_.take_integer("the number of a coordinate");
    if (mode < 0 || mode > 63) in_.fail("coordinates are numbered from 0 to 63", at, in_.at() - at);
    return static_cast<int>(mode);
  };
  std::vector<int> basis;
  while (strides && inside && in_.looking_at_old_basis()) {
    basis.push_back(coordinate());
    (void)in_.take(":");
  }
  bool const fixed = in_.take("_");
  if (fixed && !in_.at_number()) in_.fail_here("a bare _ is not a number");
  IntTuple leaf(in_.take_integer("an integer or a tuple"), fixed || all_static_);
  if (!strides && in_.looking_at("@")) in_.fail_here("an extent has no coordinate: 1@0 is a stride");
  while (in_.take("@")) basis.insert(basis.begin(), coordinate());
  if (basis.size() > 16) in_.fail_here("a stride with more than 16 coordinates");
  leaf.basis = std::move(basis);
  return leaf;
}

Layout LayoutParser::layout(IntTuple shape, std::size_t from) {
  std::size_t const at = in_.at();
  IntTuple stride = strides();
  if (!congruent(shape, stride))
    in_.fail("the strides must have the shape's nesting", at, in_.at() - at,
             "the shape is " + to_string(shape));
  Layout layout{std::move(shape), std::move(stride)};
  check(layout, from, at);
  return layout;
}

Layout LayoutParser::layout() {
  std::size_t const from = in_.at();
  IntTuple extents = shape();
  if (!in_.take(":"))
    in_.fail_here("expected ':' and the strides", "a layout is shape:stride, such as (8,64):(64,1)");
  return layout(std::move(extents), from);
}

Tiler LayoutParser::tiler() {
  Nesting const nesting(in_, depth_);
  std::size_t const from = in_.at();
  Tiler result;
  if (in_.take("(")) {
    std::vector<Tiler> modes;
    if (!in_.looking_at(")")) do
        modes.push_back(tiler());
      while (in_.take(","));
    in_.expect(")", "or ',' in the tuple");
    result.value = std::move(modes);
  } else if (in_.looking_at_underscore()) {
    (void)in_.take("_");
    return {Underscore{}};
  } else if (named_ && in_.at_letter()) {
    return named_();
  } else {
    result.value = leaf(false, false);
  }
  if (!in_.looking_at(":")) return result;
  // Only now it is known to be a shape, which is stricter than a tiler.
  in_.back_to(from);
  return {layout()};
}

Defect defect(Layout const& layout) {
  auto const extents = layout.shape.leaves(), strides = layout.stride.leaves();
  std::int64_t size = 1, reach = 1;
  for (std::int64_t const extent : extents) {
    if (extent < 1) return Defect::extent;
    if (__builtin_mul_overflow(size, extent, &size) || size > (std::int64_t{1} << 62)) return Defect::size;
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::int64_t step = 0;
    bool const lost = strides[i] == std::numeric_limits<std::int64_t>::min() ||
                      __builtin_mul_overflow(extents[i] - 1, std::abs(strides[i]), &step) ||
                      __builtin_add_overflow(reach, step, &reach) || reach > (std::int64_t{1} << 56);
    if (lost) return Defect::reach;
  }
  return Defect::none;
}

std::string_view explain(Defect defect) {
  switch (defect) {
    case Defect::extent:
      return "extents must be 1 or more";
    case Defect::size:
      return "the shape has more than 2^62 elements";
    case Defect::reach:
      return "the layout reaches further than 2^56 elements";
    case Defect::none:
      break;
  }
  return "valid";
}

void LayoutParser::check(Layout const& layout, std::size_t from, std::size_t stride_from) const {
  Defect const found = defect(layout);
  if (found == Defect::none) return;
  std::size_t const at = found == Defect::reach ? stride_from : from;
  std::size_t const length = found == Defect::extent ? to_string(layout.shape).size() : in_.at() - at;
  in_.fail(std::string(explain(found)), at, length);
}

}  // namespace swizproof
