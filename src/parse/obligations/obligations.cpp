#include "parse/obligations/flow_entries.hpp"
#include "parse/obligations/kernel_entries.hpp"
#include "parse/obligations/operand_statements.hpp"
#include "parse/obligations/toml_file.hpp"
#include "parse/text/regular_expression.hpp"

#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/obligations.hpp>

#include <algorithm>
#include <set>

namespace swizproof {

namespace {

/// One file: its entries, in their order.
class Reader {
 public:
  Reader(std::string path, std::span<Architecture const* const> archs)
      : file_(std::move(path)), archs_(archs.begin(), archs.end()), arch_is_given_(!archs.empty()) {
    if (archs_.empty()) archs_ = {&sm_90};
  }

  std::vector<Obligation> read() {
    toml::table const root = file_.parse();
    for (auto const& [key, value] : root) {
      if (key != "obligation" && key != "kernel" && key != "flow")
        file_.fail("unknown key '" + std::string(key.str()) +
                       "': a file holds [[obligation]], [[kernel]] and [[flow]] entries",
                   key.source());
      if (!value.is_array() || value.as_array()->empty())
        file_.fail(fmt::format("write [[{}]] above the keys of an entry", key.str()), value.source());
    }
    std::vector<Obligation> read;
    if (toml::array const* const entries = root["obligation"].as_array()) {
      std::vector<Entry> all;
      for (toml::node const& entry : *entries) all.push_back(read_entry(entry));
      read = for_each_architecture(all, *entries);
    }
    std::vector<Architecture const*> const given_archs =
        arch_is_given_ ? archs_ : std::vector<Architecture const*>();
    if (toml::array const* const kernels = root["kernel"].as_array())
      for (toml::node const& entry : *kernels)
        for (Obligation& one : kernel_obligations(file_, entry, given_archs, compiled_, names_))
          read.push_back(std::move(one));
    if (toml::array const* const flows = root["flow"].as_array())
      for (toml::node const& entry : *flows) read.push_back(flow_obligation(file_, entry, compiled_, names_));
    if (read.empty())
      throw InputError::whole("the file holds no [[obligation]], no [[kernel]] and no [[flow]]",
                              file_.path());
    return read;
  }

 private:
  /// An entry, and the architectures that it names.
  struct Entry {
    Obligation obligation{};
    std::vector<Architecture const*> archs{};
  };

  /// One entry. Whatever is wrong in it is in it, and not in the others.
  Entry read_entry(toml::node const& node) {
    Entry entry{{}, archs_};
    Obligation& out = entry.obligation;
    out.arch_is_given = arch_is_given_;
    out.name = out.source = file_.place(node.source());
    try {
      toml::table const* const table = node.as_table();
      if (table == nullptr) file_.fail("an obligation is a table: [[obligation]]", node.source());
      out.kernel = table->get("kernel") != nullptr ? table->get("kernel")->value_or("")
                                                   : "";  // also if the rest cannot be read
      take_name(*table, out);
      if (toml::node const* const arch = table->get("arch"))
        entry.archs = file_.architectures_in(*arch), out.arch_is_given = true;
      take_rest(*table, out);
    } catch (InputError const& error) {
      out.what = Malformed{error};
    }
    return entry;
  }
  /// True of statements about functions alone, which no architecture changes.
  [[nodiscard]] static bool is_of_no_architecture(Obligation const& o) {
    return std::holds_alternative<FunctionsEqual>(o.what) || std::holds_alternative<IsBijective>(o.what) ||
           std::holds_alternative<IsAligned>(o.what) || std::holds_alternative<AlwaysHolds>(o.what) ||
           std::holds_alternative<ConversionHolds>(o.what) || std::holds_alternative<Malformed>(o.what);
  }
  /// Each entry once for each of its architectures, if they matter.
  std::vector<Obligation> for_each_architecture(std::vector<Entry> const& entries,
                                                toml::array const& nodes) const {
    std::vector<Obligation> all;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Entry const& entry = entries[i];
      bool const of_all = is_of_no_architecture(entry.obligation);
      for (Architecture const* arch : entry.archs) {
        Obligation& one = all.emplace_back(entry.obligation);
        one.arch = arch;
        one.of_several = !of_all && entry.archs.size() > 1;
        take_parts(one, *arch, entries, nodes[i]);
        if (of_all) break;
      }
    }
    return all;
  }

  void take_name(toml::table const& table, Obligation& out) {
    toml::node const* const node = table.get("name");
    if (node == nullptr) file_.fail("the obligation has no name", table.source());
    std::string const name = file_.string(*node, "name");
    if (name.empty()) file_.fail("the name is empty", node->source());
    if (!names_.insert(name).second) file_.fail("there are two obligations of this name", node->source());
    out.name = name;
  }

  void take_rest(toml::table const& table, Obligation& out) const {
    static std::set<std::string_view> const known{
        "name",      "layout",     "element", "access",   "at_most", "align", "arch",   "equal",
        "bijective", "aligned",    "expect",  "kernel",   "always",  "for",   "about",  "budget",
        "weight",    "descriptor", "tma",     "fragment", "source",  "block", "convert"};
    if (toml::node const* const excess = table.get("excess"))
      file_.fail("unknown key 'excess': it is of [[kernel]] entries", excess->source(),
                 "at_most = 4: wavefronts that each access may take; without it, the ideal");
    file_.refuse_unknown_keys(table, known);
    file_.take_expectation(table, out);
    if (toml::node const* const kernel = table.get("kernel")) {
      out.kernel = file_.string(*kernel, "kernel");
      (void)file_.within(*kernel, [&] { return Pattern(out.kernel, "kernel").found_in(""); });
    }
    if (toml::node const* const text = table.get("source")) out.source = file_.string(*text, "source");
    if (toml::node const* const about = table.get("about")) {
      if (!about->is_table()) file_.fail("about is a table of texts", about->source());
      for (auto const& [key, text] : *about->as_table())
        out.about.emplace_back(key.str(), file_.string(text, "about." + std::string(key.str())));
    }
    out.what = statement(table);
  }

  /// Accesses that a budget counts on an architecture: those of every obligation with its `kernel`, word for word.
  void take_parts(Obligation& o, Architecture const& arch, std::vector<Entry> const& all,
                  toml::node const& entry) const {
    auto* const budget = std::get_if<StaysWithin>(&o.what);
    if (budget == nullptr) return;
    bool some = false;  // on any architecture
    for (Entry const& other : all) {
      if (other.obligation.kernel != o.kernel) continue;
      if (std::holds_alternative<Malformed>(other.obligation.what))
        return make_malformed(o, "it counts '" + other.obligation.name + "', which cannot be read", entry);
      auto const* const hold = std::get_if<AccessesHold>(&other.obligation.what);
      if (hold == nullptr) continue;
      some = true;
      if (std::find(other.archs.begin(), other.archs.end(), &arch) != other.archs.end())
        budget->parts.push_back({other.obligation.name, *hold});
    }
    if (!some)
      make_malformed(o, "no obligation with an access has the kernel '" + o.kernel + "'", entry);
    else if (budget->parts.empty())
      make_malformed(o, "no access of the kernel '" + o.kernel + "' is checked for " + std::string(arch.name),
                     entry);
  }
  void make_malformed(Obligation& o, std::string const& why, toml::node const& entry) const {
    try {
      file_.fail(why, entry.source());
    } catch (InputError const& error) {
      o.what = Malformed{error};
    }
  }

  /// Refuses keys that an obligation of this kind does not have.
  void refuse_foreign_keys(toml::table const& table, std::string_view kind) const {
    auto const only_for = [&](std::string_view key, bool allowed) {
      if (table.contains(key) && !allowed)
        file_.fail(std::string(key) + " cannot be used with " + std::string(kind), table.get(key)->source());
    };
    bool const of_tile = kind == "descriptor" || kind == "tma", of_operand = of_tile || kind == "fragment";
    bool const of_access = kind == "access";
    only_for("layout", of_access || of_tile || kind == "convert");
    only_for("element", kind != "always" && kind != "budget");
    only_for("arch", of_access || kind == "budget" || of_operand);
    only_for("for", kind == "always");
    only_for("at_most", of_access);
    only_for("weight", of_access);
    only_for("block", of_access);
    only_for("kernel", of_access || kind == "budget" || of_operand);
    only_for("align", of_access || kind == "equal" || of_tile);
  }

  /// True of a `tma` without a tile: `layout = "-"`.
  [[nodiscard]] static bool is_box_alone(toml::table const& table, std::string_view kind) {
    toml::node const* const layout = table.get("layout");
    return kind == "tma" && layout != nullptr && layout->value_or(std::string{}) == "-";
  }
  /// A descriptor, a box of TMA or a conversion.
  decltype(Obligation::what) tile_statement(toml::table const& table, toml::node const& node,
                                            std::string_view kind, MappingOptions const& options,
                                            std::string const& element,
                                            std::optional<std::uint64_t> align) const {
    toml::node const* const layout = table.get("layout");
    if (layout == nullptr)
      file_.fail(std::string(kind) + " needs a layout", node.source(),
                 kind == "tma" ? "layout = \"-\" for a box without its tile" : "");
    Mapping map = of_every_base(file_.mapping(*layout, "layout", options), *layout, kind);
    if (kind == "convert") return conversion_statement(file_, node, std::move(map));
    if (kind == "tma") {
      TmaHolds hold = tma_statement(file_, node, std::move(map));
      hold.align = align;
      return hold;
    }
    DescriptorHolds hold =
        descriptor_statement(file_, node, std::move(map), file_.string(*layout, "layout"), element);
    hold.question.align = align;
    return hold;
  }

  decltype(Obligation::what) statement(toml::table const& table) const {
    static constexpr std::string_view kinds[] = {"access", "equal",      "bijective", "aligned",  "always",
                                                 "budget", "descriptor", "tma",       "fragment", "convert"};
    std::vector<std::string_view> given;
    for (std::string_view const kind : kinds)
      if (table.contains(kind)) given.push_back(kind);
    if (given.size() != 1)
      file_.fail(fmt::format("an obligation needs exactly one of {}", fmt::join(kinds, ", ")),
                 table.source());
    std::string_view const kind = given[0];
    refuse_foreign_keys(table, kind);
    bool const of_tile = kind == "descriptor" || kind == "tma" || kind == "convert";
    MappingOptions options;
    std::string element;
    if (toml::node const* const type = table.get("element")) {
      element = file_.string(*type, "element");
      if (!is_box_alone(table, kind))  // whose types have names of cuda.h, too
        options.element_bits = file_.within(*type, [&] { return parse_element(element); });
    }
    std::optional<std::uint64_t> align;
    if (toml::node const* const bytes = table.get("align"))
      align = file_.number(*bytes, "align", 1, std::int64_t{1} << 31);
    toml::node const& node = *table.get(kind);
    if (kind == "bijective")
      return IsBijective{of_every_base(file_.mapping(node, kind, options), node, kind)};
    if (kind == "always") return always(table, node);
    if (kind == "budget") {
      if (!table.contains("kernel"))
        file_.fail("budget needs the kernel whose accesses it counts", node.source(),
                   "kernel = \"...\", here and in the obligations that are counted");
      return StaysWithin{file_.number(node, kind, 1, std::int64_t{1} << 62), {}};
    }
    if (kind == "equal") {
      auto const both = file_.list(node, kind);
      if (both.size() != 2) file_.fail("equal takes two layouts", node.source());
      return FunctionsEqual{file_.mapping(*both[0], kind, options), file_.mapping(*both[1], kind, options),
                            align};
    }
    if (kind == "aligned") {
      toml::table const* const pair = node.as_table();
      if (pair == nullptr || pair->size() != 2 || !pair->contains("layout") || !pair->contains("to"))
        file_.fail("aligned is {layout = \"...\", to = BYTES}", node.source());
      return IsAligned{of_every_base(file_.mapping(*pair->get("layout"), "layout", options), node, kind),
                       file_.number(*pair->get("to"), "to", 1, std::int64_t{1} << 31)};
    }
    if (kind == "fragment")
      return std::visit([](auto&& hold) -> decltype(Obligation::what) { return std::move(hold); },
                        fragment_statement(file_, node, element));
    if (is_box_alone(table, kind)) {
      if (table.contains("align"))
        file_.fail("align is of a tile's bases, and this box has no tile", table.get("align")->source());
      return tma_box_statement(file_, node, element);
    }
    if (of_tile) return tile_statement(table, node, kind, options, element, align);
    return accesses(table, node, options, align);
  }

  /// Refuses a pointer with an address where no base, or every one, is meant.
  [[nodiscard]] Mapping of_every_base(Mapping map, toml::node const& node, std::string_view kind) const {
    if (map.base_address)
      file_.fail(std::string(kind) + " is not about one address, and the layout's pointer has one",
                 node.source(),
                 "without its pointer the layout is " + to_string(static_cast<Map const&>(map)));
    return map;
  }

  [[nodiscard]] AlwaysHolds always(toml::table const& table, toml::node const& node) const {
    AlwaysHolds out;
    out.text = file_.string(node, "always");
    toml::table const* const variables = table["for"].as_table();
    if (variables == nullptr || variables->empty() || variables->size() > 8)
      file_.fail("always needs 1 to 8 variables: for = {x = \"all\", j = \"0..63\"}", node.source());
    std::vector<std::string> names;
    for (auto const& [key, value] : *variables) {
      std::string const range = file_.string(value, "the range of a variable");
      std::pair<std::uint64_t, std::uint64_t> ends{0, ~std::uint64_t{0}};
      if (range != "all") ends = file_.within(value, [&] { return parse_range(range); });
      names.emplace_back(key.str());
      out.variables.push_back(Variable::range(names.back(), ends.first, ends.second));
    }
    out.expression = file_.within(node, [&] { return parse_expression(out.text, names); });
    return out;
  }

  [[nodiscard]] AccessesHold accesses(toml::table const& table, toml::node const& node,
                                      MappingOptions const& options,
                                      std::optional<std::uint64_t> align) const {
    AccessesHold out;
    out.align = align;
    if (toml::node const* const at_most = table.get("at_most"))
      out.at_most = static_cast<unsigned>(file_.number(*at_most, "at_most", 1, 32));
    toml::node const* const layout = table.get("layout");
    if (layout == nullptr)
      file_.fail("access needs a layout", node.source(), "layout = \"-\" for accesses by address");
    bool const none = file_.string(*layout, "layout") == "-";
    if (none && options.element_bits)
      file_.fail("- has no elements", table.get("element")->source(), "leave element out");
    if (none)
      out.map.text = "-";
    else
      out.map = file_.mapping(*layout, "layout", options);
    toml::source_region const& at = layout->source();
    out.layout_at = {file_.path(), at.begin.line, at.begin.column, at.end.line, at.end.column};
    if (!out.align) out.align = declared_alignment(out.map);
    AccessOptions const threads{out.map.array, block(table)};
    for (toml::node const* item : file_.list(node, "access")) {
      std::string const text = file_.string(*item, "access");
      out.placements.push_back(file_.within(
          *item, [&] { return Placement(out.map, parse_noted_access(text, out.map.notes, threads)); }));
    }
    if (toml::node const* const weight = table.get("weight"))
      out.weights = weights(*weight, out.placements.size());
    return out;
  }
  /// Threads of a block: `block = [32, 8]`.
  [[nodiscard]] std::optional<BlockShape> block(toml::table const& table) const {
    toml::node const* const node = table.get("block");
    if (node == nullptr) return std::nullopt;
    std::vector<BlockShape> const shapes = file_.shapes_in(*node);
    if (shapes.size() != 1) file_.fail("an obligation has one block", node->source(), "block = [32, 8]");
    if (std::string const why = why_no_block({}, shapes[0]); !why.empty()) file_.fail(why, node->source());
    return shapes[0];
  }
  /// Numbers of runs of the accesses: one number for all of them, or one for each.
  [[nodiscard]] std::vector<std::uint64_t> weights(toml::node const& node, std::size_t accesses) const {
    toml::array const* const each = node.as_array();
    auto const weight = [&](toml::node const& one) {
      return file_.number(one, "weight", 1, std::int64_t{1} << 31);
    };
    if (each == nullptr) return std::vector<std::uint64_t>(accesses, weight(node));
    if (each->size() != accesses)
      file_.fail("weight is one integer, or one for each access: " + std::to_string(accesses), node.source());
    std::vector<std::uint64_t> all;
    for (toml::node const& one : *each) all.push_back(weight(one));
    return all;
  }

  TomlFile file_;
  std::vector<Architecture const*> archs_;
  bool arch_is_given_;  ///< `prove` has --arch
  CompiledFiles compiled_{};
  std::set<std::string> names_{};
};

}  // namespace

std::vector<Obligation> read_obligations(std::string const& path,
                                         std::span<Architecture const* const> archs) {
  return Reader(path, archs).read();
}

void refuse_malformed(std::span<Obligation const> obligations) {
  for (Obligation const& o : obligations)
    if (auto const* malformed = std::get_if<Malformed>(&o.what)) throw malformed->error;
}

}  // namespace swizproof
