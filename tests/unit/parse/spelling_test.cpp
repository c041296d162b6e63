// LAYOUT as C++, CuTe DSL, Mojo and CUDA write it: each spelling is the plain form, and what is none is refused in one sentence.
#include <swizproof/analysis/equal.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace swizproof {
namespace {

/// Without the underscores of static integers, which spellings differ in.
std::string plain(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  return text;
}

struct Pair {
  char const* spelled;
  char const* means;
};
void PrintTo(Pair const& pair, std::ostream* out) { *out << pair.spelled; }

class Spelling : public testing::TestWithParam<Pair> {};

TEST_P(Spelling, IsThePlainForm) {
  Mapping const spelled = parse_mapping(GetParam().spelled), means = parse_mapping(GetParam().means);
  EXPECT_EQ(plain(spelled.text), plain(means.text));
  EXPECT_EQ(spelled.element_bits, means.element_bits);
  EXPECT_EQ(spelled.element, means.element);
  EXPECT_EQ(spelled.acts_on_bytes(), means.acts_on_bytes());
  EXPECT_TRUE(std::holds_alternative<Proved>(compare(spelled, means, {}, {}).outcome));
}

INSTANTIATE_TEST_SUITE_P(
    Cpp, Spelling,
    testing::Values(
        Pair{"Layout<Shape<_8,_64>,Stride<_64,_1>>{}", "(8,64):(64,1)"},
        Pair{"Layout<Shape<_8,_64>,Stride<_64,_1>>", "(8,64):(64,1)"},
        Pair{"cute::Layout<cute::Shape<cute::_8, cute::Int<64>>, cute::Stride<cute::Int<64>, cute::_1>>{}",
             "(8,64):(64,1)"},
        Pair{"Layout<Shape<_8,_64>>{}", "(8,64):(1,8)"},
        Pair{"Layout<Shape<Shape<_8,_2>,C<16>>,Stride<Stride<_16,_128>,_1>>{}", "((8,2),16):((16,128),1)"},
        Pair{"Layout<_64,_1>{}", "64:1"}, Pair{"Layout<Shape<_64>>{}", "(64):(1)"},
        Pair{"Layout<Shape<_8,_64>, LayoutRight>{}", "(8,64):(64,1)"},
        Pair{"Layout<Shape<integral_constant<int,8>,_4>, Stride<_1,Int<-8>>>{}", "(8,4):(1,-8)"},
        Pair{"make_layout(make_shape(8,64), make_stride(64,1))", "(8,64):(64,1)"},
        Pair{"make_layout(make_shape(Int<8>{}, Int<64>{}), LayoutRight{})", "(8,64):(64,1)"},
        Pair{"make_layout(make_shape(_8{}, make_shape(_4{}, _16{})), make_stride(_64{}, make_stride(_16{}, "
             "_1{})))",
             "(8,(4,16)):(64,(16,1))"},
        Pair{"make_layout(Shape<_8,_64>{}, GenRowMajor{})", "(8,64):(64,1)"},
        Pair{"make_layout(Shape<_8,_64>{}, GenColMajor{})", "(8,64):(1,8)"},
        Pair{"make_layout(make_layout(Int<8>{}, Int<64>{}), make_layout(Int<64>{}))", "(8,64):(64,1)"},
        Pair{"make_ordered_layout(make_shape(Int<8>{},Int<64>{}), Step<_1,_0>{})", "(8,64):(64,1)"},
        Pair{"logical_divide(Layout<Shape<_8,_64>,Stride<_64,_1>>{}, make_tile(Layout<_4,_2>{}, Int<8>{}))",
             "logical_divide((8,64):(64,1), (4:2, 8))"},
        Pair{"slice(Layout<Shape<_8,_64>,Stride<_64,_1>>{}, make_coord(_, Int<0>{}))",
             "slice((8,64):(64,1), (_,0))"},
        Pair{"Swizzle<3,3,3>{}", "Sw<3,3,3>"}, Pair{"cute::Swizzle<3,4,3>", "Sw<3,4,3>"},
        Pair{"composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
             "Sw<3,3,3> o _0 o (8,64):(64,1)"},
        Pair{"composition(Swizzle<3,3,3>{}, Int<0>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
             "Sw<3,3,3> o _0 o (8,64):(64,1)"},
        Pair{"ComposedLayout<Swizzle<3,3,3>, Int<64>, Layout<Shape<_8,_64>,Stride<_64,_1>>>{}",
             "Sw<3,3,3> o _64 o (8,64):(64,1)"},
        Pair{"ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>,Stride<_64,_1>>>{}",
             "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"},
        Pair{"using SmemLayout = Layout<Shape<_8,_64>,Stride<_64,_1>>;", "(8,64):(64,1)"},
        Pair{"constexpr auto layout = make_layout(Shape<_8,_64>{});", "(8,64):(1,8)"},
        Pair{"static constexpr Layout<Shape<_8,_64>,Stride<_64,_1>> layout{};", "(8,64):(64,1)"},
        Pair{"Layout<Shape<_8,_64>, LayoutRight> layout;", "(8,64):(64,1)"},
        Pair{"using L = Layout<Shape<_8,_64>,Stride<_64,_1>>; static constexpr Swizzle<3,3,3> s{}; "
             "composition(s, L{})",
             "Sw<3,3,3> o _0 o (8,64):(64,1)"},
        Pair{"Layout<Shape<_8,_64>, GenRowMajor::Apply<Shape<_8,_64>>>{}", "(8,64):(64,1)"},
        Pair{"make_layout(Shape<_8,Shape<_4,_16>>{}, LayoutLeft::Apply<Shape<_8,Shape<_4,_16>>>{})",
             "(8,(4,16)):(1,(8,32))"},
        Pair{"make_layout(make_shape(Int<8>{}, Int<64>{}), make_stride(Int<128>{}/_2{}, Int<1>{}))",
             "(8,64):(64,1)"},
        Pair{"Layout<Shape<Int<1<<3>,Int<(256>>2)>>,Stride<Int<(3+5)*8>,_1>>{}", "(8,64):(64,1)"},
        Pair{"make_layout(make_shape(16/2, 64), make_stride(1 << 6, 1))", "(8,64):(64,1)"},
        Pair{"using S = Shape<_8,_64>; Layout<S>", "(8,64):(1,8)"},
        Pair{"constexpr int H = 64; constexpr int K = H % 64 == 0 ? 64 : 32; Layout<Shape<_16,Int<K>>>{}",
             "(16,64):(1,16)"},
        Pair{"make_layout(make_shape(8,64), make_stride((3+5)*8, _1{}))", "(8,64):(64,1)"},
        Pair{"make_layout(make_shape(8u, 0x100>>2), make_stride(Int<0x40>{}, 1ul))", "(8,64):(64,1)"},
        Pair{"make_layout(make_shape(cute::ceil_div(57,8), max(4,64)), make_stride(sizeof(half_t)*32, "
             "min(1,2)))",
             "(8,64):(64,1)"},
        Pair{"ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<sizeof_bits<half_t>::value>, "
             "Layout<Shape<_8,_64>,Stride<_64,_1>>>{}",
             "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"}));

INSTANTIATE_TEST_SUITE_P(
    Blocks, Spelling,
    testing::Values(Pair{"fn(row, col) = { let y = col ^ ((row & 7) << 3); return row*64 + y; } (8,64)",
                         "Sw<3,3,3> o _0 o (8,64):(64,1)"},
                    Pair{"fn(row, col) { return row*64 + col; } (8,64)", "(8,64):(64,1)"}));

INSTANTIATE_TEST_SUITE_P(
    Atoms, Spelling,
    testing::Values(
        Pair{"GMMA::Layout_K_SW128_Atom<half_t>", "gmma:K_SW128<f16>"},
        Pair{"GMMA::Layout_K_SW128_Atom<half_t>{}", "gmma:K_SW128<f16>"},
        Pair{"GMMA::Layout_MN_INTER_Atom<cutlass::bfloat16_t>{}", "gmma:MN_INTER<bf16>"},
        Pair{"cute::SM90::GMMA::Layout_K_SW64_Atom<float>{}", "gmma:K_SW64<f32>"},
        Pair{"cute::GMMA::Layout_MN_SW32_Atom<cutlass::float_e4m3_t>{}", "gmma:MN_SW32<e4m3>"},
        Pair{"UMMA::Layout_K_SW128_Atom<half_t>{}", "umma:K_SW128<f16>"},
        Pair{"cute::UMMA::Layout_MN_SW128_32B_Atom<tfloat32_t>{}", "umma:MN_SW128_32B<tf32>"},
        Pair{"GMMA::Layout_SW128_Atom<half_t, GMMA::Major::K>{}", "gmma:K_SW128<f16>"},
        Pair{"GMMA::Layout_SW64_Atom<int8_t, GMMA::Major::MN>{}", "gmma:MN_SW64<i8>"},
        Pair{"GMMA::Layout_K_SW128_Atom_Bits{}", "gmma:K_SW128<1b>"},
        Pair{"tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128,_64>{})",
             "tile_to_shape(gmma:K_SW128<f16>, (128,64))"},
        Pair{"tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_256,_64>{}, Step<_2,_1>{})",
             "tile_to_shape(gmma:MN_SW128<f16>, (256,64), (2,1))"},
        Pair{"using SmemLayoutA = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<cutlass::half_t>{}, "
             "make_shape(Int<128>{}, Int<64>{}, Int<4>{})));",
             "tile_to_shape(gmma:K_SW128<f16>, (128,64,4))"},
        Pair{"CU_TENSOR_MAP_SWIZZLE_128B", "tma:128B"}, Pair{"CU_TENSOR_MAP_SWIZZLE_64B", "tma:64B"},
        Pair{"CU_TENSOR_MAP_SWIZZLE_32B", "tma:32B"}, Pair{"CU_TENSOR_MAP_SWIZZLE_NONE", "tma:none"},
        Pair{"CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B", "tma:128B_ATOM_32B"},
        Pair{"CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B", "tma:128B_ATOM_32B_FLIP_8B"},
        Pair{"CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B", "tma:128B_ATOM_64B"},
        Pair{"CU_TENSOR_MAP_SWIZZLE_64B<half> (64,32)", "tma:64B<f16> (64,32)"}));

// Text before a layout in a program, and what it names.
INSTANTIATE_TEST_SUITE_P(
    Program, Spelling,
    testing::Values(
        Pair{"make_layout(make_shape(Int<64 * 2>{}, Int<128 + 8 - 72 / 9>{}))", "(128,128):(1,128)"},
        Pair{"constexpr int kBlockM = 128; static constexpr int kBlockK = kBlockM / 2;\n"
             "using Atom = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, Int<kBlockK>>, "
             "Stride<Int<kBlockK>, _1>>{}));\n"
             "using SmemLayoutQ = decltype(tile_to_shape(Atom{}, Shape<Int<kBlockM>, Int<kBlockK>>{}));",
             "tile_to_shape(Sw<3,3,3> o _0 o (8,64):(64,1), (128,64))"},
        Pair{"auto bM = Int<128>{}; auto bK = Int<8>{}; auto sA = make_layout(make_shape(bM, bK), "
             "make_stride(Int<1>{}, bM + Int<1>{}));",
             "(128,8):(1,129)"},
        Pair{"using Tile = Shape<_128,_64>; using Atom = GMMA::Layout_K_SW128_Atom<half_t>; "
             "tile_to_shape(Atom{}, Tile{})",
             "tile_to_shape(gmma:K_SW128<f16>, (128,64))"}));

INSTANTIATE_TEST_SUITE_P(
    Python, Spelling,
    testing::Values(
        Pair{"cute.make_swizzle(3,3,3)", "Sw<3,3,3>"},
        Pair{"cute.make_layout((8,64), stride=(64,1))", "(8,64):(64,1)"},
        Pair{"cute.make_layout((8,64))", "(8,64):(1,8)"},
        Pair{"sA = cute.make_layout(shape=(8,(4,16)), stride=(64,(16,1)))", "(8,(4,16)):(64,(16,1))"},
        Pair{"cute.make_ordered_layout((8,64), order=(1,0))", "(8,64):(64,1)"},
        Pair{
            "cute.make_composed_layout(cute.make_swizzle(3,3,3), 0, cute.make_layout((8,64), stride=(64,1)))",
            "Sw<3,3,3> o _0 o (8,64):(64,1)"},
        Pair{"cute.make_composed_layout(inner=cute.make_swizzle(3,3,3), offset=0, "
             "outer=cute.make_layout((8,64), stride=(64,1)))",
             "Sw<3,3,3> o _0 o (8,64):(64,1)"},
        Pair{"cute.tile_to_shape(gmma:K_SW128<f16>, (128,64), order=(0,1))",
             "tile_to_shape(gmma:K_SW128<f16>, (128,64))"},
        Pair{"Layout((8,64),(64,1))", "(8,64):(64,1)"},
        Pair{"compose(Swizzle(3,3,3), Layout((8,64),(64,1)))", "Sw<3,3,3> o _0 o (8,64):(64,1)"}));

// Mojo's functions as max/kernels/src/layout/swizzle.mojo has them: the numbers are worked by hand from there.
INSTANTIATE_TEST_SUITE_P(
    Mojo, Spelling,
    testing::Values(Pair{"Swizzle(3, 4, 3)", "Sw<3,4,3>"}, Pair{"make_swizzle[8, 64, 8]()", "Sw<3,3,3>"},
                    Pair{"make_swizzle[num_rows=8, row_size=32, access_size=4]()", "Sw<3,2,3>"},
                    Pair{"Layout.row_major(8, 64)", "(8,64):(64,1)"},
                    Pair{"Layout.col_major(8, 64)", "(8,64):(1,8)"},
                    Pair{"Layout(IntTuple(8, 64), IntTuple(64, 1))", "(8,64):(64,1)"}));

TEST(Mojo, SwizzlesOfATypeActOnItsElements) {
  struct Made {
    char const* text;
    Swizzle swizzle;
    unsigned bits;
  };
  // f16 rows of 64: 8 rows are 1024 bytes, 8 ways; 64 / 8 = 8 vectors a row. f32 rows of 16: 512 bytes, 4 ways; max(4, 8).
  for (Made const& m : {Made{"make_ldmatrix_swizzle[DType.float16, 64, 3]()", {3, 3, 3}, 16},
                        {"make_ldmatrix_swizzle[DType.float16, 64]()", {3, 0, 3}, 16},
                        {"make_ldmatrix_swizzle[DType.float32, 16]()", {2, 0, 3}, 32},
                        {"make_ldmatrix_swizzle[DType.bfloat16, 128]()", {3, 0, 4}, 16},
                        {"make_swizzle[DType.float16, TensorMapSwizzle.SWIZZLE_128B]()", {3, 3, 3}, 16},
                        {"make_swizzle[DType.float32, TensorMapSwizzle.SWIZZLE_64B]()", {2, 2, 3}, 32},
                        {"make_swizzle[DType.float16, TensorMapSwizzle.SWIZZLE_NONE]()", {0, 3, 3}, 16}}) {
    Mapping const map = parse_mapping(m.text);
    ASSERT_EQ(map.on_elements.size(), 1U) << m.text;
    EXPECT_EQ(std::get<Swizzle>(map.on_elements[0]), m.swizzle) << m.text;
    EXPECT_EQ(map.element_bits, m.bits) << m.text;
    EXPECT_FALSE(map.acts_on_bytes()) << m.text;
  }
  Mapping const made = parse_mapping("make_swizzle[DType.float16, TensorMapSwizzle.SWIZZLE_128B]()");
  EXPECT_TRUE(std::holds_alternative<Proved>(compare(made, parse_mapping("tma:128B"), {}, {}).outcome));
}

struct Refused {
  char const* text;
  char const* message;
  char const* hint;  ///< how it begins
};

void PrintTo(Refused const& refused, std::ostream* out) { *out << refused.text; }

class NoLayout : public testing::TestWithParam<Refused> {};

TEST_P(NoLayout, IsRefusedWithWhatIsNeeded) {
  try {
    (void)parse_mapping(GetParam().text);
    ADD_FAILURE() << "accepted: " << GetParam().text;
  } catch (InputError const& error) {
    EXPECT_EQ(error.message, GetParam().message);
    EXPECT_EQ(error.hint.substr(0, std::string_view(GetParam().hint).size()), GetParam().hint);
    EXPECT_LE(error.at, std::string_view(GetParam().text).size());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NoLayout,
    testing::Values(
        Refused{"make_layout(make_shape(m, 64))", "'m' is a name, and a number is needed",
                "what is proved holds"},
        Refused{"make_layout(make_shape(8, 64), make_stride(ld, Int<1>{}))",
                "'ld' is a name, and a number is needed", "what is proved holds"},
        Refused{"Layout<Shape<int,_64>>{}",
                "an extent of type int is known at run time alone, and a number is needed",
                "what is proved holds"},
        Refused{"Layout<Shape<Int<kBlockM>,_64>>{}", "'kBlockM' is a name, and a number is needed",
                "what is"},
        Refused{"half_t", "'half_t' is an element type, and a layout is needed", "an atom takes one"},
        Refused{"SM75_U32x4_LDSM_N", "'SM75_U32x4_LDSM_N' names an instruction, and a layout is needed",
                "an instruction reads a layout"},
        Refused{"TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>>",
                "a TiledMMA computes on registers: it lays out no shared memory and accesses none",
                "'swizproof fragment' shows which register"},
        Refused{"Shape<_8,_64>{}", "this is (_8,_64), not a layout",
                "as the shape of a layout: make_layout((_8,_64))"},
        Refused{"mkae_layout((8,64))", "unknown name 'mkae_layout'", "did you mean make_layout?"},
        Refused{"Layuot<Shape<_8,_64>>{}", "unknown name 'Layuot'", "did you mean Layout?"},
        Refused{"Swizle<3,4,3>", "unknown name 'Swizle'", "did you mean Swizzle?"},
        Refused{"coalesce(mkae_layout((8,64)))", "unknown name 'mkae_layout'", "did you mean make_layout?"},
        Refused{"GMMA::Layout_K_SW218_Atom<half_t>", "unknown wgmma atom 'Layout_K_SW218_Atom'",
                "did you mean Layout_K_SW128_Atom?"},
        Refused{"GMMA::Layout_MN_SW128_32B_Atom<float>", "unknown wgmma atom 'Layout_MN_SW128_32B_Atom'", ""},
        Refused{"GMMA::Layout_K_SW128_SpAtom<half_t,2>", "sparse atoms are not supported", ""},
        Refused{"GMMA::Layout_K_SW128_Atom", "the element type is missing",
                "such as GMMA::Layout_K_SW128_Atom<f16>"},
        Refused{"GMMA::Layout_SW128_Atom<half_t>",
                "expected ',' after the element type: GMMA::Major::K or GMMA::Major::MN is missing", ""},
        Refused{"CU_TENSOR_MAP_SWIZZLE_182B", "unknown TMA mode '182B'", "did you mean 128B?"},
        Refused{"cute.make_layout((8,64), strid=(64,1))", "unknown argument 'strid' of make_layout",
                "did you mean stride?"},
        Refused{"cute.make_layout(stride=(64,1), shape=(8,64))", "stride is argument 2 of make_layout",
                "write the arguments in their order"},
        Refused{"using X = ", "a layout is missing", ""},
        Refused{"n = 9223372036854775807 * 2; make_layout(Int<n>{})", "this number needs more than 63 bits",
                ""},
        Refused{"Layout<Shape<Int<8/0>>>", "a divisor is 1 or more here", ""},
        Refused{"make_layout(make_shape(1 << 63))", "numbers are shifted by 0 to 62 bits", ""},
        Refused{"make_layout(make_shape(8, 3 << 62))", "this number needs more than 63 bits", ""},
        Refused{"LayoutRight::Apply<Shape<_8,_64>>{}", "this is (_64,_1), not a layout", ""},
        Refused{"fn(x) = { return x; ", "expected '}' after the expression", ""},
        Refused{"make_swizzle[8, 8, 8]()", "make_swizzle: a row must hold more elements than an access", ""},
        Refused{"make_ldmatrix_swizzle[DType.float16, 48]()",
                "make_ldmatrix_swizzle: a row must be a multiple of 128 bytes, or divide them", ""},
        Refused{"make_ldmatrix_swizzle[64]()", "make_ldmatrix_swizzle: the element type is missing",
                "make_ldmatrix_swizzle[DType.float16, 64, 3]()"}));

TEST(Spelling, DefinitionsThatGrowWithoutEndAreRefused) {
  std::string text = "a0 = 1:0; ";
  for (int i = 0; i < 40; ++i) {
    std::string const before = "a" + std::to_string(i);
    text += "a" + std::to_string(i + 1) + " = make_layout(" + before + "," + before + "); ";
  }
  try {
    (void)parse_mapping(text + "a40");
    ADD_FAILURE() << "accepted";
  } catch (InputError const& error) {
    EXPECT_EQ(error.message, "the definitions become longer than 64 KiB");
  }
}

TEST(Spelling, ShapesThatGrowWithoutEndAreRefused) {
  std::string text = "using A0 = Shape<_2,_2>; ";
  for (int i = 0; i < 40; ++i) {
    std::string const before = "A" + std::to_string(i);
    text += "using A" + std::to_string(i + 1) + " = Shape<" + before + "," + before + ">; ";
  }
  try {
    (void)parse_mapping(text + "Layout<A40>");
    ADD_FAILURE() << "accepted";
  } catch (InputError const& error) {
    EXPECT_EQ(error.message, "the definitions become longer than 64 KiB");
  }
}

TEST(Units, AByteSwizzleOnElementsAndAnElementSwizzleOnBytesAreNoted) {
  auto const notes = [](char const* text, MappingOptions const& options = {}) {
    std::string all;
    for (std::string const& note : parse_mapping(text, options).notes) all += note;
    return all;
  };
  EXPECT_EQ(
      notes("Sw<3,4,3> o _0 o (8,80):(80,1)", {16}),
      "Sw<3,4,3> acts on element offsets here; if it was meant of bytes, as TMA and wgmma have it, then of "
      "16-bit elements it is Sw<3,3,3> o _0 o (8,80):(80,1), or Sw<3,4,3> o smem_ptr[16b](unset) o "
      "(8,80):(80,1)");
  EXPECT_EQ(
      notes("Sw<3,3,3> o smem_ptr[16b](unset) o (8,80):(80,1)"),
      "Sw<3,3,3> acts on byte addresses here; if it was meant of offsets of 16-bit elements, it is Sw<3,4,3> "
      "on bytes, or Sw<3,3,3> o _0 o (8,80):(80,1)");
  for (char const* right :
       {"Sw<3,3,3> o _0 o (8,80):(80,1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,80):(80,1)"})
    EXPECT_EQ(notes(right, {16}), "") << right;
  EXPECT_EQ(notes("Sw<3,4,3> o _0 o (8,80):(80,1)", {8}), "") << "of bytes the two are one";
}

TEST(ParseArchitecture, ReadsEverySpelling) {
  struct Spelled {
    char const* text;
    char const* name;
  };
  for (Spelled const& s :
       {Spelled{"sm90", "sm_90"},  {"SM_90", "sm_90"},   {"sm_90a", "sm_90a"}, {"sm90a", "sm_90a"},
        {"90", "sm_90"},           {"90a", "sm_90a"},    {"9.0", "sm_90"},     {"compute_90", "sm_90"},
        {"compute_90a", "sm_90a"}, {"hopper", "sm_90"},  {"Hopper", "sm_90"},  {"ada", "sm_89"},
        {"sm_100a", "sm_100"},     {"10.0", "sm_100"},   {"sm120a", "sm_120"}, {"volta", "sm_70"},
        {"Turing", "sm_75"},       {"7.5", "sm_75"},     {"sm_87", "sm_87"},   {"sm_103a", "sm_103"},
        {"11.0", "sm_110"},        {"sm_121f", "sm_121"}})
    EXPECT_EQ(parse_architecture(s.text).name, s.name) << s.text;
}

TEST(ParseArchitecture, NamesTheNearestThatHasATable) {
  auto const hint = [](char const* text) {
    try {
      return "accepted as " + std::string(parse_architecture(text).name);
    } catch (InputError const& error) {
      return error.hint.substr(0, error.hint.find(';')) + "|" +
             error.hint.substr(0, error.hint.find('?') + 1);
    }
  };
  EXPECT_EQ(hint("sm_88").substr(0, 22), "sm_88 has no table her");
  for (auto const& [text, near] : {std::pair{"sm_61", "sm_70"},
                                   {"sm_72", "sm_70"},
                                   {"sm_88", "sm_87"},
                                   {"sm_101", "sm_100"},
                                   {"sm_130", "sm_121"}}) {
    try {
      ADD_FAILURE() << "accepted as " << parse_architecture(text).name;
    } catch (InputError const& error) {
      EXPECT_EQ(error.message, "unknown architecture");
      EXPECT_NE(error.hint.find("the nearest that has one is " + std::string(near) + ","), std::string::npos)
          << text;
    }
  }
  EXPECT_EQ(hint("hoper"),
            "did you mean hopper? known: sm_90 sm_70 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90a sm_100 sm_103 "
            "sm_110 sm_120 "
            "sm_121|did you mean hopper?");
  for (char const* amd : {"gfx90a", "gfx942", "GFX950"})
    EXPECT_NE(hint(amd).find("AMD"), std::string::npos) << hint(amd);
  for (char const* bad :
       {"", "sm_", "sm_90.5", "9.00", "sm_90b", "905", "sm_99999999999", "ampere", "blackwell"})
    EXPECT_THROW((void)parse_architecture(bad), InputError) << bad;
}

}  // namespace
}  // namespace swizproof
