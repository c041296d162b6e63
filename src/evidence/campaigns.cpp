#include "evidence/campaigns.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/text/parse.hpp>
#include <swizproof/hardware/tma.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace swizproof {

namespace {

std::string text_of(std::uint64_t n) { return std::to_string(n); }

Swizzle swizzle_of(Json const& row) {
  return {integer<int>(row.at(0)), integer<int>(row.at(1)), integer<int>(row.at(2))};
}

/// Rows by instruction, in groups of the name `key`; none where it is missing.
Json const& rows_of(Recomputation& r, std::string const& key) {
  static Json const none = Json::object();
  Json const* const found = r.rows.find(key);
  return found == nullptr ? none : *found;
}

/// The rows of a campaign that has one list of them.
Json const& list_of(Recomputation& r, std::string const& key) {
  static Json const none = Json::array();
  Json const* const found = r.rows.find(key);
  if (found != nullptr && !found->is_array()) malformed("'" + key + "' is no list");
  return found == nullptr ? none : *found;
}

/// A row has as many members as its campaign writes.
Json const& with_members(Json const& row, std::size_t count) {
  if (!row.is_array() || row.size() != count) malformed("a row has not " + text_of(count) + " members");
  return row;
}

/// Addresses as a record writes them: units of the instruction's bytes in hexadecimal, dots where a lane
/// is inactive.
WarpAccess<std::uint32_t> addresses_of(std::string const& text, Instruction const& instruction) {
  std::size_t const digits = instruction.bytes == 16 ? 2 : 3;
  if (text.size() != digits * warp_lanes) malformed("a warp has 32 lanes");
  WarpAccess<std::uint32_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::string const unit = text.substr(lane * digits, digits);
    bool const inactive = unit.find_first_not_of('.') == std::string::npos;
    if (!inactive && unit.find_first_not_of("0123456789abcdef") != std::string::npos)
      malformed("addresses are hexadecimal");
    warp.active[lane] = !inactive && lane < instruction.lanes();
    warp.address[lane] =
        inactive ? 0 : static_cast<std::uint32_t>(std::stoul(unit, nullptr, 16)) * instruction.bytes;
  }
  return warp;
}

/// The kind of a drawn or exhaustive pattern.
gpu::Kind kind_of(std::string const& name) {
  for (unsigned k = 0; k <= gpu::drawn_kinds; ++k)
    if (name == gpu::kind_names[k]) return static_cast<gpu::Kind>(k);
  malformed("unknown kind of pattern '" + name + "'");
}

std::uint64_t sum_of(std::map<std::string, std::uint64_t> const& group) {
  std::uint64_t sum = 0;
  for (auto const& [key, value] : group) sum += value;
  return sum;
}

/// The instructions of campaign `wavefronts`: every one that parse_instruction() knows.
std::vector<std::string> all_instructions() {
  std::vector<std::string> names;
  for (std::string const op : {"ld.shared.", "st.shared."})
    for (std::string const width : {"b8", "b16", "b32", "b64", "b128"}) names.push_back(op + width);
  for (std::string const op : {"ldmatrix.", "stmatrix."})
    for (std::string const form : {"x1", "x2", "x4", "x1.trans", "x2.trans", "x4.trans"})
      names.push_back(op + form);
  for (std::string const width : {"b32", "b64", "b128"}) names.push_back("cp.async." + width);
  return names;
}

/// Each of the instructions has its counter of mismatches, and it is 0.
void check_mismatches_of(Recomputation& r, std::vector<std::string> const& all) {
  std::map<std::string, std::uint64_t> none;
  for (std::string const& op : all) none[op] = 0;
  r.equal("mismatches of each instruction", r.counts.group("mismatches_of"), none);
}

// ------------------------------------------------------------------------------------- wavefronts

constexpr std::int64_t wavefronts_issued = gpu::measuring_rounds * gpu::pages * gpu::measuring_warps;

/// How far above the law a measurement may be, in wavefronts: what is measured is rounded down from an eighth below on; a
/// cp.async takes up to 1.25 more, and one that collides in all lanes 2.25.
double farthest_allowed(Instruction const& instruction) {
  return instruction.operation == Operation::cp_async ? 2.25 : 0.875;
}

/// Whether as many cycles behind the overhead are `predicted` wavefronts, as gpu/wavefronts.cu judges it.
std::int64_t rounded(Instruction const& instruction, std::int64_t rest, std::int64_t predicted) {
  constexpr std::int64_t issued = wavefronts_issued;
  if (instruction.operation != Operation::cp_async) return (rest + issued / 8) / issued;
  std::int64_t const most = std::max<std::int64_t>(predicted, 3) + (predicted == 32 ? 1 : 0);
  bool const passes = rest >= predicted * issued - issued / 8 && rest < (most + 1) * issued + issued / 4;
  return passes ? predicted : (rest + issued / 8) / issued;
}

/// What the kept rows of one instruction are: overheads, and numbers by kind.
struct KeptRows {
  std::set<std::int64_t> overheads{};
  std::map<gpu::Kind, std::set<std::uint64_t>> numbers{};
  double farthest = 0;
};

/// Rows [kind, number, cycles, overhead, addresses] of an instruction: the pattern is the one of its number, and costs
/// what the law says.
KeptRows check_kept_rows(Recomputation& r, std::string const& op, Json const& rows,
                         std::set<std::string>& seen) {
  Instruction const instruction = parse_instruction(op);
  gpu::LaneMaps const maps = gpu::lane_maps_of(instruction);
  KeptRows kept;
  for (Json const& row : rows) {
    gpu::Kind const kind = kind_of(with_members(row, 5).at(0));
    auto const number = integer<std::uint64_t>(row.at(1));
    std::string const where = op + ", " + row.at(0).get<std::string>() + " " + text_of(number);
    r.row(where, seen);
    gpu::Pattern const pattern = kind == gpu::Kind::lane_map
                                     ? gpu::lane_map(number, maps)
                                     : gpu::draw(r.evidence.seed, number, kind, instruction);
    if (kind == gpu::Kind::lane_map) r.equal(where + ", is in its set", number < maps.size(), true);
    r.equal(where + ", addresses", row.at(4).get<std::string>(), gpu::hexadecimal(pattern, instruction));
    auto const overhead = integer<std::uint32_t>(row.at(3));
    std::int64_t const rest = std::int64_t{integer<std::uint32_t>(row.at(2))} - overhead;
    std::int64_t const law = r.law(instruction, addresses_of(row.at(4), instruction));
    r.equal<std::int64_t>(where + ", wavefronts", rounded(instruction, rest, law), law);
    kept.overheads.insert(overhead);
    kept.numbers[kind].insert(number);
    if (instruction.operation != Operation::cp_async || law >= 3)
      kept.farthest = std::max(
          kept.farthest, static_cast<double>(std::abs(rest - law * wavefronts_issued)) / wavefronts_issued);
  }
  return kept;
}

/// How many of the numbers 0, s, 2s, ... that this record must keep are there: of each drawn kind 128 a part, of the lane
/// maps those whose batch is in the share. A few were measured again, and are not kept for that.
void check_sample(Recomputation& r, std::string const& op, KeptRows const& kept, std::uint64_t stride) {
  gpu::LaneMaps const maps = gpu::lane_maps_of(parse_instruction(op));
  for (unsigned k = 0; k <= gpu::drawn_kinds; ++k) {
    auto const kind = static_cast<gpu::Kind>(k);
    bool const drawn = kind != gpu::Kind::lane_map;
    std::uint64_t expected = drawn ? gpu::kept_patterns * r.share.parts() : 0, outside = 0;
    std::uint64_t const step = drawn ? stride : maps.size() / gpu::kept_patterns;
    if (!drawn && maps.size() > 1)
      for (std::uint64_t i = 0; i < gpu::kept_patterns; ++i)
        expected += r.share.has(i * step / gpu::batch_patterns) ? 1 : 0;
    auto const found = kept.numbers.find(kind);
    std::uint64_t const have = found == kept.numbers.end() ? 0 : found->second.size();
    if (found != kept.numbers.end())
      for (std::uint64_t const number : found->second) {
        std::uint64_t const part = step == 0 ? 0 : number / step / gpu::kept_patterns;
        bool const mine =
            drawn ? part >= r.share.first && part < r.share.last : r.share.has(number / gpu::batch_patterns);
        outside += !mine || step == 0 || number % step != 0 ? 1 : 0;
      }
    std::string const where = op + ", " + gpu::kind_names[k];
    r.equal<std::uint64_t>(where + ", rows that belong elsewhere", outside, 0);
    bool const enough = have <= expected && have >= expected - expected / 16;
    r.equal<std::uint64_t>(where + ", rows (up to a sixteenth was measured again)", have,
                           enough ? have : expected);
  }
}

/// All patterns by instruction, by kind and by wavefronts are the same patterns; of each drawn kind and instruction as
/// many, and of the lane maps those of the share.
void check_patterns(Recomputation& r) {
  std::uint64_t const patterns = r.counts.count("patterns");
  auto const by_kind = r.counts.group("patterns_by"), of = r.counts.group("patterns_of"),
             by_wavefronts = r.counts.group("wavefronts");
  r.equal("patterns by instruction, together", sum_of(of), patterns);
  r.equal("patterns by kind, together", sum_of(by_kind), patterns);
  r.equal("patterns by wavefronts, together", sum_of(by_wavefronts), patterns);
  for (auto const& [wavefronts, count] : by_wavefronts) {
    bool known = false;
    for (unsigned w = 1; w <= warp_lanes; ++w) known = known || wavefronts == text_of(w);
    r.equal("patterns of " + wavefronts + " wavefronts", known && count > 0, true);
  }
  std::uint64_t maps = 0;
  std::uint64_t const drawn =
      by_kind.count("uniform") == 0 || of.empty() ? 0 : by_kind.at("uniform") / of.size();
  for (auto const& [op, count] : of) {
    gpu::LaneMaps const set = gpu::lane_maps_of(parse_instruction(op));
    std::uint64_t const own =
        set.size() == 1 ? 0 : r.share.of(set.size() / gpu::batch_patterns) * gpu::batch_patterns;
    maps += own;
    r.equal("patterns of " + op, count, gpu::drawn_kinds * drawn + own);
  }
  for (unsigned k = 0; k <= gpu::drawn_kinds; ++k) {
    auto const found = by_kind.find(gpu::kind_names[k]);
    std::uint64_t const must = k == gpu::drawn_kinds ? maps : drawn * of.size();
    r.equal(std::string("patterns by ") + gpu::kind_names[k], found == by_kind.end() ? 0 : found->second,
            must);
  }
  r.equal("kinds of patterns", by_kind.size(), std::size_t{gpu::drawn_kinds} + (maps == 0 ? 0 : 1));
  r.equal("patterns that were measured again are among them", r.counts.count("measured_again") <= patterns,
          true);
}

void check_wavefronts(Recomputation& r) {
  std::vector<std::string> const all = all_instructions();
  std::uint64_t units = 0, units_of_all = 0;
  for (std::string const& op : all) {
    std::uint64_t const size = gpu::lane_maps_of(parse_instruction(op)).size();
    units_of_all += size == 1 ? 0 : size / gpu::batch_patterns;
    units += size == 1 ? 0 : r.share.of(size / gpu::batch_patterns);
  }
  r.equal("units", r.evidence.units, units);
  r.equal("units of all parts", r.evidence.units_of_all_parts, r.evidence.shard == 1 ? units_of_all : 0);
  check_patterns(r);
  check_mismatches_of(r, all);
  r.equal<std::int64_t>("instructions of a measurement",
                        integer<std::int64_t>(r.longest.at("instructions_per_measurement")),
                        wavefronts_issued);
  Json const& sample = rows_of(r, "sample");
  for (auto const& [op, rows] : rows_of(r, "mismatches_of").items())
    r.equal("mismatches of " + op + ", rows", rows.size(), std::size_t{0});
  std::map<std::string, KeptRows> kept;
  std::set<std::string> seen;
  std::uint64_t stride = 0;
  for (auto const& [op, rows] : sample.items()) {
    kept[op] = check_kept_rows(r, op, rows, seen);
    for (auto const& [kind, numbers] : kept[op].numbers)
      if (kind != gpu::Kind::lane_map)
        for (std::uint64_t const number : numbers) stride = std::gcd(stride, number);
  }
  Members farthest(r.longest.at("farthest_from_law"), "farthest_from_law");
  double most = 0, most_async = 0;
  for (std::string const& op : all) {
    Instruction const instruction = parse_instruction(op);
    check_sample(r, op, kept[op], stride);
    r.equal(op + ", overheads: one a part", kept[op].overheads.size() <= r.share.parts(), true);
    double const far = farthest.measured(op);
    r.equal(op + ", farthest from the law",
            far < farthest_allowed(instruction) && far > kept[op].farthest - 1e-5, true);
    (instruction.operation == Operation::cp_async ? most_async : most) =
        std::max(instruction.operation == Operation::cp_async ? most_async : most, far);
  }
  farthest.finish();
  r.equal("instructions", kept.size(), all.size());
  Members until(r.longest.at("until"), "until");
  double const calibrated = until.measured("calibrated"), drawn = until.measured("drawn");
  until.finish();
  r.equal("times in their order", calibrated <= drawn && drawn <= r.longest.measured("seconds"), true);
  char text[200];
  std::snprintf(
      text, sizeof text,
      "%zu measurements kept of %llu patterns; cycles are rounded down: up to %.2f wavefronts above the law, "
      "cp.async %.2f",
      seen.size(), static_cast<unsigned long long>(r.counts.count("patterns")), most, most_async);
  r.evidence.scope = text;
}

// --------------------------------------------------------------------------------------- counters

/// Whether the counter is the law's number (gpu/counters.cu).
bool comparable(Instruction const& instruction, WarpAccess<std::uint32_t> const& warp) {
  bool const load = instruction.operation == Operation::ld_shared;
  if ((!load && instruction.operation != Operation::st_shared) || instruction.bytes < 8) return true;
  std::set<std::uint32_t> const distinct(warp.address.begin(), warp.address.end());
  bool const full = std::all_of(warp.active.begin(), warp.active.end(), [](bool active) { return active; });
  return full && (!load || distinct.size() == warp_lanes);
}

/// Wavefronts without H4 and H5: the degrees of the groups, no two of which merge, and idle ones free.
unsigned sum_of_degrees(Instruction instruction, WarpAccess<std::uint32_t> const& warp) {
  unsigned const size = phase(sm_90, instruction).lanes;
  auto const apart = detail::serve(warp, {instruction.lanes() / size, size}, instruction);
  return std::accumulate(apart.degree.begin(), apart.degree.begin() + apart.groups.count, 0U);
}

/// Row [kind, counted, addresses] of the pattern that the campaign draws there. Returns whether it is comparable.
bool check_counted(Recomputation& r, std::string const& where, Instruction const& instruction,
                   Json const& row) {
  auto const warp = addresses_of(row.at(2), instruction);
  auto const counted = integer<std::int64_t>(row.at(1));
  std::int64_t const issued = gpu::pages;
  if (comparable(instruction, warp)) {
    r.equal<std::int64_t>(where, counted, issued * r.law(instruction, warp));
    return true;
  }
  std::int64_t const apart = issued * sum_of_degrees(instruction, warp);
  if (instruction.operation == Operation::st_shared)
    r.equal<std::int64_t>(where + ", idle groups are not counted", counted, apart);
  else  // equal addresses: the counter has a way of its own, and is at most what the groups cost apart
    r.equal(where + ", within what the groups cost apart", counted >= issued && counted <= apart, true);
  return false;
}

void check_counters(Recomputation& r) {
  std::vector<std::string> all = all_instructions();
  std::erase_if(all,
                [](std::string const& op) { return op.ends_with("x1.trans") || op.ends_with("x2.trans"); });
  std::uint64_t const a_part = std::uint64_t{gpu::drawn_kinds} * gpu::counted_patterns;
  std::uint64_t const patterns = all.size() * a_part * r.share.parts();
  r.equal("patterns", r.counts.count("patterns"), patterns);
  r.equal("units", r.evidence.units, patterns);
  r.equal("units of all parts", r.evidence.units_of_all_parts,
          r.evidence.shard == 1 ? all.size() * a_part * r.share.count : 0);
  check_mismatches_of(r, all);
  r.equal<std::int64_t>("instructions of a measurement",
                        integer<std::int64_t>(r.longest.at("instructions_per_measurement")), gpu::pages);
  (void)r.longest.measured("seconds");
  Json const& sample = rows_of(r, "sample");
  r.equal("instructions", sample.size(), all.size());
  std::uint64_t compared = 0;
  std::set<std::string> seen;
  for (std::string const& op : all) {
    static Json const none = Json::array();
    Json const& rows = sample.contains(op) ? sample.at(op) : none;
    Instruction const instruction = parse_instruction(op);
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

// ------------------------------------------------------------- exhaustive, ldmatrix, tma and wgmma

/// Rows [bits, base, shift, offsets, mismatches]: this record's swizzles, once each, on all 2^32 offsets.
void check_exhaustive(Recomputation& r) {
  std::vector<Swizzle> const all = gpu::swizzles_by_shift();
  std::map<Swizzle, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[all[i]] = i;
  r.check_units(all.size());
  std::uint64_t offsets = 0, mismatches = 0;
  std::set<std::string> seen;
  for (Json const& row : list_of(r, "swizzles")) {
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

/// What a row of `ldmatrix` is about.
std::string name_of(gpu::TileMove const& c) {
  return std::string(c.store ? "stmatrix.x" : "ldmatrix.x") + text_of(c.matrices) +
         (c.transposed ? ".trans" : "") + " under " + to_string(c.swizzle) + ", pitch " + text_of(c.pitch) +
         ", row " + text_of(c.row) + ", byte " + text_of(c.byte);
}

/// Element numbers by lane, register and half.
std::vector<std::uint32_t> elements_of(gpu::TileMove const& c) {
  std::vector<std::uint32_t> elements;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    for (std::uint32_t i = 0; i < 2 * c.matrices; ++i) {
      MatrixElement const e = matrix_element(lane, i % 2, c.transposed);
      std::uint32_t const giver = 8 * (i / 2) + e.row;  // the lane that gave the row's address
      elements.push_back((c.row + giver % 16) * (c.pitch / 2) + c.byte / 2 + giver / 16 * 8 + e.column);
    }
  return elements;
}

/// Rows of what a unit is, in any order: each kept unit of the share once, and no other. `about` names a row's unit, `check`
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

/// Rows [op, [bits, base, shift], pitch, row, byte, [element by lane, register, half]].
void check_ldmatrix(Recomputation& r) {
  std::vector<gpu::TileMove> const all = gpu::tile_moves();
  r.check_units(all.size());
  std::map<std::string, gpu::TileMove const*> kept;
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!r.share.has(i)) continue;
    elements += std::uint64_t{64} * all[i].matrices;
    if (all[i].kept()) kept[name_of(all[i])] = &all[i];
  }
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const op = with_members(row, 6).at(0);
    Instruction const i = parse_instruction(op);
    return name_of(gpu::TileMove{swizzle_of(with_members(row.at(1), 3)), integer<unsigned>(row.at(2)),
                                 integer<unsigned>(row.at(3)), integer<unsigned>(row.at(4)), i.matrices,
                                 i.transposed, i.operation == Operation::stmatrix});
  };
  check_kept(r, list_of(r, "maps"), kept, about,
             [&](std::string const& name, Json const& row, gpu::TileMove const& c) {
               r.equal(name, integers<std::uint32_t>(row.at(5)), elements_of(c));
             });
  r.evidence.scope = text_of(kept.size()) + " maps kept of " + text_of(r.evidence.units) + " moves";
}

/// What a row of `tma` is about.
std::string name_of(gpu::BoxCopy const& c) {
  return std::string(c.store ? "store" : "load") + ", mode " + text_of(static_cast<unsigned>(c.mode)) +
         ", box [" + text_of(c.box[0]) + "," + text_of(c.box[1]) + "," + text_of(c.box[2]) + "], at " +
         text_of(c.offset) + ", tensor at " + text_of(c.global_offset);
}

TmaMode mode_of(gpu::BoxCopy const& c) { return static_cast<TmaMode>(std::min(c.mode, 3)); }

/// What cuTensorMapEncodeTiled refuses (gpu/README.md).
bool refused(gpu::BoxCopy const& c) {
  return c.mode > 3 || (c.mode != 0 && 2 * c.box[0] > tma_width(mode_of(c))) || c.global_offset % 16 != 0 ||
         c.box[0] % 8 != 0;
}

/// Where each 16 bytes of a box stand.
std::vector<std::int64_t> places_of(gpu::BoxCopy const& c) {
  std::vector<std::int64_t> places;
  std::uint32_t const pitch = tma_pitch(mode_of(c), 2 * c.box[0]);
  for (std::uint32_t line = 0; line < c.box[1] * c.box[2]; ++line)
    for (std::uint32_t x = 0; x < 2 * c.box[0]; x += 16)
      places.push_back(swizzle_of(mode_of(c))(c.offset + line * pitch + x));
  return places;
}

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
  check_kept(r, list_of(r, "copies"), kept, about,
             [&](std::string const& name, Json const& row, gpu::BoxCopy const& c) {
               r.equal<std::string>(name, row.at(5), refused(c) ? "refused: CUresult 1" : "copied");
               r.equal(name + ", places", integers<std::int64_t>(row.at(6)),
                       refused(c) ? std::vector<std::int64_t>{} : places_of(c));
             });
  r.evidence.scope = (kept.size() == all.size() ? "all " : "") + text_of(kept.size()) + " copies";
  r.evidence.every_unit_kept = true;
}

/// What a row of `wgmma` is about.
std::string name_of(gpu::OperandRead const& c) {
  WgmmaDescriptor const& d = c.descriptor;
  return std::string(c.operand_a ? "A" : "B") + ", " + (c.major == Major::k ? "k" : "mn") + "-major, " +
         c.question + ", mode " + text_of(static_cast<unsigned>(d.mode)) + ", start " + text_of(d.start) +
         ", LBO " + text_of(d.leading_byte_offset) + ", SBO " + text_of(d.stride_byte_offset) +
         ", base offset " + text_of(d.base_offset);
}

/// 16-byte columns that the operand's runs of 8 elements start at.
std::vector<std::int64_t> columns_of(gpu::OperandRead const& c) {
  bool const k = c.major == Major::k;
  std::vector<std::int64_t> columns;
  for (std::uint32_t mn = 0; mn < c.extent(); mn += k ? 1 : 8)
    for (std::uint32_t i = 0; i < gpu::wgmma_depth; i += k ? 8 : 1)
      columns.push_back(wgmma_address(c.descriptor, c.major, 2, mn, i).bytes / 16);
  return columns;
}

/// Rows [operand, major, mode, start, LBO, SBO, base offset, question, wrong, [16-byte columns / 16]].
void check_wgmma(Recomputation& r) {
  std::vector<gpu::OperandRead> const all = gpu::operand_reads();
  r.check_units(all.size());
  std::map<std::string, gpu::OperandRead const*> kept;
  std::map<std::string, std::uint64_t> asked;
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!r.share.has(i)) continue;
    ++asked[all[i].question];
    elements += std::uint64_t{all[i].extent()} * gpu::wgmma_depth;
    if (all[i].keep) kept[name_of(all[i])] = &all[i];
  }
  r.equal("questions", r.counts.group("asked"), asked);
  r.equal("elements", r.counts.count("elements"), elements);
  (void)r.longest.measured("seconds");
  auto const about = [](Json const& row) {
    std::string const operand = with_members(row, 10).at(0), major = row.at(1), question = row.at(7);
    if ((operand != "A" && operand != "B") || (major != "k" && major != "mn"))
      malformed("an operand is A or B, and k- or mn-major");
    WgmmaDescriptor const d{integer<std::uint32_t>(row.at(3)), integer<std::uint32_t>(row.at(4)),
                            integer<std::uint32_t>(row.at(5)),
                            static_cast<WgmmaMode>(integer<std::uint8_t>(row.at(2))),
                            integer<std::uint32_t>(row.at(6))};
    return name_of(
        gpu::OperandRead{operand == "A", major == "k" ? Major::k : Major::mn, d, true, question.c_str()});
  };
  check_kept(r, list_of(r, "maps"), kept, about,
             [&](std::string const& name, Json const& row, gpu::OperandRead const& c) {
               r.equal<std::uint64_t>(name + ", elements that were wrong", integer<std::uint64_t>(row.at(8)),
                                      0);
               r.equal(name, integers<std::int64_t>(row.at(9)), columns_of(c));
             });
  r.evidence.scope = text_of(kept.size()) + " maps kept of " + text_of(r.evidence.units) + " descriptors";
}

}  // namespace

Members::Members(Json const& object, std::string what) : object_(object), what_(std::move(what)) {
  if (!object_.is_object()) malformed("'" + what_ + "' is no object");
}

Json const* Members::find(std::string const& name) {
  asked_.push_back(name);
  auto const found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

Json const& Members::at(std::string const& name) {
  Json const* const found = find(name);
  if (found == nullptr) malformed("'" + what_ + "' has no '" + name + "'");
  return *found;
}

double Members::measured(std::string const& name) {
  Json const& value = at(name);
  if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > 1e9)
    malformed("'" + name + "' is no measured number");
  return value.get<double>();
}

std::map<std::string, std::uint64_t> Members::group(std::string const& name) {
  std::map<std::string, std::uint64_t> group;
  Json const* const found = find(name);
  if (found == nullptr) return group;
  if (!found->is_object()) malformed("'" + name + "' is no object");
  for (auto const& [key, value] : found->items()) group[key] = integer<std::uint64_t>(value);
  return group;
}

void Members::finish() const {
  for (auto const& [key, value] : object_.items())
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
      malformed("'" + what_ + "' has '" + key.substr(0, 60) + "', which this program does not know");
}

std::uint64_t Share::of(std::uint64_t all) const {
  std::uint64_t const rest = all % count;
  return all / count * parts() + std::min(last, std::max(first, rest)) - first;
}

void Recomputation::row(std::string const& about, std::set<std::string>& seen) {
  bool const fresh = seen.insert(about).second;
  equal(about + ", stands once", fresh, true);
  if (fresh) evidence.rows.push_back(about);
}

void Recomputation::check_units(std::uint64_t all) {
  equal("units", evidence.units, share.of(all));
  equal("units of all parts", evidence.units_of_all_parts, evidence.shard == 1 ? all : 0);
}

void recompute_campaign(Recomputation& r) {
  std::string const& campaign = r.evidence.campaign;
  if (campaign == "wavefronts")
    check_wavefronts(r);
  else if (campaign == "counters")
    check_counters(r);
  else if (campaign == "exhaustive")
    check_exhaustive(r);
  else if (campaign == "ldmatrix")
    check_ldmatrix(r);
  else if (campaign == "tma")
    check_tma(r);
  else if (campaign == "wgmma")
    check_wgmma(r);
  else
    malformed("unknown campaign '" + campaign + "'");
}

}  // namespace swizproof
