// Faults of a launch as they are found, and the one that is reported: the most telling, not the first.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::flow_detail {

/// An execution of an instruction by a thread, or by a unit that copies or multiplies for it.
struct FlowTouch {
  std::uint32_t line = ~0U;     ///< index of the instruction
  std::uint32_t execution = 0;  ///< number of the execution by its warp; 1 is the first, 0 is not counted
  unsigned doer = 0;            ///< number of a clock, as units.hpp has them
  bool warp = false;            ///< all of the doer's warp
};

/// A fault. `second` is the access that was executed when it was found, `first` an earlier one.
struct FlowConflict {
  FlowFaultKind kind = FlowFaultKind::race;
  std::string text{};
  FlowTouch second{};
  std::optional<FlowTouch> first{};
  std::string_view rule{};             ///< paragraph of the PTX ISA
  std::string fix{};                   ///< instruction that would fix it, and its position
  std::vector<std::uint32_t> waits{};  ///< instructions at which warps wait for ever
  bool two_warps = false;              ///< a race between two warps
};

/// The fault of one block that is reported: a race of two warps ends the execution at once; after another fault it goes on, since a race that
/// explains it may follow. What is executed behind a fault is still one real order of the warps.
class Faults {
 public:
  /// Keeps a fault if it explains more than the one before; throws a race of two warps.
  void add(FlowConflict conflict);
  /// True if a fault of this kind would be kept.
  [[nodiscard]] bool would_keep(FlowFaultKind kind, bool two_warps) const;
  [[nodiscard]] bool any() const { return best_.has_value(); }
  /// A value that is read depends on the order of the warps: an answer without a fault is undecided.
  void doubt(std::string text, std::uint32_t line) {
    if (!doubt_) doubt_ = Doubt{std::move(text), line};
  }
  /// The launch is not well synchronised: this order goes on, since it may have a fault of another kind.
  void unsynchronised(FlowConflict conflict) {
    if (!unsynchronised_) unsynchronised_ = std::move(conflict);
  }
  [[nodiscard]] std::optional<FlowConflict> const& not_well_synchronised() const { return unsynchronised_; }
  struct Doubt {
    std::string text{};
    std::uint32_t line = ~0U;
  };
  [[nodiscard]] std::optional<Doubt> const& doubts() const { return doubt_; }
  /// Throws the fault, if there is one.
  void raise() const {
    if (best_) throw FlowConflict{*best_};
  }

 private:
  std::optional<FlowConflict> best_{};
  std::optional<Doubt> doubt_{};
  std::optional<FlowConflict> unsynchronised_{};
};

/// Paragraphs of the PTX ISA that rules cite.
namespace isa {
inline constexpr std::string_view
    races = "PTX ISA, Memory Consistency Model: data races",
    barrier = "PTX ISA, barrier{.cta}", cluster_barrier = "PTX ISA, barrier.cluster",
    mbarrier = "PTX ISA, mbarrier", mbarrier_init = "PTX ISA, mbarrier.init: contents of the mbarrier object",
    async_proxy = "PTX ISA, Memory Consistency Model: proxies; Async proxy",
    warp_mask = "PTX ISA, shfl.sync, vote.sync, bar.warp.sync: membermask",
    aligned = "PTX ISA, .aligned: all threads of the warp execute the same instruction",
    read_only = "PTX ISA, ld.global.nc: read-only for the duration of the kernel",
    uniform = "PTX ISA, ldu: read-only data, at one address of all threads of the warp",
    bounds = "PTX ISA, Addresses as Operands",
    generic = "PTX ISA 9.1, 6.4.1.1: Generic Addressing; 9.7.9.20: cvta",
    shared_cta = "PTX ISA, State Spaces: .shared, ::cta and ::cluster", mapa = "PTX ISA, mapa",
    lifetime = "CUDA C++ Programming Guide, Distributed Shared Memory",
    alignment = "PTX ISA, Addresses as Operands: natural alignment", trap = "PTX ISA, trap",
    tensor_columns = "PTX ISA 9.1, 9.7.16.7.1: tcgen05.alloc, tcgen05.dealloc",
    tensor_pair = "PTX ISA 9.1, 9.7.16.5: issue granularity of tcgen05, CTA pairs",
    tensor_lanes = "PTX ISA 9.1, 9.7.16.8.1: access restrictions of tcgen05.ld and tcgen05.st",
    tensor_order = "PTX ISA 9.1, 9.7.16.6.4: canonical synchronization patterns of tcgen05",
    tensor_pipeline = "PTX ISA 9.1, 9.7.16.6.2: pipelined tcgen05 instructions",
    tensor_registers = "PTX ISA 9.1, 9.7.16.6.4.5: register dependencies of tcgen05.ld",
    tensor_mma = "PTX ISA 9.1, 9.7.16.10.9.1: tcgen05.mma",
    tensor_copy = "PTX ISA 9.1, 9.7.16.9.2: tcgen05.cp",
    tensor_shift = "PTX ISA 9.1, 9.7.16.9.3: tcgen05.shift",
    tensor_scales = "PTX ISA 9.1, 9.7.16.10.7: block scaling for tcgen05.mma",
    tensor_layout = "PTX ISA 9.1, 9.7.16.10.5: data path layout organization",
    tensor_instruction = "PTX ISA 9.1, 9.7.16.4.2: instruction descriptor", wgmma = "PTX ISA, wgmma.fence",
    try_cancel = "PTX ISA 9.0, 9.7.13.17: clusterlaunchcontrol.try_cancel",
    query_cancel = "PTX ISA 9.0, 9.7.13.18: clusterlaunchcontrol.query_cancel",
    parity = "PTX ISA 9.1, 9.7.13.15.16: mbarrier.test_wait, mbarrier.try_wait, valid values of phaseParity",
    tx_count = "PTX ISA 9.1, 9.7.13.15.2: contents of the mbarrier object, range of the tx-count",
    destination = "PTX ISA 9.1, 6.4.3: vectors as operands, elements of a destination are unique",
    matrix_rows = "PTX ISA 9.1, 9.7.14.5.15: ldmatrix, addresses of all threads for sm_75",
    bulk_prefetch = "PTX ISA 9.1, 9.7.9.25.4.3: cp.async.bulk.prefetch, alignment of address and size",
    bulk_send = "PTX ISA 9.1, 9.7.9.25.4.1: cp.async.bulk, another CTA of the cluster as destination",
    vector_atomic = "PTX ISA 9.1, 9.7.13.5, 9.7.13.6: vector types of atom and red in global memory",
    strong_access =
        "PTX ISA 9.1, 9.7.9.8, 9.7.9.11: .relaxed, .acquire and .release in global and shared memory",
    bulk_store = "PTX ISA, st.bulk", store_async = "PTX ISA, st.async",
    warpgroup =
        "PTX ISA, wgmma.mma_async, setmaxnreg: .aligned, all threads of the warpgroup execute the same",
    registers = "PTX ISA, setmaxnreg", uniform_branch = "PTX ISA, bra, brx.idx: .uni",
    wmma_alignment = "PTX ISA, wmma: Matrix Storage, alignment of the address and the stride",
    source_size = "PTX ISA, cp.async: src-size",
    copies = "PTX ISA, Data Movement: completion mechanisms of asynchronous copies";
}  // namespace isa

}  // namespace swizproof::flow_detail
