#include "parse/obligations/kernel_entries.hpp"

#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <optional>

namespace swizproof {

namespace {

class KernelEntries {
 public:
  KernelEntries(TomlFile const& file, std::vector<Architecture const*> const& archs, CompiledFiles& files,
                std::set<std::string>& names)
      : file_(file), archs_(archs), files_(files), names_(names) {}

  std::vector<Obligation> read(toml::node const& node) {
    Obligation entry;
    entry.name = entry.source = file_.place(node.source());
    try {
      toml::table const* const table = node.as_table();
      if (table == nullptr) file_.fail("a kernel is a table: [[kernel]]", node.source());
      return kernels_of(*table, entry);
    } catch (InputError const& error) {
      entry.what = Malformed{error};
      return {entry};
    }
  }

 private:
  std::vector<Obligation> kernels_of(toml::table const& table, Obligation entry) {
    static std::set<std::string_view> const known{
        "ptx",         "name",  "block",  "grid",           "param",   "shared_bytes", "excess",
        "at_most",     "allow", "data",   "arch",           "expect",  "bases",        "races",
        "same_values", "proxy", "global", "excess_sectors", "pointers"};
    file_.refuse_unknown_keys(table, known);
    file_.take_expectation(table, entry);
    toml::node const* const ptx = table.get("ptx");
    if (ptx == nullptr) file_.fail("the entry has no ptx", table.source(), "ptx = \"build/gemm.ptx\"");
    KernelHolds hold;
    hold.file = file_.string(*ptx, "ptx");
    CompiledFile const compiled = file_.within(*ptx, [&] { return compiled_file(file_, files_, hold.file); });
    hold.module = compiled.sass ? heads_of(*compiled.sass) : compiled.ptx;
    hold.options = kernel_options(table);
    hold.options.file = hold.file;
    hold.data_allowed = data_allowed(table);
    hold.limited = table.contains("excess") || table.contains("at_most");
    std::vector<BlockShape> const shapes =
        table.contains("block") ? file_.shapes_in(*table.get("block")) : std::vector<BlockShape>{};
    std::vector<std::size_t> chosen = functions_in(table, *hold.module);
    if (compiled.sass) chosen = lower(hold, *compiled.sass, chosen);
    std::vector<Architecture const*> const archs = architectures_of(table, compiled, hold.file);
    entry.arch_is_given = table.contains("arch") || !archs_.empty();
    must_match(table, hold, chosen);
    std::vector<Obligation> all;
    std::set<std::string> names = names_;  // those of a refused entry are free
    std::vector<LineAllowance> const allow = std::move(hold.options.allow);
    for (std::size_t const i : chosen) {
      hold.function = i;
      hold.kernel = demangled(hold.module->functions[i].name);
      hold.options.allow.clear();
      std::copy_if(allow.begin(), allow.end(), std::back_inserter(hold.options.allow),
                   [&](LineAllowance const& a) { return is_for(a, hold.module->functions[i]); });
      for (LineAllowance& a : hold.options.allow)
        a.of_one = shapes.size() <= 1 && archs.size() == 1 &&
                   std::count_if(chosen.begin(), chosen.end(),
                                 [&](std::size_t k) { return is_for(a, hold.module->functions[k]); }) == 1;
      for (std::size_t s = 0; s < std::max<std::size_t>(shapes.size(), 1); ++s) {
        hold.options.block = shapes.empty() ? std::optional<BlockShape>() : shapes[s];
        add_kernel(table, entry, hold, archs, names, all);
      }
    }
    names_ = std::move(names);
    return all;
  }

  /// Those of the entry, of the command line, of the code; else sm_90.
  [[nodiscard]] std::vector<Architecture const*> architectures_of(toml::table const& table,
                                                                  CompiledFile const& compiled,
                                                                  std::string const& path) const {
    if (toml::node const* const arch = table.get("arch")) return file_.architectures_in(*arch);
    if (!archs_.empty()) return archs_;
    if (!compiled.sass) {
      Architecture const* const own = ptx_target(*compiled.ptx).own;
      return {own == nullptr ? &sm_90 : own};
    }
    return {file_.within(*table.get("ptx"), [&] {
      return &parse_architecture(fmt::format("sm_{}", compiled.sass->arch), path);
    })};
  }

  /// Names of a dump's functions, which are lowered where they are chosen.
  static std::shared_ptr<ptx::Module const> heads_of(sass::Module const& dump) {
    auto heads = std::make_shared<ptx::Module>();
    for (sass::Function const& f : dump.functions) {
      ptx::Function& head = heads->functions.emplace_back();
      head.name = f.name, head.entry = f.entry;
    }
    return heads;
  }

  /// Lowers the chosen kernels of a dump; their indices in `hold`, which has no others.
  static std::vector<std::size_t> lower(KernelHolds& hold, sass::Module const& dump,
                                        std::vector<std::size_t> const& chosen) {
    auto heads = std::make_shared<ptx::Module>();
    auto lowered = std::make_shared<sass::LoweredKernels>();
    lowered->module = dump;
    std::vector<std::size_t> indices;
    for (std::size_t const i : chosen) {
      indices.push_back(indices.size());
      heads->functions.push_back(
          lowered->kernels
              .emplace_back(sass::lower(lowered->module, lowered->module.functions[i], hold.options.global))
              .head);
    }
    hold.module = std::move(heads), hold.sass = std::move(lowered);
    return indices;
  }

  /// One kernel with one shape of block, on each architecture.
  void add_kernel(toml::table const& table, Obligation one, KernelHolds const& hold,
                  std::vector<Architecture const*> const& archs, std::set<std::string>& names,
                  std::vector<Obligation>& all) const {
    ptx::Function const& kernel = hold.module->functions[hold.function];
    auto const& block = hold.options.block;
    if (std::string const why = block ? why_no_block(kernel, *block) : ""; !why.empty())
      file_.fail(hold.kernel + " cannot be launched with this block: " + why, table.get("block")->source());
    if (hold.sass ? needs_block(hold.sass->kernels[hold.function], hold.options)
                  : needs_block(*hold.module, kernel, hold.options))
      file_.fail("the shape of the block of " + hold.kernel + " is not known", table.source(),
                 "block = [32, 8], or several: block = [[32, 8], [32, 16]]");
    auto const& grid = hold.options.grid;
    std::string const name = hold.kernel + (block ? fmt::format(" block {}", fmt::join(*block, ",")) : "") +
                             (grid ? fmt::format(" grid {}", fmt::join(*grid, ",")) : "") +
                             params_in_words(hold.options.params);
    one.name = std::filesystem::path(hold.file).filename().string() + ": " + name;
    if (!names.insert(one.name).second) {  // that may be of another folder
      one.name = hold.file + ": " + name;
      if (!names.insert(one.name).second)
        file_.fail("two obligations are called '" + one.name + "'", table.source(),
                   "name each kernel in one entry");
    }
    one.what = hold;
    one.of_several = archs.size() > 1;
    for (Architecture const* arch : archs) all.emplace_back(one).arch = arch;
  }

  /// ` param #0=64, n=-1`; empty without parameters.
  static std::string params_in_words(std::map<std::string, ParameterValue> const& params) {
    std::string text;
    for (auto const& [name, value] : params)
      text +=
          fmt::format("{}{}={}", text.empty() ? " param " : ",", name, static_cast<std::int64_t>(value.bits));
    return text;
  }

  static std::vector<std::string> names_in(ptx::Module const& module) {
    std::vector<std::string> names;
    for (ptx::Function const& f : module.functions)
      if (f.entry) names.push_back(demangled(f.name));
    return names;
  }

  /// Indices of the kernels that `name` finds; all without it.
  [[nodiscard]] std::vector<std::size_t> functions_in(toml::table const& table,
                                                      ptx::Module const& module) const {
    toml::node const* const name = table.get("name");
    std::string const text = name == nullptr ? "" : file_.string(*name, "name");
    toml::node const& at = name == nullptr ? static_cast<toml::node const&>(table) : *name;
    std::vector<std::size_t> const found =
        file_.within(at, [&] { return kernels_named(Pattern(text, "name"), module); });
    if (found.empty())
      file_.fail(name == nullptr ? "the file has no kernel (.entry)"
                                 : "no kernel of the file has a name that matches",
                 at.source(), name == nullptr ? "" : "there " + kernels_in_words(names_in(module)));
    return found;
  }

  [[nodiscard]] KernelOptions kernel_options(toml::table const& table) const {
    KernelOptions options;
    if (table.contains("excess") && table.contains("at_most"))
      file_.fail("excess and at_most both bound an access", table.get("at_most")->source(),
                 "give one of them");
    if (toml::node const* const excess = table.get("excess"))
      options.excess = static_cast<unsigned>(file_.number(*excess, "excess", 0, 1024));
    if (toml::node const* const most = table.get("at_most"))
      options.at_most = static_cast<unsigned>(file_.number(*most, "at_most", 1, 1024));
    if (toml::node const* const bytes = table.get("shared_bytes"))
      options.shared_bytes = file_.number(*bytes, "shared_bytes", 1, 1 << 20);
    if (toml::node const* const bases = table.get("bases")) {
      std::string const text = file_.string(*bases, "bases");
      if (text != "device" && text != "ptx")
        file_.fail("bases is \"device\" or \"ptx\"", bases->source(),
                   "bases = \"ptx\": all that PTX permits");
      options.any_base = text == "ptx";
    }
    if (toml::node const* const races = table.get("races")) {
      if (!races->is_boolean())
        file_.fail("races is true or false", races->source(), "races = true: the kernel has none");
      options.races = races->as_boolean()->get();
    }
    if (toml::node const* const same = table.get("same_values")) {
      if (!same->is_boolean() || !options.races)
        file_.fail("same_values is true or false, and of races", same->source(),
                   "races = true, same_values = true: two writes of one value are none");
      options.same_values = same->as_boolean()->get();
    }
    if (toml::node const* const proxy = table.get("proxy")) {
      std::string const text = file_.string(*proxy, "proxy");
      if ((text != "write" && text != "off") || !options.races)
        file_.fail("proxy is \"write\" or \"off\", with races = true", proxy->source(),
                   "proxy = \"off\": no fence.proxy.async is needed");
      options.proxies = text != "off";
    }
    global_options(table, options);
    if (toml::node const* const grid = table.get("grid")) {
      std::string const text = file_.three(*grid, "grid", 1);
      options.grid = file_.within(*grid, [&] { return parse_grid(text); });
    }
    if (toml::node const* const param = table.get("param")) {
      if (!param->is_table())
        file_.fail("param is a table: {\"#0\" = 1024}, which is the first, or {NAME = 1024}",
                   param->source());
      for (auto const& [name, value] : *param->as_table())
        options.params[std::string(name.str())] = parameter(value);
    }
    if (toml::node const* const allow = table.get("allow")) options.allow = allowances(*allow);
    for (std::size_t k = 0; k < options.allow.size() && !options.global; ++k)
      if (options.allow[k].global)
        file_.fail("sectors are of global memory", (*table.get("allow")->as_array())[k].source(),
                   "global = true");
    return options;
  }

  /// `global = true`, and what needs it.
  void global_options(toml::table const& table, KernelOptions& options) const {
    if (toml::node const* const global = table.get("global")) {
      if (!global->is_boolean())
        file_.fail("global is true or false", global->source(), "global = true: sectors of global memory");
      options.global = global->as_boolean()->get();
    }
    for (char const* const key : {"excess_sectors", "pointers"})
      if (toml::node const* const at = table.get(key); at != nullptr && !options.global)
        file_.fail(std::string(key) + " is of global memory", at->source(), "global = true");
    if (toml::node const* const excess = table.get("excess_sectors"))
      options.excess_sectors = static_cast<unsigned>(file_.number(*excess, "excess_sectors", 0, 32));
    if (toml::node const* const pointers = table.get("pointers")) {
      options.pointers = static_cast<unsigned>(file_.number(*pointers, "pointers", 1, 1 << 20));
      if (!std::has_single_bit(options.pointers))
        file_.fail("pointers is a power of two: bytes", pointers->source(), "pointers = 256");
    }
  }

  [[nodiscard]] ParameterValue parameter(toml::node const& node) const {
    using Limits = std::numeric_limits<std::int64_t>;
    std::uint64_t const bits = file_.number(node, "the value of a parameter", Limits::min(), Limits::max());
    return {bits, bits >> 63 != 0};
  }

  /// `allow = [{line = "gemm.cu:88", at_most = 8}]`
  [[nodiscard]] std::vector<LineAllowance> allowances(toml::node const& node) const {
    toml::array const* const array = node.as_array();
    if (array == nullptr)
      file_.fail("allow is a list: [{line = \"gemm.cu:88\", at_most = 8}]", node.source());
    std::vector<LineAllowance> all;
    for (toml::node const& item : *array) all.push_back(allowance(item));
    return all;
  }
  [[nodiscard]] LineAllowance allowance(toml::node const& item) const {
    toml::table const* const one = item.as_table();
    bool const global = one != nullptr && one->contains("sectors");
    if (one == nullptr || !one->contains("line") || one->contains("at_most") == global)
      file_.fail(
          "an allowance is {line = \"gemm.cu:88\", at_most = 8}, of global memory {line = .., sectors = 8}, "
          "with kernel = \"NAME\" if it is not for all",
          item.source());
    static std::set<std::string_view> const known{"line", "at_most", "sectors", "kernel",
                                                  "data", "excess",  "lost"};
    file_.refuse_unknown_keys(*one, known);
    char const* const most_key = global ? "sectors" : "at_most";
    LineAllowance out{file_.string(*one->get("line"), "line"),
                      static_cast<unsigned>(file_.number(*one->get(most_key), most_key, 1, 1024))};
    out.global = global;
    if (toml::node const* const kernel = one->get("kernel")) {
      out.kernel = file_.string(*kernel, "kernel");
      file_.within(*kernel, [&] { return Pattern(out.kernel, "kernel").found_in(""); });
    }
    if (toml::node const* const data = one->get("data")) {
      if (!data->is_boolean())
        file_.fail("data of an allowance is true or false", data->source(),
                   "data = true: at_most is for accesses that depend on data");
      out.data = data->as_boolean()->get();
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    if (toml::node const* const sum = one->get("excess")) out.excess = file_.number(*sum, "excess", 0, most);
    if (toml::node const* const sum = one->get("lost")) out.lost = file_.number(*sum, "lost", 0, most);
    return out;
  }
  /// True if an allowance is for this kernel.
  static bool is_for(LineAllowance const& allowance, ptx::Function const& kernel) {
    Pattern const pattern(allowance.kernel, "kernel");
    return names_kernel(pattern, kernel.name);
  }

  [[nodiscard]] bool data_allowed(toml::table const& table) const {
    toml::node const* const data = table.get("data");
    std::string const word = data == nullptr ? "refuse" : file_.string(*data, "data");
    if (word != "allow" && word != "refuse")
      file_.fail("data must be \"allow\" or \"refuse\"", data->source());
    return word == "allow";
  }

  static std::vector<KernelAccess> accesses_of(KernelHolds const& hold, std::size_t kernel) {
    bool const global = hold.options.global;
    return hold.sass ? accesses_in(hold.sass->module, hold.sass->kernels[kernel], global)
                     : accesses_in(*hold.module, hold.module->functions[kernel], global);
  }

  /// Refuses a line of `allow` without an access, or for an access of another line, and a parameter that no kernel has.
  void must_match(toml::table const& table, KernelHolds const& hold,
                  std::vector<std::size_t> const& chosen) const {
    auto const of_some = [&](auto const& holds) {
      return std::any_of(chosen.begin(), chosen.end(),
                         [&](std::size_t i) { return holds(hold.module->functions[i]); });
    };
    for (auto const& param : hold.options.params)
      if (!of_some([&](ptx::Function const& f) { return parameter_of(f, param.first).has_value(); }))
        file_.fail("no kernel has a parameter '" + param.first + "'", table.get("param")->source(),
                   "\"#0\" is the first");
    for (std::size_t const i : chosen)
      if (std::string const why = why_no_parameter(hold.module->functions[i], hold.options.params);
          !why.empty())
        file_.fail(demangled(hold.module->functions[i].name) + ": " + why, table.get("param")->source());
    std::vector<LineAllowance> const& allow = hold.options.allow;
    if (allow.empty()) return;
    std::vector<bool> used(allow.size());
    for (std::size_t const i : chosen)
      for (KernelAccess const& a : accesses_of(hold, i)) {
        std::array<std::size_t, 2> all{allow.size(), allow.size()};  // without and with `data`
        for (std::size_t k = 0; k < allow.size(); ++k) {
          if (allow[k].global != a.sectors.has_value() || !is_at(a, allow[k].line, hold.file) ||
              !is_for(allow[k], hold.module->functions[i]))
            continue;
          std::size_t& found = all[allow[k].data ? 1 : 0];
          if (found != allow.size())
            file_.fail(fmt::format("'{}' and '{}' are of one access: it has an allowance already",
                                   allow[found].line, allow[k].line),
                       (*table.get("allow")->as_array())[k].source());
          found = k, used[k] = true;
        }
      }
    for (std::size_t k = 0; k < allow.size(); ++k)
      if (!used[k])
        file_.fail(fmt::format("no access to {} memory is at '{}'", allow[k].global ? "global" : "shared",
                               allow[k].line) +
                       (allow[k].kernel.empty() ? "" : " in a kernel that '" + allow[k].kernel + "' finds"),
                   (*table.get("allow")->as_array())[k].source(), again(table, hold));
  }
  /// The command that writes the allowances of an entry again.
  [[nodiscard]] std::string again(toml::table const& table, KernelHolds const& hold) const {
    std::string blocks;
    if (toml::node const* const block = table.get("block"))
      for (BlockShape const& shape : file_.shapes_in(*block))
        blocks += fmt::format(" --block {}", fmt::join(shape, ","));
    if (hold.options.races) blocks += " --races";
    if (hold.options.global) blocks += " --global";
    return fmt::format(
        "if it has moved: 'swizproof kernel {}{} --emit lock' writes the lines as they are now", hold.file,
        blocks);
  }

  TomlFile const& file_;
  std::vector<Architecture const*> const& archs_;
  CompiledFiles& files_;
  std::set<std::string>& names_;
};

}  // namespace

CompiledFile compiled_file(TomlFile const& obligations, CompiledFiles& files, std::string const& file) {
  CompiledFile& one = files[file];
  if (one.ptx || one.sass) return one;
  std::string const path = (std::filesystem::path(obligations.folder()) / file).string();
  std::string text = read_file(path);
  must_be_code(text, path);
  if (sass::is_sass(text))
    one.sass = std::make_shared<sass::Module const>(sass::read_module(std::move(text), path));
  else
    one.ptx = std::make_shared<ptx::Module const>(ptx::read_module(std::move(text), path));
  return one;
}

std::vector<Obligation> kernel_obligations(TomlFile const& file, toml::node const& entry,
                                           std::vector<Architecture const*> const& archs,
                                           CompiledFiles& files, std::set<std::string>& names) {
  return KernelEntries(file, archs, files, names).read(entry);
}

}  // namespace swizproof
