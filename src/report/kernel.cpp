#include "report/kernel.hpp"

#include "report/report.hpp"

#include <swizproof/hardware/collision.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

Json to_json(KernelWorst const& worst) {
  Json out{{"warp", worst.warp}, {"values", Json::object()}, {"lanes", Json::array()}};
  for (auto const& [what, value] : worst.values) out["values"][what] = value;
  for (unsigned l = 0; l < warp_lanes; ++l)
    out["lanes"].push_back(worst.lanes.active[l] ? Json(worst.lanes.address[l]) : Json());
  return out;
}

}  // namespace

std::string_view name(KernelVerdict v) {
  return v == KernelVerdict::proved    ? "proved"
         : v == KernelVerdict::refuted ? "refuted"
         : v == KernelVerdict::data    ? "data"
                                       : "unknown";
}

std::string source_of(KernelAccess const& a) {
  if (a.file.empty()) return fmt::format("PTX {}", a.ptx_line);
  return fmt::format("{}:{}", a.file.substr(a.file.rfind('/') + 1), a.line);
}

nlohmann::ordered_json to_json(KernelAccess const& a) {
  Json out{{"file", text_or_null(a.file)},
           {"line", a.file.empty() ? Json() : Json(a.line)},
           {"ptx_line", a.ptx_line},
           {"op", a.op}};
  if (!a.calls.empty()) out["calls"] = a.calls;
  out["verdict"] = name(a.verdict);
  out["wavefronts"] = a.wavefronts ? Json(*a.wavefronts) : Json();
  out["reached"] = a.reached;
  out["ideal"] = a.instruction ? Json(a.ideal) : Json();
  out["excess"] = a.wavefronts && a.instruction ? Json(excess_over(a.ideal, *a.wavefronts)) : Json();
  out["address"] = text_or_null(a.address);
  out["reason"] = text_or_null(a.reason);
  out["executed"] = a.executed;
  out["counterexample"] = a.worst && a.verdict != KernelVerdict::proved ? to_json(*a.worst) : Json();
  out["aligned"] = a.aligned ? Json(*a.aligned) : Json();
  out["in_bounds"] = a.in_bounds ? Json(*a.in_bounds) : Json();
  return out;
}

nlohmann::ordered_json to_json(KernelReport const& report, std::string const& name, std::string const& file) {
  Json kernel{{"kernel", name},
              {"mangled", report.kernel},
              {"file", file},
              {"block", text_or_null(report.block)},
              {"refused", text_or_null(report.refused)},
              {"accesses", Json::array()}};
  for (KernelAccess const& a : report.accesses) kernel["accesses"].push_back(to_json(a));
  return kernel;
}

std::string lanes_of(KernelAccess const& a, Architecture const& arch, int indent, Style const& style) {
  if (a.verdict != KernelVerdict::refuted || !a.reason.empty() || !a.worst || !a.instruction) return {};
  KernelWorst const& w = *a.worst;
  std::string values;
  for (auto const& [what, value] : w.values)
    values += fmt::format("{}{} = {}", values.empty() ? " if " : ", ", what, value);
  Cost<std::uint32_t> const c = cost(arch, *a.instruction, w.lanes);
  constexpr std::size_t most = 100;  // characters; the JSON document has them all
  std::string const address = a.address.size() <= most ? a.address : a.address.substr(0, most - 3) + "...";
  Collision const worst = fullest(*a.instruction, w.lanes, c);
  if (!a.calls.empty())
    values +=
        fmt::format("; called at PTX line{} {}", a.calls.size() == 1 ? "" : "s", fmt::join(a.calls, ", "));
  if (style.brief()) return describe(worst, indent, style, fmt::format("warp {}{}", w.warp, values));
  return fmt::format("{:{}}warp {}{}; address: {}\n", "", indent, w.warp, values, address) +
         describe(worst, indent, style);
}

std::string failing(KernelAccess const& a) {
  std::string const what = source_of(a) + ": " + a.op;
  std::string const cost = a.wavefronts ? fmt::format(": {}{} wavefronts, {} allowed",
                                                      a.reached ? "" : "at most ", *a.wavefronts, a.allowed)
                                        : "";
  if (a.aligned == false || a.in_bounds == false) return what + ": " + a.reason;
  return what + cost + (a.reason.empty() ? "" : "; " + a.reason);
}

std::vector<FailingAccess> failing_of(KernelReport const& report, bool data) {
  std::vector<FailingAccess> all;
  for (KernelAccess const& a : report.accesses) {
    if (a.verdict == KernelVerdict::proved || (a.verdict == KernelVerdict::data && !data)) continue;
    std::string const text = failing(a);
    auto const same = std::find_if(all.begin(), all.end(), [&](FailingAccess const& f) {
      return f.access->file == a.file && f.text == text;
    });
    if (same == all.end())
      all.push_back({&a, text});
    else
      ++same->instructions;
  }
  return all;
}

std::string describe(FailingAccess const& f, Architecture const& arch, int indent, Style const& style) {
  return fmt::format("{:{}}{}{}\n{}", "", indent, printable(f.text),
                     f.instructions == 1 ? "" : fmt::format(" ({} instructions)", f.instructions),
                     lanes_of(*f.access, arch, indent + 2, style));
}

}  // namespace swizproof
