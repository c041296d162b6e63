// What machines read: JUnit, and JSON of any bytes.
#include "text/report.hpp"
#include "text/xml.hpp"

#include <gtest/gtest.h>

#include <set>

namespace swizproof {
namespace {

TEST(Xml, KeepsWhatIsUtf8AndWritesTheRestAsBytes) {
  EXPECT_EQ(in_xml("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(in_xml("Größe \xe2\x82\xac \xf0\x9f\x98\x80"), "Größe \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(in_xml("two\nlines\tof\r"), "two&#10;lines&#9;of&#13;");
  EXPECT_EQ(in_xml("a\\d"), "a\\d");
  EXPECT_EQ(in_xml("\x1b[1m"), "\\x1b[1m");
  for (auto const& [bytes, text] : {std::pair{"\xff", "\\xff"},
                                    {"\xc3", "\\xc3"},                              // cut off
                                    {"\xc0\xaf", "\\xc0\\xaf"},                     // longer than it need be
                                    {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},            // the same
                                    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},            // half of a pair
                                    {"\xef\xbf\xbf", "\\xef\\xbf\\xbf"},            // U+FFFF
                                    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}})  // behind the last
    EXPECT_EQ(in_xml(bytes), text);
}

TEST(Xml, TwoTextsNeverBecomeOne) {
  // All texts of up to four of these, which mean something to the way bytes are written.
  std::string const alphabet[] = {"\\", "x", "f", "\xff", "\xc3\xa9"};
  std::vector<std::string> texts{""};
  for (std::size_t from = 0, length = 0; length < 5; ++length)
    for (std::size_t const end = texts.size(); from < end; ++from)
      for (std::string const& letter : alphabet) texts.push_back(texts[from] + letter);
  std::set<std::string> written;
  for (std::string const& text : texts) written.insert(in_xml(text));
  EXPECT_EQ(texts.size(), 3906U);
  EXPECT_EQ(written.size(), texts.size());
}

TEST(JUnit, SaysWhatCouldNotBeAsked) {
  JUnitCase const cases[] = {{"good", "f:1", 0, Proved{}, ""},
                             {"bad", "f:2", 0, Refuted{"x is 0", {{"x", 3}}}, ""},
                             {"late", "f:3", 0, Unknown{"time-out"}, ""},
                             {"torn", "f:4", 0, Unknown{}, "", "f:4: no such layout"}};
  std::string const xml = junit_xml("s", cases);
  EXPECT_NE(xml.find("tests=\"4\" failures=\"1\" errors=\"2\""), xml.npos) << xml;
  EXPECT_NE(xml.find("<failure message=\"refuted: x is 0: x = 3\">"), xml.npos) << xml;
  EXPECT_NE(xml.find("<error message=\"unknown: time-out\">"), xml.npos) << xml;
  EXPECT_NE(xml.find("<error message=\"bad input: f:4: no such layout\">"), xml.npos) << xml;
}

TEST(JsonText, TakesAnyBytes) {
  EXPECT_EQ(json_text({{"name", "lay\xff.toml"}}), "{\"name\":\"lay\xef\xbf\xbd.toml\"}");
  EXPECT_EQ(json_text({{"name", "Größe"}}), "{\"name\":\"Größe\"}");
}

TEST(JsonText, AnErrorHasItsPlace) {
  auto const with_place = to_json(InputError{"no", "abc", 7, 2, "do"});
  EXPECT_EQ(with_place["message"], "no");
  EXPECT_EQ(with_place["input"], "abc");
  EXPECT_EQ(with_place["at"], 3) << "never behind the end";
  EXPECT_EQ(with_place["hint"], "do");
  EXPECT_TRUE(to_json(InputError{"no"})["input"].is_null());
  EXPECT_TRUE(to_json(InputError{"no"})["at"].is_null());
}

}  // namespace
}  // namespace swizproof
