#include <swizproof/kernel/kernel.hpp>

#include "access_cost.hpp"
#include "address_text.hpp"
#include "arrays.hpp"
#include "cases.hpp"
#include "executed_kernel.hpp"
#include "launch.hpp"
#include "operands.hpp"
#include "origins.hpp"
#include "verdict.hpp"

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
using execution::Warp;
using program::Flow;
using program::MemoryAccess;
using program::Program;
using ptx::Function;
using ptx::Location;
using ptx::Module;

constexpr std::uint64_t most_lost = std::uint64_t{1} << 14;  ///< steps, beside an eighth of all: see lost_
constexpr std::size_t most_executions = 2048;                ///< of one access in one warp
constexpr unsigned last_round = 2;                           ///< in which accesses are decided

// --------------------------------------------------------------------------------------- one kernel

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
        count = std::min<std::uint64_t>(count * all->size(), most_executions + 1);
      }
    }
    if (count > most_executions) return false;
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

  /// The warp that is being decided, with no assumptions.
  Warp& base() { return kernel_.warps.plain(number_); }

  std::uint64_t spent() const { return kernel_.warps.steps(); }

  /// Decides an access for a warp of any number; nothing if that takes too many steps, or if an eighth of all steps was for nothing.
  /// One that takes half of the steps of the first round waits; later it may take an eighth.
  struct AnyWarp {
    CaseResults results{};
    AccessSearch search;
  };
  std::optional<AnyWarp> decide_for_any_warp(AccessSearch& search) {
    constexpr unsigned least_warps = 3;
    if (warps_ < least_warps || !search.waits || lost_ > most_lost + spent() / 8 || options_.lanes ||
        !Warp::lanes_of(launch_))
      return std::nullopt;
    std::uint64_t const now = spent();
    AnyWarp out{{}, {search.memory, search.access, search.symbol, search.allowed}};
    out.search.limit = now + (search.limit - std::min(search.limit, now)) / (round_ == 0 ? 2 : 8);
    out.search.waits = true;
    out.results = decide_cases(kernel_, out.search, Warp::every, patterns_, launches_);
    lost_ += spent() - now;
    search.out_of_steps = out.search.out_of_steps && round_ == 0;
    return out.search.out_of_steps ? std::nullopt : std::optional(std::move(out));
  }

  /// True if the warps that are left change nothing but alignment, bounds and the layout, which are those of `any`, if it is known.
  bool is_settled(AccessSearch const& search, CaseResults const& all, std::optional<AnyWarp> const& any) {
    CaseCost const& cost = all.cost;
    if (cost.unknown)  // no bound is higher, and no other warp makes it known
      return cost.wavefronts >= most_wavefronts(options_, search.memory, ~0U) &&
             search.residues.table().size() <= 1 && (any || (!all.faults.aligned && !all.faults.in_bounds));
    if (!any || any->results.cost.unknown || cost.wavefronts != any->results.cost.wavefronts ||
        cost.data != any->results.cost.data || search.residues.table() != any->search.residues.table())
      return false;
    bool const bounded = extent_of(kernel_, search.symbol).bytes != 0;
    Faults const& faults = any->results.faults;
    bool const alike = any->search.why_incomplete.empty() && faults.aligned && (faults.in_bounds || !bounded);
    if (cost.data || !alike || !(cost.reached || cost.wavefronts <= search.allowed)) return cost.data;
    return !any->search.layout.forms().empty() || search.layout.forms().empty();
  }

  /// Decides an access warp by warp, until the answer is that of all; true if one of them executes it.
  bool decide_warps(AccessSearch& search, CaseResults& all) {
    std::uint64_t const lost = lost_;
    std::optional<AnyWarp> const every = decide_for_any_warp(search);
    bool any = false;
    for (unsigned w = 0; w < warps_; ++w) {
      CaseResults one = decide_cases(kernel_, search, w, patterns_, launches_);
      any = any || one.cost.active != 0;
      if (one.cost.active != 0) {
        all.faults.aligned = all.faults.aligned && one.faults.aligned;
        all.faults.misaligned = all.faults.misaligned || one.faults.misaligned;
        if (all.faults.in_bounds) all.faults.in_bounds = one.faults.in_bounds;
      }
      all.cost.merge(std::move(one.cost));
      if (!is_settled(search, all, every)) continue;
      if (every) {
        Faults const& faults = every->results.faults;
        all.faults.aligned = all.faults.aligned && faults.aligned;
        if (all.faults.in_bounds) all.faults.in_bounds = faults.in_bounds;
        if (w + 1 < warps_) lost_ = lost - std::min(lost, lost_ - lost);
        search.layout = every->search.layout;
      }
      break;
    }
    return any;
  }

  void decide_cost(ExecutedAccess const& access, MemoryAccess const& m, KernelAccess& out,
                   std::uint32_t symbol) {
    AccessSearch search{m, access, symbol, out.allowed, limit_, waits()};
    CaseResults all;
    bool const any = decide_warps(search, all);
    CaseCost const& cost = all.cost;
    out.wavefronts = cost.wavefronts;
    out.reached = cost.reached;
    out.executed = any;
    out.worst = cost.worst;
    if (auto table = search.residues.table(); table.size() > 1)
      out.function = {text_of_term(program_, execution_, *search.residues.parameter()), std::move(table)};
    if (any) {
      if (all.faults.misaligned)
        out.aligned = false;
      else if (all.faults.aligned)
        out.aligned = true;
      out.in_bounds = search.first_faults.outside.empty() ? all.faults.in_bounds : std::optional(false);
      if (!out.in_bounds) out.bounds_reason = why_no_bounds(kernel_, access, symbol);
    }
    bool const complete = search.why_incomplete.empty();
    if (options_.lanes && complete) out.lanes.emplace(search.patterns.begin(), search.patterns.end());
    if (options_.lanes) out.place = patterns_.place_of(access);
    out.in_loop = access.loop >= 0;
    out.open = search.why_incomplete;
    if (complete) forms_ = {symbol, search.layout.forms()};
    over_ = search.out_of_steps;
    if (any && is_exact(program_, m)) verdicts_.replay(search, cost, out);
    verdicts_.judge(search, cost, out);
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
  Arrays arrays_{program_, execution_};
  std::uint64_t lost_ = 0;  ///< steps for which it was of no use, less those of others
  Verdicts verdicts_{kernel_};
  SampleLaunches launches_{kernel_};
  std::uint64_t limit_ = ~std::uint64_t{0};                  ///< of all steps, while an access is decided
  bool over_ = false;                                        ///< whether it came to it
  unsigned round_ = 0;                                       ///< of the accesses that came to it
  std::pair<std::uint32_t, std::vector<LaneForm>> forms_{};  ///< of the same: its array, and layouts
  bool names_only_ = false;
  LanePatterns patterns_{kernel_};
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
