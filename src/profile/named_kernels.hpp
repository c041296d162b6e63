// Kernels of PTX or SASS that a trace names.
#pragma once

#include "profile/trace_vs_ptx.hpp"

#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// An entry of a file: of its PTX or of its SASS.
struct NamedKernel {
  PtxFile const* file = nullptr;
  ptx::Function const* ptx = nullptr;
  sass::Function const* sass = nullptr;  ///< one of the two
  [[nodiscard]] std::string const& name() const { return ptx != nullptr ? ptx->name : sass->name; }
};

/// The kernels of a name; of several those that also have its arguments. A name that only the toolkit demangles is matched by its identifiers and
/// numbers. Checked by tests/unit/profile/trace_vs_ptx_test.cpp.
[[nodiscard]] std::vector<NamedKernel> kernels_of(std::string const& name, std::vector<PtxFile> const& files);

/// The kernels that some traced instructions of one function may be of: of several kernels of SASS those that have the instructions, without copies.
[[nodiscard]] std::vector<NamedKernel> kernels_of(std::span<TracedInstruction const> traced,
                                                  std::vector<PtxFile> const& files);

}  // namespace swizproof
