// Laws of the layout algebra, each by enumeration of the functions themselves.
#include "generators/generators.hpp"

#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace swizproof {
namespace {

/// Static layouts of powers of two, one-to-one in some order: CuTe's algebra is total on them.
rc::Gen<Layout> compact_layout(int least_modes = 1) {
  return rc::gen::exec([least_modes] {
    int const modes = *rc::gen::inRange(least_modes, 5);
    std::vector<std::int64_t> extents, strides(static_cast<std::size_t>(modes));
    std::vector<std::size_t> order;
    for (int i = 0; i < modes; ++i) {
      extents.push_back(std::int64_t{1} << *rc::gen::inRange(0, 4));
      order.insert(order.begin() + *rc::gen::inRange(0, i + 1), static_cast<std::size_t>(i));
    }
    std::int64_t step = 1;
    for (std::size_t const i : order) {
      strides[i] = step;
      step *= extents[i];
    }
    std::vector<IntTuple> shape, stride;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      shape.emplace_back(extents[i]);
      stride.emplace_back(strides[i]);
    }
    return Layout{IntTuple(std::move(shape)), IntTuple(std::move(stride))};
  });
}

std::vector<std::uint64_t> values(Layout const& l) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(l.size()); ++i) all.push_back(l(i).elements);
  return all;
}
std::vector<std::uint64_t> sorted_values(Layout const& l) {
  auto all = values(l);
  std::sort(all.begin(), all.end());
  return all;
}

/// The result, or nothing where CuTe refuses.
template <class F>
auto unless_refused(F const& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (AlgebraError const& error) {
    RC_ASSERT(*error.what() != '\0');
    return std::nullopt;
  }
}

RC_GTEST_PROP(LayoutAlgebra, CoalesceFlattenAndFilterZerosKeepTheFunction, ()) {
  Layout const l = *any_layout(2);
  RC_PRE(l.shape.leaf_count() != 0);
  classify(l);
  RC_ASSERT(values(coalesce(l)) == values(l));
  RC_ASSERT(values(flatten(l)) == values(l));
  RC_ASSERT(coalesce(l).shape.depth() <= 1);
}

RC_GTEST_PROP(LayoutAlgebra, CompositionIsFunctionCompositionOnPowersOfTwo, ()) {
  Layout const a = *compact_layout(), b = *compact_layout();
  RC_PRE(b.cosize() <= a.size());
  auto const result = unless_refused([&] { return composition(a, b); });
  RC_PRE(result.has_value());
  RC_ASSERT(congruent(IntTuple(result->size()), IntTuple(b.size())));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(b.size()); ++i)
    RC_ASSERT((*result)(i).elements == a(b(i).elements).elements);
}

RC_GTEST_PROP(LayoutAlgebra, CompositionOfAnyLayoutsIsAFunctionCompositionOrSaysSo, ()) {
  Layout const a = *any_layout(1), b = *any_layout(1);
  RC_PRE(a.shape.leaf_count() != 0 && b.shape.leaf_count() != 0);
  classify(a);
  auto const map = unless_refused([&] { return composition(mapping(a), mapping(b)); });
  RC_CLASSIFY(!map.has_value(), "refused");
  RC_PRE(map.has_value());
  RC_CLASSIFY(!map->notes.empty(), "CuTe gives another function");
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(b.size()); ++i)
    if (static_cast<std::int64_t>(b(i).elements) >= 0)
      RC_ASSERT(offset(*map, i).elements == a(b(i).elements).elements);
}

RC_GTEST_PROP(LayoutAlgebra, ComplementIsDisjointFromItsLayoutAndFillsTheTarget, ()) {
  Layout const l = *compact_layout();
  std::int64_t const target = l.cosize() * *rc::gen::inRange<std::int64_t>(1, 9);
  Layout const rest = complement(l, target);
  std::set<std::uint64_t> seen;
  for (std::uint64_t const r : values(rest))
    for (std::uint64_t const x : values(l)) RC_ASSERT(seen.insert(r + x).second);
  RC_ASSERT(static_cast<std::int64_t>(seen.size()) >= target);
  RC_ASSERT(*seen.rbegin() + 1 == seen.size());
}

RC_GTEST_PROP(LayoutAlgebra, RightInverseIsOne, ()) {
  Layout const l = *rc::gen::oneOf(any_layout(2), compact_layout());
  RC_PRE(l.shape.leaf_count() != 0);
  Layout const inverse = right_inverse(l);
  classify(l);
  RC_CLASSIFY(inverse.size() > 1, "more than one element");
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(inverse.size()); ++i)
    RC_ASSERT(l(inverse(i).elements).elements == i);
}

RC_GTEST_PROP(LayoutAlgebra, LeftInverseIsOne, ()) {
  Layout const l = *compact_layout();
  Layout const inverse = left_inverse(l);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(l.size()); ++i)
    RC_ASSERT(inverse(l(i).elements).elements == i);
}

RC_GTEST_PROP(LayoutAlgebra, DividesKeepEveryOffsetOnce, ()) {
  Layout const l = *compact_layout();
  Tiler tile{IntTuple(std::int64_t{1} << *rc::gen::inRange(0, 4))};
  if (*rc::gen::arbitrary<bool>()) tile.value = *compact_layout();
  auto const divided = unless_refused([&] { return logical_divide(l, tile); });
  RC_PRE(divided.has_value() && divided->size() == l.size());
  RC_ASSERT(sorted_values(*divided) == sorted_values(l));
  RC_ASSERT(sorted_values(zipped_divide(l, tile)) == sorted_values(l));
  RC_ASSERT(sorted_values(tiled_divide(l, tile)) == sorted_values(l));
  RC_ASSERT(sorted_values(flat_divide(l, tile)) == sorted_values(l));
}

RC_GTEST_PROP(LayoutAlgebra, ProductsAreDisjointCopiesOfTheBlock, ()) {
  Layout const block = *compact_layout(), copies = *compact_layout();
  auto const product = unless_refused([&] { return logical_product(block, {copies}); });
  RC_PRE(product.has_value());
  RC_ASSERT(product->mode(0) == block);
  auto const all = sorted_values(*product);
  for (std::size_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == i);
  auto const blocked = unless_refused([&] { return blocked_product(block, copies); });
  if (blocked) RC_ASSERT(sorted_values(*blocked) == all);
}

RC_GTEST_PROP(LayoutAlgebra, ASliceIsTheLayoutAtTheFixedCoordinate, ()) {
  Layout const l = *compact_layout();
  std::vector<Tiler> coordinate;
  std::vector<std::uint64_t> strides;
  for (std::size_t i = 0; i < l.rank(); ++i) {
    if (*rc::gen::arbitrary<bool>())
      coordinate.push_back({});
    else
      coordinate.push_back({IntTuple(*rc::gen::inRange<std::int64_t>(0, l.shape.mode(i).value))});
  }
  Slice const part = slice(l, {coordinate});
  std::set<std::uint64_t> whole;
  for (std::uint64_t const x : values(l)) whole.insert(x);
  for (std::uint64_t const x : values(part.layout))
    RC_ASSERT(whole.contains(x + static_cast<std::uint64_t>(part.offset.value)));
}

/// Swizzles whose bits lie where small layouts have theirs.
rc::Gen<Swizzle> small_swizzle() {
  return rc::gen::exec([] {
    int const bits = *rc::gen::inRange(0, 4), shift = bits + *rc::gen::inRange(0, 3);
    return Swizzle{bits, *rc::gen::inRange(0, 4), *rc::gen::arbitrary<bool>() ? shift : -shift};
  });
}

/// Half of them 0, and half of those that are not a multiple of 8; static or dynamic.
rc::Gen<Displacement> small_displacement() {
  return rc::gen::exec([] {
    auto const n = *evenly<std::int64_t>(-16, 64);
    std::int64_t const scale = *rc::gen::element<std::int64_t>(0, 0, 1, 8);
    return Displacement{n * scale, *rc::gen::arbitrary<bool>()};
  });
}

RC_GTEST_PROP(ComposedAlgebra, ASliceOfASwizzledLayoutIsTheSameFunctionUpToThePointer, ()) {
  Layout const l = *compact_layout(2);
  Swizzle const swizzle = *small_swizzle();
  Displacement const plus = *small_displacement();
  RC_CLASSIFY(plus.elements != 0, "displacement");
  Mapping const map = composition(mapping(swizzle), plus, mapping(l));
  std::int64_t const fixed = *rc::gen::inRange<std::int64_t>(0, l.shape.mode(0).value);
  std::vector<Tiler> coordinate(l.rank());
  coordinate[0].value = IntTuple(fixed, *rc::gen::arbitrary<bool>());
  Mapping const part = slice(map, {coordinate});
  RC_CLASSIFY(std::holds_alternative<Layout>(part.on_elements[0]) && swizzle.bits > 0, "decays");
  RC_CLASSIFY(std::holds_alternative<Swizzle>(part.on_elements[0]), "stays swizzled");
  auto const extent = static_cast<std::uint64_t>(l.shape.mode(0).value);
  auto const at = [&](std::uint64_t i) {
    return offset(map, i * extent + static_cast<std::uint64_t>(fixed)).elements;
  };
  std::uint64_t const start = at(0) - offset(part, std::uint64_t{0}).elements;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(l.size()) / extent; ++i)
    RC_ASSERT(offset(part, i).elements + start == at(i));
}

RC_GTEST_PROP(ComposedAlgebra, AFinerUnitAndBackIsTheSame, ()) {
  Layout const l = *compact_layout();
  Swizzle const swizzle = *small_swizzle();
  Displacement const plus{(*small_displacement()).elements};
  RC_CLASSIFY(plus.elements != 0, "displacement");
  Mapping const map = composition(mapping(swizzle), plus, mapping(l));
  std::int64_t const n = std::int64_t{1} << *rc::gen::inRange(1, 4);
  auto const fine = unless_refused([&] { return downcast(map, n); });
  RC_PRE(fine.has_value());
  RC_ASSERT(upcast(*fine, n).text == map.text || swizzle.bits == 0);
}

/// An index of the domain.
std::uint64_t any_index(Mapping const& map) {
  return *rc::gen::inRange<std::uint64_t>(0, static_cast<std::uint64_t>(map.domain()->size()));
}

RC_GTEST_PROP(ComposedAlgebra, WhatIsPrintedIsReadBack, ()) {
  Mapping const map = *any_mapping();
  classify(map);
  bool const refused = index_below_zero(map).has_value();
  RC_CLASSIFY(refused, "refused: a layout at a negative index");
  if (refused) RC_ASSERT_THROWS_AS(parse_mapping(map.text), InputError);
  if (refused) return;
  Mapping const read = parse_mapping(map.text);
  RC_ASSERT(read.text == map.text);
  RC_ASSERT(read.on_elements.size() == map.on_elements.size());
  RC_ASSERT(read.on_bytes.size() == map.on_bytes.size());
  RC_ASSERT(read.element_bits == map.element_bits);
  std::uint64_t const i = any_index(map);
  RC_ASSERT(offset(read, i).elements == offset(map, i).elements);
}

RC_GTEST_PROP(ComposedAlgebra, CompositionWithALayoutIsFunctionComposition, ()) {
  Mapping const map = *any_mapping();
  Layout const b = *rc::gen::oneOf(any_layout(1), compact_layout());
  RC_PRE(b.shape.leaf_count() != 0);
  auto const both = unless_refused([&] { return composition(map, mapping(b)); });
  RC_CLASSIFY(!both.has_value(), "refused");
  RC_PRE(both.has_value());
  classify(map);
  RC_ASSERT(both->domain()->size() == b.size());
  RC_ASSERT(both->on_bytes.size() == map.on_bytes.size());
  RC_ASSERT(both->element_bits == map.element_bits);
  RC_PRE(!index_below_zero(map).has_value());
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(b.size()); ++i)
    if (static_cast<std::int64_t>(b(i).elements) >= 0)
      RC_ASSERT(offset(*both, i).elements == offset(map, b(i).elements).elements);
}

RC_GTEST_PROP(ComposedAlgebra, APositionIndependentLayoutIsTheSameFromMultiplesOfThePeriod, ()) {
  Mapping const map = *rc::gen::suchThat(any_mapping(), [](Mapping const& m) { return m.acts_on_bytes(); });
  auto const on_elements = unless_refused([&] { return position_independent(map); });
  RC_PRE(on_elements.has_value() && on_elements->notes.empty());
  classify(map);
  std::uint64_t const base =
      std::get<Swizzle>(map.on_bytes[0]).period() * *rc::gen::inRange<std::uint64_t>(0, 100);
  std::uint64_t const i = any_index(map);
  RC_ASSERT(bit_address(map, Address<std::uint64_t>{base}, i) ==
            8 * base + offset(*on_elements, i).elements * *map.element_bits);
}

}  // namespace
}  // namespace swizproof
