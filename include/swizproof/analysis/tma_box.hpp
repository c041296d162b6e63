// One box as a kernel passes it to cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col: which rules of cuda.h does it break, and what
// does it write?
#pragma once

#include <swizproof/hardware/tma_packed.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// The tensor of a box, as far as it is given. The rules of an empty field are not checked.
struct TmaTensor {
  std::vector<std::uint64_t> extents{};          ///< globalDim, in elements, innermost first
  std::vector<std::uint64_t> strides{};          ///< globalStrides, in bytes, of all dimensions but the first
  std::vector<std::uint64_t> element_strides{};  ///< elementStrides
  std::optional<std::uint64_t> address{};        ///< globalAddress
};

/// A box and its type. Precondition: the box has an extent.
struct TmaBoxQuestion {
  std::string type{};  ///< behind CU_TENSOR_MAP_DATA_TYPE_
  unsigned bits = 0;   ///< size of an element in global memory
  TmaPackedType const* packed = nullptr;
  std::vector<std::uint64_t>
      box{};  ///< elements, innermost first; of im2col channelsPerPixel and pixelsPerColumn
  TmaModeName const* mode = &tma_mode_names[0];
  bool im2col = false;
  unsigned number = 0;  ///< number in CUtensorMapDataType
  TmaTensor tensor{};
};

/// Equal legal boxes that lie side by side along the first dimension and together are the box.
struct TmaBoxSplit {
  std::vector<std::uint64_t> box{};
  std::uint64_t boxes = 0;
};

/// The answer for one box: it is legal if and only if it breaks no rule.
struct TmaBoxAnswer {
  std::vector<std::string> broken{};
  std::uint64_t line_bytes = 0;  ///< bytes of a line in shared memory, gaps included
  std::uint64_t pitch = 0;       ///< bytes from line to line
  std::uint64_t bytes = 0;       ///< bytes of shared memory, from the first byte to the last line's end
  std::string layout{};          ///< LAYOUT that it writes; empty if no layout of elements is that
  std::vector<std::string_view> takes{};  ///< modes under which the same box is legal
  std::optional<TmaBoxSplit> split{};     ///< split of an illegal box whose line is too long
};

/// True of the modes that cuda.h 13.0 has: 96B is one of PTX's tensormap.replace alone.
[[nodiscard]] constexpr bool is_of_cuda(TmaModeName const& mode) { return mode.name != "96B"; }

/// Rules of cuda.h 13.0 on box, element size, swizzle and interleave NONE, for an architecture with a TMA. {48, 16} of FLOAT16 under
/// 32B: a line of 96 bytes, more than 32; 3 boxes of {16, 16} are legal. Checked by tests/reference/tma_box.py.
[[nodiscard]] TmaBoxAnswer tma_box(TmaBoxQuestion const& question, Architecture const& arch);

/// The basis of these rules. Campaign `boxes` asked the driver on sm_90. Throws InputError where no TMA is known.
[[nodiscard]] Support tma_box_basis(Architecture const& arch);

}  // namespace swizproof
