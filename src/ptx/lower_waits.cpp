// Events: how instructions hold lanes back, and what memory they write beyond the accesses.
#include "lowering.hpp"

#include <swizproof/ptx/inline.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace swizproof::ptx {

namespace {

using Event = program::Event;

bool is_barrier(Opcode const& op) { return (op.name == "bar" || op.name == "barrier") && !op.has("warp"); }

/// True if an instruction has a mask of the lanes that it waits for, and not all lanes of a warp.
bool has_mask(Opcode const& op) { return op.has("sync") && !op.has("aligned") && !is_barrier(op); }

Operand const& members_of(Instruction const& i) {
  return i.opcode.name == "bar" || i.operands.empty() ? operand(i, 0) : i.operands.back();
}

bool is_all_lanes(Operand const& mask) {
  return mask.kind == Operand::Kind::immediate && (mask.value & 0xffffffff) == 0xffffffff;
}

/// True for memory that other threads have, too.
bool is_common(Space space) {
  return space != Space::param && space != Space::local && space != Space::constant;
}

/// True if an instruction writes memory that other threads read. wgmma, tcgen05.mma and tcgen05.st write registers and tensor memory.
bool writes_common(Opcode const& op) {
  static constexpr std::string_view always[] = {"st",   "atom",  "red",       "stmatrix",
                                                "sust", "sured", "tensormap", "clusterlaunchcontrol"};
  if (op.name == "cp") return !op.has("wait_group") && !op.has("wait_all") && !op.has("commit_group");
  if (op.name == "mbarrier") return !polls(op) && !op.has("pending_count");
  if (op.name == "multimem") return !op.has("ld_reduce");
  if (op.name == "wmma") return op.has("store");
  if (op.name == "tcgen05") return op.has("commit");
  return is_common(op.space) && std::find(std::begin(always), std::end(always), op.name) != std::end(always);
}

/// True if a call that is not inlined may hold lanes back, or write memory that others read.
bool call_matters(Module const& module, std::string_view name, std::set<std::string_view>& seen) {
  if (!seen.insert(name).second) return false;
  Function const* const callee = function_named(module, name);
  if (callee == nullptr || callee->body.empty()) return !is_harmless(name);
  return std::any_of(callee->body.begin(), callee->body.end(), [&](Instruction const& i) {
    Opcode const& op = i.opcode;
    if (op.name == "call") return call_matters(module, callee_of(i), seen);
    return writes_common(op) || waits(op) || polls(op) || is_barrier(op) || op.has("sync");
  });
}

bool call_matters(Module const& module, Instruction const& call) {
  std::set<std::string_view> seen;
  return call_matters(module, callee_of(call), seen);
}

/// True if a branch may go back.
bool has_loop(Function const& function) {
  std::set<std::uint32_t> seen;
  return std::any_of(function.body.begin(), function.body.end(), [&](Instruction const& i) {
    if (i.label != 0) seen.insert(i.label);
    return i.label == 0 &&
           (i.opcode.name == "brx" || (i.opcode.name == "bra" && seen.count(operand(i, 0).reg) != 0));
  });
}

/// The event of a barrier of the block or the cluster. Lanes of several warps may make up the count of one that is not aligned.
std::optional<Event::Kind> event_of_barrier(Instruction const& i) {
  Opcode const& op = i.opcode;
  if (op.has("arrive")) return std::nullopt;
  bool const aligned = op.name == "bar" || op.has("aligned"), all = i.operands.size() <= 1;
  if (i.guard >= 0) return aligned ? std::nullopt : std::optional(Event::Kind::threads);
  if (all && op.has("sync")) return Event::Kind::block;
  return aligned || all ? Event::Kind::warp : Event::Kind::threads;
}

void add_event(Steps& steps, Instruction const& i, Event::Kind kind, program::MemoryAccess at) {
  at.generic = i.opcode.space == Space::generic;
  at.global = i.opcode.space == Space::global;
  steps.build.add(Event{kind, std::move(at)});
}

/// An event of an instruction with a number.
void add_event(Steps& steps, Instruction const& i, Event::Kind kind, Source number) {
  program::MemoryAccess at = access_at(steps, i, Operand{});
  at.address = number;
  add_event(steps, i, kind, std::move(at));
}

/// True if an instruction writes shared memory, and neither an access nor an operand says so.
bool writes_unlisted(Opcode const& op) {
  return op.name == "mbarrier" || op.name == "tensormap" || op.name == "clusterlaunchcontrol" ||
         (op.name == "st" && op.has("bulk")) || (op.name == "cp" && op.text.starts_with("cp.async.mbarrier"));
}

}  // namespace

bool may_wait(Module const& module, Function const& function) {
  bool const loops = has_loop(function);
  return std::any_of(function.body.begin(), function.body.end(), [&](Instruction const& i) {
    Opcode const& op = i.opcode;
    if (i.label != 0) return false;
    if (op.name == "ld" && loops && is_common(op.space)) return true;
    if (op.name == "call") return call_matters(module, i);
    if (op.name == "multimem" || op.name == "suld" || waits(op) || polls(op)) return true;
    if (is_barrier(op)) return event_of_barrier(i) == Event::Kind::threads;
    return has_mask(op) && (op.name == "bar" || i.guard >= 0 || !is_all_lanes(members_of(i)));
  });
}

void hold_back(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  if (!steps.lists_events) return;
  if (op.name == "call") {
    if (call_matters(steps.module, i)) add_event(steps, i, Event::Kind::call, constant(0));
  } else if (is_barrier(op)) {
    Source both = constant(0);
    auto const kind = event_of_barrier(i);
    if (kind == Event::Kind::threads) both = steps.registers_of(i, op.has("red") ? 1 : 0);
    if (kind) add_event(steps, i, *kind, both);
  } else if (has_mask(op)) {
    add_event(steps, i, Event::Kind::lanes, steps.in(members_of(i), 32));
  } else if (op.has("sync") && i.guard < 0) {
    add_event(steps, i, Event::Kind::warp, constant(0));
  } else if (polls(op) || (op.name == "ld" && op.space == Space::global && !waits(op) && !op.has("nc"))) {
    add_event(steps, i, Event::Kind::poll, access_at(steps, i, operand(i, 1)));
  }
}

bool writes_listed(Opcode const& op) {
  bool const plain = op.name == "st" || op.name == "red" || op.name == "atom" || op.name == "stmatrix" ||
                     op.name == "wmma" || op.name == "cp";
  return plain && !op.has("async") && !op.has("bulk");
}

void write_memory(Steps& steps, Instruction const& i) {
  bool const listed = steps.lists_events || (!steps.lists_mbarriers && writes_unlisted(i.opcode));
  if (!listed || !writes_common(i.opcode)) return;
  for (Operand const& o : i.operands)
    if (o.kind == Operand::Kind::address || o.kind == Operand::Kind::other)
      add_event(steps, i, Event::Kind::write, access_at(steps, i, o));
}

}  // namespace swizproof::ptx
