// The parts that evaluate terms in one warp. They use each other: a word that a condition chooses needs a truth, a truth that compares words
// needs them, and a register at a loop's header needs its next value.
//
//   Words, Bitwise  operations       LaneLoops   whether lanes leave loops together
//   Truths          conditions       Inductions  registers at headers of loops
//   LeafWords       variables        Machines    the same on numbers, iteration by iteration
#pragma once

#include "assumed.hpp"
#include "facts.hpp"
#include "leaves.hpp"
#include "loops.hpp"
#include "sums.hpp"
#include "threads.hpp"
#include "truths.hpp"
#include "words.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace swizproof::execution {

/// Facts and steps that the warps of a block share.
struct OfBlock {
  TermFacts facts;
  std::uint64_t steps = 0;  ///< terms that were computed, by all of them
};

/// Evaluation of the terms of an execution in one warp.
class Evaluation {
 public:
  /// `clean`: the same warp without assumptions, which decides loops while something is assumed; null: it makes one of its own. `block`: of
  /// another warp of the block, or null.
  Evaluation(Program const& of_program, Flow const& of_flow, Execution& of_execution, Launch const& of_launch,
             unsigned of_number, Evaluation* clean, std::shared_ptr<OfBlock> of_block)
      : program(of_program),
        flow(of_flow),
        execution(of_execution),
        launch(of_launch),
        number(of_number),
        block(of_block ? std::move(of_block)
                       : std::make_shared<OfBlock>(OfBlock{{of_program, of_execution, of_launch}})),
        given_(clean) {}

  Program const& program;
  Flow const& flow;
  Execution& execution;
  Launch const& launch;
  unsigned number;
  std::shared_ptr<OfBlock> block;

  Threads threads{execution, launch, number};
  TermFacts& facts = block->facts;
  Assumed assumed{execution};
  Sums sums{facts};
  Atoms atoms{execution, facts, assumed, sums};
  Words words{*this};
  Bitwise bitwise{*this};
  LeafWords leaves{*this};
  Truths truths{*this};
  LaneLoops loops{*this};
  Inductions inductions{*this};
  Machines machines{*this};

  std::uint64_t steps = 0;  ///< terms that were computed in this warp
  void count_step() { ++steps, ++block->steps; }
  unsigned depth = 0;  ///< nested terms that are being computed
  static constexpr unsigned deepest = 800;

  /// The same warp without assumptions.
  Evaluation& clean();
  [[nodiscard]] std::size_t kept() const { return words.kept() + (own_ ? own_->kept() : 0); }

  /// Goes on under other assumptions.
  void assume(std::vector<Assumption> const& assumptions);
  /// Drops what was computed under a hypothesis that failed.
  void forget();
  /// Drops the values of terms, which are computed again where they are needed.
  void release();

 private:
  Evaluation* given_;
  std::unique_ptr<Evaluation> own_{};
};

/// Values that differ from lane to lane, for what the node `why` computes.
[[nodiscard]] inline Lanes varying(std::uint32_t why) { return {Lanes::State::varying, why}; }

}  // namespace swizproof::execution
