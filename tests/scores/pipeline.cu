// A kernel over cutlass::PipelineTmaAsync for pairs.py: warp 0 copies rows of 128 numbers into two stages, warps 1 to 4 add them.
#include <cute/tensor.hpp>
#include <cutlass/pipeline/pipeline.hpp>

__global__ void rows(float* to, float const* from, unsigned count) {
  using Pipeline = cutlass::PipelineTmaAsync<2>;
  __shared__ alignas(128) float stage[2][128];
  __shared__ alignas(8) char bytes[sizeof(typename Pipeline::SharedStorage)];
  auto& storage = *reinterpret_cast<typename Pipeline::SharedStorage*>(bytes);
  typename Pipeline::Params params;
  params.transaction_bytes = sizeof(stage[0]);
  params.role = threadIdx.x < 32 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = threadIdx.x == 0;
  params.num_consumers = 128;
  Pipeline pipeline(storage, params, cute::Shape<cute::_1, cute::_1, cute::_1>{});
  __syncthreads();
  if (threadIdx.x == 0) {
    auto state = cutlass::make_producer_start_state<Pipeline>();
    for (unsigned i = 0; i < count; ++i, ++state) {
      pipeline.producer_acquire(state);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              cute::cast_smem_ptr_to_uint(stage[state.index()])),
          "l"(from + 128 * i), "r"(unsigned(sizeof(stage[0]))),
          "r"(cute::cast_smem_ptr_to_uint(pipeline.producer_get_barrier(state)))
          : "memory");
    }
  }
  if (threadIdx.x >= 32) {
    cutlass::PipelineState<2> state;
    float sum = 0;
    for (unsigned i = 0; i < count; ++i, ++state) {
      pipeline.consumer_wait(state);
      sum += stage[state.index()][threadIdx.x - 32];
      cutlass::arch::fence_view_async_shared();
      pipeline.consumer_release(state);
    }
    to[threadIdx.x - 32] = sum;
  }
}
