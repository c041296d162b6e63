// Runs of single warps on numbers, from the entry of a kernel on: what each access costs in executions that surely exist.
//
// A replay (execution/replay.hpp) computes one access from its term and guard; a run takes every branch and every iteration on the
// way, and so needs no closed form. A value that comes from memory or is not modelled is open. A lane that branches on an open
// value goes on where the sides of the branch meet again, and what they write is open in it; if they never meet, it leaves the run.
// A lane whose address or guard is open is left out of an access. Lanes that are left out never add wavefronts, so what the others
// cost is a lower bound. Assumed: with these parameters no access to other memory faults, and every loop ends.
#pragma once

#include "inputs.hpp"
#include "smallest.hpp"
#include "turns.hpp"

#include <swizproof/execution/worst.hpp>
#include <swizproof/execution/warp.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// An execution of an access: what it costs, or the fault of a lane, which leaves its array (`outside`) or is misaligned.
struct AccessRun {
  unsigned wavefronts = 0;
  WarpAccess<std::uint32_t> lanes{};
  std::string fault{};  ///< fault of the lane; may be empty
  unsigned lane = 0;
  bool outside = false;
  std::uint32_t open = 0;  ///< lanes whose address, or whether they take part, is not known
};
/// Values with which an execution has a fault; of several those that are the smallest Numbers.
struct SeenFault {
  std::string text{};
  unsigned lane = 0, warp = 0;
  bool outside = false;
  std::vector<ReadNumber> read{};
  std::map<std::uint32_t, std::uint64_t> bases{};  ///< addresses of all variables in shared memory, by symbol
  [[nodiscard]] Numbers numbers() const { return {warp, read}; }
};

/// The most expensive execution of an access that a run has seen, and one with a fault.
struct Seen {
  unsigned wavefronts = 0;
  KernelWorst worst{};
  std::vector<ReadNumber> read{};
  std::map<std::uint32_t, std::uint64_t> bases{};  ///< addresses of all variables in shared memory, by symbol
  std::optional<SeenFault> fault{};

  /// Takes an execution with these values; true if none was more expensive.
  bool take(AccessRun const& run, unsigned warp, Inputs const& inputs);
};

/// Runs of one kernel. Checked by KernelRuns.* in tests/unit/kernel/runs_test.cpp and tests/reference/kernel.py.
class Runs {
 public:
  using Addresses = std::array<std::uint64_t, 32>;
  /// An access by these lanes, with variables in shared memory at these addresses; nothing if it is not executed like that.
  using CostOf =
      std::function<std::optional<AccessRun>(std::uint32_t access, std::uint32_t lanes, Addresses const&,
                                             std::map<std::uint32_t, std::uint64_t> const& bases)>;

  Runs(Program const& program, Flow const& flow, Execution const& execution, Launch const& launch,
       std::vector<std::unique_ptr<Warp>> const& warps, CostOf cost_of)
      : program_(program),
        flow_(flow),
        execution_(execution),
        launch_(launch),
        warps_(warps),
        cost_of_(std::move(cost_of)) {}

  /// The most that an access costs in all runs so far and in up to 400 more, and 150 that turn a branch. They end after 64 that bring nothing new, and with one that takes `bound` wavefronts. The
  /// first have parameters of every style, and in half of all runs dynamic arrays are moved by a multiple of their alignment; later ones change a few parameters of those that came to a block for the first time.
  [[nodiscard]] Seen const& seen(std::uint32_t access, unsigned bound);
  /// Runs a warp with the parameters of a witness, each once.
  void run_with(LeafValues const& values, unsigned warp);
  /// Cost or fault of the access in a run with these numbers; nothing beyond a limit of steps.
  [[nodiscard]] Seen again(std::uint32_t access, Numbers const& numbers,
                           std::map<std::uint32_t, std::uint64_t> const& bases);

 private:
  struct Word {
    Addresses lane{};
    std::uint32_t open = ~0U;  ///< lanes whose value is not known
  };
  void run(unsigned warp, Inputs inputs);
  /// False if no more runs are made.
  bool run_next();
  void note_turns(Block const& block, Inputs const& inputs, unsigned warp);
  void follow(Step const& s, std::uint32_t lanes, Word const& now);
  void find_optional();
  [[nodiscard]] Inputs by_style(unsigned n) const;
  void run_block(std::uint32_t block, std::uint32_t lanes, Inputs& inputs, unsigned warp);
  void step(Step const& s, std::uint32_t lanes, Inputs& inputs, unsigned warp);
  [[nodiscard]] Word computed(Step const& s, std::uint32_t lanes, Inputs& inputs, unsigned warp);
  template <Op op>
  [[nodiscard]] Word arithmetic(Step const& s) const;
  [[nodiscard]] Word chosen(Step const& s) const;
  [[nodiscard]] Word floating(Step const& s) const;
  [[nodiscard]] Word shuffled(Step const& s, std::uint32_t lanes) const;
  [[nodiscard]] Word loaded(Step const& s, Inputs& inputs) const;
  [[nodiscard]] Word special(Step const& s, Inputs& inputs, unsigned warp) const;
  [[nodiscard]] Word address_of(Step const& s, Inputs const& inputs) const;
  void access(std::uint32_t index, std::uint32_t lanes, Inputs const& inputs, unsigned warp);
  [[nodiscard]] Word const& value(Source const& s, Word& constant) const;
  [[nodiscard]] std::vector<std::uint32_t> const& written_after(std::uint32_t branch);
  void open_writes(std::uint32_t block, std::uint32_t lanes);
  /// The step after which a lane came back to the header at which it waits; 0 for a lane that does not wait.
  using Returns = std::array<std::uint64_t, 32>;
  [[nodiscard]] std::uint32_t first_lanes(std::array<std::int32_t, 32> const& at,
                                          Returns const& returned) const;
  [[nodiscard]] bool goes_back(std::int32_t from, std::int32_t to) const;
  [[nodiscard]] bool is_header(std::uint32_t block) const;
  [[nodiscard]] bool comes_first(std::uint32_t a, std::uint32_t b) const;

  Program const& program_;
  Flow const& flow_;
  Execution const& execution_;
  Launch const& launch_;
  std::vector<std::unique_ptr<Warp>> const& warps_;
  CostOf cost_of_;
  std::vector<std::uint64_t> needed_{};  ///< bits of each register
  std::vector<Word> registers_{};
  std::vector<Seen> seen_{};
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> written_{};  ///< registers, by the branch
  std::set<std::uint32_t> optional_{};    ///< parameters that are pointers and may be 0
  std::uint32_t skipped_ = 0;             ///< lanes that went around one side of a branch, or left the run
  std::array<std::uint64_t, 32> ways_{};  ///< ways to a block whose lanes may be Flow::apart, by lane
  std::vector<bool> visited_{};           ///< blocks, by warp and then by block
  std::vector<Inputs> news_{};            ///< inputs of the runs that visited a block first
  Turns turns_{};
  /// A run that may take a branch to a block that its warp has not visited.
  struct Waiting {
    Inputs inputs;
    unsigned warp = 0;
  };
  std::vector<Waiting> waiting_{};
  std::map<std::pair<unsigned, std::int32_t>, unsigned>
      turned_{};  ///< number of runs that waited or ran, by warp and such a block
  std::set<std::vector<std::pair<std::uint64_t, std::uint64_t>>> tried_{};  ///< witnesses, with their warp
  unsigned turned_runs_ = 0;                                                ///< runs that a branch waited for
  std::uint64_t turned_steps_ = 0;
  std::uint64_t again_steps_ = 0;  ///< steps of runs with given numbers
  unsigned quiet_ = 0;             ///< runs since one of any kind that brought something new
  unsigned next_ = 0;              ///< run by a seed
  std::uint64_t steps_ = 0;
};

}  // namespace swizproof::execution
