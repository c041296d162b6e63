// Exchanges within a warp.
#include "lowering.hpp"

#include <swizproof/program/step.hpp>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;

/// A shuffle's predicate: the lane that it names lies within the segment (PTX ISA 9.0, shfl.sync).
Source within_segment(Steps& steps, Shuffle mode, Source b, Source c) {
  auto const both = [&](Source x, Source y) { return steps.emit(Action::bit_and, 32, x, y); };
  Source const lane = steps.special("%laneid", 32), by = both(b, constant(31)), clamp = both(c, constant(31));
  Source const segment = both(steps.emit(Action::lshr, 32, c, constant(8)), constant(31));
  Source const others = steps.emit(Action::bit_xor, 32, segment, constant(31)), least = both(lane, segment);
  Source const most = steps.emit(Action::bit_or, 32, least, both(clamp, others));
  // lane - by >= most
  if (mode == Shuffle::up)
    return steps.emit(Action::negate, 1,
                      steps.emit(Action::below, 1, lane, steps.emit(Action::add, 32, most, by)));
  Source const from = mode == Shuffle::down   ? steps.emit(Action::add, 32, lane, by)
                      : mode == Shuffle::bfly ? steps.emit(Action::bit_xor, 32, lane, by)
                                              : steps.emit(Action::bit_or, 32, least, both(by, others));
  return steps.emit(Action::negate, 1, steps.emit(Action::below, 1, most, from));
}

}  // namespace

void shuffle(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  Operand const& d = operand(i, 0);
  Shuffle const mode = program::shuffle_mode(op);
  if (!op.has("sync") || steps.guard >= 0) {  // lanes that a guard switches off give no value
    steps.unknown(i);
    return;
  }
  Source const a = steps.in(operand(i, 1), 32);
  Source const b = steps.in(operand(i, 2), 32);
  Source const c = steps.in(operand(i, 3), 32);
  for (Operand const& p : d.parts) steps.out(p, within_segment(steps, mode, b, c), 1);
  Operand plain = d;
  plain.parts.clear();
  steps.out(plain, steps.emit(Action::shuffle, 32, a, b, c, static_cast<std::uint32_t>(mode)), 32);
}

void voted(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  Operand const& d = operand(i, 0);
  if (d.kind != Kind::reg || !d.parts.empty() || !op.has("sync")) return steps.unknown(i);
  unsigned const bits = steps.width_of(d.reg);
  steps.out(d,
            steps.emit(Action::voted, bits, steps.in(operand(i, 2), 32), steps.registers_of(i, 1), {},
                       steps.build.named(steps.build.opcode)),
            bits);
}

void elect(Steps& steps, Instruction const& i) {
  Operand const& d = operand(i, 0);
  if (steps.guard >= 0 || (d.kind == Kind::reg && d.parts.empty())) return steps.unknown(i);
  Source const leader = steps.emit(Action::voted, 32, steps.in(operand(i, 1), 32), {}, {},
                                   steps.build.named(steps.build.opcode));
  Operand lane = d;
  lane.parts.clear();
  if (lane.kind == Kind::reg) steps.out(lane, leader, 32);
  for (Operand const& p : d.parts)
    steps.out(p, steps.emit(Action::equal, 1, leader, steps.special("%laneid", 32)), 1);
}

}  // namespace swizproof::ptx
