// The solver of this build.
#pragma once

#include <string_view>

namespace swizproof {

/// Name of the solver: `Z3`, or `no solver` in a browser (engine/no_solver.cpp). Checked by golden.kernel_shapes and tests/web/webpage/webpage_test.py.
[[nodiscard]] std::string_view solver_name();

}  // namespace swizproof
