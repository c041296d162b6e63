#include "records/campaigns/recomputation.hpp"

#include <swizproof/parse/parse.hpp>

namespace swizproof {

namespace {

/// A row of `tiles`.
std::string name_of(gpu::TileCopy const& c) {
  return std::string(c.store ? "store" : "load") + ", " + c.tile.layout + " of " + c.tile.element + ", at " +
         text_of(c.base);
}

/// Address in the layout of each 16 bytes of the boxes' lines, from a base: its own function, and none of TMA.
std::vector<std::int64_t> places_of(gpu::TileCopy const& c) {
  Mapping const map = parse_mapping(c.tile.layout, {parse_element(c.tile.element)});
  std::vector<std::int64_t> places;
  for (gpu::TilePiece const& piece : gpu::pieces_of(c.tile)) {
    std::uint64_t index = 0, stride = 1;
    for (std::size_t m = 0; m < piece.at.size(); stride *= c.tile.extents[m++]) index += piece.at[m] * stride;
    places.push_back(
        static_cast<std::int64_t>(value(map, Address<std::uint64_t>{c.base}, index, Unit::bytes)));
  }
  return places;
}

}  // namespace

/// Rows [direction, layout, element, base, mode, [box], number of boxes, result, [place of each 16 bytes]].
void check_tiles(Recomputation& r) {
  std::vector<gpu::TileCopy> const all = gpu::tile_copies();
  r.check_units(all.size());
  std::map<std::string, gpu::TileCopy const*> kept;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!r.share.has(i)) continue;
    kept[name_of(all[i])] = &all[i];
    bytes += all[i].tile.bytes;
  }
  r.equal<std::uint64_t>("copied", r.counts.count("copied"), kept.size());
  r.equal<std::uint64_t>("refused", r.counts.count("refused"), 0);
  r.equal("bytes", r.counts.count("bytes"), bytes);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const direction = with_members(row, 9).at(0);
    if (direction != "load" && direction != "store") malformed("a copy is a load or a store");
    return direction + ", " + row.at(1).get<std::string>() + " of " + row.at(2).get<std::string>() + ", at " +
           text_of(integer<unsigned>(row.at(3)));
  };
  check_kept(r, r.list_of_rows("copies"), kept, about,
             [&](std::string const& name, Json const& row, gpu::TileCopy const& c) {
               r.equal<std::int64_t>(name + ", mode", integer<std::int64_t>(row.at(4)), c.tile.mode);
               r.equal(name + ", box", integers<unsigned>(row.at(5)), c.tile.box);
               r.equal<std::uint64_t>(name + ", boxes", integer<std::uint64_t>(row.at(6)),
                                      c.tile.boxes.size());
               r.equal<std::string>(name, row.at(7), "copied");
               r.equal(name + ", places", integers<std::int64_t>(row.at(8)), places_of(c));
             });
  r.evidence.scope = (kept.size() == all.size() ? "all " : "") + text_of(kept.size()) + " copies of tiles";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
