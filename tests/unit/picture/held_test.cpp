// The picture of a fragment: each cell is drawn once, in every form.
#include "picture/held.hpp"

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include <string>

namespace swizproof {
namespace {

/// 2 x 3 elements of threads 0 to 4; no thread holds the last.
HeldMatrix example() {
  HeldMatrix m;
  m.title = "a < b";
  m.down = "m", m.across = "k";
  m.first_row = 6, m.first_column = 10;
  m.rows = {{{"T0", "R0.lo", 0}, {"T1", "R0.lo", 1}, {"T2", "R0.lo", 2}},
            {{"T3", "R0.lo", 3}, {"T4", "R1.hi", 4}, {}}};
  m.notes = {"drawn: a part"};
  return m;
}

TEST(HeldMatrix, IsATableOnTheTerminal) {
  EXPECT_EQ(terminal(example(), Style("never", 1), 80),
            "a < b\n  drawn: a part\n\n"
            "       k 10     k 11     k 12\n"
            "  m 6  T0 R0.lo T1 R0.lo T2 R0.lo\n"
            "  m 7  T3 R0.lo T4 R1.hi -\n");
}

TEST(HeldMatrix, HasColumnsBelowTheOthersWhereTheTerminalIsNarrow) {
  std::string const text = terminal(example(), Style("never", 1), 26);
  EXPECT_NE(text.find("       k 10     k 11\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n\n       k 12\n  m 6  T2 R0.lo\n  m 7  -\n"), std::string::npos) << text;
}

TEST(HeldMatrix, IsAFigureWithEachCellOnce) {
  pugi::xml_document figure;
  std::string const text = svg(example());
  ASSERT_TRUE(figure.load_string(text.c_str())) << text;
  std::size_t cells = 0, empty = 0;
  for (pugi::xml_node const rect : figure.child("svg").children("rect"))
    if (rect.attribute("stroke"))
      ++cells, empty += std::string(rect.attribute("fill").value()) == "#fff" ? 1 : 0;
  EXPECT_EQ(cells, 6U);
  EXPECT_EQ(empty, 1U);
  for (char const* thread : {"T0", "T1", "T2", "T3", "T4"})
    EXPECT_NE(text.find(">" + std::string(thread) + "<"), std::string::npos) << thread;
  EXPECT_NE(html(example()).find(text), std::string::npos);
}

}  // namespace
}  // namespace swizproof
