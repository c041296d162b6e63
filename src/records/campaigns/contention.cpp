#include "records/campaigns/recomputation.hpp"

#include <algorithm>
#include <cstdio>

namespace swizproof {

namespace {

/// Rows [neighbour, issued, cycles, cycles of the neighbour, its operations]: what both move is at most what there is. Returns the
/// largest share.
double check_pairs(Recomputation& r) {
  std::vector<gpu::Contention> const all = gpu::contentions();
  auto const name = [](std::string const& neighbour, std::string const& issued) {
    return issued + " with " + neighbour;
  };
  std::map<std::string, gpu::Contention const*> kept;
  for (std::size_t u = 0; u < all.size(); ++u)
    if (r.share.has(u))
      kept[name(gpu::neighbours[all[u].neighbour].name, gpu::issued_beside[all[u].issued].name)] = &all[u];
  double most = 0;
  check_kept<gpu::Contention>(
      r, r.list_of_rows("pairs"), kept,
      [&](Json const& row) {
        return name(with_members(row, 5).at(0).get<std::string>(), row.at(1).get<std::string>());
      },
      [&](std::string const& where, Json const& row, gpu::Contention const& pair) {
        gpu::Neighbour const& neighbour = gpu::neighbours[pair.neighbour];
        gpu::Issued const& issued = gpu::issued_beside[pair.issued];
        auto const cycles = integer<std::uint32_t>(row.at(2)), own = integer<std::uint32_t>(row.at(3)),
                   operations = integer<std::uint32_t>(row.at(4));
        r.equal(where + ", the warps took time", cycles != 0, pair.issued != 0);
        r.equal(where + ", the neighbour took time", own != 0, pair.neighbour != 0);
        r.equal(where + ", the neighbour worked in whole turns, as long as the warps",
                gpu::counted_whole_turns(neighbour, cycles, own, operations), true);
        r.equal(where + ", a share that H16 allows",
                gpu::contention_agrees(neighbour, issued, cycles, own, operations), true);
        most = std::max(most, gpu::share_of(neighbour, issued, cycles, own, operations));
      });
  return most;
}

/// Rows [major, mode, start, LBO, SBO, cycles]: all take the same time.
void check_layouts(Recomputation& r) {
  std::vector<gpu::OperandLayout> const all = gpu::operand_layouts();
  std::size_t const before = gpu::contentions().size();
  auto const name = [](std::string const& major, auto... numbers) {
    std::string text = "wgmma reads " + major;
    ((text += " " + std::to_string(numbers)), ...);
    return text;
  };
  std::map<std::string, gpu::OperandLayout const*> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    WgmmaDescriptor const& d = all[i].descriptor;
    if (r.share.has(before + i))
      kept[name(all[i].major == Major::k ? "k" : "mn", static_cast<std::uint32_t>(d.mode), d.start,
                d.leading_byte_offset, d.stride_byte_offset)] = &all[i];
  }
  Json const& rows = r.list_of_rows("layouts");
  std::uint32_t least = ~0U;
  for (Json const& row : rows) least = std::min(least, integer<std::uint32_t>(with_members(row, 6).at(5)));
  r.equal("wgmma took time", least != 0, true);
  auto const number = [](Json const& value) { return integer<std::uint32_t>(value); };
  check_kept<gpu::OperandLayout>(
      r, rows, kept,
      [&](Json const& row) {
        return name(row.at(0).get<std::string>(), number(row.at(1)), number(row.at(2)), number(row.at(3)),
                    number(row.at(4)));
      },
      [&](std::string const& where, Json const& row, gpu::OperandLayout const&) {
        r.equal(where + ", takes what the others take", gpu::same_time(number(row.at(5)), least), true);
      });
}

}  // namespace

void check_contention(Recomputation& r) {
  r.check_units(gpu::contentions().size() + gpu::operand_layouts().size());
  double const most = check_pairs(r);
  check_layouts(r);
  (void)r.longest.measured("seconds");
  char share[16];
  std::snprintf(share, sizeof share, "%.3f", most);
  r.evidence.scope =
      "all " + text_of(r.evidence.units) + " pairs and layouts; at most " + share + " of 128 bytes a cycle";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
