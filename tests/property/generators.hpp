// Random valid values. RC_CLASSIFY in the properties shows that the rare ones are really drawn.
#pragma once

#include <swizproof/bank.hpp>
#include <swizproof/layout.hpp>
#include <swizproof/swizzle.hpp>

#include <rapidcheck.h>

#include <vector>

namespace swizproof {

/// Any valid swizzle within 32 bits: small ones, wide ones, negative shifts, bits 0.
inline rc::Gen<Swizzle> any_swizzle() {
  return rc::gen::exec([] {
    int const distance = *rc::gen::inRange(0, 33);
    int const bits = *rc::gen::inRange(0, std::min(distance, 32 - distance) + 1);
    int const base = *rc::gen::inRange(0, 32 - distance - bits + 1);
    return Swizzle{bits, base, *rc::gen::arbitrary<bool>() ? distance : -distance};
  });
}

/// A nested shape with up to four leaves a level, and strides that may be zero, negative or padded.
inline rc::Gen<Layout> any_layout(int depth = 2) {
  return rc::gen::exec([depth]() -> Layout {
    if (depth == 0 || *rc::gen::inRange(0, 3) == 0) {
      bool const fixed = *rc::gen::arbitrary<bool>();
      return {IntTuple(*rc::gen::inRange<std::int64_t>(1, 9), fixed),
              IntTuple(*rc::gen::inRange<std::int64_t>(-40, 200), fixed)};
    }
    std::vector<IntTuple> shapes, strides;
    int const modes = *rc::gen::inRange(0, 4);
    for (int i = 0; i < modes; ++i) {
      Layout const mode = *any_layout(depth - 1);
      shapes.push_back(mode.shape);
      strides.push_back(mode.stride);
    }
    return {IntTuple(std::move(shapes)), IntTuple(std::move(strides))};
  });
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
