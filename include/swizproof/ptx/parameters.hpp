// Parameters and blocks that are given for a kernel: which parameter a name means, and why a value or a shape does not fit.
#pragma once

#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace swizproof {

/// Value of a parameter: -1 is {~0, true}, 4294967295 is {0xffffffff, false}.
struct ParameterValue {
  std::uint64_t bits = 0;  ///< two's complement
  bool negative = false;
};

/// Index of the parameter of this name: `#0`, `param_0` or the PTX's own; none if there is no such one.
[[nodiscard]] std::optional<std::size_t> parameter_of(ptx::Function const& function, std::string_view name);

/// Reason why an integer does not fit into `bits` bits, 8 to 64, as `n has 32 bits: -2147483648 to 4294967295`; empty if it does.
/// Checked by FlowQuestion.TakesPartsOfStructures.
[[nodiscard]] std::string why_no_integer(std::string const& name, ParameterValue const& value, unsigned bits);

/// Reason why these values are not those of a kernel's parameters: two for one, one of a structure, or one that does not
/// fit (why_no_integer()); empty if they are. Names that the kernel lacks are left out.
[[nodiscard]] std::string why_no_parameter(ptx::Function const& kernel,
                                           std::map<std::string, ParameterValue> const& given);

/// Reason why a kernel cannot be launched with blocks of this shape: its .reqntid, .maxntid, more than 1024 threads or more
/// than 64 in z; empty if it can.
[[nodiscard]] std::string why_no_block(ptx::Function const& kernel,
                                       std::array<std::uint32_t, 3> const& block);

/// The 8 n low bits that a parameter of n bytes has, at most 64.
[[nodiscard]] unsigned bits_of(program::Variable const& parameter);

}  // namespace swizproof
