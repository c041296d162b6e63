#include <swizproof/program/control_flow.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace swizproof::program {

namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

/// Reverse postorder from `start`, by a stack of its own.
std::vector<std::uint32_t> reverse_postorder(Lists const& next, std::uint32_t start) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(next.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{start, 0}};
  seen[start] = true;
  while (!stack.empty()) {
    auto& [block, at] = stack.back();
    if (at < next[block].size()) {
      std::uint32_t const to = next[block][at++];
      if (!seen[to]) seen[to] = true, stack.push_back({to, 0});
    } else {
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// Immediate dominators by Cooper, Harvey and Kennedy.
std::vector<std::int32_t> dominators(Lists const& before, std::vector<std::uint32_t> const& order,
                                     std::vector<std::int32_t> const& number) {
  std::vector<std::int32_t> idom(before.size(), -1);
  std::uint32_t const start = order.front();
  idom[start] = static_cast<std::int32_t>(start);
  auto const meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = static_cast<std::uint32_t>(idom[a]);
      while (number[b] > number[a]) b = static_cast<std::uint32_t>(idom[b]);
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t const block : order) {
      if (block == start) continue;
      std::int32_t found = -1;
      for (std::uint32_t const p : before[block])
        if (number[p] >= 0 && idom[p] >= 0)
          found = found < 0 ? static_cast<std::int32_t>(p)
                            : static_cast<std::int32_t>(meet(static_cast<std::uint32_t>(found), p));
      if (found != idom[block]) idom[block] = found, changed = true;
    }
  }
  idom[start] = -1;
  return idom;
}

void find_postdominators(Program const& program, Lists const& next, Flow& flow) {
  std::size_t const n = program.blocks.size();
  Lists back(n + 1), forth(n + 1);  // block n is the end
  for (std::uint32_t const b : flow.order) {
    for (std::uint32_t const s : next[b]) back[s].push_back(b), forth[b].push_back(s);
    Block const& block = program.blocks[b];
    bool const ends = block.taken < 0 || (block.condition >= 0 && block.next < 0);
    if (ends) back[n].push_back(b), forth[b].push_back(static_cast<std::uint32_t>(n));
  }
  std::vector<std::uint32_t> const order = reverse_postorder(back, static_cast<std::uint32_t>(n));
  std::vector<std::int32_t> number(n + 1, -1);
  for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<std::int32_t>(i);
  std::vector<std::int32_t> const ipdom = dominators(forth, order, number);
  flow.ipdom.assign(n, -1);
  for (std::uint32_t const b : flow.order)
    flow.ipdom[b] = ipdom[b] == static_cast<std::int32_t>(n) ? -1 : ipdom[b];
}

/// Blocks of the loop with this header and these latches.
std::vector<bool> body_of(Flow const& flow, std::uint32_t header, std::vector<std::uint32_t> const& latches) {
  std::vector<bool> in(flow.idom.size(), false);
  in[header] = true;
  std::vector<std::uint32_t> work = latches;
  while (!work.empty()) {
    std::uint32_t const b = work.back();
    work.pop_back();
    if (in[b]) continue;
    in[b] = true;
    for (std::uint32_t const p : flow.before[b]) work.push_back(p);
  }
  return in;
}

void find_loops(Lists const& next, Flow& flow) {
  // Headers in the order of blocks: an outer loop's header comes before an inner one's.
  for (std::uint32_t const header : flow.order) {
    Loop loop;
    loop.header = header;
    for (std::uint32_t const p : flow.before[header]) {
      if (flow.number[p] < flow.number[header]) continue;
      if (!flow.dominates(header, p))
        flow.reducible = false;
      else
        loop.latches.push_back(p);
    }
    if (loop.latches.empty()) continue;
    std::vector<bool> const in = body_of(flow, header, loop.latches);
    auto const index = static_cast<std::int32_t>(flow.loops.size());
    loop.parent = flow.loop[header];
    loop.depth = loop.parent < 0 ? 1 : flow.loops[static_cast<std::size_t>(loop.parent)].depth + 1;
    for (std::uint32_t b = 0; b < in.size(); ++b) {
      if (!in[b]) continue;
      flow.loop[b] = index;
      for (std::uint32_t const s : next[b])
        if (!in[s]) loop.exits.push_back({b, s});
    }
    flow.loops.push_back(std::move(loop));
  }
}

/// Blocks to which lanes that a branch or a loop parted come before all of them meet, and all that these dominate.
void find_apart(Program const& program, Flow& flow) {
  auto const branch_of = [&](std::uint32_t block) {  // the targets of one branch are one way
    while (program.blocks[block].goes_on && flow.before[block].size() == 1)
      block = static_cast<std::uint32_t>(flow.idom[block]);
    return block;
  };
  auto const is_apart = [&](std::uint32_t b) {
    std::uint32_t at = branch_of(static_cast<std::uint32_t>(flow.idom[b]));
    bool leaves = false;  // a loop, each lane in its iteration
    for (std::int32_t const l : flow.around(flow.loop[at])) {
      if (flow.within(b, l)) break;
      at = flow.loops[static_cast<std::size_t>(l)].header, leaves = true;
    }
    if (leaves && flow.idom[at] >= 0 && flow.always_follows(b, at))
      return static_cast<bool>(flow.apart[static_cast<std::size_t>(flow.idom[at])]);
    std::set<std::uint32_t> ways;
    for (std::uint32_t const p : flow.before[b]) {
      if (flow.number[p] < flow.number[b])
        ways.insert(branch_of(p));
      else if (flow.apart[p])  // lanes of one iteration begin the next one apart
        return true;
    }
    return flow.apart[at] || ((leaves || ways.size() > 1) && !flow.always_follows(b, at));
  };
  flow.apart.assign(flow.idom.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t const b : flow.order)
      if (flow.idom[b] >= 0 && !flow.apart[b] && is_apart(b)) flow.apart[b] = changed = true;
  }
}

}  // namespace

std::vector<std::uint32_t> successors(Block const& block) {
  std::vector<std::uint32_t> out;
  if (block.taken >= 0) out.push_back(static_cast<std::uint32_t>(block.taken));
  if (block.condition >= 0 && block.next >= 0 && block.next != block.taken)
    out.push_back(static_cast<std::uint32_t>(block.next));
  return out;
}

bool Flow::dominates(std::uint32_t a, std::uint32_t b) const {
  while (number[b] > number[a] && idom[b] >= 0) b = static_cast<std::uint32_t>(idom[b]);
  return a == b;
}

bool Flow::postdominates(std::uint32_t b, std::uint32_t a) const {
  for (std::int32_t at = static_cast<std::int32_t>(a); at >= 0; at = ipdom[static_cast<std::size_t>(at)])
    if (static_cast<std::uint32_t>(at) == b) return true;
  return false;
}

bool Flow::always_follows(std::uint32_t b, std::uint32_t a) const {
  if (!postdominates(b, a)) return false;
  std::vector<std::uint32_t> work;
  std::vector<bool> seen;
  for (std::int32_t const l : around(loop[a])) {
    if (a == b || !within(b, l)) continue;
    Loop const& both = loops[static_cast<std::size_t>(l)];
    for (std::uint32_t const latch : both.latches)
      if (!dominates(b, latch)) work.push_back(latch);
    seen.resize(idom.size()), seen[both.header] = true;
    if (a == both.header && !work.empty()) return false;
  }
  // Back from these latches to `a`, within the iteration.
  while (!work.empty()) {
    std::uint32_t const at = work.back();
    work.pop_back();
    if (at == a) return false;
    if (at == b || seen[at]) continue;
    seen[at] = true;
    work.insert(work.end(), before[at].begin(), before[at].end());
  }
  return true;
}

bool Flow::within(std::uint32_t block, std::int32_t loop_index) const {
  return loop_index < 0 || encloses(loop_index, loop[block]);
}

bool Flow::encloses(std::int32_t outer, std::int32_t inner) const {
  for (std::int32_t const l : around(inner))
    if (l == outer) return true;
  return false;
}

Flow flow_of(Program const& program) {
  std::size_t const n = program.blocks.size();
  Lists next(n);
  for (std::size_t b = 0; b < n; ++b) next[b] = successors(program.blocks[b]);
  Flow flow;
  flow.order = reverse_postorder(next, 0);
  flow.number.assign(n, -1);
  for (std::size_t i = 0; i < flow.order.size(); ++i)
    flow.number[flow.order[i]] = static_cast<std::int32_t>(i);
  flow.before.resize(n);
  for (std::uint32_t const b : flow.order)
    for (std::uint32_t const s : next[b]) flow.before[s].push_back(b);
  flow.idom = dominators(flow.before, flow.order, flow.number);
  flow.loop.assign(n, -1);
  find_postdominators(program, next, flow);
  find_loops(next, flow);
  find_apart(program, flow);
  return flow;
}

namespace {

bool may_copy(Program const& program, Block const& block) {
  return std::none_of(
      program.steps.begin() + block.first, program.steps.begin() + block.last, [&](Step const& s) {
        if (s.action == Action::event) return !program.events[s.extra].meets();
        return s.action == Action::access || s.action == Action::operand || s.action == Action::varying ||
               s.action == Action::voted || s.action == Action::shuffle;
      });
}

/// Blocks that are reached from one without its immediate dominator.
std::vector<bool> reached(Lists const& next, std::uint32_t from, std::int32_t without) {
  std::vector<bool> seen(next.size(), false);
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    std::uint32_t const b = work.back();
    work.pop_back();
    if (seen[b] || static_cast<std::int32_t>(b) == without) continue;
    seen[b] = true;
    work.insert(work.end(), next[b].begin(), next[b].end());
  }
  return seen;
}

/// A block of a loop with several entries, to which an edge leads back that it does not dominate.
std::int32_t irreducible_block(Flow const& flow) {
  for (std::uint32_t const b : flow.order)
    for (std::uint32_t const p : flow.before[b])
      if (flow.number[p] >= flow.number[b] && !flow.dominates(b, p)) return static_cast<std::int32_t>(b);
  return -1;
}

/// Copies an entry of the loop around `block` for the ways that come from without; false if none can be copied.
bool copy_entry(Program& program, Flow const& flow, std::uint32_t block) {
  Lists next(program.blocks.size());
  for (std::uint32_t const b : flow.order) next[b] = successors(program.blocks[b]);
  std::vector<bool> const forth = reached(next, block, flow.idom[block]),
                          back = reached(flow.before, block, flow.idom[block]);
  auto const within = [&](std::uint32_t b) { return forth[b] && back[b]; };
  std::vector<std::uint32_t> entries;
  for (std::uint32_t const b : flow.order)
    if (within(b) && !std::all_of(flow.before[b].begin(), flow.before[b].end(), within)) entries.push_back(b);
  // Copied is the one that leads to the fewest blocks that are no entries yet: they become ones.
  auto const costs = [&](std::uint32_t b) {
    std::uint32_t fresh = 0;
    for (std::uint32_t const to : next[b])
      if (within(to) && std::find(entries.begin(), entries.end(), to) == entries.end()) ++fresh;
    Block const& one = program.blocks[b];
    return std::tuple(!may_copy(program, one), fresh, one.last - one.first);
  };
  auto const found =
      std::min_element(entries.begin(), entries.end(), [&](auto a, auto b) { return costs(a) < costs(b); });
  if (entries.size() < 2 || !may_copy(program, program.blocks[*found])) return false;
  std::uint32_t const entry = *found;
  auto const copy = static_cast<std::int32_t>(program.blocks.size());
  for (std::uint32_t const b : flow.before[entry]) {
    if (within(b)) continue;
    Block& from = program.blocks[b];
    if (from.taken == static_cast<std::int32_t>(entry)) from.taken = copy;
    if (from.next == static_cast<std::int32_t>(entry)) from.next = copy;
  }
  Block fresh = program.blocks[entry];
  fresh.copied = true;
  program.blocks.push_back(fresh);
  return true;
}

}  // namespace

Program with_one_entry(Program program) {
  constexpr unsigned most_copies = 64;
  for (unsigned n = 0; n < most_copies; ++n) {
    Flow const flow = flow_of(program);
    if (flow.reducible || !copy_entry(program, flow, static_cast<std::uint32_t>(irreducible_block(flow))))
      break;
  }
  return program;
}

}  // namespace swizproof::program
