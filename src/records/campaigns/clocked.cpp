#include "records/campaigns/recomputation.hpp"

namespace swizproof {

namespace {

/// Checks a row [kind, number, cycles once, cycles twice, addresses] of a pattern: the form's cost model allows the time.
void check_clocked_row(Recomputation& r, std::string const& where, gpu::ClockedForm const& form,
                       gpu::ClockedPattern const& asked, Json const& row) {
  Instruction const like{Operation::st_shared, form.bytes};
  r.equal(where + ", addresses", row.at(4).get<std::string>(), gpu::hexadecimal(asked.pattern, like));
  std::int64_t const rest =
      std::int64_t{integer<std::uint32_t>(row.at(3))} - std::int64_t{integer<std::uint32_t>(row.at(2))};
  r.equal(where + ", it took time", rest > 0, true);
  r.equal(where + ", a time that the cost model allows",
          gpu::clocked_agrees(form, addresses_of(row.at(4), like), rest), true);
}

/// Every kept pattern of a form stands once. Returns how many patterns it was asked.
std::size_t check_clocked_form(Recomputation& r, gpu::ClockedForm const& form, Json const& rows) {
  auto const name = [&](auto const& kind, std::uint64_t number) {
    return std::string(form.name) + ", " + kind + " " + text_of(number);
  };
  std::vector<gpu::ClockedPattern> const patterns = gpu::patterns_of(form, r.evidence.seed);
  std::map<std::string, gpu::ClockedPattern const*> kept;
  for (gpu::ClockedPattern const& p : patterns)
    if (p.kept) kept[name(p.kind, p.number)] = &p;
  check_kept<gpu::ClockedPattern>(
      r, rows, kept,
      [&](Json const& row) {
        return name(with_members(row, 5).at(0).get<std::string>(), integer<std::uint64_t>(row.at(1)));
      },
      [&](std::string const& where, Json const& row, gpu::ClockedPattern const& asked) {
        check_clocked_row(r, where, form, asked, row);
      });
  return patterns.size();
}

template <std::size_t N>
void check_clocked(Recomputation& r, gpu::ClockedForm const (&forms)[N]) {
  r.check_units(N);
  std::map<std::string, std::uint64_t> patterns, mismatches;
  std::uint64_t all = 0;
  std::size_t lawful = 0;
  Json const& sample = r.groups_of_rows("sample");
  for (auto const& [op, rows] : r.groups_of_rows("mismatches_of").items())
    r.equal("mismatches of " + op + ", rows", rows.size(), std::size_t{0});
  for (std::size_t f = 0; f < N; ++f) {
    lawful += forms[f].law == gpu::ClockedLaw::none ? 0 : 1;
    if (!r.share.has(f)) continue;
    static Json const none = Json::array();
    std::string const form = forms[f].name;
    all += patterns[form] = check_clocked_form(r, forms[f], sample.contains(form) ? sample.at(form) : none);
    mismatches[form] = 0;
  }
  r.equal("forms with rows", sample.size(), patterns.size());
  r.equal("patterns", r.counts.count("patterns"), all);
  r.equal("patterns that were measured again are among them", r.counts.count("measured_again") <= all, true);
  r.equal("patterns of each form", r.counts.group("patterns_of"), patterns);
  r.equal("mismatches of each form", r.counts.group("mismatches_of"), mismatches);
  r.equal<std::int64_t>("instructions of a measurement",
                        integer<std::int64_t>(r.longest.at("instructions_per_measurement")),
                        gpu::clocked_instructions);
  (void)r.longest.measured("seconds");
  r.evidence.scope = text_of(r.evidence.rows.size()) + " of " + text_of(all) + " patterns; " +
                     text_of(lawful) + " of " + text_of(N) + " forms have a cost model";
}

}  // namespace

void check_atomics(Recomputation& r) { check_clocked(r, gpu::atomic_forms); }

void check_cluster(Recomputation& r) { check_clocked(r, gpu::cluster_forms); }

}  // namespace swizproof
