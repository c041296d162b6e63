#include "evidence.hpp"

#include <swizproof/descriptor.hpp>
#include <swizproof/fragment.hpp>
#include <swizproof/parse.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <type_traits>

namespace swizproof {

namespace {

using Json = nlohmann::json;

std::string text_of(std::uint64_t n) { return std::to_string(n); }

/// A number of a record: JSON's 1e300 is no integer, and to take it for one would be undefined.
template <class T>
T integer(Json const& value) {
  bool const fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<T>::max()}
                        : value.is_number_integer() && std::is_signed_v<T> &&
                              value.get<std::int64_t>() >= std::int64_t{std::numeric_limits<T>::min()};
  if (!fits)
    throw Json::other_error::create(501, "not an integer of its size: " + value.dump().substr(0, 40),
                                    nullptr);
  return value.get<T>();
}

template <class T>
std::vector<T> integers(Json const& values) {
  std::vector<T> out;
  for (Json const& value : values) out.push_back(integer<T>(value));
  return out;
}

/// How often a measurement issues its instruction. First records counted it, so that only shard 1 knew it.
std::int64_t issued_in(Json const& record) {
  Json const& longest = record.at("longest");
  auto const issued =
      integer<std::int64_t>((longest.contains("instructions_per_measurement") ? longest : record.at("counts"))
                                .at("instructions_per_measurement"));
  if (issued < 8) throw Json::other_error::create(501, "instructions_per_measurement is too small", nullptr);
  return issued;
}

/// Collects what recomputing finds.
class Check {
 public:
  explicit Check(Evidence& evidence) : evidence_(evidence) {}

  template <class T>
  void equal(std::string const& where, T const& recorded, T const& predicted) {
    ++evidence_.compared;
    if (recorded != predicted)
      evidence_.contradictions.push_back({where, Json(recorded).dump(), Json(predicted).dump()});
  }

 private:
  Evidence& evidence_;
};

/// Addresses as a record writes them: units of the instruction's bytes in hexadecimal, dots where a lane
/// is inactive.
WarpAccess<std::uint32_t> addresses_of(std::string const& text, Instruction const& instruction) {
  std::size_t const digits = instruction.bytes == 16 ? 2 : 3;
  if (text.size() != digits * warp_lanes)
    throw Json::other_error::create(501, "a warp has 32 lanes", nullptr);
  WarpAccess<std::uint32_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::string const unit = text.substr(lane * digits, digits);
    bool const inactive = unit.find_first_not_of('.') == std::string::npos;
    if (!inactive && unit.find_first_not_of("0123456789abcdef") != std::string::npos)
      throw Json::other_error::create(501, "addresses are hexadecimal", nullptr);
    warp.active[lane] = !inactive && lane < instruction.lanes();
    warp.address[lane] =
        inactive ? 0 : static_cast<std::uint32_t>(std::stoul(unit, nullptr, 16)) * instruction.bytes;
  }
  return warp;
}

std::string place(std::string const& op, Json const& row) {
  return op + ", addresses " + row.back().get<std::string>();
}

/// Rows [kind, number, cycles, overhead, addresses].
void check_wavefronts(Json const& record, Law const& law, Check& check) {
  std::int64_t const issued = issued_in(record);
  for (auto const& [op, rows] : record.at("rows").at("sample").items()) {
    Instruction const instruction = parse_instruction(op);
    for (Json const& row : rows) {
      std::int64_t const rest = integer<std::int64_t>(row.at(2)) - integer<std::int64_t>(row.at(3));
      std::int64_t const predicted = law(instruction, addresses_of(row.at(4), instruction));
      std::int64_t measured = (rest + issued / 8) / issued;  // as gpu/wavefronts.cu rounds,
      if (instruction.operation == Operation::cp_async) {    // and what it lets pass
        std::int64_t const most = std::max<std::int64_t>(predicted, 3) + (predicted == 32 ? 1 : 0);
        if (rest >= predicted * issued - issued / 8 && rest < (most + 1) * issued + issued / 4)
          measured = predicted;
      }
      check.equal<std::int64_t>(place(op, row), measured, predicted);
    }
  }
}

/// Whether the counter is the law's number (gpu/counters.cu).
bool comparable(Instruction const& instruction, WarpAccess<std::uint32_t> const& warp) {
  bool const load = instruction.operation == Operation::ld_shared;
  if ((!load && instruction.operation != Operation::st_shared) || instruction.bytes < 8) return true;
  std::set<std::uint32_t> const distinct(warp.address.begin(), warp.address.end());
  bool const full = std::all_of(warp.active.begin(), warp.active.end(), [](bool active) { return active; });
  return full && (!load || distinct.size() == warp_lanes);
}

/// Rows [kind, counted, addresses].
void check_counters(Json const& record, Law const& law, Check& check) {
  std::int64_t const issued = issued_in(record);
  for (auto const& [op, rows] : record.at("rows").at("sample").items()) {
    Instruction const instruction = parse_instruction(op);
    for (Json const& row : rows) {
      auto const warp = addresses_of(row.at(2), instruction);
      if (comparable(instruction, warp))
        check.equal<std::int64_t>(place(op, row), integer<std::int64_t>(row.at(1)),
                                  issued * law(instruction, warp));
    }
  }
}

Swizzle swizzle_of(Json const& row) {
  return {integer<int>(row.at(0)), integer<int>(row.at(1)), integer<int>(row.at(2))};
}

/// Rows [bits, base, shift, offsets, mismatches]: valid, once each, on all 2^32 offsets.
void check_exhaustive(Json const& record, Evidence const& evidence, Check& check) {
  std::set<Swizzle> seen;
  for (Json const& row : record.at("rows").at("swizzles")) {
    Swizzle const s = swizzle_of(row);
    std::string const name = to_string(s);
    check.equal(name + " is valid and stands once", s.valid() && seen.insert(s).second, true);
    check.equal<std::uint64_t>(name + ", offsets", integer<std::uint64_t>(row.at(3)), std::uint64_t{1} << 32);
    check.equal<std::uint64_t>(name + ", mismatches", integer<std::uint64_t>(row.at(4)), 0);
  }
  std::uint64_t all = 0;
  for (int bits = 0; bits <= 32; ++bits)
    for (int base = 0; base <= 32; ++base)
      for (int shift = -32; shift <= 32; ++shift) all += Swizzle{bits, base, shift}.valid();
  if (evidence.shards == 1) check.equal<std::uint64_t>("number of swizzles", seen.size(), all);
  check.equal<std::uint64_t>("number of units", evidence.units, seen.size());
}

/// Rows [op, [bits, base, shift], pitch, row, byte, [element by lane, register, half]].
void check_ldmatrix(Json const& record, Check& check) {
  for (Json const& row : record.at("rows").at("maps")) {
    std::string const op = row.at(0);
    Instruction const instruction = parse_instruction(op);
    auto const pitch = integer<std::uint32_t>(row.at(2)), row0 = integer<std::uint32_t>(row.at(3)),
               byte0 = integer<std::uint32_t>(row.at(4));
    std::vector<std::uint32_t> predicted;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      for (std::uint32_t i = 0; i < 2 * instruction.matrices; ++i) {
        MatrixElement const e = matrix_element(lane, i % 2, instruction.transposed);
        std::uint32_t const giver = 8 * (i / 2) + e.row;  // the lane that gave the row's address
        predicted.push_back((row0 + giver % 16) * (pitch / 2) + byte0 / 2 + giver / 16 * 8 + e.column);
      }
    check.equal(op + " under " + to_string(swizzle_of(row.at(1))), integers<std::uint32_t>(row.at(5)),
                predicted);
  }
}

/// Rows [direction, mode, [box], destination, tensor's offset, result, [place of each 16 bytes]].
void check_tma(Json const& record, Check& check) {
  for (Json const& row : record.at("rows").at("copies")) {
    int const mode = integer<int>(row.at(1));
    auto const box = integers<std::uint32_t>(row.at(2));
    auto const destination = integer<std::uint32_t>(row.at(3)), global = integer<std::uint32_t>(row.at(4));
    std::string const where = row.at(0).get<std::string>() + ", mode " + std::to_string(mode) + ", box " +
                              row.at(2).dump() + ", at " + text_of(destination);
    std::uint32_t const width = mode == 0 ? 0 : 16U << std::min(mode, 3);
    bool const refused =
        mode > 3 || (width != 0 && 2 * box.at(0) > width) || global % 16 != 0 || box[0] % 8 != 0;
    check.equal(where + ", copied", row.at(5).get<std::string>() == "copied", !refused);
    if (row.at(5).get<std::string>() != "copied") continue;
    std::uint32_t const pitch = std::max(2 * box[0], width);
    std::vector<std::int64_t> predicted;
    for (std::uint32_t line = 0; line < box.at(1) * box.at(2); ++line)
      for (std::uint32_t x = 0; x < 2 * box[0]; x += 16)
        predicted.push_back(Swizzle{std::min(mode, 3), 4, 3}(destination + line * pitch + x));
    check.equal(where, integers<std::int64_t>(row.at(6)), predicted);
  }
}

/// Rows [operand, major, mode, start, LBO, SBO, base offset, question, wrong, [16-byte columns / 16]].
void check_wgmma(Json const& record, Check& check) {
  for (Json const& row : record.at("rows").at("maps")) {
    Major const major = row.at(1).get<std::string>() == "k" ? Major::k : Major::mn;
    WgmmaDescriptor const d{integer<std::uint32_t>(row.at(3)), integer<std::uint32_t>(row.at(4)),
                            integer<std::uint32_t>(row.at(5)),
                            static_cast<WgmmaMode>(integer<int>(row.at(2)) & 3),
                            integer<std::uint32_t>(row.at(6))};
    bool const k = major == Major::k;
    std::uint32_t const extent = row.at(0).get<std::string>() == "A" ? 64 : 128;
    std::vector<std::int64_t> predicted;
    for (std::uint32_t mn = 0; mn < extent; mn += k ? 1 : 8)
      for (std::uint32_t i = 0; i < 16; i += k ? 8 : 1)
        predicted.push_back(wgmma_address(d, major, 2, mn, i).bytes / 16);
    check.equal(row.at(0).get<std::string>() + ", " + row.at(7).get<std::string>() + ", descriptor " +
                    text_of(d.bits()),
                integers<std::int64_t>(row.at(9)), predicted);
  }
}

Evidence header(std::string const& name, Json const& record) {
  Evidence e;
  e.name = name;
  if (record.at("format").get<std::string>() != "swizproof evidence 1")
    throw Json::other_error::create(501, "unknown format", nullptr);
  e.campaign = record.at("campaign");
  e.device = record.at("device");
  e.date = record.at("date");
  e.seed = integer<std::uint64_t>(record.at("seed"));
  e.shard = integer<std::uint64_t>(record.at("shard").at(0));
  e.shards = integer<std::uint64_t>(record.at("shard").at(1));
  Json const& counts = record.at("counts");
  e.units = counts.contains("units") ? integer<std::uint64_t>(counts["units"]) : 0;
  e.units_of_all_parts =
      counts.contains("units_of_all_parts") ? integer<std::uint64_t>(counts["units_of_all_parts"]) : 0;
  return e;
}

}  // namespace

unsigned law_of_the_model(Instruction const& instruction, WarpAccess<std::uint32_t> const& access) {
  return cost(sm_90, instruction, access).wavefronts;
}

Evidence recompute(std::string const& name, std::string_view text, Law const& law) {
  auto const refuse = [&](std::string const& why) {
    return InputError{"not a record of swizproof-gpu: " + why, name, 0, name.size(),
                      "records are written by swizproof-gpu --out FILE; see gpu/README.md"};
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw refuse("the file is empty");
  Evidence evidence;
  try {
    Json const record = Json::parse(text);
    evidence = header(name, record);
    Check check(evidence);
    check.equal<std::uint64_t>("mismatches that the run itself saw",
                               integer<std::uint64_t>(record.at("counts").at("mismatches")), 0);
    std::uint64_t const before = evidence.compared;
    if (evidence.campaign == "wavefronts")
      check_wavefronts(record, law, check);
    else if (evidence.campaign == "counters")
      check_counters(record, law, check);
    else if (evidence.campaign == "exhaustive")
      check_exhaustive(record, evidence, check);
    else if (evidence.campaign == "ldmatrix")
      check_ldmatrix(record, check);
    else if (evidence.campaign == "tma")
      check_tma(record, check);
    else if (evidence.campaign == "wgmma")
      check_wgmma(record, check);
    else
      throw refuse("unknown campaign '" + evidence.campaign + "'");
    if (evidence.compared == before) throw refuse("it holds no measurement");
  } catch (Json::exception const& error) {
    throw refuse(error.what());
  }
  return evidence;
}

std::vector<Contradiction> check_shards(std::vector<Evidence> const& records) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<Evidence const*>> campaigns;
  for (Evidence const& e : records)
    if (e.shards > 1) campaigns[{e.campaign, e.shards}].push_back(&e);
  std::vector<Contradiction> found;
  for (auto const& [key, parts] : campaigns) {
    std::string const name = key.first + ", shards of " + text_of(key.second);
    std::set<std::uint64_t> shards, seeds;
    std::uint64_t units = 0, all = 0;
    for (Evidence const* e : parts) {
      if (!shards.insert(e->shard).second)
        found.push_back({name, "shard " + text_of(e->shard) + " stands twice", "each shard once"});
      seeds.insert(e->seed);
      units += e->units;
      all = std::max(all, e->units_of_all_parts);
    }
    bool const complete =
        shards.size() == key.second && *shards.begin() == 1 && *shards.rbegin() == key.second;
    if (!complete)
      found.push_back({name, text_of(shards.size()) + " shards", text_of(key.second) + " shards"});
    if (seeds.size() != 1) found.push_back({name, text_of(seeds.size()) + " seeds", "one seed"});
    if (complete && units != all) found.push_back({name, text_of(units) + " units", text_of(all) + " units"});
  }
  return found;
}

}  // namespace swizproof
