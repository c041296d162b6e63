// NVIDIA's own cute::Swizzle<B,M,S>::apply, run on symbolic words: the header that kernels include is
// the swizzle that is proved here. Built when SWIZPROOF_CUTLASS_DIR names a CUTLASS checkout.
#include "theorem.hpp"

#include <cute/numeric/integral_constant.hpp>

namespace swizproof {

// All that cute::Swizzle asks of a number, beside ^. Found by argument-dependent look-up.
template <auto N>
Term shiftr(Term x, cute::C<N>) {
  return N >= 0 ? shr(x, static_cast<unsigned>(N)) : shl(x, static_cast<unsigned>(-N));
}
template <auto N>
Affine shiftr(Affine const& x, cute::C<N>) {
  return N >= 0 ? shr(x, static_cast<unsigned>(N)) : shl(x, static_cast<unsigned>(-N));
}
template <auto N>
Term operator&(Term x, cute::C<N>) {
  return x & N;
}
template <auto N>
Affine operator&(Affine const& x, cute::C<N>) {
  return x & N;
}

}  // namespace swizproof

#include <cute/swizzle.hpp>

namespace swizproof::proofs {

namespace {

template <std::size_t I>
Question same_as_cute(bool wrong_base) {
  static constexpr Swizzle s = public_swizzles[I];
  using Cute = cute::Swizzle<s.bits, s.base, s.shift>;
  return ask(to_string(s), 64, {{"x", 64}}, [wrong_base](auto x) {
    Swizzle const ours{s.bits, s.base + (wrong_base ? 1 : 0), s.shift};
    return states(ours(x) == decltype(x)(Cute::apply(x)));
  });
}

template <std::size_t... I>
std::vector<Question> same_as_cute(bool wrong_base, std::index_sequence<I...>) {
  return {same_as_cute<I>(wrong_base)...};
}

}  // namespace

void add_cutlass(std::vector<Claim>& claims) {
  using All = std::make_index_sequence<std::size(public_swizzles)>;
  claims.push_back({"formulation/cute::Swizzle",
                    {"cute::Swizzle<B,M,S>::apply of the CUTLASS checkout, run on symbolic words, is f",
                     [] { return same_as_cute(false, All{}); }},
                    "the 18 swizzles of public kernels, all 64-bit offsets",
                    "include/cute/swizzle.hpp of the checkout",
                    {"with MBase one higher", [] { return same_as_cute(true, All{}); }}});
}

}  // namespace swizproof::proofs
