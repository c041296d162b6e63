// Core matrices that TMA writes and wgmma reads: those of 8 rows of 16 bytes.
//
// Every core matrix of every canonical wgmma layout lies in 8 different groups of 4 banks, for every
// start address, offset and block. Addresses as functions of (row i, block, chunk):
//
//   K-major,  swizzled:  f(start + 16 W i + block SBO + 16 chunk)
//   K-major,  none:        start + 16 i   + block SBO + chunk LBO
//   MN-major, swizzled:  f(start + 16 W i + block SBO + 16 chunk + panel LBO)
//   MN-major, none:        start + 16 i   + block LBO + chunk SBO
//
// with W = 2, 4, 8 chunks a row for 32B, 64B, 128B. [PTX ISA 9.1, 9.7.15.5.1.2; CUTLASS
// mma_traits_sm90_gmma.hpp]
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

struct CanonicalLayout {
  std::string_view name;
  Swizzle swizzle;
  bool mn_major;
};

constexpr CanonicalLayout canonical_layouts[] = {
    {"K-major none", swizzle_none, false}, {"K-major 32B", swizzle_32B, false},
    {"K-major 64B", swizzle_64B, false},   {"K-major 128B", swizzle_128B, false},
    {"MN-major none", swizzle_none, true}, {"MN-major 32B", swizzle_32B, true},
    {"MN-major 64B", swizzle_64B, true},   {"MN-major 128B", swizzle_128B, true},
};

Question core_matrix(CanonicalLayout const& layout, Swizzle applied, unsigned pitch) {
  return ask(std::string(layout.name), 32,
             {{"start/16", 28}, {"SBO/16", 14}, {"LBO/16", 14}, {"block", 5}, {"chunk", 3}, {"panel", 3}},
             [=](auto start, auto sbo, auto lbo, auto block, auto chunk, auto panel) {
               using W = decltype(start);
               unsigned const width = 1U << layout.swizzle.bits;
               bool const swizzled = layout.swizzle.bits > 0;
               W const first = swizzled ? block : (layout.mn_major ? chunk : block);
               W const second = swizzled ? panel : (layout.mn_major ? block : chunk);
               W offset = first * shl(sbo, 4);
               if (!swizzled || layout.mn_major) offset = offset + second * shl(lbo, 4);
               if (swizzled) offset = offset + shl(W(chunk % width), 4);
               Access const rows = *named_access("ldmatrix.x1");
               W const zero = like(start, 0);
               auto const cost = wavefronts(
                   sm_90, rows.instruction,
                   addresses(rows, applied, W(shl(start, 4) + offset), like(start, pitch), zero, zero));
               return states(cost == 1);
             });
}

}  // namespace

void add_core_matrices(std::vector<Claim>& claims) {
  for (CanonicalLayout const& layout : canonical_layouts) {
    std::string const name(layout.name);
    bool const swizzled = layout.swizzle.bits > 0;
    unsigned const pitch = 16U << layout.swizzle.bits;
    std::string const control = swizzled ? "without the swizzle" : "with rows 32 bytes apart";
    claims.push_back(
        {"core matrix/" + name,
         single("every 8x16-byte core matrix costs 1 wavefront", core_matrix(layout, layout.swizzle, pitch)),
         name + ": 32-bit starts that are multiples of 16; LBO, SBO < 2^18; 32 blocks, 8 panels",
         "PTX ISA 9.1, 9.7.15.5.1.2 (canonical layouts)",
         single(control, core_matrix(layout, swizzle_none, swizzled ? pitch : 32))});
  }
}

}  // namespace swizproof::proofs
