#include <swizproof/access.hpp>

namespace swizproof {

namespace {

// Fragment maps are those of PTX ISA 9.1, 9.7.14.5.8: lane l holds row l/4 and columns 2(l%4),
// 2(l%4)+1 of an 8x8 block.
constexpr NamedAccess table[] = {
    {"ldmatrix.x1", "ldmatrix.x1: row = lane%8, byte = 0", "one 8x8 matrix of 16-bit elements"},
    {"ldmatrix.x2", "ldmatrix.x2: row = lane%8, byte = 16*(lane/8%2)", "B operand of one n8 tile, K-major"},
    {"ldmatrix.x4", "ldmatrix.x4: row = lane%16, byte = 16*(lane/16)",
     "A operand m16k16, K-major: every mma.sync GEMM, FlashAttention-2 Q and K"},
    {"ldmatrix.x4.b", "ldmatrix.x4: row = lane%8 + 8*(lane/16), byte = 16*(lane/8%2)",
     "B operand of two n8 tiles, K-major"},
    {"ldmatrix.x4.trans", "ldmatrix.x4.trans: row = lane%16, byte = 16*(lane/16)",
     "MN-major operands; V in FlashAttention-2"},
    {"stmatrix.x1", "stmatrix.x1: row = lane%8, byte = 0", "one 8x8 matrix of 16-bit elements"},
    {"stmatrix.x2", "stmatrix.x2: row = lane%16, byte = 0", "DeepGEMM sm_90 bf16 epilogue"},
    {"stmatrix.x4", "stmatrix.x4: row = lane%16, byte = 16*(lane/16)",
     "CUTLASS sm_90 epilogue, FlashAttention-3 O and P"},
    {"stmatrix.x4.trans", "stmatrix.x4.trans: row = lane%8 + 8*(lane/16), byte = 16*(lane/8%2)",
     "column-major D tile, CUTLASS sm_90 epilogue"},
    {"copy.row128", "st.shared.b128: row = lane/8, byte = 16*(lane%8)",
     "global to shared, 8 lanes a row: CUTLASS sm_80, FlashAttention-2"},
    {"copy.row64", "st.shared.b128: row = lane/4, byte = 16*(lane%4)", "global to shared, 64-byte rows"},
    {"copy.row32", "st.shared.b128: row = lane/2, byte = 16*(lane%2)", "global to shared, 32-byte rows"},
    {"copy.row128.async", "cp.async.b128: row = lane/8, byte = 16*(lane%8)", "cp.async, 8 lanes a row"},
    {"copy.row64.async", "cp.async.b128: row = lane/4, byte = 16*(lane%4)", "cp.async, 64-byte rows"},
    {"copy.row32.async", "cp.async.b128: row = lane/2, byte = 16*(lane%2)", "cp.async, 32-byte rows"},
    {"copy.cutlass2", "st.shared.b128: row = lane/8, byte = 16*((lane%8) ^ (lane/8))",
     "CUTLASS 2.x store_column, swizzled by hand"},
    {"row_per_lane.load", "ld.shared.b128: row = lane, byte = 0", "attention softmax rows"},
    {"row_per_lane.store", "st.shared.b128: row = lane, byte = 0", "DeepGEMM sm_100 epilogue"},
    {"fragment.c.b16x2", "st.shared.b32: row = lane/4, byte = 4*(lane%4)",
     "16-bit C fragment stored without stmatrix"},
    {"fragment.c.b32x2", "st.shared.b64: row = lane/4, byte = 8*(lane%4)",
     "32-bit C fragment, two columns a lane: DeepGEMM sm_90 fp32 epilogue"},
    {"fragment.a.b32", "ld.shared.b32: row = lane/4, byte = 4*(lane%4)",
     "A fragment without ldmatrix; tf32 A"},
    {"fragment.mn.b16", "ld.shared.b16: row = 2*(lane%4), byte = 2*(lane/4)",
     "16-bit fragment of a column-major tile"},
    {"fragment.mn.b32", "ld.shared.b32: row = lane%4, byte = 4*(lane/4)",
     "32-bit fragment of a column-major tile"},
    {"row.b32.load", "ld.shared.b32: row = 0, byte = 4*lane", "one row of words"},
    {"row.b32.store", "st.shared.b32: row = 0, byte = 4*lane", "one row of words"},
    {"column.b16", "ld.shared.b16: row = lane, byte = 0", "column of 16-bit elements: transposes"},
    {"column.b32.load", "ld.shared.b32: row = lane, byte = 0", "column of words: transposes, reductions"},
    {"column.b32.store", "st.shared.b32: row = lane, byte = 0", "column of words: transposes, reductions"},
    {"column.b64", "ld.shared.b64: row = lane, byte = 0", "column of 8-byte elements"},
    {"lse.8", "ld.shared.b32: row = lane%8, byte = 4*(lane/8)",
     "FlashAttention-3 combine, 8 threads a column"},
    {"lse.16", "ld.shared.b32: row = lane%16, byte = 4*(lane/16)",
     "FlashAttention-3 combine, 16 threads a column"},
    {"broadcast.b64", "ld.shared.b64: row = 0, byte = 0", "one address for the warp: SIMT GEMM"},
    {"broadcast.b128", "ld.shared.b128: row = 0, byte = 0", "one address for the warp: SIMT GEMM"},
    {"pair1.b64", "ld.shared.b64: row = lane/8, byte = 8*(lane/2%4)",
     "lanes l and l^1 share: SIMT GEMM; merges (H4)"},
    {"pair1.b128", "ld.shared.b128: row = lane/4, byte = 16*(lane/2%2)",
     "lanes l and l^1 share: SIMT GEMM; merges (H4)"},
    {"pair2.b64", "ld.shared.b64: row = lane/8, byte = 8*(lane%2 + 2*(lane/4%2))",
     "lanes l and l^2 share: SIMT GEMM; merges (H4)"},
    {"pair2.b128", "ld.shared.b128: row = lane/4, byte = 16*(lane%2)",
     "lanes l and l^2 share: SIMT GEMM; merges (H4)"},
};

}  // namespace

std::span<NamedAccess const> named_accesses() { return table; }

}  // namespace swizproof
