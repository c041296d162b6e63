#include "command/kernel/entries.hpp"

#include "command/kernel/launch.hpp"
#include "command/kernel/lock.hpp"
#include "command/layout/emit.hpp"
#include "report/toml_entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// Results of one entry.
struct EntryOf {
  std::string ptx{}, name{};
  std::string block{};  ///< as TOML has it; empty: that of the code
  std::vector<Result const*> results{};
};

/// Throws InputError for a kernel that no entry can be about.
void refuse_without_entry(Result const& r) {
  if (r.no_shape)
    throw InputError::whole("an entry has the shape of the block, and this kernel needs one", r.name,
                            "--block 32,8 gives it");
  if (is_cuda_source(r.file))
    throw InputError::whole("a [[kernel]] entry is of a file of PTX or SASS, and this is CUDA source", r.file,
                            "nvcc -ptx -lineinfo -arch=sm_90a writes its PTX");
  if (!r.part.empty())
    throw InputError::whole("a [[kernel]] entry is of a file of PTX or SASS, and this is a binary", r.file,
                            "cuobjdump -xptx all writes its PTX, nvdisasm -g FILE.cubin its machine code");
}

std::vector<EntryOf> by_file(std::vector<Result> const& results, std::string const& name) {
  std::vector<EntryOf> all;
  for (Result const& r : results) {
    refuse_without_entry(r);
    auto at = std::find_if(all.begin(), all.end(), [&](EntryOf const& e) { return e.ptx == r.file; });
    if (at == all.end()) at = all.insert(all.end(), {r.file, name});
    at->results.push_back(&r);
  }
  return all;
}

/// One for each of the given shapes, or for all of them.
std::vector<EntryOf> with_shapes(EntryOf const& file, std::vector<std::string> const& given, bool lock) {
  std::vector<std::string> lists, shapes;  // of TOML, and of reports
  for (std::string const& block : given) {
    std::vector<std::string> extents;
    for (std::uint32_t const extent : parse_block(block)) extents.push_back(fmt::format("{}", extent));
    std::string list = toml_list(extents);
    if (std::find(lists.begin(), lists.end(), list) != lists.end()) continue;
    lists.push_back(std::move(list)), shapes.push_back(fmt::format("{}", fmt::join(extents, ",")));
  }
  std::vector<EntryOf> all{file};
  if (lists.size() == 1) all[0].block = lists[0];
  if (!lock && lists.size() > 1) all[0].block = toml_list(lists);
  if (!lock || lists.empty()) return all;
  all.assign(lists.size(), {file.ptx, file.name});
  for (std::size_t i = 0; i < lists.size(); ++i) {
    all[i].block = lists[i];
    std::copy_if(file.results.begin(), file.results.end(), std::back_inserter(all[i].results),
                 [&](Result const* r) { return r->report.block == shapes[i]; });
  }
  return all;
}

/// One for the kernels of each shape, by their names.
std::vector<EntryOf> by_shape(EntryOf const& file) {
  std::vector<EntryOf> all;
  std::vector<std::string> shapes;
  for (Result const* const r : file.results) {
    std::string const& shape = r->report.block;  // `32n,1,1` is that of the code
    std::string const list = shape.find_first_not_of("0123456789,") == shape.npos ? "[" + shape + "]" : "";
    auto at = std::find_if(all.begin(), all.end(), [&](EntryOf const& e) { return e.block == list; });
    if (at == all.end()) at = all.insert(all.end(), {file.ptx, "", list});
    if (std::string const name = exactly(r->name); at->name.find(name) == std::string::npos)
      at->name += (at->name.empty() ? "" : "|") + name;
    at->results.push_back(r);
  }
  return all;
}

std::string text_of(EntryOf const& one, Common const& common, KernelArguments const& arguments,
                    KernelOptions const& options, Sources& sources) {
  bool const lock = arguments.emit == "lock";
  std::vector<std::pair<std::string, std::string>> params;
  for (std::string const& text : arguments.params) {
    auto const [key, value] = parse_param(text);
    params.emplace_back(toml_key(key), fmt::format("{}", static_cast<std::int64_t>(value.bits)));
  }
  // A lock states only what is true now.
  bool const races =
      options.races && (!lock || std::all_of(one.results.begin(), one.results.end(), [](Result const* r) {
        return r->report.races && r->report.races->verdict == RaceVerdict::proved;
      }));
  TomlEntry entry("kernel");
  entry.add("ptx", one.ptx).add("name", one.name);
  if (!one.block.empty()) entry.add_value("block", one.block);
  if (!arguments.grid.empty()) entry.add_value("grid", "[" + arguments.grid + "]");
  if (!params.empty()) entry.add_value("param", toml_table(params));
  if (options.any_base) entry.add("bases", "ptx");
  if (races) entry.add_value("races", "true");
  if (races && options.same_values) entry.add_value("same_values", "true");
  if (races && !options.proxies) entry.add("proxy", "off");
  if (options.global)
    entry.add_value("global", "true")
        .add("excess_sectors", std::optional<std::uint64_t>(options.excess_sectors));
  if (options.pointers != 0) entry.add("pointers", std::optional<std::uint64_t>(options.pointers));
  entry.add("shared_bytes", options.shared_bytes).add("at_most", options.at_most);
  if (lock)
    entry.add_value("allow", allowances_of(one.results, sources));
  else
    entry.add("data", "allow");
  if (common.arch_is_given) entry.add("arch", common.arch);
  return entry.text();
}

}  // namespace

std::string entries_of(Common const& common, KernelArguments const& arguments, KernelOptions const& options,
                       std::vector<Result> const& results, Sources& sources) {
  bool const by_name = LaunchBlocks(arguments.blocks).by_name();
  std::string text;
  for (EntryOf const& file : by_file(results, by_name ? "" : arguments.kernel))
    for (EntryOf const& one :
         by_name ? by_shape(file) : with_shapes(file, arguments.blocks, arguments.emit == "lock"))
      text += (text.empty() ? "" : "\n") + text_of(one, common, arguments, options, sources);
  return text;
}

}  // namespace swizproof::command::kernel_detail
