// NVIDIA's own descriptors: what CUTLASS's make_gmma_desc (sm_90) and make_umma_desc (sm_100) give for the tile of one
// instruction, for each canonical layout, element size, tile and order of the atoms. A JSON line each:
//
//   {"call": "make_gmma_desc", "tile": "Sw<3,4,3> o smem_ptr[16b](unset) o ...", "element": "f16", "major": "k", "mn": 64, "k": 16,
//    "leading_byte_offset": 16, "stride_byte_offset": 1024, "base_offset": 0, "layout_type": 1, "descriptor": "0x4000004000010000", ...}
//
// The offsets are in bytes; the address is 0. Compiled for the host, where a shared-memory address is 0 and CUTLASS says so
// on standard output: that is thrown away. Built where SWIZPROOF_CUTLASS_DIR names a checkout.
#include <cute/tensor.hpp>

#include <cute/arch/mma_sm100_desc.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace {

using namespace cute;

/// Standard output of a call.
template <class Call>
std::string written_by(Call&& call) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const before = stdout;
  stdout = open_memstream(&text, &size);
  call();
  std::fclose(stdout);
  stdout = before;
  std::string const result(text, size);
  std::free(text);
  return result;
}

template <class T>
constexpr char const* element = sizeof(T) == 1   ? "i8"
                                : sizeof(T) == 2 ? "f16"
                                                 : "tf32";

struct Case {
  char const *call, *atom, *element, *major, *order;
  std::string tile;
  int mn, k;
};

void print_line(Case const& c, std::uint64_t descriptor, unsigned type) {
  std::printf(
      "{\"call\": \"%s\", \"atom\": \"%s\", \"order\": \"%s\", \"tile\": \"%s\", \"element\": \"%s\", "
      "\"major\": \"%s\", "
      "\"mn\": %d, \"k\": %d, \"leading_byte_offset\": %u, \"stride_byte_offset\": %u, \"base_offset\": %u, "
      "\"layout_type\": %u, \"descriptor\": \"0x%016llx\"}\n",
      c.call, c.atom, c.order, c.tile.c_str(), c.element, c.major, c.mn, c.k,
      static_cast<unsigned>(descriptor >> 16 & 0x3fff) * 16,
      static_cast<unsigned>(descriptor >> 32 & 0x3fff) * 16, static_cast<unsigned>(descriptor >> 49 & 7),
      type, static_cast<unsigned long long>(descriptor));
}

/// Both calls on the first instruction's tile of MN x K elements. What is no canonical layout of sm_90 is not asked of it.
template <bool KMajor, bool Gmma, int MN, int K, class T, class Layout>
void ask(Case c, Layout const& layout) {
  alignas(1024) static T memory[1];
  auto const whole = make_tensor(make_smem_ptr(memory), layout);
  auto const part = local_tile(whole, Shape<Int<MN>, Int<K>>{}, make_coord(_0{}, _0{}));
  c.mn = MN, c.k = K;
  std::uint64_t descriptor = 0;
  if constexpr (Gmma) {
    c.call = "make_gmma_desc";
    constexpr auto major = KMajor ? SM90::GMMA::Major::K : SM90::GMMA::Major::MN;
    (void)written_by([&] { descriptor = SM90::GMMA::make_gmma_desc<major>(part); });
    print_line(c, descriptor, static_cast<unsigned>(descriptor >> 62));
  }
  c.call = "make_umma_desc";
  constexpr auto major = KMajor ? UMMA::Major::K : UMMA::Major::MN;
  (void)written_by([&] { descriptor = UMMA::make_umma_desc<major>(part); });
  print_line(c, descriptor, static_cast<unsigned>(descriptor >> 61));
}

/// A tile of an atom in one order, as large as what one instruction reads and larger.
template <bool KMajor, bool Gmma, int MN, int K, class T, class Order, class Atom>
void ask_tile(char const* name, char const* order, Atom const& atom) {
  constexpr int k = 32 / sizeof(T);  // of one instruction
  if constexpr (MN % size<0>(Atom{}) == 0 && K % size<1>(Atom{}) == 0) {
    auto const layout = tile_to_shape(atom, Shape<Int<MN>, Int<K>>{}, Order{});
    Case const c{"", name, element<T>, KMajor ? "k" : "mn", order, written_by([&] { print(layout); }), 0, 0};
    if constexpr (MN >= 64 && 64 % size<0>(Atom{}) == 0) ask<KMajor, Gmma, 64, k, T>(c, layout);
    if constexpr (MN > 64 || 64 % size<0>(Atom{}) != 0) ask<KMajor, Gmma, MN, k, T>(c, layout);
  }
}

template <bool KMajor, bool Gmma, class T, class Atom>
void ask_atom(char const* name, Atom const& atom) {
  constexpr int row = 128 / sizeof(T);  // elements of 128 bytes
  ask_tile<KMajor, Gmma, 64, row, T, Step<_1, _2>>(name, "1,2", atom);
  ask_tile<KMajor, Gmma, 64, row, T, Step<_2, _1>>(name, "2,1", atom);
  ask_tile<KMajor, Gmma, 128, 2 * row, T, Step<_1, _2>>(name, "1,2", atom);
  ask_tile<KMajor, Gmma, 128, 2 * row, T, Step<_2, _1>>(name, "2,1", atom);
  ask_tile<KMajor, Gmma, 256, 32 / sizeof(T), T, Step<_1, _2>>(name, "1,2", atom);
  ask_tile<KMajor, Gmma, 256, 32 / sizeof(T), T, Step<_2, _1>>(name, "2,1", atom);
}

template <class T>
void ask_type() {
  namespace G = SM90::GMMA;
  ask_atom<true, true, T>("K_INTER", G::Layout_K_INTER_Atom<T>{});
  ask_atom<true, true, T>("K_SW32", G::Layout_K_SW32_Atom<T>{});
  ask_atom<true, true, T>("K_SW64", G::Layout_K_SW64_Atom<T>{});
  ask_atom<true, true, T>("K_SW128", G::Layout_K_SW128_Atom<T>{});
  ask_atom<false, true, T>("MN_INTER", G::Layout_MN_INTER_Atom<T>{});
  ask_atom<false, true, T>("MN_SW32", G::Layout_MN_SW32_Atom<T>{});
  ask_atom<false, true, T>("MN_SW64", G::Layout_MN_SW64_Atom<T>{});
  ask_atom<false, true, T>("MN_SW128", G::Layout_MN_SW128_Atom<T>{});
  ask_atom<false, false, T>("MN_SW128_32B", UMMA::Layout_MN_SW128_32B_Atom<T>{});
}

}  // namespace

int main() {
  ask_type<std::int8_t>();
  ask_type<half_t>();
  ask_type<tfloat32_t>();
}
