// Random valid values. RC_CLASSIFY in the properties shows that the rare ones are really drawn.
#pragma once

#include <swizproof/hardware/bank.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/core/swizzle.hpp>

#include <rapidcheck.h>

#include <vector>

namespace swizproof {

/// first..last - 1, each as often as the others. (RapidCheck's inRange() begins with the first ones.)
template <class T>
rc::Gen<T> evenly(T first, T last) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(first, last));
}

/// Any valid swizzle within 32 bits: small ones, wide ones, negative shifts, bits 0.
inline rc::Gen<Swizzle> any_swizzle() {
  return rc::gen::exec([] {
    int const distance = *rc::gen::inRange(0, 33);
    int const bits = *rc::gen::inRange(0, std::min(distance, 32 - distance) + 1);
    int const base = *rc::gen::inRange(0, 32 - distance - bits + 1);
    return Swizzle{bits, base, *rc::gen::arbitrary<bool>() ? distance : -distance};
  });
}

/// A nested shape with up to four leaves a level, and strides: one in six is 0, one in six
/// negative; static or dynamic integers.
inline rc::Gen<Layout> any_layout(int depth = 2) {
  return rc::gen::exec([depth]() -> Layout {
    if (depth == 0 || *evenly(0, 3) == 0) {
      bool const fixed = *rc::gen::arbitrary<bool>();
      auto const stride = rc::gen::weightedOneOf<std::int64_t>({{4, evenly<std::int64_t>(1, 200)},
                                                                {1, rc::gen::just<std::int64_t>(0)},
                                                                {1, evenly<std::int64_t>(-40, 0)}});
      return {IntTuple(*evenly<std::int64_t>(1, 10), fixed), IntTuple(*stride, fixed)};
    }
    std::vector<IntTuple> shapes, strides;
    int const modes = *evenly(0, 4);
    for (int i = 0; i < modes; ++i) {
      Layout const mode = *any_layout(depth - 1);
      shapes.push_back(mode.shape);
      strides.push_back(mode.stride);
    }
    return {IntTuple(std::move(shapes)), IntTuple(std::move(strides))};
  });
}

/// The forms of LAYOUT that CuTe prints, with the functions of any_swizzle() and any_layout(): a plain layout,
/// swizzle o offset o layout, such a thing behind another swizzle or layout, and smem_ptr[..](unset) for
/// elements of 1 to 128 bits, also with an offset behind it.
inline rc::Gen<Mapping> any_mapping() {
  return rc::gen::exec([]() -> Mapping {
    Mapping map;
    Layout const inner =
        *rc::gen::suchThat(any_layout(2), [](Layout const& l) { return l.shape.leaf_count() != 0; });
    auto const displacement = [] {
      auto const elements = *evenly<std::int64_t>(-100, 100);
      return Displacement{*rc::gen::arbitrary<bool>() ? elements : 0, *rc::gen::arbitrary<bool>()};
    };
    map.on_elements = {inner};
    int const kind = *evenly(0, 6);  // 0: a plain layout
    if (kind >= 4) {
      map.on_bytes = {*any_swizzle()};
      map.element_bits = 1U << *evenly(0, 8);
      if (kind == 5) map.on_elements.insert(map.on_elements.begin(), displacement());
    }
    for (int i = 0; kind < 4 && i < kind; ++i) {
      Stage first = *any_swizzle();
      if (i != 0 && *rc::gen::arbitrary<bool>()) first = *any_layout(1);
      if (auto const* l = std::get_if<Layout>(&first); l != nullptr && l->shape.leaf_count() == 0) break;
      map.on_elements.insert(map.on_elements.begin(), {std::move(first), displacement()});
    }
    map.text = to_string(map);
    return map;
  });
}

/// Says in RapidCheck's statistics which of the rare things a drawn value has.
inline void classify(Layout const& l) {
  auto const extents = l.shape.leaves(), strides = l.stride.leaves();
  bool odd = false, zero = false, negative = false;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    odd |= (extents[i] & (extents[i] - 1)) != 0;
    zero |= extents[i] > 1 && strides[i] == 0;
    negative |= extents[i] > 1 && strides[i] < 0;
  }
  RC_CLASSIFY(l.shape.depth() >= 2, "nested shape");
  RC_CLASSIFY(odd, "extent that is no power of two");
  RC_CLASSIFY(zero, "stride 0");
  RC_CLASSIFY(negative, "negative stride");
}
inline void classify(Mapping const& map) {
  std::size_t functions = 0;
  bool displaced = false;
  for (Stage const& stage : map.on_elements) {
    auto const* plus = std::get_if<Displacement>(&stage);
    functions += plus == nullptr ? 1 : 0;
    displaced |= plus != nullptr && plus->elements != 0;
  }
  RC_CLASSIFY(displaced, "displacement");
  RC_CLASSIFY(functions >= 3, "nested composition");
  RC_CLASSIFY(map.acts_on_bytes(), "swizzle on bytes");
  RC_CLASSIFY(map.element_bits.value_or(8) < 8, "element below a byte");
  if (map.domain() != nullptr) classify(*map.domain());
}

/// Any instruction of the model.
inline rc::Gen<Instruction> any_instruction() {
  return rc::gen::exec([] {
    auto const operation = static_cast<Operation>(*rc::gen::inRange(0, 5));
    if (operation == Operation::ldmatrix || operation == Operation::stmatrix)
      return Instruction{operation, 16, *rc::gen::element(1U, 2U, 4U), *rc::gen::arbitrary<bool>()};
    if (operation == Operation::cp_async) return Instruction{operation, *rc::gen::element(4U, 8U, 16U)};
    return Instruction{operation, *rc::gen::element(1U, 2U, 4U, 8U, 16U)};
  });
}

/// Addresses of the kinds that real warps and worst cases have: random, few distinct, XOR-linear, equal
/// in pairs, partly active.
inline rc::Gen<WarpAccess<std::uint32_t>> any_access(Instruction const& instruction) {
  return rc::gen::exec([instruction] {
    WarpAccess<std::uint32_t> warp{};
    int const kind = *rc::gen::inRange(0, 5);
    std::uint32_t const range = *rc::gen::element(64U, 512U, 4096U, 65536U);
    std::vector<std::uint32_t> basis;
    for (int i = 0; i < 5; ++i) basis.push_back(*rc::gen::inRange(0U, range));
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      std::uint32_t a = *rc::gen::inRange(0U, range);
      if (kind == 1) a = basis[a % 5];
      if (kind == 2) {
        a = 0;
        for (unsigned bit = 0; bit < 5; ++bit) a ^= (lane >> bit & 1) != 0 ? basis[bit] : 0;
      }
      if (kind == 3 && (lane & 1) != 0) a = warp.address[lane ^ 1];
      if (kind == 4 && (lane & 2) != 0) a = warp.address[lane ^ 2];
      warp.address[lane] = a / instruction.bytes * instruction.bytes;
      warp.active[lane] = lane < instruction.lanes();
    }
    if (instruction.matrices == 0 && *rc::gen::arbitrary<bool>()) {
      auto const mask = *rc::gen::arbitrary<std::uint32_t>();
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) warp.active[lane] = (mask >> lane & 1) != 0;
    }
    return warp;
  });
}

}  // namespace swizproof

namespace rc {

template <>
struct Arbitrary<swizproof::Swizzle> {
  static Gen<swizproof::Swizzle> arbitrary() { return swizproof::any_swizzle(); }
};

}  // namespace rc
