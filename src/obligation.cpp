#include "whole_file.hpp"

#include <swizproof/obligation.hpp>
#include <swizproof/parse.hpp>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

namespace swizproof {

namespace {

/// One file: its text, and errors that name a place in it.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), text_(read_file(path_, 16)) {}

  std::vector<Obligation> read() {
    toml::table root;
    try {
      root = toml::parse(text_, path_);
    } catch (toml::parse_error const& error) {
      fail(std::string(error.description()), error.source());
    }
    std::vector<Obligation> all;
    for (auto const& [key, value] : root)
      if (key != "obligation")
        fail("unknown key '" + std::string(key.str()) + "': a file holds [[obligation]] entries",
             key.source());
    toml::array const* const entries = root["obligation"].as_array();
    if (entries == nullptr || entries->empty())
      throw InputError{"the file holds no [[obligation]]", path_, 0, path_.size(), {}};
    for (toml::node const& entry : *entries) {
      toml::table const* const table = entry.as_table();
      if (table == nullptr) fail("an obligation is a table: [[obligation]]", entry.source());
      all.push_back(obligation(*table));
    }
    // A correction corrects something that is said to be false.
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::string const& wrong = all[i].claim.corrects;
      auto const found =
          std::find_if(all.begin(), all.end(), [&](Obligation const& o) { return o.name == wrong; });
      if (wrong.empty() || (found != all.end() && found->expect_refuted && !all[i].expect_refuted)) continue;
      fail("it corrects no obligation that is expected to be refuted: '" + wrong + "'",
           (*entries)[i].source());
    }
    return all;
  }

 private:
  [[noreturn]] void fail(std::string const& message, toml::source_region const& where,
                         std::string hint = {}) const {
    auto const line_number = std::max<toml::source_index>(where.begin.line, 1);
    std::istringstream lines(text_);
    std::string line;
    for (toml::source_index i = 0; i < line_number; ++i) std::getline(lines, line);
    std::size_t const at = where.begin.column > 0 ? where.begin.column - 1 : 0;
    std::size_t const end = where.end.line == where.begin.line && where.end.column > where.begin.column
                                ? where.end.column - 1
                                : line.size();
    throw InputError{place(where) + ": " + message, line, at, end > at ? end - at : 1, std::move(hint)};
  }
  [[nodiscard]] std::string place(toml::source_region const& where) const {
    return path_ + ":" + std::to_string(std::max<toml::source_index>(where.begin.line, 1));
  }
  /// Errors of the texts inside, with the line of the file before them.
  template <class Parse>
  auto within(toml::node const& node, Parse const& parse) const {
    try {
      return parse();
    } catch (InputError const& error) {
      InputError here = error;
      here.message = place(node.source()) + ": " + error.message;
      throw here;
    }
  }

  [[nodiscard]] std::string string(toml::node const& node, std::string_view what) const {
    auto const value = node.value_exact<std::string>();
    if (!value) fail(std::string(what) + " must be a string", node.source());
    return *value;
  }
  [[nodiscard]] std::uint64_t number(toml::node const& node, std::string_view what, std::int64_t least,
                                     std::int64_t most) const {
    auto const value = node.value_exact<std::int64_t>();
    if (!value || *value < least || *value > most)
      fail(std::string(what) + " must be an integer from " + std::to_string(least) + " to " +
               std::to_string(most),
           node.source());
    return static_cast<std::uint64_t>(*value);
  }
  [[nodiscard]] Mapping mapping(toml::node const& node, std::string_view what,
                                MappingOptions const& options) const {
    std::string const text = string(node, what);
    return within(node, [&] { return parse_mapping(text, options); });
  }
  /// One string, or an array of them.
  [[nodiscard]] std::vector<toml::node const*> list(toml::node const& node, std::string_view what) const {
    if (node.is_string()) return {&node};
    toml::array const* const array = node.as_array();
    if (array == nullptr || array->empty())
      fail(std::string(what) + " must be a string or a list of strings", node.source());
    std::vector<toml::node const*> all;
    for (toml::node const& item : *array) all.push_back(&item);
    return all;
  }

  Obligation obligation(toml::table const& table) {
    static std::set<std::string_view> const known{
        "name",    "layout", "element", "access", "at_most", "align", "arch",  "equal", "bijective",
        "aligned", "expect", "kernel",  "always", "for",     "says",  "cites", "note",  "corrects"};
    for (auto const& [key, value] : table)
      if (!known.contains(key.str())) {
        std::string names;
        for (std::string_view const k : known) names += (names.empty() ? "" : ", ") + std::string(k);
        fail("unknown key '" + std::string(key.str()) + "'", key.source(), "known: " + names);
      }
    toml::node const* const name = table.get("name");
    if (name == nullptr) fail("the obligation has no name", table.source());
    Obligation out;
    out.name = string(*name, "name");
    out.source = place(table.source());
    if (out.name.empty() || !names_.insert(out.name).second)
      fail(out.name.empty() ? "the name is empty" : "there are two obligations of this name", name->source());
    MappingOptions options;
    if (toml::node const* const element = table.get("element"))
      options.element_bits = within(*element, [&] { return parse_element(string(*element, "element")); });
    if (toml::node const* const arch = table.get("arch"))
      out.arch = within(*arch, [&] { return &parse_architecture(string(*arch, "arch")); });
    if (toml::node const* const expect = table.get("expect")) {
      std::string const word = string(*expect, "expect");
      if (word != "proved" && word != "refuted")
        fail("expect must be \"proved\" or \"refuted\"", expect->source());
      out.expect_refuted = word == "refuted";
    }
    if (toml::node const* const kernel = table.get("kernel")) {
      out.kernel = string(*kernel, "kernel");
      try {
        (void)std::regex(out.kernel);
      } catch (std::regex_error const& error) {
        fail(std::string("kernel is not a regular expression: ") + error.what(), kernel->source());
      }
    }
    for (auto const& [key, to] : {std::pair{"says", &out.claim.says},
                                  {"cites", &out.claim.cites},
                                  {"note", &out.claim.note},
                                  {"corrects", &out.claim.corrects}})
      if (toml::node const* const text = table.get(key)) *to = string(*text, key);
    out.what = statement(table, options);
    return out;
  }

  decltype(Obligation::what) statement(toml::table const& table, MappingOptions const& options) const {
    static constexpr std::string_view kinds[] = {"access", "equal", "bijective", "aligned", "always"};
    std::vector<std::string_view> given;
    for (std::string_view const kind : kinds)
      if (table.contains(kind)) given.push_back(kind);
    if (given.size() != 1)
      fail("an obligation needs exactly one of access, equal, bijective, aligned, always", table.source());
    std::string_view const kind = given[0];
    auto const only_for = [&](std::string_view key, bool allowed) {
      if (table.contains(key) && !allowed)
        fail(std::string(key) + " has no meaning beside " + std::string(kind), table.get(key)->source());
    };
    only_for("layout", kind == "access");
    only_for("for", kind == "always");
    only_for("at_most", kind == "access");
    only_for("kernel", kind == "access");
    only_for("align", kind == "access" || kind == "equal");
    std::optional<std::uint64_t> align;
    if (toml::node const* const node = table.get("align"))
      align = number(*node, "align", 1, std::int64_t{1} << 31);
    toml::node const& node = *table.get(kind);
    if (kind == "bijective") return IsBijective{mapping(node, kind, options)};
    if (kind == "always") return always(table, node);
    if (kind == "equal") {
      auto const both = list(node, kind);
      if (both.size() != 2) fail("equal takes two layouts", node.source());
      return FunctionsEqual{mapping(*both[0], kind, options), mapping(*both[1], kind, options), align};
    }
    if (kind == "aligned") {
      toml::table const* const pair = node.as_table();
      if (pair == nullptr || pair->size() != 2 || !pair->contains("layout") || !pair->contains("to"))
        fail("aligned is {layout = \"...\", to = BYTES}", node.source());
      return IsAligned{mapping(*pair->get("layout"), "layout", options),
                       number(*pair->get("to"), "to", 1, std::int64_t{1} << 31)};
    }
    return accesses(table, node, options, align);
  }

  [[nodiscard]] AlwaysHolds always(toml::table const& table, toml::node const& node) const {
    AlwaysHolds out;
    out.text = string(node, "always");
    toml::table const* const variables = table["for"].as_table();
    if (variables == nullptr || variables->empty() || variables->size() > 8)
      fail("always needs 1 to 8 variables: for = {x = \"all\", j = \"0..63\"}", node.source());
    std::vector<std::string> names;
    for (auto const& [key, value] : *variables) {
      AlwaysHolds::Variable v{std::string(key.str())};
      std::string const range = string(value, "the range of a variable");
      if (range != "all") std::tie(v.first, v.last) = within(value, [&] { return parse_range(range); });
      names.push_back(v.name);
      out.variables.push_back(std::move(v));
    }
    out.expression = within(node, [&] { return parse_expression(out.text, names); });
    return out;
  }

  [[nodiscard]] AccessesHold accesses(toml::table const& table, toml::node const& node,
                                      MappingOptions const& options,
                                      std::optional<std::uint64_t> align) const {
    AccessesHold out;
    out.align = align;
    if (toml::node const* const at_most = table.get("at_most"))
      out.at_most = static_cast<unsigned>(number(*at_most, "at_most", 1, 32));
    toml::node const* const layout = table.get("layout");
    if (layout == nullptr)
      fail("access needs a layout", node.source(), "layout = \"-\" for accesses by address");
    if (string(*layout, "layout") == "-")
      out.map.text = "-";
    else
      out.map = mapping(*layout, "layout", options);
    for (toml::node const* item : list(node, "access")) {
      std::string const text = string(*item, "access");
      out.placements.push_back(within(*item, [&] { return Placement(out.map, parse_access(text)); }));
    }
    return out;
  }

  std::string path_, text_;
  std::set<std::string> names_;
};

// ------------------------------------------------------------------------------------- deciding

/// Decides a statement into report.found and what goes with it.
struct Decide {
  Obligation const& obligation;
  Limits const& limits;
  ObligationReport& report;

  void operator()(AccessesHold const& hold) const {
    Outcome first = Proved{};
    if (hold.map.domain() != nullptr || !hold.map.on_bytes.empty())
      first = is_one_to_one(hold.map, limits).outcome;
    if (std::holds_alternative<Refuted>(first)) {
      report.found = first;
      report.engines = {Engine::exhaustive};
      report.detail = "not one-to-one: two elements share a place";
      return;
    }
    std::vector<Outcome> outcomes{first};
    for (Placement const& placement : hold.placements) {
      AccessVerdict const v = check(placement, {hold.at_most, hold.align, obligation.arch, limits});
      outcomes.push_back(v.outcome);
      report.detail += (report.detail.empty() ? "" : " + ") + std::to_string(v.wavefronts) +
                       (v.excess() > 0 ? " (excess " + std::to_string(v.excess()) + ")" : "");
      if (report.domain.find(v.domain) == std::string::npos)
        report.domain += (report.domain.empty() ? "" : " | ") + v.domain;
      for (Engine const e : v.engines)
        if (std::find(report.engines.begin(), report.engines.end(), e) == report.engines.end())
          report.engines.push_back(e);
      report.accesses.push_back(v);
    }
    report.detail += " wavefronts";
    report.found = conjunction(outcomes);
  }
  void operator()(FunctionsEqual const& two) const {
    Equality const found = equal(two.left, two.right, two.align, limits);
    report.found = found.outcome;
    report.engines = found.engines;
    report.domain = found.domain;
    report.detail = std::holds_alternative<Proved>(found.outcome) ? "the same function" : "two functions";
    if (found.difference)
      report.detail += ": at " + std::to_string(found.difference->input) + " " +
                       std::to_string(found.difference->left) + " and " +
                       std::to_string(found.difference->right) + " " + found.unit;
  }
  void operator()(IsBijective const& one) const {
    Fact const fact = is_bijective(one.map, limits);
    report.found = fact.outcome;
    report.engines = {fact.engine};
    report.domain = one.map.domain() == nullptr
                        ? "all 64-bit numbers"
                        : "indices 0.." + std::to_string(one.map.domain()->size() - 1);
    report.detail = std::holds_alternative<Proved>(fact.outcome) ? "bijective" : "not bijective";
    if (auto const* refuted = std::get_if<Refuted>(&fact.outcome)) {
      report.detail += ": " + refuted->question;
      for (auto const& [name, value] : refuted->values)
        report.detail += ", " + name + " = " + std::to_string(value);
    }
  }
  void operator()(AlwaysHolds const& always) const {
    Question q;
    q.name = "the expression is 0";
    for (AlwaysHolds::Variable const& v : always.variables) {
      q.variables.push_back({v.name, std::max(1U, static_cast<unsigned>(std::bit_width(v.last)))});
      bool const all = v.last == ~std::uint64_t{0};
      report.domain +=
          (report.domain.empty() ? "" : ", ") + v.name +
          (all ? ": every 64-bit number" : " = " + std::to_string(v.first) + ".." + std::to_string(v.last));
    }
    auto const statement = [&always]<Word W>(std::span<W const> values) {
      W const& some = values[0];
      truth_of<W> in_range = true;
      for (std::size_t i = 0; i < values.size(); ++i) {
        AlwaysHolds::Variable const& v = always.variables[i];
        if (v.first > 0) in_range = in_range && !(values[i] < like(some, v.first));
        if (v.last == 0 || (v.last & (v.last + 1)) != 0)
          in_range = in_range && !(like(some, v.last) < values[i]);
      }
      return Implication<truth_of<W>>{in_range, !(always.expression(values, some) == like(some, 0))};
    };
    q.on_numbers = [=](std::span<std::uint64_t const> values) { return statement(values); };
    q.on_terms = [=](std::span<Term const> values) { return statement(values); };
    q.on_affine = [=](std::span<Affine const> values) { return statement(values); };
    Outcome outcome;
    auto const take = [&](Engine engine, std::optional<Outcome> const& found) {
      if (!found || std::holds_alternative<Unknown>(*found)) return;
      if (!report.engines.empty() && found->index() != outcome.index())
        throw Disagreement{obligation.name + ": " + std::string(name(engine)) + " says " +
                           std::string(word(*found))};
      if (report.engines.empty()) outcome = *found;
      report.engines.push_back(engine);
    };
    if (auto refuted = search_counterexample(q)) take(Engine::search, Outcome(*std::move(refuted)));
    take(Engine::linear, decide_linearly(q));
    take(Engine::exhaustive, decide_exhaustively(q));
    Outcome const symbolic = decide_symbolically(std::span(&q, 1), limits);
    take(Engine::smt, symbolic);
    report.found = report.engines.empty() ? symbolic : outcome;
    report.detail = always.text;
  }
  void operator()(IsAligned const& aligned) const {
    Alignment const found = alignment_of(aligned.map, limits);
    report.engines = {found.engine};
    report.domain = found.domain;
    report.found = found.outcome;
    if (!std::holds_alternative<Proved>(found.outcome)) return;
    report.detail = "exactly the multiples of " + std::to_string(found.bytes) + " bytes";
    std::uint64_t const all = found.period / std::gcd(found.period, aligned.to);
    for (std::uint64_t i = 0; i < all; ++i) {
      std::uint64_t const base = i * aligned.to % found.period;
      bool const good = base % found.bytes == 0 ||
                        std::find(found.also.begin(), found.also.end(), base) != found.also.end();
      if (!good) {
        report.found = Refuted{"a base that is not in the set", {{"base", i * aligned.to}}};
        return;
      }
    }
  }
};

}  // namespace

std::vector<Obligation> read_obligations(std::string const& path) { return Reader(path).read(); }

ObligationReport decide(Obligation const& obligation, Limits const& limits) {
  auto const start = std::chrono::steady_clock::now();
  ObligationReport report;
  std::visit(Decide{obligation, limits, report}, obligation.what);
  report.outcome = report.found;
  if (obligation.expect_refuted) {
    if (std::holds_alternative<Refuted>(report.found)) report.outcome = Proved{};
    if (std::holds_alternative<Proved>(report.found))
      report.outcome = Refuted{"it was expected to be refuted, and holds", {}};
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace swizproof
