// Cases of campaign `registers`: sparse products, mma.m8n8k4 of f16 and movmatrix, by number.
#pragma once

#include <swizproof/hardware/quad_pairs.hpp>
#include <swizproof/hardware/sparse.hpp>

#include <cstdint>

namespace swizproof::gpu {

/// The kinds of instruction of this campaign.
enum class RegisterKind : std::uint8_t { sparse, sparse_wgmma, quad_pairs, movmatrix };

/// One instruction, and the sparsity selector or the orders of it.
struct RegisterCase {
  char const* name;
  RegisterKind kind;
  unsigned shape;     ///< in sparse_shapes or sparse_wgmma_shapes
  unsigned selector;  ///< of the metadata
  QuadPairs quads{};
};

/// The units of the campaign.
inline constexpr RegisterCase register_cases[] = {
    {"mma.sp.m16n8k8.f32.tf32.tf32.f32 0", RegisterKind::sparse, 0, 0},
    {"mma.sp.m16n8k8.f32.tf32.tf32.f32 1", RegisterKind::sparse, 0, 1},
    {"mma.sp.m16n8k8.f32.tf32.tf32.f32 2", RegisterKind::sparse, 0, 2},
    {"mma.sp.m16n8k8.f32.tf32.tf32.f32 3", RegisterKind::sparse, 0, 3},
    {"mma.sp.m16n8k16.f32.tf32.tf32.f32 0", RegisterKind::sparse, 1, 0},
    {"mma.sp.m16n8k16.f32.tf32.tf32.f32 1", RegisterKind::sparse, 1, 1},
    {"mma.sp.m16n8k16.f32.f16.f16.f32 0", RegisterKind::sparse, 2, 0},
    {"mma.sp.m16n8k16.f32.f16.f16.f32 1", RegisterKind::sparse, 2, 1},
    {"mma.sp.m16n8k16.f32.f16.f16.f32 2", RegisterKind::sparse, 2, 2},
    {"mma.sp.m16n8k16.f32.f16.f16.f32 3", RegisterKind::sparse, 2, 3},
    {"mma.sp.m16n8k32.f32.f16.f16.f32 0", RegisterKind::sparse, 3, 0},
    {"mma.sp.m16n8k32.f32.f16.f16.f32 1", RegisterKind::sparse, 3, 1},
    {"mma.sp.m16n8k32.s32.s8.s8.s32 0", RegisterKind::sparse, 4, 0},
    {"mma.sp.m16n8k32.s32.s8.s8.s32 1", RegisterKind::sparse, 4, 1},
    {"mma.sp.m16n8k64.s32.s8.s8.s32 0", RegisterKind::sparse, 5, 0},
    {"mma.sp.m16n8k64.s32.s4.s4.s32 0", RegisterKind::sparse, 6, 0},
    {"mma.sp.m16n8k64.s32.s4.s4.s32 1", RegisterKind::sparse, 6, 1},
    {"mma.sp.m16n8k128.s32.s4.s4.s32 0", RegisterKind::sparse, 7, 0},
    {"wgmma.sp.m64n16k16.f32.tf32.tf32 0", RegisterKind::sparse_wgmma, 0, 0},
    {"wgmma.sp.m64n16k16.f32.tf32.tf32 1", RegisterKind::sparse_wgmma, 0, 1},
    {"wgmma.sp.m64n16k32.f32.f16.f16 0", RegisterKind::sparse_wgmma, 1, 0},
    {"wgmma.sp.m64n16k32.f32.f16.f16 1", RegisterKind::sparse_wgmma, 1, 1},
    {"wgmma.sp.m64n16k64.s32.s8.s8 0", RegisterKind::sparse_wgmma, 2, 0},
    {"mma.m8n8k4.row.col.f32.f16.f16.f32", RegisterKind::quad_pairs, 0, 0, {true, true, true}},
    {"mma.m8n8k4.row.row.f32.f16.f16.f32", RegisterKind::quad_pairs, 0, 0, {true, false, true}},
    {"mma.m8n8k4.col.col.f32.f16.f16.f32", RegisterKind::quad_pairs, 0, 0, {false, true, true}},
    {"mma.m8n8k4.col.row.f32.f16.f16.f32", RegisterKind::quad_pairs, 0, 0, {false, false, true}},
    {"mma.m8n8k4.row.col.f16.f16.f16.f16", RegisterKind::quad_pairs, 0, 0, {true, true, false}},
    {"mma.m8n8k4.row.row.f16.f16.f16.f16", RegisterKind::quad_pairs, 0, 0, {true, false, false}},
    {"mma.m8n8k4.col.col.f16.f16.f16.f16", RegisterKind::quad_pairs, 0, 0, {false, true, false}},
    {"mma.m8n8k4.col.row.f16.f16.f16.f16", RegisterKind::quad_pairs, 0, 0, {false, false, false}},
    {"movmatrix.m8n8.trans.b16", RegisterKind::movmatrix, 0, 0},
};
inline constexpr unsigned register_rounds = 256;  ///< of other numbers, of each

/// 32 random bits for a unit, a round and a place.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t mixed(std::uint32_t unit, std::uint32_t round,
                                                                  std::uint32_t what, std::uint32_t row,
                                                                  std::uint32_t column) {
  std::uint32_t x = (((unit * register_rounds + round) * 4 + what) * 256 + row) * 256 + column;
  x = (x ^ x >> 16) * 0x7FEB352DU;
  x = (x ^ x >> 15) * 0x846CA68BU;
  return x ^ x >> 16;
}
/// An element of A that is not stored as zero, or of B: -2 .. 2.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::int32_t kept_entry(std::uint32_t unit, std::uint32_t round,
                                                                      bool b, std::uint32_t row,
                                                                      std::uint32_t column) {
  return static_cast<std::int32_t>(mixed(unit, round, b ? 1 : 0, row, column) % 5) - 2;
}
/// The place of element or pair number i of a row in its chunk: ascending in a chunk of four, or 0 or 1 of two.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t place_in_chunk(std::uint32_t unit,
                                                                           std::uint32_t round, bool of_two,
                                                                           std::uint32_t row,
                                                                           std::uint32_t i) {
  if (of_two) return mixed(unit, round, 2, row, i) % 2;
  std::uint32_t const pair = mixed(unit, round, 2, row, i / 2) % 6;  // 01 02 03 12 13 23
  std::uint32_t const first = pair < 3 ? 0 : pair < 5 ? 1 : 2;
  std::uint32_t const second = pair < 3 ? pair + 1 : pair == 3 ? 2 : 3;
  return i % 2 == 0 ? first : second;
}
/// The bits of an index as the metadata hold it.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t index_bits_of(std::uint32_t unit,
                                                                          std::uint32_t round, unsigned bits,
                                                                          std::uint32_t row,
                                                                          std::uint32_t i) {
  std::uint32_t const place = place_in_chunk(unit, round, bits == 32, row, i);
  if (bits == 32) return place == 0 ? 0b0100U : 0b1110U;
  return place;
}
/// k of the element j of a row that is not zero.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t k_of(std::uint32_t unit, std::uint32_t round,
                                                                 unsigned bits, std::uint32_t row,
                                                                 std::uint32_t j) {
  if (bits == 32) return 2 * j + place_in_chunk(unit, round, true, row, j);
  if (bits == 4) return j / 4 * 8 + 2 * place_in_chunk(unit, round, false, row, j / 2) + j % 2;
  return j / 2 * 4 + place_in_chunk(unit, round, false, row, j);
}
/// An element of a sparse product.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::int32_t sparse_result(std::uint32_t unit,
                                                                         std::uint32_t round,
                                                                         SparseShape const& shape,
                                                                         std::uint32_t row,
                                                                         std::uint32_t column) {
  std::int32_t sum = 0;
  for (std::uint32_t j = 0; j < shape.k / 2; ++j)
    sum += kept_entry(unit, round, false, row, j) *
           kept_entry(unit, round, true, k_of(unit, round, shape.bits, row, j), column);
  return sum;
}
/// An element of the four products of mma.m8n8k4, its row 8 q + m.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::int32_t quad_pair_result(std::uint32_t unit,
                                                                            std::uint32_t round,
                                                                            std::uint32_t row,
                                                                            std::uint32_t column) {
  std::int32_t sum = 0;
  for (std::uint32_t k = 0; k < 4; ++k)
    sum += kept_entry(unit, round, false, row, k) * kept_entry(unit, round, true, k, row / 8 * 8 + column);
  return sum;
}

/// Threads of a unit, and values of D in each.
[[nodiscard]] constexpr unsigned register_threads(RegisterCase const& c) {
  return c.kind == RegisterKind::sparse_wgmma ? 128 : warp_lanes;
}
[[nodiscard]] constexpr unsigned register_values(RegisterCase const& c) {
  switch (c.kind) {
    case RegisterKind::sparse:
      return 4;
    case RegisterKind::movmatrix:
      return 2;
    case RegisterKind::sparse_wgmma:
    case RegisterKind::quad_pairs:
      break;
  }
  return 8;
}
/// Value i of D of a thread, by the model.
[[nodiscard]] constexpr std::int32_t register_result(std::uint32_t unit, std::uint32_t round,
                                                     std::uint32_t thread, std::uint32_t i) {
  RegisterCase const& c = register_cases[unit];
  if (c.kind == RegisterKind::movmatrix) {
    MatrixElement const e = matrix_element_of(thread, i, true);
    return static_cast<std::int32_t>(8 * e.row + e.column + round);
  }
  if (c.kind == RegisterKind::quad_pairs) {
    MatrixElement const e = quad_pair_element(c.quads, Operand::d, thread, i);
    return quad_pair_result(unit, round, e.row, e.column);
  }
  bool const group = c.kind == RegisterKind::sparse_wgmma;
  SparseShape const& shape = group ? sparse_wgmma_shapes[c.shape] : sparse_shapes[c.shape];
  MatrixElement const e = element_of(shape.fragment(Operand::d, group ? 16 : 8, 32), thread, i);
  return sparse_result(unit, round, shape, e.row, e.column);
}

}  // namespace swizproof::gpu
