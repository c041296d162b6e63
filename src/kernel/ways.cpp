#include "ways.hpp"

#include <swizproof/program/control_flow.hpp>

namespace swizproof::kernel_detail {

std::vector<bool> Ways::from(std::vector<Place> const& places, Until until) const {
  std::vector<bool> steps(program_.steps.size(), false), begun(program_.blocks.size(), false);
  std::vector<Place> work = places;
  while (!work.empty()) {
    auto const [b, first] = work.back();
    work.pop_back();
    program::Block const& block = program_.blocks[b];
    if (first == block.first && begun[b]) continue;
    begun[b] = begun[b] || first == block.first;
    std::uint32_t at = first;
    for (; at < block.last && !ends(at, until); ++at) steps[at] = true;
    if (at < block.last) continue;
    for (std::uint32_t const to : successors(block)) work.push_back({to, program_.blocks[to].first});
  }
  return steps;
}

bool Ways::ends(std::uint32_t step, Until until) const {
  program::Step const& s = program_.steps[step];
  if (s.action != program::Action::event || until == Until::end) return false;
  if (until == Until::meeting) return meets_[s.extra];
  program::Event const& e = program_.events[s.extra];
  return e.kind == program::Event::Kind::block &&
         (until == Until::block || e.at.op.starts_with("bar.") || e.at.op.find(".aligned") != e.at.op.npos);
}

}  // namespace swizproof::kernel_detail
