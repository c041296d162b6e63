#include "campaign/copies.hpp"

#include "records/campaigns/recomputation.hpp"

namespace swizproof {

void check_copies(Recomputation& r) {
  using namespace gpu;
  std::vector<std::string_view> forms;
  for (CopyForm const& form : copy_forms) forms.push_back(form.name);
  r.check_patterns(forms, all_copy_cases());
  Json const& sample = r.groups_of_rows("sample");
  r.equal("instructions", sample.size(), copy_forms.size());
  std::set<std::string> seen;
  std::uint64_t exact = 0;
  for (CopyForm const& form : copy_forms) {
    std::string const op(form.name);
    static Json const empty = Json::array();
    Json const& rows = sample.contains(op) ? sample.at(op) : empty;
    r.equal<std::uint64_t>(op + ", rows", rows.size(), cases_of(form) * r.share.parts());
    std::size_t at = 0;
    for (std::uint64_t part = r.share.first; part < r.share.last; ++part)
      for (std::uint64_t i = 0; i < cases_of(form) && at < rows.size(); ++i, ++at) {
        CopyPattern const pattern = draw_copy(r.evidence.seed, i, {part, r.share.count}, form);
        std::string const where = op + ", " + pattern.kind + " " + text_of(i) + " of part " + text_of(part);
        Json const& row = with_members(rows.at(at), 3);
        CopyWavefronts const expected = wavefronts_of(pattern, form);
        auto const shown = integer<std::uint64_t>(row.at(1));
        r.row(where, seen);
        r.equal(where + ", the kind", row.at(0).get<std::string>(), pattern.kind);
        r.equal(where + ", the addresses", row.at(2).get<std::string>(), copy_text(pattern, form.bytes));
        exact += expected.least == expected.most;
        if (expected.least == expected.most)
          r.equal<std::uint64_t>(where + ", wavefronts", shown, expected.most);
        else
          r.equal(where + ", wavefronts within bounds", shown >= expected.least && shown <= expected.most,
                  true);
      }
  }
  r.equal("exact", r.counts.count("exact"), exact);
  r.evidence.scope = "all " + text_of(seen.size()) + " patterns";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
