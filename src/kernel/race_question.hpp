// Questions to the solver about two threads: no launch makes a formula of RacePair true.
#pragma once

#include "race_pair.hpp"

#include <swizproof/engine/decide.hpp>

#include <functional>
#include <span>
#include <vector>

namespace swizproof::kernel_detail {

class RaceQuestions {
 public:
  using Build = std::function<Formula(RacePair&)>;

  RaceQuestions(program::Program const& program, program::Flow const& flow,
                execution::Execution const& execution, std::map<std::string, std::uint64_t> const& params,
                BlockShapes const& shapes, UniformTerms& uniform)
      : program_(program),
        flow_(flow),
        execution_(execution),
        params_(params),
        shapes_(shapes),
        uniform_(uniform) {}

  /// The answer to: no values of the unknowns make this true. `unknowns`: those of a refutation.
  Outcome never(Build const& build, std::vector<RaceUnknown>& unknowns);
  /// False unless all are proved. One question for all takes a tenth of the time. Checked by KernelRaces.PairsAreAskedTogether.
  bool never_any(std::vector<Build> const& builds);

 private:
  struct Asked;

  program::Program const& program_;
  program::Flow const& flow_;
  execution::Execution const& execution_;
  std::map<std::string, std::uint64_t> const& params_;
  BlockShapes const& shapes_;
  UniformTerms& uniform_;
};

}  // namespace swizproof::kernel_detail
