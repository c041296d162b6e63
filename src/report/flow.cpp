#include "report/flow.hpp"

#include "report/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

Json flow_lines(std::vector<FlowLine> const& lines) {
  Json out = Json::array();
  for (FlowLine const& l : lines) {
    out.push_back({{"ptx_line", l.ptx_line},
                   {"op", l.op},
                   {"file", l.source.file.empty() ? Json() : Json(l.source.file)},
                   {"line", l.source.file.empty() ? Json() : Json(l.source.line)}});
    if (!l.inlined_at.empty()) out.back()["inlined_at"] = to_json(l.inlined_at);
  }
  return out;
}

Json access_json(std::optional<FlowAccess> const& a) {
  if (!a) return {};
  return {{"by", a->by},
          {"execution", a->line.execution == 0 ? Json() : Json(a->line.execution)},
          {"at", flow_lines({a->line})[0]}};
}

Json fault_json(FlowFault const& f) {
  return {{"kind", name_of(f.kind)},
          {"text", f.text},
          {"block", f.block},
          {"lines", flow_lines(f.lines)},
          {"first", access_json(f.first)},
          {"second", access_json(f.second)},
          {"rule", f.rule.empty() ? Json() : Json(f.rule)},
          {"fix", f.fix.empty() ? Json() : Json(f.fix)},
          {"why", f.why.empty() ? Json() : Json(f.why)}};
}

/// `1st`, `2nd`, `3rd`, `11th`.
std::string ordinal(std::uint32_t n) {
  std::uint32_t const tens = n / 10 % 10, ones = n % 10;
  return fmt::format("{}{}", n,
                     tens == 1 || ones == 0 || ones > 3 ? "th"
                     : ones == 1                        ? "st"
                     : ones == 2                        ? "nd"
                                                        : "rd");
}

std::string line_text(FlowLine const& l, int indent, std::string const& more = "") {
  std::string const source = l.source.file.empty() ? "" : "  " + source_of(l.source, l.inlined_at);
  std::string const execution = l.execution == 0 ? "" : fmt::format("  {} execution", ordinal(l.execution));
  return fmt::format("{:{}}PTX line {:<6} {}{}{}{}\n", "", indent, l.ptx_line, l.op, source, execution, more);
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

std::string_view refuted_by(FlowReport const& r) {
  if (r.verdict != FlowVerdict::refuted) return {};
  if (r.fault) return name_of(r.fault->kind);
  return r.wrong != 0 ? "wrong element" : r.missing != 0 ? "element not written" : "element not expected";
}

std::string domain_text(FlowReport const& r, FlowLaunch const& launch) {
  auto const& grid = launch.grid;
  std::vector<std::string> given;
  for (auto const& [key, value] : launch.params)
    if (auto const* const a = std::get_if<FlowArray>(&value); a != nullptr && !a->values.empty())
      given.push_back(a->name);
  std::string out =
      fmt::format("of this launch, {} of its {} blocks, for all data{} and ", r.blocks,
                  std::uint64_t{grid[0]} * grid[1] * grid[2],
                  given.empty() ? "" : fmt::format(" but the given {}", fmt::join(given, ", ")));
  if (r.ways > 1)
    out += fmt::format("each of the {} ways that {} choose, and ", r.ways,
                       r.cancels ? "they or requests to cancel clusters" : "they");
  out += r.left_out.empty() ? "every order of the warps"
                            : fmt::format("every order of the warps as far as checked; not checked: {}",
                                          fmt::join(r.left_out, "; "));
  if (!r.assumed.empty()) out += fmt::format("; assumed: {}", fmt::join(r.assumed, "; "));
  return out;
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
           {"cluster", launch.cluster[0] == 0 ? Json() : Json(launch.cluster)},
           {"blocks", r.blocks},
           {"only_blocks", launch.blocks},
           {"expect", expectations},
           {"kind", refuted_by(r).empty() ? Json() : Json(refuted_by(r))},
           {"domain", r.verdict == FlowVerdict::proved ? Json(domain_text(r, launch)) : Json()},
           {"not_checked", r.left_out},
           {"assumed", r.assumed},
           {"elements", r.elements},
           {"right", r.right},
           {"wrong", r.wrong},
           {"missing", r.missing},
           {"unexpected", r.unexpected},
           {"missing_names", r.missing_names},
           {"unexpected_names", r.unexpected_names},
           {"values", r.values},
           {"instructions", r.steps},
           {"ways", r.ways},
           {"data", r.data},
           {"hints", r.hints},
           {"first_wrong", nullptr},
           {"fault", nullptr},
           {"reason", r.reason.empty() ? Json() : Json(r.reason)},
           {"at", r.at ? flow_lines({*r.at})[0] : Json()}};
  if (r.first && r.verdict != FlowVerdict::unknown)
    out["first_wrong"] = {{"element", r.first->element},
                          {"block", r.first->block},
                          {"expected_terms", r.first->expected_terms},
                          {"found_terms", r.first->found_terms},
                          {"missing", r.first->missing},
                          {"extra", r.first->extra},
                          {"lines", flow_lines(r.first->lines)}};
  if (r.fault) out["fault"] = fault_json(*r.fault);
  for (FlowRepair const& repair : r.repairs) {
    out["repairs"].push_back(flow_lines({repair.line})[0]);
    out["repairs"].back()["edit"] = repair.edit;
  }
  if (launch.spare) out["spare"] = flow_lines(r.spare);
  return out;
}

std::string describe(FlowReport const& r, int indent) {
  std::string text;
  for (std::string const& one : r.data) text += fmt::format("{:{}}with --param '{}'\n", "", indent, one);
  if (r.fault) {
    text += fmt::format("{:{}}block {}: {}\n", "", indent, three_text(r.fault->block), r.fault->text);
    // Executions are named where one of the two is not the first.
    bool const again = std::any_of(r.fault->lines.begin(), r.fault->lines.end(),
                                   [](FlowLine const& l) { return l.execution > 1; });
    for (FlowLine l : r.fault->lines) {
      if (!again) l.execution = 0;
      text += line_text(l, indent + 2);
    }
    if (!r.fault->fix.empty()) text += fmt::format("{:{}}  fix: {}\n", "", indent, r.fault->fix);
    if (!r.fault->why.empty()) text += fmt::format("{:{}}  why: {}\n", "", indent, r.fault->why);
    if (!r.fault->rule.empty()) text += fmt::format("{:{}}  rule: {}\n", "", indent, r.fault->rule);
  }
  if (!r.reason.empty()) {
    text += fmt::format("{:{}}not decided: {}\n", "", indent, printable(r.reason));
    if (r.at) text += line_text(*r.at, indent + 2);
  }
  // An undecided launch may write more than was followed.
  bool const decided = r.verdict != FlowVerdict::unknown;
  if (r.first && decided) text += wrong_text(*r.first, indent);
  for (std::string const& hint : r.hints) text += fmt::format("{:{}}hint: {}\n", "", indent, hint);
  if (r.missing != 0 && decided)
    text += fmt::format("{:{}}not written: {}\n", "", indent, names_text(r.missing, r.missing_names));
  if (r.undecided != 0 && decided)
    text += fmt::format("{:{}}written and not decided: {}\n", "", indent,
                        names_text(r.undecided, r.undecided_names));
  if (r.unexpected != 0 && decided)
    text += fmt::format("{:{}}written and not expected: {}\n", "", indent,
                        names_text(r.unexpected, r.unexpected_names)) +
            fmt::format("{:{}}  another --expect, a range or an 'if' covers them: swizproof language flow\n",
                        "", indent);
  if (!r.repairs.empty()) text += fmt::format("{:{}}proved with one instruction changed\n", "", indent);
  for (FlowRepair const& repair : r.repairs) text += line_text(repair.line, indent + 2, "  " + repair.edit);
  return text;
}

std::string spare_text(FlowReport const& r, int indent) {
  if (r.spare.empty()) return fmt::format("{:{}}no barrier, fence or wait can be removed\n", "", indent);
  std::string text = fmt::format("{:{}}can be removed, one at a time\n", "", indent);
  for (FlowLine const& l : r.spare) text += line_text(l, indent + 2);
  return text;
}

FlowLine const* first_line(FlowReport const& r) {
  if (r.fault && !r.fault->lines.empty()) return &r.fault->lines[0];
  if (r.first && !r.first->lines.empty()) return &r.first->lines[0];
  return r.at ? &*r.at : nullptr;
}

}  // namespace swizproof
