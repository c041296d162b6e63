#include "records/campaigns/recomputation.hpp"

#include "campaign/registers.hpp"

namespace swizproof {

/// Rows [name, wrong, [D of the first round by thread, value]].
void check_registers(Recomputation& r) {
  r.check_units(std::size(gpu::register_cases));
  std::vector<std::uint32_t> mine;
  for (std::uint32_t i = 0; i < std::size(gpu::register_cases); ++i)
    if (r.share.has(i)) mine.push_back(i);
  std::map<std::string, std::uint32_t const*> kept;
  std::uint64_t elements = 0;
  for (std::uint32_t const& unit : mine) {
    gpu::RegisterCase const& c = gpu::register_cases[unit];
    kept[c.name] = &unit;
    elements += std::uint64_t{gpu::register_rounds} * gpu::register_threads(c) * gpu::register_values(c);
  }
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) { return with_members(row, 3).at(0).get<std::string>(); };
  check_kept(r, r.list_of_rows("products"), kept, about,
             [&](std::string const& name, Json const& row, std::uint32_t unit) {
               r.equal<std::uint64_t>(name + ", elements that were wrong", integer<std::uint64_t>(row.at(1)),
                                      0);
               gpu::RegisterCase const& c = gpu::register_cases[unit];
               std::vector<std::int32_t> expected;
               for (std::uint32_t thread = 0; thread < gpu::register_threads(c); ++thread)
                 for (std::uint32_t i = 0; i < gpu::register_values(c); ++i)
                   expected.push_back(gpu::register_result(unit, 0, thread, i));
               r.equal(name, integers<std::int32_t>(row.at(2)), expected);
             });
  r.evidence.scope =
      text_of(kept.size()) + " instructions, " + text_of(gpu::register_rounds) + " rounds each";
}

}  // namespace swizproof
