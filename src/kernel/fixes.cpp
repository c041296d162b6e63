#include "fixes.hpp"

#include "address_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::Warp;

namespace {

constexpr std::uint64_t most_executions = 2048;  ///< of one access in one warp
constexpr std::size_t most_moves = 64;           ///< of one execution

/// Reason why an address is not known, in words: data, a parameter, the block's number, or an iteration.
std::string dependence_of(ExecutedKernel& kernel, Id term) {
  if (Origin const from = kernel.origins.origin(term); from.leaf != 0)
    return "its addresses depend on " + kernel.origins.text_of(from.leaf);
  for (Id const id : kernel.origins.leaves_of({term})) {
    Leaf const& l = *kernel.origins.leaf_at(id);
    std::string const name = text_of_term(kernel.program, kernel.execution, id);
    if (l.kind == Leaf::Kind::param)
      return fmt::format("its addresses depend on {0}: --param {0}=N gives it a value", name);
    if (l.kind == Leaf::Kind::special) return "its addresses depend on " + name;
  }
  return "its addresses depend on " + text_of_term(kernel.program, kernel.execution, term);
}

/// True if a term has other values only in other iterations of loops around an access whose number of iterations is not known. Of what a
/// launch or a block fixes, such as a parameter, each execution has one value, which is not known.
bool changes_in_open_loops(ExecutedKernel& kernel, Id term, unsigned warp, std::int32_t place) {
  auto const is_open = [&](std::int32_t loop) {
    for (auto at = place; at >= 0; at = kernel.flow.loops[static_cast<std::size_t>(at)].parent)
      if (at == loop)
        return kernel.iterations.count(warp, kernel.execution.counters[static_cast<std::size_t>(at)]) == 0;
    return false;
  };
  std::vector<Id> const leaves = kernel.origins.leaves_of({term});
  return std::all_of(leaves.begin(), leaves.end(), [&](Id id) {
    Leaf const& l = *kernel.origins.leaf_at(id);
    auto const first = static_cast<std::uint32_t>(program::Special::ctaid_x),
               last = static_cast<std::uint32_t>(program::Special::nctaid_z);
    bool const of_thread =
        l.kind == Leaf::Kind::special && !execution::is_uniform(l) && (l.extra < first || l.extra > last);
    return of_thread || ((l.kind == Leaf::Kind::counter || l.kind == Leaf::Kind::phi) && is_open(l.loop));
  });
}

/// Adds one execution of an access by these lanes. What all of them share next to the array's start may have a few values in a loop. Returns
/// why it cannot; else nothing.
std::string add_execution(ExecutedKernel& kernel, Arrays& arrays, ArrayAccess const& a, unsigned number,
                          Warp& warp, std::uint32_t active) {
  ExecutedAccess const& access = kernel.execution.accesses[a.index];
  Id const address = access.address;
  Lanes const v = warp.value(address, 32);
  if (v.state == Lanes::State::varying) {
    Origin const from = kernel.origins.origin_of_varying(warp, address, v.why);
    return "its addresses depend on " + kernel.origins.text_of(from.leaf);
  }
  if (!v.split()) return dependence_of(kernel, warp.request(v.why).atom);
  std::optional<Id> start;
  std::vector<std::uint64_t> moved{0};
  for (auto const& [atom, factor] : v.terms) {
    std::uint32_t root = ~0U;
    if (factor == 1 && !start && kernel.origins.root_of(atom, root) == Origins::Root::shared &&
        root == a.symbol) {
      start = atom;
      continue;
    }
    auto const few = kernel.origins.origin(atom).leaf == 0 ? warp.domain(atom, most_moves) : std::nullopt;
    if (!few || few->size() * moved.size() > most_moves ||
        (few->size() > 1 && !changes_in_open_loops(kernel, atom, number, access.loop)))
      return dependence_of(kernel, atom);
    std::vector<std::uint64_t> sums;
    for (std::uint64_t const m : moved)
      for (std::uint64_t const x : *few) sums.push_back(m + factor * x);
    moved = std::move(sums);
  }
  if (!start) return "its addresses take the array's start other than as a summand";
  bool const added = std::all_of(moved.begin(), moved.end(), [&](std::uint64_t by) {
    return arrays.add_execution(a, *start, v.lane, by, active);
  });
  return added ? "" : "its accesses are misaligned, or they are more than 16,384 different ones";
}

/// Adds all executions of an access by a warp, in each iteration of the loops around it whose number is known. Returns why one is not known, or
/// that they are too many; else nothing.
std::string add_executions(ExecutedKernel& kernel, Arrays& arrays, ArrayAccess const& a, unsigned number) {
  ExecutedAccess const& access = kernel.execution.accesses[a.index];
  std::vector<std::pair<Id, std::uint64_t>> loops;
  std::uint64_t count = 1;
  for (auto loop = access.loop; loop >= 0; loop = kernel.flow.loops[static_cast<std::size_t>(loop)].parent) {
    Id const counter = kernel.execution.counters[static_cast<std::size_t>(loop)];
    std::uint64_t const n = kernel.iterations.count(number, counter);
    if (n == 0) continue;
    loops.emplace_back(counter, n);
    count = std::min<std::uint64_t>(count * n, most_executions + 1);
  }
  if (count > most_executions) return fmt::format("a warp executes it more than {} times", most_executions);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (kernel.out_of_steps())
      return fmt::format("the limit of {} steps for one kernel", kernel.options.steps);
    std::vector<Assumption> now;
    std::uint64_t rest = i;
    std::uint32_t left = 0;
    for (auto const& [counter, size] : loops) {
      now.push_back({counter, false, 64, rest % size});
      left |= kernel.iterations.left_before(number, counter, rest % size);
      rest /= size;
    }
    Warp& warp = now.empty() ? kernel.warps.plain(number) : kernel.warps.under(number, now);
    LaneTruths const guard = warp.truth(access.guard);
    std::uint32_t const on = warp.present() & ~guard.no & ~left;
    if (on == 0) continue;
    if (a.instruction->matrices != 0 && on != ~0U)
      return "lanes are off in a matrix instruction, which is undefined";
    if (std::string why = add_execution(kernel, arrays, a, number, warp, on); !why.empty()) return why;
  }
  return {};
}

/// Adds the executions of an access by all warps; none if they are not all known.
bool add_or_leave_out(ExecutedKernel& kernel, Arrays& arrays, ArrayAccess const& a) {
  for (unsigned w = 0; w < kernel.warps.count(); ++w)
    if (std::string why = add_executions(kernel, arrays, a, w); !why.empty()) {
      arrays.leave_out(a, std::move(why));
      return false;
    }
  return true;
}

/// Adds the accesses of a series, which are sorted by their offsets: as vectors of 16 bytes, or of 8, where they are aligned.
void add_series(ExecutedKernel& kernel, Arrays& arrays, std::span<ArrayAccess const> series) {
  auto const offset = [&](ArrayAccess const& a) { return kernel.program.accesses[a.index].offset; };
  while (!series.empty()) {
    ArrayAccess vector = series[0];
    std::size_t taken = 1;
    for (std::uint32_t const bytes : {16U, 8U}) {
      std::size_t const n = bytes / series[0].bytes;
      if (n < 2 || n > series.size() || kernel.program.symbols[vector.symbol].align < bytes) continue;
      bool neighbours = true;
      for (std::size_t i = 1; i < n; ++i)
        neighbours = neighbours && offset(series[i]) == offset(series[0]) + i * series[0].bytes;
      vector.instruction->bytes = vector.bytes = bytes;
      if (!neighbours || !add_or_leave_out(kernel, arrays, vector)) continue;
      arrays.join(vector, series.first(n));
      taken = n;
      break;
    }
    if (taken == 1) (void)add_or_leave_out(kernel, arrays, series[0]);
    series = series.subspan(taken);
  }
}

}  // namespace

void find_fixes(ExecutedKernel& kernel, Arrays& arrays, KernelReport& report) {
  for (ExecutedAccess const& o : kernel.execution.operands) {
    std::uint32_t symbol = ~0U;
    if (o.reached && kernel.origins.root_of(o.address, symbol) == Origins::Root::shared)
      arrays.add_operand(symbol);
  }
  for (KernelOperand const& o : report.operands)
    if (o.what.starts_with("descriptor"))
      arrays.add_descriptor(
          o.array, o.descriptor && o.descriptor->mode == 0 ? DescriptorUse::plain : DescriptorUse::swizzled);
  std::map<std::uint32_t, std::vector<ArrayAccess>> series;  // by number
  for (ArrayAccess const& a : arrays.to_search()) {
    std::uint32_t const number = kernel.program.accesses[a.index].series;
    if (number == 0)
      (void)add_or_leave_out(kernel, arrays, a);
    else
      series[number].push_back(a);
  }
  for (auto& [number, all] : series) {
    std::stable_sort(all.begin(), all.end(), [&](ArrayAccess const& a, ArrayAccess const& b) {
      return static_cast<std::int64_t>(kernel.program.accesses[a.index].offset) <
             static_cast<std::int64_t>(kernel.program.accesses[b.index].offset);
    });
    add_series(kernel, arrays, all);
  }
  report.fixes = arrays.fixes(*kernel.options.arch);
  report.vectors = arrays.vectors(*kernel.options.arch);
  report.unfixed = arrays.unfixed(report.fixes, report.vectors);
}

}  // namespace swizproof::kernel_detail
