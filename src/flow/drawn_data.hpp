// Data for a launch in which they decide: numbers with which it is refuted.
#pragma once

#include "kernel.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace swizproof::flow_detail {

/// The report of a launch that is refuted with numbers, which are drawn for its arrays and symbolic numbers; those that it is refuted without are given
/// up. Numbers are near 0 and near constants that the kernel compares with. `arrays`: of arrays alone. `reason`: of the undecided answer; if an address
/// depends on data, an access outside of its array is no refutation, since the caller has to give an index that fits. `spent`: instructions of that answer. Nothing if no
/// draw is refuted. Checked by tests/reference/flow_any_data.py.
[[nodiscard]] std::optional<FlowReport> refuting_data(
    FlowKernel const& kernel, bool arrays, std::string const& reason, std::uint64_t spent,
    std::function<FlowReport(FlowLaunch const&)> const& run);

}  // namespace swizproof::flow_detail
