#include "race_found.hpp"

#include "address_text.hpp"
#include "named_access.hpp"

#include <fmt/format.h>

#include <tuple>

namespace swizproof::kernel_detail {

using program::Space;

namespace {

std::array<std::uint32_t, 3> thread_of(std::uint32_t t, RaceLaunch const& launch) {
  return {t % launch.block[0], t / launch.block[0] % launch.block[1], t / launch.block[0] / launch.block[1]};
}

}  // namespace

Race FoundRaces::race_of(RaceRun::Found const& f, RaceLaunch const& launch, RaceRun& runs) const {
  Race race;
  race.kind = f.kind, race.byte = f.byte, race.interval = f.interval;
  race.block = launch.block, race.block_index = launch.index;
  for (unsigned k = 0; k < 2; ++k) {
    RaceAccess& a = k == 0 ? race.first : race.second;
    KernelAccess const named = described(module_, program_.accesses[f.access[k]], false);
    a.op = named.op, a.ptx_line = named.ptx_line, a.source = {named.file, named.line},
    a.inlined_at = named.inlined_at;
    a.write = f.write[k];
    a.thread = thread_of(f.thread[k], launch);
  }
  std::tie(race.array, race.offset) = array_at(f.byte);
  for (auto const& [symbol, offset] : runs.read()) {
    auto const value = launch.params.find({symbol, offset});
    program::Variable const& v = program_.symbols[symbol];
    if (v.bytes == 8 && params_.count(v.name) == 0) continue;  // a pointer
    race.params.emplace_back(offset == 0 ? v.name : fmt::format("{}+{}", v.name, offset),
                             value == launch.params.end() ? 0 : value->second);
  }
  LoadSets& sets = runs.sets();
  LoadSets::Set const data = options_.same_values ? sets.join(f.data, f.values) : f.data;
  race.more_data = sets.is_cut(data);
  for (LoadedNumber const& load : sets.loads(data)) race.data.push_back(data_of(load, launch));
  return race;
}

RaceData FoundRaces::data_of(LoadedNumber const& load, RaceLaunch const& launch) const {
  RaceData out;
  out.value = load.value;
  out.load.ptx_line = load.line, out.load.thread = thread_of(load.thread, launch);
  for (ptx::Instruction const& i : function_.body) {
    bool const loads = i.opcode.name == "atom" || i.opcode.name == "red" ||
                       (i.opcode.name == "ld" && i.opcode.space != Space::param);
    if (i.line != load.line || !loads) continue;
    auto const at = ptx::source_lines(module_, i.location);
    out.load.op = i.opcode.text;
    if (!at.empty()) out.load.source = at.front(), out.load.inlined_at.assign(at.begin() + 1, at.end());
    break;
  }
  for (std::uint32_t i = 0; i < program_.params; ++i) {
    std::uint32_t const symbol = program_.first_param + i;
    auto const word = [&](std::uint64_t offset) {
      auto const found = launch.params.find({symbol, offset});
      return found == launch.params.end() ? 0 : found->second;
    };
    std::uint64_t const pointer = word(0) | word(4) << 32;
    if (program_.symbols[symbol].bytes == 8 && load.address - pointer < std::uint64_t{1} << 32)
      out.address = fmt::format("{}+{}", program_.symbols[symbol].name, load.address - pointer);
  }
  if (!out.address.empty() || load.address >= RaceRun::shared_window) return out;
  auto const [array, offset] = array_at(load.address);
  if (!array.empty()) out.address = fmt::format("{}+{}", array, offset);
  return out;
}

std::pair<std::string, std::uint64_t> FoundRaces::array_at(std::uint64_t byte) const {
  std::pair<std::string, std::uint64_t> out;
  for (program::Variable const& v : program_.symbols)
    if (v.space == Space::shared && v.placed && byte >= *v.placed &&
        (v.extern_array || byte < *v.placed + v.bytes))
      out = {short_name(v.name), byte - *v.placed};
  return out;
}

}  // namespace swizproof::kernel_detail
