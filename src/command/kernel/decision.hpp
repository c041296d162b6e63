// Decides the kernels of the files that `swizproof kernel` is given.
#pragma once

#include "command/kernel/cuda_source.hpp"
#include "command/kernel/results.hpp"
#include "command/line/command.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// Arguments of `swizproof kernel`.
struct KernelArguments {
  std::vector<std::string> files;
  std::string kernel;
  std::vector<std::string> blocks, params, source;
  std::string sarif, html, emit, since, format = "text", base = "device", grid;
  std::uint64_t shared_bytes = 0;
  unsigned at_most = 0;
  bool machine = false, watch = false;
  CompilerOptions compiler{};  ///< of .cu files
};

/// Takes each kernel when it is decided, for this architecture, and all notes so far.
using OnResult =
    std::function<void(Result const&, Architecture const&, std::vector<std::string> const& notes)>;

/// Decides every kernel of all files and folders. Of several files one that is not read is named and stops no other. Throws InputError
/// if a single file is not read, if there is no kernel, for options that fit none, and for a single kernel whose block has no shape.
[[nodiscard]] Results decide_files(Common& common, KernelArguments const& arguments, KernelOptions options,
                                   OnResult const& on_result);

}  // namespace swizproof::command::kernel_detail
