#include "clusters.hpp"

#include "execute.hpp"
#include "windows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::flow_detail {

std::array<std::uint32_t, 3> block_of_rank(std::array<std::uint32_t, 3> const& first,
                                           std::array<std::uint32_t, 3> const& cluster, unsigned rank) {
  return {first[0] + rank % cluster[0], first[1] + rank / cluster[0] % cluster[1],
          first[2] + rank / cluster[0] / cluster[1]};
}

std::vector<std::array<std::uint32_t, 3>> clusters_of(FlowKernel const& kernel) {
  std::set<std::array<std::uint32_t, 3>> seen;
  std::vector<std::array<std::uint32_t, 3>> out;
  for (std::array<std::uint32_t, 3> block : blocks_of(kernel.launch)) {
    for (unsigned i = 0; i < 3; ++i) block[i] -= block[i] % kernel.cluster[i];
    if (seen.insert(block).second) out.push_back(block);
  }
  return out;
}

// ----------------------------------------------------------------------------------------- lifetimes

bool Lifetimes::begun(unsigned rank, unsigned thread) const {
  unsigned const first = rank * units_.threads_of_block();
  for (unsigned t = first; t < first + units_.threads_of_block(); ++t)
    if (clocks_.executed(t, 1, thread)) return true;
  return false;
}

void Lifetimes::access(unsigned rank, FlowTouch const& touch, unsigned clock) {
  last_[{rank, clock}] = {clocks_.now(clock), touch, false};
}

void Lifetimes::issue(unsigned rank, FlowTouch const& touch) {
  last_[{rank, touch.doer}] = {clocks_.now(touch.doer), touch, true};
}

FlowConflict Lifetimes::fault(unsigned rank, Access const& access) const {
  std::string const what = access.issues ? fmt::format("issues an instruction of its pair with rank {}", rank)
                                         : fmt::format("accesses the shared memory of rank {}", rank);
  return {
      FlowFaultKind::lifetime,
      fmt::format("{} {}, which may have ended: no thread of that block waits for this {} before its end",
                  units_.who(access.touch.doer), what, access.issues ? "instruction" : "access"),
      access.touch,
      {},
      access.issues ? isa::tensor_pair : isa::lifetime,
      fmt::format("barrier.cluster.arrive behind this {}, and barrier.cluster.wait by rank {} before its end",
                  access.issues ? "instruction" : "access", rank),
      {},
      true};
}

std::optional<FlowConflict> Lifetimes::end() const {
  for (auto const& [key, access] : last_) {
    unsigned const first = key.first * units_.threads_of_block();
    bool behind = false;
    for (unsigned t = first; t < first + units_.threads_of_block() && !behind; ++t)
      behind = clocks_.executed(key.second, access.when, t);
    if (behind) continue;
    return fault(key.first, access);
  }
  return std::nullopt;
}

// --------------------------------------------------------------------------------------- instructions

namespace {

/// The instruction names its shared memory as the block's own: `.shared` and `.shared::cta`, and not `.shared::cluster`.
bool of_own_block(Now const& now) {
  if (now.decoded.has("shared::cluster") || now.decoded.has("multicast::cluster::all")) return false;
  return now.decoded.has("shared") || now.decoded.has("shared::cta") ||
         now.decoded.handler == Handler::copy_async;
}

/// Refuses the memory of another block where the size of the cluster is not given.
void refuse_other_block(Now const& now) {
  if (!now.block.kernel.cluster_is_given)
    now.refuse(
        "an address in the shared memory of another block of the cluster, and its size is not given: "
        "--cluster X,Y,Z");
}

/// Instructions whose accesses a unit makes, later than the thread: these note them themselves.
bool is_done_by_a_unit(Handler h) {
  return h == Handler::store_async || (h >= Handler::tensor_mma && h <= Handler::tensor_commit) ||
         (h >= Handler::bulk_copy && h <= Handler::bulk_groups);
}

}  // namespace

void check_window(Now const& now, std::uint64_t address, unsigned lane, char const* verb, bool own) {
  unsigned const rank = rank_at(address);
  if (rank == now.block.rank) return;
  Units const& units = now.block.units;
  if (rank >= units.blocks && address < shared_limit && !of_own_block(now)) refuse_other_block(now);
  if (rank >= units.blocks)
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::bounds,
              fmt::format("{} {} 0x{:x}, which is not in the shared memory of its {}",
                          units.thread(now.thread(lane)), verb, address & 0xffffffffffU,
                          units.blocks == 1 ? "block" : "cluster"));
  if (own || of_own_block(now))
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::shared_cta,
              fmt::format("{} {} the shared memory of rank {} by {}, which accesses its own alone",
                          units.thread(now.thread(lane)), verb, rank, now.in.opcode.text));
  if (!now.block.lifetimes.begun(rank, now.thread(lane)))
    now.fault(FlowFaultKind::lifetime, now.touch(lane), isa::lifetime,
              fmt::format("{} {} the shared memory of rank {}, which may not have begun: no barrier of the "
                          "cluster is before",
                          units.thread(now.thread(lane)), verb, rank));
  if (!is_done_by_a_unit(now.decoded.handler)) now.block.lifetimes.access(rank, now.touch(lane));
}

void assume_cluster(Now const& now) {
  if (!now.block.kernel.cluster_is_given)
    now.block.assumed.insert("each block is a cluster of its own (--cluster X,Y,Z gives another size)");
}

namespace {

/// A shared variable with an offset, or a register with an address.
std::uint64_t shared_operand(Now const& now, ptx::Operand const& o, unsigned lane) {
  std::uint64_t at =
      o.kind == ptx::Operand::Kind::address ? now.address(o, lane) : now.number(o, lane, "the address");
  bool const generic = now.decoded.space == program::Space::generic;
  if (generic) at = of_generic(now, at, lane).at;
  if (!generic) check_space(now, at, lane);
  if (rank_at(at) >= now.block.units.blocks)
    now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::bounds,
              fmt::format("{} maps 0x{:x}, which is no address in the shared memory of its cluster",
                          now.block.units.thread(now.thread(lane)), at & 0xffffffffffU));
  return at;
}

}  // namespace

void map_address(Now const& now) {
  assume_cluster(now);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!takes_part(now.mask, lane)) continue;
    std::uint64_t const at = shared_operand(now, now.in.operands[1], lane);
    std::uint64_t const rank =
        now.number(now.in.operands[2], lane, "the block of the cluster") & low_bits(32);
    if (rank >= now.block.units.blocks) refuse_other_block(now);
    if (rank >= now.block.units.blocks)
      now.fault(FlowFaultKind::out_of_bounds, now.touch(lane), isa::mapa,
                fmt::format("{} maps an address into rank {}, and the cluster has {} block{}",
                            now.block.units.thread(now.thread(lane)), rank, now.block.units.blocks,
                            now.block.units.blocks == 1 ? "" : "s"));
    Word mapped = plain(rank << window_shift | in_block(at));
    if (now.decoded.space == program::Space::generic) mapped = plain(*generic_of_shared(mapped.number));
    ptx::Operand const& from = now.in.operands[1];
    mapped.origin =
        now.operand(from.kind == ptx::Operand::Kind::address ? from.parts[0] : from, lane, 64).origin;
    now.put(now.in.operands[0], lane, mapped);
  }
}

void rank_of_address(Now const& now) {
  assume_cluster(now);
  for (unsigned lane = 0; lane < 32; ++lane)
    if (takes_part(now.mask, lane))
      now.put(now.in.operands[0], lane, plain(rank_at(shared_operand(now, now.in.operands[1], lane))));
}

std::optional<std::uint64_t> cluster_register(Now const& now, std::string_view name) {
  std::size_t const axis = name.ends_with(".y") ? 1 : name.ends_with(".z") ? 2 : 0;
  FlowKernel const& kernel = now.block.kernel;
  std::uint32_t const size = kernel.cluster[axis];
  if (name.starts_with("%cluster_nctaid")) return size;
  if (name.starts_with("%cluster_nctarank")) return now.block.units.blocks;
  if (name.starts_with("%cluster_ctaid")) return now.block.number[axis] % size;
  if (name.starts_with("%cluster_ctarank")) return now.block.rank;
  if (name.starts_with("%clusterid")) return now.block.number[axis] / size;
  if (name.starts_with("%nclusterid")) return kernel.launch.grid[axis] / size;
  return std::nullopt;
}

}  // namespace swizproof::flow_detail
