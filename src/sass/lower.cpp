#include "lowering.hpp"

#include "info.hpp"

#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/needed_bits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace swizproof::sass {

namespace {

constexpr std::size_t most_lowered =
    1'000'000;  ///< instructions of one kernel, those of inlined calls included
constexpr unsigned deepest_call = 32;

/// Offset of the first parameter in constant bank 0. Seen in what ptxas of CUDA 13.0 writes for each architecture.
std::uint64_t parameter_base(unsigned arch) { return arch >= 100 ? 0x380 : arch >= 90 ? 0x210 : 0x160; }

/// Bytes of the constant bank that an instruction reads by an operand.
unsigned constant_bytes(Opcode const& op) {
  if (op.base == "LDC" || op.base == "LDCU") {
    if (op.has("U8") || op.has("S8")) return 1;
    if (op.has("U16") || op.has("S16")) return 2;
    if (op.has("128")) return 16;
    return op.has("64") ? 8 : 4;
  }
  bool const wide = (op.base == "IMAD" && (op.has("WIDE") || op.has("HI"))) || op.base.starts_with("D") ||
                    op.has("F64") || op.has("64");
  return wide ? 8 : 4;
}

}  // namespace

bool Opcode::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Opcode opcode_of(std::string_view text) {
  // The uniform datapath has the same instructions with a U in front.
  static std::set<std::string_view> const known{
      "IADD3", "IMAD", "LEA",  "SHF",  "LOP3", "SEL", "ISETP", "MOV",   "PLOP3",  "PRMT",  "FLO",
      "POPC",  "BMSK", "SGXT", "BREV", "IABS", "LDC", "P2UR",  "VIADD", "VIMNMX", "IMNMX", "IADD"};
  Opcode op;
  op.text = text;
  std::size_t const dot = std::min(text.find('.'), text.size());
  op.base = text.substr(0, dot);
  if (op.base.starts_with('U') && known.count(op.base.substr(1)) != 0)
    op.uniform = true, op.base.remove_prefix(1);
  for (std::size_t from = dot; from < text.size();) {
    std::size_t const end = std::min(text.find('.', from + 1), text.size());
    op.modifiers.push_back(text.substr(from + 1, end - from - 1));
    from = end;
  }
  return op;
}

/// True if a function leaves a register as it was. [Seen: functions that ptxas 13.0 compiles for sm_75, 80, 90, 100 and 120 save
/// those of these that they write, of which R167 is the last. R20 and R21 are the address to return to.]
constexpr bool is_kept_by_calls(std::uint32_t r) {
  return r == 1 || r == 2 || (r >= 16 && r <= 19) || (r >= 22 && r <= 31) ||
         (r >= 32 && r < 168 && (r & 4) != 0);
}

/// R0 to R254, UR0 to UR254, P0 to P6, UP0 to UP6.
std::vector<std::string> Lowering::register_names() {
  std::vector<std::string> names;
  for (auto const& [letters, first, last] : {std::tuple{"R", 0U, first_uniform},
                                             {"UR", first_uniform, first_predicate},
                                             {"P", first_predicate, first_uniform_predicate},
                                             {"UP", first_uniform_predicate, registers}})
    for (std::uint32_t r = first; r < last; ++r) names.push_back(fmt::format("{}{}", letters, r - first));
  return names;
}

Lowering::Lowering(Module const& module, Function const& function, bool stack)
    : module_(module), function_(function), stack_(stack) {
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
  find_parameters();
  find_leaders();
  find_stack();
  find_kept_bits();
  program_.makes_generic = std::any_of(function_.body.begin(), function_.body.end(),
                                       [this](Instruction const& i) { return may_make_generic(i); });
  contexts_.emplace_back();
  (void)block_at(0, 0);
  for (std::size_t k = 0; k < work_.size() && program_.refused.empty(); ++k)
    lower_block(work_[k].first, work_[k].second);
  if (!program_.refused.empty()) return std::move(out_);
  program::Flow const flow = program::flow_of(program_);
  std::vector<std::uint64_t> const needed = program::needed_bits(program_, flow);
  std::set<std::string> assumed;
  bool keeps = false;  // whether a verdict may need what a call keeps
  for (std::uint32_t r = 0; r < first_uniform; ++r) keeps = keeps || (is_kept_by_calls(r) && needed[r] != 0);
  for (std::size_t k = 0; k < forms_.size(); ++k) {
    UsedForm const& used = forms_[k];
    if (used.form == "CALL.ABS"_form && keeps) assumed.emplace(used.form.text());
    std::size_t const last = k + 1 < forms_.size() ? forms_[k + 1].first : program_.steps.size();
    for (std::size_t s = used.first; s < last && !used.form.empty(); ++s) {
      program::Step const& step = program_.steps[s];
      bool const reads = step.action == Action::access || step.action == Action::operand;
      if (!reads && (step.dst < 0 || needed[static_cast<std::size_t>(step.dst)] == 0)) continue;
      bool const result = step.dst >= 0 && step.dst < static_cast<std::int32_t>(registers);
      bool const predicate = result && program_.widths[static_cast<std::size_t>(step.dst)] == 1;
      bool const measured = module_.arch == 90 && (is_measured(used.opcode, predicate) ||
                                                   (!reads && !result && is_measured(used.opcode, true)));
      if (!measured) assumed.emplace(used.form.text());
    }
  }
  out_.assumed.assign(assumed.begin(), assumed.end());
  return std::move(out_);
}

void Lowering::refuse(std::string const& why) {
  if (program_.refused.empty()) program_.refused = fmt::format("line {}: {}", line_, why);
}

/// Returns whether an instruction may take part in making a generic address of shared memory: it reads the window's upper word (a
/// special register from sm_90 on, c[0x0][0x1c] before), words of bank 0 that are named by a register, or calls code that the dump
/// does not have.
bool Lowering::may_make_generic(Instruction const& i) const {
  Opcode const op = opcode_of(i.opcode);
  if (op.base == "CALL" && !op.has("REL")) return true;
  return std::any_of(i.operands.begin(), i.operands.end(), [&](Operand const& o) {
    if (o.kind == Kind::special) return o.text.find("SWIN") != o.text.npos;
    if (o.kind != Kind::constant || (o.bank != 0 && o.bank != 255)) return false;
    bool const named = o.bank == 255 || o.reg != no_register || o.uniform != no_register;
    return named ? o.bank == 255 || o.value < parameter_base(module_.arch)
                 : module_.arch < 90 && o.value < 0x20 && o.value + 16 > 0x18;
  });
}

// --------------------------------------------------------------------------------------- parameters

/// Parts of the constant bank behind `base` that instructions read.
std::vector<Lowering::Parameter> Lowering::parts_read(std::uint64_t base) const {
  std::map<std::uint64_t, std::uint64_t> parts;  // first byte, and the byte after the last
  for (Instruction const& i : function_.body) {
    Opcode const op = opcode_of(i.opcode);
    for (Operand const& o : i.operands) {
      if (o.kind != Kind::constant || o.bank != 0 || o.reg != no_register || o.uniform != no_register)
        continue;
      if (o.value < base || o.value > 0x10000) continue;
      std::uint64_t const end = o.value + constant_bytes(op);
      // Words, as they are loaded: two halves of one are one parameter.
      std::uint64_t& known = parts[o.value / 4 * 4];
      known = std::max(known, (end + 3) / 4 * 4);
    }
  }
  std::vector<Parameter> out;
  for (auto const& [first, end] : parts) {
    if (!out.empty() && out.back().first + out.back().bytes > first)
      out.back().bytes = std::max(out.back().bytes, end - out.back().first);
    else
      out.push_back({first, end - first, 0});
  }
  return out;
}

/// Adds a parameter of the kernel, or a part of one; `name` if it has another one than its place.
void Lowering::add_parameter(Parameter p, bool part, std::string name) {
  program::Variable v;
  v.name = name.empty() ? fmt::format("c[0x0][{:#x}]", p.first) : std::move(name);
  v.space = program::Space::param;
  v.align = 4;
  v.bytes = p.bytes;
  v.array = p.bytes > 8;
  v.part = part;
  p.symbol = static_cast<std::uint32_t>(program_.symbols.size());
  out_.head.params.push_back(v);
  program_.symbols.push_back(v);
  parameters_.push_back(p);
}

/// Parameters as the dump lists them, words of structures behind them; without a list, the parts that the kernel reads.
void Lowering::find_parameters() {
  LaunchFacts const& facts = function_.facts;
  std::uint64_t const base = facts.parameter_base != 0 ? facts.parameter_base : parameter_base(module_.arch);
  std::vector<Parameter> const parts = parts_read(base);
  program_.first_param = 0;
  if (!facts.listed)
    for (Parameter const& p : parts) add_parameter(p, false);
  std::vector<Parameter> structures;
  for (LaunchFacts::Parameter const& given : facts.parameters) {
    Parameter const p{base + given.offset, given.bytes, 0};
    bool const structure = p.bytes > 8;
    add_parameter(p, false,
                  structure ? fmt::format("c[0x0][{:#x}..{:#x}]", p.first, p.first + p.bytes - 1) : "");
    if (structure) structures.push_back(p), parameters_.pop_back();  // its words are read
  }
  for (Parameter const& whole : structures)
    for (Parameter const& p : parts) {
      std::uint64_t const first = std::max(p.first, whole.first),
                          end = std::min(p.first + p.bytes, whole.first + whole.bytes);
      if (first < end) add_parameter({first, end - first, 0}, true);
    }
  program_.params = static_cast<std::uint32_t>(program_.symbols.size());
  out_.head.maxntid = facts.maxntid, out_.head.reqntid = facts.reqntid;
  program::Variable shared;
  shared.name = "shared";
  shared.space = program::Space::shared;
  shared.align = 1U << 24;  // a block's window
  shared.sized = facts.shared_bytes.has_value();
  shared.bytes = facts.shared_bytes.value_or(0);
  shared.first = reserved_shared(module_.arch);
  shared.padding = facts.shared_align - 1;
  shared_symbol_ = static_cast<std::uint32_t>(program_.symbols.size());
  program_.symbols.push_back(shared);
}

// --------------------------------------------------------------------------------------- blocks

std::optional<std::uint32_t> Lowering::index_of_pc(std::uint64_t pc) const {
  auto const found = index_of_.find(static_cast<std::uint32_t>(pc));
  return pc <= 0xffffffff && found != index_of_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<std::uint32_t> Lowering::target_of(Operand const& o) const {
  if (o.kind == Kind::immediate) return index_of_pc(o.value);
  if (o.kind != Kind::label) return std::nullopt;
  auto const found = function_.labels.find(o.text);
  return found == function_.labels.end() ? std::nullopt : std::optional(found->second);
}

/// True for an instruction, by the first part of its name, that may go on elsewhere, or end.
bool Lowering::jumps(std::string_view base) {
  static constexpr std::string_view names[] = {"BRA", "EXIT", "BRX", "BRXU", "CALL", "RET", "BPT", "KILL"};
  return std::find(std::begin(names), std::end(names), base) != std::end(names);
}

void Lowering::find_leaders() {
  std::size_t const n = function_.body.size();
  leader_.assign(n + 1, false);
  for (std::uint32_t k = 0; k < n; ++k) index_of_[function_.body[k].pc] = k;
  for (auto const& [label, at] : function_.labels) leader_[at] = true;
  for (std::uint32_t k = 0; k < n; ++k) {
    Instruction const& i = function_.body[k];
    std::string_view const base = i.opcode.substr(0, i.opcode.find('.'));
    if (!jumps(base)) continue;
    leader_[k + 1] = true;
    for (Operand const& o : i.operands)
      if (auto const to = target_of(o)) leader_[*to] = true;
    if (base == "CALL")
      if (auto const back = return_of(k)) leader_[*back] = true;
  }
}

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
  b.line = line_;
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

/// True if an instruction may write a predicate: one of its operands, or any of R2P and of a call.
bool Lowering::may_write(Instruction const& i, Operand const& predicate) {
  return i.opcode.starts_with("R2P") || i.opcode.starts_with("CALL") ||
         std::any_of(i.operands.begin(), i.operands.end(),
                     [&](Operand const& o) { return o.kind == predicate.kind && o.reg == predicate.reg; });
}

void Lowering::lower_block(std::uint32_t context, std::uint32_t index) {
  context_ = context;
  block_ = blocks_[{context, index}];
  program_.blocks[static_cast<std::size_t>(block_)].first = static_cast<std::uint32_t>(program_.steps.size());
  for (std::uint32_t k = index;; ++k) {
    if (k == function_.body.size()) return end_block(-1, -1, std::nullopt);
    if (k != index && leader_[k]) return end_block(block_at(context, k), -1, std::nullopt);
    Instruction const& i = function_.body[k];
    line_ = i.line;
    opcode_ = i.opcode;
    Opcode const op = opcode_of(i.opcode);
    guard_.reset();
    if (i.guard != Kind::other) {
      Operand o;
      o.kind = i.guard, o.reg = i.guard_reg, o.negated = i.guard_negated;
      Source const g = truth(o);
      if (g.constant && g.value == 0) continue;  // @!PT: never
      // An instruction with several results may write its guard first.
      if (!g.constant) guard_ = may_write(i, o) ? emit(Action::copy, 1, g) : g;
    }
    if (++lowered_ > most_lowered)
      return refuse(
          fmt::format("the kernel has more than {} instructions, inlined ones included", most_lowered));
    if (control(i, op, k)) return;
    if (!program_.refused.empty()) return;
    instruction(i, op);
  }
}

bool Lowering::control(Instruction const& i, Opcode const& op, std::uint32_t index) {
  auto const next = [&] { return block_at(context_, index + 1); };
  if (op.base == "EXIT" || op.base == "KILL" || (op.base == "BPT" && op.has("TRAP"))) {
    end_block(-1, guard_ ? next() : -1, guard_);
    return true;
  }
  if (op.base == "BRA") return branch(i, op, index);
  if (op.base == "BRX" || op.base == "BRXU") return indirect_branch(i, index);
  if (op.base == "CALL") return call(i, op, index);
  if (op.base == "RET") {
    Context const c = contexts_[context_];
    std::int32_t to = -1;
    if (c.parent >= 0)
      to = block_at(static_cast<std::uint32_t>(c.parent), c.back);
    else if (function_.entry)
      refuse("a return, and the address that it returns to is not known");
    end_block(to, guard_ ? next() : -1, guard_);
    return true;
  }
  if (op.base == "JMP" || op.base == "JMX" || op.base == "JMXU" || op.base == "BRK" || op.base == "CONT" ||
      op.base == "RTT" || op.base == "RPCMOV") {
    refuse(fmt::format("{} is not executed", op.text));
    return true;
  }
  return false;
}

bool Lowering::branch(Instruction const& i, Opcode const& op, std::uint32_t index) {
  std::optional<std::uint32_t> to;
  std::optional<Source> when = guard_;
  auto const also = [&](Source p) { when = when ? both(*when, p) : p; };
  for (Operand const& o : i.operands) {
    if (is_predicate(o))
      also(truth(o));
    else if (auto const t = target_of(o))
      to = t;
  }
  if (!to) {
    refuse(fmt::format("{} names no label of the kernel", op.text));
    return true;
  }
  // A warp whose lanes are not together goes another way, to the same result.
  if (op.has("DIV") && is_slow_copy(*to)) {
    form("BRA.DIV"_form);
    return false;
  }
  if (op.has("DIV") || op.has("CONV") || op.has("ANY") || op.has("ALL")) also(any(1));
  std::int32_t const taken = block_at(context_, *to);
  end_block(taken, when ? block_at(context_, index + 1) : -1, when);
  return true;
}

/// True for code that a warp runs if its lanes are not together: one that has no access to memory before it returns.
bool Lowering::is_slow_copy(std::uint32_t index) const {
  bool collective = false;
  for (std::uint32_t k = index; k < function_.body.size() && k < index + 4096; ++k) {
    Opcode const op = opcode_of(function_.body[k].opcode);
    if (op.base.starts_with("LD") || op.base.starts_with("ST") || op.base.starts_with("ATOM") ||
        op.base.starts_with("RED") || op.base == "EXIT" || op.base == "CALL")
      if (op.base != "LDC" && op.base != "REDUX") return false;
    collective = collective || (op.base == "WARPSYNC" && op.has("COLLECTIVE"));
    bool const leaves = op.base == "BRA" && function_.body[k].guard == Kind::other && op.modifiers.empty();
    if (!leaves) continue;
    for (Operand const& o : function_.body[k].operands)
      if (auto const to = target_of(o); to && *to < index) return collective;
  }
  return false;
}

bool Lowering::indirect_branch(Instruction const& i, std::uint32_t index) {
  if (i.targets.empty() || i.targets.size() > 4096) {
    refuse("an indirect branch whose targets the dump does not name");
    return true;
  }
  form("BRX"_form);
  Source const by = registers_of(i, 0);
  std::int32_t const next = guard_ ? block_at(context_, index + 1) : -1;
  // One block for each target, each with a condition that is a function of the register.
  std::int32_t const first = static_cast<std::int32_t>(program_.blocks.size());
  std::vector<std::uint32_t> labels;
  for (std::string_view const t : i.targets) labels.push_back(function_.labels.at(t));
  if (guard_) {
    end_block(first, next, guard_);
    program_.blocks.emplace_back();
    block_ = first;
    program_.blocks.back().goes_on = true;
    program_.blocks.back().first = static_cast<std::uint32_t>(program_.steps.size());
  }
  for (std::size_t k = 0; k + 1 < labels.size(); ++k) {
    Source const is = emit(Action::opaque, 1, by, constant(k), {}, named("BRX"));
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

/// The instruction that a call returns to: an address that a MOV before it puts into a register, the one behind the call before others.
std::optional<std::uint32_t> Lowering::return_of(std::uint32_t call) const {
  std::optional<std::uint32_t> found;
  bool several = false;
  for (std::uint32_t k = call; k-- > 0 && call - k < 64;) {
    Instruction const& i = function_.body[k];
    bool const copies = i.opcode == "MOV" && i.operands.size() == 2;
    bool const adds = i.opcode == "IMAD.MOV.U32" && i.operands.size() == 4 &&
                      i.operands[1].kind == Kind::reg && i.operands[1].reg == no_register;
    Operand const& last = operand(i, copies ? 1 : 3);
    if ((copies || adds) && last.kind == Kind::immediate && i.guard == Kind::other)
      if (auto const at = index_of_pc(last.value)) {
        if (*at == call + 1) return at;
        several = several || (found && *found != *at);
        if (last.value >= 0x40) found = at;  // small ones are numbers
      }
    if (leader_[k]) break;
  }
  return several ? std::nullopt : found;
}

bool Lowering::call(Instruction const& i, Opcode const& op, std::uint32_t index) {
  std::optional<std::uint32_t> callee;
  for (Operand const& o : i.operands)
    if (auto const t = target_of(o)) callee = t;
  if (!op.has("REL") || !callee) {
    form("CALL.ABS"_form);
    external_call();
    return false;
  }
  std::optional<std::uint32_t> const back = return_of(index);
  if (!back) {
    // Without an address to return to it is a jump: a RET that it reached would be refused.
    std::int32_t const to = block_at(context_, *callee);
    end_block(to, guard_ ? block_at(context_, index + 1) : -1, guard_);
    return true;
  }
  if (contexts_[context_].depth >= deepest_call) {
    refuse(fmt::format("calls are nested more than {} deep", deepest_call));
    return true;
  }
  form("CALL.REL"_form);
  contexts_.push_back({static_cast<std::int32_t>(context_), *back, i.line, contexts_[context_].depth + 1});
  auto const inner = static_cast<std::uint32_t>(contexts_.size() - 1);
  std::int32_t const to = block_at(inner, *callee);
  end_block(to, guard_ ? block_at(context_, index + 1) : -1, guard_);
  return true;
}

/// A function outside of the section, as vprintf: registers that the ABI lets it change are not known after it. A warp has one set of
/// uniform registers, so that they change for lanes that do not call it, too.
void Lowering::external_call() {
  for (std::uint32_t r = 0; r < 255; ++r)
    if (!is_kept_by_calls(r)) write(r, any(32), 32);
  for (std::uint32_t r = first_predicate; r < first_uniform_predicate; ++r) write(r, any(1), 1);
  guard_.reset();
  for (std::uint32_t r = 0; r < 36; ++r) write(first_uniform + r, any(32), 32);
  for (std::uint32_t r = first_uniform_predicate; r < registers; ++r) write(r, any(1), 1);
}

void Lowering::instruction(Instruction const& i, Opcode const& op) {
  Row const* const row = row_of(op.base);
  form(row != nullptr ? row->form : FormName{});
  if (row == nullptr) return unknown(i, op);
  (this->*row->handler)(i, op);
}

/// Steps from here on are those of a form.
void Lowering::form(FormName name) {
  forms_.push_back({static_cast<std::uint32_t>(program_.steps.size()), name, opcode_});
}

/// The instruction is of another form than its row's.
void Lowering::refine(FormName name) { forms_.back().form = name; }

// --------------------------------------------------------------------------------------- steps

std::uint32_t Lowering::temporary(unsigned width) {
  program_.widths.push_back(static_cast<std::uint8_t>(width));
  return static_cast<std::uint32_t>(program_.widths.size() - 1);
}

Lowering::Source Lowering::emit(Action action, unsigned width, Source a, Source b, Source c,
                                std::uint32_t extra) {
  std::uint32_t const to = temporary(width);
  program_.steps.push_back(
      {action, static_cast<std::uint8_t>(width), static_cast<std::int32_t>(to), a, b, c, extra, line_});
  return reg(to);
}

std::uint32_t Lowering::named(std::string_view what) {
  auto const [at, fresh] =
      names_.try_emplace(std::string(what), static_cast<std::uint32_t>(program_.names.size()));
  if (fresh) program_.names.emplace_back(what);
  return at->second;
}

Lowering::Source Lowering::any(unsigned width, Source from, bool memory) {
  return emit(Action::varying, width, from, constant(memory ? 1 : 0), {}, named(opcode_));
}
Lowering::Source Lowering::function_of(unsigned width, Source a, Source b, Source c) {
  return emit(Action::opaque, width, a, b, c, named(opcode_));
}

Lowering::Source Lowering::sext(Source s) {
  if (s.constant) return constant((s.value ^ 0x80000000) - 0x80000000);
  Source const biased = emit(Action::zext, 64, add(s, constant(0x80000000)));
  return emit(Action::sub, 64, biased, constant(0x80000000));
}

Lowering::Source Lowering::pair(Source low, Source high) {
  if (low.constant && high.constant) return constant(low.value | high.value << 32);
  if (high.constant && high.value == 0) return zext(low);
  Source const up = emit(Action::shl, 64, zext(high), constant(32));
  return low.constant && low.value == 0 ? up : emit(Action::bit_or, 64, up, zext(low));
}

Lowering::Source Lowering::choose(Source p, Source yes, Source no, unsigned width) {
  if (p.constant) return p.value != 0 ? yes : no;
  return emit(Action::choose, width, p, yes, no);
}
Lowering::Source Lowering::both(Source p, Source q) {
  if (p.constant) return p.value != 0 ? q : p;
  if (q.constant) return q.value != 0 ? p : q;
  return emit(Action::both, 1, p, q);
}
Lowering::Source Lowering::either(Source p, Source q) {
  if (p.constant) return p.value != 0 ? p : q;
  if (q.constant) return q.value != 0 ? q : p;
  return emit(Action::either, 1, p, q);
}
Lowering::Source Lowering::add(Source a, Source b, unsigned width) {
  if (a.constant && a.value == 0) return b;
  if (b.constant && b.value == 0) return a;
  if (a.constant && b.constant)
    return constant(width == 64 ? a.value + b.value : (a.value + b.value) & 0xffffffff);
  return emit(Action::add, width, a, b);
}

Lowering::Source Lowering::below(Source a, Source b, unsigned width, bool is_signed) {
  // Both constants: a comparison has no width of its own then.
  if (a.constant && b.constant) {
    std::uint64_t const flip = is_signed ? std::uint64_t{1} << (width - 1) : 0;
    return constant((a.value ^ flip) < (b.value ^ flip) ? 1 : 0);
  }
  if (!is_signed) return emit(Action::below, 1, a, b);
  auto const flipped = [&](Source s) {
    std::uint64_t const m = std::uint64_t{1} << (width - 1);
    return s.constant ? constant(s.value ^ m) : emit(Action::add, width, s, constant(m));
  };
  Source const x = flipped(a);
  return emit(Action::below, 1, x, flipped(b));
}

Lowering::Source Lowering::arithmetic_shift(Source a, Source n, unsigned width) {
  // asr(x, n) = ((x + m) >> n) - (m >> n) for n < width, with m = 2^(width-1)
  Source const m = constant(std::uint64_t{1} << (width - 1));
  if (n.constant) {
    n.value = std::min<std::uint64_t>(n.value, width - 1);
    if (n.value == 0) return a;
  } else {
    n = choose(below(n, constant(width), width, false), n, constant(width - 1), width);
  }
  Source const up = emit(Action::lshr, width, add(a, m, width), n);
  Source const down = n.constant ? constant(m.value >> n.value) : emit(Action::lshr, width, m, n);
  return emit(Action::sub, width, up, down);
}

Lowering::Source Lowering::uniform_special(std::string const& name) {
  auto const [at, fresh] = uniform_.try_emplace(name, static_cast<std::uint32_t>(uniform_.size()));
  return emit(Action::special, 32, {}, {}, {}, 100 + at->second);
}

Lowered lower(Module const& module, Function const& function) {
  Lowering first(module, function, true);
  Lowered out = first.run();
  return first.keeps_stack() ? std::move(out) : Lowering(module, function, false).run();
}

}  // namespace swizproof::sass
