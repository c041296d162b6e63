// Element types: every name that C, CUDA, PTX, CUTLASS, CuTe DSL, Triton, PyTorch and Mojo write for one.
#pragma once

#include <cstdint>
#include <string_view>

namespace swizproof {

/// Meaning of the bits of an element.
enum class ElementKind : std::uint8_t { floating, with_sign, without_sign };

/// An element type: the name that text and JSON have for it, and its other spellings.
struct ElementType {
  std::string_view name;
  unsigned bits;
  ElementKind kind;
  std::string_view aliases;  ///< between commas, without the namespaces of element_namespaces

  [[nodiscard]] constexpr bool is_integer() const { return kind != ElementKind::floating; }
};

/// All that have a name; `fp8` and `fp4` leave open which. Other sizes are named by their bits: `16b`.
/// [CUDA Math API; PTX ISA 9.1, 5.2; CUTLASS, include/cutlass/numeric_types.h, python/CuTeDSL/cutlass/base_dsl/typing.py; Triton,
/// python/triton/language/core.py; PyTorch, torch.dtype; Mojo, stdlib DType; cuda.h, CUtensorMapDataType]
inline constexpr ElementType element_types[] = {
    {"f64", 64, ElementKind::floating, "double,float64,float64_t,fp64,Float64,FLOAT64"},
    {"f32", 32, ElementKind::floating, "float,float32,float32_t,fp32,Float32,FLOAT32"},
    {"tf32", 32, ElementKind::floating, "tfloat32_t,tfloat32,TFloat32,TFLOAT32"},
    {"f16", 16, ElementKind::floating,
     "half,half_t,__half,nv_half,_Float16,float16,float16_t,fp16,Half,Float16,FLOAT16"},
    {"bf16", 16, ElementKind::floating,
     "bfloat16_t,__nv_bfloat16,nv_bfloat16,bfloat16,__bf16,BFloat16,BFLOAT16"},
    {"fp8", 8, ElementKind::floating, "f8,float8"},
    {"e4m3", 8, ElementKind::floating,
     "float_e4m3_t,__nv_fp8_e4m3,nv_fp8_e4m3,float8_e4m3fn,float8_e4m3,fp8_e4m3,fp8e4m3,float8e4nv,fp8e4nv,"
     "e4m3fn,f8E4M3FN,Float8E4M3FN,Float8_e4m3fn"},
    {"e5m2", 8, ElementKind::floating,
     "float_e5m2_t,__nv_fp8_e5m2,nv_fp8_e5m2,float8_e5m2,fp8_e5m2,fp8e5m2,float8e5,fp8e5,f8E5M2,Float8E5M2,"
     "Float8_e5m2"},
    {"e8m0", 8, ElementKind::floating,
     "ue8m0,float_ue8m0_t,__nv_fp8_e8m0,nv_fp8_e8m0,float8_e8m0fnu,e8m0fnu,f8E8M0FNU,Float8E8M0FNU,Float8_"
     "e8m0fnu"},
    {"e2m1x2", 8, ElementKind::floating, "__nv_fp4x2_e2m1,float4_e2m1fn_x2"},
    {"s4x2", 8, ElementKind::floating, ""},
    {"u4x2", 8, ElementKind::floating, ""},
    {"fp4", 4, ElementKind::floating, "f4"},
    {"e2m1", 4, ElementKind::floating,
     "float_e2m1_t,__nv_fp4_e2m1,fp4_e2m1,fp4e2m1,float4_e2m1fn,e2m1fn,f4E2M1FN,Float4E2M1FN"},
    {"i64", 64, ElementKind::with_sign, "s64,int64,int64_t,long long,Int64,INT64"},
    {"i32", 32, ElementKind::with_sign, "s32,int32,int32_t,int,Int32,INT32"},
    {"i16", 16, ElementKind::with_sign, "s16,int16,int16_t,short,Int16"},
    {"i8", 8, ElementKind::with_sign, "s8,int8,int8_t,char,signed char,Int8"},
    {"i4", 4, ElementKind::with_sign, "s4,int4b_t,int4_t,Int4"},
    {"u64", 64, ElementKind::without_sign, "uint64,uint64_t,unsigned long long,size_t,Uint64,UINT64"},
    {"u32", 32, ElementKind::without_sign, "uint32,uint32_t,unsigned,unsigned int,uint,Uint32,UINT32"},
    {"u16", 16, ElementKind::without_sign, "uint16,uint16_t,unsigned short,ushort,Uint16,UINT16"},
    {"u8", 8, ElementKind::without_sign, "uint8,uint8_t,unsigned char,uchar,Uint8,UINT8"},
    {"u4", 4, ElementKind::without_sign, "uint4b_t,uint4_t,Uint4"},
};

/// Prefixes of a type's name.
inline constexpr std::string_view element_namespaces[] = {
    "::",     "cutlass::", "cute::",           "std::", "at::", "c10::",  "cutlass.",
    "torch.", "tl.",       "triton.language.", "jnp.",  "np.",  "DType.", "CU_TENSOR_MAP_DATA_TYPE_"};

/// The name without namespaces. `plain_element_name("cutlass::half_t") == "half_t"`
[[nodiscard]] constexpr std::string_view plain_element_name(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (std::string_view const space : element_namespaces)
      if (name.size() > space.size() && name.substr(0, space.size()) == space) {
        name.remove_prefix(space.size());
        again = true;
      }
  }
  return name;
}

/// The type of any of its names; nothing for others. `element_type("cutlass::half_t")->name == "f16"`. Checked by
/// Element.HasEveryNameThatIsWritten.
[[nodiscard]] constexpr ElementType const* element_type(std::string_view name) {
  name = plain_element_name(name);
  if (name.empty()) return nullptr;
  for (ElementType const& type : element_types) {
    if (type.name == name) return &type;
    for (std::string_view rest = type.aliases; !rest.empty();) {
      std::size_t const end = rest.find(',') < rest.size() ? rest.find(',') : rest.size();
      if (rest.substr(0, end) == name) return &type;
      rest.remove_prefix(end < rest.size() ? end + 1 : end);
    }
  }
  return nullptr;
}

static_assert(element_type("cutlass::half_t")->name == "f16" && element_type("unsigned char")->name == "u8");
static_assert(element_type("s8")->is_integer() && element_type("u8")->is_integer() &&
              !element_type("float8_e4m3fn")->is_integer());
static_assert(element_type("f128") == nullptr && element_type("half,half_t") == nullptr);

}  // namespace swizproof
