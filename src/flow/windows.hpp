// Generic addresses: a window of them maps to shared memory, to local memory, to constant memory, and to the kernel's parameters; all others
// are addresses of global memory. [PTX ISA 9.1, 6.4.1.1: Generic Addressing; 9.7.9.20: cvta]
#pragma once

#include "block_state.hpp"

namespace swizproof::flow_detail {

/// An address in one space; one in constant memory is that of its array, in the global space.
struct Located {
  program::Space space = program::Space::generic;
  std::uint64_t at = 0;
};
/// The address that an operand of an instruction has, in the space that the opcode names, or that a generic address maps to. Fails where a
/// generic address is expected and one of a space is given, or the other way round.
[[nodiscard]] Located located(Now const& now, ptx::Operand const& o, unsigned lane);
/// The same of an operand that has an address in shared memory.
[[nodiscard]] std::uint64_t shared_address(Now const& now, ptx::Operand const& o, unsigned lane);
/// The same of an operand that has no generic address.
[[nodiscard]] std::uint64_t address_in_space(Now const& now, ptx::Operand const& o, unsigned lane);
/// Fails where an address of a space is expected, and is a generic one of a window.
void check_space(Now const& now, std::uint64_t address, unsigned lane);
/// An address that an operand has by value: the generic one of a parameter or of global memory.
[[nodiscard]] Located of_generic(Now const& now, std::uint64_t address, unsigned lane);
/// The address in its space that a generic one maps to; another one is itself.
[[nodiscard]] std::uint64_t without_window(std::uint64_t address);
/// The generic address of one in shared memory; nothing outside of the window.
[[nodiscard]] std::optional<std::uint64_t> generic_of_shared(std::uint64_t address);
/// Notes an answer that depends on where the window of shared memory begins: `result` is computed from generic addresses, and is none.
void note_window(Now const& now, program::Step const& s, std::uint64_t a, std::uint64_t b,
                 std::uint64_t result);

}  // namespace swizproof::flow_detail
