// ldmatrix: the data that ldmatrix and stmatrix move, through swizzled tiles, element by element.
//
// A tile of 32 rows is written to shared memory through the swizzle by ordinary stores, each 16-bit
// element being its own number row * columns + column. Lane l then gives ldmatrix the address of row
// origin + l%16, 16 bytes further for the upper lanes; what arrives is compared with fragment.hpp.
// stmatrix goes the other way, and all bytes of the tile are compared, also those it must not touch.
#include "record.hpp"

#include <swizproof/hardware/bank.hpp>
#include <swizproof/hardware/fragment.hpp>
#include <swizproof/core/swizzle.hpp>

namespace swizproof::gpu {
namespace {

constexpr unsigned rows = 32;
constexpr unsigned widest_pitch = 256;
constexpr std::uint16_t untouched = 0xfffe;

using Case = TileMove;

__device__ void load(Case const& c, std::uint32_t a, std::uint32_t (&r)[4]) {
#define LDMATRIX(suffix)                                                                   \
  if (c.matrices == 1)                                                                     \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 {%0}, [%1];"          \
                 : "=r"(r[0])                                                              \
                 : "r"(a)                                                                  \
                 : "memory");                                                              \
  if (c.matrices == 2)                                                                     \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 {%0,%1}, [%2];"       \
                 : "=r"(r[0]), "=r"(r[1])                                                  \
                 : "r"(a)                                                                  \
                 : "memory");                                                              \
  if (c.matrices == 4)                                                                     \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" suffix ".shared.b16 {%0,%1,%2,%3}, [%4];" \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                          \
                 : "r"(a)                                                                  \
                 : "memory");
  if (c.transposed) {
    LDMATRIX(".trans")
  } else {
    LDMATRIX("")
  }
#undef LDMATRIX
}

__device__ void store(Case const& c, std::uint32_t a, std::uint32_t const (&r)[4]) {
#define STMATRIX(suffix)                                                                                     \
  if (c.matrices == 1)                                                                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 [%1], {%0};" ::"r"(r[0]), "r"(a)        \
                 : "memory");                                                                                \
  if (c.matrices == 2)                                                                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 [%2], {%0,%1};" ::"r"(r[0]), "r"(r[1]), \
                 "r"(a)                                                                                      \
                 : "memory");                                                                                \
  if (c.matrices == 4)                                                                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" suffix ".shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(r[0]),      \
                 "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(a)                                                     \
                 : "memory");
  if (c.transposed) {
    STMATRIX(".trans")
  } else {
    STMATRIX("")
  }
#undef STMATRIX
}

/// The element that lane's register i holds in its half, as a number in the tile.
__device__ std::uint32_t expected(Case const& c, unsigned lane, unsigned i, unsigned half) {
  MatrixElement const e = matrix_element(lane, half, c.transposed);
  unsigned const giver = 8 * i + e.row;  // the lane that gave this row's address
  return (c.row + giver % 16) * (c.pitch / 2) + c.byte / 2 + giver / 16 * 8 + e.column;
}

/// One warp a case. `found` gets 256 element numbers a case, in the order lane, register, half.
__global__ void move_tiles(Case const* cases, std::uint16_t* found, unsigned* mismatches) {
  Case const c = cases[blockIdx.x];
  __shared__ alignas(8192) std::uint16_t tile[rows * widest_pitch / 2];
  unsigned const lane = threadIdx.x, columns = c.pitch / 2;
  for (unsigned e = lane; e < rows * widest_pitch / 2; e += warp_lanes) tile[e] = untouched;
  __syncwarp();
  if (!c.store)
    for (unsigned e = lane; e < rows * columns; e += warp_lanes)
      tile[c.swizzle(2 * e) / 2] = static_cast<std::uint16_t>(e);
  __syncwarp();
  std::uint32_t const byte = (c.row + lane % 16) * c.pitch + c.byte + lane / 16 * 16;
  std::uint32_t const address = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile)) + c.swizzle(byte);
  std::uint32_t r[4] = {};
  if (c.store) {
    for (unsigned i = 0; i < c.matrices; ++i) r[i] = expected(c, lane, i, 0) | expected(c, lane, i, 1) << 16;
    store(c, address, r);
    __syncwarp();
  } else {
    load(c, address, r);
  }
  unsigned wrong = 0;
  for (unsigned i = 0; i < c.matrices; ++i)
    for (unsigned half = 0; half < 2; ++half) {
      std::uint32_t const e = expected(c, lane, i, half);
      std::uint32_t got = r[i] >> (16 * half) & 0xffff;
      if (c.store) {
        got = tile[c.swizzle(2 * e) / 2];
        tile[c.swizzle(2 * e) / 2] = untouched;
      }
      wrong += got != e;
      found[blockIdx.x * 256 + lane * 8 + i * 2 + half] = static_cast<std::uint16_t>(got);
    }
  __syncwarp();
  if (c.store)  // what was stored has been taken back: nothing else may have changed
    for (unsigned e = lane; e < rows * widest_pitch / 2; e += warp_lanes) wrong += tile[e] != untouched;
  if (wrong != 0) atomicAdd(mismatches + blockIdx.x, wrong);
}

/// [op, [bits, base, shift], pitch, row, byte, [element number by lane, register, half]]
std::string row_of(Case const& c, std::uint16_t const* found) {
  std::string out = std::string("[\"") + (c.store ? "stmatrix.x" : "ldmatrix.x") +
                    std::to_string(c.matrices) + (c.transposed ? ".trans" : "") + "\",[" +
                    std::to_string(c.swizzle.bits) + "," + std::to_string(c.swizzle.base) + "," +
                    std::to_string(c.swizzle.shift) + "]," + std::to_string(c.pitch) + "," +
                    std::to_string(c.row) + "," + std::to_string(c.byte) + ",[";
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    for (unsigned i = 0; i < 2 * c.matrices; ++i)
      out += (lane + i == 0 ? "" : ",") + std::to_string(found[lane * 8 + i]);
  return out + "]]";
}

}  // namespace

Record ldmatrix(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Case> const all = tile_moves();
  std::vector<Case> mine;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (part.has(i)) mine.push_back(all[i]);
  Record record;
  record.counts["units"] = mine.size();
  record.counts["units_of_all_parts"] = part.index == 0 ? all.size() : 0;
  record.counts["mismatches"] = 0;
  record.counts["elements"] = 0;
  if (!mine.empty()) {
    Buffer<Case> cases(mine);
    Buffer<std::uint16_t> found(mine.size() * 256);
    Buffer<unsigned> mismatches(mine.size());
    move_tiles<<<static_cast<unsigned>(mine.size()), warp_lanes>>>(cases.data(), found.data(),
                                                                   mismatches.data());
    finish("ldmatrix");
    auto const elements = found.read();
    auto const wrong = mismatches.read();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      record.counts["elements"] += 64 * mine[i].matrices;
      record.counts["mismatches"] += wrong[i];
      if (mine[i].kept() || wrong[i] != 0)
        record.rows["maps"].push_back(row_of(mine[i], elements.data() + i * 256));
    }
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
