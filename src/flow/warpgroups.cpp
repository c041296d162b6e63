#include "warpgroups.hpp"
#include "execute.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

std::optional<Warpgroups::Difference> Warpgroups::execute(unsigned warp, FlowTouch const& by,
                                                          Values const& values) {
  unsigned const group = warp / size;
  if ((group + 1) * size > warps())
    return Difference{
        fmt::format("warp {} is in no warpgroup, which has {} warps: the block has {}", warp, size, warps()),
        {}};
  std::vector<Step>& steps = groups_[group];
  std::size_t const at = done_[warp]++;
  if (at == steps.size()) steps.push_back({by, warp, values});
  Step const& same = steps[at];
  bool const changes = values.registers != 0 && same.values.registers != 0;
  apart_ = apart_ || (changes && same.by.line != by.line);
  if (same.by.line != by.line && !changes)
    return Difference{fmt::format("warp {} of its warpgroup executes another one there: all of its warps "
                                  "have to execute the same",
                                  same.warp),
                      same.by};
  if (!(same.values == values))
    return Difference{fmt::format("warp {} of its warpgroup has {}: all of its warps have to have the same",
                                  same.warp, changes ? "another count" : "other descriptors"),
                      same.by};
  return std::nullopt;
}

std::string Warpgroups::change_registers(unsigned warp, unsigned first_thread, std::uint64_t count, bool more,
                                         Clocks& clocks) {
  std::uint64_t const before = std::exchange(registers_[warp], count);
  if (before != 0 && (more ? count < before : count > before))
    return fmt::format("it {} the registers of a thread to {}, and there are {}",
                       more ? "increases" : "reduces", count, before);
  std::size_t const number = moments_[warp].size();
  threads_[warp] = first_thread;
  moments_[warp].push_back(clocks.now(first_thread));
  clocks.tick(first_thread);
  unsigned const first = warp / size * size;
  for (unsigned w = first; w < first + size && number != 0; ++w)
    if (w != warp &&
        (moments_[w].size() < number || !clocks.executed(threads_[w], moments_[w][number - 1], first_thread)))
      return fmt::format(
          "nothing orders the setmaxnreg before it of warp {}: a warpgroup synchronises between "
          "two of them",
          w);
  return {};
}

std::optional<FlowConflict> Warpgroups::end() const {
  for (unsigned w = 0; w < warps(); ++w) {
    auto const& steps = groups_[w / size];
    if (done_[w] >= steps.size()) continue;
    Step const& missed = steps[done_[w]];
    return FlowConflict{FlowFaultKind::misuse,
                        fmt::format("warp {} executes it, and warp {} of its warpgroup does not: all of its "
                                    "warps have to execute the same",
                                    missed.warp, w),
                        missed.by,
                        {},
                        isa::warpgroup,
                        {},
                        {},
                        false};
  }
  return std::nullopt;
}

void in_warpgroup(Now const& now, Warpgroups::Values const& values) {
  now.need_whole_warp();
  FlowTouch const by = now.touch(0, true);
  if (auto const wrong = now.block.warpgroups.execute(now.warp.of_block, by, values))
    throw FlowConflict{
        FlowFaultKind::misuse,
        fmt::format("warp {} executes {}: {}", now.warp.of_block, now.in.opcode.text, wrong->text),
        by,
        wrong->first,
        isa::warpgroup,
        {},
        {},
        false};
}

/// setmaxnreg. How many registers there are at the launch is not known here, and that .inc waits for registers of other warps is not followed.
void change_registers(Now const& now) {
  std::uint64_t const count = now.number(now.in.operands[0], 0, "the number of registers");
  bool const more = now.decoded.has("inc");
  in_warpgroup(now, {{}, 2 * count + (more ? 1 : 0)});
  if (now.block.warpgroups.apart())
    now.block.assumed.insert(
        "warps of a warpgroup may execute setmaxnreg at different places, with one count, as CUTLASS does; "
        "the PTX "
        "ISA has the same instruction for all of them");
  constexpr std::uint64_t least = 24, most = 256, step = 8;
  std::string why = count < least || count > most || count % step != 0
                        ? fmt::format("the count {} is no multiple of 8 from 24 to 256", count)
                        : now.block.warpgroups.change_registers(now.warp.of_block, now.thread(0), count, more,
                                                                now.block.clocks);
  if (!why.empty())
    now.fault(FlowFaultKind::misuse, now.touch(0, true), isa::registers,
              fmt::format("warp {} executes {}: {}", now.warp.of_block, now.in.opcode.text, why));
  now.block.assumed.insert(
      "the registers at the launch suffice for setmaxnreg: .inc finds what it waits for, and .inc and .dec "
      "change the count as they say");
}

}  // namespace swizproof::flow_detail
