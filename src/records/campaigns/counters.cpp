#include "records/campaigns/recomputation.hpp"

#include <swizproof/hardware/counter.hpp>

namespace swizproof {

namespace {

/// Row [kind, counted, addresses] of the pattern that the campaign draws there. Returns whether it is comparable.
bool check_counted(Recomputation& r, std::string const& where, Instruction const& instruction,
                   Json const& row) {
  auto const warp = addresses_of(row.at(2), instruction);
  auto const shown = integer<std::int64_t>(row.at(1));
  std::int64_t const issued = gpu::pages;
  Counted const what = counted(instruction, warp);
  std::int64_t const apart = issued * sum_of_degrees(sm_90, instruction, warp);
  switch (what) {
    case Counted::law:
      r.equal<std::int64_t>(where, shown, issued * r.law(instruction, warp));
      break;
    case Counted::degrees:
      r.equal<std::int64_t>(where + ", idle phases are not counted", shown, apart);
      break;
    case Counted::bounded:
      r.equal(where + ", within what the phases cost apart", shown >= issued && shown <= apart, true);
      break;
  }
  return what == Counted::law;
}

}  // namespace

void check_counters(Recomputation& r) {
  std::vector<Instruction> all;
  for (InstructionName const& known : instruction_names)
    if (gpu::is_counted(known.instruction)) all.push_back(known.instruction);
  std::uint64_t const a_part = std::uint64_t{gpu::drawn_kinds} * gpu::counted_patterns;
  std::uint64_t const patterns = all.size() * a_part * r.share.parts();
  r.equal("patterns", r.counts.count("patterns"), patterns);
  r.equal("units", r.evidence.units, patterns);
  r.equal("units of all parts", r.evidence.units_of_all_parts,
          r.evidence.shard == 1 ? all.size() * a_part * r.share.count : 0);
  r.check_mismatches_of(all);
  r.equal<std::int64_t>("instructions of a measurement",
                        integer<std::int64_t>(r.longest.at("instructions_per_measurement")), gpu::pages);
  (void)r.longest.measured("seconds");
  Json const& sample = r.groups_of_rows("sample");
  r.equal("instructions", sample.size(), all.size());
  std::uint64_t compared = 0;
  std::set<std::string> seen;
  for (Instruction const& instruction : all) {
    std::string const op = to_string(instruction);
    static Json const none = Json::array();
    Json const& rows = sample.contains(op) ? sample.at(op) : none;
    r.equal<std::uint64_t>(op + ", rows", rows.size(), a_part * r.share.parts());
    std::map<std::string, std::vector<Json const*>> left;  // by kind and addresses
    for (Json const& row : rows)
      left[with_members(row, 3).at(0).get<std::string>() + " " + row.at(2).get<std::string>()].push_back(
          &row);
    if (rows.size() != a_part * r.share.parts()) continue;
    for (std::uint64_t part = r.share.first; part < r.share.last; ++part)
      for (unsigned k = 0; k < gpu::drawn_kinds; ++k)
        for (std::uint64_t i = 0; i < gpu::counted_patterns; ++i) {
          std::uint64_t const number = gpu::counted_number(i, {part, r.share.count});
          auto const pattern = gpu::draw(r.evidence.seed, number, static_cast<gpu::Kind>(k), instruction);
          std::string const where = op + ", " + gpu::kind_names[k] + " " + text_of(number);
          auto& rest = left[std::string(gpu::kind_names[k]) + " " + gpu::hexadecimal(pattern, instruction)];
          r.equal(where + ", a row", !rest.empty(), true);
          if (rest.empty()) continue;
          r.row(where, seen);
          compared += check_counted(r, where, instruction, *rest.back()) ? 1 : 0;
          rest.pop_back();
        }
  }
  r.equal("comparable patterns", r.counts.count("compared"), compared);
  r.evidence.scope =
      "all " + text_of(seen.size()) + " patterns, " + text_of(compared) + " of them comparable";
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
