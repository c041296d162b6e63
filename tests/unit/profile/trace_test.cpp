// Traces are read whole or refused with their line: each number of one is compared with the others or against the cost model.
#include "profile/trace.hpp"

#include "campaign/digest.hpp"
#include "system/whole_file.hpp"
#include "trace/generic.hpp"

#include <swizproof/core/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace swizproof {
namespace {

using Json = nlohmann::ordered_json;

/// The addresses of 32 lanes.
Json lanes(std::function<Json(unsigned lane)> const& address) {
  Json all = Json::array();
  for (unsigned lane = 0; lane < warp_lanes; ++lane) all.push_back(address(lane));
  return all;
}

/// A line of a trace: an instruction of the kernel `transpose`.
Json line_of(unsigned pc, std::string const& op, unsigned executed, Json patterns) {
  return {{"kernel", "void transpose<32>(float*, float const*)"},
          {"launches", 2},
          {"grid", {32, 16, 1}},
          {"block", {32, 8, 1}},
          {"pc", pc},
          {"sass", nullptr},
          {"file", nullptr},
          {"line", nullptr},
          {"op", op},
          {"executed", executed},
          {"wavefronts", nullptr},
          {"ideal", nullptr},
          {"distribution", Json::object()},
          {"patterns", std::move(patterns)},
          {"not_kept", 0},
          {"worst", nullptr}};
}

Json pattern(unsigned executed, Json wavefronts, Json address) {
  return {{"executed", executed}, {"wavefronts", std::move(wavefronts)}, {"address", std::move(address)}};
}

/// A trace of four instructions, line by line: one with two patterns and a third that was not kept, one of each kind without a
/// law, and a merged one.
std::vector<Json> small() {
  Json head{{"format", "swizproof trace 1"},
            {"device", "NVIDIA H200"},
            {"architecture", "sm_90"},
            {"driver", "580.159"},
            {"toolkit", "13.0"},
            {"commit", "abc"},
            {"recorded", "2026-11-22T08:00:00Z"},
            {"program", {"./app", "--size", "1024"}}};
  Json const column = lanes([](unsigned lane) { return Json(1024 + 128 * lane); });
  Json const row = lanes([](unsigned lane) { return lane < 16 ? Json(1024 + 4 * lane) : Json(); });
  Json load =
      line_of(0x1a0, "ld.shared.b32", 100, Json::array({pattern(60, 32, column), pattern(30, 1, row)}));
  load["sass"] = "LDS R7, [R4+0x10]";
  load["file"] = "transpose.cu";
  load["line"] = 12;
  load["wavefronts"] = 60 * 32 + 10 * 2 + 30;
  load["ideal"] = 100;
  load["distribution"] = {{"1", 30}, {"2", 10}, {"32", 60}};
  load["not_kept"] = 10;
  load["worst"] = {{"wavefronts", 32}, {"address", column}};
  Json const matrices = lanes([](unsigned lane) { return lane < 8 ? Json(128 * lane) : Json(); });
  Json ldmatrix = line_of(0x1b0, "ldmatrix.x1", 3, Json::array({pattern(3, 8, matrices)}));
  ldmatrix["wavefronts"] = 24;
  ldmatrix["ideal"] = 3;
  ldmatrix["distribution"] = {{"8", 3}};
  ldmatrix["worst"] = {{"wavefronts", 8}, {"address", matrices}};
  Json const pairs = lanes([](unsigned lane) { return Json(16 * (lane / 2)); });
  Json merged = line_of(0x1c0, "ld.shared.b128", 4, Json::array({pattern(4, 2, pairs)}));
  merged["wavefronts"] = 8;
  merged["ideal"] = 16;
  merged["distribution"] = {{"2", 4}};
  merged["worst"] = {{"wavefronts", 2}, {"address", pairs}};
  Json const atomic =
      line_of(0x1d0, "atom.shared.b64", 5,
              Json::array({pattern(5, nullptr, lanes([](unsigned lane) { return Json(8 * (lane % 3)); }))}));
  Json wgmma = line_of(0x1e0, "wgmma", 7, Json::array());
  wgmma["not_kept"] = 7;
  return {head, load, ldmatrix, merged, atomic, wgmma, {{"lines", 6}, {"dropped", 0}}};
}

std::string text_of(std::vector<Json> const& lines) {
  std::string text;
  for (Json const& line : lines) text += line.dump() + "\n";
  return text;
}

/// Why a text is refused; empty if it is not.
std::string refused_trace(std::string const& text) {
  try {
    (void)read_trace("t.jsonl", text);
    return {};
  } catch (InputError const& error) {
    EXPECT_FALSE(error.hint.empty()) << error.message;
    return error.message;
  }
}

/// Why the small trace is refused after a change of one line, counted from 1.
std::string refusal_of(std::size_t line, std::function<void(Json&)> const& change) {
  std::vector<Json> lines = small();
  change(lines[line - 1]);
  return refused_trace(text_of(lines));
}

TEST(Trace, IsReadAsItStandsThere) {
  Trace const trace = read_trace("t.jsonl", text_of(small()));
  EXPECT_EQ(trace.name, "t.jsonl");
  EXPECT_EQ(trace.device, "NVIDIA H200");
  EXPECT_EQ(trace.driver, "580.159");
  EXPECT_EQ(trace.toolkit, "13.0");
  EXPECT_EQ(trace.recorded, "2026-11-22T08:00:00Z");
  EXPECT_EQ(trace.arch->name, "sm_90");
  EXPECT_EQ(trace.program, (std::vector<std::string>{"./app", "--size", "1024"}));
  EXPECT_EQ(trace.dropped, 0U);
  ASSERT_EQ(trace.instructions.size(), 5U);
  TracedInstruction const& load = trace.instructions[0];
  EXPECT_EQ(load.line, 2U);
  EXPECT_EQ(load.kernel, "void transpose<32>(float*, float const*)");
  EXPECT_EQ(load.launches, 2U);
  EXPECT_EQ(load.grid, (std::array{32U, 16U, 1U}));
  EXPECT_EQ(load.block, (std::array{32U, 8U, 1U}));
  EXPECT_EQ(load.pc, 0x1a0U);
  EXPECT_EQ(load.sass, "LDS R7, [R4+0x10]");
  EXPECT_EQ(load.file, "transpose.cu");
  EXPECT_EQ(load.source_line, 12U);
  EXPECT_EQ(load.op, "ld.shared.b32");
  EXPECT_EQ(load.instruction, Instruction{});
  EXPECT_EQ(load.executed, 100U);
  EXPECT_EQ(load.wavefronts, 1970U);
  EXPECT_EQ(load.ideal(sm_90), 100U);
  EXPECT_EQ(load.excess(sm_90), 1870U);
  EXPECT_EQ(load.distribution[2], 10U);
  ASSERT_EQ(load.patterns.size(), 2U);
  EXPECT_EQ(load.patterns[0].wavefronts, 32U);
  EXPECT_EQ(load.patterns[0].access.address[31], 1024U + 128 * 31);
  EXPECT_EQ(load.patterns[1].executed, 30U);
  EXPECT_TRUE(load.patterns[1].access.active[15]);
  EXPECT_FALSE(load.patterns[1].access.active[16]);
  EXPECT_EQ(load.not_kept, 10U);
  ASSERT_TRUE(load.worst);
  EXPECT_EQ(load.worst->address[1], 1152U);
  EXPECT_FALSE(trace.instructions[1].worst->active[8]) << "ldmatrix.x1 takes the addresses of eight lanes";
  EXPECT_TRUE(trace.instructions[1].sass.empty());
  EXPECT_EQ(trace.instructions[2].excess(sm_90), 0U) << "merged: below the ideal";
  EXPECT_FALSE(trace.instructions[3].instruction);
  EXPECT_EQ(trace.instructions[3].patterns.size(), 1U);
  EXPECT_EQ(trace.instructions[3].ideal(sm_90), 0U);
  EXPECT_EQ(trace.instructions[4].not_kept, 7U);
}

TEST(Trace, DearestPatternsComeFirstThenTheMostFrequent) {
  std::vector<Json> lines = small();
  Json& patterns = lines[1]["patterns"];
  patterns[1]["executed"] = 10;
  patterns.push_back(pattern(20, 1, lanes([](unsigned) { return Json(0); })));
  std::swap(patterns[0], patterns[1]);
  Trace const trace = read_trace("t", text_of(lines));
  std::vector<std::uint64_t> executed;
  for (TracedPattern const& p : trace.instructions[0].patterns) executed.push_back(p.executed);
  EXPECT_EQ(executed, (std::vector<std::uint64_t>{60, 20, 10}));
}

TEST(Trace, IsKnownByItsBeginning) {
  EXPECT_TRUE(is_trace(text_of(small())));
  EXPECT_TRUE(is_trace("{ \"format\" : \"swizproof trace 2\""));
  EXPECT_FALSE(is_trace("{\"format\": \"swizproof evidence 1\"}"));
  EXPECT_FALSE(is_trace(""));
  EXPECT_FALSE(is_trace(" x {\"format\": \"swizproof trace 1\""));
}

TEST(Trace, CutOffAnywhereIsRefusedWithItsLine) {
  std::string const text = text_of(small());
  EXPECT_EQ(refused_trace(text.substr(0, text.size() - 1)), "") << "only the last newline is missing";
  std::size_t line = 1;
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    std::string const why = refused_trace(text.substr(0, size));
    std::size_t const of = size > 0 && text[size - 1] == '\n' ? line - 1 : line;
    EXPECT_TRUE(why.starts_with("t.jsonl:" + std::to_string(of) + ": ")) << size << ": " << why;
    EXPECT_TRUE(why.find("cut off") != why.npos || (of == 1 && why.find("does not begin") != why.npos))
        << why;
    line += text[size] == '\n' ? 1 : 0;
  }
}

TEST(Trace, LinesAreCounted) {
  for (std::size_t gone = 1; gone + 1 < small().size(); ++gone) {
    std::vector<Json> lines = small();
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(gone));
    EXPECT_EQ(refused_trace(text_of(lines)),
              "t.jsonl:6: 'lines' is 6, but the number of lines above it is 5");
  }
  EXPECT_EQ(refused_trace(text_of(small()) + "{}\n"), "t.jsonl:8: text behind the end of the trace");
  EXPECT_EQ(refused_trace(text_of(small()) + "\n"), "t.jsonl:8: text behind the end of the trace");
  std::vector<Json> twice = small();
  twice.insert(twice.begin() + 1, twice[0]);
  EXPECT_EQ(refused_trace(text_of(twice)), "t.jsonl:2: 'the line' has no 'kernel'");
}

TEST(Trace, NoJsonIsRefusedWithItsPlace) {
  std::string text = text_of(small());
  text.insert(text.find("LDS") + 4, 1, '"');
  EXPECT_EQ(refused_trace(text).find("t.jsonl:2: no JSON from byte "), 0U) << refused_trace(text);
  EXPECT_EQ(refused_trace("pc,executed\n"), "t.jsonl:1: it does not begin as a trace does");
  EXPECT_EQ(refused_trace(""), "t.jsonl:1: it does not begin as a trace does");
}

TEST(Trace, KeysAreKnownAndStandOnce) {
  EXPECT_EQ(refusal_of(2, [](Json& j) { j["pcs"] = 1; }),
            "t.jsonl:2: 'the line' has 'pcs', which this program does not know");
  EXPECT_EQ(refusal_of(2, [](Json& j) { j["worst"]["x"] = 1; }),
            "t.jsonl:2: 'worst' has 'x', which this program does not know");
  EXPECT_EQ(refusal_of(2, [](Json& j) { j["patterns"][1]["x"] = 1; }),
            "t.jsonl:2: 'a pattern' has 'x', which this program does not know");
  std::string text = text_of(small());
  text.insert(text.find("\"pc\""), "\"pc\":1,");
  EXPECT_EQ(refused_trace(text), "t.jsonl:2: the key 'pc' appears twice");
}

TEST(Trace, ContradictionsAreRefusedByName) {
  struct Case {
    std::function<void(Json&)> change;
    std::string message;
  };
  for (Case const& c : std::vector<Case>{
           {[](Json& j) { j["executed"] = 101; }, "the sum of 'distribution' is 100, but 'executed' is 101"},
           {[](Json& j) { j["wavefronts"] = 1971; },
            "'wavefronts' is 1971, but the sum of 'distribution' is 1970"},
           {[](Json& j) { j["ideal"] = 99; }, "'ideal' is 99, but the least of so many executions is 100"},
           {[](Json& j) { j["wavefronts"] = nullptr; }, "an integer of its size is expected, not null"},
           {[](Json& j) {
              j["distribution"] = {{"1", 30}, {"02", 10}, {"32", 60}};
            },
            "'distribution' has the key '02', not 1 to 32"},
           {[](Json& j) {
              j["distribution"] = {{"33", 100}};
            },
            "'distribution' has the key '33', not 1 to 32"},
           {[](Json& j) { j["distribution"]["3"] = 0; }, "a number of 'distribution' is 0"},
           {[](Json& j) { j["distribution"]["3"] = 1ULL << 63; },
            "a number of 'distribution' is larger than 'executed'"},
           {[](Json& j) {
              j["distribution"] = {{"1", 29}, {"2", 11}, {"32", 60}};
              j["wavefronts"] = 1971;
            },
            "'distribution' has 29 executions of 1 wavefront, but the patterns have 30"},
           {[](Json& j) { j["patterns"][0]["wavefronts"] = 31; },
            "'wavefronts' is 31, but what the cost model says of these addresses is 32"},
           {[](Json& j) { j["patterns"][0]["executed"] = 71; },
            "the patterns were executed more often than the instruction"},
           {[](Json& j) { j["patterns"][0]["executed"] = 0; }, "'executed' of a pattern is 0"},
           {[](Json& j) {
              j["patterns"].push_back(j["patterns"][1]);
              j["patterns"][2]["executed"] = 1;
            },
            "a pattern appears twice"},
           {[](Json& j) { j["not_kept"] = 9; }, "'not_kept' is 9, but 'executed' without its patterns is 10"},
           {[](Json& j) { j["worst"] = nullptr; }, "'worst' is no object"},
           {[](Json& j) { j["worst"] = j["patterns"][1], j["worst"].erase("executed"); },
            "'wavefronts' of the worst is 1, but the most of 'distribution' is 32"},
           {[](Json& j) { j["worst"]["address"][0] = 1028; },
            "'wavefronts' of the worst is 32, but what the cost model says of these addresses is 31"},
           {[](Json& j) { j["patterns"][0]["address"].erase(31); }, "'address' has not 32 lanes"},
           {[](Json& j) { j["patterns"][0]["address"][3] = 1026; },
            "lane 3: address 1026 is not a multiple of 4 bytes"},
           {[](Json& j) { j["patterns"][0]["address"][3] = 1 << 18; },
            "lane 3: address 262144 lies beyond the shared memory of a block"},
           {[](Json& j) { j["patterns"][0]["address"] = lanes([](unsigned) { return Json(); }); },
            "'address' has no lane that takes part"},
           {[](Json& j) { j["op"] = "wgmma"; },
            "the sum of 'distribution' is 100, but what has no cost model is 0"},
           {[](Json& j) { j["op"] = "LDS"; }, "'op' is no name such as ld.shared.b32"},
           {[](Json& j) { j["pc"] = 0x1a8; }, "'pc' is not a multiple of 16 bytes"},
           {[](Json& j) { j["pc"] = -16; }, "an integer of its size is expected, not number"},
           {[](Json& j) { j["launches"] = 0; }, "'launches' is 0"},
           {[](Json& j) { j["grid"][2] = 0; }, "a number of 'grid' is 0"},
           {[](Json& j) { j["block"].erase(2); }, "'block' is no list of three numbers"},
           {[](Json& j) { j["line"] = nullptr; }, "'file' and 'line' must both be there, or both be null"},
           {[](Json& j) { j["line"] = 0; }, "'line' is 0"},
           {[](Json& j) { j["sass"] = ""; }, "'sass' is no text"},
           {[](Json& j) { j["kernel"] = nullptr; }, "'kernel' is no text"},
           {[](Json& j) { j["executed"] = 1e2; }, "an integer of its size is expected, not number"},
           {[](Json& j) { j["executed"] = 1ULL << 57; }, "'executed' is more than 2^56"},
           {[](Json& j) { j = Json::array(); }, "'the line' is no object"}})
    EXPECT_EQ(refusal_of(2, c.change), "t.jsonl:2: " + c.message);
}

TEST(Trace, OtherLinesAreRefusedByNameToo) {
  EXPECT_EQ(refusal_of(3, [](Json& j) { j["patterns"][0]["address"][7] = nullptr; }),
            "t.jsonl:3: lane 7 has no address, and ldmatrix.x1 needs those of lanes 0 to 7");
  EXPECT_EQ(refusal_of(3, [](Json& j) { j["patterns"][0]["address"][8] = 5; }), "") << "it is not used";
  EXPECT_EQ(refusal_of(3,
                       [](Json& j) {
                         Json other = j["patterns"][0];
                         other["address"][8] = 5;
                         other["executed"] = 1;
                         j["patterns"][0]["executed"] = 2;
                         j["patterns"].push_back(other);
                       }),
            "")
      << "two to the tracer";
  EXPECT_EQ(refusal_of(4,
                       [](Json& j) {
                         for (Json& address : j["worst"]["address"]) address = address.get<int>() + 16;
                       }),
            "t.jsonl:4: 'worst' is none of the patterns, but all of them were kept");
  EXPECT_EQ(refusal_of(5, [](Json& j) { j["patterns"][0]["wavefronts"] = 1; }),
            "t.jsonl:5: 'wavefronts' is not null, but there is no cost model of atom.shared.b64");
  EXPECT_EQ(refusal_of(5, [](Json& j) { j["worst"] = j["patterns"][0]; }),
            "t.jsonl:5: 'worst' is not null, but there is no cost model of atom.shared.b64");
  EXPECT_EQ(refusal_of(5, [](Json& j) { j["op"] = "st.async"; }),
            "t.jsonl:5: 'patterns' has some, but no width of st.async is known");
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["format"] = "swizproof trace 2"; }),
            "t.jsonl:1: the format is not 'swizproof trace 1'");
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["architecture"] = "sm_60"; }),
            "t.jsonl:1: unknown architecture 'sm_60'");
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["architecture"] = "../card.json"; }),
            "t.jsonl:1: 'architecture' is no name such as sm_90");
  EXPECT_NE(refusal_of(1, [](Json& j) { j["architecture"] = "sm_70"; }).find("sm_70 has no "),
            std::string::npos);
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["recorded"] = "yesterday"; }),
            "t.jsonl:1: 'recorded' is no time such as 2026-11-22T08:00:00Z");
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["program"] = {1}; }), "t.jsonl:1: 'program' is no list of words");
  EXPECT_EQ(refusal_of(7, [](Json& j) { j["dropped"] = -1; }),
            "t.jsonl:7: an integer of its size is expected, not number");
}

TEST(Trace, SumsOfMoreThanAnIntegerHoldsAreRefused) {
  std::vector<Json> lines = small();
  for (std::size_t at : {5, 4}) lines[at]["executed"] = std::uint64_t{1} << 56;
  lines[5]["not_kept"] = std::uint64_t{1} << 56;
  lines[4]["not_kept"] = (std::uint64_t{1} << 56) - 5;
  EXPECT_EQ(refused_trace(text_of(lines)), "t.jsonl:5: more than 2^56 executions in all");
}

/// The small trace as the tracer ends it.
std::string with_digest(std::vector<std::string> const& failures = {}) {
  std::vector<Json> lines = small();
  lines.back()["failures"] = failures;
  std::string text = text_of(lines);
  text.erase(text.size() - 2);  // the brace and the newline
  trace::Digest digest;
  digest.add(text);
  return text + std::string(trace::before_digest) + digest.text() + "\"}\n";
}

TEST(Trace, WhatWasChangedIsToldByItsDigest) {
  trace::Digest digest;
  EXPECT_EQ(digest.text(), "cbf29ce484222325");
  digest.add("foo");
  digest.add("bar");
  EXPECT_EQ(digest.text(), "85944171f73967e8");  // of "foobar", in the draft
  std::string const text = with_digest();
  EXPECT_EQ(refused_trace(text), "");
  std::string other = text;
  other.replace(other.find("transpose.cu"), 12, "transport.cu");
  EXPECT_TRUE(refused_trace(other).starts_with("t.jsonl:7: the digest is \"")) << refused_trace(other);
  for (std::size_t at = 0; at < text.size(); ++at) {
    other = text;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_NE(refused_trace(other), "") << at << ": " << text.substr(at, 20);
  }
}

// H16: two functions of one name may have two equal lines; without a digest it may be one line twice.
TEST(Trace, ALineThatIsThereTwiceNeedsADigest) {
  std::vector<Json> lines = small();
  lines.insert(lines.begin() + 2, lines[1]);
  lines.back()["lines"] = lines.size() - 1;
  std::string text;
  for (Json const& line : lines) text += line.dump() + "\n";
  try {
    (void)read_trace("t", text);
    ADD_FAILURE() << "it was read";
  } catch (InputError const& error) {
    EXPECT_NE(error.message.find("line 3 is there twice"), std::string::npos) << error.message;
  }
}

TEST(Trace, FailuresOfTheTracerAreRead) {
  EXPECT_TRUE(read_trace("t", with_digest()).failures.empty());
  std::vector<std::string> const failures{"2 sanitizerPatchModule: not supported"};
  EXPECT_EQ(read_trace("t", with_digest(failures)).failures, failures);
  EXPECT_EQ(refusal_of(7, [](Json& j) { j["failures"] = 2; }), "t.jsonl:7: 'failures' is no list of texts");
  EXPECT_EQ(refusal_of(7, [](Json& j) { j["failures"] = {2}; }), "t.jsonl:7: 'failures' is no list of texts");
  EXPECT_NE(refusal_of(7, [](Json& j) { j["digest"] = 2; }).find("t.jsonl:7: the digest is 2, but "),
            std::string::npos);
}

TEST(Trace, WhatTheSanitizerDoesNotReportIsNamed) {
  std::string const kernel = "void transpose<32>(float*, float const*)";
  std::vector<Json> lines = small();
  lines.back()["unseen"][kernel] = {"UTMALDG.2D", "UTMASTG.2D"};
  EXPECT_EQ(read_trace("t", text_of(lines)).unseen.at(kernel),
            (std::vector<std::string>{"UTMALDG.2D", "UTMASTG.2D"}));
  EXPECT_TRUE(read_trace("t", text_of(small())).unseen.empty());
  EXPECT_EQ(refusal_of(7, [](Json& j) { j["unseen"]["k"] = {"UTMALDG"}; }),
            "t.jsonl:7: 'unseen' names 'k', but no line is of this kernel");
  EXPECT_EQ(refusal_of(7, [&](Json& j) { j["unseen"][kernel] = {1}; }),
            "t.jsonl:7: 'unseen' is no list of texts");
  EXPECT_EQ(refusal_of(7, [](Json& j) { j["unseen"] = 1; }), "t.jsonl:7: 'unseen' is no object");
}

TEST(Trace, AMachineMayNotKnowItsDriverNorASourceItsCommit) {
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["driver"] = j["commit"] = ""; }), "");
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["driver"] = nullptr; }), "t.jsonl:1: 'driver' is no text");
  EXPECT_EQ(refusal_of(1, [](Json& j) { j["device"] = ""; }), "t.jsonl:1: 'device' is no text");
}

/// The places of all numbers of a document.
void numbers_of(Json const& json, Json::json_pointer const& at, std::vector<Json::json_pointer>& out) {
  if (json.is_number()) out.push_back(at);
  for (std::size_t i = 0; json.is_array() && i < json.size(); ++i) numbers_of(json[i], at / i, out);
  if (json.is_object())
    for (auto const& [key, value] : json.items()) numbers_of(value, at / key, out);
}

/// Parts of the small trace that can be another number, or missing, and are then read as given.
std::set<std::string> believed() {
  std::set<std::string> out;
  std::vector<Json> const lines = small();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::vector<Json::json_pointer> all;
    numbers_of(lines[line], Json::json_pointer(), all);
    for (Json::json_pointer const& at : all) {
      std::vector<Json> other = lines;
      other[line][at] = lines[line][at].get<int>() + 1;
      std::string const name = at.to_string().substr(0, at.to_string().find('/', 1));
      if (refused_trace(text_of(other)).empty()) out.insert(name + " of line " + std::to_string(line + 1));
      std::vector<Json> less = lines;
      Json& from = less[line][at.parent_pointer()];
      if (from.is_object())
        from.erase(at.back());
      else
        from.erase(std::stoul(at.back()));
      EXPECT_FALSE(refused_trace(text_of(less)).empty()) << line + 1 << at.to_string() << " may be missing";
    }
  }
  return out;
}

TEST(Trace, EveryNumberIsHeldAgainstAnother) {
  std::set<std::string> expected{"/dropped of line 7", "/line of line 2"};
  for (int line = 2; line <= 6; ++line)
    for (std::string const name : {"/launches", "/grid", "/block"})
      expected.insert(name + " of line " + std::to_string(line));
  EXPECT_EQ(believed(), expected) << "what a launch was, and what is nowhere else";
}

TEST(Trace, EveryKeyIsNeeded) {
  std::vector<Json> const lines = small();
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (auto const& [key, value] : lines[line].items())
      EXPECT_NE(refusal_of(line + 1, [&key = key](Json& j) { j.erase(key); }), "") << line + 1 << ": " << key;
}

/// A cubin with one section of code of these instructions, whose lowest bytes are given.
std::string cubin_of(std::vector<std::uint16_t> const& instructions) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shoff = sizeof header;
  Elf64_Shdr data{}, code{};
  data.sh_type = code.sh_type = SHT_PROGBITS;
  code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  data.sh_offset = code.sh_offset = sizeof header + 2 * sizeof code;
  data.sh_size = code.sh_size = 16 * instructions.size();
  std::string text;
  auto const add = [&](auto const& part) { text.append(reinterpret_cast<char const*>(&part), sizeof part); };
  add(header);
  add(data);
  add(code);
  for (std::uint16_t const low : instructions) {
    add(low);
    text.append(14, '\x7f');
  }
  return text;
}

TEST(Trace, GenericAccessesAreFoundInTheCode) {
  using trace::has_generic_accesses;
  // Words as nvdisasm -hex prints them: LDG, STG, LDS, STS, ATOMG, REDG, ATOMS under predicates 7 and 0.
  std::vector<std::uint16_t> const others = {0x7981, 0x7986, 0x7984, 0x7388, 0x79a8, 0x798e, 0x738d, 0x0981};
  EXPECT_FALSE(has_generic_accesses(cubin_of(others)));
  for (std::uint16_t const generic : {0x7980, 0x7985, 0x798a, 0x738b, 0x79a2, 0x0980, 0x8985}) {
    std::vector<std::uint16_t> with = others;
    with.push_back(generic);
    EXPECT_TRUE(has_generic_accesses(cubin_of(with))) << std::hex << generic;
  }
  std::string const whole = cubin_of(others);
  EXPECT_TRUE(has_generic_accesses(whole.substr(0, whole.size() - 1))) << "cut off: unknown";
  EXPECT_TRUE(has_generic_accesses("no ELF"));
}

// The page on folklore says what CUTLASS's example 50 executes. [W7 of the third review: it said 16-byte loads]
TEST(Trace, OfExample50IsAsThePageSays) {
  std::string const path = SWIZPROOF_EVIDENCE "/traces/cutlass_50.trace";
  Trace const trace = read_trace(path, read_file(path));
  std::size_t loads = 0, stores = 0;
  std::uint64_t all = 0, of_stores = 0, ideal = 0;
  for (TracedInstruction const& i : trace.instructions) {
    if (!i.instruction) continue;
    all += i.wavefronts, ideal += i.ideal(*trace.arch);
    if (i.op == "st.shared.b32") {
      ++stores, of_stores += i.wavefronts;
      EXPECT_EQ(i.excess(*trace.arch), 0U);
      continue;
    }
    ++loads;
    EXPECT_EQ(i.op, "ld.shared.b32");
    EXPECT_EQ(i.sass.rfind("LD.E R", 0), 0U) << i.sass;
    EXPECT_EQ(i.distribution[4], i.executed);
  }
  std::string page = read_file(SWIZPROOF_EVIDENCE "/../../docs/folklore.md");
  std::replace(page.begin(), page.end(), '\n', ' ');
  auto const with_comma = [](std::uint64_t n) { return fmt::format("{},{:03}", n / 1000, n % 1000); };
  for (std::string const& sentence :
       {fmt::format("{} instructions `LD.E` of 4 bytes take 4 wavefronts each, ideal 1, and {} stores have "
                    "no conflict",
                    loads, stores),
        fmt::format("Nsight Compute counts {} wavefronts, ideal {}; {} of them are stores", with_comma(all),
                    with_comma(ideal), with_comma(of_stores))})
    EXPECT_NE(page.find(sentence), std::string::npos) << sentence;
}

}  // namespace
}  // namespace swizproof
