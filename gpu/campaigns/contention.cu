// contention: what the warps' loads and stores lose to wgmma and to the copy engine, and these to them (H16).
//
// One block. Its first warpgroup is the neighbour: it multiplies, or one of its threads copies, again and again. Eight more warps issue one
// instruction 16,000 times each and record when they begin and end; the neighbour counts its operations in between. In a second part no warp
// issues anything, and wgmma reads operands of every layout: the time must be the same.
#include "campaigns/asynchronous.cuh"
#include "campaigns/clock.cuh"
#include "campaign/contention.hpp"
#include "record.hpp"

#include <algorithm>
#include <iterator>

namespace swizproof::gpu {
namespace {

constexpr unsigned tile_bytes = 4096, tiles = 8;  ///< that the warps issue at, one after the other
constexpr unsigned operand_a = tiles * tile_bytes, operand_b = operand_a + 49152;
constexpr unsigned copies = 8;  ///< in flight
constexpr unsigned shared_bytes = operand_b + 65536 + 1024, threads = 128 + warps_beside * warp_lanes;
constexpr std::uint32_t most_polls = 1U << 24;

// d += a * b, m64nNk16 in f16: a thread holds N / 4 registers of d.
#define TO_4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define TO_16(i) TO_4(i), TO_4(i + 4), TO_4(i + 8), TO_4(i + 12)
#define NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define NAMES_32 NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NAMES_64                                                                               \
  NAMES_32                                                                                     \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%" \
  "54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define MULTIPLY(N, NAMES, R0, R1, R2, R3, R4, ...)                                                       \
  if constexpr (InShared)                                                                                 \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f16.f16.f16 {" NAMES "}, " R0 ", " R1        \
                 ", 1, 1, 1, " R2 ", " R3 ";"                                                             \
                 : __VA_ARGS__                                                                            \
                 : "l"(a), "l"(b), "n"(Transposed), "n"(Transposed));                                     \
  else                                                                                                    \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f16.f16.f16 {" NAMES "}, {" R0 "," R1 "," R2 \
                 "," R3 "}, " R4 ", 1, 1, 1, 0;"                                                          \
                 : __VA_ARGS__                                                                            \
                 : "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3]), "l"(b))

template <unsigned N, bool InShared, int Transposed = 0>
__device__ __forceinline__ void multiply(std::uint32_t (&d)[64],
                                         [[maybe_unused]] std::uint32_t const (&registers)[4],
                                         [[maybe_unused]] std::uint64_t a, std::uint64_t b) {
  if constexpr (N == 8) {
    MULTIPLY(8, "%0,%1", "%2", "%3", "%4", "%5", "%6", "+r"(d[0]), "+r"(d[1]));
  } else if constexpr (N == 64) {
    MULTIPLY(64, NAMES_16, "%16", "%17", "%18", "%19", "%20", TO_16(0));
  } else if constexpr (N == 128) {
    MULTIPLY(128, NAMES_32, "%32", "%33", "%34", "%35", "%36", TO_16(0), TO_16(16));
  } else {
    static_assert(N == 256);
    MULTIPLY(256, NAMES_64, "%64", "%65", "%66", "%67", "%68", TO_16(0), TO_16(16), TO_16(32), TO_16(48));
  }
}
#undef MULTIPLY

/// Result of one measurement: cycles of the issuing warps; of the neighbour, operations and cycles while they issued.
struct Taken {
  std::uint32_t cycles = 0, neighbour_cycles = 0, operations = 0;
};

/// Progress of the neighbour, read from time to time. `phase` is 0 before the warps issue, 1 while they do, 2 afterwards.
struct Count {
  std::uint32_t operations = 0, first = 0, last = 0, from = 0, to = 0;
  bool begun = false;
  __device__ void look(std::uint32_t phase, bool alone) {
    std::uint32_t const now = clock_now();
    bool const begins = !begun && (phase == 1 || alone), goes_on = phase != 2 || alone;
    first = begins ? operations : first, from = begins ? now : from;
    last = goes_on ? operations : last, to = goes_on ? now : to;
    begun = begun || begins;
  }
};

/// One batch of multiplications, until the warps have ended, or, if there are none, for `limit` of them.
template <unsigned N, int Transposed>
__device__ void multiply_all(Count& count, std::uint32_t const volatile& phase, bool in_shared, bool alone,
                             std::uint64_t a, std::uint64_t b, std::uint32_t one, std::uint32_t* out) {
  std::uint32_t d[64] = {};
  std::uint32_t const registers[4] = {one, one, one, one};
  count.look(phase, alone);
  unsigned const limit = alone ? wgmmas_of_layout : 1U << 30;
  while (count.operations < limit) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if (in_shared) {
#pragma unroll 1
      for (unsigned i = 0; i < wgmmas_of_batch / 4; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) multiply<N, true, Transposed>(d, registers, a, b);
    } else {
#pragma unroll 1
      for (unsigned i = 0; i < wgmmas_of_batch / 4; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) multiply<N, false, Transposed>(d, registers, a, b);
    }
    end_wgmma();
    count.operations += wgmmas_of_batch;
    std::uint32_t const seen = phase;
    count.look(seen, alone);
    // All four warps must leave together.
    std::uint32_t const own = seen == 2 ? 1 : 0;
    std::uint32_t ended = 0;
    asm volatile(
        "{.reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.cta.red.or.pred.aligned q, 2, 128, p; selp.u32 %0, "
        "1, 0, q;}"
        : "=r"(ended)
        : "r"(own)
        : "memory");
    if (ended != 0) break;
  }
  std::uint32_t all = 0;
  for (std::uint32_t const value : d) all |= value;
  if (all == 0x9e3779b9) *out = all;
}

/// One thread keeps eight bulk copies in flight.
__device__ void copy_all(Count& count, std::uint32_t const volatile& phase, bool alone, bool in,
                         unsigned char* global, std::uint32_t shared, std::uint64_t* barriers) {
  auto const barrier = [&](unsigned i) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(&barriers[i % copies]));
  };
  auto const issue = [&](unsigned i) {
    unsigned char* const there = global + i % copies * copied_bytes;
    std::uint32_t const here = shared + i % copies * copied_bytes;
    if (in) {
      asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(barrier(i)),
                   "n"(copied_bytes)
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              here),
          "l"(there), "n"(copied_bytes), "r"(barrier(i))
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(
              there),
          "r"(here), "n"(copied_bytes)
          : "memory");
    }
  };
  count.look(phase, alone);
  unsigned issued = 0;
  for (; issued < copies; ++issued) issue(issued);
  for (bool more = true; count.operations < issued;) {
    if (in) {
      std::uint32_t done = 0;
      for (unsigned poll = 0; poll < most_polls && done == 0; ++poll)
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier(count.operations)), "r"(count.operations / copies & 1)
                     : "memory");
      if (done == 0) __trap();  // a copy that never comes
    } else {
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(copies - 1) : "memory");
    }
    ++count.operations;
    more = more && phase != 2 && !(alone && count.operations >= wgmmas_of_layout);
    if (more) {
      count.look(phase, alone);
      issue(issued++);
    }
  }
  if (!in) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Issues it `times_beside` times, at eight tiles in turn.
template <Operation Op, unsigned Bytes>
__device__ std::uint32_t issue_all(std::uint32_t address, std::uint32_t one) {
  std::uint32_t all = 0, a = 0, b = 0, c = 0, e = 0;
#pragma unroll 1
  for (unsigned i = 0; i < times_beside / tiles; ++i)
#pragma unroll
    for (unsigned t = 0; t < tiles; ++t) {
      std::uint32_t const at = address + t * tile_bytes;
      if constexpr (Op == Operation::ld_shared && Bytes == 4)
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(at));
      if constexpr (Op == Operation::ld_shared && Bytes == 16)
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(e)
                     : "r"(at));
      if constexpr (Op == Operation::st_shared && Bytes == 4)
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(one));
      if constexpr (Op == Operation::st_shared && Bytes == 16)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(one));
      if constexpr (Op == Operation::ldmatrix)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(e)
                     : "r"(at));
      all |= a | b | c | e;
    }
  return all;
}

/// Work of one launch.
struct Asked {
  Neighbour neighbour;
  Issued issued;
  bool issues;  ///< something
  OperandLayout layout;
};

__device__ std::uint32_t issue(Issued const& issued, std::uint32_t address, std::uint32_t one) {
  bool const wide = issued.instruction.bytes == 16;
  if (issued.instruction.operation == Operation::ldmatrix)
    return issue_all<Operation::ldmatrix, 16>(address, one);
  if (issued.instruction.operation == Operation::ld_shared)
    return wide ? issue_all<Operation::ld_shared, 16>(address, one)
                : issue_all<Operation::ld_shared, 4>(address, one);
  return wide ? issue_all<Operation::st_shared, 16>(address, one)
              : issue_all<Operation::st_shared, 4>(address, one);
}

/// The neighbour multiplies with N columns, or copies if N is 0.
template <unsigned N, int Transposed>
__global__ void __launch_bounds__(threads, 1)
    contend(Asked asked, std::uint32_t one, unsigned char* global, Taken* taken) {
  extern __shared__ unsigned char memory[];
  __shared__ std::uint32_t begin[warps_beside], end[warps_beside];
  __shared__ std::uint32_t volatile phase;
  __shared__ alignas(8) std::uint64_t barriers[copies];
  std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  std::uint32_t const base = (start + 1023) / 1024 * 1024;
  for (unsigned i = threadIdx.x; i < (shared_bytes - 1024) / 4; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(memory + (base - start))[i] = 0;
  if (threadIdx.x == 0) {
    phase = 0;
    for (std::uint64_t& barrier : barriers)
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                       static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier)))
                   : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  unsigned const lane = threadIdx.x % warp_lanes;
  Count count;
  if (threadIdx.x < 128) {
    bool const alone = !asked.issues, in = asked.neighbour.kind == Neighbour::Kind::copy_in;
    if constexpr (N != 0) {
      auto const descriptor = [&](std::uint32_t operand) {
        WgmmaDescriptor d = asked.layout.descriptor;
        d.start += base + operand;
        return d.bits();
      };
      multiply_all<N, Transposed>(count, phase, asked.neighbour.a_in_shared, alone, descriptor(operand_a),
                                  descriptor(operand_b), one, &taken->cycles);
    } else if (asked.neighbour.kind != Neighbour::Kind::none && threadIdx.x == 0) {
      copy_all(count, phase, alone, in, global, base + operand_b, barriers);
    }
  } else if (asked.issues) {
    unsigned const warp = threadIdx.x / warp_lanes - 4;
    for (unsigned i = 0; i < 4000; ++i) (void)clock_now();  // the neighbour is at work by then
    asm volatile("bar.sync 1, 256;" ::: "memory");
    if (threadIdx.x == 128) phase = 1;
    std::uint32_t const t0 = clock_now();
    std::uint32_t const all = issue(asked.issued, base + byte_beside(asked.issued, lane), one);
    std::uint32_t last;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(last) : "r"(base));
    if ((all | last) == 0x9e3779b9) taken->cycles = all;
    std::uint32_t const t1 = clock_now();
    if (lane == 0) begin[warp] = t0, end[warp] = t1;
    asm volatile("bar.sync 1, 256;" ::: "memory");
    if (threadIdx.x == 128) phase = 2;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  Taken result;
  if (asked.issues) {
    result.cycles = cycles_of(begin, end);
  }
  result.neighbour_cycles = count.to - count.from;
  result.operations = count.last - count.first;
  *taken = result;
}

using ContendingKernel = void (*)(Asked, std::uint32_t, unsigned char*, Taken*);

ContendingKernel kernel_of(Asked const& asked) {
  if (asked.layout.major == Major::mn) return contend<64, 1>;
  switch (asked.neighbour.n) {
    case 8:
      return contend<8, 0>;
    case 64:
      return contend<64, 0>;
    case 128:
      return contend<128, 0>;
    case 256:
      return contend<256, 0>;
    default:
      return contend<0, 0>;
  }
}

/// Three times, the one in which the warps (or, alone, the neighbour) took the least time.
Taken measure(Asked const& asked, Buffer<unsigned char> const& global, Buffer<Taken> const& taken) {
  Taken best;
  ContendingKernel const kernel = kernel_of(asked);
  allow_shared(kernel, shared_bytes);
  for (unsigned repetition = 0; repetition < 3; ++repetition) {
    kernel<<<1, threads, shared_bytes>>>(asked, 1, global.data(), taken.data());
    finish("contention");
    Taken const now = taken.read().front();
    bool const less = asked.issues ? now.cycles < best.cycles : now.neighbour_cycles < best.neighbour_cycles;
    if (repetition == 0 || less) best = now;
  }
  return best;
}

}  // namespace

Record contention(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Contention> const pairs = contentions();
  std::vector<OperandLayout> const layouts = operand_layouts();
  Record record;
  record.counts["units"] = record.counts["mismatches"] = 0;
  record.counts["units_of_all_parts"] = part.index == 0 ? pairs.size() + layouts.size() : 0;
  Buffer<unsigned char> const global(copies * copied_bytes);
  Buffer<Taken> const taken(1);
  WgmmaDescriptor const canonical = canonical_descriptor(0, Major::k, WgmmaMode::b128);
  for (std::size_t u = 0; u < pairs.size(); ++u) {
    if (!part.has(u)) continue;
    Neighbour const& neighbour = neighbours[pairs[u].neighbour];
    Issued const& issued = issued_beside[pairs[u].issued];
    Taken const t = measure({neighbour, issued, pairs[u].issued != 0, {Major::k, canonical}}, global, taken);
    ++record.counts["units"];
    if (!contention_agrees(neighbour, issued, t.cycles, t.neighbour_cycles, t.operations))
      ++record.counts["mismatches"];
    record.rows["pairs"].push_back("[\"" + std::string(neighbour.name) + "\",\"" + issued.name + "\"," +
                                   std::to_string(t.cycles) + "," + std::to_string(t.neighbour_cycles) + "," +
                                   std::to_string(t.operations) + "]");
  }
  std::vector<std::uint32_t> cycles;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (!part.has(pairs.size() + i)) continue;
    WgmmaDescriptor const& d = layouts[i].descriptor;
    Taken const t = measure({neighbours[3], issued_beside[0], false, layouts[i]}, global, taken);
    ++record.counts["units"];
    cycles.push_back(t.neighbour_cycles);
    record.rows["layouts"].push_back("[\"" + std::string(layouts[i].major == Major::k ? "k" : "mn") + "\"," +
                                     std::to_string(static_cast<int>(d.mode)) + "," +
                                     std::to_string(d.start) + "," + std::to_string(d.leading_byte_offset) +
                                     "," + std::to_string(d.stride_byte_offset) + "," +
                                     std::to_string(t.neighbour_cycles) + "]");
  }
  std::uint32_t const least = cycles.empty() ? 0 : *std::min_element(cycles.begin(), cycles.end());
  for (std::uint32_t const c : cycles)
    if (!same_time(c, least)) ++record.counts["mismatches"];
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
