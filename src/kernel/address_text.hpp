// An address of a kernel as a person reads it: `memory + (tid.x << 2)`.
#pragma once

#include <swizproof/execution/terms.hpp>

#include <cstdint>
#include <string>

namespace swizproof::kernel_detail {

/// A term as C would write it, cut after 240 characters.
[[nodiscard]] std::string text_of_term(program::Program const& program, execution::Execution const& execution,
                                       std::uint32_t id);

/// A variable's name without its scope: `_ZN4kern6memoryE` and `_ZZ4gemmPfE6memory` are memory, `.._param_0` is param_0.
[[nodiscard]] std::string short_name(std::string const& name);

}  // namespace swizproof::kernel_detail
