#include "info.hpp"
#include "instructions.hpp"
#include "rounds.hpp"

#include <swizproof/hardware/architecture.hpp>
#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/needed_bits.hpp>
#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace swizproof::sass {

namespace {

constexpr std::size_t most_lowered =
    1'000'000;  ///< instructions of one kernel, those of inlined calls included
constexpr unsigned deepest_call = 32;

/// True if a function leaves a register as it was. [Seen: functions that ptxas 13.0 compiles for sm_75, 80, 90, 100 and 120 save
/// those of these that they write; R167 is the last. R20 and R21 are the address to return to.]
constexpr bool is_kept_by_calls(std::uint32_t r) {
  return r == 1 || r == 2 || (r >= 16 && r <= 19) || (r >= 22 && r <= 31) ||
         (r >= 32 && r < 168 && (r & 4) != 0);
}

/// R0 to R254, UR0 to UR254, P0 to P6, UP0 to UP6.
std::vector<std::string> register_names() {
  std::vector<std::string> names;
  for (auto const& [letters, first, last] : {std::tuple{"R", 0U, first_uniform},
                                             {"UR", first_uniform, first_predicate},
                                             {"P", first_predicate, first_uniform_predicate},
                                             {"UP", first_uniform_predicate, registers}})
    for (std::uint32_t r = first; r < last; ++r) names.push_back(fmt::format("{}{}", letters, r - first));
  return names;
}

/// Returns whether an instruction may take part in making a generic address of shared memory: it reads the window's upper word (a
/// special register from sm_90 on, c[0x0][0x1c] before), words of bank 0 that are named by a register, or calls code that the dump
/// does not have.
bool may_make_generic(unsigned arch, Code const& code, Instruction const& i) {
  Opcode const op = opcode_of(i.opcode);
  if (op.base == "CALL" && !op.has("REL")) return !code.is_harmless_call(i);
  return std::any_of(i.operands.begin(), i.operands.end(), [&](Operand const& o) {
    if (o.kind == Kind::special) return o.text.find("SWIN") != o.text.npos;
    if (o.kind != Kind::constant || (o.bank != 0 && o.bank != 255)) return false;
    bool const named = o.bank == 255 || o.reg != no_register || o.uniform != no_register;
    return named ? o.bank == 255 || o.value < code_constants_of(arch).parameters
                 : arch < 90 && o.value < 0x20 && o.value + 16 > 0x18;
  });
}

/// A function outside of the section, as vprintf: registers that the ABI lets it change are not known after it. A warp has one set of
/// uniform registers, so that they change for lanes that do not call it, too.
void external_call(Steps& steps) {
  for (std::uint32_t r = 0; r < 255; ++r)
    if (!is_kept_by_calls(r)) steps.write(r, steps.any(32), 32);
  for (std::uint32_t r = first_predicate; r < first_uniform_predicate; ++r) steps.write(r, steps.any(1), 1);
  steps.guard.reset();
  for (std::uint32_t r = 0; r < 36; ++r) steps.write(first_uniform + r, steps.any(32), 32);
  for (std::uint32_t r = first_uniform_predicate; r < registers; ++r) steps.write(r, steps.any(1), 1);
}

void lower_instruction(Steps& steps, Instruction const& i, Opcode const& op) {
  Row const* const row = row_of(op.base);
  steps.form(row != nullptr ? row->form : FormName{});
  if (row == nullptr || (!op.known && row->unit != Unit::memory)) return unknown(steps, i, op);
  row->handler(steps, i, op);
}

/// One kernel on its way to a program: its blocks, with those of calls that are inlined.
class Lowering {
 public:
  /// `stack`: local memory may be a stack.
  Lowering(Module const& module, Function const& function, bool stack, bool global);
  Lowered run();
  [[nodiscard]] bool keeps_stack() const { return steps_.stack.kept(); }

 private:
  /// One call that is inlined, or the kernel itself.
  struct Context {
    std::int32_t parent = -1;
    std::uint32_t back = 0;  ///< index of the instruction that it returns to
    std::uint32_t line = 0;  ///< line of the call
    unsigned depth = 0;
  };
  void find_variables();
  void name_assumed_forms();
  [[nodiscard]] std::vector<std::uint32_t> calls_of(std::uint32_t context) const;
  std::int32_t block_at(std::uint32_t context, std::uint32_t index);
  void lower_block(std::uint32_t context, std::uint32_t index);
  std::optional<Source> condition(Instruction const& i, bool votes = false);
  /// Ends the block if the instruction does; false: it goes on.
  bool control(Instruction const& i, Opcode const& op, std::uint32_t index);
  /// An instruction of a loop over the values of a warp; false for one that is as elsewhere.
  bool pass(Round const& round, std::uint32_t index);
  bool branch(Instruction const& i, Opcode const& op, std::uint32_t index);
  bool indirect_branch(Instruction const& i, std::uint32_t index);
  bool call(Instruction const& i, Opcode const& op, std::uint32_t index);
  void end_block(std::int32_t taken, std::int32_t next, std::optional<Source> condition);

  Code code_;
  Rounds rounds_;
  Steps steps_;
  program::Program& program_ = steps_.build.program;
  Lowered out_{};
  std::vector<Context> contexts_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> blocks_{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> work_{};
  std::uint32_t context_ = 0;
  std::int32_t block_ = 0;
  std::size_t lowered_ = 0;
};

Lowering::Lowering(Module const& module, Function const& function, bool stack, bool global)
    : code_(function), rounds_(code_), steps_(module, code_, stack) {
  steps_.lists_global = global;
  steps_.lists_events = may_wait(code_);
  program_.name = function.name;
  program_.language = "SASS";
  program_.widths.assign(registers, 32);
  std::fill(program_.widths.begin() + first_predicate, program_.widths.end(), std::uint8_t{1});
  static std::vector<std::string> const names = register_names();
  program_.registers = names;
  out_.head.name = function.name;
  out_.head.entry = function.entry;
  out_.head.line = function.line;
}

Lowered Lowering::run() {
  find_variables();
  std::vector<Instruction> const& instructions = code_.function.body;
  steps_.find_kept_bits(code_.function);
  unsigned const arch = steps_.module.arch;
  program_.makes_generic = std::any_of(instructions.begin(), instructions.end(), [&](Instruction const& i) {
    return may_make_generic(arch, code_, i);
  });
  contexts_.emplace_back();
  (void)block_at(0, 0);
  for (std::size_t k = 0; k < work_.size() && program_.refused.empty(); ++k)
    lower_block(work_[k].first, work_[k].second);
  if (program_.refused.empty()) name_assumed_forms();
  out_.program = std::move(program_);
  return std::move(out_);
}

void Lowering::name_assumed_forms() {
  program::Flow const flow = program::flow_of(program_);
  std::vector<std::uint64_t> const needed = program::needed_bits(program_, flow);
  std::set<std::string> assumed;
  bool keeps = false;  // whether a verdict may need what a call keeps
  for (std::uint32_t r = 0; r < first_uniform; ++r) keeps = keeps || (is_kept_by_calls(r) && needed[r] != 0);
  for (std::size_t k = 0; k < steps_.forms.size(); ++k) {
    Steps::UsedForm const& used = steps_.forms[k];
    if ((used.form == "CALL.ABS"_form && keeps) || used.form == "CALL.ABS of __assertfail"_form)
      assumed.emplace(used.form.text());
    std::size_t const last = k + 1 < steps_.forms.size() ? steps_.forms[k + 1].first : program_.steps.size();
    for (std::size_t s = used.first; s < last && !used.form.empty(); ++s) {
      program::Step const& step = program_.steps[s];
      bool const reads = step.action == Action::access || step.action == Action::operand;
      if (!reads && (step.dst < 0 || needed[static_cast<std::size_t>(step.dst)] == 0)) continue;
      bool const result = step.dst >= 0 && step.dst < static_cast<std::int32_t>(registers);
      bool const predicate = result && program_.widths[static_cast<std::size_t>(step.dst)] == 1;
      bool const measured =
          steps_.module.arch == 90 &&
          (is_measured(used.opcode, predicate) || (!reads && !result && is_measured(used.opcode, true)));
      if (!measured) assumed.emplace(used.form.text());
    }
  }
  out_.assumed.assign(assumed.begin(), assumed.end());
}

/// Parameters, and shared memory.
void Lowering::find_variables() {
  LaunchFacts const& facts = code_.function.facts;
  program_.first_param = 0;
  steps_.bank.find_parameters(out_.head.params);
  program_.params = static_cast<std::uint32_t>(program_.symbols.size());
  out_.head.maxntid = facts.maxntid, out_.head.reqntid = facts.reqntid;
  program::Variable shared;
  shared.name = "shared";
  shared.space = program::Space::shared;
  shared.align = 1U << 24;  // a block's window
  shared.sized = facts.shared_bytes.has_value();
  shared.bytes = facts.shared_bytes.value_or(0);
  shared.first = code_constants_of(steps_.module.arch).reserved_shared;
  shared.padding = facts.shared_align - 1;
  steps_.shared_symbol = static_cast<std::uint32_t>(program_.symbols.size());
  program_.symbols.push_back(shared);
}

/// Lines of the calls that lead to a context, from the kernel's own on.
std::vector<std::uint32_t> Lowering::calls_of(std::uint32_t context) const {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t c = context; contexts_[c].parent >= 0;
       c = static_cast<std::uint32_t>(contexts_[c].parent))
    lines.insert(lines.begin(), contexts_[c].line);
  return lines;
}

// --------------------------------------------------------------------------------------- blocks

std::int32_t Lowering::block_at(std::uint32_t context, std::uint32_t index) {
  auto const [at, fresh] =
      blocks_.try_emplace({context, index}, static_cast<std::int32_t>(program_.blocks.size()));
  if (fresh) {
    program_.blocks.emplace_back();
    work_.emplace_back(context, index);
  }
  return at->second;
}

void Lowering::end_block(std::int32_t taken, std::int32_t next, std::optional<Source> condition) {
  program::Block& b = program_.blocks[static_cast<std::size_t>(block_)];
  b.line = steps_.build.line;
  if (!condition || (condition->constant && condition->value != 0)) {
    b.taken = taken;
  } else if (condition->constant) {
    b.taken = next;
  } else {
    b.condition = static_cast<std::int32_t>(condition->value);
    b.taken = taken, b.next = next;
  }
  program_.blocks[static_cast<std::size_t>(block_)].last = static_cast<std::uint32_t>(program_.steps.size());
}

void Lowering::lower_block(std::uint32_t context, std::uint32_t index) {
  context_ = context;
  steps_.calls = calls_of(context);
  steps_.forget_voters();
  block_ = blocks_[{context, index}];
  program_.blocks[static_cast<std::size_t>(block_)].first = static_cast<std::uint32_t>(program_.steps.size());
  for (std::uint32_t k = index;; ++k) {
    if (k == code_.function.body.size()) return end_block(-1, -1, std::nullopt);
    if (k != index && code_.leads(k)) return end_block(block_at(context, k), -1, std::nullopt);
    Instruction const& i = code_.function.body[k];
    steps_.build.line = i.line;
    steps_.build.opcode = i.opcode;
    Opcode const op = opcode_of(i.opcode);
    steps_.guard.reset();
    if (Round const* const round = rounds_.around(k); round != nullptr && pass(*round, k)) continue;
    if (i.guard != Kind::other) {
      Operand o;
      o.kind = i.guard, o.reg = i.guard_reg, o.negated = i.guard_negated;
      bool const copies = op.base.starts_with("UTMA") || op.base.starts_with("UBLK");
      Source const g = (copies ? steps_.voters(o) : std::nullopt).value_or(steps_.truth(o));
      if (g.constant && g.value == 0) continue;  // @!PT: never
      // An instruction with several results may write its guard first.
      if (!g.constant) steps_.guard = may_write(i, o) ? steps_.emit(Action::copy, 1, g) : g;
    }
    if (++lowered_ > most_lowered)
      return steps_.build.refuse(
          fmt::format("the kernel has more than {} instructions, inlined ones included", most_lowered));
    if (control(i, op, k)) return;
    if (!program_.refused.empty()) return;
    if (op.base != "CALL") hold_back(steps_, i, op);
    std::size_t const accesses = program_.accesses.size();
    lower_instruction(steps_, i, op);
    if (program_.accesses.size() == accesses) write_memory(steps_, i, op);
  }
}

bool Lowering::pass(Round const& round, std::uint32_t index) {
  auto const& body = code_.function.body;
  Instruction const& i = body[index];
  bool const takes = i.opcode.starts_with("R2UR");
  if (!takes && index != round.last) return i.opcode.starts_with("PLOP3");
  steps_.form(takes ? "R2UR of each value"_form : FormName{});
  if (takes) return steps_.put(operand(i, 1), steps_.word(operand(i, 2))), true;
  // Behind the loop the warp has the values of the last pass.
  for (std::uint32_t k = round.first; k < round.last; ++k)
    if (body[k].opcode.starts_with("R2UR")) steps_.lose(operand(body[k], 1), 1);
  steps_.put_truth(round.left, constant(0));
  steps_.put_truth(round.another, steps_.any(1));
  return true;
}

/// The guard of an instruction, the predicates that it takes, and of a branch any truth where lanes vote: `@P0 EXIT P2` is for lanes with both.
std::optional<Source> Lowering::condition(Instruction const& i, bool votes) {
  std::optional<Source> when = steps_.guard;
  auto const also = [&](Source p) { when = when ? both(steps_, *when, p) : p; };
  for (Operand const& o : i.operands)
    if (is_predicate(o)) also(steps_.truth(o));
  if (votes) also(steps_.any(1));
  return when;
}

bool Lowering::control(Instruction const& i, Opcode const& op, std::uint32_t index) {
  auto const next = [&] { return block_at(context_, index + 1); };
  if (op.base == "EXIT" || op.base == "KILL" || (op.base == "BPT" && op.has("TRAP"))) {
    std::optional<Source> const when = condition(i);
    end_block(-1, when ? next() : -1, when);
    return true;
  }
  if (op.base == "BRA") return branch(i, op, index);
  bool const takes_predicates = std::any_of(i.operands.begin(), i.operands.end(), is_predicate);
  if (takes_predicates && (op.base == "BRX" || op.base == "BRXU" || op.base == "CALL" || op.base == "RET")) {
    steps_.build.refuse(fmt::format("{} with a predicate is not executed", op.text));
    return true;
  }
  if (op.base == "BRX" || op.base == "BRXU") return indirect_branch(i, index);
  if (op.base == "CALL") return call(i, op, index);
  if (op.base == "RET") {
    Context const c = contexts_[context_];
    std::int32_t to = -1;
    if (c.parent >= 0)
      to = block_at(static_cast<std::uint32_t>(c.parent), c.back);
    else if (code_.function.entry)
      steps_.build.refuse("a return, and the address that it returns to is not known");
    end_block(to, steps_.guard ? next() : -1, steps_.guard);
    return true;
  }
  if (op.base == "JMP" || op.base == "JMX" || op.base == "JMXU" || op.base == "BRK" || op.base == "CONT" ||
      op.base == "RTT" || op.base == "RPCMOV") {
    steps_.build.refuse(fmt::format("{} is not executed", op.text));
    return true;
  }
  return false;
}

bool Lowering::branch(Instruction const& i, Opcode const& op, std::uint32_t index) {
  std::optional<std::uint32_t> to;
  for (Operand const& o : i.operands)
    if (auto const t = code_.target_of(o)) to = t;
  if (!to) {
    steps_.build.refuse(fmt::format("{} names no label of the kernel", op.text));
    return true;
  }
  // A warp whose lanes are not together goes another way, to the same result.
  if (op.has("DIV") && code_.is_slow_copy(*to)) {
    steps_.form("BRA.DIV"_form);
    return false;
  }
  bool const votes = op.has("DIV") || op.has("CONV") || op.has("ALL");
  // One lane takes the others along.
  std::optional<Source> const when = op.has("ANY") ? std::optional(steps_.any(1)) : condition(i, votes);
  std::int32_t const taken = block_at(context_, *to);
  end_block(taken, when ? block_at(context_, index + 1) : -1, when);
  return true;
}

bool Lowering::indirect_branch(Instruction const& i, std::uint32_t index) {
  if (i.targets.empty() || i.targets.size() > 4096) {
    steps_.build.refuse("an indirect branch whose targets the dump does not name");
    return true;
  }
  steps_.form("BRX"_form);
  Source const by = steps_.registers_of(i, 0);
  std::int32_t const next = steps_.guard ? block_at(context_, index + 1) : -1;
  // One block for each target, each with a condition that is a function of the register.
  std::int32_t const first = static_cast<std::int32_t>(program_.blocks.size());
  std::vector<std::uint32_t> labels;
  for (std::string_view const t : i.targets) labels.push_back(code_.function.labels.at(t));
  if (steps_.guard) {
    end_block(first, next, steps_.guard);
    program_.blocks.emplace_back();
    block_ = first;
    program_.blocks.back().goes_on = true;
    program_.blocks.back().first = static_cast<std::uint32_t>(program_.steps.size());
  }
  for (std::size_t k = 0; k + 1 < labels.size(); ++k) {
    Source const is = steps_.emit(Action::opaque, 1, by, constant(k), {}, steps_.build.named("BRX"));
    std::int32_t const to = block_at(context_, labels[k]);
    std::int32_t const rest = static_cast<std::int32_t>(program_.blocks.size());
    program_.blocks.emplace_back();
    end_block(to, rest, is);
    block_ = rest;
    program_.blocks[static_cast<std::size_t>(rest)].goes_on = true;
    program_.blocks[static_cast<std::size_t>(rest)].first = static_cast<std::uint32_t>(program_.steps.size());
  }
  end_block(block_at(context_, labels.back()), -1, std::nullopt);
  return true;
}

bool Lowering::call(Instruction const& i, Opcode const& op, std::uint32_t index) {
  std::optional<std::uint32_t> callee;
  for (Operand const& o : i.operands)
    if (auto const t = code_.target_of(o)) callee = t;
  if (code_.fails_assertion(i)) {
    steps_.form("CALL.ABS of __assertfail"_form);
    end_block(-1, steps_.guard ? block_at(context_, index + 1) : -1, steps_.guard);
    return true;
  }
  if (!op.has("REL") || !callee) {
    if (!code_.is_harmless_call(i)) hold_back(steps_, i, op);
    steps_.form("CALL.ABS"_form);
    external_call(steps_);
    return false;
  }
  std::optional<std::uint32_t> const back = code_.return_of(index);
  if (!back) {
    // Without an address to return to it is a jump: a RET that it reached would be refused.
    std::int32_t const to = block_at(context_, *callee);
    end_block(to, steps_.guard ? block_at(context_, index + 1) : -1, steps_.guard);
    return true;
  }
  if (contexts_[context_].depth >= deepest_call) {
    steps_.build.refuse(fmt::format("calls are nested more than {} deep", deepest_call));
    return true;
  }
  steps_.form("CALL.REL"_form);
  contexts_.push_back({static_cast<std::int32_t>(context_), *back, i.line, contexts_[context_].depth + 1});
  auto const inner = static_cast<std::uint32_t>(contexts_.size() - 1);
  std::int32_t const to = block_at(inner, *callee);
  end_block(to, steps_.guard ? block_at(context_, index + 1) : -1, steps_.guard);
  return true;
}

}  // namespace

Lowered lower(Module const& module, Function const& function, bool global) {
  Lowering first(module, function, true, global);
  Lowered out = first.run();
  return first.keeps_stack() ? std::move(out) : Lowering(module, function, false, global).run();
}

}  // namespace swizproof::sass
