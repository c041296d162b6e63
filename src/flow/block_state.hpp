// State of a cluster that is executed: its warps, its memory, and what orders its threads; of each block of it; and one instruction of one warp.
#pragma once

#include "atomics.hpp"
#include "barriers.hpp"
#include "clusters.hpp"
#include "decisions.hpp"
#include "flags.hpp"
#include "hints.hpp"
#include "kernel.hpp"
#include "launch_control.hpp"
#include "mbarriers.hpp"
#include "paths.hpp"
#include "proxies.hpp"
#include "races.hpp"
#include "repeats.hpp"
#include "tensor_memory.hpp"
#include "tensor_pair.hpp"
#include "warpgroups.hpp"
#include "words.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

/// True if a mask of lanes has this one.
[[nodiscard]] inline bool takes_part(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// Predicates of threads at bar.red. Names: those that depend on data.
struct Votes {
  std::uint32_t yes = 0, no = 0;
  std::vector<Word> named{};
};

/// A warp of the cluster. Those of a block follow each other, and the blocks by their ranks.
struct Warp {
  unsigned number = 0;
  unsigned of_block = 0;  ///< number within its block
  unsigned rank = 0;      ///< of its block
  std::uint32_t live = 0;
  std::vector<Path> paths{};
  std::vector<Word> registers{};
  bool waits = false;
  bool passed = false;    ///< a barrier that it has waited at: the instruction is over
  bool yields = false;    ///< it has read a flag again: the others run
  bool switched = false;  ///< another of its paths runs first
  bool ended = false;
  bool split = false;  ///< lanes of it went on where others waited: where these meet them is not known
  std::optional<FlowRefused> apart{};   ///< lanes of it are where all have to be, and the others wait
  Repeats loop{};                       ///< it is in
  Votes votes{};                        ///< of its threads; behind the barrier, of all of them
  std::vector<std::uint32_t> counts{};  ///< executions of each instruction
  /// Lanes that execute a way which data may not choose: their stores may not happen.
  std::uint32_t doubtful = 0;
  std::map<std::uint32_t, std::array<Word, 32>> upper{};  ///< upper halves of registers of 128 bits
  // wgmma
  std::vector<std::uint32_t> groups{};  ///< the clock of its unit at each commit
  /// A register that a wgmma uses which is not complete: its group and instruction, and if it is an accumulator or a part of A.
  struct InFlight {
    std::size_t group = 0;
    std::uint32_t line = 0;
    bool accumulator = true;
  };
  std::map<std::uint32_t, InFlight> in_flight{};
  /// A register that a wgmma has used since the last wgmma.fence: as an accumulator or a part of A, and its shape.
  struct Used {
    std::string_view shape{};
    bool accumulator = true;
  };
  std::map<std::uint32_t, Used> used{};
  std::vector<bool> written{};  ///< registers that were written since its last wgmma.fence
  bool fenced = false;
  /// A register of tcgen05.ld before its wait: the instruction, and the lanes that have not read it.
  struct Loading {
    std::uint32_t line = 0;
    std::uint32_t lanes = 0;
  };
  std::map<std::uint32_t, Loading> loading{};

  [[nodiscard]] unsigned thread(unsigned lane) const { return number * 32 + lane; }
};

/// A that tcgen05.mma with .collector::a::fill has read, until it is discarded; empty: nothing is there.
struct Collector {
  std::vector<Name> a{};
  unsigned thread = 0;
  FlowTouch filled{};
};

struct BlockState;

/// State that the blocks of a cluster share. A block that is launched without clusters is one of its own.
struct ClusterState {
  /// `first`: number of the block with rank 0.
  ClusterState(FlowKernel const& kernel, std::array<std::uint32_t, 3> first, Names& names);
  ClusterState(ClusterState const&) = delete;
  ClusterState& operator=(ClusterState const&) = delete;
  /// The warps of all blocks, at the first instruction.
  void start_warps();

  FlowKernel const& kernel;
  std::array<std::uint32_t, 3> first;
  Names& names;
  Units units;
  Faults faults{};
  Clocks clocks;
  AsyncGroups groups;
  std::vector<ProxyFences> fences;  ///< of the shared memory of each rank
  ProxyFences global_fences;
  Bytes shared, global;
  std::vector<Bytes> local{};
  std::vector<Warp> warps{};
  std::vector<Word> temporaries{};
  ClusterBarrier barrier;
  Mbarriers mbarriers;
  Flags flags;
  Lifetimes lifetimes;
  AtomicKinds atomic_kinds{};
  LaunchControl control{};
  TensorFences tensor_fences;
  std::vector<TensorPair> pairs;      ///< ranks 2 k and 2 k + 1
  std::vector<BlockState*> blocks{};  ///< by rank
  /// Clock of stores at each commit, thread by thread.
  std::vector<std::vector<std::uint32_t>> bulk_groups;
  std::set<std::string> left_out{}, assumed{};
  std::map<std::uint32_t, bool>
      retrying{};  ///< waits that were looked at: true if one that fails is tried again
  ArrayUses uses{};
  std::uint32_t registers = 0;
  Name uninitialised = 0, unwritten = 0;  ///< bytes, and registers, that nothing has written
  Decisions* decisions = nullptr;         ///< values of conditions by data; none: such a condition is refused
  bool by_data = false;                   ///< accesses that data choose were executed
  std::set<std::pair<std::uint16_t, Places::Place const*>>
      reached{};  ///< variables that addresses of others reach
  std::set<std::uint64_t>
      maybe_written{};  ///< bytes of shared memory that only accesses by data have written
};

/// State that the instructions of a block read and change: the cluster's, and its own.
struct BlockState {
  BlockState(ClusterState& of, unsigned rank_in_cluster);
  BlockState(BlockState const&) = delete;
  BlockState& operator=(BlockState const&) = delete;

  ClusterState& cluster;
  FlowKernel const& kernel;
  Names& names;
  Units const& units;
  Faults& faults;
  Clocks& clocks;
  AsyncGroups& groups;
  ProxyFences& global_fences;
  Bytes &shared, &global;
  std::vector<Bytes>& local;
  std::vector<Warp>& warps;
  Mbarriers& mbarriers;
  Flags& flags;
  Lifetimes& lifetimes;
  AtomicKinds& atomic_kinds;
  std::set<std::string>&left_out, &assumed;
  ArrayUses& uses;
  Name uninitialised;

  unsigned rank;                        ///< %cluster_ctarank
  std::array<std::uint32_t, 3> number;  ///< %ctaid
  std::uint64_t base;                   ///< of its shared memory
  NamedBarriers barriers;
  TensorMemory tensor;
  Warpgroups warpgroups;
  Collector collector{};
  std::map<std::uint32_t, Name> specials{};  ///< special registers that are not modelled, the same in a block

  /// Warps of the block that have not ended.
  [[nodiscard]] unsigned live_warps() const;
};

/// One instruction of one warp, and its operands.
struct Now {
  BlockState& block;
  Warp& warp;
  std::uint32_t index;  ///< of the instruction
  ptx::Instruction const& in;
  Decoded const& decoded;
  program::LoweredInstruction const& lowered;
  std::uint32_t mask;                ///< lanes that execute it
  std::optional<unsigned> holder{};  ///< lane that holds what it accesses at the address of another one

  [[nodiscard]] unsigned thread(unsigned lane) const { return warp.thread(lane); }
  /// Number of the thread within its block.
  [[nodiscard]] unsigned thread_of_block(unsigned lane) const { return warp.of_block * 32 + lane; }
  [[nodiscard]] Toucher toucher(unsigned lane, std::uint32_t group = 0, unsigned as = ~0U) const {
    bool const narrow = decoded.has("cta");
    return {thread(lane),
            index,
            group,
            as,
            warp.counts[index],
            decoded.strong,
            0,
            narrow,
            narrow || decoded.has("cluster"),
            holder ? thread(*holder) : ~0U};
  }
  [[nodiscard]] FlowTouch touch(unsigned lane, bool of_warp = false) const {
    return {index, warp.counts[index], thread(lane), of_warp};
  }
  [[nodiscard]] MbarrierOperation operation(unsigned lane) const;
  [[noreturn]] void fault(FlowFaultKind kind, FlowTouch const& by, std::string_view rule,
                          std::string text) const;
  [[noreturn]] void refuse(std::string text) const { throw FlowRefused{std::move(text), index}; }
  /// `cp.async.x is not executed`.
  [[noreturn]] void refuse_opcode() const;

  [[nodiscard]] Word& reg(std::uint32_t r, unsigned lane) const {
    return warp.registers[std::size_t{r} * 32 + lane];
  }
  [[nodiscard]] Word operand(ptx::Operand const& o, unsigned lane, unsigned width) const;
  /// Address of a symbol; of a shared one, in the block's own shared memory.
  [[nodiscard]] std::uint64_t symbol_address(std::size_t symbol) const;
  /// An operand without names; `what` says in a refusal what it is.
  [[nodiscard]] std::uint64_t number(ptx::Operand const& o, unsigned lane, char const* what) const {
    return number(operand(o, lane, 64), what);
  }
  [[nodiscard]] std::uint64_t number(Word const& w, char const* what) const;
  [[nodiscard]] std::uint64_t address(ptx::Operand const& o, unsigned lane) const;
  /// Writes a register; a wider one gets zeros above.
  void put(ptx::Operand const& o, unsigned lane, Word const& value) const;
  /// A value that this instruction moves from one lane to another: where it is wrong, the instruction is named.
  [[nodiscard]] Word moved(Word w) const;
  /// One of two values, which data decide: not followed.
  [[nodiscard]] Word choice(unsigned width, Word const& condition, Word const& yes, Word const& no) const;
  /// A value that is not followed, and what it comes from.
  [[nodiscard]] Word unknown(unsigned width, std::initializer_list<Word const*> from) const;
  /// Such a function of these words alone: equal words have one name. `which`: the function.
  [[nodiscard]] Word function_of(std::string const& which, unsigned width,
                                 std::vector<Word> const& words) const;

  /// Fails where a part of the warp executes what all of it has to.
  void need_whole_warp() const;
  /// Refuses an instruction of all lanes that a part of a warp executes, if the others wait elsewhere.
  void refuse_split() const;
  /// Fails if a mask of lanes lacks one that executes the instruction; the answer is undecided if others of the mask are elsewhere.
  void check_members(ptx::Operand const& members) const;
};

}  // namespace swizproof::flow_detail
