// Parts of an opcode of SASS, and operands of an instruction.
#pragma once

#include <swizproof/sass/module.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace swizproof::sass {

using Kind = Operand::Kind;

/// Parts of an opcode: IMAD, WIDE, U32.
struct Opcode {
  std::string_view text{};
  std::string_view base{};  ///< without the U of the uniform datapath where `uniform`
  bool uniform = false;
  std::vector<std::string_view> modifiers{};
  bool known = true;  ///< false: its row does not list one of them
  [[nodiscard]] bool has(std::string_view modifier) const;
};
[[nodiscard]] Opcode opcode_of(std::string_view text);

/// Bytes of each lane that an access names: 4 if it names none.
[[nodiscard]] unsigned bytes_of(Opcode const& op);
/// The same of an atomic, whose type may have them: 64, U64, F64.
[[nodiscard]] unsigned bytes_of_atomic(Opcode const& op);

/// Registers of a program, in this order: R0 to R254, UR0 to UR254, P0 to P6, UP0 to UP6.
inline constexpr std::uint32_t first_uniform = 255, first_predicate = 510, first_uniform_predicate = 517,
                               registers = 524;

/// Operand k; one that names nothing if there are fewer.
[[nodiscard]] Operand const& operand(Instruction const& i, std::size_t k);
/// Index of the operand that is an address; of none, the number of operands.
[[nodiscard]] std::size_t address_of(Instruction const& i);
/// True for an immediate that is negative as a word: as an operand of 64 bits it is not modelled, since its upper word is not known.
[[nodiscard]] bool has_negative_word(Operand const& o);
[[nodiscard]] bool is_predicate(Operand const& o);
/// The register that an operand names, in the program, or the `plus`th behind it; nothing for RZ and the like.
[[nodiscard]] std::optional<std::uint32_t> number_of(Operand const& o, unsigned plus = 0);
/// True if an instruction may write a predicate: one of its operands, or any of R2P and of a call.
[[nodiscard]] bool may_write(Instruction const& i, Operand const& predicate);

}  // namespace swizproof::sass
