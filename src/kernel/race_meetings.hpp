// Accesses to one byte that meet in a run: races, but for those that a flag may order.
#pragma once

#include "race_access.hpp"
#include "race_data.hpp"
#include "race_flags.hpp"
#include "race_values.hpp"

#include <swizproof/kernel/races.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// An access of a thread to a byte.
struct RaceEvent {
  std::uint32_t thread = 0, access = 0, phase = 0;
  RaceRole role = RaceRole::none;
  LoadSets::Set data = 0;  ///< of its address, and of whether it is executed
  RaceValue value{};
  std::int32_t copy = -1;  ///< index of the thread's copies; -1: none
  FlagOrders::At flags{};
  Accessors by{};  ///< the thread, or those that may access the byte
};

/// True if one thread may make two accesses to a byte, in a reading of the PTX ISA, or if that is not known.
[[nodiscard]] bool may_be_of_one(RaceEvent const& a, RaceEvent const& b,
                                 std::vector<SharedAccess> const& accesses);

/// A race of a launch; `by` of an access is its index among the program's.
struct MetRace {
  RaceKind kind = RaceKind::race;
  std::array<std::uint32_t, 2> access{}, thread{};
  std::array<bool, 2> write{};
  std::uint64_t byte = 0;
  std::uint32_t interval = 0;
  bool stores = false;       ///< both store
  bool differ = false;       ///< two stores, whose values are known to differ in this launch
  LoadSets::Set data = 0;    ///< loads that it depends on
  LoadSets::Set values = 0;  ///< of two stores, loads that their values depend on
};

class RaceMeetings {
 public:
  explicit RaceMeetings(ptx::Function const& function) : flags(function) {}

  void begin(std::size_t threads);
  /// Two accesses to a byte that no barrier orders. Each pair of instructions is one race of each kind.
  void add(RaceEvent const& o, RaceEvent const& e, std::uint64_t byte, LoadSets& sets, ValueTerms& terms);
  /// The pairs that met are races if no flag may order them. `goes_on`: a thread may do more in the interval than was executed.
  void end_interval(LoadSets& sets, ValueTerms& terms, std::function<bool(std::uint32_t)> const& goes_on);

  FlagOrders flags;
  std::vector<MetRace> found{};
  bool any_by_flag = false;  ///< a flag may order two accesses that would be a race
  std::uint32_t interval = 0;

 private:
  struct Meeting {
    RaceEvent first{}, second{};
    std::uint64_t byte = 0;
  };
  void report(RaceEvent const& o, RaceEvent const& e, std::uint64_t byte, LoadSets& sets, ValueTerms& terms);

  std::vector<Meeting> meetings_{};
  std::set<std::array<std::uint32_t, 4>> met_{};  ///< accesses and threads of meetings
  std::set<std::tuple<std::uint32_t, std::uint32_t, RaceKind, bool, bool>> reported_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> tried_{};  ///< bytes, by two stores
};

}  // namespace swizproof::kernel_detail
