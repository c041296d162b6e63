// Kernels of a record, each with its question for `flow`.
#pragma once

#include "records/campaigns/recomputation.hpp"

#include "parse/question/flow_question.hpp"

#include <map>
#include <string>

namespace swizproof {

/// A kernel of a record.
struct RecordedKernel {
  std::string ptx{};
  FlowQuestion question{};
};

/// The kernels of a record, by name: `{"reverse": {"ptx": .., "block": "64", "grid": "1", "params": [..], "expect": [..]}}`. Throws as
/// reading JSON does.
[[nodiscard]] std::map<std::string, RecordedKernel> kernels_of(Json const& all);

}  // namespace swizproof
