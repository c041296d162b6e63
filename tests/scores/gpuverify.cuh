// Definitions for nvcc of names that mc-imperial/gpuverify and mc-imperial/GPUVerifyBenchmarks take from GPUVerify's own headers.
// GPUVERIFY_BENCHMARKS: the benchmarks, whose __requires(x) of the parameters ends a thread where x is false.
#include <assert.h>
#include <cuda_runtime.h>
#define __global_requires(...) ((void)0)
#define __ensures(...) ((void)0)
#define __global_ensures(...) ((void)0)
#define __invariant(...) ((void)0)
#define __global_invariant(...) ((void)0)
#define __function_wide_invariant(...) ((void)0)
#define __candidate_invariant(...) ((void)0)
#define __candidate_global_invariant(...) ((void)0)
#define __assert(...) ((void)0)
#define __global_assert(...) ((void)0)
#define __assume(...) ((void)0)
#undef assert
#define assert(x) ((void)0)
#define __non_temporal(x) x
#define __modifies(x)
#define __writes_to(x)
#define __reads_from(x)
#ifndef GPUVERIFY_BENCHMARKS
#define __requires(...) ((void)0)
#else
#include <math_constants.h>
#define __requires(...) \
  if (!(__VA_ARGS__)) __trap()
#define __is_pow2(x) (((x) & ((x)-1)) == 0)

// Functions that the sources only declare.
__device__ inline unsigned any(unsigned x) { return __any_sync(~0u, x); }
__device__ inline unsigned all(unsigned x) { return __all_sync(~0u, x); }
__device__ inline int sign_f(float x) { return x < 0 ? -1 : 1; }
__device__ inline float lerpf(float a, float b, float t) { return a + t * (b - a); }
__device__ static inline unsigned __usad4(unsigned a, unsigned b, unsigned c) { return __vsadu4(a, b) + c; }

// Shuffles of CUDA 5.
#define __shfl_up(...) __shfl_up_sync(~0u, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(~0u, __VA_ARGS__)

// Texture references, which CUDA 12 has no more: constants that hold a texture object.
template <class T, int mode>
struct Texel {
  using Type = T;
};
template <>
struct Texel<unsigned char, cudaReadModeNormalizedFloat> {
  using Type = float;
};
template <>
struct Texel<uchar4, cudaReadModeNormalizedFloat> {
  using Type = float4;
};
template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture {
  cudaTextureObject_t object;
};
#define TEXTURE(function)                                                                                   \
  template <class T, int dimensions, cudaTextureReadMode mode, class... Coordinates>                        \
  __device__ typename Texel<T, mode>::Type function(texture<T, dimensions, mode> from, Coordinates... at) { \
    return function<typename Texel<T, mode>::Type>(from.object, at...);                                     \
  }
TEXTURE(tex1Dfetch)
TEXTURE(tex1D)
TEXTURE(tex2D)
TEXTURE(tex2DLayered)
TEXTURE(tex3D)
TEXTURE(texCubemap)

// Vectors, as the samples' helper_math.h has them.
#define OPERATOR(V, S, op, ...)                                               \
  __device__ inline V operator op(V a, V b) { return make_##V(__VA_ARGS__); } \
  __device__ inline V operator op(V a, S s) { return a op make_##V(s); }      \
  __device__ inline V operator op(S s, V b) { return make_##V(s) op b; }      \
  __device__ inline V& operator op##=(V& a, V b) { return a = a op b; }       \
  __device__ inline V& operator op##=(V& a, S s) { return a = a op s; }
#define VECTOR2(V, S)                                  \
  __device__ inline V make_##V(S s) { return {s, s}; } \
  OPERATOR(V, S, +, a.x + b.x, a.y + b.y)              \
  OPERATOR(V, S, -, a.x - b.x, a.y - b.y)              \
  OPERATOR(V, S, *, a.x* b.x, a.y* b.y)                \
  OPERATOR(V, S, /, a.x / b.x, a.y / b.y)
#define VECTOR3(V, S)                                     \
  __device__ inline V make_##V(S s) { return {s, s, s}; } \
  OPERATOR(V, S, +, a.x + b.x, a.y + b.y, a.z + b.z)      \
  OPERATOR(V, S, -, a.x - b.x, a.y - b.y, a.z - b.z)      \
  OPERATOR(V, S, *, a.x* b.x, a.y* b.y, a.z* b.z)         \
  OPERATOR(V, S, /, a.x / b.x, a.y / b.y, a.z / b.z)
#define VECTOR4(V, S)                                           \
  __device__ inline V make_##V(S s) { return {s, s, s, s}; }    \
  OPERATOR(V, S, +, a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w) \
  OPERATOR(V, S, -, a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w) \
  OPERATOR(V, S, *, a.x* b.x, a.y* b.y, a.z* b.z, a.w* b.w)     \
  OPERATOR(V, S, /, a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w)
VECTOR2(float2, float)
VECTOR3(float3, float)
VECTOR4(float4, float)
VECTOR3(int3, int)
VECTOR3(uint3, unsigned)
__device__ inline float3 operator-(float3 a) { return make_float3(-a.x, -a.y, -a.z); }
__device__ inline float3 make_float3(float4 a) { return make_float3(a.x, a.y, a.z); }
__device__ inline float4 make_float4(float3 a, float w) { return make_float4(a.x, a.y, a.z, w); }
__device__ inline float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ inline float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ inline float length(float2 a) { return sqrtf(dot(a, a)); }
__device__ inline float length(float3 a) { return sqrtf(dot(a, a)); }
template <class V>
__device__ V normalize(V a) {
  return a * rsqrtf(dot(a, a));
}
template <class V>
__device__ V lerp(V a, V b, float t) {
  return a + t * (b - a);
}
__device__ inline float4 fminf(float4 a, float4 b) {
  return make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w));
}
__device__ inline float3 fminf(float3 a, float3 b) {
  return make_float3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}
__device__ inline float3 fmaxf(float3 a, float3 b) {
  return make_float3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}
__device__ inline float clamp(float x, float low, float high) { return fmaxf(low, fminf(x, high)); }
__device__ inline float saturate(float x) { return __saturatef(x); }
#endif
