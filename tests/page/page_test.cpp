// The page that `swizproof show --html` writes, loaded in headless Chromium: its numbers are ours, for every access and
// swizzle, and it fits a telephone.
#include <swizproof/text/parse.hpp>
#include <swizproof/access/placement.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace swizproof {
namespace {

using Json = nlohmann::json;

std::string output_of(std::string const& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 1 << 16> block{};
  while (std::size_t const n = std::fread(block.data(), 1, block.size(), pipe)) text.append(block.data(), n);
  return pclose(pipe) == 0 ? text : std::string();
}

std::string text_of(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool has_chromium() {
  static bool const found = !output_of("chromium --version 2>/dev/null").empty();
  return found;
}

/// A page in a browser of that width, and what drive.js saw in it.
Json report_of(std::string const& arguments, unsigned width) {
  auto const folder = std::filesystem::temp_directory_path() /
                      ("swizproof_page_" + std::to_string(getpid()) + "_" + std::to_string(width));
  std::filesystem::create_directories(folder);
  auto const page = folder / "page.html";
  std::string const made =
      output_of(std::string(SWIZPROOF_BINARY) + " show " + arguments + " --html " + page.string());
  EXPECT_FALSE(made.empty()) << arguments;
  std::string text = text_of(page);
  EXPECT_LT(text.size(), 1U << 20) << "1 MiB";
  EXPECT_EQ(text.find("://"), std::string::npos) << "nothing is loaded from elsewhere";
  EXPECT_EQ(text.find("url("), std::string::npos) << "nothing is loaded from elsewhere";
  std::string const script = "<script>" + text_of(SWIZPROOF_DRIVE) + "</script>";
  text.insert(text.rfind("</body>"), script);
  std::ofstream(page, std::ios::binary) << text;
  // A frame of that width: windows of browsers have a least one. It says when the page is ready.
  auto const frame = folder / "frame.html";
  std::ofstream(frame)
      << "<iframe src='page.html' height='900' width='" << width
      << "' style='border:0'></iframe><pre></pre><script>"
      << "onload = () => { document.querySelector('pre').textContent = document.querySelector("
      << "'iframe').contentDocument.getElementById('report').textContent; };</script>";
  std::string const dom = output_of(
      "timeout 3600 chromium --headless=new --no-sandbox --disable-gpu --allow-file-access-from-files "
      "--window-size=1400,1000 --user-data-dir=" +
      (folder / "profile").string() + " --dump-dom 'file://" + frame.string() + "' 2>/dev/null");
  std::filesystem::remove_all(folder);
  pugi::xml_document seen;
  if (!seen.load_string(dom.c_str())) return {};
  std::string const report = seen.select_node("//pre").node().child_value();
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

Cost<std::uint32_t> cost_of(Placement const& placement, std::vector<std::uint64_t> const& values) {
  return cost(sm_90, placement.instruction(),
              placement.warp(std::span<std::uint64_t const>(values), std::uint64_t{}));
}

std::uint32_t worst_of(Placement const& placement) {
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < placement.assignments(); ++i) {
    std::vector<std::uint64_t> values;
    std::uint64_t rest = i;
    for (Variable const& v : placement.variables())
      values.push_back(v.value(rest % v.count)), rest /= v.count;
    most = std::max(most, cost_of(placement, values).wavefronts);
  }
  return most;
}

void expect_same_numbers(Json const& state, Mapping const& given) {
  SCOPED_TRACE(state.dump());
  Access const access = parse_access(state["access"].get<std::string>());
  Placement const placement(swizzled(given, state["swizzle"]), access);
  auto const values = values_of(state["origin"], placement);
  Cost<std::uint32_t> const ours = cost_of(placement, values);
  unsigned const ideal = ideal_wavefronts(sm_90, access.instruction);
  std::string degrees;
  for (unsigned g = 0; g < ours.phases.count; ++g)
    degrees += (g == 0 ? "" : " ") + std::to_string(ours.degree[g]);
  EXPECT_EQ(state["wavefronts"], std::to_string(ours.wavefronts));
  EXPECT_EQ(state["here"], std::to_string(ours.wavefronts));
  EXPECT_EQ(state["ideal"], std::to_string(ideal));
  EXPECT_EQ(state["excess"], std::to_string(ours.wavefronts > ideal ? ours.wavefronts - ideal : 0));
  EXPECT_EQ(state["degrees"], degrees);
  static std::map<std::string, std::uint32_t> known;
  auto const [entry, fresh] = known.try_emplace(given.text + "|" + state["access"].get<std::string>() + "|" +
                                                state["swizzle"].get<std::string>());
  if (fresh) entry->second = worst_of(placement);
  EXPECT_EQ(state["worst"], std::to_string(entry->second));
  // The bank strip shows the phase: its fullest bank is the phase's degree.
  unsigned const phase = state["phase"];
  std::uint32_t most = 0;
  for (Json const& words : state["banks"]) most = std::max(most, words.get<std::uint32_t>());
  EXPECT_EQ(most, ours.degree[phase]);
  EXPECT_EQ(state["banks"].size(), bank_count);
  EXPECT_GT(state["hits"], 0) << "a lane is marked in the tile";
  EXPECT_GT(state["inMemory"], 0) << "and in shared memory";
}

std::int64_t first_number(Json const& text) { return std::atoll(text.get<std::string>().c_str()); }

void expect_same_cell(Json const& cell, Mapping const& given) {
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
  EXPECT_EQ(first_number(facts.contains("banks") ? facts.at("banks") : facts.at("bank")), address / 4 % 32);
  // The lane that the cell names is a lane whose address that is.
  if (std::string const lane = facts.at("lane"); lane != "none") {
    Placement const placement(map, parse_access(cell["access"].get<std::string>()));
    auto const warp =
        placement.warp(std::span<std::uint64_t const>(values_of(cell["origin"], placement)), std::uint64_t{});
    EXPECT_TRUE(warp.active[static_cast<std::size_t>(first_number(lane))]);
    EXPECT_EQ(warp.address[static_cast<std::size_t>(first_number(lane))], address);
  }
}

void expect_page_agrees(std::string const& layout, std::string const& element, std::string const& access,
                        std::size_t least_states) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  std::string const options =
      (element.empty() ? "" : " --element " + element) + (access.empty() ? "" : " --access '" + access + "'");
  Json const report = report_of("'" + layout + "'" + options, 1300);
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
  MappingOptions mapping_options;
  if (!element.empty()) mapping_options.element_bits = parse_element(element);
  Mapping const map = parse_mapping(layout, mapping_options);
  EXPECT_GE(report["states"].size(), least_states);
  for (Json const& state : report["states"]) expect_same_numbers(state, map);
  EXPECT_GE(report["cells"].size(), 24U);
  for (Json const& cell : report["cells"]) expect_same_cell(cell, map);
  EXPECT_EQ(report["refused"], explain(SwizzleError::fields_overlap)) << "Sw<5,3,3> is not a swizzle";
}

constexpr auto gemm = "Sw<3,4,3> o smem_ptr[16b](unset) o (_128,_64):(_64,_1)";

TEST(Page, AgreesOnAGemmTileOfAllNamedAccesses) { expect_page_agrees(gemm, "", "", 37 * 6 * 2); }
TEST(Page, AgreesOnAnElementSwizzle) {
  expect_page_agrees("Sw<3,3,3> o _0 o (_32,_64):(_64,_1)", "f16",
                     "ld.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..7", 12);
}
TEST(Page, AgreesOnAPaddedTile) {
  // Lanes of cp.async at one word do conflict, and idle phases cost nothing (H7).
  expect_page_agrees("(32,32):(33,1)", "f32",
                     "cp.async.b64: row = 0, col = 2*(lane >> (1-i)) for i in 0..1 if lane < 16", 12);
}
TEST(Page, AgreesOnAColumnMajorTile) { expect_page_agrees("(64,32):(1,64)", "f16", "", 12); }
TEST(Page, AgreesOnInstructionsWithIdleLanes) {
  // Two of the four phases have no lane: each of them still takes its turn (H5).
  expect_page_agrees("(16,64):(64,1)", "f16",
                     "ld.shared.b128: row = lane%8, col = 8*i for i in 0..7 if lane % 16 < 8", 12);
}
TEST(Page, FitsATelephone) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  Json const report = report_of("'Sw<3,4,3> o smem_ptr[16b](unset) o (_32,_64):(_64,_1)'", 360);
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_EQ(report["width"], 360);
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
}

}  // namespace
}  // namespace swizproof
