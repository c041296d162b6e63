// Reports for machines: JUnit, and JSON of any bytes.
#include "report/kernel.hpp"
#include "report/report.hpp"
#include "report/sarif.hpp"
#include "report/xml.hpp"

#include <gtest/gtest.h>
#include <pugixml.hpp>

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

TEST(Xml, AReaderReadsTheText) {
  for (std::string const text :
       {"a < b & \"c\" > d", "two\nlines\tof\r", "Größe \xe2\x82\xac", "a\\d", "]]>"}) {
    pugi::xml_document document;
    ASSERT_TRUE(document.load_string(("<a b=\"" + in_xml(text) + "\">" + in_xml(text) + "</a>").c_str()));
    EXPECT_EQ(document.child("a").attribute("b").value(), text);
    EXPECT_EQ(document.child("a").child_value(), text);
  }
}

TEST(JUnit, SaysWhatCouldNotBeAsked) {
  JUnitCase const cases[] = {{"good", "f:1", 0, Proved{}, ""},
                             {"bad", "f:2", 0, Refuted{"x is 0", {{"x", 3}}}, "why"},
                             {"late", "f:3", 0, Unknown{"time-out"}, ""},
                             {"split", "f:4", 0, Unknown{}, "", "f:4: no such layout"}};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_xml("s", cases).c_str()));
  pugi::xml_node const suite = document.child("testsuites").child("testsuite");
  EXPECT_STREQ(suite.attribute("name").value(), "s");
  EXPECT_EQ(suite.attribute("tests").as_int(), 4);
  EXPECT_EQ(suite.attribute("failures").as_int(), 1);
  EXPECT_EQ(suite.attribute("errors").as_int(), 2);
  auto const in_case = [&](char const* name) { return suite.find_child_by_attribute("name", name); };
  EXPECT_STREQ(in_case("good").attribute("classname").value(), "f:1");
  EXPECT_TRUE(in_case("good").first_child().empty());
  pugi::xml_node const failure = in_case("bad").child("failure");
  EXPECT_STREQ(failure.attribute("message").value(), "refuted: x is 0: x = 3");
  EXPECT_STREQ(failure.child_value(), "why");
  EXPECT_STREQ(in_case("late").child("error").attribute("message").value(), "unknown: time-out");
  EXPECT_STREQ(in_case("split").child("error").attribute("message").value(),
               "bad input: f:4: no such layout");
}

TEST(JsonText, TakesAnyBytes) {
  EXPECT_EQ(json_text({{"name", "lay\xff.toml"}}), "{\"name\":\"lay\xef\xbf\xbd.toml\"}");
  EXPECT_EQ(json_text({{"name", "Größe"}}), "{\"name\":\"Größe\"}");
}

constexpr SarifRule rules[] = {{"rule", "It is slow.", "Do."}, {"other", "It is wrong.", "Fix it.", "error"}};

TEST(Sarif, HasWhatTheSchemaRequires) {
  SarifFinding const findings[] = {{"slow", "src/k.cu", 12, "k<32>(int)"},
                                   {"slow too", "", 0, "f"},
                                   {"wrong", "a.toml", 1, "A", 1, "obligation"}};
  auto const log = sarif("1.2", rules, findings);
  EXPECT_EQ(log.at("version"), "2.1.0");
  EXPECT_TRUE(log.at("$schema").get<std::string>().ends_with("sarif-2.1.0.json"));
  ASSERT_EQ(log.at("runs").size(), 1U);
  auto const& run = log["runs"][0];
  auto const& driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name"), "swizproof");
  EXPECT_EQ(driver.at("version"), "1.2");
  ASSERT_EQ(driver.at("rules").size(), 2U);
  EXPECT_EQ(driver["rules"][0].at("id"), "rule");
  EXPECT_EQ(driver["rules"][0].at("shortDescription").at("text"), "It is slow.");
  EXPECT_EQ(driver["rules"][1].at("defaultConfiguration").at("level"), "error");
  ASSERT_EQ(run.at("results").size(), 3U);
  for (auto const& result : run["results"]) {
    bool const other = result.at("message").at("text") == "wrong";
    EXPECT_EQ(result.at("ruleId"), other ? "other" : "rule");
    EXPECT_EQ(result.at("ruleIndex"), other ? 1 : 0);
    EXPECT_EQ(result.at("level"), other ? "error" : "warning");
    ASSERT_EQ(result.at("locations").size(), 1U);
    EXPECT_TRUE(result["locations"][0].is_object());
  }
  EXPECT_EQ(run["results"][0].at("message").at("text"), "slow");
  auto const& known = run["results"][0]["locations"][0];
  EXPECT_EQ(known.at("physicalLocation").at("artifactLocation").at("uri"), "src/k.cu");
  EXPECT_EQ(known["physicalLocation"].at("region").at("startLine"), 12);
  auto const& unknown = run["results"][1]["locations"][0];
  EXPECT_FALSE(unknown.contains("physicalLocation")) << "a region begins with line 1";
  EXPECT_EQ(unknown.at("logicalLocations").at(0).at("fullyQualifiedName"), "f");
}

TEST(Sarif, WithoutFindingsIsARunThatFoundNothing) {
  auto const log = sarif("1.2", rules, {});
  EXPECT_TRUE(log.at("runs").at(0).at("results").is_array());
  EXPECT_TRUE(log["runs"][0]["results"].empty());
}

TEST(Sarif, PathsAreFromTheRootOfTheCheckout) {
  namespace fs = std::filesystem;
  fs::path const root = fs::path(testing::TempDir()) / "sarif_checkout";
  fs::create_directories(root / ".git");
  fs::create_directories(root / "kernels" / "tiles");
  fs::path const before = fs::current_path();
  fs::current_path(root / "kernels");
  EXPECT_EQ(path_in_checkout("layouts.toml"), "kernels/layouts.toml");
  EXPECT_EQ(path_in_checkout("../a.toml"), "a.toml");
  EXPECT_EQ(path_in_checkout((root / "kernels/tiles/a.cu").string()), "kernels/tiles/a.cu");
  EXPECT_EQ(path_in_checkout("/usr/include/a.cu"), "/usr/include/a.cu") << "elsewhere";
  fs::remove_all(root / ".git");
  EXPECT_EQ(path_in_checkout("tiles/a.cu"), "tiles/a.cu") << "no checkout: from here";
  fs::current_path(before);
  fs::remove_all(root);
}

TEST(Report, AFindingIsMarkedInTheCheckout) {
  KernelAccess a;
  a.file = "/usr/local/cuda/include/cuda_fp16.hpp", a.line = 264;
  EXPECT_EQ(line_in_checkout(a).line, 264U);  // nothing else is known
  a.inlined_at = {{"/usr/local/cuda/include/cuda_fp16.hpp", 270}, {"gemm.cu", 14}};
  EXPECT_EQ(line_in_checkout(a).file, "gemm.cu");
  EXPECT_EQ(line_in_checkout(a).line, 14U);
  a.file = "src/tile.hpp", a.line = 7;
  EXPECT_EQ(line_in_checkout(a).file, "src/tile.hpp");
}

TEST(Sarif, PathsAreUris) {
  EXPECT_EQ(uri_of("src/k.cu"), "src/k.cu");
  EXPECT_EQ(uri_of("/a b/k#1.cu"), "file:///a%20b/k%231.cu");
  EXPECT_EQ(uri_of("Gr\xc3\xb6\xc3\x9f"
                   "e%.cu"),
            "Gr%C3%B6%C3%9Fe%25.cu");
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

TEST(Printable, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable("A tile"), "A tile");
  EXPECT_EQ(printable("\x1b[1A\x1b[2K."), "\\x1b[1A\\x1b[2K.");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J")
      << "a control character of two bytes";
  EXPECT_EQ(printable("Größe"), "Größe");
}

}  // namespace
}  // namespace swizproof
