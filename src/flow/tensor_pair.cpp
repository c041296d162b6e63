// Pairs of blocks: which one has a peer, and what two of its warps execute together.
#include "tensor_pair.hpp"

#include "execute.hpp"

#include <fmt/format.h>

#include <bit>

namespace swizproof::flow_detail {

std::vector<BlockState*> tensor_blocks(Now const& now) {
  BlockState& own = now.block;
  if (!now.decoded.has("cta_group::2")) return {&own};
  unsigned const even = own.rank & ~1U;
  return {own.cluster.blocks[even], own.cluster.blocks[even + 1]};
}

void check_pair(Now const& now) {
  bool const pair = now.decoded.has("cta_group::2");
  if (!pair && !now.decoded.has("cta_group::1")) return;
  BlockState& block = now.block;
  auto const first = static_cast<unsigned>(std::countr_zero(now.mask));
  if (block.kernel.tensor_groups == 3)
    now.fault(
        FlowFaultKind::misuse, now.touch(first), isa::tensor_pair,
        "the kernel has tcgen05 with .cta_group::1 and with .cta_group::2: all of its instructions need one");
  if (!pair) return;
  if (!block.kernel.cluster_is_given)
    now.refuse("tcgen05 of a pair of blocks, and the size of the cluster is not given: --cluster X,Y,Z");
  unsigned const peer = block.rank ^ 1U;
  if (peer >= block.units.blocks)
    now.fault(FlowFaultKind::misuse, now.touch(first), isa::tensor_pair,
              fmt::format("rank {} has no peer: its cluster has {} block{}", block.rank, block.units.blocks,
                          block.units.blocks == 1 ? "" : "s"));
  bool const tracked = now.decoded.handler >= Handler::tensor_mma;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    if (!block.lifetimes.begun(peer, now.thread(lane)))
      now.fault(FlowFaultKind::lifetime, now.touch(lane), isa::tensor_pair,
                fmt::format("{} executes {}, and its peer, rank {}, may not have begun: no barrier of the "
                            "cluster is before",
                            block.units.thread(now.thread(lane)), now.in.opcode.text, peer));
    if (tracked) block.lifetimes.issue(peer, now.touch(lane));
  }
}

namespace {

/// The parts of one block have an order, by which the other block's belong to them.
void check_order(Now const& now, TensorPair::Side const& own, TensorPart const& part) {
  if (own.waiting && own.waiting->thread != part.thread)
    now.refuse(
        "two warps of a block execute tcgen05.alloc, .dealloc or .relinquish_alloc_permit of a pair at once: "
        "which part of the other block belongs to which depends on the order");
  if (own.last && !now.block.clocks.executed(own.last->thread, own.last->clock, part.thread))
    now.block.faults.doubt(
        "which part of the other block belongs to this one depends on the order of the warps", now.index);
}

/// Executes both parts; false if there are no columns now.
bool execute_parts(Now const& now, TensorPair& pair) {
  auto const blocks = tensor_blocks(now);
  TensorPart const &even = *pair.sides[0].waiting, &odd = *pair.sides[1].waiting;
  switch (even.kind) {
    case TensorPart::Kind::relinquish:
      for (unsigned i = 0; i < 2; ++i)
        blocks[i]->tensor.relinquish(pair.sides[i].waiting->thread, pair.sides[i].waiting->by);
      return true;
    case TensorPart::Kind::deallocate:
      for (unsigned i = 0; i < 2; ++i) {
        TensorPart const& part = *pair.sides[i].waiting;
        blocks[i]->tensor.deallocate(part.address, part.columns, part.thread, part.by);
        blocks[1 - i]->tensor.need_unused(static_cast<unsigned>(part.address),
                                          static_cast<unsigned>(part.columns), part.thread, part.by);
      }
      if (even.address != odd.address || even.columns != odd.columns)
        now.refuse(
            "the blocks of a pair deallocate different columns: the ISA does not say what is free then");
      return true;
    default:
      break;
  }
  if (even.columns != odd.columns)
    now.refuse(
        "the blocks of a pair allocate different numbers of columns: the ISA does not say what they get");
  for (unsigned i = 0; i < 2; ++i) {
    TensorPart const& part = *pair.sides[i].waiting;
    auto const first = blocks[i]->tensor.allocate(part.columns, part.thread, part.by);
    if (!first && i == 0) return false;
    if (!first || (i == 1 && *first != pair.sides[0].first))
      now.refuse("the blocks of a pair have other free columns");
    pair.sides[i].first = *first;
  }
  return true;
}

}  // namespace

std::optional<unsigned> execute_part(Now const& now, TensorPart part) {
  TensorPair& pair = now.block.cluster.pairs[now.block.rank / 2];
  TensorPair::Side &own = pair.sides[now.block.rank % 2], &other = pair.sides[1 - now.block.rank % 2];
  check_order(now, own, part);
  if (!own.done) {
    own.waiting = part;
    if (!other.waiting || other.done || other.waiting->kind != part.kind || !execute_parts(now, pair))
      return std::nullopt;
    own.done = other.done = true;
  }
  own.last = own.waiting;
  own.waiting.reset(), own.done = false;
  return own.first;
}

}  // namespace swizproof::flow_detail
