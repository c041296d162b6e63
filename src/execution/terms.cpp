#include <swizproof/execution/terms.hpp>

#include "execution/terms/loops.hpp"
#include "execution/terms/steps.hpp"

#include <swizproof/program/needed_bits.hpp>

#include <string>
#include <utility>
#include <vector>

namespace swizproof::execution {

namespace {

/// The parts that execute one program.
class Executor {
 public:
  Executor(Program const& program, Flow const& flow, Execution& out, std::size_t most_nodes)
      : program_(program), flow_(flow), out_(out), graph_(out, most_nodes) {}

  void run() {
    add_counters();
    out_.accesses.resize(program_.accesses.size());
    out_.operands.resize(program_.operands.size());
    out_.events.resize(program_.events.size());
    for (Id const block : flow_.order) paths_.find(block), steps_.run(block);
    close_exits();
    close_registers();
    // A register that no iteration changes has what was chosen before the loop.
    for (ExecutedAccess& one : out_.operands)
      if (one.reached && one.loop >= 0) one.address = cases_.where(one.guard, one.address);
  }

 private:
  void add_counters() {
    for (std::size_t l = 0; l < flow_.loops.size(); ++l) {
      Leaf leaf;
      leaf.kind = Leaf::Kind::counter;
      leaf.loop = static_cast<std::int32_t>(l);
      out_.counters.push_back(graph_.add_leaf(leaf, 64));
    }
  }

  /// The conditions under which loops end or go on. They may read registers at a header, which are closed afterwards.
  void close_exits() {
    out_.exits.resize(flow_.loops.size());
    out_.backs.resize(flow_.loops.size());
    again_.assign(flow_.loops.size(), 0);
    for (std::size_t l = 0; l < flow_.loops.size(); ++l) {
      Loop const& loop = flow_.loops[l];
      for (Id const latch : loop.latches) {
        Id const back = scopes_.leave(paths_.back(latch, loop.header), latch, loop.header);
        again_[l] = graph_.either(again_[l], back);
        if (loop.latches.size() > 1) out_.backs[l].push_back(back);
      }
      for (Id const p : flow_.before[loop.header])
        if (program_.blocks[p].copied && flow_.number[p] < flow_.number[loop.header])
          out_.backs[l].push_back(paths_.by_edge(p, loop.header));
      // An exit from a loop within it is that loop's matter in its last iteration.
      for (Loop::Exit const& e : loop.exits)
        out_.exits[l].push_back(scopes_.leave(paths_.out_of(loop.header, e), e.from, loop.header));
    }
  }

  void close_registers() {
    for (std::size_t i = 0; i < registers_.at_headers().size(); ++i) {  // grows
      auto const [reg, header] = registers_.at_headers()[i];
      Id const init = registers_.gate(reg, header, false), back = registers_.gate(reg, header, true);
      out_.phis[i].init = graph_.word_of(init);
      out_.phis[i].back = graph_.word_of(back);
    }
    close_copies(out_, graph_, scopes_);
    for (Phi& phi : out_.phis)
      if (phi.kind != Phi::Kind::same) close_sum(phi, graph_, arithmetic_, cases_, scopes_);
    for (Phi& phi : out_.phis)
      if (phi.kind == Phi::Kind::other || phi.kind == Phi::Kind::drift)
        close_orbit(phi, out_, again_[static_cast<std::size_t>(phi.loop)]);
  }

  Program const& program_;
  Flow const& flow_;
  Execution& out_;
  std::vector<std::uint64_t> needed_ = needed_bits(program_, flow_);
  Graph graph_;
  Arithmetic arithmetic_{program_, graph_};
  Cases cases_{graph_, arithmetic_};
  Scopes scopes_{program_, flow_, graph_};
  Registers registers_{program_, flow_, needed_, out_, graph_, scopes_, cases_, paths_};
  Paths paths_{program_, flow_, graph_, scopes_, registers_};
  Steps steps_{program_, flow_, needed_, out_, graph_, arithmetic_, cases_, scopes_, registers_, paths_};
  std::vector<Id> again_{};  ///< of each loop: the truth with which an iteration goes on to the next
};

}  // namespace

std::uint32_t Execution::add_leaf(Leaf leaf, unsigned bits) {
  leaf.width = static_cast<std::uint8_t>(bits);
  std::uint32_t const id = terms.variable(bits, bits, {}).id;
  leaves.push_back(std::move(leaf));
  phi_of.push_back(-1);
  return id;
}

void execute(Program const& program, Flow const& flow, Execution& into, std::size_t most_nodes) {
  if (!program.refused.empty()) {
    into.refused = program.refused;
    return;
  }
  if (!flow.reducible) {
    into.refused = "its control flow has a loop with two entries (irreducible)";
    return;
  }
  try {
    Executor(program, flow, into, most_nodes).run();
  } catch (TooLarge const&) {
    into.refused = "its values need more than " + std::to_string(most_nodes) + " terms";
    into.accesses.assign(program.accesses.size(), {});
    into.operands.assign(program.operands.size(), {});
  }
}

}  // namespace swizproof::execution
