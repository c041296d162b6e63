// Tiles of ThunderKittens, TileLang, Mosaic and Gluon: each address is the one of the project's own definition.
#include <swizproof/layout/map.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// The byte of an element of a tile of two modes, from base 0.
std::uint64_t byte_of(Mapping const& map, std::int64_t rows, std::int64_t row, std::int64_t col) {
  return value(map, Address<std::uint64_t>{0}, static_cast<std::uint64_t>(row + rows * col), Unit::bytes);
}

/// ThunderKittens, include/types/shared/st.cuh: swizzle_bytes, and idx().
std::uint64_t kittens(std::int64_t rows, std::int64_t cols, std::int64_t bytes, std::int64_t r,
                      std::int64_t c) {
  std::int64_t const width = cols / (bytes == 1 ? 32 : 16);  // TILE_COL_DIM
  std::int64_t const swizzle_bytes = bytes == 4       ? (width % 2 == 0 ? 128 : 64)
                                     : width % 4 == 0 ? 128
                                     : width % 2 == 0 ? 64
                                                      : 32;
  std::int64_t const subtile_cols = swizzle_bytes / bytes, outer = c / subtile_cols;
  auto const address =
      static_cast<std::uint64_t>(bytes * (outer * rows * subtile_cols + r * subtile_cols + c % subtile_cols));
  return address ^ (((address % static_cast<std::uint64_t>(swizzle_bytes * 8)) >> 7) << 4);
}

TEST(KernelLanguage, ThunderKittensTilesAreTheirIdx) {
  struct Tile {
    char const* name;
    std::int64_t bytes, rows, cols;
  };
  for (Tile const& t : {Tile{"st_bf", 2, 64, 64}, Tile{"st_bf", 2, 16, 32}, Tile{"st_hf", 2, 32, 16},
                        Tile{"st_hf", 2, 64, 192}, Tile{"st_fl", 4, 32, 48}, Tile{"st_fl", 4, 16, 64},
                        Tile{"st_fp8e4m3", 1, 64, 96}, Tile{"st_fp8e5m2", 1, 32, 128}}) {
    Mapping const map = parse_mapping(fmt::format("kittens::{}<{}, {}>", t.name, t.rows, t.cols));
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t c = 0; c < t.cols; ++c)
        ASSERT_EQ(byte_of(map, t.rows, r, c), kittens(t.rows, t.cols, t.bytes, r, c))
            << t.name << " " << r << " " << c;
  }
  EXPECT_EQ(parse_mapping("st<bf16, 64, 64>").text, parse_mapping("st_bf<64, 64>").text);
  EXPECT_EQ(parse_mapping("st<half, 16, 64, false>").text, "(_16,_64):(_64,_1)");
  EXPECT_EQ(parse_mapping("st_bf<64, 64, true, 32>").text,
            "Sw<1,4,3> o smem_ptr[16b](unset) o (_64,(_16,_4)):(_16,(_1,_1024))");
}

/// TileLang, src/layout/gemm_layouts.cc, MakeFullBankSwizzleLayout2D and its kin: index in tiles of 8 rows.
std::uint64_t tile_lang(std::int64_t stride, std::int64_t element_size, std::int64_t vectors, std::int64_t i,
                        std::int64_t j) {
  std::int64_t const vector_size = 128 / element_size, ts = i / 8, s = i % 8;
  std::int64_t const tc = j / vector_size / vectors, c = j / vector_size % vectors, vec = j % vector_size;
  std::int64_t const index = vec + ((c ^ s / (8 / vectors)) + s * vectors) * vector_size;
  return static_cast<std::uint64_t>((tc * (stride / 8) + ts) * 8 * vectors * vector_size + index) *
         static_cast<std::uint64_t>(element_size / 8);
}

TEST(KernelLanguage, TileLangLayoutsAreTheirIndex) {
  for (auto const& [name, vectors] : {std::pair{"full", 8}, std::pair{"half", 4}, std::pair{"quarter", 2}})
    for (std::int64_t const bits : {8, 16, 32, 64}) {
      std::int64_t const rows = 24, cols = 3 * vectors * 128 / bits;
      Mapping const map = parse_mapping(
          fmt::format("tilelang.layout.make_{}_bank_swizzled_layout({}, {}, {})", name, rows, cols, bits));
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
          ASSERT_EQ(byte_of(map, rows, r, c), tile_lang(rows, bits, vectors, r, c))
              << name << bits << " " << r << " " << c;
    }
  EXPECT_EQ(parse_mapping("make_linear_layout(16, 40)", {16}).text, "(_16,_40):(_40,_1)");
}

TEST(KernelLanguage, MosaicTransformsAreTilesAndTheSwizzleOfTheHardware) {
  // JAX, jax/experimental/mosaic/gpu/launch_context.py, TileTransform.transform_index: (i / t.., i % t..), row-major.
  std::int64_t const rows = 24, cols = 96;
  Mapping const map = parse_mapping(
      "plgpu.SMEM((24, 96), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 32)), "
      "plgpu.SwizzleTransform(64)))");
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      auto const a = static_cast<std::uint64_t>(2 * (((r / 8 * 3 + c / 32) * 8 + r % 8) * 32 + c % 32));
      ASSERT_EQ(byte_of(map, rows, r, c), a ^ (a >> 3 & 0x30))
          << r << " " << c;  // CUDA driver API, CU_TENSOR_MAP_SWIZZLE_64B
    }
  EXPECT_EQ(
      parse_mapping("SMEM((2, 8, 64), f16, transforms=[TilingTransform((8, 64)), SwizzleTransform(128)])")
          .text,
      "Sw<3,4,3> o smem_ptr[16b](unset) o (_2,_8,_64):(_512,_64,_1)");
  EXPECT_EQ(parse_mapping("plgpu.SMEM((128,), jnp.float32)").text, "(_128):(_1)");
}

TEST(KernelLanguage, GluonComputesItsDefault) {
  // Triton, python/triton/experimental/gluon/language/_layouts.py, NVMMASharedLayout.get_default_for
  auto const same = [](char const* computed, char const* written) {
    EXPECT_EQ(parse_mapping(computed).text, parse_mapping(written).text) << computed;
  };
  same("gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)",
       "gl.NVMMASharedLayout(128, 16, 2) (64,64)");
  same("ttgl.NVMMASharedLayout.get_default_for([32, 32], ttgl.bfloat16)",
       "gl.NVMMASharedLayout(64, 16, 2) (32,32)");
  same("gl.NVMMASharedLayout.get_default_for([4, 64], gl.float16)", "gl.NVMMASharedLayout(0, 16, 2) (4,64)");
  same("gl.NVMMASharedLayout.get_default_for([16, 64], gl.float32, transposed=True)",
       "gl.NVMMASharedLayout(64, 32, 2, transposed=True) (16,64)");
}

std::string message_of(std::string_view text) {
  try {
    (void)parse_mapping(text);
  } catch (InputError const& error) {
    return error.message;
  }
  return "accepted";
}

TEST(KernelLanguage, RefusesWhatTheProjectsDo) {
  EXPECT_EQ(message_of("st_bf<4, 4>"), "rows and columns are multiples of 16");
  EXPECT_EQ(message_of("st<double, 16, 16>"), "tiles of ThunderKittens have elements of 1, 2 or 4 bytes");
  EXPECT_EQ(message_of("st_bf<64, 32, true, 128>"),
            "swizzle_bytes is 32, 64 or 128, and divides a row of 64 bytes");
  EXPECT_EQ(message_of("make_full_bank_swizzled_layout(A_shared)"), "a buffer has no extents here");
  EXPECT_EQ(message_of("make_full_bank_swizzled_layout(12, 64, 16)"),
            "rows are a multiple of 8, columns of 64 elements: 128 bytes");
  EXPECT_EQ(message_of("SMEM((64, 64), f16, transforms=(SwizzleTransform(64),))"),
            "SwizzleTransform(64) needs a last extent of 64 bytes, and it has 128");
  EXPECT_EQ(message_of("SMEM((60, 64), f16, transforms=(TilingTransform((8, 64)),))"),
            "the tile does not divide the shape");
  EXPECT_EQ(message_of("SMEM((64, 64), f16, transforms=(TransposeTransform((1, 0)),))"),
            "'TransposeTransform' is no transform that is read");
}

}  // namespace
}  // namespace swizproof
