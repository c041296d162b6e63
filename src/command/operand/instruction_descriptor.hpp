// An instruction descriptor of tcgen05.mma, field by field.
#pragma once

#include "command/line/command.hpp"

#include <string>

namespace swizproof::command {

/// `swizproof descriptor NUMBER --kind KIND`. Empty: no M and N, or no types, are given to compare with.
struct InstructionArguments {
  std::string number, kind, shape, types;
};
/// Prints the fields, and the first rule that they break. Throws InputError.
void run_instruction_descriptor(Common& common, InstructionArguments const& options);

}  // namespace swizproof::command
