#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/check.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/analysis/inspect.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <stop_token>

namespace swizproof {
namespace {

Inspection look(std::string_view text, std::optional<unsigned> bits = {}) {
  return inspect(parse_mapping(text, {bits}), {});
}
bool yes(Fact const& f) { return std::holds_alternative<Proved>(f.outcome); }
bool no(Fact const& f) { return std::holds_alternative<Refuted>(f.outcome); }

TEST(Inspect, KnowsTheCanonicalSwizzles) {
  for (int k = 1; k <= 3; ++k) {
    Inspection const i = look("Sw<" + std::to_string(k) + ",4,3>");
    EXPECT_TRUE(yes(i.bijective) && yes(i.involution) && yes(i.linear));
    EXPECT_EQ(i.kept_low_bits.value, 4U);
    EXPECT_EQ(i.span.value, 16ULL << k);
    EXPECT_EQ(i.period.value, 128ULL << k);
    EXPECT_EQ(i.alignment.value, 128ULL << k);
    EXPECT_EQ(i.unit, "bytes");
  }
}

/// Every solver query ends at once, without an answer.
Limits no_solver() {
  std::stop_source stopped;
  stopped.request_stop();
  Limits limits;
  limits.stop = stopped.get_token();
  return limits;
}

// As in a browser, which has none.
TEST(Inspect, KnowsSwizzlesWithoutASolver) {
  for (char const* const text : {"Sw<3,4,3>", "Sw<2,0,-2>", "fn(x) = x ^ ((x >> 3) & 0x70)",
                                 "fn(x) = (x & ~0x70) | ((x >> 3 ^ x) & 0x70)"}) {
    Inspection const with = look(text), without = inspect(parse_mapping(text, {}), no_solver());
    EXPECT_TRUE(yes(without.bijective) && yes(without.involution) && yes(without.linear)) << text;
    EXPECT_EQ(without.period.value, with.period.value) << text;
    EXPECT_EQ(without.alignment.value, with.alignment.value) << text;
    EXPECT_NE(without.period.engine, Engine::smt) << text;
  }
  // The first block goes into another one, and not into itself: f(x + P) = f(x) + P for no P that blocks would show.
  Inspection const moved = inspect(parse_mapping("fn(x) = x ^ ((x & 0x80) << 40)", {}), no_solver());
  EXPECT_TRUE(moved.period.unknown || *moved.period.value == 1ULL << 48);
  // A carry is beyond linear algebra.
  EXPECT_TRUE(inspect(parse_mapping("fn(x) = x * 3 + 1", {}), no_solver()).period.unknown);
}

TEST(Align, KnowsSwizzlesWithoutASolver) {
  for (char const* const text :
       {"Sw<3,4,3>", "fn(x) = x ^ ((x >> 3) & 0x70)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"}) {
    Mapping const map = parse_mapping(text, {});
    Alignment const without = alignment_of(map, no_solver());
    EXPECT_TRUE(std::holds_alternative<Proved>(without.outcome)) << text;
    EXPECT_EQ(without.bytes, alignment_of(map, {}).bytes) << text;
    EXPECT_EQ(own_alignment(map, no_solver()), own_alignment(map, {})) << text;
  }
}

// Unknown bases are not guessed: neither question is about any, so neither is answered.
TEST(Align, WhatIsNotKnownIsNotOne) {
  std::string const rotated =
      "fn(x) = (x & ~0x70) + ((x + ((x >> 7) & 7)*16) & 0x70) o smem_ptr[16b](unset) o (16,64):(64,1)";
  Mapping const map = parse_mapping(rotated, {});
  EXPECT_EQ(own_alignment(map, {}), 1024U);
  EXPECT_EQ(own_alignment(map, no_solver()), std::nullopt);
  CheckOptions options;
  Access const access = parse_access("ldmatrix.x4");
  EXPECT_TRUE(std::holds_alternative<Proved>(check(Placement(map, access), options).outcome()));
  options.limits = no_solver();
  AccessVerdict const undecided = check(Placement(map, access), options);
  auto const* const unknown = std::get_if<Unknown>(&undecided.found);
  ASSERT_NE(unknown, nullptr);
  EXPECT_EQ(unknown->reason, unknown_bases);
  EXPECT_NE(undecided.domain.find("bases that are not known"), std::string::npos);
  Equality const equality = compare(map, parse_mapping("(16,64):(64,1)", {16U}), {}, no_solver());
  EXPECT_TRUE(std::holds_alternative<Unknown>(equality.outcome));
  EXPECT_NE(equality.domain.find("bases that are not known"), std::string::npos);
}

TEST(Inspect, AgreesWithTheFormulasOnOddSwizzles) {
  for (Swizzle const s :
       {Swizzle{2, 0, -2}, Swizzle{3, 1, 7}, Swizzle{1, 5, -9}, Swizzle{5, 0, 5}, Swizzle{0, 4, 3}}) {
    Inspection const i = look(to_string(s));
    EXPECT_EQ(i.span.value, s.span()) << to_string(s);
    EXPECT_EQ(i.period.value, s.period()) << to_string(s);
    EXPECT_TRUE(yes(i.bijective) && yes(i.involution));
  }
}

TEST(Inspect, FindsTheMatmulSkillsMistake) {
  Inspection const i = look("fn(x) = x ^ ((((x >> 4) & 7) ^ ((x >> 7) & 7)) << 4)");
  EXPECT_TRUE(no(i.bijective) && no(i.involution) && yes(i.linear));
  EXPECT_EQ(i.span.value, 128U);
}

TEST(Inspect, HandlesFunctionsThatAreNotLinear) {
  Inspection const i = look("fn(x) = x + 3");
  EXPECT_TRUE(yes(i.bijective) && no(i.involution) && no(i.linear));
  EXPECT_EQ(i.kept_low_bits.value, 0U);
  EXPECT_EQ(i.period.value, 1U);
  EXPECT_FALSE(i.span.value.has_value());
}

TEST(Inspect, CountsAlignmentInBytes) {
  EXPECT_EQ(look("Sw<3,3,3>", 16).alignment.value, 1024U);
  EXPECT_EQ(look("Sw<3,3,3> o _0 o (8,64):(64,1)", 16).alignment.value, 1024U);
  EXPECT_FALSE(look("Sw<3,3,3> o _0 o (8,64):(64,1)").alignment.value.has_value());
  EXPECT_EQ(look("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)").alignment.value, 1024U);
  EXPECT_EQ(look("(8,64):(72,1)").alignment.value, 1U);
  EXPECT_EQ(look("Sw<0,3,1>", 32).alignment.value, 1U) << "as align says: nothing moves";
  EXPECT_EQ(look("fn(x) = x ^ ((x >> 3) & 0)", 64).alignment.value, 1U) << "the same, written otherwise";
}

TEST(Inspect, EnumeratesLayouts) {
  Inspection const padded = look("(8,64):(72,1)");
  EXPECT_TRUE(no(padded.bijective)) << "one-to-one, not onto";
  EXPECT_TRUE(no(look("(4,8):(0,1)").bijective));
  Inspection const transposed = look("(8,8):(8,1)");
  EXPECT_TRUE(yes(transposed.bijective) && yes(transposed.involution) && yes(transposed.linear));
  EXPECT_TRUE(no(look("(4,8):(8,1)").involution));
  EXPECT_TRUE(no(look("(3,5):(5,1)").linear));
  Inspection const identity = look("64:1");
  EXPECT_EQ(identity.kept_low_bits.value, 64U);
  EXPECT_EQ(identity.span.value, 1U);
  EXPECT_EQ(identity.period.value, 1U);
}

TEST(Inspect, OntoIsBelowTheSize) {
  Fact const past = is_bijective(parse_mapping("2:2"), {});
  ASSERT_TRUE(std::holds_alternative<Refuted>(past.outcome)) << "2 is no index of a layout of size 2";
  EXPECT_EQ(std::get<Refuted>(past.outcome).values[1].second, 2U);
}

TEST(Inspect, KeptBitsAreThoseThatEveryIndexKeeps) {
  Inspection const turned = inspect(parse_mapping("(2,2):(2,1)"), {});  // 0, 2, 1, 3: the last index stays
  EXPECT_EQ(turned.kept_low_bits.value, 0U);
  EXPECT_EQ(turned.span.value, 4U);
}

TEST(Inspect, DoesNotGuessAboutEnormousLayouts) {
  Inspection const i = look("(1048576,1048576):(1048576,1)");
  EXPECT_TRUE(std::holds_alternative<Unknown>(i.bijective.outcome));
}

}  // namespace
}  // namespace swizproof
