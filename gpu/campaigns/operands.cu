// operands: whether the descriptors that `swizproof descriptor` prints read the tile, of every type that wgmma has.
//
// As in wgmma.cu one operand is an identity matrix, so that the result is the other one: what the instruction read. The window
// of shared memory holds numbers, three bits of the place of each element in each pass, which every type holds exactly. B is
// read with A = identity in registers, so this checks the fragments of A as well; A with B = identity in shared memory, K-major
// without a swizzle. operands.hpp has the printed numbers.
#include "campaigns/asynchronous.cuh"
#include "record.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/fragment.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <string_view>

namespace swizproof::gpu {
namespace {

constexpr std::uint32_t window = 65536;  ///< bytes that are numbered
constexpr std::uint32_t identity_bytes = 8192;
constexpr unsigned most_rows = 128, most_depth = 32;
constexpr unsigned digit_bits = 3;

enum class Type : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8 };

template <Type T>
inline constexpr unsigned bytes_of = T == Type::tf32                     ? 4
                                     : T == Type::f16 || T == Type::bf16 ? 2
                                                                         : 1;

/// A number below 8 as an element, in the low bits.
template <Type T>
__device__ std::uint32_t element(unsigned number) {
  auto const value = static_cast<float>(number);
  if constexpr (T == Type::f16) return __half_as_ushort(__float2half(value));
  if constexpr (T == Type::bf16) return __bfloat16_as_ushort(__float2bfloat16(value));
  if constexpr (T == Type::tf32) return __float_as_uint(value);
  if constexpr (T == Type::e4m3) return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  if constexpr (T == Type::e5m2) return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
  return number;
}

// The accumulators of m64n128 and of m64n8, n16, n32, as asm operands.
#define LIST4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define LIST8(c, i) LIST4(c, i), LIST4(c, i + 4)
#define LIST16(c, i) LIST8(c, i), LIST8(c, i + 8)
#define LIST64(c) LIST16(c, 0), LIST16(c, 16), LIST16(c, 32), LIST16(c, 48)
#define R4 "{%0,%1,%2,%3}"
#define R8 "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define R16 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define R64                                                                                              \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"  \
  "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51," \
  "%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
// A false predicate: D = A * B, without what D was.
#define PREDICATE "{.reg .pred p; setp.ne.b32 p, 0, 0;\n wgmma.mma_async.sync.aligned."
#define FLOAT(x) "=f"(x)
#define INTEGER(x) "=r"(x)

/// d = A * B, m64n128: A in registers, B by the descriptor.
template <Type T, bool Transposed, class D>
__device__ void multiply_b(D (&d)[64], std::uint32_t const (&a)[4], std::uint64_t b) {
#define B_BY_DESCRIPTOR(shape, tail, c)                                        \
  asm volatile(PREDICATE shape " " R64 ", {%64,%65,%66,%67}, %68, p" tail ";}" \
               : LIST64(c)                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(Transposed ? 1 : 0))
  if constexpr (T == Type::f16) B_BY_DESCRIPTOR("m64n128k16.f32.f16.f16", ", 1, 1, %69", FLOAT);
  if constexpr (T == Type::bf16) B_BY_DESCRIPTOR("m64n128k16.f32.bf16.bf16", ", 1, 1, %69", FLOAT);
  if constexpr (T == Type::tf32) B_BY_DESCRIPTOR("m64n128k8.f32.tf32.tf32", ", 1, 1", FLOAT);
  if constexpr (T == Type::e4m3) B_BY_DESCRIPTOR("m64n128k32.f32.e4m3.e4m3", ", 1, 1", FLOAT);
  if constexpr (T == Type::e5m2) B_BY_DESCRIPTOR("m64n128k32.f32.e5m2.e5m2", ", 1, 1", FLOAT);
  if constexpr (T == Type::s8) B_BY_DESCRIPTOR("m64n128k32.s32.s8.s8", "", INTEGER);
#undef B_BY_DESCRIPTOR
}

/// d = A * B, m64 and n = k: both by descriptors.
template <Type T, bool Transposed, class D, std::size_t N>
__device__ void multiply_a(D (&d)[N], std::uint64_t a, std::uint64_t b) {
#define A_BY_DESCRIPTOR(shape, registers, list, count, tail)              \
  asm volatile(PREDICATE shape " " registers ", %" #count ", %" tail ";}" \
               : list                                                     \
               : "l"(a), "l"(b), "n"(Transposed ? 1 : 0))
  if constexpr (T == Type::f16)
    A_BY_DESCRIPTOR("m64n16k16.f32.f16.f16", R8, LIST8(FLOAT, 0), 8, "9, p, 1, 1, %10, 0");
  if constexpr (T == Type::bf16)
    A_BY_DESCRIPTOR("m64n16k16.f32.bf16.bf16", R8, LIST8(FLOAT, 0), 8, "9, p, 1, 1, %10, 0");
  if constexpr (T == Type::tf32)
    A_BY_DESCRIPTOR("m64n8k8.f32.tf32.tf32", R4, LIST4(FLOAT, 0), 4, "5, p, 1, 1");
  if constexpr (T == Type::e4m3)
    A_BY_DESCRIPTOR("m64n32k32.f32.e4m3.e4m3", R16, LIST16(FLOAT, 0), 16, "17, p, 1, 1");
  if constexpr (T == Type::e5m2)
    A_BY_DESCRIPTOR("m64n32k32.f32.e5m2.e5m2", R16, LIST16(FLOAT, 0), 16, "17, p, 1, 1");
  if constexpr (T == Type::s8) A_BY_DESCRIPTOR("m64n32k32.s32.s8.s8", R16, LIST16(INTEGER, 0), 16, "17, p");
#undef A_BY_DESCRIPTOR
}

#undef LIST4
#undef LIST8
#undef LIST16
#undef LIST64
#undef R4
#undef R8
#undef R16
#undef R64
#undef PREDICATE
#undef FLOAT
#undef INTEGER

/// Registers of a thread: its part of A from registers and of the accumulators: those of a smaller n are the first of m64n128's.
template <Type T>
inline constexpr WgmmaShape shape_of = wgmma_shapes[bytes_of<T> == 4   ? 0
                                                    : bytes_of<T> == 2 ? 1
                                                                       : 2];

/// Registers of A that hold an identity matrix, m < k.
template <Type T>
__device__ void identity_in_registers(std::uint32_t (&a)[4]) {
  constexpr Fragment held = shape_of<T>.fragment(Operand::a, most_rows, 32);
  for (std::uint32_t& each : a) each = 0;
  for (std::uint32_t i = 0; i < held.values; ++i) {
    MatrixElement const e = element_of(held, threadIdx.x, i);
    if (e.row == e.column) a[i * held.bits / 32] |= element<T>(1) << (i * held.bits % 32);
  }
}

/// A warpgroup an instruction, whose descriptor is relative to the window. `found[mn * depth + k]`: the byte, from the window's
/// start, that was read.
template <Type T, bool OperandA, bool Transposed>
__global__ void __launch_bounds__(128)
    read_described(std::uint64_t const* descriptors, std::uint32_t* found) {
  extern __shared__ unsigned char memory[];
  constexpr unsigned bytes = bytes_of<T>, depth = shape_of<T>.k, passes = (16 + digit_bits - 1) / digit_bits;
  constexpr Fragment held = shape_of<T>.fragment(Operand::d, OperandA ? depth : most_rows, 32);
  auto const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  std::uint32_t const base = (start + 4095) / 4096 * 4096;
  unsigned char* const numbers = memory + (base - start);
  std::uint32_t* const out = found + std::size_t{blockIdx.x} * most_rows * most_depth;
  // Whole elements: ptxas 13.0 makes a wrong low byte of a number that has just been rounded to bf16 (gpu/README.md).
  auto const put = [&](std::uint32_t at, std::uint32_t value) {
    using Bits = std::conditional_t<bytes == 4, std::uint32_t,
                                    std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>;
    *reinterpret_cast<Bits*>(numbers + at) = static_cast<Bits>(value);
  };
  // B = identity of depth rows: 8 rows of 16 bytes, then the next 16 bytes of k, then the next 8 rows.
  [[maybe_unused]] std::uint64_t const identity =
      (base + window) >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
  for (unsigned i = threadIdx.x; i < depth * depth; i += 128) {
    unsigned const n = i / depth, k = i % depth;
    put(window + n / 8 * 256 + n % 8 * 16 + k * bytes / 16 * 128 + k * bytes % 16, element<T>(n == k));
  }
  [[maybe_unused]] std::uint32_t a[4];
  identity_in_registers<T>(a);
  std::uint64_t const descriptor = descriptors[blockIdx.x] + (base >> 4);
  for (unsigned pass = 0; pass < passes; ++pass) {
    for (unsigned i = threadIdx.x; i < window / bytes; i += 128)
      put(i * bytes, element<T>(i >> (digit_bits * pass) & ((1U << digit_bits) - 1)));
    std::conditional_t<T == Type::s8, std::uint32_t, float> d[held.values];
    begin_wgmma();
    if constexpr (OperandA)
      multiply_a<T, Transposed>(d, descriptor, identity);
    else
      multiply_b<T, Transposed>(d, a, descriptor);
    end_wgmma();
#pragma unroll
    for (unsigned i = 0; i < held.values; ++i) {
      MatrixElement const e = element_of(held, threadIdx.x, i);
      if (!OperandA && e.row >= depth) continue;
      std::uint32_t& at = out[OperandA ? e.row * depth + e.column : e.column * depth + e.row];
      at += static_cast<std::uint32_t>(d[i]) << (digit_bits * pass);
    }
    __syncthreads();
  }
  // Places of elements, in bytes.
  for (unsigned i = threadIdx.x; i < (OperandA ? 64 : most_rows) * depth; i += 128) out[i] *= bytes;
}

/// Start of each run of 16 bytes along the contiguous index, in units of 16 bytes from a 4 KiB boundary; -1 if not in one piece.
std::vector<std::int64_t> columns_found(OperandStepRead const& c, std::uint32_t const* found) {
  std::vector<std::int64_t> columns;
  unsigned const bytes = c.element_bytes, t = 16 / bytes, rows = c.operand.rows, depth = c.operand.depth;
  bool const k = !c.operand.mn_major;
  for (unsigned mn = 0; mn < rows; mn += k ? 1 : t)
    for (unsigned i = 0; i < depth; i += k ? t : 1) {
      std::uint32_t const place = found[mn * depth + i];
      bool whole = place % 16 == 0;
      for (unsigned j = 1; j < t; ++j)
        whole = whole && found[k ? mn * depth + i + j : (mn + j) * depth + i] == place + bytes * j;
      columns.push_back(whole ? std::int64_t{place / 16} : -1);
    }
  return columns;
}

/// [layout, element, "a" | "b", "k" | "mn", descriptor, base, row, k, wrong, [16-byte columns]].
std::string row_of(OperandStepRead const& c, std::vector<std::int64_t> const& columns, std::uint64_t wrong) {
  std::string out = "[" + quoted(c.operand.layout) + "," + quoted(c.operand.element) + "," +
                    (c.operand.operand_a ? "\"a\"" : "\"b\"") + "," +
                    (c.operand.mn_major ? "\"mn\"" : "\"k\"") + "," + std::to_string(c.operand.descriptor) +
                    "," + std::to_string(c.base) + "," + std::to_string(c.step.row) + "," +
                    std::to_string(c.step.k) + "," + std::to_string(wrong) + ",[";
  for (std::size_t i = 0; i < columns.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(columns[i]);
  return out + "]]";
}

/// Compares what one instruction read with the model.
void compare(OperandStepRead const& c, std::uint64_t bits, std::uint32_t const* at, Record& record) {
  DecodedDescriptor const decoded = decode(OperandReader::wgmma, bits);
  std::uint64_t wrong = 0;
  for (std::uint32_t mn = 0; mn < c.operand.rows; ++mn)
    for (std::uint32_t k = 0; k < c.operand.depth; ++k) {
      std::uint32_t const expected =
          address_read(decoded.descriptor, c.operand.mn_major ? Major::mn : Major::k, c.element_bytes,
                       decoded.descriptor.start, mn, k)
              .bytes;
      if (expected >= window) throw Failure{std::string("operands: beyond the window: ") + c.operand.layout};
      std::uint32_t const place = at[mn * c.operand.depth + k];
      if (place != expected && wrong++ == 0)
        std::fprintf(stderr, "operands: %s, %s, element (%u,%u): byte %u, by the model %u\n",
                     c.operand.layout, c.operand.operand_a ? "a" : "b", mn, k, place, expected);
    }
  record.counts["elements"] += std::uint64_t{c.operand.rows} * c.operand.depth;
  record.counts["mismatches"] += wrong;
  record.counts[std::string("asked/") + c.operand.element] += 1;
  record.rows["reads"].push_back(row_of(c, columns_found(c, at), wrong));
}

/// Issues all of a type, an operand and a major.
template <Type T, bool OperandA, bool Transposed>
void read_all(std::string_view element, std::vector<OperandStepRead> const& all, Record& record) {
  std::vector<OperandStepRead> reads;
  std::vector<std::uint64_t> descriptors;
  for (OperandStepRead const& c : all) {
    if (c.operand.element != element || c.operand.operand_a != OperandA || c.operand.mn_major != Transposed)
      continue;
    reads.push_back(c);
    auto const start = static_cast<std::uint64_t>((static_cast<std::int64_t>(c.base) + c.step.start) >> 4);
    descriptors.push_back(c.operand.descriptor + start);
  }
  if (reads.empty()) return;
  Buffer<std::uint64_t> cases(descriptors);
  Buffer<std::uint32_t> found(reads.size() * most_rows * most_depth);
  std::size_t const shared = window + identity_bytes + 4096;
  auto const kernel = read_described<T, OperandA, Transposed>;
  allow_shared(kernel, shared);
  kernel<<<static_cast<unsigned>(reads.size()), 128, shared>>>(cases.data(), found.data());
  finish("operands");
  std::vector<std::uint32_t> const places = found.read();
  for (std::size_t i = 0; i < reads.size(); ++i)
    compare(reads[i], descriptors[i], places.data() + i * most_rows * most_depth, record);
}

template <Type T>
void read_type(std::string_view element, std::vector<OperandStepRead> const& all, Record& record) {
  read_all<T, true, false>(element, all, record);
  read_all<T, false, false>(element, all, record);
  if constexpr (bytes_of<T> == 2) {
    read_all<T, true, true>(element, all, record);
    read_all<T, false, true>(element, all, record);
  }
}

}  // namespace

Record operands(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<OperandStepRead> const all = operand_step_reads();
  std::vector<OperandStepRead> mine;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (part.has(i)) mine.push_back(all[i]);
  Record record;
  record.counts["mismatches"] = record.counts["elements"] = 0;
  record.counts["units"] = mine.size();
  record.counts["units_of_all_parts"] = part.index == 0 ? all.size() : 0;
  read_type<Type::f16>("f16", mine, record);
  read_type<Type::bf16>("bf16", mine, record);
  read_type<Type::tf32>("tf32", mine, record);
  read_type<Type::e4m3>("e4m3", mine, record);
  read_type<Type::e5m2>("e5m2", mine, record);
  read_type<Type::s8>("i8", mine, record);
  if (record.rows["reads"].size() != mine.size()) throw Failure{"operands: a read of an unknown type"};
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
