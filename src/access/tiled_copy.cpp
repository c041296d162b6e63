// The algebra of a TiledCopy.
#include <swizproof/access/tiled_copy.hpp>
#include <swizproof/access/tiler.hpp>

namespace swizproof {

Layout thread_values(TiledCopy const& copy, Layout const& side) {
  Layout const& reference = copy.reference;
  Layout const to_reference = composition(right_inverse(reference), side);
  IntTuple const atom(std::vector<IntTuple>{size(reference.shape.mode(0)), size(reference.shape.mode(1))});
  for (std::size_t i = 0; i < 2; ++i)
    if (size(copy.tiled_tv.shape.mode(i)).value % atom.modes[i].value != 0)
      throw AlgebraError{"TiledLayout_TV has too few " + std::string(i == 0 ? "threads" : "values") +
                         " for the Copy_Atom"};
  Layout const by_atom = zipped_divide(copy.tiled_tv, tiler(atom));
  Layout const on_side =
      composition(by_atom, Tiler{std::vector<Tiler>{Tiler{to_reference}, Tiler{Underscore{}}}});
  IntTuple const profile(std::vector<IntTuple>{1, IntTuple(std::vector<IntTuple>{1, 1})});
  return coalesce(zip(on_side.mode(0), on_side.mode(1)), profile);
}

Layout tidfrg(TiledCopy const& copy, Layout const& side, Layout const& tensor) {
  Layout const by_tile =
      composition(zipped_divide(tensor, copy.tiler),
                  Tiler{std::vector<Tiler>{Tiler{thread_values(copy, side)}, Tiler{Underscore{}}}});
  return make_layout({by_tile.mode(0).mode(0), by_tile.mode(0).mode(1), by_tile.mode(1)});
}

Layout retile(TiledCopy const& copy, Layout const& fragment) {
  Tiler const untouched{Underscore{}};
  IntTuple const each = size(fragment.shape.mode(0));
  Layout const by_value =
      upcast(composition(right_inverse(copy.tiled_tv), make_layout(tile_shape(copy.tiler))),
             size(copy.tiled_tv.shape.mode(0)).value * each.value);
  // (atom's values, further values) -> (v, m, n)
  Layout const values = zipped_divide(logical_product(make_layout(each), Tiler{right_inverse(by_value)}),
                                      Tiler{make_layout(size(copy.reference.shape.mode(1)))});
  std::vector<Tiler> tile{Tiler{each}}, first{Tiler{IntTuple(0)}};
  for (std::size_t i = 0; i < by_value.rank(); ++i) tile.push_back(Tiler{size(by_value.shape.mode(i))});
  first.resize(fragment.rank(), untouched);
  Layout const tiled =
      composition(zipped_divide(fragment, Tiler{tile}), Tiler{std::vector<Tiler>{Tiler{values}, untouched}});
  return slice(tiled, Tiler{std::vector<Tiler>{untouched, Tiler{first}}}).layout;
}

}  // namespace swizproof
