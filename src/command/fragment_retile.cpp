// swizproof fragment TILEDCOPY --into TILEDMMA:a, and TILEDMMA:c --into TILEDCOPY: does each register get its element?
#include "command/fragment.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/tile.hpp>

#include <fmt/format.h>

#include <numeric>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// A copy between memory and the registers of an operand.
struct RetileResult {
  TiledOperand operand;
  TiledCopy copy;
  bool loads = true;                      ///< into the registers; else out of them
  std::array<std::int64_t, 2> extents{};  ///< of the tensor: the least that both tile
  TileMovement movement{};
  std::array<std::uint64_t, 3> fragment{};  ///< of a thread: (V,I,J)
  TileDelivery found{};
  std::vector<std::string> notes{};

  [[nodiscard]] std::uint64_t threads() const {
    return static_cast<std::uint64_t>(movement.moved.mode(0).size());
  }
  [[nodiscard]] std::uint64_t values() const {
    return static_cast<std::uint64_t>(movement.moved.mode(1).size());
  }
  /// Index of the operand's matrix: `m`, `k`.
  [[nodiscard]] char index(std::size_t mode) const { return "mnk"[modes_of(operand.operand)[mode]]; }
  [[nodiscard]] std::array<std::uint64_t, 2> coordinate(std::uint64_t element) const {
    auto const first = static_cast<std::uint64_t>(extents[0]);
    return {element % first, element / first};
  }
  [[nodiscard]] std::string element_text(std::uint64_t element) const {
    auto const [i, j] = coordinate(element);
    return fmt::format("({} {}, {} {})", index(0), i, index(1), j);
  }
  [[nodiscard]] std::array<std::uint64_t, 3> fragment_at(std::uint64_t reg) const {
    return {reg % fragment[0], reg / fragment[0] % fragment[1], reg / fragment[0] / fragment[1]};
  }
};

TiledCopy copy_of(std::string const& text) {
  TiledCopy copy = parse_tiled_copy(text);
  if (copy.tiled_tv.rank() != 2)
    throw InputError::whole("a Copy_Atom alone has no tile", text, "paste the whole print of the TiledCopy");
  return copy;
}

/// Refuses two sides that CuTe would not let meet.
void refuse_unlike(RetileResult const& r, std::string const& text) {
  auto const copy_threads = r.movement.moved.mode(0).size(), threads = r.movement.held.mode(0).size();
  if (copy_threads != threads)
    throw InputError::whole(
        fmt::format("the TiledCopy has {} threads, the TiledMMA {}", copy_threads, threads), text);
  Layout const moved = r.movement.moved.mode(1), &registers = r.movement.registers;
  Layout const rest = moved.mode(1);
  if (moved.mode(0).size() != registers.mode(0).size() || rest.mode(0).size() != registers.mode(1).size() ||
      rest.mode(1).size() != registers.mode(2).size())
    throw InputError::whole(
        fmt::format("the TiledCopy's partition of the tensor is {} x {} x {} values of a thread, the retiled "
                    "fragment {} x {} x {}",
                    moved.mode(0).size(), rest.mode(0).size(), rest.mode(1).size(), registers.mode(0).size(),
                    registers.mode(1).size(), registers.mode(2).size()),
        text);
}

RetileResult compute_retile(Common const& common, FragmentArguments const& options) {
  bool const loads = looks_like_tiled_copy(options.fragment);
  if (!options.contiguous.empty())
    throw InputError::whole("--contiguous is of ldmatrix and stmatrix alone", options.contiguous,
                            "the TiledCopy says which elements it moves");
  if (loads && looks_like_tiled_copy(*options.into))
    throw InputError::whole("two copies: one side is the operand of a TiledMMA, in registers", *options.into,
                            "--into \"$(cat tiled_mma.txt):a\"");
  std::string const& copy_text = loads ? options.fragment : *options.into;
  std::string const suffix = options.operand.empty() ? "" : ":" + options.operand;
  std::string const operand_text = loads ? *options.into : options.fragment + suffix;
  RetileResult r{parse_tiled_operand(operand_text, options.element_bits()), copy_of(copy_text), loads};
  if (r.operand.element_bits != 0 && r.operand.operand != Operand::d &&
      r.operand.element_bits != r.copy.value_bits)
    throw InputError::whole(
        fmt::format("the TiledCopy moves values of {} bits, the operand has elements of {}",
                    r.copy.value_bits, r.operand.element_bits),
        copy_text);
  std::vector<std::int64_t> const tile = r.copy.tile.leaves();
  if (tile.size() != 2)
    throw InputError::whole("the TiledCopy's tile has no two modes", copy_text, "an operand is a matrix");
  for (std::size_t i = 0; i < 2; ++i) r.extents[i] = std::lcm(tile[i], r.operand.extents()[i]);
  if (r.extents[0] * r.extents[1] > 1 << 22)
    throw InputError::whole(
        fmt::format("a tensor that both tile has {} x {} elements", r.extents[0], r.extents[1]), copy_text);
  Layout const tensor = make_layout(IntTuple(std::vector<IntTuple>{r.extents[0], r.extents[1]}));
  try {
    Layout const moved = tidfrg(r.copy, loads ? r.copy.destination : r.copy.source, tensor);
    r.movement.moved = make_layout({moved.mode(0), make_layout({moved.mode(1), moved.mode(2)})});
    r.movement.held = thread_values(r.operand.mma, r.operand.operand, tensor);
    Layout const values = r.movement.held.mode(1), rest = values.mode(1);
    std::vector<IntTuple> const shape{size(values.mode(0).shape), size(rest.mode(0).shape),
                                      size(rest.mode(1).shape)};
    for (std::size_t i = 0; i < 3; ++i) r.fragment[i] = static_cast<std::uint64_t>(shape[i].value);
    r.movement.registers = retile(r.copy, make_layout(IntTuple(shape)));
  } catch (AlgebraError const& error) {
    throw InputError::whole("CuTe does not retile the fragment so: " + std::string(error.what()), copy_text);
  }
  refuse_unlike(r, copy_text);
  r.notes = r.operand.notes;
  if (r.copy.thread)
    r.notes.push_back(fmt::format("this ThrCopy is thread {}; the answer is of all threads", *r.copy.thread));
  r.found = deliver(r.movement, common.limits());
  return r;
}

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
  if (!options.emit.empty())
    throw InputError::whole("there is no obligation on a TiledCopy and a TiledMMA", options.emit,
                            "leave --emit out");
  if (options.transposed)
    throw InputError::whole("--transposed is of one operand's registers into another's", "--transposed",
                            "a TiledCopy moves each element to the register that it has");
  RetileResult const result = compute_retile(common, options);
  common.exit_code = exit_code_of(result.found.answer.outcome);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace swizproof::command
