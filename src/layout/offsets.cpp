// Values of maps as numbers: one, and all of a layout or a map at once.
#include <swizproof/layout/map.hpp>

namespace swizproof {

template std::uint32_t Expression::operator()(std::span<std::uint32_t const>, std::uint32_t const&) const;
template std::uint64_t Expression::operator()(std::span<std::uint64_t const>, std::uint64_t const&) const;
template std::uint64_t value<std::uint64_t>(std::span<Stage const>, std::uint64_t);

std::vector<std::uint64_t> Layout::offsets() const {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()), 0);
  std::size_t block = 1;
  shape.for_each_leaf(stride, [&](std::int64_t extent, std::int64_t step) {
    std::size_t const end = block * static_cast<std::size_t>(extent);
    for (std::size_t i = block; i < end; ++i) all[i] = all[i - block] + static_cast<std::uint64_t>(step);
    block = end;
  });
  return all;
}

void values_in_place(std::span<Stage const> stages, std::span<std::uint64_t> numbers) {
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage)
    for (std::uint64_t& x : numbers) x = value(std::span(&*stage, 1), x);
}

std::vector<std::uint64_t> offsets(Map const& map) {
  std::vector<std::uint64_t> all = map.domain()->offsets();
  values_in_place(std::span(map.on_elements).first(map.on_elements.size() - 1), all);
  return all;
}

}  // namespace swizproof
