#include "records/campaigns/recomputation.hpp"

#include "campaign/boxes.hpp"

#include <swizproof/analysis/tma_box.hpp>

#include <algorithm>

namespace swizproof {

namespace {

/// True if the rules of `tma --box` allow it on sm_90.
bool is_legal(gpu::BoxEncoding const& e) {
  TmaBoxQuestion q;
  q.bits = e.bits;
  for (TmaPackedType const& type : tma_packed_types)
    if (type.number == e.type) q.packed = &type, q.type = type.name;
  q.box = {e.box[0], e.box[1]};
  q.im2col = e.im2col;
  static constexpr std::string_view modes[] = {"none", "32B", "64B", "128B"};
  for (TmaModeName const& mode : tma_mode_names)
    if (mode.name == modes[e.mode]) q.mode = &mode;
  return tma_box(q, sm_90).broken.empty();
}

/// Rows by kind, type and mode, as the rules have them.
struct ExpectedEncodings {
  std::map<std::string, std::vector<std::int64_t>> rows{};
  std::uint64_t accepted = 0, refused = 0;
};
ExpectedEncodings expected_encodings() {
  ExpectedEncodings all;
  for (gpu::BoxEncoding const& e : gpu::box_encodings()) {
    bool const legal = is_legal(e);
    (legal ? all.accepted : all.refused) += 1;
    std::vector<std::int64_t>& row =
        all.rows[std::string(e.im2col ? "im2col" : "tiled") + ", type " + text_of(e.type) + ", mode " +
                 text_of(static_cast<unsigned>(e.mode))];
    row.insert(row.end(), {e.box[0], e.box[1], legal ? 0 : 1});
  }
  return all;
}

/// The driver's answers by type and mode, each as the rules have it.
void check_encodings(Recomputation& r) {
  static ExpectedEncodings const expected = expected_encodings();
  r.equal("accepted", r.counts.count("accepted"), expected.accepted);
  r.equal("refused", r.counts.count("refused"), expected.refused);
  std::map<std::string, std::vector<std::int64_t> const*> kept;
  for (auto const& [name, row] : expected.rows) kept[name] = &row;
  auto const about = [](Json const& row) {
    std::string const kind = with_members(row, 4).at(0);
    return kind + ", type " + text_of(integer<unsigned>(row.at(1))) + ", mode " +
           text_of(integer<unsigned>(row.at(2)));
  };
  check_kept(r, r.list_of_rows("encodings"), kept, about,
             [&](std::string const& name, Json const& row, std::vector<std::int64_t> const& wanted) {
               r.equal(name, integers<std::int64_t>(row.at(3)), wanted);
             });
}

std::string name_of_packed(gpu::BoxCopy const& c) {
  return std::string(c.store ? "store" : "load") + " packed, mode " + text_of(static_cast<unsigned>(c.mode)) +
         ", box [" + text_of(c.box[0]) + "," + text_of(c.box[1]) + "," + text_of(c.box[2]) + "], at " +
         text_of(c.offset);
}

/// sm_90 refuses the packed types.
void check_packed(Recomputation& r) {
  std::vector<gpu::BoxCopy> const all = gpu::packed_copies();
  std::map<std::string, gpu::BoxCopy const*> kept;
  for (gpu::BoxCopy const& c : all) kept[name_of_packed(c)] = &c;
  auto const about = [](Json const& row) {
    std::string const direction = with_members(row, 7).at(0);
    if (direction != "load" && direction != "store") malformed("a copy is a load or a store");
    Json const& box = with_members(row.at(2), 3);
    if (integer<unsigned>(row.at(4)) != 0) malformed("the tensor of a packed copy starts at 0");
    return name_of_packed(gpu::BoxCopy{
        integer<std::uint16_t>(row.at(1)),
        {integer<unsigned>(box.at(0)), integer<unsigned>(box.at(1)), integer<unsigned>(box.at(2))},
        integer<unsigned>(row.at(3)),
        direction == "store"});
  };
  check_kept(r, r.list_of_rows("packed"), kept, about,
             [&](std::string const& name, Json const& row, gpu::BoxCopy const&) {
               r.equal<std::string>(name, row.at(5), "refused: CUresult 1");
               r.equal(name + ", places", integers<std::int64_t>(row.at(6)), std::vector<std::int64_t>{});
             });
}

std::string name_of_pixels(gpu::PixelCopy const& c) {
  std::string out =
      "im2col, mode " + text_of(static_cast<unsigned>(c.mode)) + ", " + text_of(c.channels) + " channels";
  auto const add = [&](auto const& of, char const* what, std::size_t count) {
    out += std::string(", ") + what;
    for (std::size_t i = 0; i < count; ++i) out += " " + text_of(static_cast<std::int64_t>(of[i]));
  };
  add(c.lower, "from", 2);
  add(c.upper, "to", 2);
  add(c.start, "start", 3);
  add(c.offset, "offset", 2);
  return out + ", at " + text_of(c.destination);
}

/// Which pixel each line of an im2col copy is.
void check_pixels(Recomputation& r) {
  std::vector<gpu::PixelCopy> const all = gpu::pixel_copies();
  std::map<std::string, gpu::PixelCopy const*> kept;
  std::uint64_t bytes = 0;
  for (gpu::PixelCopy const& c : all) {
    kept[name_of_pixels(c)] = &c;
    bytes += std::uint64_t{2} * c.pixels * c.channels;
  }
  r.equal("bytes", r.counts.count("bytes"), bytes);
  auto const about = [](Json const& row) {
    auto const pair = [](Json const& of) { return integers<int>(with_members(of, 2)); };
    (void)with_members(row, 9);
    std::vector<int> const lower = pair(row.at(2)), upper = pair(row.at(3)), offset = pair(row.at(5));
    std::vector<int> const start = integers<int>(with_members(row.at(4), 3));
    gpu::PixelCopy c{};
    c.mode = static_cast<int>(integer<std::uint16_t>(row.at(0)));
    c.channels = integer<unsigned>(row.at(1));
    for (std::size_t i = 0; i < 2; ++i) {
      c.lower[i] = lower[i], c.upper[i] = upper[i];
      c.offset[i] = static_cast<unsigned short>(offset[i]);
    }
    std::copy(start.begin(), start.end(), c.start);
    c.destination = integer<unsigned>(row.at(6));
    return name_of_pixels(c);
  };
  check_kept(r, r.list_of_rows("pixels"), kept, about,
             [&](std::string const& name, Json const& row, gpu::PixelCopy const& c) {
               r.equal<std::uint64_t>(name + ", elements that were wrong", integer<std::uint64_t>(row.at(7)),
                                      0);
               std::vector<std::int64_t> pixels;
               for (unsigned i = 0; i < c.pixels; ++i) pixels.push_back(gpu::element_of_pixel(c, i));
               r.equal(name + ", pixels", integers<std::int64_t>(row.at(8)), pixels);
             });
}

}  // namespace

/// Rows: `encodings` [kind, type, mode, [box, box, CUresult, ..]], `packed` as those of `tma`, `pixels` [mode, channels, [lower], [upper],
/// [start], [offset], destination, wrong, [element of channel 0 of each pixel, -1 outside of the tensor]].
void check_boxes(Recomputation& r) {
  r.check_units(1);
  r.equal<std::uint64_t>("shards of the one unit", r.share.count / r.share.parts(), 1);
  (void)r.longest.measured("seconds");
  if (!r.share.has(0)) return;
  check_encodings(r);
  check_packed(r);
  check_pixels(r);
  r.evidence.scope = text_of(gpu::box_encodings().size()) + " boxes, " + text_of(gpu::pixel_copies().size()) +
                     " im2col copies";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
