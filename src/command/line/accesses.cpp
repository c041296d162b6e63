// swizproof accesses: the named warp patterns.
#include "command/line/command.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(std::span<NamedAccess const> accesses, Architecture const& arch) {
  Json all = Json::array();
  for (NamedAccess const& named : accesses)
    all.push_back({{"name", named.access.name},
                   {"text", named.text},
                   {"instruction", to_string(named.access.instruction)},
                   {"rows", named.access.pattern().rows},
                   {"row_bytes", named.access.pattern().row_bytes},
                   {"ideal", has(arch, named.access.instruction)
                                 ? Json(ideal_wavefronts(arch, named.access.instruction))
                                 : Json()},
                   {"seen_in", named.seen_in}});
  return {{"arch", arch.name},
          {"evidence", name(arch.support)},
          {"evidence_text", arch.evidence},
          {"certainty", certainty(arch)},
          {"accesses", all}};
}

void print_text(std::span<NamedAccess const> accesses, Architecture const& arch, Style const& style) {
  fmt::print("{}\n", style.strong(fmt::format("{:<20} {:>9}  {:>5}  {}", "name", "footprint", "ideal",
                                              "what each lane accesses; where it is seen")));
  for (NamedAccess const& named : accesses) {
    std::string const ideal = has(arch, named.access.instruction)
                                  ? std::to_string(ideal_wavefronts(arch, named.access.instruction))
                                  : "-";
    fmt::print("{:<20} {:>9}  {:>5}  {}\n{:<38}{}\n", named.access.name,
               fmt::format("{}x{} B", named.access.pattern().rows, named.access.pattern().row_bytes), ideal,
               named.text, "", style.faint(named.seen_in));
  }
  fmt::print(
      "\nrow: row of the tile; byte: offset in that row. ideal: the fewest wavefronts that\n"
      "the bytes of 32 lanes need; loads whose lanes share addresses may merge and cost less.\n{}\n",
      certainty_line(arch, style));
}

void run(Common const& common) {
  Architecture const& arch = parse_architecture(common.arch);
  if (common.json)
    print_json(common, to_json(named_accesses(), arch));
  else
    print_text(named_accesses(), arch, Style(common.color, STDOUT_FILENO));
}

}  // namespace

void add_accesses(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "accesses", "List the named warp access patterns of real kernels",
                  {"swizproof accesses", "which warp patterns have names, and what do they cost at least?"});
  sub->callback([&common] { run(common); });
}

}  // namespace swizproof::command
