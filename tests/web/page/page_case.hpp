// A page that the program writes, in headless Chromium.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <unistd.h>

namespace swizproof {

using Json = nlohmann::json;

inline std::string output_of(std::string const& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 1 << 16> block{};
  while (std::size_t const n = std::fread(block.data(), 1, block.size(), pipe)) text.append(block.data(), n);
  return pclose(pipe) == 0 ? text : std::string();
}

inline std::string text_of(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline bool has_chromium() {
  static bool const found = !output_of("chromium --version 2>/dev/null").empty();
  return found;
}
inline bool has_node() {
  static bool const found = !output_of("nodejs --version 2>/dev/null").empty();
  return found;
}

/// A folder for a page and what is made of it; removed at the end.
struct Folder {
  std::filesystem::path path{};
  explicit Folder(std::string const& name)
      : path(std::filesystem::temp_directory_path() /
             ("swizproof_page_" + std::to_string(getpid()) + "_" + name)) {
    std::filesystem::create_directories(path);
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

/// The page that a command line of swizproof writes. It loads nothing.
inline std::string page_of(std::string const& command, std::filesystem::path const& page) {
  // The exit code of explain depends on its findings.
  (void)output_of(std::string(SWIZPROOF_BINARY) + " " + command + " --html " + page.string());
  std::string const written = text_of(page);
  EXPECT_FALSE(written.empty()) << command;
  EXPECT_LT(written.size(), 1U << 20) << "1 MiB";
  std::string text = written;
  std::string const svg = "xmlns=\\\"http://www.w3.org/2000/svg\\\"";  // a name, not an address
  for (std::size_t at = 0; (at = text.find(svg)) != std::string::npos;) text.erase(at, svg.size());
  EXPECT_EQ(text.find("://"), std::string::npos) << "nothing is loaded from elsewhere";
  for (std::size_t at = 0; (at = text.find("url(", at)) != std::string::npos; ++at)
    EXPECT_EQ(text.substr(at, 11), "url(#clash)") << "nothing is loaded from elsewhere";
  return written;
}

/// A page that a command line of swizproof writes, after a change, in a browser of that width, and what a script of this folder saw in it.
inline Json report_of(std::string const& command, std::string const& drive, unsigned width,
                      std::function<void(std::string&)> const& change = {}) {
  Folder const folder(std::to_string(width));
  auto const page = folder.path / "page.html", frame = folder.path / "frame.html";
  std::string text = page_of(command, page);
  if (change) change(text);
  std::string const script = "<script>" + text_of(SWIZPROOF_DRIVES "/" + drive) + "</script>";
  text.insert(text.rfind("</body>"), script);
  std::ofstream(page, std::ios::binary) << text;
  // A frame of that width: windows of browsers have a least one. It says when the page is ready.
  std::ofstream(frame)
      << "<iframe src='page.html' height='900' width='" << width
      << "' style='border:0'></iframe><pre></pre><script>"
      << "onload = () => { document.querySelector('pre').textContent = document.querySelector("
      << "'iframe').contentDocument.getElementById('report').textContent; };</script>";
  std::string const dom = output_of(
      "timeout 3600 chromium --headless=new --no-sandbox --disable-gpu --allow-file-access-from-files "
      "--window-size=1400,1000 --user-data-dir=" +
      (folder.path / "profile").string() + " --dump-dom 'file://" + frame.string() + "' 2>/dev/null");
  pugi::xml_document seen;
  if (!seen.load_string(dom.c_str())) return {};
  std::string const report = seen.select_node("//pre").node().child_value();
  return report.empty() ? Json() : Json::parse(report);
}

}  // namespace swizproof
