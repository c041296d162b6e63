// mma: which element of its operands and of its result each register is, for mma and for wgmma with A in registers.
//
// Each round fills A and B with numbers from -2 to 2, puts them into the registers that fragment.hpp says, multiplies, and
// compares every register of D with the product worked out element by element. Where a fragment is wrong by anything but
// a permutation of k alike in A and B (or of m alike in A and D, of n alike in B and D), results differ; such a
// permutation cannot be seen by a program that uses this instruction alone: it is how rows and columns are counted.
// B of wgmma lies in shared memory, where campaign `wgmma` has found how it is read.
#include "campaigns/asynchronous.cuh"
#include "record.hpp"

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/hardware/wgmma.hpp>

#include <cuda_fp16.h>

#include <iterator>

namespace swizproof::gpu {
namespace {

constexpr unsigned most_values = 8;  ///< of D in a thread

/// A small whole number in an element of a kind: the lowest bits.
__device__ std::uint64_t encoded(ElementKind kind, unsigned bits, std::int32_t v) {
  bool const negative = v < 0;
  unsigned const size = negative ? -v : v;  // 0, 1, 2
  auto const signed_bits = [&](std::uint64_t one, std::uint64_t two, unsigned sign) {
    std::uint64_t const magnitude = size == 0 ? 0 : size == 1 ? one : two;
    return magnitude | std::uint64_t{negative && size != 0} << sign;
  };
  switch (kind) {
    case ElementKind::f64:
      return signed_bits(0x3FF0'0000'0000'0000, 0x4000'0000'0000'0000, 63);
    case ElementKind::tf32:
      return signed_bits(0x3F80'0000, 0x4000'0000, 31);
    case ElementKind::f16:
      return signed_bits(0x3C00, 0x4000, 15);
    case ElementKind::bf16:
      return signed_bits(0x3F80, 0x4000, 15);
    case ElementKind::e4m3:
      return signed_bits(0x38, 0x40, 7);
    case ElementKind::e5m2:
      return signed_bits(0x3C, 0x40, 7);
    case ElementKind::integer:
      break;
  }
  return static_cast<std::uint32_t>(v) & ((1U << bits) - 1);
}

/// The registers of a thread: 32 bits each, those of f64 in pairs.
template <std::size_t N>
__device__ void fill(std::uint32_t (&registers)[N], Fragment const& f, ElementKind kind,
                     std::uint32_t product, std::uint32_t round, bool b, std::uint32_t thread) {
  for (std::size_t i = 0; i < N; ++i) registers[i] = 0;
  for (std::uint32_t i = 0; i < f.values; ++i) {
    MatrixElement const e = element_of(f, thread, i);
    std::uint64_t const element = encoded(kind, f.bits, entry_of(product, round, b, e.row, e.column));
    registers[i * f.bits / 32] |= static_cast<std::uint32_t>(element << (i * f.bits % 32));
    if (f.bits == 64) registers[2 * i + 1] = static_cast<std::uint32_t>(element >> 32);
  }
}

__device__ double f64_of(std::uint32_t const* r) {
  return __hiloint2double(static_cast<int>(r[1]), static_cast<int>(r[0]));
}

#define D2 "{%0,%1}"
#define D4 "{%0,%1,%2,%3}"
#define F(x) "+f"(x)
#define S(x) "+r"(x)
#define R(x) "r"(x)
#define MMA(shape, types) "mma.sync.aligned." shape ".row.col." types " "
#define MMA_4_4_2(text, C, d)                              \
  asm volatile(text D4 ", {%4,%5,%6,%7}, {%8,%9}, " D4 ";" \
               : C(d[0]), C(d[1]), C(d[2]), C(d[3])        \
               : R(a[0]), R(a[1]), R(a[2]), R(a[3]), R(b[0]), R(b[1]))
#define MMA_4_2_1(text, C, d)                       \
  asm volatile(text D4 ", {%4,%5}, {%6}, " D4 ";"   \
               : C(d[0]), C(d[1]), C(d[2]), C(d[3]) \
               : R(a[0]), R(a[1]), R(b[0]))
#define MMA_2_1_1(text, C, d) \
  asm volatile(text D2 ", {%2}, {%3}, " D2 ";" : C(d[0]), C(d[1]) : R(a[0]), R(b[0]))

/// The product of a warp, by its number in `products`.
__device__ void multiply(unsigned number, std::uint32_t const (&a)[16], std::uint32_t const (&b)[8],
                         std::int32_t (&d)[most_values]) {
  float f[4] = {};
  double g[4] = {};
  std::int32_t s[4] = {};
  std::uint32_t h[2] = {};
  switch (number) {
    case 0:
      asm volatile(MMA("m8n8k4", "f64.f64.f64.f64") D2 ", {%2}, {%3}, " D2 ";"
                   : "+d"(g[0]), "+d"(g[1])
                   : "d"(f64_of(a)), "d"(f64_of(b)));
      break;
    case 1:
      asm volatile(MMA("m16n8k4", "f64.f64.f64.f64") D4 ", {%4,%5}, {%6}, " D4 ";"
                   : "+d"(g[0]), "+d"(g[1]), "+d"(g[2]), "+d"(g[3])
                   : "d"(f64_of(a)), "d"(f64_of(a + 2)), "d"(f64_of(b)));
      break;
    case 2:
      asm volatile(MMA("m16n8k8", "f64.f64.f64.f64") D4 ", {%4,%5,%6,%7}, {%8,%9}, " D4 ";"
                   : "+d"(g[0]), "+d"(g[1]), "+d"(g[2]), "+d"(g[3])
                   : "d"(f64_of(a)), "d"(f64_of(a + 2)), "d"(f64_of(a + 4)), "d"(f64_of(a + 6)),
                     "d"(f64_of(b)), "d"(f64_of(b + 2)));
      break;
    case 3:
      asm volatile(MMA("m16n8k16", "f64.f64.f64.f64") D4
                   ", {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, " D4 ";"
                   : "+d"(g[0]), "+d"(g[1]), "+d"(g[2]), "+d"(g[3])
                   : "d"(f64_of(a)), "d"(f64_of(a + 2)), "d"(f64_of(a + 4)), "d"(f64_of(a + 6)),
                     "d"(f64_of(a + 8)), "d"(f64_of(a + 10)), "d"(f64_of(a + 12)), "d"(f64_of(a + 14)),
                     "d"(f64_of(b)), "d"(f64_of(b + 2)), "d"(f64_of(b + 4)), "d"(f64_of(b + 6)));
      break;
    case 4:
      MMA_4_2_1(MMA("m16n8k4", "f32.tf32.tf32.f32"), F, f);
      break;
    case 5:
      MMA_4_4_2(MMA("m16n8k8", "f32.tf32.tf32.f32"), F, f);
      break;
    case 6:
      MMA_4_2_1(MMA("m16n8k8", "f32.f16.f16.f32"), F, f);
      break;
    case 7:
      MMA_4_4_2(MMA("m16n8k16", "f32.f16.f16.f32"), F, f);
      break;
    case 8:
      asm volatile(MMA("m16n8k16", "f16.f16.f16.f16") D2 ", {%2,%3,%4,%5}, {%6,%7}, " D2 ";"
                   : S(h[0]), S(h[1])
                   : R(a[0]), R(a[1]), R(a[2]), R(a[3]), R(b[0]), R(b[1]));
      break;
    case 9:
      MMA_4_4_2(MMA("m16n8k16", "f32.bf16.bf16.f32"), F, f);
      break;
    case 10:
      MMA_2_1_1(MMA("m8n8k16", "s32.s8.s8.s32"), S, s);
      break;
    case 11:
      MMA_4_2_1(MMA("m16n8k16", "s32.s8.s8.s32"), S, s);
      break;
    case 12:
      MMA_4_4_2(MMA("m16n8k32", "s32.s8.s8.s32"), S, s);
      break;
    case 13:
      MMA_4_4_2(MMA("m16n8k32", "f32.e4m3.e4m3.f32"), F, f);
      break;
    case 14:
      MMA_4_4_2(MMA("m16n8k32", "f32.e5m2.e5m2.f32"), F, f);
      break;
    case 15:
      MMA_2_1_1(MMA("m8n8k32", "s32.s4.s4.s32"), S, s);
      break;
    case 16:
      MMA_4_2_1(MMA("m16n8k32", "s32.s4.s4.s32"), S, s);
      break;
    case 17:
      MMA_4_4_2(MMA("m16n8k64", "s32.s4.s4.s32"), S, s);
      break;
    default:
      break;
  }
  for (unsigned i = 0; i < 4; ++i) {
    auto const half = __ushort_as_half(static_cast<unsigned short>(h[i / 2] >> (16 * (i % 2))));
    d[i] = s[i] + static_cast<std::int32_t>(f[i]) + static_cast<std::int32_t>(g[i]) +
           static_cast<std::int32_t>(__half2float(half));
  }
}

#define WGMMA(C, types, last)                                                                               \
  asm volatile(                                                                                             \
      "{.reg .pred p; setp.ne.b32 p, 0, 1;\n"                                                               \
      "wgmma.mma_async.sync.aligned." types " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, p" last ";}" \
      : C(d[0]), C(d[1]), C(d[2]), C(d[3]), C(d[4]), C(d[5]), C(d[6]), C(d[7])                              \
      : R(a[0]), R(a[1]), R(a[2]), R(a[3]), "l"(descriptor)                                                 \
      : "memory")

/// The product of a warpgroup with results of f32, B through the descriptor.
__device__ void multiply_floats(unsigned number, std::uint32_t const (&a)[16], std::uint64_t descriptor,
                                float (&d)[most_values]) {
  switch (number) {
    case 18:
      WGMMA(F, "m64n16k8.f32.tf32.tf32", ", 1, 1");
      break;
    case 19:
      WGMMA(F, "m64n16k16.f32.f16.f16", ", 1, 1, 0");
      break;
    default:
      WGMMA(F, "m64n16k32.f32.e4m3.e4m3", ", 1, 1");
      break;
  }
}
__device__ void multiply_integers(std::uint32_t const (&a)[16], std::uint64_t descriptor,
                                  std::int32_t (&d)[most_values]) {
  WGMMA(S, "m64n16k32.s32.s8.s8", "");
}

struct Unit {
  std::uint32_t number;
  ElementKind kind;
  unsigned n, k, bits;
  bool warpgroup;
  Fragment a, b, d;
};

/// A block multiplies one round of one product: block x, y are round and unit. `found` gets the D of each round.
__global__ void __launch_bounds__(128) multiply_rounds(Unit const* units, std::int32_t* found) {
  __shared__ alignas(1024) unsigned char memory[4096];
  Unit const u = units[blockIdx.y];
  std::uint32_t const round = blockIdx.x, thread = threadIdx.x;
  std::uint32_t a[16], b[8];
  std::int32_t d[most_values] = {};
  if (u.warpgroup) {
    std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    WgmmaDescriptor const descriptor = canonical_descriptor(start, Major::k, WgmmaMode::none);
    for (std::uint32_t i = thread; i < u.n * u.k; i += 128) {
      std::uint32_t const n = i / u.k, k = i % u.k;
      std::uint64_t const element = encoded(u.kind, u.bits, entry_of(u.number, round, true, k, n));
      std::uint32_t const at = wgmma_address(descriptor, Major::k, u.bits / 8, n, k).bytes - start;
      for (unsigned byte = 0; byte < u.bits / 8; ++byte)
        memory[at + byte] = static_cast<unsigned char>(element >> (8 * byte));
    }
    fill(a, u.a, u.kind, u.number, round, false, thread);
    begin_wgmma();
    float f[most_values] = {};
    if (u.kind == ElementKind::integer)
      multiply_integers(a, descriptor.bits(), d);
    else
      multiply_floats(u.number, a, descriptor.bits(), f);
    end_wgmma();
    for (unsigned i = 0; i < most_values; ++i) d[i] += static_cast<std::int32_t>(f[i]);
  } else {
    if (thread >= warp_lanes) return;
    fill(a, u.a, u.kind, u.number, round, false, thread);
    fill(b, u.b, u.kind, u.number, round, true, thread);
    multiply(u.number, a, b, d);
  }
  std::int32_t* const out =
      found + ((std::size_t{blockIdx.y} * product_rounds + round) * 128 + thread) * most_values;
  for (unsigned i = 0; i < u.d.values; ++i) out[i] = d[i];
}

}  // namespace

/// Rows ["m16n8k16.f32.f16.f16.f32", wrong, [D of the first round by thread, value]].
Record mma(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Unit> mine;
  for (std::uint32_t i = 0; i < std::size(products); ++i) {
    Product const& p = products[i];
    if (part.has(i))
      mine.push_back({i, p.kind, p.n, p.k, p.bits, p.warpgroup, p.fragment(Operand::a),
                      p.warpgroup ? Fragment{} : p.fragment(Operand::b), p.fragment(Operand::d)});
  }
  Record record;
  record.counts["units"] = mine.size();
  record.counts["units_of_all_parts"] = part.index == 0 ? std::size(products) : 0;
  record.counts["mismatches"] = record.counts["elements"] = 0;
  if (!mine.empty()) {
    Buffer<Unit> units(mine);
    Buffer<std::int32_t> found(mine.size() * product_rounds * 128 * most_values);
    multiply_rounds<<<dim3(product_rounds, static_cast<unsigned>(mine.size())), 128>>>(units.data(),
                                                                                       found.data());
    finish("mma");
    std::vector<std::int32_t> const all = found.read();
    for (std::size_t u = 0; u < mine.size(); ++u) {
      Fragment const& d = mine[u].d;
      std::uint64_t wrong = 0;
      std::string first;
      for (std::uint32_t round = 0; round < product_rounds; ++round)
        for (std::uint32_t thread = 0; thread < d.threads; ++thread)
          for (std::uint32_t i = 0; i < d.values; ++i) {
            MatrixElement const e = element_of(d, thread, i);
            std::int32_t const got = all[((u * product_rounds + round) * 128 + thread) * most_values + i];
            wrong += got != result_of(mine[u].number, round, mine[u].k, e.row, e.column);
            if (round == 0) first += (first.empty() ? "" : ",") + std::to_string(got);
          }
      record.counts["elements"] += std::uint64_t{product_rounds} * d.rows * d.columns;
      record.counts["mismatches"] += wrong;
      record.rows["products"].push_back("[" + quoted(products[mine[u].number].name) + "," +
                                        std::to_string(wrong) + ",[" + first + "]]");
    }
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
