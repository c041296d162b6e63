// Names of CUTLASS's atoms of SM100 and SM120, as PTX names the instruction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// The template arguments of a name, without spaces and namespaces: `float_e2m1_t`, `16`. Empty where it has none.
[[nodiscard]] std::vector<std::string> template_arguments(std::string_view name);

/// `SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 16>` as `mma.m16n8k64.kind::mxf4nvf4...`; empty for
/// names that do not begin as such an atom does. Throws InputError for those that no register holds, and for template arguments
/// that the atom does not have.
[[nodiscard]] std::string ptx_of_blackwell_atom(std::string_view name);

}  // namespace swizproof
