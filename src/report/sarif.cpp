#include "report/sarif.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
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

/// A change for each file, and in it each replacement.
Json to_json(SarifFix const& fix) {
  std::vector<std::string> files;
  Json changes = Json::array();
  for (SarifReplacement const& r : fix.replacements) {
    auto const known = std::find(files.begin(), files.end(), r.file);
    auto const at = static_cast<std::size_t>(known - files.begin());
    if (known == files.end()) {
      files.push_back(r.file);
      changes.push_back({{"artifactLocation", {{"uri", uri_of(r.file)}}}, {"replacements", Json::array()}});
    }
    Json const region{{"startLine", r.line},
                      {"startColumn", r.column},
                      {"endLine", r.end_line},
                      {"endColumn", r.end_column}};
    changes[at]["replacements"].push_back(
        {{"deletedRegion", region}, {"insertedContent", {{"text", r.text}}}});
  }
  return {{"description", {{"text", fix.description}}}, {"artifactChanges", std::move(changes)}};
}

Json physical(std::string const& file, unsigned line) {
  return {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", {{"startLine", line}}}};
}

Json to_json(std::span<SarifRule const> rules, SarifFinding const& finding) {
  Json place = Json::object();
  if (!finding.file.empty()) place["physicalLocation"] = physical(finding.file, finding.line);
  place["logicalLocations"] = {{{"fullyQualifiedName", finding.function}, {"kind", finding.kind}}};
  Json out{{"ruleId", rules[finding.rule].id},
           {"ruleIndex", finding.rule},
           {"level", finding.level_in(rules)},
           {"message", {{"text", finding.message}}},
           {"locations", Json::array({place})}};
  for (SarifRelated const& other : finding.related)
    out["relatedLocations"].push_back({{"id", out["relatedLocations"].size()},
                                       {"physicalLocation", physical(other.file, other.line)},
                                       {"message", {{"text", other.message}}}});
  for (SarifFix const& fix : finding.fixes) out["fixes"].push_back(to_json(fix));
  return out;
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

std::vector<SarifFinding> in_checkout(std::vector<SarifFinding> findings) {
  for (SarifFinding& finding : findings) {
    if (!finding.file.empty()) finding.file = path_in_checkout(finding.file);
    for (SarifRelated& other : finding.related) other.file = path_in_checkout(other.file);
    for (SarifFix& fix : finding.fixes)
      for (SarifReplacement& r : fix.replacements) r.file = path_in_checkout(r.file);
  }
  return findings;
}

std::string gcc_lines(std::span<SarifRule const> rules, std::span<SarifFinding const> findings) {
  std::string out;
  for (SarifFinding const& finding : findings) {
    SarifRule const& rule = rules[finding.rule];
    std::string const at = finding.file + ":" + std::to_string(std::max(finding.line, 1U)) + ": ";
    std::string_view message = finding.message;
    for (std::string_view const place :
         {std::string_view(at), std::string_view(at).substr(at.rfind('/') + 1)})
      if (message.starts_with(place)) message.remove_prefix(place.size());
    std::string const kernel =
        finding.kind == "function" && !finding.function.empty() ? finding.function + ": " : "";
    std::istringstream lines{std::string(message)};
    std::string line;
    std::getline(lines, line);
    out += at + std::string(finding.level_in(rules)) + ": " + kernel + line + " [" + std::string(rule.id) +
           "]\n";
    while (std::getline(lines, line)) out += "    " + line + "\n";
    for (SarifRelated const& other : finding.related)
      out += other.file + ":" + std::to_string(other.line) + ": note: " + other.message + "\n";
    for (SarifFix const& fix : finding.fixes)
      for (SarifReplacement const& r : fix.replacements)
        out += r.file + ":" + std::to_string(r.line) + ":" + std::to_string(r.column) +
               ": note: " + fix.description + ": " + r.text + "\n";
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
