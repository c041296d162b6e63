// exhaustive: every valid swizzle within 32 bits on every 32-bit offset.
//
// For each offset x the kernel evaluates the core's template twice, y = f(x) and f(y), and checks
//
//   y == R(x)                    R, the reference: the swizzle's GF(2) matrix, column by column
//   f(y) == x                    involution
//   (y ^ x) & ~target == 0       kept low bits and span: only target bits change
//
// A thread walks runs of 2^5 offsets along five *free* bits, which the swizzle neither reads nor
// writes, and first along the bits from log2(period) on. Free columns of the matrix are unit vectors
// (asserted for each swizzle), so along a run R grows by as much as x does: the comparison of a run is
// f(x + P) == f(x) + P as well, the period step. Per offset this leaves eight operations for the
// integer pipe (three of f, three of f of f, with the comparisons folded into three-input logic), and
// two additions, written as multiply-adds so that the other pipe takes them. The 44 swizzles that leave
// fewer than five free bits are walked one by one, with the period step spelled out.
#include "counters.hpp"

#include <swizproof/core/swizzle.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace swizproof::gpu {
namespace {

constexpr unsigned longest_run = 5;  ///< log2 of the offsets of a run
constexpr unsigned table_bits = 8;   ///< runs of a thread: 256
constexpr unsigned block_threads = 256;

/// The reference formulation, on purpose unlike the core's: digit sums without carries.
__host__ __device__ std::uint32_t reference(Swizzle s, std::uint32_t x) {
  int const low = s.base, high = s.base + (s.shift < 0 ? -s.shift : s.shift);
  int const source = s.shift < 0 ? low : high, target = s.shift < 0 ? high : low;
  std::uint64_t y = x;
  for (int i = 0; i < s.bits; ++i) {
    std::uint64_t const from = (x / (std::uint64_t{1} << (source + i))) % 2;
    std::uint64_t const to = (x / (std::uint64_t{1} << (target + i))) % 2;
    y = y - to * (std::uint64_t{1} << (target + i)) + ((from + to) % 2) * (std::uint64_t{1} << (target + i));
  }
  return static_cast<std::uint32_t>(y);
}

/// A swizzle and the walk over its offsets: a run adds step[number of trailing zeros of j] before its
/// j-th offset.
struct Walk {
  Swizzle swizzle;
  std::uint32_t free_bits;              ///< the run's bits
  std::uint32_t step[longest_run + 1];  ///< the last one, behind the run, is 0
};

/// Free bits in the order of preference: from the period on, then below the base, then in the gap.
std::vector<int> free_bits(Swizzle s) {
  std::uint64_t const used = s.bits == 0 ? 0 : s.source_mask() | s.target_mask();
  int const above = s.bits == 0 ? 0 : std::min(32, static_cast<int>(std::bit_width(s.period())) - 1);
  std::vector<int> order;
  for (int b = above; b < 32; ++b) order.push_back(b);
  for (int b = 0; b < above; ++b)
    if ((used >> b & 1) == 0) order.push_back(b);
  return order;
}

Walk walk(Swizzle s, unsigned length) {
  std::vector<int> order = free_bits(s);
  order.resize(length);
  std::sort(order.begin(), order.end());
  Walk w{s, 0, {}};
  std::uint32_t below = 0;
  for (unsigned i = 0; i < length; ++i) {
    std::uint32_t const bit = std::uint32_t{1} << order[i];
    if (reference(s, bit) != bit) throw Failure{"exhaustive: a free column of the matrix is no unit vector"};
    w.free_bits |= bit;
    w.step[i] = bit - below;
    below += bit;
  }
  return w;
}

/// The low bits of n, put one by one where `mask` has ones; the bits left over are returned in n.
__device__ std::uint32_t deposit(std::uint32_t& n, std::uint32_t& mask, unsigned bits) {
  std::uint32_t out = 0;
  for (unsigned i = 0; i < bits; ++i) {
    std::uint32_t const lowest = mask & (0 - mask);
    out |= (n & 1) != 0 ? lowest : 0;
    mask ^= lowest;
    n >>= 1;
  }
  return out;
}

/// For constants, so that unrolled loops index registers.
__device__ constexpr int trailing_zeros(int j) {
  int n = 0;
  while ((j >> n & 1) == 0) ++n;
  return n;
}

struct Findings {
  unsigned long long mismatches;  ///< runs with one
  unsigned long long offsets;     ///< evaluated
};

/// All offsets of the swizzles of `walks`, which all have this shift: grid (2^11, walks).
template <int Shift, unsigned RunBits>
__global__ void __launch_bounds__(block_threads)
    check_runs(Walk const* walks, std::uint32_t one, Findings* findings) {
  Walk const w = walks[blockIdx.y];
  Swizzle const swizzle{w.swizzle.bits, w.swizzle.base, Shift};
  __builtin_assume(w.swizzle.bits >= 0 && w.swizzle.bits < 32 && w.swizzle.base >= 0);
  __builtin_assume(swizzle.shift == 32 || swizzle.shift == -32 ||
                   w.swizzle.base + static_cast<int>(swizzle.distance()) < 32);
  __shared__ uint2 table[1 << table_bits];
  std::uint32_t rest = ~w.free_bits;
  std::uint32_t n = threadIdx.x;
  std::uint32_t const entry = deposit(n, rest, table_bits);
  table[threadIdx.x] = {entry, reference(w.swizzle, entry)};
  n = blockIdx.x * block_threads + threadIdx.x;
  std::uint32_t const base = deposit(n, rest, 32 - RunBits - table_bits);
  std::uint32_t const base_reference = reference(w.swizzle, base);
  std::uint32_t const kept = ~static_cast<std::uint32_t>(w.swizzle.target_mask());
  [[maybe_unused]] auto const period = static_cast<std::uint32_t>(w.swizzle.period());
  __syncthreads();
  std::uint32_t wrong = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 1 << table_bits; ++i) {
    std::uint32_t x = table[i].x ^ base;
    std::uint32_t expected = table[i].y ^ base_reference;
#pragma unroll
    for (int j = 1; j <= 1 << RunBits; ++j) {
      std::uint32_t y = swizzle(x);
      asm("" : "+r"(y));  // or the compiler would simplify f(f(x)) instead of evaluating it
      wrong |= y ^ expected;
      wrong |= swizzle(y) ^ x;
      wrong |= (y ^ x) & kept;
      if constexpr (RunBits == 0) wrong |= swizzle(x + period) ^ (y + period);
      std::uint32_t const step = w.step[trailing_zeros(j)];
      x = x * one + step;  // a multiply-add: the integer pipe is the busy one
      expected = expected * one + step;
    }
  }
  if (wrong != 0) atomicAdd(&findings[blockIdx.y].mismatches, 1ULL);
  unsigned long long const offsets = 1ULL << (table_bits + RunBits);
  if (threadIdx.x == 0) atomicAdd(&findings[blockIdx.y].offsets, offsets * block_threads);
}

using Launch = void (*)(dim3, Walk const*, Findings*);

template <int Shift, unsigned RunBits>
void launch_runs(dim3 grid, Walk const* walks, Findings* findings) {
  check_runs<Shift, RunBits><<<grid, block_threads>>>(walks, 1, findings);
}

/// Shifts -32..32.
template <unsigned RunBits, int... Index>
std::array<Launch, 65> launches(std::integer_sequence<int, Index...>) {
  std::array<Launch, 65> all{};
  ((all[Index] = launch_runs<Index - 32, RunBits>), ...);
  return all;
}

struct Group {
  int shift;
  bool runs;
  std::vector<Walk> walks;
};

/// This part's swizzles by shift: one launch each.
std::vector<Group> groups(Part part, std::uint64_t& all) {
  std::vector<Group> found;
  std::vector<Swizzle> const swizzles = swizzles_by_shift();
  all = swizzles.size();
  for (std::size_t i = 0; i < swizzles.size(); ++i) {
    if (!part.has(i)) continue;
    Swizzle const s = swizzles[i];
    bool const runs = s.bits <= most_bits_with_runs;
    if (found.empty() || found.back().shift != s.shift || found.back().runs != runs)
      found.push_back({s.shift, runs, {}});
    found.back().walks.push_back(walk(s, runs ? longest_run : 0));
  }
  return found;
}

/// How busy the integer pipe is, in percent of its limit, by its own counter: one launch to the right and
/// one to the left. Without counters the record says why.
void record_utilisation(Record& record) {
#ifdef SWIZPROOF_CUPTI
  std::vector<Walk> const right(8, walk({3, 4, 3}, longest_run)), left(8, walk({3, 4, -3}, longest_run));
  Buffer<Walk> const right_walks(right), left_walks(left);
  Buffer<Findings> findings(8);
  dim3 const grid(1U << (32 - longest_run - table_bits - 8), 8);
  try {
    auto const percent = count({"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"}, 2, [&] {
      launch_runs<3, longest_run>(grid, right_walks.data(), findings.data());
      launch_runs<-3, longest_run>(grid, left_walks.data(), findings.data());
    });
    record.longest["integer_pipe_percent/shift 3"] = percent[0][0];
    record.longest["integer_pipe_percent/shift -3"] = percent[1][0];
  } catch (Failure const& failure) {
    record.rows["integer_pipe"].push_back(quoted(failure.message));
  }
#else
  record.rows["integer_pipe"].push_back(quoted("counters cannot be read: built without CUPTI"));
#endif
}

}  // namespace

Record exhaustive(Device const& device, Settings const&, Part part) {
  std::uint64_t all = 0;
  std::vector<Group> const work = groups(part, all);
  std::vector<Buffer<Walk>> walks;
  for (Group const& group : work) walks.emplace_back(group.walks);
  auto const shifts = std::make_integer_sequence<int, 65>{};
  auto const in_runs = launches<longest_run>(shifts), one_by_one = launches<0>(shifts);
  std::vector<Buffer<Findings>> findings;
  for (Group const& group : work) findings.emplace_back(group.walks.size());
  auto const start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < work.size(); ++i) {
    unsigned const run = work[i].runs ? longest_run : 0;
    auto const shift = static_cast<std::size_t>(work[i].shift + 32);
    dim3 const grid(1U << (32 - run - table_bits - 8), static_cast<unsigned>(work[i].walks.size()));
    (work[i].runs ? in_runs : one_by_one)[shift](grid, walks[i].data(), findings[i].data());
  }
  finish("exhaustive");
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  Record record;
  for (std::size_t i = 0; i < work.size(); ++i) {
    std::vector<Findings> const found = findings[i].read();
    for (std::size_t j = 0; j < found.size(); ++j) {
      Swizzle const s = work[i].walks[j].swizzle;
      record.counts["offsets"] += found[j].offsets;
      record.counts["mismatches"] += found[j].mismatches;
      record.rows["swizzles"].push_back("[" + std::to_string(s.bits) + "," + std::to_string(s.base) + "," +
                                        std::to_string(s.shift) + "," + std::to_string(found[j].offsets) +
                                        "," + std::to_string(found[j].mismatches) + "]");
    }
  }
  record.counts["units"] = record.rows["swizzles"].size();
  record.counts["units_of_all_parts"] = part.index == 0 ? all : 0;
  record.longest["seconds"] = seconds;
  if (part.index == 0) record_utilisation(record);
  return record;
}

}  // namespace swizproof::gpu
