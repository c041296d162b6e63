#include "generators/generators.hpp"

#include <swizproof/layout/map.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

/// Offsets by nested loops over the coordinates, leftmost fastest: no division anywhere.
void enumerate(std::vector<std::int64_t> const& extents, std::vector<std::int64_t> const& strides,
               std::size_t mode, std::int64_t offset, std::vector<std::int64_t>& out) {
  if (mode == 0) {
    out.push_back(offset);
    return;
  }
  for (std::int64_t i = 0; i < extents[mode - 1]; ++i)
    enumerate(extents, strides, mode - 1, offset + i * strides[mode - 1], out);
}

RC_GTEST_PROP(Layout, IsWhatNestedLoopsGive, ()) {
  Layout const l = *any_layout();
  std::vector<std::int64_t> expected;
  enumerate(l.shape.leaves(), l.stride.leaves(), l.shape.leaves().size(), 0, expected);
  classify(l);
  RC_CLASSIFY(l.size() == 1, "one element");
  RC_ASSERT(static_cast<std::size_t>(l.size()) == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    RC_ASSERT(static_cast<std::int64_t>(l(std::uint64_t{i}).elements) == expected[i]);
}

RC_GTEST_PROP(Layout, OffsetsAreThoseOfTheIndices, ()) {
  Layout const l = *any_layout();
  classify(l);
  std::vector<std::uint64_t> const all = l.offsets();
  RC_ASSERT(all.size() == static_cast<std::size_t>(l.size()));
  for (std::uint64_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == l(i).elements);
}

RC_GTEST_PROP(Layout, CosizeIsTheRangeOfOffsets, ()) {
  Layout const l = *any_layout();
  classify(l);
  std::int64_t least = 0, most = 0;
  for (std::int64_t i = 0; i < l.size(); ++i) {
    auto const offset = static_cast<std::int64_t>(l(static_cast<std::uint64_t>(i)).elements);
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  RC_ASSERT(l.cosize() == most - least + 1);
}

RC_GTEST_PROP(Layout, PrintsWhatItParses, ()) {
  Layout const l = *any_layout(3);
  Mapping const map = parse_mapping(to_string(l));
  RC_ASSERT(map.on_elements.size() == 1U);
  RC_ASSERT(std::get<Layout>(map.on_elements[0]) == l);
}

RC_GTEST_PROP(Mapping, ElementSwizzleOfTheRecastIsTheByteSwizzle, ()) {
  Layout const l = *any_layout();
  classify(l);
  unsigned const bits = *rc::gen::element(1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U);
  RC_CLASSIFY(bits < 8, "element below a byte");
  Swizzle const s{*rc::gen::inRange(1, 4), 4, 3};
  auto const on_elements = recast(s, std::countr_zero(bits) - 3);
  RC_ASSERT(on_elements.has_value());
  std::string const inner = std::to_string(*evenly(-100, 100)) + " o " + to_string(l);
  Mapping const bytes =
      parse_mapping(to_string(s) + " o smem_ptr[" + std::to_string(bits) + "b](unset) o " + inner);
  Mapping const elements = parse_mapping(to_string(*on_elements) + " o " + inner);
  std::uint64_t const base = 1024 * *rc::gen::inRange<std::uint64_t>(0, 1000);
  std::uint64_t const i = *rc::gen::inRange<std::uint64_t>(0, static_cast<std::uint64_t>(l.size()));
  RC_CLASSIFY(static_cast<std::int64_t>(offset(elements, i).elements) < 0, "negative offset");
  RC_ASSERT(bit_address(bytes, Address<std::uint64_t>{base}, i) ==
            base * 8 + offset(elements, i).elements * bits);
}

}  // namespace
}  // namespace swizproof
