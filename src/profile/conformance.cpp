#include "profile/conformance.hpp"

#include "profile/nsight.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <unordered_map>

namespace swizproof {

namespace {

/// The lanes of a warp that ask for something, and how far from the first of these. Lanes that do not: 0.
struct Lanes {
  std::uint32_t active = 0;
  std::array<std::uint64_t, warp_lanes> offset{};
  friend bool operator==(Lanes const&, Lanes const&) = default;
};

struct HashLanes {
  std::size_t operator()(Lanes const& lanes) const {
    std::uint64_t hash = lanes.active;
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

bool same_kind(Instruction a, Instruction b) {
  a.transposed = b.transposed = false;
  return a == b;
}

/// All instances of a proved access: every assignment, and every base modulo the period, after which addresses move alike.
class Instances {
 public:
  Instances(ProvedAccess const& proved, Limits const& limits) : proved_(&proved) {
    auto const period = some_period(proved.placement->map().on_bytes, limits).value;
    if (!period) {
      why_not_ = "its bases have no period";
      return;
    }
    bases_ = *period / std::gcd(*period, proved.base_step);
    if (__builtin_mul_overflow(bases_, proved.base_step, &modulus_) ||
        proved.placement->assignments() > most_instances / bases_)
      why_not_ = "it has more than 2^24 instances";
  }

  [[nodiscard]] ProvedAccess const& access() const { return *proved_; }
  /// Why they cannot be looked at; empty if they can.
  [[nodiscard]] std::string const& why_not() const { return why_not_; }
  /// Bases that differ by its multiples have the same instances, moved by as much.
  [[nodiscard]] std::uint64_t modulus() const { return modulus_; }

  /// Calls visit(values, base, asked) for each, until it says false. Precondition: why_not() is empty.
  template <class Visit>
  void visit(Visit const& visit) const {
    Placement const& placement = *proved_->placement;
    bool more = true;
    for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
      if (!more) return;
      std::array<std::optional<LanePlace<std::uint64_t>>, warp_lanes> places;
      for (unsigned l = 0; l < placement.instruction().lanes(); ++l)
        places[l] = placement.lane(values, l, std::uint64_t{0});
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
  std::string why_not_{};
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

/// Marks the sought that are instances of an access.
void find_among(Instances const& instances, std::vector<Sought*> const& sought) {
  std::unordered_map<Lanes, std::vector<Sought*>, HashLanes> by_lanes;
  std::size_t open = 0;
  for (Sought* s : sought)
    if (!s->found) by_lanes[s->asked.lanes].push_back(s), ++open;
  if (open == 0) return;
  instances.visit([&](auto const&, std::uint64_t base, Asked const& instance) {
    auto const same = by_lanes.find(instance.lanes);
    if (same == by_lanes.end()) return true;
    for (Sought* s : same->second)
      if (!s->found && moved(instance.first, s->asked.first, base, instances.modulus()))
        s->found = true, --open;
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
void find_nearest(Instances const& instances, std::vector<Sought*> const& sought) {
  instances.visit([&](std::span<std::uint64_t const> values, std::uint64_t base, Asked const& instance) {
    for (Sought* s : sought) {
      std::optional<NearestInstance>& nearest = s->of->nearest;
      auto better = compare(s->asked, instance, base, instances.modulus(), nearest ? nearest->equal : 0);
      if (!better) continue;
      nearest = std::move(better);
      nearest->access = &instances.access();
      for (std::size_t i = 0; i < values.size(); ++i)
        if (Variable const& v = instances.access().placement->variables()[i]; v.count > 1)
          nearest->origin.emplace_back(v.name, values[i]);
    }
    return true;
  });
}

std::vector<ProvedAccess const*> candidates_for(TracedInstruction const& traced,
                                                std::vector<ProvedAccess> const& proved) {
  std::vector<ProvedAccess const*> out;
  for (ProvedAccess const& p : proved)
    if (same_kind(p.instruction, *traced.instruction) &&
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

/// Result of all patterns of an instruction.
void conclude(ConformingInstruction& out) {
  if (out.candidates.empty())
    out.conformance = Conformance::no_obligation;
  else if (out.differing != 0)
    out.conformance = out.why.empty() ? Conformance::differs : Conformance::undecided;
  else if (out.traced->not_kept != 0) {
    out.conformance = Conformance::undecided;
    out.why = std::to_string(out.traced->not_kept) + " executions were not kept";
  } else {
    out.conformance = Conformance::as_proved;
    out.why.clear();
  }
}

}  // namespace

std::size_t ConformanceReport::count(Conformance which) const {
  return static_cast<std::size_t>(std::count_if(instructions.begin(), instructions.end(),
                                                [&](auto const& i) { return i.conformance == which; }));
}

ConformanceReport conformance(Trace const& trace, std::vector<ProvedAccess> const& proved,
                              Limits const& limits) {
  ConformanceReport out;
  out.dropped = trace.dropped;
  out.failures = trace.failures;
  for (TracedInstruction const& i : trace.instructions) {
    out.instructions.push_back({&i, Conformance::not_modelled, {}, 0, 0, {}, {}});
    if (i.instruction) out.instructions.back().candidates = candidates_for(i, proved);
  }
  std::vector<Sought> all;
  for (ConformingInstruction& i : out.instructions)
    if (!i.candidates.empty())
      for (TracedPattern const& p : i.traced->patterns)
        all.push_back({&i, &p, asked_by(*i.traced->instruction, p.access), false});
  // Each access is enumerated once for all that may be of it, and once more for what turned out to be no instance.
  std::vector<Instances> instances;
  for (ProvedAccess const& p : proved) {
    Instances const& these = instances.emplace_back(p, limits);
    if (these.why_not().empty()) find_among(these, those_of(p, all));
    bool traced = false;
    for (ConformingInstruction& i : out.instructions) {
      if (!is_candidate(p, i)) continue;
      traced = true;
      if (!these.why_not().empty()) i.why = p.access + ": " + these.why_not();
    }
    if (!traced) out.never_traced.push_back(&p);
  }
  std::vector<Sought> differing;  // the first of each instruction: the most expensive
  for (Sought const& s : all) {
    if (!s.found && s.of->differing == 0) differing.push_back(s);
    (s.found ? s.of->as_proved : s.of->differing) += s.pattern->executed;
  }
  for (Instances const& these : instances)
    if (auto const sought = those_of(these.access(), differing); !sought.empty() && these.why_not().empty())
      find_nearest(these, sought);
  for (ConformingInstruction& i : out.instructions)
    if (i.traced->instruction) conclude(i);
  return out;
}

}  // namespace swizproof
