#!/usr/bin/env python3
"""Every field that a text parser reads changes an answer, gives a note, or is refused.

Each row of `fields` is a field of an example and another value for it. The program answers both; the answers are
compared without what only repeats the input. Equal answers, and no note that names the field, are a failure: then the
field was read and ignored. A row marked `spelling` is another way to write the same value: its answers must be equal.

Called as: fields.py [--list]. PYTHONPATH holds the folder of the module _swizproof.
"""
import argparse
import json
import os
import sys
import tempfile

try:
    from swizproof import _swizproof
except ImportError:
    sys.path.insert(0, os.path.join(os.environ.get("PYTHONPATH", "").split(":")[0], "swizproof"))
    import _swizproof

# Repeats the input, or is a time.
ECHO = {"layout", "left", "right", "access", "title", "seconds", "source", "name", "text", "fragment", "input"}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CARD = os.path.join(ROOT, "golden", "data", "arch", "card.json")
PRINTED_COPY = open(os.path.join(os.path.dirname(ROOT), "docs", "tiled_copy.txt")).read()
MMA_ATOM = """MMA_Atom
  ThrID:      _32:_1
  Shape_MNK:  (_16,_8,_16)
  LayoutA_TV: ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))
  LayoutB_TV: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))
  LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))
"""
THR_COPY = "ThrCopy\n  ThrIdx: 5\n" + PRINTED_COPY
TILED_MMA = """ThrMMA
  Thr VMNK: (5,0,0,_0)
TiledMMA
  ThrLayoutVMNK:  (_32,_1,_1,_1):(_1,_0,_0,_0)
  PermutationMNK: (_,_,_)
""" + MMA_ATOM
WGMMA = """MMA_Atom
  ThrID:      _128:_1
  Shape_MNK:  (_64,_64,_16)
  LayoutA_TV: (_128,(_64,_16)):(_0,(_1,_64))
  LayoutB_TV: (_128,(_64,_16)):(_0,(_1,_64))
  LayoutC_TV: ((_4,_8,_4),(_2,_2,_8)):((_128,_1,_16),(_64,_8,_512))
:d"""
TENSOR = "Sw<3,4,3>_smem_ptr[16b](0x400) o (16,64):(64,1)"
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]}> (16,64)"
NVMMA = "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 2}> (64,64)"
PLAIN_NVMMA = "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}> (64,32)"
PADDED = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [8, 64]}>"
PADDED_BASES = "#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], block = []}>"
LINEAR = "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0]]}, alignment = 16>"
LEADING = "#ttg.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}> 64x128xf16"
MEMDESC = "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #smem>"
GLUON = "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed=False) (64,64)"
GLUON_SWIZZLED = "SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0], cta_order=[1, 0]) (16,64)"
GLUON_PADDED = "PaddedSharedLayout(interval_padding_pairs=[[64, 8]], shape=[8, 64], order=[1, 0])"
GLUON_LINEAR = "SharedLinearLayout(offset_bases=[[0, 1], [0, 2], [1, 0]], block_bases=[], alignment=16)"
DESC = "desc:0x4000004000010000<f16>,K (64,16)"


def evaluated(layout):
    return ["eval", layout, "--bytes"]


def checked(layout, access="ldmatrix.x1", *more):
    return ["check", layout, "--access", access, *more]


def toml(*lines):
    return ["prove", {"file": "\n".join(["[[obligation]]", *lines]) + "\n"}]


def kernel(*lines, file="shapes.ptx"):
    ptx = os.path.join(ROOT, "golden", "data", "kernel", file)
    return ["prove", {"file": "\n".join(["[[kernel]]", f'ptx = "{ptx}"', *lines]) + "\n"}]


ACCESS = 'access = "ld.shared.b32: row = lane, col = i for i in 0..31"'
TILE = ('name = "tile"', 'layout = "(32,32):(33,1)"', 'element = "f32"', ACCESS, "at_most = 1", "align = 128")
BAD = ('name = "bad"', 'layout = "(32,32):(32,1)"', 'element = "f32"', ACCESS)
BUDGET = ('name = "a"', 'layout = "(32,32):(33,1)"', 'element = "f32"', ACCESS, 'kernel = "k"', "weight = 2",
          "[[obligation]]", 'name = "all"', 'kernel = "k"', "budget = 64")
BOX = ('name = "b"', 'layout = "-"', 'element = "u8"', 'tma = {mode = "32B", box = [32, 8]}')
VALUES = ('name = "v"', 'fragment = {of = "mma.m16n8k16.f16:d", tv = "((4,8),(2,2)):((32,1),(16,8))"}')
UNITS = ('name = "c"', 'layout = "(8,64):(64,1)"', 'element = "f16"', 'convert = {to = "f32", gives = "(8,32):(32,1)"}')
CLAIM = ('name = "wrong"', 'always = "x < 3"', 'for = {x = "0..3"}', 'about.cites = "page 1"', 'source = "here.cpp:4"')


def with_card(access="ld.shared.b64: row = 0, col = 2*(lane/2)"):
    return ["check", "(32,32):(32,1)", "--element", "f32", "--access", access,
            "--arch", {"file": json.dumps(json.load(open(CARD))), "end": ".json"}]


# parser, field, words of the example, text in one of them, its replacement, and how the answer may stay the same.
fields = [
    # LAYOUT: shape:stride, tensors
    ("layout", "extent", evaluated("smem_ptr[16b](0x0) o (8,64):(64,1)"), "(8,", "(4,"),
    ("layout", "stride", evaluated("smem_ptr[16b](0x0) o (8,64):(64,1)"), "(64,1)", "(72,1)"),
    ("layout", "nesting", ["eval", "coalesce((2,(2,2)):(1,(2,4)), (1,1))"], "(2,(2,2)):(1,(2,4))", "((2,2),2):((1,2),4)"),
    ("layout", "_ of a static integer", ["eval", "(8,64):(64,1)"], "(8,64)", "(_8,_64)", "spelling"),
    ("layout", "octal", ["eval", "(8,64):(64,1)"], "(8,", "(010,", "spelling"),
    ("layout", "binary", ["eval", "(8,64):(64,1)"], "(8,", "(0b1000,", "spelling"),
    ("layout", "separator", ["eval", "(8,1024):(1024,1)"], "1024)", "1'024)", "spelling"),
    ("layout", "comment", ["eval", "(8, 64):(64,1)"], "(8, ", "(8, /* rows */ ", "spelling"),
    ("layout", "suffix", ["eval", "(8,64):(64,1)"], "(8,", "(8u,", "spelling"),
    ("layout", "a swizzle's bits", evaluated(TENSOR), "Sw<3", "Sw<2"),
    ("layout", "a swizzle's base", evaluated(TENSOR), "3,4,3>", "3,5,3>"),
    ("layout", "a swizzle's shift", evaluated(TENSOR), "3,4,3>", "3,4,4>"),
    ("layout", "offset", ["eval", "Sw<3,3,3> o _0 o (8,64):(64,1)"], "_0", "_8"),
    ("layout", "mixed bits' value", ["eval", "Sw<1,0,6> o M_64|(1&1)=65 o (2,2):(1,2)"], "M_64|(1&1)=65", "M_0|(1&1)=1"),
    ("layout", "a pointer's element", ["check", TENSOR, "--access", "ldmatrix.x1"], "[16b]", "[32b]"),
    ("layout", "a pointer's address in eval", evaluated(TENSOR), "0x400", "0x440"),
    ("layout", "a pointer's address in eval of offsets", ["eval", TENSOR], "0x400", "0x440", "note"),
    ("layout", "a pointer's address in check", checked(TENSOR), "0x400", "0x88"),
    ("layout", "a pointer's address in show", ["show", TENSOR, "--access", "ldmatrix.x1"], "0x400", "0x440"),
    ("layout", "a pointer's address in equal", ["equal", TENSOR, TENSOR.replace("0x400", "0x800")], "0x400", "0x800"),
    ("layout", "a pointer's address in equal with (unset)",
     ["equal", TENSOR, "Sw<3,4,3> o smem_ptr[16b](unset) o (16,64):(64,1)"], "(unset)", "(0x40)", "refused"),
    ("layout", "a pointer's address in align", ["align", TENSOR], "0x400", "0x440"),
    ("layout", "a pointer's address in inspect", ["inspect", TENSOR], "0x400", "0x440"),
    ("layout", "a pointer's address in find", ["find", TENSOR, "--access", "ldmatrix.x1"], "0x400", "0x440"),
    ("layout", "a pointer's address in tma", ["tma", TENSOR], "0x400", "0x440"),
    ("layout", "a pointer's address in descriptor", ["descriptor", TENSOR.replace("(16,", "(64,")], "0x400", "0x440"),
    ("layout", "a pointer's address in convert", ["convert", TENSOR], "0x400", "0x440"),
    ("layout", "a pointer's address in access", checked("(32,8):(8,1)", "ld.shared.b16: tv (32,1):(1,32) tile (32,1)", "--element", "f16"),
     "tv (32,1)", "tv smem_ptr[16b](0x80) o (32,1)"),
    ("layout", "a pointer's bit", ["eval", "smem_ptr[4b](0x400.4) o (8,4):(4,1)"], ".4)", ".0)"),
    ("layout", "the memory of a pointer", evaluated("smem_ptr[16b](0x400) o (8,4):(4,1)"), "smem_ptr", "gmem_ptr"),
    ("layout", "an address outside shared memory", evaluated("gmem_ptr[16b](0x400) o (8,4):(4,1)"), "0x400", "0x800", "note"),
    ("layout", "counting_iter", ["eval", "counting_iter(0) o (8,4):(4,1)"], "iter(0)", "iter(7)"),
    ("layout", "ArithTuple", ["eval", "ArithTuple(_0,_0) o (2,2):(_1@0,_1@1)"], "(_0,_0)", "(_0,_4)"),
    ("layout", "--element", ["eval", "(8,64):(64,1)", "--element", "f16", "--bytes"], "f16", "f32"),
    ("layout", "tma's mode", evaluated("tma:128B<f16> (8,64)"), "128B", "64B"),
    ("layout", "tma's element", evaluated("tma:128B<f16> (8,32)"), "f16", "f32"),
    ("layout", "an atom's major", evaluated("gmma:K_SW64<f16>"), "K_", "MN_"),
    ("layout", "an atom's reader", ["descriptor", "gmma:K_SW128<f16> (64,64)", "--for", "wgmma"], "wgmma", "tcgen05"),
    ("layout", "an atom's shape", evaluated("gmma:K_SW64<f16> (16,32)"), "(16,", "(8,"),
    ("layout", "an atom's C++ name", evaluated("gmma:K_SW64<f16>"), "gmma:K_SW64<f16>", "GMMA::Layout_K_SW64_Atom<half_t>", "spelling"),
    ("layout", "a pasted table", ["eval", "(2,2):(1,2)"], "(2,2):(1,2)", "(2,2):(1,2)\n     0   1 \n   +---+---+\n0  | 0 | 3 |\n   +---+---+\n1  | 1 | 3 |\n   +---+---+"),
    ("layout", "Swizzle's default", ["eval", "Swizzle<3,4,3>", "--at", "1024"], "3,4,3", "3,4", "spelling"),
    ("layout", "fn's expression", ["eval", "fn(x) = x ^ ((x >> 3) & 0x70)", "--at", "1024"], ">> 3", ">> 4"),
    ("layout", "fn's octal", ["eval", "fn(x) = x + 8", "--at", "1"], "+ 8", "+ 010", "spelling"),
    ("layout", "fn's separator", ["eval", "fn(x) = x + 1024", "--at", "1"], "1024", "1'024", "spelling"),
    ("layout", "fn's shape", ["eval", "fn(r, c) = r*4 + c (4,4)"], "(4,4)", "(2,4)"),
    ("layout", "run-time integers", ["eval", "composition((_2,_3):(_1,_2), (_2,_3):(_3,_1))"],
     "composition((_2,_3):(_1,_2), (_2,_3):(_3,_1))", "composition((2,3):(1,2), (2,3):(3,1))"),
    ("layout", "run-time integers' profile", ["eval", "coalesce((_8,_64):(_1,_8))"], "coalesce((_8,_64):(_1,_8))", "coalesce((8,64):(1,8))"),
    ("layout", "target_profile", ["eval", "coalesce((2,2):(1,2), target_profile=(1,1))"], "target_profile=(1,1)", "target_profile=1"),
    ("layout", "tiler", ["eval", "zipped_divide((8,64):(64,1), tiler=(4,8))"], "(4,8))", "(2,8))"),
    ("layout", "recast's sizes", ["eval", "recast_layout(32, 16, (8,64):(64,1))"], "32, 16", "16, 32"),
    ("layout", "slice's order", ["eval", "slice((8,64):(64,1), (_,1))"], "(8,64):(64,1), (_,1)", "(_,1), (8,64):(64,1)", "spelling"),
    ("layout", "the swizzle of a fragment", ["eval", "make_fragment_like(Sw<3,3,3> o _0 o (8,8):(64,1))"],
     "Sw<3,3,3> o _0 o ", "", "spelling"),
    # Triton and Gluon
    ("triton", "vec", ["eval", SWIZZLED], "vec = 8", "vec = 4"),
    ("triton", "perPhase", ["eval", SWIZZLED], "perPhase = 1", "perPhase = 2"),
    ("triton", "maxPhase", ["eval", SWIZZLED], "maxPhase = 8", "maxPhase = 4"),
    ("triton", "order", ["eval", SWIZZLED], "order = [1, 0], CTAs", "order = [0, 1], CTAs"),
    ("triton", "CTAsPerCGA", ["eval", SWIZZLED], "CTAsPerCGA = [1, 1]", "CTAsPerCGA = [2, 1]"),
    ("triton", "CTASplitNum", ["eval", SWIZZLED], "CTASplitNum = [1, 1]", "CTASplitNum = [1, 2]"),
    ("triton", "CTAOrder", ["eval", SWIZZLED], "CTAOrder = [1, 0]", "CTAOrder = [0, 1]", "note"),
    ("triton", "CTAOrder's axes", ["eval", SWIZZLED], "CTAOrder = [1, 0]", "CTAOrder = [1, 1]"),
    ("triton", "shape", ["eval", SWIZZLED], "(16,64)", "(32,64)"),
    ("triton", "swizzlingByteWidth", evaluated(NVMMA), "Width = 64", "Width = 128"),
    ("triton", "transposed", evaluated(NVMMA), "= false", "= true"),
    ("triton", "transposed without a swizzle", evaluated(PLAIN_NVMMA), "= true", "= false"),
    ("triton", "elementBitWidth", evaluated(NVMMA), "elementBitWidth = 16", "elementBitWidth = 32"),
    ("triton", "fp4Padded", evaluated(NVMMA.replace("Width = 64", "Width = 128").replace("BitWidth = 16", "BitWidth = 8")
                                      .replace("(64,64)", "(64,128)")), "rank = 2", "rank = 2, fp4Padded = true"),
    ("triton", "rank", evaluated(NVMMA), "rank = 2", "rank = 1"),
    ("triton", "interval", ["eval", PADDED], "64:+8", "32:+8"),
    ("triton", "padding", ["eval", PADDED], "64:+8", "64:+4"),
    ("triton", "padded order", ["eval", PADDED], "[1, 0]", "[0, 1]"),
    ("triton", "padded shape", ["eval", PADDED], "[8, 64]", "[4, 64]"),
    ("triton", "padded offset", ["eval", PADDED_BASES], "[0, 1], [0, 2]", "[0, 2], [0, 1]"),
    ("triton", "padded offset with order", ["eval", PADDED_BASES], "block = []", "block = [], order = [0, 1]"),
    ("triton", "padded offset with shape", ["eval", PADDED_BASES], "block = []", "block = [], shape = [2, 4]"),
    ("triton", "block", ["eval", PADDED_BASES], "block = []", "block = [[0, 1]]"),
    ("triton", "offset", ["eval", LINEAR], "[0, 1], [0, 2]", "[0, 2], [0, 1]"),
    ("triton", "alignment", ["eval", LINEAR], "= 16", "= 32"),
    ("triton", "register of a linear layout", ["eval", "#ttg.linear<{offset = [[0, 1], [1, 0]]}>"], "{offset", "{register = [[0, 1]], offset"),
    ("triton", "hasLeadingOffset", ["eval", LEADING], "= true", "= false"),
    ("triton", "vec of hasLeadingOffset", ["eval", LEADING], "vec = 8", "vec = 4"),
    ("triton", "perPhase of hasLeadingOffset", ["eval", LEADING], "perPhase = 1, maxPhase = 8", "perPhase = 2, maxPhase = 4"),
    ("triton", "memdesc's shape", ["eval", MEMDESC], "64x64xf16", "32x64xf16"),
    ("triton", "memdesc's element", ["eval", MEMDESC, "--bytes"], "xf16", "xf32"),
    ("triton", "memdesc's allocation", ["eval", MEMDESC], "#smem>", "#smem, 128x128>"),
    ("triton", "memory space", ["eval", MEMDESC], "#smem", "#ttng.tensor_memory"),
    ("triton", "mutable", ["eval", MEMDESC], "#smem>", "#smem, mutable>", "spelling"),
    ("gluon", "swizzle_byte_width", evaluated(GLUON), "width=128", "width=64"),
    ("gluon", "element_bitwidth", evaluated(GLUON), "bitwidth=16", "bitwidth=8"),
    ("gluon", "rank", evaluated(GLUON), "rank=2", "rank=1"),
    ("gluon", "transposed", evaluated(GLUON), "False", "True"),
    ("gluon", "fp4_padded", evaluated(GLUON), "False)", "False, fp4_padded=True)"),
    ("gluon", "cga_layout", evaluated(GLUON), "False)", "False, cga_layout=[[1, 0]])"),
    ("gluon", "ctas_per_cga", evaluated(GLUON), "False)", "False, ctas_per_cga=[2, 1])"),
    ("gluon", "positions", evaluated(GLUON), "swizzle_byte_width=128, element_bitwidth=16", "128, 16", "spelling"),
    ("gluon", "module", evaluated(GLUON), "NVMMA", "ttgl.NVMMA", "spelling"),
    ("gluon", "as an encoding", evaluated(GLUON), GLUON,
     "#ttg.nvmma_shared<{swizzlingByteWidth = 128, elementBitWidth = 16, rank = 2}> (64,64)", "spelling"),
    ("gluon", "vec", ["eval", GLUON_SWIZZLED], "vec=8", "vec=4"),
    ("gluon", "per_phase", ["eval", GLUON_SWIZZLED], "per_phase=1", "per_phase=2"),
    ("gluon", "max_phase", ["eval", GLUON_SWIZZLED], "max_phase=8", "max_phase=2"),
    ("gluon", "order", ["eval", GLUON_SWIZZLED], "8, order=[1, 0]", "8, order=[0, 1]"),
    ("gluon", "cta_order", ["eval", GLUON_SWIZZLED], "cta_order=[1, 0]", "cta_order=[0, 1]", "note"),
    ("gluon", "interval_padding_pairs", ["eval", GLUON_PADDED], "[[64, 8]]", "[[64, 4]]"),
    ("gluon", "padded shape", ["eval", GLUON_PADDED], "[8, 64]", "[16, 64]"),
    ("gluon", "padded order", ["eval", GLUON_PADDED], "[1, 0]", "[0, 1]"),
    ("gluon", "offset_bases", ["eval", GLUON_LINEAR], "[0, 1], [0, 2]", "[0, 2], [0, 1]"),
    ("gluon", "block_bases", ["eval", GLUON_LINEAR], "block_bases=[]", "block_bases=[[1, 0]]"),
    ("gluon", "alignment", ["eval", GLUON_LINEAR], "alignment=16", "alignment=32"),
    # desc:
    ("desc", "start address", ["descriptor", "0x4000004000010000"], "10000", "10040"),
    ("desc", "leading byte offset", evaluated("desc:0x0000001000080000<f16>,K (64,16)"), "80000", "90000"),
    ("desc", "stride byte offset", evaluated(DESC), "4000010000", "8000010000"),
    ("desc", "mode", evaluated(DESC), "0x4", "0x8"),
    ("desc", "element", evaluated(DESC), "<f16>", "<f32>"),
    ("desc", "major", evaluated(DESC), ",K", ",MN"),
    ("desc", "extent", evaluated(DESC), "(64,", "(128,"),
    # ACCESS
    ("access", "instruction", checked("(32,32):(33,1)", "ld.shared.b32: row = lane, col = 0", "--element", "f32"), "ld.shared.b32", "ld.shared.b64"),
    ("access", "row", checked("(32,32):(33,1)", "ld.shared.b32: row = lane, col = 0", "--element", "f32"), "row = lane", "row = lane/2"),
    ("access", "col", checked("(32,32):(33,1)", "ld.shared.b32: row = lane, col = 0", "--element", "f32"), "col = 0", "col = lane"),
    ("access", "for", checked("(32,32):(33,1)", "ld.shared.b32: row = lane, col = i for i in 0..31", "--element", "f32"), "0..31", "0..32"),
    ("access", "if", checked("(32,32):(32,1)", "ld.shared.b32: row = lane, col = 0 if lane < 4", "--element", "f32"), "< 4", "< 8"),
    ("access", "byte", checked("(32,32):(32,1)", "ld.shared.b32: row = lane/8, byte = 4*(lane%8)", "--element", "f32"), "4*", "8*"),
    ("access", "coord", checked("(32,32):(32,1)", "ld.shared.b32: coord = (lane, 0)", "--element", "f32"), "(lane, 0)", "(0, lane)"),
    ("access", "address", checked("-", "ld.shared.b32: address = 4*lane"), "4*lane", "8*lane"),
    ("access", "tv", checked("(32,32):(32,1)", "ld.shared.b32: tv (32,4):(1,32) tile (32,4)", "--element", "f32"), "(1,32)", "(4,1)"),
    ("access", "tv's element", checked("(32,32):(32,1)", "ld.shared.b32: tv (32,4):(1,32) tile (32,4)", "--element", "f32"), "tv (32", "tv smem_ptr[32b](0x0) o (32"),
    ("access", "tile", checked("(32,32):(32,1)", "ld.shared.b32: tv (32,4):(1,32) tile (32,4)", "--element", "f32"), "tile (32,4)", "tile (4,32)"),
    # A pasted TiledCopy
    ("tiled copy", "Tiler_MN", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"), "(_32,_16)", "(_16,_32)"),
    ("tiled copy", "TiledLayout_TV", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"), "(_64,_1,_16,_0)", "(_1,_4,_32,_0)"),
    ("tiled copy", "ThrID", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"), "_32:_1", "_16:_1", "B"),
    ("tiled copy", "ValLayoutSrc", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"), "(_32,_8):(_8,_1)", "(_32,_8):(_1,_32)"),
    ("tiled copy", "ValLayoutDst", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"),
     "ValLayoutDst: (_32,(_2,_4)):(_2,(_1,_64))", "ValLayoutDst: (_32,(_2,_4)):(_4,(_1,_64))", "B"),
    ("tiled copy", "ValLayoutRef", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"),
     "ValLayoutRef: (_32,(_2,_4)):(_2,(_1,_64))", "ValLayoutRef: (_32,(_2,_4)):(_4,(_1,_64))", "B"),
    ("tiled copy", "ValueType", checked("(64,64):(72,1)", "ldmatrix.x4: " + PRINTED_COPY, "--element", "f16"), "16b", "32b", "B"),
    # FRAGMENT
    ("fragment", "shape", ["fragment", "mma.m16n8k16.f16:a"], "k16", "k8"),
    ("fragment", "element", ["fragment", "mma.m16n8k16.f16:a"], "f16:", "s8:"),
    ("fragment", "operand", ["fragment", "mma.m16n8k16.f16:a"], ":a", ":b"),
    ("fragment", "D's type", ["fragment", "mma.m16n8k16.f32.f16.f16.f32:d"], "f32.f16.f16.f32", "f16.f16.f16.f16"),
    ("fragment", "C's type", ["fragment", "mma.m16n8k16.f32.f16.f16.f32:d"], "f16.f32:", "f16.f16:"),
    ("fragment", "B's type", ["fragment", "mma.m16n8k32.s32.s8.s8.s32:a"], "s8.s8", "s8.s4"),
    ("fragment", "row and col", ["fragment", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32:a"], "row.col", "col.row"),
    ("fragment", "trans", ["fragment", "ldmatrix.x4"], ".x4", ".x4.trans"),
    ("fragment", "n of wgmma", ["fragment", "wgmma.m64n64k16.f16:d"], "n64", "n32"),
    ("fragment", "SS or RS", ["fragment", "SM90_64x64x16_F32F16F16_RS:a"], "_RS", "_SS"),
    ("fragment", "--tv", ["fragment", "mma.m8n8k4.f64:a", "--tv", "(32,1):(1,0)"], "(32,1):(1,0)", "(32,1):(2,0)"),
    ("fragment", "--tv's pointer", ["fragment", "mma.m8n8k4.f64:a", "--tv", "((4,8),1):((8,1),0)"], "((4,", "smem_ptr[64b](0x40) o ((4,"),
    # A pasted TiledMMA
    ("tiled mma", "Thr VMNK: thread", ["fragment", TILED_MMA + ":a"], "(5,0", "(6,0"),
    ("tiled mma", "Thr VMNK: atom", ["fragment", TILED_MMA + ":a"], "(5,0", "(5,1"),
    ("tiled mma", "Thr VMNK: thread, --into", ["fragment", TILED_MMA + ":d", "--into", "mma.m16n8k16.f16:a"], "(5,0", "(6,0"),
    ("tiled copy", "ThrIdx of an access", checked("Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)", THR_COPY), "ThrIdx: 5", "ThrIdx: 6"),
    ("tiled copy", "ThrIdx of a layout", ["eval", THR_COPY], "ThrIdx: 5", "ThrIdx: 6"),
    ("tiled mma", "ThrLayoutVMNK", ["fragment", TILED_MMA + ":a"], "(_32,_1,_1,_1):(_1,_0,_0,_0)", "(_32,_2,_2,_1):(_1,_32,_64,_0)"),
    ("tiled mma", "ThrLayoutVMNK's threads", ["fragment", TILED_MMA + ":a"], "(_32,_1,_1,_1)", "(_64,_1,_1,_1)"),
    ("tiled mma", "PermutationMNK", ["fragment", TILED_MMA + ":a"], "(_,_,_)", "(_32,_32,_16)"),
    ("tiled mma", "PermutationMNK by a layout", ["fragment", TILED_MMA + ":a"], "(_,_,_)", "(_,(_4,_2):(_2,_1),_)"),
    ("tiled mma", "PermutationMNK of the atom", ["fragment", TILED_MMA + ":a"], "(_,_,_)", "(_16,_8,_16)", "spelling"),
    ("tiled mma", "TiledThr", ["fragment", "TiledMMA\n  TiledThr: (_1,_1,_1):(_0,_0,_0)\n" + MMA_ATOM + ":a"], "(_1,_1,_1):(_0,_0,_0)", "(_2,_1,_1):(_1,_0,_0)"),
    ("tiled mma", "ThrID", ["fragment", MMA_ATOM + ":a"], "_32:_1", "_16:_1"),
    ("tiled mma", "ThrID's order", ["fragment", MMA_ATOM + ":a"], "_32:_1", "_32:_2"),
    ("tiled mma", "Shape_MNK", ["fragment", MMA_ATOM + ":a"], "(_16,_8,_16)", "(_16,_16,_16)"),
    ("tiled mma", "LayoutA_TV", ["fragment", MMA_ATOM + ":a"], "(_16,_8,_128)", "(_16,_128,_8)"),
    ("tiled mma", "LayoutB_TV", ["fragment", MMA_ATOM + ":a"], "(_8,_64)", "(_64,_8)"),
    ("tiled mma", "LayoutC_TV", ["fragment", MMA_ATOM + ":a"], "(_32,_1),(_16,_8))\n", "(_32,_1),(_8,_16))\n"),
    ("tiled mma", "operand", ["fragment", MMA_ATOM + ":a"], ":a", ":d"),
    ("tiled mma", "wgmma's Shape_MNK", ["fragment", WGMMA], "(_64,_64,_16)\n  LayoutA", "(_64,_32,_16)\n  LayoutA"),
    ("tiled mma", "wgmma's LayoutA_TV", ["fragment", WGMMA], "LayoutA_TV: (_128,(_64,_16)):(_0,(_1,_64))", "LayoutA_TV: (_128,(_64,_16)):(_0,(_16,_1))"),
    ("tiled mma", "wgmma's LayoutB_TV", ["fragment", WGMMA], "LayoutB_TV: (_128,(_64,_16)):(_0,(_1,_64))", "LayoutB_TV: (_128,(_32,_16)):(_0,(_1,_32))"),
    ("tiled mma", "wgmma's A in shared memory", ["fragment", WGMMA], ":d", ":a", "refused"),
    # Obligations
    ("obligations", "name", toml(*TILE), '"tile"', '""'),
    ("obligations", "layout", toml(*TILE), "(33,1)", "(32,1)"),
    ("obligations", "element", toml(*TILE), '"f32"', '"f16"'),
    ("obligations", "access", toml(*TILE), "col = i for i in 0..31", "col = 0"),
    ("obligations", "at_most", toml(*BAD, "at_most = 32"), "= 32", "= 31"),
    ("obligations", "align", toml(*TILE), "= 128", "= 64"),
    ("obligations", "arch", toml(*TILE, 'arch = "sm_90"'), "sm_90", "sm_80"),
    ("obligations", "arch's width", toml(*TILE, 'arch = "sm_90"'), '"sm_90"', '["sm_90", "sm_80"]'),
    ("obligations", "expect", toml(*BAD, 'expect = "refuted"'), "refuted", "proved"),
    ("obligations", "equal", toml('name = "e"', 'equal = ["Sw<3,4,3>", "tma:128B"]'), "tma:128B", "tma:64B"),
    ("obligations", "equal's address", toml('name = "e"', f'equal = ["{TENSOR}", "{TENSOR}"]'), f'"{TENSOR}"]', f'"{TENSOR.replace("0x400", "0x480")}"]'),
    ("obligations", "access's address", toml('name = "a"', f'layout = "{TENSOR}"', 'access = "ldmatrix.x1"'), "0x400", "0x88"),
    ("obligations", "access's address and align", toml('name = "a"', f'layout = "{TENSOR}"', 'access = "ldmatrix.x1"'), 'access =', 'align = 64\naccess ='),
    ("obligations", "bijective", toml('name = "b"', 'bijective = "(8,64):(64,1)"'), "(64,1)", "(72,1)"),
    ("obligations", "bijective's address", toml('name = "b"', 'bijective = "(8,64):(64,1)"'), "(8,64)", "smem_ptr[16b](0x40) o (8,64)"),
    ("obligations", "aligned's layout", toml('name = "a"', 'aligned = {layout = "tma:128B", to = 1024}'), "128B", "96B"),
    ("obligations", "aligned's to", toml('name = "a"', 'aligned = {layout = "tma:128B", to = 1024}'), "1024", "512"),
    ("obligations", "aligned's address", toml('name = "a"', 'aligned = {layout = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", to = 1024}'),
     "Sw<3,4,3> o smem_ptr[16b](unset)", "Sw<3,4,3>_smem_ptr[16b](0x40)"),
    ("obligations", "always", toml('name = "x"', 'always = "x < 4"', 'for = {x = "0..3"}'), "x < 4", "x < 3"),
    ("obligations", "for", toml('name = "x"', 'always = "x < 4"', 'for = {x = "0..3"}'), "0..3", "0..4"),
    ("obligations", "a box's mode", toml(*BOX), '"32B"', '"64B"'),
    ("obligations", "a box", toml(*BOX), "[32, 8]", "[64, 8]"),
    ("obligations", "a box's element", toml(*BOX), '"u8"', '"f16"'),
    ("obligations", "a box's arch", toml(*BOX, 'arch = "sm_90"'), "sm_90", "sm_100"),
    ("obligations", "im2col", toml(*BOX), "box = [32, 8]", "im2col = [32, 8]"),
    ("obligations", "tv", toml(*VALUES), "(16,8)", "(8,16)"),
    ("obligations", "of", toml(*VALUES), "f16:d", "f16:b"),
    ("obligations", "to", toml(*UNITS), '"f32"', '"f64"'),
    ("obligations", "gives", toml(*UNITS), "(32,1)", "(36,1)"),
    ("obligations", "a layout's notes", toml('name = "b"', 'equal = ["smem_ptr[16b](0x0) o (8,64):(64,1)", "(8,64):(64,1)"]'), "smem_ptr", "gmem_ptr"),
    ("obligations", "budget", toml(*BUDGET), "= 64", "= 63"),
    ("obligations", "weight", toml(*BUDGET), "weight = 2", "weight = 3"),
    ("obligations", "kernel", toml(*BUDGET), 'kernel = "k"\nbudget', 'kernel = "l"\nbudget'),
    ("obligations", "about", toml(*CLAIM), "page 1", "page 2"),
    ("obligations", "source", toml(*CLAIM) + ["--sarif", {"out": "sarif"}], "here.cpp:4", "there.cpp:5"),
    ("obligations", "unknown keys", toml(*TILE), "at_most", "atmost"),
    # [[kernel]]
    ("kernels", "ptx", kernel('name = "^column$"'), "shapes.ptx", "truncated.ptx"),
    ("kernels", "name", kernel('name = "^column$"'), "column", "few"),
    ("kernels", "no name", kernel('name = "^column$"'), 'name = "^column$"', ""),
    ("kernels", "block", kernel('name = "^column$"', "block = 8"), "= 8", "= 4"),
    ("kernels", "block's shape", kernel('name = "^column$"', "block = [8, 4]"), "[8, 4]", "[4, 8]"),
    ("kernels", "shapes of block", kernel('name = "^column$"', "block = [[8], [16]]"), "[8], [16]", "[8]"),
    ("kernels", "grid", kernel('name = "^column$"', "grid = 8"), "= 8", "= 4"),
    ("kernels", "proxy", kernel('name = "^unfenced$"', "races = true", 'proxy = "off"', file="rings.ptx"), '"off"', '"write"'),
    ("kernels", "excess", kernel('name = "^few$"', "excess = 3"), "= 3", "= 2"),
    ("kernels", "at_most", kernel('name = "^few$"', "at_most = 4"), "= 4", "= 3"),
    ("kernels", "allow's line", kernel('name = "^few$"', 'allow = [{line = "shapes.cu:21", at_most = 4}]'), ":21", ":20"),
    ("kernels", "allow's at_most", kernel('name = "^few$"', 'allow = [{line = "shapes.cu:21", at_most = 4}]'), "= 4", "= 3"),
    ("kernels", "data", kernel('name = "^gather$"', 'data = "allow"'), "allow", "refuse"),
    ("kernels", "param", kernel('name = "^stride$"', 'param = {"#0" = 1}'), "= 1}", "= 2}"),
    ("kernels", "param's name", kernel('name = "^stride$"', 'param = {"#0" = 1}'), "#0", "#9"),
    ("kernels", "shared_bytes", kernel('name = "^stride$"', "block = 32", 'param = {"#0" = 1}', "shared_bytes = 128"), "= 128", "= 127"),
    ("kernels", "bases", kernel('name = "^base$"', "block = 32", 'bases = "device"', file="witness.ptx"), "device", "ptx"),
    ("kernels", "same_values", kernel('name = "scatter"', "block = 128", "races = true", "same_values = true", file="copies.ptx"), "same_values = true", "same_values = false"),
    ("kernels", "global", kernel('name = "^columns[(]"', "global = true", file="global.ptx"), "true", "false"),
    ("kernels", "excess_sectors", kernel('name = "^columns[(]"', "global = true", "excess_sectors = 28", file="global.ptx"), "= 28", "= 27"),
    ("kernels", "allow's sectors", kernel('name = "^columns[(]"', "global = true", 'allow = [{line = "global.cu:14", sectors = 32}]', file="global.ptx"), "= 32", "= 31"),
    ("kernels", "pointers", kernel('name = "^vectors[(]"', "global = true", "excess_sectors = 0", "pointers = 32", file="global.ptx"), "= 32", "= 16"),
    ("kernels", "arch", kernel('name = "^few$"', 'arch = "sm_90"'), '"sm_90"', '["sm_90", "sm_80"]'),
    ("kernels", "expect", kernel('name = "^few$"', 'expect = "refuted"'), "refuted", "proved"),
    ("kernels", "unknown keys", kernel('name = "^few$"', "at_most = 4"), "at_most", "atmost"),
    # --arch FILE
    ("arch", "format", with_card(), "swizproof architecture 1", "swizproof architecture 2"),
    ("arch", "name", with_card(), '"name": "sm_90"', '"name": "sm_80"'),
    ("arch", "device", with_card(), "a simulated card", "another card"),
    ("arch", "date", with_card(), "2026-11-22", "2026-11-23"),
    ("arch", "outcome", with_card(), '"table"', '"unclear"'),
    ("arch", "banks", with_card("ld.shared.b32: row = lane, col = 0"), '"banks": 32', '"banks": 16'),
    ("arch", "bank_bytes", with_card("ld.shared.b32: row = lane, col = 0"), '"bank_bytes": 4', '"bank_bytes": 8'),
    ("arch", "lanes", with_card(), '"ld.shared.b64": {"lanes": 16', '"ld.shared.b64": {"lanes": 8'),
    ("arch", "merged_lanes", with_card(), '"merged_lanes": 32, "partners": [1, 2]', '"merged_lanes": 0, "partners": []'),
    ("arch", "partners", with_card(), '"partners": [1, 2]', '"partners": [3]'),
    ("arch", "equal_words", with_card("cp.async.b32: row = 0, col = lane/2"),
     '"cp.async.b32": {"lanes": 32, "merged_lanes": 0, "partners": [], "equal_words": "each lane"',
     '"cp.async.b32": {"lanes": 32, "merged_lanes": 0, "partners": [], "equal_words": "once"'),
    ("arch", "mismatches", with_card(), '"mismatches": 0', '"mismatches": 1'),
    ("arch", "patterns", with_card(), '"patterns": ', '"patterns": 1'),
]


def ask(words, folder):
    """Exit code and answer of a command line. {"file": text} is a file of that text, {"out": name} one that is written."""
    line, written = [], []
    for i, word in enumerate(words):
        if isinstance(word, dict):
            path = os.path.join(folder, f"{i}{word.get('end', '.toml')}" if "file" in word else word["out"])
            if "file" in word:
                with open(path, "w") as file:
                    file.write(word["file"])
            else:
                written.append(path)
            word = path
        line.append(word)
    code, document, complaint = _swizproof.answer(line + ([] if "--list" in line else ["--json"]), b"")
    document = document.decode("utf-8", "replace")
    try:
        answer = json.loads(document)
    except ValueError:
        answer = document
    texts = []
    for path in written:
        if os.path.exists(path):
            texts.append(open(path).read())
            os.remove(path)
    return code, answer, texts


def without_echo(answer):
    if isinstance(answer, dict):
        return {k: without_echo(v) for k, v in answer.items() if k not in ECHO}
    if isinstance(answer, list):
        return [without_echo(v) for v in answer]
    return answer


def notes_in(answer):
    if isinstance(answer, dict):
        return list(answer.get("notes") or []) + [n for v in answer.values() for n in notes_in(v)]
    if isinstance(answer, list):
        return [n for v in answer for n in notes_in(v)]
    return []


def changed(words, old, new):
    out, hits = [], 0
    for word in words:
        text = word["file"] if isinstance(word, dict) and "file" in word else word if isinstance(word, str) else ""
        if old in text and not hits:
            hits += 1
            text = text.replace(old, new, 1)
            word = dict(word, file=text) if isinstance(word, dict) else text
        out.append(word)
    return out if hits else None


def verdict_on(row, folder):
    parser, field, words, old, new = row[:5]
    kind = row[5] if len(row) > 5 else ""
    other = changed(words, old, new)
    if other is None:
        return "the example does not hold the text to change"
    before, after = ask(words, folder), ask(other, folder)
    if before[0] == 2:
        return f"the example is refused: {before[1]}"
    same = before[0] == after[0] and without_echo(before[1]) == without_echo(after[1]) and before[2] == after[2]
    if kind == "spelling":
        notes = [n for n in notes_in(before[1]) + notes_in(after[1])]
        return "" if same else f"another answer for the same value: {notes or after}"
    if kind == "B":  # cute.hpp and tiled_copy.cpp: what they do with these lines is tested with them
        return ""
    if kind == "refused":
        return "" if after[0] != 0 else "neither refused nor refuted"
    if not same:
        return ""
    if kind == "note" and notes_in(after[1]):
        return ""
    return "read, and it changes nothing"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="print the table of fields")
    options = parser.parse_args()
    if options.list:
        for row in fields:
            print(f"{row[0]:<12} {row[1]:<44} {row[5] if len(row) > 5 else 'another answer, note or refusal'}")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in fields:
            why = verdict_on(row, folder)
            if why:
                wrong += 1
                print(f"{row[0]}: {row[1]}: {why}"[:400])
    print(f"{len(fields)} fields of {len({r[0] for r in fields})} parsers, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
