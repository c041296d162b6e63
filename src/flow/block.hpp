// One block of a kernel, executed: warps in one order, each from barrier to barrier.
#pragma once

#include "atomics.hpp"
#include "barriers.hpp"
#include "flags.hpp"
#include "kernel.hpp"
#include "mbarriers.hpp"
#include "paths.hpp"
#include "proxies.hpp"
#include "races.hpp"
#include "words.hpp"

#include <swizproof/hardware/fragment.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::flow_detail {

/// True if a mask of lanes has this one.
[[nodiscard]] inline bool takes_part(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// An order of the warps: those that can go on run in it. `eager`: after each of them the first one is tried again.
struct WarpOrder {
  std::vector<unsigned> warps{};
  bool eager = false;
};

/// The sum of two registers of floating-point numbers, as an atomic makes it. One that is not exact keeps its name.
[[nodiscard]] Word sum_of_reals(Names& names, Decoded const& d, std::uint32_t line, Word const& a,
                                Word const& b);

class BlockRun {
 public:
  /// `without`: an instruction that is not executed; none if it is no instruction.
  BlockRun(FlowKernel const& kernel, std::array<std::uint32_t, 3> number, Names& names,
           std::uint32_t without = ~0U);
  /// Executes it. Throws FlowConflict and FlowRefused.
  void run(WarpOrder const& order = {});
  /// Why the launch is not well synchronised: what was executed is one pairing of several.
  [[nodiscard]] std::optional<FlowConflict> const& not_well_synchronised() const {
    return faults_.not_well_synchronised();
  }
  [[nodiscard]] Bytes const& global() const { return global_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Parts that an answer for every order does not cover, and readings of the PTX ISA that it depends on.
  [[nodiscard]] std::set<std::string> const& left_out() const { return left_out_; }
  [[nodiscard]] std::set<std::string> const& assumed() const { return assumed_; }
  /// Instructions that were executed, at least once.
  [[nodiscard]] std::set<std::uint32_t> executed() const;

 private:
  using Lanes = std::array<Word, 32>;
  struct Warp {
    unsigned number = 0;
    std::uint32_t live = 0;
    std::vector<Path> paths{};
    std::vector<Word> registers{};
    bool waits = false;
    bool passed = false;    ///< a barrier that it has waited at: the instruction is over
    bool yields = false;    ///< it has read a flag again: the others run
    bool switched = false;  ///< another of its paths runs first
    bool ended = false;
    std::vector<std::uint32_t> counts{};  ///< executions of each instruction
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
    Decoded const& decoded;
    program::LoweredInstruction const& lowered;
    std::uint32_t mask;  ///< lanes that execute it
  };

  // block.cpp: control
  void start_warps();
  void run_warps(WarpOrder const& order);
  bool run_round(WarpOrder const& order);
  void end();
  bool run_warp(Warp& warp);
  bool run_path(Warp& warp);
  void branch(Warp& warp);
  bool execute(Warp& warp, program::LoweredInstruction const& lowered);
  bool dispatch(Now const& now);
  bool dispatch_async(Now const& now);
  [[noreturn]] void trap(Warp const& warp, std::uint32_t mask, std::uint32_t line) const;
  bool skip(Now const& now);
  [[noreturn]] void too_many_steps(Warp const& warp) const;
  [[noreturn]] void waits_for_a_flag(Warp const& warp) const;

  // synchronisation.cpp: barriers, mbarriers, fences
  bool barrier(Now const& now);
  void release(std::vector<unsigned> const& warps);
  void end_warp(Warp& warp);
  void warp_barrier(Now const& now);
  void check_members(Now const& now, ptx::Operand const& mask);
  bool cluster_barrier(Now const& now);
  void end_cluster_phase();
  void proxy_fence(Now const& now);
  void memory_fence(Now const& now);
  void mbarrier_fence(Now const& now);
  bool mbarrier(Now const& now);
  void mbarrier_memory(Now const& now, std::uint64_t address, unsigned lane, bool live);
  bool wait_phase(Now const& now);
  [[nodiscard]] bool retries(Now const& now) const;
  [[nodiscard]] Toucher toucher(Now const& now, unsigned lane, std::uint32_t group = 0,
                                unsigned as = ~0U) const {
    return {thread(now.warp, lane), now.index, group, as, now.warp.counts[now.index], now.decoded.strong};
  }
  [[nodiscard]] FlowTouch touch(Now const& now, unsigned lane, bool warp = false) const {
    return {now.index, now.warp.counts[now.index], thread(now.warp, lane), warp};
  }
  [[nodiscard]] MbarrierOperation operation(Now const& now, unsigned lane) const {
    unsigned const t = thread(now.warp, lane);
    bool const relaxed = now.decoded.has("relaxed");
    return {t, touch(now, lane), relaxed, relaxed ? flags_.released(t) : std::nullopt};
  }
  [[noreturn]] void fault(FlowFaultKind kind, FlowTouch const& by, std::string_view rule,
                          std::string text) const {
    throw FlowConflict{kind, std::move(text), by, {}, rule, {}, {}, false};
  }
  [[nodiscard]] unsigned live_warps() const;
  [[nodiscard]] unsigned thread(Warp const& warp, unsigned lane) const { return warp.number * 32 + lane; }
  [[nodiscard]] std::uint32_t truth_mask(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask,
                                         std::uint32_t line, char const* what) const;
  [[noreturn]] void refuse(std::uint32_t line, std::string text) const {
    throw FlowRefused{std::move(text), line};
  }

  // steps.cpp: steps and operands
  void steps(Now const& now);
  Word apply(program::Step const& s, Word const& a, Word const& b, Word const& c, std::uint32_t line);
  Word named_step(program::Step const& s, Word const& a, Word const& b, Word const& c, std::uint32_t line);
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

  // memory_access.cpp: memory
  void load(Now const& now);
  void store(Now const& now);
  std::uint64_t param_address(Now const& now, ptx::Operand const& where, unsigned lane);
  Word read_param(Now const& now, std::uint64_t address, unsigned bytes);
  void copy_async(Now const& now);
  void wait(Now const& now);
  void matrices(Now const& now, bool load);
  program::Space space_at(Now const& now, program::Space space, std::uint64_t address) const;
  Word read(Now const& now, program::Space space, std::uint64_t address, unsigned bytes, unsigned lane);
  template <class Fn>
  Word held_bytes(Now const& now, unsigned bytes, Fn const& cell);
  Word read_written(Now const& now, Bytes& from, std::uint64_t address, unsigned bytes, unsigned lane);
  Word update(Now const& now, Bytes& memory, std::uint64_t address, unsigned bytes, Toucher const& by);
  Word read_global(Now const& now, std::uint64_t address, unsigned bytes, unsigned lane);
  Word element_byte(Now const& now, std::uint64_t address);
  void write(Now const& now, program::Space space, std::uint64_t address, unsigned bytes, unsigned lane,
             Word const& value, std::uint32_t group = 0);
  void check_bounds(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                    unsigned lane, char const* verb) const;

  // atomics.cpp: atom and red
  void atomic(Now const& now);
  Word atomic_lane(Now const& now, program::Space space, std::uint64_t at, unsigned lane, Word const& b,
                   Word const& c);
  [[nodiscard]] Word after_atomic(Now const& now, std::string_view op, Word const& old, Word const& b,
                                  Word const& c);

  // bulk_copy.cpp: bulk copies
  void bulk_copy(Now const& now);
  void bulk_store(Now const& now);
  void bulk_load_bytes(Now const& now);
  void bulk_store_bytes(Now const& now);
  std::uint64_t bulk_size(Now const& now, unsigned lane, std::uint64_t shared, std::uint64_t global);
  void bulk_groups(Now const& now);
  unsigned bulk_barrier(Now const& now, std::uint64_t where, unsigned lane);
  [[nodiscard]] Box box_of(Now const& now, ptx::Operand const& from, unsigned lane);
  template <class Fn>
  void each_byte(Now const& now, unsigned lane, Box const& box, std::uint64_t shared, Fn const& fn);
  Word read_async(Now const& now, program::Space space, std::uint64_t address, unsigned bytes,
                  Toucher const& by);
  Word read_source(Now const& now, std::uint64_t address, Toucher const& by);
  void write_async(program::Space space, std::uint64_t address, Toucher const& by, Word const& value);
  void need_proxy_fence(program::Space space, Cell::Access const& first, Toucher const& by,
                        std::uint64_t address, char const* verb, char const* verb_of_first);

  // wgmma.cpp: wgmma
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

  // warp_values.cpp: values of the warp
  void real(Now const& now);
  void compare(Now const& now);
  void convert(Now const& now);
  void mma(Now const& now);
  void shuffle(Now const& now);
  void vote(Now const& now);
  void elect(Now const& now);
  void movmatrix(Now const& now);
  void need_whole_warp(Now const& now) const;

  FlowKernel const& kernel_;
  std::array<std::uint32_t, 3> number_;
  Names& names_;
  std::uint32_t without_;
  Units units_;
  Faults faults_{};
  Clocks clocks_;
  AsyncGroups groups_;
  ProxyFences fences_, global_fences_;  ///< of shared memory, of global memory
  Bytes shared_, global_;
  std::vector<Bytes> local_;
  std::vector<Warp> warps_{};
  std::vector<Word> temporaries_{};
  NamedBarriers barriers_;
  ClusterBarrier cluster_;
  Mbarriers mbarriers_;
  Flags flags_;
  AtomicKinds atomic_kinds_{};
  std::vector<std::vector<std::uint32_t>>
      bulk_groups_{};  ///< of each thread: its clock of stores at each commit
  std::set<std::string> left_out_{}, assumed_{};
  std::set<std::uint32_t> retrying_{};  ///< waits that were looked at
  std::uint64_t steps_ = 0;
  std::uint64_t flag_rounds_ = 0;  ///< of warps that read a flag again, since another one has run
  static constexpr std::uint64_t most_flag_rounds = 1 << 15;
  std::uint32_t registers_ = 0;
  Name uninitialised_ = 0;
};

}  // namespace swizproof::flow_detail
