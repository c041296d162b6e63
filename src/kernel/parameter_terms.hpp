// Parameters of a kernel in its terms.
#pragma once

#include <cstdint>
#include <optional>

namespace swizproof::kernel_detail {

struct ExecutedKernel;

/// The parameter whose low bits (those of the mask `low`) are the low bits of a term, if all values of these bits occur: `n`,
/// `n & 1023`, `n + 4`.
[[nodiscard]] std::optional<std::uint32_t> free_parameter(ExecutedKernel const& kernel, std::uint32_t term,
                                                          std::uint64_t low);

/// The parameter that a term is, if its value is not given.
[[nodiscard]] std::optional<std::uint32_t> parameter_at(ExecutedKernel const& kernel, std::uint32_t term);

}  // namespace swizproof::kernel_detail
