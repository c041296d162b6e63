#include "records/campaigns/recomputation.hpp"

#include <swizproof/hardware/timing.hpp>
#include <swizproof/parse/parse.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace swizproof {

namespace {

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

/// Instructions of a measurement.
constexpr std::int64_t issued = gpu::measuring_rounds * gpu::pages * gpu::measuring_warps;

/// Recorded rows of one instruction: overheads, and numbers by kind.
struct KeptRows {
  std::set<std::int64_t> overheads{};
  std::map<gpu::Kind, std::set<std::uint64_t>> numbers{};
  double farthest = 0;
};

/// Rows [kind, number, cycles, overhead, addresses] of an instruction: the pattern is the one of its number, and costs
/// what the cost model says.
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
    auto const law = static_cast<int>(r.law(instruction, addresses_of(row.at(4), instruction)));
    bool const agrees = may_take(instruction.operation, rest, issued, law);
    r.equal<std::int64_t>(where + ", wavefronts", agrees ? law : rounded_wavefronts(rest, issued), law);
    kept.overheads.insert(overhead);
    kept.numbers[kind].insert(number);
    if (time_tells(instruction.operation, law))
      kept.farthest = std::max(kept.farthest, static_cast<double>(std::abs(rest - law * issued)) / issued);
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

}  // namespace

void check_wavefronts(Recomputation& r) {
  std::vector<Instruction> all;
  for (InstructionName const& known : instruction_names) all.push_back(known.instruction);
  std::uint64_t units = 0, units_of_all = 0;
  for (Instruction const& instruction : all) {
    std::uint64_t const size = gpu::lane_maps_of(instruction).size();
    units_of_all += size == 1 ? 0 : size / gpu::batch_patterns;
    units += size == 1 ? 0 : r.share.of(size / gpu::batch_patterns);
  }
  r.equal("units", r.evidence.units, units);
  r.equal("units of all parts", r.evidence.units_of_all_parts, r.evidence.shard == 1 ? units_of_all : 0);
  check_patterns(r);
  r.check_mismatches_of(all);
  r.equal<std::int64_t>("instructions of a measurement",
                        integer<std::int64_t>(r.longest.at("instructions_per_measurement")), issued);
  Json const& sample = r.groups_of_rows("sample");
  for (auto const& [op, rows] : r.groups_of_rows("mismatches_of").items())
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
  for (Instruction const& instruction : all) {
    std::string const op = to_string(instruction);
    check_sample(r, op, kept[op], stride);
    r.equal(op + ", overheads: one a part", kept[op].overheads.size() <= r.share.parts(), true);
    double const far = farthest.measured(op);
    r.equal(op + ", farthest from the cost model",
            far < farthest_above(instruction.operation) && far > kept[op].farthest - 1e-5, true);
    double& farthest_here = instruction.operation == Operation::cp_async ? most_async : most;
    farthest_here = std::max(farthest_here, far);
  }
  farthest.finish();
  r.equal("instructions", kept.size(), all.size());
  Members until(r.longest.at("until"), "until");
  double const calibrated = until.measured("calibrated"), drawn = until.measured("drawn");
  until.finish();
  r.equal("times in their order", calibrated <= drawn && drawn <= r.longest.measured("seconds"), true);
  char text[200];
  std::snprintf(text, sizeof text,
                "%zu measurements kept of %llu patterns; cycles are rounded down: up to %.2f wavefronts "
                "above the cost model, "
                "cp.async %.2f",
                seen.size(), static_cast<unsigned long long>(r.counts.count("patterns")), most, most_async);
  r.evidence.scope = text;
}

}  // namespace swizproof
