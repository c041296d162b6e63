// descriptors_of() against loops that share nothing with it: every mode, base offset, stride and start of small tiles.
#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

using Int = std::int64_t;

/// The number of the 128-byte line, counted from line b, is XORed onto that of the 16-byte piece.
Int by_lines(int bits, Int b, Int address) {
  Int const line = (address / 128 - b) & ((1 << bits) - 1);
  return address ^ (line << 4);
}

/// Elements that an instruction of 16-bit elements reads, from the manual's pictures: 8 x 16-byte core matrices.
Int read_by_hand(int bits, Int b, bool along_k, Int lbo, Int sbo, Int start, Int mn, Int k) {
  Int const columns = 1 << bits, row = 16 * columns;
  Int const inner = along_k ? k : mn, outer = along_k ? mn : k;  // contiguous, and not
  Int const piece = inner / 8, byte = inner % 8 * 2, line = outer % 8, group = outer / 8;
  Int at = start + byte + line * row;
  if (along_k)
    at += group * sbo + piece * (bits == 0 ? lbo : 16);
  else if (bits == 0)
    at += piece * sbo + group * lbo;
  else
    at += piece % columns * 16 + piece / columns * lbo + group * sbo;
  return bits == 0 ? at : by_lines(bits, b, at);
}

/// A tile of 16 x 16 elements, its bytes by coordinate.
struct SmallTile {
  std::string text;
  int bits;        // of the swizzle
  bool absolute;   // it sees the base
  Int strides[4];  // bytes: 8 rows or k within, the second 8 of rows; the same of k

  [[nodiscard]] Int stored(Int base, Int mn, Int k) const {
    Int const place = mn % 8 * strides[0] + mn / 8 * strides[1] + k % 8 * strides[2] + k / 8 * strides[3];
    if (absolute) return by_lines(bits, 0, base + place);
    return base + by_lines(bits, 0, place);
  }
};

SmallTile some_tile() {
  int const bits = *rc::gen::inRange(0, 4);
  bool const along_k = *rc::gen::arbitrary<bool>(), absolute = *rc::gen::arbitrary<bool>();
  Int const row = *rc::gen::weightedOneOf<Int>(
      {{4, rc::gen::just<Int>(16 << bits)}, {1, rc::gen::element<Int>(16, 32, 64, 128, 144)}});
  auto const stride = [] { return 16 * *rc::gen::inRange<Int>(1, 40); };
  Int const outer = stride(),
            inner = *rc::gen::weightedOneOf<Int>({{3, rc::gen::just<Int>(16)}, {1, rc::gen::just(stride())}});
  SmallTile t{{}, bits, absolute, {row, outer, 2, inner}};
  if (!along_k) t = {{}, bits, absolute, {2, inner, row, outer}};
  std::string const layout = fmt::format("((8,2),(8,2)):(({},{}),({},{}))", t.strides[0] / 2,
                                         t.strides[1] / 2, t.strides[2] / 2, t.strides[3] / 2);
  t.text = absolute ? fmt::format("Sw<{},4,3> o smem_ptr[16b](unset) o {}", bits, layout)
                    : fmt::format("Sw<{},3,3> o _0 o {}", bits, layout);
  return t;
}

bool in(Bases const& bases, Int base) {
  for (std::uint64_t const r : bases.residues)
    if (static_cast<std::uint64_t>(base) % bases.period == r) return true;
  return false;
}

RC_GTEST_PROP(DescriptorSearch, FindsWhatLoopsFindAndNothingElse, ()) {
  SmallTile const tile = some_tile();
  DescriptorAnswer const found = descriptors_of(parse_mapping(tile.text, {16U}), {.operand = Operand::b}, {});
  Int const base = 16 * *rc::gen::inRange<Int>(0, 64) + 4096;
  // The elements that are reported for this base are read.
  bool good = false;
  for (TileDescriptor const& d : found.solutions) {
    MatrixDescriptor const& f = d.fields;
    bool right = true;
    for (Int mn = 0; mn < 16; ++mn)
      for (Int k = 0; k < 16; ++k)
        right = right && read_by_hand(static_cast<int>(f.mode), f.base_offset, d.major == Major::k,
                                      f.leading_byte_offset, f.stride_byte_offset, base + d.start, mn,
                                      k) == tile.stored(base, mn, k);
    RC_ASSERT(right == in(d.bases, base));
    good = good || right;
  }
  RC_TAG(good ? "a descriptor" : "none");
  if (good) return;
  // And no other is right: every one whose first element is, and whose lengths are below 1024 bytes.
  Int const first = tile.stored(base, 0, 0);
  for (int bits = 0; bits < 4; ++bits)
    for (Int b = 0; b < (bits == 0 ? 1 : 8); ++b)
      for (bool const along_k : {true, false})
        for (Int start = first / 128 * 128; start < first / 128 * 128 + 128; start += 16)
          for (Int lbo = 0; lbo < 1024; lbo += 16)
            for (Int sbo = 0; sbo < 1024; sbo += 16) {
              auto const right = [&](Int mn, Int k) {
                return read_by_hand(bits, b, along_k, lbo, sbo, start, mn, k) == tile.stored(base, mn, k);
              };
              bool all = right(0, 0) && right(8, 0) && right(0, 8) && right(1, 1) && right(15, 15);
              for (Int mn = 0; all && mn < 16; ++mn)
                for (Int k = 0; all && k < 16; ++k) all = right(mn, k);
              RC_ASSERT(!all);
              if (!right(0, 0)) lbo = sbo = 1024;
            }
}

}  // namespace
}  // namespace swizproof
