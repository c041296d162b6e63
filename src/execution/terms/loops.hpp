// Registers at headers of loops: their values in all iterations, as far as there is a closed form.
#pragma once

#include "arithmetic.hpp"
#include "cases.hpp"
#include "graph.hpp"
#include "scopes.hpp"

#include <cstdint>
#include <vector>

namespace swizproof::execution {

/// Closes registers that only ever hold one value, which no iteration changes, as Phi::Kind::same: copies of it.
void close_copies(Execution& out, Graph const& graph, Scopes& scopes);

/// Closes a register to which each iteration adds a step as affine or a drift, and one that never changes; leaves another one as it is.
void close_sum(Phi& phi, Graph& graph, Arithmetic& arithmetic, Cases& cases, Scopes& scopes);

/// Closes a register whose next value depends on constants and on registers like it, by all values that it takes; leaves another one as it is.
/// `again`: the truth with which an iteration of its loop goes on to the next.
void close_orbit(Phi& phi, Execution const& out, std::uint32_t again);

}  // namespace swizproof::execution
