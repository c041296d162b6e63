// The names of CuTe that swizproof/cute.hpp uses, declared and not defined: with them the header is parsed where no CUTLASS is. What
// the templates compute is tested against CUTLASS itself (tests/cutlass).
#pragma once

namespace cute {

template <class Shape, class Stride>
struct Layout;
template <class Function, class Offset, class Inner>
struct ComposedLayout;
template <int Bits, int Base, int Shift>
struct Swizzle;
template <int Bits>
struct smem_ptr_flag_bits;
template <class T>
struct sizeof_bits;
template <class T>
struct is_static;
template <class... T>
struct Copy_Atom;
template <class Operation, class... T>
struct Copy_Traits;

template <int... Modes, class T>
constexpr auto size(T const&);
template <int... Modes, class T>
constexpr auto rank(T const&);
template <int... Modes, class T>
constexpr auto get(T const&);
template <class T>
auto flatten_to_tuple(T const&);
template <class T>
constexpr auto product_each(T const&);
template <class... T>
constexpr auto make_layout(T const&...);
template <class T, class Tiler>
constexpr auto zipped_divide(T const&, Tiler const&);
template <class T>
void print(T const&);

struct SM75_U32x1_LDSM_N;
struct SM75_U32x2_LDSM_N;
struct SM75_U32x4_LDSM_N;
struct SM75_U16x2_LDSM_T;
struct SM75_U16x4_LDSM_T;
struct SM75_U16x8_LDSM_T;
struct SM90_U32x1_STSM_N;
struct SM90_U32x2_STSM_N;
struct SM90_U32x4_STSM_N;
struct SM90_U16x2_STSM_T;
struct SM90_U16x4_STSM_T;
struct SM90_U16x8_STSM_T;
template <class S, class D>
struct SM80_CP_ASYNC_CACHEALWAYS;
template <class S, class D>
struct SM80_CP_ASYNC_CACHEGLOBAL;
template <class S, class D>
struct SM80_CP_ASYNC_CACHEALWAYS_ZFILL;
template <class S, class D>
struct SM80_CP_ASYNC_CACHEGLOBAL_ZFILL;
template <class S, class D>
struct UniversalCopy;

}  // namespace cute
