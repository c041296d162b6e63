#include <swizproof/parse/language.hpp>

#include "parse/expression/expression_parser.hpp"
#include "parse/layout/mapping_parser.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/element.hpp>
#include <swizproof/hardware/tma.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

namespace {

LanguagePart layouts() {
  return {
      "layout",
      "LAYOUT: the offset of each element of a tile. `8` and `_8` mean the same. You may paste a layout "
      "together "
      "with the table that CuTe prints below it.",
      {
          {"(8,64):(64,1)",
           "shape:stride, as CuTe prints it; nested, negative and zero strides, gaps such as (8,64):(72,1)"},
          {"Sw<3,4,3>",
           "a swizzle alone, of byte addresses (of element offsets with --element); bits, base, shift"},
          {"Sw<3,3,3> o _0 o (8,64):(64,1)",
           "a swizzle of a layout's element offsets; the number in the middle is a constant offset"},
          {"Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)",
           "a swizzle of the byte addresses of a layout of 16-bit elements"},
          {"S<3,4,3> o smem_ptr_16b(unset) o (8,64):(64,1)", "the same, as printed by CuTe before 3.3"},
          {"smem_ptr[16b](0x400) o (8,64):(64,1)", "a tensor: the base address is known"},
          {"Sw<3,4,3>_smem_ptr[16b](0x400) o (8,64):(64,1)", "a swizzled tensor"},
          {"Layout<Shape<_8,_64>,Stride<_64,_1>>{}",
           "C++ types, with Int<8>, C<8>, LayoutRight, GenRowMajor::Apply<..>, arithmetic"},
          {"ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>,Stride<_64,_1>>>{}",
           "a swizzled type"},
          {"using L = Layout<Shape<_8,_64>>; composition(Swizzle<3,3,3>{}, L{})",
           "declarations before the layout: using, constexpr auto, static constexpr int"},
          {"cute.make_layout((8,64), stride=(64,1))", "CuTe's DSL"},
          {"make_swizzle[DType.float16, TensorMapSwizzle.SWIZZLE_128B]()",
           "Mojo; also make_swizzle[8, 64, 8](), make_ldmatrix_swizzle"},
          {"#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> (64,64)",
           "Triton's encodings, with a shape: also nvmma_shared, padded_shared, shared_linear, memdesc "
           "types"},
          {"SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0]) (64,64)",
           "Gluon's layouts: also NVMMASharedLayout, PaddedSharedLayout, SharedLinearLayout, with ttgl. or "
           "gl."},
          {"gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)", "the layout that Gluon computes"},
          {"kittens::st<bf16, 64, 64>",
           "ThunderKittens' shared tiles: also st_bf, st_hf, st_fl, st_fp8e4m3, st_fp8e5m2"},
          {"tilelang.layout.make_full_bank_swizzled_layout(64, 64, 16)",
           "TileLang's layouts by rows, columns and bits: also half, quarter, make_linear_layout"},
          {"plgpu.SMEM((64, 64), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 64)), "
           "plgpu.SwizzleTransform(128)))",
           "Mosaic's shared memory and its transforms"},
          {"alignas(16) __shared__ half a[64][72]",
           "an array of C, of one to four extents: row-major strides, the element's type ('subscript')"},
          {"fn(x) = x ^ ((x >> 3) & 0x70)",
           "C arithmetic on byte addresses (on element offsets with --element)"},
          {"fn(x) = x ^ ((x >> 3) & 0x38) o (8,64):(64,1)",
           "the same on a layout's offsets; behind smem_ptr[16b](unset) on byte addresses"},
          {"fn(row, col) = row*64 + (col ^ ((row & 7) << 3)) (8,64)",
           "element offsets by coordinate, with the shape"},
          {"fn(row, col) = { let y = row & 7; return row*64 + (col ^ (y << 3)); } (8,64)",
           "with names for parts, as a block or without"},
          {"tma:128B<f16> (64,128)", "what TMA writes; alone, tma:128B, the map of addresses ('atom')"},
          {"gmma:K_SW128<f16> (128,64)", "an atom of wgmma tiled to a shape ('atom')"},
          {"desc:0x4000004000010000<f16>,K (64,16)",
           "what one wgmma instruction reads through this descriptor"},
          {"zipped_divide((8,64):(64,1), (4,8))", "CuTe's algebra ('algebra')"},
      }};
}

/// Example of each function of the algebra.
constexpr std::pair<std::string_view, std::string_view> algebra_forms[] = {
    {"append<3>((8,64):(64,1), 2:512)", "modes behind, up to so many"},
    {"as_position_independent_swizzle_layout(gmma:K_SW128<f16>)",
     "the byte swizzle as one of element offsets"},
    {"blocked_product((2,2):(1,2), (3,4):(1,3))", "a tile repeated, mode by mode: blocks"},
    {"coalesce(((2,4),8):((1,2),8))", "the fewest modes; by mode with a shape behind"},
    {"complement((4,2):(1,16), 64)", "what reaches the rest, up to a size"},
    {"compose((8,64):(64,1), 4:2)", "composition"},
    {"composition(Swizzle<3,3,3>{}, (8,64):(64,1))",
     "i -> left(right(i)); with an offset between, or a tiler"},
    {"coshape((8,64):(72,1))", "how far it reaches"},
    {"cosize((8,64):(72,1))", "its last offset + 1"},
    {"domain_distribute((15,14), 6)", "an even share of so many indices of a shape"},
    {"downcast<2>((8,32):(32,1))", "elements half as large"},
    {"filter(((2,4),1):((1,0),5))", "without modes of stride 0 or extent 1"},
    {"filter_zeros((2,4):(1,0))", "extents of stride 0 become 1"},
    {"flat_divide((8,64):(64,1), (4,8))", "zipped_divide, all modes side by side"},
    {"flat_product((2,2):(1,2), 3:1)", "zipped_product, all modes side by side"},
    {"flatten(((2,4),8):((1,2),8))", "without nesting"},
    {"get<1>((8,64):(64,1))", "one mode, or a mode of a mode: get<1,0>"},
    {"group<0,2>((2,4,8):(1,2,8))", "modes first..last-1 as one"},
    {"group_modes((2,4,8):(1,2,8), 0, 2)", "group, as CuTe's DSL writes it"},
    {"layout<0>(Sw<3,3,3> o _0 o (8,64):(64,1))", "get, of a layout with a swizzle too"},
    {"left_inverse((8,64):(64,1))", "left_inverse(L)(L(i)) = i"},
    {"local_partition((8,64):(64,1), (4,8):(8,1), 5)",
     "the elements of thread 5 of a layout of threads; with a projection Step<_1,_1> behind it"},
    {"local_tile((8,64):(64,1), (4,8), (1,_))",
     "the tiles at a coordinate; with a projection Step<_1,X,_1> behind it"},
    {"logical_divide((8,64):(64,1), (4,8))", "(tile, rest), mode by mode"},
    {"logical_product((2,2):(1,2), 3:1)", "(tile, repetitions)"},
    {"make_composed_layout(Swizzle<3,3,3>{}, 0, (8,64):(64,1))", "composition with an offset"},
    {"make_fragment_like((8,64):(64,1))", "the layout of a register fragment of this shape"},
    {"make_identity_layout((8,64))", "the coordinates themselves"},
    {"make_layout(make_shape(8,64), make_stride(64,1))",
     "from shape and strides, an order, or layouts as modes"},
    {"make_layout_like((8,64):(72,1))", "the same order without gaps"},
    {"make_ordered_layout((8,64), (1,0))", "without gaps, the smaller order the smaller stride"},
    {"max_alignment((8,64):(64,1))", "the largest n by which upcast<n> is allowed"},
    {"max_common_layout((8,64):(64,1), (8,64):(72,1))",
     "the elements that are contiguous, in one order, in both"},
    {"max_common_vector((8,64):(1,8), (8,64):(1,16))",
     "how many elements are contiguous, in one order, in both"},
    {"nullspace((8,4):(1,0))", "the indices that lead to 0"},
    {"partition_A(TiledMMA ThrLayoutVMNK: (32,2,2,1):(1,32,64,0) PermutationMNK: (32,32,16) MMA_Atom ThrID: "
     "32:1 "
     "Shape_MNK: (16,8,16) LayoutA_TV: ((4,8),(2,2,2)):((32,1),(16,8,128)) LayoutC_TV: "
     "((4,8),(2,2)):((32,1),(16,8)), 5, (64,64):(64,1))",
     "(V,M,K) of thread 5; partition_B, partition_C, partition_fragment_A, .. of a TiledMMA as CuTe prints "
     "or "
     "makes it; partition_S, partition_D, tidfrg_S, tidfrg_D, retile_S, retile_D of a printed TiledCopy; "
     "also auto mma = "
     "make_tiled_mma(..); "
     "mma.get_slice(5).partition_A(L)"},
    {"prepend<3>((8,64):(64,1), 2:512)", "modes before, up to so many"},
    {"raked_product((2,2):(1,2), (3,4):(1,3))", "a tile repeated, mode by mode: interleaved"},
    {"recast_layout<16,32>((8,64):(64,1))",
     "from elements of 16 bits to 32; CuTe's DSL: recast_layout(32, 16, L)"},
    {"replace<1>((8,64):(64,1), 4:2)", "another layout as this mode"},
    {"right_inverse((8,64):(64,1))", "L(right_inverse(L)(i)) = i"},
    {"select<1,0>((8,64):(64,1))", "these modes, in this order"},
    {"size((8,64):(64,1))", "how many elements"},
    {"slice((8,64):(64,1), (_,3))",
     "the part with these coordinates; _ keeps a mode; CuTe's slice((_,3), L) too"},
    {"take<0,1>((8,64):(64,1))", "modes first..last-1"},
    {"tile_to_shape(gmma:K_SW128<f16>, (128,64))",
     "an atom repeated to a shape, in an order if one is given"},
    {"tiled_divide((8,64):(64,1), (4,8))", "zipped_divide, the rest's modes side by side"},
    {"tiled_product((2,2):(1,2), 3:1)", "zipped_product, the repetitions side by side"},
    {"upcast<2>((8,64):(64,1))", "elements twice as large"},
    {"zip((2,4):(1,2), (3,5):(1,3))", "modes of both in pairs"},
    {"zipped_divide((8,64):(64,1), (4,8))", "((tile), (rest))"},
    {"zipped_product((2,2):(1,2), 3:1)", "((tile), (repetitions))"},
};

LanguagePart algebra() {
  LanguagePart part{
      "algebra",
      "CuTe's layout functions; they can be nested. The results equal CuTe's. If CuTe's result does not "
      "match the "
      "function's name, a note or an error says so. Plain integers are static; a note says where CuTe gives "
      "another result for run-time integers.",
      {}};
  for (auto const& [text, means] : algebra_forms)
    part.forms.push_back({std::string(text), std::string(means)});
  return part;
}

LanguagePart atoms() {
  LanguagePart part{
      "atom",
      "Named atoms. An element type in <> gives the atom's tile; a shape after it repeats the atom "
      "to that shape: gmma:K_SW128<f16> (128,64).",
      {}};
  for (TmaModeName const& mode : tma_mode_names)
    part.forms.push_back(
        {fmt::format("tma:{}", mode.name),
         mode.flips ? std::string("x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 8) of byte addresses")
         : mode.swizzle.bits == 0
             ? std::string("no swizzle")
             : fmt::format("Sw<{},{},{}> of byte addresses, lines of up to {} bytes", mode.swizzle.bits,
                           mode.swizzle.base, mode.swizzle.shift, mode.width)});
  part.forms.push_back({"CU_TENSOR_MAP_SWIZZLE_128B", "the same with the names of cuda.h"});
  for (OperandMode const& mode : operand_modes)
    for (char const* const major : {"K", "MN"}) {
      if (mode.shape.k_lines == 4 && major[0] == 'K') continue;  // of tcgen05, MN-major alone
      bool const both = mode.wgmma >= 0;
      part.forms.push_back(
          {fmt::format("{}:{}_{}<{}>", both ? "gmma" : "umma", major, mode.atom, both ? "f16" : "tf32"),
           fmt::format("{}, rows of {} bytes along {}, {}", both ? "wgmma and, as umma:, tcgen05" : "tcgen05",
                       mode.shape.row_bytes, major[0] == 'K' ? "k" : "m or n",
                       mode.swizzle.bits == 0 ? std::string("no swizzle")
                                              : fmt::format("Sw<{},{},{}>", mode.swizzle.bits,
                                                            mode.swizzle.base, mode.swizzle.shift))});
    }
  part.forms.push_back({"GMMA::Layout_K_SW128_Atom<half_t>{}", "the same with CUTLASS's names; also UMMA::"});
  return part;
}

LanguagePart expressions() {
  LanguagePart part{"expression",
                    "Integer expressions with C's syntax, highest precedence first. Coordinates, lane and "
                    "the variables of a `for` are "
                    "int (threadIdx.x is unsigned), so that -7 % 4 is -3 and -7 >> 1 is -4; what C leaves "
                    "undefined is refused. The x of fn(x), "
                    "which has no range, and all variables of an obligation's `always` are uint64_t; in "
                    "`always` numbers are, too.",
                    {}};
  part.forms = {{"0x70 + 0b11 - 017 + 5u", "numbers as C writes them"}, {"-x + ~x * !x", "unary operators"}};
  for (int precedence = 10; precedence > 0; --precedence) {
    std::string form, names;
    for (auto const& op : ExpressionParser::operators)
      if (op.precedence == precedence) {
        bool const divides = op.token == "/" || op.token == "%";
        form += fmt::format("{}x {} {}", form.empty() ? "" : ", ", op.token, divides ? "8" : "y");
        names += (names.empty() ? "" : ", ") + std::string(op.token);
      }
    if (!form.empty()) part.forms.push_back({form, precedence == 10 ? "divisors are constants" : ""});
  }
  part.forms.insert(part.forms.end(), {{"x < 8 ? x : x ^ y", "a conditional"},
                                       {"Sw<3,4,3>(x)", "a swizzle as a function"},
                                       {"(unsigned)(x - 8) % 7", "a cast, where the range of x is known"},
                                       {"let z = x >> 3; x ^ (z & 0x70)", "a name for a part"}});
  return part;
}

LanguagePart accesses() {
  return {
      "access",
      "ACCESS: what each lane of a warp accesses, at every position at which it fits in the tile: rows in "
      "steps of one, the contiguous mode in steps of the instruction's bytes. `at` and `step` narrow the "
      "positions; with `for`, the access is exactly at the given ones. `lane` is 0..31, also laneId, "
      "lane_id, threadIdx.x and tid (lane + 32*warp where a variable is called warp).",
      {{"ldmatrix.x4",
        "a named pattern: 'swizproof accesses' lists them; also "
        "LDSM.16.M88.4 or "
        "SM75_U32x4_LDSM_N"},
       {"ld.shared.b128: row = lane/8, byte = 16*(lane%8)", "your own pattern: row, and byte in the row"},
       {"ldmatrix.x4 step row 16, byte 32", "only at multiples of 16 rows and 32 bytes"},
       {"ld.shared.b32: row = lane/8, col = 2*(lane%8) at row 8, col 0",
        "only where the lowest row of the lanes is 8 and the lowest column 0"},
       {"ld.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..31",
        "coordinates of elements, for all i"},
       {"ldmatrix.x4: coord = (lane%16 + 16*m, 8*(lane/16) + 16*k) for m in 0..7 for k in 0..3",
        "a coordinate of any rank"},
       {"st.shared.b32: row = lane, col = i for i if lane < 16", "all i; `if` selects the active lanes"},
       {"ldmatrix.x4: tv ((_16,_2,_2,_2),(_8,_1)):((_1,_256,_16,_0),(_32,_0)) tile (32,16)",
        "CuTe's thread-value layout of a tile, for every warp and instruction"},
       {"TiledCopy\n  Tiler_MN: (_16,_16)\n  TiledLayout_TV: "
        "((_4,_8),((_2,_2,_2),(_1,_1))):((_32,_1),((_16,_8,_128),(_0,_0)))\n"
        "Copy_Atom\n  ThrID: _32:_1\n  ValLayoutSrc: (_32,_8):(_8,_1)\n  ValLayoutDst: "
        "(_32,(_2,_4)):(_2,(_1,_64))\n"
        "  ValLayoutRef: (_32,(_2,_4)):(_2,(_1,_64))\n  ValueType: 16b",
        "what print(tiled_copy) prints"},
       {"ld.shared.b128: address = 128*(lane%8) + 16*(lane/8)",
        "byte addresses; LAYOUT is `-`, or a function that is applied to them"}}};
}

LanguagePart subscripts() {
  return {
      "subscript",
      "ACCESS to an array that LAYOUT declares, __shared__ half a[64][72] here, as CUDA C++ writes it: a "
      "load, or a store by an "
      "assignment. Element type and cast give the width. Integers have their C types; undefined behaviour "
      "is an error. "
      "--block 32,8 sets threadIdx.x, .y, .z and blockDim; the default is one warp.",
      {{"a[threadIdx.x / 4][8 * (threadIdx.x % 4) + i] for i in 0..7",
        "eight loads of one element each; also range(8)"},
       {"a[threadIdx.x][0] = x", "a store"},
       {"v = *reinterpret_cast<const float4*>(&a[threadIdx.x / 4][8 * (threadIdx.x % 4)])",
        "a load of 16 bytes; also *(float4*)&a[..][..] and reinterpret_cast<float4&>(a[..][..])"},
       {"reinterpret_cast<float4*>(a)[threadIdx.x + 32 * k] for k in range(18)",
        "vectors of the whole array, counted through its rows"},
       {"ldmatrix.x4: &a[threadIdx.x % 16][8 * (threadIdx.x / 16)]", "the address that an instruction takes"},
       {"#pragma unroll\nfor (int j = 0; j < 64; j += 8) a[threadIdx.y + j][threadIdx.x] = in[j]",
        "a loop of C: a value of j for each iteration"},
       {"int const row = threadIdx.x / 4, col = 8 * (threadIdx.x & 3); if (row < 8) x = a[row][col]",
        "names of integers, conditions"}}};
}

/// Other spellings of an instruction: PTX's, SASS's, and CUTLASS's if it has one.
std::vector<std::string> other_names(Instruction const& i) {
  std::string const bits = std::to_string(8 * i.bytes);
  switch (i.operation) {
    case Operation::ld_shared:
    case Operation::st_shared: {
      bool const load = i.operation == Operation::ld_shared;
      std::string const type = i.bytes == 1   ? "u8"
                               : i.bytes == 2 ? "u16"
                               : i.bytes == 4 ? "f32"
                               : i.bytes == 8 ? "v2.f32"
                                              : "v4.f32";
      std::string const size = i.bytes == 1 ? ".U8" : i.bytes == 2 ? ".U16" : i.bytes == 4 ? "" : "." + bits;
      return {(load ? "ld.shared." : "st.shared.") + type, (load ? "LDS" : "STS") + size};
    }
    case Operation::ldmatrix:
    case Operation::stmatrix: {
      bool const load = i.operation == Operation::ldmatrix;
      unsigned const n = i.matrices;
      return {fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", load ? "ldmatrix" : "stmatrix", n,
                          i.transposed ? ".trans" : ""),
              fmt::format("{}.16.{}88{}", load ? "LDSM" : "STSM", i.transposed ? "MT" : "M",
                          n == 1 ? "" : fmt::format(".{}", n)),
              fmt::format("{}_{}_{}_{}", load ? "SM75" : "SM90",
                          i.transposed ? fmt::format("U16x{}", 2 * n) : fmt::format("U32x{}", n),
                          load ? "LDSM" : "STSM", i.transposed ? "T" : "N")};
    }
    case Operation::cp_async:
      if (i.bytes == 16)
        return {"cp.async.cg.shared.global", "LDGSTS.E.BYPASS.128", "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>"};
      return {fmt::format("cp.async.ca.shared.global [dst], [src], {}", i.bytes),
              i.bytes == 8 ? "LDGSTS.E.64" : "LDGSTS.E",
              fmt::format("SM80_CP_ASYNC_CACHEALWAYS<uint{}_t>", bits)};
  }
  return {};
}

LanguagePart instructions() {
  LanguagePart part{"instruction",
                    "Instructions and their names in PTX, SASS and CUTLASS. Operands are ignored, and so are "
                    "the predicate and the address "
                    "in a listing.",
                    {}};
  for (InstructionName const& known : instruction_names)
    part.forms.push_back({std::string(known.text), {}, other_names(known.instruction)});
  return part;
}

LanguagePart elements() {
  LanguagePart part{
      "element",
      "--element, and <..> of atoms; other sizes as 16b. With namespaces: cutlass::half_t, torch.float16.",
      {}};
  for (ElementType const& type : element_types) {
    LanguageForm form{std::string(type.name), fmt::format("{} bits", type.bits)};
    for (std::string_view rest = type.aliases; !rest.empty();) {
      std::size_t const end = std::min(rest.find(','), rest.size());
      form.names.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    part.forms.push_back(std::move(form));
  }
  return part;
}

LanguagePart expectations() {
  return {
      "flow",
      "Expected contents of an array after a launch (flow --expect): an element, =, and a sum of products. "
      "An "
      "index without a range runs over the extent of the dimension where it is the whole subscript; a range "
      "includes both ends. A number is rounded to f32, and stays f64 in a result of f64; a single number is "
      "rounded to the type of the result.",
      {
          {"C[m][n] = sum(k) A[m][k] * B[k][n]", "a matrix product; sum() covers the product after it"},
          {"y[j][i] = x[i][j] for i in 0..31 for j in 0..31", "a transposition of one tile"},
          {"C[m][n] = alpha*sum(k) A[m][k]*B[k][n] + beta*C[m][n]",
           "elements on the right side have their values before the launch; alpha and beta are parameters"},
          {"s[i] = -s[i] + 2*t[i] - 0.5", "numbers, differences, signs"},
          {"s[i] = 0 for i in 0..9", "a part of the array; another --expect covers the rest"},
          {"s[i] = sum(k in 0..i) t[k]", "a range that depends on indices: a scan"},
          {"s[i] = sum(k in 0..2 if i + k >= 1 && i + k <= 64) w[k] * t[i + k - 1]",
           "a condition of the terms: a stencil with an edge"},
          {"s[i] = t[i] if i % 2 == 0", "a condition of the elements"},
          {"r[i] = max(j) B[i][j]",
           "the largest of a set, or min(j) the smallest; index, range and condition as of a sum"},
          {"s[i] = max(t[i], 0) + min(t[i], s[i], 6) + abs(t[i])", "the largest or smallest of some values"},
          {"y[i][j] = sum(k) (A[i][k] - B[k][j]) * (A[i][k] - B[k][j])",
           "sums in parentheses; a product has at most four elements"},
          {"C[m][n] = sum(p) A[m][p] * B[n][p]",
           "of arrays of s4x2, u4x2 or e2m1x2 an element is a pair: a product is x.lo*y.lo + x.hi*y.hi"},
      }};
}

}  // namespace

std::vector<LanguagePart> language() {
  return {layouts(),    algebra(),      atoms(),    expressions(), accesses(),
          subscripts(), instructions(), elements(), expectations()};
}

}  // namespace swizproof
