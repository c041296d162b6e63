// Loads and stores, copies, atomics, and operands of other units.
#include "lowering.hpp"

#include <swizproof/hardware/tma.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace swizproof::ptx {

namespace {

using Kind = Operand::Kind;

/// Base and offset of an address operand as a word of 32 (shared) or 64 bits.
std::pair<Source, std::uint64_t> address(Steps& steps, Operand const& o) {
  if (o.kind == Kind::other) return {steps.any(32), 0};
  if (o.kind != Kind::address || o.parts.empty()) return {constant(o.value), 0};
  Operand const& base = o.parts[0];
  unsigned const w = base.kind == Kind::reg ? steps.width_of(base.reg) : base.kind == Kind::symbol ? 64 : 32;
  if (base.kind == Kind::address) return address(steps, base);
  return {steps.in(base, w == 1 ? 32 : w), o.value};
}

/// True of the operations of atom and red.
bool is_atomic_operation(std::string_view part) {
  static constexpr std::string_view known[] = {"add", "inc", "dec", "min",  "max",
                                               "and", "or",  "xor", "exch", "cas"};
  return std::find(std::begin(known), std::end(known), part) != std::end(known);
}

/// A word of a load, a store or an atomic that PTX ISA 9.1, 9.7.9, does not have: a space or a modifier misspelled, or a new one. Else empty.
std::string_view unknown_word(Opcode const& op) {
  static constexpr std::string_view known[] = {"weak", "volatile", "relaxed", "acquire", "release", "mmio",
                                               "cta",  "cluster",  "gpu",     "sys",     "nc",      "unified",
                                               "ca",   "cg",       "cs",      "lu",      "cv",      "wb",
                                               "wt",   "v2",       "v4",      "v8",      "shared"};
  for (std::string_view const p : op.parts)
    if (p != op.name && type_of(p).kind == 0 && p.find("::") == p.npos &&
        !(op.name != "ld" && op.name != "st" && (is_atomic_operation(p) || p == "noftz" || p == "acq_rel")) &&
        std::find(std::begin(known), std::end(known), p) == std::end(known))
      return p;
  return {};
}

/// A descriptor in a register, or an address in shared memory, that no lane accesses itself.
void add_operand(Steps& steps, Instruction const& i, Operand const& what, OperandRole role,
                 std::uint32_t unit, std::optional<Source> size = {}) {
  Opcode const& op = i.opcode;
  SharedOperand o;
  o.role = role;
  o.tcgen05 = op.name == "tcgen05";
  o.tensor = op.has("tensor");
  o.unit = unit;
  o.size = size;
  o.at = access_at(steps, i, what);
  if (o.is_descriptor()) o.at.reason.clear(), o.at.address = steps.in(what, 64);
  if (role == OperandRole::instruction) o.at.reason.clear(), o.at.address = steps.in(what, 32);
  steps.build.add(std::move(o));
}

/// Rows of a matrix of ldmatrix or stmatrix, each of 16 bytes in shared memory; 0 for a shape that PTX ISA 9.1, 9.7.14.5.15 and 16, does not
/// have.
unsigned rows_of_matrix(Opcode const& op, bool load) {
  std::string_view const type = op.parts.back();
  bool const narrow = op.has("b8x16") && (type == "b6x16_p32" || type == "b4x16_p64");
  if (op.has("m8n8")) return type == "b16" ? 8 : 0;
  if (!load) return op.has("m16n8") && op.has("trans") && type == "b8" ? 8 : 0;
  if (op.has("m16n16")) return op.has("trans") && (type == "b8" || narrow) ? 16 : 0;
  return op.has("m8n16") && narrow && !op.has("trans") ? 8 : 0;
}

/// True if ptxas may know the operand of an atomic: a constant, or a register that an instruction makes of constants.
bool may_be_constant(Function const& function, Operand const& o) {
  return o.kind != Kind::reg ||
         std::any_of(function.body.begin(), function.body.end(), [&](Instruction const& i) {
           return !i.operands.empty() && i.operands[0].kind == Kind::reg && i.operands[0].reg == o.reg &&
                  std::all_of(i.operands.begin() + 1, i.operands.end(),
                              [](Operand const& s) { return s.kind == Kind::immediate; });
         });
}

/// True if an operand takes the value of a register.
bool reads(Operand const& o, std::uint32_t r) {
  return (o.kind == Kind::reg && o.reg == r) ||
         std::any_of(o.parts.begin(), o.parts.end(), [&](Operand const& part) { return reads(part, r); });
}

/// True if an instruction of the function takes what an atomic returns.
bool takes_result(Function const& function, Instruction const& atomic) {
  if (atomic.opcode.name == "red" || operand(atomic, 0).kind != Kind::reg) return false;
  std::uint32_t const r = operand(atomic, 0).reg;
  return std::any_of(function.body.begin(), function.body.end(), [&](Instruction const& i) {
    bool const writes = !i.operands.empty() && i.operands[0].kind == Kind::reg;  // its first operand
    return std::any_of(i.operands.begin() + (writes ? 1 : 0), i.operands.end(),
                       [&](Operand const& o) { return reads(o, r); });
  });
}

/// The cost of an atomic: its kind, and why it is a bound alone. ptxas makes ATOMS.POPC.INC of additions of 1, and may bring the lanes of
/// other constants together; .or and .dec were not measured (H14). Of lanes at an address that ptxas sees to be one for the warp it makes REDUX, or a scan by
/// SHFL for .add with a result, and one ATOMS (ptxas 13.0, sm_80 to sm_100a).
void set_atomic(Steps const& steps, Instruction const& i, MemoryAccess& m) {
  Opcode const& op = i.opcode;
  Type const type = op.type;
  bool const swap = op.has("cas") || op.has("exch");
  m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
  m.atomic = op.has("cas") ? Atomic::compare_and_swap : Atomic::arithmetic;
  if (!type.integer() || op.has("noftz") || (type.bits == 64 && !swap)) {
    m.atomic = Atomic::compare_and_swap, m.at_most = program::a_round;
    return;
  }
  Operand const& by = i.operands.back();
  if (op.has("add") && by.kind == Kind::immediate && by.value == 1 && !takes_result(steps.function, i))
    m.atomic = Atomic::counting;
  else if (op.has("or") || op.has("dec") || (!swap && may_be_constant(steps.function, by)))
    m.at_most = program::may_take_less;
  m.gathers = !swap && (op.has("add") || !takes_result(steps.function, i));
}

}  // namespace

namespace {

/// Adds an access to global memory, if they are listed, or one that counts: in the cost of a copy to shared memory, or as one to a lock.
/// `at_most`: reason if it may access fewer bytes.
void add_global(Steps& steps, Instruction const& i, Operand const& where, std::optional<Operation> operation,
                unsigned bytes, std::string_view at_most = {}, bool counts = false) {
  if (!steps.lists_global && !counts) return;
  MemoryAccess m = access_at(steps, i, where);
  m.global = true;
  m.bytes = bytes;
  m.at_most = at_most;
  if (!operation)
    m.reason = "sectors of atomics are not modelled: lanes at one address are served one by one (H20)";
  else if (m.reason.empty())
    m.instruction = swizproof::Instruction{*operation, bytes};
  steps.build.add(std::move(m));
}

constexpr std::string_view may_read_fewer = "the number of bytes that it reads is in a register";

}  // namespace

MemoryAccess access_at(Steps& steps, Instruction const& i, Operand const& where) {
  MemoryAccess m;
  m.op = std::string(i.opcode.text);
  std::tie(m.address, m.offset) = address(steps, where);
  m.guard = steps.guard;
  m.guard_negated = steps.guard_negated;
  m.line = i.line;
  m.location = i.location;
  for (std::uint32_t c = i.call; c != 0; c = steps.function.calls[c - 1].within)
    if (steps.function.calls[c - 1].refused.empty())
      m.calls.insert(m.calls.begin(), steps.function.calls[c - 1].line);
  if (where.kind == Kind::other) m.reason = "this form of an address is not read";
  return m;
}

bool waits(Opcode const& op) {
  return op.name == "atom" || (op.name == "ld" && (op.has("volatile") || op.has("relaxed") ||
                                                   op.has("acquire") || op.has("cv") || op.has("cg")));
}

bool takes_descriptors(Opcode const& op) {
  return (op.name == "wgmma" && op.has("mma_async")) ||
         (op.name == "tcgen05" && (op.has("mma") || op.has("cp")));
}

void descriptors(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  auto const add = [&](std::size_t k, OperandRole role) {
    Kind const kind = operand(i, k).kind;
    if (kind == Kind::reg || kind == Kind::immediate)
      add_operand(steps, i, operand(i, k), role, role == OperandRole::instruction ? 0 : 16);
  };
  if (op.has("cp")) return add(1, OperandRole::descriptor_source);
  add(1, OperandRole::descriptor_a);
  add(2, OperandRole::descriptor_b);
  if (op.name == "tcgen05") add(op.has("sp") ? 4 : 3, OperandRole::instruction);
}

void bulk_copy(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  bool const tensor = op.has("tensor");
  std::optional<Source> const size =
      tensor || i.operands.size() < 3 ? std::nullopt : std::optional(steps.in(operand(i, 2), 32));
  std::size_t k = 0;
  for (std::string_view const p : op.parts) {
    bool const shared = p == "shared" || p.starts_with("shared::");
    if (shared && k < 2)
      add_operand(steps, i, operand(i, k), k == 0 ? OperandRole::destination : OperandRole::source,
                  tensor ? tma_destination : 16, size);
    if (shared || p == "global") ++k;
  }
  if (k != 2 || !op.has("mbarrier::complete_tx::bytes")) return;  // a prefetch has one space
  for (std::size_t at = 2; at < i.operands.size(); ++at)
    if (operand(i, at).kind == Kind::address || operand(i, at).kind == Kind::other)
      return add_operand(steps, i, operand(i, at), OperandRole::barrier, 8);
}

/// mbarrier.inval, where operations of mbarriers are listed: a store of its 8 bytes.
void invalidate(Steps& steps, Instruction const& i) {
  MemoryAccess m = access_at(steps, i, operand(i, 0));
  m.bytes = 8;
  m.instruction = swizproof::Instruction{Operation::st_shared, 8};
  steps.build.add(std::move(m));
}

/// tcgen05.alloc, where operations of mbarriers are listed: a store of the address of its columns. tcgen05.commit: an arrival.
void tensor_memory(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  if (!steps.lists_mbarriers || !op.has("cta_group::1")) return;
  if (op.has("commit")) return add_operand(steps, i, operand(i, 0), OperandRole::barrier, 8, constant(1));
  if (!op.has("alloc")) return;
  MemoryAccess m = access_at(steps, i, operand(i, 0));
  m.bytes = 4;
  m.generic = op.space == Space::generic;
  m.instruction = swizproof::Instruction{Operation::st_shared, m.bytes};
  steps.build.add(std::move(m));
}

/// clusterlaunchcontrol.try_cancel, where operations of mbarriers are listed: a copy of 16 bytes.
void try_cancel(Steps& steps, Instruction const& i) {
  if (!steps.lists_mbarriers || !i.opcode.has("try_cancel")) return;
  add_operand(steps, i, operand(i, 0), OperandRole::destination, 16, constant(16));
  add_operand(steps, i, operand(i, 1), OperandRole::barrier, 8);
}

void mbarrier(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  if (steps.lists_mbarriers && op.has("inval") && op.space == Space::shared && !op.has("shared::cluster"))
    return invalidate(steps, i);
  bool const init = op.has("init"), expects = op.has("expect_tx"),
             arrives = op.has("arrive") && !op.has("noComplete"),
             waits = op.has("parity") && (op.has("try_wait") || op.has("test_wait")),
             one = arrives && !expects && i.operands.size() == 2;  // it counts one arrival
  std::size_t const at = init || (expects && !arrives) ? 0 : 1;
  if (!steps.lists_mbarriers || op.space != Space::shared || !(init || expects || arrives || waits) ||
      i.operands.size() < at + (one ? 1 : 2))
    return;
  if (one) return add_operand(steps, i, operand(i, at), OperandRole::barrier, 8, constant(1));
  add_operand(steps, i, operand(i, at), OperandRole::barrier, 8, steps.in(operand(i, at + 1), 32));
}

/// Words of a store, each of so many bits; none if one of them is no word that is followed.
std::vector<Source> words_of(Steps& steps, Operand const& stored, unsigned bits, unsigned lanes) {
  std::vector<Operand> const one{stored};
  std::vector<Operand> const& parts = stored.kind == Kind::vector ? stored.parts : one;
  bool const known =
      parts.size() == lanes && bits <= 64 && std::all_of(parts.begin(), parts.end(), [](Operand const& o) {
        return o.kind == Kind::reg || o.kind == Kind::immediate;
      });
  std::vector<Source> out;
  for (std::size_t k = 0; known && k < parts.size(); ++k) out.push_back(steps.in(parts[k], bits));
  return out;
}

void load_or_store(Steps& steps, Instruction const& i, bool load) {
  Opcode const& op = i.opcode;
  Operand const& where = operand(i, load ? 1 : 0);
  Type const type = op.type;
  Space const space = op.space;
  unsigned const lanes = op.lanes, each = std::max(type.bits, 8U) / 8;
  if (space == Space::shared || space == Space::generic) {
    MemoryAccess m = access_at(steps, i, where);
    m.bytes = each * lanes;
    m.generic = space == Space::generic;
    Operand const& stored = operand(i, 1);
    if (!load && steps.lists_mbarriers) m.values = words_of(steps, stored, std::max(type.bits, 8U), lanes);
    if (op.has("shared::cluster")) {
      m.reason = "the memory of another block of the cluster is not modelled";
    } else if (std::string_view const word = unknown_word(op); !word.empty()) {
      m.reason = "'." + std::string(word) + "' is no state space or modifier that is known";
    } else if (m.bytes <= 16) {
      m.instruction = swizproof::Instruction{load ? Operation::ld_shared : Operation::st_shared, m.bytes};
    } else {
      m.reason = "accesses of more than 16 bytes a lane are not modelled";
    }
    steps.build.add(std::move(m));
  }
  std::optional<Operation> const cost =
      steps.lists_global ? std::optional(load ? Operation::ld_shared : Operation::st_shared) : std::nullopt;
  if (space == Space::global)
    add_global(steps, i, where, cost, each * lanes, {}, steps.may_lock && (!load || waits(op)));
  if (!load) return;
  auto [base, offset] = address(steps, where);
  if (!base.constant)
    base = steps.emit(Action::copy, steps.width_of(base.value), base);  // a destination may be its register
  std::vector<Operand> const one{operand(i, 0)};
  std::vector<Operand> const& into = one[0].kind == Kind::vector ? one[0].parts : one;
  for (std::size_t k = 0; k < into.size(); ++k) {
    if (into[k].kind != Kind::reg) continue;
    if (type.bits > 64 || type.bits == 0) {
      steps.unknown(into[k], {}, true);
      continue;
    }
    unsigned const bits = std::max(type.bits, 8U);
    // Loads that may change between two executions are told apart by the executor.
    Source const value =
        steps.emit(Action::load, bits, base, constant(offset + k * each),
                   constant(steps.build.named(steps.build.opcode)), static_cast<std::uint32_t>(space));
    steps.out(into[k], value, bits, type.kind == 's');
  }
}

void matrices(Steps& steps, Instruction const& i, bool load) {
  Opcode const& op = i.opcode;
  Space const space = op.space;
  MemoryAccess m = access_at(steps, i, operand(i, load ? 1 : 0));
  m.generic = space == Space::generic;
  m.bytes = 16;
  unsigned const n = op.has("x4") ? 4 : op.has("x2") ? 2 : op.has("x1") ? 1 : 0;
  unsigned const rows = n * rows_of_matrix(op, load) / 8;
  if (rows == 0 || rows > 4) {
    m.reason = "this shape is not modelled";
  } else {
    m.instruction =
        swizproof::Instruction{load ? Operation::ldmatrix : Operation::stmatrix, 16, rows, op.has("trans")};
  }
  if (space == Space::shared || space == Space::generic) steps.build.add(std::move(m));
  if (load) steps.unknown(i, true);
}

void copy_async(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  if (op.has("bulk")) return bulk_copy(steps, i);
  if (op.has("mbarrier") || !op.has("global")) return;  // groups
  MemoryAccess m = access_at(steps, i, operand(i, 0));
  std::uint64_t const bytes = operand(i, 2).value;
  m.bytes = static_cast<std::uint32_t>(bytes);
  if (operand(i, 2).kind == Kind::immediate && (bytes == 4 || bytes == 8 || bytes == 16)) {
    m.instruction = swizproof::Instruction{Operation::cp_async, m.bytes};
  } else {
    m.reason = "the number of bytes is no constant";
  }
  if (m.instruction)
    add_global(steps, i, operand(i, 1), Operation::ld_shared, m.bytes,
               i.operands.size() > 3 ? may_read_fewer : std::string_view(), true);
  m.bypasses = !op.has("ca");
  steps.build.add(std::move(m));
}

void atomic(Steps& steps, Instruction const& i, bool returns) {
  Opcode const& op = i.opcode;
  Type const type = op.type;
  Space const space = op.space;
  MemoryAccess m = access_at(steps, i, operand(i, returns ? 1 : 0));
  m.generic = space == Space::generic;
  m.bytes = std::max(type.bits, 8U) / 8 * op.lanes;
  if (std::string_view const word = unknown_word(op); !word.empty())
    m.reason = "'." + std::string(word) + "' is no operation or modifier of an atomic that is known";
  else if (op.has("shared::cluster"))
    m.reason = "the memory of another block of the cluster is not modelled";
  else if (op.lanes != 1 || (m.bytes != 4 && m.bytes != 8))
    m.reason = "the cost of atomics of this size was not measured";
  else
    set_atomic(steps, i, m);
  if (space == Space::global)
    add_global(steps, i, operand(i, returns ? 1 : 0), std::nullopt, m.bytes, {}, true);
  if (space == Space::shared || space == Space::generic) steps.build.add(std::move(m));
  if (returns) steps.unknown(i, true);
}

void map_address(Steps& steps, Instruction const& i) {
  unsigned const w = i.opcode.type.bits;
  Source const own = steps.in(operand(i, 1), w);
  bool const alone = steps.function.reqnctapercluster[0] == 0;
  if (steps.lists_mbarriers) return alone ? steps.out(operand(i, 0), own, w) : steps.unknown(i);
  Source const windows =
      steps.emit(Action::opaque, w, steps.in(operand(i, 2), 32), {}, {}, steps.build.named("mapa"));
  Source const apart = steps.emit(Action::shl, w, windows, constant(program::window_bits));
  steps.out(operand(i, 0), steps.emit(Action::add, w, own, apart), w);
}

void store_async(Steps& steps, Instruction const& i) {
  MemoryAccess m = access_at(steps, i, operand(i, 0));
  m.reason = "the memory of another block of the cluster is not modelled";
  steps.build.add(std::move(m));
}

}  // namespace swizproof::ptx
