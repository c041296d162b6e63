// The fields of a descriptor, and what is read through it, against the tables of the manual as CUTLASS writes them.
#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/layout/layout.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace swizproof {
namespace {

constexpr OperandReader readers[] = {OperandReader::wgmma, OperandReader::tcgen05};

std::size_t mode_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(operand_modes); ++i)
    if (operand_modes[i].name == name) return i;
  ADD_FAILURE() << name;
  return 0;
}

TEST(MatrixDescriptor, PutsEachFieldWhereTheManualsSay) {
  for (OperandReader const reader : readers) {
    auto const bits = [&](MatrixDescriptor d) {
      d.reader = reader;
      return d.bits();
    };
    std::uint64_t const fixed = reader == OperandReader::tcgen05 ? std::uint64_t{1} << 46 : 0;
    EXPECT_EQ(bits({{}, 0, 0x3FFF0}), fixed | 0x3FFF);
    EXPECT_EQ(bits({{}, 0, 0, 0x3FFF0}), fixed | 0x3FFFULL << 16);
    EXPECT_EQ(bits({{}, 0, 0, 0, 0x3FFF0}), fixed | 0x3FFFULL << 32);
    EXPECT_EQ(bits({{}, 0, 0, 0, 0, 7}), fixed | 7ULL << 49);
  }
}

TEST(MatrixDescriptor, HasTheNumbersOfTheModes) {
  std::map<std::string_view, std::uint64_t> const sm_90{{"none", 0}, {"128B", 1}, {"64B", 2}, {"32B", 3}},
      sm_100{{"none", 0}, {"128B_ATOM_32B", 1}, {"128B", 2}, {"64B", 4}, {"32B", 6}};
  for (OperandReader const reader : readers) {
    bool const old = reader == OperandReader::wgmma;
    for (auto const& [name, number] : old ? sm_90 : sm_100) {
      MatrixDescriptor const d{reader, mode_named(name)};
      EXPECT_EQ(d.defect(), "") << name;
      EXPECT_EQ(d.bits() >> (old ? 62 : 61), number) << name;
    }
  }
  EXPECT_EQ((MatrixDescriptor{OperandReader::wgmma, mode_named("128B_ATOM_32B")}.defect()), "swizzle mode");
}

TEST(MatrixDescriptor, IsReadBackFromItsBits) {
  for (OperandReader const reader : readers)
    for (std::size_t mode = 0; mode < std::size(operand_modes); ++mode)
      for (std::uint32_t b = 0; b < 8; ++b) {
        if (operand_modes[mode].number(reader) < 0) continue;
        MatrixDescriptor const d{reader, mode, 0x1230, 0x4560, 0x7890, b};
        DecodedDescriptor const back = decode(reader, d.bits());
        EXPECT_EQ(back.reserved, 0U);
        EXPECT_FALSE(back.mode_is_wrong || back.version_is_wrong || back.leading_is_address);
        EXPECT_EQ(back.descriptor.bits(), d.bits());
        EXPECT_EQ(back.descriptor.mode, mode);
        EXPECT_EQ(reader_of(d.bits()), reader);
      }
}

TEST(MatrixDescriptor, NamesTheFieldThatDoesNotFit) {
  EXPECT_EQ((MatrixDescriptor{{}, 3, 0x3FFF0, 16, 1024, 7}.defect()), "");
  EXPECT_EQ((MatrixDescriptor{{}, 0, 8}.defect()), "start") << "no multiple of 16";
  EXPECT_EQ((MatrixDescriptor{{}, 0, 0x40000}.defect()), "start") << "18 bits of address";
  EXPECT_EQ((MatrixDescriptor{{}, 0, 0, 8}.defect()), "leading byte offset");
  EXPECT_EQ((MatrixDescriptor{{}, 0, 0, 0, 0x40000}.defect()), "stride byte offset");
  EXPECT_EQ((MatrixDescriptor{{}, 0, 0, 0, 0, 8}.defect()), "base offset");
}

TEST(MatrixDescriptor, BitsOfNoFieldAreReserved) {
  EXPECT_EQ(decode(OperandReader::wgmma, ~0ULL).reserved,
            3ULL << 14 | 3ULL << 30 | 7ULL << 46 | 0x3FFULL << 52);
  EXPECT_EQ(decode(OperandReader::tcgen05, ~0ULL).reserved, 3ULL << 14 | 3ULL << 30 | 0xFFULL << 53);
  EXPECT_TRUE(decode(OperandReader::tcgen05, ~0ULL).mode_is_wrong);
  EXPECT_TRUE(decode(OperandReader::tcgen05, 1ULL << 52).leading_is_address);
  EXPECT_TRUE(decode(OperandReader::tcgen05, 0).version_is_wrong);
}

// The canonical layouts of the manuals, of T elements in 16 bytes: `Sw<3,4,3> o ((8,m),(T,2)):((8T,SBO),(1,T))`.
TEST(AddressRead, IsTheCanonicalLayoutOfTheManual) {
  constexpr std::int64_t sbo = 3072, lbo = 1536;
  for (unsigned const bytes : {1U, 2U, 4U}) {
    std::int64_t const t = 16 / bytes, depth = 32 / bytes, s = sbo / bytes, l = lbo / bytes;
    auto const leaf = [](std::vector<std::int64_t> const& v) {
      return IntTuple(std::vector<IntTuple>(v.begin(), v.end()));
    };
    auto const tuple = [](IntTuple a, IntTuple b) {
      return IntTuple(std::vector<IntTuple>{std::move(a), std::move(b)});
    };
    struct Table {
      char const* mode;
      Major major;
      Layout layout;
    };
    std::vector<Table> tables;
    std::int64_t width = 1;
    for (char const* const mode : {"none", "32B", "64B", "128B"}) {
      bool const none = width == 1;
      tables.push_back(
          {mode,
           Major::k,
           {tuple(leaf({8, 8}), leaf({t, 2})), tuple(leaf({width * t, s}), leaf({1, none ? l : t}))}});
      if (none)
        tables.push_back(
            {mode,
             Major::mn,
             {tuple(leaf({t, 64 / t}), leaf({8, depth / 8})), tuple(leaf({1, s}), leaf({t, l}))}});
      else if (64 % (t * width) == 0)
        tables.push_back({mode,
                          Major::mn,
                          {tuple(leaf({t, width, 64 / (t * width)}), leaf({8, depth / 8})),
                           tuple(leaf({1, t, l}), leaf({width * t, s}))}});
      width *= 2;
    }
    if (bytes == 4)
      tables.push_back({"128B_ATOM_32B",
                        Major::mn,
                        {tuple(leaf({4, 8, 2}), leaf({4, 2})), tuple(leaf({1, 4, l}), leaf({32, s}))}});
    for (Table const& table : tables)
      for (OperandReader const reader : readers) {
        MatrixDescriptor const d{reader, mode_named(table.mode), 0, lbo, sbo};
        if (!why_not(reader, d.operand_mode(), table.major, 8 * bytes).empty()) continue;
        for (std::uint32_t start : {0x400U, 0x2490U})
          for (std::uint32_t mn = 0; mn < 64; ++mn)
            for (std::uint32_t k = 0; k < depth; ++k) {
              auto const place =
                  static_cast<std::uint32_t>(table.layout(std::uint64_t{mn} + 64 * k).elements * bytes);
              ASSERT_EQ(address_read(d, table.major, bytes, start, mn, k).bytes,
                        d.operand_mode().swizzle(start + place))
                  << table.mode << " " << bytes << " " << mn << "," << k;
            }
      }
  }
}

TEST(AddressRead, OfWgmmaIsWhatWasMeasured) {
  for (WgmmaMode const mode : {WgmmaMode::none, WgmmaMode::b32, WgmmaMode::b64, WgmmaMode::b128})
    for (Major const major : {Major::k, Major::mn})
      for (std::uint32_t b = 0; b < 8; ++b) {
        WgmmaDescriptor measured = canonical_descriptor(0x490, major, mode);
        measured.base_offset = b;
        MatrixDescriptor const d = decode(OperandReader::wgmma, measured.bits()).descriptor;
        for (std::uint32_t mn = 0; mn < 128; ++mn)
          for (std::uint32_t k = 0; k < 16; ++k)
            ASSERT_EQ(address_read(d, major, 2, d.start, mn, k), wgmma_address(measured, major, 2, mn, k));
      }
}

TEST(WhyNot, MnMajorIsForElementsOf16BitsOfWgmma) {
  for (OperandMode const& mode : operand_modes)
    for (unsigned const bits : {8U, 16U, 32U}) {
      bool const wide = mode.name == "128B_ATOM_32B";
      EXPECT_EQ(why_not(OperandReader::wgmma, mode, Major::k, bits).empty(), !wide);
      EXPECT_EQ(why_not(OperandReader::wgmma, mode, Major::mn, bits).empty(), bits == 16 && !wide);
      EXPECT_EQ(why_not(OperandReader::tcgen05, mode, Major::k, bits).empty(), !wide);
      EXPECT_EQ(why_not(OperandReader::tcgen05, mode, Major::mn, bits).empty(), (bits == 32) == wide);
    }
  EXPECT_FALSE(why_not(OperandReader::wgmma, operand_modes[0], Major::k, 64).empty());
}

TEST(ReadsRows, AreThoseOfTheInstructions) {
  EXPECT_TRUE(reads_rows(OperandReader::wgmma, true, false, 64));
  EXPECT_FALSE(reads_rows(OperandReader::wgmma, true, false, 128));
  EXPECT_TRUE(reads_rows(OperandReader::tcgen05, true, false, 128));
  EXPECT_TRUE(reads_rows(OperandReader::wgmma, false, false, 8) &&
              reads_rows(OperandReader::wgmma, false, false, 256));
  EXPECT_FALSE(reads_rows(OperandReader::wgmma, false, false, 0) ||
               reads_rows(OperandReader::wgmma, false, false, 264) ||
               reads_rows(OperandReader::wgmma, false, false, 12));
  EXPECT_TRUE(reads_rows(OperandReader::wgmma, false, true, 24) &&
              reads_rows(OperandReader::wgmma, false, true, 48));
  EXPECT_FALSE(reads_rows(OperandReader::wgmma, false, true, 40)) << "of integers";
}

}  // namespace
}  // namespace swizproof
