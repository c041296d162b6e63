// Random tiles and accesses to them, as text and as numbers.
#pragma once

#include "generators/generators.hpp"
#include "generators/tile_case.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>

namespace swizproof {

/// A swizzle of the bits from `unit` on, so that vectors of that many bytes or elements stay whole.
inline Swizzle whole_swizzle(std::uint32_t unit) {
  int const shift = *evenly(1, 6);
  return {*evenly(0, std::min(shift, 4) + 1), std::countr_zero(unit) + *evenly(0, 3),
          *evenly(0, 4) == 0 ? -shift : shift};
}

/// A tile and an access, with a swizzle that keeps vectors whole.
inline rc::Gen<TileCase> any_tile() {
  return rc::gen::exec([] {
    TileCase k{};
    k.instruction = *any_instruction();
    k.bits = *rc::gen::element(1U, 2U, 4U, 8U, 16U, 32U);
    k.vector = std::max(8 * k.instruction.bytes / k.bits, 1U);
    if (k.instruction.bytes * 8 < k.bits) k.bits = 8 * k.instruction.bytes;
    k.rows = *rc::gen::element(7U, 8U, 12U, 31U, 32U, 64U);
    k.columns = k.vector * *rc::gen::element(3U, 4U, 5U, 8U, 12U, 16U);
    k.pitch = k.columns + k.vector * *rc::gen::element(0U, 0U, 0U, 1U, 2U);
    k.upwards = *evenly(0, 5) == 0;
    k.a = *evenly(0U, 5U), k.b = *evenly(0U, 9U);
    k.c = *evenly(0U, 5U), k.d = *evenly(0U, 5U);
    k.values = *rc::gen::element(1U, 2U, 3U, 8U);
    k.on_bytes = *rc::gen::arbitrary<bool>();
    k.swizzle = whole_swizzle(k.on_bytes ? k.instruction.bytes : k.vector);
    return k;
  });
}

/// The same with an offset, with functions between the swizzle and the tile, with rows or vectors that share
/// their places, or with vectors from right to left.
inline rc::Gen<TileCase> any_case() {
  return rc::gen::exec([] {
    TileCase k = *any_tile();
    auto const whole = static_cast<std::int64_t>(k.vector);
    if (*rc::gen::arbitrary<bool>()) k.displacement = whole * *evenly<std::int64_t>(-20, 60);
    int const rare = *evenly(0, 8);
    if (rare == 0) k.pitch = 0;
    if (rare == 1) k.vector_step = 0;
    if (rare == 2) k.vector_step = -whole;
    if (rare == 3) {  // every second vector, with a pitch that has room for them
      k.vector_step = 2 * whole;
      k.pitch *= 2;
    }
    if (!k.on_bytes && *rc::gen::arbitrary<bool>()) {
      std::int64_t const least = std::int64_t{k.rows} * k.pitch + k.columns;
      k.displacement = std::max<std::int64_t>(k.displacement, 0);
      if (k.upwards || k.vector_step == -whole) k.displacement += least;
      k.between = {whole_swizzle(k.vector), k.vector * *rc::gen::element(1U, 3U, 4U, 16U),
                   k.vector * *evenly(0U, 4U)};
    }
    return k;
  });
}

inline void classify(TileCase const& k) {
  RC_CLASSIFY(k.pitch > k.columns, "padded");
  RC_CLASSIFY(k.bits < 8, "element below a byte");
  RC_CLASSIFY(k.displacement != 0, "displacement");
  RC_CLASSIFY(k.between.has_value(), "nested composition");
  RC_CLASSIFY((k.upwards && k.pitch != 0) || k.vector_step.value_or(0) < 0, "negative stride");
  RC_CLASSIFY(k.is_broadcast(), "stride 0");
  RC_CLASSIFY((k.rows & (k.rows - 1)) != 0 || (k.columns & (k.columns - 1)) != 0,
              "extent that is no power of two");
}

}  // namespace swizproof
