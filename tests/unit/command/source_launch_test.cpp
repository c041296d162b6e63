// Blocks of launches in CUDA source, worked out by hand.
#include "command/kernel/source_launch.hpp"

#include <gtest/gtest.h>

namespace swizproof::command {
namespace {

using Shape = std::array<std::uint32_t, 3>;

/// The block of the only launch of a source; zeros if it is no constant.
Shape block_in(std::string const& source, std::vector<std::string> const& flags = {}) {
  auto const launches = launches_in(source, flags);
  EXPECT_EQ(launches.size(), 1U) << source;
  return launches.empty() ? Shape{} : launches[0].block;
}
constexpr Shape no_constant{};

TEST(SourceLaunches, ConstantsAreRead) {
  EXPECT_EQ(block_in("k<<<grid, 256>>>(p);"), (Shape{256, 1, 1}));
  EXPECT_EQ(block_in("k<<<dim3(1, 2), dim3(32, 8), 0, s>>>(p);"), (Shape{32, 8, 1}));
  EXPECT_EQ(block_in("k<<<1, dim3{32u, 0x4, 2}>>>()"), (Shape{32, 4, 2}));
  EXPECT_EQ(block_in("k<<<1, {16, 16}>>>()"), (Shape{16, 16, 1}));
  EXPECT_EQ(block_in("k<<<f(a, b), (32 * 8)>>>()"), (Shape{256, 1, 1}));
  EXPECT_EQ(block_in("k<<<1, 8 + 2 * 4 - 8 / 2 % 3>>>()"), (Shape{15, 1, 1}));
  EXPECT_EQ(block_in("k<<<1, 64 - 8 - 8>>>()"), (Shape{48, 1, 1}));
}

TEST(SourceLaunches, NamesAreFollowed) {
  EXPECT_EQ(block_in("#define N 128\nk<<<1, N>>>()"), (Shape{128, 1, 1}));
  EXPECT_EQ(block_in("static constexpr int W = 4;\nk<<<1, W * 32>>>()"), (Shape{128, 1, 1}));
  EXPECT_EQ(
      block_in(
          "constexpr int side = 64, tile = 32, rows = max(1, 2), n;\nk<<<1, dim3(tile, side / tile)>>>()"),
      (Shape{32, 2, 1}));
  EXPECT_EQ(block_in("const unsigned x = 32; dim3 block(x, 8); k<<<1, block>>>()"), (Shape{32, 8, 1}));
  EXPECT_EQ(block_in("dim3 const block{32, 4};\nk<<<1, block>>>()"), (Shape{32, 4, 1}));
  EXPECT_EQ(block_in("const dim3 block = dim3(32, 2);\nk<<<1, block>>>()"), (Shape{32, 2, 1}));
  EXPECT_EQ(block_in("#define N 128 // threads\nk<<<1, N>>>()", {"-O3 -DN=64"}), (Shape{64, 1, 1}));
}

TEST(SourceLaunches, WhatIsNoConstantIsNone) {
  EXPECT_EQ(block_in("k<<<1, n>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, f(32)>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, dim3(32, n)>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, dim3(1, 1, 1, 1)>>>()"), no_constant);
  EXPECT_EQ(block_in("int n = 32; n = 64; k<<<1, n>>>()"), no_constant);
  EXPECT_EQ(block_in("dim3 block(32); block.y = 8; k<<<1, block>>>()"), no_constant);
  EXPECT_EQ(block_in("#if A\n#define N 128\n#else\n#define N 64\n#endif\nk<<<1, N>>>()"), no_constant);
  EXPECT_EQ(block_in("#define N(x) 128\nk<<<1, N>>>()"), no_constant);
  EXPECT_EQ(block_in("template <int N> void f() { k<<<1, N>>>(); }"), no_constant);
  EXPECT_EQ(block_in("const int n = m;\nk<<<1, n>>>()"), no_constant);
  EXPECT_EQ(block_in("const int n = n;\nk<<<1, n>>>()"), no_constant);
  EXPECT_EQ(block_in("const int N = 32;\nvoid f(int N) { k<<<1, N>>>(); }"), no_constant);
  EXPECT_EQ(block_in("dim3 block(32); set(block); k<<<1, block>>>()"), no_constant);
  EXPECT_EQ(block_in("dim3 block(32); block.y *= 8; k<<<1, block>>>()"), no_constant);
  EXPECT_EQ(block_in("dim3 block(32); n = m / block.x; k<<<n / block.x, block>>>()"), (Shape{32, 1, 1}));
  EXPECT_EQ(block_in("k<<<1, 2048>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, dim3(64, 32)>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, 0>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, 32 / 0>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, 1 ? 32 : 64>>>()"), no_constant);
  EXPECT_EQ(block_in("k<<<1, 040>>>()"), no_constant);  // octal
}

TEST(SourceLaunches, CommentsAndTextsAreNone) {
  EXPECT_TRUE(launches_in("// k<<<1, 32>>>()\n/* k<<<1, 32>>>() */ \"k<<<1, 32>>>()\" '\\''").empty());
  EXPECT_EQ(block_in("#define N 32 /* not 64 */\nk<<<1, N>>>(); // k<<<1, 1>>>"), (Shape{32, 1, 1}));
  EXPECT_TRUE(launches_in("a <<< b; /*").empty());
  EXPECT_TRUE(launches_in("x <<<1>>> y /").empty());
}

TEST(SourceLaunches, KernelsAreNamed) {
  auto const launches = launches_in("\n\nns::transpose<float, (4 > 3)><<<1, 32>>>();\nplain <<<1, 64>>> ();");
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[1].kernel, "plain");
  EXPECT_EQ(launches[1].line, 4U);
  EXPECT_TRUE(launches[1].is_of("plain"));
  EXPECT_TRUE(launches[1].is_of("void (anonymous namespace)::plain<4>(float*)"));
  EXPECT_TRUE(launches[1].is_of("plain(float*)"));
  EXPECT_FALSE(launches[1].is_of("plain2(float*)"));
  EXPECT_FALSE(launches[1].is_of("other(plain::Params)"));
  EXPECT_FALSE(launches[1].is_of("other(plain)"));
  EXPECT_FALSE(launches[1].is_of("void other<plain>(float*)"));
}

/// The instantiation that is proposed for the only template of a source.
std::string instantiation_in(std::string_view source) {
  auto const all = templates_in(source);
  return all.size() == 1 ? all[0].instantiation : "";
}

TEST(SourceTemplates, AreNamedWithAnInstantiation) {
  auto const all = templates_in(
      "#include <x>\n// template <int N> __global__ void no();\ntemplate <typename T, int N = 4>\n"
      "__global__ void scale(T* to, T by = T(1), int n = N) { to[0] = by; }\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "scale");
  EXPECT_EQ(all[0].line, 4U);
  EXPECT_EQ(all[0].instantiation, "template __global__ void scale<float, 32>(float* to, float by, int n);");
  EXPECT_EQ(instantiation_in("template<class T>\n__global__ __launch_bounds__(128, 2) void f(T const *x) {}"),
            "template __global__ void f<float>(float const *x);");
  EXPECT_EQ(instantiation_in("template <bool B> void __global__ f() {}"),
            "template __global__ void f<true>();");
}

TEST(SourceTemplates, OtherKernelsAreNone) {
  EXPECT_TRUE(templates_in("__global__ void f(int* x) {}").empty());
  EXPECT_TRUE(templates_in("template <typename T> struct A { T t; };\n__global__ void f(int* x) {}").empty());
  EXPECT_TRUE(templates_in("template <> __global__ void f<int>(int* x) {}").empty());
  EXPECT_TRUE(templates_in("template __global__ void f<int>(int* x);").empty());
  auto const variadic = templates_in("template <typename... T> __global__ void f(T... t) {}");
  ASSERT_EQ(variadic.size(), 1U);
  EXPECT_EQ(variadic[0].instantiation, "");
}

}  // namespace
}  // namespace swizproof::command
