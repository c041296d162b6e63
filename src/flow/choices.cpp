// Branches and guards that data decide.
//
// If both ways of a branch only compute and access memory until they meet, both are executed: values that differ behind them are choices. The accesses are
// a superset of those of each execution, and threads are ordered as there. Elsewhere each value of the condition is a way of the block, which
// is followed to its end (decisions.hpp).
#include "block.hpp"
#include "execute.hpp"

#include <fmt/format.h>

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

/// Value of a condition by data, in this way of the block.
bool value_by_data(ClusterState& block, Name condition, std::uint32_t line, char const* what) {
  auto const text = [&] { return fmt::format("{} depends on data: {}", what, block.names.text(condition)); };
  if (block.decisions == nullptr || block.names.comes_from(condition, block.unwritten))
    throw FlowRefused{text(), line, true};
  auto const value = block.decisions->value(condition);
  if (!value)
    throw FlowRefused{fmt::format("{}; more than {} conditions on one way, or {} ways, are not followed",
                                  text(), Decisions::most_conditions, Decisions::most_ways),
                      line, true};
  block.by_data = true;
  return *value;
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

bool FlowKernel::accesses(std::uint32_t instruction) const {
  Decoded const& d = decoded[instruction];
  if (d.handler == Handler::load) return !d.strong;
  return (d.handler == Handler::store || d.handler == Handler::atomic) && !flags &&
         !(d.strong && d.handler != Handler::atomic);
}

std::optional<FlowKernel::Region> FlowKernel::region_of(std::int32_t branch) const {
  constexpr std::size_t most_blocks = 64;
  std::int32_t const join = flow.ipdom[static_cast<std::size_t>(branch)];
  if (join < 0 || chooses(static_cast<std::size_t>(branch))) return std::nullopt;
  std::vector<std::int32_t> work{program.blocks[static_cast<std::size_t>(branch)].taken,
                                 program.blocks[static_cast<std::size_t>(branch)].next},
      seen;
  Region region;
  std::vector<std::uint32_t>& out = region.results;
  while (!work.empty()) {
    std::int32_t const b = work.back();
    work.pop_back();
    if (b == join || std::find(seen.begin(), seen.end(), b) != seen.end()) continue;
    if (b < 0 || b == branch || seen.size() >= most_blocks || chooses(static_cast<std::size_t>(b)))
      return std::nullopt;
    seen.push_back(b);
    auto const [first, last] = ranges[static_cast<std::size_t>(b)];
    for (std::uint32_t n = first; n < last; ++n) {
      std::uint32_t const i = program.instructions[n].instruction;
      if (!computes(i) && !accesses(i)) return std::nullopt;
      region.accesses = region.accesses || (accesses(i) && decoded[i].space != program::Space::param);
      if (has_result(decoded[i], function.body[i]))
        each_result(function.body[i].operands[0], [&](std::uint32_t r) { out.push_back(r); });
    }
    program::Block const& block = program.blocks[static_cast<std::size_t>(b)];
    work.push_back(block.taken);
    if (block.condition >= 0) work.push_back(block.next);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return region;
}

/// Lanes whose predicate is a number that is true, and those that have data in it.
BlockRun::Truth BlockRun::truth(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask) const {
  Truth out;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(mask, lane)) continue;
    Word const& w = warp.registers[static_cast<std::size_t>(reg) * 32 + lane];
    auto const known =
        w.named != 0 && state_.decisions != nullptr ? state_.decisions->known(w.part[0] / 8) : std::nullopt;
    if (w.named != 0 && !known)
      out.named |= 1U << lane;
    else if ((known ? *known : w.number != 0) != negated)
      out.yes |= 1U << lane;
  }
  return out;
}

std::uint32_t BlockRun::decide(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask,
                               std::uint32_t line, char const* what) {
  std::uint32_t out = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(mask, lane)) continue;
    Word const& w = warp.registers[static_cast<std::size_t>(reg) * 32 + lane];
    bool const value = w.named == 0 ? w.number != 0 : value_by_data(state_, w.part[0] / 8, line, what);
    if (value != negated) out |= 1U << lane;
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
  std::uint32_t const outer = std::exchange(warp.doubtful, warp.doubtful | named);
  yes();
  each([&](Word& w) { first.push_back(w); });
  std::size_t i = 0;
  each([&](Word& w) { w = before[i++]; });
  no();
  warp.doubtful = outer;
  Now const now{block_of(warp),
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
  auto const region = state_.kernel.region_of(top.block);
  if (!region || (region->accesses && state_.decisions == nullptr)) return false;
  state_.by_data = state_.by_data || region->accesses;
  std::int32_t const join = state_.kernel.flow.ipdom[static_cast<std::size_t>(top.block)];
  std::uint32_t const no = top.mask & ~is.yes & ~is.named;
  choose(
      warp, line, block.condition, is.named, region->results,
      [&] { run_until(warp, is.yes | is.named, block.taken, join); },
      [&] { run_until(warp, no | is.named, block.next, join); });
  warp.paths.back().block = join, warp.paths.back().at = 0;
  return true;
}

bool BlockRun::guard_by_data(Now const& now, std::uint32_t named) {
  bool const accesses = state_.kernel.accesses(now.index) && state_.decisions != nullptr;
  if ((!state_.kernel.computes(now.index) && !accesses) || state_.kernel.asynchronous) return false;
  state_.by_data = state_.by_data || accesses;
  std::vector<std::uint32_t> results;
  if (has_result(now.decoded, now.in))
    each_result(now.in.operands[0], [&](std::uint32_t r) { results.push_back(r); });
  choose(
      now.warp, now.index, now.in.guard, named, results, [&] { (void)dispatch(now); }, [] {});
  return true;
}

}  // namespace swizproof::flow_detail
