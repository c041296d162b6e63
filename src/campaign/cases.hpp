// Cases of each campaign, as lists whose places are the units that shards divide: a machine without a GPU reads from them
// what a record must hold. tests/unit/records/evidence_test.cpp compares them with the records.
#pragma once

#include "campaign/clocked.hpp"
#include "campaign/contention.hpp"
#include "campaign/operands.hpp"
#include "campaign/pattern.hpp"
#include "campaign/tiles.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/hardware/wgmma.hpp>
#include <swizproof/core/every_swizzle.hpp>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof::gpu {

/// A part of a campaign: units u with u % count == index. Parts of equal count are disjoint, and all
/// of them together are complete.
struct Part {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
  [[nodiscard]] bool has(std::uint64_t unit) const { return unit % count == index; }
};

/// Element that a register receives: one instruction at (row, byte) of a tile of 32 rows of `pitch` bytes.
struct TileMove {
  Swizzle swizzle;
  unsigned pitch;
  unsigned row;
  unsigned byte;
  unsigned matrices;
  bool transposed;
  bool store;
  /// True if the elements go into the record, right or wrong.
  [[nodiscard]] bool kept() const { return row == 3 && byte == 32 && pitch == 128; }
};

/// The units of campaign `ldmatrix`: 29,952.
[[nodiscard]] inline std::vector<TileMove> tile_moves() {
  std::vector<TileMove> cases;
  for (Swizzle const s :
       {swizzle_none, swizzle_32B, swizzle_64B, swizzle_128B, Swizzle{2, 4, 4}, Swizzle{3, 4, 4}})
    for (unsigned const pitch : {32U, 64U, 128U, 256U})
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned byte = 0; byte + 32 <= pitch; byte += 16)
          for (unsigned const matrices : {1U, 2U, 4U})
            for (bool const transposed : {false, true})
              for (bool const store : {false, true})
                cases.push_back({s, pitch, row, byte, matrices, transposed, store});
  return cases;
}

/// A box that the copy engine moves.
struct BoxCopy {
  int mode;         ///< CUtensorMapSwizzle: 0 none, 1 32B, 2 64B, 3 128B, ...
  unsigned box[3];  ///< elements of 16 bits, rows, planes
  unsigned offset;  ///< bytes of the destination from a 4 KiB boundary
  bool store;
  unsigned global_offset = 0;  ///< bytes of the tensor's start from its allocation
  [[nodiscard]] constexpr unsigned line_bytes() const { return 2 * box[0]; }
};

/// The units of campaign `tma`: 324; the last eight are refused.
[[nodiscard]] inline std::vector<BoxCopy> box_copies() {
  std::vector<BoxCopy> cases;
  for (bool const store : {false, true})
    for (int mode = 0; mode <= 3; ++mode) {
      unsigned const width = mode == 0 ? 64 : 8U << mode;  // elements
      for (unsigned p = 0; p < 16; ++p) cases.push_back({mode, {width, 16, 1}, 128 * p, store});
      for (unsigned inner = 8; inner < width; inner += 8)
        for (unsigned const p : {0U, 1U, 3U}) cases.push_back({mode, {inner, 16, 1}, 128 * p, store});
      for (unsigned const p : {0U, 1U, 5U}) {
        cases.push_back({mode, {width, 4, 3}, 128 * p, store});
        cases.push_back({mode, {width, 3, 4}, 128 * p, store});
        cases.push_back({mode, {std::max(8U, width / 2), 5, 3}, 128 * p, store});
      }
      cases.push_back({mode, {width, 16, 1}, 0, store, 16});  // a tensor that is only 16-byte aligned
    }
  for (int mode = 4; mode <= 6; ++mode) cases.push_back({mode, {64, 16, 1}, 0, false});
  for (int mode = 1; mode <= 3; ++mode) cases.push_back({mode, {(8U << mode) + 8, 16, 1}, 0, false});
  cases.push_back({0, {8, 16, 1}, 0, false, 8});  // a tensor that is only 8-byte aligned
  cases.push_back({0, {4, 16, 1}, 0, false});     // an inner box of 8 bytes
  return cases;
}

/// A tile that the copy engine writes, or reads, in the boxes that `swizproof tma` prints.
struct TileCopy {
  BoxedTile tile;
  unsigned base;  ///< bytes of the tile from a 4 KiB boundary
  bool store;
};

/// The units of campaign `tiles`: each tile loaded and stored at four bases that are good for it, one of them between the
/// multiples of its alignment where there is such a one.
[[nodiscard]] inline std::vector<TileCopy> tile_copies() {
  std::vector<TileCopy> cases;
  for (BoxedTile const& tile : boxed_tiles())
    for (bool const store : {false, true}) {
      for (unsigned const times : {0U, 1U, 3U}) cases.push_back({tile, times * tile.alignment, store});
      cases.push_back({tile, tile.also.empty() ? 2 * tile.alignment : tile.also.front(), store});
    }
  return cases;
}

/// 16 bytes of a line of a box: the coordinate in the tile of their first element, the number of their line in the box, the
/// bytes before them in the line, and the box's destination from the tile's base.
struct TilePiece {
  std::vector<unsigned> at;
  unsigned line;
  unsigned x;
  int destination;
};

/// All pieces of a tile, box after box and line after line.
[[nodiscard]] inline std::vector<TilePiece> pieces_of(BoxedTile const& tile) {
  std::vector<TilePiece> pieces;
  unsigned lines = 1;
  for (std::size_t d = 1; d < tile.box.size(); ++d) lines *= tile.box[d];
  for (TileBox const& box : tile.boxes)
    for (unsigned line = 0; line < lines; ++line)
      for (unsigned x = 0; x < tile.box[0] * tile.element_bytes; x += 16) {
        std::vector<unsigned> at = box.at;
        at[tile.modes[0]] += x / tile.element_bytes;
        for (std::size_t d = 1, rest = line; d < tile.box.size(); rest /= tile.box[d++])
          at[tile.modes[d]] += static_cast<unsigned>(rest % tile.box[d]);
        pieces.push_back({std::move(at), line, x, box.destination});
      }
  return pieces;
}

/// An operand that wgmma reads through a descriptor.
struct OperandRead {
  bool operand_a;
  Major major;
  WgmmaDescriptor descriptor;  ///< start relative to the window
  bool keep;                   ///< the recovered map goes into the record
  char const* question;
  [[nodiscard]] unsigned extent() const { return operand_a ? 64 : 128; }
};
inline constexpr unsigned wgmma_depth = 16;  ///< k

/// The units of campaign `wgmma`, 1,776: all questions for both operands, both majors and all modes where they make sense.
[[nodiscard]] inline std::vector<OperandRead> operand_reads() {
  std::vector<OperandRead> cases;
  for (bool const a : {false, true})
    for (Major const major : {Major::k, Major::mn})
      for (WgmmaMode const mode : {WgmmaMode::none, WgmmaMode::b32, WgmmaMode::b64, WgmmaMode::b128}) {
        WgmmaDescriptor const d = canonical_descriptor(0, major, mode);
        auto const ask = [&](char const* question, WgmmaDescriptor const& changed, bool keep = false) {
          cases.push_back({a, major, changed, keep, question});
        };
        ask("canonical", d, true);
        for (auto const& [lbo, sbo] :
             {std::pair{2048U, 3072U}, {1040U, 2064U}, {4096U, 512U}, {128U, 1536U}, {2176U, 16U}}) {
          WgmmaDescriptor changed = d;
          changed.leading_byte_offset = lbo;
          changed.stride_byte_offset = sbo;
          ask("strides", changed);
        }
        for (unsigned step = 16; step < 1024; step += 16) {
          WgmmaDescriptor changed = d;
          changed.start = step;
          ask(step < 128 && step % 32 == 0 ? "k advance" : "start", changed);
        }
        if (mode == WgmmaMode::none) continue;
        for (unsigned p = 0; p < 8; ++p)
          for (unsigned b = 1; b < 8; ++b) {
            WgmmaDescriptor changed = d;
            changed.start = 128 * p;
            changed.base_offset = b;
            ask("base offset", changed, !a && major == Major::k && p < 3);
          }
      }
  return cases;
}

/// One instruction of a tile that wgmma reads through the descriptor that `swizproof descriptor` prints.
struct OperandStepRead {
  DescribedOperand operand;
  OperandStep step;
  unsigned base;  ///< bytes of the tile from a 4 KiB boundary
  unsigned element_bytes;
};

/// The units of campaign `operands`: of each descriptor the first instruction and the last, from two bases.
[[nodiscard]] inline std::vector<OperandStepRead> operand_step_reads() {
  std::vector<OperandStepRead> cases;
  for (DescribedOperand const& operand : described_operands())
    for (unsigned const base : operand.bases)
      for (OperandStep const& step : operand.steps)
        cases.push_back({operand, step, base, 32 / operand.depth});
  return cases;
}

/// Encoding of small whole numbers in an element.
enum class ElementKind : std::uint8_t { f64, tf32, f16, bf16, e4m3, e5m2, integer };

/// A product that mma, or wgmma with A in registers, computes: `name` is PTX's behind `mma.sync.aligned.` without
/// `.row.col`, or behind `wgmma.mma_async.sync.aligned.`.
struct Product {
  char const* name;
  bool warpgroup;
  ElementKind kind;
  unsigned m, n, k;
  unsigned bits;
  unsigned d_bits;
  /// Operand A, B or D. B of wgmma is in no register.
  [[nodiscard]] Fragment fragment(Operand operand) const {
    if (warpgroup) {
      for (WgmmaShape const& shape : wgmma_shapes)
        if (shape.k == k) return shape.fragment(operand, n, d_bits);
      return {};
    }
    for (MmaShape const& shape : mma_shapes)
      if (shape.m == m && shape.n == n && shape.k == k && shape.bits == bits)
        return shape.fragment(operand, d_bits);
    return {};
  }
};

/// The units of campaign `mma`, 22: every shape of mma that sm_90a has, and wgmma of each depth.
inline constexpr Product products[] = {
    {"m8n8k4.f64.f64.f64.f64", false, ElementKind::f64, 8, 8, 4, 64, 64},
    {"m16n8k4.f64.f64.f64.f64", false, ElementKind::f64, 16, 8, 4, 64, 64},
    {"m16n8k8.f64.f64.f64.f64", false, ElementKind::f64, 16, 8, 8, 64, 64},
    {"m16n8k16.f64.f64.f64.f64", false, ElementKind::f64, 16, 8, 16, 64, 64},
    {"m16n8k4.f32.tf32.tf32.f32", false, ElementKind::tf32, 16, 8, 4, 32, 32},
    {"m16n8k8.f32.tf32.tf32.f32", false, ElementKind::tf32, 16, 8, 8, 32, 32},
    {"m16n8k8.f32.f16.f16.f32", false, ElementKind::f16, 16, 8, 8, 16, 32},
    {"m16n8k16.f32.f16.f16.f32", false, ElementKind::f16, 16, 8, 16, 16, 32},
    {"m16n8k16.f16.f16.f16.f16", false, ElementKind::f16, 16, 8, 16, 16, 16},
    {"m16n8k16.f32.bf16.bf16.f32", false, ElementKind::bf16, 16, 8, 16, 16, 32},
    {"m8n8k16.s32.s8.s8.s32", false, ElementKind::integer, 8, 8, 16, 8, 32},
    {"m16n8k16.s32.s8.s8.s32", false, ElementKind::integer, 16, 8, 16, 8, 32},
    {"m16n8k32.s32.s8.s8.s32", false, ElementKind::integer, 16, 8, 32, 8, 32},
    {"m16n8k32.f32.e4m3.e4m3.f32", false, ElementKind::e4m3, 16, 8, 32, 8, 32},
    {"m16n8k32.f32.e5m2.e5m2.f32", false, ElementKind::e5m2, 16, 8, 32, 8, 32},
    {"m8n8k32.s32.s4.s4.s32", false, ElementKind::integer, 8, 8, 32, 4, 32},
    {"m16n8k32.s32.s4.s4.s32", false, ElementKind::integer, 16, 8, 32, 4, 32},
    {"m16n8k64.s32.s4.s4.s32", false, ElementKind::integer, 16, 8, 64, 4, 32},
    {"m64n16k8.f32.tf32.tf32", true, ElementKind::tf32, 64, 16, 8, 32, 32},
    {"m64n16k16.f32.f16.f16", true, ElementKind::f16, 64, 16, 16, 16, 32},
    {"m64n16k32.f32.e4m3.e4m3", true, ElementKind::e4m3, 64, 16, 32, 8, 32},
    {"m64n16k32.s32.s8.s8", true, ElementKind::integer, 64, 16, 32, 8, 32},
};
/// Products of each, of other numbers.
inline constexpr unsigned product_rounds = 256;

/// An element of A or B of a round: -2 .. 2, which every type has, and whose sums are exact.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::int32_t entry_of(std::uint32_t product,
                                                                    std::uint32_t round, bool b,
                                                                    std::uint32_t row, std::uint32_t column) {
  std::uint32_t x = (((product * product_rounds + round) * 2 + (b ? 1 : 0)) * 64 + row) * 64 + column;
  x = (x ^ x >> 16) * 0x7FEB352DU;  // mixes the bits
  x = (x ^ x >> 15) * 0x846CA68BU;
  return static_cast<std::int32_t>((x ^ x >> 16) % 5) - 2;
}

/// An element of the product, from rows of A and columns of B.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::int32_t result_of(std::uint32_t product,
                                                                     std::uint32_t round, std::uint32_t k,
                                                                     std::uint32_t row,
                                                                     std::uint32_t column) {
  std::int32_t sum = 0;
  for (std::uint32_t i = 0; i < k; ++i)
    sum += entry_of(product, round, false, row, i) * entry_of(product, round, true, i, column);
  return sum;
}

/// Up to this many bits a swizzle leaves five bits free, along which `exhaustive` walks in runs.
inline constexpr int most_bits_with_runs = 13;

/// The units of campaign `exhaustive`: every swizzle, those of one shift together, with runs first.
[[nodiscard]] inline std::vector<Swizzle> swizzles_by_shift() {
  std::vector<Swizzle> all = every_swizzle();
  std::sort(all.begin(), all.end(), [](Swizzle const& a, Swizzle const& b) {
    auto const key = [](Swizzle const& s) {
      return std::tuple(s.shift, s.bits > most_bits_with_runs, s.bits, s.base);
    };
    return key(a) < key(b);
  });
  return all;
}

/// Warps that issue one pattern together, patterns of a batch, and rounds through the pages, in `wavefronts`.
inline constexpr unsigned measuring_warps = 8, batch_patterns = 256, measuring_rounds = 6;
/// Rows that `wavefronts` keeps of each kind, instruction and part (of all parts, for lane maps).
inline constexpr unsigned kept_patterns = 128;
/// True if `counters` measures an instruction: of .trans the widest form alone, the others cost the same.
[[nodiscard]] constexpr bool is_counted(Instruction i) { return !i.transposed || i.matrices == 4; }
/// Patterns of a kind, for each instruction and part, in `counters`.
inline constexpr unsigned counted_patterns = 16;
/// Number of the i-th of them.
[[nodiscard]] inline std::uint64_t counted_number(std::uint64_t i, Part part) {
  return (i * part.count + part.index) * 7919;
}

/// The exhaustive set of lane maps that `wavefronts` runs on an instruction; of one map: none.
[[nodiscard]] constexpr LaneMaps lane_maps_of(Instruction i) {
  if (i.transposed) return {0, 0};
  if (i.matrices == 1) return {3, 8};
  if (i.matrices == 2) return {4, 6};
  if (i.matrices == 4) return {5, 5};
  bool const load = i.operation == Operation::ld_shared, store = i.operation == Operation::st_shared;
  if (load && i.bytes == 4) return {5, 6};
  return i.bytes == 16 || (i.bytes == 8 && (load || store)) ? LaneMaps{5, 5} : LaneMaps{0, 0};
}

}  // namespace swizproof::gpu
