#include "race_intervals.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace swizproof::kernel_detail {

using program::Action;
using program::Block;
using program::Flow;
using program::Program;

namespace {

/// Numbers of the operands of a barrier: its name, and of how many threads.
struct BarrierForm {
  bool whole = false;
  std::string why{};
};

bool is_immediate(ptx::Operand const& o) { return o.kind == ptx::Operand::Kind::immediate; }

/// bar.sync and barrier.sync of the whole block; with a reduction, too. [PTX ISA 9.1: bar, barrier]
BarrierForm form_of(ptx::Instruction const& i, std::uint64_t threads) {
  if (i.guard >= 0) return {false, "a barrier has a guard"};
  if (i.opcode.has("arrive")) return {false, "bar.arrive is not modelled"};
  std::size_t const name = i.opcode.has("red") ? 1 : 0;
  if (i.operands.size() <= name || !is_immediate(i.operands[name]))
    return {false, "a barrier's number is no constant"};
  std::size_t const rest = i.operands.size() - name - 1;
  bool const counted = i.opcode.has("red") ? rest > 1 : rest > 0;
  if (!counted) return {true, {}};
  ptx::Operand const& count = i.operands[name + 1];
  if (is_immediate(count) && threads != 0 && count.value == threads) return {true, {}};
  return {false, "a barrier of a part of the block is not modelled"};
}

/// Instructions that order accesses in another way than barriers of the whole block do.
bool is_other_order(ptx::Opcode const& op) {
  return op.name == "mbarrier" || (op.name == "barrier" && op.has("cluster")) ||
         (op.name == "cp" && (op.has("wait_group") || op.has("wait_all"))) || op.has("acquire") ||
         op.has("release") || op.has("acq_rel");
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

}  // namespace

Barriers barriers_of(ptx::Function const& function, Program const& lowered, Program const& program,
                     std::uint64_t threads) {
  Barriers out;
  for (program::LoweredInstruction const& at : lowered.instructions) {
    ptx::Instruction const& i = function.body[at.instruction];
    if (is_other_order(i.opcode)) out.other = std::string(i.opcode.text) + " is not modelled";
    if (i.opcode.name != "bar" && (i.opcode.name != "barrier" || i.opcode.has("cluster"))) continue;
    bool const warp = i.opcode.has("warp");
    if (warp) {
      bool const all = i.guard < 0 && i.operands.size() == 1 && is_immediate(i.operands[0]) &&
                       (i.operands[0].value & 0xffffffff) == 0xffffffff;
      if (!all) out.other = "a barrier of some lanes of a warp is not modelled";
      if (!all) continue;
    } else if (BarrierForm const form = form_of(i, threads); !form.whole) {
      out.broken = form.why;
      continue;
    }
    for (std::uint32_t const block : copies_of(at.block, lowered, program))
      (warp ? out.of_warp : out.of_block).push_back({block, at.first, i.line});
  }
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

class IntervalSearch {
 public:
  IntervalSearch(Program const& program, Flow const& flow, std::vector<BarrierAt> const& barriers)
      : program_(program), flow_(flow), closed_(loops_with(flow, barriers)), ends_(program.blocks.size()) {
    for (BarrierAt const& b : barriers) ends_[b.block].push_back(b.step);
    for (std::vector<std::uint32_t>& steps : ends_) std::sort(steps.begin(), steps.end());
  }

  std::vector<std::vector<Visit>> run() {
    std::vector<std::vector<Visit>> out{from({flow_.order[0], 0, turns_of(flow_.order[0], Turn::first)})};
    for (std::uint32_t const b : flow_.order)
      for (std::uint32_t n = 1; n <= ends_[b].size(); ++n)
        out.push_back(from({b, n, turns_of(b, Turn::same)}));
    return out;
  }

 private:
  [[nodiscard]] std::vector<Turn> turns_of(std::uint32_t block, Turn turn) const {
    std::vector<Turn> out;
    for (std::int32_t const l : flow_.around(flow_.loop[block]))
      out.push_back(closed_[static_cast<std::size_t>(l)] ? turn : Turn::any);
    return out;
  }

  [[nodiscard]] std::vector<Visit> from(BlockPart start) const {
    std::set<Visit> visits;
    std::set<BlockPart> seen;
    std::vector<BlockPart> work{std::move(start)};
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
      for (std::uint32_t const to : program::successors(block)) work.push_back(over(at, to));
    }
    return {visits.begin(), visits.end()};
  }

  [[nodiscard]] BlockPart over(BlockPart const& at, std::uint32_t to) const {
    BlockPart out{to, 0, {}};
    std::map<std::int32_t, Turn> had;
    std::size_t k = 0;
    for (std::int32_t const l : flow_.around(flow_.loop[at.block])) had[l] = at.turns[k++];
    for (std::int32_t const l : flow_.around(flow_.loop[to])) {
      auto const before = had.find(l);
      Turn turn = before == had.end() ? Turn::first : before->second;
      if (before != had.end() && flow_.loops[static_cast<std::size_t>(l)].header == to)
        turn = turn == Turn::same ? Turn::next : turn == Turn::first ? Turn::second : Turn::any;
      out.turns.push_back(closed_[static_cast<std::size_t>(l)] ? turn : Turn::any);
    }
    return out;
  }

  Program const& program_;
  Flow const& flow_;
  std::vector<bool> closed_;
  std::vector<std::vector<std::uint32_t>> ends_;  ///< by block: steps before which a barrier is
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

bool has_access(Program const& program, std::uint32_t block) {
  Block const& b = program.blocks[block];
  return std::any_of(program.steps.begin() + b.first, program.steps.begin() + b.last,
                     [](program::Step const& s) { return s.action == Action::access; });
}

}  // namespace

std::vector<std::vector<Visit>> intervals_of(Program const& program, Flow const& flow,
                                             std::vector<BarrierAt> const& barriers) {
  return IntervalSearch(program, flow, barriers).run();
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
