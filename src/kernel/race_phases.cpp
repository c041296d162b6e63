#include "race_phases.hpp"

#include <swizproof/engine/walk.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Leaf;
using program::Block;
using program::MemoryAccess;

namespace {

constexpr std::uint64_t mbarrier_bytes = 8;

/// Accesses to one mbarrier.
struct Object {
  std::vector<std::uint32_t> inits{}, arrivals{}, waits{};
  std::uint64_t expected = 0, copied = 0;  ///< bytes
};

class PhaseSearch {
 public:
  PhaseSearch(ptx::Function const& function, program::Program const& lowered, program::Program const& program,
              execution::Execution const& execution, Origins const& origins,
              std::vector<SharedAccess> const& accesses)
      : function_(function),
        lowered_(lowered),
        program_(program),
        execution_(execution),
        origins_(origins),
        accesses_(accesses) {}

  PhaseUse run(std::function<bool(std::uint32_t)> const& one_thread) {
    for (program::LoweredInstruction const& i : lowered_.instructions) instruction(i);
    for (auto const& [address, object] : objects_) check(object);
    for (auto at = objects_.begin(); at != objects_.end(); ++at)
      if (auto const next = std::next(at); next != objects_.end() && next->first < at->first + mbarrier_bytes)
        hinder("two mbarriers overlap", next->second.waits.empty() ? 0 : next->second.waits[0]);
    for (std::uint32_t const a : once_) {
      if (!out_.obstacle.empty()) break;
      if (!one_thread(a)) hinder("several threads may execute " + op(a), a);
    }
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
      if (!execution_.accesses[step.extra].reached || m.operand < 0 || group_of(m) == Group::wgmma ||
          group_of(m) == Group::bulk)
        continue;
      if (lowered_.operands[static_cast<std::size_t>(m.operand)].role != program::OperandRole::barrier) {
        others.push_back(step.extra);
        continue;
      }
      address = number(execution_.accesses[step.extra].address);
      if (!address) return hinder("the address of an mbarrier is no constant: " + m.op, step.extra);
      others.push_back(step.extra);
    }
    if (others.empty()) return;
    if (!address) return hinder(op(others[0]) + " is not modelled", others[0]);
    add(function_.body[i.instruction], others, objects_[*address], *address);
  }

  void add(ptx::Instruction const& i, std::vector<std::uint32_t> const& accesses, Object& object,
           std::uint64_t address) {
    std::uint32_t const first = accesses[0];
    ExecutedAccess const& e = execution_.accesses[first];
    bool const wait = i.opcode.has("parity");
    if (!wait) once_.push_back(first);
    if (!wait && e.loop >= 0)
      return hinder("an mbarrier of several phases is not modelled: " + op(first) + " is in a loop", first);
    if (i.opcode.name == "tcgen05" || i.opcode.name == "clusterlaunchcontrol")
      return hinder(op(first) + " is not of one phase", first);
    if (i.opcode.name == "cp") {
      if (accesses_[first].tensor)
        return hinder("the box of a tensor is not in the PTX: " + op(first), first);
      for (std::uint32_t const a : accesses) out_.phases.of_access[a] = address;
      object.copied += accesses_[first].bytes;
      return;
    }
    std::optional<std::uint64_t> const value = number(e.size);
    if (!value) return hinder("an operand of an mbarrier is no constant: " + op(first), first);
    if (i.opcode.has("init")) object.inits.push_back(first);
    if (i.opcode.has("arrive")) {
      object.arrivals.push_back(first);
      object.expected += i.opcode.has("expect_tx") ? *value : 0;
    }
    if (wait) object.waits.push_back(first);
    if (i.opcode.has("init") && *value != 1)
      hinder("an mbarrier of several arrivals is not modelled: " + op(first), first);
    if (wait && *value != 0)
      hinder("a wait for another phase than the first is not modelled: " + op(first), first);
    if (wait && !i.opcode.has("relaxed")) add_edges(i, address);
  }

  void check(Object const& o) {
    auto const any = [&]() {
      return !o.inits.empty() ? o.inits[0] : !o.waits.empty() ? o.waits[0] : o.arrivals[0];
    };
    if (o.inits.empty() && o.waits.empty() && o.arrivals.empty())
      return hinder("no mbarrier.init of the mbarrier of a bulk copy was found", once_.front());
    if (o.inits.size() != 1) return hinder("an mbarrier has not one mbarrier.init", any());
    if (o.arrivals.size() > 1)
      return hinder("several arrivals at an mbarrier are not modelled: " + op(o.arrivals[1]), o.arrivals[1]);
    if (o.copied > o.expected)
      hinder(fmt::format("bulk copies bring {} bytes, {} are expected", o.copied, o.expected), any());
  }

  /// Edges that a thread takes only if a wait was true.
  void add_edges(ptx::Instruction const& i, std::uint64_t address) {
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
      if (to >= 0) out_.phases.waits.insert({b, static_cast<std::uint32_t>(to), address});
    }
  }

  ptx::Function const& function_;
  program::Program const &lowered_, &program_;
  execution::Execution const& execution_;
  Origins const& origins_;
  std::vector<SharedAccess> const& accesses_;
  std::map<std::uint64_t, Object> objects_{};  ///< by address
  std::vector<std::uint32_t> once_{};          ///< accesses that are executed once
  PhaseUse out_{};
};

}  // namespace

PhaseUse phases_of(ptx::Function const& function, program::Program const& lowered,
                   program::Program const& program, execution::Execution const& execution,
                   Origins const& origins, std::vector<SharedAccess> const& accesses,
                   std::function<bool(std::uint32_t)> const& one_thread) {
  return PhaseSearch(function, lowered, program, execution, origins, accesses).run(one_thread);
}

}  // namespace swizproof::kernel_detail
