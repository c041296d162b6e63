// CuTe's algebra by name: from arguments to the library's functions.
#include "../integer.hpp"
#include "mapping_parser.hpp"

#include <numeric>

namespace swizproof {

namespace {

[[noreturn]] void refuse(std::string reason) { throw AlgebraError{std::move(reason)}; }

/// The arguments of a call as the types that the functions want.
class Arguments {
 public:
  explicit Arguments(Call const& call) : call_(call) {}

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
  [[nodiscard]] Layout layout(std::size_t i) const {
    if (auto const* t = tiler_at(i))
      if (auto const* l = std::get_if<Layout>(&t->value)) return *l;
    if (auto const* map = std::get_if<Mapping>(&at(i)))
      if (Layout const* l = plain_layout(*map)) return *l;
    refuse("argument " + std::to_string(i + 1) + " must be a layout without a swizzle");
  }
  [[nodiscard]] Mapping map(std::size_t i) const {
    if (auto const* m = std::get_if<Mapping>(&at(i))) return *m;
    if (auto const* t = tiler_at(i))
      if (auto const* l = std::get_if<Layout>(&t->value)) return mapping(*l);
    refuse("argument " + std::to_string(i + 1) + " must be a layout");
  }
  /// A layout in any form, coordinate maps included.
  [[nodiscard]] Mapping map_of_any(std::size_t i) const {
    if (auto const* m = std::get_if<Mapping>(&at(i))) return *m;
    return mapping(layout(i));
  }
  [[nodiscard]] std::int64_t number(std::size_t i) const {
    if (i >= call_.numbers.size())
      refuse("a number in <> is missing, such as " + std::string(call_.name) + "<2>");
    return call_.numbers[i];
  }
  [[nodiscard]] std::size_t numbers() const { return call_.numbers.size(); }
  [[nodiscard]] std::optional<Major> major(std::size_t i) const {
    auto const* m = std::get_if<Major>(&at(i));
    return m != nullptr ? std::optional(*m) : std::nullopt;
  }

 private:
  [[nodiscard]] Value const& at(std::size_t i) const { return call_.arguments[i].value; }
  Call const& call_;
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
  if (auto const* t = in.tiler_at(0); t != nullptr || plain_layout(in.map(0)) != nullptr)
    return result(f(in.layout(0)));
  Mapping const map = in.map(0);
  if (map.domain() == nullptr) refuse(map.text + " has no layout inside");
  return result(with_layout(map, f(*map.domain())));
}

/// Why CuTe's `theirs` is not i -> a(b(i)).
std::string another_function(Layout const& a, Layout const& b, Layout const& theirs, std::uint64_t at,
                             std::string const& printed = {}) {
  std::string const start =
      "CuTe prints " + (printed.empty() ? to_string(theirs) : printed) + ", which is another function: ";
  if (theirs.size() != b.size())
    return start + "it has " + std::to_string(theirs.size()) + " elements, not " + std::to_string(b.size());
  return start + "at " + std::to_string(at) + " it gives " +
         std::to_string(static_cast<std::int64_t>(theirs(at).elements)) + ", not " +
         std::to_string(static_cast<std::int64_t>(a(b(at).elements).elements));
}

/// What CuTe's divides compose: a mode with its tile and rest.
struct Composed {
  Layout left, right, theirs;
  [[nodiscard]] std::optional<std::uint64_t> difference(bool inside) const {
    if (left.stride.has_basis() || defect(theirs) != Defect::none || defect(right) != Defect::none ||
        defect(left) != Defect::none)
      return std::nullopt;
    auto const end = inside ? static_cast<std::uint64_t>(left.size()) : ~std::uint64_t{0};
    return swizproof::difference(left, right, theirs, end);
  }
};

Layout tile_of(Tiler const& t) {
  auto const* n = std::get_if<IntTuple>(&t.value);
  return n != nullptr ? make_layout(*n) : std::get<Layout>(t.value);
}
Composed composed_divide(Layout const& l, Tiler const& t) {
  Layout const tile = tile_of(t);
  return {l, make_layout({tile, complement(tile, coalesce(l).shape)}), logical_divide(l, t)};
}
Composed composed_product(Layout const& l, Tiler const& t) {
  Layout const tile = tile_of(t), places = complement(l, size(l.shape) * size(coshape(tile)));
  return {places, tile, composition(places, tile)};
}

/// CuTe checks divisibility only between static integers, and not enough even there: refuses where a
/// mode's result is another function.
void check_modes(Layout const& l, Tiler const& t, Composed (*compose)(Layout const&, Tiler const&),
                 bool inside) {
  if (std::holds_alternative<Underscore>(t.value)) return;
  if (auto const* modes = std::get_if<std::vector<Tiler>>(&t.value)) {
    for (std::size_t i = 0; i < modes->size() && i < l.rank(); ++i)
      check_modes(l.mode(i), (*modes)[i], compose, inside);
    return;
  }
  Composed const parts = compose(l, t);
  if (auto const at = parts.difference(inside))
    refuse(another_function(parts.left, parts.right, parts.theirs, *at));
}

/// A divide by one tile can be given as the function it stands for, where CuTe's is another.
Value divide(Arguments const& in, Layout (*f)(Layout const&, Tiler const&)) {
  Tiler const t = in.tiler(1);
  bool const one_tile = !t.is_tuple() && !std::holds_alternative<Underscore>(t.value);
  Mapping const map = in.map_of_any(0);
  if (map.domain() == nullptr) refuse(map.text + " has no layout inside");
  Layout const l = *map.domain();
  if (one_tile && !l.stride.has_basis())
    if (Composed const parts = composed_divide(l, t); auto const at = parts.difference(true)) {
      Layout const arranged = f(Layout{size(l.shape), 1}, t);
      Mapping right = composition(mapping(l), Displacement{}, mapping(arranged));
      right.on_elements.insert(right.on_elements.begin(), map.on_elements.begin(), map.on_elements.end() - 1);
      right.on_bytes = map.on_bytes;
      right.element_bits = map.element_bits;
      right.text = to_string(right);
      right.notes = {
          another_function(parts.left, parts.right, parts.theirs, *at, with_layout(map, f(l, t)).text)};
      return result(std::move(right));
    }
  check_modes(l, t, composed_divide, true);
  return inside(in, [&](Layout const& inner) { return f(inner, t); });
}
Value product(Arguments const& in, Layout (*f)(Layout const&, Tiler const&)) {
  return inside(in, [&](Layout const& l) {
    check_modes(l, in.tiler(1), composed_product, false);
    return f(l, in.tiler(1));
  });
}
template <class F>
Value ranked_product(Arguments const& in, F const& f) {
  return inside(in, [&](Layout const& block) {
    Layout const t = in.layout(1);
    std::size_t const rank = std::max(block.rank(), t.rank());
    check_modes(append(block, rank), {append(t, rank)}, composed_product, false);
    return f(block, t);
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
      Layout const theirs = composition(l, *tiler_of);
      if (auto const* n = std::get_if<IntTuple>(&tiler_of->value))
        if (Composed const parts{l, Layout{*n, 1}, theirs}; auto const at = parts.difference(false))
          refuse(another_function(parts.left, parts.right, parts.theirs, *at));
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
  if (in.has(1) && in.major(1)) return result(make_layout(in.shape(0), *in.major(1)));
  auto const* t = in.tiler_at(0);
  if (t != nullptr && integers(*t)) {
    if (!in.has(1)) return result(make_layout(in.shape(0)));
    if (!congruent(in.shape(0), in.shape(1))) refuse("the strides must have the shape's nesting");
    return result(Layout{in.shape(0), in.shape(1)});
  }
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < in.count(); ++i) modes.push_back(in.layout(i));
  return result(make_layout(modes));
}

Value recast_units(Arguments const& in) {
  if (in.numbers() != 2) refuse("write recast_layout<16b,32b>(L): from elements of 16 bits to 32");
  std::int64_t const from = in.number(0), to = in.number(1);
  if (from < 1 || to < 1) refuse("elements have 1 bit or more");
  Mapping const map = in.map(0);
  if (from == to) return map;
  if (to % from == 0) return result(upcast(map, to / from));
  if (from % to == 0) return result(downcast(map, from / to));
  std::int64_t const common = std::gcd(from, to);
  return result(downcast(upcast(map, to / common), from / common));
}

struct Function {
  std::string_view name;
  std::size_t least, most;  ///< how many arguments
  Value (*call)(Arguments const&);
};

Value tile(Arguments const& in) {
  return inside(in, [&](Layout const& block) {
    IntTuple const shape = in.shape_of(1);
    bool const ordered = in.has(2) && !in.major(2);
    std::optional<IntTuple> order = ordered ? std::optional(in.shape(2)) : std::nullopt;
    if (in.has(2) && in.major(2) == Major::right) {
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
     }},
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
       // Of a composed layout CuTe takes the inner layout's complement.
       Mapping const map = in.map(0);
       if (map.domain() == nullptr) refuse("a swizzle alone has no complement");
       Layout const& l = *map.domain();
       if (in.has(1)) return result(complement(l, in.shape_of(1)));
       return result(is_flagged(map) || plain_layout(map) == nullptr ? complement(l, coshape(l))
                                                                     : complement(l));
     }},
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
    {"domain_distribute", 2, 2,
     [](Arguments const& in) { return result(domain_distribute(in.shape_of(0), in.shape(1))); }},
    {"downcast", 1, 1, [](Arguments const& in) { return result(downcast(in.map(0), in.number(0))); }},
    {"filter", 1, 2,
     [](Arguments const& in) {
       if (!in.has(1)) return result(filter(in.layout(0)));
       return inside(in, [&](Layout const& l) { return filter(l, in.shape_of(1)); });
     }},
    {"filter_zeros", 1, 1, plain<filter_zeros>},
    {"flat_divide", 2, 2, [](Arguments const& in) { return divide(in, flat_divide); }},
    {"flat_product", 2, 2, [](Arguments const& in) { return product(in, flat_product); }},
    {"flatten", 1, 1, composed<flatten>},
    {"group", 1, 1,
     [](Arguments const& in) {
       return inside(in, [&](Layout const& l) {
         return group(l, static_cast<std::size_t>(in.number(0)), static_cast<std::size_t>(in.number(1)));
       });
     }},
    {"left_inverse", 1, 1, [](Arguments const& in) { return result(left_inverse(in.map(0))); }},
    {"logical_divide", 2, 2, [](Arguments const& in) { return divide(in, logical_divide); }},
    {"logical_product", 2, 2, [](Arguments const& in) { return product(in, logical_product); }},
    {"make_fragment_like", 1, 1, composed<make_fragment_like>},
    {"make_layout", 1, 8, make},
    {"make_layout_like", 1, 1, plain<make_layout_like>},
    {"make_ordered_layout", 2, 2,
     [](Arguments const& in) { return result(make_ordered_layout(in.shape(0), in.shape(1))); }},
    {"max_alignment", 1, 1, [](Arguments const& in) { return result(max_alignment(in.map(0))); }},
    {"max_common_layout", 2, 2,
     [](Arguments const& in) { return result(max_common_layout(in.map(0), in.map(1))); }},
    {"max_common_vector", 2, 2,
     [](Arguments const& in) { return result(max_common_vector(in.map(0), in.map(1))); }},
    {"nullspace", 1, 1, plain<nullspace>},
    {"prepend", 1, 2,
     [](Arguments const& in) {
       Layout const x = in.has(1) ? in.layout(1) : Layout{};
       return result(
           prepend(in.layout(0),
                   in.numbers() != 0 ? static_cast<std::size_t>(in.number(0)) : in.layout(0).rank() + 1, x));
     }},
    {"raked_product", 2, 2, [](Arguments const& in) { return ranked_product(in, raked_product); }},
    {"recast_layout", 1, 1, recast_units},
    {"right_inverse", 1, 1, [](Arguments const& in) { return result(right_inverse(in.map(0))); }},
    {"size", 1, 1,
     [](Arguments const& in) {
       auto const* map = in.tiler_at(0) == nullptr ? in.map(0).domain() : nullptr;
       return result(size(map != nullptr ? in.map(0).domain()->shape : in.shape_of(0)));
     }},
    {"slice", 2, 9,
     [](Arguments const& in) {
       if (in.count() == 2) return result(slice(in.map(0), in.tiler(1)));
       std::vector<Tiler> coordinate;  // slice(L, i, j) is slice(L, (i,j)), as L(i,j) is L((i,j))
       for (std::size_t i = 1; i < in.count(); ++i) coordinate.push_back(in.tiler(i));
       return result(slice(in.map(0), {coordinate}));
     }},
    {"tile_to_shape", 2, 3, tile},
    {"tiled_divide", 2, 2, [](Arguments const& in) { return divide(in, tiled_divide); }},
    {"tiled_product", 2, 2, [](Arguments const& in) { return product(in, tiled_product); }},
    {"upcast", 1, 1, [](Arguments const& in) { return result(upcast(in.map(0), in.number(0))); }},
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

bool is_algebra(std::string_view name) { return find(name) != nullptr; }

Value evaluate(Call const& call, std::vector<std::string>& notes) {
  Function const& function = *find(call.name);
  std::size_t const count = call.arguments.size();
  if (count < function.least || count > function.most)
    refuse("takes " + std::to_string(function.least) +
           (function.most != function.least ? " to " + std::to_string(function.most) : "") +
           (function.most == 1 ? " argument" : " arguments") + ", not " + std::to_string(count));
  Value value = function.call(Arguments(call));
  if (auto* const map = std::get_if<Mapping>(&value)) {
    for (std::string& note : map->notes) notes.push_back(std::move(note));
    map->notes.clear();
  }
  return value;
}

}  // namespace swizproof
