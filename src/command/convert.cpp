// swizproof convert: a layout in other units, and as code.
#include "command/code.hpp"
#include "command/command.hpp"
#include "command/emit.hpp"
#include "command/help.hpp"
#include "report/report.hpp"

#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct ConvertArguments {
  LayoutArgument layout;
  std::string to = "elements", emit;
};

struct ConvertResult {
  Mapping given{}, converted{};
  unsigned unit_bits = 8;
  std::uint64_t alignment = 1;  ///< bases for which both are the same addresses
  bool same = true;  ///< false where units do not stay whole, or others are covered, which a note says
  std::optional<Code> code{};
};

/// Bits of what the values count: a swizzle alone is one of byte addresses unless --element says otherwise. Throws InputError.
unsigned own_unit(Mapping const& map) {
  if (plain_swizzle(map) != nullptr && map.acts_on_bytes()) return 8;
  if (!map.element_bits)
    throw InputError::whole("the size of an element is missing", map.text, "--element f16");
  return *map.element_bits;
}

/// `bits`, `bytes`, `elements`, or a type.
unsigned bits_of_unit(std::string const& unit, Mapping const& map) {
  if (unit == "elements") return own_unit(map);
  if (unit == "bytes") return 8;
  return unit == "bits" ? 1 : parse_element(unit);
}

/// The units that a tile of elements covers, in order.
std::vector<std::int64_t> units_of(Mapping const& map, unsigned bits, unsigned unit) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < map.domain()->size(); ++i) {
    auto const first =
        static_cast<std::int64_t>(offset(map, static_cast<std::uint64_t>(i)).elements) * bits / unit;
    for (unsigned u = 0; u < bits / unit; ++u) all.push_back(first + u);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The same integers as the compiler knows them: on a command line all are static.
IntTuple as_static(IntTuple tuple) {
  tuple.is_static = true;
  for (IntTuple& mode : tuple.modes) mode = as_static(std::move(mode));
  return tuple;
}

/// The map in units of so many bits. Its swizzle is one of those units as well.
Mapping in_units(Mapping const& map, unsigned bits) {
  auto const refuse = [&](std::string message) { return InputError::whole(std::move(message), map.text); };
  for (std::vector<Stage> const* const stages : {&map.on_elements, &map.on_bytes})
    for (Stage const& stage : *stages)
      if (std::holds_alternative<Expression>(stage) || std::holds_alternative<LinearMap>(stage))
        throw refuse("only layouts and swizzles have another unit; this is a function");
  Mapping const plain = is_flagged(map) ? position_independent(map) : map;
  if (plain.acts_on_bytes() && plain_swizzle(plain) == nullptr)
    throw refuse("this function of byte addresses is none of elements");
  unsigned const own = own_unit(map);
  if (bits == own) return plain;
  if (bits > own ? bits % own != 0 : own % bits != 0)
    throw refuse(fmt::format("elements of {} bits have no units of {} bits", own, bits));
  Mapping from = plain;
  from.notes.clear();
  if (Layout const* const layout = plain.domain())
    from = with_layout(from, Layout{as_static(layout->shape), as_static(layout->stride)});
  try {
    Mapping out = bits > own ? upcast(from, bits / own) : downcast(from, own / bits);
    out.element_bits = bits;
    return out;
  } catch (AlgebraError const& error) {
    throw refuse(error.what());
  }
}

/// True if two tiles cover the same units. CuTe's recast counts some otherwise: with modes of extent 1, or below their first element.
bool covers_the_same(Mapping const& given, unsigned own, Mapping const& converted, unsigned bits) {
  if (given.domain() == nullptr) return true;
  if (given.domain()->size() > static_cast<std::int64_t>(8 * most_shared_bytes))
    throw InputError::whole(
        fmt::format("the tile has {} elements, more than the {} bytes of a block's shared memory",
                    given.domain()->size(), most_shared_bytes),
        given.text);
  unsigned const unit = std::min(own, bits);
  return units_of(given, own, unit) == units_of(converted, bits, unit);
}

/// First difference between a layout with a byte swizzle and the same with a swizzle of elements: what CuTe prints keeps
/// elements whole where the swizzle of bytes splits them. Nothing where they are proved to be the same, from bases that are multiples of
/// `alignment`. Throws InputError where that is not decided.
std::optional<Difference> split_at(Mapping const& given, Mapping const& on_elements, std::uint64_t alignment,
                                   Limits const& limits) {
  if (!is_flagged(given)) return std::nullopt;
  Equality const found = compare(given, on_elements, alignment, limits);
  if (auto const* const unknown = std::get_if<Unknown>(&found.outcome))
    throw InputError::whole(
        "whether the swizzle of bytes is one of elements is not decided: " + unknown->reason, given.text,
        "give more --timeout");
  return found.difference;
}

ConvertResult compute_conversion(Common const& common, ConvertArguments const& options) {
  ConvertResult out;
  out.given = options.layout.parse_for_every_base();
  out.unit_bits = bits_of_unit(options.to, out.given);
  out.alignment =
      own_alignment(out.given, common.limits()).value_or(1);  // of layouts and swizzles it is known
  bool const in_elements = options.to == "elements",
             is_code = !options.emit.empty() && options.emit != "toml";
  out.converted = in_elements && is_code ? out.given : in_units(out.given, out.unit_bits);
  out.converted.text = to_string(static_cast<Map const&>(out.converted));
  unsigned const own = own_unit(out.given);
  std::optional<Difference> split;
  if (!is_code || !in_elements)
    split = split_at(out.given, in_units(out.given, own), out.alignment, common.limits());
  if (out.unit_bits != own) {
    bool const recast = out.converted.notes.empty();
    out.same = recast && covers_the_same(in_units(out.given, own), own, out.converted, out.unit_bits);
    if (recast && !out.same)
      out.converted.notes.push_back(
          "CuTe's result, given here, is another tile: it covers other units, or some of them twice");
  }
  if (split) {
    out.same = false;
    out.converted.notes.push_back(fmt::format(
        "the swizzle of bytes splits elements, and this layout keeps them whole: bit {} of the element "
        "at index {} lies in byte {}, here in byte {}",
        split->bit, split->input, split->left, split->right));
  }
  auto& notes = out.converted.notes;
  for (std::string const& note : out.given.notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  if (!is_code) return out;
  std::string const element = in_elements                                     ? options.layout.element
                              : options.to == "bytes" || options.to == "bits" ? ""
                                                                              : options.to;
  out.code = code_in(common, options.emit, in_elements ? out.given : out.converted, element);
  return out;
}

Json to_json(ConvertResult const& result) {
  Json out{{"verdict", result.same ? "proved" : "refuted"},
           {"layout", result.given.text},
           {"converted", result.converted.text},
           {"unit_bits", result.unit_bits},
           {"alignment", result.alignment}};
  if (result.code) out["code"] = swizproof::command::to_json(*result.code);
  if (!result.converted.notes.empty()) out["notes"] = result.converted.notes;
  return out;
}

void print_text(ConvertResult const& result, Style const& style) {
  if (result.code) {
    std::string_view const comment = result.code->language == "dsl" ? "#" : "//";
    for (std::string const& note : result.converted.notes) fmt::print("{} note: {}\n", comment, note);
    fmt::print("{}", result.code->text);
    return;
  }
  fmt::print("{}\n", style.strong(result.given.text));
  fmt::print("  in units of {} {}: {}\n", result.unit_bits, result.unit_bits == 1 ? "bit" : "bits",
             result.converted.text);
  for (std::string const& note : result.converted.notes) fmt::print("  note: {}\n", note);
  if (result.same && result.alignment > 1)
    fmt::print("  the same addresses for bases that are multiples of {} bytes\n", result.alignment);
}

/// Both layouts as one function, from the bases for which they are. Throws InputError where their units differ.
std::string obligation_of(Common const& common, ConvertArguments const& options,
                          ConvertResult const& result) {
  if (result.unit_bits != own_unit(result.given))
    throw InputError::whole("an obligation compares layouts of one unit", options.to,
                            "leave --to out: the layout as one of elements");
  std::string const given = options.layout.text_for_every_base(result.given);
  std::string element = options.layout.element;
  if (element.empty() && result.given.element_bits) element = fmt::format("{}b", *result.given.element_bits);
  return command::obligation_of(common, given + " is " + result.converted.text, false)
      .add("element", element)
      .add("equal", {given, result.converted.text})
      .add("align", result.alignment > 1 ? std::optional(result.alignment) : std::nullopt)
      .text();
}

void run(Common& common, ConvertArguments const& options) {
  ConvertResult const result = compute_conversion(common, options);
  common.exit_code = result.same ? holds : refuted;
  if (options.emit == "toml")
    return print_obligation(common, to_json(result), obligation_of(common, options, result),
                            result.converted.notes);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, Style(common.color, STDOUT_FILENO));
}

}  // namespace

Code code_in(Common const& common, std::string const& language, Mapping const& map,
             std::string const& element) {
  if (language == "tma") return {language, tma_code(common, map, element)};
  CodeFacts facts;
  std::optional<std::uint64_t> const own = own_alignment(map, common.limits());
  if (!own)
    throw InputError::whole(
        "the alignment of this array is not known, as no engine knows the period of its function", map.text,
        "give more --timeout");
  facts.alignment = std::max(*own, array_alignment);
  facts.element = map.element.empty() && !element.empty() ? parse_element_type(element).name : map.element;
  return {language, code_of(map, *parse_language(language), facts)};
}

Json to_json(Code const& code) { return {{"language", code.language}, {"text", code.text}}; }

void add_emit_to(CLI::App& app, std::string& language) {
  app.add_option(
         "--emit", language,
         "print the layout as code: cute (C++), dsl (CuTe's Python), cuda, triton, tma,\n"
         "or toml: the question as an obligation for 'swizproof prove'. Standard output has the code alone")
      ->check(CLI::IsMember({"cute", "dsl", "cuda", "triton", "tma", "toml"}));
}

void add_convert(CLI::App& app, Common& common) {
  CLI::App* const sub =
      add_command(app, "convert", "LAYOUT in bits, bytes or other elements, or as code",
                  {"swizproof convert 'Sw<3,3,3> o _0 o (8,64):(64,1)' --element f16 --emit cuda",
                   "which lines of CUDA compute this layout?"});
  auto const options = std::make_shared<ConvertArguments>();
  options->layout.add_to(*sub);
  sub->add_option("--to", options->to, "bits, bytes, elements (default), or a type such as f32");
  add_emit_to(*sub, options->emit);
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
