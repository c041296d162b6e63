// CuTe's own types, compared with the cost model while the kernel is compiled. C++17, for g++, clang and nvcc (--expt-relaxed-constexpr).
//
//   #include <cute/tensor.hpp>
//   #include <swizproof/cute.hpp>
//
//   using Smem = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_128, _64>, Stride<_64, _1>>{}));
//   static_assert(swizproof::conflict_free<swizproof::source_of<SmemToRegisters>, half_t, Smem>);
//
// An *access* is a type: what every lane of every instruction of a TiledCopy touches of its source or destination, or a lane map
// of one's own. The coordinates are those of CuTe's partition_S and partition_D (cute_partition.hpp); every thread, value, warp
// (a partial one, too) and tile counts, by the template that is proved and that campaigns asked of devices (hardware/bank.hpp).
// The tile begins at address 0 here; so the answer holds for each base that is a multiple of 128 bytes and of the swizzle's
// period, which `swizproof align` names and `alignas` gives.
//
// Refused are: tiles of a copy that do not divide the layout, values that do not fill vectors, a ValueType of other bits than the
// element, ldmatrix and stmatrix of partial warps, split vectors and elements, stores to a layout with a stride of 0, and swizzled
// layouts whose offsets carry into the swizzle's bits, as `Sw<3,2,3> o _8 o (64,64):(64,1)` has: CuTe takes the parts of a sum through
// the swizzle one by one, so its partition is of other elements than the layout.
//
// An assertion on the layout (128,64,3) of CuTe's sgemm_sm80 takes g++ 12 0.8 s and 0.05 GB above headers and types, three take 1.3 s and
// 0.12 GB; nvcc 13 2.9 s and 0.15 GB, three 4.1 s and 0.29 GB. CuTe's partition is four fifths of it. Tiles and stages cost nothing:
// only patterns that differ are evaluated (tests/cutlass/cost).
//
// An assertion that fails names what was found in the compiler's message, as the arguments of bank_conflict<>:
//
//   bank_conflict<false, said::instruction<0>, said::wavefronts<32>, said::ideal<4>, said::phase<0>, said::bank<0>,
//                 said::lanes<0, 1, 2, 3, 4, 5, 6, 7>, said::addresses<0, 128, 256, 384, 512, 640, 768, 896>>
#pragma once

#include <swizproof/cute_partition.hpp>
#include <swizproof/hardware/architecture.hpp>

namespace swizproof {

/// Instructions as types, by PTX's names: `ptx::ldmatrix<4>`, `ptx::ld_shared<16>` (bytes a lane).
namespace ptx {
template <Operation Op, unsigned Bytes, unsigned Matrices = 0, bool Transposed = false>
struct Instruction {
  static constexpr swizproof::Instruction value{Op, Bytes, Matrices, Transposed};
  static_assert(!name(swizproof::Instruction{Op, Bytes, Matrices, Transposed}).empty(),
                "no such instruction");
};
template <unsigned Bytes>
using ld_shared = Instruction<Operation::ld_shared, Bytes>;
template <unsigned Bytes>
using st_shared = Instruction<Operation::st_shared, Bytes>;
template <unsigned Bytes>
using cp_async = Instruction<Operation::cp_async, Bytes>;
template <unsigned Matrices>
using ldmatrix = Instruction<Operation::ldmatrix, 16, Matrices>;
template <unsigned Matrices>
using ldmatrix_trans = Instruction<Operation::ldmatrix, 16, Matrices, true>;
template <unsigned Matrices>
using stmatrix = Instruction<Operation::stmatrix, 16, Matrices>;
template <unsigned Matrices>
using stmatrix_trans = Instruction<Operation::stmatrix, 16, Matrices, true>;
}  // namespace ptx

/// The most expensive instruction of an access, the first where several cost as much; or the first that is at fault.
struct CuteReport {
  unsigned instruction = 0;  ///< index of the instruction, in the order of tiles, warps and values
  unsigned wavefronts = 0;
  unsigned ideal = 0;
  unsigned phase = 0;  ///< the fullest phase,
  unsigned bank = 0;   ///< its fullest bank,
  unsigned lanes = 0;  ///< number of lanes that access different words of it:
  unsigned lane[warp_lanes] = {};
  std::uint32_t address[warp_lanes] = {};  ///< bytes, of the word in that bank
  CuteFault fault = CuteFault::none;       ///< fault of the lane in lane[0]

  [[nodiscard]] constexpr bool at_most(unsigned most) const {
    return fault == CuteFault::none && wavefronts <= most;
  }
  [[nodiscard]] constexpr bool conflict_free() const { return at_most(ideal); }
};

namespace detail {

/// Wavefronts; more than any instruction takes for one that is at fault.
constexpr unsigned cost_of(Instruction const& instruction, CuteWarp const& warp) {
  if (warp.fault != CuteFault::none) return 2 * warp_lanes * warp_lanes;
  return swizproof::cost(architectures[0], instruction, warp.access).wavefronts;
}

/// The report of instruction `index` of those that are evaluated.
template <class Instructions>
constexpr CuteReport report_of(Instructions const& all, unsigned index) {
  Instruction const& instruction = all.instruction;
  CuteReport report{};
  report.fault = all.fault;
  if (all.fault != CuteFault::none) return report;
  CuteWarp const warp = all.warp(index);
  report.instruction = all.number(index);
  report.ideal = ideal_wavefronts(architectures[0], instruction);
  report.fault = warp.fault;
  if (warp.fault != CuteFault::none) {
    report.lane[0] = warp.lane;
    report.address[0] = warp.access.address[warp.lane];
    report.lanes = 1;
    return report;
  }
  WarpAccess<std::uint32_t> const& access = warp.access;
  Cost<std::uint32_t> const cost = swizproof::cost(architectures[0], instruction, access);
  report.wavefronts = cost.wavefronts;
  for (unsigned g = 1; g < cost.phases.count; ++g)
    if (cost.degree[g] > cost.degree[report.phase]) report.phase = g;
  // The lanes of the fullest phase that ask for different words of its fullest bank.
  unsigned const first = report.phase * cost.phases.size;
  for (unsigned of = first; of < first + cost.phases.size; ++of) {
    if (!access.active[of]) continue;
    unsigned const bank = access.address[of] / 4 % 32;
    CuteReport met{};
    for (unsigned lane = first; lane < first + cost.phases.size; ++lane) {
      std::uint32_t const low = access.address[lane] / 4,
                          words = instruction.bytes < 4 ? 1 : instruction.bytes / 4;
      std::uint32_t const word = low + (bank + 32 - low % 32) % 32;
      bool known = !access.active[lane] || word >= low + words;
      for (unsigned i = 0; i < met.lanes && instruction.operation != Operation::cp_async; ++i)
        known = known || met.address[i] == 4 * word;
      if (known) continue;
      met.lane[met.lanes] = lane;
      met.address[met.lanes++] = 4 * word;
    }
    if (met.lanes <= report.lanes) continue;
    report.bank = bank;
    report.lanes = met.lanes;
    for (unsigned i = 0; i < met.lanes; ++i) {
      report.lane[i] = met.lane[i];
      report.address[i] = met.address[i];
    }
  }
  return report;
}

/// The instruction of a CopyOp that is a single instruction; void for an unknown CopyOp.
template <class Op>
struct InstructionOf {
  using Source = void;
  using Destination = void;
};
template <class Reads, class Writes>
struct Reading {
  using Source = Reads;
  using Destination = Writes;
};
// clang-format off
template <> struct InstructionOf<cute::SM75_U32x1_LDSM_N> : Reading<ptx::ldmatrix<1>, void> {};
template <> struct InstructionOf<cute::SM75_U32x2_LDSM_N> : Reading<ptx::ldmatrix<2>, void> {};
template <> struct InstructionOf<cute::SM75_U32x4_LDSM_N> : Reading<ptx::ldmatrix<4>, void> {};
template <> struct InstructionOf<cute::SM75_U16x2_LDSM_T> : Reading<ptx::ldmatrix_trans<1>, void> {};
template <> struct InstructionOf<cute::SM75_U16x4_LDSM_T> : Reading<ptx::ldmatrix_trans<2>, void> {};
template <> struct InstructionOf<cute::SM75_U16x8_LDSM_T> : Reading<ptx::ldmatrix_trans<4>, void> {};
template <> struct InstructionOf<cute::SM90_U32x1_STSM_N> : Reading<void, ptx::stmatrix<1>> {};
template <> struct InstructionOf<cute::SM90_U32x2_STSM_N> : Reading<void, ptx::stmatrix<2>> {};
template <> struct InstructionOf<cute::SM90_U32x4_STSM_N> : Reading<void, ptx::stmatrix<4>> {};
template <> struct InstructionOf<cute::SM90_U16x2_STSM_T> : Reading<void, ptx::stmatrix_trans<1>> {};
template <> struct InstructionOf<cute::SM90_U16x4_STSM_T> : Reading<void, ptx::stmatrix_trans<2>> {};
template <> struct InstructionOf<cute::SM90_U16x8_STSM_T> : Reading<void, ptx::stmatrix_trans<4>> {};
template <class S, class D> struct InstructionOf<cute::SM80_CP_ASYNC_CACHEALWAYS<S, D>> : Reading<void, ptx::cp_async<sizeof(S)>> {};
template <class S, class D> struct InstructionOf<cute::SM80_CP_ASYNC_CACHEGLOBAL<S, D>> : Reading<void, ptx::cp_async<sizeof(S)>> {};
template <class S, class D> struct InstructionOf<cute::SM80_CP_ASYNC_CACHEALWAYS_ZFILL<S, D>> : Reading<void, ptx::cp_async<sizeof(S)>> {};
template <class S, class D> struct InstructionOf<cute::SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<S, D>> : Reading<void, ptx::cp_async<sizeof(S)>> {};
template <class S, class D> struct InstructionOf<cute::UniversalCopy<S, D>> : Reading<ptx::ld_shared<sizeof(S)>, ptx::st_shared<sizeof(D)>> {};
// clang-format on

template <class Op, class... Args, class T>
InstructionOf<Op> instruction_of(cute::Copy_Atom<cute::Copy_Traits<Op, Args...>, T> const*);

template <class Given, class Known>
using given_or = std::conditional_t<std::is_void_v<Given>, Known, Given>;

/// One side of a TiledCopy over a layout of shared memory.
template <class TiledCopy, class Instruction_, bool Source>
struct CopySide {
  static_assert(!std::is_void_v<Instruction_>,
                "this copy's operation is no single instruction of shared memory on this side; name it: "
                "source_of<Copy, ptx::ld_shared<16>>");
  using Instruction = Instruction_;

  static constexpr auto thread_values() {
    if constexpr (Source)
      return TiledCopy::get_layoutS_TV();
    else
      return TiledCopy::get_layoutD_TV();
  }
  static constexpr auto tiler() { return typename TiledCopy::Tiler_MN{}; }

  /// The instructions of all warps, values and tiles. Refuses by static_assert what has no instructions that swizproof can count.
  template <class Element, class SmemLayout>
  static constexpr auto instructions(SmemLayout const& layout) {
    constexpr swizproof::Instruction its = Instruction::value;
    constexpr unsigned bits = cute::sizeof_bits<Element>::value, each = 8 * its.bytes / bits;
    static_assert(cute::sizeof_bits<typename TiledCopy::ValType>::value == bits,
                  "the copy's ValueType and the element have different sizes");
    static_assert(each >= 1, "the element is larger than the instruction's vector");
    static_assert(8 * its.bytes == each * bits, "the elements do not fill the instruction's vector");
    auto const plain = plain_of(layout);
    auto const exact = divides<TiledCopy>(plain);
    if constexpr (cute::is_static<decltype(exact)>::value)
      static_assert(decltype(exact)::value,
                    "the copy's tile does not divide the layout's shape: the remainder would not be copied");
    auto const parts = partitioned<TiledCopy, Source>(plain);
    auto const thread = strided(cute::get<0>(parts));
    auto const value = strided(cute::get<1>(parts));
    auto const rest = strided(cute::get<2>(parts));
    constexpr unsigned threads = decltype(cute::size<0>(parts))::value,
                       values = decltype(cute::size<1>(parts))::value;
    static_assert(values % (each == 0 ? 1 : each) == 0,
                  "a thread's values are no multiple of those that the instruction takes at once");
    static_assert(
        its.matrices == 0 || threads % warp_lanes == 0,
        "ldmatrix and stmatrix are executed by whole warps: the copy's threads are no multiple of 32");
    CopyInstructions<Element, SmemLayout, threads, values, decltype(leaves(rest))::value> all{
        its, {layout}, rest};
    for (unsigned t = 0; t < threads; ++t) all.thread[t] = thread(t);
    for (unsigned v = 0; v < values; ++v) all.value[v] = value(v);
    all.each = each;
    all.count_distinct();
    if (!Source && strided(plain).broadcasts()) all.fault = CuteFault::shared;
    std::uint64_t reached = Functions<SmemLayout>::offset_bits(layout);
    if (!adds_without_carry<SmemLayout>(reached, thread) || !adds_without_carry<SmemLayout>(reached, value) ||
        !adds_without_carry<SmemLayout>(reached, rest))
      all.fault = CuteFault::carries;
    if constexpr (!cute::is_static<decltype(plain)>::value)
      if (!bool(exact) || !keeps_coordinates<TiledCopy, Source>(plain, parts))
        all.fault = CuteFault::remainder;
    return all;
  }
};

/// The instructions of one side; the first that costs most is found in portions, since compilers bound the steps of one constant expression.
template <class Access, class Element, class SmemLayout>
inline constexpr auto instructions = Access::template instructions<Element>(SmemLayout{});

struct Peak {
  unsigned index = 0;
  unsigned wavefronts = 0;
};
template <class Instructions>
constexpr Peak peak_of(Instructions const& all, unsigned from, unsigned to) {
  Peak found{};
  for (unsigned i = from; i < to; ++i) {
    unsigned const wavefronts = cost_of(all.instruction, all.warp(i));
    if (wavefronts > found.wavefronts) found = {i, wavefronts};
  }
  return found;
}

inline constexpr unsigned portion = 16;
template <class Access, class Element, class SmemLayout, unsigned Number>
inline constexpr Peak peak_in = peak_of(instructions<Access, Element, SmemLayout>, Number* portion,
                                        (Number + 1) * portion <
                                                instructions<Access, Element, SmemLayout>.count()
                                            ? (Number + 1) * portion
                                            : instructions<Access, Element, SmemLayout>.count());

template <class Access, class Element, class SmemLayout, unsigned... Numbers>
constexpr unsigned peak_index(std::integer_sequence<unsigned, Numbers...>) {
  static_assert(sizeof...(Numbers) != 0, "the access has no instruction");
  Peak const portions[] = {peak_in<Access, Element, SmemLayout, Numbers>...};
  Peak found = portions[0];
  for (Peak const& each : portions)
    if (each.wavefronts > found.wavefronts) found = each;
  return found.index;
}

template <class Access, class Element, class SmemLayout>
inline constexpr CuteReport worst = report_of(
    instructions<Access, Element, SmemLayout>,
    peak_index<Access, Element, SmemLayout>(
        std::make_integer_sequence<
            unsigned, (instructions<Access, Element, SmemLayout>.count() + portion - 1) / portion>{}));

}  // namespace detail

/// Shared-memory accesses of a TiledCopy to its source and destination. The instruction is that of its CopyOp
/// (ldmatrix, stmatrix, cp.async, UniversalCopy); of others it is named.
template <class TiledCopy, class Instruction = void>
using source_of =
    detail::CopySide<TiledCopy,
                     detail::given_or<Instruction, typename decltype(detail::instruction_of(
                                                       static_cast<TiledCopy*>(nullptr)))::Source>,
                     true>;
template <class TiledCopy, class Instruction = void>
using destination_of =
    detail::CopySide<TiledCopy,
                     detail::given_or<Instruction, typename decltype(detail::instruction_of(
                                                       static_cast<TiledCopy*>(nullptr)))::Destination>,
                     false>;

/// A lane map of one's own. `Map::instructions` of them; `Map::coordinate(number, lane)` is the coordinate (row, column) of the
/// first element of the lane's vector, which runs along the row if `Map::along_row`, else along the column.
template <class Map, class Instruction_>
struct lanes_of {
  using Instruction = Instruction_;
  template <class Element, class SmemLayout>
  static constexpr auto instructions(SmemLayout const& layout) {
    constexpr unsigned bits = cute::sizeof_bits<Element>::value;
    static_assert(8 * Instruction::value.bytes >= bits,
                  "the element is larger than the instruction's vector");
    static_assert(8 * Instruction::value.bytes % bits == 0,
                  "the elements do not fill the instruction's vector");
    return detail::MappedInstructions<Map, Element, SmemLayout>{Instruction::value, {layout}};
  }
};

/// Message of an assertion that fails.
namespace said {
template <unsigned>
struct instruction;  ///< its number, over tiles, warps and values
template <unsigned>
struct wavefronts;
template <unsigned>
struct ideal;
template <unsigned>
struct phase;
template <unsigned>
struct bank;
template <unsigned...>
struct lanes;  ///< lanes that collide in the bank
template <std::uint32_t...>
struct addresses;  ///< addresses of the words that they access, in bytes from the tile's start
template <unsigned>
struct split_vector_of_lane;  ///< its elements do not follow each other
template <unsigned>
struct misaligned_address_of_lane;
struct stores_to_elements_that_share_an_address;  ///< the layout has a stride of 0
struct offsets_that_carry_into_the_swizzle;  ///< CuTe's partition may be of other elements than the layout
template <unsigned>
struct vector_outside_of_the_tile_of_lane;  ///< access of a lane map
}  // namespace said

/// An access as it was found. Not `Fine`: an error whose text has the numbers.
template <bool Fine, class... Said>
struct bank_conflict {
  static_assert(Fine,
                "the access is not what was asserted; the arguments of bank_conflict say what was found");
  static constexpr bool value = Fine;
};

namespace detail {

template <class Access, class Element, class SmemLayout, bool Fine, std::size_t... I>
auto told(std::index_sequence<I...>) {
  constexpr CuteReport const& found = worst<Access, Element, SmemLayout>;
  if constexpr (found.fault == CuteFault::shared)
    return bank_conflict<Fine, said::stores_to_elements_that_share_an_address>{};
  else if constexpr (found.fault == CuteFault::carries)
    return bank_conflict<Fine, said::offsets_that_carry_into_the_swizzle>{};
  else if constexpr (found.fault == CuteFault::split)
    return bank_conflict<Fine, said::instruction<found.instruction>,
                         said::split_vector_of_lane<found.lane[0]>>{};
  else if constexpr (found.fault == CuteFault::outside)
    return bank_conflict<Fine, said::instruction<found.instruction>,
                         said::vector_outside_of_the_tile_of_lane<found.lane[0]>>{};
  else if constexpr (found.fault == CuteFault::misaligned)
    return bank_conflict<Fine, said::instruction<found.instruction>,
                         said::misaligned_address_of_lane<found.lane[0]>,
                         said::addresses<found.address[0]>>{};
  else
    return bank_conflict<Fine, said::instruction<found.instruction>, said::wavefronts<found.wavefronts>,
                         said::ideal<found.ideal>, said::phase<found.phase>, said::bank<found.bank>,
                         said::lanes<found.lane[I]...>, said::addresses<found.address[I]...>>{};
}

template <class Access, class Element, class SmemLayout, bool Fine>
using told_of = decltype(told<Access, Element, SmemLayout, Fine>(
    std::make_index_sequence<worst<Access, Element, SmemLayout>.lanes>{}));

}  // namespace detail

/// The most expensive instruction of an access to a tile of static layout.
template <class Access, class Element, class SmemLayout>
inline constexpr CuteReport const& report_of = detail::worst<Access, Element, SmemLayout>;

/// True if no instruction of the access takes more than `Most` wavefronts; an error with the lanes where one does.
template <unsigned Most, class Access, class Element, class SmemLayout>
inline constexpr bool at_most =
    detail::told_of<Access, Element, SmemLayout, report_of<Access, Element, SmemLayout>.at_most(Most)>::value;

/// True if every instruction of the access takes the wavefronts that its bytes need; an error with the lanes where one does not.
template <class Access, class Element, class SmemLayout>
inline constexpr bool conflict_free =
    detail::told_of<Access, Element, SmemLayout,
                    report_of<Access, Element, SmemLayout>.conflict_free()>::value;

/// The most expensive instruction of an access to a tile whose layout is known when the program runs. CuteFault::remainder where the copy's
/// tile does not divide it, CuteFault::carries where CuTe's partition may be another function.
template <class Access, class Element, class SmemLayout>
[[nodiscard]] CuteReport examine(SmemLayout const& layout) {
  auto const all = Access::template instructions<Element>(layout);
  bool const fine = all.fault == CuteFault::none;
  return detail::report_of(all, fine ? detail::peak_of(all, 0, all.count()).index : 0);
}

}  // namespace swizproof

#include <swizproof/cute_obligation.hpp>
