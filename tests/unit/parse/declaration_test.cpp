// Arrays of C as LAYOUT, their subscripts as ACCESS: strides, coordinates, C's integers, what is refused.
#include <swizproof/access/access.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(Declaration, IsARowMajorLayoutOfItsElements) {
  struct Case {
    char const *text, *layout;
    unsigned bits;
    std::uint64_t alignment;
  };
  for (Case const& c :
       {Case{"__shared__ half a[64][72]", "(64,72):(72,1)", 16, 2}, Case{"float s[1024];", "1024:1", 32, 4},
        Case{"alignas(128) static __shared__ unsigned char b[2][3][4]", "(2,3,4):(12,4,1)", 8, 128},
        Case{"extern __shared__ __align__(16) volatile unsigned long long int q[3][5]", "(3,5):(5,1)", 64,
             16},
        Case{"__shared__ alignas(float4) cutlass::half_t t[2][2][8][8]", "(2,2,8,8):(128,64,8,1)", 16, 16},
        Case{"__shared__ float4 v[32][8]", "(32,8):(8,1)", 128, 16},
        Case{"__shared__ uchar4 v[32]", "32:1", 32, 4},
        Case{"constexpr int BM = 64, PAD = 8; __shared__ half a[BM][64 + PAD]", "(64,72):(72,1)", 16, 2}}) {
    Mapping const map = parse_mapping(c.text);
    EXPECT_EQ(map.text, c.layout) << c.text;
    EXPECT_EQ(map.element_bits, c.bits) << c.text;
    ASSERT_TRUE(map.array.has_value()) << c.text;
    EXPECT_EQ(map.array->alignment, c.alignment) << c.text;
  }
  EXPECT_EQ(parse_mapping("__shared__ T a[8][8]", {16}).element_bits, 16U);
  EXPECT_EQ(declared_alignment(parse_mapping("alignas(128) half a[8]")), 128U);
  EXPECT_EQ(declared_alignment(parse_mapping("half a[8]")), std::nullopt);
}

std::string refusal(std::string_view layout, std::string_view access = {},
                    std::optional<BlockShape> const& block = {}) {
  try {
    Mapping const map = parse_mapping(layout);
    if (!access.empty()) (void)parse_access(access, {}, {map.array, block});
  } catch (InputError const& error) {
    return error.message;
  }
  return "accepted";
}

TEST(Declaration, RefusesWhatItCannotPlace) {
  EXPECT_EQ(refusal("__shared__ T a[8][8]"), "the size of 'T' is not known");
  EXPECT_EQ(refusal("extern __shared__ half a[]"), "the array has no extent here");
  EXPECT_EQ(refusal("__shared__ half a[1][1][1][1][1]"), "an array has one to four extents");
  EXPECT_EQ(refusal("__shared__ float3 a[8]"), "float3 has 12 bytes, and no instruction moves so many");
  EXPECT_EQ(refusal("__shared__ double4 a[8]"), "double4 has 32 bytes, and no instruction moves so many");
  EXPECT_EQ(refusal("__shared__ long a[8]"), "long has 4 bytes on Windows and 8 on Linux");
  EXPECT_EQ(refusal("__shared__ half a[0]"), "the extents are from 1 on, and their product is at most 2^31");
  EXPECT_EQ(refusal("__shared__ half a[65536][65536]"),
            "the extents are from 1 on, and their product is at most 2^31");
  EXPECT_EQ(refusal("__shared__ half a[8] = {}"), "a declaration is of one array without a value");
  EXPECT_EQ(refusal("__shared__ half a[8], b[8]"), "a declaration is of one array without a value");
  EXPECT_EQ(refusal("alignas(12) half a[8]"), "an alignment is a power of two up to 2^20");
  EXPECT_EQ(refusal("__shared__ half lane[8]"), "'lane' has a meaning in ACCESS");
}

/// The access, and the coordinate of a lane under values of its variables; empty for a lane that takes no part.
struct Read {
  std::string name;
  std::vector<std::int64_t> at;
};
Read read(std::string_view layout, std::string_view text, std::vector<std::uint64_t> values,
          std::optional<BlockShape> block = {}) {
  Mapping const map = parse_mapping(layout);
  Access const access = parse_access(text, {}, {map.array, block});
  std::span<std::uint64_t const> const at(values);
  Read out{to_string(access.instruction), {}};
  if (access.active && (*access.active)(at, std::uint64_t{}) == 0) return out;
  for (Expression const& e : std::get<Coordinate>(access.where).modes)
    out.at.push_back(static_cast<std::int64_t>(e(at, std::uint64_t{})));
  return out;
}

using At = std::vector<std::int64_t>;
constexpr char const* halves = "__shared__ half a[64][72]";

TEST(Subscript, IsACoordinateOfTheArray) {
  Read const scalar = read(halves, "a[threadIdx.x / 4][8 * (threadIdx.x % 4) + i] for i in 0..7", {5, 3});
  EXPECT_EQ(scalar.name, "ld.shared.b16");
  EXPECT_EQ(scalar.at, (At{1, 11}));
  EXPECT_EQ(read(halves, "a[threadIdx.x][0] = 1;", {5}).name, "st.shared.b16");
  EXPECT_EQ(read(halves, "sum += a[threadIdx.x][0];", {5}).name, "ld.shared.b16");
  EXPECT_EQ(read(halves, "c[a1 <= 2] = a[threadIdx.x][0];", {5}).name, "ld.shared.b16");
  EXPECT_EQ(read("float s[64]", "s[threadIdx.x]", {9}).at, (At{9}));
  EXPECT_EQ(read("double d[4][8]", "*a = d[0][lane]", {7}).name, "ld.shared.b64");
}

TEST(Subscript, HasTheWidthOfItsCast) {
  for (char const* text :
       {"reinterpret_cast<float4*>(&a[threadIdx.x][8])[0]",
        "*reinterpret_cast<const float4*>(&a[threadIdx.x][8])", "*(float4*)&a[threadIdx.x][8]",
        "((uint4 const*)&a[threadIdx.x][0])[1]", "reinterpret_cast<int4&>(a[threadIdx.x][8])",
        "(reinterpret_cast<float4*>(&(a[threadIdx.x][8]))[0])",
        "*reinterpret_cast<float4*>(a[threadIdx.x] + 8)", "reinterpret_cast<float4*>(a[threadIdx.x])[1]"}) {
    Read const r = read(halves, text, {5});
    EXPECT_EQ(r.name, "ld.shared.b128") << text;
    EXPECT_EQ(r.at, (At{5, 8})) << text;
  }
  EXPECT_EQ(
      read(halves, "reinterpret_cast<float2*>(&a[0][0])[threadIdx.x + 32*k] for k in range(4)", {3, 2}).at,
      (At{3, 52}));
  EXPECT_EQ(read(halves, "ldmatrix.x4: &a[threadIdx.x % 16][8 * (threadIdx.x / 16)]", {17}).at, (At{1, 8}));
  EXPECT_EQ(read(halves, "ldmatrix.x4: a[threadIdx.x % 16]", {17}).at, (At{1, 0}));
  EXPECT_EQ(read("__shared__ float s[64]", "*(float4*)(s + 4 * threadIdx.x % 64)", {5}).at, (At{20}));
  // A vector behind the end of a row is in the next one; one that ends with its row stays in it.
  EXPECT_EQ(read("float a[32][8]", "reinterpret_cast<float4*>(a[threadIdx.x])[2]", {5}).at, (At{6, 0}));
  EXPECT_EQ(read("float a[32][6]", "*(float4*)&a[threadIdx.x][2]", {5}).at, (At{5, 2}));
}

TEST(Subscript, HasTheThreadsOfItsBlock) {
  std::string_view const text = "a[threadIdx.y + 8 * threadIdx.z][threadIdx.x + blockDim.x]";
  // warp 3, lane 5 of 8 x 4 x 4: thread 101 = (5, 0, 3)
  EXPECT_EQ(read(halves, text, {5, 3}, BlockShape{8, 4, 4}).at, (At{24, 13}));
  // warp 1, lane 8 of 20 x 3: thread 40 = (0, 2)
  EXPECT_EQ(read(halves, text, {8, 1}, BlockShape{20, 3, 1}).at, (At{2, 20}));
  EXPECT_EQ(read(halves, text, {28, 1}, BlockShape{20, 3, 1}).at, At{}) << "60 threads";
  EXPECT_EQ(read(halves, "a[tid / 8][warp]", {3, 2}, BlockShape{128, 1, 1}).at, (At{8, 2}));
  EXPECT_EQ(read(halves, "a[threadIdx.x / 8][0] for warp in 0..3", {3, 2}).at, (At{8, 0}));
}

TEST(Subscript, LoopsAndNamesAreVariablesAndExpressions) {
  std::string_view const block =
      "#pragma unroll 4\nfor (int j = 0; j < 32; j += 8) { a[threadIdx.y + j][threadIdx.x] = in[j]; }";
  EXPECT_EQ(read(halves, block, {3, 2, 24}, BlockShape{32, 8, 1}).at, (At{26, 3}));
  std::string_view const thread = "for (int i = threadIdx.y; i < 20; i += blockDim.y) x = a[i][0];";
  EXPECT_EQ(read(halves, thread, {0, 7, 1}, BlockShape{32, 8, 1}).at, (At{15, 0}));
  EXPECT_EQ(read(halves, thread, {0, 7, 2}, BlockShape{32, 8, 1}).at, At{}) << "i = 23";
  EXPECT_EQ(
      read(halves,
           "int lane = threadIdx.x & 7; const unsigned r = lane * 2, c = r + 1; if (lane < 4) v = a[r][c];",
           {11})
          .at,
      (At{6, 7}));
  EXPECT_EQ(read(halves, "if (lane < 4) v = a[lane][0];", {4}).at, At{});
  EXPECT_EQ(read(halves, "for (unsigned i = 0; i < 4; ++i) v = a[0][(i - 3) / 2];", {0, 1}).at,
            (At{0, 2147483647}));
  EXPECT_EQ(read(halves, "for (int i = 0; i < 4; ++i) v = a[0][(i - 3) / 2];", {0, 1}).at, (At{0, -1}));
  EXPECT_EQ(read(halves, "a[lane][i] if lane < 4 for i in range(2, 8, 2)", {3, 6}).at, (At{3, 6}));
}

TEST(Subscript, IsComputedByTheRulesOfC) {
  struct Case {
    char const* expression;
    std::int64_t of_lane_3;
  };
  // threadIdx.x is unsigned, lane and literals are int.
  for (Case const& c : {Case{"(lane - 10) / 4", -1},
                        Case{"(lane - 10) % 4", -3},
                        Case{"(lane - 10) >> 2", -2},
                        Case{"lane - 10 < 0 ? 1 : 2", 1},
                        Case{"threadIdx.x - 10 < 0 ? 1 : 2", 2},
                        Case{"threadIdx.x - 10", 4294967289},
                        Case{"(int)(threadIdx.x - 10)", -7},
                        Case{"(threadIdx.x - 10) / 4", 1073741822},
                        Case{"~lane", -4},
                        Case{"~threadIdx.x", 4294967292},
                        Case{"-lane + 3u", 0},
                        Case{"lane < -1", 0},
                        Case{"threadIdx.x < -1", 1},
                        Case{"(unsigned char)(lane - 4)", 255},
                        Case{"static_cast<short>(threadIdx.x + 0xffff)", 2},
                        Case{"int(threadIdx.x) - 5", -2},
                        Case{"(lane - 10) & 7", 1},
                        Case{"(lane - 10) ^ 8", -15},
                        Case{"lane - 10 == -7", 1},
                        Case{"threadIdx.x * 0x80000000", 2147483648},
                        Case{"1 << lane % 8", 8},
                        Case{"(int64_t)lane - 4", -1},
                        Case{"Sw<3,0,3>(lane + 8)", 10},
                        Case{"lane > 2 && !(lane == 4)", 1}}) {
    EXPECT_EQ(read("char a[64]", std::string("a[") + c.expression + "]", {3}).at, At{c.of_lane_3})
        << c.expression;
  }
}

TEST(Subscript, IsRightOnBothSidesOfZero) {
  struct Case {
    char const* expression;
    int (*of)(int lane);
  };
  for (Case const& c :
       {Case{"(lane - 10) / 4", [](int lane) { return (lane - 10) / 4; }},
        Case{"(lane - 10) % 4", [](int lane) { return (lane - 10) % 4; }},
        Case{"(lane - 10) >> 2", [](int lane) { return (lane - 10) >> 2; }},
        Case{"lane - 10 < 0 ? 1 : 2", [](int lane) { return lane - 10 < 0 ? 1 : 2; }},
        Case{"lane - 10 <= 5 - lane", [](int lane) { return static_cast<int>(lane - 10 <= 5 - lane); }},
        Case{"(signed char)(lane * 8u)", [](int lane) { return int{static_cast<signed char>(lane * 8)}; }},
        Case{"(unsigned)(lane - 10) % 64", [](int lane) { return (lane - 10) & 63; }},
        Case{"(lane - 10) * (5 - lane)", [](int lane) { return (lane - 10) * (5 - lane); }},
        Case{"(lane - 10) | 6", [](int lane) { return (lane - 10) | 6; }}})
    for (int lane = 0; lane < 32; ++lane)
      EXPECT_EQ(
          read("char a[64]", std::string("a[") + c.expression + "]", {static_cast<std::uint64_t>(lane)}).at,
          At{c.of(lane)})
          << c.expression << " of lane " << lane;
}

TEST(Subscript, RefusesWhatItCannotAnswer) {
  auto const of = [](std::string_view access) { return refusal(halves, access); };
  EXPECT_EQ(of("a[0][lane * 0x7fffffff]"), "this may overflow int, which C leaves undefined");
  EXPECT_EQ(of("a[0][1 << 4 * lane]"),
            "this may shift int by a negative number or by its width, which C leaves undefined");
  EXPECT_EQ(of("a[0][lane / lane]"), "the divisor must be a constant");
  EXPECT_EQ(of("a[0][lane % -2]"), "the divisor is negative");
  EXPECT_EQ(of("a[0][lane % 0]"), "division by zero");
  EXPECT_EQ(of("a[0]"), "a has 2 extents, and 1 have a subscript");
  EXPECT_EQ(of("a[0][1][2]"), "a has 2 extents, and this is one subscript more");
  EXPECT_EQ(of("&a[0][1]"), "this is an address, which no load or store has");
  EXPECT_EQ(of("a[0][1] += x"), "this reads a and writes it, or is no store");
  EXPECT_EQ(of("a[0][1] = a[1][0]"), "this reads a and writes it: two accesses");
  EXPECT_EQ(of("x = a[0][1] * 2"), "unexpected text after the access");
  EXPECT_EQ(of("x = a[0][1]; y = a[0][2];"), "unexpected text after the access");
  EXPECT_EQ(of("*(float3*)&a[0][0]"), "no instruction moves 12 bytes");
  EXPECT_EQ(of("*(char*)&a[0][0]"), "char has 1 bytes, which are no whole number of elements of 2 bytes");
  EXPECT_EQ(of("ld.shared.b8: a[0][1]"), "ld.shared.b8 moves 1 bytes, and this has 2");
  EXPECT_EQ(of("ld.shared.b16: a[0][1] = x"), "ld.shared.b16 loads, and this stores");
  EXPECT_EQ(of("if (lane < 4) ldmatrix.x4: a[0]"), "expected an element of a");
  EXPECT_EQ(of("ldmatrix.x1: a[lane] if lane < 8"),
            "ldmatrix and stmatrix need all their lanes: they take no 'if'");
  EXPECT_EQ(of("a[threadIdx.y][0]"), "the shape of the block is not known");
  EXPECT_EQ(of("for (int i = 0; i < 0; ++i) a[i][0]"), "this loop has no iteration");
  EXPECT_EQ(of("for (int i = -1; i < 4u; ++i) a[i][0]"),
            "a negative number is compared with an unsigned one, which ends the loop");
  EXPECT_EQ(of("for (char i = 0; i < 200; ++i) a[i][0]"), "the loop's variable may overflow its type");
  EXPECT_EQ(of("#pragma once a[0][0]"), "expected unroll: other pragmas are not read");
  EXPECT_EQ(of("a[0][0] for i in range(4, 4)"), "this range is empty");
  EXPECT_EQ(of("int r = 1, r = 2; a[r][0]"), "there are two of this name");
  EXPECT_EQ(refusal("__shared__ float4 a[8]", "a[lane % 8].x"), "members of vectors are not read");
  EXPECT_EQ(refusal("__shared__ half a[64][4]", "reinterpret_cast<float4*>(a)[lane]"),
            "vectors of 8 elements may cross the rows of 4 elements, which a coordinate cannot name");
  EXPECT_EQ(refusal("float a[32][6]", "*(float4*)&a[lane][4]"),
            "vectors of 4 elements may cross the rows of 6 elements, which a coordinate cannot name");
  EXPECT_EQ(refusal(halves, "ldmatrix.x4", BlockShape{64, 1, 1}),
            "this access has its own threads: a block is for expressions of threadIdx");
  EXPECT_EQ(refusal(halves, "a[0][0] for warp in 0..1", BlockShape{64, 1, 1}), "the block has its warps");
  EXPECT_EQ(refusal("(64,72):(72,1)", "a[lane][0]"), "unknown access");
}

TEST(Subscript, SaysWhatItTakesForGranted) {
  std::vector<std::string> notes;
  Mapping const map = parse_mapping(halves);
  (void)parse_noted_access("*(float4*)&a[threadIdx.x][0]", notes, {map.array, {}});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            "'a[..]' is a load; 'a[..] = x' is a store; only threads 0 to 31, one warp; for more warps give "
            "--block, such as --block 128; "
            "half a[..] is aligned to 2 bytes: alignas(16) guarantees the base that ld.shared.b128 needs");
}

}  // namespace
}  // namespace swizproof
