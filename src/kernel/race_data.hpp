// Loaded data that a block on numbers depends on: which races it has with these data alone.
//
// A value depends on the loads that it was computed from, and on those that decided branches: behind a branch by data, what its thread does up to
// the block where both sides meet, and each register that either side writes. If a side stores, what is loaded later depends on the branch;
// if it has a barrier, all that the block does later does. So what depends on no load is the same for all data.
#pragma once

#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/program.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// A number that a thread loaded, and that the block had not stored before; `thread` is the first that loaded it.
struct LoadedNumber {
  std::uint32_t line = 0, thread = 0;  ///< of the code; of the block
  std::uint64_t address = 0, value = 0;
  unsigned bytes = 0;
  friend bool operator<(LoadedNumber const& a, LoadedNumber const& b) {
    return std::tie(a.line, a.address, a.value, a.bytes) < std::tie(b.line, b.address, b.value, b.bytes);
  }
};

/// Sets of loads, by number; 0 is the empty one. Of large sets only the first loads are kept.
class LoadSets {
 public:
  using Set = std::uint32_t;
  static constexpr std::size_t most = 32;  ///< loads of a set

  [[nodiscard]] Set of(LoadedNumber const& load);
  [[nodiscard]] Set join(Set a, Set b);
  void join_to(Set& to, Set other) { to = join(to, other); }
  [[nodiscard]] std::vector<LoadedNumber> loads(Set set) const;
  /// True if some loads of it are not kept.
  [[nodiscard]] bool is_cut(Set set) const;
  void clear();

 private:
  [[nodiscard]] Set number_of(std::vector<std::uint32_t> const& members);

  std::vector<LoadedNumber> loads_{};
  std::map<LoadedNumber, std::uint32_t> known_{};
  std::vector<std::vector<std::uint32_t>> sets_{{}};
  std::map<std::vector<std::uint32_t>, Set> numbers_{};
  std::unordered_map<std::uint64_t, Set> joined_{};
};

/// Blocks between a branch and the one where its sides meet.
struct BranchRegion {
  std::int32_t until = -1;               ///< -1: they do not meet
  std::vector<std::uint32_t> written{};  ///< registers
  bool orders = false;                   ///< it has an instruction that orders accesses
  bool barrier = false, stores = false;
};

/// Regions of a lowered function, each computed once.
class BranchRegions {
 public:
  BranchRegions(ptx::Function const& function, program::Program const& lowered);
  [[nodiscard]] BranchRegion const& behind(std::uint32_t block);

 private:
  void add(std::uint32_t block, BranchRegion& to) const;

  ptx::Function const& function_;
  program::Program const& program_;
  program::Flow flow_;
  std::map<std::uint32_t, BranchRegion> known_{};
};

/// Loads that decide where a thread is.
struct ByData {
  LoadSets::Set by = 0;
  std::int32_t branch = -1;  ///< block with the first branch by data whose sides have not met; -1: none

  /// It stays there: the sides do not meet, or something in them orders accesses.
  void stay() { branch = never; }
  static constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();
};

/// Loads that decide what a block does.
class DataDecisions {
 public:
  DataDecisions(ptx::Function const& function, program::Program const& lowered)
      : regions_(function, lowered) {}

  LoadSets sets{};
  LoadSets::Set stored = 0;  ///< loads that decide what is stored where: all that is loaded depends on them
  LoadSets::Set passed = 0;  ///< loads that decide which barriers are passed: all accesses depend on them

  void clear() { sets.clear(), stored = passed = 0; }
  /// A thread takes a branch by data: what it does depends on these loads, and what others do where they load what it stores, or meet it at a
  /// barrier.
  void enter(ByData& at, std::uint32_t block, LoadSets::Set data);
  /// Registers that depend on a branch where its sides meet, which is the block. Nothing if no branch ends there.
  [[nodiscard]] std::vector<std::uint32_t> const* met(ByData const& at, std::uint32_t block);

 private:
  BranchRegions regions_;
};

}  // namespace swizproof::kernel_detail
