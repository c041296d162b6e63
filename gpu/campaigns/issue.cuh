// One warp instruction, issued at 16 places: what the campaigns `wavefronts` and `counters` measure.
#pragma once

#include "campaign/pattern.hpp"

#include <utility>

namespace swizproof::gpu {

/// Bytes from one page to the next: 4 KiB, and 2 KiB where a block has 64 KiB of shared memory. Pages overlap where patterns are longer.
[[nodiscard]] constexpr std::uint32_t page_step_of(unsigned capability) {
  return capability < 80 ? page_bytes / 2 : page_bytes;
}
#if defined(__CUDA_ARCH__)
inline constexpr std::uint32_t page_step = page_step_of(__CUDA_ARCH__ / 10);
#else
inline constexpr std::uint32_t page_step = page_bytes;
#endif

/// True if a device of this capability (90 for 9.0) has the instruction.
[[nodiscard]] constexpr bool has_instruction(unsigned capability, Instruction i) {
  PhaseTable const table = as_of(capability, sm_90_phases);
  return table[static_cast<std::size_t>(i.operation)][0].lanes != 0;
}

/// True if the code that is being compiled may have it.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool compiled([[maybe_unused]] Operation operation) {
#if defined(__CUDA_ARCH__)
  return as_of(__CUDA_ARCH__ / 10, sm_90_phases)[static_cast<std::size_t>(operation)][0].lanes != 0;
#else
  return true;
#endif
}

/// Data of stores: zeros that are unknown to the compiler. The zero register would not do: an access
/// that reads no register does not pay for phases without active lanes.
struct Data {
  std::uint32_t word[4];
  __device__ std::uint32_t operator[](unsigned i) const { return word[i]; }
};

/// Issues the instruction once, `Page` pages behind `address`. `sink` takes what loads return.
template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed, unsigned Page>
__device__ __forceinline__ void issue(std::uint32_t address, void const* global, Data const& data,
                                      std::uint32_t (&sink)[4]) {
#define AT "n"(Page * page_step)
  if constexpr (!compiled(Op)) return;
  if constexpr (Op == Operation::ld_shared) {
    if constexpr (Bytes == 1)
      asm volatile("ld.volatile.shared.u8 %0, [%1+%2];" : "=r"(sink[0]) : "r"(address), AT);
    if constexpr (Bytes == 2)
      asm volatile("ld.volatile.shared.u16 %0, [%1+%2];" : "=r"(sink[0]) : "r"(address), AT);
    if constexpr (Bytes == 4)
      asm volatile("ld.volatile.shared.u32 %0, [%1+%2];" : "=r"(sink[0]) : "r"(address), AT);
    if constexpr (Bytes == 8)
      asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2+%3];"
                   : "=r"(sink[0]), "=r"(sink[1])
                   : "r"(address), AT);
    if constexpr (Bytes == 16)
      asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4+%5];"
                   : "=r"(sink[0]), "=r"(sink[1]), "=r"(sink[2]), "=r"(sink[3])
                   : "r"(address), AT);
  }
  if constexpr (Op == Operation::st_shared) {
    if constexpr (Bytes == 1)
      asm volatile("st.volatile.shared.u8 [%0+%2], %1;" ::"r"(address), "r"(data[0]), AT);
    if constexpr (Bytes == 2)
      asm volatile("st.volatile.shared.u16 [%0+%2], %1;" ::"r"(address), "h"(static_cast<short>(data[0])),
                   AT);
    if constexpr (Bytes == 4)
      asm volatile("st.volatile.shared.u32 [%0+%2], %1;" ::"r"(address), "r"(data[0]), AT);
    if constexpr (Bytes == 8)
      asm volatile("st.volatile.shared.v2.u32 [%0+%3], {%1,%2};" ::"r"(address), "r"(data[0]), "r"(data[1]),
                   AT);
    if constexpr (Bytes == 16)
      asm volatile("st.volatile.shared.v4.u32 [%0+%5], {%1,%2,%3,%4};" ::"r"(address), "r"(data[0]),
                   "r"(data[1]), "r"(data[2]), "r"(data[3]), AT);
  }
  if constexpr (Op == Operation::cp_async && compiled(Op))
    asm volatile("cp.async.ca.shared.global [%0+%2], [%1], %3;" ::"r"(address), "l"(global), AT, "n"(Bytes));
#define LDMATRIX(suffix)                                                                      \
  if constexpr (Matrices == 1)                                                                \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 {%0}, [%1+%2];"          \
                 : "=r"(sink[0])                                                              \
                 : "r"(address), AT);                                                         \
  if constexpr (Matrices == 2)                                                                \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 {%0,%1}, [%2+%3];"       \
                 : "=r"(sink[0]), "=r"(sink[1])                                               \
                 : "r"(address), AT);                                                         \
  if constexpr (Matrices == 4)                                                                \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" suffix ".shared.b16 {%0,%1,%2,%3}, [%4+%5];" \
                 : "=r"(sink[0]), "=r"(sink[1]), "=r"(sink[2]), "=r"(sink[3])                 \
                 : "r"(address), AT);
  if constexpr (Op == Operation::ldmatrix && !Transposed) {
    LDMATRIX("")
  }
  if constexpr (Op == Operation::ldmatrix && Transposed) {
    LDMATRIX(".trans")
  }
#define STMATRIX(suffix)                                                                                \
  if constexpr (Matrices == 1)                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 [%0+%2], {%1};" ::"r"(address),    \
                 "r"(data[0]), AT);                                                                     \
  if constexpr (Matrices == 2)                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 [%0+%3], {%1,%2};" ::"r"(address), \
                 "r"(data[0]), "r"(data[1]), AT);                                                       \
  if constexpr (Matrices == 4)                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" suffix                                                 \
                 ".shared.b16 [%0+%5], {%1,%2,%3,%4};" ::"r"(address),                                  \
                 "r"(data[0]), "r"(data[1]), "r"(data[2]), "r"(data[3]), AT);
  if constexpr (Op == Operation::stmatrix && !Transposed && compiled(Op)) {
    STMATRIX("")
  }
  if constexpr (Op == Operation::stmatrix && Transposed && compiled(Op)) {
    STMATRIX(".trans")
  }
#undef LDMATRIX
#undef STMATRIX
#undef AT
}

/// Waits for all that the warp has issued, through what it returns or, for stores, by a load behind
/// them: the shared-memory pipe serves a warp in order.
template <Operation Op>
__device__ __forceinline__ void drain(std::uint32_t page, std::uint32_t (&sink)[pages][4]) {
  std::uint32_t all = 0;
  if constexpr (!compiled(Op)) return;
  if constexpr (Op == Operation::cp_async && compiled(Op)) {
    asm volatile("cp.async.wait_all;" ::: "memory");
  } else if constexpr (Op == Operation::st_shared || Op == Operation::stmatrix) {
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(all) : "r"(page));
  } else {
    all = sink[pages - 1][0];
  }
  if (all != 0)
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(page), "r"(all));  // it is 0: only waits
}

/// Uses what ldmatrix returned, or the assembler would not issue it.
template <Operation Op>
__device__ __forceinline__ void keep_alive(std::uint32_t page, std::uint32_t (&sink)[pages][4]) {
  if constexpr (Op != Operation::ldmatrix) return;
  std::uint32_t all = 0;
  for (auto const& values : sink)
    for (std::uint32_t const value : values) all |= value;
  if (all != 0) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(page), "r"(all));
}

template <Operation Op, unsigned Bytes, unsigned Matrices, bool Transposed, unsigned... Page>
__device__ __forceinline__ void issue_all(std::integer_sequence<unsigned, Page...>, std::uint32_t address,
                                          void const* global, Data const& data,
                                          std::uint32_t (&sink)[pages][4]) {
  (issue<Op, Bytes, Matrices, Transposed, Page>(address, global, data, sink[Page]), ...);
}

}  // namespace swizproof::gpu
