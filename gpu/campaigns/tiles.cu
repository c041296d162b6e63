// tiles: whether the arguments that `swizproof tma` prints write the tile, and store it.
//
// Each byte of the tensor has its own number, in the three bytes of that number in three copies, since the copy engine
// has no elements of 24 bits. All boxes of a tile are loaded on one barrier, which expects the bytes of all. Then all of
// shared memory is read back: each 16 bytes of a line must be whole at one address, and every other byte must be
// untouched. For a store shared memory is numbered instead and the tensor is read back. tiles.hpp has the printed numbers.
#include "campaigns/asynchronous.cuh"
#include "campaigns/tensor_map.hpp"
#include "record.hpp"

#include <swizproof/hardware/tma.hpp>

#include <algorithm>

namespace swizproof::gpu {
namespace {

constexpr std::uint32_t origin = 4096;   ///< of the bases in the window: tiles may reach below it
constexpr std::uint32_t window = 49152;  ///< bytes of shared memory that are looked at
constexpr unsigned number_bytes = 3;
constexpr std::size_t most_boxes = 64;

/// Arguments of the instructions for the boxes of a tile.
struct Boxes {
  unsigned rank = 1, count = 0, bytes = 0;
  bool store = false;
  unsigned pass = 0;  ///< which byte of the numbers is copied
  int destination[most_boxes] = {};
  int at[most_boxes][5] = {};
};

/// That byte of the number of byte i, which is not 0.
__host__ __device__ constexpr unsigned char number_part(std::uint32_t i, unsigned pass) {
  return static_cast<unsigned char>((i + 1) >> (8 * pass));
}

#define SWIZPROOF_LOAD(rank, coordinates)                                                       \
  asm volatile("cp.async.bulk.tensor." rank                                                     \
               "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates \
               "}], [%2];" ::"r"(to),                                                           \
               "l"(map), "r"(bar), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])        \
               : "memory")
#define SWIZPROOF_STORE(rank, coordinates)                                                       \
  asm volatile("cp.async.bulk.tensor." rank "d.global.shared::cta.bulk_group [%1, {" coordinates \
               "}], [%0];" ::"r"(to),                                                            \
               "l"(map), "r"(0), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])           \
               : "memory")

__device__ void load_box(unsigned rank, std::uint32_t to, CUtensorMap const* map, std::uint32_t bar,
                         int const* c) {
  switch (rank) {
    case 1:
      SWIZPROOF_LOAD("1", "%3");
      break;
    case 2:
      SWIZPROOF_LOAD("2", "%3, %4");
      break;
    case 3:
      SWIZPROOF_LOAD("3", "%3, %4, %5");
      break;
    case 4:
      SWIZPROOF_LOAD("4", "%3, %4, %5, %6");
      break;
    default:
      SWIZPROOF_LOAD("5", "%3, %4, %5, %6, %7");
      break;
  }
}

__device__ void store_box(unsigned rank, std::uint32_t to, CUtensorMap const* map, int const* c) {
  switch (rank) {
    case 1:
      SWIZPROOF_STORE("1", "%3");
      break;
    case 2:
      SWIZPROOF_STORE("2", "%3, %4");
      break;
    case 3:
      SWIZPROOF_STORE("3", "%3, %4, %5");
      break;
    case 4:
      SWIZPROOF_STORE("4", "%3, %4, %5, %6");
      break;
    default:
      SWIZPROOF_STORE("5", "%3, %4, %5, %6, %7");
      break;
  }
}

#undef SWIZPROOF_LOAD
#undef SWIZPROOF_STORE

__global__ void copy_tile(CUtensorMap const __grid_constant__ map, Boxes const __grid_constant__ boxes,
                          unsigned char* out, unsigned* gave_up) {
  extern __shared__ unsigned char memory[];
  __shared__ alignas(8) std::uint64_t barrier;
  auto const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  unsigned char* const bytes = memory + (4096 - start % 4096) % 4096;
  auto const base = static_cast<std::uint32_t>(__cvta_generic_to_shared(bytes)) + origin;
  auto const bar = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
  for (unsigned i = threadIdx.x; i < window; i += blockDim.x)
    bytes[i] = boxes.store ? number_part(i, boxes.pass) : 0;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0 && boxes.store) {
    for (unsigned b = 0; b < boxes.count; ++b)
      store_box(boxes.rank, base + boxes.destination[b], &map, boxes.at[b]);
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  } else if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(boxes.bytes) : "memory");
    for (unsigned b = 0; b < boxes.count; ++b)
      load_box(boxes.rank, base + boxes.destination[b], &map, bar, boxes.at[b]);
    *gave_up = !arrived(bar);
  }
  __syncthreads();
  if (!boxes.store)
    for (unsigned i = threadIdx.x; i < window; i += blockDim.x) out[i] = bytes[i];
}

/// The tensor of a tile: its dimensions are the boxes', with two lines of 16 bytes more along the innermost and two elements more
/// along the others; the tile begins after one of them.
struct Tensor {
  std::vector<cuuint64_t> extents, strides;  ///< strides in bytes, of the dimensions from 1 on
  std::vector<unsigned> start;               ///< coordinate of the tile's origin

  explicit Tensor(BoxedTile const& tile) {
    cuuint64_t size = tile.element_bytes;
    for (std::size_t d = 0; d < tile.box.size(); ++d) {
      unsigned const margin = d == 0 ? 16 / tile.element_bytes : 1;
      start.push_back(margin);
      extents.push_back(tile.extents[tile.modes[d]] + 2 * margin);
      size *= extents.back();
      strides.push_back(size);
    }
  }
  [[nodiscard]] std::size_t bytes() const { return strides.back(); }
  /// The first byte of the element at a coordinate of the tile.
  [[nodiscard]] std::size_t place(BoxedTile const& tile, std::vector<unsigned> const& at) const {
    std::size_t place = (start[0] + at[tile.modes[0]]) * std::size_t{tile.element_bytes};
    for (std::size_t d = 1; d < start.size(); ++d) place += (start[d] + at[tile.modes[d]]) * strides[d - 1];
    return place;
  }
};

CUresult encode(Encode function, BoxedTile const& tile, Tensor const& tensor, unsigned char* memory,
                CUtensorMap& map) {
  std::vector<cuuint32_t> const box(tile.box.begin(), tile.box.end()), one(tile.box.size(), 1);
  return function(&map, static_cast<CUtensorMapDataType>(tile.data_type), static_cast<cuuint32_t>(box.size()),
                  memory, tensor.extents.data(), tensor.strides.data(), box.data(), one.data(),
                  CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(tile.mode),
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

Boxes boxes_of(TileCopy const& c, Tensor const& tensor) {
  Boxes boxes;
  boxes.rank = static_cast<unsigned>(c.tile.box.size());
  boxes.count = static_cast<unsigned>(c.tile.boxes.size());
  if (boxes.count > most_boxes) throw Failure{std::string("tiles: too many boxes: ") + c.tile.layout};
  boxes.bytes = c.tile.bytes;
  boxes.store = c.store;
  for (unsigned b = 0; b < boxes.count; ++b) {
    boxes.destination[b] = static_cast<int>(c.base) + c.tile.boxes[b].destination;
    for (unsigned d = 0; d < boxes.rank; ++d)
      boxes.at[b][d] = static_cast<int>(tensor.start[d] + c.tile.boxes[b].at[c.tile.modes[d]]);
  }
  return boxes;
}

/// The numbers that came out, byte by byte: 0 where nothing was written.
std::vector<std::uint32_t> copied_numbers(TileCopy const& c, Tensor const& tensor, CUtensorMap const& map,
                                          Buffer<unsigned char>& memory, Buffer<unsigned char>& shared,
                                          Buffer<unsigned>& gave_up) {
  Boxes boxes = boxes_of(c, tensor);
  std::vector<std::uint32_t> numbers(c.store ? tensor.bytes() : window, 0);
  for (boxes.pass = 0; boxes.pass < number_bytes; ++boxes.pass) {
    std::vector<unsigned char> contents(tensor.bytes(), 0);
    for (std::size_t i = 0; !c.store && i < contents.size(); ++i)
      contents[i] = number_part(static_cast<std::uint32_t>(i), boxes.pass);
    contents.resize(memory.size(), 0);
    memory.write(contents);
    gave_up.write({0});
    copy_tile<<<1, 256, window + 4096>>>(map, boxes, shared.data(), gave_up.data());
    finish("tiles");
    if (gave_up.read()[0] != 0) throw Failure{"tiles: a load did not arrive"};
    std::vector<unsigned char> const bytes = c.store ? memory.read() : shared.read();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] |= std::uint32_t{bytes[i]} << (8 * boxes.pass);
  }
  return numbers;
}

/// Address of each 16 bytes of the boxes' lines, in bytes from the 4 KiB boundary; -1: not in one piece.
struct Found {
  std::vector<int> place;
  std::uint64_t mismatches = 0;
};

Found pieces_found(TileCopy const& c, Tensor const& tensor, std::vector<std::uint32_t> const& numbers) {
  constexpr int nowhere = -1000000;
  std::size_t const size = c.store ? window : tensor.bytes();
  std::vector<int> at(size, nowhere);  // of a load: where each byte of the tensor came; of a store: whence
  std::uint64_t written = 0, strays = 0;
  std::vector<int> whence(c.store ? tensor.bytes() : 0, nowhere);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    ++written;
    if (numbers[i] > size) {
      ++strays;
      continue;
    }
    if (c.store)
      whence[i] = static_cast<int>(numbers[i] - 1 - origin);
    else
      at[numbers[i] - 1] = static_cast<int>(i - origin);
  }
  std::vector<int> const& stands = c.store ? whence : at;
  Found found;
  unsigned const line_bytes = c.tile.box[0] * c.tile.element_bytes;
  std::uint64_t bytes = 0;
  for (TilePiece const& piece : pieces_of(c.tile)) {
    std::size_t const first = tensor.place(c.tile, piece.at);
    int place = stands[first];
    for (int j = 1; j < 16; ++j)
      if (stands[first + j] != place + j) place = -1;
    if (place == nowhere) place = -1;
    found.place.push_back(place);
    auto const destination =
        static_cast<std::uint32_t>(static_cast<int>(origin + c.base) + piece.destination);
    std::uint32_t const expected =
        tma_address(static_cast<TmaMode>(c.tile.mode), destination, piece.line, line_bytes, piece.x);
    found.mismatches += place != static_cast<int>(expected) - static_cast<int>(origin);
    bytes += 16;
  }
  found.mismatches += strays + (written > bytes ? written - bytes : bytes - written);
  return found;
}

/// ["load" | "store", layout, element, base, mode, [box], number of boxes, result, [places]]
std::string row_of(TileCopy const& c, std::string const& result, std::vector<int> const& place) {
  auto const list = [](auto const& values) {
    std::string out = "[";
    for (auto const value : values) out += (out.size() == 1 ? "" : ",") + std::to_string(value);
    return out + "]";
  };
  return std::string("[") + (c.store ? "\"store\"," : "\"load\",") + quoted(c.tile.layout) + "," +
         quoted(c.tile.element) + "," + std::to_string(c.base) + "," + std::to_string(c.tile.mode) + "," +
         list(c.tile.box) + "," + std::to_string(c.tile.boxes.size()) + "," + quoted(result) + "," +
         list(place) + "]";
}

}  // namespace

Record tiles(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  Encode const function = find_encode();
  allow_shared(copy_tile, window + 4096);
  std::vector<TileCopy> const all = tile_copies();
  std::size_t largest = 0;
  for (TileCopy const& c : all) largest = std::max(largest, Tensor(c.tile).bytes());
  Buffer<unsigned char> memory(largest), shared(window);
  Buffer<unsigned> gave_up(1);
  Record record;
  for (char const* key : {"mismatches", "copied", "refused", "bytes", "units"}) record.counts[key] = 0;
  record.counts["units_of_all_parts"] = part.index == 0 ? all.size() : 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!part.has(i)) continue;
    TileCopy const& c = all[i];
    ++record.counts["units"];
    Tensor const tensor(c.tile);
    alignas(64) CUtensorMap map{};
    CUresult const status = encode(function, c.tile, tensor, memory.data(), map);
    if (status != CUDA_SUCCESS) {  // each of them is one that must be taken
      ++record.counts["refused"];
      ++record.counts["mismatches"];
      record.rows["copies"].push_back(
          row_of(c, "refused: CUresult " + std::to_string(static_cast<int>(status)), {}));
      continue;
    }
    Found const found = pieces_found(c, tensor, copied_numbers(c, tensor, map, memory, shared, gave_up));
    ++record.counts["copied"];
    record.counts["bytes"] += c.tile.bytes;
    record.counts["mismatches"] += found.mismatches;
    record.rows["copies"].push_back(row_of(c, "copied", found.place));
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
