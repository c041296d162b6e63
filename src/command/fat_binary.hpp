// The PTX of compiled files: objects, libraries, programs and archives that nvcc made.
#pragma once

#include <string>
#include <vector>

namespace swizproof::command {

/// One module of PTX, as `cuobjdump -xptx` writes it.
struct PtxText {
  std::string name{};  ///< of the file, and of what it holds: `libk.so (gemm.cu, sm_90a)`
  std::string part{};  ///< of a binary: `gemm.cu, sm_90a`
  std::string text{};
};

/// A file of PTX is its own module. A binary (ELF, or an archive of such) has one for each source and architecture that its code was
/// kept as PTX for, which cuobjdump of the CUDA toolkit prints, within 300 s of CPU time, 8 GiB of memory and 1 GiB of text. Throws
/// InputError if there is no cuobjdump, if it fails, and if the binary has no PTX. Checked by tests/program/fat_binary.
[[nodiscard]] std::vector<PtxText> ptx_of(std::string const& file);

}  // namespace swizproof::command
