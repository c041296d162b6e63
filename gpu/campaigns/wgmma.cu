// wgmma: from which shared address the instruction reads each element of its operands.
//
// The window of shared memory is filled with numbers and one operand is an identity matrix, so that the
// result is the other operand: what the instruction read. Twice, low and high byte of each element's
// position, since f16 holds integers up to 2048. B is read with A = identity in *registers*, which need
// no descriptor; A then with B = identity through the K-major descriptor just confirmed.
#include "campaigns/asynchronous.cuh"
#include "campaigns/products.cuh"
#include "record.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/hardware/wgmma.hpp>

#include <cuda_fp16.h>

#include <algorithm>

namespace swizproof::gpu {
namespace {

constexpr std::uint32_t window = 65536;
constexpr unsigned widest = 128;  ///< n of B; A has m = 64
constexpr unsigned depth = wgmma_depth;

using Case = OperandRead;

/// A warpgroup a case. `found[mn * 16 + k]`: the byte, from the window's start, that was read.
__global__ void __launch_bounds__(128) read_operands(Case const* cases, std::uint32_t* found) {
  extern __shared__ unsigned char memory[];
  // Registers of a thread: its part of A from registers and of the accumulators: those of n = 16 are the first of these.
  constexpr Fragment of_a = wgmma_shapes[1].fragment(Operand::a, widest, 32),
                     of_d = wgmma_shapes[1].fragment(Operand::d, widest, 32);
  Case const c = cases[blockIdx.x];
  std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  std::uint32_t const base = (start + 4095) / 4096 * 4096;
  auto* const words = reinterpret_cast<__half*>(memory + (base - start));
  std::uint32_t* const out = found + std::size_t{blockIdx.x} * widest * depth;
  WgmmaDescriptor descriptor = c.descriptor;
  descriptor.start += base;
  // B = identity, K-major without swizzle, behind the window.
  WgmmaDescriptor const identity = canonical_descriptor(base + window, Major::k, WgmmaMode::none);
  for (unsigned i = threadIdx.x; i < 256; i += 128)
    words[(wgmma_address(identity, Major::k, 2, i / 16, i % 16).bytes - base) / 2] =
        __float2half(i / 16 == i % 16);
  for (unsigned pass = 0; pass < 2; ++pass) {
    for (unsigned i = threadIdx.x; i < window / 2; i += 128)
      words[i] = __float2half(static_cast<float>(i >> (8 * pass) & 255));
    float d[64] = {};
    if (c.operand_a) {
      float e[8] = {};
      begin_wgmma();
      if (c.major == Major::k)
        multiply_a<0>(e, descriptor.bits(), identity.bits());
      else
        multiply_a<1>(e, descriptor.bits(), identity.bits());
      end_wgmma();
      for (unsigned i = 0; i < 8; ++i) d[i] = e[i];
    } else {
      std::uint32_t a[4] = {};
      for (std::uint32_t i = 0; i < of_a.values; ++i) {
        MatrixElement const e = element_of(of_a, threadIdx.x, i);
        if (e.row == e.column) a[i / 2] |= 0x3C00U << (16 * (i % 2));
      }
      begin_wgmma();
      if (c.major == Major::k)
        multiply_b<0>(d, a, descriptor.bits());
      else
        multiply_b<1>(d, a, descriptor.bits());
      end_wgmma();
    }
#pragma unroll
    for (unsigned i = 0; i < 64; ++i) {
      MatrixElement const e = element_of(of_d, threadIdx.x, i);
      if ((c.operand_a ? e.column : e.row) >= depth) continue;
      std::uint32_t& at = out[c.operand_a ? e.row * depth + e.column : e.column * depth + e.row];
      at += 2 * (static_cast<std::uint32_t>(d[i]) << (8 * pass));
    }
    __syncthreads();
  }
}

/// ["A" | "B", "k" | "mn", mode, start, LBO, SBO, base offset, question, wrong, [16-byte columns]]: where each run of
/// 8 elements along the contiguous index starts, in units of 16 bytes from a 4 KiB boundary, -1 if not in one piece.
std::string row_of(Case const& c, std::uint32_t const* found, std::uint64_t wrong) {
  WgmmaDescriptor const& d = c.descriptor;
  std::string out = std::string("[\"") + (c.operand_a ? "A" : "B") + "\",\"" +
                    (c.major == Major::k ? "k" : "mn") + "\"," + std::to_string(static_cast<int>(d.mode)) +
                    "," + std::to_string(d.start) + "," + std::to_string(d.leading_byte_offset) + "," +
                    std::to_string(d.stride_byte_offset) + "," + std::to_string(d.base_offset) + "," +
                    quoted(c.question) + "," + std::to_string(wrong) + ",[";
  bool const k = c.major == Major::k;
  bool first = true;
  for (unsigned mn = 0; mn < c.extent(); mn += k ? 1 : 8)
    for (unsigned i = 0; i < depth; i += k ? 8 : 1) {
      std::uint32_t const place = found[mn * depth + i];
      bool whole = place % 16 == 0;
      for (unsigned j = 1; j < 8; ++j)
        whole = whole && found[k ? mn * depth + i + j : (mn + j) * depth + i] == place + 2 * j;
      out += (first ? "" : ",") + (whole ? std::to_string(place / 16) : std::string("-1"));
      first = false;
    }
  return out + "]]";
}

}  // namespace

Record wgmma(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Case> const all = operand_reads();
  std::vector<Case> mine;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (part.has(i)) mine.push_back(all[i]);
  Record record;
  record.counts["units"] = mine.size();
  record.counts["units_of_all_parts"] = part.index == 0 ? all.size() : 0;
  record.counts["mismatches"] = record.counts["elements"] = 0;
  if (!mine.empty()) {
    for (Case& c : mine)
      if (!c.descriptor.valid()) throw Failure{"wgmma: an invalid descriptor"};
    Buffer<Case> cases(mine);
    Buffer<std::uint32_t> found(mine.size() * widest * depth);
    std::size_t const shared = window + 4096 + 1024;
    allow_shared(read_operands, shared);
    read_operands<<<static_cast<unsigned>(mine.size()), 128, shared>>>(cases.data(), found.data());
    finish("wgmma");
    std::vector<std::uint32_t> const places = found.read();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      std::uint32_t const* const at = places.data() + i * widest * depth;
      std::uint64_t wrong = 0;
      for (std::uint32_t mn = 0; mn < mine[i].extent(); ++mn)
        for (std::uint32_t k = 0; k < depth; ++k)
          wrong += at[mn * depth + k] != wgmma_address(mine[i].descriptor, mine[i].major, 2, mn, k).bytes;
      record.counts["elements"] += mine[i].extent() * depth;
      record.counts["mismatches"] += wrong;
      record.counts[std::string("asked/") + mine[i].question] += 1;
      if (mine[i].keep || wrong != 0) record.rows["maps"].push_back(row_of(mine[i], at, wrong));
    }
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
