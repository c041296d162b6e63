// CuTe's algebra by name: from arguments to the library's functions.
#include "layout/integer.hpp"
#include "parse/layout/mapping_parser.hpp"

#include <fmt/format.h>

#include <map>
#include <numeric>

namespace swizproof {

namespace {

/// The arguments of a call as the types that the functions want.
class Arguments {
 public:
  Arguments(Call const& call, std::vector<std::string>& notes) : call_(call), notes_(notes) {}

  /// Says something about the result.
  void note(std::string text) const { notes_.push_back(std::move(text)); }

  [[nodiscard]] std::size_t count() const { return call_.arguments.size(); }
  [[nodiscard]] bool has(std::size_t i) const { return i < count(); }

  [[nodiscard]] Tiler const* tiler_at(std::size_t i) const { return std::get_if<Tiler>(&at(i)); }
  /// A tiler, or a layout without a swizzle as one.
  [[nodiscard]] Tiler tiler(std::size_t i) const {
    if (auto const* t = tiler_at(i)) return *t;
    return {layout(i)};
  }
  [[nodiscard]] IntTuple shape(std::size_t i) const {
    if (auto const* t = tiler_at(i))
      if (auto const integers_of = integers(*t)) return *integers_of;
    refuse("argument " + std::to_string(i + 1) + " must be a shape such as (8,64)");
  }
  /// A shape, or the shape of a layout, as CuTe's shape() takes it.
  [[nodiscard]] IntTuple shape_of(std::size_t i) const {
    auto const* t = tiler_at(i);
    if (t != nullptr && integers(*t)) return *integers(*t);
    return layout(i).shape;
  }
  /// Words about a shape where a layout is needed; none of another argument.
  [[nodiscard]] std::string layout_of_shape(std::size_t i) const {
    auto const* t = tiler_at(i);
    auto const shape = t == nullptr ? std::nullopt : integers(*t);
    if (!shape) return {};
    std::string const text = to_string(*shape);
    return ", and " + text + " is a shape: make_layout(" + text + ") is its column-major layout";
  }
  [[nodiscard]] Layout layout(std::size_t i) const {
    if (auto const* t = tiler_at(i))
      if (auto const* l = std::get_if<Layout>(&t->value)) return *l;
    if (auto const* map = std::get_if<Mapping>(&at(i)))
      if (Layout const* l = plain_layout(*map)) return *l;
    refuse("argument " + std::to_string(i + 1) + " must be a layout without a swizzle" + layout_of_shape(i));
  }
  /// A layout in any form, coordinate maps included.
  [[nodiscard]] Mapping map(std::size_t i) const {
    if (auto const* m = std::get_if<Mapping>(&at(i))) return *m;
    if (auto const* t = tiler_at(i))
      if (auto const* l = std::get_if<Layout>(&t->value)) return mapping(*l);
    refuse("argument " + std::to_string(i + 1) + " must be a layout" + layout_of_shape(i));
  }
  /// The layout inside of one with a swizzle; a layout without one itself.
  [[nodiscard]] Layout inner(std::size_t i) const {
    Mapping const m = map(i);
    if (m.domain() == nullptr) refuse(m.text + " has no layout inside");
    return *m.domain();
  }
  [[nodiscard]] bool is_layout(std::size_t i) const {
    auto const* t = tiler_at(i);
    return std::holds_alternative<Mapping>(at(i)) ||
           (t != nullptr && std::holds_alternative<Layout>(t->value));
  }
  [[nodiscard]] std::int64_t number(std::size_t i) const { return call_.numbers[i]; }
  [[nodiscard]] std::size_t numbers() const { return call_.numbers.size(); }
  [[nodiscard]] std::optional<Order> major(std::size_t i) const {
    auto const* m = std::get_if<Order>(&at(i));
    return m != nullptr ? std::optional(*m) : std::nullopt;
  }

 private:
  [[nodiscard]] Value const& at(std::size_t i) const { return call_.arguments[i].value; }
  Call const& call_;
  std::vector<std::string>& notes_;
};

/// A layout of the algebra as a value: checked, because CuTe's results are not always layouts.
Value result(Layout layout) {
  if (Defect const found = defect(layout); found != Defect::none)
    refuse("CuTe's result " + to_string(layout) + " is no layout: " + std::string(explain(found)));
  if (layout.stride.has_basis()) return Tiler{std::move(layout)};
  return mapping(std::move(layout));
}
Value result(Mapping map) {
  if (Layout const* layout = map.domain())
    if (Defect const found = defect(*layout); found != Defect::none)
      refuse("CuTe's result " + map.text + " is no layout: " + std::string(explain(found)));
  return map;
}
Value result(IntTuple integers_of) { return tiler(integers_of); }

/// f of a layout, or of the innermost layout of a composed one.
template <class F>
Value inside(Arguments const& in, F const& f) {
  Mapping const map = in.map(0);
  if (plain_layout(map) != nullptr) return result(f(*plain_layout(map)));
  if (map.domain() == nullptr) refuse(map.text + " has no layout inside");
  return result(with_layout(map, f(*map.domain())));
}

/// Composition of one mode by CuTe's functions, left o right, and its result.
struct Composed {
  Layout left, right, theirs;
  [[nodiscard]] std::optional<std::uint64_t> difference(bool inside) const {
    if (left.stride.has_basis() || right.stride.has_basis() || defect(theirs) != Defect::none ||
        defect(right) != Defect::none || defect(left) != Defect::none)
      return std::nullopt;
    auto const end = inside ? static_cast<std::uint64_t>(left.size()) : ~std::uint64_t{0};
    return swizproof::difference(left, right, theirs, end);
  }
  /// Why CuTe's result, printed as `printed`, is not i -> left(right(i)): it differs `at` an index, in the
  /// mode that `mode` names or, without a name, as a whole.
  [[nodiscard]] std::string another_function(std::uint64_t at, std::string const& printed,
                                             std::string const& mode = {}) const {
    std::string const start = "CuTe prints " + printed +
                              (mode.empty() ? ", which" : ", in which mode " + mode) +
                              " is another function: ";
    if (theirs.size() != right.size())
      return start + "it has " + std::to_string(theirs.size()) + " elements, not " +
             std::to_string(right.size());
    return start + "at " + std::to_string(at) + " it gives " +
           std::to_string(static_cast<std::int64_t>(theirs(at).elements)) + ", not " +
           std::to_string(static_cast<std::int64_t>(left(right(at).elements).elements));
  }
};

Layout tile_of(Tiler const& t) {
  auto const* n = std::get_if<IntTuple>(&t.value);
  return n != nullptr ? make_layout(*n) : std::get<Layout>(t.value);
}
Composed composed_tile(Layout const& l, Tiler const& t) { return {l, tile_of(t), composition(l, t)}; }
Composed composed_divide(Layout const& l, Tiler const& t) {
  Layout const tile = tile_of(t);
  return {l, make_layout({tile, complement(tile, coalesce(l).shape)}), logical_divide(l, t)};
}
Composed composed_product(Layout const& l, Tiler const& t) {
  Layout const tile = tile_of(t), places = complement(l, size(l.shape) * size(coshape(tile)));
  return {places, tile, composition(places, tile)};
}

/// How CuTe prints its result for the first argument: with that argument's swizzle in front.
std::string printed(Arguments const& in, Layout const& theirs) { return with_layout(in.map(0), theirs).text; }

/// CuTe checks divisibility only between static integers, and not enough even there: refuses where a
/// mode's part of the result, which is printed as `printed`, is another function.
void check_modes(Layout const& l, Tiler const& t, Composed (*compose)(Layout const&, Tiler const&),
                 bool inside, std::string const& printed, std::string const& mode = {}) {
  if (std::holds_alternative<Underscore>(t.value)) return;
  if (auto const* modes = std::get_if<std::vector<Tiler>>(&t.value)) {
    for (std::size_t i = 0; i < modes->size() && i < l.rank(); ++i)
      check_modes(l.mode(i), (*modes)[i], compose, inside, printed,
                  (mode.empty() ? "" : mode + ",") + std::to_string(i));
    return;
  }
  Composed const parts = compose(l, t);
  if (auto const at = parts.difference(inside)) refuse(parts.another_function(*at, printed, mode));
}

/// CuTe rounds the number of tiles up: a note where tiles reach past the end of the layout.
void note_overhang(Arguments const& in, Layout const& divided) {
  Layout const l = in.inner(0);
  if (divided.size() > l.size())
    in.note(std::to_string(divided.size() - l.size()) + " of the " + std::to_string(divided.size()) +
            " coordinates lie outside " + to_string(l) + ", which the tiles do not divide");
}

/// A divide by one tile can be given as the function it stands for, where CuTe's is another.
Value divide(Arguments const& in, Layout (*f)(Layout const&, Tiler const&)) {
  Tiler const t = in.tiler(1);
  bool const one_tile = !t.is_tuple() && !std::holds_alternative<Underscore>(t.value);
  Mapping const map = in.map(0);
  if (map.domain() == nullptr) refuse(map.text + " has no layout inside");
  Layout const l = *map.domain();
  if (one_tile && !l.stride.has_basis())
    if (Composed const parts = composed_divide(l, t); auto const at = parts.difference(true)) {
      Layout const arranged = f(Layout{size(l.shape), 1}, t);
      note_overhang(in, arranged);
      Mapping right = composition(mapping(l), Displacement{}, mapping(arranged));
      right.on_elements.insert(right.on_elements.begin(), map.on_elements.begin(), map.on_elements.end() - 1);
      right.on_bytes = map.on_bytes;
      right.element_bits = map.element_bits;
      right.text = to_string(right);
      right.notes = {parts.another_function(*at, printed(in, f(l, t)))};
      return result(std::move(right));
    }
  Layout const theirs = f(l, t);
  check_modes(l, t, composed_divide, true, printed(in, theirs));
  note_overhang(in, theirs);
  return inside(in, [&](Layout const&) { return theirs; });
}
Value product(Arguments const& in, Layout (*f)(Layout const&, Tiler const&)) {
  return inside(in, [&](Layout const& l) {
    Layout theirs = f(l, in.tiler(1));
    check_modes(l, in.tiler(1), composed_product, false, printed(in, theirs));
    return theirs;
  });
}
template <class F>
Value ranked_product(Arguments const& in, F const& f) {
  return inside(in, [&](Layout const& block) {
    Layout const t = in.layout(1);
    std::size_t const rank = std::max(block.rank(), t.rank());
    Layout theirs = f(block, t);
    check_modes(append(block, rank), {append(t, rank)}, composed_product, false, printed(in, theirs));
    return theirs;
  });
}

Value compose(Arguments const& in) {
  if (in.count() == 3) {
    auto const offset = in.shape(1);
    if (offset.is_tuple) refuse("the offset must be an integer");
    return result(composition(in.map(0), Displacement{offset.value, offset.is_static}, in.map(2)));
  }
  auto const* tiler_of = in.tiler_at(1);
  bool const by_tiler = tiler_of != nullptr && !std::holds_alternative<Layout>(tiler_of->value);
  if (by_tiler) {
    return inside(in, [&](Layout const& l) {
      Layout theirs = composition(l, *tiler_of);
      check_modes(l, *tiler_of, composed_tile, false, printed(in, theirs));
      return theirs;
    });
  }
  auto const* from = in.tiler_at(0);
  auto const* l = from != nullptr ? std::get_if<Layout>(&from->value) : nullptr;
  bool const coordinates =
      l != nullptr && (l->stride.has_basis() || (tiler_of != nullptr && in.layout(1).stride.has_basis()));
  if (coordinates) return result(composition(*l, in.layout(1)));
  return result(composition(in.map(0), in.map(1)));
}

Value make(Arguments const& in) {
  auto const* t = in.tiler_at(0);
  bool const of_shape = (in.has(1) && in.major(1)) || (t != nullptr && integers(*t));
  if (of_shape && in.has(2))
    refuse("a shape takes one argument more, its strides, LayoutLeft or LayoutRight");
  if (in.has(1) && in.major(1)) return result(make_layout(in.shape(0), *in.major(1)));
  if (of_shape) {
    if (!in.has(1)) return result(make_layout(in.shape(0)));
    if (!congruent(in.shape(0), in.shape(1))) refuse("the strides must have the shape's nesting");
    return result(Layout{in.shape(0), in.shape(1)});
  }
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < in.count(); ++i) modes.push_back(in.layout(i));
  return result(make_layout(modes));
}

/// recast_layout<16b,32b>(L) from 16 bits to 32; CuTe's DSL has the new size first: recast_layout(32, 16, L).
Value recast_units(Arguments const& in) {
  bool const cpp = in.count() == 1 && in.numbers() == 2, dsl = in.count() == 3 && in.numbers() == 0;
  if (!cpp && !dsl)
    refuse(
        "takes the old and the new size of an element, recast_layout<16b,32b>(L), or as CuTe's DSL has it "
        "the new one first, recast_layout(32, 16, L)");
  auto const bits = [&](std::size_t i) {
    IntTuple const n = cpp ? IntTuple(in.number(i)) : in.shape(1 - i);
    if (n.is_tuple || n.value < 1 || n.value > 1 << 20) refuse("elements have 1 bit or more");
    return n.value;
  };
  std::int64_t const from = bits(0), to = bits(1);
  Mapping const map = in.map(cpp ? 0 : 2);
  if (from == to) return map;
  if (to % from == 0) return result(upcast(map, to / from));
  if (from % to == 0) return result(downcast(map, from / to));
  std::int64_t const common = std::gcd(from, to);
  return result(downcast(upcast(map, to / common), from / common));
}

/// Says at which index left_inverse(L)(L(i)) is not i, since L is not one-to-one; of layouts up to 2^16 elements.
void note_lost_index(Arguments const& in, Layout const& l) {
  constexpr std::uint64_t most = 1 << 16;
  if (l.stride.has_basis() || defect(l) != Defect::none || static_cast<std::uint64_t>(l.size()) > most)
    return;
  std::map<std::int64_t, std::uint64_t> first;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(l.size()); ++i)
    if (auto const [at, fresh] = first.try_emplace(static_cast<std::int64_t>(l(i).elements), i); !fresh)
      return in.note(
          fmt::format("{} is not one-to-one: at {} and {} it is {}, so that no inverse gives both back",
                      to_string(l), at->second, i, at->first));
}

/// f(a, b) in elements, with a note where CuTe's count of a flagged layout is another.
template <class F>
Value in_elements(Arguments const& in, F const& f) {
  Mapping const a = in.map(0), b = in.map(in.count() - 1);
  auto const ours = f(a, b);
  if (is_flagged(a) || is_flagged(b)) {
    auto const theirs = f(as_cute_counts(a), as_cute_counts(b));
    if (theirs != ours)
      in.note("CuTe prints " + to_string(theirs) +
              ": it takes the bytes that the swizzle keeps together for elements");
  }
  return result(ours);
}

std::size_t checked_mode(Layout const& l, std::int64_t i) {
  if (i < 0 || static_cast<std::size_t>(i) >= l.rank())
    refuse("the layout has " + std::to_string(l.rank()) + " modes, and none of number " + std::to_string(i));
  return static_cast<std::size_t>(i);
}
Layout modes_of(Layout const& l, std::vector<std::int64_t> const& which) {
  std::vector<Layout> modes;
  for (std::int64_t const i : which) modes.push_back(l.mode(checked_mode(l, i)));
  return make_layout(modes);
}
/// select<0,2>(L): these modes.
Value some_modes(Arguments const& in) {
  return inside(in, [&](Layout const& l) {
    std::vector<std::int64_t> which;
    for (std::size_t i = 0; i < in.numbers(); ++i) which.push_back(in.number(i));
    return modes_of(l, which);
  });
}
/// get<1>(L), layout<1,0>(L): a mode, or one inside it; without a number all of it.
Value mode_of(Arguments const& in) {
  return inside(in, [&](Layout const& l) {
    Layout mode = l;
    for (std::size_t i = 0; i < in.numbers(); ++i) mode = mode.mode(checked_mode(mode, in.number(i)));
    return mode;
  });
}
/// group<0,2>(L), and DSL's group_modes(L, 0, 2).
Value group_from(Arguments const& in) {
  auto const bound = [&](std::size_t i) {
    IntTuple const n = in.shape(i);
    if (n.is_tuple || n.value < 0 || n.value > 64) refuse("modes are numbered from 0");
    return static_cast<std::size_t>(n.value);
  };
  bool const by_number = in.numbers() == 2;
  if (!by_number && !in.has(1)) refuse("which modes? group_modes(L, 0, 2)");
  return inside(in, [&](Layout const& l) {
    if (by_number)
      return group(l, static_cast<std::size_t>(in.number(0)), static_cast<std::size_t>(in.number(1)));
    return group(l, bound(1), in.has(2) ? bound(2) : l.rank());
  });
}
/// The coordinates themselves: `(2,(3,4))` with the strides (1@0,(1@0@1,1@1@1)).
IntTuple basis_like(IntTuple const& shape, std::vector<int> const& path) {
  IntTuple leaf(1, true);
  leaf.basis = path;
  if (!shape.is_tuple) return leaf;
  std::vector<IntTuple> modes;
  for (std::size_t i = 0; i < shape.modes.size(); ++i) {
    std::vector<int> inner = path;
    inner.push_back(static_cast<int>(i));
    modes.push_back(basis_like(shape.modes[i], inner));
  }
  return IntTuple(std::move(modes));
}
Value identity_layout(Arguments const& in) {
  IntTuple const shape = in.shape(0);
  if (shape.depth() > 16 || shape.leaves().size() > 64) refuse("a shape of at most 64 extents");
  return result(Layout{shape, basis_like(shape, {})});
}

/// Step<_1,X,_1>: the modes that it does not leave out, of a tiler or a coordinate.
Tiler diced(Tiler const& projection, Tiler const& of) {
  auto const *kept = std::get_if<std::vector<Tiler>>(&projection.value),
             *modes = std::get_if<std::vector<Tiler>>(&of.value);
  if (kept == nullptr || modes == nullptr || kept->size() != modes->size())
    refuse("the projection must have the modes of the tile and of the coordinate, such as Step<_1,X,_1>");
  std::vector<Tiler> out;
  for (std::size_t i = 0; i < modes->size(); ++i) {
    if (std::holds_alternative<std::vector<Tiler>>((*kept)[i].value))
      refuse("a projection of modes inside a mode is not supported");
    if (!std::holds_alternative<Underscore>((*kept)[i].value)) out.push_back((*modes)[i]);
  }
  return {std::move(out)};
}
/// Step<_1,X,_1> of a layout of threads: the modes that it does not leave out.
Layout diced(Tiler const& projection, Layout const& threads) {
  std::vector<Tiler> numbers;
  for (std::size_t i = 0; i < threads.rank(); ++i)
    numbers.push_back(Tiler{IntTuple(static_cast<std::int64_t>(i))});
  Tiler const left = diced(projection, Tiler{std::move(numbers)});
  std::vector<Layout> modes;
  for (Tiler const& kept : std::get<std::vector<Tiler>>(left.value))
    modes.push_back(threads.mode(static_cast<std::size_t>(std::get<IntTuple>(kept.value).value)));
  if (modes.empty()) refuse("the projection leaves no mode of the threads");
  return make_layout(modes);
}
/// The layout of zipped_divide, in which CuTe's result must be the function that it stands for.
Mapping divided(Arguments const& in, Tiler const& tile) {
  Layout const theirs = zipped_divide(in.inner(0), tile);
  check_modes(in.inner(0), tile, composed_divide, true, printed(in, theirs));
  note_overhang(in, theirs);
  return with_layout(in.map(0), theirs);
}
/// Further modes of a coordinate are free.
Tiler padded(Tiler const& coordinate, std::size_t rank) {
  auto const* const modes = std::get_if<std::vector<Tiler>>(&coordinate.value);
  if (modes == nullptr) return coordinate;
  if (modes->size() > rank)
    refuse("the coordinate has " + std::to_string(modes->size()) + " modes, the tiles " +
           std::to_string(rank));
  std::vector<Tiler> all = *modes;
  all.resize(rank, Tiler{Underscore{}});
  return {std::move(all)};
}
/// local_tile(L, tile, coord), local_tile(L, tile, coord, Step<_1,X,_1>): one tile, or those that the coordinate leaves free.
Value local_tile(Arguments const& in) {
  Tiler tile = in.tiler(1), coordinate = in.tiler(2);
  if (in.has(3)) {
    coordinate = diced(in.tiler(3), coordinate);
    tile = diced(in.tiler(3), tile);
  }
  Mapping const tiled = divided(in, tile);
  Layout const& all = *tiled.domain();
  std::vector<Tiler> const whole(all.mode(0).rank(), Tiler{Underscore{}});
  return result(slice(tiled, {std::vector<Tiler>{Tiler{whole}, padded(coordinate, all.mode(1).rank())}}));
}
/// local_partition(L, threads, thread), local_partition(L, threads, thread, Step<_1,X>): the elements that lie where the thread
/// lies in the layout of threads.
Value local_partition(Arguments const& in) {
  Layout const threads = in.has(3) ? diced(in.tiler(3), in.layout(1)) : in.layout(1);
  IntTuple const thread = in.shape(2);
  if (thread.is_tuple || thread.value < 0) refuse("the thread is a number");
  std::vector<Tiler> tile;
  for (std::size_t i = 0; i < threads.rank(); ++i) tile.push_back(Tiler{size(threads.shape.mode(i))});
  Mapping const tiled = divided(in, {tile});
  std::vector<Tiler> const rest(tiled.domain()->mode(1).rank(), Tiler{Underscore{}});
  return result(slice(tiled, {std::vector<Tiler>{Tiler{flat_coordinate(threads, thread)}, Tiler{rest}}}));
}

/// slice(L, coord) and slice(L, i, j); as CuTe has it, slice(coord, L).
Value slice_of(Arguments const& in) {
  std::size_t const last = in.count() - 1;
  if (!in.is_layout(0) && in.count() == 2 && in.is_layout(last))
    return result(slice(in.map(last), in.tiler(0)));
  if (in.count() == 2) return result(slice(in.map(0), in.tiler(1)));
  std::vector<Tiler> coordinate;  // slice(L, i, j) is slice(L, (i,j)), as L(i,j) is L((i,j))
  for (std::size_t i = 1; i < in.count(); ++i) coordinate.push_back(in.tiler(i));
  return result(slice(in.map(0), {coordinate}));
}

struct Function {
  std::string_view name;
  std::size_t least, most;  ///< how many arguments
  Value (*call)(Arguments const&);
  std::size_t least_numbers = 0, most_numbers = 0;  ///< how many numbers in <>
};

Value tile(Arguments const& in) {
  return inside(in, [&](Layout const& block) {
    IntTuple const shape = in.shape_of(1);
    bool const ordered = in.has(2) && !in.major(2);
    std::optional<IntTuple> order = ordered ? std::optional(in.shape(2)) : std::nullopt;
    if (in.has(2) && in.major(2) == Order::right) {
      std::vector<IntTuple> backwards;
      for (std::size_t i = shape.rank(); i-- > 0;) backwards.emplace_back(static_cast<std::int64_t>(i));
      order = IntTuple(std::move(backwards));
    }
    return tile_to_shape(block, shape, order);
  });
}

template <Layout (*f)(Layout const&)>
Value plain(Arguments const& in) {
  return result(f(in.layout(0)));
}
template <Layout (*f)(Layout const&)>
Value composed(Arguments const& in) {
  return inside(in, [](Layout const& l) { return f(l); });
}

constexpr Function functions[] = {
    {"append", 1, 2,
     [](Arguments const& in) {
       Layout const x = in.has(1) ? in.layout(1) : Layout{};
       return inside(in, [&](Layout const& l) {
         return append(l, in.numbers() != 0 ? static_cast<std::size_t>(in.number(0)) : l.rank() + 1, x);
       });
     },
     0, 1},
    {"as_position_independent_swizzle_layout", 1, 1,
     [](Arguments const& in) { return result(position_independent(in.map(0))); }},
    {"blocked_product", 2, 2, [](Arguments const& in) { return ranked_product(in, blocked_product); }},
    {"coalesce", 1, 2,
     [](Arguments const& in) {
       return inside(in,
                     [&](Layout const& l) { return in.has(1) ? coalesce(l, in.shape_of(1)) : coalesce(l); });
     }},
    {"complement", 1, 2,
     [](Arguments const& in) {
       // CuTe's complement of a composed layout is the inner layout's.
       Mapping const map = in.map(0);
       if (map.domain() == nullptr) refuse("a swizzle alone has no complement");
       Layout const& l = *map.domain();
       if (in.has(1)) return result(complement(l, in.shape_of(1)));
       return result(is_flagged(map) || plain_layout(map) == nullptr ? complement(l, coshape(l))
                                                                     : complement(l));
     }},
    {"compose", 2, 2, compose},
    {"composition", 2, 3, compose},
    {"coshape", 1, 1, [](Arguments const& in) { return result(coshape(in.layout(0))); }},
    {"cosize", 1, 1,
     [](Arguments const& in) {
       auto const* t = in.tiler_at(0);
       if (t != nullptr) return result(size(coshape(in.layout(0))));
       Mapping const map = in.map(0);
       if (map.domain() == nullptr) refuse("a swizzle alone has no cosize");
       return result(size(coshape(*map.domain())));
     }},
    {"group_modes", 1, 3, group_from, 0, 2},
    {"get", 1, 1, mode_of, 0, 8},
    {"layout", 1, 1, mode_of, 0, 8},
    {"select", 1, 1, some_modes, 1, 8},
    {"take", 1, 1,
     [](Arguments const& in) {
       std::vector<std::int64_t> range;
       if (in.number(0) >= in.number(1)) refuse("no such range of modes");
       for (std::int64_t i = in.number(0); i < in.number(1) && i < 64; ++i) range.push_back(i);
       return inside(in, [&](Layout const& l) { return modes_of(l, range); });
     },
     2, 2},
    {"replace", 2, 2,
     [](Arguments const& in) {
       return inside(in, [&](Layout const& l) {
         std::vector<Layout> modes;
         for (std::size_t i = 0; i < l.rank(); ++i) modes.push_back(l.mode(i));
         modes.at(checked_mode(l, in.number(0))) = in.layout(1);
         return make_layout(modes);
       });
     },
     1, 1},
    {"domain_distribute", 2, 2,
     [](Arguments const& in) { return result(domain_distribute(in.shape_of(0), in.shape(1))); }},
    {"downcast", 1, 1, [](Arguments const& in) { return result(downcast(in.map(0), in.number(0))); }, 1, 1},
    {"filter", 1, 2,
     [](Arguments const& in) {
       if (!in.has(1)) return result(filter(in.layout(0)));
       return inside(in, [&](Layout const& l) { return filter(l, in.shape_of(1)); });
     }},
    {"filter_zeros", 1, 1, plain<filter_zeros>},
    {"flat_divide", 2, 2, [](Arguments const& in) { return divide(in, flat_divide); }},
    {"flat_product", 2, 2, [](Arguments const& in) { return product(in, flat_product); }},
    {"flatten", 1, 1, composed<flatten>},
    {"group", 1, 1, group_from, 2, 2},
    {"left_inverse", 1, 1,
     [](Arguments const& in) {
       Mapping const map = in.map(0);
       if (Layout const* const l = plain_layout(map); l != nullptr) note_lost_index(in, *l);
       return result(left_inverse(map));
     }},
    {"local_partition", 3, 4, local_partition},
    {"local_tile", 3, 4, local_tile},
    {"logical_divide", 2, 2, [](Arguments const& in) { return divide(in, logical_divide); }},
    {"logical_product", 2, 2, [](Arguments const& in) { return product(in, logical_product); }},
    {"make_composed_layout", 3, 3, compose},
    // Registers have no swizzle: CuTe takes the layout inside.
    {"make_fragment_like", 1, 1, [](Arguments const& in) { return result(make_fragment_like(in.inner(0))); }},
    {"make_identity_layout", 1, 1, identity_layout},
    {"make_layout", 1, 8, make},
    {"make_layout_like", 1, 1, plain<make_layout_like>},
    {"make_ordered_layout", 2, 2,
     [](Arguments const& in) { return result(make_ordered_layout(in.shape(0), in.shape(1))); }},
    {"max_alignment", 1, 1,
     [](Arguments const& in) {
       return in_elements(in, [](auto const& a, auto const&) { return max_alignment(a); });
     }},
    {"max_common_layout", 2, 2,
     [](Arguments const& in) {
       return in_elements(in, [](auto const& a, auto const& b) { return max_common_layout(a, b); });
     }},
    {"max_common_vector", 2, 2,
     [](Arguments const& in) {
       return in_elements(in, [](auto const& a, auto const& b) { return max_common_vector(a, b); });
     }},
    {"nullspace", 1, 1, plain<nullspace>},
    {"prepend", 1, 2,
     [](Arguments const& in) {
       Layout const x = in.has(1) ? in.layout(1) : Layout{};
       return result(
           prepend(in.layout(0),
                   in.numbers() != 0 ? static_cast<std::size_t>(in.number(0)) : in.layout(0).rank() + 1, x));
     },
     0, 1},
    {"raked_product", 2, 2, [](Arguments const& in) { return ranked_product(in, raked_product); }},
    {"recast_layout", 1, 3, recast_units, 0, 2},
    {"right_inverse", 1, 1, [](Arguments const& in) { return result(right_inverse(in.map(0))); }},
    {"size", 1, 1,
     [](Arguments const& in) {
       if (in.tiler_at(0) != nullptr) return result(size(in.shape_of(0)));
       Mapping const map = in.map(0);
       if (map.domain() == nullptr) refuse("a swizzle alone has no size");
       return result(size(map.domain()->shape));
     }},
    {"slice", 2, 9, slice_of},
    {"tile_to_shape", 2, 3, tile},
    {"tiled_divide", 2, 2, [](Arguments const& in) { return divide(in, tiled_divide); }},
    {"tiled_product", 2, 2, [](Arguments const& in) { return product(in, tiled_product); }},
    {"upcast", 1, 1, [](Arguments const& in) { return result(upcast(in.map(0), in.number(0))); }, 1, 1},
    {"zip", 2, 2, [](Arguments const& in) { return result(zip(in.layout(0), in.layout(1))); }},
    {"zipped_divide", 2, 2, [](Arguments const& in) { return divide(in, zipped_divide); }},
    {"zipped_product", 2, 2, [](Arguments const& in) { return product(in, zipped_product); }},
};

Function const* find(std::string_view name) {
  auto const* found = std::find_if(std::begin(functions), std::end(functions),
                                   [&](Function const& f) { return f.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

}  // namespace

/// CuTe's get_flat_coord: the index of a thread in each mode of a layout of threads.
std::vector<Tiler> flat_coordinate(Layout const& threads, IntTuple const& thread) {
  std::vector<Tiler> at;
  for (std::size_t mode = 0; mode < threads.rank(); ++mode) {
    std::int64_t index = 0, step = 1;
    auto const extents = threads.mode(mode).shape.leaves(), strides = threads.mode(mode).stride.leaves();
    for (std::size_t i = 0; i < extents.size(); ++i) {
      index += (strides[i] == 0 ? 0 : thread.value / strides[i] % extents[i]) * step;
      step *= extents[i];
    }
    at.push_back(Tiler{IntTuple(index, thread.is_static || step == 1)});
  }
  return at;
}

bool is_algebra(std::string_view name) { return find(name) != nullptr; }

std::vector<std::string> algebra_names() {
  std::vector<std::string> names;
  for (Function const& f : functions) names.emplace_back(f.name);
  return names;
}

namespace {

/// Refuses a count outside least..most.
void refuse_count(std::size_t count, std::size_t least, std::size_t most, std::string const& what,
                  std::string const& example = {}) {
  if (count >= least && count <= most) return;
  refuse("takes " + (most == 0 ? "no" : std::to_string(least)) +
         (most != least ? " to " + std::to_string(most) : "") + " " + what + (most == 1 ? "" : "s") +
         (most == 0 && !example.empty() ? " in <>" : example) + ", not " + std::to_string(count));
}

}  // namespace

Value evaluate(Call const& call, std::vector<std::string>& notes) {
  Function const& function = *find(call.name);
  refuse_count(call.arguments.size(), function.least, function.most, "argument");
  refuse_count(call.numbers.size(), function.least_numbers, function.most_numbers, "number",
               " in <>, such as " + std::string(call.name) +
                   (call.name == "recast_layout" ? "<16b,32b>(L): from elements of 16 bits to 32"
                    : function.most_numbers == 2 ? "<0,2>(L)"
                                                 : "<2>(L)"));
  Value value = function.call(Arguments(call, notes));
  if (auto* const map = std::get_if<Mapping>(&value)) {
    for (std::string& note : map->notes) notes.push_back(std::move(note));
    map->notes.clear();
  }
  return value;
}

}  // namespace swizproof
