// fn(row, col) = ... (64,64), parts named by let, and the names of a thread.
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

RC_GTEST_PROP(CoordinateFunction, IsItsExpressionAtEveryCoordinate, ()) {
  int const rows = *rc::gen::element(1, 8, 16, 19, 32), columns = *rc::gen::element(8, 12, 16, 32);
  int const pitch = *rc::gen::element(columns, columns, 33, 40);
  int const shift = *rc::gen::inRange(0, 4), mask = *rc::gen::element(0, 1, 3, 7);
  std::string const expression = *rc::gen::element<std::string>(
      fmt::format("row*{} + (col ^ ((row & {}) << {}))", pitch, mask, shift),
      fmt::format("row*{} + col", pitch), fmt::format("col*{} + row", pitch),
      fmt::format("col%4 + col/4*{} + 4*row", pitch), fmt::format("(row*{}) | col", pitch), "row", "col + 5",
      fmt::format("{} - row + col*64", pitch), "row == 0 ? col : col + 1000*row");
  Mapping const map = parse_mapping(fmt::format("fn(row, col) = {} ({},{})", expression, rows, columns));
  RC_TAG(map.on_elements.size() == 1                              ? "layout"
         : std::holds_alternative<Expression>(map.on_elements[0]) ? "function"
                                                                  : "swizzle");
  std::array<std::string, 2> const names{"row", "col"};
  Expression const wanted = parse_expression(expression, names);
  RC_ASSERT(map.domain()->size() == rows * columns);
  for (std::uint64_t index = 0; index < static_cast<std::uint64_t>(rows * columns); ++index) {
    std::array<std::uint64_t, 2> const at{index % static_cast<std::uint64_t>(rows),
                                          index / static_cast<std::uint64_t>(rows)};
    RC_ASSERT(offset(map, index).elements == wanted(std::span<std::uint64_t const>(at), std::uint64_t{}));
  }
  Mapping const again = parse_mapping(map.text);
  RC_ASSERT(again.text == map.text);
}

std::string text(std::string_view layout) { return parse_mapping(layout).text; }

TEST(CoordinateFunction, IsALayoutOrASwizzleWhereItIsOne) {
  EXPECT_EQ(text("fn(row, col) = row*64 + (col ^ ((row & 7) << 3)) (64,64)"),
            "Sw<3,3,3> o _0 o (_64,_64):(_64,_1)");
  EXPECT_EQ(text("fn(row, col) = row*72 + col (48,64)"), "(_48,_64):(_72,_1)");
  EXPECT_EQ(text("fn(row, col) = col%16 + 16*row + col/16*1024 (64,64)"), "(_64,(_16,_4)):(_16,(_1,_1024))");
  EXPECT_EQ(text("fn(row, col) = row*72 + (col ^ (row & 8)) (64,64)"),
            "fn(row, col) = row*72 + (col ^ (row & 8)) (64,64)");
  EXPECT_EQ(text("fn(i) = i ^ (i >> 3 & 7) (64)"), "Sw<3,0,3> o _0 o (_64):(_1)");
}

InputError error_of(std::string_view layout) {
  try {
    (void)parse_mapping(layout);
  } catch (InputError const& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << layout;
  return {""};
}

TEST(Let, NamesAPartOfAnExpression) {
  std::array<std::string, 1> const x{"x"};
  auto const value = [&](std::string_view expression, std::uint64_t at) {
    return parse_expression(expression, x)(std::span<std::uint64_t const>(&at, 1), std::uint64_t{});
  };
  for (std::uint64_t const at : {0U, 5U, 77U, 4095U}) {
    std::uint64_t const wanted = at ^ ((at >> 3) & 0x70);
    EXPECT_EQ(value("let y = x >> 3; x ^ (y & 0x70)", at), wanted);
    EXPECT_EQ(value("let y = x >> 3 in x ^ (y & 0x70)", at), wanted);
    EXPECT_EQ(value("let y = x >> 3\nlet z = y & 0x70\nx ^ z", at), wanted);
    EXPECT_EQ(value("let y = 8; x / y + x % y", at), at / 8 + at % 8) << "a divisor that is a number";
    EXPECT_EQ(value("let y = x + 1; 2*y", at), 2 * (at + 1)) << "as if in parentheses";
    EXPECT_EQ(value("let y = x < 50 ? x + 1 : 3*x; x + y", at), at + (at < 50 ? at + 1 : 3 * at));
  }
  EXPECT_EQ(error_of("fn(x) = let y = x; 8 / y").message, "the divisor must be a constant");
  EXPECT_EQ(error_of("fn(x) = let x = 1; x").message, "there are two of this name");
  EXPECT_EQ(error_of("fn(x) = let y = y; y").message, "unknown variable 'y'");
  EXPECT_EQ(error_of("fn(x) = let y = 1 x").message, "expected ';' after the value of y");
  std::string deep = "fn(x) = let a0 = x + x;";
  for (int i = 1; i < 60; ++i) deep += fmt::format("let a{} = a{} + a{};", i, i - 1, i - 1);
  EXPECT_EQ(error_of(deep + "a59").message, "the expression has more than 1000 operations");
}

/// The coordinates that each lane accesses.
std::vector<std::uint64_t> rows_of(std::string_view access, std::uint64_t warp) {
  Access const parsed = parse_access(access);
  std::vector<std::uint64_t> rows;
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    std::array<std::uint64_t, 2> const values{lane, warp};
    rows.push_back(
        std::get<Coordinate>(parsed.where).modes[0](std::span<std::uint64_t const>(values), std::uint64_t{}));
  }
  return rows;
}

TEST(Thread, IsTheLaneOfWarp0OrOfTheWarpThatAForSays) {
  auto const plain = rows_of("ld.shared.b32: row = lane/8 + 4*i, col = 0 for i in 0..7", 3);
  for (char const* name :
       {"lane_id", "laneId", "laneid", "%laneid", "tid", "tid.x", "%tid.x", "threadIdx.x"}) {
    std::string const text = fmt::format("ld.shared.b32: row = {}/8 + 4*i, col = 0 for i in 0..7", name);
    EXPECT_EQ(rows_of(text, 3), plain) << text;
    std::string const part =
        fmt::format("ld.shared.b32: let r = {}/8; row = r + 4*i, col = 0 for i in 0..7", name);
    EXPECT_EQ(rows_of(part, 3), plain) << part;
  }
  auto const of_warp = rows_of("ld.shared.b32: row = (lane + 32*w)/8, col = 0 for w in 0..3", 3);
  for (char const* warp : {"warp", "warp_id", "warpId"})
    EXPECT_EQ(rows_of(fmt::format("ld.shared.b32: row = threadIdx.x/8, col = 0 for {} in 0..3", warp), 3),
              of_warp);
  EXPECT_EQ(rows_of("ld.shared.b32: row = tid, col = 0 for tid in 0..7", 3),
            std::vector<std::uint64_t>(32, 3))
      << "one's own";
}

}  // namespace
}  // namespace swizproof
