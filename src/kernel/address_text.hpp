// An address of a kernel as a person reads it: `memory + (tid.x << 2)`.
#pragma once

#include <swizproof/execution/terms.hpp>

#include <cstdint>
#include <string>

namespace swizproof::kernel_detail {

/// A term as C would write it, cut after 240 characters.
[[nodiscard]] std::string text_of_term(program::Program const& program, execution::Execution const& execution,
                                       std::uint32_t id);

using program::short_name;

}  // namespace swizproof::kernel_detail
