// Warp instructions that read or write shared memory, and their names.
#pragma once

#include <swizproof/core/word.hpp>

#include <array>
#include <string>
#include <string_view>

namespace swizproof {

inline constexpr unsigned warp_lanes = 32;

/// Kinds of warp instruction that read or write shared memory.
enum class Operation : std::uint8_t { ld_shared, st_shared, ldmatrix, stmatrix, cp_async };

/// Matrices that ldmatrix and stmatrix move: 8 x 8 of 16 bits, or those of bytes that came with compute capability 10.0. Of 6 and 4 bits
/// are elements that memory has packed, 16 of them and a gap in 16 bytes (.b6x16_p32, .b4x16_p64), and registers in bytes.
enum class MatrixForm : std::uint8_t {
  m8n8_b16,
  m16n16_b8,
  m16n16_b6,
  m16n16_b4,
  m8n16_b6,
  m8n16_b4,
  m16n8_b8
};

/// A warp instruction: what it does and how many bytes each lane's address stands for.
struct Instruction {
  Operation operation = Operation::ld_shared;
  unsigned bytes = 4;     ///< per address: 1, 2, 4, 8 or 16; 16 for ldmatrix and stmatrix
  unsigned matrices = 0;  ///< 1, 2 or 4 for ldmatrix and stmatrix, else 0
  bool transposed = false;
  MatrixForm form = MatrixForm::m8n8_b16;
  [[nodiscard]] friend constexpr bool operator==(Instruction const& a, Instruction const& b) {
    return a.operation == b.operation && a.bytes == b.bytes && a.matrices == b.matrices &&
           a.transposed == b.transposed && a.form == b.form;
  }

  /// Rows of a matrix in memory.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned rows_of_each() const {
    return form == MatrixForm::m16n16_b8 || form == MatrixForm::m16n16_b6 || form == MatrixForm::m16n16_b4
               ? 16
               : 8;
  }
  /// Lanes whose address the hardware uses: one for each row of a matrix, else all 32 (H6).
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned lanes() const {
    return matrices != 0 ? rows_of_each() * matrices : warp_lanes;
  }
};

/// An instruction and how PTX writes it, without what does not matter here.
struct InstructionName {
  std::string_view text;
  Instruction instruction;
};

/// Every instruction that is known, by name.
inline constexpr std::array<InstructionName, 25> instruction_names{{
    {"ld.shared.b8", {Operation::ld_shared, 1}},
    {"ld.shared.b16", {Operation::ld_shared, 2}},
    {"ld.shared.b32", {Operation::ld_shared, 4}},
    {"ld.shared.b64", {Operation::ld_shared, 8}},
    {"ld.shared.b128", {Operation::ld_shared, 16}},
    {"st.shared.b8", {Operation::st_shared, 1}},
    {"st.shared.b16", {Operation::st_shared, 2}},
    {"st.shared.b32", {Operation::st_shared, 4}},
    {"st.shared.b64", {Operation::st_shared, 8}},
    {"st.shared.b128", {Operation::st_shared, 16}},
    {"ldmatrix.x1", {Operation::ldmatrix, 16, 1}},
    {"ldmatrix.x2", {Operation::ldmatrix, 16, 2}},
    {"ldmatrix.x4", {Operation::ldmatrix, 16, 4}},
    {"ldmatrix.x1.trans", {Operation::ldmatrix, 16, 1, true}},
    {"ldmatrix.x2.trans", {Operation::ldmatrix, 16, 2, true}},
    {"ldmatrix.x4.trans", {Operation::ldmatrix, 16, 4, true}},
    {"stmatrix.x1", {Operation::stmatrix, 16, 1}},
    {"stmatrix.x2", {Operation::stmatrix, 16, 2}},
    {"stmatrix.x4", {Operation::stmatrix, 16, 4}},
    {"stmatrix.x1.trans", {Operation::stmatrix, 16, 1, true}},
    {"stmatrix.x2.trans", {Operation::stmatrix, 16, 2, true}},
    {"stmatrix.x4.trans", {Operation::stmatrix, 16, 4, true}},
    {"cp.async.b32", {Operation::cp_async, 4}},
    {"cp.async.b64", {Operation::cp_async, 8}},
    {"cp.async.b128", {Operation::cp_async, 16}},
}};

/// ldmatrix and stmatrix of bytes. Their registers are documented; their wavefronts are neither documented nor measured.
inline constexpr std::array<InstructionName, 15> byte_matrix_names{{
    {"ldmatrix.m16n16.x1.trans.b8", {Operation::ldmatrix, 16, 1, true, MatrixForm::m16n16_b8}},
    {"ldmatrix.m16n16.x2.trans.b8", {Operation::ldmatrix, 16, 2, true, MatrixForm::m16n16_b8}},
    {"ldmatrix.m16n16.x1.trans.b8x16.b6x16_p32", {Operation::ldmatrix, 16, 1, true, MatrixForm::m16n16_b6}},
    {"ldmatrix.m16n16.x2.trans.b8x16.b6x16_p32", {Operation::ldmatrix, 16, 2, true, MatrixForm::m16n16_b6}},
    {"ldmatrix.m16n16.x1.trans.b8x16.b4x16_p64", {Operation::ldmatrix, 16, 1, true, MatrixForm::m16n16_b4}},
    {"ldmatrix.m16n16.x2.trans.b8x16.b4x16_p64", {Operation::ldmatrix, 16, 2, true, MatrixForm::m16n16_b4}},
    {"ldmatrix.m8n16.x1.b8x16.b6x16_p32", {Operation::ldmatrix, 16, 1, false, MatrixForm::m8n16_b6}},
    {"ldmatrix.m8n16.x2.b8x16.b6x16_p32", {Operation::ldmatrix, 16, 2, false, MatrixForm::m8n16_b6}},
    {"ldmatrix.m8n16.x4.b8x16.b6x16_p32", {Operation::ldmatrix, 16, 4, false, MatrixForm::m8n16_b6}},
    {"ldmatrix.m8n16.x1.b8x16.b4x16_p64", {Operation::ldmatrix, 16, 1, false, MatrixForm::m8n16_b4}},
    {"ldmatrix.m8n16.x2.b8x16.b4x16_p64", {Operation::ldmatrix, 16, 2, false, MatrixForm::m8n16_b4}},
    {"ldmatrix.m8n16.x4.b8x16.b4x16_p64", {Operation::ldmatrix, 16, 4, false, MatrixForm::m8n16_b4}},
    {"stmatrix.m16n8.x1.trans.b8", {Operation::stmatrix, 16, 1, true, MatrixForm::m16n8_b8}},
    {"stmatrix.m16n8.x2.trans.b8", {Operation::stmatrix, 16, 2, true, MatrixForm::m16n8_b8}},
    {"stmatrix.m16n8.x4.trans.b8", {Operation::stmatrix, 16, 4, true, MatrixForm::m16n8_b8}},
}};

/// Its name; empty for values that are no instruction. `name(Instruction{}) == "ld.shared.b32"`
[[nodiscard]] constexpr std::string_view name(Instruction const& instruction) {
  for (InstructionName const& known : instruction_names)
    if (known.instruction == instruction) return known.text;
  for (InstructionName const& known : byte_matrix_names)
    if (known.instruction == instruction) return known.text;
  return {};
}

/// The same as a string.
[[nodiscard]] inline std::string to_string(Instruction const& instruction) {
  return std::string(name(instruction));
}

static_assert(name(Instruction{}) == "ld.shared.b32");

}  // namespace swizproof
