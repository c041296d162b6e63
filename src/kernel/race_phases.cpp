#include "race_phases.hpp"

#include <swizproof/engine/walk.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <optional>
#include <unordered_map>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Leaf;
using program::Block;
using program::MemoryAccess;

namespace {

constexpr std::uint64_t mbarrier_bytes = 8;

class PhaseSearch {
 public:
  PhaseSearch(ptx::Function const& function, program::Program const& lowered, program::Program const& program,
              program::Flow const& flow, execution::Execution const& execution, Origins const& origins,
              std::vector<SharedAccess> const& accesses, std::vector<BarrierAt> const& barriers)
      : function_(function),
        lowered_(lowered),
        program_(program),
        execution_(execution),
        origins_(origins),
        accesses_(accesses),
        lifetimes_(program, flow, barriers) {}

  PhaseUse run(PhaseThreads const& threads) {
    for (program::LoweredInstruction const& i : lowered_.instructions) instruction(i);
    std::vector<BarrierAt> events;
    for (auto const& [address, object] : objects_) {
      if (!out_.obstacle.empty()) break;
      check(object, threads);
      if (!lifetimes_.is_used_again(object)) continue;
      drop_late_edges(object, address);
      std::vector<BarrierAt> const own = lifetimes_.events(object);
      events.insert(events.end(), own.begin(), own.end());
    }
    for (auto at = objects_.begin(); at != objects_.end(); ++at)
      if (auto const next = std::next(at); next != objects_.end() && next->first < at->first + mbarrier_bytes)
        hinder("two mbarriers overlap", any_of(next->second));
    for (std::uint32_t const a : once_) {
      if (!out_.obstacle.empty()) break;
      if (!threads.one({a})) hinder("several threads may execute " + op(a), a);
    }
    if (out_.obstacle.empty()) track(threads);
    if (out_.obstacle.empty() && !events.empty() && !threads.same(events))
      hinder(
          "an mbarrier is used again, but threads of the block may pass different positions of mbarrier.init "
          "or barriers",
          once_.front());
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string const& op(std::uint32_t access) const { return program_.accesses[access].op; }
  void hinder(std::string why, std::uint32_t access) {
    if (!out_.obstacle.empty()) return;
    out_.obstacle = std::move(why), out_.line = program_.accesses[access].line;
  }

  /// The number that a term is in all launches and threads; nothing if it is no constant.
  [[nodiscard]] std::optional<std::uint64_t> number(Id id) const {
    std::unordered_map<Id, std::uint64_t> known;
    for (Id const leaf : origins_.leaves_of({id})) {
      Leaf const& l = *execution_.leaf_at(leaf);
      if (l.kind != Leaf::Kind::symbol || !program_.symbols[l.extra].placed) return std::nullopt;
      known[leaf] = *program_.symbols[l.extra].placed;
    }
    return number_of(execution_.terms, id, known);
  }

  void instruction(program::LoweredInstruction const& i) {
    std::vector<std::uint32_t> others;
    std::optional<std::uint64_t> address;
    for (std::uint32_t s = i.first; s < i.last; ++s) {
      program::Step const& step = lowered_.steps[s];
      if (step.action != program::Action::access) continue;
      MemoryAccess const& m = lowered_.accesses[step.extra];
      bool const inval = is_inval(m);
      if (!execution_.accesses[step.extra].reached || (m.operand < 0 && !inval) ||
          group_of(m) == Group::wgmma || group_of(m) == Group::bulk)
        continue;
      if (group_of(m) == Group::phase && accesses_[step.extra].tile) {
        tracked_.insert(step.extra);
        continue;
      }
      if (inval ||
          lowered_.operands[static_cast<std::size_t>(m.operand)].role == program::OperandRole::barrier) {
        address = number(execution_.accesses[step.extra].address);
        if (!address) return hinder("the address of an mbarrier is no constant: " + m.op, step.extra);
      }
      others.push_back(step.extra);
    }
    if (others.empty()) return;
    if (!address) return hinder(op(others[0]) + " is not modelled", others[0]);
    add(function_.body[i.instruction], others, objects_[*address], *address);
  }

  void add(ptx::Instruction const& i, std::vector<std::uint32_t> const& accesses, MbarrierUse& object,
           std::uint64_t address) {
    std::uint32_t const first = accesses[0];
    if (i.opcode.has("inval")) return void(object.invals.insert(first));
    bool const wait = i.opcode.has("parity");
    if (!wait) once_.push_back(first);
    if (i.opcode.name == "tcgen05" && i.opcode.has("commit") && !i.opcode.has("multicast::cluster")) {
      object.arrivals[first] = 0, commits_[first] = address, out_.phases.of_access[first] = address;
      return;
    }
    if (i.opcode.name == "tcgen05" || i.opcode.name == "clusterlaunchcontrol")
      return hinder(op(first) + " is not of one phase", first);
    if (i.opcode.name == "cp") {
      if (accesses_[first].tensor)
        return hinder("the box of a tensor is not in the PTX: " + op(first), first);
      for (std::uint32_t const a : accesses) out_.phases.of_access[a] = address;
      object.copies[first] = accesses_[first].bytes;
      return;
    }
    std::optional<std::uint64_t> const value = number(execution_.accesses[first].size);
    if (!value) return hinder("an operand of an mbarrier is no constant: " + op(first), first);
    if (i.opcode.has("init")) object.inits.insert(first);
    bool const expects = i.opcode.has("expect_tx");
    if (i.opcode.has("arrive"))
      object.arrivals[first] = expects ? *value : 0;
    else if (expects)
      object.copies[first] = 0;  // an operation: the phase waits for these bytes, too
    if (wait) object.waits.insert(first);
    if (i.opcode.has("init") && *value != 1)
      hinder("an mbarrier of several arrivals is not modelled: " + op(first), first);
    if (wait && *value != 0)
      hinder("a wait for another phase than the first is not modelled: " + op(first), first);
    if (wait && !i.opcode.has("relaxed")) add_edges(i, first, address);
  }

  static std::uint32_t any_of(MbarrierUse const& o) {
    for (auto const* const all : {&o.inits, &o.waits, &o.invals})
      if (!all->empty()) return *all->begin();
    return !o.arrivals.empty() ? o.arrivals.begin()->first : o.copies.begin()->first;
  }

  void check(MbarrierUse const& o, PhaseThreads const& threads) {
    if (o.inits.empty() && o.waits.empty() && o.arrivals.empty())
      return hinder("no mbarrier.init of the mbarrier of a bulk copy was found", any_of(o));
    if (o.inits.empty()) return hinder("an mbarrier has not one mbarrier.init", any_of(o));
    if (auto const defect = lifetimes_.defect(o, threads.one)) hinder(defect->why, defect->access);
  }

  /// Leaves the edges of blocks that have their wait, with no mbarrier.init behind it: the truth of another block may be of another lifetime.
  void drop_late_edges(MbarrierUse const& o, std::uint64_t address) {
    std::erase_if(out_.phases.waits, [&](auto const& edge) {
      auto const& [from, to, at] = edge;
      if (at != address) return false;
      bool waited = false;
      for (std::uint32_t s = program_.blocks[from].first; s < program_.blocks[from].last; ++s) {
        if (program_.steps[s].action != program::Action::access) continue;
        std::uint32_t const access = program_.steps[s].extra;
        waited = (waited || access == wait_of_.at(edge)) && o.inits.count(access) == 0;
      }
      return !waited;
    });
  }

  /// Finds the commits for which the reads by tcgen05 wait: the first one on each path.
  void track(PhaseThreads const& threads) {
    std::set<std::uint32_t> all;
    std::map<std::uint32_t, std::vector<std::uint32_t>> reads;  // by commit, with it
    for (auto const& [commit, address] : commits_) all.insert(commit), reads[commit] = {commit};
    for (std::uint32_t const read : tracked_) {
      std::set<std::uint32_t> const met = lifetimes_.behind(read, all);
      auto const next = std::find_if(met.begin(), met.end(), [&](auto a) { return all.count(a) != 0; });
      if (next == met.end()) return hinder("no tcgen05.commit is behind " + op(read), read);
      std::set<std::uint32_t> const before = lifetimes_.behind(read, {*next});
      for (std::uint32_t const other : met)
        if (other != *next && all.count(other) != 0)
          return hinder("several tcgen05.commit may be the first one behind " + op(read), read);
      for (std::uint32_t const init : objects_.at(commits_.at(*next)).inits)
        if (before.count(init) != 0)
          return hinder("a path from " + op(read) + " to mbarrier.init has no tcgen05.commit", read);
      out_.phases.of_access[read] = commits_.at(*next);
      reads.at(*next).push_back(read);
    }
    for (auto const& [commit, those] : reads)
      if (those.size() > 1 && !threads.one(those))
        return hinder("several threads may execute " + op(those[1]) + " and " + op(commit), those[1]);
  }

  /// Edges that a thread takes only if a wait was true.
  void add_edges(ptx::Instruction const& i, std::uint32_t wait, std::uint64_t address) {
    auto const same = [&](ptx::Instruction const& other) {
      return other.line == i.line && other.opcode.text == i.opcode.text;
    };
    if (std::count_if(function_.body.begin(), function_.body.end(), same) != 1) return;
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
      Block const& block = program_.blocks[b];
      if (block.condition < 0 || block.taken == block.next || b >= execution_.conditions.size()) continue;
      bool holds = !block.negated;  // the condition on the edge `taken`
      Id id = execution_.conditions[b];
      for (; execution_.node(id).op == Op::negation; id = execution_.node(id).a) holds = !holds;
      Node const& n = execution_.node(id);
      if (n.op == Op::eq) {  // a truth that is a word of one bit
        bool const first = execution_.node(n.a).op == Op::constant;
        Node const& constant = execution_.node(first ? n.a : n.b);
        if (constant.op != Op::constant || constant.width != 1) continue;
        if (constant.value == 0) holds = !holds;
        id = first ? n.b : n.a;
      }
      Leaf const* const leaf = execution_.leaf_at(id);
      if (leaf == nullptr || leaf->kind != Leaf::Kind::varying || leaf->line != i.line ||
          program_.names[leaf->extra] != i.opcode.text)
        continue;
      std::int32_t const to = holds ? block.taken : block.next;
      if (to < 0) continue;
      std::tuple const edge{b, static_cast<std::uint32_t>(to), address};
      out_.phases.waits.insert(edge), wait_of_[edge] = wait;
    }
  }

  ptx::Function const& function_;
  program::Program const &lowered_, &program_;
  execution::Execution const& execution_;
  Origins const& origins_;
  std::vector<SharedAccess> const& accesses_;
  Lifetimes lifetimes_;
  std::map<std::uint64_t, MbarrierUse> objects_{};  ///< by address
  std::vector<std::uint32_t> once_{};               ///< accesses that at most one thread may execute
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> wait_of_{};  ///< by edge
  std::set<std::uint32_t> tracked_{};                 ///< reads by tcgen05
  std::map<std::uint32_t, std::uint64_t> commits_{};  ///< with the addresses of their mbarriers
  PhaseUse out_{};
};

}  // namespace

bool is_inval(MemoryAccess const& m) { return m.op.starts_with("mbarrier.inval"); }

PhaseUse phases_of(ptx::Function const& function, program::Program const& lowered,
                   program::Program const& program, program::Flow const& flow,
                   execution::Execution const& execution, Origins const& origins,
                   std::vector<SharedAccess> const& accesses, std::vector<BarrierAt> const& barriers,
                   PhaseThreads const& threads) {
  return PhaseSearch(function, lowered, program, flow, execution, origins, accesses, barriers).run(threads);
}

}  // namespace swizproof::kernel_detail
