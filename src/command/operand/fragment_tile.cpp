// swizproof fragment TILEDMMA:a|b|c|d: which thread holds which element of the whole tile.
#include "command/operand/fragment.hpp"

#include "report/report.hpp"

#include <swizproof/analysis/tile.hpp>

#include <fmt/format.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// The operand's tile with the names of its two indices, of B n and k; rows and columns are those of the matrix, of B k and n.
struct OperandTile {
  TiledOperand operand;
  HeldTile tile{};
  HolderCount held{};
  std::optional<unsigned> lane{};
  std::optional<std::uint64_t> element{};  ///< of --at
  std::vector<TileHolders> holders{};      ///< of it
  std::string_view evidence{};

  [[nodiscard]] char index(std::size_t mode) const { return "mnk"[modes_of(operand.operand)[mode]]; }
  /// `k 3, n 9`: rows before columns.
  [[nodiscard]] std::string element_text(std::uint64_t e) const {
    auto const [row, column] = coordinate(e);
    return fmt::format("({} {}, {} {})", index(is_turned() ? 1 : 0), row, index(is_turned() ? 0 : 1), column);
  }
  /// Row and column of an element.
  [[nodiscard]] std::array<std::uint64_t, 2> coordinate(std::uint64_t e) const {
    auto const first = static_cast<std::uint64_t>(tile.extents[0]);
    std::uint64_t const i = e % first, j = e / first;
    return is_turned() ? std::array{j, i} : std::array{i, j};
  }
  [[nodiscard]] bool is_turned() const { return operand.operand == Operand::b; }
  [[nodiscard]] std::array<std::int64_t, 2> shape() const {
    return is_turned() ? std::array{tile.extents[1], tile.extents[0]} : tile.extents;
  }
  /// Values of one atom, and atoms of one thread along the two modes.
  [[nodiscard]] std::array<std::uint64_t, 3> fragment_shape() const {
    auto const each =
        static_cast<std::uint64_t>(operand.mma.atom.thread_values(operand.operand).mode(1).size());
    Layout const rest = tile.thread_values.mode(1).mode(1);
    auto const along = static_cast<std::uint64_t>(rest.mode(0).size());
    return {each, along, tile.values() / each / along};
  }
  /// A value's coordinate in CuTe's fragment, (V,I,J).
  [[nodiscard]] std::array<std::uint64_t, 3> fragment_at(std::uint64_t value) const {
    return fragment_at(value, fragment_shape());
  }
  /// The same, with fragment_shape() at hand.
  [[nodiscard]] static std::array<std::uint64_t, 3> fragment_at(std::uint64_t value,
                                                                std::array<std::uint64_t, 3> const& shape) {
    auto const [each, along, across] = shape;
    return {value % each, value / each % along, value / each / along};
  }
  /// ` R1.hi`: where value v of an atom is, if the size of an element is known.
  [[nodiscard]] std::string register_text(std::uint64_t v) const {
    if (operand.element_bits == 0) return {};
    Fragment f;
    f.bits = operand.element_bits;
    return " " + register_name(f, static_cast<unsigned>(v), f.bits);
  }
};

/// `3,5`, inside the tile.
std::uint64_t element_asked_for(OperandTile const& r, std::string const& text) {
  auto const [rows, columns] = r.shape();
  auto const [row, column] =
      element_at(text, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns));
  std::uint64_t const i = r.is_turned() ? column : row, j = r.is_turned() ? row : column;
  return i + j * static_cast<std::uint64_t>(r.tile.extents[0]);
}

OperandTile compute_tile(Common const& common, FragmentArguments const& options,
                         TiledOperand const& operand) {
  OperandTile r{operand};
  try {
    r.tile = {thread_values(operand.mma, operand.operand), operand.extents()};
  } catch (AlgebraError const& error) {
    throw InputError::whole("this is not a TiledMMA that CuTe can make: " + std::string(error.what()),
                            options.fragment);
  }
  if (options.tv)
    throw InputError::whole("--tv is compared with one instruction's fragment", *options.tv,
                            "swizproof equal compares two layouts");
  if (options.lane && *options.lane >= r.tile.threads())
    throw InputError{fmt::format("--lane is from 0 to {}", r.tile.threads() - 1),
                     std::to_string(*options.lane)};
  r.lane = options.lane;
  if (options.at) {
    r.element = element_asked_for(r, *options.at);
    r.holders = holders_of(r.tile, *r.element);
  }
  r.held = count_holders(r.tile);
  r.evidence = name(operand.instruction.empty() ? Support::assumed
                    : !operand.measured         ? Support::documented
                                                : parse_architecture(common.arch).support);
  return r;
}

Json to_json(OperandTile const& r) {
  std::string const i(1, r.index(0)), j(1, r.index(1));
  Json out{{"verdict", name(r.held.answer.outcome)},
           {"instruction", r.operand.instruction.empty() ? Json() : Json(r.operand.instruction)},
           {"operand", r.operand.letter()},
           {"atom", r.operand.mma.atom.extents},
           {"atoms", {r.operand.mma.atoms(0), r.operand.mma.atoms(1), r.operand.mma.atoms(2)}},
           {"shape", r.shape()},
           {"indices", r.is_turned() ? std::vector{j, i} : std::vector{i, j}},
           {"lanes", r.tile.threads()},
           {"values", r.fragment_shape()},
           {"held_by", {r.held.least, r.held.most}},
           {"layout", to_string(r.tile.thread_values)},
           {"layout_unit", "elements"},
           {"engines", list_of(r.held.answer.engines)},
           {"evidence", r.evidence},
           {"elements", Json::array()}};
  if (r.operand.element_bits != 0) out["element_bits"] = r.operand.element_bits;
  if (!r.operand.notes.empty()) out["notes"] = r.operand.notes;
  std::array<std::uint64_t, 3> const shape = r.fragment_shape();
  std::uint64_t const threads = r.tile.threads(), values = r.tile.values();
  auto const add = [&](std::uint64_t thread, std::uint64_t value) {
    auto const [row, column] = r.coordinate(r.tile.at(thread, value));
    out["elements"].push_back({{"lane", thread},
                               {"value", value},
                               {"fragment", OperandTile::fragment_at(value, shape)},
                               {"row", row},
                               {"column", column}});
  };
  if (r.element) {
    for (TileHolders const& held : r.holders)
      for (unsigned const thread : held.threads)
        if (!r.lane || *r.lane == thread) add(thread, held.value);
  } else {
    for (std::uint64_t thread = 0; thread < threads; ++thread)
      for (std::uint64_t value = 0; value < values; ++value)
        if (!r.lane || *r.lane == thread) add(thread, value);
  }
  if (auto const* refuted = r.held.answer.refuted(); refuted != nullptr) {
    out["counterexample"] = Json::object();
    if (r.held.outside)
      out["counterexample"] = {{"lane", (*r.held.outside)[0]}, {"value", (*r.held.outside)[1]}};
    auto const [row, column] =
        r.coordinate(r.held.outside ? r.tile.at((*r.held.outside)[0], (*r.held.outside)[1]) : r.held.missing);
    out["counterexample"]["row"] = row;
    out["counterexample"]["column"] = column;
  }
  if (auto const* unknown = r.held.answer.unknown()) out["reason"] = unknown->reason;
  return out;
}

std::string tile_title(OperandTile const& r) {
  auto const& mma = r.operand.mma;
  auto const [rows, columns] = r.shape();
  std::string const atom = r.operand.instruction.empty()
                               ? fmt::format("atoms of {} x {} x {}", mma.atom.extents[0],
                                             mma.atom.extents[1], mma.atom.extents[2])
                               : r.operand.instruction;
  return fmt::format("TiledMMA of {}, {} x {} x {} side by side; operand {}: {} x {}, ({}, {}); {} thread{}",
                     atom, mma.atoms(0), mma.atoms(1), mma.atoms(2), r.operand.letter(), rows, columns,
                     r.index(r.is_turned() ? 1 : 0), r.index(r.is_turned() ? 0 : 1), r.tile.threads(),
                     r.tile.threads() == 1 ? "" : "s");
}

/// `fragment(3,1,0) R1.hi`.
std::string place_text(OperandTile const& r, std::uint64_t value) {
  auto const at = r.fragment_at(value);
  return fmt::format("fragment({},{},{}){}", at[0], at[1], at[2], r.register_text(at[0]));
}

/// Prints the elements of one thread, a line for each atom.
void print_thread(OperandTile const& r, unsigned thread) {
  std::uint64_t const each = r.fragment_shape()[0];
  for (std::uint64_t first = 0; first < r.tile.values(); first += each) {
    auto const at = r.fragment_at(first);
    fmt::print("  T{} fragment(_,{},{}) ", thread, at[1], at[2]);
    for (std::uint64_t v = 0; v < each; ++v) fmt::print(" {}", r.element_text(r.tile.at(thread, first + v)));
    fmt::print("\n");
  }
}

std::string held_text(OperandTile const& r) {
  HolderCount const& held = r.held;
  if (held.answer.unknown() != nullptr) return "not known";
  if (held.outside) {
    auto const [thread, value] = *held.outside;
    return fmt::format("T{} {} is {}, outside of the tile: CuTe's divisions by the atoms leave a remainder",
                       thread, place_text(r, value), r.element_text(r.tile.at(thread, value)));
  }
  if (held.answer.refuted() != nullptr) return "no thread holds " + r.element_text(held.missing);
  if (held.most == 1) return "every element is held by one thread";
  if (held.least == held.most) return fmt::format("every element is held by {} threads", held.least);
  return fmt::format("every element is held, {} to {} times", held.least, held.most);
}

void print_text(OperandTile const& r, Style const& style) {
  auto const [each, along, across] = r.fragment_shape();
  fmt::print("{}\n", style.strong(tile_title(r)));
  for (std::string const& note : r.operand.notes) fmt::print("  note: {}\n", note);
  fmt::print(
      "  {}  {}\n", to_string(r.tile.thread_values),
      style.faint(fmt::format("(thread, value) -> {} + {} {}", r.index(0), r.tile.extents[0], r.index(1))));
  fmt::print("  {}  {}{}\n", style.outcome(r.held.answer.outcome), held_text(r),
             style.aside(names_of(r.held.answer.engines)));
  if (auto const* unknown = r.held.answer.unknown()) fmt::print("           {}\n", unknown->reason);
  if (!style.brief()) {
    fmt::print("           over all threads; each has fragment(V,{},{}) of {} x {} x {} values\n",
               static_cast<char>(r.index(0) - 'a' + 'A'), static_cast<char>(r.index(1) - 'a' + 'A'), each,
               along, across);
    if (r.operand.instruction.empty())
      fmt::print("           the atom is that of the text: its layouts are no known instruction's\n");
    else
      fmt::print("           the atom is {}; needs {}\n", r.evidence, r.operand.needs);
  }
  for (TileHolders const& held : r.holders)
    fmt::print("  {} is in T{}: {}\n", r.element_text(*r.element), runs_of(held.threads),
               place_text(r, held.value));
  if (r.element && r.holders.empty()) fmt::print("  no thread holds {}\n", r.element_text(*r.element));
  if (r.lane) print_thread(r, *r.lane);
  if (!r.element && !r.lane && !style.brief())
    fmt::print("  --at ROW,COLUMN: who holds an element; --lane T: what a thread holds\n");
}

}  // namespace

void run_tile(Common& common, FragmentArguments const& options, TiledOperand const& operand) {
  if (!operand.needs.empty()) refuse_older(common, operand.instruction, operand.needs);
  OperandTile const result = compute_tile(common, options, operand);
  common.exit_code = exit_code_of(result.held.answer.outcome);
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, style_of(common));
}

}  // namespace swizproof::command
