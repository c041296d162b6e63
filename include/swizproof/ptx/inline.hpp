// Calls of device functions, replaced by the functions' bodies: what is lowered and executed has no call in it.
//
//   st.param [param0], %r1;             mov.b32 c1, %r1;
//   call.uni (retval0), f, (param0);    the body of f: its registers, labels and variables renamed, `ret` a branch to its end
//   ld.param %r2, [retval0];            mov.b32 %r2, c2;
#pragma once

#include <swizproof/ptx/module.hpp>

#include <cstddef>
#include <optional>

namespace swizproof::ptx {

/// Bounds of inlining for one kernel.
struct InlineLimits {
  /// Instructions and registers of all inlined bodies together. A chain of functions that call the next one twice doubles with
  /// each link: a call whose function is larger than what is left, with all calls in it, is not inlined. A kernel of 2,048
  /// copies of a function with a loop, 88,000 of them, is decided in 1.2 s.
  std::size_t instructions = 100'000;
  unsigned depth = 64;  ///< nested calls; PTX that nvcc writes has few
};

/// The function with the calls in it inlined; nothing if it calls no function that the module has a body of.
///
/// A call stays where it is, and Function::calls has the reason, if its function calls itself, is not executed on its own (irreducible
/// control flow), does not match the call, or exceeds a limit. Calls by a register and of functions without a body
/// stay, too. A variable in shared memory that a device function declares is one variable for all its copies. `.param`
/// variables become registers if only ld.param, st.param and calls name them; else what is loaded from them is unknown. Checked
/// by tests/unit/ptx/inline_test.cpp and tests/reference/kernel.py.
[[nodiscard]] std::optional<Function> inline_calls(Module const& module, Function const& function,
                                                   InlineLimits const& limits = {});

/// Name of the function that a call names; empty if it is in a register.
[[nodiscard]] std::string_view callee_of(Instruction const& call);

}  // namespace swizproof::ptx
