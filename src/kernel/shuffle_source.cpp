#include "shuffle_source.hpp"

namespace swizproof::kernel_detail {

using execution::Leaf;

std::optional<ShuffleSource> read_by(ExecutedKernel const& kernel, execution::Warp& warp,
                                     Leaf const& shuffle) {
  constexpr std::uint64_t any_lane = 0x1f;  // the clamp, with segments of a whole warp
  Node const bounds = kernel.execution.node(shuffle.args[2]);
  bool const by_index = static_cast<program::Shuffle>(shuffle.extra) == program::Shuffle::idx;
  if (!by_index || bounds.op != Op::constant || bounds.value != any_lane) return std::nullopt;
  auto const indices = warp.domain(shuffle.args[1], 32);
  if (!indices) return std::nullopt;
  ShuffleSource out;
  for (std::uint64_t const i : *indices) out.lanes |= 1U << (i & any_lane);
  out.value = warp.in_lanes(shuffle.args[0], out.lanes);
  return out;
}

bool executes(execution::Warp& warp, Leaf const& shuffle) {
  return (warp.present() & ~warp.truth(shuffle.args[3]).no) != 0;
}

void follow_shuffles(ExecutedKernel& kernel, Id term) {
  Walk walk(term);
  while (auto const at = walk.next()) {
    if (Leaf const* const at_leaf = kernel.origins.leaf_at(*at);
        at_leaf != nullptr && at_leaf->kind == Leaf::Kind::shuffle) {
      Leaf const leaf = *at_leaf;  // there are more of them behind a value
      Id value = 0;
      bool one = true;
      for (auto const& warp : kernel.warps.all()) {
        if (!executes(*warp, leaf)) continue;
        auto const source = read_by(kernel, *warp, leaf);
        one = one && source && (value == 0 || value == source->value);
        if (source) value = source->value;
      }
      if (one && value != 0) kernel.origins.follow(*at, value);
    }
    kernel.origins.add_summands(*at, walk);
  }
}

}  // namespace swizproof::kernel_detail
