// A dump of one kernel, executed by one warp of 32 lanes.
#pragma once

#include "sass_case.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/execution/warp.hpp>
#include <swizproof/sass/lower.hpp>

#include <optional>
#include <string>
#include <utility>

namespace swizproof::sass {

/// The values that its instructions compute. A program that is refused has no warp.
struct ExecutedDump {
  explicit ExecutedDump(std::string const& text) : ExecutedDump(read_module(text, "a.sass")) {}
  explicit ExecutedDump(Module in) : module(std::move(in)), lowered(lower(module, module.functions.at(0))) {
    if (!lowered.program.refused.empty()) return;
    flow = program::flow_of(lowered.program);
    execution::execute(lowered.program, flow, execution);
    launch.block = {32, 1, 1};
    warp.emplace(lowered.program, flow, execution, launch, 0);
  }
  ExecutedDump(ExecutedDump const&) = delete;
  ExecutedDump& operator=(ExecutedDump const&) = delete;

  Module module;
  Lowered lowered;
  program::Flow flow{};
  execution::Execution execution{};
  execution::Launch launch{};
  std::optional<execution::Warp> warp{};  ///< it refers to the members above
};

}  // namespace swizproof::sass
