#include "campaign/global.hpp"

#include "records/campaigns/recomputation.hpp"

namespace swizproof {

void check_global(Recomputation& r) {
  using namespace gpu;
  std::uint64_t const a_part = std::uint64_t{global_kinds.size()} * global_patterns;
  std::vector<std::string_view> forms;
  for (GlobalForm const& form : global_forms) forms.push_back(form.name);
  r.check_patterns(forms, forms.size() * a_part);
  Json const& sample = r.groups_of_rows("sample");
  r.equal("instructions", sample.size(), global_forms.size());
  std::set<std::string> seen;
  for (GlobalForm const& form : global_forms) {
    std::string const op(form.name);
    static Json const empty = Json::array();
    Json const& rows = sample.contains(op) ? sample.at(op) : empty;
    r.equal<std::uint64_t>(op + ", rows", rows.size(), a_part * r.share.parts());
    std::size_t at = 0;
    for (std::uint64_t part = r.share.first; part < r.share.last; ++part)
      for (unsigned kind = 0; kind < global_kinds.size(); ++kind)
        for (std::uint64_t i = 0; i < global_patterns && at < rows.size(); ++i, ++at) {
          std::uint64_t const number = counted_number(i, {part, r.share.count});
          auto const pattern =
              draw_global(r.evidence.seed, number, static_cast<GlobalKind>(kind), form.bytes);
          std::string const where = op + ", " + std::string(global_kinds[kind]) + " " + text_of(number);
          Json const& row = with_members(rows.at(at), 5);
          GlobalCounts const expected = counts_of(form, pattern);
          auto const sectors = integer<std::uint64_t>(row.at(2)), lines = integer<std::uint64_t>(row.at(3));
          r.row(where, seen);
          r.equal(where + ", the kind", row.at(0).get<std::string>(), std::string(global_kinds[kind]));
          r.equal<std::int64_t>(where + ", requests", integer<std::int64_t>(row.at(1)), 1);
          r.equal(where + ", the addresses", row.at(4).get<std::string>(), global_text(pattern));
          if (expected.exact) {
            r.equal<std::uint64_t>(where + ", sectors", sectors, expected.sectors);
            r.equal<std::uint64_t>(where + ", lines", lines, expected.lines);
          } else {
            r.equal(where + ", sectors within bounds", expected.allow_sectors(sectors), true);
            r.equal(where + ", lines within bounds", expected.allow_lines(lines), true);
          }
        }
  }
  r.evidence.scope = "all " + text_of(seen.size()) + " patterns";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
