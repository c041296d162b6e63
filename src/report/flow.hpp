// How a launch with names of data looks: JSON and text.
#pragma once

#include "report/report.hpp"

#include <swizproof/flow/flow.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace swizproof {

/// `proved`, `refuted` or `unknown`.
[[nodiscard]] std::string_view name(FlowVerdict verdict);

/// Kind of a refutation: that of the fault, or `wrong element`, `element not written`, `element not expected`; empty of another verdict.
[[nodiscard]] std::string_view refuted_by(FlowReport const& report);

/// Domain of a verdict: launch, blocks, data, orders; what was not checked, and what is assumed.
[[nodiscard]] std::string domain_text(FlowReport const& report, FlowLaunch const& launch);

/// `8,8,1`
[[nodiscard]] std::string three_text(std::array<std::uint32_t, 3> const& numbers);

/// The keys of `flow` for a launch and its expectations.
[[nodiscard]] nlohmann::ordered_json to_json(FlowReport const& report, std::string const& kernel,
                                             FlowLaunch const& launch,
                                             std::vector<std::string> const& expectations);

/// Reasons of an answer that is not proved: the first wrong element or the fault, with the instructions; elements that are not written or not expected.
/// Lines indented by `indent`; nothing of a proved one. Checked by tests/golden/flow.txt.
[[nodiscard]] std::string describe(FlowReport const& report, int indent);

/// Barriers, fences and waits that a proved launch can do without.
[[nodiscard]] std::string spare_text(FlowReport const& report, int indent);

/// The instruction to look at first, if the answer names one.
[[nodiscard]] FlowLine const* first_line(FlowReport const& report);

}  // namespace swizproof
