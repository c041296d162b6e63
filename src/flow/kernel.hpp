// A kernel made ready for execution with names: its instructions by what they do, its memory laid out, its parameters.
#pragma once

#include "names.hpp"
#include "places.hpp"

#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/opcode.hpp>
#include <swizproof/program/program.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// Function that executes an instruction.
enum class Handler : std::uint8_t {
  steps,    ///< the steps that it is lowered to: integers, moves of bytes
  nothing,  ///< no effect on values: fences, hints
  load,
  store,
  move_wide,        ///< ld, st, mov of registers of 128 bits
  query_cancel,     ///< clusterlaunchcontrol.query_cancel
  store_zeros,      ///< st.bulk
  store_async,      ///< st.async
  map_address,      ///< mapa
  address_rank,     ///< getctarank
  convert_address,  ///< cvta
  atomic,           ///< atom, red
  copy_async,
  commit,
  wait,
  arrive_async,  ///< cp.async.mbarrier.arrive
  barrier,
  warp_barrier,
  cluster_barrier,
  ldmatrix,
  stmatrix,
  movmatrix,
  mma,
  wmma_move,     ///< wmma.load, wmma.store
  wmma_product,  ///< wmma.mma
  shuffle,
  vote,
  elect,
  active_mask,
  reduce,   ///< redux.sync
  match,    ///< match.sync
  real,     ///< arithmetic of floating-point numbers
  compare,  ///< setp of floating-point numbers
  convert,
  extreme,  ///< max, min, abs
  mbarrier,
  proxy_fence,
  memory_fence,    ///< fence, membar
  mbarrier_fence,  ///< fence.mbarrier_init
  trap,
  bulk_copy,         ///< of a tensor, into shared memory
  bulk_store,        ///< of a tensor, from shared memory
  bulk_load_bytes,   ///< of plain bytes, into shared memory
  bulk_send,         ///< of plain bytes, to the shared memory of another block
  bulk_store_bytes,  ///< of plain bytes, from shared memory
  bulk_reduce,       ///< of a tensor or of plain bytes: from shared memory
  try_cancel,        ///< clusterlaunchcontrol.try_cancel
  bulk_groups,       ///< cp.async.bulk.commit_group, .wait_group
  bulk_prefetch,
  wgmma,  ///< wgmma.mma_async
  wgmma_fence,
  wgmma_commit,
  wgmma_wait,
  set_registers,    ///< setmaxnreg
  tensor_allocate,  ///< tcgen05.alloc, .dealloc, .relinquish_alloc_permit
  tensor_load,      ///< tcgen05.ld
  tensor_store,     ///< tcgen05.st
  tensor_wait,      ///< tcgen05.wait::ld, ::st
  tensor_fence,     ///< tcgen05.fence::before_thread_sync, ::after_thread_sync
  tensor_mma,       ///< tcgen05.mma
  tensor_copy,      ///< tcgen05.cp
  tensor_shift,     ///< tcgen05.shift
  tensor_commit,    ///< tcgen05.commit
  refused
};

/// An opcode, and what executes it.
struct Decoded : program::Opcode {
  Decoded() = default;  ///< of a label
  explicit Decoded(program::Opcode const& opcode);
  Handler handler = Handler::refused;
  bool repeats = false;  ///< a vector of results has a register twice
  bool strong =
      false;  ///< an access that races with weak ones alone: acquire, release, relaxed, volatile, an atomic
};

/// True if the first operand of an instruction is a result in registers.
[[nodiscard]] bool has_result(Decoded const& decoded, ptx::Instruction const& in);

/// Calls fn(register) for the registers of an operand, also for those in brackets and braces.
template <class Fn>
void each_register(ptx::Operand const& o, Fn const& fn) {
  if (o.kind == ptx::Operand::Kind::reg) fn(o.reg);
  for (ptx::Operand const& p : o.parts) each_register(p, fn);
}

/// Starts of the spaces. Shared memory of a block is below 2^24, of a cluster below 2^28; local memory is below 2^31, since a register of 32
/// bits may hold its addresses [PTX ISA 9.1, 6.4.1: Addresses as Operands]; a parameter's array i begins at (i + 1) << 40.
inline constexpr std::uint64_t shared_start = 0x400, shared_limit = std::uint64_t{1} << 28,
                               local_start = std::uint64_t{1} << 30, local_limit = std::uint64_t{1} << 31,
                               tensor_start = std::uint64_t{1} << 38;
inline constexpr unsigned array_shift = 40;

/// An execution that is not modelled: the answer is unknown.
struct FlowRefused {
  std::string text{};
  std::uint32_t line = ~0U;  ///< index of the instruction
  bool by_data = false;      ///< since data decide
};

/// The same of an instruction that all lanes of a warp have to execute, at which a part of them is while the others wait.
struct FlowApart : FlowRefused {};

/// The blocks that a launch executes.
[[nodiscard]] std::vector<std::array<std::uint32_t, 3>> blocks_of(FlowLaunch const& launch);

struct FlowKernel {
  FlowKernel(ptx::Module const& in_module, ptx::Function const& kernel, FlowLaunch const& given);

  ptx::Module const& module;
  ptx::Function function;  ///< without calls
  program::Program program;
  program::Flow flow;
  FlowLaunch const& launch;
  std::vector<Decoded> decoded{};                                 ///< by index of the instruction
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges{};  ///< of each block, of program.instructions
  std::vector<std::optional<std::uint64_t>> addresses{};          ///< of symbols
  std::uint64_t shared_end = shared_start;                        ///< in each block
  Places places{};                                                ///< of variables in shared and local memory
  std::vector<FlowArray> arrays{};                                ///< 0 is none
  std::set<std::uint32_t> constants{},
      initialised{};  ///< arrays in constant memory; those with initial numbers
  /// A byte of a kernel's parameter: nothing, a number, or byte `number` of the array `array`, which is one element.
  struct ParameterByte {
    bool given = false;
    std::uint8_t number = 0;
    std::uint32_t array = 0;
  };
  /// A kernel's parameter and its address.
  struct Parameter {
    std::uint64_t start = 0;
    std::vector<ParameterByte> bytes{};
  };
  std::vector<Parameter> params{};
  std::map<std::uint64_t, std::uint32_t> tensors{};  ///< array of each tensor map, by its address
  std::uint64_t params_end = tensor_start;
  unsigned threads = 1;                  ///< of a block
  std::array<std::uint32_t, 3> cluster;  ///< its blocks
  bool cluster_is_given;                 ///< by the launch, or by .reqnctapercluster
  bool asynchronous = false;             ///< it has wgmma or bulk copies
  bool stores_bulk = false;              ///< it has bulk copies from shared memory
  bool arrives_async = false;            ///< it has cp.async.mbarrier.arrive
  bool tensor = false;                   ///< it has tcgen05 and Tensor Memory
  unsigned tensor_groups = 0;            ///< bit n - 1: it has tcgen05 with .cta_group::n
  bool flags = false;                    ///< it has fences, or accesses that acquire or release
  bool dynamic = false;                  ///< it has an array of dynamic shared memory
  bool cancels = false;                  ///< it has clusterlaunchcontrol.try_cancel
  bool clustered = false;                ///< it has barriers of clusters: these may order its blocks

  /// Bytes of shared memory of a block, of both kinds.
  [[nodiscard]] std::uint64_t shared_bytes() const {
    return shared_end - shared_start + (dynamic ? 0 : launch.shared_bytes);
  }
  [[nodiscard]] unsigned warps() const { return (threads + 31) / 32; }
  [[nodiscard]] unsigned blocks_of_cluster() const { return cluster[0] * cluster[1] * cluster[2]; }
  /// Clocks of the threads of a cluster: where it has several blocks, each has whole warps.
  [[nodiscard]] unsigned clock_threads() const {
    return blocks_of_cluster() == 1 ? threads : blocks_of_cluster() * warps() * 32;
  }

  /// True for the first of the blocks that a brx.idx is lowered to, behind its guard.
  [[nodiscard]] bool chooses(std::size_t block) const {
    program::Block const& b = program.blocks[block];
    if (b.end == ~0U || decoded[b.end].name != "brx") return false;
    std::int32_t const guard = function.body[b.end].guard;
    return guard < 0 || b.condition != guard;
  }
  // choices.cpp
  [[nodiscard]] bool computes(std::uint32_t instruction) const;
  /// True for accesses to memory that order no threads.
  [[nodiscard]] bool accesses(std::uint32_t instruction) const;
  /// Instructions between a branch and the block at which its ways meet.
  struct Region {
    std::vector<std::uint32_t> results{};  ///< registers that are written
    bool accesses = false;                 ///< it has accesses to memory, other than loads of parameters
  };
  /// The region, if it only computes and accesses memory, ends there, and does not come to the branch again.
  [[nodiscard]] std::optional<Region> region_of(std::int32_t branch) const;

  [[nodiscard]] FlowLine line(std::uint32_t instruction) const;
  [[nodiscard]] std::uint32_t array_of(std::uint64_t address) const;
  /// True if the address is one of a parameter.
  [[nodiscard]] bool in_params(std::uint64_t address) const {
    return address >= tensor_start && address < params_end;
  }
  /// `#3+8` of an address in a parameter.
  [[nodiscard]] std::string param_at(std::uint64_t address) const;
  /// `#0, #2 and #3 have no value: `, the parameters without one; empty if it is one alone.
  [[nodiscard]] std::string without_value() const;
  /// `A[3][0]` of an address within an array.
  /// True if an instruction computes with floating-point numbers or converts them, so that a result may be rounded.
  [[nodiscard]] bool rounds() const;
  /// `byte 0x484 of shared memory (tile+0x84)`, `.. of shared memory of rank 1 (tile+0x84)`; without an array where none has the byte.
  [[nodiscard]] std::string shared_byte(std::uint64_t address) const;
  [[nodiscard]] std::string element_at(std::uint64_t address) const;

 private:
  void decode();
  [[nodiscard]] Handler handler_of_wide(Decoded const& d, ptx::Instruction const& in) const;
  void place_symbols();
  void place_variables();
  void take_params();
};

/// The clusters that a launch executes, each by its first block.
[[nodiscard]] std::vector<std::array<std::uint32_t, 3>> clusters_of(FlowKernel const& kernel);

}  // namespace swizproof::flow_detail
