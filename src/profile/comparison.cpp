#include "profile/comparison.hpp"

#include "parse/pattern.hpp"

#include <swizproof/hardware/counter.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace swizproof {

namespace {

/// True if the counter shows no more than the cost model in any case (H11); false where there are too many cases to look at.
bool counts_as_cycles(Placement const& placement) {
  Instruction const& i = placement.instruction();
  if (!counted_above_law(i)) return true;
  if (placement.assignments() > most_cases) return false;
  bool all = true;
  for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
    all = all && counted(i, placement.warp(values, std::uint64_t{0})) != Counted::bounded;
  });
  return all;
}

}  // namespace

bool speaks_of(std::string const& expression, std::initializer_list<std::string_view> names) {
  if (expression.empty()) return true;
  Pattern const pattern(expression, "kernel");
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return pattern.found_in(name); });
}

ProvedAccesses prove_accesses(std::vector<Obligation> const& obligations, Limits const& limits) {
  ProvedAccesses out;
  for (Obligation const& o : obligations) {
    auto const* const hold = std::get_if<AccessesHold>(&o.what);
    if (hold == nullptr) continue;
    for (Placement const& placement : hold->placements) {
      AccessVerdict const v = check(placement, {hold->at_most, hold->align, o.arch, limits});
      std::string const name = o.name + ": " + placement.access().name;
      if (auto const* unknown = std::get_if<Unknown>(&v.outcome))
        out.left_out.push_back(name + ": " + unknown->reason);
      else if (v.misfit || v.wavefronts == 0)
        out.left_out.push_back(name + ": it does not fit its tile");
      else
        out.proved.push_back({o.name, o.kernel, placement.access().name, placement.instruction(),
                              v.wavefronts, counts_as_cycles(placement), &placement, v.base_step});
    }
  }
  return out;
}

Compared compare(Measurement const& measured, std::vector<ProvedAccess> const& proved) {
  Compared out;
  if (!measured.instruction && measured.operations.empty()) {
    out.comparison = measured.atomic ? Comparison::atomic : Comparison::not_modelled;
    return out;
  }
  std::vector<Executed> all = measured.operations;
  if (measured.instruction) all = {{measured.instruction->operation, measured.executed}};
  bool countable = true, covered = true;
  std::set<std::uint64_t> exactly{0};  // what all that ran costs, if each is one of its candidates
  for (auto const& [operation, times] : all) {
    unsigned most = 0;
    std::set<std::uint64_t> with_this;
    for (ProvedAccess const& p : proved) {
      bool const kind = measured.instruction ? p.instruction == *measured.instruction
                                             : p.instruction.operation == operation;
      if (!kind || !speaks_of(p.kernel, {measured.kernel, measured.kernel_as_written})) continue;
      out.candidates.push_back(&p);
      most = std::max(most, p.wavefronts);
      countable = countable && p.counts_as_cycles;
      for (std::uint64_t const sum : exactly) with_this.insert(sum + p.wavefronts * times);
    }
    covered = covered && most != 0;
    exactly = std::move(with_this);
    out.most = std::max(out.most, most);
    out.allowed += (most == 0 ? warp_lanes : most) * times;
  }
  if (out.candidates.empty()) return out;
  if (measured.wavefronts > out.allowed)
    out.comparison = measured.shared_with_others || !countable ? Comparison::noisy : Comparison::above;
  else if (covered)
    out.comparison = exactly.contains(measured.wavefronts) ? Comparison::as_proved : Comparison::below;
  return out;
}

}  // namespace swizproof
