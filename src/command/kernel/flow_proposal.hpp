// Answer of `flow` to a question without a block or parameters: the parameters that the kernel reads, and a command line.
#pragma once

#include "command/line/command.hpp"

#include "parse/question/flow_question.hpp"

#include <string>

namespace swizproof::command {

/// Takes block and grid of a traced launch into a question that has none. Throws InputError if the trace has no such kernel.
void take_launch(FlowQuestion& question, ptx::Module const& module, std::string const& trace);

/// True if a question has no block, or a kernel with parameters and not one value.
[[nodiscard]] bool needs_proposal(FlowQuestion const& question, ptx::Module const& module);

/// Prints the chosen kernels, their parameters, and a command line for each.
void print_proposals(Common const& common, FlowQuestion const& question, ptx::Module const& module,
                     std::string const& file);

}  // namespace swizproof::command
