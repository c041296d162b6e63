// PTX, lowered to the language of the executor (program/program.hpp).
#pragma once

#include <swizproof/ptx/module.hpp>
#include <swizproof/program/program.hpp>

namespace swizproof::ptx {

/// Lowers a function of a module. Never throws: what is not modelled makes its destinations unknown.
[[nodiscard]] Program lower(Module const& module, Function const& function);

}  // namespace swizproof::ptx
