#include "command/layout/emit.hpp"

#include "command/kernel/launch.hpp"

#include <fmt/format.h>

namespace swizproof::command {

void add_emit_toml_to(CLI::App& app, std::string& emit) {
  app.add_option("--emit", emit, "toml: print the question as an obligation for 'swizproof prove'")
      ->check(CLI::IsMember({"toml"}));
}

TomlEntry obligation_of(Common const& common, std::string const& about, bool of_architecture) {
  TomlEntry entry("obligation");
  entry.add("name", obligation_name(about));
  if (of_architecture && common.arch_is_given) entry.add("arch", common.arch);
  return entry;
}

void print_obligation(Common& common, nlohmann::ordered_json document, std::string const& entries,
                      std::vector<std::string> const& notes) {
  refuse_brief(common, "--emit toml");
  if (common.json) {
    document["obligation"] = entries;
    return print_json(common, document);
  }
  for (std::string const& note : notes) fmt::print(common.streams.out, "# note: {}\n", obligation_name(note));
  fmt::print(common.streams.out, "{}", entries);
}

TomlEntry& add_accesses(TomlEntry& entry, std::vector<std::string> const& accesses,
                        std::string const& block) {
  entry.add("access", accesses);
  if (block.empty()) return entry;
  std::vector<std::string> extents;
  for (std::uint32_t const extent : parse_block(block)) extents.push_back(std::to_string(extent));
  return entry.add_value("block", toml_list(extents));
}

}  // namespace swizproof::command
