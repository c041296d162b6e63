#include "fixes.hpp"

#include "address_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::Warp;
using program::Event;
using program::MemoryAccess;
using program::OperandRole;
using program::SharedOperand;

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

/// The other instructions, and what the fixes of an array that they may access have to keep: 16 bytes together, or the modes of descriptors, or
/// the array as it is.
class Followers {
 public:
  Followers(ExecutedKernel& kernel, Arrays& arrays) : kernel_(kernel), arrays_(arrays) {}

  void run() {
    for (std::size_t i = 0; i < kernel_.program.accesses.size(); ++i)
      add_access(kernel_.program.accesses[i], kernel_.execution.accesses[i]);
    for (std::size_t i = 0; i < kernel_.program.operands.size(); ++i)
      add_operand(kernel_.program.operands[i], kernel_.execution.operands[i]);
    for (std::size_t i = 0; i < kernel_.program.events.size(); ++i)
      add_event(kernel_.program.events[i], kernel_.execution.events[i]);
  }

 private:
  using Symbols = std::set<std::uint32_t>;

  [[nodiscard]] bool is_executed(ExecutedAccess const& done) {
    if (!done.reached) return false;
    for (unsigned w = 0; w < kernel_.warps.count(); ++w)
      if (Warp& warp = kernel_.warps.plain(w); (warp.present() & ~warp.truth(done.guard).no) != 0)
        return true;
    return false;
  }

  [[nodiscard]] bool is_elsewhere(MemoryAccess const& m, Id address) const {
    std::uint32_t symbol = ~0U;
    Origins::Root const root = kernel_.origins.root_of(address, symbol);
    if (m.global || root == Origins::Root::shared) return m.global;
    return m.generic ? kernel_.origins.is_elsewhere(root, address)
                     : kernel_.origins.rooted_in_parameter(address);
  }

  /// Arrays that an address may be in; nothing if it may be any.
  [[nodiscard]] std::optional<Symbols> arrays_at(Id address) const {
    std::uint32_t symbol = ~0U;
    if (kernel_.origins.root_of(address, symbol) != Origins::Root::shared) return std::nullopt;
    Symbols all;
    for (Id const id : kernel_.origins.arrays_of({address})) all.insert(kernel_.origins.leaf_at(id)->extra);
    return all.empty() ? std::nullopt : std::optional(std::move(all));
  }

  void keep_together(std::optional<Symbols> const& symbols) {
    for (std::uint32_t s = 0; s < kernel_.program.symbols.size(); ++s)
      if (!symbols || symbols->contains(s)) arrays_.add_operand(s);
  }

  void exclude(MemoryAccess const& m, std::optional<Symbols> const& symbols) {
    std::string const why = fmt::format("{} at {} line {} may access it, and is not known to follow a fix",
                                        m.op, kernel_.program.language, m.line);
    for (std::uint32_t s = 0; s < kernel_.program.symbols.size(); ++s)
      if (!symbols || symbols->contains(s)) arrays_.exclude(s, why);
  }

  /// An access of one array at any offset in it can follow a fix which does not split its bytes.
  void add_access(MemoryAccess const& m, ExecutedAccess const& done) {
    if (!done.reached || is_elsewhere(m, done.address)) return;
    std::uint32_t symbol = ~0U;
    bool const follows = m.instruction &&
                         kernel_.origins.root_of(done.address, symbol) == Origins::Root::shared &&
                         symbol != ~0U && kernel_.origins.is_of_array(done.address, symbol);
    if (!follows && is_executed(done)) exclude(m, arrays_at(done.address));
  }

  void add_operand(SharedOperand const& o, ExecutedAccess const& done) {
    if (o.role == OperandRole::instruction || !is_executed(done)) return;
    auto const symbols = arrays_at(done.address);
    if (o.is_descriptor() || o.role == OperandRole::barrier) {
      if (symbols) keep_together(symbols);  // each mbarrier is initialised in its own block
    } else if (!o.tensor) {
      exclude(o.at, symbols);
    } else {
      keep_together(symbols);
      if (!symbols) return arrays_.add_descriptor("", DescriptorUse::swizzled);
      for (std::uint32_t const s : *symbols)
        arrays_.add_descriptor(short_name(kernel_.program.symbols[s].name), DescriptorUse::swizzled);
    }
  }

  void add_event(Event const& e, ExecutedAccess const& done) {
    static constexpr std::string_view listed[] = {"cp.", "multimem", "sust",
                                                  "sured"};  // or of no shared memory
    static constexpr std::string_view whole[] = {
        "mbarrier", "cp.async.mbarrier", "clusterlaunchcontrol", "tcgen05.commit", "SYNCS", "ARRIVES",
        "UTCBAR"};
    auto const is_one_of = [&](auto const& words) {
      return std::any_of(std::begin(words), std::end(words),
                         [&](std::string_view word) { return e.at.op.starts_with(word); });
    };
    bool const keeps_whole = is_one_of(whole);
    if ((e.kind != Event::Kind::write && e.kind != Event::Kind::poll) ||
        (!keeps_whole && is_one_of(listed)) || !is_executed(done) || is_elsewhere(e.at, done.address))
      return;
    auto const symbols = arrays_at(done.address);
    if (!keeps_whole) {
      if (kernel_.program.language == "PTX") exclude(e.at, symbols);
    } else if (symbols || e.at.op.starts_with("mbarrier.init")) {
      keep_together(symbols);
    }
  }

  ExecutedKernel& kernel_;
  Arrays& arrays_;
};

}  // namespace

void find_fixes(ExecutedKernel& kernel, Arrays& arrays, KernelReport& report) {
  Followers(kernel, arrays).run();
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
