// The descriptors that CUTLASS makes (descriptors.cpp, one line of JSON each) read exactly the tile that they are made of, by our
// formula of what a descriptor reads; and `swizproof descriptor` gives the same ones.
#include <swizproof/hardware/wgmma.hpp>
#include <swizproof/layout/map.hpp>
#include <swizproof/text/parse.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

namespace swizproof {
namespace {

using Json = nlohmann::json;

/// What a command prints, and its exit code.
std::pair<std::string, int> output_of(std::string const& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 1 << 16> block{};
  while (std::size_t const n = std::fread(block.data(), 1, block.size(), pipe)) text.append(block.data(), n);
  int const status = pclose(pipe);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

std::vector<Json> const& lines() {
  static std::vector<Json> const all = [] {
    std::vector<Json> read;
    std::istringstream text(output_of(SWIZPROOF_DESCRIPTORS).first);
    for (std::string line; std::getline(text, line);) read.push_back(Json::parse(line));
    return read;
  }();
  return all;
}

/// One line: the descriptor, and what it describes.
struct Made {
  explicit Made(Json const& line)
      : name(line["call"].get<std::string>() + " of " + line["atom"].get<std::string>() + ", " +
             line["element"].get<std::string>() + ", " + line["tile"].get<std::string>()),
        tile(line["tile"]),
        element(line["element"]),
        major(line["major"] == "k" ? Major::k : Major::mn),
        mn(line["mn"]),
        k(line["k"]),
        bits(std::stoull(line["descriptor"].get<std::string>(), nullptr, 16)),
        sm_100(line["call"] == "make_umma_desc"),
        base_32B(sm_100 && bits >> 61 == 1),
        bytes(element == "i8"    ? 1
              : element == "f16" ? 2
                                 : 4),
        fields(wgmma_descriptor(bits)) {
    static std::map<unsigned, WgmmaMode> const modes{{0, WgmmaMode::none},
                                                     {2, WgmmaMode::b128},
                                                     {4, WgmmaMode::b64},
                                                     {6, WgmmaMode::b32},
                                                     {1, WgmmaMode::b128}};
    if (sm_100) fields.mode = modes.at(static_cast<unsigned>(bits >> 61));
  }

  std::string name, tile, element;
  Major major;
  unsigned mn, k;
  std::uint64_t bits;
  bool sm_100, base_32B;
  unsigned bytes;
  WgmmaDescriptor fields;

  /// Where the instruction reads an element. The one mode that sm_90 has not, of 4 lines of 128 bytes, as PTX has it.
  [[nodiscard]] std::uint32_t read(WgmmaDescriptor const& d, std::uint32_t row, std::uint32_t column) const {
    if (!base_32B) return wgmma_address(d, major, bytes, row, column).bytes;
    std::uint32_t const t = 16 / bytes;
    std::uint32_t const offset = row % t * bytes + row / t % 8 * 16 + row / (8 * t) * d.leading_byte_offset +
                                 column % 4 * 128 + column / 4 * d.stride_byte_offset;
    return Swizzle{2, 5, 2}(offset);
  }
  /// Whether another value of a field would read another element somewhere.
  [[nodiscard]] bool reads(std::uint32_t WgmmaDescriptor::*field) const {
    WgmmaDescriptor other = fields;
    other.*field += 1 << 13;
    for (std::uint32_t row = 0; row < mn; ++row)
      for (std::uint32_t column = 0; column < k; ++column)
        if (read(fields, row, column) != read(other, row, column)) return true;
    return false;
  }
};

/// Where an element of the tile stands, in bytes.
std::uint32_t stored(Mapping const& map, unsigned row, unsigned column) {
  auto const rows = static_cast<std::uint64_t>(map.domain()->shape.mode(0).product());
  return static_cast<std::uint32_t>(value(map, Address<std::uint64_t>{0}, row + rows * column, Unit::bytes));
}

TEST(CutlassDescriptors, AreAsManyAsWereAsked) {
  std::map<std::string, int> count;
  for (Json const& line : lines())
    ++count[line["call"].get<std::string>() + " " + line["major"].get<std::string>()];
  EXPECT_EQ(count["make_gmma_desc k"], 96) << "4 layouts, 3 elements, and tiles in both orders";
  EXPECT_GT(count["make_gmma_desc mn"], 60);
  EXPECT_EQ(count["make_umma_desc k"], count["make_gmma_desc k"]);
  EXPECT_GT(count["make_umma_desc mn"], count["make_gmma_desc mn"]) << "one layout more";
}

TEST(CutlassDescriptors, ReadTheTileThatTheyAreMadeOf) {
  for (Json const& line : lines()) {
    Made const made(line);
    Mapping const map = parse_mapping(made.tile);
    for (unsigned row = 0; row < made.mn; ++row)
      for (unsigned column = 0; column < made.k; ++column)
        ASSERT_EQ(made.read(made.fields, row, column), stored(map, row, column))
            << made.name << ": row " << row << ", k " << column;
    EXPECT_EQ(line["base_offset"], 0) << made.name;
  }
}

TEST(CutlassDescriptors, AreThoseOfOurCommand) {
  auto const ask = [](Made const& made) {
    return output_of(SWIZPROOF_BINARY " descriptor '" + made.tile + "' --element " + made.element +
                     " --major " + (made.major == Major::k ? "k" : "mn") + " --extent " +
                     std::to_string(made.mn) + "," + std::to_string(made.k) +
                     (made.sm_100 ? " --for tcgen05" : "") + " --json 2>/dev/null");
  };
  if (output_of(SWIZPROOF_BINARY " descriptor --help >/dev/null 2>&1").second != 0)
    GTEST_SKIP() << "cutlass: not run (there is no command descriptor)";
  for (Json const& line : lines()) {
    Made const made(line);
    // sm_90 reads rows of N or M for 16-bit elements alone: what CUTLASS makes for others no instruction takes.
    if (!made.sm_100 && made.major == Major::mn && made.bytes != 2) continue;
    auto const [text, code] = ask(made);
    ASSERT_EQ(code, 0) << made.name << ": " << text;
    Json const ours = Json::parse(text);
    static std::map<WgmmaMode, std::string> const names{{WgmmaMode::none, "none"},
                                                        {WgmmaMode::b32, "32B"},
                                                        {WgmmaMode::b64, "64B"},
                                                        {WgmmaMode::b128, "128B"}};
    if (!made.base_32B) EXPECT_EQ(ours["mode"], names.at(made.fields.mode)) << made.name;
    EXPECT_EQ(ours["base_offset"], 0) << made.name;
    if (made.reads(&WgmmaDescriptor::stride_byte_offset))
      EXPECT_EQ(ours["stride_byte_offset"], made.fields.stride_byte_offset) << made.name;
    bool const read = made.reads(&WgmmaDescriptor::leading_byte_offset);
    if (read) EXPECT_EQ(ours["leading_byte_offset"], made.fields.leading_byte_offset) << made.name;
    if (ours.contains("leading_byte_offset_read"))
      EXPECT_EQ(ours["leading_byte_offset_read"], read) << made.name;
  }
}

}  // namespace
}  // namespace swizproof
