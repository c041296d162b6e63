#include "records/campaigns/recomputation.hpp"

#include <swizproof/hardware/tma.hpp>

namespace swizproof {

namespace {

/// A row of `tma`.
std::string name_of(gpu::BoxCopy const& c) {
  return std::string(c.store ? "store" : "load") + ", mode " + text_of(static_cast<unsigned>(c.mode)) +
         ", box [" + text_of(c.box[0]) + "," + text_of(c.box[1]) + "," + text_of(c.box[2]) + "], at " +
         text_of(c.offset) + ", tensor at " + text_of(c.global_offset);
}

bool refused(gpu::BoxCopy const& c) {
  return tma_refuses(static_cast<unsigned>(c.mode), c.line_bytes(), c.global_offset);
}

/// Address of each 16 bytes of a box.
std::vector<std::int64_t> places_of(gpu::BoxCopy const& c) {
  std::vector<std::int64_t> places;
  for (std::uint32_t line = 0; line < c.box[1] * c.box[2]; ++line)
    for (std::uint32_t x = 0; x < c.line_bytes(); x += 16)
      places.push_back(tma_address(static_cast<TmaMode>(c.mode), c.offset, line, c.line_bytes(), x));
  return places;
}

}  // namespace

/// Rows [direction, mode, [box], destination, tensor's offset, result, [place of each 16 bytes]].
void check_tma(Recomputation& r) {
  std::vector<gpu::BoxCopy> const all = gpu::box_copies();
  r.check_units(all.size());
  std::map<std::string, gpu::BoxCopy const*> kept;
  std::uint64_t bytes = 0, copied = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    gpu::BoxCopy const& c = all[i];
    if (!r.share.has(i)) continue;
    kept[name_of(c)] = &c;
    copied += refused(c) ? 0 : 1;
    bytes += refused(c) ? 0 : std::uint64_t{2} * c.box[0] * c.box[1] * c.box[2];
  }
  r.equal("copied", r.counts.count("copied"), copied);
  r.equal<std::uint64_t>("refused", r.counts.count("refused"), kept.size() - copied);
  r.equal("bytes", r.counts.count("bytes"), bytes);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const direction = with_members(row, 7).at(0);
    if (direction != "load" && direction != "store") malformed("a copy is a load or a store");
    Json const& box = with_members(row.at(2), 3);
    return name_of(gpu::BoxCopy{
        integer<std::uint16_t>(row.at(1)),
        {integer<unsigned>(box.at(0)), integer<unsigned>(box.at(1)), integer<unsigned>(box.at(2))},
        integer<unsigned>(row.at(3)),
        direction == "store",
        integer<unsigned>(row.at(4))});
  };
  check_kept(r, r.list_of_rows("copies"), kept, about,
             [&](std::string const& name, Json const& row, gpu::BoxCopy const& c) {
               r.equal<std::string>(name, row.at(5), refused(c) ? "refused: CUresult 1" : "copied");
               r.equal(name + ", places", integers<std::int64_t>(row.at(6)),
                       refused(c) ? std::vector<std::int64_t>{} : places_of(c));
             });
  r.evidence.scope = (kept.size() == all.size() ? "all " : "") + text_of(kept.size()) + " copies";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
