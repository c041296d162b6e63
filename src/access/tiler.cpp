// Tilers of thread-value layouts: from the tiler's own order to the order of the tensor that is copied.
#include <swizproof/access/tiler.hpp>

namespace swizproof {

namespace {

/// True if a layout with cosize = size takes every offset: the strides must count on from each other.
bool is_one_to_one(Layout const& mode) {
  auto const extents = mode.shape.leaves(), strides = mode.stride.leaves();
  std::int64_t reached = 1;
  while (reached < mode.size()) {
    std::size_t i = 0;
    while (i < extents.size() && (extents[i] == 1 || strides[i] != reached)) ++i;
    if (i == extents.size()) return false;
    reached *= extents[i];
  }
  return true;
}

Layout scaled(Layout layout, std::int64_t factor) {
  auto const scale = [&](auto const& self, IntTuple& t) -> void {
    t.value *= t.is_tuple ? 1 : factor;
    for (IntTuple& m : t.modes) self(self, m);
  };
  scale(scale, layout.stride);
  return layout;
}

}  // namespace

IntTuple tile_shape(Tiler const& t) {
  if (auto const* layout = std::get_if<Layout>(&t.value)) return layout->shape;
  if (auto const* n = std::get_if<IntTuple>(&t.value)) return *n;
  auto const* modes = std::get_if<std::vector<Tiler>>(&t.value);
  if (modes == nullptr) throw AlgebraError{"a tiler of _ has no size"};
  std::vector<IntTuple> out;
  for (Tiler const& m : *modes) out.push_back(tile_shape(m));
  return IntTuple(std::move(out));
}

WholeMode whole_mode(Tiler const& t) {
  auto const* layout = std::get_if<Layout>(&t.value);
  Layout const mode = layout != nullptr ? *layout : make_layout(tile_shape(t));
  Layout const gaps = complement(mode);
  Layout const whole = make_layout({mode, gaps});
  if (mode.stride.has_basis() || whole.cosize() != whole.size() || !is_one_to_one(whole))
    throw AlgebraError{"the tiler " + to_string(mode) + " does not name its coordinates once each"};
  return {mode, gaps};
}

IntTuple through_tiler(Tiler const& t, std::span<Layout* const> sides) {
  auto const* modes = std::get_if<std::vector<Tiler>>(&t.value);
  std::vector<Tiler> const all = modes != nullptr ? *modes : std::vector<Tiler>{t};
  std::vector<Layout> through, plain, gaps;
  std::vector<IntTuple> extents;
  std::int64_t step = 1;
  for (Tiler const& m : all) {
    WholeMode const mode = whole_mode(m);
    through.push_back(scaled(mode.tiler, step));
    plain.push_back(scaled(make_layout(tile_shape(m)), step));
    if (mode.gaps.size() != 1) gaps.push_back(scaled(mode.gaps, step));
    extents.emplace_back(mode.extent());
    step *= mode.extent();
  }
  IntTuple tile(std::move(extents));
  if (through == plain) return tile;
  for (Layout* const side : sides) {
    *side = composition(make_layout(through), *side);
    if (gaps.empty()) continue;
    std::vector<Layout> values = gaps;
    values.insert(values.begin(), side->mode(1));
    *side = make_layout({side->mode(0), make_layout(values)});
  }
  return tile;
}

}  // namespace swizproof
