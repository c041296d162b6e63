#include "canceled_work.hpp"

#include <fmt/format.h>

namespace swizproof::flow_detail {

void CanceledWork::add(First const& cluster, std::vector<First> const& canceled,
                       std::set<Written> const& written, std::set<Written> const& read) {
  if (!canceled.empty()) {
    ways_.push_back({cluster, canceled, {written, read}});
    return;
  }
  Elements& own = own_[cluster];
  own.written.insert(written.begin(), written.end());
  own.read.insert(read.begin(), read.end());
}

CanceledWork::Elements CanceledWork::expected(Way const& way) const {
  Elements out = own_.at(way.cluster);
  for (First const& c : way.canceled) {
    Elements const& other = own_.at(c);
    out.written.insert(other.written.begin(), other.written.end());
    out.read.insert(other.read.begin(), other.read.end());
  }
  return out;
}

bool CanceledWork::compare(FlowKernel const& kernel, std::function<bool(Written const&)> const& is_expected,
                           FlowReport& report) const {
  constexpr std::size_t most_shown = 4;
  std::set<Written> missing;
  for (Way const& way : ways_)
    for (Written const& w : expected(way).written) {
      if (way.elements.written.contains(w) || !is_expected(w) || !missing.insert(w).second) continue;
      ++report.missing;
      if (report.missing_names.size() < most_shown)
        report.missing_names.push_back(kernel.arrays[w.array].element(w.element) +
                                       where_canceled(way.cluster, way.canceled));
    }
  if (report.missing == 0) report.reason = further(kernel);
  return report.reason.empty();
}

std::string CanceledWork::further(FlowKernel const& kernel) const {
  for (Way const& way : ways_) {
    Elements const all = expected(way);
    auto const text = [&](Written const& w, char const* verb) {
      return fmt::format("{} is {}{}, and by no block of these where none is canceled",
                         kernel.arrays[w.array].element(w.element), verb,
                         where_canceled(way.cluster, way.canceled));
    };
    for (Written const& w : way.elements.written)
      if (!all.written.contains(w)) return text(w, "written");
    for (Written const& w : way.elements.read)
      if (!all.read.contains(w) && !all.written.contains(w)) return text(w, "read");
  }
  return {};
}

std::string where_canceled(CanceledWork::First const& cluster,
                           std::vector<CanceledWork::First> const& canceled) {
  if (canceled.empty()) return {};
  std::vector<std::string> blocks;
  for (CanceledWork::First const& c : canceled) blocks.push_back(fmt::format("{}", fmt::join(c, ",")));
  return fmt::format(", where block {} cancels block{} {}", fmt::join(cluster, ","),
                     blocks.size() == 1 ? "" : "s", fmt::join(blocks, " and "));
}

}  // namespace swizproof::flow_detail
