#include "profile/trace_vs_obligations.hpp"

#include "profile/nsight.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>

namespace swizproof {

namespace {

/// The lanes of a warp that ask for something, and how far from the first of these. Lanes that do not: 0.
struct Lanes {
  std::uint32_t active = 0;
  std::array<std::uint64_t, warp_lanes> offset{};
  std::uint64_t residue = 0;  ///< of a kind: the first address modulo the bases' modulus
  friend bool operator==(Lanes const&, Lanes const&) = default;
};

struct HashLanes {
  std::size_t operator()(Lanes const& lanes) const {
    std::uint64_t hash = lanes.active + (lanes.residue << 32);
    for (std::uint64_t const offset : lanes.offset)
      hash = (std::rotl(hash, 5) ^ offset) * std::uint64_t{0x9E3779B97F4A7C15};
    return static_cast<std::size_t>(hash);
  }
};

/// A warp's addresses, as far as the instruction uses them.
struct Asked {
  Lanes lanes{};
  std::uint64_t first = 0;  ///< address of the first active lane

  template <class Address, class Active>
  Asked(Instruction const& i, Address const& address, Active const& active) {
    for (unsigned l = 0; l < i.lanes(); ++l) {
      if (!active(l)) continue;
      if (lanes.active == 0) first = address(l);
      lanes.active |= std::uint32_t{1} << l;
      lanes.offset[l] = address(l) - first;
    }
  }
  [[nodiscard]] bool active(unsigned l) const { return (lanes.active >> l & 1) != 0; }
  [[nodiscard]] std::uint64_t address(unsigned l) const { return first + lanes.offset[l]; }
};

Asked asked_by(Instruction const& i, WarpAccess<std::uint32_t> const& access) {
  return {i, [&](unsigned l) { return std::uint64_t{access.address[l]}; },
          [&](unsigned l) { return access.active[l]; }};
}

/// Seconds of CPU time of this thread.
double cpu_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool same_but_transposed(Instruction a, Instruction b) {
  bool const other = a.transposed != b.transposed;
  a.transposed = b.transposed = false;
  return other && a == b;
}

/// Instances that are equal up to a base of the access: the same lanes, and as far apart from the first.
struct Kind {
  std::vector<std::uint64_t> values{};
  std::uint64_t base = 0;
  Asked asked;
};

/// Kinds of one access that are kept, to find the nearest among them.
constexpr std::size_t most_kinds = std::size_t{1} << 14;

/// All instances of a proved access: every assignment, and every base modulo the period, after which addresses move alike.
class Instances {
 public:
  Instances(ProvedAccess const& proved, Architecture const& arch, Limits const& limits) : proved_(&proved) {
    if (proved.placement->map().base_address) {
      why_not_ =
          "the layout's pointer has an address, and a traced kernel has its own: leave the pointer out";
      return;
    }
    auto const period = some_period(proved.placement->map().on_bytes, limits).value;
    if (!proved.why_not.empty()) {
      why_not_ = "nothing is proved of it: " + proved.why_not;
    } else if (&arch != proved.arch) {
      why_not_ = "it is proved of " + std::string(proved.arch->name) + ", and the trace is of " +
                 std::string(arch.name);
    } else if (!period) {
      why_not_ = "its bases have no period";
    }
    if (!why_not_.empty()) return;
    bases_ = *period / std::gcd(*period, proved.base_step);
    if (__builtin_mul_overflow(bases_, proved.base_step, &modulus_) ||
        proved.placement->assignments() > most_instances / bases_)
      why_not_ = "it has more than 2^24 instances";
    all_ = why_not_.empty() ? proved.placement->assignments() * bases_ : 0;
  }

  [[nodiscard]] ProvedAccess const& access() const { return *proved_; }
  /// Why they cannot be looked at; empty if they can.
  [[nodiscard]] std::string const& why_not() const { return why_not_; }
  /// Bases that differ by its multiples have the same instances, moved by as much.
  [[nodiscard]] std::uint64_t modulus() const { return modulus_; }

  /// The kinds that were met, at most 2^14.
  [[nodiscard]] std::unordered_map<Lanes, Kind, HashLanes> const& kinds() const { return kinds_; }
  [[nodiscard]] bool kinds_left_out() const { return kinds_left_out_; }

  /// Takes note of an instance's kind. Of a kind the instance is kept that begins nearest to its base: a base that all
  /// instances of the kind could have is one of it.
  void keep(std::span<std::uint64_t const> values, std::uint64_t base, Asked const& asked) {
    Lanes key = asked.lanes;
    key.residue = asked.first % modulus_;
    auto const found = kinds_.find(key);
    if (found == kinds_.end() && kinds_.size() >= most_kinds) {
      kinds_left_out_ = true;
    } else if (found == kinds_.end()) {
      kinds_.emplace(key, Kind{{values.begin(), values.end()}, base, asked});
    } else if (auto const distance =
                   [](std::uint64_t first, std::uint64_t from) {
                     return static_cast<std::int64_t>(first - from);
                   };
               distance(asked.first, base) < distance(found->second.asked.first, found->second.base)) {
      found->second = Kind{{values.begin(), values.end()}, base, asked};
    }
  }
  /// Only so many were looked at.
  void end_early(std::uint64_t seen) {
    why_not_ =
        "time-out: " + std::to_string(seen) + " of its " + std::to_string(all_) + " instances were compared";
  }

  /// Calls visit(values, base, asked) for each, until it says false. Precondition: why_not() is empty.
  template <class Visit>
  void visit(Visit const& visit) const {
    Placement const& placement = *proved_->placement;
    bool more = true;
    for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
      if (!more) return;
      std::array<std::optional<LanePlace<std::uint64_t>>, warp_lanes> places;
      for (unsigned l = 0; l < placement.instruction().lanes(); ++l)
        places[l] = placement.lane(values, std::uint64_t{l});
      for (std::uint64_t base = 0; more && base < modulus_; base += proved_->base_step)
        more = visit(
            values, base,
            Asked(
                placement.instruction(), [&](unsigned l) { return placement.address(*places[l], base); },
                [&](unsigned l) { return places[l]->active; }));
    });
  }

 private:
  ProvedAccess const* proved_;
  std::uint64_t bases_ = 1;
  std::uint64_t modulus_ = 1;
  std::uint64_t all_ = 0;  ///< instances
  std::string why_not_{};
  std::unordered_map<Lanes, Kind, HashLanes> kinds_{};
  bool kinds_left_out_ = false;
};

/// How far the base of an instance from `base` must move, so that it starts where the traced access does; nothing if that is
/// no base of its access.
std::optional<std::int64_t> moved(std::uint64_t from, std::uint64_t to, std::uint64_t base,
                                  std::uint64_t modulus) {
  auto const by = static_cast<std::int64_t>(to - from);
  bool const whole = by % static_cast<std::int64_t>(modulus) == 0;
  return whole && by + static_cast<std::int64_t>(base) >= 0 ? std::optional(by) : std::nullopt;
}

/// A pattern of the trace that is to be found among the instances.
struct Sought {
  ConformingInstruction* of = nullptr;
  TracedPattern const* pattern = nullptr;
  Asked asked;
  bool found = false;
};

/// Marks the sought that are instances of an access, and keeps its kinds.
void find_among(Instances& instances, std::vector<Sought*> const& sought, CpuBudget& budget) {
  std::unordered_map<Lanes, std::vector<Sought*>, HashLanes> by_lanes;
  std::size_t open = 0;
  for (Sought* s : sought)
    if (!s->found) by_lanes[s->asked.lanes].push_back(s), ++open;
  if (open == 0) return;
  std::uint64_t seen = 0;
  instances.visit([&](std::span<std::uint64_t const> values, std::uint64_t base, Asked const& instance) {
    if (budget.spent()) return instances.end_early(seen), false;
    ++seen;
    instances.keep(values, base, instance);
    auto const same = by_lanes.find(instance.lanes);
    if (same == by_lanes.end()) return true;
    for (Sought* s : same->second)
      if (!s->found && moved(instance.first, s->asked.first, base, instances.modulus())) {
        s->found = true, --open;
        if (instances.access().refuted) s->of->conformance = Conformance::as_expected;
      }
    return open != 0;
  });
}

/// Lanes that are alike if the instance moves by so much.
unsigned equal_lanes(Asked const& traced, Asked const& instance, std::int64_t by) {
  unsigned equal = 0;
  for (unsigned l = 0; l < warp_lanes; ++l)
    equal += traced.active(l) == instance.active(l) &&
                     (!traced.active(l) ||
                      traced.address(l) == instance.address(l) + static_cast<std::uint64_t>(by))
                 ? 1
                 : 0;
  return equal;
}

/// Compares a traced access with an instance from the base at which most lanes are alike. `better` than so many is kept.
std::optional<NearestInstance> compare(Asked const& traced, Asked const& instance, std::uint64_t base,
                                       std::uint64_t modulus, unsigned better) {
  std::optional<NearestInstance> out;
  std::optional<std::int64_t> last;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!traced.active(l) || !instance.active(l)) continue;
    auto const by = static_cast<std::int64_t>(traced.address(l) - instance.address(l));
    if (by == last) continue;
    last = by;
    unsigned const equal = equal_lanes(traced, instance, by);
    bool const of_access = moved(instance.address(l), traced.address(l), base, modulus).has_value();
    if (equal <= better || (!of_access && equal != warp_lanes)) continue;
    better = equal;
    out = NearestInstance{nullptr, {}, base + static_cast<std::uint64_t>(by), equal, !of_access, 0, {}, {}};
  }
  if (!out) return out;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    auto const relative = [&](Asked const& a, std::uint64_t from) {
      return a.active(l) ? std::optional(static_cast<std::int64_t>(a.address(l) - from)) : std::nullopt;
    };
    out->lane = l;
    out->proved = relative(instance, base);
    out->asked = relative(traced, out->base);
    if (out->proved != out->asked) break;
  }
  return out;
}

/// The nearest instance to each of the sought.
void find_nearest(Instances const& instances, std::vector<Sought*> const& sought, CpuBudget& budget) {
  std::vector<Kind const*> kinds;  // the first of those that are equally near is named
  for (auto const& [lanes, kind] : instances.kinds()) kinds.push_back(&kind);
  std::sort(kinds.begin(), kinds.end(), [](Kind const* a, Kind const* b) {
    return std::tie(a->values, a->base) < std::tie(b->values, b->base);
  });
  for (Sought* s : sought) {
    if (instances.kinds_left_out()) s->of->searched = false;
    for (Kind const* const kind : kinds) {
      if (budget.spent()) {
        s->of->searched = false;
        break;
      }
      std::optional<NearestInstance>& nearest = s->of->nearest;
      auto better =
          compare(s->asked, kind->asked, kind->base, instances.modulus(), nearest ? nearest->equal : 0);
      if (!better) continue;
      nearest = std::move(better);
      nearest->access = &instances.access();
      for (std::size_t i = 0; i < kind->values.size(); ++i)
        if (Variable const& v = instances.access().placement->variables()[i]; v.count > 1)
          nearest->origin.emplace_back(v.name, kind->values[i]);
    }
  }
}

std::vector<ProvedAccess const*> candidates_for(TracedInstruction const& traced,
                                                std::vector<ProvedAccess> const& proved) {
  std::vector<ProvedAccess const*> out;
  for (ProvedAccess const& p : proved)
    if (p.instruction == *traced.instruction &&
        speaks_of(p.kernel, {traced.kernel, plain_kernel_name(traced.kernel)}))
      out.push_back(&p);
  return out;
}

bool is_candidate(ProvedAccess const& proved, ConformingInstruction const& i) {
  return std::find(i.candidates.begin(), i.candidates.end(), &proved) != i.candidates.end();
}

/// Those of the sought that may be of an access.
std::vector<Sought*> those_of(ProvedAccess const& proved, std::vector<Sought>& sought) {
  std::vector<Sought*> out;
  for (Sought& s : sought)
    if (is_candidate(proved, *s.of)) out.push_back(&s);
  return out;
}

/// Why an instruction is undecided though no obligation has it: one has it with `.trans`, or without.
std::string other_form(TracedInstruction const& traced, std::vector<ProvedAccess> const& proved) {
  for (ProvedAccess const& p : proved)
    if (same_but_transposed(p.instruction, *traced.instruction) &&
        speaks_of(p.kernel, {traced.kernel, plain_kernel_name(traced.kernel)}))
      return "'" + p.obligation + "' is about " + to_string(p.instruction) + ", and this is " + traced.op +
             ": the same addresses, but other data";
  return {};
}

/// Result of all patterns of an instruction.
void conclude(ConformingInstruction& out) {
  if (out.candidates.empty())
    out.conformance = out.why.empty() ? Conformance::no_obligation : Conformance::undecided;
  else if (out.differing != 0)
    out.conformance = out.why.empty() ? Conformance::differs : Conformance::undecided;
  else if (out.traced->not_kept != 0) {
    out.conformance = Conformance::undecided;
    out.why = std::to_string(out.traced->not_kept) + " executions were not kept";
  } else {
    if (out.conformance != Conformance::as_expected) out.conformance = Conformance::as_proved;
    out.why.clear();
  }
}

}  // namespace

std::size_t ConformanceReport::count(Conformance which) const {
  return static_cast<std::size_t>(std::count_if(instructions.begin(), instructions.end(),
                                                [&](auto const& i) { return i.conformance == which; }));
}

CpuBudget::CpuBudget(Limits const& limits) : end_(cpu_seconds() + limits.seconds), stop_(limits.stop) {}

bool CpuBudget::spent() {
  if (calls_++ % 1024 == 0) spent_ = spent_ || stop_.stop_requested() || cpu_seconds() >= end_;
  return spent_;
}

ConformanceReport conformance(Trace const& trace, std::vector<ProvedAccess> const& proved,
                              Limits const& limits, CpuBudget& budget) {
  ConformanceReport out;
  out.dropped = trace.dropped;
  out.failures = trace.failures;
  for (TracedInstruction const& i : trace.instructions) {
    ConformingInstruction& one = out.instructions.emplace_back();
    one.traced = &i;
    if (i.instruction) one.candidates = candidates_for(i, proved);
    if (i.instruction && one.candidates.empty()) one.why = other_form(i, proved);
  }
  std::vector<Sought> all;
  for (ConformingInstruction& i : out.instructions)
    if (!i.candidates.empty())
      for (TracedPattern const& p : i.traced->patterns)
        all.push_back({&i, &p, asked_by(*i.traced->instruction, p.access), false});
  // Each access is enumerated once for all that may be of it; those that are refuted, as they expect, come last.
  std::vector<Instances> instances;
  for (bool const refuted : {false, true})
    for (ProvedAccess const& p : proved) {
      if (p.refuted != refuted) continue;
      Instances& these = instances.emplace_back(p, *trace.arch, limits);
      if (these.why_not().empty()) find_among(these, those_of(p, all), budget);
      bool traced = false;
      for (ConformingInstruction& i : out.instructions) {
        if (!is_candidate(p, i)) continue;
        traced = true;
        if (!these.why_not().empty()) i.why = p.obligation + ": " + p.access + ": " + these.why_not();
      }
      if (!traced) out.never_traced.push_back(&p);
    }
  std::vector<Sought> differing;  // the first of each instruction: the most expensive
  for (Sought const& s : all) {
    if (!s.found && s.of->differing == 0) differing.push_back(s);
    (s.found ? s.of->as_proved : s.of->differing) += s.pattern->executed;
  }
  for (Instances const& these : instances)
    if (auto const sought = those_of(these.access(), differing); !sought.empty())
      find_nearest(these, sought, budget);
  for (ConformingInstruction& i : out.instructions)
    if (i.traced->instruction) conclude(i);
  return out;
}

ConformanceReport conformance(Trace const& trace, std::vector<ProvedAccess> const& proved,
                              Limits const& limits) {
  CpuBudget budget(limits);
  return conformance(trace, proved, limits, budget);
}

}  // namespace swizproof
