#include <swizproof/analysis/tile.hpp>

#include <swizproof/layout/algebra.hpp>

#include <algorithm>

namespace swizproof {

HolderCount count_holders(HeldTile const& tile) {
  constexpr std::uint64_t most_counted = std::uint64_t{1} << 26;
  std::uint64_t const threads = tile.threads(), values = tile.values();
  if (threads * values > most_counted) return {{Unknown{"more than 2^26 pairs of a thread and a value"}, {}}};
  std::vector<std::uint32_t> holders(tile.size());
  HolderCount found;
  found.answer.engines = {Engine::exhaustive};
  for (std::uint64_t thread = 0; thread < threads; ++thread)
    for (std::uint64_t value = 0; value < values; ++value) {
      std::uint64_t const element = tile.at(thread, value);
      if (element < tile.size())
        ++holders[element];
      else if (!found.outside)
        found.outside = {thread, value};
    }
  auto const [least, most] = std::minmax_element(holders.begin(), holders.end());
  found.least = *least, found.most = *most;
  found.missing = static_cast<std::uint64_t>(least - holders.begin());
  if (found.outside) {
    auto const [thread, value] = *found.outside;
    found.answer.outcome =
        Refuted{"every element is in the tile", {{"thread", thread}, {"value", value}}, true};
    return found;
  }
  if (found.least == 0) {
    found.answer.outcome = Refuted{"every element is held", {{"element", found.missing}}, true};
    return found;
  }
  found.answer.outcome = Proved{};
  Layout const inverse = right_inverse(tile.thread_values);
  if (static_cast<std::uint64_t>(inverse.size()) != tile.size()) return found;
  auto const held = [all = tile.thread_values, inverse](auto const& element) {
    return states(all(inverse(element).elements).elements == element);
  };
  Question const question =
      ask("every element is held", 64, {Variable::steps("element", 0, 1, tile.size())}, held);
  if (auto const second = confirm(question, Engine::exhaustive, found.answer.outcome))
    found.answer.engines.insert(found.answer.engines.begin(), *second);
  return found;
}

TileDelivery deliver(TileMovement const& movement, Limits const& limits) {
  auto const threads = static_cast<std::uint64_t>(movement.moved.mode(0).size());
  auto const values = static_cast<std::uint64_t>(movement.moved.mode(1).size());
  auto const at = [](Layout const& layout, auto const& thread, auto const& value) {
    using W = std::decay_t<decltype(thread)>;
    std::array<W, 2> const place{thread, value};
    return layout(std::span<W const>(place)).elements;
  };
  Question const question =
      ask("every register has its element", 64,
          {Variable::steps("thread", 0, 1, threads), Variable::steps("value", 0, 1, values)},
          [movement, at](auto const& thread, auto const& value) {
            return states(at(movement.moved, thread, value) ==
                          at(movement.held, thread, movement.registers(value).elements));
          });
  TileDelivery found{decide(question, limits, Effort::two), {}};
  if (found.answer.refuted() == nullptr) return found;
  for (std::uint64_t thread = 0; thread < threads && !found.first; ++thread)
    for (std::uint64_t value = 0; value < values && !found.first; ++value) {
      std::uint64_t const reg = movement.registers(value).elements;
      std::uint64_t const moved = at(movement.moved, thread, value), held = at(movement.held, thread, reg);
      if (moved != held) found.first = WrongRegister{thread, value, reg, moved, held};
    }
  return found;
}

std::vector<TileHolders> holders_of(HeldTile const& tile, std::uint64_t element) {
  std::vector<TileHolders> found;
  std::uint64_t const threads = tile.threads(), values = tile.values();
  for (std::uint64_t value = 0; value < values; ++value) {
    TileHolders here{value, {}};
    for (std::uint64_t thread = 0; thread < threads; ++thread)
      if (tile.at(thread, value) == element) here.threads.push_back(static_cast<unsigned>(thread));
    if (!here.threads.empty()) found.push_back(std::move(here));
  }
  return found;
}

}  // namespace swizproof
