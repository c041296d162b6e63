// tma: where the copy engine puts every byte of a box, and where it takes it from.
//
// Each 16-bit element of the tensor is its own number. After a load all of shared memory is read back:
// each 16-byte chunk of the box must stand whole at one place, and every other byte must be untouched.
// For a store shared memory is numbered instead and the tensor is read back. The model is tma_address() of H8.
#include "campaigns/asynchronous.cuh"
#include "campaign/boxes.hpp"
#include "campaigns/tensor_map.hpp"
#include "record.hpp"

#include <swizproof/hardware/tma.hpp>

#include <algorithm>

namespace swizproof::gpu {
namespace {

constexpr std::uint32_t window = 32768;  ///< bytes of shared memory that are looked at
constexpr std::uint16_t untouched = 0xffff;
constexpr unsigned tensor_extent[3] = {136, 32, 4};  ///< elements; 272-byte rows
constexpr std::uint32_t tensor_elements = tensor_extent[0] * tensor_extent[1] * tensor_extent[2];

using Case = BoxCopy;

__global__ void copy_box(CUtensorMap const __grid_constant__ map, Case const c, std::uint16_t* out,
                         unsigned* gave_up) {
  extern __shared__ unsigned char memory[];
  __shared__ alignas(8) std::uint64_t barrier;
  std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  auto* const words = reinterpret_cast<std::uint16_t*>(memory + (4096 - start % 4096) % 4096);
  auto const base = static_cast<std::uint32_t>(__cvta_generic_to_shared(words));
  auto const bar = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
  for (unsigned i = threadIdx.x; i < window / 2; i += blockDim.x)
    words[i] = c.store ? static_cast<std::uint16_t>(i) : untouched;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (c.store) {
      asm volatile(
          "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %2, %2}], [%1];" ::"l"(&map),
          "r"(base + c.offset), "r"(0)
          : "memory");
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    } else {
      std::uint32_t const bytes = c.box[0] * c.box[1] * c.box[2] * 2;
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3, "
          "%3}], [%2];" ::"r"(base + c.offset),
          "l"(&map), "r"(bar), "r"(0)
          : "memory");
      *gave_up = !arrived(bar);
    }
  }
  __syncthreads();
  if (!c.store)
    for (unsigned i = threadIdx.x; i < window / 2; i += blockDim.x) out[i] = words[i];
}

/// A map of elements of 16 bits, or of four packed elements of 4 bits in each of them.
CUresult encode(Encode function, Case const& c, std::uint16_t* tensor, CUtensorMap& map,
                bool packed = false) {
  unsigned const each = packed ? 4 : 1;
  cuuint64_t const extent[3] = {each * tensor_extent[0], tensor_extent[1], tensor_extent[2]};
  cuuint64_t const pitch[2] = {2ULL * tensor_extent[0], 2ULL * tensor_extent[0] * extent[1]};
  cuuint32_t const box[3] = {each * c.box[0], c.box[1], c.box[2]}, one[3] = {1, 1, 1};
  auto const type = packed ? static_cast<CUtensorMapDataType>(13) : CU_TENSOR_MAP_DATA_TYPE_UINT16;
  return function(&map, type, 3, reinterpret_cast<char*>(tensor) + c.global_offset, extent, pitch, box, one,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(c.mode),
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Address of each 16-byte chunk of the box, in bytes from the 4 KiB boundary; -1: not in one piece.
struct Found {
  std::vector<int> place;
  std::uint64_t mismatches = 0;
};

/// `at[i]`: the place in shared memory of box element i, -1 if unknown.
Found chunks(Case const& c, std::vector<int> const& at) {
  Found found;
  for (std::size_t i = 0; i < at.size(); i += 8) {
    int place = at[i];
    for (std::size_t j = 1; j < 8; ++j)
      if (at[i + j] != place + 2 * static_cast<int>(j)) place = -1;
    found.place.push_back(place);
    auto const x = static_cast<unsigned>(i % c.box[0]), line = static_cast<unsigned>(i / c.box[0]);
    std::uint32_t const expected =
        tma_address(static_cast<TmaMode>(c.mode), c.offset, line, c.line_bytes(), 2 * x);
    found.mismatches += place != static_cast<int>(expected);
  }
  return found;
}

std::uint32_t tensor_index(Case const& c, std::size_t i) {
  std::size_t const x = i % c.box[0], row = i / c.box[0];
  return static_cast<std::uint32_t>((row / c.box[1] * tensor_extent[1] + row % c.box[1]) * tensor_extent[0] +
                                    x);
}

Found run_case(Case const& c, CUtensorMap const& map, Buffer<std::uint16_t> const& tensor_memory,
               Buffer<std::uint16_t>& shared, Buffer<unsigned>& gave_up) {
  std::size_t const first = c.global_offset / 2;
  copy_box<<<1, 256, window + 4096>>>(map, c, shared.data(), gave_up.data());
  finish("tma");
  if (gave_up.read()[0] != 0) throw Failure{"tma: a load did not arrive"};
  std::size_t const elements = std::size_t{c.box[0]} * c.box[1] * c.box[2];
  std::vector<int> at(elements, -1);
  std::uint64_t strays = 0;
  if (c.store) {
    std::vector<std::uint16_t> const tensor = tensor_memory.read();
    std::vector<bool> inside(tensor.size());
    for (std::size_t i = 0; i < elements; ++i) {
      std::uint16_t const tag = tensor[first + tensor_index(c, i)];
      inside[first + tensor_index(c, i)] = true;
      at[i] = tag == untouched ? -1 : 2 * tag;
    }
    for (std::size_t i = 0; i < tensor.size(); ++i) strays += !inside[i] && tensor[i] != untouched;
  } else {
    std::vector<std::uint16_t> const words = shared.read();
    std::vector<int> place(tensor_elements, -1);
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] != untouched)
        (words[i] < tensor_elements ? place[words[i]] : at[0]) = static_cast<int>(2 * i);
    for (std::size_t i = 0; i < elements; ++i) at[i] = place[tensor_index(c, i)];
    std::uint64_t touched = 0;
    for (std::uint16_t const w : words) touched += w != untouched;
    strays = touched - std::min<std::uint64_t>(touched, elements);
  }
  Found found = chunks(c, at);
  found.mismatches += strays;
  return found;
}

/// ["load" | "store", mode, [box], destination, tensor's offset, result, [places]]
std::string row_of(Case const& c, std::string const& result, std::vector<int> const& place) {
  std::string out = std::string("[") + (c.store ? "\"store\"," : "\"load\",") + std::to_string(c.mode) +
                    ",[" + std::to_string(c.box[0]) + "," + std::to_string(c.box[1]) + "," +
                    std::to_string(c.box[2]) + "]," + std::to_string(c.offset) + "," +
                    std::to_string(c.global_offset) + "," + quoted(result) + ",[";
  for (std::size_t i = 0; i < place.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(place[i]);
  return out + "]]";
}

}  // namespace

Record tma(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  Encode const function = find_encode();
  allow_shared(copy_box, window + 4096);
  Buffer<std::uint16_t> tensor(tensor_elements + 64), shared(window / 2);
  Buffer<unsigned> gave_up(1);
  std::vector<Case> const all = box_copies();
  Record record;
  for (char const* key : {"mismatches", "copied", "refused", "bytes", "units"}) record.counts[key] = 0;
  record.counts["units_of_all_parts"] = part.index == 0 ? all.size() : 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!part.has(i)) continue;
    Case const& c = all[i];
    ++record.counts["units"];
    std::vector<std::uint16_t> contents(tensor.size(), untouched);
    if (!c.store)
      for (std::uint32_t e = 0; e < tensor_elements; ++e)
        contents[c.global_offset / 2 + e] = static_cast<std::uint16_t>(e);
    tensor.write(contents);
    alignas(64) CUtensorMap map{};
    CUresult const status = encode(function, c, tensor.data(), map);
    if (status != CUDA_SUCCESS) {
      ++record.counts["refused"];
      record.rows["copies"].push_back(
          row_of(c, "refused: CUresult " + std::to_string(static_cast<int>(status)), {}));
      continue;
    }
    Found const found = run_case(c, map, tensor, shared, gave_up);
    ++record.counts["copied"];
    record.counts["bytes"] += 2ULL * c.box[0] * c.box[1] * c.box[2];
    record.counts["mismatches"] += found.mismatches;
    record.rows["copies"].push_back(row_of(c, "copied", found.place));
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

namespace {

__global__ void copy_pixels(CUtensorMap const __grid_constant__ map, PixelCopy const c, std::uint16_t* out,
                            unsigned* gave_up) {
  extern __shared__ unsigned char memory[];
  __shared__ alignas(8) std::uint64_t barrier;
  std::uint32_t const start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  auto* const words = reinterpret_cast<std::uint16_t*>(memory + (4096 - start % 4096) % 4096);
  auto const base = static_cast<std::uint32_t>(__cvta_generic_to_shared(words));
  auto const bar = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier));
  for (unsigned i = threadIdx.x; i < window / 2; i += blockDim.x) words[i] = untouched;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t const bytes = c.channels * c.pixels * 2;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3, %4, %5}], [%6], {%7, %8};" ::"r"(base + c.destination),
        "l"(&map), "r"(0), "r"(c.start[0]), "r"(c.start[1]), "r"(c.start[2]), "r"(bar), "h"(c.offset[0]),
        "h"(c.offset[1])
        : "memory");
    *gave_up = !arrived(bar);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < window / 2; i += blockDim.x) out[i] = words[i];
}

CUresult encode_pixels(EncodeIm2col function, unsigned type, unsigned bits, unsigned channels,
                       unsigned pixels, int const (&lower)[2], int const (&upper)[2], int mode, void* tensor,
                       CUtensorMap& map) {
  cuuint64_t extent[4] = {}, pitch[3] = {};
  for (int i = 0; i < 4; ++i) extent[i] = static_cast<cuuint64_t>(pixel_extent[i]);
  pitch[0] = extent[0] * bits / 8, pitch[1] = pitch[0] * extent[1], pitch[2] = pitch[1] * extent[2];
  cuuint32_t const one[4] = {1, 1, 1, 1};
  return function(&map, static_cast<CUtensorMapDataType>(type), 4, tensor, extent, pitch, lower, upper,
                  channels, pixels, one, CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(mode),
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Results of the driver, by type and mode: ["tiled" | "im2col", type, mode, [box, box, CUresult, ...]].
void encode_boxes(Encode tiled, EncodeIm2col im2col, void* tensor, Record& record) {
  std::string open, head;
  auto const flush = [&] {
    if (!open.empty()) record.rows["encodings"].push_back("[" + head + ",[" + open + "]]");
    open.clear();
  };
  for (BoxEncoding const& e : box_encodings()) {
    alignas(64) CUtensorMap map{};
    CUresult status{};
    if (e.im2col) {
      status = encode_pixels(im2col, e.type, e.bits, e.box[0], e.box[1], {0, 0}, {0, 0}, e.mode, tensor, map);
    } else {
      cuuint64_t const extent[2] = {1024, 512}, pitch[1] = {1024ULL * e.bits / 8};
      cuuint32_t const box[2] = {e.box[0], e.box[1]}, one[2] = {1, 1};
      status = tiled(&map, static_cast<CUtensorMapDataType>(e.type), 2, tensor, extent, pitch, box, one,
                     CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(e.mode),
                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
    std::string const now = std::string(e.im2col ? "\"im2col\"," : "\"tiled\",") + std::to_string(e.type) +
                            "," + std::to_string(e.mode);
    if (now != head) flush();
    head = now;
    open += (open.empty() ? "" : ",") + std::to_string(e.box[0]) + "," + std::to_string(e.box[1]) + "," +
            std::to_string(static_cast<int>(status));
    ++record.counts[status == CUDA_SUCCESS ? "accepted" : "refused"];
  }
  flush();
}

/// Boxes of 16U4_ALIGN8B as those of `tma` that have four times the elements of a quarter of the bits.
void copy_packed(Encode function, Record& record) {
  Buffer<std::uint16_t> tensor(tensor_elements + 64), shared(window / 2);
  Buffer<unsigned> gave_up(1);
  for (Case const& c : packed_copies()) {
    std::vector<std::uint16_t> contents(tensor.size(), untouched);
    if (!c.store)
      for (std::uint32_t e = 0; e < tensor_elements; ++e) contents[e] = static_cast<std::uint16_t>(e);
    tensor.write(contents);
    alignas(64) CUtensorMap map{};
    CUresult const status = encode(function, c, tensor.data(), map, true);
    if (status != CUDA_SUCCESS) {
      record.rows["packed"].push_back(
          row_of(c, "refused: CUresult " + std::to_string(static_cast<int>(status)), {}));
      continue;
    }
    Found const found = run_case(c, map, tensor, shared, gave_up);
    record.counts["bytes"] += 2ULL * c.box[0] * c.box[1] * c.box[2];
    record.counts["mismatches"] += found.mismatches;
    record.rows["packed"].push_back(row_of(c, "copied", found.place));
  }
}

/// ["im2col", mode, channels, [lower], [upper], [start], [offset], destination, wrong, [element of channel 0 of each pixel]]
void copy_all_pixels(EncodeIm2col function, Record& record) {
  Buffer<std::uint16_t> tensor(pixel_elements), shared(window / 2);
  Buffer<unsigned> gave_up(1);
  std::vector<std::uint16_t> contents(pixel_elements);
  for (std::uint32_t e = 0; e < pixel_elements; ++e) contents[e] = static_cast<std::uint16_t>(e + 1);
  tensor.write(contents);
  auto const pair = [](auto const& of) {
    return "[" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "]";
  };
  for (PixelCopy const& c : pixel_copies()) {
    alignas(64) CUtensorMap map{};
    CUresult const status =
        encode_pixels(function, 1, 16, c.channels, c.pixels, c.lower, c.upper, c.mode, tensor.data(), map);
    if (status != CUDA_SUCCESS)
      throw Failure{"boxes: an im2col map is refused: " + std::to_string(static_cast<int>(status))};
    copy_pixels<<<1, 256, window + 4096>>>(map, c, shared.data(), gave_up.data());
    finish("boxes");
    if (gave_up.read()[0] != 0) throw Failure{"boxes: a load did not arrive"};
    std::vector<std::uint16_t> const words = shared.read();
    std::uint64_t wrong = 0, touched = 0;
    std::string firsts;
    for (unsigned i = 0; i < c.pixels; ++i) {
      int const element = element_of_pixel(c, i);
      for (unsigned x = 0; x < c.channels; ++x) {
        std::uint32_t const at =
            tma_address(static_cast<TmaMode>(c.mode), c.destination, i, 2 * c.channels, 2 * x) / 2;
        int const expected = element < 0 ? 0 : element + static_cast<int>(x) + 1;
        wrong += at >= words.size() || words[at] != expected;
        if (x == 0) firsts += (i == 0 ? "" : ",") + std::to_string(at < words.size() ? words[at] - 1 : -2);
      }
    }
    for (std::uint16_t const w : words) touched += w != untouched;
    wrong += touched != std::uint64_t{c.pixels} * c.channels;
    record.counts["bytes"] += 2ULL * c.pixels * c.channels;
    record.counts["mismatches"] += wrong;
    record.rows["pixels"].push_back("[" + std::to_string(c.mode) + "," + std::to_string(c.channels) + "," +
                                    pair(c.lower) + "," + pair(c.upper) + ",[" + std::to_string(c.start[0]) +
                                    "," + std::to_string(c.start[1]) + "," + std::to_string(c.start[2]) +
                                    "]," + pair(c.offset) + "," + std::to_string(c.destination) + "," +
                                    std::to_string(wrong) + ",[" + firsts + "]]");
  }
}

}  // namespace

/// Rows: see encode_boxes, row_of and copy_all_pixels. One unit: the driver's answers and the copies belong together.
Record boxes(Device const&, Settings const&, Part part) {
  auto const start = std::chrono::steady_clock::now();
  Record record;
  for (char const* key : {"mismatches", "accepted", "refused", "bytes"}) record.counts[key] = 0;
  record.counts["units"] = record.counts["units_of_all_parts"] = part.index == 0 ? 1 : 0;
  if (part.has(0)) {
    Encode const tiled = find_encode();
    auto const im2col = find_in_driver<EncodeIm2col>("cuTensorMapEncodeIm2col");
    allow_shared(copy_box, window + 4096);
    allow_shared(copy_pixels, window + 4096);
    Buffer<std::uint16_t> tensor(1 << 20);
    encode_boxes(tiled, im2col, tensor.data(), record);
    copy_packed(tiled, record);
    copy_all_pixels(im2col, record);
  }
  record.longest["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

}  // namespace swizproof::gpu
