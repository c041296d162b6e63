// The table of contents of `kernel --html`: its order and search by the page's own script, and a page of 5,000 kernels in a browser.
#include "page_case.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace swizproof {
namespace {

std::string const transpose = "kernel " SWIZPROOF_GPU "/examples/ptx/transpose.ptx --block 32,8";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Kernels whose names have all words, by a key; equal ones in their order.
std::vector<std::size_t> expected_order(Json const& kernels, std::string const& words, std::string const& key,
                                        bool descending) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::istringstream in(lower(words));
    bool all = true;
    for (std::string word; in >> word;)
      all = all && lower(kernels[i]["kernel"]).find(word) != std::string::npos;
    if (all) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return descending ? kernels[b][key] < kernels[a][key] : kernels[a][key] < kernels[b][key];
  });
  return order;
}

TEST(KernelPage, OrdersAndUnpacksItsKernels) {
  if (!has_node()) GTEST_SKIP() << "page: not run (there is no nodejs here)";
  Folder const folder("contents");
  (void)page_of(transpose, folder.path / "page.html");
  Json const report = Json::parse(
      output_of("nodejs " SWIZPROOF_DRIVES "/contents.js " + (folder.path / "page.html").string()));
  ASSERT_EQ(report["orders"].size(), 50U);
  std::set<std::size_t> sizes;
  for (Json const& one : report["orders"]) {
    std::vector<std::size_t> const order =
        expected_order(report["kernels"], one["words"], one["key"], one["descending"]);
    EXPECT_EQ(one["order"], Json(order)) << one.dump();
    sizes.insert(order.size());
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{0, 1, 2, 3}));
  Json const ours = Json::parse(output_of(SWIZPROOF_BINARY " " + transpose + " --json; true"));
  ASSERT_EQ(report["kernels"].size(), ours["kernels"].size());
  for (std::size_t k = 0; k < ours["kernels"].size(); ++k) {
    Json const &lines = report["kernels"][k]["lines"], &accesses = ours["kernels"][k]["accesses"];
    ASSERT_EQ(lines.size(), accesses.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i]["pc"], accesses[i]["ptx_line"]);
      for (char const* key : {"op", "line", "reached", "wavefronts", "excess"})
        EXPECT_EQ(lines[i][key], accesses[i][key]) << key;
      EXPECT_TRUE(lines[i]["sass"].get<std::string>().starts_with(accesses[i]["verdict"].get<std::string>()));
      EXPECT_FALSE(lines[i]["worst"].contains("address"));
    }
    EXPECT_EQ(report["kernels"][k]["fixes"].size(), ours["kernels"][k]["fixes"].size());
  }
}

/// The kernels of a page again and again, each with its number in its name.
void repeat_kernels(std::string& page, std::size_t count) {
  std::string const tag = "id=\"data\">";
  std::size_t const from = page.find(tag) + tag.size(), to = page.find("</script>", from);
  Json data = Json::parse(page.substr(from, to - from));
  Json const few = data["kernels"];
  data["kernels"] = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    data["kernels"].push_back(few[i % few.size()]);
    data["kernels"].back()["kernel"] =
        few[i % few.size()]["kernel"].get<std::string>() + " " + std::to_string(i);
  }
  std::string text = data.dump();
  for (std::size_t at = 0; (at = text.find("</", at)) != text.npos; at += 3) text.insert(at + 1, "\\");
  page.replace(from, to - from, text);
  EXPECT_LT(page.size(), 4U << 20) << "4 MiB";
}

TEST(KernelPage, HasFiveThousandKernels) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  constexpr std::size_t count = 5000;
  Json kernels;
  Json const report = report_of(transpose, "drive_contents.js", 500, [&](std::string& page) {
    repeat_kernels(page, count);
    std::size_t const from = page.find("id=\"data\">") + 10;
    kernels = Json::parse(page.substr(from, page.find("</script>", from) - from))["kernels"];
  });
  ASSERT_FALSE(report.is_null()) << "the browser gave no report";
  EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
  RecordProperty("loaded_after_ms", report["loaded_after_ms"].dump());
  auto const expect_order = [&](Json const& seen, std::string const& words, std::string const& key,
                                bool descending) {
    std::vector<std::size_t> const order = expected_order(kernels, words, key, descending);
    EXPECT_EQ(seen["sections"], Json(order)) << words;
    EXPECT_EQ(seen["rows"], Json(std::vector<std::size_t>(
                                order.begin(), order.begin() + std::min<std::ptrdiff_t>(100, order.size()))));
  };
  expect_order(report["opened"], "", "excess", true);
  EXPECT_EQ(report["opened"]["said"], "5,000 kernels");
  EXPECT_EQ(report["opened"]["waiting"], count - 1) << "only what is looked at is drawn";
  for (auto const& [words, seen] : report["searches"].items()) expect_order(seen, words, "excess", true);
  EXPECT_EQ(report["searches"]["nothing"]["said"], "0 of 5,000 kernels");
  expect_order(report["sorted"]["0 ascending"], "", "kernel", false);
  expect_order(report["sorted"]["0 descending"], "", "kernel", true);
  expect_order(report["sorted"]["4 descending"], "", "excess", true);
  EXPECT_EQ(report["second"], expected_order(kernels, "swizzled", "excess", true)[1]);
  EXPECT_EQ(report["far"], 149) << "the arrow draws the rows that are missing";
  std::vector<std::size_t> const printed = expected_order(kernels, "padded 7", "excess", true);
  EXPECT_EQ(report["printed"]["rows"], Json(printed)) << "paper has every row";
  EXPECT_EQ(report["printed"]["waiting"], 0);
}

// Every access to global memory of the JSON document is in a row of its kernel's table, and the refuted ones are first.
TEST(KernelPage, HasATableOfGlobalMemory) {
  if (!has_chromium()) GTEST_SKIP() << "page: not run (there is no chromium here)";
  std::string const global =
      "kernel " SWIZPROOF_GPU "/../tests/golden/data/kernel/global.ptx --global --block 32,8";
  for (unsigned const width : {500U, 1300U}) {
    Json const report = report_of(global, "drive_global.js", width);
    ASSERT_FALSE(report.is_null()) << "the browser gave no report";
    EXPECT_TRUE(report["errors"].empty()) << report["errors"].dump(1);
    EXPECT_EQ(report["heads"].back(), "global sectors above");
    EXPECT_EQ(report["sorted"], 6) << "no kernel has a bank conflict";
    EXPECT_EQ(report["contents"][report["first"].get<std::string>()], "27");
    Json const ours = Json::parse(output_of(SWIZPROOF_BINARY " " + global + " --json; true"));
    ASSERT_EQ(report["tables"].size(), ours["kernels"].size());
    for (Json const& kernel : ours["kernels"]) {
      Json const& rows = report["tables"][kernel["kernel"].get<std::string>()];
      ASSERT_EQ(rows.size(), kernel["global_accesses"].size());
      std::multiset<std::string> shown, expected;
      for (Json const& row : rows) shown.insert(row[0].get<std::string>() + " " + row[1].get<std::string>());
      for (Json const& a : kernel["global_accesses"])
        expected.insert(a["verdict"].get<std::string>() + " " + a["op"].get<std::string>());
      EXPECT_EQ(shown, expected) << kernel["kernel"];
      if (shown.size() !=
          static_cast<std::size_t>(std::count_if(shown.begin(), shown.end(),
                                                 [](auto const& s) { return s.starts_with("proved"); })))
        EXPECT_NE(rows[0][0], "proved") << kernel["kernel"];
    }
    Json const& store = report["tables"]["transpose(float*, float const*)"][0];
    EXPECT_EQ(store, Json({"refuted", "st.global.f32", "32", "4", "32", "global.cu:9",
                           "lanes 4096 bytes apart; warp 0 of every launch"}));
  }
}

}  // namespace
}  // namespace swizproof
