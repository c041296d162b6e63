#include "locks.hpp"

#include "barrier_counts.hpp"
#include "loop_ends.hpp"
#include "touches.hpp"
#include "ways.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Lanes;
using execution::LaneTruths;
using execution::Leaf;
using execution::Phi;
using execution::Warp;
using program::Action;
using program::Event;

namespace {

using Blocks = std::vector<bool>;  ///< a set of blocks, by their number

class Locks {
 public:
  explicit Locks(ExecutedKernel& kernel) : kernel_(kernel) {
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b)
      for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s) block_of_[s] = b;
  }

  void run() {
    for (std::uint32_t const b : kernel_.flow.order)
      for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
        if (program_.steps[s].action == Action::event && is_wait(program_.steps[s].extra))
          part({{b, s + 1}}, {program_.steps[s].line, static_cast<std::int32_t>(program_.steps[s].extra)});
    for (std::size_t l = 0; l < kernel_.flow.loops.size(); ++l) {
      auto const loop = static_cast<std::int32_t>(l);
      std::vector<std::uint32_t> const& latches = kernel_.flow.loops[l].latches;
      decide({loop, body_of(loop, latches), kernel_.execution.exits[l], false});
      for (std::size_t i = 0; i < latches.size() && latches.size() > 1; ++i)
        decide({loop, body_of(loop, {latches[i]}), {kernel_.execution.backs[l][i]}, true});
    }
  }

  /// Sets Leaf::apart of values that lanes get one by one; false if all that are have it. `always`: of all values.
  bool part_values(bool always) {
    bool changed = false;
    for (Leaf& leaf : kernel_.execution.leaves)
      if (!leaf.apart && leaf.step != ~0U && (always || waits_[leaf.step].line != 0) && may_differ(leaf))
        leaf.apart = changed = true;
    return changed;
  }

  void mark_accesses() {
    for (std::uint32_t s = 0; s < program_.steps.size(); ++s) {
      if (waits_[s].line == 0 || program_.steps[s].action != Action::access) continue;
      ExecutedAccess& access = kernel_.execution.accesses[program_.steps[s].extra];
      access.apart = true, access.lock = waits_[s].line, access.lock_event = waits_[s].event;
    }
  }

 private:
  /// A loop, or what one way back to its header makes a loop.
  struct Spin {
    std::int32_t loop;
    Blocks body;
    std::vector<Id> ends;  ///< truths with which lanes leave it; of a way back, with which they take it
    bool way;              ///< one of several ways back
  };
  /// The wait that parts the lanes at a step: its line, and if it is no loop, its event.
  struct Wait {
    std::uint32_t line = 0;
    std::int32_t event = -1;
  };

  bool in_all_warps(std::function<bool(Warp&)> const& holds) {
    for (unsigned w = 0; w < kernel_.warps.count(); ++w)
      if (!holds(kernel_.warps.plain(w))) return false;
    return true;
  }

  /// The blocks of a loop from which these latches are reached.
  [[nodiscard]] Blocks body_of(std::int32_t loop, std::vector<std::uint32_t> work) const {
    Blocks in(program_.blocks.size(), false);
    in[kernel_.flow.loops[static_cast<std::size_t>(loop)].header] = true;
    while (!work.empty()) {
      std::uint32_t const b = work.back();
      work.pop_back();
      if (in[b]) continue;
      in[b] = true;
      work.insert(work.end(), kernel_.flow.before[b].begin(), kernel_.flow.before[b].end());
    }
    return in;
  }

  /// Parts the lanes behind a wait, until they meet.
  void part(std::vector<Place> const& behind, Wait wait) {
    std::vector<bool> const steps = ways_.from(behind, Ways::Until::meeting);
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (steps[s]) waits_[s] = wait;
  }

  // ----------------------------------------------------------------------------------- instructions that wait

  /// Lanes of a warp that execute an event, or may.
  static std::uint32_t lanes_at(Warp& warp, ExecutedAccess const& event) {
    return warp.present() & ~warp.truth(event.guard).no;
  }

  [[nodiscard]] std::vector<bool> find_meetings() {
    std::vector<bool> all;
    for (std::size_t e = 0; e < program_.events.size(); ++e) {
      Event const& event = program_.events[e];
      all.push_back(event.meets() || (event.kind == Event::Kind::lanes && event.at.guard < 0 &&
                                      in_all_warps([&](Warp& warp) { return meets(warp, e); })));
    }
    return all;
  }

  /// True if all lanes of a warp come to an instruction with the full mask, if one does.
  bool meets(Warp& warp, std::size_t event) {
    ExecutedAccess const& done = kernel_.execution.events[event];
    std::uint32_t const here = lanes_at(warp, done), present = warp.present();
    if (!done.reached || here == 0) return true;
    Lanes const mask = warp.value(done.address, 32);
    return here == present && mask.pure() && mask.uniform() && (mask.lane[0] & present) == present;
  }

  bool is_wait(std::uint32_t event) {
    ExecutedAccess const& done = kernel_.execution.events[event];
    switch (program_.events[event].kind) {
      case Event::Kind::call:
        return !in_all_warps([&](Warp& warp) { return lanes_at(warp, done) == 0; });
      case Event::Kind::threads:
        return !in_all_warps([&](Warp& warp) { return all_agree(warp, done); });
      case Event::Kind::lanes:
        return !in_all_warps([&](Warp& warp) { return masks_agree(warp, done); });
      default:
        return false;
    }
  }

  /// True if all lanes of a warp come to an instruction with the same operands, or none.
  bool all_agree(Warp& warp, ExecutedAccess const& done) {
    LaneTruths const t = warp.truth(done.guard);
    std::uint32_t const present = warp.present();
    if ((present & ~t.no) == 0) return true;
    bool const all = (present & ~t.yes) == 0 || t.shared();
    return all && warp.value(done.address, kernel_.execution.node(done.address).width).uniform();
  }

  /// True if all lanes of each lane's mask come to an instruction with that mask. Of masks that are not known, but the same, this is assumed, and of
  /// activemask: that of the lanes which execute it together.
  bool masks_agree(Warp& warp, ExecutedAccess const& done) {
    std::uint32_t const here = lanes_at(warp, done);
    if (here == 0) return true;
    Lanes const mask = warp.value(done.address, 32);
    if (!mask.pure()) return mask.uniform() || is_activemask(done.address);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned k = 0; k < 32 && (here >> l & 1) != 0; ++k)
        if ((mask.lane[l] & warp.present()) >> k & 1 &&
            ((here >> k & 1) == 0 || mask.lane[k] != mask.lane[l]))
          return false;
    return true;
  }

  [[nodiscard]] bool is_activemask(Id mask) const {
    Leaf const* const l = kernel_.origins.leaf_at(mask);
    return l != nullptr && l->kind == Leaf::Kind::varying && waits_[l->step].line == 0 &&
           program_.names[l->extra].starts_with("activemask");
  }

  [[nodiscard]] bool meets_in(std::uint32_t block) const {
    for (std::uint32_t s = program_.blocks[block].first; s < program_.blocks[block].last; ++s)
      if (program_.steps[s].action == Action::event && ways_.meets(program_.steps[s].extra)) return true;
    return false;
  }

  // ----------------------------------------------------------------------------------- loops

  /// The touch in a loop that gives a value: of those at its line, the last one in front of it.
  Touch const* read_of(Id value, Spin const& spin) {
    Leaf const* const l = kernel_.origins.leaf_at(value);
    if (l == nullptr || (l->kind != Leaf::Kind::load && (l->kind != Leaf::Kind::varying || l->offset == 0)))
      return nullptr;
    Touch const* read = nullptr;
    for (Touch const& t : touches_.all())
      if (t.line == l->line && (t.polls || t.plain) && spin.body[t.place.block] &&
          (read == nullptr || (t.place.step <= l->step && t.place.step > read->place.step)))
        read = &t;
    return read;
  }

  /// The reads that the ends of a loop depend on. All of the loop, if they depend on words that it writes itself, or
  /// on a thread's own memory, which may have any of them.
  std::vector<Touch const*> reads_of(LoopEnds const& how, std::vector<Id> const& ends, Spin const& spin) {
    std::set<Touch const*> reads;
    for (Id const leaf : how.leaves_of(ends)) {
      if (!how.is_found(leaf)) continue;
      Touch const* const read = read_of(leaf, spin);
      if (read == nullptr && !is_load(*kernel_.origins.leaf_at(leaf))) continue;
      if (read != nullptr) reads.insert(read);
      std::uint32_t symbol = 0;
      bool const own = read == nullptr ||
                       (read->generic && !kernel_.origins.rooted_in_parameter(read->address) &&
                        kernel_.origins.root_of(read->address, symbol) != Origins::Root::shared) ||
                       std::any_of(touches_.all().begin(), touches_.all().end(), [&](Touch const& t) {
                         return t.writes && spin.body[t.place.block] && t.place.step != read->place.step &&
                                touches_.may_be_one(t, *read);
                       });
      for (Touch const& t : touches_.all())
        if (own && (t.polls || t.plain) && spin.body[t.place.block]) reads.insert(&t);
    }
    return {reads.begin(), reads.end()};
  }

  /// True if no access is on a way from one end of a loop that does not pass the place behind another one.
  [[nodiscard]] bool leads_nowhere_else(std::uint32_t from, std::uint32_t place) const {
    Blocks seen(program_.blocks.size(), false);
    std::vector<std::uint32_t> work{from};
    while (!work.empty()) {
      std::uint32_t const b = work.back();
      work.pop_back();
      if (b == place || seen[b]) continue;
      seen[b] = true;
      for (std::uint32_t s = program_.blocks[b].first; s < program_.blocks[b].last; ++s)
        if (program_.steps[s].action == Action::access || program_.steps[s].action == Action::event)
          return false;
      for (std::uint32_t const to : successors(program_.blocks[b])) work.push_back(to);
    }
    return true;
  }

  /// True if what is behind this end is behind every end.
  [[nodiscard]] bool leads_on(Spin const& spin, std::size_t end) const {
    if (spin.way) return true;
    auto const& exits = kernel_.flow.loops[static_cast<std::size_t>(spin.loop)].exits;
    return std::all_of(exits.begin(), exits.end(),
                       [&](program::Loop::Exit const& e) { return leads_nowhere_else(e.to, exits[end].to); });
  }

  /// True for a load of several memories or of a surface, which is no access: any write may be what it waits for.
  bool is_unlisted(Id value, Spin const& spin) {
    Leaf const& l = *kernel_.origins.leaf_at(value);
    if (l.kind != Leaf::Kind::varying || !kernel_.flow.encloses(spin.loop, l.loop)) return false;
    std::string_view const name = program_.names[l.extra];
    return name.starts_with("multimem") || name.starts_with("suld");
  }

  /// True for a value that is the same in all iterations.
  bool stays(Id value, std::int32_t loop) {
    std::vector<Id> const leaves = kernel_.origins.leaves_of({value});
    return std::none_of(leaves.begin(), leaves.end(), [&](Id leaf) {
      return kernel_.flow.encloses(loop, kernel_.origins.leaf_at(leaf)->loop);
    });
  }

  /// True if lanes go on until an atomic gives what they read before at its address: none of them waits.
  bool compares_with_before(Id end, Spin const& spin) {
    Node n = kernel_.execution.node(end);
    if (n.op == Op::negation) n = kernel_.execution.node(n.a);
    if (n.op != Op::eq) return false;
    for (auto const& [now, before] : {std::pair{n.a, n.b}, std::pair{n.b, n.a}}) {
      Touch const* const atomic = read_of(now, spin);
      if (atomic == nullptr || !atomic->atomic) continue;
      Phi const* const phi = kernel_.execution.phi_at(before);
      Touch const* const read = read_of(before, spin);
      if (phi != nullptr ? phi->loop == spin.loop && phi->back == now && stays(atomic->address, spin.loop)
                         : read != nullptr && read != atomic && read->address == atomic->address)
        return true;
    }
    return false;
  }

  /// True if each way from the header back to it comes to a barrier that all lanes of a warp execute together: none has left the loop, as a
  /// lane that waits at `bar.warp.sync` or `barrier.sync` may be released by one that executes another instruction.
  [[nodiscard]] bool always_meets(Spin const& spin) const {
    std::uint32_t const header = kernel_.flow.loops[static_cast<std::size_t>(spin.loop)].header;
    std::vector<bool> const reached =
        ways_.from({{header, program_.blocks[header].first}}, Ways::Until::aligned);
    std::vector<std::uint32_t> const& before = kernel_.flow.before[header];
    return std::none_of(before.begin(), before.end(), [&](std::uint32_t b) {
      program::Block const& block = program_.blocks[b];
      return spin.body[b] && (block.first == block.last || reached[block.last - 1]);
    });
  }

  /// True if all lanes of a warp are in a loop, and leave it in the same iteration.
  bool stays_together(Spin const& spin, std::vector<Touch const*> const& reads) {
    if (always_meets(spin)) return true;
    bool meet = false;  // in the loop
    for (std::uint32_t b = 0; b < spin.body.size(); ++b) meet = meet || (spin.body[b] && meets_in(b));
    return in_all_warps([&](Warp& warp) {
      bool const together = spin.way ? warp.goes_back_together(spin.loop) : warp.exits_together(spin.loop);
      return together && (meet || std::all_of(reads.begin(), reads.end(), [&](Touch const* read) {
                            return warp.truth(read->guard).shared();
                          }));
    });
  }

  /// Parts the lanes behind a loop, if it is a wait. Where all of them are in it together, a lane may have to be ahead of the others: in front of it
  /// another one may take back what they wait for. Operations of mbarriers take nothing back.
  void decide(Spin const& spin) {
    std::vector<Id> ends = spin.ends;
    std::erase_if(ends, [&](Id end) { return compares_with_before(end, spin); });
    LoopEnds const how(kernel_, spin.loop, spin.ends, spin.way);
    std::vector<Touch const*> reads = reads_of(how, ends, spin);
    std::vector<Id> const leaves = kernel_.origins.leaves_of(ends);
    bool const waits =
        std::any_of(leaves.begin(), leaves.end(), [&](Id leaf) { return is_unlisted(leaf, spin); });
    if (reads.empty() && !waits) return;
    std::vector<std::size_t> last;  // ends that lead to all that is behind the loop
    for (std::size_t i = 0; i < spin.ends.size(); ++i)
      if (leads_on(spin, i)) last.push_back(i);
    if (std::any_of(last.begin(), last.end(), [&](std::size_t end) { return how.counts(end); }))
      std::erase_if(reads, [](Touch const* read) { return read->plain; });
    if (reads.empty() && !waits) return;
    std::uint32_t const header = kernel_.flow.loops[static_cast<std::size_t>(spin.loop)].header;
    bool const together = stays_together(spin, reads);
    Place const at{header, program_.blocks[header].first};
    auto const is_written = [&](Touch const* r) {
      return std::any_of(touches_.all().begin(), touches_.all().end(), [&](Touch const& w) {
        return w.writes && !spin.body[w.place.block] && (!together || !r->event) && releases(w, *r) &&
               (together ? leads({w.place.block, w.place.step + 1}, r->place, Ways::Until::block)
                         : !is_over(w, at));
      });
    };
    std::erase_if(reads, [&](Touch const* r) { return !is_written(r); });
    if ((!waits || together) &&
        (reads.empty() ||
         (last.size() == spin.ends.size() &&
          std::all_of(reads.begin(), reads.end(), [](Touch const* r) { return r->plain; }) && how.narrows())))
      return;
    std::vector<Place> behind;
    for (std::uint32_t b = 0; b < spin.body.size(); ++b)
      if (spin.body[b])
        for (std::uint32_t const to : successors(program_.blocks[b]))
          if (!spin.body[to]) behind.push_back({to, program_.blocks[to].first});
    part(behind, {kernel_.origins.loop_line(spin.loop)});
  }

  /// True if a way leads from one place to another one.
  [[nodiscard]] bool leads(Place from, Place to, Ways::Until until) const {
    std::vector<bool> const steps = ways_.from({from}, until);
    program::Block const& block = program_.blocks[to.block];
    if (to.step < block.last) return steps[to.step];
    for (std::uint32_t const next : successors(block))  // of a block without steps
      if (program_.blocks[next].first < program_.blocks[next].last && steps[program_.blocks[next].first])
        return true;
    return false;
  }

  /// True if a write is over before a thread of the block comes to a place: a barrier of the block is on each way, all threads come there behind as
  /// many, and no way leads back.
  [[nodiscard]] bool is_over(Touch const& write, Place at) const {
    Place const behind{write.place.block, write.place.step + 1};
    return barriers_.same_on_all_ways(at) && leads(behind, at, Ways::Until::end) &&
           !leads(behind, at, Ways::Until::block) && !leads(at, write.place, Ways::Until::end);
  }

  /// True if a write may be what lanes of a warp wait for that read: but for a lane's own, and that of the only lane that reads.
  bool releases(Touch const& write, Touch const& read) {
    if (!touches_.may_be_one(write, read)) return false;
    return !in_all_warps([&](Warp& warp) {
      std::uint32_t const writing = warp.present() & ~warp.truth(write.guard).no,
                          reading = warp.present() & ~warp.truth(read.guard).no;
      return reading == 0 || (std::popcount(reading) == 1 && (writing & ~reading) == 0) ||
             (!write.any && write.address == read.address &&
              have_their_own(warp, read.address, reading | writing));
    });
  }

  /// True if no two of these lanes read one address.
  bool have_their_own(Warp& warp, Id address, std::uint32_t lanes) {
    Lanes const v = warp.value(address, 32);
    if (!v.split()) return false;
    std::set<std::uint64_t> seen;
    for (unsigned l = 0; l < 32; ++l)
      if ((lanes >> l & 1) != 0 && !seen.insert(v.lane[l]).second) return false;
    return true;
  }

  // ----------------------------------------------------------------------------------- values

  /// True if a value that lanes get one by one may differ where they would get one together.
  bool may_differ(Leaf const& leaf) {
    switch (leaf.kind) {
      case Leaf::Kind::load:
        return may_change(leaf);
      case Leaf::Kind::varying:
        return (leaf.offset & program::one_together) != 0;
      default:
        return leaf.kind == Leaf::Kind::voted || leaf.kind == Leaf::Kind::shuffle;
    }
  }

  /// True if a write of the kernel may change what a load gives. That no other kernel does is assumed of global memory.
  bool may_change(Leaf const& load) {
    auto const space = static_cast<program::Space>(load.extra);
    bool const global = space == program::Space::global;
    if (space != program::Space::shared && !global) return false;
    if (global && program_.names[load.offset].find(".nc") != std::string::npos) return false;
    Touch t{{block_of_[load.step], load.step}, load.line, load.args[0]};
    t.global = global;
    bool const changes = std::any_of(touches_.all().begin(), touches_.all().end(), [&](Touch const& w) {
      return w.writes && touches_.may_be_one(w, t) && !is_over(w, t.place);
    });
    if (!changes && global) kernel_.execution.assumes_other_kernels = true;
    return changes;
  }

  ExecutedKernel& kernel_;
  program::Program const& program_ = kernel_.program;
  std::vector<std::uint32_t> block_of_ = std::vector<std::uint32_t>(program_.steps.size(), 0);
  Touches touches_{kernel_};
  BarrierCounts barriers_{program_, kernel_.flow, kernel_.execution};
  Ways ways_{program_, find_meetings()};
  std::vector<Wait> waits_ = std::vector<Wait>(program_.steps.size());  ///< by step; line 0: none
};

}  // namespace

void mark_locks(ExecutedKernel& kernel) {
  constexpr unsigned most_rounds = 16;
  if (kernel.warps.count() == 0) return;
  for (unsigned round = 0;; ++round) {
    Locks locks(kernel);
    locks.run();
    if (!locks.part_values(round == most_rounds)) return locks.mark_accesses();
    kernel.warps.start_again();  // values that differ let more loops be left one by one
  }
}

}  // namespace swizproof::kernel_detail
