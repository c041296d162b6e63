#include "race_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof::kernel_detail {

namespace {

constexpr std::size_t most_places = 4'096;  ///< of one access

/// Addresses of copies and mbarriers, and the end of shared memory.
std::set<std::uint64_t> ends_of(std::vector<Mbarrier> const& mbarriers, std::uint64_t end) {
  std::set<std::uint64_t> ends{end};
  for (Mbarrier const& m : mbarriers) {
    ends.insert(m.address);
    for (auto const& [to, access] : m.destinations) ends.insert(to);
  }
  return ends;
}

}  // namespace

bool RingPlaces::add(std::uint32_t access, StagePlace const& place) {
  if (places_[access].size() >= most_places) return false;
  places_[access].insert(place);
  return true;
}

/// Bytes of the copies of tensors: the distances of destinations, if these are what each mbarrier expects.
void RingPlaces::find_boxes(std::vector<Mbarrier> const& mbarriers) {
  std::set<std::uint64_t> const ends = ends_of(mbarriers, end_);
  for (Mbarrier const& m : mbarriers) {
    std::map<std::uint64_t, std::uint64_t> sizes;
    std::uint64_t sum = 0;
    bool tensor = false;
    for (auto const& [to, access] : m.destinations) {
      bool const of_tensor = accesses_[access].tensor;
      tensor = tensor || of_tensor;
      std::uint64_t const bytes = of_tensor ? *ends.upper_bound(to) - to : accesses_[access].bytes;
      if (sizes.emplace(to, bytes).second) sum += bytes;
    }
    if (!tensor || m.expected.size() != 1) continue;
    std::uint64_t const all = *m.expected.begin(), equal = sizes.empty() ? 0 : all / sizes.size();
    bool const fits =
        equal * sizes.size() == all &&
        std::all_of(sizes.begin(), sizes.end(), [&](auto const& s) { return equal <= s.second; });
    if (sum != all && !fits) continue;
    for (auto const& [to, access] : m.destinations) {
      if (!accesses_[access].tensor) continue;
      auto const bytes = static_cast<std::uint32_t>(sum == all ? sizes.at(to) : equal);
      auto const [at, fresh] = boxes_.emplace(access, bytes);
      if (!fresh && at->second != bytes) at->second = 0;  // not one number
    }
  }
}

/// First bytes of an access in all threads, where each is known; else those on the paths.
std::vector<StagePlace> RingPlaces::starts_of(std::uint32_t access) const {
  std::vector<StagePlace> out(places_[access].begin(), places_[access].end());
  if (std::all_of(out.begin(), out.end(), [](StagePlace const& p) { return p.least == p.most; })) return out;
  std::vector<StagePlace> known;
  for (std::uint32_t t = 0; t < threads_of(shapes_); ++t) {
    ThreadNumbers numbers(program_, execution_, shapes_, t, std::nullopt);
    if (numbers.of(execution_.accesses[access].guard) == ThreadNumbers::Number(0)) continue;
    ThreadNumbers::Number const start = numbers.of(execution_.accesses[access].address);
    if (!start) return out;
    known.push_back({*start, *start, 0, 0});
  }
  return known;
}

void RingPlaces::find_stored_boxes(std::vector<Mbarrier> const& mbarriers) {
  std::set<std::uint64_t> ends = ends_of(mbarriers, end_);
  std::map<std::uint32_t, std::vector<StagePlace>> starts;
  for (std::uint32_t a = 0; a < accesses_.size(); ++a)
    if (accesses_[a].tensor && accesses_[a].role == RaceRole::read && !places_[a].empty())
      for (StagePlace const& p : starts[a] = starts_of(a))
        if (p.least == p.most) ends.insert(p.least);
  for (auto const& [access, all] : starts) {
    std::uint64_t least = all.empty() ? 0 : end_;
    for (StagePlace const& p : all)
      least = p.most >= end_ ? 0 : std::min(least, *ends.upper_bound(p.most) - p.most);
    if (least == 0) continue;
    boxes_[access] = static_cast<std::uint32_t>(least);
    std::set<StagePlace> exact;
    for (StagePlace const& p : places_[access])
      for (StagePlace const& start : all)
        if (start.least >= p.least && start.most <= p.most)
          exact.insert({start.least, start.most, p.holds, p.fills});
    places_[access] = std::move(exact);
  }
}

std::vector<std::string> RingPlaces::assumed() const {
  std::map<std::pair<std::uint32_t, bool>, std::set<std::uint32_t>> lines;
  for (auto const& [access, bytes] : boxes_)
    lines[{bytes, accesses_[access].role == RaceRole::read}].insert(program_.accesses[access].line);
  std::vector<std::string> out;
  for (auto const& [box, of] : lines)
    out.push_back(
        box.second
            ? fmt::format("boxes of tensors that are stored have at most {} bytes each, so that they end "
                          "where the next one or a copy begins: PTX lines {}",
                          box.first, fmt::join(of, ", "))
            : fmt::format("boxes of tensors have {} bytes each, so that their mbarriers expect all of "
                          "them: PTX lines {}",
                          box.first, fmt::join(of, ", ")));
  return out;
}

std::uint64_t RingPlaces::bytes_of(std::uint32_t access) const {
  SharedAccess const& s = accesses_[access];
  if (!s.tensor) return s.bytes;
  auto const box = boxes_.find(access);
  return box == boxes_.end() ? 0 : box->second;
}

bool RingPlaces::disjoint(std::uint32_t a, StagePlace const& x, std::uint32_t b, StagePlace const& y) const {
  auto const bytes = [&](std::uint32_t access, StagePlace const& p) {
    auto const& tile = accesses_[access].tile;
    if (accesses_[access].end != 0) return std::pair(p.least, accesses_[access].end);
    if (!tile) return std::pair(p.least, p.most + bytes_of(access));
    std::uint64_t const low = tile->piece() - 1;
    return std::pair(p.least & ~low, ((p.most + tile->extent - 1) | low) + 1);
  };
  if (x.most > end_ || y.most > end_) return false;  // it may be anywhere
  auto const [first, end_of_first] = bytes(a, x);
  auto const [second, end_of_second] = bytes(b, y);
  return end_of_first <= second || end_of_second <= first;
}

bool RingPlaces::apart(std::uint32_t a, std::uint32_t b) const {
  return std::all_of(places_[a].begin(), places_[a].end(), [&](StagePlace const& x) {
    return std::all_of(places_[b].begin(), places_[b].end(),
                       [&](StagePlace const& y) { return disjoint(a, x, b, y); });
  });
}

}  // namespace swizproof::kernel_detail
