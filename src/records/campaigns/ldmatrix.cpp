#include "records/campaigns/recomputation.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/parse/parse.hpp>

namespace swizproof {

namespace {

/// A row of `ldmatrix`.
std::string name_of(gpu::TileMove const& c) {
  return std::string(c.store ? "stmatrix.x" : "ldmatrix.x") + text_of(c.matrices) +
         (c.transposed ? ".trans" : "") + " under " + to_string(c.swizzle) + ", pitch " + text_of(c.pitch) +
         ", row " + text_of(c.row) + ", byte " + text_of(c.byte);
}

/// Element numbers by lane, register and half.
std::vector<std::uint32_t> elements_of(gpu::TileMove const& c) {
  std::vector<std::uint32_t> elements;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    for (std::uint32_t i = 0; i < 2 * c.matrices; ++i) {
      MatrixElement const e = matrix_element(lane, i % 2, c.transposed);
      std::uint32_t const giver = 8 * (i / 2) + e.row;  // the lane that gave the row's address
      elements.push_back((c.row + giver % 16) * (c.pitch / 2) + c.byte / 2 + giver / 16 * 8 + e.column);
    }
  return elements;
}

}  // namespace

/// Rows [op, [bits, base, shift], pitch, row, byte, [element by lane, register, half]].
void check_ldmatrix(Recomputation& r) {
  std::vector<gpu::TileMove> const all = gpu::tile_moves();
  r.check_units(all.size());
  std::map<std::string, gpu::TileMove const*> kept;
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!r.share.has(i)) continue;
    elements += std::uint64_t{64} * all[i].matrices;
    if (all[i].kept()) kept[name_of(all[i])] = &all[i];
  }
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const op = with_members(row, 6).at(0);
    Instruction const i = parse_instruction(op);
    return name_of(gpu::TileMove{swizzle_of(with_members(row.at(1), 3)), integer<unsigned>(row.at(2)),
                                 integer<unsigned>(row.at(3)), integer<unsigned>(row.at(4)), i.matrices,
                                 i.transposed, i.operation == Operation::stmatrix});
  };
  check_kept(r, r.list_of_rows("maps"), kept, about,
             [&](std::string const& name, Json const& row, gpu::TileMove const& c) {
               r.equal(name, integers<std::uint32_t>(row.at(5)), elements_of(c));
             });
  r.evidence.scope = text_of(kept.size()) + " maps kept of " + text_of(r.evidence.units) + " moves";
}

}  // namespace swizproof
