// CuTe's algebra on swizzled layouts: `Sw<3,3,3> o _0 o layout` and `Sw<3,4,3> o smem_ptr[16b](unset) o
// layout`.
//
// Most of it acts on the innermost layout alone. Where the swizzle takes part CuTe's result is not
// always the function it stands for: then the result here is the right function, and a note in it says
// what CuTe prints and at which index that differs. Where CuTe's headers do not compile, and where no
// Mapping is the right function, an AlgebraError says why.
//
// tests/oracle/algebra_oracle.cpp compares the results with what CuTe's headers printed.
#pragma once

#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/map.hpp>

namespace swizproof {

/// Text as CuTe prints it, from its stages: `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)`. A flagged
/// layout that starts at an offset, which CuTe cannot print, has it behind the flag: `... o _64 o ...`.
[[nodiscard]] std::string to_string(Map const& map);
/// The same; a bound pointer stands with its address: `Sw<3,4,3>_smem_ptr[16b](0x7f00) o ...`.
[[nodiscard]] std::string to_string(Mapping const& map);

/// A layout, or a swizzle, as a Mapping.
[[nodiscard]] Mapping mapping(Layout layout);
[[nodiscard]] Mapping mapping(Swizzle swizzle);

/// The layout that a Mapping is; nothing if it is more than a layout.
[[nodiscard]] Layout const* plain_layout(Map const& map);
/// The swizzle that a Mapping is; nothing if it is more than a swizzle.
[[nodiscard]] Swizzle const* plain_swizzle(Map const& map);
/// True for swizzle o smem_ptr[..] o layout, whose swizzle acts on bytes.
[[nodiscard]] bool is_flagged(Map const& map);

/// The same Mapping with `layout` as its innermost layout. As in CuTe, a swizzle of 0 bits with a static
/// offset of 0 vanishes.
[[nodiscard]] Mapping with_layout(Mapping map, Layout layout);

/// The least index below 0 that the stages to its right give a layout of several modes: -3 for
/// `(4,2):(1,8) o -3 o 8:1`; nothing if all are at least 0. CuTe takes % and / of a negative integer there, so its result
/// is not modelled, and such a text is refused. Checked by ComposedAlgebra.WhatIsPrintedIsReadBack.
[[nodiscard]] std::optional<std::int64_t> index_below_zero(Map const& map);

/// i -> a(b(i)) as CuTe composes: layouts, swizzles and composed layouts.
[[nodiscard]] Mapping composition(Mapping const& a, Mapping const& b);
/// i -> a(offset + b(i)).
[[nodiscard]] Mapping composition(Mapping const& a, Displacement offset, Mapping const& b);

/// R with map(R(i)) = i.
[[nodiscard]] Mapping right_inverse(Mapping const& map);
/// R with R(map(i)) = i.
[[nodiscard]] Mapping left_inverse(Mapping const& map);

/// The layout in units of n elements (upcast), or n times finer. A flagged layout keeps its swizzle and changes its
/// element; a swizzle that moves bits below the new unit has no such function, which a note says.
[[nodiscard]] Mapping upcast(Mapping const& map, std::int64_t n);
[[nodiscard]] Mapping downcast(Mapping const& map, std::int64_t n);
/// A flagged layout with its swizzle on elements, which is the same function for bases that are multiples
/// of the swizzle's period: `Sw<3,3,3> o _0 o (_8,_64):(_64,_1)` for 16 bits.
[[nodiscard]] Mapping position_independent(Mapping const& map);

/// The free modes of a coordinate. Like CuTe, plain and decayed layouts start at 0 and leave the offset
/// to the pointer; a note says so where it is not 0.
[[nodiscard]] Mapping slice(Mapping const& map, Tiler const& coordinate);

/// max_common_layout, max_common_vector and max_alignment, which count whole elements. Of a flagged layout
/// CuTe takes the bytes that its swizzle keeps together for elements; see as_cute_counts().
[[nodiscard]] Layout max_common_layout(Mapping const& a, Mapping const& b);
[[nodiscard]] IntTuple max_common_vector(Mapping const& a, Mapping const& b);
[[nodiscard]] IntTuple max_alignment(Mapping const& map);
/// A flagged layout as those three see it in CuTe: its byte swizzle on elements. Others are as they are.
[[nodiscard]] Mapping as_cute_counts(Mapping map);

}  // namespace swizproof
