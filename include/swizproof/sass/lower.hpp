// SASS, lowered to the language of the executor (program/program.hpp).
#pragma once

#include <swizproof/program/program.hpp>
#include <swizproof/sass/module.hpp>

#include <string>
#include <vector>

namespace swizproof::sass {

/// A kernel, lowered, with what the analysis needs to have of its head.
struct Lowered {
  ptx::Function head{};                ///< name, parameters; no body
  program::Program program{};          ///< lines are those of the dump
  std::vector<std::string> assumed{};  ///< forms that it uses whose meaning was not measured, by name
};

/// Kernels of a dump, lowered.
struct LoweredKernels {
  Module module{};
  std::vector<Lowered> kernels{};
};

/// Lowers a kernel. Parameters are the parts of the constant bank from its base on that the kernel reads, each as `c[0x0][0x210]`.
/// Calls of functions in the kernel's section are inlined. Never throws: what is not modelled makes its destinations unknown, or
/// `program.refused` says why nothing is executed. `global`: accesses to global memory are accesses of the program, too. Checked by
/// tests/unit/sass/lower_test.cpp and tests/reference/sass.py.
[[nodiscard]] Lowered lower(Module const& module, Function const& function, bool global = false);

}  // namespace swizproof::sass
