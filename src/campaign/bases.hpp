// Cases of campaign `bases`: arrays of shared memory in every order and alignment, and tiles that TMA writes at each multiple of 128 bytes.
#pragma once

#include <swizproof/core/splitmix.hpp>
#include <swizproof/hardware/shared_arrays.hpp>
#include <swizproof/hardware/tma.hpp>
#include <swizproof/hardware/wgmma.hpp>

#include <array>
#include <string>
#include <vector>

namespace swizproof::gpu {

/// An array of a kernel's text.
struct DeclaredArray {
  std::uint32_t alignment, bytes;
  bool is_named;  ///< by an instruction of the kernel
};

/// A kernel that stores the addresses of the arrays that it names.
struct ArrayKernel {
  std::vector<DeclaredArray> own, of_module, external;  ///< external: extern, without a length
  std::uint32_t dynamic_bytes = 0;
  unsigned cluster = 1;   ///< blocks
  unsigned rotation = 0;  ///< which array is named first

  /// Addresses of the named arrays in block 0 of a cluster, by H18: own, of the module, external.
  [[nodiscard]] std::vector<std::uint32_t> addresses() const {
    SharedArrays arrays(sm_90.code.value().reserved_shared);
    std::vector<std::uint32_t> out;
    for (auto const* const list : {&own, &of_module})
      for (DeclaredArray const& a : *list)
        if (a.is_named) out.push_back(static_cast<std::uint32_t>(arrays.place(a.alignment, a.bytes)));
    for (DeclaredArray const& a : external) {
      auto const address = static_cast<std::uint32_t>(arrays.place_dynamic(a.alignment));
      if (a.is_named) out.push_back(address);
    }
    return out;
  }

  /// The module, whose kernel `k` stores the addresses behind each other, 64 bytes a block.
  [[nodiscard]] std::string ptx() const {
    std::string module = ".version 8.0\n.target sm_90\n.address_size 64\n", declared;
    std::vector<std::string> named;
    auto const declare = [&](std::vector<DeclaredArray> const& list, char kind, std::string& text) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        std::string const name = kind + std::to_string(i);
        text += std::string(kind == 'd' ? ".extern " : "") + ".shared .align " +
                std::to_string(list[i].alignment) + " .b8 " + name + "[" +
                (kind == 'd' ? "" : std::to_string(list[i].bytes)) + "];\n";
        if (list[i].is_named) named.push_back(name);
      }
    };
    declare(own, 'a', declared);
    declare(of_module, 'm', module);
    declare(external, 'd', module);
    std::string text = module + ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<2>; .reg .b64 %d<3>;\n" +
                       declared +
                       "ld.param.u64 %d0, [out];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %d1, %r0, "
                       "64;\nadd.u64 %d0, %d0, %d1;\n";
    for (std::size_t i = 0; i < named.size(); ++i) {
      std::size_t const at = (i + rotation) % named.size();
      text += "mov.u32 %r1, " + named[at] + ";\nst.global.u32 [%d0+" + std::to_string(4 * at) + "], %r1;\n";
    }
    return text + "ret;\n}\n";
  }
};
inline constexpr unsigned most_named_arrays = 16;
/// Bytes from an address of a block to the same of the next one of its cluster.
inline constexpr std::uint32_t cluster_stride = 1U << 24;

/// Numbers that are drawn, the same everywhere.
class Draws {
 public:
  explicit constexpr Draws(std::uint64_t seed) : state_(seed << 32) {}
  /// A number below `n`.
  [[nodiscard]] constexpr std::uint32_t below(std::uint32_t n) {
    state_ += splitmix64_step;
    return static_cast<std::uint32_t>(splitmix64(state_) % n);
  }

 private:
  std::uint64_t state_;
};

/// The first units of campaign `bases`, 320.
[[nodiscard]] inline std::vector<ArrayKernel> array_kernels() {
  constexpr std::uint32_t lengths[] = {1, 2, 3, 4, 7, 8, 12, 24, 33, 100, 128, 132, 256, 1000, 1024, 2052};
  std::vector<ArrayKernel> all;
  for (std::uint32_t n = 0; n < 320; ++n) {
    Draws draw(n);
    ArrayKernel k;
    unsigned const kind = n % 8;
    auto const declare = [&](std::vector<DeclaredArray>& list, unsigned most) {
      for (unsigned i = draw.below(most + 1); i > 0; --i)
        list.push_back(
            {1U << draw.below(n % 16 == 15 ? 13 : 11), lengths[draw.below(16)], draw.below(8) != 0});
    };
    if (kind != 0) declare(k.own, 5);
    if (kind > 4) declare(k.of_module, 4);
    if (kind != 3) declare(k.external, 2);
    if (k.external.empty() && kind != 3) k.external.push_back({1U << draw.below(8), 0, true});
    k.dynamic_bytes = std::array{0U, 16U, 1024U, 20000U, 120000U}[draw.below(5)];
    k.cluster = 1U << (n / 8 % 3);
    k.rotation = draw.below(8);
    all.push_back(std::move(k));
  }
  return all;
}

/// A tile of 128 rows (of mn) by 64 (of k) elements of 16 bits: TMA writes it in boxes of one atom's width, wgmma and ldmatrix read it.
struct BasedTile {
  TmaMode mode;
  Major major;
  std::uint32_t base;  ///< from a multiple of 1024, bytes

  static constexpr std::uint32_t rows = 128, depth = 64, bytes = rows * depth * 2;
  /// Bytes of a line of a box; its lines; its bytes.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t line() const {
    return 16U << static_cast<unsigned>(mode);
  }
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t lines() const {
    return major == Major::k ? rows : depth;
  }
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t box_bytes() const { return line() * lines(); }
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr WgmmaMode operand_mode() const {
    return mode == TmaMode::none ? WgmmaMode::none : static_cast<WgmmaMode>(4 - static_cast<int>(mode));
  }
  /// Bytes from the tile's base to an element, before the swizzle.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t offset(std::uint32_t mn,
                                                                     std::uint32_t k) const {
    std::uint32_t const along = 2 * (major == Major::k ? k : mn), across = major == Major::k ? mn : k;
    return along / line() * box_bytes() + across * line() + along % line();
  }
  /// The descriptor of one instruction from row `mn` and depth `k` on, of a tile at `start`.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr WgmmaDescriptor descriptor(std::uint32_t start,
                                                                           std::uint32_t mn, std::uint32_t k,
                                                                           std::uint32_t base_offset) const {
    bool const is_swizzled = mode != TmaMode::none, is_k = major == Major::k;
    std::uint32_t const group = 8 * line();  // of 8 lines
    return {start + offset(mn, k), is_swizzled || is_k ? box_bytes() : group,
            is_swizzled || is_k ? group : box_bytes(), operand_mode(), base_offset};
  }
};

/// Readers of a tile, in the order of a record's row.
enum class TileReader : std::uint8_t {
  wgmma_b,
  wgmma_a,
  wgmma_b_with_base_offset,
  ldmatrix_by_address,
  ldmatrix_by_offset
};
inline constexpr unsigned tile_readers = 5;

/// Address that a reader takes an element from, if the tile is at address `start`.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t address_read(BasedTile tile, TileReader reader,
                                                                         std::uint32_t start,
                                                                         std::uint32_t mn, std::uint32_t k) {
  Swizzle const swizzle = swizzle_of(tile.mode);
  if (reader == TileReader::ldmatrix_by_offset) return start + swizzle(tile.offset(mn, k));
  if (reader == TileReader::ldmatrix_by_address) return swizzle(start + tile.offset(mn, k));
  bool const is_a = reader == TileReader::wgmma_a;
  std::uint32_t const row = is_a ? mn / 64 * 64 : 0, step = k / 16 * 16;
  std::uint32_t const base_offset = reader == TileReader::wgmma_b_with_base_offset ? start / 128 % 8 : 0;
  return wgmma_address(tile.descriptor(start, row, step, base_offset), tile.major, 2, mn - row, k - step)
      .bytes;
}

/// Elements that a reader gets wrong of a tile that TMA wrote (H8, H9): those that it takes from another address.
[[nodiscard]] inline std::uint32_t wrong_elements(BasedTile tile, TileReader reader) {
  std::uint32_t wrong = 0;
  for (std::uint32_t mn = 0; mn < tile.rows; ++mn)
    for (std::uint32_t k = 0; k < tile.depth; ++k)
      wrong += address_read(tile, reader, tile.base, mn, k) !=
                       swizzle_of(tile.mode)(tile.base + tile.offset(mn, k))
                   ? 1
                   : 0;
  return wrong;
}

/// The other units of campaign `bases`, 64.
[[nodiscard]] inline std::vector<BasedTile> based_tiles() {
  std::vector<BasedTile> all;
  for (TmaMode const mode : tma_modes)
    for (Major const major : {Major::k, Major::mn})
      for (std::uint32_t base = 0; base < 1024; base += tma_destination) all.push_back({mode, major, base});
  return all;
}

}  // namespace swizproof::gpu
