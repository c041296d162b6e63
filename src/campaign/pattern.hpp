// Random and exhaustive warp patterns from counters: pattern number n is a function of the seed and n
// alone, the same on every device, in every part and on every repetition.
#pragma once

#include <swizproof/core/splitmix.hpp>
#include <swizproof/hardware/bank.hpp>

#include <cstdio>
#include <string>

namespace swizproof::gpu {

/// Patterns live in a page of 4 KiB: 32 rows of 128 bytes, so that all degrees up to 32 occur.
inline constexpr std::uint32_t page_bytes = 4096;

/// An instruction is issued at as many pages, so that nothing is merged.
inline constexpr unsigned pages = 16;

/// Kind of pattern that a number draws. Only `lane_map` is exhaustive.
enum class Kind : std::uint8_t {
  uniform,     ///< every lane anywhere
  few,         ///< every lane at one of 1 to 8 addresses
  xor_linear,  ///< lane -> address is linear over GF(2), plus a constant
  paired,      ///< lanes l and l^1 (or ^2, ^4, ^8, ^16) have one address
  halves,      ///< one half-warp paired under one bit, the other half under another
  strided,     ///< address = base + lane * stride
  columns,     ///< few banks, many rows: high degrees
  lane_map,    ///< number n's bits are the images of lane bits 0..4 (0..3 for x2, 0..2 for x1)
};
inline constexpr unsigned drawn_kinds = 7;
inline constexpr char const* kind_names[] = {"uniform", "few",     "xor_linear", "paired",
                                             "halves",  "strided", "columns",    "lane_map"};

/// 64 random bits: splitmix64 in a state made of seed, number and draw.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t random(std::uint64_t seed, std::uint64_t number,
                                                                   std::uint32_t draw) {
  return splitmix64(seed * 0xD1342543DE82EF95 + (number - 1) * splitmix64_step +
                    draw * 0xD6E8FEB86659FD93ULL + 1);
}

/// Addresses of a warp in units of the instruction's bytes, and which lanes are active.
struct Pattern {
  std::uint16_t unit[warp_lanes];
  std::uint32_t active;
};

/// Active lanes of a pattern, of its draws 32 and 33: all, or in a third of the patterns some, at least one.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t random_lanes(std::uint64_t seed,
                                                                         std::uint64_t number,
                                                                         std::uint64_t head,
                                                                         std::uint64_t more) {
  if (head % 3 != 0) return 0xffffffff;
  std::uint64_t const mask = random(seed, number, 34);
  auto active = static_cast<std::uint32_t>(mask);
  if (head % 2 == 0) active &= static_cast<std::uint32_t>(mask >> 32);
  if (head % 5 == 0) active &= static_cast<std::uint32_t>(random(seed, number, 35));
  return active | std::uint32_t{1} << (more >> 16) % warp_lanes;
}

/// Draws pattern `number` of `kind`. Postcondition: some lane is active; all are for ldmatrix and
/// stmatrix. A third of the others has some lanes inactive, a few of those all but a handful.
[[nodiscard]] SWIZPROOF_HOST_DEVICE inline Pattern draw(std::uint64_t seed, std::uint64_t number, Kind kind,
                                                        Instruction instruction) {
  std::uint32_t const units = page_bytes / instruction.bytes;
  std::uint32_t const row = 128 / instruction.bytes;
  std::uint64_t const head = random(seed, number, 32);
  std::uint64_t const more = random(seed, number, 33);
  auto const few = static_cast<std::uint32_t>(head >> 8 & 7) + 1;
  auto const bit = std::uint32_t{1} << (head >> 16) % 5;
  auto const other_bit = std::uint32_t{1} << (head >> 24) % 5;
  auto const base = static_cast<std::uint32_t>(more) % units;
  auto const stride = static_cast<std::uint32_t>(more >> 32) % units;
  Pattern p{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t source = lane;
    if (kind == Kind::paired) source = lane & ~bit;
    if (kind == Kind::halves) source = lane & ~(lane < 16 ? bit : other_bit);
    if (kind == Kind::few) source = static_cast<std::uint32_t>(random(seed, number, lane) >> 40) % few;
    std::uint64_t const r = random(seed, number, 64 + source);
    auto unit = static_cast<std::uint32_t>(r) % units;
    if (kind == Kind::strided) unit = (base + lane * stride) % units;
    if (kind == Kind::columns)
      unit = static_cast<std::uint32_t>(r >> 32) % (units / row) * row + unit % few % row;
    if (kind == Kind::xor_linear) {
      unit = (head >> 40 & 1) != 0 ? base : 0;
      for (unsigned i = 0; i < 5; ++i)
        if ((lane >> i & 1) != 0) unit ^= static_cast<std::uint32_t>(random(seed, number, 96 + i)) % units;
    }
    p.unit[lane] = static_cast<std::uint16_t>(unit);
  }
  p.active = instruction.matrices == 0 ? random_lanes(seed, number, head, more) : 0xffffffff;
  return p;
}

/// Exhaustive set: all linear maps from the lane's bits that count to units of `rows` rows of 128 bytes.
struct LaneMaps {
  unsigned lane_bits;
  unsigned unit_bits;
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t size() const {
    return std::uint64_t{1} << (lane_bits * unit_bits);
  }
};

/// Lane map `number`: the bits of the number are the images of lane bits 0, 1, ...
[[nodiscard]] SWIZPROOF_HOST_DEVICE inline Pattern lane_map(std::uint64_t number, LaneMaps maps) {
  Pattern p{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t unit = 0;
    for (unsigned i = 0; i < maps.lane_bits; ++i)
      if ((lane >> i & 1) != 0)
        unit ^= static_cast<std::uint32_t>(number >> (i * maps.unit_bits)) & ((1U << maps.unit_bits) - 1);
    p.unit[lane] = static_cast<std::uint16_t>(unit);
  }
  p.active = 0xffffffff;
  return p;
}

/// The lanes' byte addresses from `page` on, as the cost model takes them.
[[nodiscard]] SWIZPROOF_HOST_DEVICE inline WarpAccess<std::uint32_t> access(Pattern const& p,
                                                                            Instruction instruction) {
  WarpAccess<std::uint32_t> warp;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    warp.address[lane] = p.unit[lane] * instruction.bytes;
    warp.active[lane] = (p.active >> lane & 1) != 0 && lane < instruction.lanes();
  }
  return warp;
}

/// Addresses in units of the instruction's bytes, in hexadecimal; dots for an inactive lane.
[[nodiscard]] inline std::string hexadecimal(Pattern const& pattern, Instruction instruction) {
  int const digits = instruction.bytes == 16 ? 2 : 3;
  std::string out;
  char lane_text[8];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::snprintf(lane_text, sizeof lane_text, "%0*x", digits, pattern.unit[lane]);
    out += (pattern.active >> lane & 1) != 0 ? std::string(lane_text)
                                             : std::string(static_cast<std::size_t>(digits), '.');
  }
  return out;
}

}  // namespace swizproof::gpu
