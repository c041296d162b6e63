// The engine of bit vectors where there is no solver: in a browser. What only a solver decides stays undecided.
#include "engine/engines.hpp"

namespace swizproof::engine {

Finding smt(std::span<Question const> /*questions*/, Limits const& /*limits*/) {
  return Unknown{"no solver in this build"};
}

}  // namespace swizproof::engine
