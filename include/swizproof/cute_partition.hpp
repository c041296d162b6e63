// The addresses of a copy, as integers: CuTe's own partition of the layout, then its swizzles. Part of swizproof/cute.hpp.
//
//   TiledCopy::tidfrg_S(layout)  ->  offset = thread[t] + value[v] + tile(r)  ->  swizzles of elements  ->  byte  ->  swizzles of bytes
//
// CuTe is called once for each side of a copy and each layout. The rest is arithmetic on arrays of integers, which compilers evaluate
// fast. Instructions whose addresses differ by a multiple of the period from those of an earlier one are not evaluated again.
// Checked by tests/cutlass/copies: the wavefronts of random copies equal those of the command and of a loop over partition_S.
#pragma once

#include <cute/atom/copy_atom.hpp>
#include <cute/layout.hpp>
#include <cute/layout_composed.hpp>
#include <cute/pointer_flagged.hpp>
#include <cute/swizzle_layout.hpp>

#include <swizproof/core/swizzle.hpp>
#include <swizproof/hardware/bank.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace swizproof {

/// Reasons other than its cost for which an access is refused.
enum class CuteFault : std::uint8_t {
  none,
  split,       ///< the elements of a lane's vector do not follow each other
  misaligned,  ///< an address is no multiple of the vector's bytes
  outside,     ///< a lane map's vector leaves the tile
  shared,      ///< stores to elements that share an address: a stride of 0
  remainder,   ///< the copy's tile does not divide a layout that is known when the program runs
  carries,  ///< offsets of a swizzled layout carry into its bits: CuTe's slices may address other elements than the layout
};

namespace detail {

/// A plain layout as integers: leaves of shape and stride, the leftmost fastest.
template <int Leaves>
struct Strided {
  std::int64_t extent[Leaves + 1] = {};
  std::int64_t stride[Leaves + 1] = {};

  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t all = 1;
    for (int i = 0; i < Leaves; ++i) all *= extent[i];
    return all;
  }
  /// True if elements share an offset by a stride of 0.
  [[nodiscard]] constexpr bool broadcasts() const {
    for (int i = 0; i < Leaves; ++i)
      if (extent[i] > 1 && stride[i] == 0) return true;
    return false;
  }
  /// The offset of a plain index. (4,8):(8,1) of 5 is 9.
  [[nodiscard]] constexpr std::int64_t operator()(std::int64_t index) const {
    std::int64_t offset = 0;
    for (int i = 0; i < Leaves; ++i) {
      offset += index % extent[i] * stride[i];
      index /= extent[i];
    }
    return offset;
  }
};

template <class Shape, class Stride, int... I>
constexpr auto strided(Shape const& shape, Stride const& stride, std::integer_sequence<int, I...>) {
  return Strided<int(sizeof...(I))>{{std::int64_t(cute::get<I>(shape))..., 1},
                                    {std::int64_t(cute::get<I>(stride))..., 0}};
}
template <int Leaves>
constexpr std::integral_constant<int, Leaves> leaves(Strided<Leaves> const&) {
  return {};
}
template <class Layout>
constexpr auto strided(Layout const& layout) {
  auto const shape = cute::flatten_to_tuple(layout.shape());
  return strided(shape, cute::flatten_to_tuple(layout.stride()),
                 std::make_integer_sequence<int, decltype(cute::rank(shape))::value>{});
}

/// The innermost layout: offsets before any swizzle.
template <class Shape, class Stride>
constexpr auto plain_of(cute::Layout<Shape, Stride> const& layout) {
  return layout;
}
template <class F, class Offset, class Inner>
constexpr auto plain_of(cute::ComposedLayout<F, Offset, Inner> const& layout) {
  return plain_of(layout.layout_b());
}

/// A function that a layout is composed with, on words, and the least P with f(x + P) = f(x) + P; 0 where P is not known.
template <class F>
struct Composed {
  static constexpr std::uint64_t period = 0;
  static constexpr bool keeps(unsigned) { return false; }
  static constexpr bool adds_without_carry(std::uint64_t, std::uint64_t) { return true; }
  static constexpr std::int64_t apply(F const& f, std::int64_t x) { return std::int64_t(f(int(x))); }
};
template <int B, int M, int S>
struct Composed<cute::Swizzle<B, M, S>> {
  static constexpr Swizzle swizzle{B, M, S};
  static constexpr std::uint64_t period = swizzle.period();
  /// True if every aligned block of `bytes` moves as a whole.
  static constexpr bool keeps(unsigned bytes) { return B == 0 || std::uint64_t{1} << M >= bytes; }
  static constexpr bool adds_without_carry(std::uint64_t a, std::uint64_t b) {
    return swizzle.adds_without_carry(a, b);
  }
  static constexpr std::int64_t apply(cute::Swizzle<B, M, S> const&, std::int64_t x) {
    return std::int64_t(std::int32_t(swizzle(std::uint32_t(x))));
  }
};

constexpr std::uint64_t larger_period(std::uint64_t a, std::uint64_t b) {
  return a == 0 || b == 0 ? 0 : a > b ? a : b;
}

/// The functions that a layout applies to its innermost offsets: of elements, then of byte addresses (smem_ptr).
template <class Layout>
struct Functions {
  static constexpr std::uint64_t elements = 1, bytes = 1;  ///< periods, in their units
  static constexpr int flag = 0;                           ///< bits of the smem_ptr flag
  static constexpr bool keeps(unsigned) { return true; }
  /// True if no sum of offsets that have these bits carries under a swizzle of elements.
  static constexpr bool adds_without_carry(std::uint64_t, std::uint64_t) { return true; }
  static constexpr std::uint64_t offset_bits(Layout const&) { return 0; }
  static constexpr std::int64_t on_elements(Layout const&, std::int64_t x) { return x; }
  static constexpr std::int64_t on_bytes(Layout const&, std::int64_t x) { return x; }
};
template <class F, class Offset, class Inner>
struct Functions<cute::ComposedLayout<F, Offset, Inner>> {
  using Layout = cute::ComposedLayout<F, Offset, Inner>;
  static_assert(Functions<Inner>::flag == 0, "a function of elements acts on a layout of smem_ptr");
  static constexpr std::uint64_t elements = larger_period(Composed<F>::period, Functions<Inner>::elements),
                                 bytes = 1;
  static constexpr int flag = 0;
  static constexpr bool keeps(unsigned) { return true; }
  static constexpr bool adds_without_carry(std::uint64_t a, std::uint64_t b) {
    return Composed<F>::adds_without_carry(a, b) && Functions<Inner>::adds_without_carry(a, b);
  }
  static constexpr std::uint64_t offset_bits(Layout const& layout) {
    return std::uint64_t(std::int64_t(layout.offset())) | Functions<Inner>::offset_bits(layout.layout_b());
  }
  static constexpr std::int64_t on_elements(Layout const& layout, std::int64_t x) {
    return Composed<F>::apply(layout.layout_a(), std::int64_t(layout.offset()) +
                                                     Functions<Inner>::on_elements(layout.layout_b(), x));
  }
  static constexpr std::int64_t on_bytes(Layout const&, std::int64_t x) { return x; }
};
template <class F, int Bits, class Inner>
struct Functions<cute::ComposedLayout<F, cute::smem_ptr_flag_bits<Bits>, Inner>> {
  using Layout = cute::ComposedLayout<F, cute::smem_ptr_flag_bits<Bits>, Inner>;
  static_assert(Functions<Inner>::flag == 0, "two smem_ptr flags in one layout");
  static constexpr std::uint64_t elements = Functions<Inner>::elements, bytes = Composed<F>::period;
  static constexpr int flag = Bits;
  static constexpr bool adds_without_carry(std::uint64_t a, std::uint64_t b) {
    return Functions<Inner>::adds_without_carry(a, b);
  }
  static constexpr std::uint64_t offset_bits(Layout const& layout) {
    return Functions<Inner>::offset_bits(layout.layout_b());
  }
  static constexpr bool keeps(unsigned size) { return Composed<F>::keeps(size); }
  static constexpr std::int64_t on_elements(Layout const& layout, std::int64_t x) {
    return Functions<Inner>::on_elements(layout.layout_b(), x);
  }
  static constexpr std::int64_t on_bytes(Layout const& layout, std::int64_t x) {
    return Composed<F>::apply(layout.layout_a(), x);
  }
};

/// The vector of one lane: `bytes` from `address` on.
struct CuteLane {
  bool active = true;
  CuteFault fault = CuteFault::none;
  std::uint32_t address = 0;
};

/// A tile that begins at address 0: where the layout keeps each bit of an element.
template <class Element, class SmemLayout>
struct CuteTile {
  using Function = Functions<SmemLayout>;
  static constexpr int bits = cute::sizeof_bits<Element>::value;
  static_assert(Function::flag == 0 || Function::flag == bits,
                "the layout's smem_ptr flag is of another element type");
  SmemLayout layout{};

  /// Elements after which all addresses repeat, a multiple of all banks further on; 0 where that is not known.
  [[nodiscard]] static constexpr std::int64_t period() {
    std::uint64_t const row_bits = 8 * larger_period(usual_banks.row(), Function::bytes);
    std::uint64_t shared = 1;  // with row_bits, a power of two
    while (shared < row_bits && bits % (2 * shared) == 0) shared *= 2;
    std::uint64_t const all = larger_period(row_bits / shared, Function::elements);
    return all < std::uint64_t{1} << 31 ? std::int64_t(all) : 0;
  }

  /// `offset(i)`: the innermost layout's offset of value i of a lane. Every byte of each element is compared with where the instruction
  /// accesses it, of elements below a byte the first bit.
  template <class Offset>
  [[nodiscard]] constexpr CuteLane vector_of(unsigned bytes, Offset const& offset) const {
    constexpr int even = bits & -bits,
                  shared = even < 8 ? even : 8;  // the largest step that meets every byte
    constexpr int step = bits == even && bits >= 8 && Function::keeps(bits / 8) ? bits : shared;
    CuteLane lane{};
    std::int64_t const first = bit_of(offset(0), 0);
    lane.address = std::uint32_t(first >> 3);
    for (unsigned i = 0; i < 8 * bytes / bits; ++i)
      for (int bit = 0; bit < bits; bit += step)
        if (bit_of(offset(i), bit) != (first & ~std::int64_t{7}) + std::int64_t(i) * bits + bit)
          lane.fault = CuteFault::split;
    if (lane.fault == CuteFault::none && lane.address % bytes != 0) lane.fault = CuteFault::misaligned;
    return lane;
  }

 private:
  /// The bit address of a bit of the element at this offset.
  [[nodiscard]] constexpr std::int64_t bit_of(std::int64_t offset, int bit) const {
    std::int64_t const at = Function::on_elements(layout, offset) * bits + bit;
    return 8 * Function::on_bytes(layout, at >> 3) + (at & 7);
  }
};

/// The lanes of one instruction; the first fault, with its lane.
struct CuteWarp {
  WarpAccess<std::uint32_t> access{};
  CuteFault fault = CuteFault::none;
  unsigned lane = 0;
};

template <class Lanes>
constexpr CuteWarp warp_of(Instruction const& instruction, Lanes const& lanes) {
  CuteWarp warp{};
  for (unsigned lane = 0; lane < instruction.lanes(); ++lane) {
    CuteLane const one = lanes(lane);
    warp.access.active[lane] = one.active;
    warp.access.address[lane] = one.address;
    if (!one.active || warp.fault != CuteFault::none || one.fault == CuteFault::none) continue;
    warp.fault = one.fault;
    warp.lane = lane;
  }
  return warp;
}

/// The instructions of one side of a copy. Of those whose addresses are an earlier one's, moved by a multiple of the period, the first.
template <class Element, class SmemLayout, unsigned Threads, unsigned Values, int Rest>
struct CopyInstructions {
  static constexpr unsigned all_warps = (Threads + warp_lanes - 1) / warp_lanes;

  Instruction instruction{};
  CuteTile<Element, SmemLayout> tile{};
  Strided<Rest> rest{};
  CuteFault fault = CuteFault::none;
  std::int64_t thread[Threads] = {};
  std::int64_t value[Values] = {};
  unsigned each = 1;                ///< values of one instruction
  unsigned warps = 0, vectors = 0;  ///< numbers of warps and vectors that differ
  unsigned warp_number[all_warps] = {}, vector_number[Values] = {};
  std::int64_t differ[Rest + 1] = {};  ///< tiles that differ, for each leaf of `rest`

  /// Instructions to evaluate: the others have their wavefronts.
  [[nodiscard]] constexpr unsigned count() const {
    std::int64_t all = std::int64_t(warps) * vectors;
    for (int i = 0; i < Rest; ++i) all *= differ[i];
    return unsigned(all);
  }
  /// The number of one of them, in the order of tiles, warps and values.
  [[nodiscard]] constexpr unsigned number(unsigned i) const {
    unsigned const vector = vector_number[i % vectors], warp = warp_number[i / vectors % warps];
    return unsigned((rest_index(i / vectors / warps) * all_warps + warp) * (Values / each) + vector);
  }
  [[nodiscard]] constexpr CuteWarp warp(unsigned i) const {
    unsigned const first = warp_number[i / vectors % warps] * warp_lanes,
                   from = vector_number[i % vectors] * each;
    std::int64_t const moved = rest(rest_index(i / vectors / warps));
    return warp_of(instruction, [&](unsigned lane) {
      if (first + lane >= Threads) return CuteLane{false, CuteFault::none, 0};
      return tile.vector_of(instruction.bytes,
                            [&](unsigned j) { return moved + thread[first + lane] + value[from + j]; });
    });
  }

  /// Finds what differs. Precondition: all tables are set.
  constexpr void count_distinct() {
    std::int64_t const period = tile.period();
    for (unsigned w = 0; w < all_warps; ++w) {
      bool found = false;
      for (unsigned i = 0; i < warps && !found; ++i)
        found = is_moved(thread, Threads, warp_number[i], w, warp_lanes);
      if (!found) warp_number[warps++] = w;
    }
    for (unsigned v = 0; v < Values / each; ++v) {
      bool found = false;
      for (unsigned i = 0; i < vectors && !found; ++i)
        found = is_moved(value, Values, vector_number[i], v, each);
      if (!found) vector_number[vectors++] = v;
    }
    for (int i = 0; i < Rest; ++i) {
      // n steps of d come back to a multiple of the period after period / gcd(d, period); the period is a power of two.
      std::int64_t steps = period == 0 ? rest.extent[i] : period;
      for (std::int64_t d = rest.stride[i]; period != 0 && steps > 1 && d % 2 == 0; d /= 2) steps /= 2;
      differ[i] = steps < rest.extent[i] ? steps : rest.extent[i];
    }
  }

 private:
  /// True if entries [size b, size b + size) are those of a, moved by a multiple of the period.
  [[nodiscard]] constexpr bool is_moved(std::int64_t const* table, unsigned entries, unsigned a, unsigned b,
                                        unsigned size) const {
    std::int64_t const period = tile.period(), by = table[size * b] - table[size * a];
    if (by != 0 && (period == 0 || by % period != 0)) return false;
    for (unsigned i = 0; i < size; ++i) {
      unsigned const left = size * a + i, right = size * b + i;
      if ((left < entries) != (right < entries)) return false;
      if (right < entries && table[right] - table[left] != by) return false;
    }
    return true;
  }
  /// The plain index into `rest` of tile number i of those that differ.
  [[nodiscard]] constexpr std::int64_t rest_index(std::int64_t i) const {
    std::int64_t index = 0, step = 1;
    for (int leaf = 0; leaf < Rest; ++leaf) {
      index += i % differ[leaf] * step;
      i /= differ[leaf];
      step *= rest.extent[leaf];
    }
    return index;
  }
};

/// The instructions of a lane map: Map::coordinate(number, lane) is the first element of a vector.
template <class Map, class Element, class SmemLayout>
struct MappedInstructions {
  Instruction instruction{};
  CuteTile<Element, SmemLayout> tile{};
  static constexpr CuteFault fault = CuteFault::none;

  [[nodiscard]] constexpr unsigned count() const { return Map::instructions; }
  [[nodiscard]] constexpr unsigned number(unsigned i) const { return i; }
  [[nodiscard]] constexpr CuteWarp warp(unsigned i) const {
    auto const plain = plain_of(tile.layout);
    static_assert(decltype(cute::rank(plain))::value == 2,
                  "a lane map's coordinate is (row, column): the layout has other modes");
    auto const rows = strided(cute::get<0>(plain));
    auto const columns = strided(cute::get<1>(plain));
    constexpr int bits = cute::sizeof_bits<Element>::value;
    std::int64_t const last = std::int64_t(8 * instruction.bytes / bits) - 1;
    return warp_of(instruction, [&](unsigned lane) {
      auto const at = Map::coordinate(int(i), int(lane));
      std::int64_t const row = int(cute::get<0>(at)), column = int(cute::get<1>(at));
      if (row < 0 || column < 0 || row + (Map::along_row ? 0 : last) >= rows.size() ||
          column + (Map::along_row ? last : 0) >= columns.size())
        return CuteLane{true, CuteFault::outside, 0};
      return tile.vector_of(instruction.bytes, [&](unsigned j) {
        return Map::along_row ? rows(row) + columns(column + j) : rows(row + j) + columns(column);
      });
    });
  }
};

/// CuTe's partition of a plain layout: (thread, value, rest) -> offset.
template <class TiledCopy, bool Source, class Layout>
constexpr auto partitioned(Layout const& layout) {
  auto const parts = [&] {
    if constexpr (Source)
      return TiledCopy::tidfrg_S(layout);
    else
      return TiledCopy::tidfrg_D(layout);
  }();
  static_assert(decltype(cute::rank(parts))::value == 3,
                "CuTe's partition has other modes than (thread, value, rest)");
  return parts;
}

/// True if the copy's tiles cover the layout exactly: a constant where its shape is static.
template <class TiledCopy, class Layout>
constexpr auto divides(Layout const& layout) {
  auto const extents = cute::product_each(layout.shape());
  return cute::size(cute::zipped_divide(cute::make_layout(extents), typename TiledCopy::Tiler_MN{})) ==
         cute::size(layout);
}

/// True if no bit under a swizzle of elements is reached by two leaves of these, or by one and the layout's offset: CuTe takes each
/// through the swizzle by itself. Sets `reached` to all bits.
template <class SmemLayout, int Leaves>
constexpr bool adds_without_carry(std::uint64_t& reached, Strided<Leaves> const& part) {
  for (int leaf = 0; leaf < Leaves; ++leaf) {
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < part.extent[leaf]; ++i) bits |= std::uint64_t(i * part.stride[leaf]);
    if (!Functions<SmemLayout>::adds_without_carry(reached, bits)) return false;
    reached |= bits;
  }
  return true;
}

/// True if CuTe's partition is the one of the coordinates: its composition is another function where run-time extents do not divide.
template <class TiledCopy, bool Source, class Layout, class Parts>
bool keeps_coordinates(Layout const& layout, Parts const& parts) {
  auto const whole = cute::make_layout(cute::product_each(layout.shape()));
  auto const offsets = strided(layout);
  auto const indices = partitioned<TiledCopy, Source>(whole);
  auto const thread = strided(cute::get<0>(indices));
  auto const value = strided(cute::get<1>(indices));
  auto const rest = strided(cute::get<2>(indices));
  auto const at = strided(cute::get<0>(parts));
  auto const of = strided(cute::get<1>(parts));
  auto const in = strided(cute::get<2>(parts));
  if (rest.size() != in.size()) return false;
  for (std::int64_t t = 0; t < thread.size(); ++t)
    for (std::int64_t v = 0; v < value.size(); ++v)
      for (std::int64_t r = 0; r < rest.size(); ++r)
        if (offsets(thread(t) + value(v) + rest(r)) != at(t) + of(v) + in(r)) return false;
  return true;
}

}  // namespace detail

}  // namespace swizproof
