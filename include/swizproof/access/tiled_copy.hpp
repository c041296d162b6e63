// A TiledCopy as CuTe prints it: which element of a tile each value of each thread is.
#pragma once

#include <swizproof/layout/algebra.hpp>

#include <cstdint>
#include <optional>

namespace swizproof {

/// A TiledCopy's thread-value layouts: (thread, value) -> column-major index into the tile.
///
/// They are CuTe's get_layoutS_TV() and get_layoutD_TV(): TiledLayout_TV is about the atom's reference
/// side, so it is composed with right_inverse(ValLayoutRef) o ValLayoutSrc (or Dst). For ldmatrix the
/// source side says which address a lane gives, the destination side which elements it receives.
/// If Tiler_MN holds layouts, CuTe's index counts in the tiler's own order; here it has gone through
/// the tiler, and counts in the order of the tensor that is copied; a tiler with gaps, such as
/// `(_8,_2):(_1,_16)`, is repeated into them, and the copies are further values of each thread.
/// Checked by tests/oracle/cute_oracle.cpp.
struct TiledCopy {
  Layout source_tv{};
  Layout destination_tv{};
  IntTuple tile{1};         ///< the extents of the tile, `(_32,_16)`
  unsigned value_bits = 0;  ///< bits of a value
  Layout layout_s_tv{};  ///< layout that get_layoutS_TV() prints: source_tv before it went through the tiler
  Layout layout_d_tv{};  ///< layout that get_layoutD_TV() prints
  std::optional<std::int64_t> thread{};  ///< thread of a ThrCopy, less than the copy's threads
  Tiler tiler{};                         ///< Tiler_MN; `_` of a Copy_Atom alone
  Layout tiled_tv{};  ///< TiledLayout_TV: (thread, value) of the reference side -> index in the tiler's order
  Layout source{}, destination{},
      reference{};  ///< layouts of the atom: ValLayoutSrc, ValLayoutDst, ValLayoutRef
};

/// TiledLayout_TV with the (thread, value) of one side of the atom, `source` or `destination`, in place of the reference side's.
/// Throws AlgebraError.
[[nodiscard]] Layout thread_values(TiledCopy const& copy, Layout const& side);

/// CuTe's tidfrg_S and tidfrg_D: (thread, ((FrgV,FrgX)), (RestM,RestN,...)) of a tensor's layout (M,N,...). Throws AlgebraError.
[[nodiscard]] Layout tidfrg(TiledCopy const& copy, Layout const& side, Layout const& tensor);

/// CuTe's retile_S and retile_D: a fragment (V,M,N,...) of an MMA, arranged as the copy's values (FrgV,M,N,...). [CUTLASS 4.7,
/// cute/atom/copy_atom.hpp] Throws AlgebraError. Checked by tests/cutlass/tiles.py.
[[nodiscard]] Layout retile(TiledCopy const& copy, Layout const& fragment);

}  // namespace swizproof
