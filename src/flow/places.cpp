#include "places.hpp"

#include "execute.hpp"

#include <fmt/format.h>

#include <utility>

namespace swizproof::flow_detail {

std::uint16_t origin_of(std::size_t symbol) {
  return symbol + 1 < several_origins ? static_cast<std::uint16_t>(symbol + 1) : several_origins;
}

std::uint16_t joined_origin(program::Step const& s, Word const& a, Word const& b, Word const& c) {
  if (s.width == 1) return 0;
  if (s.action == program::Action::choose) return a.number != 0 ? b.origin : c.origin;
  if (s.action == program::Action::sub && a.origin == b.origin && a.origin != several_origins) return 0;
  std::uint16_t out = 0;
  for (std::uint16_t const one : {a.origin, b.origin, c.origin})
    if (one != 0) out = out == 0 || out == one ? one : several_origins;
  return out;
}

void Places::add(std::size_t symbol, Place place) {
  if (places_.size() <= symbol) places_.resize(symbol + 1);
  ++(place.start >= local_start ? local_ : shared_);
  places_[symbol] = std::move(place);
}

Places::Place const* Places::with(std::uint64_t address) const {
  for (Place const& p : places_)
    if (p.has(address)) return &p;
  return nullptr;
}

Places::Place const* Places::of(std::uint16_t origin) const {
  bool const one = origin != 0 && origin <= places_.size() && places_[origin - 1].end != 0;
  return one ? &places_[origin - 1] : nullptr;
}

namespace {

/// Notes it once for each pair of variables.
void assume(Now const& now, bool local, Places::Place const* from, Places::Place const* to,
            std::uint16_t origin) {
  if (!now.block.cluster.reached.emplace(origin, to).second) return;
  std::string const what = from != nullptr && to != nullptr ? from->name + " reaches " + to->name
                           : from != nullptr ? from->name + " reaches what lies behind or before it"
                           : origin != 0     ? "addresses of several of them are combined"
                                             : "an address is of none of them";
  now.block.assumed.insert(fmt::format("variables of {} lie one behind the other as they are declared{}: {}",
                                       local ? "local memory" : "shared memory",
                                       local ? ", which is not measured" : " (H18)", what));
}

}  // namespace

void note_origin(Now const& now, std::uint16_t origin, std::uint64_t address) {
  Places const& places = now.block.kernel.places;
  bool const local = address >= local_start && address < local_limit;
  if (!local && address >= shared_limit) return;
  Places::Place const* const from = places.of(origin);
  if (from == nullptr && (places.count(local) < 2 || now.decoded.name == "tcgen05")) return;
  if (!local) address = in_block(address);
  if (from == nullptr || !from->has(address)) assume(now, local, from, places.with(address), origin);
}

void note_span(Now const& now, std::uint64_t address, std::uint64_t bytes) {
  Places const& places = now.block.kernel.places;
  if (bytes == 0 || places.count(address >= local_start) < 2) return;
  if (address < shared_limit) address = in_block(address);
  Places::Place const* const from = places.with(address);
  if (from == nullptr || from->has(address + bytes - 1)) return;
  Places::Place const* const to = places.with(address + bytes - 1);
  if (to != nullptr) assume(now, address >= local_start, from, to, several_origins);
}

}  // namespace swizproof::flow_detail
