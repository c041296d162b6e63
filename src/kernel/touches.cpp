#include "touches.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Leaf;
using program::Event;
using program::MemoryAccess;
using Root = Origins::Root;

namespace {

bool is_atomic(MemoryAccess const& m) {
  return m.atomic || m.op.starts_with("atom") || m.op.starts_with("red") || m.op.starts_with("ATOM") ||
         m.op.starts_with("RED");
}

bool is_copy(MemoryAccess const& m) { return m.op.starts_with("cp.") || m.op.starts_with("LDGSTS"); }

/// True of every access but loads, and the source of a copy.
bool writes(MemoryAccess const& m) {
  if (is_copy(m)) return !m.global;
  return is_atomic(m) || !(m.op.starts_with("ld") || m.op.starts_with("LD") || m.op.starts_with("wmma.load"));
}

/// True for a load that a write may change.
bool is_load(MemoryAccess const& m) {
  return (m.op.starts_with("ld") || m.op.starts_with("LD")) && m.op.find(".nc") == m.op.npos &&
         m.op.find(".CONSTANT") == m.op.npos;
}

bool polls(MemoryAccess const& m) {
  static constexpr std::string_view words[] = {".volatile", ".relaxed", ".acquire", ".mmio",
                                               ".cv",       ".cg",      ".STRONG"};
  return is_atomic(m) || std::any_of(std::begin(words), std::end(words),
                                     [&](std::string_view word) { return m.op.find(word) != m.op.npos; });
}

Touch touch_of(MemoryAccess const& m, ExecutedAccess const& done, Place place) {
  Touch t{place, m.line, done.address, done.guard};
  t.global = m.global, t.generic = m.generic;
  return t;
}

}  // namespace

Touches::Touches(ExecutedKernel& kernel) : kernel_(kernel) {
  program::Program const& program = kernel.program;
  for (std::uint32_t const b : kernel.flow.order)
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s) {
      std::uint32_t const extra = program.steps[s].extra;
      if (program.steps[s].action == program::Action::access) {
        MemoryAccess const& m = program.accesses[extra];
        Touch& t = all_.emplace_back(touch_of(m, kernel.execution.accesses[extra], {b, s}));
        t.polls = polls(m), t.atomic = is_atomic(m), t.writes = writes(m);
        t.plain = !t.polls && !t.writes && (is_load(m) || is_copy(m));
      } else if (program.steps[s].action == program::Action::event) {
        Event const& e = program.events[extra];
        bool const call = e.kind == Event::Kind::call, poll = e.kind == Event::Kind::poll;
        if (!call && !poll && e.kind != Event::Kind::write) continue;
        Touch& t = all_.emplace_back(touch_of(e.at, kernel.execution.events[extra], {b, s}));
        t.plain = poll && is_load(e.at) && !polls(e.at);
        t.polls = poll && !t.plain, t.writes = !poll, t.any = call;
        t.event = !poll || !e.at.global;
      }
    }
}

bool Touches::may_be_one(Touch const& a, Touch const& b) const {
  if ((a.global && b.is_shared()) || (b.global && a.is_shared())) return false;
  std::uint32_t first = ~0U, second = ~0U;
  Root const one = kernel_.origins.root_of(a.address, first),
             two = kernel_.origins.root_of(b.address, second);
  if (one == Root::shared && two == Root::shared) return share_an_array(a.address, b.address);
  if (one == Root::shared || two == Root::shared)
    return one == Root::shared ? may_be_shared(b, two) : may_be_shared(a, one);
  std::vector<Id> const &mine = pointers_of(a.address), &other = pointers_of(b.address);
  return mine.empty() || other.empty() || std::any_of(mine.begin(), mine.end(), [&](Id id) {
           return std::find(other.begin(), other.end(), id) != other.end();
         });
}

/// An address that is chosen, or a difference of addresses, may be that of each array which it takes.
bool Touches::share_an_array(Id a, Id b) const {
  auto const arrays = [&](Id address) {
    std::set<std::uint32_t> out;
    for (Id const id : kernel_.origins.arrays_of({address})) {
      std::uint32_t const symbol = kernel_.origins.leaf_at(id)->extra;
      out.insert(kernel_.program.symbols[symbol].extern_array ? ~0U : symbol);
    }
    return out;
  };
  std::set<std::uint32_t> const one = arrays(a), two = arrays(b);
  return std::any_of(one.begin(), one.end(), [&](std::uint32_t symbol) { return two.contains(symbol); });
}

bool Touches::may_be_shared(Touch const& touch, Root root) const {
  return !touch.global && !(touch.generic && kernel_.origins.is_elsewhere(root, touch.address));
}

std::vector<Id> const& Touches::pointers_of(Id address) const {
  auto const [at, fresh] = pointers_.try_emplace(address);
  std::vector<Id>& all = at->second;
  if (!fresh) return all;
  all = kernel_.origins.leaves_of({address});
  std::erase_if(all, [&](Id id) {
    Leaf const& l = *kernel_.origins.leaf_at(id);
    return l.kind != Leaf::Kind::param || l.width != 64;
  });
  return all;
}

}  // namespace swizproof::kernel_detail
