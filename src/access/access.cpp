#include <swizproof/access/access.hpp>

#include <algorithm>
#include <bit>

namespace swizproof {

namespace {

/// The name of an instruction, known to the compiler: one that does not exist does not compile.
struct InstructionText {
  consteval InstructionText(char const* name) : text(name) {  // NOLINT: a literal stands for it
    for (InstructionName const& known : instruction_names) {
      if (known.text != text) continue;
      instruction = known.instruction;
      return;
    }
    throw "no such instruction";
  }
  std::string_view text;
  Instruction instruction{};
};

NamedAccess named(std::string_view name, InstructionText of, Expression row, Expression byte,
                  std::string_view seen_in) {
  static std::string const lane[] = {"lane"};
  Access access;
  access.name = name;
  access.instruction = of.instruction;
  RowAndByte pattern{std::move(row), std::move(byte)};
  set_footprint(pattern, access.instruction, access.active);
  std::string text = std::string(of.text) + ": row = " + to_string(pattern.row, lane) +
                     ", byte = " + to_string(pattern.byte, lane);
  access.where = std::move(pattern);
  return {std::move(access), std::move(text), seen_in};
}

// Fragment maps are those of PTX ISA 9.1, 9.7.14.5.8: lane l holds row l/4 and columns 2(l%4),
// 2(l%4)+1 of an 8x8 block.
std::vector<NamedAccess> table() {
  Expression const lane = Expression::variable(0);
  return {
      named("ldmatrix.x1", "ldmatrix.x1", lane % 8, 0, "one 8x8 matrix of 16-bit elements"),
      named("ldmatrix.x2", "ldmatrix.x2", lane % 8, 16 * (lane / 8 % 2), "B operand of one n8 tile, K-major"),
      named("ldmatrix.x4", "ldmatrix.x4", lane % 16, 16 * (lane / 16),
            "A operand m16k16, K-major: every mma.sync GEMM, FlashAttention-2 Q and K"),
      named("ldmatrix.x4.b", "ldmatrix.x4", lane % 8 + 8 * (lane / 16), 16 * (lane / 8 % 2),
            "B operand of two n8 tiles, K-major"),
      named("ldmatrix.x4.trans", "ldmatrix.x4.trans", lane % 16, 16 * (lane / 16),
            "MN-major operands; V in FlashAttention-2"),
      named("stmatrix.x1", "stmatrix.x1", lane % 8, 0, "one 8x8 matrix of 16-bit elements"),
      named("stmatrix.x2", "stmatrix.x2", lane % 16, 0, "DeepGEMM sm_90 bf16 epilogue"),
      named("stmatrix.x4", "stmatrix.x4", lane % 16, 16 * (lane / 16),
            "CUTLASS sm_90 epilogue, FlashAttention-3 O and P"),
      named("stmatrix.x4.trans", "stmatrix.x4.trans", lane % 8 + 8 * (lane / 16), 16 * (lane / 8 % 2),
            "column-major D tile, CUTLASS sm_90 epilogue"),
      named("copy.row128", "st.shared.b128", lane / 8, 16 * (lane % 8),
            "global to shared, 8 lanes a row: CUTLASS sm_80, FlashAttention-2"),
      named("copy.row64", "st.shared.b128", lane / 4, 16 * (lane % 4), "global to shared, 64-byte rows"),
      named("copy.row32", "st.shared.b128", lane / 2, 16 * (lane % 2), "global to shared, 32-byte rows"),
      named("copy.row128.async", "cp.async.b128", lane / 8, 16 * (lane % 8), "cp.async, 8 lanes a row"),
      named("copy.row64.async", "cp.async.b128", lane / 4, 16 * (lane % 4), "cp.async, 64-byte rows"),
      named("copy.row32.async", "cp.async.b128", lane / 2, 16 * (lane % 2), "cp.async, 32-byte rows"),
      named("copy.cutlass2", "st.shared.b128", lane / 8, 16 * ((lane % 8) ^ (lane / 8)),
            "CUTLASS 2.x store_column, swizzled by hand"),
      named("row_per_lane.load", "ld.shared.b128", lane, 0, "attention softmax rows"),
      named("row_per_lane.store", "st.shared.b128", lane, 0, "DeepGEMM sm_100 epilogue"),
      named("fragment.c.b16x2", "st.shared.b32", lane / 4, 4 * (lane % 4),
            "16-bit C fragment stored without stmatrix"),
      named("fragment.c.b32x2", "st.shared.b64", lane / 4, 8 * (lane % 4),
            "32-bit C fragment, two columns a lane: DeepGEMM sm_90 fp32 epilogue"),
      named("fragment.a.b32", "ld.shared.b32", lane / 4, 4 * (lane % 4),
            "A fragment without ldmatrix; tf32 A"),
      named("fragment.mn.b16", "ld.shared.b16", 2 * (lane % 4), 2 * (lane / 4),
            "16-bit fragment of a column-major tile"),
      named("fragment.mn.b32", "ld.shared.b32", lane % 4, 4 * (lane / 4),
            "32-bit fragment of a column-major tile"),
      named("row.b32.load", "ld.shared.b32", 0, 4 * lane, "one row of words"),
      named("row.b32.store", "st.shared.b32", 0, 4 * lane, "one row of words"),
      named("column.b16", "ld.shared.b16", lane, 0, "column of 16-bit elements: transposes"),
      named("column.b32.load", "ld.shared.b32", lane, 0, "column of words: transposes, reductions"),
      named("column.b32.store", "st.shared.b32", lane, 0, "column of words: transposes, reductions"),
      named("column.b64", "ld.shared.b64", lane, 0, "column of 8-byte elements"),
      named("lse.8", "ld.shared.b32", lane % 8, 4 * (lane / 8),
            "FlashAttention-3 combine, 8 threads a column"),
      named("lse.16", "ld.shared.b32", lane % 16, 4 * (lane / 16),
            "FlashAttention-3 combine, 16 threads a column"),
      named("broadcast.b64", "ld.shared.b64", 0, 0, "one address for the warp: SIMT GEMM"),
      named("broadcast.b128", "ld.shared.b128", 0, 0, "one address for the warp: SIMT GEMM"),
      named("pair1.b64", "ld.shared.b64", lane / 8, 8 * (lane / 2 % 4),
            "lanes l and l^1 share: SIMT GEMM; merges (H4)"),
      named("pair1.b128", "ld.shared.b128", lane / 4, 16 * (lane / 2 % 2),
            "lanes l and l^1 share: SIMT GEMM; merges (H4)"),
      named("pair2.b64", "ld.shared.b64", lane / 8, 8 * (lane % 2 + 2 * (lane / 4 % 2)),
            "lanes l and l^2 share: SIMT GEMM; merges (H4)"),
      named("pair2.b128", "ld.shared.b128", lane / 4, 16 * (lane % 2),
            "lanes l and l^2 share: SIMT GEMM; merges (H4)"),
  };
}

}  // namespace

std::string Access::title() const {
  auto const* const values = std::get_if<ThreadValues>(&where);
  if (values == nullptr || name.find('\n') == name.npos) return name;
  return to_string(instruction) + ": tv " + to_string(values->tv) + " tile " + to_string(values->tile);
}

void set_footprint(RowAndByte& pattern, Instruction const& instruction,
                   std::optional<Expression> const& active) {
  std::uint64_t last_row = 0, last_byte = 0;
  for (std::uint64_t lane = 0; lane < instruction.lanes(); ++lane) {
    std::span<std::uint64_t const> const variables(&lane, 1);
    if (active && (*active)(variables, lane) == 0) continue;
    last_row = std::max(last_row, pattern.row(variables, lane));
    last_byte = std::max(last_byte, pattern.byte(variables, lane) + instruction.bytes - 1);
  }
  pattern.rows = static_cast<unsigned>(std::bit_ceil(last_row + 1));
  pattern.row_bytes = static_cast<unsigned>(std::bit_ceil(last_byte + 1));
}

std::span<NamedAccess const> named_accesses() {
  static std::vector<NamedAccess> const all = table();
  return all;
}

Access const* named_access(std::string_view name) {
  for (NamedAccess const& named : named_accesses())
    if (named.access.name == name) return &named.access;
  return nullptr;
}

}  // namespace swizproof
