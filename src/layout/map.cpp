#include <swizproof/layout/map.hpp>

#include <cstdio>
#include <map>

namespace swizproof {

LinearMap linear_map(std::span<std::uint64_t const> rows) {
  std::map<int, std::uint64_t> by_distance;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i)
    for (int j = 0; j < 64; ++j)
      if ((rows[static_cast<std::size_t>(i)] >> j & 1) != 0) by_distance[j - i] |= std::uint64_t{1} << i;
  LinearMap map;
  map.cleared = low_bits(static_cast<unsigned>(rows.size()));
  for (auto const& [distance, mask] : by_distance)
    if (distance == 0)
      map.cleared &= ~mask;
    else
      map.moves.push_back({distance, mask});
  return map;
}

Map without_swizzle(Map map) {
  auto& stages = map.on_elements;
  bool const function = stages.size() > 1 && !std::holds_alternative<Layout>(stages.front()) &&
                        !std::holds_alternative<Displacement>(stages.front());
  if (function && !map.acts_on_bytes()) stages.erase(stages.begin());
  map.on_bytes.clear();
  auto const* const offset = stages.empty() ? nullptr : std::get_if<Displacement>(&stages.front());
  if (offset != nullptr && offset->elements == 0) stages.erase(stages.begin());
  return map;
}

std::string to_string(LinearMap const& map) {
  auto const hexadecimal = [](std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };
  std::string text = map.cleared == 0 ? "fn(x) = x" : "fn(x) = (x & ~" + hexadecimal(map.cleared) + ")";
  for (LinearMap::Move const& m : map.moves)
    text += std::string(" ^ ((x ") + (m.distance < 0 ? "<< " : ">> ") + std::to_string(std::abs(m.distance)) +
            ") & " + hexadecimal(m.mask) + ")";
  return text;
}

}  // namespace swizproof
