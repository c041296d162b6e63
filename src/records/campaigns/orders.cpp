// Small kernels with delays (gpu/flow_orders): those with wrong elements in some launch are refuted, and no right one has any.
#include "records/campaigns/flow_kernels.hpp"

#include <swizproof/flow/flow.hpp>
#include <swizproof/ptx/module.hpp>

#include <fmt/format.h>

namespace swizproof {

namespace {

FlowVerdict answer(RecordedKernel const& kernel) {
  constexpr std::uint64_t most_steps = 100'000;
  if (kernel.question.grid != "1") malformed("a kernel of campaign 'orders' has one block");
  ptx::Module const module = ptx::read_module(kernel.ptx, "the record");
  FlowPlan plan = plan_flow(module, kernel.question, "the record");
  plan.launch.most_steps = most_steps;
  return trace_flow(module, module.functions[plan.function], plan.launch, plan.expectations).verdict;
}

}  // namespace

void check_orders(Recomputation& r) {
  if (r.evidence.shards != 1) malformed("campaign 'orders' has no shards");
  std::map<std::string, RecordedKernel> const kernels = kernels_of(r.rows.at("kernels"));
  Json const& runs = r.list_of_rows("runs");
  r.check_units(runs.size());
  std::set<std::string> seen;
  std::uint64_t wrong = 0, shown = 0, launches = 0, bad = 0;
  for (Json const& row : runs) {
    // [name, is right, launches, wrong elements of the worst, the line that was delayed, the warp]
    auto const name = with_members(row, 6).at(0).get<std::string>();
    auto const kernel = kernels.find(name);
    if (kernel == kernels.end()) malformed("a run is of no kernel of the record");
    r.row(name, seen);
    bool const is_right = row.at(1).get<bool>();
    auto const elements = integer<std::uint64_t>(row.at(3));
    launches += integer<std::uint64_t>(row.at(2));
    wrong += is_right ? 0 : 1;
    shown += !is_right && elements != 0 ? 1 : 0;
    bad += is_right && elements != 0 ? 1 : 0;
    FlowVerdict const verdict = answer(kernel->second);
    r.equal(name + ", proved", is_right, verdict == FlowVerdict::proved);
    r.equal(name + ", refuted", !is_right, verdict == FlowVerdict::refuted);
    r.equal(name + ", a delayed line where elements are wrong", !row.at(4).is_null() || !row.at(5).is_null(),
            elements != 0);
  }
  for (auto const& [name, kernel] : kernels) r.equal(name + ", a row", seen.count(name), std::size_t{1});
  r.equal("launches", r.counts.count("launches"), launches);
  r.equal("wrong kernels", r.counts.count("wrong"), wrong);
  r.equal("wrong kernels with wrong elements", r.counts.count("seen"), shown);
  r.equal("right kernels with wrong elements", r.counts.count("mismatches"), bad);
  r.equal<std::uint64_t>("mismatches", bad, 0);
  (void)r.longest.measured("seconds");
  r.evidence.scope = fmt::format(
      "{} launches of {} kernels with delays; {} of {} wrong ones had wrong elements, no right one had any",
      launches, runs.size(), shown, wrong);
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
