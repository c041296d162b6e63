// Constant expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace swizproof::ptx {

/// The value of a constant expression of integers, in 64 bits; nothing if the text is none, or divides by 0. `constant_of("(1 + 1) << 3")` is
/// 16. [PTX ISA 9.1, 4.5.4 to 4.5.6] Checked by PtxExpression.* in tests/unit/ptx/expression_test.cpp.
[[nodiscard]] std::optional<std::uint64_t> constant_of(std::string_view text);

}  // namespace swizproof::ptx
