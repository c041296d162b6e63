// wavefronts: the cycles of one warp instruction on many patterns, against the law of bank.hpp.
//
// One block per multiprocessor, eight warps. They draw 256 patterns and predict their wavefronts with
// the core's cost(), a thread a pattern; then all eight warps issue the same pattern together, 16 times
// each, six times over (at 16 pages of 4 KiB, so that nothing is merged), and the clock says how long
// that took:
//
//   cycles = overhead + 768 * wavefronts
//
// The overhead (latency of the last access, barrier) is measured, not assumed: twice as many
// instructions take 768 * wavefronts longer. What comes to another number of wavefronts than the law
// says (H12, hardware/timing.hpp) is measured up to eight times, on other multiprocessors, and then is a
// mismatch that is kept with its addresses.
#include "issue.cuh"
#include "record.hpp"

#include <swizproof/hardware/timing.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace swizproof::gpu {
namespace {

constexpr unsigned warps = measuring_warps;
constexpr unsigned batch = batch_patterns;     ///< one a thread
constexpr unsigned rounds = measuring_rounds;  ///< through the pages, in one measurement
constexpr unsigned instructions = rounds * pages * warps;
constexpr unsigned attempts = 8;
constexpr unsigned most_kept = 4096;

/// A measurement with all that is needed to repeat it.
struct Kept {
  Pattern pattern;
  std::uint64_t number;
  std::uint32_t cycles;
  std::uint32_t predicted;
};

/// Launches of one kind of pattern: numbers first, first + step, ... below end, in batches.
struct Numbers {
  std::uint64_t seed;
  std::uint64_t first_batch;
  std::uint64_t batches;
  std::uint64_t batch_step;
  std::uint64_t end;  ///< of pattern numbers
  Kind kind;
  LaneMaps maps;
  unsigned rounds;    ///< of 16 instructions a warp
  unsigned overhead;  ///< cycles
  Operation operation;
  std::uint64_t keep_every;
  Data data;             ///< zeros
  unsigned first_block;  ///< the block that starts: repetitions go to another multiprocessor
  Kept const* again;     ///< if set: measure these once more; numbers are places in this list
};

/// A pattern to measure, and what the law says that it costs. Nothing is measured where `wanted` is not.
struct Prepared {
  Pattern pattern;
  std::uint64_t number;
  std::uint32_t predicted;
  bool wanted;
};

struct Findings {
  unsigned long long patterns;
  unsigned long long mismatches;
  unsigned long long by_wavefronts[33];
  unsigned int farthest;  ///< largest distance of cycles to the law
  unsigned int kept;
  unsigned int wrong;
};

/// Shared memory of a block; the pages come first and are aligned to 4 KiB.
struct alignas(4096) Scratch {
  unsigned char page[pages][page_bytes];
  Pattern pattern[batch];
  std::uint32_t begin[batch][warps];
  std::uint32_t end[batch][warps];
};

__device__ std::uint32_t now() {
  std::uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed>
__device__ void measure(Scratch& scratch, unsigned i, Numbers const& numbers, char const* global) {
  constexpr Instruction instruction{Op, Bytes, Matrices, Transposed};
  unsigned const lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
  Pattern const& pattern = scratch.pattern[i];
  auto const page = static_cast<std::uint32_t>(__cvta_generic_to_shared(scratch.page));
  std::uint32_t const address = page + pattern.unit[lane] * instruction.bytes;
  bool const first = lane + 1 == static_cast<unsigned>(__ffs(static_cast<int>(pattern.active)));
  std::uint32_t sink[pages][4] = {};
  __syncthreads();
  if ((pattern.active >> lane & 1) != 0) {
    std::uint32_t const begin = now();
#pragma unroll 1
    for (unsigned r = 0; r < numbers.rounds; ++r)
      issue_all<Op, Bytes, Matrices, Transposed>(std::make_integer_sequence<unsigned, pages>{}, address,
                                                 global + lane * Bytes, numbers.data, sink);
    drain<Op>(page, sink);
    std::uint32_t const end = now();
    keep_alive<Op>(page, sink);
    if (first) {
      scratch.begin[i][warp] = begin;
      scratch.end[i][warp] = end;
    }
  }
  __syncwarp();
}

/// What a measurement of this pattern took, from the first warp's start to the last one's end.
__device__ int cycles_of(Scratch const& scratch, unsigned i) {
  std::uint32_t first = scratch.begin[i][0], last = scratch.end[i][0];
  for (unsigned w = 1; w < warps; ++w) {
    first = static_cast<std::int32_t>(scratch.begin[i][w] - first) < 0 ? scratch.begin[i][w] : first;
    last = static_cast<std::int32_t>(scratch.end[i][w] - last) > 0 ? scratch.end[i][w] : last;
  }
  return static_cast<int>(last - first);
}

/// Counts what thread t's pattern of the batch cost, and keeps it if it is a mismatch or in the sample.
__device__ void conclude(Scratch const& scratch, Numbers const& numbers, std::uint64_t number,
                         std::uint32_t predicted, Findings* findings, Kept* kept, Kept* wrong) {
  int const cycles = cycles_of(scratch, threadIdx.x);
  int const issued = static_cast<int>(pages * warps * numbers.rounds);
  int const rest = cycles - static_cast<int>(numbers.overhead), wavefronts = static_cast<int>(predicted);
  bool const mismatch = !may_take(numbers.operation, rest, issued, wavefronts);
  atomicAdd(&findings->patterns, 1ULL);
  atomicAdd(&findings->by_wavefronts[predicted <= 32 ? predicted : 0], 1ULL);
  if (!mismatch && time_tells(numbers.operation, wavefronts))
    atomicMax(&findings->farthest, static_cast<unsigned>(abs(rest - wavefronts * issued)));
  Kept const here{scratch.pattern[threadIdx.x], number, static_cast<std::uint32_t>(cycles), predicted};
  if (!mismatch && number % numbers.keep_every == 0) {
    unsigned const at = atomicAdd(&findings->kept, 1U);
    if (at < most_kept) kept[at] = here;
  }
  if (mismatch) {
    atomicAdd(&findings->mismatches, 1ULL);
    unsigned const at = atomicAdd(&findings->wrong, 1U);
    if (at < most_kept) wrong[at] = here;
  }
}

/// Writes the pattern of place `place` and returns its number.
__device__ __noinline__ std::uint64_t prepare(Numbers const& numbers, Instruction instruction,
                                              std::uint64_t place, Pattern& pattern) {
  if (numbers.again != nullptr && place < numbers.end) {
    pattern = numbers.again[place].pattern;
    return numbers.again[place].number;
  }
  pattern = numbers.kind == Kind::lane_map ? lane_map(place, numbers.maps)
                                           : draw(numbers.seed, place, numbers.kind, instruction);
  return place;
}

/// What the law says that a pattern costs. One function for all instructions: it is compiled once.
__device__ __noinline__ std::uint32_t predict(PhaseTable const& phases, Instruction instruction,
                                              Pattern const& pattern) {
  return cost(Architecture{{}, &phases, {}}, instruction, access(pattern, instruction)).wavefronts;
}

/// Draws and predicts, a thread a pattern. A kernel of its own: what diverges here must not be diverged
/// when it is measured.
__global__ void __launch_bounds__(batch) prepare_all(Numbers const numbers, PhaseTable const phases,
                                                     Instruction const instruction, Prepared* prepared) {
  std::uint64_t const place = (numbers.first_batch + blockIdx.x * numbers.batch_step) * batch + threadIdx.x;
  Prepared p{};
  p.number = prepare(numbers, instruction, place, p.pattern);
  p.predicted = predict(phases, instruction, p.pattern);
  p.wanted = place < numbers.end;
  prepared[blockIdx.x * batch + threadIdx.x] = p;
}

template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed>
__global__ void __launch_bounds__(batch, 1)
    run(Numbers const numbers, Prepared const* prepared, Findings* findings, Kept* kept, Kept* wrong,
        char const* global) {
  extern __shared__ unsigned char memory[];
  Scratch& scratch =
      *reinterpret_cast<Scratch*>(memory + (4096 - __cvta_generic_to_shared(memory) % 4096) % 4096);
  for (unsigned i = threadIdx.x; i < sizeof scratch.page / 4; i += batch)
    reinterpret_cast<std::uint32_t*>(scratch.page)[i] = 0;
  __syncthreads();
  for (std::uint64_t b = (blockIdx.x + numbers.first_block) % gridDim.x; b < numbers.batches;
       b += gridDim.x) {
    Prepared const& p = prepared[b * batch + threadIdx.x];
    scratch.pattern[threadIdx.x] = p.pattern;
    __syncthreads();
    for (unsigned i = 0; i < batch; ++i)
      measure<Op, Bytes, Matrices, Transposed>(scratch, i, numbers, global);
    __syncthreads();
    if (p.wanted) conclude(scratch, numbers, p.number, p.predicted, findings, kept, wrong);
    __syncthreads();
  }
}

using Kernel = void (*)(Numbers, Prepared const*, Findings*, Kept*, Kept*, char const*);

/// An instruction, its kernel, and the exhaustive set of lane maps that is run on it (none: size 1).
struct Subject {
  char const* name;
  Instruction instruction;
  Kernel kernel;
  LaneMaps maps;
};

template <std::size_t... Known>
std::vector<Subject> subjects(std::index_sequence<Known...>) {
  auto const subject = [](auto known) -> Subject {
    constexpr InstructionName n = instruction_names[decltype(known)::value];
    constexpr Instruction i = n.instruction;
    return {n.text.data(), i, run<i.operation, i.bytes, i.matrices, i.transposed>, lane_maps_of(i)};
  };
  return {subject(std::integral_constant<std::size_t, Known>{})...};
}

/// One device's share of the campaign.
class Bench {
 public:
  Bench(Device const& device, Settings const& settings, Part part)
      : blocks_(static_cast<unsigned>(device.processors)), seed_(settings.seed), part_(part) {
    for (Subject const& s : subjects_) allow_shared(s.kernel, shared_bytes);
    overhead_.resize(subjects_.size());
    for (std::size_t s = 0; s < subjects_.size(); ++s) overhead_[s] = measure_overhead(s);
  }

  /// All drawn kinds on all instructions, once; the first time with a sample kept.
  void draw_round(std::uint64_t round) {
    constexpr unsigned batches_a_block = 4;
    for (std::size_t s = 0; s < subjects_.size(); ++s)
      for (unsigned kind = 0; kind < drawn_kinds; ++kind) {
        std::uint64_t const batches = std::uint64_t{batches_a_block} * blocks_;
        Numbers numbers{};
        numbers.seed = seed_;
        numbers.first_batch = (round * part_.count + part_.index) * batches;
        numbers.batches = batches;
        numbers.batch_step = 1;
        numbers.end = ~std::uint64_t{0};
        numbers.kind = static_cast<Kind>(kind);
        numbers.keep_every = round == 0 ? batches * batch / kept_patterns : ~std::uint64_t{0};
        launch(s, numbers);
      }
    collect(round == 0);
  }

  /// This part's batches of the exhaustive sets.
  void all_lane_maps() {
    record.counts["units"] = record.counts["units_of_all_parts"] = 0;  // batches of these sets
    for (std::size_t s = 0; s < subjects_.size(); ++s) {
      std::uint64_t const size = subjects_[s].maps.size();
      if (size == 1) continue;
      std::uint64_t const batches = (size + batch - 1) / batch;
      record.counts["units_of_all_parts"] += part_.index == 0 ? batches : 0;
      if (part_.index >= batches) continue;
      Numbers numbers{};
      numbers.first_batch = part_.index;
      numbers.batches = (batches - part_.index + part_.count - 1) / part_.count;
      record.counts["units"] += numbers.batches;
      numbers.batch_step = part_.count;
      numbers.end = size;
      numbers.kind = Kind::lane_map;
      numbers.maps = subjects_[s].maps;
      numbers.keep_every = size / kept_patterns;
      launch(s, numbers);
    }
    collect(true);
  }

  Record record{};

 private:
  static constexpr std::uint64_t chunk = 4224;  ///< batches, 32 for each of 132 multiprocessors
  static constexpr std::size_t shared_bytes = sizeof(Scratch) + alignof(Scratch);
  struct Launched {
    std::size_t subject = 0;
    Kind kind = Kind::uniform;
    Buffer<Findings> findings{1};
    Buffer<Kept> kept{most_kept};
    Buffer<Kept> wrong{most_kept};
  };

  void launch(std::size_t s, Numbers numbers) {
    numbers.rounds = numbers.rounds == 0 ? rounds : numbers.rounds;
    numbers.overhead = overhead_[s];
    numbers.operation = subjects_[s].instruction.operation;
    if (launched_ == slots_.size()) slots_.emplace_back();
    Launched& l = slots_[launched_++];
    l.subject = s;
    l.kind = numbers.kind;
    l.findings.clear();
    measure(s, numbers, l.findings.data(), l.kept.data(), l.wrong.data());
  }

  /// Draws, predicts and measures, a chunk of batches at a time.
  void measure(std::size_t s, Numbers numbers, Findings* findings, Kept* kept, Kept* wrong) {
    for (std::uint64_t left = numbers.batches; left != 0; left -= numbers.batches) {
      numbers.batches = std::min<std::uint64_t>(left, chunk);
      prepare_all<<<static_cast<unsigned>(numbers.batches), batch>>>(
          numbers, sm_90_phases, subjects_[s].instruction, prepared_.data());
      subjects_[s].kernel<<<blocks_, batch, shared_bytes>>>(numbers, prepared_.data(), findings, kept, wrong,
                                                            global_.data());
      check(cudaGetLastError(), subjects_[s].name);
      numbers.first_batch += numbers.batches * numbers.batch_step;
    }
  }

  /// Median of 2 * cycles - cycles of twice as many instructions, over the same patterns.
  unsigned measure_overhead(std::size_t s) {
    std::array<std::vector<std::uint32_t>, 2> cycles;
    for (unsigned const twice : {0U, 1U}) {
      Numbers numbers{};
      numbers.seed = seed_;
      numbers.batches = most_kept / batch;
      numbers.batch_step = 1;
      numbers.end = ~std::uint64_t{0};
      numbers.keep_every = 1;
      numbers.rounds = twice == 0 ? rounds : 2 * rounds;
      launch(s, numbers);
      finish(subjects_[s].name);
      cycles[twice].resize(most_kept);
      for (Kept const& k : slots_[0].kept.read()) cycles[twice][k.number % most_kept] = k.cycles;
      launched_ = 0;
    }
    std::vector<int> overheads;
    for (std::size_t i = 0; i < most_kept; ++i)
      overheads.push_back(2 * static_cast<int>(cycles[0][i]) - static_cast<int>(cycles[1][i]));
    std::nth_element(overheads.begin(), overheads.begin() + most_kept / 2, overheads.end());
    return static_cast<unsigned>(std::max(0, overheads[most_kept / 2]));
  }

  void collect(bool with_sample) {
    finish("wavefronts");
    for (std::size_t i = 0; i < launched_; ++i) {
      Launched const& l = slots_[i];
      Subject const& subject = subjects_[l.subject];
      Findings const found = l.findings.read()[0];
      std::string const kind = kind_names[static_cast<std::size_t>(l.kind)];
      record.counts["patterns"] += found.patterns;
      std::vector<Kept> doubtful;
      if (found.wrong != 0) doubtful = l.wrong.read();
      doubtful.resize(std::min<std::size_t>(found.wrong, most_kept));
      std::vector<Kept> const wrong = measure_again(l.subject, doubtful);
      std::uint64_t const mismatches = found.mismatches - doubtful.size() + wrong.size();
      record.counts["mismatches"] += mismatches;
      record.counts["measured_again"] += doubtful.size();
      record.counts[std::string("mismatches_of/") + subject.name] += mismatches;
      record.counts[std::string("patterns_of/") + subject.name] += found.patterns;
      record.counts["patterns_by/" + kind] += found.patterns;
      for (unsigned w = 0; w <= 32; ++w)
        if (found.by_wavefronts[w] != 0)
          record.counts["wavefronts/" + std::to_string(w)] += found.by_wavefronts[w];
      double& farthest = record.longest[std::string("farthest_from_law/") + subject.name];
      farthest = std::max(farthest, static_cast<double>(found.farthest) / instructions);
      if (with_sample) keep(l, l.kept.read(), found.kept, std::string("sample/") + subject.name);
      keep(l, wrong, 64, std::string("mismatches_of/") + subject.name);
    }
    launched_ = 0;
  }

  /// Measures patterns that seemed to contradict the law again, and returns those that still do. What
  /// disturbs a measurement (a refresh, another context) does not come back; a wrong law does.
  std::vector<Kept> measure_again(std::size_t s, std::vector<Kept> wrong) {
    for (unsigned attempt = 1; attempt < attempts && !wrong.empty(); ++attempt) {
      Buffer<Kept> const again(wrong);
      Buffer<Kept> const kept(most_kept), still(most_kept);
      Buffer<Findings> const findings(1);
      Numbers numbers{};
      numbers.again = again.data();
      numbers.first_block = attempt * blocks_ / attempts;
      numbers.batches = (wrong.size() + batch - 1) / batch;
      numbers.batch_step = 1;
      numbers.end = wrong.size();
      numbers.keep_every = ~std::uint64_t{0};
      numbers.rounds = rounds;
      numbers.overhead = overhead_[s];
      numbers.operation = subjects_[s].instruction.operation;
      measure(s, numbers, findings.data(), kept.data(), still.data());
      finish(subjects_[s].name);
      wrong = still.read();
      wrong.resize(findings.read()[0].wrong);
    }
    return wrong;
  }

  /// Rows [kind, number, cycles, overhead, addresses], by number.
  void keep(Launched const& l, std::vector<Kept> all, unsigned count, std::string const& key) {
    all.resize(std::min<std::size_t>(count, all.size()));
    std::sort(all.begin(), all.end(), [](Kept const& a, Kept const& b) { return a.number < b.number; });
    for (Kept const& k : all)
      record.rows[key].push_back("[\"" + std::string(kind_names[static_cast<std::size_t>(l.kind)]) + "\"," +
                                 std::to_string(k.number) + "," + std::to_string(k.cycles) + "," +
                                 std::to_string(overhead_[l.subject]) + ",\"" +
                                 hexadecimal(k.pattern, subjects_[l.subject].instruction) + "\"]");
  }

  std::vector<Subject> subjects_ = subjects(std::make_index_sequence<instruction_names.size()>{});
  unsigned blocks_;
  std::uint64_t seed_;
  Part part_;
  std::vector<unsigned> overhead_;
  std::vector<Launched> slots_;  ///< reused from round to round
  std::size_t launched_ = 0;     ///< of them, in flight
  Buffer<char> global_{64 * warp_lanes};
  Buffer<Prepared> prepared_{chunk * batch};
};

}  // namespace

Record wavefronts(Device const& device, Settings const& settings, Part part) {
  auto const start = std::chrono::steady_clock::now();
  auto const elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Bench bench(device, settings, part);
  bench.record.longest["until/calibrated"] = elapsed();
  std::uint64_t done = 0;
  do bench.draw_round(done++);
  while (elapsed() < settings.seconds);
  bench.record.longest["until/drawn"] = elapsed();
  bench.all_lane_maps();
  bench.record.longest["seconds"] = elapsed();
  bench.record.longest["instructions_per_measurement"] = instructions;
  return std::move(bench.record);
}

}  // namespace swizproof::gpu
