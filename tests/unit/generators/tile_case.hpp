// A tile, a swizzle and a warp's access: as text for the tool, and as numbers for a plain loop.
#pragma once

#include "dumb_law.hpp"

#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// Rows of `columns` elements, `pitch` apart. Lane l of access v accesses `vector` elements at row
/// (l*a + v*b) % rows and vector (l*c + v*d) % (columns / vector).
struct TileCase {
  std::uint32_t rows, columns, pitch, bits, vector, a, b, c, d, values;
  Swizzle swizzle;
  bool on_bytes;
  Instruction instruction;
  bool upwards = false;                       ///< row i + 1 lies before row i: its stride is -pitch
  std::optional<std::int64_t> vector_step{};  ///< from vector to vector, in elements; `vector` if empty
  std::int64_t displacement = 0;              ///< elements in front of the tile
  /// Functions between the swizzle and the displacement, which acts on elements then: first another swizzle,
  /// then `pad` elements after every `run`. Precondition: no offset is negative.
  struct Between {
    Swizzle swizzle;
    std::uint32_t run, pad;
  };
  std::optional<Between> between{};

  /// True if two elements share a place.
  [[nodiscard]] bool is_broadcast() const {
    return (pitch == 0 && rows > 1) || (vector_step == 0 && columns > vector);
  }
  [[nodiscard]] std::string tile() const {
    std::string const rows_apart = fmt::format("{}{}", upwards && pitch != 0 ? "-" : "", pitch);
    if (!vector_step) return fmt::format("({},{}):({},1)", rows, columns, rows_apart);
    return fmt::format("({},({},{})):({},(1,{}))", rows, vector, columns / vector, rows_apart, *vector_step);
  }
  [[nodiscard]] std::string layout() const {
    if (on_bytes && displacement == 0)
      return fmt::format("{} o smem_ptr[{}b](unset) o {}", to_string(swizzle), bits, tile());
    if (on_bytes)
      return fmt::format("{} o smem_ptr[{}b](unset) o {} o {}", to_string(swizzle), bits, displacement,
                         tile());
    if (!between) return fmt::format("{} o {} o {}", to_string(swizzle), displacement, tile());
    return fmt::format("{} o _0 o ({},4096):(1,{}) o 0 o {} o {} o {}", to_string(swizzle), between->run,
                       between->run + between->pad, to_string(between->swizzle), displacement, tile());
  }
  [[nodiscard]] std::string access() const {
    return fmt::format("{}: row = (lane*{} + v*{}) % {}, col = {}*((lane*{} + v*{}) % {}) for v in 0..{}",
                       to_string(instruction), a, b, rows, vector, c, d, columns / vector, values - 1);
  }
  /// The byte address of a vector, from base 0; below 0 modulo 2^32.
  [[nodiscard]] std::uint32_t address(std::uint32_t row, std::uint32_t vector_in_row) const {
    std::int64_t const down = std::int64_t{row} * pitch;
    auto const x = static_cast<std::uint64_t>(displacement + (upwards ? -down : down) +
                                              std::int64_t{vector_in_row} * vector_step.value_or(vector));
    if (on_bytes) return static_cast<std::uint32_t>(swizzle(x * bits >> 3));
    std::uint64_t offset = x;
    if (between) {
      offset = between->swizzle(offset);
      offset += offset / between->run * between->pad;
    }
    return static_cast<std::uint32_t>(swizzle(offset) * bits >> 3);
  }
  /// The wavefronts of each v, from base 0, by the dumb law.
  [[nodiscard]] std::vector<unsigned> costs() const {
    std::vector<unsigned> all;
    for (std::uint32_t v = 0; v < values; ++v) {
      WarpAccess<std::uint32_t> warp{};
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        warp.address[lane] = address((lane * a + v * b) % rows, (lane * c + v * d) % (columns / vector));
        warp.active[lane] = lane < instruction.lanes();
      }
      all.push_back(dumb_law(instruction, warp));
    }
    return all;
  }
  /// The most wavefronts over all v.
  [[nodiscard]] unsigned worst() const {
    std::vector<unsigned> const all = costs();
    return *std::max_element(all.begin(), all.end());
  }
  /// The wavefronts of all v together.
  [[nodiscard]] std::uint64_t total() const {
    std::vector<unsigned> const all = costs();
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }
};

}  // namespace swizproof
