#include "locks.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Lanes;
using execution::Leaf;
using execution::Warp;
using program::MemoryAccess;

namespace {

class Locks {
 public:
  explicit Locks(ExecutedKernel& kernel) : kernel_(kernel) {}

  void run() {
    for (std::size_t l = 0; l < kernel_.flow.loops.size(); ++l) {
      auto const loop = static_cast<std::int32_t>(l);
      std::vector<std::size_t> const reads = reads_of(loop);
      if (reads.empty() || leave_together(loop)) continue;
      std::vector<std::size_t> const behind = accesses_behind(loop, reads);
      bool const lock = std::any_of(reads.begin(), reads.end(), [&](std::size_t r) {
        return std::any_of(behind.begin(), behind.end(), [&](std::size_t w) { return releases(w, r); });
      });
      for (std::size_t const access : behind)
        if (lock) done(access).apart = true, done(access).lock = kernel_.origins.loop_line(loop);
    }
  }

 private:
  static constexpr std::size_t most_nodes = 2000;  ///< of a condition

  static bool is_atomic(MemoryAccess const& m) {
    return m.atomic || m.op.starts_with("atom") || m.op.starts_with("red");
  }

  static bool writes(MemoryAccess const& m) {
    return is_atomic(m) || m.op.starts_with("st") || m.op.starts_with("STS");
  }

  /// True if another thread's write may be what it waits for.
  static bool may_wait(MemoryAccess const& m) {
    auto const has = [&](std::string_view part) { return m.op.find(part) != m.op.npos; };
    return is_atomic(m) || has(".volatile") || has(".relaxed") || has(".acquire");
  }

  [[nodiscard]] ExecutedAccess& done(std::size_t access) { return kernel_.execution.accesses[access]; }
  [[nodiscard]] MemoryAccess const& memory(std::size_t access) const {
    return kernel_.program.accesses[access];
  }

  /// The access in a loop that a value comes from, if another thread may write it meanwhile.
  std::optional<std::size_t> read_of(Id leaf, std::int32_t loop) {
    Leaf const& l = *kernel_.origins.leaf_at(leaf);
    bool const loads = l.kind == Leaf::Kind::load || (l.kind == Leaf::Kind::varying && l.offset != 0);
    if (!loads || !kernel_.flow.encloses(loop, l.loop)) return std::nullopt;
    auto const& all = kernel_.program.accesses;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].line == l.line && may_wait(all[i]) && done(i).reached) return i;
    return std::nullopt;
  }

  /// Accesses whose results end a loop.
  std::vector<std::size_t> reads_of(std::int32_t loop) {
    std::vector<std::size_t> reads;
    auto const& exits = kernel_.execution.exits[static_cast<std::size_t>(loop)];
    std::set<Id> const again = compared_with_others(loop);
    for (Id const leaf : kernel_.origins.leaves_of(exits))
      if (auto const read = again.contains(leaf) ? std::nullopt : read_of(leaf, loop)) reads.push_back(*read);
    return reads;
  }

  /// Values that a loop reads and compares with what it has read before: a lane leaves it when no other one was in between.
  std::set<Id> compared_with_others(std::int32_t loop) {
    std::set<Id> out;
    for (Id const exit : kernel_.execution.exits[static_cast<std::size_t>(loop)]) {
      Walk walk(exit, most_nodes);
      while (auto const at = walk.next()) {
        Node const n = kernel_.execution.node(*at);
        walk.add(operands(n));
        if (n.op != Op::eq) continue;
        for (auto const& [one, other] : {std::pair{n.a, n.b}, std::pair{n.b, n.a}})
          if (is_read(other, loop))
            for (Id const leaf : kernel_.origins.leaves_of({one})) out.insert(leaf);
      }
    }
    return out;
  }

  /// True if a value comes from a load or an atomic in the loop.
  bool is_read(Id value, std::int32_t loop) {
    std::vector<Id> const leaves = kernel_.origins.leaves_of({value});
    return std::any_of(leaves.begin(), leaves.end(), [&](Id leaf) {
      Leaf const& l = *kernel_.origins.leaf_at(leaf);
      bool const loads = l.kind == Leaf::Kind::load || (l.kind == Leaf::Kind::varying && l.offset != 0);
      return loads && kernel_.flow.encloses(loop, l.loop);
    });
  }

  bool leave_together(std::int32_t loop) {
    for (unsigned w = 0; w < kernel_.warps.count(); ++w)
      if (!kernel_.warps.plain(w).exits_together(loop)) return false;
    return true;
  }

  /// True if a block in front of a loop tries what the loop does: it ends with a branch, and has an access like those reads.
  bool tries(std::uint32_t b, std::int32_t loop, std::vector<std::size_t> const& reads) {
    program::Block const& block = kernel_.program.blocks[b];
    auto const& steps = kernel_.program.steps;
    return block.condition >= 0 && !kernel_.flow.within(b, loop) &&
           std::any_of(steps.begin() + block.first, steps.begin() + block.last, [&](program::Step const& s) {
             return s.action == program::Action::access && may_wait(memory(s.extra)) &&
                    done(s.extra).reached && std::any_of(reads.begin(), reads.end(), [&](std::size_t read) {
                      return may_be_one(done(s.extra).address, done(read).address);
                    });
           });
  }

  /// Blocks to which a way leads that neither enters the loop nor tries it in front.
  std::vector<bool> reached_without(std::int32_t loop, std::vector<std::size_t> const& reads) {
    std::vector<bool> seen(kernel_.program.blocks.size(), false);
    std::vector<std::uint32_t> work{0};
    while (!work.empty()) {
      std::uint32_t const b = work.back();
      work.pop_back();
      if (seen[b] || kernel_.flow.within(b, loop)) continue;
      seen[b] = true;
      if (tries(b, loop, reads)) continue;
      for (std::uint32_t const to : successors(kernel_.program.blocks[b])) work.push_back(to);
    }
    return seen;
  }

  /// Accesses that no way around the loop leads to, on a path behind it where the lanes do not meet before.
  std::vector<std::size_t> accesses_behind(std::int32_t loop, std::vector<std::size_t> const& reads) {
    program::Program const& program = kernel_.program;
    program::Loop const& left = kernel_.flow.loops[static_cast<std::size_t>(loop)];
    std::vector<bool> const around = reached_without(loop, reads);
    std::vector<bool> seen(program.blocks.size(), false);
    std::vector<std::uint32_t> work;
    for (auto const& exit : left.exits) work.push_back(exit.to);
    std::vector<std::size_t> out;
    while (!work.empty()) {
      std::uint32_t const b = work.back();
      work.pop_back();
      if (seen[b] || kernel_.flow.within(b, loop)) continue;
      seen[b] = true;
      program::Block const& block = program.blocks[b];
      std::uint32_t const last = block.meets < 0 ? block.last : static_cast<std::uint32_t>(block.meets);
      for (std::uint32_t s = block.first; s < last; ++s)
        if (program.steps[s].action == program::Action::access && !around[b])
          out.push_back(program.steps[s].extra);
      for (std::uint32_t const to : successors(block))
        if (block.meets < 0) work.push_back(to);
    }
    return out;
  }

  /// True if a write behind a loop may be what other lanes of the warp wait for that read in the loop.
  bool releases(std::size_t write, std::size_t read) {
    if (!writes(memory(write)) || !may_be_one(done(write).address, done(read).address)) return false;
    for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
      Warp& warp = kernel_.warps.plain(w);
      std::uint32_t const writing = warp.present() & ~warp.truth(done(write).guard).no,
                          reading = warp.present() & ~warp.truth(done(read).guard).no;
      if (std::popcount(writing) > 1 && std::popcount(reading) > 1 &&
          !have_their_own(warp, write, read, reading))
        return true;
    }
    return false;
  }

  /// True if two addresses may be in one array, or behind one parameter.
  bool may_be_one(Id a, Id b) {
    std::uint32_t first = ~0U, second = ~0U;
    auto const shared = Origins::Root::shared;
    bool const one = kernel_.origins.root_of(a, first) == shared,
               two = kernel_.origins.root_of(b, second) == shared;
    if (one || two) return one == two && first == second;
    std::vector<Id> const mine = pointers_of(a), other = pointers_of(b);
    return mine.empty() || other.empty() || std::any_of(mine.begin(), mine.end(), [&](Id id) {
             return std::find(other.begin(), other.end(), id) != other.end();
           });
  }

  std::vector<Id> pointers_of(Id address) {
    std::vector<Id> all = kernel_.origins.leaves_of({address});
    std::erase_if(all, [&](Id id) {
      Leaf const& l = *kernel_.origins.leaf_at(id);
      return l.kind != Leaf::Kind::param || l.width != 64;
    });
    return all;
  }

  /// True if no two of these lanes read one address, or if data may let it be so. What a load waits for is another lane's write unless it is at
  /// the address of its own.
  bool have_their_own(Warp& warp, std::size_t write, std::size_t read, std::uint32_t lanes) {
    Id const address = done(read).address;
    if (!is_atomic(memory(read)) && done(write).address != address) return false;
    Lanes const v = warp.value(address, 32);
    if (v.state == Lanes::State::varying) return kernel_.origins.origin_of_varying(warp, address, v.why).data;
    if (!v.split()) return false;
    std::set<std::uint64_t> seen;
    for (unsigned l = 0; l < 32; ++l)
      if ((lanes >> l & 1) != 0 && !seen.insert(v.lane[l]).second) return false;
    return true;
  }

  ExecutedKernel& kernel_;
};

}  // namespace

void mark_locks(ExecutedKernel& kernel) { Locks(kernel).run(); }

}  // namespace swizproof::kernel_detail
