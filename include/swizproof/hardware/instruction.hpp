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

/// A warp instruction: what it does and how many bytes each lane's address stands for.
struct Instruction {
  Operation operation = Operation::ld_shared;
  unsigned bytes = 4;     ///< per address: 1, 2, 4, 8 or 16; 16 for ldmatrix and stmatrix
  unsigned matrices = 0;  ///< 1, 2 or 4 for ldmatrix and stmatrix, else 0
  bool transposed = false;
  [[nodiscard]] friend constexpr bool operator==(Instruction const& a, Instruction const& b) {
    return a.operation == b.operation && a.bytes == b.bytes && a.matrices == b.matrices &&
           a.transposed == b.transposed;
  }

  /// Lanes whose address the hardware uses: 8 a matrix, else all 32 (H6).
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned lanes() const {
    return matrices != 0 ? 8 * matrices : warp_lanes;
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

/// Its name; empty for values that are no instruction. `name(Instruction{}) == "ld.shared.b32"`
[[nodiscard]] constexpr std::string_view name(Instruction const& instruction) {
  for (InstructionName const& known : instruction_names)
    if (known.instruction == instruction) return known.text;
  return {};
}

/// The same as a string.
[[nodiscard]] inline std::string to_string(Instruction const& instruction) {
  return std::string(name(instruction));
}

static_assert(name(Instruction{}) == "ld.shared.b32");

}  // namespace swizproof
