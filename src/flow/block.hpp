// One block of a kernel, executed: warps one after the other, from barrier to barrier.
#pragma once

#include "kernel.hpp"
#include "races.hpp"

#include <swizproof/hardware/fragment.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace swizproof::flow_detail {

/// True if a mask of lanes has this one.
[[nodiscard]] inline bool takes_part(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

class BlockRun {
 public:
  BlockRun(FlowKernel const& kernel, std::array<std::uint32_t, 3> number, Names& names);
  /// Executes it. Throws FlowConflict and FlowRefused.
  void run();
  [[nodiscard]] Bytes const& global() const { return global_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  using Lanes = std::array<Word, 32>;
  /// A part of a warp's lanes, and where it is. `join`: the block at which it meets the others, -1 where it does not.
  struct Path {
    std::uint32_t mask = 0;
    std::int32_t block = 0;
    std::uint32_t at = 0;  ///< instruction of the block's range
    std::int32_t join = -1;
  };
  struct Warp {
    unsigned number = 0;
    std::uint32_t live = 0;
    std::vector<Path> paths{};
    std::vector<Word> registers{};
    bool waits = false;
    bool passed = false;  ///< a barrier that it has waited at: the instruction is over
    // wgmma
    std::vector<std::uint32_t> groups{};  ///< the clock of its unit at each commit
    /// A register that a wgmma uses which is not complete: its group and instruction, and if it is an accumulator or a part of A.
    struct InFlight {
      std::size_t group = 0;
      std::uint32_t line = 0;
      bool accumulator = true;
    };
    std::map<std::uint32_t, InFlight> in_flight{};
    std::vector<bool> written{};  ///< registers that were written since its last wgmma.fence
    bool fenced = false;
  };
  struct Barrier {
    std::vector<unsigned> arrived{}, waiting{};  ///< threads, warps
    unsigned expected = 0;                       ///< threads; 0: all of the block that are left
  };
  /// The barrier of the cluster, as one block has it.
  struct ClusterBarrier {
    std::vector<unsigned> arrived{}, givers{};  ///< threads; those whose memory it orders
    std::vector<std::uint64_t> phase_of{};      ///< of each thread: 1 + the phase that it has arrived at
    std::uint64_t phase = 0;
    Clocks::Moments complete{};
  };
  struct PhaseBarrier {
    std::uint32_t count = 0, pending = 0;
    std::uint64_t phase = 0;
    std::int64_t bytes = 0;  ///< that copies have still to write in this phase
    unsigned slot = 0;       ///< number of its clock
    std::vector<unsigned> arrived{};
    Clocks::Moments complete{};
  };
  /// A box of a tensor map that a copy moves, and where it is, the outermost coordinate first.
  struct Box {
    FlowArray const& array;
    std::uint32_t id = 0;
    std::vector<std::int64_t> at{};
  };
  /// One instruction of one warp.
  struct Now {
    Warp& warp;
    std::uint32_t index;  ///< of the instruction
    ptx::Instruction const& in;
    Handler handler;
    program::LoweredInstruction const& lowered;
    std::uint32_t mask;  ///< lanes that execute it
  };

  // flow_block.cpp: control
  void start_warps();
  bool run_warp(Warp& warp);
  bool run_path(Warp& warp);
  void branch(Warp& warp);
  bool execute(Warp& warp, program::LoweredInstruction const& lowered);
  bool dispatch(Now const& now);
  bool dispatch_async(Now const& now);
  bool barrier(Now const& now);
  void release_barriers();
  void warp_barrier(Now const& now);
  bool cluster_barrier(Now const& now);
  void proxy_fence(Now const& now);
  void end_cluster_phase();
  bool mbarrier(Now const& now);
  void count_arrival(PhaseBarrier& b, Now const& now, unsigned lane, std::uint32_t count);
  void end_phase(PhaseBarrier& b);
  bool wait_phase(Now const& now);
  [[nodiscard]] unsigned thread(Warp const& warp, unsigned lane) const { return warp.number * 32 + lane; }
  [[nodiscard]] std::uint32_t truth_mask(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask,
                                         std::uint32_t line, char const* what) const;
  [[noreturn]] void refuse(std::uint32_t line, std::string text) const {
    throw FlowRefused{std::move(text), line};
  }

  // flow_steps.cpp: steps and operands
  void steps(Now const& now);
  Word apply(program::Step const& s, Word const& a, Word const& b, Word const& c, std::uint32_t line);
  Word named_step(program::Step const& s, Word const& a, Word const& b, Word const& c, std::uint32_t line);
  bool moved_bytes(program::Step const& s, Word const& a, Word const& b, Word& out) const;
  bool sum_of_names(program::Step const& s, Word const& a, Word const& b, std::uint32_t line, Word& out);
  Word unknown(std::uint32_t line, unsigned width, std::initializer_list<Word const*> from);
  [[nodiscard]] std::uint64_t special(std::uint32_t which, Warp const& warp, unsigned lane,
                                      std::uint32_t line);
  Word operand(Now const& now, ptx::Operand const& o, unsigned lane, unsigned width);
  std::uint64_t number(Now const& now, ptx::Operand const& o, unsigned lane, char const* what);
  std::uint64_t address(Now const& now, ptx::Operand const& o, unsigned lane);
  void put(Now const& now, ptx::Operand const& o, unsigned lane, Word const& value);
  [[nodiscard]] Word& reg(Warp& warp, std::uint32_t r, unsigned lane) const {
    return warp.registers[std::size_t{r} * 32 + lane];
  }

  // flow_access.cpp: memory
  void load(Now const& now);
  void store(Now const& now);
  std::uint64_t param_address(Now const& now, ptx::Operand const& where, unsigned lane);
  [[nodiscard]] std::string without_value() const;
  Word read_param(Now const& now, std::uint64_t address, unsigned bytes);
  void copy_async(Now const& now);
  void wait(Now const& now);
  void matrices(Now const& now, bool load);
  program::Space space_at(Now const& now, program::Space space, std::uint64_t address) const;
  Word read(Now const& now, program::Space space, std::uint64_t address, unsigned bytes, unsigned lane);
  Word read_written(Now const& now, Bytes& from, std::uint64_t address, unsigned bytes, unsigned lane);
  Word read_global(Now const& now, std::uint64_t address, unsigned bytes, unsigned lane);
  Word element_byte(Now const& now, std::uint64_t address);
  void write(Now const& now, program::Space space, std::uint64_t address, unsigned bytes, unsigned lane,
             Word const& value, std::uint32_t group = 0);
  void check_bounds(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                    unsigned lane, char const* verb) const;

  // flow_bulk.cpp: bulk copies
  void bulk_copy(Now const& now);
  void bulk_store(Now const& now);
  void bulk_load_bytes(Now const& now);
  void bulk_store_bytes(Now const& now);
  std::uint64_t bulk_size(Now const& now, unsigned lane, std::uint64_t shared, std::uint64_t global);
  void bulk_groups(Now const& now);
  PhaseBarrier& bulk_barrier(Now const& now, ptx::Operand const& where, unsigned lane);
  [[nodiscard]] Box box_of(Now const& now, ptx::Operand const& from, unsigned lane);
  template <class Fn>
  void each_byte(Now const& now, unsigned lane, Box const& box, std::uint64_t shared, Fn const& fn);
  Word read_async(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                  Toucher const& by);
  Word read_source(Now const& now, std::uint64_t address, Toucher const& by);
  static void write_async(Bytes& to, std::uint64_t address, Toucher const& by, Word const& value);
  /// The clocks of what the stores of a thread read and write.
  [[nodiscard]] unsigned unit_of_store(unsigned t) const {
    return kernel_.threads + most_mbarriers + kernel_.warps() + t;
  }
  [[nodiscard]] unsigned unit_of_written(unsigned t) const { return unit_of_store(t) + kernel_.threads; }

  // flow_async.cpp: wgmma
  void wgmma(Now const& now);
  void check_wgmma(Now const& now, bool registers);
  void wgmma_groups(Now const& now);
  void check_registers(Warp& warp, Now const& now);
  void need_fence(Now const& now, ptx::Operand const& registers, char const* what) const;
  void need_idle(Now const& now, ptx::Operand const& registers, bool accumulators) const;
  [[nodiscard]] std::vector<Name> wgmma_registers(Now const& now, Fragment const& fragment,
                                                  std::string_view type);
  void accumulate(Now const& now, std::uint32_t product, unsigned columns, std::string_view type);
  [[nodiscard]] std::vector<Name> wgmma_operand(Now const& now, std::uint64_t descriptor, bool mn_major,
                                                unsigned first, unsigned rows, unsigned depth,
                                                std::string_view type);
  void read_by_wgmma(Now const& now, std::uint64_t address, unsigned bytes, Word& out);
  [[nodiscard]] unsigned unit_of(Warp const& warp) const {
    return kernel_.threads + most_mbarriers + warp.number;
  }

  // flow_data.cpp: values of the warp
  void real(Now const& now);
  void compare(Now const& now);
  Name real_name(Now const& now, std::array<Name, 3> const& args, Format format, unsigned bytes);
  void convert(Now const& now);
  void mma(Now const& now);
  void shuffle(Now const& now);
  void vote(Now const& now);
  void elect(Now const& now);
  void movmatrix(Now const& now);
  [[nodiscard]] Word bytes_of(Word const& w, unsigned from, unsigned bytes) const;
  static void place(Word& into, unsigned at, Word const& value, unsigned bytes);
  void need_whole_warp(Now const& now) const;

  FlowKernel const& kernel_;
  std::array<std::uint32_t, 3> number_;
  Names& names_;
  Clocks clocks_;
  AsyncGroups groups_;
  ProxyFences fences_, global_fences_;  ///< of shared and of global memory
  Bytes shared_, global_;
  std::vector<Bytes> local_;
  std::vector<Warp> warps_{};
  std::vector<Word> temporaries_{};
  std::map<std::uint64_t, Barrier> barriers_{};
  ClusterBarrier cluster_{};
  std::map<std::uint64_t, PhaseBarrier> phase_barriers_{};
  std::vector<std::vector<std::uint32_t>>
      bulk_groups_{};   ///< of each thread: its clock of stores at each commit
  unsigned slots_ = 0;  ///< mbarriers that were initialised
  std::uint64_t steps_ = 0;
  std::uint32_t registers_ = 0;
};

}  // namespace swizproof::flow_detail
