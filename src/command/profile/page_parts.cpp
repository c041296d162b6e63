#include "command/profile/page_parts.hpp"

#include "command/line/help.hpp"
#include "picture/picture.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace swizproof::command {

using Json = nlohmann::ordered_json;

Worst worst_of(Architecture const& arch, Instruction const& instruction,
               WarpAccess<std::uint32_t> const& access) {
  Worst worst{cost(arch, instruction, access), ideal_wavefronts(arch, instruction), {}};
  for (unsigned phase = 0; phase < worst.cost.phases.count; ++phase)
    if (worst.cost.degree[phase] > 1)
      worst.conflicts.push_back(fullest_of_phase(instruction, access, worst.cost.phases, phase));
  return worst;
}

Json to_json(Worst const& worst, WarpAccess<std::uint32_t> const& access) {
  Json out{{"address", Json::array()}, {"wavefronts", worst.cost.wavefronts}, {"ideal", worst.ideal}};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    out["address"].push_back(access.active[lane] ? Json(access.address[lane]) : Json());
  auto const* const degree = worst.cost.degree.data();
  out["degree"] = std::vector<std::uint32_t>(degree, degree + worst.cost.phases.count);
  out["conflicts"] = Json::array();
  for (Collision const& conflict : worst.conflicts) out["conflicts"].push_back(swizproof::to_json(conflict));
  return out;
}

std::string figure_of(Architecture const& arch, std::string const& name, Instruction const& instruction,
                      WarpAccess<std::uint32_t> const& access) {
  std::string const text = svg(make_picture(arch, name, instruction, access));
  return text.substr(text.find("<svg"));
}

namespace {

constexpr unsigned lines_around = 3;  ///< of a line that the kernel's instructions come from

/// Part of one file on a page: the lines that the kernel's instructions come from and those around them, as runs of lines
/// that follow each other. A run ends where at least two lines are left out.
Json blocks_of(SourceFile const& file, std::set<unsigned> const& touched) {
  Json blocks = Json::array();
  std::uint64_t next = 1;  // the first line that is not yet shown
  for (unsigned const line : touched) {
    std::uint64_t from = line > lines_around ? line - lines_around : 1;
    if (from <= next + 1) from = next;
    if (blocks.empty() || from != next) blocks.push_back({{"first", from}, {"text", Json::array()}});
    for (next = std::max(from, next); next <= std::uint64_t{line} + lines_around; ++next) {
      std::optional<std::string> const text = file.line(next);
      if (!text) break;
      blocks.back()["text"].push_back(*text);
    }
  }
  std::erase_if(blocks.get_ref<Json::array_t&>(), [](Json const& block) { return block["text"].empty(); });
  return blocks;
}

}  // namespace

Json listing_of(Sources& sources, std::vector<std::pair<std::string, unsigned>> const& lines,
                std::function<Json(SourceFile const&)> const& describe) {
  std::vector<std::string> names;
  std::map<std::string, std::set<unsigned>> touched;
  for (auto const& [file, line] : lines) {
    if (file.empty()) continue;
    if (touched[file].empty()) names.push_back(file);
    touched[file].insert(line);
  }
  Json listing = Json::array();
  bool any = false;
  for (std::string const& name : names) {
    SourceFile const& file = sources.file(name);
    any = any || file.read();
    listing.push_back(describe(file));
    listing.back()["blocks"] = blocks_of(file, touched.at(name));
  }
  return any ? listing : Json();
}

void refuse_format(Common const& common, std::string const& format, std::string const& sarif,
                   std::string const& html) {
  if (format == "text") return;
  refuse_brief(common, "--format " + format);
  if (common.json || sarif == "-" || html == "-")
    throw InputError::whole("standard output takes one form", "--format " + format,
                            "write the others to files");
}

void refuse_two_forms(Common const& common, std::string const& sarif, std::string const& html) {
  if (sarif == "-") refuse_brief(common, "--sarif -");
  if (html == "-") refuse_brief(common, "--html -");
  if (int{common.json} + int{sarif == "-"} + int{html == "-"} < 2) return;
  std::string const one = common.json ? "--json" : "--sarif - --html -";
  throw InputError::whole("standard output takes one form", one, "write the others to files");
}

}  // namespace swizproof::command
