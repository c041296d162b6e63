// Tables that a user has learned: read as they stand, and what is wrong is named.
#include <swizproof/hardware/certainty.hpp>
#include <swizproof/parse/obligations.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace swizproof {
namespace {

using Json = nlohmann::json;

Json row(unsigned lanes, unsigned merged, std::vector<unsigned> const& partners, bool copies = false) {
  return {{"lanes", lanes},
          {"merged_lanes", merged},
          {"partners", partners},
          {"equal_words", copies ? "each lane" : "once"},
          {"idle_phases", copies ? "free" : "paid"}};
}

/// The table of sm_90, as swizproof-gpu learn writes it.
Json table() {
  Json json{{"format", "swizproof architecture 1"},
            {"name", "sm_90"},
            {"device", "NVIDIA H200"},
            {"date", "2026-11-22"},
            {"outcome", "table"},
            {"banks", 32},
            {"bank_bytes", 4},
            {"most_shared_bytes", 232448},
            {"patterns", 100000000},
            {"mismatches", 0},
            {"experiments", Json::array()}};
  json["instructions"] = {{"ld.shared.b32", row(32, 0, {})},
                          {"ld.shared.b64", row(16, 32, {1, 2})},
                          {"ld.shared.b128", row(8, 16, {1, 2})},
                          {"st.shared.b32", row(32, 0, {})},
                          {"st.shared.b64", row(16, 0, {})},
                          {"st.shared.b128", row(8, 0, {})},
                          {"ldmatrix", row(8, 0, {})},
                          {"stmatrix", row(8, 0, {})},
                          {"cp.async.b32", row(32, 0, {}, true)},
                          {"cp.async.b64", row(16, 0, {}, true)},
                          {"cp.async.b128", row(8, 0, {}, true)}};
  return json;
}

TEST(LearnedTable, IsTheTableThatItSays) {
  Architecture const& arch = read_architecture(table().dump(), "card.json");
  EXPECT_TRUE(same_law(arch, sm_90));
  EXPECT_EQ(arch.name, "card.json");
  EXPECT_EQ(arch.capability, 90U);
  EXPECT_EQ(certainty(arch),
            "card.json: sm_90, measured by you on NVIDIA H200, 2026-11-22; 100,000,000 access patterns, no "
            "mismatch");
  Json wide = table();
  wide["banks"] = 64;
  wide["instructions"]["st.shared.b64"]["order"] = [] {
    std::vector<unsigned> order;
    for (unsigned l = 0; l < 32; ++l) order.push_back(l % 16 * 2 + l / 16);
    return order;
  }();
  wide["instructions"].erase("stmatrix");
  Architecture const& other = read_architecture(wide.dump(), "wide.json");
  EXPECT_EQ(other.banks, (Banks{64, 4}));
  EXPECT_FALSE(same_law(other, sm_90));
  EXPECT_FALSE(has(other, {Operation::stmatrix, 16, 4}));
  EXPECT_THROW(require(other, {Operation::stmatrix, 16, 4}), InputError);
  WarpAccess<std::uint32_t> warp{};
  for (std::uint32_t l = 0; l < 32; ++l) warp.address[l] = l % 2 * 512 + l / 2 * 8, warp.active[l] = true;
  Instruction const store{Operation::st_shared, 8};
  EXPECT_EQ(cost(other, store, warp).wavefronts, 2U) << "even lanes, then odd ones";
  EXPECT_EQ(cost(sm_90, store, warp).wavefronts, 4U);
  EXPECT_EQ(cost(other, store, warp).phases.lane(16), 1U);
}

TEST(LearnedTable, IsFoundBesideTheObligationsThatNameIt) {
  std::filesystem::path const folder = std::filesystem::path(testing::TempDir()) / "learned_table";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "card.json") << table();
  std::ofstream(folder / "a.toml")
      << "[[obligation]]\nname = \"a\"\nlayout = \"(8,64):(64,1)\"\nelement = \"f16\"\n"
         "access = [\"ldmatrix.x1\"]\narch = \"card.json\"\n";
  auto const all = read_obligations((folder / "a.toml").string());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].arch->name, "card.json");
  EXPECT_EQ(&parse_architecture((folder / "card.json").string()),
            &parse_architecture((folder / "card.json").string()));
  EXPECT_THROW((void)parse_architecture("card.json", "/nonexistent"), InputError);
}

std::string refusal_of_text(std::string const& text) {
  try {
    (void)read_architecture(text, "t");
    return "accepted";
  } catch (InputError const& error) {
    return error.message;
  }
}
std::string refusal_of(Json const& json) { return refusal_of_text(json.dump()); }

TEST(LearnedFile, NamesTheFieldThatIsWrong) {
  Json const good = table();
  EXPECT_EQ(refusal_of(good), "accepted");
  auto const with = [&](std::string const& pointer, Json const& value) {
    Json json = good;
    json[Json::json_pointer(pointer)] = value;
    return refusal_of(json);
  };
  auto const without = [&](std::string const& pointer) {
    Json json = good;
    Json::json_pointer const at(pointer);
    json[at.parent_pointer()].erase(at.back());
    return refusal_of(json);
  };
  EXPECT_EQ(with("/format", "swizproof evidence 1"),
            "t: 'format' is not \"swizproof architecture 1\": swizproof-gpu learn writes such files");
  EXPECT_EQ(with("/name", "gfx942"), "t: 'name' is 'gfx942', no architecture such as sm_89");
  EXPECT_EQ(with("/name", "sm_900"), "t: 'name' is 'sm_900', no architecture such as sm_89");
  EXPECT_EQ(with("/name", "sm"), "t: 'name' is 'sm', no architecture such as sm_89");
  EXPECT_EQ(with("/device", 3), "t: 'device' is no text");
  EXPECT_EQ(with("/device", "a\x1b[2J"), "t: 'device' has control characters");
  EXPECT_EQ(with("/device", "a\u009b2J"), "t: 'device' has control characters");
  EXPECT_EQ(with("/device", "Gerät 1"), "accepted");
  EXPECT_EQ(with("/date", "yesterday"), "t: 'date' is 'yesterday', no day such as 2026-11-22");
  EXPECT_EQ(with("/banks", 33), "t: 'banks' is 33, no power of two");
  EXPECT_EQ(with("/banks", 128), "t: 'banks' is no whole number from 1 to 64");
  EXPECT_EQ(with("/banks", -32), "t: 'banks' is no whole number from 1 to 64");
  EXPECT_EQ(with("/bank_bytes", 0), "t: 'bank_bytes' is no whole number from 1 to 32");
  EXPECT_EQ(with("/banks", 2),
            "t: 'banks' times 'bank_bytes' is less than 16 bytes, one lane's widest access");
  EXPECT_EQ(with("/outcome", "unclear"),
            "t: the table does not explain what was measured: 'outcome' is 'unclear'");
  EXPECT_EQ(with("/mismatches", 1), "t: the table does not explain what was measured: 'mismatches' is 1");
  EXPECT_EQ(with("/patterns", 0), "t: 'patterns' is no whole number from 1 to 4611686018427387904");
  EXPECT_EQ(without("/patterns"), "t: 'patterns' is missing");
  EXPECT_EQ(with("/instructions", Json::object()),
            "t: 'instructions' is no JSON object with an entry for each instruction");
  EXPECT_EQ(without("/instructions/st.shared.b64"), "t: 'instructions' has no st.shared.b64");
  EXPECT_EQ(without("/instructions/cp.async.b32"), "t: 'instructions' has no cp.async.b32");
  EXPECT_NE(
      with("/instructions/ld.shared.b129", 1).find("t: 'instructions' has 'ld.shared.b129'; did you mean"),
      std::string::npos);
  std::string const row = "/instructions/ld.shared.b64/";
  EXPECT_EQ(with(row + "lanes", 0), "t: 'lanes' of ld.shared.b64 is no whole number from 4 to 32");
  EXPECT_EQ(with(row + "lanes", 12), "t: 'lanes' of ld.shared.b64 is 12, no power of two");
  EXPECT_EQ(with(row + "merged_lanes", 16), "t: 'merged_lanes' of ld.shared.b64 is not more than 'lanes'");
  EXPECT_EQ(
      with(row + "merged_lanes", 0),
      "t: 'partners' of ld.shared.b64 must name some where 'merged_lanes' is not 0, and none where it is");
  EXPECT_EQ(with(row + "partners", {3}), "t: 'partners' of ld.shared.b64 has 3, none of 1, 2, 4, 8, 16");
  EXPECT_EQ(with(row + "partners", {32}), "t: 'partners' of ld.shared.b64 has 32, none of 1, 2, 4, 8, 16");
  EXPECT_EQ(with(row + "equal_words", "merge"),
            "t: 'equal_words' of ld.shared.b64 is 'merge', neither \"once\" nor \"each lane\"");
  EXPECT_EQ(with(row + "idle_phases", true), "t: 'idle_phases' of ld.shared.b64 is no text");
  EXPECT_EQ(with(row + "order", {1, 2}), "t: 'order' of ld.shared.b64 is no list of the 32 lanes, each once");
  EXPECT_EQ(with(row + "order", Json(std::vector<int>(32, 0))),
            "t: 'order' of ld.shared.b64 is no list of the 32 lanes, each once");
  EXPECT_NE(with(row + "oder", {1}).find("t: 'oder' of ld.shared.b64 is no field; did you mean order?"),
            std::string::npos);
  EXPECT_EQ(without(row + "idle_phases"), "t: 'idle_phases' of ld.shared.b64 is missing");
  EXPECT_EQ(with(row + "partners", Json::parse("[[1]]")),
            "t: 'partners' of ld.shared.b64 has array, none of 1, 2, 4, 8, 16");
  std::string deep = table().dump();  // a million brackets where a word should stand
  deep.replace(deep.find("\"table\""), 7, std::string(1000000, '[') + std::string(1000000, ']'));
  EXPECT_EQ(refusal_of_text(deep), "t: nested more than 16 deep");
  EXPECT_EQ(refusal_of_text("{"), "t: no JSON from byte 2 of line 1 on");
  EXPECT_EQ(refusal_of_text(""), "t: no JSON from byte 1 of line 1 on");
  EXPECT_EQ(refusal_of_text("{\n  \"format\": maybe}"), "t: no JSON from byte 13 of line 2 on");
  EXPECT_EQ(refusal_of_text("{\"banks\": 1e400}"), "t: a number that no JSON reader holds");
  EXPECT_EQ(refusal_of_text("[]"), "t: is no JSON object");
  EXPECT_EQ(refusal_of_text("{\"banks\": 32, \"a\": {\"banks\": 1}, \"banks\": 64}"),
            "t: the key 'banks' appears twice");
  EXPECT_EQ(with("/date", "2026-02-30"), "t: 'date' is '2026-02-30', no day such as 2026-11-22");
  std::string const long_name = "\x1b[2J\n" + std::string(1000, 'x');
  std::string const shown = "'?[2J?" + std::string(35, 'x') + "...'";
  EXPECT_TRUE(
      with("/instructions/" + long_name, 1).starts_with("t: 'instructions' has " + shown + "; known: "));
  EXPECT_TRUE(with(row + long_name, 1).starts_with("t: " + shown + " of ld.shared.b64 is no field; known: "));
}

}  // namespace
}  // namespace swizproof
