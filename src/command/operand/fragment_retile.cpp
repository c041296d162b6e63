// swizproof fragment TILEDCOPY --into TILEDMMA:a, and TILEDMMA:c --into TILEDCOPY: does each register get its element?
#include "command/layout/emit.hpp"
#include "command/operand/fragment.hpp"

#include "report/report.hpp"

#include <swizproof/parse/movement.hpp>

#include <fmt/format.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// The question and what was decided.
struct RetileResult : RetileQuestion {
  TileDelivery found{};

  [[nodiscard]] std::string element_text(std::uint64_t element) const {
    auto const [i, j] = coordinate(element);
    return fmt::format("({} {}, {} {})", index(0), i, index(1), j);
  }
};

Json to_json(RetileResult const& r) {
  Json out{{"verdict", name(r.found.answer.outcome)},
           {"from", r.loads ? "TiledCopy" : fmt::format("TiledMMA:{}", r.operand.letter())},
           {"into", r.loads ? fmt::format("TiledMMA:{}", r.operand.letter()) : "TiledCopy"},
           {"domain", fmt::format("{} threads, {} values each", r.threads(), r.values())},
           {"engines", list_of(r.found.answer.engines)},
           {"shape", r.extents},
           {"indices", {std::string(1, r.index(0)), std::string(1, r.index(1))}},
           {"values", r.fragment},
           {"layout", to_string(r.movement.registers)},
           {"counterexample", nullptr}};
  if (!r.notes.empty()) out["notes"] = r.notes;
  if (r.found.first) {
    WrongRegister const& w = *r.found.first;
    out["counterexample"] = {{"lane", w.thread},
                             {"value", w.value},
                             {"fragment", r.fragment_at(w.reg)},
                             {"moved", r.coordinate(w.moved)},
                             {"wanted", r.coordinate(w.held)}};
  }
  if (auto const* unknown = r.found.answer.unknown()) out["reason"] = unknown->reason;
  return out;
}

void print_text(RetileResult const& r, Style const& style) {
  std::string const side = fmt::format("TiledMMA:{}", r.operand.letter());
  if (!style.brief())
    fmt::print("{}\n", style.strong(fmt::format("{} into {}, a tensor of {} x {}, ({}, {})",
                                                r.loads ? "TiledCopy" : side, r.loads ? side : "TiledCopy",
                                                r.extents[0], r.extents[1], r.index(0), r.index(1))));
  for (std::string const& note : r.notes) fmt::print("  note: {}\n", note);
  bool const refuted = r.found.answer.refuted() != nullptr;
  std::string_view const says = r.found.answer.unknown() != nullptr ? "not known"
                                : r.loads                           ? refuted
                                                                          ? "registers get other elements than the operand has there"
                                                                          : "every register gets the element that the operand has there"
                                : refuted ? "registers go to the places of other elements"
                                          : "every register goes to the place of its element";
  fmt::print("  {}  {}{}\n", style.outcome(r.found.answer.outcome), says,
             style.aside(names_of(r.found.answer.engines)));
  if (auto const* unknown = r.found.answer.unknown()) fmt::print("           {}\n", unknown->reason);
  if (!style.brief())
    fmt::print(
        "           {} threads, {} values each, as {} arranges fragment(V,{},{}) of {} x {} x {}: {}\n",
        r.threads(), r.values(), r.loads ? "retile_D" : "retile_S", static_cast<char>(r.index(0) - 'a' + 'A'),
        static_cast<char>(r.index(1) - 'a' + 'A'), r.fragment[0], r.fragment[1], r.fragment[2],
        to_string(r.movement.registers));
  if (!r.found.first) return;
  WrongRegister const& w = *r.found.first;
  auto const at = r.fragment_at(w.reg);
  fmt::print("           T{} fragment({},{},{}), value {} of the copy, {} {} in place of {}\n", w.thread,
             at[0], at[1], at[2], w.value, r.loads ? "gets" : "goes to", r.element_text(w.moved),
             r.element_text(w.held));
}

}  // namespace

void run_retile(Common& common, FragmentArguments const& options) {
  MovementWords const words{options.fragment,  *options.into,      options.operand,
                            options.element,   options.contiguous, {},
                            options.transposed};
  RetileResult result{parse_retile(words), {}};
  result.found = deliver(result.movement, common.limits());
  if (!result.operand.needs.empty()) refuse_older(common, result.operand.instruction, result.operand.needs);
  common.exit_code = exit_code_of(result.found.answer.outcome);
  if (!options.emit.empty()) {
    std::string const from =
        options.fragment + (result.loads || options.operand.empty() ? "" : ":" + options.operand);
    std::string const statement = toml_table({{"from", toml_text(from)}, {"into", toml_text(*options.into)}});
    std::string const about = result.loads ? "TiledCopy into TiledMMA:" + result.operand.letter()
                                           : "TiledMMA:" + result.operand.letter() + " into TiledCopy";
    return print_obligation(common, to_json(result),
                            obligation_of(common, about, true)
                                .add("element", options.element)
                                .add_value("fragment", statement)
                                .text(),
                            result.notes);
  }
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace swizproof::command
