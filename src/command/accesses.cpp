// swizproof accesses: the named warp patterns.
#include "command/command.hpp"

#include "text/report.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace swizproof::command {

namespace {

void run(Common const& common) {
  Architecture const& arch = parse_architecture(common.arch);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  Style const style(common.color, STDOUT_FILENO);
  if (!common.json)
    fmt::print("{}\n", style.strong(fmt::format("{:<20} {:>9}  {:>5}  {}", "name", "footprint", "ideal",
                                                "what each lane asks for; where it is seen")));
  for (NamedAccess const& named : named_accesses()) {
    Access const access = named.access;
    unsigned const ideal = ideal_wavefronts(arch, access.instruction);
    all.push_back({{"name", named.access.name},
                   {"text", named.text},
                   {"instruction", to_string(access.instruction)},
                   {"rows", access.pattern().rows},
                   {"row_bytes", access.pattern().row_bytes},
                   {"ideal", ideal},
                   {"seen_in", named.seen_in}});
    if (!common.json)
      fmt::print("{:<20} {:>9}  {:>5}  {}\n{:<38}{}\n", named.access.name,
                 fmt::format("{}x{} B", access.pattern().rows, access.pattern().row_bytes), ideal, named.text,
                 "", style.faint(named.seen_in));
  }
  if (common.json)
    fmt::print("{}\n", json_text({{"arch", arch.name},
                                  {"evidence", word(arch.support)},
                                  {"evidence_text", arch.evidence},
                                  {"accesses", all}},
                                 2));
  else
    fmt::print(
        "\nRow is the row of the tile, byte the position in it. ideal: the least wavefronts that\n"
        "the bytes of 32 lanes need; loads whose lanes share addresses may merge and cost less ({}: {}).\n",
        arch.name, arch.evidence);
}

}  // namespace

void add_accesses(CLI::App& app, Common& common) {
  CLI::App* const sub = app.add_subcommand("accesses", "List the named warp access patterns of real kernels");
  sub->callback([&common] { run(common); });
}

}  // namespace swizproof::command
