// One case of `copies`: the wavefronts of swizproof/cute.hpp and those of a loop over CuTe's partition of a counting tensor, and the
// text that print_obligation and print(TiledCopy) give. The loop and its banks are a reference model: they share no code with swizproof.
#pragma once

#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>
#include <swizproof/cute.hpp>

#include <cstdint>
#include <cstdio>
#include <set>
#include <vector>

using namespace cute;
namespace sp = swizproof;

namespace reference {

constexpr int split = -1, other_slices = -3;

/// An instruction: load, store, matrices or asynchronous copy, with the bytes of a lane.
struct Access {
  char kind;  // l, s, m, c
  int bytes, matrices;
};

/// Wavefronts on sm_90 (gpu/README.md, H1 to H7). at[lane] is a byte address, or -1 of a lane that takes no part.
inline int wavefronts(Access const& access, std::vector<std::int64_t> const& at) {
  int lanes = access.kind == 'm' || access.bytes == 16 ? 8 : access.bytes == 8 ? 16 : 32;
  bool merged = false;
  for (int bit = 1; bit <= 2 && access.kind == 'l' && access.bytes >= 8; bit *= 2) {
    bool all = true;
    for (int l = 0; l < 32; ++l) all = all && (at[l] < 0 || at[l ^ bit] < 0 || at[l] == at[l ^ bit]);
    merged = merged || all;
  }
  if (merged) lanes *= 2;
  int const phases = access.kind == 'm' ? access.matrices : 32 / lanes;
  int sum = 0;
  for (int phase = 0; phase < phases; ++phase) {
    std::multiset<std::int64_t> words[32];
    for (int l = phase * lanes; l < (phase + 1) * lanes; ++l)
      for (int byte = 0; at[l] >= 0 && byte < access.bytes; byte += 4) {
        auto& of = words[(at[l] + byte) / 4 % 32];
        if (access.kind == 'c' || of.count((at[l] + byte) / 4) == 0) of.insert((at[l] + byte) / 4);
      }
    std::size_t most = 0;
    for (auto const& of : words) most = of.size() > most ? of.size() : most;
    sum += int(most);
  }
  if (access.kind == 'c') return sum > 1 ? sum : 1;
  return access.kind != 'm' && sum < phases ? phases : sum;
}

/// Sw<B,M,S>, one bit after the other.
inline std::int64_t swizzled(int b, int m, int s, std::int64_t x) {
  std::int64_t out = x;
  for (int i = 0; i < b; ++i) {
    int const from = s > 0 ? m + s + i : m + i, to = s > 0 ? m + i : m - s + i;
    out ^= (x >> from & 1) << to;
  }
  return out;
}

/// The tensor whose elements are their own offsets, and the swizzle of bytes that is left.
template <class Layout>
auto counting(Layout const& layout) {
  return make_tensor(counting_iterator<int>{0}, layout);
}
template <class F, int Bits, class Inner>
auto counting(ComposedLayout<F, smem_ptr_flag_bits<Bits>, Inner> const& layout) {
  return make_tensor(counting_iterator<int>{0}, layout.layout_b());
}
template <class Layout>
std::int64_t on_bytes(Layout const&, std::int64_t x) {
  return x;
}
template <int B, int M, int S, int Bits, class Inner>
std::int64_t on_bytes(ComposedLayout<Swizzle<B, M, S>, smem_ptr_flag_bits<Bits>, Inner> const&,
                      std::int64_t x) {
  return swizzled(B, M, S, x);
}

/// offsets[thread][tile][value]
template <bool Source, class Copy, class Layout>
std::vector<std::vector<std::vector<std::int64_t>>> offsets(Copy const& copy, Layout const& layout) {
  auto const tensor = counting(layout);
  std::vector<std::vector<std::vector<std::int64_t>>> all(size(typename Copy::TiledNumThr{}));
  for (int thread = 0; thread < int(all.size()); ++thread) {
    auto const part = [&] {
      if constexpr (Source)
        return copy.get_slice(thread).partition_S(tensor);
      else
        return copy.get_slice(thread).partition_D(tensor);
    }();
    auto const tiles = group_modes<1, decltype(rank(part))::value>(part);
    for (int tile = 0; tile < int(size<1>(tiles)); ++tile) {
      all[thread].emplace_back();
      for (int value = 0; value < int(size<0>(tiles)); ++value)
        all[thread].back().push_back(tiles(value, tile));
    }
  }
  return all;
}

/// The most wavefronts of an instruction of this side, or `split`.
template <bool Source, class Copy, class Layout>
int worst(Copy const& copy, Layout const& layout, Access const& access, int bits) {
  // Stores need an address for each element.
  std::set<std::int64_t> places;
  for (int i = 0; !Source && i < int(size(layout)); ++i)
    if (!places.insert(layout(i)).second) return split;
  auto const at = offsets<Source>(copy, layout);
  int const each = 8 * access.bytes / bits, lanes = access.kind == 'm' ? 8 * access.matrices : 32;
  int most = 0;
  for (std::size_t warp = 0; warp < at.size(); warp += 32)
    for (std::size_t tile = 0; tile < at[0].size(); ++tile)
      for (std::size_t from = 0; from + each <= at[0][0].size(); from += each) {
        std::vector<std::int64_t> address(32, -1);
        for (int lane = 0; lane < lanes && warp + lane < at.size(); ++lane) {
          auto const& value = at[warp + lane][tile];
          std::int64_t const first = value[from] * bits;
          if (first % 8 != 0) return split;
          address[lane] = on_bytes(layout, first / 8);
          if (address[lane] % access.bytes != 0) return split;
          for (int bit = 0; bit < 8 * access.bytes; ++bit) {
            std::int64_t const mine = value[from + bit / bits] * bits + bit % bits;
            if (8 * on_bytes(layout, mine / 8) + mine % 8 != 8 * address[lane] + bit) return split;
          }
        }
        int const found = wavefronts(access, address);
        most = found > most ? found : most;
      }
  return most;
}

/// True if CuTe's partition is of the elements that the layout has at the coordinates of the same partition.
template <bool Source, class Copy, class Layout>
bool slices_are_right(Copy const& copy, Layout const& layout) {
  auto const tensor = counting(layout);
  auto const found = offsets<Source>(copy, layout);
  auto const indices = offsets<Source>(copy, make_layout(product_each(tensor.layout().shape())));
  for (std::size_t t = 0; t < found.size(); ++t)
    for (std::size_t r = 0; r < found[t].size(); ++r)
      for (std::size_t v = 0; v < found[t][r].size(); ++v)
        if (found[t][r][v] != tensor.layout()(int(indices[t][r][v]))) return false;
  return true;
}

}  // namespace reference

inline int wavefronts_of(sp::CuteReport const& report) {
  if (report.fault == sp::CuteFault::carries) return reference::other_slices;
  return report.fault == sp::CuteFault::none ? int(report.wavefronts) : reference::split;
}

/// Asserted: the compiler's number is the one that is computed when the program runs.
template <class Side, class Element, class Layout, bool Asserted>
int compiled() {
  if constexpr (Asserted)
    return wavefronts_of(sp::report_of<Side, Element, Layout>);
  else
    return -2;
}

template <bool Asserted, bool Source, class Instruction, class Element, class Copy, class Layout>
void run(int number, Copy const& copy, Layout const& layout) {
  using Side =
      std::conditional_t<Source, sp::source_of<Copy, Instruction>, sp::destination_of<Copy, Instruction>>;
  constexpr sp::Instruction its = Side::Instruction::value;
  constexpr int bits = sizeof_bits<Element>::value;
  char const kind = its.matrices != 0                           ? 'm'
                    : its.operation == sp::Operation::cp_async  ? 'c'
                    : its.operation == sp::Operation::ld_shared ? 'l'
                                                                : 's';
  std::printf("# case %d header %d compiled %d partition %d right %d\n", number,
              wavefronts_of(sp::examine<Side, Element>(layout)), compiled<Side, Element, Layout, Asserted>(),
              reference::worst<Source>(copy, layout, {kind, int(its.bytes), int(its.matrices)}, bits),
              int(reference::slices_are_right<Source>(copy, layout)));
  sp::print_obligation<Side, Element>("case", layout);
  std::printf("# copy\n");
  print(copy);
  std::printf("\n# end\n");
}
