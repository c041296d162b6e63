// Element types by every name that is written for one.
#include <swizproof/hardware/tma.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace swizproof {
namespace {

TEST(Element, HasEveryNameThatIsWritten) {
  struct Spelled {
    char const* text;
    char const* name;
  };
  for (Spelled const& s : {Spelled{"half", "f16"},
                           {"half_t", "f16"},
                           {"cutlass::half_t", "f16"},
                           {"cute::half_t", "f16"},
                           {"::cutlass::half_t", "f16"},
                           {"__half", "f16"},
                           {"torch.float16", "f16"},
                           {"tl.float16", "f16"},
                           {"cutlass.Float16", "f16"},
                           {"DType.float16", "f16"},
                           {"CU_TENSOR_MAP_DATA_TYPE_FLOAT16", "f16"},
                           {"cutlass::bfloat16_t", "bf16"},
                           {"__nv_bfloat16", "bf16"},
                           {"nv_bfloat16", "bf16"},
                           {"at::BFloat16", "bf16"},
                           {"cutlass::tfloat32_t", "tf32"},
                           {"float", "f32"},
                           {"double", "f64"},
                           {"cutlass::float_e4m3_t", "e4m3"},
                           {"__nv_fp8_e4m3", "e4m3"},
                           {"torch.float8_e4m3fn", "e4m3"},
                           {"tl.float8e4nv", "e4m3"},
                           {"__nv_fp8_e5m2", "e5m2"},
                           {"tl.float8e5", "e5m2"},
                           {"cutlass::float_e2m1_t", "e2m1"},
                           {"cutlass::float_ue8m0_t", "e8m0"},
                           {"torch.float8_e8m0fnu", "e8m0"},
                           {"torch.float4_e2m1fn_x2", "e2m1x2"},
                           {"s8", "i8"},
                           {"int8_t", "i8"},
                           {"signed char", "i8"},
                           {"std::uint8_t", "u8"},
                           {"unsigned char", "u8"},
                           {"cutlass::int4b_t", "i4"},
                           {"cutlass::uint4b_t", "u4"},
                           {"unsigned long long", "u64"}}) {
    ElementType const* const type = element_type(s.text);
    ASSERT_NE(type, nullptr) << s.text;
    EXPECT_EQ(type->name, s.name) << s.text;
  }
  for (char const* none : {"", "::", "cutlass::", "f17", "halt", "float4", "half,half_t", "int4", ","})
    EXPECT_EQ(element_type(none), nullptr) << none;
}

TEST(Element, NoNameStandsForTwoTypes) {
  std::set<std::string_view> seen;
  for (ElementType const& type : element_types) {
    EXPECT_TRUE(seen.insert(type.name).second) << type.name;
    for (std::string_view rest = type.aliases; !rest.empty();) {
      std::string_view const name = rest.substr(0, rest.find(','));
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_EQ(element_type(name), &type) << name;
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    }
  }
}

TEST(Element, OfABoxHasTheDataTypeOfItsFirstName) {
  EXPECT_EQ(tma_data_type("cutlass::half_t")->name, "FLOAT16");
  EXPECT_EQ(tma_data_type("__nv_bfloat16")->name, "BFLOAT16");
  EXPECT_EQ(tma_data_type("int8_t")->name, "UINT8");
  EXPECT_EQ(tma_data_type("float_e4m3_t")->name, "UINT8");
  EXPECT_EQ(tma_data_type("16b"), nullptr);
}

}  // namespace
}  // namespace swizproof
