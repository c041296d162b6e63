// swizproof convert: a layout in other units, and as code.
#include "command/layout/code.hpp"
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/line/help.hpp"
#include "report/report.hpp"

#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/convert.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
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
  Mapping given{};
  Conversion found{};
  std::optional<Code> code{};
};

ConvertResult compute_conversion(Common const& common, ConvertArguments const& options) {
  ConvertResult out;
  out.given = options.layout.parse_for_every_base();
  unsigned const bits = parse_unit(options.to, out.given);
  bool const in_elements = options.to == "elements",
             is_code = !options.emit.empty() && options.emit != "toml";
  if (in_elements && is_code) {  // functions have code, too
    out.found.unit_bits = bits;
    out.found.alignment = own_alignment(out.given, common.limits()).value_or(1);
    out.found.converted = out.given;
    out.found.converted.text = to_string(static_cast<Map const&>(out.given));
  } else {
    out.found = convert_units(out.given, bits, common.limits());
  }
  if (!is_code) return out;
  std::string const element = in_elements                                     ? options.layout.element
                              : options.to == "bytes" || options.to == "bits" ? ""
                                                                              : options.to;
  out.code = code_in(common, options.emit, in_elements ? out.given : out.found.converted, element);
  return out;
}

Json to_json(ConvertResult const& result) {
  Json out{{"verdict", result.found.same ? "proved" : "refuted"},
           {"layout", result.given.text},
           {"converted", result.found.converted.text},
           {"unit_bits", result.found.unit_bits},
           {"alignment", result.found.alignment}};
  if (result.code) out["code"] = swizproof::command::to_json(*result.code);
  if (!result.found.converted.notes.empty()) out["notes"] = result.found.converted.notes;
  return out;
}

void print_text(ConvertResult const& result, Style const& style) {
  if (result.code) {
    std::string_view const comment = result.code->language == "dsl" ? "#" : "//";
    for (std::string const& note : result.found.converted.notes) fmt::print("{} note: {}\n", comment, note);
    fmt::print("{}", result.code->text);
    return;
  }
  fmt::print("{}\n", style.strong(result.given.text));
  fmt::print("  in units of {} {}: {}\n", result.found.unit_bits,
             result.found.unit_bits == 1 ? "bit" : "bits", result.found.converted.text);
  for (std::string const& note : result.found.converted.notes) fmt::print("  note: {}\n", note);
  if (result.found.same && result.found.alignment > 1)
    fmt::print("  the same addresses for bases that are multiples of {} bytes\n", result.found.alignment);
}

/// Both layouts as one function, from the bases for which they are; or, in other units, the layout that the conversion gives.
std::string obligation_of(Common const& common, ConvertArguments const& options,
                          ConvertResult const& result) {
  Conversion const& found = result.found;
  std::string const given = options.layout.text_for_every_base(result.given);
  std::string element = options.layout.element;
  if (element.empty() && result.given.element_bits) element = fmt::format("{}b", *result.given.element_bits);
  if (found.unit_bits != own_unit(result.given))
    return command::obligation_of(common, given + " to " + options.to, false)
        .add("layout", given)
        .add("element", element)
        .add_value("convert",
                   toml_table({{"to", toml_text(options.to)}, {"gives", toml_text(found.converted.text)}}))
        .text();
  return command::obligation_of(common, given + " is " + found.converted.text, false)
      .add("element", element)
      .add("equal", {given, found.converted.text})
      .add("align", found.alignment > 1 ? std::optional(found.alignment) : std::nullopt)
      .text();
}

void run(Common& common, ConvertArguments const& options) {
  ConvertResult const result = compute_conversion(common, options);
  common.exit_code = result.found.same ? holds : refuted;
  if (options.emit == "toml")
    return print_obligation(common, to_json(result), obligation_of(common, options, result),
                            result.found.converted.notes);
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
        "the alignment of this array is not known: no engine can decide the period of its function", map.text,
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
