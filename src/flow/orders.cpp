#include "orders.hpp"

#include <algorithm>
#include <numeric>

namespace swizproof::flow_detail {

FlowFault fault_of(FlowKernel const& kernel, FlowConflict const& conflict,
                   std::array<std::uint32_t, 3> const& block) {
  Units const units{kernel.clock_threads(), kernel.blocks_of_cluster()};
  auto const access = [&](FlowTouch const& t) {
    FlowAccess out{kernel.line(t.line), t.warp ? units.warp(t.doer / 32) : units.who(t.doer)};
    out.line.execution = t.execution;
    return out;
  };
  FlowFault out{conflict.text,
                block_of_rank(block, kernel.cluster, units.rank_of(conflict.second.doer)),
                {},
                conflict.kind,
                {},
                {},
                std::string(conflict.rule),
                conflict.fix};
  if (conflict.second.line != ~0U) out.second = access(conflict.second);
  if (conflict.first) out.first = access(*conflict.first);
  if (conflict.kind == FlowFaultKind::never_released) {
    for (std::uint32_t const line : conflict.waits) out.lines.push_back(kernel.line(line));
    return out;
  }
  if (out.second) out.lines.push_back(out.second->line);
  if (out.first) out.lines.push_back(out.first->line);
  return out;
}

bool orders_threads(Decoded const& d) {
  switch (d.handler) {
    case Handler::barrier:
    case Handler::warp_barrier:
    case Handler::cluster_barrier:
    case Handler::proxy_fence:
    case Handler::memory_fence:
    case Handler::mbarrier_fence:
    case Handler::wait:
    case Handler::wgmma_fence:
    case Handler::wgmma_wait:
    case Handler::tensor_wait:
    case Handler::tensor_fence:
      return true;
    case Handler::mbarrier:
      return d.has("test_wait") || d.has("try_wait") || d.has("inval");
    case Handler::bulk_groups:
      return d.has("wait_group");
    default:
      return false;
  }
}

std::vector<WarpOrder> orders_of(unsigned warps) {
  constexpr unsigned most_permuted = 4, most_rotated = 12;
  std::vector<WarpOrder> out;
  std::vector<unsigned> order(warps);
  std::iota(order.begin(), order.end(), 0U);
  if (warps <= most_permuted) {
    do
      for (bool const eager : {false, true}) out.push_back({order, eager});
    while (std::next_permutation(order.begin(), order.end()));
    return out;
  }
  for (unsigned k = 0; k < std::min(warps, most_rotated); ++k) {
    std::vector<unsigned> const reversed(order.rbegin(), order.rend());
    for (bool const eager : {false, true}) out.push_back({order, eager}), out.push_back({reversed, eager});
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  return out;
}

std::optional<FlowConflict> fault_in_another_order(FlowKernel const& kernel,
                                                   std::array<std::uint32_t, 3> const& block,
                                                   std::uint64_t steps) {
  std::uint64_t spent = 0;
  for (WarpOrder const& order : orders_of(kernel.warps() * kernel.blocks_of_cluster())) {
    Names names(kernel.arrays);
    BlockRun run(kernel, block, names);
    try {
      run.run(order);
    } catch (FlowConflict const& conflict) {
      // In these orders the pairing is another one: what is reported is a fault of memory or a warp that waits for ever.
      if (conflict.kind != FlowFaultKind::not_well_synchronised) return conflict;
    } catch (FlowRefused const&) {  // NOLINT(bugprone-empty-catch): another order may be executed to its end
    }
    spent += run.steps();
    if (spent > steps) break;
  }
  return std::nullopt;
}

}  // namespace swizproof::flow_detail
