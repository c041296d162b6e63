// A tile, a swizzle and a warp's access: as text for the tool, and as numbers for a plain loop.
#pragma once

#include "dumb_law.hpp"

#include <swizproof/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace swizproof {

/// Rows of `columns` elements, `pitch` apart. Lane l of access v asks for `vector` elements at row
/// (l*a + v*b) % rows and vector (l*c + v*d) % (columns / vector).
struct TileCase {
  std::uint32_t rows, columns, pitch, bits, vector, a, b, c, d, values;
  Swizzle swizzle;
  bool on_bytes;
  Instruction instruction;

  [[nodiscard]] std::string layout() const {
    std::string const tile = fmt::format("({},{}):({},1)", rows, columns, pitch);
    return on_bytes ? fmt::format("{} o smem_ptr[{}b](unset) o {}", to_string(swizzle), bits, tile)
                    : fmt::format("{} o _0 o {}", to_string(swizzle), tile);
  }
  [[nodiscard]] std::string access() const {
    return fmt::format("{}: row = (lane*{} + v*{}) % {}, col = {}*((lane*{} + v*{}) % {}) for v in 0..{}",
                       to_string(instruction), a, b, rows, vector, c, d, columns / vector, values - 1);
  }
  /// The most wavefronts over all v, from base 0, by the dumb law.
  [[nodiscard]] unsigned worst() const {
    unsigned most = 0;
    for (std::uint32_t v = 0; v < values; ++v) {
      WarpAccess<std::uint32_t> warp{};
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        std::uint32_t const offset =
            (lane * a + v * b) % rows * pitch + vector * ((lane * c + v * d) % (columns / vector));
        warp.address[lane] = on_bytes ? swizzle(offset * (bits / 8)) : swizzle(offset) * (bits / 8);
        warp.active[lane] = lane < instruction.lanes();
      }
      most = std::max(most, dumb_law(instruction, warp));
    }
    return most;
  }
};

}  // namespace swizproof
