// The pages that `show --html`, `explain --html` and `kernel --html` write, loaded in headless Chromium: their numbers are ours,
// for every access and swizzle, and they fit a telephone.
#include "page_case.hpp"

#include <swizproof/parse/parse.hpp>
#include <swizproof/access/placement.hpp>

#include <cstdlib>
#include <map>
#include <set>

namespace swizproof {
namespace {

/// Numbers of a page by its own formulas, without a browser, on the states that drive.js reaches.
Json formulas_of(std::string const& command) {
  Folder const folder("formulas");
  (void)page_of(command, folder.path / "page.html");
  std::string const report =
      output_of("nodejs " SWIZPROOF_DRIVES "/formulas.js " + (folder.path / "page.html").string());
  return report.empty() ? Json() : Json::parse(report);
}

/// The layout under the swizzle of the page's state.
Mapping swizzled(Mapping map, std::string const& state) {
  if (state == "given") return map;
  static std::map<std::string, Swizzle> const named{
      {"none", swizzle_none}, {"32B", swizzle_32B}, {"64B", swizzle_64B}, {"128B", swizzle_128B}};
  auto const found = named.find(state);
  Swizzle const s = found != named.end() ? found->second : parse_swizzle("Sw<" + state + ">");
  std::erase_if(map.on_elements, [](Stage const& stage) { return std::holds_alternative<Swizzle>(stage); });
  map.on_bytes = {s};
  return map;
}

std::vector<std::uint64_t> values_of(Json const& origin, Placement const& placement) {
  std::vector<std::uint64_t> values;
  for (Variable const& v : placement.variables()) values.push_back(origin.at(v.name).get<std::uint64_t>());
  return values;
}

Cost<std::uint32_t> cost_of(Architecture const& arch, Placement const& placement,
                            std::vector<std::uint64_t> const& values) {
  return cost(arch, placement.instruction(),
              placement.warp(std::span<std::uint64_t const>(values), std::uint64_t{}));
}

std::uint32_t worst_of(Architecture const& arch, Placement const& placement) {
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < placement.assignments(); ++i) {
    std::vector<std::uint64_t> values;
    std::uint64_t rest = i;
    for (Variable const& v : placement.variables())
      values.push_back(v.value(rest % v.count)), rest /= v.count;
    most = std::max(most, cost_of(arch, placement, values).wavefronts);
  }
  return most;
}

void expect_same_numbers(Json const& state, Mapping const& given, Architecture const& arch) {
  SCOPED_TRACE(state.dump());
  Access const access = parse_access(state["access"].get<std::string>());
  Placement const placement(swizzled(given, state["swizzle"]), access);
  auto const values = values_of(state["origin"], placement);
  Cost<std::uint32_t> const ours = cost_of(arch, placement, values);
  unsigned const ideal = ideal_wavefronts(arch, access.instruction);
  std::string degrees;
  for (unsigned g = 0; g < ours.phases.count; ++g)
    degrees += (g == 0 ? "" : " ") + std::to_string(ours.degree[g]);
  EXPECT_EQ(state["wavefronts"], std::to_string(ours.wavefronts));
  EXPECT_EQ(state["here"], std::to_string(ours.wavefronts));
  EXPECT_EQ(state["ideal"], std::to_string(ideal));
  EXPECT_EQ(state["excess"], std::to_string(ours.wavefronts > ideal ? ours.wavefronts - ideal : 0));
  EXPECT_EQ(state["degrees"], degrees);
  static std::map<std::string, std::uint32_t> known;
  auto const [entry, fresh] =
      known.try_emplace(std::string(arch.name) + "|" + given.text + "|" + state["access"].get<std::string>() +
                        "|" + state["swizzle"].get<std::string>());
  if (fresh) entry->second = worst_of(arch, placement);
  EXPECT_EQ(state["worst"], std::to_string(entry->second));
  // The bank strip shows the phase: its fullest bank is the phase's degree.
  unsigned const phase = state["phase"];
  std::uint32_t most = 0;
  for (Json const& words : state["banks"]) most = std::max(most, words.get<std::uint32_t>());
  EXPECT_EQ(most, ours.degree[phase]);
  EXPECT_EQ(state["banks"].size(), arch.banks.count);
  if (!state.contains("hits")) return;  // without a browser
  EXPECT_GT(state["hits"], 0) << "a lane is marked in the tile";
  EXPECT_GT(state["inMemory"], 0) << "and in shared memory";
}

std::int64_t first_number(Json const& text) { return std::atoll(text.get<std::string>().c_str()); }

void expect_same_cell(Json const& cell, Mapping const& given, Banks banks) {
  SCOPED_TRACE(cell.dump());
  Mapping const map = swizzled(given, cell["swizzle"]);
  Layout const& tile = *map.domain();
  auto const rows = static_cast<std::uint64_t>(tile.shape.mode(0).product());
  std::uint64_t const cols = static_cast<std::uint64_t>(tile.size()) / rows, at = cell["place"];
  std::uint64_t const row = at / cols, col = at % cols, index = row + rows * col;
  std::uint64_t const address = value(map, Address<std::uint64_t>{0}, index, Unit::bytes);
  Json const& facts = cell["facts"];
  EXPECT_EQ(first_number(facts.at("row")), row);
  EXPECT_EQ(first_number(facts.at("column")), col);
  EXPECT_EQ(first_number(facts.at("offset, elements")), offset(swizzled(given, "none"), index).elements);
  EXPECT_EQ(first_number(facts.at("swizzled offset")), address * 8 / *map.element_bits);
  EXPECT_EQ(first_number(facts.at("address, bytes")), address);
  EXPECT_EQ(first_number(facts.contains("banks") ? facts.at("banks") : facts.at("bank")),
            address / banks.bytes % banks.count);
  // The lane that the cell names is a lane whose address that is.
  if (std::string const lane = facts.at("lane"); lane != "none") {
    Placement const placement(map, parse_access(cell["access"].get<std::string>()));
    auto const warp =
        placement.warp(std::span<std::uint64_t const>(values_of(cell["origin"], placement)), std::uint64_t{});
    EXPECT_TRUE(warp.active[static_cast<std::size_t>(first_number(lane))]);
    EXPECT_EQ(warp.address[static_cast<std::size_t>(first_number(lane))], address);
  }
}

/// A page of `show`: in a browser, or by its formulas alone.
struct TilePage {
  std::string layout{}, element{}, access{};
  std::size_t least_states = 12;
  std::string arch = "sm_90";
  [[nodiscard]] std::string command() const {
    return "show '" + layout + "'" + (element.empty() ? "" : " --element " + element) +
           (access.empty() ? "" : " --access '" + access + "'") + " --arch " + arch;
  }
  friend void PrintTo(TilePage const& page, std::ostream* to) { *to << page.command(); }
};

void expect_agrees(Json const& report, TilePage const& page) {
  ASSERT_FALSE(report.is_null()) << "there is no report";
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
  MappingOptions options;
  if (!page.element.empty()) options.element_bits = parse_element(page.element);
  Mapping const map = parse_mapping(page.layout, options);
  Architecture const& arch = parse_architecture(page.arch);
  EXPECT_GE(report["states"].size(), page.least_states);
  for (Json const& state : report["states"]) expect_same_numbers(state, map, arch);
  EXPECT_GE(report["cells"].size(), 24U);
  for (Json const& cell : report["cells"]) expect_same_cell(cell, map, arch.banks);
  EXPECT_EQ(report["refused"], explain(SwizzleError::fields_overlap)) << "Sw<5,3,3> is not a swizzle";
}

constexpr auto column = "ld.shared.b32: row = lane, col = i for i in 0..31";
constexpr auto column_of_halves = "ld.shared.b16: row = lane, col = i for i in 0..31";
constexpr auto gemm = "Sw<3,4,3> o smem_ptr[16b](unset) o (_128,_64):(_64,_1)";

/// Each has a test in a browser and one without.
std::map<std::string, TilePage> const tile_pages{
    {"AGemmTileOfAllNamedAccesses", {gemm, "", "", 37 * 6 * 2}},
    {"AnElementSwizzle",
     {"Sw<3,3,3> o _0 o (_32,_64):(_64,_1)", "f16",
      "ld.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..7"}},
    // Lanes of cp.async at one word do conflict, and idle phases cost nothing (H7).
    {"APaddedTile",
     {"(32,32):(33,1)", "f32", "cp.async.b64: row = 0, col = 2*(lane >> (1-i)) for i in 0..1 if lane < 16"}},
    {"AColumnMajorTile", {"(64,32):(1,64)", "f16", ""}},
    // Two of the four phases have no lane: each of them still takes its turn (H5).
    {"IdleLanes",
     {"(16,64):(64,1)", "f16", "ld.shared.b128: row = lane%8, col = 8*i for i in 0..7 if lane % 16 < 8"}},
    // Tables that were learned: other banks, and lanes that are served together without being neighbours.
    {"SixtyFourBanks", {gemm, "", "", 37 * 6 * 2, SWIZPROOF_ARCHS "/wide.json"}},
    {"BanksOf8Bytes", {"(32,32):(33,1)", "f32", column, 12, SWIZPROOF_ARCHS "/eight.json"}},
    {"BanksOf2Bytes", {"(32,32):(32,1)", "f16", column_of_halves, 12, SWIZPROOF_ARCHS "/few.json"}},
    {"OtherPartnersOfAMerge",
     {"(32,32):(32,1)", "f64", "ld.shared.b64: row = lane % 16, col = i for i in 0..7", 12,
      SWIZPROOF_ARCHS "/few.json"}},
    {"ScatteredLanes",
     {"(32,32):(32,1)", "f64", "st.shared.b64: row = lane, col = i for i in 0..7", 12,
      SWIZPROOF_ARCHS "/scattered.json"}}};

class Tiles : public testing::TestWithParam<std::pair<std::string const, TilePage>> {};
TEST_P(Tiles, AgreeInABrowser) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  expect_agrees(report_of(GetParam().second.command(), "drive.js", 1300), GetParam().second);
}
TEST_P(Tiles, AgreeByTheirFormulas) {
  if (!has_node()) GTEST_SKIP() << "page: not run (there is no nodejs here)";
  expect_agrees(formulas_of(GetParam().second.command()), GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(Page, Tiles, testing::ValuesIn(tile_pages),
                         [](auto const& test) { return test.param.first; });

TEST(Page, FitsATelephone) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  Json const report =
      report_of("show 'Sw<3,4,3> o smem_ptr[16b](unset) o (_32,_64):(_64,_1)'", "drive.js", 360);
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_EQ(report["width"], 360);
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
}

// --------------------------------------------------------------------------- the page of a trace

/// "1,234" as 1234.
std::uint64_t number_in(Json const& text) {
  auto digits = text.get<std::string>();
  std::erase(digits, ',');
  return std::stoull(digits);
}

/// Cells from `at` on are the sums, and the bar behind them is their share of all excess.
void expect_same_sums(Json const& row, std::size_t at, Json const& ours, std::uint64_t all_excess) {
  for (char const* key : {"executed", "wavefronts", "ideal", "excess"})
    EXPECT_EQ(number_in(row["cells"][at++]), ours[key]) << key << " of " << row;
  EXPECT_NEAR(
      row["bar"],
      100.0 * ours["excess"].get<double>() / static_cast<double>(std::max<std::uint64_t>(all_excess, 1)),
      0.01)
      << row;
}

void expect_same_detail(Json const& opened, Json const& line) {
  SCOPED_TRACE(opened["at"].dump());
  Json const& worst = line["worst"];
  EXPECT_EQ(opened["expanded"], "true");
  EXPECT_EQ(opened["open"], 1) << "one line is open at a time";
  std::string const cost = std::to_string(worst["wavefronts"].get<int>()) + " wavefronts";
  EXPECT_NE(opened["text"].get<std::string>().find("takes " + cost), std::string::npos);
  ASSERT_EQ(opened["conflicts"].size(), worst["conflicts"].size());
  for (std::size_t i = 0; i < worst["conflicts"].size(); ++i) {
    Json const& shown = opened["conflicts"][i];
    Json const& ours = worst["conflicts"][i];
    EXPECT_EQ(number_in(shown[0]), ours["phase"]);
    EXPECT_EQ(number_in(shown[1]), ours["bank"]);
    EXPECT_EQ(first_number(shown[2]), ours["lanes"].size());
    Json const& last = ours["lanes"].back();
    std::ostringstream lane;
    lane << last["lane"].get<int>() << ": 0x" << std::hex << last["address"].get<int>();
    EXPECT_TRUE(shown[3].get<std::string>().ends_with(lane.str())) << shown[3];
  }
  EXPECT_GT(opened["wide"], 100) << "the picture is seen";
  std::vector<std::string> const texts = opened["picture"];
  EXPECT_NE(std::find(texts.begin(), texts.end(), cost), texts.end()) << "and says the same";
  if (!line["sass"].is_null())
    EXPECT_NE(std::find(texts.begin(), texts.end(),
                        line["op"].get<std::string>() + ": " + line["sass"].get<std::string>()),
              texts.end());
}

/// A number as the page writes it: 1,048,576.
std::string grouped(Json const& number) {
  std::string text = number.dump();
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

/// Each fix in a box of its own: wavefronts before and after, the swizzle as C and as CuTe, the rows of a padding.
void expect_same_fixes(Json const& boxes, Json const& fixes) {
  ASSERT_EQ(boxes.size(), fixes.size());
  for (std::size_t i = 0; i < fixes.size(); ++i) {
    Json const& m = fixes[i];
    std::string const box = boxes[i];
    auto const shows = [&](std::string const& text) {
      EXPECT_NE(box.find(text), box.npos) << text << ": " << box;
    };
    std::string const before = grouped(m["before"]) + " → ";
    if (m["swizzle"].is_null() && m["padding"].is_null()) shows("Nothing helps");
    if (!m["swizzle"].is_null()) {
      shows(before + grouped(m["after"]) + " wavefronts");
      shows("Swizzle" + m["swizzle"].get<std::string>().substr(2) + " of byte addresses");
      std::string const c = m["c"];
      shows(c.substr(c.rfind('&')));
    }
    if (!m["padding"].is_null()) {
      shows(before + grouped(m["padding"]["after"]) + " wavefronts");
      shows(grouped(m["padding"]["memory"]) + " more byte");
    }
  }
}

void expect_trace_page_agrees(std::string const& trace, unsigned width) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  std::string const command = "explain " SWIZPROOF_TRACES "/" + trace;
  Json const report = report_of(command, "drive_trace.js", width);
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_EQ(report["width"], width);
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
  Json const ours = Json::parse(output_of(SWIZPROOF_BINARY " " + command + " --json; true"));
  for (auto const& [key, text] : report["sums"].items()) EXPECT_EQ(number_in(text), ours[key]) << key;
  std::uint64_t const all = ours["excess"];
  ASSERT_EQ(report["kernels"].size(), ours["kernels"].size());
  std::size_t row = 0, opened = 0;
  for (std::size_t k = 0; k < ours["kernels"].size(); ++k) {
    Json const& kernel = ours["kernels"][k];
    EXPECT_EQ(report["kernels"][k]["cells"][0], kernel["kernel"]);
    expect_same_sums(report["kernels"][k], 1, kernel, all);
    expect_same_fixes(report["fixes"][k], kernel["fixes"]);
    for (Json const& line : kernel["lines"]) {
      if (line["worst"].is_null()) continue;
      ASSERT_LT(row, report["lines"].size());
      Json const& shown = report["lines"][row++];
      EXPECT_EQ(shown["kernel"], k);
      EXPECT_EQ(std::stoull(shown["cells"][0].get<std::string>(), nullptr, 16), line["pc"]);
      EXPECT_EQ(shown["cells"][1], line["op"]);
      expect_same_sums(shown, 2, line, all);
      EXPECT_EQ(shown["cells"][8], line["sass"].is_null() ? "–" : line["sass"]);
      if (!line["file"].is_null())
        EXPECT_TRUE(shown["cells"][7].get<std::string>().ends_with(":" + line["line"].dump())) << shown;
      EXPECT_EQ(shown["opens"], line["excess"] > 0);
      if (line["excess"] > 0) expect_same_detail(report["opened"].at(opened++), line);
    }
  }
  EXPECT_EQ(row, report["lines"].size());
  EXPECT_EQ(opened, report["opened"].size());
  EXPECT_EQ(report["first"], opened > 0 ? 1 : 0) << "the most expensive line is open when the page opens";
  EXPECT_TRUE(report["closed"]);
  std::string const notes = report["notes"], dropped = report["dropped"];
  EXPECT_EQ(dropped.find(ours["dropped"].dump() + " execution") != std::string::npos, ours["dropped"] > 0)
      << dropped;
  EXPECT_EQ(notes.find("Not modelled: 128 executions of atom.shared.b32, 64 executions of wgmma") !=
                std::string::npos,
            trace == "gemm.jsonl")
      << notes;
  EXPECT_EQ(notes.find("Not traced: UTMALDG.2D, ") != std::string::npos, trace == "gemm.jsonl") << notes;
}

// -------------------------------------------------------------------- with the source of its kernels

/// The lines of a file.
std::vector<std::string> lines_of(std::filesystem::path const& path) {
  std::istringstream in(text_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The lines of a kernel's JSON, by line of source and then by pc.
using BySource = std::map<std::uint64_t, std::map<std::uint64_t, Json>>;

BySource by_source(Json const& kernel) {
  BySource all;
  for (Json const& line : kernel["lines"])
    if (!line["worst"].is_null()) all[line["line"]][line["pc"]] = line;
  return all;
}

Json sums_of(std::map<std::uint64_t, Json> const& lines) {
  Json sums{{"executed", 0}, {"wavefronts", 0}, {"ideal", 0}, {"excess", 0}};
  for (auto const& [pc, line] : lines)
    for (auto& [key, sum] : sums.items()) sum = sum.get<std::uint64_t>() + line[key].get<std::uint64_t>();
  return sums;
}

/// The listing has every line with a cost, with the sum of its instructions and those below it, and three lines around it.
void expect_same_listing(Json const& file, Json const& kernel, std::vector<std::string> const& text,
                         std::uint64_t all_excess) {
  BySource const ours = by_source(kernel);
  std::map<std::uint64_t, Json> below;  // of the line that was last seen
  std::set<std::uint64_t> shown;
  bool costly = false;
  std::size_t members = 0;  // of a run of equal instructions that are still to come
  for (Json const& row : file["rows"]) {
    SCOPED_TRACE(row.dump());
    if (row["kind"] == "gap") continue;
    if (row["kind"] == "like") {  // equal instructions: their sum above them
      auto const run = static_cast<std::size_t>(first_number(row["count"]));
      ASSERT_GT(run, 2U);
      ASSERT_LE(run, below.size());
      EXPECT_EQ(row["seen"], costly);
      std::map<std::uint64_t, Json> const alike(below.begin(), std::next(below.begin(), std::ptrdiff_t(run)));
      for (auto const& [pc, line] : alike) EXPECT_EQ(line["wavefronts"], alike.begin()->second["wavefronts"]);
      expect_same_sums(row, 0, sums_of(alike), all_excess);
      members = run;
      continue;
    }
    if (row["kind"] == "sass") {
      ASSERT_FALSE(below.empty());
      EXPECT_EQ(row["member"], members > 0);
      EXPECT_EQ(std::stoull(row["pc"].get<std::string>(), nullptr, 16), below.begin()->first)
          << "in the order of the program";
      expect_same_sums(row, 0, below.begin()->second, all_excess);
      if (members == 0) EXPECT_EQ(row["seen"], costly) << "those of a line without an excess are folded";
      members -= members > 0 ? 1 : 0;
      std::string const cell = row["cells"][6];
      EXPECT_TRUE(cell.ends_with(below.begin()->second["sass"].get<std::string>()));
      below.erase(below.begin());
      continue;
    }
    EXPECT_TRUE(below.empty()) << "an instruction is missing above";
    std::uint64_t const number = std::stoull(row["cells"][5].get<std::string>());
    EXPECT_TRUE(shown.insert(number).second);
    EXPECT_EQ(row["code"], text.at(number - 1));
    EXPECT_EQ(row["kind"] == "line", ours.contains(number));
    if (!ours.contains(number)) continue;
    below = ours.at(number);
    for (auto const& [pc, line] : below) EXPECT_EQ(line["source"], text.at(number - 1));
    expect_same_sums(row, 0, sums_of(below), all_excess);
    costly = sums_of(below)["excess"] > 0;
    EXPECT_EQ(row["costly"], costly);
  }
  EXPECT_TRUE(below.empty()) << "an instruction is missing at the end";
  for (auto const& [number, lines] : ours)
    for (std::uint64_t near = number - 3; near <= number + 3; ++near)
      EXPECT_TRUE(shown.contains(near)) << near;
}

void expect_source_page_agrees(std::string const& name, unsigned width) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  std::string const command =
      "explain " SWIZPROOF_GPU "/evidence/traces/" + name + ".trace --source " SWIZPROOF_GPU "/examples";
  Json const report = report_of(command, "drive_trace.js", width);
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
  Json const ours = Json::parse(output_of(SWIZPROOF_BINARY " " + command + " --json; true"));
  std::string const read = SWIZPROOF_GPU "/examples/" + name + ".cu";
  ASSERT_EQ(ours["sources"].size(), 1U);
  EXPECT_EQ(ours["sources"][0]["path"], read);
  EXPECT_TRUE(report["lines"].empty()) << "every instruction stands below its line of source";
  ASSERT_EQ(report["files"].size(), ours["kernels"].size());
  std::size_t opened = 0;
  for (std::size_t k = 0; k < ours["kernels"].size(); ++k) {
    Json const& file = report["files"][k];
    EXPECT_EQ(file["kernel"], k);
    EXPECT_EQ(file["name"], "gpu/examples/" + name + ".cu");
    EXPECT_NE(file["said"].get<std::string>().find("read from " + read), std::string::npos);
    expect_same_listing(file, ours["kernels"][k], lines_of(read), ours["excess"]);
    for (auto const& [number, lines] : by_source(ours["kernels"][k]))
      for (auto const& [pc, line] : lines)
        if (line["excess"] > 0) {
          Json const& seen = report["opened"].at(opened++);
          EXPECT_EQ(std::stoull(seen["at"].get<std::string>(), nullptr, 16), pc);
          expect_same_detail(seen, line);
        }
  }
  EXPECT_GT(opened, 0U);
  EXPECT_EQ(opened, report["opened"].size());
  EXPECT_EQ(report["first"], 1) << "the most expensive instruction is open when the page opens";
  EXPECT_TRUE(report["closed"]);
}

// ---------------------------------------------------------------------- the page of compiled kernels

/// Instructions, wavefronts, ideal and excess of a kernel's accesses; what has no bound counts as one instruction.
Json bounds_of(Json const& kernel) {
  Json sums{{"executed", 0}, {"wavefronts", 0}, {"ideal", 0}, {"excess", 0}};
  for (Json const& a : kernel["accesses"]) {
    sums["executed"] = sums["executed"].get<int>() + 1;
    for (char const* key : {"wavefronts", "ideal", "excess"})
      if (!a[key].is_null() && (a["executed"] || key != std::string("ideal")))
        sums[key] = sums[key].get<std::uint64_t>() + a[key].get<std::uint64_t>();
  }
  return sums;
}

void expect_kernel_page_agrees(std::string const& arguments, bool with_source, unsigned width) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  std::string const command =
      "kernel " + arguments + (with_source ? " --source " SWIZPROOF_GPU "/examples" : "");
  Json const report = report_of(command, "drive_trace.js", width);
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_EQ(report["width"], width);
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
  Json const ours = Json::parse(output_of(SWIZPROOF_BINARY " " + command + " --json; true"));
  ASSERT_EQ(report["kernels"].size(), ours["kernels"].size());
  std::uint64_t all = 0;
  for (Json const& kernel : ours["kernels"]) all += bounds_of(kernel)["excess"].get<std::uint64_t>();
  EXPECT_EQ(number_in(report["sums"]["excess"]), all);
  std::map<std::pair<std::size_t, std::uint64_t>, Json> opened;  // by kernel and line of the PTX
  for (Json const& detail : report["opened"])
    opened[{detail["kernel"], std::stoull(detail["at"].get<std::string>())}] = detail;
  std::map<std::pair<std::size_t, std::uint64_t>, Json> shown;  // without a listing
  for (Json const& row : report["lines"])
    if (!row["like"]) shown[{row["kernel"], std::stoull(row["cells"][0].get<std::string>())}] = row;
  EXPECT_EQ(report["files"].empty(), !with_source);
  for (std::size_t k = 0; k < ours["kernels"].size(); ++k) {
    Json const& kernel = ours["kernels"][k];
    SCOPED_TRACE(kernel["kernel"].dump());
    std::string name = kernel["kernel"], anonymous = "(anonymous namespace)::";  // which people do not read
    for (std::size_t at = 0; (at = name.find(anonymous)) != name.npos;) name.erase(at, anonymous.size());
    EXPECT_EQ(report["kernels"][k]["cells"][0], name);
    expect_same_sums(report["kernels"][k], 1, bounds_of(kernel), all);
    Json fixes = Json::array();
    for (Json const& array : kernel["fixes"])
      for (Json const& fix : array["fixes"]) fixes.push_back(fix);
    expect_same_fixes(report["fixes"][k], fixes);
    for (Json const& a : kernel["accesses"]) {
      SCOPED_TRACE(a["ptx_line"].dump());
      auto const at = std::pair(k, a["ptx_line"].get<std::uint64_t>());
      if (a["wavefronts"].is_null()) continue;
      EXPECT_EQ(opened.contains(at), a["excess"] > 0);
      if (!with_source) {
        ASSERT_TRUE(shown.contains(at));
        expect_same_sums(shown[at], 2,
                         {{"executed", 1},
                          {"wavefronts", a["wavefronts"]},
                          {"ideal", a["executed"] ? a["ideal"] : Json(0)},
                          {"excess", a["excess"]}},
                         all);
        EXPECT_TRUE(shown[at]["cells"][8].get<std::string>().starts_with(a["verdict"].get<std::string>()));
      }
      if (a["excess"] == 0) continue;
      std::string const text = opened[at]["text"];
      EXPECT_NE(text.find((a["reached"] ? "a warp takes " : "every warp takes at most ") +
                          a["wavefronts"].dump() + " wavefronts"),
                text.npos)
          << text;
      EXPECT_EQ(opened[at]["conflicts"].empty(), a["verdict"] != "refuted");
      EXPECT_EQ(opened[at]["picture"].is_null(), a["verdict"] != "refuted");
    }
  }
}

TEST(KernelPage, AgreesWithItsJson) {
  expect_kernel_page_agrees(SWIZPROOF_GPU "/examples/ptx/reduction.ptx --block 128", false, 1300);
}
TEST(KernelPage, ShowsTheKernelsOwnLines) {
  expect_kernel_page_agrees(SWIZPROOF_GPU "/examples/ptx/gemm_mma.ptx --block 128", true, 1300);
}
TEST(KernelPage, FitsATelephone) {
  expect_kernel_page_agrees(SWIZPROOF_GPU "/examples/ptx/transpose.ptx --block 32,8", true, 360);
}

TEST(TracePage, ShowsTheSourceWithWhatEachLineCosts) { expect_source_page_agrees("transpose", 1300); }
TEST(TracePage, ShowsTheSourceOnATelephone) { expect_source_page_agrees("gemm_mma", 360); }
TEST(TracePage, AgreesWithItsJson) { expect_trace_page_agrees("gemm.jsonl", 1300); }
TEST(TracePage, FitsATelephone) { expect_trace_page_agrees("transpose.jsonl", 360); }
TEST(TracePage, SaysThatNothingIsToBeSeen) { expect_trace_page_agrees("no_law.jsonl", 1200); }

}  // namespace
}  // namespace swizproof
