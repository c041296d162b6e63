// Pages that stand alone: a form, the style that all pages share, and the data as JSON inside.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace swizproof {

/// The form with the style in place of {{STYLE}} and the data in place of {{DATA}}.
[[nodiscard]] std::string page_with(std::string_view form, nlohmann::ordered_json const& data);

}  // namespace swizproof
