// Steps of a block's threads before and after the units that work with them: wgmma and the copy engine.
#pragma once

#include <cstdint>

namespace swizproof::gpu {

/// Before a wgmma: what the block has stored to shared memory is seen by the tensor cores, and the registers are ready.
__device__ inline void begin_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// After the last: the results are in the registers.
__device__ inline void end_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// Waits until the barrier's first phase is over: all bytes that it expects have come. Gives up after a million tries: false.
__device__ inline bool arrived(std::uint32_t barrier) {
  std::uint32_t done = 0;
  for (unsigned attempt = 0; attempt < 1000000 && done == 0; ++attempt)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier)
                 : "memory");
  return done != 0;
}

}  // namespace swizproof::gpu
