// Our algebra of layouts equals what NVIDIA's CuTe headers computed, printed and refused.
#include "oracle.hpp"

#include <swizproof/layout/algebra.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <regex>

namespace swizproof::oracle {
namespace {

/// The records have integers that CuTe's compiler did not know.
MappingOptions const as_recorded{.keep_dynamic = true};

/// The record's expression as a call: `slice(_,(1,_))` and its kin carry arguments in their name.
std::string call_of(nlohmann::json const& record) {
  std::string const op = record["op"];
  bool const unary = !record.contains("b") || record["b"].is_null();
  std::string const first = record.contains("a") ? record["a"] : record["in"];
  std::string const second = unary ? "" : "," + record["b"].get<std::string>();
  std::size_t const open = op.find('(');
  if (op == "coalesce(profile)") return "coalesce(" + first + second + ")";
  if (open != std::string::npos) return op.substr(0, open) + "(" + first + "," + op.substr(open + 1);
  return op + "(" + first + second + ")";
}

std::string printed(Evaluated const& value) {
  if (auto const* map = std::get_if<Mapping>(&value)) return map->text;
  if (auto const* integers = std::get_if<IntTuple>(&value)) return to_string(*integers);
  return to_string(std::get<Layout>(value));
}

void expect_values(Mapping const& map, nlohmann::json const& record, std::string const& call) {
  if (!record.contains("out_offsets")) return;
  auto const& offsets = record["out_offsets"];
  for (std::size_t i = 0; i < offsets.size(); ++i)
    ASSERT_EQ(static_cast<std::int64_t>(offset(map, std::uint64_t{i}).elements),
              offsets[i].get<std::int64_t>())
        << call << " at " << i;
}

bool is_right(nlohmann::json const& record) {
  for (char const* law :
       {"agrees_with_function_composition", "right_inverse_property_holds", "left_inverse_property_holds"})
    if (record.contains(law) && !record[law].get<bool>()) return false;
  return true;
}

TEST(CuTeAlgebra, IsReproducedAndItsWrongResultsAreNamed) {
  auto const records = cute_records("algebra");
  ASSERT_GE(records.size(), 88U);
  std::size_t right = 0;
  for (auto const& record : records) {
    std::string const call = call_of(record);
    Evaluated const value = parse_value(call, as_recorded);
    auto const* map = std::get_if<Mapping>(&value);
    if (!is_right(record)) {
      ASSERT_TRUE(map != nullptr && !map->notes.empty()) << call << " is not what it stands for";
      EXPECT_NE(map->notes[0].find(record["out"].get<std::string>()), std::string::npos) << map->notes[0];
      continue;
    }
    ++right;
    EXPECT_EQ(printed(value), record["out"].get<std::string>()) << call;
    if (map == nullptr) continue;
    if (map->domain() != nullptr) {
      EXPECT_EQ(map->domain()->size(), record["out_size"].get<std::int64_t>()) << call;
      expect_values(*map, record, call);
    }
    for (std::string const& note : map->notes) EXPECT_EQ(note.find("another function"), note.npos) << note;
  }
  EXPECT_GE(right, 87U);
}

TEST(CuTeAlgebra, CompositionsThatCuTeGetsWrongAreGivenAsTheFunctionTheyStandFor) {
  std::size_t wrong = 0;
  for (auto const& record : cute_records("algebra")) {
    if (record["op"] != "composition" || is_right(record)) continue;
    ++wrong;
    Mapping const map = parse_mapping(call_of(record), as_recorded);
    Layout const a = *parse_mapping(record["a"].get<std::string>()).domain();
    Layout const b = *parse_mapping(record["b"].get<std::string>()).domain();
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(b.size()); ++i)
      EXPECT_EQ(offset(map, i).elements, a(b(i).elements).elements) << map.text << " at " << i;
  }
  EXPECT_GE(wrong, 1U);
}

/// The text with every integer static: `(8,_4):(_1,8)` is `(_8,_4):(_1,_8)`.
std::string as_static(std::string const& text) {
  return std::regex_replace(text, std::regex("(^|[(,: ])(-?[0-9]+)(?![-0-9]*b)(?![-0-9,]*>)"), "$1_$2");
}

TEST(CuTeAlgebra, OnACommandLineAPlainIntegerIsAStaticOne) {
  std::size_t compared = 0;
  for (auto const& record : cute_records("algebra")) {
    std::string const call = call_of(record), with_static = as_static(call);
    if (call == with_static) continue;
    ++compared;
    auto const answer = [](std::string const& text) {
      try {
        return printed(parse_value(text));
      } catch (InputError const& error) {
        return error.message;
      }
    };
    EXPECT_EQ(answer(call), answer(with_static)) << call;
  }
  EXPECT_GE(compared, 9U);
}

TEST(CuTeAlgebra, UnitsChangeAsInCuTe) {
  auto const records = cute_records("recast");
  ASSERT_GE(records.size(), 39U);
  for (auto const& record : records) {
    std::string const call = call_of(record);
    Mapping const map = parse_mapping(call, as_recorded);
    EXPECT_EQ(map.text, record["out"].get<std::string>()) << call;
    auto const tags = record["tags"].get<std::vector<std::string>>();
    bool const lost = std::find(tags.begin(), tags.end(), "bits_lost") != tags.end();
    EXPECT_EQ(!map.notes.empty(), lost) << call;
    if (record.contains("out_offsets_of")) {
      Mapping const independent = parse_mapping("as_position_independent_swizzle_layout(" + map.text + ")");
      EXPECT_EQ(independent.text, record["out_offsets_of"].get<std::string>()) << call;
      expect_values(independent, record, call);
    } else {
      expect_values(map, record, call);
    }
  }
}

TEST(CuTeAlgebra, WhatItRefusesIsRefused) {
  auto const records = cute_records("reject");
  ASSERT_GE(records.size(), 8U);
  for (auto const& record : records) {
    bool const swizzle = record["a"].is_null();
    std::string const text = swizzle ? record["op"].get<std::string>() : call_of(record);
    try {
      (void)parse_value(text, as_recorded);
      ADD_FAILURE() << "accepted: " << text;
    } catch (InputError const& error) {
      EXPECT_GT(error.message.size(), 20U);
      EXPECT_EQ(error.at, 0U) << text;
      EXPECT_EQ(error.length, text.size()) << text;
    }
  }
}

}  // namespace
}  // namespace swizproof::oracle
