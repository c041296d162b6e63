#include "report/sarif.hpp"

#include <cctype>
#include <filesystem>
#include <system_error>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(SarifRule const& rule) {
  return {{"id", rule.id},
          {"shortDescription", {{"text", rule.summary}}},
          {"help", {{"text", rule.help}}},
          {"defaultConfiguration", {{"level", rule.level}}}};
}

Json to_json(std::span<SarifRule const> rules, SarifFinding const& finding) {
  Json place = Json::object();
  if (!finding.file.empty())
    place["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(finding.file)}}},
                                 {"region", {{"startLine", finding.line}}}};
  place["logicalLocations"] = {{{"fullyQualifiedName", finding.function}, {"kind", finding.kind}}};
  return {{"ruleId", rules[finding.rule].id},
          {"ruleIndex", finding.rule},
          {"level", rules[finding.rule].level},
          {"message", {{"text", finding.message}}},
          {"locations", Json::array({place})}};
}

}  // namespace

std::string uri_of(std::string_view path) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (char const c : path) {
    auto const byte = static_cast<unsigned char>(c);
    bool const plain =
        byte < 0x80 && (std::isalnum(byte) != 0 || std::string_view("/-._~+").find(c) != path.npos);
    if (plain)
      out += c;
    else
      out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

std::string path_in_checkout(std::string const& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path const here = fs::current_path(error);
  if (error) return path;
  fs::path root = here;
  while (root != root.root_path() && !fs::exists(root / ".git", error)) root = root.parent_path();
  if (!fs::exists(root / ".git", error)) root = here;
  fs::path const whole = fs::weakly_canonical(here / path, error);
  if (error) return path;
  fs::path const within = whole.lexically_relative(fs::weakly_canonical(root, error));
  return within.empty() || *within.begin() == ".." ? path : within.generic_string();
}

nlohmann::ordered_json sarif(std::string_view version, std::span<SarifRule const> rules,
                             std::span<SarifFinding const> findings, std::string_view certainty) {
  Json descriptions = Json::array(), results = Json::array();
  for (SarifRule const& rule : rules) descriptions.push_back(to_json(rule));
  for (SarifFinding const& finding : findings) results.push_back(to_json(rules, finding));
  Json const driver{{"name", "swizproof"}, {"version", version}, {"rules", descriptions}};
  Json run{{"tool", {{"driver", driver}}}, {"columnKind", "utf16CodeUnits"}, {"results", results}};
  if (!certainty.empty()) run["properties"] = {{"certainty", certainty}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

}  // namespace swizproof
