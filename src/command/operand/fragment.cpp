// swizproof fragment FRAGMENT: the element in each register of each lane, and whether a movement gives an operand the right
// elements.
#include "command/layout/emit.hpp"
#include "command/operand/fragment.hpp"
#include "command/line/help.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/movement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace swizproof::command {

void refuse_older(Common const& common, std::string const& instruction, std::string const& needs) {
  Architecture const& arch = parse_architecture(common.arch);
  if (common.arch_is_given) swizproof::refuse_older(arch, instruction, needs);
}

namespace {

using Json = nlohmann::ordered_json;

Json element_json(NamedFragment const& f, unsigned thread, unsigned value) {
  Fragment const& held = f.fragment;
  MatrixElement const e = element_of(held, std::uint32_t{thread}, std::uint32_t{value});
  return {{"lane", thread},
          {"register", value * held.bits / held.register_bits()},
          {"bit", value * held.bits % held.register_bits()},
          {"row", e.row},
          {"column", e.column}};
}

// ----------------------------------------------------------------------------------------- one fragment

struct FragmentResult {
  NamedFragment named;
  Layout layout{};
  Answer answer{};
  std::optional<unsigned> lane{};
  std::optional<Holder> holder{};  ///< holder of the requested element
  std::string theirs{};            ///< --tv: a thread-value layout that may be this fragment's
  bool in_elements = false;        ///< `theirs`, where the fragment's own layout is in bits
  std::string_view evidence{};
};

/// Basis of an instruction's model: the campaigns `ldmatrix` and `mma`; PTX for those that were not measured.
std::string_view evidence_for(Common const& common, NamedFragment const& f) {
  return name(f.measured ? parse_architecture(common.arch).support : Support::documented);
}

FragmentResult compute(Common const& common, FragmentArguments const& options, NamedFragment named) {
  FragmentResult result{std::move(named)};
  Fragment const& f = result.named.fragment;
  result.layout = thread_values(f);
  if (options.at) {
    auto const [row, column] = element_at(*options.at, f.rows, f.columns);
    result.holder = holder_of(f, static_cast<unsigned>(row), static_cast<unsigned>(column));
  }
  if (options.lane && *options.lane >= f.threads)
    throw InputError{fmt::format("--lane is from 0 to {}", f.threads - 1), std::to_string(*options.lane)};
  result.lane = options.lane;
  if (options.tv) {
    result.theirs = *options.tv;
    result.layout = parse_thread_values(f, *options.tv);
    result.in_elements = parse_mapping(*options.tv).domain()->size() != result.layout.size();
    result.answer = decide(is_thread_values("PTX's formulas are the layout", f, result.layout),
                           common.limits(), Effort::two);
    result.evidence = evidence_for(common, result.named);
    return result;
  }
  std::vector<Question> const questions{is_thread_values("PTX's formulas are the layout", f, result.layout),
                                        held_once("each element once", f, result.layout)};
  result.answer = decide(questions, common.limits(), Effort::two);
  result.evidence = evidence_for(common, result.named);
  return result;
}

Json to_json(FragmentResult const& result) {
  NamedFragment const& named = result.named;
  Fragment const& f = named.fragment;
  if (!result.theirs.empty()) {
    Json out{{"verdict", name(result.answer.outcome)},
             {"fragment", named.name()},
             {"tv", result.theirs},
             {"layout", to_string(thread_values(f))},
             {"engines", list_of(result.answer.engines)},
             {"evidence", result.evidence},
             {"counterexample", nullptr}};
    if (Refuted const* const refuted = result.answer.refuted()) {
      OtherNumber const o = other_number(result.named.fragment, result.layout, *refuted);
      out["counterexample"] = {
          {"thread", o.thread}, {"value", o.value}, {"tv", o.layout}, {"instruction", o.instruction}};
    }
    if (auto const* unknown = result.answer.unknown()) out["reason"] = unknown->reason;
    return out;
  }
  Json out{{"verdict", name(result.answer.outcome)},
           {"instruction", named.instruction},
           {"operand", named.operand && !named.tensor_memory() ? Json(named.operand_letter()) : Json()},
           {"needs", named.needs},
           {"shape", {f.rows, f.columns}},
           {"indices", {named.row_index(), named.column_index()}},
           {"element_bits", f.bits},
           {"lanes", f.threads},
           {"registers", f.registers()},
           {"register_bits", f.register_bits()},
           {"layout", to_string(result.layout)},
           {"layout_unit", counts_bits(f) ? "bits" : "elements"},
           {"engines", list_of(result.answer.engines)},
           {"evidence", result.evidence},
           {"elements", Json::array()}};
  if (!named.notes.empty()) out["notes"] = named.notes;
  for (unsigned thread = 0; thread < f.threads; ++thread)
    for (unsigned value = 0; value < f.values; ++value)
      if ((!result.lane || *result.lane == thread) &&
          (!result.holder || (result.holder->thread == thread && result.holder->value == value)))
        out["elements"].push_back(element_json(named, thread, value));
  return out;
}

/// `T5 R1.hi`; of Tensor Memory `L5 C1.b2`: lane and column.
std::string place_name(NamedFragment const& named, unsigned thread, unsigned value, unsigned bits) {
  std::string at = register_name(named.fragment, value, bits);
  if (named.of_cells) at[0] = 'C';
  return fmt::format("{}{} {}", named.of_cells ? 'L' : 'T', thread, at);
}

/// Values of one cell of the table: the most that lie side by side in one register everywhere.
unsigned cell_values(Fragment const& f, bool down) {
  unsigned const most = std::min(f.register_bits() / f.bits, down ? f.rows : f.columns);
  for (unsigned run = most; run > 1; run /= 2) {
    bool side_by_side = true;
    for (std::uint32_t t = 0; t < f.threads; ++t)
      for (std::uint32_t i = 0; i < f.values; ++i) {
        MatrixElement const first = element_of(f, t, i / run * run), e = element_of(f, t, i);
        unsigned const step = i % run;
        side_by_side = side_by_side && (down ? e == MatrixElement{first.row + step, first.column}
                                             : e == MatrixElement{first.row, first.column + step});
      }
    if (side_by_side) return run;
  }
  return 1;
}

/// The tile as a table; of B n goes down and k across, so that the elements of a register stand side by side.
std::string table_of(NamedFragment const& named) {
  Fragment const& f = named.fragment;
  bool const turned = is_b(f);
  unsigned const rows = turned ? f.columns : f.rows, columns = turned ? f.rows : f.columns;
  unsigned const run = cell_values(f, turned);
  unsigned const shown_rows = rows > 32 ? 16 : rows, shown_cells = std::min(columns / run, 16U);
  std::string const down(turned ? named.column_index() : named.row_index());
  std::string const across(turned ? named.row_index() : named.column_index());
  std::vector<std::vector<std::string>> cells(shown_rows + 1);
  for (unsigned c = 0; c < shown_cells; ++c) cells[0].push_back(fmt::format("{} {}", across, c * run));
  for (unsigned r = 0; r < shown_rows; ++r)
    for (unsigned c = 0; c < shown_cells; ++c) {
      Holder const at = turned ? holder_of(f, c * run, r) : holder_of(f, r, c * run);
      cells[r + 1].push_back(place_name(named, at.thread, at.value, run * f.bits));
    }
  std::size_t width = 0;
  for (auto const& row : cells)
    for (std::string const& cell : row) width = std::max(width, cell.size());
  std::string text;
  for (unsigned r = 0; r <= shown_rows; ++r) {
    std::string line =
        fmt::format("  {:<{}}", r == 0 ? "" : fmt::format("{} {}", down, r - 1), down.size() + 4);
    for (std::string const& cell : cells[r]) line += fmt::format("{:<{}}", cell, width + 2);
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  if (run > 1) text += fmt::format("  a cell is {} elements along {}, lowest bits first\n", run, across);
  if (shown_rows < rows || shown_cells * run < columns)
    text += fmt::format("  shown: {} of {} along {}, {} of {} along {}; --lane, --at and --json have all\n",
                        shown_rows, rows, down, shown_cells * run, columns, across);
  return text;
}

/// Range of the layout.
std::string index_text(NamedFragment const& named) {
  Fragment const& f = named.fragment;
  if (counts_bits(f)) return "(lane, bit of its registers) -> bit of the rows, 128 each";
  if (named.of_cells)
    return fmt::format("(lane, cell) -> {} + {} {}", named.row_index(), f.rows, named.column_index());
  char const* const thread = f.threads == warp_lanes && !named.tensor_memory() ? "lane" : "thread";
  bool const b = is_b(f);
  return fmt::format("({}, value) -> {} + {} {}", thread, b ? named.column_index() : named.row_index(),
                     b ? f.columns : f.rows, b ? named.row_index() : named.column_index());
}

/// Statement that is proved of one fragment.
std::string statement(Fragment const& f) {
  unsigned const lanes = holders_of_each(f);
  if (f.formula >= FragmentFormula::copied && f.formula <= FragmentFormula::scales_in_tensor_memory)
    return fmt::format("PTX's lanes and columns are this layout, and every element is in {} lane{}", lanes,
                       lanes == 1 ? "" : "s");
  if (lanes > 1)
    return fmt::format(
        "PTX's registers are this layout, and every {} is in {} lanes; one of them is read",
        f.formula == FragmentFormula::scale_a || f.formula == FragmentFormula::scale_b ? "scale" : "index",
        lanes);
  return "PTX's formulas are this layout, and every element is held in exactly one place";
}

/// Rows and columns of a fragment without operand.
std::string matrix_text(NamedFragment const& named) {
  Fragment const& f = named.fragment;
  if (named.tensor_memory())
    return fmt::format(": {} lanes x {} columns of Tensor Memory", f.rows, f.columns);
  if (named.of_cells)
    return fmt::format(": {} rows x {} columns of a matrix in shared memory", f.rows, f.columns);
  if (!named.memory)
    return fmt::format(": {} x {}, row r in the source's registers of lanes 4r to 4r + 3", f.rows, f.columns);
  return fmt::format(": {} rows of {}, row r at the address that lane r gives", f.rows, f.columns);
}

std::string title(NamedFragment const& named) {
  Fragment const& f = named.fragment;
  std::string const what = named.operand && !named.tensor_memory()
                               ? fmt::format(", operand {}: {} x {}, ({}, {})", named.operand_letter(),
                                             f.rows, f.columns, named.row_index(), named.column_index())
                               : matrix_text(named);
  if (named.of_cells)
    return fmt::format("{}{}, elements of {} bits; {} lanes of Tensor Memory with {} columns of 32 bits",
                       named.instruction, what, f.bits, f.threads, f.registers());
  return fmt::format("{}{}, elements of {} bit{}; {} {} with {} register{} of {} bits", named.instruction,
                     what, f.bits, f.bits == 1 ? "" : "s", f.threads,
                     f.threads == warp_lanes && !named.tensor_memory() ? "lanes" : "threads", f.registers(),
                     f.registers() == 1 ? "" : "s", f.register_bits());
}

void print_lane(NamedFragment const& named, unsigned lane) {
  Fragment const& f = named.fragment;
  unsigned const each = f.register_bits() / f.bits;
  for (unsigned r = 0; r < f.registers(); ++r) {
    fmt::print("  {} ", place_name(named, lane, r * each, f.register_bits()));
    for (unsigned i = r * each; i < std::min((r + 1) * each, f.values); ++i)
      fmt::print(" {}", element_text(named, element_of(f, std::uint32_t{lane}, std::uint32_t{i})));
    fmt::print("\n");
  }
  if (each > 1) fmt::print("  lowest bits first\n");
}

void print_theirs(FragmentResult const& result, Style const& style) {
  Fragment const& f = result.named.fragment;
  Refuted const* const refuted = result.answer.refuted();
  if (result.in_elements)
    fmt::print("  {}  in elements of {} bits; in bits:\n  {}  {}\n", result.theirs, f.bits,
               to_string(result.layout), style.faint(index_text(result.named)));
  else
    fmt::print("  {}  {}\n", result.theirs, style.faint(index_text(result.named)));
  fmt::print("  {}  {}{}\n", style.outcome(result.answer.outcome),
             refuted != nullptr ? "is not the instruction's" : "is the instruction's",
             style.aside(names_of(result.answer.engines)));
  if (!style.brief() || result.evidence != name(Support::measured)) fmt::print("  {}\n", result.evidence);
  if (auto const* unknown = result.answer.unknown()) fmt::print("  {}\n", unknown->reason);
  if (refuted == nullptr) return;
  OtherNumber const o = other_number(result.named.fragment, result.layout, *refuted);
  fmt::print("  at thread {}, value {}: {}, the instruction {}\n  the instruction's: {}\n", o.thread, o.value,
             o.layout, o.instruction, to_string(thread_values(f)));
}

void print_text(FragmentResult const& result, Style const& style) {
  NamedFragment const& named = result.named;
  Fragment const& f = named.fragment;
  fmt::print("{}\n", style.strong(title(named)));
  for (std::string const& note : named.notes) fmt::print("  note: {}\n", note);
  if (!result.theirs.empty()) {
    print_theirs(result, style);
    return;
  }
  fmt::print("  {}  {}\n", to_string(result.layout), style.faint(index_text(named)));
  fmt::print("  {}  {}{}\n", style.outcome(result.answer.outcome), statement(f),
             style.aside(names_of(result.answer.engines)));
  if (auto const* unknown = result.answer.unknown()) fmt::print("  {}\n", unknown->reason);
  if (!style.brief() || result.evidence != name(Support::measured))
    fmt::print("  {}; needs {}\n{}", result.evidence, named.needs, style.gap());
  if (result.holder) {
    Holder const at = *result.holder;
    fmt::print("  {} is in {}, its value {}\n",
               element_text(named, element_of(f, std::uint32_t{at.thread}, std::uint32_t{at.value})),
               place_name(named, at.thread, at.value, f.bits), at.value);
  }
  if (result.lane) print_lane(named, *result.lane);
  if (!result.holder && !result.lane && !style.brief()) fmt::print("{}", table_of(named));
}

/// The layout of --tv as that of the fragment whose text is `of`.
std::string obligation_of(Common const& common, FragmentArguments const& options, std::string const& of) {
  return command::obligation_of(common, *options.tv + " is " + of, true)
      .add("element", options.element)
      .add_value("fragment", toml_table({{"of", toml_text(of)}, {"tv", toml_text(*options.tv)}}))
      .text();
}

// ---------------------------------------------------------------------------------------------

void run(Common& common, FragmentArguments const& options) {
  if (options.into) {
    if (options.at || options.lane || options.tv)
      throw InputError{"--at, --lane and --tv are of one fragment", *options.into, 0, options.into->size(),
                       "leave --into out"};
    if (looks_like_tiled_copy(options.fragment) || looks_like_tiled_copy(*options.into))
      run_retile(common, options);
    else
      run_movement(common, options);
    return;
  }
  if (!options.emit.empty() && !options.tv)
    throw InputError::whole(
        "--emit toml goes with --into or --tv", options.fragment,
        "an obligation says where what is loaded, computed or stored belongs, or which layout "
        "the kernel takes for the fragment");
  if (options.tv && (options.at || options.lane))
    throw InputError::whole("--at and --lane are of the fragment's own layout", *options.tv,
                            "leave --tv out");
  if (options.transposed) throw InputError::whole("--transposed goes with --into", options.fragment);
  if (!options.contiguous.empty())
    throw InputError::whole("--contiguous goes with --into", options.contiguous);
  if (looks_like_tiled_copy(options.fragment))
    throw InputError::whole("a TiledCopy moves: --into, the operand of a TiledMMA, is missing",
                            options.fragment,
                            "--into \"$(cat tiled_mma.txt):a\"; 'swizproof check' and 'eval' take it as an "
                            "access and as a layout");
  if (options.fragment.find('=') != std::string::npos && !looks_like_tiled_mma(options.fragment))
    throw InputError::whole(
        "rows say where an operand's elements lie in memory: --into, the operand, is missing",
        options.fragment,
        "INSTRUCTION: row = .. --into mma.m16n8k16.f16:a loads; mma.m16n8k16.f16:d --element f16 --into "
        "INSTRUCTION: row = .. stores");
  std::string const text = options.fragment + (options.operand.empty() ? "" : ":" + options.operand);
  auto const operand = parse_operand(text, options.element_bits());
  if (auto const* const tiled = std::get_if<TiledOperand>(&operand)) {
    run_tile(common, options, *tiled);
    return;
  }
  NamedFragment const named = std::get<NamedFragment>(operand);
  refuse_older(common, named.instruction, named.needs);
  FragmentResult const result = compute(common, options, named);
  common.exit_code = exit_code_of(result.answer.outcome);
  if (!options.emit.empty())
    return print_obligation(common, to_json(result), obligation_of(common, options, text), named.notes);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace

void add_fragment(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "fragment", "Which element is in each register of each lane, and does it belong there?",
      {"swizproof fragment ldmatrix.x4 --into mma.m16n8k16.f16:a",
       "does ldmatrix load the registers as the A operand of this mma needs them?"});
  auto const options = std::make_shared<FragmentArguments>();
  sub->add_option("FRAGMENT", options->fragment,
                  "mma.m16n8k16.f16:a | wgmma.m64n128k16.f16:d | ldmatrix.x4.trans | stmatrix.x2 |\n"
                  "SM80_16x8x16_F32F16F16F32_TN:b | movmatrix.trans | tcgen05.ld.32x32b.x8 |\n"
                  "mma.m16n8k64.kind::mxf4.e2m1:sfa | mma.sp.m16n8k32.f16:e | tcgen05.cp.32x128b.warpx4 |\n"
                  "with --into ldmatrix.x4: row = ..., col = ... too,\n"
                  "expressions in lane, of wgmma also warp (0 to 3) and thread;\n"
                  "make_tiled_mma(ATOM{}, ..) or what print(tiled_mma) prints, with :a, :b or :c behind it; "
                  "with --into print(tiled_copy)")
      ->required();
  sub->add_option(
         "--operand", options->operand,
         "a, b, c or d, sfa or sfb for scales, or e for metadata, instead of the letter behind the colon")
      ->check(CLI::IsMember({"a", "b", "c", "d", "sfa", "sfb", "e"}));
  sub->add_option("--element", options->element,
                  "what ldmatrix and stmatrix move (default f16), or what results are converted to:\n"
                  "f16, e4m3, s8, .. or CUTLASS's half_t, float_e4m3_t, ..")
      ->type_name("ELEMENT");
  sub->add_option("--at", options->at,
                  "ROW,COLUMN or (ROW,COLUMN): which lane and register hold this element?")
      ->type_name("INTEGERS");
  sub->add_option("--lane", options->lane, "what this lane holds");
  sub->add_option("--tv", options->tv, "a LAYOUT (thread, value): is it this fragment's?")
      ->type_name("LAYOUT");
  sub->add_option("--into", options->into,
                  "another FRAGMENT: are the loaded or computed elements in this operand's registers?");
  sub->add_option("--contiguous", options->contiguous,
                  "the operand's index that is contiguous in shared memory: m, n or k\n"
                  "(default: k for a and b, n for d; with .trans the other)");
  add_emit_toml_to(*sub, options->emit);
  sub->add_flag("--transposed", options->transposed,
                "with --into between registers: the operand is the transpose of FRAGMENT")
      ->disable_flag_override();
  add_brief_to(*sub, common);
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
