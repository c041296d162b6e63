// Branches and guards that data decide: both ways are executed where they only compute, and what differs behind them is a choice.
#include "block.hpp"
#include "execute.hpp"

#include <algorithm>
#include <utility>

namespace swizproof::flow_detail {

namespace {

/// Calls fn(register) for the registers that an instruction writes.
template <class Fn>
void each_result(ptx::Operand const& o, Fn const& fn) {
  if (o.kind == ptx::Operand::Kind::reg) fn(o.reg);
  for (ptx::Operand const& p : o.parts) each_result(p, fn);
}

bool same(Word const& a, Word const& b) {
  return a.number == b.number && a.named == b.named && a.part == b.part;
}

}  // namespace

/// True for instructions that compute registers of their lane from registers of it.
bool FlowKernel::computes(std::uint32_t instruction) const {
  Decoded const& d = decoded[instruction];
  bool const in_lane = d.handler == Handler::steps || d.handler == Handler::real ||
                       d.handler == Handler::compare || d.handler == Handler::convert ||
                       d.handler == Handler::extreme;
  return d.handler == Handler::nothing || (in_lane && !d.has("sync") && !d.has("cc"));
}

/// Registers that are written between a branch and the block at which its ways meet, if they compute, end there and have no loop.
std::optional<std::vector<std::uint32_t>> FlowKernel::only_computes(std::int32_t branch) const {
  constexpr std::size_t most_blocks = 64;
  std::int32_t const join = flow.ipdom[static_cast<std::size_t>(branch)];
  if (join < 0 || chooses(static_cast<std::size_t>(branch))) return std::nullopt;
  std::vector<std::int32_t> work{program.blocks[static_cast<std::size_t>(branch)].taken,
                                 program.blocks[static_cast<std::size_t>(branch)].next},
      seen;
  std::vector<std::uint32_t> out;
  while (!work.empty()) {
    std::int32_t const b = work.back();
    work.pop_back();
    if (b == join || std::find(seen.begin(), seen.end(), b) != seen.end()) continue;
    bool const loops =
        b >= 0 && flow.loop[static_cast<std::size_t>(b)] != flow.loop[static_cast<std::size_t>(branch)];
    if (b < 0 || b == branch || loops || seen.size() >= most_blocks || chooses(static_cast<std::size_t>(b)))
      return std::nullopt;
    seen.push_back(b);
    auto const [first, last] = ranges[static_cast<std::size_t>(b)];
    for (std::uint32_t n = first; n < last; ++n) {
      std::uint32_t const i = program.instructions[n].instruction;
      if (!computes(i)) return std::nullopt;
      if (!function.body[i].operands.empty())
        each_result(function.body[i].operands[0], [&](std::uint32_t r) { out.push_back(r); });
    }
    program::Block const& block = program.blocks[static_cast<std::size_t>(b)];
    work.push_back(block.taken);
    if (block.condition >= 0) work.push_back(block.next);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Lanes whose predicate is a number that is true, and those that have data in it.
BlockRun::Truth BlockRun::truth(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask) const {
  Truth out;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(mask, lane)) continue;
    Word const& w = warp.registers[static_cast<std::size_t>(reg) * 32 + lane];
    if (w.named != 0)
      out.named |= 1U << lane;
    else if ((w.number != 0) != negated)
      out.yes |= 1U << lane;
  }
  return out;
}

/// Runs lanes from a block on until they come to another one.
void BlockRun::run_until(Warp& warp, std::uint32_t mask, std::int32_t block, std::int32_t join) {
  std::size_t const depth = warp.paths.size();
  if (mask != 0 && block != join) warp.paths.push_back({mask, block, 0, join});
  while (warp.paths.size() > depth) {
    Path const& top = warp.paths.back();
    if (top.mask == 0 || (top.join >= 0 && top.block == top.join)) {
      warp.paths.pop_back();
      continue;
    }
    (void)run_path(warp);
    branch(warp);
  }
}

/// Executes both ways, each for the lanes that go it and for those that data decide, and joins the results of these.
template <class Yes, class No>
void BlockRun::choose(Warp& warp, std::uint32_t line, std::int32_t condition, std::uint32_t named,
                      std::vector<std::uint32_t> const& results, Yes const& yes, No const& no) {
  std::vector<Word> before, first;
  auto const each = [&](auto const& fn) {
    for (std::uint32_t const r : results)
      for (unsigned lane = 0; lane < 32; ++lane)
        if (takes_part(named, lane)) fn(warp.registers[std::size_t{r} * 32 + lane]);
  };
  std::vector<Word> conditions;
  for (unsigned lane = 0; lane < 32; ++lane)
    conditions.push_back(warp.registers[static_cast<std::size_t>(condition) * 32 + lane]);
  each([&](Word& w) { before.push_back(w); });
  yes();
  each([&](Word& w) { first.push_back(w); });
  std::size_t i = 0;
  each([&](Word& w) { w = before[i++]; });
  no();
  Now const now{state_,
                warp,
                line,
                state_.kernel.function.body[line],
                state_.kernel.decoded[line],
                state_.kernel.program.instructions[0],
                named};
  i = 0;
  for (std::uint32_t const r : results)
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!takes_part(named, lane)) continue;
      Word& w = warp.registers[std::size_t{r} * 32 + lane];
      Word const& other = first[i++];
      if (!same(w, other)) w = now.choice(state_.kernel.program.widths[r], conditions[lane], other, w);
    }
}

bool BlockRun::branch_by_data(Warp& warp, std::uint32_t line) {
  Path const top = warp.paths.back();
  program::Block const& block = state_.kernel.program.blocks[static_cast<std::size_t>(top.block)];
  Truth const is = truth(warp, block.condition, block.negated, top.mask);
  if (is.named == 0 || line == ~0U || state_.kernel.asynchronous) return false;
  auto const results = state_.kernel.only_computes(top.block);
  if (!results) return false;
  std::int32_t const join = state_.kernel.flow.ipdom[static_cast<std::size_t>(top.block)];
  std::uint32_t const no = top.mask & ~is.yes & ~is.named;
  choose(
      warp, line, block.condition, is.named, *results,
      [&] { run_until(warp, is.yes | is.named, block.taken, join); },
      [&] { run_until(warp, no | is.named, block.next, join); });
  warp.paths.back().block = join, warp.paths.back().at = 0;
  return true;
}

bool BlockRun::guard_by_data(Now const& now, std::uint32_t named) {
  if (!state_.kernel.computes(now.index) || state_.kernel.asynchronous) return false;
  std::vector<std::uint32_t> results;
  if (!now.in.operands.empty())
    each_result(now.in.operands[0], [&](std::uint32_t r) { results.push_back(r); });
  choose(
      now.warp, now.index, now.in.guard, named, results, [&] { (void)dispatch(now); }, [] {});
  return true;
}

}  // namespace swizproof::flow_detail
