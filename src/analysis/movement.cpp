#include <swizproof/analysis/movement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace swizproof {

namespace {

[[noreturn]] void refuse_movement(NamedFragment const& from, NamedFragment const& into, std::string message,
                                  std::string hint = {}) {
  throw InputError{std::move(message), from.name() + " --into " + into.name(), 0, 1, std::move(hint)};
}

/// True if rows are given by the warp or the thread of a warpgroup.
bool speaks_of_warps(RowStarts const& rows) {
  auto const speaks = [](Expression const& e) {
    return std::any_of(e.nodes().begin(), e.nodes().end(), [](Expression::Node const& n) {
      return n.op == Expression::Op::variable && (n.value == static_cast<std::uint64_t>(RowVariable::warp) ||
                                                  n.value == static_cast<std::uint64_t>(RowVariable::thread));
    });
  };
  return speaks(rows.strided) || speaks(rows.contiguous);
}

/// Refuses rows that no tile has: what is below 0 has wrapped in unsigned words.
void refuse_far_rows(Movement const& m, RowStarts const& rows, std::string const& text) {
  for (std::uint64_t i = 0; i < m.delivered.copies; ++i)
    for (std::uint64_t thread = 0; thread < m.wanted.fragment.threads; ++thread) {
      std::uint64_t const lane = thread % warp_lanes;
      if (lane >= m.delivered.fragment.rows) continue;
      auto const at = rows.at(lane, std::uint64_t{thread / warp_lanes}, i);
      for (std::size_t index = 0; index < 2; ++index)
        if (at[index] >= 1U << 20)
          throw InputError::whole(
              fmt::format("lane {}{}{} gives {} {}, outside of any tile: rows and columns are "
                          "from 0 to 2^20 - 1",
                          lane,
                          m.wanted.fragment.threads > warp_lanes
                              ? fmt::format(" of warp {}", thread / warp_lanes)
                              : "",
                          m.delivered.copies > 1 ? fmt::format(", i = {},", i) : "",
                          index == 0 ? "row" : "col", static_cast<std::int64_t>(at[index])),
              text, "row and col are computed in unsigned words of 64 bits");
    }
}

/// The index that is contiguous in memory: as asked; else the one along which a register's elements lie, or with .trans the other.
bool columns_contiguous(MovementAnswer const& r, std::string const& asked, bool transposed) {
  NamedFragment const& operand = r.operand();
  if (asked.empty()) return transposed == is_b(operand.fragment);
  if (asked == operand.column_index()) return true;
  if (asked == operand.row_index()) return false;
  throw InputError::whole(
      fmt::format("--contiguous is {} or {} here", operand.row_index(), operand.column_index()), asked);
}

/// Order of an operand in shared memory, and whether that is assumed.
std::string memory_text(NamedFragment const& operand, bool columns_contiguous, bool assumed) {
  std::string_view const row = operand.row_index(), column = operand.column_index();
  std::string_view const along = columns_contiguous ? column : row,
                         across = columns_contiguous ? row : column;
  return fmt::format("shared memory: row: {}, col: {}, contiguous along {}{}", across, along, along,
                     assumed ? fmt::format(" (assumed; else --contiguous {})", across) : "");
}

/// Values that the hard-coded order of registers gives the operand; empty without such an order.
std::vector<unsigned> order_of(MovementAnswer const& r, std::vector<unsigned> const& registers) {
  if (registers.empty()) return {};
  FragmentSide const& wanted = r.movement.wanted;
  unsigned const each = wanted.fragment.register_bits() / wanted.fragment.bits,
                 count = wanted.values() / each;
  std::vector<unsigned> sorted = registers, all(count), values;
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0U);
  if (sorted != all)
    refuse_movement(
        r.from, r.into,
        fmt::format("an order of registers names each of the {} once: 0 to {}", count, count - 1));
  for (unsigned const source : registers)
    for (unsigned i = 0; i < each; ++i) values.push_back(source * each + i);
  return values;
}

/// `R0, R2, R1, R3` where values change places as whole registers of `each`; else nothing.
std::string whole_registers(std::vector<unsigned> const& values, unsigned each) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] % each != i % each || values[i] / each != values[i / each * each] / each) return {};
    if (i % each == 0) text += fmt::format("{}R{}", i == 0 ? "" : ", ", values[i] / each);
  }
  return text;
}

/// Looks for the ldmatrix or stmatrix of bytes that moves elements of 8 bits where `given` does not, the one of most matrices.
void look_for_bytes(MovementAnswer& r, Instruction const& given, bool contiguous, Limits const& limits) {
  if (r.movement.wanted.fragment.bits != 8) return;
  for (InstructionName const& known : byte_matrix_names) {
    Instruction const& i = known.instruction;
    if (i.operation != given.operation || (i.form != MatrixForm::m16n16_b8 && i.form != MatrixForm::m16n8_b8))
      continue;
    Fragment const moved = fragment_of(i, 8);
    if (r.movement.wanted.values() % moved.values != 0) continue;
    if (auto const rows = solve_rows(moved, r.movement.wanted, contiguous).rows) {
      r.instead = std::string(known.text) + ": " + rows->text;
      r.instead_how = "on sm_100a, sm_110a or sm_120a";
      continue;
    }
    Movement other = r.movement;
    RowStarts const rows = natural_rows(moved, other.wanted, contiguous);
    other.delivered = FragmentSide{moved, other.wanted.values() / moved.values, false, rows, contiguous};
    Delivery const delivery = deliver(other, limits);
    if (!delivery.up_to || !delivery.up_to->k.empty() || !delivery.up_to->other.empty()) continue;
    if (std::string const order = whole_registers(delivery.up_to->values, 4); !order.empty()) {
      r.instead = std::string(known.text) + ": " + rows.text;
      r.instead_how = "on sm_100a, sm_110a or sm_120a, with its registers in the order " + order;
    }
  }
}

/// Looks for the shape of tcgen05.ld whose registers stmatrix takes as they are.
void look_for_shape(MovementAnswer& r, Instruction const& given, bool contiguous) {
  TensorMemoryForm const& form = tensor_memory_forms[static_cast<std::size_t>(TensorMemoryShape::s16x256b)];
  Fragment const& held = r.movement.wanted.fragment;
  if (held.columns % form.columns != 0) return;
  unsigned const many = held.columns / form.columns;
  FragmentSide const side{fragment_of(form, many, held.bits), 1, true, {}, false};
  Fragment const moved = fragment_of(given, held.bits);
  if (side.values() % moved.values != 0) return;
  auto const rows = solve_rows(moved, side, contiguous).rows;
  if (!rows) return;
  r.instead = to_string(given) + ": " + rows->text;
  r.instead_how = fmt::format("of tcgen05.ld.{}.x{} for each 16 lanes", form.name, many);
}

/// Decides a movement with these rows.
void move_by(MovementAnswer& r, RowStarts rows, Limits const& limits) {
  r.instruction = (r.from.memory ? r.from : r.into).instruction + ": " + rows.text;
  r.movement.delivered.rows = std::move(rows);
  r.found = deliver(r.movement, limits);
}

/// The same with rows that are given, of so many instructions and operands.
void move_given_rows(MovementAnswer& r, MovementQuestion const& q, unsigned instructions, unsigned operands,
                     Limits const& limits) {
  NamedFragment const& memory = r.from.memory ? r.from : r.into;
  Fragment const held = r.operand().fragment, moved = r.movement.delivered.fragment;
  bool const contiguous = r.movement.delivered.columns_contiguous;
  Access const& access = *q.rows;
  std::uint64_t const count = access.variables.empty() ? 1 : access.variables[0].count;
  if (count != instructions)
    refuse_movement(
        r.from, r.into,
        fmt::format("{} instruction{} for one operand", instructions,
                    instructions == 1 ? " does" : "s are needed"),
        instructions == 1 ? "leave 'for' out" : fmt::format("write 'for i in 0..{}'", instructions - 1));
  auto const& modes = std::get<Coordinate>(access.where).modes;
  r.given = true;
  std::string const text = access.name.substr(access.name.find(':') + 1);
  RowStarts const rows{modes[0], modes[1], text.substr(text.find_first_not_of(' '))};
  bool const of_warps = speaks_of_warps(rows);
  if (of_warps && held.threads == warp_lanes)
    refuse_movement(r.from, r.into, "warp and thread are of wgmma's four warps; this operand is one warp's",
                    "write the rows by lane, of the tile that this warp reads or writes");
  refuse_far_rows(r.movement, rows, access.name);
  move_by(r, rows, limits);
  if (r.found.answer.refuted() != nullptr && held.threads > warp_lanes && !of_warps)
    if (auto const found = solve_rows(moved, r.movement.wanted, contiguous).rows)
      r.instead = memory.instruction + ": " + found->text;
  if (r.found.answer.refuted() != nullptr && operands > 1) {  // the operands may lie the other way
    MovementAnswer other = r;
    other.movement.wanted.along_columns = !r.movement.wanted.along_columns;
    other.movement.delivered.rows = rows;
    other.found = deliver(other.movement, limits);
    if (other.found.answer.proved()) r.movement = other.movement, r.found = other.found;
  }
}

/// ldmatrix into an operand, or an operand into stmatrix.
void move_rows(MovementAnswer& r, MovementQuestion const& q, Limits const& limits) {
  NamedFragment const& memory = r.from.memory ? r.from : r.into;
  Fragment const held = r.operand().fragment;
  if (memory.memory->form != MatrixForm::m8n8_b16 && held.bits != 8)
    refuse_movement(
        r.from, r.into,
        fmt::format("{} moves elements of 8 bits, and these have {}", memory.instruction, held.bits));
  Fragment const moved = fragment_of(*memory.memory, held.bits);
  if (held.values % moved.values != 0 && moved.values % held.values != 0)
    refuse_movement(r.from, r.into, "neither holds a whole number of the other's registers");
  unsigned const operands = std::max(1U, moved.values / held.values);
  unsigned const instructions = std::max(1U, held.values / moved.values);
  bool const contiguous = columns_contiguous(r, q.contiguous, memory.memory->transposed);
  r.movement.operand = *r.operand().operand;
  r.movement.wanted = FragmentSide{held, operands, r.movement.operand != Operand::a, {}, false};
  r.movement.delivered = FragmentSide{moved, instructions, false, {}, contiguous};
  r.movement.order = order_of(r, q.registers);
  r.tile = memory_text(r.operand(), contiguous, q.contiguous.empty());
  if (q.rows) return move_given_rows(r, q, instructions, operands, limits);
  if (!q.registers.empty())
    refuse_movement(r.from, r.into, "an order of registers is of rows that are given",
                    "such as ldmatrix.x4: row = lane%16, col = 8*(lane/16)");
  Solution solution = solve_rows(moved, r.movement.wanted, contiguous);
  r.split = solution.split;
  Instruction other = *memory.memory;
  other.transposed = !other.transposed;
  bool const plain = memory.memory->form == MatrixForm::m8n8_b16;
  if (r.split && held.bits <= 16 && plain)
    if (auto const rows = solve_rows(fragment_of(other, held.bits), r.movement.wanted, contiguous).rows)
      r.instead = to_string(other) + ": " + rows->text;
  if (r.split && r.instead.empty() && plain) look_for_bytes(r, *memory.memory, contiguous, limits);
  if (r.split && r.instead.empty() && r.from.tensor_memory()) look_for_shape(r, *memory.memory, contiguous);
  move_by(r, solution.rows ? *solution.rows : natural_rows(moved, r.movement.wanted, contiguous), limits);
}

/// Copies below each other, then side by side.
FragmentSide in_grid(Fragment const& f, unsigned down, unsigned across) {
  bool const along_columns = across > 1 || down == 1;
  return {f, down * across, along_columns, {}, false, along_columns ? down : 1, false};
}

/// Registers into registers: the results of one product are an operand of the next.
void move_registers(MovementAnswer& r, MovementQuestion const& q, Limits const& limits) {
  Fragment from = r.from.fragment;
  Fragment const into = r.into.fragment;
  if (from.bits > into.bits) r.computed_bits = from.bits;
  from.bits = into.bits;  // values are converted one by one
  r.movement.operand = *r.into.operand;
  if (from.threads != into.threads)
    refuse_movement(r.from, r.into, "one is held by a warp, the other by a warpgroup");
  unsigned const rows = q.transposed ? from.columns : from.rows,
                 columns = q.transposed ? from.rows : from.columns;
  unsigned const all_rows = std::lcm(rows, into.rows), all_columns = std::lcm(columns, into.columns);
  unsigned const down = all_rows / rows, across = all_columns / columns;
  r.movement.delivered = in_grid(from, q.transposed ? across : down, q.transposed ? down : across);
  r.movement.delivered.transposed = q.transposed;
  r.movement.wanted = in_grid(into, all_rows / into.rows, all_columns / into.columns);
  r.movement.order = order_of(r, q.registers);
  r.found = deliver(r.movement, limits);
}

}  // namespace

void refuse_older(Architecture const& arch, std::string const& instruction, std::string const& needs) {
  if (arch.capability == unknown_capability) return;
  for (std::size_t at = needs.find("sm_"); at != std::string::npos; at = needs.find("sm_", at + 1)) {
    std::size_t const end = std::min(needs.find_first_not_of("0123456789", at + 3), needs.size());
    unsigned const needed = static_cast<unsigned>(std::stoul(needs.substr(at + 3, end - at - 3)));
    bool const alone = end < needs.size() && needs[end] == 'a';
    if (alone ? arch.capability / 10 == needed / 10 : arch.capability >= needed) return;
  }
  throw InputError::whole(fmt::format("{} has no {}", arch.name, instruction), std::string(arch.name),
                          fmt::format("it needs {}", needs));
}

MovementAnswer decide_movement(MovementQuestion const& question, Limits const& limits) {
  MovementAnswer r;
  r.from = question.from, r.into = question.into;
  r.element = question.element, r.computed_bits = question.computed_bits;
  if (r.from.memory || r.into.memory)
    move_rows(r, question, limits);
  else
    move_registers(r, question, limits);
  return r;
}

}  // namespace swizproof
