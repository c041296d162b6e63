#include "report/flow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

Json flow_lines(std::vector<FlowLine> const& lines) {
  Json out = Json::array();
  for (FlowLine const& l : lines)
    out.push_back({{"ptx_line", l.ptx_line},
                   {"op", l.op},
                   {"file", l.source.file.empty() ? Json() : Json(l.source.file)},
                   {"line", l.source.file.empty() ? Json() : Json(l.source.line)}});
  return out;
}

std::string line_text(FlowLine const& l, int indent) {
  std::string const source =
      l.source.file.empty()
          ? ""
          : fmt::format("  {}:{}", l.source.file.substr(l.source.file.rfind('/') + 1), l.source.line);
  return fmt::format("{:{}}PTX line {:<6} {}{}\n", "", indent, l.ptx_line, l.op, source);
}

std::string wrong_text(FlowWrong const& w, int indent) {
  std::string text =
      fmt::format("{:{}}{} is wrong, in block {}: {} term{} expected, {} found\n", "", indent, w.element,
                  three_text(w.block), w.expected_terms, w.expected_terms == 1 ? "" : "s", w.found_terms);
  if (!w.missing.empty())
    text += fmt::format("{:{}}  missing: {}\n", "", indent, fmt::join(w.missing, " + "));
  if (!w.extra.empty()) text += fmt::format("{:{}}  found:   {}\n", "", indent, fmt::join(w.extra, " + "));
  text += fmt::format("{:{}}moved by\n", "", indent);
  for (FlowLine const& l : w.lines) text += line_text(l, indent + 2);
  return text;
}

std::string names_text(std::uint64_t count, std::vector<std::string> const& names) {
  std::string const more = count > names.size() ? fmt::format(" and {} more", count - names.size()) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

}  // namespace

std::string_view name(FlowVerdict verdict) {
  return verdict == FlowVerdict::proved ? "proved" : verdict == FlowVerdict::refuted ? "refuted" : "unknown";
}

std::string three_text(std::array<std::uint32_t, 3> const& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

Json to_json(FlowReport const& r, std::string const& kernel, FlowLaunch const& launch,
             std::vector<std::string> const& expectations) {
  Json out{{"verdict", name(r.verdict)},
           {"kernel", kernel},
           {"block", launch.block},
           {"grid", launch.grid},
           {"blocks", r.blocks},
           {"only_blocks", launch.blocks},
           {"expect", expectations},
           {"elements", r.elements},
           {"right", r.right},
           {"wrong", r.wrong},
           {"missing", r.missing},
           {"unexpected", r.unexpected},
           {"missing_names", r.missing_names},
           {"unexpected_names", r.unexpected_names},
           {"values", r.values},
           {"instructions", r.steps},
           {"first_wrong", nullptr},
           {"fault", nullptr},
           {"reason", r.reason.empty() ? Json() : Json(r.reason)},
           {"at", r.at ? flow_lines({*r.at})[0] : Json()}};
  if (r.first)
    out["first_wrong"] = {{"element", r.first->element},
                          {"block", r.first->block},
                          {"expected_terms", r.first->expected_terms},
                          {"found_terms", r.first->found_terms},
                          {"missing", r.first->missing},
                          {"extra", r.first->extra},
                          {"lines", flow_lines(r.first->lines)}};
  if (r.fault)
    out["fault"] = {
        {"text", r.fault->text}, {"block", r.fault->block}, {"lines", flow_lines(r.fault->lines)}};
  return out;
}

std::string describe(FlowReport const& r, int indent) {
  std::string text;
  if (r.fault) {
    text += fmt::format("{:{}}block {}: {}\n", "", indent, three_text(r.fault->block), r.fault->text);
    for (FlowLine const& l : r.fault->lines) text += line_text(l, indent + 2);
  }
  if (!r.reason.empty()) {
    text += fmt::format("{:{}}not decided: {}\n", "", indent, printable(r.reason));
    if (r.at) text += line_text(*r.at, indent + 2);
  }
  if (r.first) text += wrong_text(*r.first, indent);
  if (r.missing != 0)
    text += fmt::format("{:{}}not written: {}\n", "", indent, names_text(r.missing, r.missing_names));
  if (r.unexpected != 0)
    text += fmt::format("{:{}}written and not expected: {}\n", "", indent,
                        names_text(r.unexpected, r.unexpected_names));
  return text;
}

FlowLine const* first_line(FlowReport const& r) {
  if (r.fault && !r.fault->lines.empty()) return &r.fault->lines[0];
  if (r.first && !r.first->lines.empty()) return &r.first->lines[0];
  return r.at ? &*r.at : nullptr;
}

}  // namespace swizproof
