// The functions that the sanitizer calls before each shared-memory instruction of a traced kernel. They run in the lanes that
// the instruction runs in, and compute its cost by the template that is proved (bank.hpp).
#include "trace/table.hpp"

#include <swizproof/hardware/bank.hpp>

#include <sanitizer_patching.h>

namespace swizproof::trace {
namespace {

__device__ std::uint32_t lane_id() {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

__device__ std::uint32_t lowest(std::uint32_t mask) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(mask))) - 1;
}

template <class T>
__device__ T fresh(T const& value) {
  return *const_cast<T const volatile*>(&value);
}

/// Entry of an instruction, added if it is new; null if the table is full. Called by one lane.
__device__ Counted* place_of(Table& table, std::uint64_t pc, Code code) {
  std::uint32_t const hash = mixed(static_cast<std::uint32_t>(pc >> 4));
  for (std::uint32_t probe = 0; probe < most_probes; ++probe) {
    Counted& counted = table.counted[(hash + probe) % instruction_places];
    unsigned long long known = fresh(counted.pc);
    if (known == 0) {
      known = atomicCAS(&counted.pc, 0ULL, static_cast<unsigned long long>(pc));
      if (known == 0) {
        counted.code = code;
        return &counted;
      }
    }
    if (known == pc) return &counted;
  }
  return nullptr;
}

/// By one lane: the cost model, with the phases of the table, since constants of the host cannot be read here.
__device__ std::uint32_t cost_of(Table const& table, Code code, WarpAccess<std::uint32_t> const& access) {
  if (code.kind > Kind::cp_async) return 0;
  Architecture const arch = phases_alone(&table.phases, usual_banks);
  Instruction const instruction{static_cast<Operation>(code.kind), code.bytes, code.matrices};
  return cost(arch, instruction, access).wavefronts;
}

__device__ void count_unkept(Table& table, std::uint64_t pc, Code code,
                             WarpAccess<std::uint32_t> const& access) {
  Counted* const counted = place_of(table, pc, code);
  if (counted == nullptr) {
    atomicAdd(&table.dropped, 1ULL);
    return;
  }
  std::uint32_t const wavefronts = cost_of(table, code, access);
  atomicAdd(&counted->executed, 1ULL);
  atomicAdd(&counted->distribution[wavefronts <= most_wavefronts ? wavefronts : most_wavefronts], 1ULL);
  if (wavefronts <= fresh(counted->worst)) return;
  while (atomicCAS(&counted->worst_lock, 0U, 1U) != 0) {
  }
  __threadfence();
  if (wavefronts > fresh(counted->worst)) {
    std::uint32_t active = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      active |= std::uint32_t{access.active[lane]} << lane;
      counted->worst_address[lane] = access.address[lane];
    }
    counted->worst_active = active;
    counted->worst = wavefronts;
  }
  __threadfence();
  atomicExch(&counted->worst_lock, 0U);
}

/// All lanes of `mask` and their addresses, in every lane.
__device__ WarpAccess<std::uint32_t> gathered(std::uint32_t mask, std::uint32_t address) {
  WarpAccess<std::uint32_t> access{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t const its = __shfl_sync(mask, address, static_cast<int>(lane));
    access.active[lane] = (mask >> lane & 1) != 0;
    access.address[lane] = access.active[lane] ? its : 0;
  }
  return access;
}

/// True if a slot holds this key. Lines that the L1 cache has kept may be older than the place; they are read again then.
template <class Read>
__device__ bool holds(Pattern const& place, std::uint64_t pc, std::uint32_t mask, std::uint32_t lane,
                      std::uint32_t address, Read const& read) {
  bool const mine = read(place.state) == ready && read(place.pc) == pc && read(place.active) == mask &&
                    read(place.address[lane]) == address;
  return __all_sync(mask, mine) != 0;
}

/// Active lanes that take part.
__device__ void record(void* userdata, std::uint64_t pc, Code code, std::uint32_t address,
                       bool takes_part = true) {
  if (userdata == nullptr) return;
  address &=
      0xffffffU;  // in a cluster, the bits above are the block's rank (cuBLAS on an H200: 0x1038c80 and 0x38c80)
  Table& table = *static_cast<Table*>(userdata);
  std::uint32_t const lane = lane_id();
  // H6: the hardware does not look at the other lanes of an ldmatrix.
  std::uint32_t const mask =
      __ballot_sync(__activemask(), takes_part && (code.matrices == 0 || lane < 8U * code.matrices));
  if ((mask >> lane & 1) == 0) return;
  std::uint32_t const leader = lowest(mask);
  bool const leads = lane == leader;
  // A tools patch may not reduce over the warp: four lanes speak for it, and every lane is compared.
  std::uint32_t hash = mask ^ static_cast<std::uint32_t>(pc >> 4) * 0x85ebca6bU;
  std::uint32_t const rest = mask & (mask - 1);
  for (std::uint32_t const speaker : {leader, rest == 0 ? leader : lowest(rest),
                                      31U - static_cast<std::uint32_t>(__clz(static_cast<int>(mask))),
                                      (mask >> 16) == 0 ? leader : 16U + lowest(mask >> 16)})
    hash = mixed(hash ^ __shfl_sync(mask, address, static_cast<int>(speaker)));
  for (std::uint32_t probe = 0; probe < most_probes; ++probe) {
    Pattern& place = table.patterns[(hash + probe) % pattern_places];
    if (holds(place, pc, mask, lane, address, [](auto const& value) { return value; }) ||
        holds(place, pc, mask, lane, address, [](auto const& value) { return fresh(value); })) {
      if (leads) atomicAdd(&place.executed, 1ULL);
      return;
    }
    std::uint32_t state = __shfl_sync(mask, fresh(place.state), static_cast<int>(leader));
    if (state == empty) {
      bool kept = false;
      if (leads) {
        Counted* const counted = place_of(table, pc, code);
        kept = counted != nullptr && fresh(counted->patterns) <
                                         (code.kind > Kind::cp_async ? most_lawless_patterns : most_patterns);
        if (kept) {
          state =
              atomicCAS(&place.state, static_cast<std::uint32_t>(empty), static_cast<std::uint32_t>(busy));
          if (state == empty) atomicAdd(&counted->patterns, 1U);
        }
      }
      state = __shfl_sync(mask, state, static_cast<int>(leader));
      kept = __shfl_sync(mask, static_cast<int>(kept), static_cast<int>(leader)) != 0;
      if (!kept) break;
      if (state == empty) {  // and is this warp's now
        place.address[lane] = address;
        WarpAccess<std::uint32_t> const access = gathered(mask, address);
        if (leads) {
          place.pc = pc;
          place.active = mask;
          place.wavefronts = cost_of(table, code, access);
          atomicAdd(&place.executed, 1ULL);
        }
        __threadfence();
        __syncwarp(mask);
        if (leads) atomicExch(&place.state, static_cast<std::uint32_t>(ready));
        return;
      }
    }
    if (state == busy) {
      // Others write it, and do not wait for these lanes. Whoever waits no longer keeps the pattern once more, which is added up.
      for (int turn = 0;
           turn < 4096 && __shfl_sync(mask, fresh(place.state), static_cast<int>(leader)) == busy; ++turn) {
      }
      __threadfence();
      if (holds(place, pc, mask, lane, address, [](auto const& value) { return fresh(value); })) {
        if (leads) atomicAdd(&place.executed, 1ULL);
        return;
      }
    }
  }
  WarpAccess<std::uint32_t> const access = gathered(mask, address);
  if (leads) count_unkept(table, pc, code, access);
}

/// Counts an instruction without patterns: once a warp.
__device__ SanitizerPatchResult count(void* userdata, std::uint64_t pc, Kind kind, std::uint32_t bytes = 0) {
  if (userdata == nullptr) return SANITIZER_PATCH_SUCCESS;
  std::uint32_t const mask = __activemask();
  if (lane_id() != lowest(mask)) return SANITIZER_PATCH_SUCCESS;
  Table& table = *static_cast<Table*>(userdata);
  Counted* const counted = place_of(table, pc, Code{kind, static_cast<std::uint8_t>(bytes), 0, 0});
  atomicAdd(counted != nullptr ? &counted->executed : &table.dropped, 1ULL);
  return SANITIZER_PATCH_SUCCESS;
}

constexpr std::uint8_t byte_count(std::uint32_t bytes) { return static_cast<std::uint8_t>(bytes); }

/// Not inlined: most generic instructions turn out to be global ones, whose overhead has to be small.
__device__ __noinline__ void record_generic(void* userdata, std::uint64_t pc, Code code,
                                            std::uint32_t address, bool takes_part) {
  record(userdata, pc, code, address, takes_part);
}

/// True if a pointer leads to shared memory of any block of the cluster.
__device__ bool in_cluster([[maybe_unused]] void const* ptr) {
#if __CUDA_ARCH__ >= 900
  return __isClusterShared(ptr) != 0;
#else
  return false;
#endif
}

/// Effect of a load, store or atomic: 1 and 2 of the flags are reading and writing. For an LDS.128 whose last word is not used the
/// sanitizer gives 12 bytes; the instruction loads 16. [Seen in seven instructions of cuBLAS, Inductor and torch.linalg, CUDA 13.0, H100]
__device__ Code code_of(std::uint32_t flags, std::uint32_t bytes) {
  Kind const kind = (flags & 3) == 3 ? Kind::atomic : (flags & 2) != 0 ? Kind::st_shared : Kind::ld_shared;
  return {kind, byte_count(bytes == 12 ? 16 : bytes), 0, 0};
}

}  // namespace
}  // namespace swizproof::trace

using namespace swizproof::trace;

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_shared(void* userdata, std::uint64_t pc,
                                                                         void* ptr, std::uint32_t bytes,
                                                                         std::uint32_t flags, void const*) {
  auto const address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(ptr));
  record(userdata, pc, code_of(flags, bytes), address);
  return SANITIZER_PATCH_SUCCESS;
}

/// A pointer that the compiler could not tell the space of may point to shared memory, the block's own or another's.
extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_generic(void* userdata, std::uint64_t pc,
                                                                          void* ptr, std::uint32_t bytes,
                                                                          std::uint32_t flags, void const*) {
  if (userdata == nullptr) return SANITIZER_PATCH_SUCCESS;
  std::uint32_t const active = __activemask();
  bool const own = __isShared(ptr) != 0;
  if (__any_sync(active, own) != 0)
    record_generic(userdata, pc, code_of(flags, bytes),
                   own ? static_cast<std::uint32_t>(__cvta_generic_to_shared(ptr)) : 0, own);
  else if (__any_sync(active, in_cluster(ptr)) != 0)
    count(userdata, pc, Kind::remote, bytes);
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_matrix(void* userdata, std::uint64_t pc,
                                                                         std::uint32_t address, std::uint32_t,
                                                                         std::uint32_t flags,
                                                                         std::uint32_t count, void const*) {
  Kind const kind = (flags & 2) != 0 ? Kind::stmatrix : Kind::ldmatrix;
  record(userdata, pc, Code{kind, 16, byte_count(count), 0}, address);
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_async(void* userdata, std::uint64_t pc,
                                                                        void*, std::uint32_t destination,
                                                                        std::uint32_t bytes) {
  record(userdata, pc, Code{Kind::cp_async, byte_count(bytes), 0, 0}, destination);
  return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_wgmma(void* userdata, std::uint64_t pc,
                                                                        std::uint32_t, std::uint32_t,
                                                                        std::uint32_t, std::uint32_t,
                                                                        std::uint32_t,
                                                                        std::uint32_t threads) {
  return threads == 0 ? SANITIZER_PATCH_SUCCESS : count(userdata, pc, Kind::wgmma);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_bulk_to_shared(void* userdata,
                                                                                 std::uint64_t pc,
                                                                                 std::uint64_t, std::uint32_t,
                                                                                 std::uint32_t, std::uint32_t,
                                                                                 std::uint32_t) {
  return count(userdata, pc, Kind::bulk_to_shared);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_bulk_to_global(void* userdata,
                                                                                 std::uint64_t pc,
                                                                                 std::uint64_t, std::uint32_t,
                                                                                 std::uint32_t) {
  return count(userdata, pc, Kind::bulk_to_global);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_bulk_between(void* userdata,
                                                                               std::uint64_t pc,
                                                                               std::uint32_t, std::uint32_t,
                                                                               std::uint32_t, std::uint32_t) {
  return count(userdata, pc, Kind::bulk_between_shared);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_bulk_reduction(void* userdata,
                                                                                 std::uint64_t pc,
                                                                                 std::uint64_t, std::uint32_t,
                                                                                 std::uint32_t) {
  return count(userdata, pc, Kind::bulk_reduction);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_reduction_between(
    void* userdata, std::uint64_t pc, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
  return count(userdata, pc, Kind::bulk_reduction);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_memset(void* userdata, std::uint64_t pc,
                                                                         std::uint32_t, std::uint32_t) {
  return count(userdata, pc, Kind::bulk_store);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_remote_reduction(
    void* userdata, std::uint64_t pc, std::uint32_t, std::uint32_t, std::uint32_t bytes) {
  return count(userdata, pc, Kind::remote_reduction, bytes);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_remote(void* userdata, std::uint64_t pc,
                                                                         void*, std::uint32_t bytes,
                                                                         std::uint32_t, void const*) {
  return count(userdata, pc, Kind::remote, bytes);
}

extern "C" __device__ __noinline__ SanitizerPatchResult swizproof_remote_async(void* userdata,
                                                                               std::uint64_t pc,
                                                                               std::uint32_t, std::uint32_t,
                                                                               void*, std::uint32_t bytes) {
  return count(userdata, pc, Kind::remote_async, bytes);
}
