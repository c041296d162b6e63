// Exchanges within a warp.
#include "instructions.hpp"

namespace swizproof::sass {

namespace {

/// A shuffle's predicate: the lane that it names lies within the segment (PTX ISA 9.0, shfl.sync).
Source within_segment(Steps& steps, program::Shuffle mode, Source b, Source c) {
  auto const conjunction = [&](Source x, Source y) { return table2(steps, 8, x, y, 32); };
  Source const lane = steps.special("SR_LANEID"), by = conjunction(b, constant(31)),
               clamp = conjunction(c, constant(31));
  Source const shifted = c.constant ? constant(c.value >> 8) : steps.emit(Action::lshr, 32, c, constant(8));
  Source const segment = conjunction(shifted, constant(31));
  Source const others = table2(steps, 6, segment, constant(31), 32), least = conjunction(lane, segment);
  Source const most = table2(steps, 14, least, conjunction(clamp, others), 32);
  if (mode == program::Shuffle::up) return negate(steps, below(steps, lane, add(steps, most, by), 32, false));
  Source const from = mode == program::Shuffle::down ? add(steps, lane, by)
                      : mode == program::Shuffle::bfly
                          ? table2(steps, 6, lane, by, 32)
                          : table2(steps, 14, least, conjunction(by, others), 32);
  return negate(steps, below(steps, most, from, 32, false));
}

}  // namespace

void shuffle(Steps& steps, Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 5 || steps.guard) {  // lanes that a guard switches off give no value
    steps.lose(operand(i, 0), 1);
    return steps.not_modelled(operand(i, 1), 1);
  }
  program::Shuffle const mode = op.has("UP")     ? program::Shuffle::up
                                : op.has("DOWN") ? program::Shuffle::down
                                : op.has("BFLY") ? program::Shuffle::bfly
                                                 : program::Shuffle::idx;
  Source const a = steps.word(operand(i, 2)), b = steps.word(operand(i, 3)), c = steps.word(operand(i, 4));
  Source const value = steps.emit(Action::shuffle, 32, a, b, c, static_cast<std::uint32_t>(mode));
  if (number_of(operand(i, 0))) steps.put_truth(operand(i, 0), within_segment(steps, mode, b, c));
  steps.put(operand(i, 1), value);
}

void vote(Steps& steps, Instruction const& i, Opcode const& op) {
  (void)op;
  Source const from = steps.registers_of(i, 1);
  auto const shared = [&](unsigned width) {
    return steps.emit(Action::voted, width, {}, from, {}, steps.build.named(steps.build.opcode));
  };
  for (std::size_t k = 0; k < 2 && k + 1 < i.operands.size(); ++k) {
    Operand const& o = operand(i, k);
    if (!number_of(o) || o.negated) continue;
    if (is_predicate(o))
      steps.put_truth(o, shared(1));
    else
      steps.put(o, shared(32));
  }
  if (i.opcode == "VOTEU.ANY" && i.operands.size() == 2 && !steps.guard)
    steps.set_voters(operand(i, 0), operand(i, 1));
}

void elect(Steps& steps, Instruction const& i, Opcode const& op) {
  (void)op;
  if (steps.guard) {
    steps.lose(operand(i, 0), 1);
    return steps.not_modelled(operand(i, 1), 1);
  }
  Source const leader = steps.emit(Action::voted, 32, {}, {}, {}, steps.build.named("elect"));
  steps.put_truth(operand(i, 0), steps.emit(Action::equal, 1, leader, steps.special("SR_LANEID")));
  steps.put(operand(i, 1), leader);
}

}  // namespace swizproof::sass
