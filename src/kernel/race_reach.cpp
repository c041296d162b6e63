#include "race_reach.hpp"

#include <swizproof/program/step.hpp>

#include <optional>

namespace swizproof::kernel_detail {

WarpReach::WarpReach(program::Program const& program, program::Flow const& flow,
                     execution::Execution const& execution, BlockShapes const& shapes)
    : blocks_(program.blocks.size(), 0),
      accesses_(program.accesses.size(), 0),
      may_be_true_(program.blocks.size(), 0),
      may_be_false_(program.blocks.size(), 0) {
  if (!shapes.given && shapes.dimensions != 1) {  // threads have no numbers
    for (std::vector<WarpSet>* const all : {&blocks_, &accesses_, &may_be_true_, &may_be_false_})
      all->assign(all->size(), all_warps);
    return;
  }
  for (std::uint32_t t = 0; t < threads_of(shapes); ++t) {
    ThreadNumbers numbers(program, execution, shapes, t, std::nullopt);
    std::vector<std::uint32_t> work{flow.order[0]};
    std::vector<bool> seen(program.blocks.size(), false);
    WarpSet const warp = WarpSet{1} << t / 32;
    while (!work.empty()) {
      std::uint32_t const b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = true, blocks_[b] |= warp;
      program::Block const& block = program.blocks[b];
      for (std::uint32_t s = block.first; s < block.last; ++s)
        if (program.steps[s].action == program::Action::access) {
          ThreadNumbers::Number const guard = numbers.of(execution.accesses[program.steps[s].extra].guard);
          if (!guard || *guard != 0) accesses_[program.steps[s].extra] |= warp;
        }
      ThreadNumbers::Number const truth =
          block.condition < 0 ? ThreadNumbers::Number(1) : numbers.of(execution.conditions[b]);
      if (!truth || *truth != 0) may_be_true_[b] |= warp;
      if (!truth || *truth == 0) may_be_false_[b] |= warp;
      bool const negated = block.condition >= 0 && block.negated;
      if (block.taken >= 0 && (!truth || (*truth != 0) != negated))
        work.push_back(static_cast<std::uint32_t>(block.taken));
      if (block.condition >= 0 && block.next >= 0 && (!truth || (*truth != 0) == negated))
        work.push_back(static_cast<std::uint32_t>(block.next));
    }
  }
}

bool WarpReach::agree(std::uint32_t block, WarpSet warps) const {
  return (may_be_true_[block] & warps) == 0 || (may_be_false_[block] & warps) == 0;
}

}  // namespace swizproof::kernel_detail
