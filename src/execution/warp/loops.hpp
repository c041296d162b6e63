// Loops in the lanes of a warp: how lanes leave them, and registers at their headers.
#pragma once

#include "assumed.hpp"

#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/terms.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace swizproof::execution {

class Evaluation;

/// Loops of one warp. What holds in all iterations is decided in a warp without assumptions.
class LaneLoops {
 public:
  explicit LaneLoops(Evaluation& in) : in_(in) {}

  /// How the lanes leave a loop: some in other iterations by their number, by values that are not known, or all in one.
  enum class Leaves : std::uint8_t { apart, unknown, together };
  Leaves leaves(std::int32_t loop);
  /// True if all lanes leave a loop in the same iteration.
  bool exits_together(std::int32_t loop) { return leaves(loop) == Leaves::together; }
  /// True if all lanes take the same way back to a loop's header, so that they are in the same iteration of it. Two loops with one header
  /// are one loop here: lanes that meet behind the inner one may have run it a different number of times.
  bool goes_back_together(std::int32_t loop);
  /// True if all lanes that are together in a loop are in the same iteration of it and of the loops around it.
  bool has_common_iteration(std::int32_t loop);
  /// True if a truth may differ between lanes only for values that are not known: no number of a lane is compared with one.
  bool is_lost(Id id);

  /// Drops what rests on hypotheses: a loop that failed fails with less that is assumed, too.
  void forget();
  void clear() { leaves_.clear(), backs_.clear(); }

 private:
  Evaluation& in_;
  std::map<std::int32_t, Leaves> leaves_{};
  std::map<std::int32_t, bool> backs_{};
};

/// Values of registers at a loop's header, by induction over the iterations where they have no closed form.
class Inductions {
 public:
  explicit Inductions(Evaluation& in) : in_(in) {}

  Lanes value(Id id, Phi const& phi, unsigned bits);
  /// Drops what rests on others that are being decided.
  void forget();

 private:
  /// A phi that is no closed form, or its low bits: its first value plus `added`, which all lanes share.
  struct Induction {
    enum class State : std::uint8_t { fails, holds, open, holds_if_open_do };
    State state = State::open;
    Id added = 0;
  };
  Lanes affine(Phi const& phi, unsigned bits);
  Lanes drifting(Id id, Phi const& phi, unsigned bits);
  Induction decide(std::size_t index, unsigned width);
  Id added_of(Phi const& phi, std::pair<std::size_t, unsigned> key);
  Lanes movement(Phi const& phi, Id added, unsigned width);
  [[nodiscard]] unsigned zeros_of(Lanes const& moved, unsigned width);

  Evaluation& in_;
  std::map<std::pair<std::size_t, unsigned>, Induction> known_{};  ///< by phi and bits
  std::uint64_t start_ = 0, steps_ = 0;  ///< at which the outermost one began, and of all before
};

/// Registers whose next values depend on each other and on numbers that do not change.
class Machines {
 public:
  explicit Machines(Evaluation& in) : in_(in) {}

  /// As Warp::iterated.
  std::optional<std::uint64_t> iterated(Id phi, std::uint64_t iteration);
  void clear() { kept_.clear(); }

 private:
  using Numbers = std::map<Id, std::uint64_t>;
  struct Machine {
    Numbers numbers{};              ///< of other variables
    std::vector<Numbers> states{};  ///< of the registers, by iteration; none: it is no such machine
  };
  Machine machine_of(Id phi);
  bool add(Machine& machine, Id phi, std::vector<Id>& registers);
  std::optional<std::uint64_t> constant(Id id);

  Evaluation& in_;
  Assumed::Memo<Machine> kept_{};
};

}  // namespace swizproof::execution
