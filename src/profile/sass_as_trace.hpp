// Everything that a dump of SASS can do, in the form of a trace: compared with PTX, it says what ptxas made of the PTX, without a GPU.
//
//   SASS  -->  every way in which a warp can execute each access (KernelAccess::lanes)  -->  patterns of a Trace
//
// Checked by tests/unit/profile/sass_as_trace_test.cpp and tests/golden/crosscheck.txt.
#pragma once

#include "profile/trace_vs_ptx.hpp"

namespace swizproof {

/// The accesses of the kernels of a dump as a trace, one instruction for each address in a kernel and each block of `options`; with
/// none, the block that the dump gives. An access that is not decided has no pattern, and TracedInstruction::open says why. Accesses
/// that no lane executes are left out. Throws InputError where the dump does not give the shape of a block that a kernel needs.
[[nodiscard]] Trace as_trace(PtxFile const& dump, Architecture const& arch, CompiledOptions const& options);

}  // namespace swizproof
