// Launches of kernels, right and wrong ones, on drawn integers (gpu/flow_record): is each element that the device wrote what the names of
// data say, and are those wrong that are predicted?
#include "records/campaigns/flow_kernels.hpp"

#include "parse/question/expectation.hpp"

#include <swizproof/core/splitmix.hpp>
#include <swizproof/flow/flow.hpp>
#include <swizproof/ptx/module.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace swizproof {

namespace {

constexpr std::size_t first_wrong = 4;

/// Elements of a launch with their values, as a record has them: a count and a checksum.
struct Hashed {
  std::uint64_t count = 0, sum = 0;
  void add(std::uint64_t array, std::uint64_t element, double value) {
    std::uint64_t bits = 0;
    double const plain = value + 0.0;  // no -0
    std::memcpy(&bits, &plain, sizeof bits);
    ++count, sum += splitmix64(splitmix64(element | array << 32) ^ bits);
  }
};

/// The PTX with the edit of a row [kernel, place, text, replacement, what is wrong, ..].
std::string edited(std::string text, Json const& row) {
  auto const at = integer<std::size_t>(row.at(1));
  auto const old = row.at(2).get<std::string>();
  if (at > text.size() || (old.empty() && at != 0) || text.compare(at, old.size(), old) != 0)
    malformed("the text of an edit does not stand where it says");
  return text.replace(at, old.size(), row.at(3).get<std::string>());
}

/// Value of an element before the launch: -4 to 4, without a sign 0 to 8; of one that has an expectation 1024 more.
double drawn(std::uint64_t start, FlowArray const& a, bool target, std::uint64_t element) {
  std::uint64_t const x = (splitmix64(element | start) >> 32) % 9;
  return static_cast<double>(x) - (a.type[0] == 'u' ? 0 : 4) + (target ? 1024 : 0);
}

/// Number of each array in the order of the parameters.
std::map<std::string, std::uint64_t> arrays_of(FlowQuestion const& question) {
  std::map<std::string, std::uint64_t> numbers;
  for (std::string const& text : question.params) {
    auto const param = parse_flow_param(text);
    auto const* const array = std::get_if<FlowArray>(&param.second);
    if (array == nullptr || array->extents.empty()) malformed("a parameter of a launch is no array");
    if (!array->values.empty()) malformed("a launch has numbers of its own, and a parameter gives some");
    numbers.emplace(array->name, numbers.size());
  }
  return numbers;
}

/// The launch of a row with names of data, and the numbers that they are for seed and number of the launch.
FlowReport executed(RecordedKernel const& kernel, Json const& row, std::uint64_t seed, std::uint64_t launch) {
  constexpr std::uint64_t most_blocks = 1 << 12, most_steps = 100'000;
  ptx::Module const module = ptx::read_module(edited(kernel.ptx, row), "the record");
  FlowPlan plan = plan_flow(module, kernel.question, "the record");
  auto const& grid = plan.launch.grid;
  if (grid[0] > most_blocks || grid[1] > most_blocks || grid[2] > most_blocks ||
      std::uint64_t{grid[0]} * grid[1] * grid[2] > most_blocks)
    malformed("a launch has more than 4096 blocks");
  plan.launch.most_steps = most_steps;
  plan.launch.proxy = FlowProxy::
      write;  // values are compared here, and the bytes of one kernel have an mbarrier without a fence
  struct Drawn {
    std::uint64_t start = 0;
    bool target = false;
  };
  std::map<std::string, Drawn> arrays;
  for (auto const& [name, number] : arrays_of(kernel.question))
    arrays[name] = {seed << 48 | launch << 40 | number << 32, false};
  for (FlowExpectation const& e : plan.expectations) arrays[e.target.array].target = true;
  std::map<FlowArray const*, decltype(arrays)::const_iterator> known;
  plan.launch.data = [&](FlowArray const& a, std::uint64_t element) {
    auto const at = known.try_emplace(&a, arrays.end()).first;
    if (at->second == arrays.end() || at->second->first != a.name) at->second = arrays.find(a.name);
    if (at->second == arrays.end()) malformed("an array of a launch has no parameter");
    return drawn(at->second->second.start, a, at->second->second.target, element);
  };
  return trace_flow(module, module.functions[plan.function], plan.launch, plan.expectations);
}

/// Checks a row of a launch: [.., number, changed, their checksum, wrong, their checksum, [[array, element, value], ..]]. Returns its elements.
std::uint64_t check_launch(Recomputation& r, std::string const& name, Json const& row,
                           RecordedKernel const& kernel) {
  std::map<std::string, std::uint64_t> const numbers = arrays_of(kernel.question);
  FlowReport const report = executed(kernel, row, r.evidence.seed, integer<std::uint64_t>(row.at(5)));
  r.equal<std::string>(name + ", executed to its end", report.fault ? report.fault->text : report.reason, "");
  std::vector<std::tuple<std::uint64_t, std::uint64_t, FlowNumber const*>> sorted;
  sorted.reserve(report.numbers.size());
  for (FlowNumber const& n : report.numbers) sorted.emplace_back(numbers.at(n.array), n.element, &n);
  std::sort(sorted.begin(), sorted.end());
  Hashed changed, wrong;
  Json first = Json::array();
  for (auto const& [array, element, number] : sorted) {
    FlowNumber const& n = *number;
    if (n.changed) changed.add(array, n.element, n.found);
    if (!n.expected || *n.expected == n.found) continue;
    wrong.add(array, n.element, n.found);
    if (first.size() < first_wrong) first.push_back({n.array, n.element, n.found});
  }
  r.equal(name + ", elements that it changes", integer<std::uint64_t>(row.at(6)), changed.count);
  r.equal<std::string>(name + ", their values", row.at(7), fmt::format("{:016x}", changed.sum));
  r.equal(name + ", elements that are wrong", integer<std::uint64_t>(row.at(8)), wrong.count);
  r.equal<std::string>(name + ", their values", row.at(9), fmt::format("{:016x}", wrong.sum));
  r.equal(name + ", the first of them", row.at(10), first);
  return report.elements;
}

}  // namespace

void check_flow(Recomputation& r) {
  if (r.evidence.shards != 1) malformed("campaign 'flow' has no shards");
  std::map<std::string, RecordedKernel> const kernels = kernels_of(r.rows.at("kernels"));
  Json const& launches = r.list_of_rows("launches");
  Json const& not_launched = r.list_of_rows("not_launched");
  r.check_units(launches.size());
  std::set<std::string> seen;
  auto const kernel_of = [&](Json const& row, std::size_t size) -> RecordedKernel const& {
    auto const found = kernels.find(with_members(row, size).at(0).get<std::string>());
    if (found == kernels.end()) malformed("a launch is of no kernel of the record");
    r.row(found->first + ", " + row.at(4).get<std::string>(), seen);
    return found->second;
  };
  std::uint64_t elements = 0, wrong = 0, right = 0;
  for (Json const& row : launches) {
    RecordedKernel const& kernel = kernel_of(row, 11);
    elements += check_launch(r, r.evidence.rows.back(), row, kernel);
    wrong += integer<std::uint64_t>(row.at(8));
    right += integer<std::uint64_t>(row.at(8)) == 0;
  }
  for (Json const& row : not_launched) {
    RecordedKernel const& kernel = kernel_of(row, 5);
    r.equal(r.evidence.rows.back() + ", has a fault", executed(kernel, row, 0, 0).fault.has_value(), true);
  }
  r.equal("elements", r.counts.count("elements"), elements);
  r.equal("elements that are wrong", r.counts.count("wrong"), wrong);
  r.equal<std::uint64_t>("launches that were not made", r.counts.count("not_launched"), not_launched.size());
  (void)r.longest.measured("seconds");
  r.evidence.scope = fmt::format(
      "{} launches of {} kernels, {} of them right; {} of {} elements wrong; {} with a race or another fault "
      "not "
      "made",
      launches.size(), kernels.size(), right, wrong, elements, not_launched.size());
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
