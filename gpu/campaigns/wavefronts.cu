// wavefronts: the cycles of one warp instruction on many patterns, compared with the cost model of bank.hpp.
//
// One block per multiprocessor, eight warps. They draw 256 patterns and predict their wavefronts with
// the core's cost(), a thread a pattern; then all eight warps issue the same pattern together, 16 times
// each, six times over (at 16 pages of 4 KiB, so that nothing is merged), and the clock says how long
// that took:
//
//   cycles = overhead + 768 * wavefronts
//
// The overhead (latency of the last access, barrier) is measured, not assumed: twice as many
// instructions take 768 * wavefronts longer. A pattern with another number of wavefronts than the cost model
// says (H12, hardware/timing.hpp) is measured up to eight times, on other multiprocessors, and then is a
// mismatch that is kept with its addresses.
//
// The same kernels answer what `learn` asks (learn/device.hpp): patterns from the host, and a table that is not the model's.
#include "clock.cuh"
#include "issue.cuh"
#include "learn/gpu.hpp"
#include "record.hpp"

#include <swizproof/hardware/timing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

namespace swizproof::gpu {
namespace {

constexpr unsigned warps = measuring_warps;
constexpr unsigned batch = batch_patterns;     ///< one a thread
constexpr unsigned piece = batch / 4;          ///< of a batch, in shared memory at once
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
  Data data;              ///< zeros
  unsigned first_block;   ///< the block that starts: repetitions go to another multiprocessor
  Kept const* again;      ///< if set: measure these once more; numbers are places in this list
  std::uint32_t* cycles;  ///< if set: what each of them took, by number, and nothing else is concluded
  unsigned quarters;      ///< of a cycle that a wavefront takes: 4
  std::uint32_t span;     ///< addresses lie below, from each page on
};

/// Model that predicts the patterns.
struct Model {
  PhaseTable phases;
  Banks banks;
};

/// A pattern to measure, and its cost by the cost model. Nothing is measured where `wanted` is not.
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
  unsigned int farthest;  ///< largest distance of cycles to the cost model
  unsigned int kept;
  unsigned int wrong;
};

/// Shared memory of a block, behind the pages, which are aligned to 4 KiB.
struct Scratch {
  Pattern pattern[piece];
  std::uint32_t begin[piece][warps];
  std::uint32_t end[piece][warps];
};
constexpr unsigned page_alignment = 4096;

/// Bytes of a block's pages: 16 of `span` bytes, which overlap.
SWIZPROOF_HOST_DEVICE constexpr std::uint32_t pages_bytes(std::uint32_t step, std::uint32_t span) {
  return (pages - 1) * step + span;
}

template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed>
__device__ void measure(Scratch& scratch, std::uint32_t page, unsigned i, Numbers const& numbers,
                        char const* global) {
  constexpr Instruction instruction{Op, Bytes, Matrices, Transposed};
  unsigned const lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
  Pattern const& pattern = scratch.pattern[i];
  std::uint32_t const address = page + pattern.unit[lane] * instruction.bytes;
  bool const first = lane + 1 == static_cast<unsigned>(__ffs(static_cast<int>(pattern.active)));
  std::uint32_t sink[pages][4] = {};
  __syncthreads();
  if ((pattern.active >> lane & 1) != 0) {
    std::uint32_t const begin = clock_now();
#pragma unroll 1
    for (unsigned r = 0; r < numbers.rounds; ++r)
      issue_all<Op, Bytes, Matrices, Transposed>(std::make_integer_sequence<unsigned, pages>{}, address,
                                                 global + lane * Bytes, numbers.data, sink);
    drain<Op>(page, sink);
    std::uint32_t const end = clock_now();
    keep_alive<Op>(page, sink);
    if (first) {
      scratch.begin[i][warp] = begin;
      scratch.end[i][warp] = end;
    }
  }
  __syncwarp();
}

/// Time of a measurement of this pattern, from the first warp's start to the last one's end.
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
  unsigned const place = threadIdx.x % piece;
  int const cycles = cycles_of(scratch, place);
  if (numbers.cycles != nullptr) {
    numbers.cycles[number] = static_cast<std::uint32_t>(cycles);
    return;
  }
  int const issued = static_cast<int>(pages * warps * numbers.rounds);
  int const rest = (cycles - static_cast<int>(numbers.overhead)) * 4 / static_cast<int>(numbers.quarters);
  int const wavefronts = static_cast<int>(predicted);
  bool const mismatch = !may_take(numbers.operation, rest, issued, wavefronts);
  atomicAdd(&findings->patterns, 1ULL);
  atomicAdd(&findings->by_wavefronts[predicted <= 32 ? predicted : 0], 1ULL);
  if (!mismatch && time_tells(numbers.operation, wavefronts))
    atomicMax(&findings->farthest, static_cast<unsigned>(abs(rest - wavefronts * issued)));
  Kept const here{scratch.pattern[place], number, static_cast<std::uint32_t>(cycles), predicted};
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

/// Cost of a pattern by the cost model. One function for all instructions: it is compiled once.
__device__ __noinline__ std::uint32_t predict(Model const& model, Instruction instruction,
                                              Pattern const& pattern) {
  Architecture const arch = phases_alone(&model.phases, model.banks);
  return cost(arch, instruction, access(pattern, instruction)).wavefronts;
}

/// Draws and predicts, a thread a pattern. A kernel of its own: what diverges here must not be diverged
/// when it is measured.
__global__ void __launch_bounds__(batch)
    prepare_all(Numbers const numbers, Model const model, Instruction const instruction, Prepared* prepared) {
  std::uint64_t const place = (numbers.first_batch + blockIdx.x * numbers.batch_step) * batch + threadIdx.x;
  Prepared p{};
  p.number = prepare(numbers, instruction, place, p.pattern);
  p.predicted = predict(model, instruction, p.pattern);
  p.wanted = place < numbers.end;
  prepared[blockIdx.x * batch + threadIdx.x] = p;
}

template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed>
__global__ void __launch_bounds__(batch, 1)
    run(Numbers const numbers, Prepared const* prepared, Findings* findings, Kept* kept, Kept* wrong,
        char const* global) {
  extern __shared__ unsigned char memory[];
  unsigned char* const aligned =
      memory + (page_alignment - __cvta_generic_to_shared(memory) % page_alignment) % page_alignment;
  std::uint32_t const bytes = pages_bytes(page_step, numbers.span);
  Scratch& scratch = *reinterpret_cast<Scratch*>(aligned + bytes);
  auto const page = static_cast<std::uint32_t>(__cvta_generic_to_shared(aligned));
  for (unsigned i = threadIdx.x; i < bytes / 4; i += batch) reinterpret_cast<std::uint32_t*>(aligned)[i] = 0;
  __syncthreads();
  for (std::uint64_t b = (blockIdx.x + numbers.first_block) % gridDim.x; b < numbers.batches;
       b += gridDim.x) {
    Prepared const& p = prepared[b * batch + threadIdx.x];
    std::uint64_t const place = (numbers.first_batch + b * numbers.batch_step) * batch;
    for (unsigned first = 0; first < batch && place + first < numbers.end; first += piece) {
      bool const mine = threadIdx.x / piece == first / piece;
      if (mine) scratch.pattern[threadIdx.x % piece] = p.pattern;
      __syncthreads();
      for (unsigned i = 0; i < piece && place + first + i < numbers.end; ++i)
        measure<Op, Bytes, Matrices, Transposed>(scratch, page, i, numbers, global);
      __syncthreads();
      if (mine && p.wanted) conclude(scratch, numbers, p.number, p.predicted, findings, kept, wrong);
      __syncthreads();
    }
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
  /// `widest`: as much span as the device has room for, up to 32 KiB, else one page.
  Bench(Device const& device, Settings const& settings, Part part, bool widest = false)
      : blocks_(static_cast<unsigned>(device.processors)),
        seed_(settings.seed),
        part_(part),
        step_(page_step_of(device.capability)) {
    std::erase_if(subjects_,
                  [&](Subject const& s) { return !has_instruction(device.capability, s.instruction); });
    while (widest && span_ < most_span && shared_bytes(2 * span_) <= device.shared_bytes) span_ *= 2;
    if (shared_bytes(span_) > device.shared_bytes)
      throw Failure{device.name + " gives a block " + std::to_string(device.shared_bytes) +
                    " bytes of shared memory, the campaign needs " + std::to_string(shared_bytes(span_))};
    for (Subject const& s : subjects_) allow_shared(s.kernel, shared_bytes(span_));
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

  /// Cycles of one instruction each, without the overhead of measuring.
  [[nodiscard]] std::vector<double> cycles(Instruction instruction, std::vector<Probe> const& probes) {
    std::size_t const s = subject_of(instruction);
    std::vector<Kept> asked(probes.size());
    for (std::size_t n = 0; n < probes.size(); ++n) {
      asked[n].number = n;
      asked[n].pattern.active = instruction.matrices != 0 ? ~0U : probes[n].active;
      for (unsigned l = 0; l < warp_lanes; ++l)
        asked[n].pattern.unit[l] = static_cast<std::uint16_t>(probes[n].address[l] / instruction.bytes);
    }
    Buffer<Kept> const again(asked);
    Buffer<std::uint32_t> const taken(asked.size());
    Numbers numbers = of_these(s, again);
    numbers.cycles = taken.data();
    numbers.first_block = turn_++ % blocks_;
    measure(s, numbers, nullptr, nullptr, nullptr);
    finish(subjects_[s].name);
    std::vector<double> out;
    for (std::uint32_t const c : taken.read())
      out.push_back((static_cast<double>(c) - overhead_[s]) / instructions);
    return out;
  }

  [[nodiscard]] std::uint32_t span() const { return span_; }
  [[nodiscard]] bool has(Instruction instruction) const {
    return std::any_of(subjects_.begin(), subjects_.end(),
                       [&](Subject const& s) { return s.instruction == instruction; });
  }
  /// From now on patterns are predicted by this.
  void believe(Model const& model, unsigned quarters) {
    model_ = model;
    quarters_ = quarters;
  }
  /// Patterns that contradict the model in every repetition.
  [[nodiscard]] std::vector<std::pair<Instruction, Pattern>> const& contradictions() const {
    return contradictions_;
  }

  Record record{};

 private:
  static constexpr std::uint64_t chunk = 4224;  ///< batches, 32 for each of 132 multiprocessors
  static constexpr std::uint32_t most_span = 32768;
  [[nodiscard]] std::size_t shared_bytes(std::uint32_t span) const {
    return page_alignment + pages_bytes(step_, span) + sizeof(Scratch);
  }
  [[nodiscard]] std::size_t subject_of(Instruction instruction) const {
    for (std::size_t s = 0; s < subjects_.size(); ++s)
      if (subjects_[s].instruction == instruction) return s;
    throw Failure{"this device has no " + to_string(instruction)};
  }
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
    numbers.quarters = quarters_;
    numbers.span = span_;
    for (std::uint64_t left = numbers.batches; left != 0; left -= numbers.batches) {
      numbers.batches = std::min<std::uint64_t>(left, chunk);
      prepare_all<<<static_cast<unsigned>(numbers.batches), batch>>>(
          numbers, model_, subjects_[s].instruction, prepared_.data());
      subjects_[s].kernel<<<blocks_, batch, shared_bytes(span_)>>>(numbers, prepared_.data(), findings, kept,
                                                                   wrong, global_.data());
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
      for (Kept const& k : wrong)
        if (contradictions_.size() < 64) contradictions_.emplace_back(subject.instruction, k.pattern);
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

  /// The numbers of a launch that measures these patterns once more.
  [[nodiscard]] Numbers of_these(std::size_t s, Buffer<Kept> const& patterns) const {
    Numbers numbers{};
    numbers.again = patterns.data();
    numbers.batches = (patterns.size() + batch - 1) / batch;
    numbers.batch_step = 1;
    numbers.end = patterns.size();
    numbers.keep_every = ~std::uint64_t{0};
    numbers.rounds = rounds;
    numbers.overhead = overhead_[s];
    numbers.operation = subjects_[s].instruction.operation;
    return numbers;
  }

  /// Measures patterns that seemed to contradict the cost model again, and returns those that still do. What
  /// disturbs a measurement (a refresh, another context) does not come back; a wrong law does.
  std::vector<Kept> measure_again(std::size_t s, std::vector<Kept> wrong) {
    for (unsigned attempt = 1; attempt < attempts && !wrong.empty(); ++attempt) {
      Buffer<Kept> const again(wrong);
      Buffer<Kept> const kept(most_kept), still(most_kept);
      Buffer<Findings> const findings(1);
      Numbers numbers = of_these(s, again);
      numbers.first_block = attempt * blocks_ / attempts;
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
  std::uint32_t step_;
  std::uint32_t span_ = page_bytes;
  Model model_{sm_90_phases, usual_banks};
  unsigned quarters_ = 4;
  unsigned turn_ = 0;
  std::vector<std::pair<Instruction, Pattern>> contradictions_;
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

bool kernels_run() {
  cudaFuncAttributes attributes{};
  bool const runs = cudaFuncGetAttributes(&attributes, prepare_all) == cudaSuccess;
  (void)cudaGetLastError();
  return runs;
}

DeviceUnderTest device_under_test(Device const& device, Settings const& settings) {
  auto const bench = std::make_shared<Bench>(device, settings, Part{}, true);
  DeviceUnderTest out;
  out.name = device.name;
  out.span = bench->span();
  out.has = [bench](Instruction i) { return bench->has(i); };
  out.cycles = [bench](Instruction i, std::vector<Probe> const& probes) { return bench->cycles(i, probes); };
  out.try_random = [bench, settings](Architecture const& table, double unit, std::uint64_t patterns) {
    auto const quarters = static_cast<unsigned>(std::lround(4 * unit));
    if (quarters == 0 || std::abs(4 * unit - quarters) > 0.001)
      throw Failure{"a wavefront takes " + std::to_string(unit) +
                    " cycles, which is no whole number of quarters"};
    bench->believe({*table.phases, table.banks}, quarters);
    auto const start = std::chrono::steady_clock::now();
    auto const late = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >=
             settings.seconds;
    };
    for (std::uint64_t round = 0; bench->record.counts["patterns"] < patterns && !(round != 0 && late());
         ++round)
      bench->draw_round(round);
    Trial trial{bench->record.counts["patterns"], bench->record.counts["mismatches"], {}};
    for (auto const& [instruction, pattern] : bench->contradictions()) {
      Probe probe;
      probe.active = pattern.active;
      for (unsigned l = 0; l < warp_lanes; ++l) probe.address[l] = pattern.unit[l] * instruction.bytes;
      trial.examples.emplace_back(instruction, probe);
    }
    return trial;
  };
  return out;
}

}  // namespace swizproof::gpu
