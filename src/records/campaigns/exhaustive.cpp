#include "records/campaigns/recomputation.hpp"

#include <swizproof/parse/parse.hpp>

namespace swizproof {

/// Rows [bits, base, shift, offsets, mismatches]: this record's swizzles, once each, on all 2^32 offsets.
void check_exhaustive(Recomputation& r) {
  std::vector<Swizzle> const all = gpu::swizzles_by_shift();
  std::map<Swizzle, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[all[i]] = i;
  r.check_units(all.size());
  std::uint64_t offsets = 0, mismatches = 0;
  std::set<std::string> seen;
  for (Json const& row : r.list_of_rows("swizzles")) {
    Swizzle const s = swizzle_of(with_members(row, 5));
    std::string const name = to_string(s);
    auto const found = place.find(s);
    r.equal(name + " is valid, and of this shard", found != place.end() && r.share.has(found->second), true);
    r.row(name, seen);
    r.equal<std::uint64_t>(name + ", offsets", integer<std::uint64_t>(row.at(3)), std::uint64_t{1} << 32);
    r.equal<std::uint64_t>(name + ", mismatches", integer<std::uint64_t>(row.at(4)), 0);
    offsets += integer<std::uint64_t>(row.at(3));
    mismatches += integer<std::uint64_t>(row.at(4));
  }
  r.equal<std::uint64_t>("number of swizzles", seen.size(), r.share.of(all.size()));
  r.equal("offsets of all swizzles", r.counts.count("offsets"), offsets);
  r.equal("mismatches of all swizzles", r.counts.count("mismatches"), mismatches);
  (void)r.longest.measured("seconds");
  (void)r.rows.find("integer_pipe");  // why its counter could not be read
  if (Json const* const busy = r.longest.find("integer_pipe_percent")) {
    Members percent(*busy, "integer_pipe_percent");
    for (char const* shift : {"shift 3", "shift -3"})
      r.equal(std::string("integer pipe, ") + shift + ", in percent", percent.measured(shift) <= 100.5, true);
    percent.finish();
  }
  r.evidence.scope = (seen.size() == all.size() ? "all " : "") + text_of(seen.size()) + " swizzles";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
