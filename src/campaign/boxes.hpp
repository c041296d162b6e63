// Cases of campaign `boxes`: which boxes the driver accepts, and what the packed type of 8 bytes and im2col copies move.
#pragma once

#include "campaign/cases.hpp"

#include <swizproof/hardware/tma.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::gpu {

/// A box as a tensor map has it, of a tensor that is large enough; of im2col channelsPerPixel and pixelsPerColumn.
struct BoxEncoding {
  unsigned type;  ///< CUtensorMapDataType
  unsigned bits;  ///< of an element in global memory
  bool im2col;
  unsigned box[2];
  int mode;  ///< CUtensorMapSwizzle
};

/// All that are encoded.
[[nodiscard]] inline std::vector<BoxEncoding> box_encodings() {
  struct Type {
    unsigned number, bits;
  };
  std::vector<BoxEncoding> all;
  for (Type const type : {Type{0, 8}, {1, 16}, {2, 32}, {4, 64}, {6, 16}, {7, 32}, {13, 4}, {14, 4}, {15, 6}})
    for (int mode = 0; mode <= 3; ++mode)
      for (unsigned const x :
           {1U, 2U, 3U, 4U, 8U, 12U, 16U, 24U, 32U, 33U, 48U, 64U, 96U, 128U, 192U, 256U, 257U})
        for (unsigned const y : {1U, 3U, 256U, 257U})
          all.push_back({type.number, type.bits, false, {x, y}, mode});
  for (Type const type : {Type{0, 8}, {1, 16}, {6, 16}, {7, 32}})
    for (int mode = 0; mode <= 3; ++mode)
      for (unsigned const x : {4U, 8U, 12U, 16U, 32U, 33U, 48U, 64U, 96U, 128U, 256U, 257U})
        for (unsigned const y : {1U, 3U, 256U, 257U, 1024U, 1025U})
          all.push_back({type.number, type.bits, true, {x, y}, mode});
  return all;
}

/// Boxes of `tma` that 16U4_ALIGN8B could copy, with four times the elements along a line.
[[nodiscard]] inline std::vector<BoxCopy> packed_copies() {
  std::vector<BoxCopy> all;
  for (BoxCopy const& c : box_copies())
    if (c.mode <= 3 && c.global_offset == 0 && c.box[0] <= 64 && c.line_bytes() % 16 == 0 &&
        (c.mode == 0 || c.line_bytes() <= 16U << c.mode))
      all.push_back(c);
  return all;
}

/// A copy of pixels of a tensor of channels, width, height and images, elements of 16 bits.
struct PixelCopy {
  int mode;           ///< CUtensorMapSwizzle
  unsigned channels;  ///< of each pixel, from channel 0 on
  unsigned pixels;
  int lower[2], upper[2];    ///< corners of the box of pixels, along width and height
  int start[3];              ///< first pixel: along width, height, and its image
  unsigned short offset[2];  ///< added to each pixel, along width and height
  unsigned destination;      ///< from a 4 KiB boundary, bytes
};
inline constexpr int pixel_extent[4] = {64, 9, 7, 3};  ///< channels, width, height, images
inline constexpr std::uint32_t pixel_elements = 64 * 9 * 7 * 3;

/// All copies of pixels.
[[nodiscard]] inline std::vector<PixelCopy> pixel_copies() {
  struct Corners {
    int lower[2], upper[2], start[3];
    unsigned short offset[2];
  };
  std::vector<PixelCopy> all;
  for (int mode = 0; mode <= 3; ++mode)
    for (unsigned const channels : {8U, 16U, 32U, 64U}) {
      if (mode != 0 && channels > 8U << mode) continue;
      for (Corners const& c :
           {Corners{{0, 0}, {0, 0}, {0, 0, 0}, {0, 0}}, Corners{{-1, -1}, {-1, -1}, {-1, -1, 0}, {0, 0}},
            Corners{{-1, -1}, {-1, -1}, {3, 2, 1}, {2, 1}}, Corners{{0, 0}, {-2, -2}, {5, 4, 0}, {1, 2}},
            Corners{{-1, -2}, {1, 0}, {8, 6, 1}, {0, 1}}})
        for (unsigned const destination : {0U, 256U, 1152U})
          all.push_back({mode,
                         channels,
                         40,
                         {c.lower[0], c.lower[1]},
                         {c.upper[0], c.upper[1]},
                         {c.start[0], c.start[1], c.start[2]},
                         {c.offset[0], c.offset[1]},
                         destination});
    }
  return all;
}

/// Number of the element of channel 0 of pixel i in the tensor, from 0; -1 of a pixel outside of the tensor, which is filled with zeros. From
/// `start` on along the width, then the height, then the images, in the box from `lower` to the last pixel plus `upper`. [PTX ISA 9.1, 5.5.5]
[[nodiscard]] constexpr int element_of_pixel(PixelCopy const& c, unsigned i) {
  int w = c.start[0], h = c.start[1], n = c.start[2];
  for (; i > 0; --i) {
    if (++w <= pixel_extent[1] - 1 + c.upper[0]) continue;
    w = c.lower[0];
    if (++h <= pixel_extent[2] - 1 + c.upper[1]) continue;
    h = c.lower[1];
    ++n;
  }
  w += c.offset[0], h += c.offset[1];
  if (w < 0 || h < 0 || w >= pixel_extent[1] || h >= pixel_extent[2] || n >= pixel_extent[3]) return -1;
  return ((n * pixel_extent[2] + h) * pixel_extent[1] + w) * pixel_extent[0];
}

}  // namespace swizproof::gpu
