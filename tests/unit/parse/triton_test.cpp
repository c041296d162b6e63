// Triton's encodings, element by element against plain loops that are written from Triton's own formulas.
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace swizproof {
namespace {

using Coordinate3 = std::array<std::int64_t, 3>;

/// The byte of the element at every coordinate of `shape` (the first `rank` entries) from base 0, which is what the loop says.
void expect_bytes(std::string const& text, std::vector<std::int64_t> const& shape, std::int64_t bytes,
                  std::function<std::int64_t(Coordinate3 const&)> const& offset) {
  MappingOptions options;
  options.element_bits = static_cast<unsigned>(8 * bytes);
  Mapping const map = parse_mapping(text, options);
  std::int64_t const count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  RC_ASSERT(map.domain() != nullptr);
  RC_ASSERT(map.domain()->size() == count);
  for (std::int64_t index = 0; index < count; ++index) {
    Coordinate3 at{};
    for (std::size_t m = 0, rest = static_cast<std::size_t>(index); m < shape.size(); ++m) {
      at[m] = static_cast<std::int64_t>(rest) % shape[m];
      rest /= static_cast<std::size_t>(shape[m]);
    }
    auto const found = value(map, Address<std::uint64_t>{0}, static_cast<std::uint64_t>(index), Unit::bytes);
    RC_ASSERT(static_cast<std::int64_t>(found) == offset(at) * bytes);
  }
}

std::int64_t power_up_to(int most) { return std::int64_t{1} << *rc::gen::inRange(0, most + 1); }

std::string text_of(std::vector<std::int64_t> const& shape) {
  return fmt::format("({})", fmt::join(shape, ","));
}

RC_GTEST_PROP(Triton, SwizzledSharedIsItsFormula, ()) {
  std::int64_t const vec = power_up_to(5), per_phase = power_up_to(4), phases = power_up_to(4),
                     bytes = power_up_to(3);
  std::vector<std::int64_t> shape{power_up_to(6), power_up_to(6)}, order{1, 0};
  if (*rc::gen::arbitrary<bool>()) shape.push_back(power_up_to(3)), order = {2, 1, 0};
  do {
  } while (*rc::gen::arbitrary<bool>() && std::next_permutation(order.begin(), order.end()));
  auto const size = [&](std::size_t i) { return shape[static_cast<std::size_t>(order[i])]; };
  std::string const text =
      fmt::format("#ttg.swizzled_shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = [{}]}}> {}", vec,
                  per_phase, phases, fmt::join(order, ", "), text_of(shape));
  RC_CLASSIFY(vec * phases > size(0), "more columns than there are");
  expect_bytes(text, shape, bytes, [&](Coordinate3 const& at) {
    std::int64_t const col = at[static_cast<std::size_t>(order[0])],
                       row = at[static_cast<std::size_t>(order[1])];
    std::int64_t const phase = row / per_phase % phases;
    std::int64_t const line = row * size(0) + (col ^ (vec * phase % size(0)));
    return shape.size() == 2 ? line : line + at[static_cast<std::size_t>(order[2])] * size(0) * size(1);
  });
}

RC_GTEST_PROP(Triton, NvmmaSharedIsItsFormula, ()) {
  std::int64_t const bytes = power_up_to(2), width = *rc::gen::element<std::int64_t>(32, 64, 128);
  std::int64_t const line = width / bytes, vec = 16 / bytes, per_phase = 128 / width, phases = width / 16;
  bool const transposed = *rc::gen::arbitrary<bool>();
  std::int64_t const rows = 8 * power_up_to(6), columns = line * power_up_to(2);
  std::vector<std::int64_t> const shape =
      transposed ? std::vector{columns, rows} : std::vector{rows, columns};
  RC_CLASSIFY(rows > 256, "more rows than a TMA box");
  std::string const text =
      fmt::format("#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = {}, elementBitWidth = {}}}> {}",
                  width, transposed, 8 * bytes, text_of(shape));
  expect_bytes(text, shape, bytes, [&](Coordinate3 const& at) {
    std::int64_t const row = at[transposed ? 1 : 0], column = at[transposed ? 0 : 1];
    std::int64_t const inside = column % line ^ row / per_phase % phases * vec, box = column / line;
    // Boxes have 256 rows at most; boxes follow each other along the first axis, then along the second.
    std::int64_t const high = std::min<std::int64_t>(rows, 256);
    std::int64_t const number =
        transposed ? box + row / high * (columns / line) : row / high + box * (rows / high);
    return (number * high + row % high) * line + inside;
  });
}

RC_GTEST_PROP(Triton, NvmmaSharedOfThreeAxesIsItsFormula, ()) {
  std::int64_t const bytes = power_up_to(2), width = *rc::gen::element<std::int64_t>(32, 64, 128);
  std::int64_t const line = width / bytes, vec = 16 / bytes;
  std::int64_t const batches = power_up_to(3), rows = 8 / batches * power_up_to(3),
                     columns = line * power_up_to(1);
  std::string const text = fmt::format(
      "#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = false, elementBitWidth = {}, rank = 3}}> "
      "({},{},{})",
      width, 8 * bytes, batches, rows, columns);
  expect_bytes(text, {batches, rows, columns}, bytes, [&](Coordinate3 const& at) {
    std::int64_t const row = at[0] * rows + at[1];
    std::int64_t const inside = at[2] % line ^ row / (128 / width) % (width / 16) * vec;
    return (at[2] / line * batches * rows + row) * line + inside;
  });
}

RC_GTEST_PROP(Triton, TheLeadingOffsetOfOlderVersionsIsItsFormula, ()) {
  std::int64_t const bytes = power_up_to(2), width = *rc::gen::element<std::int64_t>(32, 64, 128);
  std::int64_t const line = width / bytes, vec = 16 / bytes, rows = 8 * power_up_to(6),
                     columns = line * power_up_to(2);
  bool const first = *rc::gen::arbitrary<bool>();
  std::vector<std::int64_t> const shape = first ? std::vector{columns, rows} : std::vector{rows, columns};
  std::string const text = fmt::format(
      "#triton_gpu.shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = [{}], hasLeadingOffset = true}}> "
      "{}",
      vec, 128 / width, width / 16, first ? "0, 1" : "1, 0", text_of(shape));
  expect_bytes(text, shape, bytes, [&](Coordinate3 const& at) {
    std::int64_t const row = at[first ? 1 : 0], column = at[first ? 0 : 1];
    return (column / line * rows + row) * line + (column % line ^ row / (128 / width) % (width / 16) * vec);
  });
}

/// Bases that reach each coordinate once: unit steps of all axes in some order, then rows added to rows.
std::vector<std::vector<std::int64_t>> random_bases(std::vector<std::int64_t> const& shape, bool mixed) {
  std::vector<std::vector<std::int64_t>> bases;
  for (std::size_t m = 0; m < shape.size(); ++m)
    for (std::int64_t step = 1; step < shape[m]; step *= 2) {
      bases.emplace_back(shape.size(), 0);
      bases.back()[m] = step;
    }
  for (std::size_t i = bases.size(); i-- > 1;)
    std::swap(bases[i], bases[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(i) + 1))]);
  for (int i = mixed ? *rc::gen::inRange(0, 12) : 0; i > 0 && bases.size() > 1; --i) {
    auto const a = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(bases.size())));
    auto const b = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(bases.size())));
    if (a == b) continue;
    for (std::size_t m = 0; m < shape.size(); ++m) bases[a][m] ^= bases[b][m];
  }
  return bases;
}

std::string text_of(std::vector<std::vector<std::int64_t>> const& bases) {
  std::vector<std::string> parts;
  for (auto const& base : bases) parts.push_back(fmt::format("[{}]", fmt::join(base, ", ")));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

/// Which offset leads to a coordinate, by trying them all.
std::map<std::vector<std::int64_t>, std::int64_t> offsets_of(
    std::vector<std::vector<std::int64_t>> const& bases) {
  std::map<std::vector<std::int64_t>, std::int64_t> found;
  for (std::int64_t offset = 0; offset < std::int64_t{1} << bases.size(); ++offset) {
    std::vector<std::int64_t> at(bases[0].size(), 0);
    for (std::size_t k = 0; k < bases.size(); ++k)
      if ((offset >> k & 1) != 0)
        for (std::size_t m = 0; m < at.size(); ++m) at[m] ^= bases[k][m];
    found.emplace(at, offset);  // the least one where there are gaps
  }
  return found;
}

RC_GTEST_PROP(Triton, SharedLinearIsTheInverseOfItsBases, ()) {
  std::vector<std::int64_t> const shape{2 * power_up_to(4), 2 * power_up_to(4)};
  auto bases = random_bases(shape, true);
  if (*rc::gen::arbitrary<bool>())
    bases.insert(bases.begin() + *rc::gen::inRange<int>(0, static_cast<int>(bases.size())),
                 std::vector<std::int64_t>{0, 0});
  auto const offsets = offsets_of(bases);
  std::string const kind = *rc::gen::element<std::string>("shared_linear", "linear");
  std::string const text = fmt::format("#ttg.{}<{{offset = {}, block = []}}>", kind, text_of(bases));
  expect_bytes(text, shape, 2, [&](Coordinate3 const& at) { return offsets.at({at[0], at[1]}); });
}

RC_GTEST_PROP(Triton, PaddedSharedIsItsFormula, ()) {
  std::vector<std::int64_t> const shape{2 * power_up_to(4), 2 * power_up_to(4)};
  std::vector<std::pair<std::int64_t, std::int64_t>> pads{{power_up_to(4), power_up_to(4)}};
  if (*rc::gen::arbitrary<bool>()) pads.emplace_back(32 * power_up_to(2), power_up_to(4));
  std::vector<std::string> intervals;
  for (auto const& [interval, padding] : pads) intervals.push_back(fmt::format("{}:+{}", interval, padding));
  bool const short_form = *rc::gen::arbitrary<bool>();
  auto const bases = random_bases(shape, false);
  auto const offsets = offsets_of(bases);
  std::string const rest = short_form ? fmt::format("order = [1, 0], shape = [{}, {}]", shape[0], shape[1])
                                      : fmt::format("offset = {}, block = []", text_of(bases));
  expect_bytes(fmt::format("#ttg.padded_shared<[{}] {{{}}}>", fmt::join(intervals, ", "), rest), shape, 2,
               [&](Coordinate3 const& at) {
                 std::int64_t const i = short_form ? at[0] * shape[1] + at[1] : offsets.at({at[0], at[1]});
                 std::int64_t sum = i;
                 for (auto const& [interval, padding] : pads) sum += i / interval * padding;
                 return sum;
               });
}

std::string triton_text(std::string_view layout) { return parse_mapping(layout).text; }

TEST(Triton, WhatIsPeriodicIsASwizzleOnALayout) {
  EXPECT_EQ(
      triton_text("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> (64,64)"),
      "Sw<3,3,3> o _0 o (_64,_64):(_64,_1)");
  EXPECT_EQ(
      triton_text("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}> 64x32xf16"),
      "(_64,_32):(_1,_64)");
  EXPECT_EQ(
      triton_text(
          "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}> (64,128)"),
      "Sw<3,4,3> o smem_ptr[16b](unset) o (_64,(_64,_2)):(_64,(_1,_4096))");
  EXPECT_EQ(
      triton_text(
          "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}> (64,64)"),
      "(_64,_64):(_64,_1)");
  EXPECT_EQ(triton_text("#ttg.padded_shared<[512:+8] {order = [1, 0], shape = [64, 64]}>"),
            "((_8,_8),_64):((_64,_520),_1)");
  EXPECT_EQ(
      triton_text("#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 1], [4, 4], [8, 0]]}, "
                  "alignment = 16>"),
      "fn(x) = x ^ ((x >> 3) & 0x4) ^ ((x >> 4) & 0x1) o (_16,_8):(_8,_1)");
}

TEST(Triton, TypesGiveShapeAndElement) {
  Mapping const map = parse_mapping(
      "#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>\n"
      "#smem = #ttg.shared_memory\n!ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>");
  EXPECT_EQ(map.text, "Sw<3,3,3> o _0 o (_64,_64,_3):(_64,_1,_4096)");
  EXPECT_EQ(map.element_bits, 16U);
  EXPECT_EQ(parse_mapping(
                "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> 64x64xf8E4M3FN")
                .element_bits,
            8U);
  EXPECT_EQ(parse_mapping("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth "
                          "= 8, fp4Padded = true}> (64,64)")
                .text,
            "Sw<3,4,3> o smem_ptr[8b](unset) o (_64,(_8,_8)):(_128,(_1,_16))");
}

std::vector<std::int64_t> offsets_of(std::string const& text) {
  Mapping const map = parse_mapping(text);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < map.domain()->size(); ++i)
    all.push_back(
        static_cast<std::int64_t>(value(map, Address<std::uint64_t>{0}, static_cast<std::uint64_t>(i),
                                        map.element_bits ? Unit::bytes : Unit::elements)));
  return all;
}

TEST(Triton, WithoutASwizzleTheTransposedAxisIsContiguousAndANoteSaysSinceWhen) {
  std::string const transposed =
      "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}> (4,2)";
  Mapping const map = parse_mapping(transposed);
  EXPECT_EQ(offsets_of(transposed), (std::vector<std::int64_t>{0, 2, 4, 6, 8, 10, 12, 14}));
  ASSERT_EQ(map.notes.size(), 1U);
  EXPECT_NE(map.notes[0].find("10453"), std::string::npos);
  EXPECT_THROW((void)parse_mapping("#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, "
                                   "elementBitWidth = 16, rank = 3}> (2,4,2)"),
               InputError);
}

TEST(Gluon, LayoutsAreTheEncodingsOfTheirNames) {
  for (auto const& [gluon, encoding] :
       {std::pair{
            "NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=16, rank=2, transposed=True) (32,8)",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}> (32,8)"},
        {"ttgl.NVMMASharedLayout(128, 8, 2) (8,128)",
         "#ttg.nvmma_shared<{swizzlingByteWidth = 128, elementBitWidth = 8}> (8,128)"},
        {"gl.SwizzledSharedLayout(4, 2, max_phase=4, order=[0, 1],) (16,8)",
         "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [0, 1]}> (16,8)"},
        {"PaddedSharedLayout([[8, 2], [16, 4]], shape=[4, 8], order=[1, 0])",
         "#ttg.padded_shared<[8:+2, 16:+4] {order = [1, 0], shape = [4, 8]}>"},
        {"SharedLinearLayout(offset_bases=[[0, 1], [1, 0], [0, 2]], block_bases=None)",
         "#ttg.shared_linear<{offset = [[0, 1], [1, 0], [0, 2]]}>"}})
    EXPECT_EQ(offsets_of(gluon), offsets_of(encoding)) << gluon;
  for (char const* wrong : {"NVMMASharedLayout(swizzle_width=64, element_bitwidth=16, rank=2) (32,8)",
                            "SwizzledSharedLayout(8, 1, 8, [1, 0], 1, 1, 1, 1, 1) (8,64)",
                            "SwizzledSharedLayout(8, 1, 8, [1, 0], vec=4) (8,64)",
                            "NVMMASharedLayout.get_default_for([64, 64], ttgl.float17)",
                            "SwizzledSharedLayout(vec=08, per_phase=1, max_phase=8, order=[1, 0]) (8,64)",
                            "PaddedSharedLayout([[8, 3]], shape=[4, 8], order=[1, 0])"})
    EXPECT_THROW((void)parse_mapping(wrong), InputError) << wrong;
}

TEST(Triton, WhatHasNoMeaningIsRefusedOrSaid) {
  for (char const* wrong : {"#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], order = [0, 1]}>",
                            "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], shape = [2, 4]}>",
                            "#ttg.linear<{register = [[0, 1]], offset = [[0, 1], [1, 0]]}>",
                            "#ttg.shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0], "
                            "hasLeadingOffset = true}> 64x64xf16",
                            "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], "
                            "CTAOrder = [1, 1]}> (8,64)"})
    EXPECT_THROW((void)parse_mapping(wrong), InputError) << wrong;
  Mapping const map = parse_mapping(
      "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CTAOrder = [0, 1]}> "
      "(8,64)");
  EXPECT_EQ(
      map.notes,
      (std::vector<std::string>{"CTAOrder orders the CTAs of a cluster: the layout is that of one CTA"}));
}

}  // namespace
}  // namespace swizproof
