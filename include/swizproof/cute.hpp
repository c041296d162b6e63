// CuTe's own types, compared with the cost model while the kernel is compiled. C++17, for g++, clang and nvcc (--expt-relaxed-constexpr).
//
//   #include <cute/tensor.hpp>
//   #include <swizproof/cute.hpp>
//
//   using Smem = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_128, _64>, Stride<_64, _1>>{}));
//   static_assert(swizproof::conflict_free<swizproof::source_of<SmemToRegisters>, half_t, Smem>);
//
// An *access* is a type: what every lane of every instruction of a TiledCopy touches of its source or destination, or a lane map
// of one's own. All instructions over the whole tile are evaluated, by the template that is proved and that campaigns asked of
// devices (hardware/bank.hpp). The tile begins at address 0 here; so the answer holds for each base that is a multiple of 128
// bytes and of the swizzle's period, which `swizproof align` names and `alignas` gives.
//
// Each assertion on a tile of 128x64 takes g++ about 3 s and 0.6 GB: a few beside the kernel, the rest as obligations (below).
//
// An assertion that fails names what was found in the compiler's message, as the arguments of bank_conflict<>:
//
//   bank_conflict<false, said::instruction<0>, said::wavefronts<32>, said::ideal<4>, said::phase<0>, said::bank<0>,
//                 said::lanes<0, 1, 2, 3, 4, 5, 6, 7>, said::addresses<0, 128, 256, 384, 512, 640, 768, 896>>
#pragma once

#include <cute/atom/copy_atom.hpp>
#include <cute/layout.hpp>
#include <cute/layout_composed.hpp>
#include <cute/pointer_flagged.hpp>
#include <cute/swizzle_layout.hpp>

#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/bank.hpp>

#include <cstdio>
#include <utility>

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

/// Reasons other than cost for which an access is refused.
enum class CuteFault : std::uint8_t {
  none,
  split,       ///< the elements of a lane's vector do not follow each other
  misaligned,  ///< an address is no multiple of the vector's bytes
};

/// The most expensive instruction of an access, the first where several cost as much; or the first that is at fault.
struct CuteReport {
  unsigned instruction = 0;  ///< which one, in the order of tiles, warps and values
  unsigned wavefronts = 0;
  unsigned ideal = 0;
  unsigned phase = 0;  ///< the fullest phase,
  unsigned bank = 0;   ///< its fullest bank,
  unsigned lanes = 0;  ///< and how many lanes ask for different words of it:
  unsigned lane[warp_lanes] = {};
  std::uint32_t address[warp_lanes] = {};  ///< bytes, of the word in that bank
  CuteFault fault = CuteFault::none;       ///< with the lane in lane[0]

  [[nodiscard]] constexpr bool at_most(unsigned most) const {
    return fault == CuteFault::none && wavefronts <= most;
  }
  [[nodiscard]] constexpr bool conflict_free() const { return at_most(ideal); }
};

namespace detail {

/// A layout whose values are element offsets from a tile that begins at 0: swizzles of byte addresses become those of elements.
template <class Element, class SmemLayout>
constexpr auto element_layout(SmemLayout const& layout) {
  return layout;
}
template <class Element, class Function, int Bits, class SmemLayout>
constexpr auto element_layout(
    cute::ComposedLayout<Function, cute::smem_ptr_flag_bits<Bits>, SmemLayout> const& layout) {
  static_assert(Bits == 0 || Bits == cute::sizeof_bits<Element>::value,
                "the layout's smem_ptr flag is of another element type");
  constexpr int bits = cute::sizeof_bits<Element>::value;
  return cute::composition(cute::recast_layout<cute::uint8_t, cute::uint_bit_t<bits>>(layout.layout_a()),
                           cute::Int<0>{}, layout.layout_b());
}

/// The lowest `bytes` of a lane: contiguous elements from where its first lies.
struct CuteLane {
  bool active = true;
  bool split = false;
  std::uint32_t address = 0;
};

/// Accesses of the lanes of one instruction; the first fault, with its lane.
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
    if (!one.active || warp.fault != CuteFault::none) continue;
    if (one.split || one.address % instruction.bytes != 0) {
      warp.fault = one.split ? CuteFault::split : CuteFault::misaligned;
      warp.lane = lane;
    }
  }
  return warp;
}

/// Wavefronts; more than any instruction takes for one that is at fault.
constexpr unsigned cost_of(Instruction const& instruction, CuteWarp const& warp) {
  if (warp.fault != CuteFault::none) return 2 * warp_lanes * warp_lanes;
  return swizproof::cost(architectures[0], instruction, warp.access).wavefronts;
}

/// Cost of instruction `number`, and the colliding lanes.
constexpr CuteReport report_of(Instruction const& instruction, CuteWarp const& warp, unsigned number) {
  CuteReport report{};
  report.instruction = number;
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

/// `offset(i)`: the element offset of value i of a lane. The address of the first; split unless the others follow.
template <class Element, class Offset>
constexpr CuteLane vector_of(unsigned values, Offset const& offset) {
  constexpr unsigned bits = cute::sizeof_bits<Element>::value;
  auto const first = static_cast<std::uint32_t>(offset(0));
  CuteLane lane{true, first * bits % 8 != 0, first * bits / 8};
  for (unsigned i = 1; i < values; ++i)
    if (static_cast<std::uint32_t>(offset(i)) != first + i) lane.split = true;
  return lane;
}

/// The instruction of a CopyOp that is one; void for those of which it is not known here.
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

/// One side of a TiledCopy over a layout of shared memory: `Copy::instructions(layout)` of them, each by its number.
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
  static constexpr auto tile() { return cute::product_each(cute::shape(typename TiledCopy::Tiler_MN{})); }
  /// Elements of a lane in one instruction.
  template <class Element>
  static constexpr unsigned values() {
    constexpr unsigned its = Instruction::value.bytes * 8 / cute::sizeof_bits<Element>::value;
    static_assert(its >= 1, "the element is larger than the instruction's vector");
    return its;
  }

  template <class Element, class Layout>
  static constexpr unsigned instructions(Layout const& layout) {
    auto const tv = thread_values();
    unsigned const threads = static_cast<unsigned>(int(cute::size<0>(tv))),
                   values_each = static_cast<unsigned>(int(cute::size<1>(tv)));
    return tiles(layout) * (threads / warp_lanes) * (values_each / values<Element>());
  }

  template <class Element, class Layout>
  static constexpr CuteWarp warp(Layout const& layout, unsigned number) {
    auto const tv = thread_values();
    unsigned const vectors = static_cast<unsigned>(int(cute::size<1>(tv))) / values<Element>(),
                   warps = static_cast<unsigned>(int(cute::size<0>(tv))) / warp_lanes;
    unsigned const vector = number % vectors, warp = number / vectors % warps, at = number / vectors / warps;
    return warp_of(Instruction::value, [&](unsigned lane) {
      return vector_of<Element>(values<Element>(), [&](unsigned i) {
        return offset(layout, at,
                      int(tv(int(warp * warp_lanes + lane), int(vector * values<Element>() + i))));
      });
    });
  }

 private:
  /// Tiles of the copy in the layout; other modes of the layout, such as stages, are tiles of one.
  template <class Layout>
  static constexpr unsigned tiles(Layout const& layout) {
    return static_cast<unsigned>(int(cute::size(layout))) / static_cast<unsigned>(int(cute::size(tile())));
  }
  /// Offset of an index into the tile that is number `at`, in elements.
  template <class Layout>
  static constexpr int offset(Layout const& layout, unsigned at, int index) {
    constexpr int rows = decltype(cute::size<0>(tile()))::value,
                  columns = decltype(cute::size<1>(tile()))::value;
    int const m = int(cute::size<0>(layout)), n = int(cute::size<1>(layout)), which = int(at);
    int const row = index % rows + rows * (which % (m / rows)),
              column = index / rows + columns * (which / (m / rows) % (n / columns)),
              rest = which / (m / rows) / (n / columns);
    return int(layout((rest * n + column) * m + row));
  }
};

/// One constant expression for each instruction: compilers bound the steps of one, not of all.
template <class Access, class Element, class SmemLayout, unsigned Number>
inline constexpr unsigned one_cost =
    cost_of(Access::Instruction::value,
            Access::template warp<Element>(element_layout<Element>(SmemLayout{}), Number));

/// The most expensive instruction, the first of several.
template <class Access, class Element, class SmemLayout, unsigned... Numbers>
constexpr unsigned most expensive(std::integer_sequence<unsigned, Numbers...>) {
  static_assert(sizeof...(Numbers) != 0, "the access has no instruction: the copy is larger than the layout");
  unsigned const costs[] = {one_cost<Access, Element, SmemLayout, Numbers>...};
  unsigned number = 0;
  for (unsigned i = 1; i < sizeof...(Numbers); ++i)
    if (costs[i] > costs[number]) number = i;
  return number;
}

template <class Access, class Element, class SmemLayout>
inline constexpr unsigned worst_number = most expensive<Access, Element, SmemLayout>(
    std::make_integer_sequence<
        unsigned, Access::template instructions<Element>(element_layout<Element>(SmemLayout{}))>{});

template <class Access, class Element, class SmemLayout>
inline constexpr CuteReport worst =
    report_of(Access::Instruction::value,
              Access::template warp<Element>(element_layout<Element>(SmemLayout{}),
                                             worst_number<Access, Element, SmemLayout>),
              worst_number<Access, Element, SmemLayout>);

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
  template <class Element, class Layout>
  static constexpr unsigned instructions(Layout const&) {
    return Map::instructions;
  }
  template <class Element, class Layout>
  static constexpr detail::CuteWarp warp(Layout const& layout, unsigned number) {
    return detail::warp_of(Instruction::value, [&](unsigned lane) {
      constexpr unsigned values = Instruction::value.bytes * 8 / cute::sizeof_bits<Element>::value;
      static_assert(values >= 1, "the element is larger than the instruction's vector");
      return detail::vector_of<Element>(values, [&](unsigned i) {
        auto const at = Map::coordinate(int(number), int(lane));
        int const row = int(cute::get<0>(at)), column = int(cute::get<1>(at));
        return int(Map::along_row ? layout(row, column + int(i)) : layout(row + int(i), column));
      });
    });
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
struct lanes;  ///< that collide in it
template <std::uint32_t...>
struct addresses;  ///< of the words that they ask for, in bytes from the tile's start
template <unsigned>
struct split_vector_of_lane;  ///< its elements do not follow each other
template <unsigned>
struct misaligned_address_of_lane;
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
  if constexpr (found.fault == CuteFault::split)
    return bank_conflict<Fine, said::instruction<found.instruction>,
                         said::split_vector_of_lane<found.lane[0]>>{};
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

/// The most expensive instruction of an access to a tile whose layout is known when the program runs.
template <class Access, class Element, class SmemLayout>
[[nodiscard]] CuteReport examine(SmemLayout const& layout) {
  auto const elements = detail::element_layout<Element>(layout);
  unsigned const count = Access::template instructions<Element>(elements);
  unsigned most expensive = 0, most = 0;
  for (unsigned number = 0; number < count; ++number) {
    unsigned const cost =
        detail::cost_of(Access::Instruction::value, Access::template warp<Element>(elements, number));
    if (cost > most) most = cost, most expensive = number;
  }
  return detail::report_of(Access::Instruction::value,
                           Access::template warp<Element>(elements, most expensive), most expensive);
}

namespace detail {

/// A text between double quotes, as TOML has it.
inline void print_quoted(char const* text) {
  std::putchar('"');
  for (; *text != 0; ++text) {
    if (*text == '"' || *text == '\\') std::putchar('\\');
    std::putchar(static_cast<unsigned char>(*text) < ' ' ? ' ' : *text);
  }
  std::putchar('"');
}

}  // namespace detail

/// The name of an obligation, and where in the source it is printed: so that code hosts show what breaks beside that line.
struct ObligationName {
  char const* name;
  char const* file;
  int line;
  // NOLINTNEXTLINE(google-explicit-constructor): a name is what one writes
  ObligationName(char const* called, char const* in = __builtin_FILE(), int at = __builtin_LINE())
      : name(called), file(in), line(at) {}
};

namespace detail {

/// Name and source of an obligation, and its layout, as CuTe prints it.
template <class Element, class SmemLayout>
void print_head(ObligationName const& name, SmemLayout const& layout) {
  std::printf("[[obligation]]\nname = ");
  print_quoted(name.name);
  std::printf("\nsource = ");
  char place[4096];
  std::snprintf(place, sizeof place, "%s:%d", name.file, name.line);
  print_quoted(place);
  std::printf("\nlayout = '");
  cute::print(layout);
  std::printf("'\nelement = '%db'\naccess = [", int(cute::sizeof_bits<Element>::value));
}

}  // namespace detail

/// Prints an obligation (TOML) on standard output: this layout, as CuTe prints it, and these accesses in swizproof's words.
/// A program of such lines is what swizproof_add_obligations(SOURCES ...) takes.
template <class Element, class SmemLayout, class... Accesses>
void print_obligation(ObligationName const& name, SmemLayout const& layout, char const* access,
                      Accesses... more) {
  detail::print_head<Element>(name, layout);
  detail::print_quoted(access);
  ((std::printf(", "), detail::print_quoted(more)), ...);
  std::printf("]\n\n");
}

/// The same of one side of a TiledCopy: every instruction of every warp.
template <class Access, class Element, class SmemLayout>
void print_obligation(ObligationName const& name, SmemLayout const& layout) {
  detail::print_head<Element>(name, layout);
  auto const instruction = swizproof::name(Access::Instruction::value);
  std::printf("'%.*s: tv ", static_cast<int>(instruction.size()), instruction.data());
  cute::print(Access::thread_values());
  std::printf(" tile ");
  cute::print(Access::tile());
  std::printf("']\n\n");
}

}  // namespace swizproof
