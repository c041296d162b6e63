// Accesses to memory, and operands of the units that copy and multiply.
#include "instructions.hpp"

#include <swizproof/hardware/tma.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace swizproof::sass {

namespace {

constexpr std::string_view other_suffix = "a suffix is not modelled";

/// The sum of an address's registers, without its offset: a word in shared memory.
Source address(Steps& steps, Operand const& o) {
  Operand part;
  part.kind = Kind::reg, part.reg = o.reg;
  Source base = steps.word_at(part, 0);
  if (o.scale != 1) {
    auto const n = static_cast<std::uint64_t>(o.scale == 4 ? 2 : o.scale == 8 ? 3 : 4);
    base = steps.emit(Action::shl, 32, base, constant(n));
  }
  part.kind = Kind::uniform, part.reg = o.uniform;
  Source sum = add(steps, base, steps.word_at(part, 0));
  // Before sm_90 a block's memory begins at address 0, whose window no instruction names.
  if (steps.module.arch < 90)
    sum = add(steps, steps.emit(Action::symbol, 32, {}, {}, {}, steps.shared_symbol), sum);
  return sum;
}

program::MemoryAccess access_of(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m;
  m.op = std::string(op.text);
  if (!op.known) m.reason = other_suffix;
  if (steps.guard) m.guard = static_cast<std::int32_t>(steps.guard->value);
  m.line = i.line;
  m.pc = i.pc;
  m.location = i.location;
  m.calls = steps.calls;
  return m;
}

/// The sum of the registers of an address of 64 bits, without its offset.
Source long_address_of(Steps& steps, Operand const& where) {
  Operand part;
  part.kind = Kind::reg, part.reg = where.reg;
  Source const base = where.wide || where.uniform == no_register
                          ? pair(steps, steps.word_at(part, 0), steps.word_at(part, 1))
                          : zext(steps, steps.word_at(part, 0));
  if (where.uniform == no_register) return base;
  part.kind = Kind::uniform, part.reg = where.uniform;
  return add(steps, base, pair(steps, steps.word_at(part, 0), steps.word_at(part, 1)), 64);
}

void access(Steps& steps, program::MemoryAccess m, Operand const& where) {
  bool const long_address = m.generic || m.global;
  if (where.kind != Kind::memory || where.suffixed || (where.wide && !long_address))
    m.reason = "this form of an address is not read";
  if (long_address) {
    m.address = m.reason == other_suffix ? steps.any(64) : long_address_of(steps, where);
  } else {
    m.address = m.reason.empty() ? address(steps, where) : steps.any(32);
  }
  m.offset = long_address ? where.value : where.value & ones32;
  if (m.reason == other_suffix) m.instruction.reset();
  steps.build.add(std::move(m));
}

void operand_at(Steps& steps, Instruction const& i, Opcode const& op, program::OperandRole role,
                std::uint32_t unit, Source value) {
  program::SharedOperand o;
  o.role = role;
  o.tensor = op.base.starts_with("UTMA");
  o.unit = unit;
  o.at = access_of(steps, i, op);
  o.at.address = value;
  steps.build.add(std::move(o));
}

/// Adds an access to global memory, if they are listed.
void add_global(Steps& steps, Instruction const& i, Opcode const& op, Operand const& where) {
  if (!steps.lists_global && op.base != "LDGSTS") return;  // its source counts in its cost
  program::MemoryAccess m = access_of(steps, i, op);
  bool const atomic = op.base.starts_with("RED") || op.base.starts_with("ATOM");
  m.global = true;
  m.bytes = atomic ? bytes_of_atomic(op) : bytes_of(op);
  if (atomic && op.known)
    m.reason = "sectors of atomics are not modelled: lanes at one address are served one by one (H20)";
  else if (!atomic)
    m.instruction =
        swizproof::Instruction{op.base == "STG" ? Operation::st_shared : Operation::ld_shared, m.bytes};
  if (op.has("ZFILL")) m.at_most = "the number of bytes that it reads is in a register";
  access(steps, std::move(m), where);
  program::MemoryAccess& added = steps.build.program.accesses.back();
  if (!added.reason.empty()) added.instruction.reset();
}

/// All that stands before an instruction's address has any value from memory: registers of `words`, and predicates.
void lose_results(Steps& steps, Instruction const& i, unsigned words) {
  for (std::size_t k = 0; k < address_of(i); ++k) steps.lose(operand(i, k), words, {}, true);
}

/// True for a load of 32 bytes that names two registers, of four words each. [Seen: LDG.E.ENL2.256 R56, R44, ..]
bool has_two_results(Instruction const& i, Opcode const& op) {
  return op.has("256") && address_of(i) == 2 && operand(i, 0).kind == Kind::reg &&
         operand(i, 1).kind == Kind::reg;
}

/// Gives a destination what memory has at an address: words, or a part of one that is extended.
void load(Steps& steps, Operand const& d, Opcode const& op, Source base, std::uint64_t offset,
          program::Space space) {
  unsigned const bytes = bytes_of(op);
  if (!op.known) return steps.lose(d, 8, {}, true);
  Source const name = constant(steps.build.named(steps.build.opcode));
  auto const in = static_cast<std::uint32_t>(space);
  if (bytes < 4) {
    Source s =
        steps.emit(Action::zext, 32, steps.emit(Action::load, 8 * bytes, base, constant(offset), name, in));
    Source const up = constant(32 - 8 * bytes);
    if (op.has("S8") || op.has("S16"))
      s = arithmetic_shift(steps, steps.emit(Action::shl, 32, s, up), up, 32);
    return steps.put(d, s);
  }
  for (unsigned k = 0; k < bytes / 4; ++k)
    if (auto const r = number_of(d, k))
      steps.write(*r, steps.emit(Action::load, 32, base, constant(offset + 4 * k), name, in), 32);
}

}  // namespace

void shared_load(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of(op);
  if (m.bytes <= 16)
    m.instruction = swizproof::Instruction{Operation::ld_shared, m.bytes};
  else
    m.reason = "accesses of more than 16 bytes a lane are not modelled";
  access(steps, std::move(m), operand(i, 1));
  // A lane's value from shared memory may differ from lane to lane, and change.
  Source const base = steps.emit(Action::copy, 32, steps.build.program.accesses.back().address);
  load(steps, operand(i, 0), op, base, operand(i, 1).value & ones32, program::Space::shared);
}

void shared_store(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of(op);
  if (m.bytes <= 16)
    m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
  else
    m.reason = "accesses of more than 16 bytes a lane are not modelled";
  access(steps, std::move(m), operand(i, 0));
}

void matrices(Steps& steps, Instruction const& i, Opcode const& op) {
  bool const load = op.base == "LDSM";
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = 16;
  unsigned const n = op.has("4") ? 4 : op.has("2") ? 2 : 1;
  bool const of_bytes = !load && op.has("8") && op.has("MT168");  // of sm_100: stmatrix.m16n8.trans.b8
  if (of_bytes) steps.refine("STSM.8"_form);
  if (of_bytes || (op.has("16") && (op.has("M88") || op.has("MT88"))))
    m.instruction = swizproof::Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, n,
                                           of_bytes || op.has("MT88")};
  else
    m.reason = "this shape is not modelled";
  access(steps, std::move(m), operand(i, load ? 1 : 0));
  if (load) steps.lose(operand(i, 0), 4, {}, true);
}

void shared_atomic(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of_atomic(op);
  bool const loop = op.has("CAST"), swap = op.has("CAS") || loop;
  bool const number = op.has("F16x2") || op.has("BF16x2") || op.has("F32") || op.has("F64") || op.has("F16");
  if (!op.has("ARRIVE") && !number && (m.bytes == 4 || swap || op.has("EXCH"))) {
    m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
    m.atomic = swap ? Atomic::compare_and_swap : op.has("POPC") ? Atomic::counting : Atomic::arithmetic;
    if (loop) m.at_most = program::a_round;
    if (op.has("OR") || op.has("DEC")) m.at_most = program::may_take_less;
  } else {
    m.reason = "the cost of this atomic was not measured";
  }
  std::size_t const at = address_of(i);
  access(steps, std::move(m), operand(i, at));
  lose_results(steps, i, op.known ? bytes_of_atomic(op) / 4 : 4);
}

void copy_async(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of(op);
  m.instruction = swizproof::Instruction{Operation::cp_async, m.bytes};
  m.bypasses = op.has("BYPASS");
  add_global(steps, i, op, operand(i, 1));
  access(steps, std::move(m), operand(i, 0));
}

void generic_load(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of(op);
  m.generic = true;
  m.instruction = swizproof::Instruction{Operation::ld_shared, std::min(m.bytes, 16U)};
  std::size_t const at = address_of(i);
  unsigned const bytes = bytes_of(op);
  access(steps, std::move(m), operand(i, at));
  Operand const& d = operand(i, at - std::min<std::size_t>(at, 1));
  Source const address = steps.build.program.accesses.back().address;
  if (has_two_results(i, op)) return lose_results(steps, i, 4);
  if (!op.known) return lose_results(steps, i, 8);
  if (address.constant || bytes < 4 || operand(i, at).suffixed)
    return steps.lose(d, std::max(bytes, 4U) / 4, {}, true);
  load(steps, d, op, steps.emit(Action::copy, 64, address), operand(i, at).value, program::Space::generic);
}

void generic_store(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of(op);
  m.generic = true;
  m.instruction = swizproof::Instruction{Operation::st_shared, std::min(m.bytes, 16U)};
  access(steps, std::move(m), operand(i, 0));
}

void generic_atomic(Steps& steps, Instruction const& i, Opcode const& op) {
  program::MemoryAccess m = access_of(steps, i, op);
  m.bytes = bytes_of_atomic(op);
  m.generic = true;
  if (op.known) m.reason = "the cost of atomics by generic addresses is not modelled";
  std::size_t const at = address_of(i);
  access(steps, std::move(m), operand(i, at));
  lose_results(steps, i, op.known ? bytes_of_atomic(op) / 4 : 4);
}

void space_of_address(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t const at = address_of(i);
  Operand const& where = operand(i, at);
  bool const shared = op.has("E") && op.has("S") && at == 2 && where.kind == Kind::memory && !where.suffixed;
  if (!shared) return unknown(steps, i, op);
  steps.lose(operand(i, 1), 1);
  if (!steps.build.program.makes_generic) return steps.put_truth(operand(i, 0), constant(0));
  Source const address = add(steps, long_address_of(steps, where), constant(where.value), 64);
  steps.put_truth(operand(i, 0), steps.function_of(1, address));
}

void global_store(Steps& steps, Instruction const& i, Opcode const& op) {
  add_global(steps, i, op, operand(i, address_of(i)));
}

void global_atomic(Steps& steps, Instruction const& i, Opcode const& op) {
  add_global(steps, i, op, operand(i, address_of(i)));
  unknown(steps, i, op);
}

void global_load(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t const at = address_of(i);
  Operand const& where = operand(i, at);
  add_global(steps, i, op, where);
  Operand const& d = operand(i, at == 0 ? 0 : at - 1);
  unsigned const bytes = bytes_of(op);
  steps.refine({});
  if (has_two_results(i, op)) return lose_results(steps, i, 4);
  if (!op.known) return lose_results(steps, i, 8);
  for (std::size_t k = 0; k + 1 < at; ++k) steps.lose(operand(i, k), 1, {}, true);
  if (where.kind != Kind::memory || where.suffixed) return steps.lose(d, std::max(bytes, 4U) / 4, {}, true);
  steps.form("LDG"_form);
  Operand part;
  part.kind = Kind::reg, part.reg = where.reg;
  Source base = pair(steps, steps.word_at(part, 0), steps.word_at(part, 1));
  if (where.uniform != no_register) {
    part.kind = Kind::uniform, part.reg = where.uniform;
    base = add(steps, base, pair(steps, steps.word_at(part, 0), steps.word_at(part, 1)), 64);
  }
  base = steps.emit(Action::copy, 64, base);
  load(steps, d, op, base, where.value, program::Space::global);
}

void stack_load(Steps& steps, Instruction const& i, Opcode const& op) {
  unsigned const bytes = bytes_of(op);
  std::uint64_t const at = operand(i, 1).value;
  if (!steps.stack.used() || bytes < 4 || at % 4 != 0)
    return steps.not_modelled(operand(i, 0), op.known ? std::max(bytes, 4U) / 4 : 8, {}, true);
  std::array<Source, 4> words{};
  for (unsigned k = 0; k < bytes / 4; ++k)
    words[k] = steps.emit(Action::copy, 32, reg(steps.stack.slot(steps, at + 4 * k)));
  for (unsigned k = 0; k < bytes / 4; ++k)
    if (auto const r = number_of(operand(i, 0), k)) steps.write(*r, words[k], 32);
}

void stack_store(Steps& steps, Instruction const& i, Opcode const& op) {
  if (!steps.stack.used()) return;
  unsigned const bytes = bytes_of(op);
  std::uint64_t const at = operand(i, 0).value;
  for (unsigned k = 0; k < std::max(bytes, 4U) / 4; ++k) {
    bool const whole = bytes >= 4 && at % 4 == 0;
    steps.write(steps.stack.slot(steps, (at & ~std::uint64_t{3}) + 4 * k),
                whole ? steps.word_at(operand(i, 1), k) : steps.any(32, {}, true), 32);
  }
}

void tensor_copy(Steps& steps, Instruction const& i, Opcode const& op) {
  bool const bulk = op.base.starts_with("UBLK");
  if (bulk && !op.has("S")) return;
  // The S behind G is the memory that a bulk copy reads. The source of S.S has no row.
  auto const place = [&](std::string_view m) {
    return std::find(op.modifiers.begin(), op.modifiers.end(), m);
  };
  bool const reads = bulk && place("G") < place("S");
  Operand const& at = operand(i, reads ? 1 : 0);
  Operand first;
  first.kind = Kind::uniform, first.reg = at.uniform;
  bool const known = at.kind == Kind::memory && !at.suffixed;
  auto const part = [&](unsigned k) { return known ? steps.word_at(first, k) : steps.any(32); };
  bool const load = op.base == "UTMALDG" || (bulk && !reads);
  std::uint32_t const unit = bulk ? 16 : tma_destination;
  operand_at(steps, i, op, load ? program::OperandRole::destination : program::OperandRole::source, unit,
             part(0));
  if (load) operand_at(steps, i, op, program::OperandRole::barrier, 8, part(1));
}

namespace {

/// Registers that HGMMA.64xNxK writes at most: 64 N numbers of 32 bits in 128 lanes.
unsigned registers_of_product(Opcode const& op) {
  constexpr unsigned most = 128;
  for (std::string_view const part : op.modifiers) {
    unsigned n = 0;
    if (part.starts_with("64x") &&
        std::from_chars(part.data() + 3, part.data() + part.size(), n).ec == std::errc{} && n > 1 &&
        n <= 2 * most)
      return n / 2;
  }
  return most;
}

}  // namespace

void warpgroup_multiply(Steps& steps, Instruction const& i, Opcode const& op) {
  std::size_t const at = address_of(i);
  Operand first;
  first.kind = Kind::uniform, first.reg = operand(i, at).uniform;
  bool const there = operand(i, at).kind == Kind::memory;
  auto const descriptor = [&](unsigned k) {
    Source const s =
        there ? pair(steps, steps.word_at(first, k), steps.word_at(first, k + 1)) : steps.any(64);
    return s.constant ? steps.emit(Action::copy, 64, s) : s;
  };
  // A comes from registers, or from the first pair. B's is the second pair in either case.
  if (there && at == 1) operand_at(steps, i, op, program::OperandRole::descriptor_a, 16, descriptor(0));
  operand_at(steps, i, op, program::OperandRole::descriptor_b, 16, descriptor(2));
  steps.lose(operand(i, 0), registers_of_product(op), {}, true);
}

}  // namespace swizproof::sass
