// swizproof fragment FRAGMENT --into FRAGMENT: does what is loaded, computed or stored lie where it belongs?
#include "command/layout/emit.hpp"
#include "command/operand/fragment.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/movement.hpp>
#include <swizproof/parse/movement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// True if one product's registers are another's, with no memory between them.
bool between_registers(MovementAnswer const& r) { return !r.from.memory && !r.into.memory; }

/// Indices of the operand that are the source's rows and columns: the first index of one is the first of the other, or
/// its second where the operand is the transpose.
std::array<std::array<std::string, 2>, 2> matched_indices(MovementAnswer const& r) {
  std::string const row(r.into.row_index()), column(r.into.column_index());
  bool const swapped = r.movement.delivered.transposed;
  return {{{std::string(r.from.row_index()), swapped ? column : row},
           {std::string(r.from.column_index()), swapped ? row : column}}};
}

/// Packing of converted results into a register, lowest bits first; nothing where none are converted.
std::string packing(MovementAnswer const& r) {
  unsigned const bits = r.movement.wanted.fragment.bits;
  if (r.computed_bits == 0 || bits >= 32) return {};
  unsigned const each = 32 / bits;
  std::string text = "Rr = {";
  for (unsigned i = 0; i < each; ++i) {
    std::string const part =
        bits == 16 ? i == 0 ? "lo" : "hi" : fmt::format("{}{}", bits == 8 ? 'b' : 'n', i);
    text +=
        fmt::format("{}{}: d[{}r{}]", i == 0 ? "" : ", ", part, each, i == 0 ? "" : fmt::format("+{}", i));
  }
  return text + "}";
}

/// PTX's instruction for two results of f32 that become f16, bf16, e4m3 or e5m2, whose first source goes to the high half;
/// nothing for other types. [PTX ISA 9.1, cvt]
std::string conversion(MovementAnswer const& r) {
  if (packing(r).empty() || r.computed_bits != 32) return {};
  for (char const* integers : {".s8", ".u8", ".i8", ".s4", ".u4", ".i4", ".s32", ".i32"})
    if (r.from.instruction.find(integers) != std::string::npos) return {};
  std::string const& type = r.into.memory ? r.element : r.into.instruction;
  auto const is = [&](char const* name) { return type.find(name) != std::string::npos; };
  unsigned const bits = r.movement.wanted.fragment.bits;
  if (bits == 16 && (is("bf16") || is("bfloat16"))) return "cvt.rn.bf16x2.f32 Rr, d[2r+1], d[2r]";
  if (bits == 16 && (is("f16") || is("half"))) return "cvt.rn.f16x2.f32 Rr, d[2r+1], d[2r]";
  if (bits == 8 && (is("e4m3") || is("e5m2")))
    return fmt::format("cvt.rn.satfinite.{}x2.f32 lo, d[4r+1], d[4r]; the same for hi, d[4r+3], d[4r+2]",
                       is("e4m3") ? "e4m3" : "e5m2");
  return {};
}

/// Effect of a permutation of k on blocks of k that share a scale.
enum class Blocks : std::uint8_t { kept, moved, split };
Blocks blocks_under(std::vector<unsigned> const& k, unsigned block) {
  bool kept = true;
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (k[i] / block != k[i / block * block] / block) return Blocks::split;
    kept = kept && k[i] / block == i / block;
  }
  return kept ? Blocks::kept : Blocks::moved;
}
std::string_view name_of(Blocks b) {
  return b == Blocks::kept ? "kept" : b == Blocks::moved ? "moved" : "split";
}

/// Condition under which results with k permuted so are right.
std::string harmless(MovementAnswer const& r) {
  if (r.operand().sparse)
    return "correct if and only if the metadata and k of the other operand are permuted the same way";
  std::string const alike = "correct if and only if k of the other operand is permuted the same way";
  std::vector<unsigned> const& scaled = r.operand().scale_blocks;
  if (scaled.empty()) return alike;
  std::string text = alike + " and each element keeps its scale:";
  for (unsigned const block : scaled) {
    Blocks const blocks = blocks_under(r.found.up_to->k, block);
    text +=
        fmt::format("\n             one scale for {} k{}: {}", block,
                    scaled.size() == 1 ? ""
                    : block == 32      ? " (mxf4, mxf4nvf4)"
                                       : " (mxf4nvf4)",
                    blocks == Blocks::kept ? "every element stays in its block, the scales stay"
                    : blocks == Blocks::moved
                        ? "blocks move as wholes, the scales of both operands must be permuted with them"
                        : "blocks are split, no scales are right unless those of a split block are equal");
  }
  return text;
}

/// True if registers are emptied.
bool stores(MovementAnswer const& r) { return r.into.memory.has_value(); }

/// ` (2 side by side along n)`, or nothing.
std::string repeated(FragmentSide const& side, NamedFragment const& f) {
  if (side.copies == 1) return {};
  if (side.down > 1)
    return fmt::format(" ({}: {} along {}, then {} along {})", side.copies, side.down, f.row_index(),
                       side.copies / side.down, f.column_index());
  return fmt::format(" ({} side by side along {})", side.copies,
                     side.along_columns ? f.column_index() : f.row_index());
}

/// `R0, R2, R1, R3`, or that they keep their order.
std::string register_order(std::vector<unsigned> const& registers) {
  bool in_order = true;
  std::string text;
  for (std::size_t r = 0; r < registers.size(); ++r) {
    in_order = in_order && registers[r] == r;
    text += fmt::format("{}R{}", r == 0 ? "" : ", ", registers[r]);
  }
  if (registers.size() == 1) return "R0";
  return in_order ? fmt::format("each of R0 to R{}", registers.size() - 1) : text + " in this order";
}

/// The words for what must change.
std::string words_for(UpTo const& up_to, NamedFragment const& f) {
  std::vector<std::string> words;
  if (!up_to.values.empty()) words.emplace_back("the order of the values within each lane");
  if (!up_to.k.empty()) words.emplace_back("a permutation of k");
  if (!up_to.other.empty())
    words.push_back(fmt::format("a permutation of {}", is_b(f.fragment) ? f.column_index() : f.row_index()));
  std::string text = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) text += (i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

/// Option to add to the command if results of 32 bits are stored; or nothing.
std::string element_hint(MovementAnswer const& r) {
  if (!stores(r) || r.found.answer.refuted() == nullptr || r.movement.wanted.fragment.bits != 32) return {};
  return "stmatrix is for results that are converted first: --element f16";
}

Json up_to_json(MovementAnswer const& r, UpTo const& up_to) {
  Json out{{"values", up_to.values},
           {"k", up_to.k},
           {"other", up_to.other},
           {"verdict", name(up_to.answer.outcome)},
           {"engines", list_of(up_to.answer.engines)}};
  if (!up_to.k.empty())
    for (unsigned const block : r.operand().scale_blocks)
      out["scale_blocks"][std::to_string(block)] = name_of(blocks_under(up_to.k, block));
  return out;
}

/// Notes of both fragments, each once.
std::vector<std::string> notes_of(MovementAnswer const& r) {
  std::vector<std::string> notes = r.from.notes;
  for (std::string const& note : r.into.notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

/// Changes with which it is right.
void add_fixes(Json& out, MovementAnswer const& r) {
  out["up_to"] = nullptr;
  if (r.found.up_to) out["up_to"] = up_to_json(r, *r.found.up_to);
  if (between_registers(r)) {
    out["transposed"] = r.movement.delivered.transposed;
    out["movmatrix"] = nullptr;
    if (auto const& found = r.found.movmatrix)
      out["movmatrix"] = {{"registers", found->registers},
                          {"verdict", name(found->answer.outcome)},
                          {"engines", list_of(found->answer.engines)}};
  }
  if (std::string const hint = element_hint(r); !hint.empty()) out["hint"] = hint;
  if (!r.instead.empty()) out["instead"] = r.instead;
  if (!r.instead_how.empty()) out["instead_how"] = r.instead_how;
}

Json to_json(MovementAnswer const& r) {
  NamedFragment const& f = r.operand();
  Fragment const& held = r.movement.wanted.fragment;
  auto const coordinates = [&](MatrixElement const& e) {
    return Json{{std::string(f.row_index()), e.row}, {std::string(f.column_index()), e.column}};
  };
  auto const place = [&](unsigned thread, unsigned value) {
    Json out{{"lane", thread},
             {"register", value * held.bits / held.register_bits()},
             {"bit", value * held.bits % held.register_bits()}};
    if (held.threads > warp_lanes) out["warp"] = thread / warp_lanes;
    return out;
  };
  Json out{{"verdict", name(r.outcome())},
           {"from", r.from.name()},
           {"into", r.into.name()},
           {"domain", r.found.domain},
           {"engines", list_of(r.found.answer.engines)},
           {"evidence", name(movement_support)}};
  if (std::vector<std::string> const notes = notes_of(r); !notes.empty()) out["notes"] = notes;
  if (!r.instruction.empty()) {
    out["access"] = r.instruction;
    out["tile"] = r.tile;
    out["every_address"] = r.split.has_value();
  }
  if (between_registers(r)) {
    out["indices"] = Json::object();
    for (auto const& [source, operand] : matched_indices(r)) out["indices"][source] = operand;
  }
  if (std::string const how = packing(r); !how.empty()) {
    out["packing"] = how;
    out["conversion"] = conversion(r).empty() ? Json() : Json(conversion(r));
  }
  out["counterexample"] = nullptr;
  if (r.found.first) {
    WrongValue const& w = *r.found.first;
    out["counterexample"] = place(w.thread, w.value);
    out["counterexample"]["got"] = coordinates(w.got);
    out["counterexample"]["wanted"] = coordinates(w.wanted);
  }
  if (r.found.misaligned) {
    MisalignedRow const& row = *r.found.misaligned;
    out["misaligned"] = {{"lane", row.thread},
                         {"instruction", row.instruction},
                         {"column", row.start},
                         {"bytes", row.start * held.bits / 8},
                         {"multiple_of", 16}};
  }
  if (r.split)
    out["split"] = {{"one", place(r.split->holders[0].thread, r.split->holders[0].value)},
                    {"other", place(r.split->holders[1].thread, r.split->holders[1].value)},
                    {"wanted", {coordinates(r.split->wanted[0]), coordinates(r.split->wanted[1])}}};
  add_fixes(out, r);
  if (auto const* unknown = r.found.answer.unknown()) out["reason"] = unknown->reason;
  return out;
}

void print_split(MovementAnswer const& r) {
  SplitRow const& split = *r.split;
  Fragment const& held = r.movement.wanted.fragment;
  NamedFragment const& f = r.operand();
  std::string names[2], elements[2];
  for (std::size_t i = 0; i < 2; ++i) {
    names[i] = fmt::format("T{} {}", split.holders[i].thread,
                           register_name(held, split.holders[i].value, held.bits));
    elements[i] = element_text(f, split.wanted[i]);
  }
  if (names[0] == names[1])
    fmt::print(
        "           for all addresses that the lanes give: the row with {} would not start at a multiple of "
        "16 "
        "bytes\n",
        elements[0]);
  else
    fmt::print(
        "           for all addresses that the lanes give: {} and {} are of one row, {} element{} apart;\n"
        "           the operand has {} and {} there\n",
        names[0], names[1], split.apart, split.apart == 1 ? "" : "s", elements[0], elements[1]);
}

/// The least multiple of `step` with which a table repeats; at most its size.
std::size_t period_of(std::vector<unsigned> const& table, std::size_t step) {
  for (std::size_t period = step; period < table.size(); period += step) {
    bool goes_on = table.size() % period == 0;
    for (std::size_t i = period; goes_on && i < table.size(); ++i)
      goes_on = table[i] == table[i - period] + period;
    if (goes_on) return period;
  }
  return table.size();
}

/// `0 1 8 9 2 3 10 11 ..`: its first period, with dots where there are more.
std::string list_of(std::vector<unsigned> const& table) {
  std::size_t const period = period_of(table, 1);
  return fmt::format("{}{}",
                     fmt::join(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(period), " "),
                     period < table.size() ? fmt::format(", and so on from {} on", period) : "");
}

void print_up_to(MovementAnswer const& r, Style const& style) {
  UpTo const& up_to = *r.found.up_to;
  NamedFragment const& f = r.operand();
  Fragment const& held = r.movement.wanted.fragment;
  fmt::print("{}  {}   with a fix: right up to {}{}\n", style.gap(), style.outcome(up_to.answer.outcome),
             words_for(up_to, f), style.aside(names_of(up_to.answer.engines)));
  if (style.brief()) {
    if (!up_to.k.empty()) fmt::print("           {}\n", harmless(r));
    return;
  }
  if (!up_to.values.empty()) {
    fmt::print(
        "           no value has to change its lane; the operand's registers R', lowest bits first, take "
        "from the source's R\n");
    std::size_t const each = held.register_bits() / held.bits, period = period_of(up_to.values, each);
    for (std::size_t from = 0; from < period; from += each) {
      fmt::print("             R{}' =", from / each);
      for (std::size_t i = from; i < from + each; ++i)
        fmt::print(" {}", register_name(held, up_to.values[i], held.bits));
      fmt::print("\n");
    }
    if (period < up_to.values.size()) fmt::print("             and so on from R{}' on\n", period / each);
  }
  if (!up_to.k.empty())
    fmt::print(
        "           in place of k 0, 1, 2, ..: {}\n"
        "           {}\n",
        list_of(up_to.k), harmless(r));
  if (!up_to.other.empty()) {
    std::string_view const other = is_b(f.fragment) ? f.column_index() : f.row_index();
    fmt::print(
        "           in place of {} 0, 1, 2, ..: {}\n"
        "           the results come out with {} permuted so\n",
        other, list_of(up_to.other), other);
  }
}

/// A movement, and how its values are matched and packed.
void print_movement(MovementAnswer const& r, Style const& style) {
  NamedFragment const& f = r.operand();
  FragmentSide const &from = r.movement.delivered, &into = r.movement.wanted;
  bool const rows = !r.instruction.empty();
  std::string const from_text = rows
                                    ? (r.from.memory ? r.from.instruction : r.from.name() + repeated(into, f))
                                    : r.from.name() + repeated(from, r.from);
  std::string const into_text =
      rows && !r.from.memory ? r.into.instruction : r.into.name() + repeated(into, f);
  if (!style.brief())
    fmt::print("{}\n", style.strong(fmt::format("{} into {}, elements of {} bits", from_text, into_text,
                                                into.fragment.bits)));
  if (rows && !(style.brief() && r.split))
    fmt::print("  {}{}\n  {}\n", r.instruction, r.given || r.split ? "" : "  (found)", style.faint(r.tile));
  if (between_registers(r) && !style.brief()) {
    auto const [rows_are, columns_are] = matched_indices(r);
    fmt::print("  {}\n", style.faint(fmt::format("{}: {} of the source is {} of the operand, {} is {}",
                                                 from.transposed ? "transposed" : "by position", rows_are[0],
                                                 rows_are[1], columns_are[0], columns_are[1])));
  }
  if (std::string const how = packing(r); !how.empty()) {
    fmt::print(
        "  d[i], value i of a thread's results{}, converted and packed {}\n",
        from.copies > 1 && !rows ? fmt::format(", of {} products one after the other", from.copies) : "",
        how);
    if (std::string const by = conversion(r); !by.empty())
      fmt::print("  as {}: the first source becomes the high half\n", by);
  }
  for (std::string const& note : notes_of(r)) fmt::print("  note: {}\n", note);
}

/// The row that starts where none may.
void print_misaligned(MovementAnswer const& r, MisalignedRow const& row) {
  FragmentSide const &from = r.movement.delivered, &into = r.movement.wanted;
  NamedFragment const& f = r.operand();
  fmt::print(
      "           the row that T{} gives{} starts at byte {} along {}: every row of {} must start at a "
      "multiple "
      "of 16 bytes, as the tile does\n",
      row.thread, from.copies > 1 ? fmt::format(" for i = {}", row.instruction) : "",
      row.start * into.fragment.bits / 8, from.columns_contiguous ? f.column_index() : f.row_index(),
      r.from.memory ? "ldmatrix" : "stmatrix");
}

void print_text(MovementAnswer const& r, Style const& style) {
  NamedFragment const& f = r.operand();
  FragmentSide const& into = r.movement.wanted;
  bool const rows = !r.instruction.empty();
  print_movement(r, style);
  std::string_view const says =
      r.found.answer.refuted() != nullptr ? stores(r) ? "elements are stored in others' places"
                                                      : "the operand's registers hold other elements"
      : r.found.answer.proved()
          ? stores(r) ? "every element is stored in its place" : "every register holds the right elements"
          : "not known";
  fmt::print("  {}  {}{}\n", style.outcome(r.outcome()), says, style.aside(names_of(r.found.answer.engines)));
  if (style.brief())
    fmt::print("           the model is {}\n", name(movement_support));
  else
    fmt::print("           on {}; {}\n", r.found.domain, name(movement_support));
  if (auto const* unknown = r.found.answer.unknown()) fmt::print("           {}\n", unknown->reason);
  if (r.split) print_split(r);
  std::string const warp = into.fragment.threads > warp_lanes && r.found.first && rows
                               ? fmt::format("warp {}'s ", r.found.first->thread / warp_lanes)
                               : "";
  if (r.found.misaligned) print_misaligned(r, *r.found.misaligned);
  if (r.found.first && !(style.brief() && r.split)) {
    WrongValue const& w = *r.found.first;
    fmt::print("           {}{}T{} {} {} {}, {} {}\n", rows ? "with these rows " : "", warp, w.thread,
               register_name(into.fragment, w.value, into.fragment.bits), stores(r) ? "goes to" : "is",
               element_text(f, w.got), stores(r) ? "is" : "should be", element_text(f, w.wanted));
  }
  if (std::string const hint = element_hint(r); !hint.empty()) fmt::print("           {}\n", hint);
  if (!r.instead.empty())
    fmt::print("{}  {} does it{}{}\n", style.gap(), r.instead, r.instead_how.empty() ? "" : ", ",
               r.instead_how);
  if (auto const& found = r.found.movmatrix)
    fmt::print("{}  {}   movmatrix.sync.aligned.m8n8.trans.b16 on {} does it{}\n", style.gap(),
               style.outcome(found->answer.outcome), register_order(found->registers),
               style.aside(names_of(found->answer.engines)));
  if (r.found.up_to) print_up_to(r, style);
  if (r.found.nothing_fixes && r.instead.empty() && !r.found.movmatrix)
    fmt::print("           no order of the values within the lanes and no permutation of k and {} fixes it\n",
               is_b(f.fragment) ? f.column_index() : f.row_index());
}

std::string obligation_of(Common const& common, FragmentArguments const& options,
                          MovementAnswer const& result) {
  bool const lettered = !options.operand.empty() && !result.from.memory;
  std::string const from = options.fragment + (lettered ? ":" + options.operand : "");
  std::string const statement =
      toml_table({{"from", toml_text(from)},
                  {"into", toml_text(*options.into)},
                  {"contiguous", options.contiguous.empty() ? "" : toml_text(options.contiguous)},
                  {"transposed", options.transposed ? "true" : ""}});
  return command::obligation_of(common, from + " into " + *options.into, true)
      .add("element", options.element)
      .add_value("fragment", statement)
      .text();
}

}  // namespace

void run_movement(Common& common, FragmentArguments const& options) {
  MovementQuestion const question = parse_movement({options.fragment,
                                                    *options.into,
                                                    options.operand,
                                                    options.element,
                                                    options.contiguous,
                                                    {},
                                                    options.transposed});
  MovementAnswer const result = decide_movement(question, common.limits());
  refuse_older(common, result.from.instruction, result.from.needs);
  refuse_older(common, result.into.instruction, result.into.needs);
  common.exit_code = exit_code_of(result.outcome());
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options, result),
                            notes_of(result));
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace swizproof::command
