#include "locks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Lanes;
using execution::Leaf;
using execution::Phi;
using execution::Warp;
using Root = Origins::Root;
using program::MemoryAccess;

namespace {

using Blocks = std::vector<bool>;  ///< a set of blocks, by their number

class Locks {
 public:
  explicit Locks(ExecutedKernel& kernel) : kernel_(kernel), places_(kernel.program.accesses.size()) {
    program::Program const& program = kernel_.program;
    for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
      for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s)
        if (program.steps[s].action == program::Action::access) places_[program.steps[s].extra] = {b, s};
  }

  void run() {
    for (std::size_t l = 0; l < kernel_.flow.loops.size(); ++l) {
      auto const loop = static_cast<std::int32_t>(l);
      std::vector<std::uint32_t> const& latches = kernel_.flow.loops[l].latches;
      decide({loop, body_of(loop, latches), kernel_.execution.exits[l], false});
      for (std::size_t i = 0; i < latches.size() && latches.size() > 1; ++i)
        decide({loop, body_of(loop, {latches[i]}), {kernel_.execution.backs[l][i]}, true});
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
  struct Place {
    std::uint32_t block, step;
  };

  static bool is_atomic(MemoryAccess const& m) {
    return m.atomic || m.op.starts_with("atom") || m.op.starts_with("red");
  }

  static bool writes(MemoryAccess const& m) {
    return is_atomic(m) || m.op.starts_with("st") || m.op.starts_with("STS");
  }

  /// True if another thread's write may be what it waits for.
  static bool may_wait(MemoryAccess const& m) {
    static constexpr std::string_view words[] = {".volatile", ".relaxed", ".acquire", ".mmio", ".cv", ".cg"};
    return is_atomic(m) || std::any_of(std::begin(words), std::end(words),
                                       [&](std::string_view word) { return m.op.find(word) != m.op.npos; });
  }

  [[nodiscard]] ExecutedAccess& done(std::size_t access) { return kernel_.execution.accesses[access]; }
  [[nodiscard]] MemoryAccess const& memory(std::size_t access) const {
    return kernel_.program.accesses[access];
  }

  bool in_all_warps(auto const& holds) {
    for (unsigned w = 0; w < kernel_.warps.count(); ++w)
      if (!holds(kernel_.warps.plain(w))) return false;
    return true;
  }

  /// The blocks of a loop from which these latches are reached.
  [[nodiscard]] Blocks body_of(std::int32_t loop, std::vector<std::uint32_t> work) const {
    Blocks in(kernel_.program.blocks.size(), false);
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

  /// Blocks to which ways lead from these, also by way of blocks where all lanes of a warp meet, or not.
  [[nodiscard]] Blocks reached(std::vector<std::uint32_t> work, bool meet) const {
    Blocks seen(kernel_.program.blocks.size(), false);
    while (!work.empty()) {
      program::Block const& block = kernel_.program.blocks[work.back()];
      bool const known = seen[work.back()];
      seen[work.back()] = true;
      work.pop_back();
      if (known || (block.meets >= 0 && !meet)) continue;
      for (std::uint32_t const to : successors(block)) work.push_back(to);
    }
    return seen;
  }

  /// The access in a loop that gives a value, if another thread may write it meanwhile, or if any may give it.
  std::optional<std::size_t> read_of(Id value, Spin const& spin, bool any) {
    Leaf const* const l = kernel_.origins.leaf_at(value);
    if (l == nullptr || (l->kind != Leaf::Kind::load && (l->kind != Leaf::Kind::varying || l->offset == 0)))
      return std::nullopt;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (memory(i).line == l->line && (any || may_wait(memory(i))) && done(i).reached &&
          spin.body[places_[i].block])
        return i;
    return std::nullopt;
  }

  /// True for a load of several memories, which is no access: any write may be what it waits for.
  bool is_multimem(Id value, Spin const& spin) {
    Leaf const& l = *kernel_.origins.leaf_at(value);
    return l.kind == Leaf::Kind::varying && kernel_.flow.encloses(spin.loop, l.loop) &&
           kernel_.program.names[l.extra].starts_with("multimem");
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
      auto const atomic = read_of(now, spin, false);
      if (!atomic || !is_atomic(memory(*atomic))) continue;
      Phi const* const phi = kernel_.execution.phi_at(before);
      auto const read = read_of(before, spin, true);
      if (phi != nullptr
              ? phi->loop == spin.loop && phi->back == now && stays(done(*atomic).address, spin.loop)
              : read && *read != *atomic && done(*read).address == done(*atomic).address)
        return true;
    }
    return false;
  }

  /// True if all lanes of a warp are in a loop, and leave it in the same iteration.
  bool stays_together(Spin const& spin, std::vector<std::size_t> const& reads) {
    bool meet = false;  // in the loop
    for (std::size_t b = 0; b < spin.body.size(); ++b)
      meet = meet || (spin.body[b] && kernel_.program.blocks[b].meets >= 0);
    return in_all_warps([&](Warp& warp) {
      bool const together = spin.way ? warp.goes_back_together(spin.loop) : warp.exits_together(spin.loop);
      return together && (meet || std::all_of(reads.begin(), reads.end(), [&](std::size_t read) {
                            return warp.truth(done(read).guard).shared();
                          }));
    });
  }

  /// Marks what is behind a loop, if it is a lock.
  void decide(Spin const& spin) {
    std::vector<Id> ends = spin.ends;
    std::erase_if(ends, [&](Id end) { return compares_with_before(end, spin); });
    std::vector<std::size_t> reads;
    bool lock = false;
    for (Id const leaf : kernel_.origins.leaves_of(ends)) {
      if (auto const read = read_of(leaf, spin, false)) reads.push_back(*read);
      lock = lock || is_multimem(leaf, spin);
    }
    if ((reads.empty() && !lock) || stays_together(spin, reads)) return;
    std::vector<std::uint32_t> first;
    for (std::uint32_t b = 0; b < spin.body.size(); ++b)
      if (spin.body[b])
        for (std::uint32_t const to : successors(kernel_.program.blocks[b]))
          if (!spin.body[to]) first.push_back(to);
    Blocks const apart = reached(first, false), behind = reached(first, true);
    auto const is_apart = [&](std::size_t access) {
      auto const& [block, step] = places_[access];
      std::int32_t const meets = kernel_.program.blocks[block].meets;
      return apart[block] && (meets < 0 || step < static_cast<std::uint32_t>(meets));
    };
    for (std::size_t w = 0; w < places_.size() && !lock; ++w) {
      std::uint32_t const b = places_[w].block;
      bool const elsewhere =
          !behind[b] && !reached({b}, true)[kernel_.flow.loops[static_cast<std::size_t>(spin.loop)].header];
      lock = writes(memory(w)) && done(w).reached && !spin.body[b] && (is_apart(w) || elsewhere) &&
             std::any_of(reads.begin(), reads.end(), [&](std::size_t r) { return releases(w, r); });
    }
    for (std::size_t access = 0; access < places_.size() && lock; ++access)
      if (is_apart(access))
        done(access).apart = true, done(access).lock = kernel_.origins.loop_line(spin.loop);
  }

  /// True if a write may be what lanes of a warp wait for that read: but for a lane's own, and that of the only lane that reads.
  bool releases(std::size_t write, std::size_t read) {
    if (!may_be_one(write, read)) return false;
    return !in_all_warps([&](Warp& warp) {
      std::uint32_t const writing = warp.present() & ~warp.truth(done(write).guard).no,
                          reading = warp.present() & ~warp.truth(done(read).guard).no;
      return reading == 0 || (std::popcount(reading) == 1 && (writing & ~reading) == 0) ||
             (done(write).address == done(read).address && have_their_own(warp, read, reading));
    });
  }

  /// True if no two of these lanes read one address.
  bool have_their_own(Warp& warp, std::size_t read, std::uint32_t lanes) {
    Lanes const v = warp.value(done(read).address, 32);
    if (!v.split()) return false;
    std::set<std::uint64_t> seen;
    for (unsigned l = 0; l < 32; ++l)
      if ((lanes >> l & 1) != 0 && !seen.insert(v.lane[l]).second) return false;
    return true;
  }

  /// True if two accesses may be to one array, or behind one parameter.
  bool may_be_one(std::size_t a, std::size_t b) {
    std::uint32_t first = ~0U, second = ~0U;
    Root const one = kernel_.origins.root_of(done(a).address, first),
               two = kernel_.origins.root_of(done(b).address, second);
    if (one == Root::shared && two == Root::shared) return first == second;
    if (one == Root::shared || two == Root::shared)
      return one == Root::shared ? may_be_shared(b, two) : may_be_shared(a, one);
    std::vector<Id> const mine = pointers_of(done(a).address), other = pointers_of(done(b).address);
    return mine.empty() || other.empty() || std::any_of(mine.begin(), mine.end(), [&](Id id) {
             return std::find(other.begin(), other.end(), id) != other.end();
           });
  }

  bool may_be_shared(std::size_t access, Root root) {
    MemoryAccess const& m = memory(access);
    return !m.global && !(m.generic && kernel_.origins.is_elsewhere(root, done(access).address));
  }

  std::vector<Id> pointers_of(Id address) {
    std::vector<Id> all = kernel_.origins.leaves_of({address});
    std::erase_if(all, [&](Id id) {
      Leaf const& l = *kernel_.origins.leaf_at(id);
      return l.kind != Leaf::Kind::param || l.width != 64;
    });
    return all;
  }

  ExecutedKernel& kernel_;
  std::vector<Place> places_;  ///< of the accesses
};

}  // namespace

void mark_locks(ExecutedKernel& kernel) { Locks(kernel).run(); }

}  // namespace swizproof::kernel_detail
