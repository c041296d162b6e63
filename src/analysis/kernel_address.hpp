// An address of a kernel as a person reads it: `memory + (tid.x << 2)`.
#pragma once

#include <swizproof/ptx/execution.hpp>

#include <cstdint>
#include <string>

namespace swizproof::kernel_detail {

/// A term as C would write it, cut after 240 characters.
[[nodiscard]] std::string text_of_term(ptx::Program const& program, ptx::Execution const& execution,
                                       std::uint32_t id);

}  // namespace swizproof::kernel_detail
