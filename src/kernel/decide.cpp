#include <swizproof/kernel/kernel.hpp>

#include "access_cost.hpp"
#include "address_text.hpp"
#include "arrays.hpp"
#include "executed_kernel.hpp"
#include "faults.hpp"
#include "parameter_terms.hpp"
#include "residues.hpp"
#include "wavefront_bound.hpp"
#include "launch.hpp"
#include "lanes.hpp"
#include "operands.hpp"
#include "origins.hpp"
#include "execution/replay.hpp"
#include "execution/runs.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/ptx/inline.hpp>
#include <swizproof/ptx/lower.hpp>
#include <swizproof/execution/warp.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <bit>
#include <filesystem>
#include <map>
#include <numeric>
#include <memory>
#include <set>

namespace swizproof {

namespace kernel_detail {
namespace {

using execution::Assumption;
using execution::ExecutedAccess;
using execution::Execution;
using execution::Lanes;
using execution::LaneTruths;
using execution::Launch;
using execution::Leaf;
using execution::Replay;
using execution::Request;
using execution::Runs;
using execution::Seen;
using execution::TermValues;
using execution::Warp;
using execution::Witnesses;
using program::Flow;
using program::MemoryAccess;
using program::Program;
using program::Variable;
using ptx::Function;
using ptx::Location;
using ptx::Module;

constexpr std::uint64_t most_lost = std::uint64_t{1} << 14;  ///< steps, beside an eighth of all: see lost_
constexpr std::size_t most_cases = 2048;                     ///< of one access in one warp
constexpr unsigned last_round = 2;                           ///< in which accesses are decided

// --------------------------------------------------------------------------------------- one kernel

/// Cost of one access in one warp.
struct Found {
  unsigned wavefronts = 0;
  bool reached = false;
  bool data = false;     ///< the address depends on data
  std::string reason{};  ///< of what is not decided, or depends on data
  bool unknown = false;
  Origin guard{};  ///< of a condition that is not decided
  std::optional<KernelWorst> worst{};
  std::vector<Assumption> assumptions{};  ///< of the worst
  std::uint32_t worst_lanes = 0;          ///< that execute it
  std::uint32_t active = 0;
};

class Decision {
 public:
  Decision(Module const& module, Program program, KernelOptions const& options, Launch launch, unsigned warps)
      : kernel_{module, options, std::move(launch), program::with_one_entry(std::move(program))},
        warps_(warps) {
    flow_ = program::flow_of(program_);
  }

  /// The accesses alone, each with the reason why it is not decided.
  std::vector<KernelAccess> list(std::string const& refused) {
    execution_.accesses.assign(program_.accesses.size(), {});
    std::vector<KernelAccess> out;
    for (std::size_t i = 0; i < program_.accesses.size(); ++i)
      if (auto access = decide(i, refused)) out.push_back(std::move(*access));
    return out;
  }

  /// Fixes of the arrays that have a refuted access, after `run`.
  std::vector<KernelFix> fixes() {
    for (ArrayAccess const& a : arrays_.to_search())
      for (number_ = 0; number_ < warps_; ++number_)
        if (!add_executions(a)) {
          arrays_.leave_out(a);
          break;
        }
    return arrays_.fixes(*options_.arch);
  }

  /// The accesses alone; generic ones where they are surely shared memory.
  std::vector<KernelAccess> name_them() {
    execution::execute(program_, flow_, execution_);
    names_only_ = true;
    std::vector<KernelAccess> out;
    for (std::size_t i = 0; i < program_.accesses.size(); ++i)
      if (auto access = decide(i, execution_.refused)) out.push_back(std::move(*access));
    return out;
  }

  std::vector<KernelAccess> run(std::string& refused) {
    execution::execute(program_, flow_, execution_);
    refused = execution_.refused;
    if (refused.empty() && (reads_memory() || !program_.operands.empty())) kernel_.warps.start(warps_);
    std::vector<KernelAccess> out;
    std::map<std::uint32_t, std::vector<std::pair<std::size_t, std::vector<LaneForm>>>> arrays;
    for (auto& [index, one] : decide_all(refused)) {
      arrays[one.forms.first].emplace_back(out.size(), std::move(one.forms.second));
      out.push_back(std::move(one.access));
    }
    for (auto& [symbol, accesses] : arrays) {
      std::vector<std::vector<LaneForm>> forms;
      for (auto& access : accesses) forms.push_back(std::move(access.second));
      auto const chosen = common_forms(std::move(forms));
      for (std::size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) out[accesses[i].first].layout = to_string(*chosen[i]);
    }
    return out;
  }

  /// True if a verdict may rest on a shuffle whose source lane is not known to execute it; after run() and operands().
  [[nodiscard]] bool assumes_sources() const { return execution_.assumes_sources; }

  /// The operands that no lane accesses itself; after run() or list().
  std::vector<KernelOperand> operands(std::string const& refused) {
    if (!refused.empty() || program_.operands.empty()) return list_operands(module_, program_, refused);
    return decide_operands(kernel_);
  }

 private:
  struct Decided {
    KernelAccess access{};
    std::pair<std::uint32_t, std::vector<LaneForm>> forms{};
  };
  /// The verdicts by the accesses' numbers. An access that needs more than its share of the steps waits until the others are decided:
  /// first those that need few steps, then those that need an eighth of what is left, then the rest.
  std::map<std::size_t, Decided> decide_all(std::string const& refused) {
    constexpr std::uint64_t few = 256, shares = 8;
    std::uint64_t const first =
        std::min(options_.steps / few, options_.steps / (4 * program_.accesses.size() + 1));
    std::map<std::size_t, Decided> all;
    std::vector<std::size_t> waiting(program_.accesses.size());
    std::iota(waiting.begin(), waiting.end(), std::size_t{0});
    for (unsigned const round : {0U, 1U, last_round}) {
      std::vector<std::size_t> late;
      for (std::size_t const i : waiting) {
        forms_ = {}, over_ = false, round_ = round;
        std::uint64_t const left = options_.steps - std::min(spent(), options_.steps);
        limit_ = round == last_round ? options_.steps
                                     : spent() + std::min(left / shares, round == 0 ? first : left);
        std::optional<KernelAccess> access = decide(i, refused);
        if (access && over_ && waits())
          late.push_back(i);
        else if (access)
          all[i] = {std::move(*access), std::move(forms_)};
      }
      waiting = std::move(late);
    }
    return all;
  }

  /// All executions of an access by a warp, in each iteration of the loops around it whose number is known; false if the
  /// addresses of one are not known, or if they are too many.
  bool add_executions(ArrayAccess const& a) {
    ExecutedAccess const& access = execution_.accesses[a.index];
    std::vector<std::pair<Id, std::uint64_t>> loops;
    std::uint64_t count = 1;
    for (auto loop = access.loop; loop >= 0; loop = flow_.loops[static_cast<std::size_t>(loop)].parent) {
      Id const counter = execution_.counters[static_cast<std::size_t>(loop)];
      if (LanesByIteration const* const all = kernel_.iterations.of(number_, counter)) {
        loops.emplace_back(counter, all->size());
        count = std::min<std::uint64_t>(count * all->size(), most_cases + 1);
      }
    }
    if (count > most_cases) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (spent() > options_.steps) return false;
      std::vector<Assumption> now;
      std::uint64_t rest = i;
      for (auto const& [counter, size] : loops)
        now.push_back({counter, false, 64, rest % size}), rest /= size;
      Warp& warp = now.empty() ? base() : kernel_.warps.under(number_, now);
      LaneTruths const guard = warp.truth(access.guard);
      std::uint32_t const on = warp.present() & ~guard.no;
      // Matrix instructions whose warp is not whole are undefined.
      if (on == 0) continue;
      if (a.instruction.matrices != 0 && on != ~0U) return false;
      if (!add_execution(a, warp, warp.value(access.address, 32), on)) return false;
    }
    return true;
  }
  /// The same for one iteration. What all lanes share beside the array's start may have a few values.
  bool add_execution(ArrayAccess const& a, Warp& warp, Lanes const& v, std::uint32_t active) {
    if (!v.split()) return false;
    std::optional<Id> start;
    std::vector<std::uint64_t> moved{0};
    for (auto const& [atom, factor] : v.terms) {
      std::uint32_t root = ~0U;
      if (factor == 1 && !start && origins_.root_of(atom, root) == Origins::Root::shared &&
          root == a.symbol) {
        start = atom;
        continue;
      }
      auto const few = origins_.origin(atom).leaf == 0 ? warp.domain(atom, 64) : std::nullopt;
      if (!few || few->size() * moved.size() > 64) return false;
      std::vector<std::uint64_t> sums;
      for (std::uint64_t const m : moved)
        for (std::uint64_t const x : *few) sums.push_back(m + factor * x);
      moved = std::move(sums);
    }
    return start && std::all_of(moved.begin(), moved.end(), [&](std::uint64_t by) {
             return arrays_.add_execution(a, *start, v.lane, by, active);
           });
  }

  [[nodiscard]] Location const& location(std::int32_t index) const {
    return module_.locations[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] SourceLine source_line(std::int32_t index) const {
    Location const& at = location(index);
    return {at.file < module_.files.size() ? module_.files[at.file] : "", at.line};
  }
  [[nodiscard]] bool reads_memory() const {
    return std::any_of(program_.accesses.begin(), program_.accesses.end(),
                       [](MemoryAccess const& m) { return m.instruction.has_value(); });
  }

  /// An access that is not decided: what it is, and its lines.
  [[nodiscard]] KernelAccess named(MemoryAccess const& m) const {
    KernelAccess out;
    out.op = m.op;
    out.instruction = m.instruction;
    out.ptx_line = m.line;
    out.pc = m.pc;
    out.sass = program_.language == "SASS";
    out.calls = m.calls;
    if (m.location < 0) return out;
    SourceLine const here = source_line(m.location);
    out.file = here.file, out.line = here.line;
    for (std::int32_t i = location(m.location).inlined_at; i >= 0; i = location(i).inlined_at)
      out.inlined_at.push_back(source_line(i));
    return out;
  }

  /// An access that waits, being over its share of the steps, is not kept for fixes.
  std::optional<KernelAccess> decide(std::size_t index, std::string const& refused) {
    MemoryAccess const& m = program_.accesses[index];
    ExecutedAccess const done = execution_.accesses.empty() ? ExecutedAccess{} : execution_.accesses[index];
    KernelAccess out = named(m);
    if (m.instruction && !m.atomic && !has(*options_.arch, *m.instruction)) {
      out.reason = std::string(options_.arch->name) + " has no " + to_string(*m.instruction);
      out.instruction.reset();
      return out;
    }
    if (m.instruction)
      out.ideal =
          m.atomic ? most_wavefronts(options_, m, 1) : ideal_wavefronts(*options_.arch, *m.instruction);
    out.allowed = allowed(out);
    out.atomic = m.atomic.has_value();
    std::uint32_t symbol = ~0U;
    if (refused.empty() && done.reached) {
      Origins::Root const root = origins_.root_of(done.address, symbol);
      if (m.generic && root != Origins::Root::shared) {
        if (root == Origins::Root::other || origins_.rooted_in_parameter(done.address) ||
            !program_.makes_generic)
          return std::nullopt;  // not shared memory
        out.address = text_of_term(program_, execution_, done.address);
        generic_from_memory(root, done, m, out);
        return out;
      }
      out.address = text_of_term(program_, execution_, done.address);
    } else if (m.generic) {
      return std::nullopt;  // of no known root, in code that is not executed
    }
    if (!refused.empty() || names_only_) {
      out.reason = refused;
      return out;
    }
    if (!done.reached) {
      out.executed = false;
      out.reason = "no path leads to it";
      out.verdict = KernelVerdict::proved;
      out.wavefronts = 0;
      if (options_.lanes) out.lanes.emplace();
      return out;
    }
    if (!m.instruction || (m.atomic && !same_law(*options_.arch, sm_90))) {
      out.reason = m.instruction ? "the cost of atomics was measured for sm_90 alone" : m.reason;
      return out;
    }
    decide_cost(done, m, out, symbol);
    kernel_.warps.release();
    if (options_.fixes && symbol != ~0U && out.executed && !(over_ && waits()))
      arrays_.add(index, symbol, out);
    return out;
  }

  /// True if an access that comes to its limit is decided again.
  [[nodiscard]] bool waits() const { return round_ < last_round; }

  [[nodiscard]] unsigned allowed(KernelAccess const& access) const {
    for (LineAllowance const& a : options_.allow)
      if (is_at(access, a.line, options_.file)) return a.at_most;
    return options_.at_most.value_or(access.ideal + options_.excess);
  }

  // ------------------------------------------------------------------------------------- cost

  /// A generic address of no symbol and no parameter: it depends on data if nothing but loads gives it.
  void generic_from_memory(Origins::Root root, ExecutedAccess const& access, MemoryAccess const& m,
                           KernelAccess& out) {
    if (root == Origins::Root::mixed) {
      out.reason = "a generic address that is shared memory in one case and other memory in another";
      return;
    }
    out.reason = "a generic address that comes from memory: it may be shared memory";
    Origin const from = origins_.origin(access.address);
    if (from.leaf == 0 || !from.data || !m.instruction || m.atomic) return;
    out.verdict = KernelVerdict::data;
    out.wavefronts = most_wavefronts(options_, m, ~0U);
    out.reason = "the address depends on " + origins_.text_of(from.leaf) + ": it may be shared memory";
    out.bounds_reason = no_known_array;
  }

  /// Result of all cases so far.
  struct Cases {
    Found found{};
    std::size_t tried = 0;
    Faults faults{};
  };

  void merge(Found& into, Found&& one) {
    into.unknown |= one.unknown;
    into.data |= one.data;
    if ((into.reason.empty() || (one.unknown && !one.reason.empty())) && !one.reason.empty())
      into.reason = one.reason;
    into.guard = stronger(into.guard, one.guard);
    into.active |= one.active;
    if (one.wavefronts > into.wavefronts ||
        (one.wavefronts == into.wavefronts && (one.reached > into.reached || !into.worst))) {
      into.wavefronts = one.wavefronts;
      into.reached = one.reached;
      into.worst = std::move(one.worst);
      into.assumptions = std::move(one.assumptions);
      into.worst_lanes = one.worst_lanes;
    }
  }

  /// An address that depends on what is not known.
  void depends(Found& one, Origin const& on) const {
    (on.data ? one.data : one.unknown) = true;
    one.reason = "the address depends on " + origins_.text_of(on.leaf);
  }

  /// One access in one warp, under assumptions; tries all cases of what it is stuck at.
  void solve(Warp& warp, ExecutedAccess const& access, MemoryAccess const& m,
             std::vector<Assumption> const& assumptions, Cases& cases, std::uint32_t symbol,
             unsigned depth = 0) {
    // Nothing is left that it could say of all warps.
    if (number_ == Warp::every && cases.found.unknown && !cases.faults.aligned && !cases.faults.in_bounds)
      return;
    over_ = over_ || spent() > limit_;
    if (++cases.tried > most_cases || over_)
      return give_up(warp, access, m, cases,
                     over_ ? fmt::format("the limit of {} steps for one kernel", options_.steps)
                           : fmt::format("more than {} cases", most_cases));
    Found one;
    swizproof::Instruction const instruction = *m.instruction;
    LaneTruths const guard = warp.truth(access.guard);
    std::uint32_t const active = warp.present() & ~guard.no;
    one.active = active;
    if (active == 0) return merge(cases.found, std::move(one));
    auto const done = [&] {
      add_residue(assumptions, one.wavefronts);
      merge(cases.found, std::move(one));
    };
    Lanes const v = warp.value(access.address, 32);
    if (v.state == Lanes::State::varying) {
      std::optional<unsigned> const few = bound_of_varying(kernel_, warp, m, access.address, active);
      one.wavefronts = few.value_or(most_wavefronts(options_, m, active));
      depends(one, origins_.origin_of_varying(warp, access.address, v.why));
      open_ = one.reason;
      cases.faults.aligned = cases.faults.aligned && few, cases.faults.in_bounds = std::nullopt;
      return done();
    }
    if (v.split() && instruction.bytes < 4)
      for (auto const& [atom, factor] : v.terms)
        if (static_cast<unsigned>(std::countr_zero(factor)) + warp.trailing_zeros(atom) < 2)
          return split(warp, access, m, assumptions, cases, symbol, depth,
                       {Request::Kind::residue, atom, 2U - static_cast<unsigned>(std::countr_zero(factor)),
                        "an address within a word"});
    if (!v.split()) return split(warp, access, m, assumptions, cases, symbol, depth, warp.request(v.why));
    // Behind a loop its last iteration may tell that no lane comes here.
    if (Id const counter = guard.atom != 0 && depth < 6
                               ? kernel_.iterations.counter_before(number_, guard.atom, access.loop)
                               : 0;
        counter != 0 && cases.tried + kernel_.iterations.of(number_, counter)->size() <= most_cases)
      return split(warp, access, m, assumptions, cases, symbol, depth,
                   {Request::Kind::value, counter, 0, ""});
    cost_lanes(access, m, assumptions, cases, guard, v, warp, one);
    LanesInCase const now{m, access, symbol, number_, warp, assumptions, v, guard, active};
    if (options_.lanes)
      if (std::string why = patterns_.add(now, kept_); !why.empty()) open_ = std::move(why);
    add_to_layout(kernel_, now, layout_);
    check_faults(kernel_, now, cases.faults, faults_);
    done();
  }

  void add_residue(std::vector<Assumption> const& assumptions, unsigned wavefronts) {
    residues_.add(kernel_, assumptions, wavefronts);
  }

  /// Cost of lanes whose addresses are known except for a part that all of them share; alignment, and whether the cost is reached.
  void cost_lanes(ExecutedAccess const& access, MemoryAccess const& m,
                  std::vector<Assumption> const& assumptions, Cases& cases, LaneTruths const& guard,
                  Lanes const& v, Warp& warp, Found& one) {
    swizproof::Instruction const instruction = *m.instruction;
    std::uint32_t const active = one.active;
    bool const certain = (guard.rest() & warp.present()) == 0;
    std::uint64_t const unit = std::uint64_t{instruction.bytes} - 1;
    std::uint64_t shift = 0;
    bool same_residue = true;
    bool first = true;
    for (unsigned l = 0; l < 32; ++l) {
      if (!takes_part(instruction, active, l)) continue;
      if (first) shift = v.lane[l] & unit, first = false;
      same_residue = same_residue && (v.lane[l] & unit) == shift;
    }
    std::array<std::uint64_t, 32> address = v.lane;
    if (same_residue)
      for (std::uint64_t& a : address) a -= shift;
    KernelWorst worst;
    LanesCost const lanes = cost_of(options_, m, active, address);
    one.wavefronts = lanes.wavefronts;
    worst.lanes = lanes.lanes;
    worst.warp = number_;
    for (Assumption const& a : assumptions) worst.values.emplace_back(assumption_text(a), a.value);
    // One lane takes as many: then every execution does, and there is one if a lane surely executes it.
    std::uint32_t const surely_on = active & kernel_.iterations.surely(number_, access.loop, assumptions);
    bool const least = surely_on != 0 && one.wavefronts == most_wavefronts(options_, m, 1);
    // Matrix instructions whose warp is not whole are undefined.
    bool const whole = instruction.matrices == 0 || active == ~0U;
    bool const sure = surely_on == active && !access.apart;
    one.reached =
        access.exact && certain && (sure || least) && same_residue && whole && is_exact(program_, m);
    if (!same_residue) one.unknown = true, one.reason = "some lanes are not aligned";
    one.worst = std::move(worst);
    one.assumptions = assumptions;
    one.worst_lanes = active;
    if (!certain && guard.stuck)
      one.guard = origins_.origin(warp.request(guard.why).atom);
    else if (!certain)
      one.guard = guard.atom != 0 ? origins_.origin(guard.atom)
                                  : origins_.origin_of_varying(warp, access.guard, guard.why);
    if (one.wavefronts <= allowed_ || one.reached) return;
    for (Assumption const& a : assumptions)
      if (Origin const tried = origins_.origin(a.atom); tried.leaf != 0 && !one.unknown) depends(one, tried);
  }

  /// The load that an address depends on in executions with some numbers of the block, of blocks, and parameters: in first iterations of
  /// the loops around it, and behind the last ones of others. Lanes must surely execute it there, or if a load says so, and no bound
  /// may show that all addresses take as few wavefronts as they must.
  Origin data_in_a_launch(ExecutedAccess const& access, MemoryAccess const& m) {
    unsigned const asked = number_;
    if (number_ == Warp::every) number_ = 0;
    auto const [memo, fresh] =
        data_in_a_launch_.try_emplace({access.address, access.guard, access.loop, m.instruction->bytes});
    constexpr std::array<SomeLaunch, 4> launches{
        {{1, 1, 0}, {64, 64, 63}, {1U << 20, 1U << 20, 0}, {1000, 1, 0}}};
    for (SomeLaunch const& some : launches) {
      // Beyond the limit of steps for as many again.
      if (!fresh || memo->second.data || spent() / 2 > options_.steps) break;
      Warp& scratch = kernel_.warps.under(number_, numbers_of(some, access));
      LaneTruths const guard = scratch.truth(access.guard);
      std::uint32_t const active = scratch.present() & ~guard.no;
      if (active == 0) continue;
      Origin const decides = guard.stuck || guard.atom != 0
                                 ? origins_.origin(guard.stuck ? scratch.request(guard.why).atom : guard.atom)
                                 : origins_.origin_of_varying(scratch, access.guard, guard.why);
      if ((scratch.present() & guard.yes) == 0 && !decides.data) continue;
      Lanes const v = scratch.value(access.address, 32);
      Origin from;
      if (v.state == Lanes::State::varying) from = origins_.origin_of_varying(scratch, access.address, v.why);
      if (v.state == Lanes::State::stuck) from = origins_.origin(scratch.request(v.why).atom);
      if (from.data && bound_of_varying(kernel_, scratch, m, access.address, active).value_or(~0U) >
                           ideal_wavefronts(*options_.arch, *m.instruction))
        memo->second = from;
    }
    number_ = asked;
    return memo->second;
  }

  /// A launch for data_in_a_launch(): each parameter, the number of blocks in each dimension, and the block's.
  struct SomeLaunch {
    std::uint64_t parameter, blocks, block;
  };
  std::vector<Assumption> numbers_of(SomeLaunch const& some, ExecutedAccess const& access) {
    std::vector<Assumption> launch;
    for (Id const counter : execution_.counters) {
      if (counter == 0) continue;
      if (kernel_.iterations.counts_around(counter, access.loop))
        launch.push_back({counter, false, 64, 0});
      else if (LanesByIteration const* const all = kernel_.iterations.of(number_, counter))
        launch.push_back({counter, false, 64, all->size() - 1});
    }
    for (Id const id : origins_.leaves_of({access.address, access.guard})) {
      Leaf const& l = *origins_.leaf_at(id);
      auto const s = static_cast<program::Special>(l.extra);
      bool const special = l.kind == Leaf::Kind::special;
      bool const its = special && s >= program::Special::ctaid_x && s <= program::Special::ctaid_z,
                 blocks = special && s >= program::Special::nctaid_x && s <= program::Special::nctaid_z;
      if (its || blocks || free_parameter(kernel_, id, 0) == id)
        launch.push_back({id, false, 64, its ? some.block : blocks ? some.blocks : some.parameter});
    }
    return launch;
  }

  /// The access is not decided in this case: for this reason, or because of what the atom comes from.
  void give_up(Warp& warp, ExecutedAccess const& access, MemoryAccess const& m, Cases& cases,
               std::string reason, Id atom = 0) {
    Found one;
    Origin from = origins_.origin(atom);
    if (from.leaf == 0 && !(over_ && waits())) from = data_in_a_launch(access, m);
    if (from.leaf != 0)
      depends(one, from);
    else
      one.unknown = true, one.reason = std::move(reason);
    open_ = one.reason;
    one.wavefronts = most_wavefronts(options_, m, warp.present());
    one.active = warp.present();
    add_residue({}, one.wavefronts);
    cases.faults.aligned = false, cases.faults.in_bounds = std::nullopt;
    merge(cases.found, std::move(one));
  }

  std::string assumption_text(Assumption const& a) {
    std::string const what = text_of_term(program_, execution_, a.atom);
    return a.truth || a.bits >= 64 ? what : fmt::format("({}) % {}", what, std::uint64_t{1} << a.bits);
  }

  void split(Warp& warp, ExecutedAccess const& access, MemoryAccess const& m,
             std::vector<Assumption> const& assumptions, Cases& cases, std::uint32_t symbol, unsigned depth,
             Request request) {
    if (request.kind == Request::Kind::none || depth >= 6)
      return give_up(warp, access, m, cases,
                     request.reason.empty() ? "a value is not followed" : request.reason, request.atom);
    // The iteration settles a register at a loop's header that depends on it alone, and the others there.
    if (request.kind != Request::Kind::truth)
      if (Id const counter = kernel_.iterations.counter_that_settles(number_, warp, request.atom);
          counter != 0)
        request.kind = Request::Kind::value, request.atom = counter;
    // The iterations of a loop are fewer than the values of many bits, and settle the rest too.
    if (request.kind == Request::Kind::residue && request.bits > 8 &&
        kernel_.iterations.of(number_, request.atom) != nullptr)
      request.kind = Request::Kind::value;
    // And behind a loop only its last ones count, and settle all conditions on its counter.
    if (request.kind == Request::Kind::truth)
      if (Id const counter = kernel_.iterations.counter_before(number_, request.atom, access.loop);
          counter != 0)
        request.kind = Request::Kind::value, request.atom = counter;
    std::vector<Assumption> values;
    if (request.kind == Request::Kind::truth) {
      Id atom = request.atom;
      while (execution_.terms.nodes()[atom].op == Op::negation) atom = execution_.terms.nodes()[atom].a;
      for (std::uint64_t const v : {0U, 1U}) values.push_back({atom, true, 64, v});
    } else if (request.kind == Request::Kind::residue) {
      std::uint64_t const zeros = warp.facts(request.atom).zeros;
      std::uint64_t const most = warp.facts(request.atom).most;
      if (request.bits > 16) return bound_by_bank(warp, access, m, assumptions, cases, request);
      for (std::uint64_t v = 0; v < std::uint64_t{1} << request.bits && v <= most; ++v)
        if ((v & zeros) == 0) values.push_back({request.atom, false, request.bits, v});
    } else {
      auto const domain = warp.domain(request.atom, 512);
      LanesByIteration const* const all = domain ? nullptr : kernel_.iterations.of(number_, request.atom);
      if (!domain && all == nullptr) {
        request.reason += ": " + text_of_term(program_, execution_, request.atom);
        return bound_by_bank(warp, access, m, assumptions, cases, request);
      }
      for (std::uint64_t i = 0; i < (domain ? domain->size() : all->size()); ++i)
        if (domain || kernel_.iterations.lanes_in(access.loop, request.atom, *all, i).may != 0)
          values.push_back({request.atom, false, 64, domain ? (*domain)[i] : i});
    }
    if (cases.tried + values.size() > most_cases) {
      request.reason += fmt::format("; more than {} cases", most_cases);
      return bound_by_bank(warp, access, m, assumptions, cases, request);
    }
    for (Assumption const& v : values) {
      std::vector<Assumption> next = assumptions;
      // The same atom to more bits replaces what was assumed of it.
      std::erase_if(next, [&](Assumption const& a) { return a.atom == v.atom; });
      if (next.size() + 1 != assumptions.size() + 1 && conflicts(assumptions, v)) continue;
      next.push_back(v);
      solve(kernel_.warps.under(number_, next), access, m, next, cases, symbol, depth + 1);
    }
  }
  /// An access whose addresses are known modulo a line of all banks alone, or would be if low bits of a value were, all of which are
  /// tried. `unknown` is what is not known of the address.
  void bound_by_bank(Warp& warp, ExecutedAccess const& access, MemoryAccess const& m,
                     std::vector<Assumption> const& assumptions, Cases& cases, Request const& unknown,
                     unsigned depth = 0) {
    std::uint32_t const active = warp.present() & ~warp.truth(access.guard).no;
    if (auto const most = bound_of_banks(kernel_, warp, m, access.address, active)) {
      open_ = unknown.reason;
      Found one;
      one.active = active;
      one.wavefronts = *most;
      if (one.wavefronts > allowed_) {
        one.unknown = true, one.reason = unknown.reason;
        if (Origin const from = origins_.origin(unknown.atom); from.leaf != 0)
          one.unknown = false, depends(one, from);
      }
      cases.faults.in_bounds = std::nullopt;
      add_residue(assumptions, one.wavefronts);
      return merge(cases.found, std::move(one));
    }
    Lanes const v =
        m.atomic
            ? Lanes{}
            : warp.value(access.address, static_cast<unsigned>(std::countr_zero(options_.arch->banks.row())));
    Request const request = v.state == Lanes::State::stuck ? warp.request(v.why) : Request{};
    if (request.kind != Request::Kind::residue || request.bits > 7 || depth >= 2 ||
        ++cases.tried > most_cases || spent() > limit_) {
      over_ = over_ || spent() > limit_;
      return give_up(warp, access, m, cases, unknown.reason, unknown.atom);
    }
    std::uint64_t const zeros = warp.facts(request.atom).zeros;
    for (std::uint64_t r = 0; r < std::uint64_t{1} << request.bits; ++r) {
      if ((r & zeros) != 0) continue;
      Assumption const low{request.atom, false, request.bits, r};
      if (conflicts(assumptions, low)) continue;
      std::vector<Assumption> next = assumptions;
      next.push_back(low);
      bound_by_bank(kernel_.warps.under(number_, next), access, m, next, cases, unknown, depth + 1);
    }
  }
  static bool conflicts(std::vector<Assumption> const& assumptions, Assumption const& v) {
    for (Assumption const& a : assumptions)
      if (a.atom == v.atom && a.bits < 64 && ((a.value ^ v.value) & ((std::uint64_t{1} << a.bits) - 1)) != 0)
        return true;
    return false;
  }

  /// The warp that is being decided, with no assumptions.
  Warp& base() { return kernel_.warps.plain(number_); }

  std::uint64_t spent() const { return kernel_.warps.steps(); }

  /// The answer for a warp of any number, which holds in each.
  struct Together {
    unsigned wavefronts = 0;  ///< at most
    bool data = false, unknown = false;
    bool known = false;  ///< all addresses
    bool aligned = false;
    std::optional<bool> in_bounds{};
    std::vector<unsigned> residues{};
    LaneLayout layout{};
  };
  /// Decides an access for a warp of any number; nothing if that takes too many steps, or if an eighth of all steps was for nothing.
  /// One that takes half of the steps of the first round waits; later it may take an eighth.
  std::optional<Together> decide_together(ExecutedAccess const& access, MemoryAccess const& m,
                                          std::uint32_t symbol) {
    constexpr unsigned least_warps = 3;
    if (warps_ < least_warps || !waits() || lost_ > most_lost + spent() / 8 || options_.lanes ||
        !Warp::lanes_of(launch_))
      return std::nullopt;
    number_ = Warp::every;
    std::uint64_t const limit = limit_, now = spent();
    limit_ = now + (limit_ - std::min(limit_, now)) / (round_ == 0 ? 2 : 8);
    Cases cases;
    solve(base(), access, m, {}, cases, symbol);
    lost_ += spent() - now;
    std::optional<Together> out;
    if (!over_)
      out = {cases.found.wavefronts, cases.found.data,       cases.found.unknown, open_.empty(),
             cases.faults.aligned,   cases.faults.in_bounds, residues_.table(),   layout_};
    limit_ = limit, over_ = over_ && round_ == 0;
    faults_ = {}, residues_ = {}, layout_ = {};
    open_.clear();
    return out;
  }

  /// True if the warps that are left change nothing but alignment, bounds and the layout, which are those of `together`, if it is known.
  bool is_settled(MemoryAccess const& m, Cases const& all, std::optional<Together> const& together,
                  bool bounded) {
    Found const& found = all.found;
    if (found.unknown)  // no bound is higher, and no other warp makes it known
      return found.wavefronts >= most_wavefronts(options_, m, ~0U) && residues_.table().size() <= 1 &&
             (together || (!all.faults.aligned && !all.faults.in_bounds));
    if (!together || together->unknown || found.wavefronts != together->wavefronts ||
        found.data != together->data || residues_.table() != together->residues)
      return false;
    bool const alike = together->known && together->aligned && (together->in_bounds || !bounded);
    if (found.data || !alike || !(found.reached || found.wavefronts <= allowed_)) return found.data;
    return !together->layout.forms().empty() || layout_.forms().empty();
  }

  /// Decides an access warp by warp, until the answer is that of all; true if one of them executes it.
  bool decide_warps(ExecutedAccess const& access, MemoryAccess const& m, std::uint32_t symbol, Cases& all) {
    std::uint64_t const lost = lost_;
    std::optional<Together> const together = decide_together(access, m, symbol);
    bool any = false;
    for (number_ = 0; number_ < warps_; ++number_) {
      Cases cases;
      solve(base(), access, m, {}, cases, symbol);
      any = any || cases.found.active != 0;
      if (cases.found.active != 0) {
        all.faults.aligned = all.faults.aligned && cases.faults.aligned;
        all.faults.misaligned = all.faults.misaligned || cases.faults.misaligned;
        if (all.faults.in_bounds) all.faults.in_bounds = cases.faults.in_bounds;
      }
      merge(all.found, std::move(cases.found));
      if (!is_settled(m, all, together, extent_of(kernel_, symbol).bytes != 0)) continue;
      if (together) {
        all.faults.aligned = all.faults.aligned && together->aligned;
        if (all.faults.in_bounds) all.faults.in_bounds = together->in_bounds;
        if (number_ + 1 < warps_) lost_ = lost - std::min(lost, lost_ - lost);
        layout_ = together->layout;
      }
      break;
    }
    return any;
  }

  void decide_cost(ExecutedAccess const& access, MemoryAccess const& m, KernelAccess& out,
                   std::uint32_t symbol) {
    Cases all;
    faults_ = {}, allowed_ = out.allowed;
    residues_ = {}, layout_ = {};
    open_.clear(), kept_.clear();
    bool const any = decide_warps(access, m, symbol, all);
    Found& found = all.found;
    out.wavefronts = found.wavefronts;
    out.reached = found.reached;
    out.executed = any;
    out.worst = std::move(found.worst);
    if (auto table = residues_.table(); table.size() > 1)
      out.function = {text_of_term(program_, execution_, *residues_.parameter()), std::move(table)};
    if (any) {
      if (all.faults.misaligned)
        out.aligned = false;
      else if (all.faults.aligned)
        out.aligned = true;
      out.in_bounds = faults_.outside.empty() ? all.faults.in_bounds : std::optional(false);
      if (!out.in_bounds) out.bounds_reason = why_no_bounds(kernel_, access, symbol);
    }
    if (options_.lanes && open_.empty()) out.lanes.emplace(kept_.begin(), kept_.end());
    if (options_.lanes) out.place = patterns_.place_of(access);
    out.in_loop = access.loop >= 0;
    out.open = open_;
    if (open_.empty()) forms_ = {symbol, layout_.forms()};
    if (any && is_exact(program_, m)) replay(access, m, found, out);
    judge(access, found, out, m);
  }

  /// The origin of whether an access is executed: of its guard, and of the number of iterations of the loops around it.
  Origin origin_of_path(ExecutedAccess const& access) {
    Origin out = origins_.origin(access.guard);
    for (std::int32_t l = access.loop; l >= 0; l = flow_.loops[static_cast<std::size_t>(l)].parent)
      for (Id const exit : execution_.exits[static_cast<std::size_t>(l)])
        out = stronger(out, origins_.origin(exit));
    return out;
  }

  /// True if the worst case that was found assumes nothing but iterations and data.
  bool counts_alone(Found const& found) {
    return std::all_of(found.assumptions.begin(), found.assumptions.end(), [&](Assumption const& a) {
      Leaf const* const l = origins_.leaf_at(a.atom);
      return (l != nullptr && (l->kind == Leaf::Kind::counter || l->kind == Leaf::Kind::phi)) ||
             origins_.origin(a.atom).data;
    });
  }

  void judge(ExecutedAccess const& access, Found const& found, KernelAccess& out, MemoryAccess const& m) {
    out.reason = found.reason;
    if (out.aligned == false || out.in_bounds == false) {
      out.verdict = KernelVerdict::refuted;
      out.reason = out.aligned == false ? faults_.misaligned : faults_.outside;
    } else if (*out.wavefronts <= out.allowed) {
      out.verdict = KernelVerdict::proved;  // for all data: the bound holds
      out.reason = out.executed ? "" : "no lane executes it";
    } else if ((out.reached || out.seen != 0) && is_exact(program_, m)) {
      out.verdict = KernelVerdict::refuted;
      out.reason = "";
    } else if (found.unknown) {
      out.verdict = KernelVerdict::unknown;
    } else if (found.data) {
      out.verdict = KernelVerdict::data;
    } else if (!is_exact(program_, m)) {
      out.verdict = KernelVerdict::unknown;
      out.reason = "lanes of this atomic share a bank; what an atomic takes may be less (assumption H14)";
    } else {
      bool const guarded = found.guard.leaf != 0;
      Origin const path = guarded ? found.guard : counts_alone(found) ? origin_of_path(access) : Origin{};
      out.verdict = path.data ? KernelVerdict::data : KernelVerdict::unknown;
      out.reason = guarded     ? "which lanes take part depends on " + origins_.text_of(path.leaf)
                   : path.data ? "whether it is executed depends on " + origins_.text_of(path.leaf)
                               : "no execution was found that takes as many";
    }
  }

  /// Runs the access on numbers: a second opinion on the bound, and a search for an execution that reaches it.
  void replay(ExecutedAccess const& access, MemoryAccess const& m, Found const& found, KernelAccess& out) {
    std::set<unsigned> warps{0, out.worst ? out.worst->warp : 0U};
    for (unsigned const w : warps) {
      Replay::Trips const known = kernel_.iterations.around(w, access.loop);
      for (unsigned attempt = 0; attempt < 28; ++attempt) {
        // Styles up to 7 run first iterations; 8 and 9 any, for the second opinion alone.
        unsigned const style = attempt < 10 ? attempt : 7;
        if (style > 0 && style < 8 && (out.reached || *out.wavefronts <= out.ideal)) continue;
        Replay run(program_, flow_, execution_, launch_, kernel_.warps.plain(w), access.loop,
                   m.line * 1000003ULL + attempt, style, known, replayed_);
        replay_once(run, w, access, m, out);
      }
    }
    if (out.reached || *out.wavefronts <= out.allowed) return;
    std::uint32_t const index = index_of(m);
    bool const open = found.worst && !found.data && !found.unknown && !found.guard.data;
    unsigned const w = found.worst ? found.worst->warp : 0;
    auto const values = !open || runs_.seen(index, *out.wavefronts).wavefronts == *out.wavefronts
                            ? std::nullopt
                            : witnesses_.find(kernel_.warps.plain(w), w, access.loop, access.guard,
                                              found.worst_lanes, found.assumptions);
    if (values && access.exact) {
      Replay::Trips const known = kernel_.iterations.around(w, access.loop);
      Replay run(program_, flow_, execution_, launch_, kernel_.warps.plain(w), access.loop, m.line, 7, known,
                 replayed_);
      run.give(*values);
      replay_once(run, w, access, m, out);
    }
    if (values && !out.reached) runs_.run_with(*values, w);
    if (!out.reached) take_seen(runs_.seen(index, *out.wavefronts), access, m, out);
  }
  /// Takes what a run has seen: a lower bound of the most that the access costs.
  void take_seen(Seen const& seen, ExecutedAccess const& access, MemoryAccess const& m,
                 KernelAccess& out) const {
    check_bound(seen.wavefronts, seen.worst.warp, m, out);
    out.reached = seen.wavefronts == *out.wavefronts;
    if (!out.reached && seen.wavefronts > out.allowed) out.seen = seen.wavefronts;
    if (!out.reached && out.seen == 0) return;
    out.worst = seen.worst;
    out.worst->bases = needed_bases(seen.bases, access);
  }
  /// Throws Disagreement if an execution costs more than was proved.
  static void check_bound(unsigned wavefronts, unsigned warp, MemoryAccess const& m,
                          KernelAccess const& proved) {
    if (wavefronts > *proved.wavefronts)
      throw Disagreement(
          fmt::format("{} line {}: {} takes {} wavefronts in warp {}, and at most {} were proved",
                      proved.sass ? "SASS" : "PTX", m.line, m.op, wavefronts, warp, *proved.wavefronts));
  }
  [[nodiscard]] std::uint32_t index_of(MemoryAccess const& m) const {
    return static_cast<std::uint32_t>(&m - program_.accesses.data());
  }
  /// The addresses of an execution's variables that its cost may depend on.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> needed_bases(
      std::map<std::uint32_t, std::uint64_t> const& bases, ExecutedAccess const& access) const {
    std::vector<std::pair<std::string, std::uint64_t>> out;
    for (std::uint32_t const symbol : origins_.bases_of(access))
      if (auto const at = bases.find(symbol); at != bases.end())
        out.emplace_back(short_name(program_.symbols[symbol].name), at->second);
    return out;
  }
  /// One run in a warp. It may show that the bound is reached.
  void replay_once(Replay& run, unsigned w, ExecutedAccess const& access, MemoryAccess const& m,
                   KernelAccess& out) {
    auto const guard = run.value(access.guard);
    auto const address = run.value(access.address);
    if (!run.valid()) return;
    std::uint32_t active = 0;
    for (unsigned l = 0; l < 32; ++l)
      if (guard[l] != 0 && (kernel_.warps.plain(w).present() >> l & 1) != 0) active |= 1U << l;
    auto const cost = active == 0 ? std::nullopt : cost_in_run(kernel_, index_of(m), active, address);
    if (!cost) return;
    auto const& [wavefronts, lanes] = *cost;
    check_bound(wavefronts, w, m, out);
    if (!access.exact || access.apart || !run.certain() || wavefronts != *out.wavefronts || out.reached)
      return;
    out.reached = true;
    KernelWorst worst;
    worst.warp = w;
    worst.lanes = lanes;
    worst.values = run.parameters();
    worst.bases = needed_bases(run.bases(), access);
    out.worst = std::move(worst);
  }

  ExecutedKernel kernel_;
  Module const& module_ = kernel_.module;
  KernelOptions const& options_ = kernel_.options;
  Launch const& launch_ = kernel_.launch;
  Program const& program_ = kernel_.program;
  Flow& flow_ = kernel_.flow;
  unsigned warps_;
  unsigned number_ = 0;
  Execution& execution_ = kernel_.execution;
  Origins& origins_ = kernel_.origins;
  Witnesses witnesses_{program_, flow_, execution_, launch_};
  Arrays arrays_{program_, execution_};
  TermValues replayed_{};   ///< of the replay that runs
  std::uint64_t lost_ = 0;  ///< steps for which it was of no use, less those of others
  Runs runs_{program_,
             flow_,
             execution_,
             launch_,
             kernel_.warps.all(),
             [this](std::uint32_t access, std::uint32_t lanes, Runs::Addresses const& address) {
               auto const cost = cost_in_run(kernel_, access, lanes, address);
               return cost ? std::optional(std::pair(cost->wavefronts, cost->lanes)) : std::nullopt;
             }};
  std::map<std::tuple<Id, Id, std::int32_t, unsigned>, Origin>
      data_in_a_launch_{};                   ///< by address, guard, loop and bytes
  std::uint64_t limit_ = ~std::uint64_t{0};  ///< of all steps, while an access is decided
  bool over_ = false;                        ///< whether it came to it
  unsigned round_ = 0;                       ///< of the accesses that came to it
  unsigned allowed_ = 0;                     ///< wavefronts, of the access that is being decided
  Residues residues_{};                      ///< of the same
  LaneLayout layout_{};                      ///< of the same
  std::pair<std::uint32_t, std::vector<LaneForm>> forms_{};  ///< of the same: its array, and layouts
  FirstFaults faults_{};
  bool names_only_ = false;
  LanePatterns patterns_{kernel_};
  std::set<KernelLanes> kept_{};  ///< of the access that is being decided
  std::string open_{};            ///< why they are not all
};

}  // namespace
}  // namespace kernel_detail

bool is_at(KernelAccess const& access, std::string_view written, std::string_view ptx_file) {
  auto const plain = [](std::string_view path) {  // ./gemm.cu:31 is gemm.cu:31
    return std::filesystem::path(path).lexically_normal().string();
  };
  std::string const line = plain(written);
  auto const is = [&](std::string_view file, std::uint32_t number) {
    std::string const source = plain(fmt::format("{}:{}", file, number));
    return source == line || source.ends_with("/" + line);
  };
  return (access.file.empty() ? is(ptx_file, access.ptx_line) : is(access.file, access.line)) ||
         std::any_of(access.inlined_at.begin(), access.inlined_at.end(),
                     [&](SourceLine const& at) { return is(at.file, at.line); });
}

std::vector<KernelAccess> shared_accesses(ptx::Module const& module, ptx::Function const& function) {
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, function);
  ptx::Function const& f = inlined ? *inlined : function;
  return kernel_detail::Decision(module, ptx::lower(module, f), {}, {.block = {32, 1, 1}}, 0).name_them();
}

std::vector<KernelAccess> shared_accesses(sass::Module const& module, sass::Lowered const& kernel) {
  return kernel_detail::Decision(module.source, kernel.program, {}, {.block = {32, 1, 1}}, 0).name_them();
}

namespace {

KernelReport decide_program(ptx::Module const& module, ptx::Function const& f, program::Program program,
                            KernelOptions const& options, bool shape_needed) {
  KernelReport report;
  report.kernel = f.name;
  report.sass = program.language == "SASS";
  auto const [launch, warps, refused] = kernel_detail::launch_of(f, options, shape_needed);
  report.refused = refused;
  if (refused.empty())
    report.block = launch.any_multiple ? fmt::format("32n,1,1 up to {}", launch.block[0])
                                       : fmt::format("{}", fmt::join(launch.block, ","));
  kernel_detail::Decision decision(module, std::move(program), options, launch, warps);
  report.accesses = refused.empty() ? decision.run(report.refused) : decision.list(refused);
  if (options.fixes) report.fixes = decision.fixes();
  report.operands = decision.operands(report.refused);
  if (decision.assumes_sources())
    report.assumed.emplace_back(report.sass ? "SHFL from a lane that is not known to execute it"
                                            : "shfl from a lane that is not known to execute it");
  return report;
}

}  // namespace

KernelReport decide_kernel(ptx::Module const& module, ptx::Function const& given,
                           KernelOptions const& options) {
  std::optional<ptx::Function> const inlined = ptx::inline_calls(module, given);
  ptx::Function const& f = inlined ? *inlined : given;
  return decide_program(module, f, ptx::lower(module, f), options, needs_block(module, f, options));
}

KernelReport decide_kernel(sass::Module const& module, sass::Lowered const& kernel,
                           KernelOptions const& options) {
  KernelReport report =
      decide_program(module.source, kernel.head, kernel.program, options, needs_block(kernel, options));
  report.assumed.insert(report.assumed.begin(), kernel.assumed.begin(), kernel.assumed.end());
  return report;
}

bool needs_block(sass::Lowered const& kernel, KernelOptions const& options) {
  return !options.block && kernel.head.reqntid[0] == 0 && kernel.program.uses_y_or_z;
}

}  // namespace swizproof
