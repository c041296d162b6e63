// One execution of a warp on numbers: a second opinion on what is proved, and the witness of a bound that is reached.
#pragma once

#include "inputs.hpp"

#include <swizproof/execution/terms.hpp>

#include <swizproof/execution/warp.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// Values of terms in the lanes of a warp, of one replay after another: it keeps what it has of memory.
class TermValues {
 public:
  using Values = std::array<std::uint64_t, 32>;
  /// Forgets all: a replay begins, and the one before is over.
  void start() { ++replay_, used_ = 0; }
  /// Null if the value is not known yet. It stays where it is.
  [[nodiscard]] Values const* find(std::uint32_t id) const {
    return id < places_.size() && places_[id].replay == replay_ ? &values_[places_[id].at] : nullptr;
  }
  Values const& add(std::uint32_t id, Values const& value) {
    if (id >= places_.size()) places_.resize(2 * std::size_t{id} + 1);
    places_[id] = {replay_, used_};
    if (used_ == values_.size()) values_.emplace_back();
    return values_[used_++] = value;
  }

 private:
  struct Place {
    std::uint32_t replay = 0, at = 0;
  };
  std::vector<Place> places_{};  ///< by term
  std::deque<Values> values_{};
  std::uint32_t replay_ = 0, used_ = 0;
};

/// All values of one execution of a warp: leaves by a seed, terms by plain word arithmetic.
class Replay {
 public:
  /// For each loop around the access the number of its iterations, where it is known.
  using Trips = std::map<std::int32_t, std::uint64_t>;
  Replay(Program const& program, Flow const& flow, Execution const& execution, Launch const& launch,
         Warp& warp, std::int32_t loop, std::uint64_t seed, unsigned style, Trips const& trips,
         TermValues& values)
      : program_(program),
        flow_(flow),
        execution_(execution),
        launch_(launch),
        warp_(warp),
        loop_(loop),
        inputs_(program, execution, launch, seed, style),
        first_iterations_(style < 8 || style == smallest_style),
        trips_(trips),
        known_(values) {
    known_.start();
  }

  /// Puts a variable in shared memory at an address.
  void place(std::uint32_t symbol, std::uint64_t address) { inputs_.place(symbol, address); }
  /// Gives values to leaves, by their number: block numbers, variables' addresses and parameters.
  void give(LeafValues const& values) { inputs_.give(values); }
  void give(std::vector<ReadNumber> const& numbers) { inputs_.give(numbers); }
  /// The lane that every elect.sync elects; without it such a run is not certain.
  void elect(unsigned lane) { leader_ = lane; }

  using Values = TermValues::Values;
  Values const& value(Id id);
  /// True if an execution can have these values, as far as they were needed.
  [[nodiscard]] bool valid() const { return valid_; }
  /// True if they are those of a run that surely exists: parameters, and the first iteration of each loop.
  [[nodiscard]] bool certain() const { return valid_ && certain_; }
  /// Parameters and numbers of blocks, as they were taken.
  [[nodiscard]] std::vector<ReadNumber> const& numbers() const { return inputs_.numbers(); }
  /// Addresses of the variables in shared memory that were read or given, by symbol.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> const& bases() const { return inputs_.bases(); }

 private:
  Values compute(Id id);
  Values chosen(Node const& n);

  Values all(std::uint64_t x);

  Values leaf(Node const& n);
  /// An iteration that the loop has; where their number is not known, one of the first eight.
  std::uint64_t iteration(std::int32_t loop);
  Values special(Leaf const& l);
  Values loop_value(Phi const& p);
  Values shuffled(Leaf const& l);
  Values data(Leaf const& l);
  static std::uint64_t mixed(std::uint64_t x);

  Program const& program_;
  Flow const& flow_;
  Execution const& execution_;
  Launch const& launch_;
  Warp& warp_;
  std::int32_t loop_;
  Inputs inputs_;
  bool first_iterations_;
  Trips const& trips_;
  bool valid_ = true, certain_ = true;
  unsigned depth_ = 0;
  TermValues& known_;
  std::optional<unsigned> leader_{};
};

}  // namespace swizproof::execution
