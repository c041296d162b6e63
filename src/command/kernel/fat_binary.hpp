// The PTX of compiled files: objects, libraries, programs and archives that nvcc made.
#pragma once

#include <string>
#include <vector>

namespace swizproof::command {

/// One module of PTX, as `cuobjdump -xptx` writes it.
struct PtxText {
  std::string name{};  ///< name of the file and of the part in it: `libk.so (gemm.cu, sm_90a)`
  std::string part{};  ///< part of a binary: `gemm.cu, sm_90a`
  std::string text{};
};

/// A file of PTX is its own module. A binary (ELF, or an archive of such) has one for each source and architecture that its code was
/// kept as PTX for, which cuobjdump of the CUDA toolkit prints, within 300 s of CPU time, 8 GiB of memory and 1 GiB of text. Throws
/// InputError if there is no cuobjdump, if it fails, and if the binary has no PTX. Checked by tests/program/fat_binary.
[[nodiscard]] std::vector<PtxText> ptx_of(std::string const& file);

/// PTX, or a dump of SASS, or what a binary has: the PTX that it keeps, and its machine code if it keeps none, or if `machine` says
/// so. A cubin is dumped by nvdisasm -g, another binary by cuobjdump -sass, within the same limits. Of a wheel, which unzip unpacks,
/// the libraries, programs, objects, cubins and files of PTX and SASS are read; what has no code of a GPU is passed over. Throws InputError
/// that names the command if a tool is not there. Checked by tests/program/fat_binary.
[[nodiscard]] std::vector<PtxText> code_of(std::string const& file, bool machine);

}  // namespace swizproof::command
