#include "race_lifetimes.hpp"

#include "path_value.hpp"

#include <algorithm>
#include <iterator>

namespace swizproof::kernel_detail {

using program::Action;
using program::Flow;
using program::MemoryAccess;
using program::Program;
using program::Source;
using program::Step;

namespace {

constexpr std::int64_t no_writer = -1, several_writers = -2;
constexpr unsigned most_depth = 60;  ///< steps that a guard is computed by, one behind the other

using Accesses = std::set<std::uint32_t>;

/// The first access of both sets.
std::optional<std::uint32_t> common(Accesses const& a, Accesses const& b) {
  for (std::uint32_t const x : a)
    if (b.count(x) != 0) return x;
  return std::nullopt;
}

}  // namespace

Lifetimes::Lifetimes(Program const& program, Flow const& flow, std::vector<BarrierAt> const& barriers)
    : program_(program),
      places_(program.accesses.size()),
      barriers_(program.blocks.size()),
      accesses_(program.blocks.size()),
      writer_(program.widths.size(), no_writer) {
  for (BarrierAt const& b : barriers) barriers_[b.block].push_back(b.step);
  for (std::vector<std::uint32_t>& of : barriers_) std::sort(of.begin(), of.end());
  for (std::uint32_t const b : flow.order)
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s)
      if (program.steps[s].action == Action::access) {
        places_[program.steps[s].extra].push_back({b, s});
        accesses_[b].push_back(s);
      }
  for (std::uint32_t s = 0; s < program.steps.size(); ++s)
    if (std::int32_t const r = program.steps[s].dst; r >= 0) {
      std::int64_t& writer = writer_[static_cast<std::size_t>(r)];
      writer = writer == no_writer ? std::int64_t{s} : several_writers;
    }
}

std::set<std::uint32_t> Lifetimes::walk(std::uint32_t access, Accesses const& stops, bool to_barrier) const {
  Accesses out;
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<Place> work;
  for (Place const& p : places_[access]) work.push_back({p.block, p.step + 1});
  while (!work.empty()) {
    auto const [block, first] = work.back();
    work.pop_back();
    std::vector<std::uint32_t> const& steps = accesses_[block];
    std::vector<std::uint32_t> const& barriers = barriers_[block];
    auto const barrier = std::lower_bound(barriers.begin(), barriers.end(), first);
    std::uint32_t const end = to_barrier && barrier != barriers.end() ? *barrier : ~0U;
    bool goes_on = end == ~0U;
    for (auto s = std::lower_bound(steps.begin(), steps.end(), first); s != steps.end() && *s < end; ++s) {
      std::uint32_t const met = program_.steps[*s].extra;
      out.insert(met);
      if (stops.count(met) == 0) continue;
      goes_on = false;
      break;
    }
    if (!goes_on) continue;
    for (std::uint32_t const to : program::successors(program_.blocks[block]))
      if (!seen[to]) seen[to] = true, work.push_back({to, program_.blocks[to].first});
  }
  return out;
}

std::set<std::uint32_t> Lifetimes::behind(std::uint32_t access, Accesses const& stops) const {
  return walk(access, stops, false);
}

bool Lifetimes::is_used_again(MbarrierUse const& use) const {
  return use.inits.size() > 1 || std::any_of(use.inits.begin(), use.inits.end(),
                                             [&](std::uint32_t a) { return behind(a, {}).count(a) != 0; });
}

std::optional<Lifetimes::Defect> Lifetimes::defect(MbarrierUse const& use, OneThread const& one) const {
  Accesses once, others = use.invals;
  for (auto const* const all : {&use.arrivals, &use.copies})
    for (auto const& [access, bytes] : *all) once.insert(access);
  others.insert(once.begin(), once.end()), others.insert(use.waits.begin(), use.waits.end());
  for (std::uint32_t const a : use.invals)
    if (auto const later = common(behind(a, use.inits), others))
      return Defect{op(*later) + " may be behind an mbarrier.inval", *later};
  for (std::uint32_t const a : once)
    if (behind(a, use.inits).count(a) != 0)
      return Defect{"an mbarrier of several phases is not modelled: " + op(a) + " is in a loop", a};
  for (std::uint32_t const init : use.inits) {
    Accesses const life = behind(init, use.inits);
    std::uint64_t arrivals = 0, expected = 0, copied = 0;
    for (auto const& [a, bytes] : use.arrivals) {
      if (life.count(a) == 0) continue;
      if (++arrivals > 1) return Defect{"several arrivals at an mbarrier are not modelled: " + op(a), a};
      expected = bytes;
    }
    for (auto const& [a, bytes] : use.copies) copied += life.count(a) != 0 ? bytes : 0;
    if (copied > expected)
      return Defect{"bulk copies bring " + std::to_string(copied) + " bytes, " + std::to_string(expected) +
                        " are expected",
                    init};
  }
  return is_used_again(use) ? defect_again(use, once, one) : std::nullopt;
}

/// Premises 2 and 3, and thread 0 of 1.
std::optional<Lifetimes::Defect> Lifetimes::defect_again(MbarrierUse const& use, Accesses const& once,
                                                         OneThread const& one) const {
  Accesses uses = once;
  uses.insert(use.waits.begin(), use.waits.end());
  for (Accesses const* const all : {&use.inits, &use.invals})
    for (std::uint32_t const a : *all)
      if (!is_of_thread_0(a))
        return Defect{"an mbarrier is used again, but thread 0 may not execute " + op(a), a};
  for (std::uint32_t const init : use.inits) {
    if (auto const later = common(behind(init, use.invals), use.inits))
      return Defect{"an mbarrier is initialised again without mbarrier.inval: " + op(*later), *later};
    for (std::uint32_t const later : walk(init, {}, true))
      if (uses.count(later) != 0 && !one({init, later}))
        return Defect{"no barrier of the block may be between mbarrier.init and " + op(later), later};
  }
  for (std::uint32_t const a : uses)
    if (auto const later = common(walk(a, {}, true), use.inits))
      return Defect{"no barrier of the block may be between " + op(a) + " and mbarrier.init", *later};
  return std::nullopt;
}

std::vector<BarrierAt> Lifetimes::events(MbarrierUse const& use) const {
  std::vector<BarrierAt> out;
  for (Accesses const* const all : {&use.inits, &use.invals})
    for (std::uint32_t const a : *all)
      for (Place const& p : places_[a]) out.push_back({p.block, p.step, program_.accesses[a].line, 0});
  return out;
}

bool Lifetimes::is_of_thread_0(std::uint32_t access) const {
  MemoryAccess const& m = program_.accesses[access];
  if (m.guard < 0) return true;
  auto const guard = of_thread_0({false, static_cast<std::uint64_t>(m.guard)}, most_depth);
  return guard && ((*guard & 1) != 0) != m.guard_negated;
}

/// The number of a register in thread 0, if its one writer computes it from constants and the thread's number.
std::optional<std::uint64_t> Lifetimes::of_thread_0(Source const& source, unsigned depth) const {
  if (source.constant) return source.value;
  std::int64_t const writer = writer_[source.value];
  if (writer < 0 || depth == 0) return std::nullopt;
  Step const& s = program_.steps[static_cast<std::size_t>(writer)];
  if (s.action == Action::special && s.extra <= static_cast<std::uint32_t>(program::Special::tid_z)) return 0;
  if (!program::computes(s.action)) return std::nullopt;
  PathValue from[3];
  for (std::size_t k = 0; k < 3; ++k) {
    Source const& one = k == 0 ? s.a : k == 1 ? s.b : s.c;
    auto const number = of_thread_0(one, depth - 1);
    if (!number) return std::nullopt;
    from[k] = path_number(*number);
  }
  PathValue const out = result_on_path(s, from[0], from[1], from[2]);
  return out.constant() ? std::optional(out.least) : std::nullopt;
}

}  // namespace swizproof::kernel_detail
