// The engine of bit vectors where there is no solver: in a browser. What only a solver decides stays undecided.
#include "engine/engines.hpp"

#include <swizproof/engine/solver.hpp>

namespace swizproof {

std::string_view solver_name() { return "no solver"; }

namespace engine {

Finding smt(std::span<Question const> /*questions*/, Limits const& /*limits*/) {
  return Unknown{"no solver in this build"};
}

}  // namespace engine
}  // namespace swizproof
