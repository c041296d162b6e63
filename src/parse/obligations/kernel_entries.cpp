#include "parse/obligations/kernel_entries.hpp"

#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"
#include "system/source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
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
    KernelHolds all_files;
    all_files.options = kernel_options(table);
    all_files.data_allowed = data_allowed(table);
    all_files.limited = table.contains("excess") || table.contains("at_most");
    std::vector<std::string> const paths =
        file_.within(*ptx, [&] { return compiled_files(file_, file_.string(*ptx, "ptx")); });
    std::vector<Part> parts;
    for (std::string const& path : paths) parts.push_back(part_of(table, all_files, path, paths.size() > 1));
    if (std::all_of(parts.begin(), parts.end(), [](Part const& p) { return p.chosen.empty(); }))
      file_.fail("no kernel of the files has a name that matches", table.get("name")->source());
    entry.arch_is_given = table.contains("arch") || !archs_.empty();
    std::vector<LineAllowance> allow = std::move(all_files.options.allow);
    follow(allow, parts);
    must_match(table, allow, parts);
    std::vector<BlockShape> const shapes =
        table.contains("block") ? file_.shapes_in(*table.get("block")) : std::vector<BlockShape>{};
    for (LineAllowance& a : allow) a.of_one = shapes.size() <= 1 && is_of_one(a, parts);
    std::vector<Obligation> all;
    std::set<std::string> names = names_;  // those of a refused entry are free
    for (Part& part : parts) add_kernels(table, entry, part, allow, shapes, names, all);
    names_ = std::move(names);
    return all;
  }

  /// One file of an entry, and its kernels that the entry names.
  struct Part {
    KernelHolds hold{};
    std::vector<std::size_t> chosen{};
    std::vector<Architecture const*> archs{};
  };

  /// `several`: the entry has other files, which may have the kernels that it names.
  Part part_of(toml::table const& table, KernelHolds const& all, std::string const& path, bool several) {
    Part part{all};
    KernelHolds& hold = part.hold;
    CompiledFile const compiled =
        file_.within(*table.get("ptx"), [&] { return compiled_file(file_, files_, path); });
    hold.file = hold.options.file = path;
    hold.module = compiled.sass ? heads_of(*compiled.sass) : compiled.ptx;
    hold.options.allow.clear();
    part.chosen = functions_in(table, *hold.module, several);
    if (compiled.sass) part.chosen = lower(hold, *compiled.sass, part.chosen);
    part.archs = architectures_of(table, compiled, path);
    return part;
  }

  /// True if one obligation alone has an allowance.
  static bool is_of_one(LineAllowance const& allowance, std::vector<Part> const& parts) {
    std::size_t count = 0;
    for (Part const& p : parts)
      for (std::size_t const i : p.chosen)
        count += is_for(allowance, p.hold.module->functions[i]) ? p.archs.size() : 0;
    return count == 1;
  }

  /// The obligations of one file.
  void add_kernels(toml::table const& table, Obligation const& entry, Part& part,
                   std::vector<LineAllowance> const& allow, std::vector<BlockShape> const& shapes,
                   std::set<std::string>& names, std::vector<Obligation>& all) const {
    KernelHolds& hold = part.hold;
    for (std::size_t const i : part.chosen) {
      hold.function = i;
      hold.kernel = demangled(hold.module->functions[i].name);
      hold.options.allow.clear();
      std::copy_if(allow.begin(), allow.end(), std::back_inserter(hold.options.allow),
                   [&](LineAllowance const& a) { return is_for(a, hold.module->functions[i]); });
      for (std::size_t s = 0; s < std::max<std::size_t>(shapes.size(), 1); ++s) {
        hold.options.block = shapes.empty() ? std::optional<BlockShape>() : shapes[s];
        add_kernel(table, entry, hold, part.archs, names, all);
      }
    }
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
  [[nodiscard]] std::vector<std::size_t> functions_in(toml::table const& table, ptx::Module const& module,
                                                      bool several) const {
    toml::node const* const name = table.get("name");
    std::string const text = name == nullptr ? "" : file_.string(*name, "name");
    toml::node const& at = name == nullptr ? static_cast<toml::node const&>(table) : *name;
    std::vector<std::size_t> const found =
        file_.within(at, [&] { return kernels_named(Pattern(text, "name"), module); });
    if (found.empty() && !(several && name != nullptr))
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
    if (toml::node const* const at = table.get("excess_sectors"); at != nullptr && !options.global)
      file_.fail("excess_sectors is of global memory", at->source(), "global = true");
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
    static std::set<std::string_view> const known{"line",   "at_most", "sectors", "kernel", "data",
                                                  "excess", "lost",    "text",    "reason"};
    file_.refuse_unknown_keys(*one, known);
    char const* const most_key = global ? "sectors" : "at_most";
    LineAllowance out{file_.string(*one->get("line"), "line"),
                      static_cast<unsigned>(file_.number(*one->get(most_key), most_key, 1, 1024))};
    out.global = global;
    if (toml::node const* const text = one->get("text")) out.text = file_.string(*text, "text");
    if (toml::node const* const reason = one->get("reason")) out.reason = file_.string(*reason, "reason");
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
  void must_match(toml::table const& table, std::vector<LineAllowance> const& allow,
                  std::vector<Part> const& parts) const {
    must_have_parameters(table, parts);
    if (allow.empty()) return;
    std::vector<bool> used(allow.size());
    each_access(parts, [&](Part const& part, ptx::Function const& kernel, KernelAccess const& a) {
      std::array<std::size_t, 2> all{allow.size(), allow.size()};  // without and with `data`
      for (std::size_t k = 0; k < allow.size(); ++k) {
        if (allow[k].global != a.sectors.has_value() || !is_at(a, allow[k].line, part.hold.file) ||
            !is_for(allow[k], kernel))
          continue;
        std::size_t& found = all[allow[k].data ? 1 : 0];
        if (found != allow.size())
          file_.fail(fmt::format("'{}' and '{}' are of one access: it has an allowance already",
                                 allow[found].line, allow[k].line),
                     (*table.get("allow")->as_array())[k].source());
        found = k, used[k] = true;
      }
    });
    for (std::size_t k = 0; k < allow.size(); ++k)
      if (!used[k])
        file_.fail(fmt::format("no access to {} memory is at '{}'", allow[k].global ? "global" : "shared",
                               allow[k].line) +
                       (allow[k].kernel.empty() ? "" : " in a kernel that '" + allow[k].kernel + "' finds"),
                   (*table.get("allow")->as_array())[k].source(), again(table, parts.front().hold));
  }

  void must_have_parameters(toml::table const& table, std::vector<Part> const& parts) const {
    KernelOptions const& options = parts.front().hold.options;
    std::set<std::string> missing;
    for (auto const& param : options.params) missing.insert(param.first);
    for (Part const& p : parts)
      for (std::size_t const i : p.chosen) {
        ptx::Function const& kernel = p.hold.module->functions[i];
        std::erase_if(missing,
                      [&](std::string const& name) { return parameter_of(kernel, name).has_value(); });
        if (std::string const why = why_no_parameter(kernel, options.params); !why.empty())
          file_.fail(demangled(kernel.name) + ": " + why, table.get("param")->source());
      }
    if (!missing.empty())
      file_.fail("no kernel has a parameter '" + *missing.begin() + "'", table.get("param")->source(),
                 "\"#0\" is the first");
  }

  template <class Fn>
  static void each_access(std::vector<Part> const& parts, Fn const& fn) {
    for (Part const& p : parts)
      for (std::size_t const i : p.chosen)
        for (KernelAccess const& a : accesses_of(p.hold, i)) fn(p, p.hold.module->functions[i], a);
  }

  /// Gives allowances with a text the lines at which the source has it now, where lines have moved: those with an access, in their order, if they are as
  /// many as the allowances of this text. Else, and where the source cannot be read, the numbers stay.
  static void follow(std::vector<LineAllowance>& allow, std::vector<Part> const& parts) {
    Sources sources({});
    for (std::size_t first = 0; first < allow.size(); ++first) {
      LineAllowance const one = allow[first];
      if (one.text.empty() || !one.was_at.empty()) continue;
      std::string const file{split_line(one.line).first};
      std::map<std::uint32_t, std::size_t> like;  // allowances, by their lines
      for (std::size_t k = first; k < allow.size(); ++k)
        if (LineAllowance const& a = allow[k]; a.text == one.text && a.kernel == one.kernel &&
                                               a.data == one.data && a.global == one.global &&
                                               split_line(a.line).first == file)
          like[split_line(a.line).second] = k;
      std::set<std::uint32_t> lines;
      each_access(parts, [&](Part const&, ptx::Function const& kernel, KernelAccess const& a) {
        SourceLine const at = line_of_kernel(a);
        if (one.global != a.sectors.has_value() || !is_for(one, kernel) || !ends_with_path(at.file, file))
          return;
        if (trimmed(sources.file(at.file).line(at.line).value_or("")) == one.text) lines.insert(at.line);
      });
      if (lines.size() != like.size()) continue;
      auto now = lines.begin();
      for (auto const& [was, k] : like) {
        if (std::uint32_t const is = *now++; is != was) {
          allow[k].was_at = allow[k].line;
          allow[k].line = fmt::format("{}:{}", file, is);
        }
      }
    }
  }

  /// `gemm.cu` and 88 of `gemm.cu:88`.
  static std::pair<std::string, std::uint32_t> split_line(std::string const& line) {
    std::size_t const colon = line.rfind(':');
    if (colon == line.npos) return {line, 0};
    return {line.substr(0, colon),
            static_cast<std::uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10))};
  }
  static bool ends_with_path(std::string const& path, std::string const& end) {
    return path == end || path.ends_with("/" + end);
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

std::vector<std::string> compiled_files(TomlFile const& obligations, std::string const& path) {
  namespace fs = std::filesystem;
  if (path.empty())
    throw InputError::whole("ptx names no file", "ptx = \"\"",
                            "a file, a folder or a pattern: ptx = \"build/**/*.ptx\"");
  fs::path const whole = fs::path(obligations.folder()) / path;
  std::error_code error;
  bool const folder = fs::is_directory(whole, error);
  if (!folder && path.find_first_of("*?") == path.npos) return {path};
  // A pattern begins with folders without one.
  fs::path root = folder ? fs::path(path) : fs::path(path.substr(0, path.find_first_of("*?"))).parent_path();
  std::string expression;  // of a path below it
  for (std::size_t i = 0; !folder && i < path.size(); ++i) {
    bool const any_folders = path.compare(i, 2, "**") == 0;
    if (any_folders) {
      i += path.compare(i, 3, "**/") == 0 ? 2 : 1;
      expression += path[i] == '/' ? "(.*/)?" : ".*";
    } else if (path[i] == '*' || path[i] == '?') {
      expression += path[i] == '*' ? "[^/]*" : "[^/]";
    } else {
      expression += (std::string_view("\\^$.|+()[]{}").find(path[i]) == std::string_view::npos ? "" : "\\") +
                    std::string(1, path[i]);
    }
  }
  Pattern const pattern("^" + expression + "$", "ptx");
  std::vector<std::string> found;
  fs::path const at_root = fs::path(obligations.folder()) / root;
  for (fs::recursive_directory_iterator
           at(at_root.empty() ? "." : at_root, fs::directory_options::skip_permission_denied, error),
       end;
       at != end && !error; at.increment(error)) {
    std::string const name = (root / at->path().lexically_relative(at_root.empty() ? "." : at_root)).string();
    if ((folder ? at->path().extension() == ".ptx" : pattern.found_in(name)) && at->is_regular_file(error))
      found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  if (found.empty())
    throw InputError::whole(folder ? "the folder has no .ptx file" : "no file matches", path,
                            "paths are relative to the file of obligations");
  return found;
}

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
