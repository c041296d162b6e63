// Forms of wmma, as opcodes name them.
#pragma once

#include <swizproof/hardware/wmma.hpp>
#include <swizproof/program/opcode.hpp>

namespace swizproof::ptx {

/// The form of `wmma.load.a.sync.aligned.row.m16n16k16.shared.f16`. Checked by tests/reference/wmma.py.
[[nodiscard]] WmmaForm wmma_form(program::Opcode const& opcode);

}  // namespace swizproof::ptx
