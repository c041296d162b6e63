// Program of the trace transpose.jsonl.
constexpr int side = 1024, rows = 8;

template <int tile>
__global__ void transpose(float* to, float const* from) {
  __shared__ float staged[tile][tile];
  int const x = threadIdx.x, y = threadIdx.y;
  int const column = blockIdx.x * tile, row = blockIdx.y * tile;
  // A warp stores a row, and loads a column.
  for (int i = y; i < tile; i += rows) staged[i][x] = from[(row + i) * side + column + x];
  __syncthreads();
  for (int i = y; i < tile; i += rows) to[(column + i) * side + row + x] = staged[x][i];
}

template <int tile>
__global__ void transpose_padded(float* to, float const* from) {
  __shared__ float staged[tile][tile + 1];
  int const x = threadIdx.x, y = threadIdx.y;
  int const column = blockIdx.x * tile, row = blockIdx.y * tile;
  // A warp stores a row, and loads a column.
  for (int i = y; i < tile; i += rows) staged[i][x] = from[(row + i) * side + column + x];
  __syncthreads();
  for (int i = y; i < tile; i += rows) to[(column + i) * side + row + x] = staged[x][i];
}
