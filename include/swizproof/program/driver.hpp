// Functions of the driver that kernels call.
#pragma once

#include <string_view>

namespace swizproof::program {

/// True for functions that neither get nor return an address of shared memory: vprintf, __assertfail, malloc, free.
[[nodiscard]] constexpr bool is_harmless(std::string_view function) {
  return function == "vprintf" || function == "__assertfail" || function == "malloc" || function == "free";
}

}  // namespace swizproof::program
