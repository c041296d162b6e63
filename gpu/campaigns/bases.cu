// bases: where arrays of shared memory lie (H18), and who reads a tile right that TMA writes at any multiple of 128 bytes.
//
// A kernel of PTX stores the addresses of the arrays that it names, in each block of a cluster; the driver compiles it, and ptxas of
// the toolkit. A tile holds the number of each element as the bits of an f16, and is multiplied with an identity matrix, or read by
// ldmatrix; each reader's wrong elements are counted.
#include "campaign/bases.hpp"
#include "campaigns/asynchronous.cuh"
#include "campaigns/products.cuh"
#include "campaigns/tensor_map.hpp"
#include "record.hpp"

#include <swizproof/hardware/fragment.hpp>

#include <cuda_fp16.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace swizproof::gpu {
namespace {

void check_driver(CUresult status, char const* what) {
  if (status != CUDA_SUCCESS)
    throw Failure{std::string("bases: ") + what + ": error " + std::to_string(status)};
}

/// Machine code that ptxas of the toolkit makes of a module. Throws Failure without it.
std::string compiled(std::string const& ptx, std::string const& folder) {
  std::string const source = folder + "/k.ptx", code = folder + "/k.cubin";
  std::ofstream(source) << ptx;
  if (std::system(("ptxas -arch=sm_90 " + source + " -o " + code).c_str()) != 0)
    throw Failure{"bases: ptxas fails"};
  std::ifstream file(code, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Words that kernel `k` of a module, PTX or machine code, stores in each block of one cluster.
std::vector<std::uint32_t> stored(std::string const& module, ArrayKernel const& kernel) {
  static auto const load = find_in_driver<CUresult (*)(CUmodule*, void const*)>("cuModuleLoadData");
  static auto const unload = find_in_driver<CUresult (*)(CUmodule)>("cuModuleUnload");
  static auto const find =
      find_in_driver<CUresult (*)(CUfunction*, CUmodule, char const*)>("cuModuleGetFunction");
  static auto const set =
      find_in_driver<CUresult (*)(CUfunction, CUfunction_attribute, int)>("cuFuncSetAttribute");
  static auto const launch =
      find_in_driver<CUresult (*)(CUlaunchConfig const*, CUfunction, void**, void**)>("cuLaunchKernelEx");
  Buffer<std::uint32_t> out(kernel.cluster * most_named_arrays);
  CUmodule loaded{};
  CUfunction function{};
  check_driver(load(&loaded, module.c_str()), "cuModuleLoadData");
  check_driver(find(&function, loaded, "k"), "cuModuleGetFunction");
  check_driver(
      set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(kernel.dynamic_bytes)),
      "cuFuncSetAttribute");
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {kernel.cluster, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = kernel.cluster;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = kernel.dynamic_bytes;
  config.attrs = &cluster;
  config.numAttrs = kernel.cluster > 1 ? 1 : 0;
  std::uint32_t* data = out.data();
  void* parameters[] = {&data};
  check_driver(launch(&config, function, parameters, nullptr), "cuLaunchKernelEx");
  finish("bases");
  std::vector<std::uint32_t> words = out.read();
  check_driver(unload(loaded), "cuModuleUnload");
  return words;
}

/// Rows [unit, compiler (0 the driver's, 1 ptxas), block, [addresses]].
void place_arrays(Record& record, std::size_t unit, ArrayKernel const& kernel, std::string const& folder) {
  std::vector<std::uint32_t> const predicted = kernel.addresses();
  std::string const ptx = kernel.ptx();
  for (int const compiler : {0, 1}) {
    std::vector<std::uint32_t> const words = stored(compiler == 0 ? ptx : compiled(ptx, folder), kernel);
    for (unsigned block = 0; block < kernel.cluster; ++block) {
      std::string row =
          "[" + std::to_string(unit) + "," + std::to_string(compiler) + "," + std::to_string(block) + ",[";
      for (std::size_t i = 0; i < predicted.size(); ++i) {
        std::uint32_t const address = words[block * most_named_arrays + i];
        record.counts["mismatches"] += address != predicted[i] + block * cluster_stride;
        row += (i == 0 ? "" : ",") + std::to_string(address);
      }
      record.counts["addresses"] += predicted.size();
      record.rows["arrays"].push_back(row + "]]");
    }
  }
}

/// Bits of an element: those of an f16 that is neither subnormal nor infinite.
__device__ constexpr std::uint32_t number_of(std::uint32_t mn, std::uint32_t k) {
  return 0x400 + mn * BasedTile::depth + k;
}

__global__ void fill(BasedTile tile, std::uint16_t* tensor) {
  for (unsigned i = threadIdx.x; i < tile.rows * tile.depth; i += blockDim.x) {
    unsigned const mn = i / tile.depth, k = i % tile.depth;
    tensor[tile.major == Major::k ? i : k * tile.rows + mn] = static_cast<std::uint16_t>(number_of(mn, k));
  }
}

/// Elements that ldmatrix takes for others: lanes give the lines one below the other, 16 bytes of each.
__device__ unsigned wrong_of_ldmatrix(BasedTile tile, TileReader reader, std::uint32_t base) {
  unsigned wrong = 0;
  for (unsigned first = threadIdx.x / 32 * 32; first < tile.bytes / 16; first += blockDim.x) {
    auto const element_at = [&](unsigned piece, unsigned i) {
      unsigned const across = piece % tile.lines(), along = piece / tile.lines() * 8 + i;
      return tile.major == Major::k ? uint2{across, along} : uint2{along, across};
    };
    uint2 const mine = element_at(first + threadIdx.x % 32, 0);
    std::uint32_t r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address_read(tile, reader, base, mine.x, mine.y))
                 : "memory");
    for (unsigned i = 0; i < 8; ++i) {
      MatrixElement const e = matrix_element(threadIdx.x % 32, i % 2, false);
      uint2 const at = element_at(first + i / 2 * 8 + e.row, e.column);
      wrong += (r[i / 2] >> (16 * (i % 2)) & 0xffff) != number_of(at.x, at.y);
    }
  }
  return wrong;
}

template <bool OperandA, int Transposed, std::size_t N>
__device__ unsigned wrong_of_wgmma(BasedTile tile, std::uint32_t base, std::uint32_t base_offset,
                                   std::uint32_t (&a)[4], WgmmaDescriptor identity) {
  constexpr Fragment held = wgmma_shapes[1].fragment(Operand::d, OperandA ? 16 : BasedTile::rows, 32);
  unsigned wrong = 0;
  for (unsigned row = 0; row < tile.rows; row += OperandA ? 64 : tile.rows)
    for (unsigned k = 0; k < tile.depth; k += 16) {
      std::uint64_t const descriptor = tile.descriptor(base, row, k, base_offset).bits();
      float d[N] = {};
      begin_wgmma();
      if constexpr (OperandA)
        multiply_a<Transposed>(d, descriptor, identity.bits());
      else
        multiply_b<Transposed>(d, a, descriptor);
      end_wgmma();
      for (unsigned i = 0; i < N; ++i) {
        MatrixElement const e = element_of(held, threadIdx.x, i);
        unsigned const depth = OperandA ? e.column : e.row, mn = OperandA ? e.row : e.column;
        if (depth < 16) wrong += __half_as_ushort(__float2half(d[i])) != number_of(row + mn, k + depth);
      }
    }
  return wrong;
}

/// `wrong[r]`: elements that reader r gets wrong.
template <int Transposed>
__global__ void __launch_bounds__(128)
    read_tile(CUtensorMap const __grid_constant__ map, BasedTile tile, unsigned* wrong, unsigned* gave_up) {
  extern __shared__ unsigned char memory[];
  __shared__ alignas(8) std::uint64_t barrier;
  auto const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  auto const bar = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
  std::uint32_t const from = (start + 1023) / 1024 * 1024, base = from + tile.base;
  // B = identity, K-major without a swizzle, behind the tile.
  WgmmaDescriptor const identity = canonical_descriptor(from + tile.bytes + 1024, Major::k, WgmmaMode::none);
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    *reinterpret_cast<__half*>(memory + (wgmma_address(identity, Major::k, 2, i / 16, i % 16).bytes -
                                         start)) = __float2half(i / 16 == i % 16 ? 1.0F : 0.0F);
  std::uint32_t a[4] = {};
  constexpr Fragment of_a = wgmma_shapes[1].fragment(Operand::a, BasedTile::rows, 32);
  for (std::uint32_t i = 0; i < of_a.values; ++i) {
    MatrixElement const e = element_of(of_a, threadIdx.x, i);
    if (e.row == e.column) a[i / 2] |= 0x3C00U << (16 * (i % 2));
  }
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(tile.bytes) : "memory");
    for (unsigned box = 0; box * tile.box_bytes() < tile.bytes; ++box)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
          "[%2];" ::"r"(base + box * tile.box_bytes()),
          "l"(&map), "r"(bar), "r"(box * tile.line() / 2), "r"(0)
          : "memory");
  }
  if (!arrived(bar)) *gave_up = 1;
  __syncthreads();
  std::uint32_t const p = base / 128 % 8;
  unsigned const found[tile_readers] = {wrong_of_wgmma<false, Transposed, 64>(tile, base, 0, a, identity),
                                        wrong_of_wgmma<true, Transposed, 8>(tile, base, 0, a, identity),
                                        wrong_of_wgmma<false, Transposed, 64>(tile, base, p, a, identity),
                                        wrong_of_ldmatrix(tile, TileReader::ldmatrix_by_address, base),
                                        wrong_of_ldmatrix(tile, TileReader::ldmatrix_by_offset, base)};
  for (unsigned i = 0; i < tile_readers; ++i) atomicAdd(wrong + i, found[i]);
}

/// Rows [mode, "k" | "mn", base, wrong elements of each reader].
void read_tile(Record& record, BasedTile tile) {
  Buffer<std::uint16_t> tensor(tile.rows * tile.depth);
  fill<<<1, 128>>>(tile, tensor.data());
  CUtensorMap map{};
  cuuint64_t const extent[] = {tile.major == Major::k ? tile.depth : tile.rows, tile.lines()},
                   pitch[] = {2 * extent[0]};
  cuuint32_t const box[] = {tile.line() / 2, tile.lines()}, one[] = {1, 1};
  check_driver(find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, tensor.data(), extent, pitch, box, one,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(tile.mode),
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
               "cuTensorMapEncodeTiled");
  Buffer<unsigned> wrong(tile_readers), gave_up(1);
  auto* const kernel = tile.major == Major::k ? read_tile<0> : read_tile<1>;
  kernel<<<1, 128, tile.bytes + 3072>>>(map, tile, wrong.data(), gave_up.data());
  finish("bases");
  if (gave_up.read()[0] != 0) throw Failure{"bases: a copy does not arrive"};
  std::string row = "[" + std::to_string(static_cast<int>(tile.mode)) +
                    (tile.major == Major::k ? ",\"k\"," : ",\"mn\",") + std::to_string(tile.base);
  std::vector<unsigned> const found = wrong.read();
  for (unsigned i = 0; i < tile_readers; ++i) {
    record.counts["mismatches"] += found[i] != wrong_elements(tile, static_cast<TileReader>(i));
    row += "," + std::to_string(found[i]);
  }
  record.rows["tiles"].push_back(row + "]");
}

}  // namespace

Record bases(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<ArrayKernel> const kernels = array_kernels();
  std::vector<BasedTile> const tiles = based_tiles();
  std::string const folder =
      std::filesystem::temp_directory_path() /
      ("swizproof-bases-" + std::to_string(getpid()) + "-" + std::to_string(part.index));
  std::filesystem::create_directory(folder);
  Record record;
  record.counts["mismatches"] = record.counts["addresses"] = record.counts["units"] = 0;
  std::size_t const units = kernels.size() + tiles.size();
  record.counts["units_of_all_parts"] = part.index == 0 ? units : 0;
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (!part.has(unit)) continue;
    ++record.counts["units"];
    if (unit < kernels.size())
      place_arrays(record, unit, kernels[unit], folder);
    else
      read_tile(record, tiles[unit - kernels.size()]);
  }
  std::filesystem::remove_all(folder);
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
