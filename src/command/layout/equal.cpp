// swizproof equal LAYOUT LAYOUT, and swizproof align LAYOUT.
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/equal.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct EqualArguments {
  LayoutArgument left, right;
  std::optional<std::uint64_t> align;
  std::string emit;
};

struct AlignArguments {
  LayoutArgument layout;
  std::string emit;
};

void print_notes(Mapping const& map) {
  for (std::string const& note : map.notes) fmt::print("  note: {}\n", note);
}

/// `1..64, 96`
std::string ranges(std::vector<std::uint64_t> const& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += (last > i + 1 ? ".." : ", ") + std::to_string(numbers[last]);
    i = last;
  }
  return text;
}

// ---------------------------------------------------------------------------------------- equal

/// The notes of one or two layouts, each once.
void add_notes(Json& out, std::initializer_list<Mapping const*> maps) {
  std::vector<std::string> notes;
  for (Mapping const* map : maps)
    for (std::string const& note : map->notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  if (!notes.empty()) out["notes"] = notes;
}

struct EqualResult {
  Mapping left, right;
  Equality found;
};

/// True if the second map has, at each index, so many times the address of the first.
bool is_multiple(Mapping const& a, Mapping const& b, std::uint64_t times) {
  constexpr std::uint64_t most = 1 << 16;
  if (a.domain() == nullptr || b.domain() == nullptr || a.domain()->size() != b.domain()->size())
    return false;
  auto const size = static_cast<std::uint64_t>(a.domain()->size());
  Address<std::uint64_t> const origin{0};
  for (std::uint64_t i = 0; i < size && size <= most; ++i)
    if (bit_address(b, origin, i) != times * bit_address(a, origin, i)) return false;
  return size <= most;
}

/// A note on a function whose formula, `text`, gives bytes, where elements are counted.
void note_bytes(Mapping const& other, Mapping& function, std::string_view text) {
  if (!text.starts_with("fn(") || (!function.element_bits && !other.element_bits)) return;
  unsigned const bits = function.element_bits.value_or(other.element_bits.value_or(0));
  Mapping a = other, b = function;
  a.element_bits = b.element_bits = bits;
  if (unsigned const bytes = bits / 8; bytes > 1 && is_multiple(a, b, bytes))
    function.notes.push_back(
        fmt::format("its values are {0} times the other's: the result of fn counts elements, here of {0} "
                    "bytes; is this formula in bytes?",
                    bytes));
}

EqualResult compute_equality(Common const& common, EqualArguments const& options) {
  LayoutArgument right = options.right;
  right.element = options.left.element;
  EqualResult result{options.left.parse(), right.parse(), {}};
  result.found = compare(result.left, result.right, options.align, common.limits());
  if (result.found.difference) {
    note_bytes(result.left, result.right, right.text);
    note_bytes(result.right, result.left, options.left.text);
  }
  return result;
}

Json to_json(EqualResult const& result) {
  Equality const& found = result.found;
  Json out{{"verdict", name(found.outcome)}, {"left", result.left.text}, {"right", result.right.text},
           {"domain", found.domain},         {"unit", found.unit},       {"engines", list_of(found.engines)}};
  out["counterexample"] = nullptr;
  if (found.difference)
    out["counterexample"] = {{"input", found.difference->input}, {"coordinate", found.difference->coordinate},
                             {"left", found.difference->left},   {"right", found.difference->right},
                             {"base", found.difference->base},   {"bit", found.difference->bit}};
  else if (auto const* refuted = std::get_if<Refuted>(&found.outcome))
    out["reason"] = refuted->question;
  if (auto const* unknown = std::get_if<Unknown>(&found.outcome)) out["reason"] = unknown->reason;
  add_notes(out, {&result.left, &result.right});
  return out;
}

void print_text(EqualResult const& result, Style const& style) {
  Equality const& found = result.found;
  auto const* refuted = std::get_if<Refuted>(&found.outcome);
  auto const* unknown = std::get_if<Unknown>(&found.outcome);
  fmt::print("{}\n{}\n", style.strong(result.left.text), style.strong(result.right.text));
  print_notes(result.left);
  print_notes(result.right);
  std::string const says = refuted != nullptr   ? "not the same function"
                           : unknown != nullptr ? unknown->reason
                                                : "the same function";
  fmt::print("  {}  {}  {}\n           on {}\n", style.outcome(found.outcome), says,
             style.faint(names_of(found.engines)), found.domain);
  if (found.difference) {
    Difference const& d = *found.difference;
    std::string const base = d.base == 0 ? "" : fmt::format(" from base {:#x}", d.base);
    std::string const part = d.bit == 0 ? "" : fmt::format(", bit {} of the element", d.bit);
    fmt::print("           at {}{}{}: {} and {} {}\n", place_of(d), part, base, d.left, d.right, found.unit);
  } else if (refuted != nullptr) {
    fmt::print("           {}\n", refuted->question);
  }
}

std::string obligation_of(Common const& common, EqualArguments const& options, EqualResult const&) {
  return command::obligation_of(common, options.left.text + " is " + options.right.text, false)
      .add("element", options.left.element)
      .add("equal", {options.left.text, options.right.text})
      .add("align", options.align)
      .text();
}

// ---------------------------------------------------------------------------------------- align

struct AlignResult {
  Mapping map;
  Alignment found;
  Outcome outcome{};  ///< refuted where the pointer's address is no such base
};

AlignResult compute_alignment(Common const& common, AlignArguments const& options) {
  AlignResult result{options.layout.parse(), {}};
  result.found = alignment_of(result.map, common.limits());
  result.outcome = result.found.outcome;
  std::optional<std::uint64_t> const base = result.map.base_address;
  if (base && std::holds_alternative<Proved>(result.outcome) && !result.found.holds(*base))
    result.outcome = Refuted{"the pointer's address is no such base", {{"base", *base}}};
  return result;
}

Json to_json(AlignResult const& result) {
  Alignment const& found = result.found;
  auto const* unknown = std::get_if<Unknown>(&found.outcome);
  Json out{{"verdict", name(result.outcome)},
           {"layout", result.map.text},
           {"alignment", nullptr},
           {"exact", unknown == nullptr && found.also.empty()},
           {"domain", found.domain},
           {"engines", {name(found.engine)}}};
  if (unknown != nullptr)
    out["reason"] = unknown->reason;
  else
    out["alignment"] = found.bytes, out["period"] = found.period, out["also"] = found.also;
  if (!found.witnesses.empty()) out["witnesses"] = found.witnesses;
  if (result.map.base_address) out["address"] = *result.map.base_address;
  add_notes(out, {&result.map});
  return out;
}

void print_text(AlignResult const& result, Style const& style) {
  Alignment const& found = result.found;
  fmt::print("{}\n", style.strong(result.map.text));
  print_notes(result.map);
  if (auto const* unknown = std::get_if<Unknown>(&found.outcome)) {
    fmt::print("  {}  {}\n", style.outcome(found.outcome), unknown->reason);
    return;
  }
  fmt::print("  {}  offsets and addresses agree if and only if base % {} == 0{}  {}\n",
             style.outcome(Proved{}), style.strong(std::to_string(found.bytes)),
             found.also.empty()
                 ? ""
                 : fmt::format(", or base mod {} is one of {}", found.period, ranges(found.also)),
             style.faint(name(found.engine)));
  fmt::print("           f(base + x) = base + f(x) for {}\n", found.domain);
  if (!found.witnesses.empty())
    fmt::print("           for every other base it fails at x = {}\n", fmt::join(found.witnesses, " or "));
  if (result.map.base_address)
    fmt::print("  {}  the pointer's address {:#x} is {} such base\n", style.outcome(result.outcome),
               *result.map.base_address, std::holds_alternative<Proved>(result.outcome) ? "a" : "no");
}

/// Throws InputError for what is of one address, and where no alignment is known.
std::string obligation_of(Common const& common, AlignArguments const& options, AlignResult const& result) {
  std::string const& text = options.layout.text;
  if (result.map.base_address)
    throw InputError::whole(
        "an obligation on the alignment is of every base, and this pointer has one", text,
        "without its pointer the layout is " + swizproof::to_string(static_cast<Map const&>(result.map)));
  if (!std::holds_alternative<Proved>(result.outcome) || result.found.bytes > std::uint64_t{1} << 31)
    throw InputError::whole("no alignment up to 2^31 bytes is known that an obligation could name", text);
  std::string const aligned =
      toml_table({{"layout", toml_text(text)}, {"to", fmt::format("{}", result.found.bytes)}});
  return command::obligation_of(common, "alignment of " + text, false)
      .add("element", options.layout.element)
      .add_value("aligned", aligned)
      .text();
}

std::vector<std::string> notes_of(EqualResult const& result) {
  std::vector<std::string> notes = result.left.notes;
  notes.insert(notes.end(), result.right.notes.begin(), result.right.notes.end());
  return notes;
}
std::vector<std::string> notes_of(AlignResult const& result) { return result.map.notes; }

// ---------------------------------------------------------------------------------------------

Outcome const& outcome_of(EqualResult const& result) { return result.found.outcome; }
Outcome const& outcome_of(AlignResult const& result) { return result.outcome; }

/// Prints what either command has found.
template <class Arguments, class Result>
void report(Common& common, Arguments const& options, Result const& result) {
  common.exit_code = exit_code_of(outcome_of(result));
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options, result),
                            notes_of(result));
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, Style(common.color, STDOUT_FILENO));
}

}  // namespace

void add_equal(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(app, "equal", "Are two LAYOUTs the same function, and on which domain?",
                                    {"swizproof equal 'fn(x) = x ^ ((x >> 3) & 0x70)' tma:128B",
                                     "is my index arithmetic what the TMA does?"});
  auto const options = std::make_shared<EqualArguments>();
  options->left.add_to(*sub);
  sub->add_option("OTHER", options->right.text, "another LAYOUT")->type_name("LAYOUT")->required();
  sub->add_option("--align", options->align,
                  "bases are multiples of this many bytes (default: both layouts' alignment, and 16)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31));
  add_emit_toml_to(*sub, options->emit);
  sub->callback([&common, options] { report(common, *options, compute_equality(common, *options)); });
}

void add_align(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "align", "For which base addresses do swizzled offsets and swizzled addresses agree?",
                  {"swizproof align tma:128B",
                   "at which addresses may a tile start that the TMA swizzles by 128 bytes?"});
  auto const options = std::make_shared<AlignArguments>();
  options->layout.add_to(*sub);
  add_emit_toml_to(*sub, options->emit);
  sub->callback([&common, options] { report(common, *options, compute_alignment(common, *options)); });
}

}  // namespace swizproof::command
