// A function's instructions by their addresses: where branches go, and where blocks begin.
#pragma once

#include "opcode.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace swizproof::sass {

class Code {
 public:
  explicit Code(Function const& in_function);

  Function const& function;
  /// True where a block begins.
  [[nodiscard]] bool leads(std::size_t index) const { return leader_[index]; }
  /// Jumps to an instruction that the dump names, and calls that return there.
  [[nodiscard]] std::uint32_t ways_to(std::uint32_t index) const { return ways_to_[index]; }
  /// Index of the instruction that an operand names; nothing if it names none.
  [[nodiscard]] std::optional<std::uint32_t> target_of(Operand const& o) const;
  /// The instruction that a call returns to: an address that a MOV before it puts into a register, the one behind the call before
  /// others.
  [[nodiscard]] std::optional<std::uint32_t> return_of(std::uint32_t call) const;
  /// True for code that a warp runs if its lanes are not together: one that has no access to memory before it returns.
  [[nodiscard]] bool is_slow_copy(std::uint32_t index) const;
  /// True for a call of a function of the driver that neither gets nor returns an address of shared memory: of vprintf, __assertfail,
  /// malloc or free. The dump lists the address of the call, and the kernel calls no other function outside of the cubin.
  [[nodiscard]] bool is_harmless_call(Instruction const& i) const;
  /// True for such a call of __assertfail, which does not return.
  [[nodiscard]] bool fails_assertion(Instruction const& i) const;
  /// True for an instruction, by the first part of its name, that may go on elsewhere, or end.
  [[nodiscard]] static bool jumps(std::string_view base);

 private:
  [[nodiscard]] std::optional<std::uint32_t> index_of_pc(std::uint64_t pc) const;
  std::unordered_map<std::uint32_t, std::uint32_t> index_of_{};  ///< of each address
  std::vector<bool> leader_{};
  std::vector<std::uint32_t> ways_to_{};
};

}  // namespace swizproof::sass
