// Blocks and tilers that CuTe printed, pasted without the name of the instruction.
#include "oracle/oracle.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::vector<std::uint64_t> indices(ThreadValues const& v) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(v.tv.size()); ++i) all.push_back(v.tv(i).elements);
  return all;
}

TEST(Pasted, ATiledCopyOfMatricesSaysWhichInstructionItIs) {
  std::size_t found = 0, refused = 0;
  for (auto const& record : oracle::cute_records("tv")) {
    if (!record.contains("tiled_copy_print")) continue;
    std::string const block = record["tiled_copy_print"], atom = record["atom"];
    if (atom.find("LDSM") != atom.npos) {
      Access const bare = parse_access(block), named = parse_access(atom + ": " + block);
      EXPECT_EQ(bare.instruction, named.instruction) << atom;
      EXPECT_EQ(bare.instruction, parse_instruction(atom)) << atom;
      EXPECT_EQ(indices(std::get<ThreadValues>(bare.where)), indices(std::get<ThreadValues>(named.where)));
      ++found;
      continue;
    }
    try {
      (void)parse_access(block);
      ADD_FAILURE() << atom;
    } catch (InputError const& error) {
      EXPECT_NE(error.message.find("does not say between which memories"), std::string::npos) << atom;
      ++refused;
    }
  }
  EXPECT_EQ(found, 5U);
  EXPECT_GE(refused, 10U);
}

// What CuTe prints for make_tiled_copy_C_atom of stmatrix.x4 and the accumulators of wgmma 64x16: M in the order of the 8
// rows, the 4 warps and the 2 halves, N in that of 4 threads, 2 values and 2 matrices.
constexpr char const* tiler = "((_8,_4,_2):(_1,_16,_8),(_4,_2,_2):(_2,_1,_8))";
std::string const stmatrix_block =
    std::string("TiledCopy\n  Tiler_MN:       ") + tiler +
    "\n  TiledLayout_TV: ((_4,_8,_4),((_2,_2,_2),(_1,_1))):((_64,_1,_8),((_256,_32,_512),(_0,_0)))\n"
    "Copy_Atom\n  ThrID:        _32:_1\n  ValLayoutSrc: (_32,(_2,_4)):(_2,(_1,_64))\n"
    "  ValLayoutDst: (_32,_8):(_8,_1)\n  ValLayoutRef: (_32,(_2,_4)):(_2,(_1,_64))\n  ValueType:    16b\n";

TEST(Pasted, StmatrixOnTheAccumulatorsOfWgmmaWritesTheirRows) {
  Access const bare = parse_access(stmatrix_block);
  EXPECT_EQ(to_string(bare.instruction), "stmatrix.x4");
  TiledCopy const copy = parse_tiled_copy(stmatrix_block);
  Access const written = parse_access("STSM.16.M88.4: tv " + to_string(copy.layout_d_tv) + " tile " + tiler);
  for (Access const& access : {bare, written}) {
    auto const& v = std::get<ThreadValues>(access.where);
    EXPECT_EQ(v.tile.leaves(), (std::vector<std::int64_t>{64, 16}));
    ASSERT_EQ(v.tv.size(), 128 * 8);
    for (std::uint64_t thread = 0; thread < 128; ++thread)
      for (std::uint64_t value = 0; value < 8; ++value) {
        // Lane l gives row l % 8 of matrix l / 8; the matrices are (rows, columns) (0,0), (8,0), (0,8), (8,8) of the warp's 16.
        std::uint64_t const warp = thread / 32, matrix = thread % 32 / 8;
        std::uint64_t const m = 16 * warp + 8 * (matrix % 2) + thread % 8, n = 8 * (matrix / 2) + value;
        std::uint64_t const at[] = {thread, value};
        EXPECT_EQ(v.tv(std::span<std::uint64_t const>(at)).elements, m + 64 * n) << thread << " " << value;
      }
  }
}

TEST(Pasted, ATilerMustBeOneThatCuTeCanMake) {
  auto const message = [](std::string const& text) -> std::string {
    try {
      (void)parse_access(text);
    } catch (InputError const& error) {
      return error.message;
    }
    return "accepted";
  };
  EXPECT_EQ(message("ld.shared.b16: tv (32,8):(1,32) tile ((_8,_4):(_1,_16),_4)"),
            "the layout reaches index 255, the tiler has 128 elements");
  EXPECT_NE(message("ld.shared.b16: tv (32,8):(1,32) tile ((_8,_4):(_1,_1),_8)")
                .find("this is no tiler that CuTe can make"),
            std::string::npos);
}

TEST(Pasted, AnMmaAtomSaysWhichFragmentItIs) {
  std::string const mma =
      "TiledMMA\n  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)\n  PermutationMNK: "
      "(_32,(_8,_2):(_1,_16),_16)\nMMA_Atom\n"
      "  ThrID:      _32:_1\n  Shape_MNK:  (_16,_8,_16)\n  LayoutA_TV: "
      "((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))\n"
      "  LayoutB_TV: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))\n  LayoutC_TV: "
      "((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n";
  std::string const atom = mma.substr(mma.find("MMA_Atom"));
  for (char const* operand : {"a", "b", "c", "d"})
    EXPECT_EQ(parse_fragment(atom + ":" + operand).name(), std::string("mma.m16n8k16.f16:") + operand);
  std::string const wgmma =
      "ThrMMA\n  Thr VMNK: (5,0,0,_0)\nTiledMMA\n  ThrLayoutVMNK:  (_128,_1,_1,_1):(_1,_0,_0,_0)\n  "
      "PermutationMNK: (_,_,_)\n"
      "MMA_Atom\n  ThrID:      _128:_1\n  Shape_MNK:  (_64,_64,_16)\n  LayoutA_TV: "
      "(_128,(_64,_16)):(_0,(_1,_64))\n"
      "  LayoutB_TV: (_128,(_64,_16)):(_0,(_1,_64))\n  LayoutC_TV: "
      "((_4,_8,_4),(_2,_2,_8)):((_128,_1,_16),(_64,_8,_512))";
  EXPECT_EQ(parse_fragment(wgmma + " :d").name(), "wgmma.m64n64k16.f16:d");
  EXPECT_EQ(parse_fragment(wgmma + " :d").notes,
            (std::vector<std::string>{"this ThrMMA is thread 5; the answer is of all threads"}));
  auto const message = [](std::string const& text) -> std::string {
    try {
      (void)parse_fragment(text);
    } catch (InputError const& error) {
      return error.message;
    }
    return "accepted";
  };
  EXPECT_EQ(message(mma), "the operand is missing");
  char const* const several =
      "this is the tile of several atoms, or of one of another kind, and one instruction is meant here";
  EXPECT_EQ(message(mma + ":a"), several);
  std::string permuted = mma;
  permuted.replace(permuted.find("(_32,_2,_2,_1):(_1,_32,_64,_0)"), 30, "(_32,_1,_1,_1):(_1,_0,_0,_0)");
  EXPECT_EQ(message(permuted + ":a"), several);
  EXPECT_EQ(message(wgmma + ":a"), "this atom reads A from shared memory: no register holds it");
  EXPECT_EQ(message("MMA_Atom\n  ThrID: _32:_1\n  LayoutC_TV: (_4,_8):(_1,_4)\n:d"),
            "the block has no line Shape_MNK");
  EXPECT_EQ(message("MMA_Atom\n  ThrID: _32:_1\n  LayoutQ_TV: (_4,_8):(_1,_4)\n:d"),
            "expected a line of the block");
  EXPECT_EQ(message("MMA_Atom\n  ThrID: _32:_1\n:d"), "the block has no line LayoutC_TV");
}

TEST(Pasted, ATiledMmaIsNoAccessAndNoLayout) {
  EXPECT_THROW((void)parse_access("TiledMMA\n  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)\n"),
               InputError);
  try {
    (void)parse_mapping("MMA_Atom\n  ThrID:      _32:_1\n");
    ADD_FAILURE();
  } catch (InputError const& error) {
    EXPECT_EQ(error.message,
              "a TiledMMA computes on registers: it lays out no shared memory and accesses none");
  }
}

}  // namespace
}  // namespace swizproof
