// A record of a campaign compared with the model and with the campaign's cases (campaign/cases.hpp): the part that all
// campaigns share. Each other file of this folder checks the records of one campaign.
#pragma once

#include "campaign/cases.hpp"
#include "parse/text/members.hpp"
#include "records/evidence.hpp"

#include <set>

namespace swizproof {

/// The parts of a campaign that a record holds: as many consecutive ones as devices times ranks took part.
struct Share {
  std::uint64_t first = 0, last = 1;  ///< last: behind the last one
  std::uint64_t count = 1;            ///< number of all records
  [[nodiscard]] bool has(std::uint64_t unit) const { return unit % count >= first && unit % count < last; }
  /// Number of the units 0 .. `all` - 1 in the share.
  [[nodiscard]] std::uint64_t of(std::uint64_t all) const;
  [[nodiscard]] std::uint64_t parts() const { return last - first; }
};

/// A record while it is recomputed.
struct Recomputation {
  Law const& law;
  Evidence& evidence;
  Share share;
  Members counts, longest, rows;

  /// Compares, and notes a contradiction.
  template <class T>
  void equal(std::string const& where, T const& recorded, T const& predicted) {
    ++evidence.compared;
    if (recorded != predicted)
      evidence.contradictions.push_back({where, Json(recorded).dump(), Json(predicted).dump()});
  }
  /// Notes a row by what it is about, which no other row may be.
  void row(std::string const& about, std::set<std::string>& seen);
  /// The rows of a campaign that has them in groups, such as by instruction; none where `key` is missing.
  [[nodiscard]] Json const& groups_of_rows(std::string const& key);
  /// The rows of a campaign that has one list of them.
  [[nodiscard]] Json const& list_of_rows(std::string const& key);
  /// Each form, or instruction, has its counter of mismatches, and it is 0.
  void check_no_mismatches(std::vector<std::string> const& forms);
  void check_mismatches_of(std::vector<Instruction> const& all);
  /// Counts of a campaign that keeps each pattern, `a_part` for each part, of all forms; a mismatch counter of 0 for each form.
  void check_patterns(std::vector<std::string_view> const& forms, std::uint64_t a_part);
  /// Units, of this record and of all, where the campaign has `all`.
  void check_units(std::uint64_t all);
};

/// Addresses as a record writes them: units of the instruction's bytes in hexadecimal, dots where a lane
/// is inactive.
[[nodiscard]] WarpAccess<std::uint32_t> addresses_of(std::string const& text, Instruction const& instruction);

/// Checks rows in any order: each kept unit of the share has one row, and there are no others. `about` names a row's unit, `check`
/// compares the row with it.
template <class Unit, class Check>
void check_kept(Recomputation& r, Json const& rows, std::map<std::string, Unit const*> const& kept,
                std::function<std::string(Json const&)> const& about, Check const& check) {
  std::set<std::string> seen;
  for (Json const& row : rows) {
    std::string const name = about(row);
    auto const found = kept.find(name);
    r.row(name, seen);
    r.equal(name + ", is of this shard", found != kept.end(), true);
    if (found != kept.end()) check(name, row, *found->second);
  }
  for (auto const& [name, unit] : kept) r.equal(name + ", a row", seen.count(name), std::size_t{1});
}

/// One for each campaign. They throw as reading JSON does.
void check_wavefronts(Recomputation& r);
void check_counters(Recomputation& r);
void check_copies(Recomputation& r);
void check_exhaustive(Recomputation& r);
void check_flow(Recomputation& r);
void check_global(Recomputation& r);
void check_orders(Recomputation& r);
void check_ldmatrix(Recomputation& r);
void check_tma(Recomputation& r);
void check_operands(Recomputation& r);
void check_sass(Recomputation& r);
void check_tiles(Recomputation& r);
void check_wgmma(Recomputation& r);
void check_mma(Recomputation& r);
void check_registers(Recomputation& r);
void check_boxes(Recomputation& r);
void check_bases(Recomputation& r);
void check_atomics(Recomputation& r);
void check_cluster(Recomputation& r);
void check_contention(Recomputation& r);

/// Recomputes the record of a campaign. Throws where the campaign is unknown, or as reading JSON does.
void recompute_campaign(Recomputation& r);

}  // namespace swizproof
