// State spaces, and variables in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::program {

/// State spaces of variables and addresses.
enum class Space : std::uint8_t { generic, reg, shared, global, constant, local, param };

/// Shared memory of each block of a cluster lies in a window of 2^24 bytes, at its rank times as many; devices have it so, and the PTX ISA does not specify
/// it.
inline constexpr unsigned window_bits = 24;

/// A variable in memory. `extern_array` has no size: dynamic shared memory.
struct Variable {
  std::string name{};
  Space space = Space::generic;
  std::uint32_t align = 1;      ///< bytes
  std::uint32_t points_to = 1;  ///< bytes that divide the address that a parameter is, if it is one
  std::uint64_t bytes = 0;
  bool extern_array = false;
  bool array = false;                     ///< the parameter is a structure or an array
  std::uint8_t lanes = 1;                 ///< of a vector, as a parameter in registers
  bool part = false;                      ///< word of a structure in SASS, which has a name and no number
  bool sized = false;                     ///< shared memory of SASS: `bytes` is the end of its static part
  std::optional<std::uint64_t> placed{};  ///< address of a shared array of PTX, if it rests on H18
  std::uint64_t first = 0;                ///< shared memory of SASS: bytes before the kernel's own
  std::vector<std::uint8_t> content{};    ///< bytes of an array in constant memory, if the module gives them
  std::uint64_t padding = 0;  ///< shared memory of SASS: bytes that may lie between static and dynamic memory
};

/// A variable's name without its scope: `_ZN4kern6memoryE` and `_ZZ4gemmPfE6memory` are memory, `.._param_0` is param_0.
[[nodiscard]] std::string short_name(std::string const& name);

}  // namespace swizproof::program
