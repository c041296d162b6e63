#include "race_intervals.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace swizproof::kernel_detail {

using program::Action;
using program::Block;
using program::Flow;
using program::MemoryAccess;
using program::Program;

bool is_async_proxy(Group group) {
  return group == Group::wgmma || group == Group::phase || group == Group::bulk;
}

Group group_of(ptx::Opcode const& op) {
  if (op.name == "wgmma") return Group::wgmma;
  if (op.name != "cp" || op.has("mbarrier::complete_tx::bytes")) return Group::none;
  return op.has("bulk") ? Group::bulk : Group::copy;
}

namespace {

/// Numbers of the operands of a barrier: its name, and of how many threads.
struct BarrierForm {
  bool whole = false;
  std::string why{};
  std::optional<std::uint64_t> number{};
  bool counts = false;                   ///< it has a count
  std::optional<std::uint64_t> count{};  ///< of a wait for a part of the block
};

bool is_immediate(ptx::Operand const& o) { return o.kind == ptx::Operand::Kind::immediate; }

/// The number of an operand: an immediate, or a register that is written once, by a mov of one.
std::optional<std::uint64_t> number_of(ptx::Function const& function, ptx::Operand const& o) {
  if (is_immediate(o)) return o.value;
  if (o.kind != ptx::Operand::Kind::reg) return std::nullopt;
  ptx::Instruction const* writer = nullptr;
  for (ptx::Instruction const& i : function.body) {
    auto const is_it = [&](ptx::Operand const& to) {
      return to.kind == ptx::Operand::Kind::reg && to.reg == o.reg;
    };
    bool const reads = (i.opcode.name == "bar" || i.opcode.name == "barrier") && !i.opcode.has("red");
    std::size_t const written =
        reads ? 0 : std::min<std::size_t>(i.operands.size(), writes_second(i) ? 2 : 1);
    if (std::none_of(i.operands.begin(), i.operands.begin() + static_cast<std::ptrdiff_t>(written),
                     [&](ptx::Operand const& to) {
                       return is_it(to) || std::any_of(to.parts.begin(), to.parts.end(), is_it);
                     }))
      continue;
    if (writer != nullptr || i.opcode.name != "mov" || i.guard >= 0) return std::nullopt;
    writer = &i;
  }
  if (writer == nullptr || writer->operands.size() != 2 || !is_immediate(writer->operands[1]))
    return std::nullopt;
  return writer->operands[1].value;
}

/// bar.sync and barrier.sync of the whole block; with a reduction, too. [PTX ISA 9.1: bar, barrier]
BarrierForm form_of(ptx::Function const& function, ptx::Instruction const& i, std::uint64_t threads) {
  std::size_t const name = i.opcode.has("red") ? 1 : 0;
  auto const named = i.operands.size() <= name ? std::nullopt : number_of(function, i.operands[name]);
  if (!named) return {false, "a barrier's number is no constant", {}};
  std::uint64_t const number = *named;
  if (i.guard >= 0) return {false, "a barrier has a guard", number};
  if (i.opcode.has("arrive")) return {false, "bar.arrive is not modelled", number};
  std::size_t const rest = i.operands.size() - name - 1;
  bool const counted = i.opcode.has("red") ? rest > 1 : rest > 0;
  if (!counted) return {true, {}, number};
  if (number_of(function, i.operands[name + 1]) == threads) return {true, {}, number, true};
  return {false, "a barrier of a part of the block is not modelled", number, false,
          number_of(function, i.operands[name + 1])};
}

/// Instructions that order accesses in another way than barriers of the whole block, and flags (race_flags.hpp), do.
bool is_other_order(ptx::Opcode const& op) {
  bool const flag = op.name == "ld" || op.name == "st" || op.name == "atom" || op.name == "red" ||
                    (op.name == "fence" && !op.has("proxy") && !op.has("mbarrier_init"));
  return op.name == "mbarrier" || (op.name == "tcgen05" && (op.has("mma") || op.has("cp"))) ||
         (op.name == "cp" && op.has("bulk") && op.has("wait_group")) ||
         (!flag && (op.has("acquire") || op.has("release") || op.has("acq_rel")));
}

/// Adds a commit of a group, a wait or a proxy fence that is executed for certain.
void add_order(ptx::Instruction const& i, BarrierAt const& at, Barriers& out) {
  ptx::Opcode const& op = i.opcode;
  if (i.guard >= 0) return;
  if (op.name == "fence" && op.has("proxy") && op.has("async") && !op.has("global")) out.fences.push_back(at);
  Group const group = group_of(op);
  if (group == Group::none) return;
  if (op.has("commit_group")) out.copies.push_back({at, group, true, 0});
  if (op.has("wait_all")) out.copies.push_back({at, group, false, CopyOrder::all});
  if (op.has("wait_group") && !i.operands.empty() && is_immediate(i.operands[0]))
    out.copies.push_back(
        {at, group, false, static_cast<std::uint32_t>(std::min<std::uint64_t>(i.operands[0].value, 1000))});
}

/// Blocks of the program that are this block of the lowered one: itself, and copies of it.
std::vector<std::uint32_t> copies_of(std::uint32_t block, Program const& lowered, Program const& program) {
  std::vector<std::uint32_t> out{block};
  Block const& own = lowered.blocks[block];
  for (std::size_t b = lowered.blocks.size(); b < program.blocks.size(); ++b) {
    Block const& other = program.blocks[b];
    if (other.first == own.first && other.last == own.last && other.line == own.line &&
        other.condition == own.condition)
      out.push_back(static_cast<std::uint32_t>(b));
  }
  return out;
}

/// barrier.cluster.arrive, and barrier.cluster.wait behind it in one block with no access between: they hold all threads of the cluster, and
/// order their accesses [PTX ISA 9.1, barrier.cluster].
bool is_cluster_barrier(ptx::Function const& function, Program const& lowered,
                        program::LoweredInstruction const& arrive, program::LoweredInstruction const& wait) {
  ptx::Instruction const &first = function.body[arrive.instruction], &last = function.body[wait.instruction];
  auto const is = [](ptx::Instruction const& i, std::string_view part) {
    return i.opcode.name == "barrier" && i.opcode.has("cluster") && i.opcode.has(part) &&
           !i.opcode.has("relaxed") && i.guard < 0;
  };
  return is(first, "arrive") && is(last, "wait") && arrive.block == wait.block &&
         std::none_of(lowered.steps.begin() + arrive.first, lowered.steps.begin() + wait.last,
                      [](program::Step const& s) { return s.action == Action::access; });
}

/// The instruction of a list with a step before or behind this one, which is a barrier of the cluster with it.
bool begins_cluster_barrier(ptx::Function const& function, Program const& lowered,
                            program::LoweredInstruction const& at) {
  auto const index = static_cast<std::size_t>(&at - lowered.instructions.data());
  for (std::size_t k = index + 1; k < lowered.instructions.size(); ++k)
    if (function.body[lowered.instructions[k].instruction].opcode.name == "barrier")
      return is_cluster_barrier(function, lowered, at, lowered.instructions[k]);
  return false;
}
bool ends_cluster_barrier(ptx::Function const& function, Program const& lowered,
                          program::LoweredInstruction const& at) {
  auto const index = static_cast<std::size_t>(&at - lowered.instructions.data());
  for (std::size_t k = index; k-- > 0;)
    if (function.body[lowered.instructions[k].instruction].opcode.name == "barrier")
      return is_cluster_barrier(function, lowered, lowered.instructions[k], at);
  return false;
}

}  // namespace

Barriers barriers_of(ptx::Function const& function, Program const& lowered, Program const& program,
                     std::uint64_t threads, bool smaller) {
  Barriers out;
  std::set<std::uint64_t> whole, partial;  // numbers of barriers
  for (program::LoweredInstruction const& at : lowered.instructions) {
    ptx::Instruction const& i = function.body[at.instruction];
    if (is_other_order(i.opcode)) out.other = std::string(i.opcode.text) + " is not modelled";
    if (i.opcode.name == "fence" || group_of(i.opcode) != Group::none)
      for (std::uint32_t const block : copies_of(at.block, lowered, program))
        add_order(i, {block, at.first, i.line, at.instruction}, out);
    bool const cluster = i.opcode.name == "barrier" && i.opcode.has("cluster");
    if (cluster && !ends_cluster_barrier(function, lowered, at)) {
      if (!begins_cluster_barrier(function, lowered, at))
        out.other = std::string(i.opcode.text) + " is not modelled";
      continue;
    }
    if (i.opcode.name != "bar" && i.opcode.name != "barrier") continue;
    bool const warp = i.opcode.has("warp");
    if (warp) {
      bool const all = i.guard < 0 && i.operands.size() == 1 && is_immediate(i.operands[0]) &&
                       (i.operands[0].value & 0xffffffff) == 0xffffffff;
      if (!all) out.other = "a barrier of some lanes of a warp is not modelled";
      if (!all) continue;
    } else if (!cluster) {
      BarrierForm const form = form_of(function, i, threads);
      // A smaller block does not pass it: a proof holds for it, too, and an execution would not.
      if (form.counts && smaller) out.other = "a barrier that counts the largest block";
      if (!form.number) out.broken = form.why;
      if (!form.whole) out.partial = form.why;
      if (form.number) (form.whole ? whole : partial).insert(*form.number);
      if (!form.whole && form.number) {
        NamedBarrier& named = out.named[*form.number];
        if (named.at.empty() || named.count != form.count)
          named.count = named.at.empty() ? form.count : std::nullopt;
        for (std::uint32_t const block : copies_of(at.block, lowered, program))
          named.at.push_back({block, at.first, i.line, at.instruction});
      }
      if (!form.whole) continue;
    }
    for (std::uint32_t const block : copies_of(at.block, lowered, program))
      (warp ? out.of_warp : out.of_block).push_back({block, at.first, i.line, at.instruction});
  }
  for (std::uint64_t const number : partial)
    if (whole.count(number) != 0) out.broken = out.partial;
  return out;
}

std::vector<bool> loops_with(Flow const& flow, std::vector<BarrierAt> const& barriers) {
  std::vector<bool> out(flow.loops.size(), false);
  for (BarrierAt const& b : barriers)
    for (std::int32_t const l : flow.around(flow.loop[b.block])) out[static_cast<std::size_t>(l)] = true;
  return out;
}

namespace {

/// A part of a block between its barriers, with the iterations of the loops around it.
struct BlockPart {
  std::uint32_t block = 0, number = 0;
  std::vector<Turn> turns{};
  friend bool operator<(BlockPart const& a, BlockPart const& b) {
    return std::tie(a.block, a.number, a.turns) < std::tie(b.block, b.number, b.turns);
  }
};

constexpr std::uint8_t most_turns_of_interval = 1, most_turns_of_copy = 8;
constexpr std::uint32_t most_commits = 32;
constexpr std::size_t most_condition_nodes = 200;
constexpr std::uint32_t elected_thread = ~0U;  ///< instead of a node

/// A barrier, a commit, a wait or a fence in a block; those of one step in the order of the text.
struct OrderEvent {
  enum class Kind : std::uint8_t { barrier, commit, wait, fence } kind = Kind::barrier;
  std::uint32_t step = 0, instruction = 0, pending = 0;
  Group group = Group::none;
};

class IntervalSearch {
 public:
  /// `all`: the turns of all loops are followed, also of those without a barrier.
  IntervalSearch(Program const& program, Flow const& flow, std::vector<BarrierAt> const& barriers,
                 std::vector<CopyOrder> const& copies, bool all, std::vector<FixedBranch> const& fixed,
                 std::vector<BarrierAt> const& fences = {}, Phases phases = {})
      : program_(program),
        flow_(flow),
        closed_(loops_with(flow, barriers)),
        events_(program.blocks.size()),
        fixed_(fixed),
        phases_(std::move(phases)) {
    if (all) closed_.assign(closed_.size(), true);
    using Kind = OrderEvent::Kind;
    for (BarrierAt const& b : barriers) events_[b.block].push_back({Kind::barrier, b.step, b.instruction});
    for (BarrierAt const& b : fences) events_[b.block].push_back({Kind::fence, b.step, b.instruction});
    for (CopyOrder const& c : copies)
      events_[c.at.block].push_back(
          {c.commit ? Kind::commit : Kind::wait, c.at.step, c.at.instruction, c.pending, c.group});
    for (std::vector<OrderEvent>& events : events_)
      std::sort(events.begin(), events.end(), [](OrderEvent const& a, OrderEvent const& b) {
        return std::pair(a.step, a.instruction) < std::pair(b.step, b.instruction);
      });
    for (std::vector<OrderEvent> const& events : events_) {
      std::vector<std::uint32_t>& ends = ends_.emplace_back();
      for (OrderEvent const& e : events)
        if (e.kind == OrderEvent::Kind::barrier) ends.push_back(e.step);
    }
  }

  std::vector<Interval> run() {
    std::vector<Interval> out;
    each_start([&](BlockPart const& start) { out.push_back(interval(start)); });
    return out;
  }

  /// Accesses of a copy's own thread before the wait for it.
  std::vector<std::pair<Visit, Visit>> own() {
    std::vector<std::pair<Visit, Visit>> out;
    each_access([&](std::uint32_t b, std::uint32_t s, MemoryAccess const& m) {
      if (group_of(m) == Group::none || phases_.of_access.count(program_.steps[s].extra) != 0) return;
      Visit const copy{program_.steps[s].extra, turns_of(b, {Turn::From::barrier})};
      for (Visit const& v : follow(copy, b, s).own) out.emplace_back(copy, v);
    });
    return out;
  }

  /// Accesses of the generic proxy, and later ones with `is_one` true, with no fence between.
  template <class Is>
  std::vector<std::pair<Visit, Visit>> unfenced(Is const& is_one) {
    std::vector<std::pair<Visit, Visit>> out;
    to_fence_ = true;
    each_access([&](std::uint32_t b, std::uint32_t s, MemoryAccess const& m) {
      if (is_async_proxy(group_of(m))) return;
      Visit const first{program_.steps[s].extra, turns_of(b, {Turn::From::barrier})};
      for (Visit const& v : follow(first, b, s).own)
        if (is_one(program_.accesses[v.access])) out.emplace_back(first, v);
    });
    return out;
  }

  /// Bulk copies, and accesses that no wait for their phase is before. `intervals`: those of an interval, too, in any order.
  std::vector<std::pair<Visit, Visit>> before_phases(bool intervals) {
    std::vector<std::pair<Visit, Visit>> out;
    each_access([&](std::uint32_t b, std::uint32_t s, MemoryAccess const& m) {
      if (phases_.of_access.count(program_.steps[s].extra) == 0) return;
      Visit const copy{program_.steps[s].extra, turns_of(b, {Turn::From::barrier})};
      for (Visit const& v : follow(copy, b, s).own) out.emplace_back(copy, v);
    });
    if (intervals)
      each_start([&](BlockPart const& start) {
        for (Visit const& copy : *from(start)) {
          if (phases_.of_access.count(copy.access) == 0) continue;
          for (Visit const& v : *before_wait(start, copy))
            if (phases_.of_access.count(v.access) == 0 || holds(*before_wait(start, v), copy))
              out.emplace_back(copy, v);
        }
      });
    return out;
  }

 private:
  /// A thread behind an access that it executed.
  struct CopyState {
    std::uint32_t block = 0, step = 0;  ///< the next one
    std::vector<Turn> turns{};
    std::uint32_t commits = 0;
    bool waited = false;
    /// An order for sets; written out, for libc++ 14 has no operator<=> of vectors.
    bool operator<(CopyState const& o) const {
      return std::tie(block, step, turns, commits, waited) <
             std::tie(o.block, o.step, o.turns, o.commits, o.waited);
    }
  };
  struct Pending {
    std::set<BlockPart> starts{};  ///< barriers that are passed before the wait
    std::set<Visit> own{};
    bool ends = false;  ///< a thread ends before a barrier behind the wait
  };

  /// Calls fn for the beginning of each interval.
  template <class Fn>
  void each_start(Fn const& fn) {
    fn(BlockPart{flow_.order[0], 0, turns_of(flow_.order[0], {Turn::From::entry})});
    for (std::uint32_t const b : flow_.order)
      for (std::uint32_t n = 1; n <= ends_[b].size(); ++n)
        fn(BlockPart{b, n, turns_of(b, {Turn::From::barrier})});
  }
  /// Accesses of an interval that no wait for the phase of a bulk copy is before.
  Interval::Visits before_wait(BlockPart const& start, Visit const& copy) {
    return from(start, phases_.of_access.at(copy.access));
  }
  static bool holds(std::vector<Visit> const& visits, Visit const& one) {
    return std::any_of(visits.begin(), visits.end(),
                       [&](Visit const& v) { return !(v < one) && !(one < v); });
  }
  [[nodiscard]] bool waits(std::uint32_t from, std::uint32_t to, std::optional<std::uint64_t> phase) const {
    return phase && phases_.waits.count({from, to, *phase}) != 0;
  }

  /// Calls fn(block, step, access) for each.
  template <class Fn>
  void each_access(Fn const& fn) const {
    for (std::uint32_t const b : flow_.order)
      for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
        if (program_.steps[s].action == Action::access) fn(b, s, program_.accesses[program_.steps[s].extra]);
  }

  [[nodiscard]] std::vector<Turn> turns_of(std::uint32_t block, Turn turn) const {
    std::vector<Turn> out;
    for (std::int32_t const l : flow_.around(flow_.loop[block]))
      out.push_back(closed_[static_cast<std::size_t>(l)] ? turn : Turn{});
    return out;
  }

  Interval interval(BlockPart const& start) {
    Interval out;
    out.visits = from(start);
    for (Visit const& v : *out.visits) {
      if (group_of(program_.accesses[v.access]) == Group::none || phases_.of_access.count(v.access) != 0)
        continue;
      Pending const& pending = pending_of(v);
      out.ends = out.ends || pending.ends;
      for (BlockPart const& at : pending.starts) out.later.emplace_back(v, from(at));
    }
    return out;
  }

  Pending const& pending_of(Visit const& copy) {
    auto const [at, fresh] = pending_.try_emplace(copy);
    if (fresh)
      each_access([&, &all = at->second](std::uint32_t b, std::uint32_t s, MemoryAccess const&) {
        if (program_.steps[s].extra != copy.access) return;
        Pending one = follow(copy, b, s);
        all.starts.merge(one.starts);
        all.ends = all.ends || one.ends;
      });
    return at->second;
  }

  /// All paths of a thread from a copy to the barrier behind the wait for it, or from an access to the fence behind it.
  Pending follow(Visit const& copy, std::uint32_t block, std::uint32_t step) const {
    Pending out;
    Group const group = group_of(program_.accesses[copy.access]);
    auto const phase = phases_.of_access.find(copy.access);
    std::optional<std::uint64_t> const awaited =
        phase == phases_.of_access.end() ? std::nullopt : std::optional(phase->second);
    std::map<std::uint32_t, bool> const facts = facts_at(block);
    std::set<CopyState> seen;
    std::vector<CopyState> work{{block, step + 1, copy.turns, 0, group == Group::none && !awaited}};
    while (!work.empty()) {
      CopyState at = std::move(work.back());
      work.pop_back();
      if (!seen.insert(at).second || passes_block(at, group, out)) continue;
      Block const& b = program_.blocks[at.block];
      out.ends = out.ends || b.taken < 0 || (b.condition >= 0 && b.next < 0);
      for (std::uint32_t const to : program::successors(b)) {
        if (waits(at.block, to, awaited) || !may_take(facts, at.block, to)) continue;
        BlockPart next = over({at.block, 0, at.turns}, to, most_turns_of_copy);
        work.push_back({to, program_.blocks[to].first, std::move(next.turns), at.commits, at.waited});
      }
    }
    return out;
  }

  /// The truth with which a fixed branch goes to a block.
  [[nodiscard]] bool truth_to(std::uint32_t from, std::uint32_t to) const {
    return (program_.blocks[from].taken == static_cast<std::int32_t>(to)) != program_.blocks[from].negated;
  }
  [[nodiscard]] bool is_fixed(std::uint32_t block) const {
    Block const& b = program_.blocks[block];
    return block < fixed_.size() && fixed_[block].truth != 0 && b.condition >= 0 && b.taken != b.next;
  }
  /// Truths of the thread that comes to a block, by node.
  [[nodiscard]] std::map<std::uint32_t, bool> facts_at(std::uint32_t block) const {
    std::map<std::uint32_t, bool> out;
    for (auto b = static_cast<std::int32_t>(block); flow_.idom[static_cast<std::size_t>(b)] >= 0;) {
      auto const to = static_cast<std::uint32_t>(b);
      b = flow_.idom[to];
      auto const from = static_cast<std::uint32_t>(b);
      if (from == to) break;
      if (flow_.before[to].size() == 1 && is_fixed(from))
        out[fixed_[from].truth] = truth_to(from, to) != fixed_[from].negated;
    }
    return out;
  }
  [[nodiscard]] bool may_take(std::map<std::uint32_t, bool> const& facts, std::uint32_t from,
                              std::uint32_t to) const {
    if (!is_fixed(from)) return true;
    auto const known = facts.find(fixed_[from].truth);
    return known == facts.end() || truth_to(from, to) == (known->second != fixed_[from].negated);
  }

  /// Follows a thread to the end of its block; true if it comes to the barrier behind the wait, or to the fence.
  bool passes_block(CopyState& at, Group group, Pending& out) const {
    std::uint32_t number = 0, step = at.step;
    auto const visit = [&](std::uint32_t to) {
      for (; step < to && (!at.waited || to_fence_); ++step)
        if (program_.steps[step].action == Action::access)
          out.own.insert({program_.steps[step].extra, at.turns});
    };
    for (OrderEvent const& e : events_[at.block]) {
      number += e.kind == OrderEvent::Kind::barrier ? 1 : 0;
      if (e.step < at.step) continue;
      visit(e.step);
      if (passes(e, group, at)) return true;
      if (e.kind == OrderEvent::Kind::barrier) out.starts.insert({at.block, number, at.turns});
    }
    visit(program_.blocks[at.block].last);
    return false;
  }

  /// True for the event that ends the search.
  bool passes(OrderEvent const& e, Group group, CopyState& at) const {
    using Kind = OrderEvent::Kind;
    if (e.kind == (to_fence_ ? Kind::fence : Kind::barrier)) return at.waited;
    if (e.group != group) return false;
    if (e.kind == Kind::commit) at.commits = std::min(at.commits + 1, most_commits);
    if (e.kind == Kind::wait) at.waited = at.waited || e.pending == CopyOrder::all || at.commits > e.pending;
    return false;
  }

  /// Accesses behind a barrier and before the next one, and before a wait for a phase if it is given.
  Interval::Visits from(BlockPart const& start, std::optional<std::uint64_t> phase = {}) {
    Interval::Visits& known = from_[{start, phase}];
    if (known) return known;
    std::set<Visit> visits;
    std::set<BlockPart> seen;
    std::vector<BlockPart> work{start};
    std::uint8_t most = most_turns_of_interval;
    for (Turn const& turn : start.turns)
      most = std::max(most, static_cast<std::uint8_t>(turn.by + most_turns_of_interval));
    while (!work.empty()) {
      BlockPart const at = std::move(work.back());
      work.pop_back();
      if (!seen.insert(at).second) continue;
      Block const& block = program_.blocks[at.block];
      std::vector<std::uint32_t> const& ends = ends_[at.block];
      bool const to_barrier = at.number < ends.size();
      std::uint32_t const first = at.number == 0 ? block.first : ends[at.number - 1];
      std::uint32_t const last = to_barrier ? ends[at.number] : block.last;
      for (std::uint32_t s = first; s < last; ++s)
        if (program_.steps[s].action == Action::access) visits.insert({program_.steps[s].extra, at.turns});
      if (to_barrier) continue;
      for (std::uint32_t const to : program::successors(block))
        if (!waits(at.block, to, phase)) work.push_back(over(at, to, most));
    }
    return known = std::make_shared<std::vector<Visit> const>(visits.begin(), visits.end());
  }

  /// `most`: a turn that lies further behind is any.
  [[nodiscard]] BlockPart over(BlockPart const& at, std::uint32_t to, std::uint8_t most) const {
    BlockPart out{to, 0, {}};
    std::map<std::int32_t, Turn> had;
    std::size_t k = 0;
    for (std::int32_t const l : flow_.around(flow_.loop[at.block])) had[l] = at.turns[k++];
    for (std::int32_t const l : flow_.around(flow_.loop[to])) {
      auto const before = had.find(l);
      Turn turn = before == had.end() ? Turn{Turn::From::entry} : before->second;
      if (before != had.end() && flow_.loops[static_cast<std::size_t>(l)].header == to &&
          turn.from != Turn::From::any)
        turn = turn.by < most ? Turn{turn.from, static_cast<std::uint8_t>(turn.by + 1)} : Turn{};
      out.turns.push_back(closed_[static_cast<std::size_t>(l)] ? turn : Turn{});
    }
    return out;
  }

  Program const& program_;
  Flow const& flow_;
  std::vector<bool> closed_;
  std::vector<std::vector<OrderEvent>> events_;     ///< by block
  std::vector<std::vector<std::uint32_t>> ends_{};  ///< by block: steps before which a barrier is
  std::vector<FixedBranch> const& fixed_;
  Phases phases_;
  std::map<std::pair<BlockPart, std::optional<std::uint64_t>>, Interval::Visits> from_{};
  std::map<Visit, Pending> pending_{};
  bool to_fence_ = false;  ///< paths end at a fence.proxy.async, not at a barrier
};

/// Blocks that are reached from some others without passing `stop` (-1: none).
std::vector<bool> reached_from(Program const& program, std::vector<std::uint32_t> work, std::int32_t stop) {
  std::vector<bool> seen(program.blocks.size(), false);
  while (!work.empty()) {
    std::uint32_t const b = work.back();
    work.pop_back();
    if (seen[b] || static_cast<std::int32_t>(b) == stop) continue;
    seen[b] = true;
    for (std::uint32_t const to : program::successors(program.blocks[b])) work.push_back(to);
  }
  return seen;
}

/// True for: this lane is the one that elect.sync elects among all lanes, which is one lane each time [PTX ISA 9.1, elect.sync].
bool is_elected(Program const& program, execution::Execution const& execution, Node const& n) {
  if (n.op != Op::eq) return false;
  execution::Leaf const *leader = execution.leaf_at(n.a), *lane = execution.leaf_at(n.b);
  if (leader == nullptr || lane == nullptr) return false;
  if (leader->kind == execution::Leaf::Kind::special) std::swap(leader, lane);
  return elects(program, *leader) && lane->kind == execution::Leaf::Kind::special &&
         lane->extra == static_cast<std::uint32_t>(program::Special::laneid) &&
         execution.node(leader->args[0]).op == Op::constant &&
         execution.node(leader->args[0]).value == low_bits(32);
}

bool has_access(Program const& program, std::uint32_t block) {
  Block const& b = program.blocks[block];
  return std::any_of(program.steps.begin() + b.first, program.steps.begin() + b.last,
                     [](program::Step const& s) { return s.action == Action::access; });
}

}  // namespace

Group group_of(MemoryAccess const& access) {
  if (access.op.starts_with("wgmma")) return Group::wgmma;
  if (access.op.find(".bulk_group") != std::string::npos) return Group::bulk;
  if (access.op.starts_with("cp.async.bulk") || access.op.starts_with("clusterlaunchcontrol") ||
      access.op.starts_with("tcgen05.mma") || access.op.starts_with("tcgen05.cp"))
    return Group::phase;
  return access.instruction && access.instruction->operation == Operation::cp_async ? Group::copy
                                                                                    : Group::none;
}

std::vector<FixedBranch> fixed_branches(Program const& program, execution::Execution const& execution) {
  using Kind = execution::Leaf::Kind;
  std::vector<FixedBranch> out(program.blocks.size());
  for (std::size_t b = 0; b < out.size(); ++b) {
    if (program.blocks[b].condition < 0) continue;
    FixedBranch one{execution.conditions[b], false};
    while (execution.node(one.truth).op == Op::negation) one = {execution.node(one.truth).a, !one.negated};
    if (is_elected(program, execution, execution.node(one.truth))) {
      out[b] = {elected_thread, one.negated};
      continue;
    }
    Walk walk(one.truth, most_condition_nodes);
    bool fixed = true;
    while (auto const id = walk.next()) {
      walk.add(operands(execution.node(*id)));
      execution::Leaf const* const l = execution.leaf_at(*id);
      fixed = fixed &&
              (l == nullptr || (l->kind == Kind::special && !is_uniform(*l)) || l->kind == Kind::symbol ||
               l->kind == Kind::param || (l->kind == Kind::shuffle && l->loop < 0));
    }
    if (fixed && !walk.over()) out[b] = one;
  }
  return out;
}

std::vector<Interval> intervals_of(Program const& program, Flow const& flow,
                                   std::vector<BarrierAt> const& barriers, Barriers const& all) {
  return IntervalSearch(program, flow, barriers, all.copies, false, all.fixed, {}, all.phases).run();
}

std::vector<std::pair<Visit, Visit>> own_accesses(Program const& program, Flow const& flow,
                                                  Barriers const& barriers) {
  return IntervalSearch(program, flow, {}, barriers.copies, true, barriers.fixed, {}, barriers.phases).own();
}

std::vector<std::pair<Visit, Visit>> unfenced(Program const& program, Flow const& flow,
                                              Barriers const& barriers, bool own) {
  return IntervalSearch(program, flow, own ? std::vector<BarrierAt>{} : barriers.of_block, barriers.copies,
                        own, {}, barriers.fences)
      .unfenced([](MemoryAccess const& m) { return is_async_proxy(group_of(m)); });
}

std::set<std::uint32_t> unfenced_arrivals(Program const& program, Flow const& flow,
                                          Barriers const& barriers) {
  std::set<std::uint32_t> out;
  for (auto const& [first, arrival] :
       IntervalSearch(program, flow, {}, barriers.copies, true, {}, barriers.fences)
           .unfenced([](MemoryAccess const& m) { return m.op.find(".arrive") != std::string::npos; }))
    out.insert(first.access);
  return out;
}

std::vector<std::pair<Visit, Visit>> before_phases(Program const& program, Flow const& flow,
                                                   Barriers const& barriers, bool own) {
  return IntervalSearch(program, flow, own ? std::vector<BarrierAt>{} : barriers.of_block, {}, own, {}, {},
                        barriers.phases)
      .before_phases(!own);
}

Deciding deciding_branches(Program const& program, Flow const& flow, std::vector<BarrierAt> const& barriers) {
  std::vector<bool> event(program.blocks.size(), false), quiet(program.blocks.size(), true);
  for (BarrierAt const& b : barriers) event[b.block] = true;
  std::vector<bool> const closed = loops_with(flow, barriers);
  for (std::size_t l = 0; l < closed.size(); ++l)
    if (closed[l]) event[flow.loops[l].header] = true;
  for (std::uint32_t const b : flow.order) quiet[b] = !has_access(program, b);
  Deciding out;
  for (std::uint32_t const b : flow.order) {
    Block const& block = program.blocks[b];
    if (block.condition < 0 || block.taken == block.next) continue;
    auto const meets_event = [&](std::vector<bool> const& region) {
      for (std::uint32_t const other : flow.order)
        if (region[other] && event[other]) return true;
      return false;
    };
    if (!meets_event(reached_from(program, program::successors(block), flow.ipdom[b]))) continue;
    bool leaves = false;
    for (std::int32_t const side : {block.taken, block.next}) {
      std::vector<bool> const region = side < 0
                                           ? std::vector<bool>(program.blocks.size(), false)
                                           : reached_from(program, {static_cast<std::uint32_t>(side)}, -1);
      bool harmless = !meets_event(region);
      for (std::uint32_t const other : flow.order) harmless = harmless && (!region[other] || quiet[other]);
      leaves = leaves || harmless;
    }
    (leaves ? out.leaves : out.blocks).push_back(b);
  }
  return out;
}

}  // namespace swizproof::kernel_detail
