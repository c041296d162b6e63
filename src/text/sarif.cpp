#include "text/sarif.hpp"

#include <cctype>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(SarifRule const& rule, SarifFinding const& finding) {
  Json place = Json::object();
  if (!finding.file.empty())
    place["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(finding.file)}}},
                                 {"region", {{"startLine", finding.line}}}};
  place["logicalLocations"] = {{{"fullyQualifiedName", finding.function}, {"kind", "function"}}};
  return {{"ruleId", rule.id},
          {"ruleIndex", 0},
          {"level", "warning"},
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

nlohmann::ordered_json sarif(std::string_view version, SarifRule const& rule,
                             std::span<SarifFinding const> findings, std::string_view certainty) {
  Json const rules = Json::array({{{"id", rule.id},
                                   {"shortDescription", {{"text", rule.summary}}},
                                   {"help", {{"text", rule.help}}},
                                   {"defaultConfiguration", {{"level", "warning"}}}}});
  Json results = Json::array();
  for (SarifFinding const& finding : findings) results.push_back(to_json(rule, finding));
  Json const driver{{"name", "swizproof"}, {"version", version}, {"rules", rules}};
  Json run{{"tool", {{"driver", driver}}}, {"columnKind", "utf16CodeUnits"}, {"results", results}};
  if (!certainty.empty()) run["properties"] = {{"certainty", certainty}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

}  // namespace swizproof
