// registers: which element each register of a sparse product, of its metadata, of mma.m8n8k4 and of movmatrix is.
//
// As campaign `mma`: operands of small numbers, put where the model says, are multiplied, and every register of D is compared with the
// product worked out element by element. Of sparse products the metadata of lanes that the selector does not name are other valid ones.
#include "campaigns/asynchronous.cuh"
#include "campaign/registers.hpp"
#include "record.hpp"

#include <swizproof/hardware/wgmma.hpp>

#include <cuda_fp16.h>

#include <iterator>

namespace swizproof::gpu {
namespace {

constexpr unsigned most_values = 8;  ///< of D in a thread

/// Bits of a small number: tf32, f16 or an integer.
__device__ std::uint32_t encoded(unsigned bits, std::int32_t v) {
  std::uint32_t const size = static_cast<std::uint32_t>(v < 0 ? -v : v);
  std::uint32_t const sign = v < 0 ? 1 : 0;
  if (bits == 32)
    return (size == 0 ? 0 : size == 1 ? 0x3F80'0000U : 0x4000'0000U) | (size != 0 ? sign << 31 : 0);
  if (bits == 16) return (size == 0 ? 0 : size == 1 ? 0x3C00U : 0x4000U) | (size != 0 ? sign << 15 : 0);
  return static_cast<std::uint32_t>(v) & ((1U << bits) - 1);
}

__device__ void put(std::uint32_t* registers, unsigned bits, std::uint32_t i, std::uint32_t element) {
  registers[i * bits / 32] |= element << (i * bits % 32);
}

#define D4 "{%0,%1,%2,%3}"
#define SP_2_2(text, selector, C, d)                                                          \
  asm volatile("mma.sp::ordered_metadata.sync.aligned." text " " D4 ", {%4,%5}, {%6,%7}, " D4 \
               ", %8, " selector ";"                                                          \
               : C(d[0]), C(d[1]), C(d[2]), C(d[3])                                           \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(e))
#define SP_4_4(text, selector, C, d)                                                                        \
  asm volatile("mma.sp::ordered_metadata.sync.aligned." text " " D4 ", {%4,%5,%6,%7}, {%8,%9,%10,%11}, " D4 \
               ", %12, " selector ";"                                                                       \
               : C(d[0]), C(d[1]), C(d[2]), C(d[3])                                                         \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),    \
                 "r"(e))
#define ROUND_2(number, text, C, d) \
  case number:                      \
    if (selector == 0)              \
      SP_2_2(text, "0x0", C, d);    \
    else                            \
      SP_2_2(text, "0x1", C, d);    \
    break
#define ROUND_4(number, text, C, d) \
  case number:                      \
    if (selector == 0)              \
      SP_4_4(text, "0x0", C, d);    \
    else                            \
      SP_4_4(text, "0x1", C, d);    \
    break
#define FOUR_2(number, text, C, d) \
  case number:                     \
    if (selector == 0)             \
      SP_2_2(text, "0x0", C, d);   \
    else if (selector == 1)        \
      SP_2_2(text, "0x1", C, d);   \
    else if (selector == 2)        \
      SP_2_2(text, "0x2", C, d);   \
    else                           \
      SP_2_2(text, "0x3", C, d);   \
    break

/// A sparse product of a warp, by its place in sparse_shapes.
__device__ void multiply_sparse(unsigned shape, unsigned selector, std::uint32_t const* a,
                                std::uint32_t const* b, std::uint32_t e, std::int32_t* d) {
  float f[4] = {};
  std::int32_t s[4] = {};
  switch (shape) {
    FOUR_2(0, "m16n8k8.row.col.f32.tf32.tf32.f32", "+f", f);
    ROUND_4(1, "m16n8k16.row.col.f32.tf32.tf32.f32", "+f", f);
    FOUR_2(2, "m16n8k16.row.col.f32.f16.f16.f32", "+f", f);
    ROUND_4(3, "m16n8k32.row.col.f32.f16.f16.f32", "+f", f);
    ROUND_2(4, "m16n8k32.row.col.s32.s8.s8.s32", "+r", s);
    case 5:
      SP_4_4("m16n8k64.row.col.s32.s8.s8.s32", "0x0", "+r", s);
      break;
      ROUND_2(6, "m16n8k64.row.col.s32.s4.s4.s32", "+r", s);
    default:
      SP_4_4("m16n8k128.row.col.s32.s4.s4.s32", "0x0", "+r", s);
  }
  for (unsigned i = 0; i < 4; ++i) d[i] = s[i] + static_cast<std::int32_t>(f[i]);
}

#define WGMMA_SP(C, d, types, selector, last)                                            \
  asm volatile(                                                                          \
      "{.reg .pred p; setp.ne.b32 p, 0, 1;\n"                                            \
      "wgmma.mma_async.sp.sync.aligned." types                                           \
      " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, %13, " selector ", p" last ";}" \
      : C(d[0]), C(d[1]), C(d[2]), C(d[3]), C(d[4]), C(d[5]), C(d[6]), C(d[7])           \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor), "r"(e)              \
      : "memory")

/// A sparse product of a warpgroup, by its place in sparse_wgmma_shapes.
__device__ void multiply_group(unsigned shape, unsigned selector, std::uint32_t const* a,
                               std::uint64_t descriptor, std::uint32_t e, float* f) {
  if (shape == 0 && selector == 0) WGMMA_SP("+f", f, "m64n16k16.f32.tf32.tf32", "0", ", 1, 1");
  if (shape == 0 && selector == 1) WGMMA_SP("+f", f, "m64n16k16.f32.tf32.tf32", "1", ", 1, 1");
  if (shape == 1 && selector == 0) WGMMA_SP("+f", f, "m64n16k32.f32.f16.f16", "0", ", 1, 1, 0");
  if (shape == 1 && selector == 1) WGMMA_SP("+f", f, "m64n16k32.f32.f16.f16", "1", ", 1, 1, 0");
}
__device__ void multiply_group_of_integers(std::uint32_t const* a, std::uint64_t descriptor, std::uint32_t e,
                                           std::int32_t* s) {
  WGMMA_SP("+r", s, "m64n16k64.s32.s8.s8", "0", "");
}

#define QUADS_F32(order)                                                                             \
  asm volatile("mma.sync.aligned.m8n8k4." order                                                      \
               ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "                    \
               "{%0,%1,%2,%3,%4,%5,%6,%7};"                                                          \
               : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(f[4]), "+f"(f[5]), "+f"(f[6]), \
                 "+f"(f[7])                                                                          \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))
#define QUADS_F16(order)                                                          \
  asm volatile("mma.sync.aligned.m8n8k4." order                                   \
               ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3};" \
               : "+r"(h[0]), "+r"(h[1]), "+r"(h[2]), "+r"(h[3])                   \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))

__device__ void multiply_quads(QuadPairs of, std::uint32_t const* a, std::uint32_t const* b,
                               std::int32_t* d) {
  float f[8] = {};
  std::uint32_t h[4] = {};
  unsigned const order = (of.a_row ? 0 : 2) + (of.b_col ? 0 : 1);
  if (of.f32) {
    if (order == 0) QUADS_F32("row.col");
    if (order == 1) QUADS_F32("row.row");
    if (order == 2) QUADS_F32("col.col");
    if (order == 3) QUADS_F32("col.row");
  } else {
    if (order == 0) QUADS_F16("row.col");
    if (order == 1) QUADS_F16("row.row");
    if (order == 2) QUADS_F16("col.col");
    if (order == 3) QUADS_F16("col.row");
  }
  for (unsigned i = 0; i < 8; ++i)
    d[i] = of.f32 ? static_cast<std::int32_t>(f[i])
                  : static_cast<std::int32_t>(__half2float(
                        __ushort_as_half(static_cast<unsigned short>(h[i / 2] >> (16 * (i % 2))))));
}

struct Unit {
  std::uint32_t number;
  RegisterKind kind;
  unsigned shape, selector;
  SparseShape sparse;
  Fragment a, b, e;
  QuadPairs quads;
};

/// True of the lanes whose metadata are read.
__device__ bool is_read(Unit const& u, std::uint32_t lane) {
  if (u.e.formula == FragmentFormula::e_one) return lane % 4 == u.selector;
  return u.e.formula == FragmentFormula::e_all || lane % 4 / 2 == u.selector;
}

/// A and E of a sparse product in the registers of a thread.
__device__ std::uint32_t fill_sparse(Unit const& u, std::uint32_t round, std::uint32_t thread,
                                     std::uint32_t* a) {
  for (std::uint32_t i = 0; i < u.a.values; ++i) {
    MatrixElement const at = element_of(u.a, thread, i);
    put(a, u.a.bits, i, encoded(u.a.bits, kept_entry(u.number, round, false, at.row, at.column)));
  }
  std::uint32_t e = 0;
  std::uint32_t const told = is_read(u, thread % 32) ? round : round + 1;
  for (std::uint32_t i = 0; i < u.e.values; ++i) {
    MatrixElement const at = element_of(u.e, thread, i);
    put(&e, u.e.bits, i, index_bits_of(u.number, told, u.a.bits, at.row, at.column));
  }
  return e;
}

/// Block x, y multiply round x of unit y. `found` gets the D of each round by thread and value.
__global__ void __launch_bounds__(128) fill_and_multiply(Unit const* units, std::int32_t* found) {
  __shared__ alignas(1024) unsigned char memory[4096];
  Unit const u = units[blockIdx.y];
  std::uint32_t const round = blockIdx.x, thread = threadIdx.x;
  std::uint32_t a[4] = {}, b[4] = {};
  std::int32_t d[most_values] = {};
  if (u.kind == RegisterKind::sparse_wgmma) {
    unsigned const bytes = u.a.bits / 8;
    auto const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    WgmmaDescriptor const descriptor{start, 128, 512, WgmmaMode::none};  // 64 bytes of each of 16 columns
    for (std::uint32_t i = thread; i < 16 * u.sparse.k; i += 128) {
      std::uint32_t const n = i / u.sparse.k, k = i % u.sparse.k;
      std::uint32_t const element = encoded(u.a.bits, kept_entry(u.number, round, true, k, n));
      std::uint32_t const at = wgmma_address(descriptor, Major::k, bytes, n, k).bytes - start;
      for (unsigned byte = 0; byte < bytes; ++byte)
        memory[at + byte] = static_cast<unsigned char>(element >> (8 * byte));
    }
    std::uint32_t const e = fill_sparse(u, round, thread, a);
    begin_wgmma();
    float f[most_values] = {};
    if (u.shape == 2)
      multiply_group_of_integers(a, descriptor.bits(), e, d);
    else
      multiply_group(u.shape, u.selector, a, descriptor.bits(), e, f);
    end_wgmma();
    for (unsigned i = 0; i < most_values; ++i) d[i] += static_cast<std::int32_t>(f[i]);
  } else {
    if (thread >= warp_lanes) return;
    if (u.kind == RegisterKind::sparse) {
      std::uint32_t const e = fill_sparse(u, round, thread, a);
      for (std::uint32_t i = 0; i < u.b.values; ++i) {
        MatrixElement const at = element_of(u.b, thread, i);
        put(b, u.b.bits, i, encoded(u.b.bits, kept_entry(u.number, round, true, at.row, at.column)));
      }
      multiply_sparse(u.shape, u.selector, a, b, e, d);
    } else if (u.kind == RegisterKind::quad_pairs) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        MatrixElement const of_a = quad_pair_element(u.quads, Operand::a, thread, i);
        MatrixElement const of_b = quad_pair_element(u.quads, Operand::b, thread, i);
        put(a, 16, i, encoded(16, kept_entry(u.number, round, false, of_a.row, of_a.column)));
        put(b, 16, i, encoded(16, kept_entry(u.number, round, true, of_b.row, of_b.column)));
      }
      multiply_quads(u.quads, a, b, d);
    } else {
      std::uint32_t const in = (2 * thread + round) | (2 * thread + 1 + round) << 16;
      std::uint32_t out = 0;
      asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(in));
      d[0] = static_cast<std::int32_t>(out & 0xffff), d[1] = static_cast<std::int32_t>(out >> 16);
    }
  }
  std::int32_t* const out =
      found + ((std::size_t{blockIdx.y} * register_rounds + round) * 128 + thread) * most_values;
  for (unsigned i = 0; i < most_values; ++i) out[i] = d[i];
}

Unit unit_of(std::uint32_t number) {
  RegisterCase const& c = register_cases[number];
  bool const group = c.kind == RegisterKind::sparse_wgmma;
  SparseShape const shape = group ? sparse_wgmma_shapes[c.shape] : sparse_shapes[c.shape];
  return {number,
          c.kind,
          c.shape,
          c.selector,
          shape,
          shape.fragment(Operand::a, 8, 32),
          group ? Fragment{} : shape.fragment(Operand::b, 8, 32),
          shape.fragment(Operand::e, 8, 32),
          c.quads};
}

}  // namespace

/// Rows [name, wrong, [D of the first round by thread, value]].
Record registers(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Unit> mine;
  for (std::uint32_t i = 0; i < std::size(register_cases); ++i)
    if (part.has(i)) mine.push_back(unit_of(i));
  Record record;
  record.counts["units"] = mine.size();
  record.counts["units_of_all_parts"] = part.index == 0 ? std::size(register_cases) : 0;
  record.counts["mismatches"] = record.counts["elements"] = 0;
  if (!mine.empty()) {
    Buffer<Unit> units(mine);
    Buffer<std::int32_t> found(mine.size() * register_rounds * 128 * most_values);
    fill_and_multiply<<<dim3(register_rounds, static_cast<unsigned>(mine.size())), 128>>>(units.data(),
                                                                                          found.data());
    finish("registers");
    std::vector<std::int32_t> const all = found.read();
    for (std::size_t u = 0; u < mine.size(); ++u) {
      RegisterCase const& c = register_cases[mine[u].number];
      std::uint64_t wrong = 0;
      std::string first;
      unsigned const threads = register_threads(c), values = register_values(c);
      for (std::uint32_t round = 0; round < register_rounds; ++round)
        for (std::uint32_t thread = 0; thread < threads; ++thread)
          for (std::uint32_t i = 0; i < values; ++i) {
            std::int32_t const got = all[((u * register_rounds + round) * 128 + thread) * most_values + i];
            wrong += got != register_result(mine[u].number, round, thread, i);
            if (round == 0) first += (first.empty() ? "" : ",") + std::to_string(got);
          }
      record.counts["elements"] += std::uint64_t{register_rounds} * threads * values;
      record.counts["mismatches"] += wrong;
      record.rows["products"].push_back("[" + quoted(c.name) + "," + std::to_string(wrong) + ",[" + first +
                                        "]]");
    }
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
