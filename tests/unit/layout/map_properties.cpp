// compare(), alignment_of() and is_one_to_one() compared with plain loops over every bit of every element: elements below
// and across bytes, displacements, nested compositions, negative strides, swizzles that split elements.
#include "generators/generators.hpp"

#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace swizproof {
namespace {

/// x with bit `from + i` added onto bit `to + i`, one by one.
std::int64_t dumb_swizzle(Swizzle const& s, std::int64_t x) {
  auto word = static_cast<std::uint64_t>(x);
  std::uint64_t const before = word;
  for (int i = 0; i < s.bits; ++i) {
    int const from = s.base + i + (s.shift > 0 ? s.shift : 0), to = s.base + i + (s.shift < 0 ? -s.shift : 0);
    if ((before >> from & 1) != 0) word ^= std::uint64_t{1} << to;
  }
  return static_cast<std::int64_t>(word);
}

/// A composed layout as text and as numbers.
struct MapCase {
  struct Step {
    Swizzle swizzle{};
    std::int64_t plus = 0;  ///< added before the swizzle
  };
  unsigned bits = 16;
  bool on_bytes = false;
  std::vector<Step> steps{};  ///< outermost first; of a flagged layout the one on bytes
  std::int64_t extent[2] = {1, 1}, stride[2] = {0, 1};

  [[nodiscard]] std::string text() const {
    std::string out;
    for (Step const& s : steps)
      out += on_bytes ? fmt::format("{} o smem_ptr[{}b](unset) o {}", to_string(s.swizzle), bits,
                                    s.plus != 0 ? fmt::format("{} o ", s.plus) : "")
                      : fmt::format("{} o {} o ", to_string(s.swizzle), s.plus);
    return out + fmt::format("({},{}):({},{})", extent[0], extent[1], stride[0], stride[1]);
  }
  [[nodiscard]] Mapping map() const { return parse_mapping(text(), {bits}); }
  [[nodiscard]] std::int64_t size() const { return extent[0] * extent[1]; }
  [[nodiscard]] std::int64_t inner(std::int64_t i) const {
    return i % extent[0] * stride[0] + i / extent[0] * stride[1];
  }
  /// The stages after the innermost layout, on elements.
  [[nodiscard]] std::int64_t outer(std::int64_t x) const {
    for (auto s = steps.rbegin(); s != steps.rend(); ++s) x = dumb_swizzle(s->swizzle, x + s->plus);
    return x;
  }
  /// The bit address of a bit of an element, if the tile starts at byte `base`.
  [[nodiscard]] std::int64_t bit_at(std::int64_t base, std::int64_t i, unsigned bit) const {
    if (!on_bytes) return 8 * base + outer(inner(i)) * bits + bit;
    std::int64_t const plain = 8 * base + (inner(i) + steps[0].plus) * bits + bit;
    std::int64_t const byte = plain >= 0 ? plain / 8 : -((7 - plain) / 8);
    return 8 * dumb_swizzle(steps[0].swizzle, byte) + (plain - 8 * byte);
  }
};

rc::Gen<MapCase> any_map() {
  return rc::gen::exec([] {
    MapCase k;
    k.bits = *rc::gen::element(1U, 2U, 4U, 4U, 8U, 16U, 16U, 32U, 64U);
    k.on_bytes = *rc::gen::arbitrary<bool>();
    int const count = k.on_bytes ? 1 : *rc::gen::inRange(0, 3);
    for (int i = 0; i < count; ++i) {
      int const distance = *rc::gen::inRange(0, 5), bits = *rc::gen::inRange(0, std::min(distance, 3) + 1);
      int const base = *rc::gen::inRange(0, 5);
      k.steps.push_back({{bits, base, *rc::gen::arbitrary<bool>() ? distance : -distance},
                         *rc::gen::element<std::int64_t>(0, 0, 1, 2, 5, 8, 64)});
    }
    for (int m = 0; m < 2; ++m) {
      k.extent[m] = *rc::gen::inRange<std::int64_t>(1, 9);
      k.stride[m] = *rc::gen::element<std::int64_t>(1, 1, 2, 3, 8, 16, 64, -1, -8);
    }
    return k;
  });
}

void classify(MapCase const& k) {
  RC_CLASSIFY(8 % k.bits == 0 && k.bits < 8, "elements below a byte");
  RC_CLASSIFY(k.on_bytes, "swizzle of bytes");
  RC_CLASSIFY(splits_elements(k.map()), "elements split");
  RC_CLASSIFY(k.steps.size() > 1, "nested");
  RC_CLASSIFY(!k.steps.empty() && k.steps[0].plus != 0, "displaced");
  RC_CLASSIFY(k.stride[0] < 0 || k.stride[1] < 0, "negative stride");
  RC_CLASSIFY(k.size() % 2 != 0, "odd size");
}

RC_GTEST_PROP(Maps, EveryBitIsWhereAPlainLoopPutsIt, ()) {
  MapCase const k = *any_map();
  RC_LOG() << k.text() << " of " << k.bits << " bits";
  classify(k);
  Mapping const map = k.map();
  std::uint64_t const base = *rc::gen::inRange<std::uint64_t>(0, 3000);
  for (std::int64_t i = 0; i < k.size(); ++i)
    for (unsigned bit = 0; bit < k.bits; ++bit)
      RC_ASSERT(static_cast<std::int64_t>(
                    bit_address(map, Address<std::uint64_t>{base}, static_cast<std::uint64_t>(i), bit)) ==
                k.bit_at(static_cast<std::int64_t>(base), i, bit));
}

RC_GTEST_PROP(Maps, OffsetsAreThoseOfTheIndices, ()) {
  Mapping const map = *any_mapping();
  RC_LOG() << map.text;
  classify(map);
  std::vector<std::uint64_t> const all = offsets(map);
  RC_ASSERT(all.size() == static_cast<std::size_t>(map.domain()->size()));
  for (std::uint64_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == offset(map, i).elements);
}

RC_GTEST_PROP(Maps, AreOneToOneIfNoBitIsTakenTwice, ()) {
  MapCase const k = *any_map();
  RC_LOG() << k.text() << " of " << k.bits << " bits";
  std::map<std::int64_t, std::int64_t> owner;
  bool apart = true;
  for (std::int64_t i = 0; i < k.size(); ++i)
    for (unsigned bit = 0; bit < k.bits; ++bit) apart = owner.emplace(k.bit_at(0, i, bit), i).second && apart;
  RC_CLASSIFY(!apart, "not one-to-one");
  Fact const fact = is_one_to_one(k.map(), {});
  RC_ASSERT(std::holds_alternative<Proved>(fact.outcome) == apart);
  if (auto const* refuted = std::get_if<Refuted>(&fact.outcome)) {
    auto const x = static_cast<std::int64_t>(refuted->values[0].second);
    auto const y = static_cast<std::int64_t>(refuted->values[1].second);
    RC_ASSERT(x != y);
    bool meet = false;
    for (unsigned a = 0; a < k.bits; ++a)
      for (unsigned b = 0; b < k.bits; ++b) meet = meet || k.bit_at(0, x, a) == k.bit_at(0, y, b);
    RC_ASSERT(meet);
  }
}

RC_GTEST_PROP(Alignment, IsTheSetThatAPlainLoopFinds, ()) {
  MapCase const k = *any_map();
  RC_LOG() << k.text() << " of " << k.bits << " bits";
  classify(k);
  Alignment const found = alignment_of(k.map(), {});
  RC_ASSERT(std::holds_alternative<Proved>(found.outcome));
  RC_CLASSIFY(!found.also.empty(), "more than the multiples");
  auto const good = [&](std::int64_t base) {
    if (!k.on_bytes && 8 * base % k.bits != 0) return false;  // no element starts there
    bool all = true;
    for (std::int64_t i = 0; i < k.size(); ++i)
      for (unsigned bit = 0; bit < k.bits; ++bit) {
        std::int64_t const moved =
            k.on_bytes ? k.bit_at(base, i, bit) : k.outer(k.inner(i) + 8 * base / k.bits) * k.bits + bit;
        all = all && moved == 8 * base + k.bit_at(0, i, bit);
      }
    return all;
  };
  bool const everywhere =
      found.bytes == 1 && found.period == 1;  // only displacements: the unit does not matter
  for (std::int64_t base = 0; base < 700; ++base)
    RC_ASSERT(everywhere || found.holds(static_cast<std::uint64_t>(base)) == good(base));
  RC_ASSERT(good(static_cast<std::int64_t>(found.bytes * found.period)) || everywhere);
}

RC_GTEST_PROP(Equal, IsWhatAPlainLoopOverEveryBitSays, ()) {
  MapCase const left = *any_map();
  MapCase right = left;
  if (*rc::gen::arbitrary<bool>()) right.steps = (*any_map()).steps;
  if (*rc::gen::arbitrary<bool>()) right.on_bytes = !right.on_bytes;
  if (right.on_bytes && right.steps.size() != 1) right.steps = {MapCase::Step{Swizzle{0, 4, 3}, 0}};
  if (!right.steps.empty() && *rc::gen::inRange(0, 3) == 0) right.steps[0].swizzle.base ^= 1;
  bool const valid = right.steps.empty() || right.steps[0].swizzle.valid();
  RC_PRE(valid);
  RC_LOG() << left.text() << "  and  " << right.text() << " of " << left.bits << " bits";
  classify(left);
  std::uint64_t const step = *rc::gen::element(16U, 64U, 1024U, 4096U);
  Equality const found = compare(left.map(), right.map(), step, {});
  bool same = true;
  std::uint64_t const bases = left.on_bytes || right.on_bytes ? 4096 : 1;
  for (std::uint64_t base = 0; base < bases && same; base += step)
    for (std::int64_t i = 0; i < left.size() && same; ++i)
      for (unsigned bit = 0; bit < left.bits; ++bit)
        same = same && left.bit_at(static_cast<std::int64_t>(base), i, bit) ==
                           right.bit_at(static_cast<std::int64_t>(base), i, bit);
  RC_CLASSIFY(same, "the same");
  RC_ASSERT(std::holds_alternative<Proved>(found.outcome) == same);
  if (found.difference) {
    auto const i = static_cast<std::int64_t>(found.difference->input);
    auto const base = static_cast<std::int64_t>(found.difference->base);
    RC_ASSERT(left.bit_at(base, i, found.difference->bit) != right.bit_at(base, i, found.difference->bit));
  }
}

}  // namespace
}  // namespace swizproof
