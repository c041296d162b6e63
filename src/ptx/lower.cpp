#include "lowering.hpp"
#include "series.hpp"

#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace swizproof::ptx {

namespace {

constexpr std::size_t most_targets = 4096;  ///< most targets of an indirect branch, as in SASS

/// True for an instruction that makes a generic address of shared memory, and for a call that may return one.
bool may_make_generic(Instruction const& i) {
  if (i.opcode.name == "mapa") return true;
  if (i.opcode.name == "call") return !is_harmless(callee_of(i));
  return i.opcode.name == "cvta" && !i.opcode.has("to") && i.opcode.space == Space::shared;
}

/// Reason why a function may access shared memory; empty if it does not.
std::string why_call_matters(Module const& module, std::string_view name, std::set<std::string_view>& seen) {
  if (!seen.insert(name).second) return {};
  Function const* const callee = function_named(module, name);
  if (is_harmless(name) && (callee == nullptr || callee->body.empty())) return {};
  if (callee == nullptr || callee->body.empty())
    return name.empty() ? "an indirect call" : "the function " + std::string(name) + " is not in this file";
  for (Instruction const& i : callee->body) {
    std::string_view const op = i.opcode.name;
    if (op == "call")
      if (std::string why = why_call_matters(module, callee_of(i), seen); !why.empty()) return why;
    bool const memory = op == "ld" || op == "ldu" || op == "st" || op == "atom" || op == "red" ||
                        op == "ldmatrix" || op == "stmatrix" || op == "cp" || op == "wmma";
    if (op == "bar" || op == "barrier") return "the function " + std::string(name) + " has a barrier";
    Space const space = i.opcode.space;
    if (takes_descriptors(i.opcode) || op == "mbarrier" || op == "tensormap" || op == "tcgen05" ||
        op == "clusterlaunchcontrol" ||
        (memory && (space == Space::shared || space == Space::generic || op == "cp")))
      return "the function " + std::string(name) + " may access shared memory";
  }
  return {};
}

/// A call that was not inlined: where its function may access shared memory, that is an access which is not decided.
void call(Steps& steps, Instruction const& i) {
  if (!i.operands.empty() && i.operands[0].kind == Operand::Kind::vector) steps.unknown(i.operands[0]);
  std::set<std::string_view> seen;
  std::string const why = why_call_matters(steps.module, callee_of(i), seen);
  if (why.empty()) return;
  MemoryAccess m = access_at(steps, i, Operand{});
  std::string const refused = i.call == 0 ? "" : steps.function.calls[i.call - 1].refused;
  m.reason =
      why + (refused.empty() ? ": the call is not inlined" : ": the call is not inlined, since " + refused);
  steps.build.add(std::move(m));
}

/// Opcodes whose result comes from memory, also by way of a descriptor.
bool reads_memory(Opcode const& op) {
  return op.name == "tex" || op.name == "tld4" || op.name == "suld" || op.name == "multimem" ||
         op.name == "wgmma" || (op.name == "tcgen05" && op.has("ld"));
}

void dispatch(Steps& steps, Instruction const& i) {
  Opcode const& op = i.opcode;
  std::string_view const name = op.name;
  if (name == "ld" || name == "ldu") return load_or_store(steps, i, true);
  if (name == "st" && !op.has("async") && !op.has("bulk")) return load_or_store(steps, i, false);
  if (name == "mov") return move(steps, i);
  if (name == "setp") return set_predicate(steps, i);
  if (name == "selp") return choose(steps, i);
  if (name == "cvt") return convert(steps, i);
  if (name == "cvta") {
    unsigned const w = op.type.bits == 32 ? 32 : 64;
    return steps.out(operand(i, 0), steps.in(operand(i, 1), w), w);
  }
  if (name == "ldmatrix") return matrices(steps, i, true);
  if (name == "stmatrix") return matrices(steps, i, false);
  if (name == "cp") return copy_async(steps, i);
  if (name == "atom") return atomic(steps, i, true);
  if (name == "red" && !op.has("async")) return atomic(steps, i, false);
  if (name == "shfl") return shuffle(steps, i);
  if (name == "vote" || name == "redux") return voted(steps, i);
  if (name == "elect") return elect(steps, i);
  if (name == "multimem" && op.has("bulk")) return bulk_copy(steps, i);
  if (name == "mbarrier") mbarrier(steps, i);
  if (name == "tcgen05") tensor_memory(steps, i);
  if (name == "clusterlaunchcontrol") try_cancel(steps, i);
  if (name == "mapa") return map_address(steps, i);
  if (polls(op)) return steps.one_together(i);
  if (takes_descriptors(op)) descriptors(steps, i);
  if (name == "wmma" && (op.has("load") || op.has("store"))) return wmma(steps, i);
  if (name == "call") return call(steps, i);
  if (op.has("async") && (name == "st" || name == "red")) return store_async(steps, i);
  if (op.type.kind == 'p' && logic_of_predicates(steps, i)) return;
  if (op.type.integer() && arithmetic(steps, i)) return;
  if ((op.type.integer() || name == "prmt") && arithmetic_of_bits(steps, i)) return;
  if (name == "set" && set_word(steps, i)) return;
  if (depends_on_operands_alone(name)) return steps.opaque(i);
  if (name == "st" || name == "red") return;
  if (name == "bar" || name == "barrier" || name == "membar" || name == "fence" || name == "prefetch" ||
      name == "nanosleep") {
    if (op.has("red")) steps.unknown(i);
    return;
  }
  steps.unknown(i, reads_memory(op));
  if (writes_second(i)) steps.unknown(operand(i, 1));
}

/// A function's instructions, one after another, and its blocks.
class Lowering {
 public:
  Lowering(Module const& module, Function const& function, bool global, bool mbarriers)
      : function_(function), steps_(module, function) {
    steps_.lists_global = global, steps_.lists_mbarriers = mbarriers;
    steps_.lists_events = !mbarriers && may_wait(module, function);
    steps_.may_lock = std::any_of(function.body.begin(), function.body.end(), [](Instruction const& i) {
      return waits(i.opcode) && i.opcode.space != Space::shared;
    });
    if (!global)
      for (Variable& v : program_.symbols) v.points_to = 1;
  }

  Program run() {
    find_leaders();
    program_.makes_generic = std::any_of(function_.body.begin(), function_.body.end(), may_make_generic);
    if (fresh_registers() != 0) {  // what a caller gives
      Builder& build = steps_.build;
      build.opcode = ".reg";
      build.line = function_.line;
      for (std::uint32_t r = 0; r < fresh_registers(); ++r)
        build.assign(r, build.any(program_.widths[r], {}, true), program_.widths[r], std::nullopt);
    }
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      if (leader_[i] && !starts_empty()) begin_block();
      if (leader_[i]) block_of_[i] = current();
      instruction(function_.body[i], i);
    }
    program_.blocks.back().last = here();
    connect();
    return std::move(program_);
  }

 private:
  using Kind = Operand::Kind;

  // ------------------------------------------------------------------------------------- blocks

  static bool is_branch(Opcode const& op) { return op.name == "bra"; }
  static bool is_end(Opcode const& op) { return op.name == "ret" || op.name == "exit" || op.name == "trap"; }

  void find_leaders() {
    leader_.assign(function_.body.size() + 1, false);
    block_of_.assign(function_.body.size() + 1, 0);
    leader_[0] = true;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      Instruction const& in = function_.body[i];
      if (in.label != 0) {
        leader_[i] = true;
        label_at_.resize(std::max<std::size_t>(label_at_.size(), in.label), 0);
        label_at_[in.label - 1] = i;
      } else if (is_branch(in.opcode) || is_end(in.opcode) || in.opcode.name == "brx") {
        leader_[i + 1] = true;
      }
    }
    program_.blocks.emplace_back();
  }

  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(program_.steps.size()); }
  [[nodiscard]] std::uint32_t current() const {
    return static_cast<std::uint32_t>(program_.blocks.size() - 1);
  }
  /// True if the current block has neither instructions nor an end: a label may begin there. An instruction may have no steps.
  [[nodiscard]] bool starts_empty() const {
    bool const none = program_.instructions.empty() || program_.instructions.back().block != current();
    return program_.blocks.back().first == here() && none && !ended_;
  }

  void begin_block() {
    program_.blocks.back().last = here();
    if (!ended_) targets_.push_back({current(), false, current() + 1});
    ended_ = false;
    program_.blocks.emplace_back();
    program_.blocks.back().first = here();
  }

  /// Ends the block by a branch; with a guard it goes on with the next one otherwise.
  void branch(Instruction const& in, std::size_t index, std::int64_t label) {
    if (label >= 0) jumps_.push_back({current(), static_cast<std::size_t>(label)});
    branch(in.guard, in.guard_negated, index);
  }
  void branch(std::int32_t condition, bool negated, std::size_t index) {
    Block& block = program_.blocks.back();
    block.condition = condition;
    block.negated = negated;
    block.line = function_.body[index].line;
    block.end = static_cast<std::uint32_t>(index);
    ended_ = true;
    if (condition >= 0) targets_.push_back({current(), true, current() + 1});
    block.last = here();
    begin_block_after_end();
  }

  /// brx.idx: a block for each target but the last, which is left for it if the index is its number. An index behind the list is
  /// undefined behaviour; here it is the last one's.
  void indirect_branch(Instruction const& i, std::size_t at) {
    auto const is_label = [](Operand const& o) { return o.kind == Kind::symbol && o.reg != 0; };
    if (i.operands.size() < 2 || !std::all_of(i.operands.begin() + 1, i.operands.end(), is_label))
      return steps_.build.refuse("brx.idx needs a list of known labels before it, in its braces");
    if (i.operands.size() > 1 + most_targets)
      return steps_.build.refuse("brx.idx with more than 4,096 labels");
    if (i.operands[0].kind != Kind::reg) return steps_.build.refuse("the index of brx.idx is no register");
    auto const targets = static_cast<std::uint32_t>(i.operands.size() - 1);
    if (steps_.guard >= 0) {
      targets_.push_back({current(), false, current() + 1 + targets});
      branch(steps_.guard, !i.guard_negated, at);
      program_.blocks.back().goes_on = true;
    }
    steps_.guard = -1;
    Source const index = steps_.in(i.operands[0], 32);
    for (std::uint32_t k = 0; k < targets; ++k) {
      bool const last = k + 1 == targets;
      std::int32_t const is =
          last ? -1 : static_cast<std::int32_t>(steps_.emit(Action::equal, 1, index, constant(k)).value);
      jumps_.push_back({current(), i.operands[1 + k].reg - 1});
      branch(is, false, at);
      if (!last) program_.blocks.back().goes_on = true;
    }
  }
  void begin_block_after_end() {
    program_.blocks.emplace_back();
    program_.blocks.back().first = here();
    ended_ = false;
  }

  void connect() {
    auto const last = static_cast<std::int32_t>(program_.blocks.size());
    for (auto const& t : targets_)
      if (static_cast<std::int32_t>(t.to) < last) {
        Block& b = program_.blocks[t.from];
        (t.conditional ? b.next : b.taken) = static_cast<std::int32_t>(t.to);
      }
    for (auto const& j : jumps_)
      program_.blocks[j.from].taken = static_cast<std::int32_t>(block_of_[label_at_[j.label]]);
  }

  /// Parameters in registers, which come first.
  [[nodiscard]] std::uint32_t fresh_registers() const {
    std::uint32_t count = 0;
    for (auto const* list : {&function_.returned, &function_.params})
      for (Variable const& v : *list) count += v.space == Space::reg ? 1 : 0;
    return count;
  }

  // ------------------------------------------------------------------------------------- one instruction

  void instruction(Instruction const& i, std::size_t index) {
    if (leader_[index]) series_.end();
    if (i.label != 0) {
      block_of_[index] = current();
      return;
    }
    if (!steps_.begin(i)) return;
    if (is_branch(i.opcode)) return branch(i, index, static_cast<std::int64_t>(operand(i, 0).reg) - 1);
    if (is_end(i.opcode)) return branch(i, index, -1);
    if (i.opcode.name == "brx") return indirect_branch(i, index);
    std::uint32_t const first = here();
    std::size_t const accesses = program_.accesses.size();
    hold_back(steps_, i);
    dispatch(steps_, i);
    if (program_.accesses.size() == accesses || !writes_listed(i.opcode)) write_memory(steps_, i);
    std::uint32_t const series = series_.of(i);
    if (accesses < program_.accesses.size()) program_.accesses.back().series = series;
    program_.instructions.push_back({static_cast<std::uint32_t>(index), first, here(), current()});
  }

  struct Target {
    std::uint32_t from;
    bool conditional;
    std::uint32_t to;
  };
  struct Jump {
    std::uint32_t from;
    std::size_t label;
  };

  Function const& function_;
  Steps steps_;
  Program& program_ = steps_.build.program;
  std::vector<bool> leader_{};
  std::vector<std::uint32_t> block_of_{};
  std::vector<std::size_t> label_at_{};
  std::vector<Target> targets_{};
  std::vector<Jump> jumps_{};
  Series series_{};
  bool ended_ = false;
};

}  // namespace

Program lower(Module const& module, Function const& function, bool global, bool mbarriers) {
  return Lowering(module, function, global, mbarriers).run();
}

}  // namespace swizproof::ptx
