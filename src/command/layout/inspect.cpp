// swizproof inspect LAYOUT: what kind of map it is.
#include "command/line/command.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/inspect.hpp>

#include <fmt/format.h>

#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// Engines that decided a fact or a quantity.
template <class Found>
std::vector<Engine> engines_of(Found const& found) {
  std::vector<Engine> engines{found.engine};
  if (found.second) engines.push_back(*found.second);
  return engines;
}

Json fact_json(Fact const& fact) {
  if (std::holds_alternative<Unknown>(fact.outcome)) return nullptr;
  return std::holds_alternative<Proved>(fact.outcome);
}

Json evidence(Fact const& fact) {
  Json e{{"verdict", name(fact.outcome)}, {"engines", list_of(engines_of(fact))}};
  if (auto const* refuted = std::get_if<Refuted>(&fact.outcome)) e["counterexample"] = to_json(*refuted);
  if (auto const* unknown = std::get_if<Unknown>(&fact.outcome)) e["reason"] = unknown->reason;
  return e;
}

Json evidence(Quantity const& quantity) {
  Json e{{"verdict", quantity.unknown ? "unknown" : "proved"}, {"engines", list_of(engines_of(quantity))}};
  if (!quantity.note.empty()) e["reason"] = quantity.note;
  return e;
}

Json quantity_json(Quantity const& quantity) {
  return quantity.value ? Json(*quantity.value) : Json(nullptr);
}

std::string yes_or_no(Fact const& fact, Style const& style) {
  if (std::holds_alternative<Unknown>(fact.outcome)) return style.doubtful(fmt::format("{:<12}", "unknown"));
  bool const yes = std::holds_alternative<Proved>(fact.outcome);
  std::string const text = fmt::format("{:<12}", yes ? "yes" : "no");
  return yes ? style.good(text) : style.bad(text);
}

std::string detail_of(Fact const& fact) {
  if (auto const* refuted = std::get_if<Refuted>(&fact.outcome)) return describe(*refuted);
  if (auto const* unknown = std::get_if<Unknown>(&fact.outcome)) return unknown->reason;
  return "proved";
}

/// The matrix without the rows and columns in which it is the identity.
std::string show_matrix(BitMatrix const& matrix) {
  std::string text;
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < matrix.columns.size(); ++i) moved |= matrix.columns[i] ^ (1ULL << i);
  if (moved == 0) return "  the identity\n";
  for (unsigned bit = 64; bit-- > 0;) {
    if ((moved >> bit & 1) == 0) continue;
    text += fmt::format("  bit {:>2} of f(x) =", bit);
    bool first = true;
    for (std::size_t i = matrix.columns.size(); i-- > 0;)
      if ((matrix.columns[i] >> bit & 1) != 0) {
        text += fmt::format("{} bit {}", first ? "" : " ^", i);
        first = false;
      }
    text += first ? " 0\n" : "\n";
  }
  return text + "  all other bits stay\n";
}

struct InspectResult {
  std::string layout{};
  std::vector<std::string> notes{};
  Inspection found{};
  /// True if some answer is missing.
  [[nodiscard]] bool unknown() const {
    bool some = false;
    for (Fact const* fact : {&found.injective, &found.bijective, &found.involution, &found.linear})
      some |= std::holds_alternative<Unknown>(fact->outcome);
    for (Quantity const* quantity : {&found.kept_low_bits, &found.span, &found.period, &found.alignment})
      some |= quantity->unknown;
    return some;
  }
};

InspectResult compute(Common const& common, LayoutArgument const& layout) {
  Mapping const map = layout.parse_for_every_base();
  InspectResult result{map.text, map.notes, inspect(map, common.limits())};
  if (result.found.alignment.note == needs_element)
    result.notes.emplace_back(
        "the alignment, in bytes, is not computed: it needs the element type, such as --element f16");
  return result;
}

Json to_json(InspectResult const& result) {
  Inspection const& found = result.found;
  Json out{{"verdict", result.unknown() ? "unknown" : "proved"},
           {"layout", result.layout},
           {"domain", found.domain},
           {"unit", found.unit},
           {"injective", fact_json(found.injective)},
           {"bijective", fact_json(found.bijective)},
           {"involution", fact_json(found.involution)},
           {"linear", fact_json(found.linear)},
           {"kept_low_bits", quantity_json(found.kept_low_bits)},
           {"span", quantity_json(found.span)},
           {"period", quantity_json(found.period)},
           {"alignment", quantity_json(found.alignment)},
           {"evidence",
            {{"injective", evidence(found.injective)},
             {"bijective", evidence(found.bijective)},
             {"involution", evidence(found.involution)},
             {"linear", evidence(found.linear)},
             {"kept_low_bits", evidence(found.kept_low_bits)},
             {"span", evidence(found.span)},
             {"period", evidence(found.period)},
             {"alignment", evidence(found.alignment)}}}};
  if (found.matrix) out["matrix"] = found.matrix->columns;
  if (!result.notes.empty()) out["notes"] = result.notes;
  return out;
}

void print_text(InspectResult const& result, Style const& style) {
  Inspection const& found = result.found;
  fmt::print("{}\n", style.strong(result.layout));
  for (std::string const& note : result.notes) fmt::print("  note: {}\n", note);
  fmt::print("  acts on {}; domain: {}\n\n", found.unit, found.domain);
  auto const fact = [&](std::string_view name_of, Fact const& f) {
    fmt::print("  {:<14} {} {:<18} {}\n", name_of, yes_or_no(f, style), names_of(engines_of(f)),
               detail_of(f));
  };
  auto const quantity = [&](std::string_view name_of, Quantity const& q, std::string const& unit,
                            std::string const& means) {
    fmt::print("  {:<14} {:<12} {:<18} {}\n", name_of, q.value ? fmt::format("{} {}", *q.value, unit) : "-",
               names_of(engines_of(q)), q.note.empty() ? means : q.note);
  };
  fact("one-to-one", found.injective);
  fact("bijective", found.bijective);
  fact("involution", found.involution);
  fact("linear", found.linear);
  quantity("low bits kept", found.kept_low_bits, "bits", "every f(x) has these bits of x, and not one more");
  quantity("span", found.span, found.unit, "least aligned block that f maps into itself");
  quantity("period", found.period, found.unit, "least P with f(x+P) = f(x)+P for all x");
  quantity("alignment", found.alignment, "bytes",
           "relative = absolute addressing from exactly its multiples");
  if (found.matrix) fmt::print("\n{}", show_matrix(*found.matrix));
}

void run(Common& common, LayoutArgument const& layout) {
  InspectResult const result = compute(common, layout);
  common.exit_code = result.unknown() ? undecided : holds;
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, Style(common.color, STDOUT_FILENO));
}

}  // namespace

void add_inspect(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "inspect", "What kind of map is LAYOUT: bijective, linear, span, period, alignment",
      {"swizproof inspect 'Sw<3,4,3>'", "what kind of map is this swizzle, and what does it keep?"});
  auto const layout = std::make_shared<LayoutArgument>();
  layout->add_to(*sub);
  sub->callback([&common, layout] { run(common, *layout); });
}

}  // namespace swizproof::command
