// Lines of SASS as warp instructions of the model.
#pragma once

#include <swizproof/hardware/instruction.hpp>

#include <optional>
#include <string_view>

namespace swizproof {

/// The instruction of a SASS line: `@!P0 LDS.128 R4, [R3]` is ld.shared.b128; nothing if the line is no
/// access to shared memory that is modelled.
[[nodiscard]] std::optional<Instruction> parse_sass(std::string_view line);

/// True if a SASS line is an atomic operation or a reduction: ATOMS.ADD, ATOM, RED, REDAS.
[[nodiscard]] bool is_atomic(std::string_view line);

/// Returns whether a predicate can switch the line off for a whole warp: `@!P0 LDS R2, [R3]`, `LDGSTS.E desc[UR4][R2.64], P0, [R3]`.
/// Nsight Compute counts such a warp as having executed the line, at no wavefronts.
[[nodiscard]] bool is_predicated(std::string_view line);

/// Returns whether the line accesses memory through a generic pointer: LD, ST, ATOM. Nsight Compute counts every warp of it;
/// the trace has the lanes whose pointer is shared.
[[nodiscard]] bool is_generic(std::string_view line);

/// `LDGSTS.E.BYPASS.128` of `@!P0 LDGSTS.E.BYPASS.128 [R143], desc[UR4][R136.64]`; operands have more than one order.
[[nodiscard]] std::string_view sass_opcode(std::string_view line);

}  // namespace swizproof
