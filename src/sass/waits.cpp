// Events: how instructions hold lanes back, and what memory they write beyond the accesses. Their addresses are not followed: a constant
// stands for any of the same memory.
#include "instructions.hpp"

#include <algorithm>
#include <iterator>

namespace swizproof::sass {

namespace {

using Event = program::Event;

void add_event(Steps& steps, Instruction const& i, Opcode const& op, Event::Kind kind, Source mask = {}) {
  Event e{kind};
  e.at.op = std::string(op.text);
  if (steps.guard) e.at.guard = static_cast<std::int32_t>(steps.guard->value);
  e.at.address = mask;
  e.at.global = op.base.ends_with("G") && op.base != "UTMALDG";
  e.at.line = i.line;
  steps.build.add(std::move(e));
}

/// True for a load or an atomic of global memory for whose change a loop may wait.
bool polls_global(Opcode const& op) {
  return op.base == "ATOMG" || (op.base == "LDG" && !op.has("CONSTANT"));
}

/// True if a lane may wait at an instruction, or by way of its result, for what another one does; at a load, in code with loops.
bool may_wait(Opcode const& op, bool loops) {
  return op.base.starts_with("ATOM") || polls(op) || (op.base == "CALL" && !op.has("REL")) ||
         (op.base == "WARPSYNC" && !op.has("ALL") && !op.has("COLLECTIVE")) ||
         (loops && (op.base == "LD" || op.base == "LDG" || op.base == "LDS"));
}

bool writes_memory(Opcode const& op) {
  static constexpr std::string_view names[] = {"STG",     "RED",     "REDG",    "ATOMG",  "SUST",
                                               "SURED",   "ARRIVES", "UTMALDG", "UBLKCP", "UBLKRED",
                                               "UTMASTG", "UTCBAR",  "UTMAREDG"};
  return polls(op) ? false
                   : op.base == "SYNCS" ||
                         std::find(std::begin(names), std::end(names), op.base) != std::end(names);
}

}  // namespace

bool polls(Opcode const& op) { return op.base == "SYNCS" && op.has("PHASECHK"); }

bool may_wait(Code const& code) {
  std::vector<Instruction> const& body = code.function.body;
  bool loops = false;
  for (std::size_t k = 0; k < body.size(); ++k)
    for (Operand const& o : body[k].operands)
      loops = loops || (Code::jumps(opcode_of(body[k].opcode).base) && code.target_of(o).value_or(~0U) < k);
  return std::any_of(body.begin(), body.end(),
                     [&](Instruction const& i) { return may_wait(opcode_of(i.opcode), loops); });
}

void hold_back(Steps& steps, Instruction const& i, Opcode const& op) {
  if (!steps.lists_events) return;
  if (op.base == "BAR" && !op.has("ARV") && !steps.guard)
    add_event(steps, i, op,
              op.has("SYNC") && i.operands.size() == 1 ? Event::Kind::block : Event::Kind::warp);
  if (op.base == "WARPSYNC" && op.has("ALL") && !steps.guard) add_event(steps, i, op, Event::Kind::warp);
  // BSYNC and WARPSYNC.COLLECTIVE are of lanes that came there together.
  if (op.base == "WARPSYNC" && !op.has("ALL") && !op.has("COLLECTIVE"))
    add_event(steps, i, op, Event::Kind::lanes, steps.word(operand(i, 0)));
  if (op.base == "CALL") add_event(steps, i, op, Event::Kind::call);
  if (polls(op) || polls_global(op)) add_event(steps, i, op, Event::Kind::poll);
}

void write_memory(Steps& steps, Instruction const& i, Opcode const& op) {
  if (steps.lists_events && writes_memory(op)) add_event(steps, i, op, Event::Kind::write);
}

}  // namespace swizproof::sass
