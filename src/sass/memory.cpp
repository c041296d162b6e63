#include "lowering.hpp"

#include <swizproof/hardware/tma.hpp>

#include <algorithm>
#include <utility>

namespace swizproof::sass {

unsigned Lowering::bytes_of(Opcode const& op) {
  if (op.has("U8") || op.has("S8") || op.has("8")) return 1;
  if (op.has("U16") || op.has("S16") || op.has("16")) return 2;
  return op.has("256") ? 32 : op.has("128") ? 16 : op.has("64") ? 8 : 4;
}

/// The sum of an address's registers, without its offset: a word in shared memory.
Lowering::Source Lowering::address(Operand const& o) {
  Operand part;
  part.kind = Kind::reg, part.reg = o.reg;
  Source base = word_at(part, 0);
  if (o.scale != 1) {
    auto const n = static_cast<std::uint64_t>(o.scale == 4 ? 2 : o.scale == 8 ? 3 : 4);
    base = emit(Action::shl, 32, base, constant(n));
  }
  part.kind = Kind::uniform, part.reg = o.uniform;
  Source sum = add(base, word_at(part, 0));
  // Before sm_90 a block's memory begins at address 0, whose window no instruction names.
  if (module_.arch < 90) sum = add(emit(Action::symbol, 32, {}, {}, {}, shared_symbol_), sum);
  return sum;
}

program::MemoryAccess Lowering::access_of(Instruction const& i, Opcode const& op) const {
  program::MemoryAccess m;
  m.op = std::string(op.text);
  if (guard_) m.guard = static_cast<std::int32_t>(guard_->value);
  m.line = i.line;
  m.pc = i.pc;
  m.location = i.location;
  for (std::uint32_t c = context_; contexts_[c].parent >= 0;
       c = static_cast<std::uint32_t>(contexts_[c].parent))
    m.calls.insert(m.calls.begin(), contexts_[c].line);
  return m;
}

void Lowering::access(program::MemoryAccess m, Operand const& where) {
  if (where.kind != Kind::memory || where.suffixed || (where.wide && !m.generic))
    m.reason = "this form of an address is not read";
  if (m.generic) {
    Operand part;
    part.kind = Kind::reg, part.reg = where.reg;
    Source base = where.wide || where.uniform == no_register ? pair(word_at(part, 0), word_at(part, 1))
                                                             : zext(word_at(part, 0));
    part.kind = Kind::uniform, part.reg = where.uniform;
    bool const described = where.text.starts_with("desc[") || where.uniform == no_register;
    if (!described || where.uniform != no_register)
      base = add(base, pair(word_at(part, 0), word_at(part, 1)), 64);
    m.address = base;
  } else {
    m.address = m.reason.empty() ? address(where) : any(32);
  }
  m.offset = m.generic ? where.value : where.value & 0xffffffff;
  if (!m.reason.empty()) m.instruction.reset(), m.atomic.reset();
  program_.steps.push_back({Action::access,
                            32,
                            -1,
                            m.address,
                            {},
                            {},
                            static_cast<std::uint32_t>(program_.accesses.size()),
                            line_});
  program_.accesses.push_back(std::move(m));
}

void Lowering::shared_load(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = bytes_of(op);
  if (m.bytes <= 16)
    m.instruction = swizproof::Instruction{Operation::ld_shared, m.bytes};
  else
    m.reason = "accesses of more than 16 bytes a lane are not modelled";
  access(std::move(m), operand(i, 1));
  // A lane's value from shared memory may differ from lane to lane, and change.
  Source const base = emit(Action::copy, 32, program_.accesses.back().address);
  unsigned const bytes = bytes_of(op);
  std::uint64_t const offset = operand(i, 1).value & 0xffffffff;
  std::uint32_t const name = named(opcode_);
  auto const space = static_cast<std::uint32_t>(program::Space::shared);
  if (bytes < 4) {
    Source s =
        emit(Action::zext, 32, emit(Action::load, 8 * bytes, base, constant(offset), constant(name), space));
    Source const up = constant(32 - 8 * bytes);
    if (op.has("S8") || op.has("S16")) s = arithmetic_shift(emit(Action::shl, 32, s, up), up, 32);
    return put(operand(i, 0), s);
  }
  for (unsigned k = 0; k < bytes / 4; ++k)
    if (auto const r = number_of(operand(i, 0), k))
      write(*r, emit(Action::load, 32, base, constant(offset + 4 * k), constant(name), space), 32);
}

void Lowering::shared_store(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = bytes_of(op);
  if (m.bytes <= 16)
    m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
  else
    m.reason = "accesses of more than 16 bytes a lane are not modelled";
  access(std::move(m), operand(i, 0));
}

/// LDSM.16.M88.4 R, [R] and STSM: 16-bit elements, 8 x 8 matrices, MT: transposed.
void Lowering::matrices(Instruction const& i, Opcode const& op) {
  bool const load = op.base == "LDSM";
  program::MemoryAccess m = access_of(i, op);
  m.bytes = 16;
  unsigned const n = op.has("4") ? 4 : op.has("2") ? 2 : 1;
  if (op.has("16") && (op.has("M88") || op.has("MT88")))
    m.instruction =
        swizproof::Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, n, op.has("MT88")};
  else
    m.reason = "this shape is not modelled";
  access(std::move(m), operand(i, load ? 1 : 0));
  if (load) lose(operand(i, 0), 4, {}, true);
}

void Lowering::shared_atomic(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = op.has("64") ? 8 : 4;
  bool const swap = op.has("CAS") || op.has("EXCH"), cast = op.has("CAST") || op.has("ARRIVE");
  bool const number = op.has("F16x2") || op.has("BF16x2") || op.has("F32") || op.has("F64") || op.has("F16");
  if (!cast && !number && (m.bytes == 4 || swap)) {
    m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
    m.atomic = op.has("CAS")    ? Atomic::compare_and_swap
               : op.has("POPC") ? Atomic::counting
                                : Atomic::arithmetic;
  } else {
    m.reason =
        "this atomic is a loop of compare-and-swap, whose cost depends on which lane wins: it is not "
        "modelled";
  }
  std::size_t at = 0;
  while (at < i.operands.size() && i.operands[at].kind != Kind::memory) ++at;
  access(std::move(m), operand(i, at));
  for (std::size_t k = 0; k < at; ++k) lose(operand(i, k), op.has("64") ? 2 : 1, {}, true);
}

/// LDGSTS [shared], [global]: cp.async.
void Lowering::copy_async(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = bytes_of(op);
  m.instruction = swizproof::Instruction{Operation::cp_async, m.bytes};
  access(std::move(m), operand(i, 0));
}

void Lowering::generic_load(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = bytes_of(op);
  m.generic = true;
  m.instruction = swizproof::Instruction{Operation::ld_shared, std::min(m.bytes, 16U)};
  std::size_t at = 0;
  while (at < i.operands.size() && i.operands[at].kind != Kind::memory) ++at;
  unsigned const bytes = bytes_of(op);
  access(std::move(m), operand(i, at));
  Operand const& d = operand(i, at - std::min<std::size_t>(at, 1));
  Source const address = program_.accesses.back().address;
  if (address.constant || bytes < 4 || operand(i, at).suffixed)
    return lose(d, std::max(bytes, 4U) / 4, {}, true);
  Source const base = emit(Action::copy, 64, address);
  for (unsigned k = 0; k < bytes / 4; ++k)
    if (auto const r = number_of(d, k))
      write(*r,
            emit(Action::load, 32, base, constant(operand(i, at).value + 4 * k), constant(named(opcode_)),
                 static_cast<std::uint32_t>(program::Space::generic)),
            32);
}

void Lowering::generic_store(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = bytes_of(op);
  m.generic = true;
  m.instruction = swizproof::Instruction{Operation::st_shared, std::min(m.bytes, 16U)};
  access(std::move(m), operand(i, 0));
}

void Lowering::generic_atomic(Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(i, op);
  m.bytes = op.has("64") ? 8 : 4;
  m.generic = true;
  m.reason = "the cost of atomics by generic addresses is not modelled";
  std::size_t at = 0;
  while (at < i.operands.size() && i.operands[at].kind != Kind::memory) ++at;
  access(std::move(m), operand(i, at));
  for (std::size_t k = 0; k < at; ++k) lose(operand(i, k), op.has("64") ? 2 : 1, {}, true);
}

/// LDG: words of memory that all blocks share.
void Lowering::global_load(Instruction const& i, Opcode const& op) {
  std::size_t at = 0;
  while (at < i.operands.size() && i.operands[at].kind != Kind::memory) ++at;
  Operand const& where = operand(i, at);
  Operand const& d = operand(i, at == 0 ? 0 : at - 1);
  unsigned const bytes = bytes_of(op);
  refine({});
  for (std::size_t k = 0; k + 1 < at; ++k) lose(operand(i, k), 1, {}, true);
  if (where.kind != Kind::memory || where.suffixed) return lose(d, std::max(bytes, 4U) / 4, {}, true);
  form("LDG"_form);
  Operand part;
  part.kind = Kind::reg, part.reg = where.reg;
  Source base = pair(word_at(part, 0), word_at(part, 1));
  if (where.uniform != no_register) {
    part.kind = Kind::uniform, part.reg = where.uniform;
    base = add(base, pair(word_at(part, 0), word_at(part, 1)), 64);
  }
  base = emit(Action::copy, 64, base);
  std::uint32_t const name = named(opcode_);
  auto const space = static_cast<std::uint32_t>(program::Space::global);
  if (bytes < 4) {
    Source s = emit(Action::zext, 32,
                    emit(Action::load, 8 * bytes, base, constant(where.value), constant(name), space));
    Source const up = constant(32 - 8 * bytes);
    if (op.has("S8") || op.has("S16")) s = arithmetic_shift(emit(Action::shl, 32, s, up), up, 32);
    return put(d, s);
  }
  for (unsigned k = 0; k < bytes / 4; ++k)
    if (auto const r = number_of(d, k))
      write(*r, emit(Action::load, 32, base, constant(where.value + 4 * k), constant(name), space), 32);
}

// --------------------------------------------------------------------------------------- the stack

/// Finds out if local memory is a stack of words that are named by constant offsets from R1 alone: R1 is set where the kernel begins,
/// which nothing jumps back to, before any of them, and no other instruction reads it. Writes of it are found while they are lowered.
void Lowering::find_stack() {
  bool used = false;
  bool const may = std::exchange(stack_, false);
  std::uint32_t set = 0;  // the last instruction that sets R1
  for (std::uint32_t k = 0; k < function_.body.size(); ++k) {
    Instruction const& i = function_.body[k];
    Opcode const op = opcode_of(i.opcode);
    bool const stack = op.base == "LDL" || op.base == "STL";
    bool const sets = !stack && !i.operands.empty() && i.operands[0].kind == Kind::reg &&
                      i.operands[0].reg == 1 && i.guard == Kind::other && !used &&
                      std::none_of(leader_.begin() + 1, leader_.begin() + k + 1, [](bool is) { return is; });
    used = used || stack;
    if (sets) set = k;
    if (op.base == "CALL" && !op.has("REL")) return;  // what it is given lies there
    for (std::string_view const label : i.targets)
      if (function_.labels.at(label) <= set) return;
    for (std::size_t n = sets ? 1 : 0; n < i.operands.size(); ++n) {
      Operand const& o = i.operands[n];
      if (auto const to = jumps(op.base) ? target_of(o) : std::nullopt; to && *to <= set) return;
      bool const plain = o.reg == 1 && o.uniform == no_register && !o.suffixed && !o.wide && o.scale == 1;
      bool const reads =
          !sets && o.reg == 1 && (o.kind == Kind::reg || o.kind == Kind::memory || o.kind == Kind::constant);
      if (stack && o.kind == Kind::memory ? !plain : reads || (o.reg == 0 && o.wide)) return;  // R0 and R1
    }
  }
  stack_ = may && used;
  stack_line_ = function_.body.empty() ? 0 : function_.body[set].line;
}

std::uint32_t Lowering::slot(std::uint64_t offset) {
  auto const [at, fresh] = slots_.try_emplace(offset & 0xffffffff, 0);
  if (fresh) at->second = temporary(32);
  return at->second;
}

void Lowering::stack_load(Instruction const& i, Opcode const& op) {
  unsigned const bytes = bytes_of(op);
  std::uint64_t const at = operand(i, 1).value;
  if (!stack_ || bytes < 4 || at % 4 != 0)
    return not_modelled(operand(i, 0), std::max(bytes, 4U) / 4, {}, true);
  std::array<Source, 4> words{};
  for (unsigned k = 0; k < bytes / 4; ++k) words[k] = emit(Action::copy, 32, reg(slot(at + 4 * k)));
  for (unsigned k = 0; k < bytes / 4; ++k)
    if (auto const r = number_of(operand(i, 0), k)) write(*r, words[k], 32);
}

void Lowering::stack_store(Instruction const& i, Opcode const& op) {
  if (!stack_) return;
  unsigned const bytes = bytes_of(op);
  std::uint64_t const at = operand(i, 0).value;
  for (unsigned k = 0; k < std::max(bytes, 4U) / 4; ++k) {
    bool const whole = bytes >= 4 && at % 4 == 0;
    write(slot((at & ~std::uint64_t{3}) + 4 * k), whole ? word_at(operand(i, 1), k) : any(32, {}, true), 32);
  }
}

// --------------------------------------------------------------------------------------- other units

void Lowering::operand_at(Instruction const& i, Opcode const& op, program::OperandRole role,
                          std::uint32_t unit, Source value) {
  program::SharedOperand o;
  o.role = role;
  o.tensor = op.base.starts_with("UTMA");
  o.unit = unit;
  o.at = access_of(i, op);
  o.at.address = value;
  program_.steps.push_back({Action::operand,
                            32,
                            -1,
                            o.at.address,
                            {},
                            {},
                            static_cast<std::uint32_t>(program_.operands.size()),
                            line_});
  program_.operands.push_back(std::move(o));
}

/// UTMALDG [UR8], [UR4], ..: UR8 is the destination, UR9 the mbarrier; UTMASTG [UR8], [UR4]: UR8 is the source.
void Lowering::tensor_copy(Instruction const& i, Opcode const& op) {
  Operand first;
  first.kind = Kind::uniform, first.reg = operand(i, 0).uniform;
  bool const known = operand(i, 0).kind == Kind::memory && !operand(i, 0).suffixed;
  auto const part = [&](unsigned k) { return known ? word_at(first, k) : any(32); };
  bool const bulk = op.base.starts_with("UBLK"), load = op.base == "UTMALDG" || (bulk && op.has("S"));
  if (bulk && !op.has("S")) return;
  std::uint32_t const unit = bulk ? 16 : tma_destination;
  operand_at(i, op, load ? program::OperandRole::destination : program::OperandRole::source, unit, part(0));
  if (load) operand_at(i, op, program::OperandRole::barrier, 8, part(1));
}

/// HGMMA R, gdesc[UR8], R: the descriptor of A is in UR8 and UR9, that of B in UR10 and UR11.
void Lowering::warpgroup_multiply(Instruction const& i, Opcode const& op) {
  std::size_t at = 0;
  while (at < i.operands.size() && i.operands[at].kind != Kind::memory) ++at;
  Operand first;
  first.kind = Kind::uniform, first.reg = operand(i, at).uniform;
  bool const both_there = at == 1 && operand(i, at).kind == Kind::memory && !first.suffixed;
  auto const descriptor = [&](unsigned k) {
    Source const s = both_there ? pair(word_at(first, k), word_at(first, k + 1)) : any(64);
    return s.constant ? emit(Action::copy, 64, s) : s;
  };
  if (both_there) operand_at(i, op, program::OperandRole::descriptor_a, 16, descriptor(0));
  operand_at(i, op, program::OperandRole::descriptor_b, 16, descriptor(2));
  lose(operand(i, 0), 128, {}, true);
}

// --------------------------------------------------------------------------------------- the warp

/// SHFL.mode P, R, a, b, c.
void Lowering::shuffle(Instruction const& i, Opcode const& op) {
  if (i.operands.size() != 5 || guard_) {  // lanes that a guard switches off give no value
    lose(operand(i, 0), 1);
    return not_modelled(operand(i, 1), 1);
  }
  program::Shuffle const mode = op.has("UP")     ? program::Shuffle::up
                                : op.has("DOWN") ? program::Shuffle::down
                                : op.has("BFLY") ? program::Shuffle::bfly
                                                 : program::Shuffle::idx;
  Source const a = word(operand(i, 2)), b = word(operand(i, 3)), c = word(operand(i, 4));
  Source const value = emit(Action::shuffle, 32, a, b, c, static_cast<std::uint32_t>(mode));
  if (number_of(operand(i, 0))) put_truth(operand(i, 0), within_segment(mode, b, c));
  put(operand(i, 1), value);
}

/// A shuffle's predicate: the lane that it names lies within the segment (PTX ISA 9.0, shfl.sync).
Lowering::Source Lowering::within_segment(program::Shuffle mode, Source b, Source c) {
  auto const conjunction = [&](Source x, Source y) { return table2(8, x, y, 32); };
  Source const lane = special("SR_LANEID"), by = conjunction(b, constant(31)),
               clamp = conjunction(c, constant(31));
  Source const shifted = c.constant ? constant(c.value >> 8) : emit(Action::lshr, 32, c, constant(8));
  Source const segment = conjunction(shifted, constant(31));
  Source const others = table2(6, segment, constant(31), 32), least = conjunction(lane, segment);
  Source const most = table2(14, least, conjunction(clamp, others), 32);
  if (mode == program::Shuffle::up) return negate(below(lane, add(most, by), 32, false));
  Source const from = mode == program::Shuffle::down   ? add(lane, by)
                      : mode == program::Shuffle::bfly ? table2(6, lane, by, 32)
                                                       : table2(14, least, conjunction(by, others), 32);
  return negate(below(most, from, 32, false));
}

/// VOTE.ANY R, P, q: what the lanes that execute it share.
void Lowering::vote(Instruction const& i, Opcode const& op) {
  (void)op;
  Source const from = registers_of(i, 1);
  auto const shared = [&](unsigned width) {
    return emit(Action::voted, width, {}, from, {}, named(opcode_));
  };
  for (std::size_t k = 0; k < 2 && k + 1 < i.operands.size(); ++k) {
    Operand const& o = operand(i, k);
    if (!number_of(o) || o.negated) continue;
    if (is_predicate(o))
      put_truth(o, shared(1));
    else
      put(o, shared(32));
  }
}

/// ELECT P, UR, Q: the lane that is elected is one number for the lanes that execute it.
void Lowering::elect(Instruction const& i, Opcode const& op) {
  (void)op;
  if (guard_) {
    lose(operand(i, 0), 1);
    return not_modelled(operand(i, 1), 1);
  }
  Source const leader = emit(Action::voted, 32, {}, {}, {}, named("elect"));
  put_truth(operand(i, 0), emit(Action::equal, 1, leader, special("SR_LANEID")));
  put(operand(i, 1), leader);
}

}  // namespace swizproof::sass
