// NVIDIA's own cute::Swizzle<B,M,S>::apply, run on symbolic words: the header that kernels include is
// the swizzle that is proved here. Built when SWIZPROOF_CUTLASS_DIR names a CUTLASS checkout.
#include "theorem.hpp"

#include <cute/numeric/integral_constant.hpp>

namespace swizproof {

// The operations that cute::Swizzle needs in addition to ^. Found by argument-dependent look-up.
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

#include <cute/atom/copy_traits_sm75.hpp>
#include <cute/atom/copy_traits_sm90.hpp>
#include <cute/atom/mma_traits_sm75.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm89.hpp>
#include <cute/atom/mma_traits_sm90.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

#include <swizproof/analysis/fragment.hpp>

#include <stdexcept>

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

// ------------------------------------------------------------------------------------------- fragments

/// A static shape or stride of CuTe as ours.
template <class T>
IntTuple tuple_of(T const& t) {
  if constexpr (cute::is_tuple<T>::value) {
    std::vector<IntTuple> modes;
    cute::for_each(t, [&](auto const& mode) { modes.push_back(tuple_of(mode)); });
    return IntTuple(std::move(modes));
  } else {
    return IntTuple(static_cast<std::int64_t>(t));
  }
}

template <class CuteLayout>
Layout layout_from(CuteLayout const& layout) {
  return {tuple_of(layout.shape()), tuple_of(layout.stride())};
}

/// Effect of a false statement on the layouts.
using Damage = Layout (*)(Layout);
Layout unharmed(Layout layout) { return layout; }

/// Thread 1 is where thread 0 is.
Layout wrong_by_a_thread(Layout layout) {
  IntTuple* threads = &layout.stride.modes[0];
  while (threads->is_tuple) threads = &threads->modes[0];
  threads->value = 0;
  return layout;
}

/// The layouts of an mma's traits are PTX's formulas.
template <class Atom>
void add_atom(std::vector<Question>& questions, std::string const& name, Damage damage) {
  using Traits = cute::MMA_Traits<Atom>;
  typename Traits::Shape_MNK const mnk{};
  unsigned const m = cute::get<0>(mnk), n = cute::get<1>(mnk), k = cute::get<2>(mnk);
  constexpr unsigned bits = cute::sizeof_bits<typename Traits::ValTypeA>::value;
  constexpr unsigned d_bits = cute::sizeof_bits<typename Traits::ValTypeD>::value;
  for (MmaShape const& shape : mma_shapes) {
    if (shape.m != m || shape.n != n || shape.k != k || shape.bits != bits) continue;
    auto const add = [&](Operand operand, Layout const& layout) {
      questions.push_back(
          is_thread_values(name + ", " + letter(operand), shape.fragment(operand, d_bits), damage(layout)));
    };
    add(Operand::a, layout_from(typename Traits::ALayout{}));
    add(Operand::b, layout_from(typename Traits::BLayout{}));
    add(Operand::d, layout_from(typename Traits::CLayout{}));
    return;
  }
  throw std::logic_error(name + " is no shape that is known");
}

/// The same of wgmma: A from registers, and D.
template <class Atom>
void add_warpgroup_atom(std::vector<Question>& questions, std::string const& name, Damage damage) {
  using Traits = cute::MMA_Traits<Atom>;
  typename Traits::Shape_MNK const mnk{};
  unsigned const n = cute::get<1>(mnk), k = cute::get<2>(mnk);
  constexpr unsigned d_bits = cute::sizeof_bits<typename Traits::ValTypeD>::value;
  for (WgmmaShape const& shape : wgmma_shapes) {
    if (shape.k != k) continue;
    questions.push_back(is_thread_values(name + ", a", shape.fragment(Operand::a, n, d_bits),
                                         damage(layout_from(typename Traits::ALayout{}))));
    questions.push_back(is_thread_values(name + ", d", shape.fragment(Operand::d, n, d_bits),
                                         damage(layout_from(typename Traits::CLayout{}))));
    return;
  }
  throw std::logic_error(name + " is no shape that is known");
}

std::vector<Question> atoms_of_mma(Damage damage) {
  std::vector<Question> all;
  using namespace cute;  // the names of the atoms, as questions too
#define SWIZPROOF_ATOM(...) add_atom<__VA_ARGS__>(all, #__VA_ARGS__, damage)
  SWIZPROOF_ATOM(SM75_16x8x8_F32F16F16F32_TN);
  SWIZPROOF_ATOM(SM75_8x8x16_S32S8S8S32_TN);
  SWIZPROOF_ATOM(SM80_16x8x8_F16F16F16F16_TN);
  SWIZPROOF_ATOM(SM80_16x8x16_F16F16F16F16_TN);
  SWIZPROOF_ATOM(SM80_16x8x16_F32F16F16F32_TN);
  SWIZPROOF_ATOM(SM80_16x8x16_F32BF16BF16F32_TN);
  SWIZPROOF_ATOM(SM80_16x8x4_F32TF32TF32F32_TN);
  SWIZPROOF_ATOM(SM80_16x8x8_F32TF32TF32F32_TN);
  SWIZPROOF_ATOM(SM80_8x8x4_F64F64F64F64_TN);
  SWIZPROOF_ATOM(SM80_8x8x16_S32S8S8S32_TN);
  SWIZPROOF_ATOM(SM80_16x8x16_S32S8S8S32_TN);
  SWIZPROOF_ATOM(SM80_16x8x32_S32S8S8S32_TN);
  SWIZPROOF_ATOM(SM80_8x8x32_S32S4S4S32_TN);
  SWIZPROOF_ATOM(SM80_16x8x32_S32S4S4S32_TN);
  SWIZPROOF_ATOM(SM80_16x8x64_S32S4S4S32_TN);
  SWIZPROOF_ATOM(SM89_16x8x32_F32E4M3E4M3F32_TN);
  SWIZPROOF_ATOM(SM90_16x8x4_F64F64F64F64_TN);
  SWIZPROOF_ATOM(SM90_16x8x8_F64F64F64F64_TN);
  SWIZPROOF_ATOM(SM90_16x8x16_F64F64F64F64_TN);
#undef SWIZPROOF_ATOM
  return all;
}

std::vector<Question> atoms_of_wgmma(Damage damage) {
  std::vector<Question> all;
  using namespace cute::SM90::GMMA;
#define SWIZPROOF_ATOM(...) add_warpgroup_atom<__VA_ARGS__>(all, #__VA_ARGS__, damage)
  SWIZPROOF_ATOM(MMA_64x8x16_F32F16F16_RS<Major::K, Major::K>);
  SWIZPROOF_ATOM(MMA_64x96x16_F32BF16BF16_RS<Major::K, Major::K>);
  SWIZPROOF_ATOM(MMA_64x256x16_F16F16F16_RS<Major::K, Major::K>);
  SWIZPROOF_ATOM(MMA_64x128x8_F32TF32TF32_RS_TN<>);
  SWIZPROOF_ATOM(MMA_64x64x32_F32E4M3E4M3_RS_TN<>);
  SWIZPROOF_ATOM(MMA_64x192x32_S32S8S8_RS_TN);
#undef SWIZPROOF_ATOM
  return all;
}

/// Elements that ldmatrix writes to registers, and that stmatrix reads from them.
std::vector<Question> atoms_of_copies(Damage damage) {
  std::vector<Question> all;
  auto const add = [&](std::string_view instruction, std::string const& name, auto const& layout) {
    for (InstructionName const& known : instruction_names)
      if (known.text == instruction)
        all.push_back(
            is_thread_values(name, fragment_of(known.instruction, 16), damage(layout_from(layout))));
  };
#define SWIZPROOF_LOAD(name, instruction) \
  add(instruction, #name, typename cute::Copy_Traits<cute::name>::DstLayout{})
#define SWIZPROOF_STORE(name, instruction) \
  add(instruction, #name, typename cute::Copy_Traits<cute::name>::SrcLayout{})
  SWIZPROOF_LOAD(SM75_U32x1_LDSM_N, "ldmatrix.x1");
  SWIZPROOF_LOAD(SM75_U32x2_LDSM_N, "ldmatrix.x2");
  SWIZPROOF_LOAD(SM75_U32x4_LDSM_N, "ldmatrix.x4");
  SWIZPROOF_LOAD(SM75_U16x2_LDSM_T, "ldmatrix.x1.trans");
  SWIZPROOF_LOAD(SM75_U16x4_LDSM_T, "ldmatrix.x2.trans");
  SWIZPROOF_LOAD(SM75_U16x8_LDSM_T, "ldmatrix.x4.trans");
  SWIZPROOF_STORE(SM90_U32x1_STSM_N, "stmatrix.x1");
  SWIZPROOF_STORE(SM90_U32x2_STSM_N, "stmatrix.x2");
  SWIZPROOF_STORE(SM90_U32x4_STSM_N, "stmatrix.x4");
  SWIZPROOF_STORE(SM90_U16x2_STSM_T, "stmatrix.x1.trans");
  SWIZPROOF_STORE(SM90_U16x4_STSM_T, "stmatrix.x2.trans");
  SWIZPROOF_STORE(SM90_U16x8_STSM_T, "stmatrix.x4.trans");
#undef SWIZPROOF_LOAD
#undef SWIZPROOF_STORE
  return all;
}

void add_traits(std::vector<Claim>& claims, std::string const& name, std::string const& domain,
                std::string const& source, std::vector<Question> (*questions)(Damage)) {
  claims.push_back({"fragment/cute::" + name,
                    {name + " of the CUTLASS checkout have the layouts that PTX's formulas say",
                     [=] { return questions(unharmed); }},
                    domain,
                    source,
                    {"with thread 1 where thread 0 is", [=] { return questions(wrong_by_a_thread); }}});
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

void add_cutlass_fragments(std::vector<Claim>& claims) {
  add_traits(claims, "MMA_Traits", "19 atoms of mma: every lane and value of A, B and C",
             "include/cute/atom/mma_traits_sm75, sm80, sm89, sm90 of the checkout", atoms_of_mma);
  add_traits(claims, "MMA_Traits of wgmma",
             "6 atoms with A from registers: every thread and value of A and C",
             "include/cute/atom/mma_traits_sm90_gmma of the checkout", atoms_of_wgmma);
  add_traits(claims, "Copy_Traits", "the 12 atoms of ldmatrix and stmatrix: every lane and bit",
             "include/cute/atom/copy_traits_sm75 and sm90 of the checkout", atoms_of_copies);
}

}  // namespace swizproof::proofs
