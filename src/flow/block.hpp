// One cluster of blocks of a kernel, executed: warps in one order, each from barrier to barrier. Without clusters it is one block.
#pragma once

#include "block_state.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// An order of the warps: those that can go on run in it. `eager`: after each of them the first one is tried again.
struct WarpOrder {
  std::vector<unsigned> warps{};
  bool eager = false;
};

class BlockRun {
 public:
  /// `number`: the first block of the cluster. `without`: an instruction that is not executed; none if it is no instruction.
  /// `decisions`: the way that is executed where data decide; without it only what both ways do is.
  BlockRun(FlowKernel const& kernel, std::array<std::uint32_t, 3> number, Names& names,
           std::uint32_t without = ~0U, Decisions* decisions = nullptr);
  /// Executes it. Throws FlowConflict and FlowRefused.
  void run(WarpOrder const& order = {});
  /// Why the launch is not well synchronised: what was executed is one pairing of several.
  [[nodiscard]] std::optional<FlowConflict> const& not_well_synchronised() const {
    return state_.faults.not_well_synchronised();
  }
  [[nodiscard]] Bytes const& global() const { return state_.global; }
  [[nodiscard]] Bytes const& shared() const { return state_.shared; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Number of the block that a thread or a unit belongs to.
  [[nodiscard]] std::array<std::uint32_t, 3> number_of(unsigned doer) const {
    return block_of_rank(state_.first, state_.kernel.cluster, state_.units.rank_of(doer));
  }
  /// True if data have chosen what was executed: a fault is one of some data, if they exist.
  [[nodiscard]] bool by_data() const { return state_.by_data; }
  /// Parts that an answer for every order does not cover, and readings of the PTX ISA that it depends on.
  [[nodiscard]] std::set<std::string> const& left_out() const { return state_.left_out; }
  [[nodiscard]] std::set<std::string> const& assumed() const { return state_.assumed; }
  /// Clusters that this one has canceled, by their first blocks.
  [[nodiscard]] std::vector<std::array<std::uint32_t, 3>> const& canceled() const {
    return state_.control.canceled;
  }
  [[nodiscard]] ArrayUses const& uses() const { return state_.uses; }
  /// Instructions that were executed, at least once.
  [[nodiscard]] std::set<std::uint32_t> executed() const;

 private:
  void run_warps(WarpOrder const& order);
  bool run_round(WarpOrder const& order);
  bool run_or_stay_apart(Warp& warp);
  bool split_waiting_warps();
  void end();
  bool run_warp(Warp& warp);
  bool run_path(Warp& warp);
  void branch(Warp& warp);
  void choose_target(Warp& warp);

  // choices.cpp: what data decide
  struct Truth {
    std::uint32_t yes = 0, named = 0;  ///< lanes with a true number; with data
  };
  [[nodiscard]] Truth truth(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask) const;
  /// Lanes whose condition is true, also those where this way of the block says so. Refused where no way does.
  [[nodiscard]] std::uint32_t decide(Warp const& warp, std::int32_t reg, bool negated, std::uint32_t mask,
                                     std::uint32_t line, char const* what);
  /// Executes both ways of a branch for the lanes that data decide. False if these do more than compute and access memory, or no data decide.
  bool branch_by_data(Warp& warp, std::uint32_t line);
  /// The same of an instruction under a predicate, which lanes execute that have it or are `named`.
  bool guard_by_data(Now const& now, std::uint32_t named);
  void run_until(Warp& warp, std::uint32_t mask, std::int32_t block, std::int32_t join);
  template <class Yes, class No>
  void choose(Warp& warp, std::uint32_t line, std::int32_t condition, std::uint32_t named,
              std::vector<std::uint32_t> const& results, Yes const& yes, No const& no);

  [[nodiscard]] BlockState& block_of(Warp const& warp) { return *blocks_[warp.rank]; }
  bool execute(Warp& warp, program::LoweredInstruction const& lowered);
  bool dispatch(Now const& now);
  bool dispatch_async(Now const& now);
  [[noreturn]] void too_many_steps(Warp const& warp) const;
  ClusterState state_;
  std::vector<std::unique_ptr<BlockState>> blocks_{};  ///< by rank
  std::uint32_t without_;
  std::uint64_t steps_ = 0;
  std::uint64_t flag_rounds_ = 0;  ///< of warps that read a flag again, since another one has run
  static constexpr std::uint64_t most_flag_rounds = 1 << 15;
};

}  // namespace swizproof::flow_detail
