// Values of terms on memories that are drawn: two that differ on one of them are not one value for all data.
#pragma once

#include "race_values.hpp"

namespace swizproof::kernel_detail {

/// True if two terms of one byte are known to be different numbers on one of a few memories. Memory holds numbers of f32 between 1 and 2 in its words, or any bits.
/// A term with an instruction that float_result() does not compute, or with a sum that ptxas may fuse with a product, is not known.
/// Checked by KernelRaces.ValuesThatDifferOnSomeMemoryAreALostStore.
[[nodiscard]] bool differ_on_a_memory(ValueTerms const& terms, ValueTerms::Term a, ValueTerms::Term b);

}  // namespace swizproof::kernel_detail
