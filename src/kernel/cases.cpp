#include "cases.hpp"

#include "access_cost.hpp"
#include "address_text.hpp"
#include "bypass_copy.hpp"
#include "parameter_terms.hpp"
#include "sector_rows.hpp"
#include "sectors.hpp"
#include "wavefront_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Facts;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::Request;
using execution::Warp;

bool CaseCost::is_exceeded_by(CaseCost const& one) const {
  if (one.wavefronts != wavefronts) return one.wavefronts > wavefronts;
  return one.reached > reached || !worst;
}

void CaseCost::merge(CaseCost&& one) {
  unknown |= one.unknown;
  data |= one.data;
  if ((reason.empty() || (one.unknown && !one.reason.empty())) && !one.reason.empty()) reason = one.reason;
  guard = stronger(guard, one.guard);
  active |= one.active;
  if (one.known && (!known || one.known->wavefronts > known->wavefronts)) known = std::move(one.known);
  if (!is_exceeded_by(one)) return;
  wavefronts = one.wavefronts;
  reached = one.reached;
  worst = std::move(one.worst);
  assumptions = std::move(one.assumptions);
}

namespace {

using Assumptions = std::vector<Assumption>;

constexpr std::size_t most_cases = 2048;    ///< most cases of one access in one warp
constexpr std::size_t most_values = 512;    ///< most values of one term
constexpr unsigned most_splits = 6;         ///< one within the other
constexpr unsigned most_residue_bits = 16;  ///< most bits whose values are all tried
constexpr unsigned most_bank_bits = 7;      ///< the same for a bound of banks

/// True if what is assumed of the same term excludes a value.
bool conflicts(Assumptions const& assumptions, Assumption const& v) {
  return std::any_of(assumptions.begin(), assumptions.end(), [&](Assumption const& a) {
    return a.atom == v.atom && a.bits < 64 && ((a.value ^ v.value) & ((std::uint64_t{1} << a.bits) - 1)) != 0;
  });
}

/// Addresses less their residue modulo the access's bytes; nothing if not all lanes have the same one.
std::optional<LaneAddresses> without_residue(Instruction const& instruction, std::uint32_t active,
                                             LaneAddresses address) {
  std::uint64_t const unit = std::uint64_t{instruction.bytes} - 1;
  std::optional<std::uint64_t> residue;
  for (unsigned l = 0; l < 32; ++l) {
    if (!takes_part(instruction, active, l)) continue;
    if (!residue) residue = address[l] & unit;
    if ((address[l] & unit) != *residue) return std::nullopt;
  }
  for (std::uint64_t& a : address) a -= residue.value_or(0);
  return address;
}

class CaseSearch {
 public:
  CaseSearch(ExecutedKernel& kernel, AccessSearch& search, unsigned number, LanePatterns& patterns,
             SampleLaunches& launches)
      : kernel_(kernel), search_(search), number_(number), patterns_(patterns), launches_(launches) {}

  CaseResults run() {
    bool const any = search_.bases.empty();
    solve(any ? kernel_.warps.plain(number_) : kernel_.warps.under(number_, search_.bases), search_.bases, 0);
    return std::move(results_);
  }

 private:
  [[nodiscard]] bool is_over() const { return kernel_.warps.steps() > search_.limit; }

  /// Solves one case. If an unknown value stops it, tries all values of that.
  void solve(Warp& warp, Assumptions const& assumptions, unsigned depth) {
    if (search_.source_unknown) return;
    // Nothing is left that it could say of all warps.
    if (number_ == Warp::every && results_.cost.unknown && !results_.faults.aligned &&
        !results_.faults.in_bounds)
      return;
    search_.out_of_steps = search_.out_of_steps || is_over();
    if (++results_.tried > most_cases || search_.out_of_steps)
      return give_up(warp, search_.out_of_steps
                               ? fmt::format("the limit of {} steps for one kernel", kernel_.options.steps)
                               : fmt::format("more than {} cases", most_cases));
    CaseCost one;
    LaneTruths const guard = warp.truth(search_.access.guard);
    std::uint32_t const active = warp.present() & ~guard.no;
    one.active = active;
    if (active == 0) return results_.cost.merge(std::move(one));
    Lanes const v = warp.value(search_.access.address, 32);
    if (v.state == Lanes::State::varying) {
      bound_varying(warp, v, one);
      return add(assumptions, std::move(one));
    }
    LanesInCase const now{search_.memory, search_.access, search_.symbol, number_, warp, assumptions, v,
                          guard,          active};
    if (auto const turn = turn_of_lanes(warp, v)) return split_turn(now, depth, *turn);
    if (auto const request = what_to_try(warp, v, guard, depth))
      return split(warp, assumptions, depth, *request);
    find_cost(now, one);
    if (kernel_.options.lanes)
      if (std::string why = patterns_.add(now, search_.patterns); !why.empty())
        search_.why_incomplete = std::move(why);
    if (!search_.memory.global) {
      if (!turned_) add_to_layout(kernel_, now, search_.layout);
      check_faults(kernel_, now, results_.faults, search_.first_faults);
    }
    add(assumptions, std::move(one));
  }

  void add(Assumptions const& assumptions, CaseCost&& one) {
    search_.residues.add(kernel_, assumptions, one.wavefronts);
    results_.cost.merge(std::move(one));
  }

  /// The address depends on something that is not known.
  void depends(CaseCost& one, Origin const& on) const {
    (on.data ? one.data : one.unknown) = true;
    one.reason = "the address depends on " + kernel_.text_of(on.leaf);
  }

  /// Lanes whose addresses differ in a way that is not known.
  void bound_varying(Warp& warp, Lanes const& v, CaseCost& one) {
    search_.source_unknown = search_.source != nullptr;
    auto const few = search_.memory.global ? std::nullopt
                                           : bound_of_varying(kernel_, warp, search_.memory,
                                                              search_.access.address, one.active);
    one.wavefronts = few.value_or(most_wavefronts(kernel_.options, search_.memory, one.active));
    depends(one, kernel_.origins.origin_of_varying(warp, search_.access.address, v.why));
    search_.why_incomplete = one.reason;
    results_.faults.aligned = results_.faults.aligned && few;
    results_.faults.in_bounds = std::nullopt;
  }

  /// The term that turns the lanes within a word, or a row of a copy that bypasses L1; nothing if none does.
  std::optional<Request> turn_of_lanes(Warp& warp, Lanes const& v) const {
    bool const bypasses = search_.memory.bypasses;
    if (!v.split() || search_.memory.global || !(bypasses || search_.memory.instruction->bytes < 4))
      return std::nullopt;
    auto const bits = static_cast<unsigned>(std::countr_zero(turn_of(search_.memory)));
    for (auto const& [atom, factor] : v.terms)
      if (auto const zeros = static_cast<unsigned>(std::countr_zero(factor));
          zeros + warp.trailing_zeros(atom) < bits)
        return Request{Request::Kind::residue, atom, bits - zeros,
                       bypasses ? "an address within 128 bytes" : "an address within a word"};
    return std::nullopt;
  }

  /// A term other than a parameter that turns the source within a line, such as an iteration: not all of its values have an execution.
  std::optional<Request> turn_of_source(Warp& warp, Lanes const& from) const {
    auto const bits = static_cast<unsigned>(std::countr_zero(copy_row));
    for (auto const& [atom, factor] : from.terms)
      if (auto const zeros = static_cast<unsigned>(std::countr_zero(factor));
          zeros + warp.trailing_zeros(atom) < bits && free_parameter(kernel_, atom, 0xffffffff) != atom)
        return Request{Request::Kind::residue, atom, bits - zeros, "a source within 128 bytes"};
    return std::nullopt;
  }

  /// Tries all turns. The layout of a copy that bypasses L1 is that before.
  void split_turn(LanesInCase const& now, unsigned depth, Request turn) {
    constexpr unsigned of_both = 3;  // bits of an iteration turn source and destination by units of a row
    if (search_.source != nullptr && kernel_.iterations.of(number_, turn.atom) != nullptr)
      turn.bits = std::max(turn.bits, of_both);
    bool const first = search_.memory.bypasses && !turned_;
    if (first) add_to_layout(kernel_, now, search_.layout);
    turned_ = turned_ || first;
    split(now.warp, now.assumptions, depth, turn);
    turned_ = turned_ && !first;
  }

  /// The term whose values are tried next; nothing if the addresses are known as they are.
  std::optional<Request> what_to_try(Warp& warp, Lanes const& v, LaneTruths const& guard, unsigned depth) {
    if (!v.split()) return warp.request(v.why);
    if (search_.source != nullptr) {
      Lanes const from = warp.value(search_.source_access->address, 32);
      if (!from.split()) return from.state == Lanes::State::stuck ? warp.request(from.why) : Request{};
      if (auto const turn = turn_of_source(warp, from)) return turn;
    }
    // Behind a loop its last iteration may tell that no lane comes here.
    Id const counter = guard.atom != 0 && depth < most_splits
                           ? kernel_.iterations.counter_before(number_, guard.atom, search_.access.loop)
                           : 0;
    if (counter != 0 && results_.tried + kernel_.iterations.count(number_, counter) <= most_cases)
      return Request{Request::Kind::value, counter, 0, ""};
    return std::nullopt;
  }

  /// The cost of a copy by both of its addresses. `sure`: an execution has these lanes, and no others.
  void find_copy(LanesInCase const& now, bool certain, bool sure, CaseCost& one) {
    auto const to = without_residue(*now.memory.instruction, now.active, now.address.lane);
    Lanes const v = now.warp.value(search_.source_access->address, 32);
    if (!certain || !to || !v.split()) {
      search_.source_unknown = true;
      return;
    }
    LanesInCase const from{*search_.source, *search_.source_access, ~0U, now.number,
                           now.warp,        now.assumptions,        v,   now.guard,
                           now.active};
    CopyInCase const found =
        copy_in(kernel_, from, *to, search_.by_excess, [&](Id atom) { return patterns_.is_alone(atom, v); });
    if (!found.aligned) return;  // it faults: no execution
    search_.near = search_.near || found.near;
    search_.most_copied.wavefronts = std::max(search_.most_copied.wavefronts, found.wavefronts);
    search_.most_copied.excess = std::max(search_.most_copied.excess, found.excess);
    one.wavefronts = found.most;
    one.reached = sure && found.exact &&
                  (found.same || found.constant || (found.free && is_open(*found.free, now.assumptions)));
    if (!found.exact && one.wavefronts > search_.allowed)
      one.unknown = true,
      one.reason = "lanes read one unit of 16 bytes, and may take more than one copy of it (H22)";
    if (!results_.cost.is_exceeded_by(one)) return;
    show(now, cost_of(kernel_.options, now.memory, now.active, now.address.lane).lanes, one);
    if (found.same) return;
    one.worst->values.emplace_back("(source of the first lane) % 128", found.residue);
    one.worst->every_launch = false;
  }

  /// True if no assumption is about a parameter.
  [[nodiscard]] bool is_open(Id parameter, Assumptions const& assumptions) const {
    std::vector<Id> const mine = kernel_.origins.leaves_of({parameter});
    return std::all_of(assumptions.begin(), assumptions.end(), [&](Assumption const& a) {
      std::vector<Id> const other = kernel_.origins.leaves_of({a.atom});
      return std::none_of(mine.begin(), mine.end(),
                          [&](Id id) { return std::find(other.begin(), other.end(), id) != other.end(); });
    });
  }

  /// Wavefronts in shared memory. `counted`: the lanes are those that execute it.
  void find_wavefronts(LanesInCase const& now, bool counted, std::uint32_t surely_on, CaseCost& one) {
    Instruction const& instruction = *now.memory.instruction;
    auto const address = without_residue(instruction, now.active, now.address.lane);
    LanesCost const lanes =
        cost_of(kernel_.options, now.memory, now.active, address.value_or(now.address.lane));
    one.wavefronts = lanes.wavefronts;
    // One lane takes as many: then every execution does, and there is one if a lane surely executes it.
    bool const least = surely_on != 0 && one.wavefronts == most_wavefronts(kernel_.options, now.memory, 1);
    // Matrix instructions whose warp is not whole are undefined.
    bool const whole = instruction.matrices == 0 || now.active == ~0U;
    bool const sure = surely_on == now.active && !now.access.apart;
    one.reached = counted && (sure || least) && address && whole;
    if (!address) one.unknown = true, one.reason = "some lanes are not aligned";
    if (results_.cost.is_exceeded_by(one)) show(now, lanes.lanes, one);
  }

  /// Sectors of global memory. `sure`: an execution has these lanes.
  void find_sectors(LanesInCase const& now, bool sure, CaseCost& one) {
    SectorsInCase found =
        sectors_in(kernel_, now, [&](Id atom) { return patterns_.is_alone(atom, now.address); });
    if (!found.aligned) {
      one.wavefronts = most_wavefronts(kernel_.options, now.memory, now.active);
      one.unknown = true, one.reason = "some lanes are not aligned";
      return;
    }
    one.wavefronts = found.most;
    one.reached = sure && (found.same || found.free);
    bool const shown = results_.cost.is_exceeded_by(one);
    if (shown) {
      show(now, found.lanes, one);
      if (!found.same)
        one.worst->values.emplace_back("(address of the first lane) % 128", found.residue),
            one.worst->every_launch = false;
    }
    if (!search_.sectors) search_.sectors = found.seen;
    if (shown) search_.sectors->stride = found.seen.stride;
    search_.sectors->merge(found.seen);
  }

  /// Shows a case as the worst so far.
  void show(LanesInCase const& now, WarpAccess<std::uint32_t> const& lanes, CaseCost& one) const {
    KernelWorst& worst = one.worst.emplace();
    worst.warp = number_;
    worst.lanes = lanes;
    add_assumptions(now.assumptions, worst);
    worst.every_launch = one.reached && now.assumptions.empty();
  }

  /// Cost of lanes whose addresses are known but for a part that all of them share, and whether an execution takes as much.
  void find_cost(LanesInCase const& now, CaseCost& one) {
    execution::ExecutedAccess const& access = now.access;
    bool const certain = (now.guard.rest() & now.warp.present()) == 0;
    bool const counted = access.exact && certain && now.memory.at_most.empty();
    std::uint32_t const surely_on =
        now.active & kernel_.iterations.surely(number_, access.loop, now.assumptions);
    if (now.memory.global)
      find_sectors(now, counted && surely_on == now.active && !access.apart, one);
    else if (search_.source != nullptr)
      find_copy(now, certain, counted && surely_on == now.active && !access.apart, one);
    else
      find_wavefronts(now, counted, surely_on, one);
    one.assumptions = now.assumptions;
    if (!one.unknown) note_known(one, now.active, now.assumptions);
    if (!certain) one.guard = kernel_.origins.origin_of_guard(now.warp, access.guard, now.guard);
    if (one.wavefronts <= search_.allowed || one.reached) return;
    for (Assumption const& a : now.assumptions)
      if (Origin const tried = kernel_.origins.origin(a.atom); tried.leaf != 0 && !one.unknown)
        depends(one, tried);
  }

  /// Adds the values of the case, and consecutive addresses of the variables whose low bits it has.
  void add_assumptions(Assumptions const& assumptions, KernelWorst& into) const {
    std::uint64_t free = 0x400;
    for (Assumption const& a : assumptions) {
      Leaf const* const l = kernel_.origins.leaf_at(a.atom);
      if (a.truth || l == nullptr || l->kind != Leaf::Kind::symbol) {
        into.values.emplace_back(text_of(a), a.value);
        continue;
      }
      program::Variable const& array = kernel_.program.symbols[l->extra];
      if (array.placed) {
        into.bases.emplace_back(short_name(array.name), *array.placed);
        continue;
      }
      std::uint64_t const period = a.bits >= 32 ? 0 : std::uint64_t{1} << a.bits;
      std::uint64_t const at = period == 0 ? a.value : free + (a.value - free) % period;
      into.bases.emplace_back(short_name(array.name), at);
      free = at + array.bytes;
    }
  }

  [[nodiscard]] std::string text_of(Assumption const& a) const {
    std::string const what = text_of_term(kernel_.program, kernel_.execution, a.atom);
    return a.truth || a.bits >= 64 ? what : fmt::format("({}) % {}", what, std::uint64_t{1} << a.bits);
  }

  /// Notes a case for a witness. Of a bound of banks, an execution may take less.
  void note_known(CaseCost& one, std::uint32_t lanes, Assumptions const& assumptions) const {
    std::optional<KnownCase> const& most = results_.cost.known;
    if (one.wavefronts > std::max(search_.allowed, most ? most->wavefronts : 0U))
      one.known = {one.wavefronts, number_, lanes, assumptions};
  }

  /// Leaves the case undecided, for this reason or because of the origin of the term `atom`.
  void give_up(Warp& warp, std::string reason, Id atom = 0) {
    search_.source_unknown = search_.source != nullptr;
    CaseCost one;
    Origin from = kernel_.origins.origin(atom);
    if (from.leaf == 0 && !(search_.out_of_steps && search_.waits()))
      from = launches_.data_in_a_launch(search_.memory, search_.access, number_);
    if (from.leaf != 0)
      depends(one, from);
    else
      one.unknown = true, one.reason = kernel_.origins.with_line(std::move(reason), atom);
    search_.why_incomplete = one.reason;
    one.wavefronts = most_wavefronts(kernel_.options, search_.memory, warp.present());
    one.active = warp.present();
    results_.faults.aligned = false, results_.faults.in_bounds = std::nullopt;
    add({}, std::move(one));
  }

  /// Requests the iteration of a loop instead, where it settles the request and more.
  void prefer_counter(Warp& warp, Request& request) {
    auto const take = [&](Id counter) {
      if (counter != 0) request.kind = Request::Kind::value, request.atom = counter;
    };
    Iterations& iterations = kernel_.iterations;
    // The iteration settles a register at a loop's header that depends on it alone, and the others there.
    if (request.kind != Request::Kind::truth)
      take(iterations.counter_that_settles(number_, warp, request.atom));
    // The iterations of a loop are fewer than the values of many bits, and settle the rest too.
    if (request.kind == Request::Kind::residue && request.bits > 8 &&
        iterations.of(number_, request.atom) != nullptr)
      take(request.atom);
    // Or no more than the values of some bits of a term with the counter, such as its quotient.
    if (request.kind == Request::Kind::residue)
      if (Id const counter = iterations.counter_around(number_, request.atom, search_.access.loop);
          iterations.count(number_, counter) <= std::uint64_t{1} << std::min(request.bits, 8U))
        take(counter);
    // And behind a loop only its last ones count, and settle all conditions on its counter.
    if (request.kind == Request::Kind::truth)
      take(iterations.counter_before(number_, request.atom, search_.access.loop));
  }

  /// All values of a request, each as an assumption; nothing if they are too many. The reason may say which.
  std::optional<Assumptions> values_of(Warp& warp, Request& request) {
    Assumptions values;
    if (request.kind == Request::Kind::truth) {
      Id atom = request.atom;
      auto const& nodes = kernel_.execution.terms.nodes();
      while (nodes[atom].op == Op::negation) atom = nodes[atom].a;
      for (std::uint64_t const v : {0U, 1U}) values.push_back({atom, true, 64, v});
      return values;
    }
    if (request.kind == Request::Kind::residue) {
      Facts const facts = warp.facts(request.atom);
      if (request.bits > most_residue_bits) return std::nullopt;
      for (std::uint64_t v = 0; v < std::uint64_t{1} << request.bits && v <= facts.most; ++v)
        if ((v & facts.zeros) == 0) values.push_back({request.atom, false, request.bits, v});
      return values;
    }
    if (auto const domain = warp.domain(request.atom, most_values)) {
      for (std::uint64_t const v : *domain) values.push_back({request.atom, false, 64, v});
      return values;
    }
    Id const around = kernel_.iterations.counter_around(number_, request.atom, search_.access.loop);
    if (around != 0) request.atom = around;
    LanesByIteration const* const all = kernel_.iterations.of(number_, request.atom);
    if (all == nullptr) {
      request.reason += ": " + text_of_term(kernel_.program, kernel_.execution, request.atom);
      return std::nullopt;
    }
    for (std::uint64_t k = 0; k < all->size(); ++k)
      if (kernel_.iterations.lanes_in(search_.access.loop, request.atom, *all, k).may != 0)
        values.push_back({request.atom, false, 64, k});
    return values;
  }

  /// Tries all values of a request.
  void split(Warp& warp, Assumptions const& assumptions, unsigned depth, Request request) {
    if (request.kind == Request::Kind::none || depth >= most_splits)
      return give_up(warp, request.reason.empty() ? "a value is not followed" : request.reason, request.atom);
    prefer_counter(warp, request);
    auto const values = values_of(warp, request);
    if (!values) return bound_by_bank(warp, assumptions, request, 0);
    if (results_.tried + values->size() > most_cases) {
      request.reason += fmt::format("; more than {} cases", most_cases);
      return bound_by_bank(warp, assumptions, request, 0);
    }
    for (Assumption const& v : *values) {
      Assumptions next = assumptions;
      // The same atom to more bits replaces what was assumed of it.
      std::size_t const replaced = std::erase_if(next, [&](Assumption const& a) { return a.atom == v.atom; });
      if (replaced != 0 && conflicts(assumptions, v)) continue;
      next.push_back(v);
      if (auto const number = number_if(v)) next.push_back(*number);
      solve(kernel_.warps.under(number_, next), next, depth + 1);
    }
  }

  /// The number that a variable has if it is equal to it, so that other conditions see it: n = 0 where n == 0 is assumed.
  [[nodiscard]] std::optional<Assumption> number_if(Assumption const& truth) const {
    auto const& nodes = kernel_.execution.terms.nodes();
    Node const& n = nodes[truth.atom];
    if (!truth.truth || truth.value == 0 || n.op != Op::eq) return std::nullopt;
    bool const first = nodes[n.a].op == Op::constant;
    Id const variable = first ? n.b : n.a, number = first ? n.a : n.b;
    if (nodes[number].op != Op::constant || nodes[variable].op != Op::variable) return std::nullopt;
    return Assumption{variable, false, 64, nodes[number].value};
  }

  /// A bound where addresses are known modulo a line of all banks, or would be if low bits of a value were: all of these are tried.
  /// `unknown`: what is not known of the address.
  void bound_by_bank(Warp& warp, Assumptions const& assumptions, Request const& unknown, unsigned depth) {
    program::MemoryAccess const& m = search_.memory;
    Id const address = search_.access.address;
    std::uint32_t const active = warp.present() & ~warp.truth(search_.access.guard).no;
    if (search_.source != nullptr) return give_up(warp, unknown.reason, unknown.atom);
    if (m.global) return bound_rows(warp, assumptions, unknown, active);
    if (auto const most = bound_of_banks(kernel_, warp, m, address, active))
      return add_bank_bound(assumptions, unknown, active, *most);
    unsigned const line_bits = static_cast<unsigned>(std::countr_zero(kernel_.options.arch->banks.row()));
    Lanes const v = m.atomic ? Lanes{} : warp.value(address, line_bits);
    Request const request = v.state == Lanes::State::stuck ? warp.request(v.why) : Request{};
    if (request.kind != Request::Kind::residue || request.bits > most_bank_bits || depth >= 2 ||
        ++results_.tried > most_cases || is_over()) {
      search_.out_of_steps = search_.out_of_steps || is_over();
      return give_up(warp, unknown.reason, unknown.atom);
    }
    std::uint64_t const zeros = warp.facts(request.atom).zeros;
    for (std::uint64_t r = 0; r < std::uint64_t{1} << request.bits; ++r) {
      if ((r & zeros) != 0) continue;
      Assumption const low{request.atom, false, request.bits, r};
      if (conflicts(assumptions, low)) continue;
      Assumptions next = assumptions;
      next.push_back(low);
      bound_by_bank(kernel_.warps.under(number_, next), next, unknown, depth + 1);
    }
  }
  /// A bound of sectors where rows of lanes are an unknown distance apart.
  void bound_rows(Warp& warp, Assumptions const& assumptions, Request const& unknown, std::uint32_t active) {
    auto const rows =
        is_over() ? std::nullopt : rows_of(kernel_, warp, search_.memory, search_.access.address, active);
    if (!rows) return give_up(warp, unknown.reason, unknown.atom);
    search_.near = true;
    add_bank_bound(assumptions, unknown, active, rows->most, rows->reached_by);
  }
  void add_bank_bound(Assumptions const& assumptions, Request const& unknown, std::uint32_t active,
                      unsigned most, Assumptions const& reached_by = {}) {
    search_.why_incomplete = unknown.reason;
    CaseCost one;
    one.active = active;
    one.wavefronts = most;
    Assumptions known = assumptions;
    known.insert(known.end(), reached_by.begin(), reached_by.end());
    if (!search_.memory.global || !reached_by.empty()) note_known(one, active, known);
    if (one.wavefronts > search_.allowed) {
      one.unknown = true, one.reason = kernel_.origins.with_line(unknown.reason, unknown.atom);
      if (Origin const from = kernel_.origins.origin(unknown.atom); from.leaf != 0)
        one.unknown = false, depends(one, from);
    }
    results_.faults.in_bounds = std::nullopt;
    add(assumptions, std::move(one));
  }

  ExecutedKernel& kernel_;
  AccessSearch& search_;
  unsigned const number_;  ///< number of the warp
  LanePatterns& patterns_;
  SampleLaunches& launches_;
  CaseResults results_{};
  bool turned_ = false;  ///< a case is one of split_turn()
};

}  // namespace

CaseResults decide_cases(ExecutedKernel& kernel, AccessSearch& search, unsigned warp, LanePatterns& patterns,
                         SampleLaunches& launches) {
  return CaseSearch(kernel, search, warp, patterns, launches).run();
}

}  // namespace swizproof::kernel_detail
