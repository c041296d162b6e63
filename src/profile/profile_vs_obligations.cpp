#include "profile/profile_vs_obligations.hpp"

#include "parse/text/regular_expression.hpp"
#include "parse/access/sass.hpp"

#include <swizproof/hardware/counter.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace swizproof {

namespace {

/// Returns whether the counter shows no more than the cost model in any case (H11); false where there are too many cases to look at.
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

/// Reason why an obligation proves none of its accesses; empty if it does.
std::string why_not(Obligation const& o, TileVerdict const& tile) {
  if (auto const* unknown = std::get_if<Unknown>(&tile.outcome)) return unknown->reason;
  bool const refuted = std::holds_alternative<Refuted>(tile.outcome);
  if (o.expect_refuted && !refuted) return "it expects to be refuted, and it is proved";
  if (!refuted) return {};
  if (tile.accesses.empty()) return "refuted: two elements share an address";
  for (AccessVerdict const& v : tile.accesses) {
    if (v.cost() == nullptr) return "refuted: an access does not fit its tile";
    if (v.cost()->wavefronts > v.allowed && !o.expect_refuted)
      return "refuted: " + std::to_string(v.cost()->wavefronts) + " wavefronts, " +
             std::to_string(v.allowed) + " allowed";
  }
  return o.expect_refuted ? std::string() : "refuted";
}

/// The most that one execution can cost.
std::uint64_t most_of(Instruction const& i) { return i.matrices != 0 ? 8U * i.matrices : warp_lanes; }

/// True for accesses of 8 and 16 bytes a lane: the counter does not count their idle phases.
bool is_wide(Instruction const& i) { return i.matrices == 0 && i.bytes >= 8; }

/// Number of executions that any warp took part in, and bounds of the cost of each. Unit: executions, wavefronts.
struct Live {
  std::uint64_t fewest = 0, most = 0;
  std::uint64_t lo = 1, hi = warp_lanes;
  std::optional<std::uint64_t> largest{};  ///< the most that one can have cost, if it follows from the ideal
  std::string contradiction{};             ///< no executions cost what was counted
};

/// Adds the column "Ideal". Each execution's ideal is from 1 (`one`: exactly `ideal`) to `ideal`, and no execution costs
/// less than its own; the rest of the sum may be of a single one.
void narrow(Live& live, Measurement const& m, std::uint64_t ideal, bool one) {
  std::uint64_t const sum = *m.ideal;
  if (sum > m.wavefronts)
    live.contradiction = "fewer wavefronts than their ideal";
  else if (one && sum % ideal != 0)
    live.contradiction = "the ideal is no multiple of " + std::to_string(ideal);
  live.fewest = std::max(live.fewest, (sum + ideal - 1) / ideal);
  live.most = std::min(live.most, one ? sum / ideal : sum);
  if (sum <= m.wavefronts) live.largest = ideal + m.wavefronts - sum;
}

Live live_of(Measurement const& m, unsigned ideal) {
  Live live;
  Instruction const& i = *m.instruction;
  bool const wide = is_wide(i);
  live.lo = wide ? 1 : ideal;
  live.hi = most_of(i);
  live.most = m.executed;
  live.fewest = is_predicated(m.where) ? 0 : m.executed;
  std::uint64_t const full = (m.wavefronts + live.hi - 1) / live.hi;  // executions, if each cost the most
  if (std::max(live.fewest, full) > live.most || live.fewest * live.lo > m.wavefronts)
    live.contradiction = "no " + std::to_string(m.executed) + " executions cost " +
                         std::to_string(m.wavefronts) + " wavefronts: each costs " + std::to_string(live.lo) +
                         " to " + std::to_string(live.hi);
  if (m.ideal && live.contradiction.empty()) narrow(live, m, ideal, !wide);
  live.fewest = std::max(live.fewest, full);
  if (live.contradiction.empty()) live.most = std::min(live.most, m.wavefronts / live.lo);
  if (live.contradiction.empty() && (live.fewest > live.most || live.fewest * live.lo > m.wavefronts))
    live.contradiction = "another number of executions than their ideal says";
  return live;
}

/// The candidates' bounds.
struct Bounds {
  unsigned least = ~0U, most = 0;
  bool as_cycles = true, refuted = false;
  std::string why_not{};

  void take(ProvedAccess const& p) {
    if (!p.why_not.empty()) {
      why_not = "of '" + p.obligation + "' nothing is proved: " + p.why_not;
      return;
    }
    least = std::min(least, p.wavefronts), most = std::max(most, p.wavefronts);
    as_cycles = as_cycles && p.counts_as_cycles;
    refuted = refuted || p.refuted;
  }
};

void undecided(Compared& out, std::string why) {
  out.comparison = Comparison::undecided;
  out.why = std::move(why);
}

/// A line of SASS, all of whose executions are of one instruction.
void compare_line(Compared& out, Measurement const& m, Bounds const& bounds) {
  Instruction const& i = *m.instruction;
  Live const live = live_of(m, ideal_wavefronts(*out.candidates[0]->arch, i));
  out.allowed = live.most * bounds.most;
  if (!bounds.why_not.empty()) return undecided(out, bounds.why_not);
  if (i.operation == Operation::cp_async && m.wavefronts == 0)
    return undecided(out, "the profiler counts no wavefronts of some copies that ran");
  if (!live.contradiction.empty()) return undecided(out, live.contradiction);
  if (m.wavefronts > out.allowed) {
    if (i.operation == Operation::cp_async)
      return undecided(out, "of a copy the fill of the line is counted with the write to shared memory");
    if (!bounds.as_cycles)
      return undecided(
          out, "8- and 16-byte loads of equal addresses are counted in another way than they are timed");
    out.comparison = Comparison::above;
    return;
  }
  // All but one at their least: what is left is the most that one can have cost.
  std::uint64_t const rest = m.wavefronts - live.lo * (live.fewest == 0 ? 0 : live.fewest - 1);
  std::uint64_t const largest = std::min({live.hi, rest, live.largest.value_or(live.hi)});
  if (largest <= bounds.least) {
    // All cost as much as they may, if one more would have cost nothing. The counter of a copy may hold a fill of its line
    // too, but for what is its ideal.
    std::uint64_t const n = bounds.most == 0 ? 0 : m.wavefronts / bounds.most;
    bool const one_more = n < live.most && live.lo * (n + 1) <= m.wavefronts;
    bool const copy = i.operation == Operation::cp_async && m.wavefronts != m.ideal.value_or(live.lo * n);
    bool const exactly = m.wavefronts == n * bounds.most && !one_more && !copy;
    out.comparison = !exactly         ? Comparison::below
                     : bounds.refuted ? Comparison::as_expected
                                      : Comparison::as_proved;
  } else if (live.fewest < live.most && is_predicated(m.where)) {
    undecided(out, "a predicate may have switched warps off, whose executions cost nothing");
  } else if (is_wide(i) && live.largest.value_or(live.hi) > bounds.least &&
             m.wavefronts == live.most * bounds.most) {
    undecided(out, "executions with idle phases may make up for others with conflicts");
  } else if (bounds.least != bounds.most) {
    undecided(out, "it may be of an obligation of " + std::to_string(bounds.least) + " wavefronts or of " +
                       std::to_string(bounds.most));
  } else {
    undecided(out, "cheaper executions may make up for others above the proof");
  }
}

/// The most that an instruction of an operation can cost in this kernel: what is proved of its kind, or what the hardware allows.
std::uint64_t cap_of(Operation operation, Compared const& out) {
  std::uint64_t most = 0;
  for (InstructionName const& known : instruction_names) {
    if (known.instruction.operation != operation) continue;
    std::uint64_t its = 0;
    for (ProvedAccess const* p : out.candidates)
      if (p->instruction == known.instruction)
        its = std::max<std::uint64_t>(its,
                                      p->why_not.empty() && p->counts_as_cycles ? p->wavefronts : warp_lanes);
    most = std::max(most, its == 0 ? most_of(known.instruction) : its);
  }
  return most;
}

/// A sum over all instructions of some operations in a kernel.
void compare_sum(Compared& out, Measurement const& m, Bounds const& bounds) {
  bool copies = false;
  for (auto const& [operation, times] : m.operations) {
    out.allowed += times * cap_of(operation, out);
    copies = copies || operation == Operation::cp_async;
  }
  if (!bounds.why_not.empty()) return undecided(out, bounds.why_not);
  if (m.wavefronts > out.allowed && !m.shared_with_others && !copies)
    out.comparison = Comparison::above;
  else if (m.wavefronts > m.executed * bounds.most && !m.shared_with_others)
    undecided(out, "a sum over a kernel: an instruction that no obligation is about may have cost it");
  else
    undecided(out, m.shared_with_others ? "other clients of the L1 raise this counter too"
                                        : "a sum over a kernel: warps that a predicate switched off, and "
                                          "cheaper executions, may make up for others above the proof");
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
    TileVerdict const tile = check(hold->map, hold->placements, {hold->at_most, hold->align, o.arch, limits});
    std::string const reason = why_not(o, tile);
    for (std::size_t i = 0; i < hold->placements.size(); ++i) {
      Placement const& placement = hold->placements[i];
      ProvedAccess p;
      p.obligation = o.name;
      p.kernel = o.kernel;
      p.access = placement.access().name;
      p.instruction = placement.instruction();
      p.placement = &placement;
      p.arch = o.arch;
      p.refuted = o.expect_refuted;
      p.why_not = reason;
      if (reason.empty()) {
        p.wavefronts = tile.accesses[i].cost()->wavefronts;
        p.base_step = tile.accesses[i].base_step;
        p.counts_as_cycles = counts_as_cycles(placement);
      } else {
        out.left_out.push_back(o.name + ": " + p.access + ": " + reason);
      }
      out.proved.push_back(std::move(p));
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
  Bounds bounds;
  for (ProvedAccess const& p : proved) {
    auto const is_of = [&](Executed const& one) { return one.operation == p.instruction.operation; };
    bool const kind = measured.instruction
                          ? p.instruction == *measured.instruction
                          : std::any_of(measured.operations.begin(), measured.operations.end(), is_of);
    if (!kind || !speaks_of(p.kernel, {measured.kernel, measured.kernel_as_written})) continue;
    out.candidates.push_back(&p);
    bounds.take(p);
  }
  out.most = bounds.most;
  if (out.candidates.empty()) return out;
  if (!measured.counted)
    undecided(out, "the profile has no count of it");
  else if (measured.instruction)
    compare_line(out, measured, bounds);
  else
    compare_sum(out, measured, bounds);
  return out;
}

}  // namespace swizproof
