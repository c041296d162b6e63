// Terms of two threads of one block, in one graph: what both share is one variable, all else is one of each.
//
// A value that is not known (a load, a shuffle, a register of a loop without a closed form) is a variable without a bound: the question
// has more cases than launches have, so that "no case" is a proof, and a case is only a hint.
#pragma once

#include "race_access.hpp"
#include "race_functions.hpp"
#include "race_intervals.hpp"
#include "race_memory.hpp"
#include "race_uniform.hpp"

#include <swizproof/engine/term.hpp>
#include <swizproof/execution/launch.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// Shapes that a block may have: the given one, or any in so many dimensions with at most `most` threads.
struct BlockShapes {
  std::optional<std::array<std::uint32_t, 3>> given{};
  unsigned dimensions = 1;
  std::uint32_t most = 1024;
  std::optional<std::array<std::uint32_t, 3>> grid{};  ///< blocks; nothing: any number
  bool lane_0_leads = false;                           ///< assumed: elect.sync of all lanes elects lane 0
};

/// Warps of a block, a bit each.
using WarpSet = std::uint32_t;
inline constexpr WarpSet all_warps = ~WarpSet{0};

/// A variable of the question: which number of a launch it is.
struct RaceUnknown {
  enum class Kind : std::uint8_t { thread, shape, block, blocks, param, other };
  Kind kind = Kind::other;
  unsigned bits = 32;
  std::uint32_t which = 0;   ///< dimension; of a parameter its symbol
  std::uint64_t offset = 0;  ///< of a parameter
};

class RacePair {
 public:
  /// Warps of the two threads; `own`: one thread makes both accesses, the second one behind the first.
  enum class Warps : std::uint8_t { any, one, two, own };

  /// `memory`: global memory where two loads at one address give one value; null: none.
  RacePair(program::Program const& program, program::Flow const& flow, execution::Execution const& execution,
           std::map<std::string, std::uint64_t> const& params, BlockShapes const& shapes,
           UniformTerms& uniform, UnwrittenMemory* memory = nullptr)
      : program_(program),
        flow_(flow),
        execution_(execution),
        params_(params),
        shapes_(shapes),
        uniform_(uniform),
        memory_(memory) {}

  /// Both threads are of these warps.
  void within(WarpSet warps) { within_ = warps; }
  /// Begins a graph. `given`: values of the variables, in their order, of an earlier graph; empty: they are made.
  void begin(Terms& terms, std::span<Term const> given);
  /// Truth: one thread makes the first access and another one the second, at a common byte. `what`: both accesses. Where both are stores whose words
  /// the program names (MemoryAccess::values), also: they do not store one value at one address. A row of ldmatrix or stmatrix is accessed by any lane
  /// of the warp. `earlier`: with
  /// the fact that accesses stayed in their arrays in the iteration before.
  [[nodiscard]] Formula meets(Visit const& a, Visit const& b, std::array<SharedAccess const*, 2> what,
                              Warps warps, bool earlier = false);
  /// Truth: two threads execute an access that is in no loop.
  [[nodiscard]] Formula twice(std::uint32_t access);
  /// Truth: two threads in the same iterations of the loops around a block have different values of a truth.
  [[nodiscard]] Formula differs(std::uint32_t block, std::uint32_t truth, Warps warps);
  [[nodiscard]] std::vector<RaceUnknown> const& unknowns() const { return unknowns_; }
  /// The variables of this graph, in the same order.
  [[nodiscard]] std::vector<Term> const& values() const { return values_; }

 private:
  using Id = std::uint32_t;
  struct View {
    unsigned thread = 0,
             access =
                 0;  ///< the first or the second; a thread from `leaders` on is the first lane of its warp
    std::map<std::int32_t, std::pair<Turn, Id>> turns{};  ///< by loop; the counter
    std::unordered_map<Id, Id> memo{};
    std::map<std::int32_t, std::unique_ptr<View>> before{}, behind{};
    std::unique_ptr<View> leader{};  ///< of the first lane of its warp
  };
  [[nodiscard]] View view(unsigned thread, unsigned access, std::int32_t loop,
                          std::vector<Turn> const& turns);
  Id translated(Id id, View& view);
  Id leaf(Id id, View& view);
  Id special(execution::Leaf const& l, View& view);
  Id phi(Id id, execution::Phi const& p, View& view);
  using Machine = std::map<Id, std::vector<std::uint64_t>>;  ///< values of registers by state
  Machine const& machine(std::int32_t loop);
  std::optional<Term> in_machine(Id id, execution::Phi const& p, View& of);
  Id behind_loop(Id id, execution::Leaf const& l, View& view);
  View& before(View& view, std::int32_t loop);
  Term unknown(std::vector<std::uint64_t> key, RaceUnknown what);
  Term applied(std::vector<std::uint64_t> name, std::vector<Id> args, unsigned bits);
  Term not_known(Id id, std::int32_t loop, bool shared, View& view, unsigned bits);
  void add_counters(std::int32_t loop, View const& view, std::vector<std::uint64_t>& key) const;
  Id of_first_lane(execution::Leaf const& l, View& view);
  Term thread(unsigned number, unsigned dimension);
  Term shape(unsigned dimension);
  Term linear(unsigned number);
  Formula inside(Term address, std::int64_t array, unsigned bytes);
  void stayed(execution::ExecutedAccess const& e, SharedAccess const& access, View& of);
  std::pair<Term, Term> bytes_of(Term address, SharedAccess const& access);
  Id elected(Id id, execution::Leaf const& l, View& of);
  std::optional<std::uint64_t> last_iteration(std::int32_t loop);
  void continues(std::int32_t loop, View& view);
  Formula two_threads(Warps warps, bool one = false);
  Term word(std::uint64_t x, unsigned width = 32) { return terms_->constant(width, x); }

  program::Program const& program_;
  program::Flow const& flow_;
  execution::Execution const& execution_;
  std::map<std::string, std::uint64_t> const& params_;
  BlockShapes const& shapes_;
  UniformTerms& uniform_;
  UnwrittenMemory* memory_;
  WarpSet within_ = all_warps;
  std::map<std::int32_t, std::optional<std::uint64_t>> last_{};  ///< by loop
  std::map<std::int32_t, Machine> machines_{};                   ///< by loop
  Terms* terms_ = nullptr;
  std::span<Term const> given_{};
  Formula facts_ = true;
  std::map<std::vector<std::uint64_t>, std::size_t> numbers_{};
  std::vector<RaceUnknown> unknowns_{};
  std::vector<Term> values_{};
  FunctionValues functions_{};
};

}  // namespace swizproof::kernel_detail
