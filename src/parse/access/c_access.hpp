// ACCESS as CUDA C++ writes it: `x = a[threadIdx.x / 4][8 * (threadIdx.x % 4) + i] for i in 0..7`.
#pragma once

#include <swizproof/parse/parse.hpp>

#include <string_view>

namespace swizproof {

/// True if the text has a subscript of that name, or an address made of it: `a[i]`, `&a[i]`, `(a)`.
[[nodiscard]] bool names_array(std::string_view text, std::string_view name);

/// One load or store of an element, or of a vector through a cast: a coordinate of the array for each lane. The element and the cast
/// choose the width, the assignment chooses load or store; an instruction may precede. Loops of C and of the ACCESS language are
/// variables. Throws InputError. Precondition: options.array, and names_array().
[[nodiscard]] Access parse_c_access(std::string_view text, AccessOptions const& options);

}  // namespace swizproof
