// The tables that print_layout and print_tensor print below a layout.
#include "parse/layout/mapping_parser.hpp"

#include <cmath>
#include <cstdlib>

namespace swizproof {

namespace {

constexpr std::string_view no_table = "unexpected text after the layout";

/// Passes a run of one character, at least `least` long.
bool take_run(Scanner& in, char c, std::size_t least) {
  std::size_t const from = in.at();
  std::size_t count = 0;
  while (count < in.rest().size() && in.rest()[count] == c) ++count;
  if (count < least) return false;
  in.back_to(from + count);
  return true;
}

/// +----+----+
void expect_rule(Scanner& in, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i)
    if (!in.take("+") || !take_run(in, '-', 2)) in.fail_here("expected a line +----+ of the table");
  in.expect("+", "at the end of the line of the table");
}

void expect_number(Scanner& in, std::int64_t expected, std::string_view what) {
  std::size_t const at = in.at();
  std::int64_t const found = in.take_integer(what);
  if (found != expected)
    in.fail("the table says " + std::to_string(found) + ", the layout " + std::to_string(expected), at,
            in.at() - at, "the table must be what print_layout printed for this layout");
}

/// print_layout: column numbers, and a row of values between rules for each row.
void skip_layout_table(Scanner& in, Mapping const& map) {
  Layout const& layout = *map.domain();
  if (layout.rank() != 2 || !map.on_bytes.empty()) in.fail_here(std::string(no_table));
  std::int64_t const rows = layout.shape.mode(0).product(), columns = layout.shape.mode(1).product();
  if (!in.at_number()) in.fail_here(std::string(no_table));
  for (std::int64_t j = 0; j < columns; ++j) expect_number(in, j, "the number of a column");
  for (std::int64_t i = 0; i < rows; ++i) {
    expect_rule(in, columns);
    expect_number(in, i, "the number of a row");
    for (std::int64_t j = 0; j < columns; ++j) {
      in.expect("|", "before a value of the table");
      auto const index = static_cast<std::uint64_t>(i + j * rows);
      expect_number(in, static_cast<std::int64_t>(offset(map, index).elements), "a value of the table");
    }
    in.expect("|", "at the end of a row of the table");
  }
  expect_rule(in, columns);
}

/// One value of a tensor: an integer or a floating-point number.
bool take_value(Scanner& in) {
  std::size_t const from = in.at();
  std::string_view const rest = in.rest();
  std::size_t length = 0;
  while (length < rest.size() &&
         (is_name(rest[length]) || std::string_view("+-.").find(rest[length]) != rest.npos))
    ++length;
  std::string_view const word = rest.substr(0, length);
  static constexpr std::string_view specials[] = {"nan", "-nan", "inf", "-inf"};
  bool number = std::find(std::begin(specials), std::end(specials), word) != std::end(specials);
  if (!number &&
      word.find_first_not_of("0123456789.eE+-") == word.npos) {  // strtod takes hexadecimal ones, too
    std::string const digits(word);
    char* end = nullptr;
    bool const finite = std::isfinite(std::strtod(digits.c_str(), &end));
    number = finite && !digits.empty() && end == digits.c_str() + digits.size();
  }
  if (number) in.back_to(from + length);
  return number;
}

/// print_tensor: a colon, then as many values as the layout has elements; rules between the slices.
void skip_tensor_table(Scanner& in, Mapping const& map) {
  std::size_t const from = in.at();
  std::int64_t const wanted = map.domain()->size();
  std::int64_t count = 0;
  while (!in.done()) {
    if (take_run(in, '-', 5) || take_run(in, '=', 5)) continue;
    if (!take_value(in)) in.fail_here("this is not a value of a printed tensor");
    ++count;
  }
  if (count != wanted)
    in.fail("the tensor's table has " + std::to_string(count) + " values, the layout " +
                std::to_string(wanted) + " elements",
            from, 1);
}

}  // namespace

void skip_table(Scanner& in, Mapping const& map, bool of_tensor) {
  if (of_tensor && in.take(":")) return skip_tensor_table(in, map);
  // print_latex goes on with the document itself.
  if (in.looking_at("\\documentclass")) return in.back_to(in.text_size());
  skip_layout_table(in, map);
}

}  // namespace swizproof
