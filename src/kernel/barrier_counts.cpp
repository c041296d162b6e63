#include "barrier_counts.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>

namespace swizproof::kernel_detail {

BarrierCounts::BarrierCounts(program::Program const& program, program::Flow const& flow,
                             execution::Execution const& execution)
    : before_(program.blocks.size()) {
  UniformTerms uniform(program, execution);
  auto const behind = [&](std::uint32_t b) -> std::optional<unsigned> {
    if (!before_[b]) return std::nullopt;
    unsigned count = *before_[b];
    for (std::uint32_t s = program.blocks[b].first; s < program.blocks[b].last; ++s)
      count += program.steps[s].action == program::Action::event &&
               program.events[program.steps[s].extra].kind == program::Event::Kind::block;
    return count;
  };
  for (std::uint32_t const b : flow.order) {
    std::optional<unsigned> count;
    bool same = true;
    for (std::uint32_t const p : flow.before[b]) {
      if (flow.number[p] >= flow.number[b]) continue;  // a way back
      std::optional<unsigned> const one = behind(p);
      same = same && one && (!count || *count == *one);
      count = one;
    }
    before_[b] = b == flow.order.front() ? std::optional(0U) : same ? count : std::nullopt;
  }
  for (std::size_t l = 0; l < flow.loops.size(); ++l) {
    program::Loop const& loop = flow.loops[l];
    auto const first = behind(loop.latches.front());
    bool const same = std::all_of(loop.latches.begin(), loop.latches.end(),
                                  [&](std::uint32_t latch) { return behind(latch) == first; });
    std::uint32_t const around =
        loop.parent < 0 ? flow.order.front() : flow.loops[static_cast<std::size_t>(loop.parent)].header;
    bool const all_enter = flow.always_follows(loop.header, around);
    if (same && first &&
        (*first == before_[loop.header] || (all_enter && uniform.exits(static_cast<std::int32_t>(l)))))
      continue;
    Walk walk(loop.header);
    while (auto const b = walk.next()) {
      before_[*b].reset();
      walk.add(successors(program.blocks[*b]));
    }
  }
}

}  // namespace swizproof::kernel_detail
